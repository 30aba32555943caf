/* SPDX-License-Identifier: BSD-3-Clause */
/* driver.c - NVIDIA GPUs: the GPU device over the CUDA driver, with its memory, queues and events.
 *
 * All work is asynchronous. Streams are non-blocking, so that a program's own CUDA code in the
 * default stream is not serialised with ours. An error of a kernel is reported by the next call
 * that waits for it, and by all calls after that: in CUDA, the context is then lost.
 */
#include "device/cuda/cuda_gpu.h"

#include "base/memory.h"
#include "device/gpu/gpu.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- errors ---- */

ambit_status ambit__cuda_told(ambit__gpu *g, ambit__cu_result r, const char *doing, ...)
{
  const char *name = NULL, *text = NULL;
  char what[256];
  va_list ap;

  if (r == CU_OK) return AMBIT_OK;
  va_start(ap, doing);
  vsnprintf(what, sizeof what, doing, ap);
  va_end(ap);
  g->cuda->cuGetErrorName(r, &name);
  g->cuda->cuGetErrorString(r, &text);
  return ambit__raise(g->errors, r == CU_OUT_OF_MEMORY ? AMBIT_ENOMEM : AMBIT_EDEVICE,
                      "cuda:%d, %s: %s (%s, %u)", g->ordinal, what, text ? text : "unknown error",
                      name ? name : "?", r);
}

ambit_status ambit__cuda_enter(ambit__gpu *g)
{
  ambit__cu_context now = NULL;

  if (!g->cuda->cuCtxGetCurrent(&now) && now == g->context) return AMBIT_OK;
  return ambit__cuda_told(g, g->cuda->cuCtxSetCurrent(g->context), "making its context current");
}

/* ---- devices ---- */

static int count(void)
{
  const char *why;
  const ambit__cuda *cuda = ambit__cuda_load(&why);
  int n = 0;

  return cuda && !cuda->cuDeviceGetCount(&n) ? n : 0;
}

static const char *why_none(void)
{
  const char *why;

  if (!ambit__cuda_load(&why)) return why;
  return count() ? "" : "the NVIDIA driver finds no GPU";
}

enum { HOPPER = 90 }; /* capability: the first one with packed minima of 16 bits */

static int attribute(const ambit__gpu *g, unsigned int which)
{
  int value = 0;

  return g->cuda->cuDeviceGetAttribute(&value, which, g->device) ? 0 : value;
}

/* Properties that never change, queried once. */
static ambit_status look_up(ambit__gpu *g)
{
  ambit__gpu_info *f = &g->fixed;

  AMBIT_TRY(ambit__cuda_told(g, g->cuda->cuDeviceGet(&g->device, g->ordinal), "opening it"));
  if (g->cuda->cuDeviceGetName(f->name, sizeof f->name, g->device))
    snprintf(f->name, sizeof f->name, "an NVIDIA GPU");
  f->name[sizeof f->name - 1] = '\0';
  AMBIT_TRY(ambit__cuda_told(g, g->cuda->cuDeviceTotalMem_v2(&f->memory, g->device),
                             "asking for its memory"));
  f->largest = f->memory;
  f->multiprocessors = attribute(g, CU_UNITS);
  f->shared = (size_t)attribute(g, CU_SHARED_BYTES);
  f->all_shared = (size_t)attribute(g, CU_ALL_SHARED_BYTES);
  f->registers = (size_t)attribute(g, CU_REGISTERS);
  f->max_threads = attribute(g, CU_MAX_THREADS);
  f->l2 = (size_t)attribute(g, CU_L2_BYTES);
  f->has_double = true;
  g->how.capability = 10 * attribute(g, CU_MAJOR) + attribute(g, CU_MINOR);
  f->minima = g->how.capability >= HOPPER;
  g->cuda->cuDriverGetVersion(&g->version);
  return AMBIT_OK;
}

/* 4 KiB; 32764 bytes since CUDA 12.1, from Volta on. */
static size_t parameter_bytes(const ambit__gpu *g)
{
  int nvrtc = 1000 * g->nvrtc_version[0] + 10 * g->nvrtc_version[1];

  return g->version >= 12010 && nvrtc >= 12010 && g->how.capability >= 70 ? 32764 : 4096;
}

