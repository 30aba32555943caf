/* SPDX-License-Identifier: BSD-3-Clause */
/* Roots of bytes by arithmetic of halves, for all numbers, with any processor: kernels take them
 * where halves have instructions. */
#include "support/test.h"

#include <math.h>
#include <stdint.h>

#ifdef __GNUC__
#  pragma GCC diagnostic ignored "-Wconversion" /* kernels are not written for it */
#endif

#ifdef __FLT16_MANT_DIG__
typedef unsigned ambit_u32;
typedef union word {
  float x;
  ambit_u32 bits;
} word;
#  define AMBIT_INLINE           static inline __attribute__((unused))
#  define AMBIT_BITS_F32(number) ((word){.x = (number)}.bits)
#  define AMBIT_F32_OF(number)   ((word){.bits = (number)}.x)
#  define AMBIT_HALF_ROOTS       1
#  include "codegen/prelude/lanes.h"

static void half_roots_are_exact(void)
{
  for (int n = 0; n <= 70000; n++) {
    const int want = n < 65025 ? (int)sqrt((double)n) : 255, got = ambit_byte_root(ambit_cut(n));

    CHECK_MSG(got == want, "the root of %d is %d, not %d", n, want, got);
  }
}

static void sums_of_squares_are_cut_off(void)
{
  for (int x = -300; x <= 300; x += 3)
    for (int y = -1020; y <= 300; y++) {
      const int n = x * x + y * y, got = ambit_squares(ambit_square(x), ambit_square(y));

      CHECK_MSG(got == (n < 65025 ? n : 65025), "%d^2 + %d^2 is %d", x, y, got);
    }
}
#else
static void half_roots_are_exact(void)
{
  SKIP("there is no _Float16");
}

static void sums_of_squares_are_cut_off(void)
{
  SKIP("there is no _Float16");
}
#endif

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"half_roots_are_exact", half_roots_are_exact},
      {"sums_of_squares_are_cut_off", sums_of_squares_are_cut_off},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
