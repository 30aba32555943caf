/* SPDX-License-Identifier: BSD-3-Clause */
/* host.h - memory and copies of the devices that work in host memory: ref and cpu.
 *
 * Functions with the signature of an ambit__backend entry can be used in a backend's table
 * directly, the others execute commands; all of them complete before they return. Ghost cells are
 * filled one axis after the other, each from the results of the axes before it, so that corners
 * have the values that grid/boundary.h defines:
 *
 *        axis 0           axis 1          2-D: rows are copied above and below the grid, then
 *      . ####### .      ##.......##       the ends of all rows, the new ones too
 *      .         .      ##       ##
 *      . ####### .      ##.......##
 *
 * A device with threads can divide the work of one axis among them, by rows.
 */
#ifndef AMBIT_DEVICE_HOST_H
#define AMBIT_DEVICE_HOST_H

#include "device/device.h"

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

/* The most bytes that this process may use, and the bytes now free, within all limits of its
 * control groups. */
void ambit__host_memory(size_t *memory, size_t *free);

/* Large buffers are untouched pages, so that each page is placed near the thread that writes to it
 * first. The layout is not used and may be NULL. Releasing NULL does nothing. */
ambit_status ambit__host_alloc(ambit__device *dev, size_t bytes, const ambit__layout *layout,
                               ambit__buffer **buf);
void ambit__host_release(ambit__device *dev, ambit__buffer *buf);

/* Executes put, get, write, read, lattice and fill on the calling thread; others do nothing. */
ambit_status ambit__host_execute(ambit__queue *q, const ambit__command *c);
ambit_status ambit__host_write_box(ambit__queue *q, ambit__store *dst, const ambit__box *box,
                                   const void *src);
ambit_status ambit__host_read_box(ambit__queue *q, void *dst, ambit__store *src,
                                  const ambit__box *box);
ambit_status ambit__host_read_lattice(ambit__queue *q, void *dst, ambit__store *src,
                                      const ambit__lattice *l);
ambit_status ambit__host_fill_box(ambit__queue *q, ambit__store *dst, const ambit__box *box,
                                  const void *value);

/* Executes queue_open, queue_close, alloc, release, message_open and message_close: plain queues,
 * and messages in plain memory. Others do nothing. */
ambit_status ambit__host_serve(ambit__device *dev, ambit__command *c);

/* ---- host_boxes.c: copies that threads can divide ---- */

/* Values along one axis of a copy, and the stride in bytes on either side. */
typedef struct ambit__host_axis {
  int64_t count, to, from;
} ambit__host_axis;

typedef struct ambit__host_copy {
  size_t size;    /* bytes of a value */
  int64_t values; /* total; 0: nothing to copy */
  unsigned char *to;
  const unsigned char *from;
  int naxes; /* at least 1 if there are values */
  ambit__host_axis axes[AMBIT_MAX_DIMS + 1];
} ambit__host_copy;

/* From a dense array to a store, from a store to an array, from one value to a store, and between
 * stores: see the commands write, read, fill and copy. Boxes may include margins. */
ambit__host_copy ambit__host_copy_in(ambit__store *dst, const ambit__box *box, const void *src);
ambit__host_copy ambit__host_copy_out(void *dst, ambit__store *src, const ambit__box *box);
ambit__host_copy ambit__host_copy_lattice(void *dst, ambit__store *src, const ambit__lattice *l);
ambit__host_copy ambit__host_copy_of_one(ambit__store *dst, const ambit__box *box,
                                         const void *value);
ambit__host_copy ambit__host_copy_across(ambit__store *dst, ambit__store *src,
                                         const ambit__box *box, const int64_t *shift);

void ambit__host_copy_run(const ambit__host_copy *c);
/* The share of thread number `thread`. */
ambit__host_copy ambit__host_copy_share(const ambit__host_copy *whole, int thread, int threads);

/* ---- host_ghosts.c ---- */

/* Fills ghost cells, on the calling thread. Cells behind AMBIT_NONE and AMBIT_FIXED faces are not
 * changed. */
ambit_status ambit__host_ghosts(ambit__queue *q, ambit__store *store, const ambit__boundaries *b,
                                const int64_t *extents, const ambit__box *given,
                                const ambit__box *reach);

/* Changes the sign of n real numbers of `size` bytes. */
void ambit__host_negate(unsigned char *values, int64_t n, size_t size);

/* The same, divided among threads. For each axis in order: rows first..end-1 of the
 * ambit__host_ghost_count rows, in any order and by any threads, all of them before the next axis
 * begins. */
typedef struct ambit__host_ghosts_job {
  const ambit__layout *layout;
  const ambit__boundaries *boundaries;
  const int64_t *extents; /* of the grid */
  int last;               /* the last axis */
  int64_t size;           /* bytes of a value */
  ambit__box given;
  unsigned char *origin;       /* the first cell of given, component 0 */
  int64_t low[AMBIT_MAX_DIMS]; /* cells to fill before given, per axis: 0 at NONE and FIXED faces */
  int64_t high[AMBIT_MAX_DIMS]; /* and after */
} ambit__host_ghosts_job;

void ambit__host_ghosts_begin(ambit__host_ghosts_job *job, ambit__store *store,
                              const ambit__boundaries *b, const int64_t *extents,
                              const ambit__box *given, const ambit__box *reach);
int64_t ambit__host_ghost_count(const ambit__host_ghosts_job *job, int axis);
void ambit__host_ghost_rows(const ambit__host_ghosts_job *job, int axis, int64_t first,
                            int64_t end);

/* ---- host_runs.c: stores of sparse grids ---- */

/* The same commands for the active cells of a box, in the runs first .. end - 1. Values of other
 * cells of an array are neither read nor written. A packed array has active cells only, one behind
 * the other. */
typedef struct ambit__host_runs_job {
  enum { AMBIT__RUNS_IN, AMBIT__RUNS_OUT, AMBIT__RUNS_FILL } way;
  bool packed;
  ambit__store *store;
  const ambit__box *box;
  unsigned char *dense; /* the array, only read from if cells come in; or the value to fill with */
} ambit__host_runs_job;

void ambit__host_runs_copy(const ambit__host_runs_job *job, int64_t first, int64_t end);
/* Copies the active cells of a box to another store that has them. */
ambit_status ambit__host_copy_runs(ambit__queue *q, ambit__store *dst, ambit__store *src,
                                   const ambit__box *box);

/* ---- host_bounds.c: what launches on sparse grids read beside runs ---- */

/* Gives the cells that have no values those that reads of a parameter get: constants, if the buffer
 * does not have them, and the copies among the edges. */
void ambit__host_bounds(ambit__store *store, const ambit__chunks *chunks, int param);

/* ---- host_ghost_box.c ---- */

/* Fills a box of ghost cells. Along each axis it lies in the grid, or beyond one face of it, which
 * is not AMBIT_FIXED. Beyond a face that is AMBIT_NONE cells stand for themselves. */
void ambit__host_ghost_box(ambit__store *store, const ambit__boundaries *b, const int64_t *extents,
                           const ambit__box *box);

#endif
