/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps in place: a kernel that writes cells of one colour reads neighbours of the other colour, on
 * all devices and parts as in plain C. Other kernels in place are refused, with the reason. */
#include "runtime/places.h"
#include "runtime/program/program.h"

enum { ROWS = 18, COLUMNS = 70, CELLS = ROWS * COLUMNS };

static double start(const int64_t *i, int component, void *user)
{
  (void)component;
  (void)user;
  return (double)((i[0] * 131 + i[1] * 17) % 251) / 16 - 7;
}

static float value_at(const float *u, int64_t i, int64_t j)
{
  const int64_t row = i < 0 ? 1 : i >= ROWS ? ROWS - 2 : i; /* reflect */
  const int64_t column = (j + COLUMNS) % COLUMNS;           /* periodic */

  return u[row * COLUMNS + column];
}

/* Relaxes the cells whose index along some axes, added up with `more`, is even. */
static void relax_here(float *u, bool rows, bool columns, int64_t more)
{
  for (int64_t i = 0; i < ROWS; i++)
    for (int64_t j = 0; j < COLUMNS; j++) {
      float *at = &u[i * COLUMNS + j];
      const float north = value_at(u, i - 1, j), south = value_at(u, i + 1, j);
      const float west = value_at(u, i, j - 1), east = value_at(u, i, j + 1);

      if ((i * rows + j * columns + more) % 2) continue;
      if (rows && columns)
        *at = 0.25f * (north + south + west + east);
      else
        *at = 0.5f * *at + 0.25f * (rows ? north + south : west + east);
    }
}

/* ---- kernels that write the cells of one colour ---- */

#define MEAN  "0.25f * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1])"
#define LINES "0.5f * *u + 0.25f * "

