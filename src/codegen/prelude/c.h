/* SPDX-License-Identifier: BSD-3-Clause */
/* C for gcc and clang: definitions for prelude/arithmetic.h, and vectors. */
#include <stdint.h>

/* The functions of <math.h> that a rule may call. To read the header takes as long as to start the
 * compiler, a sixth of the time of a small kernel; these lines take a tenth of that. */
#define AMBIT_LIBRARY(T, f)                                                                        \
  T fabs##f(T), sqrt##f(T), fmin##f(T, T), fmax##f(T, T), fma##f(T, T, T), floor##f(T),            \
      ceil##f(T), trunc##f(T), round##f(T), rint##f(T), fmod##f(T, T), exp##f(T), exp2##f(T),      \
      expm1##f(T), log##f(T), log2##f(T), log10##f(T), log1p##f(T), pow##f(T, T), cbrt##f(T),      \
      hypot##f(T, T), sin##f(T), cos##f(T), tan##f(T), asin##f(T), acos##f(T), atan##f(T),         \
      atan2##f(T, T), sinh##f(T), cosh##f(T), tanh##f(T), erf##f(T), copysign##f(T, T);
AMBIT_LIBRARY(double, )
AMBIT_LIBRARY(float, f)
#ifndef INFINITY
#  define INFINITY __builtin_inff()
#  define NAN      __builtin_nanf("")
#endif

/* gcc makes a switch, or a word of bits, of comparisons of one value with several constants, as in
 * n == 3 || n == 6 || n == 7, and then leaves the loop scalar. Without branches, -ftree-reassoc
 * does so. */
#if !defined(__clang__) && __GNUC__ >= 12
#  pragma GCC optimize("no-jump-tables", "no-bit-tests", "no-tree-reassoc")
#endif

/* A function declares all names that a rule may use. */
#pragma GCC diagnostic ignored "-Wunused-variable"

#define AMBIT_INLINE static inline __attribute__((always_inline, unused))
/* A function of one expression. */
#define AMBIT_FORMULA(T, name, parameters, value)                                                  \
  AMBIT_INLINE T name parameters                                                                   \
  {                                                                                                \
    return value;                                                                                  \
  }
#define AMBIT_HAS_DOUBLE        1
#define AMBIT_DIVIDES_AS_DOUBLE 1
/* By comparison: gcc 12 with -fno-trapping-math turns (float)(int)x into truncf(x), which is -0 for
 * -0.5. */
#define AMBIT_IS_SMALL(x) (!((x) <= -1 || (x) >= 1))
/* A subscript of a table; nought is an integer that is never negative. With AVX-512, gcc 13 looks
 * up table[a < b] wrongly (it takes the mask of eight cells for the subscript of one), unless the
 * subscript is computed in a way that it cannot see through. */
#ifdef __clang__
#  define AMBIT_SUBSCRIPT(i, nought) (i)
#else
#  define AMBIT_SUBSCRIPT(i, nought) ((i) ^ (__typeof__(i))((nought) >> 63))
#endif

typedef uint8_t ambit_u8;
typedef int16_t ambit_i16;
typedef uint16_t ambit_u16;
typedef int32_t ambit_i32;
typedef uint32_t ambit_u32;
typedef int64_t ambit_i64;
typedef uint64_t ambit_u64;

/* Numbers as bits, and bits as a number. */
#define AMBIT_AS(name, T, F)                                                                       \
  AMBIT_INLINE T name(F x)                                                                         \
  {                                                                                                \
    union {                                                                                        \
      F from;                                                                                      \
      T to;                                                                                        \
    } u = {x};                                                                                     \
    return u.to;                                                                                   \
  }
AMBIT_AS(AMBIT_BITS_F32, ambit_u32, float)
AMBIT_AS(AMBIT_BITS_F64, ambit_u64, double)
AMBIT_AS(AMBIT_F32_OF, float, ambit_u32)
AMBIT_AS(AMBIT_F64_OF, double, ambit_u64)

/* a / b within 1.5 units in the last place (a tiny quotient within a few), for divisions by one b:
 * compilers compute its inverse once. A divisor whose inverse is no normal number is scaled. */
#define AMBIT_RATIO(name, T, absolute, huge, tiny, large)                                          \
  AMBIT_INLINE T name(T a, T b)                                                                    \
  {                                                                                                \
    const T size = absolute(b), scale = size > huge ? (T)0.25 : size < tiny ? large : (T)1;        \
    return a * scale * (1 / (b * scale));                                                          \
  }
AMBIT_RATIO(ambit_ratio_f32, float, fabsf, 0x1p126f, 0x1p-126f, 0x1p64f)
AMBIT_RATIO(ambit_ratio_f64, double, fabs, 0x1p1022, 0x1p-1022, 0x1p512)
#define ambit_ratio(a, b) _Generic((b), float : ambit_ratio_f32, default : ambit_ratio_f64)(a, b)
/* The same for a constant b that is not very large or small. */
#define ambit_ratio_by(a, b) ((a) * (1 / (b)))

