/* SPDX-License-Identifier: BSD-3-Clause */
#include "grid/assignment.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Cells of a tile: wide enough for whole cache lines, and three planes of it fit into the cache of
 * a multiprocessor. Flat for the widest units, whose threads have less to wait for: measured. */
enum { WIDE = AMBIT__ASSIGNMENT_PIECE, HIGH = 16, DEEP = 32 }; /* whole units */

static bool has_stacks(const ambit__assignment *d)
{
  return ambit__assignment_rows(d->rows) > 1;
}

static int64_t tile_high(const ambit__assignment *d)
{
  return d->wide == AMBIT__QUAD && !has_stacks(d) ? HIGH / 2 : HIGH;
}

static int64_t tile_deep(const ambit__assignment *d)
{
  return d->wide == AMBIT__QUAD ? 2 * DEEP : DEEP;
}

enum { STACK_Y, STACK_Z, TILE_X, TILE_Y, KEYS }; /* of pieces: even numbers of them are sorted by */

/* The pieces of some planes. */
typedef struct assigning {
  ambit__errors *errors;
  const ambit__chunks *c;
  ambit__assignment *d;
  int64_t wide, high, deep;            /* of the grid: the last axis, and those before it */
  int64_t first_stack;                 /* of the planes: the least key STACK_Z */
  ambit__chunk_piece *pieces, *sorted; /* owned */
  int64_t n;
  size_t cap;
  int *slots; /* of several rows: see ambit__assignment_stack; owned */
  ambit__images images;
} assigning;

void ambit__assignment_free(ambit__assignment *d)
{
  free(d->lines);
  free(d->groups);
  free(d->cells);
  *d = (ambit__assignment){0};
}

/* ---- tiles ---- */

/* The number of the stacks that have a plane. */
static int64_t stack_of(const assigning *m, int64_t plane)
{
  const int64_t n = m->d->rows[1];

  return plane / m->deep * ((m->deep + n - 1) / n) + plane % m->deep / n;
}

static ambit_status add_piece(assigning *m, int64_t chunk, int64_t from, int64_t n, bool inner)
{
  const int64_t row = m->c->first[chunk] / m->wide, x = m->c->first[chunk] % m->wide + from;
  const int64_t y = row % m->high, stack = stack_of(m, row / m->high);

  AMBIT_TRY(ambit__make_room(m->errors, &m->pieces, (size_t)m->n, &m->cap, sizeof *m->pieces));
  if (!m->n) m->first_stack = stack;
  m->pieces[m->n++] =
      (ambit__chunk_piece){.chunk = chunk,
                           .from = from,
                           .n = n,
                           .keys = {(int32_t)(y / m->d->rows[0]), (int32_t)(stack - m->first_stack),
                                    (int32_t)(x / WIDE), (int32_t)(y / tile_high(m->d))},
                           .inner = inner};
  return AMBIT_OK;
}

/* The inner cells of a chunk, of whole units: from .. end - 1, counted from the chunk. */
static void find_inner(const assigning *m, int64_t chunk, int64_t *from, int64_t *end)
{
  const int32_t *words = m->c->table + chunk * m->c->words;
  const int64_t n = words[AMBIT__CHUNK_CELLS], wide = m->d->wide, x = m->c->first[chunk] % m->wide;

  *from = 0;
  *end = n;
  if (!m->c->form->ntests || m->d->cells) return; /* the same code for all */
  *from = ambit__inner_from(words[AMBIT__CHUNK_INNER]);
  *end = ambit__inner_end(words[AMBIT__CHUNK_INNER]);
  if (*from > 0) *from = (x + *from + wide - 1) / wide * wide - x;
  if (*end < n) *end = (x + *end) / wide * wide - x;
  if (*from >= *end) *from = *end = 0;
}

static ambit_status cut_chunk(assigning *m, int64_t chunk)
{
  const int64_t first = m->c->first[chunk] % m->wide;
  const int64_t n = m->c->table[chunk * m->c->words + AMBIT__CHUNK_CELLS];
  int64_t inner_from, inner_end;

  find_inner(m, chunk, &inner_from, &inner_end);
  for (int64_t at = 0, stop; at < n; at = stop) {
    const bool inner = at >= inner_from && at < inner_end;

    stop = ((first + at) / WIDE + 1) * WIDE - first;
    if (stop > n) stop = n;
    if (at < inner_from && stop > inner_from) stop = inner_from;
    if (inner && stop > inner_end) stop = inner_end;
    AMBIT_TRY(add_piece(m, chunk, at, stop - at, inner));
  }
  return AMBIT_OK;
}

/* Sorts pieces by a key, keeping the order of those with the same. */
static void sort(const ambit__chunk_piece *from, int64_t n, int key, int64_t *count,
                 int64_t numbers, ambit__chunk_piece *to)
{
  for (int64_t i = 0; i <= numbers; i++)
    count[i] = 0;
  for (int64_t i = 0; i < n; i++)
    count[from[i].keys[key] + 1]++;
  for (int64_t i = 0; i < numbers; i++)
    count[i + 1] += count[i];
  for (int64_t i = 0; i < n; i++)
    to[count[from[i].keys[key]]++] = from[i];
}

