/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const char *ambit_status_name(ambit_status s)
{
  switch (s) {
#define X(name, value, text)                                                                       \
  case AMBIT_##name: return #name;
    AMBIT_STATUS_MAP(X)
#undef X
  }
  return "EUNKNOWN";
}

const char *ambit_status_text(ambit_status s)
{
  switch (s) {
#define X(name, value, text)                                                                       \
  case AMBIT_##name: return text;
    AMBIT_STATUS_MAP(X)
#undef X
  }
  return "unknown status code";
}

ambit_status(ambit__raise)(ambit__errors *errors, ambit_status code, const char *fmt, ...)
{
  va_list ap;
  int n;

  if (!errors || errors->status) return code;
  errors->status = code;
  va_start(ap, fmt);
  n = vsnprintf(NULL, 0, fmt, ap);
  va_end(ap);
  errors->text = n < 0 ? NULL : malloc((size_t)n + 1);
  if (errors->text) {
    va_start(ap, fmt);
    vsnprintf(errors->text, (size_t)n + 1, fmt, ap);
    va_end(ap);
  }
  errors->untold = true;
  if (!errors->waits) ambit__errors_tell(errors);
  return code;
}

void ambit__errors_tell(ambit__errors *errors)
{
  const ambit_status s = errors->status;

  if (!errors->untold) return;
  errors->untold = false;
  errors->telling = true;
  if (errors->handler)
    errors->handler(s, errors->text ? errors->text : ambit_status_text(s), errors->user);
  errors->telling = false;
}

void ambit__errors_clear(ambit__errors *errors)
{
  free(errors->text);
  errors->text = NULL;
  errors->status = AMBIT_OK;
  errors->untold = errors->agreed = false;
}
