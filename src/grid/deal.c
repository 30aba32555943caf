/* SPDX-License-Identifier: BSD-3-Clause */
#include "grid/deal.h"

#include <stdlib.h>

/* Cells of a tile: wide enough for whole cache lines, and three planes of it fit into the cache of
 * a multiprocessor. */
enum { WIDE = 128, HIGH = 16, DEEP = 32 };

/* Cells of a chunk in one tile. */
typedef struct piece {
  int64_t chunk, from, n; /* its cells from .. from + n - 1 */
  int64_t x, y;           /* the tile's place */
} piece;

/* The pieces of some planes. */
typedef struct dealing {
  ambit__errors *errors;
  const ambit__chunks *c;
  ambit__deal *d;
  int64_t wide, high;     /* of the grid: the last axis, and the one before it */
  piece *pieces, *sorted; /* owned */
  int64_t n;
  size_t cap;
} dealing;

void ambit__deal_free(ambit__deal *d)
{
  free(d->lines);
  free(d->groups);
  *d = (ambit__deal){0};
}

/* ---- tiles ---- */

static ambit_status cut_chunk(dealing *m, int64_t chunk)
{
  const int64_t row = m->c->first[chunk] / m->wide, first = m->c->first[chunk] % m->wide;
  const int64_t end = first + m->c->table[chunk * m->c->words + 1];

  for (int64_t x = first, stop; x < end; x = stop) {
    piece *pieces = ambit__grow(m->errors, m->pieces, (size_t)m->n, &m->cap, sizeof *pieces);

    if (!pieces) return AMBIT_ENOMEM;
    m->pieces = pieces;
    stop = (x / WIDE + 1) * WIDE;
    if (stop > end) stop = end;
    pieces[m->n++] = (piece){chunk, x - first, stop - x, x / WIDE, row % m->high / HIGH};
  }
  return AMBIT_OK;
}

/* Sorts pieces by a number of their tile, keeping the order of those with the same. */
static void sort(const piece *from, int64_t n, bool by_row, int64_t *count, int64_t numbers,
                 piece *to)
{
  for (int64_t i = 0; i <= numbers; i++)
    count[i] = 0;
  for (int64_t i = 0; i < n; i++)
    count[(by_row ? from[i].y : from[i].x) + 1]++;
  for (int64_t i = 0; i < numbers; i++)
    count[i + 1] += count[i];
  for (int64_t i = 0; i < n; i++)
    to[count[by_row ? from[i].y : from[i].x]++] = from[i];
}

static ambit_status sort_tiles(dealing *m)
{
  const int64_t across = (m->wide + WIDE - 1) / WIDE, down = (m->high + HIGH - 1) / HIGH;
  const int64_t most = across > down ? across : down;
  int64_t *count = ambit__new(m->errors, (size_t)most + 1, sizeof *count);

  free(m->sorted);
  m->sorted = count ? ambit__new(m->errors, (size_t)m->n, sizeof *m->sorted) : NULL;
  if (m->sorted) {
    sort(m->pieces, m->n, false, count, across, m->sorted);
    sort(m->sorted, m->n, true, count, down, m->pieces);
  }
  free(count);
  return m->sorted ? AMBIT_OK : AMBIT_ENOMEM;
}

/* ---- lines ---- */

static void put_index(int32_t *words, int64_t index)
{
  words[0] = (int32_t)(uint32_t)((uint64_t)index & 0xffffffff);
  words[1] = (int32_t)(index >> 32);
}

static void put_indices(const dealing *m, const piece *p, int64_t t, int32_t *words)
{
  const int last = m->c->active->box.ndims - 1;
  int64_t cell[AMBIT_MAX_DIMS];

  ambit__active_place(m->c->active, m->c->first[p->chunk] / m->wide, cell);
  cell[last] = m->c->first[p->chunk] % m->wide + p->from - t;
  for (int d = 0; d < m->d->axes; d++)
    put_index(words + 2 * d, cell[d]);
}

/* Notes a line for the cells t .. t + n - 1 in the groups. */
static void note(ambit__deal *d, int64_t line, int64_t t, int64_t n)
{
  if (t % AMBIT__DEAL_GROUP)
    d->groups[t / AMBIT__DEAL_GROUP] |= (uint64_t)1 << (32 + t % AMBIT__DEAL_GROUP);
  for (int64_t g = (t + AMBIT__DEAL_GROUP - 1) / AMBIT__DEAL_GROUP; g * AMBIT__DEAL_GROUP < t + n;
       g++)
    d->groups[g] |= (uint64_t)line;
}

static ambit_status add_line(dealing *m, const piece *p)
{
  ambit__deal *d = m->d;
  const int32_t *chunk = m->c->table + p->chunk * m->c->words;
  const int columns = m->c->form->ncolumns;
  int32_t *lines = ambit__grow(m->errors, d->lines, (size_t)d->nlines, &d->cap,
                               (size_t)d->words * sizeof *lines);

  if (!lines) return AMBIT_ENOMEM;
  d->lines = lines;
  lines += d->nlines * d->words;
  lines[0] = (int32_t)(chunk[0] + p->from - d->cells);
  for (int k = 0; k < columns; k++)
    lines[1 + k] = chunk[2 + k];
  put_indices(m, p, d->cells, lines + 1 + columns);
  note(d, d->nlines++, d->cells, p->n);
  d->cells += p->n;
  return AMBIT_OK;
}

/* Deals the chunks of as many planes as a tile is deep, or of all rows in two dimensions. */
static ambit_status deal_planes(dealing *m, int64_t first, int64_t end)
{
  m->n = 0;
  for (int64_t i = first; i < end; i++)
    AMBIT_TRY(cut_chunk(m, i));
  AMBIT_TRY(sort_tiles(m));
  for (int64_t i = 0; i < m->n; i++)
    AMBIT_TRY(add_line(m, &m->pieces[i]));
  return AMBIT_OK;
}

static int64_t planes_of(const dealing *m, int64_t chunk)
{
  return m->c->first[chunk] / m->wide / m->high / DEEP;
}

static ambit_status deal_all(dealing *m, int64_t first, int64_t end)
{
  int64_t cells = 0;

  for (int64_t i = first; i < end; i++)
    cells += m->c->table[i * m->c->words + 1];
  m->d->ngroups = (cells + AMBIT__DEAL_GROUP - 1) / AMBIT__DEAL_GROUP;
  m->d->groups = ambit__new(m->errors, (size_t)m->d->ngroups, sizeof *m->d->groups);
  if (!m->d->groups) return AMBIT_ENOMEM;
  for (int64_t i = first, stop; i < end; i = stop) {
    for (stop = i + 1; stop < end && planes_of(m, stop) == planes_of(m, i);)
      stop++;
    AMBIT_TRY(deal_planes(m, i, stop));
  }
  return AMBIT_OK;
}

ambit_status ambit__deal_make(ambit__errors *errors, const ambit__chunks *c, const ambit__box *box,
                              int axes, ambit__deal *d)
{
  const ambit__box *grid = &c->active->box;
  const int ndims = grid->ndims;
  dealing m = {.errors = errors,
               .c = c,
               .d = d,
               .wide = grid->hi[ndims - 1],
               .high = ndims > 1 ? grid->hi[ndims - 2] : 1};
  int64_t first, end;
  ambit_status s;

  *d = (ambit__deal){.axes = axes, .words = ambit__deal_words(c->form->ncolumns, axes)};
  ambit__chunks_in(c, box, &first, &end);
  s = deal_all(&m, first, end);
  free(m.pieces);
  free(m.sorted);
  return s;
}
