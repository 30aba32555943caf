/* SPDX-License-Identifier: BSD-3-Clause */
/* fused_face.c - the code of tiles at faces: cells outside the region of a stage, and outside the
 * grid, of every new row. */
#include "plan/fused.h"

#include <stdio.h>

static const char *type_of(const ambit__fused_job *j, int value)
{
  return j->gpu.dialect->types[j->pipe->values[value].type];
}

void ambit__fused_print_inside(const ambit__fused_job *j, int axis, const char *at)
{
  ambit__print(j->gpu.t, "%s(%s, least%d, limit%d)",
               ambit__fused_wraps(j, axis) ? "ambit_cycled" : "ambit_clamped", at, axis, axis);
}

void ambit__fused_declare_inside(const ambit__fused_job *j, const char *name, int n, const char *at,
                                 int axis)
{
  ambit__line(j->gpu.w, "int %s[%d];", name, n);
  ambit__print(j->gpu.t, "#pragma unroll\n");
  ambit__line(j->gpu.w, "for (int i = 0; i < %d; i++)", n);
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "  %s[i] = ", name);
  ambit__fused_print_inside(j, axis, at);
  ambit__line_end(j->gpu.w, ";");
}

/* "row - 2 < first0 + 1 || row - 2 >= end0 - 1": a new row is outside the region of its stage. */
static void print_beside(const ambit__fused_job *j, int value)
{
  const int *inset = j->pipe->stages[j->pipe->values[value].stage].inset[j->z];
  const int lag = j->values[value].lag;

  if (j->pipe->periodic[j->z])
    ambit__print(j->gpu.t, "false");
  else
    ambit__print(j->gpu.t, "row - %d < first%d + %d || row - %d >= end%d - %d", lag, j->z, inset[0],
                 lag, j->z, inset[1]);
}

/* "const int at = ambit_clamped(row - 2, least0, limit0);" */
static void declare_at(const ambit__fused_job *j, const char *row)
{
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "const int at = ");
  ambit__fused_print_inside(j, j->z, row);
  ambit__line_end(j->gpu.w, ";");
}

/* "beside || (out2 >> j & 1)": a cell is outside the region of the stage. */
static void print_leaves(const ambit__fused_job *j, int value)
{
  ambit__print(j->gpu.t, "beside || (out%d >> ", j->pipe->values[value].stage);
  ambit__fused_print_bit(j);
  ambit__print(j->gpu.t, " & 1)");
}

/* The cells of the new row that are outside the region of the stage, one at a time. */
static void load_outside(const ambit__fused_job *j, int value)
{
  const ambit__pipe_value *v = &j->pipe->values[value];
  char row[48];

  snprintf(row, sizeof row, "row - %d", j->values[value].lag);
  declare_at(j, row);
  ambit__fused_open_rows(j, 0, j->rows);
  ambit__print(j->gpu.t, "#pragma unroll\n");
  ambit__line(j->gpu.w, "for (int j = 0; j < %d; j++)", j->lane);
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "  if (");
  print_leaves(j, value);
  ambit__print(j->gpu.t, ") ");
  ambit__fused_print_row(j, value, j->values[value].lag);
  ambit__print(j->gpu.t, "[j + %d] = *(", j->values[value].left);
  ambit__fused_print_address(j, v->outside, v->component, "at", "line[r]", "column[j]");
  ambit__line_end(j->gpu.w, ");");
  ambit__fused_close_rows(j);
}

/* The row of an array with the rows of a lane. */
static const char *row_of(const ambit__fused_job *j)
{
  return j->y < 0 ? "" : "[r]";
}

/* Loads the row of the turn that begins with `from` into n0[slot]: at once, unless some cells of
 * the tile are outside. */
