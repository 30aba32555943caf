/* SPDX-License-Identifier: BSD-3-Clause */
/* wavefront.c - the stages of a wave: steps, and ghost cells before the steps that read them. */
#include "runtime/program/wavefront.h"

#include "base/integers.h"
#include "runtime/program/cycle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  ROW_UNIT = AMBIT__ALIGNED, /* tiles that cut rows do so between vectors */
  MOST_DEPTH = 1000,         /* of a plan, as of the option depth */
  MOST_CELLS = 1 << 30       /* of the sizes of a plan, so that sums of them do not overflow */
};

/* Stages being made. */
typedef struct maker {
  const ambit_program *p;
  const ambit__flow *flow; /* without those that fill ghost cells */
  ambit__wavefront *w;
  const ambit__box *own;
  int *now;                   /* by buffer: its present value */
  int *lags, *values, *until; /* of a pass */
} maker;

/* ---- ghost cells ---- */

/* Sets the ghost cells that a step reads of a field, when they have their turn, and which cells the
 * filling of cell x reads: x - before[d] .. x. Returns false if it reads none. */
static bool find_ghosts(const maker *m, int stage, const ambit_field *f, ambit__wave_stage *st,
                        int *before)
{
  bool any = false;

  st->cells = ambit__stage_reads(m->p, &m->flow->stages[stage], f, m->own);
  for (int d = 0; d < st->cells.ndims; d++) {
    const ambit_boundary *kind = f->boundaries.kind[d];
    const int64_t extent = m->p->grid->box.hi[d];
    int64_t *lo = &st->cells.lo[d], *hi = &st->cells.hi[d];
    int64_t first = extent, end = 0, tail = extent, unused = 0;

    if (ambit__part_continues(m->p, m->own, d)) continue;
    st->low[d] = *lo < 0 && kind[0] != AMBIT_NONE && kind[0] != AMBIT_FIXED ? -*lo : 0;
    st->high[d] =
        *hi > extent && kind[1] != AMBIT_NONE && kind[1] != AMBIT_FIXED ? *hi - extent : 0;
    any |= st->low[d] || st->high[d];
    ambit__field_sources(f, d, -st->low[d], 0, &first, &end);
    ambit__field_sources(f, d, extent, extent + st->high[d], &tail, &unused);
    if (kind[0] == AMBIT_PERIODIC) first = extent, end = 0, tail = extent; /* filled at the seam */
    st->turn[d] = ambit__max64(end - 1, 0);
    before[d] = (int)ambit__max64(end > 0 ? end - 1 - first : 0, extent - 1 - tail);
    *lo = ambit__max64(ambit__min64(*lo, first), 0);
    *hi = ambit__min64(ambit__max64(*hi, st->turn[d] + 1), extent);
  }
  return any;
}

static const ambit_field *filled_field(const ambit_program *p, const ambit__flow_stage *st)
{
  return p->steps[st->step].args[st->filled].field;
}

/* Whether cells beyond a face copy others, of some component. */
static bool copies(const ambit_field *f, int axis, int side)
{
  bool any = false;

  for (int c = 0; c < (f->special ? f->components : 1); c++)
    any |= ambit__boundary_copies(ambit__field_boundaries(f, c)->kind[axis][side]);
  return any;
}

static bool have_same_boundaries(const ambit_field *a, const ambit_field *b)
{
  bool same = a->components == b->components;

  for (int c = 0; same && c < (a->special || b->special ? a->components : 1); c++)
    same = ambit__boundaries_equal(ambit__field_boundaries(a, c), ambit__field_boundaries(b, c));
  return same;
}

/* Whether the ghost cells of a value serve a stage, for a field with these boundaries. */
static bool serves(const maker *m, const ambit__flow_value *v, const ambit_field *f,
                   const ambit__wave_stage *want)
{
  const ambit__wave_stage *st;

  if (v->filler < 0) return false;
  st = &m->w->stages[v->filler];
  if (!have_same_boundaries(filled_field(m->p, &m->w->flow.stages[v->filler]), f) ||
      !ambit__box_contains(&st->cells, &want->cells))
    return false;
  for (int d = 0; d < want->cells.ndims; d++) {
    if (st->low[d] < want->low[d] || st->high[d] < want->high[d]) return false;
    if (v->stage != v->filler &&
        ((st->low[d] && copies(f, d, 0)) || (st->high[d] && copies(f, d, 1))))
      return false;
  }
  return true;
}

