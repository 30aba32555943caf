/* SPDX-License-Identifier: BSD-3-Clause */
/* error.h - raising and propagating errors inside the library.
 *
 * Every function that can fail gets an ambit__errors, the error state of a context. The first error
 * is kept; later ones are dropped, since they are consequences of it.
 */
#ifndef AMBIT_BASE_ERROR_H
#define AMBIT_BASE_ERROR_H

#include "ambit.h"

#include <stdbool.h>

typedef struct ambit__errors {
  ambit_status status;    /* of the first error; AMBIT_OK if none */
  char *text;             /* full message, owned; NULL if none, or if out of memory */
  ambit_error_fn handler; /* called for each error; NULL: silent */
  void *user;             /* passed to the handler */
  /* the handler is called later, by ambit__errors_tell: when it is known which other processes have
   * the error */
  bool waits;
  bool untold;  /* the handler has not been called yet */
  bool telling; /* the handler is running */
  bool agreed;  /* all processes of the context have failed and know it */
} ambit__errors;

/* Records the message, calls the handler, and returns `code`, for use in a return statement. If
 * `errors` is NULL, only returns the code. */
ambit_status ambit__raise(ambit__errors *errors, ambit_status code, const char *fmt, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 3, 4)))
#endif
    ;
#ifdef __clang_analyzer__ /* it analyses one file at a time: a raise never returns AMBIT_OK */
#  define ambit__raise(errors, code, ...) (ambit__raise(errors, code, __VA_ARGS__), (code))
#endif
void ambit__errors_tell(ambit__errors *errors);  /* calls the handler, if that is still due */
void ambit__errors_clear(ambit__errors *errors); /* clears the error, frees its text */

/* Returns from the calling function unless the condition holds. */
#define AMBIT_CHECK(cond, errors, code, ...)                                                       \
  do {                                                                                             \
    if (!(cond)) return ambit__raise(errors, code, __VA_ARGS__);                                   \
  } while (0)

/* Propagates a failure. Only for functions that have nothing to release. */
#define AMBIT_TRY(call)                                                                            \
  do {                                                                                             \
    ambit_status ambit__s = (call);                                                                \
    if (ambit__s) return ambit__s;                                                                 \
  } while (0)

/* The same for functions that own resources: sets `s` and jumps to the single clean-up. */
#define AMBIT_TRY_GOTO(s, call, label)                                                             \
  do {                                                                                             \
    (s) = (call);                                                                                  \
    if (s) goto label;                                                                             \
  } while (0)

#endif
