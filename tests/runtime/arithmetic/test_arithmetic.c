/* SPDX-License-Identifier: BSD-3-Clause */
/* Arithmetic that C leaves undefined is defined in kernels, and equal on every device: conversions,
 * division by zero, shifts, the sign of zero. Cells beyond the first test vectors of cells. */
#include "runtime/runtime_test.h"

#include <math.h>

enum { CELLS = 67, MOST_ROWS = 32 };

typedef struct row {
  const char *expr;  /* of x and y, or of f, n, m and l, which have other types: see write_rule */
  double x, y, want; /* equal including the sign of zero; all NaN are equal */
} row;

/* One kernel computes all rows: row i is component i of the three fields. */
static void write_rule(const row *rows, int n, char *text, size_t size)
{
  size_t at = (size_t)snprintf(
      text, size, "void k(const double *px[%d], const double *py[%d], double *v[%d])\n{\n", n, n,
      n);

  for (int i = 0; i < n && at < size; i++)
    at += (size_t)snprintf(text + at, size - at,
                           "  {\n    const double x = *px[%d], y = *py[%d];\n"
                           "    const float f = (float)x;\n    const int n = (int)x, m = (int)y;\n"
                           "    const long l = (long)x;\n    *v[%d] = %s;\n  }\n",
                           i, i, i, rows[i].expr);
  if (at < size) snprintf(text + at, size - at, "}\n");
}

static double fill_x(const int64_t *index, int component, void *user)
{
  (void)index;
  return ((const row *)user)[component].x;
}

static double fill_y(const int64_t *index, int component, void *user)
{
  (void)index;
  return ((const row *)user)[component].y;
}

static void compute(const char *device, const char *strict, const row *rows, int n, double *values)
{
  static char text[16384];
  ambit *a = open_on(device);
  ambit_grid *g = grid_1d(a, CELLS);
  ambit_field *x = ambit_field_create_vector(g, "x", AMBIT_F64, n, AMBIT_SOA);
  ambit_field *y = ambit_field_create_vector(g, "y", AMBIT_F64, n, AMBIT_SOA);
  ambit_field *v = ambit_field_create_vector(g, "v", AMBIT_F64, n, AMBIT_SOA);
  ambit_program *p = ambit_program_create(g);

  ambit_option_set(a, "strict", strict);
  write_rule(rows, n, text, sizeof text);
  ambit_field_fill(x, fill_x, (void *)rows);
  ambit_field_fill(y, fill_y, (void *)rows);
  ambit_apply(p, ambit_kernel_create(a, text), x, y, v);
  ambit_run(p, 1);
  ambit_field_read(v, NULL, NULL, values);
  CHECK_OK(a);
  ambit_close(a);
}

/* Minima of GPUs are instructions, unless strict asks for the second of two zeros. */
static bool may_choose_zero(const char *device, const char *strict, const char *expr)
{
  const bool orders = !strncmp(expr, "fmin", 4) || !strncmp(expr, "fmax", 4);

  return orders && *strict == '0' && strncmp(device, "ref", 3) && strncmp(device, "cpu", 3);
}

static void check_mode(const char *device, const char *strict, const row *rows, int n)
{
  static double values[CELLS * MOST_ROWS];

  compute(device, strict, rows, n, values);
  for (int i = 0; i < CELLS * n; i++) {
    const row *r = &rows[i % n];
    double got = values[i];
    bool zero = !signbit(got) == !signbit(r->want) || may_choose_zero(device, strict, r->expr);
    bool same = isnan(r->want) ? isnan(got) : got == r->want && zero;

    CHECK_MSG(same, "cell %d on %s, strict=%s: %s of %g and %g: want %.17g, got %.17g", i / n,
              device, strict, r->expr, r->x, r->y, r->want, got);
  }
}

static void check_rows(const row *rows, size_t count)
{
  EACH_DEVICE(device)
  {
    check_mode(*device, "1", rows, (int)count);
    check_mode(*device, "0", rows, (int)count);
  }
}

