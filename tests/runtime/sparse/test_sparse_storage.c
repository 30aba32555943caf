/* SPDX-License-Identifier: BSD-3-Clause */
/* How sparse grids are cut into parts and stored, and when they are stored anew. */
#include "device/cpu/machine.h"
#include "grid/storage.h"
#include "runtime/run/run.h"
#include "runtime/sparse/ring.h"
#include "support/capture.h"

/* A rule that reads far along rows needs more cells beside runs: fields are stored anew, with their
 * values, and programs that ran before run again. The GPU computes two rows at a time. */
static void reads_may_be_far_along_rows(void)
{
  static const char *const devices[] = {"ref", "cpu", "cpu*4", "opencl*2"};
  static double got[4][N][M];

  for (int d = 0; d < (device_is_here("opencl") ? 4 : 3); d++) {
    ambit *a = open_on(devices[d]);
    ambit_grid *g = (ambit_option_set(a, "storage", d == 3 ? "runs" : "auto"), ring(a));
    ambit_field *u = ambit_field_create(g, "u", AMBIT_F64);
    ambit_field *v = ambit_field_create(g, "v", AMBIT_F64);
    ambit_program *near = ambit_program_create(g), *far = ambit_program_create(g);

    ambit_option_set(a, "strict", "1");
    if (d == 3) ambit_option_set(a, "plan", "(sparse 256 wide 4 rows 2x1)");
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

/* A ball with a hole, of which no plane is as the next one. */
static int in_ball(const int64_t *i, void *user)
{
  const int64_t z = i[0] - 5, y = i[1] - 6, x = (i[2] - 70) / 9, r = z * z + y * y + x * x;

  (void)user;
  return r < 50 && r > 3;
}

static double hills(const int64_t *i, int component, void *user)
{
  (void)component, (void)user;
  return (double)((i[0] * 31 + i[1] * 17 + i[2] * 7) % 64) / 8;
}

enum { Z = 11, Y = 13, X = 150 };

/* Fields differ in their boundaries, so rows beyond faces are elsewhere for each. Returns the
 * largest value. */
static double compute_in_ball(const char *device, const char *plan, float *values)
{
  static const int64_t box[] = {Z, Y, X};
  ambit *a = open_on(device);
  ambit_grid *g =
      (ambit_option_set(a, "storage", "runs"), ambit_grid_create_sparse(a, 3, box, in_ball, NULL));
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F32),
              *w = ambit_field_create(g, "w", AMBIT_F32);
  ambit_field *v = ambit_field_create(g, "v", AMBIT_F32);
  ambit_scalar *s = ambit_scalar_create(a, "s", AMBIT_F32);
  ambit_program *p = ambit_program_create(g);
  double most;

  ambit_option_set(a, "strict", "1");
  ambit_option_set(a, "plan", plan);
  for (int k = 0; k < 2; k++) {
    ambit_field_boundary(k ? v : u, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
    ambit_field_boundary(k ? v : u, AMBIT_INACTIVE, AMBIT_CONSTANT, 3);
  }
  ambit_field_boundary(w, AMBIT_ALL_FACES, AMBIT_CONSTANT, 5);
  ambit_field_boundary(w, AMBIT_INACTIVE, AMBIT_CONSTANT, -1);
  ambit_field_fill(u, hills, NULL);
  ambit_field_fill(w, hills, NULL);
  ambit_apply(p,
              ambit_kernel_create(
                  a, "void k(const float *u, const float *w, float *v, max float *s)"
                     "{ *v = 0.25f * (u[-1][0][0] + u[0][1][2] + u[1][0][-1] + *u) - w[0][-1][0] +"
                     "  w[0][0][1] + (float)(index(0) - 2 * index(1) + index(2)); *s = *v; }"),
              u, w, v, s);
  ambit_swap(p, u, v);
  ambit_run(p, 3);
  ambit_field_read(u, NULL, NULL, values);
  most = ambit_scalar_get(s);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
  return most;
}

/* A GPU computes several rows of a sparse grid at once: they share what they read. */
static void rows_may_be_computed_together(void)
{
  static const char *const devices[] = {"cuda", "cuda*2", "opencl*2"};
  static const char *const plans[] = {"(sparse 256 wide 4 rows 2x4)",
                                      "(sparse 256 wide 4 rows 2x2)"};
  static float want[Z * Y * X], got[Z * Y * X];
  const double most = compute_in_ball("ref", "", want);
  bool any = false;

  for (int i = 0; i < 6; i++) {
    const char *backend = i < 4 ? "cuda" : "opencl";

    if (!device_is_here(backend)) continue;
    if (compiles_slowly(backend) && !test_takes(1, 2)) continue; /* many rows are much code */
    any = true;
    CHECK(most == compute_in_ball(devices[i / 2], plans[i % 2], got));
    CHECK(!memcmp(want, got, sizeof want));
  }
  if (!any) SKIP("there is no GPU");
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
  m->has_nontemporal = true;
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

  ambit_field_set(f, 2.5);
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

/* With a mask that is a function, too, before a field is allocated. */
static void the_memory_of_each_storage_is_printed_first(void)
{
  ambit *a = open_on("cpu");
  double runs = 0, list = 0;
  const char *said, *memory;

  ambit_option_set(a, "verbose", "1");
  capture_begin();
  ambit_grid_create_sparse(a, 2, AMBIT_INDEX(128, 1 << 16), on_a_line, NULL);
  said = capture_end();
  CHECK_MSG(strstr(said, "2000 active cells, 0.0238 % of the box, in 1 runs"), "%s", said);
  memory = strstr(said, ": runs ");
  CHECK(memory && sscanf(memory, ": runs %lf MiB, list %lf", &runs, &list) == 2);
  CHECK(list * (1 << 20) >= 2000 && list <= runs);
  CHECK(runs < 1); /* MiB; the box has 8 Mi cells */
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static int in_first_rows(const int64_t *i, void *user)
{
  (void)user;
  return i[0] < 16;
}

static int at_random(const int64_t *i, void *user)
{
  (void)user;
  return (uint64_t)(i[0] * 64 + i[1]) * 0x9e3779b97f4a7c15u >> 60 == 0;
}

/* The fields of cells that are almost alone would be four times as large as runs. */
static void memory_that_no_program_needs_is_not_taken(void)
{
  ambit *a = open_on("cpu");
  ambit_grid *alone = ambit_grid_create_sparse(a, 2, AMBIT_INDEX(64, 64), at_random, NULL);
  ambit_grid *rows = ambit_grid_create_sparse(a, 2, AMBIT_INDEX(64, 4096), in_first_rows, NULL);
  ambit_field *u = ambit_field_create(alone, "u", AMBIT_F32);
  ambit_program *p = ambit_program_create(alone);
  const double cells[] = {40, 10, 90};

  CHECK_EQ(STORAGE_LIST, alone->active->storage);
  CHECK_EQ(STORAGE_RUNS, rows->active->storage);
  ambit_apply(p, ambit_kernel_create(a, "void k(float *u) { *u = *u + 1; }"), u);
  ambit_run(p, 1);
  CHECK_EQ(STORAGE_LIST, alone->active->storage);
  CHECK_EQ(AMBIT_OK, ambit_close(a));

  CHECK_NEAR(30, ambit__storage_peak(STORAGE_LIST, cells, 3), 0);
  CHECK_NEAR(3 * 40 + 10, ambit__storage_peak(STORAGE_RUNS, cells, 3), 0); /* the last of them */
}

/* Half of the active cells is a small share of the box. */
static void the_report_counts_active_cells(void)
{
  ambit *a = open_on("cpu*2");
  ambit_grid *g = ambit_grid_create_sparse(a, 2, AMBIT_INDEX(64, 64), in_first_rows, NULL);
  ambit_program *p = ambit_program_create(g);
  const char *said, *half;

  ambit_option_set(a, "report", "1");
  ambit_apply(p, ambit_kernel_create(a, "void k(float *u) { *u = *u + 1; }"),
              ambit_field_create(g, "u", AMBIT_F32));
  ambit_run(p, 10000); /* long enough to be measured */
  capture_begin();
  ambit_program_report(p);
  said = capture_end();
  half = strstr(said, " 50.0 % of the cells");
  CHECK_MSG(half && strstr(half + 1, " 50.0 % of the cells"), "%s", said);
  ambit_option_set(a, "report", "0");
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static void a_promise_without_effect_is_a_warning(void)
{
  for (int sparse = 0; sparse < 2; sparse++) {
    ambit *a = open_on("cpu");
    ambit_grid *g = sparse
                        ? ambit_grid_create_sparse(a, 2, AMBIT_INDEX(64, 64), in_first_rows, NULL)
                        : grid_2d(a, 64, 64);
    const char *said;

    ambit_option_set(a, "verbose", "0");
    capture_begin();
    CHECK_EQ(AMBIT_OK, ambit_program_relax(ambit_program_create(g)));
    said = capture_end();
    CHECK_MSG(sparse == (strstr(said, "no effect on a sparse grid") != NULL), "%s", said);
    CHECK_EQ(AMBIT_OK, ambit_close(a));
  }
}

int main(int argc, char **argv)
{
  static const test_case cases[] = {
      {"reads_may_be_far_along_rows", reads_may_be_far_along_rows},
      {"rows_may_be_computed_together", rows_may_be_computed_together},
      {"long_runs_are_stored_past_the_caches", long_runs_are_stored_past_the_caches},
      {"parts_may_be_cut_along_any_axis", parts_may_be_cut_along_any_axis},
      {"large_parts_are_split", large_parts_are_split},
      {"programs_on_other_grids_leave_tables_alone", programs_on_other_grids_leave_tables_alone},
      {"the_box_is_never_allocated", the_box_is_never_allocated},
      {"memory_that_no_program_needs_is_not_taken", memory_that_no_program_needs_is_not_taken},
      {"the_memory_of_each_storage_is_printed_first", the_memory_of_each_storage_is_printed_first},
      {"the_report_counts_active_cells", the_report_counts_active_cells},
      {"a_promise_without_effect_is_a_warning", a_promise_without_effect_is_a_warning},
      {NULL, NULL}};

  return test_main(argc, argv, cases);
}
