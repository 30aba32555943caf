/* SPDX-License-Identifier: BSD-3-Clause */
/* margins.c - memory around the own cells of every field for its halo and ghost cells. */
#include "base/memory.h"
#include "runtime/program/cycle.h"

#include <stdlib.h>

/* A field has the same margins on all parts, so each end of a channel knows the layout at the
 * other. */
static ambit_status widen_for(const ambit__field_halo *h, bool *changed)
{
  const ambit_grid *g = h->field->grid;
  int64_t low[AMBIT_MAX_DIMS] = {0}, high[AMBIT_MAX_DIMS] = {0};

  for (int i = 0; i < g->nparts; i++) {
    const ambit__box own = ambit__field_part(h->field, i), reach = ambit__field_halo_reach(h, i);

    for (int d = 0; !ambit__box_is_empty(&own) && d < g->box.ndims; d++) {
      if (own.lo[d] - reach.lo[d] > low[d]) low[d] = own.lo[d] - reach.lo[d];
      if (reach.hi[d] - own.hi[d] > high[d]) high[d] = reach.hi[d] - own.hi[d];
    }
  }
  for (int k = 0; k < g->placement.n; k++)
    AMBIT_TRY(ambit__field_widen(h->field, k, low, high, changed));
  return AMBIT_OK;
}

/* The larger margins of each axis. */
static void take_margins(const ambit_field *f, int part, int64_t *low, int64_t *high)
{
  const ambit__layout *l = &f->stores[part].layout;

  for (int d = 0; d < f->grid->box.ndims; d++) {
    if (l->margin_lo[d] > low[d]) low[d] = l->margin_lo[d];
    if (l->margin_hi[d] > high[d]) high[d] = l->margin_hi[d];
  }
}

/* Fields that rotate buffers must have the same margins, and so must all fields of a cycle that
 * each part computes in one launch, which loads some more cells. */
static ambit_status widen_alike(const ambit_program *p, const int *class, int part, bool *changed)
{
  const ambit__flow *fused = p->cycle && p->cycle->fused ? &p->cycle->fused->plan.flow : NULL;

  for (int c = 0; c < (fused ? 1 : p->nfields); c++) {
    int64_t low[AMBIT_MAX_DIMS] = {0}, high[AMBIT_MAX_DIMS] = {0};

    for (int d = 0; fused && d < p->grid->box.ndims; d++) {
      low[d] = fused->margin[d][0];
      high[d] = fused->margin[d][1];
    }
    for (int i = 0; i < p->nfields; i++)
      if (fused || class[i] == c) take_margins(p->fields[i], part, low, high);
    for (int i = 0; i < p->nfields; i++)
      if (fused || class[i] == c)
        AMBIT_TRY(ambit__field_widen(p->fields[i], part, low, high, changed));
  }
  return AMBIT_OK;
}

/* Widens margins for the cells that a stage of a cycle reads or writes beyond the own cells. */
static ambit_status widen_for_stage(const ambit_program *p, int stage, bool *changed)
{
  const ambit__flow_stage *st = &p->cycle->flow.stages[stage];
  const ambit__step *s = &p->steps[st->step];

  for (int i = 0; s->kind == STEP_APPLY && i < s->n; i++) {
    const ambit__param *q = &s->kernel->rule->params[i];
    int64_t low[AMBIT_MAX_DIMS] = {0}, high[AMBIT_MAX_DIMS] = {0};

    if (!s->args[i].field) continue;
    for (int d = 0; d < p->grid->box.ndims - ambit__field_closes_rows(p, s->args[i].field); d++) {
      low[d] = st->beyond.n[d][0] + q->low[d];
      high[d] = st->beyond.n[d][1] + q->high[d];
    }
    for (int k = 0; k < p->grid->placement.n; k++)
      AMBIT_TRY(ambit__field_widen(s->args[i].field, k, low, high, changed));
  }
  return AMBIT_OK;
}

static ambit_status widen_all(const ambit_program *p, bool *any)
{
  bool changed;
  int *class;
  ambit_status s = AMBIT_OK;

  for (int i = 0; i < p->halos.n; i++)
    AMBIT_TRY(widen_for(&p->halos.list[i], any));
  for (int i = 0; p->cycle && i < p->cycle->halos.n; i++)
    AMBIT_TRY(widen_for(&p->cycle->halos.list[i], any));
  for (int i = 0; p->cycle && i < p->cycle->flow.nstages; i++)
    AMBIT_TRY(widen_for_stage(p, i, any));
  AMBIT_NEW(ambit__program_errors(p), class, (size_t)p->nfields + 1);
  ambit__program_turns(p, class);
  do { /* layouts may have more than is asked for */
    changed = false;
    for (int k = 0; !s && k < p->grid->placement.n; k++)
      s = widen_alike(p, class, k, &changed);
    *any |= changed;
  } while (!s && changed);
  free(class);
  return s;
}

/* Another program may rotate a field that was widened with one that was not, or show it on another
 * grid. So all other programs are unsealed, on all processes if on one. */
void ambit__program_unseal_others(const ambit_program *p)
{
  for (ambit__link *l = p->grid->context->grids.next; l->owner; l = l->next) {
    const ambit_grid *g = l->owner;

    if (g != p->grid && (g->active || p->grid->active)) continue; /* no views of each other */
    for (ambit__link *i = g->programs.next; i->owner; i = i->next)
      if (i->owner != p) ambit__program_unseal(i->owner);
  }
}

ambit_status ambit__program_widen(ambit_program *p)
{
  bool changed = false;
  ambit_status s = p->grid->active ? AMBIT_OK : widen_all(p, &changed); /* sparse: ..._chunks */

  if (!s) s = ambit__net_any(p->grid->context->net, &changed, 1);
  if (s || changed) ambit__program_unseal_others(p);
  return s;
}
