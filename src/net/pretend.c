/* SPDX-License-Identifier: BSD-3-Clause */
/* pretend.c - one process that acts as rank r of n without the others, to inspect a program.
 *
 * All other processes are assumed to give the same values as this one, so gather repeats its value.
 * That suffices to seal programs, which determines parts, messages and the schedule. Programs
 * cannot run: sends and receives fail.
 */
#include "net/net.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void pretend_close(ambit__net *net)
{
  free(net->room);
  free(net);
}

static ambit_status pretend_send(ambit__net *net, int tag, const void *bytes, ambit__request *r)
{
  (void)tag, (void)bytes;
  return ambit__raise(net->errors, AMBIT_EPROCESS,
                      "process %d of %d is simulated: there is no process %d to send to", net->rank,
                      net->size, r->peer);
}

static ambit_status pretend_receive(ambit__net *net, int tag, void *bytes, ambit__request *r)
{
  (void)tag, (void)bytes;
  return ambit__raise(net->errors, AMBIT_EPROCESS,
                      "process %d of %d is simulated: there is no process %d to receive from",
                      net->rank, net->size, r->peer);
}

static ambit_status pretend_gather(ambit__net *net, const void *mine, void *all, ambit__request *r)
{
  for (int i = 0; i < net->size; i++)
    memcpy((char *)all + (size_t)i * r->bytes, mine, r->bytes);
  r->active = false;
  return AMBIT_OK;
}

static ambit_status pretend_broadcast(ambit__net *net, int from, void *bytes, ambit__request *r)
{
  (void)net, (void)from, (void)bytes;
  r->active = false;
  return AMBIT_OK;
}

static void pretend_nothing(ambit__net *net)
{
  (void)net;
}

static bool pretend_stop_signalled(ambit__net *net)
{
  (void)net;
  return false;
}

static bool pretend_settle(ambit__net *net, double deadline)
{
  (void)net, (void)deadline;
  return true;
}

static const ambit__net_kind pretend = {
    .contract = AMBIT__NET_CONTRACT,
    .close = pretend_close,
    .send = pretend_send,
    .receive = pretend_receive,
    .gather = pretend_gather,
    .broadcast = pretend_broadcast,
    .poll = pretend_nothing,
    .signal_stop = pretend_nothing,
    .stop_signalled = pretend_stop_signalled,
    .settle = pretend_settle,
    .abort = pretend_nothing,
};

ambit_status ambit__net_pretend(ambit__errors *errors, int rank, int size, ambit__net **net)
{
  *net = ambit__new(errors, 1, sizeof **net);
  if (!*net) return AMBIT_ENOMEM;
  **net =
      (ambit__net){.kind = &pretend, .errors = errors, .rank = rank, .size = size, .local_size = 1};
  snprintf((*net)->name, sizeof(*net)->name, "pretended");
  (*net)->room = ambit__new(errors, 1, ambit__net_room(size));
  if ((*net)->room) return AMBIT_OK;
  free(*net);
  *net = NULL;
  return AMBIT_ENOMEM;
}
