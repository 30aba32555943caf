/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions: equal in every run and for every number of threads; min, max and integers are exact.
 */
#include "runtime/runtime_test.h"

#include <math.h>

enum { ROWS = 300, COLUMNS = 331, CELLS = ROWS * COLUMNS };

static const char rule[] =
    "void k(const float *u, const int *n, sum float *s, sum double *d, min float *low,\n"
    "       max float *high, sum long *total, max int *most, sum unsigned char *bytes)\n"
    "{\n"
    "  *s = *u;\n"
    "  *d = (double)*u * 1e-3;\n"
    "  *low = *u;\n"
    "  *high = *u;\n"
    "  *total = *n;\n"
    "  *most = *n;\n"
    "  *bytes = (unsigned char)*n;\n"
    "}";
enum { SUM, DOUBLE_SUM, LOW, HIGH, TOTAL, MOST, BYTES, NRESULTS };
static const ambit_type result_types[] = {AMBIT_F32, AMBIT_F64, AMBIT_F32, AMBIT_F32,
                                          AMBIT_I64, AMBIT_I32, AMBIT_U8};

static float real_at(int64_t i)
{
  return (float)((double)((uint64_t)i * 2654435761u % 100003) / 50000.0 - 1.0);
}

static int32_t integer_at(int64_t i)
{
  return (int32_t)((uint64_t)i * 40503u % 70001) - 35000;
}

static double fill_real(const int64_t *index, int component, void *user)
{
  (void)component;
  return (double)real_at(index[0] * *(const int64_t *)user + index[1]);
}

static double fill_integer(const int64_t *index, int component, void *user)
{
  (void)component;
  return integer_at(index[0] * *(const int64_t *)user + index[1]);
}

typedef struct results {
  double value[NRESULTS];
} results;

/* Reduces over a box (NULL: the whole grid). */
static results reduce(const char *device, const char *threads, const int64_t *lo, const int64_t *hi)
{
  ambit *a = open_on(device);
  ambit_scalar *s[NRESULTS];
  ambit_grid *g;
  ambit_field *u, *n;
  ambit_program *p;
  int64_t columns = COLUMNS;
  results r;

  ambit_option_set(a, "threads", threads);
  g = grid_2d(a, ROWS, COLUMNS);
  u = ambit_field_create(g, "u", AMBIT_F32);
  n = ambit_field_create(g, "n", AMBIT_I32);
  p = ambit_program_create(g);
  for (int i = 0; i < NRESULTS; i++)
    s[i] = ambit_scalar_create(a, "result", result_types[i]);
  ambit_field_fill(u, fill_real, &columns);
  ambit_field_fill(n, fill_integer, &columns);
  ambit_apply_box(p, lo, hi, ambit_kernel_create(a, rule), u, n, s[0], s[1], s[2], s[3], s[4], s[5],
                  s[6]);
  ambit_run(p, 1);
  for (int i = 0; i < NRESULTS; i++)
    r.value[i] = ambit_scalar_get(s[i]);
  CHECK_OK(a);
  ambit_close(a);
  return r;
}

/* The same in plain loops. */
static results expect(int64_t row0, int64_t row1, int64_t column0, int64_t column1)
{
  long double sum = 0;
  results r = {{0, 0, INFINITY, -INFINITY, 0, INT32_MIN, 0}};
  unsigned bytes = 0;

  for (int64_t i = row0; i < row1; i++)
    for (int64_t j = column0; j < column1; j++) {
      double x = (double)real_at(i * COLUMNS + j);
      int32_t n = integer_at(i * COLUMNS + j);

      sum += (long double)x;
      if (x < r.value[LOW]) r.value[LOW] = x;
      if (x > r.value[HIGH]) r.value[HIGH] = x;
      r.value[TOTAL] += n;
      if (n > r.value[MOST]) r.value[MOST] = n;
      bytes += (uint8_t)n;
    }
  r.value[SUM] = (double)sum;
  r.value[DOUBLE_SUM] = (double)(sum * 1e-3L);
  r.value[BYTES] = bytes % 256;
  return r;
}

