/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_window.c - the work on one plane, for any rule: its own expressions, on the loaded planes.
 */
#include "plan/stream.h"

static void read(const ambit__scope *s, ambit__text *t, const ambit__expr *e)
{
  const ambit__stream_job *j = s->user;

  if (ambit__gpucode_is_field(&j->gpu, e->index))
    ambit__stream_print_cell(j, e->index, e->component, e->offset);
  else
    ambit__print(t, "%s_v", j->gpu.rule->params[e->index].name);
}

static ambit__scope scope_of(const ambit__stream_job *j)
{
  ambit__scope s = ambit__gpucode_scope(&j->gpu);

  s.read = read;
  s.user = j;
  return s;
}

/* ---- results ---- */

/* "v_n", or for a vector field "v_n3": the results of a lane in one row. */
static void name_results(const ambit__stream_job *j, int param, int component)
{
  ambit__print(j->gpu.t, "%s_n", j->gpu.rule->params[param].name);
  if (j->gpu.rule->params[param].is_vector) ambit__print(j->gpu.t, "%d", component);
}

static void declare_results(const ambit__stream_job *j, int param, int component)
{
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "%s ", ambit__gpucode_type(&j->gpu, param));
  name_results(j, param, component);
  ambit__print(j->gpu.t, "[%d]", j->lane);
  ambit__line_end(j->gpu.w, ";");
}

static void declare_out(const ambit__stream_job *j, int param, int component)
{
  const int here[AMBIT_MAX_DIMS] = {0};
  const ambit__scope s = scope_of(j);

  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "%s ", ambit__gpucode_type(&j->gpu, param));
  ambit__name_out(&s, j->gpu.t, param, component);
  if (j->gpu.rule->params[param].keeps[component]) {
    ambit__print(j->gpu.t, " = ");
    ambit__stream_print_cell(j, param, component, here);
  }
  ambit__line_end(j->gpu.w, ";");
}

static void keep_out(const ambit__stream_job *j, int param, int component)
{
  const int here[AMBIT_MAX_DIMS] = {0};
  const ambit__scope s = scope_of(j);

  ambit__line_begin(j->gpu.w);
  name_results(j, param, component);
  ambit__print(j->gpu.t, "[j] = %s", j->whole ? "mine >> j & 1 ? " : "");
  ambit__name_out(&s, j->gpu.t, param, component);
  if (j->whole) {
    ambit__print(j->gpu.t, " : ");
    ambit__stream_print_cell(j, j->gpu.bind[param].twin - 1, component, here);
  }
  ambit__line_end(j->gpu.w, ";");
}

/* The helper that stores: if the warp owns the row; cells in a mask; or cells in a range. */
static const char *store_of(const ambit__stream_job *j)
{
  if (j->planes) return "ambit_store_if";
  return j->gpu.dialect->has_lanes || (j->taps && !j->whole) ? "ambit_store" : "ambit_store_bits";
}

static void store_results(const ambit__stream_job *j, int param, int component)
{
  const char *name = j->gpu.rule->params[param].name;

  ambit__line_begin(j->gpu.w);
  ambit__stream_print_call(j, store_of(j), param, j->lane);
  ambit__print(j->gpu.t, "%s%s_to", j->planes ? "own, " : "", name);
  if (j->y >= 0) ambit__print(j->gpu.t, " + t * %s_s%d", name, j->y);
  if (component) ambit__print(j->gpu.t, " + %d * %s_c", component, name);
  ambit__print(j->gpu.t, ", ");
  name_results(j, param, component);
  ambit__line_end(j->gpu.w, j->whole ? ", mine + brim);" : j->taps ? ", first, end);" : ", mine);");
}

static void each_output(const ambit__stream_job *j,
                        void (*f)(const ambit__stream_job *, int param, int component))
{
  for (int i = 0; i < j->gpu.rule->nparams; i++)
    for (int c = 0; ambit__gpucode_is_field(&j->gpu, i) && c < j->gpu.rule->params[i].components;
         c++)
      if (j->gpu.rule->params[i].writes[c]) f(j, i, c);
}

