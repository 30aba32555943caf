/* SPDX-License-Identifier: BSD-3-Clause */
#include "fake_cuda.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(default)

enum {
  INVALID_VALUE = 1,
  INVALID_DEVICE = 101,
  INVALID_CONTEXT = 201,
  NOT_FOUND = 500,
  STREAM_CAPTURED = 900
};

struct CUctx_st {
  int device, users;
};
struct CUstream_st {
  struct CUctx_st *context;
  bool recording;
};
struct CUgraph_st {
  int unused;
};
struct CUgraphExec_st {
  struct CUctx_st *context;
};
struct CUevent_st {
  struct CUctx_st *context;
  double when; /* ms; < 0: not recorded */
};
struct CUmod_st {
  struct CUctx_st *context;
};
struct CUfunc_st {
  struct CUctx_st *context;
};

typedef struct block {
  char *memory; /* NULL: unused */
  size_t bytes;
  struct CUctx_st *context;
} block;

fake_cuda_state fake_cuda = {.gpus = FAKE_GPUS, .memory = FAKE_MEMORY, .version = 13000};

static struct CUctx_st contexts[FAKE_GPUS];
static _Thread_local struct CUctx_st *current;
static struct CUfunc_st functions[FAKE_GPUS];
static block blocks[FAKE_KEPT];
static double clock_ms;
static void *made[4 * FAKE_KEPT]; /* objects: none is lost to the leak check, even if it stays */

#define NEED(cond, code)                                                                           \
  do {                                                                                             \
    if (!(cond)) return code;                                                                      \
  } while (0)

static void *make(size_t bytes)
{
  int i = 0;

  while (made[i])
    i++; /* there are fewer */
  return made[i] = calloc(1, bytes);
}

static void unmake(const void *object)
{
  int i = 0;

  while (made[i] != object)
    i++;
  free(made[i]);
  made[i] = NULL;
}

/* ---- devices ---- */

ambit__cu_result cuInit(unsigned int flags)
{
  (void)flags;
  return fake_cuda.gpus ? fake_cuda.init_result : CU_NO_DEVICE;
}

/* NVRTC asks the driver for tables of undocumented functions, and works without them. */
ambit__cu_result cuGetExportTable(const void **table, const void *id);
ambit__cu_result cuGetExportTable(const void **table, const void *id)
{
  (void)table, (void)id;
  return NOT_FOUND;
}

ambit__cu_result cuDriverGetVersion(int *version)
{
  *version = fake_cuda.version;
  return CU_OK;
}

ambit__cu_result cuGetErrorName(ambit__cu_result r, const char **text)
{
  *text = r == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_FAKE";
  return CU_OK;
}

ambit__cu_result cuGetErrorString(ambit__cu_result r, const char **text)
{
  *text = r == 700 ? "an illegal memory access was encountered" : "a fake error";
  return CU_OK;
}

ambit__cu_result cuDeviceGetCount(int *count)
{
  *count = fake_cuda.gpus;
  return CU_OK;
}

ambit__cu_result cuDeviceGet(ambit__cu_device *dev, int ordinal)
{
  NEED(ordinal >= 0 && ordinal < fake_cuda.gpus, INVALID_DEVICE);
  *dev = ordinal;
  return CU_OK;
}

ambit__cu_result cuDeviceGetName(char *name, int length, ambit__cu_device dev)
{
  NEED(length > 16, INVALID_VALUE);
  strcpy(name, dev ? "Fake GPU two" : "Fake GPU one");
  return CU_OK;
}

ambit__cu_result cuDeviceTotalMem_v2(size_t *bytes, ambit__cu_device dev)
{
  (void)dev;
  *bytes = fake_cuda.memory;
  return CU_OK;
}

ambit__cu_result cuDeviceGetAttribute(int *value, unsigned int attribute, ambit__cu_device dev)
{
  (void)dev;
  switch (attribute) {
  case CU_MAJOR: *value = 9; break;
  case CU_MINOR: *value = 0; break;
  case CU_UNITS: *value = 132; break;
  case CU_MAX_THREADS: *value = 1024; break;
  case CU_L2_BYTES: *value = 60 << 20; break;
  case CU_ALL_SHARED_BYTES: *value = 228 << 10; break;
  case CU_REGISTERS: *value = 64 << 10; break;
  case CU_SHARED_BYTES: *value = 227 << 10; break;
  default: return INVALID_VALUE;
  }
  return CU_OK;
}