static void check_results(const results *want, const results *got, double cells)
{
  CHECK_NEAR(want->value[SUM], got->value[SUM], cells * 1.2e-7 + fabs(want->value[SUM]) * 1.2e-7);
  CHECK_NEAR(want->value[DOUBLE_SUM], got->value[DOUBLE_SUM], cells * 1e-3 * 2.3e-16);
  for (int i = LOW; i < NRESULTS; i++)
    CHECK_MSG(want->value[i] == got->value[i], "result %d: want %.17g, got %.17g", i,
              want->value[i], got->value[i]);
}

static void results_are_those_of_plain_loops(void)
{
  const results want = expect(0, ROWS, 0, COLUMNS);

  EACH_DEVICE(device)
  {
    results got = reduce(*device, "0", NULL, NULL);

    check_results(&want, &got, CELLS);
  }
}

static void sums_have_the_same_bits_for_any_number_of_threads(void)
{
  static const char *const threads[] = {"1", "2", "3", "4", "7"};
  results first = reduce("cpu", threads[0], NULL, NULL);

  for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
    results again = reduce("cpu", threads[i], NULL, NULL);

    CHECK_MSG(!memcmp(&first, &again, sizeof first), "%s threads", threads[i]);
  }
}

static void a_box_reduces_its_own_cells_only(void)
{
  static const int64_t boxes[][4] = {{0, 1, 0, COLUMNS},
                                     {17, 18, 5, 6},
                                     {3, 200, 1, 40},
                                     {299, 300, 330, 331},
                                     {0, ROWS, 330, 331}};

  EACH_DEVICE(device)
  {
    for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i += compiles_slowly(*device) ? 2 : 1) {
      const int64_t *b = boxes[i], lo[] = {b[0], b[2]}, hi[] = {b[1], b[3]};
      const results want = expect(b[0], b[1], b[2], b[3]);
      results got = reduce(*device, "3", lo, hi);

      check_results(&want, &got, (double)((b[1] - b[0]) * (b[3] - b[2])));
    }
  }
}

/* ---- small grids ---- */

typedef struct scene {
  ambit *a;
  ambit_grid *g;
  ambit_field *u;
  ambit_program *p;
} scene;

static scene set_up(const char *device, int64_t n)
{
  scene s = {.a = open_on(device)};

  s.g = grid_1d(s.a, n);
  s.u = ambit_field_create(s.g, "u", AMBIT_F64);
  s.p = ambit_program_create(s.g);
  return s;
}

static void an_empty_region_gives_what_a_reduction_starts_from(void)
{
  EACH_DEVICE(device)
  {
    scene s = set_up(*device, 2);
    ambit_scalar *sum = ambit_scalar_create(s.a, "sum", AMBIT_F64);
    ambit_scalar *low = ambit_scalar_create(s.a, "low", AMBIT_F64);
    ambit_scalar *most = ambit_scalar_create(s.a, "most", AMBIT_I32);

    ambit_field_boundary(s.u, AMBIT_ALL_FACES, AMBIT_FIXED, 0);
    ambit_field_set(s.u, 5);
    ambit_scalar_set(sum, 9);
    ambit_apply(s.p,
                ambit_kernel_create(
                    s.a, "void k(const double *u, sum double *s, min double *low, max int *most)\n"
                         "{ *s = u[-3]; *low = u[3]; *most = 1; }"),
                s.u, sum, low, most);
    ambit_run(s.p, 1);
    CHECK_OK(s.a);
    CHECK_EQ(0, ambit_scalar_get(sum));
    CHECK(ambit_scalar_get(low) == INFINITY);
    CHECK_EQ(INT32_MIN, ambit_scalar_get(most));
    ambit_close(s.a);
  }
}

