/* SPDX-License-Identifier: BSD-3-Clause */
/* compile_run.c - from C text to a library in the scratch folder, by the C compiler: now, or ahead
 * of time in other threads. */
#include "device/cpu/compile.h"

#include "base/text.h"
#include "codegen/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINES_SHOWN = 12 };

/* Every library has a function that shows that it runs here and was made from its source, as
 * compiler wrappers may return the library of another source. The number is the first half of the
 * key. */
static const char self_test[] = "\n\n__attribute__((visibility(\"default\")))\n"
                                "unsigned long long ambit__self_test(unsigned long long x)\n"
                                "{\n"
                                "  return (x ^ 0x%.16sull) * 0x9e3779b97f4a7c15ull;\n"
                                "}\n";

void ambit__cc_key(const ambit__cc *cc, const char *source, char key[AMBIT__HASH_CHARS])
{
  const char *args[AMBIT__COMPILER_ARGS];
  int n = ambit__compiler_args(&cc->compiler, cc->settings->strict, "", "", args);
  ambit__hash h = cc->compiler.fingerprint;

  ambit__hash_text(&h, self_test);
  for (int i = 0; i < n; i++)
    ambit__hash_text(&h, args[i]);
  ambit__source_hash(&h, source);
  ambit__hash_hex(&h, key);
}

/* ---- one compilation ---- */

/* The compiler took too long. The next kernel gets half the time, so that all kernels together take
 * at most twice as long as one. */
static ambit_status compile_late(ambit__cc *cc, const char *place)
{
  ambit__text t = {0};

  ambit__print(&t,
               "the C compiler %s was stopped: it took more than %g s (option patience) for a "
               "generated kernel, kept in %s",
               cc->compiler.command, cc->patience, place ? place : "no file");
  free(cc->late);
  cc->late = ambit__text_finish(&t);
  cc->patience /= 2;
  AMBIT_CHECK(cc->late, cc->errors, AMBIT_ENOMEM, "no memory for a message");
  return AMBIT_ECOMPILE;
}

static ambit_status compile_failed(ambit__cc *cc, const char *key, const char *source,
                                   ambit__process_end end, const ambit__text *output)
{
  const char *words = output->chars ? output->chars : "";
  char *place = ambit__cache_exhibit(&cc->cache, key, source);
  ambit_status s;

  if (end == PROCESS_TIMED_OUT)
    s = compile_late(cc, place);
  else
    s = ambit__raise(cc->errors, AMBIT_ECOMPILE,
                     "the C compiler %s refused a generated kernel, kept in %s:\n%.*s",
                     cc->compiler.command, place ? place : "no file",
                     ambit__head_length(words, LINES_SHOWN), words);
  free(place);
  return s;
}

/* The source with its self-test, to free(); NULL: no memory. */
static char *full_source(const char *key, const char *source)
{
  ambit__text t = {0};

  ambit__print(&t, "%s", source);
  ambit__print(&t, self_test, key);
  return ambit__text_finish(&t);
}

/* Writes it to a file; false with errno. */
static bool write_source(const char *key, const char *source, const char *path)
{
  char *text = full_source(key, source);
  bool ok;

  errno = ENOMEM;
  ok = text && ambit__put_file(path, text, strlen(text));
  free(text);
  return ok;
}

/* Compiles `from` to `to` in the scratch folder. The names are always the same, so that equal
 * sources give equal libraries in every process. *full: it failed for lack of space, and may be
 * tried elsewhere. */
static ambit_status run_compiler(ambit__cc *cc, const char *key, const char *source,
                                 const char *from, const char *to, bool *full)
{
  const char *args[AMBIT__COMPILER_ARGS];
  const ambit__process p = {.argv = args,
                            .temporary = cc->cache.scratch.path,
                            .seconds = cc->patience,
                            .settings = cc->settings,
                            .doing = "compiling a kernel"};
  ambit__text output = {0};
  ambit__process_end end;
  ambit_status s = AMBIT_OK;

  if (!write_source(key, source, from)) {
    const int err = errno;

    if ((*full = ambit__cache_leave_full(&cc->cache))) return AMBIT_OK;
    return ambit__raise(cc->errors, AMBIT_EIO, "cannot write %s: %s", from, strerror(err));
  }
  ambit__compiler_args(&cc->compiler, cc->settings->strict, from, to, args);
  end = ambit__process_run(&p, &output);
  *full = end == PROCESS_FAILED && ambit__cache_leave_full(&cc->cache);
  if (end != PROCESS_OK && !*full) s = compile_failed(cc, key, source, end, &output);
  ambit__text_free(&output);
  return s;
}

/* ---- compilers at work ---- */

