/* SPDX-License-Identifier: BSD-3-Clause */
/* foreseen.h - work that is needed soon, done by other threads: compilers that run for several
 * kernels of a program at the same time.
 *
 * A task is known by its key. Threads take tasks in the order in which they were added. The caller
 * that needs the result takes the task: it waits if the task is running, and gets it back undone if
 * no thread has begun it, to do the work itself. Where no thread can be started
 * the caller thus does everything. A task must not touch data of the caller.
 */
#ifndef AMBIT_DEVICE_FORESEEN_H
#define AMBIT_DEVICE_FORESEEN_H

#include "base/hash.h"

#include <pthread.h>
#include <stdbool.h>

enum { AMBIT__FORESEEN_THREADS = 32 };

/* The head of the struct of every task. */
typedef struct ambit__foreseen_task {
  void (*run)(struct ambit__foreseen_task *t);
  void (*free)(struct ambit__foreseen_task *t);
  char key[AMBIT__HASH_CHARS];
  enum { TASK_WAITS = 0, TASK_RUNS, TASK_DONE } state;
  struct ambit__foreseen_task *next;
} ambit__foreseen_task;

/* Zero: none. Must not move in memory. */
typedef struct ambit__foreseen {
  pthread_mutex_t lock;
  pthread_cond_t done;
  bool is_open;                /* the two above are initialized */
  ambit__foreseen_task *tasks; /* not taken yet, oldest first; owned */
  struct ambit__foreseen_thread {
    struct ambit__foreseen *all;
    pthread_t id;
    bool is_live; /* started, and not joined */
    bool ended;   /* takes no more tasks; under the lock */
  } threads[AMBIT__FORESEEN_THREADS];
} ambit__foreseen;

bool ambit__foreseen_has(ambit__foreseen *f, const char *key);
/* Whether a task is done, or there is none. */
bool ambit__foreseen_is_done(ambit__foreseen *f, const char *key);
/* Takes over a task. At most `most` threads run at a time. */
void ambit__foreseen_add(ambit__foreseen *f, ambit__foreseen_task *t, int most);
/* The task of a key, which now belongs to the caller; its state is TASK_DONE or TASK_WAITS. NULL:
 * there is none. */
ambit__foreseen_task *ambit__foreseen_take(ambit__foreseen *f, const char *key);
/* Waits for running tasks and frees all. */
void ambit__foreseen_close(ambit__foreseen *f);

#endif