ambit__cu_result cuDevicePrimaryCtxRetain(ambit__cu_context *ctx, ambit__cu_device dev)
{
  *ctx = &contexts[dev];
  fake_cuda.contexts += !(*ctx)->users++;
  (*ctx)->device = dev;
  return CU_OK;
}

ambit__cu_result cuDevicePrimaryCtxRelease_v2(ambit__cu_device dev)
{
  NEED(contexts[dev].users, INVALID_CONTEXT);
  fake_cuda.contexts -= !--contexts[dev].users;
  return CU_OK;
}

ambit__cu_result cuCtxGetCurrent(ambit__cu_context *ctx)
{
  *ctx = current;
  return CU_OK;
}

ambit__cu_result cuCtxSetCurrent(ambit__cu_context ctx)
{
  NEED(!ctx || ctx->users, INVALID_CONTEXT);
  current = ctx;
  return CU_OK;
}

/* ---- streams and events ---- */

ambit__cu_result cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
  NEED(current, INVALID_CONTEXT);
  *least = 0;
  *greatest = -5;
  return CU_OK;
}

ambit__cu_result cuStreamCreateWithPriority(ambit__cu_stream *s, unsigned int flags, int priority)
{
  NEED(current, INVALID_CONTEXT);
  NEED(flags == CU_INDEPENDENT_STREAM && priority <= 0 && priority >= -5, INVALID_VALUE);
  fake_cuda.priority = priority;
  *s = make(sizeof **s);
  **s = (struct CUstream_st){.context = current};
  fake_cuda.streams++;
  return CU_OK;
}

ambit__cu_result cuStreamDestroy_v2(ambit__cu_stream s)
{
  NEED(s->context == current, INVALID_CONTEXT);
  unmake(s);
  fake_cuda.streams--;
  return CU_OK;
}

ambit__cu_result cuStreamSynchronize(ambit__cu_stream s)
{
  NEED(s->context == current, INVALID_CONTEXT);
  NEED(!s->recording, STREAM_CAPTURED);
  return fake_cuda.sync_result;
}

ambit__cu_result cuStreamBeginCapture_v2(ambit__cu_stream s, unsigned int mode)
{
  NEED(s->context == current, INVALID_CONTEXT);
  NEED(!s->recording && mode == CU_CAPTURE_THIS_ONLY, INVALID_VALUE);
  s->recording = true;
  return CU_OK;
}

ambit__cu_result cuStreamEndCapture(ambit__cu_stream s, ambit__cu_graph *g)
{
  NEED(s->recording, INVALID_VALUE);
  s->recording = false;
  *g = make(sizeof **g);
  fake_cuda.graphs++;
  return CU_OK;
}

ambit__cu_result cuGraphInstantiateWithFlags(ambit__cu_graph_exec *x, ambit__cu_graph g,
                                             unsigned long long flags)
{
  NEED(current && g && !flags, INVALID_VALUE);
  *x = make(sizeof **x);
  (*x)->context = current;
  fake_cuda.graphs++;
  return CU_OK;
}

ambit__cu_result cuGraphDestroy(ambit__cu_graph g)
{
  unmake(g);
  fake_cuda.graphs--;
  return CU_OK;
}

ambit__cu_result cuGraphLaunch(ambit__cu_graph_exec x, ambit__cu_stream s)
{
  NEED(x->context == current && s->context == current, INVALID_CONTEXT);
  fake_cuda.replays++;
  return CU_OK;
}

ambit__cu_result cuGraphExecDestroy(ambit__cu_graph_exec x)
{
  unmake(x);
  fake_cuda.graphs--;
  return CU_OK;
}

ambit__cu_result cuStreamWaitEvent(ambit__cu_stream s, ambit__cu_event e, unsigned int flags)
{
  NEED(s->context == current && e, INVALID_CONTEXT);
  return flags ? INVALID_VALUE : CU_OK;
}

ambit__cu_result cuEventCreate(ambit__cu_event *e, unsigned int flags)
{
  NEED(current, INVALID_CONTEXT);
  NEED(flags == CU_TIMED_EVENT || flags == CU_PLAIN_EVENT, INVALID_VALUE);
  *e = make(sizeof **e);
  **e = (struct CUevent_st){.context = current, .when = -1};
  fake_cuda.events++;
  return CU_OK;
}

ambit__cu_result cuEventDestroy_v2(ambit__cu_event e)
{
  NEED(e->context == current, INVALID_CONTEXT);
  unmake(e);
  fake_cuda.events--;
  return CU_OK;
}

