/* SPDX-License-Identifier: BSD-3-Clause */
/* port_command.c - `ambit port`, and `ambit run` of a whole program.
 *
 * The translator is a program of its own, ambit-port, beside this one: it needs libclang, and this
 * one does not. Both commands are dealt with before the context is opened, since the program that
 * `ambit run` starts takes the place of this process, under mpirun too.
 */
#define _GNU_SOURCE /* fexecve */
#include "port_command.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_WORDS = 256 };

typedef struct words {
  char *at[MOST_WORDS + 1];
  int n;
} words;

static void push(words *w, const char *word)
{
  if (w->n < MOST_WORDS) w->at[w->n++] = (char *)(uintptr_t)word;
}

/* The folder that this program is in. */
static bool here(char *folder, size_t size)
{
  ssize_t n = readlink("/proc/self/exe", folder, size - 1);
  char *slash;

  if (n <= 0) return false;
  folder[n] = 0;
  slash = strrchr(folder, '/');
  if (!slash) return false;
  *slash = 0;
  return true;
}

static bool find_port(char *path, size_t size)
{
  char folder[PATH_MAX];

  if (!here(folder, sizeof folder)) return false;
  snprintf(path, size, "%s/ambit-port", folder);
  return access(path, X_OK) == 0;
}

static int no_port(void)
{
  fprintf(
      stderr,
      "ambit: this build has no `port`: it was made without libclang 17 or newer. On Debian and "
      "Ubuntu the "
      "package libclang-19-dev brings it (scripts/setup build); then configure and build again\n");
  return TOOL_FAILED;
}

/* ---- ambit port ---- */

enum { OUTPUT = 1, PROPOSE, CHECK, EXPLAIN, SHARE, QUIET };

static const tool_option options[] = {
    {OUTPUT, 'o', "output", "FILE",
     "where the program goes (default: standard output); the folder for\n"
     "several files, which keep their names"},
    {PROPOSE, 0, "propose", NULL,
     "needs no pragma: lists the nests that would run in parallel, and\n"
     "the reason for each that would not; with --output, writes the\n"
     "program with pragmas"},
    {CHECK, 0, "check", NULL,
     "the translated program runs each serial nest beside its step,\n"
     "and names the first cell that differs"},
    {EXPLAIN, 0, "explain", NULL,
     "also lists the host code that makes steps wait and copies arrays\n"
     "in each round of a loop"},
    {SHARE, 0, "cpu-share", "X",
     "between 0 and 1, or 20%: the share of the cells that the cpu gets\n"
     "beside other devices (--ambit-devices=cuda,cpu)"},
    {QUIET, 'q', "quiet", NULL, "no notes"},
    {0},
};

static int run_port(ambit *a, tool_args *args);

const tool_command tool_port = {
    .name = "port",
    .words = "PROGRAM.c [MORE.c ...] [options] [-- COMPILER FLAGS]",
    .summary = "Translates a serial C program with #pragma ambit into one on Ambit.",
    .options = options,
    .notes = "A nest that cannot run in parallel stays as it is, with a note that says why. "
             "docs/port.md\n"
             "lists the supported C.\n"
             "\nexamples:\n"
             "  ambit port heat.c -o heat_ambit.c -- -DN=1000\n"
             "  cc -O2 heat_ambit.c -o heat $(pkg-config --cflags --libs ambit) -lm\n"
             "  ambit port --propose heat.c\n"
             "  ambit port main.c kernels.c -o translated\n"
             "  ambit run heat.c -- 1000         translates, compiles and runs it\n",
    .run = run_port,
};

/* Help alone comes here; anything else was dealt with early. */
static int run_port(ambit *a, tool_args *args)
{
  const char *value;
  int id;

  (void)a;
  while ((id = tool_next(args, &value)))
    if (id == TOOL_HELP) return tool_help(&tool_port);
  return no_port();
}

/* ---- ambit run of a program ---- */

