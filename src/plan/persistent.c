/* SPDX-License-Identifier: BSD-3-Clause */
/* persistent.c - on a GPU, in two dimensions: a small grid stays on the chip for many iterations.
 *
 * The grid is cut into as many tiles as the GPU has multiprocessors, at most. A block holds one of
 * them in registers over all iterations of a launch, and exchanges the cells at its border with the
 * blocks beside it after every few iterations. All blocks run at the same time. See
 * docs/design/0013-fused.md.
 *
 *   (persistent 4x6 every 8 warps 16)
 *
 * The numbers are: cells of a lane, its rows, iterations between two exchanges, if there are any,
 * and warps of a block.
 */
#include "plan/persistent.h"

#include <math.h>

enum {
  MOST_ROWS = 48,
  MOST_REGISTERS = 255, /* of a thread */
  OTHER_REGISTERS = 20  /* positions, counters, addresses of shared memory */
};

/* On an H200, ns of an instruction of a warp; of a stage, for its barrier; of a word that a lane
 * writes to shared memory or reads there, and of one in lanes of more than 16 bytes, whose accesses
 * conflict. Of an exchange, for each value; in it, of each unit of a lane, and of each cell that a
 * thread fetches, with 16 warps. Fewer do not take much less. Fitted to 156 plans of 13 programs,
 * of which the model chooses ones within 6 % of the fastest. */
static const double ISSUE_NS = 0.13, BARRIER_NS = 40, SHARE_NS = 0.17, CONFLICT_NS = 0.6,
                    EXCHANGE_NS = 550, UNIT_NS = 160, CELL_NS = 100, FEWER = 0.8;

/* Time if more than this share of the registers is in use, by estimate. */
static const double MANY = 0.9, TIGHT = 1.3;

/* Instructions for an operation, where compilers fuse multiplications and additions. */
static const double FUSED = 0.55;

/* ---- windows ---- */

static int reach_along(const ambit__fused_job *j, int axis)
{
  int n = 0;

  for (int v = 0; v < j->pipe->nvalues; v++) {
    const ambit__fused_cells *c = &j->values[v].beside;
    const int low = axis == j->y ? c->down : c->left, high = axis == j->y ? c->up : c->right;

    if (low > n) n = low;
    if (high > n) n = high;
  }
  return n;
}

/* Cuts an axis into as few tiles as possible. false: it cannot be cut so. */
static bool cut(ambit__window *w, int64_t cells, int reach, int every, bool periodic)
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
 * of, belong to the lanes and groups at the face. */
static bool faces_fit(const ambit__fused_job *j)
{
  const int unit[] = {j->rows, j->lane};

  for (int d = 0; d < 2; d++)
    for (int side = 0; side < 2; side++) {
      if (ambit__fused_inset(j->pipe, d, side) > unit[d]) return false;
      for (int v = 0; v < j->pipe->nvalues; v++) {
        const ambit__fused_value *f = &j->values[v];
        const int reach = d == j->y ? (side ? f->up : f->down) : side ? f->right : f->left;

        if (ambit__fused_mirror(ambit__fused_kind(j, v, d, side), reach) > unit[d]) return false;
      }
    }
  return true;
}

bool ambit__persistent_begin(const ambit__group *g, const ambit__plan *p, ambit__persistent_job *j)
{
  *j = (ambit__persistent_job){.every = p->ahead};
  if (!ambit__fused_begin_tile(g, p, &j->tile) || !faces_fit(&j->tile)) return false;
  j->window[0] =
      (ambit__window){.cells = p->threads[1] * p->rows[0], .unit = p->rows[0], .grain = 1};
  j->window[1] = (ambit__window){.cells = AMBIT__FUSED_WARP * (int)p->strip,
                                 .unit = (int)p->strip,
                                 .grain = g->cells[1] % p->strip ? 1 : (int)p->strip};
  for (int d = 0; d < 2; d++)
    if (!cut(&j->window[d], g->cells[d], reach_along(&j->tile, d), p->ahead,
             g->pipeline->periodic[d]))
      return false;
  return true;
}

/* ---- plans ---- */

static bool applies(const ambit__group *g, const ambit__target *t)
{
  const ambit__pipeline *p = g->pipeline;

  if (t->kind != TARGET_GPU || !t->dialect->has_lanes || t->warp != AMBIT__FUSED_WARP) return false;
  if (!p || !p->loops || g->ndims != 2 || p->cut[0] || p->cut[1]) return false;
  for (int i = 0; i < g->steps[0].rule->nparams; i++)
    if (g->steps[0].rule->params[i].kind == PARAM_FIELD && !g->steps[0].bind[i].contiguous)
      return false;
  return true;
}

static bool has_places(const ambit__pipeline *p)
{
  for (int i = 0; i < p->nstages; i++)
    if (p->stages[i].nplaces) return true;
  return false;
}

static int widest_words(const ambit__pipeline *p)
{
  return ambit__fused_widest(p) > 4 ? 2 : 1;
}

/* Registers of a thread: all loaded values, and of those that are computed all but the last, which
 * takes the place of one of them row by row. */
static int registers_of(const ambit__persistent_job *j)
{
  const ambit__pipeline *p = j->tile.pipe;
  int n = OTHER_REGISTERS + widest_words(p) * 3 * j->tile.lane, computed = 0;

  for (int v = 0; v < p->nvalues; v++)
    if (p->values[v].stage < 0 || computed++)
      n += ambit__fused_words(p, v) * j->tile.rows * j->tile.lane;
  return n;
}

