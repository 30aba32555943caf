/* SPDX-License-Identifier: BSD-3-Clause */
/* schedule.c - the schedule of an iteration: its launches, and the start and end of each exchange.
 *
 * Without overlap an exchange finishes before the step that needs it starts. With overlap, steps
 * are split. `standard`: the cells that need no halo run while messages are in flight, the others
 * after them:
 *
 *         begin   [ inner of the step ]   finish   [ border of the step ]
 *
 * `extended`: if the previous step writes the cells to send, and has no exchange itself, it
 * computes these cells first, and the rest of it overlaps messages too:
 *
 *         [ cells to send ]  begin  [ rest of the previous step ]  [ inner ]  finish  [ border ]
 *
 * `two-way`: following steps that depend only on finished cells run on their inner cells as well:
 *
 *         begin   [ inner ]   [ inner of the next ]   finish   [ border ]   [ border of the next ]
 *
 * The result is the same with every setting: each step computes every cell once, from the same
 * values.
 */
#include "runtime/schedule/schedule.h"

#include "base/memory.h"
#include "runtime/exchange/allreduce.h"
#include "runtime/program/halo_state.h"

#include <stdlib.h>
#include <string.h>

static ambit_status add(ambit__scheduler *s, ambit__op_kind kind, size_t step)
{
  return ambit__schedule_add(s, &(ambit__operation){.kind = kind, .step = (int)step});
}

/* ---- scalars ---- */

/* Starts the allreduce of a step, if it has one. */
static ambit_status add_allreduce_begin(ambit__scheduler *s, size_t step)
{
  if (!s->p->applies[step].allreduce) return AMBIT_OK;
  s->reducing[step] = true;
  s->nreducing++;
  return add(s, OP_ALLREDUCE_BEGIN, step);
}

static bool shares_scalar(const ambit__step *a, const ambit__step *b)
{
  for (int i = 0; i < a->n; i++)
    for (int j = 0; j < b->n; j++)
      if (a->args[i].scalar && a->args[i].scalar == b->args[j].scalar) return true;
  return false;
}

/* Ends the pending allreduces whose scalars `user` uses; NULL: all, at the end of the iteration. */
static ambit_status add_allreduce_end(ambit__scheduler *s, const ambit__step *user)
{
  for (size_t i = 0; s->nreducing && i < s->p->nsteps; i++) {
    if (!s->reducing[i] || (user && !shares_scalar(&s->p->steps[i], user))) continue;
    s->reducing[i] = false;
    s->nreducing--;
    AMBIT_TRY(add(s, OP_ALLREDUCE_END, i));
  }
  return AMBIT_OK;
}

/* ---- two-way ---- */

/* Whether `next` may run on some cells before `step`, an earlier one, has run on all. */
static bool may_follow(const ambit__scheduler *s, size_t step, size_t next)
{
  const ambit__step *a = &s->p->steps[step], *b = &s->p->steps[next];

  if (b->kind != STEP_APPLY || !s->p->applies[next].region.ndims || s->before[next]) return false;
  if (s->after[step] || s->after[next]) return false;
  if (ambit__chore_is_host(a->chore) || ambit__chore_is_host(b->chore)) return false;
  if (ambit__step_changes_profiles(s->p, a) || ambit__step_changes_profiles(s->p, b)) return false;
  if (a->every > 1 || b->every > 1) return false;
  if (!s->p->applies[next].functions || shares_scalar(a, b)) return false;
  for (int i = 0; i < b->n; i++)
    if (ambit__step_writes(b, b->args[i].field) && b->args[i].field &&
        ambit__step_uses(a, b->args[i].field))
      return false;
  return true;
}

/* The number of steps after `step` that overlap its exchange too. */
static size_t followers(ambit__scheduler *s, size_t step)
{
  size_t n = 0;

  if (s->overlap < OVERLAP_TWO_WAY) return 0;
  for (size_t next = step + 1; next < s->p->nsteps; next++) {
    for (size_t i = step; i < next; i++)
      if (!may_follow(s, i, next)) return n;
    ambit__cells_inner(s, next, s->before[step]);
    for (size_t i = step; i < next; i++)
      ambit__cells_follow(s, i, next);
    n++;
  }
  return n;
}

/* ---- extended ---- */

/* Whether `step` writes all fields that the exchange before `next` sends, and has no exchange
 * itself. */
