/* SPDX-License-Identifier: BSD-3-Clause */
/* fused_block.c - three dimensions: the tile of a block, and the cells of a thread.
 *
 * A block per tile and chunk of planes. The planes at the faces along z are chunks of their own,
 * which come first.
 */
#include "plan/fused.h"

/* ---- the tile ---- */

/* If rows outside a face along y are copies the face must lie between two groups. */
static void emit_top(const ambit__fused_job *j)
{
  const int y = j->y;
  ambit__writer *w = j->gpu.w;

  ambit__line(w, "int top = from%d - %d;", y, j->down);
  if (!j->slack) return;
  ambit__line(w, "if (top < first%d)", y);
  ambit__line(w, "  top -= ambit_cycled(top - first%d, 0, %d);", y, j->rows);
  ambit__line(w, "else if (till%d + %d > end%d)", y, j->up, y);
  ambit__line(w, "  top -= ambit_cycled(top - end%d, 0, %d);", y, j->rows);
}

static void emit_tile(const ambit__fused_job *j)
{
  const int x = j->x, y = j->y, wide = ambit__fused_useful(j), high = ambit__fused_useful_rows(j);
  ambit__writer *w = j->gpu.w;

  ambit__line(w, "const int origin = low%d & -%d;", x, j->lane);
  ambit__line(w, "const int across = (high%d - origin + %d) / %d;", x, wide - 1, wide);
  ambit__line(w, "const int tile = (int)%s;", j->gpu.dialect->block[0]);
  ambit__line(w, "const int from%d = origin + tile %% across * %d, till%d = from%d + %d;", x, wide,
              x, x, wide);
  ambit__line(w, "const int from%d = low%d + tile / across * %d;", y, y, high);
  ambit__line(w, "const int till%d = ambit_least(from%d + %d, high%d);", y, y, high, y);
  ambit__line(w, "if (from%d >= high%d) return;", y, y);
  ambit__line(w, "const int left = from%d - %d;", x, j->before);
  emit_top(j);
}

static void emit_chunk(const ambit__fused_job *j)
{
  const int z = j->z;
  ambit__writer *w = j->gpu.w;

  ambit__fused_declare_fast(j, z, j->below, j->above);
  ambit__line(w, "const int fast = ambit_between(low%d, fast%d, high%d);", z, z, z);
  ambit__line(w, "const int slow = ambit_between(fast, slow%d, high%d);", z, z);
  ambit__line(w, "const int chunk = (int)%s - 2, chunks = (int)%s - 2;", j->gpu.dialect->block[1],
              j->gpu.dialect->blocks[1]);
  ambit__line(w, "const int planes = slow - fast;");
  ambit__line(w,
              "const int begin = chunk == -2 ? low%d : chunk == -1 ? slow : fast + "
              "(int)((ambit_i64)planes * chunk / chunks);",
              z);
  ambit__line(w,
              "const int end = chunk == -2 ? fast : chunk == -1 ? high%d : fast + "
              "(int)((ambit_i64)planes * (chunk + 1) / chunks);",
              z);
  ambit__line(w, "if (begin >= end) return;");
}

static int least(int a, int b)
{
  return a < b ? a : b;
}

/* "left < first2 + 1 || left + 64 > end2 - 1": some cells are outside the regions, or nearer to a
 * face than `beside` cells, or outside the memory of the part. Along x also if cells that the fast
 * code stores are outside the box. */
static void print_leaves(const ambit__fused_job *j, int axis, const char *from, int cells,
                         int beside)
{
  const int low = j->pipe->margin[axis][0], high = j->pipe->margin[axis][1];
  const int margin[] = {axis == j->x ? least(low, j->before) : low,
                        axis == j->x ? least(high, j->after) : high};

  ambit__print(j->gpu.t, "%s < first%d + %d || %s + %d > end%d - %d", from, axis,
               ambit__fused_inset(j->pipe, axis, 0) + beside, from, cells, axis,
               ambit__fused_inset(j->pipe, axis, 1) + beside);
  if (j->pipe->cut[axis])
    ambit__print(j->gpu.t, " || %s < low%d - %d || %s + %d > high%d + %d", from, axis, margin[0],
                 from, cells, axis, margin[1]);
}

