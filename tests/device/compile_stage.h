/* SPDX-License-Identifier: BSD-3-Clause */
/* compile_stage.h - for tests of compilation: a separate cache folder, and a compiler that counts
 * its runs. Needs _GNU_SOURCE. */
#ifndef AMBIT_TEST_COMPILE_STAGE_H
#define AMBIT_TEST_COMPILE_STAGE_H

#include "device/cpu/compile.h"
#include "device/tree.h"

#include <dirent.h>

typedef int (*int_fn)(int);

static const char plus_seven[] = "int f(int x)\n{\n  return x + 7;\n}\n";

/* ---- set-up ---- */

static char cache[512], wrapper[512];
static ambit__settings settings;

/* The script runs some lines of shell, `extra`, and then the real compiler. */
static void write_wrapper(const char *extra)
{
  const char *cc = getenv("CC");
  char text[2048];

  snprintf(text, sizeof text, "#!/bin/sh\necho run >> '%s/runs'\n%s\nexec %s \"$@\"\n", folder,
           extra, cc && *cc ? cc : "cc");
  tree_put("compiler", text);
  CHECK_EQ(0, chmod(wrapper, 0700));
}

static void begin(void)
{
  tree_make();
  snprintf(cache, sizeof cache, "%s/cache", folder);
  snprintf(wrapper, sizeof wrapper, "%s/compiler", folder);
  settings = (ambit__settings){.cc = wrapper, .cache = cache, .dump = "", .verbose = -1};
  write_wrapper("");
}

static void end(void)
{
  tree_remove();
}

static int runs(void)
{
  char path[512], line[16];
  int n = 0;
  FILE *f;

  snprintf(path, sizeof path, "%s/runs", folder);
  f = fopen(path, "r");
  while (f && fgets(line, sizeof line, f))
    n++;
  if (f) fclose(f);
  return n;
}

/* Counts the files in a folder whose names end in `tail`. `path`, unless NULL, gets the path of the
 * last one. */
static int files(const char *where, const char *tail, char path[1024])
{
  DIR *dir = opendir(where);
  struct dirent *entry;
  int n = 0;

  while (dir && (entry = readdir(dir))) {
    size_t length = strlen(entry->d_name), want = strlen(tail);

    if (entry->d_name[0] == '.' || length < want) continue;
    if (strcmp(entry->d_name + length - want, tail)) continue;
    if (path) snprintf(path, 1024, "%s/%s", where, entry->d_name);
    n++;
  }
  if (dir) closedir(dir);
  return n;
}

/* Opens a new compiler, as a new process would, and calls f(x) of the source; -1: failure. */
static int call_f(const char *source, int x)
{
  ambit__module *module = NULL;
  ambit__errors errors = {0};
  ambit__cc *cc = NULL;
  void *address = NULL;
  int result = -1;

  if (!ambit__cc_open(&errors, &settings, &cc) &&
      !ambit__cc_load(cc, source, "f", &module, &address))
    result = ((int_fn)address)(x);
  if (errors.text) printf("# %s\n", errors.text);
  ambit__errors_clear(&errors);
  ambit__module_release(module);
  ambit__cc_close(cc);
  return result;
}

static ambit__cc *open_cc(ambit__errors *errors)
{
  ambit__cc *cc = NULL;

  *errors = (ambit__errors){0};
  CHECK_EQ(AMBIT_OK, ambit__cc_open(errors, &settings, &cc));
  return cc;
}

static void close_cc(ambit__cc *cc, ambit__errors *errors)
{
  ambit__cc_close(cc);
  ambit__errors_clear(errors);
}

#endif
