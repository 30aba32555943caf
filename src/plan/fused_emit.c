/* SPDX-License-Identifier: BSD-3-Clause */
/* fused_emit.c - the kernel of the strategy `fused`: loads, faces, stores, the loop. */
#include "plan/fused.h"

#include <stdio.h>

/* ---- the grid ---- */

/* Positions in the part: the cells to compute, and the cells of the grid. */
static void emit_limits(const ambit__fused_job *j)
{
  ambit__writer *w = j->gpu.w;

  for (int d = j->z; d <= j->x; d++) {
    ambit__line(w, "const int low%d = (int)lo%d, high%d = (int)hi%d;", d, d, d, d);
    ambit__line(w, "const int first%d = (int)-offset%d, end%d = (int)(extent%d - offset%d);", d, d,
                d, d, d);
  }
}

/* ---- memory ---- */

/* In three dimensions: the loop over all rows of a lane. */
static void open_rows(const ambit__fused_job *j)
{
  ambit__fused_open_rows(j, 0, j->rows);
}

static void close_rows(const ambit__fused_job *j)
{
  ambit__fused_close_rows(j);
}

/* The row of an array with the rows of a lane. */
static const char *row_of(const ambit__fused_job *j)
{
  return j->y < 0 ? "" : "[r]";
}

static const char *name_of(const ambit__fused_job *j, int operand)
{
  return j->gpu.rule->params[operand].name;
}

static const char *type_of(const ambit__fused_job *j, int value)
{
  return j->gpu.dialect->types[j->pipe->values[value].type];
}

/* "a0_mem + (a0_o + (start - 2) * a0_s0 + x + 3 * a0_c)"; `line` is the position along y. */
static void print_address(const ambit__fused_job *j, int operand, int component, const char *row,
                          const char *line, const char *column)
{
  const char *name = name_of(j, operand);

  ambit__print(j->gpu.t, "%s_mem + (%s_o + (%s) * %s_s%d + ", name, name, row, name, j->z);
  if (j->y >= 0) ambit__print(j->gpu.t, "(%s) * %s_s%d + ", line, name, j->y);
  ambit__print(j->gpu.t, "%s", column);
  if (component) ambit__print(j->gpu.t, " + %d * %s_c", component, name);
  ambit__print(j->gpu.t, ")");
}

static bool is_loaded(const ambit__fused_job *j, int value)
{
  return j->pipe->values[value].stage < 0;
}

/* "float q0[3][6][6] = {};" */
static void declare_array(const ambit__fused_job *j, int value)
{
  const ambit__fused_value *f = &j->values[value];

  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "%s q%d[%d]", type_of(j, value), value, j->period);
  if (j->y >= 0) ambit__print(j->gpu.t, "[%d]", f->down + j->rows + f->up);
  ambit__print(j->gpu.t, "[%d] = {}", f->left + j->lane + f->right);
  if (is_loaded(j, value) && !(j->edge && j->y < 0)) {
    ambit__print(j->gpu.t, ", n%d[%d]", value, j->ahead);
    if (j->y >= 0) ambit__print(j->gpu.t, "[%d]", j->rows);
    ambit__print(j->gpu.t, "[%d]", j->lane);
  }
  ambit__line_end(j->gpu.w, ";");
}

static void declare_value(const ambit__fused_job *j, int value)
{
  const ambit__pipe_value *v = &j->pipe->values[value];
  const ambit__fused_value *f = &j->values[value];
  ambit__writer *w = j->gpu.w;
  char row[48];

  declare_array(j, value);
  ambit__fused_declare_rows(j, value);
  if (j->edge) return;
  snprintf(row, sizeof row, "start - %d", f->lag);
  if (is_loaded(j, value)) {
    ambit__line_begin(w);
    ambit__print(j->gpu.t, "%sconst %s *q%d_at = ", j->gpu.dialect->global, type_of(j, value),
                 value);
    print_address(j, v->operand, v->component, row, "y", "x");
    ambit__line_end(w, ";");
  }
  if (v->target < 0) return;
  ambit__line_begin(w);
  ambit__print(j->gpu.t, "%s%s *q%d_to = ", j->gpu.dialect->global, type_of(j, value), value);
  print_address(j, v->target, v->component, row, "y", "x");
  ambit__line_end(w, ";");
}

