/* SPDX-License-Identifier: BSD-3-Clause */
/* dataflow.h - the flow of data between steps over several iterations.
 *
 * Buffers are tracked through rotations. A buffer has the index of the field that held it at the
 * start of the first iteration. A backward pass over the stages gives the number of layers around
 * its own cells that a part must compute, or receive, so that the last iteration is correct on its
 * own cells.
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
  int nfields; /* number of fields of the program */
  ambit__boundaries
      boundaries;       /* AMBIT_PERIODIC, or AMBIT_NONE where each stage fills ghost cells */
  int *buffers;         /* by stage and field: its buffer before the stage; owned */
  bool *overwritten;    /* by stage and buffer: earlier stages wrote all of its cells; owned */
  ambit__layers *valid; /* by stage and buffer: layers with valid values before the stage; owned */
} ambit__dataflow;

/* The caller frees the dataflow, also after a failure. */
ambit_status ambit__dataflow_make(const ambit_program *p, int depth, ambit__dataflow *flow);
void ambit__dataflow_free(ambit__dataflow *flow);

/* The index of the buffer that a field holds before a stage. */
int ambit__dataflow_buffer(const ambit_program *p, const ambit__dataflow *flow, int stage,
                           const ambit_field *f);
/* The layers of a buffer with valid values before a stage, around the own cells of any part. */
const ambit__layers *ambit__dataflow_valid(const ambit__dataflow *flow, int stage, int buffer);

#endif
