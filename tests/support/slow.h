/* SPDX-License-Identifier: BSD-3-Clause */
/* slow.h - devices for tests: cores that take as long as they are told.
 *
 * `slow:0` and `slow:1` are devices beside `cpu`. After a launch they sleep until it has taken its
 * time, so that the ratio of their speeds is known on a busy machine too, and no core is kept busy.
 * They can also be told to fail.
 */
#ifndef AMBIT_TEST_SLOW_H
#define AMBIT_TEST_SLOW_H

#include "base/clock.h"
#include "device/device.h"
#include "device/measure.h"

#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

static ambit__backend slow_backend, slow_second; /* the tables of slow:0 and slow:1 */
static _Atomic double slow_ns[2];                /* time of a cell in ns; 0: as long as it takes */
static double slow_bandwidth[2];                 /* as slow_copies says, bytes per second */
static bool slow_is_one_chip;                    /* both devices are the same */
static atomic_int slow_fails_in = -1;            /* launches until one fails; -1: none does */

static int slow_count(void)
{
  return 2;
}

static ambit_status slow_open(ambit__errors *errors, const ambit__settings *settings, int ordinal,
                              ambit__device **dev)
{
  ambit_status s = ambit__backend_cpu.open(errors, settings, 0, dev);

  if (s) return s;
  (*dev)->backend = ordinal ? &slow_second : &slow_backend;
  ambit__machine_forget_speeds(&(*dev)->machine); /* those that were noted of the cores */
  (*dev)->machine.measured = false;
  ambit__device_describe(*dev);
  return AMBIT_OK;
}

/* Sleeps for so long on the whole. Sleeps take longer than asked, so short ones are put together,
 * and what one was too long is taken off the next. */
static void slow_sleep(int which, double seconds)
{
  static double due[2];
  double start;

  due[which] += seconds;
  if (due[which] < 0.2e-3) return;
  start = ambit__clock();
  nanosleep(&(struct timespec){(time_t)due[which],
                               (long)((due[which] - (double)(time_t)due[which]) * 1e9)},
            NULL);
  due[which] -= ambit__clock() - start;
}

static ambit_status slow_execute(ambit__queue *q, const ambit__command *c)
{
  const int which = q->device->backend == &slow_second;
  const double start = ambit__clock(), ns = slow_ns[which];
  const ambit__launch *l = c->launch.launch;

  if (c->kind != COMMAND_launch) return ambit__backend_cpu.execute(q, c);
  if (slow_fails_in >= 0 && slow_fails_in-- == 0)
    return ambit__raise(q->device->errors, AMBIT_EDEVICE, "a cable was pulled");
  AMBIT_TRY(ambit__backend_cpu.execute(q, c));
  if (ns > 0 && l->box.ndims)
    slow_sleep(which, 1e-9 * ns * (double)ambit__box_volume(&l->box) - (ambit__clock() - start));
  return AMBIT_OK;
}

static double slow_copy(ambit__device *dev)
{
  return slow_bandwidth[dev->backend == &slow_second];
}

static ambit_status slow_serve(ambit__device *dev, ambit__command *c)
{
  if (c->kind != COMMAND_measure) return ambit__backend_cpu.serve(dev, c);
  c->measure.machine->copy = 1e-9 * slow_copy(dev);
  c->measure.machine->alone = 0.1;
  return AMBIT_OK;
}

/* Bandwidths are remembered by identity. */
static void slow_info(ambit__device *dev, ambit__device_info *info)
{
  ambit__backend_cpu.info(dev, info);
  info->chip = slow_is_one_chip;
  snprintf(info->identity, sizeof info->identity, "%g", slow_copy(dev));
}

/* Their copy bandwidths; 0, 0: unknown, as at first. For contexts opened later. */
static inline void slow_copies(double first, double second)
{
  slow_bandwidth[0] = first;
  slow_bandwidth[1] = second;
  slow_backend.can &= ~AMBIT__CAN(measure);
  slow_backend.can |= first > 0 ? AMBIT__CAN(measure) : 0;
  slow_second.can = slow_backend.can;
}

/* Makes the devices available to all contexts opened later. */
static inline void slow_add(void)
{
  slow_backend = ambit__backend_cpu;
  slow_backend.name = "slow";
  slow_backend.count = slow_count;
  slow_backend.open = slow_open;
  slow_backend.info = slow_info;
  slow_backend.execute = slow_execute;
  slow_backend.serve = slow_serve;
  slow_backend.can &= ~(AMBIT__CAN(wave) | AMBIT__CAN(tiles));
  slow_second = slow_backend;
  slow_copies(0, 0);
  ambit__backend_add(&slow_backend);
}

#endif
