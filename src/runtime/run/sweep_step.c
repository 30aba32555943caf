/* SPDX-License-Identifier: BSD-3-Clause */
/* sweep_step.c - runs a step whose cells run in order along an axis (program/sweeping.h).
 *
 * All processes compute blocks in the same order, and each block in the order of parts, so a part
 * waits only for a block that comes before its own in that order: no two wait for each other.
 */
#include "runtime/program/sweeping.h"
#include "runtime/run/run.h"

/* ---- carried cells ---- */

static int tag_of(const ambit_program *p, const ambit__carry *c)
{
  const ambit__placement *where = &p->grid->placement;
  const int from = ambit__grid_process(p->grid, c->from);
  const int to = ambit__grid_process(p->grid, c->to);

  return (c->from - where->first[from]) * where->most + c->to - where->first[to];
}

static size_t bytes_of(const ambit__carry *c)
{
  return (size_t)ambit__box_volume(&c->cells) * ambit__field_cell_bytes(c->field);
}

/* Begins to receive all cells that come from other processes. */
static ambit_status expect(ambit_program *p, ambit__sweeping *s)
{
  for (int b = 0; b <= s->blocks; b++)
    for (size_t i = 0; i < s->n; i++) {
      ambit__carry *c = &s->carries[i];

      if (c->block == b && !p->grid->mine[c->from])
        AMBIT_TRY(ambit__net_receive(p->grid->context->net, ambit__grid_process(p->grid, c->from),
                                     tag_of(p, c), c->bytes, bytes_of(c), &c->request));
    }
  return AMBIT_OK;
}

/* Takes cells out of the part that has computed them, and sends them if the next part is elsewhere.
 */
static ambit_status leave(ambit_program *p, ambit__carry *c)
{
  const int part = c->from - p->grid->first;
  const ambit__engine *e = ambit__engine_of(p->grid, part);

  AMBIT_TRY(ambit__do(e->queue, read, c->bytes, &c->field->stores[part], &c->cells));
  if (p->grid->mine[c->to]) return AMBIT_OK;
  return ambit__net_send(p->grid->context->net, ambit__grid_process(p->grid, c->to), tag_of(p, c),
                         c->bytes, bytes_of(c), &c->request);
}

static ambit_status take(ambit_program *p, ambit__carry *c)
{
  const int part = c->to - p->grid->first;
  const ambit__engine *e = ambit__engine_of(p->grid, part);

  if (!p->grid->mine[c->from]) AMBIT_TRY(ambit__net_wait(p->grid->context->net, &c->request, 1));
  return ambit__do(e->queue, write, &c->field->stores[part], &c->cells, c->bytes);
}

/* ---- cells ---- */

/* The cells of a piece that are in a block. Devices that do not know the order get plane after
 * plane. */
static ambit_status compute(ambit_program *p, const ambit__operation *op, const ambit__piece *piece,
                            int b, ambit__launch_piece_fn launch)
{
  const ambit__sweeping *s = p->applies[op->step].sweeping;
  const int engine = p->grid->placement.engine[piece->part];
  const ambit__box box = ambit__sweeping_block(p, (size_t)op->step, &piece->box, b);
  const int64_t planes = box.hi[s->axis] - box.lo[s->axis];
  ambit__piece some = *piece;

  some.more = true;
  some.box = box;
  if (ambit__box_is_empty(&box)) return AMBIT_OK;
  if (p->applies[op->step].functions[engine]->sweeps) return launch(p, op, &some);
  for (int64_t i = 0; i < planes; i++) {
    some.box.lo[s->axis] = s->up ? box.lo[s->axis] + i : box.hi[s->axis] - 1 - i;
    some.box.hi[s->axis] = some.box.lo[s->axis] + 1;
    AMBIT_TRY(launch(p, op, &some));
  }
  return AMBIT_OK;
}

/* A block on a part, between the parts before and after it. */
static ambit_status pass(ambit_program *p, const ambit__operation *op, const ambit__piece *piece,
                         int b, ambit__launch_piece_fn launch)
{
  ambit__sweeping *s = p->applies[op->step].sweeping;
  const int part = p->grid->first + piece->part;

  for (size_t i = 0; i < s->n; i++)
    if (s->carries[i].block == b && s->carries[i].to == part) AMBIT_TRY(take(p, &s->carries[i]));
  AMBIT_TRY(compute(p, op, piece, b, launch));
  for (size_t i = 0; i < s->n; i++)
    if (s->carries[i].block == b && s->carries[i].from == part) AMBIT_TRY(leave(p, &s->carries[i]));
  return AMBIT_OK;
}

/* ---- the step ---- */

/* Sets the order of pieces: insertion sort by their place along the axis. */
static void sort(const ambit__operation *op, ambit__sweeping *s)
{
  for (int i = 0; i < op->npieces; i++) {
    int k = i;

    for (; k > 0; k--) {
      const int64_t a = op->pieces[s->order[k - 1]].box.lo[s->axis];
      const int64_t b = op->pieces[i].box.lo[s->axis];

      if (s->up ? a <= b : a >= b) break;
      s->order[k] = s->order[k - 1];
    }
    s->order[k] = i;
  }
}

/* Reductions into scalars start anew, and all launches continue them. */
static ambit_status begin(ambit_program *p, const ambit__operation *op,
                          ambit__launch_piece_fn launch)
{
  for (int i = 0; p->applies[op->step].reduces && i < op->npieces; i++) {
    ambit__piece none = op->pieces[i];

    none.box.hi[0] = none.box.lo[0];
    AMBIT_TRY(launch(p, op, &none));
  }
  return AMBIT_OK;
}

/* All copies of carried cells get the values at the end of the lines. */
static ambit_status finish(ambit_program *p, ambit__sweeping *s)
{
  for (int takes = 0; takes < 2; takes++)
    for (size_t i = 0; i < s->n; i++) {
      ambit__carry *c = &s->carries[i];

      if (c->block == s->blocks && p->grid->mine[takes ? c->to : c->from])
        AMBIT_TRY(takes ? take(p, c) : leave(p, c));
    }
  for (size_t i = 0; i < s->n; i++)
    AMBIT_TRY(ambit__net_wait(p->grid->context->net, &s->carries[i].request, 1));
  return AMBIT_OK;
}

ambit_status ambit__sweep_step(ambit_program *p, const ambit__operation *op,
                               ambit__launch_piece_fn launch)
{
  ambit__sweeping *s = p->applies[op->step].sweeping;

  sort(op, s);
  AMBIT_TRY(begin(p, op, launch));
  AMBIT_TRY(expect(p, s));
  for (int b = 0; b < s->blocks; b++)
    for (int i = 0; i < op->npieces; i++)
      AMBIT_TRY(pass(p, op, &op->pieces[s->order[i]], b, launch));
  return finish(p, s);
}
