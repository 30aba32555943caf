/* SPDX-License-Identifier: BSD-3-Clause */
/* fold.h - reductions along some axes: cells of a box are folded into totals, one per cell of the
 * axes that are left.
 *
 *        x x x x  ->  t        totals of a part, row-major; here in host memory, by devices that
 *        x x x x  ->  t        work there, and by the runtime for others
 *
 * A total is an ambit__value, a double or a 64-bit integer; of a strict sum an ambit__long. Totals
 * of each component of the parameter follow those of the one before.
 */
#ifndef AMBIT_DEVICE_FOLD_H
#define AMBIT_DEVICE_FOLD_H

#include "codegen/exact.h"
#include "grid/box.h"

/* Most computed components of a launch that folds them at once: those of each parameter, and one
 * more for subscripts beyond them. A GPU without shared memory for such tables folds them later. */
enum { AMBIT__MOST_BINS = 4097, AMBIT__BINS_BYTES = AMBIT__MOST_BINS * (int)sizeof(int64_t) };

typedef struct ambit__fold {
  const ambit__param *param; /* the reduction: sum, min or max, and its type */
  bool exact;                /* it is a strict sum of real numbers */
  unsigned dropped;          /* bit d: cells are folded along axis d */
  ambit__box cells;          /* of the totals: cell 0 along these axes */
} ambit__fold;

size_t ambit__fold_bytes(const ambit__fold *f);             /* of all totals */
void ambit__fold_begin(const ambit__fold *f, void *totals); /* sets all to the identity */
/* Folds the cells of a box, whose projection lies in f->cells. `values` is the first one of them,
 * stride the distance between cells, and component that between components, in values. */
void ambit__fold_add(const ambit__fold *f, void *totals, const void *values, const int64_t *stride,
                     int64_t component, const ambit__box *box);
/* Folds the totals of other cells into those that are the same cell. */
void ambit__fold_join(const ambit__fold *f, void *totals, const void *others,
                      const ambit__box *of_others);
/* The totals as values, dense, components last, of the type of the parameter. */
void ambit__fold_finish(const ambit__fold *f, const void *totals, void *values);

#endif
