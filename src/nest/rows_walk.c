/* SPDX-License-Identifier: BSD-3-Clause */
/* rows_walk.c - the loop along a block of rows, from x0 to x1 - 1.
 *
 * Vectors are aligned. One that extends beyond the ends of the rows is computed whole, as the cells
 * there exist in memory, and stored in part; in reductions its other lanes keep what they had.
 *
 * Where a rule tests the place of its cell, cells b0 .. b1 - 1 are so far inside the grid that the
 * values of all tests are known. There the rule is written with a constant 1 for `inside`, so that
 * compilers leave out the tests and the reads of their other side. On a sparse grid, the table of
 * chunks says which cells have only active ones around them (grid/chunks.h).
 */
#include "base/integers.h"
#include "nest/rows.h"

typedef ambit__rows_job job;

/* Inner cells of a chunk that are not worth a loop of their own, since three short loops have three
 * ragged ends: D3Q19 on shells took 1.4 times as long, and on cubes of 16^3 1.15 times. */
enum { FEW = 16 };

static void open_x(job *j, const char *from, const char *below, const char *step,
                   ambit__loop_kind how)
{
  ambit__nest_loop(j->n, .type = "long", .name = "x", .from = from, .below = below, .step = step,
                   .how = how, .folds = j->reduces);
}

void ambit__rows_open_lanes(job *j)
{
  ambit__nest_loop(j->n, .type = "long", .name = "l", .from = "0", .below = "LANES",
                   .how = LOOP_VECTOR);
}

/* ---- parts of reductions ---- */

void ambit__rows_let_parts(job *j, bool wide)
{
  ambit__nest *n = j->n;
  const char *name = wide ? "total" : "part";

  for (int i = 0; i < n->rule->nparams; i++) {
    const ambit__param *p = ambit__nest_param(n, i);
    const char *of =
        n->dialect->types[wide ? ambit__type_total(p->type) : ambit__nest_part_type(p)];

    if (!ambit__nest_is_reduction(n, i) || ambit__rows_is_exact(j, i)) continue;
    if (!j->lanes) {
      ambit__nest_do(n, "%s %s_%s = %s", of, p->name, name, ambit__nest_identity(n, p));
      continue;
    }
    ambit__nest_do(n, "%s %s_%s[LANES]", of, p->name, name);
    ambit__rows_open_lanes(j);
    ambit__nest_do(n, "%s_%s[l] = %s", p->name, name, ambit__nest_identity(n, p));
    ambit__nest_close(n);
  }
}

void ambit__rows_fold_parts(job *j)
{
  if (!j->reduces) return;
  if (!j->lanes) {
    ambit__nest_fold_into(j->n, "*sum", "part", true);
    return;
  }
  if (j->form)
    ambit__nest_for(j->n, "int", "l", "0", "LANES");
  else /* vectors: one by one, the lanes of a row of 240 floats took a fifth of its time */
    ambit__rows_open_lanes(j);
  ambit__nest_fold_into(j->n, j->form ? "*sum" : "total[l]", "part[l]", true);
  ambit__nest_close(j->n);
}

/* Strict sums: a statement for each, in which @ is its name, $ its type, and # the numbers of a
 * turn. r_part is the position of the next number in the block. */
static void each_block(job *j, const char *format)
{
  for (int i = 0; i < j->n->rule->nparams; i++) {
    const ambit__param *p = ambit__nest_param(j->n, i);
    ambit__text t = {0};

    if (!ambit__rows_is_exact(j, i)) continue;
    for (const char *c = format; *c; c++)
      if (*c == '@')
        ambit__print(&t, "%s", p->name);
      else if (*c == '$')
        ambit__print(&t, "%s", ambit__type_suffix(p->type));
      else if (*c == '#')
        ambit__print(&t, "%d%s", j->count, j->lanes ? " * LANES" : "");
      else
        ambit__print(&t, "%c", *c);
    ambit__nest_do(j->n, "%s", ambit__nest_keep(j->n, &t));
  }
}

/* After a number of every lane and row was stored. */
static void settle(job *j)
{
  each_block(j, "@_part = ambit_block_settle_$(&@_block, @_part + #, ROOM)");
}

/* ---- totals ---- */

/* Before and after the walk along rows: of fields that have a total per row, its parts in lanes. */
static void let_lanes(job *j, int i)
{
  const ambit__param *p = ambit__nest_param(j->n, i);

  for (int r = 0; r < ambit__rows_totals(j, i); r++)
    ambit__nest_do(j->n, "%s %s_lane%d[LANES]", j->n->dialect->types[ambit__nest_part_type(p)],
                   p->name, r);
  ambit__rows_open_lanes(j);
  for (int r = 0; r < ambit__rows_totals(j, i); r++)
    ambit__nest_do(j->n, "%s_lane%d[l] = %s", p->name, r, ambit__nest_identity(j->n, p));
  ambit__nest_close(j->n);
}

