/* SPDX-License-Identifier: BSD-3-Clause */
/* fused_emit.c - the kernel of the strategy `fused`: loads, stores, the loop. */
#include "plan/fused.h"

#include <stdio.h>

/* ---- the grid ---- */

/* A part of a periodic grid that is cut has no face along the axis. */
static void emit_faces(const ambit__fused_job *j, int axis)
{
  if (j->pipe->cut[axis] && j->pipe->periodic[axis])
    ambit__line(j->gpu.w, "const int first%d = -(1 << 29), end%d = 1 << 29;", axis, axis);
  else
    ambit__line(j->gpu.w, "const int first%d = (int)-offset%d, end%d = (int)(extent%d - offset%d);",
                axis, axis, axis, axis, axis);
}

/* Positions in the part: the cells to compute, low .. high - 1; the cells of the grid, first .. end
 * - 1; the cells of these that have values, least .. limit - 1. */
static void emit_limits(const ambit__fused_job *j)
{
  ambit__writer *w = j->gpu.w;

  for (int d = j->z; d <= j->x; d++) {
    const int *halo = j->pipe->halo[d];

    ambit__line(w, "const int low%d = (int)lo%d, high%d = (int)hi%d;", d, d, d, d);
    emit_faces(j, d);
    if (j->pipe->cut[d])
      ambit__line(w,
                  "const int least%d = ambit_most(first%d, low%d - %d), limit%d = "
                  "ambit_least(end%d, high%d + %d);",
                  d, d, d, halo[0], d, d, d, halo[1]);
    else
      ambit__line(w, "const int least%d = first%d, limit%d = end%d;", d, d, d, d);
  }
}

void ambit__fused_declare_fast(const ambit__fused_job *j, int axis, int below, int above)
{
  const int *margin = j->pipe->margin[axis];
  const int first = ambit__fused_inset(j->pipe, axis, 0) + below;
  const int end = ambit__fused_inset(j->pipe, axis, 1) + above;

  if (j->pipe->cut[axis])
    ambit__line(j->gpu.w,
                "const int fast%d = ambit_most(first%d + %d, low%d - %d), slow%d = "
                "ambit_least(end%d - %d, high%d + %d);",
                axis, axis, first, axis, margin[0] - below, axis, axis, end, axis,
                margin[1] - above);
  else
    ambit__line(j->gpu.w, "const int fast%d = first%d + %d, slow%d = end%d - %d;", axis, axis,
                first, axis, axis, end);
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

void ambit__fused_print_address(const ambit__fused_job *j, int operand, int component,
                                const char *row, const char *line, const char *column)
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

/* "float q0[3][6][6] = {0};" */
static void declare_array(const ambit__fused_job *j, int value)
{
  const ambit__fused_value *f = &j->values[value];

  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "%s q%d[%d]", type_of(j, value), value, j->period);
  if (j->y >= 0) ambit__print(j->gpu.t, "[%d]", f->down + j->rows + f->up);
  ambit__print(j->gpu.t, "[%d] = {0}", f->left + j->lane + f->right);
  if (is_loaded(j, value)) {
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
    ambit__fused_print_address(j, v->operand, v->component, row, "y", "x");
    ambit__line_end(w, ";");
  }
  if (v->target < 0) return;
  ambit__line_begin(w);
  ambit__print(j->gpu.t, "%s%s *q%d_to = ", j->gpu.dialect->global, type_of(j, value), value);
  ambit__fused_print_address(j, v->target, v->component, row, "y", "x");
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
  ambit__fused_print_call(j, "ambit_load", value);
  ambit__print(j->gpu.t, "n%d[%s]%s, q%d_at", value, k, row_of(j), value);
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

void ambit__fused_copy_row(const ambit__fused_job *j, int value)
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
  ambit__fused_copy_row(j, value);
  load_next(j, value, k);
  advance(j, value, turn);
}

/* "ambit_share_float_4(q0[p], 1, 1, AMBIT_LANES_HERE);" */
static void share_row(const ambit__fused_job *j, int value, int lag)
{
  ambit__line_begin(j->gpu.w);
  ambit__fused_print_call(j, "ambit_share", value);
  ambit__fused_print_row(j, value, lag);
  ambit__print(j->gpu.t, ", %d, %d, AMBIT_LANES_HERE)", j->values[value].left,
               j->values[value].right);
  ambit__line_end(j->gpu.w, ";");
}

