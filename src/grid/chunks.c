/* SPDX-License-Identifier: BSD-3-Clause */
#include "grid/chunks.h"
#include "grid/seek.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { SHARES = 4 }; /* per thread */

/* ---- chunks ---- */

typedef struct making {
  ambit__errors *errors;
  ambit__chunks *c;
  ambit__seeker *seekers; /* by column; owned */
  int64_t row;            /* of the seekers; -1: none */
} making;

/* Limits a range of cells of a chunk to those whose tested cells of a row are all in one run. */
static void limit(const ambit__tested *t, const ambit__run *r, int64_t *from, int64_t *to)
{
  if (*from < r->lo - t->lo) *from = r->lo - t->lo;
  if (*to > r->hi - t->hi) *to = r->hi - t->hi;
}

/* The same for the run of a column that leaves most of them. */
static void limit_column(const ambit__seeker *s, int64_t *from, int64_t *to)
{
  const ambit__active *a = s->a;
  const int64_t last = s->section < 0 && s->found ? ambit__seek_joined(a, s->i) : s->i - 1;
  int64_t best_from = *from, best_to = *from;

  for (int64_t i = s->i; i <= last; i++) {
    int64_t here_from = *from, here_to = *to;

    limit(&s->column->tested, &a->runs[i], &here_from, &here_to);
    if (here_to - here_from <= best_to - best_from) continue;
    best_from = here_from;
    best_to = here_to;
  }
  *from = best_from;
  *to = best_to;
}

/* The inner cells of a chunk that has the cells x .. end - 1 of a run: a word of the table. */
static int32_t find_inner(const making *m, const ambit__run *r, int64_t x, int64_t end)
{
  const ambit__chunk_form *f = m->c->form;
  int64_t from = x, to = end;

  if (f->own.any) limit(&f->own, r, &from, &to);
  for (int k = 0; k < f->ncolumns && from < to; k++)
    if (f->columns[k].tested.any) limit_column(&m->seekers[k], &from, &to);
  return from < to ? (int32_t)((from - x) | (to - x) << 16) : 0;
}

/* Adds the chunk that begins at cell x of a run and ends at most at `end`. Returns its end, or -1.
 */
static int64_t add_chunk(making *m, const ambit__run *r, int64_t x, int64_t end)
{
  ambit__chunks *c = m->c;
  const int64_t at = r->at + x - r->lo, extent = c->active->box.hi[c->active->box.ndims - 1];
  int32_t *words =
      ambit__add(m->errors, &c->table, (size_t)c->n, &c->cap, (size_t)c->words * sizeof *words);
  int64_t *first =
      words ? ambit__add(m->errors, &c->first, (size_t)c->n, &c->first_cap, sizeof *first) : NULL;

  if (!first) return -1;
  for (int k = 0; k < c->form->ncolumns; k++)
    words[AMBIT__CHUNK_COLUMN + k] = (int32_t)(ambit__seek(&m->seekers[k], x, &end) - at);
  assert(end > x);
  words[AMBIT__CHUNK_AT] = (int32_t)at;
  words[AMBIT__CHUNK_CELLS] = (int32_t)(end - x);
  words[AMBIT__CHUNK_INNER] = find_inner(m, r, x, end);
  *first = r->row * extent + x;
  c->n++;
  c->cells += end - x;
  return end;
}

/* All chunks of the cells of a run in a box of one row. */
static ambit_status cut_run(making *m, const ambit__run *r, const ambit__box *cells)
{
  const int last = cells->ndims - 1;

  for (int k = 0; r->row != m->row && k < m->c->form->ncolumns; k++)
    ambit__seek_row(&m->seekers[k], cells->lo);
  m->row = r->row;
  for (int64_t x = cells->lo[last]; x < cells->hi[last];) {
    const int64_t most = x + AMBIT__MOST_ROW;

    x = add_chunk(m, r, x, cells->hi[last] < most ? cells->hi[last] : most);
    if (x < 0) return AMBIT_ENOMEM;
  }
  return AMBIT_OK;
}

