/* SPDX-License-Identifier: BSD-3-Clause */
/* Registered functions: compiled or written by the user, they replace generated ones. */
#include "ambit_compiled.h"
#include "runtime/runtime_test.h"

static const char twice_rule[] =
    "void twice(const float *u, float *v, float k, sum double *s) { *v = k * *u; *s = *u; }";

static int calls;                /* of the function below */
static ambit_compiled_call last; /* the arguments of its last call */

/* A hand-written `twice` that adds 1000, so that its use is visible. */
static void by_hand(const ambit_compiled_call *call)
{
  const float *u = call->origin[0], k = *(const float *)call->origin[2];
  float *v = call->origin[1];
  double *sum = call->origin[3];

  calls++;
  last = *call;
  for (int64_t i = call->lo[0]; i < call->hi[0]; i++)
    for (int64_t j = call->lo[1]; j < call->hi[1]; j++) {
      float x = u[i * call->stride[0][0] + j];

      v[i * call->stride[1][0] + j] = k * x + 1000;
      *sum += (double)x;
    }
}

static void never(const ambit_compiled_call *call)
{
  (void)call;
  CHECK_MSG(false, "a registered function was called where it must not be");
}

typedef struct scene {
  ambit *a;
  ambit_field *u, *v;
  ambit_scalar *sum;
  ambit_program *p;
} scene;

/* Sets an option in between, if it has a name. */
static scene set_up_with(const char *device, const char *text, const char *option,
                         const char *value)
{
  scene s = {.a = open_on(device)};
  ambit_grid *g;

  if (option) ambit_option_set(s.a, option, value);
  g = grid_2d(s.a, 3, 5);
  s.u = ambit_field_create(g, "u", AMBIT_F32);
  s.v = ambit_field_create(g, "v", AMBIT_F32);
  s.sum = ambit_scalar_create(s.a, "sum", AMBIT_F64);
  s.p = ambit_program_create(g);
  ambit_field_set(s.u, 2);
  ambit_apply(s.p, ambit_kernel_create(s.a, text), s.u, s.v, 3, s.sum);
  return s;
}

static scene set_up(const char *device, const char *text)
{
  return set_up_with(device, text, NULL, NULL);
}

static float corner(const scene *s)
{
  float values[15] = {0};

  ambit_field_read(s->v, NULL, NULL, values);
  CHECK_OK(s->a);
  for (int i = 1; i < 15; i++)
    CHECK_EQ(values[0], values[i]);
  return values[0];
}

static void a_registered_function_is_used_and_given_its_box(void)
{
  scene s = set_up("cpu", twice_rule);

  calls = 0;
  ambit_run(s.p, 2);
  CHECK(calls >= 2);
  CHECK_EQ(1006, corner(&s));
  CHECK_EQ(30, ambit_scalar_get(s.sum));
  CHECK_EQ(1, last.step);
  CHECK_EQ(3, last.extent[0]);
  CHECK_EQ(5, last.extent[1]);
  CHECK_EQ(1, last.stride[0][1]);
  CHECK_EQ(1, last.stride[1][1]);
  CHECK_EQ(AMBIT_OK, ambit_close(s.a));
}

static void spelling_and_blanks_do_not_matter(void)
{
  scene s = set_up("cpu", "void twice(const float*u,float*v,float k,sum double*s)\n"
                          "{\n"
                          "  /* the same */ *v = (k * (*u));\n"
                          "  *s = *u;\n"
                          "}\n");

  calls = 0;
  ambit_run(s.p, 1);
  CHECK(calls > 0);
  CHECK_EQ(1006, corner(&s));
  ambit_close(s.a);
}

static void another_rule_is_compiled_as_ever(void)
{
  scene s = set_up("cpu", "void twice(const float *u, float *v, float k, sum double *s)"
                          "{ *v = k + *u; *s = *u; }");

  calls = 0;
  ambit_run(s.p, 1);
  CHECK_EQ(0, calls);
  CHECK_EQ(5, corner(&s));
  ambit_close(s.a);
}

static void the_reference_never_uses_it(void)
{
  scene s = set_up("ref", twice_rule);

  calls = 0;
  ambit_run(s.p, 1);
  CHECK_EQ(0, calls);
  CHECK_EQ(6, corner(&s));
  ambit_close(s.a);
}

