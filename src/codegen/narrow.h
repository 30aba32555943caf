/* SPDX-License-Identifier: BSD-3-Clause */
/* narrow.h - integers in the narrowest type that holds them.
 *
 * A vector has twice as many cells of half the width. The ranges of values (kernel/range.h) give
 * the narrowest type of every local and of every part of an expression: Sobel's sums of bytes are
 * 16 bits wide, though their type is int. Sums, products and bits are exact modulo a power of 2, so
 * operands are cut to the width of the result. All values are those of the rule.
 *
 * Types are lane_u8 and so on (prelude/lanes.h): compilers that convert operands to int, as C says,
 * take the conversions back; clang does so in part only, and has types that are not converted.
 */
#ifndef AMBIT_CODEGEN_NARROW_H
#define AMBIT_CODEGEN_NARROW_H

#include "codegen/scope.h"
#include "kernel/range.h"

typedef struct ambit__narrow {
  const ambit__rule *rule;
  ambit__range *now;        /* of each local: its range at the present place */
  ambit__range *ever;       /* of each local: the hull of all its values */
  bool *held;               /* of each local: set under a condition */
  const ambit__expr *plain; /* to be written as if there were no narrow types; NULL: none */
} ambit__narrow;

/* false: no memory, or the rule is too large. Release with ambit__narrow_end, also then. */
bool ambit__narrow_begin(ambit__narrow *n, const ambit__rule *rule);
void ambit__narrow_end(ambit__narrow *n);

/* The narrowest type for the values of a range of int. */
const char *ambit__narrow_type(ambit__range r);
/* The type of a local. */
const char *ambit__narrow_local(const ambit__narrow *n, int local);
/* The values of an expression at the present place. */
ambit__range ambit__narrow_range(const ambit__narrow *n, const ambit__expr *e);
/* Goes on to the place after a statement. */
void ambit__narrow_pass(ambit__narrow *n, const ambit__stmt *s);
/* Prints an expression, with its value in the type it has in the rule, and returns true if that
 * differs from the text without narrow types. */
bool ambit__narrow_print(ambit__narrow *n, const ambit__scope *s, ambit__text *t,
                         const ambit__expr *e);

#endif
