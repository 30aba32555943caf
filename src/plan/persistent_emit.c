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

/* ---- memory ---- */

/* "a0_mem + (a0_o + row * a0_s0 + cell)", in a brick with a plane before the row */
static void print_address(const ambit__fused_job *j, int operand, int component, const char *plane,
                          const char *row, const char *cell)
{
  const char *name = j->gpu.rule->params[operand].name;

  ambit__print(j->gpu.t, "%s_mem + (%s_o + ", name, name);
  if (j->planes) ambit__print(j->gpu.t, "(%s) * %s_s%d + ", plane, name, j->z);
  ambit__print(j->gpu.t, "(%s) * %s_s%d + %s", row, name, j->y, cell);
  if (component) ambit__print(j->gpu.t, " + %d * %s_c", component, name);
  ambit__print(j->gpu.t, ")");
}

/* "ambit_clamped(y + r, first0, end0)": the position of a cell in memory. */
static void name_inside(const ambit__fused_job *j, int axis, char *text, size_t size)
{
  snprintf(text, size, "%s(%s, first%d, end%d)",
           j->pipe->periodic[axis] ? "ambit_cycled" : "ambit_clamped",
           axis == j->x   ? "x + j"
           : axis == j->y ? "y + r"
                          : "z + k",
           axis, axis);
}

static void print_inside(const ambit__fused_job *j, int operand, int component)
{
  char plane[64], row[64], cell[64];

  name_inside(j, j->z, plane, sizeof plane);
  name_inside(j, j->y, row, sizeof row);
  name_inside(j, j->x, cell, sizeof cell);
  print_address(j, operand, component, plane, row, cell);
}

static void declare_value(const ambit__fused_job *j, int value)
{
  const ambit__fused_value *f = &j->values[value];

  ambit__line(j->gpu.w, "%s q%d[%d][%d][%d];", type_of(j, value), value,
              j->planes ? f->low + j->planes + f->high : 1, f->down + j->rows + f->up,
              f->left + j->lane + f->right);
}

static void load_value(const ambit__fused_job *j, int value)
{
  ambit__persistent_begin_cells(j);
  ambit__persistent_print_cell(j, value);
  ambit__print(j->gpu.t, " = *(");
  print_inside(j, j->pipe->values[value].operand, j->pipe->values[value].component);
  ambit__persistent_end_cells(j, ");");
}

static void store_value(const ambit__fused_job *j, int value)
{
  const ambit__pipe_value *last = &j->pipe->values[j->pipe->next[value]];

  ambit__persistent_begin_cells(j);
  ambit__print(j->gpu.t, "if (");
  if (j->planes) ambit__print(j->gpu.t, "z + k >= from%d && z + k < till%d && ", j->z, j->z);
  ambit__print(j->gpu.t,
               "y + r >= from%d && y + r < till%d && x + j >= from%d && x + j < till%d) *(", j->y,
               j->y, j->x, j->x);
  print_address(j, last->target, last->component, "z + k", "y + r", "x + j");
  ambit__print(j->gpu.t, ") = ");
  ambit__persistent_print_cell(j, value);
  ambit__persistent_end_cells(j, ";");
}

/* ---- one iteration ---- */

static bool has_inset(const ambit__fused_job *j, const ambit__pipe_stage *st)
{
  const int axes[] = {j->z, j->y, j->x};

  for (int i = 0; i < 3; i++)
    if (st->inset[axes[i]][0] || st->inset[axes[i]][1]) return true;
  return false;
}

/* "(low0 && r < 1) || ": a cell is in one of the layers at the faces of an axis, of which the lane
 * has n. */
static void print_layers(const ambit__fused_job *j, int axis, const int *inset, const char *name,
                         int n)
{
  if (inset[0]) ambit__print(j->gpu.t, "(low%d && %s < %d) || ", axis, name, inset[0]);
  if (inset[1]) ambit__print(j->gpu.t, "(high%d && %s >= %d) || ", axis, name, n - inset[1]);
}

/* Cells outside the region of a stage keep their values: some layers at the faces, which are those
 * of the first and last lanes, groups and planes. */
static void keep_outside(const ambit__fused_job *j, int value)
{
  const ambit__pipe_value *v = &j->pipe->values[value];
  const ambit__pipe_stage *st = &j->pipe->stages[v->stage];

  if (st->nplaces || !has_inset(j, st)) return;
  ambit__persistent_begin_cells(j);
  ambit__print(j->gpu.t, "if (");
  print_layers(j, j->z, st->inset[j->z], "k", j->planes);
  print_layers(j, j->y, st->inset[j->y], "r", j->rows);
  print_layers(j, j->x, st->inset[j->x], "j", j->lane);
  ambit__print(j->gpu.t, "false) ");
  ambit__persistent_print_cell(j, value);
  ambit__print(j->gpu.t, " = ");
  if (v->frozen >= 0)
    ambit__persistent_print_cell(j, v->frozen);
  else
    ambit__print(j->gpu.t, "*(");
  if (v->frozen < 0) print_inside(j, v->outside, v->component);
  ambit__persistent_end_cells(j, v->frozen < 0 ? ");" : ";");
}

