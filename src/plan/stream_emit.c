/* stream_emit.c - the kernel of the strategy `stream`: which cells a warp has, its loads, and its loop.
 *
 * A warp owns a strip of the grid, 32 V columns wide, and goes along z through one chunk of it. Its lanes get the cells beside their own
 * from each other, so that those at the ends of the strip have wrong neighbours: they store nothing, and strips overlap.
 *
 *      left - V     left                                     left + 32 V - 2 V
 *      |<-- V -->|<-------------- stored ------------------>|<-- V -->|
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "plan/stream.h"

/* ---- the warp's part ---- */

/* Which tile this block has. If few blocks are launched because the rule reduces, a block goes on with the next. */
static void open_tile(const ambit__stream_job *j)
{
  const int warps = j->gpu.plan->threads[1], step = 32 * j->lane - 2 * j->halo;
  ambit__writer *w = j->gpu.w;

  if (j->y >= 0 || ambit__gpu_reduces(j->gpu.group))
    ambit__line(w, "const int strips = (int)((hi%d - lo%d + %d) / %d);", j->x, j->x,
                j->lane + step - 2, step);
  if (ambit__gpu_reduces(j->gpu.group)) {
    if (j->y >= 0)
      ambit__line(w, "const int tiles = strips * (int)((hi%d - lo%d + %d) / %d);", j->y, j->y,
                  warps * j->rows - 1, warps * j->rows);
    else
      ambit__line(w, "const int tiles = (strips + %d) / %d;", warps - 1, warps);
    ambit__open(w, "for (int tile = (int)%s; tile < tiles; tile += (int)%s)",
                j->gpu.dialect->block[0], j->gpu.dialect->blocks[0]);
  } else {
    ambit__line(w, "const int tile = (int)%s;", j->gpu.dialect->block[0]);
  }
}

/* The warp's rows. The last warp, for which there may be too few, computes some that the one before it has too, and skips
 * them when it stores. Where the whole box has too few, rows beside it are computed: those that have rows of the
 * grid around them, which is never that low (see candidates). */
static void emit_rows(const ambit__stream_job *j)
{
  const char *integer = j->gpu.integer;
  ambit__writer *w = j->gpu.w;
  int below = 0;

  for (int i = 0; i < j->nstreams; i++)
    if (j->streams[i].below > below) below = j->streams[i].below;
  ambit__line(w, "const %s own = lo%d + (%s)(tile / strips * %d + %s) * %d;", integer, j->y,
              integer, j->gpu.plan->threads[1], j->gpu.dialect->thread[1], j->rows);
  ambit__line(w, "const %s y = ambit_least(own, ambit_most(hi%d - %d, ambit_least<%s>(lo%d, %d)));",
              integer, j->y, j->rows, integer, j->y, below);
  ambit__line(w, "/* the warp stores its rows skip to stop - 1 */");
  ambit__line(w, "const int skip = (int)ambit_least<%s>(own - y, %d);", integer, j->rows);
  ambit__line(w, "const int stop = (int)ambit_least<%s>(hi%d - y, %d);", integer, j->y, j->rows);
}

static void emit_columns(const ambit__stream_job *j)
{
  const int warps = j->gpu.plan->threads[1], step = 32 * j->lane - 2 * j->halo;
  const char *integer = j->gpu.integer;
  ambit__writer *w = j->gpu.w;

  if (j->y >= 0) {
    ambit__line(w, "const int strip = tile %% strips;");
    emit_rows(j);
  } else {
    ambit__line(w, "const int strip = tile * %d + %s;", warps, j->gpu.dialect->thread[1]);
  }
  ambit__line(w,
              "const %s left = (lo%d & -%d) + (%s)strip * %d; /* what this warp stores begins */",
              integer, j->x, j->lane, integer, step);
  ambit__line(w, "const %s x = left + (%s * %d - %d); /* what this lane has begins */", integer,
              j->gpu.dialect->thread[0], j->lane, j->halo);
  ambit__line(w, "/* the lane stores its cells first to end - 1 */");
  ambit__line(w, "const int first = (int)ambit_between(0, ambit_most(lo%d, left) - x, %d);", j->x,
              j->lane);
  ambit__line(w, "const int end = (int)ambit_between(0, ambit_least(hi%d, left + %d) - x, %d);",
              j->x, step, j->lane);
}

