/* trial_run.c - the trial of a program's two orders: whether there is one, its times, and following the order it asks for. */
#include "runtime/trial.h"

#include "base/log.h"
#include "base/memory.h"
#include "runtime/trace.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- whether there is one ---- */

/* Whether the step adds up rounded numbers: what comes out depends on where it is cut. */
static bool adds_up(const ambit__step *s)
{
  for (int i = 0; i < s->n; i++) {
    const ambit__param *q = &s->kernel->rule->params[i];

    if (q->kind == PARAM_REDUCE && q->reduce == REDUCE_SUM && ambit__type_is_real(q->type))
      return true;
  }
  return false;
}

/* Whether cells of a piece may come out with other last bits than in the whole step. */
static bool may_differ(const ambit_program *p, size_t step, const ambit__piece *piece)
{
  const ambit *a = p->grid->context;
  const int engine = a->slots[piece->part];
  const ambit__backend *backend = a->engines[engine].device->backend;
  const ambit__box own = ambit__cells_own(p, step, piece->part);

  return !a->settings.strict && backend->alike &&
         !backend->alike(p->applies[step].functions[engine],
                         &p->grid->parts[p->grid->first + piece->part], &own, &piece->box);
}

ambit__stance ambit__program_stance(const ambit_program *p, ambit__overlap overlap)
{
  const ambit *a = p->grid->context;
  ambit__stance stance = STANCE_NONE;

  if (overlap != OVERLAP_TWO_WAY || !a->settings.exchange || a->pace.seconds <= 0)
    return STANCE_AGAINST;
  for (size_t i = 0; i < p->cut.n; i++) {
    const ambit__operation *op = &p->cut.ops[i];

    if (op->kind != OP_LAUNCH || op->cells == CELLS_ALL) continue;
    if (p->applies[op->step].checks || adds_up(&p->steps[op->step])) return STANCE_AGAINST;
    for (int k = 0; k < op->npieces; k++)
      if (may_differ(p, (size_t)op->step, &op->pieces[k])) return STANCE_AGAINST;
    stance = STANCE_FOR;
  }
  return stance;
}

ambit_status ambit__program_trial_make(ambit_program *p)
{
  ambit *a = p->grid->context;

  if (a->dry) return AMBIT_OK;
  p->trial = ambit__new(&a->errors, 1, sizeof *p->trial);
  if (!p->trial) return AMBIT_ENOMEM;
  p->trial->times = ambit__new(&a->errors, (size_t)a->net->size, sizeof *p->trial->times);
  if (!p->trial->times) return AMBIT_ENOMEM;
  ambit__trial_start(p->trial, &a->pace);
  return AMBIT_OK;
}

void ambit__program_trial_free(ambit_program *p)
{
  if (p->trial) free(p->trial->times);
  free(p->trial);
  p->trial = NULL;
}

ambit_status ambit__program_trial_agree(ambit_program *p)
{
  ambit__net *net = p->grid->context->net;
  const double mine = p->stance;
  bool some = false, all = true;

  if (!p->trial) return AMBIT_OK;
  AMBIT_TRY(ambit__net_gather(net, &mine, sizeof mine, p->trial->times));
  for (int i = 0; i < net->size; i++) {
    some |= p->trial->times[i] == STANCE_FOR;
    all &= p->trial->times[i] != STANCE_AGAINST;
  }
  if (!some || !all) ambit__program_trial_free(p);
  return AMBIT_OK;
}

/* ---- while it goes on ---- */

/* Takes up the order it asks for. A process that has nothing to cut has one only. */
static void follow(ambit_program *p)
{
  const ambit__order *order = p->trial->whole && p->whole.n ? &p->whole : &p->cut;

  if (order != p->order) ambit__program_follow(p, order);
}

ambit_status ambit__program_trial_resume(ambit_program *p, int64_t iterations)
{
  ambit__trial_resume(p->trial, iterations);
  follow(p);
  if (p->trial->left) AMBIT_TRY(ambit__engines_wait(p->grid->context));
  p->trial->since = ambit__clock();
  return AMBIT_OK;
}

/* Of a number, over all processes. */
static ambit_status find_mean(ambit__net *net, double mine, double *times, double *mean)
{
  AMBIT_TRY(ambit__net_gather(net, &mine, sizeof mine, times));
  *mean = 0;
  for (int i = 0; i < net->size; i++)
    *mean += times[i] / net->size;
  return AMBIT_OK;
}

bool ambit__program_trial_tell(const ambit_program *p, char *text, size_t size)
{
  const ambit__trial *t = p->trial;

  if (!t || !t->over) return false;
  snprintf(text, size, "cut steps take %.4g ms an iteration, whole ones %.4g: steps are %s",
           1e3 * ambit__trial_seconds(t, false), 1e3 * ambit__trial_seconds(t, true),
           t->whole ? "left whole" : "cut");
  return true;
}

static void say(const ambit_program *p)
{
  const ambit *a = p->grid->context;
  char text[160];

  if (!a->net->rank && ambit__program_trial_tell(p, text, sizeof text))
    ambit__log(&a->settings, 1, "overlap %s: %s", a->settings.overlap, text);
}

ambit_status ambit__program_trial_step(ambit_program *p)
{
  ambit *a = p->grid->context;
  double start, seconds;

  if (!ambit__trial_step(p->trial)) return AMBIT_OK;
  AMBIT_TRY(ambit__engines_wait(a));
  start = ambit__clock();
  AMBIT_TRY(find_mean(a->net, start - p->trial->since, p->trial->times, &seconds));
  ambit__trial_enter(p->trial, seconds);
  follow(p);
  say(p);
  if (a->trace) ambit__trace_add(a, NOTE_TRIAL, start);
  p->trial->since = ambit__clock();
  return AMBIT_OK;
}