static void load_ahead(const ambit__fused_job *j, int value, const char *from, const char *slot)
{
  const ambit__pipe_value *v = &j->pipe->values[value];
  char row[64];

  ambit__line(j->gpu.w, "{");
  j->gpu.w->depth++;
  snprintf(row, sizeof row, "%s - %d", from, j->values[value].lag);
  declare_at(j, row);
  ambit__open(j->gpu.w, "if (whole)");
  ambit__fused_open_rows(j, 0, j->rows);
  ambit__line_begin(j->gpu.w);
  ambit__fused_print_call(j, "ambit_load", value);
  ambit__print(j->gpu.t, "n%d[%s]%s, ", value, slot, row_of(j));
  ambit__fused_print_address(j, v->operand, v->component, "at", "y + r", "x");
  ambit__line_end(j->gpu.w, ");");
  ambit__fused_close_rows(j);
  ambit__close(j->gpu.w);
  ambit__open(j->gpu.w, "else");
  ambit__fused_open_rows(j, 0, j->rows);
  ambit__print(j->gpu.t, "#pragma unroll\n");
  ambit__line(j->gpu.w, "for (int j = 0; j < %d; j++)", j->lane);
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "  n%d[%s]%s[j] = *(", value, slot, row_of(j));
  ambit__fused_print_address(j, v->operand, v->component, "at", "line[r]", "column[j]");
  ambit__line_end(j->gpu.w, ");");
  ambit__fused_close_rows(j);
  ambit__close(j->gpu.w);
  ambit__close(j->gpu.w);
}

void ambit__fused_load_first(const ambit__fused_job *j, int value)
{
  ambit__print(j->gpu.t, "#pragma unroll\n");
  ambit__open(j->gpu.w, "for (int k = 0; k < %d; k++)", j->ahead);
  load_ahead(j, value, "start + k", "k");
  ambit__close(j->gpu.w);
}

void ambit__fused_load_edge(const ambit__fused_job *j, int value)
{
  char from[32], slot[24];

  snprintf(from, sizeof from, "row + %d", j->ahead);
  snprintf(slot, sizeof slot, "p %% %d", j->ahead);
  ambit__fused_copy_row(j, value);
  load_ahead(j, value, from, slot);
}

static bool leaves_cells(const ambit__fused_job *j, const ambit__pipe_stage *st)
{
  for (int d = j->z; d <= j->x; d++)
    if (st->inset[d][0] || st->inset[d][1]) return true;
  return false;
}

/* "q4[p][j + 1] = q3[p][j];" */
static void copy_cell(const ambit__fused_job *j, int to, int to_lag, int from, int from_lag)
{
  ambit__fused_print_row(j, to, to_lag);
  ambit__print(j->gpu.t, "[j + %d] = ", j->values[to].left);
  ambit__fused_print_row(j, from, from_lag);
  ambit__print(j->gpu.t, "[j + %d]", j->values[from].left);
  ambit__line_end(j->gpu.w, ";");
}

/* Begins the statement of a loop over the cells of a row. */
static void begin_cells(const ambit__fused_job *j)
{
  ambit__print(j->gpu.t, "#pragma unroll\n");
  ambit__line(j->gpu.w, "for (int j = 0; j < %d; j++)", j->lane);
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "  ");
}

/* Takes the cells outside the region from the value that the stage read there. */
static void take_frozen(const ambit__fused_job *j, int value)
{
  const int lag = j->values[value].lag;

  ambit__fused_open_rows(j, 0, j->rows);
  begin_cells(j);
  ambit__print(j->gpu.t, "if (");
  print_leaves(j, value);
  ambit__print(j->gpu.t, ") ");
  copy_cell(j, value, lag, j->pipe->values[value].frozen, lag);
  ambit__fused_close_rows(j);
}

/* Cells outside the region of the stage keep their value. */
static void keep_outside(const ambit__fused_job *j, int value)
{
  const ambit__pipe_value *v = &j->pipe->values[value];

  if (j->pipe->stages[v->stage].nplaces || ambit__fused_freezes(j, v->stage)) return;
  if (!leaves_cells(j, &j->pipe->stages[v->stage])) return;
  ambit__line(j->gpu.w, "{");
  j->gpu.w->depth++;
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "const bool beside = ");
  print_beside(j, value);
  ambit__line_end(j->gpu.w, ";");
  ambit__open(j->gpu.w, "if (beside || out%d)", v->stage);
  if (v->frozen >= 0 && !j->stages[v->stage].taps)
    take_frozen(j, value);
  else
    load_outside(j, value);
  ambit__close(j->gpu.w);
  ambit__close(j->gpu.w);
}

