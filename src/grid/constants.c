/* SPDX-License-Identifier: BSD-3-Clause */
/* constants.c - set 0 has all cells beside runs, the next ones have for each section its cells, and
 * those before and behind it, and the last two the cells beyond the low and the high ends of rows.
 */
#include "grid/constants.h"

enum { PER_SECTION = 3 };

static int sections(const ambit__active *a)
{
  return 1 + 2 * (a->box.ndims - 1);
}

static int low_ends(const ambit__active *a)
{
  return 1 + PER_SECTION * sections(a);
}

int ambit__constants_sets(const ambit__active *a)
{
  return low_ends(a) + 2;
}

/* The value beyond an end of a row whose cells have `number` there if that end has no constant. */
static double beyond(const ambit__active *a, const ambit__boundaries *b, int side, double number)
{
  const int last = a->box.ndims - 1;

  return b->kind[last][side] == AMBIT_CONSTANT ? b->value[last][side] : number;
}

double ambit__constants_value(const ambit__active *a, const ambit__boundaries *b, int set)
{
  const double fill = b->inactive == AMBIT_CONSTANT ? b->fill : 0;
  const int face = (set - 1) / PER_SECTION - 1, part = (set - 1) % PER_SECTION;
  double number;

  if (!set) return fill;
  if (set >= low_ends(a)) return beyond(a, b, set - low_ends(a), fill);
  number = face < 0 ? fill : b->value[face / 2][face % 2];
  return part ? beyond(a, b, part - 1, number) : number;
}

bool ambit__constants_inactive(int set)
{
  return set <= PER_SECTION;
}

/* Between runs; in a list, only before and behind them. */
static bool next_gap(const ambit__active *a, int64_t *i, int64_t *from, int64_t *to)
{
  do {
    const ambit__run *r = a->runs + *i;

    if (*i > a->n) return false;
    *from = *i ? r[-1].at + r[-1].hi - r[-1].lo : ambit__active_section(a, sections(a)) - a->pad;
    *to = *i < a->n ? r->at : a->size;
    ++*i;
  } while (*from == *to);
  return true;
}

/* Of rows with runs there. A list has no cells beyond ends. */
static bool next_end(const ambit__active *a, int side, int64_t *i, int64_t *from, int64_t *to)
{
  const int64_t extent = a->box.hi[a->box.ndims - 1];

  while (a->storage == STORAGE_RUNS && *i < a->n) {
    const int64_t k = (*i)++;
    const ambit__run *r = &a->runs[k];
    const bool first = !k || r[-1].row != r->row, last = k + 1 == a->n || r[1].row != r->row;

    if (side ? extent - r->hi >= a->pad || !last : r->lo >= a->pad || !first) continue;
    *from = side ? r->at + extent - r->lo : r->at - r->lo - a->pad;
    *to = *from + a->pad;
    return true;
  }
  return false;
}

bool ambit__constants_next(const ambit__active *a, int set, int64_t *i, int64_t *from, int64_t *to)
{
  const int part = (set - 1) % PER_SECTION;
  int64_t at;

  if (!set) return next_gap(a, i, from, to);
  if (set >= low_ends(a)) return next_end(a, set - low_ends(a), i, from, to);
  if ((*i)++) return false;
  at = ambit__active_section(a, (set - 1) / PER_SECTION);
  *from = part == 0 ? at : part == 1 ? at - a->pad : at + a->section;
  *to = *from + (part == 0 ? a->section : a->pad);
  return true;
}
