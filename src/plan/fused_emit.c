/* SPDX-License-Identifier: BSD-3-Clause */
/* fused_emit.c - the kernel of the strategy `fused`: the tile of a warp, and its loop over rows.
 *
 * A launch has two more blocks along y than there are chunks. The strips and rows at faces need
 * slower code, so they are cut into smaller tiles, and come first. */
#include "plan/fused.h"

#include <stdio.h>

/* ---- the tile of a warp ---- */

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

/* Rows or columns from `fast` to `slow` - 1 can run the fast code. */
static void declare_fast(const ambit__fused_job *j, int axis, int below, int above)
{
  ambit__line(j->gpu.w, "const int fast%d = first%d + %d, slow%d = end%d - %d;", axis, axis,
              ambit__fused_inset(j->pipe, axis, 0) + below, axis, axis,
              ambit__fused_inset(j->pipe, axis, 1) + above);
}

/* The columns from `start` to `done` - 1 belong to `inside` strips of the fast code, the last of
 * which begins earlier if it would end too late. `near` strips of the edge code lie before them,
 * `far` strips after them. */
static void emit_strips(const ambit__fused_job *j, const ambit__fused_job *edge)
{
  const int useful = ambit__fused_useful(j), narrow = ambit__fused_useful(edge), x = j->x;
  ambit__writer *w = j->gpu.w;

  declare_fast(j, x, j->before, j->after);
  declare_fast(j, j->z, j->below, j->above);
  ambit__line(w, "const int origin = low%d & -%d;", x, j->lane);
  ambit__line(w, "const int near = (ambit_between(0, fast%d - origin, high%d - origin) + %d) / %d;",
              x, x, narrow - 1, narrow);
  ambit__line(w, "const int start = origin + near * %d;", narrow);
  ambit__line(w, "const int room = (ambit_least(slow%d, high%d) - start) & -%d;", x, x, j->lane);
  ambit__line(w, "const int inside = room < %d ? 0 : (room + %d) / %d;", useful, useful - 1,
              useful);
  ambit__line(w, "const int done = inside ? start + room : start;");
  ambit__line(w, "const int far = (ambit_most(high%d - done, 0) + %d) / %d;", x, narrow - 1,
              narrow);
}

/* Rows begin .. end - 1 of the strip; `edge`: with the slower code. Blocks that take long come
 * first: the strips at faces, each with several blocks that share its rows, then the rows at the
 * low and at the high face, then all others. */
static void emit_tile(const ambit__fused_job *j)
{
  const ambit__dialect *d = j->gpu.dialect;
  const int warps = j->gpu.plan->threads[1], z = j->z;
  ambit__writer *w = j->gpu.w;

  ambit__line(w, "const int blocks = (inside + %d) / %d, chunks = (int)%s - 2;", warps - 1, warps,
              d->blocks[1]);
  ambit__line(w, "const int pieces = (chunks + 2) * %d;", AMBIT__FUSED_EDGE);
  ambit__line(w, "const int fast = ambit_between(low%d, fast%d, high%d);", z, z, z);
  ambit__line(w, "const int slow = ambit_between(fast, slow%d, high%d);", z, z);
  ambit__line(w, "int number = (int)(%s + %s * %s) - (near + far) * pieces;", d->block[0],
              d->block[1], d->blocks[0]);
  ambit__line(w, "int strip, from_row = low%d, rows = high%d - low%d, part, parts;", z, z, z);
  ambit__line(w, "const bool side = number < 0;");
  ambit__open(w, "if (side)");
  ambit__line(w, "number += (near + far) * pieces;");
  ambit__line(w, "strip = number %% (near + far);");
  ambit__line(w, "part = number / (near + far) * %d + %s;", warps, d->thread[1]);
  ambit__line(w, "parts = pieces * %d;", warps);
  ambit__close(w);
  ambit__open(w, "else");
  ambit__line(w, "if (blocks == 0) return;");
  ambit__line(w, "const int chunk = number / blocks - 2;");
  ambit__line(w, "strip = number %% blocks * %d + %s;", warps, d->thread[1]);
  ambit__line(w, "if (strip >= inside || chunk >= chunks) return;");
  ambit__line(w, "from_row = chunk >= 0 ? fast : chunk == -1 ? low%d : slow;", z);
  ambit__line(w, "rows = (chunk >= 0 ? slow : chunk == -1 ? fast : high%d) - from_row;", z);
  ambit__line(w, "part = chunk < 0 ? 0 : chunk;");
  ambit__line(w, "parts = chunk < 0 ? 1 : chunks;");
  ambit__close(w);
  ambit__line(w, "const int begin = from_row + (int)((long long)rows * part / parts);");
  ambit__line(w, "const int end = from_row + (int)((long long)rows * (part + 1) / parts);");
  ambit__line(w, "const bool edge = side || begin < fast || end > slow;");
  ambit__line(w, "const int from_inside = start + ambit_least(strip * %d, room - %d);",
              ambit__fused_useful(j), ambit__fused_useful(j));
  ambit__line(w, "if (begin >= end) return;");
}

