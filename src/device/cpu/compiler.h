/* compiler.h - which C compiler there is, and with which flags its code runs on this machine.
 *
 * "Compiled for this machine" is not always true: in virtual machines and containers a compiler may take
 * the processor for one that has more than the system lets through, and the code dies of an illegal
 * instruction. So the first thing a compiler must do is to build a small vectorised program that runs; it falls back to
 * plainer code until one does. What was found out is noted in the cache, for this compiler and
 * this processor, and a later start runs no process at all.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef AMBIT_DEVICE_CPU_COMPILER_H
#define AMBIT_DEVICE_CPU_COMPILER_H

#include "base/hash.h"
#include "device/cache.h"
#include "device/cpu/process.h"

enum { AMBIT__COMPILER_ARGS = 64 }; /* room for the words of CC, all flags and the files */

/* How much of this processor the code makes use of. */
typedef enum ambit__code_level {
  CODE_NATIVE, /* all of it */
  CODE_COMMON, /* what processors of its kind have in common */
  CODE_PLAIN,  /* what the compiler does unasked */
  CODE_LEVELS
} ambit__code_level;

typedef struct ambit__compiler {
  char *command;           /* as it was asked for: "ccache gcc" */
  int nwords;              /* of the command */
  char **words;            /* of it; the first is a path. NULL: there is no compiler */
  char *name;              /* the first word as it was asked for */
  char *version;           /* as its code has it: __VERSION__ */
  ambit__code_level level; /* that was seen to run */
  ambit__hash fingerprint; /* of library, compiler, its variables and version, and processor */
} ambit__compiler;

/* Finds a compiler that works. If there is none, says so in `why` (to free()) and leaves words NULL: that is no error. Fails
 * only for want of memory. */
ambit_status ambit__compiler_open(ambit__errors *errors, const ambit__settings *settings,
                                  ambit__cache *cache, ambit__compiler *compiler, char **why);
void ambit__compiler_close(ambit__compiler *compiler);

/* The arguments that make a shared library from a source file; the array only borrows what it points to. Returns the
 * number of those before the file names, on which a library depends. */
int ambit__compiler_args(const ambit__compiler *compiler, bool strict, const char *source,
                         const char *library, const char *args[AMBIT__COMPILER_ARGS]);

#endif
