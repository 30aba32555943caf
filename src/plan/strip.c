/* SPDX-License-Identifier: BSD-3-Clause */
/* strip.c - on a GPU: a warp keeps a strip of the grid in registers, and lanes exchange values.
 *
 * For grids of two or more dimensions with contiguous fields. Every value is loaded once, 16 bytes
 * at a time and long before its use, which keeps more memory accesses in flight than one cell per
 * thread can. See docs/design/0003-strips.md for reasons and measurements.
 *
 *   (strip tile 4x2x4 warps 4 resident 4 depth 1)
 *   (strip sum 4x2 ahead 1 warps 4 resident 4 depth 1)
 *   (strip ring 4x2 ahead 2 warps 12 resident 1 depth 1)
 *
 * The numbers are: cells of a lane in a row, rows of a warp in a plane, planes of a tile or planes
 * loaded ahead, warps per block, blocks per multiprocessor, iterations. Sums keep
 * partial results instead of planes; a ring is in shared memory.
 */
#include "plan/strip.h"
#include "plan/fitted.h"
#include "plan/launch_line.h"
#include "plan/registers.h"

#include "base/integers.h"

#include <math.h>
#include <stdlib.h>

enum {
  WARP = AMBIT__WARP,
  MOST_REGISTERS = 248,   /* per thread */
  MOST_WARPS = 32,        /* useful maximum per multiprocessor */
  FEW_WARPS = 16,         /* fewer per multiprocessor are too few */
  MOST_WORK = 4096,       /* operations in unrolled code */
  OTHERS = 16 << 10,      /* bytes of shared memory for reductions */
  MOST_COLUMNS = 1 << 24, /* where distances of some rows have 32 bits */
  MANY_PLANES = 7,        /* of a sum, to shift */
  LEAST_PLANES = 8,       /* that a warp should have */
  MANY_BYTES = 64,        /* that a cell takes */
  FEW_PLANES = 6,         /* of single bytes: Sobel 1801, with 8 1718; in OpenCL 1805 and 1878 */
  SHORT = 2,              /* bytes of a half */
  ENOUGH_BLOCKS = 4,      /* of which some load while others compute */
  WARPS = 4,              /* of a block; one of 8 leaves more registers unused */
  SUM_WARPS = 8,          /* with sums, whose blocks have more rows in common */
  FEW = 2                 /* with short lanes */
};

/* ---- choice of plans ---- */

/* Whether neighbours of a field are read that other warps may write at the same time. Not those of
 * another colour: they are written, if at all, with the values that they have. */
static bool reads_written(const ambit__rule *rule, int param)
{
  const ambit__param *p = &rule->params[param];
  unsigned axes;

  return p->is_written && p->reads_neighbours &&
         (ambit__rule_spreads(rule) || !ambit__rule_colour(rule, param, &axes));
}

/* Packed rows begin at whole vectors, but not at whole lines. Fields on some axes are read only. */
static bool fields_fit(const ambit__group *g, bool packed)
{
  const ambit__rule *rule = g->rule;
  int n = 0;

  for (int i = 0; i < rule->nparams; i++) {
    const ambit__param *p = &rule->params[i];
    const ambit__binding *b = &g->bind[i];

    if (p->kind != PARAM_FIELD || !b->is_field) continue;
    if (!(b->contiguous || ambit__binding_is_uniform(b, g->ndims)) || (b->packed && !packed) ||
        b->shared || (p->is_written && b->dropped) || reads_written(rule, i))
      return false;
    n++;
  }
  return n > 0;
}

/* Sets the size of a plan's ring, and the planes copied ahead. false: it does not fit. */
static bool fit_ring(const ambit__group *g, const ambit__target *t, const ambit__strip *j,
                     ambit__plan *p)
{
  const size_t others = ambit__group_reduces(g) ? OTHERS : 0;

  p->ring = ambit__strip_ring_bytes(j, g->rule);
  p->ahead = j->ahead;
  return j->ahead > 0 && p->ring + others <= t->shared;
}

