/* SPDX-License-Identifier: BSD-3-Clause */
/* closed_rows.c - fields that need no ghost cells along the last axis, because what kernels read
 * beyond the ends of rows they take from the rows themselves.
 *
 * Ghost cells along other axes are rows, but those at row ends are single cells, each in its own
 * cache line: on a GPU they took a sixth to a quarter of the time of a 3-D star. So if a field is
 * periodic, clamped or mirrored along the last axis and its rows are not cut, kernels read such
 * cells from inside (nest/group.h), and halo_needs.c requests whole rows only.
 *
 * All processes must come to the same result, since it determines which halos cover others, and so
 * the messages.
 */
#include "base/integers.h"
#include "base/memory.h"
#include "device/registered.h"
#include "runtime/program/program.h"

#include <stdlib.h>

enum { VECTOR_BYTES = 16 };

/* ---- conditions that are the same on all processes ---- */

/* How far a step reads a field along the last axis; NULL: any field. */
static int64_t reach_of(const ambit_program *p, const ambit__step *s, const ambit_field *f)
{
  const int x = p->grid->box.ndims - 1;
  int64_t reach = 0;

  for (int i = 0; s->kind == STEP_APPLY && i < s->n; i++) {
    const ambit__param *q = &s->kernel->rule->params[i];

    if (s->args[i].field && (!f || s->args[i].field == f))
      reach = ambit__max64(reach, ambit__max(q->low[x], q->high[x]));
  }
  return reach;
}

/* Whether reads beyond both ends are copies of cells inside. Those of a step in place must be of
 * the cell itself: others may have new values. */
static bool is_copied(const ambit_program *p, const ambit_field *f, int axis)
{
  const ambit__boundaries *b = &f->boundaries;

  for (int side = 0; side < 2; side++) {
    const ambit_boundary kind = b->kind[axis][side];

    if (kind != AMBIT_CLAMP && kind != AMBIT_SYMMETRIC && kind != AMBIT_REFLECT) return false;
    if (b->on[axis][side] == AMBIT_CONSTANT) return false;
    for (size_t i = 0; i < p->nsteps; i++)
      if (p->steps[i].kind == STEP_APPLY && ambit__step_writes(&p->steps[i], f) &&
          reach_of(p, &p->steps[i], f) > (kind != AMBIT_REFLECT))
        return false;
  }
  return !f->special;
}

/* A multiple of the cells that a step takes as one vector (plan/strip_reads.c): of the largest
 * type, and two of them if it reads that far, where it mirrors about cells one further. */
static int64_t vector_of(const ambit_program *p, const ambit__step *s)
{
  const int x = p->grid->box.ndims - 1;
  int64_t size = 1, cells;
  bool mirrors = false;

  for (int i = 0; i < s->n; i++) {
    const ambit_field *f = s->args[i].field;

    if (!f) continue;
    size = ambit__max64(size, (int64_t)ambit_type_size(f->type));
    mirrors |=
        f->boundaries.kind[x][0] == AMBIT_REFLECT || f->boundaries.kind[x][1] == AMBIT_REFLECT;
  }
  cells = VECTOR_BYTES / size;
  if (reach_of(p, s, NULL) + mirrors >= cells) cells *= 2;
  return ambit__min64(cells, AMBIT__ALIGNED);
}

/* Whether the rows of a field can be closed: of whole vectors, and read beyond their ends, no
 * further than strips hold them: cell by cell each read would test for itself where it is. A filter
 * of 33 terms on a periodic line took 2.7 times as long so as with ghost cells. */
static bool can_close(const ambit_program *p, const ambit_field *f)
{
  const int x = p->grid->box.ndims - 1;
  const int64_t extent = p->grid->box.hi[x];
  int64_t reach = 0;

  for (size_t i = 0; i < p->nsteps; i++) {
    const int64_t other = reach_of(p, &p->steps[i], f), vector = vector_of(p, &p->steps[i]);

    if (other > vector || (other && extent % vector)) return false;
    reach = ambit__max64(reach, other);
  }
  return reach > 0 && 2 * reach <= extent &&
         (f->boundaries.kind[x][0] == AMBIT_PERIODIC || is_copied(p, f, x));
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

/* Whether kernels can do without ghost cells in all reads of the field. Registered source and
 * functions of the user read ghost cells, and kernels that write neighbours write them. */
static bool can_read(const ambit_program *p, const ambit_field *f)
{
  const ambit *a = p->grid->context;

  if (f->dropped || p->grid->turn) return false;
  for (int i = 0; i < a->nengines; i++)
    if (!a->engines[i].backend->closes_rows) return false;
  for (size_t i = 0; i < p->nsteps; i++)
    if (reach_of(p, &p->steps[i], f) &&
        (ambit__step_has_source(a, &p->steps[i]) || ambit__chore_is_host(p->steps[i].chore) ||
         ambit__rule_spreads(p->steps[i].kernel->rule)))
      return false;
  return ambit__options_checks(a) == 0;
}

/* ---- result ---- */

ambit_status ambit__program_close_rows(ambit_program *p)
{
  const bool cut = ambit__grid_cuts(p->grid, p->grid->box.ndims - 1) || p->grid->active;
  bool any = false;

  AMBIT_HOLD(p, p->closes_rows, (size_t)p->nfields);
  for (int i = 0; !cut && i < p->nfields; i++) {
    const bool can = can_close(p, p->fields[i]);

    p->closes_rows[i] = can && can_read(p, p->fields[i]);
    any |= can;
  }
  if (!any) return AMBIT_OK;
  return ambit__net_all(p->grid->context->net, p->closes_rows, (size_t)p->nfields);
}

bool ambit__field_closes_rows(const ambit_program *p, const ambit_field *f)
{
  for (int i = 0; i < p->nfields; i++)
    if (p->fields[i] == f) return p->closes_rows[i];
  return false;
}
