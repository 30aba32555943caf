/* SPDX-License-Identifier: BSD-3-Clause */
/* alone.c - nets without others: of one process, and of one that acts as rank r of n without the
 * others, to inspect a program.
 *
 * All other processes are assumed to give the same values as this one, so gather repeats its value,
 * and broadcast does nothing. That suffices to seal programs, which determines parts, messages and
 * the schedule. Programs of simulated processes cannot run: sends and receives fail.
 */
#include "net/net.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void close_alone(ambit__net *net)
{
  free(net->room);
  free(net);
}

static ambit_status fail(ambit__net *net, const char *what, const ambit__request *r)
{
  return ambit__raise(net->errors, AMBIT_EPROCESS,
                      "process %d of %d is simulated: there is no process %d to %s", net->rank,
                      net->size, r->peer, what);
}

static ambit_status send_to(ambit__net *net, int tag, const void *bytes, ambit__request *r)
{
  (void)tag, (void)bytes;
  return fail(net, "send to", r);
}

static ambit_status receive_from(ambit__net *net, int tag, void *bytes, ambit__request *r)
{
  (void)tag, (void)bytes;
  return fail(net, "receive from", r);
}

static ambit_status gather(ambit__net *net, const void *mine, void *all, ambit__request *r)
{
  for (int i = 0; i < net->size; i++)
    memcpy((char *)all + (size_t)i * r->bytes, mine, r->bytes);
  r->active = false;
  return AMBIT_OK;
}

static ambit_status broadcast(ambit__net *net, int from, void *bytes, ambit__request *r)
{
  (void)net, (void)from, (void)bytes;
  r->active = false;
  return AMBIT_OK;
}

static void nothing(ambit__net *net)
{
  (void)net;
}

static bool never(ambit__net *net)
{
  (void)net;
  return false;
}

static bool settle(ambit__net *net, double deadline)
{
  (void)net, (void)deadline;
  return true;
}

static ambit_status make(ambit__errors *errors, const ambit__net_kind *kind, const char *name,
                         int rank, int size, ambit__net **net)
{
  AMBIT_NEW(errors, *net, 1);
  **net = (ambit__net){.kind = kind, .errors = errors, .rank = rank, .size = size, .local_size = 1};
  snprintf((*net)->name, sizeof(*net)->name, "%s", name);
  return AMBIT_OK;
}

static ambit_status open_alone(ambit__errors *errors, const void *communicator, ambit__net **net)
{
  (void)communicator;
  return make(errors, &ambit__net_alone, "alone", 0, 1, net);
}

const ambit__net_kind ambit__net_alone = {
    .contract = AMBIT__NET_CONTRACT,
    .open = open_alone,
    .close = close_alone,
    .send = send_to,
    .receive = receive_from,
    .gather = gather,
    .broadcast = broadcast,
    .poll = nothing,
    .signal_stop = nothing,
    .stop_signalled = never,
    .settle = settle,
    .abort = nothing,
};

ambit_status ambit__net_pretend(ambit__errors *errors, int rank, int size, ambit__net **net)
{
  AMBIT_TRY(make(errors, &ambit__net_alone, "pretended", rank, size, net));
  (*net)->room = ambit__new(errors, 1, ambit__net_room(size));
  if ((*net)->room) return AMBIT_OK;
  free(*net);
  *net = NULL;
  return AMBIT_ENOMEM;
}