/* Computes how many blocks of a plan fit. false: not even one. */
static bool complete(const ambit__group *g, const ambit__target *t, ambit__plan *p)
{
  ambit__strip j;
  bool fits;
  int registers;
  int64_t work;

  if (!ambit__strip_begin(g, p, &j)) return false;
  registers = ambit__registers_of_strip(g, &j);
  p->terms = j.ntaps;
  if (j.factored) p->factored = ambit__factors_operations(&j.factors);
  work = (j.factored ? 2 * p->factored : g->rule->flops + 1) * j.lane * j.rows;
  work *= j.planes ? j.planes : j.moves ? 1 : j.period;
  fits = !p->ring || fit_ring(g, t, &j, p);
  ambit__strip_end(&j);
  if (j.moves && p->ahead > 1) return false; /* only loaded values can be shifted */
  if (!fits || registers > MOST_REGISTERS || work > MOST_WORK) return false;
  p->resident = ambit__registers_blocks(t, WARP * p->threads[1], registers);
  if (p->ring && p->resident > 1) p->resident = 1;
  if (p->resident * p->threads[1] > MOST_WARPS) p->resident = MOST_WARPS / p->threads[1];
  p->wave = p->resident * t->threads;
  return p->resident > 0;
}

/* Whether the box is large enough for the rows and planes of a warp, some of which may lie outside.
 */
static bool has_room(const ambit__group *g, const ambit__plan *p)
{
  const int64_t rows = g->ndims > 2 ? g->cells[g->ndims - 2] : INT64_MAX;
  const int axis = ambit__strip_axis(g);
  const int64_t planes = axis < 0 ? INT64_MAX : g->cells[axis];

  for (int d = g->ndims > 2 ? g->ndims - 3 : 0; d < g->ndims; d++)
    if (g->cells[d] > INT32_MAX / 2) return false;
  if (p->rows[0] > 1 && rows < ambit__strip_block_rows(p)) return false;
  if (p->ring && g->cells[g->ndims - 1] > MOST_COLUMNS) return false;
  if (g->ndims > 2 && !p->ahead && planes / p->rows[1] >= AMBIT__STRIP_BLOCKS) return false;
  return rows >= p->rows[0] + (p->ring ? 2 * AMBIT__STRIP_REACH : 0) &&
         (p->ahead || planes >= p->rows[1] + ambit__strip_overlap(g));
}

/* A form of the strategy: rows of a warp; planes of a tile, or planes loaded ahead; warps per
 * block, 0: as usual. With that many warps, planes go through a ring. */
typedef struct form {
  bool sums;
  int rows, planes, ahead, ring;
} form;

/* As many as the rows of a plane take, with `lanes` in a row. */
static int warps_of(const ambit__group *g, const form *f, int few, int lanes)
{
  int warps = f->sums && g->ndims > 2 ? SUM_WARPS : WARPS;

  if (f->ring) return f->ring;
  while (g->ndims > 2 && warps > 1 &&
         warps / 2 * (WARP / lanes) * f->rows >= g->cells[g->ndims - 2])
    warps /= 2;
  return few ? few : warps;
}

static ambit__packed packed_of(const ambit__target *t)
{
  if (t->minima) return PACKED_SHORTS;
  if (t->dialect->has_lanes) return PACKED_MINIMA;
  return t->dots ? PACKED_DOTS : PACKED_NONE;
}

/* Whether bytes are added up four at a time. In CUDA, too, lanes then load the bytes beside theirs:
 * on an H200 the sum of magnitudes of Sobel has 1935 Gcells/s, and 1833 with exchanges and 6 rows;
 * the mean 1880 and 1797. Pairs and quads are up to 3 % slower so. */
static bool has_dots(const ambit__group *g, ambit__packed packed)
{
  const ambit__rule *rule = g->rule;

  return ambit__strip_packed_cells(g, packed) > 1 && !ambit__rule_is_paired(rule, packed) &&
         ambit__rule_has_dots(rule);
}

