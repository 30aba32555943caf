/* SPDX-License-Identifier: BSD-3-Clause */
/* flow.h - what several iterations compute, as data.
 *
 * A stage is a step of one of the iterations. A value is what a field holds between two stages that
 * write it: it is there at first or computed by a stage, and read by stages.
 *
 * The flow of a launch that does all iterations has a value per component, loaded from memory or
 * computed, and stored if it is needed afterwards. It has operands instead of parameters: the
 * fields it loads from and stores to, scalars and numbers. They are the parameters of the group's
 * rule, which has no body. No field is loaded and stored, so that tiles may be computed in any
 * order.
 *
 * In a flow in memory, of launches or waves, values are whole fields. They stay in the buffers of
 * the fields: a stage overwrites the value before its own, and cells that it does not compute keep
 * their values. Stages that fill ghost cells are among the others.
 *
 * lags.c has what follows from the reads, for any number of iterations: how far values are read,
 * the cells beside a tile or part that are computed again, how far a stage is behind those before
 * it. */
#ifndef AMBIT_FLOW_FLOW_H
#define AMBIT_FLOW_FLOW_H

#include "base/memory.h"
#include "grid/boundary.h"
#include "kernel/kernel.h"

enum {
  AMBIT__FLOW_STAGES = 64, /* most of a launch */
  AMBIT__FLOW_VALUES = 192,
  AMBIT__FLOW_PORTS = 768,
  AMBIT__FLOW_PLACES = 8 /* boxes of a stage: all faces */
};

/* Cells around others, below and above along each axis. */
typedef struct ambit__flow_cells {
  int n[AMBIT_MAX_DIMS][2];
} ambit__flow_cells;

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
  /* in memory: */
  int field;  /* number of the field that has its buffer at first */
  int over;   /* computed: the value that it overwrites */
  int filler; /* the last stage that filled ghost cells of its buffer; -1: none */
} ambit__flow_value;

typedef struct ambit__flow_stage {
  const ambit__rule *rule; /* NULL: it fills ghost cells, or computes no cells */
  int iteration;           /* from 0 */
  size_t step;             /* of the program */
  int ports, nports;       /* its first port, and their number */
  /* The stage computes all cells of the grid but these many layers at each face. */
  int inset[AMBIT_MAX_DIMS][2];
  /* If it is placed it computes only the cells of some boxes within, which have no common cells and
   * are given by their own layers; its results elsewhere are the values that it has `frozen`, and
   * no other stage depends on them being alike. 0: it is not. */
  int nplaces;
  int place[AMBIT__FLOW_PLACES][AMBIT_MAX_DIMS][2];
  /* In place of its rule it adds values to a field at points, in the first place, or samples it
   * there; 0: no, else 1 + the operand that has the points. */
  int points;
  bool samples;
  int64_t every; /* iterations */
  /* The value to add is in row step / every; its place there by point and component. */
  int64_t columns, by_point, by_component;
  int operand[AMBIT_MAX_PARAMS]; /* by parameter: of a scalar or number; -1: none */
  int port[AMBIT_MAX_PARAMS];    /* by parameter: of a field, the port of component 0; -1: none */
  const ambit__tap *taps;        /* of a weighted sum; NULL: the rule is none */
  ambit__sum sum;
  /* in memory: */
  ambit__flow_cells beyond; /* the cells around its own ones that a part computes */
  /* It fills the ghost cells of this argument of its step; the filling of cell x reads cells
   * x - before .. x. */
  bool fills;
  int filled, before[AMBIT_MAX_DIMS];
} ambit__flow_stage;

typedef struct ambit__flow {
  ambit__arena room; /* of all arrays */
  int nstages, nvalues, nports;
  ambit__flow_stage *stages;
  ambit__flow_value *values;
  /* By port, a component of a field argument of a stage, or in memory a field argument: the value
   * before the stage and the value it computes; -1: none. */
  int *in, *out;
  /* Values are whole fields in memory. The first ones are those of all fields at first, in order.
   */
  bool memory;
  int iterations;            /* in memory */
  int *after;                /* in memory, by field: that whose buffer it has afterwards */
  ambit__flow_cells *beside; /* in memory, by value: see ambit__flow_layers */
  /* The stages are those of one iteration, and a launch repeats it as often as it is told. Loaded
   * values then change: the next iteration begins with `next` in place of one; -1: with itself. */
  bool loops;
  int *next;
  bool periodic[AMBIT_MAX_DIMS]; /* the grid continues at the other face of an axis */
  /* Axes along which the grid is cut into parts. A launch may load `margin` layers of cells beyond
   * its box there, below and above, of which `halo` layers have values as far as they are in the
   * grid, or if it is periodic, anywhere. */
  bool cut[AMBIT_MAX_DIMS];
  int halo[AMBIT_MAX_DIMS][2], margin[AMBIT_MAX_DIMS][2];
} ambit__flow;

