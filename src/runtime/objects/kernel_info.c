/* SPDX-License-Identifier: BSD-3-Clause */
/* kernel_info.c - introspection of kernels: parameters, footprint, cost. */
#include "base/memory.h"
#include "runtime/objects/objects.h"

#include <string.h>

int ambit_kernel_ndims(const ambit_kernel *k)
{
  return k ? k->rule->ndims : 0;
}

int ambit_kernel_params(const ambit_kernel *k)
{
  return k ? k->rule->nparams + k->rule->ntables : 0;
}

int ambit_kernel_is_once(const ambit_kernel *k)
{
  if (!k || k->rule->max_axis >= 0) return 0;
  for (int i = 0; i < k->rule->nparams; i++) {
    const ambit__param *p = &k->rule->params[i];

    if (p->kind == PARAM_REDUCE || p->is_vector || p->reads_neighbours) return 0;
  }
  return 1;
}

double ambit_kernel_flops(const ambit_kernel *k)
{
  return k ? ambit__price_of(k->rule).flops : 0;
}

double ambit_kernel_bytes(const ambit_kernel *k)
{
  return k ? ambit__price_of(k->rule).bytes : 0;
}

static void describe(const ambit__param *p, const ambit_offset *offsets, ambit_param_info *info)
{
  static const ambit_param_kind kinds[] = {
      [PARAM_FIELD] = AMBIT_PARAM_FIELD,
      [PARAM_VALUE] = AMBIT_PARAM_VALUE,
      [PARAM_REDUCE] = AMBIT_PARAM_REDUCTION,
  };
  static const ambit_reduction reductions[] = {
      [REDUCE_SUM] = AMBIT_SUM,
      [REDUCE_MIN] = AMBIT_MIN,
      [REDUCE_MAX] = AMBIT_MAX,
      [REDUCE_FOLD] = AMBIT_FOLD,
  };

  info->name = p->label;
  info->kind = kinds[p->kind];
  info->reduction = reductions[p->reduce];
  info->type = p->type;
  info->components = ambit__param_width(p);
  info->is_vector = p->is_vector;
  info->is_const = p->is_const;
  info->is_written = p->is_written;
  info->reads_neighbours = p->reads_neighbours;
  memcpy(info->low, p->low, sizeof info->low);
  memcpy(info->high, p->high, sizeof info->high);
  info->noffsets = p->nreads;
  info->offsets = offsets;
}

static void describe_table(const ambit__table *t, ambit_param_info *info)
{
  info->name = t->label;
  info->kind = AMBIT_PARAM_TABLE;
  info->type = t->type;
  info->components = (int)(t->size[0] * t->size[1]);
  info->is_const = 1;
}

/* The parameter, of kernels and tables alike, as it stands in the text. */
static void describe_at(const ambit_kernel *k, int i, ambit_param_info *info)
{
  const ambit_offset *offsets = k->offsets;
  int before = 0; /* tables */

  for (int t = 0; t < k->rule->ntables; t++) {
    if (k->rule->tables[t].position == i) {
      describe_table(&k->rule->tables[t], info);
      return;
    }
    before += k->rule->tables[t].position < i;
  }
  for (int j = 0; j < i - before; j++)
    offsets += k->rule->params[j].nreads;
  describe(&k->rule->params[i - before], offsets, info);
}

const ambit_param_info *ambit_kernel_param(const ambit_kernel *k, int i)
{
  if (!k || ambit__failed(k->context)) return NULL;
  if (i >= 0 && i < ambit_kernel_params(k)) return &k->infos[i];
  ambit__raise(&k->context->errors, AMBIT_EINVAL,
               "parameter %d of kernel %s was requested; it has %d, numbered from 0", i,
               k->rule->name, ambit_kernel_params(k));
  return NULL;
}

ambit_status ambit__kernel_describe(ambit_kernel *k)
{
  const ambit__rule *rule = k->rule;
  size_t n = 0;

  for (int i = 0; i < rule->nparams; i++)
    n += (size_t)rule->params[i].nreads;
  AMBIT_NEW(&k->context->errors, k->offsets, n + 1);
  AMBIT_NEW(&k->context->errors, k->infos, (size_t)ambit_kernel_params(k) + 1);
  n = 0;
  for (int i = 0; i < rule->nparams; i++)
    for (int j = 0; j < rule->params[i].nreads; j++) {
      const ambit__read *read = &rule->params[i].reads[j];

      k->offsets[n].component = read->component;
      memcpy(k->offsets[n++].axis, read->offset, sizeof read->offset);
    }
  for (int i = 0; i < ambit_kernel_params(k); i++)
    describe_at(k, i, &k->infos[i]);
  return AMBIT_OK;
}
