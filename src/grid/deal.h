/* SPDX-License-Identifier: BSD-3-Clause */
/* deal.h - the cells of chunks (grid/chunks.h), dealt to the threads of a GPU.
 *
 * A thread computes a unit: `wide` cells, 1, 2 or 4, whose first one is at a multiple of `wide`
 * along the row and in memory (AMBIT__QUAD). Units with an active cell are numbered without gaps,
 * and thread t computes unit t, so every thread has work, however short the chunks are. A line of a
 * table has what the units of a piece of a chunk share; a group of 32 units has a word that leads
 * each of them to its line:
 *
 *      units     0 1 2 3 4 5 6 7 8 9 ... 31      word: the line of its first unit, and above it
 *      pieces    ------- ----- -----------       32 bits, 1 for each other unit that begins a line
 *      bits      0 0 0 0 1 0 0 1 0 0 ...
 *
 * The line of a unit is that of the group plus the bits up to the unit. Units are dealt tile by
 * tile: pieces are as long as a tile is wide, and consecutive units sweep the planes of a tile, so
 * that a block of threads finds the cells of other rows in its cache.
 *
 * What differs from cell to cell is in a table of cells, for units of one cell, word by word: all
 * first words, then all second ones. If the rule tests activity, bits say which of the cells that
 * it tests are active. In a list (grid/active.h) there are no lines; a cell has its position, and
 * its distance to each cell that it reads. Cells are dealt in the order of memory there: threads
 * next to each other store whole lines of it.
 */
#ifndef AMBIT_GRID_DEAL_H
#define AMBIT_GRID_DEAL_H

#include "grid/chunks.h"

enum { AMBIT__DEAL_GROUP = 32 }; /* units of a group */

typedef struct ambit__deal {
  int64_t units;
  int wide;       /* cells of a unit */
  int axes;       /* of the indices in a line */
  int words;      /* per line: see below */
  int32_t *lines; /* owned */
  int64_t nlines;
  size_t cap;
  uint64_t *groups; /* owned */
  int64_t ngroups;
  int32_t *cells; /* owned; word k of unit t is at k * pitch + t */
  int cell_words;
  int64_t pitch;
  int64_t first; /* in a list: unit t is at position first + t; -1: at the one in its word */
} ambit__deal;

/* Words of a line: the position of a unit less `wide` times its number; the positions of the first
 * cell of the piece and behind its last; 1 if its cells are inner, or activity is not tested; the
 * distance to the row of each column; and for each of the first axes of the grid two words with the
 * lower and the upper half of an index, along the last axis less `wide` times the number of the
 * unit. */
enum { AMBIT__LINE_AT, AMBIT__LINE_FROM, AMBIT__LINE_END, AMBIT__LINE_INNER, AMBIT__LINE_COLUMN };
enum { AMBIT__DEAL_VECTOR = 4 }; /* lines are as many words, or a multiple: they are loaded so */
static inline int ambit__deal_words(int columns, int axes)
{
  const int words = AMBIT__LINE_COLUMN + columns + 2 * axes;

  return (words + AMBIT__DEAL_VECTOR - 1) / AMBIT__DEAL_VECTOR * AMBIT__DEAL_VECTOR;
}

/* Words of a cell: in a list its position, the distances of the columns that are read and have no
 * rank, and those of ranks in other rows, to the first cell that is present; then bits of tests;
 * then, in a list and with indices, the two halves of its number in the box. */
int ambit__deal_column(const ambit__chunk_form *f, int column); /* the word of a column of a list */
int ambit__deal_rank(const ambit__chunk_form *f, int rank);     /* ... and of a rank */
int ambit__deal_bits(const ambit__chunk_form *f);               /* the first word with bits */
int ambit__deal_number(const ambit__chunk_form *f);             /* the first word behind them */
enum { AMBIT__DEAL_TESTS = 32 };                                /* bits in a word */

/* Deals the cells of all chunks. Lines have the indices of the first `axes` axes. The caller frees
 * it, also after a failure. */
ambit_status ambit__deal_make(ambit__errors *errors, const ambit__chunks *c, int wide, int axes,
                              ambit__deal *d);
void ambit__deal_free(ambit__deal *d);

/* ---- deal_cells.c, for deal.c ---- */

/* The activity of all positions, by view: NULL where none is tested. */
typedef struct ambit__images {
  unsigned char **of; /* owned */
  int views;
  int32_t *words; /* room for those of a cell of a list; owned */
} ambit__images;

ambit_status ambit__images_make(ambit__errors *errors, const ambit__chunks *c, ambit__images *im);
void ambit__images_free(ambit__images *im);
/* Sets the words of n cells of a chunk, which units from d->units on compute. */
void ambit__deal_put(ambit__deal *d, const ambit__chunks *c, const ambit__images *im, int64_t chunk,
                     int64_t from, int64_t n);

#endif
