/* SPDX-License-Identifier: BSD-3-Clause */
/* errands.h - a thread that works through queues of errands.
 *
 * An errand is a function and a copy of its data. A queue runs its errands in order. The thread
 * takes the next errand from the first urgent queue that has one ready, then from the others. Each
 * errand has a ticket, its number in its queue: waiting for an errand, or letting one queue wait
 * for another, is a comparison of tickets.
 *
 * Errands are added, and queues opened and closed, by one thread at a time. Both threads spin for a
 * short while before they sleep. After an errand has failed, the following ones are dropped until
 * the failure was taken.
 */
#ifndef AMBIT_DEVICE_ERRANDS_H
#define AMBIT_DEVICE_ERRANDS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ambit__errands ambit__errands;
typedef struct ambit__errand_queue ambit__errand_queue;
typedef ambit_status (*ambit__errand)(void *user, void *data); /* `user` of its queue */

/* An errand of a queue; zero: none, which is done. */
typedef struct ambit__ticket {
  ambit__errand_queue *queue;
  uint64_t number;
} ambit__ticket;

ambit_status ambit__errands_open(ambit__errors *errors, ambit__errands **e);
void ambit__errands_close(ambit__errands *e); /* after all errands are done; NULL does nothing */

ambit_status ambit__errand_queue_open(ambit__errands *e, ambit__errors *errors, bool urgent,
                                      void *user, ambit__errand_queue **q);
void ambit__errand_queue_close(ambit__errand_queue *q); /* after its errands are done */

/* An errand with room for `bytes` of data, aligned for any type, which the caller fills in before
 * ambit__errand_add queues it. Waits if the queue is full. NULL: `bytes` exceed any queue. */
void *ambit__errand_new(ambit__errand_queue *q, ambit__errand run, size_t bytes);
void ambit__errand_add(ambit__errand_queue *q);
void ambit__errand_await(ambit__errand_queue *q, ambit__ticket t); /* q goes on when t is done */

ambit__ticket ambit__errand_last(ambit__errand_queue *q); /* the last one added */
void ambit__errands_wait(ambit__errands *e);              /* for all errands of all queues */
bool ambit__errand_done(ambit__ticket t);
void ambit__errand_wait(ambit__ticket t);

/* The status of an errand that has failed since the last call. After a failure it waits for all
 * queues. */
ambit_status ambit__errands_failure(ambit__errands *e);

/* Seconds that the thread has spent in errands. */
double ambit__errands_busy(ambit__errands *e);

#endif