/* One NaN among values, in any place, or none. */
static void a_nan_stays_and_minus_zero_is_zero(void)
{
  EACH_DEVICE(device)
  {
    scene s = set_up(*device, 70);
    ambit_scalar *low = ambit_scalar_create(s.a, "low", AMBIT_F64);
    ambit_scalar *high = ambit_scalar_create(s.a, "high", AMBIT_F32);
    double values[70];

    ambit_apply(s.p,
                ambit_kernel_create(s.a,
                                    "void k(const double *u, min double *low, max float *high)\n"
                                    "{ *low = *u; *high = *u; }"),
                s.u, low, high);
    for (int nan = -1; nan < 70; nan += 1 + (nan > 2 && nan < 64)) {
      for (int i = 0; i < 70; i++)
        values[i] = i == nan ? (double)NAN : -0.0;
      ambit_field_write(s.u, NULL, NULL, values);
      ambit_run(s.p, 1);
      CHECK_OK(s.a);
      CHECK(nan < 0 ? ambit_scalar_get(low) == 0 && !signbit(ambit_scalar_get(low))
                    : isnan(ambit_scalar_get(low)));
      CHECK(nan < 0 ? ambit_scalar_get(high) == 0 && !signbit(ambit_scalar_get(high))
                    : isnan(ambit_scalar_get(high)));
    }
    ambit_close(s.a);
  }
}

/* Rows in blocks, with ends that are no whole vectors; each cell in turn has the largest magnitude,
 * and with `nan` it is NaN with either sign. Cells outside the box have still larger ones. */
static void every_cell_of_a_box_counts_once_in_a_largest_magnitude_and_a_sum(void)
{
  enum { HEIGHT = 21, WIDTH = 41 };
  const int64_t lo[] = {1, 3}, hi[] = {HEIGHT - 1, WIDTH - 2};

  EACH_DEVICE(device)
  {
    ambit *a = open_on(*device);
    ambit_grid *g = grid_2d(a, HEIGHT, WIDTH);
    ambit_field *u = ambit_field_create(g, "u", AMBIT_F32);
    ambit_field *v = ambit_field_create(g, "v", AMBIT_F32);
    ambit_scalar *most = ambit_scalar_create(a, "most", AMBIT_F32);
    ambit_scalar *sum = ambit_scalar_create(a, "sum", AMBIT_F64);
    ambit_program *p = ambit_program_create(g);
    static float values[HEIGHT * WIDTH];

    ambit_apply_box(p, lo, hi,
                    ambit_kernel_create(a, "void k(const float *u, float *v, max float *m, sum "
                                           "double *s)\n"
                                           "{ *v = *u + 1; *m = fabsf(*u); *s = fabsf(*u); }"),
                    u, v, most, sum);
    for (int64_t i = 0; i < HEIGHT * WIDTH; i++) {
      const int64_t y = i / WIDTH, x = i % WIDTH;
      const bool own = y >= lo[0] && y < hi[0] && x >= lo[1] && x < hi[1], nan = i % 3 == 0;

      if (i % (compiles_slowly(*device) ? 17 : 5)) continue;
      for (int64_t k = 0; k < HEIGHT * WIDTH; k++)
        values[k] = k % WIDTH < lo[1] || k % WIDTH >= hi[1] ? 1e6f : k % 2 ? 1.0f : -1.0f;
      values[i] = nan ? (i % 2 ? -NAN : NAN) : own ? -8.0f : NAN;
      ambit_field_write(u, NULL, NULL, values);
      ambit_run(p, 1);
      CHECK_OK(a);
      CHECK(own && nan ? isnan(ambit_scalar_get(most)) : ambit_scalar_get(most) == (own ? 8 : 1));
      CHECK(own && nan ? isnan(ambit_scalar_get(sum))
                       : ambit_scalar_get(sum) ==
                             (double)((hi[0] - lo[0]) * (hi[1] - lo[1]) + (own ? 7 : 0)));
    }
    ambit_close(a);
  }
}

/* Also on several parts, and if a later step of the iteration folds numbers into the scalar. */
static void a_run_does_not_converge_on_nan(void)
{
  EACH_DEVICE(device)
  {
    for (int parts = 1; parts <= 3; parts += 2) {
      char devices[40];
      scene s;
      ambit_scalar *change;

      if (parts > 1 && !strcmp(*device, "ref")) continue;
      snprintf(devices, sizeof devices, parts > 1 ? "%s*3" : "%s", *device);
      s = set_up(devices, 90);
      change = ambit_scalar_create(s.a, "change", AMBIT_F64);
      ambit_field_write(s.u, (const int64_t[]){40}, (const int64_t[]){41}, &(double){NAN});
      for (int i = 0; i < 2; i++)
        ambit_apply_box(s.p, AMBIT_INDEX(i ? 50 : 0), AMBIT_INDEX(90),
                        ambit_kernel_create(s.a,
                                            "void k(double *u, max double *change)\n"
                                            "{ *change = fabs(0.5 * *u - *u); *u = 0.5 * *u; }"),
                        s.u, change);
      CHECK_EQ(AMBIT_EPROGRAM, ambit_run_until(s.p, change, AMBIT_BELOW, 1e-3, 100));
      CHECK_EQ(1, ambit_program_iterations(s.p));
      CHECK_FAILED(s.a, AMBIT_EPROGRAM, "not finite");
      ambit_close(s.a);
    }
  }
}

