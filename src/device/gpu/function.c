/* SPDX-License-Identifier: BSD-3-Clause */
/* function.c - builds and launches kernels.
 *
 * A launch fills in the arguments in the order of ambit__gpucode_slots and goes into the queue; it
 * waits for nothing. If the plan of the function does not suit a box (the face of a part, or a thin
 * part), the strategy for any box runs it, compiled on first use. The memory for partial results of
 * blocks belongs to the queue, whose launches run one after the other.
 */
#include "device/chore.h"
#include "device/gpu/gpu.h"
#include "flow/flow.h"
#include "plan/gpu.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* One way to run it. Launches repeat few boxes, so the last shape is kept: finding one can take
 * longer than a launch. */
typedef struct variant {
  ambit__plan plan;
  ambit__gpu_shared *code; /* NULL: not needed yet */
  ambit__box box;          /* of the last launch; of no dimensions before the first one */
  ambit__shape shape;      /* that belongs to it */
} variant;

typedef struct function {
  ambit__function head;
  ambit__group group; /* with `bind` below */
  ambit__binding bind[AMBIT_MAX_PARAMS];
  variant usual, any;
  ambit__gpu_own own; /* registered source, compiled as the code of `usual`; it has no plan */
  ambit__gpu_assigned *assigned; /* on a sparse grid: the cells of launches so far; owned */
  ambit__gpu_chore *chore;       /* in place of the group; NULL: none; owned */
  ambit__gpu_aims *aims;         /* of a flow with points: by box; owned */
  ambit__gpu_aimed *aimed;       /* the same, by parameter: of a launch; NULL: no points; owned */
  ambit__gpu_rest *rests;        /* if it relaxes: the tiles of parts so far; owned */
  ambit__gpu_memory *edges;      /* of a flow that loops; NULL: not launched yet; owned */
  int64_t rounds;                /* at least as many as exchanges through it so far */
  ambit__gpu_memory *pieces;     /* totals of cells folded onto fields; NULL: not launched; owned */
  size_t pieces_bytes;
  int nslots, nfold; /* number of parameters of the two kernels */
  ambit__gpucode_slot slots[AMBIT__GPUCODE_SLOTS], fold_slots[AMBIT__GPUCODE_FOLD_SLOTS];
} function;

/* ---- device limits ---- */

static ambit__visit find_double(void *user, const ambit__expr *e)
{
  (void)user;
  return e->type == AMBIT_F64 ? VISIT_END : VISIT_INSIDE;
}

static ambit__visit find_double_local(void *user, const ambit__stmt *s)
{
  const ambit__rule *rule = user;
  const bool is_double = s->kind == STMT_LOCAL && rule->locals[s->index].type == AMBIT_F64;

  return is_double ? VISIT_END : VISIT_INSIDE;
}

static ambit_status check_double(const ambit__gpu_device *d, const ambit__rule *rule)
{
  const ambit__visitor v = {find_double_local, find_double, (void *)(uintptr_t)rule};

  if (d->info.has_double) return AMBIT_OK;
  for (int i = 0; i < rule->nparams; i++)
    AMBIT_CHECK(rule->params[i].type != AMBIT_F64, d->head.errors, AMBIT_EUNSUPPORTED,
                "kernel %s: its parameter '%s' is double, which %s does not have; use float, or "
                "another device",
                rule->name, rule->params[i].label, d->info.name);
  AMBIT_CHECK(!ambit__visit_stmts(&v, rule->body), d->head.errors, AMBIT_EUNSUPPORTED,
              "kernel %s computes in double, which %s does not have; write numbers as 0.5f and "
              "functions as sqrtf, or use another device",
              rule->name, d->info.name);
  return AMBIT_OK;
}

static ambit_status check_parameters(const ambit__gpu_device *d, const function *f)
{
  const size_t bytes = (size_t)f->nslots * sizeof(int64_t);

  AMBIT_CHECK(!d->info.parameters || bytes <= d->info.parameters, d->head.errors,
              AMBIT_EUNSUPPORTED,
              "kernel %s needs %zu bytes of arguments on a GPU, and %s takes %zu; use fewer fields "
              "in one kernel",
              f->group.rule->name, bytes, d->info.name, d->info.parameters);
  return AMBIT_OK;
}

/* ---- build ---- */

