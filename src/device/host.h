/* SPDX-License-Identifier: BSD-3-Clause */
/* host.h - memory and copies of the devices that work in host memory: ref and cpu.
 *
 * Functions with the signature of an ambit__backend entry can be used in a backend's table
 * directly, the others execute commands; all of them complete before they return.
 */
#ifndef AMBIT_DEVICE_HOST_H
#define AMBIT_DEVICE_HOST_H

#include "device/patches.h"

typedef struct ambit__host_buffer {
  ambit__buffer head;
  unsigned char *base;  /* 64-byte aligned */
  unsigned char *start; /* of its memory */
  size_t mapped;        /* bytes mapped at start, not touched by alloc; 0: it is from the heap */
} ambit__host_buffer;

static inline unsigned char *ambit__host_base(ambit__buffer *buf)
{
  return ((ambit__host_buffer *)buf)->base;
}

/* The address of a component of a cell. */
static inline unsigned char *ambit__host_at(const ambit__store *s, const int64_t *cell,
                                            int component)
{
  const ambit__layout *l = &s->layout;

  return ambit__host_base(s->buffer) +
         (size_t)(ambit__layout_at(l, cell) + component * l->component) * ambit_type_size(l->type);
}

/* The most bytes that this process may use, and the bytes now free, within all limits of its
 * control groups. */
void ambit__host_memory(size_t *memory, size_t *free);

/* Large buffers are untouched pages, so that each page is placed near the thread that writes to it
 * first. The layout is not used and may be NULL. Releasing NULL does nothing. */
ambit_status ambit__host_alloc(ambit__device *dev, size_t bytes, const ambit__layout *layout,
                               ambit__buffer **buf);
void ambit__host_release(ambit__device *dev, ambit__buffer *buf);

/* Executes put, get, write, read, lattice, fill, copy, update, ghosts, pack and unpack, by the
 * threads of the device if it has `divide`; others do nothing. Cells behind AMBIT_NONE and
 * AMBIT_FIXED faces are not ghost cells to fill. */
ambit_status ambit__host_execute(ambit__queue *q, const ambit__command *c);
/* The same as ambit__do: ambit__host_do(q, copy, &dst, &src, &box, shift). q may be NULL. */
#define ambit__host_do(q, name, ...) ambit__host_execute(q, AMBIT__COMMAND(name, __VA_ARGS__))

/* Executes queue_open, queue_close, alloc, release, message_open and message_close: plain queues,
 * and messages in plain memory. Others do nothing. */
ambit_status ambit__host_serve(ambit__device *dev, ambit__command *c);

/* ---- host_boxes.c: copies that threads can divide, and ghost cells ---- */

/* Values along one axis of a copy, and the stride in bytes on either side. */
typedef struct ambit__host_axis {
  int64_t count, to, from;
} ambit__host_axis;

typedef struct ambit__host_copy {
  size_t size;    /* bytes of a value */
  int64_t values; /* total; 0: nothing to copy */
  uint64_t flips; /* bits that copies have changed */
  unsigned char *to;
  const unsigned char *from;
  int naxes; /* at least 1 if there are values */
  ambit__host_axis axes[AMBIT_MAX_DIMS + 1];
} ambit__host_copy;

/* A patch of ghost cells, which must outlive the result. */
ambit__host_copy ambit__host_copy_within(ambit__store *store, const ambit__patch *p);

void ambit__host_copy_run(const ambit__host_copy *c);
/* The share of thread number `thread`. */
ambit__host_copy ambit__host_copy_share(const ambit__host_copy *whole, int thread, int threads);

/* Fills a box of ghost cells of a field, on the calling thread. Along each axis it lies in the
 * grid, or beyond one face of it, which is not AMBIT_FIXED. Beyond a face that is AMBIT_NONE cells
 * stand for themselves. */
void ambit__host_ghost_box(const ambit__argument *field, const int64_t *extents,
                           const ambit__box *box);

/* ---- host_runs.c: stores of sparse grids ---- */

/* The same commands for the active cells of a box, in the runs first .. end - 1. Values of other
 * cells of an array are neither read nor written. A packed array has active cells only, one behind
 * the other. */
typedef enum ambit__runs_way { AMBIT__RUNS_IN, AMBIT__RUNS_OUT, AMBIT__RUNS_FILL } ambit__runs_way;

typedef struct ambit__host_runs_job {
  ambit__runs_way way;
  bool packed;
  ambit__store *store;
  const ambit__box *box;
  unsigned char *dense; /* the array, only read from if cells come in; or the value to fill with */
} ambit__host_runs_job;

void ambit__host_runs_copy(const ambit__host_runs_job *job, int64_t first, int64_t end);
/* Copies the active cells of a box to another store that has them; or a box of cells, dense or not,
 * between stores alike. *changed: it changes a value; NULL: nobody asks. */
void ambit__host_copy_runs(const ambit__store *dst, const ambit__store *src, const ambit__box *box,
                           bool *changed);
void ambit__host_update(ambit__store *dst, const ambit__store *src, const ambit__box *box,
                        bool *changed);

/* ---- host_bounds.c: what launches on sparse grids read beside runs ---- */

/* Gives the cells that have no values those that reads of a parameter get: constants, if the buffer
 * does not have them, and the copies among the edges. */
void ambit__host_bounds(ambit__store *store, const ambit__chunks *chunks, int param);

#endif
