/* SPDX-License-Identifier: BSD-3-Clause */
/* tests.c - the tests of outside() in a rule. */
#include "kernel/kernel.h"

static bool look(const ambit__expr *e, int *low, int *high)
{
  bool any = e && e->is_outside;

  if (!e) return false;
  for (int d = 0; any && d < AMBIT_MAX_DIMS; d++) {
    if (-e->offset[d] > low[d]) low[d] = -e->offset[d];
    if (e->offset[d] > high[d]) high[d] = e->offset[d];
  }
  any |= look(e->a, low, high);
  any |= look(e->b, low, high);
  return look(e->c, low, high) || any;
}

static bool look_at_all(const ambit__stmt *s, int *low, int *high)
{
  bool any = false;

  for (; s; s = s->next) {
    any |= look(s->value, low, high);
    any |= look_at_all(s->body, low, high);
    any |= look_at_all(s->other, low, high);
  }
  return any;
}

bool ambit__rule_tests(const ambit__rule *rule, int low[AMBIT_MAX_DIMS], int high[AMBIT_MAX_DIMS])
{
  return look_at_all(rule->body, low, high);
}