static void fold_lanes(job *j, int i)
{
  ambit__nest *n = j->n;

  ambit__nest_for(n, "int", "l", "0", "LANES");
  for (int r = 0; r < ambit__rows_totals(j, i); r++)
    ambit__nest_node(n, NODE_STORE,
                     .value = ambit__nest_text(n, "%s_lane%d[l]", ambit__nest_name(n, i), r),
                     .access = ambit__rows_access(j, i, 0, r, NULL, "0"));
  ambit__nest_close(n);
}

static void each_lanes(job *j, void (*f)(job *j, int i))
{
  for (int i = 0; i < j->n->rule->nparams; i++)
    if (ambit__rows_has_lanes(j, i)) f(j, i);
}

/* ---- vectors ---- */

/* The next row of a sweep reads what it carries. */
static ambit__store_kind store_of(const job *j, ambit__nest_access a)
{
  const bool keeps =
      ambit__nest_param(j->n, a.param)->keeps[a.component] || j->n->bind[a.param].carried;

  return j->r->nontemporal && !keeps ? STORE_NONTEMPORAL : STORE_VECTOR;
}

static void let_buffer(job *j, ambit__nest_access a, int r)
{
  const bool is_bin = ambit__nest_is_binned(j->n, a.param) && a.component % 2 == 0;

  ambit__nest_do(j->n, "%s %s_b%d_%d%s", is_bin ? "uint16_t" : ambit__nest_type(j->n, a.param),
                 ambit__nest_name(j->n, a.param), a.component, r,
                 j->lanes ? "[LANES] __attribute__((aligned(AMBIT_VECTOR)))" : "");
}

static const char *name_buffer(job *j, ambit__nest_access a, int r)
{
  return ambit__nest_text(j->n, "%s_b%d_%d", ambit__nest_name(j->n, a.param), a.component, r);
}

/* A whole vector. */
static void put_buffer(job *j, ambit__nest_access a, int r)
{
  if (j->n->bind[a.param].adjacent || ambit__nest_is_binned(j->n, a.param)) return;
  ambit__nest_node(j->n, NODE_STORE, .store = store_of(j, a), .value = name_buffer(j, a, r),
                   .access = ambit__rows_access(j, a.param, a.component, r, a.offset, "x"));
}

/* The cell at x, or x + l. */
static void store_result(job *j, ambit__nest_access a, int r)
{
  if (ambit__nest_is_binned(j->n, a.param)) return;
  ambit__nest_node(j->n, NODE_STORE, .value = ambit__rows_result(j, a.param, a.component, r),
                   .access =
                       ambit__rows_access(j, a.param, a.component, r, a.offset, ambit__rows_x(j)));
}

static void prefetch_below(job *j, ambit__nest_access a, int r)
{
  int offset[AMBIT_MAX_DIMS] = {0};
  ambit__nest_access below;

  if (ambit__nest_is_binned(j->n, a.param)) return;
  for (int d = 0; d <= j->last; d++)
    offset[d] = a.offset[d];
  offset[j->last - 1] += j->last == 1 ? j->r->rows[0] : 1;
  below = ambit__rows_access(j, a.param, a.component, r, offset, "x");
  ambit__nest_do(j->n, "__builtin_prefetch(%s, 1)", ambit__nest_pointer(j->n, &below));
}

/* Of a field whose components are adjacent. */
static void weave_result(job *j, ambit__nest_access a, int r)
{
  if (j->n->bind[a.param].adjacent) store_result(j, a, r);
}

/* Whole vectors. gcc weaves 16 bytes of each component best: 64 RGB bytes in 0.6 of the time. */
static void put_buffers(job *j)
{
  int cells = 0;

  for (int i = 0; i < j->n->rule->nparams; i++)
    if (j->n->bind[i].adjacent && ambit__nest_param(j->n, i)->is_written)
      cells = 16 / (int)ambit_type_size(ambit__nest_param(j->n, i)->type);
  ambit__rows_each_result(j, put_buffer);
  if (!cells) return;
  ambit__nest_loop(j->n, .type = "long", .name = "l", .from = "0", .below = "LANES",
                   .how = LOOP_VECTOR, .cells = cells);
  ambit__rows_each_result(j, weave_result);
  ambit__nest_close(j->n);
}

