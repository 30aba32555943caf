/* SPDX-License-Identifier: BSD-3-Clause */
/* undo.h - what must be undone if this process is ended from outside: temporary files, temporary
 * folders, child processes.
 *
 * Whoever makes such a thing notes it here, and takes the note back when the thing is gone. The
 * library itself handles no signals. A program that does calls ambit__undo_all() and ends, as the
 * tool `ambit` does. Things of processes that had no time for that are found by those who come
 * after them (base/file.c, device/scratch.c).
 */
#ifndef AMBIT_BASE_UNDO_H
#define AMBIT_BASE_UNDO_H

/* A note; it lives inside of the object that made the thing. */
typedef struct ambit__undo {
  void (*run)(void *what);
  void *what;
  struct ambit__undo *next, **link; /* set while it is noted */
} ambit__undo;

/* Making a thing and noting it happen under the lock, so that nothing is made that is not noted. */
void ambit__undo_lock(void);
void ambit__undo_unlock(void);
/* Under the lock. */
void ambit__undo_add(ambit__undo *u);
/* Takes the lock itself. Nothing happens if it is not noted. */
void ambit__undo_remove(ambit__undo *u);

/* Undoes everything, the newest first, from any thread. The lock is not given back: nothing more is
 * made, and the process must end. */
void ambit__undo_all(void);

#endif
