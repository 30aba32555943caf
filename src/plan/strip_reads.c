/* SPDX-License-Identifier: BSD-3-Clause */
/* strip_reads.c - the values that a warp must hold: for each value, the rows and planes, and how
 * long. */
#include "plan/strip.h"

#include "base/integers.h"

#include "plan/registers.h"

#include <stdlib.h>
#include <string.h>

enum {
  VECTOR = 16,    /* bytes of the widest access */
  MOST_CELLS = 8, /* per lane, if each takes a register */
  WORD = 4,       /* bytes of a register */
  /* operations in a loop over z unrolled for a whole period; in double, half as many */
  MOST_REPEATED = 3000,
  MOST_TAPS = 343, /* of a weighted sum: a box of radius 3 in 3-D */
  LEAST_TAPS = 20, /* of a sum that is factored */
  MOST_SINGLE = 2, /* cells beside a lane's that it loads one by one */
  FAR = 8          /* vectors beside a lane's own, at most, where rules reach further than two */
};

static bool is_field(const ambit__group *g, int param)
{
  return g->rule->params[param].kind == PARAM_FIELD && g->bind[param].is_field;
}

/* Whether all fields have all axes, are of a type, and read at most half a vector away along x. */
static bool has_only(const ambit__group *g, ambit_type type)
{
  const int x = g->ndims - 1, most = VECTOR / 2 / (int)ambit_type_size(type);

  for (int i = 0; i < g->rule->nparams; i++) {
    const ambit__param *p = &g->rule->params[i];

    if (is_field(g, i) &&
        (p->type != type || p->low[x] > most || p->high[x] > most || g->bind[i].dropped))
      return false;
  }
  return true;
}

int ambit__strip_packed_cells(const ambit__group *g, ambit__packed packed)
{
  const ambit__rule *rule = g->rule;

  if (has_only(g, AMBIT_U8)) return packed || ambit__rule_is_paired(rule, packed) ? WORD : 1;
  if (packed < PACKED_SHORTS || !has_only(g, AMBIT_I16)) return 1;
  return ambit__rule_is_shorts(rule) || ambit__rule_has_dots(rule) ? 2 : 1;
}

int ambit__strip_vector(const ambit__group *g)
{
  const ambit__rule *rule = g->rule;
  int size = 1;

  for (int i = 0; i < rule->nparams; i++)
    if (is_field(g, i)) size = ambit__max(size, (int)ambit_type_size(rule->params[i].type));
  return ambit__min(VECTOR / size, MOST_CELLS);
}

int ambit__strip_lane_cells(const ambit__group *g, ambit__packed packed)
{
  const ambit__rule *rule = g->rule;
  const int lane = ambit__strip_vector(g), cells = ambit__strip_packed_cells(g, packed);
  const int x = g->ndims - 1;
  int reach = 0;

  for (int i = 0; i < rule->nparams; i++) {
    const ambit__param *p = &rule->params[i];

    if (is_field(g, i)) /* about the last cell of a row they mirror one further */
      reach = ambit__max(reach, ambit__max(p->low[x] + (g->bind[i].ends[0] == AMBIT_REFLECT),
                                           p->high[x] + (g->bind[i].ends[1] == AMBIT_REFLECT)));
  }
  if (cells > 1) return VECTOR / WORD * cells;
  if (reach < lane || (reach == lane && g->ndims > 2)) return lane;
  if (reach <= 2 * lane) return 2 * lane;
  return reach <= FAR * lane ? 2 * lane : 0;
}

/* ---- values ---- */

/* The value of a read, created if needed; NULL if there are too many. */
static ambit__strip_value *value_of(ambit__strip *j, int param, const ambit__read *r)
{
  const ambit__strip_value *old = ambit__strip_find(j, param, r->component, r->offset);
  ambit__strip_value *s = &j->values[j->nvalues];

  if (old) return &j->values[old - j->values];
  if (j->nvalues == AMBIT__STRIP_VALUES) return NULL;
  *s = (ambit__strip_value){.param = param, .component = r->component};
  if (j->z > 0) memcpy(s->outer, r->offset, (size_t)j->z * sizeof *s->outer);
  for (int i = 0; i < j->nvalues; i++)
    s->number += j->values[i].param == param;
  j->nvalues++;
  return s;
}

