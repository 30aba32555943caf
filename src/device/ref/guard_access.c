/* SPDX-License-Identifier: BSD-3-Clause */
/* guard_access.c - access checks of the interpreter. */
#include "device/ref/guard.h"

bool ambit__guard_may_read(ambit__guard *w, int param, int k, const int64_t *cell,
                           const int64_t *from)
{
  const ambit__argument *arg = &w->launch->args[param];
  const int component = w->rule->params[param].reads[k].component;
  const ambit__limits *limits = &w->limits[param];

  if (!(w->checks & AMBIT__CHECK_ACCESS) || !arg->store) return true;
  if (ambit__limits_allow(limits, &arg->store->layout, &limits->reads, w->ghosts ? cell : from,
                          from, component))
    return true;
  ambit__guard_note(w, AMBIT_FAULT_READ, ambit__checked_read(w->rule, param, k));
  return false;
}

bool ambit__guard_may_write(ambit__guard *w, int param, int component, const int64_t *cell)
{
  const ambit__argument *arg = &w->launch->args[param];
  const ambit__limits *limits = &w->limits[param];

  if (!(w->checks & AMBIT__CHECK_ACCESS) || !arg->store ||
      ambit__limits_allow(limits, &arg->store->layout, &limits->writes, cell, cell, component))
    return true;
  ambit__guard_note(w, AMBIT_FAULT_WRITE, ambit__checked_write(w->rule, param, component));
  return false;
}

void ambit__guard_limit(ambit__guard *w)
{
  for (int i = 0; i < w->launch->nargs; i++)
    if (w->launch->args[i].store) w->limits[i] = ambit__limits_of(&w->launch->args[i]);
}
