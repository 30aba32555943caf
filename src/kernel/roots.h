/* SPDX-License-Identifier: BSD-3-Clause */
/* roots.h - integer parts of square roots of integers, `(unsigned char)sqrtf((float)n)`, cut off or
 * not.
 *
 * The root of an integer is an integer, or far enough from the next: the integer part of sqrt(n +
 * 0.5) with an error below 2^-21 is the same.
 */
#ifndef AMBIT_KERNEL_ROOTS_H
#define AMBIT_KERNEL_ROOTS_H

#include "kernel/range.h"

enum { AMBIT__MOST_ROOT = 511 }; /* roots that are far enough from the next, in float */

typedef struct ambit__root {
  const ambit__expr *n;
  int64_t most;           /* the largest root */
  const ambit__expr *cut; /* it is cut off at that constant; NULL: it is never larger */
} ambit__root;

/* The root that an expression is; false: none. `locals` are the ranges of the rule's locals at this
 * place. */
bool ambit__root_of(const ambit__range *locals, const ambit__expr *e, ambit__root *root);

#endif