static bool find_reach(ambit__strip *j, int param, const ambit__read *r)
{
  const int dx = r->offset[j->x], dy = j->y >= 0 ? r->offset[j->y] : 0;
  ambit__strip_value *s = value_of(j, param, r);

  if (!s) return false;
  s->left = ambit__max(s->left, (j->cells - 1 - dx) / j->cells);
  s->right = ambit__max(s->right, (j->cells - 1 + dx) / j->cells);
  s->below = ambit__max(s->below, -dy);
  s->above = ambit__max(s->above, dy);
  s->nrows = s->below + j->rows + s->above;
  return s->below <= AMBIT__STRIP_REACH && s->above <= AMBIT__STRIP_REACH;
}

static void add_plane(ambit__value_row *row, int plane, bool sideways)
{
  row->low = row->is_read ? ambit__min(row->low, plane) : plane;
  row->high = row->is_read ? ambit__max(row->high, plane) : plane;
  row->is_read = true;
  if (!sideways) return;
  row->edge_low = row->has_edges ? ambit__min(row->edge_low, plane) : plane;
  row->edge = row->has_edges ? ambit__max(row->edge, plane) : plane;
  row->has_edges = true;
}

static bool find_rows(ambit__strip *j, int param, const ambit__read *r)
{
  const int dy = j->y >= 0 ? r->offset[j->y] : 0;
  ambit__strip_value *s = value_of(j, param, r);

  for (int t = 0; t < j->rows; t++) /* sums use a plane once, when it arrives */
    add_plane(&s->rows[s->below + dy + t],
              j->z < 0  ? 0
              : j->taps ? j->high
                        : r->offset[j->z],
              r->offset[j->x] != 0);
  return true;
}

static bool each_read(const ambit__group *g, ambit__strip *j,
                      bool (*f)(ambit__strip *, int, const ambit__read *))
{
  const ambit__rule *rule = g->rule;

  for (int i = 0; i < rule->nparams; i++)
    for (int k = 0; is_field(g, i) && k < rule->params[i].nreads; k++)
      if (!f(j, i, &rule->params[i].reads[k])) return false;
  return true;
}

/* ---- loads ---- */

static bool find_load(ambit__strip *j, const ambit__strip_value *s, int ahead, ambit__value_row *r)
{
  const int param = s->param;
  int number = 0, i;

  for (i = 0; i < j->nloads; i++) {
    ambit__strip_load *f = &j->loads[i];

    if (f->param != param) continue;
    number++;
    if ((f->high != r->high || f->ahead != ahead) && !j->planes) continue;
    f->low = ambit__min(f->low, r->low);
    f->high = ambit__max(f->high, r->high);
    r->load = i;
    return true;
  }
  if (i == AMBIT__STRIP_LOADS) return false;
  j->loads[j->nloads++] = (ambit__strip_load){.param = param,
                                              .number = number,
                                              .low = r->low,
                                              .high = r->high,
                                              .ahead = ahead,
                                              .ring = s->ring};
  r->load = i;
  return true;
}

/* Planes of a row that are loaded in advance. */
static int row_ahead(const ambit__strip *j, const ambit__plan *p, const ambit__strip_value *s)
{
  if (j->ring) return !s->ring;
  return j->planes ? j->planes : p->ahead;
}

static bool find_loads(ambit__strip *j, const ambit__plan *p)
{
  for (int i = 0; i < j->nvalues; i++) {
    ambit__strip_value *s = &j->values[i];

    for (int q = 0; q < s->nrows; q++)
      if (s->rows[q].is_read && !find_load(j, s, row_ahead(j, p, s), &s->rows[q])) return false;
  }
  return true;
}

/* ---- the job ---- */

/* Whether the sum can be factored if the plan wants it. Factors of integers may be fractions. */
static bool find_factors(const ambit__rule *rule, const ambit__plan *p, ambit__strip *j)
{
  j->factored = p->factored > 0;
  return !j->factored || (j->ntaps >= LEAST_TAPS && ambit__type_is_real(rule->params[0].type) &&
                          ambit__factors_begin(&j->factors, j->taps, j->ntaps, j->z) &&
                          ambit__factors_save(&j->factors, j->ntaps));
}

/* The rule as a weighted sum, and the number of planes a result depends on. */
static bool find_taps(const ambit__group *g, ambit__strip *j)
{
  const ambit__rule *rule = g->rule;
  ambit__sum sum;
  int low = 0;

  j->taps = calloc(MOST_TAPS, sizeof *j->taps);
  if (!j->taps || !ambit__rule_sum(rule, false, j->taps, MOST_TAPS, &sum)) return false;
  if (sum.from + sum.to != 1 || !is_field(g, 0) || !is_field(g, 1)) return false;
  if (g->bind[sum.from].dropped) return false;
  j->ntaps = sum.n;
  j->high = low = j->taps[0].offset[j->z];
  for (int k = 0; k < j->ntaps; k++) {
    j->high = ambit__max(j->high, j->taps[k].offset[j->z]);
    low = ambit__min(low, j->taps[k].offset[j->z]);
  }
  j->span = j->high - low + 1;
  return j->span > 1;
}