static ambit_status find_compiler(ambit__gpu *g)
{
  const char *why;

  g->nvrtc = ambit__nvrtc_load(&why);
  AMBIT_CHECK(g->nvrtc, g->errors, AMBIT_ENODEVICE, "cuda:%d (%s) cannot be used: %s", g->ordinal,
              g->fixed.name, why);
  g->nvrtc->nvrtcVersion(&g->nvrtc_version[0], &g->nvrtc_version[1]);
  g->fixed.parameters = parameter_bytes(g);
  AMBIT_TRY(ambit__nvrtc_choose(g->errors, g->nvrtc, &g->how));
  g->how.lines = g->settings->verbose >= 2;
  snprintf(g->fixed.identity, sizeof g->fixed.identity, "%.100s, %d.%d, driver %d, NVRTC %d.%d",
           g->fixed.name, g->how.capability / 10, g->how.capability % 10, g->version,
           g->nvrtc_version[0], g->nvrtc_version[1]);
  return AMBIT_OK;
}

static void close_gpu(ambit__gpu *g)
{
  if (!g) return;
  if (g->context) g->cuda->cuDevicePrimaryCtxRelease_v2(g->device);
  ambit__foreseen_close(&g->foreseen);
  ambit__cache_close(&g->cache);
  free(g);
}

static ambit_status open_gpu(ambit__errors *errors, const ambit__settings *settings, int ordinal,
                             ambit__gpu **out)
{
  const char *why;
  const ambit__cuda *cuda = ambit__cuda_load(&why);
  ambit_status s;
  ambit__gpu *g;

  *out = NULL;
  AMBIT_CHECK(cuda, errors, AMBIT_ENODEVICE, "cuda:%d was asked for, but %s", ordinal, why);
  AMBIT_CHECK(ordinal >= 0 && ordinal < count(), errors, AMBIT_ENODEVICE,
              "cuda:%d was asked for, but there are %d CUDA devices, counted from 0", ordinal,
              count());
  AMBIT_NEW(errors, g, 1);
  *g = (ambit__gpu){.cuda = cuda, .errors = errors, .settings = settings, .ordinal = ordinal};
  AMBIT_TRY_GOTO(s, look_up(g), failed);
  AMBIT_TRY_GOTO(s, find_compiler(g), failed);
  AMBIT_TRY_GOTO(s, ambit__cache_open(errors, settings, &g->cache), failed);
  AMBIT_TRY_GOTO(s,
                 ambit__cuda_told(g, cuda->cuDevicePrimaryCtxRetain(&g->context, g->device),
                                  "opening its context"),
                 failed);
  *out = g;
  return AMBIT_OK;
failed:
  close_gpu(g);
  return s;
}

static size_t free_memory(ambit__gpu *g)
{
  size_t left = 0, all = 0;

  if (ambit__cuda_enter(g) || g->cuda->cuMemGetInfo_v2(&left, &all)) return g->fixed.memory;
  return left;
}

static void info(ambit__gpu *g, ambit__gpu_info *i)
{
  *i = g->fixed;
  i->free_memory = free_memory(g);
}

/* ---- queues ---- */

static ambit_status queue_open(ambit__gpu *g, bool urgent, ambit__gpu_queue **out)
{
  ambit__gpu_queue *q;
  int least = 0, greatest = 0; /* priorities; lower numbers are more urgent */
  ambit_status s;

  *out = NULL;
  AMBIT_TRY(ambit__cuda_enter(g));
  AMBIT_NEW(g->errors, q, 1);
  q->gpu = g;
  g->cuda->cuCtxGetStreamPriorityRange(&least, &greatest);
  s = ambit__cuda_told(g,
                       g->cuda->cuStreamCreateWithPriority(&q->stream, CU_INDEPENDENT_STREAM,
                                                           urgent ? greatest : least),
                       "opening a stream");
  if (s)
    free(q);
  else
    *out = q;
  return s;
}

static void queue_close(ambit__gpu_queue *q)
{
  if (!q) return;
  if (!ambit__cuda_enter(q->gpu)) q->gpu->cuda->cuStreamDestroy_v2(q->stream);
  free(q);
}

static ambit_status queue_sync(ambit__gpu_queue *q)
{
  return AMBIT__CUDA_CALL(q->gpu, cuStreamSynchronize, (q->stream),
                          "waiting for work that was handed to it before");
}

/* ---- events ---- */

static ambit_status event_open(ambit__gpu *g, bool timed, ambit__gpu_event **out)
{
  ambit__gpu_event *e;
  ambit_status s;

  *out = NULL;
  AMBIT_NEW(g->errors, e, 1);
  e->gpu = g;
  s = AMBIT__CUDA_CALL(g, cuEventCreate, (&e->event, timed ? CU_TIMED_EVENT : CU_PLAIN_EVENT),
                       "making an event");
  if (s)
    free(e);
  else
    *out = e;
  return s;
}

static void event_close(ambit__gpu_event *e)
{
  if (!e) return;
  if (!ambit__cuda_enter(e->gpu)) e->gpu->cuda->cuEventDestroy_v2(e->event);
  free(e);
}

