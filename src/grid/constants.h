/* SPDX-License-Identifier: BSD-3-Clause */
/* constants.h - the cells among the runs of a sparse grid that have no values of their own, and the
 * constants that reads with some boundaries get from them: inactive cells, sections, and cells
 * beyond the ends of rows (grid/active.h).
 *
 * They are sets of ranges of positions, one constant each. To set all of them, go through the sets
 * in order: the last ones are among the cells of the first.
 *
 *   for (int k = 0; k < ambit__constants_sets(a); k++)
 *     for (int64_t i = 0, from, to; ambit__constants_next(a, k, &i, &from, &to);)
 *       set(from, to, ambit__constants_value(a, bounds, k));
 */
#ifndef AMBIT_GRID_CONSTANTS_H
#define AMBIT_GRID_CONSTANTS_H

#include "grid/active.h"
#include "grid/boundary.h"

int ambit__constants_sets(const ambit__active *a);
double ambit__constants_value(const ambit__active *a, const ambit__boundaries *b, int set);
/* Whether a set has cells of the box, which are inactive. */
bool ambit__constants_inactive(int set);
/* The next range of a set, from .. to - 1; *i is first 0. */
bool ambit__constants_next(const ambit__active *a, int set, int64_t *i, int64_t *from, int64_t *to);

#endif
