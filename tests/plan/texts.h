/* SPDX-License-Identifier: BSD-3-Clause */
/* texts.h - generated text, printed to compare two builds when the code that generates it is
 * rebuilt: --hashes prints a line for every text, --texts the texts themselves. */
#ifndef AMBIT_TEST_TEXTS_H
#define AMBIT_TEST_TEXTS_H

#include "base/hash.h"
#include "codegen/dialect.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static enum { PRINT_NOTHING, PRINT_HASHES, PRINT_TEXTS } prints;

static void print_source(uint64_t seed, const ambit__dialect *d, const char *strategy,
                         const char *source)
{
  ambit__hash h;
  char hex[AMBIT__HASH_CHARS];

  if (!prints || !source) return;
  ambit__hash_init(&h);
  ambit__hash_text(&h, source);
  ambit__hash_hex(&h, hex);
  printf("%" PRIu64 " %s %s %s\n", seed, d->name, strategy, hex);
  if (prints == PRINT_TEXTS) printf("%s\n", source);
}

/* Takes the arguments that ask for texts; the others stay. */
static void take_prints(int *argc, char ***argv)
{
  for (; *argc > 1 && (!strcmp((*argv)[1], "--hashes") || !strcmp((*argv)[1], "--texts"));
       (*argc)--, (*argv)++)
    prints = (*argv)[1][2] == 'h' ? PRINT_HASHES : PRINT_TEXTS;
}

#endif
