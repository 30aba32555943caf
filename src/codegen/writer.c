/* SPDX-License-Identifier: BSD-3-Clause */
#include "codegen/writer.h"

void ambit__line_begin(ambit__writer *w)
{
  ambit__print(&w->text, "%*s", 2 * w->depth, "");
}

void ambit__line_end(ambit__writer *w, const char *tail)
{
  ambit__print(&w->text, "%s\n", tail);
}

void ambit__line(ambit__writer *w, const char *fmt, ...)
{
  va_list ap;

  ambit__line_begin(w);
  va_start(ap, fmt);
  ambit__vprint(&w->text, fmt, ap);
  va_end(ap);
  ambit__line_end(w, "");
}

void ambit__open(ambit__writer *w, const char *fmt, ...)
{
  va_list ap;

  ambit__line_begin(w);
  va_start(ap, fmt);
  ambit__vprint(&w->text, fmt, ap);
  va_end(ap);
  ambit__line_end(w, " {");
  w->depth++;
}

void ambit__close(ambit__writer *w)
{
  w->depth--;
  ambit__line(w, "}");
}

char *ambit__writer_finish(ambit__writer *w)
{
  char *text = ambit__text_finish(&w->text);

  w->depth = 0;
  return text;
}
