/* SPDX-License-Identifier: BSD-3-Clause */
/* schedule.h - makes the schedule of an iteration from built steps. schedule.c decides on the
 * operations, operations.c appends them, and inner_cells.c finds the cells that run early. */
#ifndef AMBIT_RUNTIME_SCHEDULE_SCHEDULE_H
#define AMBIT_RUNTIME_SCHEDULE_SCHEDULE_H

#include "runtime/exchange/exchange.h"

ambit_status ambit__program_schedule(ambit_program *p);
/* Makes an exchange of n halos of a list and adds it to p->exchanges. */
ambit_status ambit__program_add_exchange(ambit_program *p, ambit__exchange_kind kind,
                                         const ambit__halos *from, const int *halos, int n,
                                         ambit__exchange **x);
void ambit__program_unschedule(ambit_program *p);

/* ---- while the schedule is made ---- */

typedef enum ambit__overlap {
  OVERLAP_NONE,
  OVERLAP_STANDARD,
  OVERLAP_EXTENDED,
  OVERLAP_TWO_WAY
} ambit__overlap;

typedef struct ambit__scheduler {
  ambit_program *p;
  ambit__schedule *list; /* the schedule being made */
  ambit__overlap overlap;
  ambit__exchange **before; /* by step: the exchange it needs; NULL: none */
  ambit__exchange **after;  /* by step: what it wrote to halos goes back; NULL: nothing */
  bool *begun;              /* by step: the previous step began its exchange */
  bool *reducing;           /* by step: its allreduce is pending */
  size_t nreducing;         /* of these */
  bool *launched; /* by step and engine: the list has a launch, whose reduction others continue */
  ambit__box *inner; /* by step and part: cells that run early; empty: none */
} ambit__scheduler;

/* ---- cycle_schedule.c: the schedule of p->cycle, if there is one ---- */

ambit_status ambit__cycle_schedule(ambit_program *p, ambit__overlap overlap);
/* Adds a cycle of `depth` iterations to the list that p->cycle begins. It has no operations if
 * there is none. Collective. */
ambit_status ambit__cycle_add_shorter(ambit_program *p, int depth);
void ambit__cycle_free(ambit_program *p); /* all of the list */

/* ---- operations.c ---- */

/* Appends an operation to the list, and takes its pieces. `every` 0: that of the step. */
ambit_status ambit__schedule_add(ambit__scheduler *s, const ambit__operation *op);
/* Appends a launch. Border cells on the border queue wait for an exchange; NULL: none. */
ambit_status ambit__schedule_add_launch(ambit__scheduler *s, size_t step, ambit__cells cells,
                                        ambit__exchange *waits);
void ambit__schedule_free(ambit__schedule *o);
/* A piece of a launch that has room for it, unless it is empty. */
void ambit__operation_add(ambit__operation *op, int part, const ambit__box *box);

/* ---- inner_cells.c ---- */

/* All cells of a step on a part of this process. */
ambit__box ambit__cells_own(const ambit_program *p, size_t step, int part);

/* Those of them that run early. */
static inline ambit__box *ambit__cells_of(const ambit__scheduler *s, size_t step, int part)
{
  return &s->inner[step * (size_t)s->p->grid->placement.n + (size_t)part];
}

/* Sets the early cells of a step to those that read nothing the exchange brings. */
void ambit__cells_inner(ambit__scheduler *s, size_t step, const ambit__exchange *x);
/* Shrinks the early cells of `next` to those that read only early cells of `step`, or fields that
 * it does not write. */
void ambit__cells_follow(ambit__scheduler *s, size_t step, size_t next);
/* Sets the early cells of a step to those that the exchange does not send. */
void ambit__cells_unsent(ambit__scheduler *s, size_t step, const ambit__exchange *x);
/* Whether the exchange sends early cells of a step. */
bool ambit__cells_sends_inner(const ambit__scheduler *s, const ambit__exchange *x, size_t step);

#endif
