/* SPDX-License-Identifier: BSD-3-Clause */
/* CUDA and OpenCL: bytes, four in a word; shorts, two; pairs of values (nest/strip/pairs.h). */

/* NVIDIA's OpenCL compiler has the instructions of CUDA, too. */
#if defined(__CUDACC__) || defined(__NV_CL_C_VERSION)
#  define AMBIT_PTX
#endif
/* Minima of 16 bits are instructions; kernels in OpenCL define it if they are. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#  define AMBIT_MINIMA
#endif

/* Bytes 0 and 2 of a word as a pair, or bytes 1 and 3. */
#ifdef __CUDACC__
#  define AMBIT_ODD(word) __byte_perm(word, 0, 0x4341)
#else
#  define AMBIT_ODD(word) ((word) >> 8 & 0x00ff00ffu)
#endif
#define AMBIT_BYTES(word, odd) ((odd) ? AMBIT_ODD(word) : (word)&0x00ff00ffu)

/* A byte of a row of words; a pair of bytes, `at` and the second one after it. */
AMBIT_FORMULA(ambit_u32, ambit_byte, (const ambit_u32 *row, int at),
              row[at / 4] >> at % 4 * 8 & 0xffu)
AMBIT_INLINE ambit_u32 ambit_pair(const ambit_u32 *row, int at)
{
  const ambit_u32 first = AMBIT_BYTES(row[at / 4], at % 2);

  if (at % 4 < 2) return first;
  return first >> 16 | AMBIT_BYTES(row[at / 4 + 1], at % 2) << 16;
}
/* Two shorts from two adjacent numbers. */
#define AMBIT_SHORTS(n, k) (((ambit_u32)(n)[2 * (k)] & 0xffffu) | (ambit_u32)(n)[2 * (k) + 1] << 16)
/* Four bytes from two adjacent pairs of bytes. */
#define AMBIT_WORD(pairs, k) ((pairs)[2 * (k)] | (pairs)[2 * (k) + 1] << 8)

/* The same of shorts. */
AMBIT_FORMULA(ambit_i32, ambit_short, (const ambit_u32 *row, int at),
              (ambit_i32)(ambit_i16)(row[at / 2] >> at % 2 * 16))
AMBIT_INLINE ambit_i32 ambit_dot_shorts(ambit_u32 shorts, ambit_u32 weights, ambit_i32 more)
{
  if (!weights) return more;
#ifdef AMBIT_PTX
  asm("dp2a.lo.s32.s32 %0, %1, %2, %0;" : "+r"(more) : "r"(shorts), "r"(weights));
#else
  for (int i = 0; i < 2; i++)
    more = (ambit_i32)((ambit_u32)more + (ambit_u32)(ambit_short(&shorts, i) *
                                                     (ambit_i32)(signed char)(weights >> 8 * i)));
#endif
  return more;
}

/* The first or second value of a pair: none of the pair is negative, or any may be. */
AMBIT_FORMULA(ambit_i32, ambit_part_of, (ambit_u32 pair, int second),
              (ambit_i32)(second ? pair >> 16 : pair & 0xffffu))
AMBIT_FORMULA(ambit_i32, ambit_signed_of, (ambit_u32 pair, int second),
              second ? (ambit_i32)(pair + 0x8000u) >> 16 : (ambit_i32)(ambit_i16)pair)
/* Bits of the second word where those of the first one are set, else of the third one. */
AMBIT_FORMULA(ambit_u32, ambit_select, (ambit_u32 bits, ambit_u32 a, ambit_u32 b),
              (a & bits) | (b & ~bits))
/* Of two pairs without negative values, values of the first one where bit 15 of a half is set; the
 * same of four bytes, by bit 7 of each. `signs` takes the signs of bytes 1 and 3, twice each, or of
 * all bytes. */
