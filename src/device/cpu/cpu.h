/* SPDX-License-Identifier: BSD-3-Clause */
/* cpu.h - shared by the files of the CPU device.
 *
 *   cpu.c       the device and its queues
 *   function.c  builds functions
 *   launch.c    runs them, divided among the threads
 *   memory.c    buffers, copies and ghost cells, divided among the threads
 *   trial.c     finds the fastest plan of a function
 *   wave.c      several iterations in one pass
 *   tiles.c     some tiles of a grid, and their changes
 *   relax.c     a part that is brought to rest in place; see relax.h
 */
#ifndef AMBIT_DEVICE_CPU_CPU_H
#define AMBIT_DEVICE_CPU_CPU_H

#include "ambit.h"
#include "ambit_compiled.h"
#include "codegen/prelude/full_call.h"
#include "device/cpu/compile.h"
#include "device/cpu/machine.h"
#include "device/cpu/pool.h"
#include "device/host.h"

#include <stdalign.h>
#include <stdatomic.h>

/* The state of a thread, on its own cache line. */
typedef struct ambit__cpu_share {
  alignas(64) atomic_int next; /* launch: its next slab; wave: 1 when its own cells are done */
} ambit__cpu_share;

typedef struct ambit__cpu {
  ambit__device head;
  ambit__pool *pool;
  ambit__cpu_share *shares; /* of a launch or wave, one per thread */
  ambit_full_call *calls;   /* of the stages of a wave */
  int calls_cap;
  ambit__long *waste; /* by thread and parameter: reductions of a wave, which nobody sees */
  int64_t *results;   /* those that count: by stage, owner and word; results_cap words */
  size_t results_cap;
  unsigned char *kept; /* by thread: the values of a tile before a launch */
  size_t kept_bytes;   /* of one thread */
  ambit__cc *cc;
  ambit__cc *other_cc;            /* another compiler (trial.c); NULL: none was looked for */
  ambit__settings other_settings; /* of it */
  bool warned;                    /* the warning about a missing compiler was printed */
} ambit__cpu;

enum { AMBIT__CPU_PAGE = 4096 };

/* ---- function.c: entries of the backend ---- */

void ambit__cpu_plans(ambit__device *dev, const ambit__group *g, ambit__text *lines); /* trial.c */
void ambit__cpu_foresee(ambit__device *dev, const ambit__group *g);
ambit_status ambit__cpu_build(ambit__device *dev, const ambit__group *g, ambit__function **fn);
void ambit__cpu_discard(ambit__device *dev, ambit__function *fn);

/* ---- commands: launch.c, fold.c, most.c, and files of their names ---- */

typedef ambit_status ambit__cpu_work(ambit__queue *q, const ambit__command *c);
ambit__cpu_work ambit__cpu_launch, ambit__cpu_tile_fold, ambit__cpu_tiles, ambit__cpu_relax,
    ambit__cpu_wave, ambit__cpu_fold_box, ambit__cpu_most;

/* ---- launch.c: what launches, waves and tiles share ---- */

/* The number of threads worth waking for work that takes one of them so many nanoseconds. */
int ambit__cpu_threads_for(const ambit__cpu *d, double ns);

/* Fills in all but the box and the iteration. */
void ambit__cpu_fill_call(const ambit__argument *args, int nargs, const int64_t *extents, int ndims,
                          ambit_compiled_call *call);
/* Lets the reductions of a call go to `partial`; if it begins, of no cells so far. */
void ambit__cpu_point(const ambit__function *fn, int64_t *partial, bool begins,
                      ambit_compiled_call *call);

/* Runs the function on a box. `call` is complete except for the box and the addresses of
 * reductions, whose results go to `partial`, of as many words as it has. */
void ambit__cpu_run_box(const ambit__function *fn, const ambit_full_call *call,
                        const ambit__box *box, int64_t *partial);
/* The same on chunks first .. end - 1 of a table. */
void ambit__cpu_run_chunks(const ambit__function *fn, const ambit_full_call *call,
                           const ambit__chunks *chunks, int64_t first, int64_t end,
                           int64_t *partial);
/* Gives values to the cells beside the runs of fields that a launch on a sparse grid reads. */
void ambit__cpu_set_bounds(const ambit__launch *l);
void ambit__cpu_call(const ambit__function *fn, const ambit_compiled_call *call); /* complete */
/* Folds n results, one behind the other, and sets the scalars. */
void ambit__cpu_fold(const ambit__function *fn, const ambit__launch *l, const int64_t *partials,
                     int64_t n);

/* Between pieces of work of the calling thread: lets messages make progress, if it is time. */
void ambit__cpu_poll(ambit__queue *q);

/* ---- memory.c ---- */

ambit_status ambit__cpu_alloc(ambit__device *dev, size_t bytes, const ambit__layout *layout,
                              ambit__buffer **buf);
void ambit__cpu_divide(ambit__device *dev, int64_t values, ambit__team_work work, void *arg);

#endif