/* Whether both codes publish and fetch the same rows in each turn, so that each warp can choose. In
 * OpenCL all must come to the same barriers. */
static bool same_turns(const ambit__fused_job *a, const ambit__fused_job *b)
{
  for (int v = 0; v < a->pipe->nvalues; v++)
    if (a->values[v].lag != b->values[v].lag || a->values[v].fetched != b->values[v].fetched)
      return false;
  return a->period == b->period && a->lead == b->lead && a->drain == b->drain;
}

static int rows_per_warp(const ambit__fused_job *j)
{
  return AMBIT__FUSED_WARP / j->lanes * j->rows;
}

void ambit__fused_emit_block(const ambit__fused_job *j, const ambit__fused_job *edge)
{
  emit_tile(j);
  emit_chunk(j);
  ambit__line(j->gpu.w, "const int base = top + ambit_of_warp(%s) * %d;", j->gpu.dialect->thread[1],
              rows_per_warp(j));
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "const bool edge = chunk < 0 || ");
  print_leaves(j, j->x, "left", j->lanes * j->lane, 0);
  ambit__print(j->gpu.t, " || ");
  if (same_turns(j, edge) && j->gpu.dialect->has_lanes)
    print_leaves(j, j->y, "base", rows_per_warp(j), j->mirrors ? j->rows : 0);
  else
    print_leaves(j, j->y, "top", j->groups * j->rows, 0);
  ambit__line_end(j->gpu.w, ";");
}

/* ---- the cells of a thread ---- */

/* `mine` has a bit for each row that the lane stores; at faces for each cell. `within`: all columns
 * of the tile have values; `whole`: so have all rows of the warp. */
static void declare_edge(const ambit__fused_job *j)
{
  const int x = j->x, y = j->y;
  ambit__writer *w = j->gpu.w;

  ambit__fused_declare_inside(j, "column", j->lane, "x + i", x);
  ambit__fused_declare_inside(j, "line", j->rows, "y + i", y);
  ambit__line(w, "const bool within = left >= least%d && left + %d <= limit%d;", x,
              j->lanes * j->lane, x);
  ambit__line(w, "const bool whole = within && base >= least%d && base + %d <= limit%d;", y,
              rows_per_warp(j), y);
  for (int i = 0; i < j->pipe->nstages; i++)
    ambit__fused_declare_outside(j, i);
}

void ambit__fused_emit_place(const ambit__fused_job *j)
{
  const int x = j->x, y = j->y;
  ambit__writer *w = j->gpu.w;
  const char *thread = j->gpu.dialect->thread[0];
  const bool lanes = j->gpu.dialect->has_lanes;

  ambit__line(w, "const int lane = %s %% %d;", thread, j->lanes);
  ambit__line(w, "const int group = %s * %d + %s / %d;", j->gpu.dialect->thread[1],
              AMBIT__FUSED_WARP / j->lanes, thread, j->lanes);
  ambit__line(w, "const int x = left + lane * %d, y = top + group * %d;", j->lane, j->rows);
  ambit__line(w, "unsigned mine = 0;");
  ambit__fused_open_rows(j, 0, j->rows);
  ambit__open(w, "if (y + r >= from%d && y + r < till%d)", y, y);
  if (j->edge)
    ambit__line(w,
                "mine |= (unsigned)ambit_bits%s%d%s(ambit_most(from%d, low%d) - x, "
                "ambit_least(till%d, high%d) - x) << r * %d;",
                lanes ? "<" : "_", j->lane, lanes ? ">" : "", x, x, x, x, j->lane);
  else
    ambit__line(w, "if (x >= from%d && x < till%d) mine |= 1u << r;", x, x);
  ambit__close(w);
  ambit__fused_close_rows(j);
  if (j->edge) declare_edge(j);
  ambit__fused_declare_placed(j);
}
