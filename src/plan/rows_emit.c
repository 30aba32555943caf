/* SPDX-License-Identifier: BSD-3-Clause */
/* rows_emit.c - writes the code of the strategy `rows`: the whole file, and the loops over the box.
 *
 * The generated file has, in this order:
 *
 *   subscripts    of a cell, in rules with look-ups by vectors
 *   cell          the rule: reads through u_at, which points at the cell; writes through v_to
 *   singleN       one cell in each of N rows
 *   vectorN       a vector of cells in each of N rows; at their ends, part of one
 *   rowsN         N rows from x0 to x1
 *   ambit_kernel  the loops over the box
 *
 * The parameters of all but the last are `call`, then the pointers u_at and indices i0, i1, ...,
 * then the invariants: strides u_s0, values k_v.
 */
#include "codegen/flat.h"
#include "plan/rows.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_VECTOR = 64 }; /* bytes; the largest AMBIT_VECTOR (codegen/prelude/c.h) */

/* embedded by the build */
extern const char ambit__prelude_full_call[], ambit__prelude_lanes[], ambit__prelude_look_up[];

typedef ambit__rows_job job;

/* ---- the box ---- */

static void emit_parameters(const job *j)
{
  const ambit__scope s = ambit__rows_scope_of(j);

  for (int i = 0; i < j->rule->nparams; i++) {
    const char *name = ambit__rows_param(j, i)->name, *type = ambit__rows_type_of(j, i);

    for (int d = ambit__rows_first_stride(j); d < ambit__rows_end_stride(j, i); d++)
      ambit__line(j->w, "const int64_t %s_s%d = call->stride[%d][%d];", name, d, i, d);
    if (ambit__rows_is_field(j, i) && ambit__rows_param(j, i)->components > 1)
      ambit__line(j->w, "const int64_t %s_c = call->component[%d];", name, i);
    if (ambit__rows_is_value(j, i))
      ambit__line(j->w, "const %s %s_v = *(const %s *)call->origin[%d];", type, name, type, i);
    if (ambit__rows_is_reduction(j, i) && !ambit__rows_is_exact(j, i)) ambit__rows_open_total(j, i);
  }
  ambit__hoists_emit(&j->hoists, &s, j->w);
}

/* Pointers and indices of the row at y0, y1, ...; x counts from 0. */
static void emit_row_start(const job *j)
{
  for (int i = 0; i < j->rule->nparams; i++) {
    if (!ambit__rows_is_field(j, i)) continue;
    ambit__line_begin(j->w);
    ambit__print(j->t, "%s *%s_at = (%s *)call->origin[%d]", ambit__rows_memory_type(j, i),
                 ambit__rows_param(j, i)->name, ambit__rows_memory_type(j, i), i);
    for (int d = 0; d < j->last; d++)
      ambit__print(j->t, " + y%d * %s_s%d", d, ambit__rows_param(j, i)->name, d);
    ambit__line_end(j->w, ";");
  }
  for (int d = 0; j->rule->max_axis >= 0 && d < j->ndims; d++)
    if (d == j->last)
      ambit__line(j->w, "const int64_t i%d = call->offset[%d];", d, d);
    else
      ambit__line(j->w, "const int64_t i%d = call->offset[%d] + y%d;", d, d, d);
}

/* "for (y0 = lo; y0 < hi; y0 += step)", in whole blocks of rows as long as they fit. */
static void open_axis(const job *j, int d, const char *lo, const char *hi)
{
  ambit__open(j->w, "for (int64_t y%d = %s, n%d; y%d < %s; y%d += n%d)", d, lo, d, d, hi, d, d);
}

