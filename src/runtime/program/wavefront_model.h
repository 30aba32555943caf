/* SPDX-License-Identifier: BSD-3-Clause */
/* wavefront_model.h - the time of single iterations and of wavefronts, by a model of caches and
 * memory.
 *
 * All cells that the stages of a block touch must stay in the second-level cache until the last
 * stage is through; in three dimensions, if no tile is so small, in the third. Then a pass moves
 * each buffer once between memory and cache, whatever its depth, and tiles move some of it again at
 * their edges, where stages reach back into the previous tile.
 */
#ifndef AMBIT_RUNTIME_PROGRAM_WAVEFRONT_MODEL_H
#define AMBIT_RUNTIME_PROGRAM_WAVEFRONT_MODEL_H

#include "runtime/program/wavefront.h"

/* Rows, or planes of three dimensions, that the functions of steps compute together. */
enum { AMBIT__ROWS_TOGETHER = 8, AMBIT__PLANES_TOGETHER = 4 };

/* The problem, as far as the model is concerned. Bytes and work are those of one cell of the grid
 * in one iteration. */
typedef struct ambit__wavefront_problem {
  const ambit_program *p;
  const ambit__machine *machine;
  ambit__device_info info;
  ambit__box own;        /* of the largest part */
  int64_t rows, columns; /* its extents along the first two axes */
  double cells;          /* of it */
  double rest;           /* cells of one row of the wave's next axis: all axes after it */
  double row;            /* cells along the last axis */
  double bytes;          /* read and written by single launches */
  double far;            /* bytes that they read again, and that no cache of a core keeps so long */
  double again;    /* bytes read, times the rows or planes beside the first that they are read in */
  int64_t reach;   /* rows or planes beside a cell that its step reads, at most */
  double work;     /* ns of one core for the operations */
  double touched;  /* bytes of all buffers */
  double share;    /* of the cells that the largest step updates */
  int launches;    /* of an iteration */
  double exchange; /* ns of an iteration or pass for messages between processes */
  ambit__wavefront_wish wish;
  bool is_whole;  /* no tiles or strips: cells run in order along rows, or rows share values */
  bool is_rival;  /* plans that rarely pay off are considered, too: they are tried */
  double threads; /* that work on a launch */
} ambit__wavefront_problem;

ambit__wavefront_problem ambit__wavefront_problem_of(const ambit_program *p);
/* Bytes of the second-level cache for the cells of a block. */
double ambit__wavefront_room(const ambit__wavefront_problem *m);
/* Whether the fields are larger than the caches. */
bool ambit__wavefront_is_from_memory(const ambit__wavefront_problem *m);
/* Bytes in the cache while a block passes, and bytes per cell that a pass moves to and from
 * memory. */
void ambit__wavefront_weigh(const ambit__wavefront_problem *m, const ambit__wavefront *w,
                            double *cached, double *moved);
/* Nanoseconds of an iteration by single launches, and in a wave that has and moves so many bytes.
 */
double ambit__wavefront_time_single(const ambit__wavefront_problem *m);
double ambit__wavefront_time(const ambit__wavefront_problem *m, const ambit__wavefront *w,
                             double cached, double moved);

#endif
