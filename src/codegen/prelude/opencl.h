/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenCL C 1.2: definitions for prelude/arithmetic.h and the kernels below. */
#ifdef cl_khr_fp64
#  pragma OPENCL EXTENSION cl_khr_fp64 : enable
#  define AMBIT_HAS_DOUBLE 1
#else
#  define AMBIT_HAS_DOUBLE 0
#endif
#define AMBIT_INLINE static inline
/* A function of one expression. */
#define AMBIT_FORMULA(T, name, parameters, value)                                                  \
  AMBIT_INLINE T name parameters                                                                   \
  {                                                                                                \
    return value;                                                                                  \
  }
#define AMBIT_THREADS(x, y, z) __attribute__((reqd_work_group_size(x, y, z)))
#define AMBIT_IS_SMALL(x)      ((x) != (x)) /* the conversion handles the rest */
#define AMBIT_BITS_F32(x)      as_uint(x)
#define AMBIT_BITS_F64(x)      as_ulong(x)
#define AMBIT_F32_OF(bits)     as_float(bits)
#define AMBIT_F64_OF(bits)     as_double(bits)
#define ambit_count_bits(x)    popcount(x)
#define ambit_bin_add(at, x)   atomic_add((volatile __local ambit_u32 *)(at), x)

typedef uchar ambit_u8;
typedef short ambit_i16;
typedef ushort ambit_u16;
typedef int ambit_i32;
typedef uint ambit_u32;
typedef long ambit_i64;
typedef ulong ambit_u64;

/* NVIDIA's compiler has the asm of CUDA; others subtract 0 in a form that is none to them. */
AMBIT_INLINE float ambit_hidden_f32(float x, ambit_i64 nought)
{
#ifdef __NV_CL_C_VERSION
  float y;
  asm("mov.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return x - as_float((ambit_u32)((ambit_u64)nought >> 63));
#endif
}
#if AMBIT_HAS_DOUBLE
AMBIT_INLINE double ambit_hidden_f64(double x, ambit_i64 nought)
{
#  ifdef __NV_CL_C_VERSION
  double y;
  asm("mov.f64 %0, %1;" : "=d"(y) : "d"(x));
  return y;
#  else
  return x - as_double((ambit_u64)nought >> 63);
#  endif
}
#endif

/* Halves, as bits. Every device converts them in memory; few have arithmetic of them. */
typedef ushort ambit_f16;
AMBIT_INLINE float ambit_f32_from_f16(ambit_f16 bits)
{
  return vload_half(0, (const half *)&bits);
}
AMBIT_INLINE ambit_f16 ambit_f16_from_f32(float x)
{
  ambit_f16 bits;
  vstore_half_rte(x, 0, (half *)&bits);
  return bits;
}
