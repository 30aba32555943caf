/* SPDX-License-Identifier: BSD-3-Clause */
/* messages.c - messages: pinned memory with a twin on the device.
 *
 * To pack, a box is gathered on the device into the same bytes of the message's twin, and copied to
 * the host from there; to unpack, the reverse. A box that is dense in the store is copied directly.
 * A message that is sent from device memory stays in the twin. The host waits for nothing, and
 * boxes in different bytes of a message are independent.
 */
#include "device/gpu/gpu.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>

/* The segments of a box on a sparse grid that is packed or unpacked at a place of a message. */
typedef struct segments {
  size_t at;
  const ambit__active *active;
  ambit__box box;
  bool in;
  ambit__gpu_kept list;
} segments;

typedef struct message {
  ambit__message head;
  ambit__gpu_memory *device; /* head.size bytes */
  segments *segments;        /* owned */
  size_t n, cap;
} message;

/* ---- messages ---- */

void ambit__gpu_message_close(ambit__gpu_device *d, ambit__message *m)
{
  message *mine = (message *)m;

  if (!m) return;
  for (size_t i = 0; i < mine->n; i++)
    ambit__gpu_kept_free(d, &mine->segments[i].list);
  free(mine->segments);
  if (m->bytes) d->driver->host_release(d->gpu, m->bytes);
  if (mine->device) d->driver->release(mine->device);
  free(m);
}

ambit_status ambit__gpu_message_open(ambit__gpu_device *d, size_t bytes, ambit__message **m)
{
  const size_t least = bytes ? bytes : 1;
  void *address = NULL;
  message *new;
  ambit_status s;

  AMBIT_NEW(d->head.errors, new, 1);
  new->head.size = bytes;
  AMBIT_TRY_GOTO(s, d->driver->host_alloc(d->gpu, least, &address), fail);
  new->head.bytes = address;
  AMBIT_TRY_GOTO(s, d->driver->alloc(d->gpu, least, &new->device), fail);
  if (d->driver->address) new->head.device_bytes = d->driver->address(new->device);
  *m = &new->head;
  return AMBIT_OK;
fail:
  ambit__gpu_message_close(d, &new->head);
  return s;
}

/* ---- sparse grids ---- */

/* The segments for a place of a message, made on the first call. */
static ambit_status find_segments(ambit__gpu_device *d, message *m, const segments *key,
                                  const ambit__gpu_kept **list)
{
  segments *s;

  for (size_t i = 0; i < m->n; i++) {
    s = &m->segments[i];
    if (s->at != key->at || s->active != key->active || s->in != key->in ||
        !ambit__box_equal(&s->box, &key->box))
      continue;
    *list = &s->list;
    return AMBIT_OK;
  }
  s = ambit__add(d->head.errors, &m->segments, m->n, &m->cap, sizeof *s);
  if (!s) return AMBIT_ENOMEM;
  m->n++;
  *s = *key;
  *list = &s->list;
  return ambit__gpu_keep_box(d, key->active, &key->box, key->in, &s->list);
}

/* Packs the active cells of a box, or unpacks them (`in`). */
static ambit_status move_active(ambit__gpu_lane *lane, message *m, size_t at,
                                const ambit__store *store, const ambit__box *box, bool in)
{
  const size_t size = ambit_type_size(store->layout.type);
  const size_t bytes = (size_t)ambit__active_count(store->layout.active, box) *
                       (size_t)store->layout.components * size;
  const segments key = {.at = at, .active = store->layout.active, .box = *box, .in = in};
  const ambit__gpu_kept *list;

  assert(at % size == 0 && at + bytes <= m->head.size);
  if (!bytes) return AMBIT_OK;
  AMBIT_TRY(find_segments(lane->device, m, &key, &list));
  if (in && !m->head.direct)
    AMBIT_TRY(lane->driver->copy_in(lane->queue, m->device, at, m->head.bytes + at, bytes));
  AMBIT_TRY(ambit__gpu_kept_pack(lane, list, store, m->device, (int64_t)(at / size), in));
  if (in || m->head.direct) return AMBIT_OK;
  return lane->driver->copy_out(lane->queue, m->head.bytes + at, m->device, at, bytes);
}

