/* SPDX-License-Identifier: BSD-3-Clause */
/* Exact sums of real numbers, for strict code: a long accumulator, as wide as the range of double
 * (docs/design/0008). The same text serves C, CUDA and OpenCL, behind prelude/c.h, prelude/cuda.h
 * or prelude/opencl.h.
 *
 * A long accumulator is AMBIT_LONG_WORDS words of 64 bits. Word k, up to AMBIT_LONG_DIGITS, weighs
 * 2^(32 k - 1074) and holds a signed number: 32 bits of the sum, and room for the carries of 2^30
 * additions. The next three count values that are NaN, +inf and -inf. Accumulators of the same sum
 * are added word by word, in any order.
 *
 * On GPUs many threads add to an accumulator in shared memory. 64-bit atomics are missing from
 * OpenCL 1.2, and slow in the shared memory of NVIDIA's GPUs, so a word is added in two halves. */
#define AMBIT_LONG_DIGITS 68
#define AMBIT_LONG_NAN    68
#define AMBIT_LONG_ABOVE  69
#define AMBIT_LONG_BELOW  70
#define AMBIT_LONG_WORDS  71

#if defined(__OPENCL_VERSION__)
#  undef AMBIT_INLINE /* PoCL 3.1 loses writes of functions that are not inlined to local memory */
#  define AMBIT_INLINE                 static inline __attribute__((always_inline))
#  define AMBIT_SHARED                 local
#  define AMBIT_DEVICE                 global
#  define AMBIT_CALLED                 AMBIT_INLINE
#  define AMBIT_LONG_ATOMIC(space, at) ((volatile space ambit_u32 *)(at))
#  define AMBIT_LONG_TAKE(at, v)       atomic_add(at, v)
#elif defined(AMBIT_RESIDENT) /* prelude/cuda.h */
#  define AMBIT_SHARED
#  define AMBIT_DEVICE
#  define AMBIT_CALLED                 static __device__ __noinline__
#  define AMBIT_LONG_ATOMIC(space, at) ((ambit_u32 *)(at))
#  define AMBIT_LONG_TAKE(at, v)       atomicAdd(at, v)
#else
#  define AMBIT_SHARED
#  define AMBIT_CALLED static __attribute__((noinline, unused))
#endif

/* *word += v */
#ifdef AMBIT_DEVICE
#  define AMBIT_LONG_ADDER(name, space)                                                            \
    AMBIT_INLINE void name(space ambit_i64 *word, ambit_i64 v)                                     \
    {                                                                                              \
      const ambit_u32 low = (ambit_u32)v;                                                          \
      const ambit_u32 old = low ? AMBIT_LONG_TAKE(AMBIT_LONG_ATOMIC(space, word), low) : 0;        \
      const ambit_u32 high = (ambit_u32)((ambit_u64)v >> 32) + (ambit_u32)(old + low < low);       \
                                                                                                   \
      if (high) AMBIT_LONG_TAKE(AMBIT_LONG_ATOMIC(space, word) + 1, high);                         \
    }
AMBIT_LONG_ADDER(ambit_long_put, AMBIT_SHARED)
AMBIT_LONG_ADDER(ambit_long_put_device, AMBIT_DEVICE)

/* Words of shared memory that are added to in halves are set and read in halves too: compilers may
 * think that a number of 32 bits is never part of one of 64. */
AMBIT_INLINE void ambit_long_clear(AMBIT_SHARED ambit_i64 *words, int k)
{
  AMBIT_LONG_ATOMIC(AMBIT_SHARED, words + k)[0] = 0;
  AMBIT_LONG_ATOMIC(AMBIT_SHARED, words + k)[1] = 0;
}
AMBIT_INLINE ambit_i64 ambit_long_get(AMBIT_SHARED ambit_i64 *words, int k)
{
  const ambit_u32 low = AMBIT_LONG_ATOMIC(AMBIT_SHARED, words + k)[0];
  const ambit_u32 high = AMBIT_LONG_ATOMIC(AMBIT_SHARED, words + k)[1];

  return (ambit_i64)((ambit_u64)high << 32 | low);
}
#else
AMBIT_INLINE void ambit_long_put(ambit_i64 *word, ambit_i64 v)
{
  *word += v;
}
#endif

/* ---- adding ---- */

