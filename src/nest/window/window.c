/* SPDX-License-Identifier: BSD-3-Clause */
/* window.c - tiles that move: loads, stores, the loop over turns. */
#include "nest/window/window.h"

/* ---- the grid ---- */

/* A part of a periodic grid that is cut has no face along the axis. */
static void let_faces(const ambit__window *j, int axis)
{
  if (j->flow->cut[axis] && j->flow->periodic[axis])
    ambit__nest_do(j->n, "const int first%d = -(1 << 29), end%d = 1 << 29", axis, axis);
  else
    ambit__nest_do(j->n, "const int first%d = (int)-offset%d, end%d = (int)(extent%d - offset%d)",
                   axis, axis, axis, axis, axis);
}

/* Positions in the part: the cells to compute, low .. high - 1; the cells of the grid, first .. end
 * - 1; the cells of these that have values, least .. limit - 1. */
static void let_limits(const ambit__window *j)
{
  for (int d = j->z; d <= j->x; d++) {
    const int *halo = j->flow->halo[d];

    ambit__nest_do(j->n, "const int low%d = (int)lo%d, high%d = (int)hi%d", d, d, d, d);
    let_faces(j, d);
    if (j->flow->cut[d])
      ambit__nest_do(j->n,
                     "const int least%d = ambit_most(first%d, low%d - %d), limit%d = "
                     "ambit_least(end%d, high%d + %d)",
                     d, d, d, halo[0], d, d, d, halo[1]);
    else
      ambit__nest_do(j->n, "const int least%d = first%d, limit%d = end%d", d, d, d, d);
  }
}

void ambit__window_let_fast(const ambit__window *j, int axis, int below, int above)
{
  const int *margin = j->flow->margin[axis];
  const int first = ambit__flow_inset(j->flow, axis, 0) + below;
  const int end = ambit__flow_inset(j->flow, axis, 1) + above;

  if (j->flow->cut[axis])
    ambit__nest_do(j->n,
                   "const int fast%d = ambit_most(first%d + %d, low%d - %d), slow%d = "
                   "ambit_least(end%d - %d, high%d + %d)",
                   axis, axis, first, axis, margin[0] - below, axis, axis, end, axis,
                   margin[1] - above);
  else
    ambit__nest_do(j->n, "const int fast%d = first%d + %d, slow%d = end%d - %d", axis, axis, first,
                   axis, axis, end);
}

/* ---- memory ---- */

/* "(row) * a0_s0 + " */
static const char *along(const ambit__window *j, const char *name, int axis, const char *at)
{
  return at && axis >= 0 ? ambit__nest_text(j->n, "(%s) * %s_s%d + ", at, name, axis) : "";
}

static bool is_uniform(const ambit__window *j, int operand)
{
  return ambit__binding_is_uniform(&j->n->bind[operand], j->x + 1);
}

const char *ambit__window_address(const ambit__window *j, int operand, int component,
                                  const char *row, const char *line, const char *column)
{
  const char *name = ambit__nest_name(j->n, operand), *more = "";

  if (is_uniform(j, operand)) column = "0";
  if (component) more = ambit__nest_text(j->n, " + %d * %s_c", component, name);
  return ambit__nest_text(j->n, "%s_mem + (%s_o + %s%s%s%s)", name, name, along(j, name, j->z, row),
                          along(j, name, j->y, line), column, more);
}

/* " + r * a0_s1": the row of a lane. */
static const char *line_of(const ambit__window *j, int operand)
{
  return j->y < 0 ? ""
                  : ambit__nest_text(j->n, " + r * %s_s%d", ambit__nest_name(j->n, operand), j->y);
}

/* The rows that are kept, and those that are loaded in advance. */
static void let_arrays(const ambit__window *j, int value)
{
  const ambit__window_value *f = &j->values[value];

  ambit__window_let_array(j, ambit__nest_text(j->n, "q%d", value), value, true, j->period,
                          f->down + j->rows + f->up, f->left + j->lane + f->right);
  if (ambit__window_is_loaded(j, value))
    ambit__window_let_array(j, ambit__nest_text(j->n, "n%d", value), value, false, j->ahead,
                            j->rows, j->lane);
}

/* "const float *q0_at = ...": the lane's cells of the first row. */
static void let_pointer(const ambit__window *j, int value, const char *constant, const char *tail,
                        int operand)
{
  const char *row = ambit__nest_text(j->n, "start - %d", j->values[value].lag);

  ambit__nest_do(
      j->n, "%s%s%s *q%d_%s = %s", j->n->dialect->global, constant, ambit__window_type(j, value),
      value, tail,
      ambit__window_address(j, operand, j->flow->values[value].component, row, "y", "x"));
}

static void let_value(const ambit__window *j, int value)
{
  const ambit__flow_value *v = &j->flow->values[value];

  let_arrays(j, value);
  ambit__window_let_rows(j, value);
  if (j->edge) return;
  if (ambit__window_is_loaded(j, value)) let_pointer(j, value, "const ", "at", v->operand);
  if (v->target >= 0) let_pointer(j, value, "", "to", v->target);
}

