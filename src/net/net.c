/* SPDX-License-Identifier: BSD-3-Clause */
/* net.c - common to all kinds of nets: argument checks, waiting, collective operations, errors. */
#include "net/net.h"

#include "base/clock.h"
#include "base/number.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

enum {
  SPINS = 1000,      /* tests before a waiting process yields its core */
  STOP_TIMEOUT = 10, /* seconds to wait for a cancelled message, and for all to stop */
  SILENCE = 10,      /* seconds after which a waiting process says so */
  ANSWER = 2,        /* more seconds after which it names the processes that do not wait */
  ERROR_DELAY = 2    /* seconds by which a report is deferred, to see who else has the error */
};

/* A process that waits. */
typedef struct silence {
  double since;   /* time; 0: it has just begun */
  bool is_called; /* the others were told */
  bool is_told;   /* the user was told */
} silence;

void ambit__net_close(ambit__net *net)
{
  if (net) net->kind->close(net);
}

/* ---- messages ---- */

static ambit_status check_peer(ambit__net *net, const char *what, int peer, int tag)
{
  AMBIT_CHECK(peer >= 0 && peer < net->size && peer != net->rank, net->errors, AMBIT_EINVAL,
              "process %d cannot %s process %d: it must be another one of the %d processes",
              net->rank, what, peer, net->size);
  AMBIT_CHECK(tag >= 0 && tag < AMBIT__NET_TAGS, net->errors, AMBIT_EINVAL,
              "a message has the tag %d; it must be 0 to %d", tag, AMBIT__NET_TAGS - 1);
  return AMBIT_OK;
}

/* A message of this process failed, and the others may be anywhere: all stop, with its error. */
static ambit_status failed(ambit__net *net, ambit_status s)
{
  return net->stopping ? s : ambit__net_stop(net);
}

/* A request that did not begin is inactive. */
static ambit_status begun(ambit__net *net, ambit__request *r, ambit_status s)
{
  if (s) r->active = false;
  if (r->active) ambit__request_enter(net, r);
  return s ? failed(net, s) : AMBIT_OK;
}

ambit_status ambit__net_send(ambit__net *net, int to, int tag, const void *bytes, size_t n,
                             ambit__request *r)
{
  *r = (ambit__request){0};
  AMBIT_TRY(check_peer(net, "send to", to, tag));
  *r = (ambit__request){.active = true, .peer = to, .bytes = n};
  return begun(net, r, net->kind->send(net, tag, bytes, r));
}

ambit_status ambit__net_receive(ambit__net *net, int from, int tag, void *bytes, size_t n,
                                ambit__request *r)
{
  *r = (ambit__request){0};
  AMBIT_TRY(check_peer(net, "receive from", from, tag));
  *r = (ambit__request){.active = true, .receives = true, .peer = from, .bytes = n};
  return begun(net, r, net->kind->receive(net, tag, bytes, r));
}

/* Tests an active request. */
static ambit_status test(ambit__net *net, ambit__request *r)
{
  const ambit_status s = net->kind->test(net, r);

  if (!r->active) ambit__request_leave(r);
  return s ? failed(net, s) : AMBIT_OK;
}

ambit_status ambit__net_test(ambit__net *net, ambit__request *r, bool *is_done)
{
  if (r->active) AMBIT_TRY(test(net, r));
  *is_done = !r->active;
  return AMBIT_OK;
}

/* Names the processes that this one has waited for: the sender, or all that are not waiting too, as
 * far as they have said so. One of the waiting processes reports. */
static void name_silent(ambit__net *net, const ambit__request *r, double seconds)
{
  char list[200] = "";
  size_t at = 0;
  int first = -1; /* that waits */

  for (int p = 0; p < net->size; p++) {
    const bool waits = p == net->rank || (net->kind->is_waiting && net->kind->is_waiting(net, p));

    if (waits && first < 0) first = p;
    if (waits || (r->peer >= 0 && p != r->peer) || at > sizeof list - 20) continue;
    at += (size_t)snprintf(list + at, sizeof list - at, "%s%d", at ? ", " : "", p);
  }
  if (first != net->rank || !at) return;
  fprintf(stderr,
          "ambit: process %d of %d has waited %.0f s for process %s, which may be busy, stopped or "
          "unreachable\n",
          net->rank, net->size, seconds, list);
}

/* After a while, a waiting process tells the others that it waits; a little later, they know who
 * does not. */
