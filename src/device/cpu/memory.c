/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c - the memory of the CPU device: the functions of host.h, divided among the threads. */
#include "device/cpu/cpu.h"
#include "plan/fitted.h"

#include <assert.h>
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

static int threads_to_copy(const ambit__cpu *d, int64_t values)
{
  const ambit__machine *m = &d->head.machine;

  return ambit__cpu_threads_for(d, VALUE_BYTES * (double)values * m->cores / m->copy2);
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

/* ---- boxes ---- */

static void copy_share(void *arg, int thread, int threads)
{
  const ambit__host_copy mine = ambit__host_copy_share(arg, thread, threads);

  ambit__host_copy_run(&mine);
}

static ambit_status run_copy(ambit__queue *q, ambit__host_copy c)
{
  ambit__cpu *d = (ambit__cpu *)q->device;

  ambit__pool_run(d->pool, threads_to_copy(d, c.values), copy_share, &c);
  return AMBIT_OK;
}

/* A share of the runs of a sparse grid. */
static void copy_runs(void *arg, int thread, int threads)
{
  const ambit__host_runs_job *job = arg;
  const int64_t n = job->store->layout.active->n;

  ambit__host_runs_copy(job, n * thread / threads, n * (thread + 1) / threads);
}

static ambit_status run_runs(ambit__queue *q, ambit__store *store, const ambit__box *box,
                             ambit__runs_way way, const void *bytes)
{
  ambit__cpu *d = (ambit__cpu *)q->device;
  ambit__host_runs_job job = {
      .way = way, .store = store, .box = box, .dense = (unsigned char *)(uintptr_t)bytes};
  const int64_t stored = store->layout.active->cells;
  const int64_t asked = ambit__box_volume(box), cells = asked < stored ? asked : stored;

  ambit__pool_run(d->pool, threads_to_copy(d, cells), copy_runs, &job);
  return AMBIT_OK;
}

ambit_status ambit__cpu_write_box(ambit__queue *q, ambit__store *dst, const ambit__box *box,
                                  const void *src)
{
  if (dst->layout.active) return run_runs(q, dst, box, AMBIT__RUNS_IN, src);
  return run_copy(q, ambit__host_copy_in(dst, box, src));
}

ambit_status ambit__cpu_read_box(ambit__queue *q, void *dst, ambit__store *src,
                                 const ambit__box *box)
{
  if (src->layout.active) return run_runs(q, src, box, AMBIT__RUNS_OUT, dst);
  return run_copy(q, ambit__host_copy_out(dst, src, box));
}

ambit_status ambit__cpu_read_lattice(ambit__queue *q, void *dst, ambit__store *src,
                                     const ambit__lattice *l)
{
  return run_copy(q, ambit__host_copy_lattice(dst, src, l));
}

ambit_status ambit__cpu_fill_box(ambit__queue *q, ambit__store *dst, const ambit__box *box,
                                 const void *value)
{
  if (dst->layout.active) return run_runs(q, dst, box, AMBIT__RUNS_FILL, value);
  return run_copy(q, ambit__host_copy_of_one(dst, box, value));
}

ambit_status ambit__cpu_copy_box(ambit__queue *q, ambit__store *dst, ambit__store *src,
                                 const ambit__box *box, const int64_t *shift)
{
  if (src->layout.active) return ambit__host_copy_runs(q, dst, src, box);
  return run_copy(q, ambit__host_copy_across(dst, src, box, shift));
}

/* Active cells of a box, to or from a message. */
static ambit_status pack_runs(ambit__store *store, const ambit__box *box, ambit__runs_way way,
                              unsigned char *bytes)
{
  const ambit__host_runs_job job = {
      .way = way, .packed = true, .store = store, .box = box, .dense = bytes};

  ambit__host_runs_copy(&job, 0, store->layout.active->n);
  return AMBIT_OK;
}

ambit_status ambit__cpu_pack(ambit__queue *q, ambit__message *m, size_t at, ambit__store *src,
                             const ambit__box *box)
{
  if (src->layout.active) return pack_runs(src, box, AMBIT__RUNS_OUT, m->bytes + at);
  assert(at + ambit__layout_box_bytes(&src->layout, box) <= m->size);
  return run_copy(q, ambit__host_copy_out(m->bytes + at, src, box));
}

ambit_status ambit__cpu_unpack(ambit__queue *q, ambit__store *dst, const ambit__box *box,
                               ambit__message *m, size_t at)
{
  if (dst->layout.active) return pack_runs(dst, box, AMBIT__RUNS_IN, m->bytes + at);
  assert(at + ambit__layout_box_bytes(&dst->layout, box) <= m->size);
  return run_copy(q, ambit__host_copy_in(dst, box, m->bytes + at));
}

/* ---- ghosts ---- */

typedef struct ghost_job {
  ambit__queue *queue;
  ambit__store *store;
} ghost_job;

static ambit_status fill_patch(void *user, const ambit__patch *p)
{
  const ghost_job *job = user;

  return run_copy(job->queue, ambit__host_copy_within(job->store, p));
}

ambit_status ambit__cpu_ghosts(ambit__queue *q, ambit__store *store, const ambit__boundaries *b,
                               const int64_t *extents, const ambit__box *given,
                               const ambit__box *reach)
{
  const int64_t cells = ambit__box_volume(reach) - ambit__box_volume(given);

  if (ambit__box_is_empty(given) || threads_to_copy((ambit__cpu *)q->device, cells) == 1)
    return ambit__host_ghosts(q, store, b, extents, given, reach);
  return ambit__patch_ghosts(&store->layout, b, extents, given, reach, fill_patch,
                             &(ghost_job){q, store});
}
