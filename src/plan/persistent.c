/* SPDX-License-Identifier: BSD-3-Clause */
/* persistent.c - on a GPU: a small grid stays on the chip for many iterations.
 *
 * The grid is cut into as many tiles as the GPU has multiprocessors, at most. A block holds one of
 * them in registers over all iterations of a launch, and exchanges the cells at its border with the
 * blocks beside it after every few iterations. All blocks run at the same time. See
 * docs/design/0013-fused.md.
 *
 *   (persistent 4x6 every 8 warps 16)
 *   (persistent 2x1x8 every 2 warps 16)
 *
 * The numbers are: cells of a lane, its rows, in three dimensions its planes, iterations between
 * two exchanges, if there are any, and warps of a block.
 */
#include "plan/fitted.h"
#include "plan/fused.h"
#include "plan/registers.h"

#include <math.h>

enum {
  MOST_ROWS = 48,
  MOST_DEEP_ROWS = 4,  /* the same in three dimensions */
  MOST_LINES = 64,     /* rows of all planes of a lane */
  MOST_REGISTERS = 255 /* of a thread */
};

/* Instructions of a warp in the time of one; chains in that of an exchange, for each value; in it,
 * of each unit of a lane, and of each cell that a thread fetches, with 16 warps. */
typedef struct rates {
  double issue, exchange, unit, cell;
} rates;

/* In two dimensions, and in three. */
static const rates FLAT = AMBIT__FIT_RESIDENT_FLAT, DEEP = AMBIT__FIT_RESIDENT_DEEP;

/* ---- windows ---- */

/* Cells beside those of the results that an iteration reads along an axis. */
static int reach_along(const ambit__window *j, int axis)
{
  int n = 0;

  for (int v = 0; v < j->flow->nvalues; v++)
    for (int side = 0; side < 2; side++)
      if (j->beside[v].n[axis][side] > n) n = j->beside[v].n[axis][side];
  return n;
}

/* Cuts an axis into as few tiles as possible. false: it cannot be cut so. */
static bool cut(ambit__resident_axis *w, int64_t cells, int reach, int every, bool periodic)
{
  const int64_t layers = (int64_t)reach * every,
                halo = (layers + w->grain - 1) / w->grain * w->grain;
  const int64_t useful = w->cells - 2 * halo;

  w->tiles = 1;
  w->halo = 0;
  if (!periodic && cells <= w->cells) return cells == w->cells || cells % w->unit == 0;
  w->halo = (int)halo;
  if (!every || useful < 1 || (!periodic && useful < halo)) return false;
  w->tiles = (int)((cells + useful - 1) / useful);
  return cells / w->grain / w->tiles * w->grain >= halo;
}

/* Whether the layers at a face that a stage leaves out, and the cells that those outside are copies
 * of, belong to the lanes, groups and planes at the face. */
static bool faces_fit(const ambit__resident *j, const ambit__resident_axis *w)
{
  const ambit__window *t = &j->tile;

  for (int side = 0; side < 2; side++) {
    if (ambit__flow_inset(t->flow, w->axis, side) > w->unit) return false;
    for (int v = 0; v < t->flow->nvalues; v++) {
      const ambit__window_value *f = &t->values[v];
      const int reach[][2] = {{f->low, f->high}, {f->down, f->up}, {f->left, f->right}};
      const ambit_boundary kind = ambit__flow_kind(t->flow, v, w->axis, side);

      if (ambit__flow_mirror(kind, reach[w - j->axes][side]) > w->unit) return false;
    }
  }
  return true;
}

static void make_windows(const ambit__group *g, const ambit__plan *p, ambit__resident *j)
{
  const ambit__window *t = &j->tile;
  const int lane = t->lane, planes = t->planes ? t->planes : 1;

  j->axes[0] = (ambit__resident_axis){.axis = t->z, .cells = planes, .unit = planes, .tiles = 1};
  j->axes[1] = (ambit__resident_axis){
      .axis = t->y, .cells = p->threads[1] * t->rows, .unit = t->rows, .tiles = 1};
  j->axes[2] =
      (ambit__resident_axis){.axis = t->x, .cells = AMBIT__WARP * lane, .unit = lane, .tiles = 1};
  j->axes[0].grain = j->axes[1].grain = 1;
  j->axes[2].grain = g->cells[t->x] % lane ? 1 : lane;
}

/* All windows, or in three dimensions, where the planes are not chosen yet, those across z. false:
 * the plan does not suit the grid or the stages. */
static bool begin(const ambit__group *g, const ambit__plan *p, bool across, ambit__resident *j)
{
  const ambit__window_form form = ambit__fused_form(p);

  *j = (ambit__resident){.every = p->ahead};
  if (!ambit__window_begin_tile(g, &form, &j->tile)) return false;
  make_windows(g, p, j);
  for (int i = across || g->ndims == 2; i < 3; i++) {
    ambit__resident_axis *w = &j->axes[i];
    const bool periodic = g->flow->periodic[w->axis];

    j->tile.around[i] = periodic && j->tile.planes && g->cells[w->axis] == w->cells;
    if (!faces_fit(j, w) || !cut(w, g->cells[w->axis], reach_along(&j->tile, w->axis), p->ahead,
                                 periodic && !j->tile.around[i]))
      return false;
  }
  return true;
}

