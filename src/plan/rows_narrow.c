/* SPDX-License-Identifier: BSD-3-Clause */
/* rows_narrow.c - rules whose fields are all narrow integers.
 *
 * Lanes are as narrow as the values (codegen/narrow.h). The function of a cell gets the values of
 * fields as arguments h0, h1, ...: rows of a block share them, and sums of them (plan/shares.h),
 * where compilers do not see that two rows read the same.
 */
#include "plan/rows.h"

#include <stdlib.h>

typedef ambit__rows_job job;
typedef ambit__rows_place place;

/* Whether all fields are integers of 8 or 16 bits, and the code will be vectorised. */
static bool is_narrow(const job *j)
{
  bool any = false;

  for (int i = 0; i < j->rule->nparams; i++) {
    const ambit_type type = ambit__rows_param(j, i)->type;

    if (!ambit__rows_is_field(j, i)) continue;
    if (type != AMBIT_U8 && type != AMBIT_I16) return false;
    any = true;
  }
  return any && !j->direct && !j->plan->scalar;
}

bool ambit__rows_begin_narrow(job *j, ambit__narrow *n, ambit__shares *s)
{
  if (!is_narrow(j)) return true;
  if (!ambit__narrow_begin(n, j->rule)) return true;
  if (!ambit__shares_begin(s, j->rule, j->ndims)) return false;
  j->narrow = n;
  j->shares = s;
  ambit__rows_find_looks(j);
  return true;
}

/* ---- the cell ---- */

static bool is_single(const ambit__share *x)
{
  return x->n == 1 && x->weights[0] == 1;
}

static const char *type_of(const job *j, int share)
{
  const ambit__share *x = &j->shares->list[share];

  return is_single(x) ? ambit__rows_type_of(j, x->param)
                      : ambit__narrow_type(ambit__share_range(j->shares, share));
}

void ambit__rows_declare_shares(const job *j)
{
  for (int k = 0; j->shares && k < j->shares->n; k++)
    ambit__print(j->t, ", %s h%d", type_of(j, k), k);
}

bool ambit__rows_skip(const ambit__scope *s, const ambit__stmt *st)
{
  return ambit__shares_idle(((const job *)s->user)->shares, st);
}

/* A sum of bytes, in the narrowest type that holds it. */
static bool print_sum(const job *j, ambit__text *t, const ambit__expr *e)
{
  const ambit__dot *sum = ambit__dots_find(&j->shares->dots, e);
  const char *type = sum ? ambit__narrow_type(ambit__narrow_range(j->narrow, e)) : NULL;
  ambit__share_term terms[AMBIT__DOT_TERMS];
  bool starts; /* with the constant */
  int n;

  if (!sum) return false;
  n = ambit__shares_sum(j->shares, sum, terms);
  starts = sum->constant || !n || terms[0].factor < 0;
  ambit__print(t, "(int32_t)(%s)(", type);
  if (starts) ambit__print(t, "(%s)(%d)", type, (int)sum->constant);
  for (int k = 0; k < n; k++) {
    const int factor = abs(terms[k].factor);

    if (starts || k) ambit__print(t, terms[k].factor < 0 ? " - " : " + ");
    if (factor > 1) ambit__print(t, "(%s)%d * ", type, factor);
    ambit__print(t, "(%s)h%d", type, terms[k].share);
  }
  ambit__print(t, ")");
  return true;
}

bool ambit__rows_print_ready(const ambit__scope *s, ambit__text *t, const ambit__expr *e)
{
  return ambit__rows_print_look(s->user, t, e) || print_sum(s->user, t, e);
}

/* ---- the rows of a block ---- */

/* The first row that has share k of row r, and its number there. */
static int find_first(const job *j, const int rows[2], int k, int r, int *row)
{
  const ambit__share *list = j->shares->list;
  const place own = ambit__rows_place_of(j, rows, r, false);

  for (*row = 0; *row < r; ++*row) {
    const place p = ambit__rows_place_of(j, rows, *row, false);

    for (int i = 0; i < j->shares->n; i++)
      if (ambit__shares_meet(&list[i], p.offset, &list[k], own.offset)) return i;
  }
  return k;
}

/* "*(u_at + u_s0 + 1 + x + l)" */
static void print_load(const job *j, const ambit__share *x, int term, place p)
{
  for (int d = 0; d < j->ndims; d++)
    p.offset[d] += d == j->last ? x->at[term] : x->offset[d];
  ambit__print(j->t, "*(");
  ambit__rows_print_pointer(j, x->param, x->component, &p);
  ambit__print(j->t, ")");
}

/* The terms are printed from the last one with a positive weight on, backwards. */
static void declare_share(const job *j, int k, const place *p)
{
  const ambit__share *x = &j->shares->list[k];
  const char *type = type_of(j, k);
  int first = x->n - 1;

  ambit__line_begin(j->w);
  ambit__print(j->t, "const %s h%d_%d = ", type, k, p->r);
  if (!is_single(x)) ambit__print(j->t, "(%s)(", type);
  while (x->weights[first] < 0)
    first--;
  for (int n = 0; n < x->n; n++) {
    const int i = (first - n + x->n) % x->n, weight = abs(x->weights[i]);

    if (n) ambit__print(j->t, x->weights[i] < 0 ? " - " : " + ");
    if (weight > 1) ambit__print(j->t, "(%s)%d * ", type, weight);
    if (!is_single(x)) ambit__print(j->t, "(%s)", type);
    print_load(j, x, i, *p);
  }
  ambit__line_end(j->w, is_single(x) ? ";" : ");");
}

void ambit__rows_load_shares(const job *j, const int rows[2], const place *p)
{
  int row;

  for (int k = 0; j->shares && k < j->shares->n; k++)
    if (find_first(j, rows, k, p->r, &row) == k && row == p->r) declare_share(j, k, p);
}

void ambit__rows_pass_shares(const job *j, const int rows[2], const place *p)
{
  int row;

  for (int k = 0; j->shares && k < j->shares->n; k++) {
    const int first = find_first(j, rows, k, p->r, &row);

    ambit__print(j->t, ", h%d_%d", first, row);
  }
}
