/* layout.h - how the cells of one field lie in the memory of one part.
 *
 * A part keeps its own cells and, around them, a margin of ghost and halo cells. Rows (runs along
 * the last axis) start on a cache line, and their pitch avoids the distances at which caches collide.
 * GPUs want more: a row whose first own cell is not on a multiple of `line` bytes costs them up to a fifth, and
 * so do gaps between rows, though less.
 *
 *      +---------------------------+
 *      |  margin_lo[0] rows        |      o: the origin, the part's first own cell,
 *      |    +-----------------+    |         on a multiple of 64 bytes, or of `line`
 *      |    |o    own         |    |
 *      |    +-----------------+    |
 *      |  margin_hi[0] rows        |
 *      +---------------------------+
 *
 * Everything counts elements, except `bytes`.
 */
#ifndef AMBIT_GRID_LAYOUT_H
#define AMBIT_GRID_LAYOUT_H

#include "grid/box.h"

typedef struct ambit__layout {
  ambit_type type;
  int components;    /* values per cell */
  ambit_order order; /* AMBIT_SOA or AMBIT_AOS */
  int line;          /* bytes, a power of 2: see ambit__layout_make; 0: a cache line of a core */
  ambit__box own;    /* the part's cells, global indices */
  int64_t margin_lo[AMBIT_MAX_DIMS]; /* cells kept before the own ones, per axis */
  int64_t margin_hi[AMBIT_MAX_DIMS]; /* and after */
  int64_t stride[AMBIT_MAX_DIMS];    /* from a cell to the next, per axis */
  int64_t component;                 /* from a component to the next */
  int64_t origin;                    /* from the start of the buffer to the origin */
  size_t bytes;                      /* of the whole buffer */
} ambit__layout;

/* Fills in strides, component, origin and bytes from the rest, widening the margins of the last axis to whole
 * cache lines. Rows begin on multiples of `line` bytes, or of half as many, and so on, if an eighth of the memory would
 * be lost to that. Returns false when the size does not fit into 63 bits. */
bool ambit__layout_make(ambit__layout *l);

/* Whether a box lies within the own cells and the margins. */
bool ambit__layout_has(const ambit__layout *l, const ambit__box *box);

/* Bytes of a box of the field in a dense array. */
size_t ambit__layout_box_bytes(const ambit__layout *l, const ambit__box *box);

/* Bytes from the first value of a box to the end of its last one, in the buffer, whatever lies in between. */
size_t ambit__layout_span(const ambit__layout *l, const ambit__box *box);

/* From the start of the buffer to a cell (global index) of component 0. */
int64_t ambit__layout_at(const ambit__layout *l, const int64_t *cell);

/* The layout of components first .. first + count - 1 alone, within the same buffer. The order must
 * be AMBIT_SOA unless these are all. */
ambit__layout ambit__layout_slice(const ambit__layout *l, int first, int count);

#endif
