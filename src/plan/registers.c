/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/registers.h"

#include "base/integers.h"

#include <math.h>

enum {
  CELL = 46, /* the base of a thread per cell */
  /* tiles that move, in two dimensions and in three: the base, and at faces */
  WINDOW = 34,
  WINDOW_EDGE = 56,
  DEEP_WINDOW = 30,
  DEEP_WINDOW_EDGE = 38,
  RESIDENT = 20, /* tiles that stay */
  /* strips that advance through a ring: the base, and what each row takes from there */
  RING = 10,
  RING_ROW = 18,
  PACKED = 30,           /* bytes while they are computed */
  EXACT = 16,            /* windows of a strict sum, and a call */
  POINT = 3,             /* a place in a list, and what was seen */
  DOUBLE_CONSTANTS = 16, /* of windows, which compilers keep in registers, */
  FREE = 26,             /* and of strips in these of the base */
  MOST_SHIFTED = 7       /* planes of results that are shifted without more registers */
};

int ambit__registers_blocks(const ambit__target *t, int threads, int registers)
{
  return (int)ambit__target_machine(t)->registers / threads / ((registers + 7) / 8 * 8);
}

int ambit__registers_most(const ambit__target *t, int threads)
{
  return (int)ambit__target_machine(t)->registers / threads / 8 * 8;
}

int ambit__registers_of_cell(const ambit__rule *rule)
{
  return CELL + (int)ambit__price_of(rule).written / 4;
}

/* ---- strips ---- */

int ambit__registers_planes(const ambit__strip *j, const ambit__value_row *r)
{
  return r->high - r->low + 1 + j->loads[r->load].ahead - (j->planes > 0);
}

/* Units that a lane holds of a row, and of the cells beside its own. */
static int units_of_row(const ambit__strip *j, const ambit__strip_value *s,
                        const ambit__value_row *r)
{
  const int sides = s->left + s->right, span = r->edge - r->edge_low + 1;
  const int ahead = r->is_read ? j->loads[r->load].ahead - (j->planes > 0) : 0;
  int n = 0;

  if (s->ring && (!r->is_read || (j->loads[r->load].ring && r->high == r->low))) return 0;
  if (r->is_read) n = ambit__registers_planes(j, r) * j->units;
  if (s->ring || !r->has_edges) return n;
  if (j->apart) return n + (span + ahead) * sides;
  if (!j->taps) n += span * sides;
  return n + (ahead + !!j->taps) * (j->planes ? sides : s->end);
}

/* Values that are added row by row occupy registers for only part of the time. */
static int row_share(const ambit__strip *j, const ambit__value_row *r, int units)
{
  const int ahead = r->is_read ? j->loads[r->load].ahead : 0;

  return j->by_rows ? units * (4 * ahead + 1) / (4 * ahead + 4) : units;
}

/* Those of weights in double, which compilers keep in registers, beyond the ones of the base. */
static int weight_registers(const ambit__strip *j)
{
  int n = 0;

  for (int k = 0; k < j->ntaps; k++) {
    int same = 0;

    while (same < k && fabs(j->taps[same].weight) != fabs(j->taps[k].weight))
      same++;
    n += same == k;
  }
  return ambit__max(0, 2 * n - FREE);
}

static int strip_base(const ambit__strip *j, const ambit__rule *rule)
{
  bool is_wide = false, is_real = true;

  for (int i = 0; i < j->nvalues; i++) {
    const ambit_type type = rule->params[j->values[i].param].type;

    is_wide = is_wide || ambit__registers_of(type) == 2;
    is_real = is_real && ambit__type_is_real(type);
  }
  if (j->planes) return 16 + 20 * (j->z > 0) + (is_real ? 0 : 8) + (j->cells > 1 ? PACKED : 0);
  if (j->taps)
    return 20 + 40 * (j->z > 0) + (is_real ? 0 : 8) +
           (is_wide && !j->moves ? weight_registers(j) : 0);
  return RING + (RING_ROW + 10 * is_wide) * j->rows;
}

/* Results of a lane. Where many planes of them are shifted, ptxas needs more. */
static int results_of(const ambit__strip *j)
{
  const int n = j->units * (j->taps ? j->span * j->rows : 1) * (j->cells > 1 ? 2 : 1);

  return j->moves && j->span > MOST_SHIFTED ? n + n / 4 : n;
}

