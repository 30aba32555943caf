/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of <math.h> in float, written so that compilers vectorise them: no branches, no tables,
 * no calls. Their error is below 2.5 units in the last place (tests/codegen/test_math.c); special
 * values are C's. Not used in strict mode. */

AMBIT_INLINE int32_t ambit_bits(float x)
{
  int32_t n;
  __builtin_memcpy(&n, &x, sizeof n);
  return n;
}

AMBIT_INLINE float ambit_from_bits(int32_t n)
{
  float x;
  __builtin_memcpy(&x, &n, sizeof x);
  return x;
}

/* Adding it rounds a number below 2^22 to an integer, held in the lowest bits. */
#define AMBIT_ROUND 0x1.8p23f
#define AMBIT_LN2   0.693147180559945309f
#define AMBIT_LOG2E 1.442695040888963407f

/* Limits arguments whose results overflow or vanish anyway; keeps NaN. */
AMBIT_INLINE float ambit_within(float x, float least, float most)
{
  x = x < least ? least : x;
  return x > most ? most : x;
}

/* exp(r) - 1 for |r| <= log(2) / 2. */
AMBIT_INLINE float ambit_near_one(float r)
{
  float p = 1.0f / 5040;
  p = p * r + 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  return r + r * r * p;
}

/* p * 2^n for t = n + AMBIT_ROUND, in two steps, as 2^n need not be a float. */
AMBIT_INLINE float ambit_scale(float p, float t)
{
  int32_t n = ambit_bits(t) - ambit_bits(AMBIT_ROUND), half = n >> 1;
  p *= ambit_from_bits((int32_t)((uint32_t)(half + 127) << 23));
  return p * ambit_from_bits((int32_t)((uint32_t)(n - half + 127) << 23));
}

/* x - n log(2), with log(2) in two parts. */
AMBIT_INLINE float ambit_rest(float x, float n)
{
  return (x - n * 0x1.63p-1f) - n * -0x1.bd0106p-13f;
}

AMBIT_INLINE float ambit_expf(float x)
{
  float d = ambit_within(x, -104, 89), t = d * AMBIT_LOG2E + AMBIT_ROUND;
  return ambit_scale(1 + ambit_near_one(ambit_rest(d, t - AMBIT_ROUND)), t);
}

AMBIT_INLINE float ambit_exp2f(float x)
{
  float d = ambit_within(x, -151, 129), t = d + AMBIT_ROUND;
  return ambit_scale(1 + ambit_near_one((d - (t - AMBIT_ROUND)) * AMBIT_LN2), t);
}

/* From exp(2 |x|) - 1, which is exact enough near 0 too. */
AMBIT_INLINE float ambit_tanhf(float x)
{
  float d = 2 * ambit_within(x, -10, 10), t, s, e;
  d = d < 0 ? -d : d;
  t = d * AMBIT_LOG2E + AMBIT_ROUND;
  s = ambit_scale(1, t);
  e = (s - 1) + s * ambit_near_one(ambit_rest(d, t - AMBIT_ROUND));
  e = e / (e + 2);
  return x < 0 ? -e : x > 0 ? e : x; /* -0, NaN */
}

/* x = m 2^n for a positive number, m in [sqrt(1/2), sqrt(2)); n as a float. */
AMBIT_INLINE float ambit_mantissa(float x, float *n)
{
  float up = x < 0x1p-126f ? x * 0x1p23f : x, shift = x < 0x1p-126f ? 23.0f : 0.0f;
  uint32_t bits = (uint32_t)ambit_bits(up), half = (uint32_t)ambit_bits(0x1.6a09e6p-1f);
  int32_t k = (int32_t)(bits - half) >> 23;
  *n = (float)k - shift;
  return ambit_from_bits((int32_t)(bits - ((uint32_t)k << 23)));
}

/* The logarithm of its mantissa. */
AMBIT_INLINE float ambit_log_part(float x, float *n)
{
  float f = ambit_mantissa(x, n) - 1;
  float s = f / (2 + f), q = s * s, p = 2.0f / 9;
  p = p * q + 2.0f / 7;
  p = p * q + 2.0f / 5;
  p = p * q + 2.0f / 3;
  return f - (0.5f * f * f - s * (0.5f * f * f + q * p));
}

/* The result of a logarithm of x, unless x is special. */
AMBIT_INLINE float ambit_log_end(float x, float y)
{
  y = x == 0 ? -INFINITY : y;
  y = x < 0 ? NAN : y;
  return x < INFINITY ? y : x; /* infinity, NaN */
}

