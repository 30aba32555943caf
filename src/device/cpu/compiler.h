/* SPDX-License-Identifier: BSD-3-Clause */
/* compiler.h - finds a C compiler, and the flags with which its code runs on this machine.
 *
 * Code compiled for this machine may not run on it: in virtual machines and containers a compiler
 * may detect a processor with more features than the system exposes, and the code dies of an
 * illegal instruction. So a compiler must first build a small vectorised program that runs; it
 * falls back to plainer code until one does. The result is noted in the cache, for this compiler
 * and this processor, and a later start runs no process at all.
 */
#ifndef AMBIT_DEVICE_CPU_COMPILER_H
#define AMBIT_DEVICE_CPU_COMPILER_H

#include "base/hash.h"
#include "device/cache.h"
#include "device/cpu/process.h"

enum { AMBIT__COMPILER_ARGS = 64 }; /* space for the words of CC, all flags and the files */

/* How much of this processor the code uses. */
typedef enum ambit__code_level {
  CODE_NATIVE, /* all features */
  CODE_COMMON, /* those common to processors of its kind */
  CODE_PLAIN,  /* the compiler's default */
  CODE_LEVELS
} ambit__code_level;

typedef struct ambit__compiler {
  char *command;           /* as given by the user: "ccache gcc" */
  int nwords;              /* of the command */
  char **words;            /* the first is a path. NULL: there is no compiler */
  char *name;              /* the first word as given */
  char *version;           /* __VERSION__ of its code */
  ambit__code_level level; /* the level that was found to run */
  ambit__hash fingerprint; /* of library, compiler, its variables and version, and processor */
} ambit__compiler;

/* Finds a working compiler. If there is none, gives the reason in `why` (to free()) and leaves
 * words NULL, which is not an error. Fails only if out of memory. */
ambit_status ambit__compiler_open(ambit__errors *errors, const ambit__settings *settings,
                                  ambit__cache *cache, ambit__compiler *compiler, char **why);
void ambit__compiler_close(ambit__compiler *compiler);

/* The arguments that make a shared library from a source file; the array does not own its strings.
 * Returns the number of arguments before the file names: a library depends on these. */
int ambit__compiler_args(const ambit__compiler *compiler, bool strict, const char *source,
                         const char *library, const char *args[AMBIT__COMPILER_ARGS]);

#endif
