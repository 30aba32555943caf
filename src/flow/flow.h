/* SPDX-License-Identifier: BSD-3-Clause */
/* flow.h - what several iterations compute, as data, for one function that computes them all.
 *
 * A stage is a step of one of the iterations. A value is one component of a field between two
 * stages that write it: it is loaded from memory or computed by a stage, read by stages, and stored
 * if it is needed afterwards. The function has operands instead of parameters: the fields it loads
 * from and stores to, scalars and numbers. They are the parameters of the group's rule, which has
 * no body.
 *
 * No field is loaded and stored, so that tiles may be computed in any order.
 *
 * lags.c has what follows from the reads, for any number of iterations: how far values are read,
 * the cells beside a tile that are computed again, how far a stage is behind those before it. */
#ifndef AMBIT_FLOW_FLOW_H
#define AMBIT_FLOW_FLOW_H

#include "grid/boundary.h"
#include "kernel/kernel.h"

enum {
  AMBIT__FLOW_STAGES = 64,
  AMBIT__FLOW_VALUES = 192,
  AMBIT__FLOW_PORTS = 768,
  AMBIT__FLOW_PLACES = 8 /* boxes of a stage: all faces */
};

typedef struct ambit__flow_value {
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
} ambit__flow_value;

typedef struct ambit__flow_stage {
  const ambit__rule *rule;
  int iteration; /* from 0 */
  /* The stage computes all cells of the grid but these many layers at each face. */
  int inset[AMBIT_MAX_DIMS][2];
  /* If it is placed it computes only the cells of some boxes within, which have no common cells and
   * are given by their own layers; its results elsewhere are the values that it has `frozen`, and
   * no other stage depends on them being alike. 0: it is not. */
  int nplaces;
  int place[AMBIT__FLOW_PLACES][AMBIT_MAX_DIMS][2];
  int operand[AMBIT_MAX_PARAMS]; /* by parameter: of a scalar or number; -1: none */
  int port[AMBIT_MAX_PARAMS];    /* by parameter: of a field, the port of component 0; -1: none */
} ambit__flow_stage;

typedef struct ambit__flow {
  int nstages, nvalues, nports;
  ambit__flow_stage stages[AMBIT__FLOW_STAGES];
  ambit__flow_value values[AMBIT__FLOW_VALUES];
  /* By port, a component of a field argument of a stage: the value before the stage and the value
   * it computes; -1: none. */
  int in[AMBIT__FLOW_PORTS], out[AMBIT__FLOW_PORTS];
  /* The stages are those of one iteration, and a launch repeats it as often as it is told. Loaded
   * values then change: the next iteration begins with `next` in place of one; -1: with itself. */
  bool loops;
  int next[AMBIT__FLOW_VALUES];
  bool periodic[AMBIT_MAX_DIMS]; /* the grid continues at the other face of an axis */
  /* Axes along which the grid is cut into parts. A launch may load `margin` layers of cells beyond
   * its box there, below and above, of which `halo` layers have values as far as they are in the
   * grid, or if it is periodic, anywhere. */
  bool cut[AMBIT_MAX_DIMS];
  int halo[AMBIT_MAX_DIMS][2], margin[AMBIT_MAX_DIMS][2];
} ambit__flow;

/* ---- flow.c: properties ---- */

int ambit__flow_widest(const ambit__flow *f);        /* bytes of the largest value */
double ambit__flow_operations(const ambit__flow *f); /* of all stages, per cell */
bool ambit__flow_has_places(const ambit__flow *f);   /* some stage is placed */
/* Layers at a face that some stage does not compute, unless it is placed. */
int ambit__flow_inset(const ambit__flow *f, int axis, int side);

/* Words of four bytes of a value: registers of a cell. */
static inline int ambit__flow_words(const ambit__flow *f, int value)
{
  return ambit_type_size(f->values[value].type) > 4 ? 2 : 1;
}

/* The boundary of a value at a face; none where the grid continues. */
ambit_boundary ambit__flow_kind(const ambit__flow *f, int value, int axis, int side);

/* The cell inside that the n-th cell outside a face is a copy of, counted from the face; 0: none.
 */
static inline int ambit__flow_mirror(ambit_boundary kind, int n)
{
  return kind == AMBIT_REFLECT ? n + 1 : kind == AMBIT_SYMMETRIC ? n : kind == AMBIT_CLAMP ? 1 : 0;
}

/* Whether a value is an argument of a stage, and of none before it. */
bool ambit__flow_is_new(const ambit__flow *f, int stage, int value);
/* Calls `visit` for every value that a stage computes. */
typedef void ambit__flow_visit(void *user, int stage, int value);
void ambit__flow_each_result(const ambit__flow *f, int stage, ambit__flow_visit *visit, void *user);
/* For every read: of its parameters; of its own cell, where an old value stays if the rule does not
 * write it, and, with `keeps` or if it is placed, outside its region. */
typedef void ambit__flow_visit_read(void *user, int stage, int value, const int *offset);
void ambit__flow_each_read(const ambit__flow *f, int stage, bool keeps,
                           ambit__flow_visit_read *visit, void *user);

/* ---- lags.c ---- */

/* Cells around others, below and above along each axis. */
typedef struct ambit__flow_cells {
  int n[AMBIT_MAX_DIMS][2];
} ambit__flow_cells;

/* How far each value is read; `keeps` as above. */
void ambit__flow_reach(const ambit__flow *f, bool keeps, ambit__flow_cells *values);
/* The cells of each value beside those of the results that must be right. With `mirrors`, cells
 * outside a face that repeats cells inside count, as far as a tile of one cell at the face needs
 * them. */
void ambit__flow_beside(const ambit__flow *f, bool keeps, bool mirrors, ambit__flow_cells *values);

/* Rows advance along an axis, one per turn. The lag of a stage, and of the values it computes: the
 * turns between the arrival of a row and its own row, so that all that it reads is there. `ahead`
 * has the turns between the arrival of a value's row and a read. A loaded value need not arrive
 * before its first reader needs it. */
typedef int ambit__flow_ahead(const void *user, int value, const int *offset);
void ambit__flow_lags(const ambit__flow *f, bool keeps, ambit__flow_ahead *ahead, const void *user,
                      int *stages, int *values);

#endif
