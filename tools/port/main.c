/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c - `ambit port`, a program of its own, so that `ambit` needs no libclang.
 */
#include "translate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct order {
  const char *path, *output;
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
    else if (!strncmp(a, "--cpu-share=", 12) || (!strcmp(a, "--cpu-share") && i + 1 < argc)) {
      if (!read_share(a[11] ? a + 12 : argv[++i], &o->set.cpu_share)) return 2;
    } else if (!strcmp(a, "-q") || !strcmp(a, "--quiet"))
      o->set.quiet = true;
    else if (a[0] == '-' || o->path) {
      fprintf(stderr, "ambit port: '%s' is not understood\n`ambit port --help` shows the usage\n",
              a);
      return 2;
    } else
      o->path = a;
  }
  if (o->path) return 0;
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

static int work(order *o, unit *u)
{
  outcome result;
  pragma *pragmas;
  char *text;
  bool ok;

  if (!port_pragmas(u, &pragmas)) return 1;
  if (!pragmas && !o->set.propose)
    fprintf(stderr, "ambit port: %s has no `#pragma ambit`; --propose lists where one would help\n",
            o->path);
  text = port_translate(u, pragmas, &o->set, &result);
  if (!text) return 1;
  if (!o->set.quiet)
    fprintf(stderr, "%s: %d nest%s in parallel (%d step%s), %d serial\n", o->path, result.nests,
            result.nests == 1 ? "" : "s", result.steps, result.steps == 1 ? "" : "s",
            result.serial);
  ok = !result.failed && write_all(o->output, text);
  free(text);
  return ok ? 0 : 1;
}

/* The program, loops of macros written out. */
static unit *read_program(const order *o, int *code)
{
  unit *u = port_parse(o->path, NULL, o->nflags, o->flags, code);
  const written_out *w =
      *code || o->set.propose ? NULL : port_without_macros(u, o->nflags, o->flags);

  if (!w) return u;
  port_unit_free(u);
  return port_parse(o->path, w, o->nflags, o->flags, code);
}

int main(int argc, char **argv)
{
  order o = {0};
  unit *u;
  int code = take(&o, argc, argv);

  if (code) return code;
  setenv("AMBIT_MPI", "off", 1);
  o.set.context = ambit_open(NULL, NULL);
  ambit_on_error(o.set.context, NULL, NULL);
  u = read_program(&o, &code);
  if (!code) code = work(&o, u);
  port_unit_free(u);
  ambit_close(o.set.context);
  port_free_all();
  return code;
}
