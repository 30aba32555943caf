/* SPDX-License-Identifier: BSD-3-Clause */
/* exact.h - long accumulators: sums of real numbers that do not depend on the order of the numbers.
 *
 * Strict sums are exact until they are rounded, once, to the type of the scalar: see prelude/sums.h
 * for the words of an accumulator, and docs/design/0008-strict-sums.md for the reasons. Here is
 * their use by the library itself.
 */
#ifndef AMBIT_CODEGEN_EXACT_H
#define AMBIT_CODEGEN_EXACT_H

#include "kernel/kernel.h"

enum { AMBIT__LONG_WORDS = 71 };

/* Zeroed words are an accumulator of no numbers. */
typedef struct ambit__long {
  int64_t words[AMBIT__LONG_WORDS];
} ambit__long;

void ambit__long_add(ambit__long *sum, double x);
void ambit__long_join(ambit__long *sum, const ambit__long *other);
/* Rounded to AMBIT_F32 or AMBIT_F64; ties go to the even neighbour. */
double ambit__long_value(const ambit__long *sum, ambit_type type);

#endif