static ambit_status sort_pieces(assigning *m)
{
  const int64_t high = tile_high(m->d), rows = m->d->rows[0];
  const int64_t numbers[] = {(m->high + rows - 1) / rows, tile_deep(m->d) + 1,
                             (m->wide + WIDE - 1) / WIDE, (m->high + high - 1) / high};
  int64_t most = 0, *count;

  for (int k = 0; k < KEYS; k++)
    if (numbers[k] > most) most = numbers[k];
  count = ambit__new(m->errors, (size_t)most + 1, sizeof *count);
  free(m->sorted);
  m->sorted = count ? ambit__new(m->errors, (size_t)m->n, sizeof *m->sorted) : NULL;
  for (int k = has_stacks(m->d) ? STACK_Y : TILE_X; m->sorted && k < KEYS; k++)
    sort(k % 2 ? m->sorted : m->pieces, m->n, k, count, numbers[k], k % 2 ? m->pieces : m->sorted);
  free(count);
  return m->sorted ? AMBIT_OK : AMBIT_ENOMEM;
}

/* ---- lines ---- */

void ambit__assignment_put_index(int32_t *words, int64_t index)
{
  words[0] = (int32_t)(uint32_t)((uint64_t)index & 0xffffffff);
  words[1] = (int32_t)(index >> 32);
}

/* `t` is the number of its first unit, in cells. */
static void put_indices(const assigning *m, const ambit__chunk_piece *p, int64_t t, int32_t *words)
{
  const int last = m->c->active->box.ndims - 1;
  int64_t cell[AMBIT_MAX_DIMS];

  ambit__active_place(m->c->active, m->c->first[p->chunk] / m->wide, cell);
  cell[last] = (m->c->first[p->chunk] % m->wide + p->from) / m->d->wide * m->d->wide - t;
  for (int d = 0; d < m->d->axes; d++)
    ambit__assignment_put_index(words + 2 * d, cell[d]);
}

void ambit__assignment_note(ambit__assignment *d, int64_t line, int64_t n)
{
  const int64_t t = d->units;

  if (t % AMBIT__ASSIGNMENT_GROUP)
    d->groups[t / AMBIT__ASSIGNMENT_GROUP] |= (uint64_t)1 << (32 + t % AMBIT__ASSIGNMENT_GROUP);
  for (int64_t g = (t + AMBIT__ASSIGNMENT_GROUP - 1) / AMBIT__ASSIGNMENT_GROUP;
       g * AMBIT__ASSIGNMENT_GROUP < t + n; g++)
    d->groups[g] |= (uint64_t)line;
}

/* The units of n cells of a chunk, which do not begin within a unit unless the chunk does. */
static int64_t count_units(const assigning *m, int64_t chunk, int64_t from, int64_t n)
{
  const int64_t wide = m->d->wide, x = m->c->first[chunk] % m->wide + from;

  return (x + n - 1) / wide - x / wide + 1;
}

static ambit_status add_line(assigning *m, const ambit__chunk_piece *p)
{
  ambit__assignment *d = m->d;
  const int32_t *chunk = m->c->table + p->chunk * m->c->words;
  const int columns = m->c->form->ncolumns;
  const int64_t at = chunk[AMBIT__CHUNK_AT] + p->from, t = d->units * d->wide;
  const int64_t n = count_units(m, p->chunk, p->from, p->n);
  int32_t *line =
      ambit__add(m->errors, &d->lines, (size_t)d->nlines, &d->cap, (size_t)d->words * sizeof *line);

  if (!line) return AMBIT_ENOMEM;
  memset(line, 0, (size_t)d->words * sizeof *line);
  line[AMBIT__LINE_AT] = (int32_t)(at / d->wide * d->wide - t);
  line[AMBIT__LINE_FROM] = (int32_t)at;
  line[AMBIT__LINE_END] = (int32_t)(at + p->n);
  line[AMBIT__LINE_INNER] = p->inner;
  for (int k = 0; k < columns; k++)
    line[AMBIT__LINE_COLUMN + k] = chunk[AMBIT__CHUNK_COLUMN + k];
  put_indices(m, p, t, line + d->index);
  ambit__assignment_note(d, d->nlines++, n);
  return AMBIT_OK;
}

/* ---- stacks ---- */

/* The pieces of a stack come one behind the other. */
static ambit_status assign_stacks(assigning *m)
{
  for (int64_t i = 0, stop; i < m->n; i = stop) {
    const ambit__chunk_piece *p = &m->pieces[i];

    for (stop = i + 1; stop < m->n && !memcmp(p->keys, m->pieces[stop].keys, sizeof p->keys);)
      stop++;
    AMBIT_TRY(ambit__assignment_stack(m->errors, m->d, m->c, m->slots,
                                      (int64_t)p->keys[TILE_X] * WIDE, p, stop - i));
  }
  return AMBIT_OK;
}