static void emit_row_calls(const job *j)
{
  const int n = j->plan->rows[0] * j->plan->rows[1];
  const int axis = j->plan->rows[1] > 1 ? j->last - 2 : j->last - 1;

  emit_row_start(j);
  ambit__rows_emit_inside(j);
  if (n > 1) {
    ambit__line(j->w, "if (n%d == %d)", axis, n);
    j->w->depth++;
    ambit__rows_call(j, "rows", n, "total", ", x0, x1);");
    j->w->depth--;
    ambit__line(j->w, "else");
    j->w->depth++;
  }
  ambit__rows_call(j, "rows", 1, "total", ", x0, x1);");
  if (n > 1) j->w->depth--;
}

/* The loops over all axes but the last. With plan->block, the axis before the last is cut, and all
 * planes of one cut are finished before the next. */
static void emit_loops(const job *j)
{
  const int blocked = j->plan->block ? j->last - 1 : -1;
  int open = 0;

  if (j->plan->block) {
    ambit__open(j->w, "for (int64_t b0 = call->lo[%d]; b0 < call->hi[%d]; b0 += %lld)", blocked,
                blocked, (long long)j->plan->block);
    ambit__line(j->w, "const int64_t b1 = b0 + %lld < call->hi[%d] ? b0 + %lld : call->hi[%d];",
                (long long)j->plan->block, blocked, (long long)j->plan->block, blocked);
    open++;
  }
  for (int d = 0; d < j->last; d++, open++) {
    int n = d == j->last - 1 ? j->plan->rows[0] : d == j->last - 2 ? j->plan->rows[1] : 1;
    char lo[32], hi[32];

    snprintf(lo, sizeof lo, "call->lo[%d]", d);
    snprintf(hi, sizeof hi, "call->hi[%d]", d);
    open_axis(j, d, d == blocked ? "b0" : lo, d == blocked ? "b1" : hi);
    if (n > 1)
      ambit__line(j->w, "n%d = %s - y%d >= %d ? %d : 1;", d, d == blocked ? "b1" : hi, d, n, n);
    else
      ambit__line(j->w, "n%d = 1;", d);
  }
  emit_row_calls(j);
  while (open-- > 0)
    ambit__close(j->w);
}

/* ---- chunks of a sparse grid ---- */

/* The distances to the rows that field i reads. */
static void emit_columns(const job *j, int i)
{
  const char *name = ambit__rows_param(j, i)->name;

  for (int k = 0; k < j->form->ncolumns; k++)
    if (!ambit__chunk_form_uses(j->form, i, ambit__rows_param(j, i)->components, k))
      continue;
    else if (j->bind[i].contiguous)
      ambit__line(j->w, "const int64_t %s_k%d = chunk[%d];", name, k, AMBIT__CHUNK_COLUMN + k);
    else
      ambit__line(j->w, "const int64_t %s_k%d = chunk[%d] * %s_s%d;", name, k,
                  AMBIT__CHUNK_COLUMN + k, name, j->last);
}

/* Pointers, indices and distances of a chunk, whose cells are x0 to x1 from there. Non-temporal
 * stores are of whole vectors: they begin at one. */
static void emit_chunk_start(const job *j)
{
  ambit__line(j->w, "const int64_t x0 = %s, x1 = x0 + chunk[%d], at = chunk[%d] - x0;",
              j->plan->nontemporal ? "chunk[0] & (LANES - 1)" : "0", AMBIT__CHUNK_CELLS,
              AMBIT__CHUNK_AT);
  for (int i = 0; i < j->rule->nparams; i++) {
    const char *name = ambit__rows_param(j, i)->name, *type = ambit__rows_memory_type(j, i);

    if (!ambit__rows_is_field(j, i)) continue;
    if (j->bind[i].contiguous)
      ambit__line(j->w, "%s *%s_at = (%s *)call->origin[%d] + at;", type, name, type, i);
    else
      ambit__line(j->w, "%s *%s_at = (%s *)call->origin[%d] + at * %s_s%d;", type, name, type, i,
                  name, j->last);
    emit_columns(j, i);
  }
  if (j->rule->max_axis < 0) return;
  ambit__line(j->w, "int64_t number = full->cells[k];");
  for (int d = j->last; d >= 0; d--) {
    ambit__line(j->w, "const int64_t i%d = number %% call->extent[%d]%s;", d, d,
                d == j->last ? " - x0" : "");
    if (d) ambit__line(j->w, "number /= call->extent[%d];", d);
  }
}

