/* SPDX-License-Identifier: BSD-3-Clause */
/* rows.c - one sweep over a box, or over the chunks of a sparse grid, a few rows at a time, a
 * vector of cells at a time: a nest of nest/rows.c. Here is the choice of its numbers. */
#include "base/integers.h"
#include "codegen/flat.h"
#include "nest/factors.h"
#include "nest/nest.h"
#include "plan/emit.h"
#include "plan/fitted.h"

#include <stdlib.h>
#include <string.h>

enum {
  MOST_WORK = 512,  /* limits the reads in the text of one block of rows, for compile time */
  LEAST_TERMS = 20, /* of a sum that is factored; */
  MANY_TERMS = 100, /* on x86 */
  LONG_RUN = 160,   /* cells: non-temporal stores of shorter runs on sparse grids lose */
  MOST_LONE = 20,   /* rows of one launch that share no load */
  MOST_WALKED = 22, /* rows of all fields that a launch reads or writes, which caches prefetch */
  MOST_PLAIN = 16,  /* components that are written together through the caches, where stores past
                     * them are no faster: D3Q19 takes 1.7 times as long */
  MOST_LINES = 8,   /* of a sweep along the last axis, at a time */
  PIECE = 1024,     /* strips are multiples of so many cells */
  SHORT_ROW = 320,  /* bytes: such rows may follow each other without gaps (grid/layout.c), and */
  TINY_ROW = 128,   /* of these one is computed after the other, as they lie in memory */
  FAR = 8           /* cells from the first to the last read along an axis: radius 4 */
};

/* ---- choice of a plan ---- */

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

/* The components of all fields, as rows that follow each other along an axis access them. */
typedef struct accesses {
  int written; /* components that are stored in each cell */
  int reach;   /* span of the component that is read furthest: how long values are of use */
  int lone;   /* read without sharing, or written: more rows are only more sequences of addresses */
  int each;   /* sequences of addresses that each row has, */
  int beside; /* and those that a block of rows has beside them */
} accesses;

static accesses accesses_along(const ambit__group *g, int axis)
{
  const ambit__rule *rule = g->rule;
  accesses a = {0};

  for (int i = 0; i < rule->nparams; i++)
    for (int c = 0; rule->params[i].kind == PARAM_FIELD && c < rule->params[i].components; c++) {
      const bool writes = rule->params[i].writes[c] && !g->bind[i].onto;
      const int reads = span(&rule->params[i], c, axis);

      a.written += writes;
      a.lone += writes + (reads == 0);
      a.each += writes || reads >= 0;
      a.beside += ambit__max(reads, 0);
      a.reach = ambit__max(a.reach, reads);
    }
  return a;
}

/* Whether the reads along the axis of rows, beside those of another field, leave no registers to
 * share them. On ARM processors (without non-temporal stores) a wave of order 8 in 3-D is 1.12 to
 * 1.32 times as fast one row at a time; with one field alone, or a radius of 2, it is slower. */
