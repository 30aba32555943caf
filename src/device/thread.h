/* SPDX-License-Identifier: BSD-3-Clause */
/* thread.h - a thread that works through queues of tasks.
 *
 * A task is a function and a copy of its data. A queue runs its tasks in order. The thread
 * takes the next task from the first urgent queue that has one ready, then from the others. Each
 * task has a ticket, its number in its queue: waiting for a task, or letting one queue wait
 * for another, is a comparison of tickets.
 *
 * Tasks are added, and queues opened and closed, by one thread at a time. Both threads spin for
 * a short while before they sleep. After a task has failed, the following ones are dropped until
 * the failure was taken.
 */
#ifndef AMBIT_DEVICE_THREAD_H
#define AMBIT_DEVICE_THREAD_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ambit__thread ambit__thread;
typedef struct ambit__thread_queue ambit__thread_queue;
typedef ambit_status (*ambit__task)(void *user, void *data); /* `user` of its queue */

/* A task of a queue; zero: none, which is done. */
typedef struct ambit__ticket {
  ambit__thread_queue *queue;
  uint64_t number;
} ambit__ticket;

ambit_status ambit__thread_open(ambit__errors *errors, ambit__thread **e);
void ambit__thread_close(ambit__thread *e); /* after all tasks are done; NULL does nothing */

ambit_status ambit__thread_queue_open(ambit__thread *e, ambit__errors *errors, bool urgent,
                                      void *user, ambit__thread_queue **q);
void ambit__thread_queue_close(ambit__thread_queue *q); /* after its tasks are done */

/* A task with room for `bytes` of data, aligned for any type, which the caller fills in before
 * ambit__task_add queues it. Waits if the queue is full. NULL: `bytes` are too many. */
void *ambit__task_new(ambit__thread_queue *q, ambit__task run, size_t bytes);
void ambit__task_add(ambit__thread_queue *q);
void ambit__task_await(ambit__thread_queue *q, ambit__ticket t); /* q goes on when t is done */

ambit__ticket ambit__task_last(ambit__thread_queue *q); /* the last one added */
void ambit__thread_wait(ambit__thread *e);              /* for all tasks of all queues */
bool ambit__task_done(ambit__ticket t);
void ambit__task_wait(ambit__ticket t);

/* The status of a task that has failed since the last call. After a failure it waits for all
 * queues. */
ambit_status ambit__thread_failure(ambit__thread *e);

#endif
