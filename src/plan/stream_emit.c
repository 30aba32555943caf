/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_emit.c - the kernel of the strategy `stream`: the cells of a warp, its loads, and its
 * loop.
 *
 * A warp owns a strip of the grid, 32 V columns wide. It either computes a tile of the strip, a few
 * planes that are loaded all at once, or advances along z through a chunk. Tiles are in memory
 * order, and so are the blocks that run at the same time: their loads and stores are close
 * together, which device memory is fast at. The warps of a block are stacked along y, or z in 2-D,
 * so that the rows beside those of a warp are mostly in the cache of its multiprocessor.
 */
#include "plan/stream.h"

extern const char ambit__prelude_bytes[]; /* prelude/bytes.h, embedded by the build */

enum { MOST_NEAR = 4096 }; /* bytes of tables that a block copies to shared memory */

/* ---- the cells of a warp ---- */

/* Positions along the last three axes have 32 bits, which halves the work before the first load. */
static void emit_limits(const ambit__stream_job *j)
{
  for (int d = j->z; d <= j->x; d++)
    ambit__line(j->gpu.w, "const int low%d = (int)lo%d, high%d = (int)hi%d;", d, d, d, d);
}

/* Whether the strips of a block's warps are side by side; if not, the warps are stacked. */
static bool is_side_by_side(const ambit__stream_job *j)
{
  return j->y < 0 && !j->planes;
}

/* Whether blocks are numbered by strip, stack and layer, which avoids divisions before the first
 * load: tiles in 3-D. */
static bool is_numbered(const ambit__stream_job *j)
{
  return j->planes && j->y >= 0 && j->z == 0 && !ambit__gpucode_reduces(j->gpu.group);
}

/* All layers of one panel are numbered before those of the next panel. */
static void emit_numbers(const ambit__stream_job *j)
{
  const ambit__dialect *d = j->gpu.dialect;
  ambit__writer *w = j->gpu.w;

  ambit__line(w, "const int layers = (high%d - low%d + %d) / %d;", j->z, j->z, j->planes - 1,
              j->planes);
  ambit__line(w, "int strip = (int)%s, stack = (int)%s, layer = (int)%s;", d->block[0], d->block[1],
              d->block[2]);
  ambit__open(w, "if (layer >= layers)");
  ambit__line(w, "stack += layer / layers * (int)%s;", d->blocks[1]);
  ambit__line(w, "layer %%= layers;");
  ambit__close(w);
}

/* The tile of this block. If the number of blocks is limited because the rule reduces, a block
 * loops over tiles. */
static void open_tile(const ambit__stream_job *j)
{
  const int warps = j->gpu.plan->threads[1], wide = AMBIT__STREAM_WARP * j->lane;
  ambit__writer *w = j->gpu.w;

  if (is_numbered(j)) {
    emit_numbers(j);
    return;
  }
  if (j->y >= 0 || ambit__gpucode_reduces(j->gpu.group))
    ambit__line(w, "const int strips = (high%d - (low%d & -%d) + %d) / %d;", j->x, j->x,
                ambit__stream_align(j->gpu.plan), wide - 1, wide);
  if (ambit__gpucode_reduces(j->gpu.group)) {
    if (j->y >= 0)
      ambit__line(w, "const int tiles = strips * ((high%d - low%d + %d) / %d);", j->y, j->y,
                  warps * j->rows - 1, warps * j->rows);
    else if (is_side_by_side(j))
      ambit__line(w, "const int tiles = (strips + %d) / %d;", warps - 1, warps);
    else
      ambit__line(w, "const int tiles = strips;");
    ambit__open(w, "for (int tile = (int)%s; tile < tiles; tile += (int)%s)",
                j->gpu.dialect->block[0], j->gpu.dialect->blocks[0]);
  } else {
    ambit__line(w, "const int tile = (int)%s;", j->gpu.dialect->block[0]);
  }
}

/* The first row or plane of the warp along an axis, of `n`. If too few remain for the last warp, it
 * also computes some of the previous one, and skips them when it stores. If the whole box has too
 * few, cells beside the box are computed. They exist, as the grid is never that small (see
 * candidates). */
