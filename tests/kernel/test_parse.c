/* SPDX-License-Identifier: BSD-3-Clause */
/* test_parse.c - the grammar. */
#include "kernel_test.h"

static void parameters_are_fields_values_and_reductions(void)
{
  ambit__rule *r = parse_ok("void f(const float *u, double *v, float *q[2 * 3], long int k,\n"
                            "       sum double *s, min short int *a, max unsigned char *b)\n"
                            "{ *v = *u; *q[1] = k; *s += 1; *a = 3; *b = 4; }");

  CHECK_STR("f", r->name);
  CHECK_EQ(7, r->nparams);
  CHECK(r->params[0].kind == PARAM_FIELD && r->params[0].is_const);
  CHECK(r->params[1].kind == PARAM_FIELD && !r->params[1].is_const);
  CHECK_EQ(AMBIT_F64, r->params[1].type);
  CHECK(r->params[2].is_vector && !r->params[1].is_vector);
  CHECK_EQ(6, r->params[2].components);
  CHECK_EQ(1, r->params[0].components);
  CHECK(r->params[3].kind == PARAM_VALUE && r->params[3].type == AMBIT_I64);
  CHECK(r->params[4].kind == PARAM_REDUCE && r->params[4].reduce == REDUCE_SUM);
  CHECK(r->params[5].reduce == REDUCE_MIN && r->params[5].type == AMBIT_I16);
  CHECK(r->params[6].reduce == REDUCE_MAX && r->params[6].type == AMBIT_U8);
  CHECK_EQ(1, r->params[3].place.line);
  CHECK_STR("test.c", r->file);
  ambit__rule_free(r);
}

static void qualifiers_of_pointers_mean_nothing(void)
{
  check_prints("void f(float const *restrict u, float *const restrict v) { *v = *u; }",
               "void f(const float *u, float *v)\n{\n  *v = *u;\n}\n");
}

static void sum_min_and_max_are_ordinary_names_elsewhere(void)
{
  check_prints("void f(sum float *sum, float min) { float max = min; *sum = max; }",
               "void f(sum float *sum, float min)\n{\n  float max = min;\n  *sum = max;\n}\n");
}

static void operators_bind_as_in_c(void)
{
  check_body("*v = *u - *u - *u;", "  *v = *u - *u - *u;\n");
  check_body("*v = *u - (*u - *u);", "  *v = *u - (*u - *u);\n");
  check_body("*v = (*u * *u) + *u / *u;", "  *v = *u * *u + *u / *u;\n");
  check_body("*v = (*u + *u) * -*u;", "  *v = (*u + *u) * -*u;\n");
  check_body("*v = *u < 1 == *u > 2;", "  *v = (float)(*u < 1.0f == *u > 2.0f);\n");
  check_body("int a = step(); a = a | a ^ a & a << 1 + a; *v = 0;",
             "  int a = (int)step();\n  a = a | a ^ a & a << 1 + a;\n  *v = 0.0f;\n");
}

static void a_conditional_expression_takes_what_follows(void)
{
  check_body("*v = *u ? 1 : *u < 2 ? 3 : 4;",
             "  *v = (float)(*u != 0.0f ? 1 : *u < 2.0f ? 3 : 4);\n");
  check_body("*v = (*u > 1 ? *u : 2) * 3;", "  *v = (*u > 1.0f ? *u : 2.0f) * 3.0f;\n");
}

static void assignments_with_an_operator_are_spelt_out(void)
{
  check_body("*v = 1; *v += *u; *v *= 2; --*v;",
             "  *v = 1.0f;\n  *v = *v + *u;\n  *v = *v * 2.0f;\n  *v = *v - 1.0f;\n");
  check_prints("void f(int *v) { *v %= 3; *v <<= 2; *v >>= 1; *v &= 7; *v |= 8; *v ^= 1; (*v)++; }",
               "void f(int *v)\n{\n  *v = *v % 3;\n  *v = *v << 2;\n  *v = *v >> 1;\n"
               "  *v = *v & 7;\n  *v = *v | 8;\n  *v = *v ^ 1;\n  *v = *v + 1;\n}\n");
}

