/* SPDX-License-Identifier: BSD-3-Clause */
/* alike.c - whether two fields hold equal values outside a box, by what is known or by comparison.
 *
 * Fields that are rotated mostly hold equal values in the cells that no step writes, because one
 * started as a copy of the other (run/prepare.c). A field knows which others equal it, and outside
 * which cells (ambit__likeness). Programs that run on it and values set by the user narrow this
 * down.
 */
#include "base/memory.h"
#include "runtime/program/program.h"

#include <stdlib.h>
#include <string.h>

/* ---- what is known ---- */

void ambit__fields_alike(ambit_field *a, ambit_field *b)
{
  const ambit__likeness everywhere = {.id = ++a->grid->context->last_id,
                                      .differs = {.ndims = a->grid->box.ndims}};

  a->likeness = b->likeness = everywhere;
}

/* Whether two fields are known to hold equal values in all cells but those of a box. */
static bool are_alike(const ambit_field *a, const ambit_field *b, const ambit__box *except)
{
  return a->likeness.id && a->likeness.id == b->likeness.id &&
         ambit__box_contains(except, &a->likeness.differs) &&
         ambit__box_contains(except, &b->likeness.differs);
}

/* Rotated fields stay alike only if all of them are. */
static void check_turns(const ambit__step *s)
{
  bool same = true;

  for (int k = 1; k < s->n; k++)
    same = same && s->args[k].field->likeness.id == s->args[0].field->likeness.id;
  for (int k = 0; !same && k < s->n; k++)
    s->args[k].field->likeness.id = 0;
}

/* The cells that the program writes, in any field. */
static ambit__box writes_of(const ambit_program *p)
{
  ambit__box all = {.ndims = p->grid->box.ndims};

  for (size_t i = 0; i < p->nsteps; i++) {
    const ambit__box *r = &p->applies[i].region;

    if (p->steps[i].kind == STEP_APPLY && r->ndims && !ambit__box_is_empty(r))
      all =
          ambit__box_hull(&all, ambit__rule_spreads(p->steps[i].kernel->rule) ? &p->grid->box : r);
    if (p->steps[i].kind == STEP_COPY) {
      const ambit__box there = ambit__copy_destination(&p->steps[i]);

      all = ambit__box_hull(&all, &there);
    }
  }
  return all;
}

void ambit__fields_narrow(ambit_program *p)
{
  const ambit__box written = writes_of(p);

  for (size_t i = 0; i < p->nsteps; i++)
    if (p->steps[i].kind == STEP_ROTATE) check_turns(&p->steps[i]);
  for (int i = 0; i < p->nfields; i++)
    p->fields[i]->likeness.differs = ambit__box_hull(&p->fields[i]->likeness.differs, &written);
}

/* ---- comparison ---- */

/* Whether two fields hold equal values in a box, on one part. */
static ambit_status compare_box(ambit_program *p, int part, ambit_field *a, ambit_field *b,
                                const ambit__box *box, bool *same)
{
  ambit__queue *q = ambit__engine_of(p->grid, part)->queue;
  const size_t bytes = ambit__layout_box_bytes(&a->stores[part].layout, box);
  unsigned char *values = ambit__new(ambit__program_errors(p), 2 * bytes + 1, 1);
  ambit_status s;

  if (!values) return AMBIT_ENOMEM;
  s = ambit__do(q, read, values, &a->stores[part], box);
  if (!s) s = ambit__do(q, read, values + bytes, &b->stores[part], box);
  if (!s && memcmp(values, values + bytes, bytes)) *same = false;
  free(values);
  return s;
}

/* The same for all parts of this process. */
static ambit_status compare(ambit_program *p, ambit_field *a, ambit_field *b, const ambit__box *box,
                            bool *same)
{
  for (int k = 0; *same && k < p->grid->placement.n; k++) {
    const ambit__box own = ambit__box_intersect(box, &p->grid->parts[p->grid->first + k]);

    if (!ambit__box_is_empty(&own)) AMBIT_TRY(compare_box(p, k, a, b, &own, same));
  }
  return AMBIT_OK;
}

ambit_status ambit__fields_check_alike(ambit_program *p, ambit_field *a, ambit_field *b,
                                       const ambit__box *region, bool *same)
{
  ambit__box rest[2 * AMBIT_MAX_DIMS];
  int n;

  if (a == b || are_alike(a, b, region)) return AMBIT_OK;
  n = ambit__box_split(&p->grid->box, region, rest);
  for (int i = 0; *same && i < n; i++)
    AMBIT_TRY(compare(p, a, b, &rest[i], same));
  if (!*same) return AMBIT_OK;
  if (!a->likeness.id || !ambit__box_contains(region, &a->likeness.differs))
    a->likeness = (ambit__likeness){++p->grid->context->last_id, *region};
  b->likeness = a->likeness;
  return AMBIT_OK;
}