static void emit_begin(const ambit__stream_job *j, int axis, const char *name, int n, int below)
{
  ambit__line(j->gpu.w,
              "const int %s = ambit_least(own%d, ambit_most(high%d - %d, ambit_least(low%d, %d)));",
              name, axis, axis, n, axis, below);
}

/* The first row of the block's first warp, in the same way. */
static void emit_top(const ambit__stream_job *j, int below)
{
  ambit__line(j->gpu.w,
              "const int top = ambit_least(own%d - %s * %d, ambit_most(high%d - %d, "
              "ambit_least(low%d, %d)));",
              j->y, j->gpu.dialect->thread[1], j->rows, j->y, j->rows, j->y, below);
}

/* "const int skip = ...; const int stop = ...;": the range that the warp owns and stores. */
static void emit_own(const ambit__stream_job *j, int axis, const char *name, int n,
                     const char *from, const char *till)
{
  ambit__line(j->gpu.w, "const int %s = ambit_least(own%d - %s, %d);", from, axis, name, n);
  ambit__line(j->gpu.w, "const int %s = ambit_least(high%d - %s, %d);", till, axis, name, n);
}

/* The rows of the warp. In 3-D, panels of rows are computed one after the other: block z counts
 * them. */
static void emit_rows(const ambit__stream_job *j)
{
  const bool panels = j->z == 0 && !ambit__gpucode_reduces(j->gpu.group);
  ambit__writer *w = j->gpu.w;
  int below = 0;

  for (int i = 0; i < j->nstreams; i++)
    if (j->streams[i].below > below) below = j->streams[i].below;
  if (panels && !j->planes)
    ambit__line(w, "const int stack = tile / strips + (int)%s * ((int)%s / strips);",
                j->gpu.dialect->block[2], j->gpu.dialect->blocks[0]);
  else if (!is_numbered(j))
    ambit__line(w, "const int stack = tile / strips;");
  ambit__line(w, "const int own%d = low%d + (stack * %d + %s) * %d;", j->y, j->y,
              j->gpu.plan->threads[1], j->gpu.dialect->thread[1], j->rows);
  emit_begin(j, j->y, "y", j->rows, below);
  if (j->ring) emit_top(j, below);
  ambit__line(w, "/* the warp stores its rows skip to stop - 1 */");
  emit_own(j, j->y, "y", j->rows, "skip", "stop");
}

/* A bit for each cell of a lane that is never stored as a cell beside the box. */
static int middle(const ambit__stream_job *j)
{
  const int most = j->lane - j->tail;

  return most > j->head ? (1 << most) - (1 << j->head) : 0;
}

/* Whether cells beside the strip are loaded into registers. */
static bool has_ends(const ambit__stream_job *j)
{
  for (int i = 0; i < j->nstreams; i++)
    if (j->streams[i].end) return true;
  return false;
}

static void emit_columns(const ambit__stream_job *j)
{
  const int wide = AMBIT__STREAM_WARP * j->lane;
  ambit__writer *w = j->gpu.w;

  if (j->y >= 0) {
    if (!is_numbered(j)) ambit__line(w, "const int strip = tile %% strips;");
    emit_rows(j);
  } else if (is_side_by_side(j)) {
    ambit__line(w, "const int strip = tile * %d + %s;", j->gpu.plan->threads[1],
                j->gpu.dialect->thread[1]);
  } else {
    ambit__line(w, "const int strip = tile;");
  }
  ambit__line(w, "const int left = (low%d & -%d) + strip * %d; /* first cell of this warp */", j->x,
              ambit__stream_align(j->gpu.plan), wide);
  if (has_ends(j))
    ambit__line(w, "const int beside = %s < 16 ? left - %d : left + %d;", j->gpu.dialect->thread[0],
                j->lane, wide);
  ambit__line(w, "const int x = left + %s * %d; /* first cell of this lane */",
              j->gpu.dialect->thread[0], j->lane);
  if (j->taps && !j->whole) { /* with bits, ptxas 13.0 makes these 1 to 2 % slower */
    ambit__line(w, "/* the lane stores its cells first to end - 1 */");
    ambit__line(w, "const int first = ambit_between(0, low%d - x, %d);", j->x, j->lane);
    ambit__line(w, "const int end = ambit_between(0, high%d - x, %d);", j->x, j->lane);
    return;
  }
  ambit__line(w, "/* a bit for each of the lane's cells that is in the box */");
  ambit__line_begin(w);
  ambit__print(j->gpu.t, "const int mine = ");
  ambit__stream_print_call(j, "ambit_bits", -1, j->lane);
  ambit__print(j->gpu.t, "low%d - x, high%d - x)", j->x, j->x);
  ambit__line_end(w, ";");
  if (!j->whole) return;
  ambit__line(w, "/* and for those beside them that are stored with them */");
  ambit__line(w, "const int others = %d - mine;", (1 << j->lane) - 1);
  ambit__line(w, "const int brim = ends && mine && !(others & %d) ? others : 0;", middle(j));
}

