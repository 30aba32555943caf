/* SPDX-License-Identifier: BSD-3-Clause */
/* slow_net.c - a net with added latency and limited bandwidth, to model a slower network.
 *
 * It wraps another net. Each message is sent at once, preceded by a timestamp that gives its
 * earliest arrival. Messages to one receiver share a link: each occupies it for bytes / bandwidth
 * seconds, one after the other, and arrives `latency` seconds later. The receiver holds a message
 * back until then. Only a process that waits for a message is delayed; no thread is needed in
 * between, as with a network card. Collective operations take as long as a tree of messages that
 * starts when the last process arrives.
 *
 * Timestamps are in the clock of process 0; clocks are compared when the net is opened.
 */
#include "support/slow_net.h"

#include "base/clock.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUND_TRIPS = 10 }; /* round trips per clock comparison; the fastest one is used */

/* A request of this net: two requests of the wrapped net. Recycled through the free list. */
typedef struct delayed {
  struct delayed *next, *all; /* in the free list; in the list of all */
  ambit__request stamp, data;
  int nstamps;     /* number of timestamps to wait for; 0: a send, never held back */
  double delay;    /* seconds to add to the latest of them */
  double mine;     /* timestamp sent by this process */
  double stamps[]; /* timestamps received, one or one per process */
} delayed;

typedef struct slow_net {
  ambit__net base;
  ambit__net *below;
  double latency;    /* seconds */
  double per_byte;   /* seconds */
  int rounds;        /* depth of a tree over all processes */
  double ahead;      /* added to this process's clock to get the clock of process 0 */
  double *link_free; /* per process: time at which the link to it is free; owned */
  delayed *free, *all;
} slow_net;

static slow_net *slow_of(ambit__net *net)
{
  return (slow_net *)net;
}

static double now(const slow_net *n)
{
  return ambit__clock() + n->ahead;
}

/* ---- delayed requests ---- */

static delayed *take_request(slow_net *n, ambit__request *r)
{
  delayed *l = n->free;

  if (l) {
    n->free = l->next;
  } else {
    l = ambit__new(n->base.errors, 1, sizeof *l + (size_t)n->base.size * sizeof *l->stamps);
    if (!l) return NULL;
    l->all = n->all;
    n->all = l;
  }
  l->stamp = l->data = (ambit__request){0};
  l->nstamps = 0;
  l->delay = 0;
  r->handle = (intptr_t)l;
  return l;
}

static void put_back(slow_net *n, ambit__request *r)
{
  delayed *l = (delayed *)r->handle;

  r->active = false;
  l->next = n->free;
  n->free = l;
}

static double arrival(const delayed *l)
{
  double last = 0;

  for (int i = 0; i < l->nstamps; i++)
    last = fmax(last, l->stamps[i]);
  return last + l->delay;
}

/* ---- the table ---- */

static ambit_status slow_send(ambit__net *net, int tag, const void *bytes, ambit__request *r)
{
  slow_net *n = slow_of(net);
  double *link_free = &n->link_free[r->peer];
  delayed *l = take_request(n, r);

  if (!l) return AMBIT_ENOMEM;
  *link_free = fmax(*link_free, now(n)) + n->per_byte * (double)r->bytes;
  l->mine = *link_free + n->latency;
  AMBIT_TRY(ambit__net_send(n->below, r->peer, tag, &l->mine, sizeof l->mine, &l->stamp));
  return ambit__net_send(n->below, r->peer, tag, bytes, r->bytes, &l->data);
}

static ambit_status slow_receive(ambit__net *net, int tag, void *bytes, ambit__request *r)
{
  slow_net *n = slow_of(net);
  delayed *l = take_request(n, r);

  if (!l) return AMBIT_ENOMEM;
  l->nstamps = 1;
  AMBIT_TRY(ambit__net_receive(n->below, r->peer, tag, l->stamps, sizeof *l->stamps, &l->stamp));
  return ambit__net_receive(n->below, r->peer, tag, bytes, r->bytes, &l->data);
}

