/* SPDX-License-Identifier: BSD-3-Clause */
/* place.c - the cells that a stage computes; stages on a face or on a box.
 *
 * A stage that is placed computes its rule in some boxes, and passes all other cells. Tiles in the
 * middle of the grid may meet a box, so both codes test that: with a bit per cell of a lane across
 * z, and by the number of the row. Most rows and lanes skip the rule.
 */
#include "nest/window/window.h"

/* "x + j < first1 + 1 || x + j >= end1 - 0": a cell is outside a box along an axis; NULL: none is.
 * Cells beyond a periodic face are those at the other one; only tiles at faces have them. */
static const char *outside_of(const ambit__window *j, int axis, const int *inset, const char *at)
{
  if (!(inset[0] || inset[1])) return NULL;
  if (j->edge && j->flow->periodic[axis])
    at = ambit__nest_text(j->n, "ambit_cycled(%s, first%d, end%d)", at, axis, axis);
  return ambit__nest_text(j->n, "%s < first%d + %d || %s >= end%d - %d", at, axis, inset[0], at,
                          axis, inset[1]);
}

/* Changes the bits of the cells that are outside along one axis. */
static void mark_outside(const ambit__window *j, int axis, const int *inset, const char *at,
                         const char *change)
{
  const char *outside = outside_of(j, axis, inset, at);

  if (outside) ambit__nest_do_if(j->n, outside, "%s1u << %s", change, ambit__window_bit(j));
}

/* A stage that is not placed has all cells along an axis beyond whose faces the grid continues. */
void ambit__window_let_outside(const ambit__window *j, int stage)
{
  const ambit__flow_stage *st = &j->flow->stages[stage];
  const char *change = ambit__nest_text(j->n, "out%d |= ", stage);

  if (st->nplaces) return;
  ambit__nest_do(j->n, "unsigned out%d = 0", stage);
  ambit__window_open_cells(j);
  if (j->y >= 0 && !j->flow->periodic[j->y])
    mark_outside(j, j->y, st->inset[j->y], "y + r", change);
  if (!j->flow->periodic[j->x]) mark_outside(j, j->x, st->inset[j->x], "x + j", change);
  ambit__window_close_cells(j);
}

/* The cells of a lane that are in a box, across z. */
static void let_place(const ambit__window *j, int stage, int place)
{
  const int(*inset)[2] = j->flow->stages[stage].place[place];
  const char *change = ambit__nest_text(j->n, "in%d_%d &= ~0u ^ ", stage, place);

  ambit__nest_do(j->n, "unsigned in%d_%d = %uu", stage, place, (1u << j->rows * j->lane) - 1);
  ambit__window_open_cells(j);
  if (j->y >= 0) mark_outside(j, j->y, inset[j->y], "y + r", change);
  mark_outside(j, j->x, inset[j->x], "x + j", change);
  ambit__window_close_cells(j);
}

void ambit__window_let_placed(const ambit__window *j)
{
  for (int i = 0; i < j->flow->nstages; i++)
    for (int k = 0; k < j->flow->stages[i].nplaces; k++)
      let_place(j, i, k);
}

/* The cells of this row that are in some box. */
static void find_cells(const ambit__window *j, int stage)
{
  const ambit__flow_stage *st = &j->flow->stages[stage];
  const char *row = j->planes ? "z + k" : ambit__nest_text(j->n, "row - %d", j->stages[stage].lag);

  ambit__nest_do(j->n, "unsigned in%d = 0", stage);
  for (int k = 0; k < st->nplaces; k++) {
    const char *outside = outside_of(j, j->z, st->place[k][j->z], row);

    ambit__nest_do_if(j->n, ambit__nest_text(j->n, "!(%s)", outside ? outside : "false"),
                      "in%d |= in%d_%d", stage, stage, k);
  }
}

void ambit__window_pass(const ambit__window *j, int stage)
{
  for (int v = 0; v < j->flow->nvalues; v++)
    if (j->flow->values[v].stage == stage)
      ambit__window_set(j, NULL, ambit__window_own(j, v, j->values[v].lag),
                        ambit__window_own(j, j->flow->values[v].frozen, j->values[v].lag));
}

void ambit__window_open_place(const ambit__window *j, int stage)
{
  ambit__window_pass(j, stage);
  find_cells(j, stage);
  ambit__nest_if(j->n, "in%d", stage);
}

void ambit__window_skip_outside(const ambit__window *j, int stage)
{
  ambit__nest_do_if(j->n, ambit__nest_text(j->n, "!(in%d >> %s & 1)", stage, ambit__window_bit(j)),
                    "continue");
}
