/* execute.c - one iteration of a sealed program: a walk over its operations. */
#include "runtime/runtime.h"

#include <string.h>

/* Whether the ghost cells hold what the field's boundaries say, as wide as asked. */
static bool ghosts_hold(const ambit_field *f, const ambit__operation *op)
{
  const ambit__ghosts *g = &f->ghosts;

  if (g->boundary != f->boundary_id) return false;
  for (int d = 0; d < f->grid->box.ndims; d++) {
    bool moves_low = f->boundaries.kind[d][0] != AMBIT_CONSTANT;
    bool moves_high = f->boundaries.kind[d][1] != AMBIT_CONSTANT;

    if (op->low[d] > g->low[d] || op->high[d] > g->high[d]) return false;
    if (g->stale && ((op->low[d] && moves_low) || (op->high[d] && moves_high))) return false;
  }
  return true;
}

static ambit_status fill_ghosts(ambit__queue *q, const ambit__operation *op)
{
  ambit_field *f = op->fields[0];
  ambit__ghosts *g = &f->ghosts;
  ambit__box reach = f->grid->box;

  if (ghosts_hold(f, op)) return AMBIT_OK;
  g->boundary = f->boundary_id;
  g->stale = false;
  memcpy(g->low, op->low, sizeof g->low);
  memcpy(g->high, op->high, sizeof g->high);
  for (int d = 0; d < reach.ndims; d++) {
    reach.lo[d] -= op->low[d];
    reach.hi[d] += op->high[d];
  }
  return q->device->backend->ghosts(q, &f->store, &f->boundaries, f->grid->box.hi, &f->grid->box,
                                    &reach);
}

static ambit_status launch(ambit__queue *q, ambit__operation *op, int64_t iteration)
{
  op->launch.step = iteration;
  for (int i = 0; i < op->n; i++)
    op->fields[i]->ghosts.stale = true;
  return q->device->backend->launch(q, op->function, &op->launch);
}

static void rotate(const ambit__operation *op)
{
  ambit__buffer *first = op->fields[0]->store.buffer;
  ambit__ghosts ghosts = op->fields[0]->ghosts;

  for (int i = 0; i < op->n - 1; i++) {
    op->fields[i]->store.buffer = op->fields[i + 1]->store.buffer;
    op->fields[i]->ghosts = op->fields[i + 1]->ghosts;
  }
  op->fields[op->n - 1]->store.buffer = first;
  op->fields[op->n - 1]->ghosts = ghosts;
}

ambit_status ambit__program_iterate(ambit_program *p)
{
  ambit__queue *q = p->grid->context->queue;

  for (size_t i = 0; i < p->nops; i++)
    switch (p->ops[i].kind) {
    case OP_GHOSTS: AMBIT_TRY(fill_ghosts(q, &p->ops[i])); break;
    case OP_LAUNCH: AMBIT_TRY(launch(q, &p->ops[i], p->iteration)); break;
    case OP_ROTATE: rotate(&p->ops[i]); break;
    }
  p->iteration++;
  return AMBIT_OK;
}
