/* SPDX-License-Identifier: BSD-3-Clause */
#include "codegen/source.h"

#include <string.h>

/* The start and the end of a comment about a place; no other generated comment starts so. */
static const char START[] = "/* from ", END[] = " */";

void ambit__source_place(ambit__writer *w, const char *file, int line)
{
  ambit__line_begin(w);
  ambit__print(&w->text, "%s", START);
  for (const char *c = file; *c; c++)
    ambit__print(&w->text, "%c", strchr("*\\?", *c) || *c < ' ' || *c > '~' ? '_' : *c);
  ambit__print(&w->text, ":%d", line);
  ambit__line_end(w, END);
}

static size_t line_length(const char *at)
{
  const char *end = strchr(at, '\n');

  return end ? (size_t)(end - at) + 1 : strlen(at);
}

static bool is_place(const char *at, size_t length)
{
  const size_t blanks = strspn(at, " "), tail = strlen(END);

  return length > blanks + tail && at[length - 1] == '\n' &&
         !strncmp(at + blanks, START, strlen(START)) && !strncmp(at + length - 1 - tail, END, tail);
}

/* The next line from *at on that is no place, and *at after it; its length, or 0 at the end. */
static size_t next_line(const char **at, const char **line)
{
  size_t length;

  do {
    *line = *at;
    length = line_length(*at);
    *at += length;
  } while (is_place(*line, length));
  return length;
}

void ambit__source_hash(ambit__hash *h, const char *source)
{
  const char *line;
  size_t length;

  while ((length = next_line(&source, &line)) > 0)
    ambit__hash_bytes(h, line, length);
  ambit__hash_text(h, "");
}

bool ambit__source_equal(const char *a, const char *b)
{
  const char *x, *y;
  size_t m, n;

  do {
    m = next_line(&a, &x);
    n = next_line(&b, &y);
    if (m != n || memcmp(x, y, m) != 0) return false;
  } while (m);
  return true;
}

void ambit__source_print(ambit__text *t, const char *source)
{
  const char *line;
  size_t length;

  while ((length = next_line(&source, &line)) > 0)
    ambit__print(t, "%.*s", (int)length, line);
}
