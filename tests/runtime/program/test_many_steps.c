/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs of thousands of steps: the time to prepare them is proportional to their number. */
#include <ambit.h>

#include "support/test.h"

#include <time.h>

enum { FEW = 512, MANY = 4 * FEW, ROWS = MANY, COLUMNS = 8 };

typedef struct many {
  ambit *a;
  ambit_program *p;
  ambit_field *u, *v;
  ambit_kernel *heat, *add, *most;
  ambit_scalar *top;
} many;

typedef void step_fn(const many *m, const int64_t *lo, const int64_t *hi);

static double add_row_and_column(const int64_t *i, int component, void *user)
{
  (void)component;
  (void)user;
  return (double)(i[0] + i[1]);
}

static many make(const char *devices)
{
  many m = {.a = ambit_open(NULL, NULL)};
  ambit_grid *g;

  ambit_option_set(m.a, "devices", devices);
  g = ambit_grid_create(m.a, 2, (const int64_t[]){ROWS, COLUMNS});
  m.u = ambit_field_create(g, "u", AMBIT_F64);
  m.v = ambit_field_create(g, "v", AMBIT_F64);
  m.top = ambit_scalar_create(m.a, "top", AMBIT_F64);
  m.p = ambit_program_create(g);
  ambit_field_boundary(m.u, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
  ambit_field_boundary(m.v, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
  ambit_field_fill(m.u, add_row_and_column, NULL);
  ambit_field_fill(m.v, add_row_and_column, NULL);
  m.heat = ambit_kernel_create(m.a, "void heat(const double *u, double *v) { *v = u[-1][0] + "
                                    "u[1][0] + u[0][-1] + u[0][1]; }");
  m.add = ambit_kernel_create(m.a, "void add(double *u, double x) { *u = *u + x; }");
  m.most = ambit_kernel_create(m.a, "void most(const double *u, max double *m) { *m = *u; }");
  return m;
}

/* ---- steps on a row ---- */

static void read_neighbours(const many *m, const int64_t *lo, const int64_t *hi)
{
  ambit_apply_box(m->p, lo, hi, m->heat, m->u, m->v);
}

static void swap_fields(const many *m, const int64_t *lo, const int64_t *hi)
{
  ambit_apply_box(m->p, lo, hi, m->heat, m->u, m->v);
  ambit_swap(m->p, m->u, m->v);
}

static void read_scalar(const many *m, const int64_t *lo, const int64_t *hi)
{
  ambit_apply_box(m->p, lo, hi, m->add, m->u, m->top);
}

static void reduce(const many *m, const int64_t *lo, const int64_t *hi)
{
  ambit_apply_box(m->p, lo, hi, m->most, m->u, m->top);
}

static void copy(const many *m, const int64_t *lo, const int64_t *hi)
{
  ambit_copy_box(m->p, m->u, lo, hi, m->v, lo);
}

static void run_rarely(const many *m, const int64_t *lo, const int64_t *hi)
{
  read_neighbours(m, lo, hi);
  ambit_step_every(m->p, 2);
}

static step_fn *const kinds[] = {read_neighbours, swap_fields, read_scalar,
                                 reduce,          copy,        run_rarely};
static const char *const names[] = {"read_neighbours", "swap_fields", "read_scalar",
                                    "reduce",          "copy",        "run_rarely"};

/* Seconds of processor time to prepare a program and to run it twice; the first run builds it. */
static double time_of(const char *devices, step_fn *add, int steps)
{
  many m = make(devices);
  clock_t start;

  for (int i = 0; i < steps; i++)
    add(&m, (const int64_t[]){i % ROWS, 0}, (const int64_t[]){i % ROWS + 1, COLUMNS});
  start = clock();
  ambit_run(m.p, 1);
  ambit_run(m.p, 1);
  start = clock() - start;
  CHECK_EQ(AMBIT_OK, ambit_close(m.a));
  return (double)start / CLOCKS_PER_SEC;
}

/* Four times as many take four times as long, not sixteen; the rest, and a few attempts, are for
 * noise. */
static void try_devices(const char *devices)
{
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    double few = 0, more = 0;

    time_of(devices, kinds[i], 4); /* compiles */
    for (int k = 0; k < 5 && !(k && more < 8 * few + 0.2); k++) {
      few = time_of(devices, kinds[i], FEW);
      more = time_of(devices, kinds[i], MANY);
    }
    CHECK_MSG(more < 8 * few + 0.2, "%s on %s: %d steps take %.3f s, %d take %.3f s", names[i],
              devices, FEW, few, MANY, more);
  }
}

static void the_time_to_prepare_is_proportional_to_the_steps(void)
{
  try_devices("cpu");
}

static void so_it_is_on_several_parts(void)
{
  try_devices("cpu*2");
}

/* Steps on boxes of equal extents share their functions, others do not. */
static void each_step_computes_its_own_box(void)
{
  many m = make("cpu");
  double cell;

  for (int64_t i = 0; i < ROWS; i++)
    ambit_apply_box(m.p, ((const int64_t[]){i, i % 3}), ((const int64_t[]){i + 1, 6}), m.add,
                    i % 2 ? m.u : m.v, i % 5 ? 1. : (double)i);
  ambit_run(m.p, 3);
  for (int64_t i = 0; i < ROWS; i++)
    for (int64_t j = 0; j < COLUMNS; j++) {
      const double added = j < i % 3 || j >= 6 ? 0 : i % 5 ? 3 : 3 * (double)i;

      ambit_field_read(i % 2 ? m.u : m.v, (const int64_t[]){i, j}, (const int64_t[]){i + 1, j + 1},
                       &cell);
      CHECK_EQ(i + j + (int64_t)added, cell);
    }
  CHECK_EQ(AMBIT_OK, ambit_close(m.a));
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"the_time_to_prepare_is_proportional_to_the_steps",
       the_time_to_prepare_is_proportional_to_the_steps},
      {"so_it_is_on_several_parts", so_it_is_on_several_parts},
      {"each_step_computes_its_own_box", each_step_computes_its_own_box},
      {0}};

  return test_main(argc, argv, tests);
}
