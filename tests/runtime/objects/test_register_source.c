/* SPDX-License-Identifier: BSD-3-Clause */
/* Registered source: CUDA or OpenCL source of the user replaces generated kernels, on every GPU
 * that is present. */
#include "ambit_compiled.h"
#include "runtime/runtime_test.h"
#include "support/capture.h"

enum { ROWS = 21, COLUMNS = 67 };

static const char heat_rule[] =
    "void heat(const float *u, float *v, float k, sum double *s)"
    "{ v[0][0] = u[0][0] + k * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * u[0][0]);"
    "  *s = v[0][0]; }";

/* One text for both languages: the names that differ come first. Adds 1000, so that its use is
 * visible. */
#define CUDA_NAMES                                                                                 \
  "#define KERNEL extern \"C\" __global__\n"                                                       \
  "#define GLOBAL\n"                                                                               \
  "#define SHARED __shared__\n"                                                                    \
  "#define BARRIER __syncthreads()\n"                                                              \
  "#define THREAD(k) ((k) ? threadIdx.y : threadIdx.x)\n"                                          \
  "#define BLOCK(k) ((k) ? blockIdx.y : blockIdx.x)\n"                                             \
  "#define BLOCKS(k) ((k) ? gridDim.y : gridDim.x)\n"                                              \
  "typedef long long integer;\n"
#define OPENCL_NAMES                                                                               \
  "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"                                                \
  "#define KERNEL kernel\n"                                                                        \
  "#define GLOBAL global\n"                                                                        \
  "#define SHARED local\n"                                                                         \
  "#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)\n"                                                 \
  "#define THREAD(k) get_local_id(k)\n"                                                            \
  "#define BLOCK(k) get_group_id(k)\n"                                                             \
  "#define BLOCKS(k) get_num_groups(k)\n"                                                          \
  "typedef long integer;\n"
#define HEAT                                                                                       \
  "/* ambit-launch: my_heat 2d threads 16x4 blocks n1 / 16, n0 / 4 at most 12 */\n"                \
  "KERNEL void my_heat(GLOBAL const float *u, integer u_o, integer u_s0, integer u_s1,\n"          \
  "                    integer u_c, GLOBAL float *v, integer v_o, integer v_s0, integer v_s1,\n"   \
  "                    integer v_c, GLOBAL const float *k, GLOBAL double *left, integer lo0,\n"    \
  "                    integer lo1, integer hi0, integer hi1, integer offset0,\n"                  \
  "                    integer offset1, integer extent0, integer extent1, integer step)\n"         \
  "{\n"                                                                                            \
  "  SHARED double sums[64];\n"                                                                    \
  "  const int t = (int)(THREAD(1) * 16 + THREAD(0));\n"                                           \
  "  double sum = 0;\n"                                                                            \
  "  for (integer i = lo0 + BLOCK(1) * 4 + THREAD(1); i < hi0; i += BLOCKS(1) * 4)\n"              \
  "    for (integer j = lo1 + BLOCK(0) * 16 + THREAD(0); j < hi1; j += BLOCKS(0) * 16) {\n"        \
  "      GLOBAL const float *at = u + u_o + i * u_s0 + j;\n"                                       \
  "      float x = at[0] + *k * (at[-u_s0] + at[u_s0] + at[-1] + at[1] - 4 * at[0]);\n"            \
  "      v[v_o + i * v_s0 + j] = x + 1000;\n"                                                      \
  "      sum += x;\n"                                                                              \
  "    }\n"                                                                                        \
  "  sums[t] = sum;\n"                                                                             \
  "  BARRIER;\n"                                                                                   \
  "  if (t == 0) {\n"                                                                              \
  "    for (int i = 1; i < 64; i++) sum += sums[i];\n"                                             \
  "    left[BLOCK(1) * BLOCKS(0) + BLOCK(0)] = sum;\n"                                             \
  "  }\n"                                                                                          \
  "}\n"                                                                                            \
  "KERNEL void my_heat_fold(GLOBAL const double *left, GLOBAL double *s, integer count,\n"         \
  "                         integer more)\n"                                                       \
  "{\n"                                                                                            \
  "  double sum = more ? *s : 0;\n"                                                                \
  "  if (THREAD(0) != 0) return;\n"                                                                \
  "  for (integer i = 0; i < count; i++) sum += left[i];\n"                                        \
  "  *s = sum;\n"                                                                                  \
  "}\n"

