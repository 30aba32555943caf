/* SPDX-License-Identifier: BSD-3-Clause */
/* probe_gpu_mpi.c - tests whether MPI can send messages from device memory.
 *
 * Some MPI libraries accept addresses of CUDA memory, and some only claim to. So the library is
 * asked first and then tested: every process sends two messages to the next rank, one that fits
 * into a packet and one that does not, from device memory if it has any that MPI could accept, and
 * checks the data received from the previous rank. If the test fails on one process it fails on
 * all.
 */
#include "base/log.h"
#include "base/memory.h"
#include "runtime/objects/objects.h"

#include <stdlib.h>
#include <string.h>

typedef enum answer { NO, YES, NO_DEVICE } answer; /* the vote of a process */

static const int64_t sizes[] = {1 << 10, 3 << 20}; /* bytes of the test messages */

/* An engine whose messages have device addresses for MPI; NULL: none. */
static ambit__engine *direct_engine(ambit *a)
{
  for (int i = 0; i < a->nengines; i++) {
    ambit__device *dev = a->engines[i].device;
    ambit__message *m;
    bool able;

    if (!ambit__can(dev->backend, pack) || ambit__ask(dev, message_open, 1, &m)) continue;
    able = m->device_bytes != NULL;
    ambit__ask(dev, message_close, m);
    if (able) return &a->engines[i];
  }
  return NULL;
}

static void write_pattern(unsigned char *bytes, size_t n, int rank)
{
  for (size_t i = 0; i < n; i++)
    bytes[i] = (unsigned char)((i * 2654435761U >> 9) + 131U * (unsigned)rank);
}

/* ---- test message ---- */

/* Values in device memory, an outgoing and an incoming message, and buffers on the host. */
typedef struct probe {
  const ambit__engine *engine;
  ambit__store store;
  ambit__message *out, *in;
  unsigned char *host, *wanted;
} probe;

static ambit_status open_probe(ambit *a, probe *t, int64_t n)
{
  ambit__device *dev = t->engine->device;

  t->store.layout = (ambit__layout){.type = AMBIT_U8, .components = 1};
  t->store.layout.own = ambit__box_of_extents(1, &n);
  ambit__layout_make(&t->store.layout);
  t->host = ambit__new(&a->errors, (size_t)n, 1);
  t->wanted = ambit__new(&a->errors, (size_t)n, 1);
  if (!t->host || !t->wanted) return AMBIT_ENOMEM;
  AMBIT_TRY(ambit__ask(dev, alloc, t->store.layout.bytes, &t->store.layout, &t->store.buffer));
  AMBIT_TRY(ambit__ask(dev, message_open, (size_t)n, &t->out));
  AMBIT_TRY(ambit__ask(dev, message_open, (size_t)n, &t->in));
  t->out->direct = t->in->direct = t->out->device_bytes != NULL;
  return AMBIT_OK;
}

static void close_probe(const probe *t)
{
  ambit__device *dev = t->engine->device;

  if (t->in) ambit__ask(dev, message_close, t->in);
  if (t->out) ambit__ask(dev, message_close, t->out);
  if (t->store.buffer) ambit__ask(dev, release, t->store.buffer);
  free(t->wanted);
  free(t->host);
}

/* Packs both messages. The incoming one gets a pattern that the received data must overwrite. */
static ambit_status pack(probe *t, int rank)
{
  ambit__queue *q = t->engine->queue;
  const ambit__box *all = &t->store.layout.own;
  const size_t n = t->out->size;

  memset(t->host, 0x55, n);
  AMBIT_TRY(ambit__do(q, write, &t->store, all, t->host));
  AMBIT_TRY(ambit__do(q, pack, t->in, 0, &t->store, all));
  write_pattern(t->host, n, rank);
  AMBIT_TRY(ambit__do(q, write, &t->store, all, t->host));
  AMBIT_TRY(ambit__do(q, pack, t->out, 0, &t->store, all));
  return ambit__do(q, wait, NULL);
}

static ambit_status transfer(ambit__net *net, probe *t)
{
  ambit__request requests[2];
  void *in = t->in->direct ? t->in->device_bytes : t->in->bytes;
  const void *out = t->out->direct ? t->out->device_bytes : t->out->bytes;
  const int next = (net->rank + 1) % net->size, last = (net->rank + net->size - 1) % net->size;

  AMBIT_TRY(ambit__net_receive(net, last, 0, in, t->in->size, &requests[0]));
  AMBIT_TRY(ambit__net_send(net, next, 0, out, t->out->size, &requests[1]));
  return ambit__net_wait(net, requests, 2);
}

static ambit_status test_size(ambit *a, probe *t, bool *good)
{
  const ambit__box *all = &t->store.layout.own;

  AMBIT_TRY(pack(t, a->net->rank));
  AMBIT_TRY(transfer(a->net, t));
  AMBIT_TRY(ambit__do(t->engine->queue, unpack, &t->store, all, t->in, 0));
  AMBIT_TRY(ambit__do(t->engine->queue, read, t->host, &t->store, all));
  write_pattern(t->wanted, t->in->size, (a->net->rank + a->net->size - 1) % a->net->size);
  *good &= !memcmp(t->wanted, t->host, t->in->size);
  return AMBIT_OK;
}

/* ---- all processes ---- */

/* True on all processes if at least one votes YES and none votes NO. */
static ambit_status vote(ambit *a, answer mine, bool *yes)
{
  bool said[] = {mine == NO, mine == YES};

  AMBIT_TRY(ambit__net_any(a->net, said, sizeof said / sizeof *said));
  *yes = !said[0] && said[1];
  return AMBIT_OK;
}

static ambit_status test_all(ambit *a, const ambit__engine *e, bool *good)
{
  ambit_status s = AMBIT_OK;

  for (size_t i = 0; !s && i < sizeof sizes / sizeof *sizes; i++) {
    probe t = {.engine = e};

    s = open_probe(a, &t, sizes[i]);
    if (!s) s = test_size(a, &t, good);
    close_probe(&t);
  }
  return s;
}

static void tell(const ambit *a)
{
  if (a->net->rank) return;
  if (a->gpu_aware)
    ambit__log(&a->settings, 1, "%s accepts device memory: messages are sent from GPU memory",
               a->net->name);
  else
    ambit__log(&a->settings, 0,
               "%s claims to accept device memory, but a test message arrived corrupted: messages "
               "go through host memory",
               a->net->name);
}

ambit_status ambit__probe_gpu_mpi(ambit *a)
{
  const ambit__net_kind *kind = a->net->kind;
  const ambit__engine *e;
  bool good = true;
  answer mine = NO;

  if (a->net->size == 1 || a->dry) return AMBIT_OK;
  e = direct_engine(a);
  if (a->settings.gpuaware && kind->takes_cuda && kind->takes_cuda(a->net))
    mine = e ? YES : NO_DEVICE;
  AMBIT_TRY(vote(a, mine, &a->gpu_aware));
  if (!a->gpu_aware) return AMBIT_OK;
  if (test_all(a, e ? e : &a->engines[0], &good))
    return ambit__net_stop(a->net); /* the next rank waits for this process */
  AMBIT_TRY(vote(a, good ? YES : NO, &a->gpu_aware));
  tell(a);
  return AMBIT_OK;
}
