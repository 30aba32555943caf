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
  d = ambit__new(errors, 1, sizeof *d);
  if (!d) return AMBIT_ENOMEM;
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

ambit_status ambit__gpu_queue_open(ambit__device *dev, bool urgent, ambit__queue **queue)
{
  ambit__gpu_device *d = ambit__gpu_device_of(dev);
  ambit__gpu_lane *lane = ambit__new(dev->errors, 1, sizeof *lane);
  ambit_status s;

  if (!lane) return AMBIT_ENOMEM;
  lane->head.device = dev;
  s = d->driver->queue_open(d->gpu, urgent, &lane->queue);
  if (s) {
    free(lane);
    return s;
  }
  *queue = &lane->head;
  return AMBIT_OK;
}

void ambit__gpu_queue_close(ambit__queue *queue)
{
  ambit__gpu_lane *lane = (ambit__gpu_lane *)queue;
  const ambit__gpu_driver *driver;

  if (!lane) return;
  driver = ambit__gpu_device_of(queue->device)->driver;
  driver->queue_close(lane->queue);
  ambit__gpu_stages_free(lane);
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

ambit_status ambit__gpu_wait(ambit__queue *q)
{
  return ambit__gpu_device_of(q->device)->driver->queue_sync(((ambit__gpu_lane *)q)->queue);
}

/* ---- memory ---- */

void *ambit__gpu_place(ambit__device *dev, ambit__buffer *buf)
{
  const ambit__gpu_driver *driver = ambit__gpu_device_of(dev)->driver;

  return driver->address ? driver->address(ambit__gpu_memory_of(buf)) : NULL;
}

void ambit__gpu_release(ambit__device *dev, ambit__buffer *buf)
{
  if (!buf) return;
  ambit__gpu_device_of(dev)->driver->release(ambit__gpu_memory_of(buf));
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

ambit_status ambit__gpu_alloc(ambit__device *dev, size_t bytes, const ambit__layout *layout,
                              ambit__buffer **buf)
{
  ambit__gpu_device *d = ambit__gpu_device_of(dev);
  ambit__gpu_buffer *b;
  ambit__gpu_moves *moves;
  ambit_status s;

  /* So that it is not compiled in the first iteration. */
  if (layout)
    AMBIT_TRY(layout->active ? ambit__gpu_runs_get(d, layout->type, &moves)
                             : ambit__gpu_moves_get(d, layout->type, &moves));
  b = ambit__new(dev->errors, 1, sizeof *b);
  if (!b) return AMBIT_ENOMEM;
  b->head.bytes = bytes;
  s = ambit__bounds_begin(dev->errors, layout, &b->head);
  if (!s) s = alloc_memory(d, bytes, &b->memory);
  if (s) {
    free(b->head.bounds);
    free(b);
    return s;
  }
  *buf = &b->head;
  return AMBIT_OK;
}
