/* SPDX-License-Identifier: BSD-3-Clause */
/* print.c - writes a nest: one walk over its nodes, in the language of its table. */
#include "nest/nest.h"

#include "codegen/flat.h"
#include "grid/assignment.h"
#include "nest/strip/pairs.h"

#include <string.h>

/* ---- addresses ---- */

/* On a sparse grid, the distance to the row of an access: "k2" on a GPU, with the name of the field
 * in C and where its cells are apart. Units of several rows have a number for each slot, of their
 * own rows too. Returns false for the own row. */
static bool print_row(const ambit__nest *n, ambit__text *t, const ambit__nest_access *a)
{
  const ambit__chunk_form *form = n->group->form;
  const int ndims = n->group->ndims;
  const int view = form ? ambit__chunk_form_of(form, a->param, a->component) : -1;
  int k = view >= 0 ? ambit__chunk_form_column(form, ndims, view, a->offset) : -1;

  if (form && n->unit && ambit__assignment_rows(n->unit) > 1)
    k = k < 0 ? ambit__assignment_own(n->unit, view, n->row)
              : ambit__assignment_slot(form, ndims, n->unit, n->row, k);
  if (k < 0) return false;
  if (!n->dialect->kernel || !n->bind[a->param].contiguous)
    ambit__print(t, "%s_", ambit__nest_name(n, a->param));
  ambit__print(t, "k%d", k);
  return true;
}

void ambit__nest_print_offset(const ambit__nest *n, ambit__text *t, const ambit__nest_access *a)
{
  const char *name = ambit__nest_name(n, a->param);
  const ambit__binding *bind = &n->bind[a->param];
  const int ndims = n->group->ndims;
  bool any = print_row(n, t, a);

  for (int d = n->group->form ? ndims - 1 : 0; d <= ndims; d++) {
    const int by = d < ndims ? a->offset[d] : a->component, times = by < 0 ? -by : by;
    const bool plain =
        (d == ndims - 1 && bind->contiguous) || (d == ndims && ambit__nest_is_kept(n, a->param));

    if (!by) continue;
    if (d == ndims - 1 && ambit__binding_is_closed(bind)) {
      ambit__print(t, "%s%s_%c%d", any ? " + " : "", name, by < 0 ? 'm' : 'p', times);
      any = true;
      continue;
    }
    ambit__print(t, "%s", any ? (by < 0 ? " - " : " + ") : by < 0 ? "-" : "");
    if (times != 1 || plain) ambit__print(t, "%d%s", times, plain ? "" : " * ");
    if (!plain && d < ndims) ambit__print(t, "%s_s%d", name, d);
    if (!plain && d == ndims) ambit__print(t, "%s_c", name);
    any = true;
  }
  if (!any) ambit__print(t, "0");
}

const char *ambit__nest_distance(ambit__nest *n, const ambit__nest_access *a)
{
  ambit__text t = {0};

  ambit__nest_print_offset(n, &t, a);
  return ambit__nest_keep(n, &t);
}

/* "u_row + (u_s0 - 1) + x + l" */
const char *ambit__nest_pointer(ambit__nest *n, const ambit__nest_access *a)
{
  const char *name = ambit__nest_name(n, a->param), *distance = ambit__nest_distance(n, a);
  const char *at = ambit__nest_text(n, "%s_%s", name, a->x ? "row" : "at");

  if (strcmp(distance, "0") != 0) at = ambit__nest_text(n, "%s + (%s)", at, distance);
  if (!a->x) return at;
  if (n->bind[a->param].contiguous) return ambit__nest_text(n, "%s + %s", at, a->x);
  return ambit__nest_text(n, "%s + (%s) * %s_s%d", at, a->x, name, ambit__nest_last(n));
}

const char *ambit__nest_value(ambit__nest *n, const ambit__nest_access *a)
{
  if (a->x) return ambit__nest_text(n, "*(%s)", ambit__nest_pointer(n, a));
  return ambit__nest_text(n, "%s_at[%s]", ambit__nest_name(n, a->param),
                          ambit__nest_distance(n, a));
}

/* ---- the rule ---- */

/* A rule that is being written. */
typedef struct spot {
  ambit__nest *n;
  const ambit__node *rule;
} spot;

int ambit__nest_read_number(const ambit__param *p, const ambit__expr *e)
{
  int k = 0;

  while (k + 1 < p->nreads && (p->reads[k].component != e->component ||
                               memcmp(p->reads[k].offset, e->offset, sizeof e->offset) != 0))
    k++;
  return k;
}

