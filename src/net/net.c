/* net.c - what all kinds of nets have in common: checks, waiting, and what processes do together. */
#include "net/net.h"

#include "base/clock.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

enum {
  SPINS = 1000,  /* tests before a waiting process lets others have the core */
  PATIENCE = 10, /* seconds to wait for a message that was given up, and for all to stop */
  HESITATION = 2 /* seconds for which an error is not told, to see who else has it */
};

void ambit__net_close(ambit__net *net)
{
  if (net) net->kind->close(net);
}

/* ---- messages ---- */

static ambit_status check_peer(ambit__net *net, const char *what, int peer, int tag)
{
  AMBIT_CHECK(peer >= 0 && peer < net->size && peer != net->rank, net->errors, AMBIT_EINVAL,
              "process %d cannot %s process %d: it must be another one of the %d there are",
              net->rank, what, peer, net->size);
  AMBIT_CHECK(tag >= 0 && tag < AMBIT__NET_TAGS, net->errors, AMBIT_EINVAL,
              "a message has the tag %d; it must be 0 to %d", tag, AMBIT__NET_TAGS - 1);
  return AMBIT_OK;
}

/* A request that did not begin is not active. */
static ambit_status begun(ambit__net *net, ambit__request *r, ambit_status s)
{
  if (s) r->active = false;
  if (r->active) ambit__request_enter(net, r);
  return s;
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

/* Looks at a request that is active. */
static ambit_status test(ambit__net *net, ambit__request *r)
{
  const ambit_status s = net->kind->test(net, r);

  if (!r->active) ambit__request_leave(r);
  return s;
}

ambit_status ambit__net_test(ambit__net *net, ambit__request *r, bool *is_done)
{
  if (r->active) AMBIT_TRY(test(net, r));
  *is_done = !r->active;
  return AMBIT_OK;
}

/* Processes may be more than cores: one that waits must not keep the one it waits for from running. */
static ambit_status wait_one(ambit__net *net, ambit__request *r)
{
  for (int64_t tries = 1; r->active; tries++) {
    AMBIT_TRY(test(net, r));
    if (!r->active || tries % SPINS) continue;
    AMBIT_TRY(ambit__net_listen(net));
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
  const double deadline = ambit__clock() + PATIENCE;

  for (size_t i = 0; i < n; i++) {
    if (!r[i].active) continue;
    if (net->kind->withdraw(net, &r[i])) {
      ambit__request_leave(&r[i]);
      continue;
    }
    while (r[i].active && !test(net, &r[i])) {
      if (ambit__clock() > deadline)
        ambit__net_abort(net, "a message that was given up was not received by the other process");
      sched_yield();
    }
  }
}

void ambit__net_poll(ambit__net *net)
{
  net->kind->poll(net);
}

/* ---- all together ---- */

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
              "process %d cannot broadcast: there are %d", from, net->size);
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
  return ambit__net_gather(net, &here, 1, net->room); /* done only when everyone has given */
}

/* ---- agreement ---- */

enum {
  STORY = 1 << 16, /* bytes of a story that are passed on at most */
  WORDS = 120,     /* bytes of what a process is doing */
  FOLDED = 8       /* values that are folded at once */
};

/* What a process says of itself. */
typedef struct verdict {
  int32_t status;
  uint32_t length; /* of the story, without its end */
  char doing[WORDS];
  double values[FOLDED]; /* to be folded */
} verdict;

/* The room of a net: a verdict of every process, and a story with its end. */
size_t ambit__net_room(int size)
{
  return (size_t)size * sizeof(verdict) + STORY + 1;
}

static char *story_room(const ambit__net *net)
{
  return (char *)((verdict *)net->room + net->size);
}

static const char *own_story(const ambit__errors *e)
{
  return e->text ? e->text : ambit_status_text(e->status);
}

static verdict own_verdict(const ambit__errors *e, const char *doing)
{
  const size_t length = strlen(own_story(e));
  verdict v = {.status = (int32_t)e->status, .length = (uint32_t)(length < STORY ? length : STORY)};

  snprintf(v.doing, sizeof v.doing, "%s", doing);
  return v;
}

