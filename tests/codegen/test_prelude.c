/* SPDX-License-Identifier: BSD-3-Clause */
/* The arithmetic of GPU kernels, compiled here as C for a device without double: integers and
 * conversions against the language's own, sums in two floats against sums in double. */
#include "kernel/kernel.h"
#include "support/test.h"

#include <math.h>

#ifdef __GNUC__
#  pragma GCC diagnostic ignored "-Wconversion" /* kernels are not written for it */
#endif

#define AMBIT_INLINE static inline
#define AMBIT_FORMULA(T, name, parameters, value)                                                  \
  AMBIT_INLINE T name parameters                                                                   \
  {                                                                                                \
    return value;                                                                                  \
  }
#define AMBIT_HAS_DOUBLE  0
#define AMBIT_IS_SMALL(x) ((x) != (x))
#define ambit_hidden_f32  AMBIT_SHOWN
typedef unsigned char ambit_u8;
typedef short ambit_i16;
typedef unsigned short ambit_u16;
typedef int ambit_i32;
typedef unsigned ambit_u32;
typedef long long ambit_i64;
typedef unsigned long long ambit_u64;
typedef unsigned short ambit_f16;
typedef union word {
  float x;
  ambit_u32 bits;
} word;
#define AMBIT_BITS_F32(number) ((word){.x = (number)}.bits)
#define AMBIT_F32_OF(number)   ((word){.bits = (number)}.x)
#include "codegen/prelude/arithmetic.h"
#include "codegen/prelude/gpu.h"

static const int64_t integers[] = {0,
                                   1,
                                   -1,
                                   2,
                                   -2,
                                   3,
                                   -7,
                                   31,
                                   32,
                                   63,
                                   64,
                                   -64,
                                   1000003,
                                   -1000003,
                                   INT32_MAX,
                                   INT32_MIN,
                                   INT64_MAX,
                                   INT64_MIN,
                                   INT64_MAX - 1,
                                   0x123456789abcdef};
static const float reals[] = {
    0.0f,    -0.0f,    0.5f,    -0.99f,   1.0f,     -1.5f,        254.9f, 255.0f, 256.0f,
    -1e-30f, 32767.0f, 32768.f, -32768.f, -32769.f, 2147483520.f, 3e9f,   -3e9f,  2147483648.f,
    1e19f,   -1e19f,   1e38f,   9.2e18f,  INFINITY, -INFINITY,    NAN};
enum { INTEGERS = sizeof integers / sizeof *integers, REALS = sizeof reals / sizeof *reals };