#ifdef AMBIT_PTX
#  define AMBIT_CHOICE(name, signs, top, ones, all)                                                \
    AMBIT_INLINE ambit_u32 name(ambit_u32 truth, ambit_u32 a, ambit_u32 b)                         \
    {                                                                                              \
      ambit_u32 mask;                                                                              \
      asm("prmt.b32 %0, %1, 0, " signs ";" : "=r"(mask) : "r"(truth));                             \
      return ambit_select(mask, a, b);                                                             \
    }
#else
#  define AMBIT_CHOICE(name, signs, top, ones, all)                                                \
    AMBIT_FORMULA(ambit_u32, name, (ambit_u32 truth, ambit_u32 a, ambit_u32 b),                    \
                  ambit_select((truth >> top & ones) * all, a, b))
#endif
AMBIT_CHOICE(ambit_choose, "0xbb99", 15, 0x00010001u, 0xffffu)
AMBIT_CHOICE(ambit_choose_four, "0xba98", 7, 0x01010101u, 0xffu)
/* Bit 7 of each byte: whether it is not 0; whether that of a is less than that of b. */
AMBIT_FORMULA(ambit_u32, ambit_filled, (ambit_u32 a), ((a & 0x7f7f7f7fu) + 0x7f7f7f7fu) | a)
AMBIT_INLINE ambit_u32 ambit_below(ambit_u32 a, ambit_u32 b)
{
  const ambit_u32 rest = (a | 0x80808080u) - (b & 0x7f7f7f7fu); /* set: not less without bit 7 */

  return (~a & b) | (~(a ^ b) & ~rest);
}
/* The same of the shorts in both halves, by bit 15. */
AMBIT_FORMULA(ambit_u32, ambit_filled_shorts, (ambit_u32 a), ((a & 0x7fff7fffu) + 0x7fff7fffu) | a)
AMBIT_INLINE ambit_u32 ambit_below_shorts(ambit_u32 a, ambit_u32 b)
{
  const ambit_u32 rest = (a | 0x80008000u) - (b & 0x7fff7fffu);

  return (a & ~b) | (~(a ^ b) & ~rest);
}
/* The smaller and the larger values of two pairs without negative values, which differ by less than
 * 2^15; and of two shorts in each half. */
#ifdef AMBIT_MINIMA
#  define AMBIT_EXTREME(name, instruction, other)                                                  \
    AMBIT_INLINE ambit_u32 name(ambit_u32 a, ambit_u32 b)                                          \
    {                                                                                              \
      asm(instruction " %0, %0, %1;" : "+r"(a) : "r"(b));                                          \
      return a;                                                                                    \
    }
#else
#  define AMBIT_EXTREME(name, instruction, other)                                                  \
    AMBIT_FORMULA(ambit_u32, name, (ambit_u32 a, ambit_u32 b), other)
#endif
AMBIT_EXTREME(ambit_lesser, "min.u16x2", ambit_choose(b - a + 0x80008000u, a, b))
AMBIT_EXTREME(ambit_greater, "max.u16x2", ambit_choose(a - b + 0x80008000u, a, b))
AMBIT_EXTREME(ambit_lesser_shorts, "min.s16x2", ambit_choose(ambit_below_shorts(a, b), a, b))
AMBIT_EXTREME(ambit_greater_shorts, "max.s16x2", ambit_choose(ambit_below_shorts(a, b), b, a))
/* Shorts, or 0 if they are less, or `most` if they are greater. */
AMBIT_INLINE ambit_u32 ambit_between_shorts(ambit_u32 a, ambit_u32 most)
{
#ifdef AMBIT_MINIMA
  asm("min.s16x2.relu %0, %0, %1;" : "+r"(a) : "r"(most));
  return a;
#else
  return ambit_lesser_shorts(ambit_greater_shorts(a, 0u), most);
#endif
}
/* 1 in each half that is not 0. */
AMBIT_INLINE ambit_u32 ambit_any_short(ambit_u32 a)
{
#ifdef AMBIT_MINIMA
  return ambit_lesser(a, 0x00010001u);
#else
  return ambit_filled_shorts(a) >> 15 & 0x00010001u;
#endif
}
/* The absolute values of a pair. */
AMBIT_INLINE ambit_u32 ambit_magnitude(ambit_u32 pair)
{
#ifdef AMBIT_MINIMA
  return ambit_greater(0x80008000u + pair, 0x80008000u - pair) - 0x80008000u;
#else
  return ambit_choose(pair + 0x80008000u, pair + 0x80008000u, 0x80008000u - pair) - 0x80008000u;
#endif
}
/* Quotients by a constant, as products with its reciprocal. */
AMBIT_FORMULA(ambit_u32, ambit_quotient, (ambit_u32 pair, ambit_u32 multiplier, int shift),
              (pair & 0xffffu) * multiplier >> shift | (pair >> 16) * multiplier >> shift << 16)
