/* SPDX-License-Identifier: BSD-3-Clause */
/* join_pairs.c - what two steps have to do with each other: the values that both use, and whether
 * they can be one launch. */
#include "codegen/flat.h"
#include "runtime/program/join.h"

#include <stdio.h>
#include <string.h>

/* ---- order ---- */

static bool uses(const ambit__step *s, const ambit_scalar *scalar)
{
  for (int i = 0; s->kind == STEP_APPLY && i < s->n; i++)
    if (s->args[i].scalar == scalar) return true;
  return false;
}

/* A scalar that one of the steps sets and the other uses; NULL: none. */
static const ambit_scalar *common_scalar(const ambit__step *a, const ambit__step *b)
{
  for (int i = 0; a->kind == STEP_APPLY && i < a->n; i++) {
    const ambit_scalar *s = a->args[i].scalar;

    if (s && uses(b, s) && (ambit__step_sets(a, s) || ambit__step_sets(b, s))) return s;
  }
  return NULL;
}

bool ambit__steps_ordered(const ambit__step *a, const ambit__step *b)
{
  if (a->kind == STEP_CALL || b->kind == STEP_CALL) return true;
  for (int i = 0; i < a->n; i++) {
    const ambit_field *f = a->args[i].field;

    if (ambit__step_uses(b, f) && (ambit__step_changes(a, f) || ambit__step_changes(b, f)))
      return true;
  }
  return common_scalar(a, b) != NULL;
}

/* ---- savings ---- */

static bool reads(const ambit__param *q, int component)
{
  for (int i = 0; i < q->nreads; i++)
    if (q->reads[i].component == component) return true;
  return false;
}

/* Of a field that both have: reads and writes of a component one by one, less those together. */
static double saving_of(const ambit__param *a, const ambit__param *b)
{
  int saved = 0;

  for (int c = 0; c < a->components; c++) {
    const int ra = reads(a, c), rb = reads(b, c), wa = a->writes[c], wb = b->writes[c];

    saved += ra + rb + wa + wb - (ra || (rb && !wa)) - (wa || wb);
  }
  return saved * (double)ambit_type_size(a->type);
}

double ambit__steps_saving(const ambit__step *a, const ambit__step *b)
{
  double saved = 0;

  for (int i = 0; a->kind == STEP_APPLY && i < a->n; i++)
    for (int j = 0; b->kind == STEP_APPLY && j < b->n; j++)
      if (a->args[i].field && a->args[i].field == b->args[j].field)
        saved += saving_of(ambit__step_param(a, i), ambit__step_param(b, j));
  return saved;
}

/* ---- reasons ---- */

/* A field that a step has twice, and writes: its old value is still needed after the new one. */
static const ambit_field *doubled(const ambit__step *s)
{
  for (int i = 0; i < s->n; i++)
    for (int j = 0; j < i; j++)
      if (s->args[i].field && s->args[i].field == s->args[j].field &&
          (ambit__step_param(s, i)->is_written || ambit__step_param(s, j)->is_written))
        return s->args[i].field;
  return NULL;
}

/* A field that step `a` reads at neighbours and step `b` writes; NULL: none. */
static const ambit_field *met(const ambit__step *a, const ambit__step *b)
{
  for (int i = 0; i < a->n; i++)
    if (a->args[i].field && ambit__step_param(a, i)->reads_neighbours &&
        ambit__step_writes(b, a->args[i].field))
      return a->args[i].field;
  return NULL;
}

/* Of steps that run on the same cells. */
static bool values_allow(const ambit__step *a, const ambit__step *b, char *reason, size_t size)
{
  const ambit_field *f = met(b, a);
  const ambit_scalar *s = common_scalar(a, b);

  if (f) snprintf(reason, size, "the later one reads '%s' at neighbours", f->name);
  if (!f && (f = met(a, b)))
    snprintf(reason, size, "the earlier one reads '%s' at neighbours, the later one writes it",
             f->name);
  if (!f && s) snprintf(reason, size, "both use the scalar '%s', and one sets it", s->name);
  if (!f && !s && ((f = doubled(a)) || (f = doubled(b))))
    snprintf(reason, size, "'%s' is two parameters of one of them", f->name);
  return !f && !s;
}

static bool is_on_cells(const ambit__step *s)
{
  return s->kind == STEP_APPLY && s->box.ndims;
}

/* Code that compilers do not vectorise would keep the rest from being vectorised. */
static bool is_flat(const ambit_program *p, const ambit__step *s)
{
  return ambit__rule_is_flat(s->kernel->rule, !p->grid->context->settings.strict, s->box.ndims - 1);
}

bool ambit__steps_can_join(const ambit_program *p, const ambit__step *a, const ambit__step *b,
                           char *reason, size_t size)
{
  const char *why = NULL;
  ambit__box boxes[2];

  if (!is_on_cells(a) || !is_on_cells(b)) {
    snprintf(reason, size, "one of them does not run on cells");
    return false;
  }
  boxes[0] = ambit__step_region(p, a);
  boxes[1] = ambit__step_region(p, b);
  if (!ambit__box_equal(&boxes[0], &boxes[1]) || ambit__box_is_empty(&boxes[0]))
    why = "they update different cells";
  else if (a->every != b->every)
    why = "they run in different iterations";
  else if (a->kernel->rule->has_normal && b->kernel->rule->has_normal &&
           memcmp(a->kernel->rule->normal, b->kernel->rule->normal, sizeof(int[AMBIT_MAX_DIMS])))
    why = "they are applied to different faces";
  else if (ambit__rule_spreads(a->kernel->rule) || ambit__rule_spreads(b->kernel->rule))
    why = "one of them writes neighbours";
  else if (is_flat(p, a) != is_flat(p, b))
    why = "one of them is not vectorised";
  if (why) snprintf(reason, size, "%s", why);
  return !why && values_allow(a, b, reason, size);
}
