/* SPDX-License-Identifier: BSD-3-Clause */
/* Strict sums are exact and rounded once: equal for any order of cells, device, number of threads,
 * parts, pieces of a step, and processes. */
#include "codegen/exact.h"
#include "runtime/runtime_test.h"

#include <math.h>

enum { ROWS = 61, COLUMNS = 83, CELLS = ROWS * COLUMNS, SUMS = 3 };

static const char rule[] =
    "void k(const double *u, double *v, sum double *s, sum float *f, sum double *q)\n"
    "{\n"
    "  *s = *u;\n"
    "  *f = (float)*u;\n"
    "  *q = *u * u[-1][0] + u[0][1];\n"
    "  *v = *q;\n"
    "}";

/* Numbers of very different magnitudes, in an order that depends on the seed: one of CELLS numbers
 * for each cell. */
typedef struct values {
  int range;     /* binary orders */
  int64_t order; /* factor of the cell's number */
} values;

static double value_at(const values *w, int64_t row, int64_t column)
{
  const uint64_t cell = (uint64_t)((row * COLUMNS + column) * w->order % CELLS);
  uint64_t x = (cell + 1) * 0x9e3779b97f4a7c15u;

  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  x ^= x >> 31;
  return ldexp((double)(int64_t)(x >> 11) * 0x1p-52 - 1,
               (int)(x % (uint64_t)w->range) - w->range / 2);
}

static double fill(const int64_t *index, int component, void *user)
{
  (void)component;
  return value_at(user, index[0], index[1]);
}

/* Both faces of axis 0, and the lower one of axis 1, are periodic; the upper one of axis 1 is
 * constant, 0.5. */
static void expect(const values *w, double *want)
{
  ambit__long sums[SUMS] = {{{0}}};

  for (int64_t i = 0; i < ROWS; i++)
    for (int64_t j = 0; j < COLUMNS; j++) {
      const double u = value_at(w, i, j), up = value_at(w, (i + ROWS - 1) % ROWS, j);
      const double product = u * up;

      ambit__long_add(&sums[0], u);
      ambit__long_add(&sums[1], (double)(float)u);
      ambit__long_add(&sums[2], product + (j + 1 < COLUMNS ? value_at(w, i, j + 1) : 0.5));
    }
  want[0] = ambit__long_value(&sums[0], AMBIT_F64);
  want[1] = ambit__long_value(&sums[1], AMBIT_F32);
  want[2] = ambit__long_value(&sums[2], AMBIT_F64);
}

typedef struct setting {
  const char *devices, *threads, *overlap, *cc, *check;
} setting;

static void sum_up(const setting *t, values *w, double *got)
{
  ambit *a = open_on(t->devices);
  ambit_scalar *s[SUMS];
  ambit_grid *g;
  ambit_field *u, *v;
  ambit_program *p;

  ambit_option_set(a, "strict", "1");
  ambit_option_set(a, "threads", t->threads);
  ambit_option_set(a, "overlap", t->overlap);
  if (t->cc) ambit_option_set(a, "cc", t->cc);
  if (t->check) ambit_option_set(a, t->check, "1");
  g = grid_2d(a, ROWS, COLUMNS);
  u = ambit_field_create(g, "u", AMBIT_F64);
  v = ambit_field_create(g, "v", AMBIT_F64);
  p = ambit_program_create(g);
  for (int i = 0; i < SUMS; i++)
    s[i] = ambit_scalar_create(a, "s", i == 1 ? AMBIT_F32 : AMBIT_F64);
  ambit_field_boundary(u, AMBIT_AXIS(0), AMBIT_PERIODIC, 0);
  ambit_field_boundary(u, AMBIT_AXIS(1), AMBIT_CONSTANT, 0.5);
  ambit_field_fill(u, fill, w);
  ambit_apply(p, ambit_kernel_create(a, rule), u, v, s[0], s[1], s[2]);
  ambit_run(p, 2);
  for (int i = 0; i < SUMS; i++)
    got[i] = ambit_scalar_get(s[i]);
  CHECK_OK(a);
  ambit_close(a);
}

static void check_sums(const setting *t, values w)
{
  double want[SUMS], got[SUMS];

  expect(&w, want);
  sum_up(t, &w, got);
  for (int i = 0; i < SUMS; i++)
    CHECK_MSG(!memcmp(&want[i], &got[i], sizeof got[i]),
              "sum %d on %s, %s threads, overlap %s, range %d: want %.17g, got %.17g", i,
              t->devices, t->threads, t->overlap, w.range, want[i], got[i]);
}

