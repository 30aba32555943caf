/* SPDX-License-Identifier: BSD-3-Clause */
/* failing_cuda.c - the CUDA driver and NVRTC with calls that fail on purpose.
 *
 * The linker gives the library these tables for those it asks for. Prototypes are those of
 * cuda_api.h, from which each function gets its arguments by name; one that is not named here does
 * not compile.
 */
#include "device/cuda/cuda_api.h"
#include "runtime/faults/injected.h"

enum { FAILURE = 999, NVRTC_FAILURE = 11 }; /* CUDA_ERROR_UNKNOWN, NVRTC_ERROR_INTERNAL_ERROR */

#define ARGS_cuInit                       (flags)
#define ARGS_cuDriverGetVersion           (version)
#define ARGS_cuGetErrorName               (r, text)
#define ARGS_cuGetErrorString             (r, text)
#define ARGS_cuDeviceGetCount             (count)
#define ARGS_cuDeviceGet                  (dev, ordinal)
#define ARGS_cuDeviceGetName              (name, length, dev)
#define ARGS_cuDeviceTotalMem_v2          (bytes, dev)
#define ARGS_cuDeviceGetAttribute         (value, attribute, dev)
#define ARGS_cuDevicePrimaryCtxRetain     (ctx, dev)
#define ARGS_cuDevicePrimaryCtxRelease_v2 (dev)
#define ARGS_cuCtxGetCurrent              (ctx)
#define ARGS_cuCtxSetCurrent              (ctx)
#define ARGS_cuMemGetInfo_v2              (free_bytes, total)
#define ARGS_cuCtxGetStreamPriorityRange  (least, greatest)
#define ARGS_cuStreamCreateWithPriority   (s, flags, priority)
#define ARGS_cuStreamDestroy_v2           (s)
#define ARGS_cuStreamSynchronize          (s)
#define ARGS_cuStreamWaitEvent            (s, e, flags)
#define ARGS_cuStreamBeginCapture_v2      (s, mode)
#define ARGS_cuStreamEndCapture           (s, g)
#define ARGS_cuGraphInstantiateWithFlags  (x, g, flags)
#define ARGS_cuGraphDestroy               (g)
#define ARGS_cuGraphLaunch                (x, s)
#define ARGS_cuGraphExecDestroy           (x)
#define ARGS_cuEventCreate                (e, flags)
#define ARGS_cuEventDestroy_v2            (e)
#define ARGS_cuEventRecord                (e, s)
#define ARGS_cuEventSynchronize           (e)
#define ARGS_cuEventQuery                 (e)
#define ARGS_cuEventElapsedTime           (milliseconds, from, to)
#define ARGS_cuMemAlloc_v2                (p, bytes)
#define ARGS_cuMemFree_v2                 (p)
#define ARGS_cuMemHostAlloc               (p, bytes, flags)
#define ARGS_cuMemFreeHost                (p)
#define ARGS_cuMemcpyHtoDAsync_v2         (to, from, bytes, s)
#define ARGS_cuMemcpyDtoHAsync_v2         (to, from, bytes, s)
#define ARGS_cuMemcpyDtoDAsync_v2         (to, from, bytes, s)
#define ARGS_cuMemcpyPeerAsync            (to, to_context, from, from_context, bytes, s)
#define ARGS_cuMemsetD8Async              (p, value, bytes, s)
#define ARGS_cuModuleLoadData             (m, image)
#define ARGS_cuModuleUnload               (m)
#define ARGS_cuModuleGetFunction          (f, m, name)
#define ARGS_cuFuncSetAttribute           (f, attribute, value)
#define ARGS_cuLaunchKernel                                                                        \
  (f, blocks_x, blocks_y, blocks_z, threads_x, threads_y, threads_z, shared_bytes, s, params, extra)
#define ARGS_cuLaunchCooperativeKernel                                                             \
  (f, blocks_x, blocks_y, blocks_z, threads_x, threads_y, threads_z, shared_bytes, s, params)

#define ARGS_nvrtcVersion              (major, minor)
#define ARGS_nvrtcGetNumSupportedArchs (count)
#define ARGS_nvrtcGetSupportedArchs    (archs)
#define ARGS_nvrtcCreateProgram        (p, source, name, headers, texts, names)
#define ARGS_nvrtcDestroyProgram       (p)
#define ARGS_nvrtcCompileProgram       (p, n, options)
#define ARGS_nvrtcGetProgramLogSize    (p, bytes)
#define ARGS_nvrtcGetProgramLog        (p, log)
#define ARGS_nvrtcGetCUBINSize         (p, bytes)
#define ARGS_nvrtcGetCUBIN             (p, cubin)
#define ARGS_nvrtcGetPTXSize           (p, bytes)
#define ARGS_nvrtcGetPTX               (p, ptx)

const ambit__cuda *__real_ambit__cuda_load(const char **why);
const ambit__cuda *__wrap_ambit__cuda_load(const char **why);
const ambit__nvrtc *__real_ambit__nvrtc_load(const char **why);
const ambit__nvrtc *__wrap_ambit__nvrtc_load(const char **why);

static const ambit__cuda *cuda; /* the real ones */
static const ambit__nvrtc *nvrtc;

#define CALL(kind, api, name, failure)                                                             \
  const bool fails = injected_fails(kind, #name), made = !fails || injected_gives_back(#name);     \
  const unsigned int result = made ? api->name ARGS_##name : failure;                              \
                                                                                                   \
  return fails ? failure : result;

#define X(name, params)                                                                            \
  static ambit__cu_result fail_##name params                                                       \
  {                                                                                                \
    CALL(CUDA, cuda, name, FAILURE)                                                                \
  }
AMBIT__CUDA_MAP(X)
#undef X
#define X(name, params)                                                                            \
  static ambit__nvrtc_result fail_##name params                                                    \
  {                                                                                                \
    CALL(NVRTC, nvrtc, name, NVRTC_FAILURE)                                                        \
  }
AMBIT__NVRTC_MAP(X)
#undef X

const ambit__cuda *__wrap_ambit__cuda_load(const char **why)
{
#define X(name, params) fail_##name,
  static const ambit__cuda failing = {AMBIT__CUDA_MAP(X)};
#undef X

  cuda = __real_ambit__cuda_load(why);
  return cuda ? &failing : NULL;
}

const ambit__nvrtc *__wrap_ambit__nvrtc_load(const char **why)
{
#define X(name, params) fail_##name,
  static ambit__nvrtc failing = {AMBIT__NVRTC_MAP(X) NULL};
#undef X

  nvrtc = __real_ambit__nvrtc_load(why);
  if (nvrtc) failing.nvrtcGetErrorString = nvrtc->nvrtcGetErrorString;
  return nvrtc ? &failing : NULL;
}

int failing_cuda_hold(void)
{
  const char *why;
  ambit__cu_context context;
  int n = 0;

  if (!__wrap_ambit__cuda_load(&why) || cuda->cuDeviceGetCount(&n)) return 0;
  for (int i = 0; i < n; i++)
    if (cuda->cuDevicePrimaryCtxRetain(&context, i)) return i;
  return n;
}
