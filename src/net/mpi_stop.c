/* mpi_stop.c - bringing all processes to a stop, wherever they are, with nothing left under way.
 *
 * MPI has no way to give up a message that was sent or a collective call that was begun: they must be met. So everyone counts:
 * messages sent to each process and taken from each, and collective calls. Who fails calls all others, on a communicator that
 * is for nothing else; who hears that withdraws what it waits for. Then all tell each other their counts. Messages that
 * nobody waits for any more are taken and thrown away, and who is behind in collective calls makes those that the others
 * have begun. When all of that is done, both communicators are quiet.
 */
#include "net/mpi_net.h"

#include "base/clock.h"
#include "base/memory.h"

#include <sched.h>
#include <stdlib.h>

/* A collective call made for the others' sake. */
typedef struct visit {
  MPI_Request request;
  char *bytes; /* given and taken; owned */
} visit;

typedef struct stop {
  mpi_net *n;
  double deadline;
  int64_t most; /* collective calls of who made most of them ... */
  int ahead;    /* ... and who did */
  visit visits[MPI_NET_LOG];
  int nvisits;
} stop;

void ambit__mpi_log(mpi_net *n, int from, size_t bytes)
{
  n->log[n->meetings++ % MPI_NET_LOG] = (mpi_meeting){.bytes = (int64_t)bytes, .from = from};
}

bool ambit__mpi_cancel(mpi_net *n, ambit__request *r)
{
  MPI_Request handle = ambit__mpi_kept(r);
  MPI_Status st;
  int cancelled = 0;

  if (MPI_Cancel(&handle) != MPI_SUCCESS) return false;
  MPI_Wait(&handle, &st);
  MPI_Test_cancelled(&st, &cancelled);
  if (!cancelled) n->received[r->peer]++; /* it came just before */
  r->active = false;
  return true;
}

/* ---- calling ---- */

void ambit__mpi_call(ambit__net *net)
{
  mpi_net *n = (mpi_net *)net;

  n->has_called = true;
  for (int p = 0; p < net->size; p++) {
    MPI_Request r;

    if (p != net->rank && MPI_Isend(NULL, 0, MPI_BYTE, p, 0, n->calls, &r) == MPI_SUCCESS)
      MPI_Request_free(&r);
  }
}

bool ambit__mpi_called(ambit__net *net)
{
  int there = 0;

  MPI_Iprobe(MPI_ANY_SOURCE, 0, ((mpi_net *)net)->calls, &there, MPI_STATUS_IGNORE);
  return there;
}

/* ---- waiting, but not for ever ---- */

static bool is_late(const stop *s)
{
  sched_yield();
  return ambit__clock() > s->deadline;
}