/* Lanes that exchange nothing load whole vectors where they read many cells beside their own. */
static void find_vectors(ambit__strip *j)
{
  for (int i = 0; i < j->nvalues; i++) {
    ambit__strip_value *s = &j->values[i];

    if (!j->apart || ambit__max(s->left, s->right) <= MOST_SINGLE) continue;
    s->vectors = true;
    s->left = (int)ambit__pieces(s->left, j->units) * j->units;
    s->right = (int)ambit__pieces(s->right, j->units) * j->units;
  }
}

/* Number of cells that end lanes load beside the strip: the same for all values of a field. */
static void find_ends(ambit__strip *j)
{
  for (int i = 0; i < j->nvalues; i++) {
    ambit__strip_value *s = &j->values[i];
    int reach = 0;

    for (int k = 0; k < j->nvalues; k++)
      if (j->values[k].param == s->param)
        reach = ambit__max(reach, ambit__max(j->values[k].left, j->values[k].right));
    for (s->end = reach ? 1 : 0; s->end < reach;)
      s->end *= 2;
    if (j->apart || s->ring) s->end = 0;
  }
}

/* Planes loaded in addition to those read for the current plane. */
static int ahead_of(const ambit__strip *j, const ambit__plan *p)
{
  return j->planes ? j->planes - 1 : p->ahead;
}

/* Tiles and rings hold all planes that are read and those in flight. Sums keep span - 1 planes of
 * partial results. */
static int period_of(const ambit__strip *j, int ahead)
{
  int period = 1;

  if (j->moves) return ahead + 1;
  if (j->taps) {
    for (period = j->span - 1; period <= ahead;)
      period += j->span - 1;
    return period;
  }
  for (int i = 0; i < j->nvalues; i++)
    for (int q = 0; q < j->values[i].nrows; q++) {
      const ambit__value_row *r = &j->values[i].rows[q];

      if (r->is_read) period = ambit__max(period, ambit__registers_planes(j, r));
    }
  return period;
}

/* ---- begin and end ---- */

/* Registers per value of the widest field. */
static int widest(const ambit__group *g)
{
  int n = 1;

  for (int i = 0; i < g->rule->nparams; i++)
    if (is_field(g, i)) n = ambit__max(n, ambit__registers_of(g->rule->params[i].type));
  return n;
}

bool ambit__strip_begin(const ambit__group *g, const ambit__plan *p, ambit__strip *j)
{
  int64_t flops = g->rule->flops + 1;
  const int cells = ambit__strip_packed_cells(g, p->packed);

  *j = (ambit__strip){.x = g->ndims - 1,
                      .y = g->ndims > 2 ? g->ndims - 2 : -1,
                      .z = ambit__strip_axis(g),
                      .lane = (int)p->strip,
                      .lanes = p->lanes,
                      .cells = cells,
                      .units = (int)p->strip / cells,
                      .rows = p->rows[0],
                      .planes = p->ahead ? 0 : p->rows[1],
                      .ring = p->ring > 0,
                      .align = ambit__strip_align(p),
                      .warps = p->threads[1],
                      .apart = p->apart,
                      .span = 1};
  if ((p->sums && !(find_taps(g, j) && find_factors(g->rule, p, j))) ||
      !each_read(g, j, find_reach) || !each_read(g, j, find_rows) ||
      (j->ring && !ambit__strip_find_ring(g->rule, j)) || !find_loads(j, p)) {
    ambit__strip_end(j);
    return false;
  }
  find_vectors(j);
  find_ends(j);
  if (j->factored) flops = 2 * ambit__factors_operations(&j->factors);
  j->period = period_of(j, ahead_of(j, p));
  j->moves = j->taps && flops * j->lane * j->rows * j->period * widest(g) > MOST_REPEATED;
  j->by_rows = j->moves && !j->factored;
  j->period = period_of(j, ahead_of(j, p));
  if (j->ring) j->ahead = ambit__min(p->ahead, ambit__strip_ring_ahead(j));
  return true;
}

void ambit__strip_end(ambit__strip *j)
{
  free(j->taps);
  j->taps = NULL;
  if (j->factored) ambit__factors_end(&j->factors);
}
