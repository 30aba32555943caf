/* SPDX-License-Identifier: BSD-3-Clause */
/* Long accumulators, and the blocks in which generated C adds, against sums by another exact
 * algorithm (Shewchuk 1997, as in Python's fsum), and against integers. */
#include "codegen/exact.h"
#include "support/test.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#ifdef __GNUC__
#  pragma GCC diagnostic ignored "-Wconversion" /* kernels are not written for it */
#endif
#include "codegen/prelude/c.h"
#include "codegen/prelude/sums.h"
#include "codegen/prelude/sums_c.h"

enum { MOST = 5000 };

static double numbers[MOST];

static uint64_t draw(uint64_t *seed)
{
  uint64_t x = *seed += 0x9e3779b97f4a7c15u;

  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

/* The sum of n finite numbers whose partial sums are finite, correctly rounded. */
static double exact_sum(const double *x, int n)
{
  static double part[2100];
  int parts = 0;
  double high = 0, low = 0;

  for (int i = 0; i < n; i++) {
    double a = x[i];
    int kept = 0;

    for (int k = 0; k < parts; k++) {
      double b = part[k], big = fabs(a) < fabs(b) ? b : a, small = fabs(a) < fabs(b) ? a : b;
      double sum = big + small, lost = small - (sum - big);

      if (lost != 0) part[kept++] = lost;
      a = sum;
    }
    part[kept++] = a;
    parts = kept;
  }
  while (parts > 0) {
    double a = high, b = part[--parts];

    high = a + b;
    low = b - (high - a);
    if (low != 0) break;
  }
  if (parts > 0 && ((low < 0 && part[parts - 1] < 0) || (low > 0 && part[parts - 1] > 0))) {
    double twice = low * 2, sum = high + twice;

    if (twice == sum - high) high = sum;
  }
  return high + 0.0;
}

/* Numbers of all kinds of exponents within `range` binary orders below 2^top. */
static void draw_numbers(uint64_t *seed, int n, int top, int range)
{
  for (int i = 0; i < n; i++) {
    double m = (double)(int64_t)(draw(seed) >> 11) * 0x1p-53;

    numbers[i] = ldexp(draw(seed) & 1 ? m : -m, top - (int)(draw(seed) % (uint64_t)(range + 1)));
    if (draw(seed) % 9 == 0) numbers[i] = 0;
  }
}

static void shuffle(uint64_t *seed, int n)
{
  for (int i = n - 1; i > 0; i--) {
    int k = (int)(draw(seed) % (uint64_t)(i + 1));
    double x = numbers[i];

    numbers[i] = numbers[k];
    numbers[k] = x;
  }
}

static double one_by_one(int n)
{
  ambit__long sum = {{0}};

  for (int i = 0; i < n; i++)
    ambit__long_add(&sum, numbers[i]);
  return ambit__long_value(&sum, AMBIT_F64);
}

/* In blocks, some of them small, and in several accumulators. */
static double in_blocks(uint64_t *seed, int n)
{
  ambit__long sum = {{0}};

  for (int i = 0; i < n;) {
    static ambit_block b;
    ambit__long one = {{0}};
    int end = i + 1 + (int)(draw(seed) % (uint64_t)(n - i));

    ambit_block_open(&b, one.words);
    while (i < end) {
      int k = 1 + (int)(draw(seed) % 40);
      double *at = b.x.f64 + b.n;

      if (k > end - i) k = end - i;
      for (int j = 0; j < k; j++)
        *at++ = numbers[i++];
      b.n = ambit_block_settle_f64(&b, at, 40) - b.x.f64;
    }
    ambit_block_close_f64(&b);
    ambit__long_join(&sum, &one);
  }
  return ambit__long_value(&sum, AMBIT_F64);
}

static float floats_in_blocks(int n)
{
  static ambit_block b;
  ambit__long sum = {{0}};

  ambit_block_open(&b, sum.words);
  for (int i = 0; i < n;) {
    float *at = b.x.f32 + b.n;
    int k = 0;

    for (; k < 37 && i < n; k++)
      *at++ = (float)numbers[i++];
    b.n = ambit_block_settle_f32(&b, at, 40) - b.x.f32;
  }
  ambit_block_close_f32(&b);
  return (float)ambit__long_value(&sum, AMBIT_F32);
}

static void sums_are_correctly_rounded_in_any_order(void)
{
  static const int tops[] = {0, 40, -900, -1000, 950, -1021, 1000};
  static const int ranges[] = {0, 3, 20, 40, 70, 200, 1900};
  uint64_t seed = 1;

  for (int t = 0; t < 7; t++)
    for (int r = 0; r < 7; r++) {
      const int n = (int)(draw(&seed) % MOST);

      draw_numbers(&seed, n, tops[t], ranges[r]);
      for (int round = 0; round < 3; round++) {
        const double want = exact_sum(numbers, n), one = one_by_one(n), all = in_blocks(&seed, n);

        CHECK_MSG(want == one && !signbit(one) == !signbit(want), "2^%d, %d: want %a, got %a",
                  tops[t], ranges[r], want, one);
        CHECK_MSG(want == all, "2^%d, %d, blocks: want %a, got %a", tops[t], ranges[r], want, all);
        shuffle(&seed, n);
      }
    }
}

/* Rounded to float once: by way of double, some of these would be rounded twice. */
static void sums_of_floats_are_rounded_once(void)
{
  static const int tops[] = {0, 120, -120}, ranges[] = {1, 20, 100, 250};
  ambit__long sum = {{0}};
  uint64_t seed = 2;

  for (int t = 0; t < 3; t++)
    for (int r = 0; r < 4; r++) {
      const int n = (int)(draw(&seed) % MOST);
      double want, lost;
      float nearest;

      draw_numbers(&seed, n, tops[t], ranges[r]);
      for (int i = 0; i < n; i++)
        numbers[i] = (double)(float)numbers[i];
      want = exact_sum(numbers, n);
      nearest = floats_in_blocks(n);
      lost = want - (double)nearest;
      CHECK_MSG(fabs(lost) <= fabs((double)nextafterf(nearest, INFINITY) - (double)nearest) / 2 ||
                    fabs(lost) <=
                        fabs((double)nextafterf(nearest, -INFINITY) - (double)nearest) / 2,
                "want %a, got %a", want, (double)nearest);
    }
  ambit__long_add(&sum, 1.0 + 0x1p-24); /* a tie for a float, and a little more than one */
  ambit__long_add(&sum, 0x1p-80);
  CHECK(ambit__long_value(&sum, AMBIT_F32) == 1.0 + 0x1p-23);
  ambit__long_add(&sum, -0x1p-80);
  CHECK(ambit__long_value(&sum, AMBIT_F32) == 1.0);
  ambit__long_add(&sum, 0x1p-23);
  CHECK(ambit__long_value(&sum, AMBIT_F32) == 1.0 + 0x1p-22);
}

static double sum_of(int n, const double *x, ambit_type type)
{
  ambit__long sum = {{0}};
  static ambit_block b;
  ambit__long other = {{0}};
  double a, c;

  for (int i = 0; i < n; i++)
    ambit__long_add(&sum, x[i]);
  ambit_block_open(&b, other.words);
  memcpy(b.x.f64, x, (size_t)n * sizeof *x);
  b.n = ambit_block_settle_f64(&b, b.x.f64 + n, 40) - b.x.f64;
  ambit_block_close_f64(&b);
  a = ambit__long_value(&sum, type);
  c = ambit__long_value(&other, type);
  CHECK_MSG(!memcmp(&a, &c, sizeof a) || (isnan(a) && isnan(c)), "%a and %a", a, c);
  return a;
}
#define SUM(type, ...)                                                                             \
  sum_of(sizeof((const double[]){__VA_ARGS__}) / sizeof(double), (const double[]){__VA_ARGS__},    \
         type)

static void what_is_not_finite_has_a_sum(void)
{
  const double tiny = 0x1p-1074;

  CHECK(isnan(SUM(AMBIT_F64, 1, NAN, 2)));
  CHECK(isnan(SUM(AMBIT_F32, INFINITY, NAN)));
  CHECK(isnan(SUM(AMBIT_F64, INFINITY, 5, -INFINITY)));
  CHECK(SUM(AMBIT_F64, INFINITY, -1e300, INFINITY) == INFINITY);
  CHECK(SUM(AMBIT_F32, 3, -INFINITY) == -INFINITY);
  CHECK(SUM(AMBIT_F64, -0.0, -0.0) == 0 && !signbit(SUM(AMBIT_F64, -0.0, -0.0)));
  CHECK(!signbit(SUM(AMBIT_F64, 1, -1)));
  CHECK(SUM(AMBIT_F64, tiny, tiny, -4 * tiny) == -2 * tiny);
  CHECK(SUM(AMBIT_F64, DBL_MIN, -tiny) == DBL_MIN - tiny);
  CHECK(SUM(AMBIT_F64, DBL_MAX, DBL_MAX, -DBL_MAX) ==
        DBL_MAX); /* it is too large on the way only */
  CHECK(SUM(AMBIT_F64, DBL_MAX, DBL_MAX, -DBL_MAX, -DBL_MAX, 3) == 3);
  CHECK(SUM(AMBIT_F64, DBL_MAX, DBL_MAX) == INFINITY);
  CHECK(SUM(AMBIT_F64, DBL_MAX, 0x1p969) == DBL_MAX);
  CHECK(SUM(AMBIT_F64, -DBL_MAX, -0x1p970) == -INFINITY);
  CHECK(SUM(AMBIT_F32, FLT_MAX, FLT_MAX) == INFINITY);
  CHECK(SUM(AMBIT_F32, FLT_MAX, FLT_MAX, -FLT_MAX) == FLT_MAX);
  CHECK(SUM(AMBIT_F32, 0x1p-150) == 0 && SUM(AMBIT_F32, 0x1p-150, 0x1p-200) == 0x1p-149);
  CHECK(SUM(AMBIT_F32, 0x1p-149, 0x1p-150) == 0x1p-148);
  CHECK(SUM(AMBIT_F64, 1e100, 1, -1e100) == 1);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"sums_are_correctly_rounded_in_any_order", sums_are_correctly_rounded_in_any_order},
      {"sums_of_floats_are_rounded_once", sums_of_floats_are_rounded_once},
      {"what_is_not_finite_has_a_sum", what_is_not_finite_has_a_sum},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
