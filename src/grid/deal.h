/* SPDX-License-Identifier: BSD-3-Clause */
/* deal.h - the cells of chunks (grid/chunks.h), dealt to the threads of a GPU.
 *
 * Thread t computes cell t: active cells are numbered without gaps, so every thread has work,
 * however short the chunks are. A line of a table has what the cells of a piece of a chunk share;
 * a group of 32 cells has a word that leads each of them to its line:
 *
 *      cells     0 1 2 3 4 5 6 7 8 9 ... 31      word: the line of its first cell, and above it
 *      pieces    ------- ----- -----------       32 bits, 1 for each other cell that begins a line
 *      bits      0 0 0 0 1 0 0 1 0 0 ...
 *
 * The line of a cell is that of the group plus the bits up to the cell. Cells are dealt tile by
 * tile: pieces are as long as a tile is wide, and consecutive cells sweep the planes of a tile, so
 * that a block of threads finds the cells of other rows in its cache.
 */
#ifndef AMBIT_GRID_DEAL_H
#define AMBIT_GRID_DEAL_H

#include "grid/chunks.h"

enum { AMBIT__DEAL_GROUP = 32 }; /* cells of a group */

typedef struct ambit__deal {
  int64_t cells;
  int axes;       /* of the indices in a line */
  int words;      /* per line: see below */
  int32_t *lines; /* owned */
  int64_t nlines;
  size_t cap;
  uint64_t *groups; /* owned */
  int64_t ngroups;
} ambit__deal;

/* A line has the position of a cell less its number, the distance to the row of each column, and
 * for each of the first axes of the grid two words with the lower and the upper half of an index,
 * along the last axis less the number of the cell. */
static inline int ambit__deal_words(int columns, int axes)
{
  return 1 + columns + 2 * axes;
}

/* Deals the cells of a box that has whole planes along axis 0 of the region of the chunks. Lines
 * have the indices of the first `axes` axes. The caller frees it, also after a failure. */
ambit_status ambit__deal_make(ambit__errors *errors, const ambit__chunks *c, const ambit__box *box,
                              int axes, ambit__deal *d);
void ambit__deal_free(ambit__deal *d);

#endif
