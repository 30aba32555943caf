/* SPDX-License-Identifier: BSD-3-Clause */
/* active.h - the active cells of a sparse grid, and their places in memory.
 *
 * A run is a maximal sequence of active cells along the last axis. Fields store runs one behind the
 * other, in the order of rows, with inactive cells between them:
 *
 *      a row of the box      . . # # # . # # . . . . . . . . . . # # # # # . . .
 *      in memory               . # # # . # # . . . . # # # # # . . . .
 *                                        \   pad   /
 *
 * Cells up to `pad` beside a run are in memory where they are in the row: a gap that is not longer
 * than `pad` is stored as it is, a longer one is `pad` cells. If these cells would cross an end of
 * the row, the run has its own cells up to `pad` beyond that end. A row with such a run has them
 * beyond both ends; there may be an empty run for that. So all cells that a rule reads around a run
 * along the row, up to pad / 2 away from it, are at their distance from it in memory, whatever they
 * are: active, inactive or beyond the grid.
 *
 * The position of a cell, modulo AMBIT__QUAD, is its index along the row, also in sections. So
 * distances between rows are multiples of it: a vector of cells that is aligned in one row is so in
 * all.
 *
 * In front of all runs are sections without cells of the grid, for reads in rows that have no run
 * where they are read: one for inactive cells, and one for each face of the other axes, in order,
 * for its constant. A section is like a row of `section` cells, with `pad` cells beyond each end.
 * It is as long as a row, or else less by a multiple of AMBIT__QUAD.
 *
 * Nothing here has the size of the box. That is the storage of runs. There is another one, with the
 * same sections, a list: cells follow each other without any between them. Cells beside a run are
 * elsewhere.
 */
#ifndef AMBIT_GRID_ACTIVE_H
#define AMBIT_GRID_ACTIVE_H

#include "base/memory.h"
#include "grid/box.h"

enum {
  AMBIT__PAD = 8,  /* the least pad: measured, more cuts fewer rows, but takes more memory */
  AMBIT__QUAD = 4, /* cells; a power of 2, and pads and the numbers around it are multiples */
  AMBIT__MOST_ROW = 1024,  /* cells of a section, at most */
  AMBIT__BEYOND_RUNS = 128 /* cells before the first section and behind the last run, for vectors */
};

/* Cells that a part may have in memory: their positions, and distances, have 32 bits. Tests lower
 * it. */
extern int64_t ambit__active_most;

typedef enum ambit__storage { STORAGE_RUNS, STORAGE_LIST } ambit__storage;

typedef struct ambit__run {
  int64_t row;    /* its number in the box: row-major, over all axes but the last */
  int64_t lo, hi; /* its cells along the last axis */
  int64_t at;     /* position of cell lo in memory, in cells */
} ambit__run;

typedef struct ambit__active {
  ambit__box box; /* of the grid */
  ambit__storage storage;
  int64_t pad;
  int64_t section;  /* cells of a section */
  ambit__run *runs; /* by row, then along it; owned */
  int64_t n;
  size_t cap;
  int64_t cells; /* active ones */
  int64_t size;  /* cells of memory, with all that is between and around runs */
} ambit__active;

/* An empty structure for the cells of a box. */
void ambit__active_begin(ambit__active *a, const ambit__box *box, ambit__storage storage);
/* Adds a run behind all others: `at` does not matter. */
ambit_status ambit__active_add(ambit__errors *errors, ambit__active *a, const ambit__run *run);
/* Finds the places of all runs, for a pad. */
ambit_status ambit__active_end(ambit__errors *errors, ambit__active *a, int64_t pad);
/* The same cells in another storage. */
ambit_status ambit__active_store(ambit__errors *errors, const ambit__active *from,
                                 ambit__storage storage, int64_t pad, ambit__active *to);
void ambit__active_free(ambit__active *a);

/* ---- active_parts.c ---- */

/* Cuts the box into parts with active cells in proportion to weights (NULL: equal ones). `counts`
 * has the number of parts along each axis, cut one axis after the other; NULL: halves are cut in
 * halves, each along the longest axis on which a plane divides it well. */
ambit_status ambit__active_cut(ambit__errors *errors, const ambit__active *a, int nparts,
                               const int *counts, const double *weights, ambit__box *parts);