static ambit_status slow_gather(ambit__net *net, const void *mine, void *all, ambit__request *r)
{
  slow_net *n = slow_of(net);
  delayed *l = take_request(n, r);

  if (!l) return AMBIT_ENOMEM;
  l->mine = now(n);
  l->nstamps = net->size;
  l->delay = n->rounds * n->latency + n->per_byte * (double)r->bytes * (net->size - 1);
  AMBIT_TRY(ambit__net_gather_begin(n->below, &l->mine, sizeof l->mine, l->stamps, &l->stamp));
  return ambit__net_gather_begin(n->below, mine, r->bytes, all, &l->data);
}

static ambit_status slow_broadcast(ambit__net *net, int from, void *bytes, ambit__request *r)
{
  slow_net *n = slow_of(net);
  delayed *l = take_request(n, r);

  if (!l) return AMBIT_ENOMEM;
  l->stamps[0] = now(n);
  l->nstamps = 1;
  l->delay = n->rounds * (n->latency + n->per_byte * (double)r->bytes);
  AMBIT_TRY(ambit__net_broadcast_begin(n->below, from, l->stamps, sizeof *l->stamps, &l->stamp));
  return ambit__net_broadcast_begin(n->below, from, bytes, r->bytes, &l->data);
}

static ambit_status slow_test(ambit__net *net, ambit__request *r)
{
  slow_net *n = slow_of(net);
  delayed *l = (delayed *)r->handle;
  bool stamped = false, there = false;
  ambit_status s = ambit__net_test(n->below, &l->stamp, &stamped);

  if (!s) s = ambit__net_test(n->below, &l->data, &there);
  if (s)
    r->active = false; /* MPI may still write to it: never recycled */
  else if (stamped && there && (!l->nstamps || now(n) >= arrival(l)))
    put_back(n, r);
  return s;
}

static bool slow_withdraw(ambit__net *net, ambit__request *r)
{
  slow_net *n = slow_of(net);
  delayed *l = (delayed *)r->handle;

  if (!r->receives || !l->stamp.active) return false; /* after its timestamp the data follows */
  ambit__net_cancel(n->below, &l->data, 1);
  ambit__net_cancel(n->below, &l->stamp, 1);
  put_back(n, r);
  return true;
}

static void slow_poll(ambit__net *net)
{
  ambit__net_poll(slow_of(net)->below);
}

static void slow_signal_stop(ambit__net *net)
{
  slow_of(net)->below->kind->signal_stop(slow_of(net)->below);
}

static bool slow_stop_signalled(ambit__net *net)
{
  return slow_of(net)->below->kind->stop_signalled(slow_of(net)->below);
}

/* Afterwards all requests are free. */
static bool slow_settle(ambit__net *net, double deadline)
{
  slow_net *n = slow_of(net);

  if (!n->below->kind->settle(n->below, deadline)) return false;
  ambit__net_forget(n->below);
  n->free = n->all;
  for (delayed *l = n->all; l; l = l->all)
    l->next = l->all;
  return true;
}

static void slow_abort(ambit__net *net)
{
  slow_of(net)->below->kind->abort(slow_of(net)->below);
}

static void slow_close(ambit__net *net)
{
  slow_net *n = slow_of(net);

  while (n->all) {
    delayed *l = n->all;

    n->all = l->all;
    free(l);
  }
  ambit__net_close(n->below);
  free(n->link_free);
  free(n);
}

static const ambit__net_kind slow = {
    .contract = AMBIT__NET_CONTRACT,
    .close = slow_close,
    .send = slow_send,
    .receive = slow_receive,
    .gather = slow_gather,
    .broadcast = slow_broadcast,
    .test = slow_test,
    .withdraw = slow_withdraw,
    .poll = slow_poll,
    .signal_stop = slow_signal_stop,
    .stop_signalled = slow_stop_signalled,
    .settle = slow_settle,
    .abort = slow_abort,
};

/* ---- clocks ---- */

static ambit_status send_clock(ambit__net *net, int to, double *clock)
{
  ambit__request r;

  *clock = ambit__clock();
  AMBIT_TRY(ambit__net_send(net, to, 0, clock, sizeof *clock, &r));
  return ambit__net_wait(net, &r, 1);
}

static ambit_status receive_clock(ambit__net *net, int from, double *clock)
{
  ambit__request r;

  AMBIT_TRY(ambit__net_receive(net, from, 0, clock, sizeof *clock, &r));
  return ambit__net_wait(net, &r, 1);
}

/* Process 0 answers each other process with its time, taken to be the time halfway between the
 * request and the reply. */
