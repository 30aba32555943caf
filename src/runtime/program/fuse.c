/* SPDX-License-Identifier: BSD-3-Clause */
/* fuse.c - chooses the number of iterations that one launch computes, and builds its function. */
#include "runtime/program/fuse.h"

#include "base/log.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 16 };

/* A fused launch must be estimated to be faster by this factor. */
static const double GAIN = 1.1;

/* ---- conditions ---- */

static ambit__device *device_of(const ambit_program *p)
{
  return p->grid->context->engines[p->grid->placement.engine[0]].device;
}

bool ambit__fuse_can(const ambit_program *p)
{
  return p->grid->nparts == 1 && p->grid->context->net->size == 1 &&
         device_of(p)->backend->estimate;
}

static const char *refuse_early(const ambit_program *p)
{
  if (ambit__options_checks(p->grid->context)) return "launches are checked";
  for (size_t i = 0; i < p->nsteps; i++)
    if (p->steps[i].kind == STEP_APPLY && p->applies[i].functions &&
        p->applies[i].functions[0]->ignores_stop)
      return "a kernel is registered code";
  return NULL;
}

/* ---- the function ---- */

static const ambit_field *field_of(const ambit_program *p, const ambit__fuse_plan *plan, int slot)
{
  return p->fields[slot < p->nfields ? slot : plan->spare_of[slot - p->nfields]];
}

static ambit__param param_of(const ambit_program *p, const ambit__fused *f, int operand)
{
  static const bool all[32] = {0};
  const ambit__fuse_operand *o = &f->plan.operands[operand];
  ambit__param q = {.name = f->names[operand], .kind = PARAM_VALUE, .components = 1};

  if (o->slot < 0) {
    q.type = p->steps[o->step].kernel->rule->params[o->arg].type;
    return q;
  }
  q.kind = PARAM_FIELD;
  q.type = field_of(p, &f->plan, o->slot)->type;
  q.components = field_of(p, &f->plan, o->slot)->components;
  q.is_vector = q.components > 1;
  q.writes = q.keeps = all;
  for (int v = 0; v < f->plan.pipe.nvalues; v++)
    q.is_written |= f->plan.pipe.values[v].target == operand;
  return q;
}

/* The group of the pipeline in f->plan. */
static void make_group(const ambit_program *p, ambit__fused *f)
{
  f->rule = (ambit__rule){.name = "fused",
                          .file = "",
                          .text = "",
                          .params = f->params,
                          .nparams = f->plan.noperands,
                          .max_axis = -1};
  for (int i = 0; i < f->plan.noperands; i++) {
    const int slot = f->plan.operands[i].slot;
    const ambit_field *field = slot < 0 ? NULL : field_of(p, &f->plan, slot);

    snprintf(f->names[i], sizeof f->names[i], "a%d", i);
    f->params[i] = param_of(p, f, i);
    f->bind[i] = (ambit__binding){
        .is_field = field != NULL,
        .contiguous = field && (field->order == AMBIT_SOA || field->components == 1)};
  }
  f->step = (ambit__group_step){.rule = &f->rule, .bind = f->bind};
  f->group = (ambit__group){.nsteps = 1,
                            .steps = &f->step,
                            .depth = f->plan.depth,
                            .pipeline = &f->plan.pipe,
                            .ndims = p->grid->box.ndims,
                            .strict = p->grid->context->settings.strict};
  for (int d = 0; d < p->grid->box.ndims; d++)
    f->group.cells[d] = p->grid->box.hi[d];
}

static double estimate_step(const ambit_program *p, size_t step)
{
  const ambit__step *s = &p->steps[step];
  const ambit__box *region = &p->applies[step].region;
  ambit__binding bind[AMBIT_MAX_PARAMS];
  ambit__group_step gs = {.rule = s->kernel->rule, .bind = bind};
  ambit__group g = {.nsteps = 1, .steps = &gs, .depth = 1, .ndims = region->ndims};

  ambit__step_bind(p, s, region, bind);
  for (int d = 0; d < region->ndims; d++)
    g.cells[d] = region->hi[d] - region->lo[d];
  g.strict = p->grid->context->settings.strict;
  return device_of(p)->backend->estimate(device_of(p), &g);
}

/* ns per cell of one iteration, step by step. */
static double estimate_steps(const ambit_program *p)
{
  double ns = 0;

  for (size_t i = 0; i < p->nsteps; i++)
    if (p->steps[i].kind == STEP_APPLY && p->applies[i].region.ndims) ns += estimate_step(p, i);
  return ns;
}