/* ---- flow.c: properties ---- */

/* An empty flow with room for as many. The caller frees it, also after a failure. */
ambit_status ambit__flow_open(ambit__errors *errors, size_t stages, size_t values, size_t ports,
                              ambit__flow *f);
void ambit__flow_free(ambit__flow *f);

int ambit__flow_widest(const ambit__flow *f);        /* bytes of the largest value */
double ambit__flow_operations(const ambit__flow *f); /* of all stages, per cell */
bool ambit__flow_has_places(const ambit__flow *f);   /* some stage is placed */
bool ambit__flow_has_points(const ambit__flow *f);   /* some stage adds or samples at points */
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
  switch (kind) {
  case AMBIT_REFLECT: return n + 1;
  case AMBIT_SYMMETRIC:
  case AMBIT_ANTISYMMETRIC: /* with the other sign */ return n;
  default: return kind == AMBIT_CLAMP;
  }
}

/* Whether a value is an argument of a stage, and of none before it. */
bool ambit__flow_is_new(const ambit__flow *f, int stage, int value);
/* The values that a stage computes: for (int at = 0, v; ambit__flow_next_result(f, i, &at, &v);) */
bool ambit__flow_next_result(const ambit__flow *f, int stage, int *at, int *value);
/* The reads of a stage: for (ambit__flow_read r = {0}; ambit__flow_next_read(f, i, keeps, &r);)
 * They are those of its parameters (of one that samples: of its own cell, as whoever computes a
 * cell passes it on); of its own cell, where an old value stays if the rule does not write it, and,
 * with `keeps` or if it is placed, outside its region. In memory they are the two ends of the reads
 * of each argument, or of those that fill ghost cells. */
typedef struct ambit__flow_read {
  int value, offset[AMBIT_MAX_DIMS];
  int param, next; /* the place of the next one */
} ambit__flow_read;
bool ambit__flow_next_read(const ambit__flow *f, int stage, bool keeps, ambit__flow_read *r);

/* ---- lags.c ---- */

/* How far each value is read; `keeps` as above. */
void ambit__flow_reach(const ambit__flow *f, bool keeps, ambit__flow_cells *values);
/* The cells of each value beside those of the results that must be right. With `mirrors`, cells
 * outside a face that repeats cells inside count, as far as a tile of one cell at the face needs
 * them. */
void ambit__flow_beside(const ambit__flow *f, bool keeps, bool mirrors, ambit__flow_cells *values);
/* In memory: the same around the own cells of a part, along axes that are cut, and the cells that
 * each stage computes. */
void ambit__flow_layers(ambit__flow *f);
/* The cells around those of a part with right values, once the value is there. */
const ambit__flow_cells *ambit__flow_valid(const ambit__flow *f, int value);

/* Stages pass over the cells along an axis, row by row, each some rows behind the ones before it:
 * its lag. So it comes after all rows that it reads and earlier stages compute and, in memory,
 * after all reads of the rows that it overwrites:
 *
 *        stage 0   ###########|
 *        stage 1   ##########|         lag 1: it reads one row ahead
 *        stage 2   #########|          lag 2
 *                             ^ front
 *
 * The lag of a value is that of the stage that computes it. Where rows are loaded as the pass goes
 * on, a loaded value need not arrive before its first reader needs it. The same against the
 * direction of the pass is the *lead*: where two owners compute at the same time on both sides of a
 * cut, each leaves out the cells that depend on the other, lag cells before the cut and lead cells
 * after it. */
typedef int ambit__flow_distance(const void *user, int stage, const ambit__flow_read *r);
typedef struct ambit__flow_pass {
  bool keeps;                   /* as above */
  bool arrives;                 /* loaded values arrive in the pass; if not, they are there */
  int unit;                     /* lags are multiples of it; 0: of 1 */
  ambit__flow_distance *ahead;  /* the rows that a read is ahead of the stage's own row */
  ambit__flow_distance *behind; /* in memory: the rows behind it, in which values must stay */
  const void *user;
  const int *held; /* in memory, by field: how far behind its arrival others read it; NULL: 0 */
} ambit__flow_pass;
/* Lags of stages and values. `until`, in memory: by value, the lag of the last row that is read;
 * not used elsewhere. */
void ambit__flow_lags(const ambit__flow *f, const ambit__flow_pass *pass, int *stages, int *values,
                      int *until);

#endif
