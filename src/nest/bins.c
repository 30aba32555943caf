/* SPDX-License-Identifier: BSD-3-Clause */
/* bins.c - on a GPU: reductions whose subscripts are computed.
 *
 * A block has tables in shared memory, side by side, and a thread folds into one of them, so that
 * the threads of a warp use different banks whatever the components are:
 *
 *      table    0 1 2 3   0 1 2 3   0 1 2 3     4 tables; the last element of each is for cells
 *      element  0 0 0 0   1 1 1 1   2 2 2 2     that have no component
 *
 * Numbers of cells are counted by atomic additions of 32 bits. Other values need an order, or wider
 * elements: then a block has as few threads as tables, a table each. At the end the tables of a
 * block are folded in order and leave a piece of the totals; device/gpu/fold.c folds the pieces.
 *
 * Threads lie along rows of the last axis; blocks along x have parts of the rows, along y rows.
 */
#include "nest/nest.h"

typedef struct job {
  ambit__nest *n;
  const ambit__nest_bins *b;
  int threads; /* of a block */
} job;

static bool counts(const job *j)
{
  return j->threads > j->b->tables;
}

/* The loop of all threads over so many elements. */
static void open_elements(job *j, int elements)
{
  ambit__nest_loop(j->n, .type = "int", .name = "b", .from = "lane",
                   .below = ambit__nest_text(j->n, "%d", elements),
                   .step = ambit__nest_text(j->n, "%d", j->threads), .rolled = true);
}

static void each_param(job *j, void (*f)(job *j, int i))
{
  for (int i = 0; i < j->n->rule->nparams; i++)
    if (ambit__nest_is_binned(j->n, i)) f(j, i);
}

static void let_tables(job *j, int i)
{
  ambit__nest *n = j->n;
  const ambit__param *p = ambit__nest_param(n, i);
  const int size = j->b->tables * (p->bins + 1);

  ambit__nest_node(n, NODE_ARRAY,
                   .type = counts(j) ? "ambit_u32" : ambit__total_type(n->group, n->dialect, i),
                   .name = ambit__nest_text(n, "%s_bins", p->name), .size = {size}, .shared = true);
  open_elements(j, size);
  ambit__nest_do(n, "%s_bins[b] = %s", p->name, counts(j) ? "0" : ambit__total_zero(n, i));
  ambit__nest_close(n);
}

/* The tables of the block are folded in order. Pieces lie along the last axis. */
static void store_totals(job *j, int i)
{
  ambit__nest *n = j->n;
  const ambit__param *p = ambit__nest_param(n, i);
  const char *name = p->name, *element, *at;
  const char *zero = ambit__type_is_real(p->type) ? " + 0" : "";

  open_elements(j, p->bins);
  ambit__nest_do(n, "%s total = %s", ambit__total_type(n->group, n->dialect, i),
                 ambit__total_zero(n, i));
  ambit__nest_loop(n, .type = "int", .name = "t", .from = "0",
                   .below = ambit__nest_text(n, "%d", j->b->tables));
  /* threads begin at different banks */
  element = counts(j) ? ambit__nest_text(n, "%s_bins[b * %d + (t + lane) %% %d]", name,
                                         j->b->tables, j->b->tables)
                      : ambit__nest_text(n, "%s_bins[b * %d + t]", name, j->b->tables);
  if (counts(j))
    ambit__nest_do(n, "total += (int)%s", element);
  else
    ambit__nest_node(n, NODE_FOLD, .name = "total", .value = element, .joins = true,
                     .access = {.param = i});
  ambit__nest_close(n);
  at = ambit__nest_text(n, "[%s_o + b * %s_c", name, name);
  ambit__nest_if(n, "%s_to", name);
  ambit__nest_do(n, "%s_to%s] = (%s)(total%s)", name, at, ambit__nest_type(n, i), zero);
  ambit__nest_otherwise(n);
  ambit__nest_do(n, "%s_mem%s + (%s * %s + %s) * %s_s%d] = total", name, at, n->dialect->block[1],
                 n->dialect->blocks[0], n->dialect->block[0], name, ambit__nest_last(n));
  ambit__nest_close(n);
  ambit__nest_close(n);
}

/* ---- cells ---- */

/* Component c of a result: of the present cell, or (kept) of cell k. */
static const char *result_of(job *j, ambit__nest_access a, int more, bool kept)
{
  return ambit__nest_text(j->n, "%s%s",
                          ambit__nest_name_of(j->n, kept ? "kept" : "out",
                                              ambit__nest_param(j->n, a.param), a.component + more),
                          kept ? "[k]" : "");
}

/* Folds a pair, or stores another result. */
static void put(job *j, ambit__nest_access a, bool kept)
{
  ambit__nest *n = j->n;
  const ambit__param *p = ambit__nest_param(n, a.param);
  const char *at, *value;

  if (!ambit__nest_is_binned(n, a.param)) {
    ambit__nest_node(n, NODE_STORE, .access = a, .value = kept ? result_of(j, a, 0, kept) : NULL);
    return;
  }
  if (a.component % 2) return;
  at = ambit__nest_text(n, "%s_bins[(int)%s * %d + table]", p->name, result_of(j, a, 0, kept),
                        j->b->tables);
  value = ambit__nest_amount(n, a.param, a.component / 2, result_of(j, a, 1, kept));
  if (counts(j))
    ambit__nest_do(n, "ambit_bin_add(&%s, (ambit_u32)(%s))", at, value);
  else
    ambit__nest_node(n, NODE_FOLD, .name = at, .value = value, .access = {.param = a.param});
}

