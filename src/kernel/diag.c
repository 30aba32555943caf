/* SPDX-License-Identifier: BSD-3-Clause */
/* diag.c - formats diagnostics in the style of a compiler.
 *
 *   heat.c:3:12: error: the offset of 'u' is not a constant
 *       *v = u[n][0];
 *              ^
 *     an offset must be known when the kernel is compiled; ...
 *
 * A kernel made with AMBIT_SOURCE is one very long line, so only a window of the line around the
 * caret is shown. The column number counts bytes, as compilers do. The caret counts terminal
 * columns: a tab is shown as a blank, a multibyte character takes one column, and invalid bytes are
 * shown as \xNN.
 */
#include "kernel/diag.h"

#include <stdlib.h>
#include <string.h>

enum { WINDOW = 100, BEFORE = 60 }; /* columns of a line shown; of them before the caret */

/* Bytes of the UTF-8 character at s; 0 if it is invalid. */
static size_t utf8_length(const unsigned char *s, size_t left)
{
  size_t n = s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;

  if (!n || n > left) return 0;
  for (size_t i = 1; i < n; i++)
    if ((s[i] & 0xc0) != 0x80) return 0;
  if (s[0] == 0xc2 && s[1] < 0xa0) return 0; /* control characters */
  if (s[0] == 0xe0 && s[1] < 0xa0) return 0; /* overlong encoding */
  if (s[0] == 0xed && s[1] > 0x9f) return 0; /* surrogates */
  if (s[0] == 0xf0 && s[1] < 0x90) return 0;
  if (s[0] == 0xf4 && s[1] > 0x8f) return 0;
  return n;
}

/* Formats the character at s into `shown`, sets its columns, returns its bytes. */
static size_t show(const char *s, size_t left, char shown[8], int *columns)
{
  static const char hex[] = "0123456789abcdef";
  unsigned char c = (unsigned char)s[0];
  size_t n = c >= ' ' && c < 0x7f ? 1 : utf8_length((const unsigned char *)s, left);

  *columns = 1;
  memset(shown, 0, 8);
  if (c == '\t') {
    shown[0] = ' ';
    return 1;
  }
  if (n) {
    memcpy(shown, s, n);
    return n;
  }
  *columns = 4;
  memcpy(shown, "\\x", 2);
  shown[2] = hex[c >> 4];
  shown[3] = hex[c & 15];
  return 1;
}

static int width(const char *s, size_t n)
{
  char shown[8];
  int columns, sum = 0;

  for (size_t i = 0; i < n; sum += columns)
    i += show(s + i, n - i, shown, &columns);
  return sum;
}

/* Prints the columns from .. to - 1 of s. */
static void print_columns(ambit__text *out, const char *s, size_t n, int from, int to)
{
  char shown[8];
  int columns, at = 0;

  for (size_t i = 0; i < n && at < to; at += columns) {
    i += show(s + i, n - i, shown, &columns);
    if (at >= from) ambit__print(out, "%s", shown);
  }
}

static void print_shown(ambit__text *out, const char *s, size_t n)
{
  print_columns(out, s, n, 0, width(s, n));
}

/* The line that contains byte `at`, without indentation and trailing blanks. */
static const char *line_around(const char *text, size_t at, size_t *length)
{
  size_t begin = at, end = at;

  while (begin > 0 && text[begin - 1] != '\n')
    begin--;
  while (text[end] && text[end] != '\n')
    end++;
  while (end > at && (text[end - 1] == '\r' || text[end - 1] == ' ' || text[end - 1] == '\t'))
    end--;
  while (begin < at && (text[begin] == ' ' || text[begin] == '\t'))
    begin++;
  *length = end - begin;
  return text + begin;
}

static void print_line(ambit__text *out, const char *text, ambit__place place)
{
  size_t end = strlen(text), length;
  size_t at = (size_t)place.offset < end ? (size_t)place.offset : end;
  const char *line = line_around(text, at, &length);
  size_t before = (size_t)(text + at - line), marked = (size_t)place.length;
  int all = width(line, length), caret = width(line, before), from = 0, to = all;

  if (all > WINDOW) {
    from = caret > BEFORE ? caret - BEFORE : 0;
    if (from > all - WINDOW) from = all - WINDOW;
    to = from + WINDOW;
  }
  if (marked > length - before) marked = length - before;
  ambit__print(out, "    %s", from > 0 ? "..." : "");
  print_columns(out, line, length, from, to);
  ambit__print(out, "%s\n%*s^", to < all ? "..." : "", 4 + (from > 0 ? 3 : 0) + caret - from, "");
  for (int i = 1; i < width(line + before, marked) && caret + i < to; i++)
    ambit__print(out, "~");
  ambit__print(out, "\n");
}

/* One diagnostic; `message` is the headline and, after a newline, the advice. */
static void print_message(ambit__text *out, const char *file, const char *text, ambit__place place,
                          const char *message)
{
  const char *advice = strchr(message, '\n');
  size_t headline = advice ? (size_t)(advice - message) : strlen(message);

  print_shown(out, file, strlen(file));
  ambit__print(out, ":%d:%d: error: ", place.line, place.column);
  print_shown(out, message, headline);
  ambit__print(out, "\n");
  print_line(out, text, place);
  if (!advice) return;
  ambit__print(out, "  ");
  print_shown(out, advice + 1, strlen(advice + 1));
  ambit__print(out, "\n");
}

void ambit__complain(ambit__diag *d, ambit__place place, const char *fmt, ...)
{
  ambit__text message = {0};
  va_list ap;
  char *chars;

  for (int i = 0; i < d->count; i++)
    if (d->seen[i] == place.offset) return;
  if (d->count == AMBIT_DIAG_MOST) return;
  d->seen[d->count++] = place.offset;
  va_start(ap, fmt);
  ambit__vprint(&message, fmt, ap);
  va_end(ap);
  chars = ambit__text_finish(&message);
  if (chars)
    print_message(&d->out, d->file, d->text, place, chars);
  else
    d->out.failed = true;
  free(chars);
}

char *ambit__rule_message(const ambit__rule *rule, ambit__place place, const char *message)
{
  ambit__text out = {0};

  print_message(&out, rule->file, rule->text, place, message);
  if (out.len) out.chars[--out.len] = '\0';
  return ambit__text_finish(&out);
}