static void cells_that_do_not_write_count_for_nothing(void)
{
  EACH_DEVICE(device)
  {
    scene s = set_up(*device, 100);
    ambit_scalar *even = ambit_scalar_create(s.a, "even", AMBIT_I64);
    ambit_scalar *low = ambit_scalar_create(s.a, "low", AMBIT_I64);

    ambit_apply(s.p,
                ambit_kernel_create(s.a, "void k(const double *u, sum long *even, min long *low)\n"
                                         "{\n"
                                         "  if (index(0) % 2 == 0) *even += 1;\n"
                                         "  if (index(0) > 40) *low = index(0);\n"
                                         "}"),
                s.u, even, low);
    ambit_run(s.p, 3);
    CHECK_OK(s.a);
    CHECK_EQ(50, ambit_scalar_get(even));
    CHECK_EQ(41, ambit_scalar_get(low));
    ambit_close(s.a);
  }
}

static double hill(const int64_t *at, int component, void *user)
{
  (void)component, (void)user;
  return 1 + (double)(at[0] * 7 % 13);
}

/* A power iteration: all cells read the sum of the iteration before, on any number of parts. */
static void a_scalar_is_read_as_it_was_before_a_reduction_into_it(void)
{
  static const char *const devices[] = {"ref", "cpu", "cpu*2", "cpu*3"};
  enum { N = 90 };
  double want[N], got[N], sum = 0;

  for (size_t d = 0; d < sizeof devices / sizeof *devices; d++) {
    ambit *a = ambit_open(NULL, NULL);
    ambit_grid *g;
    ambit_field *u, *v;
    ambit_scalar *s;
    ambit_program *p;

    ambit_option_set(a, "devices", devices[d]);
    ambit_option_set(a, "strict", "1");
    g = ambit_grid_create(a, 1, (int64_t[]){N});
    u = ambit_field_create(g, "u", AMBIT_F64);
    v = ambit_field_create(g, "v", AMBIT_F64);
    s = ambit_scalar_create(a, "s", AMBIT_F64);
    p = ambit_program_create(g);
    ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
    ambit_field_fill(u, hill, NULL);
    ambit_scalar_set(s, 2);
    ambit_apply(p,
                ambit_kernel_create(a, "void k(const double *u, double *v, double s, sum double *t)"
                                       " { *v = (u[-1] + u[1]) / s; *t = *v; }"),
                u, v, s, s);
    ambit_swap(p, u, v);
    ambit_run(p, 7);
    ambit_field_read(u, NULL, NULL, got);
    CHECK_OK(a);
    if (d) CHECK(!memcmp(want, got, sizeof want) && sum == ambit_scalar_get(s));
    memcpy(want, got, sizeof want);
    sum = ambit_scalar_get(s);
    ambit_close(a);
  }
}

static void sums_of_integers_wrap(void)
{
  EACH_DEVICE(device)
  {
    scene s = set_up(*device, 3);
    ambit_scalar *sum = ambit_scalar_create(s.a, "sum", AMBIT_I16);

    ambit_apply(s.p,
                ambit_kernel_create(s.a, "void k(const double *u, sum short *s) { *s = 30000; }"),
                s.u, sum);
    ambit_run(s.p, 1);
    CHECK_OK(s.a);
    CHECK_EQ((int16_t)(uint16_t)90000, ambit_scalar_get(sum));
    ambit_close(s.a);
  }
}

/* ---- several steps into one scalar ---- */

/* A device, also with several parts, strict or not. */
typedef struct variant {
  char devices[32];
  const char *strict;
} variant;

