/* SPDX-License-Identifier: BSD-3-Clause */
/* execute.c - executes the schedule of a sealed program. */
#include "runtime/exchange/allreduce.h"
#include "runtime/exchange/exchange.h"
#include "runtime/observe/meter.h"
#include "runtime/program/cycle.h"
#include "runtime/program/halo_state.h"
#include "runtime/run/checked_launch.h"
#include "runtime/run/run.h"
#include "runtime/sleep/sleep.h"

#include <stdio.h>
#include <string.h>

/* ---- notes for the trace ---- */

static const ambit__note_kind note_kinds[] = {
    [OP_BEGIN] = NOTE_BEGIN,
    [OP_EDGES] = NOTE_EDGES,
    [OP_FINISH] = NOTE_FINISH,
    [OP_GHOSTS] = NOTE_GHOSTS,
    [OP_KEEP] = NOTE_ROTATE,
    [OP_RECALL] = NOTE_ROTATE,
    [OP_WAVE] = NOTE_LAUNCH,
    [OP_FUSED] = NOTE_ENQUEUE,
    [OP_TRADE] = NOTE_ROTATE,
    [OP_ALLREDUCE_BEGIN] = NOTE_ALLREDUCE_BEGIN,
    [OP_ALLREDUCE_END] = NOTE_ALLREDUCE_END,
    [OP_ROTATE] = NOTE_ROTATE,
    [OP_CALL] = NOTE_CALL,
};

static void note_launch(const ambit_program *p, const ambit__operation *op,
                        const ambit__piece *piece, double start)
{
  static const char *const cells[] = {[CELLS_INNER] = "inner", [CELLS_BORDER] = "border"};
  const ambit *a = p->grid->context;
  const int engine = p->grid->placement.engine[piece->part];
  const bool later = ambit__can(a->engines[engine].device->backend, mark);
  ambit__note n = ambit__trace_note(a->trace, later ? NOTE_ENQUEUE : NOTE_LAUNCH, start);

  n.cells = cells[op->cells];
  n.part = p->grid->first + piece->part;
  n.count = piece->box.ndims ? ambit__box_volume(&piece->box) : 1;
  snprintf(n.name, sizeof n.name, "%s", p->steps[op->step].kernel->rule->name);
  ambit__trace_keep(a->trace, &n);
  ambit__stopwatch_stop(a->trace, engine, ambit__queue_of(a, op, engine), &n);
}

/* ---- operations ---- */

/* Devices that compute on this thread poll messages meanwhile. */
static void poll_with(ambit *a, ambit__exchange *x)
{
  for (int i = 0; i < a->nengines; i++) {
    a->engines[i].queue->poll = x ? ambit__exchange_poll : NULL;
    a->engines[i].queue->poll_user = x;
  }
}

static ambit_status begin(ambit_program *p, ambit__exchange *x, const ambit__exchange *feeder)
{
  if (ambit__exchange_is_far(x)) poll_with(p->grid->context, x);
  return ambit__exchange_begin(x, feeder);
}

static ambit_status finish(ambit_program *p, ambit__exchange *x, bool on_border)
{
  poll_with(p->grid->context, NULL);
  return ambit__exchange_finish(x, on_border);
}

static ambit_status launch_one(ambit_program *p, int step, int part, ambit__queue *q,
                               const ambit__launch *like)
{
  const ambit__apply *apply = &p->applies[step];
  ambit__launch l = *like;

  if (apply->checks) return ambit__checked_launch(p, step, part, &l);
  return ambit__do(q, launch, apply->functions[p->grid->placement.engine[part]], &l);
}

/* A launch whose reductions into scalars do not count. */
static ambit_status launch_copy(ambit_program *p, int step, int part, ambit__queue *q,
                                const ambit__launch *like)
{
  const ambit__apply *apply = &p->applies[step];
  ambit__argument args[AMBIT_MAX_PARAMS];
  ambit__launch l = *like;

  memcpy(args, l.args, (size_t)l.nargs * sizeof *args);
  for (int i = 0; i < l.nargs; i++)
    if (p->steps[step].kernel->rule->params[i].kind == PARAM_REDUCE)
      args[i].value = apply->waste[p->grid->placement.engine[part]];
  l.args = args;
  return launch_one(p, step, part, q, &l);
}

