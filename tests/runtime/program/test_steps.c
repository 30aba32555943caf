/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps that copy boxes, and steps that run every n iterations: on all devices, on several parts
 * and on several processes as in plain C. */
#include "runtime/places.h"

enum { ROWS = 23, COLUMNS = 37, CELLS = ROWS * COLUMNS };

static double start(const int64_t *i, int component, void *user)
{
  (void)user;
  return (double)((i[0] * 131 + i[1] * 17 + component * 7) % 251);
}

/* ---- copies ---- */

/* Copies a box of a 2-D array with two components to another place. */
static void copy_here(const float *from, float *to, const int64_t *lo, const int64_t *hi,
                      const int64_t *at)
{
  for (int64_t i = lo[0]; i < hi[0]; i++)
    for (int64_t j = lo[1]; j < hi[1]; j++)
      for (int c = 0; c < 2; c++)
        to[((at[0] + i - lo[0]) * COLUMNS + at[1] + j - lo[1]) * 2 + c] =
            from[(i * COLUMNS + j) * 2 + c];
}

/* Boxes from one end of the grid to the other, to the neighbourhood, and of the whole grid. */
static void compare_copies(const char *devices, ambit_order order)
{
  static const int64_t boxes[][3][2] = {{{0, 0}, {2, COLUMNS}, {ROWS - 2, 0}},
                                        {{3, 1}, {20, 4}, {1, 30}},
                                        {{5, 5}, {18, 30}, {4, 7}},
                                        {{22, 36}, {23, 37}, {0, 0}},
                                        {{0, 0}, {ROWS, COLUMNS}, {0, 0}}};
  ambit *a = open_strict(devices);
  ambit_grid *g = grid_2d(a, ROWS, COLUMNS);
  ambit_field *u = ambit_field_create_vector(g, "u", AMBIT_F32, 2, order),
              *v = ambit_field_create_vector(g, "v", AMBIT_F32, 2, order);
  static float mine[2 * CELLS], theirs[2 * CELLS], source[2 * CELLS];

  for (size_t k = 0; k < sizeof boxes / sizeof *boxes; k++) {
    ambit_program *p = ambit_program_create(g);

    ambit_field_fill(u, start, NULL);
    ambit_field_set(v, -1);
    ambit_field_read(u, NULL, NULL, source);
    ambit_field_read(v, NULL, NULL, mine);
    copy_here(source, mine, boxes[k][0], boxes[k][1], boxes[k][2]);
    ambit_copy_box(p, u, boxes[k][0], boxes[k][1], v, boxes[k][2]);
    ambit_run(p, 1);
    ambit_field_read(v, NULL, NULL, theirs);
    CHECK_MSG(!memcmp(mine, theirs, sizeof mine), "%s: box %zu", devices, k);
    ambit_program_destroy(p);
  }
  CHECK_OK(a);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static void a_box_arrives_at_its_place(void)
{
  EACH_PLACE(d)
  {
    compare_copies(*d, AMBIT_SOA);
    compare_copies(*d, AMBIT_AOS);
  }
}

/* The values of a field after n iterations of a 4-point mean and, if `fills`, copies that make two
 * layers on each side periodic; else the boundary does. */
static void run_periodic(const char *devices, bool fills, int64_t n, double *values)
{
  ambit *a = open_strict(devices);
  const int64_t margin = fills ? 2 : 0, rows = 12, columns = 31;
  ambit_grid *g = grid_2d(a, rows + 2 * margin, columns + 2 * margin);
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F64),
              *v = ambit_field_create(g, "v", AMBIT_F64);
  ambit_program *p = ambit_program_create(g);
  const int64_t lo[] = {margin, margin}, hi[] = {rows + margin, columns + margin};
  double all[12 * 31];

  for (int64_t i = 0; i < rows * columns; i++)
    all[i] = (double)(i * i % 101);
  ambit_field_write(u, lo, hi, all);
  ambit_field_boundary(u, AMBIT_ALL_FACES, fills ? AMBIT_FIXED : AMBIT_PERIODIC, 0);
  if (fills) {
    ambit_copy_box(p, u, AMBIT_INDEX(rows, 0), AMBIT_INDEX(rows + 2, columns + 4), u,
                   AMBIT_INDEX(0, 0));
    ambit_copy_box(p, u, AMBIT_INDEX(2, 0), AMBIT_INDEX(4, columns + 4), u,
                   AMBIT_INDEX(rows + 2, 0));
    ambit_copy_box(p, u, AMBIT_INDEX(0, columns), AMBIT_INDEX(rows + 4, columns + 2), u,
                   AMBIT_INDEX(0, 0));
    ambit_copy_box(p, u, AMBIT_INDEX(0, 2), AMBIT_INDEX(rows + 4, 4), u,
                   AMBIT_INDEX(0, columns + 2));
  }
  ambit_apply(p,
              ambit_kernel_create(a, "void mean(const double *u, double *v) { *v = 0.25 * (u[-2][0]"
                                     " + u[1][0] + u[0][-1] + u[1][2]); }"),
              u, v);
  ambit_swap(p, u, v);
  ambit_run(p, n);
  ambit_field_read(u, lo, hi, values);
  CHECK_OK(a);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static void copies_make_a_grid_periodic(void)
{
  double want[12 * 31], got[12 * 31];

  run_periodic("cpu", false, 5, want);
  EACH_PLACE(d)
  {
    run_periodic(*d, true, 5, got);
    CHECK_MSG(!memcmp(want, got, sizeof want), "%s", *d);
  }
}

static void wrong_copies_are_refused(void)
{
  ambit *a = open_on("cpu");
  ambit_grid *g = grid_2d(a, 8, 8), *other = grid_2d(a, 8, 8);
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F32),
              *d = ambit_field_create_vector(g, "d", AMBIT_F32, 2, AMBIT_SOA);
  ambit_field *f = ambit_field_create(other, "f", AMBIT_F32);
  ambit_program *p = ambit_program_create(g);

  ambit_copy_box(p, u, NULL, NULL, f, NULL);
  CHECK_FAILED(a, AMBIT_EINVAL, "field 'f', to which cells are copied, belongs to another grid");
  ambit_copy_box(p, u, NULL, NULL, NULL, NULL);
  CHECK_FAILED(a, AMBIT_EINVAL, "field 2 of a copy is NULL");
  ambit_copy_box(p, u, NULL, NULL, d, NULL);
  CHECK_FAILED(a, AMBIT_EPROGRAM, "they differ in components");
  ambit_copy_box(p, u, AMBIT_INDEX(0, 4), AMBIT_INDEX(2, 9), u, AMBIT_INDEX(5, 0));
  CHECK_FAILED(a, AMBIT_EINVAL, "a copy takes the box [0,2)x[4,9); it must be within the grid");
  ambit_copy_box(p, u, AMBIT_INDEX(0, 0), AMBIT_INDEX(2, 2), u, AMBIT_INDEX(7, 0));
  CHECK_FAILED(a, AMBIT_EINVAL, "a copy to the box [7,9)x[0,2) leaves the grid [0,8)x[0,8)");
  ambit_copy_box(p, u, AMBIT_INDEX(0, 0), AMBIT_INDEX(2, 2), u, AMBIT_INDEX(1, INT64_MAX));
  CHECK_FAILED(a, AMBIT_EINVAL,
               "a copy to index 9223372036854775807 along axis 1 leaves the grid, which has 8");
  ambit_copy_box(p, u, AMBIT_INDEX(INT64_MIN, 0), AMBIT_INDEX(2, 2), u, AMBIT_INDEX(1, 1));
  CHECK_FAILED(a, AMBIT_EINVAL, "it must be within the grid");
  ambit_copy_box(p, u, AMBIT_INDEX(0, 0), AMBIT_INDEX(3, 3), u, AMBIT_INDEX(2, 2));
  CHECK_FAILED(a, AMBIT_EPROGRAM, "the two boxes overlap");
  CHECK_EQ(AMBIT_EINVAL, ambit_copy_box(NULL, u, NULL, NULL, u, NULL));
  ambit_close(a);
}

