/* SPDX-License-Identifier: BSD-3-Clause */
/* hoist.h - what a rule computes from plain parameters alone, and need not compute for every cell;
 * and what it computes from these and the place of a row, once for each row.
 *
 * Compilers move most of it out of loops by themselves, but not calls of functions: gcc leaves
 * those of prelude/math.h where they are, and calls of <math.h> keep it from vectorising the loop.
 * The same holds for look-ups, selections and divisions of integers: sinf(index(0) * h), or
 * profile[index(0) / 4], of a row.
 * Coefficients of sums (kernel/linear.c) are hoisted too: weighted sums have no function of a cell.
 *
 * So are numbers that fmin and fmax limit values to. Where gcc 12 sees them it follows each outcome
 * of fminf(fmaxf(x, -1), 1) by itself, and makes four comparisons and masks of the two instructions
 * that x86 has for it.
 */
#ifndef AMBIT_CODEGEN_HOIST_H
#define AMBIT_CODEGEN_HOIST_H

#include "codegen/scope.h"

enum { AMBIT__HOISTS = 32 };

typedef struct ambit__hoists {
  int n;
  const ambit__expr *values[AMBIT__HOISTS]; /* parts of the rule that call functions, or ... */
  int locals[AMBIT__HOISTS];                /* ... the values of these locals; -1: no local */
  int nlimits;                              /* the last ones, which are numbers */
  int nrows;                                /* parts that cells of a row share */
  const ambit__expr *rows[AMBIT__HOISTS];
  int ndivisors;
  struct {
    const ambit__expr *value; /* a local, a plain parameter or a value of a field */
    int count;                /* divisions by it */
  } divisors[AMBIT__HOISTS];
} ambit__hoists;

void ambit__hoists_begin(ambit__hoists *h, const ambit__rule *rule);
/* In C, whose prelude has the functions for them: the limits, too. */
void ambit__hoists_add_limits(ambit__hoists *h, const ambit__rule *rule);
/* Parts that are the same along axis `last`, in C: a call, a look-up, a selection or a
 * division of integers. */
void ambit__hoists_add_rows(ambit__hoists *h, const ambit__rule *rule, int last);
/* The same for divisions of real numbers, for code that need not have the same bits everywhere. */
void ambit__hoists_add_divisors(ambit__hoists *h, const ambit__rule *rule);
/* Whether a division by an inverse is faster than this one. */
bool ambit__hoists_inverts(const ambit__hoists *h, const ambit__expr *division);
/* The divisions that products with the inverses of such divisors replace. */
int ambit__hoists_inverted(const ambit__hoists *h);
/* The number of an expression among them; -1: it is none. */
int ambit__hoists_find(const ambit__hoists *h, const ambit__expr *e);
/* Its number among the parts that rows share; -1. */
int ambit__hoists_find_row(const ambit__hoists *h, const ambit__expr *e);
/* The number of the limit of a call among them, and the other operand; -1: it is no fmin or fmax
 * with a limit, or there is no room. */
int ambit__hoists_find_limit(const ambit__hoists *h, const ambit__expr *call,
                             const ambit__expr **other);
/* "const float once0 = ambit_expf(-k_v);": all of them. */
void ambit__hoists_emit(const ambit__hoists *h, const ambit__scope *s, ambit__writer *w);
/* The value of part i of a row, which has those before it. Its place along axis d is index[d]. */
void ambit__hoists_print_row(const ambit__hoists *h, const ambit__scope *s, ambit__text *t, int i,
                             int row, const char *const *index);

/* Whether an expression has the same value in all cells, whatever the fields hold. */
bool ambit__is_invariant(const ambit__rule *rule, const ambit__expr *e);
/* In all cells of a row along this axis; -1: of none. */
bool ambit__is_of_row(const ambit__rule *rule, const ambit__expr *e, int last);

#endif
