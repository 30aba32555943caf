/* SPDX-License-Identifier: BSD-3-Clause */
/* keep.c - the lags of stages, the rows of values that are kept, and the cells that are
 * computed again at the sides of a tile. */
#include "nest/window/window.h"

#include "base/integers.h"

enum { MOST_PERIOD = 16 };

/* ---- reads ---- */

static int along_y(const ambit__window *j, const int *offset)
{
  return j->y < 0 ? 0 : offset[j->y];
}

static void find_reach(ambit__window *j)
{
  ambit__flow_cells reach[AMBIT__FLOW_VALUES];

  ambit__flow_reach(j->flow, j->edge, reach);
  for (int v = 0; v < j->flow->nvalues; v++) {
    ambit__window_value *to = &j->values[v];
    const int none[2] = {0}, *y = j->y < 0 ? none : reach[v].n[j->y];

    to->low = reach[v].n[j->z][0], to->high = reach[v].n[j->z][1];
    to->down = y[0], to->up = y[1];
    to->left = reach[v].n[j->x][0], to->right = reach[v].n[j->x][1];
  }
  for (int i = 0; i < j->flow->nstages; i++)
    for (ambit__flow_read r = {0}; ambit__flow_next_read(j->flow, i, j->edge, &r);) {
      const int x = r.offset[j->x], y = along_y(j, r.offset);

      j->values[r.value].corners |= x && y;
      j->values[r.value].thick |= r.offset[j->z] && (x || y);
    }
}

/* ---- mirrored rows at faces ---- */

static ambit_boundary kind_of(const ambit__window *j, int value, int side)
{
  return j->edge ? ambit__flow_kind(j->flow, value, j->z, side) : AMBIT_NONE;
}

static bool is_fetched(const ambit__window_value *v)
{
  return v->down || v->up;
}

/* Rows after the first of the grid that its copies outside need; one more until adjacent groups
 * have the last of them. */
static int needs_inside(const ambit__window *j, int value)
{
  const ambit__window_value *v = &j->values[value];
  const int row = v->low ? ambit__flow_mirror(kind_of(j, value, 0), v->low) : 0;

  return row ? row - 1 + is_fetched(v) : 0;
}

/* ---- lags ---- */

/* Turns between the arrival of a row and a read. Rows of adjacent groups arrive a turn later. */
static int ahead_of(const void *user, int stage, const ambit__flow_read *r)
{
  const ambit__window *j = user;

  (void)stage;
  return ambit__max(r->offset[j->z] + (along_y(j, r->offset) != 0), needs_inside(j, r->value));
}

static void find_lags(ambit__window *j)
{
  const ambit__flow_pass pass = {.keeps = j->edge, .arrives = true, .ahead = ahead_of, .user = j};
  int stages[AMBIT__FLOW_STAGES], values[AMBIT__FLOW_VALUES];

  ambit__flow_lags(j->flow, &pass, stages, values, NULL);
  for (int i = 0; i < j->flow->nstages; i++)
    j->stages[i].lag = stages[i];
  for (int v = 0; v < j->flow->nvalues; v++)
    j->values[v].lag = values[v];
}

/* ---- rows that are kept ---- */

/* Whether a sum waits for the rows of adjacent groups: then they count for its last result. */
static bool is_late(const ambit__window *j, int stage)
{
  const ambit__window_stage *f = &j->stages[stage];

  return f->taps && f->lag > j->values[f->value].lag + f->high;
}

/* Sums use a row when it arrives. */
static void keep(ambit__window *j, int stage, const ambit__flow_read *r)
{
  ambit__window_value *v = &j->values[r->value];
  const bool sum = j->stages[stage].taps != NULL, beside = along_y(j, r->offset) != 0;
  const int lag = sum ? v->lag + is_late(j, stage) : j->stages[stage].lag - r->offset[j->z];
  const int fetched = sum || needs_inside(j, r->value) ? v->lag + 1 : lag;

  v->last = ambit__max(v->last, lag);
  if (beside && (v->fetched < 0 || v->fetched > fetched)) v->fetched = fetched;
  if (beside) v->forgotten = ambit__max(v->forgotten, ambit__max(lag, fetched));
  if (r->offset[j->x] && (v->shared < 0 || v->shared > lag)) v->shared = lag;
}