static ambit_status launch_piece(ambit_program *p, const ambit__operation *op,
                                 const ambit__piece *piece)
{
  ambit *a = p->grid->context;
  const ambit__apply *apply = &p->applies[op->step];
  const int nargs = apply->nargs, engine = p->grid->placement.engine[piece->part];
  ambit__queue *q = ambit__queue_of(a, op, engine);
  ambit__launch l = {.box = piece->box,
                     .extents = p->grid->box.hi,
                     .nargs = nargs,
                     .args = apply->args + piece->part * nargs,
                     .step = p->iteration + op->iteration,
                     .more = piece->more,
                     .folds = apply->folds};
  const double start = ambit__trace_clock(a->trace);
  const ambit__launch_fn go = piece->is_copy ? launch_copy : launch_one;

  AMBIT_TRY(ambit__apply_chunks(p, apply, piece->part, &piece->box, &l.chunks));
  if (a->trace) ambit__stopwatch_start(a->trace, engine, q);
  AMBIT_TRY(ambit__meter_start(a->meter, engine, q));
  if (ambit__chore_is_host(p->steps[op->step].chore))
    AMBIT_TRY(ambit__host_step(p, (size_t)op->step, piece, l.step));
  else if (apply->folding)
    AMBIT_TRY(ambit__fold_launch(p, op, piece, q, &l, go));
  else
    AMBIT_TRY(go(p, op->step, piece->part, q, &l));
  AMBIT_TRY(ambit__meter_stop(a->meter, engine, q, METER_COMPUTE));
  if (a->trace) note_launch(p, op, piece, start);
  return AMBIT_OK;
}

static ambit_status launch(ambit_program *p, const ambit__operation *op)
{
  const ambit__apply *apply = &p->applies[op->step];

  if (p->steps[op->step].chore && p->steps[op->step].chore->source)
    return ambit__resample_step(p, (size_t)op->step);
  if (apply->sweeping) return ambit__sweep_step(p, op, launch_piece);
  for (int i = 0; i < op->npieces; i++)
    AMBIT_TRY(launch_piece(p, op, &op->pieces[i]));
  if (apply->folding) AMBIT_TRY(ambit__fold_finish_step(p, op->step));
  return op->exchange ? ambit__queues_bordered(op->exchange) : AMBIT_OK;
}

/* On all parts of this process. */
static void rotate(const ambit_program *p, const ambit__step *s)
{
  for (int part = 0; s->kind == STEP_ROTATE && part < p->grid->placement.n; part++) {
    ambit__buffer *first = s->args[0].field->stores[part].buffer;

    for (int i = 0; i < s->n - 1; i++)
      s->args[i].field->stores[part].buffer = s->args[i + 1].field->stores[part].buffer;
    s->args[s->n - 1].field->stores[part].buffer = first;
  }
}

/* Whether this is an iteration in which tiles sleep; whether they do in this launch. */
static bool is_walking(const ambit_program *p)
{
  return p->sleep && p->sleep->walking;
}

static bool is_tiled(const ambit_program *p, const ambit__operation *op)
{
  return is_walking(p) && p->sleep->steps[op->step].functions;
}

static ambit_status launch_tiles(ambit_program *p, const ambit__operation *op)
{
  return ambit__relax_is_on(p) ? ambit__relax_step(p, op) : ambit__sleep_step(p, op);
}

static ambit_status run_waves(ambit_program *p, bool inner)
{
  for (int k = 0; k < p->grid->placement.n; k++)
    AMBIT_TRY(ambit__wavefront_run(p, &p->cycle->wavefront[k], k, inner));
  return AMBIT_OK;
}

