/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenCL: helpers of kernels on strips of a grid. A work-item owns a run of N cells. It
 * loads the cells beside them too. Names end in the type and number of values, as there are no
 * templates. */

#define AMBIT_RESIDENT(x, y, z, blocks) AMBIT_THREADS(x, y, z)

/* All types of values, with those of their vectors; halves are bits. */
#define AMBIT_EACH_INTEGER(DO)                                                                     \
  DO(int, int)                                                                                     \
  DO(uchar, uchar)                                                                                 \
  DO(short, short)                                                                                 \
  DO(long, long)                                                                                   \
  DO(ambit_u16, ushort)                                                                            \
  DO(ambit_u32, uint)                                                                              \
  DO(ambit_u64, ulong)                                                                             \
  DO(ambit_f16, ushort)
#if AMBIT_HAS_DOUBLE
#  define AMBIT_EACH_REAL(DO) DO(float, float) DO(double, double)
#else
#  define AMBIT_EACH_REAL(DO) DO(float, float)
#endif
#define AMBIT_EACH_TYPE(DO) AMBIT_EACH_REAL(DO) AMBIT_EACH_INTEGER(DO)

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
 * some bits are set. */
#define AMBIT_VALUES(T, V, N)                                                                      \
  AMBIT_MOVES(global, ambit_load, ambit_put, T, V, N)                                              \
  AMBIT_MOVES(local, ambit_fetch, ambit_publish, T, V, N)                                          \
  AMBIT_INLINE void ambit_store_##T##_##N(global T *to, const T *from, int bits)                   \
  {                                                                                                \
    if (bits == (1 << N) - 1) {                                                                    \
      ambit_put_##T##_##N(to, from);                                                               \
      return;                                                                                      \
    }                                                                                              \
    for (int k = 0; k < N; k++)                                                                    \
      if (bits >> k & 1) to[k] = from[k];                                                          \
  }
#define AMBIT_VALUES_OF(T, V)                                                                      \
  AMBIT_VALUES(T, V, 1)                                                                            \
  AMBIT_VALUES(T, V##2, 2)                                                                         \
  AMBIT_VALUES(T, V##4, 4)                                                                         \
  AMBIT_VALUES(T, V##8, 8)
AMBIT_EACH_TYPE(AMBIT_VALUES_OF)

/* The same if this warp owns the cells (`own`). */
#define AMBIT_STORE_IF(T, N)                                                                       \
  AMBIT_INLINE void ambit_store_if_##T##_##N(bool own, global T *to, const T *from, int bits)      \
  {                                                                                                \
    if (own) ambit_store_##T##_##N(to, from, bits);                                                \
  }
#define AMBIT_STORE_IFS(T, V)                                                                      \
  AMBIT_STORE_IF(T, 1)                                                                             \
  AMBIT_STORE_IF(T, 2)                                                                             \
  AMBIT_STORE_IF(T, 4)                                                                             \
  AMBIT_STORE_IF(T, 8)
AMBIT_EACH_INTEGER(AMBIT_STORE_IFS)
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
AMBIT_EACH_REAL(AMBIT_STORE_IFS)
#endif

/* A vector of 16 bytes, loaded where the text says: NVIDIA's compiler would delay the load until
 * its values are used, to save registers. */
#ifdef __NV_CL_C_VERSION
AMBIT_INLINE uint4 ambit_now(global const void *from)
{
  uint a, b, c, d;

  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : "l"(from));
  return (uint4)(a, b, c, d);
}
#else
#  define ambit_now(from) (*(global const uint4 *)(from))
#endif
#define AMBIT_LOAD_NOW(T, N)                                                                       \
  AMBIT_INLINE void ambit_load_now_##T##_##N(T *to, global const T *from)                          \
  {                                                                                                \
    union {                                                                                        \
      uint4 all;                                                                                   \
      T at[N];                                                                                     \
    } values;                                                                                      \
                                                                                                   \
    values.all = ambit_now(from);                                                                  \
    for (int k = 0; k < N; k++)                                                                    \
      to[k] = values.at[k];                                                                        \
  }
AMBIT_LOAD_NOW(short, 8)
AMBIT_LOAD_NOW(ambit_u16, 8)
AMBIT_LOAD_NOW(ambit_f16, 8)
AMBIT_LOAD_NOW(float, 4)
AMBIT_LOAD_NOW(int, 4)
AMBIT_LOAD_NOW(ambit_u32, 4)
AMBIT_LOAD_NOW(long, 2)
AMBIT_LOAD_NOW(ambit_u64, 2)
#if AMBIT_HAS_DOUBLE
AMBIT_LOAD_NOW(double, 2)
#endif
