/* SPDX-License-Identifier: BSD-3-Clause */
/* fused_place.c - the cells that a stage computes; stages on a face or on a box.
 *
 * A stage that is placed computes its rule in some boxes, and passes all other cells. Tiles in the
 * middle of the grid may meet a box, so both codes test that: with a bit per cell of a lane across
 * z, and by the number of the row. Most rows and lanes skip the rule.
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

/* "x + j < first1 + 1 || x + j >= end1 - 0": a cell is outside a box along an axis. Returns false
 * if none is. */
static bool print_outside(const ambit__fused_job *j, int axis, const int *inset, const char *name)
{
  char at[80];

  if (!(inset[0] || inset[1])) return false;
  name_position(j, axis, name, at, sizeof at);
  ambit__print(j->gpu.t, "%s < first%d + %d || %s >= end%d - %d", at, axis, inset[0], at, axis,
               inset[1]);
  return true;
}

/* Changes the bits of the cells that are outside along one axis. */
static void mark_outside(const ambit__fused_job *j, int axis, const int *inset, const char *name,
                         const char *change)
{
  if (!(inset[0] || inset[1])) return;
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "if (");
  print_outside(j, axis, inset, name);
  ambit__print(j->gpu.t, ") %s1u << ", change);
  ambit__fused_print_bit(j);
  ambit__line_end(j->gpu.w, ";");
}

/* A stage that is not placed has all cells along an axis beyond whose faces the grid continues. */
void ambit__fused_declare_outside(const ambit__fused_job *j, int stage)
{
  const ambit__pipe_stage *st = &j->pipe->stages[stage];
  char change[24];

  if (st->nplaces) return;
  snprintf(change, sizeof change, "out%d |= ", stage);
  ambit__line(j->gpu.w, "unsigned out%d = 0;", stage);
  ambit__fused_open_cells(j);
  if (j->y >= 0 && !j->pipe->periodic[j->y])
    mark_outside(j, j->y, st->inset[j->y], "y + r", change);
  if (!j->pipe->periodic[j->x]) mark_outside(j, j->x, st->inset[j->x], "x + j", change);
  ambit__fused_close_cells(j);
}

static unsigned all_bits(const ambit__fused_job *j)
{
  return (1u << j->rows * j->lane) - 1;
}

/* The cells of a lane that are in a box, across z. */
static void declare_place(const ambit__fused_job *j, int stage, int place)
{
  const int(*inset)[2] = j->pipe->stages[stage].place[place];
  char change[32];

  ambit__line(j->gpu.w, "unsigned in%d_%d = %uu;", stage, place, all_bits(j));
  snprintf(change, sizeof change, "in%d_%d &= ~0u ^ ", stage, place);
  ambit__fused_open_cells(j);
  if (j->y >= 0) mark_outside(j, j->y, inset[j->y], "y + r", change);
  mark_outside(j, j->x, inset[j->x], "x + j", change);
  ambit__fused_close_cells(j);
}

void ambit__fused_declare_placed(const ambit__fused_job *j)
{
  for (int i = 0; i < j->pipe->nstages; i++)
    for (int k = 0; k < j->pipe->stages[i].nplaces; k++)
      declare_place(j, i, k);
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

/* The cells of this row that are in some box. */
static void find_cells(const ambit__fused_job *j, int stage)
{
  const ambit__pipe_stage *st = &j->pipe->stages[stage];
  char row[32];

  if (j->planes)
    snprintf(row, sizeof row, "z + k");
  else
    snprintf(row, sizeof row, "row - %d", j->stages[stage].lag);
  ambit__line(j->gpu.w, "unsigned in%d = 0;", stage);
  for (int k = 0; k < st->nplaces; k++) {
    ambit__line_begin(j->gpu.w);
    ambit__print(j->gpu.t, "if (!(");
    if (!print_outside(j, j->z, st->place[k][j->z], row)) ambit__print(j->gpu.t, "false");
    ambit__print(j->gpu.t, ")) in%d |= in%d_%d", stage, stage, k);
    ambit__line_end(j->gpu.w, ";");
  }
}

void ambit__fused_open_place(const ambit__fused_job *j, int stage)
{
  for (int v = 0; v < j->pipe->nvalues; v++)
    if (j->pipe->values[v].stage == stage) pass(j, v);
  find_cells(j, stage);
  ambit__open(j->gpu.w, "if (in%d)", stage);
}

void ambit__fused_skip_outside(const ambit__fused_job *j, int stage)
{
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "if (!(in%d >> ", stage);
  ambit__fused_print_bit(j);
  ambit__line_end(j->gpu.w, " & 1)) continue;");
}
