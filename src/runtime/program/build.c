/* SPDX-License-Identifier: BSD-3-Clause */
/* build.c - builds steps: a function per engine, and the arguments per part. */
#include "base/hash.h"
#include "base/index.h"
#include "base/log.h"
#include "base/memory.h"
#include "runtime/program/folding.h"
#include "runtime/program/roles.h"
#include "runtime/program/sweeping.h"

#include <stdlib.h>
#include <string.h>

/* ---- functions ---- */

bool ambit__field_is_packed(const ambit_field *f)
{
  const ambit_grid *g = f->grid;

  for (int i = 0; f->stores && i < g->placement.n; i++)
    if (ambit__engine_of(g, i)->backend->line && ambit__layout_is_packed(&f->stores[i].layout))
      return true;
  return false;
}

void ambit__step_bind(const ambit_program *p, const ambit__step *s, ambit__binding *bind)
{
  const ambit__rule *rule = s->kernel->rule;
  const int x = p->grid->box.ndims - 1;

  for (int i = 0; i < s->n; i++) {
    const ambit_field *f = s->args[i].field;
    bool uniform;

    bind[i] = (ambit__binding){.is_field = f != NULL};
    if (!f) continue;
    if (!rule->params[i].is_folded) bind[i].dropped = f->dropped;
    bind[i].onto = rule->params[i].is_folded;
    uniform = ambit__binding_is_uniform(&bind[i], x + 1);
    bind[i].contiguous = (f->order == AMBIT_SOA || f->components == 1) && !f->base && !uniform;
    bind[i].adjacent = f->order == AMBIT_AOS && f->components > 1 && !f->base && !uniform &&
                       !rule->params[i].is_folded;
    bind[i].carried = ambit__step_carries(s, i);
    bind[i].packed = (ambit__field_is_packed(f) && !uniform) || rule->params[i].is_folded;
    if ((rule->params[i].low[x] || rule->params[i].high[x]) && ambit__field_closes_rows(p, f))
      memcpy(bind[i].ends, f->boundaries.kind[x], sizeof bind[i].ends);
    for (int j = 0; j < s->n; j++)
      bind[i].shared |= j != i && s->args[j].field == f &&
                        (rule->params[i].is_written || rule->params[j].is_written) &&
                        !rule->params[i].is_folded && !rule->params[j].is_folded;
  }
}

/* The largest box that the step updates on a part of the engine. */
static ambit__box typical_box(const ambit_program *p, size_t step, int engine)
{
  const ambit_grid *g = p->grid;
  const ambit__box *region = &p->applies[step].region;
  ambit__box best = {.ndims = region->ndims};

  for (int i = 0; region->ndims && i < g->placement.n; i++) {
    const ambit__box part = ambit__step_part(p, &p->steps[step], g->first + i);
    const ambit__box box = ambit__box_intersect(region, &part);

    if (g->placement.engine[i] != engine || ambit__box_is_empty(&box)) continue;
    if (ambit__box_is_empty(&best) || ambit__box_volume(&box) > ambit__box_volume(&best))
      best = box;
  }
  if (ambit__step_folds(&p->steps[step]) && !ambit__box_is_empty(&best) &&
      !ambit__folds_at_once(p, step, engine, &best)) {
    const int64_t planes = ambit__folding_planes(p, step);

    if (best.hi[0] - best.lo[0] > planes) best.hi[0] = best.lo[0] + planes;
  }
  return best;
}

/* A group of one step, with its bindings. */
typedef struct single {
  ambit__binding bind[AMBIT_MAX_PARAMS];
  ambit__group group;
} single;

static void add_form(const ambit_program *p, size_t step, const ambit__box *box, ambit__group *g)
{
  const ambit__active *a = p->grid->active;

  g->form = &p->applies[step].form;
  g->active = ambit__active_count(a, box);
  g->run = (double)a->cells / (double)(a->n ? a->n : 1);
  g->stacked = ambit__active_stacked(a);
}

