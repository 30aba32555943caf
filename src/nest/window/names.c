/* SPDX-License-Identifier: BSD-3-Clause */
/* names.c - the cells of a lane: their names, and the loops over them.
 *
 * Value 3 is q3[slot][cell], where the cells of a lane stand between those of the adjacent lanes; a
 * row keeps its slot while it is needed. All loops but the one over turns are unrolled, so that
 * arrays become registers. Partial results of stage 2 are s2[slot][cell]. In three dimensions they
 * are q3[slot][row][cell] and s2[slot][row][cell], and the rows of a lane stand between those of
 * the adjacent groups. In a brick they are q3[plane][row][cell], and the planes stand between those
 * outside it.
 */
#include "nest/window/window.h"

/* ---- names ---- */

const char *ambit__window_plane(const ambit__window *j, int value, int lag)
{
  return ambit__nest_text(j->n, "q%d%s", value,
                          j->planes ? ambit__nest_at(j->n, "k", j->values[value].low - lag)
                                    : ambit__nest_slot(j->n, -lag, j->period));
}

/* The row at a distance along y. */
static const char *row_at(const ambit__window *j, int value, int lag, int y)
{
  const char *plane = ambit__window_plane(j, value, lag);

  if (j->y < 0) return plane;
  return ambit__nest_text(j->n, "%s%s", plane,
                          ambit__nest_at(j->n, "r", j->values[value].down + y));
}

const char *ambit__window_row(const ambit__window *j, int value, int lag)
{
  return row_at(j, value, lag, 0);
}

const char *ambit__window_cell(const ambit__window *j, int value, int lag, const int *offset)
{
  return ambit__nest_text(j->n, "%s%s", row_at(j, value, lag, j->y < 0 ? 0 : offset[j->y]),
                          ambit__nest_at(j->n, "j", j->values[value].left + offset[j->x]));
}

const char *ambit__window_own(const ambit__window *j, int value, int lag)
{
  return ambit__window_cell(j, value, lag, (const int[AMBIT_MAX_DIMS]){0});
}

const char *ambit__window_partial(const ambit__window *j, int stage, int lag)
{
  return ambit__nest_text(j->n, "s%d%s%s", stage, ambit__nest_slot(j->n, -lag, j->period),
                          j->y < 0 ? "[j]" : "[r][j]");
}

const char *ambit__window_loaded(const ambit__window *j, int value, const char *slot, bool cells)
{
  return ambit__nest_text(j->n, "n%d[%s]%s%s", value, slot, j->y < 0 ? "" : "[r]",
                          cells ? "[j]" : "");
}

const char *ambit__window_bit(const ambit__window *j)
{
  return j->y < 0 ? "j" : ambit__nest_text(j->n, "(r * %d + j)", j->lane);
}

void ambit__window_let_array(const ambit__window *j, const char *name, int value, bool zeroed,
                             int slots, int rows, int cells)
{
  ambit__nest_node(j->n, NODE_ARRAY, .type = ambit__window_type(j, value), .name = name,
                   .size = {slots, j->y < 0 ? cells : rows, j->y < 0 ? 0 : cells},
                   .zeroed = zeroed);
}

const char *ambit__window_number(const ambit__window *j, int value, double number)
{
  return ambit__nest_text(j->n, "(%s)%s", ambit__window_type(j, value),
                          ambit__nest_number(j->n, j->flow->values[value].type, number));
}

const char *ambit__window_copied(const ambit__window *j, int value, ambit_boundary kind,
                                 const char *cell)
{
  if (kind != AMBIT_ANTISYMMETRIC) return cell;
  return ambit__type_is_half(j->flow->values[value].type)
             ? ambit__nest_text(j->n, "%s ^ 0x8000", cell)
             : ambit__nest_text(j->n, "-%s", cell);
}

/* ---- loops ---- */

void ambit__window_open_planes(const ambit__window *j, int first, int end)
{
  if (j->planes && !j->in_plane) ambit__nest_unroll(j->n, "k", first, end);
}

void ambit__window_open_own_planes(const ambit__window *j)
{
  ambit__window_open_planes(j, 0, j->planes);
}

void ambit__window_close_planes(const ambit__window *j)
{
  if (j->planes && !j->in_plane) ambit__nest_close(j->n);
}

void ambit__window_open_rows(const ambit__window *j, int first, int end)
{
  if (j->y >= 0) ambit__nest_unroll(j->n, "r", first, end);
}

void ambit__window_close_rows(const ambit__window *j)
{
  if (j->y >= 0) ambit__nest_close(j->n);
}

void ambit__window_open_cells(const ambit__window *j)
{
  ambit__window_open_rows(j, 0, j->rows);
  ambit__nest_unroll(j->n, "j", 0, j->lane);
}

void ambit__window_close_cells(const ambit__window *j)
{
  ambit__nest_close(j->n);
  ambit__window_close_rows(j);
}

void ambit__window_set(const ambit__window *j, const char *condition, const char *to,
                       const char *from)
{
  ambit__window_open_cells(j);
  if (condition)
    ambit__nest_do_if(j->n, condition, "%s = %s", to, from);
  else
    ambit__nest_do(j->n, "%s = %s", to, from);
  ambit__window_close_cells(j);
}
