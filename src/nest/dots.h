/* SPDX-License-Identifier: BSD-3-Clause */
/* dots.h - weighted sums of bytes or shorts: GPUs add several products at a time, cores in lanes of
 * 16 bits.
 *
 * A sum has at least three values of fields, with small weights, also by way of locals. Its type is
 * int: it wraps as the rule does.
 */
#ifndef AMBIT_NEST_DOTS_H
#define AMBIT_NEST_DOTS_H

#include "kernel/kernel.h"

enum { AMBIT__DOT_TERMS = 64 };

typedef struct ambit__dot {
  int n;
  const ambit__expr *reads[AMBIT__DOT_TERMS]; /* at distinct places */
  int weights[AMBIT__DOT_TERMS];              /* -128 to 127 */
  int32_t constant;
} ambit__dot;

/* The sum that an expression of a rule is. false: it is none. */
bool ambit__dot_of(const ambit__rule *rule, const ambit__expr *e, ambit__dot *sum);
/* Whether it is one; `rule` NULL: sums do not count. */
bool ambit__is_dot(const ambit__rule *rule, const ambit__expr *e);
/* Whether a rule has such a sum. */
bool ambit__rule_has_dots(const ambit__rule *rule);

#endif