static void read(const ambit__scope *s, ambit__text *t, const ambit__expr *e)
{
  const spot *here = s->user;
  ambit__nest *n = here->n;
  const ambit__param *p = &s->rule->params[e->index];

  if (here->rule && here->rule->of) {
    n->hooks.read(n, here->rule, t, e);
    return;
  }
  if (!ambit__nest_is_field(n, e->index))
    ambit__print(t, "%s_v", p->name);
  else if (n->hooks.read && n->hooks.read(n, here->rule, t, e))
    return;
  else if (n->loads_first)
    ambit__print(t, "%s_r%d", p->name, ambit__nest_read_number(p, e));
  else
    ambit__print(
        t, "%s",
        ambit__nest_value(n, &(ambit__nest_access){e->index, e->component, e->offset, NULL}));
}

static bool instead(const ambit__scope *s, ambit__text *t, const ambit__expr *e)
{
  const spot *here = s->user;

  return here->n->hooks.instead(here->n, here->rule, t, e);
}

static bool skip(const ambit__scope *s, const ambit__stmt *st)
{
  const spot *here = s->user;
  ambit__nest *n = here->n;

  return n->hooks.skip(n, here->rule, st);
}

static void set(const ambit__scope *s, ambit__writer *w, const ambit__stmt *st)
{
  const spot *here = s->user;

  here->n->hooks.set(here->n, w, st);
}

static ambit__scope scope_of(const spot *here)
{
  const bool staged = here->rule && here->rule->of;
  ambit__nest *n = here->n;
  const bool in_c = !n->dialect->kernel && !n->group->checks, relaxed = !n->group->strict;

  return (ambit__scope){.rule = staged ? here->rule->of : n->rule,
                        .dialect = n->dialect,
                        .read = read,
                        .step = staged && here->rule->step ? here->rule->step : "step",
                        .inside = here->rule && here->rule->inside >= 0 ? "inside" : NULL,
                        .along = n->along,
                        .compares = !n->group->form,
                        .instead = n->hooks.instead ? instead : NULL,
                        .skip = n->hooks.skip ? skip : NULL,
                        .set = n->hooks.set ? set : NULL,
                        .hoists = staged ? NULL : &n->hoists,
                        .narrow = n->is_narrow ? &n->narrow : NULL,
                        .flat = n->flat,
                        .selects = n->dialect->kernel && !n->group->checks,
                        .registers = staged || n->registers,
                        .relaxed = relaxed,
                        .partial = in_c && relaxed && !n->is_narrow,
                        .row = here->rule ? here->rule->row : 0,
                        .own_calls =
                            in_c && relaxed && ambit__rule_calls_own(n->rule, n->group->ndims - 1),
                        .user = here};
}

static void print_rule(ambit__nest *n, ambit__writer *w, const ambit__node *node)
{
  const spot here = {n, node};
  const ambit__scope s = scope_of(&here);

  ambit__emit_stmts(&s, w, s.rule->body);
}

const char *ambit__nest_expr(ambit__nest *n, const ambit__node *rule, const ambit__expr *e)
{
  const spot here = {n, rule};
  const ambit__scope s = scope_of(&here);
  ambit__text t = {0};

  ambit__emit_expr(&s, &t, e);
  return ambit__nest_keep(n, &t);
}

const char *ambit__nest_row_part(ambit__nest *n, int i, int row, const char *const *index)
{
  const spot here = {n, NULL};
  const ambit__scope s = scope_of(&here);
  ambit__text t = {0};

  ambit__hoists_print_row(&n->hoists, &s, &t, i, row, index);
  return ambit__nest_keep(n, &t);
}

const char *ambit__nest_number(ambit__nest *n, ambit_type type, double x)
{
  ambit__text t = {0};

  ambit__emit_constant(n->dialect, &t, type, ambit__value_of(x, type));
  return ambit__nest_keep(n, &t);
}

const char *ambit__nest_identity(ambit__nest *n, const ambit__param *p)
{
  ambit__text t = {0};

  ambit__emit_constant(n->dialect, &t, p->type, ambit__reduce_identity(p));
  return ambit__nest_keep(n, &t);
}

const char *ambit__nest_callee(ambit__nest *n, const char *name, const char *type, int cells)
{
  if (n->dialect->has_lanes) return ambit__nest_text(n, "%s<%d>", name, cells);
  return ambit__nest_text(n, "%s_%s_%d", name, type, cells);
}

/* ---- nodes ---- */

static void print_list(ambit__nest *n, ambit__writer *w, const ambit__node *list);

