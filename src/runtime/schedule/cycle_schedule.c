/* SPDX-License-Identifier: BSD-3-Clause */
/* cycle_schedule.c - the operations of a cycle: one exchange, then one stage after the other.
 *
 *    begin  [ inner cells of stage 0 ]  finish  ghosts  [ its other cells ]  ghosts  [ stage 1 ]
 *
 * Inner cells read own cells only. The others are the border and the layers beyond the own cells.
 *
 * Where devices can, all stages are a wave. Without messages it has all cells; else it has the
 * inner cells of all stages, which depend on own cells only, and the other cells follow stage by
 * stage. Or each part computes them in one launch:
 *
 *    begin  [ inner cells ]  finish  [ border cells ]  trade
 *
 * The results of inner cells depend on own cells only, over all iterations. Such launches store to
 * other buffers than those that are exchanged.
 */
#include "base/integers.h"
#include "base/log.h"
#include "base/memory.h"
#include "runtime/program/cycle.h"
#include "runtime/schedule/schedule.h"

#include <stdlib.h>

/* Along rows, fused launches begin and end at multiples of this many cells of the part: kernels
 * store vectors. */
enum { ROW_UNIT = 2 * AMBIT__ALIGNED };

static const ambit__flow_stage *stage_of(const ambit_program *p, int stage)
{
  return &p->cycle->flow.stages[stage];
}

static const ambit__step *step_of(const ambit_program *p, int stage)
{
  return &p->steps[stage_of(p, stage)->step];
}

static const ambit__apply *apply_of(const ambit_program *p, int stage)
{
  return &p->applies[stage_of(p, stage)->step];
}

static const ambit__box *own_of(const ambit_program *p, int part)
{
  return &p->grid->parts[p->grid->first + part];
}

/* ---- ghost cells ---- */

/* Those of a field that a stage reads: of all components together, unless these have boundaries of
 * their own. */
static ambit_status add_ghosts(ambit_program *p, int stage, ambit_field *f, ambit__move_set *set)
{
  const int count = f->special ? 1 : f->components;

  for (int k = 0; k < p->grid->placement.n; k++)
    for (int c = 0; c < f->components; c += count) {
      ambit__move m = {.dst = &f->stores[k],
                       .first = c,
                       .count = count,
                       .boundaries = ambit__field_boundaries(f, c),
                       .extents = p->grid->box.hi};

      if (ambit__stage_ghosts(p, stage_of(p, stage), f, own_of(p, k), &m.box, &m.reach))
        AMBIT_TRY(ambit__move_set_add(p->grid, set, k, &m));
    }
  return AMBIT_OK;
}

static ambit_status make_ghosts(ambit_program *p, int stage)
{
  ambit__move_set *set = &p->cycle->ghosts[stage];

  for (int i = 0; step_of(p, stage)->kind == STEP_APPLY && i < p->nfields; i++)
    AMBIT_TRY(add_ghosts(p, stage, p->fields[i], set));
  return ambit__move_set_open(p->grid->context, set);
}

/* ---- launches ---- */

/* Cells of a stage on a part that read own cells only, or depend on own cells only if those of all
 * stages are a wave. */
static ambit__box inner_cells(const ambit_program *p, int stage, int part)
{
  const ambit__step *s = step_of(p, stage);
  const ambit__box *own = own_of(p, part), all = ambit__stage_cells(p, stage_of(p, stage), own);
  ambit__box inner = ambit__box_intersect(own, &all);

  if (p->cycle->wavefront)
    return ambit__wavefront_inner(&p->cycle->wavefront[part], stage_of(p, stage));
  for (int i = 0; i < s->n; i++) {
    const ambit__param *q = ambit__step_param(s, i);
    const int n = inner.ndims - (s->args[i].field && ambit__field_closes_rows(p, s->args[i].field));

    for (int d = 0; s->args[i].field && d < n; d++) {
      inner.lo[d] = ambit__max64(inner.lo[d], own->lo[d] + q->low[d]);
      inner.hi[d] = ambit__min64(inner.hi[d], own->hi[d] - q->high[d]);
    }
  }
  return inner;
}

