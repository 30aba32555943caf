/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels on every GPU here, through the public interface: compared with the reference to the last
 * bit, and with the CPU for box shapes that are difficult for GPUs. */
#include "ambit.h"
#include "device/each_gpu.h"

#include <math.h>
#include <stdlib.h>

typedef struct outcome {
  void *values; /* of the written field, owned */
  size_t bytes;
  double scalars[2];
} outcome;

typedef struct problem {
  const char *text; /* void f(const T *u, T *v[, reductions r and s]) */
  ambit_type type;
  int components;
  ambit_order order;
  int ndims;
  int64_t extents[AMBIT_MAX_DIMS];
  ambit_type scalar; /* of the reductions, if there are any */
  int nscalars;
} problem;

static double start_value(const int64_t *index, int component, void *user)
{
  uint64_t h = (uint64_t)component + 77;

  for (int d = 0; d < *(const int *)user; d++)
    h = (h ^ (uint64_t)index[d]) * 0x9e3779b97f4a7c15u;
  return (double)(int64_t)(h >> 44) / 4096.0 - 64;
}

/* Three iterations on a device. */
static outcome solve(const problem *p, const char *where)
{
  ambit *a = ambit_open(NULL, NULL);
  outcome o = {.values = NULL};
  ambit_grid *g;
  ambit_field *u, *v;
  ambit_program *program;
  ambit_arg args[4];
  int ndims = p->ndims;

  ambit_on_error(a, NULL, NULL);
  ambit_option_set(a, "devices", where);
  ambit_option_set(a, "strict", "1");
  ambit_option_set(a, "verbose", "-1");
  g = ambit_grid_create(a, p->ndims, p->extents);
  u = ambit_field_create_vector(g, "u", p->type, p->components, p->order);
  v = ambit_field_create_vector(g, "v", p->type, p->components, p->order);
  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_REFLECT, 0);
  ambit_field_boundary(v, AMBIT_ALL_FACES, AMBIT_REFLECT, 0);
  ambit_field_fill(u, start_value, &ndims);
  args[0] = ambit_arg_field(u);
  args[1] = ambit_arg_field(v);
  for (int i = 0; i < p->nscalars; i++)
    args[2 + i] = ambit_arg_scalar(ambit_scalar_create(a, "s", p->scalar));
  program = ambit_program_create(g);
  ambit_apply_args(program, ambit_kernel_create(a, p->text), 2 + p->nscalars, args);
  ambit_swap(program, u, v);
  ambit_run(program, 3);
  o.bytes = ambit_type_size(p->type) * (size_t)p->components;
  for (int d = 0; d < p->ndims; d++)
    o.bytes *= (size_t)p->extents[d];
  o.values = malloc(o.bytes);
  ambit_field_read(u, NULL, NULL, o.values);
  for (int i = 0; i < p->nscalars; i++)
    o.scalars[i] = ambit_scalar_get(args[2 + i].scalar);
  CHECK_MSG(!ambit_error(a), "%s", ambit_error_text(a));
  ambit_close(a);
  return o;
}

/* Equal to the last bit, including NaN. The sums are of integers, or of reals that are small
 * multiples of a power of two. */
static void check_problem(const problem *p, const char *other)
{
  outcome want = solve(p, other), got = solve(p, gpu->name);

  CHECK_MSG(!memcmp(want.values, got.values, want.bytes), "the values of %s differ", p->text);
  for (int i = 0; i < p->nscalars; i++)
    CHECK_MSG(want.scalars[i] == got.scalars[i], "%s: want %.17g, got %.17g", p->text,
              want.scalars[i], got.scalars[i]);
  free(want.values);
  free(got.values);
}