static int processes(void)
{
  ambit *a = open_on("cpu");
  int n = ambit_processes(a);

  ambit_close(a);
  return n;
}

static void sums_are_the_same_on_all_devices(void)
{
  const bool alone = processes() == 1;

  EACH_DEVICE(device)
  {
    if (!strcmp(*device, "ref") && !alone) continue; /* ref has one part only */
    for (int range = 1; range < 600; range = range * 17 + 20)
      check_sums(&(setting){*device, "0", "two-way", NULL, NULL}, (values){range, 1});
  }
}

static void sums_do_not_depend_on_the_order_of_cells(void)
{
  for (int64_t order = 1; order < 40; order += 18)
    check_sums(&(setting){"cpu", "2", "none", NULL, NULL}, (values){90, order});
}

static void sums_do_not_depend_on_parts_and_pieces(void)
{
  static const char *const overlaps[] = {"none", "standard", "extended", "two-way"};

  EACH_DEVICE(device)
  {
    for (int n = 1; n <= 6; n++) {
      char spec[32];

      if (!strcmp(*device, "ref") || (compiles_slowly(*device) && n % 2)) continue;
      snprintf(spec, sizeof spec, "%s*%d", *device, n);
      check_sums(&(setting){spec, "0", overlaps[n % 4], NULL, NULL}, (values){60, 1});
    }
  }
}

static void sums_do_not_depend_on_threads(void)
{
  static const char *const threads[] = {"1", "2", "3", "5"};

  for (int i = 0; i < 4; i++)
    check_sums(&(setting){"cpu*2", threads[i], "two-way", NULL, NULL}, (values){200, 1});
}

static void sums_are_the_same_where_kernels_are_interpreted_or_checked(void)
{
  EACH_DEVICE(device)
  {
    if (!strcmp(*device, "ref") && processes() > 1) continue;
    check_sums(&(setting){*device, "0", "two-way", NULL, "nan"}, (values){60, 1});
  }
  check_sums(&(setting){"cpu*2", "2", "two-way", "none", NULL}, (values){60, 1});
}

/* ---- NaN and infinities ---- */

static void sum_of_two(const char *device, double x, double y, double want)
{
  ambit *a = open_on(device);
  ambit_grid *g;
  ambit_field *u;
  ambit_program *p;
  ambit_scalar *s, *f;
  double numbers[150] = {0}, got[2];

  ambit_option_set(a, "strict", "1");
  g = grid_1d(a, 150);
  u = ambit_field_create(g, "u", AMBIT_F64);
  p = ambit_program_create(g);
  s = ambit_scalar_create(a, "s", AMBIT_F64);
  f = ambit_scalar_create(a, "f", AMBIT_F32);
  numbers[3] = x;
  numbers[140] = y;
  ambit_field_write(u, NULL, NULL, numbers);
  ambit_apply(p,
              ambit_kernel_create(a, "void k(const double *u, sum double *s, sum float *f)\n"
                                     "{ *s = *u; *f = (float)*u; }"),
              u, s, f);
  ambit_run(p, 1);
  got[0] = ambit_scalar_get(s);
  got[1] = ambit_scalar_get(f);
  CHECK_OK(a);
  for (int i = 0; i < 2; i++)
    CHECK_MSG(isnan(want) ? isnan(got[i]) : got[i] == want && !signbit(got[i]) == !signbit(want),
              "%s: %g + %g is %g", device, x, y, got[i]);
  ambit_close(a);
}

static void sums_of_what_is_not_finite_are_the_same_everywhere(void)
{
  const bool alone = processes() == 1;

  EACH_DEVICE(device)
  {
    if (!strcmp(*device, "ref") && !alone) continue;
    sum_of_two(*device, NAN, 1, NAN);
    sum_of_two(*device, INFINITY, -INFINITY, NAN);
    sum_of_two(*device, 1, INFINITY, INFINITY);
    sum_of_two(*device, -INFINITY, 5, -INFINITY);
    sum_of_two(*device, -0.0, -0.0, 0.0);
    sum_of_two(*device, 0x1p-140, 0x1p-140, 0x1p-139);
  }
}

/* ---- conjugate gradients ---- */

enum { SIDE = 40 };

