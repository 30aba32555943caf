/* compile.h - from C text to a function in this process.
 *
 * Source is compiled once and kept (cache.h); the same source is loaded once per ambit__cc, however often it is asked
 * for. What may have been compiled differently has a different key: library version, compiler, flags, processor and source
 * all count.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef AMBIT_DEVICE_CPU_COMPILE_H
#define AMBIT_DEVICE_CPU_COMPILE_H

#include "device/cpu/compiler.h"

typedef struct ambit__module ambit__module;

typedef struct ambit__cc {
  ambit__errors *errors;
  const ambit__settings *settings; /* strict, dump and verbose count when something is loaded */
  bool available;                  /* there is a compiler that works */
  char *why;                       /* there is none; else NULL */
  double patience;                 /* seconds the compiler may take for the next kernel */
  char *late;                      /* it took longer, and was stopped; else NULL */
  ambit__compiler compiler;
  ambit__cache cache;
  ambit__module *modules; /* loaded now */
} ambit__cc;

/* Having no compiler is not an error: `available` tells. */
ambit_status ambit__cc_open(ambit__errors *errors, const ambit__settings *settings, ambit__cc **cc);
/* Unloads what is still loaded. NULL does nothing. */
void ambit__cc_close(ambit__cc *cc);

/* The address of `symbol` in the compiled source. The address holds until the module was released as often as
 * it was loaded. AMBIT_ECOMPILE with the compiler's words and the place of the source when it cannot be compiled. */
ambit_status ambit__cc_load(ambit__cc *cc, const char *source, const char *symbol,
                            ambit__module **module, void **address);
/* The same, but a compiler that takes too long is no error: *address is NULL then, and cc->late tells. */
ambit_status ambit__cc_try(ambit__cc *cc, const char *source, const char *symbol,
                           ambit__module **module, void **address);
void ambit__module_release(ambit__module *module); /* NULL does nothing */

#endif
