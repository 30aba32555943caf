/* SPDX-License-Identifier: BSD-3-Clause */
/* folder.h - a temporary directory for tests that write files.
 *
 * Created under TMPDIR (or /tmp) by folder_make, removed with all its files by folder_remove. Needs
 * _XOPEN_SOURCE 700.
 */
#ifndef AMBIT_TEST_FOLDER_H
#define AMBIT_TEST_FOLDER_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[400];

static int folder_make(void)
{
  const char *tmp = getenv("TMPDIR");

  snprintf(folder, sizeof folder, "%.300s/ambit-test-XXXXXX", tmp && *tmp ? tmp : "/tmp");
  return mkdtemp(folder) != NULL;
}

/* The path of a file in it, valid until the fourth call after this one. */
static const char *folder_path(const char *name)
{
  static char paths[4][512];
  static int next;
  char *path = paths[next++ % 4];

  snprintf(path, sizeof paths[0], "%s/%.100s", folder, name);
  return path;
}

/* The number of files in it, to check that none is left behind. */
static int folder_files(void)
{
  DIR *dir = opendir(folder);
  int n = 0;

  for (struct dirent *e; dir && (e = readdir(dir));)
    n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
  if (dir) closedir(dir);
  return n;
}

static void folder_remove(void)
{
  DIR *dir = opendir(folder);

  for (struct dirent *e; dir && (e = readdir(dir));)
    if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..")) unlink(folder_path(e->d_name));
  if (dir) closedir(dir);
  rmdir(folder);
}

/* name_ is the test `name` in an empty folder. Needs support/test.h. */
#define IN_FOLDER(name)                                                                            \
  static void name##_(void)                                                                        \
  {                                                                                                \
    CHECK(folder_make());                                                                          \
    name();                                                                                        \
    folder_remove();                                                                               \
  }

#endif