AMBIT_INLINE float ambit_logf(float x)
{
  float n, p = ambit_log_part(x, &n);
  return ambit_log_end(x, n * 0x1.63p-1f + (n * -0x1.bd0106p-13f + p));
}

AMBIT_INLINE float ambit_log2f(float x)
{
  float n, p = ambit_log_part(x, &n);
  return ambit_log_end(x, n + p * AMBIT_LOG2E);
}

AMBIT_INLINE float ambit_log10f(float x)
{
  float n, p = ambit_log_part(x, &n);
  return ambit_log_end(x, n * 0x1.344p-2f + (n * 0x1.3509f8p-18f + p * 0.434294481903251828f));
}

/* The logarithm of a positive number to base 2, exact to 1e-13. */
AMBIT_INLINE double ambit_log2_wide(float x)
{
  float n, m = ambit_mantissa(x, &n);
  double f = (double)m - 1, s = f / (2 + f), q = s * s, p = 1.0 / 15;
  p = p * q + 1.0 / 13;
  p = p * q + 1.0 / 11;
  p = p * q + 1.0 / 9;
  p = p * q + 1.0 / 7;
  p = p * q + 1.0 / 5;
  p = p * q + 1.0 / 3;
  return (double)n + 2.885390081777926814720 * (s + s * q * p);
}

/* Adding it rounds a number below 2^51 to an integer, held in the lowest bits. */
#define AMBIT_ROUND_WIDE 0x1.8p52

AMBIT_INLINE int64_t ambit_bits_wide(double x)
{
  int64_t n;
  __builtin_memcpy(&n, &x, sizeof n);
  return n;
}

AMBIT_INLINE double ambit_from_bits_wide(int64_t n)
{
  double x;
  __builtin_memcpy(&x, &n, sizeof x);
  return x;
}

/* 2^z, rounded once from a value exact to 1e-9. Numbers beyond 160 overflow or vanish anyway. */
AMBIT_INLINE float ambit_exp2_wide(double z)
{
  double least = z < -160 ? -160 : z, d = least > 160 ? 160 : least, t = d + AMBIT_ROUND_WIDE;
  double r = (d - (t - AMBIT_ROUND_WIDE)) * 0.69314718055994530942, p = 1.0 / 40320;
  int64_t n = ambit_bits_wide(t) - ambit_bits_wide(AMBIT_ROUND_WIDE);
  p = p * r + 1.0 / 5040;
  p = p * r + 1.0 / 720;
  p = p * r + 1.0 / 120;
  p = p * r + 1.0 / 24;
  p = p * r + 1.0 / 6;
  p = p * r + 0.5;
  p = 1 + (r + r * r * p);
  return (float)(p * ambit_from_bits_wide((int64_t)((uint64_t)(n + 1023) << 52)));
}

/* The nearest integer to a number below 2^23, not negative; all above are integers. */
AMBIT_INLINE float ambit_whole(float x)
{
  float c = x > 0x1p23f ? 0x1p23f : x, whole = (c + 0x1p23f) - 0x1p23f;
  return whole == c ? x : whole;
}

/* Of |x| by logarithms; then the signs, zeros, infinities and NaN of C. One selection after the
 * other, as gcc makes branches of conditions in conditions. */
AMBIT_INLINE float ambit_powf(float x, float y)
{
  float a = x < 0 ? -x : x, b = y < 0 ? -y : y, half = 0.5f * b;
  float r = ambit_exp2_wide((double)y * ambit_log2_wide(a));
  float at_0 = y > 0 ? 0.0f : INFINITY, at_infinity = y > 0 ? INFINITY : 0.0f;
  float parity = ambit_whole(half) == half ? 1.0f : -1.0f;
  float sign = ambit_whole(b) == b ? parity : NAN,
        sign_at_ends = ambit_whole(b) == b ? parity : 1.0f;
  r = a == 0 ? at_0 : r;
  r = a == INFINITY ? at_infinity : r;
  r = a == 1 ? 1.0f : r;
  sign = a == 0 ? sign_at_ends : sign;
  sign = a == INFINITY ? sign_at_ends : sign;
  sign = ambit_bits(x) < 0 ? sign : 1.0f;
  r = x == x ? r * sign : x;
  r = y == y ? r : y;
  r = x == 1 ? 1.0f : r;
  return y == 0 ? 1.0f : r;
}
