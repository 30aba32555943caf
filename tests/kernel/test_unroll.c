/* SPDX-License-Identifier: BSD-3-Clause */
/* test_unroll.c - a rule contains no loops, local arrays and constants. */
#include "kernel_test.h"

static void loops_are_unrolled(void)
{
  check_body("*v = 0; for (int i = 0; i < 3; i++) *v += u[i];",
             "  v[0] = 0.0f;\n  v[0] = v[0] + u[0];\n  v[0] = v[0] + u[1];\n"
             "  v[0] = v[0] + u[2];\n");
  check_body("*v = 0; for (int i = -1; i <= 1; i += 2) for (int j = 1; j >= -1; j -= 2) "
             "*v += u[i][j];",
             "  v[0][0] = 0.0f;\n  v[0][0] = v[0][0] + u[-1][1];\n"
             "  v[0][0] = v[0][0] + u[-1][-1];\n  v[0][0] = v[0][0] + u[1][1];\n"
             "  v[0][0] = v[0][0] + u[1][-1];\n");
  check_body("for (long i = 4; 2 < i; --i) *v = i;", "  *v = 4.0f;\n  *v = 3.0f;\n");
  check_body("for (int i = 1; i != 7; i = i + 3) *v = i;", "  *v = 1.0f;\n  *v = 4.0f;\n");
}

static void a_bound_may_follow_an_outer_loop(void)
{
  check_body("for (int i = 0; i < 3; i++) for (int j = 0; j < i; j++) *v = 11 * i + j;",
             "  *v = 11.0f;\n  *v = 22.0f;\n  *v = 23.0f;\n");
}

static void a_loop_that_never_runs_leaves_nothing(void)
{
  check_body("*v = 1; for (int i = 0; i < 0; i++) *v = u[5000];", "  v[0] = 1.0f;\n");
}

static void constants_are_folded(void)
{
  check_body("const int n = 3; const float k = n / 2 * 0.5f; *v = k * *u;", "  *v = 0.5f * *u;\n");
  check_body("*v = 1 + 2 * 3 - -4; *v = 7 / 0; *v = 1.0 / 3;",
             "  *v = 11.0f;\n  *v = 0.0f;\n  *v = 0.33333334f;\n");
  check_body("*v = sqrtf(16) + fmax(1, 2) + abs(-3);", "  *v = 9.0f;\n");
  check_body("*v = 0 * *u + 0;", "  *v = 0.0f * *u + 0.0f;\n");
}

static void what_no_one_reaches_is_left_out(void)
{
  check_body("if (1 > 2) *v = 1; else *v = 2;", "  *v = 2.0f;\n");
  check_body("*v = 1 ? *u : u[5000];", "  v[0] = u[0];\n");
  check_body("*v = 0 && *u; *v = 1 || *u; *v = 1 && *u; *v = 0 || *u < 1;",
             "  *v = 0.0f;\n  *v = 1.0f;\n  *v = (float)(*u != 0.0f);\n"
             "  *v = (float)(*u < 1.0f);\n");
  check_body("if (*u) ; else { } *v = 1;", "  *v = 1.0f;\n");
}

static void constant_tables_fold(void)
{
  check_body("const int cx[3] = {-1, 0, 1}; const float w[] = {1, 2, 1}; float s = 0;\n"
             "for (int i = 0; i < 3; i++) s += w[i] * u[cx[i]]; *v = s / 4;",
             "  float s = 0.0f;\n  s = s + 1.0f * u[-1];\n  s = s + 2.0f * u[0];\n"
             "  s = s + 1.0f * u[1];\n  v[0] = s / 4.0f;\n");
  check_body("const int t[2][3] = {{1, 2, 3}, {4}}; *v = t[0][2] * 10 + t[1][0] + t[1][2];",
             "  *v = 34.0f;\n");
  check_body("const int t[][2] = {1, 2, 3}; *v = t[1][0] * 11 + t[1][1];", "  *v = 33.0f;\n");
}

static void local_arrays_become_locals(void)
{
  check_body("float t[2]; t[0] = *u; t[1] = t[0] * 2; *v = t[1];",
             "  float t_0;\n  float t_1;\n  t_0 = *u;\n  t_1 = t_0 * 2.0f;\n  *v = t_1;\n");
  check_body("float t[2][2] = {{*u}, {2, 3}}; *v = t[0][0] + t[1][1];",
             "  float t_0_0 = *u;\n  float t_0_1 = 0.0f;\n  float t_1_0 = 2.0f;\n"
             "  float t_1_1 = 3.0f;\n  *v = t_0_0 + t_1_1;\n");
  check_body("const float t[2] = {*u, 2}; *v = t[0] * t[1];",
             "  float t_0 = *u;\n  *v = t_0 * 2.0f;\n");
}

