/* SPDX-License-Identifier: BSD-3-Clause */
/* writer.h - writes indented lines of generated code. */
#ifndef AMBIT_CODEGEN_WRITER_H
#define AMBIT_CODEGEN_WRITER_H

#include "base/text.h"

typedef struct ambit__writer {
  ambit__text text;
  int depth; /* nesting level, two blanks each */
} ambit__writer;

void ambit__line(ambit__writer *w, const char *fmt, ...) AMBIT__FORMAT(2, 3);
/* line + " {", then one level deeper */
void ambit__open(ambit__writer *w, const char *fmt, ...) AMBIT__FORMAT(2, 3);
void ambit__close(ambit__writer *w); /* one level up, then "}" */

/* A line in pieces: begin, any number of ambit__print(&w->text, ...), end. */
void ambit__line_begin(ambit__writer *w);
void ambit__line_end(ambit__writer *w, const char *tail);

/* Returns the text, which the caller frees; NULL if out of memory. Resets the writer. */
char *ambit__writer_finish(ambit__writer *w);

#endif
