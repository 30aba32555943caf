/* pretend.c - one process that takes itself for one of many: for seeing what it would do among them.
 *
 * All others are taken to be just like it, so what is gathered is what it gave, over and over. That is enough to
 * seal programs (parts, messages and their order follow from it), and too little to run them: it cannot send.
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
                      "process %d of %d is a pretended one, and there is no process %d to send to",
                      net->rank, net->size, r->peer);
}

static ambit_status pretend_receive(ambit__net *net, int tag, void *bytes, ambit__request *r)
{
  (void)tag, (void)bytes;
  return ambit__raise(net->errors, AMBIT_EPROCESS,
                      "process %d of %d is a pretended one, and process %d will never send",
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

static bool pretend_called(ambit__net *net)
{
  (void)net;
  return false;
}

static const ambit__net_kind pretend = {
    .contract = AMBIT__NET_CONTRACT,
    .close = pretend_close,
    .send = pretend_send,
    .receive = pretend_receive,
    .gather = pretend_gather,
    .broadcast = pretend_broadcast,
    .poll = pretend_nothing,
    .called = pretend_called,
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