/* Cells of a part whose results in a fused launch depend on own cells only. */
static ambit__box fused_inner_cells(const ambit_program *p, const ambit__box *own)
{
  const ambit__flow *pipe = &p->cycle->fused->plan.flow;
  ambit__box inner = *own;

  for (int d = 0; d < own->ndims; d++) {
    const int64_t unit = d == own->ndims - 1 ? ROW_UNIT : 1, cells = own->hi[d] - own->lo[d];
    const bool low = own->lo[d] > 0, high = own->hi[d] < p->grid->box.hi[d];

    if (!pipe->cut[d]) continue;
    if (low || pipe->periodic[d]) inner.lo[d] += ambit__round_up(pipe->halo[d][0], unit);
    if (high || pipe->periodic[d])
      inner.hi[d] = own->lo[d] + (cells - pipe->halo[d][1]) / unit * unit;
  }
  return inner;
}

/* Adds pieces for the cells of a part, of a stage or OP_FUSED, as selected by op->cells. */
static void add_cells(const ambit_program *p, int stage, int part, ambit__operation *op)
{
  const bool fused = op->kind == OP_FUSED;
  const ambit__box *own = own_of(p, part);
  const ambit__box all = fused ? *own : ambit__stage_cells(p, stage_of(p, stage), own);
  ambit__box inner = all, rest[2 * AMBIT_MAX_DIMS];
  int n = 0;

  if (ambit__box_is_empty(&all)) return;
  if (op->cells != CELLS_ALL)
    inner = fused ? fused_inner_cells(p, own) : inner_cells(p, stage, part);
  if (ambit__box_is_empty(&inner)) inner = (ambit__box){.ndims = own->ndims};
  if (op->cells != CELLS_BORDER) ambit__operation_add(op, part, &inner);
  if (op->cells == CELLS_BORDER) n = ambit__box_split(&all, &inner, rest);
  for (int i = 0; i < n; i++)
    ambit__operation_add(op, part, &rest[i]);
}

/* A step that runs once is launched once per engine. */
static void add_once(const ambit_program *p, ambit__operation *op)
{
  for (int k = 0; k < p->grid->placement.n; k++) {
    bool seen = false;

    for (int i = 0; i < k; i++)
      seen |= p->grid->placement.engine[i] == p->grid->placement.engine[k];
    if (!seen) op->pieces[op->npieces++] = (ambit__piece){.part = k};
  }
}

/* ---- operations ---- */

/* Only launches are left out with their step: exchanges and waves serve other stages, too. In a
 * fused cycle there are no stages. */
static ambit_status add(ambit__scheduler *s, int stage, ambit__operation op)
{
  const ambit__flow_stage *st = s->p->cycle->fused ? NULL : stage_of(s->p, stage);

  op.step = st ? (int)st->step : 0;
  op.iteration = st ? st->iteration : 0;
  op.every = st && op.kind != OP_LAUNCH;
  return ambit__schedule_add(s, &op);
}

/* OP_LAUNCH of a stage, or OP_FUSED. */
static ambit_status add_launch(ambit__scheduler *s, ambit__op_kind kind, int stage,
                               ambit__cells cells)
{
  const size_t most = (size_t)s->p->grid->placement.n * 2 * AMBIT_MAX_DIMS;
  ambit__operation op = {.kind = kind, .cells = cells};

  AMBIT_HOLD(s->p, op.pieces, most);
  if (kind == OP_LAUNCH && !apply_of(s->p, stage)->region.ndims)
    add_once(s->p, &op);
  else
    for (int k = 0; k < s->p->grid->placement.n; k++)
      add_cells(s->p, stage, k, &op);
  return add(s, stage, op);
}

static ambit_status add_exchange(ambit__scheduler *s, ambit__op_kind kind, ambit__exchange *x)
{
  return x ? add(s, 0, (ambit__operation){.kind = kind, .exchange = x}) : AMBIT_OK;
}

static ambit_status add_stage(ambit__scheduler *s, int stage, ambit__cells cells)
{
  ambit__move_set *ghosts = &s->p->cycle->ghosts[stage];

  if (ghosts->engines)
    AMBIT_TRY(add(s, stage, (ambit__operation){.kind = OP_GHOSTS, .ghosts = ghosts}));
  return add_launch(s, OP_LAUNCH, stage, cells);
}

static ambit_status add_rotation(ambit__scheduler *s, int stage)
{
  return add(s, stage, (ambit__operation){.kind = OP_ROTATE});
}

static bool runs(const ambit_program *p, int stage)
{
  return step_of(p, stage)->kind == STEP_APPLY && apply_of(p, stage)->functions;
}