/* Chunk c of the planes: the first ones are longer by one if they cannot all be equal. */
static void emit_chunk(const ambit__stream_job *j)
{
  const char *integer = j->gpu.integer;
  ambit__writer *w = j->gpu.w;

  ambit__line(w, "const int planes = (int)(hi%d - lo%d), chunks = (int)%s, chunk = (int)%s;", j->z,
              j->z, j->gpu.dialect->blocks[1], j->gpu.dialect->block[1]);
  ambit__line(w, "const int longer = planes %% chunks;");
  ambit__line(
      w, "const %s begin = lo%d + ((%s)chunk * (planes / chunks) + ambit_least(chunk, longer));",
      integer, j->z, integer);
  ambit__line(w, "const int count = planes / chunks + (chunk < longer);");
  if (j->y >= 0)
    ambit__line(w, "const int n = left < hi%d && own < hi%d ? count : 0;", j->x, j->y);
  else
    ambit__line(w, "const int n = left < hi%d ? count : 0;", j->x);
}

/* Axes before z, counted together, as y0, y1, ...: block z = 0, 1, ... and on, if there are too many. 32 bits are enough
 * for the count, and 64-bit division is a call that takes registers. */
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

static void emit_planes(const ambit__stream_job *j)
{
  ambit__stream_load_first(j);
  ambit__open(j->gpu.w, "for (int z = %d; z < n; z += %d)", ambit__stream_start(j), j->period);
  ambit__stream_unroll(j, "p", 0, j->period);
  ambit__stream_load_next(j);
  if (j->taps)
    ambit__stream_emit_sum(j);
  else
    ambit__stream_emit_window(j);
  ambit__stream_advance(j);
  ambit__close(j->gpu.w);
  ambit__close(j->gpu.w);
}

/* The end of a block that reduces. */
static void emit_totals(const ambit__stream_job *j)
{
  const ambit__dialect *d = j->gpu.dialect;
  const int threads = j->gpu.plan->threads[0] * j->gpu.plan->threads[1];

  if (!ambit__gpu_reduces(j->gpu.group)) return;
  ambit__line(j->gpu.w, "const int thread = %s * %d + %s;", d->thread[1], j->gpu.plan->threads[0],
              d->thread[0]);
  ambit__line(j->gpu.w, "const %s block = (%s * %s + %s) * %s + %s;", j->gpu.integer, d->block[2],
              d->blocks[1], d->block[1], d->blocks[0], d->block[0]);
  ambit__gpu_leave_totals(&j->gpu, threads, "thread", "block");
}

static void emit_kernel(const ambit__stream_job *j)
{
  const int *threads = j->gpu.plan->threads;
  const int depth = j->gpu.w->depth;
  ambit__gpu_slot slots[AMBIT__GPU_SLOTS];

  ambit__gpu_emit_head(&j->gpu);
  ambit__print(j->gpu.t, "\n%s", j->gpu.dialect->stream);
  ambit__gpu_open_kernel(&j->gpu, "", threads, ambit__gpu_slots(j->gpu.group, slots), slots);
  ambit__gpu_declare_totals(&j->gpu, threads[0] * threads[1]);
  ambit__gpu_emit_values(&j->gpu);
  open_outer(j);
  open_tile(j);
  emit_columns(j);
  emit_chunk(j);
  ambit__stream_declare_fields(j);
  if (j->taps) ambit__stream_declare_sums(j);
  emit_planes(j);
  while (j->gpu.w->depth > depth + 1)
    ambit__close(j->gpu.w);
  emit_totals(j);
  ambit__close(j->gpu.w);
  ambit__gpu_emit_fold(&j->gpu);
}

void ambit__stream_emit(const ambit__group *g, const ambit__target *t, const ambit__plan *p,
                        ambit__writer *w)
{
  ambit__stream_job j;

  if (!ambit__stream_begin(g, p, &j)) return;
  j.gpu = ambit__gpu_begin(g, t, p, w);
  emit_kernel(&j);
  ambit__stream_end(&j);
}
