/* SPDX-License-Identifier: BSD-3-Clause */
/* strip.h - the strategy `strip`. strip.c chooses the plan, strip_shape.c the launch;
 * strip_reads.c finds the values to keep in registers, the window (nest/strip/strip.h, which has
 * the terms) that the nest is built from. */
#ifndef AMBIT_PLAN_STRIP_H
#define AMBIT_PLAN_STRIP_H

#include "nest/strip/strip.h"
#include "plan/gpu.h"

enum {
  AMBIT__STRIP_BLOCKS = 65535 /* most along y and z: the limit of CUDA */
};

/* ---- strip_reads.c ---- */

/* Cells in 16 bytes of the largest type, at most 8. */
int ambit__strip_vector(const ambit__group *g);
/* Cells of a lane: 16 bytes of the largest type, or twice as many if reads along x reach that far;
 * 0 if they reach further. */
int ambit__strip_lane_cells(const ambit__group *g, ambit__packed packed);
/* Cells in one register: four if all fields are of bytes, two if they are of shorts, and reads do
 * not reach far; else one. Without instructions for bytes it pays off only if all is computed for
 * two cells at a time; of shorts, if that is so or some are added up. */
int ambit__strip_packed_cells(const ambit__group *g, ambit__packed packed);
/* Fills in all but the nest and what is said of bytes. false: the rule reads too much or too far,
 * or memory ran out. Release with ambit__strip_end. */
bool ambit__strip_begin(const ambit__group *g, const ambit__plan *p, ambit__strip *w);
void ambit__strip_end(ambit__strip *w);

/* ---- strip_shape.c ---- */

/* Strips begin at multiples of so many cells: a vector, or a line of the caches. */
int ambit__strip_align(const ambit__plan *p);

/* Rows of a block, in three dimensions and more. */
int ambit__strip_block_rows(const ambit__plan *p);
/* The number of planes that two adjacent chunks both read. */
int ambit__strip_overlap(const ambit__group *g);
/* The axis along which warps advance. */
int ambit__strip_axis(const ambit__group *g);
void ambit__strip_shape(const ambit__group *g, const ambit__plan *p, const ambit__box *box,
                        ambit__shape *shape);

#endif
