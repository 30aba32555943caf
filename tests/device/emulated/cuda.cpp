/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda.cpp - our own libcuda.so.1: a GPU on the CPU that computes.
 *
 * Its kernels come from nvrtc.cpp, which compiles them as C++ with plan/warp.h. A stream is a list
 * of commands that run when somebody waits for them: as late as the rules of CUDA allow, so that a
 * wait that is missing shows. With EMULATED_EAGER=1 they run at once.
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <dlfcn.h>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

extern "C" {
#include "device/cuda/cuda_api.h"
}

#pragma GCC visibility push(default)

enum { INVALID_VALUE = 1, MEMORY_BYTES = 1 << 30 };

typedef std::function<void()> command;

struct CUctx_st {
};
struct CUstream_st {
  std::deque<command> waiting;
  std::vector<command> *recording;
};
struct CUgraph_st {
  std::vector<command> commands;
};
struct CUgraphExec_st {
  std::vector<command> commands;
};
struct CUevent_st {
  CUstream_st *stream; /* that reaches it; NULL: it did, or nobody recorded it */
  int64_t number;      /* of recordings so far */
  int64_t reached;     /* the last one that was reached */
  double when;         /* ms */
};
struct CUfunc_st {
  int (*launch)(const long long *blocks, const int *threads, void **params);
  int nparams;
};
struct CUmod_st {
  void *library;
  std::vector<std::unique_ptr<CUfunc_st>> functions;
};

static CUctx_st context;
static std::recursive_mutex lock;
static std::set<CUstream_st *> streams;
static std::set<char *> pinned;

#define ENTER std::lock_guard<std::recursive_mutex> enter(lock)

static bool is_eager(void)
{
  static const bool eager = getenv("EMULATED_EAGER") != NULL;

  return eager;
}

static void run_one(CUstream_st *s)
{
  command c = std::move(s->waiting.front());

  s->waiting.pop_front();
  c();
}

static void run_all(CUstream_st *s)
{
  while (!s->waiting.empty())
    run_one(s);
}

static void run_streams(void)
{
  for (CUstream_st *s : streams)
    run_all(s);
}

static ambit__cu_result add(CUstream_st *s, command c)
{
  if (s->recording) {
    s->recording->push_back(std::move(c));
    return CU_OK;
  }
  s->waiting.push_back(std::move(c));
  if (is_eager()) run_all(s);
  return CU_OK;
}