static void watch_silence(ambit__net *net, const ambit__request *r, silence *s)
{
  const double now = ambit__clock();

  if (s->since == 0) s->since = now;
  if (now - s->since < SILENCE || s->is_told) return;
  if (!s->is_called) {
    if (net->kind->say_waiting) net->kind->say_waiting(net);
    s->is_called = true;
  }
  if (now - s->since < SILENCE + ANSWER) return;
  name_silent(net, r, now - s->since);
  s->is_told = true;
}

/* There may be more processes than cores: a waiting process must not block the one it waits for. */
static ambit_status wait_one(ambit__net *net, ambit__request *r)
{
  silence s = {0};

  for (int64_t tries = 1; r->active; tries++) {
    AMBIT_TRY(test(net, r));
    if (!r->active || tries % SPINS) continue;
    AMBIT_TRY(ambit__net_listen(net));
    watch_silence(net, r, &s);
    sched_yield();
  }
  return AMBIT_OK;
}

ambit_status ambit__net_wait(ambit__net *net, ambit__request *r, size_t n)
{
  for (size_t i = 0; i < n; i++)
    AMBIT_TRY(wait_one(net, &r[i]));
  return AMBIT_OK;
}

void ambit__net_cancel(ambit__net *net, ambit__request *r, size_t n)
{
  const double deadline = ambit__clock() + STOP_TIMEOUT;

  for (size_t i = 0; i < n; i++) {
    if (!r[i].active) continue;
    if (net->kind->withdraw(net, &r[i])) {
      ambit__request_leave(&r[i]);
      continue;
    }
    while (r[i].active && !test(net, &r[i])) {
      if (ambit__clock() > deadline)
        ambit__net_abort(net, "a cancelled message was not received by the other process");
      sched_yield();
    }
  }
}

void ambit__net_poll(ambit__net *net)
{
  net->kind->poll(net);
}

/* ---- collective operations ---- */

ambit_status ambit__net_gather_begin(ambit__net *net, const void *mine, size_t n, void *all,
                                     ambit__request *r)
{
  *r = (ambit__request){.active = true, .peer = -1, .bytes = n};
  return begun(net, r, net->kind->gather(net, mine, all, r));
}

ambit_status ambit__net_gather(ambit__net *net, const void *mine, size_t n, void *all)
{
  ambit__request r;

  AMBIT_TRY(ambit__net_gather_begin(net, mine, n, all, &r));
  return wait_one(net, &r);
}

ambit_status ambit__net_broadcast_begin(ambit__net *net, int from, void *bytes, size_t n,
                                        ambit__request *r)
{
  *r = (ambit__request){0};
  AMBIT_CHECK(from >= 0 && from < net->size, net->errors, AMBIT_EINVAL,
              "process %d cannot broadcast: there are only %d processes", from, net->size);
  *r = (ambit__request){.active = true, .peer = -1, .bytes = n};
  return begun(net, r, net->kind->broadcast(net, from, bytes, r));
}

ambit_status ambit__net_broadcast(ambit__net *net, int from, void *bytes, size_t n)
{
  ambit__request r;

  AMBIT_TRY(ambit__net_broadcast_begin(net, from, bytes, n, &r));
  return wait_one(net, &r);
}

ambit_status ambit__net_barrier(ambit__net *net)
{
  const char here = 0;

  if (net->size == 1) return AMBIT_OK;
  return ambit__net_gather(net, &here, 1,
                           net->room); /* complete when every process has called it */
}

/* ---- agreement ---- */

enum {
  MESSAGE_BYTES = 1 << 16, /* maximum bytes of an error message that are sent */
  DOING_BYTES = 120,       /* bytes of `doing` */
  FOLDED = 8               /* values of a reduction per agreement */
};

/* The state of a process in an agreement. */
typedef struct verdict {
  int32_t status;
  uint32_t length; /* of the error message, without the terminating zero */
  char doing[DOING_BYTES];
  double values[FOLDED]; /* to be reduced */
  double number;         /* to be compared; 0: there is none */
} verdict;

/* The room of a net: a verdict of every process, and an error message. */
size_t ambit__net_room(int size)
{
  return (size_t)size * sizeof(verdict) + MESSAGE_BYTES + 1;
}

static char *message_room(const ambit__net *net)
{
  return (char *)((verdict *)net->room + net->size);
}

static const char *own_message(const ambit__errors *e)
{
  return e->text ? e->text : ambit_status_text(e->status);
}

