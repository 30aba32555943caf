/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE 1
#include "device/cpu/compiler.h"

#include "base/clock.h"
#include "base/log.h"
#include "device/cpu/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_WORDS = 16 };

#define PROBE_WORD "all is well: "

/* ---- flags ---- */

enum {
  X86 = 1 << 0,    /* the processor */
  ARM = 1 << 1,    /* 64 bits */
  WIDE = 1 << 2,   /* it has vectors of 64 bytes */
  NATIVE = 1 << 3, /* the level of the code */
  COMMON = 1 << 4,
  STRICT = 1 << 5,  /* the same bits everywhere */
  RELAXED = 1 << 6, /* or not */
  LIBRARY = 1 << 7, /* the output: a library, not a test program */
};

/* A flag is used if all its conditions hold. Both modes keep IEEE arithmetic, even after a
 * -ffast-math in the user's command; relaxed code may only fuse a multiplication with an addition.
 * gcc and clang accept the same flags. */
static const struct {
  unsigned when;
  const char *flag;
} flags[] = {
    {0, "-std=gnu11"},
    {0, "-O3"},
    {X86 | NATIVE, "-march=native"},
    {X86 | NATIVE | WIDE, "-mprefer-vector-width=512"},
    {ARM | NATIVE, "-mcpu=native"},
    {ARM | COMMON, "-march=armv8.2-a"},
    {0, "-fopenmp-simd"},
    {0, "-fno-fast-math"},
    {0, "-fno-math-errno"},
    {0, "-fno-trapping-math"},
    {STRICT, "-ffp-contract=off"},
    {RELAXED, "-ffp-contract=fast"},
    {0, "-fwrapv"},
    /* gcc: threading of repeated conditions makes loops that are not vectorised */
    {0, "--param=max-jump-thread-duplication-stmts=0"},
    /* gcc: large sums compile twice as fast, and run the same */
    {0, "--param=max-combine-insns=2"},
    {0, "-w"},
    {LIBRARY, "-fPIC"},
    {LIBRARY, "-fno-semantic-interposition"},
    {LIBRARY, "-shared"},
};

static unsigned situation(ambit__code_level level, bool strict, bool library)
{
  unsigned s = strict ? STRICT : RELAXED;

#if defined(__x86_64__) || defined(__i386__)
  s |= X86;
#elif defined(__aarch64__)
  s |= ARM;
#endif
  if (ambit__machine_vector_bytes() >= 64) s |= WIDE;
  if (level == CODE_NATIVE) s |= NATIVE;
  if (level == CODE_COMMON) s |= COMMON;
  if (library) s |= LIBRARY;
  return s;
}

static int arguments(const ambit__compiler *c, unsigned holds, const char *source,
                     const char *output, const char *args[AMBIT__COMPILER_ARGS])
{
  int n = 0, fixed;

  for (int i = 0; i < c->nwords; i++)
    args[n++] = c->words[i];
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
    if ((flags[i].when & holds) == flags[i].when) args[n++] = flags[i].flag;
  fixed = n;
  args[n++] = "-o";
  args[n++] = output;
  args[n++] = source;
  args[n++] = "-lm";
  args[n] = NULL;
  return fixed;
}

int ambit__compiler_args(const ambit__compiler *c, bool strict, const char *source,
                         const char *library, const char *args[AMBIT__COMPILER_ARGS])
{
  return arguments(c, situation(c->level, strict, true), source, library, args);
}

/* ---- the command ---- */

/* Splits at blanks; a compiler whose path has blanks can be used through a link. */
static bool split(ambit__compiler *c, const char *command)
{
  char *rest;

  c->command = strdup(command);
  c->words = calloc(MOST_WORDS + 1, sizeof *c->words);
  if (!c->command || !c->words) return false;
  for (const char *at = command; c->nwords < MOST_WORDS; c->nwords++) {
    size_t n;

    at += strspn(at, " \t");
    n = strcspn(at, " \t");
    if (!n) break;
    c->words[c->nwords] = strndup(at, n);
    if (!c->words[c->nwords]) return false;
    at += n;
  }
  rest = c->nwords ? ambit__process_find(c->words[0], 0) : NULL;
  if (!rest) return false;
  c->name = c->words[0];
  c->words[0] = rest;
  return true;
}

void ambit__compiler_close(ambit__compiler *c)
{
  for (int i = 0; i < c->nwords; i++)
    free(c->words[i]);
  free(c->words);
  free(c->name);
  free(c->version);
  free(c->command);
  *c = (ambit__compiler){0};
}

