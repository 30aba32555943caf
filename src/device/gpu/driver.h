/* SPDX-License-Identifier: BSD-3-Clause */
/* driver.h - the interface of the GPU device to CUDA or OpenCL: memory, queues, events, functions.
 *
 * The GPU device (gpu.c and its neighbours) is written once, against this table. CUDA and OpenCL
 * each implement it in their own folder, with libraries loaded at run time; all differences in the
 * kernel language are rows of the dialect. All copies and launches are asynchronous, in order
 * within a queue. Host memory in copies must come from host_alloc and stay alive until the queue
 * has completed them. Released objects (memory, host memory, modules) may still be in use by
 * queues: the driver waits, or keeps them until the queues are done. Failures are raised in the
 * errors given to open. A lack of memory is AMBIT_ENOMEM wherever it is detected, because some
 * drivers allocate late. Compiled code is kept with ambit__cache_load and _save of device/cache.h.
 */
#ifndef AMBIT_DEVICE_GPU_DRIVER_H
#define AMBIT_DEVICE_GPU_DRIVER_H

#include "base/settings.h"
#include "codegen/dialect.h"
#include "plan/plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ambit__gpu ambit__gpu;               /* a device; each driver has its own struct */
typedef struct ambit__gpu_queue ambit__gpu_queue;   /* a CUDA stream, an OpenCL command queue */
typedef struct ambit__gpu_memory ambit__gpu_memory; /* device memory */
typedef struct ambit__gpu_module ambit__gpu_module; /* compiled source */
/* a kernel of a module; lives as long as it */
typedef struct ambit__gpu_function ambit__gpu_function;
/* those of the device, as each driver has them: a point in a queue, and, say, a CUDA graph */
typedef struct ambit__event ambit__gpu_event;
typedef struct ambit__recording ambit__gpu_recording;

typedef struct ambit__gpu_info {
  char name[128];
  char identity[256];  /* all that compiled code depends on: device, driver and compiler versions */
  size_t memory;       /* total bytes */
  size_t free_memory;  /* bytes now free, if known; else memory */
  size_t largest;      /* bytes of the largest single allocation */
  int multiprocessors; /* or compute units */
  size_t shared;       /* bytes of shared (local) memory per block */
  size_t all_shared;   /* bytes of it per multiprocessor; 0: unknown */
  size_t registers;    /* of 32 bits per multiprocessor; 0: unknown */
  size_t parameters;   /* most bytes of a kernel's parameters; 0: unknown */
  int max_threads;     /* per block */
  size_t l2;           /* bytes of cache */
  bool has_double;     /* supports double */
  bool is_cpu;         /* an OpenCL device that is a CPU */
  bool exchanges;      /* an OpenCL device whose compiler has CUDA's exchanges between lanes */
  bool dots;           /* one with instructions for weighted sums of bytes, */
  bool minima;         /* any device with one for two minima of 16 bits */
} ambit__gpu_info;

/* One argument of a launch: device memory, or a value. A null pointer of the host, passed as a
 * value, is a null pointer in the kernel. */
typedef struct ambit__gpu_arg {
  const ambit__gpu_memory *memory; /* NULL: a value */
  const void *value;
  size_t bytes; /* of the value */
} ambit__gpu_arg;

typedef struct ambit__gpu_driver {
  const char *name; /* "cuda", "opencl" */
  const ambit__dialect *dialect;

  int (*count)(void); /* number of devices; 0, without a message, if the library is missing */
  /* The reason why there are none, for users: "libcuda.so.1 is not installed ..."; "" if there are.
   */
  const char *(*why_none)(void);
  ambit_status (*open)(ambit__errors *errors, const ambit__settings *settings, int ordinal,
                       ambit__gpu **gpu);
  void (*close)(ambit__gpu *gpu);
  void (*info)(ambit__gpu *gpu, ambit__gpu_info *info);

  /* urgent: its kernels start before waiting kernels of other queues, if the driver has priorities.
   */
  ambit_status (*queue_open)(ambit__gpu *gpu, bool urgent, ambit__gpu_queue **q);
  void (*queue_close)(ambit__gpu_queue *q);
  /* waits for all work; also reports errors of kernels */
  ambit_status (*queue_sync)(ambit__gpu_queue *q);
  ambit_status (*event_open)(ambit__gpu *gpu, bool timed, ambit__gpu_event **e);
  void (*event_close)(ambit__gpu_event *e);
  ambit_status (*event_record)(ambit__gpu_event *e, ambit__gpu_queue *q);
  /* q continues once e has completed */
  ambit_status (*event_await)(ambit__gpu_queue *q, ambit__gpu_event *e);
  ambit_status (*event_sync)(ambit__gpu_event *e); /* the host waits */
  bool (*event_done)(ambit__gpu_event *e);
  /* between two completed events; < 0: unknown */
  double (*event_seconds)(ambit__gpu_event *from, ambit__gpu_event *to);

  /* Launches and copies within the device, kept instead of run; see the same entries of device.h.
   * NULL: not supported. */
  ambit_status (*record)(ambit__gpu_queue *q);
  ambit_status (*recorded)(ambit__gpu_queue *q, ambit__gpu_recording **r);
  ambit_status (*replay)(ambit__gpu_queue *q, ambit__gpu_recording *r);
  void (*recording_close)(ambit__gpu_recording *r);

  /* AMBIT_ENOMEM, with the bytes requested and free. The memory is not initialised. */
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
  /* From the memory of another device. NULL: not supported. */
  ambit_status (*copy_across)(ambit__gpu_queue *q, ambit__gpu_memory *to,
                              const ambit__gpu_memory *from, size_t bytes);
  ambit_status (*zero)(ambit__gpu_queue *q, ambit__gpu_memory *m, size_t at, size_t bytes);

  /* Compiles source text, or loads it from the cache of compiled kernels. AMBIT_ECOMPILE with the
   * compiler's output about `what`: "a generated kernel". Code that has no kernel `entry` is
   * neither kept in the cache nor taken from it. */
  ambit_status (*build)(ambit__gpu *gpu, const char *what, const char *source, const char *entry,
                        bool strict, ambit__gpu_module **m);
  /* Begins to compile a source that will be built soon. NULL: no gain. */
  void (*foresee)(ambit__gpu *gpu, const char *source, bool strict);
  void (*unload)(ambit__gpu_module *m);
  ambit_status (*function)(ambit__gpu_module *m, const char *name, ambit__gpu_function **f);
  /* If the shape has edges, as those of plans for CUDA may have, all blocks run at the same time,
   * so that they can wait for each other; an error if they are too many. */
  ambit_status (*launch)(ambit__gpu_queue *q, ambit__gpu_function *f, const ambit__shape *shape,
                         int nargs, const ambit__gpu_arg *args);
} ambit__gpu_driver;

/* device/cuda/driver.c and device/opencl/driver.c */
extern const ambit__gpu_driver ambit__gpu_driver_cuda, ambit__gpu_driver_opencl;

#endif
