/* driver.h - what the GPU device needs from CUDA or OpenCL: memory, queues, events, functions.
 *
 * The GPU device (gpu.c and its neighbours) is written once, against this table. CUDA and OpenCL fill it in, each in its
 * own folder, with their libraries loaded at run time; everything that differs in the language of kernels
 * is a row of the dialect. All copies and launches are asynchronous, in order within a queue; host
 * memory that is copied from or to must come from host_alloc and stay alive until the queue has done it. All that is
 * released (memory, host memory, modules) may still be in use by queues: the driver waits, or keeps it until they are done.
 * Failures are raised in the errors handed to open; a failure for want of memory is AMBIT_ENOMEM wherever it shows, because
 * some drivers allocate late. Compiled code is kept with ambit__cache_load and _save of device/cache.h.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef AMBIT_DEVICE_GPU_DRIVER_H
#define AMBIT_DEVICE_GPU_DRIVER_H

#include "base/settings.h"
#include "codegen/dialect.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ambit__gpu ambit__gpu;               /* a device; each driver has its own struct */
typedef struct ambit__gpu_queue ambit__gpu_queue;   /* a CUDA stream, an OpenCL command queue */
typedef struct ambit__gpu_event ambit__gpu_event;   /* a point in a queue */
typedef struct ambit__gpu_memory ambit__gpu_memory; /* device memory */
typedef struct ambit__gpu_recording ambit__gpu_recording; /* a CUDA graph */
typedef struct ambit__gpu_module ambit__gpu_module;       /* compiled source */
typedef struct ambit__gpu_function
    ambit__gpu_function; /* a kernel of a module; lives as long as it */

typedef struct ambit__gpu_info {
  char name[128];
  char identity[256];  /* all that compiled code depends on: device, driver and compiler versions */
  size_t memory;       /* bytes in all */
  size_t free_memory;  /* bytes free now, if it can be known; else memory */
  size_t largest;      /* bytes of the largest single allocation */
  int multiprocessors; /* or compute units */
  int warp;            /* lanes that run in lockstep; 1 if unknown */
  size_t shared;       /* bytes of shared (local) memory per block */
  size_t parameters;   /* bytes of a kernel's parameters; 0 unknown */
  int max_threads;     /* per block */
  size_t l2;           /* bytes of cache */
  bool has_double;     /* computes in double */
  bool is_cpu;         /* an OpenCL device that is really a processor */
} ambit__gpu_info;

/* One argument of a launch: device memory, or a value. A null pointer of the host, as a value, is a null pointer of
 * the kernel. */
typedef struct ambit__gpu_arg {
  const ambit__gpu_memory *memory; /* NULL: a value */
  const void *value;
  size_t bytes; /* of the value */
} ambit__gpu_arg;

/* Pieces of memory of one length, at equal distances, on the device and in host memory. All in bytes. */
typedef struct ambit__gpu_rows {
  size_t bytes, count;     /* of a row; rows */
  size_t at, pitch;        /* device: of the first; from one to the next */
  size_t host, host_pitch; /* the same in host memory */
} ambit__gpu_rows;