void ambit__gpu_discard(ambit__gpu_device *d, ambit__function *fn)
{
  function *f = (function *)fn;

  if (!f) return;
  ambit__gpu_shared_drop(d, f->usual.code);
  ambit__gpu_shared_drop(d, f->any.code);
  ambit__gpu_assigned_free(d, f->assigned);
  ambit__gpu_aims_free(d, f->aims);
  free(f->aimed);
  ambit__gpu_rests_free(d, f->rests);
  ambit__gpu_chore_close(d, f->chore);
  if (f->edges) d->driver->release(f->edges);
  if (f->pieces) d->driver->release(f->pieces);
  free(f->own.source);
  free(f->head.plan);
  free(f);
}

static ambit__target target_of(const ambit__gpu_device *d)
{
  return (ambit__target){.kind = TARGET_GPU,
                         .machine = &d->head.machine,
                         .dialect = d->driver->dialect,
                         .threads = d->info.multiprocessors,
                         .l2 = d->info.l2,
                         .exchanges = d->info.exchanges,
                         .max_threads = d->info.max_threads,
                         .shared = d->info.shared,
                         .is_cpu = d->info.is_cpu,
                         .dots = d->info.dots,
                         .minima = d->info.minima};
}

void ambit__gpu_foresee(ambit__gpu_device *d, const ambit__group *g)
{
  const ambit__target target = target_of(d);
  ambit__gpu_text text = {.entry = AMBIT_ENTRY, .strict = g->strict};
  ambit__plan plan;
  char *source;

  if (!d->driver->foresee || g->checks || (!g->form && ambit__gpu_has_own(d, g))) return;
  if (!ambit__plan_choose(g, &target, &plan)) return;
  text.source = source = ambit__plan_source(g, &target, &plan);
  if (source && !ambit__gpu_shared_find(d, &text)) d->driver->foresee(d->gpu, source, g->strict);
  free(source);
}

/* Writes and compiles the code of a variant from its plan. */
static ambit_status compile(ambit__gpu_device *d, const function *f, variant *v)
{
  const char *name = f->group.rule->name;
  ambit__gpu_text text = {.name = name,
                          .what = "a generated kernel",
                          .entry = AMBIT_ENTRY,
                          .strict = f->group.strict,
                          .has_fold = ambit__group_reduces(&f->group)};
  const ambit__target target = target_of(d);
  ambit_status s;
  char *source;

  text.source = source = ambit__plan_source(&f->group, &target, &v->plan);
  if (source)
    s = ambit__gpu_shared_get(d, &text, &v->code);
  else
    s = ambit__raise(d->head.errors, AMBIT_ENOMEM, "no memory for the source of kernel %s", name);
  free(source);
  return s;
}

static ambit_status plan_usual(ambit__gpu_device *d, function *f)
{
  const ambit__target target = target_of(d);
  const char *name = f->group.rule->name;
  ambit__text line = {0};

  AMBIT_CHECK(ambit__plan_choose(&f->group, &target, &f->usual.plan), d->head.errors,
              AMBIT_EUNSUPPORTED, "no strategy for GPUs can run kernel %s", name);
  f->usual.plan.strategy->describe(&f->usual.plan, &line);
  f->head.plan = ambit__text_finish(&line);
  AMBIT_CHECK(f->head.plan, d->head.errors, AMBIT_ENOMEM, "no memory for the plan of kernel %s",
              name);
  return AMBIT_OK;
}

double ambit__gpu_estimate(ambit__device *dev, const ambit__group *g)
{
  const ambit__target target = target_of(ambit__gpu_device_of(dev));
  ambit__plan plan;

  return ambit__plan_choose(g, &target, &plan) ? plan.strategy->cost(g, &target, &plan) : -1;
}

void ambit__gpu_plans(ambit__gpu_device *d, const ambit__group *g, ambit__text *lines)
{
  const ambit__target target = target_of(d);

  ambit__plan_list(g, &target, lines);
}

static ambit_status build_usual(ambit__gpu_device *d, function *f)
{
  const ambit__plan *plan = &f->usual.plan;

  AMBIT_TRY(plan_usual(d, f));
  if (plan->strategy->tile) plan->strategy->tile(&f->group, plan, f->head.tile);
  ambit__gpu_turn_tile(&f->group, f->head.tile);
  if (f->group.tiles) return AMBIT_OK; /* compiled when it is needed: many never are */
  return compile(d, f, &f->usual);
}

