/* scratch.h - a private folder for compiling, which goes away.
 *
 * It is made where the system keeps temporary files, by a name that nobody else has, and holds a file that is locked as long as
 * its process lives. A process that makes one removes those whose lock is free: their processes are dead. Files that the user
 * should look at (AMBIT__EXHIBIT) stay.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef AMBIT_DEVICE_SCRATCH_H
#define AMBIT_DEVICE_SCRATCH_H

#include "base/undo.h"

#include <stdbool.h>

#define AMBIT__EXHIBIT "failed-" /* how the names of files start that outlive the folder */

/* It must stay where it is as long as it is open. */
typedef struct ambit__scratch {
  char *path; /* NULL: there is none */
  int lock;
  ambit__undo undo;
} ambit__scratch;

/* Makes one in the folder `in`; false: not possible there, not safe, or the disk is full. */
bool ambit__scratch_open(ambit__scratch *s, const char *in);
/* Whether there is room for what a compiler writes. */
bool ambit__scratch_has_room(const ambit__scratch *s);
/* Nothing happens if there is none. */
void ambit__scratch_close(ambit__scratch *s);

#endif
