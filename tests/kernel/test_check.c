/* SPDX-License-Identifier: BSD-3-Clause */
/* test_check.c - types are C's, and every conversion is visible. */
#include "kernel_test.h"

static void check_int(const char *expression, const char *want)
{
  char text[500], whole[500];

  snprintf(text, sizeof text,
           "void f(const int *i, const long *l, const short *s, const unsigned char *c,\n"
           "       const float *x, const double *d, double *v) { *v = %s; }",
           expression);
  snprintf(whole, sizeof whole,
           "void f(const int *i, const long *l, const short *s, const unsigned char *c, "
           "const float *x, const double *d, double *v)\n{\n  *v = %s;\n}\n",
           want);
  check_prints(text, whole);
}

static void short_types_count_as_int(void)
{
  check_int("*c + *s", "(double)((int)*c + (int)*s)");
  check_int("-*c", "(double)-(int)*c");
  check_int("+*c", "(double)(int)*c");
  check_int("~*s", "(double)~(int)*s");
  check_int("*c ? *c : *s", "(double)((int)*c ? (int)*c : (int)*s)");
}

static void the_wider_type_wins(void)
{
  check_int("*i + *l", "(double)((long)*i + *l)");
  check_int("*l * *x", "(double)((float)*l * *x)");
  check_int("*x - *d", "(double)*x - *d");
  check_int("*i < *d", "(double)((double)*i < *d)");
  check_int("*i ? *x : *l", "(double)(*i ? *x : (float)*l)");
}

static void a_shift_has_the_type_of_its_left_side(void)
{
  check_int("*i << *l", "(double)(*i << *l)");
  check_int("*c >> *s", "(double)((int)*c >> (int)*s)");
  check_int("*l << *i", "(double)(*l << *i)");
}

static void conditions_are_int(void)
{
  check_int("*d && *i", "(double)(*d != 0.0 && *i)");
  check_int("!*x", "(double)!(*x != 0.0f)");
  check_int("!*l || *c", "(double)(!(*l != 0L) || (int)*c)");
  check_int("*l ? 1 : 2", "(double)(*l != 0L ? 1 : 2)");
}

static void functions_convert_their_arguments(void)
{
  check_int("sqrt(*i)", "sqrt((double)*i)");
  check_int("sqrtf(*d)", "(double)sqrtf((float)*d)");
  check_int("fma(*x, 2, *d)", "fma((double)*x, 2.0, *d)");
  check_int("abs(*d) + labs(*i)", "(double)((long)abs((int)*d) + labs((long)*i))");
}

static void places_are_long(void)
{
  check_int("index(0) + extent(1) * step()", "(double)(index(0) + extent(1) * step())");
}

static void an_assignment_converts_to_its_target(void)
{
  check_prints("void f(unsigned char *v, double k) { *v = k; *v += 1; short t = 3.7; *v = t; }",
               "void f(unsigned char *v, double k)\n{\n  *v = (unsigned char)k;\n"
               "  *v = (unsigned char)((int)*v + 1);\n  short t = (short)3;\n"
               "  *v = (unsigned char)t;\n}\n");
}

static void a_cast_to_the_same_type_disappears(void)
{
  check_body("*v = (float)(float)*u;", "  *v = *u;\n");
  check_body("*v = (float)(double)*u;", "  *v = (float)(double)*u;\n");
  check_body("*v = (unsigned char)(int)*u;", "  *v = (float)(unsigned char)(int)*u;\n");
}

static void an_inner_name_hides_an_outer_one(void)
{
  check_body("float t = 1; { float t = 2; *v = t; } *v += t;",
             "  float t = 1.0f;\n  float t_1 = 2.0f;\n  *v = t_1;\n  *v = *v + t;\n");
  check_body("float t = 1; { float q = t; float t = q; *v = t; }",
             "  float t = 1.0f;\n  float q = t;\n  float t_1 = q;\n  *v = t_1;\n");
  check_refused("void f(float *v) { float v = 1; }", "'v' is already declared here, at line 1");
  check_refused("void f(float *v) { float t = 1; int t = 2; *v = t; }", "already declared");
  check_refused("void f(float *v) { { float t = 1; } *v = t; }", "unknown name 't'");
}

static void a_misspelt_name_gets_a_guess(void)
{
  check_refused("void f(float *v) { float speed = 1; *v = sped; }", "did you mean 'speed'?");
  check_refused("void f(float *v) { *v = srqt(2.0); }", "did you mean 'sqrt'?");
  check_refused("void f(float *v) { float a = 1; *v = b; }", "unknown name 'b'\n");
}

static void an_unknown_name_is_told_once(void)
{
  ambit__errors errors = {0};
  ambit__rule *rule;

  ambit__rule_parse(&errors, "t.c", "void f(float *v) { *v = a + a; *v = a % 2.0; }", &rule);
  CHECK(strstr(errors.text, "unknown name 'a'") == strstr(errors.text, "unknown name"));
  CHECK(!strstr(strstr(errors.text, "unknown name") + 1, "unknown name"));
  ambit__errors_clear(&errors);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"short_types_count_as_int", short_types_count_as_int},
      {"the_wider_type_wins", the_wider_type_wins},
      {"a_shift_has_the_type_of_its_left_side", a_shift_has_the_type_of_its_left_side},
      {"conditions_are_int", conditions_are_int},
      {"functions_convert_their_arguments", functions_convert_their_arguments},
      {"places_are_long", places_are_long},
      {"an_assignment_converts_to_its_target", an_assignment_converts_to_its_target},
      {"a_cast_to_the_same_type_disappears", a_cast_to_the_same_type_disappears},
      {"an_inner_name_hides_an_outer_one", an_inner_name_hides_an_outer_one},
      {"a_misspelt_name_gets_a_guess", a_misspelt_name_gets_a_guess},
      {"an_unknown_name_is_told_once", an_unknown_name_is_told_once},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
