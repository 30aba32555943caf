/* SPDX-License-Identifier: BSD-3-Clause */
/* allreduce.c - combines the reduced scalars of engines and processes into one value.
 *
 * Engines are folded in order, then processes in order of rank, so every run with the same number
 * of them gives the same bits everywhere. Strict sums are sent as long accumulators, not as rounded
 * values, and do not depend on that number. Between begin and finish the values are in flight, and
 * steps that do not use them run.
 */
#include "runtime/exchange/allreduce.h"

#include <string.h>

static bool is_exact(const ambit__allreduce *x, const ambit__param *q)
{
  return x->strict && q->reduce == REDUCE_SUM && ambit__type_is_real(q->type);
}

/* Bytes of a scalar in a message: its value, or its long accumulator. */
static size_t size_of(const ambit__allreduce *x, const ambit__param *q)
{
  return is_exact(x, q) ? sizeof(ambit__long) : sizeof(int64_t);
}

static void fold(const ambit__allreduce *x, const ambit__param *q, unsigned char *total,
                 const unsigned char *more)
{
  const bool real = ambit__type_is_real(q->type);
  ambit__long sums[2];
  ambit__value sum;

  if (is_exact(x, q)) {
    memcpy(&sums[0], total, sizeof *sums);
    memcpy(&sums[1], more, sizeof *sums);
    ambit__long_join(&sums[0], &sums[1]);
    memcpy(total, &sums[0], sizeof *sums);
    return;
  }
  sum = ambit__reduce_fold(q, ambit__value_load(total, q->type), ambit__value_load(more, q->type));
  ambit__value_store(total, q->type, ambit__value_cast(sum, real ? AMBIT_F64 : AMBIT_I64, q->type));
}

/* Gets the value of a scalar from one engine. Waits for it. */
static ambit_status take(const ambit__allreduce *x, ambit_scalar *s, const ambit__param *q,
                         int engine, unsigned char *bytes)
{
  const ambit__engine *e = &s->context->engines[engine];
  ambit__scalar_bytes all;

  if (!is_exact(x, q)) return ambit__scalar_take(s, engine, bytes);
  AMBIT_TRY(ambit__do(e->queue, get, &all, s->values[engine], sizeof all));
  memcpy(bytes, &all.sum, sizeof all.sum);
  return AMBIT_OK;
}

/* Folds the values of all engines of this process. */
static ambit_status fold_engines(const ambit__allreduce *x, ambit_scalar *s, const ambit__param *q,
                                 unsigned char *total)
{
  unsigned char one[sizeof(ambit__long)] = {0};

  for (int e = 0; e < s->context->nengines; e++) {
    AMBIT_TRY(take(x, s, q, e, e ? one : total));
    if (e) fold(x, q, total, one);
  }
  return AMBIT_OK;
}

/* Stores the result on all engines. */
static ambit_status put(const ambit__allreduce *x, ambit_scalar *s, const ambit__param *q,
                        const unsigned char *total)
{
  unsigned char value[sizeof(int64_t)] = {0};
  ambit__long sum;

  if (!is_exact(x, q)) return ambit__scalar_put(s, total);
  memcpy(&sum, total, sizeof sum);
  ambit__value_store(value, q->type, (ambit__value){.real = ambit__long_value(&sum, q->type)});
  return ambit__scalar_put(s, value);
}

static ambit_status send(ambit__allreduce *x)
{
  const ambit__step *s = x->step;
  const ambit__param *params = s->kernel->rule->params;
  unsigned char *at = x->mine;

  for (int i = 0; i < s->n; i++)
    if (x->which >> i & 1) {
      AMBIT_TRY(fold_engines(x, s->args[i].scalar, &params[i], at));
      at += size_of(x, &params[i]);
    }
  x->context->allreduces += !x->sent;
  x->sent = true;
  return ambit__net_gather_begin(x->context->net, x->mine, x->bytes, x->all, &x->request);
}

/* Whether all engines are synchronous, so that getting a value does not wait. */
static bool is_synchronous(const ambit *a)
{
  for (int i = 0; i < a->nengines; i++)
    if (ambit__can(a->engines[i].device->backend, mark)) return false;
  return true;
}

ambit_status ambit__allreduce_begin(ambit__allreduce *x)
{
  return is_synchronous(x->context) ? send(x) : AMBIT_OK;
}

ambit_status ambit__allreduce_finish(ambit__allreduce *x)
{
  const ambit__param *params = x->step->kernel->rule->params;
  ambit__net *net = x->context->net;
  unsigned char *at = x->all;

  if (!x->sent) AMBIT_TRY(send(x));
  x->sent = false;
  x->context->allreduces--;
  AMBIT_TRY(ambit__net_wait(net, &x->request, 1));
  for (int i = 0; i < x->step->n; i++) {
    if (!(x->which >> i & 1)) continue;
    for (int r = 1; r < net->size; r++)
      fold(x, &params[i], at, at + (size_t)r * x->bytes);
    AMBIT_TRY(put(x, x->step->args[i].scalar, &params[i], at));
    at += size_of(x, &params[i]);
  }
  return AMBIT_OK;
}

ambit_status ambit__allreduce_make(ambit_program *p, size_t step)
{
  ambit *a = p->grid->context;
  ambit__allreduce *x;

  AMBIT_HOLD(p, x, 1);
  *x = (ambit__allreduce){.context = a,
                          .step = &p->steps[step],
                          .which = p->applies[step].last,
                          .strict = a->settings.strict};
  p->applies[step].allreduce = x;
  for (int i = 0; i < x->step->n; i++)
    if (x->which >> i & 1) x->bytes += size_of(x, &x->step->kernel->rule->params[i]);
  AMBIT_HOLD(p, x->mine, x->bytes);
  AMBIT_HOLD(p, x->all, x->bytes * (size_t)a->net->size);
  return AMBIT_OK;
}

void ambit__allreduce_cancel(ambit__allreduce *x)
{
  if (!x) return;
  x->context->allreduces -= x->sent;
  ambit__net_cancel(x->context->net, &x->request, 1);
}
