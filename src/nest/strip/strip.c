/* SPDX-License-Identifier: BSD-3-Clause */
/* strip.c - the cells of a warp, its loads, and its loop.
 *
 * A warp owns a strip of the grid, 32 V columns wide. It either computes a tile of the strip, a few
 * planes that are loaded all at once, or advances along z through a chunk. Tiles are in memory
 * order, and so are the blocks that run at the same time: their loads and stores are close
 * together, which device memory is fast at. The warps of a block are stacked along y, or z in 2-D,
 * so that the rows beside those of a warp are mostly in the cache of its multiprocessor.
 */
#include "nest/strip/strip.h"

#include "base/integers.h"

#include <string.h>

const ambit__strip_value *ambit__strip_find(const ambit__strip *w, int param, int component,
                                            const int *offset)
{
  for (const ambit__strip_value *s = w->values; s < w->values + w->nvalues; s++)
    if (s->param == param && s->component == component &&
        (w->z <= 0 || !memcmp(s->outer, offset, (size_t)w->z * sizeof *offset)))
      return s;
  return NULL;
}

/* ---- the cells of a warp ---- */

/* Groups of lanes that a warp has in rows one below the other. */
static int folds_of(const ambit__strip *w)
{
  return AMBIT__WARP / w->lanes;
}

/* A loop over blocks of the launch: for (int name = block; name < below; name += blocks). */
static void open_blocks(const ambit__strip *w, const char *name, const char *below, int along)
{
  ambit__nest_loop(w->n, .type = "int", .name = name, .below = below, .how = LOOP_LAUNCH,
                   .along = along, .threads = 1);
}

/* The tile of this block. If the number of blocks is limited because the rule reduces, a block
 * loops over tiles. */
static void open_tile(const ambit__strip *w)
{
  const int wide = w->lanes * w->lane, high = w->warps * folds_of(w) * w->rows;
  const bool reduces = ambit__group_reduces(w->n->group);
  const char *tiles =
      w->z < 0 ? ambit__nest_text(w->n, "(strips + %d) / %d", w->warps - 1, w->warps) : "strips";

  if (w->y >= 0 || reduces)
    ambit__nest_do(w->n, "const int strips = (high%d - (low%d & -%d) + %d) / %d", w->x, w->x,
                   w->align, wide - 1, wide);
  if (!reduces) {
    ambit__nest_do(w->n, "const int tile = (int)%s", w->n->dialect->block[0]);
    return;
  }
  if (w->y >= 0)
    tiles =
        ambit__nest_text(w->n, "strips * ((high%d - low%d + %d) / %d)", w->y, w->y, high - 1, high);
  ambit__nest_do(w->n, "const int tiles = %s", tiles);
  open_blocks(w, "tile", "tiles", 0);
}

/* The first row or plane of the warp along an axis, of `n`, and the range that it owns and stores.
 * If too few remain for the last warp, it also computes some of the previous one, and skips them
 * when it stores. If the whole box has too few, cells beside the box are computed. They exist, as
 * the grid is never that small (plan/strip.c). */
static const char *begin_of(const ambit__strip *w, const char *own, int axis, int n, int below)
{
  return ambit__nest_text(w->n, "ambit_least(%s, ambit_most(high%d - %d, ambit_least(low%d, %d)))",
                          own, axis, n, axis, below);
}

static void let_begin(const ambit__strip *w, int axis, const char *name, int n, int below)
{
  ambit__nest_do(w->n, "const int %s = %s", name,
                 begin_of(w, ambit__nest_text(w->n, "own%d", axis), axis, n, below));
}

static void let_own(const ambit__strip *w, int axis, const char *name, int n, const char *from,
                    const char *till)
{
  ambit__nest_do(w->n, "const int %s = ambit_least(own%d - %s, %d)", from, axis, name, n);
  ambit__nest_do(w->n, "const int %s = ambit_least(high%d - %s, %d)", till, axis, name, n);
}

/* The rows of the warp; `top`: the first row of the block's first warp. In 3-D, panels of rows are
 * computed one after the other: block z counts them. */
