/* SPDX-License-Identifier: BSD-3-Clause */
/* folds.c - on a GPU: cells folded onto fields of fewer axes.
 *
 * A row of threads lies along the last axis, where memory is adjacent. If cells are folded along
 * it, the threads of a row fold the cells of one total, and rows have totals of their own:
 *
 *      x x x x x x x x  ->  t         8 threads of a row, 2 totals of a block
 *      x x x x x x x x  ->  t
 *
 * If not, neighbouring threads have neighbouring totals, and all rows of the block the same ones:
 *
 *      x x x x x x x x
 *      x x x x x x x x
 *      t t t t t t t t
 *
 * Each thread folds its cells one after the other, in registers; then the block folds its threads
 * as a tree. Where totals are few, the cells of each are cut into pieces along one axis, and a
 * piece leaves a total of its own. device/gpu/fold.c folds these, so that the order of cells
 * depends on the launch alone.
 */
#include "nest/nest.h"

typedef struct job {
  ambit__nest *n;
  const ambit__nest_folds *f;
  unsigned folded; /* axes */
  bool rows;       /* cells of a row of threads have one total */
  int threads;     /* of a block */
} job;

static bool is_folded(const job *j, int axis)
{
  return j->folded >> axis & 1;
}

/* The axis along which the threads of a total share its cells. */
static int shared_axis(const job *j)
{
  return j->rows ? j->f->along : j->f->pieces;
}

static const char *size_of(ambit__nest *n, int axis)
{
  return ambit__nest_text(n, "(hi%d - lo%d)", axis, axis);
}

/* Calls f for every component of a field that cells are folded onto. */
static void each_total(job *j, void (*f)(job *j, int i, int c))
{
  for (int i = 0; i < j->n->rule->nparams; i++)
    for (int c = 0; j->n->bind[i].onto && c < ambit__nest_param(j->n, i)->components; c++)
      f(j, i, c);
}

static const char *name_of(job *j, const char *what, int i, int c)
{
  return ambit__nest_name_of(j->n, what, ambit__nest_param(j->n, i), c);
}

/* ---- the totals of a block ---- */

/* "const long pieces = (hi0 - lo0 + share - 1) / share, totals = pieces * (hi1 - lo1);" */
static void count_totals(job *j)
{
  ambit__nest *n = j->n;
  const char *totals = "pieces";

  ambit__nest_do(n, "const %s pieces = (%s + share - 1) / share", n->integer,
                 size_of(n, j->f->pieces));
  for (int d = 0; d < n->group->ndims; d++)
    if (!is_folded(j, d)) totals = ambit__nest_text(n, "%s * %s", totals, size_of(n, d));
  ambit__nest_do(n, "const %s totals = %s", n->integer, totals);
}

/* The place of the thread's total, and its piece. Threads without one fold no cells. Divisions take
 * as long as many cells, and totals with one piece need one fewer. */
static void find_total(job *j)
{
  ambit__nest *n = j->n;
  const int p = j->f->pieces;
  int first = 0;

  while (first < n->group->ndims && is_folded(j, first))
    first++;

  ambit__nest_do(n, "const %s total = first + %s", n->integer, n->dialect->thread[j->rows]);
  ambit__nest_do(n, "%s rest = total", n->integer);
  for (int d = ambit__nest_last(n); d >= 0; d--) {
    if (is_folded(j, d)) continue;
    ambit__nest_do(n, "const %s beyond%d = %srest / %s%s", n->integer, d,
                   d == first ? "pieces > 1 ? " : "", size_of(n, d), d == first ? " : 0" : "");
    ambit__nest_do(n, "const %s y%d = lo%d + rest - beyond%d * %s", n->integer, d, d, d,
                   size_of(n, d));
    ambit__nest_do(n, "rest = beyond%d", d);
  }
  ambit__nest_do(n, "const %s piece = rest", n->integer);
  ambit__nest_do(n, "const %s from = lo%d + piece * share", n->integer, p);
  ambit__nest_do(n, "const %s below = from + share < hi%d ? from + share : hi%d", n->integer, p, p);
}

