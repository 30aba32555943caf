/* SPDX-License-Identifier: BSD-3-Clause */
/* persistent_emit.c - writes kernels that hold a tile over many iterations. */
#include "plan/persistent.h"

#include <stdio.h>

static bool is_loaded(const ambit__pipeline *p, int value)
{
  return p->values[value].stage < 0;
}

static const char *type_of(const ambit__fused_job *j, int value)
{
  return j->gpu.dialect->types[j->pipe->values[value].type];
}

void ambit__persistent_print_cell(const ambit__fused_job *j, int value, const char *row)
{
  const ambit__fused_value *f = &j->values[value];

  ambit__print(j->gpu.t, "q%d[0][%s + %d][j + %d]", value, row, f->down, f->left);
}

/* ---- loops ---- */

static void begin_cells(const ambit__fused_job *j, int first, int end)
{
  ambit__fused_open_rows(j, first, end);
  ambit__print(j->gpu.t, "#pragma unroll\n");
  ambit__line(j->gpu.w, "for (int j = 0; j < %d; j++)", j->lane);
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "  ");
}

static void end_cells(const ambit__fused_job *j, const char *tail)
{
  ambit__line_end(j->gpu.w, tail);
  ambit__fused_close_rows(j);
}

/* ---- memory ---- */

/* "a0_mem + (a0_o + row * a0_s0 + cell)" */
static void print_address(const ambit__fused_job *j, int operand, int component, const char *row,
                          const char *cell)
{
  const char *name = j->gpu.rule->params[operand].name;

  ambit__print(j->gpu.t, "%s_mem + (%s_o + (%s) * %s_s%d + %s", name, name, row, name, j->y, cell);
  if (component) ambit__print(j->gpu.t, " + %d * %s_c", component, name);
  ambit__print(j->gpu.t, ")");
}

/* "ambit_clamped(y + r, first0, end0)": the position of a cell in memory. */
static void name_inside(const ambit__fused_job *j, int axis, char *text, size_t size)
{
  snprintf(text, size, "%s(%s, first%d, end%d)",
           j->pipe->periodic[axis] ? "ambit_cycled" : "ambit_clamped",
           axis == j->y ? "y + r" : "x + j", axis, axis);
}

static void print_inside(const ambit__fused_job *j, int operand, int component)
{
  char row[64], cell[64];

  name_inside(j, j->y, row, sizeof row);
  name_inside(j, j->x, cell, sizeof cell);
  print_address(j, operand, component, row, cell);
}

static void declare_value(const ambit__fused_job *j, int value)
{
  const ambit__fused_value *f = &j->values[value];

  ambit__line(j->gpu.w, "%s q%d[1][%d][%d];", type_of(j, value), value, f->down + j->rows + f->up,
              f->left + j->lane + f->right);
}

static void load_value(const ambit__fused_job *j, int value)
{
  begin_cells(j, 0, j->rows);
  ambit__persistent_print_cell(j, value, "r");
  ambit__print(j->gpu.t, " = *(");
  print_inside(j, j->pipe->values[value].operand, j->pipe->values[value].component);
  end_cells(j, ");");
}

static void store_value(const ambit__fused_job *j, int value)
{
  const ambit__pipe_value *last = &j->pipe->values[j->pipe->next[value]];

  begin_cells(j, 0, j->rows);
  ambit__print(j->gpu.t,
               "if (y + r >= from0 && y + r < till0 && x + j >= from1 && x + j < till1) *(");
  print_address(j, last->target, last->component, "y + r", "x + j");
  ambit__print(j->gpu.t, ") = ");
  ambit__persistent_print_cell(j, value, "r");
  end_cells(j, ";");
}

/* ---- cells beside those of a lane ---- */

static void print_number(const ambit__fused_job *j, int value, double number)
{
  const ambit_type type = j->pipe->values[value].type;

  ambit__print(j->gpu.t, "(%s)", type_of(j, value));
  ambit__emit_constant(j->gpu.dialect, j->gpu.t, type, ambit__value_of(number, type));
}

static double number_of(const ambit__fused_job *j, int value, int axis, int side)
{
  return j->pipe->values[value].boundaries->value[axis][side];
}

