/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE 1 /* secure_getenv */
#include "base/library.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The pattern of a file in a place; false if the variable is not set to an absolute path. */
static bool expand(const char *place, const char *name, char *out, size_t bytes)
{
  const char *bar = strchr(place, '|'), *value = "";
  char variable[32];
  int n;

  if (bar) {
    snprintf(variable, sizeof variable, "%.*s", (int)(bar - place), place);
    value = secure_getenv(variable);
    if (!value || value[0] != '/') return false;
  }
  n = snprintf(out, bytes, "%s%s/%s", value, bar ? bar + 1 : place, name);
  return n > 0 && (size_t)n < bytes;
}

bool ambit__library_seek(const char *place, const char *name, bool (*try)(const char *path))
{
  char pattern[4096];
  bool found = false;
  glob_t paths;

  if (!expand(place, name, pattern, sizeof pattern)) return false;
  if (!glob(pattern, 0, NULL, &paths))
    for (size_t i = paths.gl_pathc; i-- > 0 && !found;)
      found = try(paths.gl_pathv[i]);
  globfree(&paths);
  return found;
}
