/* SPDX-License-Identifier: BSD-3-Clause */
/* Boundaries of single components: a field of four components gives the bits of four fields, on all
 * devices and parts. */
#include "runtime/objects/components.h"
#include "runtime/program/cycle.h"

enum { ROWS = 11, COLUMNS = 37, CELLS = ROWS * COLUMNS, FIELDS = 4 };

static const own_boundary own[FIELDS][2] = {
    {{AMBIT_AXIS(0), AMBIT_SYMMETRIC, 0}, {AMBIT_AXIS(1), AMBIT_CONSTANT, 3}},
    {{AMBIT_AXIS(0), AMBIT_ANTISYMMETRIC, 0}, {AMBIT_AXIS(1), AMBIT_CONSTANT, -2}},
    {{AMBIT_LOW(0), AMBIT_CONSTANT, 5}, {AMBIT_HIGH(1), AMBIT_REFLECT, 0}},
    {{AMBIT_HIGH(0), AMBIT_CLAMP, 0}, {AMBIT_LOW(1), AMBIT_ANTISYMMETRIC, 0}}};

#define MEAN(u) "0.2f * (" u "[-2][0] + " u "[1][0] + " u "[0][-1] + " u "[0][2] + " u "[-1][1])"

static void set_all(ambit_field *u)
{
  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
  for (int c = 0; c < FIELDS; c++)
    for (int b = 0; b < 2; b++)
      ambit_field_boundary_component(u, c, own[c][b].faces, own[c][b].kind, own[c][b].value);
}

static void components_have_boundaries_of_their_own(void)
{
  ambit *alone = open_strict("cpu");
  static float want[FIELDS * CELLS], got[FIELDS * CELLS];

  run_apart(alone, grid_2d(alone, ROWS, COLUMNS),
            "void mean(const float *u, float *v) { *v = " MEAN("u") "; }", FIELDS, own[0], 2, want);
  EACH_PLACE(d)
  {
    ambit *a = open_strict(*d);
    ambit_grid *g = grid_2d(a, ROWS, COLUMNS);
    ambit_field *u = ambit_field_create_vector(g, "u", AMBIT_F32, FIELDS, AMBIT_SOA);
    ambit_field *v = ambit_field_create_vector(g, "v", AMBIT_F32, FIELDS, AMBIT_SOA);
    ambit_program *p = ambit_program_create(g);

    ambit_field_fill(u, start, NULL);
    ambit_apply(p,
                ambit_kernel_create(a, "void mean(const float *u[4], float *v[4])"
                                       "{ for (int i = 0; i < 4; i++) *v[i] = " MEAN("u[i]") "; }"),
                u, v);
    ambit_swap(p, u, v);
    set_all(u);
    ambit_run(p, 2);
    ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CLAMP, 0); /* for all components again */
    set_all(u);
    ambit_run(p, 4);
    ambit_field_read(u, NULL, NULL, got);
    CHECK_MSG(!memcmp(want, got, sizeof want), "%s", *d);
    CHECK_OK(a);
    CHECK_EQ(AMBIT_OK, ambit_close(a));
  }
}

/* ---- several iterations at once ---- */

enum { BASIN_ROWS = 40, BASIN_COLUMNS = 150, BASIN = 3 * BASIN_ROWS * BASIN_COLUMNS };

/* A basin with walls: the flow through a wall changes its sign there. */
static const char *run_basin(const char *device, const char *depth, float *values)
{
  ambit *a = open_strict(device);
  ambit_grid *g = grid_2d(a, BASIN_ROWS, BASIN_COLUMNS);
  ambit_field *f[2];
  ambit_program *p = ambit_program_create(g);
  const char *refusal;

  ambit_option_set(a, "depth", depth);
  for (int i = 0; i < 2; i++) {
    f[i] = ambit_field_create_vector(g, i ? "v" : "u", AMBIT_F32, 3, AMBIT_SOA);
    ambit_field_fill(f[i], start, NULL);
    ambit_field_boundary(f[i], AMBIT_ALL_FACES, AMBIT_SYMMETRIC, 0);
    ambit_field_boundary_component(f[i], 1, AMBIT_AXIS(0), AMBIT_ANTISYMMETRIC, 0);
    ambit_field_boundary_component(f[i], 2, AMBIT_AXIS(1), AMBIT_ANTISYMMETRIC, 0);
    ambit_field_boundary_component(f[i], 0, AMBIT_LOW(1), AMBIT_CONSTANT, 0.5);
  }
  ambit_apply(
      p,
      ambit_kernel_create(
          a, "void basin(const float *u[3], float *v[3]) {"
             "*v[0] = *u[0] - 0.1f * (u[1][1][0] - u[1][-1][0] + u[2][0][1] - u[2][0][-1]);"
             "*v[1] = 0.9f * *u[1] - 0.1f * (u[0][1][0] - u[0][-1][0]) + 0.01f * u[1][1][-1];"
             "*v[2] = 0.9f * *u[2] - 0.1f * (u[0][0][1] - u[0][0][-1]) + 0.01f * u[2][-1][1]; }"),
      f[0], f[1]);
  ambit_swap(p, f[0], f[1]);
  ambit_run(p, 13);
  refusal = ambit_processes(a) > 1 ? NULL : ambit__cycle_refusal(p);
  ambit_field_read(f[0], NULL, NULL, values);
  CHECK_OK(a);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
  return refusal;
}

