/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE 1 /* O_CLOEXEC */
#include "device/cpu/compile.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "codegen/source.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct ambit__module {
  ambit__cc *cc;
  ambit__module *next; /* in the list of the cc */
  int loads;           /* loads minus releases */
  void *handle;        /* of dlopen */
  char key[AMBIT__HASH_CHARS];
  char *source;
};

/* ---- open and close ---- */

ambit_status ambit__cc_open(ambit__errors *errors, const ambit__settings *settings, ambit__cc **out)
{
  ambit__cc *cc = ambit__new(errors, 1, sizeof *cc);
  ambit_status s;

  *out = NULL;
  if (!cc) return AMBIT_ENOMEM;
  cc->errors = errors;
  cc->settings = settings;
  cc->patience = settings->patience > 0 ? settings->patience : AMBIT__PATIENCE;
  s = ambit__cache_open(errors, settings, &cc->cache);
  if (!s) s = ambit__compiler_open(errors, settings, &cc->cache, &cc->compiler, &cc->why);
  if (s) {
    ambit__cc_close(cc);
    return s;
  }
  cc->available = cc->compiler.words != NULL;
  *out = cc;
  return AMBIT_OK;
}

static void unload(ambit__module *m)
{
  ambit__module **link = &m->cc->modules;

  while (*link != m)
    link = &(*link)->next;
  *link = m->next;
  dlclose(m->handle);
  free(m->source);
  free(m);
}

void ambit__module_release(ambit__module *m)
{
  if (m && --m->loads == 0) unload(m);
}

void ambit__cc_close(ambit__cc *cc)
{
  if (!cc) return;
  atomic_store(&cc->closing, true);
  ambit__foreseen_close(&cc->foreseen);
  while (cc->modules)
    unload(cc->modules);
  ambit__compiler_close(&cc->compiler);
  ambit__cache_close(&cc->cache);
  free(cc->why);
  free(cc->late);
  free(cc);
}

/* ---- loading ---- */

/* Whether a library runs here and was made from its source (compile_run.c). */
static bool passes_test(void *handle, const char *key)
{
  uint64_t number = 0;
  unsigned long long (*test)(unsigned long long);

  *(void **)&test = dlsym(handle, "ambit__self_test");
  if (!test || sscanf(key, "%16" SCNx64, &number) != 1) return false;
  for (uint64_t x = 1; x; x <<= 9)
    if (test(x) != (x ^ number) * UINT64_C(0x9e3779b97f4a7c15)) return false;
  return true;
}

