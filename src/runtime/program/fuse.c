/* SPDX-License-Identifier: BSD-3-Clause */
/* fuse.c - chooses the number of iterations that one launch computes. */
#include "runtime/program/cycle.h"

#include "base/memory.h"
#include "plan/fitted.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 16 };

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
  return fmax(1, ambit__group_cells(g));
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
    q.type = p->steps[o->step].kernel->rule->params[o->points ? 0 : o->arg].type;
    return q;
  }
  q.kind = PARAM_FIELD;
  q.type = field_of(p, &f->plan, o->slot)->type;
  q.components = field_of(p, &f->plan, o->slot)->components;
  q.is_vector = q.components > 1;
  q.writes = q.keeps = all;
  for (int v = 0; v < f->plan.flow.nvalues; v++)
    q.is_written |= f->plan.flow.values[v].target == operand;
  return q;
}

/* The group of the flow in f->plan. */
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
    f->bind[i] =
        (ambit__binding){.is_field = field != NULL,
                         .dropped = field ? field->dropped : 0,
                         .points = f->plan.operands[i].points,
                         .samples = f->plan.operands[i].points &&
                                    ambit__step_samples(&p->steps[f->plan.operands[i].step])};
    if (!field || ambit__binding_is_uniform(&f->bind[i], p->grid->box.ndims)) continue;
    f->bind[i].contiguous = (field->order == AMBIT_SOA || field->components == 1) && !p->grid->turn;
    f->bind[i].packed = ambit__field_is_packed(field);
  }
  f->group = (ambit__group){.rule = &f->rule,
                            .bind = f->bind,
                            .depth = f->plan.depth,
                            .flow = &f->plan.flow,
                            .ndims = p->grid->box.ndims,
                            .strict = p->grid->context->settings.strict,
                            .preferred = ambit__program_cycle_plan(p)};
  set_cells(p, &p->grid->box, &f->group);
}

