/* SPDX-License-Identifier: BSD-3-Clause */
/* assignment_stacks.c - lines for units of several rows.
 *
 * A piece joins the first stack that has no cells in its row yet, is about as wide, and has no row
 * elsewhere that the piece has or reads. Rows of the middle of a region agree; at its edge, where
 * chunks end, some do not, and there are several stacks.
 */
#include "grid/assignment.h"

#include <string.h>

enum { UNKNOWN = INT32_MIN }; /* a slot that no piece of the stack has or reads so far */

/* ---- slots ---- */

/* A column of a row of units. */
typedef struct reader {
  const ambit__chunk_form *f;
  int ndims;
  const int *rows;
  int row, column;
} reader;

/* Column after column, row after row. */
static reader reader_at(const ambit__chunk_form *f, int ndims, const int *rows, int i)
{
  return (reader){f, ndims, rows, i / f->ncolumns, i % f->ncolumns};
}

/* The place that it reads along an axis, counted from the first row. */
static int place(const reader *r, int axis)
{
  const int offset = r->f->columns[r->column].offset[axis];

  if (axis == r->ndims - 2) return offset + r->row % r->rows[0];
  return axis == r->ndims - 3 ? offset + r->row / r->rows[0] : offset;
}

/* The row of the unit that it reads; -1: none. */
static int own_row(const reader *r)
{
  const int y = place(r, r->ndims - 2), z = r->ndims > 2 ? place(r, r->ndims - 3) : 0;

  for (int d = 0; d < r->ndims - 3; d++)
    if (place(r, d)) return -1;
  return y >= 0 && y < r->rows[0] && z >= 0 && z < r->rows[1] ? z * r->rows[0] + y : -1;
}

static bool is_same(const reader *a, const reader *b)
{
  if (a->f->columns[a->column].view != b->f->columns[b->column].view) return false;
  for (int d = 0; d < a->ndims - 1; d++)
    if (place(a, d) != place(b, d)) return false;
  return true;
}

/* Whether no earlier one has its slot. */
static bool is_first(const reader *r)
{
  if (own_row(r) >= 0) return false;
  for (int i = 0; i < r->row * r->f->ncolumns + r->column; i++) {
    const reader other = reader_at(r->f, r->ndims, r->rows, i);

    if (is_same(r, &other)) return false;
  }
  return true;
}

static int own_slots(const ambit__chunk_form *f, const int *rows)
{
  return (f->nviews > 1 ? f->nviews : 1) * ambit__assignment_rows(rows);
}

int ambit__assignment_slot(const ambit__chunk_form *f, int ndims, const int *rows, int row,
                           int column)
{
  const reader r = {f, ndims, rows, row, column};
  const int own = own_row(&r);
  int slot = own_slots(f, rows);

  if (own >= 0) return ambit__assignment_own(rows, f->columns[column].view, own);
  for (int i = 0; i < row * f->ncolumns + column; i++) {
    const reader other = reader_at(f, ndims, rows, i);

    if (is_same(&r, &other)) break;
    slot += is_first(&other);
  }
  return slot;
}

int ambit__assignment_slots(const ambit__chunk_form *f, int ndims, const int *rows)
{
  int n = own_slots(f, rows);

  for (int i = 0; i < ambit__assignment_rows(rows) * f->ncolumns; i++) {
    const reader r = reader_at(f, ndims, rows, i);

    n += is_first(&r);
  }
  return n;
}

/* ---- shapes ---- */

/* The most registers for loaded values. On an H200 units of two rows in four planes are the fastest
 * with 112 of them (a star of radius 1 in float) and 192 (radius 2, and a box of 27 cells), but not
 * with 224 (a star in double), where two rows in two planes with 128 are. */
enum { LOADS = 192 };

static const double STACKED = 0.75; /* of all cells, for units of several rows */

const int ambit__assignment_shapes[AMBIT__ASSIGNMENT_SHAPES][2] = {{1, 1}, {2, 1}, {2, 2}, {2, 4}};

/* The registers for the values that a unit loads, about: those beside a vector are loaded one by
 * one, and count twice. */
