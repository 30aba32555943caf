/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/bounds.h"

ambit_status ambit__bounds_begin(ambit__errors *errors, const ambit__layout *l, ambit__buffer *b)
{
  if (!l || !l->active) return AMBIT_OK;
  b->bounds = ambit__new(errors, (size_t)l->components, sizeof *b->bounds);
  return b->bounds ? AMBIT_OK : AMBIT_ENOMEM;
}

bool ambit__bounds_are(const ambit__buffer *b, int first, int n, const ambit__boundaries *of)
{
  for (int c = first; c < first + n; c++)
    if (!b->bounds[c].known || !ambit__boundaries_equal(&b->bounds[c].of, of)) return false;
  return true;
}

bool ambit__bounds_are_new(const ambit__buffer *b, int first, int n)
{
  for (int c = first; c < first + n; c++)
    if (b->bounds[c].known) return false;
  return !b->unset;
}

void ambit__bounds_note(ambit__buffer *b, int first, int n, const ambit__boundaries *of)
{
  for (int c = first; c < first + n; c++)
    b->bounds[c] = (ambit__bounds){.known = true, .of = *of};
}
