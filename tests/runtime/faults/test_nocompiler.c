/* SPDX-License-Identifier: BSD-3-Clause */
/* Without a compiler all programs run: weighted sums by the built-in generic kernel, others by the
 * interpreter, and a warning says so. */
#define _XOPEN_SOURCE 700
#include "runtime/runtime_test.h"
#include "support/capture.h"

#include <math.h>

enum { MOST = 12000 };

static double waves(const int64_t *index, int component, void *user)
{
  double x = component;

  for (int d = 0; d < *(const int *)user; d++)
    x += sin((double)index[d] * (0.3 + 0.2 * d));
  return x;
}

static ambit *open_without(const char *device)
{
  ambit *a = open_on(device);

  ambit_option_set(a, "cc", "none");
  return a;
}

/* Runs a stencil of the catalogue and returns its values as doubles. */
static void run_catalogue(ambit *a, const char *name, int ndims, const int64_t *extents,
                          ambit_type type, double *values)
{
  ambit_grid *g = ambit_grid_create(a, ndims, extents);
  ambit_field *u = ambit_field_create(g, "u", type), *v = ambit_field_create(g, "v", type);
  ambit_program *p = ambit_program_create(g);
  static float singles[MOST];
  int64_t cells = 1;

  for (int d = 0; d < ndims; d++)
    cells *= extents[d];
  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_REFLECT, 0);
  ambit_field_fill(u, waves, &ndims);
  ambit_apply(p, ambit_kernel_create_named(a, name, type), u, v);
  ambit_swap(p, u, v);
  ambit_run(p, 3);
  ambit_field_read(u, NULL, NULL, type == AMBIT_F32 ? (void *)singles : (void *)values);
  for (int64_t i = 0; type == AMBIT_F32 && i < cells; i++)
    values[i] = (double)singles[i];
  CHECK_OK(a);
  ambit_grid_destroy(g);
}

static void weighted_sums_agree_with_the_reference(void)
{
  static const struct {
    const char *name;
    int ndims;
    int64_t extents[4];
  } rows[] = {{"1dc2", 1, {1500}},       {"1dnc4", 1, {7}},         {"2d4", 2, {31, 67}},
              {"2d8", 2, {1, 5}},        {"2df5", 2, {40, 33}},     {"2dnc8", 2, {17, 3}},
              {"3d6", 3, {5, 11, 40}},   {"3d27", 3, {7, 8, 9}},    {"3df7", 3, {12, 2, 30}},
              {"4d8", 4, {4, 3, 5, 17}}, {"star2d4", 2, {20, 513}}, {"box3d1s", 3, {3, 4, 100}}};
  static const ambit_type types[] = {AMBIT_F32, AMBIT_F64};
  static double want[MOST], got[MOST];

  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (int t = 0; t < 2; t++) {
      ambit *ref = open_on("ref"), *cpu = open_without("cpu");
      double tolerance = types[t] == AMBIT_F32 ? 1e-5 : 1e-13, worst = 0;
      int64_t cells = 1;

      for (int d = 0; d < rows[i].ndims; d++)
        cells *= rows[i].extents[d];
      run_catalogue(ref, rows[i].name, rows[i].ndims, rows[i].extents, types[t], want);
      run_catalogue(cpu, rows[i].name, rows[i].ndims, rows[i].extents, types[t], got);
      for (int64_t k = 0; k < cells; k++)
        worst = fmax(worst, fabs(want[k] - got[k]));
      CHECK_MSG(worst <= tolerance, "%s: %g apart", rows[i].name, worst);
      ambit_close(ref);
      ambit_close(cpu);
    }
}

/* The report and the warnings of a run of a kernel from u to v. */
static const char *said_about(const char *text, const char *strict)
{
  ambit *a;
  ambit_grid *g;
  ambit_field *u;
  ambit_program *p;

  capture_begin();
  a = ambit_open(NULL, NULL);
  ambit_option_set(a, "devices", "cpu");
  ambit_option_set(a, "cc", "none");
  ambit_option_set(a, "strict", strict);
  ambit_option_set(a, "verbose", "1");
  g = grid_1d(a, 8);
  u = ambit_field_create(g, "u", AMBIT_F32);
  p = ambit_program_create(g);
  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
  ambit_apply(p, ambit_kernel_create(a, text), u, ambit_field_create(g, "v", AMBIT_F32));
  ambit_run(p, 1);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
  return capture_end();
}

static void the_user_is_warned_and_told_how_each_kernel_runs(void)
{
  static const char sum[] = "void k(const float *u, float *v) { *v = 0.5f * u[-1] + 0.5f * u[1]; }";
  static const char other[] = "void k(const float *u, float *v) { *v = u[-1] * u[1]; }";
  const char *said = said_about(sum, "0");

  CHECK_MSG(strstr(said, "warning: ") && strstr(said, "much slower"), "%s", said);
  CHECK_MSG(strstr(said, "(generic weights)"), "%s", said);
  said = said_about(other, "0");
  CHECK_MSG(strstr(said, "(interpreted)"), "%s", said);
  said = said_about(sum, "1");
  CHECK_MSG(strstr(said, "(interpreted)"), "%s", said);
}

