/* gpu.h - what the strategies for GPUs share: the parameters of kernels, and how they are named.
 *
 * A generated file has up to two kernels. The first, ambit__entry_name(), is handed everything about
 * the launch: for each parameter of the rule, in order,
 *
 *   field      u_mem, its memory; u_o, from there to cell 0, 0, ...; u_s0, u_s1, ..., from a cell
 *              to the next along each axis; u_c, from a component to the next
 *   value      k_mem, where its eight bytes are
 *   reduction  r_mem, where each block leaves what its cells gave, eight bytes per block; of a strict
 *              sum, a long accumulator that is zero, to which blocks add
 *
 * and then lo0.. hi0.. (the cells to update, local), offset0.. (the global index of local index 0),
 * extent0.. (of the grid), step, ends (only if a parameter has a twin: whether a launch may store what lies beside its box, see
 * ambit__launch), ended (NULL, or a number that is not 0 once the run is over: then a
 * kernel does nothing), and for a checked kernel faults, its fault record. A rule that reduces has a second kernel, named <entry>_fold, one block of which folds
 * what the blocks of the first left: for each reduction r_mem and r_to (the scalar), then count, the number of
 * blocks, more, a bit for each parameter: whether what the scalar holds is folded in too, and ended. Strict sums are folded into the
 * long accumulator behind the scalar, and r_mem is zero again then. Kernels that are written for people, and those
 * that people register, have no ended.
 *
 * The order is known to one function, ambit__gpucode_slots: the text of the list is printed from what it
 * gives, and so are the arguments of a launch.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef AMBIT_PLAN_GPU_H
#define AMBIT_PLAN_GPU_H

#include "plan/emit.h"

enum {
  AMBIT__GPUCODE_SLOTS = AMBIT_MAX_PARAMS * (3 + AMBIT_MAX_DIMS) + 4 * AMBIT_MAX_DIMS + 4,
  AMBIT__GPUCODE_FOLD_SLOTS = 2 * AMBIT_MAX_PARAMS + 3,
  AMBIT__GPUCODE_PARTIALS = 65536, /* blocks of a launch that reduces, at most, */
  AMBIT__GPUCODE_FEW = 1024,       /* and where so many keep the device busy */
  AMBIT__GPUCODE_FOLD = 128        /* threads of the block that folds */
};
#define AMBIT__GPUCODE_FOLD_TAIL "_fold"

typedef enum ambit__gpucode_slot_kind {
  SLOT_MEMORY,    /* param: of a field */
  SLOT_ORIGIN,    /* param */
  SLOT_STRIDE,    /* param, axis */
  SLOT_COMPONENT, /* param */
  SLOT_VALUE,     /* param: of a scalar or number */
  SLOT_PARTIALS,  /* param: of a reduction */
  SLOT_RESULT,    /* param: of a reduction, its scalar */
  SLOT_LO,        /* axis */
  SLOT_HI,        /* axis */
  SLOT_OFFSET,    /* axis */
  SLOT_EXTENT,    /* axis */
  SLOT_STEP,
  SLOT_ENDS,   /* 0 or 1 */
  SLOT_FAULTS, /* the fault record of a checked kernel */
  SLOT_COUNT,  /* of partial results */
  SLOT_MORE,   /* 0 or 1 */
  SLOT_ENDED   /* a 64-bit integer in memory */
} ambit__gpucode_slot_kind;

/* One parameter of a kernel. All but the memories are 64-bit integers. */
typedef struct ambit__gpucode_slot {
  ambit__gpucode_slot_kind kind;
  int param, axis;
} ambit__gpucode_slot;

/* The parameters of the two kernels; returns how many. Their arrays have room for AMBIT__GPUCODE_SLOTS and
 * AMBIT__GPUCODE_FOLD_SLOTS. */
