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
  if (flat) *flat = ambit__rule_is_flat(rule, false);
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

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"calls_of_plain_parameters_are_made_once", calls_of_plain_parameters_are_made_once},
      {"what_depends_on_cells_is_not", what_depends_on_cells_is_not},
      {0}};

  return test_main(argc, argv, tests);
}
