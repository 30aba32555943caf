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

/* A sum of values in a row (nest/rows_narrow.c), which compilers that read the text do not mix with
 * what it is added to: gcc 12 makes 725 instead of 687 vector instructions of Sobel without. */
#define AMBIT_ROW(T)                                                                               \
  AMBIT_INLINE T ambit_row_##T(T sum)                                                              \
  {                                                                                                \
    return sum;                                                                                    \
  }
AMBIT_ROW(lane_u8)
AMBIT_ROW(lane_i8)
AMBIT_ROW(lane_u16)
AMBIT_ROW(lane_i16)
AMBIT_ROW(int32_t)

/* The integer part of x, which is not negative, or of `most` if that is less or x is NaN: without
 * the masks of conversions that saturate. As unsigned integers, the bits of positive numbers are in
 * the order of the numbers, and those of NaN are larger; -0 + 0 is 0. */
AMBIT_INLINE int32_t ambit_natural(float x, float most)
{
  const ambit_u32 bits = AMBIT_BITS_F32(x + 0.0f), last = AMBIT_BITS_F32(most);

  return (int32_t)AMBIT_F32_OF(bits < last ? bits : last);
}

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

/* The same with a root of at most 255. An ambit_squared is a square or a sum of squares; it may be
 * cut off at 255^2 on the way, and has 16 bits then.
 *
 * Where halves have instructions, these are faster than the divider's roots. The bits of x, halved
 * and subtracted from a constant, are those of y, about 0.79 / sqrt(x). A step of Newton's method,
 * x y (1.893 - x y y), exceeds the root by less than 1, with and without fused operations, for all
 * numbers (tests/codegen/test_lanes.c). So its integer part is right or the next one. */
#if defined(__AVX512FP16__) && !defined(AMBIT_HALF_ROOTS)
#  define AMBIT_HALF_ROOTS 1
#endif
#if AMBIT_HALF_ROOTS
typedef lane_u16 ambit_squared;

AMBIT_INLINE ambit_squared ambit_cut(int32_t n)
{
  return (ambit_squared)(n < 65025 ? n : 65025);
}
AMBIT_INLINE ambit_squared ambit_square(int32_t x)
{
  const int32_t below = x < 255 ? x : 255, size = below > -255 ? below : -255;

  return (ambit_squared)(size * size);
}
AMBIT_INLINE ambit_squared ambit_squares(ambit_squared a, ambit_squared b)
{
  const ambit_squared room = (ambit_squared)(65025 - a);

  return (ambit_squared)(a + (b < room ? b : room));
}
typedef union ambit_half_word {
  _Float16 x;
  uint16_t bits;
} ambit_half_word;
AMBIT_INLINE lane_u8 ambit_byte_root(ambit_squared n)
{
  const ambit_half_word x = {(_Float16)n}, y = {.bits = (uint16_t)(0x585c - (x.bits >> 1))};
  const _Float16 near = x.x * y.x;
  const lane_u16 root = (lane_u16)(near * ((_Float16)1.893f - near * y.x));

  return (lane_u8)((lane_u16)(root * root) > n ? (lane_u16)(root - 1) : root);
}
#else
typedef int32_t ambit_squared;

AMBIT_INLINE ambit_squared ambit_cut(int32_t n)
{
  return n;
}
AMBIT_INLINE ambit_squared ambit_square(int32_t x)
{
  return x * x;
}
AMBIT_INLINE ambit_squared ambit_squares(ambit_squared a, ambit_squared b)
{
  return a + b;
}
AMBIT_INLINE lane_u8 ambit_byte_root(ambit_squared n)
{
  return (lane_u8)ambit_root(n, 255);
}
#endif
