/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of <math.h> in float, written so that compilers vectorise them: no branches, no tables,
 * no calls. Their error is below 2.5 units in the last place, that of tan below 3.5
 * (tests/codegen/test_math.c); special values are C's. An angle beyond 2^45, or 2^20 on processors
 * without fused multiplication and addition, is taken for another one. Not used in strict mode.
 * angles.h has what comes before, math_wide.h the same in double. */

/* Adding it rounds a number below 2^22 to an integer, held in the lowest bits. */
#define AMBIT_ROUND 0x1.8p23f
#define AMBIT_LN2   0.693147180559945309f
#define AMBIT_LOG2E 1.442695040888963407f

/* exp(r) - 1 for |r| <= log(2) / 2. */
AMBIT_INLINE float ambit_near_one(float r)
{
  float p = 1.0f / 5040;
  p = AMBIT_TERMS_3(p, r, 1.0f / 720, 1.0f / 120, 1.0f / 24);
  p = AMBIT_TERMS_2(p, r, 1.0f / 6, 0.5f);
  return r + r * r * p;
}

/* p * 2^n for t = n + AMBIT_ROUND, in two steps, as 2^n need not be a float. */
AMBIT_INLINE float ambit_scale(float p, float t)
{
  int32_t n = (int32_t)(AMBIT_BITS_F32(t) - AMBIT_BITS_F32(AMBIT_ROUND)), half = n >> 1;
  p *= AMBIT_F32_OF((uint32_t)(half + 127) << 23);
  return p * AMBIT_F32_OF((uint32_t)(n - half + 127) << 23);
}

/* x - n log(2), with log(2) in two parts. */
AMBIT_FORMULA(float, ambit_rest, (float x, float n), (x - n * 0x1.63p-1f) - n * -0x1.bd0106p-13f)

/* x = m 2^n for a positive number, m in [sqrt(1/2), sqrt(2)); n as a float. */
AMBIT_INLINE float ambit_mantissa(float x, float *n)
{
  float up = x < 0x1p-126f ? x * 0x1p23f : x, shift = x < 0x1p-126f ? 23.0f : 0.0f;
  uint32_t bits = AMBIT_BITS_F32(up), half = AMBIT_BITS_F32(0x1.6a09e6p-1f);
  int32_t k = (int32_t)(bits - half) >> 23;
  *n = (float)k - shift;
  return AMBIT_F32_OF(bits - ((uint32_t)k << 23));
}

/* The logarithm of its mantissa. */
AMBIT_INLINE float ambit_log_part(float x, float *n)
{
  float f = ambit_mantissa(x, n) - 1;
  float s = f / (2 + f), q = s * s, p = 2.0f / 9;
  p = AMBIT_TERMS_3(p, q, 2.0f / 7, 2.0f / 5, 2.0f / 3);
  return f - (0.5f * f * f - s * (0.5f * f * f + q * p));
}

/* What float and double have alike is written once. f and w end the names of functions: f and
 * nothing in float, nothing and _wide in double. */

/* Logarithms of x, from n and that of its mantissa. Those of 2 and 10 are in two parts. */
#define AMBIT_LOGARITHMS(T, f, w, log2e, high, low, high10, low10, log10e)                         \
  AMBIT_INLINE T ambit_log_end##w(T x, T y)                                                        \
  {                                                                                                \
    y = x == 0 ? (T)-INFINITY : y;                                                                 \
    y = x < 0 ? (T)NAN : y;                                                                        \
    return x < (T)INFINITY ? y : x; /* infinity, NaN */                                            \
  }                                                                                                \
  AMBIT_INLINE T ambit_log##f(T x)                                                                 \
  {                                                                                                \
    T n, p = ambit_log_part##w(x, &n);                                                             \
    return ambit_log_end##w(x, n * high + (n * low + p));                                          \
  }                                                                                                \
  AMBIT_INLINE T ambit_log2##f(T x)                                                                \
  {                                                                                                \
    T n, p = ambit_log_part##w(x, &n);                                                             \
    return ambit_log_end##w(x, n + p * log2e);                                                     \
  }                                                                                                \
  AMBIT_INLINE T ambit_log10##f(T x)                                                               \
  {                                                                                                \
    T n, p = ambit_log_part##w(x, &n);                                                             \
    return ambit_log_end##w(x, n * high10 + (n * low10 + p * log10e));                             \
  }
AMBIT_LOGARITHMS(float, f, , AMBIT_LOG2E, 0x1.63p-1f, -0x1.bd0106p-13f, 0x1.344p-2f,
                 0x1.3509f8p-18f, 0.434294481903251828f)