static ambit_status compare_clocks(slow_net *n)
{
  double quickest = INFINITY, mine, theirs;

  for (int i = 0; n->base.rank == 0 && i < ROUND_TRIPS * (n->base.size - 1); i++) {
    AMBIT_TRY(receive_clock(n->below, 1 + i / ROUND_TRIPS, &theirs));
    AMBIT_TRY(send_clock(n->below, 1 + i / ROUND_TRIPS, &mine));
  }
  for (int i = 0; n->base.rank > 0 && i < ROUND_TRIPS; i++) {
    double took;

    AMBIT_TRY(send_clock(n->below, 0, &mine));
    AMBIT_TRY(receive_clock(n->below, 0, &theirs));
    took = ambit__clock() - mine;
    if (took < quickest) n->ahead = theirs - (mine + took / 2);
    quickest = fmin(quickest, took);
  }
  return AMBIT_OK;
}

/* ---- opening ---- */

/* "200us", "1GB/s": a number and its unit, in seconds or bytes per second. */
static bool read_measure(const char *text, size_t length, double *latency, double *rate)
{
  static const struct {
    const char *name;
    double size;
    bool is_rate;
  } units[] = {
      {"s", 1, false},           {"ms", 1e-3, false}, {"us", 1e-6, false},
      {"ns", 1e-9, false},       {"B/s", 1, true},    {"kB/s", 1e3, true},
      {"MB/s", 1e6, true},       {"GB/s", 1e9, true}, {"Mbit/s", 1e6 / 8, true},
      {"Gbit/s", 1e9 / 8, true},
  };
  char *end;
  const double number = strtod(text, &end);

  for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
    if (end == text || strlen(units[i].name) != length - (size_t)(end - text)) continue;
    if (strncmp(end, units[i].name, strlen(units[i].name))) continue;
    *(units[i].is_rate ? rate : latency) = number * units[i].size;
    return isfinite(number) && (units[i].is_rate ? number > 0 : number >= 0);
  }
  return false;
}

static ambit_status read_speed(ambit__errors *errors, const char *speed, double *latency,
                               double *per_byte)
{
  double rate = INFINITY;
  bool good = true;

  *latency = 0;
  for (const char *at = speed; good && *at;) {
    const size_t length = strcspn(at, ",");

    good = read_measure(at, length, latency, &rate) && (!at[length] || at[length + 1]);
    at += length + (at[length] == ',');
  }
  *per_byte = 1 / rate;
  AMBIT_CHECK(good, errors, AMBIT_EOPTION,
              "a network of '%s' is not a latency, a rate or both, such as 200us,1GB/s; units are "
              "s, ms, us, ns, and B/s, kB/s, MB/s, GB/s, Mbit/s, Gbit/s",
              speed);
  return AMBIT_OK;
}

static ambit_status wrap(ambit__net *below, double latency, double per_byte, slow_net **out)
{
  slow_net *n = *out = ambit__new(below->errors, 1, sizeof *n);

  if (!n) return AMBIT_ENOMEM;
  n->base = *below;
  n->base.kind = &slow;
  n->base.pending = NULL;
  n->below = below;
  n->latency = latency;
  n->per_byte = per_byte;
  for (int reached = 1; reached < below->size; reached *= 2)
    n->rounds++;
  n->link_free = ambit__new(below->errors, (size_t)below->size, sizeof *n->link_free);
  return n->link_free ? AMBIT_OK : AMBIT_ENOMEM;
}

ambit_status slow_net_wrap(ambit__net **net, const char *speed)
{
  ambit__net *below = *net;
  double latency = 0, per_byte = 0;
  slow_net *n = NULL;
  char doing[100];
  ambit_status s;

  if (!speed) speed = "";
  read_speed(below->errors, speed, &latency, &per_byte);
  if (below->size == 1) return below->errors->status;
  snprintf(doing, sizeof doing, "has the network '%s'", speed);
  AMBIT_TRY(ambit__net_agree_on(below, doing));
  if (!*speed) return AMBIT_OK;
  wrap(below, latency, per_byte, &n);
  s = ambit__net_agree(below);
  if (!s) s = compare_clocks(n);
  if (!s) {
    *net = &n->base;
    return AMBIT_OK;
  }
  if (n) free(n->link_free);
  free(n);
  return s;
}
