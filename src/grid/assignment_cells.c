/* SPDX-License-Identifier: BSD-3-Clause */
/* assignment_cells.c - the table of cells: what differs from one to the next. */
#include "grid/assignment.h"
#include "grid/constants.h"

#include <stdlib.h>
#include <string.h>

/* ---- words ---- */

int ambit__assignment_column(const ambit__chunk_form *f, int column)
{
  int word = 1;

  for (int k = 0; k < column; k++)
    word += f->columns[k].reads && f->columns[k].rank < 0;
  return word;
}

int ambit__assignment_rank(const ambit__chunk_form *f, int rank)
{
  int word = ambit__assignment_column(f, f->ncolumns);

  for (int k = 0; k < rank; k++)
    word += !f->ranks[k].own;
  return word;
}

int ambit__assignment_bits(const ambit__chunk_form *f)
{
  return f->list ? ambit__assignment_rank(f, f->nranks) : 0;
}

int ambit__assignment_number(const ambit__chunk_form *f)
{
  return ambit__assignment_bits(f) +
         (f->ntests + AMBIT__ASSIGNMENT_TESTS - 1) / AMBIT__ASSIGNMENT_TESTS;
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
  AMBIT_NEW(errors, im->of, (size_t)im->views + 1);
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

  for (int first = 0; first < f->ntests; first += AMBIT__ASSIGNMENT_TESTS, word += pitch) {
    uint32_t bits = 0;

    for (int k = first; k < f->ntests && k < first + AMBIT__ASSIGNMENT_TESTS; k++) {
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
 * that is read or tested is of another kind. `words` has room for those of a cell. */
static void put_chunk(ambit__assignment *d, const ambit__chunks *c, const ambit__images *im,
                      int64_t chunk, int64_t unit, int32_t *words)
{
  const int32_t *of_chunk = c->table + chunk * c->words;
  const int64_t at = of_chunk[AMBIT__CHUNK_AT], n = of_chunk[AMBIT__CHUNK_CELLS];
  const int end = ambit__assignment_number(c->form);
  int32_t *to = d->cells + unit;

  put_bits(c, im, of_chunk, at, 1, put_places(c, of_chunk, at, 1, words));
  for (int64_t i = 0; i < n; i++)
    to[i] = (int32_t)(at + i);
  for (int w = 1; w < end; w++)
    for (int64_t i = 0; i < n; i++)
      to[w * d->pitch + i] = words[w];
  for (int64_t i = 0; d->cell_words > end && i < n; i++)
    put_number(c->first[chunk] + i, d->pitch, to + end * d->pitch + i);
}

/* A list, of which each thread writes the cells of as many chunks. */
typedef struct listing {
  ambit__assignment *d;
  const ambit__chunks *c;
  const ambit__images *im;
  int64_t *units; /* by thread: those before its own; owned */
  int32_t *words; /* by thread; owned */
  bool *apart;    /* by thread: some cell is not behind the one before it; owned */
} listing;

static void put_chunks(void *arg, int thread, int threads)
{
  const listing *l = arg;
  const ambit__chunks *c = l->c;
  int32_t *words = l->words + thread * ambit__assignment_number(c->form);
  int64_t unit = l->units[thread];

  for (int64_t i = c->n * thread / threads; i < c->n * (thread + 1) / threads; i++) {
    put_chunk(l->d, c, l->im, i, unit, words);
    if (c->table[i * c->words + AMBIT__CHUNK_AT] - unit != l->d->first) l->apart[thread] = true;
    unit += c->table[i * c->words + AMBIT__CHUNK_CELLS];
  }
}

/* Numbers the cells, and lets the threads write them. */
static void number_list(const listing *l, const ambit__team *team)
{
  const int threads = ambit__team_threads(team);
  bool apart = false;

  for (int t = 0; t < threads; t++) {
    const int64_t end = l->c->n * (t + 1) / threads;

    l->units[t] = l->d->units;
    for (int64_t i = l->c->n * t / threads; i < end; i++)
      l->d->units += l->c->table[i * l->c->words + AMBIT__CHUNK_CELLS];
  }
  ambit__team_run(team, put_chunks, (void *)(uintptr_t)l);
  for (int t = 0; t < threads; t++)
    apart = apart || l->apart[t];
  if (apart) l->d->first = -1;
}

ambit_status ambit__assignment_list(ambit__errors *errors, ambit__assignment *d,
                                    const ambit__chunks *c, const ambit__images *im,
                                    const ambit__team *team)
{
  const size_t threads = (size_t)ambit__team_threads(team);
  listing l = {.d = d, .c = c, .im = im};
  ambit_status s;

  l.units = ambit__new(errors, threads, sizeof *l.units);
  l.words =
      ambit__new(errors, threads * (size_t)ambit__assignment_number(c->form), sizeof *l.words);
  l.apart = ambit__new(errors, threads, sizeof *l.apart);
  s = l.units && l.words && l.apart ? AMBIT_OK : AMBIT_ENOMEM;
  if (!s) number_list(&l, team);
  free(l.units);
  free(l.words);
  free(l.apart);
  return s;
}

void ambit__assignment_put(ambit__assignment *d, const ambit__chunks *c, const ambit__images *im,
                           int64_t chunk, int64_t from, int64_t n)
{
  const int32_t *words = c->table + chunk * c->words;

  for (int64_t i = 0; i < n; i++)
    put_bits(c, im, words, words[AMBIT__CHUNK_AT] + from + i, d->pitch, d->cells + d->units + i);
}