static void let_total(job *j, int i, int c)
{
  ambit__nest_do(j->n, "%s %s = %s", ambit__total_type(j->n->group, j->n->dialect, i),
                 name_of(j, "total", i, c), ambit__total_zero(j->n, i));
}

/* ---- cells ---- */

static void put_out(ambit__nest *n, ambit__nest_access a, void *user)
{
  job *j = user;

  if (n->bind[a.param].onto)
    ambit__nest_node(n, NODE_FOLD, .name = name_of(j, "total", a.param, a.component),
                     .value = name_of(j, "out", a.param, a.component), .access = a);
  else
    ambit__nest_node(n, NODE_STORE, .access = a);
}

/* The loop of a thread along a folded axis. */
static void open_axis(job *j, int d, bool inner)
{
  ambit__nest *n = j->n;
  const int side = !j->rows, threads = d == shared_axis(j) ? j->f->threads[side] : 1;
  const bool pieces = d == j->f->pieces;
  const char *from = pieces ? "from" : ambit__nest_text(n, "lo%d", d);

  if (threads > 1) from = ambit__nest_text(n, "%s + %s", from, n->dialect->thread[side]);
  ambit__nest_loop(n, .type = n->integer, .name = ambit__nest_text(n, "y%d", d), .from = from,
                   .below = pieces ? "below" : ambit__nest_text(n, "hi%d", d),
                   .step = ambit__nest_text(n, "%d", threads), .rolled = !inner,
                   .batched = inner ? j->f->batch : 0);
}

static void add_cells(job *j)
{
  ambit__nest *n = j->n;
  const int level = n->level + 1;

  ambit__nest_if(n, "total < totals");
  for (int d = 0; d < n->group->ndims; d++)
    if (is_folded(j, d) && d != j->f->inner) open_axis(j, d, false);
  open_axis(j, j->f->inner, true);
  ambit__nest_let_neighbours(n);
  ambit__nest_let_places(n);
  ambit__nest_let_loads(n, NULL, NULL);
  ambit__nest_let_outs(n);
  ambit__nest_node(n, NODE_RULE, .inside = -1);
  ambit__nest_each_output(n, put_out, j);
  ambit__nest_fold_into(n, "total", "out", false);
  while (n->level >= level)
    ambit__nest_close(n);
}

/* ---- the end of a total ---- */

/* Waits for the other threads of the totals: those of a row of `threads` may be of one warp. */
static void wait_for(job *j, int threads)
{
  (j->rows && threads <= AMBIT__WARP ? ambit__nest_barrier_of_warp : ambit__nest_barrier)(j->n);
}

/* Levels of the tree, from the one of `threads` threads to that of more than `last`. */
static void add_levels(job *j, int i, const char *tree, int threads, int last)
{
  ambit__nest *n = j->n;
  const char *step = j->rows ? "n" : ambit__nest_text(n, "n * %d", j->f->threads[0]);

  if (threads <= last) return;
  ambit__nest_loop(n, .type = "int", .name = "n", .from = ambit__nest_text(n, "%d", threads / 2),
                   .below = ambit__nest_text(n, "%d", last / 2), .by = '/', .step = "2");
  ambit__nest_if(n, "%s < n", n->dialect->thread[!j->rows]);
  ambit__nest_node(n, NODE_FOLD, .name = ambit__nest_text(n, "%s[lane]", tree),
                   .value = ambit__nest_text(n, "%s[lane + %s]", tree, step), .joins = true,
                   .access = {.param = i});
  ambit__nest_close(n);
  wait_for(j, threads);
  ambit__nest_close(n);
}

