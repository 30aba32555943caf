/* SPDX-License-Identifier: BSD-3-Clause */
/* pipeline.h - the stages of several iterations, for one function that computes them all.
 *
 * A stage is a step of one of the iterations. A value is one component of a field between two
 * stages that write it: it is loaded from memory or computed by a stage, read by stages, and stored
 * if it is needed afterwards. The function has operands instead of parameters: the fields it loads
 * from and stores to, scalars and numbers. They are the parameters of the group's rule, which has
 * no body.
 *
 * No field is loaded and stored, so that tiles may be computed in any order. */
#ifndef AMBIT_NEST_PIPELINE_H
#define AMBIT_NEST_PIPELINE_H

#include "grid/boundary.h"
#include "kernel/kernel.h"

enum {
  AMBIT__PIPE_STAGES = 64,
  AMBIT__PIPE_VALUES = 192,
  AMBIT__PIPE_PORTS = 768,
  AMBIT__PIPE_PLACES = 8 /* boxes of a stage: all faces */
};

typedef struct ambit__pipe_value {
  ambit_type type;
  int component; /* of its field */
  int stage;     /* that computes it; -1: it is loaded, */
  int operand;   /* from this operand */
  int target;    /* the operand that it is stored to; -1: none */
  /* computed: its cells outside the region of the stage are those of this value, which the stage
   * reads; -1: */
  int frozen;
  int outside; /* they are those of this operand */
  /* of the field through which stages read it at neighbours; NULL: none does */
  const ambit__boundaries *boundaries;
} ambit__pipe_value;

typedef struct ambit__pipe_stage {
  const ambit__rule *rule;
  int iteration; /* from 0 */
  /* The stage computes all cells of the grid but these many layers at each face. */
  int inset[AMBIT_MAX_DIMS][2];
  /* If it is placed it computes only the cells of some boxes within, which have no common cells and
   * are given by their own layers; its results elsewhere are the values that it has `frozen`, and
   * no other stage depends on them being alike. 0: it is not. */
  int nplaces;
  int place[AMBIT__PIPE_PLACES][AMBIT_MAX_DIMS][2];
  int operand[AMBIT_MAX_PARAMS]; /* by parameter: of a scalar or number; -1: none */
  int port[AMBIT_MAX_PARAMS];    /* by parameter: of a field, the port of component 0; -1: none */
} ambit__pipe_stage;

typedef struct ambit__pipeline {
  int nstages, nvalues, nports;
  ambit__pipe_stage stages[AMBIT__PIPE_STAGES];
  ambit__pipe_value values[AMBIT__PIPE_VALUES];
  /* By port, a component of a field argument of a stage: the value before the stage and the value
   * it computes; -1: none. */
  int in[AMBIT__PIPE_PORTS], out[AMBIT__PIPE_PORTS];
  /* The stages are those of one iteration, and a launch repeats it as often as it is told. Loaded
   * values then change: the next iteration begins with `next` in place of one; -1: with itself. */
  bool loops;
  int next[AMBIT__PIPE_VALUES];
  bool periodic[AMBIT_MAX_DIMS]; /* the grid continues at the other face of an axis */
  /* Axes along which the grid is cut into parts. A launch may load `margin` layers of cells beyond
   * its box there, below and above, of which `halo` layers have values as far as they are in the
   * grid, or if it is periodic, anywhere. */
  bool cut[AMBIT_MAX_DIMS];
  int halo[AMBIT_MAX_DIMS][2], margin[AMBIT_MAX_DIMS][2];
} ambit__pipeline;

#endif
