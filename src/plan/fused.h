/* SPDX-License-Identifier: BSD-3-Clause */
/* fused.h - the strategies `fused` and `persistent`: fused.c and persistent.c choose the plans, for
 * nests of nest/window/; fused_shape.c has the launches of the former. */
#ifndef AMBIT_PLAN_FUSED_H
#define AMBIT_PLAN_FUSED_H

#include "nest/window/window.h"
#include "plan/gpu.h"

enum {
  AMBIT__FUSED_MOST_WORK = 12000 /* operations in unrolled code */
};

static inline ambit__window_form ambit__fused_form(const ambit__plan *p)
{
  return (ambit__window_form){.cells = (int)p->strip,
                              .rows = p->rows[0],
                              .planes = p->rows[1],
                              .lanes = p->lanes,
                              .warps = p->threads[1],
                              .ahead = p->ahead,
                              .sums = p->sums,
                              .rolled = p->rolled};
}

/* Fills in a window; false: that is not possible. */
static inline bool ambit__fused_begin(const ambit__group *g, const ambit__plan *p, bool edge,
                                      ambit__window *j)
{
  const ambit__window_form form = ambit__fused_form(p);

  return ambit__window_begin(g, &form, edge, j);
}

/* ---- fused_shape.c ---- */

/* Two dimensions: the tiles of a strip at a face, approximately. */
double ambit__fused_pieces(const ambit__window *j, const ambit__plan *p, double rows,
                           double chunks);
/* The time of a launch with very few warps, in that of a full wave. */
double ambit__fused_least_wave(const ambit__plan *p);
/* Two dimensions: whether some tiles are at faces. */
bool ambit__fused_has_faces(const ambit__window *j);
/* If not, the time of a launch, in rows: all tiles take as long, so that waves begin and end
 * together, and a block that is one too many takes as long as a wave. */
double ambit__fused_even_turns(const ambit__window *j, const ambit__plan *p, double rows,
                               double strips, double chunks);
/* The number of chunks that rows are cut into. */
int64_t ambit__fused_chunks(const ambit__window *j, const ambit__plan *p, int64_t rows,
                            int64_t strips);
void ambit__fused_shape(const ambit__group *g, const ambit__plan *p, const ambit__box *box,
                        ambit__shape *shape);

#endif