/* Folds the threads of each total as a tree. */
static const char *fold_threads(job *j, int i, int c)
{
  ambit__nest *n = j->n;
  const int threads = j->f->threads[!j->rows];
  const int inside = j->rows && threads > AMBIT__WARP ? AMBIT__WARP : threads;
  const char *type = ambit__total_type(n->group, n->dialect, i),
             *space = n->dialect->shared_pointer;
  const char *tree = name_of(j, "lanes", i, c);

  ambit__nest_do(n, "%s%s *%s = (%s%s *)lanes", space, type, tree, space, type);
  ambit__nest_do(n, "%s[lane] = %s", tree, name_of(j, "total", i, c));
  wait_for(j, threads);
  add_levels(j, i, tree, threads, inside);
  add_levels(j, i, tree, inside, 1);
  return ambit__nest_text(n, "%s[lane]", tree);
}

/* As a value of the field, if there is one piece and m_to is the field; else as a total. Adding 0
 * makes -0 and 0 the same result. */
static void store_total(job *j, int i, int c)
{
  static const int here[AMBIT_MAX_DIMS];
  ambit__nest *n = j->n;
  const ambit__param *p = ambit__nest_param(n, i);
  const bool real = ambit__type_is_real(p->type), shares = j->f->threads[!j->rows] > 1;
  const char *own = shares ? fold_threads(j, i, c) : name_of(j, "total", i, c);
  const char *at = ambit__nest_distance(n, &(ambit__nest_access){i, c, here, NULL});

  ambit__nest_if(n, "total < totals && %s == 0", n->dialect->thread[!j->rows]);
  ambit__nest_if(n, "%s_to", p->name);
  ambit__nest_do(n, "%s_to[%s_place + (%s)] = (%s)(%s%s)", p->name, p->name, at,
                 ambit__nest_type(n, i), own, real ? " + 0" : "");
  ambit__nest_otherwise(n);
  ambit__nest_do(n, "%s_mem[%s_place + (%s)] = %s", p->name, p->name, at, own);
  ambit__nest_close(n);
  ambit__nest_close(n);
  if (shares) wait_for(j, j->f->threads[!j->rows]);
}

/* "const long r_place = r_o + piece * r_s0 + y1 * r_s1" */
static void let_places(job *j)
{
  ambit__nest *n = j->n;

  for (int i = 0; i < n->rule->nparams; i++) {
    const char *name = ambit__nest_name(n, i), *at;

    if (!n->bind[i].onto) continue;
    at = ambit__nest_text(n, "%s_o + piece * %s_s%d", name, name, j->f->pieces);
    for (int d = 0; d < n->group->ndims; d++)
      if (!is_folded(j, d)) at = ambit__nest_text(n, "%s + y%d * %s_s%d", at, d, name, d);
    ambit__nest_do(n, "const %s %s_place = %s", n->integer, name, at);
  }
}

void ambit__nest_folded(ambit__nest *n, const ambit__nest_folds *f)
{
  const unsigned folded = ambit__group_folded(n->group);
  job j = {.n = n,
           .f = f,
           .folded = folded,
           .rows = folded >> f->along & 1,
           .threads = f->threads[0] * f->threads[1]};
  const int each = f->threads[j.rows];

  if (f->threads[!j.rows] > 1) {
    ambit__nest_node(n, NODE_ARRAY, .type = n->integer, .name = "lanes", .size = {j.threads},
                     .shared = true);
    ambit__nest_do(n, "const int lane = %s * %d + %s", n->dialect->thread[1], f->threads[0],
                   n->dialect->thread[0]);
  }
  count_totals(&j);
  ambit__nest_loop(
      n, .type = n->integer, .name = "first",
      .from = ambit__nest_text(n, "%s * %d", n->dialect->block[0], each), .below = "totals",
      .step = ambit__nest_text(n, "%s * %d", n->dialect->blocks[0], each), .rolled = true);
  find_total(&j);
  each_total(&j, let_total);
  add_cells(&j);
  let_places(&j);
  each_total(&j, store_total);
  ambit__nest_close(n);
}
