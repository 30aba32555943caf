/* SPDX-License-Identifier: BSD-3-Clause */
/* copies.c - arrays that a step overwrites whatever they held, and steps that copy arrays only.
 *
 * A nest that copies new values back, u[i][j] = v[i][j], need not move them: the support code lets
 * the two fields change places (support/copies.c).
 */
#include "nest.h"

#include <string.h>

/* The parameter that an element goes to, if it is read or written at the cell itself. */
static param *own_param(step *s, const node *e)
{
  poly offsets[AXES];
  param *p;

  if (!e || !e->access || e->access->is_value || e->access->is_table) return NULL;
  p = port_step_param(s, e->access, offsets);
  for (int d = 0; p && d < s->naxes; d++)
    if (offsets[d].n) return NULL;
  return p;
}

static bool is_written_by(const step *s, const access *a)
{
  for (int i = 0; i < s->nwrites; i++)
    if (s->writes[i] == a) return true;
  return false;
}

/* A statement that every cell comes to and that sets an element: the assignment; else NULL. */
static node *assignment(const step *s, node *statement)
{
  node *e = statement->kind == S_EXPR ? statement->a : NULL;

  if (!e || e->kind != N_ASSIGN || strcmp(e->op, "=") != 0 || e->text) return NULL;
  return e->a->access && is_written_by(s, e->a->access) ? e : NULL;
}

typedef struct search {
  step *step;
  const param *param;
  int order; /* of the assignment */
  bool found;
} search;

/* Assignments of other steps of the nest do not count: their elements may be no parameters here. */
static bool search_reads(node *e, void *user)
{
  search *want = user;
  poly offsets[AXES];

  if (e->kind == N_ASSIGN && e->a->access && !is_written_by(want->step, e->a->access)) return false;
  if (e->kind == N_ASSIGN && e->text && !want->step->has_reductions) return false;
  if (e->access && !e->access->is_value && !e->access->is_table && e->access->is_read &&
      e->access->order < want->order)
    want->found |= port_step_param(want->step, e->access, offsets) == want->param;
  return !port_is_leaf_access(e);
}

/* Whether the cell is read before it is set. */
static bool is_read(step *s, const param *p, const access *set)
{
  search want = {s, p, set->order, false};

  port_walk(s->leaf->body, search_reads, &want);
  return want.found;
}

static bool is_every_cell(const step *s)
{
  for (int d = 0; d < s->naxes; d++)
    if (s->loop_of[d] >= 0 && s->nest->loops[s->loop_of[d]].step != 1) return false;
  return true;
}

/* Whether the array varies along all axes, in both. */
static bool have_all_axes(const step *s, const param *p, const param *q)
{
  for (int d = 0; d < s->naxes; d++)
    if (p->axis_of[d] < 0 || q->axis_of[d] < 0) return false;
  return true;
}

void port_find_copies(step *s)
{
  int ncopies = 0;

  if (!is_every_cell(s)) return;
  for (node *l = s->leaf->body->list; l; l = l->next) {
    node *e = assignment(s, l);
    param *to = e ? own_param(s, e->a) : NULL;
    const param *from;

    if (!to || to->kind != P_WRITE || is_read(s, to, e->a->access)) continue;
    to->is_fresh = true;
    from = own_param(s, port_bare(e->b));
    if (!from || from->kind != P_READ || from->type != to->type || to->copies ||
        port_bare(e->b)->type != e->a->type || !have_all_axes(s, to, from))
      continue;
    for (int i = 0; i < s->nparams; i++)
      if (s->params[i].copies == from) from = NULL;
    to->copies = from;
    ncopies += from != NULL;
  }
  if (s->has_reductions || ncopies != s->nwrites || s->nparams != 2 * ncopies)
    for (int i = 0; i < s->nparams; i++)
      s->params[i].copies = NULL;
}
