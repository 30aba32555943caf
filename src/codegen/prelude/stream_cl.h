/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenCL: helpers of kernels that stream strips of a grid. A work-item owns a run of N cells, and
 * loads the cells beside them too: portable OpenCL has no exchange of values between work-items.
 * Names end in the type and number of values, as there are no templates. */

#define AMBIT_TABLE                     constant
#define AMBIT_RESIDENT(x, y, z, blocks) AMBIT_THREADS(x, y, z)
/* Local memory for planes: NVIDIA's driver aligns it for vectors if it is of vectors. */
#define AMBIT_PLANES(n)                                                                            \
  local uint4 ambit_planes[(n) / 16];                                                              \
  local uchar *const bytes = (local uchar *)ambit_planes

AMBIT_INLINE int ambit_least(int a, int b)
{
  return b < a ? b : a;
}
AMBIT_INLINE int ambit_most(int a, int b)
{
  return b > a ? b : a;
}
/* x clamped to low .. high. */
AMBIT_INLINE int ambit_between(int low, int x, int high)
{
  return x < low ? low : x > high ? high : x;
}
/* Wraps x, which is less than n cells outside a row of n cells, into the row. */
AMBIT_INLINE int ambit_wrap(int x, int n)
{
  return x < 0 ? x + n : x < n ? x : x - n;
}

/* A mask of the cells from `first` to `end` - 1 among N. */
#define AMBIT_MASKS(N)                                                                             \
  AMBIT_INLINE int ambit_bits_##N(int first, int end)                                              \
  {                                                                                                \
    const int from = ambit_between(0, first, N), till = ambit_between(0, end, N);                  \
                                                                                                   \
    return till > from ? (1 << till) - (1 << from) : 0;                                            \
  }
AMBIT_MASKS(1)
AMBIT_MASKS(2)
AMBIT_MASKS(4)
AMBIT_MASKS(8)
AMBIT_MASKS(16)

/* N adjacent values, loaded and stored at once. */
#define AMBIT_MOVES(SPACE, LOAD, PUT, T, V, N)                                                     \
  AMBIT_INLINE void LOAD##_##T##_##N(T *to, SPACE const T *from)                                   \
  {                                                                                                \
    union {                                                                                        \
      V all;                                                                                       \
      T at[N];                                                                                     \
    } values;                                                                                      \
                                                                                                   \
    values.all = *(SPACE const V *)from;                                                           \
    for (int k = 0; k < N; k++)                                                                    \
      to[k] = values.at[k];                                                                        \
  }                                                                                                \
  AMBIT_INLINE void PUT##_##T##_##N(SPACE T *to, const T *from)                                    \
  {                                                                                                \
    union {                                                                                        \
      V all;                                                                                       \
      T at[N];                                                                                     \
    } values;                                                                                      \
                                                                                                   \
    for (int k = 0; k < N; k++)                                                                    \
      values.at[k] = from[k];                                                                      \
    *(SPACE V *)to = values.all;                                                                   \
  }
/* In global memory, or to and from local memory: _publish and _fetch. Or stored one by one, if only
 * some bits are set: ambit_store takes them as a range, _bits as a mask, _if does nothing unless
 * `own`. */
#define AMBIT_VALUES(T, V, N)                                                                      \
  AMBIT_MOVES(global, ambit_load, ambit_put, T, V, N)                                              \
  AMBIT_MOVES(local, ambit_fetch, ambit_publish, T, V, N)                                          \
  AMBIT_INLINE void ambit_store_bits_##T##_##N(global T *to, const T *from, int bits)              \
  {                                                                                                \
    if (bits == (1 << N) - 1) {                                                                    \
      ambit_put_##T##_##N(to, from);                                                               \
      return;                                                                                      \
    }                                                                                              \
    for (int k = 0; k < N; k++)                                                                    \
      if (bits >> k & 1) to[k] = from[k];                                                          \
  }                                                                                                \
  AMBIT_INLINE void ambit_store_##T##_##N(global T *to, const T *from, int first, int end)         \
  {                                                                                                \
    ambit_store_bits_##T##_##N(to, from, end > first ? (1 << end) - (1 << first) : 0);             \
  }                                                                                                \
  AMBIT_INLINE void ambit_store_if_##T##_##N(bool own, global T *to, const T *from, int bits)      \
  {                                                                                                \
    if (own) ambit_store_bits_##T##_##N(to, from, bits);                                           \
  }
#define AMBIT_VALUES_OF(T, V)                                                                      \
  AMBIT_VALUES(T, V, 1)                                                                            \
  AMBIT_VALUES(T, V##2, 2)                                                                         \
  AMBIT_VALUES(T, V##4, 4)                                                                         \
  AMBIT_VALUES(T, V##8, 8)
AMBIT_VALUES_OF(float, float)
#if AMBIT_HAS_DOUBLE
AMBIT_VALUES_OF(double, double)
#endif
AMBIT_VALUES_OF(int, int)
AMBIT_VALUES_OF(uchar, uchar)
AMBIT_VALUES_OF(ambit_u32, uint)
AMBIT_VALUES_OF(short, short)
AMBIT_VALUES_OF(long, long)
AMBIT_VALUES_OF(ambit_f16, ushort)

/* 16 bytes, loaded where the text says: NVIDIA's compiler would delay loads until their values are
 * used, to save registers. */
#ifdef __NV_CL_C_VERSION
AMBIT_INLINE uint4 ambit_now_32(global const void *from)
{
  uint a, b, c, d;

  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : "l"(from));
  return (uint4)(a, b, c, d);
}
AMBIT_INLINE ulong2 ambit_now_64(global const void *from)
{
  ulong a, b;

  asm volatile("ld.global.v2.u64 {%0, %1}, [%2];" : "=l"(a), "=l"(b) : "l"(from));
  return (ulong2)(a, b);
}
#else
#  define ambit_now_32(from) (*(global const uint4 *)(from))
#  define ambit_now_64(from) (*(global const ulong2 *)(from))
#endif
#define AMBIT_LOAD_NOW(T, N, WORDS, LOAD)                                                          \
  AMBIT_INLINE void ambit_load_now_##T##_##N(T *to, global const T *from)                          \
  {                                                                                                \
    union {                                                                                        \
      WORDS all;                                                                                   \
      T at[N];                                                                                     \
    } values;                                                                                      \
                                                                                                   \
    values.all = LOAD(from);                                                                       \
    for (int k = 0; k < N; k++)                                                                    \
      to[k] = values.at[k];                                                                        \
  }
AMBIT_LOAD_NOW(float, 4, uint4, ambit_now_32)
AMBIT_LOAD_NOW(int, 4, uint4, ambit_now_32)
AMBIT_LOAD_NOW(short, 8, uint4, ambit_now_32)
AMBIT_LOAD_NOW(ambit_f16, 8, uint4, ambit_now_32)
AMBIT_LOAD_NOW(long, 2, ulong2, ambit_now_64)
#if AMBIT_HAS_DOUBLE
AMBIT_LOAD_NOW(double, 2, ulong2, ambit_now_64)
#endif
