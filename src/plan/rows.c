/* SPDX-License-Identifier: BSD-3-Clause */
/* rows.c - one sweep over a box, or over the chunks of a sparse grid, a few rows at a time, a
 * vector of cells at a time: a nest of nest/rows.c. Here is the choice of its numbers. */
#include "codegen/flat.h"
#include "nest/factors.h"
#include "nest/nest.h"
#include "plan/emit.h"
#include "plan/fitted.h"

#include <stdlib.h>

enum {
  MOST_WORK = 512,  /* limits the reads in the text of one block of rows, for compile time */
  LEAST_TERMS = 20, /* of a sum that is factored; */
  MANY_TERMS = 100, /* on x86 */
  LONG_RUN = 160,   /* cells: non-temporal stores of shorter runs on sparse grids lose */
  MOST_LONE = 20,   /* rows of one launch that share no load */
  MOST_PLAIN = 16,  /* components that are written together through the caches, where stores past
                     * them are no faster: D3Q19 takes 1.7 times as long */
  MOST_LINES = 8,   /* of a sweep along the last axis, at a time */
  PIECE = 1024,     /* strips are multiples of so many cells */
  SHORT_ROW = 320,  /* bytes: such rows may follow each other without gaps (grid/layout.c), and */
  TINY_ROW = 128,   /* of these one is computed after the other, as they lie in memory */
  FAR = 8           /* cells from the first to the last read along an axis: radius 4 */
};

/* ---- choice of a plan ---- */

/* Components that are stored in each cell. */
static int count_writes(const ambit__group *g)
{
  const ambit__rule *rule = g->rule;
  int n = 0;

  for (int i = 0; i < rule->nparams; i++)
    for (int c = 0; rule->params[i].kind == PARAM_FIELD && c < rule->params[i].components; c++)
      n += rule->params[i].writes[c] && !g->bind[i].onto;
  return n;
}

/* Bytes of the values of all fields in `cells` cells. */
static double touched(const ambit__rule *rule, double cells)
{
  return ambit__price_of(rule).bytes * cells;
}

/* Cells from the first to the last read of component c along the axis; -1: it is not read. */
static int span(const ambit__param *p, int c, int axis)
{
  const int *low = NULL, *high = NULL;

  for (int i = 0; i < p->nreads; i++) {
    const int *at = &p->reads[i].offset[axis];

    if (p->reads[i].component != c) continue;
    if (!low || *at < *low) low = at;
    if (!high || *at > *high) high = at;
  }
  return low ? *high - *low : -1;
}

/* The same of the component that is read furthest: how long values are of use. */
static int reach(const ambit__rule *rule, int axis)
{
  int most = 0;

  for (int i = 0; i < rule->nparams; i++)
    for (int c = 0; rule->params[i].kind == PARAM_FIELD && c < rule->params[i].components; c++) {
      const int r = span(&rule->params[i], c, axis);

      if (r > most) most = r;
    }
  return most;
}

/* Whether the reads along the axis of rows, beside those of another field, leave no registers to
 * share them. On ARM processors (without non-temporal stores) a wave of order 8 in 3-D is 1.12 to
 * 1.32 times as fast one row at a time; with one field alone, or a radius of 2, it is slower. */
static bool is_crowded(const ambit__group *g, const ambit__target *t, int axis)
{
  const ambit__rule *rule = g->rule;
  int fields = 0;

  for (int i = 0; i < rule->nparams; i++)
    fields += rule->params[i].kind == PARAM_FIELD && rule->params[i].nreads > 0;
  return !t->has_nontemporal && g->ndims >= 3 && fields > 1 && reach(rule, axis) >= FAR;
}

/* Components that are read without sharing, and those written: more rows only mean more sequences
 * of addresses to prefetch. */
static int count_lone(const ambit__group *g, int axis)
{
  const ambit__rule *rule = g->rule;
  int n = count_writes(g);

  for (int i = 0; i < rule->nparams; i++)
    for (int c = 0; rule->params[i].kind == PARAM_FIELD && c < rule->params[i].components; c++)
      n += span(&rule->params[i], c, axis) == 0; /* rows share no load of it */
  return n;
}

static double cells_of(const ambit__group *g)
{
  return g->form ? (double)g->active : ambit__group_cells(g);
}

/* Bytes of a row of the widest field that the rule writes. */
static int64_t row_bytes(const ambit__group *g)
{
  const ambit__rule *rule = g->rule;
  int64_t most = 0;

  for (int i = 0; i < rule->nparams; i++) {
    const int64_t size = (int64_t)ambit_type_size(rule->params[i].type);

    if (rule->params[i].kind == PARAM_FIELD && rule->params[i].is_written && size > most)
      most = size;
  }
  return most * g->cells[g->ndims - 1];
}

