/* SPDX-License-Identifier: BSD-3-Clause */
/* roots.h - integer parts of square roots of integers, `(unsigned char)sqrtf((float)n)`, cut off or
 * not.
 *
 * The root of an integer is an integer, or far enough from the next: the integer part of sqrt(n +
 * 0.5) with an error below 2^-21 is the same.
 */
#ifndef AMBIT_NEST_STRIP_ROOTS_H
#define AMBIT_NEST_STRIP_ROOTS_H

#include "kernel/range.h"
#include "nest/dots.h"

typedef struct ambit__root {
  const ambit__expr *value;
  bool real; /* all that n is computed from is exact in float */
  bool last; /* the final value of a byte that is written, which is cut off at 255 in any case */
} ambit__root;

/* The root that an expression is; false: none. `locals` are the ranges of the rule's locals at this
 * place, `dots` the rule if weighted sums are computed in another way; `last`: it is the final
 * value of a byte. */
bool ambit__root_of(const ambit__range *locals, const ambit__rule *dots, const ambit__expr *e,
                    bool last, ambit__root *root);
/* Whether an expression is a sum, a difference or a product of ints. */
bool ambit__root_is_sum(const ambit__expr *e);

#endif