/* Lanes of a warp in one row: all, or where they would be more than twice too many, a power of two
 * (not of words of bytes, which lanes exchange). Each lane then has one row of a plane, so that
 * accesses of a warp are close together. On an H200 stars of 4, 5 and 6 axes with rows of 60, 26
 * and 15 cells were 1.4, 1.2 and 1.2 times as fast as with a cell per thread, a star of 1200 x 1200
 * x 8 cells 1.7 times, and 0.8 times that with two rows a lane. */
static int row_lanes(const ambit__group *g, const ambit__target *t, int lane)
{
  int lanes = WARP;

  if (g->ndims < 3 || !lane || ambit__strip_packed_cells(g, packed_of(t)) > 1) return WARP;
  while (lanes > 1 && lanes / 2 * lane >= g->cells[g->ndims - 1])
    lanes /= 2;
  return lanes;
}

static bool is_folded(const ambit__group *g, const ambit__target *t)
{
  return row_lanes(g, t, ambit__strip_lane_cells(g, packed_of(t))) < WARP;
}

static ambit__plan plan_of(const ambit__group *g, const ambit__target *t, const form *f,
                           ambit__packed packed, int lane, int few)
{
  const int lanes = row_lanes(g, t, lane);
  const bool apart = few || !t->dialect->has_lanes || lanes < WARP || has_dots(g, packed) ||
                     ambit__group_reach(g, g->ndims - 1) > 2 * ambit__strip_vector(g);

  return (ambit__plan){.strategy = &ambit__strategy_strip,
                       .depth = 1,
                       .strip = lane && f->ring ? ambit__strip_vector(g) : lane,
                       .rows = {f->rows, f->planes},
                       .threads = {WARP, warps_of(g, f, few, lanes), 1},
                       .lanes = lanes,
                       .sums = f->sums,
                       .ahead = f->ahead,
                       .ring = f->ring > 0,
                       .apart = apart,
                       .packed = packed,
                       .panel = AMBIT__FIT_PANEL * (double)ambit__target_machine(t)->l2};
}

static bool reads_in_place(const ambit__rule *rule)
{
  for (int i = 0; i < rule->nparams; i++)
    if (rule->params[i].is_written && rule->params[i].reads_neighbours) return true;
  return false;
}

/* Whether a form is of use for the group, whatever its registers. */
static bool is_possible(const ambit__group *g, const ambit__target *t, const ambit__plan *p)
{
  if (!p->strip || (p->sums && (g->strict || ambit__strip_packed_cells(g, p->packed) > 1)))
    return false;
  if (p->ring && (p->apart || g->ndims != 3)) return false;
  if (p->ahead && reads_in_place(g->rule)) return false;
  if (p->lanes < WARP && p->rows[0] > 1) return false;
  return (!t->max_threads || WARP * p->threads[1] <= t->max_threads) && has_room(g, p);
}

/* Adds the plans whose lanes have `lane` cells and that fit the registers; `few`: warps of a block
 * in 3-D, 0: as usual. */