/* Rows computed together. More rows share more loads, until registers run out. Measured on x86 with
 * 32 vector registers: 8 rows are best for up to 13 reads in 2-D, 4 for more reads and in 3-D. With
 * many coefficients fewer are: the 7-point operator with 7 of them is 1.1 times as fast in 2 rows,
 * the 19 points of Himeno with 13 are 1.5 times as fast in one. So are stars of five and six axes
 * in rows of 24 floats and 13 doubles, 1.2 times. */
static int best_rows(const ambit__group *g, const ambit__target *t)
{
  const ambit__rule *rule = g->rule;
  int writes = count_writes(g);
  int rows = writes > 2                                       ? 1
             : writes == 2                                    ? 2
             : g->ndims == 2 && ambit__rule_reads(rule) <= 13 ? 8
                                                              : 4;
  int axis = g->ndims >= 3 ? g->ndims - 3 : g->ndims - 2;

  if (g->form || is_crowded(g, t, axis)) return 1;
  if (g->ndims > 2 && row_bytes(g) <= TINY_ROW && touched(rule, cells_of(g)) > (double)t->l2)
    return 1;
  while (g->ndims > 1 && rows > 1 &&
         (g->cells[axis] < rows || rows * ambit__rule_reads(rule) > MOST_WORK ||
          rows * count_lone(g, axis) > MOST_LONE))
    rows /= 2;
  return g->ndims > 1 ? rows : 1;
}

/* Whether a weighted sum takes at most 3/5 of the operations if it is factored (nest/factors.h):
 * then rows are computed one at a time. Sums of few terms wait for memory, not for operations. On
 * x86, with non-temporal stores, that is true of more of them, since loads need not be aligned: on
 * a Xeon 27 terms took 1.3 to 1.5 times as long factored, 125 terms 0.5 to 0.8. */
static bool choose_factors(const ambit__group *g, const ambit__target *t, ambit__plan *p)
{
  const int least = t->has_nontemporal ? MANY_TERMS : LEAST_TERMS;
  const bool fits = !g->form && ambit__rule_reads(g->rule) >= least;
  const ambit__binding *bind = g->bind;
  ambit__factors f = {0};
  ambit__sum sum = {0};
  ambit__tap *taps = fits ? ambit__nest_sum(g, &sum) : NULL;

  if (taps && ambit__factors_begin(&f, taps, sum.n, g->ndims - 1) && ambit__factors_is_box(&f) &&
      ambit__factors_save(&f, sum.n)) {
    p->factored = ambit__factors_operations(&f);
    p->terms = sum.n;
  }
  ambit__factors_end(&f);
  if (p->factored &&
      !(bind[sum.from].contiguous && bind[sum.to].contiguous && !bind[sum.from].shared))
    p->factored = 0;
  free(taps);
  return p->factored > 0;
}

/* Cells per cut such that `layers` layers of `bytes_per_cell` fit in half of `cache`; 0: no cut
 * needed. */
static int64_t cut(double layers, double bytes_per_cell, size_t cache, int64_t cells, int64_t unit)
{
  double fit = (double)cache / 2 / (layers * bytes_per_cell);
  int64_t n = (int64_t)fit / unit * unit;

  if (!cache || fit >= (double)cells) return 0;
  return n < unit ? unit : n;
}

/* Keeps the values that the next rows or planes read again in the level 2 cache, as other programs
 * may use level 3. Non-temporal stores take no space in the cache. */
static void choose_cuts(const ambit__group *g, const ambit__target *t, ambit__plan *p)
{
  const ambit__rule *rule = g->rule;
  const int last = g->ndims - 1;
  const double row = touched(rule, cells_of(g) / (ambit__group_cells(g) / (double)g->cells[last]));

  if (g->form && (g->ndims < 3 || !t->has_nontemporal))
    return; /* ARM: 1.05 times as long in 512^3 */
  if (g->ndims == 2 && reach(rule, 0) > 0)
    p->strip = cut(p->rows[0] + reach(rule, 0), touched(rule, 1), t->l2, g->cells[1], PIECE);
  if (g->ndims >= 3 && reach(rule, last - 2) > 0)
    p->block = cut(p->rows[1] + reach(rule, last - 2), row, p->nontemporal ? 2 * t->l2 : t->l2,
                   g->cells[last - 1], 8);
  while (g->form && p->block & (p->block - 1)) /* a power of 2: few plans as activity changes */
    p->block &= p->block - 1;
}

/* Adds a plan with so many rows at a time, with the cuts that go with it. */
static void add_rows(const ambit__group *g, const ambit__target *t, ambit__plan p, int rows,
                     ambit__plan *plans, int *n, int most)
{
  if (*n == most) return;
  p.rows[g->ndims >= 3] = rows;
  choose_cuts(g, t, &p);
  plans[(*n)++] = p;
}

/* Plans for a trial, beside the best one by estimate: one row at a time, or others, and stores that
 * go through the caches instead of past them, or the other way round. */