static const problem rules[] = {
    {"void a(const float *u, float *v) { *v = (u[-1] * 0.3f + *u * 0.7f) / (1.1f + u[2] * u[2]); "
     "}",
     AMBIT_F32,
     1,
     AMBIT_SOA,
     1,
     {1000},
     AMBIT_F32,
     0},
    {"void b(const double *u, double *v) { *v = sqrt(fabs(u[-1][0] * u[0][1])) - floor(u[1][1] / "
     "3) "
     "+ fmin(u[0][-2], trunc(u[0][0])) * ceil(0.1 * u[2][0]); }",
     AMBIT_F64,
     1,
     AMBIT_SOA,
     2,
     {37, 61},
     AMBIT_F64,
     0},
    {"void c(const float *u[3], float *v[3]) { for (int c = 0; c < 3; c++) *v[c] = 0.25f * "
     "(u[c][0][0][-1] + u[(c + 1) % 3][1][0][0]) + sqrtf(fabsf(u[c][0][-1][0])) * index(2) - "
     "extent(0) "
     "+ step(); }",
     AMBIT_F32,
     3,
     AMBIT_AOS,
     3,
     {9, 10, 17},
     AMBIT_F32,
     0},
    {"void d(const int *u, int *v) { *v = u[-1][0] * 92821 + (u[0][1] << 7) - u[0][0] / (u[1][0] "
     "% 5) "
     "+ (u[0][-1] >> 3) % 1000 - 2147483647; }",
     AMBIT_I32,
     1,
     AMBIT_SOA,
     2,
     {20, 33},
     AMBIT_I32,
     0},
    {"void e(const long *u[2], long *v[2]) { *v[0] = *u[0] * 6364136223846793005L + u[1][1]; "
     "*v[1] = "
     "labs(*u[1] - u[0][-1]) ^ -*u[0]; }",
     AMBIT_I64,
     2,
     AMBIT_SOA,
     1,
     {321},
     AMBIT_I64,
     0},
    {"void f(const unsigned char *u, unsigned char *v) { int n = u[-1][-1] + u[-1][0] + u[-1][1] "
     "+ "
     "u[0][-1] + u[0][1] + u[1][-1] + u[1][0] + u[1][1]; *v = n == 3 || (n == 2 && *u) ? *u + 1 "
     ": n; }",
     AMBIT_U8,
     1,
     AMBIT_SOA,
     2,
     {64, 65},
     AMBIT_I32,
     0},
    {"void g(const short *u, short *v) { *v = (short)(u[0][0][0][-1] * 3.7f + u[1][0][0][0] - "
     "u[0][0][1][0]); }",
     AMBIT_I16,
     1,
     AMBIT_SOA,
     4,
     {3, 4, 5, 6},
     AMBIT_I32,
     0},
    {"void h(const float *u, float *v) { if (u[0][0][0][0][0][1] > *u) *v = 0.5f * *u; }",
     AMBIT_F32,
     1,
     AMBIT_SOA,
     6,
     {2, 3, 2, 3, 2, 5},
     AMBIT_F32,
     0},
};

static void strict_kernels_equal_the_reference_to_the_last_bit(void)
{
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
    if (test_takes((int)i, 8)) check_problem(&rules[i], "ref");
}

/* More planes than blocks along z, and threads with several cells. */
static const problem shapes[] = {
    {"void a(const unsigned char *u, unsigned char *v, sum long *r, max long *s) { *v = 3 * *u + "
     "u[1][0] "
     "+ index(0); *r = *v; *s = index(0) * *v; }",
     AMBIT_U8,
     1,
     AMBIT_SOA,
     2,
     {300007, 2},
     AMBIT_I64,
     2},
    {"void b(const unsigned char *u, unsigned char *v) { *v = 3 * *u + u[1][0][0][0] + "
     "u[0][0][0][1]; }",
     AMBIT_U8,
     1,
     AMBIT_SOA,
     4,
     {270, 260, 3, 2},
     AMBIT_I32,
     0},
    {"void c(const float *u, float *v, sum float *r, min float *s) { *v = rintf(0.5f * (*u + "
     "u[-1])); *r = "
     "*v; *s = *v; }",
     AMBIT_F32,
     1,
     AMBIT_SOA,
     1,
     {1000003},
     AMBIT_F32,
     2},
};

static void boxes_of_any_shape_are_covered(void)
{
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    check_problem(&shapes[i], "cpu");
}

static void sums_repeat_to_the_last_bit(void)
{
  static const problem p = {
      "void s(const float *u, float *v, sum double *r, sum double *s) { *v = *u + "
      "0.1f * u[0][1]; *r = sin(*v); *s = *v * *v; }",
      AMBIT_F32,
      1,
      AMBIT_SOA,
      2,
      {277, 255},
      AMBIT_F64,
      2};
  outcome first = solve(&p, gpu->name);

  for (int i = 0; i < 2; i++) {
    outcome again = solve(&p, gpu->name);

    CHECK(first.scalars[0] == again.scalars[0] && first.scalars[1] == again.scalars[1]);
    free(again.values);
  }
  CHECK(isfinite(first.scalars[0]) && first.scalars[1] > 0);
  free(first.values);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"strict_kernels_equal_the_reference_to_the_last_bit",
       strict_kernels_equal_the_reference_to_the_last_bit},
      {"boxes_of_any_shape_are_covered", boxes_of_any_shape_are_covered},
      {"sums_repeat_to_the_last_bit", sums_repeat_to_the_last_bit},
      {0}};

  return test_each_gpu(argc, argv, tests);
}
