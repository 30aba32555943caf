/* SPDX-License-Identifier: BSD-3-Clause */
/* scratch.h - a private temporary folder for compiling.
 *
 * It has a unique name in a system folder for temporary files, and holds a file that is locked as
 * long as its process lives. A process that opens one first removes those whose lock is free: their
 * processes are dead. Files meant for the user (AMBIT__EXHIBIT) are not removed.
 */
#ifndef AMBIT_DEVICE_SCRATCH_H
#define AMBIT_DEVICE_SCRATCH_H

#include "base/undo.h"

#include <stdbool.h>

#define AMBIT__EXHIBIT "failed-" /* name prefix of files that outlive the folder */

/* Must not move in memory while it is open. */
typedef struct ambit__scratch {
  char *path; /* NULL: not open */
  int lock;
  ambit__undo undo;
} ambit__scratch;

/* Creates one in the folder `in`; false: not possible there, not safe, or the disk is full. */
bool ambit__scratch_open(ambit__scratch *s, const char *in);
/* Whether the disk has space for the output of a compiler. */
bool ambit__scratch_has_room(const ambit__scratch *s);
/* Does nothing if it is not open. */
void ambit__scratch_close(ambit__scratch *s);

#endif