/* Chunk c of the planes. If the chunks cannot all be equal, the first ones have one plane more. All
 * warps of a block process it, also those that store nothing: if the compiler sees that, it
 * generates no second version of the exchanges for diverged lanes. */
static void emit_chunk(const ambit__stream_job *j)
{
  ambit__writer *w = j->gpu.w;

  ambit__line(w, "const int planes = high%d - low%d, chunks = (int)%s, chunk = (int)%s;", j->z,
              j->z, j->gpu.dialect->blocks[1], j->gpu.dialect->block[1]);
  ambit__line(w, "const int longer = planes %% chunks;");
  ambit__line(
      w, "const int begin = low%d + chunk * (planes / chunks) + ambit_least(chunk, longer);", j->z);
  ambit__line(w, "const int n = planes / chunks + (chunk < longer);");
}

/* The layer of tiles of this block. A block that reduces loops over layers; others avoid the loop,
 * to save its registers. */
static void open_layer(const ambit__stream_job *j, int high)
{
  const ambit__dialect *d = j->gpu.dialect;
  ambit__writer *w = j->gpu.w;

  if (ambit__gpucode_reduces(j->gpu.group)) {
    ambit__line(w, "const int layers = (high%d - low%d + %d) / %d;", j->z, j->z, high - 1, high);
    ambit__open(w, "for (int layer = (int)%s; layer < layers; layer += (int)%s)", d->block[1],
                d->blocks[1]);
  } else if (j->y < 0) {
    ambit__line(w, "const int layer = (int)(%s + %s * %s);", d->block[1], d->block[2],
                d->blocks[1]);
  } else if (!is_numbered(j)) {
    ambit__line(w, "const int layer = (int)%s;", d->block[1]);
  }
}

/* The planes of a tile. */
static void open_planes(const ambit__stream_job *j)
{
  const int stacked = j->y < 0 ? j->gpu.plan->threads[1] : 1;
  ambit__writer *w = j->gpu.w;
  int below = 0;

  for (int i = 0; i < j->nfronts; i++)
    if (-j->fronts[i].low > below) below = -j->fronts[i].low;
  open_layer(j, stacked * j->planes);
  if (stacked > 1)
    ambit__line(w, "const int own%d = low%d + (layer * %d + %s) * %d;", j->z, j->z, stacked,
                j->gpu.dialect->thread[1], j->planes);
  else
    ambit__line(w, "const int own%d = low%d + layer * %d;", j->z, j->z, j->planes);
  emit_begin(j, j->z, "begin", j->planes, below);
  ambit__line(w, "/* the warp stores its planes from to till - 1 */");
  emit_own(j, j->z, "begin", j->planes, "from", "till");
}

/* Axes before z, counted together, as y0, y1, ...: block z starts at its own number and loops if
 * there are too many. 32 bits suffice for the count; 64-bit division is a call that takes
 * registers. */
