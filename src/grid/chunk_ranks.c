/* SPDX-License-Identifier: BSD-3-Clause */
/* chunk_ranks.c - the rows of a list whose cells are found by counting those before them. */
#include "base/number.h"
#include "grid/chunks.h"

#include <string.h>

/* Whether all cells that are read with some boundaries and are not present have one value, which is
 * that of inactive ones, and none beyond an end of a row stands for another. */
static bool is_even(const ambit__boundaries *b, int ndims)
{
  const double fill = b->inactive == AMBIT_CONSTANT ? b->fill : 0;

  for (int d = 0; d < ndims; d++)
    for (int side = 0; side < 2; side++) {
      if (d == ndims - 1 && ambit__boundary_copies(b->kind[d][side])) return false;
      if (b->kind[d][side] == AMBIT_CONSTANT && !ambit__number_same(b->value[d][side], fill))
        return false;
    }
  return true;
}

/* Whether tests of activity with these boundaries tell what is present: constants are 0. */
static bool tests_tell(const ambit__boundaries *b, int ndims)
{
  for (int d = 0; d < ndims; d++)
    for (int side = 0; side < 2; side++)
      if (b->kind[d][side] == AMBIT_CONSTANT && b->value[d][side] != 0) return false;
  return b->inactive != AMBIT_CONSTANT || b->fill == 0;
}

static bool is_in_row(const ambit__column *c, const ambit__rank *r, int ndims)
{
  return c->reads && c->view == r->view &&
         !memcmp(c->offset, r->offset, (size_t)(ndims - 1) * sizeof *c->offset);
}

/* The row of a column. Returns whether it is worth a rank. */
static bool find_row(const ambit__chunk_form *f, int ndims, const ambit__column *c, ambit__rank *r)
{
  int n = 0;

  *r = (ambit__rank){.view = c->view, .lo = c->lo, .hi = c->hi, .own = true};
  memcpy(r->offset, c->offset, sizeof r->offset);
  r->offset[ndims - 1] = 0;
  for (int d = 0; d < ndims - 1; d++)
    r->own &= !r->offset[d];
  for (int k = 0; k < f->ncolumns; k++) {
    const ambit__column *other = &f->columns[k];

    if (!is_in_row(other, r, ndims)) continue;
    if (r->lo > other->lo) r->lo = other->lo;
    if (r->hi < other->hi) r->hi = other->hi;
    n++;
  }
  if (!r->own) return n > 1 && n == r->hi - r->lo + 1;
  if (r->lo > 0) r->lo = 0;
  if (r->hi < 0) r->hi = 0;
  return n == r->hi - r->lo;
}

static ambit_status add_rank(ambit__errors *errors, ambit__chunk_form *f, int ndims,
                             const ambit__rank *r)
{
  const bool present = !tests_tell(&f->views[r->view], ndims);
  int offset[AMBIT_MAX_DIMS];

  AMBIT_TRY(ambit__make_room(errors, &f->ranks, (size_t)f->nranks, &f->rank_cap, sizeof *f->ranks));
  memcpy(offset, r->offset, sizeof offset);
  for (int k = 0; k < f->ncolumns; k++)
    if (is_in_row(&f->columns[k], r, ndims)) f->columns[k].rank = f->nranks;
  f->ranks[f->nranks++] = *r;
  for (int x = r->lo; x <= r->hi; x++) {
    offset[ndims - 1] = x;
    if (x || !r->own)
      AMBIT_TRY(ambit__chunk_form_add_test(errors, f, ndims, r->view, offset, present));
  }
  return AMBIT_OK;
}

ambit_status ambit__chunk_form_rank(ambit__errors *errors, ambit__chunk_form *f, int ndims)
{
  for (int k = 0; f->list && k < f->ncolumns; k++) {
    ambit__rank r;

    if (!f->columns[k].reads || f->columns[k].rank >= 0) continue;
    if (!is_even(&f->views[f->columns[k].view], ndims)) continue;
    if (find_row(f, ndims, &f->columns[k], &r)) AMBIT_TRY(add_rank(errors, f, ndims, &r));
  }
  return AMBIT_OK;
}

int ambit__rank_test(const ambit__chunk_form *f, int ndims, const ambit__rank *r, int x)
{
  int offset[AMBIT_MAX_DIMS];

  memcpy(offset, r->offset, sizeof offset);
  offset[ndims - 1] = x;
  return ambit__chunk_form_test(f, ndims, r->view, offset, !tests_tell(&f->views[r->view], ndims));
}