/* Adds m 2^(p - 1074), or subtracts it; m has up to 53 bits. */
AMBIT_INLINE void ambit_long_add_bits(AMBIT_SHARED ambit_i64 *words, ambit_u64 m, int p, int minus)
{
  const ambit_u64 a = (m & 0xffffffffu) << (p & 31), b = (m >> 32) << (p & 31);
  const ambit_i64 w0 = (ambit_i64)(a & 0xffffffffu);
  const ambit_i64 w1 = (ambit_i64)((a >> 32) + (b & 0xffffffffu));
  const ambit_i64 w2 = (ambit_i64)(b >> 32);

  words += p >> 5;
  ambit_long_put(words, minus ? -w0 : w0);
  ambit_long_put(words + 1, minus ? -w1 : w1);
  ambit_long_put(words + 2, minus ? -w2 : w2);
}

AMBIT_CALLED void ambit_long_add_f32(AMBIT_SHARED ambit_i64 *words, float x)
{
  const ambit_u32 bits = AMBIT_BITS_F32(x), m = bits & 0x7fffffu;
  const int e = (int)(bits >> 23 & 0xffu), minus = (int)(bits >> 31);

  if (e == 0xff)
    ambit_long_put(words + (m ? AMBIT_LONG_NAN : minus ? AMBIT_LONG_BELOW : AMBIT_LONG_ABOVE), 1);
  else
    ambit_long_add_bits(words, e ? m | 0x800000u : m, (e ? e : 1) + 924, minus);
}

#if AMBIT_HAS_DOUBLE
AMBIT_CALLED void ambit_long_add_f64(AMBIT_SHARED ambit_i64 *words, double x)
{
  const ambit_u64 one = 1, bits = AMBIT_BITS_F64(x), m = bits & ((one << 52) - 1);
  const int e = (int)(bits >> 52 & 0x7ffu), minus = (int)(bits >> 63);

  if (e == 0x7ff)
    ambit_long_put(words + (m ? AMBIT_LONG_NAN : minus ? AMBIT_LONG_BELOW : AMBIT_LONG_ABOVE), 1);
  else
    ambit_long_add_bits(words, e ? m | one << 52 : m, (e ? e : 1) - 1, minus);
}
#endif

/* ---- the value ---- */

/* Carries, so that all digits but the last are at least 0 and less than 2^32. */
AMBIT_INLINE void ambit_long_carry(AMBIT_SHARED ambit_i64 *words)
{
  ambit_i64 carry = 0;

  for (int k = 0; k < AMBIT_LONG_DIGITS - 1; k++) {
    const ambit_i64 sum = words[k] + carry;

    words[k] = sum & 0xffffffffL;
    carry = sum >> 32;
  }
  words[AMBIT_LONG_DIGITS - 1] += carry;
}

/* m 2^(p - 1074 - 63), where m has its highest bit set, and `more` says that the sum is a little
 * larger: rounded to nearest, ties to even, as the bits of a number without its sign. Numbers have
 * `digits` bits, and are multiples of 2^(least - 1074). */
AMBIT_INLINE ambit_u64 ambit_long_round(ambit_u64 m, int p, int more, int digits, int least)
{
  const ambit_u64 one = 1;
  const int unit = p - (digits - 1) > least ? p - (digits - 1) : least, drop = unit - (p - 63);
  const ambit_u64 kept = drop < 64 ? m >> drop : 0;
  const ambit_u64 rest = drop < 64 ? m & ((one << drop) - 1) : drop == 64 ? m : 0;
  const ambit_u64 middle = drop <= 64 ? one << (drop - 1) : 1;
  const int up = rest > middle || (rest == middle && (more || (kept & 1)));

  return ((ambit_u64)(unit - least) << (digits - 1)) + kept + (ambit_u64)up;
}

/* The same for the sum itself, whose words are all at least 0 and carried. */
AMBIT_INLINE ambit_u64 ambit_long_magnitude(AMBIT_SHARED const ambit_i64 *words, int digits,
                                            int least)
{
  ambit_u64 m, rest;
  int k = AMBIT_LONG_DIGITS - 1, lead = 0, more;

  while (k >= 0 && !words[k])
    k--;
  if (k < 0) return 0;
  while (words[k] >> lead)
    lead++;
  rest = k > 1 ? (ambit_u64)words[k - 2] : 0;
  m = (ambit_u64)words[k] << 32 | (k > 0 ? (ambit_u64)words[k - 1] : 0);
  m = m << (32 - lead) | rest >> lead;
  more = (rest << (32 - lead) & 0xffffffffu) != 0;
  for (int i = 0; i < k - 2; i++)
    more |= words[i] != 0;
  return ambit_long_round(m, 32 * k + lead - 1, more, digits, least);
}