static void emit_chunks(const job *j)
{
  const bool kept = ambit__rows_keeps_parts(j);

  ambit__line(j->w, "const ambit_full_call *full = (const ambit_full_call *)call;");
  if (kept) ambit__rows_declare_parts(j);
  ambit__open(j->w, "for (int64_t k = full->first; k < full->end; k++)");
  ambit__line(j->w, "const int32_t *chunk = full->chunks + k * %d;",
              AMBIT__CHUNK_COLUMN + j->form->ncolumns);
  emit_chunk_start(j);
  if (j->tests) /* both of its halves */
    ambit__line(j->w, "const int inside = chunk[%d] + (int)x0 * 0x10001;", AMBIT__CHUNK_INNER);
  ambit__rows_call(j, "rows", 1, kept ? "part" : "total", ", x0, x1);");
  ambit__close(j->w);
  if (kept) ambit__rows_fold_parts(j);
}

static void emit_entry(const job *j, const char *name)
{
  ambit__print(j->t, "\nvoid %s(const ambit_call *call)\n{\n", name);
  j->w->depth++;
  emit_parameters(j);
  ambit__rows_open_blocks(j);
  if (j->form) {
    emit_chunks(j);
  } else if (j->plan->strip) {
    ambit__open(j->w, "for (int64_t x0 = call->lo[%d], x1; x0 < call->hi[%d]; x0 = x1)", j->last,
                j->last);
    ambit__line(j->w, "x1 = (x0 / %lld + 1) * %lld;", (long long)j->plan->strip,
                (long long)j->plan->strip);
    ambit__line(j->w, "if (x1 > call->hi[%d]) x1 = call->hi[%d];", j->last, j->last);
  } else {
    ambit__line(j->w, "const int64_t x0 = call->lo[%d], x1 = call->hi[%d];", j->last, j->last);
  }
  if (!j->form) emit_loops(j);
  if (j->plan->strip) ambit__close(j->w);
  ambit__rows_close_totals(j);
  ambit__rows_close_blocks(j);
  if (j->plan->nontemporal) ambit__line(j->w, "AMBIT_FENCE();");
  ambit__close(j->w);
}

/* ---- the file ---- */

/* The size of the narrowest value in the lanes: of those written, or if there are none, of the real
 * numbers read, or if there are none, of all that are read. */
static size_t lane_bytes(const job *j)
{
  size_t least = 0;

  for (int pass = 0; pass < 3 && !least; pass++)
    for (int i = 0; i < j->rule->nparams; i++) {
      size_t size = ambit_type_size(ambit__rows_param(j, i)->type);

      if (!ambit__rows_is_field(j, i) || (pass == 0 && !ambit__rows_param(j, i)->is_written) ||
          (pass == 1 && !ambit__type_is_real(ambit__rows_param(j, i)->type)))
        continue;
      if (!least || size < least) least = size;
    }
  return least ? least : sizeof(float);
}

/* Whether all factors of weights can be hoisted. */
static bool has_room(const ambit__rule *rule)
{
  int n = 0;

  for (int i = 0; i < rule->nlocals; i++)
    n += rule->locals[i].is_shared;
  return n <= AMBIT__HOISTS;
}

bool ambit__rows_taps(const ambit__group *g, ambit__tap *taps, ambit__sum *sum)
{
  const ambit__group_step *step = &g->steps[0];
  const ambit__param *p = step->rule->params;

  if (g->strict || !ambit__rule_sum(step->rule, false, taps, AMBIT__ROWS_TAPS, sum)) return false;
  return step->bind[sum->from].is_field && step->bind[sum->to].is_field &&
         p[sum->from].type == p[sum->to].type && has_room(step->rule);
}

