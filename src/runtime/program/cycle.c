/* SPDX-License-Identifier: BSD-3-Clause */
/* cycle.c - whether iterations can share an exchange, and the boxes of cells of each stage. */
#include "runtime/program/cycle.h"

#include "base/integers.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEW = 8 };

/* ---- wishes ---- */

/* The iterations of a cycle: of the option depth or plan, or the measured number; 0: by the
 * model. */
static int depth_of(const ambit_program *p)
{
  const int asked = p->grid->context->settings.depth;
  const int planned = ambit__wavefront_read(ambit__program_cycle_plan(p)).depth;

  return asked ? asked : planned > 0 ? planned : p->tuned;
}

bool ambit__plan_is_cycle(const char *plan)
{
  return ambit__plan_begins(plan, "(wavefront") || ambit__plan_begins(plan, "(fused") ||
         ambit__plan_begins(plan, "(persistent");
}

bool ambit__cycle_is_asked(const ambit_program *p)
{
  return p->grid->context->settings.depth || ambit__plan_is_cycle(ambit__program_plan(p));
}

bool ambit__cycle_is_elastic(const ambit__cycle *c)
{
  return c->fused && c->fused->plan.flow.loops;
}

int ambit__cycle_least(const ambit__cycle *c)
{
  return ambit__cycle_is_elastic(c) ? FEW : c->schedule.iterations;
}

/* " by clang", if some step is compiled by another compiler than the first one; "". */
static const char *compiler_of(const ambit_program *p, int engine)
{
  const char *by = NULL;

  for (size_t i = 0; i < p->nsteps && !by; i++)
    if (p->applies[i].functions && p->applies[i].functions[engine])
      by = ambit__plan_compiler(p->applies[i].functions[engine]->plan);
  return by ? by : "";
}

void ambit__cycle_print(const ambit_program *p, char text[AMBIT__PLAN_CHARS])
{
  const ambit__cycle *c = p->cycle;
  const int engine = p->grid->placement.n ? p->grid->placement.engine[0] : 0;

  memset(text, 0, AMBIT__PLAN_CHARS);
  if (c && c->wavefront) {
    ambit__wavefront_print(c->wavefront, text, AMBIT__PLAN_CHARS);
    strncat(text, compiler_of(p, engine), AMBIT__PLAN_CHARS - strlen(text) - 1);
  }
  if (c && c->fused && c->fused->functions[engine])
    snprintf(text, AMBIT__PLAN_CHARS, "%s", c->fused->functions[engine]->plan);
}

/* ---- axes ---- */

static void find_periodic(ambit_program *p)
{
  p->periodic = 0;
  for (int d = 0; d < p->grid->box.ndims; d++)
    p->periodic |= (unsigned)(ambit__program_periodic(p, d) != 0) << d;
}

static bool is_periodic(const ambit_program *p, int axis)
{
  return p->periodic >> axis & 1;
}

/* ---- boxes ---- */

bool ambit__part_continues(const ambit_program *p, const ambit__box *own, int axis)
{
  return is_periodic(p, axis) && (own->lo[axis] > 0 || own->hi[axis] < p->grid->box.hi[axis]);
}

ambit__box ambit__stage_cells(const ambit_program *p, const ambit__flow_stage *st,
                              const ambit__box *own)
{
  const ambit__box *region = &p->applies[st->step].region;
  ambit__box cells = *own;

  for (int d = 0; !ambit__box_is_empty(own) && d < own->ndims; d++) {
    cells.lo[d] -= st->beyond.n[d][0];
    cells.hi[d] += st->beyond.n[d][1];
    if (ambit__part_continues(p, own, d)) continue;
    cells.lo[d] = ambit__max64(cells.lo[d], region->lo[d]);
    cells.hi[d] = ambit__min64(cells.hi[d], region->hi[d]);
  }
  return cells;
}

ambit__box ambit__stage_reads(const ambit_program *p, const ambit__flow_stage *st,
                              const ambit_field *f, const ambit__box *own)
{
  const ambit__step *s = &p->steps[st->step];
  const ambit__box cells = ambit__stage_cells(p, st, own);
  const int n = own->ndims - ambit__field_closes_rows(p, f);
  ambit__box reads = cells;

  for (int i = 0; !ambit__box_is_empty(&cells) && i < s->n; i++) {
    const ambit__param *q = ambit__step_param(s, i);

    for (int d = 0; s->args[i].field == f && d < n; d++) {
      reads.lo[d] = ambit__min64(reads.lo[d], cells.lo[d] - q->low[d]);
      reads.hi[d] = ambit__max64(reads.hi[d], cells.hi[d] + q->high[d]);
    }
  }
  return reads;
}

