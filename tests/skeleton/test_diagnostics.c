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

static double given(const int64_t *i, int component, void *user)
{
  (void)component;
  return ((const double(*)[300])user)[i[0]][i[1]];
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

/* One step counts, in a field; others give some counts each to scalars, and all of these but the
 * last are one kernel. */
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
  CHECK_EQ(1 + MANY / 30, (int)p->nwritten);
  for (size_t i = 2; i < p->nwritten - 1; i++)
    CHECK_STR(p->written[1].kernel->rule->text, p->written[i].kernel->rule->text);
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

/* Numbers around the ends of intervals, in types that are counted in float, in double and as
 * integers; also for each row. */
static void intervals_are_those_of_double(void)
{
  static const struct {
    ambit_type type;
    double lo, hi;
    int n;
  } cases[] = {{AMBIT_F32, 0, 1, 256},   {AMBIT_F32, -1, 1, 64},   {AMBIT_F32, 0, 1, 100},
               {AMBIT_F32, -3, 3, 33},   {AMBIT_F32, 7, 7.3, 30},  {AMBIT_F64, -4, 4, 64},
               {AMBIT_U8, 0, 256, 256},  {AMBIT_U8, 0, 255, 255},  {AMBIT_U8, 3, 100, 97},
               {AMBIT_U8, 0, 256, 7},    {AMBIT_I16, -90, 90, 30}, {AMBIT_F32, -1e30, 1e30, 8},
               {AMBIT_F32, 0, 1e-44, 7}, {AMBIT_I32, -9, 40, 49},  {AMBIT_F16, -2, 2, 16}};
  enum { WIDE = 300, MOST = 256 };

  EACH_PLACE(where)
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int rows = 0; rows < 2; rows++) {
      const double lo = cases[i].lo, hi = cases[i].hi;
      const int n = cases[i].n;
      ambit *a = open_strict(*where);
      ambit_grid *g = grid_2d(a, 2, WIDE);
      ambit_field *f = ambit_field_create(g, "f", cases[i].type);
      ambit_field *h =
          ambit_field_create_vector_on(g, "h", AMBIT_I64, n, AMBIT_SOA, rows ? AMBIT_AXIS(0) : 0);
      ambit_program *p = ambit_program_create(g);
      static double x[2][WIDE];
      static int64_t want[2][MOST], got[2 * MOST];

      for (int k = 0; k < 2 * WIDE; k++) {
        const double end = lo + (k / 3 - 2) * (hi - lo) / n;

        x[0][k] = k % 3 == 0 ? end : (double)nextafterf((float)end, k % 3 == 1 ? -1e38f : 1e38f);
      }
      x[1][7] = NAN, x[1][8] = INFINITY, x[1][9] = -INFINITY, x[1][10] = -0.0;
      for (int k = 0; k < 2 * WIDE; k++) {
        const bool real = ambit__type_is_real(cases[i].type);
        double *v = &x[0][k];

        if (!real && !isfinite(*v)) *v = 0;
        if (cases[i].type == AMBIT_U8 && !(*v >= 0 && *v < 256)) *v = 255;
        if (cases[i].type == AMBIT_F32) *v = (double)(float)*v;
        if (cases[i].type == AMBIT_F16) *v = ldexp(nearbyint(ldexp(*v, 6)), -6);
        if (!real) *v = floor(*v);
      }
      ambit_field_fill(f, given, x);
      ambit_histogram_on(p, f, lo, hi, h);
      ambit_run(p, 1);
      memset(want, 0, sizeof want);
      for (int k = 0; k < 2 * WIDE; k++) {
        double b = floor((x[0][k] - lo) * (n / (hi - lo)));

        if (b >= n && x[0][k] <= hi) b = n - 1;
        if (b >= 0 && b < n) want[rows ? k / WIDE : 0][(int)b]++;
      }
      memset(got, 0, sizeof got);
      ambit_field_read(h, NULL, NULL, got);
      CHECK_OK(a);
      for (int k = 0; k < n * (rows + 1); k++)
        CHECK_MSG(want[k / n][k % n] == got[k], "%s, case %zu, interval %d: %d, not %d", *where, i,
                  k, (int)got[k], (int)want[k / n][k % n]);
      CHECK_EQ(AMBIT_OK, ambit_close(a));
    }
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

static int is_even(const int64_t *i, void *user)
{
  (void)user;
  return i[0] % 2 == 0;
}

static void sparse_grids_have_histograms(void)
{
  enum { MANY = 40 };
  ambit *a = open_on("cpu");
  ambit_grid *g = ambit_grid_create_sparse(a, 2, (int64_t[]){ROWS, COLUMNS}, is_even, NULL);
  ambit_field *f = ambit_field_create(g, "f", AMBIT_F32);
  ambit_program *p = ambit_program_create(g);
  ambit_scalar *counts[MANY];
  int total = 0;

  ambit_field_fill(f, value, NULL);
  for (int k = 0; k < MANY; k++)
    counts[k] = ambit_scalar_create(a, "count", AMBIT_I64);
  ambit_histogram(p, f, -12, 14, MANY, counts);
  ambit_run(p, 1);
  CHECK_OK(a);
  for (int k = 0; k < MANY; k++)
    total += (int)ambit_scalar_get(counts[k]);
  CHECK_EQ((ROWS + 1) / 2 * COLUMNS, total);
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
      {"intervals_are_those_of_double", intervals_are_those_of_double},
      {"intervals_between_large_whole_numbers_are_counted",
       intervals_between_large_whole_numbers_are_counted},
      {"sparse_grids_have_histograms", sparse_grids_have_histograms},
      {"profiles_are_measured", profiles_are_measured},
      {"nan_is_found", nan_is_found},
      {"wrong_calls_are_refused", wrong_calls_are_refused},
      {NULL, NULL}};

  return test_main(argc, argv, tests);
}