static int add_plans(const ambit__group *g, const ambit__target *t, ambit__packed packed, int lane,
                     int few, ambit__plan *plans, int most)
{
  static const form flat[] = {
      {.rows = 1, .planes = 12},
      {.rows = 1, .planes = 8},
      {.rows = 1, .planes = 6},
      {.rows = 1, .planes = 4},
      {.rows = 1, .planes = 2},
      {.rows = 1, .planes = 1},
      {0},
  };
  static const form line[] = {{.rows = 1, .planes = 1}, {0}};
  static const form deep[] = {
      {.rows = 2, .planes = 4},
      {.rows = 2, .planes = 3},
      {.rows = 1, .planes = 4},
      {.rows = 2, .planes = 2},
      {.rows = 1, .planes = 1},
      {.sums = true, .rows = 2, .planes = 1, .ahead = 2},
      {.sums = true, .rows = 2, .planes = 1, .ahead = 1},
      {.sums = true, .rows = 4, .planes = 1, .ahead = 1},
      {.sums = true, .rows = 1, .planes = 1, .ahead = 2},
      {.sums = true, .rows = 1, .planes = 1, .ahead = 1},
      {.rows = 2, .planes = 1, .ahead = 2, .ring = 12},
      {.rows = 2, .planes = 1, .ahead = 3, .ring = 12},
      {.rows = 1, .planes = 1, .ahead = 2, .ring = 16},
      {0},
  };
  const form *const forms[] = {line, flat, deep};
  bool summed = false;
  int n = 0;

  for (const form *f = forms[ambit__min(g->ndims, 3) - 1]; f->rows && n < most; f++)
    for (int factored = f->sums; factored >= 0 && n < most; factored--) {
      ambit__plan p = plan_of(g, t, f, packed, lane, few);

      p.factored = factored;
      /* star r3 in float: 375 Gcells/s by sums, 351 to 375 in a ring */
      if (p.ring && summed && ambit__group_reach(g, g->ndims - 2) <= 3) continue;
      if (!is_possible(g, t, &p) || !complete(g, t, &p)) continue;
      summed = summed || p.sums;
      plans[n++] = p;
      break; /* a sum that can be factored is always faster so */
    }
  return n;
}

/* Whether all fields are halves, or shorts. */
static bool is_short(const ambit__rule *rule)
{
  for (int i = 0; i < rule->nparams; i++)
    if (rule->params[i].kind == PARAM_FIELD && ambit_type_size(rule->params[i].type) != SHORT)
      return false;
  return true;
}

/* Vectors of halves have twice the cells of those of floats, and take twice the registers when they
 * are converted. If none fits, lanes of two cells that load those beside them do, in small blocks:
 * D3Q19 in halves on an H200, 42.1 Gcells/s; with a cell per thread, 36.9. Of other types, shorter
 * lanes, with a register for each byte: D3Q27 in float 87 % of the copy, with a cell per thread 85.
 */
static int candidates(const ambit__group *g, const ambit__target *t, ambit__plan *plans, int most)
{
  ambit__packed packed = packed_of(t);
  int lane = ambit__strip_lane_cells(g, packed), n = add_plans(g, t, packed, lane, 0, plans, most);

  if (n) return n;
  if (is_short(g->rule))
    return g->ndims < 3 || ambit__group_reach(g, g->ndims - 1) > 1
               ? 0
               : add_plans(g, t, packed, 2, FEW, plans, most);
  if (ambit__strip_packed_cells(g, packed) > 1) {
    packed = PACKED_NONE;
    if (ambit__strip_packed_cells(g, packed) > 1) return 0;
    lane = 2 * ambit__strip_lane_cells(g, packed);
  }
  while (!n && lane > 2 && ambit__group_reach(g, g->ndims - 1) <= lane / 2)
    n = add_plans(g, t, packed, lane /= 2, 0, plans, most);
  return n;
}

/* Warps that a multiprocessor should have. The star of 96^3 floats is just large enough: 4.8 us on
 * an H200, with a cell per thread 9.6. Rules of many values keep all busy with a cell per thread,
 * too: D3Q19 with walls, 96^3, 20.6 Gcells/s, in strips 17.2. */
static int busy_warps(const ambit__rule *rule)
{
  return ambit__price_of(rule).bytes > MANY_BYTES ? 16 : 8;
}

/* Whether a box of this size keeps all multiprocessors busy, with several planes for each warp.
 * Rules that read further along a row than two vectors have no lanes: no size is large enough then.
 */
