/* SPDX-License-Identifier: BSD-3-Clause */
/* C: exact sums of many numbers, with vectors. Compiled behind prelude/c.h and prelude/sums.h.
 *
 * A kernel leaves its numbers in a block, and adds them up as it goes along, in windows (see
 * ambit_long_anchor) that lanes of vectors have. Where the windows held all, which they are checked
 * for when the block is full, the sums of the windows are exact, and go into the long accumulator.
 * If not, the block is still there, and is summed up again with as many windows as it takes. */
enum { AMBIT_BLOCK = 1 << AMBIT_LONG_COUNT };

/* Vectors that fit a register, of which some are worked on at a time: of numbers in double
 * AMBIT_MANY, of floats AMBIT_PAIR. */
#if defined(__aarch64__)
#  define AMBIT_REGISTER 16
#else
#  define AMBIT_REGISTER AMBIT_VECTOR
#endif
enum {
  AMBIT_REALS = AMBIT_REGISTER / 8,
  AMBIT_PAIR = 2 * AMBIT_REALS,
  AMBIT_MANY = 4 * AMBIT_REALS
};
typedef double ambit_reals __attribute__((vector_size(AMBIT_REGISTER), may_alias));
typedef double ambit_loose_reals
    __attribute__((vector_size(AMBIT_REGISTER), may_alias, aligned(1)));
typedef ambit_i64 ambit_masks __attribute__((vector_size(AMBIT_REGISTER), may_alias));
typedef float ambit_loose_floats
    __attribute__((vector_size(AMBIT_REGISTER / 2), may_alias, aligned(1)));
typedef ambit_u32 ambit_ranks __attribute__((vector_size(AMBIT_REGISTER), may_alias));
typedef ambit_u32 ambit_loose_ranks
    __attribute__((vector_size(AMBIT_REGISTER), may_alias, aligned(1)));

/* What gcc 12 does not make of plain vectors on this processor. */
#if defined(__aarch64__)
#  include <arm_neon.h>
#  define AMBIT_LARGER(a, b)  (ambit_ranks) vmaxq_u32((uint32x4_t)(a), (uint32x4_t)(b))
#  define AMBIT_SMALLER(a, b) (ambit_ranks) vminq_u32((uint32x4_t)(a), (uint32x4_t)(b))
#  define AMBIT_WIDEN(x)      (ambit_reals) vcvt_f64_f32((float32x2_t)(x))
#else
#  define AMBIT_LARGER(a, b)  (((a) & (ambit_ranks)((a) > (b))) | ((b) & ~(ambit_ranks)((a) > (b))))
#  define AMBIT_SMALLER(a, b) (((a) & (ambit_ranks)((a) < (b))) | ((b) & ~(ambit_ranks)((a) < (b))))
#  define AMBIT_WIDEN(x)      __builtin_convertvector(x, ambit_reals)
#endif

/* ---- any numbers ---- */

/* A window over all numbers: adds what it holds of each, leaves the rest, and returns the bits of
 * the largest rest. */
AMBIT_CALLED ambit_u64 ambit_block_pass(ambit_i64 *words, double *x, int n, double anchor)
{
  double sum[AMBIT_PAIR], total = 0;
  ambit_u64 most = 0;

  for (int l = 0; l < AMBIT_PAIR; l++)
    sum[l] = anchor;
  for (int i = 0; i < n; i += AMBIT_PAIR)
    for (int l = 0; l < AMBIT_PAIR; l++) {
      const double old = sum[l];

      sum[l] += x[i + l];
      x[i + l] -= sum[l] - old;
    }
  for (int l = 0; l < AMBIT_PAIR; l++)
    total += sum[l] - anchor;
  ambit_long_add_f64(words, total);
  for (int i = 0; i < n; i++) {
    const ambit_u64 bits = AMBIT_LONG_F64(x[i]) << 1;

    most = bits > most ? bits : most;
  }
  return most >> 1;
}

/* As many windows as it takes. Numbers that no window holds are added one by one. The numbers are
 * used up. */
AMBIT_CALLED void ambit_block_any(ambit_i64 *words, double *x, int n)
{
  const ambit_u64 one = 1;
  ambit_u64 most = 0;
  double first = 0, last = 0;

  for (int i = 0; i < n; i++) {
    const ambit_u64 bits = AMBIT_LONG_F64(x[i]) & ((one << 63) - 1);

    if (ambit_long_anchor(bits) == 0) {
      ambit_long_add_f64(words, x[i]);
      x[i] = 0;
    } else if (bits > most) {
      most = bits;
    }
  }
  while (most) {
    const double anchor = ambit_long_anchor(most);

    if (first == 0) first = anchor;
    last = last != 0 && anchor >= last ? ambit_long_next(last) : anchor; /* near 0, anchors end */
    most = ambit_block_pass(words, x, n, last);
  }
  if (first != 0) words[AMBIT_LONG_HINT] = (ambit_i64)AMBIT_LONG_F64(first);
}

