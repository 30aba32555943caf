/* SPDX-License-Identifier: BSD-3-Clause */
/* integers.h - the smaller and the larger of two numbers, and quotients that are rounded up. */
#ifndef AMBIT_BASE_INTEGERS_H
#define AMBIT_BASE_INTEGERS_H

#include <stdint.h>

static inline int ambit__min(int a, int b)
{
  return a < b ? a : b;
}

static inline int ambit__max(int a, int b)
{
  return a > b ? a : b;
}

static inline int64_t ambit__min64(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

static inline int64_t ambit__max64(int64_t a, int64_t b)
{
  return a > b ? a : b;
}

/* How many pieces of `unit`, the last of which need not be full; 0 of a number below 0. And the
 * multiple of it that they have together. */
static inline int64_t ambit__pieces(int64_t n, int64_t unit)
{
  return n > 0 ? (n - 1) / unit + 1 : 0;
}

static inline int64_t ambit__round_up(int64_t n, int64_t unit)
{
  return ambit__pieces(n, unit) * unit;
}

#endif
