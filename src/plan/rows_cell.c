/* SPDX-License-Identifier: BSD-3-Clause */
/* rows_cell.c - the rule as a function of one cell, and the parameter lists that all functions
 * share.
 *
 * One function prints each list, either as parameters or as arguments, so the two cannot differ.
 */
#include "codegen/flat.h"
#include "nest/nest.h"
#include "plan/rows.h"

#include <stdio.h>
#include <string.h>

typedef ambit__rows_job job;

/* ---- names and lists ---- */

/* "v_out", "f_to3": the name of a written component with a stem. */
static void ambit__rows_print_component(const job *j, int i, const char *stem, int c)
{
  ambit__print(j->t, "%s_%s", ambit__rows_param(j, i)->name, stem);
  if (ambit__rows_param(j, i)->is_vector) ambit__print(j->t, "%d", c);
}

void ambit__rows_print_offset(const job *j, ambit__text *t, int i, int component, const int *offset)
{
  ambit__nest n;

  ambit__nest_begin(&n, j->group, &ambit__dialect_c);
  ambit__nest_print_offset(&n, t, &(ambit__access){i, component, offset});
  ambit__nest_free(&n);
}

void ambit__rows_print_invariants(const job *j, ambit__list_kind kind)
{
  for (int i = 0; i < j->rule->nparams; i++) {
    for (int k = 0; j->form && k < j->form->ncolumns; k++)
      if (ambit__chunk_form_uses(j->form, i, ambit__rows_param(j, i)->components, k))
        ambit__print(j->t, ", %s%s_k%d", kind == DECLARE ? "int64_t " : "",
                     ambit__rows_param(j, i)->name, k);
    for (int d = ambit__rows_first_stride(j); d < ambit__rows_end_stride(j, i); d++)
      ambit__print(j->t, ", %s%s_s%d", kind == DECLARE ? "int64_t " : "",
                   ambit__rows_param(j, i)->name, d);
    if (ambit__rows_is_field(j, i) && ambit__rows_param(j, i)->components > 1)
      ambit__print(j->t, ", %s%s_c", kind == DECLARE ? "int64_t " : "",
                   ambit__rows_param(j, i)->name);
    if (ambit__rows_is_value(j, i))
      ambit__print(j->t, ", %s%s%s_v", kind == DECLARE ? ambit__rows_type_of(j, i) : "",
                   kind == DECLARE ? " " : "", ambit__rows_param(j, i)->name);
  }
  for (int i = 0; i < j->hoists.n; i++)
    ambit__print(j->t, ", %s%sonce%d",
                 kind == DECLARE ? ambit__dialect_c.types[j->hoists.values[i]->type] : "",
                 kind == DECLARE ? " " : "", i);
}

void ambit__rows_print_places(const job *j, ambit__list_kind kind)
{
  for (int i = 0; i < j->rule->nparams; i++) {
    if (!ambit__rows_is_field(j, i)) continue;
    ambit__print(j->t, ", ");
    if (kind == DECLARE)
      ambit__print(j->t, "%s%s *%s", ambit__rows_param(j, i)->is_written ? "" : "const ",
                   ambit__rows_type_of(j, i),
                   j->bind[i].shared || ambit__rows_param(j, i)->is_written ? "" : "restrict ");
    ambit__print(j->t, "%s_at", ambit__rows_param(j, i)->name);
  }
  for (int d = 0; j->rule->max_axis >= 0 && d < j->ndims; d++)
    ambit__print(j->t, ", %si%d", kind == DECLARE ? "int64_t " : "", d);
  if (j->tests) ambit__print(j->t, ", %sinside", kind == DECLARE ? "int " : "");
}

void ambit__rows_print_accumulators(const job *j, ambit__list_kind kind, const char *stem)
{
  bool total = stem[0] == 't';

  for (int i = 0; i < j->rule->nparams; i++) {
    if (!ambit__rows_is_reduction(j, i)) continue;
    ambit__print(j->t, ", ");
    if (kind == DECLARE)
      ambit__print(j->t, "%s *",
                   total ? ambit__rows_total_type(j, i) : ambit__rows_part_type(j, i));
    ambit__print(j->t, "%s_%s", ambit__rows_param(j, i)->name, stem);
  }
}

void ambit__rows_each_output(const job *j, void (*f)(const job *, int i, int c, const void *),
                             const void *user)
{
  for (int i = 0; i < j->rule->nparams; i++)
    for (int c = 0; ambit__rows_is_field(j, i) && c < ambit__rows_param(j, i)->components; c++)
      if (ambit__rows_param(j, i)->writes[c]) f(j, i, c, user);
}

/* ---- the cell ---- */

/* "f_r3": the local with the fourth read of a field, in a rule with conditions. Loads come first:
 * compilers do not move them out of branches. */
static void print_loaded(const job *j, ambit__text *t, int i, int k)
{
  ambit__print(t, "%s_r%d", ambit__rows_param(j, i)->name, k);
}

static int number_of_read(const ambit__param *p, const ambit__expr *e)
{
  int k = 0;

  while (p->reads[k].component != e->component ||
         memcmp(p->reads[k].offset, e->offset, sizeof e->offset) != 0)
    k++;
  return k;
}

static void declare_loaded(const job *j, int i)
{
  const ambit__param *p = ambit__rows_param(j, i);

  for (int k = 0; ambit__rows_is_field(j, i) && k < p->nreads; k++) {
    ambit__line_begin(j->w);
    ambit__print(j->t, "const %s ", ambit__rows_type_of(j, i));
    print_loaded(j, j->t, i, k);
    ambit__print(j->t, " = %s_at[", p->name);
    ambit__rows_print_offset(j, j->t, i, p->reads[k].component, p->reads[k].offset);
    ambit__line_end(j->w, "];");
  }
}

