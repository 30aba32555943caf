/* SPDX-License-Identifier: BSD-3-Clause */
/* Sweeps: cells in order along an axis, as in plain C, with the same bits on all devices, parts and
 * processes. */
#define _XOPEN_SOURCE 700
#include "runtime/places.h"

#include <math.h>

enum { NX = 7, NY = 9, NZ = 13, CELLS = 3 * 20 * 80, STEPS = 2 };

/* Few cells; lines of several tiles on GPUs; and rows that are short, so that GPUs have other ones.
 */
static const int64_t small[] = {NX, NY, NZ}, many[] = {3, 20, 80}, thin[] = {5, 19, 7};
static const int64_t *extents = small;

/* Values of few bits, so that sums and halves are exact. */
static double start(const int64_t *i, int component, void *user)
{
  (void)component;
  (void)user;
  return (double)((i[0] * 131 + i[1] * 17 + i[2] * 71) % 251) / 16 - 5;
}

static const char text[] =
    "void walk(const float *u, double *c, int *k, double *v, sum double *total, max int *most)\n"
    "{ *c = 0.5 * *c + *u + u[0][0][1] - u[1][0][0];\n"
    "  if (*u > 0) *k = *k + index(1);\n"
    "  *v = *c + *k + 0.5 * *v; *total = *v; *most = *k; }\n";

typedef struct result {
  double v[CELLS], c[CELLS];
  int k[CELLS];
  double total, most;
} result;

typedef struct job {
  const char *devices, *partition; /* NULL: as the library cuts it */
  int axis, up;
  const int64_t *lo, *hi; /* NULL: all cells */
  const char *plan;       /* NULL: the best one */
} job;

