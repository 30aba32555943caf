/* SPDX-License-Identifier: BSD-3-Clause */
/* move_set.c - lists of moves by engine. */
#include "runtime/exchange/move_set.h"

#include "base/memory.h"

#include <stdlib.h>

ambit_status ambit__move_set_add(const ambit_grid *g, ambit__move_set *l, int part,
                                 const ambit__move *m)
{
  ambit *a = g->context;
  ambit__engine_moves *list;

  if (!l->engines) l->engines = ambit__new(&a->errors, (size_t)a->nengines, sizeof *l->engines);
  if (!l->engines) return AMBIT_ENOMEM;
  list = &l->engines[g->placement.engine[part]];
  AMBIT_TRY(
      ambit__make_room(&a->errors, &list->moves, (size_t)list->n, &list->cap, sizeof *list->moves));
  list->moves[list->n++] = *m;
  return AMBIT_OK;
}

ambit_status ambit__move_set_open(ambit *a, ambit__move_set *l)
{
  for (int i = 0; l->engines && i < a->nengines; i++) {
    ambit__device *dev = a->engines[i].device;
    ambit__engine_moves *list = &l->engines[i];

    if (list->n && ambit__can(dev->backend, batch))
      AMBIT_TRY(ambit__ask(dev, batch_open, list->moves, list->n, &list->batch));
  }
  return AMBIT_OK;
}

void ambit__move_set_free(const ambit *a, ambit__move_set *l)
{
  for (int i = 0; l->engines && i < a->nengines; i++) {
    if (l->engines[i].batch) ambit__ask(a->engines[i].device, batch_close, l->engines[i].batch);
    free(l->engines[i].moves);
  }
  free(l->engines);
  l->engines = NULL;
}

static ambit_status run_one(ambit__queue *q, const ambit__move *m)
{
  ambit__store dst = ambit__move_to(m), src;

  if (m->fills) return ambit__do(q, fill, &dst, &m->box, m->value);
  if (!m->src) return ambit__do(q, ghosts, &dst, m->boundaries, m->extents, &m->box, &m->reach);
  src = ambit__move_from(m);
  return ambit__do(q, copy, &dst, &src, &m->box, m->shift);
}

ambit_status ambit__move_set_run(const ambit *a, const ambit__move_set *l, bool on_border_queue)
{
  for (int e = 0; l->engines && e < a->nengines; e++) {
    const ambit__engine_moves *list = &l->engines[e];
    ambit__queue *q = on_border_queue ? a->engines[e].border : a->engines[e].queue;

    if (list->batch) AMBIT_TRY(ambit__do(q, batch, list->batch));
    for (int i = 0; !list->batch && i < list->n; i++)
      AMBIT_TRY(run_one(q, &list->moves[i]));
  }
  return AMBIT_OK;
}
