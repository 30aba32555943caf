/* SPDX-License-Identifier: BSD-3-Clause */
/* balance.c - measures shares, moves the cut, and tries the first device alone.
 *
 * All processes decide alike: from numbers that all of them know. Hysteresis: a cut is moved if
 * this shortens iterations by a twentieth or more, if two measurements in a row say so (the first
 * one of a program is believed), and if the iterations to come, guessed as at least as many as
 * there were, save twice the cost of moving.
 */
#include "runtime/run/balance.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "runtime/observe/meter.h"
#include "runtime/program/cycle.h"
#include "runtime/run/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  WARM_UP = 2, /* iterations before the first measurement */
  WINDOW = 4,  /* iterations that are measured, at least */
  ROUNDS = 5   /* cycles until a device that computes several iterations at once is up to speed */
};

static const double FIRST_PERIOD = 0.05, LAST_PERIOD = 2; /* seconds between measurements */
static const double LEAST_GAIN = 0.05;                    /* of a moved cut */
static const double LEAST_SHARE = 0.02;  /* that a device must add to the others to take part */
static const double WORTH = 0.4;         /* share of the first device that makes it worth a trial */
static const double LEAST_SECONDS = 0.5; /* of a run in which it is tried */
static const double GUESSED_RATE = 4e9;  /* bytes per second of moving a cut */
static const double CLEARLY = 0.99;      /* all must beat one by more than this */

/* ---- moving ---- */

static ambit_status recut(ambit_program *p, const double *weights, bool *moved)
{
  ambit *a = p->grid->context;
  ambit__balance *b = p->balance;
  const double start = ambit__clock();
  double cost;

  AMBIT_TRY(ambit__grid_recut(p->grid, weights, moved));
  if (!*moved) return AMBIT_OK;
  AMBIT_TRY(ambit__program_seal(p));
  AMBIT_TRY(ambit__run_or_stop(p, ambit__program_ready(p)));
  cost = ambit__clock() - start;
  AMBIT_TRY(ambit__net_max(a->net, &cost, 1));
  ambit__trace_add(a->trace, NOTE_RECUT, start);
  b->cost = cost;
  b->recutting += cost;
  b->together = 0;
  p->stats.seconds += cost;
  b->recuts++;
  return AMBIT_OK;
}

/* ---- opening ---- */

static ambit_status open_meter(ambit *a)
{
  ambit__device **devices;
  ambit_status s;

  if (a->meter) return AMBIT_OK;
  AMBIT_NEW(&a->errors, devices, (size_t)a->nengines);
  for (int i = 0; i < a->nengines; i++)
    devices[i] = a->engines[i].device;
  s = ambit__meter_open(&a->errors, devices, a->nengines, &a->meter);
  free(devices);
  return s;
}

/* A guess of the time to move all fields. */
static double guess_cost(const ambit_grid *g)
{
  double bytes = 0;

  for (const ambit__link *i = g->fields.next; i->owner; i = i->next)
    bytes += (double)ambit__box_volume(&g->box) * (double)ambit__field_cell_bytes(i->owner);
  return 0.01 + bytes / GUESSED_RATE;
}

static ambit_status make(ambit_program *p, int n, bool moves)
{
  ambit__errors *errors = ambit__program_errors(p);
  ambit__balance *b = p->balance = ambit__new(errors, 1, sizeof *b);
  int first = 0;

  if (!b) return AMBIT_ENOMEM;
  p->unbalance = ambit__balance_free;
  *b = (ambit__balance){.moves = moves, .wanted = WARM_UP, .n = n};
  b->period = FIRST_PERIOD;
  b->cost = guess_cost(p->grid);
  AMBIT_NEW(errors, b->weights, 10 * (size_t)n + 1);
  b->rates = b->weights + n;
  b->busy = b->rates + n;
  b->moving = b->busy + n;
  b->first = b->moving + n;
  b->asked = b->first + n;
  b->cells = b->asked + n;
  b->measures = b->cells + n;
  for (int i = p->grid->context->placement.n; i-- > 0;)
    if (!p->grid->context->placement.engine[i]) first = i;
  b->first[first] = 1;
  return open_meter(p->grid->context);
}