/* Rows outside a constant face. */
static void fill_rows(const ambit__fused_job *j, int value, int side)
{
  const ambit__fused_value *f = &j->values[value];
  const int n = side ? f->up : f->down;

  if (!n || ambit__fused_kind(j, value, j->y, side) != AMBIT_CONSTANT) return;
  ambit__open(j->gpu.w, "if (%s%d)", side ? "high" : "low", j->y);
  begin_cells(j, side ? j->rows : -n, side ? j->rows + n : 0);
  ambit__persistent_print_cell(j, value, "r");
  ambit__print(j->gpu.t, " = ");
  print_number(j, value, number_of(j, value, j->y, side));
  end_cells(j, ";");
  ambit__close(j->gpu.w);
}

/* In rows `first` to `end` - 1, cells outside a face along the row: the lane inside has those that
 * they copy. */
static void fill_cells(const ambit__fused_job *j, int value, int side, int first, int end)
{
  const ambit__fused_value *f = &j->values[value];
  const ambit_boundary kind = ambit__fused_kind(j, value, j->x, side);
  const int n = side ? f->right : f->left, ends[2] = {f->left - 1, f->left + j->lane};

  if (first == end || !n || (kind != AMBIT_CONSTANT && !ambit__fused_mirror(kind, 1))) return;
  ambit__fused_open_rows(j, first, end);
  for (int k = 1; k <= n; k++) {
    const int from = ambit__fused_mirror(kind, k) - 1;

    ambit__line_begin(j->gpu.w);
    ambit__print(j->gpu.t, "if (%s%d) q%d[0][r + %d][%d] = ", side ? "high" : "low", j->x, value,
                 f->down, side ? ends[1] + k - 1 : ends[0] - k + 1);
    if (kind == AMBIT_CONSTANT)
      print_number(j, value, number_of(j, value, j->x, side));
    else
      ambit__print(j->gpu.t, "q%d[0][r + %d][%d]", value, f->down,
                   side ? ends[1] - 1 - from : ends[0] + 1 + from);
    ambit__line_end(j->gpu.w, ";");
  }
  ambit__fused_close_rows(j);
}

/* Calls f for the values that a stage reads and no earlier one of the iteration did. */
static void each_new(const ambit__fused_job *j, int stage, const bool *shared,
                     void (*f)(const ambit__fused_job *j, int value))
{
  const ambit__pipe_stage *st = &j->pipe->stages[stage];
  bool seen[AMBIT__PIPE_VALUES] = {false};

  for (int i = 0; i < st->rule->nparams; i++)
    for (int c = 0; st->port[i] >= 0 && c < st->rule->params[i].components; c++) {
      const int v = j->pipe->in[st->port[i] + c];

      if (v < 0 || shared[v] || seen[v]) continue;
      seen[v] = true;
      f(j, v);
    }
}

/* The cells of adjacent lanes, in some rows. */
static void take_cells(const ambit__fused_job *j, int value, int first, int end)
{
  const ambit__fused_value *f = &j->values[value];

  if (f->left || f->right) ambit__fused_share_rows(j, value, 0, first, end);
  for (int side = 0; side < 2; side++)
    fill_cells(j, value, side, first, end);
}

static void take_own_cells(const ambit__fused_job *j, int value)
{
  take_cells(j, value, 0, j->rows);
}

/* The rows of adjacent groups, and, if they are read, the cells of adjacent lanes in them. */
static void take_rows(const ambit__fused_job *j, int value)
{
  const ambit__fused_value *f = &j->values[value];

  ambit__fused_fetch(j, value);
  for (int side = 0; side < 2; side++)
    fill_rows(j, value, side);
  if (!f->corners) return;
  take_cells(j, value, -f->down, 0);
  take_cells(j, value, j->rows, j->rows + f->up);
}

/* Whether a stage is the first to read some value in other rows. */
static bool needs_rows(const ambit__fused_job *j, int stage, const bool *shared)
{
  const ambit__pipe_stage *st = &j->pipe->stages[stage];

  for (int i = 0; i < st->rule->nparams; i++)
    for (int c = 0; st->port[i] >= 0 && c < st->rule->params[i].components; c++) {
      const int v = j->pipe->in[st->port[i] + c];

      if (v >= 0 && !shared[v] && j->values[v].fetched >= 0) return true;
    }
  return false;
}

static void share(const ambit__fused_job *j, int stage, bool *shared)
{
  const ambit__pipe_stage *st = &j->pipe->stages[stage];

  const bool rows = needs_rows(j, stage, shared);

  if (rows) each_new(j, stage, shared, ambit__fused_publish);
  each_new(j, stage, shared, take_own_cells);
  if (rows) {
    ambit__line(j->gpu.w, "%s;", j->gpu.dialect->barrier);
    ambit__line(j->gpu.w, "p++;");
  }
  each_new(j, stage, shared, take_rows);
  for (int i = 0; i < st->rule->nparams; i++)
    for (int c = 0; st->port[i] >= 0 && c < st->rule->params[i].components; c++)
      if (j->pipe->in[st->port[i] + c] >= 0) shared[j->pipe->in[st->port[i] + c]] = true;
}