/* "#pragma omp simd simdlen(16) reduction(+:s_part) reduction(r_join:r_part)" */
static void print_vector(ambit__nest *n, ambit__writer *w, const ambit__node *node)
{
  ambit__line_begin(w);
  ambit__print(&w->text, "#pragma omp simd");
  if (node->cells) ambit__print(&w->text, " simdlen(%d)", node->cells);
  for (int i = 0; node->folds && i < n->rule->nparams; i++) {
    const ambit__param *p = ambit__nest_param(n, i);

    if (!ambit__nest_is_reduction(n, i)) continue;
    if (p->reduce == REDUCE_SUM)
      ambit__print(&w->text, " reduction(+:%s_part)", p->name);
    else
      ambit__print(&w->text, " reduction(%s_join:%s_part)", p->name, p->name);
  }
  ambit__line_end(w, "");
}

/* "for (long y0 = lo0 + block * 4 + thread; y0 < hi0; y0 += blocks * 4)" */
static void print_loop(ambit__nest *n, ambit__writer *w, const ambit__node *node)
{
  const ambit__dialect *d = n->dialect;
  const bool launch = node->how == LOOP_LAUNCH;
  const char *cast = launch && strcmp(node->type, n->integer) != 0 ? "(int)" : "";
  const int k = node->along;

  if (node->how == LOOP_VECTOR && !d->kernel) print_vector(n, w, node);
  if (node->rolled) ambit__line(w, "#pragma unroll 1");
  if (node->unrolled) ambit__line(w, "#pragma unroll");
  if (node->batched) ambit__line(w, "#pragma unroll %d", node->batched);
  ambit__line_begin(w);
  ambit__print(&w->text, "for (");
  if (node->type) ambit__print(&w->text, "%s %s = ", node->type, node->name);
  if (node->from) ambit__print(&w->text, "%s", node->from);
  if (launch && node->from) ambit__print(&w->text, " + ");
  if (launch && node->threads > 1)
    ambit__print(&w->text, "%s * %d + %s", d->block[k], node->threads, d->thread[k]);
  else if (launch)
    ambit__print(&w->text, "%s%s", cast, d->block[k]);
  ambit__print(&w->text, "; %s %c %s;", node->name, node->by ? '>' : '<', node->below);
  if (launch || !node->step || *node->step) ambit__print(&w->text, " %s", node->name);
  if (launch && node->threads > 1)
    ambit__print(&w->text, " += %s * %d", d->blocks[k], node->threads);
  else if (launch)
    ambit__print(&w->text, " += %s%s", cast, d->blocks[k]);
  else if (!node->step)
    ambit__print(&w->text, "++");
  else if (*node->step)
    ambit__print(&w->text, " %c= %s", node->by ? node->by : '+', node->step);
  ambit__line_end(w, ") {");
  w->depth++;
  print_list(n, w, node->body);
  ambit__close(w);
}

static void print_if(ambit__nest *n, ambit__writer *w, const ambit__node *node)
{
  if (node->value && node->unless)
    ambit__open(w, n->dialect->has_lanes ? "if (!%s)" : "AMBIT_UNLESS(%s)", node->value);
  else if (node->value)
    ambit__open(w, "if (%s)", node->value);
  else if (node->name)
    ambit__open(w, "/* %s */", node->name);
  else {
    ambit__line(w, "{");
    w->depth++;
  }
  print_list(n, w, node->body);
  ambit__close(w);
  if (!node->other) return;
  ambit__open(w, "else");
  print_list(n, w, node->other);
  ambit__close(w);
}

static void print_load(ambit__nest *n, ambit__writer *w, const ambit__node *node)
{
  ambit__line(w, "%s %s = %s;", node->type, node->name,
              node->value ? node->value : ambit__nest_value(n, &node->access));
}

/* "v_at[0] = v_out", "t_at[0] += t_out", "ambit_put(v_row + x, v_b0_0, (int)sizeof v_b0_0)" */
static void print_store(ambit__nest *n, ambit__writer *w, const ambit__node *node)
{
  const ambit__nest_access *a = &node->access;
  const ambit__param *p = ambit__nest_param(n, a->param);
  const char *value = node->value ? node->value : ambit__nest_name_of(n, "out", p, a->component);

  ambit__line_begin(w);
  if (n->bind[a->param].onto)
    ambit__emit_fold(n->dialect, &w->text, p, ambit__nest_stored(n, a->param),
                     ambit__nest_value(n, a), value);
  else if (node->store == STORE_CELL)
    ambit__print(&w->text, "%s = %s", ambit__nest_value(n, a), value);
  else
    ambit__print(&w->text, "ambit_%s(%s, %s, (int)sizeof %s)",
                 node->store == STORE_NONTEMPORAL ? "put_nontemporal" : "put",
                 ambit__nest_pointer(n, a), value, value);
  ambit__line_end(w, ";");
}

