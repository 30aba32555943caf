/* SPDX-License-Identifier: BSD-3-Clause */
/* rows_cells.c - the cells of a block of rows at one place along them: the rule, once for each row,
 * with the row's own pointers u_at and indices i0, ... */
#include "nest/rows.h"

typedef ambit__rows_job job;

/* ---- places ---- */

static int shift_of(const job *j, int r, int axis)
{
  if (axis == j->last - 1) return r % j->rows[0];
  return axis == j->last - 2 ? r / j->rows[0] : 0;
}

ambit__nest_access ambit__rows_access(job *j, int i, int c, int r, const int *offset, const char *x)
{
  int *sum = ambit__arena_alloc(&j->n->arena, AMBIT_MAX_DIMS * sizeof *sum);
  static const int here[AMBIT_MAX_DIMS];

  if (!sum) {
    j->n->failed = true;
    return (ambit__nest_access){i, c, here, x};
  }
  for (int d = 0; d < AMBIT_MAX_DIMS; d++)
    sum[d] = d <= j->last ? shift_of(j, r, d) + (offset ? offset[d] : 0) : 0;
  return (ambit__nest_access){i, c, sum, x};
}

const char *ambit__rows_x(const job *j)
{
  return j->lanes ? "x + l" : "x";
}

const char *ambit__rows_result(job *j, int i, int c, int r)
{
  return ambit__nest_text(j->n, "%s_b%d_%d%s", ambit__nest_name(j->n, i), c, r,
                          j->lanes ? "[l]" : "");
}

typedef struct each {
  job *j;
  int r;
  int k; /* the number of the next result */
  void (*f)(job *j, ambit__nest_access a, int r);
} each;

/* Whether the next result is one of this walk. */
static bool is_due(each *e)
{
  const int k = e->k++;

  return !e->j->end || (k >= e->j->first && k < e->j->end);
}

static void call_one(ambit__nest *n, ambit__nest_access a, void *user)
{
  each *e = user;

  (void)n;
  if (is_due(e) && !ambit__rows_is_total(e->j, a.param)) e->f(e->j, a, e->r);
}

void ambit__rows_each_result(job *j, void (*f)(job *j, ambit__nest_access a, int r))
{
  for (int r = 0; r < j->count; r++) {
    each e = {.j = j, .r = r, .f = f};

    ambit__nest_each_output(j->n, call_one, &e);
  }
}

/* ---- a row ---- */

/* Its place along an axis; along the last one, that of the cell. */
static const char *place_of(job *j, int r, int d)
{
  ambit__nest *n = j->n;
  const char *at = ambit__nest_text(n, "%s%d", j->form ? "from" : "offset", d);

  if (d == j->last) return ambit__nest_text(n, "%s + %s", at, ambit__rows_x(j));
  return j->form ? at : ambit__nest_text(n, "%s + y%d + %d", at, d, shift_of(j, r, d));
}

void ambit__rows_let_parts_of_rows(job *j)
{
  const ambit__hoists *h = &j->n->hoists;

  for (int r = 0; h->nrows && r < j->count; r++) {
    const char *index[AMBIT_MAX_DIMS] = {NULL};

    for (int d = 0; d < ambit__group_indices(j->n->group) && d < j->last; d++)
      index[d] = place_of(j, r, d);
    for (int i = 0; i < h->nrows; i++)
      ambit__nest_do(j->n, "const %s row%d_%d = %s", j->n->dialect->types[h->rows[i]->type], i, r,
                     ambit__nest_row_part(j->n, i, r, index));
  }
}

/* ---- a cell ---- */

void ambit__rows_let_place(job *j, int r)
{
  ambit__nest *n = j->n;

  for (int d = 0; d < ambit__group_indices(n->group); d++)
    ambit__nest_do(n, "const int64_t i%d = %s", d, place_of(j, r, d));
  for (int i = 0; i < n->rule->nparams; i++) {
    const ambit__param *p = ambit__nest_param(n, i);
    const ambit__nest_access a = ambit__rows_access(j, i, 0, r, NULL, ambit__rows_x(j));

    if (ambit__nest_is_field(n, i) && !ambit__nest_is_binned(n, i))
      ambit__nest_do(n, "%s%s *%s_at = %s", p->is_written ? "" : "const ",
                     n->dialect->types[ambit__nest_stored(n, i)], p->name,
                     ambit__nest_pointer(n, &a));
  }
}

static void keep_result(ambit__nest *n, ambit__nest_access a, void *user)
{
  each *e = user;

  if (!is_due(e) || ambit__rows_is_total(e->j, a.param)) return;
  ambit__nest_do(n, "%s = %s", ambit__rows_result(e->j, a.param, a.component, e->r),
                 ambit__nest_name_of(n, "out", ambit__nest_param(n, a.param), a.component));
}

/* The contributions of a row to reductions: variables r_of0, r_of1, ..., or numbers of a block. */
static void keep_contributions(job *j, int r, bool ragged)
{
  ambit__nest *n = j->n;

  for (int i = 0; i < n->rule->nparams; i++) {
    const char *name = ambit__nest_name(n, i);

    if (!ambit__nest_is_reduction(n, i) && !ambit__rows_is_total(j, i)) continue;
    if (!ambit__rows_is_exact(j, i))
      ambit__nest_do(n, "%s_of%d = %s_out", name, r, name);
    else if (!j->lanes)
      ambit__nest_do(n, "%s_part[%d] = %s_out", name, r, name);
    else
      ambit__nest_do(n, "%s_part[%d * LANES + l] = %s%s_out%s", name, r,
                     ragged ? "x + l >= x0 && x + l < x1 ? " : "", name, ragged ? " : 0" : "");
  }
}

