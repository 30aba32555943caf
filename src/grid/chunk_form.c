/* SPDX-License-Identifier: BSD-3-Clause */
/* chunk_form.c - the rows that a rule reads on a sparse grid. */
#include "grid/chunks.h"

#include <stdlib.h>
#include <string.h>

int64_t ambit__chunk_form_pad(const ambit__chunk_form *f)
{
  int64_t pad = AMBIT__PAD;

  for (int v = 0; v < f->nviews; v++)
    while (pad < 2 * f->reach[v])
      pad *= 2;
  return pad;
}

void ambit__chunk_form_free(ambit__chunk_form *f)
{
  free(f->columns);
  *f = (ambit__chunk_form){0};
}

int ambit__chunk_form_column(const ambit__chunk_form *f, int ndims, int view, const int *offset)
{
  const size_t bytes = (size_t)(ndims - 1) * sizeof *offset;

  for (int i = 0; i < f->ncolumns; i++)
    if (f->columns[i].view == view && !memcmp(f->columns[i].offset, offset, bytes)) return i;
  return -1;
}

int ambit__chunk_form_view(ambit__chunk_form *f, const ambit__boundaries *b)
{
  for (int v = 0; v < f->nviews; v++)
    if (ambit__boundaries_equal(&f->views[v], b)) return v;
  f->views[f->nviews] = *b;
  return f->nviews++;
}

static bool is_own_row(const int *offset, int last)
{
  for (int d = 0; d < last; d++)
    if (offset[d]) return false;
  return true;
}

static void add_test(ambit__tested *t, int x)
{
  if (!t->any || t->lo > x) t->lo = x;
  if (!t->any || t->hi < x) t->hi = x;
  t->any = true;
}

ambit_status ambit__chunk_form_add(ambit__errors *errors, ambit__chunk_form *f, int ndims, int view,
                                   const int *offset, bool tests)
{
  const int last = ndims - 1, x = offset[last];
  const bool own = is_own_row(offset, last);
  int k = ambit__chunk_form_column(f, ndims, view, offset);

  if (f->reach[view] < abs(x)) f->reach[view] = abs(x);
  f->tests |= tests;
  if (own && tests) add_test(&f->own, x);
  if (own) return AMBIT_OK;
  if (k < 0) {
    ambit__column *columns =
        ambit__grow(errors, f->columns, (size_t)f->ncolumns, &f->cap, sizeof *columns);

    if (!columns) return AMBIT_ENOMEM;
    f->columns = columns;
    k = f->ncolumns++;
    columns[k] = (ambit__column){.view = view, .lo = x, .hi = x};
    memcpy(columns[k].offset, offset, (size_t)last * sizeof *offset);
  }
  if (tests) add_test(&f->columns[k].tested, x);
  if (f->columns[k].lo > x) f->columns[k].lo = x;
  if (f->columns[k].hi < x) f->columns[k].hi = x;
  return AMBIT_OK;
}
