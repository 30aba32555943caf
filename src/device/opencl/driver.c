/* SPDX-License-Identifier: BSD-3-Clause */
/* driver.c - OpenCL for the GPU device: devices, queues, events, memory. */
#include "base/hash.h"
#include "base/memory.h"
#include "device/gpu/gpu.h"
#include "device/opencl/cl_gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ambit__event {
  ambit__gpu *gpu;
  cl_event event; /* NULL: not recorded yet */
};

/* Host memory that the device can access: a buffer that stays mapped. */
struct pinned {
  cl_mem mem;
  void *address;
  struct pinned *next;
};

/* ---- devices ---- */

static size_t size_of(cl_device_id device, cl_uint what)
{
  size_t n = 0;

  ambit__cl.clGetDeviceInfo(device, what, sizeof n, &n, NULL);
  return n;
}

static cl_ulong number_of(cl_device_id device, cl_uint what)
{
  cl_ulong n = 0;

  ambit__cl.clGetDeviceInfo(device, what, sizeof n, &n, NULL);
  return n;
}

static cl_uint count_of(cl_device_id device, cl_uint what)
{
  cl_uint n = 0;

  ambit__cl.clGetDeviceInfo(device, what, sizeof n, &n, NULL);
  return n;
}

enum { AMPERE = 8, HOPPER = 9 };

/* The generation of a GPU of NVIDIA; 0: it is another one's. */
static int generation(cl_device_id device)
{
  return ambit__cl_has_extension(device, "cl_nv_device_attribute_query")
             ? (int)count_of(device, CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV)
             : 0;
}

/* All that compiled code depends on: the device's name and a hash of all version strings. */
static void identify(cl_platform_id platform, cl_device_id device, ambit__gpu_info *info)
{
  static const cl_uint facts[] = {CL_DEVICE_NAME, CL_DRIVER_VERSION, CL_DEVICE_VERSION};
  char text[AMBIT__CL_TEXT], hex[AMBIT__HASH_CHARS];
  ambit__hash h;

  ambit__hash_init(&h);
  for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
    ambit__cl_text(device, facts[i], text);
    ambit__hash_text(&h, text);
  }
  text[0] = '\0';
  ambit__cl.clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof text - 1, text, NULL);
  ambit__hash_text(&h, text);
  ambit__hash_hex(&h, hex);
  ambit__cl_text(device, CL_DEVICE_NAME, text);
  snprintf(info->name, sizeof info->name, "%.127s", text);
  snprintf(info->identity, sizeof info->identity, "%.127s %s", text, hex);
}

/* PoCL (3.1) compiles every kernel a second time, for any block size, when it is asked for its
 * code; and it has its own cache. */
static bool keeps_code(cl_platform_id platform)
{
  char name[256] = "";

  ambit__cl.clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name - 1, name, NULL);
  return !strstr(name, "Portable Computing Language");
}