/* ---- memory ---- */

static const char *name_of(const ambit__fused_job *j, int operand)
{
  return j->gpu.rule->params[operand].name;
}

static const char *type_of(const ambit__fused_job *j, int value)
{
  return j->gpu.dialect->types[j->pipe->values[value].type];
}

/* "a0_mem + (a0_o + (start - 2) * a0_s0 + x + 3 * a0_c)" */
static void print_address(const ambit__fused_job *j, int operand, int component, const char *row,
                          const char *column)
{
  const char *name = name_of(j, operand);

  ambit__print(j->gpu.t, "%s_mem + (%s_o + (%s) * %s_s%d + %s", name, name, row, name, j->z,
               column);
  if (component) ambit__print(j->gpu.t, " + %d * %s_c", component, name);
  ambit__print(j->gpu.t, ")");
}

static bool is_loaded(const ambit__fused_job *j, int value)
{
  return j->pipe->values[value].stage < 0;
}

static void declare_value(const ambit__fused_job *j, int value)
{
  const ambit__pipe_value *v = &j->pipe->values[value];
  const ambit__fused_value *f = &j->values[value];
  ambit__writer *w = j->gpu.w;
  char row[48];

  ambit__line(w, "%s q%d[%d][%d] = {};", type_of(j, value), value, j->period,
              f->left + j->lane + f->right);
  if (j->edge) return;
  snprintf(row, sizeof row, "start - %d", f->lag);
  if (is_loaded(j, value)) {
    ambit__line(w, "%s n%d[%d][%d];", type_of(j, value), value, j->ahead, j->lane);
    ambit__line_begin(w);
    ambit__print(j->gpu.t, "%sconst %s *q%d_at = ", j->gpu.dialect->global, type_of(j, value),
                 value);
    print_address(j, v->operand, v->component, row, "x");
    ambit__line_end(w, ";");
  }
  if (v->target < 0) return;
  ambit__line_begin(w);
  ambit__print(j->gpu.t, "%s%s *q%d_to = ", j->gpu.dialect->global, type_of(j, value), value);
  print_address(j, v->target, v->component, row, "x");
  ambit__line_end(w, ";");
}

/* Rows past the last one repeat it. */
static void advance(const ambit__fused_job *j, int value, const char *turn)
{
  const ambit__pipe_value *v = &j->pipe->values[value];

  ambit__line(j->gpu.w, "q%d_at += %s < n - 1 ? %s_s%d : 0;", value, turn, name_of(j, v->operand),
              j->z);
}

static void load_first(const ambit__fused_job *j)
{
  ambit__print(j->gpu.t, "#pragma unroll\n");
  ambit__open(j->gpu.w, "for (int k = 0; k < %d; k++)", j->ahead);
  for (int v = 0; v < j->pipe->nvalues; v++)
    if (is_loaded(j, v)) {
      ambit__line(j->gpu.w, "ambit_load<%d>(n%d[k], q%d_at);", j->lane, v, v);
      advance(j, v, "k");
    }
  ambit__close(j->gpu.w);
}

static void copy_row(const ambit__fused_job *j, int value)
{
  ambit__print(j->gpu.t, "#pragma unroll\n");
  ambit__line(j->gpu.w, "for (int j = 0; j < %d; j++)", j->lane);
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "  ");
  ambit__fused_print_row(j, value, j->values[value].lag);
  ambit__print(j->gpu.t, "[j + %d] = n%d[p %% %d][j]", j->values[value].left, value, j->ahead);
  ambit__line_end(j->gpu.w, ";");
}

static void load_fast(const ambit__fused_job *j, int value)
{
  char turn[40];

  snprintf(turn, sizeof turn, "z + p + %d", j->ahead);
  copy_row(j, value);
  ambit__line(j->gpu.w, "ambit_load<%d>(n%d[p %% %d], q%d_at);", j->lane, value, j->ahead, value);
  advance(j, value, turn);
}

