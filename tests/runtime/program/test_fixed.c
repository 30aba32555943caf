/* SPDX-License-Identifier: BSD-3-Clause */
/* Fixed faces: cells whose neighbourhood would leave the grid keep the user's values, after any
 * number of swaps, although only one of the fields was filled. */
#include "runtime/runtime_test.h"

enum { ROWS = 9, COLUMNS = 37, CELLS = ROWS * COLUMNS };

static const char near_rule[] = "void near(const double *u, double *v)\n"
                                "{\n"
                                "  *v = 0.25 * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1]);\n"
                                "}";
static const char far_rule[] = "void far(const double *u, double *v)\n"
                               "{\n"
                               "  *v = 0.5 * (u[-2][0] + u[0][3]);\n"
                               "}";

static double hills(const int64_t *index, int component, void *user)
{
  (void)component;
  return (double)((index[0] * 31 + index[1] * 17) % 23) + *(const double *)user;
}

/* One iteration as defined in ambit.h, in plain loops. */
static void iterate(const char *rule, const double *u, double *v)
{
  bool is_near = rule == near_rule;

  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) {
      const double *c = u + i * COLUMNS + j;
      bool inside =
          is_near ? i >= 1 && i < ROWS - 1 && j >= 1 && j < COLUMNS - 1 : i >= 2 && j < COLUMNS - 3;

      v[i * COLUMNS + j] = !inside   ? *c
                           : is_near ? 0.25 * (c[-COLUMNS] + c[COLUMNS] + c[-1] + c[1])
                                     : 0.5 * (c[-2 * COLUMNS] + c[3]);
    }
}

static void expect(const char *rule, int iterations, double *values)
{
  static double next[CELLS];

  for (int n = 0; n < iterations; n++) {
    iterate(rule, values, next);
    memcpy(values, next, sizeof next);
  }
}

typedef struct scene {
  ambit *a;
  ambit_field *u, *v;
  ambit_program *p;
} scene;

static scene set_up(const char *device, const char *rule)
{
  scene s = {.a = open_on(device)};
  ambit_grid *g = grid_2d(s.a, ROWS, COLUMNS);

  ambit_option_set(s.a, "strict", "1");
  s.u = ambit_field_create(g, "u", AMBIT_F64);
  s.v = ambit_field_create(g, "v", AMBIT_F64);
  s.p = ambit_program_create(g);
  ambit_field_boundary(s.u, AMBIT_ALL_FACES, AMBIT_FIXED, 0);
  ambit_apply(s.p, ambit_kernel_create(s.a, rule), s.u, s.v);
  ambit_swap(s.p, s.u, s.v);
  return s;
}

/* Fills u, runs, and compares all of u with plain loops. */
static void check_run(const scene *s, const char *rule, double height, int iterations)
{
  static double got[CELLS], want[CELLS];
  int wrong = 0;

  ambit_field_fill(s->u, hills, &height);
  for (int64_t i = 0; i < CELLS; i++)
    want[i] = hills((const int64_t[]){i / COLUMNS, i % COLUMNS}, 0, &height);
  expect(rule, iterations, want);
  ambit_run(s->p, iterations);
  ambit_field_read(s->u, NULL, NULL, got);
  CHECK_OK(s->a);
  for (int i = 0; i < CELLS; i++)
    wrong += want[i] != got[i];
  CHECK_MSG(!wrong, "%d cells differ after %d iterations", wrong, iterations);
}

static void fixed_cells_keep_their_values_over_many_swaps(void)
{
  EACH_DEVICE(device)
  {
    scene s = set_up(*device, near_rule);

    check_run(&s, near_rule, 1, 25);
    ambit_close(s.a);
  }
}

static void a_one_sided_rule_frees_the_other_side(void)
{
  EACH_DEVICE(device)
  {
    scene s = set_up(*device, far_rule);

    check_run(&s, far_rule, 1, 8);
    ambit_close(s.a);
  }
}

static void refilled_fields_start_anew_after_odd_and_even_runs(void)
{
  EACH_DEVICE(device)
  {
    scene s = set_up(*device, near_rule);

    check_run(&s, near_rule, 1, 3);
    check_run(&s, near_rule, 100, 4);
    check_run(&s, near_rule, -5, 1);
    ambit_close(s.a);
  }
}