static ambit_status event_record(ambit__gpu_event *e, ambit__gpu_queue *q)
{
  return AMBIT__CUDA_CALL(e->gpu, cuEventRecord, (e->event, q->stream), "recording an event");
}

static ambit_status event_await(ambit__gpu_queue *q, ambit__gpu_event *e)
{
  return AMBIT__CUDA_CALL(q->gpu, cuStreamWaitEvent, (q->stream, e->event, 0),
                          "making a stream wait for an event");
}

static ambit_status event_sync(ambit__gpu_event *e)
{
  return AMBIT__CUDA_CALL(e->gpu, cuEventSynchronize, (e->event),
                          "waiting for work that was handed to it before");
}

/* After a failure, events count as completed: the next call for results reports the error. */
static bool event_done(ambit__gpu_event *e)
{
  return ambit__cuda_enter(e->gpu) || e->gpu->cuda->cuEventQuery(e->event) != CU_NOT_READY;
}

static double event_seconds(ambit__gpu_event *from, ambit__gpu_event *to)
{
  const ambit__cuda *cuda = from->gpu->cuda;
  float ms = 0;

  if (ambit__cuda_enter(from->gpu) || cuda->cuEventElapsedTime(&ms, from->event, to->event))
    return -1;
  return 1e-3 * (double)ms;
}

/* ---- recordings ---- */

static ambit_status record(ambit__gpu_queue *q)
{
  return AMBIT__CUDA_CALL(q->gpu, cuStreamBeginCapture_v2, (q->stream, CU_CAPTURE_THIS_ONLY),
                          "beginning to record a stream");
}

static ambit_status recorded(ambit__gpu_queue *q, ambit__gpu_recording **out)
{
  const ambit__cuda *cuda = q->gpu->cuda;
  ambit__gpu_recording *r;
  ambit__cu_graph graph = NULL;
  ambit_status s;

  *out = NULL;
  AMBIT_TRY(ambit__cuda_enter(q->gpu));
  AMBIT_TRY(
      ambit__cuda_told(q->gpu, cuda->cuStreamEndCapture(q->stream, &graph), "recording a stream"));
  r = ambit__new(q->gpu->errors, 1, sizeof *r);
  s = r ? ambit__cuda_told(q->gpu, cuda->cuGraphInstantiateWithFlags(&r->graph, graph, 0),
                           "building the recorded graph")
        : AMBIT_ENOMEM;
  cuda->cuGraphDestroy(graph);
  if (s) {
    free(r);
    return s;
  }
  r->gpu = q->gpu;
  *out = r;
  return AMBIT_OK;
}

static ambit_status replay(ambit__gpu_queue *q, ambit__gpu_recording *r)
{
  return AMBIT__CUDA_CALL(q->gpu, cuGraphLaunch, (r->graph, q->stream),
                          "launching a recorded graph");
}

static void recording_close(ambit__gpu_recording *r)
{
  if (!r) return;
  if (!ambit__cuda_enter(r->gpu)) r->gpu->cuda->cuGraphExecDestroy(r->graph);
  free(r);
}

/* ---- memory ---- */

static double gib(size_t bytes)
{
  return (double)bytes / (double)(1 << 30);
}

static ambit_status no_memory(ambit__gpu *g, size_t bytes)
{
  size_t left = free_memory(g);

  return ambit__raise(
      g->errors, AMBIT_ENOMEM,
      "cuda:%d (%s) has not enough memory: %zu bytes (%.2f GiB) were asked for, %zu "
      "(%.2f GiB) of %zu are free",
      g->ordinal, g->fixed.name, bytes, gib(bytes), left, gib(left), g->fixed.memory);
}

static ambit_status alloc(ambit__gpu *g, size_t bytes, ambit__gpu_memory **out)
{
  ambit__gpu_memory *m;
  ambit__cu_result r;
  ambit_status s = AMBIT_OK;

  *out = NULL;
  AMBIT_TRY(ambit__cuda_enter(g));
  AMBIT_NEW(g->errors, m, 1);
  *m = (ambit__gpu_memory){.gpu = g, .bytes = bytes};
  r = g->cuda->cuMemAlloc_v2(&m->address, bytes ? bytes : 1);
  if (r == CU_OUT_OF_MEMORY)
    s = no_memory(g, bytes);
  else
    s = ambit__cuda_told(g, r, "allocating %zu bytes", bytes);
  if (s)
    free(m);
  else
    *out = m;
  return s;
}

static void release(ambit__gpu_memory *m)
{
  if (!m) return;
  if (!ambit__cuda_enter(m->gpu)) m->gpu->cuda->cuMemFree_v2(m->address);
  free(m);
}