static void run_there(const job *j, result *r)
{
  ambit *a = open_on(j->devices);
  const unsigned others = (AMBIT_AXIS(0) | AMBIT_AXIS(1) | AMBIT_AXIS(2)) & ~AMBIT_AXIS(j->axis);
  ambit_grid *g;
  ambit_field *u, *v, *c, *k;
  ambit_scalar *total, *most;
  ambit_program *p;

  memset(r, 0, sizeof *r);
  ambit_option_set(a, "strict", "1");
  if (j->partition) ambit_option_set(a, "partition", j->partition);
  if (j->plan) ambit_option_set(a, "plan", j->plan);
  g = ambit_grid_create(a, 3, extents);
  u = ambit_field_create(g, "u", AMBIT_F32);
  v = ambit_field_create(g, "v", AMBIT_F64);
  c = ambit_field_create_on(g, "c", AMBIT_F64, others);
  k = ambit_field_create_on(g, "k", AMBIT_I32, others);
  total = ambit_scalar_create(a, "total", AMBIT_F64);
  most = ambit_scalar_create(a, "most", AMBIT_I32);
  p = ambit_program_create(g);
  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
  ambit_field_fill(u, start, NULL);
  ambit_field_fill(c, start, NULL);
  ambit_field_set(k, 3);
  ambit_sweep_box(p, j->up ? AMBIT_LOW(j->axis) : AMBIT_HIGH(j->axis), j->lo, j->hi,
                  ambit_kernel_create(a, text), u, c, k, v, total, most);
  ambit_run(p, STEPS);
  ambit_field_read(v, NULL, NULL, r->v);
  ambit_field_read(c, NULL, NULL, r->c);
  ambit_field_read(k, NULL, NULL, r->k);
  r->total = ambit_scalar_get(total);
  r->most = ambit_scalar_get(most);
  CHECK_OK(a);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

/* ---- the definition, in plain C ---- */

static int64_t number(const int64_t *i, int dropped)
{
  int64_t n = 0;

  for (int d = 0; d < 3; d++)
    if (d != dropped) n = n * extents[d] + i[d];
  return n;
}

static double clamped(int64_t x, int64_t y, int64_t z)
{
  const int64_t i[] = {x < extents[0] ? x : extents[0] - 1, y, z < extents[2] ? z : extents[2] - 1};

  return start(i, 0, NULL);
}

static void do_cell(const job *j, const int64_t *i, result *r)
{
  const int64_t line = number(i, j->axis), cell = number(i, -1);
  const double u = start(i, 0, NULL);

  r->c[line] = 0.5 * r->c[line] + u + clamped(i[0], i[1], i[2] + 1) - clamped(i[0] + 1, i[1], i[2]);
  if (u > 0) r->k[line] += (int)i[1];
  r->v[cell] = r->c[line] + r->k[line] + 0.5 * r->v[cell];
  r->total += r->v[cell];
  if (r->k[line] > r->most) r->most = r->k[line];
}

static void define(const job *j, result *r)
{
  const int64_t none[] = {0, 0, 0}, *lo = j->lo ? j->lo : none, *hi = j->hi ? j->hi : extents;
  const int a = j->axis, b = (a + 1) % 3, c = (a + 2) % 3;
  int64_t i[3];

  memset(r, 0, sizeof *r);
  for (i[0] = 0; i[0] < extents[0]; i[0]++)
    for (i[1] = 0; i[1] < extents[1]; i[1]++)
      for (i[2] = 0; i[2] < extents[2]; i[2]++) {
        const int64_t at[] = {a == 0 ? 0 : i[0], a == 1 ? 0 : i[1], a == 2 ? 0 : i[2]};

        r->c[number(i, a)] = start(at, 0, NULL);
        r->k[number(i, a)] = 3;
      }
  for (int step = 0; step < STEPS; step++) {
    r->total = 0;
    r->most = -1;
    for (int64_t n = 0; n < hi[a] - lo[a]; n++) {
      i[a] = j->up ? lo[a] + n : hi[a] - 1 - n;
      for (i[b] = lo[b]; i[b] < hi[b]; i[b]++)
        for (i[c] = lo[c]; i[c] < hi[c]; i[c]++)
          do_cell(j, i, r);
    }
  }
}

static void compare(const job *j)
{
  static result want, got;

  define(j, &want);
  run_there(j, &got);
  CHECK_MSG(!memcmp(want.v, got.v, sizeof want.v), "values on %s, axis %d, %s", j->devices, j->axis,
            j->up ? "up" : "down");
  CHECK_MSG(!memcmp(want.c, got.c, sizeof want.c) && !memcmp(want.k, got.k, sizeof want.k),
            "carried values on %s, axis %d, %s", j->devices, j->axis, j->up ? "up" : "down");
  CHECK_MSG(fabs(want.total - got.total) <= 1e-12 * fabs(want.total) && want.most == got.most,
            "sums on %s: want %g %g, got %g %g", j->devices, want.total, want.most, got.total,
            got.most);
}

static const int64_t lo[] = {1, 2, 3}, hi[] = {6, 8, 12}, end[] = {3, 8, 6};

static void a_sweep_is_as_in_plain_c_on_all_devices(void)
{
  EACH_PLACE(d)
  {
    extents = many;
    for (int axis = 0; axis < 3; axis++)
      for (int up = 0; up < 2; up++)
        compare(&(job){.devices = *d, .axis = axis, .up = up});
    compare(&(job){.devices = *d, .axis = 2, .up = 1, .lo = lo, .hi = end});
    extents = thin;
    compare(&(job){.devices = *d, .axis = 1});
    compare(&(job){.devices = *d, .up = 1, .lo = lo, .hi = end});
    extents = small;
  }
}

/* Which OpenCL on a processor does not by itself. */
static void lines_pass_through_shared_memory_in_opencl(void)
{
  EACH_PLACE(d)
  {
    if (strcmp(*d, "opencl")) continue;
    extents = many;
    compare(&(job){.devices = *d, .plan = "(lines", .axis = 2});
    extents = small;
  }
}

/* 8 of the 9 rows of a plane at a time. */
static void lines_along_rows_are_swept_together(void)
{
  for (int up = 0; up < 2; up++)
    compare(&(job){.devices = "cpu", .plan = "(rows 8", .axis = 2, .up = up});
}

static void parts_take_turns_where_the_axis_is_cut(void)
{
  static const char *const cuts[] = {"4", "1x4", "1x1x4", "2x2", "1x2x2", "2x1x2"};
  ambit *a = ambit_open(NULL, NULL);
  const bool alone = ambit_processes(a) == 1;

  ambit_close(a);
  if (!alone) return;
  for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++)
    for (int axis = 0; axis < 3; axis++)
      for (int up = 0; up < 2; up++) {
        compare(&(job){.devices = "cpu*4", .partition = cuts[i], .axis = axis, .up = up});
        compare(&(job){
            .devices = "cpu*4", .partition = cuts[i], .axis = axis, .up = up, .lo = lo, .hi = hi});
      }
}

