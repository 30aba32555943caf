/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_api.h - the functions of NVIDIA's driver library and of NVRTC used here, with their true
 * prototypes.
 *
 * Both libraries are loaded at run time, so neither is needed to build, nor to run without a GPU.
 * The types are those of the documented API: handles are pointers to the same incomplete structs,
 * and enums are unsigned int, as in the ABI. Names carry the version suffix that the headers hide
 * behind macros. tests/device/test_cuda_api.c compares this file with cuda.h and nvrtc.h if those
 * are installed.
 */
#ifndef AMBIT_DEVICE_CUDA_CUDA_API_H
#define AMBIT_DEVICE_CUDA_CUDA_API_H

#include <stddef.h>

typedef unsigned int ambit__cu_result; /* CUresult */
typedef int ambit__cu_device;          /* CUdevice */
typedef unsigned long long ambit__cu_pointer;
typedef struct CUctx_st *ambit__cu_context;
typedef struct CUstream_st *ambit__cu_stream;
typedef struct CUevent_st *ambit__cu_event;
typedef struct CUmod_st *ambit__cu_module;
typedef struct CUfunc_st *ambit__cu_function;
typedef struct CUgraph_st *ambit__cu_graph;
typedef struct CUgraphExec_st *ambit__cu_graph_exec;

typedef unsigned int ambit__nvrtc_result; /* nvrtcResult */
typedef struct _nvrtcProgram *ambit__nvrtc_program;

/* Values of enums: our name, NVIDIA's, value. */
#define AMBIT__CUDA_VALUES(X)                                                                      \
  X(CU_OK, CUDA_SUCCESS, 0)                                                                        \
  X(CU_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY, 2)                                                 \
  X(CU_NO_DEVICE, CUDA_ERROR_NO_DEVICE, 100)                                                       \
  X(CU_INVALID_IMAGE, CUDA_ERROR_INVALID_IMAGE, 200)                                               \
  X(CU_NO_BINARY, CUDA_ERROR_NO_BINARY_FOR_GPU, 209)                                               \
  X(CU_UNSUPPORTED_PTX, CUDA_ERROR_UNSUPPORTED_PTX_VERSION, 222)                                   \
  X(CU_NOT_FOUND, CUDA_ERROR_NOT_FOUND, 500)                                                       \
  X(CU_NOT_READY, CUDA_ERROR_NOT_READY, 600)                                                       \
  X(CU_MAX_THREADS, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1)                                  \
  X(CU_UNITS, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16)                                        \
  X(CU_L2_BYTES, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 38)                                            \
  X(CU_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75)                                    \
  X(CU_MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 76)                                    \
  X(CU_ALL_SHARED_BYTES, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 81)             \
  X(CU_REGISTERS, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 82)                        \
  X(CU_SHARED_BYTES, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 97)                    \
  X(CU_MAX_DYNAMIC_SHARED, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 8)                     \
  X(CU_INDEPENDENT_STREAM, CU_STREAM_NON_BLOCKING, 1)                                              \
  X(CU_TIMED_EVENT, CU_EVENT_DEFAULT, 0)                                                           \
  X(CU_PLAIN_EVENT, CU_EVENT_DISABLE_TIMING, 2)                                                    \
  X(CU_CAPTURE_THIS_ONLY, CU_STREAM_CAPTURE_MODE_RELAXED, 2)                                       \
  X(CU_HOST_PORTABLE, CU_MEMHOSTALLOC_PORTABLE, 1)

enum {
#define X(name, original, value) name = value,
  AMBIT__CUDA_VALUES(X)
#undef X
};

