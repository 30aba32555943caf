/* SPDX-License-Identifier: BSD-3-Clause */
/* periodic_rows.c - fields that need no ghost cells along the last axis, because kernels wrap
 * reads.
 *
 * Ghost cells along other axes are rows, but those at row ends are single cells, each in its own
 * cache line: on a GPU they took a sixth of the time of a 3-D star. So if a field is periodic along
 * the last axis and its rows are not cut, kernels read beyond one end of a row from its other end
 * (plan/plan.h), and halo_needs.c requests whole rows only.
 *
 * All processes must come to the same result, since it determines which halos cover others, and so
 * the messages.
 */
#include "base/integers.h"
#include "base/memory.h"
#include "device/registered.h"
#include "runtime/program/program.h"

#include <stdlib.h>

enum { VECTOR_BYTES = 32 }; /* of the longest vectors: 16, or twice as many beside other cells */

/* ---- conditions that are the same on all processes ---- */

/* How far a step reads a field along the last axis. */
static int64_t reach_of(const ambit_program *p, const ambit__step *s, const ambit_field *f)
{
  const int x = p->grid->box.ndims - 1;
  int64_t reach = 0;

  for (int i = 0; s->kind == STEP_APPLY && i < s->n; i++) {
    const ambit__param *q = &s->kernel->rule->params[i];

    if (s->args[i].field != f) continue;
    if (q->low[x] > reach) reach = q->low[x];
    if (q->high[x] > reach) reach = q->high[x];
  }
  return reach;
}

/* A multiple of the cells that kernels take as one vector (plan/strip_reads.c), which the largest
 * type of a kernel bounds. */
static int64_t vector_of(const ambit_field *f)
{
  return ambit__min64(VECTOR_BYTES / (int64_t)ambit_type_size(f->type), AMBIT__ALIGNED);
}

/* Whether the rows of a field are periodic, whole vectors, and read beyond their ends. */
static bool is_periodic(const ambit_program *p, const ambit_field *f)
{
  const int x = p->grid->box.ndims - 1;
  const int64_t extent = p->grid->box.hi[x];
  int64_t reach = 0;

  for (size_t i = 0; i < p->nsteps; i++) {
    const int64_t other = reach_of(p, &p->steps[i], f);

    if (other > reach) reach = other;
  }
  return f->boundaries.kind[x][0] == AMBIT_PERIODIC && extent % vector_of(f) == 0 && reach > 0 &&
         2 * reach <= extent;
}

/* ---- conditions that may differ between processes ---- */

bool ambit__step_has_source(const ambit *a, const ambit__step *s)
{
  for (int i = 0; i < a->nengines; i++) {
    char *source = ambit__registered_source(s->kernel->rule, a->engines[i].backend->name);
    const bool found = source != NULL;

    free(source);
    if (found) return true;
  }
  return false;
}

/* Whether kernels can wrap all reads of the field. Registered source and functions of the user read
 * ghost cells, and kernels that write neighbours write them. */
static bool can_wrap(const ambit_program *p, const ambit_field *f)
{
  const ambit *a = p->grid->context;

  if (f->dropped) return false;
  for (int i = 0; i < a->nengines; i++)
    if (!a->engines[i].backend->wraps_rows) return false;
  for (size_t i = 0; i < p->nsteps; i++)
    if (reach_of(p, &p->steps[i], f) &&
        (ambit__step_has_source(a, &p->steps[i]) || ambit__chore_is_host(p->steps[i].chore) ||
         ambit__rule_spreads(p->steps[i].kernel->rule)))
      return false;
  return ambit__options_checks(a) == 0;
}

/* ---- result ---- */

ambit_status ambit__program_periodic_rows(ambit_program *p)
{
  const bool cut = ambit__grid_cuts_rows(p->grid) || p->grid->active;
  bool any = false;

  p->wraps_rows = ambit__new(ambit__program_errors(p), (size_t)p->nfields, sizeof *p->wraps_rows);
  if (!p->wraps_rows) return AMBIT_ENOMEM;
  for (int i = 0; !cut && i < p->nfields; i++) {
    const bool periodic = is_periodic(p, p->fields[i]);

    p->wraps_rows[i] = periodic && can_wrap(p, p->fields[i]);
    any |= periodic;
  }
  if (!any) return AMBIT_OK;
  return ambit__net_all(p->grid->context->net, p->wraps_rows, (size_t)p->nfields);
}

bool ambit__field_wraps_rows(const ambit_program *p, const ambit_field *f)
{
  for (int i = 0; i < p->nfields; i++)
    if (p->fields[i] == f) return p->wraps_rows[i];
  return false;
}
