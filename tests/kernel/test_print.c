/* SPDX-License-Identifier: BSD-3-Clause */
/* test_print.c - the canonical text: it has the same meaning, and equal rules have equal texts. */
#include "kernel_test.h"

#include <math.h>

static void texts_that_differ_in_spelling_print_alike(void)
{
  ambit__rule *a = parse_ok("void f(const float *u,float *v){*v=u[0][1]*2-(*u);}");
  ambit__rule *b = parse_ok("#line 9 \"b.c\"\nvoid f(float const *u, float *v) // two\n"
                            "{\n  const int two = 2;\n  v[0][0] = (u[0][1] * two) - u[0][0];\n}\n");
  char *x = ambit__rule_print(a), *y = ambit__rule_print(b);

  CHECK_STR(x, y);
  CHECK_STR("void f(const float *u, float *v)\n{\n  v[0][0] = u[0][1] * 2.0f - u[0][0];\n}\n", x);
  free(x);
  free(y);
  ambit__rule_free(a);
  ambit__rule_free(b);
}

static void all_kinds_of_expressions_read_back(void)
{
  check_prints("void f(const double *p[2], double *q[2], sum double *s, int k)\n"
               "{\n"
               "  double t = p[1][-1] + *q[0];\n"
               "  if (k > 3 && !(k % 2) || ~k & 4) *q[0] = k ? t : -(-t); else *s += t;\n"
               "  if (k) { } else *q[1] = fma(t, t, t) - (t - fmin(t, 1)) * +t;\n"
               "}\n",
               "void f(const double *p[2], double *q[2], sum double *s, int k)\n"
               "{\n"
               "  double t = p[1][-1] + q[0][0];\n"
               "  if (k > 3 && !(k % 2) || ~k & 4) {\n"
               "    q[0][0] = k ? t : -(-t);\n"
               "  } else {\n"
               "    *s = *s + t;\n"
               "  }\n"
               "  if (k) {\n"
               "  } else {\n"
               "    q[1][0] = fma(t, t, t) - (t - fmin(t, 1.0)) * t;\n"
               "  }\n"
               "}\n");
}

static void the_least_integers_read_back(void)
{
  check_prints("void f(int *v, long *w, short *s) { *v = INT_MIN; *w = -9223372036854775807L - 1;\n"
               "*s = -32768; *s = (unsigned char)200; *v = -1; }",
               "void f(int *v, long *w, short *s)\n{\n  *v = (-2147483647 - 1);\n"
               "  *w = (-9223372036854775807L - 1);\n  *s = (short)(-32768);\n"
               "  *s = (short)200;\n  *v = (-1);\n}\n");
}

static void what_is_no_number_reads_back(void)
{
  check_body("*v = INFINITY; *v = -INFINITY; *v = NAN; *v = -0.0f;",
             "  *v = (1.0f / 0.0f);\n  *v = (-1.0f / 0.0f);\n  *v = (0.0f / 0.0f);\n"
             "  *v = (-0.0f);\n");
}

/* The value of the constant that `void f(T *v) { *v = literal; }` writes. */
static double written(const char *type, const char *literal)
{
  char text[200];
  ambit__rule *r;
  double x;

  snprintf(text, sizeof text, "void f(%s *v) { *v = %s; }", type, literal);
  r = parse_ok(text);
  x = ambit__value_number(r->body->value->value, r->body->value->type);
  ambit__rule_free(r);
  return x;
}

static void every_bit_of_a_number_survives(void)
{
  double x = 0x1.123456789abcdp-300;
  float y = 0x1.123456p-100f;

  for (int i = 0; i < 600; i++, x *= -1.9, y *= -1.3f) {
    char text[100];
    char *printed;
    ambit__rule *r;

    snprintf(text, sizeof text, "void f(double *v, float *w) { *v = %a; *w = %af; }", x, y);
    r = parse_ok(text);
    printed = ambit__rule_print(r);
    ambit__rule_free(r);
    r = parse_ok(printed);
    CHECK(r->body->value->value.real == x && r->body->next->value->value.real == y);
    ambit__rule_free(r);
    free(printed);
  }
  CHECK(written("double", "5e-324") == 5e-324);
  CHECK(written("double", "1.7976931348623157e308") == 1.7976931348623157e308);
  CHECK(written("float", "16777217") == 16777216);
  CHECK(written("float", "0.1") == (double)0.1f);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"texts_that_differ_in_spelling_print_alike", texts_that_differ_in_spelling_print_alike},
      {"all_kinds_of_expressions_read_back", all_kinds_of_expressions_read_back},
      {"the_least_integers_read_back", the_least_integers_read_back},
      {"what_is_no_number_reads_back", what_is_no_number_reads_back},
      {"every_bit_of_a_number_survives", every_bit_of_a_number_survives},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