static int count_loads(const ambit__chunk_form *f, int ndims, const int *rows,
                       const ambit__assignment_load *load)
{
  const int slots = ambit__assignment_slots(f, ndims, rows), own = ambit__assignment_rows(rows);
  int ends = 0, beside = 0;

  for (int v = 0; v < f->nviews; v++)
    if (f->reach[v] > beside) beside = f->reach[v];
  for (int k = 0; k < f->ncolumns; k++)
    ends += f->columns[k].lo < 0 || f->columns[k].hi > 0;
  ends = f->ncolumns ? ends * (slots - own) / f->ncolumns : 0; /* of other rows that are read */
  return (slots * AMBIT__QUAD + 4 * beside * (own + ends)) * load->beside +
         own * AMBIT__QUAD * load->own;
}

const int *ambit__assignment_best(const ambit__chunk_form *f, int ndims, double stacked,
                                  const ambit__assignment_load *load)
{
  int i = ndims > 2 && stacked >= STACKED ? AMBIT__ASSIGNMENT_SHAPES - 1 : 0;

  while (i && (!ambit__assignment_suits(f, ndims, ambit__assignment_shapes[i]) ||
               count_loads(f, ndims, ambit__assignment_shapes[i], load) > LOADS))
    i--;
  return ambit__assignment_shapes[i];
}

/* ---- words ---- */

int ambit__assignment_index(const ambit__chunk_form *f, int ndims, const int *rows)
{
  if (ambit__assignment_rows(rows) == 1) return AMBIT__LINE_COLUMN + f->ncolumns;
  return AMBIT__STACK_ROW + ambit__assignment_rows(rows) + ambit__assignment_slots(f, ndims, rows);
}

int ambit__assignment_words(const ambit__chunk_form *f, int ndims, const int *rows, int axes)
{
  const int words = ambit__assignment_index(f, ndims, rows) + 2 * axes;

  return (words + AMBIT__ASSIGNMENT_VECTOR - 1) / AMBIT__ASSIGNMENT_VECTOR *
         AMBIT__ASSIGNMENT_VECTOR;
}

/* ---- pieces ---- */

/* A piece that is to join a stack. */
typedef struct joining {
  const ambit__assignment *d;
  const int *slots; /* of the columns of its row */
  int ncolumns, nviews;
  int row;              /* of the stack */
  const int32_t *chunk; /* its words */
  int32_t from, end;    /* cells, counted from the tile */
  int32_t base;         /* position that the first cell of the tile would have in its row */
} joining;

/* The place of a piece along the axes but the last one, and its row of the stack. */
static int find_row(const ambit__assignment *d, const ambit__chunks *c, const ambit__chunk_piece *p,
                    int64_t *place)
{
  const int last = c->active->box.ndims - 1;

  ambit__active_place(c->active, c->first[p->chunk] / c->active->box.hi[last], place);
  return (int)(place[last - 1] % d->rows[0] +
               (last > 1 ? place[last - 2] % d->rows[1] * d->rows[0] : 0));
}

static joining look_at(const ambit__assignment *d, const ambit__chunks *c, const int *slots,
                       const ambit__chunk_piece *p)
{
  const int last = c->active->box.ndims - 1;
  int64_t cell[AMBIT_MAX_DIMS];
  joining j = {.d = d,
               .ncolumns = c->form->ncolumns,
               .nviews = c->form->nviews > 1 ? c->form->nviews : 1,
               .row = find_row(d, c, p, cell),
               .chunk = c->table + p->chunk * c->words};

  j.slots = slots + j.row * j.ncolumns;
  j.from =
      (int32_t)((c->first[p->chunk] % c->active->box.hi[last] + p->from) % AMBIT__ASSIGNMENT_PIECE);
  j.end = j.from + (int32_t)p->n;
  j.base = (int32_t)(j.chunk[AMBIT__CHUNK_AT] + p->from - j.from);
  return j;
}

/* ---- stacks ---- */

/* The first unit of a stack in its tile and their number, with cells from .. end - 1 of one more
 * row. */
static int32_t find_units(const ambit__assignment *d, const int32_t *line, int32_t from,
                          int32_t end, int32_t *n)
{
  for (int r = 0; r < ambit__assignment_rows(d->rows); r++) {
    const int32_t row = line[AMBIT__STACK_ROW + r];

    if (row && (row & 0xffff) < from) from = row & 0xffff;
    if (row && row >> 16 > end) end = row >> 16;
  }
  *n = (end + d->wide - 1) / d->wide - from / d->wide;
  return from / d->wide;
}

/* They overlap, and a stack becomes wider by a quarter and a unit at most, or threads would have
 * little to do. */