/* libcuda.so.1; all return CUresult. */
#define AMBIT__CUDA_MAP(X)                                                                         \
  X(cuInit, (unsigned int flags))                                                                  \
  X(cuDriverGetVersion, (int *version))                                                            \
  X(cuGetErrorName, (ambit__cu_result r, const char **text))                                       \
  X(cuGetErrorString, (ambit__cu_result r, const char **text))                                     \
  X(cuDeviceGetCount, (int *count))                                                                \
  X(cuDeviceGet, (ambit__cu_device * dev, int ordinal))                                            \
  X(cuDeviceGetName, (char *name, int length, ambit__cu_device dev))                               \
  X(cuDeviceTotalMem_v2, (size_t * bytes, ambit__cu_device dev))                                   \
  X(cuDeviceGetAttribute, (int *value, unsigned int attribute, ambit__cu_device dev))              \
  X(cuDevicePrimaryCtxRetain, (ambit__cu_context * ctx, ambit__cu_device dev))                     \
  X(cuDevicePrimaryCtxRelease_v2, (ambit__cu_device dev))                                          \
  X(cuCtxGetCurrent, (ambit__cu_context * ctx))                                                    \
  X(cuCtxSetCurrent, (ambit__cu_context ctx))                                                      \
  X(cuMemGetInfo_v2, (size_t * free_bytes, size_t * total))                                        \
  X(cuCtxGetStreamPriorityRange, (int *least, int *greatest))                                      \
  X(cuStreamCreateWithPriority, (ambit__cu_stream * s, unsigned int flags, int priority))          \
  X(cuStreamDestroy_v2, (ambit__cu_stream s))                                                      \
  X(cuStreamSynchronize, (ambit__cu_stream s))                                                     \
  X(cuStreamWaitEvent, (ambit__cu_stream s, ambit__cu_event e, unsigned int flags))                \
  X(cuStreamBeginCapture_v2, (ambit__cu_stream s, unsigned int mode))                              \
  X(cuStreamEndCapture, (ambit__cu_stream s, ambit__cu_graph * g))                                 \
  X(cuGraphInstantiateWithFlags,                                                                   \
    (ambit__cu_graph_exec * x, ambit__cu_graph g, unsigned long long flags))                       \
  X(cuGraphDestroy, (ambit__cu_graph g))                                                           \
  X(cuGraphLaunch, (ambit__cu_graph_exec x, ambit__cu_stream s))                                   \
  X(cuGraphExecDestroy, (ambit__cu_graph_exec x))                                                  \
  X(cuEventCreate, (ambit__cu_event * e, unsigned int flags))                                      \
  X(cuEventDestroy_v2, (ambit__cu_event e))                                                        \
  X(cuEventRecord, (ambit__cu_event e, ambit__cu_stream s))                                        \
  X(cuEventSynchronize, (ambit__cu_event e))                                                       \
  X(cuEventQuery, (ambit__cu_event e))                                                             \
  X(cuEventElapsedTime, (float *milliseconds, ambit__cu_event from, ambit__cu_event to))           \
  X(cuMemAlloc_v2, (ambit__cu_pointer * p, size_t bytes))                                          \
  X(cuMemFree_v2, (ambit__cu_pointer p))                                                           \
  X(cuMemHostAlloc, (void **p, size_t bytes, unsigned int flags))                                  \
  X(cuMemFreeHost, (void *p))                                                                      \
  X(cuMemcpyHtoDAsync_v2,                                                                          \
    (ambit__cu_pointer to, const void *from, size_t bytes, ambit__cu_stream s))                    \
  X(cuMemcpyDtoHAsync_v2, (void *to, ambit__cu_pointer from, size_t bytes, ambit__cu_stream s))    \
  X(cuMemcpyDtoDAsync_v2,                                                                          \
    (ambit__cu_pointer to, ambit__cu_pointer from, size_t bytes, ambit__cu_stream s))              \
  X(cuMemcpyPeerAsync,                                                                             \
    (ambit__cu_pointer to, ambit__cu_context to_context, ambit__cu_pointer from,                   \
     ambit__cu_context from_context, size_t bytes, ambit__cu_stream s))                            \
  X(cuMemsetD8Async, (ambit__cu_pointer p, unsigned char value, size_t bytes, ambit__cu_stream s)) \
  X(cuModuleLoadData, (ambit__cu_module * m, const void *image))                                   \
  X(cuModuleUnload, (ambit__cu_module m))                                                          \
  X(cuModuleGetFunction, (ambit__cu_function * f, ambit__cu_module m, const char *name))           \
  X(cuFuncSetAttribute, (ambit__cu_function f, unsigned int attribute, int value))                 \
  X(cuLaunchKernel,                                                                                \
    (ambit__cu_function f, unsigned int blocks_x, unsigned int blocks_y, unsigned int blocks_z,    \
     unsigned int threads_x, unsigned int threads_y, unsigned int threads_z,                       \
     unsigned int shared_bytes, ambit__cu_stream s, void **params, void **extra))                  \
  X(cuLaunchCooperativeKernel,                                                                     \
    (ambit__cu_function f, unsigned int blocks_x, unsigned int blocks_y, unsigned int blocks_z,    \
     unsigned int threads_x, unsigned int threads_y, unsigned int threads_z,                       \
     unsigned int shared_bytes, ambit__cu_stream s, void **params))

/* libnvrtc, from 11.2 on; all return nvrtcResult, except the function for error texts. */
#define AMBIT__NVRTC_MAP(X)                                                                        \
  X(nvrtcVersion, (int *major, int *minor))                                                        \
  X(nvrtcGetNumSupportedArchs, (int *count))                                                       \
  X(nvrtcGetSupportedArchs, (int *archs))                                                          \
  X(nvrtcCreateProgram, (ambit__nvrtc_program * p, const char *source, const char *name,           \
                         int headers, const char *const *texts, const char *const *names))         \
  X(nvrtcDestroyProgram, (ambit__nvrtc_program * p))                                               \
  X(nvrtcCompileProgram, (ambit__nvrtc_program p, int n, const char *const *options))              \
  X(nvrtcGetProgramLogSize, (ambit__nvrtc_program p, size_t * bytes))                              \
  X(nvrtcGetProgramLog, (ambit__nvrtc_program p, char *log))                                       \
  X(nvrtcGetCUBINSize, (ambit__nvrtc_program p, size_t * bytes))                                   \
  X(nvrtcGetCUBIN, (ambit__nvrtc_program p, char *cubin))                                          \
  X(nvrtcGetPTXSize, (ambit__nvrtc_program p, size_t * bytes))                                     \
  X(nvrtcGetPTX, (ambit__nvrtc_program p, char *ptx))

typedef struct ambit__cuda {
#define X(name, params) ambit__cu_result(*name) params;
  AMBIT__CUDA_MAP(X)
#undef X
} ambit__cuda;

typedef struct ambit__nvrtc {
#define X(name, params) ambit__nvrtc_result(*name) params;
  AMBIT__NVRTC_MAP(X)
#undef X
  const char *(*nvrtcGetErrorString)(ambit__nvrtc_result r);
} ambit__nvrtc;

/* The functions of the driver, loaded and initialised on the first call. NULL if there is no driver
 * or no GPU; `why` is then the reason, for users. Safe from any thread. */
const ambit__cuda *ambit__cuda_load(const char **why);

/* The same for NVRTC. A version that is not newer than the driver is preferred. `why` names the
 * package to install. */
const ambit__nvrtc *ambit__nvrtc_load(const char **why);

#endif
