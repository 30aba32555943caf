/* SPDX-License-Identifier: BSD-3-Clause */
/* limits.h - measures the speeds of this machine (plan/machine.h).
 *
 * Runs are judged against these numbers, so they are the rates of the best loop, not those of a
 * data sheet: the fastest of several tries, with the widest vectors of the processor, on all
 * threads.
 */
#ifndef AMBIT_DEVICE_CPU_LIMITS_H
#define AMBIT_DEVICE_CPU_LIMITS_H

#include "device/cpu/machine.h"
#include "device/cpu/pool.h"

/* Sets the copy in memory, in about a tenth of a second, or all speeds, in less than half of one.
 * 0: there was no memory for it, or other work left no time in which all threads ran. */
void ambit__cpu_measure(ambit__pool *pool, bool all, ambit__machine *m);

#endif