static ambit_status number_slots(assigning *m)
{
  const ambit__chunk_form *f = m->c->form;
  const int n = f->ncolumns, rows = ambit__assignment_rows(m->d->rows);

  if (rows == 1) return AMBIT_OK;
  m->slots = ambit__new(m->errors, (size_t)(rows * n) + 1, sizeof *m->slots);
  for (int i = 0; m->slots && i < rows * n; i++)
    m->slots[i] = ambit__assignment_slot(f, m->c->active->box.ndims, m->d->rows, i / n, i % n);
  return m->slots ? AMBIT_OK : AMBIT_ENOMEM;
}

/* ---- all ---- */

/* Assigns the chunks of as many planes as a tile is deep, or of all rows in two dimensions. */
static ambit_status assign_planes(assigning *m, int64_t first, int64_t end)
{
  m->n = 0;
  for (int64_t i = first; i < end; i++)
    AMBIT_TRY(cut_chunk(m, i));
  AMBIT_TRY(sort_pieces(m));
  if (m->slots) return assign_stacks(m);
  for (int64_t i = 0; i < m->n; i++) {
    const ambit__chunk_piece *p = &m->pieces[i];

    if (m->d->cells) ambit__assignment_put(m->d, m->c, &m->images, p->chunk, p->from, p->n);
    AMBIT_TRY(add_line(m, p));
    m->d->units += count_units(m, p->chunk, p->from, p->n);
  }
  return AMBIT_OK;
}

static int64_t planes_of(const assigning *m, int64_t chunk)
{
  return m->c->first[chunk] / m->wide / m->high / tile_deep(m->d);
}

/* Groups, and the table of cells. */
static ambit_status make_tables(assigning *m)
{
  const ambit__chunk_form *f = m->c->form;
  ambit__assignment *d = m->d;

  d->pitch = d->ngroups * AMBIT__ASSIGNMENT_GROUP;
  if (f->list) d->ngroups = 0;
  AMBIT_NEW(m->errors, d->groups, (size_t)d->ngroups);
  d->cell_words = d->wide == 1 ? ambit__assignment_number(f) + (f->list && d->axes ? 2 : 0) : 0;
  if (!d->cell_words) return AMBIT_OK;
  AMBIT_TRY(ambit__images_make(m->errors, m->c, &m->images));
  d->cells = ambit__new(m->errors, (size_t)(d->pitch * d->cell_words), sizeof *d->cells);
  return d->cells ? AMBIT_OK : AMBIT_ENOMEM;
}

static ambit_status assign_all(assigning *m, const ambit__team *team)
{
  const int64_t end = m->c->n;
  int64_t units = 0;

  for (int64_t i = 0; i < end; i++)
    units += count_units(m, i, 0, m->c->table[i * m->c->words + AMBIT__CHUNK_CELLS]);
  m->d->ngroups = (units + AMBIT__ASSIGNMENT_GROUP - 1) / AMBIT__ASSIGNMENT_GROUP;
  AMBIT_TRY(make_tables(m));
  AMBIT_TRY(number_slots(m));
  if (m->c->form->list) return ambit__assignment_list(m->errors, m->d, m->c, &m->images, team);
  for (int64_t i = 0, stop; i < end; i = stop) {
    for (stop = i + 1; stop < end && planes_of(m, stop) == planes_of(m, i);)
      stop++;
    AMBIT_TRY(assign_planes(m, i, stop));
  }
  if (m->slots)
    m->d->ngroups = (m->d->units + AMBIT__ASSIGNMENT_GROUP - 1) / AMBIT__ASSIGNMENT_GROUP;
  return AMBIT_OK;
}

ambit_status ambit__assignment_make(ambit__errors *errors, const ambit__chunks *c, int wide,
                                    const int *rows, int axes, const ambit__team *team,
                                    ambit__assignment *d)
{
  const ambit__box *grid = &c->active->box;
  const int ndims = grid->ndims;
  assigning m = {.errors = errors,
                 .c = c,
                 .d = d,
                 .wide = grid->hi[ndims - 1],
                 .high = ndims > 1 ? grid->hi[ndims - 2] : 1,
                 .deep = ndims > 2 ? grid->hi[ndims - 3] : 1};
  ambit_status s;

  assert(wide <= AMBIT__QUAD && (wide == 1 || !c->form->list));
  assert(ambit__assignment_rows(rows) == 1 || (wide == AMBIT__QUAD && !c->form->ntests));
  assert((ndims > 1 || rows[0] == 1) && (ndims > 2 || rows[1] == 1));
  *d = (ambit__assignment){.first = c->n ? c->table[AMBIT__CHUNK_AT] : -1,
                           .wide = wide,
                           .rows = {rows[0], rows[1]},
                           .axes = axes,
                           .words = ambit__assignment_words(c->form, ndims, rows, axes),
                           .index = ambit__assignment_index(c->form, ndims, rows)};
  s = assign_all(&m, team);
  ambit__images_free(&m.images);
  free(m.pieces);
  free(m.sorted);
  free(m.slots);
  return s;
}
