/* SPDX-License-Identifier: BSD-3-Clause */
/* The strategy `strip` on OpenCL, where lanes load the cells beside theirs: all forms and types,
 * against the reference. Kernels for CUDA are the subject of tests/plan. */
#include "runtime/program/program.h"
#include "runtime/runtime_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A rule in one type: "T" stands for it. Two fields in, one out; the second is read at its cell. */
typedef struct scene {
  const char *rule;
  ambit_type type;
  int ndims;
  int64_t extents[3];
  ambit_boundary boundary;
} scene;

static double values(const int64_t *i, int component, void *user)
{
  const scene *s = user;

  (void)component;
  return (double)((i[0] * 7 + i[1] * 13 + (s->ndims > 2 ? i[2] * 5 : 0)) % 101 - 20);
}

/* Runs a scene and returns its values, to be freed; `plan` is that of the first step then. */
static void *run(scene *s, const char *device, const char *wanted, char *plan, size_t size)
{
  ambit *a = open_on(device);
  ambit_grid *g;
  ambit_field *u, *v, *w;
  ambit_program *p;
  size_t cells = 1;
  void *result;

  ambit_option_set(a, "strict", strstr(wanted, "sum") ? "0" : "1");
  if (strcmp(device, "cpu")) ambit_option_set(a, "plan", wanted); /* which has other plans */
  g = ambit_grid_create(a, s->ndims, s->extents);
  u = ambit_field_create(g, "u", s->type);
  v = ambit_field_create(g, "v", s->type);
  w = ambit_field_create(g, "w", s->type);
  ambit_field_boundary(u, AMBIT_ALL_FACES, s->boundary, 3);
  ambit_field_boundary(v, AMBIT_ALL_FACES, s->boundary, 3);
  ambit_field_fill(u, values, s);
  ambit_field_fill(w, values, s);
  p = ambit_program_create(g);
  if (strstr(s->rule, "*w"))
    ambit_apply(p, ambit_kernel_create(a, s->rule), u, w, v);
  else
    ambit_apply(p, ambit_kernel_create(a, s->rule), u, v);
  ambit_swap(p, u, v);
  ambit_run(p, 2);
  for (int d = 0; d < s->ndims; d++)
    cells *= (size_t)s->extents[d];
  result = calloc(cells, ambit_type_size(s->type));
  ambit_field_read(u, NULL, NULL, result);
  CHECK_MSG(!ambit_error(a), "%s", ambit_error_text(a));
  if (!ambit_error(a)) snprintf(plan, size, "%s", p->applies[0].functions[0]->plan);
  ambit_close(a);
  return result;
}

static void compare(const scene *s, const void *want, const void *got, bool exact, const char *plan)
{
  size_t cells = 1;

  for (int d = 0; d < s->ndims; d++)
    cells *= (size_t)s->extents[d];
  for (size_t i = 0; i < cells; i++) {
    const double a = exact ? 0 : ((const float *)want)[i], b = exact ? 0 : ((const float *)got)[i];
    const size_t size = ambit_type_size(s->type);
    const bool same =
        exact ? !memcmp((const char *)want + i * size, (const char *)got + i * size, size)
              : fabs(a - b) <= 1e-5 * (1 + fabs(a));

    if (same) continue;
    CHECK_MSG(0, "%s: cell %zu of %zu differs", plan, i, cells);
    return;
  }
}

static void check(scene *s, const char *wanted)
{
  const bool exact = !strstr(wanted, "sum");
  char plan[128] = "";
  void *got = run(s, "opencl", wanted, plan, sizeof plan);
  void *want = run(s, exact ? "ref" : "cpu", wanted, (char[128]){0}, 128);

  CHECK_MSG(!strncmp(plan, wanted, strlen(wanted)), "wanted %s, got %s", wanted, plan);
  compare(s, want, got, exact, plan);
  free(got);
  free(want);
}

static const char star[] = "void star(const float *u, float *v)\n"
                           "{ *v = 0.5f * *u + 0.1f * u[-1][0] + 0.2f * u[1][0]\n"
                           "     + 0.05f * u[0][-1] + 0.15f * u[0][1]; }\n";

static void floats_in_2d(void)
{
  static const char *const plans[] = {"(strip tile", "(strip tile 4x1x2", "(strip tile 4x1x1"};

  if (!device_is_here("opencl")) SKIP("there is no OpenCL device");
  for (int i = 0; i < 3; i++)
    check(&(scene){star, AMBIT_F32, 2, {57, 301 + i}, (ambit_boundary)(1 + i)}, plans[i]);
}

