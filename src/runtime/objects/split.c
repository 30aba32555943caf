/* SPDX-License-Identifier: BSD-3-Clause */
/* split.c - parts of sparse grids that would be too large for positions of 32 bits: each becomes
 * several, on the same device. */
#include "base/memory.h"
#include "runtime/objects/objects.h"

#include <math.h>
#include <stdlib.h>

/* A part may be that much larger than its share of the cells, with layers around it. */
static const double room = 0.9;

/* The largest share of a part that the devices ask for. */
static double largest_share(int n, const double *weights, int was)
{
  double sum = 0, most = 0;

  for (int i = 0; i < n; i++) {
    const double weight = weights ? weights[i * was] : 1;

    sum += weight;
    if (weight > most) most = weight;
  }
  return most / sum;
}

int ambit__split_for(const ambit *a, double size, const double *weights, int now)
{
  const int n = a->placement.first[a->net->size];
  const double most = (double)ambit__active_most;
  const double largest = size * largest_share(n, weights, now);
  const double half = ceil(2 * size / n / most), least = ceil(largest / (room * most));

  if (largest <= room * most * now) return now;
  return (int)(half > least ? half : least); /* half full: fields may widen */
}

ambit_status ambit__placement_split(ambit *a, int split, ambit__placement *x)
{
  int *engine;

  if (split == 1) return AMBIT_OK;
  AMBIT_NEW(&a->errors, engine, (size_t)x->n * (size_t)split);
  for (int i = 0; i < x->n * split; i++)
    engine[i] = x->engine[i / split];
  free(x->engine);
  x->engine = engine;
  x->n *= split;
  x->most *= split;
  for (int i = 0; i <= a->net->size; i++)
    x->first[i] *= split;
  return AMBIT_OK;
}

ambit_status ambit__weights_split(ambit *a, const double *weights, int was, int split, double **to)
{
  const int n = a->placement.first[a->net->size] * split;

  *to = NULL;
  if (!weights) return AMBIT_OK;
  AMBIT_NEW(&a->errors, *to, (size_t)n);
  for (int i = 0; i < n; i++)
    (*to)[i] = weights[i / split * was];
  return AMBIT_OK;
}
