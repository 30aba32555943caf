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

/* ---- tasks ---- */

/* A compilation with all that it needs, so that it touches nothing of the context. */
typedef struct task {
  ambit__foreseen_task head;
  char *source;             /* with its self-test */
  char *folder, *from, *to; /* a folder of its own, the source and the library in it */
  const char *args[AMBIT__COMPILER_ARGS];
  ambit__settings settings;    /* a copy: those of the context may change meanwhile */
  double seconds;              /* that the compiler may take */
  const atomic_bool *unwanted; /* of the cc, which waits for all tasks before it goes */
  int err;                     /* errno if the source could not be written; 0: it was */
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
  else
    t->err = errno;
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

/* The names are always the same, so that equal sources give equal libraries in every process. NULL,
 * with errno: there is no memory, or no room. */
static task *make_task(ambit__cc *cc, const char *key, const char *source)
{
  const char *scratch;
  task *t;

  errno = ENOMEM;
  t = ambit__cache_scratch(NULL, &cc->cache, &scratch) ? NULL : malloc(sizeof *t);
  if (!t) return NULL;
  *t = (task){.head = {.run = run_task, .free = free_task},
              .settings = *cc->settings,
              .seconds = cc->patience,
              .unwanted = &cc->closing};
  strcpy(t->head.key, key);
  t->source = full_source(key, source);
  t->folder = ambit__path_join(scratch, key, "");
  if (t->folder) t->from = ambit__path_join(t->folder, "kernel", ".c");
  if (t->folder) t->to = ambit__path_join(t->folder, "kernel", ".so");
  if (!t->source || !t->from || !t->to || (mkdir(t->folder, 0700) && errno != EEXIST)) {
    const int err = errno;

    free_task(&t->head);
    errno = err;
    return NULL;
  }
  ambit__compiler_args(&cc->compiler, cc->settings->strict, t->from, t->to, t->args);
  return t;
}

void ambit__cc_compile_ahead(ambit__cc *cc, const char *key, const char *source, int most,
                             bool quiet)
{
  task *t = make_task(cc, key, source);

  if (t && quiet) t->settings.verbose = -1;
  if (t) ambit__foreseen_add(&cc->foreseen, &t->head, most);
}

/* ---- compilation ---- */

/* Whether a foreseen task has a result. If not, the source is to be compiled now. */
static bool has_result(const task *t)
{
  if (t->head.state != TASK_DONE) return false;
  return t->end == PROCESS_TIMED_OUT || (t->end == PROCESS_OK && !access(t->to, R_OK));
}

/* Compiles in one scratch folder. *full: it failed for lack of space; it may be tried elsewhere. */
static ambit_status compile_here(ambit__cc *cc, const char *key, const char *source, task **out,
                                 bool *full)
{
  const char *folder;
  task *t;
  int err;

  AMBIT_TRY(ambit__cache_scratch(cc->errors, &cc->cache, &folder));
  *out = t = make_task(cc, key, source);
  if (t) run_task(&t->head);
  err = t ? t->err : errno;
  if (!err && t->end != PROCESS_FAILED) return AMBIT_OK;
  *full = ambit__cache_leave_full(&cc->cache);
  AMBIT_CHECK(*full || !err, cc->errors, AMBIT_EIO, "nothing can be compiled in %s: %s", folder,
              strerror(err));
  return AMBIT_OK;
}

/* Moves the library out of the folder of the task. */
static ambit_status take_library(ambit__cc *cc, const task *t, char **path)
{
  ambit__text name = {0};

  ambit__print(&name, "%s.so", t->folder);
  *path = ambit__text_finish(&name);
  AMBIT_CHECK(*path, cc->errors, AMBIT_ENOMEM, "no memory for a path");
  AMBIT_CHECK(!rename(t->to, *path), cc->errors, AMBIT_ECOMPILE,
              "the C compiler %s did not make %s: %s", cc->compiler.command, t->to,
              strerror(errno));
  return AMBIT_OK;
}

/* In the first location with enough space. */
ambit_status ambit__cc_compile(ambit__cc *cc, const char *key, const char *source, char **path)
{
  task *t = (task *)ambit__foreseen_take(&cc->foreseen, key);
  bool full = !t || !has_result(t);
  ambit_status s = AMBIT_OK;

  while (!s && full) {
    if (t) free_task(&t->head);
    t = NULL;
    full = false;
    s = compile_here(cc, key, source, &t, &full);
  }
  if (!s && t->end != PROCESS_OK) s = compile_failed(cc, key, source, t->end, &t->output);
  if (!s) s = take_library(cc, t, path);
  if (t) free_task(&t->head);
  return s;
}
