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
#include "nest/tiles.h"

enum { PASSES = 32 }; /* about as many as news needs to cross a tile */

static int outputs_of(const ambit__group *g)
{
  int n = 0;

  for (int i = 0; i < g->rule->nparams; i++)
    n += g->bind[i].is_field && g->rule->params[i].is_written;
  return n;
}

int ambit__tiles_words(const ambit__group *g)
{
  return g->tiles == TILES_RELAX ? 2 * g->ndims : 4 * g->ndims + 2;
}

int ambit__tiles_found(const ambit__group *g)
{
  return 2 * g->ndims * outputs_of(g);
}

static bool is_output(const ambit__nest *n, int i)
{
  return ambit__nest_is_field(n, i) && ambit__nest_param(n, i)->is_written;
}

/* A component of the present cell. */
static ambit__nest_access here(int i, int c)
{
  static const int offset[AMBIT_MAX_DIMS];

  return (ambit__nest_access){i, c, offset, NULL};
}

static const char *value_of(ambit__nest *n, int i, int c)
{
  const ambit__nest_access a = here(i, c);

  return ambit__nest_value(n, &a);
}

/* "AMBIT_DIFFER(AMBIT_BITS_F32(v_at[0]), AMBIT_BITS_F32(v_was0), 0x7fffffff, 0x7f800000)": whether
 * two real numbers differ; integers: "(v_at[0]) != (v_was0)". */
static const char *differ(ambit__nest *n, int i, const char *a, const char *b)
{
  const ambit_type type = ambit__nest_param(n, i)->type;
  const char *bits = type == AMBIT_F32   ? "AMBIT_BITS_F32"
                     : type == AMBIT_F64 ? "AMBIT_BITS_F64"
                                         : "";

  if (!ambit__type_is_real(type)) return ambit__nest_text(n, "(%s) != (%s)", a, b);
  return ambit__nest_text(n, "AMBIT_DIFFER(%s(%s), %s(%s), 0x%llx, 0x%llx)", bits, a, bits, b,
                          (1ull << (ambit__type_bits(type) - 1)) - 1,
                          (unsigned long long)ambit__type_infinity(type));
}

/* ---- boxes of differences: per thread, then of the block ---- */

static void let_found(ambit__nest *n, const int *threads, int outputs)
{
  const ambit__dialect *d = n->dialect;

  if (outputs) ambit__nest_do(n, "%sambit_i32 box[%d]", d->shared, 2 * n->group->ndims * outputs);
  ambit__nest_do(n, "const int k0 = %s * %d + %s", d->thread[1], threads[0], d->thread[0]);
}

/* "for (int k = 0; k < 12; k++)", in the first thread. */
static void open_found(ambit__nest *n, int outputs)
{
  ambit__nest_if(n, "k0 == 0");
  ambit__nest_for(n, "int", "k", "0", ambit__nest_text(n, "%d", 2 * n->group->ndims * outputs));
}

static void close_found(ambit__nest *n)
{
  ambit__nest_close(n);
  ambit__nest_close(n);
}

static void clear_found(ambit__nest *n, int outputs)
{
  if (!outputs) return;
  open_found(n, outputs);
  ambit__nest_do(n, "box[k] = k & 1 ? -1 : AMBIT_NOWHERE");
  close_found(n);
  for (int k = 0; k < n->group->ndims * outputs; k++)
    ambit__nest_do(n, "int low%d = AMBIT_NOWHERE, high%d = -1", k, k);
}

static void extend_found(ambit__nest *n, int output)
{
  for (int d = 0; d < n->group->ndims; d++) {
    const int k = output * n->group->ndims + d;

    ambit__nest_do(n, "if ((int)(y%d - lo%d) < low%d) low%d = (int)(y%d - lo%d)", d, d, k, k, d, d);
    ambit__nest_do(n, "if ((int)(y%d - lo%d) > high%d) high%d = (int)(y%d - lo%d)", d, d, k, k, d,
                   d);
  }
}

static void join_found(ambit__nest *n, int outputs)
{
  const int ndims = n->group->ndims;

  for (int i = 0; i < outputs; i++) {
    ambit__nest_if(n, "high%d >= 0", i * ndims);
    for (int k = i * ndims; k < (i + 1) * ndims; k++) {
      ambit__nest_do(n, "AMBIT_LEAST(&box[%d], low%d)", 2 * k, k);
      ambit__nest_do(n, "AMBIT_MOST(&box[%d], high%d)", 2 * k + 1, k);
    }
    ambit__nest_close(n);
  }
  ambit__nest_do(n, "%s", n->dialect->barrier);
}

/* ---- cells ---- */