/* Rows past the last one repeat it. */
static void advance(const ambit__fused_job *j, int value, const char *turn)
{
  const ambit__pipe_value *v = &j->pipe->values[value];

  ambit__line(j->gpu.w, "q%d_at += %s < n - 1 ? %s_s%d : 0;", value, turn, name_of(j, v->operand),
              j->z);
}

/* Loads the next row into n0[k]. */
static void load_next(const ambit__fused_job *j, int value, const char *k)
{
  const char *name = name_of(j, j->pipe->values[value].operand);

  open_rows(j);
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "ambit_load<%d>(n%d[%s]%s, q%d_at", j->lane, value, k, row_of(j), value);
  if (j->y >= 0) ambit__print(j->gpu.t, " + r * %s_s%d", name, j->y);
  ambit__line_end(j->gpu.w, ");");
  close_rows(j);
}

static void load_first(const ambit__fused_job *j)
{
  ambit__print(j->gpu.t, "#pragma unroll\n");
  ambit__open(j->gpu.w, "for (int k = 0; k < %d; k++)", j->ahead);
  for (int v = 0; v < j->pipe->nvalues; v++)
    if (is_loaded(j, v)) {
      load_next(j, v, "k");
      advance(j, v, "k");
    }
  ambit__close(j->gpu.w);
}

static void copy_row(const ambit__fused_job *j, int value)
{
  open_rows(j);
  ambit__print(j->gpu.t, "#pragma unroll\n");
  ambit__line(j->gpu.w, "for (int j = 0; j < %d; j++)", j->lane);
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "  ");
  ambit__fused_print_row(j, value, j->values[value].lag);
  ambit__print(j->gpu.t, "[j + %d] = n%d[p %% %d]%s[j]", j->values[value].left, value, j->ahead,
               row_of(j));
  ambit__line_end(j->gpu.w, ";");
  close_rows(j);
}

static void load_fast(const ambit__fused_job *j, int value)
{
  char turn[40], k[24];

  snprintf(turn, sizeof turn, "z + p + %d", j->ahead);
  snprintf(k, sizeof k, "p %% %d", j->ahead);
  copy_row(j, value);
  load_next(j, value, k);
  advance(j, value, turn);
}

/* Cells of the adjacent lanes, in rows `first` to `end` - 1. */
static void share_rows(const ambit__fused_job *j, int value, int lag, int first, int end)
{
  const ambit__fused_value *f = &j->values[value];

  if (first == end) return;
  ambit__fused_open_rows(j, first, end);
  for (int i = 0; i < f->left + f->right; i++) {
    const bool before = i < f->left;

    ambit__line_begin(j->gpu.w);
    ambit__fused_print_row(j, value, lag);
    ambit__print(j->gpu.t, "[%d] = %s(", before ? i : i + j->lane,
                 before ? "ambit_from_before" : "ambit_from_after");
    ambit__fused_print_row(j, value, lag);
    ambit__print(j->gpu.t, "[%d])", before ? i + j->lane : i);
    ambit__line_end(j->gpu.w, ";");
  }
  close_rows(j);
}

/* The same in the rows of the adjacent groups. */
static void share_beside(const ambit__fused_job *j, int value, int lag)
{
  const ambit__fused_value *f = &j->values[value];

  if (f->fetched < 0 || !f->corners) return;
  share_rows(j, value, lag, -f->down, 0);
  share_rows(j, value, lag, j->rows, j->rows + f->up);
}

/* ---- faces ---- */

/* "ambit_inside(row - 2, first0, end0)": the row or column of a cell, or for a cell outside the
 * grid the one it continues with, or any one. */
static void print_inside(const ambit__fused_job *j, int axis, const char *at)
{
  ambit__print(j->gpu.t, "%s(%s, first%d, end%d)",
               j->pipe->periodic[axis] ? "ambit_cycled" : "ambit_clamped", at, axis, axis);
}