/* Begins with the weights that earlier runs found. */
static ambit_status start_as_before(ambit_program *p)
{
  ambit__balance *b = p->balance;
  bool moved;

  AMBIT_TRY(ambit__balance_recall(p, b->weights, &b->recalled));
  if (!b->recalled) return AMBIT_OK;
  b->tried = true;
  AMBIT_TRY(recut(p, b->weights, &moved));
  if (moved && p->grid->nparts == 1) b->stage = BALANCE_OVER;
  return AMBIT_OK;
}

ambit_status ambit__balance_make(ambit_program *p)
{
  ambit *a = p->grid->context;
  const int n = a->placement.first[a->net->size];
  bool wanted[] = {ambit__weights_are_auto(a) && !p->grid->balanced && !p->grid->nested &&
                       !ambit__program_calls(p),
                   a->settings.report};

  if (p->weighed || n < 2) return AMBIT_OK;
  p->weighed = true;
  AMBIT_TRY(ambit__net_any(a->net, wanted, 2));
  if (wanted[0]) p->grid->balanced = p;
  if (wanted[0] || wanted[1]) make(p, n, wanted[0]);
  AMBIT_TRY(ambit__net_agree(a->net));
  AMBIT_TRY(ambit__balance_gather(p));
  return wanted[0] ? start_as_before(p) : AMBIT_OK;
}

void ambit__balance_free(ambit_program *p)
{
  if (p->grid->balanced == p) p->grid->balanced = NULL;
  if (p->balance) {
    free(p->balance->weights);
    free(p->balance->names);
  }
  free(p->balance);
  p->balance = NULL;
}

/* Runs that are not measured: of a program that another one calls, and those in which tiles sleep
 * until nothing changes. */
static bool is_aside(const ambit_program *p)
{
  return p->is_called || (p->awaits_rest && p->sleep);
}

void ambit__balance_start(const ambit_program *p)
{
  if (p->balance && p->balance->stage == BALANCE_END && !is_aside(p))
    ambit__meter_switch(p->grid->context->meter, true);
}

void ambit__balance_stop(ambit_program *p, int64_t iterations, double seconds)
{
  if (!p->balance || is_aside(p)) return;
  ambit__meter_switch(p->grid->context->meter, false);
  p->balance->iterations += iterations;
  p->balance->elapsed += seconds;
}

int64_t ambit__balance_left(const ambit_program *p)
{
  const ambit__balance *b = p->balance;

  if (!b || b->stage == BALANCE_OVER || is_aside(p)) return INT64_MAX;
  return b->wanted > b->iterations ? b->wanted - b->iterations : 1;
}

/* ---- measuring ---- */

/* At least so many iterations, and so many cycles. */
static int64_t some_iterations(const ambit_program *p, int64_t least, int cycles)
{
  const int64_t n = p->cycle ? cycles * (p->cycle->schedule.iterations + p->cycle->tail) : 0;

  return n > least ? n : least;
}

static void begin(ambit_program *p, ambit__balance_stage stage, int64_t iterations)
{
  ambit__balance *b = p->balance;

  b->stage = stage;
  b->iterations = 0;
  b->elapsed = 0;
  b->wanted = iterations;
}

/* Cells of all parts on the device of a part of this process, and their number. */
static double cells_with(const ambit_grid *g, int part, int *parts)
{
  double cells = 0;

  *parts = 0;
  for (int i = 0; i < g->placement.n; i++)
    if (g->placement.engine[i] == g->placement.engine[part]) {
      cells += (double)ambit__grid_count(g, &g->parts[g->first + i]);
      ++*parts;
    }
  return cells;
}