static bool feeds(const ambit__scheduler *s, size_t step, size_t next)
{
  const ambit__exchange *x = next < s->p->nsteps ? s->before[next] : NULL;
  const ambit__step *st = &s->p->steps[step];

  if (s->overlap < OVERLAP_EXTENDED || !x || !ambit__exchange_is_far(x)) return false;
  if (st->every > 1 || s->p->steps[next].every > 1) return false;
  if (s->p->steps[next].kind != STEP_APPLY || ambit__chore_is_host(st->chore)) return false;
  if (ambit__step_changes_profiles(s->p, st)) return false;
  if (st->kind != STEP_APPLY || s->before[step] || !s->p->applies[step].region.ndims) return false;
  if (s->after[step]) return false;
  for (int i = 0; i < x->nslices; i++)
    if (!ambit__step_writes(st, x->slices[i]->field)) return false;
  return true;
}

/* ---- border cells on a separate queue ---- */

/* Whether the border cells of a step should run on the border queue: some device is asynchronous,
 * and the step runs in every iteration and needs no order of launches, as reductions and checks do.
 */
static bool runs_on_border(const ambit__scheduler *s, size_t step)
{
  const ambit *a = s->p->grid->context;
  bool later = false;

  for (int i = 0; i < a->nengines; i++)
    later |= ambit__can(a->engines[i].device->backend, mark);
  return later && !s->p->applies[step].reduces && !s->p->applies[step].checks &&
         s->p->steps[step].every == 1;
}

/* Finds the exchanges that need not wait for inner cells: only rotations lie between the border
 * launch on the border queue and the exchange, and it sends no inner cells. The last operation of
 * an iteration precedes the first of the next. */
static void find_feeders(const ambit__scheduler *s)
{
  const ambit__schedule *o = s->list;

  for (size_t i = 0; i < o->n; i++) {
    size_t k = i;

    if (o->ops[i].kind != OP_BEGIN) continue;
    do
      k = (k + o->n - 1) % o->n;
    while (o->ops[k].kind == OP_ROTATE);
    if (o->ops[k].kind == OP_LAUNCH && o->ops[k].exchange &&
        !ambit__cells_sends_inner(s, o->ops[i].exchange, (size_t)o->ops[k].step))
      o->ops[i].feeder = o->ops[k].exchange;
  }
}

/* ---- the schedule ---- */

static ambit_status add_part(ambit__scheduler *s, ambit__op_kind kind, size_t step,
                             ambit__exchange *x, bool on_border)
{
  const ambit__operation op = {
      .kind = kind, .step = (int)step, .exchange = x, .on_border = on_border};

  return ambit__schedule_add(s, &op);
}

/* `on_border`: the cells that wait for the exchange run on the border queue. */
static ambit_status add_exchange(ambit__scheduler *s, ambit__op_kind kind, size_t step,
                                 bool on_border)
{
  return add_part(s, kind, step, s->before[step], on_border);
}

/* What a step wrote to halos goes to the parts that own it. */
static ambit_status add_returns(ambit__scheduler *s, size_t step)
{
  if (!s->after[step]) return AMBIT_OK;
  AMBIT_TRY(add_part(s, OP_BEGIN, step, s->after[step], false));
  return add_part(s, OP_FINISH, step, s->after[step], false);
}

/* Begins the exchange of a step, unless the step before it has. */
static ambit_status add_begin(ambit__scheduler *s, size_t step)
{
  const bool begun = s->begun[step];

  s->begun[step] = false; /* in the next schedule of these steps */
  return begun ? AMBIT_OK : add_exchange(s, OP_BEGIN, step, false);
}

static ambit_status add_launch(ambit__scheduler *s, size_t step, ambit__cells cells)
{
  return ambit__schedule_add_launch(s, step, cells, NULL);
}

/* Whether an exchange should overlap the step. A step in place must not change cells that are being
 * sent. */
static bool overlaps(const ambit__scheduler *s, size_t step)
{
  return s->before[step] && s->overlap > OVERLAP_NONE && ambit__exchange_is_far(s->before[step]) &&
         !ambit__step_is_in_place(s->p, &s->p->steps[step]) &&
         !ambit__chore_is_host(s->p->steps[step].chore) &&
         !ambit__step_changes_profiles(s->p, &s->p->steps[step]);
}

