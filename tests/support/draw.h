/* SPDX-License-Identifier: BSD-3-Clause */
/* draw.h - random numbers for tests, reproducible from `state`. */
#ifndef AMBIT_TEST_DRAW_H
#define AMBIT_TEST_DRAW_H

#include <stddef.h>
#include <stdint.h>

static uint64_t state;

static inline int64_t draw(int64_t n) /* 0..n-1 */
{
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)((state >> 33) % (uint64_t)n);
}

static inline void draw_bytes(unsigned char *p, size_t n)
{
  for (size_t i = 0; i < n; i++)
    p[i] = (unsigned char)draw(128); /* avoids the bit patterns of NaN */
}

#endif