static int variants(const char *device, variant *all)
{
  static const int parts[] = {1, 3};
  int n = 0;

  for (int i = 0; i < 2; i++)
    for (int strict = 0; strict < 2; strict++) {
      if (parts[i] > 1 && !strcmp(device, "ref")) continue;
      snprintf(all[n].devices, sizeof all[n].devices, parts[i] > 1 ? "%s*%d" : "%s", device,
               parts[i]);
      all[n++].strict = strict ? "1" : "0";
    }
  return n;
}

static scene open_variant(const variant *v, int64_t n)
{
  scene s = {.a = open_on(v->devices)};
  double values[100];

  ambit_option_set(s.a, "strict", v->strict);
  s.g = grid_1d(s.a, n);
  s.u = ambit_field_create(s.g, "u", AMBIT_F64);
  s.p = ambit_program_create(s.g);
  for (int i = 0; i < n; i++)
    values[i] = i + 1;
  ambit_field_write(s.u, NULL, NULL, values);
  return s;
}

#define EACH_VARIANT(v)                                                                            \
  EACH_DEVICE(device)                                                                              \
  for (variant all[4], *v = all, *end = all + variants(*device, all); v < end; v++)

static const char low_and_sum[] = "void k(const double *u, sum double *s, min double *low)\n"
                                  "{ *s = *u; *low = *u; }";

static void reductions_of_several_steps_into_one_scalar_are_folded(void)
{
  EACH_VARIANT(v)
  {
    scene s = open_variant(v, 30);
    ambit_scalar *sum = ambit_scalar_create(s.a, "sum", AMBIT_F64);
    ambit_scalar *low = ambit_scalar_create(s.a, "low", AMBIT_F64);
    ambit_scalar *other = ambit_scalar_create(s.a, "other", AMBIT_F64);
    ambit_field *w = ambit_field_create(s.g, "w", AMBIT_F64);
    ambit_kernel *k = ambit_kernel_create(s.a, low_and_sum);

    ambit_apply_box(s.p, (&(int64_t){10}), (&(int64_t){12}), k, s.u, sum, low); /* 11 12 */
    ambit_apply(s.p, ambit_kernel_create(s.a, "void c(const double *u, double *w) { *w = *u; }"),
                s.u, w);
    ambit_apply_box(s.p, (&(int64_t){20}), (&(int64_t){21}), k, w, sum, other); /* 21 */
    ambit_swap(s.p, s.u, w);
    ambit_apply_box(s.p, (&(int64_t){28}), (&(int64_t){30}), k, s.u, sum, low); /* 29 30 */
    ambit_run(s.p, 2); /* each iteration starts from the identity */
    CHECK_OK(s.a);
    CHECK_MSG(ambit_scalar_get(sum) == 103, "%s: %g", v->devices, ambit_scalar_get(sum));
    CHECK_EQ(11, ambit_scalar_get(low));
    CHECK_EQ(21, ambit_scalar_get(other));
    ambit_close(s.a);
  }
}

static void a_reduction_starts_anew_after_a_step_that_reads_the_scalar(void)
{
  EACH_VARIANT(v)
  {
    scene s = open_variant(v, 30);
    ambit_scalar *sum = ambit_scalar_create(s.a, "sum", AMBIT_F64);
    ambit_scalar *kept = ambit_scalar_create(s.a, "kept", AMBIT_F64);
    ambit_kernel *k =
        ambit_kernel_create(s.a, "void k(const double *u, sum double *s) { *s = *u; }");

    ambit_apply_box(s.p, (&(int64_t){0}), (&(int64_t){2}), k, s.u, sum);
    ambit_apply_box(s.p, (&(int64_t){2}), (&(int64_t){3}), k, s.u, sum);
    ambit_apply(s.p, ambit_kernel_create(s.a, "void keep(double s, double *k) { *k = s; }"), sum,
                kept);
    ambit_apply_box(s.p, (&(int64_t){20}), (&(int64_t){22}), k, s.u, sum);
    ambit_run(s.p, 2);
    CHECK_OK(s.a);
    CHECK_EQ(6, ambit_scalar_get(kept));
    CHECK_EQ(43, ambit_scalar_get(sum));
    ambit_close(s.a);
  }
}