/* ---- stages ---- */

static void add_stage(maker *m, const ambit__wave_stage *st, const ambit__flow_stage *like,
                      const int *buffers)
{
  m->w->stages[m->w->wave.n++] = *st;
  ambit__memory_flow_add(m->p, like, buffers, m->now, &m->w->flow);
}

/* Adds a stage that fills the ghost cells of an argument, if they are not yet filled. */
static void add_ghosts(maker *m, int stage, int arg)
{
  const ambit__flow_stage *reader = &m->flow->stages[stage];
  const ambit_field *field = m->p->steps[reader->step].args[arg].field;
  const int buffer = ambit__memory_flow_buffer(m->flow, stage, arg);
  ambit__wave_stage st = {.iteration = reader->iteration};
  ambit__flow_stage fill = {
      .iteration = reader->iteration, .step = reader->step, .fills = true, .filled = arg};

  if (find_ghosts(m, stage, field, &st, fill.before) &&
      !serves(m, &m->w->flow.values[m->now[buffer]], field, &st))
    add_stage(m, &st, &fill, &buffer);
}

static void add_step(maker *m, int stage)
{
  const ambit__flow_stage *like = &m->flow->stages[stage];
  const ambit__step *s = &m->p->steps[like->step];
  const ambit__wave_stage st = {
      .cells = ambit__stage_cells(m->p, like, m->own), .nargs = s->n, .iteration = like->iteration};
  const ambit__box own = ambit__box_intersect(&st.cells, m->own);
  int buffers[AMBIT_MAX_PARAMS] = {0};

  if (ambit__box_is_empty(&st.cells)) return;
  for (int i = 0; i < s->n; i++)
    if (s->args[i].field) buffers[i] = ambit__memory_flow_buffer(m->flow, stage, i);
  for (int i = 0; i < s->n; i++)
    if (s->args[i].field && ambit__step_param(s, i)->reads_neighbours) add_ghosts(m, stage, i);
  add_stage(m, &st, like, buffers);
  m->w->wave.cells += (double)ambit__box_volume(&st.cells);
  m->w->own_cells += (double)ambit__box_volume(&own);
}

/* ---- lags ---- */

typedef struct along {
  const ambit__wavefront *w;
  int axis;
} along;

static int below(const void *user, int stage, const ambit__flow_read *r)
{
  const int n = r->offset[((const along *)user)->axis];

  (void)stage;
  return n < 0 ? -n : 0;
}

/* A read comes after the turn of the ghost cells that it may hit. */
static int above(const void *user, int stage, const ambit__flow_read *r)
{
  const along *a = user;
  const int filler = a->w->flow.values[r->value].filler, n = r->offset[a->axis];

  if (n >= 0 || filler < 0 || a->w->flow.stages[stage].fills) return n > 0 ? n : 0;
  return a->w->stages[filler].low[a->axis] ? (int)a->w->stages[filler].turn[a->axis] : 0;
}

/* The pass along an axis; with `back`, against it. */
static ambit__flow_pass pass_along(const along *a, bool back)
{
  return (ambit__flow_pass){
      .ahead = back ? below : above, .behind = back ? above : below, .user = a};
}

static void set_lags(const maker *m)
{
  const int last = m->own->ndims - 1;

  for (int d = 0; d <= last; d++)
    for (int back = 0; back < 2; back++) {
      const along a = {m->w, d};
      ambit__flow_pass pass = pass_along(&a, back);

      pass.unit = !back && d == last ? ROW_UNIT : 1;
      ambit__flow_lags(&m->w->flow, &pass, m->lags, m->values, m->until);
      for (int i = 0; i < m->w->wave.n; i++)
        *(back ? &m->w->stages[i].lead[d] : &m->w->stages[i].lag[d]) = m->lags[i];
    }
}

/* Leaves out, of all stages, the cells at one side of the part that depend on the exchange. It
 * writes layers around the own cells, and reads as many own cells for others. */