void ambit__field_sources(const ambit_field *f, int axis, int64_t from, int64_t to, int64_t *lo,
                          int64_t *hi)
{
  const int64_t extent = f->grid->box.hi[axis];

  for (int c = 0; c < (f->special ? f->components : 1); c++)
    for (int64_t i = from; i < to; i++) {
      const ambit_boundary kind = ambit__field_boundaries(f, c)->kind[axis][i >= extent];
      const int64_t source =
          ambit__boundary_copies(kind) ? ambit__boundary_map(kind, extent, i) : -1;

      if (source >= 0) *lo = ambit__min64(*lo, source);
      *hi = ambit__max64(*hi, source + 1);
    }
}

bool ambit__stage_ghosts(const ambit_program *p, const ambit__flow_stage *st, const ambit_field *f,
                         const ambit__box *own, ambit__box *given, ambit__box *reach)
{
  *given = *reach = ambit__stage_reads(p, st, f, own);
  if (ambit__box_is_empty(reach)) return false;
  for (int d = 0; d < own->ndims; d++) {
    const int64_t extent = p->grid->box.hi[d];

    if (ambit__part_continues(p, own, d)) continue;
    given->lo[d] = ambit__max64(given->lo[d], 0);
    given->hi[d] = ambit__min64(given->hi[d], extent);
    ambit__field_sources(f, d, reach->lo[d], 0, &given->lo[d], &given->hi[d]);
    ambit__field_sources(f, d, extent, reach->hi[d], &given->lo[d], &given->hi[d]);
  }
  *reach = ambit__box_hull(reach, given);
  return !ambit__box_equal(given, reach);
}

/* ---- conditions ---- */

/* The condition that one step violates; NULL: none. Waves throw reductions away, and a
 * single iteration computes them. */
static const char *refuse_step(const ambit_program *p, size_t step, bool waves)
{
  const char *why = NULL;

  if (p->steps[step].kind != STEP_APPLY || p->applies[step].role == ROLE_RARE) return NULL;
  if (p->applies[step].reduces && !waves)
    return "a step reduces, and cells that two parts compute would count twice";
  for (int d = 0; p->applies[step].region.ndims && d < p->grid->box.ndims && !why; d++)
    if (is_periodic(p, d)) why = ambit__step_refuse_periodic(p, step, d);
  return why;
}

/* Whether every part has valid values for all cells that ghost cells copy. */
static bool has_sources(const ambit_program *p, const ambit__flow_stage *st)
{
  const ambit__flow *flow = &p->cycle->flow;
  const ambit__step *s = &p->steps[st->step];

  for (int i = 0; st->rule && i < s->n; i++)
    for (int k = 0; st->rule->params[i].reads_neighbours && k < p->grid->nparts; k++) {
      const ambit__box *own = &p->grid->parts[k];
      const ambit__flow_cells *valid = ambit__flow_valid(flow, flow->in[st->port[i]]);
      ambit__box given, reach;

      if (!ambit__stage_ghosts(p, st, s->args[i].field, own, &given, &reach)) continue;
      for (int d = 0; d < own->ndims; d++)
        if (given.lo[d] < own->lo[d] - valid->n[d][0] || given.hi[d] > own->hi[d] + valid->n[d][1])
          return false;
    }
  return true;
}

/* Whether a wave can have a step that changes fields on some axes of the grid. Its owners divide
 * the first axis, so all these fields must have it, cells must not run in order along it, and no
 * owner may need such a value of another one. */
static bool can_pass(const ambit_program *p, const ambit__step *s)
{
  if (p->grid->nparts > 1 || (s->sweep && !ambit__sweep_axis(s->sweep))) return false;
  for (int i = 0; i < s->n; i++) {
    const ambit_field *f = s->args[i].field;

    if (!f || !f->dropped) continue;
    if (f->dropped & 1 || ambit__step_param(s, i)->is_folded ||
        ambit__step_param(s, i)->reads_neighbours)
      return false;
  }
  return !ambit__wavefront_refusal(p);
}