static const struct {
  const char *text;
  bool rows, columns;
} kernels[] = {
    {"void a(float *u, int k) { if ((index(0) + index(1)) % 2 == k) *u = " MEAN "; }", true, true},
    {"void b(float *u, int k) { long c = (index(0) + index(1) + k) & 1; if (!c) *u = " MEAN "; }",
     true, true},
    {"void c(float *u, int k) { *u = ((index(1) - index(0) + k) & 1) != 1 ? " MEAN " : *u; }", true,
     true},
    {"void d(float *u, int k)"
     "{ if (index(0) + index(1) + k & 1) { } else if (*u < 1e9f) *u = " MEAN "; }",
     true, true},
    {"void e(float *u, int k) { if ((index(0) ^ k) % 2 == 0) *u = " LINES "(u[-1][0] + u[1][0]); }",
     true, false},
    {"void f(float *u, int k)"
     "{ int c = (int)(index(1) % 2); if (k == c && 1 < 2) *u = " LINES "(u[0][-1] + u[0][1]); }",
     false, true},
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

static void play(const char *devices, int kernel, const char *plan, float *values)
{
  ambit *a = open_strict(devices);
  ambit_grid *g = grid_2d(a, ROWS, COLUMNS);
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F32);
  ambit_kernel *k = ambit_kernel_create(a, kernels[kernel].text);
  ambit_program *p = ambit_program_create(g);

  if (plan) ambit_option_set(a, "plan", plan);
  ambit_field_fill(u, start, NULL);
  ambit_field_boundary(u, AMBIT_AXIS(0), AMBIT_REFLECT, 0);
  ambit_field_boundary(u, AMBIT_AXIS(1), AMBIT_PERIODIC, 0);
  ambit_apply(p, k, u, 0.0);
  ambit_apply(p, k, u, 1.0);
  ambit_run(p, 5);
  ambit_field_read(u, NULL, NULL, values);
  CHECK_OK(a);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static void cells_of_one_colour_are_updated_in_place(void)
{
  static float want[CELLS], got[CELLS];

  for (int k = 0; k < KERNELS; k++) {
    for (int64_t i = 0; i < CELLS; i++)
      want[i] = (float)start((int64_t[]){i / COLUMNS, i % COLUMNS}, 0, NULL);
    for (int64_t i = 0; i < 10; i++)
      relax_here(want, kernels[k].rows, kernels[k].columns, i);
    EACH_PLACE(d)
    {
      if (k % 3 && compiles_slowly(*d)) continue;
      play(*d, k, NULL, got);
      CHECK_MSG(!memcmp(want, got, sizeof want), "kernel %d on %s", k, *d);
      if (strcmp(*d, "cuda") && strcmp(*d, "opencl")) continue;
      play(*d, k, "(strip", got);
      CHECK_MSG(!memcmp(want, got, sizeof want), "kernel %d in strips on %s", k, *d);
    }
  }
}

/* One step per iteration: the colour depends on the iteration. */
static void the_colour_may_change_with_the_iteration(void)
{
  static float want[CELLS], got[CELLS];

  for (int64_t i = 0; i < CELLS; i++)
    want[i] = (float)start((int64_t[]){i / COLUMNS, i % COLUMNS}, 0, NULL);
  for (int64_t i = 0; i < 7; i++)
    relax_here(want, true, true, i);
  EACH_PLACE(d)
  {
    ambit *a = open_strict(*d);
    ambit_grid *g = grid_2d(a, ROWS, COLUMNS);
    ambit_field *u = ambit_field_create(g, "u", AMBIT_F32);
    ambit_program *p = ambit_program_create(g);

    ambit_field_fill(u, start, NULL);
    ambit_field_boundary(u, AMBIT_AXIS(0), AMBIT_REFLECT, 0);
    ambit_field_boundary(u, AMBIT_AXIS(1), AMBIT_PERIODIC, 0);
    ambit_apply(p,
                ambit_kernel_create(a, "void relax(float *u) {"
                                       "if ((index(0) + index(1) + step()) % 2 == 0) *u = " MEAN
                                       "; }"),
                u);
    ambit_run(p, 7);
    ambit_field_read(u, NULL, NULL, got);
    CHECK_MSG(!memcmp(want, got, sizeof want), "%s", *d);
    CHECK_OK(a);
    ambit_close(a);
  }
}

/* ---- edges ---- */

/* A layer of ghost cells that the program fills itself, from the cells at the other end. */
static void fill_edges(float *u)
{
  for (int64_t j = 0; j < COLUMNS; j++) {
    u[j] = u[(ROWS - 2) * COLUMNS + j];
    u[(ROWS - 1) * COLUMNS + j] = u[COLUMNS + j];
  }
  for (int64_t i = 0; i < ROWS; i++) {
    u[i * COLUMNS] = u[i * COLUMNS + COLUMNS - 2];
    u[i * COLUMNS + COLUMNS - 1] = u[i * COLUMNS + 1];
  }
}

static void relax_inner(const float *u, float *v)
{
  for (int64_t i = 1; i < ROWS - 1; i++)
    for (int64_t j = 1; j < COLUMNS - 1; j++) {
      const float *c = &u[i * COLUMNS + j];

      v[i * COLUMNS + j] = 0.25f * (c[-COLUMNS] + c[COLUMNS] + c[-1] + c[1]);
    }
}

static void play_edges(const char *devices, const char *depth, int times, float *values)
{
  static const struct {
    int64_t lo[2], hi[2];
    const char *text;
  } edges[] = {{{0, 0}, {1, COLUMNS}, "void low(float *u) { *u = u[-2][0]; }"},
               {{ROWS - 1, 0}, {ROWS, COLUMNS}, "void high(float *u) { *u = u[2][0]; }"},
               {{0, 0}, {ROWS, 1}, "void left(float *u) { *u = u[0][-2]; }"},
               {{0, COLUMNS - 1}, {ROWS, COLUMNS}, "void right(float *u) { *u = u[0][2]; }"}};
  ambit *a = open_strict(devices);
  ambit_grid *g = grid_2d(a, ROWS, COLUMNS);
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F32),
              *v = ambit_field_create(g, "v", AMBIT_F32);
  ambit_program *p = ambit_program_create(g);

  ambit_option_set(a, "depth", depth);
  ambit_field_fill(u, start, NULL);
  ambit_field_fill(v, start, NULL);
  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_field_boundary(v, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  for (int i = 0; i < 4; i++)
    ambit_apply_box(p, edges[i].lo, edges[i].hi, ambit_kernel_create(a, edges[i].text), u);
  ambit_apply_box(p, AMBIT_INDEX(1, 1), AMBIT_INDEX(ROWS - 1, COLUMNS - 1),
                  ambit_kernel_create(a, "void relax(const float *u, float *v) { *v = " MEAN "; }"),
                  u, v);
  ambit_swap(p, u, v);
  ambit_run(p, times);
  ambit_field_read(u, NULL, NULL, values);
  CHECK_OK(a);
  ambit_close(a);
}

static void edges_are_filled_from_the_other_end_in_place(void)
{
  static const char *const depths[] = {"auto", "1", "3", "8"};
  static float fields[2][CELLS], got[CELLS];
  int now = 0;

  for (int64_t i = 0; i < CELLS; i++)
    fields[0][i] = fields[1][i] = (float)start((int64_t[]){i / COLUMNS, i % COLUMNS}, 0, NULL);
  for (int t = 0; t < 17; t++, now = 1 - now) {
    fill_edges(fields[now]);
    relax_inner(fields[now], fields[1 - now]);
  }
  EACH_PLACE(d)
  for (size_t k = 0; k < sizeof depths / sizeof *depths; k++) {
    if (k && compiles_slowly(*d)) continue;
    play_edges(*d, depths[k], 17, got);
    CHECK_MSG(!memcmp(fields[now], got, sizeof got), "depth %s on %s", depths[k], *d);
  }
}

/* ---- refusals ---- */

static void refuse(const char *text, int64_t columns, ambit_boundary kind, const char *words)
{
  EACH_PLACE(d)
  {
    ambit *a = open_on(*d);
    ambit_grid *g = grid_2d(a, 12, columns);
    ambit_field *u = ambit_field_create(g, "u", AMBIT_F32);
    ambit_program *p = ambit_program_create(g);

    ambit_field_boundary(u, AMBIT_ALL_FACES, kind, 0);
    ambit_apply(p, ambit_kernel_create(a, text), u);
    ambit_run(p, 1);
    CHECK_FAILED(a, AMBIT_EPROGRAM, words);
    ambit_close(a);
  }
}

static void other_kernels_in_place_are_refused(void)
{
  static const char order[] = "would depend on the order of cells";

  refuse("void f(float *u) { *u = u[0][1]; }", 16, AMBIT_CONSTANT, order);
  refuse("void f(float *u) { if (index(1) % 3 == 0) *u = u[0][1]; }", 16, AMBIT_CONSTANT, order);
  refuse("void f(float *u) { if (index(1) % 2 != 1) *u = u[0][1]; }", 16, AMBIT_CONSTANT, order);
  refuse("void f(float *u) { if (index(1) & 3) *u = u[0][1]; }", 16, AMBIT_CONSTANT, order);
  refuse("void f(float *u) { if (index(1) & 1) *u = u[0][1]; else *u = 0; }", 16, AMBIT_CONSTANT,
         order);
  refuse("void f(float *u) { long c = index(1) & 1; if (*u > 0) c = 1; if (c) *u = u[0][1]; }", 16,
         AMBIT_CONSTANT, order);
  refuse("void f(float *u) { if (index(1) & 1 || *u > 0) *u = u[0][1]; }", 16, AMBIT_CONSTANT,
         order);
}

static void reads_of_the_same_colour_are_refused(void)
{
  static const char red[] =
      "void f(float *u) { if ((index(0) + index(1)) % 2 == 0) *u = u[0][1]; }";

  refuse("void f(float *u) { if ((index(0) + index(1)) % 2 == 0) *u = u[1][1]; }", 16,
         AMBIT_CONSTANT, "this cell has the same colour");
  refuse("void f(float *u) { if (index(0) % 2 == 0) *u = u[0][1]; }", 16, AMBIT_CONSTANT,
         "this cell has the same colour");
  refuse(red, 16, AMBIT_CLAMP, "beyond the boundary there may be cells of the same colour");
  refuse(red, 15, AMBIT_PERIODIC, "beyond the boundary there may be cells of the same colour");
}

static int count(const ambit_program *p, ambit__op_kind kind)
{
  int n = 0;

  for (size_t i = 0; i < p->schedule.n; i++)
    n += p->schedule.ops[i].kind == kind;
  return n;
}

/* A step that writes what a step in place reads begins the exchange early, and no other begins it
 * again. */
static void an_exchange_before_a_step_in_place_begins_once(void)
{
  ambit *a = open_strict("cpu*2");
  ambit_grid *g = grid_2d(a, ROWS, COLUMNS);
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F32);
  ambit_program *p = ambit_program_create(g);

  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
  ambit_apply(p, ambit_kernel_create(a, "void damp(float *u) { *u = 0.5f * *u; }"), u);
  ambit_apply(p, ambit_kernel_create(a, kernels[0].text), u, 1);
  ambit_run(p, 3);
  CHECK_OK(a);
  if (ambit_processes(a) > 1) CHECK_EQ(1, count(p, OP_BEGIN));
  CHECK_EQ(count(p, OP_FINISH), count(p, OP_BEGIN));
  ambit_close(a);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"cells_of_one_colour_are_updated_in_place", cells_of_one_colour_are_updated_in_place},
      {"the_colour_may_change_with_the_iteration", the_colour_may_change_with_the_iteration},
      {"edges_are_filled_from_the_other_end_in_place",
       edges_are_filled_from_the_other_end_in_place},
      {"other_kernels_in_place_are_refused", other_kernels_in_place_are_refused},
      {"reads_of_the_same_colour_are_refused", reads_of_the_same_colour_are_refused},
      {"an_exchange_before_a_step_in_place_begins_once",
       an_exchange_before_a_step_in_place_begins_once},
      {NULL, NULL}};

  return test_main(argc, argv, tests);
}
