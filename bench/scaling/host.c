/* SPDX-License-Identifier: BSD-3-Clause */
/* host.c - time of the simulated processes. All of them are in this one process and share its
 * variables. */
#include "host.h"

#include <mpi.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>

#include <math.h>
#include <stdlib.h>

#define TICK 1e-9 /* seconds; the resolution of the simulator */

sim_host *sim_host_self(void)
{
  static sim_host *hosts;
  int rank, size;

  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (!hosts) hosts = calloc((size_t)size, sizeof *hosts);
  if (!hosts) MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  return &hosts[rank];
}

double sim_host_now(const sim_host *h)
{
  return simgrid_get_clock() + h->debt;
}

void sim_host_pay(sim_host *h, double seconds)
{
  h->debt += seconds;
  sim_host_found(h);
}

void sim_host_settle(sim_host *h)
{
  const double debt = h->debt;

  h->debt = 0;
  if (debt > 0) sg_actor_sleep_for(debt);
}

void sim_host_sleep(sim_host *h, double until)
{
  sim_host_settle(h);
  if (until > simgrid_get_clock() + TICK) sg_actor_sleep_for(until - simgrid_get_clock());
}

void sim_host_found(sim_host *h)
{
  h->first = NULL;
}

/* The first round of polling is free: a single poll in passing does not wait. After that, the host
 * sleeps until the device finishes. Messages that arrive in the meantime could not be handled,
 * since unpacking is behind it in the same queue. */
bool sim_host_missed(sim_host *h, const void *what, double when)
{
  if (!h->first) {
    h->first = what;
    h->wake = when;
    return false;
  }
  if (when < h->wake) h->wake = when;
  if (what != h->first) return false;
  if (isinf(h->wake)) return true;
  sim_host_sleep(h, h->wake);
  h->wake = INFINITY;
  return false;
}
