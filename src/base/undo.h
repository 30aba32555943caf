/* SPDX-License-Identifier: BSD-3-Clause */
/* undo.h - cleanup for a process that is stopped by a signal: temporary files, temporary folders,
 * child processes.
 *
 * The creator of such an object registers it here, and removes the entry when the object is gone.
 * The library handles no signals, except for checkpoints (runtime/checkpoint/signals.c). A program
 * that does calls ambit__undo_all() and exits, as the tool `ambit` does. Objects of processes that
 * could not clean up are found by later processes (base/file.c, device/scratch.c).
 */
#ifndef AMBIT_BASE_UNDO_H
#define AMBIT_BASE_UNDO_H

/* An entry; part of the object that created the resource. */
typedef struct ambit__undo {
  void (*run)(void *what);
  void *what;
  struct ambit__undo *next, **link; /* set while it is registered */
} ambit__undo;

/* A resource is created and registered under the lock, so that every resource is registered. */
void ambit__undo_lock(void);
void ambit__undo_unlock(void);
/* Under the lock. */
void ambit__undo_add(ambit__undo *u);
/* Takes the lock. Does nothing if the entry is not registered. */
void ambit__undo_remove(ambit__undo *u);

/* Runs all entries, newest first, from any thread. Keeps the lock: no more resources can be
 * created, and the process must exit. */
void ambit__undo_all(void);

#endif
