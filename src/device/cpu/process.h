/* process.h - runs another program and listens to what it says.
 *
 * No shell is ever involved: a program is a path and an array of arguments. It gets its own process
 * group, so that a compiler driver and what it started can be ended together; standard input is
 * empty, standard output and error are read into one text.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef AMBIT_DEVICE_CPU_PROCESS_H
#define AMBIT_DEVICE_CPU_PROCESS_H

#include "base/text.h"

typedef enum ambit__process_end {
  PROCESS_OK,        /* exit status 0, or one that somebody else in this process took away */
  PROCESS_FAILED,    /* exit status not 0, or killed by a signal */
  PROCESS_TIMED_OUT, /* ran too long and was killed */
  PROCESS_NOT_RUN    /* could not be started; the output says why */
} ambit__process_end;

/* argv ends with NULL; argv[0] is a path. `output` may be NULL. */
ambit__process_end ambit__process_run(const char *const *argv, double seconds, ambit__text *output);

/* Where execvp would find `name`, or the next program of that name, and so on: text to free(), or NULL. */
char *ambit__process_find(const char *name, int nth);

#endif
