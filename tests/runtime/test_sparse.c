/* SPDX-License-Identifier: BSD-3-Clause */
/* Sparse grids through the public interface. Random programs on them are in random/ (--sparse). */
#define _XOPEN_SOURCE 700
#include "device/cpu/machine.h"
#include "io/frames.h"
#include "io/npy.h"
#include "runtime/run/run.h"
#include "runtime/sleep/sleep.h"
#include "runtime_test.h"
#include "support/folder.h"

#include <math.h>

enum { N = 24, M = 70 };

/* An annulus. */
static int in_ring(const int64_t *i, void *user)
{
  const double y = (double)i[0] - N / 2, x = ((double)i[1] - M / 2) / 3;
  const double r = sqrt(x * x + y * y);

  if (user) ++*(int *)user;
  return r > 4 && r < 11;
}

static ambit_grid *ring(ambit *a)
{
  const int64_t extents[] = {N, M};

  return ambit_grid_create_sparse(a, 2, extents, in_ring, NULL);
}

static double ramp(const int64_t *i, int component, void *user)
{
  (void)user;
  return (double)(i[0] * M + i[1]) / 64 + component;
}

static int64_t count_ring(void)
{
  int64_t n = 0;

  for (int64_t c = 0; c < (int64_t)N * M; c++)
    n += in_ring((const int64_t[]){c / M, c % M}, NULL);
  return n;
}

static void a_grid_has_its_active_cells(void)
{
  for (int d = 0; d < 2; d++) {
    ambit *a = open_on(d ? "cpu" : "ref");
    ambit_grid *g = ring(a);

    CHECK_EQ(count_ring(), ambit_grid_cells(g));
    CHECK_EQ(N, ambit_grid_extent(g, 0));
    CHECK_EQ(M, ambit_grid_extent(g, 1));
    CHECK_EQ(AMBIT_OK, ambit_close(a));
  }
  CHECK_EQ(0, ambit_grid_cells(NULL));
}

static void fields_have_values_in_active_cells_only(void)
{
  for (int d = 0; d < 4; d++) {
    ambit *a = open_on(d == 3 ? "cpu*3" : d % 2 ? "cpu" : "ref");
    ambit_field *f =
        ambit_field_create_vector(ring(a), "f", AMBIT_F32, 2, d / 2 ? AMBIT_AOS : AMBIT_SOA);
    static float values[N][M][2];

    ambit_field_boundary(f, AMBIT_INACTIVE, AMBIT_NONE, -7);
    if (d / 2)
      ambit_field_fill_parallel(f, ramp, NULL);
    else
      ambit_field_fill(f, ramp, NULL);
    ambit_field_read(f, NULL, NULL, values);
    for (int64_t i = 0; i < N; i++)
      for (int64_t j = 0; j < M; j++)
        for (int c = 0; c < 2; c++) {
          const int64_t at[] = {i, j};
          const double want = in_ring(at, NULL) ? ramp(at, c, NULL) : -7;

          CHECK_EQ((float)want == values[i][j][c], 1);
        }
    for (int64_t i = 0; i < (int64_t)N * M * 2; i++)
      (&values[0][0][0])[i] = 3;
    ambit_field_write(f, AMBIT_INDEX(2, 5), AMBIT_INDEX(9, 50), values);
    ambit_field_read(f, AMBIT_INDEX(0, 0), AMBIT_INDEX(12, M), values);
    for (int64_t i = 0; i < 12; i++)
      for (int64_t j = 0; j < M; j++) {
        const int64_t at[] = {i, j};
        const bool written = i >= 2 && i < 9 && j >= 5 && j < 50;
        const double want = !in_ring(at, NULL) ? -7 : written ? 3 : ramp(at, 1, NULL);

        CHECK_EQ((float)want == values[i][j][1], 1);
      }
    CHECK_EQ(AMBIT_OK, ambit_close(a));
  }
}

static const char spread[] =
    AMBIT_SOURCE(void spread(const double *u, double *v, sum double *total, max double *most) {
      *v = 0.25 * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1]);
      *total = *v;
      *most = *v;
    });

/* The same by hand, on the whole array. */
static void spread_by_hand(double (*u)[M], double (*v)[M], ambit_boundary kind)
{
  static const int steps[4][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};

  for (int64_t i = 0; i < N; i++)
    for (int64_t j = 0; j < M; j++) {
      double sum = 0;

      if (!in_ring((const int64_t[]){i, j}, NULL)) continue;
      for (int k = 0; k < 4; k++) {
        const int64_t y = (i + steps[k][0] + N) % N, x = j + steps[k][1]; /* periodic, constant 5 */

        sum += x < 0 || x >= M                          ? 5
               : in_ring((const int64_t[]){y, x}, NULL) ? u[y][x]
               : kind == AMBIT_CLAMP                    ? u[i][j]
                                                        : 2;
      }
      v[i][j] = 0.25 * sum;
    }
}

