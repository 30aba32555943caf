/* SPDX-License-Identifier: BSD-3-Clause */
/* block_counts.c - how many blocks a launch on a GPU has. */
#include "plan/gpu.h"

int64_t ambit__blocks_most(const ambit__group *g)
{
  return ambit__group_reduces(g) ? AMBIT__GPUCODE_PARTIALS : INT32_MAX;
}

int64_t ambit__blocks_busy(const ambit__group *g, const ambit__target *t, int64_t per)
{
  if (ambit__group_reduces(g)) return AMBIT__GPUCODE_FEW;
  return (t->threads > 1 ? t->threads : 1) * per;
}

int64_t ambit__blocks_chunks(int64_t least, int64_t most,
                             double (*time)(const void *user, double chunks), const void *user)
{
  int64_t best = least;
  double shortest = time(user, (double)least);

  for (int64_t n = least + 1; n <= most; n++) {
    const double ns = time(user, (double)n);

    if (ns >= shortest) continue;
    shortest = ns;
    best = n;
  }
  return best;
}
