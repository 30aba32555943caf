/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of the user as steps, and maps of fields: on all devices, parts and processes as a
 * kernel does it, to the last bit. */
#include "ambit_stream.h"
#include "runtime/places.h"

enum { ROWS = 23, COLUMNS = 48, CELLS = ROWS * COLUMNS, STEPS = 5 };

static double start(const int64_t *i, int component, void *user)
{
  (void)user;
  return (double)((i[0] * 131 + i[1] * 17 + component * 7) % 251) / 16;
}

/* ---- the mean of four neighbours, of two components ---- */

static const char mean[] =
    "void mean(const float *u[2], float *v[2], const float *w) {"
    " for (int c = 0; c < 2; c++)"
    "   *v[c] = 0.25f * (u[c][-2][0] + u[c][2][0] + u[c][0][-1] + u[c][0][2]) + *w; }";

static const float *cell(const ambit_cells *f, const ambit_part *p, int64_t i, int64_t j, int c)
{
  return (const float *)f->values + (i - p->lo[0]) * f->stride[0] + (j - p->lo[1]) * f->stride[1] +
         c * f->component;
}

static int mean_here(const ambit_part *p, void *user)
{
  const ambit_cells *u = &p->fields[0], *v = &p->fields[1], *w = &p->fields[2];

  CHECK_EQ(3, p->nfields);
  CHECK_EQ(2, u->components);
  CHECK_EQ(COLUMNS, p->extent[1]);
  for (int64_t i = p->lo[0]; i < p->hi[0]; i++)
    for (int64_t j = p->lo[1]; j < p->hi[1]; j++)
      for (int c = 0; c < 2; c++) {
        const float near =
            ((*cell(u, p, i - 2, j, c) + *cell(u, p, i + 2, j, c)) + *cell(u, p, i, j - 1, c)) +
            *cell(u, p, i, j + 2, c);
        const float quarter = 0.25f * near;

        *(float *)(uintptr_t)cell(v, p, i, j, c) = quarter + *cell(w, p, i, j, 0);
      }
  *(int64_t *)user = p->step;
  return 0;
}

static void run_mean(const char *devices, bool own, ambit_boundary kind, ambit_order order,
                     float *values)
{
  ambit *a = open_strict(devices);
  ambit_grid *g = grid_2d(a, ROWS, COLUMNS);
  ambit_field *u = ambit_field_create_vector(g, "u", AMBIT_F32, 2, order);
  ambit_field *v = ambit_field_create_vector(g, "v", AMBIT_F32, 2, order);
  ambit_field *w = ambit_field_create(g, "w", AMBIT_F32);
  ambit_program *p = ambit_program_create(g);
  int64_t last = -1;

  ambit_field_fill(u, start, NULL);
  ambit_field_fill(v, start, NULL);
  ambit_field_boundary(u, AMBIT_ALL_FACES, kind, 3);
  ambit_field_boundary(u, AMBIT_AXIS(1), kind == AMBIT_PERIODIC ? kind : AMBIT_CONSTANT, -2);
  ambit_apply(p, ambit_kernel_create(a, "void tick(float *w) { *w += 0.5f; }"), w);
  if (own)
    ambit_apply_host(p, mean_here, &last, 3, (ambit_field *[]){u, v, w},
                     (unsigned[]){AMBIT_AROUND(2), AMBIT_WRITE, AMBIT_READ});
  else
    ambit_apply(p, ambit_kernel_create(a, mean), u, v, w);
  ambit_swap(p, u, v);
  ambit_run(p, STEPS);
  ambit_field_read(u, NULL, NULL, values);
  if (own) CHECK_EQ(STEPS - 1, last);
  CHECK_OK(a);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static void a_function_computes_what_a_kernel_does(void)
{
  static const ambit_boundary kinds[] = {AMBIT_CONSTANT, AMBIT_PERIODIC,  AMBIT_CLAMP,
                                         AMBIT_FIXED,    AMBIT_SYMMETRIC, AMBIT_ANTISYMMETRIC};
  static float want[2 * CELLS], got[2 * CELLS];

  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    const ambit_order order = k % 2 ? AMBIT_AOS : AMBIT_SOA;

    run_mean("cpu", false, kinds[k], order, want);
    EACH_PLACE(d)
    {
      run_mean(*d, true, kinds[k], order, got);
      CHECK_MSG(!memcmp(want, got, sizeof want), "%s, boundary %d", *d, (int)kinds[k]);
    }
  }
}

/* ---- other uses ---- */

/* Adds the numbers of the parts; fails in iteration `user`. */
static int count_here(const ambit_part *p, void *user)
{
  const ambit_cells *n = &p->fields[0];

  for (int64_t i = p->lo[0]; i < p->hi[0]; i++)
    for (int64_t j = p->lo[1]; j < p->hi[1]; j++)
      *((int64_t *)n->values + (i - p->lo[0]) * n->stride[0] + (j - p->lo[1]) * n->stride[1]) += 1;
  return p->number < p->count && p->step == *(const int64_t *)user ? 7 : 0;
}

static void a_function_can_update_in_place_every_n_iterations_and_fail(void)
{
  EACH_PLACE(d)
  {
    ambit *a = open_strict(*d);
    ambit_grid *g = grid_2d(a, ROWS, COLUMNS);
    ambit_field *n = ambit_field_create(g, "n", AMBIT_I64);
    ambit_program *p = ambit_program_create(g);
    static int64_t values[CELLS], at = 8;

    ambit_apply_host(p, count_here, &at, 1, &n, (unsigned[]){AMBIT_READ | AMBIT_WRITE});
    ambit_step_every(p, 3);
    ambit_run(p, 8);
    ambit_field_read(n, NULL, NULL, values);
    for (int i = 0; i < CELLS; i++)
      if (values[i] != 2) CHECK_MSG(0, "%s: cell %d is %lld", *d, i, (long long)values[i]);
    ambit_run(p, 1);
    CHECK_FAILED(a, AMBIT_EPROGRAM, "the function of step 1 returned 7 in iteration 8");
    ambit_close(a);
  }
}