/* ---- every n iterations ---- */

#define ADD "void add(const int *u, int *v, int k) { *v = u[-1][0] + *v + k; }"

/* In plain C: u += 1 in all iterations; v += the u above it every 3; total = the sum of v every 2.
 */
static void plain(int64_t n, int *u, int *v, int64_t *total)
{
  for (int64_t t = 1; t <= n; t++) {
    for (int i = 0; i < CELLS; i++)
      u[i]++;
    for (int i = 0; t % 3 == 0 && i < CELLS; i++)
      v[i] += i < COLUMNS ? 5 : u[i - COLUMNS];
    if (t % 2) continue;
    *total = 0;
    for (int i = 0; i < CELLS; i++)
      *total += v[i];
  }
}

static void compare_every(const char *devices, const char *depth)
{
  ambit *a = open_strict(devices);
  ambit_grid *g = grid_2d(a, ROWS, COLUMNS);
  ambit_field *u = ambit_field_create(g, "u", AMBIT_I32),
              *v = ambit_field_create(g, "v", AMBIT_I32);
  ambit_scalar *s = ambit_scalar_create(a, "total", AMBIT_I64);
  ambit_program *p = ambit_program_create(g);
  static int want[2][CELLS], got[CELLS];
  int64_t total = 0;

  ambit_option_set(a, "depth", depth);
  ambit_field_fill(u, start, NULL);
  ambit_field_set(v, 0);
  ambit_field_read(u, NULL, NULL, want[0]);
  memset(want[1], 0, sizeof want[1]);
  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CONSTANT, 5);
  ambit_apply(p, ambit_kernel_create(a, "void up(int *u) { *u += 1; }"), u);
  ambit_apply(p, ambit_kernel_create(a, ADD), u, v, 0);
  ambit_step_every(p, 3);
  ambit_apply(p, ambit_kernel_create(a, "void total(const int *v, sum long *s) { *s = *v; }"), v,
              s);
  ambit_step_every(p, 2);
  for (int64_t n = 1; n <= 11; n += 5) /* 18 iterations in all, a multiple of 6 */
    ambit_run(p, n);
  ambit_field_fill(u, start, NULL);
  ambit_field_set(v, 0);
  ambit_run(p, 11);
  plain(11, want[0], want[1], &total);
  ambit_field_read(u, NULL, NULL, got);
  CHECK_MSG(!memcmp(want[0], got, sizeof got), "%s: u", devices);
  ambit_field_read(v, NULL, NULL, got);
  CHECK_MSG(!memcmp(want[1], got, sizeof got), "%s: v", devices);
  CHECK_EQ((double)total, ambit_scalar_get(s));
  CHECK_OK(a);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static void steps_run_every_n_iterations(void)
{
  EACH_PLACE(d)
  {
    compare_every(*d, "1");
    compare_every(*d, "3");
  }
}