/* A step whose exchange overlaps it and `n` following steps. */
static ambit_status add_overlapped(ambit__scheduler *s, size_t step, size_t n)
{
  const bool on_border = n == 0 && runs_on_border(s, step);

  for (size_t i = step; i <= step + n; i++)
    AMBIT_TRY(add_allreduce_end(s, &s->p->steps[i]));
  AMBIT_TRY(add_begin(s, step));
  AMBIT_TRY(add_exchange(s, OP_EDGES, step, on_border));
  for (size_t i = step; i <= step + n; i++)
    AMBIT_TRY(add_launch(s, i, CELLS_INNER));
  AMBIT_TRY(add_exchange(s, OP_FINISH, step, on_border));
  for (size_t i = step; i <= step + n; i++) {
    AMBIT_TRY(ambit__schedule_add_launch(s, i, CELLS_BORDER, on_border ? s->before[step] : NULL));
    AMBIT_TRY(add_allreduce_begin(s, i));
  }
  return AMBIT_OK;
}

/* A step that first computes the cells that the exchange of the next step sends. */
static ambit_status add_feeding(ambit__scheduler *s, size_t step)
{
  AMBIT_TRY(add_allreduce_end(s, &s->p->steps[step]));
  ambit__cells_unsent(s, step, s->before[step + 1]);
  AMBIT_TRY(add_launch(s, step, CELLS_BORDER));
  AMBIT_TRY(add_exchange(s, OP_BEGIN, step + 1, false));
  s->begun[step + 1] = true;
  AMBIT_TRY(add_launch(s, step, CELLS_INNER));
  return add_allreduce_begin(s, step);
}

static ambit_status add_plain(ambit__scheduler *s, size_t step)
{
  AMBIT_TRY(add_allreduce_end(s, &s->p->steps[step]));
  if (s->before[step]) {
    AMBIT_TRY(add_begin(s, step));
    AMBIT_TRY(add_exchange(s, OP_EDGES, step, false));
    AMBIT_TRY(add_exchange(s, OP_FINISH, step, false));
  }
  AMBIT_TRY(add_launch(s, step, CELLS_ALL));
  AMBIT_TRY(add_returns(s, step));
  return add_allreduce_begin(s, step);
}

static ambit_status add_steps(ambit__scheduler *s)
{
  for (size_t i = 0; i < s->p->nsteps; i++) {
    if (s->p->steps[i].kind == STEP_ROTATE) {
      AMBIT_TRY(add(s, OP_ROTATE, i));
    } else if (s->p->steps[i].kind == STEP_COPY) {
      AMBIT_TRY(add_exchange(s, OP_BEGIN, i, false));
      AMBIT_TRY(add_exchange(s, OP_FINISH, i, false));
    } else if (s->p->steps[i].kind == STEP_CALL) {
      AMBIT_TRY(add_allreduce_end(s, NULL)); /* the called program may use all scalars */
      AMBIT_TRY(add(s, OP_CALL, i));
    } else if (!s->p->applies[i].functions) {
      continue; /* it has no cells */
    } else if (overlaps(s, i)) {
      size_t n;

      ambit__cells_inner(s, i, s->before[i]);
      n = followers(s, i);
      AMBIT_TRY(add_overlapped(s, i, n));
      i += n;
    } else if (feeds(s, i, i + 1)) {
      AMBIT_TRY(add_feeding(s, i));
    } else {
      AMBIT_TRY(add_plain(s, i));
    }
  }
  return add_allreduce_end(s, NULL);
}

/* By step and engine. */
static size_t count_launches(const ambit_program *p)
{
  return p->nsteps * (size_t)p->grid->context->nengines;
}

static ambit_status make_schedule(ambit__scheduler *s)
{
  AMBIT_TRY(add_steps(s));
  find_feeders(s);
  if (!s->p->sleep) return AMBIT_OK;
  s->list = &s->p->plain;
  memset(s->launched, 0, count_launches(s->p) * sizeof *s->launched);
  s->overlap = OVERLAP_NONE;
  return add_steps(s);
}

/* ---- exchanges ---- */

ambit_status ambit__program_add_exchange(ambit_program *p, ambit__exchange_kind kind,
                                         const ambit__halos *from, const int *halos, int n,
                                         ambit__exchange **x)
{
  const int most = p->grid->placement.most;
  int64_t tag = (int64_t)p->nexchanges * most * most;

  AMBIT_CHECK(p->grid->context->net->size == 1 || tag + (int64_t)most * most < AMBIT__NET_TAGS,
              ambit__program_errors(p), AMBIT_EUNSUPPORTED,
              "the program has %d halo exchanges, with up to %d parts per process: MPI has too few "
              "tags for their messages. Use fewer parts per process",
              p->nexchanges + 1, most);
  return ambit__exchange_make(p, kind, from, halos, n, (int)(tag % AMBIT__NET_TAGS), x);
}

