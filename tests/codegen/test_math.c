/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of generated C against <math.h>: those in float against double, for every 4099th
 * float; those in double against long double, for random numbers of every size, small ones, and
 * neighbours of multiples of pi / 2; and special values. */
#include "support/test.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __GNUC__
#  pragma GCC diagnostic ignored "-Wconversion" /* kernels are not written for it */
#endif

#include "codegen/prelude/c.h"

#include "codegen/prelude/angles.h"
#include "codegen/prelude/arithmetic.h"
#include "codegen/prelude/math.h"
#include "codegen/prelude/math_wide.h"

enum { STRIDE = 4099 };

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

static double limit_of(const char *name)
{
  return strncmp(name, "tan", 3) || !strncmp(name, "tanh", 4) ? 2.5 : 3.5;
}

static void check_function(const char *name, float (*f)(float), double (*truth)(double),
                           double most)
{
  double worst = 0;
  float where = 0;

  for (uint64_t bits = 0; bits <= UINT32_MAX; bits += STRIDE) {
    const float x = float_of((uint32_t)bits);
    if (isfinite(x) && fabs((double)x) > most) continue;
    const double e = error_of(f(x), truth((double)x));

    if (e > worst) worst = e, where = x;
  }
  CHECK_MSG(worst <= limit_of(name), "%s is off by %.3f units at %.9g", name, worst, (double)where);
}

static const float special[] = {0.0f,     -0.0f,     1.0f,    -1.0f,    2.0f,       -2.0f,
                                0.5f,     -0.5f,     3.0f,    -3.0f,    1e9f,       -1e9f,
                                INFINITY, -INFINITY, NAN,     1e-40f,   -1e-40f,    1e38f,
                                88.7f,    -103.9f,   0x1p24f, -0x1p24f, 16777215.0f};
enum { SPECIAL = sizeof special / sizeof *special };

/* clang-format off */
#define FUNCTION_MAP(X) \
  X(exp) X(exp2) X(expm1) X(log) X(log2) X(log10) X(log1p) X(sinh) X(cosh) X(tanh) X(atan) X(asin) X(acos) X(round)
#define ANGLE_MAP(X) X(sin) X(cos) X(tan)
/* clang-format on */

static void errors_are_a_few_units_in_the_last_place(void)
{
#define X(name) check_function(#name "f", ambit_##name##f, name, INFINITY);
  FUNCTION_MAP(X)
#undef X
#define X(name) check_function(#name "f", ambit_##name##f, name, AMBIT_TURNS);
  ANGLE_MAP(X)
#undef X
}