static const ambit__boundaries *boundaries_of(const ambit__fused_job *j, int value, int axis)
{
  return j->pipe->periodic[axis] ? NULL : j->pipe->values[value].boundaries;
}

/* A number of the value's type. */
static void print_number(const ambit__fused_job *j, int value, double number)
{
  const ambit_type type = j->pipe->values[value].type;

  ambit__print(j->gpu.t, "(%s)", type_of(j, value));
  ambit__emit_constant(j->gpu.dialect, j->gpu.t, type, ambit__value_of(number, type));
}

/* The name of the kind of a face across the row, in generated code. */
static const char *face_of(const ambit__boundaries *b, int axis, int side)
{
  static const char *const names[] = {[AMBIT_REFLECT] = "AMBIT_MIRROR",
                                      [AMBIT_SYMMETRIC] = "AMBIT_DOUBLE",
                                      [AMBIT_CLAMP] = "AMBIT_LAST",
                                      [AMBIT_CONSTANT] = "AMBIT_NUMBER"};
  const size_t k = b->kind[axis][side];

  return k < sizeof names / sizeof *names && names[k] ? names[k] : NULL;
}

/* "ambit_fill<AMBIT_LAST, AMBIT_NUMBER, 32, 4>(&q0[p][1], x, left, first1, end1, 0, 1);" */
static void fill_ends(const ambit__fused_job *j, int value, const ambit__boundaries *b)
{
  const ambit__fused_value *f = &j->values[value];
  const bool lanes = j->gpu.dialect->has_lanes;
  char kinds[64];

  snprintf(kinds, sizeof kinds, "%s, %s",
           face_of(b, j->x, 0) ? face_of(b, j->x, 0) : "AMBIT_NOTHING",
           face_of(b, j->x, 1) ? face_of(b, j->x, 1) : "AMBIT_NOTHING");
  ambit__line_begin(j->gpu.w);
  if (lanes)
    ambit__print(j->gpu.t, "ambit_fill<%s, %d, %d>(", kinds, j->lanes, j->lane);
  else
    ambit__fused_print_call(j, "ambit_fill", value);
  ambit__print(j->gpu.t, "&");
  ambit__fused_print_row(j, value, f->lag);
  ambit__print(j->gpu.t, "[%d], x, left, first%d, end%d, ", f->left, j->x, j->x);
  print_number(j, value, b->kind[j->x][0] == AMBIT_CONSTANT ? b->value[j->x][0] : 0);
  ambit__print(j->gpu.t, ", ");
  print_number(j, value, b->kind[j->x][1] == AMBIT_CONSTANT ? b->value[j->x][1] : 0);
  if (!lanes) ambit__print(j->gpu.t, ", %s, %d, AMBIT_LANES_HERE", kinds, j->lanes);
  ambit__line_end(j->gpu.w, ");");
}

/* Columns outside the grid, for reads along the row. */
static void fill_columns(const ambit__fused_job *j, int value)
{
  const ambit__boundaries *b = boundaries_of(j, value, j->x);
  const ambit__fused_value *f = &j->values[value];

  if (!b || !((f->left && face_of(b, j->x, 0)) || (f->right && face_of(b, j->x, 1)))) return;
  ambit__open(j->gpu.w, j->gpu.dialect->has_lanes ? "if (!within)" : "AMBIT_UNLESS(within)");
  ambit__fused_open_rows(j, 0, j->rows);
  fill_ends(j, value, b);
  ambit__fused_close_rows(j);
  ambit__close(j->gpu.w);
}

/* Sets all cells of a row of the new row or plane to a number. */
static void fill_cells(const ambit__fused_job *j, int value, double number)
{
  ambit__print(j->gpu.t, "#pragma unroll\n");
  ambit__line(j->gpu.w, "for (int j = 0; j < %d; j++)", j->lane);
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "  ");
  ambit__fused_print_row(j, value, j->values[value].lag);
  ambit__print(j->gpu.t, "[j + %d] = ", j->values[value].left);
  print_number(j, value, number);
  ambit__line_end(j->gpu.w, ";");
}

