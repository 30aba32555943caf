/* SPDX-License-Identifier: BSD-3-Clause */
/* chunks.h - the cells that a step updates on a sparse grid, and where the rows that it reads are.
 *
 * A chunk is a part of a run such that, for every row of cells that the rule reads, all of them are
 * at one distance in memory:
 *
 *      the row above      # # # # # # . . . . .          two chunks: the first reads the row above
 *      a run                # # # # # # # # # # #        in its run, the second in the section of
 *                           |       1     |  2  |        inactive cells (grid/active.h)
 *
 * A column of the table is a row that is read: a place relative to that of the cell, and the
 * boundaries of the reads, since fields differ in them. Columns are needed for other rows only: in
 * its own row, a cell and its neighbours are side by side.
 *
 * In a list (grid/active.h), a column is a single cell that is read, and cells of the own row need
 * columns too. Most chunks are short there.
 *
 * A rule may test the activity of cells around a cell. The cells of a chunk that have only active
 * ones there are its inner cells: the table has a range of them that follow each other, which need
 * no test.
 *
 * Cells beyond the ends of rows are in memory, as far as they are read. Those that stand for others
 * of the row are copies, listed as edges; the rest has constants, as have all inactive cells.
 */
#ifndef AMBIT_GRID_CHUNKS_H
#define AMBIT_GRID_CHUNKS_H

#include "ambit.h"
#include "base/team.h"
#include "grid/active.h"
#include "grid/boundary.h"
#include "grid/tiles.h"

/* Cells of a row, relative to the place of a cell, whose activity is tested: from lo to hi. */
typedef struct ambit__tested {
  bool any;
  int lo, hi;
} ambit__tested;

typedef struct ambit__column {
  int view;                   /* its boundaries */
  int offset[AMBIT_MAX_DIMS]; /* of the row; the last axis is 0, in a list that of the cell */
  int lo, hi;                 /* cells of it that a cell reads, relative to its own place */
  bool reads;                 /* some are read, not only tested */
  int rank;                   /* in a list: the rank that has its cell; -1: none */
  ambit__tested tested;
} ambit__column;

/* A test of the activity of a cell: in which column, or -1, the own row; or whether it is
 * `present`, a cell of the list and no constant. */
typedef struct ambit__test {
  int view, column;
  int offset[AMBIT_MAX_DIMS];
  bool present;
} ambit__test;

/* In a list, cells of a row that are read, lo .. hi without a gap, of which all that are not
 * present have one value. Those that are present follow each other in memory: the place of the
 * first one, or in the own row that of the cell itself, and tests of all are enough to find each.
 */
typedef struct ambit__rank {
  int view;
  int offset[AMBIT_MAX_DIMS]; /* of the row; the last axis is 0 */
  int lo, hi;
  bool own;
} ambit__rank;

/* The reads of a rule. A view is a set of boundaries with which some components of parameters are
 * read. */
typedef struct ambit__chunk_form {
  bool list;              /* columns are cells: set before any is added */
  ambit__column *columns; /* owned */
  int ncolumns;
  size_t cap;
  ambit__test *tests; /* owned */
  int ntests;
  size_t test_cap;
  ambit__rank *ranks; /* owned */
  int nranks;
  size_t rank_cap;
  ambit__boundaries *views; /* owned */
  int *reach;               /* by view: cells along a row, to both sides, that are read; owned */
  int nviews;
  size_t view_cap, reach_cap;
  ambit__tested own; /* of the own row; not in a list */
  /* by parameter and component; NULL: it is read at the cell itself, or not at all; owned */
  int *view[AMBIT_MAX_PARAMS];
} ambit__chunk_form;

/* The view of a component; -1: none. */
static inline int ambit__chunk_form_of(const ambit__chunk_form *f, int param, int component)
{
  return f->view[param] ? f->view[param][component] : -1;
}

/* Words of a chunk in the table: the position of its first cell; its number of cells; its inner
 * cells, counted from the first one of the chunk: the first of them and, from bit 16 on, the end;
 * and the distance to the row of each column. */
