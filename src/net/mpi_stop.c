/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_stop.c - stops all processes, wherever they are, with no request left pending.
 *
 * MPI cannot cancel a send or a collective operation: they must be matched. Every process therefore
 * counts messages sent to and received from each other process, and collective operations begun. A
 * process that fails sends a stop signal to all others on a separate communicator; a process that
 * receives it cancels its receives. Then all processes exchange their counts. Messages without a
 * receive are received and discarded, and processes that are behind in collective operations begin
 * the ones they missed. Afterwards no communicator has pending operations.
 */
#include "net/mpi_net.h"

#include "base/clock.h"
#include "base/memory.h"

#include <sched.h>
#include <stdlib.h>

/* A collective operation begun only to match the other processes. */
typedef struct match {
  MPI_Request request;
  char *bytes; /* send and receive buffer; owned */
} match;

typedef struct stop {
  mpi_net *n;
  double deadline;
  int64_t most; /* largest count of collective operations ... */
  int ahead;    /* ... and the rank that has it */
  match matches[MPI_NET_LOG];
  int nmatches;
} stop;

void ambit__mpi_log(mpi_net *n, int from, size_t bytes)
{
  n->log[n->ncollectives++ % MPI_NET_LOG] = (mpi_collective){.bytes = (int64_t)bytes, .from = from};
}

bool ambit__mpi_cancel(mpi_net *n, ambit__request *r)
{
  MPI_Request handle = ambit__mpi_kept(r);
  MPI_Status st;
  int cancelled = 0;

  if (MPI_Cancel(&handle) != MPI_SUCCESS) return false;
  MPI_Wait(&handle, &st);
  MPI_Test_cancelled(&st, &cancelled);
  if (!cancelled) n->received[r->peer]++; /* completed before it was cancelled */
  r->active = false;
  return true;
}

/* ---- stop signals ---- */

void ambit__mpi_signal_stop(ambit__net *net)
{
  mpi_net *n = (mpi_net *)net;

  n->has_signalled = true;
  for (int p = 0; p < net->size; p++) {
    MPI_Request r;

    if (p != net->rank && MPI_Isend(NULL, 0, MPI_BYTE, p, 0, n->control, &r) == MPI_SUCCESS)
      MPI_Request_free(&r);
  }
}

bool ambit__mpi_stop_signalled(ambit__net *net)
{
  int there = 0;

  MPI_Iprobe(MPI_ANY_SOURCE, 0, ((mpi_net *)net)->control, &there, MPI_STATUS_IGNORE);
  return there;
}

/* ---- waiting processes ---- */

enum { TAG_STOP, TAG_WAITING };

/* The message has no buffer of its own to wait for: it is small, and the number stays valid. */
void ambit__mpi_say_waiting(ambit__net *net)
{
  mpi_net *n = (mpi_net *)net;

  n->waits_in = n->ncollectives;
  for (int p = 0; p < net->size; p++) {
    MPI_Request r;

    if (p != net->rank &&
        MPI_Isend(&n->waits_in, 1, MPI_INT64_T, p, TAG_WAITING, n->control, &r) == MPI_SUCCESS)
      MPI_Request_free(&r);
  }
}

/* Takes all that it said; older ones are of waits that have ended. */
bool ambit__mpi_is_waiting(ambit__net *net, int rank)
{
  mpi_net *n = (mpi_net *)net;
  int64_t in = -1;
  int there = 1;

  while (there) {
    there = 0;
    MPI_Iprobe(rank, TAG_WAITING, n->control, &there, MPI_STATUS_IGNORE);
    if (there) MPI_Recv(&in, 1, MPI_INT64_T, rank, TAG_WAITING, n->control, MPI_STATUS_IGNORE);
  }
  return in >= n->ncollectives;
}