/* ---- packing ---- */

/* A box of a store, its bytes in a message, and their layout. */
typedef struct parcel {
  ambit__gpu_memory *cells, *twin; /* of the store; of the message, on the device */
  unsigned char *host;             /* its address in the message */
  size_t bytes;
  int64_t index; /* its offset in the twin, in values */
  size_t dense;  /* its offset in the store, in bytes, if it is dense there */
  bool is_dense;
} parcel;

static parcel parcel_of(ambit__message *m, size_t at, const ambit__store *store,
                        const ambit__box *box)
{
  const size_t size = ambit_type_size(store->layout.type);
  const int64_t place = ambit__gpu_dense_place(store, box);
  parcel p = {.cells = ambit__gpu_memory_of(store->buffer),
              .twin = ((message *)m)->device,
              .host = m->bytes + at,
              .bytes = ambit__layout_box_bytes(&store->layout, box),
              .index = (int64_t)(at / size),
              .is_dense = place >= 0};

  assert(at % size == 0 && at + p.bytes <= m->size && ambit__layout_has(&store->layout, box));
  p.dense = p.is_dense ? (size_t)place * size : 0;
  return p;
}

ambit_status ambit__gpu_pack(ambit__gpu_lane *lane, const ambit__command *c)
{
  const ambit__gpu_driver *driver = lane->driver;
  ambit__message *m = c->pack.to;
  const size_t at = c->pack.at;
  parcel p;

  if (ambit__box_is_empty(c->pack.box)) return AMBIT_OK;
  if (c->pack.src->layout.active)
    return move_active(lane, (message *)m, at, c->pack.src, c->pack.box, false);
  p = parcel_of(m, at, c->pack.src, c->pack.box);
  if (p.is_dense && m->direct)
    return driver->copy(lane->queue, p.twin, at, p.cells, p.dense, p.bytes);
  if (p.is_dense) return driver->copy_out(lane->queue, p.host, p.cells, p.dense, p.bytes);
  AMBIT_TRY(ambit__gpu_gather(lane, p.twin, p.index, c->pack.src, c->pack.box));
  return m->direct ? AMBIT_OK : driver->copy_out(lane->queue, p.host, p.twin, at, p.bytes);
}

ambit_status ambit__gpu_unpack(ambit__gpu_lane *lane, const ambit__command *c)
{
  const ambit__gpu_driver *driver = lane->driver;
  ambit__message *m = c->unpack.from;
  const size_t at = c->unpack.at;
  parcel p;

  if (ambit__box_is_empty(c->unpack.box)) return AMBIT_OK;
  if (c->unpack.dst->layout.active)
    return move_active(lane, (message *)m, at, c->unpack.dst, c->unpack.box, true);
  p = parcel_of(m, at, c->unpack.dst, c->unpack.box);
  if (p.is_dense && m->direct)
    return driver->copy(lane->queue, p.cells, p.dense, p.twin, at, p.bytes);
  if (p.is_dense) return driver->copy_in(lane->queue, p.cells, p.dense, p.host, p.bytes);
  if (!m->direct) AMBIT_TRY(driver->copy_in(lane->queue, p.twin, at, p.host, p.bytes));
  return ambit__gpu_scatter(lane, c->unpack.dst, c->unpack.box, p.twin, p.index);
}

ambit_status ambit__gpu_pass(ambit__gpu_lane *lane, const ambit__command *c)
{
  const ambit__message *to = c->pass.to, *from = c->pass.from;

  assert(to->direct && from->direct && to->size == from->size);
  return lane->driver->copy_across(lane->queue, ((const message *)to)->device,
                                   ((const message *)from)->device, to->size);
}
