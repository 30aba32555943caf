/* SPDX-License-Identifier: BSD-3-Clause */
/* locate.c - true lines for kernels that AMBIT_SOURCE made.
 *
 * The preprocessor joins the lines of AMBIT_SOURCE(...) and removes comments, so such a text is one
 * line, and compilers disagree whether its number is that of the first or the last line. If the
 * file it names can be read, the text is found there again: both are the same once blanks and
 * comments are left out. Only messages need it, so it is done when there is one.
 */
#define _XOPEN_SOURCE 700
#include "kernel/locate.h"

#include "base/file.h"
#include "base/integers.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_BYTES = 16 << 20 }; /* of a source file */

static const char macro[] = "AMBIT_SOURCE";

static bool is_blank(char c)
{
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

/* Past blanks, and with `comments` past those and joined lines too. */
static const char *skip(const char *s, bool comments)
{
  for (;;) {
    const char *end;

    if (is_blank(*s)) {
      s++;
    } else if (comments && s[0] == '\\' && (s[1] == '\n' || s[1] == '\r')) {
      s += 2;
    } else if (comments && s[0] == '/' && s[1] == '/') {
      s += strcspn(s, "\n");
    } else if (comments && s[0] == '/' && s[1] == '*') {
      end = strstr(s + 2, "*/");
      s = end ? end + 2 : s + strlen(s);
    } else {
      return s;
    }
  }
}

/* Where the source has the text, from its '(' on, with its tokens for two places of the text.
 * Returns the ')' behind it; NULL: it has another text. */
static const char *match(const char *text, const char *source, const char *const at[2],
                         const char *found[2])
{
  found[0] = found[1] = NULL;
  if (*source != '(') return NULL;
  for (source++;; text++, source++) {
    text = skip(text, false);
    source = skip(source, true);
    for (int i = 0; i < 2; i++)
      if (!found[i] && text >= at[i]) found[i] = source;
    if (!*text) return *source == ')' ? source : NULL;
    if (*text != *source) return NULL;
  }
}

static int line_of(const char *source, const char *at)
{
  int line = 1;

  for (; source < at; source++)
    line += *source == '\n';
  return line;
}

/* The place in the source, of all that match the one nearest to where the compiler says it is:
 * gcc names the line where the macro begins, clang 14 that of its last ')'. */
static bool find(const char *text, const char *source, ambit__place *place)
{
  const char *at[2] = {text + place->offset, text + place->offset};
  const char *body = strchr(text, '\n') + 1, *found[2];
  int nearest = 0;
  const int given = place->line;
  bool any = false;

  if (place->length > 1) at[1] += place->length - 1;
  for (const char *s = source; (s = strstr(s, macro)); s += sizeof macro - 1) {
    const bool whole =
        (s == source || !ambit__is_name_char(s[-1])) && !ambit__is_name_char(s[sizeof macro - 1]);
    const char *end = whole ? match(body, skip(s + sizeof macro - 1, true), at, found) : NULL;
    int distance;

    if (!end) continue;
    distance = ambit__min(abs(line_of(source, s) - given), abs(line_of(source, end) - given));
    if (any && distance >= nearest) continue;
    any = true;
    nearest = distance;
    place->offset = (int)(found[0] - source);
    place->length = (int)(found[1] - found[0]) + 1;
  }
  return any;
}

/* As AMBIT_SOURCE makes it: a #line, and one line. */
static bool is_joined(const char *text)
{
  const char *newline = strchr(text, '\n');

  return !strncmp(text, "#line ", 6) && newline && !strchr(newline + 1, '\n');
}

char *ambit__locate(const char *file, const char *text, ambit__place *place)
{
  const char *line;
  struct stat st;
  void *data;
  size_t size;

  if (!is_joined(text) || place->offset <= (int)strcspn(text, "\n")) return NULL;
  if (stat(file, &st) || !S_ISREG(st.st_mode)) return NULL;
  if (ambit__file_read_all(NULL, file, MOST_BYTES, &data, &size)) return NULL;
  if (strlen(data) != size || !find(text, data, place)) {
    free(data);
    return NULL;
  }
  place->line = line_of(data, (char *)data + place->offset);
  for (line = (char *)data + place->offset; line > (char *)data && line[-1] != '\n'; line--)
    ;
  place->column = (int)((char *)data + place->offset - line) + 1;
  return data;
}
