/* SPDX-License-Identifier: BSD-3-Clause */
/* fuse.c - chooses the number of iterations that one launch computes. */
#include "runtime/program/cycle.h"

#include "base/memory.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 16 };

/* A fused launch must be estimated to be faster by this factor. */
static const double GAIN = 1.1;

/* ns of a launch beside those of its cells, of several iterations and of a step, fitted to
 * measurements on an H200: the estimates of the former count the way of values from memory and
 * back. A step on 32^3 cells takes 3.7 us. */
static const double LAUNCH_NS = 2500, STEP_NS = 3700;

/* ---- conditions ---- */

/* The device whose estimates count: that of the first part with cells. NULL: there is none. */
static ambit__device *device_of(const ambit_program *p)
{
  for (int i = 0; i < p->grid->placement.n; i++)
    if (!ambit__box_is_empty(&p->grid->parts[p->grid->first + i]))
      return ambit__engine_of(p->grid, i)->device;
  return NULL;
}

bool ambit__fuse_can(const ambit_program *p)
{
  if (p->grid->active) return false;
  for (int i = 0; i < p->grid->placement.n; i++)
    if (!ambit__box_is_empty(&p->grid->parts[p->grid->first + i]) &&
        !ambit__engine_of(p->grid, i)->device->backend->estimate)
      return false;
  return p->grid->placement.n > 0;
}

bool ambit__fuse_is_registered(const ambit_program *p)
{
  for (size_t i = 0; i < p->nsteps; i++)
    if (p->steps[i].kind == STEP_APPLY && p->applies[i].functions &&
        p->applies[i].functions[0]->ignores_stop)
      return true;
  return false;
}

static const char *refuse_early(const ambit_program *p)
{
  if (ambit__options_checks(p->grid->context)) return "the option nan or check is on";
  return ambit__fuse_is_registered(p) ? "a kernel is registered code" : NULL;
}

/* ---- the group ---- */

/* The largest part, or its cells that a step computes. */
static ambit__box largest(const ambit_program *p, const ambit__box *region)
{
  ambit__box best = {.ndims = region->ndims};

  for (int i = 0; i < p->grid->nparts; i++) {
    const ambit__box box = ambit__box_intersect(region, &p->grid->parts[i]);

    if (ambit__box_is_empty(&box)) continue;
    if (ambit__box_is_empty(&best) || ambit__box_volume(&box) > ambit__box_volume(&best))
      best = box;
  }
  return best;
}

static double cells_of(const ambit__group *g)
{
  double n = 1;

  for (int d = 0; d < g->ndims; d++)
    n *= (double)g->cells[d];
  return n > 1 ? n : 1;
}

static void set_cells(const ambit_program *p, const ambit__box *region, ambit__group *g)
{
  const ambit__box box = largest(p, region);

  for (int d = 0; d < box.ndims; d++)
    g->cells[d] = box.hi[d] - box.lo[d];
}

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
                            .strict = p->grid->context->settings.strict,
                            .preferred = ambit__program_cycle_plan(p)};
  set_cells(p, &p->grid->box, &f->group);
}

const char *ambit__fuse_group(const ambit_program *p, int depth, ambit__fused *f)
{
  const char *why;

  free(f->plan.after);
  why = ambit__fuse_pipeline(p, depth, &f->plan);
  if (!why) make_group(p, f);
  return why;
}

/* ---- estimates ---- */

/* ns per cell and iteration; 0 where no cells are. */
static double estimate(const ambit_program *p, const ambit__group *g)
{
  ambit__device *device = device_of(p);

  return device ? device->backend->estimate(device, g) : 0;
}

/* ns of a step on all its cells. */
static double estimate_step(const ambit_program *p, size_t step)
{
  const ambit__step *s = &p->steps[step];
  const ambit__box *region = &p->applies[step].region;
  ambit__binding bind[AMBIT_MAX_PARAMS];
  ambit__group_step gs = {.rule = s->kernel->rule, .bind = bind};
  ambit__group g = {.nsteps = 1, .steps = &gs, .depth = 1, .ndims = region->ndims};

  ambit__step_bind(p, s, region, bind);
  set_cells(p, region, &g);
  g.strict = p->grid->context->settings.strict;
  return estimate(p, &g) * cells_of(&g) + STEP_NS;
}

/* ns per cell of one iteration, step by step. */
static double estimate_steps(const ambit_program *p)
{
  ambit__group whole = {.ndims = p->grid->box.ndims};
  double ns = 0;

  set_cells(p, &p->grid->box, &whole);
  for (size_t i = 0; i < p->nsteps; i++)
    if (p->steps[i].kind == STEP_APPLY && !ambit__box_is_empty(&p->applies[i].region))
      ns += estimate_step(p, i);
  return ns / cells_of(&whole);
}