/* Cells of the adjacent lanes. */
static void share_row(const ambit__fused_job *j, int value, int lag)
{
  const ambit__fused_value *f = &j->values[value];

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

/* A cell at a time, wherever it is; `some`: only those outside the region. */
static void load_cells(const ambit__fused_job *j, int value, int operand, bool some)
{
  const ambit__pipe_value *v = &j->pipe->values[value];
  char row[48];

  ambit__line(j->gpu.w, "{");
  j->gpu.w->depth++;
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "const int at = ");
  snprintf(row, sizeof row, "row - %d", j->values[value].lag);
  print_inside(j, j->z, row);
  ambit__line_end(j->gpu.w, ";");
  ambit__print(j->gpu.t, "#pragma unroll\n");
  ambit__line(j->gpu.w, "for (int j = 0; j < %d; j++)", j->lane);
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "  ");
  if (some) {
    ambit__print(j->gpu.t, "if (beside || ");
    print_outside(j, value, j->x);
    ambit__print(j->gpu.t, ") ");
  }
  ambit__fused_print_row(j, value, j->values[value].lag);
  ambit__print(j->gpu.t, "[j + %d] = *(", j->values[value].left);
  print_address(j, operand, v->component, "at", "column[j]");
  ambit__line_end(j->gpu.w, ");");
  ambit__close(j->gpu.w);
}

/* "left < first1 + 1 || left + 64 > end1 - 1": whether the warp has columns outside the region. */
static void print_sides(const ambit__fused_job *j, int value)
{
  const ambit__pipe_stage *st = &j->pipe->stages[j->pipe->values[value].stage];

  if (j->pipe->periodic[j->x])
    ambit__print(j->gpu.t, "false");
  else
    ambit__print(j->gpu.t, "left < first%d + %d || left + %d > end%d - %d", j->x,
                 st->inset[j->x][0], AMBIT__FUSED_WARP * j->lane, j->x, st->inset[j->x][1]);
}

/* Takes the cells outside the region from the value that the stage read there. */
static void take_frozen(const ambit__fused_job *j, int value)
{
  const int lag = j->values[value].lag, from = j->pipe->values[value].frozen;

  ambit__print(j->gpu.t, "#pragma unroll\n");
  ambit__line(j->gpu.w, "for (int j = 0; j < %d; j++)", j->lane);
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "  if (beside || ");
  print_outside(j, value, j->x);
  ambit__print(j->gpu.t, ") ");
  ambit__fused_print_row(j, value, lag);
  ambit__print(j->gpu.t, "[j + %d] = ", j->values[value].left);
  ambit__fused_print_row(j, from, lag);
  ambit__print(j->gpu.t, "[j + %d]", j->values[from].left);
  ambit__line_end(j->gpu.w, ";");
}

/* Cells outside the region of the stage keep their value. */
static void keep_outside(const ambit__fused_job *j, int value)
{
  const ambit__pipe_value *v = &j->pipe->values[value];
  const ambit__pipe_stage *st = &j->pipe->stages[v->stage];
  const int z = j->z, x = j->x;

  if (!st->inset[z][0] && !st->inset[z][1] && !st->inset[x][0] && !st->inset[x][1]) return;
  ambit__line(j->gpu.w, "{");
  j->gpu.w->depth++;
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "const bool beside = ");
  print_outside(j, value, z);
  ambit__line_end(j->gpu.w, ";");
  if (v->frozen >= 0) {
    take_frozen(j, value);
  } else {
    ambit__line_begin(j->gpu.w);
    ambit__print(j->gpu.t, "if (beside || ");
    print_sides(j, value);
    ambit__line_end(j->gpu.w, ")");
    load_cells(j, value, v->outside, true);
  }
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
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "ambit_fill");
  for (int side = 0; side < 2; side++) {
    const ambit_boundary k = b->kind[j->x][side];

    ambit__print(j->gpu.t, "%s%s", side ? ", " : "<",
                 (size_t)k < sizeof names / sizeof *names && names[k] ? names[k] : "AMBIT_NOTHING");
  }
  ambit__print(j->gpu.t, ", %d>(&", j->lane);
  ambit__fused_print_row(j, value, f->lag);
  ambit__print(j->gpu.t, "[%d], x, left, first%d, end%d, ", f->left, j->x, j->x);
  print_number(j, value, b->kind[j->x][0] == AMBIT_CONSTANT ? b->value[j->x][0] : 0);
  ambit__print(j->gpu.t, ", ");
  print_number(j, value, b->kind[j->x][1] == AMBIT_CONSTANT ? b->value[j->x][1] : 0);
  ambit__line_end(j->gpu.w, ");");
}

