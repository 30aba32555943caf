/* SPDX-License-Identifier: BSD-3-Clause */
/* cl_gpu.h - shared by the files of the OpenCL driver. */
#ifndef AMBIT_DEVICE_OPENCL_CL_GPU_H
#define AMBIT_DEVICE_OPENCL_CL_GPU_H

#include "base/hash.h"
#include "device/cache.h"
#include "device/gpu/driver.h"
#include "device/opencl/cl_api.h"

struct ambit__gpu {
  ambit__errors *errors;
  const ambit__settings *settings;
  ambit__gpu_info info;
  int ordinal; /* of the device */
  cl_device_id device;
  cl_context context;     /* shared by all that opened the device */
  cl_command_queue queue; /* for mapping host memory */
  bool divides_exactly;   /* float / and sqrt can round correctly */
  bool warned;            /* the warning that they cannot was printed */
  bool keeps_code;        /* its compiled code is worth keeping */
  size_t used;            /* total bytes of device memory */
  struct pinned *pinned;  /* list of host memory */
  ambit__cache cache;
};

struct ambit__gpu_queue {
  ambit__gpu *gpu;
  cl_command_queue queue;
  int waiting; /* commands since the last flush */
};

struct ambit__gpu_memory {
  ambit__gpu *gpu;
  cl_mem mem;
  size_t bytes;
};

/* ---- load.c: the library and its devices, loaded once ---- */

extern ambit__cl_api ambit__cl; /* complete if there are devices */

/* All devices of all platforms: GPUs, then accelerators, then CPUs, up to this many. */
enum { AMBIT__CL_DEVICES = 64 };
int ambit__cl_count(void);
/* GPUs with memory of their own: the first devices. Loads nothing if there is no GPU at all. */
int ambit__cl_fast(void);
const char *ambit__cl_why_none(void);
/* Device number i, 0 <= i < count, and its platform. */
cl_device_id ambit__cl_device(int i, cl_platform_id *platform);

/* A text property of a device; "" if it is longer than AMBIT__CL_TEXT. */
enum { AMBIT__CL_TEXT = 1024 };
void ambit__cl_text(cl_device_id device, cl_uint what, char text[AMBIT__CL_TEXT]);

/* Whether the device lists an extension. */
bool ambit__cl_has_extension(cl_device_id device, const char *name);

/* AMBIT_OK for CL_SUCCESS. If not, raises "what: CL_NAME": AMBIT_ENOMEM if the code is about
 * memory, else AMBIT_EDEVICE. */
ambit_status ambit__cl_check(const ambit__gpu *gpu, cl_int code, const char *what);
/* Calls a function of the library. */
#define AMBIT__CL_CALL(gpu, name, ...) ambit__cl_check(gpu, ambit__cl.name(__VA_ARGS__), #name)
const char *ambit__cl_code_name(cl_int code);

/* ---- context.c: shared by all users of a device ---- */

/* NULL, and the code, on failure. */
cl_context ambit__cl_context_open(int ordinal, cl_int *code);
void ambit__cl_context_close(int ordinal, bool is_cpu);

/* The program of this key, to release; NULL if it is not kept. */
cl_program ambit__cl_program_find(int ordinal, const char *key);
void ambit__cl_program_keep(int ordinal, const char *key, cl_program program);

/* ---- module.c ---- */

ambit_status ambit__cl_build(ambit__gpu *gpu, const char *what, const char *source,
                             const char *entry, bool strict, ambit__gpu_module **m);
void ambit__cl_unload(ambit__gpu_module *m);
ambit_status ambit__cl_function(ambit__gpu_module *m, const char *name, ambit__gpu_function **f);
ambit_status ambit__cl_launch(ambit__gpu_queue *q, ambit__gpu_function *f,
                              const ambit__shape *shape, int nargs, const ambit__gpu_arg *args);

#endif
