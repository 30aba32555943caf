/* SPDX-License-Identifier: BSD-3-Clause */
/* module.c - kernels of a CUDA device: compiled or taken from the cache, loaded, launched.
 *
 * The key of a cached image covers all it depends on: the versions of the library, device, driver
 * and NVRTC, options and source. A cached image that the driver rejects is compiled again. If it
 * rejects an image just compiled, NVRTC is newer than the driver, and the message says so.
 */
#include "device/cuda/cuda_gpu.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "codegen/source.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  LINES_SHOWN = 12,
  MOST_ARGS = 256,
  PLAIN_SHARED = 48 << 10 /* bytes of shared memory a function may use without a request */
};

struct ambit__gpu_function {
  ambit__gpu_function *next; /* of the module */
  ambit__gpu *gpu;
  ambit__cu_function function;
  char *name;
  size_t shared; /* bytes it may use */
};

struct ambit__gpu_module {
  ambit__gpu *gpu;
  ambit__cu_module module;
  ambit__gpu_function *functions;
};

typedef struct image {
  void *data; /* owned; NULL: none */
  size_t bytes;
} image;

/* ---- compilation ---- */

static void make_key(const ambit__gpu *g, const ambit__nvrtc_how *how, const char *source,
                     char key[AMBIT__HASH_CHARS])
{
  const int version[] = {AMBIT_VERSION_MAJOR, AMBIT_VERSION_MINOR, AMBIT_VERSION_PATCH};
  const char *options[AMBIT__NVRTC_OPTIONS];
  int n = ambit__nvrtc_options(how, options);
  ambit__hash h;

  ambit__hash_init(&h);
  ambit__hash_bytes(&h, version, sizeof version);
  ambit__hash_text(&h, g->fixed.identity);
  for (int i = 0; i < n; i++)
    ambit__hash_text(&h, options[i]);
  if (how->lines)
    ambit__hash_text(&h, source); /* code knows its lines */
  else
    ambit__source_hash(&h, source);
  ambit__hash_hex(&h, key);
}

static ambit_status compile_failed(ambit__gpu *g, ambit_status s, const char *what, const char *key,
                                   const char *source, const ambit__text *log)
{
  const char *words = log->chars ? log->chars : "", *folder;
  char *place;

  if (s == AMBIT_ENOMEM) return ambit__raise(g->errors, s, "no memory for a compiled kernel");
  if (!g->cache.folder) (void)ambit__cache_scratch(NULL, &g->cache, &folder);
  place = ambit__cache_exhibit(&g->cache, key, source);
  s = ambit__raise(g->errors, s, "NVRTC %d.%d refused %s, kept in %s:\n%.*s", g->nvrtc_version[0],
                   g->nvrtc_version[1], what, place ? place : "no file",
                   ambit__head_length(words, LINES_SHOWN), words);
  free(place);
  return s;
}

/* One compilation; it needs nothing else of its device. */
typedef struct task {
  ambit__foreseen_task head;
  const ambit__nvrtc *nvrtc;
  ambit__nvrtc_how how;
  char *source;
  image image;
  ambit__text log;
  ambit_status status;
} task;

static void run_task(ambit__foreseen_task *head)
{
  task *t = (task *)head;

  t->status =
      ambit__nvrtc_compile(t->nvrtc, &t->how, t->source, &t->image.data, &t->image.bytes, &t->log);
}

static void free_task(ambit__foreseen_task *head)
{
  task *t = (task *)head;

  free(t->source);
  free(t->image.data);
  ambit__text_free(&t->log);
  free(t);
}

static bool is_cached(ambit__gpu *g, const char *key, const char *source)
{
  size_t bytes;
  void *data = ambit__cache_load(&g->cache, key, source, &bytes);

  free(data);
  return data != NULL;
}

/* One per core of this process. */
static int threads_of(const ambit__gpu *g)
{
  const int sharers = g->settings->sharers > 1 ? g->settings->sharers : 1;

  return (int)sysconf(_SC_NPROCESSORS_ONLN) / sharers;
}

void ambit__cuda_foresee(ambit__gpu *g, const char *source, bool strict)
{
  task *t = malloc(sizeof *t);

  if (!t) return;
  *t = (task){.head = {.run = run_task, .free = free_task}, .nvrtc = g->nvrtc, .how = g->how};
  t->how.strict = strict;
  t->source = strdup(source);
  make_key(g, &t->how, source, t->head.key);
  if (!t->source || ambit__foreseen_has(&g->foreseen, t->head.key) ||
      is_cached(g, t->head.key, source))
    free_task(&t->head);
  else
    ambit__foreseen_add(&g->foreseen, &t->head, threads_of(g));
}