/* ---- waiting, with a deadline ---- */

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
    n->counts_out[p * NCOUNTS + COUNT_SENT] = n->sent[p];
    n->counts_out[p * NCOUNTS + COUNT_COLLECTIVES] = n->ncollectives;
    n->counts_out[p * NCOUNTS + COUNT_SIGNAL] = n->has_signalled;
  }
  if (MPI_Ialltoall(n->counts_out, NCOUNTS, MPI_INT64_T, n->counts_in, NCOUNTS, MPI_INT64_T,
                    n->control, &r) != MPI_SUCCESS ||
      !wait_for(s, r))
    return false;
  for (int p = 0; p < n->base.size; p++) {
    if (n->counts_in[p * NCOUNTS + COUNT_COLLECTIVES] <= s->most) continue;
    s->most = n->counts_in[p * NCOUNTS + COUNT_COLLECTIVES];
    s->ahead = p;
  }
  return true;
}

/* Receives all stop signals sent to this process. */
static void receive_signals(const stop *s)
{
  mpi_net *n = s->n;

  for (int p = 0; p < n->base.size; p++)
    if (p != n->base.rank && n->counts_in[p * NCOUNTS + COUNT_SIGNAL])
      MPI_Recv(NULL, 0, MPI_BYTE, p, 0, n->control, MPI_STATUS_IGNORE);
  n->has_signalled = false;
}

/* ---- collective operations ---- */

static bool match_collective(stop *s, const mpi_collective *m)
{
  mpi_net *n = s->n;
  match *v = &s->matches[s->nmatches];
  mpi_extent e;
  int code;

  v->bytes = ambit__new(NULL, (size_t)n->base.size + 1, (size_t)m->bytes + 1);
  if (!v->bytes || ambit__mpi_extent(&n->base, (size_t)m->bytes, &e)) return false;
  s->nmatches++;
  code = m->from < 0 ? MPI_Iallgather(v->bytes + m->bytes * n->base.size, e.count, e.type, v->bytes,
                                      e.count, e.type, n->comm, &v->request)
                     : MPI_Ibcast(v->bytes, e.count, e.type, (int)m->from, n->comm, &v->request);
  if (e.made) MPI_Type_free(&e.type);
  ambit__mpi_log(n, (int)m->from, (size_t)m->bytes);
  return code == MPI_SUCCESS;
}

/* Begins the missed collective operations; the process with the largest count broadcasts its
 * log. */
static bool catch_up(stop *s)
{
  mpi_net *n = s->n;
  mpi_collective log[MPI_NET_LOG];
  MPI_Request r;

  memcpy(log, n->log, sizeof log);
  if (MPI_Ibcast(log, (int)sizeof log, MPI_BYTE, s->ahead, n->control, &r) != MPI_SUCCESS ||
      !wait_for(s, r) || s->most - n->ncollectives > MPI_NET_LOG)
    return false;
  while (n->ncollectives < s->most)
    if (!match_collective(s, &log[n->ncollectives % MPI_NET_LOG])) return false;
  for (int i = 0; i < s->nmatches; i++)
    if (!wait_for(s, s->matches[i].request)) return false;
  return true;
}

/* ---- messages ---- */

static void withdraw_receives(mpi_net *n)
{
  for (ambit__request *r = n->base.pending; r; r = r->next)
    if (r->receives) ambit__mpi_cancel(n, r);
}

/* Receives and discards the next message from a process. False: none has arrived, or out of
 * memory. */
static bool discard_message(mpi_net *n, int from)
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

/* Receives all messages sent to this process, and waits for its own sends. */
static bool drain(stop *s)
{
  mpi_net *n = s->n;

  for (int p = 0; p < n->base.size; p++)
    while (n->received[p] < n->counts_in[p * NCOUNTS + COUNT_SENT])
      if (!discard_message(n, p) && is_late(s)) return false;
  for (ambit__request *r = n->base.pending; r; r = r->next)
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
  if (good) receive_signals(&s);
  good = good && catch_up(&s) && drain(&s);
  for (int i = 0; i < s.nmatches; i++)
    free(s.matches[i].bytes);
  return good;
}
