/* SPDX-License-Identifier: BSD-3-Clause */
#include "codegen/dialect.h"

extern const char ambit__prelude_arithmetic[]; /* prelude/arithmetic.h, embedded by the build */

void ambit__dialect_print(const ambit__dialect *d, ambit__text *t)
{
  ambit__print(t, "%s\n%s", d->prelude, ambit__prelude_arithmetic);
  if (d->helpers) ambit__print(t, "\n%s", d->helpers);
}
