/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels that write neighbours: every cell writes other values than all others, so they run in
 * place, on all devices and parts as in plain C. Anything else is refused, with the reason. */
#include "runtime/places.h"

enum { ROWS = 18, COLUMNS = 70, CELLS = ROWS * COLUMNS, Q = 5 };

static const int cy[Q] = {0, 0, 0, 1, -1}, cx[Q] = {0, 1, -1, 0, 0};

static double start(const int64_t *i, int component, void *user)
{
  (void)user;
  return (double)((i[0] * 131 + i[1] * 17 + component * 59) % 251) / 16 - 7;
}

static float start_at(int component, int64_t i)
{
  return (float)start((int64_t[]){i / COLUMNS, i % COLUMNS}, component, NULL);
}

/* The cell at an offset, on a grid that is periodic along both axes. */
static int64_t near(int64_t cell, int64_t dy, int64_t dx)
{
  const int64_t i = (cell / COLUMNS + dy + 10 * ROWS) % ROWS;

  return i * COLUMNS + (cell % COLUMNS + dx + 10 * COLUMNS) % COLUMNS;
}

/* ---- one field or two ---- */

#define TABLES                                                                                     \
  "  const int cy[5] = {0, 0, 0, 1, -1}, cx[5] = {0, 1, -1, 0, 0}, back[5] = {0, 2, 1, 4, 3};\n"   \
  "  float h[5], mean = 0;\n"
#define COLLIDE "    mean += 0.2f * h[i];\n  }\n"

/* Two fields: populations move when they are stored. */
static const char two[] =
    "void two(const float *f[5], float *g[5], const unsigned char *solid)\n{\n" TABLES
    "  for (int i = 0; i < 5; i++) {\n    h[i] = *f[i];\n" COLLIDE "  for (int i = 0; i < 5; i++)\n"
    "    g[i][cy[i]][cx[i]] = *solid ? h[back[i]] : h[i] + 0.7f * (mean - h[i]);\n}\n";

/* One field: the even step turns populations round in the cell, the odd one moves them by two. */
static const char even[] =
    "void even(float *f[5], const unsigned char *solid)\n{\n" TABLES
    "  for (int i = 0; i < 5; i++) {\n    h[i] = *f[i];\n" COLLIDE
    "  if (!*solid) for (int i = 0; i < 5; i++) *f[back[i]] = h[i] + 0.7f * (mean - h[i]);\n}\n";
static const char odd[] =
    "void odd(float *f[5], const unsigned char *solid, sum double *mass)\n{\n" TABLES
    "  for (int i = 0; i < 5; i++) {\n    h[i] = f[back[i]][-cy[i]][-cx[i]];\n" COLLIDE
    "  *mass = mean;\n"
    "  if (!*solid)\n"
    "    for (int i = 0; i < 5; i++) f[i][cy[i]][cx[i]] = h[i] + 0.7f * (mean - h[i]);\n}\n";

typedef struct state {
  double mass;
  float f[Q * CELLS]; /* cell by cell */
} state;

static double wall(const int64_t *i, int component, void *user)
{
  (void)component;
  return user ? 0 : i[0] == 4 && i[1] > 20 && i[1] < 50; /* thin: 4 rows of 18 are a part */
}