static void locals_get_names_of_their_own(void)
{
  check_body("for (int i = 0; i < 3; i++) { float t = i; *v = t; }",
             "  float t = 0.0f;\n  *v = t;\n  float t_1 = 1.0f;\n  *v = t_1;\n"
             "  float t_2 = 2.0f;\n  *v = t_2;\n");
  check_body("float t_1 = 1; float t = 2; { float t = 3; *v = t + t_1; } *v += t;",
             "  float t_1 = 1.0f;\n  float t = 2.0f;\n  float t_2 = 3.0f;\n"
             "  *v = t_2 + t_1;\n  *v = *v + t;\n");
  check_body("float sqrtf = *u; float class = 2; float ambit_x = 3, _y = 4;\n"
             "*v = sqrtf + class + ambit_x + _y + sqrtf(*u);",
             "  float sqrtf_1 = *u;\n  float class = 2.0f;\n  float xambit_x = 3.0f;\n"
             "  float x_y = 4.0f;\n  *v = sqrtf_1 + class + xambit_x + x_y + sqrtf(*u);\n");
  check_prints(
      "void f(float *ambit_i64, float *v_1) { float v_1x = 1; *v_1 = v_1x; *ambit_i64 = 2; }",
      "void f(float *xambit_i64, float *v_1)\n{\n  float v_1x = 1.0f;\n  *v_1 = v_1x;\n"
      "  *xambit_i64 = 2.0f;\n}\n");
}

static void loops_that_are_too_long_are_refused(void)
{
  check_refused("void f(float *v) { for (int i = 0; i < 1000000000; i++) *v = i; }", "too long");
  check_refused("void f(float *v) { *v = 1; for (int i = 0; i < 30000; i++)"
                " for (int j = 0; j < 30000; j++) ; }",
                "too long");
  check_refused("void f(float *v) { *v = 1; for (int i = 2147483646; i != 0; i++) ; }",
                "never ends: it leaves the range");
  check_refused("void f(float *v) { *v = 1; for (int i = 1; i > 0; i++) ; }",
                "away from its bound");
  check_refused("void f(float *v) { *v = 1; for (int i = 1; i > 0; i += 0) ; }", "never end");
}

static void deep_nesting_is_refused_not_survived_by_luck(void)
{
  enum { DEEP = 100000 };
  char *text = malloc(3 * DEEP + 100), *p = text;

  CHECK(text != NULL);
  if (!text) return;
  p += sprintf(p, "void f(float *v) { *v = ");
  memset(p, '(', DEEP);
  strcpy(p + DEEP, "1; }");
  check_refused(text, "nested more than 200 deep");
  for (int i = 0; i < DEEP; i++)
    memcpy(p + 2 * i, "1+", 2);
  strcpy(p + 2 * DEEP, "1; }");
  check_refused(text, "too long");
  p = text + sprintf(text, "void f(float *v) { ");
  memset(p, '{', DEEP);
  strcpy(p + DEEP, "");
  check_refused(text, "nested more than 200 deep");
  free(text);
}

static void a_sum_of_thousands_of_terms_is_fine(void)
{
  enum { TERMS = 4000 };
  char *text = malloc(20 * TERMS), *p = text;
  ambit__rule *r;

  CHECK(text != NULL);
  if (!text) return;
  p += sprintf(p, "void f(const float *u, float *v) { *v = *u");
  for (int i = 1; i < TERMS; i++)
    p += sprintf(p, " + u[%d]", i % 1000);
  strcpy(p, "; }");
  r = parse_ok(text);
  CHECK_EQ(TERMS - 1, r->flops);
  CHECK_EQ(1000, r->params[0].nreads);
  ambit__rule_free(r);
  free(text);
}

static void calls_of_functions_become_their_statements(void)
{
  check_prints("static float sq(float x) { return x * x; }\n"
               "void k(const float *u, float *v) { *v = sq(*u) + sq(sq(2)); }",
               "void k(const float *u, float *v)\n{\n  float x = *u;\n  float sq = x * x;\n  *v = "
               "sq + 16.0f;\n}\n");
  check_prints("static int twice(double x) { x = 2 * x; return x; }\n"
               "void k(int *v) { *v = twice(1); }",
               "void k(int *v)\n{\n  double x = 1.0;\n  x = 2.0 * x;\n  int twice = (int)x;\n  *v "
               "= twice;\n}\n");
}

static void functions_take_arrays_and_constants_as_subscripts(void)
{
  check_prints(
      "static float pick(int i, const float w[3]) { return w[i]; }\n"
      "static float add(const float w[3])\n"
      "{ float s = 0; for (int i = 0; i < 3; i++) s += pick(i, w); return s; }\n"
      "void k(const float *u, float *v)\n"
      "{ float h[3] = {*u, 1, 2}; const float w[3] = {3, 4, 5}; *v = add(h) + pick(2, w); }",
      "void k(const float *u, float *v)\n{\n  float h_0 = *u;\n  float h_1 = 1.0f;\n"
      "  float h_2 = 2.0f;\n  float s = 0.0f;\n  s = s + h_0;\n  s = s + h_1;\n"
      "  s = s + h_2;\n  *v = s + 5.0f;\n}\n");
}