static void add_variants(const ambit__group *g, const ambit__target *t, const ambit__plan *p,
                         int best, ambit__plan *plans, int *n, int most)
{
  ambit__plan other = *p;

  if (best > 1) add_rows(g, t, *p, 1, plans, n, most);
  if (best > 2) add_rows(g, t, *p, 2, plans, n, most);
  other.nontemporal = !p->nontemporal;
  if (t->has_nontemporal && row_bytes(g) >= SHORT_ROW &&
      touched(g->rule, cells_of(g)) > (double)t->l2)
    add_rows(g, t, other, best, plans, n, most);
}

/* Of a sweep: rows in order, of which carried values stay in the level 2 cache, and none shares
 * loads. Along rows there is nothing to cut, and each cell waits for the one before it: cells of
 * several rows do so together. A recursive filter took 0.4 of the time, one of 2 Xeon cores. */
static void choose_sweep(const ambit__group *g, const ambit__target *t, ambit__plan *p)
{
  const int axis = ambit__sweep_axis(g->sweep), last = g->ndims - 1;
  const int accesses = ambit__rule_reads(g->rule) + count_writes(g);
  const double cell = touched(g->rule, 1);

  p->nontemporal &= axis != last;
  if (axis == last && last > 0) p->rows[0] = MOST_LINES;
  while (p->rows[0] > 1 && (p->rows[0] * accesses > MOST_WORK || p->rows[0] > g->cells[last - 1]))
    p->rows[0] /= 2;
  if (axis == last - 1) p->strip = cut(1, cell, t->l2, g->cells[last], PIECE);
  if (axis < last - 1)
    p->block = cut(1, cell * (double)g->cells[last], t->l2, g->cells[last - 1], 1);
}

static int candidates(const ambit__group *g, const ambit__target *t, ambit__plan *plans, int most)
{
  ambit__plan p = {.strategy = &ambit__strategy_rows, .depth = 1, .rows = {1, 1}};
  const ambit__machine *m = ambit__target_machine(t);
  const double cache = AMBIT__FIT_STAYS * (double)(t->l3 > t->l2 ? t->l3 : t->l2);
  int n = 0;

  p.nontemporal = t->has_nontemporal &&
                  (ambit__machine_stores_past(m, t->threads) || count_writes(g) > MOST_PLAIN) &&
                  touched(g->rule, cells_of(g)) > (m->kept < cache ? m->kept : cache) &&
                  (g->form ? g->run >= LONG_RUN : row_bytes(g) >= SHORT_ROW);
  p.scalar = !ambit__rule_is_flat(g->rule, !g->strict, g->ndims - 1);
  if (g->sweep) {
    choose_sweep(g, t, &p);
    plans[0] = p;
    return 1;
  }
  if (n < most && choose_factors(g, t, &p)) {
    choose_cuts(g, t, &p);
    plans[n++] = p;
    p.factored = p.terms = 0;
    p.strip = p.block = 0;
  }
  add_rows(g, t, p, best_rows(g, t), plans, &n, most);
  if (!g->form) add_variants(g, t, &p, best_rows(g, t), plans, &n, most);
  return n;
}

/* Rough estimate in ns per cell: memory traffic, or operations. Of plans that cost the same the
 * first one is taken. */
static double cost(const ambit__group *g, const ambit__target *t, const ambit__plan *p)
{
  const ambit__price price = ambit__price_bound(g->rule, g->bind, g->ndims);
  const ambit__machine *m = ambit__target_machine(t);
  const double threads = t->threads > 0 ? t->threads : 1;
  double move = price.bytes / ambit__machine_copy(m, threads);
  double work = m->cores * ambit__price_work(&price, m, AMBIT__FIT_WORK);

  if (p->factored) work *= (double)p->factored / p->terms;
  return (move > work ? move : work) / threads / p->depth;
}

static void describe(const ambit__plan *p, ambit__text *t)
{
  ambit__print(t, "(rows %d", p->rows[0] * p->rows[1]);
  if (p->strip) ambit__print(t, " strip %lld", (long long)p->strip);
  if (p->block) ambit__print(t, " block %lld", (long long)p->block);
  if (p->factored) ambit__print(t, " factored %d of %d", p->factored, p->terms);
  ambit__print(t, "%s%s)", p->nontemporal ? " nontemporal" : "", p->scalar ? " scalar" : "");
}

/* Processors without non-temporal stores, ARM, do better with one long loop along the rows: the
 * address computations of many short loops cost more than they save. */
static void emit(const ambit__group *g, const ambit__target *t, const ambit__plan *p,
                 ambit__writer *w)
{
  const ambit__rows rows = {.rows = {p->rows[0], p->rows[1]},
                            .strip = p->strip,
                            .block = p->block,
                            .vectors = t->has_nontemporal,
                            .nontemporal = p->nontemporal,
                            .scalar = p->scalar,
                            .factored = p->factored > 0};
  ambit__nest n;

  ambit__emit_begin(&n, g, t);
  ambit__nest_rows(&n, &rows);
  ambit__emit_end(&n, p, w);
}

const ambit__strategy ambit__strategy_rows = {
    .name = "rows",
    .candidates = candidates,
    .cost = cost,
    .emit = emit,
    .describe = describe,
};