/* Whether the device has a plan such as the user asks for, if that is for several iterations. */
static bool has_wanted(const ambit_program *p, const ambit__fused *f)
{
  const char *wanted = ambit__program_plan(p);
  ambit__device *device = device_of(p);
  ambit__text lines = {0};
  bool has = !ambit__plan_is_cycle(wanted) || !device;

  if (has || !device->backend->plans) return has;
  device->backend->plans(device, &f->group, &lines);
  for (const char *line = lines.chars; line && *line && !has; line = strchr(line, '\n') + 1)
    has = ambit__plan_begins(line, wanted);
  ambit__text_free(&lines);
  return has;
}

/* Makes the plan of a depth. Returns its estimated time, or less than 0 with the reason. */
static double try_depth(const ambit_program *p, int depth, ambit__fused *f, const char **why)
{
  double ns;

  *why = ambit__fuse_group(p, depth, f);
  if (*why) return -1;
  if (!has_wanted(p, f)) {
    *why = "no plan of the device is like the option plan";
    return -1;
  }
  ns = estimate(p, &f->group);
  if (ns < 0) *why = "no strategy of the device can fuse it";
  return ns < 0 ? ns : ns + LAUNCH_NS / cells_of(&f->group) / f->plan.depth;
}

/* The depth with the least estimated time. Returns 0 with the reason if there is none. */
static int best_depth(const ambit_program *p, ambit__fused *f, const char **why)
{
  double best = -1;
  int depth = 0;

  *why = NULL;
  for (int i = 2; i <= MOST_DEPTH + 1; i++) {
    const int k = i > MOST_DEPTH ? AMBIT__FUSE_TURNS : i;
    const char *last;
    const double ns = try_depth(p, k, f, &last);

    if (ns < 0 && !*why) *why = last;
    if (ns < 0 || (depth && ns >= best)) continue;
    best = ns;
    depth = k;
  }
  return depth;
}

/* Makes the plan of a depth, or if that is 0, of the best one. Returns the reason if there is
 * none. */
static const char *choose(const ambit_program *p, int depth, ambit__fused *f)
{
  const char *why = refuse_early(p);
  double ns, single;

  if (why) return why;
  if (!depth) depth = best_depth(p, f, &why);
  if (!depth) return why;
  ns = try_depth(p, depth, f, &why);
  if (ns < 0) return why;
  single = estimate_steps(p);
  if (!ambit__cycle_is_asked(p) && !p->tuning && ns * GAIN > single && depth != p->tuned)
    return "no depth is estimated to be faster";
  f->saved = 1e-9 * (single - ns) * cells_of(&f->group);
  return NULL;
}

/* The first process with cells. */
static int decider(const ambit_grid *g)
{
  int part = 0;

  while (part < g->nparts - 1 && ambit__box_is_empty(&g->parts[part]))
    part++;
  return ambit__grid_process(g, part);
}

/* One process decides for all; a process that failed before meets the others here. */
static ambit_status agree(const ambit_program *p, ambit__fused *f, bool *can)
{
  ambit__net *net = p->grid->context->net;
  double facts[] = {*can ? f->plan.depth : 0, f->saved};
  const char *why;
  int depth;

  for (int i = 0; net->rank != decider(p->grid) && i < 2; i++)
    facts[i] = -DBL_MAX;
  AMBIT_TRY(ambit__net_max(net, facts, 2));
  depth = (int)facts[0];
  f->saved = facts[1];
  if (depth && (!*can || depth != f->plan.depth)) *can = try_depth(p, depth, f, &why) >= 0;
  if (!depth) *can = false;
  return ambit__net_all(net, can, 1);
}

ambit_status ambit__fuse_choose(const ambit_program *p, int depth, ambit__fused **out)
{
  bool can = p->grid->context->settings.depth != 1 && ambit__fuse_can(p);
  ambit__fused *f;
  ambit_status s;

  *out = NULL;
  AMBIT_TRY(ambit__net_all(p->grid->context->net, &can, 1));
  if (!can) return AMBIT_OK;
  f = ambit__new(ambit__program_errors(p), 1, sizeof *f);
  if (!f) return AMBIT_ENOMEM;
  can = !choose(p, depth, f);
  s = agree(p, f, &can);
  if (s || !can)
    ambit__fuse_free((ambit_program *)p, f);
  else
    *out = f;
  return s;
}

const char *ambit__fuse_refusal(const ambit_program *p)
{
  ambit__fused *f = calloc(1, sizeof *f);
  const char *why = f ? choose(p, p->grid->context->settings.depth, f) : "memory ran out";

  if (f) free(f->plan.after);
  free(f);
  return why;
}