static void faces_and_copies_run_every_n_iterations(void)
{
  EACH_PLACE(d)
  {
    ambit *a = open_strict(*d);
    ambit_grid *g = grid_2d(a, 1, 9);
    ambit_field *u = ambit_field_create(g, "u", AMBIT_I32);
    ambit_program *p = ambit_program_create(g);
    int got[9];

    ambit_field_set(u, 0);
    ambit_apply_faces(p, AMBIT_AXIS(1), ambit_kernel_create(a, "void up(int *u) { *u += 1; }"), u);
    ambit_step_every(p, 4);
    ambit_copy_box(p, u, AMBIT_INDEX(0, 0), AMBIT_INDEX(1, 1), u, AMBIT_INDEX(0, 4));
    ambit_step_every(p, 7);
    ambit_run(p, 13); /* up in 4, 8 and 12, copied in 7 */
    ambit_field_read(u, NULL, NULL, got);
    CHECK_OK(a);
    for (int i = 0; i < 9; i++)
      CHECK_EQ(i == 0 || i == 8 ? 3 : i == 4 ? 1 : 0, got[i]);
    CHECK_EQ(AMBIT_OK, ambit_close(a));
  }
}

/* Two fields that trade buffers have different values around the grid. A step that runs every 3
 * iterations reads one of them in between, and leaves the other's neighbours as they were. */
