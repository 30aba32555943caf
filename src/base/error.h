/* error.h - raising and passing on errors inside the library.
 *
 * Every layer that can fail is handed an ambit__errors, the part of a context where failures are
 * told. The first error stays; later ones are dropped, because they follow from it.
 */
#ifndef AMBIT_BASE_ERROR_H
#define AMBIT_BASE_ERROR_H

#include "ambit.h"

#include <stdbool.h>

typedef struct ambit__errors {
  ambit_status status;    /* of the first error; AMBIT_OK if none */
  char *text;             /* its whole story, owned; NULL if none (or no memory for it) */
  ambit_error_fn handler; /* told at once; NULL: silent */
  void *user;             /* handed to the handler */
  bool
      waits; /* the handler is told by ambit__errors_tell, when it is known who else has the error */
  bool untold; /* ... and has not been told yet */
  bool agreed; /* all processes of the context have failed, and know it */
} ambit__errors;

/* Records the story, tells the handler, and returns `code` so that it can stand in a return
 * statement. `errors` may be NULL: then only the code is passed on. */
ambit_status ambit__raise(ambit__errors *errors, ambit_status code, const char *fmt, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 3, 4)))
#endif
    ;
#ifdef __clang_analyzer__ /* it looks into one file at a time: a raise never returns AMBIT_OK */
#  define ambit__raise(errors, code, ...) (ambit__raise(errors, code, __VA_ARGS__), (code))
#endif
void ambit__errors_tell(ambit__errors *errors);  /* the handler, if it waits to be told */
void ambit__errors_clear(ambit__errors *errors); /* forgets the error, frees its text */

/* Returns from the calling function unless the condition holds. */
#define AMBIT_CHECK(cond, errors, code, ...)                                                       \
  do {                                                                                             \
    if (!(cond)) return ambit__raise(errors, code, __VA_ARGS__);                                   \
  } while (0)

/* Passes a failure on. Only for functions that have nothing to release. */
#define AMBIT_TRY(call)                                                                            \
  do {                                                                                             \
    ambit_status ambit__s = (call);                                                                \
    if (ambit__s) return ambit__s;                                                                 \
  } while (0)

/* The same for functions that own something: sets `s` and jumps to the single clean-up. */
#define AMBIT_TRY_GOTO(s, call, label)                                                             \
  do {                                                                                             \
    (s) = (call);                                                                                  \
    if (s) goto label;                                                                             \
  } while (0)

#endif
