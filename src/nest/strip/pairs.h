/* SPDX-License-Identifier: BSD-3-Clause */
/* pairs.h - rules on bytes and shorts, computed for two or four cells at a time.
 *
 * A pair is a word with the values a and b of two cells, as the number a + 65536 b modulo 2^32.
 * Sums, differences and multiples of pairs are those of words, also of negative numbers, as long as
 * all values fit in 16 bits, which their ranges show (kernel/range.h). Words with two numbers that
 * are not negative also have the bits of a in their lower half and those of b in the upper one.
 *
 * A quad is the same with four cells and 8 bits: a + 256 b + 65536 c + 2^24 d. Few rules can do
 * with that: those that compare bytes first, and add up or choose what is 0 or 1 then. Bytes
 * themselves are compared, and their bits combined, but they are no numbers to calculate with.
 *
 * Shorts are two in a word, as they are in memory: each in its half, with its sign. They are
 * compared, chosen, and their bits combined; only numbers that are not negative are calculated
 * with, for which halves are places of a pair.
 *
 * The largest parts of a rule that can be computed so become variables q0, q1, ..., before the code
 * for single cells, in which a part of one of them replaces the expression.
 */
#ifndef AMBIT_NEST_STRIP_PAIRS_H
#define AMBIT_NEST_STRIP_PAIRS_H

#include "codegen/scope.h"
#include "kernel/roots.h"
#include "nest/dots.h"

enum { AMBIT__PAIRS = 96 }; /* most variables of a rule */

/* The instructions of a GPU for several narrow integers at a time. */
typedef enum ambit__packed {
  PACKED_NONE,
  PACKED_DOTS,   /* a weighted sum of four bytes */
  PACKED_MINIMA, /* that, and two minima of 16 bits, of bytes, by one or a few */
  PACKED_SHORTS  /* that, and of shorts, by one */
} ambit__packed;

/* The cells of a word. */
typedef enum ambit__places {
  PLACES_PAIRS, /* two bytes, with a place between them */
  PLACES_QUADS, /* four bytes, as they are in memory */
  PLACES_SHORTS /* two shorts, the same */
} ambit__places;

/* The integer part of a root, which is computed in float. */
typedef struct ambit__pairs_root {
  const ambit__expr *value;
  ambit__root root;
  bool real; /* all that its integer is computed from is exact in float */
  bool last; /* the final value of a byte that is written, which is cut off at 255 in any case */
} ambit__pairs_root;

typedef struct ambit__pairs {
  const ambit__rule *rule;
  const ambit__rule *dots; /* its weighted sums are computed in another way; NULL: none are */
  ambit__places places;
  int x;       /* the last axis: words in memory are of cells along it */
  bool minima; /* two minima are one instruction; else they are no pairs, nor quads */
  int n;
  const ambit__expr *values[AMBIT__PAIRS]; /* the expression that each variable replaces */
  bool negative[AMBIT__PAIRS];             /* may have negative numbers */
  int nroots;
  ambit__pairs_root roots[AMBIT__PAIRS];
  /* of the locals at the present place: the variable with its value, or -1; its range */
  int *variable;
  ambit__range *range;
} ambit__pairs;

/* Finds the variables of a rule, except for the weighted sums of `p->dots`. false: no memory.
 * Release with ambit__pairs_end, also then. */
bool ambit__pairs_begin(ambit__pairs *p, const ambit__rule *rule);
/* Prints a value of a field at an offset, or of a scalar, for all cells of a word. With `word`, it
 * is one of the two words in memory that they are in: 0 for the first, 1 for the second. */
typedef void ambit__pairs_read(const ambit__scope *s, ambit__text *t, const ambit__expr *e,
                               const int *word);
/* The same as ambit__pairs_begin, and writes them. */
bool ambit__pairs_emit(ambit__pairs *p, const ambit__scope *s, ambit__writer *w,
                       ambit__pairs_read *read);
void ambit__pairs_end(ambit__pairs *p);
/* The variable in place of an expression; -1: there is none. */
int ambit__pairs_find(const ambit__pairs *p, const ambit__expr *e);
/* The variable with the final value of a written component; -1: there is none. */
int ambit__pairs_result(const ambit__pairs *p, int param, int component);

/* Whether all that a rule has are results that are quads; or shorts, two at a time. */
bool ambit__rule_is_quads(const ambit__rule *rule);
bool ambit__rule_is_shorts(const ambit__rule *rule);
/* Whether all results of a rule are quads, or pairs, without dots, and if there are instructions
 * for dots, this is faster; or shorts. */
bool ambit__rule_is_paired(const ambit__rule *rule, ambit__packed packed);
/* The root that an expression is; NULL: none. */
const ambit__pairs_root *ambit__pairs_find_root(const ambit__pairs *p, const ambit__expr *e);
/* Whether an expression is a sum, a difference or a product of ints. */
bool ambit__pairs_is_sum(const ambit__expr *e);

#endif
