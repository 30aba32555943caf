/* SPDX-License-Identifier: BSD-3-Clause */
/* diag.h - diagnostics about kernel text: file, line, column, source line, caret, advice. */
#ifndef AMBIT_KERNEL_DIAG_H
#define AMBIT_KERNEL_DIAG_H

#include "base/text.h"
#include "kernel/kernel.h"

enum { AMBIT_DIAG_MOST = 10 }; /* diagnostics per text; later ones are usually consequences */

/* The diagnostics of one text. */
typedef struct ambit__diag {
  const char *file;          /* NUL-terminated */
  const char *text;          /* the whole text, NUL-terminated */
  int count;                 /* number so far */
  ambit__text out;           /* the formatted diagnostics */
  int seen[AMBIT_DIAG_MOST]; /* their offsets: at most one diagnostic per place */
} ambit__diag;

/* Adds a diagnostic. Text after the first newline is advice, printed below the caret. */
void ambit__complain(ambit__diag *d, ambit__place place, const char *fmt, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 3, 4)))
#endif
    ;

#endif