/* Rows outside the faces are copies of rows that must still be there. */
static void keep_mirrored(ambit__window *j, int value)
{
  ambit__window_value *v = &j->values[value];
  const int high = v->high;

  if (v->low && ambit__flow_mirror(kind_of(j, value, 0), v->low))
    v->last = ambit__max(v->last, v->lag + needs_inside(j, value) + v->low);
  if (high && ambit__flow_mirror(kind_of(j, value, 1), high))
    v->last =
        ambit__max(v->last, v->lag + high - 1 + ambit__flow_mirror(kind_of(j, value, 1), high));
}

static void find_rows(ambit__window *j)
{
  for (int v = 0; v < j->flow->nvalues; v++) {
    j->values[v].last = j->values[v].forgotten = j->values[v].lag;
    j->values[v].shared = j->values[v].fetched = -1;
  }
  for (int i = 0; i < j->flow->nstages; i++) {
    j->stages[i].late = is_late(j, i);
    for (ambit__flow_read r = {0}; ambit__flow_next_read(j->flow, i, j->edge, &r);)
      keep(j, i, &r);
  }
  for (int v = 0; v < j->flow->nvalues; v++)
    keep_mirrored(j, v);
}

/* All arrays have the same number of rows, of which compilers keep those that are in use. */
static void find_period(ambit__window *j)
{
  j->period = 1;
  for (int v = 0; v < j->flow->nvalues; v++)
    j->period = ambit__max(j->period, j->values[v].last - j->values[v].lag + 1);
  for (int i = 0; i < j->flow->nstages; i++)
    if (j->stages[i].taps) j->period = ambit__max(j->period, j->stages[i].high - j->stages[i].low);
  while (j->period % j->ahead || (j->y >= 0 && j->period % 2)) /* shared memory has two buffers */
    j->period++;
}

/* ---- cells beside a tile ---- */

/* At faces, and in three dimensions, where both codes have the same tiles, with the cells that
 * those outside a face repeat. */
static void find_beside(ambit__window *j)
{
  int first = 0, all[AMBIT_MAX_DIMS][2] = {{0}};

  ambit__flow_beside(j->flow, j->edge, j->edge || j->y >= 0, j->beside);
  for (int v = 0; v < j->flow->nvalues; v++) {
    const ambit__flow_value *value = &j->flow->values[v];
    const int lag = j->values[v].lag;

    for (int d = 0; d < AMBIT_MAX_DIMS; d++)
      for (int side = 0; side < 2; side++)
        all[d][side] = ambit__max(all[d][side], j->beside[v].n[d][side]);
    j->lead = ambit__max(j->lead, j->beside[v].n[j->z][0] - lag);
    if (value->target >= 0) j->drain = ambit__max(j->drain, lag);
    if (value->stage < 0) first = ambit__max(first, lag);
  }
  j->below = j->lead + first;
  j->above = j->drain;
  j->before = (int)ambit__round_up(all[j->x][0], j->lane);
  j->after = (int)ambit__round_up(all[j->x][1], j->lane);
  j->down = j->y < 0 ? 0 : all[j->y][0];
  j->up = j->y < 0 ? 0 : all[j->y][1];
}

/* ---- sums ---- */

/* Whether a stage is a weighted sum over several rows; nobody looks at its reductions. */
static void find_taps(ambit__window *j, int stage)
{
  const ambit__flow_stage *st = &j->flow->stages[stage];
  ambit__window_stage *f = &j->stages[stage];

  if (!st->taps || st->nplaces || st->points) return;
  if (st->port[st->sum.from] < 0 || st->port[st->sum.to] < 0) return;
  f->ntaps = st->sum.n;
  f->low = f->high = st->taps[0].offset[j->z];
  for (int k = 0; k < f->ntaps; k++) {
    f->low = ambit__min(f->low, st->taps[k].offset[j->z]);
    f->high = ambit__max(f->high, st->taps[k].offset[j->z]);
  }
  f->value = j->flow->in[st->port[st->sum.from]];
  f->result = j->flow->out[st->port[st->sum.to]];
  if (f->high > f->low && f->result >= 0) f->taps = st->taps;
}

/* ---- the job ---- */