static double load(const int64_t *index, int component, void *user)
{
  (void)component;
  (void)user;
  return sin(0.7 * (double)(index[0] * 13 % 17)) + cos(0.3 * (double)(index[1] * index[0] % 23));
}

/* The number of iterations to solve a linear system. */
static int64_t solve(const char *devices)
{
  ambit *a = open_on(devices);
  ambit_grid *g;
  ambit_field *x, *r, *d, *q;
  ambit_scalar *rr, *dq, *next, *alpha, *beta;
  ambit_program *start, *p;
  ambit_stats stats;

  ambit_option_set(a, "strict", "1");
  g = grid_2d(a, SIDE, SIDE);
  x = ambit_field_create(g, "x", AMBIT_F64);
  r = ambit_field_create(g, "r", AMBIT_F64);
  d = ambit_field_create(g, "d", AMBIT_F64);
  q = ambit_field_create(g, "q", AMBIT_F64);
  rr = ambit_scalar_create(a, "rr", AMBIT_F64);
  dq = ambit_scalar_create(a, "dq", AMBIT_F64);
  next = ambit_scalar_create(a, "next", AMBIT_F64);
  alpha = ambit_scalar_create(a, "alpha", AMBIT_F64);
  beta = ambit_scalar_create(a, "beta", AMBIT_F64);
  start = ambit_program_create(g);
  p = ambit_program_create(g);
  ambit_field_boundary(d, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
  ambit_field_fill(r, load, NULL);
  ambit_field_fill(d, load, NULL);
  ambit_apply(start,
              ambit_kernel_create(a, "void s(const double *r, sum double *rr) { *rr = *r * *r; }"),
              r, rr);
  ambit_run(start, 1);
  ambit_apply(p,
              ambit_kernel_create(a, "void mul(const double *d, double *q, sum double *dq)\n"
                                     "{ *q = 4 * *d - d[-1][0] - d[1][0] - d[0][-1] - d[0][1];\n"
                                     "  *dq = *d * *q; }"),
              d, q, dq);
  ambit_apply(p,
              ambit_kernel_create(a, "void a(double rr, double dq, double *al) { *al = rr / dq; }"),
              rr, dq, alpha);
  ambit_apply(
      p,
      ambit_kernel_create(a, "void go(double *x, double *r, const double *d, const double *q,\n"
                             "        double al, sum double *n)\n"
                             "{ *x += al * *d; *r -= al * *q; *n = *r * *r; }"),
      x, r, d, q, alpha, next);
  ambit_apply(p,
              ambit_kernel_create(
                  a, "void b(double n, double *rr, double *be) { *be = n / *rr; *rr = n; }"),
              next, rr, beta);
  ambit_apply(p,
              ambit_kernel_create(a, "void turn(const double *r, double *d, double be)\n"
                                     "{ *d = *r + be * *d; }"),
              r, d, beta);
  ambit_run_until(p, next, AMBIT_BELOW, 1e-24, 1000);
  CHECK_OK(a);
  CHECK(ambit_program_converged(p));
  stats = *ambit_program_stats(p, 0);
  ambit_close(a);
  return stats.iterations;
}

static void conjugate_gradients_take_as_many_iterations_everywhere(void)
{
  static const char *const others[] = {"cpu*2", "cpu*3", "cpu*5"};
  const int64_t want = 167; /* on ref */

  for (int i = 0; i < 3; i++)
    CHECK_EQ(want, solve(others[i]));
  EACH_DEVICE(device)
  if (strcmp(*device, "ref") || processes() == 1) CHECK_EQ(want, solve(*device));
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"sums_are_the_same_on_all_devices", sums_are_the_same_on_all_devices},
      {"sums_do_not_depend_on_the_order_of_cells", sums_do_not_depend_on_the_order_of_cells},
      {"sums_do_not_depend_on_parts_and_pieces", sums_do_not_depend_on_parts_and_pieces},
      {"sums_do_not_depend_on_threads", sums_do_not_depend_on_threads},
      {"sums_are_the_same_where_kernels_are_interpreted_or_checked",
       sums_are_the_same_where_kernels_are_interpreted_or_checked},
      {"sums_of_what_is_not_finite_are_the_same_everywhere",
       sums_of_what_is_not_finite_are_the_same_everywhere},
      {"conjugate_gradients_take_as_many_iterations_everywhere",
       conjugate_gradients_take_as_many_iterations_everywhere},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
