/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenCL: helpers of the strategy `fused`, after those of stream_cl.h and lanes_cl.h. */

/* The same in all work-items of a warp. */
AMBIT_INLINE int ambit_of_warp(int n)
{
  return n;
}

/* A position outside first .. end - 1 as the nearest one inside, or wrapped around. */
AMBIT_INLINE int ambit_clamped(int at, int first, int end)
{
  return ambit_between(first, at, end - 1);
}
AMBIT_INLINE int ambit_cycled(int at, int first, int end)
{
  const int n = end - first, k = (at - first) % n;

  return first + (k < 0 ? k + n : k);
}
AMBIT_INLINE long ambit_modulo(long i, long n)
{
  return i % n < 0 ? i % n + n : i % n;
}

/* Cells outside a face: copies of cells inside, mirrored about the last cell or about the
 * face, or of the last cell, or a number. */
#define AMBIT_NOTHING 0
#define AMBIT_MIRROR  1
#define AMBIT_DOUBLE  2
#define AMBIT_LAST    3
#define AMBIT_NUMBER  4
AMBIT_INLINE int ambit_inside(int kind, int distance)
{
  return kind == AMBIT_MIRROR ? distance : kind == AMBIT_DOUBLE ? distance - 1 : 0;
}

/* Sets the cells of a row that are outside the grid; x is the lane's first cell, left that of the
 * first of the n lanes that share the row. The kinds of the faces are constants. _store_all stores
 * N values if `yes`. */
#define AMBIT_FILL(T, N)                                                                           \
  AMBIT_EXCHANGES(T, N)                                                                            \
  AMBIT_INLINE void ambit_fill_##T##_##N(T *row, int x, int left, int first, int end, T low,       \
                                         T high, int below, int above, int n, local ulong *lanes)  \
  {                                                                                                \
    const int lane = (int)get_local_id(0) / n * n;                                                 \
    int from[N];                                                                                   \
                                                                                                   \
    for (int j = 0; j < N; j++) {                                                                  \
      from[j] = x + j;                                                                             \
      if (below != AMBIT_NOTHING && x + j < first)                                                 \
        from[j] = first + ambit_inside(below, first - x - j);                                      \
      if (above != AMBIT_NOTHING && x + j >= end)                                                  \
        from[j] = end - 1 - ambit_inside(above, x + j - end + 1);                                  \
      from[j] = lane * N + ambit_between(0, from[j] - left, n * N - 1);                            \
    }                                                                                              \
    if ((below != AMBIT_NOTHING && below != AMBIT_NUMBER) ||                                       \
        (above != AMBIT_NOTHING && above != AMBIT_NUMBER))                                         \
      ambit_gather_##T##_##N(row, from, lanes);                                                    \
    for (int j = 0; j < N; j++) {                                                                  \
      if (below == AMBIT_NUMBER && x + j < first) row[j] = low;                                    \
      if (above == AMBIT_NUMBER && x + j >= end) row[j] = high;                                    \
    }                                                                                              \
  }                                                                                                \
  AMBIT_INLINE void ambit_store_all_##T##_##N(bool yes, global T *to, const T *from)               \
  {                                                                                                \
    ambit_store_if_##T##_##N(yes, to, from, (1 << N) - 1);                                         \
  }
#define AMBIT_FILLS(T) AMBIT_FILL(T, 1) AMBIT_FILL(T, 2) AMBIT_FILL(T, 4) AMBIT_FILL(T, 8)
AMBIT_FILLS(float)
AMBIT_FILLS(int)
AMBIT_FILLS(uchar)
AMBIT_FILLS(short)
AMBIT_FILLS(long)
AMBIT_FILLS(ambit_f16)
AMBIT_FILLS(ambit_u16)
AMBIT_FILLS(ambit_u32)
AMBIT_FILLS(ambit_u64)
#if AMBIT_HAS_DOUBLE
AMBIT_FILLS(double)
#endif
