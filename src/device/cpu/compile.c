#include "device/cpu/compile.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATIENCE = 60, LINES_SHOWN = 12 };

struct ambit__module {
  ambit__cc *cc;
  ambit__module *next; /* of the cc */
  int loads;           /* minus releases */
  void *handle;        /* of dlopen */
  char key[AMBIT__HASH_CHARS];
  char *source;
};

/* ---- opening and closing ---- */

ambit_status ambit__cc_open(ambit__errors *errors, const ambit__settings *settings, ambit__cc **out)
{
  ambit__cc *cc = ambit__new(errors, 1, sizeof *cc);
  ambit_status s;

  *out = NULL;
  if (!cc) return AMBIT_ENOMEM;
  cc->errors = errors;
  cc->settings = settings;
  cc->patience = PATIENCE;
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
  while (cc->modules)
    unload(cc->modules);
  ambit__compiler_close(&cc->compiler);
  ambit__cache_close(&cc->cache);
  free(cc->why);
  free(cc);
}

/* ---- compiling ---- */

static void make_key(const ambit__cc *cc, const char *source, char key[AMBIT__HASH_CHARS])
{
  const char *args[AMBIT__COMPILER_ARGS];
  int n = ambit__compiler_args(&cc->compiler, cc->settings->strict, "", "", args);
  ambit__hash h = cc->compiler.fingerprint;

  for (int i = 0; i < n; i++)
    ambit__hash_text(&h, args[i]);
  ambit__hash_text(&h, source);
  ambit__hash_hex(&h, key);
}

static ambit_status compile_failed(ambit__cc *cc, const char *key, const char *source,
                                   ambit__process_end end, const ambit__text *output)
{
  const char *words = output->chars ? output->chars : "";
  char *place = ambit__cache_exhibit(&cc->cache, key, source);
  ambit_status s;

  if (end == PROCESS_TIMED_OUT)
    s = ambit__raise(cc->errors, AMBIT_ECOMPILE,
                     "the C compiler %s was stopped: it took more than %g s for a generated "
                     "kernel, kept in %s",
                     cc->compiler.command, cc->patience, place ? place : "no file");
  else
    s = ambit__raise(cc->errors, AMBIT_ECOMPILE,
                     "the C compiler %s refused a generated kernel, kept in %s:\n%.*s",
                     cc->compiler.command, place ? place : "no file",
                     ambit__head_length(words, LINES_SHOWN), words);
  free(place);
  return s;
}

/* Compiles `from` to `to` in the scratch folder. The names are always the same, so that equal sources give equal
 * libraries, whoever compiles them. */
static ambit_status run_compiler(ambit__cc *cc, const char *key, const char *source,
                                 const char *from, const char *to)
{
  const char *args[AMBIT__COMPILER_ARGS];
  ambit__text output = {0};
  ambit__process_end end;
  ambit_status s = AMBIT_OK;

  if (!ambit__put_file(from, source, strlen(source)))
    return ambit__raise(cc->errors, AMBIT_EIO, "cannot write %s: %s", from, strerror(errno));
  ambit__compiler_args(&cc->compiler, cc->settings->strict, from, to, args);
  end = ambit__process_run(args, cc->patience, &output);
  if (end != PROCESS_OK) s = compile_failed(cc, key, source, end, &output);
  ambit__text_free(&output);
  return s;
}

/* Compiles and takes the library into the cache; its path is to free(). */
static ambit_status compile(ambit__cc *cc, const char *key, const char *source, char **path)
{
  const char *folder;
  ambit_status s;
  char *from, *to;

  AMBIT_TRY(ambit__cache_scratch(cc->errors, &cc->cache, &folder));
  from = ambit__path_join(folder, "kernel", ".c");
  to = ambit__path_join(folder, "kernel", ".so");
  if (!from || !to)
    s = ambit__raise(cc->errors, AMBIT_ENOMEM, "no memory for a path");
  else
    s = run_compiler(cc, key, source, from, to);
  if (!s) s = ambit__cache_keep(cc->errors, &cc->cache, key, source, to, path);
  free(from);
  free(to);
  return s;
}

/* ---- loading ---- */

static void *open_library(const char *path)
{
  return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* The library from the cache; NULL when it has none, or one that this system does not take. */
static void *open_cached(ambit__cc *cc, const char *key, const char *source)
{
  double start = ambit__clock();
  char *path = ambit__cache_find(&cc->cache, key, source);
  void *handle = path ? open_library(path) : NULL;

  if (handle)
    ambit__log(cc->settings, 2, "loaded %s in %.2f ms", path, 1e3 * (ambit__clock() - start));
  free(path);
  return handle;
}

static ambit_status open_compiled(ambit__cc *cc, const char *key, const char *source, void **handle)
{
  double start = ambit__clock();
  ambit_status s = AMBIT_OK;
  char *path = NULL;

  AMBIT_TRY(compile(cc, key, source, &path));
  *handle = open_library(path);
  if (*handle)
    ambit__log(cc->settings, 2, "compiled %s in %.2f s", path, ambit__clock() - start);
  else
    s = ambit__raise(cc->errors, AMBIT_ECOMPILE, "a compiled kernel cannot be loaded: %s",
                     dlerror());
  free(path);
  return s;
}

static ambit__module *find_loaded(ambit__cc *cc, const char *key, const char *source)
{
  ambit__module *m = cc->modules;

  while (m && (strcmp(m->key, key) || strcmp(m->source, source)))
    m = m->next;
  return m;
}

static ambit_status open_module(ambit__cc *cc, const char *key, const char *source,
                                ambit__module **module)
{
  ambit__module *m = ambit__new(cc->errors, 1, sizeof *m);
  char *copy = m ? ambit__strdup(cc->errors, source) : NULL;
  ambit_status s = copy ? AMBIT_OK : AMBIT_ENOMEM;
  void *handle = NULL;

  if (!s) handle = open_cached(cc, key, source);
  if (!s && !handle) s = open_compiled(cc, key, source, &handle);
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

/* Writes the source for people to read. */
static void dump(const ambit__cc *cc, const char *symbol, const char *key, const char *source)
{
  const char *folder = cc->settings->dump;
  ambit__text name = {0};
  char *path;

  if (!folder || !*folder) return;
  ambit__print(&name, "%s/%s-%s.c", folder, symbol, key);
  path = ambit__text_finish(&name);
  if (!path || !ambit__make_folder(folder) || !ambit__put_file(path, source, strlen(source)))
    ambit__log(cc->settings, 0, "the generated source cannot be written to %s: %s",
               path ? path : folder, strerror(errno));
  free(path);
}

ambit_status ambit__cc_load(ambit__cc *cc, const char *source, const char *symbol,
                            ambit__module **module, void **address)
{
  char key[AMBIT__HASH_CHARS];
  ambit__module *m;

  *module = NULL;
  AMBIT_CHECK(cc->available, cc->errors, AMBIT_ECOMPILE,
              "a kernel must be compiled, but there is no C compiler (%s)", cc->why);
  make_key(cc, source, key);
  dump(cc, symbol, key, source);
  m = find_loaded(cc, key, source);
  if (!m) AMBIT_TRY(open_module(cc, key, source, &m));
  m->loads++;
  *address = dlsym(m->handle, symbol);
  if (!*address) {
    ambit__module_release(m);
    return ambit__raise(cc->errors, AMBIT_ECOMPILE, "the compiled kernel has no function %s",
                        symbol);
  }
  *module = m;
  return AMBIT_OK;
}
