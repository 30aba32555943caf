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
/* On a sparse grid: the table of positions of a part (codegen/prelude/limits.h), which follows the
 * limits of a record. Its length in bytes is 0 on a dense grid, and without the option check. */
size_t ambit__access_bytes(const ambit_program *p, int part);
void ambit__access_places(const ambit_program *p, int part, unsigned char *table);
/* Sets the cells that hold values for a launch of a step on a part of this process. */
void ambit__access_bound(const ambit_program *p, int step, int part, ambit__argument *args);
/* Checks the accesses of a launch that cannot be instrumented in advance, and records a fault. */
void ambit__access_foresee_step(const ambit_program *p, int step, const ambit__launch *l,
                                int64_t *words);
/* Formats an access fault. Returns false if the fault is of another kind. */
bool ambit__access_message(ambit__fault_report *s, ambit__place *place);
#else
#  define ambit__access_bytes(p, part)                  ((size_t)0)
#  define ambit__access_places(p, part, table)          ((void)0)
#  define ambit__access_bound(p, step, part, args)      ((void)0)
#  define ambit__access_foresee_step(p, step, l, words) ((void)0)
#  define ambit__access_message(s, place)               (false)
#endif

#endif