/* The same with registered source. */
static ambit_status build_own(ambit__gpu_device *d, function *f)
{
  ambit__text what = {0};
  ambit__gpu_text text = {.name = f->group.rule->name,
                          .source = f->own.source,
                          .entry = f->own.launch_line.entry,
                          .strict = f->group.strict,
                          .has_fold = ambit__group_reduces(&f->group)};
  ambit_status s;

  f->head.ignores_stop = true;
  f->head.plan = ambit__strdup(d->head.errors, "(registered)");
  if (!f->head.plan) return AMBIT_ENOMEM;
  ambit__gpu_own_name(d, f->group.rule, &what);
  text.what = what.failed ? "a registered source" : what.chars;
  s = ambit__gpu_shared_get(d, &text, &f->usual.code);
  ambit__text_free(&what);
  return s;
}

/* A strict sum is too large to be kept for every tile. */
static bool can_tile(const function *f)
{
  return !f->own.source && !f->head.checked && !f->group.form && !f->group.flow && f->group.ndims &&
         !ambit__group_sums_exactly(&f->group) && !ambit__group_folded(&f->group) &&
         !f->group.turned;
}

static ambit_status build_chore(ambit__gpu_device *d, const ambit__group *g, ambit__function **fn)
{
  const bool host = g->chore->kind == CHORE_HOST;
  function *f = ambit__new(d->head.errors, 1, sizeof *f);
  ambit_status s;

  if (!f) return AMBIT_ENOMEM;
  f->head.ignores_stop = host;
  f->head.plan = ambit__strdup(d->head.errors, host ? "(host)" : "(points)");
  s = f->head.plan ? AMBIT_OK : AMBIT_ENOMEM;
  if (!s && !host) s = ambit__gpu_chore_open(d, g->chore, &f->chore);
  if (s) ambit__gpu_discard(d, &f->head);
  *fn = s ? NULL : &f->head;
  return s;
}

ambit_status ambit__gpu_build(ambit__gpu_device *d, const ambit__group *g, ambit__function **fn)
{
  function *f;
  ambit_status s;

  if (g->chore) return build_chore(d, g, fn);
  AMBIT_TRY(check_double(d, g->rule));
  AMBIT_NEW(d->head.errors, f, 1);
  f->group = *g;
  memcpy(f->bind, g->bind, (size_t)g->rule->nparams * sizeof *f->bind);
  f->group.bind = f->bind;
  if (!g->flow && !g->form && !g->tiles && !g->turn)
    AMBIT_TRY_GOTO(s, ambit__gpu_own_find(d, &f->group, &f->own), fail);
  if (f->own.source) f->group.checks = 0; /* registered source cannot be checked */
  f->head.checked = f->group.checks != 0;
  f->nslots = ambit__gpucode_slots(&f->group, f->slots);
  f->nfold = ambit__gpucode_fold_slots(&f->group, f->fold_slots);
  AMBIT_TRY_GOTO(s, check_parameters(d, f), fail);
  if (g->flow && ambit__flow_has_points(g->flow)) {
    f->aimed = ambit__new(d->head.errors, AMBIT_MAX_PARAMS, sizeof *f->aimed);
    s = AMBIT_ENOMEM;
    if (!f->aimed) goto fail;
  }
  AMBIT_TRY_GOTO(s, f->own.source ? build_own(d, f) : build_usual(d, f), fail);
  f->head.tiles = can_tile(f);
  for (int i = 0; i < f->group.rule->nparams; i++)
    f->head.words += f->group.rule->params[i].kind == PARAM_REDUCE;
  f->head.sweeps = g->sweep && !f->own.source;
  f->head.totals = ambit__group_folded(&f->group);
  *fn = &f->head;
  return AMBIT_OK;
fail:
  ambit__gpu_discard(d, &f->head);
  return s;
}

/* ---- launch ---- */

/* The part of the grid that the fields of a launch hold; NULL if it has no fields. */
static const ambit__box *part_of(const ambit__launch *l)
{
  const ambit__box *part = NULL;

  for (int i = 0; i < l->nargs; i++)
    if (l->args[i].store && (!part || !l->args[i].store->layout.dropped))
      part = &l->args[i].store->layout.own;
  return part;
}

