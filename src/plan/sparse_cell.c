/* SPDX-License-Identifier: BSD-3-Clause */
/* sparse_cell.c - the code of a cell that has words of its own in a table (grid/deal.h).
 *
 * Tests of activity are bits of a word, so no activity is read, and a read that depends on a test
 * is one load from one of two places: all loads of a cell can be on their way at once. In a list,
 * cells of a row with a rank (grid/chunks.h) are found by counting those before them that are
 * present: a load less for each.
 */
#include "plan/sparse.h"

#include "grid/deal.h"

static const ambit__chunk_form *form_of(const ambit__gpucode_job *j)
{
  return j->group->form;
}

bool ambit__sparse_has_words(const ambit__gpucode_job *j)
{
  return j->plan->wide == 1 && (form_of(j)->list || form_of(j)->ntests);
}

/* ---- places ---- */

/* The number of the cell in the box becomes its indices. */
static void emit_indices(const ambit__gpucode_job *j)
{
  const int word = ambit__deal_number(form_of(j)), n = ambit__gpucode_indices(j->group);

  if (!n) return;
  ambit__line(j->w,
              "%s number = (ambit_i64)((ambit_u64)(ambit_u32)cells[%d * pitch + t] | "
              "(ambit_u64)(ambit_u32)cells[%d * pitch + t] << 32);",
              j->integer, word, word + 1);
  for (int d = j->group->ndims - 1; d >= 0; d--) {
    if (d < n) ambit__line(j->w, "const %s i%d = number %% extent%d;", j->integer, d, d);
    if (d) ambit__line(j->w, "number /= extent%d;", d);
  }
}

/* ---- tests ---- */

void ambit__sparse_emit_tests(const ambit__gpucode_job *j)
{
  const int first = ambit__deal_bits(form_of(j)), end = ambit__deal_number(form_of(j));

  for (int k = first; k < end; k++)
    ambit__line(j->w, "const ambit_u32 tests%d = (ambit_u32)cells[%d * pitch + t];", k - first, k);
}

/* ---- ranks ---- */

/* " + (int)(tests0 >> 3 & 1) + (int)(tests0 >> 4 & 1)": the cells of a row from one to another that
 * are present. */
static void print_count(const ambit__gpucode_job *j, const ambit__rank *r, char sign, int from,
                        int to)
{
  for (int x = from; x <= to; x++) {
    const int k = ambit__rank_test(form_of(j), j->group->ndims, r, x);

    ambit__print(j->t, " %c (int)(tests%d >> %d & 1)", sign, k / AMBIT__DEAL_TESTS,
                 k % AMBIT__DEAL_TESTS);
  }
}

/* "const ambit_i32 k5 = (tests0 >> 4 & 1 ? r2 + (int)(tests0 >> 3 & 1) : none) - 1;": the distance
 * to a cell, less its place in the row. Those that are not present have the value of `none`. */
static void emit_ranked(const ambit__gpucode_job *j, int column)
{
  const ambit__column *c = &form_of(j)->columns[column];
  const ambit__rank *r = &form_of(j)->ranks[c->rank];
  const int k = ambit__rank_test(form_of(j), j->group->ndims, r, c->lo);

  ambit__line_begin(j->w);
  ambit__print(j->t, "const ambit_i32 k%d = (tests%d >> %d & 1 ? ", column, k / AMBIT__DEAL_TESTS,
               k % AMBIT__DEAL_TESTS);
  if (!r->own)
    ambit__print(j->t, "r%d", c->rank);
  else
    ambit__print(j->t, "0");
  if (!r->own)
    print_count(j, r, '+', r->lo, c->lo - 1);
  else if (c->lo > 0)
    print_count(j, r, '+', 1, c->lo);
  else
    print_count(j, r, '-', c->lo, -1);
  ambit__print(j->t, " : none) - (%d)", c->lo);
  ambit__line_end(j->w, ";");
}

static void emit_ranks(const ambit__gpucode_job *j)
{
  const ambit__chunk_form *f = form_of(j);

  if (f->nranks)
    ambit__line(j->w, "const ambit_i32 none = (ambit_i32)(%d - at);", AMBIT__BEYOND_RUNS);
  for (int k = 0; k < f->nranks; k++)
    if (!f->ranks[k].own)
      ambit__line(j->w, "const ambit_i32 r%d = cells[%d * pitch + t];", k, ambit__deal_rank(f, k));
  for (int k = 0; k < f->ncolumns; k++)
    if (f->columns[k].reads && f->columns[k].rank >= 0) emit_ranked(j, k);
}

/* ---- a cell ---- */

/* "(int)(~tests0 >> 3 & 1)": e is (int)active[...] == 0, kernel/sparse.c. */
bool ambit__sparse_print_test(const ambit__gpucode_job *j, ambit__text *t, const ambit__expr *e)
{
  const int view = ambit__chunk_form_of(form_of(j), e->a->a->index, 0);
  const int k = ambit__chunk_form_test(form_of(j), j->group->ndims, view, e->offset, false);

  if (view < 0) return false; /* of the cell itself */
  ambit__print(t, "(int)(~tests%d >> %d & 1)", k / AMBIT__DEAL_TESTS, k % AMBIT__DEAL_TESTS);
  return true;
}

static bool is_read(const ambit__gpucode_job *j, const ambit__expr *e)
{
  return e->op == EXPR_READ && ambit__gpucode_is_field(j, e->index);
}

/* "f_at[(int)(~tests0 >> 3 & 1) ? 5 * f_c : k2 + 6 * f_c]" */
static bool print_choice(const ambit__gpucode_job *j, ambit__text *t, const ambit__expr *e)
{
  const ambit__expr *b = e->b, *c = e->c;

  if (!is_read(j, b) || !is_read(j, c) || b->index != c->index) return false;
  ambit__print(t, "%s_at[", j->rule->params[b->index].name);
  if (!ambit__sparse_print_test(j, t, e->a)) ambit__print(t, "0");
  ambit__print(t, " ? ");
  ambit__gpucode_print_offset(j, b->index, b->component, b->offset);
  ambit__print(t, " : ");
  ambit__gpucode_print_offset(j, c->index, c->component, c->offset);
  ambit__print(t, "]");
  return true;
}

static bool instead(const ambit__scope *s, ambit__text *t, const ambit__expr *e)
{
  if (e->is_outside) return ambit__sparse_print_test(s->user, t, e);
  return e->op == EXPR_COND && e->a->is_outside && print_choice(s->user, t, e);
}

void ambit__sparse_emit_place(const ambit__gpucode_job *j)
{
  const ambit__chunk_form *f = form_of(j);

  ambit__line(j->w, "const %s at = first >= 0 ? first + t : cells[t];", j->integer);
  ambit__sparse_emit_pointers(j);
  ambit__sparse_emit_tests(j);
  for (int k = 0; k < f->ncolumns; k++)
    if (f->columns[k].reads && f->columns[k].rank < 0)
      ambit__line(j->w, "const ambit_i32 k%d = cells[%d * pitch + t];", k,
                  ambit__deal_column(f, k));
  emit_ranks(j);
  ambit__sparse_emit_apart(j);
  emit_indices(j);
}

void ambit__sparse_emit_cell(const ambit__gpucode_job *j)
{
  ambit__scope s = ambit__gpucode_scope(j);

  s.instead = instead;
  if (!form_of(j)->list) ambit__sparse_emit_tests(j);
  ambit__gpucode_declare_outs(j);
  ambit__emit_stmts(&s, j->w, j->rule->body);
  ambit__gpucode_store_outs(j);
  ambit__gpucode_fold_cell(j);
}