static void a_run_goes_on_where_the_last_one_stopped(void)
{
  EACH_DEVICE(device)
  {
    scene s = set_up(*device, near_rule);
    static double got[CELLS], want[CELLS];
    double height = 2;

    ambit_field_fill(s.u, hills, &height);
    ambit_field_read(s.u, NULL, NULL, want);
    expect(near_rule, 7, want);
    ambit_run(s.p, 3);
    ambit_run(s.p, 4);
    ambit_field_read(s.u, NULL, NULL, got);
    CHECK(!memcmp(want, got, sizeof got));
    CHECK_EQ(AMBIT_OK, ambit_close(s.a));
  }
}

static void a_grid_smaller_than_the_radius_never_changes(void)
{
  EACH_DEVICE(device)
  {
    ambit *a = open_on(*device);
    ambit_grid *g = grid_2d(a, 2, 3);
    ambit_field *u = ambit_field_create(g, "u", AMBIT_F64);
    ambit_field *v = ambit_field_create(g, "v", AMBIT_F64);
    ambit_program *p = ambit_program_create(g);
    const double values[] = {1, 2, 3, 4, 5, 6};
    double got[6];

    ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_FIXED, 0);
    ambit_field_write(u, NULL, NULL, values);
    ambit_apply(p, ambit_kernel_create(a, far_rule), u, v);
    ambit_swap(p, u, v);
    ambit_run(p, 5);
    ambit_field_read(u, NULL, NULL, got);
    CHECK(!memcmp(values, got, sizeof got));
    CHECK_EQ(AMBIT_OK, ambit_close(a));
  }
}

/* Fixed along one axis, periodic along the other. */
static void only_the_faces_that_are_fixed_keep_their_cells(void)
{
  EACH_DEVICE(device)
  {
    scene s = set_up(*device, near_rule);
    double got[COLUMNS], height = 0;
    const int64_t lo[] = {1, 0}, hi[] = {2, COLUMNS};

    ambit_field_boundary(s.u, AMBIT_AXIS(1), AMBIT_PERIODIC, 0);
    ambit_field_fill(s.u, hills, &height);
    ambit_run(s.p, 1);
    ambit_field_read(s.u, lo, hi, got);
    CHECK_OK(s.a);
    for (int64_t j = 0; j < COLUMNS; j++) {
      const int64_t left[] = {1, (j + COLUMNS - 1) % COLUMNS}, right[] = {1, (j + 1) % COLUMNS};
      const int64_t up[] = {0, j}, down[] = {2, j};
      double sum = hills(up, 0, &height) + hills(down, 0, &height);

      CHECK_NEAR(0.25 * (sum + hills(left, 0, &height) + hills(right, 0, &height)), got[j], 1e-12);
    }
    ambit_close(s.a);
  }
}

/* Values that the user wrote to the second field are kept. */
static void a_second_field_with_values_of_its_own_keeps_them(void)
{
  EACH_DEVICE(device)
  {
    scene s = set_up(*device, near_rule);
    double corner, height = 3;
    const int64_t lo[] = {0, 0}, hi[] = {1, 1};

    ambit_field_fill(s.u, hills, &height);
    ambit_field_set(s.v, 1000);
    ambit_run(s.p, 1);
    ambit_field_read(s.u, lo, hi, &corner);
    CHECK_EQ(1000, corner);
    CHECK_EQ(AMBIT_OK, ambit_close(s.a));
  }
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"fixed_cells_keep_their_values_over_many_swaps",
       fixed_cells_keep_their_values_over_many_swaps},
      {"a_one_sided_rule_frees_the_other_side", a_one_sided_rule_frees_the_other_side},
      {"refilled_fields_start_anew_after_odd_and_even_runs",
       refilled_fields_start_anew_after_odd_and_even_runs},
      {"a_run_goes_on_where_the_last_one_stopped", a_run_goes_on_where_the_last_one_stopped},
      {"a_grid_smaller_than_the_radius_never_changes",
       a_grid_smaller_than_the_radius_never_changes},
      {"only_the_faces_that_are_fixed_keep_their_cells",
       only_the_faces_that_are_fixed_keep_their_cells},
      {"a_second_field_with_values_of_its_own_keeps_them",
       a_second_field_with_values_of_its_own_keeps_them},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
