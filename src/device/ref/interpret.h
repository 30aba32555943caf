/* interpret.h - a rule at one cell, by walking its tree.
 *
 * A read is resolved by the definition in grid/boundary.h, cell by cell, and never looks at ghost
 * cells; a device that fills them may ask for them to be read, because of parts that lack the other cells. Results are stored when the cell is done, so that every read sees the old value.
 */
#ifndef AMBIT_DEVICE_REF_INTERPRET_H
#define AMBIT_DEVICE_REF_INTERPRET_H

#include "device/ref/guard.h"

typedef struct ambit__interpreter {
  const ambit__rule *rule;
  bool ghosts;                     /* reads outside the grid find their values in ghost cells */
  ambit__value *locals;            /* rule->nlocals */
  ambit__value *outs;              /* the variables of written components and reductions */
  int first_out[AMBIT_MAX_PARAMS]; /* where the components of a parameter begin in `outs` */
  const ambit__launch *launch;     /* the one being done */
  int64_t cell[AMBIT_MAX_DIMS];    /* and the cell of it */
  ambit__guard *guard;             /* what is checked, owned; NULL: nothing */
} ambit__interpreter;

ambit_status ambit__interpreter_init(ambit__interpreter *in, ambit__errors *errors,
                                     const ambit__rule *rule, unsigned checks);
void ambit__interpreter_free(ambit__interpreter *in);
/* Turns to a launch. */
void ambit__interpreter_begin(ambit__interpreter *in, const ambit__launch *launch);

/* Computes the cell in->cell of in->launch and stores what it wrote. Reductions are left in their variables. */
void ambit__interpret_cell(ambit__interpreter *in);

/* What a reduction left in its variable in the last cell. */
ambit__value ambit__interpreter_reduced(const ambit__interpreter *in, int param);

#endif
