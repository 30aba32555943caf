/* SPDX-License-Identifier: BSD-3-Clause */
/* generic.c - weighted sums by rows.
 *
 * A strip of a row is summed in a small array that stays in the level 1 cache: a few taps per pass
 * over it, each pass a plain loop that any compiler vectorises. This is two to three times slower
 * than code generated for the stencil, and far faster than a loop over the taps per cell.
 */
#include "device/cpu/generic.h"

#include <stdlib.h>
#include <string.h>

enum { STRIP = 512, MOST_TAPS = 4096, PER_PASS = 9 };

/* Compiled for several processors; the best version is chosen when the library is loaded. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&                             \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#  define CLONES __attribute__((target_clones("avx512f", "avx2,fma", "default")))
#else
#  define CLONES
#endif

/* Nine weighted neighbours of cell x. */
#define NINE                                                                                       \
  (w[0] * u0[x] + w[1] * u1[x] + w[2] * u2[x] + w[3] * u3[x] + w[4] * u4[x] + w[5] * u5[x] +       \
   w[6] * u6[x] + w[7] * u7[x] + w[8] * u8[x])
#define PASS(name, T)                                                                              \
  /* sum[x] (+)= nine weighted neighbours */                                                       \
  CLONES static void name(T *restrict sum, const T *const *u, const T *given, int64_t n,           \
                          int first)                                                               \
  {                                                                                                \
    const T *u0 = u[0], *u1 = u[1], *u2 = u[2], *u3 = u[3], *u4 = u[4], *u5 = u[5], *u6 = u[6],    \
            *u7 = u[7], *u8 = u[8];                                                                \
    T w[PER_PASS];                                                                                 \
                                                                                                   \
    memcpy(w, given, sizeof w);                                                                    \
    if (first)                                                                                     \
      for (int64_t x = 0; x < n; x++)                                                              \
        sum[x] = NINE;                                                                             \
    else                                                                                           \
      for (int64_t x = 0; x < n; x++)                                                              \
        sum[x] += NINE;                                                                            \
  }
PASS(pass_f32, float)
PASS(pass_f64, double)

static int64_t tap_offset(const ambit__generic *g, const ambit_compiled_call *call,
                          const ambit__tap *tap)
{
  int64_t o = 0;

  for (int d = 0; d < g->ndims; d++)
    o += tap->offset[d] * call->stride[g->from][d];
  return o;
}

/* One strip of one row: u and v point at its first cell. An incomplete pass repeats its last tap
 * with weight zero, which adds only 0 * u for a cell that the strip reads anyway. */
#define SUM_STRIP(name, pass, T)                                                                   \
  static void name(const ambit__generic *g, const int64_t *offsets, const T *u, T *v, int64_t n)   \
  {                                                                                                \
    for (int k = 0; k < g->count; k += PER_PASS) {                                                 \
      const T *from[PER_PASS];                                                                     \
      T w[PER_PASS];                                                                               \
                                                                                                   \
      for (int i = 0; i < PER_PASS; i++) {                                                         \
        int tap = k + i < g->count ? k + i : g->count - 1;                                         \
                                                                                                   \
        from[i] = u + offsets[tap];                                                                \
        w[i] = k + i < g->count ? (T)g->taps[tap].weight : 0;                                      \
      }                                                                                            \
      pass(v, from, w, n, k == 0);                                                                 \
    }                                                                                              \
  }
SUM_STRIP(sum_f32, pass_f32, float)
SUM_STRIP(sum_f64, pass_f64, double)

static void run_row(const ambit__generic *g, const ambit_compiled_call *call,
                    const int64_t *offsets, const int64_t *at)
{
  const int last = g->ndims - 1;
  int64_t from = 0, to = 0;

  for (int d = 0; d < last; d++) {
    from += at[d] * call->stride[g->from][d];
    to += at[d] * call->stride[g->to][d];
  }
  for (int64_t x = call->lo[last]; x < call->hi[last]; x += STRIP) {
    int64_t n = call->hi[last] - x < STRIP ? call->hi[last] - x : STRIP;

    if (g->type == AMBIT_F32)
      sum_f32(g, offsets, (const float *)call->origin[g->from] + from + x,
              (float *)call->origin[g->to] + to + x, n);
    else
      sum_f64(g, offsets, (const double *)call->origin[g->from] + from + x,
              (double *)call->origin[g->to] + to + x, n);
  }
}

void ambit__generic_run(const ambit__generic *g, const ambit_compiled_call *call)
{
  int64_t offsets[MOST_TAPS], at[AMBIT_MAX_DIMS];
  int d;

  for (d = 0; d < g->ndims; d++)
    if (call->lo[d] >= call->hi[d]) return;
  for (int k = 0; k < g->count; k++)
    offsets[k] = tap_offset(g, call, &g->taps[k]);
  memcpy(at, call->lo, sizeof at);
  do {
    run_row(g, call, offsets, at);
    for (d = g->ndims - 2; d >= 0 && ++at[d] >= call->hi[d]; d--)
      at[d] = call->lo[d];
  } while (d >= 0);
}

bool ambit__generic_open(const ambit__rule *rule, int ndims, ambit__generic *g)
{
  ambit__tap *taps = malloc(MOST_TAPS * sizeof *taps);
  int count = 0;

  *g = (ambit__generic){0};
  if (!taps || rule->nparams != 2 || !ambit__rule_taps(rule, taps, MOST_TAPS, &count) || !count ||
      !ambit__type_is_real(rule->params[0].type) || rule->params[0].type != rule->params[1].type) {
    free(taps);
    return false;
  }
  *g = (ambit__generic){.from = rule->params[0].is_written,
                        .to = !rule->params[0].is_written,
                        .type = rule->params[0].type,
                        .ndims = ndims,
                        .count = count,
                        .taps = taps};
  return true;
}

void ambit__generic_close(ambit__generic *g)
{
  free(g->taps);
  g->taps = NULL;
}
