/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenCL: helpers of kernels that stream strips of a grid. A work-item owns a run of N cells. It
 * loads the cells beside them too, or gets them from other work-items (lanes_cl.h). Names end in
 * the type and number of values, as there are no templates. */

#define AMBIT_TABLE                     constant
#define AMBIT_RESIDENT(x, y, z, blocks) AMBIT_THREADS(x, y, z)

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
 * some bits are set: ambit_store takes them as a range, _bits as a mask. */
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
AMBIT_VALUES_OF(ambit_u16, ushort)
AMBIT_VALUES_OF(ambit_u64, ulong)

/* _bits if this warp owns the cells (`own`). */
#define AMBIT_STORE_IF(T, N)                                                                       \
  AMBIT_INLINE void ambit_store_if_##T##_##N(bool own, global T *to, const T *from, int bits)      \
  {                                                                                                \
    if (own) ambit_store_bits_##T##_##N(to, from, bits);                                           \
  }
#define AMBIT_STORE_IFS(T)                                                                         \
  AMBIT_STORE_IF(T, 1)                                                                             \
  AMBIT_STORE_IF(T, 2)                                                                             \
  AMBIT_STORE_IF(T, 4)                                                                             \
  AMBIT_STORE_IF(T, 8)
AMBIT_STORE_IFS(int)
AMBIT_STORE_IFS(uchar)
AMBIT_STORE_IFS(ambit_u32)
AMBIT_STORE_IFS(short)
AMBIT_STORE_IFS(long)
AMBIT_STORE_IFS(ambit_f16)
AMBIT_STORE_IFS(ambit_u16)
AMBIT_STORE_IFS(ambit_u64)
/* On NVIDIA's GPUs without a branch where a vector has 16 bytes, so that the code after early loads
 * stays one basic block: results are stored as they are computed, and keep no registers. */
#ifdef __NV_CL_C_VERSION
#  define AMBIT_IF(store) "{ .reg .pred yes; setp.ne.s32 yes, %0, 0; @yes " store " }"
#  define AMBIT_STORE_NOW(T, N, ALL, ONE)                                                          \
    AMBIT_INLINE void ambit_store_if_##T##_##N(bool own, global T *to, const T *from, int bits)    \
    {                                                                                              \
      const bool whole = own && bits == (1 << N) - 1;                                              \
                                                                                                   \
      ALL(whole, to, from);                                                                        \
      for (int k = 0; k < N; k++)                                                                  \
        ONE(own && !whole && (bits >> k & 1), to + k, from[k]);                                    \
    }
AMBIT_INLINE void ambit_float_if(bool yes, global float *to, float x)
{
  asm volatile(AMBIT_IF("st.global.f32 [%1], %2;") : : "r"((int)yes), "l"(to), "f"(x) : "memory");
}
AMBIT_INLINE void ambit_floats_if(bool yes, global float *to, const float *from)
{
  asm volatile(AMBIT_IF("st.global.v4.f32 [%1], {%2, %3, %4, %5};")
               :
               : "r"((int)yes), "l"(to), "f"(from[0]), "f"(from[1]), "f"(from[2]), "f"(from[3])
               : "memory");
}
AMBIT_STORE_NOW(float, 4, ambit_floats_if, ambit_float_if)
AMBIT_STORE_IF(float, 1)
AMBIT_STORE_IF(float, 2)
AMBIT_STORE_IF(float, 8)
AMBIT_INLINE void ambit_double_if(bool yes, global double *to, double x)
{
  asm volatile(AMBIT_IF("st.global.f64 [%1], %2;") : : "r"((int)yes), "l"(to), "d"(x) : "memory");
}
AMBIT_INLINE void ambit_doubles_if(bool yes, global double *to, const double *from)
{
  asm volatile(AMBIT_IF("st.global.v2.f64 [%1], {%2, %3};")
               :
               : "r"((int)yes), "l"(to), "d"(from[0]), "d"(from[1])
               : "memory");
}
AMBIT_STORE_NOW(double, 2, ambit_doubles_if, ambit_double_if)
AMBIT_STORE_IF(double, 1)
AMBIT_STORE_IF(double, 4)
AMBIT_STORE_IF(double, 8)
#else
AMBIT_STORE_IFS(float)
#  if AMBIT_HAS_DOUBLE
AMBIT_STORE_IFS(double)
#  endif
#endif

/* Up to 16 bytes, loaded where the text says: NVIDIA's compiler would delay loads until their
 * values are used, to save registers. */