static void check_spread(const char *device, const char *storage, ambit_boundary kind)
{
  static double want[2][N][M], got[N][M];
  ambit *a = open_on(device);
  ambit_grid *g = (ambit_option_set(a, "storage", storage), ring(a));
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F64),
              *v = ambit_field_create(g, "v", AMBIT_F64);
  ambit_scalar *total = ambit_scalar_create(a, "total", AMBIT_F64);
  ambit_scalar *most = ambit_scalar_create(a, "most", AMBIT_F64);
  ambit_program *p = ambit_program_create(g);
  double sum = 0, top = -1e30;

  ambit_option_set(a, "strict", "1");
  for (int k = 0; k < 2; k++) {
    ambit_field_boundary(k ? v : u, AMBIT_AXIS(0), AMBIT_PERIODIC, 0);
    ambit_field_boundary(k ? v : u, AMBIT_AXIS(1), AMBIT_CONSTANT, 5);
    ambit_field_boundary(k ? v : u, AMBIT_INACTIVE, kind, 2);
  }
  ambit_field_fill(u, ramp, NULL);
  ambit_apply(p, ambit_kernel_create(a, spread), u, v, total, most);
  ambit_swap(p, u, v);
  ambit_run(p, 5);
  ambit_field_read(u, NULL, NULL, got);
  for (int64_t c = 0; c < (int64_t)N * M; c++)
    want[0][c / M][c % M] = ramp((const int64_t[]){c / M, c % M}, 0, NULL);
  for (int k = 0; k < 5; k++)
    spread_by_hand(want[k % 2], want[(k + 1) % 2], kind);
  for (int64_t i = 0; i < N; i++)
    for (int64_t j = 0; j < M; j++) {
      if (in_ring((const int64_t[]){i, j}, NULL)) {
        CHECK_NEAR(want[1][i][j], got[i][j], 1e-12);
        sum += got[i][j];
        top = fmax(top, got[i][j]);
      } else {
        CHECK_EQ(2, got[i][j]);
      }
    }
  CHECK_NEAR(sum, ambit_scalar_get(total), 1e-9);
  CHECK_NEAR(top, ambit_scalar_get(most), 0);
  CHECK_OK(a);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static void reads_of_inactive_cells_are_constant_or_clamped(void)
{
  check_spread("ref", "auto", AMBIT_CONSTANT);
  check_spread("cpu", "runs", AMBIT_CONSTANT);
  check_spread("ref", "list", AMBIT_CLAMP);
  check_spread("cpu", "list", AMBIT_CLAMP);
  check_spread("cpu*3", "dense", AMBIT_CONSTANT);
  check_spread("cpu*4", "block", AMBIT_CLAMP);
}

static void reads_of_inactive_cells_need_a_boundary(void)
{
  ambit *a = open_on("cpu");
  ambit_grid *g = ring(a);
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F32),
              *v = ambit_field_create(g, "v", AMBIT_F32);
  ambit_kernel *k = ambit_kernel_create(a, "void k(const float *u, float *v) { *v = u[0][1]; }");
  ambit_program *p = ambit_program_create(g);

  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
  ambit_apply(p, k, u, v);
  ambit_run(p, 1);
  CHECK_FAILED(a, AMBIT_EPROGRAM,
               "this reads field 'u' in an inactive cell, from the active cell [");
  ambit_field_boundary(u, AMBIT_INACTIVE, AMBIT_CONSTANT, 0);
  ambit_run(p, 1);
  CHECK_OK(a);
  ambit_field_boundary(u, AMBIT_INACTIVE, AMBIT_PERIODIC, 0);
  CHECK_FAILED(a, AMBIT_EINVAL, "inactive cells cannot be periodic");
  ambit_close(a);
}

static void reads_after_a_test_of_outside_need_none(void)
{
  static const char *const rules[] = {
      "void k(const float *u, float *v) { *v = outside(0, 1) ? *u : u[0][1]; }",
      "void k(const float *u, float *v) { *v = 1; if (!outside(-1, 1) && *u > 2) *v = u[-1][1]; }",
      "void k(const float *u, float *v) { *v = outside(-1, 1) ? *u : u[0][1]; }",
  };

  for (int i = 0; i < 3; i++) {
    ambit *a = open_on("cpu");
    ambit_grid *g = ring(a);
    ambit_field *u = ambit_field_create(g, "u", AMBIT_F32),
                *v = ambit_field_create(g, "v", AMBIT_F32);
    ambit_program *p = ambit_program_create(g);

    ambit_apply(p, ambit_kernel_create(a, rules[i]), u, v);
    ambit_run(p, 1);
    if (i < 2)
      CHECK_OK(a);
    else /* that another cell is active says nothing of this one */
      CHECK_FAILED(a, AMBIT_EPROGRAM, "inactive cell");
    ambit_close(a);
  }
}

static void outside_tells_inactive_cells(void)
{
  for (int d = 0; d < 2; d++) {
    ambit *a = open_on(d ? "cpu" : "ref");
    ambit_grid *g = ring(a);
    ambit_field *u = ambit_field_create(g, "u", AMBIT_I32);
    ambit_program *p = ambit_program_create(g);
    static int32_t got[N][M];

    ambit_apply(
        p,
        ambit_kernel_create(a, "void k(int *u) { *u = outside(-1, 0) + 2 * outside(1, 0) + 4 * "
                               "outside(0, -1) + 8 * outside(0, 1); }"),
        u);
    ambit_run(p, 1);
    ambit_field_read(u, NULL, NULL, got);
    for (int64_t i = 0; i < N; i++)
      for (int64_t j = 0; j < M; j++) {
        const int want = !in_ring((const int64_t[]){i - 1, j}, NULL) +
                         2 * !in_ring((const int64_t[]){i + 1, j}, NULL) +
                         4 * !in_ring((const int64_t[]){i, j - 1}, NULL) +
                         8 * !in_ring((const int64_t[]){i, j + 1}, NULL);

        CHECK_EQ(in_ring((const int64_t[]){i, j}, NULL) ? want : 0, got[i][j]);
      }
    CHECK_EQ(AMBIT_OK, ambit_close(a));
  }
}

/* A sum over cells without any field, and statistics, count active cells. */
static void reductions_and_statistics_count_active_cells(void)
{
  EACH_DEVICE(d)
  {
    ambit *a = open_on(*d);
    ambit_grid *g = ring(a);
    ambit_scalar *n = ambit_scalar_create(a, "n", AMBIT_I64);
    ambit_program *p = ambit_program_create(g);
    ambit_stats stats;

    ambit_apply(p, ambit_kernel_create(a, "void count(sum long *n) { *n = 1; }"), n);
    ambit_run_until(p, n, AMBIT_ABOVE, 10, 3);
    CHECK_EQ(1, ambit_program_converged(p));
    CHECK_NEAR((double)count_ring(), ambit_scalar_get(n), 0);
    ambit_program_stats(p, 0, &stats);
    CHECK_NEAR((double)count_ring(), stats.cells, 0);
    CHECK_EQ(AMBIT_OK, ambit_close(a));
  }
}

/* A rule that reads far along rows needs more cells beside runs: fields are stored anew, with their
 * values, and programs that ran before run again. */
