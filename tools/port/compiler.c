/* SPDX-License-Identifier: BSD-3-Clause */
/* compiler.c - asks the compiler that the translated program is for: $CC, or cc.
 */
#include "tree.h"

#include "base/text.h"
#include "device/cpu/process.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 288, SECONDS = 60 };

char *port_compiler_run(int nwords, const char *const *words)
{
  const char *cc = getenv("CC"), *argv[MOST_WORDS + 1];
  char *first = (char *)(uintptr_t)port_text("%s", cc && *cc ? cc : "cc"), *path = NULL;
  const ambit__settings settings = {0};
  ambit__text out = {0};
  int n = 0;

  for (char *w = strtok(first, " \t"); w && n < 16; w = strtok(NULL, " \t"))
    argv[n++] = w;
  if (!n || !(path = ambit__process_find(argv[0], 0))) return NULL;
  argv[0] = path;
  for (int i = 0; i < nwords && n < MOST_WORDS; i++)
    argv[n++] = words[i];
  argv[n] = NULL;
  if (ambit__process_run(&(ambit__process){.argv = argv, .seconds = SECONDS, .settings = &settings},
                         &out) != PROCESS_OK)
    ambit__text_free(&out);
  free(path);
  return out.chars ? ambit__text_finish(&out) : NULL;
}

const char *port_compiler_headers(void)
{
  static const char *folder;
  char *text = folder ? NULL : port_compiler_run(1, (const char *[]){"-print-file-name=include"});

  if (!folder) folder = text ? port_text("%.*s", (int)strcspn(text, "\n"), text) : "";
  free(text);
  return folder;
}
