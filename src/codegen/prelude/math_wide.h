/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of <math.h> in double, as those of math.h, which comes before. Processors without fused
 * multiplication and addition call the library where the parts of a number would be lost. */

#define AMBIT_LN2_WIDE   0x1.62e42fefa39efp-1
#define AMBIT_LOG2E_WIDE 0x1.71547652b82fep+0

AMBIT_INLINE double ambit_within_wide(double x, double least, double most)
{
  x = x < least ? least : x;
  return x > most ? most : x;
}

/* exp(r) - 1 for |r| <= log(2) / 2. */
AMBIT_INLINE double ambit_near_one_wide(double r)
{
  double p = 0x1.1f730349868cep-29;
  p = AMBIT_TERMS_3(p, r, 0x1.af4de97ca4194p-26, 0x1.27e4db646b17ep-22, 0x1.71de0231960ebp-19);
  p = AMBIT_TERMS_3(p, r, 0x1.a01a01a6d889cp-16, 0x1.a01a01abe7fe1p-13, 0x1.6c16c16c162d4p-10);
  p = AMBIT_TERMS_2(p, r, 0x1.11111111100dcp-7, 0x1.5555555555556p-5);
  p = AMBIT_TERMS_2(p, r, 0x1.5555555555557p-3, 0.5);
  return r + r * r * p;
}

/* p * 2^n for t = n + AMBIT_ROUND_WIDE, in two steps, as 2^n need not be a double. */
AMBIT_INLINE double ambit_scale_wide(double p, double t)
{
  uint64_t n = AMBIT_BITS_F64(t) - AMBIT_BITS_F64(AMBIT_ROUND_WIDE) + 4096;
  uint64_t half = n >> 1;
  p *= AMBIT_F64_OF((half - 2048 + 1023) << 52);
  return p * AMBIT_F64_OF((n - half - 2048 + 1023) << 52);
}