static void strict_mode_and_a_missing_compiler_use_it_too(void)
{
  scene strict = set_up_with("cpu", twice_rule, "strict", "1");
  scene bare = set_up_with("cpu", twice_rule, "cc", "none");

  ambit_run(strict.p, 1);
  ambit_run(bare.p, 1);
  CHECK_EQ(1006, corner(&strict));
  CHECK_EQ(1006, corner(&bare));
  ambit_close(strict.a);
  ambit_close(bare.a);
}

/* The function may assume contiguous cells and distinct fields. */
static void fields_it_could_not_walk_are_left_to_generated_code(void)
{
  static const char text[] = "void pair(const float *u[2], float *v[2]) { *v[1] = *u[0]; }";
  static const char plain[] = "void plain(const float *u, float *v) { *v = *u + 1; }";
  ambit *a = open_on("cpu");
  ambit_grid *g = grid_1d(a, 4);
  ambit_field *u = ambit_field_create_vector(g, "u", AMBIT_F32, 2, AMBIT_AOS);
  ambit_field *v = ambit_field_create_vector(g, "v", AMBIT_F32, 2, AMBIT_AOS);
  ambit_field *w = ambit_field_create(g, "w", AMBIT_F32);
  ambit_scalar *s = ambit_scalar_create(a, "s", AMBIT_F32);
  ambit_program *p = ambit_program_create(g);
  ambit_kernel *k = ambit_kernel_create(a, plain);
  float values[8], ones[4];

  CHECK_EQ(AMBIT_OK, ambit_register_cpu(text, never));
  CHECK_EQ(AMBIT_OK, ambit_register_cpu(plain, never));
  ambit_field_set(u, 7);
  ambit_scalar_set(s, 4);
  ambit_apply(p, ambit_kernel_create(a, text), u, v);
  ambit_apply(p, k, s, w); /* a scalar instead of a field */
  ambit_apply(p, k, w, w); /* one field twice */
  ambit_run(p, 1);
  ambit_field_read(v, NULL, NULL, values);
  ambit_field_read(w, NULL, NULL, ones);
  CHECK(values[0] == 0 && values[1] == 7 && values[7] == 7);
  CHECK(ones[0] == 6 && ones[3] == 6);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static void the_latest_registration_counts(void)
{
  static const char text[] =
      "void latest(const float *u, float *v, float k, sum double *s) { *v = k - *u; *s = *u; }";
  scene s;

  CHECK_EQ(AMBIT_OK, ambit_register_cpu(text, never));
  CHECK_EQ(AMBIT_OK, ambit_register_cpu(text, by_hand));
  s = set_up("cpu", text);
  ambit_run(s.p, 1);
  CHECK_EQ(1006, corner(&s));
  ambit_close(s.a);
}

static void what_cannot_be_registered_is_refused(void)
{
  CHECK_EQ(AMBIT_EKERNEL, ambit_register_cpu("no kernel at all", by_hand));
  CHECK_EQ(AMBIT_EINVAL, ambit_register_cpu(twice_rule, NULL));
  CHECK_EQ(AMBIT_EINVAL, ambit_register_cpu(NULL, by_hand));
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"a_registered_function_is_used_and_given_its_box",
       a_registered_function_is_used_and_given_its_box},
      {"spelling_and_blanks_do_not_matter", spelling_and_blanks_do_not_matter},
      {"another_rule_is_compiled_as_ever", another_rule_is_compiled_as_ever},
      {"the_reference_never_uses_it", the_reference_never_uses_it},
      {"strict_mode_and_a_missing_compiler_use_it_too",
       strict_mode_and_a_missing_compiler_use_it_too},
      {"fields_it_could_not_walk_are_left_to_generated_code",
       fields_it_could_not_walk_are_left_to_generated_code},
      {"the_latest_registration_counts", the_latest_registration_counts},
      {"what_cannot_be_registered_is_refused", what_cannot_be_registered_is_refused},
      {NULL, NULL},
  };

  if (ambit_register_cpu(twice_rule, by_hand)) return 1;
  return test_main(argc, argv, tests);
}