static int64_t offset_of(const ambit__launch *l, int axis)
{
  int64_t lo = 0; /* along axes that a field does not have, it has cell 0 */

  for (int i = 0; i < l->nargs; i++)
    if (l->args[i].store && l->args[i].store->layout.own.lo[axis] > lo)
      lo = l->args[i].store->layout.own.lo[axis];
  return lo;
}

/* A launch, and what its arguments depend on. */
typedef struct flight {
  ambit__gpu_lane *lane;
  const function *f;
  variant *v;
  const ambit__launch *l;
  const ambit__gpu_assigned *assigned; /* on a sparse grid; else without cells */
  const ambit__gpu_tiled *tiled;       /* on tiles; else without any */
  const ambit__gpu_memory *aims;       /* the cells of warps that points touch */
  const ambit__gpu_memory *windows;    /* where warps write down their cells; NULL: they compute */
  int64_t blocks;                      /* of the first kernel */
  bool final;                          /* cells folded onto fields become values of those at once */
} flight;

static const ambit__gpu_assigned no_cells;
static const ambit__gpu_tiled no_tiles;

/* Registered kernels do not have the last argument, `ended`. */
static bool is_own(const flight *t)
{
  return t->v == &t->f->usual && t->f->own.source;
}

static int64_t number_of(const flight *t, const ambit__gpucode_slot *s)
{
  const ambit__launch *l = t->l;

  switch (s->kind) {
  case SLOT_ORIGIN: return l->args[s->param].store->layout.origin;
  case SLOT_STRIDE: return l->args[s->param].store->layout.stride[s->axis];
  case SLOT_COMPONENT: return l->args[s->param].store->layout.component;
  case SLOT_LO: return l->box.lo[s->axis] - offset_of(l, s->axis);
  case SLOT_HI: return l->box.hi[s->axis] - offset_of(l, s->axis);
  case SLOT_OFFSET: return offset_of(l, s->axis);
  case SLOT_EXTENT: return l->extents[s->axis];
  case SLOT_UNITS: return t->assigned->units;
  case SLOT_TILES: return t->tiled->n;
  case SLOT_ROUND: return t->tiled->round;
  case SLOT_FIRST: return t->assigned->first;
  case SLOT_SHARE:
    return t->f->head.totals ? t->v->shape.share
                             : ambit__sparse_share(&t->v->plan, t->assigned->units);
  case SLOT_ROW: return t->f->aimed[s->param].row;
  case SLOT_TOUCHED: return t->f->aimed[s->param].touched;
  case SLOT_STEP: return l->step;
  case SLOT_TIMES: return l->times;
  case SLOT_ROUNDS: return t->f->rounds;
  case SLOT_COUNT: return t->blocks;
  case SLOT_MORE: return l->more ? UINT32_MAX : l->folds;
  default: return 0;
  }
}

/* The store of a field; or, to compare with, another one of the launch on tiles. */
static const ambit__store *store_of(const flight *t, const ambit__gpucode_slot *s)
{
  const ambit__store *other = t->tiled->than[s->param];

  return other && (s->kind == SLOT_THAN) == (t->f->group.tiles == TILES_COMPARE)
             ? other
             : t->l->args[s->param].store;
}

static const ambit__gpu_memory *memory_of(const flight *t, const ambit__gpucode_slot *s)
{
  const ambit__launch *l = t->l;

  switch (s->kind) {
  case SLOT_MEMORY:
  case SLOT_THAN:
    return t->f->bind[s->param].onto ? t->f->pieces : ambit__gpu_memory_of(store_of(t, s)->buffer);
  case SLOT_VALUE: return ambit__gpu_memory_of(l->args[s->param].value);
  case SLOT_RESULT:
    if (!t->f->bind[s->param].onto) return ambit__gpu_memory_of(l->args[s->param].value);
    return t->final ? ambit__gpu_memory_of(l->args[s->param].store->buffer) : NULL;
  case SLOT_PARTIALS:
    return !is_own(t) && ambit__group_is_exact(&t->f->group, s->param)
               ? t->lane->sums[s->param]
               : t->lane->partials[s->param];
  case SLOT_GROUPS: return t->assigned->groups;
  case SLOT_LINES: return t->assigned->lines;
  case SLOT_CELLS: return t->assigned->cells;
  case SLOT_TABLE: return t->tiled->table;
  case SLOT_FOUND: return t->tiled->found;
  case SLOT_LINKS: return t->tiled->links;
  case SLOT_STATE: return t->tiled->state;
  case SLOT_AIMS: return t->aims;
  case SLOT_STARTS: return t->f->aimed[s->param].starts;
  case SLOT_WHO: return t->f->aimed[s->param].who;
  case SLOT_WEIGHTS: return t->f->aimed[s->param].weights;
  case SLOT_ROWS: return t->f->aimed[s->param].rows;
  case SLOT_WINDOWS: return t->windows;
  case SLOT_ENDED: return t->windows ? NULL : ambit__gpu_watch_record(t->lane);
  case SLOT_FAULTS: return ambit__gpu_memory_of(l->faults);
  case SLOT_EDGES: return t->f->edges;
  default: return NULL;
  }
}

