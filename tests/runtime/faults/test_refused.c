/* SPDX-License-Identifier: BSD-3-Clause */
/* Rejected programs and their messages: wrong arguments, unsafe orders, reads outside the grid.
 * Similar programs that are correct. */
#define _XOPEN_SOURCE 700
#include "runtime/runtime_test.h"
#include "support/capture.h"

#include <math.h>

typedef struct scene {
  ambit *a;
  ambit_grid *g;
  ambit_field *u, *v; /* of float */
  ambit_scalar *s;    /* of double */
  ambit_program *p;
} scene;

static scene set_up(const char *device)
{
  scene s = {.a = open_on(device)};

  s.g = grid_2d(s.a, 5, 6);
  s.u = ambit_field_create(s.g, "heat", AMBIT_F32);
  s.v = ambit_field_create(s.g, "next", AMBIT_F32);
  s.s = ambit_scalar_create(s.a, "total", AMBIT_F64);
  s.p = ambit_program_create(s.g);
  return s;
}

static ambit_kernel *kernel(const scene *s, const char *text)
{
  return ambit_kernel_create(s->a, text);
}

/* ---- arguments ---- */

static void the_number_of_arguments_must_be_that_of_the_parameters(void)
{
  scene s = set_up("ref");
  ambit_kernel *k = kernel(&s, "void copy(const float *u, float *v) { *v = *u; }");

  ambit_apply(s.p, k, s.u);
  CHECK_FAILED(s.a, AMBIT_EINVAL, "kernel copy has 2 parameters, and 1 arguments were given");
  ambit_apply(s.p, k, s.u, s.v, 1.0);
  CHECK_FAILED(s.a, AMBIT_EINVAL, "kernel copy has 2 parameters, and 3 arguments were given");
  ambit_close(s.a);
}

static void an_argument_must_be_of_the_kind_of_its_parameter(void)
{
  scene s = set_up("ref");
  ambit_kernel *k = kernel(&s, "void mix(const float *u, float *v, float k, sum double *r)\n"
                               "{ *v = k * u[0][1]; *r = *v; }");

  ambit_apply(s.p, k, 1.0, s.v, 1.0, s.s);
  CHECK_FAILED(s.a, AMBIT_EINVAL, "kernel mix: parameter 'u' is a pointer: it takes a field");
  ambit_apply(s.p, k, s.u, s.v, s.u, s.s);
  CHECK_FAILED(s.a, AMBIT_EINVAL, "parameter 'k' takes a number or a scalar, but field 'heat'");
  ambit_apply(s.p, k, s.u, s.v, 1.0, s.u);
  CHECK_FAILED(s.a, AMBIT_EINVAL, "parameter 'r' takes a scalar or a field of fewer axes");
  ambit_apply(s.p, k, s.u, s.v, 1.0, 2.0);
  CHECK_FAILED(s.a, AMBIT_EINVAL, "parameter 'r' is a sum: it takes a scalar");
  ambit_apply(s.p, k, s.s, s.v, 1.0, s.s);
  CHECK_FAILED(s.a, AMBIT_EINVAL, "parameter 'u' is read like a field, but scalar 'total'");
  ambit_apply(s.p, k, s.u, s.s, 1.0, s.s);
  CHECK_FAILED(s.a, AMBIT_EINVAL, "say how the cells are combined");
  ambit_close(s.a);
}

static void types_and_components_must_be_equal(void)
{
  scene s = set_up("ref");
  ambit_field *d = ambit_field_create(s.g, "d", AMBIT_F64);
  ambit_field *pair = ambit_field_create_vector(s.g, "pair", AMBIT_F32, 2, AMBIT_SOA);
  ambit_kernel *k = kernel(&s, "void k(const float *u, float *v, float k) { *v = k * *u; }");

  ambit_apply(s.p, k, d, s.v, 1);
  CHECK_FAILED(s.a, AMBIT_EINVAL, "kernel k: parameter 'u' is float, but field 'd' is double");
  ambit_apply(s.p, k, s.u, pair, 1);
  CHECK_FAILED(s.a, AMBIT_EINVAL, "parameter 'v' has 1 component, but field 'pair' has 2");
  ambit_apply(s.p, k, s.u, s.v, s.s);
  CHECK_FAILED(s.a, AMBIT_EINVAL, "parameter 'k' is float, but scalar 'total' is double");
  ambit_close(s.a);
}

