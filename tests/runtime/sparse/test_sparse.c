/* SPDX-License-Identifier: BSD-3-Clause */
/* Sparse grids through the public interface: their cells, kernels on them, and boundaries. Random
 * programs on them are in random/ (--sparse). */
#include "runtime/sleep/sleep.h"
#include "runtime/sparse/ring.h"

#include <math.h>

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

/* The kernel spread by hand, on the whole array. */
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
  ambit_field_boundary(u, AMBIT_INACTIVE | AMBIT_LOW(0), AMBIT_CONSTANT, 0);
  CHECK_FAILED(a, AMBIT_EINVAL, "AMBIT_INACTIVE was combined with faces");
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
    stats = *ambit_program_stats(p, 0);
    CHECK_NEAR((double)count_ring(), stats.cells, 0);
    CHECK_EQ(AMBIT_OK, ambit_close(a));
  }
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

    ambit_field_set(f, 3);
    ambit_apply(p, ambit_kernel_create(a, "void k(float *f, sum long *n) { *n = 1; *f += 1; }"), f,
                n);
    ambit_run(p, 2);
    CHECK_NEAR(0, ambit_scalar_get(n), 0);
    CHECK_EQ(AMBIT_OK, ambit_close(a));
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

  CHECK(!ambit_grid_create_sparse(a, 2, extents, NULL, NULL));
  CHECK_FAILED(a, AMBIT_EINVAL, "is NULL");
  ambit_option_set(a, "partition", "3x2");
  CHECK(!ambit_grid_create_sparse(a, 2, extents, nowhere, NULL));
  CHECK_FAILED(a, AMBIT_EOPTION, "must be 4, the number of parts");
  ambit_option_set(a, "partition", "1x1x4");
  CHECK(!ambit_grid_create_sparse(a, 2, extents, nowhere, NULL));
  CHECK_FAILED(a, AMBIT_EOPTION, "up to 2 axes");
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

/* Every face has another constant, and inactive cells one more. */
static void read_constants(const char *devices, ambit_order order, double special,
                           float (*values)[M][2])
{
  ambit *a = open_on(devices);
  ambit_grid *g = ambit_grid_create_sparse(a, 2, AMBIT_INDEX(N, M), everywhere, NULL);
  ambit_field *u = ambit_field_create_vector(g, "u", AMBIT_F32, 2, order),
              *v = ambit_field_create_vector(g, "v", AMBIT_F32, 2, order);
  ambit_program *p = ambit_program_create(g);

  ambit_option_set(a, "strict", "1");
  ambit_field_boundary(u, AMBIT_INACTIVE, AMBIT_CONSTANT, 9);
  ambit_field_boundary(u, AMBIT_AXIS(0), AMBIT_CONSTANT, 2);
  ambit_field_boundary(u, AMBIT_LOW(1), AMBIT_CONSTANT, 5);
  ambit_field_boundary(u, AMBIT_HIGH(1), AMBIT_CONSTANT, special);
  ambit_field_fill(u, ramp, NULL);
  ambit_apply(p,
              ambit_kernel_create(a, "void near(const float *u[2], float *v[2]) { *v[0] = u[1][0]"
                                     "[-1] + u[0][-1][0]; *v[1] = copysignf(2, u[0][0][1]) * "
                                     "u[1][1][0] + u[0][0][2]; }"),
              u, v);
  ambit_run(p, 2);
  ambit_field_read(v, NULL, NULL, values);
  CHECK_OK(a);
  ambit_close(a);
}

static void a_face_may_have_the_constant_nan(void)
{
  static const char *const devices[] = {"cpu", "cpu*3"};
  static float want[N][M][2], got[N][M][2];

  for (int i = 0; i < 8; i++) {
    const double special = i % 2 ? -0.0 : (double)NAN;
    const ambit_order order = i / 2 % 2 ? AMBIT_AOS : AMBIT_SOA;

    read_constants("ref", order, special, want);
    read_constants(devices[i / 4], order, special, got);
    CHECK(isnan(want[3][M - 1][1]) == !(i % 2));
    for (int k = 0; k < 2 * N * M; k++) {
      const float x = want[k / 2 / M][k / 2 % M][k % 2], y = got[k / 2 / M][k / 2 % M][k % 2];

      CHECK_MSG(isnan(x) ? isnan(y) : !memcmp(&x, &y, sizeof x), "%s: cell %d is %g, ref %g",
                devices[i / 4], k / 2, (double)y, (double)x);
    }
  }
}

int main(int argc, char **argv)
{
  static const test_case cases[] = {
      {"a_grid_has_its_active_cells", a_grid_has_its_active_cells},
      {"antisymmetric_faces_are_those_of_dense_grids",
       antisymmetric_faces_are_those_of_dense_grids},
      {"a_face_may_have_the_constant_nan", a_face_may_have_the_constant_nan},
      {"fields_have_values_in_active_cells_only", fields_have_values_in_active_cells_only},
      {"reads_of_inactive_cells_are_constant_or_clamped",
       reads_of_inactive_cells_are_constant_or_clamped},
      {"reads_of_inactive_cells_need_a_boundary", reads_of_inactive_cells_need_a_boundary},
      {"reads_after_a_test_of_outside_need_none", reads_after_a_test_of_outside_need_none},
      {"outside_tells_inactive_cells", outside_tells_inactive_cells},
      {"reductions_and_statistics_count_active_cells",
       reductions_and_statistics_count_active_cells},
      {"a_grid_may_have_no_active_cell", a_grid_may_have_no_active_cell},
      {"tiles_of_sparse_grids_sleep", tiles_of_sparse_grids_sleep},
      {"auto_chooses_a_device_that_can_store_sparse_grids",
       auto_chooses_a_device_that_can_store_sparse_grids},
      {"what_is_not_supported_is_refused", what_is_not_supported_is_refused},
      {NULL, NULL}};

  return test_main(argc, argv, cases);
}
