/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_gpu.h - shared by the files of the CUDA driver: the device, and its error messages.
 *
 *   load.c      finds the libraries
 *   nvrtc.c     compiles
 *   driver.c    devices, queues, events, memory; the table
 *   module.c    compiled kernels: the cache, loading, launching
 *
 * A device uses the primary context of its GPU, which it shares with the CUDA runtime and with all
 * other users in the process. Any thread may call; each call makes the context current if it is
 * not.
 */
#ifndef AMBIT_DEVICE_CUDA_CUDA_GPU_H
#define AMBIT_DEVICE_CUDA_CUDA_GPU_H

#include "device/cache.h"
#include "device/cuda/nvrtc.h"
#include "device/foreseen.h"
#include "device/gpu/driver.h"

struct ambit__gpu {
  const ambit__cuda *cuda;
  const ambit__nvrtc *nvrtc;
  ambit__errors *errors;
  const ambit__settings *settings;
  int ordinal;
  int version;           /* CUDA version of the driver: 13000 */
  int nvrtc_version[2];  /* major, minor */
  ambit__nvrtc_how how;  /* options to compile for this device */
  ambit__gpu_info fixed; /* all but free_memory */
  ambit__cu_device device;
  ambit__cu_context context; /* primary, retained; NULL until it is */
  ambit__cache cache;
  ambit__foreseen foreseen; /* compilations at work */
};

struct ambit__gpu_queue {
  ambit__gpu *gpu;
  ambit__cu_stream stream;
};

struct ambit__event {
  ambit__gpu *gpu;
  ambit__cu_event event;
};

struct ambit__recording {
  ambit__gpu *gpu;
  ambit__cu_graph_exec graph;
};

struct ambit__gpu_memory {
  ambit__gpu *gpu;
  ambit__cu_pointer address;
  size_t bytes;
};

/* Makes the context current for this thread. */
ambit_status ambit__cuda_enter(ambit__gpu *gpu);

/* AMBIT_OK if r is CU_OK. If not, raises the driver's message after the operation: "cuda:0, loading
 * a kernel: ...". */
ambit_status ambit__cuda_told(ambit__gpu *gpu, ambit__cu_result r, const char *doing, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* Calls a function of the driver, with its arguments in brackets and the context current. */
#define AMBIT__CUDA_CALL(g, name, args, ...)                                                       \
  (ambit__cuda_enter(g) ? (g)->errors->status                                                      \
                        : ambit__cuda_told(g, (g)->cuda->name args, __VA_ARGS__))

/* module.c, for the table. */
void ambit__cuda_foresee(ambit__gpu *gpu, const char *source, bool strict);
ambit_status ambit__cuda_build(ambit__gpu *gpu, const char *what, const char *source,
                               const char *entry, bool strict, ambit__gpu_module **m);
void ambit__cuda_unload(ambit__gpu_module *m);
ambit_status ambit__cuda_function(ambit__gpu_module *m, const char *name, ambit__gpu_function **f);
ambit_status ambit__cuda_launch(ambit__gpu_queue *q, ambit__gpu_function *f,
                                const ambit__shape *shape, int nargs, const ambit__gpu_arg *args);

#endif
