/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_emit.c - pieces of kernels that all strategies for GPUs use. */
#include "plan/gpu.h"

#include "grid/deal.h"
#include "plan/pipeline.h"

#include <stdlib.h>

extern const char ambit__prelude_sums[]; /* embedded by the build */

/* ---- properties ---- */

ambit__gpucode_job ambit__gpucode_begin(const ambit__group *g, const ambit__target *t,
                                        const ambit__plan *p, ambit__writer *w)
{
  return (ambit__gpucode_job){.group = g,
                              .plan = p,
                              .dialect = t->dialect,
                              .rule = g->steps[0].rule,
                              .bind = g->steps[0].bind,
                              .integer = t->dialect->types[AMBIT_I64],
                              .w = w,
                              .t = &w->text};
}

bool ambit__gpucode_is_field(const ambit__gpucode_job *j, int param)
{
  return j->rule->params[param].kind == PARAM_FIELD && j->bind[param].is_field;
}

bool ambit__gpucode_is_reduction(const ambit__gpucode_job *j, int param)
{
  return j->rule->params[param].kind == PARAM_REDUCE;
}

bool ambit__gpucode_is_value(const ambit__gpucode_job *j, int param)
{
  return !ambit__gpucode_is_reduction(j, param) && !ambit__gpucode_is_field(j, param);
}

bool ambit__gpucode_reduces(const ambit__group *g)
{
  const ambit__rule *rule = g->steps[0].rule;

  for (int i = 0; i < rule->nparams; i++)
    if (rule->params[i].kind == PARAM_REDUCE) return true;
  return false;
}

double ambit__gpucode_cell_cost(const ambit__group *g, const ambit__target *t, const ambit__plan *p)
{
  (void)t;
  (void)p;
  return ambit__price_of(g->steps[0].rule).bytes / 2075;
}

int ambit__gpucode_indices(const ambit__group *g)
{
  const int n = g->steps[0].rule->max_axis + 1;

  return n < g->ndims && !g->checks ? n : g->ndims; /* faults have the cell */
}

const char *ambit__gpucode_type(const ambit__gpucode_job *j, int param)
{
  return j->dialect->types[j->rule->params[param].type];
}

static const char *name_of(const ambit__gpucode_job *j, int param)
{
  return j->rule->params[param].name;
}

/* ---- the head ---- */

/* Of the rule, or of all rules of a pipeline. */
static void emit_tables(const ambit__gpucode_job *j)
{
  const ambit__pipeline *pipe = j->group->pipeline;

  const ambit__rule *rules[AMBIT__PIPE_STAGES];

  if (!pipe) ambit__emit_tables(j->dialect, j->t, j->rule, NULL, 0);
  for (int i = 0; pipe && i < pipe->nstages; i++) {
    rules[i] = pipe->stages[i].rule;
    ambit__emit_tables(j->dialect, j->t, rules[i], rules, i);
  }
}

void ambit__gpucode_emit_head(const ambit__gpucode_job *j)
{
  ambit__print(j->t, "/* Kernel %s, written by Ambit. Plan ", j->rule->name);
  j->plan->strategy->describe(j->plan, j->t);
  ambit__print(j->t, ". */\n");
  if (j->lanes) ambit__print(j->t, "%s", j->lanes);
  if (j->group->strict) ambit__print(j->t, "%s", j->dialect->strict);
  ambit__dialect_print(j->dialect, j->t);
  if (!j->group->for_people && ambit__has_exact_sums(j->group))
    ambit__print(j->t, "\n%s", ambit__prelude_sums);
  emit_tables(j);
  ambit__emit_folders(j->dialect, j->w, j->rule, j->group->strict);
}

void ambit__gpucode_print_call(const ambit__gpucode_job *j, const char *name, const char *type,
                               int n)
{
  if (j->dialect->has_lanes)
    ambit__print(j->t, "%s<%d>(", name, n);
  else
    ambit__print(j->t, "%s%s%s_%d(", name, type ? "_" : "", type ? type : "", n);
}

void ambit__gpucode_emit_values(const ambit__gpucode_job *j)
{
  const ambit__scope s = ambit__gpucode_scope(j);

  for (int i = 0; i < j->rule->nparams; i++)
    if (ambit__gpucode_is_value(j, i))
      ambit__line(j->w, "const %s %s_v = *%s_mem;", ambit__gpucode_type(j, i), name_of(j, i),
                  name_of(j, i));
  ambit__hoists_emit(&j->hoists, &s, j->w);
}