static void leave_out(const maker *m, int axis, bool back)
{
  const along a = {m->w, axis};
  ambit__flow_pass pass = pass_along(&a, back);
  int *held = m->now; /* not needed any more */

  for (int b = 0; b < m->p->nfields; b++)
    held[b] = m->flow->beside[b].n[axis][back];
  pass.arrives = true;
  pass.held = held;
  ambit__flow_lags(&m->w->flow, &pass, m->lags, m->values, m->until);
  for (int i = 0; i < m->w->wave.n; i++) {
    ambit__box *cells = &m->w->inners[i].cells;
    const int64_t lo = m->own->lo[axis] + m->lags[i], hi = m->own->hi[axis] - m->lags[i];

    if (back && cells->lo[axis] < lo) cells->lo[axis] = lo;
    if (!back && cells->hi[axis] > hi) cells->hi[axis] = hi;
  }
}

static void set_inner(const maker *m)
{
  ambit__wavefront *w = m->w;

  memcpy(w->inners, w->stages, (size_t)w->wave.n * sizeof *w->stages);
  for (int d = 0; d < m->own->ndims; d++) {
    const bool continues = ambit__part_continues(m->p, m->own, d);

    if (continues || m->own->lo[d] > 0) leave_out(m, d, true);
    if (continues || m->own->hi[d] < m->p->grid->box.hi[d]) leave_out(m, d, false);
  }
  w->inner = w->wave;
  w->inner.stages = w->inners;
}

/* ---- the wave ---- */

/* The axes along which stages fill periodic ghost cells. */
static unsigned wrapped_axes(const ambit_program *p, const ambit__wavefront *w)
{
  unsigned axes = 0;

  for (int i = 0; i < w->wave.n; i++)
    for (int d = 0; w->flow.stages[i].fills && d < w->own.ndims; d++)
      if ((w->stages[i].low[d] || w->stages[i].high[d]) &&
          filled_field(p, &w->flow.stages[i])->boundaries.kind[d][0] == AMBIT_PERIODIC)
        axes |= 1u << d;
  return axes;
}

static ambit__spread *add_spread(ambit__wavefront *w, int stage, const ambit__flow_read *r)
{
  ambit__spread *s = &w->spreads[w->flow.values[r->value].field];

  for (int d = 0; d < 2; d++) {
    const along a = {w, d};
    const int64_t lag = w->stages[stage].lag[d];
    const int64_t first = lag - above(&a, stage, r), last = lag + below(&a, stage, r);

    if (!s->used || first < s->first[d]) s->first[d] = first;
    if (!s->used || last > s->last[d]) s->last[d] = last;
  }
  s->used = true;
  return s;
}

static void set_spreads(ambit__wavefront *w)
{
  for (int i = 0; i < w->wave.n; i++) {
    for (ambit__flow_read r = {0}; ambit__flow_next_read(&w->flow, i, false, &r);)
      add_spread(w, i, &r);
    for (int at = 0, v; ambit__flow_next_result(&w->flow, i, &at, &v);)
      add_spread(w, i, &(ambit__flow_read){.value = v})->written |= !w->flow.stages[i].fills;
  }
}

/* The sum of the largest lag, lead and reach: the cells that owners leave out on both sides, and
 * read. */
static int64_t least_cells(const ambit__wavefront *w)
{
  const along a = {w, w->wave.axis};
  int64_t lag = 0, lead = 0;
  int reach = 0;

  for (int i = 0; i < w->wave.n; i++) {
    if (w->stages[i].lag[a.axis] > lag) lag = w->stages[i].lag[a.axis];
    if (w->stages[i].lead[a.axis] > lead) lead = w->stages[i].lead[a.axis];
    for (ambit__flow_read r = {0}; ambit__flow_next_read(&w->flow, i, false, &r);)
      reach = ambit__max(reach, ambit__max(below(&a, i, &r), above(&a, i, &r)));
  }
  return lag + lead + reach;
}

