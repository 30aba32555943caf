/* SPDX-License-Identifier: BSD-3-Clause */
/* units_cell.c - units of one cell, which may have words of its own in a table (grid/assignment.h).
 *
 * Tests of activity are bits of a word, so no activity is read, and a read that depends on a test
 * is one load from one of two places: all loads of a cell can be on their way at once. In a list,
 * cells of a row with a rank (grid/chunks.h) are found by counting those before them that are
 * present: a load less for each.
 */
#include "grid/assignment.h"
#include "nest/units.h"

static const ambit__chunk_form *form_of(const ambit__nest *n)
{
  return n->group->form;
}

bool ambit__units_have_words(const ambit__nest *n)
{
  return n->wide == 1 && (form_of(n)->list || form_of(n)->ntests);
}

/* ---- tests ---- */

static void let_tests(ambit__nest *n)
{
  const int first = ambit__assignment_bits(form_of(n)), end = ambit__assignment_number(form_of(n));

  for (int k = first; k < end; k++)
    ambit__nest_do(n, "const ambit_u32 tests%d = (ambit_u32)cells[%d * pitch + t]", k - first, k);
}

/* "(int)(~tests0 >> 3 & 1)": e is (int)active[...] == 0, kernel/sparse.c. Returns false if it is
 * that of the cell itself. */
static bool print_test(const ambit__nest *n, ambit__text *t, const ambit__expr *e)
{
  const int view = ambit__chunk_form_of(form_of(n), e->a->a->index, 0);
  const int k = ambit__chunk_form_test(form_of(n), n->group->ndims, view, e->offset, false);

  if (view < 0) return false;
  ambit__print(t, "(int)(~tests%d >> %d & 1)", k / AMBIT__ASSIGNMENT_TESTS,
               k % AMBIT__ASSIGNMENT_TESTS);
  return true;
}

static bool is_read(const ambit__nest *n, const ambit__expr *e)
{
  return e->op == EXPR_READ && ambit__nest_is_field(n, e->index);
}

static void print_offset(const ambit__nest *n, ambit__text *t, const ambit__expr *e)
{
  ambit__nest_print_offset(n, t, &(ambit__nest_access){e->index, e->component, e->offset, NULL});
}

/* "f_at[(int)(~tests0 >> 3 & 1) ? 5 * f_c : k2 + 6 * f_c]" */
static bool print_choice(const ambit__nest *n, ambit__text *t, const ambit__expr *e)
{
  if (!is_read(n, e->b) || !is_read(n, e->c) || e->b->index != e->c->index) return false;
  ambit__print(t, "%s_at[", ambit__nest_name(n, e->b->index));
  if (!print_test(n, t, e->a)) ambit__print(t, "0");
  ambit__print(t, " ? ");
  print_offset(n, t, e->b);
  ambit__print(t, " : ");
  print_offset(n, t, e->c);
  ambit__print(t, "]");
  return true;
}

static bool instead(ambit__nest *n, const ambit__node *rule, ambit__text *t, const ambit__expr *e)
{
  (void)rule;
  if (e->is_outside) return print_test(n, t, e);
  return e->op == EXPR_COND && e->a->is_outside && !n->loads_first && print_choice(n, t, e);
}

/* ---- a list ---- */

/* The number of the cell in the box becomes its indices. */
static void let_indices(ambit__nest *n)
{
  const int word = ambit__assignment_number(form_of(n)), indices = ambit__group_indices(n->group);

  if (!indices) return;
  ambit__nest_do(n,
                 "%s number = (ambit_i64)((ambit_u64)(ambit_u32)cells[%d * pitch + t] | "
                 "(ambit_u64)(ambit_u32)cells[%d * pitch + t] << 32)",
                 n->integer, word, word + 1);
  for (int d = n->group->ndims - 1; d >= 0; d--) {
    if (d < indices) ambit__nest_do(n, "const %s i%d = number %% extent%d", n->integer, d, d);
    if (d) ambit__nest_do(n, "number /= extent%d", d);
  }
}