static verdict own_verdict(const ambit__errors *e, const char *doing)
{
  const size_t length = strlen(own_message(e));
  verdict v = {.status = (int32_t)e->status,
               .length = (uint32_t)(length < MESSAGE_BYTES ? length : MESSAGE_BYTES)};

  snprintf(v.doing, sizeof v.doing, "%s", doing);
  return v;
}

/* Gathers the states. A deferred error is reported when the others do not arrive within
 * ERROR_DELAY, since they may never do. */
static ambit_status gather_verdicts(ambit__net *net, const verdict *mine, verdict *all)
{
  const double deadline = ambit__clock() + ERROR_DELAY;
  ambit__request r;

  AMBIT_TRY(ambit__net_gather_begin(net, mine, sizeof *mine, all, &r));
  while (r.active && net->errors->untold) {
    AMBIT_TRY(test(net, &r));
    if (!r.active) break;
    if (ambit__clock() > deadline) ambit__errors_tell(net->errors);
    AMBIT_TRY(ambit__net_listen(net));
    sched_yield();
  }
  return wait_one(net, &r);
}

/* A process does not report an error that an earlier one has too, nor one it only receives. */
static void adopt_message(ambit__net *net, int who, ambit_status status, const char *message)
{
  ambit__errors *e = net->errors;
  const bool waits = e->waits;

  if (e->status && who < net->rank && !strcmp(own_message(e), message)) e->untold = false;
  if (e->status) ambit__errors_tell(e);
  e->waits = true;
  if (!e->status) ambit__raise(e, status, "process %d of %d: %s", who, net->size, message);
  e->waits = waits;
  e->untold = false;
  e->agreed = true;
}

/* Process `who` broadcasts its error message; processes without an error of their own raise it. */
static ambit_status adopt_error(ambit__net *net, int who, const verdict *v)
{
  const ambit_status status = (ambit_status)v->status;
  char *message = message_room(net);

  if (who == net->rank) memcpy(message, own_message(net->errors), v->length);
  message[v->length] = '\0';
  AMBIT_TRY(ambit__net_broadcast(net, who, message, v->length));
  adopt_message(net, who, status, message);
  return status;
}

/* All processes are here without an error: are they about to do the same? */
static ambit_status compare(ambit__net *net, const verdict *all)
{
  int who = 1;

  while (who < net->size && !strcmp(all[0].doing, all[who].doing))
    who++;
  if (who == net->size) return AMBIT_OK;
  ambit__raise(
      net->errors, AMBIT_EPROGRAM,
      "process %d %s, but process 0 %s; all processes must make the same calls in the same order",
      who, *all[who].doing ? all[who].doing : "continues",
      *all[0].doing ? all[0].doing : "continues");
  net->errors->untold = false; /* process 0 never defers, and has reported it */
  net->errors->agreed = true;
  return AMBIT_EPROGRAM;
}

/* The first process with another number than process 0; 0: none has, or some have no number. */
static int find_other(const ambit__net *net, const verdict *all)
{
  int who = 0;

  for (int r = 0; r < net->size; r++)
    if (all[r].number == 0) return 0;
  for (int r = 1; r < net->size && !who; r++)
    if (!ambit__number_same(all[r].number, all[0].number)) who = r;
  return who;
}

/* A process has closed its context and comes no more: nobody waits for it. */
static ambit_status go_without(ambit__net *net, const verdict *mine)
{
  if (net->errors->status || !strcmp(mine->doing, AMBIT__NET_CLOSES)) return net->errors->status;
  ambit__raise(net->errors, AMBIT_EPROGRAM,
               "process %d has closed its context: process %d %s alone", net->gone - 1, net->rank,
               *mine->doing ? mine->doing : "continues");
  net->errors->agreed = true;
  return AMBIT_EPROGRAM;
}

/* Processes that close together go on to agree on their files. */
static void note_gone(ambit__net *net, const verdict *all)
{
  int closing = 0, who = 0;

  for (int r = net->size - 1; r >= 0; r--)
    if (!strcmp(all[r].doing, AMBIT__NET_CLOSES)) {
      closing++;
      who = r;
    }
  if (closing && closing < net->size) net->gone = who + 1;
}

/* Leaves the verdicts of all processes in the room of the net. After they have agreed on an error
 * they do not meet again: the process that failed may have skipped agreements that the others were
 * about to come to. */