/* ---- a program that uses it ---- */

typedef struct scene {
  ambit *a;
  ambit_field *u, *v;
  ambit_scalar *sum;
  ambit_program *p;
  float values[ROWS * COLUMNS]; /* of v, after the run */
} scene;

static double start(const int64_t *i, int c, void *user)
{
  (void)c;
  (void)user;
  return (double)((i[0] * 31 + i[1] * 17) % 13) / 8;
}

static scene set_up(const char *device, const char *text, const char *strict)
{
  scene s = {.a = open_on(device)};
  ambit_grid *g;

  ambit_option_set(s.a, "strict", strict);
  g = grid_2d(s.a, ROWS, COLUMNS);
  s.u = ambit_field_create(g, "u", AMBIT_F32);
  s.v = ambit_field_create(g, "v", AMBIT_F32);
  s.sum = ambit_scalar_create(s.a, "sum", AMBIT_F64);
  s.p = ambit_program_create(g);
  ambit_field_boundary(s.u, AMBIT_ALL_FACES, AMBIT_REFLECT, 0);
  ambit_field_fill(s.u, start, NULL);
  ambit_apply(s.p, ambit_kernel_create(s.a, text), s.u, s.v, 0.125, s.sum);
  return s;
}

static void run(scene *s)
{
  ambit_run(s->p, 1);
  ambit_field_read(s->v, NULL, NULL, s->values);
}

static bool is_registered(const scene *s)
{
  capture_begin();
  ambit_program_report(s->p);
  return strstr(capture_end(), "(registered)") != NULL;
}

/* The values that ref computes, plus `more`. */
static void check_values(scene *s, const char *text, float more)
{
  scene want = set_up("ref", text, "0");

  run(&want);
  CHECK_OK(want.a);
  CHECK_OK(s->a);
  for (int i = 0; i < ROWS * COLUMNS; i++)
    CHECK_NEAR(want.values[i] + more, s->values[i], 2e-4);
  CHECK_NEAR(ambit_scalar_get(want.sum), ambit_scalar_get(s->sum), 1e-3);
  ambit_close(want.a);
}

/* ---- on every GPU ---- */

static bool is_cuda(const char *device)
{
  return !strcmp(device, "cuda");
}

static bool is_gpu(const char *device)
{
  return is_cuda(device) || !strcmp(device, "opencl");
}

/* The text after the names of both languages. */
static void register_both(const char *rule, const char *cuda, const char *opencl)
{
  CHECK_EQ(AMBIT_OK, ambit_register_source(rule, AMBIT_CUDA, cuda));
  CHECK_EQ(AMBIT_OK, ambit_register_source(rule, AMBIT_OPENCL, opencl));
}
#define REGISTER(rule, text) register_both(rule, CUDA_NAMES text, OPENCL_NAMES text)

static void registered_source_takes_the_place_of_generated_code(void)
{
  REGISTER(heat_rule, HEAT);
  EACH_DEVICE(d)
  for (int strict = 0; strict < 2; strict++) {
    scene s = set_up(*d, heat_rule, strict ? "1" : "0");

    run(&s);
    check_values(&s, heat_rule, is_gpu(*d) ? 1000.0f : 0.0f);
    CHECK_EQ(is_gpu(*d), is_registered(&s));
    CHECK_EQ(AMBIT_OK, ambit_close(s.a));
  }
}

static void another_rule_is_generated_as_ever(void)
{
  static const char other[] = "void heat(const float *u, float *v, float k, sum double *s)"
                              "{ v[0][0] = u[0][0] - k * (u[-1][0] + u[1][0]); *s = v[0][0]; }";

  REGISTER(heat_rule, HEAT);
  EACH_DEVICE(d)
  {
    scene s = set_up(*d, other, "0");

    run(&s);
    check_values(&s, other, 0);
    CHECK(!is_registered(&s));
    ambit_close(s.a);
  }
}