/* What a part has beyond the faces of the grid: cells of its own where it continues. */
static void set_bounds(const maker *m)
{
  ambit__boundaries *bounds = m->w->bounds;

  for (int b = 0; b < m->p->nfields; b++)
    for (int c = 0; c < m->p->fields[b]->components; c++, bounds++) {
      *bounds = *ambit__field_boundaries(m->p->fields[b], c);
      for (int d = 0; d < m->own->ndims; d++)
        if (ambit__part_continues(m->p, m->own, d))
          bounds->kind[d][0] = bounds->kind[d][1] = AMBIT_NONE;
    }
}

/* Those of the components of a field. */
static const ambit__boundaries *bounds_of(const ambit_program *p, const ambit__wavefront *w,
                                          const ambit_field *f)
{
  const ambit__boundaries *bounds = w->bounds;

  for (int b = 0; p->fields[b] != f; b++)
    bounds += p->fields[b]->components;
  return bounds;
}

static ambit_status allocate(maker *m)
{
  ambit__errors *errors = ambit__program_errors(m->p);
  const size_t fields = (size_t)m->p->nfields + 1;
  const size_t fills = ambit__memory_flow_fills(m->p, m->flow->iterations);
  const size_t stages = (size_t)m->flow->nstages + fills;
  const size_t values = (size_t)m->flow->nvalues + fills;
  ambit__wavefront *w = m->w;
  size_t components = 1;

  for (int i = 0; i < m->p->nfields; i++)
    components += (size_t)m->p->fields[i]->components;
  AMBIT_TRY(ambit__memory_flow_open(m->p, m->flow->iterations, fills, &w->flow));
  AMBIT_TAKE(errors, &w->memory, w->stages, stages);
  AMBIT_TAKE(errors, &w->memory, w->inners, stages);
  AMBIT_TAKE(errors, &w->memory, w->bounds, components);
  AMBIT_TAKE(errors, &w->memory, w->spreads, fields);
  AMBIT_TAKE(errors, &w->memory, m->now, fields);
  AMBIT_TAKE(errors, &w->memory, m->lags, stages);
  AMBIT_TAKE(errors, &w->memory, m->values, values);
  AMBIT_TAKE(errors, &w->memory, m->until, values);
  return AMBIT_OK;
}

static ambit_status add_stages(maker *m)
{
  AMBIT_TRY(allocate(m));
  if (ambit__box_is_empty(m->own)) return AMBIT_OK;
  for (int i = 0; i < m->p->nfields; i++)
    m->now[i] = i;
  for (int i = 0; i < m->flow->nstages; i++)
    if (m->flow->stages[i].rule) add_step(m, i);
  set_bounds(m);
  set_lags(m);
  return AMBIT_OK;
}

/* A box of all cells. Where it is larger than the grid or the cells of stages, no harm is done: it
 * begins at a vector, or block of rows, of the part. */
static ambit__box all_cells(const maker *m)
{
  ambit__box all = *m->own;

  for (int i = 0; i < m->w->wave.n; i++)
    all = ambit__box_hull(&all, &m->w->stages[i].cells);
  for (int d = 0; d < all.ndims; d++) {
    const int64_t over = m->own->lo[d] - all.lo[d];

    all.lo[d] = m->own->lo[d] - (over + ROW_UNIT - 1) / ROW_UNIT * ROW_UNIT;
    if (ambit__grid_cuts(m->p->grid, d)) continue;
    all.lo[d] = 0;
    all.hi[d] = m->p->grid->box.hi[d];
  }
  return all;
}

ambit__box ambit__wavefront_inner(const ambit__wavefront *w, const ambit__flow_stage *stage)
{
  for (int i = 0; i < w->wave.n; i++) {
    const ambit__flow_stage *st = &w->flow.stages[i];

    if (!st->fills && st->step == stage->step && st->iteration == stage->iteration)
      return w->inners[i].cells;
  }
  return (ambit__box){.ndims = w->own.ndims};
}

/* When all stages are there. */
static void finish(const maker *m)
{
  ambit__wavefront *w = m->w;

  w->wave.stages = w->stages;
  w->wave.all = all_cells(m);
  w->wraps = wrapped_axes(m->p, w);
  set_spreads(w);
  w->wave.wraps = w->wraps >> w->wave.axis & 1;
  w->wave.least = least_cells(w);
  set_inner(m);
}

