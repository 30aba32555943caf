/* SPDX-License-Identifier: BSD-3-Clause */
#include "grid/chunks.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- one column, along a row ---- */

/* Where the cells of a column are, for the row of the current run. */
typedef struct seeker {
  const ambit__active *a;
  const ambit__column *column;
  int section; /* the row is outside the grid and has the constant of this section; -1: it is a row
                  of the grid */
  int64_t row;
  int64_t i;  /* a run of the row: the first of those that may be read */
  bool found; /* the last chunk reads there, and in no section */
} seeker;

/* The cells from `x` on of a row that are in a section. Sets the position of cell x, and limits the
 * end of the cells that are computed. */
static int64_t in_section(const seeker *s, int section, int64_t x, int64_t *end)
{
  const int last = s->a->box.ndims - 1;
  const int64_t base = ambit__active_section(s->a, section), n = s->a->section;
  const int64_t extent = s->a->box.hi[last], lo = s->column->lo, hi = s->column->hi;
  const int64_t skip = (x + lo) % AMBIT__QUAD;
  int64_t at = base - lo + skip, most = x + n + lo - hi - skip;

  if (x + lo < 0 || n == extent) { /* from the first cell of the row on */
    at = base + x;
    most = n == extent ? extent : n - hi;
  } else if (x + lo >= extent - n) { /* up to the last cell of the row */
    at = base + n - (extent - x);
    most = extent;
  } else if (most > extent - hi) {
    most = extent - hi;
  }
  if (*end > most) *end = most;
  return at;
}

/* The last of the runs, from the first on, that are side by side in memory as in the row. */
static int64_t last_joined(const ambit__active *a, int64_t i)
{
  const ambit__run *r = a->runs;

  while (i + 1 < a->n && r[i + 1].row == r[i].row && r[i + 1].lo - r[i].hi <= a->pad)
    i++;
  return i;
}

static bool is_in_row(const seeker *s)
{
  return s->i < s->a->n && s->a->runs[s->i].row == s->row;
}

/* The same for a row of the grid: in runs of the row, or in the section of inactive cells. */
static int64_t in_row(seeker *s, int64_t x, int64_t *end)
{
  const ambit__active *a = s->a;
  const int64_t extent = a->box.hi[a->box.ndims - 1];
  const int64_t from = x + s->column->lo, to = x + 1 + s->column->hi; /* read by the first cell */

  s->found = false;
  for (; is_in_row(s); s->i = last_joined(a, s->i) + 1) {
    const ambit__run *r = &a->runs[s->i], *last = &a->runs[last_joined(a, s->i)];
    const int64_t start = r->lo - ambit__run_head(a, r), stop = last->hi + ambit__run_tail(a, last);
    const bool reaches = start <= from && stop >= to, passed = last->hi <= from;

    if (passed && (!reaches || stop < extent)) continue;
    if (reaches) {
      s->found = true;
      if (*end > stop - s->column->hi) *end = stop - s->column->hi;
      return r->at + x - r->lo;
    }
    if (*end > r->lo - s->column->hi) *end = r->lo - s->column->hi;
    break;
  }
  return in_section(s, 0, x, end);
}

/* The row of a column beside another one. */
static void seek(seeker *s, const ambit__boundaries *b, const int64_t *place)
{
  int64_t there[AMBIT_MAX_DIMS];

  s->section = -1;
  for (int d = 0; d < s->a->box.ndims - 1; d++) {
    const int64_t extent = s->a->box.hi[d];
    const int side = place[d] + s->column->offset[d] >= extent;
    const ambit_boundary kind = b->kind[d][side];

    there[d] = place[d] + s->column->offset[d];
    if (there[d] >= 0 && !side) continue;
    if (kind == AMBIT_CONSTANT)
      s->section = 1 + 2 * d + side;
    else if (kind != AMBIT_NONE && kind != AMBIT_FIXED)
      there[d] = ambit__boundary_map(kind, extent, there[d]);
    else if (s->section < 0)
      s->section = 0; /* never read */
  }
  if (s->section >= 0) return;
  s->row = ambit__active_row(s->a, there);
  s->i = ambit__active_from(s->a, s->row, -1);
}

/* ---- chunks ---- */

typedef struct making {
  ambit__errors *errors;
  ambit__chunks *c;
  seeker *seekers; /* by column; owned */
  int64_t row;     /* of the seekers; -1: none */
} making;

/* Limits a range of cells of a chunk to those whose tested cells of a row are all in one run. */
static void limit(const ambit__tested *t, const ambit__run *r, int64_t *from, int64_t *to)
{
  if (*from < r->lo - t->lo) *from = r->lo - t->lo;
  if (*to > r->hi - t->hi) *to = r->hi - t->hi;
}

