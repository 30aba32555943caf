/* SPDX-License-Identifier: BSD-3-Clause */
/* active_shift.c - copies of cells to another place on a sparse grid.
 *
 * All lists name cells by their place at the destination, so that those of the part that has the
 * source and of the part that has the destination can be compared, sent and received cell by cell.
 */
#include "grid/active.h"

/* Active cells of a part, and those that are `away` from them, in all of the grid. */
typedef struct pairing {
  ambit__errors *errors;
  const ambit__active *whole, *part;
  const int64_t *away;
  const int64_t *name;    /* from the cells of the part to their place at the destination */
  ambit__active *with;    /* those with an active cell there; */
  ambit__active *without; /* and the others; NULL: they do not matter */
} pairing;

/* Adds the cells x .. end - 1 of run i of the part, which are in a row. */
static ambit_status add(const pairing *p, ambit__active *to, const ambit__run *r, int64_t row,
                        int64_t x, int64_t end)
{
  const int64_t more = p->name[p->whole->box.ndims - 1];
  const ambit__run named = {.row = row, .lo = x + more, .hi = end + more, .at = r->at + x - r->lo};

  return to && x < end ? ambit__active_add(p->errors, to, &named) : AMBIT_OK;
}

static int64_t moved_row(const ambit__active *a, const int64_t *cell, const int64_t *shift)
{
  int64_t there[AMBIT_MAX_DIMS];

  for (int d = 0; d < a->box.ndims; d++)
    there[d] = cell[d] + shift[d];
  return ambit__active_row(a, there);
}

/* The cells of a run that are in a box of one row. */
static ambit_status pair_row(const pairing *p, const ambit__run *r, const ambit__box *cells)
{
  const int last = cells->ndims - 1;
  const int64_t away = p->away[last], end = cells->hi[last];
  const int64_t row = moved_row(p->whole, cells->lo, p->name);
  const int64_t there = moved_row(p->whole, cells->lo, p->away);
  int64_t x = cells->lo[last];

  for (int64_t i = ambit__active_from(p->whole, there, x + away); x < end; i++) {
    const ambit__run *other = i < p->whole->n ? &p->whole->runs[i] : NULL;
    int64_t lo = end, hi = end;

    if (other && other->row == there) {
      lo = other->lo - away < x ? x : other->lo - away;
      hi = other->hi - away;
    }
    if (lo > end) lo = end;
    if (hi > end) hi = end;
    AMBIT_TRY(add(p, p->without, r, row, x, lo));
    AMBIT_TRY(add(p, p->with, r, row, lo, hi));
    x = hi > lo ? hi : lo;
  }
  return AMBIT_OK;
}

static ambit_status pair(const pairing *p, const ambit__box *box)
{
  ambit__box cells;
  int64_t i = 0;

  while (ambit__active_next(p->part, box, &i, &cells))
    AMBIT_TRY(pair_row(p, &p->part->runs[i - 1], &cells));
  return AMBIT_OK;
}

ambit_status ambit__active_shift(ambit__errors *errors, const ambit__active *whole,
                                 const ambit__active *part, const ambit__box *own,
                                 const ambit__box *box, const int64_t *shift, ambit__shifted *s)
{
  static const int64_t none[AMBIT_MAX_DIMS];
  const ambit__box there = ambit__box_move(box, shift);
  const ambit__box sent = ambit__box_intersect(box, own), got = ambit__box_intersect(&there, own);
  int64_t back[AMBIT_MAX_DIMS];
  pairing p = {.errors = errors, .whole = whole, .part = part};

  for (int d = 0; d < AMBIT_MAX_DIMS; d++)
    back[d] = -shift[d];
  ambit__active_begin(&s->from, &whole->box, part->storage);
  ambit__active_begin(&s->to, &whole->box, part->storage);
  ambit__active_begin(&s->blank, &whole->box, part->storage);
  p.away = p.name = shift;
  p.with = &s->from;
  AMBIT_TRY(pair(&p, &sent));
  p.away = back;
  p.name = none;
  p.with = &s->to;
  p.without = &s->blank;
  return pair(&p, &got);
}

void ambit__shifted_free(ambit__shifted *s)
{
  ambit__active_free(&s->from);
  ambit__active_free(&s->to);
  ambit__active_free(&s->blank);
}