static void put_out(ambit__nest *n, ambit__nest_access a, void *user)
{
  (void)n;
  put(user, a, false);
}

static void put_kept(ambit__nest *n, ambit__nest_access a, void *user)
{
  (void)n;
  put(user, a, true);
}

static void let_kept(ambit__nest *n, ambit__nest_access a, void *user)
{
  const job *j = user;

  ambit__nest_do(n, "%s %s[%d]", ambit__nest_type(n, a.param),
                 ambit__nest_name_of(n, "kept", ambit__nest_param(n, a.param), a.component),
                 j->b->each);
}

static void keep(ambit__nest *n, ambit__nest_access a, void *user)
{
  ambit__nest_do(n, "%s = %s", result_of(user, a, 0, true), result_of(user, a, 0, false));
}

static void add_rule(job *j)
{
  ambit__nest *n = j->n;

  ambit__nest_let_neighbours(n);
  ambit__nest_let_places(n);
  ambit__nest_let_loads(n, NULL, NULL);
  ambit__nest_let_outs(n);
  ambit__nest_node(n, NODE_RULE, .inside = -1);
}

/* Cell k of the thread. */
static void let_kth(job *j)
{
  const int last = ambit__nest_last(j->n);

  ambit__nest_unroll(j->n, "k", 0, j->b->each);
  ambit__nest_do(j->n, "const %s y%d = from + k * %d", j->n->integer, last, j->b->threads[0]);
}

/* A few cells: all are loaded before one is folded. */
static void add_several(job *j)
{
  ambit__nest *n = j->n;

  ambit__nest_each_output(n, let_kept, j);
  let_kth(j);
  add_rule(j);
  ambit__nest_each_output(n, keep, j);
  ambit__nest_fold_into(n, "total", "out", false);
  ambit__nest_close(n);
  let_kth(j);
  ambit__nest_let_neighbours(n);
  ambit__nest_let_places(n);
  ambit__nest_each_output(n, put_kept, j);
  ambit__nest_close(n);
}

static void add_single(job *j)
{
  ambit__nest *n = j->n;
  const int last = ambit__nest_last(n);

  ambit__nest_loop(n, .type = n->integer, .name = ambit__nest_text(n, "y%d", last), .from = "from",
                   .below = ambit__nest_text(n, "hi%d", last),
                   .step = ambit__nest_text(n, "%d", j->b->threads[0]), .rolled = true);
  add_rule(j);
  ambit__nest_each_output(n, put_out, j);
  ambit__nest_fold_into(n, "total", "out", false);
  ambit__nest_close(n);
}

/* y0, y1, ... of a row. */
static void let_row(job *j)
{
  ambit__nest *n = j->n;
  const int last = ambit__nest_last(n);

  if (last > 0) ambit__nest_do(n, "%s rest = row", n->integer);
  for (int d = last - 1; d >= 0; d--) {
    ambit__nest_do(n,
                   d ? "const %s y%d = lo%d + rest %% (hi%d - lo%d)" : "const %s y%d = lo%d + rest",
                   n->integer, d, d, d, d);
    if (d) ambit__nest_do(n, "rest /= hi%d - lo%d", d, d);
  }
}

static void add_rows(job *j)
{
  ambit__nest *n = j->n;
  const ambit__dialect *d = n->dialect;
  const int last = ambit__nest_last(n), piece = j->b->threads[0] * j->b->each;
  const char *rows = "1";

  for (int k = 0; k < last; k++)
    rows = ambit__nest_text(n, "%s * (hi%d - lo%d)", rows, k, k);
  ambit__nest_do(n, "const %s rows = %s", n->integer, rows);
  ambit__nest_loop(
      n, .type = n->integer, .name = "row",
      .from = ambit__nest_text(n, "%s * %d + %s", d->block[1], j->b->threads[1], d->thread[1]),
      .below = "rows", .step = ambit__nest_text(n, "%s * %d", d->blocks[1], j->b->threads[1]),
      .rolled = true);
  let_row(j);
  ambit__nest_loop(
      n, .type = n->integer, .name = "from",
      .from = ambit__nest_text(n, "lo%d + %s * %d + %s", last, d->block[0], piece, d->thread[0]),
      .below = ambit__nest_text(n, "hi%d", last),
      .step = ambit__nest_text(n, "%s * %d", d->blocks[0], piece), .rolled = true);
  ambit__nest_if(n, "from + %d < hi%d", (j->b->each - 1) * j->b->threads[0], last);
  add_several(j);
  ambit__nest_otherwise(n);
  add_single(j);
  ambit__nest_close(n);
  ambit__nest_close(n);
  ambit__nest_close(n);
}

void ambit__nest_binned(ambit__nest *n, const ambit__nest_bins *b)
{
  job j = {.n = n, .b = b, .threads = b->threads[0] * b->threads[1]};

  ambit__nest_do(n, "const int lane = %s * %d + %s", n->dialect->thread[1], b->threads[0],
                 n->dialect->thread[0]);
  ambit__nest_do(n, "const int table = lane %% %d", b->tables);
  each_param(&j, let_tables);
  ambit__nest_barrier(n);
  add_rows(&j);
  ambit__nest_barrier(n);
  each_param(&j, store_totals);
}
