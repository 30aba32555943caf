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
  for (int i = 0; i < AMBIT_MAX_PARAMS; i++)
    free(f->view[i]);
  free(f->views);
  free(f->reach);
  free(f->columns);
  free(f->tests);
  free(f->ranks);
  *f = (ambit__chunk_form){0};
}

int ambit__chunk_form_column(const ambit__chunk_form *f, int ndims, int view, const int *offset)
{
  const size_t bytes = (size_t)(f->list ? ndims : ndims - 1) * sizeof *offset;

  for (int i = 0; i < f->ncolumns; i++)
    if (f->columns[i].view == view && !memcmp(f->columns[i].offset, offset, bytes)) return i;
  return -1;
}

int ambit__chunk_form_test(const ambit__chunk_form *f, int ndims, int view, const int *offset,
                           bool present)
{
  const size_t bytes = (size_t)ndims * sizeof *offset;
  int i = 0;

  while (i < f->ntests && (f->tests[i].view != view || f->tests[i].present != present ||
                           memcmp(f->tests[i].offset, offset, bytes) != 0))
    i++;
  return i;
}

int ambit__chunk_form_view(ambit__errors *errors, ambit__chunk_form *f, const ambit__boundaries *b)
{
  for (int v = 0; v < f->nviews; v++)
    if (ambit__boundaries_equal(&f->views[v], b)) return v;
  if (ambit__make_room(errors, &f->views, (size_t)f->nviews, &f->view_cap, sizeof *f->views))
    return -1;
  if (ambit__make_room(errors, &f->reach, (size_t)f->nviews, &f->reach_cap, sizeof *f->reach))
    return -1;
  f->views[f->nviews] = *b;
  f->reach[f->nviews] = 0;
  return f->nviews++;
}

bool ambit__chunk_form_uses(const ambit__chunk_form *f, int param, int n, int column)
{
  for (int c = 0; f->view[param] && c < n; c++)
    if (f->view[param][c] == f->columns[column].view) return true;
  return false;
}

int ambit__chunk_form_alike(const ambit__chunk_form *f, int param, int component, int n)
{
  int end = component + 1;

  while (end < n && f->view[param][end] == f->view[param][component])
    end++;
  return end - component;
}

/* Whether the first n axes of an offset are 0. */
static bool is_own(const int *offset, int n)
{
  for (int d = 0; d < n; d++)
    if (offset[d]) return false;
  return true;
}

static void note_test(ambit__tested *t, int x)
{
  if (!t->any || t->lo > x) t->lo = x;
  if (!t->any || t->hi < x) t->hi = x;
  t->any = true;
}

ambit_status ambit__chunk_form_add_test(ambit__errors *errors, ambit__chunk_form *f, int ndims,
                                        int view, const int *offset, bool present)
{
  if (ambit__chunk_form_test(f, ndims, view, offset, present) < f->ntests) return AMBIT_OK;
  AMBIT_TRY(ambit__make_room(errors, &f->tests, (size_t)f->ntests, &f->test_cap, sizeof *f->tests));
  f->tests[f->ntests] = (ambit__test){
      .view = view, .column = ambit__chunk_form_column(f, ndims, view, offset), .present = present};
  memcpy(f->tests[f->ntests++].offset, offset, (size_t)ndims * sizeof *offset);
  return AMBIT_OK;
}

static ambit_status add_column(ambit__errors *errors, ambit__chunk_form *f, int ndims, int view,
                               const int *offset)
{
  const int x = offset[ndims - 1];

  AMBIT_TRY(
      ambit__make_room(errors, &f->columns, (size_t)f->ncolumns, &f->cap, sizeof *f->columns));
  f->columns[f->ncolumns] = (ambit__column){.view = view, .lo = x, .hi = x, .rank = -1};
  memcpy(f->columns[f->ncolumns++].offset, offset,
         (size_t)(f->list ? ndims : ndims - 1) * sizeof *offset);
  return AMBIT_OK;
}

ambit_status ambit__chunk_form_add(ambit__errors *errors, ambit__chunk_form *f, int ndims, int view,
                                   const int *offset, bool tests)
{
  const int last = ndims - 1, x = offset[last];
  const bool own = is_own(offset, f->list ? ndims : last);
  ambit__column *c;

  if (f->reach[view] < abs(x)) f->reach[view] = abs(x);
  if (own && tests) note_test(&f->own, x);
  if (!own && ambit__chunk_form_column(f, ndims, view, offset) < 0)
    AMBIT_TRY(add_column(errors, f, ndims, view, offset));
  if (tests) AMBIT_TRY(ambit__chunk_form_add_test(errors, f, ndims, view, offset, false));
  if (own) return AMBIT_OK;
  c = &f->columns[ambit__chunk_form_column(f, ndims, view, offset)];
  c->reads |= !tests;
  if (tests) note_test(&c->tested, x);
  if (c->lo > x) c->lo = x;
  if (c->hi < x) c->hi = x;
  return AMBIT_OK;
}
