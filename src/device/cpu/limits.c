/* SPDX-License-Identifier: BSD-3-Clause */
/* limits.c - copies, multiply-adds and divisions, in loops the compiler cannot shorten.
 *
 * The library is built for the oldest processor of its kind. The loops for newer ones are compiled
 * with target attributes and chosen at run time. One row of the table of loops is one kind of
 * vector.
 *
 * A multiply-add takes about four cycles and a core starts two of them per cycle: twelve chains
 * keep it busy. ARM cores start up to four, but forward a sum to the next addition after two
 * cycles; so there the chain runs through the addend. No chain comes near numbers that are
 * slow to process: a * 0.5 + 1 converges to 2, and a + 0.5 grows until it is rounded away.
 */
#define _GNU_SOURCE 1
#include "device/cpu/limits.h"

#include "base/clock.h"
#include "plan/fitted.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#if defined(__x86_64__)
#  include <immintrin.h>
#elif defined(__aarch64__)
#  include <arm_neon.h>
#endif

typedef void (*copy_fn)(float *to, const float *from, size_t n);
typedef void (*fma_fn)(int64_t rounds);

typedef struct loops {
  copy_fn copy;        /* normal stores; n is a multiple of 64 */
  copy_fn nontemporal; /* stores past the caches; NULL: none */
  fma_fn fma32, fma64, divide, chain;
  int lanes; /* floats of a vector */
} loops;

static volatile double half = 0.5, one = 1.0; /* values unknown to the compiler */

/* Eight rows at a time, as in a stencil: several rows under way saturate memory. The distance of
 * the rows is not a power of two, so that they do not fall into the same cache sets. */
enum { ROWS = 8, ROW_FLOATS = 8192 + 64, AHEAD = 128 };
#define COPY(name, target, vector, lanes, load, store)                                             \
  target static void name(float *to, const float *from, size_t n)                                  \
  {                                                                                                \
    size_t done = 0;                                                                               \
                                                                                                   \
    for (; done + ROWS * ROW_FLOATS <= n; done += ROWS * ROW_FLOATS)                               \
      for (size_t i = done; i < done + ROW_FLOATS; i += (lanes))                                   \
        for (size_t r = i; r < i + ROWS * ROW_FLOATS; r += ROW_FLOATS) {                           \
          __builtin_prefetch(from + r + AHEAD);                                                    \
          store(to + r, load(from + r));                                                           \
        }                                                                                          \
    for (; done < n; done += (lanes))                                                              \
      store(to + done, load(from + done));                                                         \
  }

/* CHAINS independent chains. Their sum is stored, so that none can be optimised away. */
enum { CHAINS = 12 };
#define FMA(name, target, vector, scalar, splat, fma)                                              \
  target static void name(int64_t rounds)                                                          \
  {                                                                                                \
    vector x = splat((scalar)half), y = splat((scalar)one);                                        \
    vector a = y, b = x, c = y + x, d = c + x, e = d + x, f = e + x, g = f + x, h = g + x;         \
    vector i = h + x, j = i + x, k = j + x, l = k + x;                                             \
                                                                                                   \
    for (int64_t r = 0; r < rounds; r++) {                                                         \
      a = fma(a, x, y), b = fma(b, x, y), c = fma(c, x, y), d = fma(d, x, y);                      \
      e = fma(e, x, y), f = fma(f, x, y), g = fma(g, x, y), h = fma(h, x, y);                      \
      i = fma(i, x, y), j = fma(j, x, y), k = fma(k, x, y), l = fma(l, x, y);                      \
    }                                                                                              \
    a += b + c + d + e + f + g + h + i + j + k + l;                                                \
    volatile double sink = (double)a[0];                                                           \
    (void)sink;                                                                                    \
  }

/* One chain: each waits for the one before. */
#define CHAIN(name, target, vector, scalar, splat, fma)                                            \
  target static void name(int64_t rounds)                                                          \
  {                                                                                                \
    vector x = splat((scalar)half), y = splat((scalar)one), a = y;                                 \
                                                                                                   \
    for (int64_t r = 0; r < rounds; r++)                                                           \
      a = fma(a, x, y);                                                                            \
    volatile double sink = (double)a[0];                                                           \
    (void)sink;                                                                                    \
  }