/* The cells of the tile, those of a thread apart by the threads. */
static void open_cells(ambit__nest *n, const int *threads)
{
  const int ndims = n->group->ndims;

  for (int d = 0; d < ndims; d++) {
    const int k = ndims - 1 - d;
    const char *lo = ambit__nest_text(n, "lo%d", d);

    ambit__nest_loop(n, .type = n->integer, .name = ambit__nest_text(n, "y%d", d),
                     .from = k > 1 ? lo : ambit__nest_text(n, "%s + %s", lo, n->dialect->thread[k]),
                     .below = ambit__nest_text(n, "hi%d", d),
                     .step = k > 1 ? NULL : ambit__nest_text(n, "%d", threads[k]));
  }
  ambit__nest_let_neighbours(n);
  ambit__nest_let_places(n);
}

static void close_cells(ambit__nest *n)
{
  for (int d = 0; d < n->group->ndims; d++)
    ambit__nest_close(n);
}

/* "const long lo0 = row[0];" */
static void let_axes(ambit__nest *n, const char *name, int first)
{
  for (int d = 0; d < n->group->ndims; d++)
    ambit__nest_do(n, "const %s %s%d = row[%d]", n->integer, name, d, first + d);
}

static void add_rule(ambit__nest *n)
{
  ambit__nest_let_outs(n);
  ambit__nest_node(n, NODE_RULE, .inside = -1);
}

/* ---- tiles to compare ---- */

/* "const float v_was0 = v_than[&v_at[0] - v_mem];" */
static void let_before(ambit__nest *n)
{
  for (int i = 0; i < n->rule->nparams; i++) {
    const char *name = ambit__nest_name(n, i);

    for (int c = 0; is_output(n, i) && c < ambit__nest_param(n, i)->components; c++)
      ambit__nest_do(n, "const %s %s_was%d = %s_than[&%s - %s_mem]", ambit__nest_type(n, i), name,
                     c, name, value_of(n, i, c), name);
  }
}

static void add_copies(ambit__nest *n)
{
  ambit__nest_if(n, "mode == %d", AMBIT__TILES_MODE_COPY);
  for (int i = 0; i < n->rule->nparams; i++)
    for (int c = 0; is_output(n, i) && c < ambit__nest_param(n, i)->components; c++)
      ambit__nest_node(n, NODE_STORE,
                       .value = ambit__nest_text(n, "%s_was%d", ambit__nest_name(n, i), c),
                       .access = here(i, c));
  ambit__nest_do(n, "continue");
  ambit__nest_close(n);
}

static void add_computed(ambit__nest *n)
{
  const char *inside = "";

  for (int d = 0; d < n->group->ndims; d++)
    inside = ambit__nest_text(n, "%s && y%d >= first%d && y%d < end%d", inside, d, d, d, d);
  ambit__nest_if(n, "mode == %d%s", AMBIT__TILES_MODE_RUN, inside);
  add_rule(n);
  ambit__nest_store_outs(n);
  ambit__nest_fold_into(n, "total", "out", false);
  ambit__nest_close(n);
}

static void add_compared(ambit__nest *n)
{
  for (int i = 0, k = 0; i < n->rule->nparams; i++) {
    const ambit__param *p = ambit__nest_param(n, i);
    const char *any = "";

    if (!is_output(n, i)) continue;
    for (int c = 0; c < p->components; c++)
      any = ambit__nest_text(
          n, "%s%s%s", any, c ? " || " : "",
          differ(n, i, value_of(n, i, c), ambit__nest_text(n, "%s_was%d", p->name, c)));
    ambit__nest_if(n, "(compares >> %d & 1) && (%s)", k, any);
    extend_found(n, k++);
    ambit__nest_close(n);
  }
}

static void add_tile(ambit__nest *n, const int *threads)
{
  const int ndims = n->group->ndims, outputs = outputs_of(n->group);

  let_found(n, threads, outputs);
  ambit__nest_do(n, "%sconst %s *row = table + %s * %d", n->dialect->global, n->integer,
                 n->dialect->block[0], ambit__tiles_words(n->group));
  let_axes(n, "lo", 0);
  let_axes(n, "hi", ndims);
  let_axes(n, "first", 2 * ndims);
  let_axes(n, "end", 3 * ndims);
  ambit__nest_do(n, "const %s mode = row[%d], compares = row[%d]", n->integer, 4 * ndims,
                 4 * ndims + 1);
  clear_found(n, outputs);
  ambit__nest_do(n, "%s", n->dialect->barrier);
  open_cells(n, threads);
  let_before(n);
  add_copies(n);
  add_computed(n);
  add_compared(n);
  close_cells(n);
  join_found(n, outputs);
  if (!outputs) return;
  open_found(n, outputs);
  ambit__nest_do(n, "found[%s * %d + k] = box[k]", n->dialect->block[0],
                 ambit__tiles_found(n->group));
  close_found(n);
}