static void special_values_are_those_of_c(void)
{
  for (int i = 0; i < SPECIAL; i++) {
    const float x = special[i];

#define X(name)                                                                                    \
  CHECK_MSG(error_of(ambit_##name##f(x), name((double)x)) <= limit_of(#name), #name "f(%g) is %g", \
            (double)x, (double)ambit_##name##f(x));
    FUNCTION_MAP(X)
    if (!isfinite(x) || fabs((double)x) < AMBIT_TURNS) {
      ANGLE_MAP(X)
    }
#undef X
  }
}

/* ---- functions of two numbers ---- */

static uint64_t next_random(void)
{
  static uint64_t state = 88172645463325252u;

  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

/* No NaN that signals. */
static double double_of(uint64_t bits)
{
  double x;

  memcpy(&x, &bits, sizeof x);
  return isnan(x) ? NAN : x;
}

static void functions_of_two_floats(void)
{
  for (int i = 0; i < 100000; i++) {
    const bool is_special = i < SPECIAL * SPECIAL;
    const float x = is_special ? special[i / SPECIAL] : float_of((uint32_t)next_random());
    const float near = x * (float_of(0x3f000000u | (uint32_t)(next_random() & 0xffffff)));
    const float y = is_special ? special[i % SPECIAL]
                    : i % 2    ? near
                               : float_of((uint32_t)next_random());

    CHECK_MSG(error_of(ambit_atan2f(y, x), atan2((double)y, (double)x)) <= 2.5,
              "atan2f(%.9g, %.9g) is %.9g", (double)y, (double)x, (double)ambit_atan2f(y, x));
    CHECK_MSG(error_of(ambit_hypotf(y, x), hypot((double)y, (double)x)) <= 2.5,
              "hypotf(%.9g, %.9g) is %.9g", (double)y, (double)x, (double)ambit_hypotf(y, x));
  }
}

/* ---- double ---- */

static double wide_error_of(double got, long double want)
{
  int exponent;

  if (isnan(want)) return isnan(got) ? 0 : INFINITY;
  if (isinf((double)want) || want == 0)
    return got == (double)want && !signbit(got) == !signbit(want) ? 0 : INFINITY;
  frexpl(want, &exponent);
  return (double)(fabsl((long double)got - want) /
                  ldexpl(1, (exponent > -1021 ? exponent : -1021) - 53));
}

enum { WIDE = 80000 };

/* The i-th argument. */
static double wide_argument(int i)
{
  const double unit = (double)(next_random() >> 11) * 0x1p-53;
  const double turns = (double)(int64_t)(next_random() >> (34 + i / 4 % 29));

  if (i < SPECIAL) return (double)special[i];
  switch (i % 4) {
  case 0: return double_of(next_random());
  case 1: return (unit - 0.5) * 40;
  case 2: return (unit - 0.5) * 1500;
  default: return turns * 0x1.921fb54442d18p+0 * (1 + (unit - 0.5) * 0x1p-48);
  }
}

static void check_wide(const char *name, double (*f)(double), long double (*truth)(long double),
                       double most)
{
  double worst = 0, where = 0;

  for (int i = 0; i < WIDE; i++) {
    const double x = wide_argument(i);
    double e;

    if (isfinite(x) && fabs(x) > most) continue;
    e = wide_error_of(f(x), truth((long double)x));
    if (e > worst) worst = e, where = x;
  }
  CHECK_MSG(worst <= limit_of(name), "%s is off by %.3f units at %.17g", name, worst, where);
}

static void check_wide_pair(const char *name, double (*f)(double, double),
                            long double (*truth)(long double, long double), double x, double y)
{
  const double e = wide_error_of(f(x, y), truth((long double)x, (long double)y));

  CHECK_MSG(e <= 2.5, "%s(%.17g, %.17g) is %.17g, off by %.3f units", name, x, y, f(x, y), e);
}

static void functions_of_double(void)
{
#define X(name) check_wide(#name, ambit_##name, name##l, INFINITY);
  FUNCTION_MAP(X)
#undef X
#define X(name) check_wide(#name, ambit_##name, name##l, 0x1p45);
  ANGLE_MAP(X)
#undef X
  for (int i = 0; i < WIDE; i++) {
    const bool is_special = i < SPECIAL * SPECIAL;
    const double x = is_special ? (double)special[i / SPECIAL] : double_of(next_random());
    const double unit = (double)(next_random() >> 11) * 0x1p-53 - 0.5;
    const double y = is_special ? (double)special[i % SPECIAL] : i % 2 ? x * 4 * unit : unit;
    const double most = isfinite(x) ? 1100 / fmax(fabs(log2(fabs(x))), 1e-30) : 1;

    check_wide_pair("atan2", ambit_atan2, atan2l, y, x);
    check_wide_pair("hypot", ambit_hypot, hypotl, y, x);
    check_wide_pair("pow", ambit_pow, powl, x, y);
    check_wide_pair("pow", ambit_pow, powl, fabs(x), 2 * unit * most);
    check_wide_pair("pow", ambit_pow, powl, 1 + unit * 0.01, 1e5 * unit * y);
    check_wide_pair("pow", ambit_pow, powl, -fabs(x), (double)(int)(unit * 40));
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
#ifdef __FMA__
  if (!__builtin_cpu_supports("fma")) return TEST_SKIPPED;
#endif
  static const test_case tests[] = {
      {"errors_are_a_few_units_in_the_last_place", errors_are_a_few_units_in_the_last_place},
      {"special_values_are_those_of_c", special_values_are_those_of_c},
      {"functions_of_two_floats", functions_of_two_floats},
      {"functions_of_double", functions_of_double},
      {"powers_round_nearly_once", powers_round_nearly_once},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
