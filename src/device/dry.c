/* SPDX-License-Identifier: BSD-3-Clause */
/* dry.c - a device without memory that accepts all calls and does nothing.
 *
 * Programs are sealed on it as on any other device. Parts, messages and the order of an iteration
 * are those of a real run, for grids that no machine here could hold, and without compiling
 * anything. Buffers have a size but no memory. It has the plans of this processor, or, in place of
 * CUDA and OpenCL devices, of the GPU that the estimates of plan/ were measured on.
 */
#include "device/dry.h"

#include "base/memory.h"
#include "device/cpu/target.h"
#include "device/host.h"
#include "device/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const ambit__backend whole, parts, waves, cuda, opencl;

typedef struct dry {
  ambit__device head;
  ambit__target target; /* of its plans */
} dry;

/* An H200. */
#define LARGE_GPU .kind = TARGET_GPU, .threads = 132, .l2 = (size_t)60 << 20, .max_threads = 1024
static const ambit__target cuda_target = {LARGE_GPU, .dialect = &ambit__dialect_cuda,
                                          .shared = 227 << 10, .minima = true};
static const ambit__target opencl_target = {LARGE_GPU, .dialect = &ambit__dialect_opencl,
                                            .exchanges = true, .shared = 48 << 10};

/* The same with the multiprocessors, the cache and the shared memory of another machine. */
static ambit__target gpu_like(const ambit__target *t, const ambit__machine *m)
{
  ambit__target like = *t;

  like.machine = m;
  like.threads = m->cores;
  like.l2 = m->l2;
  if (like.shared > m->shared) like.shared = m->shared;
  return like;
}

static int dry_count(void)
{
  return 1;
}

static ambit_status open_as(const ambit__backend *backend, ambit__errors *errors,
                            const ambit__settings *settings, ambit__device **dev)
{
  dry *d = ambit__new(errors, 1, sizeof *d);

  if (!d) return AMBIT_ENOMEM;
  d->head = (ambit__device){.backend = backend, .errors = errors, .settings = settings};
  if (backend == &cuda) d->target = cuda_target;
  if (backend == &opencl) d->target = opencl_target;
  d->head.machine = *ambit__target_machine(&d->target);
  if (backend == &waves) {
    ambit__machine_probe("", &d->head.machine);
    if (settings->threads) d->head.machine.cores = settings->threads;
    ambit__device_describe(&d->head);
    d->target = ambit__cpu_target(&d->head.machine, d->head.machine.cores);
  } else if (d->target.kind == TARGET_GPU) {
    ambit__device_describe(&d->head);
    d->target = gpu_like(&d->target, &d->head.machine);
  }
  *dev = &d->head;
  return AMBIT_OK;
}

#define OPEN_AS(kind)                                                                              \
  static ambit_status open_##kind(ambit__errors *errors, const ambit__settings *settings,          \
                                  int ordinal, ambit__device **dev)                                \
  {                                                                                                \
    (void)ordinal;                                                                                 \
    return open_as(&(kind), errors, settings, dev);                                                \
  }
OPEN_AS(whole)
OPEN_AS(parts)
OPEN_AS(waves)
OPEN_AS(cuda)
OPEN_AS(opencl)

static void dry_close(ambit__device *dev)
{
  free(dev);
}

static void dry_info(ambit__device *dev, ambit__device_info *info)
{
  *info = (ambit__device_info){.cores = 1, .memory = SIZE_MAX};
  if (dev->backend == &waves) info->cores = dev->machine.cores;
  snprintf(info->name, sizeof info->name, "nothing");
}

/* ---- memory ---- */

static ambit_status dry_alloc(ambit__device *dev, size_t bytes, ambit__buffer **buf)
{
  AMBIT_NEW(dev->errors, *buf, 1);
  (*buf)->bytes = bytes;
  return AMBIT_OK;
}

static ambit_status dry_message_open(ambit__device *dev, size_t bytes, ambit__message **m)
{
  AMBIT_NEW(dev->errors, *m, 1);
  (*m)->size = bytes;
  return AMBIT_OK;
}

/* ---- commands ---- */

static size_t value_bytes(const ambit__store *s)
{
  return (size_t)s->layout.components * ambit_type_size(s->layout.type);
}

static size_t lattice_cells(const ambit__store *s, const ambit__lattice *l)
{
  size_t cells = 1;

  for (int d = 0; d < s->layout.own.ndims; d++)
    cells *= (size_t)l->count[d];
  return cells;
}