#define CHECK_OPERATOR(op, name, type, T)                                                          \
  CHECK_MSG(ambit__value_binary(op, type, (ambit__value){.integer = (T)x},                         \
                                (ambit__value){.integer = (T)y})                                   \
                    .integer == ambit_##name((T)x, (T)y),                                          \
            #name "(%lld, %lld)", (long long)x, (long long)y)

#define CHECK_OPERATORS(suffix, type, T)                                                           \
  do {                                                                                             \
    CHECK_OPERATOR(EXPR_ADD, add_##suffix, type, T);                                               \
    CHECK_OPERATOR(EXPR_SUB, sub_##suffix, type, T);                                               \
    CHECK_OPERATOR(EXPR_MUL, mul_##suffix, type, T);                                               \
    CHECK_OPERATOR(EXPR_DIV, div_##suffix, type, T);                                               \
    CHECK_OPERATOR(EXPR_MOD, mod_##suffix, type, T);                                               \
    CHECK_OPERATOR(EXPR_SHL, shl_##suffix, type, T);                                               \
    CHECK_OPERATOR(EXPR_SHR, shr_##suffix, type, T);                                               \
  } while (0)

static void integers_are_those_of_the_language(void)
{
  for (int i = 0; i < INTEGERS; i++)
    for (int k = 0; k < INTEGERS; k++) {
      const int64_t x = integers[i], y = integers[k];

      CHECK_OPERATORS(i32, AMBIT_I32, int32_t);
      CHECK_OPERATORS(i64, AMBIT_I64, int64_t);
    }
}

static void signs_wrap(void)
{
  for (int i = 0; i < INTEGERS; i++) {
    const ambit__value x = {.integer = integers[i]}, y = {.integer = (int32_t)integers[i]},
                       none = {0};

    CHECK_EQ(ambit__value_unary(EXPR_NEG, AMBIT_I64, x).integer, ambit_neg_i64(x.integer));
    CHECK_EQ(ambit__value_unary(EXPR_NEG, AMBIT_I32, y).integer, ambit_neg_i32((int)y.integer));
    CHECK_EQ(ambit__value_call(CALL_abs, AMBIT_I64, x, none, none).integer,
             ambit_abs_i64(x.integer));
    CHECK_EQ(ambit__value_call(CALL_abs, AMBIT_I32, y, none, none).integer,
             ambit_abs_i32((int)y.integer));
  }
}

static int64_t cast(float x, ambit_type to)
{
  return ambit__value_cast((ambit__value){.real = x}, AMBIT_F32, to).integer;
}

static void reals_are_cut_to_integers_as_in_the_language(void)
{
  for (int i = 0; i < REALS; i++) {
    CHECK_EQ(cast(reals[i], AMBIT_I32), ambit_i32_from_f32(reals[i]));
    CHECK_EQ(cast(reals[i], AMBIT_I16), ambit_i16_from_f32(reals[i]));
    CHECK_EQ(cast(reals[i], AMBIT_U8), ambit_u8_from_f32(reals[i]));
    CHECK_EQ(cast(reals[i], AMBIT_I64), ambit_i64_from_f32(reals[i]));
  }
}

static bool same(double a, float b)
{
  return a != a ? b != b : a == (double)b && !signbit(a) == !signbit(b);
}

/* The signs of zeros do not matter to reductions. */
static bool alike(double a, float b)
{
  return a != a ? b != b : a == (double)b;
}

static void the_smaller_and_the_larger_are_those_of_the_language(void)
{
  const ambit__param least = {.reduce = REDUCE_MIN, .type = AMBIT_F32};
  const ambit__param most = {.reduce = REDUCE_MAX, .type = AMBIT_F32};

  for (int i = 0; i < REALS; i++)
    for (int k = 0; k < REALS; k++) {
      const ambit__value x = {.real = reals[i]}, y = {.real = reals[k]};

      CHECK(same(ambit__value_call(CALL_fmin, AMBIT_F32, x, y, y).real,
                 ambit_fmin_f32(reals[i], reals[k])));
      CHECK(same(ambit__value_call(CALL_fmax, AMBIT_F32, x, y, y).real,
                 ambit_fmax_f32(reals[i], reals[k])));
      CHECK(alike(ambit__reduce_fold(&least, x, y).real, ambit_fold_min_f32(reals[i], reals[k])));
      CHECK(alike(ambit__reduce_fold(&most, x, y).real, ambit_fold_max_f32(reals[i], reals[k])));
    }
}

/* A million terms of one sign and of both: one float would be off in the third digit. */
static void sums_in_two_floats_are_as_good_as_in_double(void)
{
  ambit_sum parts[2] = {ambit_sum_zero(), ambit_sum_zero()}, all;
  double want = 0, size = 0;

  for (int i = 0; i < 1000000; i++) {
    float x = (i % 3 ? 0.1f : -0.013f) * (float)(1 + i % 97) + (i == 500000 ? 1e6f : 0.0f);

    want += (double)x;
    size += fabs((double)x);
    parts[i >= 300000] = ambit_sum_add(parts[i >= 300000], x);
  }
  all = ambit_sum_join(parts[0], parts[1]);
  CHECK_MSG(fabs((double)all.high + (double)all.low - want) < 1e-9 * size, "want %.17g, got %.17g",
            want, (double)all.high + (double)all.low);
  CHECK((float)want == ambit_sum_value(all));
}

static void sums_in_two_floats_can_be_infinite(void)
{
  ambit_sum s = ambit_sum_zero();

  s = ambit_sum_add(s, 1.0f);
  s = ambit_sum_add(s, INFINITY);
  s = ambit_sum_add(s, 2.0f);
  CHECK(ambit_sum_value(ambit_sum_join(ambit_sum_zero(), s)) == INFINITY);
  CHECK(isnan(ambit_sum_value(ambit_sum_add(s, -INFINITY))));
  CHECK(!signbit(ambit_sum_value(ambit_sum_add(ambit_sum_zero(), -0.0f))));
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"integers_are_those_of_the_language", integers_are_those_of_the_language},
      {"signs_wrap", signs_wrap},
      {"reals_are_cut_to_integers_as_in_the_language",
       reals_are_cut_to_integers_as_in_the_language},
      {"the_smaller_and_the_larger_are_those_of_the_language",
       the_smaller_and_the_larger_are_those_of_the_language},
      {"sums_in_two_floats_are_as_good_as_in_double", sums_in_two_floats_are_as_good_as_in_double},
      {"sums_in_two_floats_can_be_infinite", sums_in_two_floats_can_be_infinite},
      {0}};

  return test_main(argc, argv, tests);
}