AMBIT_FORMULA(ambit_u32, ambit_remainder,
              (ambit_u32 pair, ambit_u32 multiplier, int shift, ambit_u32 n),
              pair - ambit_quotient(pair, multiplier, shift) * n)

/* Bytes below 128 of a table of 32, in words, at numbers below 32: two of them, in each half, or
 * four. An instruction takes those of 8 bytes whose numbers are in 4 nibbles; of one from 8 on it
 * takes the sign, 0. */
#ifdef AMBIT_PTX
AMBIT_INLINE ambit_u32 ambit_nth(ambit_u32 n, ambit_u32 first, ambit_u32 second)
{
  ambit_u32 bytes;

  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(bytes) : "r"(first), "r"(second), "r"(n));
  return bytes;
}
AMBIT_INLINE ambit_u32 ambit_nth_of_16(ambit_u32 n, ambit_u32 a, ambit_u32 b, ambit_u32 c,
                                       ambit_u32 d)
{
  ambit_u32 low = ambit_nth(n, a, b);

  return c | d ? low | ambit_nth(n ^ 0x8888u, c, d) : low;
}
#  define AMBIT_LOOK_UP(name, nibbles, mask, choose, step, shift)                                  \
    AMBIT_INLINE ambit_u32 name(ambit_u32 at, ambit_u32 a, ambit_u32 b, ambit_u32 c, ambit_u32 d,  \
                                ambit_u32 e, ambit_u32 f, ambit_u32 g, ambit_u32 h)                \
    {                                                                                              \
      const ambit_u32 n = ambit_nth(0x4420u, nibbles, 0);                                          \
      const ambit_u32 low = ambit_nth_of_16(n, a, b, c, d) & mask;                                 \
                                                                                                   \
      if (!(e | f | g | h)) return low;                                                            \
      return choose(at << shift, ambit_nth_of_16(n, e, f, g, h) & mask, low);                      \
    }
AMBIT_LOOK_UP(ambit_look_up, at, 0x00ff00ffu, ambit_choose, 16, 11)
AMBIT_LOOK_UP(ambit_look_up_four, (at & 0x0f0f0f0fu) | (at >> 4 & 0xf0f0f0f0u), 0xffffffffu,
              ambit_choose_four, 8, 3)
#else
#  define AMBIT_LOOK_UP(name, step)                                                                \
    AMBIT_INLINE ambit_u32 name(ambit_u32 at, ambit_u32 a, ambit_u32 b, ambit_u32 c, ambit_u32 d,  \
                                ambit_u32 e, ambit_u32 f, ambit_u32 g, ambit_u32 h)                \
    {                                                                                              \
      const ambit_u32 words[8] = {a, b, c, d, e, f, g, h};                                         \
      ambit_u32 all = 0;                                                                           \
                                                                                                   \
      for (int i = 0; i < 32; i += step)                                                           \
        all |= ambit_byte(words, (int)(at >> i & 31u)) << i;                                       \
      return all;                                                                                  \
    }
AMBIT_LOOK_UP(ambit_look_up, 16)
AMBIT_LOOK_UP(ambit_look_up_four, 8)
#endif