void ambit__stream_declare_results(const ambit__stream_job *j)
{
  each_output(j, declare_results);
}

/* "z + p < n && t >= skip && t < stop": the warp owns the row. */
static void print_is_own(const ambit__stream_job *j)
{
  ambit__print(j->gpu.t, j->planes ? "p >= from && p < till" : j->pinned ? "true" : "z + p < n");
  if (ambit__stream_start(j) < 0) ambit__print(j->gpu.t, " && z + p >= 0");
  if (j->y >= 0) ambit__print(j->gpu.t, " && t >= skip && t < stop");
}

void ambit__stream_store(const ambit__stream_job *j)
{
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, j->planes ? "const bool own = " : "if (");
  print_is_own(j);
  ambit__line_end(j->gpu.w, j->planes ? ";" : ") {");
  j->gpu.w->depth += !j->planes;
  each_output(j, store_results);
  if (!j->planes) ambit__close(j->gpu.w);
}

void ambit__stream_advance(const ambit__stream_job *j)
{
  for (int i = 0; i < j->gpu.rule->nparams; i++)
    if (ambit__gpucode_is_field(&j->gpu, i) && j->gpu.rule->params[i].is_written)
      ambit__line(j->gpu.w, "%s_to += %s_s%d;", j->gpu.rule->params[i].name,
                  j->gpu.rule->params[i].name, j->z);
}

/* ---- reductions ---- */

static void declare_reductions(const ambit__stream_job *j)
{
  const ambit__scope s = scope_of(j);

  for (int i = 0; i < j->gpu.rule->nparams; i++) {
    const ambit__param *p = &j->gpu.rule->params[i];

    if (!ambit__gpucode_is_reduction(&j->gpu, i)) continue;
    ambit__line_begin(j->gpu.w);
    ambit__print(j->gpu.t, "%s %s_out = ", ambit__gpucode_type(&j->gpu, i), p->name);
    ambit__emit_identity(&s, j->gpu.t, p);
    ambit__line_end(j->gpu.w, ";");
  }
}

/* A bit for every cell of the lane's row that is stored: only those are counted. */
static void declare_counted(const ambit__stream_job *j)
{
  if (!ambit__gpucode_reduces(j->gpu.group)) return;
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "const int counted = ");
  print_is_own(j);
  ambit__line_end(j->gpu.w, " ? mine : 0;");
}

static void fold_reductions(const ambit__stream_job *j)
{
  if (!ambit__gpucode_reduces(j->gpu.group)) return;
  ambit__open(j->gpu.w, "if (counted >> j & 1)");
  ambit__gpucode_fold_cell(&j->gpu);
  ambit__close(j->gpu.w);
}

/* ---- the plane ---- */

static void emit_index(const ambit__stream_job *j, int axis, const char *local)
{
  if (axis >= 0 && axis <= j->gpu.rule->max_axis)
    ambit__line(j->gpu.w, "const %s i%d = offset%d + %s;", j->gpu.integer, axis, axis, local);
}

void ambit__stream_emit_window(const ambit__stream_job *j)
{
  const ambit__scope s = scope_of(j);

  emit_index(j, j->z, j->planes ? "begin + p" : "begin + z + p");
  if (j->y >= 0) ambit__stream_unroll(j, "t", 0, j->rows);
  emit_index(j, j->y, "y + t");
  ambit__stream_declare_results(j);
  declare_counted(j);
  ambit__stream_unroll(j, "j", 0, j->lane);
  emit_index(j, j->x, "x + j");
  each_output(j, declare_out);
  declare_reductions(j);
  ambit__emit_stmts(&s, j->gpu.w, j->gpu.rule->body);
  each_output(j, keep_out);
  fold_reductions(j);
  ambit__close(j->gpu.w);
  ambit__stream_store(j);
  if (j->y >= 0) ambit__close(j->gpu.w);
}