static void check_mistake(const char *rule, ambit_status status, const char *words)
{
  EACH_DEVICE(d)
  {
    scene s;

    if (!is_gpu(*d)) continue;
    s = set_up(*d, rule, "0");
    CHECK_EQ(status, ambit_run(s.p, 1));
    CHECK_FAILED(s.a, status, words);
    ambit_close(s.a);
  }
}

/* Kernels with unique names, because registrations stay. */
static void mistakes_are_told_with_the_compilers_words(void)
{
#define RULE(name)                                                                                 \
  "void " name "(const float *u, float *v, float k, sum double *s)"                                \
  "{ v[0][0] = k * u[0][1]; *s = u[0][0]; }"
  REGISTER(RULE("wrong"), "// ambit-launch: k 2d threads 1 blocks 1 at most 9\n"
                          "KERNEL void k(GLOBAL float *u) { *u = nobody_knows; }\n");
  check_mistake(RULE("wrong"), AMBIT_ECOMPILE, "the source registered for kernel wrong on ");
  check_mistake(RULE("wrong"), AMBIT_ECOMPILE, "nobody_knows");
  REGISTER(RULE("absent"), "// ambit-launch: absent 2d threads 1 blocks 1 at most 9\n"
                           "KERNEL void k(GLOBAL float *u) { *u = 1; }\n");
  check_mistake(RULE("absent"), AMBIT_ECOMPILE, "the source has no kernel absent");
  REGISTER(RULE("foldless"), "// ambit-launch: k 2d threads 1 blocks 1 at most 9\n"
                             "KERNEL void k(GLOBAL float *u) { *u = 1; }\n");
  check_mistake(RULE("foldless"), AMBIT_ECOMPILE, "the source has no kernel k_fold");
}

static void a_launch_that_cannot_be_is_explained(void)
{
  REGISTER(RULE("silent"), "KERNEL void k(GLOBAL float *u) { *u = 1; }\n");
  check_mistake(RULE("silent"), AMBIT_EINVAL, "does not say how it is launched");
  REGISTER(RULE("blurred"), "// ambit-launch: k 2d threads 1 blocks n5\n");
  check_mistake(RULE("blurred"), AMBIT_EINVAL, "an axis of the grid");
  REGISTER(RULE("deep"), "// ambit-launch: k 3d threads 1 blocks n1\n");
  check_mistake(RULE("deep"), AMBIT_EINVAL, "3 dimensions, and the kernel has 2; write 2d");
  REGISTER(RULE("wide"), "// ambit-launch: k 2d threads 30000x30 blocks n1 at most 1\n");
  check_mistake(RULE("wide"), AMBIT_EUNSUPPORTED, "blocks of 900000 threads");
  REGISTER(RULE("endless"), "// ambit-launch: k 2d threads 1 blocks n1\n");
  check_mistake(RULE("endless"), AMBIT_EINVAL, "write \"at most 1024\"");
#undef RULE
}

/* ---- cases in which it cannot be used ---- */

/* A kernel for any number of dimensions, and source for one. */
static void a_grid_of_other_dimensions_is_left_to_generated_code(void)
{
  static const char rule[] = "void flat(float *u) { *u = *u + 1; }";
  const int64_t extents[] = {3, 4};

  REGISTER(rule, "// ambit-launch: flat 1d threads 4 blocks n0 / 4\n"
                 "KERNEL void flat(GLOBAL float *u, integer u_o, integer s, integer c, integer lo,"
                 "                 integer hi, integer offset, integer extent, integer step)\n"
                 "{\n"
                 "  const integer i = lo + BLOCK(0) * 4 + THREAD(0);\n"
                 "  if (i < hi) u[u_o + i] += 7;\n"
                 "}\n");
  EACH_DEVICE(d)
  for (int n = 1; n <= 2; n++) {
    ambit *a = open_on(*d);
    ambit_grid *g = ambit_grid_create(a, n, extents);
    ambit_field *u = ambit_field_create(g, "u", AMBIT_F32);
    ambit_program *p = ambit_program_create(g);
    float values[12] = {0};

    ambit_apply(p, ambit_kernel_create(a, rule), u);
    ambit_run(p, 2);
    ambit_field_read(u, NULL, NULL, values);
    for (int i = 0; i < (n == 1 ? 3 : 12); i++)
      CHECK_EQ(is_gpu(*d) && n == 1 ? 14 : 2, values[i]);
    CHECK_OK(a);
    ambit_close(a);
  }
}

