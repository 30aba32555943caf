/* SPDX-License-Identifier: BSD-3-Clause */
/* wavefront.h - several iterations in one pass over the cells of a part (option depth).
 *
 * The stages of the iterations, and the ghost cells that they read, become one wave of the device
 * (device.h), with the lags of their flow. The device runs the steps' own functions on small
 * boxes, so results do not change. docs/design/0012-wavefronts.md
 *
 * With several parts, stages also compute the layers of cells beyond the own ones that the flow
 * asks for. Inner cells, whose values depend on own cells only, over all stages, are a wave of
 * their own, which runs while messages are on their way.
 *
 *   wavefront.c       the stages and their lags, refusals, running
 *   wavefront_plan.c  the sizes, chosen by the model of wavefront_model.h
 */
#ifndef AMBIT_RUNTIME_PROGRAM_WAVEFRONT_H
#define AMBIT_RUNTIME_PROGRAM_WAVEFRONT_H

#include "runtime/program/memory_flow.h"

/* The sizes that a plan asks for. */
typedef struct ambit__wavefront_wish {
  bool any; /* it asks for a wavefront at all */
  int depth;
  ambit__wave_sizes size; /* block 0: any; tile and strip 0: none, -1: any */
} ambit__wavefront_wish;

/* Cells of a buffer that the stages need at once, along the first two axes: `first` to `last` cells
 * behind the front. */
typedef struct ambit__spread {
  int64_t first[2], last[2];
  bool used, written;
} ambit__spread;

typedef struct ambit__wavefront {
  ambit__arena memory;         /* of what follows, but for the flow */
  ambit__box own;              /* the part */
  ambit__wave wave, inner;     /* all cells, and inner cells only */
  ambit__wave_stage *stages;   /* of the wave */
  ambit__wave_stage *inners;   /* of inner cells */
  ambit__flow flow;            /* the stages of the wave, with those that fill ghost cells */
  ambit__boundaries *bounds;   /* by field; AMBIT_NONE along axes where the part continues */
  ambit__spread *spreads;      /* by buffer */
  unsigned wraps;              /* axes along which a read leaves the grid at a periodic end */
  double own_cells;            /* of wave.cells, those of the part's own */
  ambit__argument *args;       /* of all stages */
  ambit__store *stores;        /* by field: the store that it has at the start of a wave */
  ambit__function **functions; /* by step; NULL: not needed */
  double expected;             /* time of the wave over that of single iterations, by the model */
  double single;               /* nanoseconds of one of these, also if there are no stages */
} ambit__wavefront;

/* The reason why iterations of the program cannot be done in one pass; NULL: they can. */
const char *ambit__wavefront_refusal(const ambit_program *p);
/* Makes stages and their lags for a flow in memory, on a part; wave.size is not chosen yet. The
 * caller frees the wavefront, also after a failure. */
ambit_status ambit__wavefront_make(const ambit_program *p, const ambit__flow *flow,
                                   const ambit__box *own, ambit__wavefront *w);
void ambit__wavefront_free(ambit__wavefront *w);
/* The inner cells of a stage of the cycle. */
ambit__box ambit__wavefront_inner(const ambit__wavefront *w, const ambit__flow_stage *stage);
/* Builds functions for the boxes of the wave of a part of this process, and arguments, when the
 * steps have theirs. *can is false if the device has no function that can be a stage. */
ambit_status ambit__wavefront_build(ambit_program *p, ambit__wavefront *w, int part, bool *can);
ambit_status ambit__wavefront_run(ambit_program *p, ambit__wavefront *w, int part, bool inner);
/* "(wavefront depth 8 rows 16 tile 512 strip 128)" */
void ambit__wavefront_print(const ambit__wavefront *w, char *text, size_t size);
void ambit__wavefront_print_sizes(int depth, const ambit__wave_sizes *sizes, char *text,
                                  size_t size);
ambit__wavefront_wish ambit__wavefront_read(const char *plan); /* the same, or the start of it */

/* ---- wavefront_plan.c ---- */

/* Whether a wave is expected to be faster than single iterations. */
bool ambit__wavefront_pays(const ambit__wavefront *w);

/* The wavefront with the least time by the model: of `depth` iterations, or if that is 0, of as
 * many as are best, and *flow its flow. Leaves w->stages NULL if there is none worthwhile. */
ambit_status ambit__wavefront_choose(const ambit_program *p, int depth, ambit__flow *flow,
                                     ambit__wavefront *w);
/* Nanoseconds of an iteration, by the model: of a wave, or if there is none, of single ones. */
double ambit__wavefront_expected(const ambit__wavefront *w);
/* Finds the depth and plan of the rival of a wavefront that was chosen so, or of single iterations
 * if w has no stages. That takes longer than the choice. */
ambit_status ambit__wavefront_rival(const ambit_program *p, const ambit__wavefront *w,
                                    ambit__rival *rival);

#endif