enum { AMBIT__CHUNK_AT, AMBIT__CHUNK_CELLS, AMBIT__CHUNK_INNER, AMBIT__CHUNK_COLUMN };

static inline int64_t ambit__inner_from(int32_t inner)
{
  return inner & 0xffff;
}
static inline int64_t ambit__inner_end(int32_t inner)
{
  return inner >> 16;
}

/* Cells that are copies of others: pairs of positions, to and from. */
typedef struct ambit__edges {
  int32_t *moves; /* owned */
  int64_t n;
  size_t cap;
} ambit__edges;

typedef struct ambit__chunks {
  struct ambit__chunks *next; /* in a list, of the same form and active cells */
  ambit__box region;          /* whose active cells they are */
  const ambit__active *active;
  const ambit__chunk_form *form;
  int words;      /* per chunk */
  int32_t *table; /* owned */
  int64_t *first; /* by chunk: the number of its first cell in the box, row-major; owned */
  int64_t n;
  int64_t *starts; /* in the order of tiles, by tile: its first chunk, and the end; owned */
  int64_t cells;   /* of all chunks */
  size_t cap, first_cap;
  ambit__edges *edges; /* by view: those that the region reads; owned */
} ambit__chunks;

/* Whether the cells beside runs are enough for the reads of a form; or the pad it needs. */
int64_t ambit__chunk_form_pad(const ambit__chunk_form *f);
void ambit__chunk_form_free(ambit__chunk_form *f);
/* The view with some boundaries, a new one if there is none; -1: no memory for it. */
int ambit__chunk_form_view(ambit__errors *errors, ambit__chunk_form *f, const ambit__boundaries *b);
/* Whether one of n components of a parameter is read with the view of a column. */
bool ambit__chunk_form_uses(const ambit__chunk_form *f, int param, int n, int column);
/* How many of n components of a parameter, from one on, have its view. */
int ambit__chunk_form_alike(const ambit__chunk_form *f, int param, int component, int n);
/* Adds a read, or with `tests` one of activity, to the column of its row. */
ambit_status ambit__chunk_form_add(ambit__errors *errors, ambit__chunk_form *f, int ndims, int view,
                                   const int *offset, bool tests);
/* The column of a row that is read with a view, whose last axis does not matter; in a list, of a
 * cell. -1: the own row, or cell. */
int ambit__chunk_form_column(const ambit__chunk_form *f, int ndims, int view, const int *offset);
/* The number of the test of a cell. */
int ambit__chunk_form_test(const ambit__chunk_form *f, int ndims, int view, const int *offset,
                           bool present);
/* chunk_ranks.c: finds the ranks of a list, when all reads are added. */
ambit_status ambit__chunk_form_rank(ambit__errors *errors, ambit__chunk_form *f, int ndims);
/* ... the test of cell x of a row. */
int ambit__rank_test(const ambit__chunk_form *f, int ndims, const ambit__rank *r, int x);
ambit_status ambit__chunk_form_add_test(ambit__errors *errors, ambit__chunk_form *f, int ndims,
                                        int view, const int *offset, bool present);

/* The chunks of all active cells in a region, in the order of rows, or of tiles that cover it (not
 * NULL), made by a team. `active` and `form` must outlive them. The caller frees them, also after a
 * failure. */
ambit_status ambit__chunks_make(ambit__errors *errors, const ambit__active *active,
                                const ambit__chunk_form *form, const ambit__box *region,
                                const ambit__tiling *tiles, const ambit__team *team,
                                ambit__chunks *c);
void ambit__chunks_free(ambit__chunks *c);
/* The chunks of a region in a list; NULL: there are none. */
const ambit__chunks *ambit__chunks_find(const ambit__chunks *list, const ambit__box *region);
/* Makes them, with `block` in the order of so many rows of each plane, then of the next ones, and
 * adds them to the list. */
ambit_status ambit__chunks_add(ambit__errors *errors, const ambit__active *active,
                               const ambit__chunk_form *form, const ambit__box *region,
                               int64_t block, const ambit__team *team, ambit__chunks **list);
void ambit__chunks_free_list(ambit__chunks *list);

#endif
