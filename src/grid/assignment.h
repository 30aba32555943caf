/* SPDX-License-Identifier: BSD-3-Clause */
/* assignment.h - the cells of chunks (grid/chunks.h), assigned to the threads of a GPU.
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
 * The line of a unit is that of the group plus the bits up to the unit. Units are assigned tile by
 * tile: pieces are as long as a tile is wide, and consecutive units sweep the planes of a tile, so
 * that a block of threads finds the cells of other rows in its cache.
 *
 * A unit may have cells of several rows side by side, rows[0] along the axis before the last and
 * rows[1] along the one before that, the first one at multiples of these numbers. Rows that it
 * reads more than once are loaded once, and it finds them all in one line: pieces of rows are
 * joined to a stack as long as they agree where each row is that they have or read.
 *
 * What differs from cell to cell is in a table of cells, for units of one cell, word by word: all
 * first words, then all second ones. If the rule tests activity, bits say which of the cells that
 * it tests are active. In a list (grid/active.h) there are no lines; a cell has its position, and
 * its distance to each cell that it reads. Cells are assigned in the order of memory there: threads
 * next to each other store whole lines of it.
 */
#ifndef AMBIT_GRID_ASSIGNMENT_H
#define AMBIT_GRID_ASSIGNMENT_H

#include "grid/chunks.h"

enum { AMBIT__ASSIGNMENT_GROUP = 32 };  /* units of a group */
enum { AMBIT__ASSIGNMENT_PIECE = 128 }; /* cells of a piece, at most: the width of tiles */

typedef struct ambit__assignment {
  int64_t units;
  int wide;       /* cells of a unit, in each row ... */
  int rows[2];    /* ... of so many */
  int axes;       /* of the indices in a line */
  int words;      /* per line: see below ... */
  int index;      /* ... and the first of them with indices */
  int32_t *lines; /* owned */
  int64_t nlines;
  size_t cap;
  uint64_t *groups; /* owned */
  int64_t ngroups;
  int32_t *cells; /* owned; word k of unit t is at k * pitch + t */
  int cell_words;
  int64_t pitch;
  int64_t first; /* in a list: unit t is at position first + t; -1: at the one in its word */
} ambit__assignment;

/* Words of a line: the position of a unit less `wide` times its number; the positions of the first
 * cell of the piece and behind its last; 1 if its cells are inner, or activity is not tested; the
 * distance to the row of each column; and for each of the first axes of the grid two words with the
 * lower and the upper half of an index, along the last axis less `wide` times the number of the
 * unit. */
enum { AMBIT__LINE_AT, AMBIT__LINE_FROM, AMBIT__LINE_END, AMBIT__LINE_INNER, AMBIT__LINE_COLUMN };
enum {
  AMBIT__ASSIGNMENT_VECTOR = 4
}; /* lines are as many words, or a multiple: they are loaded so */
/* Words of a line for several rows: the first cell of a unit, counted from the tile, less `wide`
 * times its number; for each row its first cell and, from bit 16 on, the end, counted alike (0: the
 * stack has no cells there); for each slot the position that the first cell of the tile has, or
 * would have, in that row; and indices, those of the first row. */
enum { AMBIT__STACK_X, AMBIT__STACK_ROW };
/* A slot is a row that units have or read with one view. The first ones are those that units have:
 * with view 0, which may also be none, then with the others, since rows in which a stack has no
 * cells are elsewhere for each. The slot of a row; that of a column of a row; the number of slots.
 */
static inline int ambit__assignment_rows(const int *rows)
{
  return rows[0] * rows[1];
}
static inline int ambit__assignment_own(const int *rows, int view, int row)
{
  return (view > 0 ? view : 0) * ambit__assignment_rows(rows) + row;
}
int ambit__assignment_slot(const ambit__chunk_form *f, int ndims, const int *rows, int row,
                           int column);
int ambit__assignment_slots(const ambit__chunk_form *f, int ndims, const int *rows);
/* The registers for the values of a cell that a rule reads. */
typedef struct ambit__assignment_load {
  int beside; /* those that it reads in other cells, too */
  int own;    /* ... in the cell alone */
} ambit__assignment_load;
/* The registers of a value of a type. */
static inline int ambit__assignment_registers(size_t size)
{
  return size > 4 ? (int)(size / 4) : 1;
}
/* The shapes of units, from one row to many, and the best one (ambit__active_stacked): with one row
 * in two dimensions, where others are no faster. */
