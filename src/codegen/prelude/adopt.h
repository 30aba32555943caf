/* SPDX-License-Identifier: BSD-3-Clause */
/* Strict sums of kernels that users registered, whose second kernel leaves a rounded value in the
 * scalar. Compiled behind prelude/cuda.h or prelude/opencl.h, prelude/sums.h, and definitions of
 * KERNEL and GLOBAL. */

KERNEL AMBIT_THREADS(1, 1, 1) void ambit_set(GLOBAL ambit_i64 *to, ambit_i64 bits)
{
  *to = bits;
}

/* Adds the value of a scalar to the long accumulator behind it, which starts anew if there is not
 * `more` in it, and sets the value to that of the accumulator. */
KERNEL AMBIT_THREADS(1, 1, 1) void ambit_adopt(GLOBAL ambit_i64 *to, ambit_i64 more,
                                               ambit_i64 is_float)
{
  SHARED ambit_i64 value[AMBIT_LONG_WORDS], words[AMBIT_LONG_WORDS];

  for (int k = 0; k < AMBIT_LONG_WORDS; k++)
    ambit_long_clear(value, k);
  if (is_float) ambit_long_add_f32(value, *(GLOBAL const float *)to);
#if AMBIT_HAS_DOUBLE
  if (!is_float) ambit_long_add_f64(value, *(GLOBAL const double *)to);
#endif
  for (int k = 0; k < AMBIT_LONG_WORDS; k++)
    words[k] = ambit_long_get(value, k) + (more ? to[1 + k] : 0);
  ambit_long_carry(words);
  for (int k = 0; k < AMBIT_LONG_WORDS; k++)
    to[1 + k] = words[k];
  if (is_float)
    *(GLOBAL ambit_u32 *)to = ambit_long_bits_f32(words);
  else
    *(GLOBAL ambit_u64 *)to = ambit_long_bits_f64(words);
}
