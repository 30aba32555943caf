/* SPDX-License-Identifier: BSD-3-Clause */
/* turn.c - a copy of a rule for a grid whose axes have another order: one of them comes last.
 *
 *   turn 1 (axis 0):   u[a][b][c] -> u[b][c][a],   index(0) -> index(2),   index(2) -> index(1)
 */
#include "grid/box.h"
#include "kernel/rewrite.h"

#include <string.h>

typedef struct work {
  ambit__rewriting w; /* the first member */
  int turn, ndims;
} work;

static int axis_of(const work *k, int axis)
{
  return ambit__turned_axis(axis, k->turn, k->ndims);
}

static void turn_offset(const work *k, int *offset)
{
  int old[AMBIT_MAX_DIMS];

  memcpy(old, offset, sizeof old);
  for (int d = 0; d < k->ndims; d++)
    offset[axis_of(k, d)] = old[d];
}

static bool has_axis(const ambit__expr *e)
{
  return e->op == EXPR_INDEX || e->op == EXPR_EXTENT || e->op == EXPR_NORMAL;
}

static const ambit__expr *rewrite(ambit__rewriting *w, const ambit__expr *e)
{
  const work *k = (const work *)w;
  const ambit__expr *parts = ambit__rewriting_parts(w, e, rewrite);
  ambit__expr *copy;

  if (e->op != EXPR_READ && !has_axis(e) && !e->is_outside) return parts;
  copy = ambit__rewriting_take(w, sizeof *copy);
  if (!copy) return e;
  *copy = *parts;
  turn_offset(k, copy->offset);
  if (has_axis(e)) {
    copy->index = axis_of(k, e->index);
    if (copy->index > w->to->max_axis) w->to->max_axis = copy->index;
  }
  return copy;
}

bool ambit__rule_turns(const ambit__rule *rule)
{
  return !ambit__rule_spreads(rule) && !rule->uses_normal && !rule->has_normal;
}

ambit_status ambit__rule_turn(ambit__errors *errors, const ambit__rule *rule, int turn, int ndims,
                              ambit__rule **out)
{
  work k = {.turn = turn, .ndims = ndims};

  ambit__rewriting_begin(&k.w, errors, rule);
  if (!k.w.failed) k.w.to->max_axis = -1;
  for (int i = 0; i < rule->nparams && !k.w.failed; i++)
    for (int d = 0; d < ndims; d++)
      memcpy(k.w.to->params[i].crosses[axis_of(&k, d)], rule->params[i].crosses[d],
             sizeof rule->params[i].crosses[d]);
  return ambit__rewriting_end(&k.w, rewrite, "the order of axes in memory", out);
}
