/* SPDX-License-Identifier: BSD-3-Clause */
/* requests.c - the list of pending requests of a net; ambit__net_stop must complete or cancel all
 * of them. */
#include "net/net.h"

void ambit__request_enter(ambit__net *net, ambit__request *r)
{
  r->next = net->pending;
  r->link = &net->pending;
  if (r->next) r->next->link = &r->next;
  net->pending = r;
}

void ambit__request_leave(ambit__request *r)
{
  *r->link = r->next;
  if (r->next) r->next->link = r->link;
  r->active = false;
}

void ambit__net_forget(ambit__net *net)
{
  while (net->pending)
    ambit__request_leave(net->pending);
}
