/* SPDX-License-Identifier: BSD-3-Clause */
/* face.c - the code of tiles at faces: cells outside the region of a stage, and outside the
 * grid, of every new row. */
#include "nest/window/window.h"

const char *ambit__window_inside(const ambit__window *j, int axis, const char *at)
{
  const bool wraps = j->flow->periodic[axis] && !j->flow->cut[axis];

  return ambit__nest_text(j->n, "ambit_%s(%s, %s%d, %s%d)", wraps ? "cycled" : "clamped", at,
                          j->stays ? "first" : "least", axis, j->stays ? "end" : "limit", axis);
}

/* "int column[4]", with the positions of n cells along an axis, inside the grid. */
static void let_positions(const ambit__window *j, const char *name, int n, const char *at, int axis)
{
  ambit__nest_do(j->n, "int %s[%d]", name, n);
  ambit__nest_unroll(j->n, "i", 0, n);
  ambit__nest_do(j->n, "%s[i] = %s", name, ambit__window_inside(j, axis, at));
  ambit__nest_close(j->n);
}

void ambit__window_let_edge(const ambit__window *j, const char *whole)
{
  let_positions(j, "column", j->lane, "x + i", j->x);
  if (j->y >= 0) let_positions(j, "line", j->rows, "y + i", j->y);
  ambit__nest_do(j->n, "const bool within = left >= least%d && left + %d <= limit%d", j->x,
                 j->lanes * j->lane, j->x);
  ambit__nest_do(j->n, "const bool whole = within && %s", whole);
  for (int i = 0; i < j->flow->nstages; i++)
    ambit__window_let_outside(j, i);
}

/* "row - 2 < first0 + 1 || row - 2 >= end0 - 1": a new row is outside the region of its stage. */
static const char *beside(const ambit__window *j, int value)
{
  const int *inset = j->flow->stages[j->flow->values[value].stage].inset[j->z];
  const int lag = j->values[value].lag;

  if (j->flow->periodic[j->z]) return "false";
  return ambit__nest_text(j->n, "row - %d < first%d + %d || row - %d >= end%d - %d", lag, j->z,
                          inset[0], lag, j->z, inset[1]);
}

static void let_at(const ambit__window *j, const char *row, int lag)
{
  const char *at = ambit__nest_text(j->n, "%s - %d", row, lag);

  ambit__nest_do(j->n, "const int at = %s", ambit__window_inside(j, j->z, at));
}

/* "*(a0_mem + ...)": a cell of the lane in memory, or the one in its place. */
static const char *placed(const ambit__window *j, int operand, int component)
{
  return ambit__nest_text(
      j->n, "*(%s)", ambit__window_address(j, operand, component, "at", "line[r]", "column[j]"));
}

/* Loads the row of the turn that begins with `from` into n0[slot]: at once, unless some cells of
 * the tile are outside. */
static void load_ahead(const ambit__window *j, int value, const char *from, const char *slot)
{
  const ambit__flow_value *v = &j->flow->values[value];

  ambit__nest_block(j->n);
  let_at(j, from, j->values[value].lag);
  ambit__nest_if(j->n, "whole");
  ambit__window_load(j, value, slot,
                     ambit__window_address(j, v->operand, v->component, "at", "y + r", "x"));
  ambit__nest_otherwise(j->n);
  ambit__window_set(j, NULL, ambit__window_loaded(j, value, slot, true),
                    placed(j, v->operand, v->component));
  ambit__nest_close(j->n);
  ambit__nest_close(j->n);
}

void ambit__window_load_first(const ambit__window *j, int value)
{
  ambit__nest_unroll(j->n, "k", 0, j->ahead);
  load_ahead(j, value, "start + k", "k");
  ambit__nest_close(j->n);
}

void ambit__window_load_edge(const ambit__window *j, int value)
{
  ambit__window_copy_row(j, value);
  load_ahead(j, value, ambit__nest_text(j->n, "row + %d", j->ahead),
             ambit__nest_text(j->n, "p %% %d", j->ahead));
}

/* ---- cells outside the region ---- */

static bool leaves_cells(const ambit__window *j, const ambit__flow_stage *st)
{
  for (int d = j->z; d <= j->x; d++)
    if (st->inset[d][0] || st->inset[d][1]) return true;
  return false;
}

/* They keep their value: that which the stage read there, or the one in memory. Each cell has a
 * condition of its own; one around all, "beside || out3", is miscompiled (docs/notes/gpu.md). */