static void find_taps(job *j, const ambit__group *g)
{
  ambit__sum sum = {0};

  if (j->direct) return;
  j->taps = calloc(AMBIT__ROWS_TAPS, sizeof *j->taps);
  j->t->failed |= !j->taps;
  if (!j->taps) return;
  if (ambit__rows_taps(g, j->taps, &sum)) {
    j->from = sum.from;
    j->to = sum.to;
    j->ntaps = sum.n;
    return;
  }
  j->t->failed |= sum.starved;
  free(j->taps);
  j->taps = NULL;
}

static void examine(job *j)
{
  for (int i = 0; i < j->rule->nparams; i++) {
    if (ambit__rows_is_reduction(j, i)) j->reduces = true;
    if (!ambit__rows_is_field(j, i)) continue;
    if (j->bind[i].shared || (ambit__rows_param(j, i)->is_written && !j->bind[i].contiguous))
      j->direct = true;
  }
}

/* Whether every output has a contiguous twin, and vectors are not longer than the space beside
 * rows. */
static bool stores_whole(const job *j)
{
  bool any = false;

  if (!j->plan->nontemporal || j->reduces || j->direct ||
      lane_bytes(j) * AMBIT__ALIGNED < MOST_VECTOR)
    return false;
  for (int i = 0; i < j->rule->nparams; i++) {
    const int twin = j->bind[i].twin - 1;

    if (!ambit__rows_is_field(j, i) || !ambit__rows_param(j, i)->is_written) continue;
    if (twin < 0 || !j->bind[twin].contiguous) return false;
    any = true;
  }
  return any;
}

void ambit__rows_emit(const ambit__group *g, const ambit__target *t, const ambit__plan *p,
                      ambit__writer *w)
{
  const int one[2] = {1, 1};
  ambit__narrow narrow = {0};
  ambit__shares shares = {0};
  ambit__factors factors = {0};
  job j = {.group = g,
           .plan = p,
           .rule = g->steps[0].rule,
           .bind = g->steps[0].bind,
           .form = g->form,
           .ndims = g->ndims,
           .last = g->ndims - 1,
           .strict = g->strict,
           .for_people = g->for_people,
           .w = w,
           .t = &w->text};

  (void)t;
  examine(&j);
  ambit__rows_find_tests(&j);
  j.flat = ambit__rule_branches(j.rule);
  ambit__rows_find_wide(&j, lane_bytes(&j));
  j.whole = stores_whole(&j);
  find_taps(&j, g);
  if (j.taps && p->factored) {
    if (ambit__factors_begin(&factors, j.taps, j.ntaps, j.last))
      j.factors = &factors;
    else
      w->text.failed = true;
  }
  if (!ambit__rows_begin_narrow(&j, &narrow, &shares)) w->text.failed = true;
  if (!j.narrow) ambit__hoists_begin(&j.hoists, j.rule);
  ambit__emit_head(g, p, w);
  if (j.narrow) ambit__print(&w->text, "%s\n", ambit__prelude_lanes);
  if (j.nlooks) ambit__print(&w->text, "%s\n", ambit__prelude_look_up);
  if (j.whole || j.form) ambit__print(&w->text, "%s\n", ambit__prelude_full_call);
  ambit__line(w, "enum { LANES = AMBIT_VECTOR / %zu, AHEAD = 512 / %zu };\n", lane_bytes(&j),
              lane_bytes(&j));
  ambit__rows_emit_room(&j);
  if (!j.taps) ambit__rows_emit_cell(&j);
  if (j.factors)
    ambit__rows_emit_factored(&j);
  else
    ambit__rows_emit_block(&j, one);
  if (p->rows[0] * p->rows[1] > 1) ambit__rows_emit_block(&j, p->rows);
  emit_entry(&j, ambit__entry_name(g));
  free(j.taps);
  ambit__factors_end(&factors);
  ambit__shares_end(&shares);
  ambit__narrow_end(&narrow);
}
