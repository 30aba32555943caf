/* SPDX-License-Identifier: BSD-3-Clause */
/* The option nan: NaN is found on every device, with kernel, field, cell and iteration; correct
 * programs run unchanged. Builds with access checks enable these as well. */
#include "ambit_compiled.h"
#include "runtime/faults/checked.h"
#include "support/capture.h"

#include <math.h>

/* ---- correct programs ---- */

static void nothing_is_said_of_a_program_that_is_right(void)
{
  EACH_DEVICE(d)
  {
    scene s = set_up(*d, AMBIT_F32, cross);

    CHECK_EQ(AMBIT_OK, ambit_run(s.p, 5));
    CHECK_OK(s.a);
    ambit_close(s.a);
  }
}

/* An iteration of a kernel with all language features gives equal bits with and without options. */
static void run_plain_or_checked(const char *device, const char *options, float *values,
                                 double *sum)
{
  static const char text[] = "void all(const float *u, float *v, sum double *s, min float *m)\n"
                             "{\n"
                             "  float w = 0.125f * (" CROSS " + *u);\n"
                             "  if (w > 2) *v = w; else *v = index(1) + extent(0) * step();\n"
                             "  *s = *v;\n"
                             "  *m = *v;\n"
                             "}\n";
  ambit *a = open_on(device);
  ambit_grid *g;
  ambit_field *u, *v;
  ambit_scalar *s, *m;
  ambit_program *p;

  set_checks(a, options);
  ambit_option_set(a, "strict", "1");
  g = grid_2d(a, ROWS, COLUMNS);
  u = ambit_field_create(g, "u", AMBIT_F32);
  v = ambit_field_create(g, "v", AMBIT_F32);
  s = ambit_scalar_create(a, "s", AMBIT_F64);
  m = ambit_scalar_create(a, "m", AMBIT_F32);
  p = ambit_program_create(g);
  ambit_field_fill(u, ramp, NULL);
  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_REFLECT, 0);
  ambit_apply(p, ambit_kernel_create(a, text), u, v, s, m);
  ambit_swap(p, u, v);
  ambit_run(p, 4);
  CHECK_OK(a);
  ambit_field_read(u, NULL, NULL, values);
  sum[0] = ambit_scalar_get(s);
  sum[1] = ambit_scalar_get(m);
  ambit_close(a);
}

static void results_are_what_they_are_without(void)
{
  EACH_DEVICE(d)
  {
    float plain[ROWS * COLUMNS], checked[ROWS * COLUMNS];
    double sums[2], checked_sums[2];

    run_plain_or_checked(*d, "0", plain, sums);
    run_plain_or_checked(*d, "1", checked, checked_sums);
    CHECK(!memcmp(plain, checked, sizeof plain));
    CHECK_NEAR(sums[0], checked_sums[0], 1e-9 * fabs(sums[0]));
    CHECK_EQ(sums[1], checked_sums[1]);
  }
}

static void nothing_is_checked_unless_asked_for(void)
{
  EACH_DEVICE(d)
  {
    ambit *a = open_on(*d);
    ambit_grid *g = grid_1d(a, 8);
    ambit_field *u = ambit_field_create(g, "u", AMBIT_F32);
    ambit_program *p = ambit_program_create(g);
    float values[8];

    ambit_apply(p, ambit_kernel_create(a, "void k(float *u) { *u = *u / *u; }"), u);
    CHECK_EQ(AMBIT_OK, ambit_run(p, 1));
    CHECK(!p->checker && !p->applies[0].functions[0]->checked);
    ambit_field_read(u, NULL, NULL, values);
    CHECK(isnan(values[7]));
    ambit_close(a);
  }
}

/* ---- NaN ---- */

static void zero_over_zero_is_told_by_cell_and_iteration(void)
{
  static const char text[] = "void heat(const float *u, float *v)\n"
                             "{\n"
                             "  *v = 0.25f * (" CROSS ");\n"
                             "  if (step() == 3 && index(0) == 5 && index(1) == 7)\n"
                             "    *v = (*u - *u) / (*u - *u);\n"
                             "}\n";

  EACH_DEVICE(d)
  {
    scene s = set_up(*d, AMBIT_F32, text);

    CHECK_EQ(AMBIT_OK, ambit_run(s.p, 3));
    ambit_run(s.p, 3);
    expect(&s,
           "kernel:5:5: error: kernel heat writes NaN to field 'v' at cell [5][7] in iteration 3\n"
           "    *v = (*u - *u) / (*u - *u);\n"
           "    ^~\n"
           "  no value read for it is NaN: this arithmetic produced it");
  }
}

