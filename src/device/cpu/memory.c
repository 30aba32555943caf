/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c - the memory of the CPU device: that of host.h, divided among the threads. */
#include "device/cpu/cpu.h"
#include "plan/fitted.h"

#include <stdlib.h>
#include <string.h>

enum { VALUE_BYTES = 8 }; /* of a float, read and written */

int ambit__cpu_threads_for(const ambit__cpu *d, double ns)
{
  const ambit__machine *m = &d->head.machine;
  const double few = m->cores > AMBIT__FIT_FEW ? m->cores / (double)AMBIT__FIT_FEW : 1;
  const double n = ns * few / (AMBIT__FIT_WORTH * m->launch) + 0.5;
  const int most = ambit__pool_threads(d->pool);

  return n < 1 ? 1 : n < most ? (int)n : most;
}

void ambit__cpu_divide(ambit__device *dev, int64_t values, ambit__team_work work, void *arg)
{
  const ambit__cpu *d = (const ambit__cpu *)dev;
  const double ns = VALUE_BYTES * (double)values * dev->machine.cores / dev->machine.copy2;

  ambit__pool_run(d->pool, ambit__cpu_threads_for(d, ns), work, arg);
}

/* ---- buffers ---- */

typedef struct touch_job {
  const ambit__layout *layout;
  unsigned char *base;
} touch_job;

/* Zeroes the pages of this thread's slab of axis 0. */
static void touch(void *arg, int thread, int threads)
{
  const touch_job *job = arg;
  const ambit__layout *l = job->layout;
  const bool one = l->order == AMBIT_AOS || l->components == 1;
  const size_t plane = one ? l->bytes : (size_t)l->component * ambit_type_size(l->type);
  const size_t planes = l->bytes / plane, pages = plane / AMBIT__CPU_PAGE;

  for (size_t c = 0; c < planes; c++) {
    size_t first = pages * (size_t)thread / (size_t)threads * AMBIT__CPU_PAGE;
    size_t end = pages * (size_t)(thread + 1) / (size_t)threads * AMBIT__CPU_PAGE;

    if (thread + 1 == threads) end = c + 1 == planes ? l->bytes - c * plane : plane;
    memset(job->base + c * plane + first, 0, end - first);
  }
}

ambit_status ambit__cpu_alloc(ambit__device *dev, size_t bytes, const ambit__layout *layout,
                              ambit__buffer **buf)
{
  ambit__cpu *d = (ambit__cpu *)dev;

  AMBIT_TRY(ambit__host_alloc(dev, bytes, layout, buf));
  if (layout && ((ambit__host_buffer *)*buf)->mapped) {
    touch_job job = {layout, ambit__host_base(*buf)};

    ambit__pool_run(d->pool, ambit__pool_threads(d->pool), touch, &job);
  }
  return AMBIT_OK;
}
