/* SPDX-License-Identifier: BSD-3-Clause */
/* Conversions of halves and bfloats: the library's against their definition, and those of generated
 * C against the library's. */
#include "ambit.h"
#include "support/test.h"

#include <math.h>

#ifdef __GNUC__
#  pragma GCC diagnostic ignored "-Wconversion" /* kernels are not written for it */
#endif

#include "codegen/prelude/c.h"

#include "codegen/prelude/arithmetic.h"

enum { HALVES = 1 << 16 };

static double number(unsigned bits)
{
  return ambit_half_decode((uint16_t)bits);
}

static void a_half_is_a_sign_an_exponent_and_a_fraction(void)
{
  CHECK(number(0) == 0 && signbit(number(0x8000)));
  CHECK(number(0x3c00) == 1 && number(0xc000) == -2 && number(0x3555) == 1365.0 / 4096);
  CHECK(number(1) == 0x1p-24 && number(0x3ff) == 0x3ff * 0x1p-24 && number(0x400) == 0x1p-14);
  CHECK(number(0x7bff) == 65504 && number(0xfc00) == -(double)INFINITY && isnan(number(0x7c01)));
}

static void every_half_comes_back(void)
{
  for (unsigned i = 0; i < HALVES; i++)
    if (isnan(number(i)))
      CHECK((ambit_half_encode(number(i)) & 0x7fff) > 0x7c00);
    else
      CHECK_EQ(i, ambit_half_encode(number(i)));
}

/* Between two adjacent halves the middle goes to the even one, and all else to the nearer one. */
static void numbers_round_to_the_nearest_half_and_ties_to_even(void)
{
  for (unsigned i = 0; i < 0x7c00; i++) {
    const double a = number(i), b = i == 0x7bff ? 65536 : number(i + 1), middle = a / 2 + b / 2;

    CHECK_EQ(i + (i & 1), ambit_half_encode(middle));
    CHECK_EQ(i, ambit_half_encode(nextafter(middle, 0)));
    CHECK_EQ(i + 1, ambit_half_encode(nextafter(middle, 1e6)));
    CHECK_EQ(0x8000 | (i + (i & 1)), ambit_half_encode(-middle));
  }
  CHECK_EQ(0x7c00, ambit_half_encode(1e300));
  CHECK_EQ(0x7e00, ambit_half_encode(NAN));
}

static void kernels_read_halves_as_the_library_does(void)
{
  for (unsigned i = 0; i < HALVES; i++) {
    const double got = (double)ambit_f32_from_f16((ambit_f16)i);

    CHECK_MSG(isnan(number(i)) ? isnan(got)
                               : number(i) == got && !signbit(number(i)) == !signbit(got),
              "half 0x%x is %g", i, got);
  }
}

static void check_store(double x, unsigned got)
{
  const unsigned want = ambit_half_encode(x);

  CHECK_MSG(isnan(x) ? (got & 0x7fff) > 0x7c00 : want == got, "%a is 0x%x, not 0x%x", x, got, want);
}

/* Numbers of every exponent with every end of the fraction, and around every tie. */
static void kernels_round_to_halves_as_the_library_does(void)
{
  for (uint64_t i = 0; i < 1ull << 32; i += 0x10001 - (i >> 9 & 0xfff))
    check_store((double)AMBIT_F32_OF((uint32_t)i), ambit_f16_from_f32(AMBIT_F32_OF((uint32_t)i)));
  for (unsigned i = 0; i < 0x7c00; i++) {
    const float middle = (float)(number(i) / 2 + (i == 0x7bff ? 65536 : number(i + 1)) / 2);
    const double wide = (double)middle;

    for (int k = -1; k <= 1; k++) {
      const float x = k ? nextafterf(middle, k < 0 ? 0.0f : 1e6f) : middle;
      const double y = k ? nextafter(wide, k < 0 ? 0.0 : 1e6) : wide;

      check_store((double)x, ambit_f16_from_f32(x));
      check_store((double)-x, ambit_f16_from_f32(-x));
      check_store(y, ambit_f16_from_f64(y));
      check_store(-y, ambit_f16_from_f64(-y));
    }
  }
  check_store(1e300, ambit_f16_from_f64(1e300));
  check_store(-1e-300, ambit_f16_from_f64(-1e-300));
  check_store((double)NAN, ambit_f16_from_f64((double)NAN));
}

