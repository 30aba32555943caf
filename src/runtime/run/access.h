/* SPDX-License-Identifier: BSD-3-Clause */
/* access.h - access checks of launches, in builds that have them (device/access.h).
 *
 * access.c bounds what launches may touch, and puts into words what they touched beyond that.
 * fault_message.c has the rest of the sentences.
 */
#ifndef AMBIT_RUNTIME_RUN_ACCESS_H
#define AMBIT_RUNTIME_RUN_ACCESS_H

#include "device/access.h"
#include "runtime/run/fault_message.h"

#ifdef AMBIT_ACCESS_CHECKS
/* The cells that hold values for a launch of a step on a part of this process. */
void ambit__access_bound(const ambit_program *p, int step, int part, ambit__argument *args);
/* Puts into the record of a launch that cannot be looked into what it would touch. */
void ambit__access_foresee_step(const ambit_program *p, int step, const ambit__launch *l,
                                int64_t *words);
/* Says what was touched. False: the fault is of another kind. */
bool ambit__access_message(ambit__story *s, ambit__place *place);
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

static inline bool ambit__access_message(ambit__story *s, ambit__place *place)
{
  (void)s, (void)place;
  return false;
}
#endif

#endif