static bool wait_for(const stop *s, MPI_Request r)
{
  int done = 0;

  for (;;) {
    if (MPI_Test(&r, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    if (done) return true;
    if (is_late(s)) return false;
  }
}

/* ---- the counts ---- */

static bool compare_counts(stop *s)
{
  mpi_net *n = s->n;
  MPI_Request r;

  for (int p = 0; p < n->base.size; p++) {
    n->said[p * MPI_NET_TOLD + TOLD_SENT] = n->sent[p];
    n->said[p * MPI_NET_TOLD + TOLD_MEETINGS] = n->meetings;
    n->said[p * MPI_NET_TOLD + TOLD_CALL] = n->has_called;
  }
  if (MPI_Ialltoall(n->said, MPI_NET_TOLD, MPI_INT64_T, n->told, MPI_NET_TOLD, MPI_INT64_T,
                    n->calls, &r) != MPI_SUCCESS ||
      !wait_for(s, r))
    return false;
  for (int p = 0; p < n->base.size; p++) {
    if (n->told[p * MPI_NET_TOLD + TOLD_MEETINGS] <= s->most) continue;
    s->most = n->told[p * MPI_NET_TOLD + TOLD_MEETINGS];
    s->ahead = p;
  }
  return true;
}

/* Everyone's call to this process is taken off the communicator. */
static void take_calls(const stop *s)
{
  mpi_net *n = s->n;

  for (int p = 0; p < n->base.size; p++)
    if (p != n->base.rank && n->told[p * MPI_NET_TOLD + TOLD_CALL])
      MPI_Recv(NULL, 0, MPI_BYTE, p, 0, n->calls, MPI_STATUS_IGNORE);
  n->has_called = false;
}

/* ---- collective calls ---- */

static bool visit_one(stop *s, const mpi_meeting *m)
{
  mpi_net *n = s->n;
  visit *v = &s->visits[s->nvisits];
  mpi_extent e;
  int code;

  v->bytes = ambit__new(NULL, (size_t)n->base.size + 1, (size_t)m->bytes + 1);
  if (!v->bytes || ambit__mpi_extent(&n->base, (size_t)m->bytes, &e)) return false;
  s->nvisits++;
  code = m->from < 0 ? MPI_Iallgather(v->bytes + m->bytes * n->base.size, e.count, e.type, v->bytes,
                                      e.count, e.type, n->comm, &v->request)
                     : MPI_Ibcast(v->bytes, e.count, e.type, (int)m->from, n->comm, &v->request);
  if (e.made) MPI_Type_free(&e.type);
  ambit__mpi_log(n, (int)m->from, (size_t)m->bytes);
  return code == MPI_SUCCESS;
}

/* Begins the collective calls that others have begun; who made most of them tells what they were. */
static bool catch_up(stop *s)
{
  mpi_net *n = s->n;
  mpi_meeting log[MPI_NET_LOG];
  MPI_Request r;

  memcpy(log, n->log, sizeof log);
  if (MPI_Ibcast(log, (int)sizeof log, MPI_BYTE, s->ahead, n->calls, &r) != MPI_SUCCESS ||
      !wait_for(s, r) || s->most - n->meetings > MPI_NET_LOG)
    return false;
  while (n->meetings < s->most)
    if (!visit_one(s, &log[n->meetings % MPI_NET_LOG])) return false;
  for (int i = 0; i < s->nvisits; i++)
    if (!wait_for(s, s->visits[i].request)) return false;
  return true;
}

/* ---- messages ---- */

static void withdraw_receives(mpi_net *n)
{
  for (ambit__request *r = n->base.under_way; r; r = r->next)
    if (r->receives) ambit__mpi_cancel(n, r);
}

/* Takes the next message of a process, and throws it away. False: it is not there yet, or there is no memory for it. */
static bool take_message(mpi_net *n, int from)
{
  int there = 0;
  MPI_Count bytes = 0;
  MPI_Status st;
  mpi_extent e;
  char *room;

  MPI_Iprobe(from, MPI_ANY_TAG, n->comm, &there, &st);
  if (!there) return false;
  MPI_Get_elements_x(&st, MPI_BYTE, &bytes);
  room = malloc((size_t)bytes + 1);
  if (!room || ambit__mpi_extent(&n->base, (size_t)bytes, &e)) {
    free(room);
    return false;
  }
  MPI_Recv(room, e.count, e.type, from, st.MPI_TAG, n->comm, MPI_STATUS_IGNORE);
  if (e.made) MPI_Type_free(&e.type);
  free(room);
  n->received[from]++;
  return true;
}

/* Takes what was sent to this process, and sees that what it sent is taken. */
static bool drain(stop *s)
{
  mpi_net *n = s->n;

  for (int p = 0; p < n->base.size; p++)
    while (n->received[p] < n->told[p * MPI_NET_TOLD + TOLD_SENT])
      if (!take_message(n, p) && is_late(s)) return false;
  for (ambit__request *r = n->base.under_way; r; r = r->next)
    if (r->active && !wait_for(s, ambit__mpi_kept(r))) return false;
  return true;
}

bool ambit__mpi_settle(ambit__net *net, double deadline)
{
  mpi_net *n = (mpi_net *)net;
  stop s = {.n = n, .deadline = deadline, .most = -1};
  bool good;

  withdraw_receives(n);
  good = compare_counts(&s);
  if (good) take_calls(&s);
  good = good && catch_up(&s) && drain(&s);
  for (int i = 0; i < s.nvisits; i++)
    free(s.visits[i].bytes);
  return good;
}