/* " + (int)(tests0 >> 3 & 1) + (int)(tests0 >> 4 & 1)": the cells of a row from one to another that
 * are present. */
static const char *count_of(ambit__nest *n, const ambit__rank *r, char sign, int from, int to)
{
  const char *sum = "";

  for (int x = from; x <= to; x++) {
    const int k = ambit__rank_test(form_of(n), n->group->ndims, r, x);

    sum = ambit__nest_text(n, "%s %c (int)(tests%d >> %d & 1)", sum, sign,
                           k / AMBIT__ASSIGNMENT_TESTS, k % AMBIT__ASSIGNMENT_TESTS);
  }
  return sum;
}

/* "const ambit_i32 k5 = (tests0 >> 4 & 1 ? r2 + (int)(tests0 >> 3 & 1) : none) - 1;": the distance
 * to a cell, less its place in the row. Those that are not present have the value of `none`. */
static void let_ranked(ambit__nest *n, int column)
{
  const ambit__column *c = &form_of(n)->columns[column];
  const ambit__rank *r = &form_of(n)->ranks[c->rank];
  const int k = ambit__rank_test(form_of(n), n->group->ndims, r, c->lo);
  const char *start = r->own ? "0" : ambit__nest_text(n, "r%d", c->rank);
  const char *count = !r->own     ? count_of(n, r, '+', r->lo, c->lo - 1)
                      : c->lo > 0 ? count_of(n, r, '+', 1, c->lo)
                                  : count_of(n, r, '-', c->lo, -1);

  ambit__nest_do(n, "const ambit_i32 k%d = (tests%d >> %d & 1 ? %s%s : none) - (%d)", column,
                 k / AMBIT__ASSIGNMENT_TESTS, k % AMBIT__ASSIGNMENT_TESTS, start, count, c->lo);
}

static void let_ranks(ambit__nest *n)
{
  const ambit__chunk_form *f = form_of(n);

  if (f->nranks)
    ambit__nest_do(n, "const ambit_i32 none = (ambit_i32)(%d - at)", AMBIT__BEYOND_RUNS);
  for (int k = 0; k < f->nranks; k++)
    if (!f->ranks[k].own)
      ambit__nest_do(n, "const ambit_i32 r%d = cells[%d * pitch + t]", k,
                     ambit__assignment_rank(f, k));
  for (int k = 0; k < f->ncolumns; k++)
    if (f->columns[k].reads && f->columns[k].rank >= 0) let_ranked(n, k);
}

/* The place of cell t in a list, and the distances to the cells that it reads. */
static void let_listed(ambit__nest *n)
{
  const ambit__chunk_form *f = form_of(n);

  ambit__nest_do(n, "const %s at = first >= 0 ? first + t : cells[t]", n->integer);
  ambit__units_let_pointers(n);
  let_tests(n);
  for (int k = 0; k < f->ncolumns; k++)
    if (f->columns[k].reads && f->columns[k].rank < 0)
      ambit__nest_do(n, "const ambit_i32 k%d = cells[%d * pitch + t]", k,
                     ambit__assignment_column(f, k));
  let_ranks(n);
  ambit__units_let_apart(n);
  let_indices(n);
}

/* ---- a cell ---- */

void ambit__units_add_cell(ambit__nest *n)
{
  const int last = n->group->ndims - 1;

  n->hooks.instead = instead;
  if (form_of(n)->list) {
    let_listed(n);
  } else {
    ambit__units_let_place(n);
    if (ambit__group_indices(n->group) > last)
      ambit__nest_do(n, "const %s i%d = from%d + t", n->integer, last, last);
    if (ambit__units_have_words(n)) let_tests(n);
  }
  ambit__nest_let_loads(n, NULL, NULL);
  ambit__nest_let_outs(n);
  ambit__nest_node(n, NODE_RULE, .inside = -1);
  ambit__nest_store_outs(n);
  ambit__nest_fold_into(n, "total", "out", false);
}
