/* SPDX-License-Identifier: BSD-3-Clause */
/* exact.c - the long accumulator of generated code, for the library itself. */
#include "codegen/exact.h"

#include <assert.h>
#include <string.h>

#include "codegen/prelude/c.h"

#include "codegen/prelude/sums.h"

static_assert((int)AMBIT__LONG_WORDS == AMBIT_LONG_WORDS, "one size");

void ambit__long_add(ambit__long *sum, double x)
{
  ambit_long_add_f64(sum->words, x);
}

/* The other is carried first, so that it counts as one addition. */
void ambit__long_join(ambit__long *sum, const ambit__long *other)
{
  ambit__long more = *other;

  ambit_long_carry(more.words);
  for (int k = 0; k < AMBIT_LONG_WORDS; k++)
    sum->words[k] += more.words[k];
}

double ambit__long_value(const ambit__long *sum, ambit_type type)
{
  ambit__long copy = *sum;
  uint64_t bits;
  uint32_t short_bits;
  double x;
  float y;

  ambit_long_carry(copy.words);
  if (type == AMBIT_F32) {
    short_bits = ambit_long_bits_f32(copy.words);
    memcpy(&y, &short_bits, sizeof y);
    return (double)y;
  }
  bits = ambit_long_bits_f64(copy.words);
  memcpy(&x, &bits, sizeof x);
  return x;
}