/* Gathers. Whoever waits to tell of an error tells it when the others do not come: they may never. */
static ambit_status gather_verdicts(ambit__net *net, const verdict *mine, verdict *all)
{
  const double deadline = ambit__clock() + HESITATION;
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

/* A process that has an error like that of an earlier one need not tell it, nor one that only hears of it. */
static void take_story(ambit__net *net, int who, ambit_status status, const char *story)
{
  ambit__errors *e = net->errors;
  const bool waits = e->waits;

  if (e->status && who < net->rank && !strcmp(own_story(e), story)) e->untold = false;
  if (e->status) ambit__errors_tell(e);
  e->waits = true;
  if (!e->status) ambit__raise(e, status, "process %d of %d: %s", who, net->size, story);
  e->waits = waits;
  e->untold = false;
  e->agreed = true;
}

/* Takes over the error of process `who`: the others learn its story and, if they have none of their own, raise it. */
static ambit_status take_over(ambit__net *net, int who, const verdict *v)
{
  const ambit_status status = (ambit_status)v->status;
  char *story = story_room(net);

  if (who == net->rank) memcpy(story, own_story(net->errors), v->length);
  story[v->length] = '\0';
  AMBIT_TRY(ambit__net_broadcast(net, who, story, v->length));
  take_story(net, who, status, story);
  return status;
}

/* All have come here without an error: to do the same? */
static ambit_status compare(ambit__net *net, const verdict *all)
{
  int who = 1;

  while (who < net->size && !strcmp(all[0].doing, all[who].doing))
    who++;
  if (who == net->size) return AMBIT_OK;
  ambit__raise(net->errors, AMBIT_EPROGRAM,
               "process %d does something else than process 0: %s, and process 0: %s; all "
               "processes must make the same calls in the same order",
               who, *all[who].doing ? all[who].doing : "it goes on",
               *all[0].doing ? all[0].doing : "it goes on");
  net->errors->untold = false; /* process 0 never waits, and told the same */
  net->errors->agreed = true;
  return AMBIT_EPROGRAM;
}

/* Leaves the verdicts of all in the room of the net. Those who have agreed on an error do not meet again: one of them may have come
 * from further ahead, and is past the others' next agreement. */
static ambit_status agree(ambit__net *net, const verdict *mine)
{
  verdict *all = net->room;
  int who = 0;

  if (net->size == 1 || net->errors->agreed) return net->errors->status;
  AMBIT_TRY(gather_verdicts(net, mine, all));
  while (who < net->size - 1 && !all[who].status)
    who++;
  return all[who].status ? take_over(net, who, &all[who]) : compare(net, all);
}

ambit_status ambit__net_agree_on(ambit__net *net, const char *doing)
{
  const verdict mine = own_verdict(net->errors, doing);

  return agree(net, &mine);
}

ambit_status ambit__net_agree(ambit__net *net)
{
  return ambit__net_agree_on(net, "");
}

/* ---- folds ---- */

typedef double fold_fn(double a, double b);

static double add(double a, double b)
{
  return a + b;
}

/* Folds at most FOLDED values. */
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

/* ---- the end ---- */

/* All come here, or the run is ended. */
static ambit_status come_to_rest(ambit__net *net)
{
  ambit_status s;

  net->stopping = true;
  if (!net->kind->settle(net, ambit__clock() + PATIENCE))
    ambit__net_abort(net, net->errors->status
                              ? own_story(net->errors)
                              : "another process has failed, and not all have heard of it in time");
  ambit__net_forget(net);
  s = ambit__net_agree(net);
  net->stopping = false;
  return s;
}

ambit_status ambit__net_stop(ambit__net *net)
{
  if (net->size == 1) return net->errors->status;
  net->kind->call(net);
  return come_to_rest(net);
}

ambit_status ambit__net_listen(ambit__net *net)
{
  if (net->size == 1 || net->stopping || !net->kind->called(net)) return AMBIT_OK;
  return come_to_rest(net);
}

void ambit__net_abort(ambit__net *net, const char *why)
{
  if (strcmp(why, own_story(net->errors))) ambit__errors_tell(net->errors);
  fprintf(stderr, "ambit: process %d of %d: %s\n", net->rank, net->size, why);
  net->kind->abort(net);
}