/* ---- double ---- */

/* Two windows, one below the other: those that served the block before. */
typedef struct ambit_window_f64 {
  ambit_reals high[4], low[4];
  ambit_masks anchor;
  ambit_masks out;  /* bits of sums that left the upper window */
  ambit_masks rest; /* bits of what was below the lower one */
} ambit_window_f64;

typedef struct ambit_block_f64 {
  ambit_window_f64 window;
  ambit_i64 *words; /* the long accumulator */
  long n;           /* numbers in x, a multiple of AMBIT_REALS */
  double x[AMBIT_BLOCK] __attribute__((aligned(64)));
} ambit_block_f64;

AMBIT_INLINE ambit_window_f64 ambit_window_open_f64(const ambit_i64 *words)
{
  const ambit_reals zero = {0};
  const double hint = AMBIT_LONG_REAL((ambit_u64)words[AMBIT_LONG_HINT]);
  const double anchor = hint != 0 ? hint : ambit_long_anchor(AMBIT_LONG_F64(1.0));
  const double next = ambit_long_next(anchor);
  ambit_window_f64 w;

  w.high[0] = w.high[1] = w.high[2] = w.high[3] = zero + anchor;
  w.low[0] = w.low[1] = w.low[2] = w.low[3] = zero + next;
  w.anchor = (ambit_masks)w.high[0];
  w.out = w.rest = (ambit_masks)zero;
  return w;
}

AMBIT_INLINE void ambit_window_add_one(ambit_window_f64 *w, int k, ambit_reals a)
{
  const ambit_reals high = w->high[k] + a, b = a - (high - w->high[k]);
  const ambit_reals low = w->low[k] + b, c = b - (low - w->low[k]);

  w->out |= (ambit_masks)high ^ w->anchor;
  w->rest |= (ambit_masks)c;
  w->high[k] = high;
  w->low[k] = low;
}
AMBIT_INLINE void ambit_window_add_f64(ambit_window_f64 *w, const double *x, int n)
{
  int i = 0;

  for (; i + AMBIT_MANY <= n; i += AMBIT_MANY) {
    ambit_window_add_one(w, 0, *(const ambit_loose_reals *)(x + i));
    ambit_window_add_one(w, 1, *(const ambit_loose_reals *)(x + i + AMBIT_REALS));
    ambit_window_add_one(w, 2, *(const ambit_loose_reals *)(x + i + 2 * AMBIT_REALS));
    ambit_window_add_one(w, 3, *(const ambit_loose_reals *)(x + i + 3 * AMBIT_REALS));
  }
  for (; i + AMBIT_PAIR <= n; i += AMBIT_PAIR) {
    ambit_window_add_one(w, 0, *(const ambit_loose_reals *)(x + i));
    ambit_window_add_one(w, 1, *(const ambit_loose_reals *)(x + i + AMBIT_REALS));
  }
  if (i < n) ambit_window_add_one(w, 0, *(const ambit_loose_reals *)(x + i));
}

/* The sums of the windows, if they are exact: sums stayed between 2^k and 2^(k + 1), nothing was
 * left over, and the sums of the lanes are so small that their sum is exact too. */
AMBIT_INLINE int ambit_window_sums_f64(const ambit_window_f64 *w, double *high, double *low)
{
  const double anchor = ((ambit_reals)w->anchor)[0], next = ambit_long_next(anchor);
  const double most = AMBIT_LONG_REAL((AMBIT_LONG_F64(anchor) >> 52 << 52)) / 32;
  ambit_i64 out = 0, rest = 0;
  int exact = 1;

  *high = *low = 0;
  for (int l = 0; l < AMBIT_MANY; l++) {
    const double a = w->high[l / AMBIT_REALS][l % AMBIT_REALS] - anchor;

    out |= w->out[l % AMBIT_REALS];
    rest |= w->rest[l % AMBIT_REALS];
    exact &= a >= -most && a <= most;
    *high += a;
    *low += w->low[l / AMBIT_REALS][l % AMBIT_REALS] - next;
  }
  return exact && (ambit_u64)out >> 52 == 0 && (rest & INT64_MAX) == 0;
}

/* Empties the block; returns the windows for the next. */
AMBIT_CALLED ambit_window_f64 ambit_block_flush_f64(ambit_block_f64 *b, ambit_window_f64 w, long n)
{
  double high, low;

  if (ambit_window_sums_f64(&w, &high, &low)) {
    ambit_long_add_f64(b->words, high);
    if (low != 0) ambit_long_add_f64(b->words, low);
  } else {
    for (; n % AMBIT_PAIR; n++)
      b->x[n] = 0;
    ambit_block_any(b->words, b->x, (int)n);
  }
  return ambit_window_open_f64(b->words);
}

