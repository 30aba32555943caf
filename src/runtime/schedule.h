/* schedule.h - from built steps to the list of operations that an iteration is. */
#ifndef AMBIT_RUNTIME_SCHEDULE_H
#define AMBIT_RUNTIME_SCHEDULE_H

#include "runtime/runtime.h"

ambit_status ambit__program_schedule(ambit_program *p);
void ambit__program_unschedule(ambit_program *p);

#endif