const char *ambit__fuse_group(const ambit_program *p, int depth, ambit__fused *f)
{
  const char *why;

  ambit__fuse_plan_free(&f->plan);
  why = ambit__fuse_flow(p, depth, &f->plan);
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

/* ns of a launch beside those of its cells. */
static double launch_ns(const ambit_program *p)
{
  const ambit__device *device = device_of(p);

  return device ? device->machine.launch : 0;
}

/* ns of a step on all its cells. */
static double estimate_step(const ambit_program *p, size_t step)
{
  const ambit__step *s = &p->steps[step];
  const ambit__box *region = &p->applies[step].region;
  ambit__binding bind[AMBIT_MAX_PARAMS];
  ambit__group g = {.rule = s->kernel->rule, .bind = bind, .depth = 1, .ndims = region->ndims};

  if (s->chore) return AMBIT__FIT_STEP * launch_ns(p);
  ambit__step_bind(p, s, bind);
  set_cells(p, region, &g);
  g.strict = p->grid->context->settings.strict;
  return estimate(p, &g) * cells_of(&g) + AMBIT__FIT_STEP * launch_ns(p);
}

/* ns per cell of one iteration, step by step. */
static double estimate_steps(const ambit_program *p)
{
  ambit__group whole = {.ndims = p->grid->box.ndims};
  double ns = 0;

  set_cells(p, &p->grid->box, &whole);
  for (size_t i = 0; i < p->nsteps; i++)
    if (p->steps[i].kind == STEP_APPLY && p->applies[i].role == ROLE_STAGE &&
        !ambit__box_is_empty(&p->applies[i].region))
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

  if (has || !ambit__can(device->backend, plans)) return has;
  ambit__ask(device, plans, &f->group, &lines);
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
  return ns < 0 ? ns : ns + launch_ns(p) / cells_of(&f->group) / f->plan.depth;
}

/* A depth, and its estimated ns per cell and iteration. */
typedef struct ranked {
  int depth; /* 0: none */
  double ns;
} ranked;

/* The best of some depths; if `apart` is given, of those with a seventh more or fewer iterations at
 * least: plans of adjacent depths are alike, and so are the errors of their estimates. */
static ranked best_of(const ranked *all, int n, int apart)
{
  ranked best = {0};

  for (int i = 0; i < n; i++)
    if (7 * abs(all[i].depth - apart) >= apart && all[i].ns >= 0 &&
        (!best.depth || all[i].ns < best.ns))
      best = all[i];
  return best;
}

/* The depth with the least estimated time, and the best one apart from it. Returns the reason if
 * there is none. */
static const char *rank_depths(const ambit_program *p, ambit__fused *f, ranked best[2])
{
  ranked all[MOST_DEPTH];
  const char *why = NULL;

  for (int i = 0; i < MOST_DEPTH; i++) {
    const char *last;

    all[i].depth = i + 2 > MOST_DEPTH ? AMBIT__FUSE_TURNS : i + 2;
    all[i].ns = -1;
    if (all[i].depth <= MOST_DEPTH && all[i].depth > ambit__program_calmest(p)) continue;
    all[i].ns = try_depth(p, all[i].depth, f, &last);
    if (all[i].ns < 0 && !why) why = last;
  }
  best[0] = best_of(all, MOST_DEPTH, 0);
  best[1] = best_of(all, MOST_DEPTH, best[0].depth);
  return best[0].depth ? NULL : why;
}

/* The device's second plan for a launch, and its estimated ns per cell; less than 0: there is
 * none. */
static double second_plan(const ambit_program *p, ambit__fused *f, char plan[AMBIT__PLAN_CHARS])
{
  const char *const preferred = f->group.preferred;
  ambit__device *device = device_of(p);
  ambit__text lines = {0};
  const char *second;
  double ns = -1;

  if (!device || !ambit__can(device->backend, plans)) return ns;
  ambit__ask(device, plans, &f->group, &lines);
  second = lines.chars ? strchr(lines.chars, '\n') : NULL;
  if (second && second[1]) {
    snprintf(plan, AMBIT__PLAN_CHARS, "%.*s", (int)strcspn(second + 1, "\n"), second + 1);
    f->group.preferred = plan;
    ns = estimate(p, &f->group);
    f->group.preferred = preferred;
  }
  ambit__text_free(&lines);
  return ns;
}

/* The rival of the best depth, whose plan f has, or of single iterations if it is not fast enough.
 * A launch that loops has no other depths. */
static ambit__rival find_rival(const ambit_program *p, ambit__fused *f, const ranked best[2],
                               double single)
{
  const bool fuses = best[0].ns * AMBIT__FIT_GAIN <= single;
  const double chosen = fuses ? best[0].ns : single;
  ranked other = fuses ? best[1] : best[0];
  ambit__rival rival = {.seconds = 1e-9 * chosen * cells_of(&f->group)};

  if (fuses && f->plan.flow.loops) other = (ranked){best[0].depth, second_plan(p, f, rival.plan)};
  if (other.depth && ambit__rival_is_close(other.ns, chosen)) rival.depth = other.depth;
  return rival;
}

/* Makes the plan of a depth, or if that is 0, of the best one, and its rival. Returns the reason if
 * there is none. */
static const char *choose(const ambit_program *p, int depth, ambit__rival *rival, ambit__fused *f)
{
  const char *why = refuse_early(p);
  ranked best[2] = {{0}};
  double ns, single;

  if (!why && !depth) why = rank_depths(p, f, best);
  if (why) return why;
  if (!depth) depth = best[0].depth;
  ns = try_depth(p, depth, f, &why);
  if (ns < 0) return why;
  single = estimate_steps(p);
  if (rival && best[0].depth) *rival = find_rival(p, f, best, single);
  if (!ambit__cycle_is_asked(p) && !p->tuning && ns * AMBIT__FIT_GAIN > single && depth != p->tuned)
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

ambit_status ambit__fuse_choose(const ambit_program *p, int depth, ambit__rival *rival,
                                ambit__fused **out)
{
  bool can = p->grid->context->settings.depth != 1 && ambit__fuse_can(p);
  ambit__fused *f;
  ambit_status s;

  *out = NULL;
  AMBIT_TRY(ambit__net_all(p->grid->context->net, &can, 1));
  if (!can) return AMBIT_OK;
  AMBIT_NEW(ambit__program_errors(p), f, 1);
  can = !choose(p, depth, rival, f);
  s = agree(p, f, &can);
  if (s || !can)
    ambit__fuse_free((ambit_program *)p, f);
  else
    *out = f;
  return s;
}

const char *ambit__fuse_refusal(const ambit_program *p)
{
  ambit__fused f = {0};
  const char *why = choose(p, p->grid->context->settings.depth, NULL, &f);

  ambit__fuse_plan_free(&f.plan);
  return why;
}

void ambit__fuse_foresee(const ambit_program *p, const ambit__rival *rival)
{
  ambit__device *device = ambit__fuse_can(p) ? device_of(p) : NULL;
  ambit__fused f = {0};

  if (device && !ambit__fuse_group(p, rival->depth, &f)) {
    if (*rival->plan) f.group.preferred = rival->plan;
    ambit__ask(device, foresee, &f.group);
  }
  ambit__fuse_plan_free(&f.plan);
}