static void a_field_is_mapped_between_runs(void)
{
  EACH_PLACE(d)
  {
    ambit *a = open_strict(*d);
    ambit_grid *g = grid_2d(a, ROWS, COLUMNS);
    ambit_field *u = ambit_field_create_vector(g, "u", AMBIT_F64, 2, AMBIT_SOA);
    const ambit_part *p;
    ambit_program *q;
    static double values[2 * CELLS];

    ambit_field_fill(u, start, NULL);
    for (int k = 0; k < ambit_grid_parts(g); k++) {
      p = ambit_field_map(u, k, AMBIT_READ | AMBIT_WRITE);
      if (!p) continue; /* ambit_close tells */
      for (int64_t i = p->lo[0]; i < p->hi[0]; i++)
        for (int64_t j = p->lo[1]; j < p->hi[1]; j++)
          for (int c = 0; c < 2; c++)
            *((double *)p->fields[0].values + (i - p->lo[0]) * p->fields[0].stride[0] +
              (j - p->lo[1]) * p->fields[0].stride[1] + c * p->fields[0].component) *= 2;
    }
    CHECK_EQ(AMBIT_OK, ambit_field_unmap(u));
    ambit_field_read(u, NULL, NULL, values);
    for (int i = 0; i < 2 * CELLS; i++)
      if (values[i] != 2 * start((int64_t[]){i / 2 / COLUMNS, i / 2 % COLUMNS}, i % 2, NULL))
        CHECK_MSG(0, "%s: value %d is %g", *d, i, values[i]);
    CHECK(!ambit_field_map(u, 0, 0));
    CHECK_FAILED(a, AMBIT_EINVAL, "field 'u' cannot be mapped");
    q = ambit_program_create(g);
    ambit_apply(q, ambit_kernel_create(a, "void k(double *u[2]) { *u[0] = 1; *u[1] = 2; }"), u);
    CHECK(ambit_field_map(u, 0, AMBIT_READ));
    ambit_run(q, 1);
    CHECK_FAILED(a, AMBIT_EPROGRAM, "field 'u' is mapped, and the program uses it");
    ambit_field_unmap(u);
    CHECK_EQ(AMBIT_OK, ambit_run(q, 1));
    CHECK_EQ(AMBIT_OK, ambit_close(a));
  }
}

static void wrong_functions_are_refused(void)
{
  ambit *a = open_on("cpu");
  ambit_grid *g = grid_2d(a, ROWS, COLUMNS);
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F32), *both[] = {u, u};
  ambit_program *p = ambit_program_create(g);

  ambit_apply_host(p, NULL, NULL, 1, &u, (unsigned[]){AMBIT_READ});
  CHECK_FAILED(a, AMBIT_EINVAL, "the function is NULL");
  ambit_apply_host(p, mean_here, NULL, 1, &u, (unsigned[]){0});
  CHECK_FAILED(a, AMBIT_EINVAL, "has mode 0");
  ambit_apply_host(p, mean_here, NULL, 1, &u, (unsigned[]){AMBIT_READ | 8});
  CHECK_FAILED(a, AMBIT_EINVAL, "field 'u' has mode 9");
  ambit_apply_host(p, mean_here, NULL, 1, &u, (unsigned[]){AMBIT_AROUND(1) | AMBIT_WRITE});
  CHECK_FAILED(a, AMBIT_EPROGRAM, "written and read around");
  ambit_apply_host(p, mean_here, NULL, 2, both, (unsigned[]){AMBIT_READ, AMBIT_WRITE});
  CHECK_FAILED(a, AMBIT_EPROGRAM, "appears twice");
  ambit_apply_host(p, mean_here, NULL, 1, &u, (unsigned[]){AMBIT_AROUND(1)});
  ambit_run(p, 1);
  CHECK_FAILED(a, AMBIT_EPROGRAM, "a function of the user reads around the cells of field 'u'");
  ambit_close(a);
}

static int no_item(int64_t item, void *values, void *user)
{
  (void)item, (void)values, (void)user;
  return 0;
}

static int take_none(int64_t item, const void *values, void *user)
{
  (void)item, (void)values, (void)user;
  return 0;
}

static void streams_have_no_such_steps(void)
{
  ambit *a = open_on("cpu");
  ambit_grid *g = grid_2d(a, ROWS, COLUMNS);
  ambit_field *n = ambit_field_create(g, "n", AMBIT_I64);
  ambit_program *p = ambit_program_create(g);
  int64_t at = -1;

  ambit_apply_host(p, count_here, &at, 1, &n, (unsigned[]){AMBIT_READ | AMBIT_WRITE});
  ambit_stream_run_with(ambit_stream_create(p, n, n), no_item, take_none, NULL);
  CHECK_FAILED(a, AMBIT_EPROGRAM, "a function of the user; programs of streams cannot");
  ambit_close(a);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"a_function_computes_what_a_kernel_does", a_function_computes_what_a_kernel_does},
      {"wrong_functions_are_refused", wrong_functions_are_refused},
      {"a_function_can_update_in_place_every_n_iterations_and_fail",
       a_function_can_update_in_place_every_n_iterations_and_fail},
      {"a_field_is_mapped_between_runs", a_field_is_mapped_between_runs},
      {"streams_have_no_such_steps", streams_have_no_such_steps},
      {NULL, NULL}};

  return test_main(argc, argv, tests);
}