/* In C a fraction is dropped without a word. */
static void a_number_for_an_integer_must_be_one_of_its_values(void)
{
  scene s = set_up("ref");
  ambit_scalar *n = ambit_scalar_create(s.a, "n", AMBIT_I32);
  ambit_field *b = ambit_field_create_vector(s.g, "b", AMBIT_U8, 2, AMBIT_SOA);
  ambit_kernel *k = kernel(&s, "void k(const float *u, float *v, int n) { *v = n * *u; }");

  ambit_apply(s.p, k, s.u, s.v, 2.5);
  CHECK_FAILED(s.a, AMBIT_EINVAL, "kernel k: parameter 'n' is int and cannot be 2.5: give a whole");
  ambit_apply(s.p, k, s.u, s.v, NAN);
  CHECK_FAILED(s.a, AMBIT_EINVAL, "parameter 'n' is int and cannot be nan");
  ambit_scalar_set(n, -0.5);
  CHECK_FAILED(s.a, AMBIT_EINVAL, "scalar 'n' is int and cannot be -0.5: give a whole number");
  ambit_scalar_set(n, 0x1p31);
  CHECK_FAILED(s.a, AMBIT_EINVAL,
               "2147483648: give a whole number from -2147483648 to 2147483647,");
  ambit_field_boundary(b, AMBIT_LOW(0), AMBIT_CONSTANT, 0.1);
  CHECK_FAILED(s.a, AMBIT_EINVAL, "outside of field 'b' is unsigned char and cannot be 0.1: give");
  ambit_field_boundary_component(b, 1, AMBIT_LOW(0), AMBIT_CONSTANT, -1);
  CHECK_FAILED(s.a, AMBIT_EINVAL,
               "'b' is unsigned char and cannot be -1: give a whole number from 0");
  ambit_field_boundary(b, AMBIT_INACTIVE, AMBIT_CONSTANT, INFINITY);
  CHECK_FAILED(s.a, AMBIT_EINVAL, "cannot be inf: give a whole number from 0 to 255");
  ambit_field_boundary(b, AMBIT_LOW(0), AMBIT_CLAMP, 0.1); /* has no value */
  ambit_scalar_set(n, -3);
  ambit_apply(s.p, k, s.u, s.v, 2.0);
  CHECK_OK(s.a);
  CHECK_EQ(-3, ambit_scalar_get(n));
  ambit_close(s.a);
}

static void everything_must_belong_together(void)
{
  scene s = set_up("ref");
  ambit_grid *other = grid_2d(s.a, 5, 6);
  ambit_field *foreign = ambit_field_create(other, "foreign", AMBIT_F32);
  ambit_kernel *k = kernel(&s, "void k(const float *u, float *v) { *v = *u; }");

  ambit_apply(s.p, k, foreign, s.v);
  CHECK_FAILED(s.a, AMBIT_EINVAL, "field 'foreign' belongs to another grid");
  ambit_apply(s.p, kernel(&s, "void line(const float *u, float *v) { *v = u[1]; }"), s.u, s.v);
  CHECK_FAILED(s.a, AMBIT_EINVAL, "kernel line is written for 1 dimension, but the grid has 2");
  ambit_apply(s.p, kernel(&s, "void deep(float *v) { *v = index(2); }"), s.v);
  CHECK_FAILED(s.a, AMBIT_EINVAL, "kernel deep uses axis 2");
  ambit_apply(s.p, kernel(&s, "void both(float *u, float *v) { *u = 1; *v = 2; }"), s.u, s.u);
  CHECK_FAILED(s.a, AMBIT_EPROGRAM, "parameters 'u' and 'v' both write the same field");
  ambit_close(s.a);
}

/* ---- reads outside the grid ---- */

