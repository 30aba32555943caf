/* SPDX-License-Identifier: BSD-3-Clause */
/* Spellings of the same rule: on every device the values of ref, at all faces. */
#include "runtime/runtime_test.h"

#include <math.h>

enum { ROWS = 21, COLUMNS = 45, CELLS = ROWS * COLUMNS, STEPS = 5 };

#define STAR "u[-1][0] + u[1][0] + u[0][-1] + u[0][1]"

static const char *const sums[] = {
    "*v = *u + k * (" STAR " - 4 * *u)", "*v = (1 - 4 * k) * *u + k * (" STAR ")",
    "float l = u[0][1] - 2 * *u + u[0][-1]; l += u[1][0] - 2 * *u + u[-1][0]; *v = *u + l * k",
    "*v = *u + k * (" STAR " - 4 * *u) / (1 + k) + k * (1 - *u) - *u * *u / 8"};

/* The neighbour above, or at the wall, and the one to the right. */
static const char *const walls[] = {
    "*v = (outside(-1, 0) ? *u : u[-1][0]) + k * (outside(0, 2) ? *u : u[0][2])",
    "*v = (index(0) - 1 < 0 ? *u : u[-1][0]) + k * (index(1) + 2 >= extent(1) ? *u : u[0][2])",
    "float a = *u, b = *u; if (!(index(0) == 0)) a = u[-1][0]; "
    "if (2 + (int)index(1) <= (int)extent(1) - 1) b = u[0][2]; *v = a + k * b",
    "const int y = (int)index(0) - 1; const long right = extent(1) - index(1);"
    "*v = (y < 0 || y >= extent(0) ? *u : u[-1][0]) + k * (right > 2 ? u[0][2] : *u)",
    "*v = *u + 0.001f * index(1) + 0.01f * (index(0) + 1) + (extent(1) - index(1)) % 3 * k"};

static double start(const int64_t *i, int component, void *user)
{
  (void)component;
  (void)user;
  return (double)((i[0] * 13 + i[1] * 5) % 17) / 16;
}

/* Steps of void f(const float *u, float *v, float k, max float *c, sum double *s). */
static void play(const char *device, const char *plan, const char *body, bool reduces,
                 const char *strict, float *u)
{
  ambit *a = open_on(device);
  ambit_grid *g = grid_2d(a, ROWS, COLUMNS);
  ambit_field *from = ambit_field_create(g, "u", AMBIT_F32),
              *to = ambit_field_create(g, "v", AMBIT_F32);
  ambit_scalar *c = ambit_scalar_create(a, "c", AMBIT_F32);
  ambit_program *p = ambit_program_create(g);
  char text[1000];

  ambit_option_set(a, "strict", strict);
  ambit_option_set(a, "plan", plan);
  snprintf(text, sizeof text, "void f(const float *u, float *v, float k%s) { %s; %s }",
           reduces ? ", max float *c" : "", body, reduces ? "*c = fabsf(*v - *u);" : "");
  ambit_field_fill(from, start, NULL);
  ambit_field_boundary(from, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0.5);
  if (reduces)
    ambit_apply(p, ambit_kernel_create(a, text), from, to, 0.21, c);
  else
    ambit_apply(p, ambit_kernel_create(a, text), from, to, 0.21);
  ambit_swap(p, from, to);
  ambit_run(p, STEPS);
  ambit_field_read(from, NULL, NULL, u);
  u[CELLS] = (float)ambit_scalar_get(c);
  CHECK_OK(a);
  ambit_close(a);
}

static void compare(const char *device, const char *plan, const char *body, bool reduces,
                    const char *strict, double bound)
{
  static float want[CELLS + 1], got[CELLS + 1];
  int wrong = 0;

  play("ref", "", body, reduces, strict, want);
  play(device, plan, body, reduces, strict, got);
  for (int i = 0; i <= CELLS; i++)
    wrong += !(fabs((double)want[i] - (double)got[i]) <= bound);
  CHECK_MSG(!wrong, "%s, %d cells differ: %s", device, wrong, body);
}

static void every_spelling_of_a_sum_has_the_values_of_ref(void)
{
  EACH_DEVICE(device)
  {
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i += compiles_slowly(*device) ? 3 : 1) {
      compare(*device, "", sums[i], i % 2, "0", STEPS * 4 * 1.2e-7);
      if (i % 2) compare(*device, "", sums[i], true, "1", 0);
    }
  }
}

/* Weights that all cells share, and a reduction that only the last iteration looks at. */
static void sums_with_parameters_are_fused_as_sums(void)
{
  EACH_DEVICE(device)
  {
    if (!strcmp(*device, "ref") || !strcmp(*device, "cpu")) continue;
    for (int reduces = 0; reduces < 2; reduces++)
      compare(*device, "(fused sum", sums[reduces], reduces, "0", STEPS * 4 * 1.2e-7);
  }
}

static void every_spelling_of_a_wall_has_the_values_of_ref(void)
{
  EACH_DEVICE(device)
  {
    for (size_t i = 0; i < sizeof walls / sizeof *walls; i += compiles_slowly(*device) ? 2 : 1)
      compare(*device, "", walls[i], false, "1", 0);
  }
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"every_spelling_of_a_sum_has_the_values_of_ref",
       every_spelling_of_a_sum_has_the_values_of_ref},
      {"sums_with_parameters_are_fused_as_sums", sums_with_parameters_are_fused_as_sums},
      {"every_spelling_of_a_wall_has_the_values_of_ref",
       every_spelling_of_a_wall_has_the_values_of_ref},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
