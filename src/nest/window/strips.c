/* SPDX-License-Identifier: BSD-3-Clause */
/* strips.c - two dimensions: the tile of a warp, and the cells of a lane.
 *
 * The strips and rows at faces need slower code, so they are cut into smaller tiles, and come
 * first. */
#include "nest/window/window.h"

/* The columns from `start` to `done` - 1 belong to `inside` strips of the fast code, the last of
 * which begins earlier if it would end too late. `near` strips of the edge code lie before them,
 * `far` strips after them; `skipped` columns cannot run the fast code, which stores all cells of a
 * lane or none. */
static void let_ranges(const ambit__window *j, const ambit__window *edge)
{
  const int useful = ambit__window_useful(j), narrow = ambit__window_useful(edge), x = j->x;
  ambit__nest *n = j->n;

  ambit__window_let_fast(j, x, j->before, j->after);
  ambit__window_let_fast(j, j->z, j->below, j->above);
  ambit__nest_do(n, "const int origin = low%d & -%d", x, j->lane);
  ambit__nest_do(n, "const int skipped = ambit_most(fast%d - origin, low%d > origin ? %d : 0)", x,
                 x, j->lane);
  ambit__nest_do(n, "const int near = (ambit_between(0, skipped, high%d - origin) + %d) / %d", x,
                 narrow - 1, narrow);
  ambit__nest_do(n, "const int start = origin + near * %d", narrow);
  ambit__nest_do(n, "const int room = (ambit_least(slow%d, high%d) - start) & -%d", x, x, j->lane);
  ambit__nest_do(n, "const int inside = room < %d ? 0 : (room + %d) / %d", useful, useful - 1,
                 useful);
  ambit__nest_do(n, "const int done = inside ? start + room : start");
  ambit__nest_do(n, "const int far = (ambit_most(high%d - done, 0) + %d) / %d", x, narrow - 1,
                 narrow);
}

/* The blocks of a launch, numbered: first those of tiles that take long, which are the strips at
 * faces, each with `pieces` blocks that share its rows; then `bands` blocks each with the rows at
 * the low and at the high face; then all others. */
static void let_blocks(const ambit__window *j, const ambit__window *edge)
{
  const ambit__dialect *d = j->n->dialect;
  const int warps = j->warps, narrow = ambit__window_useful(edge), z = j->z;
  ambit__nest *n = j->n;

  ambit__nest_do(n, "const int blocks = (inside + %d) / %d, chunks = (int)%s - %d", warps - 1,
                 warps, d->blocks[1], ambit__window_bands(j, edge));
  ambit__nest_do(n, "const int pieces = (chunks + 2) * %d", AMBIT__WINDOW_EDGE);
  ambit__nest_do(n, "const int bands = inside ? (room + %d) / %d : 0", narrow * warps - 1,
                 narrow * warps);
  ambit__nest_do(n, "const int fast = ambit_between(low%d, fast%d, high%d)", z, z, z);
  ambit__nest_do(n, "const int slow = ambit_between(fast, slow%d, high%d)", z, z);
  ambit__nest_do(n, "int number = (int)(%s + %s * %s) - (near + far) * pieces", d->block[0],
                 d->block[1], d->blocks[0]);
}

