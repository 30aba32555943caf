/* SPDX-License-Identifier: BSD-3-Clause */
/* fused_place.c - the cells that a stage computes; stages on a face or on a box.
 *
 * A stage that is placed computes its rule in a box, and passes all other cells. Tiles in the
 * middle of the grid may meet the box, so both codes test that: with a bit per cell of a lane
 * across z, and by the number of the row. Most rows and lanes skip the rule.
 */
#include "plan/fused.h"

#include <stdio.h>

/* "x + j": the position of a cell along an axis. Cells beyond a periodic face are those at the
 * other one; only tiles at faces have them. */
static void name_position(const ambit__fused_job *j, int axis, const char *at, char *text,
                          size_t size)
{
  if (j->edge && j->pipe->periodic[axis])
    snprintf(text, size, "ambit_cycled(%s, first%d, end%d)", at, axis, axis);
  else
    snprintf(text, size, "%s", at);
}

/* Adds the bits of the cells that are outside along one axis. A stage that is not placed has all
 * cells along an axis beyond whose faces the grid continues. */
static void add_outside(const ambit__fused_job *j, int stage, int axis, const char *name)
{
  const ambit__pipe_stage *st = &j->pipe->stages[stage];
  const int *inset = axis < 0 ? NULL : st->inset[axis];
  char at[80];

  if (!inset || (j->pipe->periodic[axis] && !st->placed) || !(inset[0] || inset[1])) return;
  name_position(j, axis, name, at, sizeof at);
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "if (%s < first%d + %d || %s >= end%d - %d) out%d |= 1u << ", at, axis,
               inset[0], at, axis, inset[1], stage);
  ambit__fused_print_bit(j);
  ambit__line_end(j->gpu.w, ";");
}

void ambit__fused_declare_outside(const ambit__fused_job *j, int stage)
{
  ambit__line(j->gpu.w, "unsigned out%d = 0;", stage);
  ambit__fused_open_rows(j, 0, j->rows);
  ambit__print(j->gpu.t, "#pragma unroll\n");
  ambit__open(j->gpu.w, "for (int j = 0; j < %d; j++)", j->lane);
  add_outside(j, stage, j->y, "y + r");
  add_outside(j, stage, j->x, "x + j");
  ambit__close(j->gpu.w);
  ambit__fused_close_rows(j);
}

void ambit__fused_declare_placed(const ambit__fused_job *j)
{
  for (int i = 0; i < j->pipe->nstages; i++)
    if (j->pipe->stages[i].placed) ambit__fused_declare_outside(j, i);
}

/* The row of a result that is new in this turn becomes that of the value it has frozen. */
static void pass(const ambit__fused_job *j, int value)
{
  const int lag = j->values[value].lag, frozen = j->pipe->values[value].frozen;

  ambit__fused_open_rows(j, 0, j->rows);
  ambit__print(j->gpu.t, "#pragma unroll\n");
  ambit__line(j->gpu.w, "for (int j = 0; j < %d; j++)", j->lane);
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "  ");
  ambit__fused_print_row(j, value, lag);
  ambit__print(j->gpu.t, "[j + %d] = ", j->values[value].left);
  ambit__fused_print_row(j, frozen, lag);
  ambit__print(j->gpu.t, "[j + %d]", j->values[frozen].left);
  ambit__line_end(j->gpu.w, ";");
  ambit__fused_close_rows(j);
}

void ambit__fused_open_place(const ambit__fused_job *j, int stage)
{
  const ambit__pipe_stage *st = &j->pipe->stages[stage];
  const int *inset = st->inset[j->z], lag = j->stages[stage].lag;
  char row[32], at[80];

  for (int v = 0; v < j->pipe->nvalues; v++)
    if (j->pipe->values[v].stage == stage) pass(j, v);
  snprintf(row, sizeof row, "row - %d", lag);
  name_position(j, j->z, row, at, sizeof at);
  ambit__open(j->gpu.w, "if (out%d != %uu && %s >= first%d + %d && %s < end%d - %d)", stage,
              (1u << j->rows * j->lane) - 1, at, j->z, inset[0], at, j->z, inset[1]);
}

void ambit__fused_skip_outside(const ambit__fused_job *j, int stage)
{
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "if (out%d >> ", stage);
  ambit__fused_print_bit(j);
  ambit__line_end(j->gpu.w, " & 1) continue;");
}
