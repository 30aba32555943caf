/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

static void print(const char *start, const char *fmt, va_list ap)
{
  fputs(start, stderr);
  vfprintf(stderr, fmt, ap);
  fputc('\n', stderr);
}

void ambit__log(const ambit__settings *settings, int level, const char *fmt, ...)
{
  va_list ap;

  if (settings->verbose < level) return;
  va_start(ap, fmt);
  print(level ? "ambit: " : "ambit: warning: ", fmt, ap);
  va_end(ap);
}

void ambit__say(const ambit__settings *settings, const char *fmt, ...)
{
  va_list ap;

  if (settings->verbose < 0) return;
  va_start(ap, fmt);
  print("ambit: ", fmt, ap);
  va_end(ap);
}
