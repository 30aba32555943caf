/* SPDX-License-Identifier: BSD-3-Clause */
/* strip_reads.c - the values that a warp must hold: for each value, the rows and planes, and how
 * long. */
#include "plan/strip.h"

#include <stdlib.h>
#include <string.h>

enum {
  VECTOR = 16,       /* bytes of the widest access */
  MOST_CELLS = 8,    /* per lane, if each takes a register */
  WORD = 4,          /* bytes of a register */
  MOST_NUMBERS = 40, /* constants that compilers keep in registers */
  /* operations in a loop over z unrolled for a whole period; in double, half as many */
  MOST_REPEATED = 3000,
  FREE = 26,       /* registers available for constants */
  PAIRS = 24,      /* registers for bytes while they are computed */
  RING_BASE = 10,  /* the same where planes are in shared memory, */
  RING_ROW = 18,   /* and for what each row takes from there */
  MOST_TAPS = 343, /* of a weighted sum: a box of radius 3 in 3-D */
  LEAST_TAPS = 20, /* of a sum that is factored */
  MOST_SHIFTED = 7 /* planes of results that are shifted without more registers */
};

static bool is_field(const ambit__group *g, int param)
{
  return g->steps[0].rule->params[param].kind == PARAM_FIELD && g->steps[0].bind[param].is_field;
}

static int largest(int a, int b)
{
  return a > b ? a : b;
}

static int smallest(int a, int b)
{
  return a < b ? a : b;
}

/* Whether all fields are of a type, and read at most half a vector away along x. */
static bool has_only(const ambit__group *g, ambit_type type)
{
  const int x = g->ndims - 1, most = VECTOR / 2 / (int)ambit_type_size(type);

  for (int i = 0; i < g->steps[0].rule->nparams; i++) {
    const ambit__param *p = &g->steps[0].rule->params[i];

    if (is_field(g, i) && (p->type != type || p->low[x] > most || p->high[x] > most)) return false;
  }
  return true;
}

int ambit__strip_packed_cells(const ambit__group *g, ambit__packed packed)
{
  const ambit__rule *rule = g->steps[0].rule;

  if (has_only(g, AMBIT_U8)) return packed || ambit__rule_is_paired(rule, packed) ? WORD : 1;
  if (packed < PACKED_SHORTS || !has_only(g, AMBIT_I16)) return 1;
  return ambit__rule_is_shorts(rule) || ambit__rule_has_dots(rule) ? 2 : 1;
}

int ambit__strip_vector(const ambit__group *g)
{
  const ambit__rule *rule = g->steps[0].rule;
  int size = 1;

  for (int i = 0; i < rule->nparams; i++)
    if (is_field(g, i)) size = largest(size, (int)ambit_type_size(rule->params[i].type));
  return smallest(VECTOR / size, MOST_CELLS);
}

int ambit__strip_lane_cells(const ambit__group *g, ambit__packed packed)
{
  const ambit__rule *rule = g->steps[0].rule;
  const int lane = ambit__strip_vector(g), cells = ambit__strip_packed_cells(g, packed);
  int reach = 0;

  for (int i = 0; i < rule->nparams; i++) {
    const ambit__param *p = &rule->params[i];

    if (is_field(g, i))
      reach = largest(reach, largest(p->low[g->ndims - 1], p->high[g->ndims - 1]));
  }
  if (cells > 1) return VECTOR / WORD * cells;
  if (reach < lane || (reach == lane && g->ndims > 2)) return lane;
  return reach <= 2 * lane ? 2 * lane : 0;
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
  memcpy(s->outer, r->offset, (size_t)j->z * sizeof *s->outer);
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
  s->left = largest(s->left, (j->cells - 1 - dx) / j->cells);
  s->right = largest(s->right, (j->cells - 1 + dx) / j->cells);
  s->below = largest(s->below, -dy);
  s->above = largest(s->above, dy);
  s->nrows = s->below + j->rows + s->above;
  return s->below <= AMBIT__STRIP_REACH && s->above <= AMBIT__STRIP_REACH;
}

static void add_plane(ambit__value_row *row, int plane, bool sideways)
{
  row->low = row->is_read ? smallest(row->low, plane) : plane;
  row->high = row->is_read ? largest(row->high, plane) : plane;
  row->is_read = true;
  if (!sideways) return;
  row->edge_low = row->has_edges ? smallest(row->edge_low, plane) : plane;
  row->edge = row->has_edges ? largest(row->edge, plane) : plane;
  row->has_edges = true;
}