/* x - n log(2), with log(2) in two parts. */
AMBIT_FORMULA(double, ambit_rest_wide, (double x, double n),
              (x - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33)

/* x = m 2^n for a positive number, m in [sqrt(1/2), sqrt(2)); n as a double. */
AMBIT_INLINE double ambit_mantissa_wide(double x, double *n)
{
  double up = x < 0x1p-1022 ? x * 0x1p52 : x, shift = x < 0x1p-1022 ? 52.0 : 0.0;
  uint64_t bits = AMBIT_BITS_F64(up), half = AMBIT_BITS_F64(0x1.6a09e667f3bcdp-1);
  uint64_t k = (bits - half + ((uint64_t)1024 << 52)) >> 52;
  *n = (AMBIT_F64_OF(k + ((uint64_t)1075 << 52)) - (0x1p52 + 1024)) - shift;
  return AMBIT_F64_OF(bits - ((k - 1024) << 52));
}

/* The logarithm of its mantissa. */
AMBIT_INLINE double ambit_log_part_wide(double x, double *n)
{
  double f = ambit_mantissa_wide(x, n) - 1, s = f / (2 + f), q = s * s;
  double p = 0x1.2b59b72303a80p-3;
  p = AMBIT_TERMS_3(p, q, 0x1.39fe42e7f5437p-3, 0x1.7462b58e55002p-3, 0x1.c71c62e261c91p-3);
  p = AMBIT_TERMS_3(p, q, 0x1.2492492df3baep-2, 0x1.99999999952ccp-2, 0x1.5555555555558p-1);
  return f - (0.5 * f * f - s * (0.5 * f * f + q * p));
}

AMBIT_LOGARITHMS(double, , _wide, AMBIT_LOG2E_WIDE, 0x1.62e42feep-1, 0x1.a39ef35793c76p-33,
                 0x1.34413508p-2, 0x1.f79fef311f12bp-34, 0x1.bcb7b1526e50ep-2)
AMBIT_EXPONENTIALS(double, , _wide, AMBIT_LOG2E_WIDE, AMBIT_LN2_WIDE, AMBIT_ROUND_WIDE, -746, 710,
                   -1080, 1025, 40, 20)

/* As in float; an octant is divided once more, at tan(pi / 8). Angles have two parts. */
AMBIT_INLINE double ambit_atan2(double y, double x)
{
  double a = x < 0 ? -x : x, b = y < 0 ? -y : y;
  double least = a > b ? b : a, most = a > b ? a : b, size = most > 0x1p1000 ? 0x1p-4 : 1.0;
  double l = least * size, m = most * size, up = l > 0x1.a827999fcef32p-2 * m ? l - m : l;
  double down = l > 0x1.a827999fcef32p-2 * m ? l + m : m;
  double high = l > 0x1.a827999fcef32p-2 * m ? 0x1.921fb54442d18p-1 : 0.0;
  double low = l > 0x1.a827999fcef32p-2 * m ? 0x1.1a62633145c07p-55 : 0.0;
  double t, q, p = 0x1.0ac7d2c47839cp-6;
  high = least == most ? 0x1.921fb54442d18p-1 : high;
  low = least == most ? 0x1.1a62633145c07p-55 : low;
  high = most == 0 ? 0.0 : high;
  low = most == 0 ? 0.0 : low;
  t = least == most ? 0.0 : up / down;
  q = t * t;
  p = AMBIT_TERMS_3(p, q, -0x1.1b2e7e27c030fp-5, 0x1.74dbcb5711d5ap-5, -0x1.ac7a21624c6d9p-5);
  p = AMBIT_TERMS_3(p, q, 0x1.e19a043982dbep-5, -0x1.110e875de30b4p-4, 0x1.3b1392d04b488p-4);
  p = AMBIT_TERMS_3(p, q, -0x1.745d165d9edfbp-4, 0x1.c71c71c30300ap-4, -0x1.249249248d7cap-3);
  p = AMBIT_TERMS_2(p, q, 0x1.9999999999953p-3, -0x1.5555555555555p-2);
  p = t + t * q * p;
  high = b > a ? 0x1.921fb54442d18p+0 - high : high;
  low = b > a ? 0x1.1a62633145c07p-54 - low : low;
  p = b > a ? -p : p;
  high = (int64_t)AMBIT_BITS_F64(x) < 0 ? 0x1.921fb54442d18p+1 - high : high;
  low = (int64_t)AMBIT_BITS_F64(x) < 0 ? 0x1.1a62633145c07p-53 - low : low;
  p = (int64_t)AMBIT_BITS_F64(x) < 0 ? -p : p;
  p = high + (low + p);
  return (int64_t)AMBIT_BITS_F64(y) < 0 ? -p : p;
}

AMBIT_ARCS(double, )

/* The larger side times the root of 1 + the square of the quotient. */
AMBIT_INLINE double ambit_hypot(double x, double y)
{
  double a = x < 0 ? -x : x, b = y < 0 ? -y : y, least = a > b ? b : a, most = a > b ? a : b;
  double t = least / most, r = most * sqrt(1 + t * t);
  r = most == 0 ? least + 0.0 : r; /* 0 or NaN */
  r = a == INFINITY ? INFINITY : r;
  return b == INFINITY ? INFINITY : r;
}

#if AMBIT_HAS_FMA
/* x - n pi / 2, as in float, with pi in three parts. */
AMBIT_INLINE double ambit_turn_wide(double x, int64_t *quarter)
{
  double t = x * 0x1.45f306dc9c883p-1 + AMBIT_ROUND_WIDE, n = t - AMBIT_ROUND_WIDE, r;
  *quarter = (int64_t)AMBIT_BITS_F64(t);
  r = __builtin_fma(-n, 0x1.921fb54442d18p+0, x);
  r = __builtin_fma(-n, 0x1.1a62633145c07p-54, r);
  r = __builtin_fma(-n, -0x1.f1976b7ed8fbcp-110, r);
  return ambit_within_wide(r, -0.8, 0.8);
}

AMBIT_INLINE double ambit_near_sin_wide(double r)
{
  double q = r * r, p = 0x1.5e0b05bfdc8d0p-33;
  p = AMBIT_TERMS_3(p, q, -0x1.ae600aca927d4p-26, 0x1.71de3796542ffp-19, -0x1.a01a019e83816p-13);
  p = AMBIT_TERMS_2(p, q, 0x1.1111111110bb2p-7, -0x1.5555555555555p-3);
  return r + r * (q * p);
}

AMBIT_INLINE double ambit_near_cos_wide(double r)
{
  double q = r * r, p = -0x1.907d8f29e8fc6p-37;
  p = AMBIT_TERMS_3(p, q, 0x1.1eeb68cd22d0ep-29, -0x1.27e4fa17bf136p-22, 0x1.a01a019f4e9b4p-16);
  p = AMBIT_TERMS_2(p, q, -0x1.6c16c16c16967p-10, 0x1.5555555555555p-5);
  return q * q * p + (1 - 0.5 * q);
}

AMBIT_ANGLES(double, int64_t, , _wide)

/* The logarithm of a positive number to base 2, as a sum of two doubles, exact to 2^-66: the
 * logarithm of a mantissa m is that of (1 + s) / (1 - s), s = (m - 1) / (m + 1), in odd powers of
 * s. A product of which the rest is taken is written as fma(a, b, 0): compilers fuse others. */
AMBIT_INLINE double ambit_log2_parts(double x, double *low)
{
  double n, m = ambit_mantissa_wide(x, &n), f = m - 1, g = 1 + m, lost = m - (g - 1);
  double s = f / g, s1 = (__builtin_fma(-s, g, f) - s * lost) / g;
  double q = __builtin_fma(s, s, 0.0), q1 = __builtin_fma(s, s, -q) + 2 * s * s1;
  double p = 0x1.b8d5983fdfab1p-5, c, c1, u, u1, v, v1, l, l1, w;
  p = AMBIT_TERMS_3(p, q, 0x1.ac4a625e2b724p-5, 0x1.e1f7fc37ac71cp-5, 0x1.1110dfa7daa33p-4);
  p = AMBIT_TERMS_3(p, q, 0x1.3b13b1bc86c5ap-4, 0x1.745d1745133b6p-4, 0x1.c71c71c71cfdbp-4);
  p = AMBIT_TERMS_2(p, q, 0x1.2492492492491p-3, 0x1.999999999999ap-3);
  c = 0x1.5555555555555p-2 + p * q;
  c1 = (0x1.5555555555555p-2 - c) + p * q + 0x1.5555555555555p-56;
  u = __builtin_fma(q, c, 0.0);
  u1 = __builtin_fma(q, c, -u) + (q * c1 + q1 * c);
  v = __builtin_fma(s, u, 0.0);
  v1 = __builtin_fma(s, u, -v) + (s * u1 + s1 * u);
  l = s + v;
  l1 = ((s - l) + v) + (s1 + v1);
  w = __builtin_fma(l, 2 * AMBIT_LOG2E_WIDE, 0.0);
  v1 = __builtin_fma(l, 2 * AMBIT_LOG2E_WIDE, -w) +
       (l * (2 * 0x1.777d0ffda0d24p-56) + l1 * (2 * AMBIT_LOG2E_WIDE));
  l = n + w;
  *low = ((n - l) + w) + v1;
  return l;
}

AMBIT_POWER_END(double, , trunc, (int64_t)AMBIT_BITS_F64(x) < 0)

AMBIT_INLINE double ambit_pow(double x, double y)
{
  double low, high = ambit_log2_parts(x < 0 ? -x : x, &low), z = __builtin_fma(y, high, 0.0);
  double rest = __builtin_fma(y, high, -z) + y * low, d = ambit_within_wide(z, -1100, 1100);
  double t = d + AMBIT_ROUND_WIDE, r;
  rest = d == z ? rest : 0.0;
  r = ((d - (t - AMBIT_ROUND_WIDE)) + rest) * AMBIT_LN2_WIDE;
  return ambit_pow_end(x, y, ambit_scale_wide(1 + ambit_near_one_wide(r), t));
}
#else
#  define ambit_sin sin
#  define ambit_cos cos
#  define ambit_tan tan
#  define ambit_pow pow
#endif