/* ---- one iteration ---- */

/* Cells outside the region of a stage keep their values: some layers at the faces, which are those
 * of the first and last lanes and groups. */
static void keep_outside(const ambit__fused_job *j, int value)
{
  const ambit__pipe_value *v = &j->pipe->values[value];
  const ambit__pipe_stage *st = &j->pipe->stages[v->stage];
  const int *rows = st->inset[j->y], *cells = st->inset[j->x];

  if (st->nplaces || !(rows[0] || rows[1] || cells[0] || cells[1])) return;
  begin_cells(j, 0, j->rows);
  ambit__print(j->gpu.t, "if (");
  if (rows[0]) ambit__print(j->gpu.t, "(low%d && r < %d) || ", j->y, rows[0]);
  if (rows[1]) ambit__print(j->gpu.t, "(high%d && r >= %d) || ", j->y, j->rows - rows[1]);
  if (cells[0]) ambit__print(j->gpu.t, "(low%d && j < %d) || ", j->x, cells[0]);
  if (cells[1]) ambit__print(j->gpu.t, "(high%d && j >= %d) || ", j->x, j->lane - cells[1]);
  ambit__print(j->gpu.t, "false) ");
  ambit__persistent_print_cell(j, value, "r");
  ambit__print(j->gpu.t, " = ");
  if (v->frozen >= 0)
    ambit__persistent_print_cell(j, v->frozen, "r");
  else
    ambit__print(j->gpu.t, "*(");
  if (v->frozen < 0) print_inside(j, v->outside, v->component);
  end_cells(j, v->frozen < 0 ? ");" : ";");
}

/* "c3": a value that the next iteration begins with, while the loaded values change. */
static void set_aside(const ambit__fused_job *j, int value)
{
  const int next = j->pipe->next[value];

  if (!is_loaded(j->pipe, next)) return;
  ambit__line(j->gpu.w, "%s c%d[%d][%d];", type_of(j, value), value, j->rows, j->lane);
  begin_cells(j, 0, j->rows);
  ambit__print(j->gpu.t, "c%d[r][j] = ", value);
  ambit__persistent_print_cell(j, next, "r");
  end_cells(j, ";");
}

static void carry(const ambit__fused_job *j, int value)
{
  const int next = j->pipe->next[value];

  begin_cells(j, 0, j->rows);
  ambit__persistent_print_cell(j, value, "r");
  ambit__print(j->gpu.t, " = ");
  if (is_loaded(j->pipe, next))
    ambit__print(j->gpu.t, "c%d[r][j]", value);
  else
    ambit__persistent_print_cell(j, next, "r");
  end_cells(j, ";");
}

static void emit_iteration(const ambit__fused_job *j)
{
  bool shared[AMBIT__PIPE_VALUES] = {false};

  ambit__line(j->gpu.w, "const %s step = begun + done;", j->gpu.integer);
  for (int v = 0; v < j->pipe->nvalues; v++)
    if (!is_loaded(j->pipe, v)) declare_value(j, v);
  for (int i = 0; i < j->pipe->nstages; i++) {
    share(j, i, shared);
    ambit__fused_emit_stage(j, i);
    for (int v = 0; v < j->pipe->nvalues; v++)
      if (j->pipe->values[v].stage == i) keep_outside(j, v);
  }
  for (int v = 0; v < j->pipe->nvalues; v++)
    if (ambit__persistent_changes(j->pipe, v)) set_aside(j, v);
  for (int v = 0; v < j->pipe->nvalues; v++)
    if (ambit__persistent_changes(j->pipe, v)) carry(j, v);
}

/* ---- the kernel ---- */

