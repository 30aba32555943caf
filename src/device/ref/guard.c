/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/ref/guard.h"

#include "base/memory.h"
#include "device/host.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

ambit_status ambit__guard_open(ambit__guard **guard, ambit__errors *errors, const ambit__rule *rule,
                               unsigned checks, bool ghosts)
{
  ambit__guard *w = ambit__new(errors, 1, sizeof *w);

  *guard = w;
  if (!w) return AMBIT_ENOMEM;
  w->rule = rule;
  w->checks = checks;
  w->ghosts = ghosts;
  w->nset = ambit__checked_write(rule, rule->nparams, 0);
  w->set = ambit__new(errors, (size_t)w->nset, sizeof *w->set);
  return w->set ? AMBIT_OK : AMBIT_ENOMEM;
}

void ambit__guard_close(ambit__guard *w)
{
  if (!w) return;
  free(w->set);
  free(w);
}

void ambit__guard_begin(ambit__guard *w, const ambit__launch *launch)
{
  w->launch = launch;
  w->faults = (int64_t *)(void *)ambit__host_base(launch->faults);
  ambit__guard_limit(w);
}

void ambit__guard_cell(ambit__guard *w, const int64_t *cell)
{
  w->cell = cell;
  w->source = -1;
  memset(w->set, 0, (size_t)w->nset * sizeof *w->set);
}

void ambit__guard_note(ambit__guard *w, int kind, int number)
{
  if (w->faults[AMBIT_FAULT_KIND]) return;
  w->faults[AMBIT_FAULT_KIND] = kind;
  w->faults[AMBIT_FAULT_ACCESS] = number;
  for (int d = 0; d < w->launch->box.ndims; d++)
    w->faults[AMBIT_FAULT_CELL + d] = w->cell[d];
}

void ambit__guard_use(ambit__guard *w, int param, int k, const void *value, ambit_type type)
{
  const int number = ambit__checked_read(w->rule, param, k);

  if (!(w->checks & AMBIT__CHECK_NAN) || (w->source >= 0 && number >= w->source) ||
      !ambit__type_is_real(type) || !isnan(ambit__value_load(value, type).real))
    return;
  w->source = number;
  w->poison = ambit__poison_is(value, type);
}

void ambit__guard_set(ambit__guard *w, const ambit__stmt *s)
{
  w->set[ambit__checked_write(w->rule, s->index, s->component)] = s->place.offset + 1;
}

bool ambit__guard_is_set(const ambit__guard *w, int param, int component)
{
  return w->set[ambit__checked_write(w->rule, param, component)] != 0;
}

void ambit__guard_test(ambit__guard *w, int param, int component, ambit__value value)
{
  const ambit__param *p = &w->rule->params[param];
  const int number = ambit__checked_write(w->rule, param, component);

  if (!(w->checks & AMBIT__CHECK_NAN) || p->kind == PARAM_VALUE || !ambit__type_is_real(p->type) ||
      !w->set[number] || !isnan(value.real) || w->faults[AMBIT_FAULT_KIND])
    return;
  ambit__guard_note(w, AMBIT_FAULT_NAN, number);
  w->faults[AMBIT_FAULT_SET] = w->set[number];
  w->faults[AMBIT_FAULT_SOURCE] = w->source;
  w->faults[AMBIT_FAULT_POISON] = w->poison;
}
