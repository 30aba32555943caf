/* SPDX-License-Identifier: BSD-3-Clause */
/* cpu.c - the CPU device: its threads and table of entries. Work is complete when a call
 * returns. */
#include "device/cpu/cpu.h"

#include "base/memory.h"
#include "device/cpu/limits.h"
#include "device/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
#ifdef __aarch64__
  SHORT_ROWS = 0 /* the loops of generated code have long beginnings: plan/rows.c */
#else
  SHORT_ROWS = 1
#endif
};

typedef ambit__cpu device;

static int count(void)
{
  return 1;
}

static void close_device(ambit__device *dev)
{
  device *d = (device *)dev;

  ambit__cc_close(d->other_cc);
  ambit__cc_close(d->cc);
  ambit__pool_close(d->pool);
  free(d->shares);
  free(d->calls);
  free(d->waste);
  free(d->results);
  free(d->kept);
  free(d);
}

/* Threads to start: as many as configured, or this process's share of the cores, unless the
 * launcher has already divided them. */
static int own_threads(const ambit__settings *s)
{
  int cores = ambit__machine_cores();

  if (s->threads) return s->threads;
  if (s->sharers > 1 && cores >= sysconf(_SC_NPROCESSORS_ONLN)) cores /= s->sharers;
  return cores > 1 ? cores : 1;
}

/* Beside other devices a core is left to the thread that drives them. */
static void alone(ambit__device *dev, bool alone_)
{
  const device *d = (const device *)dev;
  const bool leaves = dev->settings->companions && !dev->settings->threads && !alone_;

  ambit__pool_use(d->pool, ambit__pool_most(d->pool) - leaves);
}

static ambit_status open_device(ambit__errors *errors, const ambit__settings *settings, int ordinal,
                                ambit__device **dev)
{
  device *d;
  ambit_status s;

  AMBIT_CHECK(ordinal == 0, errors, AMBIT_ENODEVICE, "there is one device cpu:0, and no cpu:%d",
              ordinal);
  AMBIT_NEW(errors, d, 1);
  d->head = (ambit__device){.backend = &ambit__backend_cpu,
                            .errors = errors,
                            .settings = settings,
                            .divide = ambit__cpu_divide};
  ambit__machine_probe("", &d->head.machine);
  AMBIT_TRY_GOTO(s, ambit__pool_open(errors, own_threads(settings), &d->pool), fail);
  d->head.machine.cores = ambit__pool_most(d->pool);
  alone(&d->head, false);
  d->shares = aligned_alloc(alignof(ambit__cpu_share),
                            (size_t)ambit__pool_most(d->pool) * sizeof *d->shares);
  if (!d->shares)
    AMBIT_TRY_GOTO(s, ambit__raise(errors, AMBIT_ENOMEM, "no memory for the threads"), fail);
  AMBIT_TRY_GOTO(s, ambit__cc_open(errors, settings, &d->cc), fail);
  ambit__device_describe(&d->head);
  *dev = &d->head;
  return AMBIT_OK;
fail:
  close_device(&d->head);
  return s;
}

static void info(ambit__device *dev, ambit__device_info *out)
{
  const device *d = (const device *)dev;
  int n = ambit__pool_threads(d->pool);

  snprintf(out->name, sizeof out->name, "%s, %d thread%s", dev->machine.name, n, n == 1 ? "" : "s");
  snprintf(out->identity, sizeof out->identity, "%s, compiler %s", out->name,
           d->cc->available ? d->cc->compiler.version : "none");
  out->cores = n;
  out->short_rows = SHORT_ROWS;
  ambit__host_memory(&out->memory, &out->free);
}

static ambit_status execute(ambit__queue *q, const ambit__command *c)
{
  switch (c->kind) {
  case COMMAND_most: return ambit__cpu_most(q, c);
  case COMMAND_launch: return ambit__cpu_launch(q, c);
  case COMMAND_tiles: return ambit__cpu_tiles(q, c);
  case COMMAND_tile_fold: return ambit__cpu_tile_fold(q, c);
  case COMMAND_relax: return ambit__cpu_relax(q, c);
  case COMMAND_wave: return ambit__cpu_wave(q, c);
  case COMMAND_fold: return ambit__cpu_fold_box(q, c);
  default: return ambit__host_execute(q, c);
  }
}

static ambit_status serve(ambit__device *dev, ambit__command *c)
{
  switch (c->kind) {
  case COMMAND_alloc:
    return ambit__cpu_alloc(dev, c->alloc.bytes, c->alloc.layout, c->alloc.buffer);
  case COMMAND_build: return ambit__cpu_build(dev, c->build.group, c->build.fn);
  case COMMAND_discard: ambit__cpu_discard(dev, c->discard.fn); break;
  case COMMAND_plans: ambit__cpu_plans(dev, c->plans.group, c->plans.lines); break;
  case COMMAND_foresee: ambit__cpu_foresee(dev, c->foresee.group); break;
  case COMMAND_measure:
    ambit__cpu_measure(((device *)dev)->pool, c->measure.all, c->measure.machine);
    break;
  case COMMAND_alone: alone(dev, c->alone.alone); break;
  default: return ambit__host_serve(dev, c);
  }
  return AMBIT_OK;
}

const ambit__backend ambit__backend_cpu = {
    .name = "cpu",
    .summary = "all cores, with kernels compiled for this processor",
    .comm_cost = AMBIT__CORES_COMM_COST,
    .sparse = true,
    .wide_activity = true, /* with bytes, gcc 12 makes vectors of 16 cells, and ends cell by cell */
    .can = AMBIT__CAN(most) | AMBIT__CAN(ghosts) | AMBIT__CAN(pack) | AMBIT__CAN(fold) |
           AMBIT__CAN(wave) | AMBIT__CAN(tiles) | AMBIT__CAN(relax) | AMBIT__CAN(plans) |
           AMBIT__CAN(measure),
    .count = count,
    .open = open_device,
    .close = close_device,
    .info = info,
    .execute = execute,
    .serve = serve,
    .address = ambit__host_base,
};