static void constants_of_the_text_are_seen_by_what_follows(void)
{
  check_prints("static const int n = 2, first = 1; const float w[n + 1] = {3, 4, 5};\n"
               "static float pick(float x, const float y[3]) { return x * w[n] + y[first]; }\n"
               "void k(const float *u, float *v) { *v = pick(*u, w); }",
               "void k(const float *u, float *v)\n{\n  float x = *u;\n  float pick = x * 5.0f + "
               "4.0f;\n  *v = pick;\n}\n");
  check_prints("const int n = 2;\nvoid k(const float *u[n], float *v) { *v = *u[n - 1]; }",
               "void k(const float *u[2], float *v)\n{\n  *v = *u[1];\n}\n");
  check_refused("const long n = step();\nvoid k(float *v) { *v = n; }",
                "what stands outside functions must be constant");
  check_refused("const float w[2] = {1, index(0)};\nvoid k(float *v) { *v = w[0]; }",
                "what stands outside functions must be constant");
  check_refused("const float f(float x) { return x; } void k(float *v) { *v = 1; }",
                "a kernel starts with void");
  /* a parameter or a local of the same name comes first */
  check_prints("static const float w = 3;\nvoid k(const float *w, float *v) { *v = *w; }",
               "void k(const float *w, float *v)\n{\n  *v = *w;\n}\n");
  check_prints("const float w = 3;\nvoid k(float *v) { float w = 4; *v = w; }",
               "void k(float *v)\n{\n  float w = 4.0f;\n  *v = w;\n}\n");
}

static void outside_folds_and_prints_as_itself(void)
{
  check_body("*v = outside(0, 0) ? 1 : u[0][1]; if (outside(-1, 2) || *u > 0) *v = 2;",
             "  v[0][0] = u[0][1];\n  if (outside(-1, 2) || u[0][0] > 0.0f) {\n"
             "    v[0][0] = 2.0f;\n  }\n");
  check_body("*v = -outside(1, 0) * 2 + index(0);",
             "  v[0][0] = (float)((long)(-outside(1, 0) * 2) + index(0));\n");
}

static void arguments_beyond_a_face_are_read_under_their_condition(void)
{
  check_prints("static float sq(float x) { return x * x; }\n"
               "void k(const float *u, float *v) { *v = outside(1) ? 0 : sq(u[1]); }",
               "void k(const float *u, float *v)\n{\n  float chosen;\n  if (outside(1)) {\n"
               "    chosen = 0.0f;\n  } else {\n    float x = u[1];\n    float sq = x * x;\n"
               "    chosen = sq;\n  }\n  v[0] = chosen;\n}\n");
  check_prints("static float sq(float x) { return x * x; }\n"
               "void k(const float *u, float *v)\n"
               "{ *v = 1; if (!outside(1) && sq(u[1]) > 2) *v = u[1]; }",
               "void k(const float *u, float *v)\n{\n  v[0] = 1.0f;\n  int chosen;\n"
               "  if (!outside(1)) {\n    float x = u[1];\n    float sq = x * x;\n"
               "    chosen = sq > 2.0f;\n  } else {\n    chosen = 0;\n  }\n"
               "  if (!outside(1) && chosen) {\n    v[0] = u[1];\n  }\n}\n");
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"loops_are_unrolled", loops_are_unrolled},
      {"a_bound_may_follow_an_outer_loop", a_bound_may_follow_an_outer_loop},
      {"a_loop_that_never_runs_leaves_nothing", a_loop_that_never_runs_leaves_nothing},
      {"constants_are_folded", constants_are_folded},
      {"what_no_one_reaches_is_left_out", what_no_one_reaches_is_left_out},
      {"constant_tables_fold", constant_tables_fold},
      {"local_arrays_become_locals", local_arrays_become_locals},
      {"locals_get_names_of_their_own", locals_get_names_of_their_own},
      {"loops_that_are_too_long_are_refused", loops_that_are_too_long_are_refused},
      {"deep_nesting_is_refused_not_survived_by_luck",
       deep_nesting_is_refused_not_survived_by_luck},
      {"a_sum_of_thousands_of_terms_is_fine", a_sum_of_thousands_of_terms_is_fine},
      {"calls_of_functions_become_their_statements", calls_of_functions_become_their_statements},
      {"functions_take_arrays_and_constants_as_subscripts",
       functions_take_arrays_and_constants_as_subscripts},
      {"constants_of_the_text_are_seen_by_what_follows",
       constants_of_the_text_are_seen_by_what_follows},
      {"outside_folds_and_prints_as_itself", outside_folds_and_prints_as_itself},
      {"arguments_beyond_a_face_are_read_under_their_condition",
       arguments_beyond_a_face_are_read_under_their_condition},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
