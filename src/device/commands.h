/* SPDX-License-Identifier: BSD-3-Clause */
/* commands.h - a thread that works through queues of commands.
 *
 * A command is a function and a copy of its data. A queue runs its commands in order. The thread
 * takes the next command from the first urgent queue that has one ready, then from the others. Each
 * command has a ticket, its number in its queue: waiting for a command, or letting one queue wait
 * for another, is a comparison of tickets.
 *
 * Commands are added, and queues opened and closed, by one thread at a time. Both threads spin for
 * a short while before they sleep. After a command has failed, the following ones are dropped until
 * the failure was taken.
 */
#ifndef AMBIT_DEVICE_COMMANDS_H
#define AMBIT_DEVICE_COMMANDS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ambit__commands ambit__commands;
typedef struct ambit__command_queue ambit__command_queue;
typedef ambit_status (*ambit__command)(void *user, void *data); /* `user` of its queue */

/* A command of a queue; zero: none, which is done. */
typedef struct ambit__ticket {
  ambit__command_queue *queue;
  uint64_t number;
} ambit__ticket;

ambit_status ambit__commands_open(ambit__errors *errors, ambit__commands **e);
void ambit__commands_close(ambit__commands *e); /* after all commands are done; NULL does nothing */

ambit_status ambit__command_queue_open(ambit__commands *e, ambit__errors *errors, bool urgent,
                                       void *user, ambit__command_queue **q);
void ambit__command_queue_close(ambit__command_queue *q); /* after its commands are done */

/* A command with room for `bytes` of data, aligned for any type, which the caller fills in before
 * ambit__command_add queues it. Waits if the queue is full. NULL: `bytes` exceed any queue. */
void *ambit__command_new(ambit__command_queue *q, ambit__command run, size_t bytes);
void ambit__command_add(ambit__command_queue *q);
void ambit__command_await(ambit__command_queue *q, ambit__ticket t); /* q goes on when t is done */

ambit__ticket ambit__command_last(ambit__command_queue *q); /* the last one added */
void ambit__commands_wait(ambit__commands *e);              /* for all commands of all queues */
bool ambit__command_done(ambit__ticket t);
void ambit__command_wait(ambit__ticket t);

/* The status of a command that has failed since the last call. After a failure it waits for all
 * queues. */
ambit_status ambit__commands_failure(ambit__commands *e);

/* Seconds that the thread has spent in commands. */
double ambit__commands_busy(ambit__commands *e);

#endif