int ambit__gpucode_slots(const ambit__group *g, ambit__gpucode_slot *slots);
int ambit__gpucode_fold_slots(const ambit__group *g, ambit__gpucode_slot *slots);
/* "u_s0": what a parameter is called. */
void ambit__gpucode_print_name(const ambit__group *g, const ambit__gpucode_slot *s, ambit__text *t);
/* For people: a line for each parameter, or for those of all axes, what it means; `margin` begins each. */
void ambit__gpucode_explain(const ambit__group *g, int n, const ambit__gpucode_slot *slots,
                            const char *margin, ambit__text *t);

/* ---- writing ---- */

/* What is being written. */
typedef struct ambit__gpucode_job {
  const ambit__group *group;
  const ambit__plan *plan;
  const ambit__dialect *dialect;
  const ambit__rule *rule;
  const ambit__binding *bind;
  const char *integer; /* the name of a 64-bit integer */
  ambit__writer *w;
  ambit__text *t; /* of the writer */
} ambit__gpucode_job;

ambit__gpucode_job ambit__gpucode_begin(const ambit__group *g, const ambit__target *t,
                                        const ambit__plan *p, ambit__writer *w);
bool ambit__gpucode_is_field(const ambit__gpucode_job *j, int param);
bool ambit__gpucode_is_value(const ambit__gpucode_job *j, int param); /* scalar or number */
bool ambit__gpucode_is_reduction(const ambit__gpucode_job *j, int param);
bool ambit__gpucode_reduces(const ambit__group *g); /* some parameter is one */
/* A strict sum, in a long accumulator. Kernels for people, who have eight bytes per block, have none. */
bool ambit__gpucode_is_exact(const ambit__group *g, int param);
const char *ambit__gpucode_type(const ambit__gpucode_job *j, int param);
/* What one thread gathers of a reduction, and a block leaves: eight bytes at most. */
const char *ambit__gpucode_total_type(const ambit__gpucode_job *j, int param);

/* The comment at the top, the preludes, and what strict code needs. */
void ambit__gpucode_emit_head(const ambit__gpucode_job *j);
/* "kernel void name(...) {", with the parameters in `slots` and blocks of so many threads. */
void ambit__gpucode_open_kernel(const ambit__gpucode_job *j, const char *tail, const int threads[3],
                                int n, const ambit__gpucode_slot *slots);
/* The line that leaves when the run has ended. */
void ambit__gpucode_emit_ended(const ambit__gpucode_job *j);
/* "const float k_v = *k_mem;" for every value. */
void ambit__gpucode_emit_values(const ambit__gpucode_job *j);
/* "const long u_m1 = (y1 < 1 ? extent1 - 1 : -1);" for every distance along the last axis at which a parameter that is bound `around`
 * is read: from the cell at y1 to that neighbour. */
void ambit__gpucode_emit_around(const ambit__gpucode_job *j);
/* "2 * u_s0 - u_s1 + 3", or around "2 * u_s0 - u_s1 + u_p3": from a cell of a field to another; 0 for none. */
void ambit__gpucode_print_offset(const ambit__gpucode_job *j, int param, int component,
                                 const int *offset);
/* What expressions read, with the names above: u_at[...], k_v, i0, extent0, step. */
ambit__scope ambit__gpucode_scope(const ambit__gpucode_job *j);

/* "float v_out = *v_at;" for every written component and reduction, and "v_at[0] = v_out;". */
void ambit__gpucode_declare_outs(const ambit__gpucode_job *j);
void ambit__gpucode_store_outs(const ambit__gpucode_job *j);

/* Reductions: r_total is what this thread gathers. declare_totals writes its beginning, fold_cell
 * what a cell adds, leave_totals how a block leaves the sum of its threads in r_mem[`block`]; all threads of the block must
 * get there. emit_fold writes the second kernel. They write nothing for a rule that does not reduce. */
void ambit__gpucode_declare_totals(const ambit__gpucode_job *j, int threads);
void ambit__gpucode_fold_cell(const ambit__gpucode_job *j);
void ambit__gpucode_leave_totals(const ambit__gpucode_job *j, int threads, const char *thread,
                                 const char *block);
void ambit__gpucode_emit_fold(const ambit__gpucode_job *j);

#endif
