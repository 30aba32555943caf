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
  const size_t tail = strlen(END);
  size_t blanks;

  if (length <= tail || at[length - 1] != '\n' || memcmp(at + length - 1 - tail, END, tail) != 0)
    return false;
  blanks = strspn(at, " ");
  return length > blanks + tail && !strncmp(at + blanks, START, strlen(START));
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

/* Eight bytes at a time: sources are long, and are hashed whenever a kernel is looked for. */
static void add_line(uint64_t w[2], const char *line, size_t length)
{
  for (uint64_t x = 0; length > 0; x = 0) {
    const size_t n = length < sizeof x ? length : sizeof x;

    if (n == sizeof x)
      memcpy(&x, line, sizeof x);
    else
      for (size_t i = 0; i < n; i++)
        x = x << 8 | (unsigned char)line[i];
    w[0] = (w[0] ^ x) * UINT64_C(0xff51afd7ed558ccd);
    w[0] ^= w[0] >> 32;
    w[1] = (w[1] + x) * UINT64_C(0x9fb21c651e98df25);
    w[1] ^= w[1] >> 29;
    line += n;
    length -= n;
  }
}

void ambit__source_hash(ambit__hash *h, const char *source)
{
  uint64_t w[2] = {0, 0};
  const char *line;
  size_t length;

  while ((length = next_line(&source, &line)) > 0)
    add_line(w, line, length);
  ambit__hash_bytes(h, w, sizeof w);
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
    ambit__print_chars(t, line, length);
}