/* The measurements of this process. A device divides its speed among its parts. Returns
 * false if a device has no timer. */
static bool take_measures(const ambit_program *p, double *rates, double *busy, double *moving)
{
  const ambit_grid *g = p->grid;
  const double iterations = (double)p->balance->iterations;
  bool known = true;

  for (int i = 0; i < g->placement.n; i++) {
    const int engine = g->placement.engine[i], at = g->first + i;
    const double computed = ambit__meter_seconds(g->context->meter, engine, METER_COMPUTE);
    const double moved = ambit__meter_seconds(g->context->meter, engine, METER_MOVE);
    int parts;
    const double cells = cells_with(g, i, &parts);

    known &= computed >= 0 && moved >= 0;
    busy[at] = computed / iterations / parts;
    moving[at] = moved / iterations / parts;
    rates[at] = computed > 0 ? cells / computed * iterations / parts : 0;
  }
  return known;
}

/* Makes the measures of all processes known to all. *known: every device could be measured. */
static ambit_status share_measures(ambit_program *p, bool *known)
{
  ambit__balance *b = p->balance;
  ambit *a = p->grid->context;
  const size_t n = (size_t)b->n;
  double *all = b->measures;

  memset(all, 0, 3 * n * sizeof *all);
  *known = take_measures(p, all, all + n, all + 2 * n);
  all[3 * n] = b->elapsed / (double)b->iterations / a->net->size;
  AMBIT_TRY(ambit__net_all(a->net, known, 1));
  AMBIT_TRY(ambit__net_sum(a->net, all, 3 * n + 1));
  for (size_t i = 0; i < n; i++) {
    if (all[i] > 0) b->rates[i] = all[i];
    b->busy[i] = all[n + i];
    b->moving[i] = all[2 * n + i];
  }
  b->seconds = all[3 * n];
  return AMBIT_OK;
}

/* Iterations to come. */
static double horizon(const ambit_program *p, int64_t left)
{
  return (double)(left > p->iteration ? left : p->iteration);
}

/* ---- one device alone ---- */

/* The share of the first device, if it can have the whole grid; else 0. */
static double share_of_first(const ambit_program *p)
{
  const ambit *a = p->grid->context;
  double first = 0, all = 0;

  if (a->net->size > 1) return 0;
  for (int i = 0; i < p->balance->n; i++) {
    all += p->balance->rates[i];
    if (a->placement.engine[i] == 0) first += p->balance->rates[i];
  }
  return all > 0 ? first / all : 0;
}

/* Alone, a device can compute several iterations at once: only a trial shows how fast it is. */
static bool is_worth_a_trial(const ambit_program *p, int64_t left)
{
  const ambit__balance *b = p->balance;
  const double rest = horizon(p, left) * b->seconds;

  return !b->tried && b->together > 0 && p->grid->context->settings.depth != 1 &&
         p->grid->nparts > 1 && share_of_first(p) >= WORTH && rest > LEAST_SECONDS &&
         rest > 20 * b->cost;
}

static ambit_status try_alone(ambit_program *p)
{
  const double together = p->balance->together;
  bool moved;

  p->balance->tried = true;
  AMBIT_TRY(recut(p, p->balance->first, &moved));
  p->balance->together = together;
  if (moved)
    begin(p, BALANCE_WARM, some_iterations(p, WARM_UP, ROUNDS));
  else
    begin(p, BALANCE_BEGIN, 1);
  return AMBIT_OK;
}

static ambit_status judge_alone(ambit_program *p)
{
  ambit__balance *b = p->balance;
  bool moved;

  b->alone = b->elapsed / (double)b->iterations;
  ambit__log(&p->grid->context->settings, 1,
             "an iteration takes %.3g s on all devices, %.3g s on %s", b->together, b->alone,
             p->grid->context->engines[0].backend->name);
  if (b->alone * CLEARLY <= b->together) {
    b->stage = BALANCE_OVER;
    ambit__balance_note(p, b->first);
    return AMBIT_OK;
  }
  AMBIT_TRY(recut(p, b->weights, &moved));
  begin(p, BALANCE_BEGIN, some_iterations(p, WARM_UP, 1));
  return AMBIT_OK;
}