static int reach_of(const ambit__window *j)
{
  int n = 0;

  for (int v = 0; v < j->flow->nvalues; v++)
    n = ambit__max(n, ambit__max(j->values[v].left, j->values[v].right));
  return n;
}

/* Whether rows outside the low face along z are copies, made when the rows inside are there. */
static bool copies_low(const ambit__window *j)
{
  for (int v = 0; v < j->flow->nvalues; v++)
    if (ambit__flow_mirror(kind_of(j, v, 0), 1)) return true;
  return false;
}

/* Rows outside a face along y are copies of rows of the group at the face. false: they are not all
 * there, or both faces may lie in one tile. */
static bool align_rows(const ambit__group *g, ambit__window *j)
{
  for (int v = 0; j->y >= 0 && v < j->flow->nvalues; v++) {
    const int down = ambit__flow_mirror(ambit__flow_kind(j->flow, v, j->y, 0), j->values[v].down);
    const int up = ambit__flow_mirror(ambit__flow_kind(j->flow, v, j->y, 1), j->values[v].up);

    if (!down && !up) continue;
    if (down > j->rows || up > j->rows || g->cells[j->y] <= j->groups * j->rows) return false;
    j->mirrors = true;
    j->slack = j->rows - 1;
  }
  return true;
}

static bool reads_near(const ambit__window *j)
{
  for (int v = 0; v < j->flow->nvalues; v++) {
    const ambit__window_value *f = &j->values[v];

    if (f->left > j->lane || f->right > j->lane || f->down > j->rows || f->up > j->rows)
      return false;
  }
  return true;
}

/* Whether all stages at points come soon enough. */
static bool sees_points(const ambit__window *j)
{
  for (int i = 0; i < j->flow->nstages; i++)
    if (j->flow->stages[i].points && j->stages[i].lag + j->period > AMBIT__WINDOW_SEEN)
      return false;
  return true;
}

/* Whether a block stores a third of the cells that it computes. */
static bool stores_enough(const ambit__window *j)
{
  const int rows = ambit__window_useful_rows(j);

  return rows > 0 && 3 * rows * ambit__window_useful(j) >= j->groups * j->rows * j->lanes * j->lane;
}

bool ambit__window_begin(const ambit__group *g, const ambit__window_form *f, bool edge,
                         ambit__window *j)
{
  const int half = f->cells / 2;
  const bool flat = g->ndims == 2;

  *j = (ambit__window){.flow = g->flow,
                       .edge = edge,
                       .x = g->ndims - 1,
                       .y = flat ? -1 : g->ndims - 2,
                       .z = 0,
                       .lane = f->cells,
                       .lanes = flat ? AMBIT__WARP : f->lanes,
                       .groups = flat ? 1 : f->warps * AMBIT__WARP / f->lanes,
                       .rows = flat ? 1 : f->rows,
                       .ahead = f->ahead,
                       .warps = f->warps,
                       .rolled = f->rolled};
  for (int i = 0; f->sums && !(edge && copies_low(j)) && i < j->flow->nstages; i++)
    find_taps(j, i);
  find_reach(j);
  find_lags(j);
  find_rows(j);
  find_period(j);
  find_beside(j);
  if (!reads_near(j) || !align_rows(g, j) || !sees_points(j)) return false;
  /* tests take registers: narrower strips leave room for them */
  if (flat && edge && half && AMBIT__WARP * half > 2 * (j->before + j->after) &&
      reach_of(j) <= half)
    j->lane = half;
  return j->period <= MOST_PERIOD && ambit__window_useful(j) > 0 && (flat || stores_enough(j));
}

bool ambit__window_begin_tile(const ambit__group *g, const ambit__window_form *f, ambit__window *j)
{
  *j = (ambit__window){.flow = g->flow,
                       .edge = true,
                       .stays = true,
                       .x = g->ndims - 1,
                       .y = g->ndims - 2,
                       .z = g->ndims == 2 ? 2 : 0,
                       .lane = f->cells,
                       .lanes = AMBIT__WARP,
                       .groups = f->warps,
                       .rows = f->rows,
                       .planes = f->planes,
                       .period = 1};
  find_reach(j);
  for (int v = 0; v < j->flow->nvalues; v++)
    j->values[v].fetched = is_fetched(&j->values[v]) ? 0 : -1;
  find_beside(j);
  return reads_near(j);
}
