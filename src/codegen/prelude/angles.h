/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of angles in float, and what prelude/math.h has in common with them. In CUDA, on GPUs
 * with fast doubles, they take half the instructions of its own, a third of the code, and no
 * branches, across which compilers move nothing; others call those. Errors and angles that are too
 * large: see math.h. Not used in strict mode. */

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 600 && __CUDA_ARCH__ != 700 &&                      \
    __CUDA_ARCH__ != 800 && __CUDA_ARCH__ != 900 && __CUDA_ARCH__ != 1000
#  define ambit_sinf   sinf
#  define ambit_cosf   cosf
#  define ambit_tanf   tanf
#  define ambit_atan2f atan2f
#else

#  ifdef __CUDACC__
#    define AMBIT_HAS_FMA 1
#    define AMBIT_FMA     fma
#    define AMBIT_OVER    ambit_ratio
#  else
#    define AMBIT_FMA        __builtin_fma
#    define AMBIT_OVER(a, b) ((a) / (b))
#    if defined __FMA__ || defined __aarch64__
#      define AMBIT_HAS_FMA 1
#    else
#      define AMBIT_HAS_FMA 0
#    endif
#  endif

/* Adding it rounds a number below 2^51 to an integer, held in the lowest bits. */
#  define AMBIT_ROUND_WIDE             0x1.8p52

/* Two or three more terms of a polynomial in x, whose value so far is p. */
#  define AMBIT_TERMS_2(p, x, a, b)    (((p) * (x) + (a)) * (x) + (b))
#  define AMBIT_TERMS_3(p, x, a, b, c) (AMBIT_TERMS_2(p, x, a, b) * (x) + (c))

/* Limits arguments whose results overflow or vanish anyway; keeps NaN. */
AMBIT_INLINE float ambit_within(float x, float least, float most)
{
  x = x < least ? least : x;
  return x > most ? most : x;
}

/* x - n pi / 2, at most pi / 4, for arguments below AMBIT_TURNS; above that some number in that
 * range. The number of quarters of a turn, n, is in the lowest bits of *quarter. */
#  if AMBIT_HAS_FMA
#    define AMBIT_TURNS 0x1p45
#  else
#    define AMBIT_TURNS 0x1p20
#  endif
AMBIT_INLINE float ambit_turn(float x, ambit_i32 *quarter)
{
  double d = (double)x, t = d * 0x1.45f306dc9c883p-1 + AMBIT_ROUND_WIDE, n = t - AMBIT_ROUND_WIDE;
  *quarter = (ambit_i32)(ambit_u32)AMBIT_BITS_F64(t);
#  if AMBIT_HAS_FMA
  d = AMBIT_FMA(-n, 0x1.921fb54442d18p+0, d) - n * 0x1.1a62633145c07p-54;
#  else
  d = (d - n * 0x1.921fb544p+0) - n * 0x1.0b4611a626331p-34;
#  endif
  return ambit_within((float)d, -0.8f, 0.8f);
}

/* sin(r) and cos(r) for |r| <= pi / 4. */
AMBIT_INLINE float ambit_near_sin(float r)
{
  float q = r * r, p = -0x1.9ac98ep-13f;
  p = AMBIT_TERMS_2(p, q, 0x1.110c28p-7f, -0x1.555552p-3f);
  return r + r * (q * p);
}

AMBIT_INLINE float ambit_near_cos(float r)
{
  float q = r * r, p = 0x1.9bd88p-16f;
  p = AMBIT_TERMS_2(p, q, -0x1.6c12d2p-10f, 0x1.555554p-5f);
  return q * q * p + (1 - 0.5f * q);
}

/* I has the number of quarters of a turn. */
#  define AMBIT_ANGLES(T, I, f, w)                                                                 \
    AMBIT_INLINE T ambit_sin##f(T x)                                                               \
    {                                                                                              \
      I k;                                                                                         \
      T r = ambit_turn##w(x, &k), y = k & 1 ? ambit_near_cos##w(r) : ambit_near_sin##w(r);         \
      y = k & 2 ? -y : y;                                                                          \
      return x == 0 ? x : y;                                                                       \
    }                                                                                              \
    AMBIT_INLINE T ambit_cos##f(T x)                                                               \
    {                                                                                              \
      I k;                                                                                         \
      T r = ambit_turn##w(x, &k), y = k & 1 ? ambit_near_sin##w(r) : ambit_near_cos##w(r);         \
      return (k + 1) & 2 ? -y : y;                                                                 \
    }                                                                                              \
    AMBIT_INLINE T ambit_tan##f(T x)                                                               \
    {                                                                                              \
      I k;                                                                                         \
      T r = ambit_turn##w(x, &k), s = ambit_near_sin##w(r), c = ambit_near_cos##w(r);              \
      T up = k & 1 ? -c : s, down = k & 1 ? s : c;                                                 \
      return x == 0 ? x : AMBIT_OVER(up, down);                                                    \
    }
AMBIT_ANGLES(float, ambit_i32, f, )

/* The angle of a point: that of the octant around the nearest axis, then the others. */
AMBIT_INLINE float ambit_atan2f(float y, float x)
{
  float a = x < 0 ? -x : x, b = y < 0 ? -y : y;
  float least = a > b ? b : a, most = a > b ? a : b;
  float ratio = AMBIT_OVER(least, most), t = least == most ? 1.0f : ratio, q, p = -0x1.38de56p-9f;
  t = most == 0 ? least : t; /* 0 or NaN */
  q = t * t;
  p = AMBIT_TERMS_3(p, q, 0x1.ba9f66p-7f, -0x1.25dc12p-5f, 0x1.0001c6p-4f);
  p = AMBIT_TERMS_3(p, q, -0x1.6295f8p-4f, 0x1.c3f168p-4f, -0x1.246cd2p-3f);
  p = AMBIT_TERMS_2(p, q, 0x1.99983cp-3f, -0x1.555554p-2f);
  p = t + t * q * p;
  p = b > a ? 0x1.921fb6p+0f - (p + 0x1.777a5cp-25f) : p;
  p = (ambit_i32)AMBIT_BITS_F32(x) < 0 ? 0x1.921fb6p+1f - (p + 0x1.777a5cp-24f) : p;
  return (ambit_i32)AMBIT_BITS_F32(y) < 0 ? -p : p;
}
#endif