/* Whether memory may be missing. */
static bool may_lack(ambit__gpucode_slot_kind kind)
{
  return kind == SLOT_ENDED || kind == SLOT_RESULT || kind == SLOT_MEMORY || kind == SLOT_AIMS ||
         kind == SLOT_WINDOWS || (kind >= SLOT_STARTS && kind <= SLOT_ROWS) ||
         (kind >= SLOT_GROUPS && kind <= SLOT_CELLS);
}

static void fill(const flight *t, int n, const ambit__gpucode_slot *slots, int64_t *numbers,
                 ambit__gpu_arg *args)
{
  for (int i = 0; i < n; i++) {
    const ambit__gpu_memory *memory = memory_of(t, &slots[i]);

    numbers[i] = number_of(t, &slots[i]);
    args[i] = memory                    ? ambit__gpu_arg_memory(memory)
              : may_lack(slots[i].kind) ? ambit__gpu_arg_none()
                                        : ambit__gpu_arg_number(&numbers[i]);
  }
}

/* Once per queue. */
static ambit_status make_partials(ambit__gpu_lane *lane, const function *f, bool own)
{
  ambit__gpu_device *d = lane->device;

  for (int i = 0; i < f->group.rule->nparams; i++) {
    if (f->group.rule->params[i].kind != PARAM_REDUCE) continue;
    if (!own && ambit__group_is_exact(&f->group, i)) {
      if (lane->sums[i]) continue;
      AMBIT_TRY(d->driver->alloc(d->gpu, sizeof(ambit__long), &lane->sums[i]));
      AMBIT_TRY(d->driver->zero(lane->queue, lane->sums[i], 0, sizeof(ambit__long)));
    } else if (!lane->partials[i]) {
      AMBIT_TRY(
          d->driver->alloc(d->gpu, AMBIT__GPUCODE_PARTIALS * sizeof(int64_t), &lane->partials[i]));
    }
  }
  return AMBIT_OK;
}

static void count_cells(const ambit__box *box, int64_t *cells)
{
  for (int i = 0; i < box->ndims; i++)
    cells[i] = box->hi[i] - box->lo[i];
}

/* Whether the usual variant suits a box of a part. part NULL: the launch has no fields. */
static bool suits(const function *f, const ambit__box *part, const ambit__box *box)
{
  const ambit__plan *plan = &f->usual.plan;
  int64_t cells[AMBIT_MAX_DIMS] = {0}, own[AMBIT_MAX_DIMS];

  if (ambit__box_is_empty(box)) return true;
  count_cells(box, cells);
  if (f->own.source) return ambit__launch_line_fits(&f->own.launch_line, cells);
  if (!plan->strategy->suits || !part) return true;
  count_cells(part, own);
  return plan->strategy->suits(&f->group, plan, cells, own);
}

/* The variant for the box of a launch. */
static ambit_status choose(ambit__gpu_device *d, function *f, const ambit__launch *l, variant **v)
{
  const ambit__target target = target_of(d);

  *v = &f->usual;
  if (suits(f, part_of(l), &l->box)) return AMBIT_OK;
  *v = &f->any;
  if (f->any.code) return AMBIT_OK;
  ambit__strategy_cells.candidates(&f->group, &target, &f->any.plan, 1);
  return compile(d, f, &f->any);
}

/* The cells to update: a box, or on a sparse grid a number of units. */
static ambit__box cells_of(const flight *t)
{
  if (!t->l->chunks) return t->l->box;
  return (ambit__box){.ndims = 1, .hi = {t->assigned->units}};
}