#ifdef __NV_CL_C_VERSION
AMBIT_INLINE ushort ambit_now_2(global const void *from)
{
  ushort a;

  asm volatile("ld.global.u16 %0, [%1];" : "=h"(a) : "l"(from));
  return a;
}
AMBIT_INLINE uint ambit_now_4(global const void *from)
{
  uint a;

  asm volatile("ld.global.u32 %0, [%1];" : "=r"(a) : "l"(from));
  return a;
}
AMBIT_INLINE ulong ambit_now_8(global const void *from)
{
  ulong a;

  asm volatile("ld.global.u64 %0, [%1];" : "=l"(a) : "l"(from));
  return a;
}
AMBIT_INLINE uint4 ambit_now_16(global const void *from)
{
  uint a, b, c, d;

  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : "l"(from));
  return (uint4)(a, b, c, d);
}
AMBIT_INLINE ulong2 ambit_now_2x8(global const void *from)
{
  ulong a, b;

  asm volatile("ld.global.v2.u64 {%0, %1}, [%2];" : "=l"(a), "=l"(b) : "l"(from));
  return (ulong2)(a, b);
}
#else
#  define ambit_now_2(from)   (*(global const ushort *)(from))
#  define ambit_now_4(from)   (*(global const uint *)(from))
#  define ambit_now_8(from)   (*(global const ulong *)(from))
#  define ambit_now_16(from)  (*(global const uint4 *)(from))
#  define ambit_now_2x8(from) (*(global const ulong2 *)(from))
#endif
#define ambit_now_1(from) (*(global const uchar *)(from))
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
#define AMBIT_LOAD_HALVES(T, N, HALF)                                                              \
  AMBIT_INLINE void ambit_load_now_##T##_##N(T *to, global const T *from)                          \
  {                                                                                                \
    ambit_load_now_##T##_##HALF(to, from);                                                         \
    ambit_load_now_##T##_##HALF(to + HALF, from + HALF);                                           \
  }
#define AMBIT_LOADS_OF_2(T)                                                                        \
  AMBIT_LOAD_NOW(T, 1, ushort, ambit_now_2)                                                        \
  AMBIT_LOAD_NOW(T, 2, uint, ambit_now_4)                                                          \
  AMBIT_LOAD_NOW(T, 4, ulong, ambit_now_8)                                                         \
  AMBIT_LOAD_NOW(T, 8, uint4, ambit_now_16)
#define AMBIT_LOADS_OF_4(T)                                                                        \
  AMBIT_LOAD_NOW(T, 1, uint, ambit_now_4)                                                          \
  AMBIT_LOAD_NOW(T, 2, ulong, ambit_now_8)                                                         \
  AMBIT_LOAD_NOW(T, 4, uint4, ambit_now_16)                                                        \
  AMBIT_LOAD_HALVES(T, 8, 4)
#define AMBIT_LOADS_OF_8(T)                                                                        \
  AMBIT_LOAD_NOW(T, 1, ulong, ambit_now_8)                                                         \
  AMBIT_LOAD_NOW(T, 2, ulong2, ambit_now_2x8)                                                      \
  AMBIT_LOAD_HALVES(T, 4, 2)                                                                       \
  AMBIT_LOAD_HALVES(T, 8, 4)
AMBIT_LOAD_NOW(uchar, 1, uchar, ambit_now_1)
AMBIT_LOAD_NOW(uchar, 2, ushort, ambit_now_2)
AMBIT_LOAD_NOW(uchar, 4, uint, ambit_now_4)
AMBIT_LOAD_NOW(uchar, 8, ulong, ambit_now_8)
AMBIT_LOADS_OF_2(short)
AMBIT_LOADS_OF_2(ambit_f16)
AMBIT_LOADS_OF_2(ambit_u16)
AMBIT_LOADS_OF_4(float)
AMBIT_LOADS_OF_4(int)
AMBIT_LOADS_OF_4(ambit_u32)
AMBIT_LOADS_OF_8(long)
AMBIT_LOADS_OF_8(ambit_u64)
#if AMBIT_HAS_DOUBLE
AMBIT_LOADS_OF_8(double)
#endif

/* Computation after it stays there if a branch follows. */
AMBIT_INLINE void ambit_pin(void)
{
#ifdef __NV_CL_C_VERSION
  asm volatile("bar.sync %0, 32;" ::"r"((int)get_local_id(1) + 1) : "memory"); /* this warp only */
#endif
}
