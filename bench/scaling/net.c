/* net.c - the net of the simulated processes: net/mpi.c, on the MPI of the simulator.
 *
 * Messages are begun and tested by net/mpi.c. A process that waits would test for ever, since time does not pass by
 * testing: it blocks until some message is done.
 *
 * Gathering is done otherwise. It is used before and after a run only, as long as programs reduce nothing, and what the simulator has
 * for MPI_Iallgather sends a message from everyone to everyone, a million for 1,024 processes.
 *
 * Link with -Wl,--wrap=ambit__net_open.
 */
#include "host.h"

#include <mpi.h>
#include <simgrid/engine.h>

#include <math.h>
#include <string.h>

extern const ambit__net_kind ambit__net_mpi;

ambit_status __wrap_ambit__net_open(ambit__errors *errors, const char *how,
                                    const void *communicator, ambit__net **net);

/* ---- messages under way ---- */

/* What net/mpi.c keeps in a request. */
static MPI_Request handle_of(const ambit__request *r)
{
  MPI_Request handle;

  memcpy(&handle, &r->handle, sizeof handle);
  return handle;
}

static ambit_status begin(ambit__net *net, ambit__request *r)
{
  sim_host *h = sim_host_self();

  AMBIT_CHECK(h->npending < SIM_MESSAGES, net->errors, AMBIT_EUNSUPPORTED,
              "a simulated process has more than %d messages under way", (int)SIM_MESSAGES);
  h->pending[h->npending++] = r;
  sim_host_settle(h);
  sim_host_found(h);
  return AMBIT_OK;
}

static void end(sim_host *h, const ambit__request *r)
{
  for (int i = 0; i < h->npending; i++)
    if (h->pending[i] == r) h->pending[i--] = h->pending[--h->npending];
  sim_host_found(h);
}

/* Blocks until some message under way is done; those that are have no handle any more. */
static void wait_some(sim_host *h)
{
  MPI_Request handles[SIM_MESSAGES];
  int done[SIM_MESSAGES], ndone;

  for (int i = 0; i < h->npending; i++)
    handles[i] = handle_of(h->pending[i]);
  MPI_Waitsome(h->npending, handles, &ndone, done, MPI_STATUSES_IGNORE);
  for (int i = 0; i < h->npending; i++)
    memcpy(&h->pending[i]->handle, &handles[i], sizeof *handles);
  h->waited = simgrid_get_clock();
}

/* ---- the table ---- */

static ambit_status sim_send(ambit__net *net, int tag, const void *bytes, ambit__request *r)
{
  sim_host *h = sim_host_self();

  AMBIT_TRY(begin(net, r));
  h->sends++;
  h->sent_bytes += (double)r->bytes;
  return ambit__net_mpi.send(net, tag, bytes, r);
}

static ambit_status sim_receive(ambit__net *net, int tag, void *bytes, ambit__request *r)
{
  AMBIT_TRY(begin(net, r));
  return ambit__net_mpi.receive(net, tag, bytes, r);
}

static ambit_status sim_test(ambit__net *net, ambit__request *r)
{
  sim_host *h = sim_host_self();

  sim_host_settle(h);
  if (handle_of(r) == MPI_REQUEST_NULL)
    r->active = false;
  else if (h->waited < simgrid_get_clock())
    AMBIT_TRY(ambit__net_mpi.test(net, r));
  if (!r->active)
    end(h, r);
  else if (sim_host_missed(h, r, INFINITY))
    wait_some(h);
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

ambit_status __wrap_ambit__net_open(ambit__errors *errors, const char *how,
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