static ambit_status run(ambit_program *p, const ambit__operation *op)
{
  switch (op->kind) {
  case OP_BEGIN: return begin(p, op->exchange, op->feeder);
  case OP_EDGES: return ambit__exchange_edges(op->exchange, op->on_border);
  case OP_FINISH: return finish(p, op->exchange, op->on_border);
  case OP_GHOSTS: return ambit__move_set_run(p->grid->context, op->ghosts, false);
  case OP_LAUNCH: return is_tiled(p, op) ? launch_tiles(p, op) : launch(p, op);
  case OP_KEEP: return ambit__ahead_move(p, &p->cycle->ahead, op->order, true);
  case OP_RECALL: return ambit__ahead_move(p, &p->cycle->ahead, op->order, false);
  case OP_WAVE: return run_waves(p, op->cells == CELLS_INNER);
  case OP_FUSED: return ambit__fuse_launch(p, p->cycle->fused, op);
  case OP_TRADE: return ambit__fuse_trade(p, p->cycle->fused), AMBIT_OK;
  case OP_ALLREDUCE_BEGIN: return ambit__allreduce_begin(p->applies[op->step].allreduce);
  case OP_ALLREDUCE_END: return ambit__allreduce_finish(p->applies[op->step].allreduce);
  case OP_ROTATE:
    rotate(p, &p->steps[op->step]);
    if (is_walking(p)) ambit__step_rotate(p, &p->steps[op->step], p->sleep->slot);
    return AMBIT_OK;
  case OP_CALL: return ambit__program_call(p, &p->steps[op->step].call);
  }
  return AMBIT_OK;
}

/* Whether the step of an operation runs in this iteration. */
static bool is_due(const ambit_program *p, const ambit__operation *op)
{
  return op->every == 1 || (p->iteration + op->iteration + 1) % op->every == 0;
}

ambit_status ambit__program_walk(ambit_program *p, const ambit__schedule *list)
{
  ambit *a = p->grid->context;

  for (size_t i = 0; i < list->n; i++) {
    const ambit__operation *op = &list->ops[i];
    const double start = ambit__trace_clock(a->trace);

    if (!is_due(p, op)) continue;
    AMBIT_TRY(run(p, op));
    if (op->kind != OP_LAUNCH) ambit__trace_add(a->trace, note_kinds[op->kind], start);
  }
  return AMBIT_OK;
}

void ambit__program_rotate(ambit_program *p)
{
  for (size_t i = 0; i < p->nsteps; i++)
    rotate(p, &p->steps[i]);
}

void ambit__program_forget_ghosts(ambit_program *p)
{
  for (int i = 0; i < p->nfields; i++)
    p->fields[i]->ghosts = (ambit__ghosts){0};
}

static ambit_status iterate(ambit_program *p, const ambit__schedule *list, bool replays)
{
  ambit *a = p->grid->context;

  AMBIT_TRY(ambit__net_listen(a->net)); /* a process without messages to this one may have failed */
  if (a->trace) a->trace->iteration = p->iteration;
  AMBIT_TRY(replays ? ambit__replay_iterate(p) : ambit__program_walk(p, list));
  if (a->trace) a->trace->iteration = -1;
  AMBIT_TRY(ambit__checked_end(p));
  p->iteration += list->iterations;
  return AMBIT_OK;
}

static ambit_status iterate_asleep(ambit_program *p)
{
  ambit__sleep_begin(p);
  AMBIT_TRY(iterate(p, &p->plain, false));
  ambit__sleep_end(p);
  return AMBIT_OK;
}

ambit_status ambit__program_iterate(ambit_program *p)
{
  bool sleeps;

  AMBIT_TRY(ambit__sleep_turn(p, &sleeps));
  if (sleeps) return iterate_asleep(p);
  if (p->sleep) p->sleep->valid = false;
  return iterate(p, &p->schedule, p->replay && !p->grid->context->trace);
}

ambit_status ambit__program_iterate_cycle(ambit_program *p)
{
  if (p->sleep) p->sleep->valid = false;
  ambit__program_forget_ghosts(p); /* the stages fill the ghost cells that they read */
  return iterate(p, &p->cycle->schedule, false);
}

