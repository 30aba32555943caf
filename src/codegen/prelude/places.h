/* SPDX-License-Identifier: BSD-3-Clause */
/* CUDA and OpenCL: positions of cells along an axis, for kernels with strips or units of cells. */

AMBIT_FORMULA(int, ambit_least, (int a, int b), b < a ? b : a)
AMBIT_FORMULA(int, ambit_most, (int a, int b), b > a ? b : a)
/* x clamped to low .. high; a position outside first .. end - 1 as the nearest one inside. */
AMBIT_INLINE int ambit_between(int low, int x, int high)
{
  return x < low ? low : x > high ? high : x;
}
/* A mask of the cells from `first` to `end` - 1 among n. */
AMBIT_INLINE int ambit_bits(int first, int end, int n)
{
  const int from = ambit_between(0, first, n), till = ambit_between(0, end, n);

  return till > from ? (1 << till) - (1 << from) : 0;
}
AMBIT_FORMULA(int, ambit_clamped, (int at, int first, int end), ambit_between(first, at, end - 1))
/* Wrapped around: x, less than n cells outside a row of n cells; any position; any index. */
AMBIT_FORMULA(int, ambit_wrap, (int x, int n), x < 0 ? x + n : x < n ? x : x - n)
AMBIT_INLINE int ambit_cycled(int at, int first, int end)
{
  const int n = end - first, k = (at - first) % n;

  return first + (k < 0 ? k + n : k);
}
AMBIT_FORMULA(ambit_i64, ambit_modulo, (ambit_i64 i, ambit_i64 n), i % n < 0 ? i % n + n : i % n)
