/* SPDX-License-Identifier: BSD-3-Clause */
/* rows.h - the builder `rows`. rows.c has the loops over a box or over chunks, rows_walk.c the loop
 * along a block of rows, rows_cells.c the cells of a block, rows_sum.c those of weighted sums,
 * rows_narrow.c narrow integers, rows_split.c rules with many results, rows_bins.c histograms. */
#ifndef AMBIT_NEST_ROWS_H
#define AMBIT_NEST_ROWS_H

#include "nest/nest.h"

typedef struct ambit__rows_job {
  ambit__nest *n;
  const ambit__rows *r;
  const ambit__chunk_form *form; /* of a sparse grid; NULL: dense */
  int last;                      /* axis */
  bool direct;     /* results are stored cell by cell: cells are apart in memory, or */
  bool serial;     /* in order: a field is read and written, say */
  bool lanes;      /* a vector at a time, cell x + l in lane l; false: cell x */
  bool reduces;    /* there are reductions, and */
  bool exact;      /* of these, strict sums */
  bool folds;      /* cells are folded: into these, or into totals of fields, */
  bool row_totals; /* of which rows have one each */
  bool tests;      /* the rule tests its place, at most these distances from the cell: */
  int low[AMBIT_MAX_DIMS], high[AMBIT_MAX_DIMS];
  ambit__tap *taps; /* of a weighted sum of one field into another; NULL: the rule is none */
  int ntaps, from, to;
  size_t lane_bytes;  /* of the narrowest value in the lanes */
  int rows[2], count; /* of the block that is being built; all of its rows */
  int first, end;     /* the results of the walk that is being built, by number; end 0: all */
} ambit__rows_job;

/* Whether reduction i is a strict sum. */
static inline bool ambit__rows_is_exact(const ambit__rows_job *j, int i)
{
  return ambit__sums_exactly(j->n->group, ambit__nest_param(j->n, i));
}

/* Whether cells fold the values of field i at the end of the rule; if rows have a total each, into
 * one of the lanes t_lane0, t_lane1, ... first. */
static inline bool ambit__rows_is_total(const ambit__rows_job *j, int i)
{
  return ambit__nest_is_field(j->n, i) && j->n->bind[i].onto && !j->n->rule->params[i].bins &&
         !j->direct;
}

static inline bool ambit__rows_has_lanes(const ambit__rows_job *j, int i)
{
  return ambit__rows_is_total(j, i) && ambit__binding_is_uniform(&j->n->bind[i], j->last + 1) &&
         j->lanes;
}

/* The axis along which the rows of a block follow each other: as in the head of rows.c, also of a
 * single row; -1: rows are all there is. */
static inline int ambit__rows_axis(const ambit__rows_job *j)
{
  return j->last >= 2 ? j->last - 2 : j->last - 1;
}

/* The totals that the rows of a block have of field i: 1 if the axis of the rows is folded. */
static inline int ambit__rows_totals(const ambit__rows_job *j, int i)
{
  const int axis = j->rows[1] > 1 ? j->last - 2 : j->last - 1;

  return j->count > 1 && j->n->bind[i].dropped >> axis & 1 ? 1 : j->count;
}

/* ---- rows_walk.c ---- */

/* The loop along the rows x0 .. x1 - 1 of a block. */
void ambit__rows_add_walk(ambit__rows_job *j);
/* "for l: <text>", a statement for all lanes. */
void ambit__rows_open_lanes(ambit__rows_job *j);
/* For every reduction but strict sums a variable r_part, into which rows are folded, or (wide)
 * r_total, with its identity; one per lane. */
void ambit__rows_let_parts(ambit__rows_job *j, bool wide);
/* Folds the parts into r_<total>: an element per lane, or *r_sum. */
void ambit__rows_fold_parts(ambit__rows_job *j);

/* ---- rows_cells.c ---- */

/* Component c of field i in row r of the block, at an offset (NULL: none) from place x of the row;
 * x NULL: the present cell. */
ambit__nest_access ambit__rows_access(ambit__rows_job *j, int i, int c, int r, const int *offset,
                                      const char *x);
/* "x + l", or "x". */
const char *ambit__rows_x(const ambit__rows_job *j);
/* Variables row0_0, row1_0, ... of each row of the block: parts of the rule that cells share. */
void ambit__rows_let_parts_of_rows(ambit__rows_job *j);
/* Pointers u_at and indices i0, ... of the cell in row r; the values that it reads. */
void ambit__rows_let_place(ambit__rows_job *j, int r);
void ambit__rows_let_loads(ambit__rows_job *j, int r);
/* "v_b0_1[l]": the result of row 1 for component 0. */
const char *ambit__rows_result(ambit__rows_job *j, int i, int c, int r);
/* The cells of all rows at x, or x + l; `inside` as in NODE_RULE; `ragged`: not all lanes are cells
 * of the rows. */
void ambit__rows_add_cells(ambit__rows_job *j, int inside, bool ragged);
/* Calls f for every written component in every row of the block. */
void ambit__rows_each_result(ambit__rows_job *j,
                             void (*f)(ambit__rows_job *j, ambit__nest_access a, int r));

/* ---- rows_split.c ---- */

/* Components that are written. */
int ambit__rows_outputs(const ambit__rows_job *j);
/* Those of one walk along the rows of a block; all, where several walks do not pay. */
int ambit__rows_split(const ambit__rows_job *j);

/* ---- rows_sum.c ---- */

/* The terms of a weighted sum, for all rows. */
void ambit__rows_add_sum(ambit__rows_job *j);
/* A row of a sum that is factored. */
void ambit__rows_add_factored(ambit__rows_job *j);

/* ---- rows_narrow.c ---- */

/* Finds fields of narrow integers beside wider ones, in lanes of so many bytes; whether there are
 * any. And rules whose fields are all narrow. */
bool ambit__rows_widens(ambit__rows_job *j, size_t lane_bytes);
void ambit__rows_begin_narrow(ambit__rows_job *j);
/* The arrays of widened reads. */
void ambit__rows_load_wide(ambit__rows_job *j);
/* Look-ups for vectors of all rows. */
void ambit__rows_look_up(ambit__rows_job *j, int inside);

/* ---- rows_bins.c: nothing, where all subscripts are constant ---- */

/* The tables, and what is in them into those of the slab. */
void ambit__rows_let_tables(ambit__rows_job *j);
void ambit__rows_fold_tables(ambit__rows_job *j);

/* Folds the pairs of a cell, or of all lanes that are cells, after their results were computed. */
void ambit__rows_fold_bins(ambit__rows_job *j, bool ragged);

#endif