static bool is_large(const ambit__group *g, const ambit__target *t)
{
  const int lane = ambit__strip_lane_cells(g, packed_of(t)), lanes = row_lanes(g, t, lane);
  const int64_t wide = lanes * lane, folds = WARP / lanes;
  const int64_t least = (int64_t)LEAST_PLANES * busy_warps(g->rule) * t->threads;
  int64_t planes;

  if (!wide) return false;
  planes = (g->cells[g->ndims - 1] + wide - 1) / wide;
  for (int d = 0; d < g->ndims - 1; d++)
    planes *= g->cells[d];
  return (lanes == 1 || g->cells[g->ndims - 1] >= wide / 2) && planes / folds >= least;
}

/* Whether the user asks for this strategy, also where it is not the best. */
static bool is_asked(const ambit__group *g)
{
  return g->preferred && ambit__plan_begins(g->preferred, "(strip");
}

/* Not on a processor, which runs threads one after the other. */
static bool applies(const ambit__group *g, const ambit__target *t)
{
  return (!t->is_cpu || is_asked(g)) && (t->max_threads == 0 || t->max_threads >= WARP * 8) &&
         !g->sweep && fields_fit(g, is_folded(g, t)) && (is_large(g, t) || is_asked(g));
}

/* ---- cost ---- */

/* Whether a value is not that of a neighbour along the axes before z. */
static bool is_here(const ambit__strip *j, const ambit__strip_value *s)
{
  for (int d = 0; d < j->z; d++)
    if (s->outer[d]) return false;
  return true;
}

/* Rows loaded by a warp per row stored and field read. Loads at the ends of a strip have few cells,
 * but are accesses all the same. */
static double loads_of(const ambit__strip *j)
{
  const int more = j->planes ? j->planes - 1 : 0;
  double loads = 0;
  int fields = 0;

  for (int i = 0; i < j->nvalues; i++)
    fields += is_here(j, &j->values[i]);
  for (int i = 0; i < j->nvalues; i++)
    for (int q = 0; q < j->values[i].nrows; q++) {
      const ambit__strip_value *s = &j->values[i];
      const ambit__value_row *r = &s->rows[q];
      const double beside = s->vectors ? (double)(s->left + s->right) / j->units : 0.5;

      if (r->is_read) loads += j->planes ? r->high - r->low + 1 + more : 1;
      if (r->has_edges) loads += beside * (j->planes ? r->edge - r->edge_low + 1 + more : 1);
    }
  return loads / (j->rows * (1 + more) * (fields ? fields : 1));
}

static bool is_ahead(const ambit__strip *j, const ambit__value_row *r)
{
  return r->is_read && j->loads[r->load].ahead;
}

/* Bytes that a plan keeps in flight per multiprocessor: a whole tile, or the planes ahead. */
static double bytes_under_way(const ambit__strip *j, const ambit__plan *p, const ambit__rule *r)
{
  double bytes = 0;

  for (int i = 0; i < j->nvalues; i++)
    for (int q = 0; q < j->values[i].nrows; q++)
      bytes += (double)is_ahead(j, &j->values[i].rows[q]) *
               (double)ambit_type_size(r->params[j->values[i].param].type);
  return bytes * WARP * j->lane * (j->planes ? j->planes : p->ahead) * p->resident * p->threads[1];
}

/* Warps that a multiprocessor lacks. Arithmetic in double has half the speed, so half as many
 * suffice. */
static int missing_warps(const ambit__strip *j, const ambit__plan *p, const ambit__rule *r)
{
  const bool is_slow = j->moves && ambit_type_size(r->params[j->values[0].param].type) == 8;
  const int few = (is_slow ? FEW_WARPS / 2 : FEW_WARPS) - p->resident * p->threads[1];

  return few > 0 ? few : 0;
}

/* What each of them costs. Warps of tiles load all they need at once. */
static double warp_cost(const ambit__strip *j)
{
  if (j->planes) return AMBIT__FIT_WARP_TILES;
  return j->moves && j->span > MANY_PLANES ? AMBIT__FIT_WARP_SHIFTS : AMBIT__FIT_WARP;
}

