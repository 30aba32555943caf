/* SPDX-License-Identifier: BSD-3-Clause */
/* checked_launch.h - launches checked for NaN and, in some builds, for accesses outside their
 * fields (access.h).
 *
 * checked_launch.c runs them and keeps the first fault; fault_message.c formats it.
 */
#ifndef AMBIT_RUNTIME_RUN_CHECKED_LAUNCH_H
#define AMBIT_RUNTIME_RUN_CHECKED_LAUNCH_H

#include "runtime/program/program.h"

/* A kind of fault besides those of the record (device/faults.h): a reduction gave NaN. */
enum { AMBIT__FAULT_TOTAL = -1 };

/* Launches a step on a part of this process, waits for it, and keeps its first fault. */
ambit_status ambit__checked_launch(ambit_program *p, int step, int part, ambit__launch *l);
/* At the end of an iteration: raises the first fault found in it. */
ambit_status ambit__checked_end(ambit_program *p);

/* Formats a fault record of a step, with the line of its kernel. The part is of this process. The
 * caller frees the result; NULL: out of memory. */
char *ambit__fault_message(const ambit_program *p, int step, int part, const int64_t *words);

#endif
