/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c - `ambit port`, a program of its own, so that `ambit` needs no libclang.
 */
#include "translate.h"

#include "edit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_FILES = 256 };

typedef struct order {
  const char *paths[MOST_FILES], *output;
  int npaths;
  settings set;
  const char **flags;
  int nflags;
} order;

static bool read_share(const char *text, double *share)
{
  char *end;

  *share = strtod(text, &end);
  if (*end == '%') {
    *share /= 100;
    end++;
  }
  if (end != text && !*end && *share > 0 && *share < 1) return true;
  fprintf(
      stderr,
      "ambit port: --cpu-share is '%s'; it must be between 0 and 1, or in per cent: 0.2, 20%%\n",
      text);
  return false;
}

static int take(order *o, int argc, char **argv)
{
  for (int i = 1; i < argc; i++) {
    const char *a = argv[i];

    if (!strcmp(a, "--")) {
      o->flags = (const char **)(argv + i + 1);
      o->nflags = argc - i - 1;
      break;
    }
    if ((!strcmp(a, "-o") || !strcmp(a, "--output")) && i + 1 < argc)
      o->output = argv[++i];
    else if (!strncmp(a, "--output=", 9))
      o->output = a + 9;
    else if (!strcmp(a, "--propose"))
      o->set.propose = true;
    else if (!strcmp(a, "--check"))
      o->set.check = true;
    else if (!strcmp(a, "--explain"))
      o->set.explain = true;
    else if (!strncmp(a, "--cpu-share=", 12) || (!strcmp(a, "--cpu-share") && i + 1 < argc)) {
      if (!read_share(a[11] ? a + 12 : argv[++i], &o->set.cpu_share)) return 2;
    } else if (!strcmp(a, "-q") || !strcmp(a, "--quiet"))
      o->set.quiet = true;
    else if (a[0] == '-' || o->npaths == MOST_FILES) {
      fprintf(stderr, "ambit port: '%s' is not understood\n`ambit port --help` shows the usage\n",
              a);
      return 2;
    } else
      o->paths[o->npaths++] = a;
  }
  if (o->npaths > 1 && !o->output && !o->set.propose) {
    fprintf(stderr, "ambit port: several files need --output FOLDER\n");
    return 2;
  }
  if (o->npaths) return 0;
  fprintf(stderr, "ambit port: no program was given\n`ambit port --help` shows the usage\n");
  return 2;
}

static bool write_all(const char *path, const char *text)
{
  FILE *f = path ? fopen(path, "w") : stdout;
  bool ok = f && fputs(text, f) >= 0;

  if (f && path)
    ok &= fclose(f) == 0;
  else if (f)
    ok &= fflush(f) == 0;
  if (!ok) fprintf(stderr, "ambit port: %s cannot be written\n", path ? path : "standard output");
  return ok;
}

static const char *base_name(const char *path)
{
  const char *slash = strrchr(path, '/');

  return slash ? slash + 1 : path;
}

/* Where a file goes: several of them into a folder, under their own names. */
static const char *output_of(const order *o, const unit *u)
{
  return o->npaths < 2 || !o->output ? o->output
                                     : port_text("%s/%s", o->output, base_name(u->path));
}

static bool make_folder(const order *o)
{
  if (o->npaths < 2 || !o->output) return true;
  for (int i = 0; i < o->npaths; i++)
    for (int k = 0; k < i; k++)
      if (!strcmp(base_name(o->paths[i]), base_name(o->paths[k]))) {
        fprintf(stderr, "ambit port: %s and %s have the same name\n", o->paths[k], o->paths[i]);
        return false;
      }
  if (!mkdir(o->output, 0777) || errno == EEXIST) return true;
  fprintf(stderr, "ambit port: %s cannot be made: %s\n", o->output, strerror(errno));
  return false;
}

static bool write_file(const order *o, const unit *u)
{
  const outcome *n = u->result;
  char *text = port_edit_apply(u);
  bool ok;

  if (!o->set.quiet)
    fprintf(stderr, "%s: %d nest%s in parallel (%d step%s), %d serial\n", u->path, n->nests,
            n->nests == 1 ? "" : "s", n->steps, n->steps == 1 ? "" : "s", n->serial);
  ok = text && !n->failed && write_all(output_of(o, u), text);
  free(text);
  return ok;
}

static int work(const order *o, unit *units)
{
  bool has_pragmas = o->set.propose, ok = true;

  for (unit *u = units; u; u = u->next) {
    if (!port_pragmas(u)) return 1;
    has_pragmas |= u->pragmas != NULL;
  }
  if (!has_pragmas)
    fprintf(stderr, "ambit port: %s has no `#pragma ambit`; --propose lists where one would help\n",
            o->paths[0]);
  port_translate(units, &o->set);
  if (!make_folder(o)) return 1;
  for (unit *u = units; u; u = u->next)
    ok &= write_file(o, u);
  return ok ? 0 : 1;
}

/* A file, loops of macros written out. */
static unit *read_file(const order *o, const char *path, int *code)
{
  unit *u = port_parse(path, NULL, o->nflags, o->flags, code);
  const written_out *w =
      *code || o->set.propose ? NULL : port_without_macros(u, o->nflags, o->flags);

  if (!w) return u;
  port_unit_free(u);
  return port_parse(path, w, o->nflags, o->flags, code);
}

int main(int argc, char **argv)
{
  order o = {0};
  unit *units = NULL, **tail = &units;
  int code = take(&o, argc, argv);

  if (code) return code;
  setenv("AMBIT_MPI", "off", 1);
  o.set.context = ambit_open(NULL, NULL);
  ambit_on_error(o.set.context, NULL, NULL);
  for (int i = 0; i < o.npaths && !code; i++) {
    *tail = read_file(&o, o.paths[i], &code);
    tail = &(*tail)->next;
  }
  if (!code) code = work(&o, units);
  for (unit *u = units; u; u = u->next)
    port_unit_free(u);
  ambit_close(o.set.context);
  port_free_all();
  return code;
}