/* Whether the first stage has cells, and does not write cells that are being sent. */
static bool may_split(const ambit_program *p, const ambit__exchange *x)
{
  if (!runs(p, 0) || !apply_of(p, 0)->region.ndims) return false;
  for (int i = 0; i < x->nslices; i++)
    if (ambit__step_writes(step_of(p, 0), x->slices[i]->field)) return false;
  return ambit__exchange_is_far(x);
}

/* `x` is NULL if every value that stages read of other parts is computed by the part itself. The
 * exchange overlaps the inner cells of the first stage. */
static ambit_status add_all(ambit__scheduler *s, ambit__exchange *x)
{
  const ambit_program *p = s->p;
  const bool splits = x && s->overlap > OVERLAP_NONE && may_split(p, x);

  AMBIT_TRY(add_exchange(s, OP_BEGIN, x));
  if (splits) AMBIT_TRY(add_launch(s, OP_LAUNCH, 0, CELLS_INNER));
  AMBIT_TRY(add_exchange(s, OP_FINISH, x));
  for (int i = 0; i < p->cycle->flow.nstages; i++)
    if (step_of(p, i)->kind == STEP_ROTATE) {
      AMBIT_TRY(add_rotation(s, i));
    } else if (runs(p, i)) {
      AMBIT_TRY(add_stage(s, i, splits && i == 0 ? CELLS_BORDER : CELLS_ALL));
    }
  return AMBIT_OK;
}

static ambit_status add_fused(ambit__scheduler *s, ambit__exchange *x)
{
  const bool splits = x && s->overlap > OVERLAP_NONE && ambit__exchange_is_far(x);

  AMBIT_TRY(add_exchange(s, OP_BEGIN, x));
  if (splits) AMBIT_TRY(add_launch(s, OP_FUSED, 0, CELLS_INNER));
  AMBIT_TRY(add_exchange(s, OP_FINISH, x));
  AMBIT_TRY(add_launch(s, OP_FUSED, 0, splits ? CELLS_BORDER : CELLS_ALL));
  return add(s, 0, (ambit__operation){.kind = OP_TRADE});
}

/* ---- waves ---- */

/* Builds the functions of waves. Where some device cannot, there are none. Collective. */
static ambit_status build_waves(ambit_program *p)
{
  ambit__cycle *c = p->cycle;
  bool can = true;
  char plan[96];

  AMBIT_TRY(ambit__ahead_make(p, &c->flow, &c->ahead));
  for (int k = 0; k < p->grid->placement.n; k++)
    AMBIT_TRY(ambit__wavefront_build(p, &c->wavefront[k], k, &can));
  AMBIT_TRY(ambit__net_all(p->grid->context->net, &can, 1));
  ambit__wavefront_print(c->wavefront, plan, sizeof plan);
  if (can)
    ambit__log(&p->grid->context->settings, 1, "iterations: %s", plan);
  else
    ambit__cycle_unfuse(p);
  return AMBIT_OK;
}

/* An operation on the scalars that a stage computed; they are kept whether it ran or not. */
static ambit_status add_scalars(ambit__scheduler *s, ambit__op_kind kind, int stage)
{
  const int order = stage < 0 ? -1 : ambit__stage_order(s->p, stage_of(s->p, stage));

  return add(s, ambit__max(stage, 0), (ambit__operation){.kind = kind, .order = order});
}

/* Runs the stages on scalars, and keeps their results for the others. */
static ambit_status add_ahead(ambit__scheduler *s)
{
  const ambit_program *p = s->p;

  if (p->cycle->ahead.n) AMBIT_TRY(add_scalars(s, OP_KEEP, -1));
  for (int i = 0; i < p->cycle->flow.nstages; i++) {
    if (apply_of(p, i)->role != ROLE_AHEAD) continue;
    AMBIT_TRY(add_launch(s, OP_LAUNCH, i, CELLS_ALL));
    AMBIT_TRY(add_scalars(s, OP_KEEP, i));
  }
  return AMBIT_OK;
}

static ambit_status add_wave(ambit__scheduler *s, ambit__cells cells)
{
  return add(s, 0, (ambit__operation){.kind = OP_WAVE, .cells = cells});
}

/* After a wave with all cells the fields trade buffers; after one with inner cells they do so in
 * the order of the stages. */