#define DIVIDE(a, x, y) ((x) / (a)) /* 0.5 and 1 in turn, or 1 and 0.5, ... */

#if defined(__x86_64__)

#  define SSE2
#  define AVX2                __attribute__((target("avx2,fma")))
#  define AVX512              __attribute__((target("avx512f")))
#  define FMA_SSE_PS(a, x, y) _mm_add_ps(_mm_mul_ps(a, x), y)
#  define FMA_SSE_PD(a, x, y) _mm_add_pd(_mm_mul_pd(a, x), y)

#  define LOOPS(name, target, floats, doubles, n, vector, fma_ps, fma_pd)                          \
    COPY(copy_##name, target, floats, n, vector##_load_ps, vector##_store_ps)                      \
    COPY(nontemporal_##name, target, floats, n, vector##_load_ps, vector##_stream_ps)              \
    FMA(fma32_##name, target, floats, float, vector##_set1_ps, fma_ps)                             \
    FMA(fma64_##name, target, doubles, double, vector##_set1_pd, fma_pd)                           \
    FMA(divide_##name, target, floats, float, vector##_set1_ps, DIVIDE)                            \
    CHAIN(chain_##name, target, floats, float, vector##_set1_ps, fma_ps)                           \
    static const loops loops_##name = {copy_##name,                                                \
                                       nontemporal_##name,                                         \
                                       fma32_##name,                                               \
                                       fma64_##name,                                               \
                                       divide_##name,                                              \
                                       chain_##name,                                               \
                                       n};

LOOPS(sse, SSE2, __m128, __m128d, 4, _mm, FMA_SSE_PS, FMA_SSE_PD)
LOOPS(avx, AVX2, __m256, __m256d, 8, _mm256, _mm256_fmadd_ps, _mm256_fmadd_pd)
LOOPS(avx512, AVX512, __m512, __m512d, 16, _mm512, _mm512_fmadd_ps, _mm512_fmadd_pd)

static loops best_loops(void)
{
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f")) return loops_avx512;
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? loops_avx : loops_sse;
}

#else

/* Vectors of 16 bytes, in the compiler's own types; fused where the processor is known to do it. */
typedef float f32x4 __attribute__((vector_size(16)));
typedef double f64x2 __attribute__((vector_size(16)));

#  define HERE
#  define LOAD(p)     (*(const f32x4 *)(const void *)(p))
#  define STORE(p, v) ((void)(*(f32x4 *)(void *)(p) = (v)))
#  define SPLAT4(s)   ((f32x4){(s), (s), (s), (s)})
#  define SPLAT2(s)   ((f64x2){(s), (s)})
#  if defined(__aarch64__)
#    define FMA4(a, x, y)  ((f32x4)vfmaq_f32((float32x4_t)(a), (float32x4_t)(x), (float32x4_t)(y)))
#    define FMA2(a, x, y)  ((f64x2)vfmaq_f64((float64x2_t)(a), (float64x2_t)(x), (float64x2_t)(y)))
#    define NEXT4(a, x, y) FMA4(y, a, x) /* through a factor */
#  else
#    define FMA4(a, x, y)  ((a) * (x) + (y))
#    define FMA2(a, x, y)  ((a) * (x) + (y))
#    define NEXT4(a, x, y) FMA4(a, x, y)
#  endif

COPY(copy_plain, HERE, f32x4, 4, LOAD, STORE)
FMA(fma32_plain, HERE, f32x4, float, SPLAT4, FMA4)
FMA(fma64_plain, HERE, f64x2, double, SPLAT2, FMA2)
FMA(divide_plain, HERE, f32x4, float, SPLAT4, DIVIDE)
CHAIN(chain_plain, HERE, f32x4, float, SPLAT4, NEXT4)

static loops best_loops(void)
{
  return (loops){copy_plain, NULL, fma32_plain, fma64_plain, divide_plain, chain_plain, 4};
}

#endif

/* ---- time ---- */

typedef struct timed {
  void (*work)(void *arg, int thread, int threads);
  void *arg;
  double *took; /* by each thread */
} timed;

static void time_share(void *arg, int thread, int threads)
{
  const timed *t = arg;
  const double start = ambit__clock_thread();

  t->work(t->arg, thread, threads);
  t->took[thread] = ambit__clock_thread() - start;
}

/* Seconds of processor time of the slowest thread. By the clock on the wall, copies on one of two
 * busy cores were a third as fast as they are, multiply-adds a fifth. */
static double seconds_of(ambit__pool *pool, int threads,
                         void (*work)(void *arg, int thread, int threads), void *arg)
{
  timed t = {work, arg, calloc((size_t)threads, sizeof *t.took)};
  double most = 0;

  if (!t.took) return INFINITY;
  ambit__pool_run(pool, threads, time_share, &t);
  for (int i = 0; i < threads; i++)
    most = fmax(most, t.took[i]);
  free(t.took);
  return most;
}

/* ---- tries ---- */

/* Of one rate. Other work makes some tries slower and none faster, so the best one counts, and when
 * the best two are alike there is no need of more. */
typedef struct tries {
  int n;
  double seconds; /* of all */
  double best, second;
} tries;

enum { LEAST_TRIES = 3, MOST_TRIES = 12 };
static const double LEAST_SECONDS = 4e-3, ALIKE = 0.98, CLEARLY = 0.05;

/* So much work in so many seconds. */
static void add_try(tries *t, double work, double seconds)
{
  const double rate = work / seconds;

  t->second = rate > t->best ? t->best : fmax(rate, t->second);
  t->best = fmax(rate, t->best);
  t->seconds += seconds;
  t->n++;
}

static bool is_settled(const tries *t)
{
  return t->n >= LEAST_TRIES && t->seconds >= LEAST_SECONDS &&
         (t->n >= MOST_TRIES || t->second >= ALIKE * t->best);
}

/* ---- copies ---- */

enum { BLOCK_FLOATS = 64 };

typedef struct copying {
  copy_fn copy;
  float *to, *from;
  size_t blocks; /* of BLOCK_FLOATS, in each array */
  size_t piece;  /* floats at the start of a share that are copied to and fro; 0: all, once */
  int64_t times; /* that they are */
} copying;

/* The first float of a thread's share; that of thread `threads` is the end. */
static size_t share(const copying *c, int thread, int threads)
{
  return c->blocks * (size_t)thread / (size_t)threads * BLOCK_FLOATS;
}

static void copy_share(void *arg, int thread, int threads)
{
  copying *c = arg;
  const size_t lo = share(c, thread, threads), hi = share(c, thread + 1, threads);

  for (int64_t i = 0; i < c->times; i++)
    c->copy((i % 2 ? c->from : c->to) + lo, (i % 2 ? c->to : c->from) + lo,
            c->piece ? c->piece : hi - lo);
}

static void touch_share(void *arg, int thread, int threads)
{
  copying *c = arg;
  const size_t lo = share(c, thread, threads), hi = share(c, thread + 1, threads);

  for (size_t i = lo; i < hi; i += BLOCK_FLOATS)
    c->to[i] = c->from[i] = 1.0f;
}

/* Bytes of both arrays together: far more than the caches, but not more than a thread touches in a
 * few tenths of a second, and at most a quarter of the memory. */
static size_t copy_bytes(const ambit__machine *m, int threads)
{
  size_t bytes = 4 * (m->l3 + (size_t)threads * m->l2), most = (size_t)threads << 28;

  if (bytes > most) bytes = most;
  if (bytes < (size_t)1 << 27) bytes = (size_t)1 << 27;
  if (bytes > m->available / 4) bytes = m->available / 4;
  return bytes;
}

static void try_copies(ambit__pool *pool, copying *c, int threads, copy_fn copy, tries *t)
{
  const double floats = c->piece ? (double)c->piece * threads : (double)c->blocks * BLOCK_FLOATS;
  const double bytes = 2 * sizeof(float) * floats * (double)c->times;

  c->copy = copy;
  add_try(t, 1e-9 * bytes, seconds_of(pool, threads, copy_share, c));
}

/* Bytes per ns of copies in memory, with both kinds of stores in turns, as other work may slow one
 * of them: of ordinary ones, and of the faster ones. */
static void memory_rates(ambit__pool *pool, copying *c, int threads, const loops *l, double *plain,
                         double *all)
{
  tries near = {0}, past = {0};

  while (!is_settled(&near) || (l->nontemporal && !is_settled(&past))) {
    try_copies(pool, c, threads, l->copy, &near);
    if (l->nontemporal) try_copies(pool, c, threads, l->nontemporal, &past);
  }
  *plain = near.best;
  *all = fmax(near.best, past.best);
}

/* Copies to and fro of pieces of so many bytes of both arrays, which stay in a cache; of 0, all
 * once. false: they are too small, or too large for the arrays. */
static bool take_pieces(copying *c, int threads, size_t bytes)
{
  c->piece = bytes / (2 * sizeof(float) * BLOCK_FLOATS) * BLOCK_FLOATS;
  c->times = c->piece ? (int64_t)((2 << 20) / c->piece) * 2 + 2 : 1;
  return c->piece && c->piece <= c->blocks / (size_t)threads * BLOCK_FLOATS;
}

/* Bytes per ns of copies in a cache; 0: not known. */
static double cached_rate(ambit__pool *pool, copying *c, copy_fn copy, size_t bytes)
{
  const int threads = ambit__pool_threads(pool);
  tries t = {0};

  if (take_pieces(c, threads, bytes))
    while (!is_settled(&t))
      try_copies(pool, c, threads, copy, &t);
  take_pieces(c, threads, 0);
  return t.best;
}

/* Whether copies in pieces of so many bytes are faster with stores past the caches. */
static bool is_past(ambit__pool *pool, copying *c, const loops *l, size_t bytes)
{
  const int threads = ambit__pool_threads(pool);
  tries plain = {0}, past = {0};

  if (take_pieces(c, threads, bytes))
    while (plain.n < LEAST_TRIES * 2 && fabs(plain.best - past.best) <= CLEARLY * plain.best) {
      for (int i = 0; i < 2; i++) /* the first one brings the pieces into the cache */
        try_copies(pool, c, threads, l->copy, &plain);
      for (int i = 0; i < 2; i++)
        try_copies(pool, c, threads, l->nontemporal, &past);
    }
  take_pieces(c, threads, 0);
  return plain.best < past.best;
}

/* The size of fields up to which copies are faster with ordinary stores, at most the usual share of
 * the last cache. In a virtual machine others may use most of that: of the 105 MB that two cores of
 * a Sapphire Rapids saw, 16 MB. */
static double kept_bytes(ambit__pool *pool, copying *c, const loops *l, const ambit__machine *m)
{
  const size_t threads = (size_t)ambit__pool_threads(pool);
  const double most = AMBIT__FIT_STAYS * (double)(m->l3 > m->l2 ? m->l3 : m->l2);
  double kept = (double)(threads * m->l2);

  while (l->nontemporal && kept < most) {
    const double next = 2 * kept < most ? 2 * kept : most;

    if (is_past(pool, c, l, (size_t)next / threads)) return kept;
    kept = next;
  }
  return most;
}

/* Where there is no third level, its speed is that of memory. */
static void measure_caches(ambit__pool *pool, copying *c, const loops *l, ambit__machine *m)
{
  const size_t threads = (size_t)ambit__pool_threads(pool), blocks = c->blocks;
  const size_t most = 16 << 20, part = m->l3 / 2 / threads < most ? m->l3 / 2 / threads : most;

  m->copy1 = cached_rate(pool, c, l->copy, m->l1 / 2);
  m->copy2 = cached_rate(pool, c, l->copy, m->l2 / 2);
  m->copy3 = part > m->l2 ? cached_rate(pool, c, l->copy, part) : m->copy;
  m->kept = kept_bytes(pool, c, l, m);
  c->blocks /= threads;
  memory_rates(pool, c, 1, l, &m->plain1, &m->alone);
  c->blocks = blocks;
}

static void measure_copies(ambit__pool *pool, bool all, ambit__machine *m)
{
  const loops l = best_loops();
  const int threads = ambit__pool_threads(pool);
  const size_t bytes = copy_bytes(m, threads);
  void *both = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  copying c = {.blocks = bytes / (2 * sizeof(float) * BLOCK_FLOATS), .times = 1};

  m->copy = m->alone = m->plain = m->plain1 = m->copy1 = m->copy2 = m->copy3 = m->kept = 0;
  if (both == MAP_FAILED) return;
#ifdef MADV_HUGEPAGE
  madvise(both, bytes, MADV_HUGEPAGE);
#endif
  c.to = both;
  c.from = c.to + c.blocks * BLOCK_FLOATS;
  ambit__pool_run(pool, threads, touch_share, &c);
  memory_rates(pool, &c, threads, &l, &m->plain, &m->copy);
  if (all) measure_caches(pool, &c, &l, m);
  munmap(both, bytes);
}

/* ---- arithmetic ---- */

typedef struct adding {
  fma_fn fma; /* NULL: nothing is done */
  int64_t rounds;
} adding;

static void add_share(void *arg, int thread, int threads)
{
  adding *a = arg;

  (void)thread, (void)threads;
  if (a->fma) a->fma(a->rounds);
}

static double add_seconds(ambit__pool *pool, adding *a)
{
  return seconds_of(pool, ambit__pool_threads(pool), add_share, a);
}

/* Per ns. Doubles the work until it takes a ms. */
static double fma_rate(ambit__pool *pool, fma_fn fma, int lanes)
{
  const double work = 1e-9 * (double)ambit__pool_threads(pool) * lanes * CHAINS;
  adding a = {fma, 10000};
  tries t = {0};

  while (add_seconds(pool, &a) < 1e-3 && a.rounds < INT64_MAX / 4)
    a.rounds *= 2;
  while (!is_settled(&t))
    add_try(&t, work * (double)a.rounds, add_seconds(pool, &a));
  return t.best;
}

/* ns of one multiply-add after the other. */
static double chain_ns(fma_fn chain)
{
  const int64_t rounds = 1 << 19;
  tries t = {0};

  while (!is_settled(&t)) {
    const double start = ambit__clock_thread();

    chain(rounds);
    add_try(&t, 1e-9 * (double)rounds, ambit__clock_thread() - start);
  }
  return 1 / t.best;
}

static int64_t all_naps(const ambit__pool *pool)
{
  int64_t naps = 0;

  for (int t = 0; t < ambit__pool_threads(pool); t++)
    naps += ambit__pool_naps(pool, t);
  return naps;
}

/* ns to start all threads and wait for them: few in a row, as other work may have a core. Rows in
 * which a thread waited so long that it slept do not count. 0: all were so. */
static double start_ns(ambit__pool *pool)
{
  enum { STARTS = 8, LEAST_ROWS = 10, MOST_ROWS = 100 };
  adding nothing = {NULL, 0};
  double best = 0, end = ambit__clock() + 0.05;

  for (int i = 0; i < MOST_ROWS && (i < LEAST_ROWS || ambit__clock() < end); i++) {
    const double begun = ambit__clock();
    const int64_t naps = all_naps(pool);
    double ns;

    for (int k = 0; k < STARTS; k++)
      ambit__pool_run(pool, ambit__pool_threads(pool), add_share, &nothing);
    ns = 1e9 * (ambit__clock() - begun) / STARTS;
    if (all_naps(pool) == naps && (!best || ns < best)) best = ns;
  }
  return best;
}

static void measure_all(ambit__pool *pool, ambit__machine *m)
{
  const loops l = best_loops();

  m->fma32 = fma_rate(pool, l.fma32, l.lanes);
  m->fma64 = fma_rate(pool, l.fma64, l.lanes / 2);
  m->divide = fma_rate(pool, l.divide, l.lanes);
  m->special = m->fma32 / 20; /* generated code has polynomials: codegen/prelude/math.h */
  m->chain = chain_ns(l.chain);
  m->launch = start_ns(pool);
}

void ambit__cpu_measure(ambit__pool *pool, bool all, ambit__machine *m)
{
  const int threads = ambit__pool_threads(pool), cores = ambit__machine_cores();

  if (threads > cores) ambit__pool_use(pool, cores); /* the others would wait for these */
  measure_copies(pool, all, m);
  if (all) measure_all(pool, m);
  ambit__pool_use(pool, threads);
}