/* The image of a foreseen source, if a thread has compiled it without an error. */
static bool take_foreseen(ambit__gpu *g, const char *key, image *i)
{
  task *t = (task *)ambit__foreseen_take(&g->foreseen, key);

  if (!t) return false;
  if (t->head.state == TASK_DONE && !t->status) {
    *i = t->image;
    t->image = (image){0};
  }
  free_task(&t->head);
  return i->data;
}

static ambit_status compile(ambit__gpu *g, const ambit__nvrtc_how *how, const char *what,
                            const char *key, const char *source, image *i)
{
  double start = ambit__clock();
  ambit__text log = {0};
  ambit_status s = AMBIT_OK;

  if (!take_foreseen(g, key, i))
    s = ambit__nvrtc_compile(g->nvrtc, how, source, &i->data, &i->bytes, &log);

  if (s)
    s = compile_failed(g, s, what, key, source, &log);
  else
    ambit__log(g->settings, 2, "NVRTC made %s (%s) in %.2f s", key, how->arch,
               ambit__clock() - start);
  ambit__text_free(&log);
  return s;
}

/* ---- loading ---- */

static ambit_status load_failed(ambit__gpu *g, ambit__cu_result r)
{
  bool is_foreign = r == CU_INVALID_IMAGE || r == CU_NO_BINARY || r == CU_UNSUPPORTED_PTX;

  AMBIT_CHECK(!is_foreign || g->nvrtc_version[0] <= g->version / 1000, g->errors, AMBIT_ENODEVICE,
              "cuda:%d does not accept the code of NVRTC %d.%d, because its driver is for CUDA "
              "%d.%d; install NVRTC of CUDA %d, or a newer driver",
              g->ordinal, g->nvrtc_version[0], g->nvrtc_version[1], g->version / 1000,
              g->version % 1000 / 10, g->version / 1000);
  return ambit__cuda_told(g, r, "loading a compiled kernel");
}

static bool has_kernel(const ambit__gpu *g, ambit__cu_module module, const char *entry)
{
  ambit__cu_function function;

  return !g->cuda->cuModuleGetFunction(&function, module, entry);
}

/* From the cache, unless the driver rejects it or the kernel is not in it. */
static bool load_cached(ambit__gpu *g, const char *key, const char *source, const char *entry,
                        ambit__cu_module *module)
{
  size_t bytes;
  void *data = ambit__cache_load(&g->cache, key, source, &bytes);
  bool ok = data && !g->cuda->cuModuleLoadData(module, data);

  free(data);
  if (!ok || has_kernel(g, *module, entry)) return ok;
  g->cuda->cuModuleUnload(*module);
  return false;
}

static ambit_status load_source(ambit__gpu *g, const char *what, const char *source,
                                const char *entry, bool strict, ambit__cu_module *module)
{
  char key[AMBIT__HASH_CHARS];
  ambit__nvrtc_how how = g->how;
  ambit__cu_result r;
  image i = {0};

  how.strict = strict;
  make_key(g, &how, source, key);
  if (load_cached(g, key, source, entry, module)) return AMBIT_OK;
  AMBIT_TRY(compile(g, &how, what, key, source, &i));
  r = g->cuda->cuModuleLoadData(module, i.data);
  if (!r && has_kernel(g, *module, entry))
    ambit__cache_save(&g->cache, key, source, i.data, i.bytes);
  free(i.data);
  return r ? load_failed(g, r) : AMBIT_OK;
}

ambit_status ambit__cuda_build(ambit__gpu *g, const char *what, const char *source,
                               const char *entry, bool strict, ambit__gpu_module **out)
{
  ambit__gpu_module *m;
  ambit_status s;

  *out = NULL;
  AMBIT_TRY(ambit__cuda_enter(g));
  AMBIT_NEW(g->errors, m, 1);
  m->gpu = g;
  s = load_source(g, what, source, entry, strict, &m->module);
  if (s)
    free(m);
  else
    *out = m;
  return s;
}

void ambit__cuda_unload(ambit__gpu_module *m)
{
  ambit__gpu_function *next;

  if (!m) return;
  for (ambit__gpu_function *f = m->functions; f; f = next) {
    next = f->next;
    free(f->name);
    free(f);
  }
  if (!ambit__cuda_enter(m->gpu)) m->gpu->cuda->cuModuleUnload(m->module);
  free(m);
}