/* The sum, rounded once, as the bits of a number of `digits` bits that is a multiple of 2^(least -
 * 1074) and less than infinity, whose bits are given. The accumulator must be carried, and is used
 * up. */
AMBIT_INLINE ambit_u64 ambit_long_value(AMBIT_SHARED ambit_i64 *words, int digits, int least,
                                        ambit_u64 infinity, ambit_u64 sign)
{
  const int minus = words[AMBIT_LONG_DIGITS - 1] < 0;
  ambit_u64 bits;

  if (words[AMBIT_LONG_NAN] || (words[AMBIT_LONG_ABOVE] && words[AMBIT_LONG_BELOW]))
    return infinity | infinity >> 1;
  if (words[AMBIT_LONG_ABOVE]) return infinity;
  if (words[AMBIT_LONG_BELOW]) return infinity | sign;
  for (int k = 0; minus && k < AMBIT_LONG_DIGITS; k++)
    words[k] = -words[k];
  if (minus) ambit_long_carry(words);
  bits = ambit_long_magnitude(words, digits, least);
  if (bits > infinity) bits = infinity;
  return minus ? bits | sign : bits;
}
AMBIT_CALLED ambit_u64 ambit_long_bits_f64(AMBIT_SHARED ambit_i64 *words)
{
  const ambit_u64 one = 1;

  return ambit_long_value(words, 53, 0, (one << 63) - (one << 52), one << 63);
}
AMBIT_CALLED ambit_u32 ambit_long_bits_f32(AMBIT_SHARED ambit_i64 *words)
{
  return (ambit_u32)ambit_long_value(words, 24, 1074 - 149, 0x7f800000u, 0x80000000u);
}

/* ---- a window, in registers ---- */

#if AMBIT_HAS_DOUBLE
/* 1.5 2^k: a number to which up to 2^AMBIT_LONG_COUNT numbers can be added that are as large as one
 * with bits x, or 8 times that, so that all partial sums are rounded to the same unit, 2^(k - 52).
 * The exponents of anchors are multiples of 4, so that threads with similar numbers have the same.
 * Not for numbers that are nearly infinite: 0. */
#  define AMBIT_LONG_COUNT 11
#  define AMBIT_LONG_NEXT  41 /* where 2^k becomes 2^(k - NEXT), what was rounded off fits */
AMBIT_INLINE double ambit_long_anchor(ambit_u64 x)
{
  const ambit_u64 one = 1;
  const int e = ((int)(x >> 52 & 0x7ffu) + 5 + AMBIT_LONG_COUNT + 3) & ~3;
  const int least = (AMBIT_LONG_NEXT + 1 + 3) & ~3;

  if (e > 0x7fe) return 0.0;
  return AMBIT_F64_OF((ambit_u64)(e < least ? least : e) << 52 | one << 51);
}
/* The largest number that can be added to an anchor, which is not 0. */
AMBIT_INLINE double ambit_long_limit(double anchor)
{
  return AMBIT_F64_OF((AMBIT_BITS_F64(anchor) >> 52 << 52) -
                      ((ambit_u64)(AMBIT_LONG_COUNT + 1) << 52));
}
AMBIT_INLINE double ambit_long_next(double anchor)
{
  return AMBIT_F64_OF(AMBIT_BITS_F64(anchor) - ((ambit_u64)AMBIT_LONG_NEXT << 52));
}
#endif

/* ---- a thread of a GPU ---- */

#ifdef AMBIT_DEVICE
/* A thread has two windows of its own, one below the other, in registers. Other bits
 * go to the accumulator of the block at once. The windows move up where a larger number comes,
 * and empty when they have taken 2^AMBIT_LONG_COUNT numbers. */
#  if AMBIT_HAS_DOUBLE
typedef struct ambit_part {
  double high, low, anchor, limit;
  int left;
} ambit_part;

AMBIT_INLINE ambit_part ambit_part_zero(void)
{
  ambit_part p;

  p.high = p.low = p.anchor = p.limit = 0.0;
  p.left = 1 << AMBIT_LONG_COUNT;
  return p;
}

/* Empties the windows, whose sums are given; returns the anchor of new ones for numbers as large as
 * x. 0: there are none, and x has been added. Arguments are plain numbers, so that a thread keeps
 * its part in registers. */