static bool find_rows(ambit__strip *j, int param, const ambit__read *r)
{
  const int dy = j->y >= 0 ? r->offset[j->y] : 0;
  ambit__strip_value *s = value_of(j, param, r);

  for (int t = 0; t < j->rows; t++) /* sums use a plane once, when it arrives */
    add_plane(&s->rows[s->below + dy + t], j->taps ? j->high : r->offset[j->z],
              r->offset[j->x] != 0);
  return true;
}

static bool each_read(const ambit__group *g, ambit__strip *j,
                      bool (*f)(ambit__strip *, int, const ambit__read *))
{
  const ambit__rule *rule = g->steps[0].rule;

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
    f->low = smallest(f->low, r->low);
    f->high = largest(f->high, r->high);
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
  const ambit__rule *rule = g->steps[0].rule;
  ambit__sum sum;
  int low = 0;

  j->taps = calloc(MOST_TAPS, sizeof *j->taps);
  if (!j->taps || !ambit__rule_sum(rule, false, j->taps, MOST_TAPS, &sum)) return false;
  if (sum.from + sum.to != 1 || !is_field(g, 0) || !is_field(g, 1)) return false;
  j->ntaps = sum.n;
  j->high = low = j->taps[0].offset[j->z];
  for (int k = 0; k < j->ntaps; k++) {
    j->high = largest(j->high, j->taps[k].offset[j->z]);
    low = smallest(low, j->taps[k].offset[j->z]);
  }
  j->span = j->high - low + 1;
  return j->span > 1;
}