static ambit_status agree(ambit__net *net, const verdict *mine)
{
  verdict *all = net->room;
  int who = 0;

  if (net->size == 1 || net->errors->agreed) return net->errors->status;
  if (net->gone) return go_without(net, mine);
  AMBIT_TRY(gather_verdicts(net, mine, all));
  note_gone(net, all);
  while (who < net->size - 1 && !all[who].status)
    who++;
  if (all[who].status) return adopt_error(net, who, &all[who]);
  return find_other(net, all) ? AMBIT_OK : compare(net, all);
}

ambit_status ambit__net_agree_on(ambit__net *net, const char *doing)
{
  const verdict mine = own_verdict(net->errors, doing);

  return agree(net, &mine);
}

ambit_status ambit__net_agree_on_number(ambit__net *net, const char *doing, double number, int *who)
{
  verdict mine = own_verdict(net->errors, doing);

  mine.number = number;
  *who = 0;
  AMBIT_TRY(agree(net, &mine));
  if (net->size > 1) *who = find_other(net, net->room);
  return AMBIT_OK;
}

ambit_status ambit__net_agree(ambit__net *net)
{
  return ambit__net_agree_on(net, "");
}

/* ---- reductions ---- */

typedef double fold_fn(double a, double b);

static double add(double a, double b)
{
  return a + b;
}

/* Reduces at most FOLDED values. */
static ambit_status fold_few(ambit__net *net, double *values, size_t n, fold_fn *fold)
{
  const verdict *all = net->room;
  verdict mine = own_verdict(net->errors, "");

  memcpy(mine.values, values, n * sizeof *values);
  AMBIT_TRY(agree(net, &mine));
  if (net->size == 1) return AMBIT_OK;
  for (size_t i = 0; i < n; i++) {
    values[i] = all[0].values[i];
    for (int r = 1; r < net->size; r++)
      values[i] = fold(values[i], all[r].values[i]);
  }
  return AMBIT_OK;
}

static ambit_status fold_numbers(ambit__net *net, double *values, size_t n, fold_fn *fold)
{
  for (size_t i = 0; i < n; i += FOLDED)
    AMBIT_TRY(fold_few(net, values + i, n - i < FOLDED ? n - i : FOLDED, fold));
  return AMBIT_OK;
}

static ambit_status fold_flags(ambit__net *net, bool *values, size_t n, fold_fn *fold)
{
  for (size_t i = 0; i < n; i += FOLDED) {
    const size_t few = n - i < FOLDED ? n - i : FOLDED;
    double numbers[FOLDED];

    for (size_t k = 0; k < few; k++)
      numbers[k] = values[i + k];
    AMBIT_TRY(fold_few(net, numbers, few, fold));
    for (size_t k = 0; k < few; k++)
      values[i + k] = numbers[k] != 0;
  }
  return AMBIT_OK;
}

ambit_status ambit__net_all(ambit__net *net, bool *values, size_t n)
{
  return fold_flags(net, values, n, fmin);
}

ambit_status ambit__net_any(ambit__net *net, bool *values, size_t n)
{
  return fold_flags(net, values, n, fmax);
}

ambit_status ambit__net_max(ambit__net *net, double *values, size_t n)
{
  return fold_numbers(net, values, n, fmax);
}

ambit_status ambit__net_sum(ambit__net *net, double *values, size_t n)
{
  return fold_numbers(net, values, n, add);
}

/* ---- stopping ---- */

/* All processes stop here, or the run is aborted. */
static ambit_status stop_all(ambit__net *net)
{
  ambit_status s;

  net->stopping = true;
  if (!net->kind->settle(net, ambit__clock() + STOP_TIMEOUT))
    ambit__net_abort(net, net->errors->status
                              ? own_message(net->errors)
                              : "another process failed, and not all processes stopped in time");
  ambit__net_forget(net);
  s = ambit__net_agree(net);
  if (s && !net->errors->agreed) ambit__net_abort(net, own_message(net->errors));
  net->stopping = false;
  return s;
}

ambit_status ambit__net_stop(ambit__net *net)
{
  if (net->size == 1 || net->errors->agreed) return net->errors->status;
  net->kind->signal_stop(net);
  return stop_all(net);
}

ambit_status ambit__net_listen(ambit__net *net)
{
  if (net->size == 1 || net->stopping || !net->kind->stop_signalled(net)) return AMBIT_OK;
  return stop_all(net);
}

void ambit__net_abort(ambit__net *net, const char *why)
{
  if (strcmp(why, own_message(net->errors))) ambit__errors_tell(net->errors);
  fprintf(stderr, "ambit: process %d of %d: %s\n", net->rank, net->size, why);
  net->kind->abort(net);
}
