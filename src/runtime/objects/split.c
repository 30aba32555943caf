/* SPDX-License-Identifier: BSD-3-Clause */
/* split.c - parts of sparse grids that would be too large for positions of 32 bits: each becomes
 * several, on the same device. */
#include "base/memory.h"
#include "runtime/objects/objects.h"

#include <math.h>
#include <stdlib.h>

/* A part may be that much larger than its share of the cells, with layers around it. */
static const double room = 0.9;

ambit_status ambit__grid_split(ambit_grid *g)
{
  ambit *a = g->context;
  ambit__placement *x = &g->placement;
  const double share = (double)g->active->size / x->first[a->net->size];
  int *engine;

  g->split = 1;
  if (share <= room * (double)ambit__active_most) return AMBIT_OK;
  g->split = (int)ceil(2 * share / (double)ambit__active_most); /* half full: fields may widen */
  engine = ambit__new(&a->errors, (size_t)x->n * (size_t)g->split, sizeof *engine);
  if (!engine) return AMBIT_ENOMEM;
  for (int i = 0; i < x->n * g->split; i++)
    engine[i] = x->engine[i / g->split];
  free(x->engine);
  x->engine = engine;
  x->n *= g->split;
  x->most *= g->split;
  for (int i = 0; i <= a->net->size; i++)
    x->first[i] *= g->split;
  return AMBIT_OK;
}

ambit_status ambit__grid_split_weights(ambit_grid *g)
{
  double *weights;

  if (g->split == 1) return AMBIT_OK;
  weights = ambit__new(&g->context->errors, (size_t)g->nparts, sizeof *weights);
  if (!weights) return AMBIT_ENOMEM;
  for (int i = 0; i < g->nparts; i++)
    weights[i] = g->weights[i / g->split];
  free(g->weights);
  g->weights = weights;
  return AMBIT_OK;
}