static void real_numbers_become_integers_by_cutting_and_saturating(void)
{
  static const row rows[] = {
      {"(int)x", 2.9, 0, 2},
      {"(int)x", -2.9, 0, -2},
      {"(int)x", 1e30, 0, INT32_MAX},
      {"(int)x", -INFINITY, 0, INT32_MIN},
      {"(int)x", NAN, 0, 0},
      {"(short)x", 40000, 0, 32767},
      {"(short)f", -40000, 0, -32768},
      {"(unsigned char)x", -0.9, 0, 0},
      {"(unsigned char)f", 255.9, 0, 255},
      {"(unsigned char)x", 256, 0, 255},
      {"(double)(long)x", 9.3e18, 0, 9223372036854775808.0},
      {"(long)x == 9223372036854775807L", 9.3e18, 0, 1},
      {"(long)f", -1e30, 0, -9223372036854775808.0},
  };

  check_rows(rows, sizeof rows / sizeof *rows);
}

/* Integers have no negative zero, wherever they come from. */
static void what_was_an_integer_is_never_minus_zero(void)
{
  static const row rows[] = {
      {"(float)(int)f", -0.3, 0, 0.0},
      {"(float)(short)f", -0.3, 0, 0.0},
      {"(double)(int)x", -0.3, 0, 0.0},
      {"(double)(long)x", -0.3, 0, 0.0},
      {"1.0 / (double)(int)x", -0.3, 0, INFINITY},
      {"trunc(x)", -0.3, 0, -0.0},
      {"1.0f / (0.0f - (int)x)", 0, 0, INFINITY},
      {"1.0 / (0.0 - (long)x)", -0.3, 0, INFINITY},
      {"1.0f / (0.0f + (int)x * -1.0f)", 0, 0, INFINITY},
  };

  check_rows(rows, sizeof rows / sizeof *rows);
}

static void integers_wrap_and_division_by_zero_is_zero(void)
{
  static const row rows[] = {
      {"n / m", 7, 0, 0},
      {"n % m", 7, 0, 0},
      {"n / m", INT32_MIN, -1, INT32_MIN},
      {"n % m", INT32_MIN, -1, 0},
      {"n / m", -7, 2, -3},
      {"n % m", -7, 2, -1},
      {"n / m", INT32_MAX, INT32_MAX - 1, 1}, /* quotients of doubles are as exact */
      {"n / m", INT32_MAX - 1, INT32_MAX, 0},
      {"n % m", INT32_MIN, INT32_MAX, -1},
      {"n / m", INT32_MAX - 2, 3, 715827881},
      {"n % m", INT32_MIN, 65535, -32768},
      {"n + m", INT32_MAX, 1, INT32_MIN},
      {"n * n", 65536, 0, 0},
      {"-n", INT32_MIN, 0, INT32_MIN},
      {"abs(n)", INT32_MIN, 0, INT32_MIN},
      {"-n / m", INT32_MIN, 3, -715827882},
      {"-n / 3", INT32_MIN, 0, -715827882},
      {"-n % 3", INT32_MIN, 0, -2},
      {"-(short)n / (short)m", -32768, 2, 16384},
      {"l / (m - m)", 5, 9, 0},
      {"(short)n", 32768, 0, -32768},
      {"(unsigned char)n", -1, 0, 255},
  };

  check_rows(rows, sizeof rows / sizeof *rows);
}

static void shifts_count_modulo_the_width(void)
{
  static const row rows[] = {
      {"n << m", 1, 33, 2},         {"n >> m", -8, 1, -4}, {"n >> m", -8, 33, -4},
      {"n << m", 1, -1, INT32_MIN}, {"l << m", 1, 65, 2},  {"l >> m", -1, 63, -1},
  };

  check_rows(rows, sizeof rows / sizeof *rows);
}

static void nan_loses_and_the_second_of_two_zeros_wins(void)
{
  static const row rows[] = {
      {"fmin(x, y)", NAN, 2, 2},
      {"fmin(x, y)", 2, NAN, 2},
      {"fmax(x, y)", NAN, 2, 2},
      {"fmax(x, y)", 2, NAN, 2},
      {"fmin(x, y)", NAN, NAN, NAN},
      {"fmin(x, y)", 0.0, -0.0, -0.0},
      {"fmin(x, y)", -0.0, 0.0, 0.0},
      {"fmax(x, y)", 0.0, -0.0, -0.0},
      {"fmax(x, y)", -0.0, 0.0, 0.0},
      {"x == y", NAN, NAN, 0},
      {"x != y", NAN, NAN, 1},
      {"!x", NAN, 0, 0},
      {"x ? 1 : 2", NAN, 0, 1},
      {"x && 1", -0.0, 0, 0},
      {"x - x", -0.0, 0, 0.0},
      {"x + 0.0", -0.0, 0, 0.0},
      {"x - 0.0", -0.0, 0, -0.0},
      {"0.0 * x", -3, 0, -0.0},
      {"-x", 0.0, 0, -0.0},
      {"x / y", 1, -0.0, -INFINITY},
      {"sqrt(x)", -0.0, 0, -0.0},
      {"fmin(x, 0.0)", -0.0, 0, 0.0},
      {"fmax(x, -0.0)", 0.0, 0, -0.0},
      {"fminf(f, 0.0f)", -0.0, 0, 0.0},
      {"fmaxf(0.0f, f)", -0.0, 0, -0.0},
      {"rint(2 / NAN)", 0, 0, NAN},
      {"rint(x / NAN)", 3, 0, NAN},
  };

  check_rows(rows, sizeof rows / sizeof *rows);
}

