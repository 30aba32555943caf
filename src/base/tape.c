/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/tape.h"

#include <stdlib.h>
#include <string.h>

void ambit__tape_put(ambit__tape *t, const void *bytes, size_t n)
{
  if (n > t->cap - t->n && !t->failed) {
    const size_t cap = 2 * t->cap + n;
    unsigned char *bigger = realloc(t->bytes, cap);

    t->failed = !bigger;
    if (bigger) t->bytes = bigger;
    if (bigger) t->cap = cap;
  }
  if (t->failed || !n) return;
  memcpy(t->bytes + t->n, bytes, n);
  t->n += n;
}

void ambit__tape_get(ambit__tape *t, void *bytes, size_t n)
{
  t->failed |= n > t->n - t->at;
  if (n && t->failed)
    memset(bytes, 0, n);
  else if (n)
    memcpy(bytes, t->bytes + t->at, n);
  if (!t->failed) t->at += n;
}

void ambit__tape_put_number(ambit__tape *t, int64_t x)
{
  ambit__tape_put(t, &x, sizeof x);
}

int64_t ambit__tape_get_number(ambit__tape *t)
{
  int64_t x;

  ambit__tape_get(t, &x, sizeof x);
  return x;
}

void ambit__tape_free(ambit__tape *t)
{
  free(t->bytes);
  *t = (ambit__tape){0};
}
