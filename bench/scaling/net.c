/* SPDX-License-Identifier: BSD-3-Clause */
/* net.c - the net of the simulated processes: net/mpi.c, on the MPI of the simulator.
 *
 * net/mpi.c begins and tests messages. A process that waits would test for ever, since testing
 * takes no simulated time; it blocks instead until some message is complete.
 *
 * Gather is replaced. As long as programs have no reductions, it is used only before and after a
 * run, and the simulator's MPI_Iallgather sends a message from every process to every other, a
 * million for 1,024 processes.
 *
 * Link with -Wl,--wrap=ambit__net_open.
 */
#include "net/mpi_net.h"

#include "host.h"

#include <simgrid/engine.h>

#include <math.h>

extern const ambit__net_kind ambit__net_mpi;

ambit_status __wrap_ambit__net_open(ambit__errors *errors, const char *how, int seconds,
                                    const void *communicator, ambit__net **net);

enum { MESSAGES = 512 }; /* maximum pending messages of a process */

/* Blocks until some pending message is complete; complete ones have a null handle. */
static void wait_some(ambit__net *net)
{
  MPI_Request handles[MESSAGES];
  int done[MESSAGES], ndone, n = 0;

  for (ambit__request *r = net->pending; r && n < MESSAGES; r = r->next)
    handles[n++] = ambit__mpi_kept(r);
  MPI_Waitsome(n, handles, &ndone, done, MPI_STATUSES_IGNORE);
  n = 0;
  for (ambit__request *r = net->pending; r && n < MESSAGES; r = r->next)
    ambit__mpi_keep(r, handles[n++]);
  sim_host_self()->waited = simgrid_get_clock();
}

static ambit_status sim_send(ambit__net *net, int tag, const void *bytes, ambit__request *r)
{
  sim_host *h = sim_host_self();

  sim_host_settle(h);
  sim_host_found(h);
  h->sends++;
  h->sent_bytes += (double)r->bytes;
  return ambit__net_mpi.send(net, tag, bytes, r);
}

static ambit_status sim_receive(ambit__net *net, int tag, void *bytes, ambit__request *r)
{
  sim_host *h = sim_host_self();

  sim_host_settle(h);
  sim_host_found(h);
  return ambit__net_mpi.receive(net, tag, bytes, r);
}

static ambit_status sim_test(ambit__net *net, ambit__request *r)
{
  sim_host *h = sim_host_self();

  sim_host_settle(h);
  if (ambit__mpi_kept(r) == MPI_REQUEST_NULL)
    r->active = false;
  else if (h->waited < simgrid_get_clock())
    AMBIT_TRY(ambit__net_mpi.test(net, r));
  if (!r->active)
    sim_host_found(h);
  else if (sim_host_missed(h, r, INFINITY))
    wait_some(net);
  return AMBIT_OK;
}

static ambit_status sim_gather(ambit__net *net, const void *mine, void *all, ambit__request *r)
{
  const int n = (int)r->bytes;

  sim_host_settle(sim_host_self());
  r->active = false;
  AMBIT_CHECK(!MPI_Allgather(mine, n, MPI_BYTE, all, n, MPI_BYTE, MPI_COMM_WORLD), net->errors,
              AMBIT_EPROCESS, "the simulated MPI could not gather");
  return AMBIT_OK;
}

ambit_status __wrap_ambit__net_open(ambit__errors *errors, const char *how, int seconds,
                                    const void *communicator, ambit__net **net)
{
  static ambit__net_kind kind; /* the same for all processes */

  (void)how;
  kind = ambit__net_mpi;
  kind.send = sim_send;
  kind.receive = sim_receive;
  kind.test = sim_test;
  kind.gather = sim_gather;
  AMBIT_TRY(ambit__net_mpi.open(errors, communicator, net));
  (*net)->kind = &kind;
  return AMBIT_OK;
}