/* Whether a C text defines main: comments and strings are passed over. */
static bool has_main(const char *t)
{
  bool word = false;

  for (; *t; t++) {
    if (t[0] == '/' && t[1] == '*') {
      t = strstr(t + 2, "*/");
      if (!t) return false;
      t++;
    } else if (t[0] == '/' && t[1] == '/') {
      t += strcspn(t, "\n");
      if (!*t) return false;
    } else if (*t == '"') {
      for (t++; *t && *t != '"'; t++)
        if (*t == '\\' && t[1]) t++;
      if (!*t) return false;
    } else if (!word && !strncmp(t, "main", 4) && !isalnum((unsigned char)t[4]) && t[4] != '_') {
      t += 4;
      t += strspn(t, " \t\r\n");
      if (*t == '(') return true;
      t--;
    }
    word = isalnum((unsigned char)*t) || *t == '_';
  }
  return false;
}

static bool is_source(const char *word)
{
  const size_t n = strlen(word);

  return n > 2 && !strcmp(word + n - 2, ".c");
}

static bool is_program(const char *path)
{
  FILE *f = is_source(path) ? fopen(path, "rb") : NULL;
  char *text;
  size_t size;
  bool found;

  if (!f) return false;
  text = calloc(1, (size_t)1 << 22);
  size = text ? fread(text, 1, ((size_t)1 << 22) - 1, f) : 0;
  fclose(f);
  found = size && has_main(text);
  free(text);
  return found;
}