/* ---- plans ---- */

static bool applies(const ambit__group *g, const ambit__target *t)
{
  const ambit__flow *p = g->flow;

  if (t->kind != TARGET_GPU || !t->dialect->has_lanes) return false;
  if (!p->loops || g->ndims < 2 || g->ndims > 3) return false;
  for (int d = 0; d < g->ndims; d++)
    if (p->cut[d]) return false;
  for (int i = 0; i < g->rule->nparams; i++)
    if (g->rule->params[i].kind == PARAM_FIELD &&
        (!g->bind[i].contiguous || g->bind[i].packed || g->bind[i].dropped))
      return false;
  return true;
}

/* Of a lane. */
static int cells_of(const ambit__window *j)
{
  return (j->planes ? j->planes : 1) * j->rows * j->lane;
}

static int most_registers(const ambit__target *t, const ambit__plan *p)
{
  const int n = ambit__registers_most(t, AMBIT__WARP * p->threads[1]);

  return n < MOST_REGISTERS ? n : MOST_REGISTERS;
}

/* ---- time ---- */

static const rates *rates_of(const ambit__window *j)
{
  return j->planes ? &DEEP : &FLAT;
}

/* Time of a warp, in instructions, for the rows of a value that it shares with others. */
static double flat_share(const ambit__window *j, int value)
{
  const int words = ambit__flow_words(j->flow, value) * j->lane;

  return (words > 4 ? AMBIT__FIT_CONFLICT : AMBIT__FIT_SHARE) * 2 * words *
         (j->values[value].up + j->values[value].down);
}

/* The same in a brick, and for cells of adjacent lanes. */
static double deep_share(const ambit__window *j, int value)
{
  const ambit__window_value *f = &j->values[value];
  const int beside = f->up + f->down, published = beside < j->rows ? beside : j->rows;
  const int passed = (f->left + f->right) * (j->rows + (f->corners ? beside : 0));

  return AMBIT__FIT_DEEP_SHARE * ambit__flow_words(j->flow, value) * j->planes *
         (j->lane * (published + beside) + passed);
}

/* Time of a warp in one iteration, in instructions. */
static double warp_time(const ambit__group *g, const ambit__window *j)
{
  double n = 10, shares = 0;

  for (int i = 0; i < j->flow->nstages; i++) {
    const ambit__rule *rule = j->flow->stages[i].rule;
    const double flops = (double)rule->flops * (g->strict ? 1 : AMBIT__FIT_FUSED);

    n += cells_of(j) *
         ((flops + 0.5) * ambit__registers_of_widest(j->flow) + ambit__price_more(rule, g->ndims));
  }
  for (int v = 0; v < j->flow->nvalues; v++)
    shares += (j->planes ? deep_share : flat_share)(j, v);
  return rates_of(j)->issue * n + shares;
}

/* Of an exchange, in chains. */
static double exchange_time(const ambit__resident *j)
{
  const ambit__flow *p = j->tile.flow;
  const rates *r = rates_of(&j->tile);
  const double threads = j->tile.groups * AMBIT__WARP, grain = j->axes[2].grain;
  const double awaited = (double)ambit__resident_awaited(j);
  const double word = fmax(AMBIT__FIT_FEWER, threads / 512) *
                      (r->unit * cells_of(&j->tile) / grain + r->cell * awaited / threads);
  double n = 0;

  for (int v = 0; v < p->nvalues; v++)
    if (ambit__resident_changes(p, v)) n += r->exchange + ambit__flow_words(p, v) * word;
  return n;
}

/* ns per cell and iteration. */
static double cost(const ambit__group *g, const ambit__target *t, const ambit__plan *p)
{
  const ambit__machine *m = ambit__target_machine(t);
  ambit__resident j;
  double ns;

  if (!begin(g, p, false, &j)) return 1e9;
  ns = p->threads[1] * warp_time(g, &j.tile) * ambit__machine_issue(m) +
       AMBIT__FIT_STAGE * m->chain * g->flow->nstages;
  if (ambit__resident_exchanges(&j)) ns += exchange_time(&j) * m->chain / p->ahead;
  if (ambit__registers_of_resident(&j) > AMBIT__FIT_MANY * most_registers(t, p))
    ns *= AMBIT__FIT_TIGHT;
  else if (j.tile.planes &&
           ambit__registers_of_resident(&j) > AMBIT__FIT_DEEP_MANY * most_registers(t, p))
    ns *= AMBIT__FIT_DEEP_TIGHT;
  return ns / ambit__group_cells(g);
}

/* ---- choice ---- */

