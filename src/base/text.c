/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(ambit__text *t, size_t extra)
{
  size_t need = t->len + extra + 1, cap = t->cap ? t->cap : 256;
  char *p;

  if (t->failed) return false;
  if (need <= t->cap) return true;
  while (cap < need)
    cap *= 2;
  p = realloc(t->chars, cap);
  if (!p) {
    t->failed = true;
    return false;
  }
  t->chars = p;
  t->cap = cap;
  return true;
}

void ambit__print_chars(ambit__text *t, const char *chars, size_t n)
{
  if (!reserve(t, n)) return;
  memcpy(t->chars + t->len, chars, n);
  t->len += n;
  t->chars[t->len] = '\0';
}

/* Formats of texts and small integers, of which generated code is made; 0.3 of the time of
 * vsnprintf. false: the format has others. */
static bool print_plain(ambit__text *t, const char *fmt, va_list ap)
{
  for (const char *at = strchr(fmt, '%'); at; at = strchr(at + 2, '%'))
    if (!at[1] || !strchr("sdc%", at[1])) return false;
  while (*fmt) {
    const size_t length = strcspn(fmt, "%");
    char number[16], *end = number + sizeof number, *first = end;
    const char *word = NULL;
    int x = 0;

    ambit__print_chars(t, fmt, length);
    fmt += length;
    if (!*fmt) return true;
    switch (fmt[1]) {
    case 's': word = va_arg(ap, const char *); break;
    case 'd': x = va_arg(ap, int); break;
    case 'c': *--first = (char)va_arg(ap, int); break;
    default: *--first = '%';
    }
    if (fmt[1] == 'd') {
      unsigned rest = x < 0 ? 0u - (unsigned)x : (unsigned)x;

      do
        *--first = (char)('0' + rest % 10);
      while ((rest /= 10) > 0);
      if (x < 0) *--first = '-';
    }
    ambit__print_chars(t, word ? word : first, word ? strlen(word) : (size_t)(end - first));
    fmt += 2;
  }
  return true;
}

void ambit__vprint(ambit__text *t, const char *fmt, va_list ap)
{
  const size_t room = t->failed ? 0 : t->cap - t->len;
  va_list again;
  int n;

  va_copy(again, ap);
  if (print_plain(t, fmt, again)) {
    va_end(again);
    return;
  }
  va_end(again);
  va_copy(again, ap);
  n = vsnprintf(room ? t->chars + t->len : NULL, room, fmt, again);
  va_end(again);
  if (n < 0 || !reserve(t, (size_t)n)) return;
  if ((size_t)n >= room) vsnprintf(t->chars + t->len, (size_t)n + 1, fmt, ap);
  t->len += (size_t)n;
}

void ambit__print(ambit__text *t, const char *fmt, ...)
{
  va_list ap;

  va_start(ap, fmt);
  ambit__vprint(t, fmt, ap);
  va_end(ap);
}

char *ambit__text_finish(ambit__text *t)
{
  char *chars = NULL;

  if (reserve(t, 0) && t->chars) {
    t->chars[t->len] = '\0';
    chars = t->chars;
  } else {
    free(t->chars);
  }
  *t = (ambit__text){0};
  return chars;
}

void ambit__text_free(ambit__text *t)
{
  free(t->chars);
  *t = (ambit__text){0};
}

int ambit__head_length(const char *text, int lines)
{
  const char *at = text;

  while (lines-- > 0 && *at)
    at += strcspn(at, "\n") + (strchr(at, '\n') != NULL);
  return (int)(at - text);
}

bool ambit__ends_in(const char *text, const char *tail)
{
  const size_t n = strlen(text), m = strlen(tail);

  return n >= m && !strcmp(text + n - m, tail);
}

bool ambit__is_one_of(const char *text, const char *const *words)
{
  for (; *words; words++)
    if (!strcmp(text, *words)) return true;
  return false;
}