const char *ambit__cycle_refuse_steps(const ambit_program *p)
{
  if (p->grid->active) return "the grid is sparse";
  for (size_t i = 0; i < p->nsteps; i++) {
    const bool rare = p->applies[i].role == ROLE_RARE;

    if (p->steps[i].kind == STEP_COPY && !rare) return "a step copies a box of cells";
    if (p->steps[i].kind == STEP_CALL && !rare) return "a step calls a program";
    if (ambit__chore_is_host(p->steps[i].chore) && !rare) return "a step is a function of the user";
    if (ambit__step_changes_profiles(p, &p->steps[i]) && !rare && !can_pass(p, &p->steps[i]))
      return "a step changes a field on some axes of the grid";
    if (p->steps[i].kind == STEP_APPLY && ambit__rule_spreads(p->steps[i].kernel->rule) && !rare)
      return "a step writes neighbours";
    for (int k = 0; k < p->steps[i].n; k++)
      if (p->steps[i].args[k].field && p->steps[i].args[k].field->base)
        return "a field is a view of another one";
  }
  return ambit__program_calmest(p) < 2 ? "a step runs every n iterations, and n is small" : NULL;
}

/* The condition that a program on several parts violates, whose stages are launched one by one, or
 * are a wave on each part. */
static const char *refuse_stages(const ambit_program *p, bool waves)
{
  const ambit *a = p->grid->context;

  if (!p->halos.n) return "no step reads neighbours";
  if (ambit__options_checks(a)) return "the option nan or check is on";
  for (size_t i = 0; i < p->nsteps; i++) {
    const char *why = refuse_step(p, i, waves);

    if (why) return why;
  }
  for (int d = 0; d < p->grid->box.ndims; d++)
    if (ambit__grid_cuts(p->grid, d) && ambit__program_periodic(p, d) < 0)
      return "the grid is cut along an axis that is periodic for some fields only";
  return NULL;
}

/* Whether the stages of p->cycle cannot be launched one by one, or in waves. */
static const char *refuse_cycle(const ambit_program *p, bool waves)
{
  const char *why = refuse_stages(p, waves);

  for (int i = 0; !why && p->cycle && i < p->cycle->flow.nstages; i++)
    if (!has_sources(p, &p->cycle->flow.stages[i]))
      why = "a part is thinner than the ghost cells it mirrors";
  return why;
}

/* With several parts, stages are launched one by one if a depth is asked for and there are no
 * waves. */
static const char *refuse_wavefront(const ambit_program *p)
{
  const bool several = p->grid->nparts > 1;
  const char *why = ambit__wavefront_refusal(p);

  if (several && why && depth_of(p)) return refuse_cycle(p, false);
  if (several && !why) why = refuse_cycle(p, true);
  if (why || p->cycle) return why;
  if (p->tuned == 1) return "single iterations were measured to be the fastest";
  if (several && !ambit__cycle_is_asked(p))
    return "the option depth is auto, and a process has several parts, or large ones";
  return p->grid->context->settings.depth
             ? "the grid is too small, or a kernel is not compiled here"
             : "a wavefront would be no faster";
}

const char *ambit__cycle_refusal(const ambit_program *p)
{
  if (ambit__cycle_refuse_steps(p)) return ambit__cycle_refuse_steps(p);
  if (p->cycle && p->cycle->fused) return NULL;
  if (ambit__fuse_can(p)) return ambit__fuse_refusal(p);
  return refuse_wavefront(p);
}

/* ---- making the cycle ---- */

/* To be found with the cycle; NULL: the user or an earlier run has chosen, or processes would have
 * to agree. */
static ambit__rival *rival_of(ambit_program *p)
{
  const bool alone = p->grid->nparts == 1 && p->grid->context->net->size == 1;

  return alone && !ambit__cycle_is_asked(p) && !depth_of(p) ? &p->rival : NULL;
}

/* The depth that process 0 chose, and for which all can make a wavefront. */
static ambit_status agree_on_wave(ambit_program *p, ambit__wavefront *w)
{
  ambit__net *net = p->grid->context->net;
  ambit__flow *flow = &p->cycle->flow;
  double depth = net->rank ? -1 : w->stages ? flow->iterations : 0;
  bool can;

  AMBIT_TRY(ambit__net_max(net, &depth, 1));
  if (depth > 0 && (!w->stages || flow->iterations != (int)depth)) {
    ambit__flow_free(flow);
    ambit__wavefront_free(w);
    AMBIT_TRY(ambit__wavefront_choose(p, (int)depth, flow, w));
  }
  can = depth > 0 && w->stages;
  AMBIT_TRY(ambit__net_all(net, &can, 1));
  if (!can) ambit__wavefront_free(w);
  return AMBIT_OK;
}

/* Whether the results of a step's reductions are the same in any order of cells: extremes,
 * integers, strict sums. */
static bool is_unordered(const ambit_program *p, size_t step)
{
  const ambit__rule *rule = p->steps[step].kernel->rule;
  bool all = true;

  for (int i = 0; i < rule->nparams; i++) {
    const ambit__param *q = &rule->params[i];
    const bool exact = p->grid->context->settings.strict || !ambit__type_is_real(q->type);

    if (q->kind == PARAM_REDUCE)
      all &=
          q->reduce == REDUCE_MIN || q->reduce == REDUCE_MAX || (q->reduce == REDUCE_SUM && exact);
  }
  return all;
}

