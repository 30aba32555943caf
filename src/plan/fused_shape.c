/* SPDX-License-Identifier: BSD-3-Clause */
/* fused_shape.c - launches of the strategy `fused`. */
#include "plan/fitted.h"

#include "base/integers.h"
#include "plan/fused.h"

#include <math.h>

enum {
  MOST_CHUNKS = 1024,
  LEAST_ROWS = 4,   /* of a chunk */
  LEAST_PLANES = 8, /* the same in three dimensions, beside those computed again */
  BUSY_WARPS = 10   /* that keep a multiprocessor busy */
};

double ambit__fused_pieces(const ambit__window *j, const ambit__plan *p, double rows, double chunks)
{
  const int beside = (j->lead + j->drain) / 2;
  const double pieces = (chunks + 2) * AMBIT__WINDOW_EDGE * p->threads[1];
  const double most = rows / (beside < 4 ? 4 : beside);

  return pieces < most ? pieces : most;
}

/* Warps at faces, approximately: a band has less than three strips for one of the fast code. */
static double at_edges(const ambit__window *j, const ambit__plan *p, double rows, double strips,
                       double chunks)
{
  return j->y < 0 ? 3 * ambit__fused_pieces(j, p, rows, chunks) + 2 * 3 * strips : 0;
}

double ambit__fused_least_wave(const ambit__plan *p)
{
  const int warps = (p->resident ? p->resident : 1) * p->threads[1];

  return warps > BUSY_WARPS ? (double)BUSY_WARPS / warps : 1;
}

bool ambit__fused_has_faces(const ambit__window *j)
{
  return !j->flow->periodic[j->x] || !j->flow->periodic[j->z];
}

double ambit__fused_even_turns(const ambit__window *j, const ambit__plan *p, double rows,
                               double strips, double chunks)
{
  const double blocks = ceil(strips / p->threads[1]) * chunks;

  return (ceil(blocks / (p->wave > 0 ? p->wave : 1)) + AMBIT__FIT_UNEVEN) *
         (rows / chunks + j->lead + j->drain);
}

/* A launch whose rows are cut into chunks. */
typedef struct cuts {
  const ambit__window *j;
  const ambit__plan *p;
  double rows, strips;
} cuts;

/* Time of a launch, in rows: waves of warps or blocks, each of which computes a chunk and the rows
 * beside it. The last of several waves is not full. In two dimensions a single wave that is not
 * full takes less time, until there are so few warps that they only wait for their own results. */
static double duration(const void *user, double chunks)
{
  const cuts *c = user;
  const ambit__window *j = c->j;
  const ambit__plan *p = c->p;
  const double rows = c->rows, strips = c->strips;
  const double wave = (double)(p->wave > 0 ? p->wave : 1) * (j->y < 0 ? p->threads[1] : 1);
  const double least = ambit__fused_least_wave(p);
  const double turns = rows / chunks + j->lead + j->drain;
  const double waves = (strips * chunks + at_edges(j, p, rows, strips, chunks)) / wave;

  if (j->y < 0 && !ambit__fused_has_faces(j))
    return ambit__fused_even_turns(j, p, rows, strips, chunks);
  if (waves > 1) return (waves + 0.5) * turns;
  if (j->y >= 0) return 1.5 * turns;
  return (waves < least ? least : waves) * turns;
}

int64_t ambit__fused_chunks(const ambit__window *j, const ambit__plan *p, int64_t rows,
                            int64_t strips)
{
  const int least = j->y < 0 ? LEAST_ROWS : j->lead + j->drain + LEAST_PLANES;
  const int64_t most = rows / least < MOST_CHUNKS ? rows / least : MOST_CHUNKS;
  const cuts c = {j, p, (double)rows, (double)strips};

  return ambit__blocks_chunks(1, most, duration, &c);
}

/* Strips of the edge code beside those of the fast code, at most. */
static int64_t at_faces(const ambit__window *j, const ambit__window *edge, int64_t wide)
{
  const int narrow = ambit__window_useful(edge), useful = ambit__window_useful(j);
  const int64_t low = ambit__flow_inset(j->flow, j->x, 0) + j->before + j->lane;
  const int64_t high = ambit__flow_inset(j->flow, j->x, 1) + j->after + j->lane;
  const int64_t most = ambit__pieces(low, narrow) + ambit__pieces(high + narrow, narrow);

  if (wide < low + high + narrow + useful) return ambit__pieces(wide + j->lane, narrow) + 1;
  return most;
}

static void shape_strips(const ambit__window *j, const ambit__window *edge, const ambit__plan *p,
                         const ambit__box *box, ambit__shape *shape)
{
  const int64_t wide = box->hi[j->x] - box->lo[j->x];
  const int64_t strips = ambit__pieces(wide + j->lane, ambit__window_useful(j));

  shape->blocks[0] =
      ambit__pieces(strips, p->threads[1]) + at_faces(j, edge, wide) * AMBIT__WINDOW_EDGE;
  shape->blocks[1] = ambit__fused_chunks(j, p, box->hi[j->z] - box->lo[j->z], strips) +
                     ambit__window_bands(j, edge);
}

static void shape_blocks(const ambit__window *j, const ambit__window *edge, const ambit__plan *p,
                         const ambit__box *box, ambit__shape *shape)
{
  const int64_t across =
      ambit__pieces(box->hi[j->x] - box->lo[j->x] + j->lane - 1, ambit__window_useful(j));
  const int64_t along = ambit__pieces(box->hi[j->y] - box->lo[j->y], ambit__window_useful_rows(j));
  const size_t fast = ambit__window_shared(j), slow = ambit__window_shared(edge);

  shape->blocks[0] = across * along;
  shape->blocks[1] = ambit__fused_chunks(j, p, box->hi[j->z] - box->lo[j->z], across * along) + 2;
  shape->shared = fast > slow ? fast : slow;
}

void ambit__fused_shape(const ambit__group *g, const ambit__plan *p, const ambit__box *box,
                        ambit__shape *shape)
{
  ambit__window j, edge;

  *shape = (ambit__shape){.blocks = {1, 1, 1}, .threads = {p->threads[0], p->threads[1], 1}};
  if (ambit__fused_begin(g, p, false, &j) && ambit__fused_begin(g, p, true, &edge))
    (j.y < 0 ? shape_strips : shape_blocks)(&j, &edge, p, box, shape);
}