static void literals_are_those_of_c(void)
{
  check_prints("void f(double *v) { *v = 0x1.8p1; *v = 12.5e1; *v = .5; *v = 1.f; *v = 1e-1f; }",
               "void f(double *v)\n{\n  *v = 3.0;\n  *v = 125.0;\n  *v = 0.5;\n  *v = 1.0;\n"
               "  *v = 0.10000000149011612;\n}\n");
  check_prints("void f(long *v) { *v = 0x10; *v = 010; *v = 12l; *v = 0; *v = 5000000000L; }",
               "void f(long *v)\n{\n  *v = 16L;\n  *v = 8L;\n  *v = 12L;\n  *v = 0L;\n"
               "  *v = 5000000000L;\n}\n");
}

static void comments_and_blanks_do_not_matter(void)
{
  check_body("// one\n*v /* two\n lines */ =\t*u\r\n;", "  *v = *u;\n");
}

static void a_line_mark_names_file_and_line(void)
{
  ambit__rule *r = parse_ok("#line 41 \"dir/a \\\"b\\\".c\"\nvoid f(float *v)\n{ *v = 1; }");

  CHECK_STR("dir/a \"b\".c", r->file);
  CHECK_EQ(41, r->params[0].place.line);
  CHECK_EQ(15, r->params[0].place.column);
  ambit__rule_free(r);
  check_refused("#line 41 \"x.c\"\nvoid f(float *v)\n{ *v = a; }", "x.c:42:8: error: unknown name");
}

static void one_text_can_have_several_mistakes(void)
{
  ambit__errors errors = {0};
  ambit__rule *rule;

  ambit__rule_parse(&errors, "t.c",
                    "void f(float *v)\n{\n  *v = ;\n  while (1) *v = 2;\n  *v = 3\n}\n", &rule);
  CHECK(strstr(errors.text, "t.c:3:8: error") != NULL);
  CHECK(strstr(errors.text, "t.c:4:3: error") != NULL);
  CHECK(strstr(errors.text, "t.c:5:9: error: ';' is missing") != NULL);
  CHECK(strstr(errors.text, "t.c:6") == NULL);
  ambit__errors_clear(&errors);
}

static void at_most_ten_mistakes_are_told(void)
{
  char text[1000] = "void f(float *v)\n{\n";
  ambit__errors errors = {0};
  ambit__rule *rule;
  int n = 0;

  for (int i = 0; i < 30; i++)
    strcat(text, "  *v = ;\n");
  strcat(text, "}\n");
  ambit__rule_parse(&errors, "t.c", text, &rule);
  for (const char *p = errors.text; (p = strstr(p, "error:")); p++)
    n++;
  CHECK_EQ(10, n);
  ambit__errors_clear(&errors);
}

static void no_text_is_an_error_too(void)
{
  ambit__errors errors = {0};
  ambit__rule *rule;

  CHECK_EQ(AMBIT_EINVAL, ambit__rule_parse(&errors, "t.c", NULL, &rule));
  CHECK(!rule);
  ambit__errors_clear(&errors);
  check_refused("", "a kernel starts with void");
  check_refused("void", "the name of the kernel is missing");
}

static ambit_status parse_real(ambit__errors *errors, const char *text, ambit_type real,
                               ambit__rule **rule)
{
  const ambit__reading how = {.text = text, .real = &real, .axes = -1};

  return ambit__rule_read(errors, &how, rule);
}

static void check_real(ambit_type real, const char *want)
{
  static const char text[] =
      "static real half(real x) { return 0.5 * sqrt(x); }\n"
      "void k(const real *u, real *v) { *v = (real)1 + half(*u) * M_PI + 1.5f; }";
  ambit__errors errors = {0};
  ambit__rule *rule;
  char *got;

  CHECK(!parse_real(&errors, text, real, &rule));
  got = ambit__rule_print(rule);
  CHECK_STR(want, got);
  free(got);
  ambit__rule_free(rule);
}

