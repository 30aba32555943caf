/* host.c - time, as the simulated processes see it. All of them live in this one process, and share its variables. */
#include "host.h"

#include <mpi.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>

#include <math.h>
#include <stdlib.h>

#define TICK 1e-9 /* seconds that the simulator does not tell apart */

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

/* The first round of looks is free: whoever looks once, in passing, goes on. Then, what the device does is waited for to the
 * moment; meanwhile nothing could be done with messages that come, since unpacking is behind it in the same queue. */
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
