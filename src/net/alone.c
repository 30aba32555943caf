/* SPDX-License-Identifier: BSD-3-Clause */
/* alone.c - a net of one process: gather copies, broadcast does nothing, there are no messages. */
#include "net/net.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ambit_status alone_open(ambit__errors *errors, const void *communicator, ambit__net **net)
{
  (void)communicator;
  *net = ambit__new(errors, 1, sizeof **net);
  if (!*net) return AMBIT_ENOMEM;
  **net = (ambit__net){.kind = &ambit__net_alone, .errors = errors, .size = 1, .local_size = 1};
  snprintf((*net)->name, sizeof(*net)->name, "alone");
  return AMBIT_OK;
}

static void alone_close(ambit__net *net)
{
  free(net);
}

static ambit_status alone_gather(ambit__net *net, const void *mine, void *all, ambit__request *r)
{
  (void)net;
  memcpy(all, mine, r->bytes);
  r->active = false;
  return AMBIT_OK;
}

static ambit_status alone_broadcast(ambit__net *net, int from, void *bytes, ambit__request *r)
{
  (void)net, (void)from, (void)bytes;
  r->active = false;
  return AMBIT_OK;
}

static void alone_nothing(ambit__net *net)
{
  (void)net;
}

const ambit__net_kind ambit__net_alone = {
    .contract = AMBIT__NET_CONTRACT,
    .open = alone_open,
    .close = alone_close,
    .gather = alone_gather,
    .broadcast = alone_broadcast,
    .poll = alone_nothing,
    .abort = alone_nothing,
};
