/* requests.c - the list of what is under way on a net: all of it must be found when processes are called to stop. */
#include "net/net.h"

void ambit__request_enter(ambit__net *net, ambit__request *r)
{
  r->next = net->under_way;
  r->link = &net->under_way;
  if (r->next) r->next->link = &r->next;
  net->under_way = r;
}

void ambit__request_leave(ambit__request *r)
{
  *r->link = r->next;
  if (r->next) r->next->link = r->link;
  r->active = false;
}

void ambit__net_forget(ambit__net *net)
{
  while (net->under_way)
    ambit__request_leave(net->under_way);
}
