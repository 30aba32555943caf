/* SPDX-License-Identifier: BSD-3-Clause */
/* test_value.c - edge cases of the arithmetic of the language. */
#include "../support/test.h"
#include "kernel/kernel.h"

#include <limits.h>
#include <math.h>

static ambit__value integer(int64_t x)
{
  return (ambit__value){.integer = x};
}

static ambit__value real(double x)
{
  return (ambit__value){.real = x};
}

static int64_t binary(int op, ambit_type type, int64_t a, int64_t b)
{
  return ambit__value_binary(op, type, integer(a), integer(b)).integer;
}

static void integers_wrap(void)
{
  CHECK_EQ(INT32_MIN, binary(EXPR_ADD, AMBIT_I32, INT32_MAX, 1));
  CHECK_EQ(INT32_MAX, binary(EXPR_SUB, AMBIT_I32, INT32_MIN, 1));
  CHECK_EQ(0, binary(EXPR_MUL, AMBIT_I32, 65536, 65536));
  CHECK_EQ(INT64_MIN, binary(EXPR_ADD, AMBIT_I64, INT64_MAX, 1));
  CHECK_EQ(1, binary(EXPR_MUL, AMBIT_I64, INT64_MAX, INT64_MAX));
  CHECK_EQ(INT32_MIN, ambit__value_unary(EXPR_NEG, AMBIT_I32, integer(INT32_MIN)).integer);
  CHECK_EQ(-1, ambit__value_unary(EXPR_COMPL, AMBIT_I64, integer(0)).integer);
}

static void dividing_an_integer_by_zero_gives_zero(void)
{
  CHECK_EQ(0, binary(EXPR_DIV, AMBIT_I32, 7, 0));
  CHECK_EQ(0, binary(EXPR_MOD, AMBIT_I64, 7, 0));
}

static void dividing_the_least_integer_by_minus_one_wraps(void)
{
  CHECK_EQ(INT32_MIN, binary(EXPR_DIV, AMBIT_I32, INT32_MIN, -1));
  CHECK_EQ(INT64_MIN, binary(EXPR_DIV, AMBIT_I64, INT64_MIN, -1));
  CHECK_EQ(0, binary(EXPR_MOD, AMBIT_I64, INT64_MIN, -1));
}

static void division_cuts_towards_zero(void)
{
  CHECK_EQ(-3, binary(EXPR_DIV, AMBIT_I32, -7, 2));
  CHECK_EQ(-1, binary(EXPR_MOD, AMBIT_I32, -7, 2));
  CHECK_EQ(1, binary(EXPR_MOD, AMBIT_I32, 7, -2));
}

static void shifts_count_modulo_the_width(void)
{
  CHECK_EQ(2, binary(EXPR_SHL, AMBIT_I32, 1, 33));
  CHECK_EQ(1LL << 33, binary(EXPR_SHL, AMBIT_I64, 1, 33));
  CHECK_EQ(INT32_MIN, binary(EXPR_SHL, AMBIT_I32, 1, 31));
  CHECK_EQ(INT32_MIN, binary(EXPR_SHL, AMBIT_I32, 1, -1));
  CHECK_EQ(-1, binary(EXPR_SHR, AMBIT_I32, -1, 5));
  CHECK_EQ(-4, binary(EXPR_SHR, AMBIT_I64, -7, 1));
}

static void reals_become_integers_by_cutting_and_saturating(void)
{
  CHECK_EQ(2, ambit__value_of(2.9, AMBIT_I32).integer);
  CHECK_EQ(-2, ambit__value_of(-2.9, AMBIT_I32).integer);
  CHECK_EQ(INT32_MAX, ambit__value_of(1e10, AMBIT_I32).integer);
  CHECK_EQ(INT32_MIN, ambit__value_of(-1e10, AMBIT_I32).integer);
  CHECK_EQ(INT64_MAX, ambit__value_of(9223372036854775808.0, AMBIT_I64).integer);
  CHECK_EQ(INT64_MIN, ambit__value_of(-INFINITY, AMBIT_I64).integer);
  CHECK_EQ(255, ambit__value_of(300, AMBIT_U8).integer);
  CHECK_EQ(0, ambit__value_of(-3, AMBIT_U8).integer);
  CHECK_EQ(INT16_MAX, ambit__value_of(40000, AMBIT_I16).integer);
  CHECK_EQ(0, ambit__value_of(NAN, AMBIT_I64).integer);
}

static void integers_become_shorter_by_wrapping(void)
{
  CHECK_EQ(44, ambit__value_cast(integer(300), AMBIT_I32, AMBIT_U8).integer);
  CHECK_EQ(255, ambit__value_cast(integer(-1), AMBIT_I32, AMBIT_U8).integer);
  CHECK_EQ(-32768, ambit__value_cast(integer(32768), AMBIT_I32, AMBIT_I16).integer);
  CHECK_EQ(-1, ambit__value_cast(integer(0xffffffffLL), AMBIT_I64, AMBIT_I32).integer);
}

static void a_long_becomes_a_float_by_one_rounding(void)
{
  int64_t x = (1LL << 54) + (1LL << 30) + 1; /* a conversion through double would round to even */

  CHECK((float)x == (float)ambit__value_cast(integer(x), AMBIT_I64, AMBIT_F32).real);
  CHECK((float)(double)x != (float)x);
}

