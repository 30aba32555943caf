/* SPDX-License-Identifier: BSD-3-Clause */
/* folding.h - a step that reduces onto fields of fewer axes.
 *
 * The function of the step folds the values of cells into totals. If it cannot, it stores them in a
 * scratch field, a slab of planes at a time, and the device folds each slab while it is in the
 * cache. Parts that are beside each other along a reduced axis then combine their totals. On GPUs
 * totals that are not combined become values of the field on the device.
 */
#ifndef AMBIT_RUNTIME_PROGRAM_FOLDING_H
#define AMBIT_RUNTIME_PROGRAM_FOLDING_H

#include "runtime/program/program.h"

/* One reduction on one part of this process. */
typedef struct ambit__folding_part {
  ambit__fold how;
  ambit__store scratch;  /* its layout: of the largest slab. If the function folds: the totals */
  ambit__buffer *totals; /* on the device; NULL: it cannot fold */
  unsigned char *host;   /* the same in host memory */
  bool begun;            /* in this iteration some cells were folded; */
  bool stored;           /* the field has the results */
} ambit__folding_part;

typedef struct ambit__folding {
  int n; /* reductions */
  int params[AMBIT_MAX_PARAMS];
  ambit_field *to[AMBIT_MAX_PARAMS];
  int64_t planes;                  /* of a slab along axis 0 */
  bool combines[AMBIT_MAX_PARAMS]; /* by reduction: several parts have cells of one total */
  ambit__folding_part *parts;      /* by reduction and part */
  int64_t *values;                 /* for the result of a part */
  unsigned char *mine, *all;       /* totals of this process, and of all of them */
  size_t bytes[AMBIT_MAX_PARAMS];  /* by reduction: of the totals of the process that has most */
} ambit__folding;

static inline ambit__folding_part *ambit__folding_part_of(const ambit_program *p,
                                                          const ambit__folding *f, int i, int part)
{
  return &f->parts[i * p->grid->placement.n + part];
}

/* Whether the function of the step folds on this part of the process. */
static inline bool ambit__folding_is_direct(const ambit_program *p, size_t step, int part)
{
  return p->applies[step].functions[p->grid->placement.engine[part]]->totals;
}

/* The cells of the totals of reduction i on a part of any process. */
ambit__box ambit__folding_cells(const ambit_program *p, size_t step, const ambit__folding *f, int i,
                                int part);

/* Whether the function of a step on an engine is asked to fold into totals, and bindings for that.
 * On cores it folds the means of columns of 250 x 400 floats six times as fast as by a scratch
 * field. */
bool ambit__folds_at_once(const ambit_program *p, size_t step, int engine, const ambit__box *box);
void ambit__folding_bind(const ambit_program *p, size_t step, int engine, const ambit__box *box,
                         ambit__binding *bind);

/* The planes of a slab, for a step that has such reductions; all processes need not agree. */
int64_t ambit__folding_planes(const ambit_program *p, size_t step);
bool ambit__step_folds(const ambit__step *s); /* whether it has */

/* Makes p->applies[step].folding, if the step has such reductions. */
ambit_status ambit__folding_make(ambit_program *p, size_t step);

#endif
