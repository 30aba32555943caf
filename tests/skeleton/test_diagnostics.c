/* SPDX-License-Identifier: BSD-3-Clause */
/* Norms, extreme values with their place, and histograms, as in plain C. */
#include "runtime/places.h"
#include "runtime/program/program.h"

#include <float.h>
#include <math.h>

enum { ROWS = 11, COLUMNS = 14, CELLS = ROWS * COLUMNS, BINS = 20 };

static double value(const int64_t *i, int component, void *user)
{
  (void)user;
  return (double)((i[0] * 37 + i[1] * 23 + component * 11) % 101) / 4 - 12;
}

/* The values of one cell after the other. */
static void list(int components, double *x)
{
  for (int64_t y = 0; y < ROWS; y++)
    for (int64_t k = 0; k < COLUMNS; k++)
      for (int c = 0; c < components; c++)
        *x++ = value((int64_t[]){y, k}, c, NULL);
}

static void measures_are_as_in_plain_c(void)
{
  for (int components = 1; components <= 3; components += 2)
    EACH_PLACE(where)
    {
      ambit *a = open_strict(*where);
      ambit_grid *g = grid_2d(a, ROWS, COLUMNS);
      ambit_field *f = ambit_field_create_vector(g, "f", AMBIT_F32, components, AMBIT_SOA);
      ambit_program *p = ambit_program_create(g);
      ambit_scalar *s[6], *place[3];
      double x[3 * CELLS], want[6] = {0, 0, 0, 0, INFINITY, -INFINITY};
      int64_t at[3] = {0};

      ambit_field_fill(f, value, NULL);
      for (int i = 0; i < 6; i++) {
        s[i] = ambit_scalar_create(a, "s", AMBIT_F64);
        if (i < 3) ambit_measure(p, f, (ambit_quantity)i, s[i]);
      }
      for (int i = 0; i < 3; i++) {
        place[i] = ambit_scalar_create(a, "place", AMBIT_I64);
        ambit_locate(p, f, (ambit_quantity)(i + 3), s[i + 3], place[i]);
      }
      ambit_run(p, 2);
      list(components, x);
      for (int i = 0; i < CELLS * components; i++) {
        want[0] += x[i] / (CELLS * components);
        want[1] += fabs(x[i]);
        want[2] += x[i] * x[i];
        if (fabs(x[i]) > want[3]) at[0] = i / components;
        if (x[i] < want[4]) at[1] = i / components;
        if (x[i] > want[5]) at[2] = i / components;
        want[3] = fmax(want[3], fabs(x[i]));
        want[4] = fmin(want[4], x[i]);
        want[5] = fmax(want[5], x[i]);
      }
      want[2] = sqrt(want[2]);
      CHECK_OK(a);
      for (int i = 0; i < 6; i++)
        CHECK_NEAR(want[i], ambit_scalar_get(s[i]), 1e-12 * fabs(want[i]) + 1e-15);
      for (int i = 0; i < 3; i++)
        CHECK_EQ(at[i], (int64_t)ambit_scalar_get(place[i]));
      CHECK_EQ(AMBIT_OK, ambit_close(a));
    }
}

static void histograms_count_all_values(void)
{
  EACH_PLACE(where)
  {
    ambit *a = open_strict(*where);
    ambit_grid *g = grid_2d(a, ROWS, COLUMNS);
    ambit_field *f = ambit_field_create(g, "f", AMBIT_F32);
    ambit_program *p = ambit_program_create(g);
    ambit_scalar *counts[BINS];
    double x[CELLS];
    int want[BINS] = {0};

    ambit_field_fill(f, value, NULL);
    for (int k = 0; k < BINS; k++)
      counts[k] = ambit_scalar_create(a, "count", AMBIT_I64);
    ambit_histogram(p, f, -8, 12, BINS, counts);
    ambit_step_every(p, 2);
    ambit_run(p, 2);
    list(1, x);
    for (int i = 0; i < CELLS; i++)
      if (x[i] >= -8 && x[i] <= 12) want[x[i] == 12 ? BINS - 1 : (int)(x[i] + 8)]++;
    CHECK_OK(a);
    for (int k = 0; k < BINS; k++)
      CHECK_EQ(want[k], (int)ambit_scalar_get(counts[k]));
    CHECK_EQ(AMBIT_OK, ambit_close(a));
  }
}

