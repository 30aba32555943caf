/* SPDX-License-Identifier: BSD-3-Clause */
/* profiles.c - steps with profiles, fields on some axes of the grid (objects/profile.c).
 *
 * A step runs on the cells of all axes that one of its fields has. Fields on fewer axes are read as
 * if they had all. A field that is written has all axes of the step, or is the result of a
 * reduction over the others, or is carried along the other one (sweeping.h). A step on fewer axes
 * than the grid runs on every part, so that all copies of a cell get the same value; its reductions
 * into scalars count once.
 */
#include "runtime/program/sweeping.h"

#include <stdio.h>
#include <string.h>

bool ambit__step_has_profiles(const ambit__step *s)
{
  for (int i = 0; i < s->n; i++)
    if (s->args[i].field && s->args[i].field->dropped) return true;
  return false;
}

bool ambit__program_has_profiles(const ambit_program *p)
{
  for (size_t i = 0; i < p->nwritten; i++)
    if (ambit__step_has_profiles(&p->written[i])) return true;
  return false;
}

/* Whether a step of the program is more than a kernel that reads the field. */
static bool is_changed(const ambit_program *p, const ambit_field *f)
{
  for (size_t i = 0; i < p->nwritten; i++)
    if (ambit__step_effects(&p->written[i], f) &
        (p->written[i].kind == STEP_APPLY ? EFFECT_WRITES : EFFECT_USES))
      return true;
  return false;
}

bool ambit__step_changes_profiles(const ambit_program *p, const ambit__step *s)
{
  for (int i = 0; i < s->n; i++) {
    const ambit_field *f = s->args[i].field;

    if (f && f->dropped && (s->dropped || is_changed(p, f))) return true;
  }
  return false;
}

bool ambit__step_counts(const ambit_program *p, const ambit__step *s, int part)
{
  for (int d = 0; d < p->grid->box.ndims; d++)
    if (s->dropped >> d & 1 && p->grid->parts[part].lo[d] > 0) return false;
  return true;
}

/* "axes 0 and 2", "axis 1", "no axes" */
static void print_axes(const ambit_program *p, unsigned dropped, char *text, size_t size)
{
  int n = 0, left = 0;

  for (int d = 0; d < p->grid->box.ndims; d++)
    left += !(dropped >> d & 1);
  n = snprintf(text, size, !left ? "no axes" : left == 1 ? "axis" : "axes");
  for (int d = 0; d < p->grid->box.ndims; d++)
    if (!(dropped >> d & 1))
      n += snprintf(text + n, size - (size_t)n, " %d%s", d,
                    --left > 1  ? ","
                    : left == 1 ? " and"
                                : "");
}

/* ---- reductions onto fields ---- */

/* The parameter of an argument; -1: a table. */
static int param_of(const ambit__rule *rule, int arg)
{
  int tables = 0;

  for (; tables < rule->ntables && rule->tables[tables].position <= arg; tables++)
    if (rule->tables[tables].position == arg) return -1;
  return arg - tables;
}

int ambit__arguments_wanted(const ambit__rule *rule, int nargs, const ambit_arg *args,
                            unsigned *onto)
{
  int arg = 0, tables = 0;

  *onto = 0;
  for (int i = 0, n; i < rule->nparams; i += n) {
    const ambit__param *q = &rule->params[i];

    for (; tables < rule->ntables && rule->tables[tables].position == i + tables; tables++)
      arg++;
    for (n = 1; i + n < rule->nparams && rule->params[i + n].head == q->head;)
      n++;
    if (n > 1 && arg < nargs && args[arg].kind == AMBIT_ARG_FIELD && args[arg].field &&
        args[arg].field->components > 1) {
      *onto |= 1u << q->head;
      arg++;
    } else {
      arg += n;
    }
  }
  return arg + rule->ntables - tables;
}

bool ambit__arguments_fold(const ambit__rule *rule, int nargs, const ambit_arg *args)
{
  for (int i = 0; i < nargs; i++)
    if (args[i].kind == AMBIT_ARG_FIELD && param_of(rule, i) >= 0 &&
        rule->params[param_of(rule, i)].kind == PARAM_REDUCE)
      return true;
  return false;
}