static ambit_status cut_box(making *m, const ambit__box *box)
{
  const ambit__active *a = m->c->active;
  ambit__box cells;
  int64_t i = 0;

  while (ambit__active_next(a, box, &i, &cells))
    AMBIT_TRY(cut_run(m, &a->runs[i - 1], &cells));
  return AMBIT_OK;
}

/* ---- shares of threads ---- */

/* The chunks of a region are made in shares, of tiles or planes, and put one behind the other. */
typedef struct sharing {
  const ambit__chunks *whole;
  const ambit__tiling *tiles; /* NULL: planes along axis 0 */
  int n;
  int64_t all;             /* tiles, or planes */
  ambit__chunks *shares;   /* owned */
  ambit__errors *failures; /* by share; owned */
  int64_t *begins;         /* by share: its first chunk in the whole; owned */
} sharing;

static ambit_status cut_tile(making *m, const sharing *s, int64_t i)
{
  const ambit__box tile = ambit__tiling_box(s->tiles, i);
  const ambit__box box = ambit__box_intersect(&tile, &s->whole->region);

  AMBIT_TRY(cut_box(m, &box));
  s->whole->starts[i + 1] = m->c->n; /* in the share */
  return AMBIT_OK;
}

static ambit_status cut_share(making *m, const sharing *s, int64_t from, int64_t end)
{
  ambit__box box = s->whole->region;

  AMBIT_NEW(m->errors, m->seekers, (size_t)m->c->form->ncolumns + 1);
  for (int k = 0; k < m->c->form->ncolumns; k++)
    m->seekers[k] = (ambit__seeker){.a = m->c->active,
                                    .column = &m->c->form->columns[k],
                                    .b = &m->c->form->views[m->c->form->columns[k].view]};
  for (int64_t i = from; s->tiles && i < end; i++)
    AMBIT_TRY(cut_tile(m, s, i));
  box.lo[0] += from;
  box.hi[0] = box.lo[0] + end - from;
  return s->tiles ? AMBIT_OK : cut_box(m, &box);
}

static void cut_shares(void *arg, int thread, int threads)
{
  const sharing *s = arg;

  for (int i = thread; i < s->n; i += threads) {
    making m = {.errors = &s->failures[i], .c = &s->shares[i], .row = -1};

    *m.c = (ambit__chunks){
        .active = s->whole->active, .form = s->whole->form, .words = s->whole->words};
    cut_share(&m, s, s->all * i / s->n, s->all * (i + 1) / s->n);
    free(m.seekers);
  }
}

static void join_shares(void *arg, int thread, int threads)
{
  const sharing *s = arg;
  const size_t words = (size_t)s->whole->words * sizeof *s->whole->table;

  for (int i = thread; i < s->n; i += threads) {
    const size_t n = (size_t)s->shares[i].n;

    if (!n) continue;
    memcpy(s->whole->table + s->begins[i] * s->whole->words, s->shares[i].table, n * words);
    memcpy(s->whole->first + s->begins[i], s->shares[i].first, n * sizeof *s->whole->first);
  }
  for (int i = thread; s->tiles && i < s->n; i += threads)
    for (int64_t k = s->all * i / s->n; k < s->all * (i + 1) / s->n; k++)
      s->whole->starts[k + 1] += s->begins[i];
}

/* Makes room for the chunks of all shares; a single one is the whole. */
static ambit_status gather(ambit__errors *errors, const sharing *s, ambit__chunks *c)
{
  for (int i = 0; i < s->n; i++) {
    if (s->failures[i].status)
      return ambit__raise(errors, s->failures[i].status, "%s",
                          "not enough memory for the tables of a sparse grid");
    s->begins[i] = c->n;
    c->n += s->shares[i].n;
    c->cells += s->shares[i].cells;
  }
  if (s->n == 1) {
    c->table = s->shares[0].table;
    c->first = s->shares[0].first;
    s->shares[0] = (ambit__chunks){0};
    return AMBIT_OK;
  }
  c->table = ambit__new(errors, (size_t)(c->n * c->words) + 1, sizeof *c->table);
  c->first = ambit__new(errors, (size_t)c->n + 1, sizeof *c->first);
  return c->table && c->first ? AMBIT_OK : AMBIT_ENOMEM;
}