static void let_rows(const ambit__strip *w)
{
  const ambit__dialect *d = w->n->dialect;
  int below = 0;

  for (int i = 0; i < w->nvalues; i++)
    if (w->values[i].below > below) below = w->values[i].below;
  if (w->z == 0 && !ambit__group_reduces(w->n->group))
    ambit__nest_do(w->n, "const int stack = tile / strips + (int)%s * ((int)%s / strips)",
                   d->block[2], d->blocks[0]);
  else
    ambit__nest_do(w->n, "const int stack = tile / strips");
  if (folds_of(w) > 1)
    ambit__nest_do(w->n, "const int own%d = low%d + ((stack * %d + %s) * %d + %s / %d) * %d", w->y,
                   w->y, w->warps, d->thread[1], folds_of(w), d->thread[0], w->lanes, w->rows);
  else
    ambit__nest_do(w->n, "const int own%d = low%d + (stack * %d + %s) * %d", w->y, w->y, w->warps,
                   d->thread[1], w->rows);
  let_begin(w, w->y, "y", w->rows, below);
  if (w->ring)
    ambit__nest_do(w->n, "const int top = %s",
                   begin_of(w,
                            ambit__nest_text(w->n, "own%d - %s * %d", w->y, d->thread[1], w->rows),
                            w->y, w->rows, below));
  ambit__nest_note(w->n, "the warp stores its rows skip to stop - 1");
  let_own(w, w->y, "y", w->rows, "skip", "stop");
}

/* Whether cells beside the strip are loaded into registers. */
static bool has_ends(const ambit__strip *w)
{
  for (int i = 0; i < w->nvalues; i++)
    if (w->values[i].end) return true;
  return false;
}

/* The cells of a lane that are in the box. */
static void let_mine(const ambit__strip *w)
{
  ambit__nest_note(w->n, "a bit for each of the lane's cells that is in the box");
  ambit__nest_do(w->n, "const int mine = ambit_bits(low%d - x, high%d - x, %d)", w->x, w->x,
                 w->lane);
}

static void let_columns(const ambit__strip *w)
{
  const int wide = w->lanes * w->lane;
  const char *const *thread = w->n->dialect->thread;

  if (w->y >= 0) {
    ambit__nest_do(w->n, "const int strip = tile %% strips");
    let_rows(w);
  } else if (w->z < 0) {
    ambit__nest_do(w->n, "const int strip = tile * %d + %s", w->warps, thread[1]);
  } else {
    ambit__nest_do(w->n, "const int strip = tile");
  }
  ambit__nest_note(w->n, "the first cells of this warp, and of this lane");
  ambit__nest_do(w->n, "const int left = (low%d & -%d) + strip * %d", w->x, w->align, wide);
  if (has_ends(w))
    ambit__nest_do(w->n, "const int beside = %s < 16 ? left - %d : left + %d", thread[0], w->lane,
                   wide);
  if (folds_of(w) > 1)
    ambit__nest_do(w->n, "const int x = left + %s %% %d * %d", thread[0], w->lanes, w->lane);
  else
    ambit__nest_do(w->n, "const int x = left + %s * %d", thread[0], w->lane);
  let_mine(w);
}

/* Chunk c of the planes. If the chunks cannot all be equal, the first ones have one plane more. All
 * warps of a block process it, also those that store nothing: if the compiler sees that, it
 * generates no second version of the exchanges for diverged lanes. */
static void let_chunk(const ambit__strip *w)
{
  ambit__nest_do(w->n, "const int planes = high%d - low%d, chunks = (int)%s, chunk = (int)%s", w->z,
                 w->z, w->n->dialect->blocks[1], w->n->dialect->block[1]);
  ambit__nest_do(w->n, "const int longer = planes %% chunks");
  ambit__nest_do(w->n,
                 "const int begin = low%d + chunk * (planes / chunks) + ambit_least(chunk, longer)",
                 w->z);
  ambit__nest_do(w->n, "const int n = planes / chunks + (chunk < longer)");
}

/* The layer of tiles of this block. A block that reduces loops over layers; others avoid the loop,
 * to save its registers. */
