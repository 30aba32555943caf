/* execute.c - running a sealed program: a walk over its operations, again and again. */
#include "base/clock.h"
#include "base/log.h"
#include "runtime/runtime.h"

#include <math.h>
#include <string.h>

#define ERRORS(p) (&(p)->grid->context->errors)

/* ---- before the first iteration ---- */

/* Whether some step gives every cell of the field a new value, whatever the old one was. */
static bool overwritten(const ambit_program *p, const ambit_field *f)
{
  for (size_t i = 0; i < p->nsteps; i++) {
    const ambit__step *s = &p->steps[i];
    ambit__box region;

    if (s->kind != STEP_APPLY) continue;
    region = ambit__step_region(p, s);
    for (int k = 0; k < s->n; k++) {
      const ambit__param *q = &s->kernel->rule->params[k];
      bool whole = s->args[k].field == f && ambit__box_equal(&region, &p->grid->box);

      for (int c = 0; c < q->components; c++)
        whole = whole && q->writes[c] && !q->keeps[c];
      if (whole) return true;
    }
  }
  return false;
}

/* Whether some step looks at the old values of the field. */
static bool is_read(const ambit_program *p, const ambit_field *f)
{
  for (size_t i = 0; i < p->nsteps; i++)
    for (int k = 0; p->steps[i].kind == STEP_APPLY && k < p->steps[i].n; k++)
      if (p->steps[i].args[k].field == f && p->steps[i].kernel->rule->params[k].nreads) return true;
  return false;
}

/* A field that was never given values, but hands its own to one that was, starts as a copy of it
 * (see ambit_swap in ambit.h). When that one is given values again, it is copied again, unless the program
 * keeps something of its own in the field by now. */
static ambit_status hand_out_values(ambit_program *p)
{
  for (size_t i = 0; i < p->nsteps; i++)
    for (int k = 0; p->steps[i].kind == STEP_ROTATE && k < p->steps[i].n; k++) {
      ambit_field *to = p->steps[i].args[k].field;
      ambit_field *from = p->steps[i].args[(k + 1) % p->steps[i].n].field;

      if (!to->news || from->given || (from->started && is_read(p, from))) continue;
      if (!overwritten(p, from)) AMBIT_TRY(ambit__field_copy(from, to));
    }
  for (size_t i = 0; i < p->nsteps; i++)
    for (int k = 0; k < p->steps[i].n; k++) {
      ambit_field *f = p->steps[i].args[k].field;

      if (!f) continue;
      f->news = false;
      f->started = true;
    }
  return AMBIT_OK;
}

/* Whether anything a step writes is read by a step: otherwise all iterations do the same. */
static bool goes_anywhere(const ambit_program *p)
{
  for (size_t i = 0; i < p->nsteps; i++) {
    const ambit__step *s = &p->steps[i];

    if (s->kind == STEP_ROTATE || s->kernel->rule->uses_step) return true;
    for (int k = 0; k < s->n; k++) {
      const ambit__param *q = &s->kernel->rule->params[k];
      bool reads = q->nreads > 0 || q->kind == PARAM_VALUE;

      for (size_t j = 0; reads && j < p->nsteps; j++)
        for (int m = 0; p->steps[j].kind == STEP_APPLY && m < p->steps[j].n; m++) {
          const ambit__param *w = &p->steps[j].kernel->rule->params[m];
          const ambit_arg *x = &p->steps[j].args[m], *y = &s->args[k];

          if ((w->is_written || w->kind == PARAM_REDUCE) &&
              ((x->field && x->field == y->field) || (x->scalar && x->scalar == y->scalar)))
            return true;
        }
    }
  }
  return false;
}