/* Code for cores has such numbers in variables (codegen/hoist.h). */
static void numbers_limit_values(void)
{
  static const row rows[] = {
      {"fmin(-0.0, x)", 0.0, 0, 0.0},      {"fminf(f, 2.0f)", NAN, 0, 2},
      {"fmaxf(-1.0f, f)", NAN, 0, -1},     {"fminf(fmaxf(f, -1), 1)", NAN, 0, -1},
      {"fminf(fmaxf(-1, f), 1)", 7, 0, 1}, {"fmin(1, fmax(-1, x))", -7, 0, -1},
      {"fmin(x, NAN)", 3, 0, 3},
  };

  check_rows(rows, sizeof rows / sizeof *rows);
}

/* Compilers know minimum instructions, which choose zeros and NaN by rules of their own. */
static void in_strict_mode_a_selection_is_not_a_minimum(void)
{
  static const row rows[] = {
      {"x < 0 ? x : 0", -0.0, 0, 0.0},       {"0 > x ? x : 0", -0.0, 0, 0.0},
      {"x < 0 ? x : -0.0", 0.0, 0, -0.0},    {"x > -0.0 ? x : -0.0", 0.0, 0, -0.0},
      {"x > 0 ? 0 : x", -0.0, 0, -0.0},      {"x >= 0 ? x : 0", -0.0, 0, -0.0},
      {"x <= 0 ? 0 : x", -0.0, 0, 0.0},      {"f < 0.0f ? f : 0.0f", -0.0, 0, 0.0},
      {"0.0f < f ? f : 0.0f", -0.0, 0, 0.0}, {"x < m ? x : m", -0.0, 0, 0.0},
      {"m < x ? m : x", -0.0, 0, -0.0},      {"x < y ? x : y", -0.0, 0.0, 0.0},
      {"x > y ? x : y", 0.0, -0.0, -0.0},    {"x < 0 ? x : 0", NAN, 0, 0},
      {"x >= 0 ? 0 : x", NAN, 0, NAN},       {"0 < x ? 0 : x", NAN, 0, NAN},
  };

  EACH_DEVICE(device)
  {
    check_mode(*device, "1", rows, sizeof rows / sizeof *rows);
  }
}

/* Processors have an instruction for -a * b - c, which is 0 where -fma(a, b, c) is -0. */
static void in_strict_mode_fma_rounds_once_and_keeps_the_sign_of_zero(void)
{
  static const row rows[] = {
      {"-fma(x, y, 6.0)", 2, -3, -0.0},
      {"-fmaf(f, (float)y, 6.0f)", 2, -3, -0.0},
      {"-1 * fma(x, y, 6.0)", 2, -3, -0.0},
      {"fma(x, y, 6.0) * -1.0", 2, -3, -0.0},
      {"fmaf(f, (float)y, 6.0f) / -1", 2, -3, -0.0},
      {"-0.0 - fma(x, y, 6.0)", 2, -3, -0.0},
      {"0.0 - fma(x, y, 6.0)", 2, -3, 0.0},
      {"x > 0 ? -fma(x, y, 6.0) : x", 2, -3, -0.0},
      {"-(x * y + 6)", 2, -3, -0.0},
      {"fma(-x, y, -6.0)", 2, -3, 0.0},
      {"fma(x, -y, 6.0)", 2, 3, 0.0},
      {"-fma(x, y, 1.0)", 2, 3, -7},
      {"fma(x, y, -0x1p54)", 0x1p27 + 1, 0x1p27 + 1, 0x1p28 + 1},
      {"x * y - 0x1p54", 0x1p27 + 1, 0x1p27 + 1, 0x1p28},
  };

  EACH_DEVICE(device)
  {
    check_mode(*device, "1", rows, sizeof rows / sizeof *rows);
  }
}

