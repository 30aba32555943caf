/* The arithmetic of Ambit's kernel language on GPUs: what the operators of CUDA and OpenCL leave open. */

/* Integers: they wrap; x / 0 and x % 0 are 0; shifts count modulo the width. */
#define AMBIT_INTEGERS(name, T, U)                                                                 \
  AMBIT_INLINE T ambit_add_##name(T a, T b)                                                        \
  {                                                                                                \
    return (T)((U)a + (U)b);                                                                       \
  }                                                                                                \
  AMBIT_INLINE T ambit_sub_##name(T a, T b)                                                        \
  {                                                                                                \
    return (T)((U)a - (U)b);                                                                       \
  }                                                                                                \
  AMBIT_INLINE T ambit_mul_##name(T a, T b)                                                        \
  {                                                                                                \
    return (T)((U)a * (U)b);                                                                       \
  }                                                                                                \
  AMBIT_INLINE T ambit_neg_##name(T a)                                                             \
  {                                                                                                \
    return (T)(0 - (U)a);                                                                          \
  }                                                                                                \
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
AMBIT_INTEGERS(i32, int, ambit_u32)
AMBIT_INTEGERS(i64, ambit_i64, ambit_u64)

/* Smaller and larger, with NaN losing against any number: fmin and fmax of the language. The others fold
 * a value b into what was reduced so far, a, which is never NaN. */
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
AMBIT_ORDER(i32, int)
AMBIT_ORDER(u8, unsigned char)
AMBIT_ORDER(i16, short)
AMBIT_ORDER(i64, ambit_i64)

/* Real to integer: cut, saturate, and NaN is 0. `least` and `above` are exact in F. */
#define AMBIT_CUT(to, T, from, F, least, most, above)                                              \
  AMBIT_INLINE T ambit_##to##_from_##from(F x)                                                     \
  {                                                                                                \
    return x != x ? 0 : x <= (F)(least) ? (T)(least) : x >= (F)(above) ? (T)(most) : (T)x;         \
  }
#define AMBIT_CUTS(from, F)                                                                        \
  AMBIT_CUT(i32, int, from, F, -2147483647 - 1, 2147483647, 2147483648.0f)                         \
  AMBIT_CUT(i16, short, from, F, -32768, 32767, 32768.0f)                                          \
  AMBIT_CUT(u8, unsigned char, from, F, 0, 255, 256.0f)                                            \
  AMBIT_CUT(i64, ambit_i64, from, F, -9223372036854775807L - 1, 9223372036854775807L,              \
            9223372036854775808.0f)
AMBIT_CUTS(f32, float)

/* What a sum of real numbers is added up in: a double, or where there is none two floats, the second of
 * which holds what rounding took from the first. Eight bytes either way. */
#if AMBIT_HAS_DOUBLE
AMBIT_ORDER(f64, double)
AMBIT_CUTS(f64, double)

typedef double ambit_sum;

AMBIT_INLINE ambit_sum ambit_sum_zero(void)
{
  return 0.0;
}
AMBIT_INLINE ambit_sum ambit_sum_add(ambit_sum a, double x)
{
  return a + x;
}
AMBIT_INLINE ambit_sum ambit_sum_join(ambit_sum a, ambit_sum b)
{
  return a + b;
}
AMBIT_INLINE double ambit_sum_value(ambit_sum a)
{
  return a + 0.0;
}
#else
typedef struct ambit_sum {
  float high, low;
} ambit_sum;

AMBIT_INLINE ambit_sum ambit_sum_zero(void)
{
  ambit_sum s;

  s.high = s.low = 0.0f;
  return s;
}
/* What is lost is no number where the sum is infinite: then nothing is. */
AMBIT_INLINE ambit_sum ambit_sum_carry(float sum, float lost)
{
  float high = sum + lost, low = lost - (high - sum);
  ambit_sum s;

  s.high = low - low == 0.0f ? high : sum;
  s.low = low - low == 0.0f ? low : 0.0f;
  return s;
}
AMBIT_INLINE ambit_sum ambit_sum_add(ambit_sum a, float x)
{
  float sum = a.high + x, part = sum - a.high;

  return ambit_sum_carry(sum, ((a.high - (sum - part)) + (x - part)) + a.low);
}
AMBIT_INLINE ambit_sum ambit_sum_join(ambit_sum a, ambit_sum b)
{
  ambit_sum s = ambit_sum_add(a, b.high);

  return ambit_sum_carry(s.high, s.low + b.low);
}
AMBIT_INLINE float ambit_sum_value(ambit_sum a)
{
  return a.high + a.low;
}
#endif
