/* SPDX-License-Identifier: BSD-3-Clause */
/* process.h - runs another program and reads its output.
 *
 * No shell is involved: a program is a path and an array of arguments. It gets its own process
 * group, so that a compiler driver and all its children can be ended together: when it is done,
 * when its time is over, and by the system when this process dies, however it does. Standard input
 * is empty; standard output and error are read into one text.
 */
#ifndef AMBIT_DEVICE_CPU_PROCESS_H
#define AMBIT_DEVICE_CPU_PROCESS_H

#include "base/settings.h"
#include "base/text.h"

#include <stdatomic.h>

typedef enum ambit__process_end {
  PROCESS_OK,        /* exit status 0, or lost because this program reaps its children itself */
  PROCESS_FAILED,    /* exit status not 0, or killed by a signal */
  PROCESS_TIMED_OUT, /* ran too long and was killed */
  PROCESS_NOT_RUN    /* could not be started; the output holds the reason */
} ambit__process_end;

typedef struct ambit__process {
  const char *const *argv; /* ends with NULL; the first is a path */
  const char *temporary;   /* the folder for its temporary files; NULL: as in the environment */
  double seconds;          /* time limit; 0 or less: it is not started */
  const ambit__settings *settings;
  const atomic_bool *unwanted; /* set by another thread to end it at once; NULL: none does */
  const char *doing; /* "compiling a kernel": for the message after a second; NULL: none */
} ambit__process;

/* `output` may be NULL. */
ambit__process_end ambit__process_run(const ambit__process *p, ambit__text *output);

/* The path of the nth program of that name in the order of execvp, from 0: text to free(), or NULL.
 */
char *ambit__process_find(const char *name, int nth);

#endif