static int most_registers(const ambit__plan *p)
{
  const int n = AMBIT__FUSED_REGISTERS / AMBIT__FUSED_WARP / p->threads[1] / 8 * 8;

  return n < MOST_REGISTERS ? n : MOST_REGISTERS;
}

/* Whether a plan fits, with all tiles at the same time. */
static bool fits(const ambit__group *g, const ambit__target *t, const ambit__plan *p)
{
  const int threads = AMBIT__FUSED_WARP * p->threads[1];
  const int cells = p->rows[0] * (int)p->strip;
  ambit__persistent_job j;

  if (threads > t->max_threads ||
      ambit__fused_operations(g->pipeline) * cells > AMBIT__FUSED_MOST_WORK)
    return false;
  if (has_places(g->pipeline) && cells >= 32) return false; /* a bit for each of them */
  return ambit__persistent_begin(g, p, &j) && registers_of(&j) <= most_registers(p) &&
         ambit__persistent_shared(&j) <= t->shared &&
         j.window[0].tiles * j.window[1].tiles <= t->threads;
}

/* The least rows with which the tiles suffice. */
static void add(const ambit__group *g, const ambit__target *t, ambit__plan p, ambit__plan *plans,
                int most, int *n)
{
  for (p.rows[0] = 1; p.rows[0] <= MOST_ROWS && *n < most; p.rows[0]++)
    if (fits(g, t, &p)) {
      plans[(*n)++] = p;
      return;
    }
}

static int candidates(const ambit__group *g, const ambit__target *t, ambit__plan *plans, int most)
{
  static const int warps[] = {16, 8}, every[] = {0, 2, 4, 6, 8, 12, 16};
  int n = 0;

  for (int cells = 4; cells >= 1; cells /= 2)
    for (int i = 0; i < 2; i++)
      for (int k = 0; k < 7; k++)
        add(g, t,
            (ambit__plan){.strategy = &ambit__strategy_persistent,
                          .depth = g->depth,
                          .strip = cells,
                          .threads = {AMBIT__FUSED_WARP, warps[i], 1},
                          .ahead = every[k],
                          .resident = 1,
                          .wave = t->threads},
            plans, most, &n);
  return n;
}

/* ns of a warp in one iteration: its instructions, and the rows it shares with others. */
static double warp_ns(const ambit__group *g, const ambit__fused_job *j)
{
  double n = 10, ns = 0;

  for (int i = 0; i < j->pipe->nstages; i++) {
    const double flops = (double)j->pipe->stages[i].rule->flops;

    n += ((g->strict ? flops : FUSED * flops) + 0.5) * j->rows * j->lane * widest_words(j->pipe);
  }
  for (int v = 0; v < j->pipe->nvalues; v++) {
    const int words = ambit__fused_words(j->pipe, v) * j->lane;

    ns += (words > 4 ? CONFLICT_NS : SHARE_NS) * 2 * words * (j->values[v].up + j->values[v].down);
  }
  return ISSUE_NS * n + ns;
}

/* Of an exchange. */
static double exchange_ns(const ambit__persistent_job *j)
{
  const ambit__pipeline *p = j->tile.pipe;
  const double threads = j->tile.groups * AMBIT__FUSED_WARP, grain = j->window[1].grain;
  const double awaited = (double)ambit__persistent_awaited(j);
  const double word = fmax(FEWER, threads / 512) *
                      (UNIT_NS * j->tile.rows * j->tile.lane / grain + CELL_NS * awaited / threads);
  double ns = 0;

  for (int v = 0; v < p->nvalues; v++)
    if (ambit__persistent_changes(p, v)) ns += EXCHANGE_NS + ambit__fused_words(p, v) * word;
  return ns;
}

/* ns per cell and iteration. */
static double cost(const ambit__group *g, const ambit__target *t, const ambit__plan *p)
{
  ambit__persistent_job j;
  double ns;

  (void)t;
  if (!ambit__persistent_begin(g, p, &j)) return 1e9;
  ns = p->threads[1] * warp_ns(g, &j.tile) + BARRIER_NS * g->pipeline->nstages;
  if (ambit__persistent_exchanges(&j)) ns += exchange_ns(&j) / p->ahead;
  if (registers_of(&j) > MANY * most_registers(p)) ns *= TIGHT;
  return ns / (double)(g->cells[0] * g->cells[1]);
}

static void describe(const ambit__plan *p, ambit__text *t)
{
  ambit__print(t, "(persistent %dx%d ", (int)p->strip, p->rows[0]);
  if (p->ahead) ambit__print(t, "every %d ", p->ahead);
  ambit__print(t, "warps %d)", p->threads[1]);
}

static void shape(const ambit__group *g, const ambit__plan *p, const ambit__box *box,
                  ambit__shape *s)
{
  ambit__persistent_job j;

  (void)box; /* all cells of the grid */
  *s = (ambit__shape){.blocks = {1, 1, 1}, .threads = {p->threads[0], p->threads[1], 1}};
  if (!ambit__persistent_begin(g, p, &j)) return;
  s->blocks[0] = j.window[1].tiles;
  s->blocks[1] = j.window[0].tiles;
  s->shared = ambit__persistent_shared(&j);
  s->mail = ambit__persistent_mail(&j, g->cells);
}

const ambit__strategy ambit__strategy_persistent = {
    .name = "persistent",
    .applies = applies,
    .candidates = candidates,
    .cost = cost,
    .emit = ambit__persistent_emit,
    .describe = describe,
    .shape = shape,
};