void ambit__fused_share_rows(const ambit__fused_job *j, int value, int lag, int first, int end)
{
  const ambit__fused_value *f = &j->values[value];
  const bool lanes = j->gpu.dialect->has_lanes;

  if (first == end) return;
  ambit__fused_open_own_planes(j);
  ambit__fused_open_rows(j, first, end);
  if (!lanes) share_row(j, value, lag);
  for (int i = 0; lanes && i < f->left + f->right; i++) {
    const bool before = i < f->left;

    ambit__line_begin(j->gpu.w);
    ambit__fused_print_row(j, value, lag);
    ambit__print(j->gpu.t, "[%d] = %s(", before ? i : i + j->lane,
                 j->around[2] ? before ? "ambit_around_before" : "ambit_around_after"
                 : before     ? "ambit_from_before"
                              : "ambit_from_after");
    ambit__fused_print_row(j, value, lag);
    ambit__print(j->gpu.t, "[%d])", before ? i + j->lane : i);
    ambit__line_end(j->gpu.w, ";");
  }
  close_rows(j);
  ambit__fused_close_planes(j);
}

void ambit__fused_share_beside(const ambit__fused_job *j, int value, int lag)
{
  const ambit__fused_value *f = &j->values[value];

  if (f->fetched < 0 || !f->corners) return;
  ambit__fused_share_rows(j, value, lag, -f->down, 0);
  ambit__fused_share_rows(j, value, lag, j->rows, j->rows + f->up);
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
    ambit__fused_print_call(j, j->gpu.dialect->has_lanes ? "ambit_store" : "ambit_store_bits",
                            value);
  ambit__fused_print_address(j, v->target, v->component, row, "y + r", j->y < 0 ? "x + j" : "x");
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
  ambit__fused_print_call(j, "ambit_store_all", value);
  ambit__print(j->gpu.t, "mine");
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
  if (j->edge) ambit__fused_finish_edge(j, value);
  store(j, value);
  ambit__fused_publish(j, value);
}

/* Shares the rows of a value that are read in other lanes or groups. */
static void share(const ambit__fused_job *j, int value)
{
  const ambit__fused_value *f = &j->values[value];

  ambit__fused_fetch(j, value);
  if (f->shared >= 0) ambit__fused_share_rows(j, value, f->shared, 0, j->rows);
  ambit__fused_share_beside(j, value, f->fetched);
  if (j->edge && f->fetched >= 0) ambit__fused_mirror_low(j, value);
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
      ambit__fused_load_edge(j, v);
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
  for (int v = 0; j->edge && v < j->pipe->nvalues; v++)
    if (is_loaded(j, v)) ambit__fused_load_first(j, v);
  ambit__print(j->gpu.t, "#pragma unroll 1\n");
  ambit__open(w, "for (int z = 0; z < n; z += %d)", j->period);
  ambit__print(j->gpu.t, j->gpu.plan->rolled ? "#pragma unroll 1\n" : "#pragma unroll\n");
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
  ambit__open(w, "if (!side && !band)");
  ambit__fused_emit_inside(fast);
  emit_code(fast);
  ambit__close(w);
  ambit__open(w, "else");
  ambit__fused_emit_beside(edge);
  emit_code(edge);
  ambit__close(w);
}

/* Three dimensions: the code of a block. */
static void emit_block(const ambit__fused_job *fast, const ambit__fused_job *edge)
{
  ambit__writer *w = fast->gpu.w;

  if (fast->gpu.dialect->has_lanes) ambit__line(w, "AMBIT_SHARED_BYTES(bytes);");
  if (fast->gpu.last) ambit__line(w, "local uchar *bytes = (local uchar *)shared;");
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
  if (gpu->dialect->fused)
    ambit__print(gpu->t, "\n%s\n%s", gpu->dialect->lanes, gpu->dialect->fused);
  ambit__gpucode_open_kernel(gpu, "", gpu->plan->threads, ambit__gpucode_slots(gpu->group, slots),
                             slots);
  if (gpu->dialect->fused) ambit__line(gpu->w, "AMBIT_LANES;");
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
    fast.gpu = ambit__gpucode_begin(g, t, p, w);
    fast.gpu.lanes = t->lanes;
    if (!t->dialect->has_lanes && (ambit__fused_shared(&fast) || ambit__fused_shared(&edge)))
      fast.gpu.last = "local uint4 *shared";
    edge.gpu = fast.gpu;
    emit_kernel(&fast, &edge);
    ambit__fused_end(&edge);
  }
  ambit__fused_end(&fast);
}
