/* The arithmetic of Ambit's kernel language in C: what the operators of C leave open. */
#include <math.h>
#include <stdint.h>

#define AMBIT_INLINE static inline __attribute__((always_inline, unused))

/* Integers: x / 0 and x % 0 are 0, and the one quotient that does not fit wraps. */
#define AMBIT_DIVISION(name, T, U)                                                                 \
  AMBIT_INLINE T ambit_div_##name(T a, T b)                                                        \
  {                                                                                                \
    T safe = b == 0 || b == -1 ? 1 : b, q = a / safe;                                              \
    return b == 0 ? 0 : b == -1 ? (T)(0 - (U)a) : q;                                               \
  }                                                                                                \
  AMBIT_INLINE T ambit_mod_##name(T a, T b)                                                        \
  {                                                                                                \
    T safe = b == 0 || b == -1 ? 1 : b;                                                            \
    return a % safe;                                                                               \
  }                                                                                                \
  AMBIT_INLINE T ambit_shl_##name(T a, T b)                                                        \
  {                                                                                                \
    return (T)((U)a << ((U)b & (8 * sizeof(T) - 1)));                                              \
  }                                                                                                \
  AMBIT_INLINE T ambit_shr_##name(T a, T b)                                                        \
  {                                                                                                \
    return a >> ((U)b & (8 * sizeof(T) - 1));                                                      \
  }                                                                                                \
  AMBIT_INLINE T ambit_abs_##name(T a)                                                             \
  {                                                                                                \
    return a < 0 ? (T)(0 - (U)a) : a;                                                              \
  }
AMBIT_DIVISION(i32, int32_t, uint32_t)
AMBIT_DIVISION(i64, int64_t, uint64_t)

/* Smaller and larger, with NaN losing against any number: fmin and fmax of the language, written
 * as two choices because compilers turn those into vector code. The others fold a value b into
 * what was reduced so far, a, which is never NaN. */
#define AMBIT_ORDER(name, T)                                                                       \
  AMBIT_INLINE T ambit_fmin_##name(T a, T b)                                                       \
  {                                                                                                \
    T m = a < b ? a : b;                                                                           \
    return b != b ? a : m;                                                                         \
  }                                                                                                \
  AMBIT_INLINE T ambit_fmax_##name(T a, T b)                                                       \
  {                                                                                                \
    T m = a > b ? a : b;                                                                           \
    return b != b ? a : m;                                                                         \
  }                                                                                                \
  AMBIT_INLINE T ambit_fold_min_##name(T a, T b)                                                   \
  {                                                                                                \
    return b < a ? b : a;                                                                          \
  }                                                                                                \
  AMBIT_INLINE T ambit_fold_max_##name(T a, T b)                                                   \
  {                                                                                                \
    return b > a ? b : a;                                                                          \
  }
AMBIT_ORDER(f32, float)
AMBIT_ORDER(f64, double)
AMBIT_ORDER(i32, int32_t)
AMBIT_ORDER(u8, uint8_t)
AMBIT_ORDER(i16, int16_t)
AMBIT_ORDER(i64, int64_t)

/* Real to integer: cut, saturate, and NaN is 0. `least` and `above` are exact in F. What becomes 0 is told apart
 * by comparing, because gcc 12 with -fno-trapping-math turns (float)(int)x into truncf(x): -0 for -0.5. */
#define AMBIT_CUT(to, T, from, F, least, most, above)                                              \
  AMBIT_INLINE T ambit_##to##_from_##from(F x)                                                     \
  {                                                                                                \
    return !(x <= -1 || x >= 1) ? 0                                                                \
           : x <= (F)(least)    ? (T)(least)                                                       \
           : x >= (F)(above)    ? (T)(most)                                                        \
                                : (T)x;                                                               \
  }
#define AMBIT_CUTS(from, F)                                                                        \
  AMBIT_CUT(i32, int32_t, from, F, INT32_MIN, INT32_MAX, 2147483648.0)                             \
  AMBIT_CUT(i16, int16_t, from, F, INT16_MIN, INT16_MAX, 32768.0)                                  \
  AMBIT_CUT(u8, uint8_t, from, F, 0, UINT8_MAX, 256.0)                                             \
  AMBIT_CUT(i64, int64_t, from, F, INT64_MIN, INT64_MAX, 9223372036854775808.0)
AMBIT_CUTS(f32, float)
AMBIT_CUTS(f64, double)

/* Vectors: bytes worked on at a time, and stores of that many from an array that lives in registers. A streamed
 * store goes past the cache; it needs an aligned place. */
#if defined(__aarch64__)
#  define AMBIT_LONG_LOOPS 1 /* addresses of many short ones cost more than they save */
#else
#  define AMBIT_LONG_LOOPS 0
#endif
#if defined(__AVX512F__)
#  define AMBIT_VECTOR 64
#elif defined(__AVX__) || defined(__aarch64__)
#  define AMBIT_VECTOR 32
#else
#  define AMBIT_VECTOR 16
#endif
typedef long long ambit_vector __attribute__((vector_size(AMBIT_VECTOR), may_alias));
typedef long long ambit_loose_vector
    __attribute__((vector_size(AMBIT_VECTOR), may_alias, aligned(1)));

AMBIT_INLINE void ambit_put(void *to, const void *from, int bytes)
{
  for (int i = 0; i < bytes; i += AMBIT_VECTOR)
    *(ambit_loose_vector *)((char *)to + i) = *(const ambit_vector *)((const char *)from + i);
}

/* The same, but only vectors that hold bytes first to end. */
AMBIT_INLINE void ambit_put_some(void *to, const void *from, int bytes, long first, long end)
{
  for (int i = 0; i < bytes; i += AMBIT_VECTOR)
    if (i + AMBIT_VECTOR > first && i < end)
      *(ambit_loose_vector *)((char *)to + i) = *(const ambit_vector *)((const char *)from + i);
}

#if defined(__x86_64__)
#  if defined(__clang__)
#    define AMBIT_STREAM(to, v) __builtin_nontemporal_store(v, to)
#  elif AMBIT_VECTOR == 64
#    define AMBIT_STREAM(to, v) __builtin_ia32_movntdq512(to, v)
#  elif AMBIT_VECTOR == 32
#    define AMBIT_STREAM(to, v) __builtin_ia32_movntdq256(to, v)
#  else
#    define AMBIT_STREAM(to, v) __builtin_ia32_movntdq(to, v)
#  endif
#  define AMBIT_FENCE() __builtin_ia32_sfence()
#else
#  define AMBIT_STREAM(to, v) (*(to) = (v))
#  define AMBIT_FENCE()       ((void)0)
#endif

AMBIT_INLINE void ambit_stream(void *to, const void *from, int bytes)
{
  if ((uintptr_t)to % AMBIT_VECTOR) {
    ambit_put(to, from, bytes);
    return;
  }
  for (int i = 0; i < bytes; i += AMBIT_VECTOR)
    AMBIT_STREAM((ambit_vector *)((char *)to + i), *(const ambit_vector *)((const char *)from + i));
}