/* 16 bins per step; all steps but the last are one kernel. */
static void many_bins_are_few_kernels(void)
{
  enum { MANY = 150 };
  ambit *a = open_on("cpu");
  ambit_grid *g = grid_2d(a, ROWS, COLUMNS);
  ambit_field *f = ambit_field_create(g, "f", AMBIT_F32);
  ambit_program *p = ambit_program_create(g);
  ambit_scalar *counts[MANY];
  double x[CELLS];
  int want[MANY] = {0};

  ambit_field_fill(f, value, NULL);
  for (int k = 0; k < MANY; k++)
    counts[k] = ambit_scalar_create(a, "count", AMBIT_I64);
  ambit_histogram(p, f, -12, 12, MANY, counts);
  for (size_t i = 1; i < p->nwritten - 1; i++)
    CHECK_STR(p->written[0].kernel->rule->text, p->written[i].kernel->rule->text);
  ambit_run(p, 1);
  list(1, x);
  for (int i = 0; i < CELLS; i++)
    if (x[i] >= -12 && x[i] <= 12) want[x[i] == 12 ? MANY - 1 : (int)((x[i] + 12) * MANY / 24)]++;
  CHECK_OK(a);
  for (int k = 0; k < MANY; k++)
    CHECK_EQ(want[k], (int)ambit_scalar_get(counts[k]));
  ambit_close(a);
}

/* (x - lo) * n / (hi - lo) of a value below hi can round to n: it is in the last interval. */
static void values_just_below_the_end_are_counted(void)
{
  ambit *a = open_on("cpu");
  ambit_grid *g = grid_2d(a, 1, 4);
  ambit_field *f = ambit_field_create(g, "f", AMBIT_F64);
  const double x[4] = {nextafter(0.9, 0), 0.9, nextafter(0.9, 1), nextafter(-0.5, -1)};
  ambit_program *p = ambit_program_create(g);
  ambit_scalar *counts[7];

  for (int k = 0; k < 7; k++)
    counts[k] = ambit_scalar_create(a, "count", AMBIT_I64);
  ambit_field_write(f, NULL, NULL, x);
  ambit_histogram(p, f, -0.5, 0.9, 7, counts);
  ambit_run(p, 1);
  CHECK_OK(a);
  for (int k = 0; k < 7; k++)
    CHECK_EQ(k == 6 ? 2 : 0, (int)ambit_scalar_get(counts[k]));
  ambit_close(a);
}

static void intervals_between_large_whole_numbers_are_counted(void)
{
  ambit *a = open_on("cpu");
  ambit_grid *g = grid_2d(a, 1, 3);
  ambit_field *f = ambit_field_create(g, "f", AMBIT_F64);
  ambit_program *p = ambit_program_create(g);
  ambit_scalar *counts[2];

  for (int k = 0; k < 2; k++)
    counts[k] = ambit_scalar_create(a, "count", AMBIT_I64);
  ambit_field_write(f, NULL, NULL, (double[]){-1e15, 1e15, 4e15});
  ambit_histogram(p, f, -3000000000000000, 3000000000000000, 2, counts);
  ambit_run(p, 1);
  CHECK_OK(a);
  for (int k = 0; k < 2; k++)
    CHECK_EQ(1, (int)ambit_scalar_get(counts[k]));
  ambit_close(a);
}

