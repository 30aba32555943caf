/* SPDX-License-Identifier: BSD-3-Clause */
/* operations.c - appends operations to a schedule. schedule.c decides which. */
#include "base/memory.h"
#include "runtime/schedule/schedule.h"

#include <stdlib.h>

ambit_status ambit__schedule_add(ambit__scheduler *s, const ambit__operation *op)
{
  ambit__schedule *o = s->list;
  ambit__operation *to =
      ambit__add(ambit__program_errors(s->p), &o->ops, o->n, &o->cap, sizeof *op);

  if (!to) return AMBIT_ENOMEM;
  o->n++;
  *to = *op;
  if (!to->every) to->every = s->p->steps[op->step].every;
  return AMBIT_OK;
}

void ambit__schedule_free(ambit__schedule *o)
{
  free(o->ops);
  *o = (ambit__schedule){0};
}

/* ---- launches ---- */

void ambit__operation_add(ambit__operation *op, int part, const ambit__box *box)
{
  if (!ambit__box_is_empty(box))
    op->pieces[op->npieces++] = (ambit__piece){.part = part, .box = *box};
}

/* Whether the list already has a launch of the step on the engine of a part. */
static bool *launched(const ambit__scheduler *s, int step, int part)
{
  return &s->launched[step * s->p->grid->context->nengines + s->p->grid->placement.engine[part]];
}

static void add_piece(const ambit__scheduler *s, ambit__operation *op, int part,
                      const ambit__box *box)
{
  bool *more = launched(s, op->step, part);

  op->pieces[op->npieces++] = (ambit__piece){part, *box, *more, false};
  *more = true;
}

/* Adds the copies of cells that parts which count update too. */
static void add_copies(const ambit__scheduler *s, ambit__operation *op)
{
  const ambit__step *st = &s->p->steps[op->step];

  for (int i = 0; i < s->p->grid->placement.n; i++) {
    const ambit__box box = ambit__cells_own(s->p, (size_t)op->step, i);

    if (!ambit__box_is_empty(&box) && !ambit__step_counts(s->p, st, s->p->grid->first + i))
      op->pieces[op->npieces++] = (ambit__piece){i, box, false, true};
  }
}

/* Adds all cells of the step on every part. A step that runs once is launched once per engine. A
 * step that reduces is launched on every engine, if necessary on no cells. */
static void add_whole(const ambit__scheduler *s, ambit__operation *op)
{
  const ambit__apply *a = &s->p->applies[op->step];
  const ambit__step *st = &s->p->steps[op->step];

  for (int i = 0; i < s->p->grid->placement.n; i++) {
    ambit__box box = a->region.ndims ? ambit__cells_own(s->p, (size_t)op->step, i) : a->region;
    const bool first = !*launched(s, op->step, i);

    if (a->reduces && a->region.ndims && !ambit__step_counts(s->p, st, s->p->grid->first + i))
      box.hi[0] = box.lo[0]; /* without cells */
    if (a->region.ndims ? !ambit__box_is_empty(&box) || (a->reduces && first) : first)
      add_piece(s, op, i, &box);
  }
  if (a->reduces && a->region.ndims) add_copies(s, op);
}

/* Adds the cells that are not inner. A step that reduces is launched on no cells where a part has
 * none and the engine has no launch of the step yet. */
static void add_border(const ambit__scheduler *s, ambit__operation *op, int part)
{
  const ambit__box own = ambit__cells_own(s->p, (size_t)op->step, part);
  ambit__box rest[2 * AMBIT_MAX_DIMS];
  int n;

  if (ambit__box_is_empty(&own)) {
    if (s->p->applies[op->step].reduces && !*launched(s, op->step, part))
      add_piece(s, op, part, &own);
    return;
  }
  n = ambit__box_split(&own, ambit__cells_of(s, (size_t)op->step, part), rest);
  for (int k = 0; k < n; k++)
    add_piece(s, op, part, &rest[k]);
}

ambit_status ambit__schedule_add_launch(ambit__scheduler *s, size_t step, ambit__cells cells,
                                        ambit__exchange *waits)
{
  const int nparts = s->p->grid->placement.n;
  ambit__operation op = {.kind = OP_LAUNCH, .step = (int)step, .cells = cells, .exchange = waits};

  AMBIT_HOLD(s->p, op.pieces, (size_t)nparts * 2 * AMBIT_MAX_DIMS);
  if (cells == CELLS_ALL) add_whole(s, &op);
  for (int i = 0; cells == CELLS_INNER && i < nparts; i++)
    if (!ambit__box_is_empty(ambit__cells_of(s, step, i)))
      add_piece(s, &op, i, ambit__cells_of(s, step, i));
  for (int i = 0; cells == CELLS_BORDER && i < nparts; i++)
    add_border(s, &op, i);
  return ambit__schedule_add(s, &op);
}