AMBIT_CALLED double ambit_part_move(AMBIT_SHARED ambit_i64 *words, double high, double low,
                                    double x)
{
  const double anchor = ambit_long_anchor(AMBIT_BITS_F64(x));

  if (high != 0.0) ambit_long_add_f64(words, high);
  if (low != 0.0) ambit_long_add_f64(words, low);
  if (anchor == 0.0) ambit_long_add_f64(words, x);
  return anchor;
}

AMBIT_INLINE ambit_part ambit_part_add(ambit_part p, AMBIT_SHARED ambit_i64 *words, double x)
{
  double high, low, rest, rest_low;

  if (!(fabs(x) <= p.limit) || p.left == 0) {
    const double next = p.anchor != 0.0 ? ambit_long_next(p.anchor) : 0.0;

    p.anchor = ambit_part_move(words, p.high - p.anchor, p.low - next, x);
    p.high = p.anchor;
    p.low = p.anchor != 0.0 ? ambit_long_next(p.anchor) : 0.0;
    p.limit = p.anchor != 0.0 ? ambit_long_limit(p.anchor) : 0.0;
    p.left = 1 << AMBIT_LONG_COUNT;
    if (p.anchor == 0.0) return p;
  }
  high = p.high + x;
  rest = x - (high - p.high);
  low = p.low + rest;
  rest_low = rest - (low - p.low);
  p.high = high;
  p.low = low;
  p.left--;
  if (rest_low != 0.0) ambit_long_add_f64(words, rest_low);
  return p;
}

AMBIT_INLINE void ambit_part_leave(ambit_part p, AMBIT_SHARED ambit_i64 *words)
{
  if (p.anchor != 0.0)
    ambit_part_move(words, p.high - p.anchor, p.low - ambit_long_next(p.anchor), 0.0);
}
/* The windows of a thread, as multiples of their units. */
AMBIT_INLINE ambit_i64 ambit_part_anchor(ambit_part p)
{
  return (ambit_i64)AMBIT_BITS_F64(p.anchor);
}
AMBIT_INLINE ambit_i64 ambit_part_high(ambit_part p)
{
  return (ambit_i64)(AMBIT_BITS_F64(p.high) - AMBIT_BITS_F64(p.anchor));
}
AMBIT_INLINE ambit_i64 ambit_part_low(ambit_part p)
{
  if (p.anchor == 0.0) return 0;
  return (ambit_i64)(AMBIT_BITS_F64(p.low) - AMBIT_BITS_F64(ambit_long_next(p.anchor)));
}

/* Adds v 2^(p - 1074). */
AMBIT_CALLED void ambit_long_add_units(AMBIT_SHARED ambit_i64 *words, ambit_i64 v, int p)
{
  const ambit_u64 m = v < 0 ? 0 - (ambit_u64)v : (ambit_u64)v;

  ambit_long_add_bits(words, m & 0xffffffffu, p, v < 0);
  ambit_long_add_bits(words, m >> 32, p + 32, v < 0);
}
/* Adds the windows of many threads, up to 2^11, with one anchor. */
AMBIT_INLINE void ambit_part_join(AMBIT_SHARED ambit_i64 *words, ambit_i64 anchor, ambit_i64 high,
                                  ambit_i64 low)
{
  const int e = (int)(anchor >> 52);

  if (!anchor) return;
  ambit_long_add_units(words, high, e - 1);
  ambit_long_add_units(words, low, e - 1 - AMBIT_LONG_NEXT);
}
#  else
/* Without doubles a thread has no windows. */
typedef int ambit_part;
#    define ambit_part_zero()                         0
#    define ambit_part_add(p, words, x)               (ambit_long_add_f32(words, x), 0)
#    define ambit_part_leave(p, words)                ((void)0)
#    define ambit_part_anchor(p)                      0
#    define ambit_part_high(p)                        0
#    define ambit_part_low(p)                         0
#    define ambit_part_join(words, anchor, high, low) ((void)0)
#  endif

/* Adds word k of a block's accumulator to one in device memory, in digits that leave room for 2^30
 * blocks. */
AMBIT_INLINE void ambit_long_leave(AMBIT_DEVICE ambit_i64 *to, AMBIT_SHARED ambit_i64 *words, int k)
{
  const ambit_i64 v = ambit_long_get(words, k);

  if (k >= AMBIT_LONG_DIGITS - 1) {
    ambit_long_put_device(to + k, v);
    return;
  }
  ambit_long_put_device(to + k, v & 0xffffffffL);
  ambit_long_put_device(to + k + 1, v >> 32);
}
#endif