/* Hashes the path, size and date of a program's file. */
static void add_file(ambit__hash *h, const char *path)
{
  char *real = realpath(path, NULL);
  struct stat st;
  char text[128];

  if (real && !stat(real, &st)) {
    snprintf(text, sizeof text, "%lld %lld.%09ld", (long long)st.st_size,
             (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
    ambit__hash_text(h, path);
    ambit__hash_text(h, real);
    ambit__hash_text(h, text);
  }
  free(real);
}

/* A word that names a program: hashes every program of that name, as the first may be ccache, which
 * runs the next. */
static void add_word(ambit__hash *h, const char *word)
{
  char *path;

  ambit__hash_text(h, word ? word : "");
  for (int i = 0; word && word[0] != '-' && (path = ambit__process_find(word, i)); i++) {
    add_file(h, path);
    free(path);
  }
}

/* Variables that change the behaviour of compilers and their wrappers. */
static void add_variables(ambit__hash *h)
{
  static const char *const names[] = {
      "CCACHE_CC",    "CCACHE_COMPILER",    "CCACHE_PATH",  "CCC_OVERRIDE_OPTIONS", "COMPILER_PATH",
      "CPATH",        "C_INCLUDE_PATH",     "DISTCC_HOSTS", "GCC_EXEC_PREFIX",      "LD_RUN_PATH",
      "LIBRARY_PATH", "NIX_CFLAGS_COMPILE", "NIX_LDFLAGS"};

  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *value = secure_getenv(names[i]);

    ambit__hash_text(h, value ? value : "");
  }
}

static ambit__hash fingerprint(const ambit__compiler *c)
{
  ambit__text t = {0};
  ambit__hash h;

  ambit__hash_init(&h);
  ambit__print(&t, "ambit %d.%d.%d\n", AMBIT_VERSION_MAJOR, AMBIT_VERSION_MINOR,
               AMBIT_VERSION_PATCH);
  ambit__machine_identity("", &t);
  if (t.chars) ambit__hash_text(&h, t.chars);
  ambit__text_free(&t);
  add_word(&h, c->name);
  for (int i = 0; i < c->nwords; i++)
    add_word(&h, c->words[i]);
  add_variables(&h);
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
    ambit__hash_text(&h, flags[i].flag);
  return h;
}

/* ---- tests ---- */

/* Vector arithmetic on values unknown at compile time, checked one by one. The program reports
 * success in its output, because its exit status is lost if the parent ignores SIGCHLD. It also
 * prints the compiler's version. */
static const char probe_source[] =
    "#include <math.h>\n"
    "#include <stdint.h>\n"
    "#include <stdio.h>\n"
    "enum { N = 1000 };\n"
    "static float a[N], b[N];\n"
    "static double d[N];\n"
    "static volatile float three = 3.0f;\n"
    "__attribute__((noinline)) static void work(int n)\n"
    "{\n"
    "  for (int i = 0; i < n; i++) {\n"
    "    b[i] = fmaxf(sqrtf(a[i]) * three, 1.0f) + (float)(int32_t)a[i];\n"
    "    d[i] = fabs((double)a[i] - 7.0) / 2.0;\n"
    "  }\n"
    "}\n"
    "int main(void)\n"
    "{\n"
    "  for (int i = 0; i < N; i++)\n"
    "    a[i] = three * three * (float)(i * i) / 9.0f;\n"
    "#if defined(__ARM_FEATURE_SVE)\n" /* clang 14: also where the system has disabled it */
    "  __asm__ volatile(\"cntb x0\" : : : \"x0\");\n"
    "#endif\n"
    "  work(N);\n"
    "  for (int i = 0; i < N; i++) {\n"
    "    double x = (double)i * i, want = fmax(3.0 * i, 1.0) + x;\n"
    "    if (fabs(b[i] - want) > 1e-6 * want || d[i] != fabs(x - 7.0) / 2.0) return 1;\n"
    "  }\n"
    "  return puts(\"" PROBE_WORD "\" __VERSION__) < 0;\n"
    "}\n";

/* The rest of the line after a word of a text, to free(); NULL: the word is not there. */
static char *rest_of_line(const char *text, const char *word)
{
  const char *at = text ? strstr(text, word) : NULL;

  return at ? strndup(at + strlen(word), strcspn(at + strlen(word), "\n")) : NULL;
}

/* Shared by all tests. */
typedef struct attempt {
  ambit__cache *cache;
  double seconds; /* for all of them */
  double end;     /* when the time is over */
} attempt;

static bool is_over(const attempt *t)
{
  return ambit__clock() >= t->end;
}

static ambit__process_end run_in_time(const attempt *t, const char *const *argv,
                                      ambit__text *output)
{
  const ambit__process p = {.argv = argv,
                            .temporary = t->cache->scratch.path,
                            .seconds = t->end - ambit__clock(),
                            .settings = t->cache->settings,
                            .doing = "looking for a C compiler that works"};

  return ambit__process_run(&p, output);
}

/* Builds the program at one level and runs it; `story` gets the reason of a failure. */
static bool runs(ambit__compiler *c, const attempt *t, const char *source, const char *program,
                 ambit__text *story)
{
  const char *args[AMBIT__COMPILER_ARGS], *run[] = {program, NULL};
  ambit__text said = {0};
  ambit__process_end end;
  bool ok;

  ambit__text_free(story);
  arguments(c, situation(c->level, false, false), source, program, args);
  end = run_in_time(t, args, story);
  if (end == PROCESS_TIMED_OUT) {
    ambit__text_free(story);
    ambit__print(story, "it takes too long: all tries together may take %g s (option patience)",
                 t->seconds);
  }
  if (end != PROCESS_OK) return false;
  ok = run_in_time(t, run, &said) == PROCESS_OK &&
       (c->version = rest_of_line(said.chars, PROBE_WORD));
  ambit__text_free(&said);
  if (!ok) ambit__print(story, "its output does not run on this machine");
  return ok;
}

static bool try_levels(ambit__compiler *c, const attempt *t, const char *source,
                       const char *program, ambit__text *story)
{
  for (c->level = CODE_NATIVE; c->level < CODE_LEVELS; c->level++) {
    bool ok = runs(c, t, source, program, story);

    unlink(program);
    if (ok || is_over(t)) return ok;
    ambit__log(t->cache->settings, 1, "%s: no code of level %d: %s", c->command, (int)c->level,
               story->chars ? story->chars : "it failed silently");
  }
  return false;
}

/* Runs the compiler on the probe, in the scratch folder. */
static bool examine_here(ambit__compiler *c, const attempt *t, ambit__text *story)
{
  const char *folder;
  char *source, *program;
  bool ok = false;

  if (ambit__cache_scratch(NULL, t->cache, &folder)) {
    ambit__print(story, "there is no temporary folder to compile in");
    return false;
  }
  source = ambit__path_join(folder, "probe", ".c");
  program = ambit__path_join(folder, "probe", "");
  if (source && program && ambit__put_file(source, probe_source, strlen(probe_source)))
    ok = try_levels(c, t, source, program, story);
  else
    ambit__print(story, "nothing can be written to %s", folder);
  free(source);
  free(program);
  return ok;
}

/* The same, in another folder if this one had no space. */
static bool examine(ambit__compiler *c, const attempt *t, ambit__text *story)
{
  bool ok;

  do {
    ambit__text_free(story);
    ok = examine_here(c, t, story);
  } while (!ok && ambit__cache_leave_full(t->cache));
  return ok;
}

/* "level 0 ran\nversion 12.2.0\n" */
static bool recall(ambit__compiler *c, ambit__cache *cache, const char *name)
{
  char *note = ambit__cache_recall(cache, name);
  int level = -1, used = 0;
  bool ok = note && sscanf(note, "level %d ran\nversion %n", &level, &used) == 1 && used > 0 &&
            note[strlen(note) - 1] == '\n' && level >= 0 && level < CODE_LEVELS;

  if (ok) ok = (c->version = rest_of_line(note, "\nversion ")) != NULL;
  if (ok) c->level = (ambit__code_level)level;
  free(note);
  return ok;
}

static void remember(const ambit__compiler *c, ambit__cache *cache, const char *name)
{
  ambit__text t = {0};
  char *note;

  ambit__print(&t, "level %d ran\nversion %s\n", (int)c->level, c->version);
  note = ambit__text_finish(&t);
  if (note) ambit__cache_note(cache, name, note);
  free(note);
}

/* ---- choice ---- */

static void add_reason(ambit__text *why, const char *command, const char *reason)
{
  ambit__print(why, "%s%s: %s", why->len ? "; " : "", command, reason);
}

/* Takes the compiler if it exists and works; if not, closes it and adds the reason to `why`. */
static void consider(const char *command, const attempt *t, ambit__compiler *c, ambit__text *why)
{
  char name[AMBIT__HASH_CHARS];
  ambit__text story = {0};
  bool is_known;

  if (!split(c, command)) {
    add_reason(why, command, "not found");
    ambit__compiler_close(c);
    return;
  }
  c->fingerprint = fingerprint(c);
  ambit__hash_hex(&c->fingerprint, name);
  is_known = recall(c, t->cache, name);
  if (is_known || examine(c, t, &story)) {
    if (!is_known) remember(c, t->cache, name);
    ambit__hash_text(&c->fingerprint, c->version);
  } else {
    add_reason(why, command, story.chars ? story.chars : "it does not compile a test program");
    ambit__compiler_close(c);
  }
  ambit__text_free(&story);
}

ambit_status ambit__compiler_open(ambit__errors *errors, const ambit__settings *settings,
                                  ambit__cache *cache, ambit__compiler *c, char **why)
{
  const bool asked = settings->cc && *settings->cc;
  const char *const commands[] = {asked ? settings->cc : secure_getenv("CC"), "cc", "gcc", "clang"};
  const double seconds = settings->patience > 0 ? settings->patience : AMBIT__PATIENCE;
  const attempt t = {.cache = cache, .seconds = seconds, .end = ambit__clock() + seconds};
  ambit__text story = {0};

  *c = (ambit__compiler){0};
  *why = NULL;
  if (asked && !strcmp(settings->cc, "none"))
    add_reason(&story, "none", "compiling is switched off");
  else
    for (int i = 0; i < (asked ? 1 : 4) && !c->words; i++)
      if (commands[i] && *commands[i] && !is_over(&t)) consider(commands[i], &t, c, &story);
  if (!c->words) *why = ambit__text_finish(&story);
  ambit__text_free(&story);
  AMBIT_CHECK(c->words || *why, errors, AMBIT_ENOMEM, "no memory for the name of a C compiler");
  return AMBIT_OK;
}
