/* diag.h - messages about kernel text: file, line, column, the line itself, a caret, advice. */
#ifndef AMBIT_KERNEL_DIAG_H
#define AMBIT_KERNEL_DIAG_H

#include "base/text.h"
#include "kernel/kernel.h"

enum { AMBIT_DIAG_MOST = 10 }; /* messages told about one text; the rest follow from them */

/* What messages about one text need, and those made so far. */
typedef struct ambit__diag {
  const char *file;          /* NUL-terminated */
  const char *text;          /* the whole text, NUL-terminated */
  int count;                 /* messages so far */
  ambit__text out;           /* the messages */
  int seen[AMBIT_DIAG_MOST]; /* offsets of the messages: a second one about a place is dropped */
} ambit__diag;

/* Adds a message. What follows the first newline of it is advice, printed below the caret. */
void ambit__complain(ambit__diag *d, ambit__place place, const char *fmt, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 3, 4)))
#endif
    ;

#endif
