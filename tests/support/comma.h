/* SPDX-License-Identifier: BSD-3-Clause */
/* comma.h - a locale that writes 0.5 as 0,5.
 *
 * Few machines have one installed, so localedef makes one in the folder of folder.h if it can.
 */
#ifndef AMBIT_TEST_COMMA_H
#define AMBIT_TEST_COMMA_H

#include "support/folder.h"

#include <locale.h>
#include <stdbool.h>

static bool comma_define(void)
{
  const char *path = folder_path("comma.src");
  char command[1200];
  FILE *f = fopen(path, "w");

  if (!f) return false;
  fputs("LC_CTYPE\ncopy \"POSIX\"\nEND LC_CTYPE\n"
        "LC_NUMERIC\ndecimal_point \"<U002C>\"\nthousands_sep \"\"\ngrouping -1\nEND LC_NUMERIC\n",
        f);
  fclose(f);
  /* It ends with 1 after a warning: other categories are missing. */
  snprintf(command, sizeof command, "localedef -c -i %s -f UTF-8 %s >/dev/null 2>&1", path,
           folder_path("comma"));
  return system(command) != -1 && setenv("LOCPATH", folder, 1) == 0;
}

/* Sets LC_NUMERIC. False: this machine has no such locale and cannot make one. */
static bool comma_begin(void)
{
  static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "it_IT.UTF-8"};

  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (setlocale(LC_NUMERIC, names[i])) return true;
  return comma_define() && setlocale(LC_NUMERIC, "comma");
}

static void comma_end(void)
{
  char command[600];

  setlocale(LC_NUMERIC, "C");
  unsetenv("LOCPATH");
  snprintf(command, sizeof command, "rm -rf %s", folder_path("comma"));
  if (system(command)) perror(command);
}

#endif
