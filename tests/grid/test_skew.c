/* SPDX-License-Identifier: BSD-3-Clause */
/* The lags of stages that run in one pass. */
#include "grid/skew.h"
#include "support/test.h"

enum { BUFFERS = 4 };

static const int64_t ones[AMBIT_MAX_DIMS] = {1, 1, 1, 1, 1, 1};

static ambit__access reads(int buffer, int64_t low, int64_t high)
{
  return (ambit__access){.buffer = buffer, .low = {low}, .high = {high}};
}

static ambit__access writes(int buffer)
{
  return (ambit__access){.buffer = buffer, .writes = true};
}

/* Two buffers take turns; each stage reads 1 back and 2 ahead. It overwrites what the stage before
 * it reads, so it also lags by the reach back of that one. */
static void a_stage_lags_by_its_reach_ahead(void)
{
  ambit__skew_buffer buffers[BUFFERS] = {0};

  for (int i = 0; i < 5; i++) {
    const ambit__access a[] = {reads(i % 2, 1, 2), writes(1 - i % 2)};
    const ambit__skew s = ambit__skew_next(a, 2, ones, buffers);

    CHECK_EQ(2 * i, s.lag[0]);
    CHECK_EQ(2 * i, s.lead[0]); /* the reach ahead of the reader whose values are overwritten */
    CHECK_EQ(0, s.lag[1]);
  }
}

static void a_stage_lags_by_the_reach_back_of_what_it_overwrites(void)
{
  ambit__skew_buffer buffers[BUFFERS] = {0};

  for (int i = 0; i < 5; i++) {
    const ambit__access a[] = {reads(i % 2, 3, 1), writes(1 - i % 2)};
    const ambit__skew s = ambit__skew_next(a, 2, ones, buffers);

    CHECK_EQ(3 * i, s.lag[0]);
    CHECK_EQ(3 * i, s.lead[0]);
  }
}

/* In place, as staggered fields are: h reads e ahead, e reads h back. */
static void staggered_fields_lag_once_per_iteration(void)
{
  ambit__skew_buffer buffers[BUFFERS] = {0};

  for (int i = 0; i < 4; i++) {
    const ambit__access h[] = {reads(0, 0, 0), writes(0), reads(1, 0, 1)};
    const ambit__access e[] = {reads(1, 0, 0), writes(1), reads(0, 1, 0)};
    const ambit__skew first = ambit__skew_next(h, 3, ones, buffers);
    const ambit__skew second = ambit__skew_next(e, 3, ones, buffers);

    CHECK_EQ(i, first.lag[0]);
    CHECK_EQ(i, second.lag[0]);
    CHECK_EQ(i, first.lead[0]);
    CHECK_EQ(i + 1, second.lead[0]);
  }
}

static void buffers_that_nobody_writes_cost_nothing(void)
{
  ambit__skew_buffer buffers[BUFFERS] = {0};

  for (int i = 0; i < 3; i++) {
    const ambit__access a[] = {reads(3, 9, 9), reads(0, 0, 0), writes(0)};

    CHECK_EQ(0, ambit__skew_next(a, 3, ones, buffers).lag[0]);
  }
}

static void lags_are_multiples_of_the_unit(void)
{
  const int64_t unit[AMBIT_MAX_DIMS] = {16, 1, 1, 1, 1, 1};
  ambit__skew_buffer buffers[BUFFERS] = {0};

  for (int i = 0; i < 3; i++) {
    const ambit__access a[] = {reads(i % 2, 1, 1), writes(1 - i % 2)};
    const ambit__skew s = ambit__skew_next(a, 2, unit, buffers);

    CHECK_EQ(16 * i, s.lag[0]);
    CHECK_EQ(i, s.lead[0]);
  }
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"a_stage_lags_by_its_reach_ahead", a_stage_lags_by_its_reach_ahead},
      {"a_stage_lags_by_the_reach_back_of_what_it_overwrites",
       a_stage_lags_by_the_reach_back_of_what_it_overwrites},
      {"staggered_fields_lag_once_per_iteration", staggered_fields_lag_once_per_iteration},
      {"buffers_that_nobody_writes_cost_nothing", buffers_that_nobody_writes_cost_nothing},
      {"lags_are_multiples_of_the_unit", lags_are_multiples_of_the_unit},
      {0}};

  return test_main(argc, argv, tests);
}
