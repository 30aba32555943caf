/* SPDX-License-Identifier: BSD-3-Clause */
/* alike.c - whether two fields hold equal values outside a box, by what is known or by comparison.
 */
#include "base/memory.h"
#include "runtime/program/program.h"

#include <stdlib.h>
#include <string.h>

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

  if (a == b || ambit__fields_are_alike(a, b, region)) return AMBIT_OK;
  n = ambit__box_split(&p->grid->box, region, rest);
  for (int i = 0; *same && i < n; i++)
    AMBIT_TRY(compare(p, a, b, &rest[i], same));
  if (!*same) return AMBIT_OK;
  if (!a->likeness.id || !ambit__box_contains(region, &a->likeness.differs))
    a->likeness = (ambit__likeness){++p->grid->context->last_id, *region};
  b->likeness = a->likeness;
  return AMBIT_OK;
}