ambit_status ambit__cuda_function(ambit__gpu_module *m, const char *name, ambit__gpu_function **out)
{
  ambit__gpu *g = m->gpu;
  ambit__cu_function function;
  ambit__gpu_function *f;
  ambit__cu_result r;
  char *copy;

  *out = NULL;
  AMBIT_TRY(ambit__cuda_enter(g));
  r = g->cuda->cuModuleGetFunction(&function, m->module, name);
  AMBIT_CHECK(r != CU_NOT_FOUND, g->errors, AMBIT_ECOMPILE,
              "cuda:%d: the source has no kernel %s; it is declared extern \"C\" __global__",
              g->ordinal, name);
  AMBIT_TRY(ambit__cuda_told(g, r, "looking for kernel %s", name));
  f = ambit__new(g->errors, 1, sizeof *f);
  copy = f ? ambit__strdup(g->errors, name) : NULL;
  if (!copy) {
    free(f);
    return AMBIT_ENOMEM;
  }
  *f = (ambit__gpu_function){.next = m->functions, .gpu = g, .function = function, .name = copy};
  f->shared = PLAIN_SHARED;
  m->functions = *out = f;
  return AMBIT_OK;
}

/* ---- launch ---- */

/* More shared memory than the default must be requested, once. */
static ambit_status grant_shared(ambit__gpu_function *f, size_t shared)
{
  ambit__gpu *g = f->gpu;

  AMBIT_CHECK(
      shared <= g->fixed.shared, g->errors, AMBIT_EUNSUPPORTED,
      "cuda:%d: kernel %s wants %zu bytes of shared memory for a block, which has at most %zu",
      g->ordinal, f->name, shared, g->fixed.shared);
  AMBIT_TRY(ambit__cuda_told(
      g, g->cuda->cuFuncSetAttribute(f->function, CU_MAX_DYNAMIC_SHARED, (int)shared),
      "giving kernel %s %zu bytes of shared memory", f->name, shared));
  f->shared = shared;
  return AMBIT_OK;
}

static ambit_status check_shape(ambit__gpu_function *f, const int64_t blocks[3], int nargs)
{
  AMBIT_CHECK(
      blocks[0] <= INT_MAX && blocks[1] <= 65535 && blocks[2] <= 65535, f->gpu->errors,
      AMBIT_EUNSUPPORTED,
      "cuda:%d: kernel %s is to run in %lld x %lld x %lld blocks; there may be %d x 65535 x "
      "65535",
      f->gpu->ordinal, f->name, (long long)blocks[0], (long long)blocks[1], (long long)blocks[2],
      INT_MAX);
  AMBIT_CHECK(nargs <= MOST_ARGS, f->gpu->errors, AMBIT_EUNSUPPORTED,
              "cuda:%d: kernel %s has %d arguments; there may be %d", f->gpu->ordinal, f->name,
              nargs, MOST_ARGS);
  return AMBIT_OK;
}

ambit_status ambit__cuda_launch(ambit__gpu_queue *q, ambit__gpu_function *f,
                                const ambit__shape *shape, int nargs, const ambit__gpu_arg *args)
{
  const int64_t *b = shape->blocks;
  const int *t = shape->threads;
  const unsigned x = (unsigned)b[0], y = (unsigned)b[1], z = (unsigned)b[2];
  const unsigned tx = (unsigned)t[0], ty = (unsigned)t[1], tz = (unsigned)t[2];
  const unsigned shared = (unsigned)shape->shared;
  ambit__gpu *g = q->gpu;
  void *params[MOST_ARGS];

  if (b[0] < 1 || b[1] < 1 || b[2] < 1) return AMBIT_OK;
  AMBIT_TRY(check_shape(f, b, nargs));
  AMBIT_TRY(ambit__cuda_enter(g));
  if (shape->shared > f->shared) AMBIT_TRY(grant_shared(f, shape->shared));
  for (int i = 0; i < nargs; i++) /* the prototype predates const */
    params[i] = (void *)(uintptr_t)(args[i].memory ? (const void *)&args[i].memory->address
                                                   : args[i].value);
  return ambit__cuda_told(
      g,
      shape->edges ? g->cuda->cuLaunchCooperativeKernel(f->function, x, y, z, tx, ty, tz, shared,
                                                        q->stream, params)
                   : g->cuda->cuLaunchKernel(f->function, x, y, z, tx, ty, tz, shared, q->stream,
                                             params, NULL),
      "launching kernel %s in %lld x %lld x %lld blocks of %d x %d x %d threads", f->name,
      (long long)b[0], (long long)b[1], (long long)b[2], t[0], t[1], t[2]);
}
