/* SPDX-License-Identifier: BSD-3-Clause */
/* registers.h - registers of a thread, by estimate, and the blocks that a multiprocessor runs with
 * them.
 *
 * A thread keeps values of cells for as long as they are read. To these come the results that it
 * computes, and a base: addresses, counters, predicates, constants. The base of each builder was
 * fitted to the registers that ptxas 13.0 allocates for sm_90. */
#ifndef AMBIT_PLAN_REGISTERS_H
#define AMBIT_PLAN_REGISTERS_H

#include "nest/strip/strip.h"
#include "nest/window/resident.h"
#include "plan/plan.h"

/* Of one value of a type, or of a flow's largest value. */
static inline int ambit__registers_of(ambit_type type)
{
  return ambit_type_size(type) > 4 ? 2 : 1;
}

static inline int ambit__registers_of_widest(const ambit__flow *f)
{
  return ambit__flow_widest(f) > 4 ? 2 : 1;
}

/* Planes of a row that a warp holds: those that are read and those in flight. */
int ambit__registers_planes(const ambit__strip *j, const ambit__value_row *r);

int ambit__registers_of_cell(const ambit__rule *rule); /* a cell per thread, with two branches */
int ambit__registers_of_strip(const ambit__group *g, const ambit__strip *j);
int ambit__registers_of_window(const ambit__window *j);
int ambit__registers_of_resident(const ambit__resident *j);

/* Blocks that a multiprocessor runs at once, by the registers of their threads, which are allocated
 * by eight; and the other way round: the most registers for so many threads. */
int ambit__registers_blocks(const ambit__target *t, int threads, int registers);
int ambit__registers_most(const ambit__target *t, int threads);

#endif