static unsigned turn_axes(unsigned axes, int turn, int ndims)
{
  unsigned turned = 0;

  for (int d = 0; d < ndims; d++)
    turned |= (axes >> d & 1) << ambit__turned_axis(d, turn, ndims);
  return turned;
}

/* The group with axes in the order of memory, if its rule has a copy for that; else it steps from
 * cell to cell by strides. */
static void turn_group(const ambit_program *p, size_t step, single *g)
{
  const ambit__step *s = &p->steps[step];
  ambit__group *group = &g->group;
  const int turn = group->turn = p->grid->turn, ndims = group->ndims;
  const ambit__box box = ambit__box_of_extents(ndims, group->cells);
  const ambit__box turned = ambit__box_turn(&box, turn);

  group->turned = p->applies[step].turned && !group->checks;
  for (int i = 0; i < s->n; i++) {
    const ambit_field *f = s->args[i].field;
    ambit__binding *b = &g->bind[i];

    if (!f) continue;
    if (group->turned) b->dropped = turn_axes(b->dropped, turn, ndims);
    b->contiguous = b->adjacent = false;
    if (!group->turned || f->base || b->onto || ambit__binding_is_uniform(b, ndims)) continue;
    b->contiguous = f->order == AMBIT_SOA || f->components == 1;
    b->adjacent = !b->contiguous && !s->kernel->rule->params[i].is_folded;
  }
  if (!group->turned) return;
  group->rule = p->applies[step].turned;
  memcpy(group->cells, turned.hi, sizeof group->cells);
  if (group->sweep) {
    const int axis = ambit__turned_axis(ambit__sweep_axis(group->sweep), turn, ndims);

    group->sweep = group->sweep < 0 ? -axis - 1 : axis + 1;
  }
}

static const ambit__group *make_group(const ambit_program *p, size_t step, int engine,
                                      const ambit__box *box, single *g)
{
  const ambit__step *s = &p->steps[step];
  const ambit__box *region = &p->applies[step].region;
  const ambit__rule *adapted = p->applies[step].adapted;

  ambit__step_bind(p, s, g->bind);
  ambit__folding_bind(p, step, engine, box, g->bind);
  g->group = (ambit__group){.rule = adapted ? adapted : s->kernel->rule,
                            .bind = g->bind,
                            .chore = s->chore ? &s->chore->on[engine] : NULL,
                            .depth = 1,
                            .ndims = region->ndims,
                            .strict = p->grid->context->settings.strict,
                            .checks = ambit__options_checks(p->grid->context),
                            .preferred = ambit__program_step_plan(p)};
  if (!g->group.checks) g->group.sweep = s->sweep; /* checked launches have one plane each */
  for (int d = 0; d < region->ndims; d++)
    g->group.cells[d] = box->hi[d] - box->lo[d];
  if (p->applies[step].chunks) add_form(p, step, box, &g->group);
  for (int i = s->n; adapted && i < adapted->nparams; i++)
    g->bind[i] = (ambit__binding){.is_field = true, .contiguous = true};
  if (p->grid->turn && region->ndims && !s->chore &&
      p->grid->context->engines[engine].backend->line)
    turn_group(p, step, g);
  return &g->group;
}

ambit_status ambit__step_build(ambit_program *p, size_t step, int engine, const ambit__box *box,
                               ambit__tile_use tiles, ambit__function **fn)
{
  single g;

  make_group(p, step, engine, box, &g);
  g.group.tiles = tiles;
  AMBIT_TRY(ambit__hold_function(p, engine, &g.group, fn));
  ambit__log(&p->grid->context->settings, 1, "kernel %s: %s", g.group.rule->name, (*fn)->plan);
  return AMBIT_OK;
}

void ambit__step_plans(const ambit_program *p, size_t step, int engine, ambit__text *lines)
{
  ambit__device *dev = p->grid->context->engines[engine].device;
  const ambit__box box = typical_box(p, step, engine);
  single g;

  if (ambit__can(dev->backend, plans) && !p->steps[step].chore)
    ambit__ask(dev, plans, make_group(p, step, engine, &box, &g), lines);
}