/* On each engine and process the scalar has the result of all cells before others look at it. */
static void a_reduction_starts_anew_after_a_call_that_uses_the_scalar(void)
{
  enum { READS, REDUCES, FACE, WAYS };

  EACH_VARIANT(v)
  for (int way = 0; way < WAYS; way++) {
    scene s = open_variant(v, 30);
    ambit_scalar *sum = ambit_scalar_create(s.a, "sum", AMBIT_F64);
    ambit_scalar *kept = ambit_scalar_create(s.a, "kept", AMBIT_F64);
    ambit_kernel *k =
        ambit_kernel_create(s.a, "void k(const double *u, sum double *s) { *s = *u; }\n"
                                 "void keep(double s, double *k) { *k = s; }\n"
                                 "void left(const double *u, sum double *k)\n"
                                 "{ *k = index(0) == 0 ? u[-1] : 0; }");
    ambit_program *called = ambit_program_create(s.g);
    double want[2] = {6, 43};

    ambit_apply_box(s.p, (&(int64_t){0}), (&(int64_t){2}), k, s.u, sum);
    ambit_apply_box(s.p, (&(int64_t){2}), (&(int64_t){3}), k, s.u, sum);
    if (way == READS) {
      ambit_apply(called, ambit_kernel_find(k, "keep"), sum, kept);
      ambit_call(s.p, called, 1);
    } else if (way == REDUCES) {
      ambit_apply_box(called, (&(int64_t){15}), (&(int64_t){17}), k, s.u, sum);
      ambit_apply(called, ambit_kernel_find(k, "keep"), sum, kept);
      ambit_call(s.p, called, 1);
      want[0] = 33; /* 16 17 */
    } else {
      ambit_field_boundary(s.u, AMBIT_ALL_FACES, AMBIT_DIRICHLET, sum);
      ambit_apply(s.p, ambit_kernel_find(k, "left"), s.u, kept);
      want[0] = 2 * 6 - 1; /* the face lies between a cell with 1 and its mirror */
    }
    ambit_apply_box(s.p, (&(int64_t){20}), (&(int64_t){22}), k, s.u, sum);
    ambit_run(s.p, 2);
    CHECK_OK(s.a);
    CHECK_MSG(ambit_scalar_get(kept) == want[0] && ambit_scalar_get(sum) == want[1],
              "%s, way %d: %g %g", v->devices, way, ambit_scalar_get(kept), ambit_scalar_get(sum));
    ambit_close(s.a);
  }
}

static void different_reductions_into_one_scalar_are_refused(void)
{
  scene s = set_up("cpu", 30);
  ambit_scalar *x = ambit_scalar_create(s.a, "x", AMBIT_F64);
  ambit_kernel *low =
      ambit_kernel_create(s.a, "void low(const double *u, min double *s) { *s = *u; }");
  ambit_kernel *sum =
      ambit_kernel_create(s.a, "void add(const double *u, sum double *s) { *s = *u; }");

  ambit_apply(s.p, sum, s.u, x);
  ambit_apply(s.p, low, s.u, x);
  CHECK_FAILED(s.a, AMBIT_EPROGRAM,
               "kernel low reduces into scalar 'x' with min, but step 1, kernel add, reduces into "
               "it with sum");
  ambit_apply(s.p, ambit_kernel_create(s.a, "void set(double *x) { *x += 1; }"), x);
  ambit_apply(s.p, low, s.u, x);
  ambit_run(s.p, 1);
  CHECK_OK(s.a);
  ambit_close(s.a);
}

static void a_reduction_runs_on_several_faces(void)
{
  EACH_VARIANT(v)
  {
    scene s = open_variant(v, 30);
    ambit_scalar *high = ambit_scalar_create(s.a, "high", AMBIT_F64);
    ambit_scalar *sum = ambit_scalar_create(s.a, "sum", AMBIT_F64);
    ambit_kernel *k = ambit_kernel_create(
        s.a,
        "void edge(const double *u, max double *high, sum double *s) { *high = *u; *s = *u; }");

    ambit_apply_faces(s.p, AMBIT_AXIS(0), k, s.u, high, sum);
    ambit_run(s.p, 1);
    CHECK_OK(s.a);
    CHECK_EQ(30, ambit_scalar_get(high));
    CHECK_EQ(31, ambit_scalar_get(sum));
    ambit_close(s.a);
  }
}