static void iterate_back(ambit_program *p)
{
  for (size_t i = p->nsteps; i-- > 0;)
    for (int k = 1; k < p->steps[i].n; k++) /* as often as it takes to come back */
      rotate(p, &p->steps[i]);
  p->iteration--;
}

/* ---- start and end of a run ---- */

/* Border launches of earlier runs feed no exchange of this one. */
static void forget_borders(ambit_program *p)
{
  for (int i = 0; i < p->nexchanges; i++)
    p->exchanges[i]->bordered = false;
}

void ambit__program_refresh(ambit_program *p)
{
  for (int i = 0; i < p->nfields; i++)
    ambit__view_refresh(p->fields[i]);
}

/* Fills the constant ghost cells of all fields of a rotation in each of their buffers, if they have
 * different ones: turn by turn, until the buffers are back where they were. */
static ambit_status fill_in_turns(ambit_program *p, const ambit__step *s)
{
  for (int turn = 0; turn < s->n; turn++) {
    rotate(p, s);
    for (int i = 0; i < s->n; i++) {
      const ambit__field_halo *h = ambit__halos_find(&p->halos, s->args[i].field);

      AMBIT_TRY(ambit__exchange_fill(p->starters[h - p->halos.list]));
    }
  }
  return AMBIT_OK;
}

/* Constant ghost cells that a buffer does not have yet. */
static ambit_status fill_constants(ambit_program *p)
{
  for (int i = 0; i < p->halos.n; i++)
    if (!p->halos.list[i].is_mixed && ambit__halo_state_lacks_constants(&p->halos.list[i]))
      AMBIT_TRY(ambit__exchange_fill(p->starters[i]));
  for (size_t k = 0; k < p->nsteps; k++) {
    const ambit__step *s = &p->steps[k];
    bool lacks = false;

    for (int i = 0; s->kind == STEP_ROTATE && i < s->n; i++) {
      const ambit__field_halo *h = ambit__halos_find(&p->halos, s->args[i].field);

      lacks |= h && h->is_mixed && ambit__halo_state_lacks_constants(h);
    }
    if (lacks) AMBIT_TRY(fill_in_turns(p, s));
  }
  return AMBIT_OK;
}

/* What was written through a map is stored by ambit_field_unmap. */
static ambit_status check_maps(const ambit_program *p)
{
  for (int i = 0; i < p->nfields; i++)
    AMBIT_CHECK(!p->fields[i]->maps, ambit__program_errors(p), AMBIT_EPROGRAM,
                "field '%s' is mapped, and the program uses it: ambit_field_unmap comes first",
                p->fields[i]->name);
  return AMBIT_OK;
}

ambit_status ambit__program_ready(ambit_program *p)
{
  AMBIT_TRY(check_maps(p));
  forget_borders(p);
  ambit__program_refresh(p);
  if (p->sleep) p->sleep->checked = false;
  ambit__fields_narrow(p);
  AMBIT_TRY(fill_constants(p));
  for (int i = 0; i < p->nfields; i++) {
    ambit__exchange *x;

    if (!ambit__halo_state_lacks(p, i)) continue;
    x = p->starters[p->start[i]];
    AMBIT_TRY(begin(p, x, NULL));
    AMBIT_TRY(ambit__exchange_edges(x, false));
    AMBIT_TRY(finish(p, x, false));
  }
  ambit__halo_state_note(p, p->start);
  p->after_cycle = false;
  return AMBIT_OK;
}

void ambit__program_rest(ambit_program *p)
{
  ambit__halo_state_note(p, p->end);
}

/* Exchanges and reductions may be incomplete: the program is unsealed. */
void ambit__program_give_up(ambit_program *p)
{
  poll_with(p->grid->context, NULL);
  ambit__engines_wait(p->grid->context); /* they may still write to messages */
  ambit__program_forget_ghosts(p);
  ambit__program_unseal(p);
}

void ambit__program_go_back(ambit_program *p, int64_t iteration)
{
  if (p->iteration == iteration) return;
  while (p->iteration > iteration)
    iterate_back(p);
  ambit__program_forget_ghosts(p);
}
