/* host.h - memory and copies of the devices that work in the host's own memory: ref and cpu.
 *
 * The functions with the signature of an ambit__backend entry can stand in a backend's table as they are;
 * all of them are done when they return. A store's ghost cells are filled one axis after the other,
 * each over what the axes before it filled, so that corners come out as grid/boundary.h defines them:
 *
 *        axis 0           axis 1          2-D: rows are copied above and below the grid, then
 *      . ####### .      ##.......##       the ends of all rows, the new ones too
 *      .         .      ##       ##
 *      . ####### .      ##.......##
 *
 * A device with threads can share the work of one axis among them, by rows.
 */
#ifndef AMBIT_DEVICE_HOST_H
#define AMBIT_DEVICE_HOST_H

#include "device/device.h"

typedef struct ambit__host_buffer {
  ambit__buffer head;
  unsigned char *base; /* 64-byte aligned */
  size_t mapped;       /* bytes mapped at base, untouched so far; 0: base comes from the heap */
} ambit__host_buffer;

static inline unsigned char *ambit__host_base(ambit__buffer *buf)
{
  return ((ambit__host_buffer *)buf)->base;
}

/* Large buffers are fresh pages that nobody has touched: the first thread to write to a page has it near. The
 * layout does not matter here and may be NULL. Releasing NULL does nothing. */
ambit_status ambit__host_alloc(ambit__device *dev, size_t bytes, const ambit__layout *layout,
                               ambit__buffer **buf);
void ambit__host_release(ambit__device *dev, ambit__buffer *buf);

ambit_status ambit__host_put(ambit__queue *q, ambit__buffer *dst, const void *src, size_t bytes);
ambit_status ambit__host_get(ambit__queue *q, void *dst, ambit__buffer *src, size_t bytes);
ambit_status ambit__host_write_box(ambit__queue *q, ambit__store *dst, const ambit__box *box,
                                   const void *src);
ambit_status ambit__host_read_box(ambit__queue *q, void *dst, ambit__store *src,
                                  const ambit__box *box);

/* Fills all ghost cells, on the calling thread. The store covers the whole grid; its margins are at
 * least low and high, which may exceed the extents. Cells behind AMBIT_NONE and AMBIT_FIXED faces stay as
 * they are. */
ambit_status ambit__host_ghosts(ambit__queue *q, ambit__store *store, const ambit__boundaries *b,
                                const int64_t *extents, const int *low, const int *high);

/* The same in pieces. For each axis in order: rows first..end-1 of the ambit__host_ghost_count ones, in any order and
 * by any threads, all of them before the next axis begins. */
typedef struct ambit__host_ghosts_job {
  const ambit__layout *layout;
  const ambit__boundaries *boundaries;
  int last;                        /* axis */
  int64_t size;                    /* bytes of a value */
  unsigned char *origin;           /* the cell 0, 0, ... of component 0 */
  int64_t extents[AMBIT_MAX_DIMS]; /* of the grid */
  int low[AMBIT_MAX_DIMS];         /* ghosts to fill per axis: 0 at NONE and FIXED faces */
  int high[AMBIT_MAX_DIMS];
} ambit__host_ghosts_job;

void ambit__host_ghosts_begin(ambit__host_ghosts_job *job, ambit__store *store,
                              const ambit__boundaries *b, const int64_t *extents, const int *low,
                              const int *high);
int64_t ambit__host_ghost_count(const ambit__host_ghosts_job *job, int axis);
void ambit__host_ghost_rows(const ambit__host_ghosts_job *job, int axis, int64_t first,
                            int64_t end);

#endif