static void reads_may_be_far_along_rows(void)
{
  static const char *const devices[] = {"ref", "cpu", "cpu*4", "opencl*2"};
  static double got[4][N][M];

  for (int d = 0; d < (device_is_here("opencl") ? 4 : 3); d++) {
    ambit *a = open_on(devices[d]);
    ambit_grid *g = ring(a);
    ambit_field *u = ambit_field_create(g, "u", AMBIT_F64);
    ambit_field *v = ambit_field_create(g, "v", AMBIT_F64);
    ambit_program *near = ambit_program_create(g), *far = ambit_program_create(g);

    ambit_option_set(a, "strict", "1");
    for (int k = 0; k < 2; k++) {
      ambit_field_boundary(k ? v : u, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
      ambit_field_boundary(k ? v : u, AMBIT_INACTIVE, AMBIT_CONSTANT, 3);
    }
    ambit_field_fill(u, ramp, NULL);
    ambit_apply(near,
                ambit_kernel_create(
                    a, "void k(const double *u, double *v) { *v = 0.5 * (u[0][1] + u[1][-1]); }"),
                u, v);
    ambit_apply(far,
                ambit_kernel_create(a, "void k(const double *v, double *u) { *u = v[0][-17] + "
                                       "v[-2][13] - v[1][9]; }"),
                v, u);
    for (int k = 0; k < 3; k++) {
      ambit_run(near, 1);
      ambit_run(far, 1);
    }
    ambit_field_read(u, NULL, NULL, got[d]);
    CHECK_EQ(AMBIT_OK, ambit_close(a));
  }
  CHECK(!memcmp(got[0], got[1], sizeof got[0]));
  CHECK(!memcmp(got[0], got[2], sizeof got[0]));
  if (device_is_here("opencl")) CHECK(!memcmp(got[0], got[3], sizeof got[0]));
}

static bool tiny_caches;

void __real_ambit__machine_probe(const char *root, ambit__machine *m);
void __wrap_ambit__machine_probe(const char *root, ambit__machine *m);

/* The linker replaces ambit__machine_probe by this. */
void __wrap_ambit__machine_probe(const char *root, ambit__machine *m)
{
  __real_ambit__machine_probe(root, m);
  if (!tiny_caches) return;
  m->l1 = m->l2 = m->l3 = 1024;
  m->can_stream = true;
}

static int in_wedge(const int64_t *i, void *user)
{
  (void)user;
  return i[2] > 10 + i[0] + i[1] && i[2] < 380 - i[0];
}

/* Results of long runs are stored past the caches, vectors at their ends in part, and a few rows of
 * all planes are computed after the other. */
static void long_runs_are_stored_past_the_caches(void)
{
  static const int64_t extents[] = {3, 20, 400};
  static float got[2][3 * 20 * 400];
  double sums[2];

  for (int d = 0; d < 2; d++) {
    ambit *a;
    ambit_grid *g;
    ambit_field *u, *v;
    ambit_scalar *sum;
    ambit_program *p;

    tiny_caches = true;
    a = open_on(d ? "cpu" : "ref");
    g = ambit_grid_create_sparse(a, 3, extents, in_wedge, NULL);
    u = ambit_field_create(g, "u", AMBIT_F32);
    v = ambit_field_create(g, "v", AMBIT_F32);
    sum = ambit_scalar_create(a, "sum", AMBIT_F64);
    p = ambit_program_create(g);
    ambit_field_fill(u, ramp, NULL);
    ambit_apply(p,
                ambit_kernel_create(a, "void k(const float *u, float *v) {"
                                       "  *v = (outside(0, 0, -1) ? *u : u[0][0][-1]) + index(2) -"
                                       "       (outside(1, 1, 1) ? 3.0f : u[1][1][1]);"
                                       "}"),
                u, v);
    ambit_apply(p,
                ambit_kernel_create(a, "void s(const float *v, float *u, sum double *t) {"
                                       "  *t = *v;"
                                       "  *u = 0.25f * *v;"
                                       "}"),
                v, u, sum);
    ambit_run(p, 3);
    if (d) CHECK(strstr(p->applies[0].functions[0]->plan, "(rows 1 block 8 nontemporal)"));
    ambit_field_read(u, NULL, NULL, got[d]);
    sums[d] = ambit_scalar_get(sum);
    CHECK_EQ(AMBIT_OK, ambit_close(a));
    tiny_caches = false;
  }
  CHECK(!memcmp(got[0], got[1], sizeof got[0]));
  CHECK_NEAR(1, sums[1] / sums[0], 1e-12);
}

static int not_sevenths(const int64_t *i, void *user)
{
  (void)user;
  return i[0] % 7 != 3 && i[0] > 9;
}

static double numbered(const int64_t *i, int component, void *user)
{
  (void)component, (void)user;
  return (double)(i[0] % 31) / 8;
}

/* The result of a program whose fields are periodic. The largest part has at most a cell in fifty
 * more than the others. */
static void run_cut(const char *device, const char *partition, int ndims, double *got)
{
  static const int64_t extents[2][2] = {{600}, {N, M}};
  static const char *const rules[] = {
      "void k(const double *u, double *v) { *v = outside(3) ? *u : 0.5 * (u[-2] + u[3]); }",
      "void k(const double *u, double *v) {"
      "  *v = outside(0, -2) ? *u : 0.5 * (u[0][-2] + u[1][3]);"
      "}"};
  ambit *a = open_on(device);
  ambit_grid *g;
  ambit_field *u, *v;
  ambit_program *p;

  ambit_option_set(a, "strict", "1");
  ambit_option_set(a, "partition", partition);
  g = ambit_grid_create_sparse(a, ndims, extents[ndims - 1], ndims > 1 ? in_ring : not_sevenths,
                               NULL);
  u = ambit_field_create(g, "u", AMBIT_F64);
  v = ambit_field_create(g, "v", AMBIT_F64);
  p = ambit_program_create(g);
  for (int k = 0; k < 2; k++) {
    ambit_field_boundary(k ? v : u, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
    ambit_field_boundary(k ? v : u, AMBIT_INACTIVE, k ? AMBIT_CLAMP : AMBIT_CONSTANT, 3);
  }
  ambit_field_fill(u, ndims > 1 ? ramp : numbered, NULL);
  ambit_apply(p, ambit_kernel_create(a, rules[ndims - 1]), u, v);
  ambit_swap(p, u, v);
  ambit_run(p, 7);
  ambit_field_read(u, NULL, NULL, got);
  for (int i = 0; g && ndims == 1 && i < g->nparts; i++)
    CHECK(ambit__active_count(g->active, &g->parts[i]) * g->nparts * 49 < ambit_grid_cells(g) * 50);
  CHECK_OK(a);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static void parts_may_be_cut_along_any_axis(void)
{
  static const char *const cuts[] = {"auto", "4", "2x2", "1x4"};
  static double want[N * M], got[N * M];

  for (int ndims = 1; ndims <= 2; ndims++) {
    const size_t bytes = sizeof(double) * (ndims > 1 ? N * M : 600);

    run_cut("ref", "auto", ndims, want);
    for (int i = 0; i < (ndims > 1 ? 4 : 2); i++) {
      run_cut("cpu*4", cuts[i], ndims, got);
      CHECK(!memcmp(want, got, bytes));
    }
    if (!device_is_here("opencl")) continue;
    run_cut("opencl*2", ndims > 1 ? "1x2" : "auto", ndims, got);
    CHECK(!memcmp(want, got, bytes));
  }
}

static int not_fifths(const int64_t *i, void *user)
{
  (void)user;
  return (7 * i[0] + i[1]) % 5 != 0;
}

/* Five iterations on a grid of 240 x 100 cells. Returns the number of parts, or -1. */
static int run_large(const char *device, const char *weights, const char *partition, double *got)
{
  const int64_t extents[] = {240, 100};
  ambit *a = open_on(device);
  ambit_grid *g;
  ambit_field *u, *v;
  ambit_program *p;
  int nparts;

  ambit_option_set(a, "strict", "1");
  ambit_option_set(a, "weights", weights);
  ambit_option_set(a, "partition", partition);
  g = ambit_grid_create_sparse(a, 2, extents, not_fifths, NULL);
  nparts = g ? g->nparts : -1;
  u = ambit_field_create(g, "u", AMBIT_F64);
  v = ambit_field_create(g, "v", AMBIT_F64);
  p = ambit_program_create(g);
  for (int k = 0; k < 2; k++) {
    ambit_field_boundary(k ? v : u, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
    ambit_field_boundary(k ? v : u, AMBIT_INACTIVE, AMBIT_CLAMP, 0);
  }
  ambit_field_fill(u, ramp, NULL);
  ambit_apply(p, ambit_kernel_create(a, spread), u, v, ambit_scalar_create(a, "s", AMBIT_F64),
              ambit_scalar_create(a, "t", AMBIT_F64));
  ambit_swap(p, u, v);
  ambit_run(p, 5);
  ambit_field_read(u, NULL, NULL, got);
  ambit_close(a);
  return nparts;
}

/* A device has several parts of a grid if one would have too many cells in memory. */
static void large_parts_are_split(void)
{
  static const char *const devices[] = {"cpu", "cpu*2"};
  static double want[240 * 100], got[240 * 100];
  const int64_t most = ambit__active_most;

  for (int d = 0; d < 2; d++) {
    CHECK_EQ(1 + d, run_large(devices[d], "", "auto", want));
    ambit__active_most = 10000;
    CHECK_EQ(6, run_large(devices[d], d ? "1,2" : "", d ? "1x2" : "auto", got));
    CHECK(!memcmp(want, got, sizeof got));
    CHECK_EQ(-1, run_large(devices[d], "", "5", got));
    ambit__active_most = most;
  }
}

/* A program on a dense grid that stores its fields anew leaves those on a sparse one sealed: their
 * tables take time. */
static void programs_on_other_grids_leave_tables_alone(void)
{
  static const char *const rules[] = {
      "void k(const float *u, float *v) { *v = u[0][1] + u[1][0]; }",
      "void k(const float *u, float *v) { *v = u[0][9] + u[9][0]; }"};
  ambit *a = open_on("cpu");
  ambit_grid *grids[] = {ring(a), grid_2d(a, N, M)};
  ambit_program *p[2];

  for (int k = 0; k < 2; k++) {
    ambit_field *u = ambit_field_create(grids[k], "u", AMBIT_F32);
    ambit_field *v = ambit_field_create(grids[k], "v", AMBIT_F32);

    ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
    ambit_field_boundary(u, AMBIT_INACTIVE, AMBIT_CONSTANT, 0);
    p[k] = ambit_program_create(grids[k]);
    ambit_apply(p[k], ambit_kernel_create(a, rules[k]), u, v);
    ambit_run(p[k], 1);
  }
  CHECK_OK(a);
  CHECK(p[0]->unseal);
  ambit_close(a);
}

static int nowhere(const int64_t *i, void *user)
{
  (void)i;
  (void)user;
  return 0;
}

static void a_grid_may_have_no_active_cell(void)
{
  const int64_t extents[] = {10, 10, 10};

  EACH_DEVICE(d)
  {
    ambit *a = open_on(*d);
    ambit_grid *g = ambit_grid_create_sparse(a, 3, extents, nowhere, NULL);
    ambit_field *f = ambit_field_create(g, "f", AMBIT_F32);
    ambit_scalar *n = ambit_scalar_create(a, "n", AMBIT_I64);
    ambit_program *p = ambit_program_create(g);

    ambit_field_fill_value(f, 3);
    ambit_apply(p, ambit_kernel_create(a, "void k(float *f, sum long *n) { *n = 1; *f += 1; }"), f,
                n);
    ambit_run(p, 2);
    CHECK_NEAR(0, ambit_scalar_get(n), 0);
    CHECK_EQ(AMBIT_OK, ambit_close(a));
  }
}

static int on_a_line(const int64_t *i, void *user)
{
  (void)user;
  return i[0] == 5 && i[1] > 100 && i[1] <= 2100;
}

/* A dense field would be 13 GB. */
static void the_box_is_never_allocated(void)
{
  const int64_t extents[] = {128, 1 << 16};
  ambit *a = open_on("cpu");
  ambit_grid *g = ambit_grid_create_sparse(a, 2, extents, on_a_line, NULL);
  ambit_field *f = ambit_field_create_vector(g, "f", AMBIT_F64, 200, AMBIT_SOA);
  ambit_program *p = ambit_program_create(g);
  double value[200];

  ambit_field_fill_value(f, 2.5);
  ambit_field_read(f, AMBIT_INDEX(5, 2100), AMBIT_INDEX(6, 2101), value);
  CHECK_EQ(2000, ambit_grid_cells(g));
  CHECK_NEAR(2.5, value[199], 0);
  ambit_apply(
      p, ambit_kernel_create(a, "void rise(double *f[200]) { *f[7] = fmin(*f[7] + 1, 9); }"), f);
  ambit_run_until_still(p, 100); /* compares values */
  CHECK_EQ(8, ambit_program_iterations(p));
  ambit_field_read(f, AMBIT_INDEX(5, 2100), AMBIT_INDEX(6, 2101), value);
  CHECK_NEAR(9, value[7], 0);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static void files_are_dense_with_a_fill_value(void)
{
  ambit *a = open_on("cpu");
  ambit_grid *g = ring(a), *dense = grid_2d(a, N, M);
  ambit_field *f = ambit_field_create(g, "f", AMBIT_F32),
              *h = ambit_field_create(g, "h", AMBIT_F32);
  ambit_field *d = ambit_field_create(dense, "d", AMBIT_F32);
  static float got[N][M], all[N][M];

  if (!folder_make()) return;
  ambit_field_boundary(f, AMBIT_INACTIVE, AMBIT_NONE, 9);
  ambit_field_fill(f, ramp, NULL);
  ambit_field_save(f, folder_path("ring.npy"));
  ambit_field_load(d, folder_path("ring.npy"));
  ambit_field_load(h, folder_path("ring.npy"));
  ambit_field_read(d, NULL, NULL, all);
  ambit_field_read(h, NULL, NULL, got);
  for (int64_t i = 0; i < N; i++)
    for (int64_t j = 0; j < M; j++) {
      const int64_t at[] = {i, j};

      CHECK_EQ((float)(in_ring(at, NULL) ? ramp(at, 0, NULL) : 9) == all[i][j], 1);
      CHECK_EQ((float)(in_ring(at, NULL) ? ramp(at, 0, NULL) : 0) == got[i][j], 1);
    }
  ambit_field_save(f, folder_path("ring.png"));
  CHECK_OK(a);
  CHECK_EQ(2, folder_files());
  folder_remove();
  ambit_close(a);
}

typedef struct record {
  int64_t index[2];
  float value[2];
} record;

/* The records of a list of two axes and components; the caller frees them. */
static record *read_list(const char *path, int64_t *n)
{
  ambit__errors errors = {0};
  ambit__npy_info info;
  ambit__npy_reader *r;
  record *list = NULL;

  CHECK(!ambit__npy_open_any(&errors, path, &info, &r));
  CHECK(info.axes == 2 && info.values == 2 && info.bytes == (size_t)info.shape[0] * sizeof *list);
  list = malloc(info.bytes);
  CHECK(list && !ambit__npy_next(r, list, info.bytes));
  ambit__npy_close(r);
  *n = info.shape[0];
  return list;
}

static void write_list(const char *path, const record *list, int64_t n)
{
  const ambit__npy_info form = {
      .type = AMBIT_F32, .ndims = 1, .shape = {n}, .axes = 2, .values = 2};
  ambit__errors errors = {0};
  ambit__npy *npy;

  CHECK(!ambit__npy_create(&errors, path, &form, &npy));
  CHECK(!ambit__npy_append(npy, list, (size_t)n * sizeof *list));
  CHECK(!ambit__npy_end(npy));
}

/* Whether a field has the ramp in the ring, and a number elsewhere. */
static void check_ring(ambit_field *f, float elsewhere)
{
  static float got[N][M][2];

  ambit_field_read(f, NULL, NULL, got);
  for (int64_t c = 0; c < (int64_t)N * M * 2; c++) {
    const int64_t at[] = {c / 2 / M, c / 2 % M};
    const float want = in_ring(at, NULL) ? (float)ramp(at, (int)(c % 2), NULL) : elsewhere;

    CHECK(got[at[0]][at[1]][c % 2] == want);
  }
}

/* The list is in the order of cells, and may be loaded in any: also by a dense grid, which keeps
 * the values of other cells. A list of all cells gives a sparse grid its own. */
static void check_list(const char *devices)
{
  ambit *a = open_on(devices);
  ambit_field *f = ambit_field_create_vector(ring(a), "f", AMBIT_F32, 2, AMBIT_SOA);
  ambit_field *d = ambit_field_create_vector(grid_2d(a, N, M), "d", AMBIT_F32, 2, AMBIT_AOS);
  record *list;
  int64_t n;

  ambit_field_fill(f, ramp, NULL);
  ambit_field_save(f, folder_path("ring.cells.npy"));
  list = read_list(folder_path("ring.cells.npy"), &n);
  CHECK_EQ(count_ring(), n);
  for (int64_t i = 0; i < n; i++) {
    CHECK(list[i].value[0] == (float)ramp(list[i].index, 0, NULL));
    if (i) CHECK(list[i].value[0] > list[i - 1].value[0]);
  }
  for (int64_t i = 0; i < n / 2; i++) {
    const record other = list[i];

    list[i] = list[n - 1 - i];
    list[n - 1 - i] = other;
  }
  write_list(folder_path("reversed.npy"), list, n);
  ambit_field_fill_value(d, -1);
  ambit_field_load(d, folder_path("reversed.npy"));
  check_ring(d, -1);
  ambit_field_fill(d, ramp, NULL);
  ambit_field_save(d, folder_path("all.cells.npy"));
  ambit_field_fill_value(f, 5);
  ambit_field_load(f, folder_path("all.cells.npy"));
  check_ring(f, 0);
  CHECK_OK(a);
  list[n / 2].index[1] = M;
  write_list(folder_path("wrong.npy"), list, n);
  ambit_field_load(f, folder_path("wrong.npy"));
  CHECK_FAILED(a, AMBIT_EIO, "outside the grid");
  free(list);
  ambit_close(a);
}

static void files_may_be_lists_of_cells(void)
{
  static const char *const devices[] = {"ref", "cpu", "cpu*3"};
  ambit *a = open_on("cpu");

  if (!folder_make()) return;
  for (int i = 0; i < 3; i++)
    check_list(devices[i]);
  ambit_field_load(ambit_field_create(ring(a), "one", AMBIT_F32), folder_path("ring.cells.npy"));
  CHECK_FAILED(a, AMBIT_EIO, "2 axes with 2 values each");
  CHECK(!ambit_grid_load_sparse(a, folder_path("ring.cells.npy")));
  CHECK_FAILED(a, AMBIT_EIO, "a list of cells");
  folder_remove();
  ambit_close(a);
}

static int in_left_half(const int64_t *i, void *user)
{
  return in_ring(i, user) && i[1] < M / 2;
}

static int below_the_ring(const int64_t *i, void *user)
{
  return in_left_half(i, user) || i[0] >= N - 2;
}

/* Values of cells that stay are kept, in programs that ran before, too; new cells are 0. */
static void cells_can_be_activated_between_runs(void)
{
  static const char *const devices[] = {"ref", "cpu", "cpu*3", "opencl", "opencl*3"};
  static const char *const storages[] = {"auto", "dense", "list", "list", "runs"};

  for (int d = 0; d < (device_is_here("opencl") ? 5 : 3); d++) {
    ambit *a = open_on(devices[d]);
    ambit_grid *g = (ambit_option_set(a, "storage", storages[d]), ring(a));
    ambit_field *f = ambit_field_create_vector(g, "f", AMBIT_F64, 2, d ? AMBIT_AOS : AMBIT_SOA);
    ambit_program *p = ambit_program_create(g);
    static double got[N][M][2];

    ambit_field_boundary(f, AMBIT_INACTIVE, AMBIT_NONE, -1);
    ambit_field_fill(f, ramp, NULL);
    ambit_apply(
        p, ambit_kernel_create(a, "void k(double *f[2]) { *f[1] += 1 + 100 * outside(1, 0); }"), f);
    ambit_run(p, 1);
    ambit_grid_activate(g, below_the_ring, NULL);
    ambit_run(p, 1);
    ambit_field_read(f, NULL, NULL, got);
    for (int64_t i = 0; i < N; i++)
      for (int64_t j = 0; j < M; j++) {
        const int64_t at[] = {i, j}, next[] = {i + 1, j};
        const bool was = in_ring(at, NULL), is = below_the_ring(at, NULL);
        double want = !is ? -1 : was ? ramp(at, 1, NULL) : 0;

        if (is && was) want += 1 + 100 * !in_ring(next, NULL);
        if (is) want += 1 + 100 * (i + 1 == N || !below_the_ring(next, NULL));
        CHECK_NEAR(want, got[i][j][1], 1e-9);
        CHECK_NEAR(!is ? -1 : was ? ramp(at, 0, NULL) : 0, got[i][j][0], 1e-9);
      }
    CHECK_OK(a);
    ambit_grid_activate(grid_2d(a, 4, 4), in_ring, NULL);
    CHECK_FAILED(a, AMBIT_EINVAL, "not sparse");
    ambit_grid_activate(g, NULL, NULL);
    CHECK_FAILED(a, AMBIT_EINVAL, "is NULL");
    ambit_close(a);
  }
  CHECK_EQ(AMBIT_EINVAL, ambit_grid_activate(NULL, in_ring, NULL));
}

/* The first rows of a triangle. */
static int above(const int64_t *i, void *user)
{
  return i[0] < *(const int64_t *)user && i[1] < M - i[0];
}

/* Cells of the largest part, relative to the mean. */
static double imbalance(const ambit_grid *g)
{
  int64_t most = 0;

  for (int i = 0; i < g->nparts; i++) {
    const int64_t n = ambit__active_count(g->active, &g->parts[i]);

    if (n > most) most = n;
  }
  return (double)most * g->nparts / (double)g->active->cells;
}

/* A region that grows: parts have about as many cells again, and the same results. */
static void growth_moves_the_cut(void)
{
  static const char *const devices[] = {"ref", "cpu", "cpu*3", "cpu*2,opencl"};
  static float got[2][N][M];
  int64_t rows = 5;

  for (int d = 0; d < (device_is_here("opencl") ? 4 : 3); d++) {
    const int64_t extents[] = {N, M};
    ambit *a = open_on(devices[d]);
    ambit_grid *g = (rows = 5, ambit_grid_create_sparse(a, 2, extents, above, &rows));
    ambit_field *u = ambit_field_create(g, "u", AMBIT_F32);
    ambit_field *v = ambit_field_create(g, "v", AMBIT_F32);
    ambit_program *p = ambit_program_create(g);

    ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CONSTANT, 1);
    ambit_field_boundary(u, AMBIT_INACTIVE, AMBIT_CLAMP, 0);
    ambit_field_fill(u, ramp, NULL);
    ambit_apply(p,
                ambit_kernel_create(a, "void k(const float *u, float *v) {"
                                       "  *v = 0.25f * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1]);"
                                       "}"),
                u, v);
    ambit_swap(p, u, v);
    ambit_run(p, 3);
    for (rows = 6; rows < N - 2; rows += 8) {
      const ambit__box first = g->parts[0];

      ambit_grid_activate(g, above, &rows);
      if (d < 3) { /* the last one has weights of its own */
        CHECK(ambit__box_equal(&first, &g->parts[0]) == (g->nparts == 1 || rows == 6));
        CHECK(imbalance(g) < 1.05);
      }
      ambit_run(p, 3);
    }
    ambit_field_read(u, NULL, NULL, got[d > 0]);
    CHECK_EQ(AMBIT_OK, ambit_close(a));
    CHECK(!memcmp(got[0], got[d > 0], sizeof got[0]));
  }
}

/* A band around the grid, wide enough for tiles without a front. */
static int in_band(const int64_t *i, void *user)
{
  (void)user;
  return (i[0] + i[1] / 3) % 150 < 60 && i[1] % 97 != 50;
}

static double one_seed(const int64_t *i, int component, void *user)
{
  (void)component, (void)user;
  return i[0] == 10 && i[1] == 3 ? 1000 : 0;
}

/* A front that spreads through a band: most tiles of it wait, or are at rest, and those without
 * active cells do not count. */
static void tiles_of_sparse_grids_sleep(void)
{
  static const char *const devices[] = {"ref", "cpu", "cpu*3"};
  static const int64_t extents[] = {100, 200};
  static float got[2][100][200];
  int64_t iterations[3] = {0, 0, 0};
  double sums[3];

  for (int d = 0; d < 3; d++) {
    ambit *a = open_on(devices[d]);
    ambit_grid *g = (ambit_option_set(a, "sleep", "on"),
                     ambit_grid_create_sparse(a, 2, extents, in_band, NULL));
    ambit_field *u = ambit_field_create(g, "u", AMBIT_F32),
                *v = ambit_field_create(g, "v", AMBIT_F32);
    ambit_scalar *sum = ambit_scalar_create(a, "sum", AMBIT_F64);
    ambit_program *p = ambit_program_create(g);
    double tiles = 0, slept = 0;

    ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
    ambit_field_boundary(u, AMBIT_INACTIVE, AMBIT_CLAMP, 0);
    ambit_field_fill(u, one_seed, NULL);
    ambit_apply(p,
                ambit_kernel_create(
                    a, "void spread(const float *u, float *v, sum double *total) {"
                       "  float best = fmaxf(fmaxf(u[-1][0], u[1][0]), fmaxf(u[0][-1], u[0][1]));"
                       "  *v = outside(1, 0) && *u == 0 ? 1.0f : fmaxf(*u, best - 7);"
                       "  *total = *v;"
                       "}"),
                u, v, sum);
    ambit_swap(p, u, v);
    ambit_run(p, 20);
    if (d) {
      CHECK_EQ(AMBIT_OK, ambit__sleep_share(p, &tiles, &slept));
      CHECK(tiles > 0 && slept > 0.5 * tiles && slept < tiles);
    }
    CHECK_EQ(AMBIT_OK, ambit_run_until_still(p, 1000));
    iterations[d] = ambit_program_iterations(p);
    sums[d] = ambit_scalar_get(sum);
    ambit_field_read(u, NULL, NULL, got[d > 0]);
    CHECK_OK(a);
    ambit_close(a);
    CHECK(!memcmp(got[0], got[d > 0], sizeof got[0]));
    CHECK_EQ(iterations[0], iterations[d]);
    CHECK(sums[0] == sums[d]);
  }
  CHECK(iterations[0] > 20 && iterations[0] < 1000);
}

static double ring_or_not(const int64_t *i, int component, void *user)
{
  (void)component;
  return in_ring(i, user) ? 0.25 : 0;
}

/* The same cells from a field, an array and a picture of it. */
static void masks_are_fields_arrays_and_pictures(void)
{
  ambit *a = open_on("cpu");
  ambit_field *mask = ambit_field_create(grid_2d(a, N, M), "mask", AMBIT_F32);
  const ambit__frame_form form = {.nplanes = 1, .width = {M}, .height = {N}, .bytes = N * M};
  static uint8_t pixels[N][M];
  const unsigned char *const planes[] = {&pixels[0][0]};
  ambit__errors errors = {0};
  ambit_field *wrong;
  ambit_grid *grids[4] = {NULL, NULL, NULL, NULL};
  int n = 2;

  if (!folder_make()) return;
  ambit_field_fill(mask, ring_or_not, NULL);
  ambit_field_save(mask, folder_path("mask.npy"));
  grids[0] = ambit_grid_create_masked(mask);
  grids[1] = ambit_grid_load_sparse(a, folder_path("mask.npy"));
  for (int64_t c = 0; c < (int64_t)N * M; c++)
    pixels[c / M][c % M] = in_ring((const int64_t[]){c / M, c % M}, NULL) ? 9 : 0;
  if (!ambit__png_write_frame(&errors, folder_path("mask.png"), &form, planes))
    grids[n++] = ambit_grid_load_sparse(a, folder_path("mask.png"));
  if (n == 3 && !ambit_field_save(mask, folder_path("drawn.png"))) /* enlarged, and in colours */
    grids[n++] = ambit_grid_load_sparse(a, folder_path("drawn.png"));
  CHECK_OK(a);
  for (int k = 0; k < n; k++) {
    ambit_field *f = ambit_field_create(grids[k], "f", AMBIT_U8);
    static uint8_t got[N][M];

    ambit_field_fill_value(f, 1);
    ambit_field_read(f, NULL, NULL, got);
    for (int64_t i = 0; i < N; i++)
      for (int64_t j = 0; j < M; j++)
        CHECK_EQ(in_ring((const int64_t[]){i, j}, NULL), got[i][j]);
  }
  CHECK(!ambit_grid_load_sparse(a, folder_path("mask.txt")));
  CHECK_FAILED(a, AMBIT_EINVAL, "must end in .npy or .png");
  CHECK(!ambit_grid_load_sparse(a, folder_path("none.npy")));
  CHECK_FAILED(a, AMBIT_EIO, "none.npy");
  if (n > 3) {
    ambit_field_save(ambit_field_create(grid_2d(a, 8, 3000), "wide", AMBIT_U8),
                     folder_path("drawn.png"));
    CHECK(!ambit_grid_load_sparse(a, folder_path("drawn.png")));
    CHECK_FAILED(a, AMBIT_EIO, "means of several cells");
  }
  wrong = ambit_field_create(ambit_grid_create(a, 1, (const int64_t[]){1000}), "line", AMBIT_I16);
  CHECK_EQ(0, ambit_grid_cells(ambit_grid_create_masked(wrong)));
  CHECK(!ambit_grid_create_masked(NULL));
  CHECK_OK(a);
  folder_remove();
  ambit__errors_clear(&errors);
  ambit_close(a);
}

static ambit_status open_swift(ambit__errors *errors, const ambit__settings *settings, int ordinal,
                               ambit__device **dev)
{
  (void)settings;
  (void)ordinal;
  (void)dev;
  return ambit__raise(errors, AMBIT_ENODEVICE, "a swift device was opened");
}

static int one(void)
{
  return 1;
}

/* Where the fastest device cannot store sparse grids, the fastest one that can is chosen. */
static void auto_chooses_a_device_that_can_store_sparse_grids(void)
{
  ambit__backend swift = ambit__backend_cpu;

  for (int i = 0; ambit__backend_at(i); i++)
    if (ambit__backend_at(i)->fast && ambit__backend_at(i)->fast() > 0)
      SKIP("there is a GPU, which is as fast");
  swift.name = "swift";
  swift.open = open_swift;
  swift.fast = one;
  for (int sparse = 0; sparse < 2; sparse++) {
    ambit *a = open_on("auto");
    ambit_grid *g;

    swift.sparse = !sparse;
    ambit__backend_add(&swift);
    g = ring(a);
    if (sparse) {
      CHECK(g);
      CHECK(!strcmp("cpu", ambit_option_get(a, "devices")));
      CHECK_OK(a);
    } else {
      CHECK_FAILED(a, AMBIT_ENODEVICE, "a swift device was opened");
    }
    ambit__backend_add(NULL);
    ambit_close(a);
  }
}

static void what_is_not_supported_is_refused(void)
{
  const int64_t extents[] = {8, 8};
  ambit *a = open_on("cpu*4");
  ambit_grid *g;
  ambit_field *f;

  CHECK(!ambit_grid_create_sparse(a, 2, extents, NULL, NULL));
  CHECK_FAILED(a, AMBIT_EINVAL, "is NULL");
  ambit_option_set(a, "partition", "3x2");
  CHECK(!ambit_grid_create_sparse(a, 2, extents, nowhere, NULL));
  CHECK_FAILED(a, AMBIT_EOPTION, "must be 4, the number of parts");
  ambit_option_set(a, "partition", "1x1x4");
  CHECK(!ambit_grid_create_sparse(a, 2, extents, nowhere, NULL));
  CHECK_FAILED(a, AMBIT_EOPTION, "up to 2 axes");
  ambit_close(a);
  a = open_on("cpu");
  ambit_option_set(a, "nan", "1");
  CHECK(!ambit_grid_create_sparse(a, 2, extents, nowhere, NULL));
  CHECK_FAILED(a, AMBIT_EUNSUPPORTED, "option nan");
  ambit_option_set(a, "nan", "0");
  g = ring(a);
  f = ambit_field_create(g, "f", AMBIT_F32);
  CHECK(!ambit_stream_create(ambit_program_create(g), f, f));
  CHECK_FAILED(a, AMBIT_EUNSUPPORTED, "streams");
  ambit_close(a);
  CHECK(!ambit_grid_create_sparse(NULL, 2, extents, nowhere, NULL));
}

static int everywhere(const int64_t *i, void *user)
{
  (void)i;
  (void)user;
  return 1;
}

/* Constants beside it keep their sign; a second mirror changes it back. The last context has no
 * compiler. */
static void antisymmetric_faces_are_those_of_dense_grids(void)
{
  static const char far[] = AMBIT_SOURCE(void far(const float *u, float *v) {
    *v = u[-1][0] + 2 * u[1][-2] + 4 * u[-3][3] + 8 * u[0][-3] + 16 * u[3][1];
  });
  const int64_t extents[] = {2, 13};
  static float values[4][2][13];

  for (int d = 0; d < 4; d++) {
    ambit *a = open_on(d == 2 ? "cpu*2" : "cpu");
    ambit_field *u, *v;
    ambit_program *p;
    ambit_grid *g;

    if (d == 3) ambit_option_set(a, "cc", "none");
    g = d ? ambit_grid_create_sparse(a, 2, extents, everywhere, NULL)
          : ambit_grid_create(a, 2, extents);
    u = ambit_field_create(g, "u", AMBIT_F32);
    v = ambit_field_create(g, "v", AMBIT_F32);
    p = ambit_program_create(g);
    if (d) ambit_field_boundary(u, AMBIT_INACTIVE, AMBIT_CLAMP, 0);
    ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_ANTISYMMETRIC, 0);
    ambit_field_boundary(u, AMBIT_HIGH(1), AMBIT_CONSTANT, 5);
    ambit_field_fill(u, ramp, NULL);
    ambit_apply(p, ambit_kernel_create(a, far), u, v);
    ambit_run(p, 1);
    ambit_field_read(v, NULL, NULL, values[d]);
    CHECK_OK(a);
    if (d) CHECK(!memcmp(values[0], values[d], sizeof values[0]));
    ambit_close(a);
  }
}

int main(int argc, char **argv)
{
  static const test_case cases[] = {
      {"a_grid_has_its_active_cells", a_grid_has_its_active_cells},
      {"antisymmetric_faces_are_those_of_dense_grids",
       antisymmetric_faces_are_those_of_dense_grids},
      {"fields_have_values_in_active_cells_only", fields_have_values_in_active_cells_only},
      {"reads_of_inactive_cells_are_constant_or_clamped",
       reads_of_inactive_cells_are_constant_or_clamped},
      {"reads_of_inactive_cells_need_a_boundary", reads_of_inactive_cells_need_a_boundary},
      {"reads_after_a_test_of_outside_need_none", reads_after_a_test_of_outside_need_none},
      {"outside_tells_inactive_cells", outside_tells_inactive_cells},
      {"reductions_and_statistics_count_active_cells",
       reductions_and_statistics_count_active_cells},
      {"reads_may_be_far_along_rows", reads_may_be_far_along_rows},
      {"long_runs_are_stored_past_the_caches", long_runs_are_stored_past_the_caches},
      {"parts_may_be_cut_along_any_axis", parts_may_be_cut_along_any_axis},
      {"large_parts_are_split", large_parts_are_split},
      {"programs_on_other_grids_leave_tables_alone", programs_on_other_grids_leave_tables_alone},
      {"a_grid_may_have_no_active_cell", a_grid_may_have_no_active_cell},
      {"the_box_is_never_allocated", the_box_is_never_allocated},
      {"files_are_dense_with_a_fill_value", files_are_dense_with_a_fill_value},
      {"files_may_be_lists_of_cells", files_may_be_lists_of_cells},
      {"cells_can_be_activated_between_runs", cells_can_be_activated_between_runs},
      {"growth_moves_the_cut", growth_moves_the_cut},
      {"tiles_of_sparse_grids_sleep", tiles_of_sparse_grids_sleep},
      {"masks_are_fields_arrays_and_pictures", masks_are_fields_arrays_and_pictures},
      {"auto_chooses_a_device_that_can_store_sparse_grids",
       auto_chooses_a_device_that_can_store_sparse_grids},
      {"what_is_not_supported_is_refused", what_is_not_supported_is_refused},
      {NULL, NULL}};

  return test_main(argc, argv, cases);
}
