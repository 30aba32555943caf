/* SPDX-License-Identifier: BSD-3-Clause */
/* probe_gpu_mpi.c - whether messages can be sent from device memory.
 *
 * Some MPI libraries take addresses in the memory of CUDA devices, and some only say so. So it is asked, and then tried:
 * every process sends one message that fits into a packet and one that does not to the next one, from its device if
 * it has one that MPI could take, and looks at what came from the one before. What fails for one fails for all.
 */
#include "base/log.h"
#include "base/memory.h"
#include "runtime/objects/objects.h"

#include <stdlib.h>
#include <string.h>

typedef enum answer { NO, YES, NO_DEVICE } answer; /* of a process */

static const int64_t sizes[] = {1 << 10, 3 << 20}; /* bytes of a probe */

/* An engine whose messages have addresses for MPI; NULL: there is none. */
static ambit__engine *able_engine(ambit *a)
{
  for (int i = 0; i < a->nengines; i++) {
    ambit__device *dev = a->engines[i].device;
    ambit__message *m;
    bool able;

    if (!dev->backend->message_open || dev->backend->message_open(dev, 1, &m)) continue;
    able = m->device_bytes != NULL;
    dev->backend->message_close(dev, m);
    if (able) return &a->engines[i];
  }
  return NULL;
}

static void write_pattern(unsigned char *bytes, size_t n, int rank)
{
  for (size_t i = 0; i < n; i++)
    bytes[i] = (unsigned char)((i * 2654435761U >> 9) + 131U * (unsigned)rank);
}

/* ---- a probe ---- */

/* A probe consists of values in device memory, a message each for what goes and what comes, and a copy on the host. */
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
  AMBIT_TRY(dev->backend->alloc(dev, t->store.layout.bytes, &t->store.layout, &t->store.buffer));
  AMBIT_TRY(dev->backend->message_open(dev, (size_t)n, &t->out));
  AMBIT_TRY(dev->backend->message_open(dev, (size_t)n, &t->in));
  t->out->direct = t->in->direct = t->out->device_bytes != NULL;
  return AMBIT_OK;
}

static void close_probe(const probe *t)
{
  ambit__device *dev = t->engine->device;

  if (t->in) dev->backend->message_close(dev, t->in);
  if (t->out) dev->backend->message_close(dev, t->out);
  if (t->store.buffer) dev->backend->release(dev, t->store.buffer);
  free(t->wanted);
  free(t->host);
}

/* Both messages are packed: the one that comes with what must not stay there. */
static ambit_status pack(probe *t, int rank)
{
  const ambit__backend *backend = t->engine->device->backend;
  ambit__queue *q = t->engine->queue;
  const ambit__box *all = &t->store.layout.own;
  const size_t n = t->out->size;

  memset(t->host, 0x55, n);
  AMBIT_TRY(backend->write_box(q, &t->store, all, t->host));
  AMBIT_TRY(backend->pack(q, t->in, 0, &t->store, all));
  write_pattern(t->host, n, rank);
  AMBIT_TRY(backend->write_box(q, &t->store, all, t->host));
  AMBIT_TRY(backend->pack(q, t->out, 0, &t->store, all));
  return backend->wait(q);
}

static ambit_status travel(ambit__net *net, probe *t)
{
  ambit__request requests[2];
  void *in = t->in->direct ? t->in->device_bytes : t->in->bytes;
  const void *out = t->out->direct ? t->out->device_bytes : t->out->bytes;
  const int next = (net->rank + 1) % net->size, last = (net->rank + net->size - 1) % net->size;

  AMBIT_TRY(ambit__net_receive(net, last, 0, in, t->in->size, &requests[0]));
  AMBIT_TRY(ambit__net_send(net, next, 0, out, t->out->size, &requests[1]));
  return ambit__net_wait(net, requests, 2);
}

static ambit_status try_size(ambit *a, probe *t, bool *good)
{
  const ambit__backend *backend = t->engine->device->backend;
  const ambit__box *all = &t->store.layout.own;

  AMBIT_TRY(pack(t, a->net->rank));
  AMBIT_TRY(travel(a->net, t));
  AMBIT_TRY(backend->unpack(t->engine->queue, &t->store, all, t->in, 0));
  AMBIT_TRY(backend->read_box(t->engine->queue, t->host, &t->store, all));
  write_pattern(t->wanted, t->in->size, (a->net->rank + a->net->size - 1) % a->net->size);
  *good &= !memcmp(t->wanted, t->host, t->in->size);
  return AMBIT_OK;
}

/* ---- all together ---- */

/* Whether nobody says no, and somebody yes. */
static ambit_status all_say(ambit *a, answer mine, bool *yes)
{
  bool said[] = {mine == NO, mine == YES};

  AMBIT_TRY(ambit__net_any(a->net, said, sizeof said / sizeof *said));
  *yes = !said[0] && said[1];
  return AMBIT_OK;
}

static ambit_status try_all(ambit *a, const ambit__engine *e, bool *good)
{
  ambit_status s = AMBIT_OK;

  for (size_t i = 0; !s && i < sizeof sizes / sizeof *sizes; i++) {
    probe t = {.engine = e};

    s = open_probe(a, &t, sizes[i]);
    if (!s) s = try_size(a, &t, good);
    close_probe(&t);
  }
  return s;
}

static void tell(const ambit *a)
{
  if (a->net->rank) return;
  if (a->gpu_aware)
    ambit__log(&a->settings, 1, "%s takes device memory: messages leave GPUs as they are",
               a->net->name);
  else
    ambit__log(&a->settings, 0,
               "%s says that it takes device memory, but what arrived was not what was sent: "
               "messages go through host memory",
               a->net->name);
}

ambit_status ambit__probe_gpu_mpi(ambit *a)
{
  const ambit__net_kind *kind = a->net->kind;
  const ambit__engine *e;
  bool good = true;
  answer mine = NO;

  if (a->net->size == 1 || a->dry) return AMBIT_OK;
  e = able_engine(a);
  if (a->settings.gpuaware && kind->takes_cuda && kind->takes_cuda(a->net))
    mine = e ? YES : NO_DEVICE;
  AMBIT_TRY(all_say(a, mine, &a->gpu_aware));
  if (!a->gpu_aware) return AMBIT_OK;
  if (try_all(a, e ? e : &a->engines[0], &good)) /* the others wait for its message */
    return a->errors.agreed ? a->errors.status : ambit__net_stop(a->net);
  AMBIT_TRY(all_say(a, good ? YES : NO, &a->gpu_aware));
  tell(a);
  return AMBIT_OK;
}
