/* SPDX-License-Identifier: BSD-3-Clause */
/* cycle.h - several iterations at once (option depth): in one launch (fuse.h), in one pass over the
 * cells (wavefront.h), or with one halo exchange.
 *
 * With several parts, each computes some layers of cells beyond its own, which other parts compute
 * as well, so that only the first iteration needs cells of other parts. Results do not change: both
 * parts compute these cells from the same values.
 */
#ifndef AMBIT_RUNTIME_PROGRAM_CYCLE_H
#define AMBIT_RUNTIME_PROGRAM_CYCLE_H

#include "base/hash.h"
#include "plan/trial.h"
#include "runtime/program/fuse.h"
#include "runtime/program/roles.h"
#include "runtime/program/wavefront.h"

/* p->cycle is the cycle that is planned, scheduled or run. Between runs that is the first of a
 * list: the others have fewer iterations, and are made when a run leaves so many over. */
typedef struct ambit__cycle {
  struct ambit__cycle *shorter; /* the next one of the list; NULL: none */
  ambit__flow flow;             /* in memory; none if there is one part and one launch */
  ambit__boundaries boundaries; /* AMBIT_PERIODIC, or AMBIT_NONE: stages fill ghost cells */
  ambit__halos halos;           /* exchanged at the start of the cycle */
  ambit__wavefront *wavefront;  /* by part of this process, at least one; NULL: none; owned */
  ambit__ahead ahead;           /* scalars that the stages of waves read */
  ambit__fused *fused;          /* each part does all iterations in one launch; NULL: no; owned */
  int tail;                     /* single iterations that must follow the last cycle of a run */
  ambit__trial trial;           /* of one that nobody asked for, with as many single iterations */
  bool cores;                   /* in it: of some process compute, which other work may take */
  double lost; /* first: estimated seconds lost by iterations that were left over */
  /* made by schedule/cycle_schedule.c: */
  struct ambit__move_set *ghosts; /* by stage: the ghost cells filled before it; owned */
  ambit__schedule schedule;
  int overlap; /* of the schedule, an ambit__overlap */
} ambit__cycle;

/* Whether a plan is one for several iterations at once. */
bool ambit__plan_is_cycle(const char *plan);
/* Whether the user asks for cycles, by the option depth or plan. */
bool ambit__cycle_is_asked(const ambit_program *p);

/* Whether its launch computes as many iterations as it is told. */
bool ambit__cycle_is_elastic(const ambit__cycle *c);
/* The iterations of a cycle, or the fewest that are worth a launch of an elastic one. */
int ambit__cycle_least(const ambit__cycle *c);

/* The plan of p->cycle, when it is built; "": none. */
void ambit__cycle_print(const ambit_program *p, char text[AMBIT__PLAN_CHARS]);

/* The kind of step because of which iterations of the program run one by one; NULL: none. */
const char *ambit__cycle_refuse_steps(const ambit_program *p);
/* The reason why iterations of the program run one by one; NULL: they need not. */
const char *ambit__cycle_refusal(const ambit_program *p);
/* Makes p->cycle with its flow, and its halos or wavefront, if the option depth asks for it and
 * it is possible. */
ambit_status ambit__cycle_plan(ambit_program *p);
/* Looks for p->rival among waves, if nobody did. */
ambit_status ambit__cycle_find_rival(ambit_program *p);
/* Builds the launch of a fused cycle, when steps have their functions; with one part, chooses it
 * first. Drops cycles that cannot be built. */
ambit_status ambit__cycle_fuse(ambit_program *p);
void ambit__cycle_drop(ambit_program *p); /* the cycle; NULL does nothing */
/* Makes it one without functions of its own, or drops it. */
void ambit__cycle_unfuse(ambit_program *p);
/* Makes p->cycle, a new one, a cycle of `depth` iterations like `whole`, which has more; leaves
 * NULL if this is not possible, or not worthwhile. Collective. */
ambit_status ambit__cycle_shorten(ambit_program *p, const ambit__cycle *whole, int depth);

/* ---- check_plan.c ---- */

/* Raises an error, with a list of plans, if no plan of the program is like the option plan.
 * Collective. */
ambit_status ambit__program_check_plan(ambit_program *p);

/* ---- tuned.c ---- */

/* The time of an iteration in cycles of some depth, with a plan. */
typedef struct ambit__timing {
  int depth;
  char plan[AMBIT__PLAN_CHARS]; /* "": that of the model */
  double seconds;
} ambit__timing;

/* Takes the plan of process 0. Collective. */
ambit_status ambit__plan_share(ambit__net *net, char plan[AMBIT__PLAN_CHARS]);
/* Sets p->tuned and p->tuned_plan from the note of an earlier run, unless p->tuning. Collective. */
ambit_status ambit__tuned_recall(ambit_program *p);
char *ambit__tuned_text(const ambit_program *p); /* the note, to free(); NULL: none */
/* Writes the note: p->tuned and p->tuned_plan are the fastest of these. */
void ambit__tuned_note(const ambit_program *p, const ambit__timing *times, int n);
/* The kernels, the types of fields, and the grid. */
void ambit__program_hash(const ambit_program *p, ambit__hash *h);

/* ---- cycle.c ---- */

/* Whether the cells of a part, with those of its halo, go on beyond the grid along an axis: it is
 * periodic and cut. */
bool ambit__part_continues(const ambit_program *p, const ambit__box *own, int axis);
/* The cells that a stage computes on a part whose own cells are `own`, and those of a field that it
 * reads there. */
ambit__box ambit__stage_cells(const ambit_program *p, const ambit__flow_stage *st,
                              const ambit__box *own);
ambit__box ambit__stage_reads(const ambit_program *p, const ambit__flow_stage *st,
                              const ambit_field *f, const ambit__box *own);
/* Extends cells lo .. hi - 1 of an axis by those that ghost cells from .. to - 1 of a field
 * copy. */
void ambit__field_sources(const ambit_field *f, int axis, int64_t from, int64_t to, int64_t *lo,
                          int64_t *hi);
/* The ghost cells of a field that a stage reads on such a part. It reads `reach`; the halo provides
 * `given`, which includes all cells that ghost cells copy. Returns false if it reads no ghost
 * cells. */
bool ambit__stage_ghosts(const ambit_program *p, const ambit__flow_stage *st, const ambit_field *f,
                         const ambit__box *own, ambit__box *given, ambit__box *reach);

#endif
