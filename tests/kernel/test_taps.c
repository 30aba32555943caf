/* SPDX-License-Identifier: BSD-3-Clause */
/* test_taps.c - weighted sums are recognised in any form, and nothing else is. */
#include "kernel_test.h"

#include <math.h>

/* The number of taps of *v = value; -1: not a weighted sum. */
static int taps_of(const char *statements, ambit__tap *taps, int most)
{
  char text[1000];
  ambit__rule *r;
  int count;
  bool ok;

  snprintf(text, sizeof text, "void f(const float *u, float *v) { %s }", statements);
  r = parse_ok(text);
  ok = ambit__rule_taps(r, taps, most, &count);
  ambit__rule_free(r);
  return ok ? count : -1;
}

static double weight_at(const ambit__tap *taps, int n, int i, int j)
{
  for (int k = 0; k < n; k++)
    if (taps[k].offset[0] == i && taps[k].offset[1] == j) return taps[k].weight;
  return 0;
}

static void a_sum_of_neighbours_is_found(void)
{
  ambit__tap taps[8];
  int n = taps_of("*v = (u[-1][0] + u[1][0] + 2 * u[0][-1] - u[0][1] / 4) * 0.5f;", taps, 8);

  CHECK_EQ(4, n);
  CHECK(weight_at(taps, n, -1, 0) == 0.5);
  CHECK(weight_at(taps, n, 0, -1) == 1);
  CHECK(weight_at(taps, n, 0, 1) == -0.125);
}

static void equal_offsets_are_one_tap(void)
{
  ambit__tap taps[8];
  int n = taps_of("*v = *u + 0.1 * (u[0][1] - *u) - -(double)*u;", taps, 8);

  CHECK_EQ(2, n);
  CHECK(weight_at(taps, n, 0, 0) == 1 - 0.1 + 1);
  CHECK(weight_at(taps, n, 0, 1) == 0.1);
}

static void sums_gathered_in_locals_are_found(void)
{
  ambit__tap taps[16];
  int n = taps_of("float s = 0; const float w[3] = {1, 2, 1};\n"
                  "for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++)\n"
                  "s += w[i] * w[j] * u[i - 1][j - 1]; float t = s / 16; *v = t;",
                  taps, 16);

  CHECK_EQ(9, n);
  CHECK(weight_at(taps, n, 0, 0) == 0.25);
  CHECK(weight_at(taps, n, -1, 1) == 0.0625);
  n = taps_of("*v = u[1]; *v += u[-1]; *v /= 2;", taps, 16);
  CHECK_EQ(2, n);
  CHECK(weight_at(taps, n, 1, 0) == 0.5);
}

static void coefficients_of_differences_are_weights(void)
{
  ambit__tap taps[20];
  double w[2 * AMBIT_MAX_REACH + 1];
  const int r = ambit_coefficients(2, 8, w);
  int n = taps_of("float s = 0; for (int k = -4; k <= 4; k++)\n"
                  "s += coefficientf(2, 8, k) * (u[k][0] + u[0][k]); *v = s;",
                  taps, 20);

  CHECK_EQ(4, r);
  CHECK_EQ(17, n);
  for (int k = 1; k <= r; k++) {
    CHECK(fabs(w[r + k] - weight_at(taps, n, k, 0)) < 1e-7);
    CHECK(fabs(w[r - k] - weight_at(taps, n, 0, -k)) < 1e-7);
  }
  CHECK(fabs(2 * w[r] - weight_at(taps, n, 0, 0)) < 1e-6);
  /* in double, in a function, and as the value of a constant */
  n = taps_of("const double two = coefficient(1, 2, 1) * 4; const int far = (int)two;\n"
              "*v = u[far][0] * coefficient(4, 2, 9) + u[0][0] * coefficient(1, 4, -1);",
              taps, 20);
  CHECK_EQ(2, n);
  CHECK(ambit_coefficients(1, 4, w) == 2 && weight_at(taps, n, 0, 0) == w[1]);
  CHECK(weight_at(taps, n, 2, 0) == 0); /* beyond the reach */
}

static void a_function_of_the_text_may_be_named_coefficient(void)
{
  ambit__rule *r = parse_ok("static float coefficient(float x) { return 2 * x; }\n"
                            "void f(const float *u, float *v) { *v = coefficient(*u); }");
  ambit__tap tap;
  int n = 0;

  CHECK(ambit__rule_taps(r, &tap, 1, &n) && n == 1 && tap.weight == 2);
  ambit__rule_free(r);
}

static void what_is_no_weighted_sum_is_not_found(void)
{
  ambit__tap taps[4];

  CHECK_EQ(-1, taps_of("*v = u[0][1] * u[0][0];", taps, 4));
  CHECK_EQ(-1, taps_of("*v = u[0][1] + 1;", taps, 4));
  CHECK_EQ(-1, taps_of("*v = 1 / u[0][1];", taps, 4));
  CHECK_EQ(-1, taps_of("*v = u[0][1] / 0;", taps, 4));
  CHECK_EQ(-1, taps_of("*v = fabsf(u[0][1]);", taps, 4));
  CHECK_EQ(-1, taps_of("*v = (int)u[0][1];", taps, 4));
  CHECK_EQ(-1, taps_of("*v = *u > 0 ? *u : u[0][1];", taps, 4));
  CHECK_EQ(-1, taps_of("if (*u > 0) *v = *u;", taps, 4));
  CHECK_EQ(-1, taps_of("*v += *u;", taps, 4));
  CHECK_EQ(-1, taps_of("*v = index(0) * *u;", taps, 4));
  CHECK_EQ(-1, taps_of("*v = 3;", taps, 4));
  CHECK_EQ(-1, taps_of("*v = u[0] + u[1] + u[2] + u[3] + u[4];", taps, 4));
}

static void other_parameters_rule_it_out(void)
{
  static const char *const texts[] = {
      "void f(const float *u, float *v, float k) { *v = *u; }",
      "void f(const float *u, float *v, sum float *s) { *v = *u; *s = 1; }",
      "void f(const int *u, int *v) { *v = *u; }",
      "void f(const float *u[2], float *v) { *v = *u[1]; }",
      "void f(float *v) { *v = v[1]; }",
      "void f(float *u, float *v) { *v = 1; *u = 2; }",
  };
  ambit__tap taps[4];
  int count;

  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    ambit__rule *r = parse_ok(texts[i]);

    CHECK_MSG(!ambit__rule_taps(r, taps, 4, &count), "%s", texts[i]);
    ambit__rule_free(r);
  }
}

static void the_written_field_may_come_first(void)
{
  ambit__rule *r = parse_ok("void f(double *v, const double *u) { *v = 3 * u[1]; }");
  ambit__tap taps[1];
  int count;

  CHECK(ambit__rule_taps(r, taps, 1, &count));
  CHECK_EQ(1, count);
  CHECK(taps[0].offset[0] == 1 && taps[0].weight == 3);
  ambit__rule_free(r);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"a_sum_of_neighbours_is_found", a_sum_of_neighbours_is_found},
      {"equal_offsets_are_one_tap", equal_offsets_are_one_tap},
      {"sums_gathered_in_locals_are_found", sums_gathered_in_locals_are_found},
      {"coefficients_of_differences_are_weights", coefficients_of_differences_are_weights},
      {"a_function_of_the_text_may_be_named_coefficient",
       a_function_of_the_text_may_be_named_coefficient},
      {"what_is_no_weighted_sum_is_not_found", what_is_no_weighted_sum_is_not_found},
      {"other_parameters_rule_it_out", other_parameters_rule_it_out},
      {"the_written_field_may_come_first", the_written_field_may_come_first},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
