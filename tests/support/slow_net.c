/* slow_net.c - a net that takes its time: what if the network were slower?
 *
 * It wraps another net. Every message is handed to that one at once, behind a stamp that says when it may arrive: messages
 * take the link to their receiver one after the other, each for as long as the rate says, and then the latency passes. The
 * receiver keeps a message to itself until then. So only who waits for a message is held up, and nothing needs to be done
 * for it meanwhile, as if a network card did it. What all do together is as slow as a tree of messages would be, behind the
 * last who came.
 *
 * Stamps are in the time of process 0; clocks are compared when the net is opened.
 */
#include "support/slow_net.h"

#include "base/clock.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GREETINGS = 10 }; /* tries to compare two clocks; the quickest counts */

/* A request of this net: two of the net below. Once made, it is used again and again. */
typedef struct letter {
  struct letter *next, *all; /* among those that are free; among all */
  ambit__request stamp, data;
  int nstamps;     /* that say when it may arrive; 0: it need not be kept */
  double more;     /* seconds behind the last of them */
  double mine;     /* what this process says */
  double stamps[]; /* what it was told, by process or alone */
} letter;

typedef struct slow_net {
  ambit__net base;
  ambit__net *below;
  double latency;    /* seconds */
  double per_byte;   /* seconds */
  int rounds;        /* messages in a row until everyone has heard of everything */
  double ahead;      /* of this process's clock: what to add to be in the time of process 0 */
  double *link_free; /* by process: when the link to it is; owned */
  letter *free, *all;
} slow_net;

static slow_net *slow_of(ambit__net *net)
{
  return (slow_net *)net;
}

static double now(const slow_net *n)
{
  return ambit__clock() + n->ahead;
}

/* ---- letters ---- */

static letter *take_letter(slow_net *n, ambit__request *r)
{
  letter *l = n->free;

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
  l->more = 0;
  r->handle = (intptr_t)l;
  return l;
}

static void put_back(slow_net *n, ambit__request *r)
{
  letter *l = (letter *)r->handle;

  r->active = false;
  l->next = n->free;
  n->free = l;
}

static double arrival(const letter *l)
{
  double last = 0;

  for (int i = 0; i < l->nstamps; i++)
    last = fmax(last, l->stamps[i]);
  return last + l->more;
}

/* ---- the table ---- */

static ambit_status slow_send(ambit__net *net, int tag, const void *bytes, ambit__request *r)
{
  slow_net *n = slow_of(net);
  double *link_free = &n->link_free[r->peer];
  letter *l = take_letter(n, r);

  if (!l) return AMBIT_ENOMEM;
  *link_free = fmax(*link_free, now(n)) + n->per_byte * (double)r->bytes;
  l->mine = *link_free + n->latency;
  AMBIT_TRY(ambit__net_send(n->below, r->peer, tag, &l->mine, sizeof l->mine, &l->stamp));
  return ambit__net_send(n->below, r->peer, tag, bytes, r->bytes, &l->data);
}

static ambit_status slow_receive(ambit__net *net, int tag, void *bytes, ambit__request *r)
{
  slow_net *n = slow_of(net);
  letter *l = take_letter(n, r);

  if (!l) return AMBIT_ENOMEM;
  l->nstamps = 1;
  AMBIT_TRY(ambit__net_receive(n->below, r->peer, tag, l->stamps, sizeof *l->stamps, &l->stamp));
  return ambit__net_receive(n->below, r->peer, tag, bytes, r->bytes, &l->data);
}

static ambit_status slow_gather(ambit__net *net, const void *mine, void *all, ambit__request *r)
{
  slow_net *n = slow_of(net);
  letter *l = take_letter(n, r);

  if (!l) return AMBIT_ENOMEM;
  l->mine = now(n);
  l->nstamps = net->size;
  l->more = n->rounds * n->latency + n->per_byte * (double)r->bytes * (net->size - 1);
  AMBIT_TRY(ambit__net_gather_begin(n->below, &l->mine, sizeof l->mine, l->stamps, &l->stamp));
  return ambit__net_gather_begin(n->below, mine, r->bytes, all, &l->data);
}

