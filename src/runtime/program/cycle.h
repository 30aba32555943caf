/* SPDX-License-Identifier: BSD-3-Clause */
/* cycle.h - several iterations with one halo exchange (option depth).
 *
 * Each part computes some layers of cells beyond its own ones, which other parts compute too, so that
 * only the first iteration needs cells of others. Results are the same: both read the same values.
 */
#ifndef AMBIT_RUNTIME_PROGRAM_CYCLE_H
#define AMBIT_RUNTIME_PROGRAM_CYCLE_H

#include "runtime/program/dataflow.h"

typedef struct ambit__cycle {
  ambit__dataflow flow;
  ambit__halos halos; /* exchanged when it begins */
  /* schedule/cycle_schedule.c: */
  struct ambit__move_set *ghosts; /* by stage: filled before it; owned */
  ambit__schedule schedule;
} ambit__cycle;

/* Why the iterations of a program cannot share an exchange; NULL: they can. */
const char *ambit__cycle_refusal(const ambit_program *p);
/* Makes p->cycle, its dataflow and halos, if the option depth asks for it and nothing forbids it. */
ambit_status ambit__cycle_plan(ambit_program *p);

/* The cells that a stage computes on a part with these own cells. */
ambit__box ambit__cycle_cells(const ambit_program *p, int stage, const ambit__box *own);
/* The ghost cells that a stage reads of a field on such a part: it reads `reach`, and finds `given`,
 * with all cells that ghosts are copies of, in the halo. Returns false if it reads none. */
bool ambit__cycle_ghosts(const ambit_program *p, int stage, const ambit_field *f,
                         const ambit__box *own, ambit__box *given, ambit__box *reach);

#endif
