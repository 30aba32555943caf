/* SPDX-License-Identifier: BSD-3-Clause */
/* slow.h - a device for tests: cores that take longer.
 *
 * `slow` is a second device beside `cpu`. Each of its launches is followed by a sleep of a multiple
 * of its time, so that the device is slower without keeping a core busy. It can also be told to
 * fail.
 */
#ifndef AMBIT_TEST_SLOW_H
#define AMBIT_TEST_SLOW_H

#include "base/clock.h"
#include "device/device.h"

#include <stdatomic.h>
#include <time.h>

static ambit__backend slow_backend;
static _Atomic double slow_factor = 1; /* time of a launch, in times that of cpu */
static atomic_int slow_fails_in = -1;  /* launches until one fails; -1: none does */

static ambit_status slow_open(ambit__errors *errors, const ambit__settings *settings, int ordinal,
                              ambit__device **dev)
{
  ambit_status s = ambit__backend_cpu.open(errors, settings, ordinal, dev);

  if (!s) (*dev)->backend = &slow_backend;
  return s;
}

static void slow_sleep(double seconds)
{
  const struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};

  nanosleep(&t, NULL);
}

static ambit_status slow_launch(ambit__queue *q, ambit__function *fn, const ambit__launch *l)
{
  const double start = ambit__clock(), factor = slow_factor;

  if (slow_fails_in >= 0 && slow_fails_in-- == 0)
    return ambit__raise(q->device->errors, AMBIT_EDEVICE, "a cable was pulled");
  AMBIT_TRY(ambit__backend_cpu.launch(q, fn, l));
  if (factor > 1) slow_sleep((ambit__clock() - start) * (factor - 1));
  return AMBIT_OK;
}

/* Makes the device `slow` available to all contexts opened later. */
static inline void slow_add(void)
{
  slow_backend = ambit__backend_cpu;
  slow_backend.name = "slow";
  slow_backend.open = slow_open;
  slow_backend.launch = slow_launch;
  slow_backend.wave = NULL;
  slow_backend.tiles = NULL;
  ambit__backend_add(&slow_backend);
}

#endif