static double now_ms(void)
{
  struct timespec t;

  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

extern "C" {

/* ---- devices ---- */

ambit__cu_result cuInit(unsigned int)
{
  return CU_OK;
}

ambit__cu_result cuDriverGetVersion(int *version)
{
  *version = 13000;
  return CU_OK;
}

ambit__cu_result cuGetErrorName(ambit__cu_result, const char **text)
{
  *text = "CUDA_ERROR_EMULATED";
  return CU_OK;
}

ambit__cu_result cuGetErrorString(ambit__cu_result, const char **text)
{
  *text = "an error of the emulated GPU";
  return CU_OK;
}

ambit__cu_result cuDeviceGetCount(int *count)
{
  *count = 1;
  return CU_OK;
}

ambit__cu_result cuDeviceGet(ambit__cu_device *dev, int ordinal)
{
  *dev = ordinal;
  return CU_OK;
}

ambit__cu_result cuDeviceGetName(char *name, int length, ambit__cu_device)
{
  snprintf(name, (size_t)length, "Emulated GPU");
  return CU_OK;
}

ambit__cu_result cuDeviceTotalMem_v2(size_t *bytes, ambit__cu_device)
{
  *bytes = MEMORY_BYTES;
  return CU_OK;
}

ambit__cu_result cuDeviceGetAttribute(int *value, unsigned int attribute, ambit__cu_device)
{
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

ambit__cu_result cuDevicePrimaryCtxRetain(ambit__cu_context *ctx, ambit__cu_device)
{
  *ctx = &context;
  return CU_OK;
}

ambit__cu_result cuDevicePrimaryCtxRelease_v2(ambit__cu_device)
{
  return CU_OK;
}

ambit__cu_result cuCtxGetCurrent(ambit__cu_context *ctx)
{
  *ctx = &context;
  return CU_OK;
}

ambit__cu_result cuCtxSetCurrent(ambit__cu_context)
{
  return CU_OK;
}

/* ---- streams and events ---- */

ambit__cu_result cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
  *least = 0;
  *greatest = -5;
  return CU_OK;
}

ambit__cu_result cuStreamCreateWithPriority(ambit__cu_stream *s, unsigned int, int)
{
  ENTER;
  *s = new CUstream_st{};
  streams.insert(*s);
  return CU_OK;
}

ambit__cu_result cuStreamDestroy_v2(ambit__cu_stream s)
{
  ENTER;
  run_all(s);
  streams.erase(s);
  delete s;
  return CU_OK;
}

ambit__cu_result cuStreamSynchronize(ambit__cu_stream s)
{
  ENTER;
  run_all(s);
  return CU_OK;
}

ambit__cu_result cuStreamBeginCapture_v2(ambit__cu_stream s, unsigned int)
{
  ENTER;
  s->recording = new std::vector<command>;
  return CU_OK;
}

ambit__cu_result cuStreamEndCapture(ambit__cu_stream s, ambit__cu_graph *g)
{
  ENTER;
  *g = new CUgraph_st{std::move(*s->recording)};
  delete s->recording;
  s->recording = NULL;
  return CU_OK;
}

ambit__cu_result cuGraphInstantiateWithFlags(ambit__cu_graph_exec *x, ambit__cu_graph g,
                                             unsigned long long)
{
  *x = new CUgraphExec_st{g->commands};
  return CU_OK;
}

ambit__cu_result cuGraphDestroy(ambit__cu_graph g)
{
  delete g;
  return CU_OK;
}

ambit__cu_result cuGraphLaunch(ambit__cu_graph_exec x, ambit__cu_stream s)
{
  ENTER;
  for (const command &c : x->commands)
    add(s, c);
  return CU_OK;
}

ambit__cu_result cuGraphExecDestroy(ambit__cu_graph_exec x)
{
  delete x;
  return CU_OK;
}

ambit__cu_result cuEventCreate(ambit__cu_event *e, unsigned int)
{
  *e = new CUevent_st{};
  return CU_OK;
}

ambit__cu_result cuEventDestroy_v2(ambit__cu_event)
{
  return CU_OK; /* commands may still name it */
}

ambit__cu_result cuEventRecord(ambit__cu_event e, ambit__cu_stream s)
{
  ENTER;
  const int64_t number = ++e->number;

  e->stream = s;
  return add(s, [e, number] {
    e->reached = number;
    e->when = now_ms();
  });
}

static void reach(ambit__cu_event e, CUstream_st *s, int64_t number)
{
  while (e->reached < number && streams.count(s) && !s->waiting.empty())
    run_one(s);
}

ambit__cu_result cuStreamWaitEvent(ambit__cu_stream s, ambit__cu_event e, unsigned int)
{
  ENTER;
  CUstream_st *const other = e->stream;
  const int64_t number = e->number;

  return add(s, [e, other, number] { reach(e, other, number); });
}

ambit__cu_result cuEventSynchronize(ambit__cu_event e)
{
  ENTER;
  reach(e, e->stream, e->number);
  return CU_OK;
}

ambit__cu_result cuEventQuery(ambit__cu_event e)
{
  ENTER;
  if (e->reached >= e->number) return CU_OK;
  if (!e->stream->waiting.empty()) run_one(e->stream); /* time passes */
  return e->reached >= e->number ? CU_OK : CU_NOT_READY;
}

ambit__cu_result cuEventElapsedTime(float *ms, ambit__cu_event from, ambit__cu_event to)
{
  *ms = (float)(to->when - from->when);
  return CU_OK;
}

/* ---- memory ---- */

ambit__cu_result cuMemGetInfo_v2(size_t *left, size_t *total)
{
  *left = MEMORY_BYTES;
  *total = MEMORY_BYTES;
  return CU_OK;
}

ambit__cu_result cuMemAlloc_v2(ambit__cu_pointer *p, size_t bytes)
{
  ENTER;
  char *m = (char *)aligned_alloc(256, (bytes + 511) / 256 * 256);

  memset(m, 0xa5, bytes);
  *p = (ambit__cu_pointer)(uintptr_t)m;
  return CU_OK;
}

ambit__cu_result cuMemFree_v2(ambit__cu_pointer p)
{
  ENTER;
  run_streams();
  free((void *)(uintptr_t)p);
  return CU_OK;
}

ambit__cu_result cuMemHostAlloc(void **p, size_t bytes, unsigned int)
{
  ENTER;
  *p = malloc(bytes);
  pinned.insert((char *)*p);
  return CU_OK;
}

ambit__cu_result cuMemFreeHost(void *p)
{
  ENTER;
  run_streams();
  pinned.erase((char *)p);
  free(p);
  return CU_OK;
}

static bool is_pinned(const void *p)
{
  std::set<char *>::iterator i = pinned.upper_bound((char *)p);

  return i != pinned.begin() && (const char *)p - *std::prev(i) < 1 << 28;
}

static void *at(ambit__cu_pointer p)
{
  return (void *)(uintptr_t)p;
}

ambit__cu_result cuMemcpyHtoDAsync_v2(ambit__cu_pointer to, const void *from, size_t bytes,
                                      ambit__cu_stream s)
{
  ENTER;
  if (is_pinned(from)) return add(s, [=] { memcpy(at(to), from, bytes); });
  std::vector<char> copy((const char *)from, (const char *)from + bytes);
  return add(s, [to, copy] { memcpy(at(to), copy.data(), copy.size()); });
}

ambit__cu_result cuMemcpyDtoHAsync_v2(void *to, ambit__cu_pointer from, size_t bytes,
                                      ambit__cu_stream s)
{
  ENTER;
  add(s, [=] { memcpy(to, at(from), bytes); });
  if (!is_pinned(to)) run_all(s);
  return CU_OK;
}

ambit__cu_result cuMemcpyDtoDAsync_v2(ambit__cu_pointer to, ambit__cu_pointer from, size_t bytes,
                                      ambit__cu_stream s)
{
  ENTER;
  return add(s, [=] { memmove(at(to), at(from), bytes); });
}

ambit__cu_result cuMemcpyPeerAsync(ambit__cu_pointer to, ambit__cu_context, ambit__cu_pointer from,
                                   ambit__cu_context, size_t bytes, ambit__cu_stream s)
{
  return cuMemcpyDtoDAsync_v2(to, from, bytes, s);
}

ambit__cu_result cuMemsetD8Async(ambit__cu_pointer p, unsigned char value, size_t bytes,
                                 ambit__cu_stream s)
{
  ENTER;
  return add(s, [=] { memset(at(p), value, bytes); });
}

/* ---- kernels ---- */

/* An image is \177ELF and the path of a library. */
ambit__cu_result cuModuleLoadData(ambit__cu_module *m, const void *image)
{
  ENTER;
  void *library;

  if (memcmp(image, "\177ELF", 4)) return CU_INVALID_IMAGE;
  library = dlopen((const char *)image + 4, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "emulated GPU: %s\n", dlerror());
    return CU_INVALID_IMAGE;
  }
  *m = new CUmod_st{library, {}};
  return CU_OK;
}

ambit__cu_result cuModuleUnload(ambit__cu_module m)
{
  ENTER;
  run_streams();
  dlclose(m->library);
  delete m;
  return CU_OK;
}

ambit__cu_result cuModuleGetFunction(ambit__cu_function *f, ambit__cu_module m, const char *name)
{
  ENTER;
  char symbol[256];
  std::unique_ptr<CUfunc_st> made(new CUfunc_st);
  void *count;

  snprintf(symbol, sizeof symbol, "emulate_%s", name);
  *(void **)&made->launch = dlsym(m->library, symbol);
  snprintf(symbol, sizeof symbol, "parameters_%s", name);
  count = dlsym(m->library, symbol);
  if (!made->launch || !count) return CU_NOT_FOUND;
  made->nparams = *(int *)count;
  *f = made.get();
  m->functions.push_back(std::move(made));
  return CU_OK;
}

ambit__cu_result cuFuncSetAttribute(ambit__cu_function, unsigned int, int)
{
  return CU_OK;
}

ambit__cu_result cuLaunchKernel(ambit__cu_function f, unsigned int blocks_x, unsigned int blocks_y,
                                unsigned int blocks_z, unsigned int threads_x,
                                unsigned int threads_y, unsigned int threads_z, unsigned int,
                                ambit__cu_stream s, void **params, void **)
{
  ENTER;
  std::vector<long long> values((size_t)f->nparams);

  for (size_t i = 0; i < values.size(); i++)
    memcpy(&values[i], params[i], sizeof values[i]);
  return add(s, [=] {
    const long long blocks[] = {blocks_x, blocks_y, blocks_z};
    const int threads[] = {(int)threads_x, (int)threads_y, (int)threads_z};

    if (!f->launch(blocks, threads, (void **)values.data())) {
      fprintf(stderr, "emulated GPU: the lanes of a warp did not reach the same exchanges\n");
      abort();
    }
  });
}

ambit__cu_result cuLaunchCooperativeKernel(ambit__cu_function f, unsigned int blocks_x,
                                           unsigned int blocks_y, unsigned int blocks_z,
                                           unsigned int threads_x, unsigned int threads_y,
                                           unsigned int threads_z, unsigned int shared,
                                           ambit__cu_stream s, void **params)
{
  return cuLaunchKernel(f, blocks_x, blocks_y, blocks_z, threads_x, threads_y, threads_z, shared, s,
                        params, NULL);
}
}