/* ---- bfloats ---- */

static void a_bfloat_is_the_beginning_of_a_float(void)
{
  for (unsigned i = 0; i < HALVES; i++) {
    const double x = ambit_bfloat_decode((uint16_t)i);
    const float got = ambit_f32_from_bf16((ambit_f16)i);

    CHECK_EQ((uint32_t)i << 16, AMBIT_BITS_F32(got));
    if (isnan(x))
      CHECK((ambit_bfloat_encode(x) & 0x7fff) > 0x7f80);
    else
      CHECK(x == (double)got && ambit_bfloat_encode(x) == i);
  }
}

/* Between two adjacent bfloats, of which the last is followed by infinity. */
static void numbers_round_to_the_nearest_bfloat_and_ties_to_even(void)
{
  for (unsigned i = 0; i < 0x7f80; i++) {
    const double a = ambit_bfloat_decode((uint16_t)i);
    const double b = i == 0x7f7f ? 0x1p128 : ambit_bfloat_decode((uint16_t)(i + 1));
    const double middle = a / 2 + b / 2,
                 around[] = {nextafter(middle, 0), middle, nextafter(middle, HUGE_VAL)};
    const unsigned want[] = {i, i + (i & 1), i + 1};

    for (int k = 0; k < 3; k++) {
      CHECK_EQ(want[k], ambit_bfloat_encode(around[k]));
      CHECK_EQ(want[k], ambit_bf16_from_f64(around[k]));
      CHECK_EQ(0x8000 | want[k], ambit_bfloat_encode(-around[k]));
      CHECK_EQ(0x8000 | want[k], ambit_bf16_from_f64(-around[k]));
    }
    CHECK_EQ(want[1], ambit_bf16_from_f32((float)middle));
  }
  CHECK_EQ(0x7f80, ambit_bfloat_encode(1e300));
  CHECK_EQ(0x7f80, ambit_bf16_from_f64(1e300));
  CHECK_EQ(0x8000, ambit_bf16_from_f64(-1e-300));
  CHECK_EQ(0x7fc0, ambit_bfloat_encode(NAN) & 0x7fff);
}

static void kernels_round_to_bfloats_as_the_library_does(void)
{
  for (uint64_t i = 0; i < 1ull << 32; i += 0x10001 - (i >> 9 & 0xfff)) {
    const float x = AMBIT_F32_OF((uint32_t)i);
    const unsigned got = ambit_bf16_from_f32(x);

    CHECK_MSG(isnan(x) ? (got & 0x7fff) > 0x7f80 : got == ambit_bfloat_encode((double)x),
              "%a is 0x%x", (double)x, got);
  }
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"a_half_is_a_sign_an_exponent_and_a_fraction", a_half_is_a_sign_an_exponent_and_a_fraction},
      {"every_half_comes_back", every_half_comes_back},
      {"numbers_round_to_the_nearest_half_and_ties_to_even",
       numbers_round_to_the_nearest_half_and_ties_to_even},
      {"kernels_read_halves_as_the_library_does", kernels_read_halves_as_the_library_does},
      {"kernels_round_to_halves_as_the_library_does", kernels_round_to_halves_as_the_library_does},
      {"a_bfloat_is_the_beginning_of_a_float", a_bfloat_is_the_beginning_of_a_float},
      {"numbers_round_to_the_nearest_bfloat_and_ties_to_even",
       numbers_round_to_the_nearest_bfloat_and_ties_to_even},
      {"kernels_round_to_bfloats_as_the_library_does",
       kernels_round_to_bfloats_as_the_library_does},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
