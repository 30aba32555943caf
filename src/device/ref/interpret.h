/* SPDX-License-Identifier: BSD-3-Clause */
/* interpret.h - computes a rule at one cell, by walking its tree.
 *
 * A read is resolved by the definition in grid/boundary.h, cell by cell, without ghost cells. A
 * device that fills ghost cells may have them read instead, because a part may lack the other
 * cells. Results are stored when the cell is done, so that every read sees the old value.
 */
#ifndef AMBIT_DEVICE_REF_INTERPRET_H
#define AMBIT_DEVICE_REF_INTERPRET_H

#include "device/ref/guard.h"

typedef struct ambit__interpreter {
  const ambit__rule *rule;
  bool ghosts;                     /* reads outside the grid use ghost cells */
  ambit__value *locals;            /* length rule->nlocals */
  ambit__value *outs;              /* the variables of written components and reductions */
  int first_out[AMBIT_MAX_PARAMS]; /* index in `outs` of a parameter's first component */
  const ambit__launch *launch;     /* the current one */
  const ambit__active *active;     /* of its grid; NULL: it is dense */
  int64_t cell[AMBIT_MAX_DIMS];    /* the current one */
  ambit__guard *guard;             /* the checks, owned; NULL: none */
} ambit__interpreter;

ambit_status ambit__interpreter_init(ambit__interpreter *in, ambit__errors *errors,
                                     const ambit__rule *rule, unsigned checks);
void ambit__interpreter_free(ambit__interpreter *in);
/* Sets the current launch. */
void ambit__interpreter_begin(ambit__interpreter *in, const ambit__launch *launch);

/* Computes the cell in->cell of in->launch and stores its results. Reductions stay in their
 * variables. */
void ambit__interpret_cell(ambit__interpreter *in);

/* The contribution of the last cell to a reduction. */
ambit__value ambit__interpreter_reduced(const ambit__interpreter *in, int param);

#endif
