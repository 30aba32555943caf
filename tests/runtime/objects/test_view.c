/* SPDX-License-Identifier: BSD-3-Clause */
/* Nested grids, and views of every second cell of a field: as in plain C, on all devices, parts and
 * processes. */
#include "runtime/places.h"

enum { ROWS = 24, COLUMNS = 40, LEVELS = 3 };

static double start(const int64_t *i, int component, void *user)
{
  (void)user;
  return (double)((i[0] * 131 + i[1] * 17 + component * 5) % 251);
}

static ambit_field *view(ambit_grid *g, ambit_field *f, int row, int column)
{
  return ambit_field_create_view(g, f, AMBIT_INDEX(row, column));
}

#define SUM                                                                                        \
  "void gather(const float *a, const float *b, const float *c, const float *d, float *v) { *v = "  \
  "*a + 2 * *b + 4 * *c + 8 * *d; }"

static void a_coarse_kernel_reads_all_cells_of_a_fine_field(void)
{
  EACH_PLACE(d)
  {
    ambit *a = open_strict(*d);
    ambit_grid *g[LEVELS];
    ambit_field *u, *v;
    ambit_program *p;
    static float got[ROWS / 2][COLUMNS / 2];

    ambit_grid_create_nested(a, 2, AMBIT_INDEX(ROWS, COLUMNS), LEVELS, g);
    u = ambit_field_create(g[0], "u", AMBIT_F32);
    v = ambit_field_create(g[1], "v", AMBIT_F32);
    p = ambit_program_create(g[1]);
    ambit_field_fill(u, start, NULL);
    ambit_apply(p, ambit_kernel_create(a, SUM), view(g[1], u, 0, 0), view(g[1], u, 0, 1),
                view(g[1], u, 1, 0), view(g[1], u, 1, 1), v);
    ambit_run(p, 1);
    ambit_field_read(v, NULL, NULL, got);
    CHECK_OK(a);
    for (int64_t i = 0; i < ROWS / 2; i++)
      for (int64_t j = 0; j < COLUMNS / 2; j++) {
        double want = 0;

        for (int64_t k = 0; k < 4; k++)
          want += (double)(1 << k) * start((int64_t[]){2 * i + k / 2, 2 * j + k % 2}, 0, NULL);
        CHECK_EQ(want, (double)got[i][j]);
      }
    CHECK_EQ(10, ambit_grid_extent(g[2], 1));
    ambit_close(a);
  }
}

/* Writes through views between steps on the fine grid that read neighbours and swap: halos and
 * buffers must follow. */
static void play(const char *devices, int mode, int *values)
{
  ambit *a = open_strict(devices);
  ambit_grid *g[2];
  ambit_field *u, *v;
  ambit_program *fine, *coarse, *all;
  ambit_kernel *mix = ambit_kernel_create(
      a, "void mix(const int *u, int *v) { *v = (u[-1][0] + 2 * u[1][0] + 3 * u[0][-1] + 5 * "
         "u[0][1] + *u) % 1000; }");

  ambit_grid_create_nested(a, 2, AMBIT_INDEX(ROWS, COLUMNS), 2, g);
  u = ambit_field_create_vector(g[0], "u", AMBIT_I32, 1, AMBIT_SOA);
  v = ambit_field_create(g[0], "v", AMBIT_I32);
  fine = ambit_program_create(g[0]);
  coarse = ambit_program_create(g[1]);
  all = ambit_program_create(mode == 1 ? g[0] : g[1]);
  ambit_field_fill(u, start, NULL);
  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
  ambit_apply(fine, mix, u, v);
  ambit_swap(fine, u, v);
  ambit_apply(coarse,
              ambit_kernel_create(a,
                                  "void up(int *a, int *b, const int *c) { *a += *c; *b = *b * 2 "
                                  "% 1000; }"),
              view(g[1], u, 0, 1), view(g[1], u, 1, 1), view(g[1], u, 1, 0));
  ambit_call(all, fine, 3);
  ambit_call(all, coarse, 1);
  for (int i = 0; mode == 0 && i < 4; i++) { /* one by one */
    ambit_run(fine, 3);
    ambit_run(coarse, 1);
  }
  if (mode) ambit_run(all, 4);
  ambit_field_read(u, NULL, NULL, values);
  CHECK_OK(a);
  ambit_close(a);
}

static void writes_through_views_are_seen_at_neighbours(void)
{
  static int want[ROWS * COLUMNS], got[ROWS * COLUMNS];

  play("cpu", 0, want);
  EACH_PLACE(d)
  for (int mode = 0; mode < 3; mode++) {
    play(*d, mode, got);
    CHECK_MSG(!memcmp(want, got, sizeof want), "%s, mode %d", *d, mode);
  }
}

static void views_can_be_read_and_written_by_the_host(void)
{
  EACH_PLACE(d)
  {
    ambit *a = open_strict(*d);
    ambit_grid *g[2];
    ambit_field *u, *odd;
    static double all[ROWS][COLUMNS], some[ROWS / 2][COLUMNS / 2];

    ambit_grid_create_nested(a, 2, AMBIT_INDEX(ROWS, COLUMNS), 2, g);
    u = ambit_field_create(g[0], "u", AMBIT_F64);
    odd = view(g[1], u, 1, 1);
    ambit_field_fill(u, start, NULL);
    ambit_field_read(odd, NULL, NULL, some);
    ambit_field_set(odd, -1);
    ambit_field_read(u, NULL, NULL, all);
    CHECK_OK(a);
    CHECK_EQ(0, strcmp("u[1][1]", ambit_field_name(odd)));
    for (int64_t i = 0; i < ROWS; i++)
      for (int64_t j = 0; j < COLUMNS; j++) {
        const double was = start((int64_t[]){i, j}, 0, NULL);

        CHECK_EQ(i % 2 && j % 2 ? -1 : was, all[i][j]);
        if (i % 2 && j % 2) CHECK_EQ(was, some[i / 2][j / 2]);
      }
    ambit_close(a);
  }
}