/* Sets all cells of the new row to a number if it is outside a constant face. */
static void fill_row(const ambit__fused_job *j, int value, int side)
{
  const ambit__boundaries *b = boundaries_of(j, value, j->z);
  const ambit__fused_value *f = &j->values[value];

  if (!b || b->kind[j->z][side] != AMBIT_CONSTANT || !(side ? f->high : f->low)) return;
  ambit__line(j->gpu.w, side ? "if (row - %d >= end%d)" : "if (row - %d < first%d)", f->lag, j->z);
  ambit__print(j->gpu.t, "#pragma unroll\n");
  ambit__line(j->gpu.w, "  for (int j = 0; j < %d; j++)", j->lane);
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "    ");
  ambit__fused_print_row(j, value, f->lag);
  ambit__print(j->gpu.t, "[j + %d] = ", f->left);
  print_number(j, value, b->value[j->z][side]);
  ambit__line_end(j->gpu.w, ";");
}

/* The rows inside that the n-th row outside copies, counted from the face; 0: none. */
static int mirrored(ambit_boundary kind, int n)
{
  return kind == AMBIT_REFLECT ? n + 1 : kind == AMBIT_SYMMETRIC ? n : kind == AMBIT_CLAMP ? 1 : 0;
}

static void copy_from(const ambit__fused_job *j, int value, int to, int from)
{
  ambit__print(j->gpu.t, "#pragma unroll\n");
  ambit__line(j->gpu.w, "for (int j = 0; j < %d; j++)", j->lane);
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "  ");
  ambit__fused_print_row(j, value, to);
  ambit__print(j->gpu.t, "[j + %d] = ", j->values[value].left);
  ambit__fused_print_row(j, value, from);
  ambit__print(j->gpu.t, "[j + %d]", j->values[value].left);
  ambit__line_end(j->gpu.w, ";");
}

/* Rows outside a face that repeats rows inside. At the low face they are copied as soon as all
 * these rows are there, at the high face one by one. */
static void mirror_rows(const ambit__fused_job *j, int value)
{
  const ambit__boundaries *b = boundaries_of(j, value, j->z);
  const ambit__fused_value *f = &j->values[value];
  const ambit_boundary low = b ? b->kind[j->z][0] : AMBIT_NONE;
  const ambit_boundary high = b ? b->kind[j->z][1] : AMBIT_NONE;
  const int last = mirrored(low, f->low) - 1; /* the row inside that arrives last */

  for (int n = 1; b && mirrored(low, 1) && n <= f->low; n++) {
    const int lag = f->lag + last + n;

    ambit__open(j->gpu.w, "if (row - %d == first%d + %d)", f->lag, j->z, last);
    copy_from(j, value, lag, f->lag + last - (mirrored(low, n) - 1));
    if (f->shared >= 0 && lag > f->shared) share_row(j, value, lag); /* the others were */
    ambit__close(j->gpu.w);
  }
  for (int n = 1; b && mirrored(high, 1) && n <= f->high; n++) {
    ambit__open(j->gpu.w, "if (row - %d == end%d + %d)", f->lag, j->z, n - 1);
    copy_from(j, value, f->lag, f->lag + n - 1 + mirrored(high, n));
    ambit__close(j->gpu.w);
  }
}

/* The new row of a value at a face: its cells outside the region and outside the grid. */
static void finish_edge(const ambit__fused_job *j, int value)
{
  if (!is_loaded(j, value)) keep_outside(j, value);
  fill_row(j, value, 0);
  fill_row(j, value, 1);
  fill_columns(j, value);
  mirror_rows(j, value);
}

/* ---- one turn ---- */

/* The cells of the new row that this warp owns. */
static void store(const ambit__fused_job *j, int value)
{
  const ambit__pipe_value *v = &j->pipe->values[value];
  const ambit__fused_value *f = &j->values[value];
  char row[48];

  if (v->target < 0) return;
  ambit__open(j->gpu.w, "if (row - %d >= begin && row - %d < end)", f->lag, f->lag);
  if (j->edge) {
    snprintf(row, sizeof row, "row - %d", f->lag);
    ambit__print(j->gpu.t, "#pragma unroll\n");
    ambit__line(j->gpu.w, "for (int j = 0; j < %d; j++)", j->lane);
    ambit__line_begin(j->gpu.w);
    ambit__print(j->gpu.t, "  if (x + j >= from && x + j < till) *(");
    print_address(j, v->target, v->component, row, "x + j");
    ambit__print(j->gpu.t, ") = ");
    ambit__fused_print_row(j, value, f->lag);
    ambit__print(j->gpu.t, "[j + %d]", f->left);
    ambit__line_end(j->gpu.w, ";");
  } else {
    ambit__line_begin(j->gpu.w);
    ambit__print(j->gpu.t, "ambit_store_all<%d>(mine, q%d_to, &", j->lane, value);
    ambit__fused_print_row(j, value, f->lag);
    ambit__print(j->gpu.t, "[%d])", f->left);
    ambit__line_end(j->gpu.w, ";");
  }
  ambit__close(j->gpu.w);
  if (!j->edge) ambit__line(j->gpu.w, "q%d_to += %s_s%d;", value, name_of(j, v->target), j->z);
}

