/* SPDX-License-Identifier: BSD-3-Clause */
/* share.c - items of a stream for workers of other processes.
 *
 * Process 0 reads and writes. Its calling thread takes items from the pipeline for the other
 * processes, each of which has as many outstanding as its own pipeline has places, so that faster
 * processes take more. Results of a process come back in the order in which it got the items. A
 * message is the head of a place, which has the number of the item, and its bytes.
 */
#define _XOPEN_SOURCE 700 /* nanosleep */
#include "base/memory.h"
#include "skeleton/stream.h"

#include <stdlib.h>
#include <time.h>

enum { TAG_ITEM = 1, TAG_RESULT = 2, NAP_NS = 50000 };

/* The head of a message. */
typedef struct head {
  int64_t item; /* -1: there are no more */
  int64_t failed;
} head;

static head *head_of(unsigned char *bytes)
{
  return (head *)(void *)(bytes - AMBIT__PIPELINE_HEAD);
}

static void nap(void)
{
  nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
}

/* ---- process 0 ---- */

/* An item that another process has. */
typedef struct loan {
  ambit__pipeline_place *place;
  ambit__request send, receive;
} loan;

/* Another process: a ring of loans, the oldest first. */
typedef struct peer {
  int rank, most;        /* its rank; the most loans */
  int64_t lent, settled; /* so far */
  loan *loans;           /* owned */
  bool over;             /* it was told that there are no more items */
  ambit__request farewell;
} peer;

typedef struct market {
  ambit__net *net;
  ambit__pipeline *pipeline;
  size_t in_bytes, out_bytes; /* of messages, with their heads */
  peer *peers;
  int n;
  unsigned char *last; /* the message that ends a process; owned */
} market;

static ambit_status lend(market *m, peer *p, bool *moved)
{
  loan *l = &p->loans[p->lent % p->most];

  if (p->lent - p->settled == p->most) return AMBIT_OK;
  l->place = ambit__pipeline_take(m->pipeline, false);
  if (!l->place) return AMBIT_OK;
  *head_of(l->place->in) = (head){.item = l->place->item};
  *moved = true;
  p->lent++;
  AMBIT_TRY(ambit__net_receive(m->net, p->rank, TAG_RESULT, head_of(l->place->out), m->out_bytes,
                               &l->receive));
  return ambit__net_send(m->net, p->rank, TAG_ITEM, head_of(l->place->in), m->in_bytes, &l->send);
}

static ambit_status settle(market *m, peer *p, bool *moved)
{
  loan *l = &p->loans[p->settled % p->most];
  bool sent, received;

  if (p->settled == p->lent) return AMBIT_OK;
  AMBIT_TRY(ambit__net_test(m->net, &l->send, &sent));
  AMBIT_TRY(ambit__net_test(m->net, &l->receive, &received));
  if (!sent || !received) return AMBIT_OK;
  *moved = true;
  p->settled++;
  if (head_of(l->place->out)->failed) {
    const ambit__errors none = {0}; /* the process has the error itself, and passes it on */

    ambit__pipeline_fail(m->pipeline, l->place, &none);
  } else {
    ambit__pipeline_done(m->pipeline, l->place);
  }
  return AMBIT_OK;
}

static ambit_status say_farewell(market *m, peer *p)
{
  if (p->over || p->lent != p->settled || !ambit__pipeline_over(m->pipeline)) return AMBIT_OK;
  p->over = true;
  return ambit__net_send(m->net, p->rank, TAG_ITEM, m->last, m->in_bytes, &p->farewell);
}

static ambit_status trade(market *m)
{
  int over = 0;

  while (over < m->n) {
    bool moved = false;

    over = 0;
    for (int i = 0; i < m->n; i++) {
      peer *p = &m->peers[i];

      AMBIT_TRY(settle(m, p, &moved));
      AMBIT_TRY(lend(m, p, &moved));
      AMBIT_TRY(say_farewell(m, p));
      over += p->over;
    }
    AMBIT_TRY(ambit__net_listen(m->net));
    if (!moved) nap();
  }
  for (int i = 0; i < m->n; i++)
    AMBIT_TRY(ambit__net_wait(m->net, &m->peers[i].farewell, 1));
  return AMBIT_OK;
}

