/* debug.h - what the two files of the options `check` and `nan` share: debug.c looks, debug_tell.c says what was found. */
#ifndef AMBIT_RUNTIME_DEBUG_H
#define AMBIT_RUNTIME_DEBUG_H

#include "runtime/runtime.h"

enum {
  AMBIT__FAULT_TOTAL = -1
}; /* a kind of fault besides those of the record (device/faults.h): a reduction gave NaN */

/* What a record of a step tells, with the line of its rule; the part is of this process. NULL if memory ran out. Free it. */
char *ambit__debug_message(const ambit_program *p, int step, int part, const int64_t *words);

#endif
