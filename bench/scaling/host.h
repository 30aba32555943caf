/* host.h - the processor that a simulated process runs on: what its time is, and how it waits.
 *
 * Computing takes no time in the simulation unless someone says how much: orders to the device do (pay). What was paid
 * is slept off when it begins to matter, before anything that other processes could notice.
 *
 * Ambit waits by looking again and again. Here looks are free, and time has to pass between them: a host that has looked at
 * everything in vain sleeps until the next thing happens.
 */
#ifndef SCALING_HOST_H
#define SCALING_HOST_H

#include <stdbool.h>

typedef struct sim_host {
  double debt; /* seconds of work not slept off */
  const void
      *first; /* what it first looked at in vain; NULL: it has found or done something since */
  double
      wake; /* when the first of what it looked at in vain will have happened; INFINITY: unknown */
  double waited;     /* when it last waited for a message: all others were not there then */
  double sent_bytes; /* by this process, so far */
  int sends;
} sim_host;

sim_host *sim_host_self(void); /* of the calling process; MPI must run */

double sim_host_now(const sim_host *h);
void sim_host_pay(sim_host *h, double seconds); /* for work of its own */
void sim_host_settle(sim_host *h);              /* sleeps off what was paid */
void sim_host_sleep(sim_host *h, double until); /* not at all, if that has passed */

/* What a look gave: something, or nothing, of what happens at `when` (INFINITY: nobody knows). True: all was looked at in vain, and
 * nobody knows when it will happen. */
void sim_host_found(sim_host *h);
bool sim_host_missed(sim_host *h, const void *what, double when);

#endif