static ambit_status slow_broadcast(ambit__net *net, int from, void *bytes, ambit__request *r)
{
  slow_net *n = slow_of(net);
  letter *l = take_letter(n, r);

  if (!l) return AMBIT_ENOMEM;
  l->stamps[0] = now(n);
  l->nstamps = 1;
  l->more = n->rounds * (n->latency + n->per_byte * (double)r->bytes);
  AMBIT_TRY(ambit__net_broadcast_begin(n->below, from, l->stamps, sizeof *l->stamps, &l->stamp));
  return ambit__net_broadcast_begin(n->below, from, bytes, r->bytes, &l->data);
}

static ambit_status slow_test(ambit__net *net, ambit__request *r)
{
  slow_net *n = slow_of(net);
  letter *l = (letter *)r->handle;
  bool stamped = false, there = false;
  ambit_status s = ambit__net_test(n->below, &l->stamp, &stamped);

  if (!s) s = ambit__net_test(n->below, &l->data, &there);
  if (s)
    r->active = false; /* the letter may still be written to: it is not used again */
  else if (stamped && there && (!l->nstamps || now(n) >= arrival(l)))
    put_back(n, r);
  return s;
}

static bool slow_withdraw(ambit__net *net, ambit__request *r)
{
  slow_net *n = slow_of(net);
  letter *l = (letter *)r->handle;

  if (!r->receives || !l->stamp.active) return false; /* what follows a stamp comes */
  ambit__net_cancel(n->below, &l->data, 1);
  ambit__net_cancel(n->below, &l->stamp, 1);
  put_back(n, r);
  return true;
}

static void slow_poll(ambit__net *net)
{
  ambit__net_poll(slow_of(net)->below);
}

static void slow_call(ambit__net *net)
{
  slow_of(net)->below->kind->call(slow_of(net)->below);
}

static bool slow_called(ambit__net *net)
{
  return slow_of(net)->below->kind->called(slow_of(net)->below);
}

/* All letters are free then. */
static bool slow_settle(ambit__net *net, double deadline)
{
  slow_net *n = slow_of(net);

  if (!n->below->kind->settle(n->below, deadline)) return false;
  ambit__net_forget(n->below);
  n->free = n->all;
  for (letter *l = n->all; l; l = l->all)
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
    letter *l = n->all;

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
    .call = slow_call,
    .called = slow_called,
    .settle = slow_settle,
    .abort = slow_abort,
};

/* ---- clocks ---- */

static ambit_status say(ambit__net *net, int to, double *clock)
{
  ambit__request r;

  *clock = ambit__clock();
  AMBIT_TRY(ambit__net_send(net, to, 0, clock, sizeof *clock, &r));
  return ambit__net_wait(net, &r, 1);
}

static ambit_status hear(ambit__net *net, int from, double *clock)
{
  ambit__request r;

  AMBIT_TRY(ambit__net_receive(net, from, 0, clock, sizeof *clock, &r));
  return ambit__net_wait(net, &r, 1);
}

/* Process 0 answers each of the others with its time, which was that of the middle between question and answer. */
static ambit_status compare_clocks(slow_net *n)
{
  double quickest = INFINITY, mine, theirs;

  for (int i = 0; n->base.rank == 0 && i < GREETINGS * (n->base.size - 1); i++) {
    AMBIT_TRY(hear(n->below, 1 + i / GREETINGS, &theirs));
    AMBIT_TRY(say(n->below, 1 + i / GREETINGS, &mine));
  }
  for (int i = 0; n->base.rank > 0 && i < GREETINGS; i++) {
    double took;

    AMBIT_TRY(say(n->below, 0, &mine));
    AMBIT_TRY(hear(n->below, 0, &theirs));
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
  AMBIT_CHECK(
      good, errors, AMBIT_EOPTION,
      "a network of %s: it must be a latency, a rate or both, such as 200us,1GB/s; units are s, "
      "ms, us, ns, and B/s, kB/s, MB/s, GB/s, Mbit/s, Gbit/s",
      speed);
  return AMBIT_OK;
}

static ambit_status wrap(ambit__net *below, double latency, double per_byte, slow_net **out)
{
  slow_net *n = *out = ambit__new(below->errors, 1, sizeof *n);

  if (!n) return AMBIT_ENOMEM;
  n->base = *below;
  n->base.kind = &slow;
  n->base.under_way = NULL;
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
  snprintf(doing, sizeof doing, "its network is '%s'", speed);
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