void ambit__window_load(const ambit__window *j, int value, const char *slot, const char *place)
{
  if (is_uniform(j, j->flow->values[value].operand)) {
    ambit__window_set(j, NULL, ambit__window_loaded(j, value, slot, true),
                      ambit__nest_text(j->n, "*(%s)", place));
    return;
  }
  ambit__window_open_rows(j, 0, j->rows);
  ambit__nest_call(j->n, "ambit_load", ambit__window_type(j, value), j->lane, "%s, %s",
                   ambit__window_loaded(j, value, slot, false), place);
  ambit__window_close_rows(j);
}

/* Loads the next row into n0[k]. Rows past the last one repeat it. */
static void load_next(const ambit__window *j, int value, const char *k, const char *turn)
{
  const int operand = j->flow->values[value].operand;

  ambit__window_load(j, value, k, ambit__nest_text(j->n, "q%d_at%s", value, line_of(j, operand)));
  ambit__nest_do(j->n, "q%d_at += %s < n - 1 ? %s_s%d : 0", value, turn,
                 ambit__nest_name(j->n, operand), j->z);
}

static void load_first(const ambit__window *j)
{
  ambit__nest_unroll(j->n, "k", 0, j->ahead);
  for (int v = 0; v < j->flow->nvalues; v++)
    if (ambit__window_is_loaded(j, v)) load_next(j, v, "k", "k");
  ambit__nest_close(j->n);
}

void ambit__window_copy_row(const ambit__window *j, int value)
{
  const char *slot = ambit__nest_text(j->n, "p %% %d", j->ahead);

  ambit__window_set(j, NULL, ambit__window_own(j, value, j->values[value].lag),
                    ambit__window_loaded(j, value, slot, true));
}

static void load_fast(const ambit__window *j, int value)
{
  ambit__window_copy_row(j, value);
  load_next(j, value, ambit__nest_text(j->n, "p %% %d", j->ahead),
            ambit__nest_text(j->n, "z + p + %d", j->ahead));
}

/* "q0[p][0] = ambit_from_before(q0[p][4])", for each of them. */
static void share_cells(const ambit__window *j, int value, const char *row)
{
  const ambit__window_value *f = &j->values[value];
  const char *how = j->around[2] ? "around" : "from";

  for (int i = 0; i < f->left + f->right; i++) {
    const bool before = i < f->left;

    ambit__nest_do(j->n, "%s[%d] = ambit_%s_%s(%s[%d])", row, before ? i : i + j->lane, how,
                   before ? "before" : "after", row, before ? i + j->lane : i);
  }
}

void ambit__window_share_rows(const ambit__window *j, int value, int lag, int first, int end)
{
  const char *row = ambit__window_row(j, value, lag);

  if (first == end) return;
  ambit__window_open_own_planes(j);
  ambit__window_open_rows(j, first, end);
  if (j->n->dialect->has_lanes)
    share_cells(j, value, row);
  else
    ambit__nest_call(j->n, "ambit_share", ambit__window_type(j, value), j->lane,
                     "%s, %d, %d, AMBIT_LANES_HERE", row, j->values[value].left,
                     j->values[value].right);
  ambit__window_close_rows(j);
  ambit__window_close_planes(j);
}

void ambit__window_share_beside(const ambit__window *j, int value, int lag)
{
  const ambit__window_value *f = &j->values[value];

  if (f->fetched < 0 || !f->corners) return;
  ambit__window_share_rows(j, value, lag, -f->down, 0);
  ambit__window_share_rows(j, value, lag, j->rows, j->rows + f->up);
}

/* ---- one turn ---- */

/* One row of the new row or plane at a face: cell by cell, or the cells with a bit. */
static void store_edge(const ambit__window *j, int value)
{
  const ambit__flow_value *v = &j->flow->values[value];
  const ambit__window_value *f = &j->values[value];
  const char *to =
      ambit__window_address(j, v->target, v->component, ambit__nest_text(j->n, "row - %d", f->lag),
                            "y + r", j->y < 0 ? "x + j" : "x");

  if (j->y < 0) {
    ambit__nest_unroll(j->n, "j", 0, j->lane);
    ambit__nest_do_if(j->n, "x + j >= from && x + j < till", "*(%s) = %s", to,
                      ambit__window_own(j, value, f->lag));
    ambit__nest_close(j->n);
  } else {
    ambit__nest_call(j->n, "ambit_store", ambit__window_type(j, value), j->lane,
                     "%s, &%s[%d], (int)(mine >> r * %d & %uu)", to,
                     ambit__window_row(j, value, f->lag), f->left, j->lane, (1u << j->lane) - 1);
  }
}

static void store_fast(const ambit__window *j, int value)
{
  ambit__nest_call(j->n, "ambit_store_all", ambit__window_type(j, value), j->lane,
                   "mine%s, q%d_to%s, &%s[%d]", j->y < 0 ? "" : " >> r & 1", value,
                   line_of(j, j->flow->values[value].target),
                   ambit__window_row(j, value, j->values[value].lag), j->values[value].left);
}

