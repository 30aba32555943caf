/* SPDX-License-Identifier: BSD-3-Clause */
/* block.c - three dimensions: the tile of a block, and the cells of a thread.
 *
 * A block per tile and chunk of planes. The planes at the faces along z are chunks of their own,
 * which come first.
 */
#include "nest/window/window.h"

#include "base/integers.h"

/* ---- the tile ---- */

/* If rows outside a face along y are copies the face must lie between two groups. */
static void let_top(const ambit__window *j)
{
  const int y = j->y;
  ambit__nest *n = j->n;

  ambit__nest_do(n, "int top = from%d - %d", y, j->down);
  if (!j->slack) return;
  ambit__nest_if(n, "top < first%d", y);
  ambit__nest_do(n, "top -= ambit_cycled(top - first%d, 0, %d)", y, j->rows);
  ambit__nest_otherwise(n);
  ambit__nest_do_if(n, ambit__nest_text(n, "till%d + %d > end%d", y, j->up, y),
                    "top -= ambit_cycled(top - end%d, 0, %d)", y, j->rows);
  ambit__nest_close(n);
}

static void let_tile(const ambit__window *j)
{
  const int x = j->x, y = j->y, wide = ambit__window_useful(j), high = ambit__window_useful_rows(j);
  ambit__nest *n = j->n;

  ambit__nest_do(n, "const int origin = low%d & -%d", x, j->lane);
  ambit__nest_do(n, "const int across = (high%d - origin + %d) / %d", x, wide - 1, wide);
  ambit__nest_do(n, "const int tile = (int)%s", j->n->dialect->block[0]);
  ambit__nest_do(n, "const int from%d = origin + tile %% across * %d, till%d = from%d + %d", x,
                 wide, x, x, wide);
  ambit__nest_do(n, "const int from%d = low%d + tile / across * %d", y, y, high);
  ambit__nest_do(n, "const int till%d = ambit_least(from%d + %d, high%d)", y, y, high, y);
  ambit__nest_do_if(n, ambit__nest_text(n, "from%d >= high%d", y, y), "return");
  ambit__nest_do(n, "const int left = from%d - %d", x, j->before);
  let_top(j);
}

static void let_chunk(const ambit__window *j)
{
  const int z = j->z;
  ambit__nest *n = j->n;

  ambit__window_let_fast(j, z, j->below, j->above);
  ambit__nest_do(n, "const int fast = ambit_between(low%d, fast%d, high%d)", z, z, z);
  ambit__nest_do(n, "const int slow = ambit_between(fast, slow%d, high%d)", z, z);
  ambit__nest_do(n, "const int chunk = (int)%s - 2, chunks = (int)%s - 2", j->n->dialect->block[1],
                 j->n->dialect->blocks[1]);
  ambit__nest_do(n, "const int planes = slow - fast");
  ambit__nest_do(n,
                 "const int begin = chunk == -2 ? low%d : chunk == -1 ? slow : fast + "
                 "(int)((ambit_i64)planes * chunk / chunks)",
                 z);
  ambit__nest_do(n,
                 "const int end = chunk == -2 ? fast : chunk == -1 ? high%d : fast + "
                 "(int)((ambit_i64)planes * (chunk + 1) / chunks)",
                 z);
  ambit__nest_do_if(n, "begin >= end", "return");
}

/* "left < first2 + 1 || left + 64 > end2 - 1": some cells are outside the regions, or nearer to a
 * face than `beside` cells, or outside the memory of the part. Along x also if cells that the fast
 * code stores are outside the box. */
static const char *leaves(const ambit__window *j, int axis, const char *from, int cells, int beside)
{
  const int low = j->flow->margin[axis][0], high = j->flow->margin[axis][1];
  const int margin[] = {axis == j->x ? ambit__min(low, j->before) : low,
                        axis == j->x ? ambit__min(high, j->after) : high};
  const char *text = ambit__nest_text(j->n, "%s < first%d + %d || %s + %d > end%d - %d", from, axis,
                                      ambit__flow_inset(j->flow, axis, 0) + beside, from, cells,
                                      axis, ambit__flow_inset(j->flow, axis, 1) + beside);

  if (!j->flow->cut[axis]) return text;
  return ambit__nest_text(j->n, "%s || %s < low%d - %d || %s + %d > high%d + %d", text, from, axis,
                          margin[0], from, cells, axis, margin[1]);
}

/* Whether both codes publish and fetch the same rows in each turn, so that each warp can choose. In
 * OpenCL all must come to the same barriers. */
static bool same_turns(const ambit__window *a, const ambit__window *b)
{
  for (int v = 0; v < a->flow->nvalues; v++)
    if (a->values[v].lag != b->values[v].lag || a->values[v].fetched != b->values[v].fetched)
      return false;
  return a->period == b->period && a->lead == b->lead && a->drain == b->drain;
}

static int rows_per_warp(const ambit__window *j)
{
  return AMBIT__WARP / j->lanes * j->rows;
}

void ambit__window_add_block(const ambit__window *j, const ambit__window *edge)
{
  const bool apart = same_turns(j, edge) && j->n->dialect->has_lanes;

  let_tile(j);
  let_chunk(j);
  ambit__nest_do(j->n, "const int base = top + ambit_of_warp(%s) * %d", j->n->dialect->thread[1],
                 rows_per_warp(j));
  ambit__nest_do(j->n, "const bool edge = chunk < 0 || %s || %s",
                 leaves(j, j->x, "left", j->lanes * j->lane, 0),
                 apart ? leaves(j, j->y, "base", rows_per_warp(j), j->mirrors ? j->rows : 0)
                       : leaves(j, j->y, "top", j->groups * j->rows, 0));
}

/* ---- the cells of a thread ---- */

/* Whether all rows of the warp have values. */
static const char *whole_rows(const ambit__window *j)
{
  return ambit__nest_text(j->n, "base >= least%d && base + %d <= limit%d", j->y, rows_per_warp(j),
                          j->y);
}

/* `mine` has a bit for each row that the lane stores; at faces for each cell. */
void ambit__window_let_place(const ambit__window *j)
{
  const int x = j->x, y = j->y;
  ambit__nest *n = j->n;
  const char *thread = j->n->dialect->thread[0];

  ambit__nest_do(n, "const int lane = %s %% %d", thread, j->lanes);
  ambit__nest_do(n, "const int group = %s * %d + %s / %d", j->n->dialect->thread[1],
                 AMBIT__WARP / j->lanes, thread, j->lanes);
  ambit__nest_do(n, "const int x = left + lane * %d, y = top + group * %d", j->lane, j->rows);
  ambit__nest_do(n, "unsigned mine = 0");
  ambit__window_open_rows(j, 0, j->rows);
  ambit__nest_if(n, "y + r >= from%d && y + r < till%d", y, y);
  if (j->edge)
    ambit__nest_do(n,
                   "mine |= (unsigned)ambit_bits(ambit_most(from%d, low%d) - x, "
                   "ambit_least(till%d, high%d) - x, %d) << r * %d",
                   x, x, x, x, j->lane, j->lane);
  else
    ambit__nest_do_if(n, ambit__nest_text(n, "x >= from%d && x < till%d", x, x), "mine |= 1u << r");
  ambit__nest_close(n);
  ambit__window_close_rows(j);
  if (j->edge) ambit__window_let_edge(j, whole_rows(j));
  ambit__window_let_placed(j);
}