/* ---- addresses ---- */

/* "u_m1", "u_p2": the distance to a neighbour along an axis whose rows wrap. */
static void print_neighbour(const ambit__gpucode_job *j, int param, int distance)
{
  ambit__print(j->t, "%s_%c%d", name_of(j, param), distance < 0 ? 'm' : 'p', abs(distance));
}

static void emit_neighbour(const ambit__gpucode_job *j, int param, int distance)
{
  const int x = j->group->ndims - 1, n = abs(distance);

  ambit__line_begin(j->w);
  ambit__print(j->t, "const %s ", j->integer);
  print_neighbour(j, param, distance);
  if (distance < 0)
    ambit__print(j->t, " = (y%d < %d ? extent%d - %d : -%d)", x, n, x, n, n);
  else
    ambit__print(j->t, " = (y%d < extent%d - %d ? %d : %d - extent%d)", x, x, n, n, n, x);
  if (!j->bind[param].contiguous) ambit__print(j->t, " * %s_s%d", name_of(j, param), x);
  ambit__line_end(j->w, ";");
}

static bool is_read_at(const ambit__param *p, int axis, int distance)
{
  for (int k = 0; k < p->nreads; k++)
    if (p->reads[k].offset[axis] == distance) return true;
  return false;
}

void ambit__gpucode_emit_wraps(const ambit__gpucode_job *j)
{
  const int x = j->group->ndims - 1;

  for (int i = 0; i < j->rule->nparams; i++) {
    const ambit__param *p = &j->rule->params[i];

    for (int n = -p->low[x]; j->bind[i].wraps_rows && n <= p->high[x]; n++)
      if (n && is_read_at(p, x, n)) emit_neighbour(j, i, n);
  }
}

/* On a sparse grid, the distance to the row of a read: "k2", or "u_k2" if cells are apart. Units of
 * several rows have a number for each slot, of their own rows too. */
static bool print_row(const ambit__gpucode_job *j, int param, int component, const int *offset)
{
  const ambit__chunk_form *form = j->group->form;
  const int *rows = j->plan->rows;
  const int view = form ? ambit__chunk_form_of(form, param, component) : -1;
  int k = view >= 0 ? ambit__chunk_form_column(form, j->group->ndims, view, offset) : -1;

  if (form && ambit__deal_rows(rows) > 1)
    k = k < 0 ? ambit__deal_own(rows, view, j->row)
              : ambit__deal_slot(form, j->group->ndims, rows, j->row, k);
  if (k < 0) return false;
  if (!j->bind[param].contiguous) ambit__print(j->t, "%s_", name_of(j, param));
  ambit__print(j->t, "k%d", k);
  return true;
}

void ambit__gpucode_print_offset(const ambit__gpucode_job *j, int param, int component,
                                 const int *offset)
{
  const int ndims = j->group->ndims;
  bool any = print_row(j, param, component, offset);

  for (int d = j->group->form ? ndims - 1 : 0; d <= ndims; d++) {
    int k = d < ndims ? offset[d] : component;
    bool plain = d == ndims - 1 && j->bind[param].contiguous;

    if (!k) continue;
    if (d == ndims - 1 && j->bind[param].wraps_rows) {
      ambit__print(j->t, "%s", any ? " + " : "");
      print_neighbour(j, param, k);
      any = true;
      continue;
    }
    ambit__print(j->t, "%s", any ? (k < 0 ? " - " : " + ") : k < 0 ? "-" : "");
    k = k < 0 ? -k : k;
    if (k != 1 || plain) ambit__print(j->t, "%d%s", k, plain ? "" : " * ");
    if (!plain && d < ndims) ambit__print(j->t, "%s_s%d", name_of(j, param), d);
    if (d == ndims) ambit__print(j->t, "%s_c", name_of(j, param));
    any = true;
  }
  if (!any) ambit__print(j->t, "0");
}

static void read(const ambit__scope *s, ambit__text *t, const ambit__expr *e)
{
  const ambit__gpucode_job *j = s->user;

  if (!ambit__gpucode_is_field(j, e->index)) {
    ambit__print(t, "%s_v", name_of(j, e->index));
    return;
  }
  ambit__print(t, "%s_at[", name_of(j, e->index));
  ambit__gpucode_print_offset(j, e->index, e->component, e->offset);
  ambit__print(t, "]");
}

