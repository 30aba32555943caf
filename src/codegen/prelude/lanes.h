/* SPDX-License-Identifier: BSD-3-Clause */
/* Narrow integers (codegen/narrow.h). */
#if defined(__clang__) && __clang_major__ >= 14
typedef unsigned _BitInt(8) lane_u8;
typedef _BitInt(8) lane_i8;
typedef unsigned _BitInt(16) lane_u16;
typedef _BitInt(16) lane_i16;
#else
typedef uint8_t lane_u8;
typedef int8_t lane_i8;
typedef uint16_t lane_u16;
typedef int16_t lane_i16;
#endif

/* The integer part of the square root of n, which is not negative, cut off at `most` <= 511: that
 * of n + 0.5, which is at least 0.5 / 1024 below the next integer. Floats from 2^23 to 2^24 are
 * integers, with their value in the lower bits: adding 2^23 converts, in more pipelines of ARM
 * processors than conversions have. */
AMBIT_INLINE int32_t ambit_root(int32_t n, int32_t most)
{
  const int32_t square = most * most;
  const float x = AMBIT_F32_OF((ambit_u32)(n < square ? n : square) | 0x4b000000u) - 8388607.5f;

  return (int32_t)(AMBIT_BITS_F32(sqrtf(x) + 8388607.5f) & 0x1ffu);
}
