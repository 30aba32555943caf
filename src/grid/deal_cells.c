/* SPDX-License-Identifier: BSD-3-Clause */
/* deal_cells.c - the table of cells: what differs from one to the next. */
#include "grid/constants.h"
#include "grid/deal.h"

#include <stdlib.h>
#include <string.h>

/* ---- words ---- */

int ambit__deal_column(const ambit__chunk_form *f, int column)
{
  int word = 1;

  for (int k = 0; k < column; k++)
    word += f->columns[k].reads && f->columns[k].rank < 0;
  return word;
}

int ambit__deal_rank(const ambit__chunk_form *f, int rank)
{
  int word = ambit__deal_column(f, f->ncolumns);

  for (int k = 0; k < rank; k++)
    word += !f->ranks[k].own;
  return word;
}

int ambit__deal_bits(const ambit__chunk_form *f)
{
  return f->list ? ambit__deal_rank(f, f->nranks) : 0;
}

int ambit__deal_number(const ambit__chunk_form *f)
{
  return ambit__deal_bits(f) + (f->ntests + AMBIT__DEAL_TESTS - 1) / AMBIT__DEAL_TESTS;
}

/* ---- activity ---- */

/* As a field of activity has it in memory. */
static void draw(const ambit__chunks *c, int view, unsigned char *image)
{
  const ambit__active *a = c->active;
  const ambit__edges *e = &c->edges[view];

  for (int k = 0; k < ambit__constants_sets(a); k++)
    for (int64_t i = 0, from, to; ambit__constants_next(a, k, &i, &from, &to);)
      memset(image + from, ambit__constants_value(a, &c->form->views[view], k) != 0,
             (size_t)(to - from));
  for (int64_t i = 0; i < a->n; i++)
    memset(image + a->runs[i].at, 1, (size_t)(a->runs[i].hi - a->runs[i].lo));
  for (int64_t i = 0; i < e->n; i++)
    image[e->moves[2 * i]] = image[e->moves[2 * i + 1]];
}

ambit_status ambit__images_make(ambit__errors *errors, const ambit__chunks *c, ambit__images *im)
{
  *im = (ambit__images){.views = c->form->nviews};
  im->of = ambit__new(errors, (size_t)im->views + 1, sizeof *im->of);
  im->words = ambit__new(errors, (size_t)ambit__deal_number(c->form), sizeof *im->words);
  if (!im->of || !im->words) return AMBIT_ENOMEM;
  for (int i = 0; i < c->form->ntests; i++) {
    const int view = c->form->tests[i].view;

    if (im->of[view] || c->form->tests[i].present) continue;
    im->of[view] = ambit__new(errors, (size_t)c->active->size, 1);
    if (!im->of[view]) return AMBIT_ENOMEM;
    draw(c, view, im->of[view]);
  }
  return AMBIT_OK;
}

void ambit__images_free(ambit__images *im)
{
  for (int v = 0; im->of && v < im->views; v++)
    free(im->of[v]);
  free(im->of);
  free(im->words);
}

/* ---- cells ---- */

/* In a list: behind the sections are cells alone. */
static bool is_present(const ambit__chunks *c, int64_t at)
{
  return at >= c->active->runs[0].at;
}

/* Bits of the cell at a position: 1, active. Returns the place of the next word. */
static int32_t *put_bits(const ambit__chunks *c, const ambit__images *im, const int32_t *chunk,
                         int64_t at, int64_t pitch, int32_t *word)
{
  const ambit__chunk_form *f = c->form;
  const int last = c->active->box.ndims - 1;

  for (int first = 0; first < f->ntests; first += AMBIT__DEAL_TESTS, word += pitch) {
    uint32_t bits = 0;

    for (int k = first; k < f->ntests && k < first + AMBIT__DEAL_TESTS; k++) {
      const ambit__test *t = &f->tests[k];
      const int64_t away = t->column < 0 ? 0 : chunk[AMBIT__CHUNK_COLUMN + t->column];

      bits |= (uint32_t)(t->present ? is_present(c, at + away + t->offset[last])
                                    : im->of[t->view][at + away + t->offset[last]])
              << (k - first);
    }
    memcpy(word, &bits, sizeof bits);
  }
  return word;
}

/* The distance to the first cell of a row that is present; 0: none is. */
static int32_t find_first(const ambit__chunks *c, const int32_t *chunk, int64_t at, int rank)
{
  const ambit__chunk_form *f = c->form;
  int32_t first = INT32_MAX;

  for (int k = 0; k < f->ncolumns; k++) {
    const int32_t away = chunk[AMBIT__CHUNK_COLUMN + k] + f->columns[k].lo;

    if (f->columns[k].rank == rank && away < first && is_present(c, at + away)) first = away;
  }
  return first < INT32_MAX ? first : 0;
}

/* The place of a cell in a list, and the distances to those that it reads. */
static int32_t *put_places(const ambit__chunks *c, const int32_t *chunk, int64_t at, int64_t pitch,
                           int32_t *word)
{
  const ambit__chunk_form *f = c->form;

  *word = (int32_t)at;
  word += pitch;
  for (int k = 0; k < f->ncolumns; k++) {
    if (!f->columns[k].reads || f->columns[k].rank >= 0) continue;
    *word = chunk[AMBIT__CHUNK_COLUMN + k];
    word += pitch;
  }
  for (int k = 0; k < f->nranks; k++) {
    if (f->ranks[k].own) continue;
    *word = find_first(c, chunk, at, k);
    word += pitch;
  }
  return word;
}

static void put_number(int64_t number, int64_t pitch, int32_t *word)
{
  word[0] = (int32_t)(uint32_t)((uint64_t)number & 0xffffffff);
  word[pitch] = (int32_t)(number >> 32);
}

/* Cells of a chunk of a list have the same words, but for their places: a chunk ends where a cell
 * that is read or tested is of another kind. */
static void put_list(ambit__deal *d, const ambit__chunks *c, const ambit__images *im, int64_t chunk,
                     int64_t from, int64_t n)
{
  const int32_t *words = c->table + chunk * c->words;
  const int64_t at = words[AMBIT__CHUNK_AT] + from, number = c->first[chunk] + from;
  const int end = ambit__deal_number(c->form);
  int32_t *to = d->cells + d->units;

  put_bits(c, im, words, at, 1, put_places(c, words, at, 1, im->words));
  for (int64_t i = 0; i < n; i++)
    to[i] = (int32_t)(at + i);
  for (int w = 1; w < end; w++)
    for (int64_t i = 0; i < n; i++)
      to[w * d->pitch + i] = im->words[w];
  for (int64_t i = 0; d->cell_words > end && i < n; i++)
    put_number(number + i, d->pitch, to + end * d->pitch + i);
}

void ambit__deal_put(ambit__deal *d, const ambit__chunks *c, const ambit__images *im, int64_t chunk,
                     int64_t from, int64_t n)
{
  const int32_t *words = c->table + chunk * c->words;

  if (c->form->list) {
    put_list(d, c, im, chunk, from, n);
    return;
  }
  for (int64_t i = 0; i < n; i++)
    put_bits(c, im, words, words[AMBIT__CHUNK_AT] + from + i, d->pitch, d->cells + d->units + i);
}