/* Powers of e and 2, and functions of exp(x) - 1, which is exact near 0 too: from x = n log(2) + r
 * and exp(r) - 1. Beyond `one` the 1 does not count, and 2^n need not be a number; beyond `flat`
 * tanh is 1. Results of arguments beyond `least` and `most` vanish and overflow. log1p is the
 * logarithm of 1 + x as it is rounded, and of what rounding lost. */
#define AMBIT_EXPONENTIALS(T, f, w, log2e, ln2, round, least, most, least2, most2, one, flat)      \
  AMBIT_INLINE T ambit_exp##f(T x)                                                                 \
  {                                                                                                \
    T d = ambit_within##w(x, least, most), t = d * log2e + round;                                  \
    return ambit_scale##w(1 + ambit_near_one##w(ambit_rest##w(d, t - round)), t);                  \
  }                                                                                                \
  AMBIT_INLINE T ambit_exp2##f(T x)                                                                \
  {                                                                                                \
    T d = ambit_within##w(x, least2, most2), t = d + round;                                        \
    return ambit_scale##w(1 + ambit_near_one##w((d - (t - round)) * ln2), t);                      \
  }                                                                                                \
  AMBIT_INLINE T ambit_less_one##w(T d, T *t, T *p)                                                \
  {                                                                                                \
    T s;                                                                                           \
    *t = d * log2e + round;                                                                        \
    *p = ambit_near_one##w(ambit_rest##w(d, *t - round));                                          \
    s = ambit_scale##w(1, *t);                                                                     \
    return (s - 1) + s * *p;                                                                       \
  }                                                                                                \
  AMBIT_INLINE T ambit_expm1##f(T x)                                                               \
  {                                                                                                \
    T t, p, e = ambit_less_one##w(ambit_within##w(x, least, most), &t, &p);                        \
    e = x > one ? ambit_scale##w(1 + p, t) : e;                                                    \
    return x == 0 ? x : e;                                                                         \
  }                                                                                                \
  AMBIT_INLINE T ambit_tanh##f(T x)                                                                \
  {                                                                                                \
    T t, p, e, d = 2 * ambit_within##w(x, -flat, flat);                                            \
    e = ambit_less_one##w(d < 0 ? -d : d, &t, &p);                                                 \
    e = e / (e + 2);                                                                               \
    return x < 0 ? -e : x > 0 ? e : x; /* -0, NaN */                                               \
  }                                                                                                \
  AMBIT_INLINE T ambit_half_exp##w(T x) /* exp(x) / 2 for x >= 0 */                                \
  {                                                                                                \
    T d = ambit_within##w(x, 0, most + 2), t = d * log2e + round;                                  \
    T p = ambit_near_one##w(ambit_rest##w(d, t - round));                                          \
    return ambit_scale##w((T)0.5 + (T)0.5 * p, t);                                                 \
  }                                                                                                \
  AMBIT_INLINE T ambit_sinh##f(T x)                                                                \
  {                                                                                                \
    T a = x < 0 ? -x : x, e = ambit_expm1##f(a), y = (T)0.5 * (e + e / (e + 1));                   \
    y = a > one ? ambit_half_exp##w(a) : y;                                                        \
    return x < 0 ? -y : x > 0 ? y : x; /* -0, NaN */                                               \
  }                                                                                                \
  AMBIT_INLINE T ambit_cosh##f(T x)                                                                \
  {                                                                                                \
    T h = ambit_half_exp##w(x < 0 ? -x : x);                                                       \
    return h + (T)0.25 / h;                                                                        \
  }                                                                                                \
  AMBIT_INLINE T ambit_log1p##f(T x)                                                               \
  {                                                                                                \
    T u = 1 + x, lost = (x - (u - 1)) / u;                                                         \
    lost = u > 0 ? lost : 0;                                                                       \
    lost = u < (T)INFINITY ? lost : 0;                                                             \
    return x == 0 ? x : ambit_log##f(u) + lost;                                                    \
  }                                                                                                \
  AMBIT_INLINE T ambit_round##f(T x)                                                               \
  {                                                                                                \
    T a = x < 0 ? -x : x, whole = trunc##f(a);                                                     \
    whole = a - whole >= (T)0.5 ? whole + 1 : whole;                                               \
    return copysign##f(whole, x);                                                                  \
  }
AMBIT_EXPONENTIALS(float, f, , AMBIT_LOG2E, AMBIT_LN2, AMBIT_ROUND, -104, 89, -151, 129, 20, 10)