/* An end of the rows that does not fill a vector. Its cache line is not stored past the caches and
 * must first come from memory, so the same end of the next rows is prefetched here, a whole row
 * ahead. At ends that fill a vector, prefetching would put lines in the cache that the stores must
 * evict again: that took a sixth of the time of a 3-D star. */
static void store_ragged(job *j)
{
  ambit__rows_open_lanes(j);
  ambit__nest_if(j->n, "x + l >= x0 && x + l < x1");
  ambit__rows_each_result(j, store_result);
  ambit__nest_close(j->n);
  ambit__nest_close(j->n);
  if (j->r->nontemporal && j->last > 0 && !j->form) ambit__rows_each_result(j, prefetch_below);
}

static void store_vector(job *j, bool ragged)
{
  if (j->folds && ragged) {
    store_ragged(j);
    return;
  }
  if (j->folds) {
    put_buffers(j);
    return;
  }
  ambit__nest_if(j->n, "__builtin_expect(x >= x0 && x + LANES <= x1, 1)");
  put_buffers(j);
  ambit__nest_otherwise(j->n);
  store_ragged(j);
  ambit__nest_close(j->n);
}

/* The highest offset along `axis` at which any row of the block reads plane z (2-D: row z) of a
 * component; false: none reads it. */
static bool furthest(const job *j, const ambit__param *p, int c, int z, int axis, int *most)
{
  const int along = ambit__rows_axis(j);
  bool any = false;

  for (int r = 0; r < j->count; r++)
    for (int k = 0; k < p->nreads; k++) {
      const int *offset = p->reads[k].offset;

      if (p->reads[k].component != c || r + offset[along] != z || (any && offset[axis] <= *most))
        continue;
      *most = offset[axis];
      any = true;
    }
  return any;
}

/* The highest plane of a component that a row reads, far below all if it reads none. */
static int highest(const job *j, const ambit__param *p, int c)
{
  int most = INT32_MIN / 2;

  for (int k = 0; k < p->nreads; k++)
    if (p->reads[k].component == c)
      most = ambit__max(most, p->reads[k].offset[ambit__rows_axis(j)]);
  return most;
}

/* Prefetches, a little ahead, the values of a component that no earlier block has read: the
 * furthest row of each new plane (2-D: each new row). */
static void prefetch_component(job *j, int i, int c)
{
  const ambit__param *p = ambit__nest_param(j->n, i);
  const int high = highest(j, p, c);

  for (int z = high; z < high + j->count; z++) {
    int offset[AMBIT_MAX_DIMS] = {0};
    ambit__nest_access a;
    bool read = true;

    for (int d = 0; d < j->last && read; d++)
      read = furthest(j, p, c, z, d, &offset[d]);
    if (!read) continue;
    offset[ambit__rows_axis(j)] = z;
    a = ambit__rows_access(j, i, c, 0, offset, "x");
    ambit__nest_do(j->n, "__builtin_prefetch(%s + AHEAD)", ambit__nest_pointer(j->n, &a));
  }
}

/* Of fields of one component, where results bypass the caches: without it, a core alternates
 * between waiting for memory and computing; on 512^3 floats, stars ran 5 to 15 % slower. Of fields
 * of several components, each of which is a sequence of its own, also where results stay in a
 * cache: more of them than hardware prefetchers follow. One of 2 Xeon cores: D3Q19 took 1.44 times
 * as long without, D2Q9 1.13 times. Rules that are walked several times need none. */
static void add_prefetches(job *j)
{
  const bool whole = !j->first && (!j->end || j->end >= ambit__rows_outputs(j));

  for (int i = 0; j->last > 0 && i < j->n->rule->nparams; i++) {
    const ambit__param *p = ambit__nest_param(j->n, i);
    const bool pays = p->components == 1 ? j->r->nontemporal && !j->n->widened[i]
                                         : whole && (!j->form || j->r->nontemporal);

    if (!pays || !ambit__nest_is_field(j->n, i) || !j->n->bind[i].contiguous ||
        j->n->bind[i].cached)
      continue;
    for (int c = 0; c < p->components; c++)
      prefetch_component(j, i, c);
  }
}

static void add_vector(job *j, int inside, bool ragged)
{
  ambit__rows_each_result(j, let_buffer);
  if (!ragged) add_prefetches(j);
  ambit__rows_load_wide(j);
  ambit__rows_look_up(j, inside);
  ambit__rows_open_lanes(j);
  ambit__rows_add_cells(j, inside, ragged);
  ambit__nest_close(j->n);
  ambit__rows_fold_bins(j, ragged);
  store_vector(j, ragged);
  settle(j);
}

