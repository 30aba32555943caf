/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu.c - the GPU device: opening, queues, memory. */
#include "device/gpu/gpu.h"

#include "base/hash.h"
#include "base/memory.h"
#include "device/bounds.h"
#include "device/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- devices ---- */

void ambit__gpu_close(ambit__device *dev)
{
  ambit__gpu_device *d = ambit__gpu_device_of(dev);

  if (!d) return;
  ambit__gpu_moves_free(d);
  ambit__gpu_folds_free(d);
  if (d->checks) d->driver->unload(d->checks);
  if (d->adopts) d->driver->unload(d->adopts);
  if (d->setup) d->driver->queue_close(d->setup);
  if (d->gpu) d->driver->close(d->gpu);
  free(d);
}

static void describe(ambit__gpu_device *d)
{
  ambit__machine *m = &d->head.machine;

  *m = (ambit__machine){.is_gpu = true,
                        .cores = d->info.multiprocessors,
                        .l2 = d->info.l2,
                        .memory = d->info.memory,
                        .registers = d->info.registers,
                        .shared = d->info.all_shared};
  snprintf(m->name, sizeof m->name, "%.95s", d->info.name);
  ambit__device_describe(&d->head);
}

ambit_status ambit__gpu_open(ambit__errors *errors, const ambit__settings *settings, int ordinal,
                             const ambit__backend *backend, const ambit__gpu_driver *driver,
                             ambit__device **dev)
{
  const int n = driver->count();
  ambit__gpu_device *d;
  ambit_status s;

  AMBIT_CHECK(n > 0, errors, AMBIT_ENODEVICE, "there is no %s device here: %s", driver->name,
              driver->why_none());
  AMBIT_CHECK(ordinal >= 0 && ordinal < n, errors, AMBIT_ENODEVICE,
              "there %s %d %s device%s here, numbered from 0, and no %s:%d", n == 1 ? "is" : "are",
              n, driver->name, n == 1 ? "" : "s", driver->name, ordinal);
  AMBIT_NEW(errors, d, 1);
  d->head = (ambit__device){.backend = backend, .errors = errors, .settings = settings};
  d->driver = driver;
  AMBIT_TRY_GOTO(s, driver->open(errors, settings, ordinal, &d->gpu), fail);
  driver->info(d->gpu, &d->info);
  AMBIT_TRY_GOTO(s, driver->queue_open(d->gpu, false, &d->setup), fail);
  describe(d);
  *dev = &d->head;
  return AMBIT_OK;
fail:
  ambit__gpu_close(&d->head);
  return s;
}

/* Of GPUs with memory of their own, the only one has the same name in all backends. Of several, the
 * order may differ. */
static int64_t chip_of(const ambit__gpu_device *d)
{
  const ambit__backend *b = d->head.backend;
  ambit__hash h;

  if (d->info.is_cpu || !b->fast || b->fast() != 1) return 0;
  ambit__hash_init(&h);
  ambit__hash_text(&h, d->info.name);
  return (int64_t)(h.w[0] >> 1 | 1);
}

void ambit__gpu_info_of(ambit__device *dev, ambit__device_info *info)
{
  const ambit__gpu_device *d = ambit__gpu_device_of(dev);

  snprintf(info->name, sizeof info->name, "%s", d->info.name);
  snprintf(info->identity, sizeof info->identity, "%s", d->info.identity);
  info->chip = chip_of(d);
  info->cores = d->info.multiprocessors;
  info->memory = d->info.free_memory;
  info->free = 0;
}

/* ---- queues ---- */

static ambit_status queue_open(ambit__gpu_device *d, bool urgent, ambit__queue **queue)
{
  ambit__gpu_lane *lane;
  ambit_status s;

  AMBIT_NEW(d->head.errors, lane, 1);
  lane->head.device = &d->head;
  lane->device = d;
  lane->driver = d->driver;
  s = d->driver->queue_open(d->gpu, urgent, &lane->queue);
  if (s) {
    free(lane);
    return s;
  }
  *queue = &lane->head;
  return AMBIT_OK;
}

