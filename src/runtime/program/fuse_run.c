/* SPDX-License-Identifier: BSD-3-Clause */
/* fuse_run.c - builds the function of fused iterations, launches it, and trades buffers. */
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "runtime/program/cycle.h"

#include <stdlib.h>

/* ---- buffers and arguments ---- */

static ambit__store *spare_of(const ambit__fused *f, int part, int spare)
{
  return &f->spares[part * AMBIT__FUSE_SPARES + spare];
}

static ambit__store *store_of(const ambit_program *p, const ambit__fused *f, int part, int slot)
{
  return slot < p->nfields ? &p->fields[slot]->stores[part] : spare_of(f, part, slot - p->nfields);
}

static ambit_status make_spares(ambit_program *p, ambit__fused *f, int part)
{
  ambit__device *dev = ambit__engine_of(p->grid, part)->device;

  for (int i = 0; i < f->plan.nslots - p->nfields; i++) {
    const ambit__store *like = &p->fields[f->plan.spare_of[i]]->stores[part];
    ambit__store *spare = spare_of(f, part, i);

    spare->layout = like->layout;
    if (like->buffer)
      AMBIT_TRY(ambit__ask(dev, alloc, spare->layout.bytes, &spare->layout, &spare->buffer));
  }
  return AMBIT_OK;
}

static void set_arguments(ambit_program *p, ambit__fused *f, int part)
{
  for (int i = 0; i < f->plan.noperands; i++) {
    const ambit__fuse_operand *o = &f->plan.operands[i];
    ambit__argument *a = &f->args[part * AMBIT__FUSE_OPERANDS + i];

    if (o->slot >= 0)
      a->store = store_of(p, f, part, o->slot);
    else if (!o->points || p->steps[o->step].n > AMBIT__CHORE_VALUE)
      *a = p->applies[o->step]
               .args[part * p->steps[o->step].n + (o->points ? AMBIT__CHORE_VALUE : o->arg)];
  }
}

/* ---- building ---- */

static ambit_status allocate(ambit_program *p, ambit__fused *f)
{
  ambit__errors *errors = ambit__program_errors(p);
  const size_t parts = (size_t)p->grid->placement.n;
  const size_t engines = (size_t)p->grid->context->nengines;

  AMBIT_TAKE(errors, &f->memory, f->functions, engines);
  AMBIT_TAKE(errors, &f->memory, f->points, engines * AMBIT__FUSE_OPERANDS);
  AMBIT_TAKE(errors, &f->memory, f->args, parts * AMBIT__FUSE_OPERANDS);
  AMBIT_TAKE(errors, &f->memory, f->spares, parts * AMBIT__FUSE_SPARES);
  return AMBIT_OK;
}

static ambit_status build_function(ambit_program *p, ambit__fused *f, int part)
{
  const int engine = p->grid->placement.engine[part];
  ambit__device *dev = p->grid->context->engines[engine].device;

  if (f->functions[engine]) return AMBIT_OK;
  f->group.points = f->points + engine * AMBIT__FUSE_OPERANDS;
  for (int i = 0; i < f->plan.noperands; i++)
    if (f->plan.operands[i].points)
      f->points[engine * AMBIT__FUSE_OPERANDS + i] =
          p->applies[f->plan.operands[i].step].functions[engine];
  AMBIT_TRY(ambit__ask(dev, build, &f->group, &f->functions[engine]));
  ambit__log(&p->grid->context->settings, 1, "%d iterations at a time: %s", f->plan.depth,
             f->functions[engine]->plan);
  return AMBIT_OK;
}

static ambit_status build(ambit_program *p, ambit__fused *f)
{
  AMBIT_TRY(allocate(p, f));
  for (int k = 0; k < p->grid->placement.n; k++) {
    AMBIT_TRY(make_spares(p, f, k));
    if (!ambit__box_is_empty(&p->grid->parts[p->grid->first + k]))
      AMBIT_TRY(build_function(p, f, k));
    set_arguments(p, f, k);
  }
  return AMBIT_OK;
}

ambit_status ambit__fuse_build(ambit_program *p, ambit__fused *f, bool *can)
{
  ambit__errors *errors = ambit__program_errors(p);
  const bool waits = errors->waits;
  const double start = ambit__clock();

  errors->waits = true; /* the user's handler is not called */
  *can = !ambit__fuse_is_registered(p) && !build(p, f);
  f->built = ambit__clock() - start;
  if (errors->status) {
    ambit__log(&p->grid->context->settings, 0, "iterations run one by one: %s",
               errors->text ? errors->text : "memory ran out");
    ambit__errors_clear(errors);
  }
  errors->waits = waits;
  AMBIT_TRY(ambit__net_max(p->grid->context->net, &f->built, 1));
  return ambit__net_all(p->grid->context->net, can, 1);
}