static void open_outer(const ambit__stream_job *j)
{
  ambit__writer *w = j->gpu.w;

  if (j->z == 0) return;
  ambit__line_begin(w);
  ambit__print(j->gpu.t, "const int outer = (int)(");
  for (int d = 0; d < j->z; d++)
    ambit__print(j->gpu.t, "%s(hi%d - lo%d)", d ? " * " : "", d, d);
  ambit__line_end(w, ");");
  ambit__open(w, "for (int o = (int)%s; o < outer; o += (int)%s)", j->gpu.dialect->block[2],
              j->gpu.dialect->blocks[2]);
  ambit__line(w, "int rest = o;");
  for (int d = j->z - 1; d >= 0; d--) {
    ambit__line(w, "const %s y%d = lo%d + rest %% (int)(hi%d - lo%d);", j->gpu.integer, d, d, d, d);
    if (d) ambit__line(w, "rest /= (int)(hi%d - lo%d);", d, d);
    if (d <= j->gpu.rule->max_axis)
      ambit__line(w, "const %s i%d = offset%d + y%d;", j->gpu.integer, d, d, d);
  }
}

/* ---- the kernel ---- */

/* All planes of a tile. */
static void emit_tile(const ambit__stream_job *j)
{
  ambit__stream_unroll(j, "p", 0, j->planes);
  ambit__stream_emit_window(j);
  ambit__stream_advance(j);
  ambit__close(j->gpu.w);
}

/* One plane. */
static void emit_plane(const ambit__stream_job *j)
{
  ambit__stream_load_next(j);
  if (j->taps)
    ambit__stream_emit_sum(j);
  else
    ambit__stream_emit_window(j);
  ambit__stream_advance(j);
}

/* The planes of a period, each in a text of its own: compilers refuse to unroll a loop that is so
 * long. */
static void emit_written_out(const ambit__stream_job *j)
{
  for (int p = 0; p < j->period; p++) {
    ambit__line(j->gpu.w, "{");
    j->gpu.w->depth++;
    ambit__line(j->gpu.w, "const int p = %d;", p);
    emit_plane(j);
    ambit__close(j->gpu.w);
  }
  ambit__close(j->gpu.w);
}

/* A loop whose body is one plane, or one period: the planes until the same registers are used
 * again. */
static void emit_loop(const ambit__stream_job *j)
{
  if (j->moves) {
    ambit__print(j->gpu.t, "#pragma unroll 1\n");
    ambit__open(j->gpu.w, "for (int z = %d; z < n; z++)", ambit__stream_start(j));
    ambit__line(j->gpu.w, "const int p = 0;");
  } else if (j->ring) { /* counts down, which saves a register */
    ambit__open(j->gpu.w, "for (int rest = n; rest > 0; rest -= %d)", j->period);
    if (j->z <= j->gpu.rule->max_axis) ambit__line(j->gpu.w, "const int z = n - rest;");
    if (j->centre && !j->gpu.plan->rolled) {
      emit_written_out(j);
      return;
    }
    if (j->gpu.plan->rolled)
      ambit__open(j->gpu.w, "for (int p = 0; p < %d; p++)", j->period);
    else
      ambit__stream_unroll(j, "p", 0, j->period);
  } else {
    ambit__open(j->gpu.w, "for (int z = %d; z < n; z += %d)", ambit__stream_start(j), j->period);
    ambit__stream_unroll(j, "p", 0, j->period);
  }
  emit_plane(j);
  if (j->moves) ambit__stream_move(j);
  if (j->moves && j->taps) ambit__stream_move_sums(j);
  ambit__close(j->gpu.w);
  if (!j->moves) ambit__close(j->gpu.w);
}

/* The end of a block that reduces. */
static void emit_totals(const ambit__stream_job *j)
{
  const ambit__dialect *d = j->gpu.dialect;
  const int threads = j->gpu.plan->threads[0] * j->gpu.plan->threads[1];

  if (!ambit__gpucode_reduces(j->gpu.group)) return;
  ambit__line(j->gpu.w, "const int thread = %s * %d + %s;", d->thread[1], j->gpu.plan->threads[0],
              d->thread[0]);
  ambit__line(j->gpu.w, "const %s block = (%s * %s + %s) * %s + %s;", j->gpu.integer, d->block[2],
              d->blocks[1], d->block[1], d->blocks[0], d->block[0]);
  ambit__gpucode_leave_totals(&j->gpu, threads, "thread", "block");
}