/* "row - 2 < first0 + 1 || row - 2 >= end0 - 1": outside the region along an axis, beyond whose
 * faces the grid does not continue. */
static void print_outside(const ambit__fused_job *j, int value, int axis)
{
  const ambit__pipe_stage *st = &j->pipe->stages[j->pipe->values[value].stage];
  char at[40] = "x + j";

  if (j->pipe->periodic[axis]) {
    ambit__print(j->gpu.t, "false");
    return;
  }
  if (axis == j->z) snprintf(at, sizeof at, "row - %d", j->values[value].lag);
  ambit__print(j->gpu.t, "%s < first%d + %d || %s >= end%d - %d", at, axis, st->inset[axis][0], at,
               axis, st->inset[axis][1]);
}

/* "const int at = ambit_clamped(row - 2, first0, end0);" */
static void declare_at(const ambit__fused_job *j, const char *row)
{
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "const int at = ");
  print_inside(j, j->z, row);
  ambit__line_end(j->gpu.w, ";");
}

/* "beside || x + j < first1 + 1 || ...": a cell is outside the region of the stage. */
static void print_leaves(const ambit__fused_job *j, int value)
{
  ambit__print(j->gpu.t, "beside || ");
  if (j->y < 0)
    print_outside(j, value, j->x);
  else
    ambit__print(j->gpu.t, "(out%d >> (r * %d + j) & 1)", j->pipe->values[value].stage, j->lane);
}

/* A cell at a time, wherever it is; `some`: only those outside the region. */
static void load_cells(const ambit__fused_job *j, int value, int operand, bool some)
{
  const ambit__pipe_value *v = &j->pipe->values[value];
  char row[48];

  ambit__line(j->gpu.w, "{");
  j->gpu.w->depth++;
  snprintf(row, sizeof row, "row - %d", j->values[value].lag);
  declare_at(j, row);
  open_rows(j);
  ambit__print(j->gpu.t, "#pragma unroll\n");
  ambit__line(j->gpu.w, "for (int j = 0; j < %d; j++)", j->lane);
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "  ");
  if (some) {
    ambit__print(j->gpu.t, "if (");
    print_leaves(j, value);
    ambit__print(j->gpu.t, ") ");
  }
  ambit__fused_print_row(j, value, j->values[value].lag);
  ambit__print(j->gpu.t, "[j + %d] = *(", j->values[value].left);
  print_address(j, operand, v->component, "at", "line[r]", "column[j]");
  ambit__line_end(j->gpu.w, ");");
  close_rows(j);
  ambit__close(j->gpu.w);
}

/* "left < first1 + 1 || left + 64 > end1 - 1": whether the warp has columns outside the region; in
 * three dimensions "out2": whether the lane has cells outside. */
static void print_sides(const ambit__fused_job *j, int value)
{
  const ambit__pipe_stage *st = &j->pipe->stages[j->pipe->values[value].stage];

  if (j->y >= 0)
    ambit__print(j->gpu.t, "out%d", j->pipe->values[value].stage);
  else if (j->pipe->periodic[j->x])
    ambit__print(j->gpu.t, "false");
  else
    ambit__print(j->gpu.t, "left < first%d + %d || left + %d > end%d - %d", j->x,
                 st->inset[j->x][0], AMBIT__FUSED_WARP * j->lane, j->x, st->inset[j->x][1]);
}

/* Three dimensions: loads a plane in advance; a row at once unless some cells are outside. */
static void load_plane(const ambit__fused_job *j, int value, const char *from)
{
  const ambit__pipe_value *v = &j->pipe->values[value];
  char row[48];

  ambit__line(j->gpu.w, "{");
  j->gpu.w->depth++;
  snprintf(row, sizeof row, "%s - %d", from, j->values[value].lag);
  declare_at(j, row);
  ambit__open(j->gpu.w, "if (whole)");
  open_rows(j);
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "ambit_load<%d>(n%d[0][r], ", j->lane, value);
  print_address(j, v->operand, v->component, "at", "y + r", "x");
  ambit__line_end(j->gpu.w, ");");
  close_rows(j);
  ambit__close(j->gpu.w);
  ambit__open(j->gpu.w, "else");
  open_rows(j);
  ambit__print(j->gpu.t, "#pragma unroll\n");
  ambit__line(j->gpu.w, "for (int j = 0; j < %d; j++)", j->lane);
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "  n%d[0][r][j] = *(", value);
  print_address(j, v->operand, v->component, "at", "line[r]", "column[j]");
  ambit__line_end(j->gpu.w, ");");
  close_rows(j);
  ambit__close(j->gpu.w);
  ambit__close(j->gpu.w);
}