static void open_layer(const ambit__strip *w, int high)
{
  const ambit__dialect *d = w->n->dialect;

  if (ambit__group_reduces(w->n->group)) {
    ambit__nest_do(w->n, "const int layers = (high%d - low%d + %d) / %d", w->z, w->z, high - 1,
                   high);
    open_blocks(w, "layer", "layers", 1);
  } else if (w->y < 0) {
    ambit__nest_do(w->n, "const int layer = (int)(%s + %s * %s)", d->block[1], d->block[2],
                   d->blocks[1]);
  } else {
    ambit__nest_do(w->n, "const int layer = (int)%s", d->block[1]);
  }
}

/* The planes of a tile. */
static void open_planes(const ambit__strip *w)
{
  const int stacked = w->y < 0 ? w->warps : 1;
  int below = 0;

  for (int i = 0; i < w->nloads; i++)
    if (-w->loads[i].low > below) below = -w->loads[i].low;
  open_layer(w, stacked * w->planes);
  if (stacked > 1)
    ambit__nest_do(w->n, "const int own%d = low%d + (layer * %d + %s) * %d", w->z, w->z, stacked,
                   w->n->dialect->thread[1], w->planes);
  else
    ambit__nest_do(w->n, "const int own%d = low%d + layer * %d", w->z, w->z, w->planes);
  let_begin(w, w->z, "begin", w->planes, below);
  ambit__nest_note(w->n, "the warp stores its planes from to till - 1");
  let_own(w, w->z, "begin", w->planes, "from", "till");
}

/* Axes before z, counted together, as y0, y1, ...: block z starts at its own number and loops if
 * there are too many. 32 bits suffice for the count; 64-bit division is a call that takes
 * registers. */
static void open_outer(const ambit__strip *w)
{
  const char *outer = "(hi0 - lo0)";

  if (w->z <= 0) return;
  for (int d = 1; d < w->z; d++)
    outer = ambit__nest_text(w->n, "%s * (hi%d - lo%d)", outer, d, d);
  ambit__nest_do(w->n, "const int outer = (int)(%s)", outer);
  open_blocks(w, "o", "outer", 2);
  ambit__nest_do(w->n, "int rest = o");
  for (int d = w->z - 1; d >= 0; d--) {
    ambit__nest_do(w->n, "const %s y%d = lo%d + rest %% (int)(hi%d - lo%d)", w->n->integer, d, d, d,
                   d);
    if (d) ambit__nest_do(w->n, "rest /= (int)(hi%d - lo%d)", d, d);
    if (d <= w->n->rule->max_axis)
      ambit__nest_do(w->n, "const %s i%d = offset%d + y%d", w->n->integer, d, d, d);
  }
}

/* ---- the loop ---- */

/* One plane. */
static void add_plane(const ambit__strip *w)
{
  if (!w->planes) ambit__strip_load_next(w);
  if (w->taps)
    ambit__strip_sum(w);
  else
    ambit__strip_plane(w);
  ambit__strip_advance(w);
}

static void add_period(const ambit__strip *w, int planes)
{
  ambit__nest_unroll(w->n, "p", 0, planes);
  add_plane(w);
  ambit__nest_close(w->n);
}

/* All planes of a tile, or a loop whose body is one plane, or one period: the planes until the same
 * registers are used again. A loop with a ring counts down, which saves a register. */
static void add_planes(const ambit__strip *w)
{
  const char *start = ambit__nest_text(w->n, "%d", ambit__strip_start(w));
  ambit__node loop = {.kind = NODE_LOOP, .type = "int", .name = "z", .from = start, .below = "n"};

  if (w->planes) {
    add_period(w, w->planes);
    return;
  }
  loop.step = w->moves ? NULL : ambit__nest_text(w->n, "%d", w->period);
  loop.rolled = w->moves;
  if (w->ring) {
    loop.name = "rest";
    loop.from = "n";
    loop.below = "0";
    loop.by = '-';
  }
  ambit__nest_open(w->n, loop);
  if (w->ring && w->z <= w->n->rule->max_axis) ambit__nest_do(w->n, "const int z = n - rest");
  if (w->moves) {
    ambit__nest_do(w->n, "const int p = 0");
    add_plane(w);
    ambit__strip_shift(w);
    if (w->taps) ambit__strip_shift_sums(w);
  } else {
    add_period(w, w->period);
  }
  ambit__nest_close(w->n);
}