/* Of several rows by way of the pointers to the first one, so that compilers see which reads, and
 * which of the values computed from them, are the same: Darcy's law divides once per face between
 * rows in the place of twice. */
static ambit__nest_access place_in_block(void *user, int param, const ambit__read *r)
{
  const each *e = user;

  return ambit__rows_access(e->j, param, r->component, e->r, r->offset, ambit__rows_x(e->j));
}

void ambit__rows_let_loads(job *j, int r)
{
  each here = {.j = j, .r = r};

  ambit__nest_let_loads(j->n, j->count > 1 ? place_in_block : NULL, &here);
}

static void add_cell(job *j, int r, int inside, bool ragged)
{
  ambit__nest *n = j->n;
  each here = {.j = j, .r = r};

  ambit__nest_block(n);
  if (inside >= 0) ambit__nest_do(n, "enum { inside = %d }", inside);
  ambit__rows_let_place(j, r);
  ambit__rows_let_loads(j, r);
  ambit__nest_let_outs(n);
  ambit__nest_node(n, NODE_RULE, .inside = inside, .row = r);
  if (j->direct)
    ambit__nest_store_outs(n);
  else
    ambit__nest_each_output(n, keep_result, &here);
  keep_contributions(j, r, ragged);
  ambit__nest_close(n);
}

/* ---- reductions ---- */

/* "float change_of0, change_of1;" */
static void let_contributions(job *j)
{
  ambit__nest *n = j->n;

  for (int i = 0; i < n->rule->nparams; i++) {
    const ambit__param *p = ambit__nest_param(n, i);

    if (!ambit__rows_is_total(j, i) &&
        (!ambit__nest_is_reduction(n, i) || ambit__rows_is_exact(j, i)))
      continue;
    for (int r = 0; r < j->count; r++)
      ambit__nest_do(n, "%s %s_of%d", n->dialect->types[ambit__nest_part_type(p)], p->name, r);
  }
}

/* The lanes that are no cells of the rows keep what they had: before, it is noted; after, it is put
 * back. */
static void spare_lanes(job *j, bool before)
{
  ambit__nest *n = j->n;

  for (int i = 0; i < n->rule->nparams; i++) {
    const ambit__param *p = ambit__nest_param(n, i);

    if (!ambit__nest_is_reduction(n, i) || ambit__rows_is_exact(j, i)) continue;
    if (before)
      ambit__nest_do(n, "const %s %s_was = %s_part[l]", n->dialect->types[ambit__nest_part_type(p)],
                     p->name, p->name);
    else
      ambit__nest_do(n, "%s_part[l] = x + l >= x0 && x + l < x1 ? %s_part[l] : %s_was", p->name,
                     p->name, p->name);
  }
}

/* Folds the contributions to totals of field i, of rows that have the same one by pairs first. */
static void fold_into_totals(job *j, int i)
{
  ambit__nest *n = j->n;
  const ambit__param *p = ambit__nest_param(n, i);
  const int totals = ambit__rows_totals(j, i);
  const char *const of = ambit__nest_text(n, "%s_of", p->name);

  for (int step = 1; totals == 1 && step < j->count; step *= 2)
    for (int r = 0; r + step < j->count; r += 2 * step)
      ambit__nest_node(n, NODE_FOLD, .name = ambit__nest_text(n, "%s%d", of, r),
                       .value = ambit__nest_text(n, "%s%d", of, r + step),
                       .wide = ambit__nest_part_type(p), .access = {.param = i});
  for (int r = 0; r < totals; r++)
    if (ambit__rows_has_lanes(j, i))
      ambit__nest_node(n, NODE_FOLD, .name = ambit__nest_text(n, "%s_lane%d[l]", p->name, r),
                       .value = ambit__nest_text(n, "%s%d", of, r),
                       .wide = ambit__nest_part_type(p), .access = {.param = i});
    else
      ambit__nest_node(n, NODE_STORE, .value = ambit__nest_text(n, "%s%d", of, r),
                       .access = ambit__rows_access(j, i, 0, r, NULL, ambit__rows_x(j)));
}

/* Folds the contributions of rows by pairs, then into the part. One after the other they would wait
 * for each other: a maximum of 8 rows took twice the time of a star. */
static void fold_contributions(job *j, bool ragged)
{
  ambit__nest *n = j->n;

  if (ragged) spare_lanes(j, true);
  for (int step = 1; step < j->count; step *= 2)
    for (int r = 0; r + step < j->count; r += 2 * step)
      ambit__nest_fold_into(n, ambit__nest_text(n, "of%d", r),
                            ambit__nest_text(n, "of%d", r + step), false);
  ambit__nest_fold_into(n, j->lanes ? "part[l]" : "part", "of0", false);
  if (ragged) spare_lanes(j, false);
  for (int i = 0; i < n->rule->nparams; i++) {
    if (!ambit__rows_is_total(j, i)) continue;
    if (ragged) ambit__nest_if(n, "x + l >= x0 && x + l < x1");
    fold_into_totals(j, i);
    if (ragged) ambit__nest_close(n);
  }
}

void ambit__rows_add_cells(job *j, int inside, bool ragged)
{
  if (j->taps) {
    ambit__rows_add_sum(j);
    return;
  }
  let_contributions(j);
  for (int r = 0; r < j->count; r++)
    add_cell(j, r, inside, ragged);
  fold_contributions(j, ragged);
}