static void floats_round_once_in_their_own_type(void)
{
  static const row rows[] = {
      {"f * f", 0.1, 0, (double)(0.1f * 0.1f)},
      {"f / 3", 1, 0, (double)(1.0f / 3)},
      {"sqrtf(f)", 2, 0, 1.41421354f},
      {"(float)l", 16777217, 0, 16777216},
      {"f + 1e-9f == f", 1, 0, 1},
      {"f + 1e-9 == f", 1, 0, 0},
  };

  check_rows(rows, sizeof rows / sizeof *rows);
}

/* In all devices but ref, which computes what is written. */
static void without_strict_no_term_has_the_factor_zero(void)
{
  static const row strict[] = {{"y + 0 * x", INFINITY, 3, NAN}, {"y - x * 0.0", NAN, 3, NAN}};
  static const row relaxed[] = {{"y + 0 * x", INFINITY, 3, 3},   {"y - x * 0.0", NAN, 3, 3},
                                {"-(x * 0 * y) + y", NAN, 3, 3}, {"2.0 * (0 * x - y)", 5, 3, -6},
                                {"n * 0 + m", 5, 3, 3},          {"0.0 * x", INFINITY, 3, NAN}};

  EACH_DEVICE(device)
  {
    check_mode(*device, "1", strict, 2);
    if (strcmp(*device, "ref") != 0) check_mode(*device, "0", relaxed, 6);
  }
}

/* Sums of whole numbers are exact in any order. A local is summed up twice, used under a condition
 * in between, and some terms have the factor 0. */
static void long_sums_are_complete_in_any_order(void)
{
  static const char text[] =
      "void k(const double *x[12], double *v, float *w)\n{\n"
      "  const int c[12] = {1, 0, -1, 1, 1, 0, -1, 2, 1, 1, 1, -1};\n"
      "  double a = 7, b = 0;\n  float f = 1;\n"
      "  for (int i = 0; i < 12; i++) { a += *x[i]; b += c[i] * *x[i]; f -= (float)*x[i]; }\n"
      "  if (a > 0) { for (int i = 0; i < 12; i++) b = b - *x[i]; }\n"
      "  for (int i = 0; i < 12; i++) a += i * *x[i];\n"
      "  *v = a - 3 * b;\n  *w = f;\n}\n";
  double x[12] = {3, -8, 14, 2, 5, -1, 9, 20, -4, 6, 11, 7}, a = 7, b = 0, want, v[CELLS];
  static const int c[12] = {1, 0, -1, 1, 1, 0, -1, 2, 1, 1, 1, -1};
  row rows[12];
  float w[CELLS];

  for (int i = 0; i < 12; i++) {
    rows[i].x = x[i];
    a += x[i];
    b += (c[i] - 1) * x[i];
  }
  want = a - 3 * b;
  for (int i = 0; i < 12; i++)
    want += i * x[i];
  EACH_DEVICE(d)
  {
    ambit *ctx = open_on(*d);
    ambit_grid *g = grid_1d(ctx, CELLS);
    ambit_field *fx = ambit_field_create_vector(g, "x", AMBIT_F64, 12, AMBIT_SOA);
    ambit_field *fv = ambit_field_create(g, "v", AMBIT_F64);
    ambit_field *fw = ambit_field_create(g, "w", AMBIT_F32);
    ambit_program *p = ambit_program_create(g);

    ambit_field_fill(fx, fill_x, rows);
    ambit_apply(p, ambit_kernel_create(ctx, text), fx, fv, fw);
    ambit_run(p, 1);
    ambit_field_read(fv, NULL, NULL, v);
    ambit_field_read(fw, NULL, NULL, w);
    for (int i = 0; i < CELLS; i++)
      CHECK_MSG(v[i] == want && w[i] == (float)(8 - a), "%s: %g %g, want %g", *d, v[i],
                (double)w[i], want);
    CHECK_OK(ctx);
    ambit_close(ctx);
  }
}

enum { ODD = 12, PAIRS = ODD * ODD };