int ambit__registers_of_strip(const ambit__group *g, const ambit__strip *j)
{
  const ambit__rule *rule = g->rule;
  int n = strip_base(j, rule);

  for (int i = 0; i < j->nvalues; i++)
    for (int q = 0; q < j->values[i].nrows; q++) {
      const ambit__strip_value *s = &j->values[i];

      const int units = ambit__binding_is_uniform(&g->bind[s->param], g->ndims)
                            ? ambit__registers_planes(j, &s->rows[q])
                            : units_of_row(j, s, &s->rows[q]);

      n += ambit__registers_of(rule->params[s->param].type) * row_share(j, &s->rows[q], units);
    }
  for (int i = 0; i < rule->nparams; i++) {
    const ambit__param *p = &rule->params[i];
    const bool is_field = p->kind == PARAM_FIELD && g->bind[i].is_field;

    n += 2 * (p->kind == PARAM_REDUCE || is_field) + ambit__sums_exactly(g, p) * EXACT;
    for (int c = 0; is_field && c < p->components; c++)
      n += p->writes[c] * ambit__registers_of(p->type) * results_of(j);
  }
  return n;
}

/* ---- tiles that move ---- */

/* Of the rows of a value that are kept between turns. */
static int kept_rows(const ambit__window *j, int value)
{
  const ambit__window_value *f = &j->values[value];
  const int shared = f->shared < 0 ? 0 : f->last - f->shared;
  const int fetched = f->fetched < 0 ? 0 : f->forgotten - f->fetched;
  const int cells = (f->last - f->lag) * j->lane + shared * (f->left + f->right);
  const int beside = fetched * (j->lane + (f->corners ? f->left + f->right : 0));

  return ambit__flow_words(j->flow, value) * (j->rows * cells + (f->down + f->up) * beside);
}

/* Words of the values that a stage computes beside its first; of the stage with most of them. */
static int further_words(const ambit__window *j)
{
  int further = 0;

  for (int i = 0; i < j->flow->nstages; i++) {
    int words = 0, first = 0;

    for (int v = 0; v < j->flow->nvalues; v++) {
      if (j->flow->values[v].stage != i) continue;
      words += ambit__flow_words(j->flow, v);
      if (!first) first = words;
    }
    further = ambit__max(further, words - first);
  }
  return further;
}

/* The base, and the rows that are being computed: in two dimensions all rows of a stage, and as
 * many that it reads. */
static int window_base(const ambit__window *j)
{
  int wide = 0;

  for (int v = 0; v < j->flow->nvalues; v++) {
    const int rows = j->y < 0 ? 2 : j->rows + 1;

    wide = ambit__max(wide, ambit__flow_words(j->flow, v) *
                                (rows * j->lane + j->values[v].left + j->values[v].right));
  }
  if (j->y >= 0) return wide + (j->edge ? DEEP_WINDOW_EDGE : DEEP_WINDOW);
  return wide + 2 * j->lane * further_words(j) + (j->edge ? WINDOW_EDGE : WINDOW) +
         (wide > 2 * j->lane + 4 ? DOUBLE_CONSTANTS : 0);
}

int ambit__registers_of_window(const ambit__window *j)
{
  int n = window_base(j);

  for (int v = 0; v < j->flow->nvalues; v++) {
    n += kept_rows(j, v);
    if (j->flow->values[v].stage < 0)
      n += ambit__flow_words(j->flow, v) * (j->ahead > 2 ? 3 : j->ahead) * j->rows * j->lane + 2;
    if (j->flow->values[v].target >= 0) n += 2;
  }
  for (int i = 0; i < j->flow->nstages; i++) {
    const ambit__window_stage *f = &j->stages[i];

    if (f->taps) n += ambit__flow_words(j->flow, f->value) * (f->high - f->low) * j->rows * j->lane;
    if (!j->flow->stages[i].iteration)
      n += j->flow->stages[i].nplaces + (j->flow->stages[i].points ? POINT : 0);
  }
  return n;
}

/* ---- tiles that stay ---- */

/* All loaded values, and of those that are computed all but the last, which takes the place of one
 * of them row by row, or plane by plane. */
int ambit__registers_of_resident(const ambit__resident *j)
{
  const ambit__flow *f = j->tile.flow;
  const int rows = j->tile.planes ? j->tile.rows + 2 : 3;
  const int cells = ambit__max(j->tile.planes, 1) * j->tile.rows * j->tile.lane;
  int n = RESIDENT + ambit__registers_of_widest(f) * rows * j->tile.lane, computed = 0;

  for (int v = 0; v < f->nvalues; v++)
    if (f->values[v].stage < 0 || computed++) n += ambit__flow_words(f, v) * cells;
  return n + (j->tile.planes ? 2 * ambit__resident_letters(j) : 0);
}