/* Four time steps: `two` twice per iteration, or even and odd. */
static void play(const char *devices, bool in_place, void *no_walls, state *result)
{
  ambit *a = open_strict(devices);
  ambit_grid *g = grid_2d(a, ROWS, COLUMNS);
  ambit_field *f = ambit_field_create_vector(g, "f", AMBIT_F32, Q, AMBIT_SOA);
  ambit_field *to = ambit_field_create_vector(g, "to", AMBIT_F32, Q, AMBIT_SOA);
  ambit_field *solid = ambit_field_create(g, "solid", AMBIT_U8);
  ambit_scalar *mass = ambit_scalar_create(a, "mass", AMBIT_F64);
  ambit_program *p = ambit_program_create(g);

  ambit_field_fill(f, start, NULL);
  ambit_field_fill(solid, wall, no_walls);
  ambit_field_boundary(f, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_field_boundary(to, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  for (int i = 0; i < 2; i++) {
    ambit_kernel *k = ambit_kernel_create(a, !in_place ? two : i ? odd : even);

    if (!in_place)
      ambit_apply(p, k, f, to, solid), ambit_swap(p, f, to);
    else if (i == 0)
      ambit_apply(p, k, f, solid);
    else
      ambit_apply(p, k, f, solid, mass);
  }
  ambit_run(p, 2);
  ambit_field_read(f, NULL, NULL, result->f);
  result->mass = ambit_scalar_get(mass);
  CHECK_OK(a);
  ambit_close(a);
}

/* One time step. */
static void step_here(float *f)
{
  static float g[Q * CELLS];

  for (int64_t c = 0; c < CELLS; c++) {
    float mean = 0;

    for (int i = 0; i < Q; i++)
      mean += 0.2f * f[c * Q + i];
    for (int i = 0; i < Q; i++)
      g[near(c, cy[i], cx[i]) * Q + i] = f[c * Q + i] + 0.7f * (mean - f[c * Q + i]);
  }
  memcpy(f, g, sizeof g);
}

static void one_field_gives_what_two_do(void)
{
  static state got;
  static float here[Q * CELLS];
  int free_of_walls = 1;
  double mass = 0; /* of the first place */

  for (int64_t i = 0; i < Q * CELLS; i++)
    here[i] = start_at((int)(i % Q), i / Q);
  for (int i = 0; i < 4; i++)
    step_here(here);
  EACH_PLACE(d)
  {
    play(*d, true, &free_of_walls, &got);
    CHECK_MSG(!memcmp(got.f, here, sizeof here), "one field on %s", *d);
    if (mass == 0) mass = got.mass;
    CHECK_MSG(mass == got.mass, "%s: %.17g %.17g", *d, mass, got.mass);
    if (compiles_slowly(*d)) continue;
    play(*d, false, &free_of_walls, &got);
    CHECK_MSG(!memcmp(got.f, here, sizeof here), "two fields on %s", *d);
  }
}

/* Solid cells that do nothing are solid cells that send everything back: what a cell sent there
 * comes back two steps later. The populations inside of walls are others. */
static void walls_are_cells_that_do_nothing(void)
{
  static state want, got;

  EACH_PLACE(d)
  {
    int wrong = 0;

    if (!compiles_slowly(*d)) play(*d, false, NULL, &want);
    play(*d, true, NULL, &got);
    for (int64_t c = 0; c < CELLS; c++)
      for (int i = 0; i < Q && wall((int64_t[]){c / COLUMNS, c % COLUMNS}, 0, NULL) == 0; i++)
        wrong += want.f[c * Q + i] != got.f[c * Q + i];
    CHECK_MSG(!wrong, "%d values on %s", wrong, *d);
  }
}

/* ---- the edge of the grid ---- */

/* Component 0 takes from the right, component 1 from two rows above; `more` is added. */
static const char edges[] =
    "void edges(float *f[2], float more)\n{\n"
    "  float a = outside(0, 1) ? 3 : f[0][0][1], b = outside(-2, 0) ? 5 : f[1][-2][0];\n"
    "  if (!outside(0, 1)) f[0][0][1] = 0.5f * b + more;\n"
    "  if (!outside(-2, 0)) f[1][-2][0] = a - 0.5f * b;\n}\n";

static void edges_here(float *f, int64_t first, int64_t end)
{
  for (int64_t c = first; c < end; c++) {
    float *right = c % COLUMNS < COLUMNS - 1 ? &f[2 * (c + 1)] : NULL;
    float *above = c / COLUMNS >= 2 ? &f[2 * (c - 2 * COLUMNS) + 1] : NULL;
    const float a = right ? *right : 3, b = above ? *above : 5;

    if (right) *right = 0.5f * b + 2;
    if (above) *above = a - 0.5f * b;
  }
}

static void values_do_not_leave_the_grid_under_a_test(void)
{
  static float want[2 * CELLS], got[2 * CELLS];

  for (int64_t i = 0; i < 2 * CELLS; i++)
    want[i] = start_at((int)(i % 2), i / 2);
  for (int i = 0; i < 3; i++) {
    edges_here(want, 0, CELLS);
    edges_here(want, 3 * COLUMNS, 9 * COLUMNS);
  }
  EACH_PLACE(d)
  {
    ambit *a = open_strict(*d);
    ambit_grid *g = grid_2d(a, ROWS, COLUMNS);
    ambit_field *f = ambit_field_create_vector(g, "f", AMBIT_F32, 2, AMBIT_SOA);
    ambit_kernel *k = ambit_kernel_create(a, edges);
    ambit_program *p = ambit_program_create(g);

    ambit_field_fill(f, start, NULL);
    ambit_field_boundary(f, AMBIT_FACE(0, 0), AMBIT_CLAMP, 0); /* does not matter */
    ambit_apply(p, k, f, 2.0);
    ambit_apply_box(p, AMBIT_INDEX(3, 0), AMBIT_INDEX(9, COLUMNS), k, f, 2.0);
    ambit_run(p, 3);
    ambit_field_read(f, NULL, NULL, got);
    CHECK_MSG(!memcmp(want, got, sizeof want), "%s", *d);
    CHECK_OK(a);
    ambit_close(a);
  }
}

/* Offsets longer than parts, and than the grid. */
static void values_may_go_far(void)
{
  static double want[CELLS], got[CELLS];

  for (int64_t i = 0; i < CELLS; i++)
    want[i] = start_at(0, i);
  for (int n = 0; n < 4; n++) {
    static double old[CELLS];

    memcpy(old, want, sizeof old);
    for (int64_t i = 0; i < CELLS; i++)
      want[near(i, -7, 75)] = 0.5 * old[near(i, -7, 75)] + (double)(i % COLUMNS);
  }
  EACH_PLACE(d)
  {
    if (compiles_slowly(*d)) continue;
    ambit *a = open_strict(*d);
    ambit_grid *g = grid_2d(a, ROWS, COLUMNS);
    ambit_field *u = ambit_field_create(g, "u", AMBIT_F64);
    ambit_program *p = ambit_program_create(g);

    ambit_field_fill(u, start, NULL);
    ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
    ambit_apply(
        p,
        ambit_kernel_create(a, "void far(double *u) { u[-7][75] = 0.5 * u[-7][75] + index(1); }"),
        u);
    ambit_run(p, 4);
    ambit_field_read(u, NULL, NULL, got);
    CHECK_MSG(!memcmp(want, got, sizeof want), "%s", *d);
    CHECK_OK(a);
    ambit_close(a);
  }
}

/* ---- refusals ---- */

/* A kernel of one or two parameters, both the field f of two components. */
static void refuse(const char *text, int n, ambit_order order, ambit_boundary kind,
                   const char *words)
{
  EACH_PLACE(d)
  {
    ambit *a = open_on(*d);
    ambit_grid *g = grid_2d(a, 12, 16);
    ambit_field *f = ambit_field_create_vector(g, "f", AMBIT_F32, 2, order);
    ambit_kernel *k = ambit_kernel_create(a, text);
    ambit_program *p = ambit_program_create(g);

    ambit_field_boundary(f, AMBIT_ALL_FACES, kind, 0);
    if (n == 2)
      ambit_apply(p, k, f, f);
    else
      ambit_apply(p, k, f);
    ambit_run(p, 1);
    CHECK_FAILED(a, order == AMBIT_AOS ? AMBIT_EUNSUPPORTED : AMBIT_EPROGRAM, words);
    ambit_close(a);
  }
}

static void other_boundaries_and_readers_are_refused(void)
{
  static const char right[] = "void right(float *f[2]) { f[0][0][1] = 1; }";

  refuse(right, 1, AMBIT_SOA, AMBIT_CLAMP,
         "the high face of axis 1: values can leave the grid only");
  refuse(right, 1, AMBIT_SOA, AMBIT_CONSTANT,
         "values can leave the grid only where it is periodic");
  refuse(right, 1, AMBIT_SOA, AMBIT_FIXED, "the boundary is fixed, and neighbours of these cells");
  refuse(right, 1, AMBIT_AOS, AMBIT_PERIODIC, "its order must be AMBIT_SOA");
  refuse("void f(float *f[2], const float *g[2]) { f[0][0][1] = *g[0]; }", 2, AMBIT_SOA,
         AMBIT_PERIODIC, "read by another parameter");
  refuse("void f(float *f[2]) { f[0][0][1] = 1; *f[1] = f[1][0][1]; }", 1, AMBIT_SOA,
         AMBIT_PERIODIC, "would depend on the order of cells");
}

static int is_active(const int64_t *i, void *user)
{
  (void)user;
  return i[0] != 2;
}

static void sparse_grids_are_refused(void)
{
  ambit *a = open_on("cpu");
  ambit_grid *g = ambit_grid_create_sparse(a, 1, AMBIT_INDEX(4), is_active, NULL);
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F32);
  ambit_program *p = ambit_program_create(g);

  ambit_apply(p, ambit_kernel_create(a, "void f(float *u) { if (!outside(1)) u[1] = 1; }"), u);
  ambit_run(p, 1);
  CHECK_FAILED(a, AMBIT_EUNSUPPORTED, "this is not possible on sparse grids");
  ambit_close(a);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"one_field_gives_what_two_do", one_field_gives_what_two_do},
      {"walls_are_cells_that_do_nothing", walls_are_cells_that_do_nothing},
      {"values_do_not_leave_the_grid_under_a_test", values_do_not_leave_the_grid_under_a_test},
      {"values_may_go_far", values_may_go_far},
      {"other_boundaries_and_readers_are_refused", other_boundaries_and_readers_are_refused},
      {"sparse_grids_are_refused", sparse_grids_are_refused},
      {NULL, NULL}};

  return test_main(argc, argv, tests);
}