static void real_is_float_double_or_half_as_asked(void)
{
  check_real(AMBIT_F32, "void k(const float *u, float *v)\n{\n  float x = *u;\n"
                        "  float half = 0.5f * sqrtf(x);\n"
                        "  *v = 1.0f + half * 3.1415927f + 1.5f;\n}\n");
  check_real(AMBIT_F64, "void k(const double *u, double *v)\n{\n  double x = *u;\n"
                        "  double half = 0.5 * sqrt(x);\n"
                        "  *v = 1.0 + half * 3.141592653589793 + 1.5;\n}\n");
  check_real(AMBIT_F16, "void k(const half *u, half *v)\n{\n  float x = (float)*u;\n"
                        "  float half = 0.5f * sqrtf(x);\n"
                        "  *v = (half)(1.0f + half * 3.1415927f + 1.5f);\n}\n");
}

/* A half is converted where it is used; a variable of this name is no type. */
static void half_is_a_type_of_fields_and_locals(void)
{
  check_prints(
      "void k(const half *u, half *v[2], double d) { half t = 3 * u[1]; *v[0] = d; "
      "*v[1] = *u && t ? (int)t : -1e-9; }",
      "void k(const half *u, half *v[2], double d)\n{\n"
      "  half t = (half)(3.0f * (float)u[1]);\n  v[0][0] = (half)d;\n"
      "  v[1][0] = (half)((float)u[0] != 0.0f && (float)t != 0.0f ? (double)(int)(float)t : "
      "(-1e-09));\n}\n");
  check_prints("void k(half *v) { const half c = 0.1; *v = c; }",
               "void k(half *v)\n{\n  *v = (half)0.099975586f;\n}\n");
  check_body("const float half = 0.5f; *v = half * *u;", "  *v = 0.5f * *u;\n");
}

/* Without the word, the type changes nothing. */
static void a_text_without_real_keeps_its_types(void)
{
  ambit__errors errors = {0};
  ambit__rule *rule;
  char *got;

  CHECK(!parse_real(&errors, "void k(float *v) { *v = 0.5 * *v; }", AMBIT_F32, &rule));
  got = ambit__rule_print(rule);
  CHECK_STR("void k(float *v)\n{\n  *v = (float)(0.5 * (double)*v);\n}\n", got);
  free(got);
  ambit__rule_free(rule);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"parameters_are_fields_values_and_reductions", parameters_are_fields_values_and_reductions},
      {"qualifiers_of_pointers_mean_nothing", qualifiers_of_pointers_mean_nothing},
      {"sum_min_and_max_are_ordinary_names_elsewhere",
       sum_min_and_max_are_ordinary_names_elsewhere},
      {"operators_bind_as_in_c", operators_bind_as_in_c},
      {"a_conditional_expression_takes_what_follows", a_conditional_expression_takes_what_follows},
      {"assignments_with_an_operator_are_spelt_out", assignments_with_an_operator_are_spelt_out},
      {"literals_are_those_of_c", literals_are_those_of_c},
      {"comments_and_blanks_do_not_matter", comments_and_blanks_do_not_matter},
      {"a_line_mark_names_file_and_line", a_line_mark_names_file_and_line},
      {"one_text_can_have_several_mistakes", one_text_can_have_several_mistakes},
      {"at_most_ten_mistakes_are_told", at_most_ten_mistakes_are_told},
      {"no_text_is_an_error_too", no_text_is_an_error_too},
      {"real_is_float_double_or_half_as_asked", real_is_float_double_or_half_as_asked},
      {"half_is_a_type_of_fields_and_locals", half_is_a_type_of_fields_and_locals},
      {"a_text_without_real_keeps_its_types", a_text_without_real_keeps_its_types},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