/* The launch over a box that is not empty. */
static const ambit__shape *shape_of(const flight *t, const ambit__box *box)
{
  variant *v = t->v;

  if (v->box.ndims && ambit__box_equal(&v->box, box)) return &v->shape;
  if (is_own(t))
    ambit__launch_line_shape(&t->f->own.launch_line, box, &v->shape);
  else
    v->plan.strategy->shape(&t->f->group, &v->plan, box, &v->shape);
  v->box = *box;
  return &v->shape;
}

/* Blocks that run together exchange values through memory of the function. */
static ambit_status run_together(function *f, flight *t)
{
  ambit__gpu_device *d = t->lane->device;
  const ambit__shape *shape = shape_of(t, &t->l->box);
  int64_t numbers[AMBIT__GPUCODE_SLOTS];
  ambit__gpu_arg args[AMBIT__GPUCODE_SLOTS];

  if (!f->edges) {
    AMBIT_TRY(d->driver->alloc(d->gpu, shape->edges, &f->edges));
    AMBIT_TRY(d->driver->zero(t->lane->queue, f->edges, 0, shape->edges));
  }
  fill(t, f->nslots, f->slots, numbers, args);
  f->rounds += t->l->times;
  return d->driver->launch(t->lane->queue, t->v->code->run, shape, f->nslots, args);
}

static ambit_status run(flight *t)
{
  const function *f = t->f;
  const ambit__gpu_driver *driver = t->lane->driver;
  const ambit__box box = cells_of(t);
  int64_t numbers[AMBIT__GPUCODE_SLOTS];
  ambit__gpu_arg args[AMBIT__GPUCODE_SLOTS];
  const ambit__shape *shape;

  if (ambit__box_is_empty(&box)) return AMBIT_OK;
  shape = shape_of(t, &box);
  t->blocks = shape->blocks[0] * shape->blocks[1] * shape->blocks[2];
  fill(t, f->nslots, f->slots, numbers, args);
  return driver->launch(t->lane->queue, t->v->code->run, shape, f->nslots - is_own(t), args);
}

static ambit_status run_fold(const flight *t)
{
  const ambit__shape one = ambit__gpu_shape(1, AMBIT__GPUCODE_FOLD);
  const function *f = t->f;
  const bool own = is_own(t);
  const ambit__gpu_driver *driver = t->lane->driver;
  int64_t numbers[AMBIT__GPUCODE_FOLD_SLOTS];
  ambit__gpu_arg args[AMBIT__GPUCODE_FOLD_SLOTS];
  bool more = false;

  if (own) AMBIT_TRY(ambit__gpu_adopt_before(t->lane, &f->group, t->l, &more));
  fill(t, f->nfold, f->fold_slots, numbers, args);
  for (int i = 0; own && i < f->nfold; i++)
    if (f->fold_slots[i].kind == SLOT_MORE) numbers[i] = more;
  AMBIT_TRY(driver->launch(t->lane->queue, t->v->code->fold, &one, f->nfold - own, args));
  return own ? ambit__gpu_adopt_after(t->lane, &f->group, t->l) : AMBIT_OK;
}

/* The cells of a launch on a sparse grid, and the values beside them. */
static ambit_status prepare(ambit__gpu_device *d, function *f, flight *t)
{
  ambit__gpu_assigned *assigned;

  if (!t->l->chunks) return AMBIT_OK;
  AMBIT_TRY(ambit__gpu_assigned_get(d, t->l, &t->v->plan, ambit__group_indices(&f->group),
                                    &f->assigned, &assigned));
  t->assigned = assigned;
  return assigned->units ? ambit__gpu_bounds(t->lane, t->l, assigned) : AMBIT_OK;
}

/* ---- points in fused launches ---- */