/* `places`: of the pipeline of each process. */
static ambit_status open_market(ambit__errors *errors, market *m, const int *places)
{
  m->n = m->net->size - 1;
  m->last = ambit__new(errors, m->in_bytes, 1);
  m->peers = ambit__new(errors, (size_t)m->n, sizeof *m->peers);
  if (!m->last || !m->peers) return AMBIT_ENOMEM;
  ((head *)(void *)m->last)->item = -1;
  for (int i = 0; i < m->n; i++) {
    m->peers[i].rank = i + 1;
    m->peers[i].most = places[i + 1];
    AMBIT_NEW(errors, m->peers[i].loans, (size_t)places[i + 1]);
  }
  return AMBIT_OK;
}

static void close_market(market *m)
{
  for (int i = 0; m->peers && i < m->n; i++)
    free(m->peers[i].loans);
  free(m->peers);
  free(m->last);
}

/* ---- the others ---- */

typedef struct customer {
  ambit__net *net;
  ambit__pipeline *pipeline;
  size_t in_bytes, out_bytes;
  bool receiving, sending, over;
  ambit__request receive, send;
} customer;

static ambit_status receive(customer *c, bool *moved)
{
  ambit__pipeline_place *p = c->over ? NULL : ambit__pipeline_empty(c->pipeline);
  bool done;

  if (!p) return AMBIT_OK;
  if (!c->receiving)
    AMBIT_TRY(ambit__net_receive(c->net, 0, TAG_ITEM, head_of(p->in), c->in_bytes, &c->receive));
  c->receiving = true;
  AMBIT_TRY(ambit__net_test(c->net, &c->receive, &done));
  if (!done) return AMBIT_OK;
  *moved = true;
  c->receiving = false;
  c->over = head_of(p->in)->item < 0;
  if (c->over)
    ambit__pipeline_end(c->pipeline);
  else
    ambit__pipeline_put(c->pipeline, head_of(p->in)->item);
  return AMBIT_OK;
}

static ambit_status send(customer *c, bool *moved)
{
  ambit__pipeline_place *p = ambit__pipeline_result(c->pipeline);
  bool done;

  if (!p) return AMBIT_OK;
  if (!c->sending) {
    *head_of(p->out) = (head){p->item, p->failed};
    AMBIT_TRY(ambit__net_send(c->net, 0, TAG_RESULT, head_of(p->out), c->out_bytes, &c->send));
  }
  c->sending = true;
  AMBIT_TRY(ambit__net_test(c->net, &c->send, &done));
  if (!done) return AMBIT_OK;
  *moved = true;
  c->sending = false;
  ambit__pipeline_clear(c->pipeline);
  return AMBIT_OK;
}

static ambit_status work(customer *c)
{
  while (!c->over || !ambit__pipeline_is_empty(c->pipeline)) {
    bool moved = false;

    AMBIT_TRY(receive(c, &moved));
    AMBIT_TRY(send(c, &moved));
    AMBIT_TRY(ambit__net_listen(c->net));
    if (!moved) nap();
  }
  return AMBIT_OK;
}

/* ---- all ---- */

static ambit_status share(const ambit_stream *s, ambit__workers *w, const int *places)
{
  ambit__net *net = s->grid->context->net;
  const size_t in = AMBIT__PIPELINE_HEAD + w->job->form.in_bytes;
  const size_t out = AMBIT__PIPELINE_HEAD + w->job->form.out_bytes;
  customer c = {.net = net, .pipeline = w->pipeline, .in_bytes = in, .out_bytes = out};
  market m = {.net = net, .pipeline = w->pipeline, .in_bytes = in, .out_bytes = out};
  ambit_status status;

  if (net->rank) return work(&c);
  status = open_market(&s->grid->context->errors, &m, places);
  status = status ? ambit__net_stop(net) : trade(&m);
  close_market(&m);
  return status;
}

ambit_status ambit__stream_share(const ambit_stream *s, ambit__workers *w)
{
  ambit *a = s->grid->context;
  int *places = ambit__new(&a->errors, (size_t)a->net->size, sizeof *places);
  ambit_status status = ambit__meet(a, "shares the items of a stream");

  if (!status) status = ambit__net_gather(a->net, &w->pipeline->n, sizeof *places, places);
  if (!status) status = share(s, w, places);
  if (status) ambit__pipeline_break(w->pipeline, &a->errors);
  free(places);
  return status;
}