/* "c3[r][j]" */
static void print_aside(const ambit__fused_job *j, int value)
{
  ambit__print(j->gpu.t, "c%d%s[r][j]", value, j->planes ? "[k]" : "");
}

/* "c3": a value that the next iteration begins with, while the loaded values change. */
static void set_aside(const ambit__fused_job *j, int value)
{
  const int next = j->pipe->next[value];

  if (!is_loaded(j->pipe, next)) return;
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "%s c%d", type_of(j, value), value);
  if (j->planes) ambit__print(j->gpu.t, "[%d]", j->planes);
  ambit__print(j->gpu.t, "[%d][%d]", j->rows, j->lane);
  ambit__line_end(j->gpu.w, ";");
  ambit__persistent_begin_cells(j);
  print_aside(j, value);
  ambit__print(j->gpu.t, " = ");
  ambit__persistent_print_cell(j, next);
  ambit__persistent_end_cells(j, ";");
}

static void carry(const ambit__fused_job *j, int value)
{
  const int next = j->pipe->next[value];

  ambit__persistent_begin_cells(j);
  ambit__persistent_print_cell(j, value);
  ambit__print(j->gpu.t, " = ");
  if (is_loaded(j->pipe, next))
    print_aside(j, value);
  else
    ambit__persistent_print_cell(j, next);
  ambit__persistent_end_cells(j, ";");
}

static void emit_iteration(const ambit__fused_job *j)
{
  ambit__line(j->gpu.w, "const %s step = begun + done;", j->gpu.integer);
  for (int v = 0; v < j->pipe->nvalues; v++)
    if (!is_loaded(j->pipe, v)) declare_value(j, v);
  for (int i = 0; i < j->pipe->nstages; i++) {
    ambit__persistent_share(j, i);
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
static void emit_axis(const ambit__persistent_job *j, const ambit__window *w)
{
  const ambit__gpucode_job *gpu = &j->tile.gpu;
  const int axis = w->axis, halo = w->halo, grain = w->grain;
  const int along = j->tile.x - axis; /* the block, whose x comes first */

  ambit__line(gpu->w, "const int first%d = (int)lo%d, end%d = (int)hi%d;", axis, axis, axis, axis);
  for (int end = 0; end < 2; end++)
    ambit__line(gpu->w,
                "const int %s%d = first%d + (int)((hi%d - lo%d) / %d * (%s + %d) / %s) * %d;",
                end ? "till" : "from", axis, axis, axis, axis, grain, gpu->dialect->block[along],
                end, gpu->dialect->blocks[along], grain);
  if (j->tile.pipe->periodic[axis])
    ambit__line(gpu->w, "const int origin%d = from%d - %d;", axis, axis, halo);
  else
    ambit__line(gpu->w,
                "const int origin%d = ambit_most(first%d, ambit_least(from%d - %d, end%d - %d));",
                axis, axis, axis, halo, axis, w->cells);
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
  if (f->planes) {
    ambit__line(w, "const int level = origin%d, z = level;", f->z);
    ambit__line(w, "const bool low%d = z == first%d, high%d = z + %d == end%d;", f->z, f->z, f->z,
                f->planes, f->z);
  }
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
  if (j->planes) ambit__line(j->gpu.w, "const int z = ambit_again(level);");
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
  for (int i = j->tile.planes ? 0 : 1; i < 3; i++)
    emit_axis(j, &j->window[i]);
  emit_place(j);
  ambit__line(w, "const %s begun = step;", f->gpu.integer);
  ambit__line(w, "unsigned round = (unsigned)rounds, p = 0;");
  for (int v = 0; v < f->pipe->nvalues; v++) {
    if (is_loaded(f->pipe, v)) declare_value(f, v);
    ambit__fused_declare_rows(f, v);
  }
  ambit__persistent_declare_letters(j);
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
  if (j.tile.planes) j.tile.begin_plane = ambit__persistent_begin_plane;
  *gpu = ambit__gpucode_begin(g, t, p, w);
  ambit__gpucode_emit_head(gpu);
  ambit__print(gpu->t, "\n%s", gpu->dialect->stream);
  ambit__gpucode_open_kernel(gpu, "", p->threads, ambit__gpucode_slots(g, slots), slots);
  ambit__gpucode_emit_ended(gpu);
  ambit__gpucode_emit_values(gpu);
  emit_body(&j);
  ambit__close(w);
}