const char *ambit__fuse_group(const ambit_program *p, int depth, ambit__fused *f)
{
  const char *why;

  free(f->plan.after);
  why = ambit__fuse_pipeline(p, depth, &f->plan);
  if (!why) make_group(p, f);
  return why;
}

/* Makes the plan of a depth. Returns its estimated time, or less than 0 with the reason. */
static double try_depth(const ambit_program *p, int depth, ambit__fused *f, const char **why)
{
  double ns;

  *why = ambit__fuse_group(p, depth, f);
  if (*why) return -1;
  ns = device_of(p)->backend->estimate(device_of(p), &f->group);
  if (ns < 0) *why = "no strategy of the device can fuse it";
  return ns;
}

/* Finds the best depth, if possible one that works for all values of the fields. Returns the
 * reason if there is none. */
static const char *choose(const ambit_program *p, ambit__fused *f)
{
  const int forced = p->grid->context->settings.depth;
  const char *why = refuse_early(p), *last;
  double best = -1;
  int depth = 0;

  if (why) return why;
  if (forced > 1) return try_depth(p, forced, f, &last) < 0 ? last : NULL;
  for (int k = 2; k <= MOST_DEPTH; k++) {
    const double ns = try_depth(p, k, f, &last);

    if (ns < 0 && !why) why = last;
    if (ns < 0 || (depth && ns >= best)) continue;
    best = ns;
    depth = k;
  }
  if (!depth) return why;
  if (best * GAIN > estimate_steps(p)) return "no depth is estimated to be faster";
  return try_depth(p, depth, f, &last) < 0 ? last : NULL;
}

/* ---- buffers and arguments ---- */

static ambit_status make_spares(ambit_program *p, ambit__fused *f)
{
  ambit__device *dev = device_of(p);

  for (int i = 0; i < f->plan.nslots - p->nfields; i++) {
    f->spares[i].layout = p->fields[f->plan.spare_of[i]]->stores[0].layout;
    AMBIT_TRY(dev->backend->alloc(dev, f->spares[i].layout.bytes, &f->spares[i].layout,
                                  &f->spares[i].buffer));
  }
  return AMBIT_OK;
}

static ambit__store *store_of(const ambit_program *p, ambit__fused *f, int slot)
{
  return slot < p->nfields ? &p->fields[slot]->stores[0] : &f->spares[slot - p->nfields];
}

static void set_arguments(ambit_program *p, ambit__fused *f)
{
  for (int i = 0; i < f->plan.noperands; i++) {
    const ambit__fuse_operand *o = &f->plan.operands[i];

    if (o->slot >= 0)
      f->args[i].store = store_of(p, f, o->slot);
    else
      f->args[i] = p->applies[o->step].args[o->arg];
  }
}

/* ---- cells that no step computes ---- */

/* Whether two fields hold equal values in a box. */
static ambit_status compare_box(ambit_program *p, ambit_field *a, ambit_field *b,
                                const ambit__box *box, bool *same)
{
  ambit__queue *q = p->grid->context->engines[p->grid->placement.engine[0]].queue;
  const size_t bytes = ambit__layout_box_bytes(&a->stores[0].layout, box);
  unsigned char *values = ambit__new(ambit__program_errors(p), 2 * bytes + 1, 1);
  ambit_status s;

  if (!values) return AMBIT_ENOMEM;
  s = q->device->backend->read_box(q, values, &a->stores[0], box);
  if (!s) s = q->device->backend->read_box(q, values + bytes, &b->stores[0], box);
  if (!s && memcmp(values, values + bytes, bytes)) *same = false;
  free(values);
  return s;
}

/* Whether two fields are alike in all cells but those of a region. If this is not known, their
 * values there are compared. */
static ambit_status check_alike(ambit_program *p, ambit_field *a, ambit_field *b,
                                const ambit__box *region, bool *same)
{
  ambit__box rest[2 * AMBIT_MAX_DIMS];
  int n;

  if (a == b || ambit__fields_are_alike(a, b, region)) return AMBIT_OK;
  n = ambit__box_split(&p->grid->box, region, rest);
  for (int i = 0; *same && i < n; i++)
    AMBIT_TRY(compare_box(p, a, b, &rest[i], same));
  if (!*same) return AMBIT_OK;
  if (!a->likeness.id || !ambit__box_contains(region, &a->likeness.differs))
    a->likeness = (ambit__likeness){++p->grid->context->last_id, *region};
  b->likeness = a->likeness;
  return AMBIT_OK;
}

static bool writes_any(const ambit__step *s, const ambit__step *rotation)
{
  for (int k = 0; k < rotation->n; k++)
    if (ambit__step_writes(s, rotation->args[k].field)) return true;
  return false;
}