/* All values are 0. */
static ambit_status dry_execute(ambit__queue *q, const ambit__command *c)
{
  (void)q;
  if (c->kind == COMMAND_get)
    memset(c->get.dst, 0, c->get.bytes);
  else if (c->kind == COMMAND_read)
    memset(c->read.dst, 0, (size_t)ambit__box_volume(c->read.box) * value_bytes(c->read.src));
  else if (c->kind == COMMAND_lattice)
    memset(c->lattice.dst, 0,
           lattice_cells(c->lattice.src, c->lattice.lattice) * value_bytes(c->lattice.src));
  return AMBIT_OK;
}

/* ---- kernels ---- */

static ambit_status dry_build(ambit__device *dev, ambit__function **fn)
{
  AMBIT_NEW(dev->errors, *fn, 1);
  (*fn)->plan = ambit__strdup(dev->errors, "(dry)");
  (*fn)->waves = true;
  return (*fn)->plan ? AMBIT_OK : AMBIT_ENOMEM;
}

static const ambit__target *target_of(const ambit__device *dev)
{
  return &((const dry *)dev)->target;
}

static double estimate(ambit__device *dev, const ambit__group *g)
{
  const ambit__target *t = target_of(dev);
  ambit__plan plan;

  return ambit__plan_choose(g, t, &plan) ? plan.strategy->cost(g, t, &plan) : -1;
}

/* With the plan that such a device would have. */
static ambit_status build(ambit__device *dev, const ambit__group *g, ambit__function **fn)
{
  ambit__text line = {0};
  ambit__plan plan;

  AMBIT_TRY(dry_build(dev, fn));
  if (!ambit__can(dev->backend, plans)) return AMBIT_OK;
  if (g->chore || !ambit__plan_choose(g, target_of(dev), &plan)) return AMBIT_OK;
  plan.strategy->describe(&plan, &line);
  free((*fn)->plan);
  (*fn)->plan = ambit__text_finish(&line);
  return AMBIT_OK;
}

static void dry_discard(ambit__function *fn)
{
  free(fn->plan);
  free(fn);
}

static ambit_status dry_serve(ambit__device *dev, ambit__command *c)
{
  switch (c->kind) {
  case COMMAND_queue_open:
  case COMMAND_queue_close: return ambit__host_serve(dev, c);
  case COMMAND_alloc: return dry_alloc(dev, c->alloc.bytes, c->alloc.buffer);
  case COMMAND_release: free(c->release.buffer); break;
  case COMMAND_message_open:
    return dry_message_open(dev, c->message_open.bytes, c->message_open.message);
  case COMMAND_message_close: free(c->message_close.message); break;
  case COMMAND_build: return build(dev, c->build.group, c->build.fn);
  case COMMAND_discard: dry_discard(c->discard.fn); break;
  case COMMAND_plans: ambit__plan_list(c->plans.group, target_of(dev), c->plans.lines); break;
  default: break;
  }
  return AMBIT_OK;
}

/* ---- the tables ---- */

/* Common to all. */
#define ENTRIES                                                                                    \
  .name = "dry", .summary = "does nothing", .count = dry_count, .close = dry_close,                \
  .info = dry_info, .execute = dry_execute, .serve = dry_serve
#define PARTS AMBIT__CAN(ghosts) | AMBIT__CAN(pack)
#define PLANS PARTS | AMBIT__CAN(plans)

/* One part, like ref. */
static const ambit__backend whole = {ENTRIES, .open = open_whole};
static const ambit__backend parts = {ENTRIES, .can = PARTS, .open = open_parts};
static const ambit__backend waves = {ENTRIES, .can = PLANS | AMBIT__CAN(wave), .open = open_waves};
static const ambit__backend cuda = {ENTRIES, .can = PLANS, .open = open_cuda, .estimate = estimate};
static const ambit__backend opencl = {ENTRIES, .can = PLANS, .open = open_opencl,
                                      .estimate = estimate};

const ambit__backend *ambit__backend_dry(const ambit__backend *real)
{
  if (real == &ambit__backend_cuda) return &cuda;
  if (real == &ambit__backend_opencl) return &opencl;
  return ambit__can(real, wave) ? &waves : ambit__can(real, ghosts) ? &parts : &whole;
}

bool ambit__dry_gpu(const char *devices, const ambit__machine *m, ambit__target *t)
{
  const bool is_cuda = !strncmp(devices, "cuda", 4);

  if (!is_cuda && strncmp(devices, "opencl", 6) != 0) return false;
  *t = gpu_like(is_cuda ? &cuda_target : &opencl_target, m);
  return true;
}