/* ---- many cells: lines in several blocks, on several threads ---- */

enum { WIDE = 24 * 96 * 64 };

static void solve(const char *devices, const char *options[2], int axis, double *x)
{
  static const char rules[] =
      "void down(const double *b, const double *d, double *c, double *r, double *f, double *y)\n"
      "{ double m = 4 + *d - *c; if (index(AXIS) == 0) m = 4 + *d;\n"
      "  *y = (*b + (index(AXIS) == 0 ? 0 : *r)) / m; *f = 1 / m; *c = *f; *r = *y; }\n"
      "void up(const double *f, const double *y, double *next, double *x)\n"
      "{ *x = index(AXIS) == extent(AXIS) - 1 ? *y : *y + *f * *next; *next = *x; }\n";
  static const int64_t size[] = {24, 96, 64};
  ambit *a = open_on(devices);
  const unsigned others = (AMBIT_AXIS(0) | AMBIT_AXIS(1) | AMBIT_AXIS(2)) & ~AMBIT_AXIS(axis);
  ambit_field *f[4], *c[3];
  ambit_grid *g;
  ambit_program *p;
  ambit_kernel *k;

  ambit_option_set(a, "strict", "1");
  if (options) ambit_option_set(a, options[0], options[1]);
  g = ambit_grid_create(a, 3, size);
  ambit_define(a, "AXIS", AMBIT_I32, axis);
  k = ambit_kernel_create(a, rules);
  for (int i = 0; i < 4; i++)
    f[i] = ambit_field_create(g, (const char *[]){"b", "d", "f", "y"}[i], AMBIT_F64);
  for (int i = 0; i < 3; i++)
    c[i] = ambit_field_create_on(g, (const char *[]){"c", "r", "next"}[i], AMBIT_F64, others);
  p = ambit_program_create(g);
  ambit_field_fill(f[0], start, NULL);
  ambit_field_fill(f[1], start, NULL);
  ambit_field_set(f[1], 0.25);
  ambit_sweep(p, AMBIT_LOW(axis), k, f[0], f[1], c[0], c[1], f[2], f[3]);
  ambit_sweep(p, AMBIT_HIGH(axis), ambit_kernel_find(k, "up"), f[2], f[3], c[2], f[0]);
  ambit_run(p, 2);
  ambit_field_read(f[0], NULL, NULL, x);
  CHECK_OK(a);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static void a_tridiagonal_solver_has_the_same_bits_everywhere(void)
{
  static double want[WIDE], got[WIDE];

  for (int axis = 0; axis < 3; axis++) {
    static const char *const cuts[] = {"4", "1x4", "1x1x4"};

    solve("cpu", (const char *[]){"threads", "1"}, axis, want);
    EACH_PLACE(d)
    {
      if (!strcmp(*d, "ref")) continue; /* many cells for it */
      solve(*d, NULL, axis, got);
      CHECK_MSG(!memcmp(want, got, sizeof want), "%s, axis %d", *d, axis);
    }
    solve("cpu", (const char *[]){"threads", "5"}, axis, got);
    CHECK_MSG(!memcmp(want, got, sizeof want), "threads, axis %d", axis);
    if (!strstr(places()[3] ? places()[3] : "", "ref")) continue;
    solve("cpu*4", (const char *[]){"partition", cuts[axis]}, axis, got);
    CHECK_MSG(!memcmp(want, got, sizeof want), "cut along axis %d", axis);
  }
}

/* Twice the equations (4 + d) x[i] - x[i-1] - x[i+1] = b; the first time by plain C. */
static void a_tridiagonal_solver_solves(void)
{
  static double x[WIDE];
  const int64_t n[] = {24, 96, 64};

  solve("cpu", NULL, 1, x);
  for (int64_t i = 0; i < n[0]; i++)
    for (int64_t k = 0; k < n[2]; k++) {
      double previous[96], m[96], y[96];

      for (int64_t j = 0; j < n[1]; j++) {
        const double b = start((int64_t[]){i, j, k}, 0, NULL);

        m[j] = 4.25 - (j ? 1 / m[j - 1] : 0);
        y[j] = (b + (j ? y[j - 1] : 0)) / m[j];
      }
      for (int64_t j = n[1] - 1; j >= 0; j--)
        previous[j] = y[j] + (j < n[1] - 1 ? previous[j + 1] / m[j] : 0);
      for (int64_t j = 0; j < n[1]; j++) {
        const double *line = x + i * n[1] * n[2] + k;
        const double left = 4.25 * line[j * n[2]] - (j ? line[(j - 1) * n[2]] : 0) -
                            (j < n[1] - 1 ? line[(j + 1) * n[2]] : 0);

        CHECK_NEAR(previous[j], left, 1e-12);
      }
    }
}

/* ---- several iterations in one pass ---- */

/* A stencil along axis 0, and a filter to and fro along another axis, on cells of a box. */
static void filter(const char *devices, const char *const options[][2], int axis, double *x)
{
  static const char rules[] =
      "void begin(double *c) { *c = 0.5; }\n"
      "void blur(const double *u, double *v) { *v = 0.25 * (u[-1][0][0] + 2 * *u + u[2][0][0]); }\n"
      "void filter(const double *u, double *c, double *v) { *c = 0.7 * *c + 0.3 * *u; *v = *c; }\n";
  static const int64_t size[] = {48, 48, 64}, from[] = {1, 0, 3}, to[] = {48, 47, 64};
  ambit *a = open_on(devices);
  const unsigned others = (AMBIT_AXIS(0) | AMBIT_AXIS(1) | AMBIT_AXIS(2)) & ~AMBIT_AXIS(axis);
  ambit_field *u, *v, *c;
  ambit_grid *g;
  ambit_program *p;
  ambit_kernel *k;

  ambit_option_set(a, "strict", "1");
  for (int i = 0; options && options[i][0]; i++)
    ambit_option_set(a, options[i][0], options[i][1]);
  g = ambit_grid_create(a, 3, size);
  k = ambit_kernel_create(a, rules);
  u = ambit_field_create(g, "u", AMBIT_F64);
  v = ambit_field_create(g, "v", AMBIT_F64);
  c = ambit_field_create_on(g, "c", AMBIT_F64, others);
  p = ambit_program_create(g);
  ambit_field_fill(u, start, NULL);
  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
  ambit_field_boundary(u, AMBIT_AXIS(0), AMBIT_PERIODIC, 0);
  ambit_apply(p, ambit_kernel_find(k, "blur"), u, v);
  ambit_apply(p, k, c);
  ambit_sweep(p, AMBIT_LOW(axis), ambit_kernel_find(k, "filter"), v, c, u);
  ambit_apply(p, k, c);
  ambit_sweep_box(p, AMBIT_HIGH(axis), from, to, ambit_kernel_find(k, "filter"), u, c, u);
  ambit_run(p, 9);
  CHECK_EQ(9, ambit_program_iterations(p));
  ambit_field_read(u, NULL, NULL, x);
  CHECK_OK(a);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static void sweeps_across_the_first_axis_are_stages_of_waves(void)
{
  static const char *const plans[] = {"(wavefront depth 2 rows 4)", "(wavefront depth 4 rows 4)",
                                      "(wavefront depth 3 rows 16)"};
  static double want[WIDE], got[WIDE];
  ambit *a = ambit_open(NULL, NULL);
  const bool alone = ambit_processes(a) == 1;

  ambit_close(a);
  if (!alone) return; /* parts have no such waves */
  for (int axis = 1; axis < 3; axis++) {
    filter("ref", NULL, axis, want);
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
      for (int threads = 1; threads < 4; threads += 2) {
        const char *const options[][2] = {
            {"plan", plans[i]}, {"threads", threads > 1 ? "3" : "1"}, {NULL, NULL}};

        filter("cpu", options, axis, got);
        CHECK_MSG(!memcmp(want, got, sizeof want), "%s, axis %d, %d threads", plans[i], axis,
                  threads);
      }
  }
}

/* ---- one axis: the carried field has none ---- */

enum { LINE = 60000 }; /* enough for several threads, if they could share it */

typedef struct line {
  double x[LINE], last, mean, sum;
} line;

/* (4 + i % 3) x[i] - x[i-1] - x[i+1] = b[i], then the mean of all x is taken off. */
static void solve_line(const char *devices, line *r)
{
  static const char rules[] =
      "void down(const double *b, double *c, double *r, double *f, double *y)\n"
      "{ *c = 1 / (4 + index(0) % 3 - *c); *r = (*b + *r) * *c; *f = *c; *y = *r; }\n"
      "void begin(double *c, double *r, double *next) { *c = 0; *r = 0; *next = 0; }\n"
      "void up(const double *f, const double *y, double *next, double *x)\n"
      "{ *next = *y + *f * *next; *x = *next; }\n"
      "void average(const double *x, sum double *m) { *m = *x / extent(0); }\n"
      "void shift(const double *m, double *x, sum double *s) { *x -= *m; *s = *x; }\n";
  const char *const names[] = {"x", "f", "y", "c", "r", "next", "m"};
  const int64_t size[] = {LINE};
  ambit *a = open_on(devices);
  ambit_field *f[7];
  ambit_scalar *sum;
  ambit_grid *g;
  ambit_program *p;
  ambit_kernel *k;

  ambit_option_set(a, "strict", "1");
  g = ambit_grid_create(a, 1, size);
  sum = ambit_scalar_create(a, "sum", AMBIT_F64);
  k = ambit_kernel_create(a, rules);
  for (int i = 0; i < 7; i++)
    f[i] = i < 3 ? ambit_field_create(g, names[i], AMBIT_F64)
                 : ambit_field_create_on(g, names[i], AMBIT_F64, 0);
  p = ambit_program_create(g);
  ambit_field_set(f[0], 1);
  ambit_apply(p, ambit_kernel_find(k, "begin"), f[3], f[4], f[5]);
  ambit_sweep(p, AMBIT_LOW(0), k, f[0], f[3], f[4], f[1], f[2]);
  ambit_sweep(p, AMBIT_HIGH(0), ambit_kernel_find(k, "up"), f[1], f[2], f[5], f[0]);
  ambit_apply(p, ambit_kernel_find(k, "average"), f[0], f[6]);
  ambit_apply(p, ambit_kernel_find(k, "shift"), f[6], f[0], sum);
  ambit_run(p, 1);
  ambit_field_read(f[0], NULL, NULL, r->x);
  ambit_field_read(f[5], NULL, NULL, &r->last);
  ambit_field_read(f[6], NULL, NULL, &r->mean);
  r->sum = ambit_scalar_get(sum);
  CHECK_OK(a);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static void a_grid_of_one_axis_is_swept(void)
{
  static line want, got;
  double mean = 0;

  solve_line("cpu", &want);
  for (int i = 0; i < LINE; i++) {
    const double left = (4 + i % 3) * (want.x[i] + want.mean) -
                        (i ? want.x[i - 1] + want.mean : 0) -
                        (i < LINE - 1 ? want.x[i + 1] + want.mean : 0);

    CHECK_NEAR(1, left, 1e-12);
    mean += (want.x[i] + want.mean) / LINE;
  }
  CHECK_NEAR(want.mean, mean, 1e-12);
  CHECK_NEAR(0, want.sum, 1e-9);
  CHECK_NEAR(want.last, want.x[0] + want.mean, 1e-15);
  EACH_PLACE(d)
  {
    solve_line(*d, &got);
    CHECK_MSG(!memcmp(&want, &got, sizeof want), "%s: bits differ", *d);
  }
}

/* ---- profiles alone, programs that stop, checks ---- */

static void a_sweep_on_profiles_runs_on_their_cells(void)
{
  static float want[NX], got[NX];

  EACH_PLACE(d)
  {
    ambit *a = open_on(*d);
    ambit_grid *g;
    ambit_field *n, *c, *e;
    ambit_program *p;

    ambit_option_set(a, "strict", "1");
    g = ambit_grid_create(a, 3, extents);
    n = ambit_field_create_on(g, "n", AMBIT_F32, AMBIT_AXIS(0) | AMBIT_AXIS(2));
    c = ambit_field_create_on(g, "c", AMBIT_F32, AMBIT_AXIS(0));
    e = ambit_field_create_on(g, "e", AMBIT_F32, AMBIT_AXIS(0) | AMBIT_AXIS(2));
    p = ambit_program_create(g);
    ambit_field_fill(n, start, NULL);
    ambit_sweep(p, AMBIT_LOW(2),
                ambit_kernel_create(a, "void f(const float *n, float *c, float *e) "
                                       "{ *c = *c + *n; *e = *c; }"),
                n, c, e);
    ambit_run(p, 1);
    ambit_field_read(c, NULL, NULL, got);
    for (int64_t x = 0; x < NX; x++) {
      want[x] = 0;
      for (int64_t z = 0; z < NZ; z++)
        want[x] += (float)start((int64_t[]){x, 0, z}, 0, NULL);
    }
    CHECK_MSG(!memcmp(want, got, sizeof want), "%s", *d);
    CHECK_OK(a);
    CHECK_EQ(AMBIT_OK, ambit_close(a));
  }
}

static void sweeps_run_until_a_condition_holds(void)
{
  EACH_PLACE(d)
  {
    ambit *a = open_on(*d);
    ambit_grid *g = grid_2d(a, 12, 20);
    ambit_field *u = ambit_field_create(g, "u", AMBIT_F32);
    ambit_field *c = ambit_field_create_on(g, "c", AMBIT_F32, AMBIT_AXIS(1));
    ambit_scalar *most = ambit_scalar_create(a, "most", AMBIT_F32);
    ambit_program *p = ambit_program_create(g);
    float at;

    ambit_sweep(p, AMBIT_LOW(0),
                ambit_kernel_create(a, "void f(float *c, float *u, max float *m) "
                                       "{ *c = *c + 1; *u = *c; *m = *c; }"),
                c, u, most);
    ambit_run_until(p, most, AMBIT_ABOVE, 59, 100);
    CHECK_EQ(1, ambit_program_converged(p));
    CHECK_EQ(5, ambit_program_iterations(p));
    ambit_field_read(u, AMBIT_INDEX(11, 19), AMBIT_INDEX(12, 20), &at);
    CHECK_EQ(60, at);
    CHECK_OK(a);
    CHECK_EQ(AMBIT_OK, ambit_close(a));
  }
}

static void checked_sweeps_find_the_first_nan(void)
{
  ambit *a = open_on("cpu");
  ambit_grid *g = grid_2d(a, 6, 5);
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F64);
  ambit_field *c = ambit_field_create_on(g, "c", AMBIT_F64, AMBIT_AXIS(0));
  ambit_program *p = ambit_program_create(g);

  ambit_option_set(a, "nan", "1");
  ambit_field_set(c, 2);
  ambit_sweep(
      p, AMBIT_HIGH(1),
      ambit_kernel_create(a, "void f(double *c, double *u) { *c = *c - 1; *u = sqrt(*c); }"), c, u);
  ambit_run(p, 1);
  CHECK_FAILED(a, AMBIT_EPROGRAM, "][2] in iteration 0");
  ambit_close(a);
}

static void wrong_sweeps_are_refused(void)
{
  ambit *a = open_on("cpu");
  ambit_grid *g = ambit_grid_create(a, 3, extents);
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F32);
  ambit_field *c = ambit_field_create_on(g, "c", AMBIT_F32, AMBIT_AXIS(0) | AMBIT_AXIS(1));
  ambit_field *few = ambit_field_create_on(g, "few", AMBIT_F32, AMBIT_AXIS(0));
  ambit_program *p = ambit_program_create(g);
  ambit_kernel *k = ambit_kernel_create(a, "void f(float *c, float *u) { *c = *c + 1; *u = *c; }");

  CHECK_OK(a);
  ambit_sweep(p, AMBIT_AXIS(2), k, c, u);
  CHECK_FAILED(a, AMBIT_EINVAL, "give one face");
  ambit_sweep(p, AMBIT_LOW(3), k, c, u);
  CHECK_FAILED(a, AMBIT_EINVAL, "give one face");
  ambit_sweep(p, AMBIT_LOW(0), k, c, u);
  CHECK_FAILED(a, AMBIT_EPROGRAM, "axes 0 and 1 only");
  ambit_sweep(p, AMBIT_LOW(2), k, few, u);
  CHECK_FAILED(a, AMBIT_EPROGRAM, "axis 0 only");
  ambit_sweep(p, AMBIT_LOW(2), k, u, ambit_field_create(g, "v", AMBIT_F32));
  CHECK_FAILED(a, AMBIT_EINVAL, "carries nothing");
  ambit_sweep(p, AMBIT_LOW(2), ambit_kernel_create(a, "void f(float *c) { *c = *c + 1; }"), c);
  CHECK_FAILED(a, AMBIT_EINVAL, "none of its fields has that axis");
  ambit_sweep(p, AMBIT_LOW(2),
              ambit_kernel_create(a, "void f(float *c, float *u) { *c = c[0][1][0]; *u = *c; }"), c,
              u);
  CHECK_FAILED(a, AMBIT_EPROGRAM, "lines are independent");
  ambit_sweep(p, AMBIT_LOW(2),
              ambit_kernel_create(a, "void f(float *c, const float *u, sum float *n) "
                                     "{ *c = *c + *u; *n = *c; }"),
              c, u, few);
  CHECK_FAILED(a, AMBIT_EUNSUPPORTED, "reduces onto field");
  ambit_sweep_box(p, AMBIT_LOW(2), AMBIT_INDEX(0, 0, 5), AMBIT_INDEX(1, 1, 5), k, c, u);
  CHECK_FAILED(a, AMBIT_EINVAL, "within the grid");
  ambit_sweep(p, AMBIT_LOW(2), k, c, u);
  ambit_run(p, 1);
  CHECK_OK(a);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"a_sweep_is_as_in_plain_c_on_all_devices", a_sweep_is_as_in_plain_c_on_all_devices},
      {"lines_pass_through_shared_memory_in_opencl", lines_pass_through_shared_memory_in_opencl},
      {"lines_along_rows_are_swept_together", lines_along_rows_are_swept_together},
      {"parts_take_turns_where_the_axis_is_cut", parts_take_turns_where_the_axis_is_cut},
      {"a_tridiagonal_solver_has_the_same_bits_everywhere",
       a_tridiagonal_solver_has_the_same_bits_everywhere},
      {"a_tridiagonal_solver_solves", a_tridiagonal_solver_solves},
      {"sweeps_across_the_first_axis_are_stages_of_waves",
       sweeps_across_the_first_axis_are_stages_of_waves},
      {"a_grid_of_one_axis_is_swept", a_grid_of_one_axis_is_swept},
      {"a_sweep_on_profiles_runs_on_their_cells", a_sweep_on_profiles_runs_on_their_cells},
      {"sweeps_run_until_a_condition_holds", sweeps_run_until_a_condition_holds},
      {"checked_sweeps_find_the_first_nan", checked_sweeps_find_the_first_nan},
      {"wrong_sweeps_are_refused", wrong_sweeps_are_refused},
      {NULL, NULL}};

  return test_main(argc, argv, tests);
}