/* For clang, subtracts 0 in a form that is none to the compiler. */
AMBIT_INLINE double ambit_hidden_f64(double x, ambit_i64 nought)
{
#ifdef __clang__
  return x - AMBIT_F64_OF((ambit_u64)nought >> 63);
#else
  return (void)nought, x;
#endif
}
AMBIT_INLINE float ambit_hidden_f32(float x, ambit_i64 nought)
{
#ifdef __clang__
  return x - AMBIT_F32_OF((ambit_u32)((ambit_u64)nought >> 63));
#else
  return (void)nought, x;
#endif
}

/* Halves, as bits. clang vectorises conversions of processors that have them; gcc 12 does not, but
 * it vectorises the same in integers. */
typedef uint16_t ambit_f16;
#if defined(__clang__) && (defined(__aarch64__) || defined(__F16C__))
typedef union ambit_half_bits {
  ambit_f16 bits;
  __fp16 x;
} ambit_half_bits;
AMBIT_INLINE float ambit_f32_from_f16(ambit_f16 bits)
{
  ambit_half_bits u = {bits};
  return (float)u.x;
}
AMBIT_INLINE ambit_f16 ambit_f16_from_f32(float x)
{
  ambit_half_bits u;
  u.x = (__fp16)x;
  return u.bits;
}
#else
/* As the bits of a float it is 2^-112 of its value, and what should be infinite or NaN is too large
 * for a half. */
AMBIT_INLINE float ambit_f32_from_f16(ambit_f16 bits)
{
  ambit_u32 wide = ((ambit_u32)(bits & 0x8000u) << 16) | ((ambit_u32)(bits & 0x7fffu) << 13);
  float x = AMBIT_F32_OF(wide) * 0x1p112f;
  wide = AMBIT_BITS_F32(x);
  return AMBIT_F32_OF((wide & 0x7fffffffu) >= 0x47800000u ? wide | 0x7f800000u : wide);
}
/* Adding 0.5 rounds a number below 2^-14 to a multiple of 2^-24. */
AMBIT_INLINE ambit_f16 ambit_f16_from_f32(float x)
{
  ambit_u32 bits = AMBIT_BITS_F32(x), size = bits & 0x7fffffffu;
  ambit_u32 small = AMBIT_BITS_F32(AMBIT_F32_OF(size) + 0.5f) - 0x3f000000u;
  ambit_u32 half = (size + 0xfffu + (size >> 13 & 1u) - (112u << 23)) >> 13;
  half = size < 0x38800000u ? small : half;
  half = size >= 0x477ff000u ? 0x7c00u : half;
  half = size > 0x7f800000u ? 0x7e00u : half;
  return (ambit_f16)(half | (bits >> 16 & 0x8000u));
}
#endif

/* Conversions to real numbers, as functions: gcc 12 turns 0.0f - (float)i, with the conversion in
 * the same expression, into -(float)i, which is -0 for 0. */
#define AMBIT_REAL(to, T, from, F)                                                                 \
  AMBIT_INLINE T ambit_##to##_from_##from(F x)                                                     \
  {                                                                                                \
    return (T)x;                                                                                   \
  }
#define AMBIT_REALS_FROM(from, F) AMBIT_REAL(f32, float, from, F) AMBIT_REAL(f64, double, from, F)
/* Narrow integers arrive as int, to which C promotes them: where they were widened before, a cast
 * back to their own width would make a loop of two widths. */
AMBIT_REALS_FROM(i32, ambit_i32)
AMBIT_REALS_FROM(u8, ambit_i32)
AMBIT_REALS_FROM(i16, ambit_i32)
AMBIT_REALS_FROM(i64, ambit_i64)
AMBIT_REALS_FROM(u16, ambit_i32)
AMBIT_REALS_FROM(u32, ambit_u32)
AMBIT_REALS_FROM(u64, ambit_u64)

/* fmin and fmax with a number that is no NaN, whose value the compiler cannot see. */
#define AMBIT_LIMITS(name, T)                                                                      \
  AMBIT_INLINE T ambit_limit_##name(T x)                                                           \
  {                                                                                                \
    __asm__("" : "+m"(x));                                                                         \
    return x;                                                                                      \
  }                                                                                                \
  AMBIT_INLINE T ambit_fmin_to_##name(T x, T limit)                                                \
  {                                                                                                \
    return x < limit ? x : limit;                                                                  \
  }                                                                                                \
  AMBIT_INLINE T ambit_fmax_to_##name(T x, T limit)                                                \
  {                                                                                                \
    return x > limit ? x : limit;                                                                  \
  }
AMBIT_LIMITS(f32, float)
AMBIT_LIMITS(f64, double)