static void doubles_in_3d(void)
{
  static const char text[] =
      "void far(const double *u, const double *w, double *v)\n"
      "{ *v = *w * 0.25 + u[-1][0][0] - u[2][0][0] + u[0][-1][0] * u[0][1][1]\n"
      "     + u[0][0][-2] / (2 + u[0][0][1] * u[0][0][1]); }\n";
  static const char *const plans[] = {"(strip tile", "(strip tile 2x1x4"};

  if (!device_is_here("opencl")) SKIP("there is no OpenCL device");
  for (int i = 0; i < 2; i++)
    check(&(scene){text, AMBIT_F64, 3, {17, 30, 131 + i}, i ? AMBIT_PERIODIC : AMBIT_CLAMP},
          plans[i]);
}

/* So many planes that registers are shifted, and a sum that keeps all of them. */
static void high_orders_in_3d(void)
{
  static const char text[] =
      "void high(const float *u, float *v)\n"
      "{ float s = 0.1f * *u;\n"
      "  for (int k = 1; k <= 4; k++)\n"
      "    s += 0.05f * (u[k][0][0] + u[-k][0][0]) + 0.03f * (u[0][k][0] + u[0][-k][0])\n"
      "       + 0.02f * u[0][0][k] + 0.01f * u[0][0][-k];\n"
      "  *v = s; }\n";
  static const char *const plans[] = {"(strip sum 4x2 ahead", "(strip sum 4x1 ahead"};

  if (!device_is_here("opencl")) SKIP("there is no OpenCL device");
  for (int i = 0; i < 2; i++)
    check(&(scene){text, AMBIT_F32, 3, {14, 36, 134 + i}, i ? AMBIT_PERIODIC : AMBIT_CLAMP},
          plans[i]);
}

static void other_types(void)
{
  static scene scenes[] = {
      {"void k(const unsigned char *u, unsigned char *v)\n"
       "{ int n = u[-1][0] + u[0][1] + u[0][-1];\n"
       "  *v = n == 60 || (n - 2 * *u > 40 && !(*u & 4)) ? n & 255 : 7; }",
       AMBIT_U8,
       2,
       {40, 531},
       AMBIT_PERIODIC},
      {"void k(const short *u, const short *w, short *v) { *v = u[1][-3] - u[0][1] + *w; }",
       AMBIT_I16,
       2,
       {40, 399},
       AMBIT_CONSTANT},
      {"void k(const int *u, int *v) { *v = u[-1][0] ^ u[0][1] + index(1); }",
       AMBIT_I32,
       2,
       {40, 260},
       AMBIT_CLAMP},
      {"void k(const long *u, long *v) { *v = u[-1][0] * 3 - u[0][-1]; }",
       AMBIT_I64,
       2,
       {40, 155},
       AMBIT_PERIODIC},
      {"void k(const half *u, half *v) { *v = 0.5f * u[-1][0] + 0.25f * u[0][-1]; }",
       AMBIT_F16,
       2,
       {40, 555},
       AMBIT_REFLECT},
      {"void k(const unsigned *u, unsigned *v) { *v = u[-1][0] + u[0][1] / 3; }",
       AMBIT_U32,
       2,
       {40, 261},
       AMBIT_CLAMP},
      {"void k(const unsigned short *u, unsigned short *v) { *v = u[-1][0] + u[0][1]; }",
       AMBIT_U16,
       2,
       {40, 530},
       AMBIT_PERIODIC},
      {"void k(const unsigned long *u, unsigned long *v) { *v = u[-1][0] ^ u[0][-1]; }",
       AMBIT_U64,
       2,
       {40, 157},
       AMBIT_CLAMP},
  };

  if (!device_is_here("opencl")) SKIP("there is no OpenCL device");
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
    check(&scenes[i], "(strip tile");
}

/* On cores, limits are hoisted (codegen/hoist.h). */
static void values_are_limited_to_numbers(void)
{
  static const char text[] = "void limit(const float *u, float *v)\n"
                             "{ *v = fminf(fmaxf(u[-1][0] - 0.5f * u[0][1], -3.0f), 40.0f); }\n";

  if (!device_is_here("opencl")) SKIP("there is no OpenCL device");
  check(&(scene){text, AMBIT_F32, 2, {57, 301}, AMBIT_CLAMP}, "(strip tile");
  check(&(scene){text, AMBIT_F32, 2, {57, 301}, AMBIT_CLAMP}, "(cells");
}

static const test_case tests[] = {{"floats_in_2d", floats_in_2d},
                                  {"doubles_in_3d", doubles_in_3d},
                                  {"high_orders_in_3d", high_orders_in_3d},
                                  {"other_types", other_types},
                                  {"values_are_limited_to_numbers", values_are_limited_to_numbers},
                                  {NULL, NULL}};

int main(int argc, char **argv)
{
  return test_main(argc, argv, tests);
}