/* The same for the run of a column that leaves most of them. */
static void limit_column(const seeker *s, int64_t *from, int64_t *to)
{
  const ambit__active *a = s->a;
  const int64_t last = s->section < 0 && s->found ? last_joined(a, s->i) : s->i - 1;
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
  int32_t *table =
      ambit__grow(m->errors, c->table, (size_t)c->n, &c->cap, (size_t)c->words * sizeof *table);
  int64_t *first =
      table ? ambit__grow(m->errors, c->first, (size_t)c->n, &c->first_cap, sizeof *first) : NULL;
  int32_t *words;

  if (table) c->table = table;
  if (!first) return -1;
  c->first = first;
  words = table + c->n * c->words;
  for (int k = 0; k < c->form->ncolumns; k++) {
    seeker *s = &m->seekers[k];

    words[AMBIT__CHUNK_COLUMN + k] =
        (int32_t)((s->section >= 0 ? in_section(s, s->section, x, &end) : in_row(s, x, &end)) - at);
  }
  assert(end > x);
  words[AMBIT__CHUNK_AT] = (int32_t)at;
  words[AMBIT__CHUNK_CELLS] = (int32_t)(end - x);
  words[AMBIT__CHUNK_INNER] = find_inner(m, r, x, end);
  first[c->n++] = r->row * extent + x;
  c->cells += end - x;
  return end;
}

/* All chunks of the cells of a run in a box of one row. */
static ambit_status cut_run(making *m, const ambit__run *r, const ambit__box *cells)
{
  const int last = cells->ndims - 1;

  for (int k = 0; r->row != m->row && k < m->c->form->ncolumns; k++)
    seek(&m->seekers[k], &m->c->form->views[m->seekers[k].column->view], cells->lo);
  m->row = r->row;
  for (int64_t x = cells->lo[last]; x < cells->hi[last];) {
    const int64_t most = x + AMBIT__MOST_ROW;

    x = add_chunk(m, r, x, cells->hi[last] < most ? cells->hi[last] : most);
    if (x < 0) return AMBIT_ENOMEM;
  }
  return AMBIT_OK;
}

static ambit_status cut_all(making *m, const ambit__box *region)
{
  const ambit__active *a = m->c->active;
  ambit__box cells;
  int64_t i = 0;

  m->seekers = ambit__new(m->errors, (size_t)m->c->form->ncolumns + 1, sizeof *m->seekers);
  if (!m->seekers) return AMBIT_ENOMEM;
  for (int k = 0; k < m->c->form->ncolumns; k++)
    m->seekers[k] = (seeker){.a = a, .column = &m->c->form->columns[k]};
  while (ambit__active_next(a, region, &i, &cells))
    AMBIT_TRY(cut_run(m, &a->runs[i - 1], &cells));
  return AMBIT_OK;
}

/* ---- edges ---- */

/* The rows and cells that a region reads with a view: marks by axis, of the indices that are read
 * directly or through a boundary. */
typedef struct reads {
  const ambit__active *a;
  const ambit__boundaries *b;
  int64_t lo, hi;               /* along the last axis, which may be beyond its ends */
  bool *marked[AMBIT_MAX_DIMS]; /* of the other axes; owned */
} reads;

static bool is_copied(ambit_boundary kind)
{
  return kind != AMBIT_NONE && kind != AMBIT_FIXED && kind != AMBIT_CONSTANT;
}

static void mark(const reads *r, int axis, int64_t i)
{
  const int64_t n = r->a->box.hi[axis];
  const ambit_boundary kind = r->b->kind[axis][i >= n];

  if (i >= 0 && i < n)
    r->marked[axis][i] = true;
  else if (is_copied(kind))
    r->marked[axis][ambit__boundary_map(kind, n, i)] = true;
}

static ambit_status find_reads(ambit__errors *errors, const ambit__chunks *c, int view, reads *r)
{
  const ambit__chunk_form *f = c->form;
  const int last = c->region.ndims - 1;

  *r = (reads){.a = c->active,
               .b = &f->views[view],
               .lo = c->region.lo[last] - f->reach[view],
               .hi = c->region.hi[last] + f->reach[view]};
  for (int d = 0; d < last; d++) {
    int64_t lo = c->region.lo[d], hi = c->region.hi[d];

    for (int k = 0; k < f->ncolumns; k++) {
      const int64_t offset = f->columns[k].view == view ? f->columns[k].offset[d] : 0;

      if (c->region.lo[d] + offset < lo) lo = c->region.lo[d] + offset;
      if (c->region.hi[d] + offset > hi) hi = c->region.hi[d] + offset;
    }
    r->marked[d] = ambit__new(errors, (size_t)c->active->box.hi[d], sizeof **r->marked);
    if (!r->marked[d]) return AMBIT_ENOMEM;
    for (int64_t i = lo; i < hi; i++)
      mark(r, d, i);
  }
  return AMBIT_OK;
}