static void queue_close(ambit__queue *queue)
{
  ambit__gpu_lane *lane = (ambit__gpu_lane *)queue;
  const ambit__gpu_driver *driver = lane->driver;

  driver->queue_close(lane->queue);
  ambit__gpu_staging_free(lane);
  for (int i = 0; i < AMBIT_MAX_PARAMS; i++)
    if (lane->partials[i]) driver->release(lane->partials[i]);
  for (int i = 0; i < AMBIT_MAX_PARAMS; i++)
    if (lane->sums[i]) driver->release(lane->sums[i]);
  if (lane->changed) driver->release(lane->changed);
  if (lane->found) driver->release(lane->found);
  free(lane->unfinished);
  ambit__gpu_watch_free(lane);
  free(lane);
}

ambit_status ambit__gpu_execute(ambit__queue *q, const ambit__command *c)
{
  ambit__gpu_lane *lane = (ambit__gpu_lane *)q;
  const ambit__gpu_driver *driver = lane->driver;
  ambit__gpu_queue *queue = lane->queue;

  switch (c->kind) {
  case COMMAND_put: return ambit__gpu_put(lane, c);
  case COMMAND_get: return ambit__gpu_get(lane, c);
  case COMMAND_write: return ambit__gpu_write(lane, c);
  case COMMAND_read: return ambit__gpu_read(lane, c);
  case COMMAND_lattice: return ambit__gpu_lattice(lane, c);
  case COMMAND_most: return ambit__gpu_most(lane, c);
  case COMMAND_fill: return ambit__gpu_fill(lane, c);
  case COMMAND_copy: return ambit__gpu_copy(lane, c);
  case COMMAND_update: return ambit__gpu_update(lane, c);
  case COMMAND_ghosts: return ambit__gpu_ghosts(lane, c);
  case COMMAND_batch: return ambit__gpu_batch(lane, c);
  case COMMAND_pack: return ambit__gpu_pack(lane, c);
  case COMMAND_unpack: return ambit__gpu_unpack(lane, c);
  case COMMAND_pass: return ambit__gpu_pass(lane, c);
  case COMMAND_fold: return ambit__gpu_fold(lane, c);
  case COMMAND_launch: return ambit__gpu_launch(lane, c);
  case COMMAND_tiles: return ambit__gpu_tiles(lane, c);
  case COMMAND_tile_fold: return ambit__gpu_tile_fold(lane, c);
  case COMMAND_tile_go: return ambit__gpu_tile_go(lane, c);
  case COMMAND_relax: return ambit__gpu_relax(lane, c);
  case COMMAND_watch: return ambit__gpu_watch(lane, c);
  case COMMAND_check: return ambit__gpu_check(lane, c);
  case COMMAND_report: return ambit__gpu_report(lane, c);
  case COMMAND_mark: return driver->event_record(c->mark.event, queue);
  case COMMAND_await: return driver->event_await(queue, c->await.event);
  case COMMAND_wait:
    return c->wait.event ? driver->event_sync(c->wait.event) : driver->queue_sync(queue);
  case COMMAND_record:
    return c->record.end ? driver->recorded(queue, c->record.end) : driver->record(queue);
  case COMMAND_replay: return driver->replay(queue, c->replay.recording);
  default: return AMBIT_OK; /* it can execute no others */
  }
}

/* ---- memory ---- */

void *ambit__gpu_place(ambit__device *dev, ambit__buffer *buf)
{
  const ambit__gpu_driver *driver = ambit__gpu_device_of(dev)->driver;

  return driver->address ? driver->address(ambit__gpu_memory_of(buf)) : NULL;
}

static void release(const ambit__gpu_device *d, ambit__buffer *buf)
{
  if (!buf) return;
  d->driver->release(ambit__gpu_memory_of(buf));
  free(buf->bounds);
  free(buf);
}

/* Zeroed, and known to exist: some drivers allocate only on first use. */
static ambit_status alloc_memory(ambit__gpu_device *d, size_t bytes, ambit__gpu_memory **memory)
{
  ambit_status s;

  AMBIT_TRY(d->driver->alloc(d->gpu, bytes, memory));
  s = d->driver->zero(d->setup, *memory, 0, bytes);
  if (!s) s = d->driver->queue_sync(d->setup);
  if (!s) return AMBIT_OK;
  d->driver->release(*memory);
  *memory = NULL;
  return s;
}