static void keep_outside(const ambit__window *j, int value)
{
  const ambit__flow_value *v = &j->flow->values[value];
  const int lag = j->values[value].lag;
  const bool taken = v->frozen >= 0 && !j->stages[v->stage].taps;

  if (j->flow->stages[v->stage].nplaces || ambit__window_freezes(j, v->stage)) return;
  if (!leaves_cells(j, &j->flow->stages[v->stage])) return;
  ambit__nest_block(j->n);
  ambit__nest_do(j->n, "const bool beside = %s", beside(j, value));
  if (!taken) let_at(j, "row", lag);
  ambit__window_set(
      j, ambit__nest_text(j->n, "beside || (out%d >> %s & 1)", v->stage, ambit__window_bit(j)),
      ambit__window_own(j, value, lag),
      taken ? ambit__window_own(j, v->frozen, lag) : placed(j, v->outside, v->component));
  ambit__nest_close(j->n);
}

/* ---- columns outside the grid ---- */

static ambit_boundary across(const ambit__window *j, int value, int side)
{
  return ambit__flow_kind(j->flow, value, j->x, side);
}

/* "x + j < first1": cell j of a lane is outside a face. */
static const char *outside(const ambit__window *j, int side)
{
  return ambit__nest_text(j->n, side ? "x + j >= end%d" : "x + j < first%d", j->x);
}

/* Takes the cells outside faces that repeat cells inside from the lanes that have these. */
static void copy_ends(const ambit__window *j, int value)
{
  static const char *const forms[2][2] = {{"source[j] = first%d", "source[j] = end%d - 1"},
                                          {"source[j] = first%d + (first%d - x - j - %d)",
                                           "source[j] = end%d - 1 - (x + j - end%d + 1 - %d)"}};

  ambit__nest_do(j->n, "int source[%d]", j->lane);
  ambit__nest_unroll(j->n, "j", 0, j->lane);
  ambit__nest_do(j->n, "source[j] = x + j");
  for (int side = 0; side < 2; side++) {
    const int nearest = ambit__flow_mirror(across(j, value, side), 1);
    const bool mirrors = ambit__flow_mirror(across(j, value, side), 2) > nearest;

    if (nearest)
      ambit__nest_do_if(j->n, outside(j, side), forms[mirrors][side], j->x, j->x, 2 - nearest);
  }
  ambit__nest_do(j->n, "source[j] = ambit_between(0, source[j] - left, %d)",
                 j->lanes * j->lane - 1);
  ambit__nest_close(j->n);
  ambit__nest_call(j->n, "ambit_gather", ambit__window_type(j, value), j->lane,
                   "&%s[%d], source, %d%s", ambit__window_row(j, value, j->values[value].lag),
                   j->values[value].left, j->lanes,
                   j->n->dialect->has_lanes ? "" : ", AMBIT_LANES_HERE");
}

/* Sets the cells outside a face to its number, or changes the sign of copies. */
static void change_ends(const ambit__window *j, int value, int side)
{
  const ambit_boundary kind = across(j, value, side);
  const char *cell = ambit__window_own(j, value, j->values[value].lag);

  if (kind != AMBIT_CONSTANT && kind != AMBIT_ANTISYMMETRIC) return;
  ambit__nest_unroll(j->n, "j", 0, j->lane);
  ambit__nest_do_if(
      j->n, outside(j, side), "%s = %s", cell,
      kind == AMBIT_CONSTANT
          ? ambit__window_number(j, value, j->flow->values[value].boundaries->value[j->x][side])
          : ambit__window_copied(j, value, kind, cell));
  ambit__nest_close(j->n);
}

/* For reads along the row. */
static void fill_columns(const ambit__window *j, int value)
{
  const int reach[2] = {j->values[value].left, j->values[value].right};
  bool any = false, copies = false;

  for (int side = 0; side < 2; side++) {
    const ambit_boundary kind = across(j, value, side);

    copies |= ambit__flow_mirror(kind, 1) > 0;
    any |= reach[side] && (kind == AMBIT_CONSTANT || ambit__flow_mirror(kind, 1));
  }
  if (!any) return;
  ambit__nest_open(j->n, (ambit__node){.kind = NODE_IF, .value = "within", .unless = true});
  ambit__window_open_rows(j, 0, j->rows);
  if (copies) copy_ends(j, value);
  for (int side = 0; side < 2; side++)
    change_ends(j, value, side);
  ambit__window_close_rows(j);
  ambit__nest_close(j->n);
}

/* ---- rows outside the grid ---- */

/* Whether rows beyond a face are a number, and read. */
static bool is_constant(const ambit__window *j, int value, int axis, int side, int reach)
{
  return reach && ambit__flow_kind(j->flow, value, axis, side) == AMBIT_CONSTANT;
}