ambit_status ambit__wavefront_make(const ambit_program *p, const ambit__flow *flow,
                                   const ambit__box *own, ambit__wavefront *w)
{
  maker m = {.p = p, .flow = flow, .w = w, .own = own};

  *w = (ambit__wavefront){.own = *own,
                          .wave = {.extents = p->grid->box.hi, .iterations = flow->iterations}};
  AMBIT_TRY(add_stages(&m));
  finish(&m);
  return AMBIT_OK;
}

void ambit__wavefront_free(ambit__wavefront *w)
{
  ambit__flow_free(&w->flow);
  ambit__arena_free(&w->memory);
  *w = (ambit__wavefront){0};
}

/* ---- conditions ---- */

const char *ambit__wavefront_refusal(const ambit_program *p)
{
  const ambit *a = p->grid->context;

  for (int i = 0; i < p->grid->placement.n; i++)
    if (!ambit__can(ambit__engine_of(p->grid, i)->device->backend, wave))
      return "the device computes them one by one";
  if (p->grid->box.ndims < 2) return "the grid has one axis";
  if (ambit__options_checks(a)) return "the option nan or check is on";
  return ambit__roles_refusal(p);
}

/* ---- functions and arguments ---- */

/* A box as the wave has them. */
static ambit__box typical_box(const ambit_program *p, const ambit__wavefront *w, size_t step)
{
  const int axis = w->wave.axis, last = p->grid->box.ndims - 1;
  ambit__box box = ambit__box_intersect(&p->applies[step].region, &w->own);

  if (ambit__box_is_empty(&box)) box = p->applies[step].region;
  if (box.hi[axis] - box.lo[axis] > w->wave.size.block)
    box.hi[axis] = box.lo[axis] + w->wave.size.block;
  if (w->wave.size.tile && box.hi[axis + 1] - box.lo[axis + 1] > w->wave.size.tile)
    box.hi[axis + 1] = box.lo[axis + 1] + w->wave.size.tile;
  if (w->wave.size.strip && box.hi[last] - box.lo[last] > w->wave.size.strip)
    box.hi[last] = box.lo[last] + w->wave.size.strip;
  return box;
}

/* A step that is built like an earlier one, on boxes of the same extents, has its function. */
static ambit_status build_function(ambit_program *p, ambit__wavefront *w, int engine, size_t step)
{
  const size_t model = p->applies[step].model;
  const ambit__box box = typical_box(p, w, step), like = typical_box(p, w, model);
  bool same = ambit__step_shares(p, step) && w->functions[model];

  for (int d = 0; d < box.ndims; d++)
    same &= box.hi[d] - box.lo[d] == like.hi[d] - like.lo[d];
  if (!same) return ambit__step_build(p, step, engine, &box, TILES_NONE, &w->functions[step]);
  w->functions[step] = w->functions[model];
  return AMBIT_OK;
}

static ambit_status build_functions(ambit_program *p, ambit__wavefront *w, int part, bool *can)
{
  const int engine = p->grid->placement.engine[part];

  AMBIT_TAKE(ambit__program_errors(p), &w->memory, w->functions, p->nsteps);
  for (int i = 0; i < w->wave.n; i++) {
    const ambit__flow_stage *st = &w->flow.stages[i];

    if (st->fills || w->functions[st->step]) continue;
    AMBIT_TRY(build_function(p, w, engine, st->step));
    *can &= w->functions[st->step]->waves;
  }
  return AMBIT_OK;
}

