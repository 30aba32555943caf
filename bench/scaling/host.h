/* SPDX-License-Identifier: BSD-3-Clause */
/* host.h - the host processor of a simulated process: its time, and how it waits.
 *
 * Computation takes no simulated time unless it is charged: work submitted to the device is (pay).
 * Charged time accumulates and is slept off before anything that other processes could observe.
 *
 * Ambit waits by polling. Polls take no simulated time, so time must pass between them: a host that
 * has polled everything without success sleeps until the next event.
 */
#ifndef SCALING_HOST_H
#define SCALING_HOST_H

#include <stdbool.h>

typedef struct sim_host {
  double debt;       /* seconds charged but not slept off */
  const void *first; /* first object polled without success; NULL: progress since */
  double wake;       /* earliest completion among the objects polled; INFINITY: unknown */
  double waited;     /* when it last waited for a message; all others had not arrived then */
  double sent_bytes; /* sent by this process so far */
  int sends;
} sim_host;

sim_host *sim_host_self(void); /* of the calling process; MPI must be initialised */

double sim_host_now(const sim_host *h);
void sim_host_pay(sim_host *h, double seconds); /* charges its own work */
void sim_host_settle(sim_host *h);              /* sleeps off the charged time */
void sim_host_sleep(sim_host *h, double until); /* returns at once if that has passed */

/* The result of a poll: success, or failure on something that completes at `when` (INFINITY:
 * unknown). Returns true if everything was polled without success and all completions are
 * unknown. */
void sim_host_found(sim_host *h);
bool sim_host_missed(sim_host *h, const void *what, double when);

#endif