static int start(const words *w)
{
  const pid_t child = fork();
  int status;

  if (child == 0) {
    execvp(w->at[0], w->at);
    fprintf(stderr, "ambit run: %s cannot be started\n", w->at[0]);
    _exit(127);
  }
  if (child < 0 || waitpid(child, &status, 0) < 0) return 1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static void split(words *w, char *text)
{
  for (char *t = strtok(text, " \t"); t; t = strtok(NULL, " \t"))
    push(w, t);
}

/* Header and library: those of the build folder, or those installed beside this program. */
static bool push_library(words *w, char (*paths)[PATH_MAX + 64])
{
  char folder[PATH_MAX];

  if (!here(folder, sizeof folder)) return false;
  snprintf(paths[0], sizeof *paths, "%.4000s/libambit.so", folder);
  if (!access(paths[0], R_OK)) {
    snprintf(paths[1], sizeof *paths, "-I%s", AMBIT_HEADER_FOLDER);
    snprintf(paths[2], sizeof *paths, "-Wl,-rpath,%.4000s", folder);
  } else {
    snprintf(paths[0], sizeof *paths, "%.4000s/../%s/libambit.so", folder, AMBIT_LIBRARY_FOLDER);
    snprintf(paths[1], sizeof *paths, "-I%.4000s/../include", folder);
    snprintf(paths[2], sizeof *paths, "-Wl,-rpath,%.4000s/../%s", folder, AMBIT_LIBRARY_FOLDER);
  }
  push(w, paths[1]);
  push(w, paths[0]);
  push(w, paths[2]);
  push(w, "-lm");
  if (!access(paths[0], R_OK)) return true;
  fprintf(stderr,
          "ambit run: whole programs are linked with %s, which is not there (this Ambit may be a "
          "static library); translate with `ambit port` and compile the result yourself\n",
          paths[0]);
  return false;
}

/* Where a translated file is: several files keep their names. */
static const char *translated(const words *sources, int i, const char *folder, char *path,
                              size_t size)
{
  const char *slash = strrchr(sources->at[i], '/');

  snprintf(path, size, "%s/%.4000s", folder,
           sources->n == 1 ? "program.c"
           : slash         ? slash + 1
                           : sources->at[i]);
  return path;
}

/* Translates and compiles into the folder; the program's path is left in `binary`. */
static int build(const words *sources, const char *folder, char *binary, size_t size)
{
  static char port[PATH_MAX + 16], code[MOST_WORDS][PATH_MAX + 32], paths[3][PATH_MAX + 64],
      where[MOST_WORDS][PATH_MAX + 16];
  const char *cc = getenv("CC"), *given = getenv("CFLAGS");
  char *flags = strdup(given ? given : "-O2"), *again = strdup(given ? given : ""),
       *compiler = strdup(cc && *cc ? cc : "cc");
  words translate = {.n = 0}, compile = {.n = 0};
  int status = 1;

  if (!flags || !again || !compiler || !find_port(port, sizeof port)) {
    status = no_port();
    goto done;
  }
  snprintf(binary, size, "%s/program", folder);
  push(&translate, port);
  split(&compile, compiler);
  split(&compile, flags);
  for (int i = 0; i < sources->n; i++) {
    const char *slash = strrchr(sources->at[i], '/');

    push(&translate, sources->at[i]);
    /* for #include "..." alone: a math.h of the program's own is not that of the system */
    snprintf(where[i], sizeof where[i], "-iquote%.*s", slash ? (int)(slash - sources->at[i]) : 1,
             slash ? sources->at[i] : ".");
    push(&compile, where[i]);
    push(&compile, translated(sources, i, folder, code[i], sizeof code[i]));
  }
  push(&translate, "-o");
  push(&translate, sources->n == 1 ? code[0] : folder);
  push(&translate, "--");
  split(&translate, again);
  push(&compile, "-o");
  push(&compile, binary);
  if (!push_library(&compile, paths)) goto done;
  status = start(&translate);
  if (!status) status = start(&compile);
done:
  free(flags);
  free(again);
  free(compiler);
  return status;
}

static bool is_library_option(const char *word)
{
  return !strncmp(word, "--ambit-", strlen("--ambit-"));
}

/* The first word of `ambit run` that is not an option of the library; argc if there is none. */
static int first_word(int argc, char **argv)
{
  int i = 2;

  while (i < argc && is_library_option(argv[i]))
    i++;
  return i;
}

/* The files of the program, and the words that it gets: its name, options of the library, and all
 * that follows "--". */
static int collect(int argc, char **argv, int program, words *sources, words *w)
{
  int i = 2;

  push(w, argv[program]);
  for (; i < argc && strcmp(argv[i], "--"); i++)
    if (is_library_option(argv[i]))
      push(w, argv[i]);
    else if (is_source(argv[i]))
      push(sources, argv[i]);
    else {
      fprintf(stderr,
              "ambit run: %s is a whole program, and '%s' is not an option of the library "
              "(--ambit-...); arguments of the program stand behind --\n",
              argv[program], argv[i]);
      return TOOL_USAGE;
    }
  for (i++; i < argc; i++)
    push(w, argv[i]);
  return TOOL_OK;
}

static int run_program(int argc, char **argv, int program)
{
  char folder[] = "/tmp/ambit-run-XXXXXX", binary[PATH_MAX + 32], code[PATH_MAX + 32];
  words w = {.n = 0}, sources = {.n = 0};
  int status, fd;

  if (collect(argc, argv, program, &sources, &w)) return TOOL_USAGE;
  if (!mkdtemp(folder)) {
    fprintf(stderr, "ambit run: no folder can be made in /tmp\n");
    return TOOL_FAILED;
  }
  status = build(&sources, folder, binary, sizeof binary);
  fd = status ? -1 : open(binary, O_RDONLY | O_CLOEXEC);
  for (int i = 0; i < sources.n; i++)
    unlink(translated(&sources, i, folder, code, sizeof code));
  unlink(binary);
  rmdir(folder);
  if (fd < 0) return TOOL_FAILED;
  fflush(NULL);
  fexecve(fd, w.at, environ);
  fprintf(stderr, "ambit run: the program cannot be started\n");
  return TOOL_FAILED;
}

int tool_port_early(int argc, char **argv)
{
  char port[PATH_MAX + 16];
  words w = {.n = 0};
  const int program = first_word(argc, argv);

  if (argc > 1 && !strcmp(argv[1], "run"))
    for (int i = program; i < argc && is_source(argv[i]); i++)
      if (is_program(argv[i])) return run_program(argc, argv, program);
  if (argc < 2 || strcmp(argv[1], "port")) return -1;
  for (int i = 2; i < argc && strcmp(argv[i], "--"); i++)
    if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) return -1;
  if (!find_port(port, sizeof port)) return no_port();
  push(&w, "ambit port");
  for (int i = 2; i < argc; i++)
    push(&w, argv[i]);
  execv(port, w.at);
  return no_port();
}
