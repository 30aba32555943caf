/* SPDX-License-Identifier: BSD-3-Clause */
/* patches.h - copies of values as data, which devices in host memory and GPUs run: the cells of a
 * box in stores and dense arrays, and ghost cells.
 *
 * A patch is a list of axes, each with a number of values and a stride on either side. The
 * components of a cell are one of them. An axis of one value is left out, and one that goes on
 * where the axis before it ends, on both sides, is one with it: whole boxes, planes or rows are a
 * single axis if they are contiguous.
 */
#ifndef AMBIT_DEVICE_PATCHES_H
#define AMBIT_DEVICE_PATCHES_H

#include "device/device.h"

enum { AMBIT__PATCH_AXES = AMBIT_MAX_DIMS + 1 };

/* In values, not bytes. */
typedef struct ambit__patch {
  int64_t to, from; /* places of the first value: in the buffer of a store, or in an array */
  int64_t count;    /* values in all */
  bool is_value;    /* they get the value `bits`; else copies have these bits changed: the sign */
  int64_t bits;
  int naxes; /* innermost first; the numbers of those behind are not set */
  int64_t n[AMBIT__PATCH_AXES], to_step[AMBIT__PATCH_AXES], from_step[AMBIT__PATCH_AXES];
} ambit__patch;

/* Of a box of cells, which may include margins: from a dense row-major array, components last, to a
 * store; from a store to such an array; from one value to a store; and between stores, to the cells
 * at distance `shift` (NULL: the same cells). Where one side is an array, values are in its order.
 */
ambit__patch ambit__patch_in(const ambit__layout *to, const ambit__box *box);
ambit__patch ambit__patch_out(const ambit__layout *from, const ambit__box *box);
ambit__patch ambit__patch_fill(const ambit__layout *to, const ambit__box *box, const void *value);
ambit__patch ambit__patch_across(const ambit__layout *to, const ambit__layout *from,
                                 const ambit__box *box, const int64_t *shift);
/* Of the cells of a lattice, to an array. */
ambit__patch ambit__patch_lattice(const ambit__layout *from, const ambit__lattice *l);

/* Whether the values are contiguous on both sides. */
bool ambit__patch_is_dense(const ambit__patch *p);

typedef ambit_status (*ambit__patch_fn)(void *user, const ambit__patch *p);
/* The cells of `reach` that are not in `given`, as the command ghosts has them. No patch depends on
 * another: each ghost cell is a copy of the given cell that it stands for. */
ambit_status ambit__patch_ghosts(const ambit__layout *l, const ambit__boundaries *b,
                                 const int64_t *extents, const ambit__box *given,
                                 const ambit__box *reach, ambit__patch_fn add, void *user);

#endif