static void float_operations_round_to_float(void)
{
  ambit__value third = ambit__value_binary(EXPR_DIV, AMBIT_F32, real(1), real(3));

  CHECK(third.real == (double)(1.0f / 3.0f));
  CHECK(ambit__value_binary(EXPR_DIV, AMBIT_F64, real(1), real(3)).real == 1.0 / 3.0);
  CHECK(ambit__value_call(CALL_sqrt, AMBIT_F32, real(2), real(0), real(0)).real ==
        (double)sqrtf(2));
  CHECK(isinf(ambit__value_binary(EXPR_MUL, AMBIT_F32, real(1e30f), real(1e30f)).real));
}

static void comparisons_with_nan_are_false_but_for_unequal(void)
{
  CHECK_EQ(0, ambit__value_binary(EXPR_LE, AMBIT_F64, real(NAN), real(NAN)).integer);
  CHECK_EQ(0, ambit__value_binary(EXPR_EQ, AMBIT_F32, real(NAN), real(1)).integer);
  CHECK_EQ(1, ambit__value_binary(EXPR_NE, AMBIT_F64, real(NAN), real(NAN)).integer);
  CHECK_EQ(1, ambit__value_binary(EXPR_LAND, AMBIT_F64, real(NAN), real(1)).integer);
  CHECK_EQ(0, ambit__value_unary(EXPR_NOT, AMBIT_F64, real(NAN)).integer);
}

/* (x < y || y != y) ? x : y */
static void fmin_and_fmax_are_defined_to_the_sign_of_zero(void)
{
  ambit__value z = real(0), m = real(-0.0), n = real(NAN), one = real(1);

  CHECK(signbit(ambit__value_call(CALL_fmin, AMBIT_F64, z, m, z).real));
  CHECK(!signbit(ambit__value_call(CALL_fmin, AMBIT_F64, m, z, z).real));
  CHECK(signbit(ambit__value_call(CALL_fmax, AMBIT_F32, z, m, z).real));
  CHECK(ambit__value_call(CALL_fmin, AMBIT_F32, one, n, z).real == 1);
  CHECK(ambit__value_call(CALL_fmax, AMBIT_F64, n, one, z).real == 1);
}

static void abs_of_the_least_integer_wraps(void)
{
  CHECK_EQ(3, ambit__value_call(CALL_abs, AMBIT_I32, integer(-3), integer(0), integer(0)).integer);
  CHECK_EQ(
      INT64_MIN,
      ambit__value_call(CALL_abs, AMBIT_I64, integer(INT64_MIN), integer(0), integer(0)).integer);
}

static void functions_have_names_and_values(void)
{
  CHECK_STR("sqrt", ambit__call_name(CALL_sqrt));
  CHECK_STR("abs", ambit__call_name(CALL_abs));
  CHECK(ambit__value_call(CALL_fma, AMBIT_F64, real(2), real(3), real(4)).real == 10);
  CHECK(ambit__value_call(CALL_pow, AMBIT_F64, real(2), real(10), real(0)).real == 1024);
  CHECK(ambit__value_call(CALL_copysign, AMBIT_F32, real(2), real(-1), real(0)).real == -2);
}

static void values_go_to_memory_and_back(void)
{
  static const ambit_type types[] = {AMBIT_F32, AMBIT_F64, AMBIT_I32, AMBIT_U8,
                                     AMBIT_I16, AMBIT_I64, AMBIT_F16, AMBIT_BF16};
  union {
    double align;
    unsigned char bytes[8];
  } cell;

  for (int i = 0; i < 8; i++) {
    ambit__value_store(&cell, types[i], ambit__value_of(77, types[i]));
    CHECK(ambit__value_number(ambit__value_load(&cell, types[i]), types[i]) == 77);
  }
  ambit__value_store(&cell, AMBIT_I16, integer(-5));
  CHECK_EQ(-5, ambit__value_load(&cell, AMBIT_I16).integer);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"integers_wrap", integers_wrap},
      {"dividing_an_integer_by_zero_gives_zero", dividing_an_integer_by_zero_gives_zero},
      {"dividing_the_least_integer_by_minus_one_wraps",
       dividing_the_least_integer_by_minus_one_wraps},
      {"division_cuts_towards_zero", division_cuts_towards_zero},
      {"shifts_count_modulo_the_width", shifts_count_modulo_the_width},
      {"reals_become_integers_by_cutting_and_saturating",
       reals_become_integers_by_cutting_and_saturating},
      {"integers_become_shorter_by_wrapping", integers_become_shorter_by_wrapping},
      {"a_long_becomes_a_float_by_one_rounding", a_long_becomes_a_float_by_one_rounding},
      {"float_operations_round_to_float", float_operations_round_to_float},
      {"comparisons_with_nan_are_false_but_for_unequal",
       comparisons_with_nan_are_false_but_for_unequal},
      {"fmin_and_fmax_are_defined_to_the_sign_of_zero",
       fmin_and_fmax_are_defined_to_the_sign_of_zero},
      {"abs_of_the_least_integer_wraps", abs_of_the_least_integer_wraps},
      {"functions_have_names_and_values", functions_have_names_and_values},
      {"values_go_to_memory_and_back", values_go_to_memory_and_back},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
