/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rule computes from plain parameters alone is computed once, not in every cell. */
#include "../kernel/kernel_test.h"
#include "codegen/flat.h"
#include "codegen/hoist.h"

/* How many parts of a text are computed once; `flat`: the rest can be vectorised. */
static int count(const char *text, bool *flat)
{
  ambit__rule *rule = parse_ok(text);
  ambit__hoists h;

  ambit__hoists_begin(&h, rule);
  ambit__hoists_add_limits(&h, rule);
  if (flat) *flat = ambit__rule_is_flat(rule, false, -1);
  ambit__rule_free(rule);
  return h.n;
}

static void calls_of_plain_parameters_are_made_once(void)
{
  bool flat = false;

  CHECK_EQ(1, count("void r(const float *u, float *v, float k) { *v = *u * sinf(k); }", &flat));
  CHECK(flat);
  CHECK_EQ(1, count("void r(const float *u, float *v, float k)"
                    "{ const float a = k * k; float b = a + 1; *v = *u + expf(b - a); }",
                    &flat));
  CHECK(flat);
  CHECK_EQ(2, count("void r(float *v, float k) { if (*v > 0) *v = sinf(k) * *v; else *v = cosf(k "
                    "* step()); }",
                    NULL));
}

static void what_depends_on_cells_is_not(void)
{
  bool flat = true;

  CHECK_EQ(0, count("void r(const float *u, float *v, float k) { *v = sinf(k * *u); }", &flat));
  CHECK(!flat);
  CHECK_EQ(0, count("void r(float *v, float k) { float a = k; if (*v > 0) a = 2 * k;"
                    " *v = sinf(a); }",
                    NULL));
  CHECK_EQ(0, count("void r(float *v, float k) { *v = sinf(k * index(0)); }", NULL));
  CHECK_EQ(0, count("void r(float *v, float k) { *v = k + 3 * k; }", NULL)); /* compilers do it */
}

/* Of parts that are the same along the last of two axes; `flat`: the rest can be vectorised. */
static int count_of_rows(const char *text, bool *flat)
{
  ambit__rule *rule = parse_ok(text);
  ambit__hoists h;

  ambit__hoists_begin(&h, rule);
  ambit__hoists_add_rows(&h, rule, 1);
  *flat = ambit__rule_is_flat(rule, false, 1);
  ambit__rule_free(rule);
  return h.nrows;
}

static void calls_and_divisions_that_a_row_shares_are_made_once_for_it(void)
{
  bool flat;

  CHECK_EQ(1, count_of_rows("void r(const float *u, float *v, float h)"
                            "{ *v = *u * sinf(h * index(0)) + u[0][1]; }",
                            &flat));
  CHECK(flat);
  CHECK_EQ(1, count_of_rows("void r(const int *u, int *v, int k)"
                            "{ const int a = index(0) * 64 / extent(0); *v = *u + a * a; }",
                            &flat));
  CHECK(flat);
  CHECK_EQ(0, count_of_rows("void r(float *v, float h) { *v = sinf(h * index(1)); }", &flat));
  CHECK(!flat);
  CHECK_EQ(0, count_of_rows("void r(float *v, float h) { *v += fabsf(h * index(0)); }", &flat));
  CHECK_EQ(0, count_of_rows("void r(float *v) { *v = outside(-1, 0) ? sinf(*v) : 0; }", &flat));
}

/* a1 = a0 * a0, a2 = a1 * a1, ...: each local contains the one before it twice. */
static int count_chain(int n)
{
  ambit__text t = {0};
  char *text;
  int found;

  ambit__print(&t, "void r(const float *u, float *v, float a0) {\n");
  for (int i = 1; i <= n; i++)
    ambit__print(&t, "  const float a%d = a%d * a%d;\n", i, i - 1, i - 1);
  ambit__print(&t, "  *v = *u * sinf(a%d);\n}\n", n);
  text = ambit__text_finish(&t);
  found = count(text, NULL);
  free(text);
  return found;
}

static void values_that_are_long_without_their_names_are_not(void)
{
  CHECK_EQ(1, count_chain(3));
  CHECK_EQ(0, count_chain(60)); /* 2^60 operations, if one were to look at them all */
}

/* fminf(x, 0.0f) and fminf(x, -0.0f) differ; fminf(0.0f, x) may be either zero; NaN is no limit. */
static void numbers_that_limit_values_are_variables(void)
{
  CHECK_EQ(2, count("void r(const float *u, float *v)"
                    "{ *v = fminf(fmaxf(*u, -1), 1) + fmaxf(-1, u[1]); }",
                    NULL));
  CHECK_EQ(2, count("void r(const float *u, float *v) { *v = fminf(*u, 0.0f) + fminf(*u, -0.0f); }",
                    NULL));
  CHECK_EQ(0, count("void r(const float *u, float *v) { *v = fminf(0.0f, *u) + fminf(u[1], *u); }",
                    NULL));
  CHECK_EQ(0, count("void r(const int *u, int *v) { *v = *u < 3 ? *u : 3; }", NULL));
}

/* How many divisions products with inverses replace. */
static int count_inverted(const char *text)
{
  ambit__rule *rule = parse_ok(text);
  ambit__hoists h = {0};
  int n;

  ambit__hoists_add_divisors(&h, rule);
  n = ambit__hoists_inverted(&h);
  ambit__rule_free(rule);
  return n;
}

static void divisions_by_one_value_share_its_inverse(void)
{
  CHECK_EQ(2, count_inverted("void r(const float *u, float *v)"
                             "{ *v = *u / u[1] + u[2] / u[1] + u[3] / u[1]; }"));
  CHECK_EQ(0, count_inverted("void r(const float *u, float *v) { *v = *u / u[1] + u[2] / u[1]; }"));
  CHECK_EQ(1,
           count_inverted("void r(const double *u, double *v) { *v = *u / u[1] + u[2] / u[1]; }"));
  CHECK_EQ(0,
           count_inverted("void r(const double *u, double *v) { *v = *u / u[1] + u[1] / u[2]; }"));
  CHECK_EQ(1, count_inverted("void r(const double *u, double *v, double k, double m)"
                             "{ *v = *u / k + u[1] / k + u[2] / m; }"));
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"calls_of_plain_parameters_are_made_once", calls_of_plain_parameters_are_made_once},
      {"what_depends_on_cells_is_not", what_depends_on_cells_is_not},
      {"calls_and_divisions_that_a_row_shares_are_made_once_for_it",
       calls_and_divisions_that_a_row_shares_are_made_once_for_it},
      {"values_that_are_long_without_their_names_are_not",
       values_that_are_long_without_their_names_are_not},
      {"numbers_that_limit_values_are_variables", numbers_that_limit_values_are_variables},
      {"divisions_by_one_value_share_its_inverse", divisions_by_one_value_share_its_inverse},
      {0}};

  return test_main(argc, argv, tests);
}