/* The cells of the grid, first .. end - 1; of the tile, from .. till - 1; the window's first. */
static void emit_axis(const ambit__persistent_job *j, int axis)
{
  const ambit__gpucode_job *gpu = &j->tile.gpu;
  const int halo = j->window[axis].halo, grain = j->window[axis].grain;

  ambit__line(gpu->w, "const int first%d = (int)lo%d, end%d = (int)hi%d;", axis, axis, axis, axis);
  for (int end = 0; end < 2; end++)
    ambit__line(gpu->w,
                "const int %s%d = first%d + (int)((hi%d - lo%d) / %d * (%s + %d) / %s) * %d;",
                end ? "till" : "from", axis, axis, axis, axis, grain, gpu->dialect->block[1 - axis],
                end, gpu->dialect->blocks[1 - axis], grain);
  if (j->tile.pipe->periodic[axis])
    ambit__line(gpu->w, "const int origin%d = from%d - %d;", axis, axis, halo);
  else
    ambit__line(gpu->w,
                "const int origin%d = ambit_most(first%d, ambit_least(from%d - %d, end%d - %d));",
                axis, axis, axis, halo, axis, j->window[axis].cells);
}

/* The cells of a thread, and whether they are at a face. */
static void emit_place(const ambit__persistent_job *j)
{
  const ambit__fused_job *f = &j->tile;
  ambit__writer *w = f->gpu.w;

  ambit__line(w, "const int lane = %s, group = %s;", f->gpu.dialect->thread[0],
              f->gpu.dialect->thread[1]);
  ambit__line(w, "const int column = origin%d + lane * %d, line = origin%d + group * %d;", f->x,
              f->lane, f->y, f->rows);
  ambit__line(w, "const int x = column, y = line;");
  ambit__line(w, "const bool low%d = y == first%d, high%d = y + %d == end%d;", f->y, f->y, f->y,
              f->rows, f->y);
  ambit__line(w, "const bool low%d = x == first%d, high%d = x + %d == end%d;", f->x, f->x, f->x,
              f->lane, f->x);
  ambit__fused_declare_placed(f);
}

/* In a block of its own: addresses keep no registers meanwhile. */
static void each_change(const ambit__fused_job *j, bool (*which)(const ambit__pipeline *p, int v),
                        void (*f)(const ambit__fused_job *j, int value))
{
  ambit__open(j->gpu.w, "/* memory */");
  ambit__line(j->gpu.w, "const int x = ambit_again(column), y = ambit_again(line);");
  for (int v = 0; v < j->pipe->nvalues; v++)
    if (which(j->pipe, v)) f(j, v);
  ambit__close(j->gpu.w);
}

static bool changes(const ambit__pipeline *p, int value)
{
  return ambit__persistent_changes(p, value);
}

static void emit_body(const ambit__persistent_job *j)
{
  const ambit__fused_job *f = &j->tile;
  ambit__writer *w = f->gpu.w;

  ambit__line(w, "AMBIT_SHARED_BYTES(bytes);");
  for (int d = 0; d < 2; d++)
    emit_axis(j, d);
  emit_place(j);
  ambit__line(w, "const %s begun = step;", f->gpu.integer);
  ambit__line(w, "unsigned round = (unsigned)rounds, p = 0;");
  for (int v = 0; v < f->pipe->nvalues; v++) {
    if (is_loaded(f->pipe, v)) declare_value(f, v);
    ambit__fused_declare_rows(f, v);
  }
  each_change(f, is_loaded, load_value);
  ambit__print(f->gpu.t, "#pragma unroll 1\n");
  ambit__open(w, "for (int done = 0; done < times;)");
  if (ambit__persistent_exchanges(j)) {
    ambit__persistent_emit_mail(j);
    ambit__line(w, "const int pause = ambit_least(done + %d, (int)times);", j->every);
  } else {
    ambit__line(w, "const int pause = (int)times;");
  }
  ambit__print(f->gpu.t, "#pragma unroll 1\n");
  ambit__open(w, "for (; done < pause; done++)");
  emit_iteration(f);
  ambit__close(w);
  ambit__close(w);
  each_change(f, changes, store_value);
}

void ambit__persistent_emit(const ambit__group *g, const ambit__target *t, const ambit__plan *p,
                            ambit__writer *w)
{
  ambit__gpucode_slot slots[AMBIT__GPUCODE_SLOTS];
  ambit__persistent_job j;
  ambit__gpucode_job *gpu = &j.tile.gpu;

  if (!ambit__persistent_begin(g, p, &j)) return;
  *gpu = ambit__gpucode_begin(g, t, p, w);
  ambit__gpucode_emit_head(gpu);
  ambit__print(gpu->t, "\n%s", gpu->dialect->stream);
  ambit__gpucode_open_kernel(gpu, "", p->threads, ambit__gpucode_slots(g, slots), slots);
  ambit__gpucode_emit_ended(gpu);
  ambit__gpucode_emit_values(gpu);
  emit_body(&j);
  ambit__close(w);
}