ambit_status ambit__kernel_fold(ambit_kernel *k, const ambit_arg *args)
{
  for (int i = 0; i < k->rule->nparams; i++)
    if (args[i].kind == AMBIT_ARG_FIELD && k->rule->params[i].kind == PARAM_REDUCE)
      AMBIT_TRY(ambit__rule_onto(&k->context->errors, k->rule, i));
  return AMBIT_OK;
}

/* ---- checks ---- */

/* The axes that no field of the step has, but for results of reductions. */
static unsigned dropped_by(const ambit__step *s)
{
  unsigned dropped = ~0u;
  bool any = false;

  for (int i = 0; i < s->n; i++)
    if (s->args[i].field && !s->kernel->rule->params[i].is_folded) {
      dropped &= s->args[i].field->dropped;
      any = true;
    }
  return any ? dropped : 0;
}

static ambit_status check_offsets(const ambit_program *p, const ambit__step *s, int i)
{
  const ambit__param *q = &s->kernel->rule->params[i];
  char axes[60];

  for (int k = 0; k < q->nreads; k++)
    for (int d = 0; d < p->grid->box.ndims; d++) {
      if (!q->reads[k].offset[d] || !(s->args[i].field->dropped >> d & 1)) continue;
      print_axes(p, s->args[i].field->dropped, axes, sizeof axes);
      return ambit__step_raise_at(
          p, s->kernel->rule, q->reads[k].place,
          "this reads a neighbour along axis %d of field '%s', which has %s%s: its subscript there "
          "is 0",
          d, s->args[i].field->name, axes, strcmp(axes, "no axes") ? " only" : "");
    }
  return AMBIT_OK;
}

static ambit_status check_writes(const ambit_program *p, const ambit__step *s, int i)
{
  const ambit__rule *rule = s->kernel->rule;
  const ambit_field *f = s->args[i].field;
  char of_step[60], of_field[60];

  print_axes(p, s->dropped, of_step, sizeof of_step);
  print_axes(p, f->dropped, of_field, sizeof of_field);
  AMBIT_CHECK(!rule->params[i].is_folded || f->dropped & ~s->dropped, ambit__program_errors(p),
              AMBIT_EINVAL,
              "kernel %s: parameter '%s' is a %s over cells of %s, and field '%s' has all of them; "
              "give a scalar, or a field of fewer axes (ambit_field_create_on)",
              rule->name, rule->params[i].label, ambit__reduce_name(rule->params[i].reduce),
              of_step, f->name);
  AMBIT_CHECK(rule->params[i].is_folded || f->dropped == s->dropped || ambit__step_carries(s, i),
              ambit__program_errors(p), AMBIT_EPROGRAM,
              "kernel %s runs on the cells of %s and writes '%s', but field '%s' has %s%s: say "
              "how cells are combined, with sum, min or max before the parameter, or carry its "
              "value along the other axis (ambit_sweep)",
              rule->name, of_step, rule->params[i].label, f->name, of_field,
              strcmp(of_field, "no axes") ? " only" : "");
  AMBIT_CHECK(!rule->params[i].targets || !f->dropped, ambit__program_errors(p), AMBIT_EUNSUPPORTED,
              "kernel %s writes neighbours of field '%s', which has only some axes of the grid",
              rule->name, f->name);
  return AMBIT_OK;
}

ambit_status ambit__step_profile(const ambit_program *p, ambit__step *s)
{
  bool folds = false;

  for (int i = 0; i < s->n; i++)
    folds |= s->kernel->rule->params[i].is_folded;
  if (!s->box.ndims || !(folds || ambit__step_has_profiles(s))) return AMBIT_OK;
  s->dropped = dropped_by(s);
  for (int i = 0; i < s->n; i++) {
    if (!s->args[i].field) continue;
    AMBIT_TRY(check_offsets(p, s, i));
    if (s->kernel->rule->params[i].is_written) AMBIT_TRY(check_writes(p, s, i));
  }
  s->box = ambit__box_project(&s->box, s->dropped);
  return AMBIT_OK;
}
