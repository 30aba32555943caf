/* SPDX-License-Identifier: BSD-3-Clause */
/* layout.h - the memory layout of one field on one part.
 *
 * A part stores its own cells and, around them, a margin of ghost and halo cells. Rows (runs along
 * the last axis) start on a cache line, unless they are so short that this would take much memory:
 * grids of many axes and thin ones move fewer bytes then. The low margin of a row lies in the
 * padding of the row before. The pitch of rows avoids cache set conflicts. GPUs need more:
 * a row whose first own cell is not aligned to `line` bytes costs up to 20 % of the bandwidth, and
 * so do gaps between rows, though less.
 *
 *      +---------------------------+
 *      |  margin_lo[0] rows        |      o: the origin, the part's first own cell,
 *      |    +-----------------+    |         aligned to 64 bytes, or to `line`
 *      |    |o    own         |    |
 *      |    +-----------------+    |
 *      |  margin_hi[0] rows        |
 *      +---------------------------+
 *
 * On a sparse grid the buffer has runs of cells, as grid/active.h places them: rows, without
 * margins, and only the stride along them has a meaning.
 *
 * All lengths are in elements, except `bytes`.
 */
#ifndef AMBIT_GRID_LAYOUT_H
#define AMBIT_GRID_LAYOUT_H

#include "grid/active.h"

typedef struct ambit__layout {
  ambit_type type;
  int components;    /* values per cell */
  ambit_order order; /* AMBIT_SOA or AMBIT_AOS */
  int line;          /* row alignment in bytes, a power of 2; 0: a CPU cache line. See below */
  int turn;          /* rows lie along axis turn - 1 (ambit__layout_turn); 0: along the last one */
  ambit__box own;    /* own cells, in global indices; on a sparse grid, a box that contains them */
  unsigned dropped;  /* bit d: the field has no axis d: one own cell, 0, and stride 0 */
  bool is_copy;      /* then: another part has the same own cells, and saves them */
  const ambit__active *active;       /* of a sparse grid, with the own cells; NULL: dense */
  int64_t margin_lo[AMBIT_MAX_DIMS]; /* cells before the own ones, per axis */
  int64_t margin_hi[AMBIT_MAX_DIMS]; /* cells after the own ones */
  int64_t stride[AMBIT_MAX_DIMS];    /* distance between neighbouring cells, per axis */
  int64_t component;                 /* distance between components */
  int64_t origin;                    /* position of the origin in the buffer */
  size_t bytes;                      /* size of the buffer */
} ambit__layout;

/* Computes strides, component, origin and bytes from the other fields. Rows are aligned to `line`
 * bytes; while that would cost more than an eighth of the memory, the alignment is halved, down to
 * a cache line. On cores, and of rows on GPUs that are much shorter than a warp's vectors, it is
 * halved below that while it would cost more than a third, on GPUs down to a vector; on cores short
 * rows of a field larger than a second-level cache follow each other without gaps, if these would
 * take more than an eighth. If rows are not short the low margin of the last axis is widened to
 * whole cache lines: vectors at the end of a row may read a few cells behind it, whose values they
 * do not use, and of short rows these are the low margin of the next. On cores vectors at the start
 * of a row read a few cells before it, too: there is room for them before the first cell. Returns
 * false if the size exceeds 63 bits. */
bool ambit__layout_make(ambit__layout *l);

/* The `turn` of all fields of a dense grid on GPUs: rows of a few cells would be half padding and
 * margins, and neighbouring threads would have cells of several of them, so rows lie along an axis
 * before, and the last axis is the one before it in memory. 0: rows are long enough. */
int ambit__layout_turn(const ambit__box *grid);

/* The layout of the same memory with axes in the order of that `turn`. */
ambit__layout ambit__layout_turned(const ambit__layout *l, int turn);

/* Whether rows are short, so that they may begin between cache lines. On GPUs this does not depend
 * on the margins. */
bool ambit__layout_is_packed(const ambit__layout *l);

/* Whether the own cells and the margins contain a box. */
bool ambit__layout_has(const ambit__layout *l, const ambit__box *box);

/* Bytes of a box of the field in a dense array. */
size_t ambit__layout_box_bytes(const ambit__layout *l, const ambit__box *box);

/* Position in the buffer of component 0 of a cell (global index), which on a sparse grid is
 * active. */
int64_t ambit__layout_at(const ambit__layout *l, const int64_t *cell);

/* The layout of components first .. first + count - 1 alone, within the same buffer. The order must
 * be AMBIT_SOA unless these are all. */
ambit__layout ambit__layout_slice(const ambit__layout *l, int first, int count);

#endif