/* ---- tiles that relax ---- */

/* One pass, which stores the results that are other values; threads that change a cell set
 * moves[pass % 3]. Of three such words one is set, one was read by all threads before the last
 * barrier and is cleared, one may still be read. */
static void add_pass(ambit__nest *n, const int *threads)
{
  open_cells(n, threads);
  add_rule(n);
  for (int i = 0; i < n->rule->nparams; i++) {
    if (!is_output(n, i)) continue;
    ambit__nest_if(
        n, "%s",
        differ(n, i, ambit__nest_name_of(n, "out", ambit__nest_param(n, i), 0), value_of(n, i, 0)));
    ambit__nest_store_outs(n);
    ambit__nest_do(n, "moves[pass %% 3] = 1");
    extend_found(n, 0);
    ambit__nest_close(n);
  }
  close_cells(n);
  ambit__nest_do(n, "if (k0 == 0) moves[(pass + 1) %% 3] = 0");
  ambit__nest_do(n, "%s", n->dialect->fence);
  ambit__nest_do(n, "again = moves[pass %% 3]");
}

/* Links are pairs of a tile and the zone that it reads (grid/tiles.h), behind the first link of
 * each tile. */
static void add_wakes(ambit__nest *n, const int *threads)
{
  ambit__nest_if(n, "box[1] >= 0");
  ambit__nest_loop(n, .type = "int", .name = "k", .from = "links[tile] + k0",
                   .below = "links[tile + 1]",
                   .step = ambit__nest_text(n, "%d", threads[0] * threads[1]));
  ambit__nest_do(n, "%sconst ambit_i32 *link = links + tiles + 1 + 2 * k", n->dialect->global);
  ambit__nest_do(n, "int zone = link[1], reads = 1");
  for (int d = 0; d < n->group->ndims && d < 3; d++) {
    const int reach = ambit__group_reach(n->group, d);

    ambit__nest_do(n, "if (zone %% 3 == 1 && box[%d] >= %d) reads = 0", 2 * d, reach);
    ambit__nest_do(n, "if (zone %% 3 == 2 && box[%d] < hi%d - lo%d - %d) reads = 0", 2 * d + 1, d,
                   d, reach);
    ambit__nest_do(n, "zone /= 3");
  }
  ambit__nest_do(n, "if (reads) ambit_wake(state, tiles, round, link[0])");
  ambit__nest_close(n);
  ambit__nest_close(n);
  ambit__nest_if(n, "k0 == 0");
  ambit__nest_do(n, "if (again) ambit_wake(state, tiles, round, tile)");
  ambit__nest_do(n, "if (box[1] >= 0) state[%d] = 1", AMBIT__TILES_CHANGED);
  ambit__nest_do(n, "AMBIT_COUNT(state + %d, pass)", AMBIT__TILES_PASSES);
  ambit__nest_close(n);
}

static void add_round(ambit__nest *n, const int *threads)
{
  const ambit__dialect *d = n->dialect;

  let_found(n, threads, 1);
  ambit__nest_do(n, "%sambit_i32 moves[3]", d->shared);
  ambit__nest_do(n, "const int count = state[round %% 3]");
  ambit__nest_do(n, "if (k0 == 0 && %s == 0) state[(round + 2) %% 3] = 0", d->block[0]);
  ambit__nest_loop(n, .type = n->integer, .name = "turn", .below = "count", .how = LOOP_LAUNCH,
                   .threads = 1);
  ambit__nest_do(n, "const int tile = AMBIT_LIST(state, tiles, round)[turn]");
  ambit__nest_do(n, "%sconst %s *row = table + (%s)tile * %d", d->global, n->integer, n->integer,
                 ambit__tiles_words(n->group));
  ambit__nest_do(n, "int pass = 0, again = 1");
  let_axes(n, "lo", 0);
  let_axes(n, "hi", n->group->ndims);
  clear_found(n, 1);
  ambit__nest_do(n, "if (k0 == 0) moves[0] = AMBIT_MARKS(state, tiles, round)[tile] = 0");
  ambit__nest_do(n, "%s", d->fence);
  ambit__nest_loop(n, .name = "pass", .below = ambit__nest_text(n, "(again ? %d : 0)", PASSES));
  add_pass(n, threads);
  ambit__nest_close(n);
  join_found(n, 1);
  add_wakes(n, threads);
  ambit__nest_do(n, "%s", d->fence);
  ambit__nest_close(n);
}

void ambit__nest_tiles(ambit__nest *n, const int threads[2])
{
  if (n->group->tiles == TILES_RELAX)
    add_round(n, threads);
  else
    add_tile(n, threads);
}