enum { AMBIT__ASSIGNMENT_SHAPES = 4 };
extern const int ambit__assignment_shapes[AMBIT__ASSIGNMENT_SHAPES][2];
const int *ambit__assignment_best(const ambit__chunk_form *f, int ndims, double stacked,
                                  const ambit__assignment_load *load);
/* Whether units may have such rows in so many dimensions. */
static inline bool ambit__assignment_suits(const ambit__chunk_form *f, int ndims, const int *rows)
{
  if (ambit__assignment_rows(rows) == 1) return true;
  return ndims > (rows[1] > 1 ? 2 : 1) && !f->ntests && !f->list;
}
/* The first word with indices, and the number of words. */
int ambit__assignment_index(const ambit__chunk_form *f, int ndims, const int *rows);
int ambit__assignment_words(const ambit__chunk_form *f, int ndims, const int *rows, int axes);

/* Words of a cell: in a list its position, the distances of the columns that are read and have no
 * rank, and those of ranks in other rows, to the first cell that is present; then bits of tests;
 * then, in a list and with indices, the two halves of its number in the box. */
int ambit__assignment_column(const ambit__chunk_form *f,
                             int column); /* the word of a column of a list */
int ambit__assignment_rank(const ambit__chunk_form *f, int rank); /* ... and of a rank */
int ambit__assignment_bits(const ambit__chunk_form *f);           /* the first word with bits */
int ambit__assignment_number(const ambit__chunk_form *f);         /* the first word behind them */
enum { AMBIT__ASSIGNMENT_TESTS = 32 };                            /* bits in a word */

/* Assigns the cells of all chunks. Units of several rows have AMBIT__QUAD cells in each, and test
 * no activity. Lines have the indices of the first `axes` axes. A team writes the cells of lists.
 * The caller frees it, also after a failure. */
ambit_status ambit__assignment_make(ambit__errors *errors, const ambit__chunks *c, int wide,
                                    const int *rows, int axes, const ambit__team *team,
                                    ambit__assignment *d);
void ambit__assignment_free(ambit__assignment *d);

/* ---- for assignment.c ---- */

/* Cells of a chunk in one tile, and all of them inner or none. */
typedef struct ambit__chunk_piece {
  int64_t chunk, from, n; /* its cells from .. from + n - 1 */
  /* by which pieces are sorted, the last one first: those of a stack, and the place of the tile */
  int32_t keys[4];
  bool inner;
} ambit__chunk_piece;

/* Notes a line for n units from d->units on in the groups. */
void ambit__assignment_note(ambit__assignment *d, int64_t line, int64_t n);
/* Writes an index of a line. */
void ambit__assignment_put_index(int32_t *words, int64_t index);

/* ---- assignment_stacks.c ---- */

/* Adds the lines of pieces of all rows of a stack in the tile that begins at cell x of them, and
 * numbers their units. `slots` has the slots of row 0, column by column, then those of row 1, and
 * so on. */
ambit_status ambit__assignment_stack(ambit__errors *errors, ambit__assignment *d,
                                     const ambit__chunks *c, const int *slots, int64_t x,
                                     const ambit__chunk_piece *pieces, int64_t n);

/* ---- assignment_cells.c ---- */

/* The activity of all positions, by view: NULL where none is tested. */
typedef struct ambit__images {
  unsigned char **of; /* owned */
  int views;
} ambit__images;

ambit_status ambit__images_make(ambit__errors *errors, const ambit__chunks *c, ambit__images *im);
void ambit__images_free(ambit__images *im);
/* Sets the words of all cells of a list, and numbers them. */
ambit_status ambit__assignment_list(ambit__errors *errors, ambit__assignment *d,
                                    const ambit__chunks *c, const ambit__images *im,
                                    const ambit__team *team);
/* Sets the bits of n cells of a chunk, which units from d->units on compute. */
void ambit__assignment_put(ambit__assignment *d, const ambit__chunks *c, const ambit__images *im,
                           int64_t chunk, int64_t from, int64_t n);

#endif
