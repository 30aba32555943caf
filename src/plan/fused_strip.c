/* SPDX-License-Identifier: BSD-3-Clause */
/* fused_strip.c - two dimensions: the tile of a warp, and the cells of a lane.
 *
 * The strips and rows at faces need slower code, so they are cut into smaller tiles, and come
 * first. */
#include "plan/fused.h"

/* The columns from `start` to `done` - 1 belong to `inside` strips of the fast code, the last of
 * which begins earlier if it would end too late. `near` strips of the edge code lie before them,
 * `far` strips after them; `skipped` columns cannot run the fast code, which stores all cells of a
 * lane or none. */
static void emit_ranges(const ambit__fused_job *j, const ambit__fused_job *edge)
{
  const int useful = ambit__fused_useful(j), narrow = ambit__fused_useful(edge), x = j->x;
  ambit__writer *w = j->gpu.w;

  ambit__fused_declare_fast(j, x, j->before, j->after);
  ambit__fused_declare_fast(j, j->z, j->below, j->above);
  ambit__line(w, "const int origin = low%d & -%d;", x, j->lane);
  ambit__line(w, "const int skipped = ambit_most(fast%d - origin, low%d > origin ? %d : 0);", x, x,
              j->lane);
  ambit__line(w, "const int near = (ambit_between(0, skipped, high%d - origin) + %d) / %d;", x,
              narrow - 1, narrow);
  ambit__line(w, "const int start = origin + near * %d;", narrow);
  ambit__line(w, "const int room = (ambit_least(slow%d, high%d) - start) & -%d;", x, x, j->lane);
  ambit__line(w, "const int inside = room < %d ? 0 : (room + %d) / %d;", useful, useful - 1,
              useful);
  ambit__line(w, "const int done = inside ? start + room : start;");
  ambit__line(w, "const int far = (ambit_most(high%d - done, 0) + %d) / %d;", x, narrow - 1,
              narrow);
}

/* The blocks of a launch, numbered: first those of tiles that take long, which are the strips at
 * faces, each with `pieces` blocks that share its rows; then `bands` blocks each with the rows at
 * the low and at the high face; then all others. */
static void emit_blocks(const ambit__fused_job *j, const ambit__fused_job *edge)
{
  const ambit__dialect *d = j->gpu.dialect;
  const int warps = j->gpu.plan->threads[1], narrow = ambit__fused_useful(edge), z = j->z;
  ambit__writer *w = j->gpu.w;

  ambit__line(w, "const int blocks = (inside + %d) / %d, chunks = (int)%s - %d;", warps - 1, warps,
              d->blocks[1], ambit__fused_bands(j, edge));
  ambit__line(w, "const int pieces = (chunks + 2) * %d;", AMBIT__FUSED_EDGE);
  ambit__line(w, "const int bands = inside ? (room + %d) / %d : 0;", narrow * warps - 1,
              narrow * warps);
  ambit__line(w, "const int fast = ambit_between(low%d, fast%d, high%d);", z, z, z);
  ambit__line(w, "const int slow = ambit_between(fast, slow%d, high%d);", z, z);
  ambit__line(w, "int number = (int)(%s + %s * %s) - (near + far) * pieces;", d->block[0],
              d->block[1], d->blocks[0]);
}

/* The tile of a warp: a strip, and rows begin .. end - 1. Compilers must know that its lanes take
 * the same branches: otherwise they generate every exchange of values twice. */
