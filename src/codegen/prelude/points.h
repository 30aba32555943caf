/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of a field at points, and rows of numbers, on a GPU (device/gpu/points.c).
 *
 * Compiled after the prelude and some definitions:
 *   KERNEL, GLOBAL   qualifiers of a kernel and of a type in device memory
 *   T, S, V          types of the field, of sums and rows, and of the value to inject or note
 *   LOAD, STORE, GET conversions from T to S, from S to T, and from V to S
 *   THREADS          per block; THREAD and BLOCK are indices, BLOCKS is the number of blocks
 *   SAMPLES, INJECTS, NOTES   one of them is defined
 *
 * Sums have the order of grid/points.h, and are rounded after each product and each sum.
 */
#ifdef SAMPLES
/* Points `who`, whose taps are at `places`; in `many` fields `apart` from each other, for as many
 * rows of `columns`. */
KERNEL AMBIT_THREADS(THREADS, 1, 1) void ambit_points(
    GLOBAL const T *u, ambit_i64 components, ambit_i64 component, ambit_i64 n,
    GLOBAL const ambit_i64 *places, GLOBAL const ambit_i64 *who, GLOBAL const S *weights,
    ambit_i64 ntaps, GLOBAL S *rows, ambit_i64 first, ambit_i64 many, ambit_i64 apart,
    ambit_i64 columns, GLOBAL const ambit_i64 *ended)
{
  if (ended && *ended) return;
  for (ambit_i64 i = BLOCK * THREADS + THREAD; i < many * n * components; i += BLOCKS * THREADS) {
    const ambit_i64 row = i / (n * components), k = i / components % n, c = i % components;
    S sum = -(S)0; /* which keeps the sign of a single value */

    for (ambit_i64 t = 0; t < ntaps; t++) {
      const S w = weights[k * ntaps + t];

      if (w != 0) sum = sum + w * LOAD(u[row * apart + places[k * ntaps + t] + c * component]);
    }
    rows[first + row * columns + who[k] * components + c] = sum;
  }
}
#endif

#ifdef INJECTS
/* Cells at places `at`; entries start[k] to start[k + 1] - 1 are added to cell k, in order. A value
 * of a row is at point * by_point + c * by_component. */
KERNEL AMBIT_THREADS(THREADS, 1,
                     1) void ambit_points(GLOBAL T *u, ambit_i64 components, ambit_i64 component,
                                          ambit_i64 n, GLOBAL const ambit_i64 *at,
                                          GLOBAL const ambit_i64 *who, GLOBAL const S *weights,
                                          GLOBAL const ambit_i64 *start, GLOBAL const V *values,
                                          ambit_i64 first, ambit_i64 by_point,
                                          ambit_i64 by_component, GLOBAL const ambit_i64 *ended)
{
  if (ended && *ended) return;
  for (ambit_i64 i = BLOCK * THREADS + THREAD; i < n * components; i += BLOCKS * THREADS) {
    const ambit_i64 k = i / components, c = i % components, to = at[k] + c * component;

    for (ambit_i64 e = start[k]; e < start[k + 1]; e++) {
      const S x = GET(values[first + who[e] * by_point + c * by_component]);

      u[to] = STORE(LOAD(u[to]) + weights[e] * x);
    }
  }
}
#endif

#ifdef NOTES
KERNEL AMBIT_THREADS(THREADS, 1, 1) void ambit_points(GLOBAL const V *x, GLOBAL S *rows,
                                                      ambit_i64 first,
                                                      GLOBAL const ambit_i64 *ended)
{
  if (ended && *ended) return;
  if (BLOCK == 0 && THREAD == 0) rows[first] = GET(*x);
}
#endif
