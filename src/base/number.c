/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/number.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  PLAIN_DIGITS = 6
}; /* tried first: 10 prints as 10.0, not 1e+01; trailing zeros are not printed */

/* Replaces the locale's decimal point, of one or more bytes: every byte that cannot be in a C
 * number. */
static void plain_point(char *text)
{
  char *to = text;

  for (char *from = text; *from; from++) {
    if (strchr("0123456789+-e", *from))
      *to++ = *from;
    else if (to == text || to[-1] != '.')
      *to++ = '.';
  }
  *to = '\0';
  if (!strpbrk(text, ".e")) strcpy(to, ".0");
}

void ambit__number_print_double(char out[AMBIT__NUMBER_CHARS], double x)
{
  int digits = PLAIN_DIGITS;

  do {
    snprintf(out, AMBIT__NUMBER_CHARS - 2, "%.*g", digits, x);
  } while (strtod(out, NULL) != x && digits++ < 17);
  plain_point(out);
}

void ambit__number_show(char out[AMBIT__NUMBER_CHARS], double x)
{
  char *end;

  if (!isfinite(x)) {
    strcpy(out, isnan(x) ? "nan" : x < 0 ? "-inf" : "inf");
    return;
  }
  ambit__number_print_double(out, x);
  end = out + strlen(out) - 2;
  if (!strcmp(end, ".0")) *end = '\0';
}

void ambit__number_print_float(char out[AMBIT__NUMBER_CHARS], float x)
{
  int digits = PLAIN_DIGITS;

  do {
    snprintf(out, AMBIT__NUMBER_CHARS - 2, "%.*g", digits, (double)x);
    /* both must agree: some compilers round float constants twice, through double */
  } while ((strtof(out, NULL) != x || (float)strtod(out, NULL) != x) && digits++ < 9);
  plain_point(out);
}

/* Parses text with the dot replaced by the locale's decimal point, if it has one; `local` has room
 * for it. */
static bool read_local(const char *text, const char *point, char *local, double *out)
{
  const char *dot = strchr(text, '.');
  size_t before = dot ? (size_t)(dot - text) : strlen(text);
  char *end;

  memcpy(local, text, before);
  local[before] = '\0';
  if (dot) strcat(strcat(local, point), dot + 1);
  *out = strtod(local, &end);
  return end != local && !*end && isfinite(*out);
}

static size_t length_of(const char *text)
{
  return strspn(text, "0123456789+-.eE");
}

bool ambit__number_read(const char *text, double *out)
{
  const char *point = localeconv()->decimal_point;
  const size_t room = strlen(text) + strlen(point) + 1;
  char few[128], *many = NULL;
  bool ok;

  if (!*text || text[length_of(text)]) return false;
  if (room > sizeof few && !(many = malloc(room))) return false;
  ok = read_local(text, point, many ? many : few, out);
  free(many);
  return ok;
}

const char *ambit__number_scan(const char *text, double *out)
{
  char word[AMBIT__NUMBER_CHARS];
  size_t n;

  text += strspn(text, " ");
  n = length_of(text);
  if (n >= sizeof word) return NULL;
  memcpy(word, text, n);
  word[n] = '\0';
  return ambit__number_read(word, out) ? text + n : NULL;
}
