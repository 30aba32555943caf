/* SPDX-License-Identifier: BSD-3-Clause */
/* The arithmetic of Ambit's kernel language, where the operators of C, CUDA and OpenCL leave
 * behaviour undefined. The same text serves all of them; prelude/c.h, prelude/cuda.h or
 * prelude/opencl.h define
 *   AMBIT_INLINE       qualifiers of a helper
 *   AMBIT_FORMULA      a helper of one expression
 *   AMBIT_HAS_DOUBLE   whether double is available
 *   AMBIT_IS_SMALL(x)  true if x, real, is NaN; may be true if |x| < 1
 *   ambit_u8 ...       integers by size
 *   ambit_hidden_f32(x, nought), ambit_hidden_f64(x, nought)
 *                      x, from which LLVM cannot infer that it equals x; nought is an integer that
 *                      is never negative, a constant if it need not hide x except in CUDA
 */

/* Doubles give the quotient of two integers of 32 bits: a wrong one would be off by 1 / b, and they
 * round by less than |a / b| / 2^52. Unlike integers, vectors of them can be divided. */
#if AMBIT_DIVIDES_AS_DOUBLE
#  define AMBIT_QUOTIENT(T, a, b) (sizeof(T) < 8 ? (T)((double)(a) / (double)(b)) : (a) / (b))
#else
#  define AMBIT_QUOTIENT(T, a, b) ((a) / (b))
#endif

/* Integers: x / 0 and x % 0 are 0, the one quotient that overflows wraps, shift counts are taken
 * modulo the width. A negation goes through unsigned numbers: with -fwrapv gcc 12 can turn -a / b
 * into a / -b, which differs if -a wraps. */