/* Announces the functions of a step to the devices. */
static void foresee_step(const ambit_program *p, size_t step)
{
  const ambit *a = p->grid->context;

  for (int e = 0; e < a->nengines; e++) {
    ambit__device *dev = a->engines[e].device;
    const ambit__box box = typical_box(p, step, e);
    single g;

    if (!p->steps[step].chore) ambit__ask(dev, foresee, make_group(p, step, e, &box, &g));
  }
}

/* ---- steps with the same functions ---- */

static ambit__box size_of(const ambit__box *box)
{
  ambit__box size = {.ndims = box->ndims};

  for (int d = 0; d < box->ndims; d++)
    size.hi[d] = box->hi[d] - box->lo[d];
  return size;
}

/* The extents of the boxes that a step updates on an engine. */
static ambit__box typical_size(const ambit_program *p, size_t step, int engine)
{
  const ambit__box box = typical_box(p, step, engine);

  return size_of(&box);
}

static uint64_t hash_of(const ambit_program *p, size_t step)
{
  const ambit__rule *rule = p->steps[step].kernel->rule;
  ambit__hash h;

  ambit__hash_init(&h);
  ambit__hash_bytes(&h, &rule, sizeof rule);
  for (int e = 0; e < p->grid->context->nengines; e++) {
    const ambit__box size = typical_size(p, step, e);

    ambit__hash_bytes(&h, size.hi, sizeof size.hi);
  }
  return h.w[0];
}

static bool same_binding(const ambit__binding *a, const ambit__binding *b)
{
  return a->is_field == b->is_field && a->contiguous == b->contiguous && a->packed == b->packed &&
         a->shared == b->shared && a->adjacent == b->adjacent &&
         !memcmp(a->ends, b->ends, sizeof a->ends) && a->dropped == b->dropped &&
         a->carried == b->carried && a->onto == b->onto;
}

static bool same_functions(const ambit_program *p, size_t a, size_t b)
{
  ambit__binding x[AMBIT_MAX_PARAMS], y[AMBIT_MAX_PARAMS];

  if (p->steps[a].kernel->rule != p->steps[b].kernel->rule ||
      p->steps[a].sweep != p->steps[b].sweep ||
      p->applies[a].region.ndims != p->applies[b].region.ndims)
    return false;
  for (int e = 0; e < p->grid->context->nengines; e++) {
    const ambit__box of_a = typical_size(p, a, e), of_b = typical_size(p, b, e);

    if (!ambit__box_equal(&of_a, &of_b)) return false;
  }
  ambit__step_bind(p, &p->steps[a], x);
  ambit__step_bind(p, &p->steps[b], y);
  for (int i = 0; i < p->steps[a].n; i++)
    if (!same_binding(&x[i], &y[i])) return false;
  return true;
}

bool ambit__step_shares(const ambit_program *p, size_t step)
{
  return p->applies[step].model != step && !p->applies[step].reduces &&
         !ambit__options_checks(p->grid->context);
}

/* Sets the model of each step. On sparse grids, functions depend on more than their kernel, its
 * bindings and the extents of the boxes. */
static ambit_status find_models(ambit_program *p, ambit__index *known)
{
  for (size_t i = 0; i < p->nsteps; i++) {
    ambit__apply *a = &p->applies[i];
    uint64_t hash;
    size_t at = 0;
    int other;

    a->model = i;
    if (p->steps[i].kind != STEP_APPLY || p->grid->active || p->steps[i].chore) continue;
    hash = hash_of(p, i);
    while (a->model == i && (other = ambit__index_next(known, hash, &at)) >= 0)
      if (same_functions(p, (size_t)other, i)) a->model = (size_t)other;
    if (a->model == i) AMBIT_TRY(ambit__index_add(ambit__program_errors(p), known, hash, (int)i));
  }
  return AMBIT_OK;
}

/* ---- arguments ---- */

