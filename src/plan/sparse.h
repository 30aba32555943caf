/* SPDX-License-Identifier: BSD-3-Clause */
/* sparse.h - writes what a thread computes on a sparse grid: a unit of cells (grid/deal.h).
 * sparse_unit.c has units whose line is `line`, sparse_cell.c cells with words of their own. */
#ifndef AMBIT_PLAN_SPARSE_H
#define AMBIT_PLAN_SPARSE_H

#include "plan/gpu.h"

/* A launch on so many units. */
void ambit__sparse_shape(const ambit__group *g, const ambit__plan *p, const ambit__box *box,
                         ambit__shape *shape);
/* Begins the loop over the units t of a thread, with `line`, or in a list the place of a cell. */
void ambit__sparse_open_loop(const ambit__gpucode_job *j);
/* The code of unit t. */
void ambit__sparse_emit_unit(const ambit__gpucode_job *j);

/* Whether units are single cells with words in the table of cells. */
bool ambit__sparse_has_words(const ambit__gpucode_job *j);
/* The place of cell t in a list, and the distances to the cells that it reads. */
void ambit__sparse_emit_place(const ambit__gpucode_job *j);
/* Pointers to the cell at `at`, or the first one of a unit. */
void ambit__sparse_emit_pointers(const ambit__gpucode_job *j);
/* The same for units of one cell that have lines. */
void ambit__sparse_emit_line_place(const ambit__gpucode_job *j);
/* The bits of tests; "(int)(~tests0 >> 3 & 1)" for a test of activity. Returns false if it is that
 * of the cell itself. */
void ambit__sparse_emit_tests(const ambit__gpucode_job *j);
bool ambit__sparse_print_test(const ambit__gpucode_job *j, ambit__text *t, const ambit__expr *e);
/* The distances to columns for fields whose cells are apart. */
void ambit__sparse_emit_apart(const ambit__gpucode_job *j);
/* The cell, with its tests. */
void ambit__sparse_emit_cell(const ambit__gpucode_job *j);

#endif
