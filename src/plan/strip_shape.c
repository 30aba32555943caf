/* SPDX-License-Identifier: BSD-3-Clause */
/* strip_shape.c - the launches of the strategy `strip`: blocks in memory order, and long chunks.
 *
 * Blocks run in the order of their numbers, x first: strips, then rows, then planes. The planes
 * between two layers of tiles are read twice. They are still in the level 2 cache if a layer is
 * small enough; in 3-D, rows are cut into panels for that.
 */
#include "plan/fitted.h"

#include "base/integers.h"
#include "plan/strip.h"

#include <math.h>

enum {
  MOST_BLOCKS = AMBIT__STRIP_BLOCKS,
  LEAST_PLANES = 8,  /* per chunk */
  MOST_PLANES = 128, /* per chunk: over long distances, warps drift apart */
  MOST_WAVES = 8,    /* of blocks */
  FEW_CHUNKS = 8,
  LINE = 8, /* vectors of a line of the caches, 128 bytes */
  START = 4 /* planes that could be computed in the time a block takes to start */
};

int ambit__strip_axis(const ambit__group *g)
{
  return g->ndims > 2 ? g->ndims - 3 : g->ndims - 2;
}

int ambit__strip_overlap(const ambit__group *g)
{
  const ambit__rule *rule = g->rule;
  const int axis = ambit__strip_axis(g);
  int overlap = 0;

  if (axis < 0) return 0;
  for (int i = 0; i < rule->nparams; i++)
    if (rule->params[i].low[axis] + rule->params[i].high[axis] > overlap)
      overlap = rule->params[i].low[axis] + rule->params[i].high[axis];
  return overlap;
}

/* A launch whose planes are cut into chunks. */
typedef struct cuts {
  double blocks, wave, planes, overlap;
} cuts;

/* Duration of a launch, in planes of a warp, if its blocks run in waves and the last wave is not
 * quite even. The planes between two chunks are read twice. */
static double duration(const void *user, double chunks)
{
  const cuts *c = user;
  const double length = c->planes / chunks + c->overlap + START;

  return (ceil(c->blocks * chunks / c->wave) + AMBIT__FIT_UNEVEN) * length;
}

/* Whole waves of blocks, and long chunks. Few chunks where even all of them fill no wave: tiles are
 * faster there (plan/strip.c, idle_ns). */
static int64_t chunks_of(const ambit__group *g, const ambit__plan *p, int64_t planes,
                         int64_t blocks)
{
  const int64_t wave = p->wave ? p->wave : 1;
  const int64_t most = ambit__min64(planes / LEAST_PLANES,
                                    ambit__min64(MOST_BLOCKS, ambit__blocks_most(g) / blocks));
  const int64_t waves = wave / blocks > most ? 0 : MOST_WAVES * wave / blocks;
  const int64_t least = ambit__max64(1, ambit__min64(most, ambit__pieces(planes, MOST_PLANES)));
  const cuts c = {(double)blocks, (double)wave, (double)planes, ambit__strip_overlap(g)};

  return ambit__blocks_chunks(least, ambit__min64(most, ambit__max64(waves, FEW_CHUNKS)), duration,
                              &c);
}

/* Layers of tiles along z, limited in a reduction by the number of partial results. In 2-D there
 * may be more layers than blocks along y. */
static void set_layers(const ambit__group *g, const ambit__plan *p, int64_t planes,
                       ambit__shape *shape)
{
  int64_t layers = ambit__pieces(planes, p->rows[1] * (g->ndims > 2 ? 1 : p->threads[1]));

  if (ambit__group_reduces(g))
    layers = ambit__max64(
        1, ambit__min64(ambit__min64(layers, MOST_BLOCKS),
                        AMBIT__GPUCODE_PARTIALS / (shape->blocks[0] * shape->blocks[2])));
  else if (g->ndims == 2)
    shape->blocks[2] = ambit__pieces(layers, MOST_BLOCKS);
  shape->blocks[1] = g->ndims == 2 ? ambit__pieces(layers, shape->blocks[2]) : layers;
}

/* Panels that the stacks of rows are cut into, so that the data of one layer of tiles stays in the
 * cache. */
static int64_t panels_of(const ambit__group *g, const ambit__plan *p, int64_t cells, int64_t stacks)
{
  const double planes = p->ahead ? p->ahead + 1 : p->rows[1];
  const double bytes =
      ambit__price_bound(g->rule, g->bind, g->ndims).bytes * planes * (double)cells;

  return ambit__min64((int64_t)ceil(bytes / p->panel), stacks);
}

int ambit__strip_align(const ambit__plan *p)
{
  return (int)p->strip * (p->ring ? LINE : 1);
}

int ambit__strip_block_rows(const ambit__plan *p)
{
  return p->threads[1] * (AMBIT__WARP / p->lanes) * p->rows[0];
}

/* Strips of a row; see nest/strip/strip.c for the start of the first. */
static int64_t strips_of(const ambit__plan *p, const ambit__box *box)
{
  const int x = box->ndims - 1;

  return ambit__pieces(box->hi[x] - (box->lo[x] & -ambit__strip_align(p)), p->lanes * p->strip);
}

void ambit__strip_shape(const ambit__group *g, const ambit__plan *p, const ambit__box *box,
                        ambit__shape *shape)
{
  const int x = g->ndims - 1, y = x - 1, z = ambit__strip_axis(g);
  const int64_t strips = strips_of(p, box), planes = z < 0 ? 1 : box->hi[z] - box->lo[z];
  const int64_t most = ambit__blocks_most(g);
  int64_t tiles = z < 0 ? ambit__pieces(strips, p->threads[1]) : strips, outer = 1;

  if (g->ndims > 2) {
    const int64_t rows = box->hi[y] - box->lo[y];
    int64_t stacks = ambit__pieces(rows, ambit__strip_block_rows(p));

    if (g->ndims == 3 && !ambit__group_reduces(g)) {
      outer = panels_of(g, p, rows * (box->hi[x] - box->lo[x]), stacks);
      stacks = ambit__pieces(stacks, outer);
    }
    tiles = strips * stacks;
  }
  for (int d = 0; d < z; d++)
    outer *= box->hi[d] - box->lo[d];
  tiles = ambit__min64(tiles, most);
  outer = ambit__min64(outer, ambit__min64(MOST_BLOCKS, most / tiles));
  *shape = (ambit__shape){.blocks = {tiles, 1, outer},
                          .threads = {p->threads[0], p->threads[1], p->threads[2]},
                          .shared = p->ring};
  if (z < 0) return;
  if (p->ahead)
    shape->blocks[1] = chunks_of(g, p, planes, tiles * outer);
  else
    set_layers(g, p, planes, shape);
}
