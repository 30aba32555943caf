/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers as text: exact, short, and the same in every locale. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "base/number.h"
#include "support/comma.h"
#include "support/test.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static void check_double(const char *want, double x)
{
  char out[AMBIT__NUMBER_CHARS];

  ambit__number_print_double(out, x);
  CHECK_STR(want, out);
}

static void check_float(const char *want, float x)
{
  char out[AMBIT__NUMBER_CHARS];

  ambit__number_print_float(out, x);
  CHECK_STR(want, out);
}

static void numbers_print_short_and_as_reals(void)
{
  check_double("0.1", 0.1);
  check_double("1.0", 1);
  check_double("-2.0", -2);
  check_double("0.0", 0);
  check_double("1e+300", 1e300);
  check_double("0.3333333333333333", 1.0 / 3);
  check_double("-2.2250738585072014e-308", -DBL_MIN);
  check_float("0.1", 0.1f);
  check_float("0.16666667", 1.0f / 6);
  check_float("1e-07", 1e-7f);
}

/* Bit patterns of all magnitudes, from a fixed sequence. */
static void numbers_read_back_exactly(void)
{
  uint64_t state = 1;

  for (int i = 0; i < 20000; i++) {
    char out[AMBIT__NUMBER_CHARS];
    double x, back;
    float f;
    uint32_t half;

    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    half = (uint32_t)(state >> 32);
    memcpy(&x, &state, sizeof x);
    memcpy(&f, &half, sizeof f);
    if (!isfinite(x) || !isfinite(f)) continue;
    ambit__number_print_double(out, x);
    CHECK_MSG(ambit__number_read(out, &back) && back == x, "%.17g printed as %s", x, out);
    ambit__number_print_float(out, f);
    CHECK_MSG(strtof(out, NULL) == f, "%.9g printed as %s", (double)f, out);
  }
}

static void only_whole_finite_decimals_are_read(void)
{
  static const char *const bad[] = {"",    " 1",  "1 ",    "1x",   "nan",   "inf",
                                    "0x1", "1,5", "1.2.3", "1e9e", "1e999", "-"};
  double x;

  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    CHECK_MSG(!ambit__number_read(bad[i], &x), "\"%s\" was read as %g", bad[i], x);
  CHECK(ambit__number_read("-1.5e2", &x) && x == -150);
  CHECK(ambit__number_read("+3", &x) && x == 3);
  CHECK(ambit__number_read(".5", &x) && x == 0.5);
}

static void numbers_are_scanned_one_by_one(void)
{
  const char *at = "1.5, 2e3\nx";
  double x = 0;

  CHECK((at = ambit__number_scan(at, &x)) && x == 1.5 && *at == ',');
  CHECK((at = ambit__number_scan(at + 1, &x)) && x == 2000 && *at == '\n');
  CHECK(!ambit__number_scan(at + 1, &x));
  CHECK(!ambit__number_scan("", &x));
  CHECK(!ambit__number_scan("1e999,1", &x));
}

static void a_decimal_comma_changes_nothing(void)
{
  const char *end;
  double x;

  if (!comma_begin()) {
    comma_end();
    SKIP("there is no locale with a decimal comma, nor localedef and charmaps to make one");
  }
  check_double("0.5", 0.5);
  check_float("-0.25", -0.25f);
  CHECK(ambit__number_read("2.75", &x) && x == 2.75);
  CHECK((end = ambit__number_scan("1.5,2", &x)) && x == 1.5 && *end == ',');
  comma_end();
  CHECK(folder_files() <= 1); /* the text of the locale */
}
IN_FOLDER(a_decimal_comma_changes_nothing)

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"numbers_print_short_and_as_reals", numbers_print_short_and_as_reals},
      {"numbers_read_back_exactly", numbers_read_back_exactly},
      {"only_whole_finite_decimals_are_read", only_whole_finite_decimals_are_read},
      {"numbers_are_scanned_one_by_one", numbers_are_scanned_one_by_one},
      {"a_decimal_comma_changes_nothing", a_decimal_comma_changes_nothing_},
      {0}};

  return test_main(argc, argv, tests);
}
