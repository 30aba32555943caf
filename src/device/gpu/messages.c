/* messages.c - messages, which are pinned memory with its like on the device, and events.
 *
 * A box is gathered on the device, into the same bytes of the message's twin there, and copied to the host from
 * there; or the other way round. A box that lies in the store as it does in the message is copied straight, and so are
 * long rows: a kernel would have to wait for those that compute, and take the place of some of them. A message
 * that is sent from device memory stays in the twin. The host waits for nothing, and boxes in different bytes of a
 * message do not get in each other's way.
 */
#include "device/gpu/gpu.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>

typedef struct message {
  ambit__message head;
  ambit__gpu_memory *device; /* head.size bytes */
} message;

struct ambit__event {
  const ambit__gpu_driver *driver;
  ambit__gpu_event *event;
};

/* ---- messages ---- */

void ambit__gpu_message_close(ambit__device *dev, ambit__message *m)
{
  ambit__gpu_device *d = ambit__gpu_device_of(dev);

  if (!m) return;
  if (m->bytes) d->driver->host_release(d->gpu, m->bytes);
  if (((message *)m)->device) d->driver->release(((message *)m)->device);
  free(m);
}

ambit_status ambit__gpu_message_open(ambit__device *dev, size_t bytes, ambit__message **m)
{
  ambit__gpu_device *d = ambit__gpu_device_of(dev);
  message *new = ambit__new(dev->errors, 1, sizeof *new);
  const size_t least = bytes ? bytes : 1;
  void *address = NULL;
  ambit_status s;

  if (!new) return AMBIT_ENOMEM;
  new->head.size = bytes;
  AMBIT_TRY_GOTO(s, d->driver->host_alloc(d->gpu, least, &address), fail);
  new->head.bytes = address;
  AMBIT_TRY_GOTO(s, d->driver->alloc(d->gpu, least, &new->device), fail);
  if (d->driver->address) new->head.device_bytes = d->driver->address(new->device);
  *m = &new->head;
  return AMBIT_OK;
fail:
  ambit__gpu_message_close(dev, &new->head);
  return s;
}

ambit_status ambit__gpu_pack(ambit__queue *q, ambit__message *m, size_t at, ambit__store *src,
                             const ambit__box *box)
{
  const size_t size = ambit_type_size(src->layout.type);
  const size_t bytes = ambit__layout_box_bytes(&src->layout, box);
  const ambit__gpu_driver *driver = ambit__gpu_device_of(q->device)->driver;
  ambit__gpu_lane *lane = (ambit__gpu_lane *)q;
  ambit__gpu_memory *staged = ((message *)m)->device;
  ambit__gpu_rows sets[AMBIT__GPU_SETS];
  int64_t place;
  int n;

  if (!bytes) return AMBIT_OK;
  assert(at % size == 0 && at + bytes <= m->size && ambit__layout_has(&src->layout, box));
  place = ambit__gpu_dense_place(src, box);
  if (place >= 0 && m->direct)
    return driver->copy(lane->queue, staged, at, ambit__gpu_memory_of(src->buffer),
                        (size_t)place * size, bytes);
  if (place >= 0)
    return driver->copy_out(lane->queue, m->bytes + at, ambit__gpu_memory_of(src->buffer),
                            (size_t)place * size, bytes);
  n = m->direct ? 0 : ambit__gpu_rows_of(src, box, sets);
  for (int i = 0; i < n; i++)
    AMBIT_TRY(
        driver->rows_out(lane->queue, m->bytes + at, ambit__gpu_memory_of(src->buffer), &sets[i]));
  if (n) return AMBIT_OK;
  AMBIT_TRY(ambit__gpu_gather(lane, staged, (int64_t)(at / size), src, box));
  return m->direct ? AMBIT_OK : driver->copy_out(lane->queue, m->bytes + at, staged, at, bytes);
}

ambit_status ambit__gpu_unpack(ambit__queue *q, ambit__store *dst, const ambit__box *box,
                               ambit__message *m, size_t at)
{
  const size_t size = ambit_type_size(dst->layout.type);
  const size_t bytes = ambit__layout_box_bytes(&dst->layout, box);
  const ambit__gpu_driver *driver = ambit__gpu_device_of(q->device)->driver;
  ambit__gpu_lane *lane = (ambit__gpu_lane *)q;
  ambit__gpu_memory *staged = ((message *)m)->device;
  ambit__gpu_rows sets[AMBIT__GPU_SETS];
  int64_t place;
  int n;

  if (!bytes) return AMBIT_OK;
  assert(at % size == 0 && at + bytes <= m->size && ambit__layout_has(&dst->layout, box));
  place = ambit__gpu_dense_place(dst, box);
  if (place >= 0 && m->direct)
    return driver->copy(lane->queue, ambit__gpu_memory_of(dst->buffer), (size_t)place * size,
                        staged, at, bytes);
  if (place >= 0)
    return driver->copy_in(lane->queue, ambit__gpu_memory_of(dst->buffer), (size_t)place * size,
                           m->bytes + at, bytes);
  n = m->direct ? 0 : ambit__gpu_rows_of(dst, box, sets);
  for (int i = 0; i < n; i++)
    AMBIT_TRY(
        driver->rows_in(lane->queue, ambit__gpu_memory_of(dst->buffer), m->bytes + at, &sets[i]));
  if (n) return AMBIT_OK;
  if (!m->direct) AMBIT_TRY(driver->copy_in(lane->queue, staged, at, m->bytes + at, bytes));
  return ambit__gpu_scatter(lane, dst, box, staged, (int64_t)(at / size));
}

ambit_status ambit__gpu_pass(ambit__queue *q, ambit__message *to, ambit__message *from)
{
  const ambit__gpu_driver *driver = ambit__gpu_device_of(q->device)->driver;

  assert(to->direct && from->direct && to->size == from->size);
  return driver->copy_across(((ambit__gpu_lane *)q)->queue, ((message *)to)->device,
                             ((message *)from)->device, to->size);
}

/* ---- events ---- */

ambit_status ambit__gpu_event_open(ambit__device *dev, bool timed, ambit__event **e)
{
  ambit__gpu_device *d = ambit__gpu_device_of(dev);
  ambit_status s;

  *e = ambit__new(dev->errors, 1, sizeof **e);
  if (!*e) return AMBIT_ENOMEM;
  (*e)->driver = d->driver;
  s = d->driver->event_open(d->gpu, timed, &(*e)->event);
  if (!s) return AMBIT_OK;
  free(*e);
  *e = NULL;
  return s;
}

void ambit__gpu_event_close(ambit__event *e)
{
  if (!e) return;
  e->driver->event_close(e->event);
  free(e);
}

ambit_status ambit__gpu_event_record(ambit__event *e, ambit__queue *q)
{
  return e->driver->event_record(e->event, ((ambit__gpu_lane *)q)->queue);
}

ambit_status ambit__gpu_event_await(ambit__queue *q, ambit__event *e)
{
  return e->driver->event_await(((ambit__gpu_lane *)q)->queue, e->event);
}

ambit_status ambit__gpu_event_sync(ambit__event *e)
{
  return e->driver->event_sync(e->event);
}

bool ambit__gpu_event_done(ambit__event *e)
{
  return e->driver->event_done(e->event);
}

double ambit__gpu_event_seconds(ambit__event *from, ambit__event *to)
{
  return from->driver->event_seconds(from->event, to->event);
}