/* The cells of the new row that this warp owns. */
static void store(const ambit__window *j, int value)
{
  const ambit__flow_value *v = &j->flow->values[value];
  const int lag = j->values[value].lag;

  if (v->target < 0) return;
  ambit__nest_if(j->n, "row - %d >= begin && row - %d < end", lag, lag);
  ambit__window_open_rows(j, 0, j->rows);
  (j->edge ? store_edge : store_fast)(j, value);
  ambit__window_close_rows(j);
  ambit__nest_close(j->n);
  if (!j->edge)
    ambit__nest_do(j->n, "q%d_to += %s_s%d", value, ambit__nest_name(j->n, v->target), j->z);
}

/* Everything that follows the computation of a row, or its arrival. */
static void finish(const ambit__window *j, int value)
{
  if (j->edge) ambit__window_finish_edge(j, value);
  store(j, value);
  ambit__window_publish(j, value);
}

/* Shares the rows of a value that are read in other lanes or groups. */
static void share(const ambit__window *j, int value)
{
  const ambit__window_value *f = &j->values[value];

  ambit__window_fetch(j, value);
  if (f->shared >= 0) ambit__window_share_rows(j, value, f->shared, 0, j->rows);
  ambit__window_share_beside(j, value, f->fetched);
  if (j->edge && f->fetched >= 0) ambit__window_mirror_low(j, value);
}

static void add_turn(ambit__window *j)
{
  ambit__nest_do(j->n, "const int row = start + z + p");
  for (int v = 0; v < j->flow->nvalues; v++) {
    if (!ambit__window_is_loaded(j, v)) continue;
    (j->edge ? ambit__window_load_edge : load_fast)(j, v);
    finish(j, v);
  }
  for (int i = 0; i < j->flow->nstages; i++) {
    for (int v = 0; v < j->flow->nvalues; v++)
      if (ambit__flow_is_new(j->flow, i, v)) share(j, v);
    ambit__window_add_stage(j, i);
    for (int at = 0, v; ambit__flow_next_result(j->flow, i, &at, &v);)
      finish(j, v);
  }
  if (ambit__window_shared(j)) ambit__nest_barrier(j->n);
}

/* ---- the kernel ---- */

static void add_period(ambit__window *j, const char *period)
{
  ambit__nest_loop(j->n, .type = "int", .name = "p", .from = "0", .below = period,
                   .rolled = j->rolled, .unrolled = !j->rolled);
  add_turn(j);
  ambit__nest_close(j->n);
}

/* The loop over turns, in periods. */
static void add_turns(ambit__window *j)
{
  const char *period = ambit__nest_text(j->n, "%d", j->period);
  const char *points = ambit__window_meets_points(j);

  ambit__nest_loop(j->n, .type = "int", .name = "z", .from = "0", .below = "n", .step = period,
                   .rolled = true);
  ambit__window_look_ahead(j);
  if (points) {
    ambit__nest_if(j->n, "!(%s)", points);
    j->blind = true;
    add_period(j, period);
    j->blind = false;
    ambit__nest_otherwise(j->n);
  }
  add_period(j, period);
  if (points) ambit__nest_close(j->n);
  ambit__nest_close(j->n);
}

static void add_code(ambit__window *j)
{
  (j->y < 0 ? ambit__window_let_columns : ambit__window_let_place)(j);
  ambit__nest_do(j->n, "const int start = begin - %d, n = end - start + %d", j->lead, j->drain);
  ambit__window_let_points(j);
  for (int v = 0; v < j->flow->nvalues; v++)
    let_value(j, v);
  for (int i = 0; i < j->flow->nstages; i++)
    ambit__window_let_partials(j, i);
  if (!j->edge) load_first(j);
  for (int v = 0; j->edge && v < j->flow->nvalues; v++)
    if (ambit__window_is_loaded(j, v)) ambit__window_load_first(j, v);
  add_turns(j);
}

/* In two dimensions, the code of a warp; in three, of a block. */
void ambit__nest_window(ambit__nest *n, ambit__window *fast, ambit__window *edge)
{
  const bool flat = fast->y < 0;

  fast->n = edge->n = n;
  n->hooks = (ambit__nest_hooks){.read = ambit__window_read, .instead = ambit__window_instead};
  let_limits(fast);
  if (!flat && n->dialect->has_lanes) ambit__nest_do(n, "AMBIT_SHARED_BYTES(bytes)");
  if (!n->dialect->has_lanes && (ambit__window_shared(fast) || ambit__window_shared(edge)))
    ambit__nest_do(n, "local uchar *bytes = (local uchar *)shared");
  (flat ? ambit__window_add_strips : ambit__window_add_block)(fast, edge);
  ambit__nest_if(n, flat ? "!side && !band" : "!edge");
  if (flat) ambit__window_let_inside(fast);
  add_code(fast);
  ambit__nest_otherwise(n);
  if (flat) ambit__window_let_beside(edge);
  add_code(edge);
  ambit__nest_close(n);
}