/* Four adjacent bytes of two words that were computed, from byte 1, 2 or 3 of the first one:
 * compilers exchange shifts and what was computed, and compute it more often then. */
AMBIT_INLINE ambit_u32 ambit_joined(ambit_u32 first, ambit_u32 second, int from)
{
#ifdef AMBIT_PTX
  ambit_u32 four;

  asm("prmt.b32 %0, %1, %2, %3;"
      : "=r"(four)
      : "r"(first), "r"(second), "r"(0x3210u + 0x1111u * (ambit_u32)from));
  return four;
#else
  return first >> from * 8 | second << (32 - from * 8);
#endif
}
/* Four adjacent bytes of a row of words; and their sum with signed weights, added to another. */
AMBIT_FORMULA(ambit_u32, ambit_window, (const ambit_u32 *row, int at),
              at % 4 ? row[at / 4] >> at % 4 * 8 | row[at / 4 + 1] << (32 - at % 4 * 8)
                     : row[at / 4])
/* Words beyond an end of a row: a byte, or a short, in all places; those of a window, turned. */
#ifdef __CUDACC__
#  define AMBIT_TURNED(word) __byte_perm(word, 0, 0x0123)
#else
#  define AMBIT_TURNED(word)                                                                       \
    ((word) >> 24 | ((word) >> 8 & 0xff00u) | ((word)&0xff00u) << 8 | (word) << 24)
#endif
AMBIT_FORMULA(ambit_u32, ambit_all_bytes, (const ambit_u32 *row, int at),
              ambit_byte(row, at) * 0x01010101u)
AMBIT_FORMULA(ambit_u32, ambit_all_shorts, (const ambit_u32 *row, int at),
              ((ambit_u32)ambit_short(row, at) & 0xffffu) * 0x00010001u)
AMBIT_INLINE ambit_u32 ambit_turned_bytes(const ambit_u32 *row, int at)
{
  const ambit_u32 word = ambit_window(row, at);

  return AMBIT_TURNED(word);
}
AMBIT_INLINE ambit_u32 ambit_turned_shorts(const ambit_u32 *row, int at)
{
  const ambit_u32 word = ambit_window(row, 2 * at);

  return word >> 16 | word << 16;
}
AMBIT_INLINE ambit_i32 ambit_dot(ambit_u32 bytes, ambit_u32 weights, ambit_i32 more)
{
#ifdef AMBIT_PTX
  asm("dp4a.u32.s32 %0, %1, %2, %0;" : "+r"(more) : "r"(bytes), "r"(weights));
#else
  for (int i = 0; i < 32; i += 8)
    more += (ambit_i32)(bytes >> i & 0xffu) * (ambit_i32)(signed char)(weights >> i & 0xffu);
#endif
  return more;
}

/* An integer up to 2^22, of either sign, as a float; the square root of n + 0.5, with a relative
 * error below 2^-21; the integer part of a number below 2^22 that is not negative, from the bits of
 * its multiple of 2^-149. Conversions and exact roots would take several times as long. */
#ifdef AMBIT_PTX
AMBIT_FORMULA(float, ambit_real, (ambit_i32 n),
              AMBIT_F32_OF((ambit_u32)n + 0x4b400000u) - 12582912.0f)
AMBIT_INLINE float ambit_near_root(float x)
{
  float root;

  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(x));
  return root;
}
AMBIT_INLINE ambit_i32 ambit_integer_part(float x)
{
  asm("mul.rz.f32 %0, %1, 0f00000001;" : "=f"(x) : "f"(x));
  return (ambit_i32)AMBIT_BITS_F32(x);
}
#else
AMBIT_FORMULA(float, ambit_real, (ambit_i32 n), (float)n)
AMBIT_INLINE float ambit_near_root(float x)
{
#  ifdef __OPENCL_VERSION__
  return sqrt(x);
#  else
  return sqrtf(x);
#  endif
}
AMBIT_FORMULA(ambit_i32, ambit_integer_part, (float x), (ambit_i32)x)
#endif

