/* SPDX-License-Identifier: BSD-3-Clause */
/* C: exact sums of many numbers, with vectors. Compiled behind prelude/c.h and prelude/sums.h.
 *
 * A kernel leaves its numbers in a block. A full block is added to sums in double, one in each lane
 * of a few vectors: floats as they are, doubles as two halves of their digits. Such additions are
 * often exact, and the processor tells: one that rounds sets the inexact flag, which stays set. If
 * it is set, the sums of earlier blocks go to the long accumulator, and the block is added to new
 * ones, in three pieces of fewer digits; if that rounds too, its numbers go to the long accumulator
 * one by one. */

/* Vectors that fit a register. */
#if defined(__aarch64__)
#  define AMBIT_REGISTER 16
#else
#  define AMBIT_REGISTER AMBIT_VECTOR
#endif
enum {
  AMBIT_REALS = AMBIT_REGISTER / 8,
  AMBIT_STEP = 8 * AMBIT_REALS,     /* numbers of a block come in so many */
  AMBIT_BLOCK = 16 * AMBIT_REGISTER /* numbers: so few that cores load the next ones meanwhile */
};
typedef double ambit_reals __attribute__((vector_size(AMBIT_REGISTER), may_alias));
typedef ambit_i64 ambit_masks __attribute__((vector_size(AMBIT_REGISTER), may_alias));
typedef float ambit_floats __attribute__((vector_size(AMBIT_REGISTER / 2), may_alias));

/* gcc 12 converts one by one, unless it is asked as arm_neon.h does, which takes 0.2 s to read. */
#if defined(__aarch64__) && defined(__has_builtin)
#  if __has_builtin(__builtin_aarch64_float_extend_lo_v2df)
#    define AMBIT_WIDEN(x) (ambit_reals) __builtin_aarch64_float_extend_lo_v2df(x)
#  endif
#endif
#ifndef AMBIT_WIDEN
#  define AMBIT_WIDEN(x) __builtin_convertvector(x, ambit_reals)
#endif

/* Eight sums: of floats, or four of the upper digits of doubles and four of the lower ones. */
typedef struct ambit_sums {
  ambit_reals of[8];
} ambit_sums;

typedef struct ambit_block {
  ambit_sums sums;  /* of earlier blocks, exact */
  ambit_sums tried; /* with the latest block, exact or not */
  ambit_i64 *words; /* the long accumulator */
  long n;           /* numbers in x */
  long singles;     /* numbers added to the words one by one since they were carried */
  ambit_u32 flags;  /* of the processor, before */
  int has_flags;    /* it has the one for inexact operations */
  union {
    double f64[AMBIT_BLOCK];
    float f32[AMBIT_BLOCK];
  } x __attribute__((aligned(64)));
} ambit_block;

/* ---- the inexact flag ---- */

/* To compilers these read and write memory, so that operations whose operands and results are in
 * memory stay between them. */
#if defined(__aarch64__)
enum { AMBIT_INEXACT = 1 << 4 };
AMBIT_INLINE ambit_u32 ambit_flags_get(void)
{
  ambit_u64 flags;
  __asm__ volatile("mrs %0, fpsr" : "=r"(flags) : : "memory");
  return (ambit_u32)flags;
}
AMBIT_INLINE void ambit_flags_set(ambit_u32 flags)
{
  __asm__ volatile("msr fpsr, %0" : : "r"((ambit_u64)flags) : "memory");
}
#elif defined(__x86_64__)
enum { AMBIT_INEXACT = 1 << 5 };
AMBIT_INLINE ambit_u32 ambit_flags_get(void)
{
  ambit_u32 flags;
  __asm__ volatile("stmxcsr %0" : "=m"(flags) : : "memory");
  return flags;
}
AMBIT_INLINE void ambit_flags_set(ambit_u32 flags)
{
  __asm__ volatile("ldmxcsr %0" : : "m"(flags) : "memory");
}
#else /* unknown: no sum is known to be exact */
enum { AMBIT_INEXACT = 1 };
AMBIT_INLINE ambit_u32 ambit_flags_get(void)
{
  return AMBIT_INEXACT;
}
AMBIT_INLINE void ambit_flags_set(ambit_u32 flags)
{
  (void)flags;
}
#endif

AMBIT_INLINE void ambit_flags_clear(void)
{
  const ambit_u32 flags = ambit_flags_get();

  if (flags & AMBIT_INEXACT) ambit_flags_set(flags & ~(ambit_u32)AMBIT_INEXACT);
}

/* Simulated processors (valgrind 3.19) may have no such flag. */
AMBIT_INLINE int ambit_flags_work(void)
{
  volatile double x = 1.0;

  ambit_flags_clear();
  x += 0x1p-60;
  (void)x;
  return ambit_flags_get() & AMBIT_INEXACT;
}

/* ---- blocks ---- */

/* The upper digits of numbers: all but the lowest `drop` ones. */
AMBIT_INLINE ambit_reals ambit_reals_cut(ambit_reals a, int drop)
{
  return (ambit_reals)((ambit_masks)a & ((ambit_masks){0} - ((ambit_i64)1 << drop)));
}

AMBIT_INLINE ambit_sums ambit_sums_halves(ambit_sums s, const double *x, long n)
{
  for (long i = 0; i < n; i += 4 * AMBIT_REALS)
    for (int k = 0; k < 4; k++) {
      const ambit_reals a = *(const ambit_reals *)(x + i + k * AMBIT_REALS);
      const ambit_reals high = ambit_reals_cut(a, 27);

      s.of[k] += high;
      s.of[4 + k] += a - high;
    }
  return s;
}