void ambit__fuse_free(ambit_program *p, ambit__fused *f)
{
  for (int k = 0; k < p->grid->placement.n; k++) {
    const int engine = p->grid->placement.engine[k];
    ambit__device *dev = p->grid->context->engines[engine].device;

    for (int i = 0; f->spares && i < AMBIT__FUSE_SPARES; i++)
      if (spare_of(f, k, i)->buffer) ambit__ask(dev, release, spare_of(f, k, i)->buffer);
    if (!f->functions || !f->functions[engine]) continue;
    ambit__ask(dev, discard, f->functions[engine]);
    f->functions[engine] = NULL;
  }
  ambit__arena_free(&f->memory);
  ambit__fuse_plan_free(&f->plan);
  free(f);
}

/* ---- cells that no step computes ---- */

/* Whether a step writes a field of a rotation and no step computes the cells that it leaves out. */
static bool leaves_any(const ambit_program *p, size_t step, size_t rotation)
{
  const ambit__step *r = &p->steps[rotation];

  for (int k = 0; k < r->n; k++)
    if (ambit__step_writes(&p->steps[step], r->args[k].field))
      return !ambit__box_is_empty(&p->applies[step].region) && !ambit__fuse_is_placed(p, step);
  return false;
}

/* Compares all fields that a program rotates, outside the regions of the steps that write any. What
 * steps on a box do not compute, others do. */
static ambit_status check_turns(ambit_program *p, bool *same)
{
  for (size_t i = 0; i < p->nsteps; i++)
    for (size_t w = 0; p->steps[i].kind == STEP_ROTATE && w < p->nsteps; w++)
      for (int k = 1; *same && leaves_any(p, w, i) && k < p->steps[i].n; k++)
        AMBIT_TRY(ambit__fields_check_alike(p, p->steps[i].args[0].field, p->steps[i].args[k].field,
                                            &p->applies[w].region, same));
  return AMBIT_OK;
}

/* Spare buffers start as copies: cells that no step computes are not stored. */
static ambit_status fill_spares(ambit_program *p, const ambit__fused *f, int part)
{
  ambit__queue *q = ambit__engine_of(p->grid, part)->queue;

  for (int i = 0; i < f->plan.nslots - p->nfields; i++) {
    ambit__store *from = &p->fields[f->plan.spare_of[i]]->stores[part];

    if (from->buffer)
      AMBIT_TRY(ambit__do(q, copy, spare_of(f, part, i), from, &from->layout.own, NULL));
  }
  return AMBIT_OK;
}

ambit_status ambit__fuse_ready(ambit_program *p, const ambit__fused *f, bool *can)
{
  *can = true;
  if (!f->plan.needs_alike) return AMBIT_OK;
  AMBIT_TRY(check_turns(p, can));
  AMBIT_TRY(ambit__net_all(p->grid->context->net, can, 1));
  for (int k = 0; *can && k < p->grid->placement.n; k++)
    AMBIT_TRY(fill_spares(p, f, k));
  return AMBIT_OK;
}

/* ---- launches ---- */

static ambit_status launch(ambit_program *p, const ambit__fused *f, const ambit__operation *op,
                           int64_t times)
{
  for (int i = 0; i < op->npieces; i++) {
    const int part = op->pieces[i].part, engine = p->grid->placement.engine[part];
    ambit__queue *q = p->grid->context->engines[engine].queue;
    const ambit__launch l = {.box = op->pieces[i].box,
                             .extents = p->grid->box.hi,
                             .nargs = f->plan.noperands,
                             .args = f->args + part * AMBIT__FUSE_OPERANDS,
                             .step = p->iteration,
                             .times = times};

    AMBIT_TRY(ambit__do(q, launch, f->functions[engine], &l));
  }
  return AMBIT_OK;
}

ambit_status ambit__fuse_launch(ambit_program *p, ambit__fused *f, const ambit__operation *op)
{
  return launch(p, f, op, p->cycle->schedule.iterations);
}

ambit_status ambit__fuse_prepare(ambit_program *p, const ambit__cycle *c)
{
  for (size_t i = 0; ambit__flow_has_points(&c->fused->plan.flow) && i < c->schedule.n; i++)
    if (c->schedule.ops[i].kind == OP_FUSED) AMBIT_TRY(launch(p, c->fused, &c->schedule.ops[i], 0));
  return AMBIT_OK;
}

ambit_status ambit__fuse_note(ambit_program *p)
{
  const ambit__launch none = {.box.ndims = p->grid->box.ndims, .extents = p->grid->box.hi};

  for (size_t i = 0; p->cycle && p->cycle->fused && i < p->nsteps; i++)
    for (int k = 0; ambit__step_samples(&p->steps[i]) && k < p->grid->placement.n; k++) {
      const int engine = p->grid->placement.engine[k];
      ambit__queue *q = p->grid->context->engines[engine].queue;

      if (p->applies[i].functions[engine])
        AMBIT_TRY(ambit__do(q, launch, p->applies[i].functions[engine], &none));
    }
  return AMBIT_OK;
}

void ambit__fuse_trade(ambit_program *p, ambit__fused *f)
{
  ambit__buffer *old[AMBIT__FUSE_SLOTS];

  for (int k = 0; k < p->grid->placement.n; k++) {
    for (int i = 0; i < f->plan.nslots; i++)
      old[i] = store_of(p, f, k, i)->buffer;
    for (int i = 0; i < f->plan.nslots; i++)
      store_of(p, f, k, i)->buffer = old[f->plan.after[i]];
  }
}
