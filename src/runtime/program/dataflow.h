/* SPDX-License-Identifier: BSD-3-Clause */
/* dataflow.h - which step of which iteration feeds which, over several iterations.
 *
 * Buffers are followed through rotations. A buffer has the number of the field that held it when the
 * first iteration began. Walked backwards, the stages tell how many layers of cells around its own
 * ones a part must compute, or be given, so that the last iteration is right on its own cells.
 */
#ifndef AMBIT_RUNTIME_PROGRAM_DATAFLOW_H
#define AMBIT_RUNTIME_PROGRAM_DATAFLOW_H

#include "runtime/program/program.h"

/* A step of one of the iterations. */
typedef struct ambit__stage {
  int iteration; /* 0 .. depth - 1 */
  size_t step;
  ambit__layers beyond; /* layers around its own cells that a part computes */
} ambit__stage;

typedef struct ambit__dataflow {
  int depth;            /* iterations */
  ambit__stage *stages; /* every step of every iteration, in order; owned */
  int nstages;
  int nfields;                  /* of the program */
  ambit__boundaries boundaries; /* AMBIT_PERIODIC, or AMBIT_NONE: ghosts are filled by stage */
  int *buffers;                 /* by stage and field: the buffer it holds then; owned */
  bool *overwritten;            /* by stage and buffer: all its cells were written before; owned */
  ambit__layers *valid;         /* by stage and buffer: layers that hold values then; owned */
} ambit__dataflow;

/* Free the dataflow, also after a failure. */
ambit_status ambit__dataflow_make(const ambit_program *p, int depth, ambit__dataflow *flow);
void ambit__dataflow_free(ambit__dataflow *flow);

/* The buffer, by number, that a field holds at a stage. */
int ambit__dataflow_buffer(const ambit_program *p, const ambit__dataflow *flow, int stage,
                           const ambit_field *f);
/* Layers of it that hold values then, around the own cells of any part. */
const ambit__layers *ambit__dataflow_valid(const ambit__dataflow *flow, int stage, int buffer);

#endif