/* "r_total = ambit_fold_max_f32(r_total, r_out)"; of a strict sum, "r_total =
 * ambit_part_add(r_total, r_words, r_out)". */
static void print_kernel_fold(ambit__nest *n, ambit__writer *w, const ambit__node *node)
{
  const ambit__param *p = ambit__nest_param(n, node->access.param);

  ambit__print(&w->text, "%s = ", node->name);
  if (ambit__group_is_exact(n->group, node->access.param)) {
    ambit__print(&w->text, "ambit_part_add(%s, %s_words, %s)", node->name, p->name, node->value);
    return;
  }
  ambit__print_fold_name(&w->text, p, node->joins);
  ambit__print(&w->text, "(%s, %s)", node->name, node->value);
}

static void print_fold(ambit__nest *n, ambit__writer *w, const ambit__node *node)
{
  ambit__line_begin(w);
  if (n->dialect->kernel)
    print_kernel_fold(n, w, node);
  else
    ambit__emit_fold(n->dialect, &w->text, ambit__nest_param(n, node->access.param), node->wide,
                     node->name, node->value);
  ambit__line_end(w, ";");
}

/* In C: minima, maxima and functions of the user as operators for vectors. */
static void print_join(ambit__nest *n, ambit__writer *w, int i)
{
  const ambit__param *p = ambit__nest_param(n, i);

  if (n->dialect->kernel || p->kind != PARAM_REDUCE || p->reduce == REDUCE_SUM) return;
  ambit__line_begin(w);
  ambit__print(&w->text, "#pragma omp declare reduction(%s_join:%s:", p->name,
               ambit__nest_type(n, i));
  ambit__emit_fold(n->dialect, &w->text, p, p->type, "omp_out", "omp_in");
  ambit__print(&w->text, ") initializer(omp_priv = %s", ambit__nest_identity(n, p));
  ambit__line_end(w, ")");
}

static void print_shared(ambit__nest *n, ambit__writer *w)
{
  const spot here = {n, NULL};
  const ambit__scope s = scope_of(&here);

  for (int i = 0; i < n->rule->nparams; i++)
    print_join(n, w, i);
  ambit__hoists_emit(&n->hoists, &s, w);
}

/* "float u_w[4][3][6];" */
static void print_array(ambit__nest *n, ambit__writer *w, const ambit__node *node)
{
  ambit__line_begin(w);
  ambit__print(&w->text, "%s%s %s", node->shared ? n->dialect->shared : "", node->type, node->name);
  for (int k = 0; k < 4 && node->size[k]; k++)
    ambit__print(&w->text, "[%d]", node->size[k]);
  ambit__line_end(w, node->zeroed ? " = {0};" : ";");
}

static void read_word(const ambit__scope *s, ambit__text *t, const ambit__expr *e, const int *word)
{
  const spot *here = s->user;

  here->n->hooks.word(here->n, t, e, word);
}

static void print_words(ambit__nest *n, ambit__writer *w, const ambit__node *node)
{
  const spot here = {n, node};
  const ambit__scope s = scope_of(&here);

  if (!ambit__pairs_emit(n->pairs, &s, w, read_word)) n->failed = true;
}

static void print_list(ambit__nest *n, ambit__writer *w, const ambit__node *list)
{
  for (const ambit__node *node = list; node; node = node->next)
    switch (node->kind) {
    case NODE_LOOP: print_loop(n, w, node); break;
    case NODE_IF: print_if(n, w, node); break;
    case NODE_LOAD: print_load(n, w, node); break;
    case NODE_STORE: print_store(n, w, node); break;
    case NODE_RULE: print_rule(n, w, node); break;
    case NODE_FOLD: print_fold(n, w, node); break;
    case NODE_SHARED: print_shared(n, w); break;
    case NODE_ARRAY: print_array(n, w, node); break;
    case NODE_WORDS: print_words(n, w, node); break;
    case NODE_NOTE: ambit__line(w, "/* %s */", node->value); break;
    case NODE_DO: ambit__line(w, "%s;", node->value); break;
    }
}

void ambit__nest_print(ambit__nest *n, ambit__writer *w)
{
  print_list(n, w, n->first);
  if (n->failed) w->text.failed = true;
}