/* The logarithm of a positive number to base 2, exact to 1e-13. */
AMBIT_INLINE double ambit_log2_wide(float x)
{
  float n, m = ambit_mantissa(x, &n);
  double f = (double)m - 1, s = f / (2 + f), q = s * s, p = 1.0 / 15;
  p = AMBIT_TERMS_3(p, q, 1.0 / 13, 1.0 / 11, 1.0 / 9);
  p = AMBIT_TERMS_3(p, q, 1.0 / 7, 1.0 / 5, 1.0 / 3);
  return (double)n + 2.885390081777926814720 * (s + s * q * p);
}

/* 2^z, rounded once from a value exact to 1e-9. Numbers beyond 160 overflow or vanish anyway. */
AMBIT_INLINE float ambit_exp2_wide(double z)
{
  double least = z < -160 ? -160 : z, d = least > 160 ? 160 : least, t = d + AMBIT_ROUND_WIDE;
  double r = (d - (t - AMBIT_ROUND_WIDE)) * 0.69314718055994530942, p = 1.0 / 40320;
  uint64_t n = AMBIT_BITS_F64(t) - AMBIT_BITS_F64(AMBIT_ROUND_WIDE);
  p = AMBIT_TERMS_3(p, r, 1.0 / 5040, 1.0 / 720, 1.0 / 120);
  p = AMBIT_TERMS_3(p, r, 1.0 / 24, 1.0 / 6, 0.5);
  p = 1 + (r + r * r * p);
  return (float)(p * AMBIT_F64_OF((n + 1023) << 52));
}

/* The nearest integer to a number below 2^23, not negative; all above are integers. */
AMBIT_INLINE float ambit_whole(float x)
{
  float c = x > 0x1p23f ? 0x1p23f : x, whole = (c + 0x1p23f) - 0x1p23f;
  return whole == c ? x : whole;
}

/* pow(x, y), of r = pow(|x|, y) by logarithms, with the signs, zeros, infinities and NaN of C. One
 * selection after the other, as gcc makes branches of conditions in conditions. `whole` rounds to
 * an integer, or towards 0; `is_negative` tests the sign of x, also of -0. */
#define AMBIT_POWER_END(T, f, whole, is_negative)                                                  \
  AMBIT_INLINE T ambit_pow_end##f(T x, T y, T r)                                                   \
  {                                                                                                \
    T a = x < 0 ? -x : x, b = y < 0 ? -y : y, half = (T)0.5 * b;                                   \
    T at_0 = y > 0 ? 0 : (T)INFINITY, at_infinity = y > 0 ? (T)INFINITY : 0;                       \
    T parity = whole(half) == half ? (T)1 : (T)-1, sign = whole(b) == b ? parity : (T)NAN;         \
    T sign_at_ends = whole(b) == b ? parity : 1;                                                   \
    r = a == 0 ? at_0 : r;                                                                         \
    r = a == (T)INFINITY ? at_infinity : r;                                                        \
    r = a == 1 ? 1 : r;                                                                            \
    sign = a == 0 ? sign_at_ends : sign;                                                           \
    sign = a == (T)INFINITY ? sign_at_ends : sign;                                                 \
    sign = is_negative ? sign : 1;                                                                 \
    r = x == x ? r * sign : x;                                                                     \
    r = y == y ? r : y;                                                                            \
    r = x == 1 ? 1 : r;                                                                            \
    return y == 0 ? 1 : r;                                                                         \
  }
AMBIT_POWER_END(float, f, ambit_whole, (int32_t)AMBIT_BITS_F32(x) < 0)

AMBIT_INLINE float ambit_powf(float x, float y)
{
  float a = x < 0 ? -x : x;
  return ambit_pow_endf(x, y, ambit_exp2_wide((double)y * ambit_log2_wide(a)));
}

/* From the angle of a point. */
#define AMBIT_ARCS(T, f)                                                                           \
  AMBIT_FORMULA(T, ambit_atan##f, (T x), ambit_atan2##f(x, 1))                                     \
  AMBIT_FORMULA(T, ambit_asin##f, (T x), ambit_atan2##f(x, sqrt##f((1 - x) * (1 + x))))            \
  AMBIT_FORMULA(T, ambit_acos##f, (T x), ambit_atan2##f(sqrt##f((1 - x) * (1 + x)), x))
AMBIT_ARCS(float, f)

AMBIT_INLINE float ambit_hypotf(float x, float y)
{
  float r = (float)sqrt((double)x * (double)x + (double)y * (double)y);
  r = x == INFINITY ? INFINITY : r;
  r = x == -INFINITY ? INFINITY : r;
  r = y == INFINITY ? INFINITY : r;
  return y == -INFINITY ? INFINITY : r;
}