static void iterations_are_computed_together(void)
{
  static float want[BASIN], got[BASIN];

  run_basin("cpu", "1", want);
  EACH_PLACE(d)
  {
    const char *refusal = run_basin(*d, "3", got);

    CHECK_MSG(strcmp(*d, "cpu") || !refusal, "refused: %s", refusal);
    CHECK_MSG(!memcmp(want, got, sizeof want), "%s", *d);
  }
}

/* A boundary of the field replaces those of components. */
static void the_last_boundary_counts(void)
{
  EACH_PLACE(d)
  {
    ambit *a = open_strict(*d);
    ambit_grid *g = grid_2d(a, 3, 5);
    ambit_field *u = ambit_field_create_vector(g, "u", AMBIT_F32, 2, AMBIT_SOA);
    ambit_field *v = ambit_field_create(g, "v", AMBIT_F32);
    ambit_program *p = ambit_program_create(g);
    float corner = 0;

    ambit_field_set(u, 1);
    ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
    ambit_field_boundary_component(u, 1, AMBIT_LOW(0), AMBIT_CONSTANT, 40);
    ambit_apply(p,
                ambit_kernel_create(
                    a, "void f(const float *u[2], float *v) { *v = u[0][-1][0] + u[1][-1][0]; }"),
                u, v);
    ambit_run(p, 1);
    ambit_field_read(v, AMBIT_INDEX(0, 0), AMBIT_INDEX(1, 1), &corner);
    CHECK_NEAR(41.0, (double)corner, 0);
    ambit_field_boundary(u, AMBIT_LOW(0), AMBIT_CONSTANT, 7);
    ambit_run(p, 1);
    ambit_field_read(v, AMBIT_INDEX(0, 0), AMBIT_INDEX(1, 1), &corner);
    CHECK_NEAR(14.0, (double)corner, 0);
    CHECK_OK(a);
    ambit_close(a);
  }
}

static void wrong_boundaries_of_components_are_refused(void)
{
  ambit *a = open_on("cpu");
  ambit_grid *g = grid_2d(a, 6, 6);
  ambit_field *u = ambit_field_create_vector(g, "u", AMBIT_F32, 3, AMBIT_SOA);
  ambit_field *w = ambit_field_create_vector(g, "w", AMBIT_F32, 3, AMBIT_AOS);
  ambit_field *i = ambit_field_create_vector(g, "i", AMBIT_I32, 2, AMBIT_SOA);

  CHECK_EQ(AMBIT_EINVAL, ambit_field_boundary_component(NULL, 0, AMBIT_LOW(0), AMBIT_CLAMP, 0));
  ambit_field_boundary_component(u, 1, AMBIT_LOW(0), AMBIT_CLAMP, 0);
  CHECK_FAILED(a, AMBIT_EINVAL, "at the low face of axis 0 is none; set another kind");
  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_SYMMETRIC, 0);
  ambit_field_boundary(u, AMBIT_AXIS(1), AMBIT_PERIODIC, 0);
  ambit_field_boundary_component(u, 1, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
  CHECK_FAILED(a, AMBIT_EINVAL, "at the low face of axis 1 is periodic; set another kind");
  ambit_field_boundary_component(u, 3, AMBIT_LOW(0), AMBIT_CLAMP, 0);
  CHECK_FAILED(a, AMBIT_EINVAL, "has 3 components, and the boundary of component 3");
  ambit_field_boundary_component(u, 0, AMBIT_LOW(0), AMBIT_FIXED, 0);
  CHECK_FAILED(a, AMBIT_EINVAL, "a component alone cannot be fixed");
  ambit_field_boundary_component(u, 0, AMBIT_LOW(2), AMBIT_CLAMP, 0);
  CHECK_FAILED(a, AMBIT_EINVAL, "and the grid has 2 axes");
  ambit_field_boundary(i, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
  ambit_field_boundary_component(i, 0, AMBIT_LOW(0), AMBIT_ANTISYMMETRIC, 0);
  CHECK_FAILED(a, AMBIT_EINVAL, "only fields of real numbers");
  ambit_field_boundary(w, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
  ambit_field_boundary_component(w, 0, AMBIT_LOW(0), AMBIT_CONSTANT, 0);
  CHECK_FAILED(a, AMBIT_EUNSUPPORTED, "only in fields of order AMBIT_SOA");
  ambit_close(a);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"components_have_boundaries_of_their_own", components_have_boundaries_of_their_own},
      {"iterations_are_computed_together", iterations_are_computed_together},
      {"the_last_boundary_counts", the_last_boundary_counts},
      {"wrong_boundaries_of_components_are_refused", wrong_boundaries_of_components_are_refused},
      {NULL, NULL}};

  return test_main(argc, argv, tests);
}
