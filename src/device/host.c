/* SPDX-License-Identifier: BSD-3-Clause */
/* host.c - allocation of host memory: buffers and messages. */
#define _GNU_SOURCE /* madvise, MAP_ANONYMOUS */
#include "device/host.h"

#include "base/memory.h"
#include "device/bounds.h"
#include "device/cpu/machine.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
  LINE = 64,                   /* bytes: alignment of every buffer */
  HUGE_PAGE = 2 * 1024 * 1024, /* bytes */
  MAP_FROM = 2 * HUGE_PAGE,    /* buffers at least this large are mapped */
  ALIAS = 4096,                /* see place_of */
  STAGGER = 20 * LINE,         /* between the places of buffers */
  STAGGER_FROM = 16 * ALIAS    /* smaller buffers are not staggered */
};

void ambit__host_memory(size_t *memory, size_t *free)
{
  ambit__machine_memory("", memory, free);
}

/* Maps `bytes`, a multiple of HUGE_PAGE, at a multiple of HUGE_PAGE; NULL if the system refuses. */
static unsigned char *map_aligned(size_t bytes)
{
  unsigned char *p =
      mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  size_t before;

  if (p == MAP_FAILED) return NULL;
  before = (HUGE_PAGE - (uintptr_t)p % HUGE_PAGE) % HUGE_PAGE;
  if (before) munmap(p, before);
  if (before < HUGE_PAGE) munmap(p + before + bytes, HUGE_PAGE - before);
  return p + before;
}

static size_t round_up(size_t bytes, size_t to)
{
  return (bytes + to - 1) / to * to;
}

static void alloc_mapped(ambit__host_buffer *b, size_t before, bool hugepages)
{
  size_t bytes = round_up(before + b->head.bytes, HUGE_PAGE);

  b->start = map_aligned(bytes);
  if (!b->start) return;
  b->mapped = bytes;
  if (hugepages) madvise(b->start, bytes, MADV_HUGEPAGE); /* only a hint: failure is harmless */
}

static void alloc_heap(ambit__host_buffer *b, size_t before)
{
  const size_t unit = b->head.bytes >= STAGGER_FROM ? ALIAS : LINE;
  size_t bytes = round_up(before + (b->head.bytes ? b->head.bytes : 1), unit);

  b->start = aligned_alloc(unit, bytes);
  if (b->start) memset(b->start, 0, bytes);
}

/* The place of a buffer in its first page. Processors take a load for one of a value that they are
 * still about to store if both addresses are the same modulo ALIAS, and let it wait. The fields of
 * a grid have the same layout: if they had the same place too, stencils in the caches would be up
 * to 1.6 times as slow on a Xeon. */
static size_t place_of(ambit__device *dev, size_t bytes)
{
  return bytes >= STAGGER_FROM ? dev->nbuffers++ * STAGGER % ALIAS : 0;
}

ambit_status ambit__host_alloc(ambit__device *dev, size_t bytes, const ambit__layout *layout,
                               ambit__buffer **buf)
{
  ambit__host_buffer *b;
  size_t before;
  ambit_status s;

  AMBIT_CHECK(bytes <= SIZE_MAX / 2, dev->errors, AMBIT_ENOMEM,
              "a buffer of %zu bytes is more than this machine can address", bytes);
  AMBIT_NEW(dev->errors, b, 1);
  b->head.bytes = bytes;
  s = ambit__bounds_begin(dev->errors, layout, &b->head);
  if (s) {
    free(b);
    return s;
  }
  before = place_of(dev, bytes);
  if (bytes >= MAP_FROM)
    alloc_mapped(b, before, dev->settings->hugepages);
  else
    alloc_heap(b, before);
  if (!b->start) {
    free(b->head.bounds);
    free(b);
    return ambit__raise(dev->errors, AMBIT_ENOMEM, "no memory for a buffer of %zu bytes", bytes);
  }
  b->base = b->start + before;
  *buf = &b->head;
  return AMBIT_OK;
}

void ambit__host_release(ambit__device *dev, ambit__buffer *buf)
{
  ambit__host_buffer *b = (ambit__host_buffer *)buf;

  (void)dev;
  if (!b) return;
  if (b->mapped)
    munmap(b->start, b->mapped);
  else
    free(b->start);
  free(buf->bounds);
  free(b);
}

/* ---- messages ---- */

static ambit_status message_open(ambit__device *dev, size_t bytes, ambit__message **m)
{
  AMBIT_NEW(dev->errors, *m, 1);
  (*m)->size = bytes;
  (*m)->bytes = aligned_alloc(LINE, round_up(bytes ? bytes : 1, LINE));
  if ((*m)->bytes) return AMBIT_OK;
  free(*m);
  *m = NULL;
  return ambit__raise(dev->errors, AMBIT_ENOMEM, "no memory for a message of %zu bytes", bytes);
}

static void message_close(ambit__message *m)
{
  if (!m) return;
  free(m->bytes);
  free(m);
}

/* ---- the device itself ---- */

static ambit_status queue_open(ambit__device *dev, ambit__queue **queue)
{
  AMBIT_NEW(dev->errors, *queue, 1);
  (*queue)->device = dev;
  return AMBIT_OK;
}

ambit_status ambit__host_serve(ambit__device *dev, ambit__command *c)
{
  switch (c->kind) {
  case COMMAND_queue_open: return queue_open(dev, c->queue_open.queue);
  case COMMAND_queue_close: free(c->queue_close.queue); return AMBIT_OK;
  case COMMAND_alloc:
    return ambit__host_alloc(dev, c->alloc.bytes, c->alloc.layout, c->alloc.buffer);
  case COMMAND_release: ambit__host_release(dev, c->release.buffer); return AMBIT_OK;
  case COMMAND_message_open:
    return message_open(dev, c->message_open.bytes, c->message_open.message);
  case COMMAND_message_close: message_close(c->message_close.message); return AMBIT_OK;
  default: return AMBIT_OK;
  }
}