static bool is_crowded(const ambit__group *g, const ambit__target *t, const accesses *a)
{
  const ambit__rule *rule = g->rule;
  int fields = 0;

  for (int i = 0; i < rule->nparams; i++)
    fields += rule->params[i].kind == PARAM_FIELD && rule->params[i].nreads > 0;
  return !t->has_nontemporal && g->ndims >= 3 && fields > 1 && a->reach >= FAR;
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
 * in rows of 24 floats and 13 doubles, 1.2 times. A shallow water step of four fields, 35 rows in 8
 * at a time, takes 0.83 of the time in 4. */
static int best_rows(const ambit__group *g, const ambit__target *t)
{
  const ambit__rule *rule = g->rule;
  const int axis = ambit__max(g->ndims >= 3 ? g->ndims - 3 : g->ndims - 2, 0);
  const accesses a = accesses_along(g, axis);
  int rows = a.written > 2                                    ? 1
             : a.written == 2                                 ? 2
             : g->ndims == 2 && ambit__rule_reads(rule) <= 13 ? 8
                                                              : 4;

  if (g->form || is_crowded(g, t, &a)) return 1;
  if (g->ndims > 2 && row_bytes(g) <= TINY_ROW && touched(rule, cells_of(g)) > (double)t->l2)
    return 1;
  while (g->ndims > 1 && rows > 1 &&
         (g->cells[axis] < rows || rows * ambit__rule_reads(rule) > MOST_WORK ||
          rows * a.lone > MOST_LONE || rows * a.each + a.beside > MOST_WALKED))
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
  const int last = g->ndims - 1, above = g->ndims >= 3 ? last - 2 : 0;
  const int reach = accesses_along(g, above).reach;
  const double row = touched(rule, cells_of(g) / (ambit__group_cells(g) / (double)g->cells[last]));

  if (g->form && (g->ndims < 3 || !t->has_nontemporal))
    return; /* ARM: 1.05 times as long in 512^3 */
  if (g->ndims == 2 && reach > 0)
    p->strip = cut(p->rows[0] + reach, touched(rule, 1), t->l2, g->cells[1], PIECE);
  if (g->ndims >= 3 && reach > 0)
    p->block =
        cut(p->rows[1] + reach, row, p->nontemporal ? 2 * t->l2 : t->l2, g->cells[last - 1], 8);
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
  const int values = ambit__rule_reads(g->rule) + accesses_along(g, axis).written;
  const double cell = touched(g->rule, 1);

  p->nontemporal &= axis != last;
  if (axis == last && last > 0) p->rows[0] = MOST_LINES;
  while (p->rows[0] > 1 && (p->rows[0] * values > MOST_WORK || p->rows[0] > g->cells[last - 1]))
    p->rows[0] /= 2;
  if (axis == last - 1) p->strip = cut(1, cell, t->l2, g->cells[last], PIECE);
  if (axis < last - 1)
    p->block = cut(1, cell * (double)g->cells[last], t->l2, g->cells[last - 1], 1);
}

/* ---- values that neighbouring cells have in common (kernel/repeats.c) ---- */

enum {
  LEAST_FLOPS = 24,       /* of a rule that is looked at */
  LONG_TILE = 512,        /* cells of a row */
  LOW_TILE = 8,           /* rows of a tile, at least, */
  HIGH_TILE = 32,         /* and at most */
  MOST_ARRAY = 448 * 1024 /* bytes of the values of a tile: threads have small stacks */
};

/* Whether all results are stored a vector at a time, in fields of 4 bytes or more. */
static bool stores_vectors(const ambit__group *g)
{
  for (int i = 0; i < g->rule->nparams; i++) {
    const ambit__param *p = &g->rule->params[i];
    const ambit__binding *b = &g->bind[i];

    if (p->kind != PARAM_FIELD || !b->is_field) continue;
    if (b->shared || ambit_type_size(p->type) < 4) return false;
    if (p->is_written && (!b->contiguous || b->onto)) return false;
  }
  return true;
}

static bool is_sum(const ambit__group *g)
{
  ambit__sum sum;
  ambit__tap *taps = ambit__nest_sum(g, &sum);

  free(taps);
  return taps != NULL;
}

/* The two rules of a group, if they take clearly less work than one; n 0: they do not. The rule as
 * the user wrote it has more in common than the sums of its normal form. Rows that are computed
 * together share what they have in common already: compilers see that. */
static void find_repeats(const ambit__group *g, const ambit__plan *p, bool counts,
                         ambit__repeats *r)
{
  const ambit__rule *rule = g->rule->written ? g->rule->written : g->rule;
  const ambit__repeats_wish how = {g->ndims, p->rows[0] > 1 ? 1 : 2, g->strict, counts};
  ambit__errors errors = {0};

  *r = (ambit__repeats){0};
  if (rule->flops < LEAST_FLOPS || g->form || g->sweep || g->checks || g->for_people || !g->ndims ||
      rule->nparams == AMBIT_MAX_PARAMS || !stores_vectors(g) || is_sum(g) ||
      !ambit__rule_is_flat(rule, !g->strict, g->ndims - 1))
    return;
  ambit__rule_repeats(&errors, rule, &how, r);
  ambit__errors_clear(&errors); /* no memory: the rule stays whole */
}

static double bytes_of(const ambit__group *g, const ambit__repeats *r,
                       const ambit__repeats_tile *tile)
{
  return (double)ambit_type_size(r->type) * r->n * (double)ambit__repeats_room(r, tile, g->ndims);
}

/* The tiles of repeated values: long rows, which are better to prefetch, and so many of them that
 * their margins are few and the values fit in a quarter of the level 2 cache. MHD with 16 fluxes:
 * tiles of 128 x 16 cells took 1.1 times as long as the rule as it is, 512 x 8 0.8. */
static ambit__repeats_tile tile_of(const ambit__group *g, const ambit__target *t,
                                   const ambit__repeats *r, const ambit__plan *p)
{
  const int last = g->ndims - 1;
  ambit__repeats_tile tile;

  for (int d = 0; d <= last; d++)
    tile.cells[d] = 1;
  if (last > 1) tile.cells[last - 2] = p->rows[1];
  tile.cells[last] = LONG_TILE;
  if (last < 1) return tile;
  for (int64_t rows = LOW_TILE; rows <= HIGH_TILE; rows += p->rows[0]) {
    ambit__repeats_tile higher = tile;

    higher.cells[last - 1] = rows;
    if (rows > LOW_TILE && bytes_of(g, r, &higher) > (double)t->l2 / 4) break;
    tile = higher;
  }
  return tile;
}

static ambit__group part_of(const ambit__group *g, const ambit__rule *rule, const ambit__repeats *r,
                            ambit__binding *bind)
{
  ambit__group part = *g;

  memcpy(bind, g->bind, (size_t)r->param * sizeof *bind);
  bind[r->param] = (ambit__binding){.is_field = true, .contiguous = true, .cached = true};
  part.rule = rule;
  part.bind = bind;
  return part;
}

/* Adds a function to those in front of a nest. */
static void add_function(ambit__nest *to, const char *name, ambit__nest *n)
{
  ambit__writer w = {.text = to->prelude};

  ambit__line(&w, "static void %s(const ambit_compiled_call *call)", name);
  ambit__line(&w, "{");
  w.depth++;
  ambit__nest_print(n, &w);
  ambit__close(&w);
  ambit__print(&w.text, "\n");
  to->prelude = w.text;
  to->calls_own |= ambit__rule_calls_own(n->rule, n->group->ndims - 1);
  ambit__nest_free(n);
}

/* The tiles of a group, in a nest that has begun, and in front of it the functions of the values
 * and of the rest. */
static void emit_tiles(const ambit__group *g, const ambit__repeats *r,
                       const ambit__repeats_tile *tile, const ambit__rows *rows, ambit__nest *to)
{
  const ambit__rows single = {.rows = {1, 1}};
  const char *values = ambit__nest_text(to, "ambit_store%d", r->param);
  const char *rest = ambit__nest_text(to, "ambit_rest%d", r->param);
  ambit__binding bind[AMBIT_MAX_PARAMS];
  ambit__group part = part_of(g, r->values, r, bind);
  ambit__nest n;

  ambit__nest_begin(&n, &part, to->dialect);
  ambit__nest_rows(&n, &single);
  add_function(to, values, &n);
  part.rule = r->rest;
  ambit__nest_begin(&n, &part, to->dialect);
  ambit__nest_rows(&n, rows);
  add_function(to, rest, &n);
  ambit__nest_repeats(to, r, tile, values, rest);
}

/* Rough estimates in ns per cell: memory traffic; operations. */
static double time_to_move(const ambit__group *g, const ambit__target *t)
{
  const double threads = t->threads > 0 ? t->threads : 1;

  return ambit__price_bound(g->rule, g->bind, g->ndims).bytes /
         ambit__machine_copy(ambit__target_machine(t), threads) / threads;
}

static double time_to_work(const ambit__group *g, const ambit__target *t, const ambit__plan *p)
{
  const ambit__price price = ambit__price_bound(g->rule, g->bind, g->ndims);
  const ambit__machine *m = ambit__target_machine(t);
  double work = m->cores * ambit__price_work(&price, m, AMBIT__FIT_WORK);

  if (p->factored) work *= (double)p->factored / p->terms;
  if (p->repeats) work *= p->left;
  return work / (t->threads > 0 ? t->threads : 1);
}

/* Of plans that cost the same the first one is taken. */
static double cost(const ambit__group *g, const ambit__target *t, const ambit__plan *p)
{
  const double move = time_to_move(g, t), work = time_to_work(g, t, p);

  return (move > work ? move : work) / p->depth;
}

/* The plan with tiles, if they pay: memory is not the limit, and the array is not too large for a
 * cache and a stack. */
static bool choose_repeats(const ambit__group *g, const ambit__target *t, ambit__plan *p)
{
  ambit__repeats_tile tile;
  ambit__repeats r;

  if (time_to_work(g, t, p) < time_to_move(g, t)) return false;
  find_repeats(g, p, true, &r);
  if (r.n) tile = tile_of(g, t, &r, p);
  if (r.n && bytes_of(g, &r, &tile) <= (t->l2 < MOST_ARRAY ? (double)t->l2 : MOST_ARRAY)) {
    p->repeats = r.n;
    p->of = r.of;
    p->left = r.left;
    p->strip = p->block = 0;
  }
  ambit__repeats_free(&r);
  return p->repeats > 0;
}

static int candidates(const ambit__group *g, const ambit__target *t, ambit__plan *plans, int most)
{
  ambit__plan p = {.strategy = &ambit__strategy_rows, .depth = 1, .rows = {1, 1}};
  const ambit__machine *m = ambit__target_machine(t);
  const double cache = AMBIT__FIT_STAYS * (double)(t->l3 > t->l2 ? t->l3 : t->l2);
  int n = 0;

  p.nontemporal =
      t->has_nontemporal &&
      (ambit__machine_stores_past(m, t->threads) || accesses_along(g, 0).written > MOST_PLAIN) &&
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
  if (n < most) {
    plans[n] = plans[n - 1];
    if (choose_repeats(g, t, &plans[n])) {
      const ambit__plan whole = plans[n - 1];

      plans[n - 1] = plans[n];
      plans[n++] = whole;
    }
  }
  if (!g->form) add_variants(g, t, &p, best_rows(g, t), plans, &n, most);
  return n;
}

static void describe(const ambit__plan *p, ambit__text *t)
{
  ambit__print(t, "(rows %d", p->rows[0] * p->rows[1]);
  if (p->strip) ambit__print(t, " strip %lld", (long long)p->strip);
  if (p->block) ambit__print(t, " block %lld", (long long)p->block);
  if (p->factored) ambit__print(t, " factored %d of %d", p->factored, p->terms);
  if (p->repeats) ambit__print(t, " repeats %d of %d", p->repeats, p->of);
  ambit__print(t, "%s%s)", p->nontemporal ? " nontemporal" : "", p->scalar ? " scalar" : "");
}

/* Processors without non-temporal stores, ARM, do better with one long loop along the rows: the
 * address computations of many short loops cost more than they save. */
static void emit(ambit__nest *n, const ambit__target *t, const ambit__plan *p, ambit__writer *w)
{
  const ambit__rows rows = {.rows = {p->rows[0], p->rows[1]},
                            .strip = p->strip,
                            .block = p->block,
                            .vectors = t->has_nontemporal,
                            .nontemporal = p->nontemporal,
                            .scalar = p->scalar,
                            .factored = p->factored > 0};
  ambit__repeats repeats = {0};
  ambit__repeats_tile tile;

  if (p->repeats) find_repeats(n->group, p, false, &repeats);
  if (repeats.n) {
    tile = tile_of(n->group, t, &repeats, p);
    emit_tiles(n->group, &repeats, &tile, &rows, n);
  } else {
    ambit__nest_rows(n, &rows);
  }
  ambit__emit(n, p, w);
  ambit__repeats_free(&repeats);
}

const ambit__strategy ambit__strategy_rows = {
    .name = "rows",
    .candidates = candidates,
    .cost = cost,
    .emit = emit,
    .describe = describe,
};
