/* SPDX-License-Identifier: BSD-3-Clause */
/* CUDA and OpenCL: bytes, four in a word, and pairs of values (plan/pairs.h). */

/* Bytes 0 and 2 of a word as a pair, or bytes 1 and 3. */
#ifdef __CUDACC__
#  define AMBIT_ODD(word) __byte_perm(word, 0, 0x4341)
#else
#  define AMBIT_ODD(word) ((word) >> 8 & 0x00ff00ffu)
#endif
#define AMBIT_BYTES(word, odd) ((odd) ? AMBIT_ODD(word) : (word)&0x00ff00ffu)

/* A byte of a row of words; a pair of bytes, `at` and the second one after it. */
AMBIT_INLINE ambit_u32 ambit_byte(const ambit_u32 *row, int at)
{
  return row[at / 4] >> at % 4 * 8 & 0xffu;
}
AMBIT_INLINE ambit_u32 ambit_pair(const ambit_u32 *row, int at)
{
  const ambit_u32 first = AMBIT_BYTES(row[at / 4], at % 2);

  if (at % 4 < 2) return first;
  return first >> 16 | AMBIT_BYTES(row[at / 4 + 1], at % 2) << 16;
}
/* Four bytes from two adjacent pairs of bytes. */
#define AMBIT_WORD(pairs, k) ((pairs)[2 * (k)] | (pairs)[2 * (k) + 1] << 8)

/* The first or second value of a pair: none of the pair is negative, or any may be. */
AMBIT_INLINE ambit_i32 ambit_part_of(ambit_u32 pair, int second)
{
  return (ambit_i32)(second ? pair >> 16 : pair & 0xffffu);
}
AMBIT_INLINE ambit_i32 ambit_signed_of(ambit_u32 pair, int second)
{
  return second ? (ambit_i32)(pair + 0x8000u) >> 16 : (ambit_i32)(ambit_i16)pair;
}
/* Of two pairs without negative values, values of the first one where bit 15 of a half is set. */
AMBIT_INLINE ambit_u32 ambit_choose(ambit_u32 truth, ambit_u32 a, ambit_u32 b)
{
  const ambit_u32 mask = (truth >> 15 & 0x00010001u) * 0xffffu;

  return (a & mask) | (b & ~mask);
}

#ifndef __OPENCL_VERSION__
/* Four adjacent bytes of a row of words; and their sum with signed weights, added to another. */
AMBIT_INLINE ambit_u32 ambit_window(const ambit_u32 *row, int at)
{
#  ifdef __CUDACC__
  return at % 4 ? __funnelshift_r(row[at / 4], row[at / 4 + 1], at % 4 * 8) : row[at / 4];
#  else
  return at % 4 ? row[at / 4] >> at % 4 * 8 | row[at / 4 + 1] << (32 - at % 4 * 8) : row[at / 4];
#  endif
}
AMBIT_INLINE ambit_i32 ambit_dot(ambit_u32 bytes, ambit_u32 weights, ambit_i32 more)
{
#  ifdef __CUDACC__
  asm("dp4a.u32.s32 %0, %1, %2, %0;" : "+r"(more) : "r"(bytes), "r"(weights));
#  else
  for (int i = 0; i < 32; i += 8)
    more += (ambit_i32)(bytes >> i & 0xffu) * (signed char)(weights >> i);
#  endif
  return more;
}
#endif

#ifndef __OPENCL_VERSION__
/* The square root of n + 0.5, with a relative error below 2^-21; the integer part of a number below
 * 1024 that is not negative. Conversions and exact roots would take several times as long. */
#  ifdef __CUDACC__
AMBIT_INLINE float ambit_near_root(ambit_i32 n)
{
  float root;

  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"((float)n + 0.5f));
  return root;
}
AMBIT_INLINE ambit_i32 ambit_integer_part(float x)
{
  return __float_as_int(__fadd_rz(x, 8388608.0f)) & 1023;
}
#  else
AMBIT_INLINE float ambit_near_root(ambit_i32 n)
{
  return sqrtf((float)n + 0.5f);
}
AMBIT_INLINE ambit_i32 ambit_integer_part(float x)
{
  return (ambit_i32)x;
}
#  endif
#endif

#ifdef __OPENCL_VERSION__
/* Stores 16 bytes, given as pairs, whose bit is set, if this warp owns them. */
AMBIT_INLINE void ambit_store_bytes_16(bool own, global uchar *to, const ambit_u32 *pairs, int bits)
{
  const uint4 all = (uint4)(AMBIT_WORD(pairs, 0), AMBIT_WORD(pairs, 1), AMBIT_WORD(pairs, 2),
                            AMBIT_WORD(pairs, 3));
  const ambit_u32 words[4] = {all.x, all.y, all.z, all.w};

  if (own && bits == 0xffff)
    *(global uint4 *)to = all;
  else if (own && bits)
    for (int k = 0; k < 16; k++)
      if (bits >> k & 1) to[k] = (uchar)ambit_byte(words, k);
}
#else
/* Stores bytes, given as pairs, whose bit is set, if this warp owns them. */
template <int N>
AMBIT_INLINE void ambit_store_bytes(bool own, unsigned char *to, const ambit_u32 *pairs, int bits)
{
  ambit_u32 words[N / 4];

#  pragma unroll
  for (int k = 0; k < N / 4; k++)
    words[k] = AMBIT_WORD(pairs, k);
  if (own && bits == (1 << N) - 1) {
    ambit_store_all<N / 4>(true, (ambit_u32 *)to, words);
  } else if (own && bits) {
#  pragma unroll
    for (int k = 0; k < N; k++)
      if (bits >> k & 1) to[k] = (unsigned char)ambit_byte(words, k);
  }
}
#endif