static bool is_as_wide(const joining *j, const int32_t *line)
{
  const int32_t own = (j->end + j->d->wide - 1) / j->d->wide - j->from / j->d->wide;
  int32_t n, all, most;

  find_units(j->d, line, AMBIT__ASSIGNMENT_PIECE, 0, &n);
  find_units(j->d, line, j->from, j->end, &all);
  most = n > own ? n : own;
  return all < n + own && all <= most + most / 4 + 1;
}

static bool agrees(const int32_t *slots, int slot, int32_t base)
{
  return slots[slot] == UNKNOWN || slots[slot] == base;
}

static bool fits(const joining *j, const int32_t *line)
{
  const int32_t *slots = line + AMBIT__STACK_ROW + ambit__assignment_rows(j->d->rows);

  if (line[AMBIT__STACK_ROW + j->row] || !is_as_wide(j, line)) return false;
  for (int v = 0; v < j->nviews; v++)
    if (!agrees(slots, ambit__assignment_own(j->d->rows, v, j->row), j->base)) return false;
  for (int k = 0; k < j->ncolumns; k++)
    if (!agrees(slots, j->slots[k], j->base + j->chunk[AMBIT__CHUNK_COLUMN + k])) return false;
  return true;
}

static void join(const joining *j, int32_t *line)
{
  int32_t *slots = line + AMBIT__STACK_ROW + ambit__assignment_rows(j->d->rows);

  line[AMBIT__STACK_ROW + j->row] = j->from | j->end << 16;
  for (int v = 0; v < j->nviews; v++)
    slots[ambit__assignment_own(j->d->rows, v, j->row)] = j->base;
  for (int k = 0; k < j->ncolumns; k++)
    slots[j->slots[k]] = j->base + j->chunk[AMBIT__CHUNK_COLUMN + k];
}

static ambit_status open_stack(ambit__errors *errors, ambit__assignment *d)
{
  int32_t *line =
      ambit__add(errors, &d->lines, (size_t)d->nlines, &d->cap, (size_t)d->words * sizeof *line);

  if (!line) return AMBIT_ENOMEM;
  d->nlines++;
  memset(line, 0, (size_t)d->words * sizeof *line);
  for (int w = AMBIT__STACK_ROW + ambit__assignment_rows(d->rows); w < d->index; w++)
    line[w] = UNKNOWN;
  return AMBIT_OK;
}

/* Numbers the units of a stack in which `p` is. Slots that are still unknown are loaded too: any
 * place that can be read will do. */
static void close_stack(ambit__assignment *d, const ambit__chunks *c, const ambit__chunk_piece *p,
                        int64_t tile_x, int32_t *line)
{
  const int last = c->active->box.ndims - 1, rows = ambit__assignment_rows(d->rows);
  int32_t *slots = line + AMBIT__STACK_ROW + rows, known = UNKNOWN, n;
  const int32_t x = d->wide * find_units(d, line, AMBIT__ASSIGNMENT_PIECE, 0, &n);
  int64_t cell[AMBIT_MAX_DIMS];

  for (int r = 0; r < rows; r++)
    if (line[AMBIT__STACK_ROW + r]) known = slots[r];
  for (int k = 0; slots + k < line + d->index; k++)
    if (slots[k] == UNKNOWN) slots[k] = known;
  line[AMBIT__STACK_X] = (int32_t)(x - d->units * d->wide);
  find_row(d, c, p, cell);
  cell[last] = tile_x + x - d->units * d->wide;
  cell[last - 1] -= cell[last - 1] % d->rows[0];
  if (last > 1) cell[last - 2] -= cell[last - 2] % d->rows[1];
  for (int a = 0; a < d->axes; a++)
    ambit__assignment_put_index(line + d->index + 2 * a, cell[a]);
  ambit__assignment_note(d, (line - d->lines) / d->words, n);
  d->units += n;
}

ambit_status ambit__assignment_stack(ambit__errors *errors, ambit__assignment *d,
                                     const ambit__chunks *c, const int *slots, int64_t x,
                                     const ambit__chunk_piece *pieces, int64_t n)
{
  const int64_t first = d->nlines;

  for (int64_t i = 0; i < n; i++) {
    const joining j = look_at(d, c, slots, &pieces[i]);
    int64_t k = first;

    while (k < d->nlines && !fits(&j, d->lines + k * d->words))
      k++;
    if (k == d->nlines) AMBIT_TRY(open_stack(errors, d));
    join(&j, d->lines + k * d->words);
  }
  for (int64_t k = first; k < d->nlines; k++)
    close_stack(d, c, pieces, x, d->lines + k * d->words);
  return AMBIT_OK;
}