/* ---- all devices ---- */

/* Rests until the next measurement. */
static void rest(ambit_program *p)
{
  ambit__balance *b = p->balance;
  const double n = b->seconds > 0 ? b->period / b->seconds : 1;

  begin(p, BALANCE_BEGIN, some_iterations(p, n < 1 ? 1 : n > 1e9 ? (int64_t)1e9 : (int64_t)n, 1));
  b->period = fmin(2 * b->period, LAST_PERIOD);
}

/* Sets b->asked. Returns whether to move the cut there. */
static bool choose(ambit_program *p, int64_t left)
{
  ambit__balance *b = p->balance;
  double now, then;

  for (int i = 0; i < b->n; i++) {
    b->cells[i] = i < p->grid->nparts ? (double)ambit__grid_count(p->grid, &p->grid->parts[i]) : 0;
    if (b->cells[i] > 0 && b->rates[i] <= 0) return false; /* its tiles slept */
  }
  b->gain = ambit__shares_choose(b->rates, b->n, LEAST_SHARE, b->asked);
  now = ambit__shares_time(b->rates, b->n, b->cells);
  then = ambit__shares_ideal(b->rates, b->n, b->asked,
                             (double)ambit__grid_count(p->grid, &p->grid->box));
  if (then > (1 - LEAST_GAIN) * now) return false;
  return (now - then) * horizon(p, left) > 2 * b->cost;
}

static ambit_status judge(ambit_program *p, int64_t left)
{
  ambit__balance *b = p->balance;
  const bool wrong = choose(p, left);
  bool moved = false;

  if (wrong && (b->doubtful || !b->recuts)) {
    memcpy(b->weights, b->asked, (size_t)b->n * sizeof *b->weights);
    b->period = FIRST_PERIOD;
    AMBIT_TRY(recut(p, b->weights, &moved));
  }
  if (moved) ambit__balance_note(p, b->weights);
  if (moved && p->grid->nparts == 1) {
    b->stage = BALANCE_OVER;
  } else if (moved || (wrong && !b->doubtful)) {
    begin(p, BALANCE_BEGIN, some_iterations(p, WARM_UP, 1));
  } else if (is_worth_a_trial(p, left)) {
    return try_alone(p);
  } else {
    rest(p);
  }
  b->doubtful = wrong && !moved && !b->doubtful;
  return AMBIT_OK;
}

static ambit_status end(ambit_program *p, int64_t left)
{
  ambit__balance *b = p->balance;
  bool known;

  AMBIT_TRY(share_measures(p, &known));
  if (!known) {
    b->stage = BALANCE_OVER;
    return AMBIT_OK;
  }
  if (b->moves) return judge(p, left);
  rest(p);
  return AMBIT_OK;
}

ambit_status ambit__balance_act(ambit_program *p, int64_t left)
{
  ambit__balance *b = p->balance;

  if (!b || b->stage == BALANCE_OVER || is_aside(p) || b->iterations < b->wanted) return AMBIT_OK;
  switch (b->stage) {
  case BALANCE_BEGIN:
    if (b->iterations >= WINDOW) b->together = b->elapsed / (double)b->iterations;
    ambit__meter_clear(p->grid->context->meter);
    begin(p, BALANCE_END, some_iterations(p, WINDOW, 2));
    return AMBIT_OK;
  case BALANCE_END: return end(p, left);
  case BALANCE_WARM: begin(p, BALANCE_ALONE, some_iterations(p, WINDOW, ROUNDS)); return AMBIT_OK;
  case BALANCE_ALONE: return judge_alone(p);
  case BALANCE_OVER: break;
  }
  return AMBIT_OK;
}
