/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions of cells along some axes on a GPU (device/gpu/fold.c).
 *
 * Compiled after the prelude and some definitions:
 *   KERNEL, GLOBAL, SHARED   qualifiers of a kernel, of device memory, of an array of a block
 *   T, S               types of values and totals: S is double, or a 64-bit integer
 *   FOLD(a, b)         of two totals; FROM_BITS(x): a total with the bits of an integer
 *   THREADS, THREAD, BLOCK, BLOCKS, BARRIER   as in other kernels
 *   PER                threads for a total: 1, or THREADS, which then fold along the rows
 *
 * Axes are numbered from the inside. Axis a has n_a cells, s_a apart in u, and t_a apart in the
 * totals. Axes 0 to 4 are folded, 0 with the smallest distances; axes 5 to 9 are left.
 */
KERNEL AMBIT_THREADS(THREADS, 1, 1) void ambit_fold(
    GLOBAL const T *u, ambit_i64 base, GLOBAL S *totals, ambit_i64 first, ambit_i64 identity,
    ambit_i64 more, ambit_i64 n0, ambit_i64 s0, ambit_i64 n1, ambit_i64 s1, ambit_i64 n2,
    ambit_i64 s2, ambit_i64 n3, ambit_i64 s3, ambit_i64 n4, ambit_i64 s4, ambit_i64 n5,
    ambit_i64 s5, ambit_i64 n6, ambit_i64 s6, ambit_i64 n7, ambit_i64 s7, ambit_i64 n8,
    ambit_i64 s8, ambit_i64 n9, ambit_i64 s9, ambit_i64 t5, ambit_i64 t6, ambit_i64 t7,
    ambit_i64 t8, ambit_i64 t9)
{
#if PER > 1
  SHARED S lanes[THREADS];
#endif

  for (ambit_i64 i = (BLOCK * THREADS + THREAD) / PER; i < n5 * n6 * n7 * n8 * n9;
       i += BLOCKS * (THREADS / PER)) {
    const ambit_i64 a5 = i % n5, a6 = i / n5 % n6, a7 = i / (n5 * n6) % n7;
    const ambit_i64 a8 = i / (n5 * n6 * n7) % n8, a9 = i / (n5 * n6 * n7 * n8);
    const ambit_i64 at = base + a5 * s5 + a6 * s6 + a7 * s7 + a8 * s8 + a9 * s9;
    const ambit_i64 to = first + a5 * t5 + a6 * t6 + a7 * t7 + a8 * t8 + a9 * t9;
    S sum = FROM_BITS(identity);

    for (ambit_i64 r = 0; r < n1 * n2 * n3 * n4; r++) {
      const ambit_i64 row =
          at + r % n1 * s1 + r / n1 % n2 * s2 + r / (n1 * n2) % n3 * s3 + r / (n1 * n2 * n3) * s4;

      for (ambit_i64 x = THREAD % PER; x < n0; x += PER)
        sum = FOLD(sum, (S)u[row + x * s0]);
    }
#if PER > 1
    lanes[THREAD] = sum;
    for (int width = THREADS / 2; width > 0; width /= 2) {
      BARRIER;
      if (THREAD < width) lanes[THREAD] = FOLD(lanes[THREAD], lanes[THREAD + width]);
    }
    BARRIER;
    sum = lanes[0];
    BARRIER;
#endif
    if (THREAD % PER == 0) totals[to] = more ? FOLD(totals[to], sum) : sum;
  }
}
