/* SPDX-License-Identifier: BSD-3-Clause */
/* ring.h - a sparse grid whose active cells are an annulus, for tests of sparse grids. */
#ifndef AMBIT_TESTS_RUNTIME_RING_H
#define AMBIT_TESTS_RUNTIME_RING_H

#include "runtime/runtime_test.h"

#include <math.h>

enum { N = 24, M = 70 };

/* An annulus. */
static inline int in_ring(const int64_t *i, void *user)
{
  const double y = (double)i[0] - N / 2, x = ((double)i[1] - M / 2) / 3;
  const double r = sqrt(x * x + y * y);

  if (user) ++*(int *)user;
  return r > 4 && r < 11;
}

static inline ambit_grid *ring(ambit *a)
{
  const int64_t extents[] = {N, M};

  return ambit_grid_create_sparse(a, 2, extents, in_ring, NULL);
}

static inline double ramp(const int64_t *i, int component, void *user)
{
  (void)user;
  return (double)(i[0] * M + i[1]) / 64 + component;
}

static inline int64_t count_ring(void)
{
  int64_t n = 0;

  for (int64_t c = 0; c < (int64_t)N * M; c++)
    n += in_ring((const int64_t[]){c / M, c % M}, NULL);
  return n;
}

/* The mean of four neighbours, with two reductions. */
static const char spread[] =
    AMBIT_SOURCE(void spread(const double *u, double *v, sum double *total, max double *most) {
      *v = 0.25 * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1]);
      *total = *v;
      *most = *v;
    });

#endif
