/* writer.h - indented lines: the one place where generated code is put together. */
#ifndef AMBIT_CODEGEN_WRITER_H
#define AMBIT_CODEGEN_WRITER_H

#include "base/text.h"

typedef struct ambit__writer {
  ambit__text text;
  int depth; /* current nesting, two blanks each */
} ambit__writer;

void ambit__line(ambit__writer *w, const char *fmt, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 2, 3)))
#endif
    ;
void ambit__open(ambit__writer *w, const char *fmt, ...) /* line + " {", then one level deeper */
#ifdef __GNUC__
    __attribute__((format(printf, 2, 3)))
#endif
    ;
void ambit__close(ambit__writer *w); /* one level up, then "}" */

/* A line in pieces: begin, any number of ambit__print(&w->text, ...), end. */
void ambit__line_begin(ambit__writer *w);
void ambit__line_end(ambit__writer *w, const char *tail);

/* Hands the text over (free() it), or returns NULL when memory ran out. Resets the writer. */
char *ambit__writer_finish(ambit__writer *w);

#endif