static ambit_status make_number(ambit_program *p, int engine, ambit_type type, double number,
                                ambit__buffer **buffer)
{
  const ambit__engine *e = &p->grid->context->engines[engine];
  unsigned char bytes[sizeof(double)] = {0};

  ambit__value_store(bytes, type, ambit__value_of(number, type));
  AMBIT_TRY(ambit__hold_buffer(p, engine, sizeof bytes, buffer));
  return ambit__do(e->queue, put, *buffer, bytes, sizeof bytes);
}

/* The address of a chore, for devices in host memory. */
static ambit_status make_address(ambit_program *p, int engine, const ambit__chore *chore,
                                 ambit__buffer **buffer)
{
  const ambit__engine *e = &p->grid->context->engines[engine];

  AMBIT_TRY(ambit__hold_buffer(p, engine, sizeof(double), buffer));
  return ambit__do(e->queue, put, *buffer, &chore, sizeof chore);
}

static ambit_status make_numbers(ambit_program *p, const ambit__step *s, ambit__apply *a)
{
  const int nengines = p->grid->context->nengines;

  AMBIT_HOLD(p, a->numbers, (size_t)nengines * (size_t)s->n);
  for (int e = 0; e < nengines; e++)
    for (int i = 0; i < s->n; i++)
      if (s->chore && !ambit__chore_is_host(s->chore) && i == AMBIT__CHORE_ADDRESS)
        AMBIT_TRY(make_address(p, e, &s->chore->on[e], &a->numbers[e * s->n + i]));
      else if (s->args[i].kind == AMBIT_ARG_NUMBER)
        AMBIT_TRY(make_number(p, e, s->kernel->rule->params[i].type, s->args[i].number,
                              &a->numbers[e * s->n + i]));
  return AMBIT_OK;
}

static ambit_status make_arguments(ambit_program *p, const ambit__step *s, ambit__apply *a)
{
  const ambit__placement *where = &p->grid->placement;

  AMBIT_HOLD(p, a->args, (size_t)where->n * (size_t)a->nargs);
  for (int k = 0; k < where->n; k++)
    for (int i = 0; i < a->nargs; i++) {
      ambit_field *f = i < s->n ? s->args[i].field : a->activity[i - s->n];
      ambit__argument *arg = &a->args[k * a->nargs + i];
      const int engine = where->engine[k];

      if (f)
        *arg = (ambit__argument){.store = &f->stores[k],
                                 .boundaries = &f->boundaries,
                                 .special = f->special,
                                 .spreads = i < s->n && s->kernel->rule->params[i].targets};
      else if (s->args[i].scalar)
        arg->value = s->args[i].scalar->values[engine];
      else
        arg->value = a->numbers[engine * s->n + i];
    }
  return AMBIT_OK;
}

/* ---- steps ---- */

/* Whether the step needs no launch. A step without cells is launched only if it reduces. */
static bool is_idle(const ambit__apply *a)
{
  return a->region.ndims && ambit__box_is_empty(&a->region) && !a->reduces;
}

static ambit_status build_functions(ambit_program *p, size_t step)
{
  ambit__apply *a = &p->applies[step];
  const int nengines = p->grid->context->nengines;

  AMBIT_HOLD(p, a->functions, (size_t)nengines);
  for (int e = 0; e < nengines; e++) {
    const ambit__box box = typical_box(p, step, e);

    AMBIT_TRY(ambit__step_build(p, step, e, &box, TILES_NONE, &a->functions[e]));
  }
  return AMBIT_OK;
}

/* Reductions of a step that other parts run on copies of the same cells. */
static ambit_status make_waste(ambit_program *p, ambit__apply *a)
{
  AMBIT_HOLD(p, a->waste, (size_t)p->grid->context->nengines);
  for (int e = 0; e < p->grid->context->nengines; e++)
    AMBIT_TRY(ambit__hold_buffer(p, e, sizeof(ambit__scalar_bytes), &a->waste[e]));
  return AMBIT_OK;
}

