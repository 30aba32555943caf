/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions of cells, or of totals of pieces, along some axes on a GPU (device/gpu/fold.c).
 *
 * Compiled after the prelude and some definitions:
 *   KERNEL, GLOBAL, SHARED   qualifiers of a kernel, of device memory, of an array of a block
 *   T, S, R            types of values, totals and results: S is double, or a 64-bit integer
 *   RESULT(x)          a total as a result
 *   FOLD(a, b)         of two totals; FROM_BITS(x): a total with the bits of an integer
 *   THREADS, THREAD, BLOCK, BLOCKS, BARRIER   as in other kernels
 *   PER, NEXT          threads of a total, and how far apart: 1 along rows, else neighbouring
 *                      threads have neighbouring totals
 *
 *   EXACT              if defined, results are long accumulators (sums.h), and FOLD is not needed
 *
 * Axes are numbered from the inside. Axis a has n_a cells, s_a apart in u, and t_a apart in the
 * results. Axes 0 to 5 are folded, 0 with the smallest distances; axes 6 to 11 are left, among them
 * that of the components.
 */
KERNEL AMBIT_THREADS(THREADS, 1, 1) void ambit_fold(
    GLOBAL const T *u, ambit_i64 base, GLOBAL R *results, ambit_i64 first, ambit_i64 identity,
    ambit_i64 more, ambit_i64 n0, ambit_i64 s0, ambit_i64 n1, ambit_i64 s1, ambit_i64 n2,
    ambit_i64 s2, ambit_i64 n3, ambit_i64 s3, ambit_i64 n4, ambit_i64 s4, ambit_i64 n5,
    ambit_i64 s5, ambit_i64 n6, ambit_i64 s6, ambit_i64 n7, ambit_i64 s7, ambit_i64 n8,
    ambit_i64 s8, ambit_i64 n9, ambit_i64 s9, ambit_i64 n10, ambit_i64 s10, ambit_i64 n11,
    ambit_i64 s11, ambit_i64 t6, ambit_i64 t7, ambit_i64 t8, ambit_i64 t9, ambit_i64 t10,
    ambit_i64 t11)
{
  enum { SIDE = THREADS / PER }; /* totals of a block */
  const ambit_i64 outer = n8 * n9 * n10 * n11, all = n6 * n7 * outer;
  const ambit_i64 share = THREAD / NEXT % PER;
#ifdef EXACT
  SHARED ambit_i64 words[SIDE * AMBIT_LONG_WORDS];
#elif PER > 1
  SHARED S lanes[THREADS];
#endif

  for (ambit_i64 block = BLOCK * SIDE; block < all; block += BLOCKS * SIDE) {
    const int mine = NEXT == 1 ? THREAD / PER : THREAD % SIDE;
    const ambit_i64 i = block + mine;
    const ambit_i64 cells = i < all ? n0 : 0;
    ambit_i64 at = base, to = first, a6 = i, a7 = 0;
#ifdef EXACT
    AMBIT_SHARED ambit_i64 *own = words + mine * AMBIT_LONG_WORDS;
    ambit_part sum = ambit_part_zero();

    for (int k = THREAD; k < SIDE * AMBIT_LONG_WORDS; k += THREADS)
      ambit_long_clear(words, k);
    BARRIER;
#else
    S sum = FROM_BITS(identity);
#endif

    if (n7 * outer > 1) {
      a6 = i % n6;
      a7 = i / n6;
    }
    if (outer > 1) {
      const ambit_i64 a8 = a7 / n7 % n8, a9 = a7 / (n7 * n8) % n9;
      const ambit_i64 a10 = a7 / (n7 * n8 * n9) % n10, a11 = a7 / (n7 * n8 * n9 * n10);

      a7 %= n7;
      at += a8 * s8 + a9 * s9 + a10 * s10 + a11 * s11;
      to += a8 * t8 + a9 * t9 + a10 * t10 + a11 * t11;
    }
    at += a6 * s6 + a7 * s7;
    to += a6 * t6 + a7 * t7;
    for (ambit_i64 a5 = 0; a5 < n5; a5++)
      for (ambit_i64 a4 = 0; a4 < n4; a4++)
        for (ambit_i64 a3 = 0; a3 < n3; a3++)
          for (ambit_i64 a2 = 0; a2 < n2; a2++)
            for (ambit_i64 a1 = 0; a1 < n1; a1++) {
              GLOBAL const T *row = u + (at + a1 * s1 + a2 * s2 + a3 * s3 + a4 * s4 + a5 * s5);

              for (ambit_i64 x = share; x < cells; x += PER)
#ifdef EXACT
                sum = ambit_part_add(sum, own, row[x * s0]);
#else
                sum = FOLD(sum, (S)row[x * s0]);
#endif
            }
#ifdef EXACT
    ambit_part_leave(sum, own);
    BARRIER;
    for (int k = share; i < all && k < AMBIT_LONG_WORDS; k += PER)
      results[to * AMBIT_LONG_WORDS + k] =
          ambit_long_get(own, k) + (more ? results[to * AMBIT_LONG_WORDS + k] : 0);
#elif PER == 1
    if (i < all) results[to] = RESULT(more ? FOLD((S)results[to], sum) : sum);
#else
    lanes[THREAD] = sum;
    for (int width = PER / 2; width > 0; width /= 2) {
      BARRIER;
      if (share < width) lanes[THREAD] = FOLD(lanes[THREAD], lanes[THREAD + width * NEXT]);
    }
    BARRIER;
    if (share == 0 && i < all) {
      sum = lanes[THREAD];
      results[to] = RESULT(more ? FOLD((S)results[to], sum) : sum);
    }
#endif
#if PER > 1
    BARRIER;
#endif
  }
}