/* The numbers of a block up to `end`, of which the last k are new: adds them up, and empties the
 * block if it has no room for so many more. Returns where the next goes. */
AMBIT_INLINE double *ambit_block_settle_f64(ambit_block_f64 *b, ambit_window_f64 *w, double *end,
                                            int k, int room)
{
  for (; k % AMBIT_REALS; k++)
    *end++ = 0;
  ambit_window_add_f64(w, end - k, k);
  if (__builtin_expect(end + room + AMBIT_PAIR <= b->x + AMBIT_BLOCK, 1)) return end;
  *w = ambit_block_flush_f64(b, *w, end - b->x);
  return b->x;
}

AMBIT_INLINE void ambit_block_open_f64(ambit_block_f64 *b, ambit_i64 *words)
{
  b->words = words;
  b->n = 0;
  b->window = ambit_window_open_f64(words);
}
AMBIT_INLINE void ambit_block_close_f64(ambit_block_f64 *b)
{
  if (b->n) ambit_block_flush_f64(b, b->window, b->n);
}

/* ---- float ---- */

/* Sums in double, which are exact if the largest and the smallest number are not too far apart. */
typedef struct ambit_window_f32 {
  ambit_reals sum[2];
  ambit_ranks most, least; /* bits without the sign, of all; less 1, of those that are not 0 */
} ambit_window_f32;

typedef struct ambit_block_f32 {
  ambit_window_f32 window;
  ambit_i64 *words;
  long n;
  float x[AMBIT_BLOCK] __attribute__((aligned(64)));
} ambit_block_f32;

AMBIT_INLINE ambit_window_f32 ambit_window_open_f32(const ambit_i64 *words)
{
  const ambit_ranks zero = {0};
  ambit_window_f32 w;

  (void)words;
  w.sum[0] = w.sum[1] = (ambit_reals)zero;
  w.most = zero;
  w.least = ~zero;
  return w;
}

AMBIT_INLINE void ambit_window_add_f32(ambit_window_f32 *w, const float *x, int n)
{
  for (int i = 0; i < n; i += AMBIT_PAIR) {
    const ambit_ranks a = *(const ambit_loose_ranks *)(x + i) & 0x7fffffffu, less = a - 1;

    w->most = AMBIT_LARGER(a, w->most);
    w->least = AMBIT_SMALLER(less, w->least);
    for (int k = 0; k < 2; k++)
      w->sum[k] += AMBIT_WIDEN(*(const ambit_loose_floats *)(x + i + k * AMBIT_REALS));
  }
}

AMBIT_CALLED ambit_window_f32 ambit_block_flush_f32(ambit_block_f32 *b, ambit_window_f32 w, long n)
{
  ambit_u32 most = 0, least = UINT32_MAX;
  double sum = 0;

  for (int l = 0; l < AMBIT_PAIR; l++) {
    most = w.most[l] > most ? w.most[l] : most;
    least = w.least[l] < least ? w.least[l] : least;
    sum += w.sum[l / AMBIT_REALS][l % AMBIT_REALS];
  }
  /* All are multiples of 2^(e - 150), e the exponent of the least, and 2^COUNT of them less than
   * 2^(e - 97). */
  if (most < 0x7f800000u && most >> 23 <= ((least + 1) >> 23) + 29 - AMBIT_LONG_COUNT) {
    if (most) ambit_long_add_f64(b->words, sum);
  } else {
    double x[AMBIT_BLOCK];

    for (long i = 0; i < n; i++)
      x[i] = (double)b->x[i];
    ambit_block_any(b->words, x, (int)n);
  }
  return ambit_window_open_f32(b->words);
}

/* The numbers of a block up to `end`, of which the last k are new: adds them up, and empties the
 * block if it has no room for so many more. Returns where the next goes. */
AMBIT_INLINE float *ambit_block_settle_f32(ambit_block_f32 *b, ambit_window_f32 *w, float *end,
                                           int k, int room)
{
  for (; k % AMBIT_PAIR; k++)
    *end++ = 0;
  ambit_window_add_f32(w, end - k, k);
  if (__builtin_expect(end + room + AMBIT_PAIR <= b->x + AMBIT_BLOCK, 1)) return end;
  *w = ambit_block_flush_f32(b, *w, end - b->x);
  return b->x;
}

AMBIT_INLINE void ambit_block_open_f32(ambit_block_f32 *b, ambit_i64 *words)
{
  b->words = words;
  b->n = 0;
  b->window = ambit_window_open_f32(words);
}
AMBIT_INLINE void ambit_block_close_f32(ambit_block_f32 *b)
{
  if (b->n) ambit_block_flush_f32(b, b->window, b->n);
}