static void print_index(const ambit__scope *s, ambit__text *t, int axis)
{
  (void)s;
  ambit__print(t, "i%d", axis);
}

static void print_extent(const ambit__scope *s, ambit__text *t, int axis)
{
  (void)s;
  ambit__print(t, "extent%d", axis);
}

ambit__scope ambit__gpucode_scope(const ambit__gpucode_job *j)
{
  return (ambit__scope){.rule = j->rule,
                        .dialect = j->dialect,
                        .read = read,
                        .index = print_index,
                        .extent = print_extent,
                        .step = "step",
                        .hoists = &j->hoists,
                        .relaxed = !j->group->strict,
                        .user = j};
}

void ambit__gpucode_emit_places(const ambit__gpucode_job *j)
{
  const int ndims = j->group->ndims;

  for (int d = 0; d <= j->rule->max_axis && d < ndims; d++)
    ambit__line(j->w, "const %s i%d = offset%d + y%d;", j->integer, d, d, d);
  for (int i = 0; i < j->rule->nparams; i++) {
    const ambit__param *p = &j->rule->params[i];

    if (!ambit__gpucode_is_field(j, i)) continue;
    ambit__line_begin(j->w);
    ambit__print(j->t, "%s%s%s *%s_at = %s_mem + (%s_o", j->dialect->global,
                 p->is_written ? "" : "const ", ambit__gpucode_type(j, i), p->name, p->name,
                 p->name);
    for (int d = 0; d < ndims; d++)
      if (d == ndims - 1 && j->bind[i].contiguous)
        ambit__print(j->t, " + y%d", d);
      else
        ambit__print(j->t, " + y%d * %s_s%d", d, p->name, d);
    ambit__line_end(j->w, ");");
  }
}

/* ---- written components ---- */

static void declare_component(const ambit__gpucode_job *j, const ambit__scope *s, int i, int c)
{
  ambit__line_begin(j->w);
  ambit__print(j->t, "%s ", ambit__gpucode_type(j, i));
  ambit__name_out(s, j->t, i, c);
  if (j->rule->params[i].keeps[c]) {
    ambit__print(j->t, " = %s_at[", name_of(j, i));
    ambit__gpucode_print_offset(j, i, c, ambit__param_target(&j->rule->params[i], c));
    ambit__print(j->t, "]");
  }
  ambit__line_end(j->w, ";");
}

void ambit__gpucode_declare_results(const ambit__gpucode_job *j)
{
  const ambit__scope s = ambit__gpucode_scope(j);

  for (int i = 0; i < j->rule->nparams; i++) {
    if (!ambit__gpucode_is_reduction(j, i)) continue;
    ambit__line_begin(j->w);
    ambit__print(j->t, "%s %s_out = ", ambit__gpucode_type(j, i), name_of(j, i));
    ambit__emit_identity(&s, j->t, &j->rule->params[i]);
    ambit__line_end(j->w, ";");
  }
}

void ambit__gpucode_declare_outs(const ambit__gpucode_job *j)
{
  const ambit__scope s = ambit__gpucode_scope(j);

  for (int i = 0; i < j->rule->nparams; i++) {
    const ambit__param *p = &j->rule->params[i];

    for (int c = 0; ambit__gpucode_is_field(j, i) && c < p->components; c++)
      if (p->writes[c]) declare_component(j, &s, i, c);
  }
  ambit__gpucode_declare_results(j);
}

void ambit__gpucode_store_outs(const ambit__gpucode_job *j)
{
  const ambit__scope s = ambit__gpucode_scope(j);

  for (int i = 0; i < j->rule->nparams; i++)
    for (int c = 0; ambit__gpucode_is_field(j, i) && c < j->rule->params[i].components; c++) {
      if (!j->rule->params[i].writes[c]) continue;
      ambit__line_begin(j->w);
      ambit__print(j->t, "%s_at[", name_of(j, i));
      ambit__gpucode_print_offset(j, i, c, ambit__param_target(&j->rule->params[i], c));
      ambit__print(j->t, "] = ");
      ambit__name_out(&s, j->t, i, c);
      ambit__line_end(j->w, ";");
    }
}
