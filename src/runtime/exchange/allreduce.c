/* SPDX-License-Identifier: BSD-3-Clause */
/* allreduce.c - what a step reduced, on several engines or processes, becomes one value that all have.
 *
 * Engines are folded in order, then processes in order of rank: every run on as many of them gives the same
 * bits everywhere. Between begin and finish values are under way, and steps that need none of them go on.
 */
#include "runtime/exchange/allreduce.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static void fold(const ambit__param *q, ambit__eight *total, const ambit__eight *more)
{
  const bool real = ambit__type_is_real(q->type);
  ambit__value sum = ambit__reduce_fold(q->reduce, real, ambit__value_load(total->bytes, q->type),
                                        ambit__value_load(more->bytes, q->type));

  ambit__value_store(total->bytes, q->type,
                     ambit__value_cast(sum, real ? AMBIT_F64 : AMBIT_I64, q->type));
}

/* The scalar's value on all engines of this process, folded. Waits for them. */
static ambit_status fold_engines(ambit_scalar *s, const ambit__param *q, ambit__eight *total)
{
  for (int e = 0; e < s->context->nengines; e++) {
    ambit__eight one = {{0}};

    AMBIT_TRY(ambit__scalar_take(s, e, one.bytes));
    if (e)
      fold(q, total, &one);
    else
      *total = one;
  }
  return AMBIT_OK;
}

static ambit_status send(ambit__allreduce *x)
{
  const ambit__step *s = x->step;
  const ambit__param *params = s->kernel->rule->params;
  int n = 0;

  for (int i = 0; i < s->n; i++)
    if (params[i].kind == PARAM_REDUCE)
      AMBIT_TRY(fold_engines(s->args[i].scalar, &params[i], &x->mine[n++]));
  x->context->allreduces += !x->sent;
  x->sent = true;
  return ambit__net_gather_begin(x->context->net, x->mine, (size_t)n * sizeof *x->mine, x->all,
                                 &x->request);
}

/* Whether asking an engine for a value makes nobody wait: all of them work at once. */
static bool is_at_hand(const ambit *a)
{
  for (int i = 0; i < a->nengines; i++)
    if (a->engines[i].device->backend->event_open) return false;
  return true;
}

ambit_status ambit__allreduce_begin(ambit__allreduce *x)
{
  return is_at_hand(x->context) ? send(x) : AMBIT_OK;
}

ambit_status ambit__allreduce_finish(ambit__allreduce *x)
{
  const ambit__param *params = x->step->kernel->rule->params;
  ambit__net *net = x->context->net;

  if (!x->sent) AMBIT_TRY(send(x));
  x->sent = false;
  x->context->allreduces--;
  AMBIT_TRY(ambit__net_wait(net, &x->request, 1));
  for (int i = 0, k = 0; i < x->step->n; i++) {
    if (params[i].kind != PARAM_REDUCE) continue;
    for (int r = 1; r < net->size; r++)
      fold(&params[i], &x->all[k], &x->all[r * x->n + k]);
    AMBIT_TRY(ambit__scalar_put(x->step->args[i].scalar, x->all[k++].bytes));
  }
  return AMBIT_OK;
}

ambit_status ambit__allreduce_make(ambit *a, const ambit__step *s, ambit__allreduce **out)
{
  ambit__allreduce *x = *out = ambit__new(&a->errors, 1, sizeof *x);

  if (!x) return AMBIT_ENOMEM;
  x->context = a;
  x->step = s;
  for (int i = 0; i < s->n; i++)
    x->n += s->kernel->rule->params[i].kind == PARAM_REDUCE;
  x->mine = ambit__new(&a->errors, (size_t)x->n * (size_t)(a->net->size + 1), sizeof *x->mine);
  x->all = x->mine + x->n;
  return x->mine ? AMBIT_OK : AMBIT_ENOMEM;
}

void ambit__allreduce_free(ambit__allreduce *x)
{
  if (!x) return;
  x->context->allreduces -= x->sent;
  if (x->request.active) ambit__net_cancel(x->context->net, &x->request, 1);
  free(x->mine);
  free(x);
}
