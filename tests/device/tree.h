/* SPDX-License-Identifier: BSD-3-Clause */
/* tree.h - a private temporary folder with files and folders in it. Needs _GNU_SOURCE. */
#ifndef AMBIT_TEST_TREE_H
#define AMBIT_TEST_TREE_H

#include "support/test.h"

#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[256]; /* while a test runs */

static void tree_make(void)
{
  const char *tmp = getenv("TMPDIR");

  snprintf(folder, sizeof folder, "%s/ambit-test-XXXXXX", tmp && *tmp ? tmp : "/tmp");
  CHECK(mkdtemp(folder) != NULL);
}

static int tree_remove_one(const char *path, const struct stat *st, int kind, struct FTW *place)
{
  (void)st, (void)kind, (void)place;
  return remove(path);
}

static void tree_remove(void)
{
  CHECK_EQ(0, nftw(folder, tree_remove_one, 16, FTW_DEPTH | FTW_PHYS));
}

/* Writes a file below the folder, and creates its parent folders. */
static void tree_put(const char *path, const char *text)
{
  char full[1024];
  FILE *f;

  snprintf(full, sizeof full, "%s/%s", folder, path);
  for (char *slash = full + strlen(folder) + 1; (slash = strchr(slash, '/')); slash++) {
    *slash = '\0';
    mkdir(full, 0700);
    *slash = '/';
  }
  f = fopen(full, "w");
  CHECK(f && fputs(text, f) >= 0);
  if (f) fclose(f);
}

#endif
