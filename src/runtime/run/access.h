/* SPDX-License-Identifier: BSD-3-Clause */
/* access.h - access checks of launches, in builds that have them (device/access.h).
 *
 * access.c sets the cells that launches may access, and formats messages for accesses to others.
 * fault_message.c formats the other faults.
 */
#ifndef AMBIT_RUNTIME_RUN_ACCESS_H
#define AMBIT_RUNTIME_RUN_ACCESS_H

#include "device/access.h"
#include "runtime/run/fault_message.h"

#ifdef AMBIT_ACCESS_CHECKS
/* Sets the cells that hold values for a launch of a step on a part of this process. */
void ambit__access_bound(const ambit_program *p, int step, int part, ambit__argument *args);
/* Checks the accesses of a launch that cannot be instrumented in advance, and records a fault. */
void ambit__access_foresee_step(const ambit_program *p, int step, const ambit__launch *l,
                                int64_t *words);
/* Formats an access fault. Returns false if the fault is of another kind. */
bool ambit__access_message(ambit__fault_report *s, ambit__place *place);
#else
static inline void ambit__access_bound(const ambit_program *p, int step, int part,
                                       ambit__argument *args)
{
  (void)p, (void)step, (void)part, (void)args;
}

static inline void ambit__access_foresee_step(const ambit_program *p, int step,
                                              const ambit__launch *l, int64_t *words)
{
  (void)p, (void)step, (void)l, (void)words;
}

static inline bool ambit__access_message(ambit__fault_report *s, ambit__place *place)
{
  (void)s, (void)place;
  return false;
}
#endif

#endif
