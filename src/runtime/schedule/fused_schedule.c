/* SPDX-License-Identifier: BSD-3-Clause */
/* fused_schedule.c - the operations of a cycle that each part computes in one launch.
 *
 *    begin  [ inner cells ]  finish  [ border cells ]  trade
 *
 * The results of inner cells depend on own cells only, over all iterations. Launches store to
 * other buffers than those that are exchanged.
 */
#include "base/integers.h"
#include "base/memory.h"
#include "runtime/program/cycle.h"
#include "runtime/schedule/schedule.h"

/* Along rows, launches begin and end at multiples of this many cells of the part: kernels store
 * vectors. */
enum { ROW_UNIT = 2 * AMBIT__ALIGNED };

/* The inner cells of a part; empty if there are none. */
static ambit__box inner_cells(const ambit_program *p, const ambit__box *own)
{
  const ambit__flow *pipe = &p->cycle->fused->plan.flow;
  ambit__box inner = *own;

  for (int d = 0; d < own->ndims; d++) {
    const int64_t unit = d == own->ndims - 1 ? ROW_UNIT : 1, cells = own->hi[d] - own->lo[d];
    const bool low = own->lo[d] > 0, high = own->hi[d] < p->grid->box.hi[d];

    if (!pipe->cut[d]) continue;
    if (low || pipe->periodic[d]) inner.lo[d] += ambit__round_up(pipe->halo[d][0], unit);
    if (high || pipe->periodic[d])
      inner.hi[d] = own->lo[d] + (cells - pipe->halo[d][1]) / unit * unit;
  }
  return ambit__box_is_empty(&inner) ? (ambit__box){.ndims = own->ndims} : inner;
}

static void add_pieces(const ambit_program *p, ambit__operation *op, int part)
{
  const ambit__box *own = &p->grid->parts[p->grid->first + part];
  const ambit__box inner = op->cells == CELLS_ALL ? *own : inner_cells(p, own);
  ambit__box rest[2 * AMBIT_MAX_DIMS];
  int n = 0;

  if (ambit__box_is_empty(own)) return;
  if (op->cells == CELLS_BORDER)
    n = ambit__box_split(own, &inner, rest);
  else
    ambit__operation_add(op, part, &inner);
  for (int i = 0; i < n; i++)
    ambit__operation_add(op, part, &rest[i]);
}

static ambit_status add_launch(ambit__scheduler *s, ambit__cells cells)
{
  const size_t most = (size_t)s->p->grid->placement.n * 2 * AMBIT_MAX_DIMS;
  ambit__operation *op = ambit__schedule_add(s, OP_FUSED, 0);

  if (!op) return AMBIT_ENOMEM;
  op->cells = cells;
  op->pieces = ambit__new(ambit__program_errors(s->p), most, sizeof *op->pieces);
  if (!op->pieces) return AMBIT_ENOMEM;
  for (int k = 0; k < s->p->grid->placement.n; k++)
    add_pieces(s->p, op, k);
  return AMBIT_OK;
}

static ambit_status add_exchange(ambit__scheduler *s, ambit__op_kind kind, ambit__exchange *x)
{
  ambit__operation *op = ambit__schedule_add(s, kind, 0);

  if (!op) return AMBIT_ENOMEM;
  op->exchange = x;
  return AMBIT_OK;
}

ambit_status ambit__fused_schedule(ambit__scheduler *s, ambit__exchange *x)
{
  const bool splits = x && s->overlap > OVERLAP_NONE && ambit__exchange_is_far(x);

  if (x) AMBIT_TRY(add_exchange(s, OP_BEGIN, x));
  if (splits) AMBIT_TRY(add_launch(s, CELLS_INNER));
  if (x) AMBIT_TRY(add_exchange(s, OP_FINISH, x));
  AMBIT_TRY(add_launch(s, splits ? CELLS_BORDER : CELLS_ALL));
  return ambit__schedule_add(s, OP_TRADE, 0) ? AMBIT_OK : AMBIT_ENOMEM;
}