AMBIT_INLINE ambit_sums ambit_sums_thirds(ambit_sums s, const double *x, long n)
{
  for (long i = 0; i < n; i += 2 * AMBIT_REALS)
    for (int k = 0; k < 2; k++) {
      const ambit_reals a = *(const ambit_reals *)(x + i + k * AMBIT_REALS);
      const ambit_reals high = ambit_reals_cut(a, 36), more = ambit_reals_cut(a, 18);

      s.of[k] += high;
      s.of[2 + k] += more - high;
      s.of[4 + k] += a - more;
    }
  return s;
}

AMBIT_INLINE ambit_sums ambit_sums_floats(ambit_sums s, const float *x, long n)
{
  for (long i = 0; i < n; i += 8 * AMBIT_REALS)
    for (int k = 0; k < 8; k++)
      s.of[k] += AMBIT_WIDEN(*(const ambit_floats *)(x + i + k * AMBIT_REALS));
  return s;
}

/* After an attempt to add a block: keeps the sums if they are exact. A sum that is infinite or NaN
 * is as good as the number that is; but a NaN can lose all its digits where it is cut, and then
 * leaves one in the sums of the lowest digits only: 0, as if it were not exact. */
AMBIT_INLINE int ambit_block_keep(ambit_block *b, int is_cut)
{
  ambit_reals low;
  double lows = 0;

  if (ambit_flags_get() & AMBIT_INEXACT) return 0;
  low = (b->tried.of[4] + b->tried.of[5]) + (b->tried.of[6] + b->tried.of[7]);
  for (int l = 0; is_cut && l < AMBIT_REALS; l++)
    lows += low[l];
  if (lows != lows) return 0;
  b->sums = b->tried;
  return 1;
}

AMBIT_INLINE void ambit_block_zero(ambit_block *b)
{
  for (int k = 0; k < 8; k++)
    b->sums.of[k] = (ambit_reals){0};
}

/* Adds the sums to the long accumulator. */
AMBIT_CALLED void ambit_block_empty(ambit_block *b)
{
  const double *sum = (const double *)&b->sums;

  for (int i = 0; i < AMBIT_STEP; i++)
    if (sum[i] != 0) ambit_long_add_f64(b->words, sum[i]);
  ambit_block_zero(b);
}

/* Adds numbers that could not be added to the sums. */
AMBIT_CALLED void ambit_block_add(ambit_block *b, const double *x, long n)
{
  ambit_block_empty(b);
  ambit_flags_clear();
  b->tried = ambit_sums_thirds(b->sums, x, n);
  if (b->has_flags && ambit_block_keep(b, 1)) {
    ambit_block_empty(b);
    return;
  }
  for (long i = 0; i < n; i++)
    ambit_long_add_f64(b->words, x[i]);
  if ((b->singles += n) < 1 << 28) return;
  ambit_long_carry(b->words);
  b->singles = 0;
}

/* Add the n numbers of the block. */
AMBIT_CALLED void ambit_block_flush_f64(ambit_block *b, long n)
{
  for (; n % AMBIT_STEP; n++)
    b->x.f64[n] = 0;
  ambit_flags_clear();
  b->tried = ambit_sums_halves(b->sums, b->x.f64, n);
  if (!b->has_flags || !ambit_block_keep(b, 1)) ambit_block_add(b, b->x.f64, n);
}
AMBIT_CALLED void ambit_block_flush_f32(ambit_block *b, long n)
{
  double x[AMBIT_BLOCK] __attribute__((aligned(64)));

  for (; n % AMBIT_STEP; n++)
    b->x.f32[n] = 0;
  ambit_flags_clear();
  b->tried = ambit_sums_floats(b->sums, b->x.f32, n);
  if (b->has_flags && ambit_block_keep(b, 0)) return;
  for (long i = 0; i < n; i++)
    x[i] = (double)b->x.f32[i];
  ambit_block_add(b, x, n);
}

/* The block has numbers up to `end`: empties it if it has no room for so many more. Returns where
 * the next goes. */
AMBIT_INLINE double *ambit_block_settle_f64(ambit_block *b, double *end, int room)
{
  if (__builtin_expect(end + room <= b->x.f64 + AMBIT_BLOCK, 1)) return end;
  ambit_block_flush_f64(b, end - b->x.f64);
  return b->x.f64;
}
AMBIT_INLINE float *ambit_block_settle_f32(ambit_block *b, float *end, int room)
{
  if (__builtin_expect(end + room <= b->x.f32 + AMBIT_BLOCK, 1)) return end;
  ambit_block_flush_f32(b, end - b->x.f32);
  return b->x.f32;
}

AMBIT_INLINE void ambit_block_open(ambit_block *b, ambit_i64 *words)
{
  ambit_block_zero(b);
  b->words = words;
  b->n = b->singles = 0;
  b->flags = ambit_flags_get();
  b->has_flags = ambit_flags_work();
}
AMBIT_INLINE void ambit_block_close(ambit_block *b)
{
  ambit_block_empty(b);
  ambit_flags_set(ambit_flags_get() | (b->flags & AMBIT_INEXACT));
}
AMBIT_INLINE void ambit_block_close_f64(ambit_block *b)
{
  ambit_block_flush_f64(b, b->n);
  ambit_block_close(b);
}
AMBIT_INLINE void ambit_block_close_f32(ambit_block *b)
{
  ambit_block_flush_f32(b, b->n);
  ambit_block_close(b);
}