static void set_arguments(ambit_program *p, ambit__wavefront *w, int part)
{
  const int engine = p->grid->placement.engine[part];
  ambit__argument *args = w->args;

  for (int i = 0; i < w->wave.n; i++) {
    const ambit__flow_stage *st = &w->flow.stages[i];
    const ambit__step *s = &p->steps[st->step];

    w->stages[i].args = w->inners[i].args = args;
    if (st->fills) {
      const ambit_field *f = filled_field(p, st);
      const ambit__boundaries *bounds = bounds_of(p, w, f);

      *args++ = (ambit__argument){.store = &w->stores[w->flow.values[w->flow.in[st->ports]].field],
                                  .boundaries = bounds,
                                  .special = f->special ? bounds : NULL};
      continue;
    }
    w->stages[i].fn = w->inners[i].fn = w->functions[st->step];
    w->stages[i].keeps =
        p->applies[st->step].reduces && !p->cycle->tail && st->iteration == w->wave.iterations - 1;
    w->stages[i].folds = p->applies[st->step].folds;
    for (int k = 0; k < s->n; k++, args++) {
      ambit__buffer *early = NULL;

      *args = p->applies[st->step].args[part * p->applies[st->step].nargs + k];
      if (s->args[k].field) args->store = &w->stores[ambit__memory_flow_buffer(&w->flow, i, k)];
      if (s->args[k].scalar)
        early = ambit__ahead_value(&p->cycle->ahead, s->args[k].scalar, ambit__stage_order(p, st),
                                   engine);
      if (early) args->value = early;
    }
  }
}

ambit_status ambit__wavefront_build(ambit_program *p, ambit__wavefront *w, int part, bool *can)
{
  ambit__errors *errors = ambit__program_errors(p);
  size_t nargs = 0;

  for (int i = 0; i < w->wave.n; i++)
    nargs += w->flow.stages[i].fills ? 1 : (size_t)w->stages[i].nargs;
  AMBIT_TRY(build_functions(p, w, part, can));
  AMBIT_TAKE(errors, &w->memory, w->args, nargs + 1);
  AMBIT_TAKE(errors, &w->memory, w->stores, (size_t)p->nfields + 1);
  set_arguments(p, w, part);
  w->inner.size = w->wave.size;
  return AMBIT_OK;
}

/* ---- running ---- */

ambit_status ambit__wavefront_run(ambit_program *p, ambit__wavefront *w, int part, bool inner)
{
  ambit__queue *q = ambit__engine_of(p->grid, part)->queue;

  if (!w->wave.n) return AMBIT_OK;
  for (int i = 0; i < p->nfields; i++)
    w->stores[i] = p->fields[i]->stores[part];
  return ambit__do(q, wave, inner ? &w->inner : &w->wave, p->iteration);
}

/* The number behind a name in a plan; -1: no plan has it; `none`: there is no such name. */
static int64_t number_in(const char *plan, const char *name, int64_t most, int64_t none)
{
  const char *at = strstr(plan, name);
  const long long number = at ? strtoll(at + strlen(name), NULL, 10) : 0;

  return !at ? none : number < 1 || number > most ? -1 : number;
}

/* Numbers that no plan has, from a user or a damaged file, are left to the model. */
ambit__wavefront_wish ambit__wavefront_read(const char *plan)
{
  ambit__wavefront_wish wish = {.any = ambit__plan_begins(plan, "(wavefront"),
                                .size = {.tile = -1, .strip = -1}};
  const int64_t depth = wish.any ? number_in(plan, "(wavefront depth ", MOST_DEPTH, 0) : 0;
  const int64_t rows = depth > 0 ? number_in(plan, " rows ", MOST_CELLS, 0) : 0;
  const int64_t none = strchr(plan, ')') ? 0 : -1;

  if (depth > 0) wish.depth = (int)depth;
  if (rows > 0)
    wish.size = (ambit__wave_sizes){.block = rows,
                                    .tile = number_in(plan, " tile ", MOST_CELLS, none),
                                    .strip = number_in(plan, " strip ", MOST_CELLS, none)};
  return wish;
}

void ambit__wavefront_print_sizes(int depth, const ambit__wave_sizes *sizes, char *text,
                                  size_t size)
{
  const char *const names[] = {" tile", " strip"};
  const int64_t numbers[] = {sizes->tile, sizes->strip};
  size_t n =
      (size_t)snprintf(text, size, "(wavefront depth %d rows %lld", depth, (long long)sizes->block);

  for (int i = 0; i < 2; i++)
    if (numbers[i] && n < size)
      n += (size_t)snprintf(text + n, size - n, "%s %lld", names[i], (long long)numbers[i]);
  if (n < size) snprintf(text + n, size - n, ")");
}

void ambit__wavefront_print(const ambit__wavefront *w, char *text, size_t size)
{
  ambit__wavefront_print_sizes(w->wave.iterations, &w->wave.size, text, size);
}
