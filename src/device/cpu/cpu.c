/* SPDX-License-Identifier: BSD-3-Clause */
/* cpu.c - the CPU device: its threads, queues and table of entries. Work is complete when a call
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
typedef ambit__cpu_queue queue;

/* ---- device and queue ---- */

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
  d = ambit__new(errors, 1, sizeof *d);
  if (!d) return AMBIT_ENOMEM;
  d->head = (ambit__device){.backend = &ambit__backend_cpu, .errors = errors, .settings = settings};
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

static ambit_status queue_open(ambit__device *dev, bool urgent, ambit__queue **out)
{
  queue *q = ambit__new(dev->errors, 1, sizeof *q);

  (void)urgent;
  if (!q) return AMBIT_ENOMEM;
  q->head.device = dev;
  *out = &q->head;
  return AMBIT_OK;
}

static void queue_close(ambit__queue *q)
{
  free(q);
}

static ambit_status wait(ambit__queue *q)
{
  (void)q;
  return AMBIT_OK;
}

static void measure(ambit__device *dev, bool all, ambit__machine *m)
{
  ambit__cpu_measure(((device *)dev)->pool, all, m);
}

const ambit__backend ambit__backend_cpu = {
    .name = "cpu",
    .summary = "all cores, with kernels compiled for this processor",
    .comm_cost = AMBIT__CORES_COMM_COST,
    .sparse = true,
    .wide_activity = true, /* with bytes, gcc 12 makes vectors of 16 cells, and ends cell by cell */
    .count = count,
    .open = open_device,
    .close = close_device,
    .info = info,
    .queue_open = queue_open,
    .queue_close = queue_close,
    .alloc = ambit__cpu_alloc,
    .release = ambit__host_release,
    .put = ambit__host_put,
    .get = ambit__host_get,
    .address = ambit__host_base,
    .write_box = ambit__cpu_write_box,
    .read_box = ambit__cpu_read_box,
    .read_lattice = ambit__cpu_read_lattice,
    .fill_box = ambit__cpu_fill_box,
    .copy_box = ambit__cpu_copy_box,
    .ghosts = ambit__cpu_ghosts,
    .message_open = ambit__host_message_open,
    .message_close = ambit__host_message_close,
    .pack = ambit__cpu_pack,
    .unpack = ambit__cpu_unpack,
    .plans = ambit__cpu_plans,
    .foresee = ambit__cpu_foresee,
    .build = ambit__cpu_build,
    .discard = ambit__cpu_discard,
    .launch = ambit__cpu_launch,
    .wait = wait,
    .tiles = ambit__cpu_tiles,
    .relax = ambit__cpu_relax,
    .tile_words = ambit__cpu_words,
    .tile_fold = ambit__cpu_tile_fold,
    .wave = ambit__cpu_wave,
    .fold = ambit__cpu_fold_box,
    .measure = measure,
    .alone = alone,
};
