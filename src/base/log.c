/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

void ambit__log(const ambit__settings *settings, int level, const char *fmt, ...)
{
  va_list ap;

  if (settings->verbose < level) return;
  fputs(level ? "ambit: " : "ambit: warning: ", stderr);
  va_start(ap, fmt);
  vfprintf(stderr, fmt, ap);
  va_end(ap);
  fputc('\n', stderr);
}