/* Of a field of several components, in double. */
static void the_component_is_told(void)
{
  static const char text[] = "void k(const double *f[2], double *g[3])\n"
                             "{\n"
                             "  *g[0] = *f[0];\n"
                             "  *g[1] = sqrt(2 - f[1][0][1]);\n"
                             "  *g[2] = 1;\n"
                             "}\n";

  EACH_DEVICE(d)
  for (int order = 0; order < 2; order++) {
    scene s = {.a = open_on(*d)};
    ambit_field *f, *g;

    ambit_option_set(s.a, "nan", "1");
    s.g = grid_2d(s.a, ROWS, COLUMNS);
    f = ambit_field_create_vector(s.g, "f", AMBIT_F64, 2, (ambit_order)order);
    g = ambit_field_create_vector(s.g, "g", AMBIT_F64, 3, (ambit_order)order);
    ambit_field_boundary(f, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
    ambit_field_fill(f, ramp, NULL);
    s.p = ambit_program_create(s.g);
    ambit_apply(s.p, ambit_kernel_create(s.a, text), f, g);
    ambit_run(s.p, 1);
    expect(&s, "kernel k writes NaN to component 1 of field 'g' at cell [0][1] in iteration 0");
  }
}

static void a_value_that_nobody_gave_is_named(void)
{
  const int64_t hi[] = {4, COLUMNS};
  float *some = calloc(4 * COLUMNS, sizeof *some);

  EACH_DEVICE(d)
  {
    scene s = set_up(*d, AMBIT_F32, cross);
    ambit_field *w = ambit_field_create(s.g, "w", AMBIT_F32);

    ambit_field_boundary(w, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
    ambit_field_write(w, NULL, hi, some);
    ambit_apply(s.p, ambit_kernel_create(s.a, cross), w, s.v);
    ambit_run(s.p, 1);
    expect(&s, "kernel cross writes NaN to field 'v' at cell [3][0] in iteration 0\n"
               "    *v = 0.25f * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1]);\n"
               "    ^~\n"
               "  an input is NaN: field 'w' at offset [1][0], cell [4][0], which was never set");
  }
  free(some);
}

/* A NaN set by the user, in a field, a scalar and a number. */
static void where_a_nan_comes_from_is_told(void)
{
  static const char text[] = "void k(const float *u, float *v, float x, double y)\n"
                             "{ *v = *u > 2 ? x : (float)y; }";

  EACH_DEVICE(d)
  for (int way = 0; way < 3; way++) {
    ambit *a = open_on(*d);
    ambit_grid *g;
    ambit_field *u, *v;
    ambit_scalar *x;
    ambit_program *p;

    ambit_option_set(a, "nan", "1");
    g = grid_2d(a, ROWS, COLUMNS);
    u = ambit_field_create(g, "u", AMBIT_F32);
    v = ambit_field_create(g, "v", AMBIT_F32);
    x = ambit_scalar_create(a, "x", AMBIT_F32);
    p = ambit_program_create(g);
    ambit_field_fill(u, ramp, NULL);
    ambit_scalar_set(x, way == 0 ? (double)NAN : 1);
    ambit_apply(p, ambit_kernel_create(a, text), u, v, x, way == 1 ? (double)NAN : 2.0);
    if (way == 2) {
      ambit_field_set(u, (double)NAN);
      ambit_apply(p, ambit_kernel_create(a, "void l(float *v, const float *u) { *v += *u; }"), v,
                  u);
    }
    ambit_run(p, 1);
    CHECK_FAILED(a, AMBIT_EPROGRAM,
                 way == 0   ? "field 'v' at cell [0][3] in iteration 0\n"
                 : way == 1 ? "field 'v' at cell [0][0] in iteration 0\n"
                            : "kernel l writes NaN to field 'v' at cell [0][0] in iteration 0\n");
    ambit_close(a);
  }
}

static void the_words_about_where_a_nan_comes_from(void)
{
  EACH_DEVICE(d)
  {
    ambit *a = open_on(*d);
    ambit_scalar *x, *y;
    ambit_program *p;
    ambit_field *f;

    ambit_option_set(a, "nan", "1");
    x = ambit_scalar_create(a, "x", AMBIT_F64);
    y = ambit_scalar_create(a, "y", AMBIT_F64);
    p = ambit_program_create(grid_1d(a, 4));
    f = ambit_field_create(p->grid, "f", AMBIT_F32);
    ambit_scalar_set(x, (double)NAN);
    ambit_apply(p, ambit_kernel_create(a, "void half(const double *x, double *y) { *y = *x / 2; }"),
                x, y);
    ambit_run(p, 1);
    CHECK_FAILED(a, AMBIT_EPROGRAM,
                 "kernel half writes NaN to scalar 'y' in iteration 0\n"
                 "    void half(const double *x, double *y) { *y = *x / 2; }\n"
                 "                                            ^~\n"
                 "  an input is NaN: scalar 'x'");
    p = ambit_program_create(p->grid);
    ambit_apply(p, ambit_kernel_create(a, "void set(float *f, float k) { *f = k; }"), f,
                (double)NAN);
    ambit_run(p, 1);
    CHECK_FAILED(a, AMBIT_EPROGRAM, "  an input is NaN: the number passed for k");
    ambit_close(a);
  }
}

static void reductions_are_looked_at(void)
{
  EACH_DEVICE(d)
  for (int way = 0; way < 2; way++) {
    static const char *const texts[] = {
        "void k(const float *u, sum float *s) { *s = sqrtf(20 - *u); }",
        "void k(const float *u, sum float *s) { *s = index(0) ? 1 / (*u - *u) : -1 / (*u - *u); }"};
    ambit *a = open_on(*d);
    ambit_scalar *total;
    ambit_field *u;
    ambit_program *p;

    ambit_option_set(a, "nan", "1");
    p = ambit_program_create(grid_2d(a, ROWS, COLUMNS));
    u = ambit_field_create(p->grid, "u", AMBIT_F32);
    total = ambit_scalar_create(a, "total", AMBIT_F32);
    ambit_field_fill(u, ramp, NULL);
    ambit_apply(p, ambit_kernel_create(a, texts[way]), u, total);
    ambit_run(p, 2);
    CHECK_FAILED(a, AMBIT_EPROGRAM,
                 way ? "kernel k reduces to NaN: scalar 'total' in iteration 0"
                     : "kernel k reduces NaN to scalar 'total' at cell [6][3] in iteration 0");
    ambit_close(a);
  }
}

/* ---- NaN that is not a fault ---- */

/* Cells that a kernel keeps, and cells that no step computes, may hold any value. */
static void cells_that_are_not_written_may_hold_anything(void)
{
  static const char text[] = "void some(const float *u, float *v)\n"
                             "{ if (index(0) > 3) *v = *u; }";

  EACH_DEVICE(d)
  {
    const int64_t lo[] = {2, 2}, hi[] = {4, 4};
    scene s = {.a = open_on(*d)};
    float values[ROWS * COLUMNS];

    set_checks(s.a, "1");
    s.g = grid_2d(s.a, ROWS, COLUMNS);
    s.u = ambit_field_create(s.g, "u", AMBIT_F32);
    s.v = ambit_field_create(s.g, "v", AMBIT_F32);
    ambit_field_fill(s.u, ramp, NULL);
    s.p = ambit_program_create(s.g);
    ambit_apply(s.p, ambit_kernel_create(s.a, text), s.u, s.v);
    ambit_apply_box(s.p, lo, hi, ambit_kernel_create(s.a, "void one(float *v) { *v = 1; }"), s.v);
    CHECK_EQ(AMBIT_OK, ambit_run(s.p, 2));
    CHECK_OK(s.a);
    ambit_field_read(s.v, NULL, NULL, values);
    CHECK(isnan(values[0]));
    CHECK_EQ(1, values[3 * COLUMNS + 3]);
    CHECK_EQ(12, values[4 * COLUMNS]);
    ambit_close(s.a);
  }
}

static void fixed_cells_are_copies_and_not_poison(void)
{
  EACH_DEVICE(d)
  {
    scene s = set_up(*d, AMBIT_F32, cross);
    float values[ROWS * COLUMNS];

    ambit_field_boundary(s.u, AMBIT_ALL_FACES, AMBIT_FIXED, 0);
    CHECK_EQ(AMBIT_OK, ambit_run(s.p, 4));
    CHECK_OK(s.a);
    ambit_field_read(s.u, NULL, NULL, values);
    CHECK_EQ(3 * (ROWS - 1), values[(ROWS - 1) * COLUMNS]);
    ambit_close(s.a);
  }
}

static void a_new_field_of_whole_numbers_has_a_pattern(void)
{
  EACH_DEVICE(d)
  {
    scene s = set_up(*d, AMBIT_I32, "void k(const int *u, int *v) { *v = *u + 1; }");
    ambit_field *w = ambit_field_create(s.g, "w", AMBIT_I16);
    int16_t values[ROWS * COLUMNS];

    CHECK_EQ(AMBIT_OK, ambit_run(s.p, 2));
    ambit_field_read(w, NULL, NULL, values);
    CHECK_EQ((int16_t)0xe5e5, values[ROWS * COLUMNS - 1]);
    CHECK_OK(s.a);
    ambit_close(s.a);
  }
}

/* ---- registered kernels ---- */

static void by_hand(const ambit_compiled_call *call)
{
  const float *u = call->origin[0];
  float *v = call->origin[1];

  for (int64_t i = call->lo[0]; i < call->hi[0]; i++)
    for (int64_t j = call->lo[1]; j < call->hi[1]; j++)
      v[i * call->stride[1][0] + j] =
          i == 4 && j == 2 && call->step == 1 ? NAN : u[(i + 1) * call->stride[0][0] + j];
}

static void a_registered_function_is_checked_from_outside(void)
{
  static const char text[] = "void down(const float *u, float *v) { *v = u[1][0]; }";
  const char *said;
  scene s;

  CHECK_EQ(AMBIT_OK, ambit_register_cpu(text, by_hand));
  capture_begin();
  s = set_up("cpu", AMBIT_F32, text);
  ambit_option_set(s.a, "verbose", "0");
  ambit_apply(s.p, ambit_kernel_create(s.a, text), s.u, s.v);
  CHECK_EQ(AMBIT_OK, ambit_run(s.p, 1));
  said = capture_end();
  CHECK(strstr(said, "kernel down is a registered function, which cannot be instrumented"));
  CHECK(!strstr(strstr(said, "instrumented") + 1, "instrumented"));
  ambit_run(s.p, 1);
  expect(&s, "kernel down writes NaN to field 'v' at cell [4][2] in iteration 1\n");
}

static void kernels_that_are_interpreted_are_checked(void)
{
  scene s = {.a = open_on("cpu")};

  ambit_option_set(s.a, "cc", "none");
  set_checks(s.a, "1");
  s.g = grid_2d(s.a, ROWS, COLUMNS);
  s.u = ambit_field_create(s.g, "u", AMBIT_F32);
  s.v = ambit_field_create(s.g, "v", AMBIT_F32);
  s.p = ambit_program_create(s.g);
  ambit_apply(s.p,
              ambit_kernel_create(s.a, "void half(const float *u, float *v) { *v = 0.5f * *u; }"),
              s.u, s.v);
  ambit_run(s.p, 1);
  expect(&s, "kernel half writes NaN to field 'v' at cell [0][0] in iteration 0\n");
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"nothing_is_said_of_a_program_that_is_right", nothing_is_said_of_a_program_that_is_right},
      {"results_are_what_they_are_without", results_are_what_they_are_without},
      {"nothing_is_checked_unless_asked_for", nothing_is_checked_unless_asked_for},
      {"zero_over_zero_is_told_by_cell_and_iteration",
       zero_over_zero_is_told_by_cell_and_iteration},
      {"the_component_is_told", the_component_is_told},
      {"a_value_that_nobody_gave_is_named", a_value_that_nobody_gave_is_named},
      {"where_a_nan_comes_from_is_told", where_a_nan_comes_from_is_told},
      {"the_words_about_where_a_nan_comes_from", the_words_about_where_a_nan_comes_from},
      {"reductions_are_looked_at", reductions_are_looked_at},
      {"cells_that_are_not_written_may_hold_anything",
       cells_that_are_not_written_may_hold_anything},
      {"fixed_cells_are_copies_and_not_poison", fixed_cells_are_copies_and_not_poison},
      {"a_new_field_of_whole_numbers_has_a_pattern", a_new_field_of_whole_numbers_has_a_pattern},
      {"a_registered_function_is_checked_from_outside",
       a_registered_function_is_checked_from_outside},
      {"kernels_that_are_interpreted_are_checked", kernels_that_are_interpreted_are_checked},
      {0}};

  return test_main(argc, argv, tests);
}