/* Number of cells that end lanes load beside the strip: the same for all values of a field. */
static void find_ends(ambit__strip *j)
{
  for (int i = 0; i < j->nvalues; i++) {
    ambit__strip_value *s = &j->values[i];
    int reach = 0;

    for (int k = 0; k < j->nvalues; k++)
      if (j->values[k].param == s->param)
        reach = largest(reach, largest(j->values[k].left, j->values[k].right));
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

static int kept_ahead(const ambit__strip *j, const ambit__value_row *r)
{
  return j->loads[r->load].ahead - (j->planes > 0);
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

      if (r->is_read) period = largest(period, r->high - r->low + 1 + kept_ahead(j, r));
    }
  return period;
}

/* ---- registers ---- */

/* Registers of one value of a type. */
static int words(ambit_type type)
{
  return ambit_type_size(type) > 4 ? 2 : 1;
}

static int row_registers(const ambit__strip *j, const ambit__strip_value *s,
                         const ambit__value_row *r)
{
  const int ahead = r->is_read ? kept_ahead(j, r) : 0;
  int n = 0;

  if (s->ring && (!r->is_read || (j->loads[r->load].ring && r->high == r->low))) return 0;
  if (s->ring) return (r->high - r->low + 1 + ahead) * j->units;
  if (r->is_read) n += (r->high - r->low + 1 + ahead) * j->units;
  if (r->has_edges && j->apart)
    return n + (r->edge - r->edge_low + 1 + ahead) * (s->left + s->right);
  if (r->has_edges && !j->taps) n += (r->edge - r->edge_low + 1) * (s->left + s->right);
  if (r->has_edges) n += (ahead + !!j->taps) * (j->planes ? s->left + s->right : s->end);
  return n;
}

/* The constants in double of an expression, which compilers keep in registers. `seen` has
 * MOST_NUMBERS elements. */
static void find_numbers(const ambit__expr *e, double *seen, int *n)
{
  if (!e || *n == MOST_NUMBERS) return;
  find_numbers(e->a, seen, n);
  find_numbers(e->b, seen, n);
  find_numbers(e->c, seen, n);
  if (e->op != EXPR_CONST || e->type != AMBIT_F64 || *n == MOST_NUMBERS) return;
  for (int i = 0; i < *n; i++)
    if (seen[i] == e->value.real) return;
  seen[(*n)++] = e->value.real;
}

static void find_numbers_in(const ambit__stmt *list, double *seen, int *n)
{
  for (const ambit__stmt *s = list; s; s = s->next) {
    find_numbers(s->value, seen, n);
    find_numbers_in(s->body, seen, n);
    find_numbers_in(s->other, seen, n);
  }
}

static int number_registers(const ambit__rule *rule)
{
  double seen[MOST_NUMBERS];
  int n = 0;

  find_numbers_in(rule->body, seen, &n);
  return 2 * n;
}

/* Addresses, counters, predicates and constants, as allocated by ptxas 13.0 for sm_90. */
static int base_registers(const ambit__strip *j, const ambit__rule *rule)
{
  bool is_wide = false, is_real = true;

  for (int i = 0; i < j->nvalues; i++) {
    const ambit_type type = rule->params[j->values[i].param].type;

    is_wide = is_wide || words(type) == 2;
    is_real = is_real && ambit__type_is_real(type);
  }
  if (j->planes) return 16 + 20 * (j->z > 0) + (is_real ? 0 : 8) + (j->cells > 1 ? PAIRS : 0);
  if (j->taps)
    return 20 + 40 * (j->z > 0) + (is_real ? 0 : 8) +
           (j->moves ? 0 : largest(0, number_registers(rule) - FREE));
  return RING_BASE + (RING_ROW + 10 * is_wide) * j->rows;
}

/* Values that are added row by row occupy registers for only part of the time. */
static int row_share(const ambit__strip *j, int registers, int ahead)
{
  return j->by_rows ? registers * (4 * ahead + 1) / (4 * ahead + 4) : registers;
}

/* Registers for the results of a lane. Where many planes of them are shifted, ptxas needs more. */
static int result_registers(const ambit__strip *j)
{
  const int n = j->units * (j->taps ? j->span * j->rows : 1) * (j->cells > 1 ? 2 : 1);

  return j->moves && j->span > MOST_SHIFTED ? n + n / 4 : n;
}

int ambit__strip_registers(const ambit__group *g, const ambit__plan *p, const ambit__strip *j)
{
  const ambit__rule *rule = g->steps[0].rule;
  const int ahead = ahead_of(j, p);
  int n = base_registers(j, rule);

  for (int i = 0; i < j->nvalues; i++)
    for (int q = 0; q < j->values[i].nrows; q++)
      n += words(rule->params[j->values[i].param].type) *
           row_share(j, row_registers(j, &j->values[i], &j->values[i].rows[q]), ahead);
  for (int i = 0; i < rule->nparams; i++) {
    const ambit__param *param = &rule->params[i];

    n += 2 * (param->kind == PARAM_REDUCE) + 2 * is_field(g, i);
    if (ambit__sums_exactly(g, param)) n += 16; /* its windows, and a call */
    for (int c = 0; is_field(g, i) && c < param->components; c++)
      if (param->writes[c]) n += words(param->type) * result_registers(j);
  }
  return n;
}

/* ---- begin and end ---- */

/* Registers per value of the widest field. */
static int widest(const ambit__group *g)
{
  int n = 1;

  for (int i = 0; i < g->steps[0].rule->nparams; i++)
    if (is_field(g, i)) n = largest(n, words(g->steps[0].rule->params[i].type));
  return n;
}

bool ambit__strip_begin(const ambit__group *g, const ambit__plan *p, ambit__strip *j)
{
  int64_t flops = g->steps[0].rule->flops + 1;
  const int cells = ambit__strip_packed_cells(g, p->packed);

  *j = (ambit__strip){.x = g->ndims - 1,
                      .y = g->ndims > 2 ? g->ndims - 2 : -1,
                      .z = g->ndims > 2 ? g->ndims - 3 : 0,
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
  if ((p->sums && !(find_taps(g, j) && find_factors(g->steps[0].rule, p, j))) ||
      !each_read(g, j, find_reach) || !each_read(g, j, find_rows) ||
      (j->ring && !ambit__strip_find_ring(g->steps[0].rule, j)) || !find_loads(j, p)) {
    ambit__strip_end(j);
    return false;
  }
  find_ends(j);
  if (j->factored) flops = 2 * ambit__factors_operations(&j->factors);
  j->period = period_of(j, ahead_of(j, p));
  j->moves = j->taps && flops * j->lane * j->rows * j->period * widest(g) > MOST_REPEATED;
  j->by_rows = j->moves && !j->factored;
  j->period = period_of(j, ahead_of(j, p));
  if (j->ring) j->ahead = smallest(p->ahead, ambit__strip_ring_ahead(j));
  return true;
}

void ambit__strip_end(ambit__strip *j)
{
  free(j->taps);
  j->taps = NULL;
  if (j->factored) ambit__factors_end(&j->factors);
}
