/* SPDX-License-Identifier: BSD-3-Clause */
/* The pace of pictures, on simulated runs: stretches take stop + per * n seconds. */
#include "support/test.h"
#include "view/pace.h"

#include <math.h>

typedef struct run {
  double seconds, lost; /* in all, and in stops and pictures */
  int pictures;
} run;

/* Watches a run for so many seconds; `noise` disturbs times by this fraction. */
static run watch(ambit__pace *p, double per, double stop, double picture, double noise,
                 double length)
{
  run r = {0};
  double last = -1;
  unsigned random = 1;

  while (r.seconds < length) {
    const int64_t n = ambit__pace_next(p, true, false);
    double t;

    random = random * 1664525U + 1013904223U;
    t = (stop + per * (double)n) * (1 + noise * ((double)(random >> 8) / (1 << 24)));
    ambit__pace_note(p, n, t);
    r.seconds += t;
    r.lost += stop;
    if (r.seconds - last < 0.9 * ambit__pace_interval(p)) continue;
    last = r.seconds;
    ambit__pace_note_picture(p, picture);
    r.seconds += picture;
    r.lost += picture;
    r.pictures++;
  }
  return r;
}

static void pictures_come_thirty_times_a_second_where_they_cost_little(void)
{
  ambit__pace p = {0};
  run r;

  watch(&p, 1e-4, 1e-6, 1e-5, 0, 2);
  r = watch(&p, 1e-4, 1e-6, 1e-5, 0, 10);
  CHECK_MSG(r.pictures > 270 && r.pictures < 340, "%d pictures in 10 s", r.pictures);
}

static void a_watched_run_loses_less_than_two_percent(void)
{
  static const double cases[][4] = {/* seconds of an iteration, a stop, a picture; noise */
                                    {1e-4, 1e-6, 1e-5, 0},    {1e-5, 5e-4, 1e-3, 0},
                                    {2e-3, 4e-3, 3e-3, 0},    {1e-2, 1e-2, 5e-3, 0.05},
                                    {5e-2, 5e-2, 5e-3, 0.05}, {1e-3, 0, 2e-2, 0.1},
                                    {1e-2, 0, 1.5e-1, 0}};

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const double *c = cases[i];
    ambit__pace p = {0};
    run r;

    watch(&p, c[0], c[1], c[2], c[3], 20); /* finds the costs */
    r = watch(&p, c[0], c[1], c[2], c[3], 120);
    CHECK_MSG(r.lost < 0.02 * r.seconds, "case %zu loses %.1f %%", i, 100 * r.lost / r.seconds);
    CHECK_MSG(r.pictures >= 10, "case %zu: %d pictures", i, r.pictures);
  }
}

static void a_slow_picture_among_quick_ones_changes_little(void)
{
  ambit__pace p = {0};

  ambit__pace_note_picture(&p, 2); /* compiled */
  CHECK(ambit__pace_interval(&p) <= 1);
  for (int i = 0; i < 30; i++)
    ambit__pace_note_picture(&p, 1e-3);
  ambit__pace_note_picture(&p, 2);
  CHECK(ambit__pace_interval(&p) < 0.2);
}

static void the_first_stretch_is_one_iteration_and_lengths_grow_step_by_step(void)
{
  ambit__pace p = {0};
  int64_t last = 1;

  CHECK_EQ(1, ambit__pace_next(&p, true, false));
  for (int i = 0; i < 20; i++) {
    int64_t n;

    ambit__pace_note(&p, last, 1e-9 * (double)last);
    n = ambit__pace_next(&p, true, false);
    CHECK(n <= 4 * last + 1);
    last = n;
  }
  CHECK(last > 1000000);
}

static void nobody_looks_once_a_second(void)
{
  ambit__pace p = {.per = 1e-3, .n = 1000, .picture = 1};

  CHECK_EQ(1000, ambit__pace_next(&p, false, false));
}

static void a_command_is_followed_at_once(void)
{
  ambit__pace p = {.per = 1e-3, .n = 1000, .picture = 1, .nstops = AMBIT__PACE_PAIRS};

  CHECK_EQ(1000, ambit__pace_next(&p, true, false)); /* commands are looked for once a second */
  CHECK_EQ(33, ambit__pace_next(&p, true, true));
}

static void slow_iterations_are_looked_at_one_by_one(void)
{
  ambit__pace p = {0};

  ambit__pace_next(&p, true, false);
  ambit__pace_note(&p, 1, 20);
  p.nstops = AMBIT__PACE_PAIRS;
  CHECK_EQ(1, ambit__pace_next(&p, false, false));
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
#define T(name) {#name, name}
      T(pictures_come_thirty_times_a_second_where_they_cost_little),
      T(a_watched_run_loses_less_than_two_percent),
      T(a_slow_picture_among_quick_ones_changes_little),
      T(the_first_stretch_is_one_iteration_and_lengths_grow_step_by_step),
      T(nobody_looks_once_a_second),
      T(a_command_is_followed_at_once),
      T(slow_iterations_are_looked_at_one_by_one),
#undef T
      {0}};

  return test_main(argc, argv, tests);
}