static void *open_library(const char *path)
{
  return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* Loads an open file, whatever its path refers to by now. dlopen() treats equal paths as the same
 * library, and descriptor numbers are reused. So each path encodes a unique number in redundant
 * dots and slashes. */
static void *open_descriptor(int fd)
{
  static atomic_uint counter;
  char path[160] = "/proc/self/fd/";
  size_t at = strlen(path);

  for (unsigned n = atomic_fetch_add(&counter, 1); n; n >>= 1)
    at += (size_t)snprintf(path + at, sizeof path - at, n & 1 ? ".//" : "./");
  snprintf(path + at, sizeof path - at, "%d", fd);
  return open_library(path);
}

/* The library from the cache; NULL if there is none, or if it does not work here. */
static void *open_cached(ambit__cc *cc, const char *key, const char *source, const char *symbol)
{
  double start = ambit__clock();
  int fd = ambit__cache_find(&cc->cache, key, source);
  void *handle = fd >= 0 ? open_descriptor(fd) : NULL;

  if (fd >= 0) close(fd);
  if (handle && (!dlsym(handle, symbol) || !passes_test(handle, key))) {
    dlclose(handle);
    return NULL;
  }
  if (handle)
    ambit__log(cc->settings, 2, "loaded %s/%s.so in %.2f ms", cc->cache.folder, key,
               1e3 * (ambit__clock() - start));
  return handle;
}

/* Loads a library that was just compiled. */
static ambit_status open_fresh(ambit__cc *cc, const char *key, const char *path, const char *symbol,
                               void **handle)
{
  *handle = open_library(path);
  AMBIT_CHECK(*handle, cc->errors, AMBIT_ECOMPILE, "a compiled kernel cannot be loaded: %s",
              dlerror());
  AMBIT_CHECK(dlsym(*handle, symbol), cc->errors, AMBIT_ECOMPILE,
              "the compiled kernel has no function %s", symbol);
  AMBIT_CHECK(passes_test(*handle, key), cc->errors, AMBIT_ECOMPILE,
              "the C compiler %s made a library that is not that of its source: its self-test "
              "gives another number",
              cc->compiler.command);
  return AMBIT_OK;
}

/* Compiles and loads; only a library that works is kept in the cache. */
static ambit_status open_compiled(ambit__cc *cc, const char *key, const char *source,
                                  const char *symbol, void **handle)
{
  double start = ambit__clock();
  char *path = NULL;
  ambit_status s = ambit__cc_compile(cc, key, source, &path);
  int fd = s ? -1 : open(path, O_RDONLY | O_CLOEXEC);

  if (!s) s = open_fresh(cc, key, path, symbol, handle);
  if (!s) {
    ambit__log(cc->settings, 2, "compiled %s in %.2f s", path, ambit__clock() - start);
    if (fd >= 0) ambit__cache_keep(&cc->cache, key, source, fd);
  } else if (*handle) {
    dlclose(*handle);
    *handle = NULL;
  }
  if (fd >= 0) {
    close(fd);
    unlink(path);
  }
  free(path);
  return s;
}

static ambit__module *find_loaded(ambit__cc *cc, const char *key, const char *source)
{
  ambit__module *m = cc->modules;

  while (m && (strcmp(m->key, key) || !ambit__source_equal(m->source, source)))
    m = m->next;
  return m;
}

static ambit_status open_module(ambit__cc *cc, const char *key, const char *source,
                                const char *symbol, ambit__module **module)
{
  ambit__module *m = ambit__new(cc->errors, 1, sizeof *m);
  char *copy = m ? ambit__strdup(cc->errors, source) : NULL;
  ambit_status s = copy ? AMBIT_OK : AMBIT_ENOMEM;
  void *handle = NULL;

  if (!s) handle = open_cached(cc, key, source, symbol);
  if (!s && !handle) s = open_compiled(cc, key, source, symbol, &handle);
  if (s) {
    free(copy);
    free(m);
    return s;
  }
  *m = (ambit__module){.cc = cc, .next = cc->modules, .handle = handle, .source = copy};
  strcpy(m->key, key);
  *module = cc->modules = m;
  return AMBIT_OK;
}

static ambit_status load(ambit__cc *cc, const char *source, const char *symbol, ambit__module **out,
                         void **address)
{
  char key[AMBIT__HASH_CHARS];
  ambit__module *m;

  AMBIT_CHECK(cc->available, cc->errors, AMBIT_ECOMPILE,
              "a kernel must be compiled, but there is no C compiler (%s)", cc->why);
  ambit__cc_key(cc, source, key);
  ambit__cache_dump(cc->settings, symbol, key, ".c", source);
  m = find_loaded(cc, key, source);
  if (!m) AMBIT_TRY(open_module(cc, key, source, symbol, &m));
  m->loads++;
  *address = dlsym(m->handle, symbol);
  if (!*address) {
    ambit__module_release(m);
    return ambit__raise(cc->errors, AMBIT_ECOMPILE, "the compiled kernel has no function %s",
                        symbol);
  }
  *out = m;
  return AMBIT_OK;
}

void ambit__cc_foresee(ambit__cc *cc, const char *source, int most, bool quiet)
{
  char key[AMBIT__HASH_CHARS];
  int fd;

  if (!cc->available) return;
  ambit__cc_key(cc, source, key);
  if (ambit__foreseen_has(&cc->foreseen, key) || find_loaded(cc, key, source)) return;
  fd = ambit__cache_find(&cc->cache, key, source);
  if (fd < 0)
    ambit__cc_compile_ahead(cc, key, source, most, quiet);
  else
    close(fd);
}

bool ambit__cc_is_ready(ambit__cc *cc, const char *key)
{
  return ambit__foreseen_is_done(&cc->foreseen, key);
}

ambit_status ambit__cc_try(ambit__cc *cc, const char *source, const char *symbol,
                           ambit__module **module, void **address)
{
  ambit_status s;

  *module = NULL;
  *address = NULL;
  free(cc->late);
  cc->late = NULL;
  s = load(cc, source, symbol, module, address);
  return cc->late && s == AMBIT_ECOMPILE ? AMBIT_OK : s;
}

ambit_status ambit__cc_load(ambit__cc *cc, const char *source, const char *symbol,
                            ambit__module **module, void **address)
{
  AMBIT_TRY(ambit__cc_try(cc, source, symbol, module, address));
  AMBIT_CHECK(*address, cc->errors, AMBIT_ECOMPILE, "%s", cc->late);
  return AMBIT_OK;
}