/* Numbers whose inverse is 0, infinite, or not normal, among others. */
static double odd_number(int64_t i, bool wide)
{
  const double least = wide ? 0x1p-1074 : 0x1p-149, most = wide ? 0x1.8p1023 : 0x1.8p127;
  const double odd[ODD] = {0,         -0.0,         1,     -3,   7e-3, -least,
                           5 * least, 1000 * least, -most, most, NAN,  -INFINITY};

  return odd[i];
}

static double fill_dividend(const int64_t *index, int component, void *user)
{
  (void)component;
  return odd_number(index[0] / ODD, *(bool *)user);
}

static double fill_divisor(const int64_t *index, int component, void *user)
{
  (void)component;
  return odd_number(index[0] % ODD, *(bool *)user);
}

/* Whether a quotient is within two units in the last place of the exact one. */
static bool is_near(double got, double want, bool wide)
{
  const double unit = ldexp(fabs(want), wide ? -52 : -23), least = wide ? 0x1p-1074 : 0x1p-149;

  if (isnan(want) || isnan(got)) return isnan(want) && isnan(got);
  if (isinf(want) || isinf(got)) return want == got;
  return fabs(got - want) <= fmax(2 * unit, 2 * least);
}

static void check_shared_divisors(bool wide)
{
  const char *type = wide ? "double" : "float";
  ambit *a = open_on("cpu");
  ambit_grid *g = grid_1d(a, PAIRS);
  ambit_field *x = ambit_field_create(g, "x", wide ? AMBIT_F64 : AMBIT_F32);
  ambit_field *y = ambit_field_create(g, "y", wide ? AMBIT_F64 : AMBIT_F32);
  ambit_field *v = ambit_field_create_vector(g, "v", AMBIT_F64, 4, AMBIT_SOA);
  ambit_program *p = ambit_program_create(g);
  double values[PAIRS][4];
  char text[400];

  snprintf(text, sizeof text,
           "void k(const %s *x, const %s *y, double *v[4])\n"
           "{ const %s d = *y; *v[0] = *x / d; *v[1] = -*x / d; *v[2] = 1 / d; *v[3] = *x / 12; }",
           type, type, type);
  ambit_option_set(a, "strict", "0");
  ambit_field_fill(x, fill_dividend, &wide);
  ambit_field_fill(y, fill_divisor, &wide);
  ambit_apply(p, ambit_kernel_create(a, text), x, y, v);
  ambit_run(p, 1);
  ambit_field_read(v, NULL, NULL, values);
  for (int i = 0; i < PAIRS; i++) {
    const double m = odd_number(i / ODD, wide), d = odd_number(i % ODD, wide);
    const double n[4] = {m, -m, 1, m}, by[4] = {d, d, d, 12};

    for (int k = 0; k < 4; k++) {
      const double want = wide ? n[k] / by[k] : (double)((float)n[k] / (float)by[k]);

      CHECK_MSG(is_near(values[i][k], want, wide), "%s: %a / %a is %a, want %a", type, n[k], by[k],
                values[i][k], want);
    }
  }
  CHECK_OK(a);
  ambit_close(a);
}

static void without_strict_divisions_by_one_value_are_within_two_units(void)
{
  check_shared_divisors(false);
  check_shared_divisors(true);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"real_numbers_become_integers_by_cutting_and_saturating",
       real_numbers_become_integers_by_cutting_and_saturating},
      {"what_was_an_integer_is_never_minus_zero", what_was_an_integer_is_never_minus_zero},
      {"integers_wrap_and_division_by_zero_is_zero", integers_wrap_and_division_by_zero_is_zero},
      {"shifts_count_modulo_the_width", shifts_count_modulo_the_width},
      {"nan_loses_and_the_second_of_two_zeros_wins", nan_loses_and_the_second_of_two_zeros_wins},
      {"numbers_limit_values", numbers_limit_values},
      {"in_strict_mode_a_selection_is_not_a_minimum", in_strict_mode_a_selection_is_not_a_minimum},
      {"in_strict_mode_fma_rounds_once_and_keeps_the_sign_of_zero",
       in_strict_mode_fma_rounds_once_and_keeps_the_sign_of_zero},
      {"floats_round_once_in_their_own_type", floats_round_once_in_their_own_type},
      {"without_strict_divisions_by_one_value_are_within_two_units",
       without_strict_divisions_by_one_value_are_within_two_units},
      {"without_strict_no_term_has_the_factor_zero", without_strict_no_term_has_the_factor_zero},
      {"long_sums_are_complete_in_any_order", long_sums_are_complete_in_any_order},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