/* Copies of the rows beside a block's, relative to those of a large block. Planes of doubles are
 * copied further ahead where nothing else is loaded: star r4 on an H200 193, 213 and 208 Gcells/s
 * for 2, 3 and 4 planes. */
static double ring_cost(const ambit__strip *j, const ambit__plan *p)
{
  const int best = j->lane == 2 && j->nvalues == 1 ? 3 : 2;

  return AMBIT__FIT_RING + AMBIT__FIT_RING_BESIDE / (p->rows[0] * p->threads[1]) +
         AMBIT__FIT_RING_AHEAD * abs(p->ahead - best);
}

/* Operations of a rule beyond which the core is the limit: the box of radius 2 is slower in
 * tiles. */
static const double MANY_FLOPS = 100;

/* Three dimensions, where a launch has at most half of the blocks that could run: ns per cell. A
 * warp goes through the planes of its chunk one by one, and waits for each. On an H200 that took
 * 0.46 us a plane for the box of radius 1 with 4x2 cells a lane, 0.28 for the star. 0: it has more,
 * or lanes of fewer cells, which were not measured. */
static double idle_ns(const ambit__group *g, const ambit__machine *m, const ambit__plan *p)
{
  const ambit__box box = ambit__box_of_extents(g->ndims, g->cells);
  const double planes = g->ndims < 2 ? 1 : (double)g->cells[ambit__strip_axis(g)];
  const double flops = (double)g->rule->flops;
  const double work = flops * (double)p->strip * p->rows[0];
  ambit__shape s;

  if (g->ndims < 3 || !p->ahead || p->strip < 4 || flops > MANY_FLOPS) return 0;
  ambit__strip_shape(g, p, &box, &s);
  if (2 * s.blocks[0] * s.blocks[1] * s.blocks[2] > p->wave) return 0;
  return (planes / (double)s.blocks[1] + ambit__strip_overlap(g)) * m->chain *
         (AMBIT__FIT_TURN + AMBIT__FIT_WORKED * work) / (double)ambit__box_volume(&box);
}

/* How many times the cache of instructions holds the rule's for the cells that a lane computes in
 * unrolled code; at least 1. */
static double overflow(const ambit__price *price, const ambit__strip *j)
{
  const double each =
      price->flops + AMBIT__FIT_DIVIDES * price->divisions + AMBIT__FIT_CALLS * price->specials;
  const int planes = j->planes ? j->planes : j->moves ? 1 : j->period;

  return j->taps ? 1 : fmax(1, each * j->lane * j->rows * planes / AMBIT__FIT_CODE);
}

/* The work on a cell, with its share of what a thread does beside the rule. */
static double work_ns(const ambit__rule *rule, const ambit__price *price, const ambit__machine *m,
                      const ambit__strip *j)
{
  const int planes = j->planes ? j->planes : LEAST_PLANES;
  double thread = AMBIT__FIT_THREAD;

  for (int i = 0; i < rule->nparams; i++)
    thread += rule->params[i].kind == PARAM_REDUCE ? AMBIT__FIT_FOLD : 0;
  return AMBIT__FIT_WORKS * ambit__price_work(price, m, 1) +
         thread / (j->lane * j->rows * planes * m->fma32);
}

/* What both take. A block alone loads first, and computes then; planes ahead are loaded
 * meanwhile. */
static double together(double memory, double work, const ambit__strip *j, const ambit__plan *p)
{
  const int blocks = j->planes ? p->resident : ENOUGH_BLOCKS;

  return fmax(memory, work) + AMBIT__FIT_ALONE / blocks * fmin(memory, work);
}

/* ns per cell: memory traffic and work. Traffic costs more if many rows are loaded several times,
 * if too few bytes are in flight, if warps that advance along z are far apart, or if there are too
 * few warps, above all for code that shifts many registers. */