/* Vectors: bytes per vector, and stores of whole vectors from an array held in registers. A
 * non-temporal store bypasses the caches and needs an aligned address. */
#if defined(__AVX512F__)
#  define AMBIT_VECTOR 64
#elif defined(__AVX__) || (defined(__aarch64__) && !defined(AMBIT_SHORT_ROWS))
#  define AMBIT_VECTOR 32 /* on ARM two registers; one where most rows are short, on sparse grids */
#else
#  define AMBIT_VECTOR 16
#endif
typedef long long ambit_vector __attribute__((vector_size(AMBIT_VECTOR), may_alias));
typedef long long ambit_loose_vector
    __attribute__((vector_size(AMBIT_VECTOR), may_alias, aligned(1)));

/* Adjacent components as one word (nest/rows_bins.c). */
AMBIT_INLINE ambit_u64 ambit_load_2(const uint16_t *from)
{
  return from[0] | (ambit_u32)from[1] << 16;
}
AMBIT_INLINE ambit_u64 ambit_load_4(const uint16_t *from)
{
  ambit_u64 word;

  __builtin_memcpy(&word, from, sizeof word);
  return word;
}

AMBIT_INLINE void ambit_put(void *to, const void *from, int bytes)
{
  for (int i = 0; i < bytes; i += AMBIT_VECTOR)
    *(ambit_loose_vector *)((char *)to + i) = *(const ambit_vector *)((const char *)from + i);
}

/* Widens a vector of narrow values to an array of int32_t, in one instruction: gcc 12 makes halves
 * or single values of a loop, and of __builtin_convertvector, and the loop that uses them loads
 * them as a whole before they are all stored. */
#if defined(__clang__)
#  define AMBIT_INTS(T, to, from, lanes)                                                           \
    do {                                                                                           \
      typedef T narrow __attribute__((vector_size((lanes) * sizeof(T)), aligned(1), may_alias));   \
      typedef int32_t wide __attribute__((vector_size((lanes)*4), may_alias));                     \
      *(wide *)(to) = __builtin_convertvector(*(const narrow *)(from), wide);                      \
    } while (0)
#elif defined(__AVX512F__)
#  define AMBIT_INTS(T, to, from, lanes)                                                           \
    do {                                                                                           \
      if ((lanes) == 16)                                                                           \
        ambit_ints16_##T(to, from);                                                                \
      else                                                                                         \
        for (int i_ = 0; i_ < (lanes); i_++)                                                       \
          (to)[i_] = (from)[i_];                                                                   \
    } while (0)
#  define AMBIT_INTS_16(T, code, V)                                                                \
    AMBIT_INLINE void ambit_ints16_##T(int32_t *to, const T *from)                                 \
    {                                                                                              \
      typedef int wide __attribute__((vector_size(64), may_alias));                                \
      typedef V narrow __attribute__((vector_size(16 * sizeof(T))));                               \
      typedef V loose __attribute__((vector_size(16 * sizeof(T)), aligned(1), may_alias));         \
      *(wide *)to = (wide)__builtin_ia32_pmov##code##512_mask((narrow) * (const loose *)from,      \
                                                              (wide){0}, (unsigned short)-1);      \
    }
AMBIT_INTS_16(uint8_t, zxbd, char)
AMBIT_INTS_16(int16_t, sxwd, short)
AMBIT_INTS_16(uint16_t, zxwd, short)
#else
#  define AMBIT_INTS(T, to, from, lanes)                                                           \
    for (int i_ = 0; i_ < (lanes); i_++)                                                           \
    (to)[i_] = (from)[i_]
#endif

#if defined(__x86_64__)
#  if defined(__clang__)
#    define AMBIT_NONTEMPORAL(to, v) __builtin_nontemporal_store(v, to)
#  elif AMBIT_VECTOR == 64
#    define AMBIT_NONTEMPORAL(to, v) __builtin_ia32_movntdq512(to, v)
#  elif AMBIT_VECTOR == 32
#    define AMBIT_NONTEMPORAL(to, v) __builtin_ia32_movntdq256(to, v)
#  else
#    define AMBIT_NONTEMPORAL(to, v) __builtin_ia32_movntdq(to, v)
#  endif
#  define AMBIT_FENCE() __builtin_ia32_sfence()
#else
#  define AMBIT_NONTEMPORAL(to, v) (*(to) = (v))
#  define AMBIT_FENCE()            ((void)0)
#endif

AMBIT_INLINE void ambit_put_nontemporal(void *to, const void *from, int bytes)
{
  if ((uintptr_t)to % AMBIT_VECTOR) {
    ambit_put(to, from, bytes);
    return;
  }
  for (int i = 0; i < bytes; i += AMBIT_VECTOR)
    AMBIT_NONTEMPORAL((ambit_vector *)((char *)to + i),
                      *(const ambit_vector *)((const char *)from + i));
}
