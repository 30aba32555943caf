/* SPDX-License-Identifier: BSD-3-Clause */
/* tiles.c - on a GPU: a block of threads computes a tile, directly from memory, and looks for
 * differences (docs/design/0017-sleep.md).
 *
 * A tile is a row of `table`: its first and last cells, local. For the entry `tiles` there follow
 * the cells to compute, a mode, and the outputs to compare, one bit each; block b has row b. Cells
 * are compared with those of v_than before they are stored, since that may be the same memory. The
 * block leaves in `found`, for each output, the box of the cells that differ, relative to the tile.
 *
 * For the entry `relax` the table has all tiles of the part, and a launch is a round. Its blocks
 * share the tiles of a list. A block computes its tile in place, the result in the memory that is
 * read, until a pass over it changes nothing, or for PASSES passes: threads may read old or new
 * values of each other, as the order does not matter. Then it puts the tiles that read a changed
 * cell into the list of the next round. A tile that read such a cell too early is computed again.
 */
#include "plan/gpu.h"

extern const char ambit__prelude_tiles[]; /* embedded by the build */

enum {
  THREADS = 256, /* per block */
  ROWS = 8,      /* of them, if there is a y */
  PASSES = 32,   /* about as many as news needs to cross a tile */
  BLOCKS_PER_MULTIPROCESSOR = 8
};

/* ---- choice of a plan ---- */

static bool applies(const ambit__group *g, const ambit__target *t)
{
  return t->kind == TARGET_GPU && g->tiles && !g->form && g->ndims >= 1 && g->nsteps == 1 &&
         g->depth == 1;
}

static int candidates(const ambit__group *g, const ambit__target *t, ambit__plan *plans, int most)
{
  ambit__plan p = {.strategy = &ambit__strategy_tiles, .depth = 1, .threads = {1, 1, 1}};
  /* Where OpenCL is on a CPU, one thread: with several, PoCL 3.1 loses the stores of `found` in
   * some kernels that begin with a return (docs/notes/gpu.md), and takes three times as long. */
  int threads = t->is_cpu ? 1 : THREADS;
  const int rows = g->ndims == 1 ? 1 : ROWS;

  if (most < 1) return 0;
  while (t->max_threads > 0 && threads > t->max_threads)
    threads /= 2;
  p.threads[0] = threads > rows ? threads / rows : threads;
  p.threads[1] = threads / p.threads[0];
  p.blocks = (t->threads > 1 ? t->threads : 1) * BLOCKS_PER_MULTIPROCESSOR;
  plans[0] = p;
  return 1;
}

static void describe(const ambit__plan *p, ambit__text *t)
{
  ambit__print(t, "(tiles %dx%d)", p->threads[0], p->threads[1]);
}

/* A box of n cells along the first axis stands for n tiles. */
static void shape(const ambit__group *g, const ambit__plan *p, const ambit__box *box,
                  ambit__shape *shape)
{
  const int64_t n = box->hi[0] - box->lo[0];

  *shape =
      (ambit__shape){.blocks = {g->tiles == TILES_RELAX && n > p->blocks ? p->blocks : n, 1, 1},
                     .threads = {p->threads[0], p->threads[1], 1}};
}

int ambit__tiles_words(const ambit__group *g)
{
  return g->tiles == TILES_RELAX ? 2 * g->ndims : 4 * g->ndims + 2;
}

/* ---- outputs ---- */

static bool is_output(const ambit__gpucode_job *j, int param)
{
  return ambit__gpucode_is_field(j, param) && j->rule->params[param].is_written;
}

static int count_outputs(const ambit__group *g)
{
  int n = 0;

  for (int i = 0; i < g->steps[0].rule->nparams; i++)
    n += g->steps[0].bind[i].is_field && g->steps[0].rule->params[i].is_written;
  return n;
}

int ambit__tiles_found(const ambit__group *g)
{
  return 2 * g->ndims * count_outputs(g);
}

static void print_value(const ambit__gpucode_job *j, int param, int component)
{
  const int here[AMBIT_MAX_DIMS] = {0};

  ambit__print(j->t, "%s_at[", j->rule->params[param].name);
  ambit__gpucode_print_offset(j, param, component, here);
  ambit__print(j->t, "]");
}

/* The function that gives the bits of a value. */
static const char *bits_of(const ambit__gpucode_job *j, int param)
{
  const ambit_type type = j->rule->params[param].type;

  return type == AMBIT_F32 ? "AMBIT_BITS_F32" : type == AMBIT_F64 ? "AMBIT_BITS_F64" : "";
}