/* The strip and the share of its rows: at a face along x, at one along z, and elsewhere. */
static void find_tile(const ambit__window *j, const ambit__window *edge)
{
  const int warps = j->warps, narrow = ambit__window_useful(edge), z = j->z;
  const int rows = (edge->lead + edge->drain) / 2; /* fewer are not worthwhile */
  ambit__nest *n = j->n;

  ambit__nest_if(n, "side");
  ambit__nest_do(n, "number += (near + far) * pieces");
  ambit__nest_do(n, "strip = number %% (near + far)");
  ambit__nest_do(n, "part = number / (near + far) * %d + warp", warps);
  ambit__nest_do(n, "parts = ambit_least(pieces * %d, rows / %d + 1)", warps, rows < 4 ? 4 : rows);
  ambit__nest_do_if(n, "part >= parts", "return");
  ambit__nest_otherwise(n);
  ambit__nest_if(n, "band");
  ambit__nest_do(n, "strip = number %% bands * %d + warp", warps);
  ambit__nest_do_if(n, ambit__nest_text(n, "strip * %d >= room", narrow), "return");
  ambit__nest_do(n, "from_row = number < bands ? low%d : slow", z);
  ambit__nest_do(n, "rows = (number < bands ? fast : high%d) - from_row", z);
  ambit__nest_do(n, "part = 0");
  ambit__nest_do(n, "parts = 1");
  ambit__nest_otherwise(n);
  ambit__nest_do_if(n, "blocks == 0", "return");
  ambit__nest_do(n, "number -= 2 * bands");
  ambit__nest_do(n, "strip = number %% blocks * %d + warp", warps);
  ambit__nest_do(n, "part = number / blocks");
  ambit__nest_do(n, "parts = chunks");
  ambit__nest_do_if(n, "strip >= inside || part >= chunks", "return");
  ambit__nest_do(n, "from_row = fast");
  ambit__nest_do(n, "rows = slow - fast");
  ambit__nest_close(n);
  ambit__nest_close(n);
}

/* The tile of a warp: a strip, and rows begin .. end - 1. Compilers must know that its lanes take
 * the same branches: otherwise they generate every exchange of values twice. */
void ambit__window_add_strips(const ambit__window *j, const ambit__window *edge)
{
  const int z = j->z;
  ambit__nest *n = j->n;

  let_ranges(j, edge);
  let_blocks(j, edge);
  ambit__nest_do(n, "int strip, from_row = low%d, rows = high%d - low%d, part, parts", z, z, z);
  ambit__nest_do(n, "const bool side = number < 0, band = !side && number < 2 * bands");
  ambit__nest_do(n, "const int warp = ambit_of_warp(%s)", n->dialect->thread[1]);
  find_tile(j, edge);
  ambit__nest_do(n, "const int begin = from_row + (int)((ambit_i64)rows * part / parts)");
  ambit__nest_do(n, "const int end = from_row + (int)((ambit_i64)rows * (part + 1) / parts)");
  ambit__nest_do_if(n, "begin >= end", "return");
}

/* The columns of a strip of the fast code, the last of which begins earlier if it would end too
 * late; of a strip at a face, and of one in a band of rows at a face. */
void ambit__window_let_inside(const ambit__window *j)
{
  const int useful = ambit__window_useful(j);

  ambit__nest_do(j->n,
                 "const int from = start + ambit_least(strip * %d, room - %d), till = from + %d",
                 useful, useful, useful);
}

void ambit__window_let_beside(const ambit__window *edge)
{
  const int narrow = ambit__window_useful(edge), x = edge->x;
  ambit__nest *n = edge->n;

  ambit__nest_do(
      n, "const int first = (side ? strip < near ? origin : done - near * %d : start) + strip * %d",
      narrow, narrow);
  ambit__nest_do(n, "const int last = side ? strip < near ? start : high%d : done", x);
  ambit__nest_do(n, "const int from = ambit_most(first, low%d)", x);
  ambit__nest_do(n, "const int till = ambit_least(ambit_least(last, high%d), first + %d)", x,
                 narrow);
  ambit__nest_do_if(n, "from >= till", "return");
}

void ambit__window_let_columns(const ambit__window *j)
{
  ambit__nest_do(j->n, "const int left = from - %d, x = left + %s * %d", j->before,
                 j->n->dialect->thread[0], j->lane);
  if (j->edge)
    ambit__window_let_edge(j, ambit__nest_text(j->n, "left %% %d == 0", j->lane));
  else
    ambit__nest_do(j->n, "const bool mine = x >= from && x < till");
  ambit__window_let_placed(j);
}
