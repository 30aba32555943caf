/* SPDX-License-Identifier: BSD-3-Clause */
/* macro.c - loops that come out of macros, written out before the program is translated.
 *
 *   #define SMOOTH(v, u)  for (...) for (...) v[i][j] = ...;
 *   SMOOTH(b, a)                                              becomes the loops themselves
 *
 * A loop that a macro makes has no text of its own that could be replaced. The compiler's
 * preprocessor writes out every use of such a macro: names that mark its two ends are put around
 * it, and the text between them is taken. Everything else in the file stays as it is. Messages give
 * the line of the use.
 */
#include "edit.h"

#include "base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_USES = 512, MOST_WORDS = 256 };

/* A use of a macro that makes a loop. */
typedef struct macro_use {
  unsigned begin, end;
  const char *text; /* written out; NULL: the preprocessor did not say */
} macro_use;

typedef struct search {
  const unit *u;
  int n;
  macro_use at[MOST_USES]; /* in the order of the text */
} search;

/* ---- finding them ---- */

static bool note_loop(node *e, void *user)
{
  search *s = user;

  if (e->kind != S_FOR || !e->is_macro || (!e->begin && !e->end)) return true;
  for (int i = 0; i < s->n; i++)
    if (s->at[i].begin == e->begin) return true;
  if (s->n < MOST_USES) s->at[s->n++] = (macro_use){.begin = e->begin};
  return true;
}

/* The text that a use of a macro takes, its arguments included. */
static enum CXChildVisitResult note_extent(CXCursor c, CXCursor parent, CXClientData data)
{
  search *s = data;
  const CXSourceRange r = clang_getCursorExtent(c);
  unsigned begin, end;
  CXFile file;

  (void)parent;
  if (clang_getCursorKind(c) != CXCursor_MacroExpansion) return CXChildVisit_Continue;
  clang_getExpansionLocation(clang_getRangeStart(r), &file, NULL, NULL, &begin);
  clang_getExpansionLocation(clang_getRangeEnd(r), NULL, NULL, NULL, &end);
  if (!file || !clang_File_isEqual(file, s->u->file)) return CXChildVisit_Continue;
  for (int i = 0; i < s->n; i++)
    if (s->at[i].begin == begin && s->at[i].end < end) s->at[i].end = end;
  return CXChildVisit_Continue;
}

