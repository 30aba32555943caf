/* SPDX-License-Identifier: BSD-3-Clause */
/* shares.h - sums that several rows of a block have in common: narrow integers of the strategy
 * `rows`.
 *
 * A share is a weighted sum of values in one row of a field, or a single value. A weighted sum of
 * bytes over several rows (nest/dots.h) is one of shares. Compilers compute those that rows of a
 * block have in common once: of 3 x 3 bytes, 8 rows add 10 sums of 3, and 3 of these each. Integer
 * sums are exact, so this holds in strict mode too.
 *
 *      . a a a .    share 0 of row 0
 *      . b b b .    share 1 of row 0, share 0 of row 1
 *      . c c c .    share 2 of row 0, share 1 of row 1, share 0 of row 2
 */
#ifndef AMBIT_NEST_SHARES_H
#define AMBIT_NEST_SHARES_H

#include "kernel/range.h"
#include "nest/dots.h"

typedef struct ambit__share {
  int param, component;
  int offset[AMBIT_MAX_DIMS]; /* of the row; along the last axis 0 */
  int n;                      /* terms */
  int at[AMBIT__DOT_TERMS];   /* offsets along the last axis, ascending */
  /* of which the largest, or the last of these, is positive; the greatest common divisor is 1 */
  int weights[AMBIT__DOT_TERMS];
} ambit__share;

/* A share of a sum, and its factor. */
typedef struct ambit__share_term {
  int share, factor;
} ambit__share_term;

typedef struct ambit__shares {
  const ambit__rule *rule;
  int last; /* axis */
  ambit__dots dots;
  int n, room;
  ambit__share *list;
  int nidle;
  const ambit__stmt **idle; /* assignments to locals that only sums read */
  bool failed;              /* no memory */
} ambit__shares;

/* The shares of a rule on a grid of `ndims` axes. false: no memory. Release with
 * ambit__shares_end, also then. */
bool ambit__shares_begin(ambit__shares *s, const ambit__rule *rule, int ndims);
void ambit__shares_end(ambit__shares *s);

/* The share of a read. */
int ambit__shares_read(ambit__shares *s, const ambit__expr *e);
/* The shares of a sum, at most one per term; their number. */
int ambit__shares_sum(ambit__shares *s, const ambit__dot *sum, ambit__share_term *terms);
/* The values of a share. */
ambit__range ambit__share_range(const ambit__shares *s, int share);
/* Whether a statement need not be written. */
bool ambit__shares_idle(const ambit__shares *s, const ambit__stmt *st);

#endif
