/* SPDX-License-Identifier: BSD-3-Clause */
/* Sparse grids whose active cells change between runs (ambit_grid_activate). */
#include "runtime/objects/objects.h"
#include "runtime/sparse/ring.h"

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
  static const char *const storages[] = {"auto", "runs", "list", "list", "runs"};

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

typedef struct change {
  ambit_program *program; /* NULL: activate cells */
  ambit_grid *grid;
} change;

/* Runs a program that needs more room between runs than there is, or activates cells. */
static double changes_the_grid(const int64_t *i, int component, void *user)
{
  const change *c = user;

  (void)i, (void)component;
  if (c->program)
    ambit_run(c->program, 1);
  else
    ambit_grid_activate(c->grid, below_the_ring, NULL);
  return 1;
}

/* Filling walks over the cells as they are stored. */
static void a_function_that_fills_cannot_change_the_grid(void)
{
  for (int k = 0; k < 2; k++) {
    ambit *a = open_on("cpu");
    ambit_grid *g = ring(a);
    ambit_field *u = ambit_field_create(g, "u", AMBIT_F32);
    ambit_field *v = ambit_field_create(g, "v", AMBIT_F32);
    ambit_program *p = ambit_program_create(g);
    change c = {.program = k ? p : NULL, .grid = g};

    ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
    ambit_field_boundary(u, AMBIT_INACTIVE, AMBIT_CONSTANT, 0);
    ambit_apply(p, ambit_kernel_create(a, "void k(const float *u, float *v) { *v = u[0][20]; }"), u,
                v);
    ambit_field_fill(u, changes_the_grid, &c);
    CHECK_FAILED(a, AMBIT_EPROGRAM, "fills field 'u' cannot store its grid anew");
    CHECK_EQ(AMBIT_OK, ambit_run(p, 1));
    CHECK_EQ(AMBIT_OK, ambit_grid_activate(g, below_the_ring, NULL));
    ambit_close(a);
  }
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

int main(int argc, char **argv)
{
  static const test_case cases[] = {
      {"cells_can_be_activated_between_runs", cells_can_be_activated_between_runs},
      {"a_function_that_fills_cannot_change_the_grid",
       a_function_that_fills_cannot_change_the_grid},
      {"growth_moves_the_cut", growth_moves_the_cut},
      {NULL, NULL}};

  return test_main(argc, argv, cases);
}
