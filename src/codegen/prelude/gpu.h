/* SPDX-License-Identifier: BSD-3-Clause */
/* More of the arithmetic of Ambit's kernel language, for GPUs: wrapping integers, for which C
 * compilers have -fwrapv, and sums. */

/* Integers wrap. */
#define AMBIT_WRAPPING(name, T, U)                                                                 \
  AMBIT_FORMULA(T, ambit_add_##name, (T a, T b), (T)((U)a + (U)b))                                 \
  AMBIT_FORMULA(T, ambit_sub_##name, (T a, T b), (T)((U)a - (U)b))                                 \
  AMBIT_FORMULA(T, ambit_mul_##name, (T a, T b), (T)((U)a * (U)b))
AMBIT_WRAPPING(i32, ambit_i32, ambit_u32)
AMBIT_WRAPPING(i64, ambit_i64, ambit_u64)

/* c ? x : y, both of which are computed before. */
AMBIT_FORMULA(float, ambit_either_f32, (ambit_i32 c, float x, float y), c ? x : y)
AMBIT_FORMULA(ambit_i32, ambit_either_i32, (ambit_i32 c, ambit_i32 x, ambit_i32 y), c ? x : y)
#if AMBIT_HAS_DOUBLE
AMBIT_FORMULA(double, ambit_either_f64, (ambit_i32 c, double x, double y), c ? x : y)
#endif

/* The accumulator of a sum of real numbers: a double, or without double two floats, the second of
 * which holds the rounding error of the first. Eight bytes either way. */
#if AMBIT_HAS_DOUBLE
typedef double ambit_sum;

AMBIT_FORMULA(ambit_sum, ambit_sum_zero, (void), 0.0)
AMBIT_FORMULA(ambit_sum, ambit_sum_add, (ambit_sum a, double x), a + x)
AMBIT_FORMULA(ambit_sum, ambit_sum_join, (ambit_sum a, ambit_sum b), a + b)
AMBIT_FORMULA(double, ambit_sum_value, (ambit_sum a), a + 0.0)
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
/* If the sum is infinite the rounding error is NaN: it is then dropped. */
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
AMBIT_FORMULA(float, ambit_sum_value, (ambit_sum a), a.high + a.low)
#endif
