/* SPDX-License-Identifier: BSD-3-Clause */
/* dots.h - weighted sums of bytes or shorts, for processors that add several products at a time.
 *
 * Finds the parts of a rule that are sums of bytes or shorts of fields with small weights, also
 * where the sum is built in several statements. Their type is int: sums wrap as the statements do.
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

typedef struct ambit__dots {
  int n, room;
  const ambit__expr **values; /* the expressions; NULL: has another meaning elsewhere */
  ambit__dot *sums;
} ambit__dots;

/* The sums of a rule of at least three terms. false: no memory. Release with ambit__dots_end, also
 * then. */
bool ambit__dots_begin(ambit__dots *d, const ambit__rule *rule);
void ambit__dots_end(ambit__dots *d);
/* The sum that an expression is; NULL: none. */
const ambit__dot *ambit__dots_find(const ambit__dots *d, const ambit__expr *e);

#endif
