/* SPDX-License-Identifier: BSD-3-Clause */
/* fused_shape.c - launches of the strategy `fused`. */
#include "plan/fused.h"

enum { MOST_CHUNKS = 1024 };

static int64_t quotient_up(int64_t a, int64_t b)
{
  return (a + b - 1) / b;
}

/* Time of a launch, in rows: waves of warps or blocks, each of which computes a chunk and the rows
 * beside it. The last wave is not full. */
static double duration(double strips, double wave, double rows, double beside, double chunks)
{
  const double waves = strips * chunks / wave;

  return ((waves < 1 ? 1 : waves) + 0.5) * (rows / chunks + beside);
}

int64_t ambit__fused_chunks(const ambit__fused_job *j, const ambit__plan *p, int64_t rows,
                            int64_t strips)
{
  const int beside = j->lead + j->drain;
  const double wave = (double)(p->wave > 0 ? p->wave : 1) * (j->y < 0 ? p->threads[1] : 1);
  int64_t best = 1;

  for (int64_t n = 1; n <= MOST_CHUNKS && n * (beside + 8) <= rows; n++)
    if (duration((double)strips, wave, (double)rows, beside, (double)n) <
        duration((double)strips, wave, (double)rows, beside, (double)best))
      best = n;
  return best;
}

/* Strips of the edge code beside those of the fast code, at most. */
static int64_t at_faces(const ambit__fused_job *j, const ambit__fused_job *edge, int64_t wide)
{
  const int narrow = ambit__fused_useful(edge), useful = ambit__fused_useful(j);
  const int64_t low = ambit__fused_inset(j->pipe, j->x, 0) + j->before + j->lane;
  const int64_t high = ambit__fused_inset(j->pipe, j->x, 1) + j->after + j->lane;
  const int64_t most = quotient_up(low, narrow) + quotient_up(high + narrow, narrow);

  if (wide < low + high + narrow + useful) return quotient_up(wide + j->lane, narrow) + 1;
  return most;
}

static void shape_strips(const ambit__fused_job *j, const ambit__fused_job *edge,
                         const ambit__plan *p, const ambit__box *box, ambit__shape *shape)
{
  const int64_t wide = box->hi[j->x] - box->lo[j->x];
  const int64_t strips = quotient_up(wide + j->lane, ambit__fused_useful(j));

  shape->blocks[0] =
      quotient_up(strips, p->threads[1]) + at_faces(j, edge, wide) * AMBIT__FUSED_EDGE;
  shape->blocks[1] = ambit__fused_chunks(j, p, box->hi[j->z] - box->lo[j->z], strips) + 2;
}

static void shape_blocks(const ambit__fused_job *j, const ambit__fused_job *edge,
                         const ambit__plan *p, const ambit__box *box, ambit__shape *shape)
{
  const int64_t across =
      quotient_up(box->hi[j->x] - box->lo[j->x] + j->lane - 1, ambit__fused_useful(j));
  const int64_t along = quotient_up(box->hi[j->y] - box->lo[j->y], ambit__fused_useful_rows(j));
  const size_t fast = ambit__fused_shared(j), slow = ambit__fused_shared(edge);

  shape->blocks[0] = across * along;
  shape->blocks[1] = ambit__fused_chunks(j, p, box->hi[j->z] - box->lo[j->z], across * along) + 2;
  shape->shared = fast > slow ? fast : slow;
}

void ambit__fused_shape(const ambit__group *g, const ambit__plan *p, const ambit__box *box,
                        ambit__shape *shape)
{
  ambit__fused_job j, edge;

  *shape = (ambit__shape){.blocks = {1, 1, 1}, .threads = {p->threads[0], p->threads[1], 1}};
  if (ambit__fused_begin(g, p, false, &j) && ambit__fused_begin(g, p, true, &edge)) {
    (j.y < 0 ? shape_strips : shape_blocks)(&j, &edge, p, box, shape);
    ambit__fused_end(&edge);
  }
  ambit__fused_end(&j);
}
