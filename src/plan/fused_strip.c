/* SPDX-License-Identifier: BSD-3-Clause */
/* fused_strip.c - two dimensions: the tile of a warp, and the cells of a lane.
 *
 * A launch has two more blocks along y than there are chunks. The strips and rows at faces need
 * slower code, so they are cut into smaller tiles, and come first. */
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

/* Rows begin .. end - 1 of the strip; `edge`: with the slower code. Blocks that take long come
 * first: the strips at faces, each with several blocks that share its rows, then the rows at the
 * low and at the high face, then all others. */
static void emit_tile(const ambit__fused_job *j)
{
  const ambit__dialect *d = j->gpu.dialect;
  const int warps = j->gpu.plan->threads[1], z = j->z;
  ambit__writer *w = j->gpu.w;

  ambit__line(w, "const int blocks = (inside + %d) / %d, chunks = (int)%s - 2;", warps - 1, warps,
              d->blocks[1]);
  ambit__line(w, "const int pieces = (chunks + 2) * %d;", AMBIT__FUSED_EDGE);
  ambit__line(w, "const int fast = ambit_between(low%d, fast%d, high%d);", z, z, z);
  ambit__line(w, "const int slow = ambit_between(fast, slow%d, high%d);", z, z);
  ambit__line(w, "int number = (int)(%s + %s * %s) - (near + far) * pieces;", d->block[0],
              d->block[1], d->blocks[0]);
  ambit__line(w, "int strip, from_row = low%d, rows = high%d - low%d, part, parts;", z, z, z);
  ambit__line(w, "const bool side = number < 0;");
  ambit__open(w, "if (side)");
  ambit__line(w, "number += (near + far) * pieces;");
  ambit__line(w, "strip = number %% (near + far);");
  ambit__line(w, "part = number / (near + far) * %d + %s;", warps, d->thread[1]);
  ambit__line(w, "parts = pieces * %d;", warps);
  ambit__close(w);
  ambit__open(w, "else");
  ambit__line(w, "if (blocks == 0) return;");
  ambit__line(w, "const int chunk = number / blocks - 2;");
  ambit__line(w, "strip = number %% blocks * %d + %s;", warps, d->thread[1]);
  ambit__line(w, "if (strip >= inside || chunk >= chunks) return;");
  ambit__line(w, "from_row = chunk >= 0 ? fast : chunk == -1 ? low%d : slow;", z);
  ambit__line(w, "rows = (chunk >= 0 ? slow : chunk == -1 ? fast : high%d) - from_row;", z);
  ambit__line(w, "part = chunk < 0 ? 0 : chunk;");
  ambit__line(w, "parts = chunk < 0 ? 1 : chunks;");
  ambit__close(w);
  ambit__line(w, "const int begin = from_row + (int)((long long)rows * part / parts);");
  ambit__line(w, "const int end = from_row + (int)((long long)rows * (part + 1) / parts);");
  ambit__line(w, "const bool edge = side || begin < fast || end > slow;");
  ambit__line(w, "const int from_inside = start + ambit_least(strip * %d, room - %d);",
              ambit__fused_useful(j), ambit__fused_useful(j));
  ambit__line(w, "if (begin >= end) return;");
}

void ambit__fused_emit_strips(const ambit__fused_job *j, const ambit__fused_job *edge)
{
  emit_ranges(j, edge);
  emit_tile(j);
}

/* The columns from .. till - 1 of a strip that begins at `left`. */
void ambit__fused_emit_columns(const ambit__fused_job *j)
{
  ambit__writer *w = j->gpu.w;

  ambit__line(w, "const int x = left + %s * %d;", j->gpu.dialect->thread[0], j->lane);
  if (!j->edge) {
    ambit__line(w, "const bool mine = x >= from && x < till;");
    return;
  }
  ambit__line(w, "int column[%d];", j->lane);
  ambit__print(j->gpu.t, "#pragma unroll\n");
  ambit__line(w, "for (int j = 0; j < %d; j++)", j->lane);
  ambit__line_begin(w);
  ambit__print(j->gpu.t, "  column[j] = ");
  ambit__fused_print_inside(j, j->x, "x + j");
  ambit__line_end(w, ";");
}