static void a_read_through_a_face_without_boundary_is_refused_by_name(void)
{
  EACH_DEVICE(device)
  {
    scene s = set_up(*device);

    ambit_field_boundary(s.u, AMBIT_AXIS(0) | AMBIT_LOW(1), AMBIT_CLAMP, 0);
    ambit_apply(s.p,
                kernel(&s, "void k(const float *u, float *v)\n"
                           "{\n"
                           "  *v = u[0][-1] + u[0][2];\n"
                           "}"),
                s.u, s.v);
    ambit_run(s.p, 1);
    CHECK(strstr(ambit_error_text(s.a), "kernel:3:19"));
    CHECK(strstr(ambit_error_text(s.a), "*v = u[0][-1] + u[0][2];\n"));
    CHECK(strstr(ambit_error_text(s.a), "^~~~~~"));
    CHECK(strstr(ambit_error_text(s.a), "ambit_field_boundary(heat, AMBIT_HIGH(1), ...)"));
    CHECK_FAILED(s.a, AMBIT_EPROGRAM,
                 "reads field 'heat' outside the grid, through the high face of axis 1");
    ambit_field_boundary(s.u, AMBIT_HIGH(1), AMBIT_CLAMP, 0);
    CHECK_EQ(AMBIT_OK, ambit_run(s.p, 1));
    ambit_close(s.a);
  }
}

static void a_box_that_stays_inside_needs_no_boundary(void)
{
  EACH_DEVICE(device)
  {
    scene s = set_up(*device);
    const int64_t lo[] = {1, 1}, hi[] = {4, 5};

    ambit_apply_box(s.p, lo, hi,
                    kernel(&s, "void k(const float *u, float *v) { *v = u[-1][0] + u[1][1]; }"),
                    s.u, s.v);
    CHECK_EQ(AMBIT_OK, ambit_run(s.p, 1));
    ambit_close(s.a);
  }
}

/* ---- reads of fields that are written ---- */