static bool reads_row(const reads *r, int64_t row)
{
  int64_t cell[AMBIT_MAX_DIMS];

  ambit__active_place(r->a, row, cell);
  for (int d = 0; d < r->a->box.ndims - 1; d++)
    if (!r->marked[d][cell[d]]) return false;
  return true;
}

/* Adds the cells x .. end - 1 beyond an end of a row, beside a run there. */
static ambit_status add_edge(ambit__errors *errors, const reads *q, const ambit__run *r, int side,
                             ambit__edges *e)
{
  const ambit__active *a = q->a;
  const int last = a->box.ndims - 1;
  const int64_t extent = a->box.hi[last], end = side ? q->hi : 0;

  for (int64_t x = side ? extent : q->lo; x < end; x++) {
    const int64_t there = ambit__boundary_map(q->b->kind[last][side], extent, x);
    const int64_t i = ambit__active_from(a, r->row, there);
    int32_t *moves;

    if (i == a->n || a->runs[i].row != r->row || a->runs[i].lo > there) continue; /* inactive */
    moves = ambit__grow(errors, e->moves, (size_t)e->n, &e->cap, 2 * sizeof *moves);
    if (!moves) return AMBIT_ENOMEM;
    e->moves = moves;
    moves[2 * e->n] = (int32_t)(r->at + x - r->lo);
    moves[2 * e->n++ + 1] = (int32_t)(a->runs[i].at + there - a->runs[i].lo);
  }
  return AMBIT_OK;
}

static ambit_status add_edges(ambit__errors *errors, const reads *q, ambit__edges *e)
{
  const ambit__active *a = q->a;
  const int last = a->box.ndims - 1;
  const bool low = is_copied(q->b->kind[last][0]) && q->lo < 0;
  const bool high = is_copied(q->b->kind[last][1]) && q->hi > a->box.hi[last];

  for (int64_t i = 0; (low || high) && i < a->n; i++) {
    const ambit__run *r = &a->runs[i];
    const bool first = low && r->lo < a->pad && (!i || r[-1].row != r->row);
    const bool end =
        high && a->box.hi[last] - r->hi < a->pad && (i + 1 == a->n || r[1].row != r->row);

    if ((!first && !end) || !reads_row(q, r->row)) continue;
    if (first) AMBIT_TRY(add_edge(errors, q, r, 0, e));
    if (end) AMBIT_TRY(add_edge(errors, q, r, 1, e));
  }
  return AMBIT_OK;
}

static ambit_status make_edges(ambit__errors *errors, const ambit__chunks *c, int view)
{
  reads r;
  ambit_status s;

  if (ambit__box_is_empty(&c->region)) return AMBIT_OK;
  s = find_reads(errors, c, view, &r);
  if (!s) s = add_edges(errors, &r, &c->edges[view]);
  for (int d = 0; d < AMBIT_MAX_DIMS; d++)
    free(r.marked[d]);
  return s;
}

/* ---- all ---- */

ambit_status ambit__chunks_make(ambit__errors *errors, const ambit__active *active,
                                const ambit__chunk_form *form, const ambit__box *region,
                                ambit__chunks *c)
{
  making m = {.errors = errors, .c = c, .row = -1};
  ambit_status s;

  assert(active->pad >= ambit__chunk_form_pad(form));
  *c = (ambit__chunks){.region = *region,
                       .active = active,
                       .form = form,
                       .words = AMBIT__CHUNK_COLUMN + form->ncolumns};
  s = cut_all(&m, region);
  free(m.seekers);
  if (s) return s;
  c->edges = ambit__new(errors, (size_t)form->nviews + 1, sizeof *c->edges);
  if (!c->edges) return AMBIT_ENOMEM;
  for (int v = 0; v < form->nviews; v++)
    AMBIT_TRY(make_edges(errors, c, v));
  return AMBIT_OK;
}

void ambit__chunks_free(ambit__chunks *c)
{
  for (int v = 0; c->edges && v < c->form->nviews; v++)
    free(c->edges[v].moves);
  free(c->edges);
  free(c->table);
  free(c->first);
  *c = (ambit__chunks){0};
}

ambit_status ambit__chunks_get(ambit__errors *errors, const ambit__active *active,
                               const ambit__chunk_form *form, const ambit__box *region,
                               ambit__chunks **list, const ambit__chunks **chunks)
{
  ambit__chunks *c = *list;
  ambit_status s;

  while (c && !ambit__box_equal(&c->region, region))
    c = c->next;
  *chunks = c;
  if (c) return AMBIT_OK;
  c = ambit__new(errors, 1, sizeof *c);
  if (!c) return AMBIT_ENOMEM;
  s = ambit__chunks_make(errors, active, form, region, c);
  c->next = *list;
  *chunks = *list = c;
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