static void probe(ambit__gpu *gpu, cl_platform_id platform)
{
  const cl_device_id d = gpu->device;
  ambit__gpu_info *info = &gpu->info;

  identify(platform, d, info);
  info->memory = (size_t)number_of(d, CL_DEVICE_GLOBAL_MEM_SIZE);
  info->largest = (size_t)number_of(d, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  info->multiprocessors = (int)count_of(d, CL_DEVICE_MAX_COMPUTE_UNITS);
  info->shared = (size_t)number_of(d, CL_DEVICE_LOCAL_MEM_SIZE);
  info->parameters = size_of(d, CL_DEVICE_MAX_PARAMETER_SIZE);
  info->max_threads = (int)size_of(d, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  info->l2 = (size_t)number_of(d, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE);
  info->has_double = ambit__cl_has_extension(d, "cl_khr_fp64");
  info->dots = generation(d) >= AMPERE; /* with all the instructions that CUDA kernels use */
  info->minima = generation(d) >= HOPPER;
  info->exchanges = generation(d) > 0;
  info->is_cpu = (number_of(d, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
  gpu->keeps_code = keeps_code(platform);
  gpu->divides_exactly =
      (number_of(d, CL_DEVICE_SINGLE_FP_CONFIG) & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
}

static void close_gpu(ambit__gpu *gpu)
{
  if (!gpu) return;
  if (gpu->queue) ambit__cl.clReleaseCommandQueue(gpu->queue);
  if (gpu->context) ambit__cl_context_close(gpu->ordinal, gpu->info.is_cpu);
  ambit__cache_close(&gpu->cache);
  free(gpu);
}

static ambit_status open_gpu(ambit__errors *errors, const ambit__settings *settings, int ordinal,
                             ambit__gpu **out)
{
  ambit__gpu *gpu = ambit__new(errors, 1, sizeof *gpu);
  cl_platform_id platform;
  cl_int err = CL_SUCCESS;
  ambit_status s;

  if (!gpu) return AMBIT_ENOMEM;
  gpu->errors = errors;
  gpu->settings = settings;
  gpu->ordinal = ordinal;
  gpu->device = ambit__cl_device(ordinal, &platform);
  probe(gpu, platform);
  AMBIT_TRY_GOTO(s, ambit__cache_open(errors, settings, &gpu->cache), fail);
  gpu->context = ambit__cl_context_open(ordinal, &err);
  AMBIT_TRY_GOTO(s, ambit__cl_check(gpu, err, "clCreateContext"), fail);
  gpu->queue = ambit__cl.clCreateCommandQueue(gpu->context, gpu->device, 0, &err);
  AMBIT_TRY_GOTO(s, ambit__cl_check(gpu, err, "clCreateCommandQueue"), fail);
  *out = gpu;
  return AMBIT_OK;
fail:
  close_gpu(gpu);
  return s;
}

static void info(ambit__gpu *gpu, ambit__gpu_info *out)
{
  *out = gpu->info;
  out->free_memory = gpu->info.memory > gpu->used ? gpu->info.memory - gpu->used : 0;
}

/* ---- queues and events ---- */

/* OpenCL 1.2 has no priorities. */
static ambit_status queue_open(ambit__gpu *gpu, bool urgent, ambit__gpu_queue **out)
{
  ambit__gpu_queue *q = ambit__new(gpu->errors, 1, sizeof *q);
  cl_int err = CL_SUCCESS;

  (void)urgent;
  if (!q) return AMBIT_ENOMEM;
  q->gpu = gpu;
  q->queue = ambit__cl.clCreateCommandQueue(gpu->context, gpu->device, 0, &err);
  if (err) {
    free(q);
    return ambit__cl_check(gpu, err, "clCreateCommandQueue");
  }
  *out = q;
  return AMBIT_OK;
}

static void queue_close(ambit__gpu_queue *q)
{
  if (!q) return;
  ambit__cl.clFinish(q->queue);
  ambit__cl.clReleaseCommandQueue(q->queue);
  free(q);
}

static ambit_status queue_sync(ambit__gpu_queue *q)
{
  q->waiting = 0;
  return AMBIT__CL_CALL(q->gpu, clFinish, q->queue);
}

static ambit_status event_open(ambit__gpu *gpu, bool timed, ambit__gpu_event **out)
{
  (void)timed;
  AMBIT_NEW(gpu->errors, *out, 1);
  (*out)->gpu = gpu;
  return AMBIT_OK;
}

static void event_close(ambit__gpu_event *e)
{
  if (!e) return;
  if (e->event) ambit__cl.clReleaseEvent(e->event);
  free(e);
}

static ambit_status event_record(ambit__gpu_event *e, ambit__gpu_queue *q)
{
  if (e->event) ambit__cl.clReleaseEvent(e->event);
  e->event = NULL;
  AMBIT_TRY(AMBIT__CL_CALL(q->gpu, clEnqueueMarkerWithWaitList, q->queue, 0, NULL, &e->event));
  q->waiting = 0; /* without a flush, another queue might wait for it forever */
  return AMBIT__CL_CALL(q->gpu, clFlush, q->queue);
}

static ambit_status event_await(ambit__gpu_queue *q, ambit__gpu_event *e)
{
  if (!e->event) return AMBIT_OK;
  return AMBIT__CL_CALL(q->gpu, clEnqueueBarrierWithWaitList, q->queue, 1, &e->event, NULL);
}

static ambit_status event_sync(ambit__gpu_event *e)
{
  if (!e->event) return AMBIT_OK;
  return AMBIT__CL_CALL(e->gpu, clWaitForEvents, 1, &e->event);
}

static bool event_done(ambit__gpu_event *e)
{
  cl_int status = CL_COMPLETE;

  if (e->event)
    ambit__cl.clGetEventInfo(e->event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status,
                             NULL);
  return status <= CL_COMPLETE; /* negative: it failed and will not complete */
}

/* Queues with profiling are slower, so the host's clock is used. */
static double event_seconds(ambit__gpu_event *from, ambit__gpu_event *to)
{
  (void)from;
  (void)to;
  return -1;
}

/* ---- memory ---- */

static ambit_status refuse(const ambit__gpu *gpu, size_t bytes, cl_int code)
{
  const double mib = 1024.0 * 1024.0;

  return ambit__raise(gpu->errors, AMBIT_ENOMEM,
                      "%.1f MiB were asked for on %s, which has %.1f MiB, of which %.1f MiB are "
                      "in use here; it gives at most %.1f MiB at once (%s)",
                      (double)bytes / mib, gpu->info.name, (double)gpu->info.memory / mib,
                      (double)gpu->used / mib, (double)gpu->info.largest / mib,
                      ambit__cl_code_name(code));
}

/* Many drivers allocate more at once than they report, but none more than the total. */
static ambit_status alloc(ambit__gpu *gpu, size_t bytes, ambit__gpu_memory **out)
{
  cl_int err = bytes > gpu->info.memory ? CL_INVALID_BUFFER_SIZE : CL_SUCCESS;
  ambit__gpu_memory *m;

  if (err) return refuse(gpu, bytes, err);
  AMBIT_NEW(gpu->errors, m, 1);
  m->gpu = gpu;
  m->bytes = bytes;
  m->mem = ambit__cl.clCreateBuffer(gpu->context, CL_MEM_READ_WRITE, bytes ? bytes : 1, NULL, &err);
  if (err) {
    free(m);
    return refuse(gpu, bytes, err);
  }
  gpu->used += bytes;
  *out = m;
  return AMBIT_OK;
}

static void release(ambit__gpu_memory *m)
{
  if (!m) return;
  m->gpu->used -= m->bytes;
  ambit__cl.clReleaseMemObject(m->mem);
  free(m);
}

static ambit_status host_alloc(ambit__gpu *gpu, size_t bytes, void **address)
{
  struct pinned *p = ambit__new(gpu->errors, 1, sizeof *p);
  cl_int err = CL_SUCCESS;

  if (!p) return AMBIT_ENOMEM;
  p->mem = ambit__cl.clCreateBuffer(gpu->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes,
                                    NULL, &err);
  if (!err)
    p->address = ambit__cl.clEnqueueMapBuffer(
        gpu->queue, p->mem, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, NULL, NULL, &err);
  if (err) {
    if (p->mem) ambit__cl.clReleaseMemObject(p->mem);
    free(p);
    return ambit__raise(gpu->errors, AMBIT_ENOMEM,
                        "%zu bytes of host memory for copies to and from %s cannot be had: %s",
                        bytes, gpu->info.name, ambit__cl_code_name(err));
  }
  p->next = gpu->pinned;
  gpu->pinned = p;
  *address = p->address;
  return AMBIT_OK;
}

static void host_release(ambit__gpu *gpu, void *address)
{
  struct pinned **link = &gpu->pinned, *p;

  while (*link && (*link)->address != address)
    link = &(*link)->next;
  p = *link;
  if (!p) return;
  *link = p->next;
  ambit__cl.clEnqueueUnmapMemObject(gpu->queue, p->mem, p->address, 0, NULL, NULL);
  ambit__cl.clFinish(gpu->queue);
  ambit__cl.clReleaseMemObject(p->mem);
  free(p);
}

static ambit_status copy_in(ambit__gpu_queue *q, ambit__gpu_memory *to, size_t at, const void *from,
                            size_t bytes)
{
  return AMBIT__CL_CALL(q->gpu, clEnqueueWriteBuffer, q->queue, to->mem, CL_FALSE, at, bytes, from,
                        0, NULL, NULL);
}

static ambit_status copy_out(ambit__gpu_queue *q, void *to, const ambit__gpu_memory *from,
                             size_t at, size_t bytes)
{
  return AMBIT__CL_CALL(q->gpu, clEnqueueReadBuffer, q->queue, from->mem, CL_FALSE, at, bytes, to,
                        0, NULL, NULL);
}

static ambit_status copy(ambit__gpu_queue *q, ambit__gpu_memory *to, size_t to_at,
                         const ambit__gpu_memory *from, size_t from_at, size_t bytes)
{
  return AMBIT__CL_CALL(q->gpu, clEnqueueCopyBuffer, q->queue, from->mem, to->mem, from_at, to_at,
                        bytes, 0, NULL, NULL);
}

static ambit_status zero(ambit__gpu_queue *q, ambit__gpu_memory *m, size_t at, size_t bytes)
{
  const uint64_t nothing = 0;
  const size_t unit = at % sizeof nothing || bytes % sizeof nothing ? 1 : sizeof nothing;

  if (!bytes) return AMBIT_OK;
  return AMBIT__CL_CALL(q->gpu, clEnqueueFillBuffer, q->queue, m->mem, &nothing, unit, at, bytes, 0,
                        NULL, NULL);
}

const ambit__gpu_driver ambit__gpu_driver_opencl = {
    .name = "opencl",
    .dialect = &ambit__dialect_opencl,
    .count = ambit__cl_count,
    .why_none = ambit__cl_why_none,
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
    .alloc = alloc,
    .release = release,
    .host_alloc = host_alloc,
    .host_release = host_release,
    .copy_in = copy_in,
    .copy_out = copy_out,
    .copy = copy,
    .zero = zero,
    .build = ambit__cl_build,
    .unload = ambit__cl_unload,
    .function = ambit__cl_function,
    .launch = ambit__cl_launch,
};

static ambit_status open_device(ambit__errors *errors, const ambit__settings *settings, int ordinal,
                                ambit__device **dev)
{
  return ambit__gpu_open(errors, settings, ordinal, &ambit__backend_opencl,
                         &ambit__gpu_driver_opencl, dev);
}

const ambit__backend ambit__backend_opencl = {
    .name = "opencl",
    .summary = "any vendor's GPU, through its OpenCL driver",
    .count = ambit__cl_count,
    .fast = ambit__cl_fast,
    .open = open_device,
    AMBIT__GPU_ENTRIES,
    .event_done = event_done,
    .event_seconds = event_seconds,
    .can = AMBIT__GPU_CAN,
};