static ambit_status cut_all(ambit__errors *errors, const ambit__tiling *tiles,
                            const ambit__team *team, ambit__chunks *c)
{
  sharing s = {.whole = c, .tiles = tiles, .all = c->region.hi[0] - c->region.lo[0]};
  ambit_status status = AMBIT_ENOMEM;

  if (tiles) s.all = tiles->n;
  s.n = team && c->region.ndims > 1 ? SHARES * team->threads : 1;
  if (tiles) c->starts = ambit__new(errors, (size_t)tiles->n + 1, sizeof *c->starts);
  s.shares = ambit__new(errors, (size_t)s.n, sizeof *s.shares);
  s.failures = ambit__new(errors, (size_t)s.n, sizeof *s.failures);
  s.begins = ambit__new(errors, (size_t)s.n, sizeof *s.begins);
  if (s.shares && s.failures && s.begins && (c->starts || !tiles)) {
    ambit__team_run(team, cut_shares, &s);
    status = gather(errors, &s, c);
    if (!status && s.n > 1) ambit__team_run(team, join_shares, &s);
  }
  for (int i = 0; s.shares && s.failures && i < s.n; i++) {
    ambit__errors_clear(&s.failures[i]);
    ambit__chunks_free(&s.shares[i]);
  }
  free(s.shares);
  free(s.failures);
  free(s.begins);
  return status;
}

/* ---- all ---- */

ambit_status ambit__chunks_make(ambit__errors *errors, const ambit__active *active,
                                const ambit__chunk_form *form, const ambit__box *region,
                                const ambit__tiling *tiles, const ambit__team *team,
                                ambit__chunks *c)
{
  assert(active->pad >= ambit__chunk_form_pad(form));
  assert(form->list == (active->storage == STORAGE_LIST));
  *c = (ambit__chunks){.region = *region,
                       .active = active,
                       .form = form,
                       .words = AMBIT__CHUNK_COLUMN + form->ncolumns};
  AMBIT_TRY(cut_all(errors, tiles, team, c));
  AMBIT_NEW(errors, c->edges, (size_t)form->nviews + 1);
  for (int v = 0; !form->list && v < form->nviews; v++)
    AMBIT_TRY(ambit__edges_make(errors, c, v));
  return AMBIT_OK;
}

void ambit__chunks_free(ambit__chunks *c)
{
  for (int v = 0; c->edges && v < c->form->nviews; v++)
    free(c->edges[v].moves);
  free(c->edges);
  free(c->table);
  free(c->first);
  free(c->starts);
  *c = (ambit__chunks){0};
}

/* Tiles of some rows in all planes. */
static ambit__tiling blocks_of(const ambit__box *region, int64_t block)
{
  int64_t size[AMBIT_MAX_DIMS];

  for (int d = 0; d < region->ndims; d++)
    size[d] = d == region->ndims - 2 ? block : region->hi[d] - region->lo[d] + 1;
  return ambit__tiling_make(region, size, 0);
}

const ambit__chunks *ambit__chunks_find(const ambit__chunks *list, const ambit__box *region)
{
  while (list && !ambit__box_equal(&list->region, region))
    list = list->next;
  return list;
}

ambit_status ambit__chunks_add(ambit__errors *errors, const ambit__active *active,
                               const ambit__chunk_form *form, const ambit__box *region,
                               int64_t block, const ambit__team *team, ambit__chunks **list)
{
  const bool blocks = block && region->ndims > 2;
  const ambit__tiling tiles = blocks ? blocks_of(region, block) : (ambit__tiling){.n = 0};
  ambit__chunks *c = ambit__new(errors, 1, sizeof *c);
  ambit_status s;

  if (!c) return AMBIT_ENOMEM;
  s = ambit__chunks_make(errors, active, form, region, blocks ? &tiles : NULL, team, c);
  c->next = *list;
  *list = c;
  return s;
}

void ambit__chunks_free_list(ambit__chunks *list)
{
  while (list) {
    ambit__chunks *next = list->next;

    ambit__chunks_free(list);
    free(list);
    list = next;
  }
}