static void emit_tile(const ambit__fused_job *j, const ambit__fused_job *edge)
{
  const ambit__dialect *d = j->gpu.dialect;
  const int warps = j->gpu.plan->threads[1], narrow = ambit__fused_useful(edge), z = j->z;
  const int rows = (edge->lead + edge->drain) / 2; /* fewer are not worthwhile */
  ambit__writer *w = j->gpu.w;

  ambit__line(w, "int strip, from_row = low%d, rows = high%d - low%d, part, parts;", z, z, z);
  ambit__line(w, "const bool side = number < 0, band = !side && number < 2 * bands;");
  ambit__line(w, "const int warp = ambit_of_warp(%s);", d->thread[1]);
  ambit__open(w, "if (side)");
  ambit__line(w, "number += (near + far) * pieces;");
  ambit__line(w, "strip = number %% (near + far);");
  ambit__line(w, "part = number / (near + far) * %d + warp;", warps);
  ambit__line(w, "parts = ambit_least(pieces * %d, rows / %d + 1);", warps, rows < 4 ? 4 : rows);
  ambit__line(w, "if (part >= parts) return;");
  ambit__close(w);
  ambit__open(w, "else if (band)");
  ambit__line(w, "strip = number %% bands * %d + warp;", warps);
  ambit__line(w, "if (strip * %d >= room) return;", narrow);
  ambit__line(w, "from_row = number < bands ? low%d : slow;", z);
  ambit__line(w, "rows = (number < bands ? fast : high%d) - from_row;", z);
  ambit__line(w, "part = 0;");
  ambit__line(w, "parts = 1;");
  ambit__close(w);
  ambit__open(w, "else");
  ambit__line(w, "if (blocks == 0) return;");
  ambit__line(w, "number -= 2 * bands;");
  ambit__line(w, "strip = number %% blocks * %d + warp;", warps);
  ambit__line(w, "part = number / blocks;");
  ambit__line(w, "parts = chunks;");
  ambit__line(w, "if (strip >= inside || part >= chunks) return;");
  ambit__line(w, "from_row = fast;");
  ambit__line(w, "rows = slow - fast;");
  ambit__close(w);
  ambit__line(w, "const int begin = from_row + (int)((ambit_i64)rows * part / parts);");
  ambit__line(w, "const int end = from_row + (int)((ambit_i64)rows * (part + 1) / parts);");
  ambit__line(w, "if (begin >= end) return;");
}

void ambit__fused_emit_strips(const ambit__fused_job *j, const ambit__fused_job *edge)
{
  emit_ranges(j, edge);
  emit_blocks(j, edge);
  emit_tile(j, edge);
}

/* The columns of a strip of the fast code, the last of which begins earlier if it would end too
 * late; of a strip at a face, and of one in a band of rows at a face. */
void ambit__fused_emit_inside(const ambit__fused_job *j)
{
  const int useful = ambit__fused_useful(j);

  ambit__line(j->gpu.w,
              "const int from = start + ambit_least(strip * %d, room - %d), till = from + %d;",
              useful, useful, useful);
}

void ambit__fused_emit_beside(const ambit__fused_job *edge)
{
  const int narrow = ambit__fused_useful(edge), x = edge->x;
  ambit__writer *w = edge->gpu.w;

  ambit__line(w,
              "const int first = (side ? strip < near ? origin : done - near * %d : start) + strip "
              "* %d;",
              narrow, narrow);
  ambit__line(w, "const int last = side ? strip < near ? start : high%d : done;", x);
  ambit__line(w, "const int from = ambit_most(first, low%d);", x);
  ambit__line(w, "const int till = ambit_least(ambit_least(last, high%d), first + %d);", x, narrow);
  ambit__line(w, "if (from >= till) return;");
}

static void emit_edge_columns(const ambit__fused_job *j)
{
  ambit__writer *w = j->gpu.w;

  ambit__fused_declare_inside(j, "column", j->lane, "x + i", j->x);
  ambit__line(w, "const bool within = left >= least%d && left + %d <= limit%d;", j->x,
              j->lanes * j->lane, j->x);
  ambit__line(w, "const bool whole = within && left %% %d == 0;", j->lane);
  for (int i = 0; i < j->pipe->nstages; i++)
    ambit__fused_declare_outside(j, i);
}

void ambit__fused_emit_columns(const ambit__fused_job *j)
{
  ambit__writer *w = j->gpu.w;

  ambit__line(w, "const int left = from - %d, x = left + %s * %d;", j->before,
              j->gpu.dialect->thread[0], j->lane);
  if (j->edge)
    emit_edge_columns(j);
  else
    ambit__line(w, "const bool mine = x >= from && x < till;");
  ambit__fused_declare_placed(j);
}