static void a_long_name_of_a_reduction_works(void)
{
  EACH_DEVICE(device)
  {
    scene s = set_up(*device, 4);
    ambit_scalar *sum = ambit_scalar_create(s.a, "sum", AMBIT_F64);
    char name[201], text[1000];

    memset(name, 'n', 200);
    name[200] = 0;
    snprintf(text, sizeof text, "void k(const double *u, sum double *%s) { *%s = 2; }", name, name);
    ambit_apply(s.p, ambit_kernel_create(s.a, text), s.u, sum);
    ambit_run(s.p, 1);
    CHECK_OK(s.a);
    CHECK_EQ(8, ambit_scalar_get(sum));
    ambit_close(s.a);
  }
}

/* ---- several values ---- */

static double whole(const int64_t *index, int component, void *user)
{
  (void)user;
  return (double)(index[0] * (component + 1));
}

/* Over the grid, then folded over two boxes; one scalar per value. */
static void a_reduction_has_several_values(void)
{
  EACH_DEVICE(d)
  {
    ambit *a = open_on(*d);
    ambit_grid *g = grid_1d(a, 10);
    ambit_field *f = ambit_field_create_vector(g, "f", AMBIT_F32, 3, AMBIT_SOA);
    ambit_program *p = ambit_program_create(g), *q = ambit_program_create(g);
    ambit_kernel *k = ambit_kernel_create(
        a, "void k(const float *f[3], sum double *s[3], table float w[1], max float *m[2]) "
           "{ for (int i = 0; i < 3; i++) *s[i] += *f[i] * w[0]; *m[0] = *f[0]; *m[1] = -*f[2]; }");
    const ambit_arg two = ambit_arg_table(&(float){2}, AMBIT_F32, 1, 1);
    ambit_scalar *s[5];
    ambit_param_info info;

    for (int i = 0; i < 5; i++)
      s[i] = ambit_scalar_create(a, "s", i < 3 ? AMBIT_F64 : AMBIT_F32);
    ambit_field_fill(f, whole, NULL);
    ambit_apply(p, k, f, s[0], s[1], s[2], two, s[3], s[4]);
    ambit_run(p, 1);
    for (int i = 0; i < 3; i++)
      CHECK_NEAR(90.0 * (i + 1), ambit_scalar_get(s[i]), 0);
    CHECK_NEAR(9.0, ambit_scalar_get(s[3]), 0);
    CHECK_NEAR(0.0, ambit_scalar_get(s[4]), 0);
    ambit_apply_faces(q, AMBIT_AXIS(0), k, f, s[0], s[1], s[2], two, s[3], s[4]);
    ambit_run(q, 1);
    CHECK_NEAR(36.0, ambit_scalar_get(s[1]), 0);
    CHECK_EQ(7, ambit_kernel_params(k));
    info = *ambit_kernel_param(k, 2);
    CHECK_STR("s[1]", info.name);
    CHECK_OK(a);
    ambit_apply(q, k, f, s[0], s[1], two, s[3]);
    CHECK_FAILED(a, AMBIT_EINVAL, "has 7 parameters, and 5 arguments were given");
    ambit_close(a);
  }
}

enum { BINS = 9 };

static double scattered(const int64_t *index, int component, void *user)
{
  const int64_t n = (index[0] * 37 + index[1] * 11) % 80;

  (void)component;
  (void)user;
  return n == 1 ? NAN : n == 2 ? -INFINITY : n == 3 ? 1e20 : (double)n / 4 - 4;
}