ambit__cu_result cuEventRecord(ambit__cu_event e, ambit__cu_stream s)
{
  NEED(e->context == current && s->context == current, INVALID_CONTEXT);
  e->when = clock_ms += 250;
  return CU_OK;
}

ambit__cu_result cuEventSynchronize(ambit__cu_event e)
{
  NEED(e->context == current, INVALID_CONTEXT);
  return fake_cuda.sync_result;
}

ambit__cu_result cuEventQuery(ambit__cu_event e)
{
  NEED(e->context == current, INVALID_CONTEXT);
  return fake_cuda.sync_result;
}

ambit__cu_result cuEventElapsedTime(float *ms, ambit__cu_event from, ambit__cu_event to)
{
  NEED(from->when >= 0 && to->when >= 0, INVALID_VALUE);
  *ms = (float)(to->when - from->when);
  return CU_OK;
}

/* ---- memory ---- */

static size_t used(void)
{
  size_t bytes = 0;

  for (int i = 0; i < FAKE_KEPT; i++)
    if (blocks[i].memory && blocks[i].context == current) bytes += blocks[i].bytes;
  return bytes;
}

ambit__cu_result cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
  NEED(current, INVALID_CONTEXT);
  *free_bytes = fake_cuda.memory - used();
  *total = fake_cuda.memory;
  return CU_OK;
}

ambit__cu_result cuMemAlloc_v2(ambit__cu_pointer *p, size_t bytes)
{
  NEED(current, INVALID_CONTEXT);
  NEED(bytes, INVALID_VALUE);
  NEED(bytes <= fake_cuda.memory - used(), CU_OUT_OF_MEMORY);
  for (int i = 0; i < FAKE_KEPT; i++) {
    if (blocks[i].memory) continue;
    blocks[i] = (block){malloc(bytes), bytes, current};
    memset(blocks[i].memory, 0xa5, bytes);
    *p = (ambit__cu_pointer)(size_t)blocks[i].memory;
    fake_cuda.allocations++;
    return CU_OK;
  }
  return CU_OUT_OF_MEMORY;
}

ambit__cu_result cuMemFree_v2(ambit__cu_pointer p)
{
  for (int i = 0; i < FAKE_KEPT; i++) {
    if (!blocks[i].memory || (ambit__cu_pointer)(size_t)blocks[i].memory != p) continue;
    NEED(blocks[i].context == current, INVALID_CONTEXT);
    free(blocks[i].memory);
    blocks[i].memory = NULL;
    fake_cuda.allocations--;
    return CU_OK;
  }
  return INVALID_VALUE;
}

ambit__cu_result cuMemHostAlloc(void **p, size_t bytes, unsigned int flags)
{
  NEED(current, INVALID_CONTEXT);
  NEED(flags == CU_HOST_PORTABLE && bytes, INVALID_VALUE);
  *p = malloc(bytes);
  fake_cuda.pinned++;
  return CU_OK;
}

ambit__cu_result cuMemFreeHost(void *p)
{
  NEED(current, INVALID_CONTEXT);
  free(p);
  fake_cuda.pinned--;
  return CU_OK;
}

/* The bytes at p, if all of them lie in one allocation of the current context. */
static char *at(ambit__cu_pointer p, size_t bytes)
{
  char *m = (char *)(size_t)p;

  for (int i = 0; i < FAKE_KEPT; i++)
    if (blocks[i].memory && blocks[i].context == current && m >= blocks[i].memory &&
        bytes <= blocks[i].bytes && m + bytes <= blocks[i].memory + blocks[i].bytes)
      return m;
  return NULL;
}

ambit__cu_result cuMemcpyHtoDAsync_v2(ambit__cu_pointer to, const void *from, size_t bytes,
                                      ambit__cu_stream s)
{
  NEED(s->context == current && at(to, bytes), INVALID_VALUE);
  memcpy(at(to, bytes), from, bytes);
  return CU_OK;
}

ambit__cu_result cuMemcpyDtoHAsync_v2(void *to, ambit__cu_pointer from, size_t bytes,
                                      ambit__cu_stream s)
{
  NEED(s->context == current && at(from, bytes), INVALID_VALUE);
  memcpy(to, at(from, bytes), bytes);
  return CU_OK;
}