/* Before the first launch on a box: its warps write down their cells. */
static ambit_status find_windows(ambit__gpu_device *d, function *f, flight *t)
{
  const ambit__shape *shape = shape_of(t, &t->l->box);
  const int64_t warps =
      shape->blocks[0] * shape->blocks[1] * shape->blocks[2] * f->usual.plan.threads[1];
  const size_t bytes = (size_t)warps * 12 * sizeof(int);
  ambit__gpu_memory *windows = NULL;
  void *host = NULL;
  ambit_status s;

  AMBIT_TRY_GOTO(s, d->driver->alloc(d->gpu, bytes, &windows), done);
  AMBIT_TRY_GOTO(s, d->driver->host_alloc(d->gpu, bytes, &host), done);
  AMBIT_TRY_GOTO(s, d->driver->zero(t->lane->queue, windows, 0, bytes), done);
  t->windows = windows;
  AMBIT_TRY_GOTO(s, run(t), done);
  AMBIT_TRY_GOTO(s, d->driver->copy_out(t->lane->queue, host, windows, 0, bytes), done);
  AMBIT_TRY_GOTO(s, d->driver->queue_sync(t->lane->queue), done);
  s = ambit__gpu_aims_make(d, &f->group, t->l, part_of(t->l), warps, host, &f->aims);
done:
  t->windows = NULL;
  if (windows) d->driver->release(windows);
  if (host) d->driver->host_release(d->gpu, host);
  return s;
}

static ambit_status aim(ambit__gpu_device *d, function *f, flight *t)
{
  if (!f->aimed || ambit__box_is_empty(&t->l->box)) return AMBIT_OK;
  if (!ambit__gpu_aims_find(f->aims, &t->l->box)) AMBIT_TRY(find_windows(d, f, t));
  t->aims = ambit__gpu_aims_find(f->aims, &t->l->box);
  for (int i = 0; i < f->group.rule->nparams; i++) {
    if (!f->bind[i].points) continue;
    AMBIT_TRY(ambit__gpu_chore_aim(t->lane, ambit__gpu_chore_in(f->group.points[i]), &t->l->args[i],
                                   t->l->step, t->l->times, &f->aimed[i]));
  }
  return AMBIT_OK;
}

/* ---- cells folded onto fields ---- */

/* Launches that fold, and the totals that they leave: those of the cells of the box for each piece,
 * which lie along one of the folded axes. */
typedef struct folded {
  ambit__argument args[AMBIT_MAX_PARAMS];
  ambit__store stores[AMBIT_MAX_PARAMS]; /* without a buffer: in f->pieces */
  ambit__box boxes[AMBIT_MAX_PARAMS];
  int64_t totals;
} folded;

static void place_totals(const flight *t, int param, folded *x)
{
  const ambit__param *q = &t->f->group.rule->params[param];
  const ambit__box own = t->l->args[param].store->layout.own;
  const unsigned dropped = t->f->bind[param].dropped;
  const int axis = t->v->plan.axes[1];
  ambit__layout *l = &x->stores[param].layout;
  ambit__box *box = &x->boxes[param];

  *box = t->l->box;
  for (int d = 0; d < box->ndims; d++)
    if (dropped >> d & 1) {
      box->lo[d] = own.lo[d];
      box->hi[d] = own.lo[d] + 1;
    }
  *l = ambit__gpu_totals_layout(q->type, ambit__param_width(q), dropped, box);
  l->own = own;
  l->origin = x->totals;
  for (int d = 0; d < box->ndims; d++)
    l->origin -= (box->lo[d] - own.lo[d]) * l->stride[d];
  l->stride[axis] = l->component * ambit__param_width(q);
  box->hi[axis] += t->v->shape.pieces - 1;
  x->totals += l->stride[axis] * t->v->shape.pieces;
  x->args[param].store = &x->stores[param];
}

/* Launches on other boxes may have had less memory. */
static ambit_status make_pieces(function *f, const flight *t, size_t bytes)
{
  ambit__gpu_device *d = t->lane->device;

  if (f->pieces && f->pieces_bytes >= bytes) return AMBIT_OK;
  if (f->pieces) {
    AMBIT_TRY(d->driver->queue_sync(t->lane->queue));
    d->driver->release(f->pieces);
    f->pieces = NULL;
  }
  f->pieces_bytes = bytes;
  return d->driver->alloc(d->gpu, bytes, &f->pieces);
}

/* Whether totals may become values at once: no others are of the same cells, and the step does not
 * read the field. */
static bool is_final(const function *f, const flight *t)
{
  const ambit__launch *l = t->l;
  bool final = t->v->shape.pieces == 1 && !l->adds;

  for (int i = 0; i < l->nargs; i++)
    for (int k = 0; f->bind[i].onto && k < l->nargs; k++)
      final &= k == i || !l->args[k].store || l->args[k].store->buffer != l->args[i].store->buffer;
  return final;
}