static ambit_status prepare(ambit_program *p, int64_t iterations)
{
  bool was_sealed = p->sealed;

  AMBIT_CHECK(iterations >= 0, ERRORS(p), AMBIT_EINVAL,
              "a program was asked to run %lld iterations; it must be 0 or more",
              (long long)iterations);
  AMBIT_TRY(ambit__program_seal(p));
  if (!was_sealed && iterations > 1 && !p->every && !goes_anywhere(p))
    ambit__log(&p->grid->context->settings, 0,
               "no step of the program reads what another wrote, so all %lld iterations do the "
               "same; is an "
               "ambit_swap missing?",
               (long long)iterations);
  return hand_out_values(p);
}

/* ---- one iteration ---- */

/* Whether the ghost cells hold what the field's boundaries say, as wide as asked. */
static bool ghosts_hold(const ambit_field *f, const ambit__operation *op)
{
  const ambit__ghosts *g = &f->ghosts;

  if (g->boundary != f->boundary_id) return false;
  for (int d = 0; d < f->grid->box.ndims; d++) {
    bool moves_low = f->boundaries.kind[d][0] != AMBIT_CONSTANT;
    bool moves_high = f->boundaries.kind[d][1] != AMBIT_CONSTANT;

    if (op->low[d] > g->low[d] || op->high[d] > g->high[d]) return false;
    if (g->stale && ((op->low[d] && moves_low) || (op->high[d] && moves_high))) return false;
  }
  return true;
}

static ambit_status fill_ghosts(ambit__queue *q, const ambit__operation *op)
{
  ambit_field *f = op->fields[0];
  ambit__ghosts *g = &f->ghosts;

  if (ghosts_hold(f, op)) return AMBIT_OK;
  g->boundary = f->boundary_id;
  g->stale = false;
  memcpy(g->low, op->low, sizeof g->low);
  memcpy(g->high, op->high, sizeof g->high);
  return q->device->backend->ghosts(q, &f->store, &f->boundaries, f->grid->box.hi, op->low,
                                    op->high);
}

static ambit_status launch(ambit__queue *q, ambit__operation *op, int64_t iteration)
{
  op->launch.step = iteration;
  for (int i = 0; i < op->n; i++)
    op->fields[i]->ghosts.stale = true;
  return q->device->backend->launch(q, op->function, &op->launch);
}

static void rotate(const ambit__operation *op)
{
  ambit__buffer *first = op->fields[0]->store.buffer;
  ambit__ghosts ghosts = op->fields[0]->ghosts;

  for (int i = 0; i < op->n - 1; i++) {
    op->fields[i]->store.buffer = op->fields[i + 1]->store.buffer;
    op->fields[i]->ghosts = op->fields[i + 1]->ghosts;
  }
  op->fields[op->n - 1]->store.buffer = first;
  op->fields[op->n - 1]->ghosts = ghosts;
}

static ambit_status iterate(ambit_program *p)
{
  ambit__queue *q = p->grid->context->queue;

  for (size_t i = 0; i < p->nops; i++)
    switch (p->ops[i].kind) {
    case OP_GHOSTS: AMBIT_TRY(fill_ghosts(q, &p->ops[i])); break;
    case OP_LAUNCH: AMBIT_TRY(launch(q, &p->ops[i], p->iteration)); break;
    case OP_ROTATE: rotate(&p->ops[i]); break;
    }
  p->iteration++;
  return AMBIT_OK;
}

/* ---- many iterations ---- */

typedef struct stop_rule {
  ambit_scalar *scalar; /* NULL: never */
  ambit_condition when;
  double value;
} stop_rule;

static ambit_status check_stop(ambit_program *p, const stop_rule *stop, bool *met)
{
  double x = ambit_scalar_get(stop->scalar);

  AMBIT_TRY(ERRORS(p)->status);
  AMBIT_CHECK(isfinite(x), ERRORS(p), AMBIT_EPROGRAM,
              "after iteration %lld the scalar '%s' is %g, which can never meet the condition: the "
              "fields hold "
              "values that are not finite, or no cell was updated",
              (long long)p->iteration, stop->scalar->name, x);
  *met = stop->when == AMBIT_BELOW   ? x < stop->value
         : stop->when == AMBIT_ABOVE ? x > stop->value
                                     : x == stop->value;
  return AMBIT_OK;
}

