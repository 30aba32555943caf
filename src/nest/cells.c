/* SPDX-License-Identifier: BSD-3-Clause */
/* cells.c - one cell after the other.
 *
 * In C this is the nest that a person would write: a loop per axis, on any number of axes, and the
 * compiler makes vectors of the innermost. Where a rule tests the place of its cell, the loop along
 * a row is in three pieces, and the middle one, of the cells far from all faces, makes no tests.
 *
 * On a GPU a thread computes one cell at a time. The last axis lies along the threads of a warp, so
 * that memory accesses coalesce; the axis before it lies along y, and all others together along z:
 *
 *      axis last      x   threads 0 ... 63, blocks of 64 cells
 *      axis last - 1  y   threads 0 ... 3
 *      the rest       z   one thread, blocks counted in C order
 *
 * With more than three axes, finding a thread's place takes divisions. It then computes several
 * cells one after the other along axis last - 2.
 *
 * Here cells far from all faces have a branch of their own: D3Q19 in halves with 18 tests took
 * three times as long as without them on an H200.
 */
#include "nest/nest.h"

#include "codegen/flat.h"

enum { WARP = 32 }; /* threads that take a branch together */

static int last_of(const ambit__nest *n)
{
  return n->group->ndims - 1;
}

static bool reduces(const ambit__nest *n)
{
  for (int i = 0; i < n->rule->nparams; i++)
    if (ambit__nest_is_reduction(n, i)) return true;
  return false;
}

/* ---- in C: variables named like the parameters of a kernel ---- */

static void let_field(ambit__nest *n, int i)
{
  const ambit__param *p = ambit__nest_param(n, i);
  const char *name = p->name;

  ambit__nest_let(
      n, ambit__nest_text(n, "%s%s *", p->is_written ? "" : "const ", ambit__nest_type(n, i)),
      ambit__nest_text(n, "%s%s_mem", n->bind[i].shared ? "" : "restrict ", name),
      ambit__nest_text(n, "call->origin[%d]", i));
  ambit__nest_let_integer(n, ambit__nest_text(n, "%s_o", name), "0");
  for (int d = 0; d < n->group->ndims - n->bind[i].contiguous; d++)
    ambit__nest_let_integer(n, ambit__nest_text(n, "%s_s%d", name, d),
                            ambit__nest_text(n, "call->stride[%d][%d]", i, d));
  if (p->components > 1)
    ambit__nest_let_integer(n, ambit__nest_text(n, "%s_c", name),
                            ambit__nest_text(n, "call->component[%d]", i));
}

static void let_axes(ambit__nest *n, const char *name, int axes)
{
  for (int d = 0; d < axes; d++)
    ambit__nest_let_integer(n, ambit__nest_text(n, "%s%d", name, d),
                            ambit__nest_text(n, "call->%s[%d]", name, d));
}

/* The types in which the results of a row are folded, and rows. */
static ambit_type part_type(const ambit__param *p)
{
  return p->reduce == REDUCE_SUM && !ambit__type_is_real(p->type) ? AMBIT_I64 : p->type;
}

static void let_param(ambit__nest *n, int i)
{
  const ambit__param *p = ambit__nest_param(n, i);
  const char *type = ambit__nest_type(n, i);

  if (ambit__nest_is_field(n, i))
    let_field(n, i);
  else if (ambit__nest_is_reduction(n, i))
    ambit__nest_let(n, ambit__nest_text(n, "%s *", n->dialect->types[ambit__type_total(p->type)]),
                    ambit__nest_text(n, "%s_total", p->name),
                    ambit__nest_text(n, "call->origin[%d]", i));
  else
    ambit__nest_let(n, ambit__nest_text(n, "const %s", type), ambit__nest_text(n, "%s_v", p->name),
                    ambit__nest_text(n, "*(const %s *)call->origin[%d]", type, i));
}

static void let_call(ambit__nest *n)
{
  for (int i = 0; i < n->rule->nparams; i++)
    let_param(n, i);
  let_axes(n, "lo", n->group->ndims);
  let_axes(n, "hi", n->group->ndims);
  let_axes(n, "offset", n->group->ndims);
  let_axes(n, "extent", n->group->ndims);
  ambit__nest_let_integer(n, "step", "call->step");
  ambit__nest_add(n, (ambit__node){.kind = NODE_SHARED});
}

/* ---- in C: rows ---- */