/* The runs that a part stores: those of its own cells and of layers around them, in the order of
 * the whole, cut where the part is; beyond the ends of an axis those at the other end. The pad is
 * that of the whole. */
ambit_status ambit__active_part(ambit__errors *errors, const ambit__active *whole,
                                const ambit__box *own, const ambit__layers *layers,
                                ambit__active *part);

/* ---- active_shift.c ---- */

/* Of a copy of the cells of a box to another place, what a part has to do with it. Cells are named
 * by their place at the destination, and have their positions in the part. */
typedef struct ambit__shifted {
  ambit__active from;  /* cells of the source here, if they and their destination are active */
  ambit__active to;    /* of the destination, if they and their source are active; */
  ambit__active blank; /* and if their source is not */
} ambit__shifted;

/* `own` is the box of the part. The caller frees the result, also after a failure. */
ambit_status ambit__active_shift(ambit__errors *errors, const ambit__active *whole,
                                 const ambit__active *part, const ambit__box *own,
                                 const ambit__box *box, const int64_t *shift, ambit__shifted *s);
void ambit__shifted_free(ambit__shifted *s);

/* ---- active.c ---- */

/* The first run in a row or behind it that ends behind cell x of the row; a->n if there is none. */
int64_t ambit__active_from(const ambit__active *a, int64_t row, int64_t x);
/* The run with a cell of the box; -1: it is inactive. */
int64_t ambit__active_run(const ambit__active *a, const int64_t *cell);
static inline bool ambit__active_has(const ambit__active *a, const int64_t *cell)
{
  return ambit__active_run(a, cell) >= 0;
}

/* The number of a row, of which `cell` is some cell; and the inverse, which leaves the last axis
 * alone. */
int64_t ambit__active_row(const ambit__active *a, const int64_t *cell);
void ambit__active_place(const ambit__active *a, int64_t row, int64_t *cell);

/* Position of cell 0 of section k: 0, inactive cells; 1 + 2 axis + side, a face. */
static inline int64_t ambit__active_section(const ambit__active *a, int k)
{
  const int64_t cells = (a->section + AMBIT__QUAD - 1) / AMBIT__QUAD * AMBIT__QUAD;

  return AMBIT__BEYOND_RUNS + a->pad + k * (cells + 2 * a->pad);
}

/* Cells in memory before the first cell of a run, or behind its last, that belong to it if no other
 * run is there. */
static inline int64_t ambit__run_head(const ambit__active *a, const ambit__run *r)
{
  return r->lo < a->pad ? r->lo + a->pad : a->pad;
}
static inline int64_t ambit__run_tail(const ambit__active *a, const ambit__run *r)
{
  const int64_t left = a->box.hi[a->box.ndims - 1] - r->hi;

  return left < a->pad ? left + a->pad : a->pad;
}

/* Iterates over the runs in a box, cut to it: *i is the number of a run, first 0.
 *
 *   int64_t i = 0; ambit__box row; while (ambit__active_next(a, &box, &i, &row)) use(i - 1, &row);
 */
bool ambit__active_next(const ambit__active *a, const ambit__box *box, int64_t *i, ambit__box *row);
int64_t ambit__active_count(const ambit__active *a, const ambit__box *box); /* active cells in it */
/* By run, the active cells before it, to free(); NULL: no memory. */
int64_t *ambit__active_before(ambit__errors *errors, const ambit__active *a);
/* The share of active cells that are in runs of AMBIT__LONG_RUN cells or more, and have an active
 * one behind them: along the axis before the last, or the one before that, if it is smaller. */
enum { AMBIT__LONG_RUN = 16 };
double ambit__active_stacked(const ambit__active *a);

/* Iterates over the cells of a box that two have, in pieces of their runs, and in order:
 *
 *   ambit__common c = {.to = to, .from = from, .box = &box};
 *   while (ambit__common_next(&c)) copy(c.to_at, c.from_at, c.n);
 */
typedef struct ambit__common {
  const ambit__active *to, *from;
  const ambit__box *box;
  int64_t to_at, from_at, n; /* positions of the first cell, and cells */
  int64_t i, k;              /* the next runs of `from` and `to` */
  ambit__box row;            /* the cells of run i - 1 of `from` in the box */
} ambit__common;
bool ambit__common_next(ambit__common *c);

#endif