static ambit_status run_folded(function *f, flight *t)
{
  const ambit__launch *l = t->l;
  ambit__launch left = *l;
  folded x = {.totals = 0};

  if (ambit__box_is_empty(&l->box)) return AMBIT_OK;
  shape_of(t, &l->box);
  t->final = is_final(f, t);
  if (t->final) return run(t);
  memcpy(x.args, l->args, (size_t)l->nargs * sizeof *x.args);
  for (int i = 0; i < l->nargs; i++)
    if (f->bind[i].onto) place_totals(t, i, &x);
  AMBIT_TRY(make_pieces(f, t, (size_t)x.totals * sizeof(int64_t)));
  left.args = x.args;
  t->l = &left;
  AMBIT_TRY(run(t));
  t->l = l;
  for (int i = 0; i < l->nargs; i++) {
    const ambit__fold how = {.param = &f->group.rule->params[i], .dropped = f->bind[i].dropped};

    if (f->bind[i].onto)
      AMBIT_TRY(ambit__gpu_fold_pieces(t->lane, &how, l->args[i].store, f->pieces,
                                       &x.stores[i].layout, &x.boxes[i], l->adds));
  }
  return AMBIT_OK;
}

ambit__gpu_chore *ambit__gpu_chore_in(const ambit__function *fn)
{
  return ((const function *)fn)->chore;
}

ambit_status ambit__gpu_launch(ambit__gpu_lane *lane, const ambit__command *c)
{
  ambit__gpu_device *d = lane->device;
  function *f = (function *)c->launch.fn;
  const ambit__launch *l = c->launch.launch;
  flight t = {.lane = lane, .f = f, .l = l, .assigned = &no_cells, .tiled = &no_tiles};
  ambit__gpu_turned turned;

  if (f->chore) return ambit__gpu_chore_launch(lane, f->chore, l);
  if (f->group.turned) t.l = l = ambit__gpu_turn_launch(l, f->group.turn, &turned);
  AMBIT_TRY(choose(d, f, l, &t.v));
  AMBIT_TRY(prepare(d, f, &t));
  AMBIT_TRY(aim(d, f, &t));
  if (f->aimed && !l->times) return AMBIT_OK;
  if (f->group.flow && f->group.flow->loops) return run_together(f, &t);
  if (t.v->code->fold) AMBIT_TRY(make_partials(t.lane, f, is_own(&t)));
  AMBIT_TRY(f->head.totals ? run_folded(f, &t) : run(&t));
  return t.v->code->fold ? run_fold(&t) : AMBIT_OK;
}

/* ---- tiles ---- */

ambit_status ambit__gpu_run_tiled(ambit__gpu_lane *lane, ambit__function *fn,
                                  const ambit__launch *l, const ambit__gpu_tiled *tiled, int64_t n)
{
  function *f = (function *)fn;
  const flight t = {
      .lane = lane, .f = f, .v = &f->usual, .l = l, .assigned = &no_cells, .tiled = tiled};
  const ambit__box tiles = {.ndims = 1, .hi = {n}};
  int64_t numbers[AMBIT__GPUCODE_SLOTS];
  ambit__gpu_arg args[AMBIT__GPUCODE_SLOTS];
  ambit__shape shape = {0};

  if (!f->usual.code) AMBIT_TRY(compile(lane->device, f, &f->usual));
  if (f->usual.code->fold) AMBIT_TRY(make_partials(lane, f, false));
  f->usual.plan.strategy->shape(&f->group, &f->usual.plan, &tiles, &shape);
  fill(&t, f->nslots, f->slots, numbers, args);
  return lane->driver->launch(lane->queue, f->usual.code->run, &shape, f->nslots, args);
}

ambit_status ambit__gpu_fold_tiled(ambit__gpu_lane *lane, ambit__function *fn,
                                   const ambit__launch *l, int64_t n)
{
  function *f = (function *)fn;
  const flight t = {.lane = lane,
                    .f = f,
                    .v = &f->usual,
                    .l = l,
                    .assigned = &no_cells,
                    .tiled = &no_tiles,
                    .blocks = n};

  return run_fold(&t);
}

ambit__gpu_rest **ambit__gpu_rests_of(ambit__function *fn)
{
  return &((function *)fn)->rests;
}

const ambit__group *ambit__gpu_group_of(const ambit__function *fn)
{
  return &((const function *)fn)->group;
}