typedef struct ambit__gpu_driver {
  const char *name; /* "cuda", "opencl" */
  const ambit__dialect *dialect;

  int (*count)(void); /* devices here; 0, and nothing said, when the library is not there */
  /* Why there are none, for people: "libcuda.so.1 is not installed ..."; "" if there are. */
  const char *(*why_none)(void);
  ambit_status (*open)(ambit__errors *errors, const ambit__settings *settings, int ordinal,
                       ambit__gpu **gpu);
  void (*close)(ambit__gpu *gpu);
  void (*info)(ambit__gpu *gpu, ambit__gpu_info *info);

  /* Urgent: its kernels begin before those of others that wait, where the driver knows priorities. */
  ambit_status (*queue_open)(ambit__gpu *gpu, bool urgent, ambit__gpu_queue **q);
  void (*queue_close)(ambit__gpu_queue *q);
  ambit_status (*queue_sync)(
      ambit__gpu_queue *q); /* waits until all of it is done; tells errors of kernels too */
  ambit_status (*event_open)(ambit__gpu *gpu, bool timed, ambit__gpu_event **e);
  void (*event_close)(ambit__gpu_event *e);
  ambit_status (*event_record)(ambit__gpu_event *e, ambit__gpu_queue *q);
  ambit_status (*event_await)(ambit__gpu_queue *q,
                              ambit__gpu_event *e); /* q goes on when e has happened */
  ambit_status (*event_sync)(ambit__gpu_event *e);  /* the host waits */
  bool (*event_done)(ambit__gpu_event *e);
  double (*event_seconds)(ambit__gpu_event *from,
                          ambit__gpu_event *to); /* between two that happened; < 0 unknown */

  /* Launches and copies within the device, kept instead of done; see the same entries of device.h. NULL: it cannot. */
  ambit_status (*record)(ambit__gpu_queue *q);
  ambit_status (*recorded)(ambit__gpu_queue *q, ambit__gpu_recording **r);
  ambit_status (*replay)(ambit__gpu_queue *q, ambit__gpu_recording *r);
  void (*recording_close)(ambit__gpu_recording *r);

  /* AMBIT_ENOMEM with the bytes asked for and free. The memory is not initialised. */
  ambit_status (*alloc)(ambit__gpu *gpu, size_t bytes, ambit__gpu_memory **m);
  void (*release)(ambit__gpu_memory *m);
  void *(*address)(const ambit__gpu_memory *m); /* for other libraries. NULL: there is none */
  ambit_status (*host_alloc)(ambit__gpu *gpu, size_t bytes, void **p); /* pinned */
  void (*host_release)(ambit__gpu *gpu, void *p);
  ambit_status (*copy_in)(ambit__gpu_queue *q, ambit__gpu_memory *to, size_t at, const void *from,
                          size_t bytes);
  ambit_status (*copy_out)(ambit__gpu_queue *q, void *to, const ambit__gpu_memory *from, size_t at,
                           size_t bytes);
  ambit_status (*copy)(ambit__gpu_queue *q, ambit__gpu_memory *to, size_t to_at,
                       const ambit__gpu_memory *from, size_t from_at, size_t bytes);
  /* Rows, without a kernel. */
  ambit_status (*rows_in)(ambit__gpu_queue *q, ambit__gpu_memory *to, const void *from,
                          const ambit__gpu_rows *rows);
  ambit_status (*rows_out)(ambit__gpu_queue *q, void *to, const ambit__gpu_memory *from,
                           const ambit__gpu_rows *rows);
  /* From the memory of another device. NULL: it cannot. */
  ambit_status (*copy_across)(ambit__gpu_queue *q, ambit__gpu_memory *to,
                              const ambit__gpu_memory *from, size_t bytes);
  ambit_status (*zero)(ambit__gpu_queue *q, ambit__gpu_memory *m, size_t at, size_t bytes);

  /* Compiles source text (or loads it from the cache of compiled kernels). AMBIT_ECOMPILE with the compiler's words
   * about `what`: "a generated kernel". Code that has no kernel `entry` is not kept in the cache, nor taken from it. */
  ambit_status (*build)(ambit__gpu *gpu, const char *what, const char *source, const char *entry,
                        bool strict, ambit__gpu_module **m);
  void (*unload)(ambit__gpu_module *m);
  ambit_status (*function)(ambit__gpu_module *m, const char *name, ambit__gpu_function **f);
  /* threads[] per block and blocks[], x first. */
  ambit_status (*launch)(ambit__gpu_queue *q, ambit__gpu_function *f, const int64_t blocks[3],
                         const int threads[3], size_t shared, int nargs,
                         const ambit__gpu_arg *args);
} ambit__gpu_driver;

/* device/cuda/driver.c and device/opencl/driver.c */
extern const ambit__gpu_driver ambit__gpu_driver_cuda, ambit__gpu_driver_opencl;

#endif