/* The place in a profile counts its own cells, as ambit_field_read does. */
static void profiles_are_measured(void)
{
  EACH_PLACE(where)
  {
    ambit *a = open_strict(*where);
    const unsigned axes[] = {AMBIT_AXIS(0), AMBIT_AXIS(1), AMBIT_AXIS(0) | AMBIT_AXIS(2), 0};
    const int cells[] = {5, 6, 35, 1}, at[] = {3, 4, 3 * 7 + 5, 0};
    ambit_grid *g = ambit_grid_create(a, 3, (int64_t[]){5, 6, 7});

    for (int i = 0; i < 4; i++) {
      ambit_field *f = ambit_field_create_on(g, "f", AMBIT_F32, axes[i]);
      ambit_scalar *s = ambit_scalar_create(a, "s", AMBIT_F64);
      ambit_scalar *least = ambit_scalar_create(a, "least", AMBIT_F64);
      ambit_scalar *place = ambit_scalar_create(a, "place", AMBIT_I64);
      ambit_program *p = ambit_program_create(g);
      float x[35];

      for (int k = 0; k < cells[i]; k++)
        x[k] = k == at[i] ? 1 : 2;
      ambit_field_write(f, NULL, NULL, x);
      ambit_measure(p, f, AMBIT_NORM_1, s);
      ambit_locate(p, f, AMBIT_LEAST, least, place);
      ambit_run(p, 1);
      CHECK_OK(a);
      CHECK_EQ(2 * cells[i] - 1, (int)ambit_scalar_get(s));
      CHECK_EQ(1, (int)ambit_scalar_get(least));
      CHECK_EQ(at[i], (int)ambit_scalar_get(place));
    }
    ambit_close(a);
  }
}

static void nan_is_found(void)
{
  ambit *a = open_on("cpu");
  ambit_grid *g = grid_2d(a, 4, 5);
  ambit_field *f = ambit_field_create_vector(g, "f", AMBIT_F64, 2, AMBIT_SOA);
  ambit_scalar *s = ambit_scalar_create(a, "s", AMBIT_F64);
  ambit_scalar *t = ambit_scalar_create(a, "t", AMBIT_F64);
  ambit_program *p = ambit_program_create(g);
  const double one[] = {NAN, 1};

  ambit_field_write(f, AMBIT_INDEX(2, 3), AMBIT_INDEX(3, 4), one);
  ambit_measure(p, f, AMBIT_LEAST, s);
  ambit_measure(p, f, AMBIT_NORM_MAX, t);
  ambit_run(p, 1);
  CHECK(isnan(ambit_scalar_get(s)) && isnan(ambit_scalar_get(t)));
  CHECK_OK(a);
  ambit_close(a);
}

static void wrong_calls_are_refused(void)
{
  ambit *a = open_on("cpu");
  ambit_grid *g = grid_2d(a, 4, 5), *h = grid_2d(a, 4, 5);
  ambit_field *f = ambit_field_create(g, "f", AMBIT_F32);
  ambit_scalar *s = ambit_scalar_create(a, "s", AMBIT_F64),
               *n = ambit_scalar_create(a, "n", AMBIT_I64);
  ambit_program *p = ambit_program_create(g), *q = ambit_program_create(h);

  ambit_measure(q, f, AMBIT_MEAN, s);
  CHECK_FAILED(a, AMBIT_EINVAL, "another grid");
  ambit_measure(p, f, AMBIT_MEAN, n);
  CHECK_FAILED(a, AMBIT_EINVAL, "a scalar of type double");
  ambit_measure(p, f, (ambit_quantity)9, s);
  CHECK_FAILED(a, AMBIT_EINVAL, "none of ambit_quantity");
  ambit_locate(p, f, AMBIT_MEAN, s, n);
  CHECK_FAILED(a, AMBIT_EINVAL, "have a place");
  ambit_histogram(p, f, 1, 1, 1, &n);
  CHECK_FAILED(a, AMBIT_EINVAL, "1 bin from 1 to 1");
  ambit_histogram(p, f, -DBL_MAX, DBL_MAX, 1, &n);
  CHECK_FAILED(a, AMBIT_EINVAL, "1 bin from -1.79769e+308 to");
  ambit_close(a);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"measures_are_as_in_plain_c", measures_are_as_in_plain_c},
      {"histograms_count_all_values", histograms_count_all_values},
      {"many_bins_are_few_kernels", many_bins_are_few_kernels},
      {"values_just_below_the_end_are_counted", values_just_below_the_end_are_counted},
      {"intervals_between_large_whole_numbers_are_counted",
       intervals_between_large_whole_numbers_are_counted},
      {"profiles_are_measured", profiles_are_measured},
      {"nan_is_found", nan_is_found},
      {"wrong_calls_are_refused", wrong_calls_are_refused},
      {NULL, NULL}};

  return test_main(argc, argv, tests);
}