/* Sets all cells of a row of the new row or plane to the number of a face. */
static void fill_cells(const ambit__window *j, int value, int axis, int side)
{
  ambit__nest_unroll(j->n, "j", 0, j->lane);
  ambit__nest_do(
      j->n, "%s = %s", ambit__window_own(j, value, j->values[value].lag),
      ambit__window_number(j, value, j->flow->values[value].boundaries->value[axis][side]));
  ambit__nest_close(j->n);
}

/* The new row if it is outside a constant face. */
static void fill_row(const ambit__window *j, int value, int side)
{
  const ambit__window_value *f = &j->values[value];

  if (!is_constant(j, value, j->z, side, side ? f->high : f->low)) return;
  if (side)
    ambit__nest_if(j->n, "row - %d >= end%d", f->lag, j->z);
  else
    ambit__nest_if(j->n, "row - %d < first%d", f->lag, j->z);
  ambit__window_open_rows(j, 0, j->rows);
  fill_cells(j, value, j->z, side);
  ambit__window_close_rows(j);
  ambit__nest_close(j->n);
}

/* The rows of the new plane that are outside a constant face along y. */
static void fill_lines(const ambit__window *j, int value, int side)
{
  const ambit__window_value *f = &j->values[value];

  if (!is_constant(j, value, j->y, side, side ? f->up : f->down)) return;
  ambit__nest_if(j->n, "!whole");
  ambit__window_open_rows(j, 0, j->rows);
  if (side)
    ambit__nest_if(j->n, "y + r >= end%d", j->y);
  else
    ambit__nest_if(j->n, "y + r < first%d", j->y);
  fill_cells(j, value, j->y, side);
  ambit__nest_close(j->n);
  ambit__window_close_rows(j);
  ambit__nest_close(j->n);
}

/* Copies rows `first` to `end` - 1 of a plane to another one, which is beyond a face. */
static void copy_plane(const ambit__window *j, int value, ambit_boundary kind, int to, int from,
                       int first, int end)
{
  ambit__window_open_rows(j, first, end);
  ambit__nest_unroll(j->n, "j", 0, j->lane);
  ambit__nest_do(j->n, "%s = %s", ambit__window_own(j, value, to),
                 ambit__window_copied(j, value, kind, ambit__window_own(j, value, from)));
  ambit__nest_close(j->n);
  ambit__window_close_rows(j);
}

void ambit__window_mirror_low(const ambit__window *j, int value)
{
  const ambit__window_value *f = &j->values[value];
  const ambit_boundary kind = ambit__flow_kind(j->flow, value, j->z, 0);
  const bool fetched = f->fetched >= 0, lanes = j->n->dialect->has_lanes;
  const int last = ambit__flow_mirror(kind, f->low) - 1; /* the row inside that arrives last */
  const int newest = f->lag + fetched;

  for (int n = 1; ambit__flow_mirror(kind, 1) && n <= f->low; n++) {
    const int lag = newest + last + n, from = newest + last - (ambit__flow_mirror(kind, n) - 1);

    ambit__nest_if(j->n, "row - %d == first%d + %d", newest, j->z, last);
    copy_plane(j, value, kind, lag, from, fetched ? -f->down : 0, j->rows + (fetched ? f->up : 0));
    if (!lanes) ambit__nest_close(j->n); /* exchanges are not in branches */
    if (f->shared >= 0 && lag > f->shared - fetched)
      ambit__window_share_rows(j, value, lag, 0, j->rows);
    ambit__window_share_beside(j, value, lag);
    if (lanes) ambit__nest_close(j->n);
  }
}

/* The new row if it is outside a high face that repeats rows inside. */
static void mirror_high(const ambit__window *j, int value)
{
  const ambit__window_value *f = &j->values[value];
  const ambit_boundary kind = ambit__flow_kind(j->flow, value, j->z, 1);

  for (int n = 1; ambit__flow_mirror(kind, 1) && n <= f->high; n++) {
    ambit__nest_if(j->n, "row - %d == end%d + %d", f->lag, j->z, n - 1);
    copy_plane(j, value, kind, f->lag, f->lag + n - 1 + ambit__flow_mirror(kind, n), 0, j->rows);
    ambit__nest_close(j->n);
  }
}

void ambit__window_finish_edge(const ambit__window *j, int value)
{
  if (j->flow->values[value].stage >= 0) keep_outside(j, value);
  for (int side = 0; side < 2; side++)
    fill_row(j, value, side);
  for (int side = 0; side < 2; side++)
    fill_lines(j, value, side);
  fill_columns(j, value);
  if (j->values[value].fetched < 0) ambit__window_mirror_low(j, value);
  mirror_high(j, value);
}