static void load_edge(const ambit__fused_job *j, int value)
{
  if (j->y < 0) {
    load_cells(j, value, j->pipe->values[value].operand, false);
    return;
  }
  copy_row(j, value);
  load_plane(j, value, "row + 1");
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

  open_rows(j);
  begin_cells(j);
  ambit__print(j->gpu.t, "if (");
  print_leaves(j, value);
  ambit__print(j->gpu.t, ") ");
  copy_cell(j, value, lag, j->pipe->values[value].frozen, lag);
  close_rows(j);
}

/* Cells outside the region of the stage keep their value. */
static void keep_outside(const ambit__fused_job *j, int value)
{
  const ambit__pipe_value *v = &j->pipe->values[value];

  if (!leaves_cells(j, &j->pipe->stages[v->stage]) || ambit__fused_freezes(j, v->stage)) return;
  ambit__line(j->gpu.w, "{");
  j->gpu.w->depth++;
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "const bool beside = ");
  print_outside(j, value, j->z);
  ambit__line_end(j->gpu.w, ";");
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "if (beside || ");
  print_sides(j, value);
  ambit__line_end(j->gpu.w, ") {");
  if (v->frozen >= 0 && !j->stages[v->stage].taps)
    take_frozen(j, value);
  else
    load_cells(j, value, v->outside, true);
  ambit__line(j->gpu.w, "}");
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

/* Columns outside the grid, for reads along the row. */
static void fill_columns(const ambit__fused_job *j, int value)
{
  static const char *const names[] = {[AMBIT_REFLECT] = "AMBIT_MIRROR",
                                      [AMBIT_SYMMETRIC] = "AMBIT_DOUBLE",
                                      [AMBIT_CLAMP] = "AMBIT_LAST",
                                      [AMBIT_CONSTANT] = "AMBIT_NUMBER"};
  const ambit__boundaries *b = boundaries_of(j, value, j->x);
  const ambit__fused_value *f = &j->values[value];
  bool any = false;

  for (int side = 0; b && side < 2; side++) {
    const ambit_boundary k = b->kind[j->x][side];

    any |= (side ? f->right : f->left) > 0 && (size_t)k < sizeof names / sizeof *names && names[k];
  }
  if (!any) return;
  if (j->y >= 0) ambit__open(j->gpu.w, "if (!within)");
  open_rows(j);
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "ambit_fill");
  for (int side = 0; side < 2; side++) {
    const ambit_boundary k = b->kind[j->x][side];

    ambit__print(j->gpu.t, "%s%s", side ? ", " : "<",
                 (size_t)k < sizeof names / sizeof *names && names[k] ? names[k] : "AMBIT_NOTHING");
  }
  ambit__print(j->gpu.t, ", %d, %d>(&", j->lanes, j->lane);
  ambit__fused_print_row(j, value, f->lag);
  ambit__print(j->gpu.t, "[%d], x, left, first%d, end%d, ", f->left, j->x, j->x);
  print_number(j, value, b->kind[j->x][0] == AMBIT_CONSTANT ? b->value[j->x][0] : 0);
  ambit__print(j->gpu.t, ", ");
  print_number(j, value, b->kind[j->x][1] == AMBIT_CONSTANT ? b->value[j->x][1] : 0);
  ambit__line_end(j->gpu.w, ");");
  close_rows(j);
  if (j->y >= 0) ambit__close(j->gpu.w);
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
  open_rows(j);
  fill_cells(j, value, b->value[j->z][side]);
  close_rows(j);
  ambit__close(j->gpu.w);
}