/* In tables, and beside other reductions. Numbers that are no integers are compared one by one. */
static void values_are_counted(void)
{
  static const struct {
    const char *text;
    double first;
  } rules[] = {
      {"double b = *u; for (int k = 0; k < 9; k++) if (b == k - 2) *c[k] += 1;", -2},
      {"int b = (int)*u; if (b < 0) b = -100; for (int k = 0; k < 9; k++) *c[k] = b == k + 1;", 1},
      {"float b = (float)*u; for (int k = 0; k < 9; k++) if (b == k + 0.25f) *c[k] = 1;", 0.25},
      {"int b = (int)*u; for (int k = 0; k < 9; k++) if (b == k + 1) *c[k] += 1; if (b > 2) b = 1;",
       1},
      {"unsigned long b = *u < 9 ? (unsigned long)(long)*u : 99uL;"
       "for (int k = 0; k < 9; k++) if (b == (unsigned long)(k - 1)) *c[k] += 1;",
       -1},
  };
  const int64_t lo[] = {1, 3}, hi[] = {19, 207};

  EACH_DEVICE(d)
  for (int r = 0; r < 5; r++) {
    ambit *a = open_on(*d);
    ambit_grid *g = grid_2d(a, 21, 211);
    ambit_field *u = ambit_field_create(g, "u", AMBIT_F64);
    ambit_program *p = ambit_program_create(g);
    ambit_scalar *c[BINS], *most = ambit_scalar_create(a, "most", AMBIT_I32);
    ambit_arg args[BINS + 2] = {ambit_arg_field(u)};
    double want[BINS] = {0};
    char text[300];

    for (int k = 0; k < BINS; k++)
      args[k + 1] = ambit_arg_scalar(c[k] = ambit_scalar_create(a, "c", AMBIT_I64));
    args[BINS + 1] = ambit_arg_scalar(most);
    snprintf(text, sizeof text,
             "void k(const double *u, sum long *c[9], max int *m) { %s *m = (int)*u < 99; }",
             rules[r].text);
    ambit_field_fill(u, scattered, NULL);
    ambit_apply_box_args(p, lo, hi, ambit_kernel_create(a, text), BINS + 2, args);
    ambit_run(p, 2);
    CHECK_OK(a);
    for (int64_t y = lo[0]; y < hi[0]; y++)
      for (int64_t x = lo[1]; x < hi[1]; x++) {
        const double v = scattered((int64_t[]){y, x}, 0, NULL), b = r == 1 || r > 2 ? trunc(v) : v;

        for (int k = 0; k < BINS; k++)
          want[k] += b == rules[r].first + k;
      }
    for (int k = 0; k < BINS; k++)
      CHECK_NEAR(want[k], ambit_scalar_get(c[k]), 0);
    CHECK_NEAR(1.0, ambit_scalar_get(most), 0);
    ambit_close(a);
  }
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"results_are_those_of_plain_loops", results_are_those_of_plain_loops},
      {"sums_have_the_same_bits_for_any_number_of_threads",
       sums_have_the_same_bits_for_any_number_of_threads},
      {"a_box_reduces_its_own_cells_only", a_box_reduces_its_own_cells_only},
      {"an_empty_region_gives_what_a_reduction_starts_from",
       an_empty_region_gives_what_a_reduction_starts_from},
      {"a_nan_stays_and_minus_zero_is_zero", a_nan_stays_and_minus_zero_is_zero},
      {"every_cell_of_a_box_counts_once_in_a_largest_magnitude_and_a_sum",
       every_cell_of_a_box_counts_once_in_a_largest_magnitude_and_a_sum},
      {"a_run_does_not_converge_on_nan", a_run_does_not_converge_on_nan},
      {"cells_that_do_not_write_count_for_nothing", cells_that_do_not_write_count_for_nothing},
      {"a_scalar_is_read_as_it_was_before_a_reduction_into_it",
       a_scalar_is_read_as_it_was_before_a_reduction_into_it},
      {"sums_of_integers_wrap", sums_of_integers_wrap},
      {"reductions_of_several_steps_into_one_scalar_are_folded",
       reductions_of_several_steps_into_one_scalar_are_folded},
      {"a_reduction_starts_anew_after_a_step_that_reads_the_scalar",
       a_reduction_starts_anew_after_a_step_that_reads_the_scalar},
      {"a_reduction_starts_anew_after_a_call_that_uses_the_scalar",
       a_reduction_starts_anew_after_a_call_that_uses_the_scalar},
      {"different_reductions_into_one_scalar_are_refused",
       different_reductions_into_one_scalar_are_refused},
      {"a_reduction_runs_on_several_faces", a_reduction_runs_on_several_faces},
      {"a_long_name_of_a_reduction_works", a_long_name_of_a_reduction_works},
      {"values_are_counted", values_are_counted},
      {"a_reduction_has_several_values", a_reduction_has_several_values},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