static void a_warning_is_given_once(void)
{
  ambit *a;
  const char *said, *first;

  capture_begin();
  a = ambit_open(NULL, NULL);
  ambit_option_set(a, "devices", "cpu");
  ambit_option_set(a, "cc", "none");
  for (int i = 0; i < 3; i++) {
    ambit_grid *g = grid_1d(a, 8);
    ambit_program *p = ambit_program_create(g);

    ambit_apply(p, ambit_kernel_create(a, "void k(const float *u, float *v) { *v = *u + 1; }"),
                ambit_field_create(g, "u", AMBIT_F32), ambit_field_create(g, "v", AMBIT_F32));
    ambit_run(p, 1);
  }
  ambit_close(a);
  said = capture_end();
  first = strstr(said, "much slower");
  CHECK_MSG(first && !strstr(first + 1, "much slower"), "%s", said);
}

/* Kernels that are not weighted sums: reductions, conditions, vectors, scalars. */
static void all_other_rules_run_as_on_the_reference(void)
{
  static const char text[] = "void k(const short *u, short *v[2], int k, max short *top)\n"
                             "{\n"
                             "  *v[0] = u[-1] > u[2] ? u[-1] * k : -u[0];\n"
                             "  if (index(0) % 3 == 1) *v[1] += (short)step();\n"
                             "  *top = *v[0];\n"
                             "}";
  int16_t got[MOST_TEST_DEVICES][2 * 50];
  double top[MOST_TEST_DEVICES];
  int n = 0;

  EACH_DEVICE(device)
  {
    ambit *a = open_without(*device);
    ambit_grid *g = grid_1d(a, 50);
    ambit_field *u = ambit_field_create(g, "u", AMBIT_I16);
    ambit_field *v = ambit_field_create_vector(g, "v", AMBIT_I16, 2, AMBIT_AOS);
    ambit_scalar *s = ambit_scalar_create(a, "top", AMBIT_I16);
    ambit_program *p = ambit_program_create(g);
    int16_t start[50];

    for (int i = 0; i < 50; i++)
      start[i] = (int16_t)(i * 37 % 41);
    ambit_field_write(u, NULL, NULL, start);
    ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
    ambit_apply(p, ambit_kernel_create(a, text), u, v, 3, s);
    ambit_run(p, 4);
    ambit_field_read(v, NULL, NULL, got[n]);
    top[n++] = ambit_scalar_get(s);
    CHECK_EQ(AMBIT_OK, ambit_close(a));
  }
  CHECK(n >= 2 && top[0] > 0);
  for (int i = 1; i < n; i++)
    CHECK(!memcmp(got[0], got[i], sizeof got[0]) && top[0] == top[i]);
}

/* A weighted sum whose input is a scalar, not a field. */
static void a_scalar_in_the_place_of_a_field_is_read_as_one(void)
{
  EACH_DEVICE(device)
  {
    ambit *a = open_without(*device);
    ambit_grid *g = grid_2d(a, 3, 50);
    ambit_field *v = ambit_field_create(g, "v", AMBIT_F32);
    ambit_scalar *s = ambit_scalar_create(a, "s", AMBIT_F32);
    ambit_program *p = ambit_program_create(g);
    float got[150];

    ambit_scalar_set(s, 21);
    ambit_apply(p, ambit_kernel_create(a, "void k(const float *u, float *v) { *v = 2 * *u; }"), s,
                v);
    ambit_run(p, 1);
    ambit_field_read(v, NULL, NULL, got);
    CHECK_OK(a);
    for (int i = 0; i < 150; i++)
      CHECK_EQ(42, got[i]);
    ambit_close(a);
  }
}

static void scalars_are_computed_without_a_compiler(void)
{
  ambit *a = open_without("cpu");
  ambit_scalar *x = ambit_scalar_create(a, "x", AMBIT_F64),
               *y = ambit_scalar_create(a, "y", AMBIT_F64);
  ambit_program *p = ambit_program_create(grid_1d(a, 4));

  ambit_scalar_set(x, 9);
  ambit_apply(p, ambit_kernel_create(a, "void k(double x, double *y) { *y = sqrt(x) + *y; }"), x,
              y);
  ambit_run(p, 2);
  CHECK_EQ(6, ambit_scalar_get(y));
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"weighted_sums_agree_with_the_reference", weighted_sums_agree_with_the_reference},
      {"the_user_is_warned_and_told_how_each_kernel_runs",
       the_user_is_warned_and_told_how_each_kernel_runs},
      {"a_warning_is_given_once", a_warning_is_given_once},
      {"all_other_rules_run_as_on_the_reference", all_other_rules_run_as_on_the_reference},
      {"a_scalar_in_the_place_of_a_field_is_read_as_one",
       a_scalar_in_the_place_of_a_field_is_read_as_one},
      {"scalars_are_computed_without_a_compiler", scalars_are_computed_without_a_compiler},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