static double cost(const ambit__group *g, const ambit__target *t, const ambit__plan *p)
{
  const ambit__rule *rule = g->rule;
  const ambit__machine *m = ambit__target_machine(t);
  const double wanted = AMBIT__FIT_FLIGHT * m->chain * m->copy / m->cores; /* bytes in flight */
  const ambit__price price = ambit__price_bound(rule, g->bind, g->ndims);
  double ns = price.bytes / (AMBIT__FIT_STRIP * m->copy), under_way, loads;
  ambit__strip j;

  if (!ambit__strip_begin(g, p, &j)) return 1e9;
  if (j.ring) {
    ambit__strip_end(&j);
    return ns * ring_cost(&j, p);
  }
  under_way = bytes_under_way(&j, p, rule);
  loads = loads_of(&j);
  if (loads > 2) ns *= 1 + AMBIT__FIT_LOADED * (loads - 2);
  if (j.z > 0) ns = fmax(ns, AMBIT__FIT_LOADS * loads / m->fma32);
  if (under_way > 0 && under_way < wanted) ns *= 0.5 + 0.5 * wanted / under_way;
  if (j.cells > 1 && !j.apart && j.planes > FEW_PLANES && !ambit__rule_is_paired(rule, p->packed))
    ns *= AMBIT__FIT_TALL;
  ns *= 1 + warp_cost(&j) * missing_warps(&j, p, rule);
  if (!j.planes && (p->lanes == WARP || g->ndims == 3)) ns *= AMBIT__FIT_ADVANCES;
  ns = together(ns, work_ns(rule, &price, m, &j), &j, p) * overflow(&price, &j);
  ns = fmax(ns, idle_ns(g, m, p));
  ambit__strip_end(&j);
  return ns;
}

/* ---- the kernel ---- */

extern const char ambit__prelude_bytes[]; /* prelude/bytes.h, embedded by the build */

static ambit__places places_of(const ambit__strip *w, const ambit__rule *rule)
{
  if (w->cells == 2 && ambit__rule_is_shorts(rule)) return PLACES_SHORTS;
  return w->cells > 2 && ambit__rule_is_quads(rule) ? PLACES_QUADS : PLACES_PAIRS;
}

static void emit_kernel(ambit__nest *n, const ambit__plan *p, ambit__strip *j, ambit__writer *w)
{
  ambit__hoists_begin(&n->hoists, n->rule);
  /* PoCL 3.1 fails at a return between barriers of a loop */
  n->ends_late = j->planes > 0 && (n->dialect->has_lanes || !ambit__group_reduces(n->group));
  j->n = n;
  ambit__nest_strip(j);
  ambit__emit_strips(n);
  if (j->cells > 1 && p->packed >= PACKED_MINIMA && !n->dialect->has_lanes)
    ambit__print(&n->prelude, "\n#define AMBIT_MINIMA\n");
  if (j->cells > 1) ambit__print(&n->prelude, "\n%s", ambit__prelude_bytes);
  ambit__emit(n, p, w);
}

static void emit(ambit__nest *n, const ambit__target *t, const ambit__plan *p, ambit__writer *w)
{
  const ambit__rule *rule = n->group->rule;
  ambit__pairs pairs = {0};
  ambit__strip j;

  (void)t;
  if (!ambit__strip_begin(n->group, p, &j)) return;
  pairs.places = places_of(&j, rule);
  pairs.minima = pairs.places != PLACES_QUADS && p->packed >= PACKED_MINIMA;
  pairs.x = j.x;
  j.pairs = &pairs;
  if (p->packed && !ambit__rule_is_paired(rule, p->packed)) pairs.dots = rule;
  if (j.cells == 1 || ambit__pairs_begin(&pairs, rule)) emit_kernel(n, p, &j, w);
  ambit__pairs_end(&pairs);
  ambit__strip_end(&j);
}