/* Makes the allreduces of steps that reduce, if there are several engines or processes. */
static ambit_status make_allreduces(ambit_program *p)
{
  if (ambit__grid_on_first(p->grid)) return AMBIT_OK;
  for (size_t i = 0; i < p->nsteps; i++)
    if (p->applies[i].functions && p->applies[i].last) AMBIT_TRY(ambit__allreduce_make(p, i));
  return AMBIT_OK;
}

/* `list` has room for as many numbers as the program has fields. */
static ambit_status add_return(ambit__scheduler *s, size_t step, int *list)
{
  const ambit__apply *a = &s->p->applies[step];

  for (int i = 0; i < a->nreturns; i++)
    list[i] = a->returns + i;
  return ambit__program_add_exchange(s->p, EXCHANGE_ALL, &s->p->returns, list, a->nreturns,
                                     &s->after[step]);
}

static ambit_status make_exchanges(ambit__scheduler *s)
{
  ambit_program *p = s->p;
  int *valid, *list;

  AMBIT_HOLD(p, valid, (size_t)p->nfields + 1);
  AMBIT_HOLD(p, list, (size_t)p->nfields + 1);
  for (int i = 0; i < p->halos.n; i++) {
    const bool messages = !p->halos.list[i].lent || !p->halos.list[i].varies;

    AMBIT_TRY(ambit__program_add_exchange(p, messages ? EXCHANGE_ALL : EXCHANGE_GHOSTS, &p->halos,
                                          &i, 1, &p->starters[i]));
  }
  memcpy(valid, p->start, (size_t)p->nfields * sizeof *valid);
  for (size_t i = 0; i < p->nsteps; i++) {
    int n = ambit__halo_state_step(p, valid, i, list);

    if (p->steps[i].kind == STEP_COPY)
      AMBIT_TRY(ambit__program_add_exchange(p, EXCHANGE_ALL, &p->copies, &p->applies[i].copy, 1,
                                            &s->before[i]));
    else if (n)
      AMBIT_TRY(
          ambit__program_add_exchange(p, EXCHANGE_CHANGES, &p->halos, list, n, &s->before[i]));
    if (p->applies[i].nreturns) AMBIT_TRY(add_return(s, i, list));
  }
  return AMBIT_OK;
}

static ambit_status parse_overlap(ambit_program *p, ambit__overlap *overlap)
{
  static const char *const names[] = {"none", "standard", "extended", "two-way"};
  const char *text = p->grid->context->settings.overlap;

  for (int i = 0; i < 4; i++)
    if (!strcmp(text, names[i])) return *overlap = (ambit__overlap)i, AMBIT_OK;
  return ambit__raise(ambit__program_errors(p), AMBIT_EOPTION,
                      "option overlap is '%s'; it must be none, standard, extended or two-way",
                      text);
}

static ambit_status make_all(ambit__scheduler *s)
{
  ambit_program *p = s->p;
  ambit__overlap overlap;

  AMBIT_TRY(parse_overlap(p, &overlap));
  s->overlap = overlap;
  AMBIT_HOLD(p, s->before, p->nsteps);
  AMBIT_HOLD(p, s->after, p->nsteps);
  AMBIT_HOLD(p, s->begun, p->nsteps);
  AMBIT_HOLD(p, s->reducing, p->nsteps);
  AMBIT_HOLD(p, s->launched, count_launches(p));
  AMBIT_HOLD(p, s->inner, p->nsteps * (size_t)p->grid->placement.n);
  AMBIT_HOLD(p, p->starters, (size_t)p->halos.n);
  AMBIT_HOLD(p, p->exchanges, 2 * p->nsteps + (size_t)p->halos.n + 1);
  AMBIT_TRY(make_allreduces(p));
  AMBIT_TRY(make_exchanges(s));
  p->schedule.iterations = p->plain.iterations = 1;
  AMBIT_TRY(make_schedule(s));
  return ambit__cycle_schedule(p, overlap);
}

ambit_status ambit__program_schedule(ambit_program *p)
{
  ambit__scheduler s = {.p = p, .list = &p->schedule};

  return make_all(&s);
}

void ambit__program_unschedule(ambit_program *p)
{
  ambit__cycle_free(p);
  ambit__schedule_free(&p->schedule);
  ambit__schedule_free(&p->plain);
  for (size_t i = 0; p->applies && i < p->nsteps; i++)
    ambit__allreduce_cancel(p->applies[i].allreduce);
  for (int i = 0; i < p->nexchanges; i++)
    ambit__exchange_close(p->exchanges[i]);
  p->exchanges = p->starters = NULL;
  p->nexchanges = 0;
}