/* The rows of the new plane that are outside a constant face along y. */
static void fill_lines(const ambit__fused_job *j, int value, int side)
{
  const ambit__fused_value *f = &j->values[value];

  if (ambit__fused_kind(j, value, j->y, side) != AMBIT_CONSTANT || !(side ? f->up : f->down))
    return;
  ambit__line(j->gpu.w, "if (!whole)");
  open_rows(j);
  ambit__line(j->gpu.w, side ? "if (y + r >= end%d)" : "if (y + r < first%d)", j->y);
  fill_cells(j, value, j->pipe->values[value].boundaries->value[j->y][side]);
  close_rows(j);
}

/* Copies rows `first` to `end` - 1 of a plane to another one. */
static void copy_from(const ambit__fused_job *j, int value, int to, int from, int first, int end)
{
  ambit__fused_open_rows(j, first, end);
  begin_cells(j);
  copy_cell(j, value, to, value, from);
  close_rows(j);
}

/* Rows outside the low face if it repeats rows inside. They are copied as soon as all of these are
 * there, in three dimensions with the rows of the adjacent groups. */
static void mirror_low(const ambit__fused_job *j, int value)
{
  const ambit__fused_value *f = &j->values[value];
  const ambit_boundary kind = ambit__fused_kind(j, value, j->z, 0);
  const bool fetched = f->fetched >= 0;
  const int last = ambit__fused_mirror(kind, f->low) - 1; /* the row inside that arrives last */
  const int newest = f->lag + fetched;

  for (int n = 1; ambit__fused_mirror(kind, 1) && n <= f->low; n++) {
    const int lag = newest + last + n, from = newest + last - (ambit__fused_mirror(kind, n) - 1);

    ambit__open(j->gpu.w, "if (row - %d == first%d + %d)", newest, j->z, last);
    copy_from(j, value, lag, from, fetched ? -f->down : 0, j->rows + (fetched ? f->up : 0));
    if (f->shared >= 0 && lag > f->shared - fetched) share_rows(j, value, lag, 0, j->rows);
    share_beside(j, value, lag);
    ambit__close(j->gpu.w);
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

/* The new row of a value at a face: its cells outside the region and outside the grid. */
static void finish_edge(const ambit__fused_job *j, int value)
{
  if (!is_loaded(j, value)) keep_outside(j, value);
  for (int side = 0; side < 2; side++)
    fill_row(j, value, side);
  for (int side = 0; side < 2; side++)
    fill_lines(j, value, side);
  fill_columns(j, value);
  if (j->values[value].fetched < 0) mirror_low(j, value);
  mirror_high(j, value);
}

/* ---- one turn ---- */

/* One row of the new row or plane at a face: cell by cell, or the cells with a bit. */
static void store_edge(const ambit__fused_job *j, int value)
{
  const ambit__pipe_value *v = &j->pipe->values[value];
  const ambit__fused_value *f = &j->values[value];
  char row[48];

  snprintf(row, sizeof row, "row - %d", f->lag);
  if (j->y < 0) {
    ambit__print(j->gpu.t, "#pragma unroll\n");
    ambit__line(j->gpu.w, "for (int j = 0; j < %d; j++)", j->lane);
  }
  ambit__line_begin(j->gpu.w);
  if (j->y < 0)
    ambit__print(j->gpu.t, "  if (x + j >= from && x + j < till) *(");
  else
    ambit__print(j->gpu.t, "ambit_store<%d>(", j->lane);
  print_address(j, v->target, v->component, row, "y + r", j->y < 0 ? "x + j" : "x");
  ambit__print(j->gpu.t, j->y < 0 ? ") = " : ", &");
  ambit__fused_print_row(j, value, f->lag);
  if (j->y < 0)
    ambit__print(j->gpu.t, "[j + %d]", f->left);
  else
    ambit__print(j->gpu.t, "[%d], (int)(mine >> r * %d & %uu))", f->left, j->lane,
                 (1u << j->lane) - 1);
  ambit__line_end(j->gpu.w, ";");
}

static void store_fast(const ambit__fused_job *j, int value)
{
  const char *name = name_of(j, j->pipe->values[value].target);

  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "ambit_store_all<%d>(mine", j->lane);
  if (j->y >= 0) ambit__print(j->gpu.t, " >> r & 1");
  ambit__print(j->gpu.t, ", q%d_to", value);
  if (j->y >= 0) ambit__print(j->gpu.t, " + r * %s_s%d", name, j->y);
  ambit__print(j->gpu.t, ", &");
  ambit__fused_print_row(j, value, j->values[value].lag);
  ambit__print(j->gpu.t, "[%d])", j->values[value].left);
  ambit__line_end(j->gpu.w, ";");
}

/* The cells of the new row that this warp owns. */
static void store(const ambit__fused_job *j, int value)
{
  const ambit__pipe_value *v = &j->pipe->values[value];
  const ambit__fused_value *f = &j->values[value];

  if (v->target < 0) return;
  ambit__open(j->gpu.w, "if (row - %d >= begin && row - %d < end)", f->lag, f->lag);
  open_rows(j);
  if (j->edge)
    store_edge(j, value);
  else
    store_fast(j, value);
  close_rows(j);
  ambit__close(j->gpu.w);
  if (!j->edge) ambit__line(j->gpu.w, "q%d_to += %s_s%d;", value, name_of(j, v->target), j->z);
}

/* Everything that follows the computation of a row, or its arrival. */
static void finish(const ambit__fused_job *j, int value)
{
  if (j->edge) finish_edge(j, value);
  store(j, value);
  ambit__fused_publish(j, value);
}

/* Shares the rows of a value that are read in other lanes or groups. */
static void share(const ambit__fused_job *j, int value)
{
  const ambit__fused_value *f = &j->values[value];

  ambit__fused_fetch(j, value);
  if (f->shared >= 0) share_rows(j, value, f->shared, 0, j->rows);
  share_beside(j, value, f->fetched);
  if (j->edge && f->fetched >= 0) mirror_low(j, value);
}

/* Shares the rows that a stage reads and no earlier stage did. */
static void share_for(const ambit__fused_job *j, int stage, bool *shared)
{
  const ambit__pipe_stage *st = &j->pipe->stages[stage];

  for (int i = 0; i < st->rule->nparams; i++)
    for (int c = 0; st->port[i] >= 0 && c < st->rule->params[i].components; c++) {
      const int v = j->pipe->in[st->port[i] + c];

      if (v < 0 || shared[v]) continue;
      shared[v] = true;
      share(j, v);
    }
}

static void emit_turn(const ambit__fused_job *j)
{
  bool shared[AMBIT__PIPE_VALUES] = {false};

  ambit__line(j->gpu.w, "const int row = start + z + p;");
  for (int v = 0; v < j->pipe->nvalues; v++) {
    if (!is_loaded(j, v)) continue;
    if (j->edge)
      load_edge(j, v);
    else
      load_fast(j, v);
    finish(j, v);
  }
  for (int i = 0; i < j->pipe->nstages; i++) {
    const ambit__pipe_stage *st = &j->pipe->stages[i];

    share_for(j, i, shared);
    ambit__fused_emit_stage(j, i);
    for (int k = 0; k < st->rule->nparams; k++)
      for (int c = 0; st->port[k] >= 0 && c < st->rule->params[k].components; c++)
        if (j->pipe->out[st->port[k] + c] >= 0) finish(j, j->pipe->out[st->port[k] + c]);
  }
  if (ambit__fused_shared(j)) ambit__line(j->gpu.w, "%s;", j->gpu.dialect->barrier);
}

/* ---- the kernel ---- */

/* The loop over turns. */
static void emit_code(const ambit__fused_job *j)
{
  ambit__writer *w = j->gpu.w;

  if (j->y < 0)
    ambit__fused_emit_columns(j);
  else
    ambit__fused_emit_place(j);
  ambit__line(w, "const int start = begin - %d, n = end - start + %d;", j->lead, j->drain);
  for (int v = 0; v < j->pipe->nvalues; v++)
    declare_value(j, v);
  for (int i = 0; i < j->pipe->nstages; i++)
    ambit__fused_declare_stage(j, i);
  if (!j->edge) load_first(j);
  for (int v = 0; j->edge && j->y >= 0 && v < j->pipe->nvalues; v++)
    if (is_loaded(j, v)) load_plane(j, v, "start");
  ambit__print(j->gpu.t, "#pragma unroll 1\n");
  ambit__open(w, "for (int z = 0; z < n; z += %d)", j->period);
  ambit__print(j->gpu.t, "#pragma unroll\n");
  ambit__open(w, "for (int p = 0; p < %d; p++)", j->period);
  emit_turn(j);
  ambit__close(w);
  ambit__close(w);
}

/* Two dimensions: the code of a warp. */
static void emit_strip(const ambit__fused_job *fast, const ambit__fused_job *edge)
{
  ambit__writer *w = fast->gpu.w;

  ambit__fused_emit_strips(fast, edge);
  ambit__open(w, "if (!edge)");
  ambit__line(w, "const int from = from_inside, till = from + %d, left = from - %d;",
              ambit__fused_useful(fast), fast->before);
  emit_code(fast);
  ambit__close(w);
  ambit__open(w, "else");
  ambit__line(w,
              "const int first = !side ? from_inside : strip < near ? origin + strip * %d : done + "
              "(strip - near) * %d;",
              ambit__fused_useful(edge), ambit__fused_useful(edge));
  ambit__line(w,
              "const int last = side ? ambit_least(strip < near ? start : high%d, first + %d) : "
              "first + %d;",
              fast->x, ambit__fused_useful(edge), ambit__fused_useful(fast));
  ambit__print(fast->gpu.t, "#pragma unroll 1\n");
  ambit__open(w, "for (int from = ambit_most(first, low%d); from < last; from += %d)", fast->x,
              ambit__fused_useful(edge));
  ambit__line(w,
              "const int till = ambit_least(ambit_least(last, high%d), from + %d), left = from - "
              "%d;",
              fast->x, ambit__fused_useful(edge), edge->before);
  emit_code(edge);
  ambit__close(w);
  ambit__close(w);
}

/* Three dimensions: the code of a block. */
static void emit_block(const ambit__fused_job *fast, const ambit__fused_job *edge)
{
  ambit__writer *w = fast->gpu.w;

  ambit__line(w, "AMBIT_SHARED_BYTES(bytes);");
  ambit__fused_emit_block(fast, edge);
  ambit__open(w, "if (!edge)");
  emit_code(fast);
  ambit__close(w);
  ambit__open(w, "else");
  emit_code(edge);
  ambit__close(w);
}

static void emit_kernel(const ambit__fused_job *fast, const ambit__fused_job *edge)
{
  const ambit__gpucode_job *gpu = &fast->gpu;
  ambit__gpucode_slot slots[AMBIT__GPUCODE_SLOTS];

  ambit__gpucode_emit_head(gpu);
  ambit__print(gpu->t, "\n%s", gpu->dialect->stream);
  ambit__gpucode_open_kernel(gpu, "", gpu->plan->threads, ambit__gpucode_slots(gpu->group, slots),
                             slots);
  ambit__gpucode_emit_ended(gpu);
  ambit__gpucode_emit_values(gpu);
  emit_limits(fast);
  if (fast->y < 0)
    emit_strip(fast, edge);
  else
    emit_block(fast, edge);
  ambit__close(gpu->w);
}

void ambit__fused_emit(const ambit__group *g, const ambit__target *t, const ambit__plan *p,
                       ambit__writer *w)
{
  ambit__fused_job fast, edge;

  if (ambit__fused_begin(g, p, false, &fast) && ambit__fused_begin(g, p, true, &edge)) {
    fast.gpu = edge.gpu = ambit__gpucode_begin(g, t, p, w);
    emit_kernel(&fast, &edge);
    ambit__fused_end(&edge);
  }
  ambit__fused_end(&fast);
}