static void *address(const ambit__gpu_memory *m)
{
  return (void *)(uintptr_t)m->address;
}

static ambit_status host_alloc(ambit__gpu *g, size_t bytes, void **p)
{
  *p = NULL;
  return AMBIT__CUDA_CALL(g, cuMemHostAlloc, (p, bytes ? bytes : 1, CU_HOST_PORTABLE),
                          "allocating %zu bytes of pinned host memory", bytes);
}

static void host_release(ambit__gpu *g, void *p)
{
  if (p && !ambit__cuda_enter(g)) g->cuda->cuMemFreeHost(p);
}

static ambit_status copy_in(ambit__gpu_queue *q, ambit__gpu_memory *to, size_t at, const void *from,
                            size_t bytes)
{
  if (!bytes) return AMBIT_OK;
  return AMBIT__CUDA_CALL(q->gpu, cuMemcpyHtoDAsync_v2, (to->address + at, from, bytes, q->stream),
                          "copying %zu bytes to it", bytes);
}

static ambit_status copy_out(ambit__gpu_queue *q, void *to, const ambit__gpu_memory *from,
                             size_t at, size_t bytes)
{
  if (!bytes) return AMBIT_OK;
  return AMBIT__CUDA_CALL(q->gpu, cuMemcpyDtoHAsync_v2, (to, from->address + at, bytes, q->stream),
                          "copying %zu bytes from it", bytes);
}

static ambit_status copy(ambit__gpu_queue *q, ambit__gpu_memory *to, size_t to_at,
                         const ambit__gpu_memory *from, size_t from_at, size_t bytes)
{
  if (!bytes) return AMBIT_OK;
  return AMBIT__CUDA_CALL(q->gpu, cuMemcpyDtoDAsync_v2,
                          (to->address + to_at, from->address + from_at, bytes, q->stream),
                          "copying %zu bytes within it", bytes);
}

static ambit_status copy_across(ambit__gpu_queue *q, ambit__gpu_memory *to,
                                const ambit__gpu_memory *from, size_t bytes)
{
  if (!bytes) return AMBIT_OK;
  return AMBIT__CUDA_CALL(
      q->gpu, cuMemcpyPeerAsync,
      (to->address, to->gpu->context, from->address, from->gpu->context, bytes, q->stream),
      "copying %zu bytes to it from cuda:%d", bytes, from->gpu->ordinal);
}

static ambit_status zero(ambit__gpu_queue *q, ambit__gpu_memory *m, size_t at, size_t bytes)
{
  if (!bytes) return AMBIT_OK;
  return AMBIT__CUDA_CALL(q->gpu, cuMemsetD8Async, (m->address + at, 0, bytes, q->stream),
                          "zeroing %zu bytes", bytes);
}

/* ---- the table ---- */

const ambit__gpu_driver ambit__gpu_driver_cuda = {
    .name = "cuda",
    .dialect = &ambit__dialect_cuda,
    .count = count,
    .why_none = why_none,
    .open = open_gpu,
    .close = close_gpu,
    .info = info,
    .queue_open = queue_open,
    .queue_close = queue_close,
    .queue_sync = queue_sync,
    .event_open = event_open,
    .event_close = event_close,
    .event_record = event_record,
    .event_await = event_await,
    .event_sync = event_sync,
    .event_done = event_done,
    .event_seconds = event_seconds,
    .record = record,
    .recorded = recorded,
    .replay = replay,
    .recording_close = recording_close,
    .alloc = alloc,
    .release = release,
    .address = address,
    .host_alloc = host_alloc,
    .host_release = host_release,
    .copy_in = copy_in,
    .copy_out = copy_out,
    .copy = copy,
    .copy_across = copy_across,
    .zero = zero,
    .build = ambit__cuda_build,
    .foresee = ambit__cuda_foresee,
    .unload = ambit__cuda_unload,
    .function = ambit__cuda_function,
    .launch = ambit__cuda_launch,
};

static ambit_status open_device(ambit__errors *errors, const ambit__settings *settings, int ordinal,
                                ambit__device **dev)
{
  return ambit__gpu_open(errors, settings, ordinal, &ambit__backend_cuda, &ambit__gpu_driver_cuda,
                         dev);
}

const ambit__backend ambit__backend_cuda = {
    .name = "cuda",
    .summary = "NVIDIA GPUs, through CUDA; kernels are compiled by NVRTC",
    .count = count,
    .fast = count,
    .open = open_device,
    .twins = true,
    AMBIT__GPU_ENTRIES,
    .event_done = event_done,
    .event_seconds = event_seconds,
    .can = AMBIT__GPU_CAN | AMBIT__CAN(pass) | AMBIT__CAN(record),
};
