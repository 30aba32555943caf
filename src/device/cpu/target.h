/* SPDX-License-Identifier: BSD-3-Clause */
/* target.h - this processor as a target of the strategies. */
#ifndef AMBIT_DEVICE_CPU_TARGET_H
#define AMBIT_DEVICE_CPU_TARGET_H

#include "device/cpu/machine.h"
#include "plan/plan.h"

static inline ambit__target ambit__cpu_target(const ambit__machine *m, int threads)
{
  return (ambit__target){.machine = m,
                         .vector_bytes = m->vector_bytes,
                         .l1 = m->l1,
                         .l2 = m->l2,
                         .l3 = m->l3,
                         .threads = threads,
                         .has_nontemporal = m->has_nontemporal};
}

#endif
