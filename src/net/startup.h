/* SPDX-License-Identifier: BSD-3-Clause */
/* startup.h - a time limit on starting MPI. */
#ifndef AMBIT_NET_STARTUP_H
#define AMBIT_NET_STARTUP_H

#include "net/launcher.h"

typedef struct ambit__startup ambit__startup;

/* Ends the process, with a message, unless ambit__startup_end is called within so many seconds; 0:
 * no limit. Without memory for it there is none. */
ambit__startup *ambit__startup_begin(const ambit__launcher *launcher, int seconds);
void ambit__startup_end(ambit__startup *s); /* NULL is ignored */

#endif