/* The square root of a whole number, correctly rounded: see ambit_root. */
#ifdef __CUDACC__
AMBIT_INLINE float ambit_whole_root(float x)
{
  float inverse, root;

  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(x));
  root = __fmul_rn(x, inverse);
  root = __fmaf_rn(__fmaf_rn(-root, root, x), __fmul_rn(inverse, 0.5f), root);
  return x == 0 ? x : root;
}
#else
#  define ambit_whole_root(x) sqrtf(x)
#endif

/* Four numbers as the bytes of a word, those outside 0 .. 255 cut off there. */
AMBIT_INLINE ambit_u32 ambit_packed(const ambit_i32 *n)
{
  ambit_u32 word = 0;

#if defined(AMBIT_PTX) && !(defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 720)
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, 0;" : "=r"(word) : "r"(n[3]), "r"(n[2]));
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %0;" : "+r"(word) : "r"(n[1]), "r"(n[0]));
#else
  for (int k = 0; k < 4; k++)
    word |= (ambit_u32)(n[k] < 0 ? 0 : n[k] > 255 ? 255 : n[k]) << 8 * k;
#endif
  return word;
}

/* Stores 16 bytes or 8 shorts, given as words, whose bit is set, if this warp owns them. */
#ifdef __OPENCL_VERSION__
#  define AMBIT_CELLS(T)         global T
#  define AMBIT_PUT_WORDS(to, w) *(global uint4 *)(to) = (uint4)((w)[0], (w)[1], (w)[2], (w)[3])
#else
#  define AMBIT_CELLS(T)         T
#  define AMBIT_PUT_WORDS(to, w) ambit_store_all<4>(true, (ambit_u32 *)(to), w)
#endif
AMBIT_INLINE void ambit_store_words_16(bool own, AMBIT_CELLS(ambit_u8) * to, const ambit_u32 *words,
                                       int bits)
{
  if (own && bits == 0xffff) {
    AMBIT_PUT_WORDS(to, words);
  } else if (own && bits) {
#pragma unroll
    for (int k = 0; k < 16; k++)
      if (bits >> k & 1) to[k] = (ambit_u8)(words[k / 4] >> k % 4 * 8);
  }
}
AMBIT_INLINE void ambit_store_words_8(bool own, AMBIT_CELLS(short) * to, const ambit_u32 *words,
                                      int bits)
{
  if (own && bits == 0xff) {
    AMBIT_PUT_WORDS(to, words);
  } else if (own && bits) {
#pragma unroll
    for (int k = 0; k < 8; k++)
      if (bits >> k & 1) to[k] = (short)(words[k / 2] >> k % 2 * 16);
  }
}
/* The same, given as pairs, or as single numbers. */
#define AMBIT_STORE_AS(name, T, F, store, a, b, c, d)                                              \
  AMBIT_INLINE void name(bool own, AMBIT_CELLS(T) * to, const F *n, int bits)                      \
  {                                                                                                \
    const ambit_u32 words[4] = {a, b, c, d};                                                       \
    store(own, to, words, bits);                                                                   \
  }
AMBIT_STORE_AS(ambit_store_bytes_16, ambit_u8, ambit_u32, ambit_store_words_16, AMBIT_WORD(n, 0),
               AMBIT_WORD(n, 1), AMBIT_WORD(n, 2), AMBIT_WORD(n, 3))
AMBIT_STORE_AS(ambit_store_numbers_16, ambit_u8, ambit_i32, ambit_store_words_16, ambit_packed(n),
               ambit_packed(n + 4), ambit_packed(n + 8), ambit_packed(n + 12))
AMBIT_STORE_AS(ambit_store_numbers_8, short, ambit_i32, ambit_store_words_8, AMBIT_SHORTS(n, 0),
               AMBIT_SHORTS(n, 1), AMBIT_SHORTS(n, 2), AMBIT_SHORTS(n, 3))