static ambit_status copy_pieces(ambit__gpu_device *d, const unsigned char *from, size_t bytes,
                                unsigned char *staged, ambit__gpu_memory *to)
{
  for (size_t at = 0, n; at < bytes; at += n) {
    n = bytes - at < AMBIT__STAGE_BYTES ? bytes - at : AMBIT__STAGE_BYTES;
    memcpy(staged, from + at, n);
    AMBIT_TRY(d->driver->copy_in(d->setup, to, at, staged, n));
    AMBIT_TRY(d->driver->queue_sync(d->setup));
  }
  return AMBIT_OK;
}

ambit_status ambit__gpu_upload(ambit__gpu_device *d, const void *from, size_t bytes,
                               ambit__gpu_memory **memory)
{
  void *staged;
  ambit_status s;

  AMBIT_TRY(d->driver->host_alloc(d->gpu, bytes < AMBIT__STAGE_BYTES ? bytes : AMBIT__STAGE_BYTES,
                                  &staged));
  s = d->driver->alloc(d->gpu, bytes, memory);
  if (!s) {
    s = copy_pieces(d, from, bytes, staged, *memory);
    if (s) d->driver->release(*memory);
    if (s) *memory = NULL;
  }
  d->driver->host_release(d->gpu, staged);
  return s;
}

static ambit_status alloc(ambit__gpu_device *d, size_t bytes, const ambit__layout *layout,
                          ambit__buffer **buf)
{
  ambit__gpu_buffer *b;
  ambit__gpu_moves *moves;
  ambit_status s;

  /* So that it is not compiled in the first iteration. */
  if (layout)
    AMBIT_TRY(layout->active ? ambit__gpu_moves_get(d, layout->type, KIT_RUNS, &moves)
                             : ambit__gpu_moves_get(d, layout->type, KIT_BOXES, &moves));
  AMBIT_NEW(d->head.errors, b, 1);
  b->head.bytes = bytes;
  s = ambit__bounds_begin(d->head.errors, layout, &b->head);
  if (!s) s = alloc_memory(d, bytes, &b->memory);
  if (s) {
    free(b->head.bounds);
    free(b);
    return s;
  }
  *buf = &b->head;
  return AMBIT_OK;
}

/* ---- the device itself ---- */

ambit_status ambit__gpu_serve(ambit__device *dev, ambit__command *c)
{
  ambit__gpu_device *d = ambit__gpu_device_of(dev);

  switch (c->kind) {
  case COMMAND_queue_open: return queue_open(d, c->queue_open.urgent, c->queue_open.queue);
  case COMMAND_queue_close: queue_close(c->queue_close.queue); break;
  case COMMAND_alloc: return alloc(d, c->alloc.bytes, c->alloc.layout, c->alloc.buffer);
  case COMMAND_release: release(d, c->release.buffer); break;
  case COMMAND_message_open:
    return ambit__gpu_message_open(d, c->message_open.bytes, c->message_open.message);
  case COMMAND_message_close: ambit__gpu_message_close(d, c->message_close.message); break;
  case COMMAND_event_open:
    return d->driver->event_open(d->gpu, c->event_open.timed, c->event_open.event);
  case COMMAND_event_close: d->driver->event_close(c->event_close.event); break;
  case COMMAND_batch_open:
    return ambit__gpu_batch_open(d, c->batch_open.moves, c->batch_open.n, c->batch_open.batch);
  case COMMAND_batch_close: ambit__gpu_batch_close(c->batch_close.batch); break;
  case COMMAND_recording_close: d->driver->recording_close(c->recording_close.recording); break;
  case COMMAND_build: return ambit__gpu_build(d, c->build.group, c->build.fn);
  case COMMAND_discard: ambit__gpu_discard(d, c->discard.fn); break;
  case COMMAND_plans: ambit__gpu_plans(d, c->plans.group, c->plans.lines); break;
  case COMMAND_foresee: ambit__gpu_foresee(d, c->foresee.group); break;
  case COMMAND_measure: ambit__gpu_measure(d, c->measure.all, c->measure.machine); break;
  default: break; /* alone */
  }
  return AMBIT_OK;
}