/* "if ((compares >> 0 & 1) && (v_at[0] != v_was0 || ...)) {", for all components of an output. */
static void open_differs(const ambit__gpucode_job *j, int param, int output)
{
  const char *bits = bits_of(j, param);

  ambit__line_begin(j->w);
  ambit__print(j->t, "if ((compares >> %d & 1) && (", output);
  for (int c = 0; c < j->rule->params[param].components; c++) {
    ambit__print(j->t, "%s%s(", c ? " || " : "", bits);
    print_value(j, param, c);
    ambit__print(j->t, ") != %s(%s_was%d)", bits, j->rule->params[param].name, c);
  }
  ambit__line_end(j->w, ")) {");
  j->w->depth++;
}

/* ---- boxes of differences: per thread, then of the block ---- */

static void declare_found(const ambit__gpucode_job *j, int outputs)
{
  if (outputs)
    ambit__line(j->w, "%sambit_i32 box[%d];", j->dialect->shared, 2 * j->group->ndims * outputs);
  ambit__line(j->w, "const int t = %s * %d + %s;", j->dialect->thread[1], j->plan->threads[0],
              j->dialect->thread[0]);
}

static void clear_found(const ambit__gpucode_job *j, int outputs)
{
  const int n = 2 * j->group->ndims * outputs;

  if (!n) return;
  ambit__line(j->w, "for (int k = 0; t == 0 && k < %d; k++)", n);
  ambit__line(j->w, "  box[k] = k & 1 ? -1 : AMBIT_NOWHERE;");
  for (int k = 0; k < n / 2; k++)
    ambit__line(j->w, "int low%d = AMBIT_NOWHERE, high%d = -1;", k, k);
}

static void extend_found(const ambit__gpucode_job *j, int output)
{
  const int ndims = j->group->ndims;

  for (int d = 0; d < ndims; d++) {
    const int k = output * ndims + d;

    ambit__line(j->w, "if ((int)(y%d - lo%d) < low%d) low%d = (int)(y%d - lo%d);", d, d, k, k, d,
                d);
    ambit__line(j->w, "if ((int)(y%d - lo%d) > high%d) high%d = (int)(y%d - lo%d);", d, d, k, k, d,
                d);
  }
}

static void join_found(const ambit__gpucode_job *j, int outputs)
{
  const int ndims = j->group->ndims;

  for (int i = 0; i < outputs; i++) {
    ambit__open(j->w, "if (high%d >= 0)", i * ndims);
    for (int k = i * ndims; k < (i + 1) * ndims; k++) {
      ambit__line(j->w, "AMBIT_LEAST(&box[%d], low%d);", 2 * k, k);
      ambit__line(j->w, "AMBIT_MOST(&box[%d], high%d);", 2 * k + 1, k);
    }
    ambit__close(j->w);
  }
  ambit__line(j->w, "%s;", j->dialect->barrier);
}

/* ---- cells ---- */

/* The cells of the tile, those of a thread apart by the threads. Returns the number of loops. */
static int open_cells(const ambit__gpucode_job *j)
{
  const int ndims = j->group->ndims;

  for (int d = 0; d < ndims; d++) {
    const int k = ndims - 1 - d;

    if (k > 1)
      ambit__open(j->w, "for (%s y%d = lo%d; y%d < hi%d; y%d++)", j->integer, d, d, d, d, d);
    else
      ambit__open(j->w, "for (%s y%d = lo%d + %s; y%d < hi%d; y%d += %d)", j->integer, d, d,
                  j->dialect->thread[k], d, d, d, j->plan->threads[k]);
  }
  ambit__gpucode_emit_wraps(j);
  ambit__gpucode_emit_places(j);
  return ndims;
}

static void close_cells(const ambit__gpucode_job *j, int open)
{
  while (open-- > 0)
    ambit__close(j->w);
}

/* "const long lo0 = row[0];" */
static void declare_axes(const ambit__gpucode_job *j, const char *name, int first)
{
  for (int d = 0; d < j->group->ndims; d++)
    ambit__line(j->w, "const %s %s%d = row[%d];", j->integer, name, d, first + d);
}

static void emit_rule(const ambit__gpucode_job *j)
{
  const ambit__scope s = ambit__gpucode_scope(j);

  ambit__gpucode_declare_outs(j);
  ambit__emit_stmts(&s, j->w, j->rule->body);
}

/* ---- tiles to compare ---- */

/* "const float v_was0 = v_than[&v_at[0] - v_mem];" */
static void emit_before(const ambit__gpucode_job *j)
{
  for (int i = 0; i < j->rule->nparams; i++)
    for (int c = 0; is_output(j, i) && c < j->rule->params[i].components; c++) {
      const char *name = j->rule->params[i].name;

      ambit__line_begin(j->w);
      ambit__print(j->t, "const %s %s_was%d = %s_than[&", ambit__gpucode_type(j, i), name, c, name);
      print_value(j, i, c);
      ambit__print(j->t, " - %s_mem]", name);
      ambit__line_end(j->w, ";");
    }
}

