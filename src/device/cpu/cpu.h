/* SPDX-License-Identifier: BSD-3-Clause */
/* cpu.h - shared by the files of the CPU device.
 *
 *   cpu.c       the device, building and launching functions
 *   memory.c    buffers, copies and ghost cells, divided among the threads
 */
#ifndef AMBIT_DEVICE_CPU_CPU_H
#define AMBIT_DEVICE_CPU_CPU_H

#include "device/cpu/compile.h"
#include "device/cpu/machine.h"
#include "device/cpu/pool.h"
#include "device/host.h"

typedef struct ambit__cpu {
  ambit__device head;
  ambit__machine machine;
  ambit__pool *pool;
  struct share *shares; /* of a launch, one per thread */
  ambit__cc *cc;
  bool warned;           /* the warning about a missing compiler was printed */
  double copy_bandwidth; /* 0: not measured yet */
} ambit__cpu;

enum { AMBIT__CPU_PAGE = 4096 };

/* The number of threads worth waking for this many cells. */
int ambit__cpu_threads_for(const ambit__cpu *d, int64_t cells);

/* ---- memory.c: entries of the backend; complete when they return ---- */

ambit_status ambit__cpu_alloc(ambit__device *dev, size_t bytes, const ambit__layout *layout,
                              ambit__buffer **buf);
ambit_status ambit__cpu_write_box(ambit__queue *q, ambit__store *dst, const ambit__box *box,
                                  const void *src);
ambit_status ambit__cpu_read_box(ambit__queue *q, void *dst, ambit__store *src,
                                 const ambit__box *box);
ambit_status ambit__cpu_fill_box(ambit__queue *q, ambit__store *dst, const ambit__box *box,
                                 const void *value);
ambit_status ambit__cpu_copy_box(ambit__queue *q, ambit__store *dst, ambit__store *src,
                                 const ambit__box *box, const int64_t *shift);
ambit_status ambit__cpu_pack(ambit__queue *q, ambit__message *m, size_t at, ambit__store *src,
                             const ambit__box *box);
ambit_status ambit__cpu_unpack(ambit__queue *q, ambit__store *dst, const ambit__box *box,
                               ambit__message *m, size_t at);
ambit_status ambit__cpu_ghosts(ambit__queue *q, ambit__store *store, const ambit__boundaries *b,
                               const int64_t *extents, const ambit__box *given,
                               const ambit__box *reach);

#endif
