/* SPDX-License-Identifier: BSD-3-Clause */
/* compile.h - from C text to a function in this process.
 *
 * Source is compiled once and kept (cache.h). Each ambit__cc loads the same source once, however
 * often it is requested. The key covers all that may change the result: library version, compiler,
 * flags, processor, and source but for the places in it (codegen/source.h).
 */
#ifndef AMBIT_DEVICE_CPU_COMPILE_H
#define AMBIT_DEVICE_CPU_COMPILE_H

#include "device/cpu/compiler.h"
#include "device/foreseen.h"

typedef struct ambit__module ambit__module;

typedef struct ambit__cc {
  ambit__errors *errors;
  const ambit__settings *settings; /* strict, dump and verbose are read at each load */
  bool available;                  /* there is a working compiler */
  char *why;                       /* the reason if not; else NULL */
  double patience;                 /* seconds the compiler may take for the next kernel */
  char *late;                      /* the message if it took longer and was stopped; else NULL */
  ambit__compiler compiler;
  ambit__cache cache;
  ambit__module *modules;   /* loaded now */
  ambit__foreseen foreseen; /* compilers at work */
  atomic_bool closing;      /* they are to end */
} ambit__cc;

/* Having no compiler is not an error: see `available`. */
ambit_status ambit__cc_open(ambit__errors *errors, const ambit__settings *settings, ambit__cc **cc);
/* Unloads all modules still loaded. NULL does nothing. */
void ambit__cc_close(ambit__cc *cc);

/* Begins to compile a source that will be loaded soon, with up to `most` compilers at a time. With
 * `quiet`, nobody waits for it, and no message says that it takes long. */
void ambit__cc_foresee(ambit__cc *cc, const char *source, int most, bool quiet);

/* Whether loading a source that was foreseen, by its key, would not wait for a compiler. */
bool ambit__cc_is_ready(ambit__cc *cc, const char *key);

/* The address of `symbol` in the compiled source. It is valid until the module was released as
 * often as it was loaded. If compilation fails: AMBIT_ECOMPILE, with the compiler's output and the
 * path of the source. */
ambit_status ambit__cc_load(ambit__cc *cc, const char *source, const char *symbol,
                            ambit__module **module, void **address);
/* The same, but a compiler that takes too long is not an error: *address is NULL then, and cc->late
 * holds the message. */
ambit_status ambit__cc_try(ambit__cc *cc, const char *source, const char *symbol,
                           ambit__module **module, void **address);
void ambit__module_release(ambit__module *module); /* NULL does nothing */

/* ---- compile_run.c ---- */

void ambit__cc_key(const ambit__cc *cc, const char *source, char key[AMBIT__HASH_CHARS]);
/* Compiles, or waits for a compilation that was foreseen. The path of the library is to free(). */
ambit_status ambit__cc_compile(ambit__cc *cc, const char *key, const char *source, char **path);
/* Begins a compilation in another thread. */
void ambit__cc_compile_ahead(ambit__cc *cc, const char *key, const char *source, int most,
                             bool quiet);

#endif
