/* SPDX-License-Identifier: BSD-3-Clause */
/* The float functions of generated C against <math.h> in double: every 1009th float, and special
 * values. */
#include "support/test.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define AMBIT_INLINE static inline
#include "codegen/prelude/math.h"

enum { STRIDE = 1009 };

static float float_of(uint32_t bits)
{
  float x;

  memcpy(&x, &bits, sizeof x);
  return x;
}

/* The distance of a float from the true value, in units of its last place. */
static double error_of(float got, double want)
{
  int exponent;

  if (isnan(want)) return isnan(got) ? 0 : INFINITY;
  if (isinf((float)want) || want == 0)
    return got == (float)want && !signbit(got) == !signbit(want) ? 0 : INFINITY;
  frexp(want, &exponent);
  return fabs(got - want) / ldexp(1, (exponent > -125 ? exponent : -125) - 24);
}

static void check_function(const char *name, float (*f)(float), double (*truth)(double))
{
  double worst = 0;
  float where = 0;

  for (uint64_t bits = 0; bits <= UINT32_MAX; bits += STRIDE) {
    const float x = float_of((uint32_t)bits);
    const double e = error_of(f(x), truth((double)x));

    if (e > worst) worst = e, where = x;
  }
  CHECK_MSG(worst <= 2.5, "%s is off by %.3f units at %.9g", name, worst, (double)where);
}

static const float special[] = {0.0f,     -0.0f,     1.0f,    -1.0f,    2.0f,       -2.0f,
                                0.5f,     -0.5f,     3.0f,    -3.0f,    1e9f,       -1e9f,
                                INFINITY, -INFINITY, NAN,     1e-40f,   -1e-40f,    1e38f,
                                88.7f,    -103.9f,   0x1p24f, -0x1p24f, 16777215.0f};
enum { SPECIAL = sizeof special / sizeof *special };

#define FUNCTION_MAP(X) X(exp) X(exp2) X(log) X(log2) X(log10) X(tanh)

static void errors_are_below_three_units_in_the_last_place(void)
{
#define X(name) check_function(#name "f", ambit_##name##f, name);
  FUNCTION_MAP(X)
#undef X
}

static void special_values_are_those_of_c(void)
{
  for (int i = 0; i < SPECIAL; i++) {
    const float x = special[i];

#define X(name)                                                                                    \
  CHECK_MSG(error_of(ambit_##name##f(x), name((double)x)) <= 2.5, #name "f(%g) is %g", (double)x,  \
            (double)ambit_##name##f(x));
    FUNCTION_MAP(X)
#undef X
  }
}

static void check_power(float x, float y)
{
  const double e = error_of(ambit_powf(x, y), pow((double)x, (double)y));

  CHECK_MSG(e <= 0.51, "powf(%.9g, %.9g) is %.9g, off by %.3f units", (double)x, (double)y,
            (double)ambit_powf(x, y), e);
}

/* Powers near and beyond the range of float, of numbers of every size, and near 1. */
static void powers_round_nearly_once(void)
{
  uint32_t bits = 1;

  for (int i = 0; i < SPECIAL; i++)
    for (int k = 0; k < SPECIAL; k++)
      check_power(special[i], special[k]);
  for (int i = 0; i < 300000; i++) {
    const float x = float_of((bits = bits * 1664525u + 1013904223u) >> 1);
    const float y = (float)(int32_t)(bits = bits * 1664525u + 1013904223u) * 0x1p-31f;
    const double most = 160 / fmax(fabs(log2((double)x)), 1e-30);

    if (!isfinite(x)) continue;
    check_power(x, (float)(y * most));
    check_power(1 + y * 0.01f, x < 1e6f ? x : 1e4f * y);
    check_power(-x, (float)(int)(y * 20));
  }
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"errors_are_below_three_units_in_the_last_place",
       errors_are_below_three_units_in_the_last_place},
      {"special_values_are_those_of_c", special_values_are_those_of_c},
      {"powers_round_nearly_once", powers_round_nearly_once},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
