/* SPDX-License-Identifier: BSD-3-Clause */
/* adopt.c - reductions of registered kernels.
 *
 * The second kernel of a registered source (see ambit_register_source) stores a value in the
 * scalar; one number tells it whether to start from the present value. Two small kernels do the
 * rest. One resets scalars that start anew while others continue, and scalars of strict sums, which
 * continue in the long accumulator behind them. The other adds the stored value to that
 * accumulator.
 */
#include "device/gpu/gpu.h"

#include "base/text.h"

#include <string.h>

/* Embedded by the build. */
extern const char ambit__prelude_adopt[], ambit__prelude_sums[];

static ambit_status provide(ambit__gpu_device *d)
{
  const ambit__gpu_kernel kernels[] = {{"ambit_adopt", &d->adopt}, {"ambit_set", &d->set}};
  const ambit__dialect *l = d->driver->dialect;
  ambit__text t = {0};

  if (d->adopt) return AMBIT_OK;
  ambit__print(&t, "%s\n%s\n%s\n", l->strict, l->prelude, ambit__prelude_sums);
  ambit__gpu_fixed_head(l, "Reductions of registered kernels.", 1, &t);
  ambit__print(&t, "%s", ambit__prelude_adopt);
  return ambit__gpu_fixed(d, &t, true, 2, kernels, &d->adopts);
}

static ambit_status launch(ambit__gpu_lane *lane, ambit__gpu_function *f, int n,
                           const ambit__gpu_arg *args)
{
  const ambit__shape one = ambit__gpu_shape(1, 1);

  return lane->driver->launch(lane->queue, f, &one, n, args);
}

static ambit_status set(ambit__gpu_lane *lane, const ambit__buffer *value, const ambit__param *q)
{
  unsigned char bytes[sizeof(int64_t)] = {0};
  int64_t bits;

  ambit__value_store(bytes, q->type, ambit__reduce_identity(q));
  memcpy(&bits, bytes, sizeof bits);
  return launch(lane, lane->device->set, 2,
                (const ambit__gpu_arg[]){ambit__gpu_arg_memory(ambit__gpu_memory_of(value)),
                                         ambit__gpu_arg_number(&bits)});
}

ambit_status ambit__gpu_adopt_before(ambit__gpu_lane *lane, const ambit__group *g,
                                     const ambit__launch *l, bool *more)
{
  const ambit__rule *rule = g->rule;

  *more = false;
  for (int i = 0; i < rule->nparams; i++)
    *more |= rule->params[i].kind == PARAM_REDUCE && ambit__launch_folds(l, i);
  for (int i = 0; *more && i < rule->nparams; i++) {
    const ambit__param *q = &rule->params[i];

    if (q->kind != PARAM_REDUCE || (ambit__launch_folds(l, i) && !ambit__sums_exactly(g, q)))
      continue;
    AMBIT_TRY(provide(lane->device));
    AMBIT_TRY(set(lane, l->args[i].value, q));
  }
  return AMBIT_OK;
}

ambit_status ambit__gpu_adopt_after(ambit__gpu_lane *lane, const ambit__group *g,
                                    const ambit__launch *l)
{
  const ambit__rule *rule = g->rule;

  for (int i = 0; i < rule->nparams; i++) {
    const ambit__param *q = &rule->params[i];
    const int64_t more = ambit__launch_folds(l, i), is_float = q->type == AMBIT_F32;

    if (!ambit__sums_exactly(g, q)) continue;
    AMBIT_TRY(provide(lane->device));
    AMBIT_TRY(launch(
        lane, lane->device->adopt, 3,
        (const ambit__gpu_arg[]){ambit__gpu_arg_memory(ambit__gpu_memory_of(l->args[i].value)),
                                 ambit__gpu_arg_number(&more), ambit__gpu_arg_number(&is_float)}));
  }
  return AMBIT_OK;
}