typedef struct task {
  ambit__foreseen_task head;
  char *source;             /* with its self-test */
  char *folder, *from, *to; /* a folder of its own, the source and the library in it */
  const char *args[AMBIT__COMPILER_ARGS];
  ambit__settings settings;    /* a copy: those of the context may change meanwhile */
  double seconds;              /* that the compiler may take */
  const atomic_bool *unwanted; /* of the cc, which waits for all tasks before it goes */
  ambit__process_end end;
  ambit__text output;
} task;

static void run_task(ambit__foreseen_task *head)
{
  task *t = (task *)head;
  const ambit__process p = {.argv = t->args,
                            .temporary = t->folder,
                            .seconds = t->seconds,
                            .settings = &t->settings,
                            .unwanted = t->unwanted,
                            .doing = "compiling a kernel"};

  t->end = PROCESS_NOT_RUN;
  if (ambit__put_file(t->from, t->source, strlen(t->source)))
    t->end = ambit__process_run(&p, &t->output);
}

static void free_task(ambit__foreseen_task *head)
{
  task *t = (task *)head;

  if (t->from) unlink(t->from);
  if (t->to) unlink(t->to);
  if (t->folder) rmdir(t->folder); /* more in it is removed with the scratch folder */
  ambit__text_free(&t->output);
  free(t->source);
  free(t->folder);
  free(t->from);
  free(t->to);
  free(t);
}

/* Everything a task needs, so that it touches nothing of the context; false: impossible now. */
static bool prepare(ambit__cc *cc, const char *key, const char *source, task *t)
{
  const char *scratch;

  *t = (task){.head = {.run = run_task, .free = free_task},
              .settings = *cc->settings,
              .seconds = cc->patience,
              .unwanted = &cc->closing};
  strcpy(t->head.key, key);
  if (ambit__cache_scratch(NULL, &cc->cache, &scratch)) return false;
  t->source = full_source(key, source);
  t->folder = ambit__path_join(scratch, key, "");
  if (!t->source || !t->folder || mkdir(t->folder, 0700)) return false;
  t->from = ambit__path_join(t->folder, "kernel", ".c");
  t->to = ambit__path_join(t->folder, "kernel", ".so");
  if (!t->from || !t->to) return false;
  ambit__compiler_args(&cc->compiler, cc->settings->strict, t->from, t->to, t->args);
  return true;
}

void ambit__cc_compile_ahead(ambit__cc *cc, const char *key, const char *source, int most,
                             bool quiet)
{
  task *t = malloc(sizeof *t);

  if (!t) return;
  if (prepare(cc, key, source, t)) {
    if (quiet) t->settings.verbose = -1;
    ambit__foreseen_add(&cc->foreseen, &t->head, most);
  } else {
    free_task(&t->head);
  }
}

/* Takes the library of a foreseen source. *done: it is in `path`, or the compiler took too long;
 * if not, the source is to be compiled now. */
static ambit_status take_foreseen(ambit__cc *cc, const char *key, const char *source,
                                  const char *path, bool *done)
{
  task *t = (task *)ambit__foreseen_take(&cc->foreseen, key);
  ambit_status s = AMBIT_OK;

  *done = false;
  if (!t) return AMBIT_OK;
  if (t->head.state == TASK_DONE) {
    *done = t->end == PROCESS_TIMED_OUT || (t->end == PROCESS_OK && !rename(t->to, path));
    if (t->end == PROCESS_TIMED_OUT) s = compile_failed(cc, key, source, t->end, &t->output);
  }
  free_task(&t->head);
  return s;
}

/* ---- both ---- */

/* Compiles in one scratch folder; the library gets its own name there, to free(). */
static ambit_status compile_here(ambit__cc *cc, const char *key, const char *source, char **path,
                                 bool *full)
{
  const char *folder;
  bool done = false;
  ambit_status s;
  char *from, *to;

  AMBIT_TRY(ambit__cache_scratch(cc->errors, &cc->cache, &folder));
  from = ambit__path_join(folder, "kernel", ".c");
  to = ambit__path_join(folder, "kernel", ".so");
  *path = ambit__path_join(folder, key, ".so");
  if (!from || !to || !*path)
    s = ambit__raise(cc->errors, AMBIT_ENOMEM, "no memory for a path");
  else
    s = take_foreseen(cc, key, source, *path, &done);
  if (!s && !done) s = run_compiler(cc, key, source, from, to, full);
  if (!s && !done && !*full && rename(to, *path))
    s = ambit__raise(cc->errors, AMBIT_ECOMPILE, "the C compiler %s did not make %s: %s",
                     cc->compiler.command, to, strerror(errno));
  free(from);
  free(to);
  return s;
}

/* Compiles, in the first location with enough space. */
ambit_status ambit__cc_compile(ambit__cc *cc, const char *key, const char *source, char **path)
{
  ambit_status s;
  bool full;

  do {
    full = false;
    free(*path);
    *path = NULL;
    s = compile_here(cc, key, source, path, &full);
  } while (!s && full);
  return s;
}