static ambit_status add_waves(ambit__scheduler *s, ambit__exchange *x, bool splits)
{
  const ambit_program *p = s->p;

  AMBIT_TRY(add_exchange(s, OP_BEGIN, x));
  for (int i = 0; i < p->cycle->flow.nstages; i++)
    if (apply_of(p, i)->role == ROLE_FIRST) AMBIT_TRY(add_launch(s, OP_LAUNCH, i, CELLS_ALL));
  AMBIT_TRY(add_ahead(s));
  if (splits) AMBIT_TRY(add_wave(s, CELLS_INNER));
  AMBIT_TRY(add_exchange(s, OP_FINISH, x));
  if (!splits) AMBIT_TRY(add_wave(s, CELLS_ALL));
  if (splits && p->cycle->ahead.n) AMBIT_TRY(add_scalars(s, OP_RECALL, -1));
  for (int i = 0; i < p->cycle->flow.nstages; i++)
    if (step_of(p, i)->kind == STEP_ROTATE) {
      AMBIT_TRY(add_rotation(s, i));
    } else if (apply_of(p, i)->role == ROLE_AHEAD) {
      if (splits) AMBIT_TRY(add_scalars(s, OP_RECALL, i));
    } else if (splits && runs(p, i)) {
      AMBIT_TRY(add_stage(s, i, CELLS_BORDER)); /* what the wave left out */
    }
  return AMBIT_OK;
}

ambit_status ambit__cycle_schedule(ambit_program *p, ambit__overlap overlap)
{
  ambit__scheduler s = {.p = p, .overlap = overlap};
  ambit__exchange *x = NULL;
  ambit__cycle *c;

  AMBIT_TRY(ambit__cycle_fuse(p));
  if (p->cycle && p->cycle->wavefront) AMBIT_TRY(build_waves(p));
  c = p->cycle;
  if (!c) return AMBIT_OK;
  c->schedule.iterations = c->fused ? c->fused->plan.depth : c->flow.iterations;
  c->overlap = (int)overlap;
  s.list = &c->schedule;
  if (c->halos.n)
    AMBIT_TRY(ambit__program_add_exchange(p, EXCHANGE_ALL, &c->halos, NULL, c->halos.n, &x));
  if (c->wavefront && !x) return add_waves(&s, NULL, false);
  if (c->fused) return add_fused(&s, x);
  AMBIT_HOLD(p, c->ghosts, (size_t)c->flow.nstages);
  for (int i = 0; i < c->flow.nstages; i++)
    AMBIT_TRY(make_ghosts(p, i));
  if (c->wavefront) return add_waves(&s, x, overlap > OVERLAP_NONE && ambit__exchange_is_far(x));
  return add_all(&s, x);
}

/* Makes p->cycle the shorter cycle, or NULL if there is none. It needs no more halo than the whole
 * one, and takes that. A wave waits for it, since the exchange reads more cells than the wave would
 * leave alone. */
static ambit_status make_shorter(ambit_program *p, const ambit__cycle *whole, int depth)
{
  const ambit__operation *first = whole->schedule.ops;
  ambit__exchange *x = first->kind == OP_BEGIN ? first->exchange : NULL;
  ambit__scheduler s = {.p = p, .overlap = (ambit__overlap)whole->overlap};

  p->cycle = NULL;
  AMBIT_TRY(ambit__cycle_shorten(p, whole, depth));
  if (p->cycle && p->cycle->wavefront) AMBIT_TRY(build_waves(p));
  if (!p->cycle) return AMBIT_OK;
  s.list = &p->cycle->schedule;
  if (p->cycle->fused) return add_fused(&s, x);
  return p->cycle->wavefront ? add_waves(&s, x, false) : AMBIT_OK;
}

ambit_status ambit__cycle_add_shorter(ambit_program *p, int depth)
{
  ambit__cycle *whole = p->cycle;
  ambit_status s = make_shorter(p, whole, depth);

  if (!p->cycle) p->cycle = ambit__new(ambit__program_errors(p), 1, sizeof *p->cycle);
  if (p->cycle) {
    p->cycle->schedule.iterations = depth;
    p->cycle->shorter = whole->shorter;
    whole->shorter = p->cycle;
  } else if (!s) {
    s = AMBIT_ENOMEM;
  }
  p->cycle = whole;
  return s;
}

static void free_one(ambit_program *p)
{
  ambit__cycle *c = p->cycle;

  for (int i = 0; c->ghosts && i < c->flow.nstages; i++)
    ambit__move_set_free(p->grid->context, &c->ghosts[i]);
  ambit__schedule_free(&c->schedule);
  ambit__cycle_drop(p);
}

void ambit__cycle_free(ambit_program *p)
{
  for (ambit__cycle *c = p->cycle, *next; c; c = next) {
    next = c->shorter;
    p->cycle = c;
    free_one(p);
  }
}