static void count(ambit_program *p, int64_t iterations, double seconds)
{
  p->stats.iterations += iterations;
  p->stats.seconds += seconds;
  for (size_t i = 0; i < p->nops; i++) {
    p->stats.cells += p->ops[i].cells * (double)iterations;
    p->stats.bytes += p->ops[i].bytes * (double)iterations;
    p->stats.flops += p->ops[i].flops * (double)iterations;
  }
}

/* Iterations until something but iterating has to be done. */
static int64_t until_next(const ambit_program *p, const stop_rule *stop, int64_t unchecked,
                          int64_t left)
{
  int64_t n = left;

  if (p->every && p->every - p->iteration % p->every < n) n = p->every - p->iteration % p->every;
  if (stop->scalar && p->check - unchecked < n) n = p->check - unchecked;
  return n;
}

/* n iterations, timed. */
static ambit_status iterate_many(ambit_program *p, int64_t n, ambit__progress *progress)
{
  double start = ambit__clock();

  for (int64_t i = 0; i < n; i++) {
    AMBIT_TRY(iterate(p));
    if (progress->on) ambit__progress_show(progress, p, false);
  }
  AMBIT_TRY(p->grid->context->device->backend->wait(p->grid->context->queue));
  count(p, n, ambit__clock() - start);
  return AMBIT_OK;
}

/* Calls back if it is time to, and takes up what the user changed meanwhile. */
static ambit_status call_back(ambit_program *p, bool *stopped)
{
  if (!p->every || p->iteration % p->every) return AMBIT_OK;
  *stopped |= p->callback(p, p->iteration, p->callback_user) != 0;
  AMBIT_TRY(ERRORS(p)->status);
  AMBIT_TRY(ambit__program_seal(p));
  return hand_out_values(p);
}

static ambit_status run(ambit_program *p, int64_t most, const stop_rule *stop)
{
  ambit__progress progress;
  int64_t left = most, unchecked = 0; /* iterations since the last check */
  bool stopped = false;

  AMBIT_TRY(prepare(p, most));
  progress = ambit__progress_start(p, most);
  p->converged = false;
  while (left > 0 && !stopped) {
    int64_t n = until_next(p, stop, unchecked, left);

    AMBIT_TRY(iterate_many(p, n, &progress));
    left -= n;
    unchecked += n;
    if (stop->scalar && (unchecked >= p->check || !left)) {
      AMBIT_TRY(check_stop(p, stop, &p->converged));
      stopped = p->converged;
      unchecked = 0;
    }
    AMBIT_TRY(call_back(p, &stopped));
  }
  ambit__progress_show(&progress, p, true);
  return AMBIT_OK;
}

ambit_status ambit_run(ambit_program *p, int64_t iterations)
{
  const stop_rule never = {0};

  if (!p || ambit__failed(p->grid->context)) return p ? ERRORS(p)->status : AMBIT_EINVAL;
  return run(p, iterations, &never);
}

ambit_status ambit_run_until(ambit_program *p, ambit_scalar *s, ambit_condition when, double value,
                             int64_t most)
{
  const stop_rule stop = {s, when, value};

  if (!p || ambit__failed(p->grid->context)) return p ? ERRORS(p)->status : AMBIT_EINVAL;
  AMBIT_CHECK(s && s->context == p->grid->context, ERRORS(p), AMBIT_EINVAL,
              "ambit_run_until: the scalar is NULL or belongs to another context");
  AMBIT_CHECK(when >= AMBIT_BELOW && when <= AMBIT_EQUAL, ERRORS(p), AMBIT_EINVAL,
              "ambit_run_until: %d is no condition", (int)when);
  return run(p, most, &stop);
}
