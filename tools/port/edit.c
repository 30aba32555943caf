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

static unit *now; /* the file that is being changed */

void port_edit_file(unit *u)
{
  now = u;
}

void port_edit(unsigned offset, unsigned remove, const char *text)
{
  if (now->nedits == now->room) {
    edit *more = port_new((size_t)(2 * now->room + 256) * sizeof *more);

    if (now->nedits) memcpy(more, now->edits, (size_t)now->nedits * sizeof *more);
    now->edits = more;
    now->room = 2 * now->room + 256;
  }
  now->edits[now->nedits] = (edit){offset, remove, now->nedits, text};
  now->nedits++;
}

const char *port_commented(const char *first, const char *last)
{
  const char *text = port_text("%.*s", (int)(last - first), first);

  return strstr(text, "*/") ? "" : port_text("/* %s */", text);
}

bool port_is_edited(unsigned begin, unsigned end)
{
  for (int i = 0; i < now->nedits; i++)
    if (now->edits[i].offset > begin && now->edits[i].offset < end) return true;
  return false;
}

void port_edit_lines(const unit *u, unsigned offset, const char *text)
{
  unsigned first = offset;

  while (first > 0 && (u->text[first - 1] == ' ' || u->text[first - 1] == '\t'))
    first--;
  if (!first || u->text[first - 1] == '\n')
    port_edit(first, 0, port_text("%s", text));
  else
    port_edit(offset, 0, port_text("\n%s", text));
}

/* ---- the text between declarations ---- */

static unsigned skip_comment(const unit *u, unsigned at)
{
  const char *end;

  if (u->text[at] != '/' || (u->text[at + 1] != '*' && u->text[at + 1] != '/')) return at;
  end = strstr(u->text + at + 2, u->text[at + 1] == '*' ? "*/" : "\n");
  return end ? (unsigned)(end - u->text) + (u->text[at + 1] == '*' ? 2 : 0) : (unsigned)u->size;
}

static unsigned skip_quoted(const unit *u, unsigned at)
{
  const char quote = u->text[at++];

  while (at < u->size && u->text[at] != quote && u->text[at] != '\n')
    at += u->text[at] == '\\' ? 2 : 1;
  return at < u->size && u->text[at] == quote ? at + 1 : at;
}

enum { CONDITIONS = 64 };

typedef struct scan {
  int braces; /* that are open */
  int depth;  /* of conditions: #if */
  int before
      [CONDITIONS];   /* braces that were open where each began: its branches are alternatives */
  unsigned condition; /* where the outermost begins */
} scan;

static unsigned skip_directive(const unit *u, unsigned at, scan *s)
{
  const char *word = u->text + at + 1;

  word += strspn(word, " \t");
  if (!strncmp(word, "if", 2)) {
    if (!s->depth) s->condition = at;
    if (s->depth < CONDITIONS) s->before[s->depth] = s->braces;
    s->depth++;
  } else if (!strncmp(word, "el", 2) && s->depth && s->depth <= CONDITIONS)
    s->braces = s->before[s->depth - 1];
  else if (!strncmp(word, "endif", 5) && s->depth)
    s->depth--;
  while (at < u->size && u->text[at] != '\n') {
    const unsigned behind = skip_comment(u, at);

    if (u->text[at] == '"')
      at = skip_quoted(u, at);
    else if (behind > at && u->text[at + 1] == '*')
      at = behind;
    else
      at += u->text[at] == '\\' ? 2 : 1;
  }
  return at;
}

unsigned port_declaration_at(const unit *u, unsigned offset, unsigned *outside)
{
  unsigned at = 0, begin = 0;
  bool is_between = true; /* nothing of the next declaration was seen */
  scan s = {0};

  while (at < offset && at < u->size) {
    const unsigned comment = skip_comment(u, at);
    const char c = u->text[at];

    if (comment > at)
      at = comment;
    else if (c == '#')
      at = skip_directive(u, at, &s);
    else if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
      at++;
    else {
      if (is_between) begin = at;
      s.braces += (c == '{') - (c == '}');
      is_between = !s.braces && (c == ';' || c == '}');
      at = c == '"' || c == '\'' ? skip_quoted(u, at) : at + 1;
    }
  }
  if (is_between) begin = offset;
  *outside = s.depth ? s.condition : begin;
  return begin;
}

unsigned port_next_token(const unit *u, unsigned at)
{
  scan s = {0};

  while (at < u->size) {
    const unsigned comment = skip_comment(u, at);

    if (comment > at)
      at = comment;
    else if (u->text[at] == '#')
      at = skip_directive(u, at, &s);
    else if (strchr(" \t\r\n", u->text[at]))
      at++;
    else
      break;
  }
  return at;
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
  edit *edits = u->edits;
  unsigned at = 0;

  if (u->nedits) qsort(edits, (size_t)u->nedits, sizeof *edits, compare);
  for (int i = 0; i < u->nedits; i++) {
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
