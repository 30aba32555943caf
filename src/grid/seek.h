/* SPDX-License-Identifier: BSD-3-Clause */
/* seek.h - where the cells of a column (grid/chunks.h) are, along a row of active cells; and which
 * of them are copies of others. */
#ifndef AMBIT_GRID_SEEK_H
#define AMBIT_GRID_SEEK_H

#include "grid/chunks.h"

typedef struct ambit__seeker {
  const ambit__active *a;
  const ambit__column *column;
  const ambit__boundaries *b; /* of its view */
  int section; /* the row is outside the grid and has the constant of this section; -1: it is a row
                  of the grid */
  int64_t row;
  int64_t first;  /* run of the row */
  int64_t i;      /* a run of the row: the first of those that may be read */
  bool found;     /* the last chunk reads there, and in no section */
  int64_t until;  /* cells up to here ... */
  int64_t cell_0; /* ... are where they would be if cell 0 were here */
} ambit__seeker;

/* Begins with the row of the column beside that of a cell. */
void ambit__seek_row(ambit__seeker *s, const int64_t *place);
/* The position of cell x of the row. Those behind it follow it as far as cells up to *end read,
 * which is lowered where they do not. Calls for one row have increasing x. */
int64_t ambit__seek(ambit__seeker *s, int64_t x, int64_t *end);
/* The last of the runs, from run i on, that are side by side in memory as in the row. */
int64_t ambit__seek_joined(const ambit__active *a, int64_t i);

/* edges.c: fills c->edges[view]. */
ambit_status ambit__edges_make(ambit__errors *errors, const ambit__chunks *c, int view);

#endif
