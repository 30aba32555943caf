/* SPDX-License-Identifier: BSD-3-Clause */
/* partials.h - long sums in several parts.
 *
 * `rho += h[i]`, nineteen times, is a chain: each addition waits for the one before. A core has
 * time for several additions meanwhile, but too few instructions in view to find them in the next
 * cells. So the terms are added up in turns to a few variables, which are added at the first other
 * use of the sum. This changes the order of terms, so it is for code that is not strict.
 */
#ifndef AMBIT_CODEGEN_PARTIALS_H
#define AMBIT_CODEGEN_PARTIALS_H

#include "codegen/scope.h"

enum { AMBIT__SUMS_MOST = 8 }; /* at a time */

/* The sums of a list of statements that are being added up. */
typedef struct ambit__partials {
  struct {
    int local;
    int terms; /* so far */
    int first; /* the number of its first part */
  } sums[AMBIT__SUMS_MOST];
  int n;
  int parts; /* numbers of parts so far: names are not used twice in a list */
} ambit__partials;

/* Adds up the parts of sums that a statement uses; NULL: of all, at the end of the list. */
void ambit__partials_close(const ambit__scope *s, ambit__writer *w, ambit__partials *p,
                           const ambit__stmt *st);
/* Writes a statement that adds a term of such a sum, perhaps the first; returns whether it is. */
bool ambit__partials_add(const ambit__scope *s, ambit__writer *w, ambit__partials *p,
                         const ambit__stmt *st);

#endif