#define AMBIT_INTEGERS(name, T, U)                                                                 \
  AMBIT_FORMULA(T, ambit_neg_##name, (T a), (T)(0 - (U)a))                                         \
  AMBIT_INLINE T ambit_div_##name(T a, T b)                                                        \
  {                                                                                                \
    T safe = b == 0 || b == -1 ? 1 : b, q = AMBIT_QUOTIENT(T, a, safe);                            \
    return b == 0 ? 0 : b == -1 ? (T)(0 - (U)a) : q;                                               \
  }                                                                                                \
  AMBIT_INLINE T ambit_mod_##name(T a, T b)                                                        \
  {                                                                                                \
    T safe = b == 0 || b == -1 ? 1 : b;                                                            \
    return a - AMBIT_QUOTIENT(T, a, safe) * safe;                                                  \
  }                                                                                                \
  AMBIT_FORMULA(T, ambit_shl_##name, (T a, T b), (T)((U)a << ((U)b & (8 * sizeof(T) - 1))))        \
  AMBIT_FORMULA(T, ambit_shr_##name, (T a, T b), a >> ((U)b & (8 * sizeof(T) - 1)))                \
  AMBIT_INLINE T ambit_clip_##name(T a, T most)                                                    \
  {                                                                                                \
    T low = a < 0 ? 0 : a;                                                                         \
    return low > most ? most : low;                                                                \
  }                                                                                                \
  AMBIT_FORMULA(T, ambit_abs_##name, (T a), a < 0 ? (T)(0 - (U)a) : a)
AMBIT_INTEGERS(i32, ambit_i32, ambit_u32)
AMBIT_INTEGERS(i64, ambit_i64, ambit_u64)
#define AMBIT_UNSIGNED(name, U)                                                                    \
  AMBIT_FORMULA(U, ambit_neg_##name, (U a), 0 - a)                                                 \
  AMBIT_INLINE U ambit_div_##name(U a, U b)                                                        \
  {                                                                                                \
    U safe = b == 0 ? 1 : b, q = AMBIT_QUOTIENT(U, a, safe);                                       \
    return b == 0 ? 0 : q;                                                                         \
  }                                                                                                \
  AMBIT_FORMULA(U, ambit_mod_##name, (U a, U b),                                                   \
                b == 0 ? 0 : a - AMBIT_QUOTIENT(U, a, (b == 0 ? 1 : b)) * b)                       \
  AMBIT_FORMULA(U, ambit_shl_##name, (U a, ambit_u32 b), a << (b & (8 * sizeof(U) - 1)))           \
  AMBIT_FORMULA(U, ambit_shr_##name, (U a, ambit_u32 b), a >> (b & (8 * sizeof(U) - 1)))           \
  AMBIT_FORMULA(U, ambit_clip_##name, (U a, U most), a > most ? most : a)
AMBIT_UNSIGNED(u32, ambit_u32)
AMBIT_UNSIGNED(u64, ambit_u64)

/* fmin and fmax of the language, which ignore NaN, written as two selections, which compilers
 * vectorise. Of two equal values, which are zeros if they differ at all, the second is returned;
 * LLVM makes a minimum of a < 0 ? a : 0, which may return either zero. NVIDIA's compiler sees
 * through the extra selection that prevents it, but not through `hidden`. The fold functions fold a
 * value b into a partial result a; a NaN stays in it. */
#if (defined(__GNUC__) && !defined(__clang__)) || defined(__CUDACC__)
#  define AMBIT_SECOND(a, b, m)
#else
#  define AMBIT_SECOND(a, b, m) m = a == b ? b : m
#endif
#define AMBIT_SHOWN(x, nought) (x)
#define AMBIT_EXTREMUM(which, order, name, T, hidden)                                              \
  AMBIT_INLINE T ambit_f##which##_##name(T a, T b)                                                 \
  {                                                                                                \
    const T c = hidden(b, 0);                                                                      \
    T m = a order c ? a : c;                                                                       \
    AMBIT_SECOND(a, b, m);                                                                         \
    return b != b ? a : m;                                                                         \
  }                                                                                                \
  AMBIT_INLINE T ambit_fold_##which##_##name(T a, T b)                                             \
  {                                                                                                \
    T m = b order a ? b : a;                                                                       \
    return b != b ? b : m;                                                                         \
  }
#define AMBIT_ORDER(name, T, hidden)                                                               \
  AMBIT_EXTREMUM(min, <, name, T, hidden)                                                          \
  AMBIT_EXTREMUM(max, >, name, T, hidden)
AMBIT_ORDER(f32, float, ambit_hidden_f32)
AMBIT_ORDER(i32, ambit_i32, AMBIT_SHOWN)
AMBIT_ORDER(u8, ambit_u8, AMBIT_SHOWN)
AMBIT_ORDER(i16, ambit_i16, AMBIT_SHOWN)
AMBIT_ORDER(i64, ambit_i64, AMBIT_SHOWN)
AMBIT_ORDER(u16, ambit_u16, AMBIT_SHOWN)
AMBIT_ORDER(u32, ambit_u32, AMBIT_SHOWN)
AMBIT_ORDER(u64, ambit_u64, AMBIT_SHOWN)

/* Small powers, where bits may differ from those of pow. */
#define AMBIT_POWERS(name, T)                                                                      \
  AMBIT_FORMULA(T, ambit_power2_##name, (T x), x *x)                                               \
  AMBIT_FORMULA(T, ambit_power3_##name, (T x), x *x *x)                                            \
  AMBIT_FORMULA(T, ambit_power4_##name, (T x), (x * x) * (x * x))
AMBIT_POWERS(f32, float)

/* Real to integer: truncates, saturates, and maps NaN to 0. `least` and `above` are exact in F. */
#define AMBIT_CUT(to, T, from, F, least, most, above)                                              \
  AMBIT_FORMULA(T, ambit_##to##_from_##from, (F x),                                                \
                AMBIT_IS_SMALL(x) ? 0                                                              \
                : x <= (F)(least) ? (T)(least)                                                     \
                : x >= (F)(above) ? (T)(most)                                                      \
                                  : (T)x)
/* The same from double, cut as a double: gcc 12 makes masks of two widths of selections between
 * integers, and their logic: linear interpolation in a table took 1.3 times as long. The last
 * selection is one of bits: of another one gcc makes a branch, around the look-ups that follow, and
 * leaves the loop scalar. */
#define AMBIT_CUT_F64(to, T, least, most)                                                          \
  AMBIT_INLINE T ambit_##to##_from_f64(double x)                                                   \
  {                                                                                                \
    double y = x > (double)(least) ? x : (double)(least);                                          \
    y = y < (double)(most) ? y : (double)(most);                                                   \
    y = AMBIT_F64_OF(AMBIT_BITS_F64(y) & -(ambit_u64)!AMBIT_IS_SMALL(x));                          \
    return (T)(ambit_i32)y;                                                                        \
  }
/* To bytes by way of int: vectors of one width. On ARM gcc 12 makes masks and their logic of the
 * selections; its minimum and maximum return the number if the other operand is NaN. */
#if defined(__GNUC__) && defined(__aarch64__)
#  define AMBIT_BYTE_F32(x) __builtin_fminf(__builtin_fmaxf(x, 0), 255)
#  define AMBIT_BYTE_F64(x) __builtin_fmin(__builtin_fmax(x, 0), 255)
#else
#  define AMBIT_BYTE_F32(x) ((x) > 0 ? (x) < 255 ? (x) : 255 : 0)
#  define AMBIT_BYTE_F64    AMBIT_BYTE_F32
#endif
#define AMBIT_CUT_U8(from, F, between)                                                             \
  AMBIT_FORMULA(ambit_u8, ambit_u8_from_##from, (F x), (ambit_u8)(ambit_i32)between(x))
#define AMBIT_CUT_64(from, F)                                                                      \
  AMBIT_CUT(i64, ambit_i64, from, F, -9223372036854775807L - 1, 9223372036854775807L,              \
            9223372036854775808.0f)                                                                \
  AMBIT_CUT(u16, ambit_u16, from, F, 0, 65535, 65536.0f)                                           \
  AMBIT_CUT(u32, ambit_u32, from, F, 0, 4294967295u, 4294967296.0f)                                \
  AMBIT_CUT(u64, ambit_u64, from, F, 0, 18446744073709551615uL, 18446744073709551616.0f)
#ifdef __CUDACC__ /* one instruction, from float; from double, NaN becomes the least integer */
#  define AMBIT_CUT_F32(to, T, R, kind)                                                            \
    AMBIT_INLINE T ambit_##to##_from_f32(float x)                                                  \
    {                                                                                              \
      R n;                                                                                         \
      asm("cvt.rzi." kind ".f32 %0, %1;" : AMBIT_RESULT_##R(n) : "f"(x));                          \
      return (T)n;                                                                                 \
    }
#  define AMBIT_RESULT_ambit_i32(n) "=r"(n)
#  define AMBIT_RESULT_ambit_i16(n) "=h"(n)
AMBIT_CUT_F32(i32, ambit_i32, ambit_i32, "s32")
AMBIT_CUT_F32(i16, ambit_i16, ambit_i16, "s16")
AMBIT_CUT_F32(u8, ambit_u8, ambit_i16, "u8")
AMBIT_CUT_64(f32, float)
#else
AMBIT_CUT(i32, ambit_i32, f32, float, -2147483647 - 1, 2147483647, 2147483648.0f)
AMBIT_CUT(i16, ambit_i16, f32, float, -32768, 32767, 32768.0f)
AMBIT_CUT_U8(f32, float, AMBIT_BYTE_F32)
AMBIT_CUT_64(f32, float)
#endif

/* Changes the sign of any number, in a form that compilers do not put into an fma before it. */
AMBIT_FORMULA(float, ambit_neg_f32, (float x), AMBIT_F32_OF(AMBIT_BITS_F32(x) ^ 0x80000000u))

/* The first 16 bits of a float, in the type of halves. */
AMBIT_FORMULA(float, ambit_f32_from_bf16, (ambit_f16 bits), AMBIT_F32_OF((ambit_u32)bits << 16))
AMBIT_INLINE ambit_f16 ambit_bf16_from_f32(float x)
{
  ambit_u32 bits = AMBIT_BITS_F32(x), near = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
  return (ambit_f16)((bits & 0x7fffffffu) > 0x7f800000u ? (bits >> 16 & 0x8000u) | 0x7fc0u : near);
}

#if AMBIT_HAS_DOUBLE
AMBIT_ORDER(f64, double, ambit_hidden_f64)
AMBIT_POWERS(f64, double)
AMBIT_CUT_F64(i32, ambit_i32, -2147483647 - 1, 2147483647)
AMBIT_CUT_F64(i16, ambit_i16, -32768, 32767)
AMBIT_CUT_U8(f64, double, AMBIT_BYTE_F64)
AMBIT_CUT_64(f64, double)

AMBIT_FORMULA(double, ambit_neg_f64, (double x),
              AMBIT_F64_OF(AMBIT_BITS_F64(x) ^ (ambit_u64)1 << 63))

/* Of the two floats around x the odd one, if x is none: it rounds to the half that x rounds to. */
AMBIT_INLINE float ambit_near_f32(double x)
{
  float near = (float)x;
  ambit_u32 bits = AMBIT_BITS_F32(near), even = 1u - (bits & 1u);
  double back = near, size = x < 0 ? -x : x, near_size = back < 0 ? -back : back;
  bits = near_size < size ? bits + even : near_size > size ? bits - even : bits;
  return AMBIT_F32_OF(bits);
}
AMBIT_FORMULA(ambit_f16, ambit_f16_from_f64, (double x), ambit_f16_from_f32(ambit_near_f32(x)))
AMBIT_FORMULA(ambit_f16, ambit_bf16_from_f64, (double x), ambit_bf16_from_f32(ambit_near_f32(x)))
#endif