/* The vector at x, of inner cells or others. */
static void add_either(job *j)
{
  if (!j->tests) {
    add_vector(j, -1, false);
    return;
  }
  ambit__nest_if(j->n, "x >= b0 && x + LANES <= b1");
  add_vector(j, 1, false);
  ambit__nest_otherwise(j->n);
  add_vector(j, 0, false);
  ambit__nest_close(j->n);
}

static void add_vectors(job *j)
{
  if (!j->folds) {
    open_x(j, "x0 & -LANES", "x1", "LANES", LOOP_SERIAL);
    add_either(j);
    ambit__nest_close(j->n);
    return;
  }
  ambit__nest_do(j->n, "const long first = (x0 + LANES - 1) & -LANES, end = x1 & -LANES");
  open_x(j, "first", "end", "LANES", LOOP_SERIAL);
  add_either(j);
  ambit__nest_close(j->n);
  open_x(j, "x0 < first ? first - LANES : end", "x1", "(x < end ? end - x : LANES)", LOOP_SERIAL);
  add_vector(j, j->tests ? 0 : -1, true);
  ambit__nest_close(j->n);
}

/* ---- single cells ---- */

/* Rows store their results together: compilers cannot know that a store changes no value that the
 * next row reads. */
static void add_single(job *j, const char *from, const char *below, int inside)
{
  if (j->n->group->sweep == -(j->last + 1))
    ambit__nest_along(j->n, "long", "x", from, below, true);
  else
    open_x(j, from, below, NULL,
           j->serial || j->exact || j->row_totals ? LOOP_SERIAL : LOOP_VECTOR);
  if (!j->direct) ambit__rows_each_result(j, let_buffer);
  ambit__rows_add_cells(j, inside, false);
  if (!j->direct) {
    ambit__rows_each_result(j, store_result);
    ambit__rows_fold_bins(j, false);
  }
  settle(j);
  ambit__nest_close(j->n);
}

static void add_singles(job *j)
{
  if (!j->tests || j->direct) {
    add_single(j, "x0", "x1", j->tests ? 0 : -1);
    return;
  }
  if (j->form) ambit__nest_do(j->n, "const int few = b1 - b0 < %d", FEW);
  ambit__nest_do(j->n, "const long m0 = %sb0 < x0 ? x0 : b0 < x1 ? b0 : x1",
                 j->form ? "few ? x1 : " : "");
  ambit__nest_do(j->n, "const long m1 = b1 < m0 ? m0 : b1 < x1 ? b1 : x1");
  add_single(j, "x0", "m0", 0);
  add_single(j, "m0", "m1", 1);
  add_single(j, "m1", "x1", 0);
}

/* Cells b0 .. b1 - 1 are inside. */
static void let_bounds(job *j)
{
  const int x = j->last;

  if (j->form) {
    ambit__nest_do(j->n, "const long b0 = inside & 0xffff, b1 = inside >> 16");
    return;
  }
  ambit__nest_do(j->n, "const long b0 = inside ? %d - offset%d : x1", j->low[x], x);
  ambit__nest_do(j->n, "const long b1 = inside ? extent%d - %d - offset%d : x1", x, j->high[x], x);
}

static void add_cells(job *j)
{
  if (j->lanes)
    add_vectors(j);
  else
    add_singles(j);
}

/* All results, some of them at a time. */
static void add_walks(job *j)
{
  const int outputs = ambit__rows_outputs(j), few = ambit__rows_split(j);

  if (few == outputs) {
    add_cells(j);
    return;
  }
  for (j->first = 0; j->first < outputs; j->first += few) {
    j->end = j->first + few;
    ambit__nest_block(j->n);
    add_cells(j);
    ambit__nest_close(j->n);
  }
  j->end = 0;
}

void ambit__rows_add_walk(job *j)
{
  if (j->taps && j->r->factored && j->count == 1) {
    ambit__rows_add_factored(j);
    return;
  }
  ambit__rows_let_parts_of_rows(j);
  if (!j->form) ambit__rows_let_parts(j, false);
  each_block(j, "__typeof__(@_block.x.$[0]) *@_part = @_block.x.$ + @_block.n");
  if (j->tests && !j->direct) let_bounds(j);
  each_lanes(j, let_lanes);
  add_walks(j);
  each_lanes(j, fold_lanes);
  each_block(j, "@_block.n = @_part - @_block.x.$");
  if (!j->form) ambit__rows_fold_parts(j);
}