/* Destroys the field that a view shows while the view is filled. */
static double destroy(const int64_t *i, int component, void *user)
{
  (void)i;
  (void)component;
  ambit_field_destroy(user);
  return 3;
}

static void a_field_stays_while_a_view_of_it_is_filled(void)
{
  ambit *a = open_on("cpu");
  ambit_grid *g[2];
  ambit_field *u;
  float value = 0;

  ambit_grid_create_nested(a, 2, AMBIT_INDEX(2, 2), 2, g);
  u = ambit_field_create(g[0], "u", AMBIT_F32);
  ambit_field_fill(view(g[1], u, 1, 0), destroy, u);
  if (ambit_error(a)) /* on the process that owns the only cell of the view */
    CHECK_FAILED(a, AMBIT_EPROGRAM, "the field u[1][0] cannot be destroyed");
  else
    CHECK_EQ(true, ambit_processes(a) > 1);
  ambit_field_read(u, AMBIT_INDEX(1, 0), AMBIT_INDEX(2, 1), &value);
  CHECK_OK(a);
  CHECK_EQ(3, value);
  ambit_close(a);
}

static void wrong_views_are_refused(void)
{
  ambit *a = open_on("cpu");
  ambit_grid *g[3], *odd = grid_2d(a, 9, 8);
  ambit_field *u, *w, *v;
  ambit_program *p;

  CHECK_EQ(AMBIT_EINVAL, ambit_grid_create_nested(a, 2, AMBIT_INDEX(20, 42), 3, g));
  CHECK_FAILED(a, AMBIT_EINVAL,
               "extent 1 of nested grids is 42; with 3 levels it must be a "
               "multiple of 4");
  CHECK_EQ(1, g[0] == NULL && g[2] == NULL);
  ambit_grid_create_nested(a, 2, AMBIT_INDEX(16, 16), 0, g);
  CHECK_FAILED(a, AMBIT_EINVAL, "0 nested grids were asked for");
  ambit_grid_create_nested(a, 2, AMBIT_INDEX(16, 16), 3, g);
  u = ambit_field_create(g[0], "u", AMBIT_F32);
  w = ambit_field_create(g[1], "w", AMBIT_F32);
  p = ambit_program_create(g[1]);
  CHECK_EQ(1, view(g[2], u, 0, 0) == NULL);
  CHECK_FAILED(a, AMBIT_EINVAL, "needs a grid of half the extents of its own");
  view(odd, u, 0, 0);
  CHECK_FAILED(a, AMBIT_EINVAL, "the grid of the view is [0,9)x[0,8)");
  view(g[1], u, 0, 2);
  CHECK_FAILED(a, AMBIT_EINVAL, "starts at cell 0 or 1 of every axis");
  view(g[1], NULL, 0, 0);
  CHECK_FAILED(a, AMBIT_EINVAL, "a view of no field");
  v = view(g[1], u, 0, 1);
  view(g[1], u, 0, 1);
  CHECK_FAILED(a, AMBIT_EINVAL, "has a view that starts at this cell already");
  view(g[2], v, 0, 1);
  CHECK_FAILED(a, AMBIT_EINVAL, "is a view itself");
  ambit_swap(p, v, w);
  CHECK_FAILED(a, AMBIT_EPROGRAM, "is a view and cannot be swapped");
  ambit_copy_box(p, v, NULL, NULL, w, NULL);
  CHECK_FAILED(a, AMBIT_EPROGRAM, "is a view and cannot be copied");
  ambit_apply(p, ambit_kernel_create(a, "void l(const float *u, float *v) { *v = u[0][1]; }"), v,
              w);
  CHECK_FAILED(a, AMBIT_EPROGRAM, "views are read at the cell itself only");
  ambit_apply(p, ambit_kernel_create(a, "void c(const float *u, float *v) { *v = *u; }"), v, w);
  ambit_run(p, 1);
  CHECK_OK(a);
  ambit_field_destroy(u);
  ambit_run(p, 1);
  CHECK_FAILED(a, AMBIT_EPROGRAM, "that was destroyed");
  CHECK_EQ(1, ambit_field_create_view(NULL, w, AMBIT_INDEX(0, 0)) == NULL);
  ambit_close(a);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"a_coarse_kernel_reads_all_cells_of_a_fine_field",
       a_coarse_kernel_reads_all_cells_of_a_fine_field},
      {"writes_through_views_are_seen_at_neighbours", writes_through_views_are_seen_at_neighbours},
      {"views_can_be_read_and_written_by_the_host", views_can_be_read_and_written_by_the_host},
      {"a_field_stays_while_a_view_of_it_is_filled", a_field_stays_while_a_view_of_it_is_filled},
      {"wrong_views_are_refused", wrong_views_are_refused},
      {NULL, NULL}};

  return test_main(argc, argv, tests);
}