static void compare_ghosts(const char *devices)
{
  ambit *a = open_strict(devices);
  ambit_grid *g = grid_2d(a, ROWS, COLUMNS);
  ambit_field *u = ambit_field_create(g, "u", AMBIT_I32),
              *v = ambit_field_create(g, "v", AMBIT_I32),
              *w = ambit_field_create(g, "w", AMBIT_I32);
  ambit_kernel *above =
      ambit_kernel_create(a, "void above(const int *u, int *v) { *v = u[-1][0]; }");
  ambit_program *p = ambit_program_create(g);
  static int got[CELLS];

  ambit_field_fill(v, start, NULL);
  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CONSTANT, 1);
  ambit_field_boundary(v, AMBIT_ALL_FACES, AMBIT_CONSTANT, 2);
  ambit_apply(p, above, v, u);
  ambit_swap(p, u, v);
  ambit_apply(p, above, u, w);
  ambit_step_every(p, 3);
  ambit_swap(p, u, v);
  ambit_run(p, 7);
  ambit_field_read(u, NULL, NULL, got);
  for (int j = 0; j < COLUMNS; j++)
    CHECK_EQ(2, got[j]);
  ambit_field_read(w, NULL, NULL, got);
  for (int j = 0; j < COLUMNS; j++)
    CHECK_EQ(1, got[j]);
  CHECK_OK(a);
  ambit_close(a);
}

static void a_step_every_n_iterations_leaves_ghost_cells_to_others(void)
{
  EACH_PLACE(d)
  compare_ghosts(*d);
}

static void wrong_intervals_are_refused(void)
{
  ambit *a = open_on("cpu");
  ambit_grid *g = grid_2d(a, 8, 8);
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F32),
              *v = ambit_field_create(g, "v", AMBIT_F32);
  ambit_scalar *s = ambit_scalar_create(a, "s", AMBIT_F32);
  ambit_program *p = ambit_program_create(g);
  ambit_kernel *k = ambit_kernel_create(a, "void all(const float *u, sum float *s) { *s = *u; }");

  ambit_step_every(p, 2);
  CHECK_FAILED(a, AMBIT_EPROGRAM, "has no step yet");
  ambit_swap(p, u, v);
  ambit_step_every(p, 0);
  CHECK_FAILED(a, AMBIT_EINVAL, "the interval is 0; it must be at least 1");
  ambit_step_every(p, 2);
  CHECK_FAILED(a, AMBIT_EPROGRAM, "step 1 is a swap or a rotation");
  ambit_apply(p, k, u, s);
  ambit_apply(p, k, v, s);
  ambit_step_every(p, 4);
  ambit_run(p, 1);
  CHECK_FAILED(a, AMBIT_EPROGRAM, "steps 2 and 3 reduce into scalar 's' together");
  CHECK_EQ(AMBIT_EINVAL, ambit_step_every(NULL, 2));
  ambit_close(a);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"a_box_arrives_at_its_place", a_box_arrives_at_its_place},
      {"copies_make_a_grid_periodic", copies_make_a_grid_periodic},
      {"wrong_copies_are_refused", wrong_copies_are_refused},
      {"steps_run_every_n_iterations", steps_run_every_n_iterations},
      {"faces_and_copies_run_every_n_iterations", faces_and_copies_run_every_n_iterations},
      {"a_step_every_n_iterations_leaves_ghost_cells_to_others",
       a_step_every_n_iterations_leaves_ghost_cells_to_others},
      {"wrong_intervals_are_refused", wrong_intervals_are_refused},
      {NULL, NULL}};

  return test_main(argc, argv, tests);
}