ambit__cu_result cuMemcpyDtoDAsync_v2(ambit__cu_pointer to, ambit__cu_pointer from, size_t bytes,
                                      ambit__cu_stream s)
{
  NEED(s->context == current && at(to, bytes) && at(from, bytes), INVALID_VALUE);
  memmove(at(to, bytes), at(from, bytes), bytes);
  return CU_OK;
}

ambit__cu_result cuMemcpyPeerAsync(ambit__cu_pointer to, ambit__cu_context to_context,
                                   ambit__cu_pointer from, ambit__cu_context from_context,
                                   size_t bytes, ambit__cu_stream s)
{
  struct CUctx_st *const here = current;
  char *target, *source;

  NEED(s->context == current, INVALID_CONTEXT);
  current = to_context; /* memory is found only in its own context */
  target = at(to, bytes);
  current = from_context;
  source = at(from, bytes);
  current = here;
  NEED(target && source, INVALID_VALUE);
  memmove(target, source, bytes);
  return CU_OK;
}

ambit__cu_result cuMemsetD8Async(ambit__cu_pointer p, unsigned char value, size_t bytes,
                                 ambit__cu_stream s)
{
  NEED(s->context == current && at(p, bytes), INVALID_VALUE);
  memset(at(p, bytes), value, bytes);
  return CU_OK;
}

/* ---- kernels ---- */

ambit__cu_result cuModuleLoadData(ambit__cu_module *m, const void *image)
{
  NEED(current, INVALID_CONTEXT);
  fake_cuda.loads++;
  if (fake_cuda.refused_loads > 0 && fake_cuda.refused_loads--) return fake_cuda.refusal;
  NEED(!memcmp(image, "\177ELF", 4), CU_INVALID_IMAGE);
  *m = make(sizeof **m);
  (*m)->context = current;
  fake_cuda.modules++;
  return CU_OK;
}

ambit__cu_result cuModuleUnload(ambit__cu_module m)
{
  NEED(m->context == current, INVALID_CONTEXT);
  unmake(m);
  fake_cuda.modules--;
  return CU_OK;
}

/* Every module has every kernel but one. */
ambit__cu_result cuModuleGetFunction(ambit__cu_function *f, ambit__cu_module m, const char *name)
{
  NEED(m->context == current, INVALID_CONTEXT);
  NEED(strcmp(name, "missing"), NOT_FOUND);
  *f = &functions[current->device];
  (*f)->context = current;
  return CU_OK;
}

ambit__cu_result cuFuncSetAttribute(ambit__cu_function f, unsigned int attribute, int value)
{
  NEED(f->context == current, INVALID_CONTEXT);
  NEED(attribute == CU_MAX_DYNAMIC_SHARED, INVALID_VALUE);
  fake_cuda.attributes++;
  fake_cuda.shared_granted = value;
  return CU_OK;
}

ambit__cu_result cuLaunchKernel(ambit__cu_function f, unsigned int blocks_x, unsigned int blocks_y,
                                unsigned int blocks_z, unsigned int threads_x,
                                unsigned int threads_y, unsigned int threads_z,
                                unsigned int shared_bytes, ambit__cu_stream s, void **params,
                                void **extra)
{
  fake_cuda_state *c = &fake_cuda;
  bool granted = shared_bytes <= 48 << 10 || shared_bytes <= (unsigned int)c->shared_granted;

  NEED(f->context == current && s->context == current, INVALID_CONTEXT);
  NEED(threads_x * threads_y * threads_z <= 1024 && !extra && granted, INVALID_VALUE);
  c->launches++;
  c->blocks[0] = blocks_x, c->blocks[1] = blocks_y, c->blocks[2] = blocks_z;
  c->threads[0] = threads_x, c->threads[1] = threads_y, c->threads[2] = threads_z;
  c->shared = shared_bytes;
  for (int i = 0; i < c->wanted_args; i++)
    memcpy(&c->args[i], params[i], sizeof c->args[i]);
  return CU_OK;
}

ambit__cu_result cuLaunchCooperativeKernel(ambit__cu_function f, unsigned int blocks_x,
                                           unsigned int blocks_y, unsigned int blocks_z,
                                           unsigned int threads_x, unsigned int threads_y,
                                           unsigned int threads_z, unsigned int shared_bytes,
                                           ambit__cu_stream s, void **params)
{
  fake_cuda.together++;
  return cuLaunchKernel(f, blocks_x, blocks_y, blocks_z, threads_x, threads_y, threads_z,
                        shared_bytes, s, params, NULL);
}
