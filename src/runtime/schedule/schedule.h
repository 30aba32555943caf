/* SPDX-License-Identifier: BSD-3-Clause */
/* schedule.h - from built steps to the list of operations that an iteration is: schedule.c makes the list, operations.c has its
 * operations, inner_cells.c says which cells of its steps run early.
 */
#ifndef AMBIT_RUNTIME_SCHEDULE_SCHEDULE_H
#define AMBIT_RUNTIME_SCHEDULE_SCHEDULE_H

#include "runtime/exchange/exchange.h"

ambit_status ambit__program_schedule(ambit_program *p);
/* Makes an exchange of some of a list of halos, and keeps it in p->exchanges. */
ambit_status ambit__program_add_exchange(ambit_program *p, const ambit__halos *from,
                                         const int *halos, int n, ambit__exchange **x);
void ambit__program_unschedule(ambit_program *p);

/* ---- while the list is made ---- */

typedef enum ambit__overlap {
  OVERLAP_NONE,
  OVERLAP_STANDARD,
  OVERLAP_EXTENDED,
  OVERLAP_TWO_WAY
} ambit__overlap;

typedef struct ambit__scheduler {
  ambit_program *p;
  ambit__schedule *list; /* the one being made */
  ambit__overlap overlap;
  ambit__exchange **before; /* by step: what must be fetched first; NULL nothing */
  bool *begun;              /* by step: the exchange was begun by the step before */
  bool *reducing;           /* by step: its allreduce is under way */
  ambit__box *inner;        /* by step and part: the cells that run early; empty: none */
} ambit__scheduler;

/* ---- cycle_schedule.c: of p->cycle, if there is one ---- */

ambit_status ambit__cycle_schedule(ambit_program *p, ambit__overlap overlap);
void ambit__cycle_free(ambit_program *p);

/* ---- operations.c: each adds to the list; NULL: there is no memory ---- */

ambit__operation *ambit__schedule_add(ambit__scheduler *s, ambit__op_kind kind, size_t step);
ambit__operation *ambit__schedule_add_launch(ambit__scheduler *s, size_t step, ambit__cells cells);
void ambit__schedule_free(ambit__schedule *o);

/* ---- inner_cells.c ---- */

/* All cells of a step that a part of this process has. */
ambit__box ambit__cells_own(const ambit_program *p, size_t step, int part);

/* Those of them that run early, where they are kept. */
static inline ambit__box *ambit__cells_of(const ambit__scheduler *s, size_t step, int part)
{
  return &s->inner[step * (size_t)s->p->grid->placement.n + (size_t)part];
}

/* Keeps the cells of a step that read nothing the exchange brings; */
void ambit__cells_inner(ambit__scheduler *s, size_t step, const ambit__exchange *x);
/* of those kept of `next`, the ones that only read inner cells of `step`, or what it does not write; */
void ambit__cells_follow(ambit__scheduler *s, size_t step, size_t next);
/* the cells of a step that the exchange does not send. */
void ambit__cells_unsent(ambit__scheduler *s, size_t step, const ambit__exchange *x);
/* Whether the exchange sends some of those kept. */
bool ambit__cells_sends_inner(const ambit__scheduler *s, const ambit__exchange *x, size_t step);

#endif
