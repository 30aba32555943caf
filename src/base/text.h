/* SPDX-License-Identifier: BSD-3-Clause */
/* text.h - growing strings.
 *
 * Printing cannot fail: after the first failed allocation everything is discarded, and
 * ambit__text_finish() reports the failure. Callers need no checks in between.
 */
#ifndef AMBIT_BASE_TEXT_H
#define AMBIT_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct ambit__text {
  char *chars;     /* NUL-terminated; NULL until something is printed */
  size_t len, cap; /* bytes used and allocated */
  bool failed;     /* an allocation failed; `chars` is incomplete */
} ambit__text;

/* Compilers check that a format, by the number of its argument, suits the values behind it. */
#ifdef __GNUC__
#  define AMBIT__FORMAT(format_, values) __attribute__((format(printf, format_, values)))
#else
#  define AMBIT__FORMAT(format_, values)
#endif

void ambit__print(ambit__text *t, const char *fmt, ...) AMBIT__FORMAT(2, 3);
void ambit__vprint(ambit__text *t, const char *fmt, va_list ap);
void ambit__print_chars(ambit__text *t, const char *chars, size_t n);

/* Returns the string, which the caller frees ("" if nothing was printed); NULL if out of memory.
 * Resets the text. */
char *ambit__text_finish(ambit__text *t);
void ambit__text_free(ambit__text *t);

/* Unlike those of <ctype.h>, independent of the program's locale. */
static inline bool ambit__is_digit(char c)
{
  return c >= '0' && c <= '9';
}

static inline bool ambit__is_name_char(char c)
{
  return ambit__is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

int ambit__head_length(const char *text, int lines); /* bytes of the first lines of a text */
bool ambit__ends_in(const char *text, const char *tail);
bool ambit__is_one_of(const char *text, const char *const *words); /* NULL ends them */

#endif
