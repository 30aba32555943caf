/* SPDX-License-Identifier: BSD-3-Clause */
/* scribe.h - output beside the computation (docs/design/0023-output.md): a thread of the context
 * that works through jobs in order, and copies of fields for them.
 *
 * The user's thread takes a snapshot, adds a job, and computes on. A job, a function and its data,
 * may use files and its snapshot; it makes no call that other processes have to make too, and
 * raises errors in its own ambit__errors. The user's thread asks later whether the job is done
 * (ambit__task_done), and reports its error.
 */
#ifndef AMBIT_RUNTIME_OBJECTS_SCRIBE_H
#define AMBIT_RUNTIME_OBJECTS_SCRIBE_H

#include "device/thread.h"
#include "runtime/objects/objects.h"

/* ---- scribe.c ---- */

/* Twins of devices are used by one thread at a time: by the user's while no job has a snapshot. */
typedef struct ambit__scribe {
  ambit__thread *thread;
  ambit__thread_queue *queue;
  ambit__engine *twins; /* by engine of the context: its device, opened again; owned */
  int ntwins;           /* 0: not needed so far */
  ambit__errors errors; /* of twins; silent */
  bool has_warned;      /* that there is no memory for a copy */
} ambit__scribe;

ambit__scribe *ambit__scribe_of(ambit *a); /* opened if necessary; NULL: it cannot be */

/* Adds a job behind all others. Where no thread can be started, runs it now. */
ambit__ticket ambit__scribe_add(ambit *a, void (*run)(void *job), void *job);
void ambit__scribe_wait(ambit *a); /* until all jobs are done */
/* Waits and ends the thread. In a child of the process that opened the context, does nothing. */
void ambit__scribe_close(ambit *a);

/* The values of fields at one time, as fields of another context that lists copies of their grids.
 * For a job: pieces of them are read as those of any field (ambit__field_read_own). Copies are on
 * the device where a second thread can read its memory and there is room, else in host memory. */
typedef struct ambit__snapshot {
  ambit context;
  ambit_field **fields; /* copies, in the order of those given; owned */
  int n;
  size_t bytes; /* of all values */
} ambit__snapshot;

/* ---- snapshot.c ---- */

/* Copies the values of fields of any grids of `a`, whose grids are all listed; no work is queued.
 * Waits for the jobs of other snapshots: there is one at a time. *out is NULL if there is no room
 * for it, which a warning says once; then the caller works on the fields themselves while devices
 * wait. */
ambit_status ambit__snapshot_take(ambit *a, int n, ambit_field *const *fields,
                                  ambit__snapshot **out);
void ambit__snapshot_free(ambit__snapshot *s); /* by its job; NULL is ignored */

#endif