static void boxes_smaller_than_it_says_are_left_to_generated_code(void)
{
  static const char rule[] = "void thin(const float *u, float *v, float k, sum double *s)"
                             "{ v[0][0] = k * u[1][0]; *s = u[0][0]; }";

  REGISTER(rule, "// ambit-launch: never 2d threads 1 blocks 1 at most 9 where n1 >= 68\n");
  EACH_DEVICE(d)
  {
    scene s = set_up(*d, rule, "0");

    run(&s);
    check_values(&s, rule, 0);
    CHECK(!is_registered(&s));
    ambit_close(s.a);
  }
}

static void fields_it_could_not_walk_are_left_to_generated_code(void)
{
  static const char rule[] = "void pair(const float *u[2], float *v[2]) { *v[1] = *u[0] + *u[1]; }";

  REGISTER(rule, "// ambit-launch: never 1d threads 1 blocks 1\n");
  EACH_DEVICE(d)
  {
    ambit *a = open_on(*d);
    ambit_grid *g = grid_1d(a, 4);
    ambit_field *u = ambit_field_create_vector(g, "u", AMBIT_F32, 2, AMBIT_SOA);
    ambit_program *p = ambit_program_create(g);
    float values[8] = {0};

    ambit_field_set(u, 7);
    ambit_apply(p, ambit_kernel_create(a, rule), u, u);
    ambit_run(p, 1);
    ambit_field_read(u, NULL, NULL, values);
    CHECK_OK(a);
    CHECK(values[0] == 7 && values[1] == 14 && values[7] == 14);
    ambit_close(a);
  }
}

static void what_cannot_be_registered_is_refused(void)
{
  CHECK_EQ(AMBIT_EKERNEL, ambit_register_source("no kernel at all", AMBIT_CUDA, HEAT));
  CHECK_EQ(AMBIT_EINVAL, ambit_register_source(heat_rule, (ambit_language)7, HEAT));
  CHECK_EQ(AMBIT_EINVAL, ambit_register_source(heat_rule, AMBIT_OPENCL, NULL));
  CHECK_EQ(AMBIT_EINVAL, ambit_register_source(NULL, AMBIT_OPENCL, HEAT));
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"registered_source_takes_the_place_of_generated_code",
       registered_source_takes_the_place_of_generated_code},
      {"another_rule_is_generated_as_ever", another_rule_is_generated_as_ever},
      {"mistakes_are_told_with_the_compilers_words", mistakes_are_told_with_the_compilers_words},
      {"a_launch_that_cannot_be_is_explained", a_launch_that_cannot_be_is_explained},
      {"a_grid_of_other_dimensions_is_left_to_generated_code",
       a_grid_of_other_dimensions_is_left_to_generated_code},
      {"boxes_smaller_than_it_says_are_left_to_generated_code",
       boxes_smaller_than_it_says_are_left_to_generated_code},
      {"fields_it_could_not_walk_are_left_to_generated_code",
       fields_it_could_not_walk_are_left_to_generated_code},
      {"what_cannot_be_registered_is_refused", what_cannot_be_registered_is_refused},
      {NULL, NULL},
  };
  bool any = false;

  EACH_DEVICE(d) any = any || is_gpu(*d);
  if (!any) {
    printf("skipped: there is no GPU here, and no OpenCL\n");
    return 77;
  }
  return test_main(argc, argv, tests);
}