/* The single iterations that must follow waves: 1 if these discard results that can be seen. On one
 * device waves keep the reductions of their last iteration, unless their order matters, a kernel on
 * scalars reads them, or they are over no cells, which no wave visits. */
static int tail_of(const ambit_program *p)
{
  const bool alone = p->grid->nparts == 1 && ambit__grid_on_first(p->grid);
  int tail = 0;

  for (size_t i = 0; i < p->nsteps; i++) {
    if (p->applies[i].role == ROLE_LATE) return 1;
    if (p->applies[i].role == ROLE_STAGE && p->applies[i].reduces)
      tail |= !alone || !is_unordered(p, i) || ambit__box_is_empty(&p->applies[i].region);
  }
  return tail;
}

/* Makes the wavefronts of all parts of this process, like that of the largest one, which was
 * chosen. */
static ambit_status make_waves(ambit_program *p, const ambit__wavefront *like)
{
  ambit__cycle *c = p->cycle;
  const int n = p->grid->placement.n;

  AMBIT_NEW(ambit__program_errors(p), c->wavefront, n ? (size_t)n : 1);
  c->wavefront->wave = like->wave; /* to be printed, where there is no part */
  c->wavefront->wave.n = 0;
  for (int k = 0; k < n; k++) {
    ambit__wavefront *w = &c->wavefront[k];

    AMBIT_TRY(ambit__wavefront_make(p, &c->flow, &p->grid->parts[p->grid->first + k], w));
    w->wave.size = like->wave.size;
    w->expected = like->expected;
    w->single = like->single;
  }
  c->tail = tail_of(p);
  return AMBIT_OK;
}

/* Makes p->cycle->wavefront, of a depth or, if that is 0, the best one. Leaves NULL if none is
 * worthwhile. Collective. */
static ambit_status add_waves(ambit_program *p, int depth)
{
  ambit__wavefront like = {0};
  bool can = !ambit__wavefront_refusal(p) && (p->grid->nparts < 2 || !refuse_stages(p, true));
  ambit_status s;

  AMBIT_TRY(ambit__net_all(p->grid->context->net, &can, 1));
  if (!can) return AMBIT_OK;
  s = ambit__wavefront_choose(p, depth, &p->cycle->flow, &like);
  if (!depth && rival_of(p))
    p->rival = (ambit__rival){.seconds = 1e-9 * ambit__wavefront_expected(&like), .waits = true};
  if (!s) s = agree_on_wave(p, &like);
  if (!s && like.stages) s = make_waves(p, &like);
  if (!like.stages) ambit__flow_free(&p->cycle->flow);
  ambit__wavefront_free(&like);
  return s;
}

ambit_status ambit__cycle_find_rival(ambit_program *p)
{
  const ambit__wavefront none = {.single = 1e9 * p->rival.seconds};
  const bool waits = p->rival.waits;

  p->rival.waits = false;
  return !waits     ? AMBIT_OK
         : p->cycle ? ambit__wavefront_rival(p, p->cycle->wavefront, &p->rival)
                    : ambit__wavefront_rival(p, &none, &p->rival);
}

static ambit_status plan_wavefront(ambit_program *p, int depth)
{
  AMBIT_NEW(ambit__program_errors(p), p->cycle, 1);
  AMBIT_TRY(add_waves(p, depth));
  if (!p->cycle->wavefront) ambit__cycle_drop(p);
  return AMBIT_OK;
}

static void drop_waves(ambit_program *p)
{
  const int n = p->grid->placement.n;

  for (int k = 0; p->cycle->wavefront && k < (n ? n : 1); k++)
    ambit__wavefront_free(&p->cycle->wavefront[k]);
  free(p->cycle->wavefront);
  p->cycle->wavefront = NULL;
}

void ambit__cycle_drop(ambit_program *p)
{
  ambit__cycle *c = p->cycle;

  if (!c) return;
  drop_waves(p);
  if (c->fused) ambit__fuse_free(p, c->fused);
  ambit__halos_free(&c->halos);
  ambit__flow_free(&c->flow);
  free(c);
  p->cycle = NULL;
}

/* A cycle of several parts: in one launch, or a wave on each part, if the devices can and that is
 * faster; else with the depth that was asked for. */
