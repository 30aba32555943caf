/* SPDX-License-Identifier: BSD-3-Clause */
/* The record of a checked launch: numbers of reads and writes, and values that were never set. */
#include "device/faults.h"
#include "nest/checked.h"
#include "support/test.h"

static void numbers_of_reads_and_writes_lead_back(void)
{
  const char *text = "void k(const double *f[3], float x, double *g[2], max float *m)\n"
                     "{ *g[0] = f[2][1] + f[0][-1] + x * *g[1]; *g[1] = 1; *m = x; }\n";
  ambit__errors errors = {0};
  ambit__rule *rule = NULL;
  int param, k, reads = 0, writes = 0;

  CHECK_EQ(AMBIT_OK, ambit__rule_parse(&errors, "k", text, &rule));
  for (int i = 0; rule && i < rule->nparams; i++) {
    const ambit__param *p = &rule->params[i];
    const int r = p->kind == PARAM_FIELD ? p->nreads : p->kind == PARAM_VALUE;
    const int w = p->kind == PARAM_FIELD ? p->components : p->kind == PARAM_REDUCE;

    for (int j = 0; j < r; j++) {
      CHECK_EQ(reads, ambit__checked_read(rule, i, j));
      ambit__checked_find_read(rule, reads++, &param, &k);
      CHECK(param == i && k == j);
    }
    for (int j = 0; j < w; j++) {
      CHECK_EQ(writes, ambit__checked_write(rule, i, j));
      ambit__checked_find_write(rule, writes++, &param, &k);
      CHECK(param == i && k == j);
    }
  }
  CHECK_EQ(4, reads);
  CHECK_EQ(6, writes);
  ambit__rule_free(rule);
  ambit__errors_clear(&errors);
}

static void poison_is_told_from_other_values(void)
{
  for (int t = 0; t < 6; t++) {
    unsigned char value[8] = {0};

    CHECK(!ambit__poison_is(value, (ambit_type)t));
    ambit__poison_store(value, (ambit_type)t);
    CHECK(ambit__poison_is(value, (ambit_type)t));
    value[0] ^= 1;
    CHECK(!ambit__poison_is(value, (ambit_type)t));
  }
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"numbers_of_reads_and_writes_lead_back", numbers_of_reads_and_writes_lead_back},
      {"poison_is_told_from_other_values", poison_is_told_from_other_values},
      {0}};

  return test_main(argc, argv, tests);
}
