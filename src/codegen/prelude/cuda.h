/* SPDX-License-Identifier: BSD-3-Clause */
/* CUDA: definitions for prelude/arithmetic.h and the kernels below. No headers: NVRTC has none. */
#ifdef __NVCC__
#  pragma nv_diag_suppress 177 /* unused helpers */
#endif
#define AMBIT_INLINE static __device__ __forceinline__
/* A function of one expression. */
#define AMBIT_FORMULA(T, name, parameters, value)                                                  \
  AMBIT_INLINE T name parameters                                                                   \
  {                                                                                                \
    return value;                                                                                  \
  }
#define AMBIT_THREADS(x, y, z)          __launch_bounds__((x) * (y) * (z))
#define AMBIT_RESIDENT(x, y, z, blocks) __launch_bounds__((x) * (y) * (z), blocks)
#define AMBIT_HAS_DOUBLE                1
#define AMBIT_IS_SMALL(x)               ((x) != (x)) /* the conversion handles the rest */
#define AMBIT_BITS_F32(x)               __float_as_uint(x)
#define AMBIT_BITS_F64(x)               ((ambit_u64)__double_as_longlong(x))
#define AMBIT_F32_OF(bits)              __uint_as_float(bits)
#define AMBIT_F64_OF(bits)              __longlong_as_double((ambit_i64)(bits))
#define ambit_count_bits(x)             __popc(x)
#define ambit_bin_add(at, x)            atomicAdd(at, x)

typedef unsigned char ambit_u8;
typedef short ambit_i16;
typedef unsigned short ambit_u16;
typedef int ambit_i32;
typedef unsigned int ambit_u32;
typedef long long ambit_i64;
typedef unsigned long long ambit_u64;

AMBIT_INLINE float ambit_hidden_f32(float x, ambit_i64 nought)
{
  (void)nought;
  asm("" : "+f"(x));
  return x;
}
AMBIT_INLINE double ambit_hidden_f64(double x, ambit_i64 nought)
{
  (void)nought;
  asm("" : "+d"(x));
  return x;
}

#ifdef __CUDACC__
/* The square root, correctly rounded (the same bits as sqrtf for all floats), without the branch
 * for tiny numbers, across which compilers move nothing. */
AMBIT_INLINE float ambit_root(float x)
{
  const bool tiny = x < 0x1p-100f;
  const float scaled = tiny ? x * 0x1p64f : x;
  float inverse, root;

  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(scaled));
  root = __fmul_rn(scaled, inverse);
  root = __fmaf_rn(__fmaf_rn(-root, root, scaled), __fmul_rn(inverse, 0.5f), root);
  if (tiny) root *= 0x1p-32f;
  return x == 0 || x == __int_as_float(0x7f800000) ? x : root;
}
#  define sqrtf(x) ambit_root(x)

/* A quotient and its remainder over an inverse of the divisor, unless that is no number, as for
 * infinite quotients. In PTX, as compilers make selections of it, which take twice as long. */
AMBIT_INLINE float ambit_corrected(float q, float rest, float inverse)
{
  asm("{.reg .pred p; .reg .f32 s;\n"
      "abs.f32 s, %1; setp.lt.f32 p, s, 0f7F800000; @p fma.rn.f32 %0, %1, %2, %0;}"
      : "+f"(q)
      : "f"(rest), "f"(inverse));
  return q;
}
/* a / b without a branch, for code that need not have the same bits everywhere. With a reciprocal
 * within a unit in the last place, in 2.6e8 random divisions of |a| >= 2^-100 the result was exact
 * where the quotient is a float, and else within a unit; of smaller ones, within 3, as the
 * remainder underflows. Of a divisor above 2^126 the reciprocal would be 0: a quarter of it is
 * inverted. */
AMBIT_INLINE float ambit_ratio_of(float a, float b)
{
  float inverse, q;

  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(b * 0.25f));
  inverse *= 0.25f;
  q = __fmul_rn(a, inverse);
  return ambit_corrected(q, __fmaf_rn(-q, b, a), inverse);
}
/* The same of any divisor; above it is not tiny. */
AMBIT_INLINE float ambit_ratio(float a, float b)
{
  asm("{.reg .pred p; .reg .f32 s;\n"
      "abs.f32 s, %1; setp.lt.f32 p, s, 0f01800000;\n"
      "@p mul.f32 %0, %0, 0f5F800000; @p mul.f32 %1, %1, 0f5F800000;}"
      : "+f"(a), "+f"(b));
  return ambit_ratio_of(a, b);
}
/* The same for a constant b that is not very large or small. */
AMBIT_INLINE float ambit_ratio_by(float a, float b)
{
  const float inverse = 1 / b, q = __fmul_rn(a, inverse);

  return ambit_corrected(q, __fmaf_rn(-q, b, a), inverse);
}
/* The same in double: the estimate has 20 bits, its correction 60. */
AMBIT_INLINE double ambit_ratio(double a, double b)
{
  const int inverted = 0x7fd00000 - (__double2hiint(b) & 0x7ff00000);
  const double scale = __hiloint2double(inverted < 0x00100000 ? 0x00100000 : inverted, 0);
  const double n = a * scale, d = b * scale;
  double rough, inverse, q, better;

  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(rough) : "d"(d));
  inverse = __fma_rn(-d, rough, 1);
  inverse = __fma_rn(__fma_rn(inverse, inverse, inverse), rough, rough);
  q = n * inverse;
  better = __fma_rn(__fma_rn(-q, d, n), inverse, q);
  return better == better ? better : n * rough;
}
AMBIT_INLINE double ambit_ratio_by(double a, double b)
{
  const double inverse = 1 / b, q = a * inverse;
  const double better = __fma_rn(__fma_rn(-q, b, a), inverse, q);

  return better == better ? better : q;
}
#else
#  define ambit_ratio_by(a, b) ((a) / (b))
#  define ambit_ratio(a, b)    ((a) / (b))
#  define ambit_ratio_of(a, b) ((a) / (b))
#endif

/* Halves, as bits. */
typedef unsigned short ambit_f16;
#ifdef __CUDACC__
AMBIT_INLINE float ambit_f32_from_f16(ambit_f16 bits)
{
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
  return x;
}
AMBIT_INLINE ambit_f16 ambit_f16_from_f32(float x)
{
  ambit_f16 bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
#else
#  define ambit_f32_from_f16(bits) warp_half_to_float(bits)
#  define ambit_f16_from_f32(x)    warp_float_to_half(x)
#endif