static void emit_copies(const ambit__gpucode_job *j)
{
  ambit__open(j->w, "if (mode == %d)", AMBIT__TILES_MODE_COPY);
  for (int i = 0; i < j->rule->nparams; i++)
    for (int c = 0; is_output(j, i) && c < j->rule->params[i].components; c++) {
      ambit__line_begin(j->w);
      print_value(j, i, c);
      ambit__print(j->t, " = %s_was%d", j->rule->params[i].name, c);
      ambit__line_end(j->w, ";");
    }
  ambit__line(j->w, "continue;");
  ambit__close(j->w);
}

static void emit_computed(const ambit__gpucode_job *j)
{
  ambit__line_begin(j->w);
  ambit__print(j->t, "if (mode == %d", AMBIT__TILES_MODE_RUN);
  for (int d = 0; d < j->group->ndims; d++)
    ambit__print(j->t, " && y%d >= first%d && y%d < end%d", d, d, d, d);
  ambit__line_end(j->w, ") {");
  j->w->depth++;
  emit_rule(j);
  ambit__gpucode_store_outs(j);
  ambit__gpucode_fold_cell(j);
  ambit__close(j->w);
}

static void emit_compared(const ambit__gpucode_job *j)
{
  for (int i = 0, k = 0; i < j->rule->nparams; i++) {
    if (!is_output(j, i)) continue;
    open_differs(j, i, k);
    extend_found(j, k++);
    ambit__close(j->w);
  }
}

static void emit_compare(const ambit__gpucode_job *j)
{
  const int ndims = j->group->ndims, outputs = count_outputs(j->group);
  const int threads = j->plan->threads[0] * j->plan->threads[1], n = 2 * ndims * outputs;
  int open;

  ambit__gpucode_declare_totals(j, threads);
  ambit__gpucode_emit_values(j);
  declare_found(j, outputs);
  ambit__line(j->w, "%sconst %s *row = table + %s * %d;", j->dialect->global, j->integer,
              j->dialect->block[0], ambit__tiles_words(j->group));
  declare_axes(j, "lo", 0);
  declare_axes(j, "hi", ndims);
  declare_axes(j, "first", 2 * ndims);
  declare_axes(j, "end", 3 * ndims);
  ambit__line(j->w, "const %s mode = row[%d], compares = row[%d];", j->integer, 4 * ndims,
              4 * ndims + 1);
  clear_found(j, outputs);
  ambit__line(j->w, "%s;", j->dialect->barrier);
  open = open_cells(j);
  emit_before(j);
  emit_copies(j);
  emit_computed(j);
  emit_compared(j);
  close_cells(j, open);
  join_found(j, outputs);
  if (n) ambit__line(j->w, "for (int k = 0; t == 0 && k < %d; k++)", n);
  if (n) ambit__line(j->w, "  found[%s * %d + k] = box[k];", j->dialect->block[0], n);
  ambit__gpucode_leave_totals(j, threads, "t", j->dialect->block[0]);
}

/* ---- tiles that relax ---- */

/* Stores the result of a cell if it is another value: "if (v_out != v_at[0]) {". */
static void emit_change(const ambit__gpucode_job *j, int param)
{
  const ambit__scope s = ambit__gpucode_scope(j);
  const char *bits = bits_of(j, param);

  ambit__line_begin(j->w);
  ambit__print(j->t, "if (%s(", bits);
  ambit__name_out(&s, j->t, param, 0);
  ambit__print(j->t, ") != %s(", bits);
  print_value(j, param, 0);
  ambit__line_end(j->w, ")) {");
  j->w->depth++;
  ambit__gpucode_store_outs(j);
  ambit__line(j->w, "moves[pass %% 3] = 1;");
  extend_found(j, 0);
  ambit__close(j->w);
}

/* One pass; threads that change a cell set moves[pass % 3]. Of three such words one is set, one
 * was read by all threads before the last barrier and is cleared, one may still be read. */
static void emit_pass(const ambit__gpucode_job *j)
{
  int open = open_cells(j);

  emit_rule(j);
  for (int i = 0; i < j->rule->nparams; i++)
    if (is_output(j, i)) emit_change(j, i);
  close_cells(j, open);
  ambit__line(j->w, "if (t == 0) moves[(pass + 1) %% 3] = 0;");
  ambit__line(j->w, "%s;", j->dialect->fence);
  ambit__line(j->w, "again = moves[pass %% 3];");
}