/* " & (offset1 + y >= 1) & (offset1 + y < extent1 - 2)": `n` cells from a place on are so far from
 * the faces of an axis. */
static const char *far_along(const ambit__strip *w, int axis, const char *at, int n, int low,
                             int high)
{
  const char *text = "";

  if (low) text = ambit__nest_text(w->n, " & (offset%d + %s >= %d)", axis, at, low);
  if (high)
    text = ambit__nest_text(w->n, "%s & (offset%d + %s < extent%d - %d)", text, axis, at, axis,
                            high + n - 1);
  return text;
}

/* Whether all cells of a warp's tile are so far from the faces that tests of place have known
 * values; NULL: a rule makes none. In three dimensions and more rows have few strips, of which two
 * are at faces: there tests along rows are always made. */
static const char *far_inside(const ambit__strip *w)
{
  int low[AMBIT_MAX_DIMS] = {0}, high[AMBIT_MAX_DIMS] = {0};
  const char *text = "";

  if (!w->planes || w->cells > 1 || folds_of(w) > 1 ||
      !ambit__rule_tests(w->n->rule, true, low, high))
    return NULL;
  if (w->y >= 0) w->n->along = w->x + 1;
  for (int d = 0; d <= w->x; d++) {
    const bool stays = d == w->x && w->y >= 0;
    const char *at = d == w->x   ? "left"
                     : d == w->y ? "y"
                     : d == w->z ? "begin"
                                 : ambit__nest_text(w->n, "y%d", d);
    const int n = d == w->x ? w->lanes * w->lane : d == w->y ? w->rows : d == w->z ? w->planes : 1;

    if (!stays)
      text = ambit__nest_text(w->n, "%s%s", text, far_along(w, d, at, n, low[d], high[d]));
  }
  return *text ? text + strlen(" & ") : NULL;
}

/* The planes; in two branches where a rule tests the place of its cell: conduction with values on
 * all faces, 448^3 floats on an H200, takes 361 us without that and 326 with it. */
static void add_branches(ambit__strip *w)
{
  const char *inside = far_inside(w);

  w->inside = -1;
  if (inside) ambit__nest_if(w->n, "%s", inside);
  for (int i = 1; inside && i >= 0; i--) {
    w->inside = i;
    ambit__nest_do(w->n, "enum { inside = %d }", i);
    add_planes(w);
    if (i) ambit__nest_otherwise(w->n);
  }
  if (inside)
    ambit__nest_close(w->n);
  else
    add_planes(w);
}

static bool read(ambit__nest *n, const ambit__node *rule, ambit__text *t, const ambit__expr *e)
{
  (void)rule;
  ambit__print(t, "%s", ambit__strip_cell(n->builder, e->index, e->component, e->offset));
  return true;
}

/* Positions along the last three axes have 32 bits, which halves the work before the first load. */
void ambit__nest_strip(ambit__strip *w)
{
  ambit__nest *n = w->n;

  n->builder = w;
  n->pairs = w->pairs;
  n->hooks.read = read;
  n->registers = true;
  n->hooks.instead = w->cells > 1 ? ambit__strip_instead : NULL;
  n->hooks.word = ambit__strip_word;
  for (int d = ambit__max(w->z, 0); d <= w->x; d++)
    ambit__nest_do(n, "const int low%d = (int)lo%d, high%d = (int)hi%d", d, d, d, d);
  open_outer(w);
  open_tile(w);
  let_columns(w);
  if (w->planes && w->z >= 0)
    open_planes(w);
  else if (w->z >= 0)
    let_chunk(w);
  ambit__strip_let_fields(w);
  if (w->taps) ambit__strip_let_sums(w);
  ambit__strip_load_first(w);
  add_branches(w);
  while (n->level)
    ambit__nest_close(n);
}
