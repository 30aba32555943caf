/* share.c - what a step reduced, on several engines or processes, becomes one value that all have.
 *
 * Engines are folded in order, then processes in order of rank: every run on as many of them gives the same
 * bits everywhere.
 */
#include "base/memory.h"
#include "runtime/runtime.h"

#include <stdlib.h>
#include <string.h>

#define ERRORS(p) (&(p)->grid->context->errors)

typedef struct eight {
  unsigned char bytes[8]; /* of one value, of whatever type */
} eight;

static void fold(const ambit__param *q, eight *total, const eight *more)
{
  const bool real = ambit__type_is_real(q->type);
  ambit__value sum = ambit__reduce_fold(q->reduce, real, ambit__value_load(total->bytes, q->type),
                                        ambit__value_load(more->bytes, q->type));

  ambit__value_store(total->bytes, q->type,
                     ambit__value_cast(sum, real ? AMBIT_F64 : AMBIT_I64, q->type));
}

/* The scalar's value on all engines of this process, folded. */
static ambit_status fold_engines(ambit_scalar *s, const ambit__param *q, eight *total)
{
  for (int e = 0; e < s->context->nengines; e++) {
    eight one = {{0}};

    AMBIT_TRY(ambit__scalar_take(s, e, one.bytes));
    if (e)
      fold(q, total, &one);
    else
      *total = one;
  }
  return AMBIT_OK;
}

static ambit_status share(ambit_program *p, const ambit__step *s, eight *mine, eight *all)
{
  const ambit__param *params = s->kernel->rule->params;
  ambit__net *net = p->grid->context->net;
  int n = 0;

  for (int i = 0; i < s->n; i++)
    if (params[i].kind == PARAM_REDUCE)
      AMBIT_TRY(fold_engines(s->args[i].scalar, &params[i], &mine[n++]));
  AMBIT_TRY(ambit__net_gather(net, mine, (size_t)n * sizeof *mine, all));
  for (int i = 0, k = 0; i < s->n; i++) {
    if (params[i].kind != PARAM_REDUCE) continue;
    for (int r = 1; r < net->size; r++)
      fold(&params[i], &all[k], &all[r * n + k]);
    AMBIT_TRY(ambit__scalar_put(s->args[i].scalar, all[k++].bytes));
  }
  return AMBIT_OK;
}

ambit_status ambit__step_share(ambit_program *p, const ambit__step *s)
{
  const size_t size = (size_t)p->grid->context->net->size;
  eight *mine = ambit__new(ERRORS(p), (size_t)s->n * (size + 1), sizeof *mine);
  ambit_status status = mine ? share(p, s, mine, mine + s->n) : AMBIT_ENOMEM;

  free(mine);
  return status;
}