static void describe(const ambit__plan *p, ambit__text *t)
{
  if (p->ahead)
    ambit__print(t, "(strip %s %dx%d ahead %d", p->sums ? "sum" : "ring", (int)p->strip, p->rows[0],
                 p->ahead);
  else
    ambit__print(t, "(strip tile %dx%dx%d", (int)p->strip, p->rows[0], p->rows[1]);
  if (p->factored) ambit__print(t, " factored %d of %d", p->factored, p->terms);
  if (p->lanes < WARP) ambit__print(t, " lanes %d", p->lanes);
  ambit__print(t, " warps %d resident %d depth %d)", p->threads[1], p->resident, p->depth);
}

/* A box with few planes computes some beside it (nest/strip/strip.c), which a thin part does not
 * have. Faces thinner than a tile have too few cells for strips to pay off. */
static bool suits(const ambit__group *g, const ambit__plan *p, const int64_t *cells,
                  const int64_t *own)
{
  const int last = g->ndims - 1, z = ambit__strip_axis(g);

  if (p->ring && own[last - 1] < p->rows[0] + 2 * AMBIT__STRIP_REACH) return false;
  if (g->ndims > 2 && cells[last - 1] < p->rows[0]) return false;
  if (p->lanes > 1 && cells[last] < p->lanes * p->strip / 2) return false;
  if (z < 0) return true;
  if (!p->ahead && own[z] < p->rows[1] + ambit__strip_overlap(g)) return false;
  return cells[z] >= LEAST_PLANES || cells[z] >= g->cells[z] ||
         (!p->ahead && cells[z] >= p->rows[1]);
}

/* The cells of one block in a layer of tiles. Chunks have no fixed length. */
static void tile(const ambit__group *g, const ambit__plan *p, int64_t *cells)
{
  const int z = ambit__strip_axis(g);

  if (z >= 0 && !p->ahead) cells[z] = p->rows[1] * (g->ndims > 2 ? 1 : p->threads[1]);
  if (g->ndims > 2) cells[z + 1] = ambit__strip_block_rows(p);
}

/* Chunks are as long as on the box that the plan was made for. Boxes that are too small for a warp
 * (see candidates), or narrower than planned, are excluded. */
static void launch_line(const ambit__group *g, const ambit__plan *p, ambit__launch_line *r)
{
  const int last = g->ndims - 1, lane = (int)p->strip, z = ambit__strip_axis(g);
  int64_t high = p->rows[1] * (g->ndims > 2 ? 1 : p->threads[1]);
  ambit__box box = ambit__box_of_extents(g->ndims, g->cells);
  ambit__shape here;

  ambit__strip_shape(g, p, &box, &here);
  *r = (ambit__launch_line){.ndims = g->ndims,
                            .threads = {p->threads[0], p->threads[1], p->threads[2]},
                            .most = ambit__group_reduces(g) ? AMBIT__GPUCODE_PARTIALS : 0};
  r->least[last] = p->lanes > 1 ? p->lanes * lane / 2 : 1;
  if (g->ndims > 2) r->least[last - 1] = p->rows[0] + (p->ring ? 2 * AMBIT__STRIP_REACH : 0);
  if (z >= 0 && !p->ahead) r->least[z] = p->rows[1] + ambit__strip_overlap(g);
  if (p->ahead) high = (g->cells[z] + here.blocks[1] - 1) / here.blocks[1];
  ambit__launch_line_add(r, 0, last, ambit__strip_align(p) - 1,
                         p->lanes * lane * (z < 0 ? p->threads[1] : 1));
  if (g->ndims > 2) ambit__launch_line_add(r, 0, last - 1, 0, ambit__strip_block_rows(p));
  if (z >= 0) ambit__launch_line_add(r, 1, z, 0, high);
  for (int d = 0; d < z; d++)
    ambit__launch_line_add(r, 2, d, 0, 1);
}

const ambit__strategy ambit__strategy_strip = {
    .name = "strip",
    .applies = applies,
    .candidates = candidates,
    .cost = cost,
    .emit = emit,
    .describe = describe,
    .shape = ambit__strip_shape,
    .suits = suits,
    .tile = tile,
    .launch_line = launch_line,
};