/* Folds one variable of every reduction into another; both formats take its name. */
static void fold_into(ambit__nest *n, const char *to, const char *from, bool total)
{
  for (int i = 0; i < n->rule->nparams; i++) {
    const ambit__param *p = ambit__nest_param(n, i);

    if (ambit__nest_is_reduction(n, i))
      ambit__nest_add(
          n, (ambit__node){.kind = NODE_FOLD,
                           .name = ambit__nest_text(n, "%s%s_%s", total ? "*" : "", p->name, to),
                           .value = ambit__nest_text(n, "%s_%s", p->name, from),
                           .wide = total ? ambit__type_total(p->type) : part_type(p),
                           .access = {.param = i}});
  }
}

/* The rule, in a cell where all tests of its place are made (0), have known values (1), or there
 * are none (-1). */
static void add_body(ambit__nest *n, int inside, const char *into)
{
  if (inside >= 0) ambit__nest_do(n, ambit__nest_text(n, "enum { inside = %d }", inside));
  ambit__nest_let_loads(n);
  ambit__nest_let_outs(n);
  ambit__nest_add(n, (ambit__node){.kind = NODE_RULE, .inside = inside});
  ambit__nest_store_outs(n);
  fold_into(n, into, "out", false);
}

/* Whether vectors may be made along rows: not if one parameter writes what another one reads. */
static bool is_independent(const ambit__nest *n)
{
  for (int i = 0; i < n->rule->nparams; i++)
    if (n->bind[i].shared) return false;
  return true;
}

/* Cells from .. below - 1 of a row. */
static void add_cells(ambit__nest *n, const char *from, const char *below, int inside)
{
  ambit__nest_open(n, (ambit__node){.kind = NODE_LOOP,
                                    .type = n->integer,
                                    .name = ambit__nest_text(n, "y%d", last_of(n)),
                                    .from = from,
                                    .below = below,
                                    .how = is_independent(n) ? LOOP_VECTOR : LOOP_SERIAL,
                                    .folds = reduces(n)});
  ambit__nest_let_places(n);
  add_body(n, inside, "part");
  ambit__nest_close(n);
}

/* Cells m0 .. m1 - 1 of the row are far enough from all faces. */
static void let_middle(ambit__nest *n, const int *low, const int *high)
{
  const int x = last_of(n);
  const char *inner = "1";

  for (int d = 0; d < x; d++) {
    if (low[d]) inner = ambit__nest_text(n, "%s & (offset%d + y%d >= %d)", inner, d, d, low[d]);
    if (high[d])
      inner = ambit__nest_text(n, "%s & (offset%d + y%d < extent%d - %d)", inner, d, d, d, high[d]);
  }
  ambit__nest_let_integer(n, "inner", inner);
  ambit__nest_let_integer(n, "b0",
                          ambit__nest_text(n, "inner ? %d - offset%d : hi%d", low[x], x, x));
  ambit__nest_let_integer(
      n, "b1", ambit__nest_text(n, "inner ? extent%d - %d - offset%d : hi%d", x, high[x], x, x));
  ambit__nest_let_integer(
      n, "m0", ambit__nest_text(n, "b0 < lo%d ? lo%d : b0 < hi%d ? b0 : hi%d", x, x, x, x));
  ambit__nest_let_integer(n, "m1",
                          ambit__nest_text(n, "b1 < m0 ? m0 : b1 < hi%d ? b1 : hi%d", x, x));
}

static void add_row(ambit__nest *n)
{
  const char *lo = ambit__nest_text(n, "lo%d", last_of(n));
  const char *hi = ambit__nest_text(n, "hi%d", last_of(n));
  int low[AMBIT_MAX_DIMS] = {0}, high[AMBIT_MAX_DIMS] = {0};

  for (int i = 0; i < n->rule->nparams; i++)
    if (ambit__nest_is_reduction(n, i))
      ambit__nest_let_identity(n, i, n->dialect->types[part_type(ambit__nest_param(n, i))],
                               ambit__nest_text(n, "%s_part", ambit__nest_param(n, i)->name));
  if (ambit__rule_tests(n->rule, true, low, high)) {
    let_middle(n, low, high);
    add_cells(n, lo, "m0", 0);
    add_cells(n, "m0", "m1", 1);
    add_cells(n, "m1", hi, 0);
  } else {
    add_cells(n, lo, hi, -1);
  }
  fold_into(n, "total", "part", true);
}

void ambit__nest_cells(ambit__nest *n)
{
  const int last = last_of(n);

  n->loads_first = ambit__rule_branches(n->rule);
  ambit__hoists_begin(&n->hoists, n->rule);
  let_call(n);
  for (int d = 0; d < last; d++)
    ambit__nest_open(n, (ambit__node){.kind = NODE_LOOP,
                                      .type = n->integer,
                                      .name = ambit__nest_text(n, "y%d", d),
                                      .from = ambit__nest_text(n, "lo%d", d),
                                      .below = ambit__nest_text(n, "hi%d", d)});
  add_row(n);
  for (int d = 0; d < last; d++)
    ambit__nest_close(n);
}

