/* SPDX-License-Identifier: BSD-3-Clause */
/* Grids large enough for CUDA devices to run them in strips (strategy `strip`), unlike the grids
 * of other tests. Strict, so that every bit must equal the result of the cpu device. Sizes are no
 * multiples of strips or tiles. */
#include "runtime/runtime_test.h"

typedef struct scene {
  const char *rule;
  int ndims;
  int64_t extents[3];
} scene;

static const scene scenes[] = {
    {"void star(const float *u, float *v)\n"
     "{\n"
     "  *v = 0.4f * *u + 0.2f * u[-1][0] + 0.1f * u[1][0] + 0.2f * u[0][-2] + 0.1f * u[0][1];\n"
     "}",
     2,
     {3001, 2503, 1}},
    {"void box(const double *u, double *v)\n"
     "{\n"
     "  double s = 0;\n"
     "  for (int i = -2; i <= 2; i++)\n"
     "    for (int j = -2; j <= 2; j++) s += (0.01 * (i + 4) + 0.001 * (j + 3)) * u[i][j];\n"
     "  *v = s;\n"
     "}",
     2,
     {2999, 2500, 1}},
    {"void star3(const float *u, float *v)\n"
     "{\n"
     "  *v = 0.3f * *u + 0.2f * u[-1][0][0] + 0.1f * u[1][0][0] + 0.1f * u[0][-1][0] +\n"
     "       0.1f * u[0][2][0] + 0.1f * u[0][0][-1] + 0.1f * u[0][0][1];\n"
     "}",
     3,
     {200, 181, 190}},
    {"void box3(const double *u, double *v)\n"
     "{\n"
     "  double s = 0;\n"
     "  for (int i = -1; i <= 1; i++)\n"
     "    for (int j = -1; j <= 1; j++)\n"
     "      for (int k = -1; k <= 1; k++) s += (0.02 + 0.01 * i + 0.003 * j + 0.001 * k) * "
     "u[i][j][k];\n"
     "  *v = s;\n"
     "}",
     3,
     {201, 180, 191}},
};
enum { SCENES = 4, ITERATIONS = 3 };

static double hills(const int64_t *index, int component, void *user)
{
  const scene *s = user;

  (void)component;
  return (double)((index[0] * 31 + index[1] * 17 + (s->ndims > 2 ? index[2] * 7 : 0)) % 101) / 64;
}

static size_t bytes_of(const scene *s)
{
  const size_t size = strstr(s->rule, "double") ? sizeof(double) : sizeof(float);

  return size * (size_t)(s->extents[0] * s->extents[1] * s->extents[2]);
}

/* The field after some iterations on a device. The caller frees it. */
static void *compute(const char *device, const scene *s, ambit_boundary boundary)
{
  ambit *a = open_on(device);
  ambit_grid *g = ambit_grid_create(a, s->ndims, s->extents);
  const ambit_type type = strstr(s->rule, "double") ? AMBIT_F64 : AMBIT_F32;
  ambit_field *u, *v;
  ambit_program *p;
  void *values = malloc(bytes_of(s));

  ambit_option_set(a, "strict", "1");
  u = ambit_field_create(g, "u", type);
  v = ambit_field_create(g, "v", type);
  p = ambit_program_create(g);
  ambit_field_boundary(u, AMBIT_ALL_FACES, boundary, 0.5);
  ambit_field_boundary(v, AMBIT_ALL_FACES, boundary, 0.5);
  ambit_apply(p, ambit_kernel_create(a, s->rule), u, v);
  ambit_swap(p, u, v);
  ambit_field_fill(u, hills, (void *)(uintptr_t)s);
  ambit_run(p, ITERATIONS);
  ambit_field_read(u, NULL, NULL, values);
  CHECK_OK(a);
  ambit_close(a);
  return values;
}

static void check(const char *device, const scene *s, ambit_boundary boundary)
{
  void *want = compute("cpu", s, boundary), *got = compute(device, s, boundary);

  CHECK_MSG(want && got && !memcmp(want, got, bytes_of(s)), "%s differs from cpu, boundary %d:\n%s",
            device, (int)boundary, s->rule);
  free(want);
  free(got);
}

static void strips_compute_what_cores_do(void)
{
  static const ambit_boundary boundaries[] = {AMBIT_FIXED, AMBIT_CONSTANT, AMBIT_PERIODIC,
                                              AMBIT_SYMMETRIC};

  EACH_DEVICE(d)
  for (int i = 0; !strcmp(*d, "cuda") && i < SCENES * 4; i++)
    check(*d, &scenes[i % SCENES], boundaries[i / SCENES]);
}

static void strips_go_round_rows(void)
{
  EACH_DEVICE(d)
  for (int i = 0; !strcmp(*d, "cuda") && i < SCENES; i++) {
    scene s = scenes[i];

    s.extents[s.ndims - 1] -= s.extents[s.ndims - 1] % 16;
    check(*d, &s, AMBIT_PERIODIC);
  }
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {{"strips_compute_what_cores_do", strips_compute_what_cores_do},
                                    {"strips_go_round_rows", strips_go_round_rows},
                                    {0}};
  int gpus = 0;

  EACH_DEVICE(d) gpus += !strcmp(*d, "cuda");
  if (!gpus) {
    printf("# skipped: there is no CUDA device\n");
    return 77;
  }
  return test_main(argc, argv, tests);
}