static void a_neighbour_of_what_is_written_cannot_be_read(void)
{
  EACH_DEVICE(device)
  {
    scene s = set_up(*device);
    ambit_program *q = ambit_program_create(s.g);

    ambit_field_boundary(s.u, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
    ambit_apply(s.p, kernel(&s, "void k(float *u) { *u = u[0][1]; }"), s.u);
    ambit_run(s.p, 1);
    CHECK_FAILED(s.a, AMBIT_EPROGRAM,
                 "field 'heat' is read at a neighbour and written in the same step");
    ambit_apply(q, kernel(&s, "void k(const float *u, float *v) { *v = u[-1][0]; }"), s.u, s.u);
    ambit_run(q, 1);
    CHECK_FAILED(s.a, AMBIT_EPROGRAM, "Write to a second field and swap the two");
    ambit_close(s.a);
  }
}

static void the_cell_itself_may_be_read_and_written(void)
{
  EACH_DEVICE(device)
  {
    scene s = set_up(*device);
    float values[30];

    ambit_field_set(s.u, 3);
    ambit_apply(s.p, kernel(&s, "void k(const float *u, float *v) { *v = 2 * *u; }"), s.u, s.u);
    ambit_run(s.p, 2);
    ambit_field_read(s.u, NULL, NULL, values);
    CHECK_OK(s.a);
    for (int i = 0; i < 30; i++)
      CHECK_EQ(12, values[i]);
    ambit_close(s.a);
  }
}

/* A face may be computed in place from the layer beside it: reads and writes do not overlap. */
static void a_face_may_read_the_cells_beside_it(void)
{
  EACH_DEVICE(device)
  {
    scene s = set_up(*device);
    ambit_program *q = ambit_program_create(s.g);
    ambit_kernel *up = kernel(&s, "void up(float *u) { *u = u[1][0] + 1; }");
    float values[30], start[30];

    for (int i = 0; i < 30; i++)
      start[i] = (float)i;
    ambit_field_write(s.u, NULL, NULL, start);
    ambit_apply_faces(s.p, AMBIT_LOW(0), up, s.u);
    ambit_run(s.p, 1);
    ambit_field_read(s.u, NULL, NULL, values);
    CHECK_OK(s.a);
    for (int i = 0; i < 30; i++)
      CHECK_EQ(i < 6 ? i + 7 : i, (int)values[i]);
    ambit_field_boundary(s.u, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
    ambit_apply_faces(q, AMBIT_LOW(1), up, s.u);
    ambit_run(q, 1);
    CHECK_FAILED(s.a, AMBIT_EPROGRAM, "is read at a neighbour and written in the same step");
    ambit_close(s.a);
  }
}

/* ... or from far cells, round a periodic end, unless those are written, too. */
static void a_face_may_read_the_cells_at_the_other_end(void)
{
  EACH_DEVICE(device)
  {
    scene s = set_up(*device);
    ambit_kernel *wrap = kernel(&s, "void wrap(float *u) { *u = u[0][-2] + 1; }");
    ambit_program *q = ambit_program_create(s.g);
    float values[30], start[30];

    for (int i = 0; i < 30; i++)
      start[i] = (float)i;
    ambit_field_write(s.u, NULL, NULL, start);
    ambit_field_boundary(s.u, AMBIT_AXIS(1), AMBIT_PERIODIC, 0);
    ambit_apply_faces(s.p, AMBIT_LOW(1), wrap, s.u);
    ambit_run(s.p, 1);
    ambit_field_read(s.u, NULL, NULL, values);
    CHECK_OK(s.a);
    for (int i = 0; i < 30; i++)
      CHECK_EQ(i % 6 ? i : i + 5, (int)values[i]);
    ambit_apply_box(q, AMBIT_INDEX(0, 0), AMBIT_INDEX(5, 5), wrap, s.u);
    ambit_run(q, 1);
    CHECK_FAILED(s.a, AMBIT_EPROGRAM, "is read at a neighbour and written in the same step");
    ambit_close(s.a);
  }
}

/* ---- warnings ---- */

/* The warnings of a program with or without a swap. */
static const char *said(const char *text, bool swaps, bool once_only)
{
  ambit *a;
  ambit_grid *g;
  ambit_field *u, *v;
  ambit_program *p;

  capture_begin();
  a = ambit_open(NULL, NULL);
  ambit_option_set(a, "devices", "ref");
  g = grid_1d(a, 4);
  u = ambit_field_create(g, "u", AMBIT_F32);
  v = ambit_field_create(g, "v", AMBIT_F32);
  p = ambit_program_create(g);
  ambit_apply(p, ambit_kernel_create(a, text), u, v);
  if (swaps) ambit_swap(p, u, v);
  ambit_run(p, once_only ? 1 : 10);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
  return capture_end();
}

static void a_missing_swap_is_warned_about(void)
{
  static const char copy[] = "void k(const float *u, float *v) { *v = *u + 1; }";
  static const char steps[] = "void k(const float *u, float *v) { *v = *u + step(); }";
  static const char gathers[] = "void k(const float *u, float *v) { *v += *u; }";

  CHECK(strstr(said(copy, false, false), "is an ambit_swap missing?"));
  CHECK_STR("", said(copy, true, false));
  CHECK_STR("", said(copy, false, true));
  CHECK_STR("", said(steps, false, false));
  CHECK_STR("", said(gathers, false, false));
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"the_number_of_arguments_must_be_that_of_the_parameters",
       the_number_of_arguments_must_be_that_of_the_parameters},
      {"an_argument_must_be_of_the_kind_of_its_parameter",
       an_argument_must_be_of_the_kind_of_its_parameter},
      {"types_and_components_must_be_equal", types_and_components_must_be_equal},
      {"a_number_for_an_integer_must_be_one_of_its_values",
       a_number_for_an_integer_must_be_one_of_its_values},
      {"everything_must_belong_together", everything_must_belong_together},
      {"a_read_through_a_face_without_boundary_is_refused_by_name",
       a_read_through_a_face_without_boundary_is_refused_by_name},
      {"a_box_that_stays_inside_needs_no_boundary", a_box_that_stays_inside_needs_no_boundary},
      {"a_neighbour_of_what_is_written_cannot_be_read",
       a_neighbour_of_what_is_written_cannot_be_read},
      {"the_cell_itself_may_be_read_and_written", the_cell_itself_may_be_read_and_written},
      {"a_face_may_read_the_cells_beside_it", a_face_may_read_the_cells_beside_it},
      {"a_face_may_read_the_cells_at_the_other_end", a_face_may_read_the_cells_at_the_other_end},
      {"a_missing_swap_is_warned_about", a_missing_swap_is_warned_about},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