static ambit_status build_step(ambit_program *p, size_t step)
{
  const ambit__step *s = &p->steps[step];
  ambit__apply *a = &p->applies[step];
  ambit__binding bind[AMBIT_MAX_PARAMS] = {{0}};
  ambit__price price;

  if (is_idle(a)) return AMBIT_OK;
  ambit__step_bind(p, s, bind);
  price = ambit__price_bound(ambit__step_rule(p, step), bind, p->grid->box.ndims);
  a->checks = s->chore ? 0 : ambit__options_checks(p->grid->context);
  AMBIT_TRY(make_numbers(p, s, a));
  AMBIT_TRY(make_arguments(p, s, a));
  AMBIT_TRY(ambit__sweeping_make(p, step));
  if (a->reduces && s->dropped) AMBIT_TRY(make_waste(p, a));
  if (ambit__step_shares(p, step))
    a->functions = p->applies[a->model].functions;
  else
    AMBIT_TRY(build_functions(p, step));
  AMBIT_TRY(ambit__folding_make(p, step));
  if (a->region.ndims && !s->chore) {
    const double cells = (double)ambit__grid_count(p->grid, &a->region);

    a->cells = cells * ambit__step_updates(s);
    a->bytes = cells * price.bytes;
    a->flops = cells * price.flops;
  }
  return AMBIT_OK;
}

ambit_status ambit__program_regions(ambit_program *p)
{
  AMBIT_HOLD(p, p->applies, p->nsteps);
  for (size_t i = 0; i < p->nsteps; i++)
    if (p->steps[i].kind == STEP_APPLY) {
      p->applies[i].region = ambit__step_region(p, &p->steps[i]);
      p->applies[i].reduces = ambit__rule_reduces(p->steps[i].kernel->rule);
    }
  ambit__program_reductions(p);
  return ambit__program_roles(p);
}

/* On a grid of which GPUs have axes in another order. */
static ambit_status turn_rule(ambit_program *p, size_t step)
{
  ambit__apply *a = &p->applies[step];
  const ambit__step *s = &p->steps[step];
  const ambit__rule *rule = a->adapted ? a->adapted : s->kernel->rule;

  if (!p->grid->turn || !a->region.ndims || s->chore || !ambit__rule_turns(rule)) return AMBIT_OK;
  return ambit__rule_turn(ambit__program_errors(p), rule, p->grid->turn, a->region.ndims,
                          &a->turned);
}

ambit_status ambit__program_build(ambit_program *p)
{
  /* The caller builds the first function while compilers work on the others. */
  bool is_ahead = p->grid->context->nengines > 1;
  ambit__index known = {0};
  ambit_status s;

  for (size_t i = 0; i < p->nsteps; i++)
    if (p->steps[i].kind == STEP_APPLY) {
      AMBIT_TRY(ambit__step_adapt(p, i));
      AMBIT_TRY(turn_rule(p, i));
    }
  AMBIT_TRY(ambit__program_chunks(p));
  s = find_models(p, &known);
  ambit__index_free(&known);
  AMBIT_TRY(s);
  for (size_t i = 0; i < p->nsteps; i++) {
    if (p->steps[i].kind != STEP_APPLY || is_idle(&p->applies[i]) || p->applies[i].model != i)
      continue;
    if (is_ahead) foresee_step(p, i);
    is_ahead = true;
  }
  for (size_t i = 0; i < p->nsteps; i++)
    if (p->steps[i].kind == STEP_APPLY) AMBIT_TRY(build_step(p, i));
  return AMBIT_OK;
}

void ambit__program_discard(ambit_program *p)
{
  for (size_t i = 0; p->applies && i < p->nsteps; i++) {
    ambit__apply *a = &p->applies[i];

    ambit__sweeping_cancel(p, i);
    for (int k = 0; a->chunks && k < p->grid->placement.n; k++)
      ambit__chunks_free_list(a->chunks[k]);
    ambit__chunk_form_free(&a->form);
    ambit__rule_free(a->turned);
    ambit__rule_free(a->adapted);
  }
  p->applies = NULL;
}