/* Whether a plan fits, with all tiles at the same time. */
static bool fits(const ambit__group *g, const ambit__target *t, const ambit__plan *p)
{
  const int threads = AMBIT__WARP * p->threads[1];
  const int across = p->rows[0] * (int)p->strip, cells = across * (p->rows[1] ? p->rows[1] : 1);
  ambit__resident j;

  if (threads > t->max_threads || ambit__flow_operations(g->flow) * cells > AMBIT__FUSED_MOST_WORK)
    return false;
  if (ambit__flow_has_places(g->flow) && across >= 32) return false; /* a bit for each of them */
  if (!begin(g, p, false, &j)) return false;
  if (p->rows[1] && p->ahead && !ambit__resident_exchanges(&j)) return false;
  return ambit__registers_of_resident(&j) <= most_registers(t, p) &&
         ambit__resident_shared(&j) <= t->shared &&
         j.axes[0].tiles * j.axes[1].tiles * j.axes[2].tiles <= t->threads;
}

/* The least planes with which the tiles suffice. false: there are none. */
static bool find_planes(const ambit__group *g, const ambit__target *t, ambit__plan *p)
{
  ambit__resident j;
  int tiles, halo;

  p->rows[1] = 1;
  if (!begin(g, p, true, &j)) return false;
  tiles = t->threads / (j.axes[1].tiles * j.axes[2].tiles);
  if (!tiles) return false;
  halo = tiles > 1 || g->flow->periodic[j.tile.z] ? reach_along(&j.tile, j.tile.z) * p->ahead : 0;
  p->rows[1] = (int)((g->cells[j.tile.z] + tiles - 1) / tiles) + 2 * halo;
  if (p->rows[1] > g->cells[j.tile.z]) p->rows[1] = (int)g->cells[j.tile.z];
  for (int end = p->rows[1] + 2 * MOST_DEEP_ROWS;
       p->rows[1] < end && p->rows[1] * p->rows[0] <= MOST_LINES; p->rows[1]++)
    if (fits(g, t, p)) return true;
  return false;
}

/* The rows and planes with the least time by estimate. */
static bool find_brick(const ambit__group *g, const ambit__target *t, ambit__plan *p)
{
  double least = -1;

  for (int rows = 1; rows <= MOST_DEEP_ROWS; rows++) {
    ambit__plan q = *p;
    double ns;

    q.rows[0] = rows;
    if (!find_planes(g, t, &q)) continue;
    ns = cost(g, t, &q);
    if (least >= 0 && ns >= least) continue;
    least = ns;
    *p = q;
  }
  return least >= 0;
}

/* The least rows with which the tiles suffice. false: there are none. */
static bool find_rows(const ambit__group *g, const ambit__target *t, ambit__plan *p)
{
  for (p->rows[0] = 1; p->rows[0] <= MOST_ROWS; p->rows[0]++)
    if (fits(g, t, p)) return true;
  return false;
}

static int candidates(const ambit__group *g, const ambit__target *t, ambit__plan *plans, int most)
{
  static const int warps[] = {16, 8}, every[][7] = {{0, 2, 4, 6, 8, 12, 16}, {0, 1, 2, 3, 4, 6, 8}};
  const bool deep = g->ndims == 3;
  int n = 0;

  for (int cells = 4; cells >= 1; cells /= 2)
    for (int i = 0; i < 2; i++)
      for (int k = 0; k < 7 && n < most; k++) {
        plans[n] = (ambit__plan){.strategy = &ambit__strategy_persistent,
                                 .depth = g->depth,
                                 .strip = cells,
                                 .threads = {AMBIT__WARP, warps[i], 1},
                                 .ahead = every[deep][k],
                                 .resident = 1,
                                 .wave = t->threads};
        n += (deep ? find_brick : find_rows)(g, t, &plans[n]);
      }
  return n;
}

static void emit(ambit__nest *n, const ambit__target *t, const ambit__plan *p, ambit__writer *w)
{
  ambit__resident j;

  (void)t;
  if (!begin(n->group, p, false, &j)) return;
  ambit__emit_strips(n);
  ambit__nest_resident(n, &j);
  ambit__emit(n, p, w);
}

static void describe(const ambit__plan *p, ambit__text *t)
{
  ambit__print(t, "(persistent %dx%d", (int)p->strip, p->rows[0]);
  if (p->rows[1]) ambit__print(t, "x%d", p->rows[1]);
  ambit__print(t, " ");
  if (p->ahead) ambit__print(t, "every %d ", p->ahead);
  ambit__print(t, "warps %d)", p->threads[1]);
}

static void shape(const ambit__group *g, const ambit__plan *p, const ambit__box *box,
                  ambit__shape *s)
{
  ambit__resident j;

  (void)box; /* all cells of the grid */
  *s = (ambit__shape){.blocks = {1, 1, 1}, .threads = {p->threads[0], p->threads[1], 1}};
  if (!begin(g, p, false, &j)) return;
  for (int i = 0; i < 3; i++)
    s->blocks[i] = j.axes[2 - i].tiles;
  s->shared = ambit__resident_shared(&j);
  s->edges = ambit__resident_edges(&j, g->cells);
}

const ambit__strategy ambit__strategy_persistent = {
    .name = "persistent",
    .applies = applies,
    .candidates = candidates,
    .cost = cost,
    .emit = emit,
    .describe = describe,
    .shape = shape,
};