static ambit_status plan_parts(ambit_program *p, int depth)
{
  ambit__cycle *c = ambit__new(ambit__program_errors(p), 1, sizeof *c);

  if (!c) return AMBIT_ENOMEM;
  p->cycle = c;
  AMBIT_TRY(ambit__fuse_choose(p, depth, NULL, &c->fused));
  if (c->fused) {
    c->tail = 1;
    depth = c->fused->plan.depth;
  } else {
    AMBIT_TRY(add_waves(p, depth));
  }
  if (depth && !c->wavefront) AMBIT_TRY(ambit__memory_flow_make(p, depth, &c->flow));
  for (int d = 0; d < p->grid->box.ndims; d++)
    if (is_periodic(p, d)) c->boundaries.kind[d][0] = c->boundaries.kind[d][1] = AMBIT_PERIODIC;
  if (!c->flow.stages || (!c->fused && refuse_cycle(p, c->wavefront != NULL))) {
    ambit__cycle_drop(p);
    return AMBIT_OK;
  }
  return ambit__halos_make(p, c, &c->halos);
}

/* Whether a plan asks for a pass of one iteration. */
static bool wants_pass(const ambit_program *p)
{
  return ambit__roles_first(p) && p->grid->context->settings.depth != 1 &&
         ambit__wavefront_read(ambit__program_plan(p)).depth == 1;
}

ambit_status ambit__cycle_plan(ambit_program *p)
{
  int depth;

  find_periodic(p);
  if (ambit__cycle_refuse_steps(p)) return AMBIT_OK;
  AMBIT_TRY(ambit__tuned_recall(p));
  depth = depth_of(p);
  if (depth == 1 && !wants_pass(p)) return AMBIT_OK;
  if (ambit__roles_first(p)) depth = depth > 0;
  if (p->grid->nparts > 1) return plan_parts(p, depth);
  if (ambit__fuse_can(p)) return AMBIT_OK; /* ambit__cycle_fuse, when layouts are known */
  return plan_wavefront(p, depth);
}

/* A wavefront with the blocks and tiles of another one, whose functions then suit it too. */
static ambit_status shorten_wavefront(ambit_program *p, const ambit__wavefront *whole, int depth)
{
  bool pays;

  AMBIT_TRY(plan_wavefront(p, depth));
  if (!p->cycle) return AMBIT_OK;
  pays = ambit__cycle_is_asked(p) || ambit__wavefront_pays(p->cycle->wavefront);
  AMBIT_TRY(ambit__net_all(p->grid->context->net, &pays, 1));
  for (int k = 0; pays && k < p->grid->placement.n; k++)
    p->cycle->wavefront[k].wave.size = whole->wave.size;
  if (!pays) ambit__cycle_drop(p);
  return AMBIT_OK;
}

ambit_status ambit__cycle_shorten(ambit_program *p, const ambit__cycle *whole, int depth)
{
  bool can;

  if (whole->wavefront) return shorten_wavefront(p, whole->wavefront, depth);
  AMBIT_NEW(ambit__program_errors(p), p->cycle, 1);
  p->cycle->tail = whole->tail;
  AMBIT_TRY(ambit__fuse_choose(p, depth, NULL, &p->cycle->fused));
  if (!p->cycle->fused) {
    ambit__cycle_drop(p);
    return AMBIT_OK;
  }
  AMBIT_TRY(ambit__fuse_build(p, p->cycle->fused, &can));
  if (!can) ambit__cycle_drop(p);
  return AMBIT_OK;
}

/* Without its functions a cycle of several parts can still share an exchange, if asked to. */
void ambit__cycle_unfuse(ambit_program *p)
{
  ambit__cycle *c = p->cycle;

  if (c->fused) ambit__fuse_free(p, c->fused);
  c->fused = NULL;
  drop_waves(p);
  c->tail = 0;
  if (p->grid->nparts < 2 || !depth_of(p) || refuse_cycle(p, false)) ambit__cycle_drop(p);
}

ambit_status ambit__cycle_fuse(ambit_program *p)
{
  bool can;

  if (!p->cycle && p->grid->nparts == 1 && depth_of(p) != 1 && !ambit__cycle_refuse_steps(p)) {
    AMBIT_NEW(ambit__program_errors(p), p->cycle, 1);
    AMBIT_TRY(ambit__fuse_choose(p, depth_of(p), rival_of(p), &p->cycle->fused));
    p->cycle->tail = 1;
    if (!p->cycle->fused) ambit__cycle_drop(p);
  }
  if (!p->cycle || !p->cycle->fused) return AMBIT_OK;
  AMBIT_TRY(ambit__fuse_build(p, p->cycle->fused, &can));
  if (!can) ambit__cycle_unfuse(p);
  return AMBIT_OK;
}