static int compare(const void *a, const void *b)
{
  const macro_use *x = a, *y = b;

  return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Those whose extent is not known are left out, and those that are arguments of others. */
static void keep_outermost(search *s)
{
  int n = 0;

  qsort(s->at, (size_t)s->n, sizeof *s->at, compare);
  for (int i = 0; i < s->n; i++)
    if (s->at[i].end && (!n || s->at[i].begin >= s->at[n - 1].end)) s->at[n++] = s->at[i];
  s->n = n;
}

/* ---- the preprocessor ---- */

static bool write_marked(const search *s, FILE *f)
{
  unsigned at = 0;

  fprintf(f, "#line 1 \"%s\"\n", s->u->path);
  for (int i = 0; i < s->n; i++) {
    const macro_use *m = &s->at[i];

    fprintf(f, "%.*s port_use_%d ", (int)(m->begin - at), s->u->text + at, i);
    fprintf(f, "%.*s port_end_%d ", (int)(m->end - m->begin), s->u->text + m->begin, i);
    at = m->end;
  }
  return fputs(s->u->text + at, f) >= 0;
}

/* cc -E -P flags -iquote folder file; returns its output. */
static char *preprocess(const unit *u, const char *file, int nflags, const char *const *flags)
{
  const char *slash = strrchr(u->path, '/'), *words[MOST_WORDS];
  int n = 0;

  for (int i = 0; i < nflags && n < MOST_WORDS - 8; i++)
    words[n++] = flags[i];
  words[n++] = "-E";
  words[n++] = "-P";
  words[n++] = "-w";
  words[n++] = "-x";
  words[n++] = "c";
  words[n++] = "-iquote";
  words[n++] = slash ? port_text("%.*s", (int)(slash - u->path), u->path) : ".";
  words[n++] = file;
  return port_compiler_run(n, words);
}

/* ---- the text of a use ---- */

static void new_line(ambit__text *t, const char *indent, int depth)
{
  ambit__print(t, "\n%s%*s", indent, 2 * (depth > 0 ? depth : 0), "");
}

/* A statement per line, as people write them. */
static const char *formatted(const char *c, const char *end, const char *indent)
{
  ambit__text t = {0};
  int depth = 0, brackets = 0;
  char quote = 0, *out;
  const char *copy;

  for (; c < end; c++) {
    const char *next = c + 1;

    while (next < end && isspace((unsigned char)*next))
      next++;
    if (quote) {
      if (*c == '\\') ambit__print_chars(&t, c++, 1);
      if (*c == quote) quote = 0;
      ambit__print_chars(&t, c, 1);
      continue;
    }
    if (*c == '"' || *c == '\'') quote = *c;
    brackets += (*c == '(') - (*c == ')');
    depth += (*c == '{') - (*c == '}');
    if (isspace((unsigned char)*c)) {
      if (t.len && !isspace((unsigned char)t.chars[t.len - 1]) && next < end)
        ambit__print_chars(&t, " ", 1);
      continue;
    }
    if (*c == '}' && t.len && t.chars[t.len - 1] == '\n') ambit__print(&t, "%s", indent);
    ambit__print_chars(&t, c, 1);
    if (next < end && !brackets && (*c == '{' || *c == '}' || *c == ';') && *next != ';')
      new_line(&t, indent, depth - (*next == '}'));
  }
  out = ambit__text_finish(&t);
  copy = port_text("%s", out ? out : "");
  free(out);
  return copy;
}

static void take_texts(search *s, const char *output)
{
  for (int i = 0; i < s->n; i++) {
    const char *mark = port_text("port_use_%d ", i), *begin = strstr(output, mark);
    const char *end = begin ? strstr(begin, port_text("port_end_%d", i)) : NULL;

    if (end)
      s->at[i].text = formatted(begin + strlen(mark), end, port_indent_at(s->u, s->at[i].begin));
  }
}

static int lines_of(const char *text, size_t n)
{
  int count = 0;

  for (size_t i = 0; i < n; i++)
    count += text[i] == '\n';
  return count;
}

/* The whole text; `out` remembers which part of it is which use. */
static void replace(const search *s, written_out *out)
{
  ambit__text t = {0};
  unsigned at = 0;
  char *whole;

  out->parts = port_new((size_t)s->n * sizeof *out->parts);
  for (int i = 0; i < s->n; i++) {
    const macro_use *m = &s->at[i];
    const unsigned length = m->end - m->begin;

    if (!m->text) continue;
    ambit__print_chars(&t, s->u->text + at, m->begin - at);
    out->parts[out->n++] = (written_part){.begin = (unsigned)t.len,
                                          .end = (unsigned)(t.len + strlen(m->text)),
                                          .line = 1 + (unsigned)lines_of(s->u->text, m->begin),
                                          .more = lines_of(m->text, strlen(m->text)) -
                                                  lines_of(s->u->text + m->begin, length)};
    ambit__print(&t, "%s", m->text);
    at = m->end;
  }
  ambit__print_chars(&t, s->u->text + at, s->u->size - at);
  whole = ambit__text_finish(&t);
  out->text = port_text("%s", whole ? whole : "");
  free(whole);
}

unsigned port_line_in_file(const written_out *w, unsigned offset, unsigned line)
{
  for (int i = w->n - 1; i >= 0; i--) {
    const written_part *p = &w->parts[i];

    if (offset >= p->begin && offset < p->end) return p->line;
    if (offset >= p->end) line -= (unsigned)p->more;
  }
  return line;
}

const written_out *port_without_macros(const unit *u, int nflags, const char *const *flags)
{
  search *s = port_new(sizeof *s);
  char file[] = "/tmp/ambit-port-XXXXXX", *output;
  written_out *out = NULL;
  int fd;
  FILE *f;
  bool ok;

  s->u = u;
  for (const function *fn = u->functions; fn; fn = fn->next)
    if (fn->is_editable) port_walk(fn->body, note_loop, s);
  if (!s->n) return NULL;
  clang_visitChildren(clang_getTranslationUnitCursor(u->tu), note_extent, s);
  keep_outermost(s);
  fd = s->n ? mkstemp(file) : -1;
  if (fd < 0) return NULL;
  f = fdopen(fd, "w");
  ok = f && write_marked(s, f);
  if (f) ok &= fclose(f) == 0;
  output = ok ? preprocess(u, file, nflags, flags) : NULL;
  remove(file);
  if (output) {
    take_texts(s, output);
    out = port_new(sizeof *out);
    replace(s, out);
  }
  free(output);
  return out;
}
