/* SPDX-License-Identifier: BSD-3-Clause */
/* roles.h - the part that each step has in several iterations at once.
 *
 * A step that runs every n iterations ends a cycle: the iterations in which it runs are single
 * ones. A kernel on scalars runs ahead, before the cells, if all that it reads is known then: the
 * number of the iteration, parameters, and other such scalars. If it needs a reduction, it is left
 * out of cycles as the reduction is, provided that nothing in them needs its result.
 *
 *     kernel on scalars     1 2 3 4                     e.g. the value at a boundary
 *     wave of 4 iterations          [1 2 3 4]           its stages read one of the four values
 *     single iteration                        5         with reductions, and the step every 5
 *
 * Where a step needs a reduction of its own iteration, such as a time step that follows the fastest
 * wave, iterations run one by one. On one device the steps up to the last such scalar may then run
 * *first*, and those after it are a wave of one iteration:
 *
 *     reductions, kernels on scalars   1       2       3
 *     wave of one iteration               [1]     [2]     [3]
 *
 * Heat on 2048^2 floats whose boundary is a function of step() ran at 0.2 of the speed of one with
 * a constant boundary without this, on two cores.
 */
#ifndef AMBIT_RUNTIME_PROGRAM_ROLES_H
#define AMBIT_RUNTIME_PROGRAM_ROLES_H

#include "runtime/program/memory_flow.h"

/* A phase of sealing: sets applies[].role. */
ambit_status ambit__program_roles(ambit_program *p);
/* Whether some steps run first. */
bool ambit__roles_first(const ambit_program *p);
/* The reason why the scalars of a program do not allow several iterations at once; NULL: none. */
const char *ambit__roles_refusal(const ambit_program *p);
/* The iterations from now on in which no rare step runs; and the most of them in a row. */
int64_t ambit__program_calm(const ambit_program *p);
int64_t ambit__program_calmest(const ambit_program *p);

/* ---- scalars of a wave ---- */

/* The number of a stage of a cycle among all steps of its iterations. */
static inline int ambit__stage_order(const ambit_program *p, const ambit__flow_stage *st)
{
  return st->iteration * (int)p->nsteps + (int)st->step;
}

/* The value of a scalar between two stages of a cycle. */
typedef struct ambit__kept {
  const ambit_scalar *scalar;
  int order;              /* of the stage that computed it; -1: it is that before the cycle */
  ambit__buffer **values; /* by engine */
} ambit__kept;

typedef struct ambit__ahead {
  ambit__kept *kept; /* in order */
  int n;
} ambit__ahead;

ambit_status ambit__ahead_make(ambit_program *p, const ambit__flow *flow, ambit__ahead *a);
/* The value that a stage reads on an engine; NULL: no step computes this scalar. */
ambit__buffer *ambit__ahead_value(const ambit__ahead *a, const ambit_scalar *s, int order,
                                  int engine);
/* Keeps the present values of the scalars that a stage computed, or sets them to the kept ones. */
ambit_status ambit__ahead_move(const ambit_program *p, const ambit__ahead *a, int order,
                               bool keeps);

#endif
