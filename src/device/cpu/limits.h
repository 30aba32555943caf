/* SPDX-License-Identifier: BSD-3-Clause */
/* limits.h - the measured speed of this machine.
 *
 * Runs are judged against these numbers, so they are the rates of the best loop, not those of a
 * data sheet: the fastest of several tries, with the widest vectors of the processor, on all
 * threads.
 */
#ifndef AMBIT_DEVICE_CPU_LIMITS_H
#define AMBIT_DEVICE_CPU_LIMITS_H

#include "device/cpu/machine.h"
#include "device/cpu/pool.h"

typedef struct ambit__limits {
  double copy;         /* bytes per second of a copy far larger than the caches, read + written */
  double fma32, fma64; /* multiply-adds per second in float and in double */
} ambit__limits;

/* Takes about half a second; 0 if there is no memory to copy. */
double ambit__limits_copy(ambit__pool *pool, const ambit__machine *m);

/* All of them, in less than a second. */
void ambit__limits_measure(ambit__pool *pool, const ambit__machine *m, ambit__limits *limits);

#endif
