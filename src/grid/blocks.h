/* SPDX-License-Identifier: BSD-3-Clause */
/* blocks.h - the active cells of a sparse grid, in blocks.
 *
 * The box of the grid is cut into blocks of one shape. A block with an active cell is stored:
 *
 *        . . . . . . . .        the box, 8 x 12 cells, in blocks of 4 x 4:
 *        . . # # | # . .        three blocks are stored
 *        . # # # | # # .
 *        . . # # | . . .        a block has a bit per cell, row-major, and the numbers of its
 *        --------+------        3^d neighbours (itself in the middle), -1 if they are not stored
 *        . . # . |
 *
 * Blocks are numbered along a Z-curve, so that blocks near each other have near numbers. Shapes are
 * powers of two. Nothing here has the size of the box.
 */
#ifndef AMBIT_GRID_BLOCKS_H
#define AMBIT_GRID_BLOCKS_H

#include "base/memory.h"
#include "grid/box.h"

typedef struct ambit__blocks {
  ambit__box box;                /* of the grid */
  int shift[AMBIT_MAX_DIMS];     /* a block has 1 << shift cells along each axis */
  int64_t count[AMBIT_MAX_DIMS]; /* blocks along each axis of the box */
  int64_t volume;                /* cells of a block */
  int words;                     /* of the mask of a block */
  int around;                    /* 3^ndims */
  int64_t n;                     /* blocks stored, less than 2^31 */
  int64_t active;                /* cells */
  int64_t *key;                  /* by block: its place on the curve, ascending; owned */
  int64_t *at;                   /* by block and axis: its place, in blocks; owned */
  uint64_t *mask;                /* by block: `words` words, a bit per cell; owned */
  int32_t *near;                 /* by block: `around` block numbers, or -1; owned */
  bool *full;                    /* by block: all cells are active; owned */
  size_t cap;                    /* while blocks are added */
} ambit__blocks;

/* An empty structure for the cells of a box. */
void ambit__blocks_begin(ambit__blocks *b, const ambit__box *box);
/* Adds a block, at most once, in any order. Does nothing if no cell is active. */
ambit_status ambit__blocks_add(ambit__errors *errors, ambit__blocks *b, const int64_t *at,
                               const uint64_t *mask);
/* Adds the blocks of another one, and frees it. */
ambit_status ambit__blocks_join(ambit__errors *errors, ambit__blocks *b, ambit__blocks *more);
/* Sorts the blocks and finds their neighbours. */
ambit_status ambit__blocks_end(ambit__errors *errors, ambit__blocks *b);
void ambit__blocks_free(ambit__blocks *b);

/* The block at a place, or the one with a cell of the box; -1: not stored. */
int64_t ambit__blocks_find(const ambit__blocks *b, const int64_t *at);
int64_t ambit__blocks_of(const ambit__blocks *b, const int64_t *cell);
bool ambit__blocks_active(const ambit__blocks *b, const int64_t *cell); /* a cell of the box */

/* The cells of a block, within the grid. */
ambit__box ambit__blocks_box(const ambit__blocks *b, int64_t block);
/* Number of active cells of a block, or of all blocks, in a box. */
int64_t ambit__blocks_count_in(const ambit__blocks *b, int64_t block, const ambit__box *box);
int64_t ambit__blocks_count(const ambit__blocks *b, const ambit__box *box);

/* Position of a cell in its block, in cells. */
static inline int64_t ambit__blocks_place(const ambit__blocks *b, const int64_t *cell)
{
  int64_t place = 0;

  for (int d = 0; d < b->box.ndims; d++)
    place = (place << b->shift[d]) + (cell[d] & (((int64_t)1 << b->shift[d]) - 1));
  return place;
}

static inline bool ambit__blocks_bit(const ambit__blocks *b, int64_t block, int64_t place)
{
  return b->mask[block * b->words + place / 64] >> place % 64 & 1;
}

/* The bits of `n` cells, up to 64, of a row of a block, from `place` on. They do not cross a word
 * unless the row starts at one, since rows are powers of two. */
static inline uint64_t ambit__blocks_bits(const ambit__blocks *b, int64_t block, int64_t place,
                                          int64_t n)
{
  const uint64_t word = b->mask[block * b->words + place / 64] >> place % 64;

  return n < 64 ? word & (((uint64_t)1 << n) - 1) : word;
}

/* Activity of the cells at an offset from those of a row of a block, as the bits of that row. `row`
 * is its place relative to the first cell of the block. The offset is at most a block long, and
 * cells outside the box count as inactive. */
uint64_t ambit__blocks_bits_at(const ambit__blocks *b, int64_t block, const int64_t *row,
                               const int *offset);

/* Iterates over boxes of active cells of a block, which together are all of them in `clip`, a part
 * of the block: runs of rows, several rows high where adjacent rows are equal.
 *
 *   ambit__runs r = {0}; while (ambit__blocks_next_run(b, block, &clip, &r)) use(&r.box);
 */
typedef struct ambit__runs {
  ambit__box box;              /* the current one */
  int64_t row[AMBIT_MAX_DIMS]; /* the first row of a band of equal rows */
  int64_t rows;                /* in it */
  uint64_t bits;               /* of each, that are left */
  bool started;
} ambit__runs;
bool ambit__blocks_next_run(const ambit__blocks *b, int64_t block, const ambit__box *clip,
                            ambit__runs *r);

#endif