/* How far the rule reads along an axis. */
static int reach(const ambit__gpucode_job *j, int d)
{
  int most = 0;

  for (int i = 0; i < j->rule->nparams; i++) {
    const ambit__param *p = &j->rule->params[i];

    if (!ambit__gpucode_is_field(j, i)) continue;
    if (p->low[d] > most) most = p->low[d];
    if (p->high[d] > most) most = p->high[d];
  }
  return most;
}

/* Links are pairs of a tile and the zone that it reads (grid/tiles.h), behind the first link of
 * each tile. */
static void emit_wakes(const ambit__gpucode_job *j)
{
  ambit__open(j->w, "for (int k = links[tile] + t; box[1] >= 0 && k < links[tile + 1]; k += %d)",
              j->plan->threads[0] * j->plan->threads[1]);
  ambit__line(j->w, "%sconst ambit_i32 *link = links + tiles + 1 + 2 * k;", j->dialect->global);
  ambit__line(j->w, "int zone = link[1], reads = 1;");
  for (int d = 0; d < j->group->ndims && d < 3; d++) {
    ambit__line(j->w, "if (zone %% 3 == 1 && box[%d] >= %d) reads = 0;", 2 * d, reach(j, d));
    ambit__line(j->w, "if (zone %% 3 == 2 && box[%d] < hi%d - lo%d - %d) reads = 0;", 2 * d + 1, d,
                d, reach(j, d));
    ambit__line(j->w, "zone /= 3;");
  }
  ambit__line(j->w, "if (reads) ambit_wake(state, tiles, round, link[0]);");
  ambit__close(j->w);
  ambit__open(j->w, "if (t == 0)");
  ambit__line(j->w, "if (again) ambit_wake(state, tiles, round, tile);");
  ambit__line(j->w, "if (box[1] >= 0) state[%d] = 1;", AMBIT__TILES_CHANGED);
  ambit__line(j->w, "AMBIT_COUNT(state + %d, pass);", AMBIT__TILES_PASSES);
  ambit__close(j->w);
}

static void emit_relax(const ambit__gpucode_job *j)
{
  const ambit__dialect *l = j->dialect;

  declare_found(j, 1);
  ambit__line(j->w, "%sambit_i32 moves[3];", l->shared);
  ambit__gpucode_emit_values(j);
  ambit__line(j->w, "const int count = state[round %% 3];");
  ambit__line(j->w, "if (t == 0 && %s == 0) state[(round + 2) %% 3] = 0;", l->block[0]);
  ambit__open(j->w, "for (%s turn = %s; turn < count; turn += %s)", j->integer, l->block[0],
              l->blocks[0]);
  ambit__line(j->w, "const int tile = AMBIT_LIST(state, tiles, round)[turn];");
  ambit__line(j->w, "%sconst %s *row = table + (%s)tile * %d;", l->global, j->integer, j->integer,
              ambit__tiles_words(j->group));
  ambit__line(j->w, "int pass = 0, again = 1;");
  declare_axes(j, "lo", 0);
  declare_axes(j, "hi", j->group->ndims);
  clear_found(j, 1);
  ambit__line(j->w, "if (t == 0) moves[0] = AMBIT_MARKS(state, tiles, round)[tile] = 0;");
  ambit__line(j->w, "%s;", l->fence);
  ambit__open(j->w, "for (; again && pass < %d; pass++)", PASSES);
  emit_pass(j);
  ambit__close(j->w);
  join_found(j, 1);
  emit_wakes(j);
  ambit__line(j->w, "%s;", l->fence);
  ambit__close(j->w);
}

/* ---- code ---- */

static void emit(const ambit__group *g, const ambit__target *t, const ambit__plan *p,
                 ambit__writer *w)
{
  const ambit__gpucode_job j = ambit__gpucode_begin(g, t, p, w);
  ambit__gpucode_slot slots[AMBIT__GPUCODE_SLOTS];

  ambit__gpucode_emit_head(&j);
  ambit__print(j.t, "#define AMBIT_HEAD %d\n%s", AMBIT__TILES_HEAD, ambit__prelude_tiles);
  ambit__gpucode_open_kernel(&j, "", p->threads, ambit__gpucode_slots(g, slots), slots);
  ambit__gpucode_emit_ended(&j);
  if (g->tiles == TILES_RELAX)
    emit_relax(&j);
  else
    emit_compare(&j);
  ambit__close(w);
  ambit__gpucode_emit_fold(&j);
}

const ambit__strategy ambit__strategy_tiles = {
    .name = "tiles",
    .applies = applies,
    .candidates = candidates,
    .cost = ambit__gpucode_cell_cost,
    .emit = emit,
    .describe = describe,
    .shape = shape,
};