/* Compares all fields that a program rotates, outside the regions of the steps that write any. */
static ambit_status check_turns(ambit_program *p, bool *same)
{
  for (size_t i = 0; i < p->nsteps; i++)
    for (size_t w = 0; p->steps[i].kind == STEP_ROTATE && w < p->nsteps; w++)
      for (int k = 1; *same && writes_any(&p->steps[w], &p->steps[i]) && k < p->steps[i].n; k++)
        AMBIT_TRY(check_alike(p, p->steps[i].args[0].field, p->steps[i].args[k].field,
                              &p->applies[w].region, same));
  return AMBIT_OK;
}

ambit_status ambit__fuse_ready(ambit_program *p, const ambit__fused *f, bool *can)
{
  ambit__queue *q = p->grid->context->engines[p->grid->placement.engine[0]].queue;

  *can = true;
  if (!f->plan.needs_alike) return AMBIT_OK;
  AMBIT_TRY(check_turns(p, can));
  for (int i = 0; *can && i < f->plan.nslots - p->nfields; i++) {
    ambit__store spare = f->spares[i];

    AMBIT_TRY(q->device->backend->copy_box(q, &spare, &p->fields[f->plan.spare_of[i]]->stores[0],
                                           &p->grid->box, NULL));
  }
  return AMBIT_OK;
}

/* ---- launches ---- */

static void trade_buffers(ambit_program *p, ambit__fused *f)
{
  ambit__buffer *old[AMBIT__FUSE_SLOTS];

  for (int i = 0; i < f->plan.nslots; i++)
    old[i] = store_of(p, f, i)->buffer;
  for (int i = 0; i < f->plan.nslots; i++)
    store_of(p, f, i)->buffer = old[f->plan.after[i]];
}

ambit_status ambit__fuse_run(ambit_program *p, ambit__fused *f)
{
  ambit__queue *q = p->grid->context->engines[p->grid->placement.engine[0]].queue;
  const ambit__launch l = {.box = p->grid->box,
                           .extents = p->grid->box.hi,
                           .nargs = f->plan.noperands,
                           .args = f->args,
                           .step = p->iteration};

  AMBIT_TRY(q->device->backend->launch(q, f->function, &l));
  trade_buffers(p, f);
  return AMBIT_OK;
}

/* ---- making and freeing ---- */

static ambit_status build(ambit_program *p, ambit__fused *f)
{
  AMBIT_TRY(make_spares(p, f));
  AMBIT_TRY(device_of(p)->backend->build(device_of(p), &f->group, &f->function));
  set_arguments(p, f);
  ambit__log(&p->grid->context->settings, 1, "%d iterations at a time: %s", f->plan.depth,
             f->function->plan);
  return AMBIT_OK;
}

/* The same. A failure, of which a lack of memory for spare buffers is the likeliest, is no error:
 * iterations run one by one. */
static bool can_build(ambit_program *p, ambit__fused *f)
{
  ambit__errors *errors = ambit__program_errors(p);
  const bool waits = errors->waits;
  bool can;

  errors->waits = true; /* the user's handler is not called */
  can = !build(p, f);
  if (!can) {
    ambit__log(&p->grid->context->settings, 0, "iterations run one by one: %s",
               errors->text ? errors->text : "memory ran out");
    ambit__errors_clear(errors);
  }
  errors->waits = waits;
  return can;
}

ambit_status ambit__fuse_make(ambit_program *p, ambit__fused **out)
{
  ambit__fused *f;

  *out = NULL;
  if (p->grid->context->settings.depth == 1 || !ambit__fuse_can(p)) return AMBIT_OK;
  f = ambit__new(ambit__program_errors(p), 1, sizeof *f);
  if (!f) return AMBIT_ENOMEM;
  if (choose(p, f) || !can_build(p, f))
    ambit__fuse_free(p, f);
  else
    *out = f;
  return AMBIT_OK;
}

void ambit__fuse_free(ambit_program *p, ambit__fused *f)
{
  ambit__device *dev = device_of(p);

  if (f->function) dev->backend->discard(dev, f->function);
  for (int i = 0; i < AMBIT__FUSE_SPARES; i++)
    if (f->spares[i].buffer) dev->backend->release(dev, f->spares[i].buffer);
  free(f->plan.after);
  free(f);
}

const char *ambit__fuse_refusal(const ambit_program *p)
{
  ambit__fused *f = calloc(1, sizeof *f);
  const char *why = f ? choose(p, f) : "memory ran out";

  if (f) free(f->plan.after);
  free(f);
  return why;
}
