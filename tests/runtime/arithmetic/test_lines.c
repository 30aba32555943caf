/* SPDX-License-Identifier: BSD-3-Clause */
/* Grids of one axis on GPUs, in strips: results and reductions equal those of ref, however the
 * cells divide into strips and blocks. */
#include "runtime/program/program.h"
#include "runtime/runtime_test.h"

#include <string.h>

enum { MOST = 5000, ITERATIONS = 3 };

/* Of u and v, both of two components; w has one. Some cells keep a component of v. */
static const char rule[] =
    "void k(const int *u[2], int *w, int *v[2], sum long *total, max int *most)\n"
    "{\n"
    "  *v[0] = u[0][-2] - 3 * u[1][1] + *w;\n"
    "  if (*w % 3 == 0) *v[1] = u[1][-1] + 2 * u[0][0];\n"
    "  *w = *w * 5 % 1009 + 1;\n"
    "  *total = *w;\n"
    "  *most = *w ^ u[0][0];\n"
    "}\n";

typedef struct outcome {
  int32_t v[2 * MOST], w[MOST];
  double total, most;
  char plan[96];
} outcome;

static double start(const int64_t *index, int component, void *user)
{
  (void)user;
  return (double)((index[0] * 7919 + component * 31) % 1009);
}

static void run(const char *device, const char *plan, int64_t cells, ambit_boundary kind,
                outcome *o)
{
  ambit *a = open_on(device);
  ambit_grid *g = (ambit_option_set(a, "plan", plan), grid_1d(a, cells));
  ambit_field *u = ambit_field_create_vector(g, "u", AMBIT_I32, 2, AMBIT_SOA);
  ambit_field *v = ambit_field_create_vector(g, "v", AMBIT_I32, 2, AMBIT_SOA);
  ambit_field *w = ambit_field_create(g, "w", AMBIT_I32);
  ambit_scalar *total = ambit_scalar_create(a, "total", AMBIT_I64);
  ambit_scalar *most = ambit_scalar_create(a, "most", AMBIT_I32);
  ambit_program *p = ambit_program_create(g);

  memset(o, 0, sizeof *o);
  ambit_field_boundary(u, AMBIT_ALL_FACES, kind, 7);
  ambit_field_boundary(v, AMBIT_ALL_FACES, kind, 7);
  ambit_field_fill(u, start, NULL);
  ambit_field_fill(v, start, NULL);
  ambit_field_fill(w, start, NULL);
  ambit_apply(p, ambit_kernel_create(a, rule), u, w, v, total, most);
  ambit_swap(p, u, v);
  ambit_run(p, ITERATIONS);
  ambit_field_read(u, NULL, NULL, o->v);
  ambit_field_read(w, NULL, NULL, o->w);
  o->total = ambit_scalar_get(total);
  o->most = ambit_scalar_get(most);
  CHECK_OK(a);
  if (!ambit_error(a) && *plan)
    snprintf(o->plan, sizeof o->plan, "%s", p->applies[0].functions[0]->plan);
  ambit_close(a);
}

static void check(const char *device, int64_t cells, const char *plan, ambit_boundary kind)
{
  static outcome want, got;

  run("ref", "", cells, kind, &want);
  run(device, plan, cells, kind, &got);
  CHECK_MSG(!strncmp(got.plan, plan, strlen(plan)), "wanted %s, got %s", plan, got.plan);
  CHECK_MSG(!memcmp(want.v, got.v, sizeof want.v) && !memcmp(want.w, got.w, sizeof want.w) &&
                want.total == got.total && want.most == got.most,
            "%s %s, %lld cells: differs from ref", device, plan, (long long)cells);
}

static void each_number_of_cells_is_computed_once(void)
{
  static const int64_t extents[] = {200, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 3077};

  if (!device_is_here("opencl")) SKIP("there is no OpenCL device");
  for (int i = 0; i < 11; i++)
    check("opencl", extents[i], i % 3 ? "(strip tile 4x1x1" : "(cells 256x1)",
          i % 2 ? AMBIT_PERIODIC : AMBIT_CONSTANT);
}

static void parts_have_lines_of_their_own(void)
{
  if (!device_is_here("opencl")) SKIP("there is no OpenCL device");
  check("opencl*3", 3300, "(strip", AMBIT_PERIODIC);
  check("opencl*2", 4096, "(strip", AMBIT_CLAMP);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"each_number_of_cells_is_computed_once", each_number_of_cells_is_computed_once},
      {"parts_have_lines_of_their_own", parts_have_lines_of_their_own},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
