/* SPDX-License-Identifier: BSD-3-Clause */
/* queues.c - the queues of an engine, and where they wait for each other in an exchange.
 *
 *         queue    | local copies, edges |   inner cells                      |          next
 *         border   |                     ^            | ghosts, border cells  ^
 *         transfers| pack ... (messages in flight) ... unpack
 *
 * Cells that wait for messages are computed on a separate queue. It has high priority, as has the
 * queue of transfers: once messages have arrived, border cells need not wait for the inner cells,
 * and the next messages can leave. A synchronous device has one queue.
 */
#include "runtime/exchange/exchange.h"

static ambit_status open_queues(ambit__engine *e)
{
  const ambit__backend *backend = e->device->backend;

  if (!ambit__can(backend, mark)) { /* synchronous: another queue would change nothing */
    e->transfers = e->border = e->queue;
    return AMBIT_OK;
  }
  if (!e->transfers) AMBIT_TRY(ambit__ask(e->device, queue_open, true, &e->transfers));
  if (!e->border) AMBIT_TRY(ambit__ask(e->device, queue_open, true, &e->border));
  return AMBIT_OK;
}

ambit_status ambit__queues_open(ambit__exchange *x)
{
  ambit *a = ambit__exchange_context(x);

  AMBIT_HOLD(x->program, x->events, (size_t)a->nengines * POINTS);
  for (int i = 0; i < a->nengines; i++) {
    ambit__engine *e = &a->engines[i];

    AMBIT_TRY(open_queues(e));
    for (int k = 0; ambit__can(e->device->backend, mark) && k < POINTS; k++)
      AMBIT_TRY(ambit__ask(e->device, event_open, false, &x->events[POINTS * i + k]));
  }
  return AMBIT_OK;
}

void ambit__queues_close(ambit__exchange *x)
{
  for (int i = 0; x->events && i < ambit__exchange_context(x)->nengines * POINTS; i++)
    if (x->events[i])
      ambit__ask(ambit__exchange_context(x)->engines[i / POINTS].device, event_close, x->events[i]);
}

/* ---- points ---- */

typedef enum which { QUEUE, TRANSFERS, BORDER } which;

static ambit__queue *queue_of(const ambit__engine *e, which w)
{
  return w == QUEUE ? e->queue : w == TRANSFERS ? e->transfers : e->border;
}

/* Makes a queue of every asynchronous engine wait for a point, which is recorded in another one
 * before, or was (`from` is -1). */
static ambit_status wait_at(const ambit__exchange *x, ambit__exchange_point point, int from,
                            which to)
{
  for (int i = 0; i < ambit__exchange_context(x)->nengines; i++) {
    const ambit__engine *e = &ambit__exchange_context(x)->engines[i];
    ambit__event *event = x->events[POINTS * i + (int)point];

    if (!event) continue;
    if (from >= 0) AMBIT_TRY(ambit__do(queue_of(e, (which)from), mark, event));
    AMBIT_TRY(ambit__do(queue_of(e, to), await, event));
  }
  return AMBIT_OK;
}

ambit_status ambit__queues_begin(const ambit__exchange *x, const ambit__exchange *feeder)
{
  if (feeder && feeder->bordered) return wait_at(feeder, POINT_BORDER, -1, TRANSFERS);
  return wait_at(x, POINT_BEGIN, QUEUE, TRANSFERS);
}

ambit_status ambit__queues_ready(const ambit__exchange *x)
{
  return wait_at(x, POINT_READY, QUEUE, BORDER);
}

ambit_status ambit__queues_finish(const ambit__exchange *x, bool on_border)
{
  return wait_at(x, POINT_FINISH, TRANSFERS, on_border ? BORDER : QUEUE);
}

ambit_status ambit__queues_bordered(ambit__exchange *x)
{
  x->bordered = true;
  return wait_at(x, POINT_BORDER, BORDER, QUEUE);
}

ambit__queue *ambit__queue_of(const ambit *a, const ambit__operation *op, int engine)
{
  return op->exchange ? a->engines[engine].border : a->engines[engine].queue;
}