/* ---- on GPUs ---- */

/* The loop along y is the innermost, so that a thread steps from row to row. Unrolling would
 * compute the trip count, by a division. */
static void open_axis(ambit__nest *n, int axis, int along, int threads)
{
  ambit__nest_open(n, (ambit__node){.kind = NODE_LOOP,
                                    .type = n->integer,
                                    .name = ambit__nest_text(n, "y%d", axis),
                                    .from = ambit__nest_text(n, "lo%d", axis),
                                    .below = ambit__nest_text(n, "hi%d", axis),
                                    .how = LOOP_LAUNCH,
                                    .along = along,
                                    .threads = threads,
                                    .rolled = true});
}

/* All axes but the last two, counted together, the last of them in pieces of `walk` cells: z is
 * split again into y0, y1, ..., and the piece from .. below - 1. */
static void open_planes(ambit__nest *n, int axes, int walk)
{
  const int w = axes - 1;
  const char *planes = "pieces";

  ambit__nest_let_integer(n, "pieces",
                          ambit__nest_text(n, "(hi%d - lo%d + %d) / %d", w, w, walk - 1, walk));
  for (int d = 0; d < w; d++)
    planes = ambit__nest_text(n, "%s * (hi%d - lo%d)", planes, d, d);
  ambit__nest_let_integer(n, "planes", planes);
  ambit__nest_open(n, (ambit__node){.kind = NODE_LOOP,
                                    .type = n->integer,
                                    .name = "z",
                                    .below = "planes",
                                    .how = LOOP_LAUNCH,
                                    .along = 2,
                                    .threads = 1});
  ambit__nest_let_integer(n, "from", ambit__nest_text(n, "lo%d + z %% pieces * %d", w, walk));
  ambit__nest_let_integer(
      n, "below", ambit__nest_text(n, "from + %d < hi%d ? from + %d : hi%d", walk, w, walk, w));
  ambit__nest_let(n, n->integer, "rest", "z / pieces");
  for (int d = w - 1; d >= 0; d--) {
    ambit__nest_let_integer(n, ambit__nest_text(n, "y%d", d),
                            ambit__nest_text(n, "lo%d + rest %% (hi%d - lo%d)", d, d, d));
    if (d) ambit__nest_do(n, ambit__nest_text(n, "rest /= hi%d - lo%d", d, d));
  }
}

/* "1 & (i0 >= 1) & (i0 < extent0 - 1)": no test along an axis is 1. Along the last axis, for all
 * threads of a warp, as one that takes both branches is slower than in either. */
static const char *inside_of(ambit__nest *n, const int *low, const int *high, int threads)
{
  const int warp = (threads < WARP ? threads : WARP) - 1;
  const char *inside = "1";

  for (int d = 0; d <= last_of(n); d++) {
    const int beside = d == last_of(n) ? warp : 0;
    const char *i = ambit__nest_text(n, "i%d", d);

    if (beside) i = ambit__nest_text(n, "%s - (%s & %d)", i, n->dialect->thread[0], beside);
    if (low[d]) inside = ambit__nest_text(n, "%s & (%s >= %d)", inside, i, low[d]);
    if (high[d])
      inside = ambit__nest_text(n, "%s & (%s < extent%d - %d)", inside, i, d, high[d] + beside);
  }
  return inside;
}

void ambit__nest_cells_launched(ambit__nest *n, const int threads[2], int walk)
{
  const int ndims = n->group->ndims, outer = ndims - 2;
  int low[AMBIT_MAX_DIMS] = {0}, high[AMBIT_MAX_DIMS] = {0};

  if (outer == 1) open_axis(n, 0, 2, 1);
  if (outer > 1) open_planes(n, outer, walk);
  open_axis(n, ndims - 1, 0, threads[0]);
  ambit__nest_let_wraps(n);
  if (ndims > 1) open_axis(n, ndims - 2, 1, threads[1]);
  if (outer > 1)
    ambit__nest_open(n, (ambit__node){.kind = NODE_LOOP,
                                      .type = n->integer,
                                      .name = ambit__nest_text(n, "y%d", outer - 1),
                                      .from = "from",
                                      .below = "below"});
  ambit__nest_let_places(n);
  if (ambit__rule_tests(n->rule, true, low, high)) {
    ambit__nest_open(n,
                     (ambit__node){.kind = NODE_IF, .value = inside_of(n, low, high, threads[0])});
    add_body(n, 1, "total");
    ambit__nest_otherwise(n);
    add_body(n, 0, "total");
    ambit__nest_close(n);
  } else {
    add_body(n, -1, "total");
  }
  while (n->level)
    ambit__nest_close(n);
}