/* The new row if it is outside a constant face. */
static void fill_row(const ambit__fused_job *j, int value, int side)
{
  const ambit__boundaries *b = boundaries_of(j, value, j->z);
  const ambit__fused_value *f = &j->values[value];

  if (!b || b->kind[j->z][side] != AMBIT_CONSTANT || !(side ? f->high : f->low)) return;
  ambit__open(j->gpu.w, side ? "if (row - %d >= end%d)" : "if (row - %d < first%d)", f->lag, j->z);
  ambit__fused_open_rows(j, 0, j->rows);
  fill_cells(j, value, b->value[j->z][side]);
  ambit__fused_close_rows(j);
  ambit__close(j->gpu.w);
}

/* The rows of the new plane that are outside a constant face along y. */
static void fill_lines(const ambit__fused_job *j, int value, int side)
{
  const ambit__fused_value *f = &j->values[value];

  if (ambit__fused_kind(j, value, j->y, side) != AMBIT_CONSTANT || !(side ? f->up : f->down))
    return;
  ambit__line(j->gpu.w, "if (!whole)");
  ambit__fused_open_rows(j, 0, j->rows);
  ambit__line(j->gpu.w, side ? "if (y + r >= end%d)" : "if (y + r < first%d)", j->y);
  fill_cells(j, value, j->pipe->values[value].boundaries->value[j->y][side]);
  ambit__fused_close_rows(j);
}

/* Copies rows `first` to `end` - 1 of a plane to another one. */
static void copy_from(const ambit__fused_job *j, int value, int to, int from, int first, int end)
{
  ambit__fused_open_rows(j, first, end);
  begin_cells(j);
  copy_cell(j, value, to, value, from);
  ambit__fused_close_rows(j);
}

void ambit__fused_mirror_low(const ambit__fused_job *j, int value)
{
  const ambit__fused_value *f = &j->values[value];
  const ambit_boundary kind = ambit__fused_kind(j, value, j->z, 0);
  const bool fetched = f->fetched >= 0, lanes = j->gpu.dialect->has_lanes;
  const int last = ambit__fused_mirror(kind, f->low) - 1; /* the row inside that arrives last */
  const int newest = f->lag + fetched;

  for (int n = 1; ambit__fused_mirror(kind, 1) && n <= f->low; n++) {
    const int lag = newest + last + n, from = newest + last - (ambit__fused_mirror(kind, n) - 1);

    ambit__open(j->gpu.w, "if (row - %d == first%d + %d)", newest, j->z, last);
    copy_from(j, value, lag, from, fetched ? -f->down : 0, j->rows + (fetched ? f->up : 0));
    if (!lanes) ambit__close(j->gpu.w); /* exchanges are not in branches */
    if (f->shared >= 0 && lag > f->shared - fetched)
      ambit__fused_share_rows(j, value, lag, 0, j->rows);
    ambit__fused_share_beside(j, value, lag);
    if (lanes) ambit__close(j->gpu.w);
  }
}

/* The new row if it is outside a high face that repeats rows inside. */
static void mirror_high(const ambit__fused_job *j, int value)
{
  const ambit__fused_value *f = &j->values[value];
  const ambit_boundary kind = ambit__fused_kind(j, value, j->z, 1);

  for (int n = 1; ambit__fused_mirror(kind, 1) && n <= f->high; n++) {
    ambit__open(j->gpu.w, "if (row - %d == end%d + %d)", f->lag, j->z, n - 1);
    copy_from(j, value, f->lag, f->lag + n - 1 + ambit__fused_mirror(kind, n), 0, j->rows);
    ambit__close(j->gpu.w);
  }
}

void ambit__fused_finish_edge(const ambit__fused_job *j, int value)
{
  if (j->pipe->values[value].stage >= 0) keep_outside(j, value);
  for (int side = 0; side < 2; side++)
    fill_row(j, value, side);
  for (int side = 0; side < 2; side++)
    fill_lines(j, value, side);
  fill_columns(j, value);
  if (j->values[value].fetched < 0) ambit__fused_mirror_low(j, value);
  mirror_high(j, value);
}