static void read(const ambit__scope *s, ambit__text *t, const ambit__expr *e)
{
  const job *j = s->user;

  if (ambit__rows_is_field(j, e->index) && j->shares) {
    ambit__print(t, "h%d", ambit__shares_read(j->shares, e));
  } else if (ambit__rows_is_field(j, e->index) && j->flat) {
    print_loaded(j, t, e->index, number_of_read(ambit__rows_param(j, e->index), e));
  } else if (ambit__rows_is_field(j, e->index)) {
    ambit__print(t, "%s_at[", ambit__rows_param(j, e->index)->name);
    ambit__rows_print_offset(j, t, e->index, e->component, e->offset);
    ambit__print(t, "]");
  } else {
    ambit__print(t, "%s_v", ambit__rows_param(j, e->index)->name);
  }
}

static void declare_to(const job *j, int i, int c, const void *user)
{
  (void)user;
  ambit__print(j->t, ", %s *", ambit__rows_type_of(j, i));
  ambit__rows_print_component(j, i, "to", c);
}

static void declare_out(const job *j, int i, int c, const void *user)
{
  (void)user;
  ambit__line_begin(j->w);
  ambit__print(j->t, "%s ", ambit__rows_type_of(j, i));
  ambit__rows_print_component(j, i, "out", c);
  if (ambit__rows_param(j, i)->keeps[c]) {
    ambit__print(j->t, " = %s_at[", ambit__rows_param(j, i)->name);
    ambit__rows_print_offset(j, j->t, i, c, ambit__param_target(ambit__rows_param(j, i), c));
    ambit__print(j->t, "]");
  } else if (j->flat) {
    ambit__print(j->t, " = 0");
  }
  ambit__line_end(j->w, ";");
}

static void store_out(const job *j, int i, int c, const void *user)
{
  (void)user;
  ambit__line_begin(j->w);
  ambit__print(j->t, "*");
  ambit__rows_print_component(j, i, "to", c);
  ambit__print(j->t, " = ");
  ambit__rows_print_component(j, i, "out", c);
  ambit__line_end(j->w, ";");
}

static void declare_reduction(const job *j, const ambit__scope *s, int i)
{
  ambit__line_begin(j->w);
  ambit__print(j->t, "%s %s_out = ", ambit__rows_type_of(j, i), ambit__rows_param(j, i)->name);
  ambit__emit_identity(s, j->t, ambit__rows_param(j, i));
  ambit__line_end(j->w, ";");
}

void ambit__rows_fold(const job *j, const ambit__scope *s, int i, const char *star, const char *a,
                      const char *b, bool total)
{
  char to[320], from[320]; /* names have up to 240 characters */
  ambit_type type = ambit__rows_param(j, i)->type;

  snprintf(to, sizeof to, "%s%s_%s", star, ambit__rows_param(j, i)->name, a);
  snprintf(from, sizeof from, "%s_%s", ambit__rows_param(j, i)->name, b);
  if (total) type = ambit__type_total(type);
  ambit__line_begin(j->w);
  if (!total && ambit__reduce_is_magnitude(j->rule, i))
    ambit__print(j->t, "%s = ambit_fold_most_%s(%s, %s)", to, ambit__rows_tail(j, i), to, from);
  else
    ambit__emit_fold(s, j->t, ambit__rows_param(j, i), type, to, from);
  ambit__line_end(j->w, ";");
}

ambit__scope ambit__rows_scope_of(const job *j)
{
  return (ambit__scope){.rule = j->rule,
                        .dialect = &ambit__dialect_c,
                        .read = read,
                        .in_call = true,
                        .step = "call->step",
                        .inside = j->tests ? "inside" : NULL,
                        .compares = !j->form,
                        .instead = j->shares ? ambit__rows_print_ready : NULL,
                        .skip = j->shares ? ambit__rows_skip : NULL,
                        .hoists = &j->hoists,
                        .narrow = j->narrow,
                        .flat = j->flat,
                        .relaxed = !j->strict,
                        .partial = !j->strict && !j->narrow && !j->shares,
                        .own_calls = !j->strict && ambit__rule_calls_own(j->rule),
                        .user = j};
}

void ambit__rows_emit_cell(const job *j)
{
  const ambit__scope s = ambit__rows_scope_of(j);

  ambit__rows_emit_subscripts(j);
  ambit__print(j->t,
               "/* The rule, for one cell. */\nAMBIT_INLINE void cell(const ambit_call *call");
  ambit__rows_print_places(j, DECLARE);
  ambit__rows_print_invariants(j, DECLARE);
  ambit__rows_declare_shares(j);
  ambit__rows_declare_looks(j);
  ambit__rows_each_output(j, declare_to, NULL);
  ambit__rows_print_accumulators(j, DECLARE, "part");
  ambit__print(j->t, ")\n{\n");
  j->w->depth++;
  for (int i = 0; j->flat && !j->shares && i < j->rule->nparams; i++)
    declare_loaded(j, i);
  ambit__rows_each_output(j, declare_out, NULL);
  for (int i = 0; i < j->rule->nparams; i++)
    if (ambit__rows_is_reduction(j, i)) declare_reduction(j, &s, i);
  ambit__emit_stmts(&s, j->w, j->rule->body);
  ambit__rows_each_output(j, store_out, NULL);
  for (int i = 0; i < j->rule->nparams; i++)
    if (ambit__rows_is_reduction(j, i))
      ambit__line(j->w, "*%s_part = %s_out;", ambit__rows_param(j, i)->name,
                  ambit__rows_param(j, i)->name);
  ambit__close(j->w);
}
