/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/explain/explain.h"

#include "base/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int ambit__explain_number(ambit *a, ambit_program *p)
{
  if (p && !p->number) p->number = ++a->nexplained;
  return p ? p->number : 0;
}

static ambit_status print_program(ambit_program *p, ambit__text *t)
{
  const ambit_grid *g = p->grid;
  const int64_t cells = ambit__grid_count(g, &g->box);

  ambit__print(t, "program %d, %zu step%s on %" PRId64 " cells%s\n",
               ambit__explain_number(g->context, p), p->nwritten, p->nwritten == 1 ? "" : "s",
               cells, g->active ? ", sparse" : "");
  ambit__explain_parts(p, t);
  if (g->nparts > 1) AMBIT_TRY(ambit__explain_messages(p, t));
  ambit__explain_schedule(p, t);
  return AMBIT_OK;
}

static ambit_status write_text(ambit_program *p, FILE *to)
{
  ambit__text t = {0};
  const ambit_status s = print_program(p, &t);
  char *text = ambit__text_finish(&t);

  if (!s && text) fprintf(to, "%s", text);
  if (!s && !text)
    return ambit__raise(&p->grid->context->errors, AMBIT_ENOMEM,
                        "out of memory to explain a program");
  free(text);
  return s;
}

/* The file of the first program has the name that was asked for, others have their number. */
static ambit_status write_graph(ambit_program *p, const char *path)
{
  const int number = ambit__explain_number(p->grid->context, p);
  const char *dot = strrchr(path, '.');
  const size_t size = strlen(path) + 16;
  char *name = malloc(size);
  ambit_status s;

  if (!name)
    return ambit__raise(&p->grid->context->errors, AMBIT_ENOMEM, "out of memory for a name");
  if (number == 1)
    snprintf(name, size, "%s", path);
  else
    snprintf(name, size, "%.*s-%d%s", (int)(dot - path), path, number, dot);
  s = ambit__explain_graph(p, name);
  free(name);
  return s;
}

ambit_status ambit__explain_program(ambit_program *p)
{
  const ambit *a = p->grid->context;
  const char *to = a->settings.explain, *dot = strrchr(to, '.');

  if (!*to || p->lean_of || p->is_explained || a->net->rank) return AMBIT_OK;
  p->is_explained = true;
  if (dot && (!strcmp(dot, ".svg") || !strcmp(dot, ".dot"))) return write_graph(p, to);
  return write_text(p, stderr);
}