/* Whether look-ups go to shared memory, in tiles, which have a barrier between loads and rules. */
static bool has_near_tables(const ambit__stream_job *j)
{
  const size_t bytes = ambit__tables_bytes(j->gpu.rule);

  return j->planes && bytes > 0 && bytes <= MOST_NEAR;
}

static void emit_kernel(const ambit__stream_job *j)
{
  const int *threads = j->gpu.plan->threads;
  const int depth = j->gpu.w->depth;
  ambit__gpucode_slot slots[AMBIT__GPUCODE_SLOTS];

  ambit__gpucode_emit_head(&j->gpu);
  ambit__print(j->gpu.t, "\n%s", j->gpu.dialect->stream);
  if (j->gpu.lanes) ambit__print(j->gpu.t, "\n%s", j->gpu.dialect->lanes);
  if (j->cells > 1 && j->gpu.plan->packed >= PACKED_MINIMA && !j->gpu.dialect->has_lanes)
    ambit__print(j->gpu.t, "\n#define AMBIT_MINIMA\n");
  if (j->cells > 1) ambit__print(j->gpu.t, "\n%s", ambit__prelude_bytes);
  ambit__stream_declare_weights(j);
  ambit__gpucode_open_kernel(&j->gpu, "", threads, ambit__gpucode_slots(j->gpu.group, slots),
                             slots);
  if (!j->planes) ambit__gpucode_emit_ended(&j->gpu);
  ambit__gpucode_declare_totals(&j->gpu, threads[0] * threads[1]);
  if (j->centre) ambit__stream_declare_planes(j);
  if (j->near) ambit__emit_near_tables(j->gpu.dialect, j->gpu.w, j->gpu.rule, threads);
  ambit__gpucode_emit_values(&j->gpu);
  emit_limits(j);
  open_outer(j);
  open_tile(j);
  emit_columns(j);
  if (j->planes)
    open_planes(j);
  else
    emit_chunk(j);
  ambit__stream_declare_fields(j);
  if (j->taps) ambit__stream_declare_sums(j);
  ambit__stream_load_first(j);
  if (j->planes)
    emit_tile(j);
  else
    emit_loop(j);
  while (j->gpu.w->depth > depth + 1)
    ambit__close(j->gpu.w);
  emit_totals(j);
  ambit__close(j->gpu.w);
  ambit__gpucode_emit_fold(&j->gpu);
}

static ambit__places places_of(const ambit__stream_job *j, const ambit__rule *rule)
{
  if (j->cells == 2 && ambit__rule_is_shorts(rule)) return PLACES_SHORTS;
  return j->cells > 2 && ambit__rule_is_quads(rule) ? PLACES_QUADS : PLACES_PAIRS;
}

void ambit__stream_emit(const ambit__group *g, const ambit__target *t, const ambit__plan *p,
                        ambit__writer *w)
{
  ambit__stream_job j;
  ambit__dots dots = {0};
  ambit__pairs pairs = {.dots = &dots};

  if (!ambit__stream_begin(g, p, &j)) return;
  pairs.places = places_of(&j, g->steps[0].rule);
  pairs.minima = pairs.places != PLACES_QUADS && p->packed >= PACKED_MINIMA;
  pairs.x = j.x;
  j.gpu = ambit__gpucode_begin(g, t, p, w);
  if (p->passes) j.gpu.lanes = t->lanes;
  ambit__hoists_begin(&j.gpu.hoists, j.gpu.rule);
  j.near = has_near_tables(&j);
  j.dots = &dots;
  j.pairs = &pairs;
  if (j.cells == 1 || ((!p->packed || ambit__rule_is_paired(j.gpu.rule, p->packed) ||
                        ambit__dots_begin(&dots, j.gpu.rule)) &&
                       ambit__pairs_begin(&pairs, j.gpu.rule)))
    emit_kernel(&j);
  ambit__dots_end(&dots);
  ambit__pairs_end(&pairs);
  ambit__stream_end(&j);
}