/* Everything that follows the computation of a row, or its arrival. */
static void finish(const ambit__fused_job *j, int value)
{
  if (j->edge) finish_edge(j, value);
  store(j, value);
}

/* Shares the rows that a stage reads sideways and no earlier stage did. */
static void share_for(const ambit__fused_job *j, int stage, bool *shared)
{
  const ambit__pipe_stage *st = &j->pipe->stages[stage];

  for (int i = 0; i < st->rule->nparams; i++)
    for (int c = 0; st->port[i] >= 0 && c < st->rule->params[i].components; c++) {
      const int v = j->pipe->in[st->port[i] + c];

      if (v < 0 || shared[v] || j->values[v].shared < 0) continue;
      shared[v] = true;
      share_row(j, v, j->values[v].shared);
    }
}

static void emit_turn(const ambit__fused_job *j)
{
  bool shared[AMBIT__PIPE_VALUES] = {false};

  ambit__line(j->gpu.w, "const int row = start + z + p;");
  for (int v = 0; v < j->pipe->nvalues; v++) {
    if (!is_loaded(j, v)) continue;
    if (j->edge)
      load_cells(j, v, j->pipe->values[v].operand, false);
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
}

/* ---- the kernel ---- */

/* The code for the columns from .. till - 1 of a strip that begins at `left`. */
static void emit_code(const ambit__fused_job *j)
{
  ambit__writer *w = j->gpu.w;

  ambit__line(w, "const int x = left + %s * %d;", j->gpu.dialect->thread[0], j->lane);
  ambit__line(w, "const int start = begin - %d, n = end - start + %d;", j->lead, j->drain);
  if (j->edge) {
    ambit__line(w, "int column[%d];", j->lane);
    ambit__print(j->gpu.t, "#pragma unroll\n");
    ambit__line(w, "for (int j = 0; j < %d; j++)", j->lane);
    ambit__line_begin(w);
    ambit__print(j->gpu.t, "  column[j] = ");
    print_inside(j, j->x, "x + j");
    ambit__line_end(w, ";");
  } else {
    ambit__line(w, "const bool mine = x >= from && x < till;");
  }
  for (int v = 0; v < j->pipe->nvalues; v++)
    declare_value(j, v);
  for (int i = 0; i < j->pipe->nstages; i++)
    ambit__fused_declare_stage(j, i);
  if (!j->edge) load_first(j);
  ambit__print(j->gpu.t, "#pragma unroll 1\n");
  ambit__open(w, "for (int z = 0; z < n; z += %d)", j->period);
  ambit__print(j->gpu.t, "#pragma unroll\n");
  ambit__open(w, "for (int p = 0; p < %d; p++)", j->period);
  emit_turn(j);
  ambit__close(w);
  ambit__close(w);
}

static void emit_kernel(const ambit__fused_job *fast, const ambit__fused_job *edge)
{
  const ambit__gpucode_job *gpu = &fast->gpu;
  ambit__gpucode_slot slots[AMBIT__GPUCODE_SLOTS];
  ambit__writer *w = gpu->w;

  ambit__gpucode_emit_head(gpu);
  ambit__print(gpu->t, "\n%s", gpu->dialect->stream);
  ambit__gpucode_open_kernel(gpu, "", gpu->plan->threads, ambit__gpucode_slots(gpu->group, slots),
                             slots);
  ambit__gpucode_emit_ended(gpu);
  ambit__gpucode_emit_values(gpu);
  emit_limits(fast);
  emit_strips(fast, edge);
  emit_tile(fast);
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
  ambit__print(gpu->t, "#pragma unroll 1\n");
  ambit__open(w, "for (int from = ambit_most(first, low%d); from < last; from += %d)", fast->x,
              ambit__fused_useful(edge));
  ambit__line(w,
              "const int till = ambit_least(ambit_least(last, high%d), from + %d), left = from - "
              "%d;",
              fast->x, ambit__fused_useful(edge), edge->before);
  emit_code(edge);
  ambit__close(w);
  ambit__close(w);
  ambit__close(w);
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
