/* SPDX-License-Identifier: BSD-3-Clause */
/* edit.c - changes to a text, collected and applied at once.
 */
#include "edit.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct edit {
  unsigned offset, remove;
  int order;
  const char *text;
} edit;

enum { EDITS = 16384 };
static edit edits[EDITS];
static int nedits;

void port_edit(unsigned offset, unsigned remove, const char *text)
{
  if (nedits == EDITS) {
    fprintf(stderr, "ambit port: the program is too long\n");
    exit(1);
  }
  edits[nedits] = (edit){offset, remove, nedits, text};
  nedits++;
}

static int compare(const void *a, const void *b)
{
  const edit *x = a, *y = b;

  if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
  return x->order - y->order;
}

char *port_edit_apply(const unit *u)
{
  ambit__text t = {0};
  unsigned at = 0;

  qsort(edits, (size_t)nedits, sizeof *edits, compare);
  for (int i = 0; i < nedits; i++) {
    if (edits[i].offset > at) {
      ambit__print_chars(&t, u->text + at, edits[i].offset - at);
      at = edits[i].offset;
    }
    ambit__print_chars(&t, edits[i].text, strlen(edits[i].text));
    if (edits[i].offset + edits[i].remove > at) at = edits[i].offset + edits[i].remove;
  }
  ambit__print_chars(&t, u->text + at, u->size - at);
  return ambit__text_finish(&t);
}

const char *port_indent_at(const unit *u, unsigned offset)
{
  unsigned first = offset, n = 0;
  char *s;

  while (first > 0 && u->text[first - 1] != '\n')
    first--;
  while (u->text[first + n] == ' ' || u->text[first + n] == '\t')
    n++;
  s = port_new(n + 1);
  memcpy(s, u->text + first, n);
  return s;
}

/* Whether the last brace of a statement is that of an expression: c = (cell){0, 1}; */
static bool ends_in_expression(const node *s)
{
  while (s && (s->kind == S_FOR || s->kind == S_WHILE || s->kind == S_IF))
    s = s->kind == S_IF ? s->c ? s->c : s->b : s->d;
  return s && (s->kind == S_EXPR || s->kind == S_DECL || s->kind == S_RETURN);
}

unsigned port_statement_end(const unit *u, const node *s)
{
  unsigned at = s->end;

  if (at > 0 && (u->text[at - 1] == ';' || (u->text[at - 1] == '}' && !ends_in_expression(s))))
    return at;
  while (at < u->size &&
         (u->text[at] == ' ' || u->text[at] == '\t' || u->text[at] == '\n' || u->text[at] == '\r'))
    at++;
  return at < u->size && u->text[at] == ';' ? at + 1 : s->end;
}

void port_note(const unit *u, const node *at, const char *kind, const char *what,
               const char *advice)
{
  const char *path = u->path;
  unsigned line = at->line, column = at->column, first, n = 0;

  fprintf(stderr, "%s:%u:%u: %s: %s\n", path, line, column, kind, what);
  if (at->begin || at->end) {
    first = at->begin;
    while (first > 0 && u->text[first - 1] != '\n')
      first--;
    while (first + n < u->size && u->text[first + n] != '\n')
      n++;
    fprintf(stderr, "%.*s\n", (int)n, u->text + first);
    for (unsigned i = 0; i + 1 < column; i++)
      fputc(u->text[first + i] == '\t' ? '\t' : ' ', stderr);
    fprintf(stderr, "^\n");
  }
  if (advice) fprintf(stderr, "  %s\n", advice);
}
