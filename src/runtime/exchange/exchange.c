/* SPDX-License-Identifier: BSD-3-Clause */
/* exchange.c - runs an exchange. exchange_make.c makes it; local_moves.c has the moves within
 * engines.
 *
 * Every channel advances through its states independently, whenever progress is called: packed by
 * the device, sent; received, unpacked by the device. Only finish waits.
 */
#include "runtime/exchange/exchange.h"
#include "runtime/observe/meter.h"

#include <sched.h>
#include <string.h>

enum { PATIENCE = 100 }; /* polls before finish yields the core */

static const ambit__engine *engine(const ambit__exchange *x, int part)
{
  return ambit__engine_of(x->program->grid, part);
}

static void note(const ambit__exchange *x, const ambit__channel *m, ambit__note_kind kind,
                 double start)
{
  ambit__trace *trace = ambit__exchange_context(x)->trace;
  ambit__note n;

  if (!trace) return;
  n = ambit__trace_note(trace, kind, start);
  n.part = x->program->grid->first + m->part;
  n.other = m->other;
  n.process = m->process;
  n.count = (int64_t)m->bytes;
  ambit__trace_keep(trace, &n);
}

static ambit__meter *meter(const ambit__exchange *x)
{
  return ambit__exchange_context(x)->meter;
}

/* ---- messages ---- */

static const ambit__transfer *item(const ambit__exchange *x, const ambit__channel *m, int i,
                                   const ambit__halo_slice **f)
{
  *f = x->slices[m->items[2 * i]];
  return &(*f)->halo.transfers[m->items[2 * i + 1]];
}

/* The address from which the net sends, or at which it receives. */
static void *bytes_of(const ambit__channel *m)
{
  return m->message->direct ? m->message->device_bytes : m->message->bytes;
}

/* Packs all transfers of a message, or unpacks them. */
static ambit_status move_items(const ambit__exchange *x, ambit__channel *m)
{
  const ambit__engine *e = engine(x, m->part);
  const int number = x->program->grid->placement.engine[m->part];
  const double start = ambit__trace_clock(ambit__exchange_context(x)->trace);
  size_t at = 0;

  AMBIT_TRY(ambit__meter_start(meter(x), number, e->transfers));
  for (int i = 0; i < m->nitems; i++) {
    const ambit__halo_slice *f;
    const ambit__transfer *t = item(x, m, i, &f);
    const ambit__box there = ambit__transfer_target(f->field->grid, t);
    ambit__store store =
        m->incoming ? ambit__slice_store(f, m->part) : ambit__slice_source(f, m->part);

    AMBIT_TRY(m->incoming ? ambit__do(e->transfers, unpack, &store, &there, m->message, at)
                          : ambit__do(e->transfers, pack, m->message, at, &store, &t->box));
    at += ambit__channel_item_bytes(f, t);
  }
  AMBIT_TRY(ambit__meter_stop(meter(x), number, e->transfers, METER_MOVE));
  note(x, m, m->incoming ? NOTE_UNPACK : NOTE_PACK, start);
  return m->packed ? ambit__do(e->transfers, mark, m->packed) : AMBIT_OK;
}

static ambit_status pack(const ambit__exchange *x, ambit__channel *m)
{
  m->state = CHANNEL_PACKING;
  if (m->peer && m->message->direct) /* until the other device has read the previous message */
    AMBIT_TRY(ambit__do(engine(x, m->part)->transfers, await, m->peer->spare_packed));
  return move_items(x, m);
}

static ambit_status unpack(const ambit__exchange *x, ambit__channel *m)
{
  m->state = CHANNEL_DONE;
  return move_items(x, m);
}

/* Passes a message between two engines of this process. */
static ambit_status hand_over(const ambit__exchange *x, ambit__channel *m)
{
  const ambit__engine *e = engine(x, m->peer->part);
  const double start = ambit__trace_clock(ambit__exchange_context(x)->trace);

  if (m->message->direct)
    AMBIT_TRY(ambit__do(e->transfers, pass, m->peer->message, m->message));
  else
    memcpy(m->peer->message->bytes, m->message->bytes, m->bytes);
  note(x, m, NOTE_HAND_OVER, start);
  m->state = CHANNEL_DONE;
  return unpack(x, m->peer);
}

static ambit_status receive(const ambit__exchange *x, ambit__channel *m);

/* Tests the note of a channel that waits for nothing else. */
static ambit_status step_note(ambit__exchange *x, ambit__channel *m)
{
  bool done;

  AMBIT_TRY(ambit__net_test(ambit__exchange_context(x)->net, &m->note, &done));
  if (!done) return AMBIT_OK;
  m->state = CHANNEL_DONE;
  return m->incoming && x->program->gate->arrive(x, m) ? receive(x, m) : AMBIT_OK;
}

static ambit_status step_channel(ambit__exchange *x, ambit__channel *m)
{
  const ambit__backend *backend = engine(x, m->part)->device->backend;
  ambit__net *net = ambit__exchange_context(x)->net;

  if (m->state == CHANNEL_PACKING && (!m->packed || backend->event_done(m->packed))) {
    if (m->peer) return hand_over(x, m);
    m->state = CHANNEL_MOVING;
    m->since = ambit__trace_clock(ambit__exchange_context(x)->trace);
    return ambit__net_send(net, m->process, m->tag, bytes_of(m), m->bytes, &m->request);
  }
  if (m->state == CHANNEL_MOVING && !m->peer) {
    bool done;

    AMBIT_TRY(ambit__net_test(net, &m->request, &done));
    if (!done) return AMBIT_OK;
    note(x, m, m->incoming ? NOTE_RECEIVE : NOTE_SEND, m->since);
    if (m->incoming) return unpack(x, m);
    m->state = m->note.active ? CHANNEL_NOTES : CHANNEL_DONE;
  }
  return m->state == CHANNEL_NOTES ? step_note(x, m) : AMBIT_OK;
}

/* Advances a channel as far as possible without giving work to a device. */
static ambit_status advance(ambit__exchange *x, ambit__channel *m)
{
  bool done;

  if (m->incoming) return ambit__net_test(ambit__exchange_context(x)->net, &m->request, &done);
  return step_channel(x, m);
}

/* Testing one request makes all messages progress. Without a pending request nothing is tested,
 * which is free: in Open MPI 4.1 a probe took 5 microseconds, a test 2. */
void ambit__exchange_poll(void *user)
{
  ambit__exchange *x = user;
  bool asked = false;

  for (int i = 0; i < x->nchannels; i++) {
    ambit__channel *m = &x->channels[i];

    if (m->peer || (m->state != CHANNEL_PACKING && !m->request.active)) continue;
    if (advance(x, m)) return; /* finish returns the error */
    asked = true;
  }
  if (!asked && ambit__exchange_context(x)->allreduces)
    ambit__net_poll(ambit__exchange_context(x)->net);
}

ambit_status ambit__exchange_progress(ambit__exchange *x)
{
  for (int i = 0; i < x->nchannels; i++)
    AMBIT_TRY(step_channel(x, &x->channels[i]));
  return AMBIT_OK;
}

static bool is_done(const ambit__exchange *x)
{
  for (int i = 0; i < x->nchannels; i++)
    if (x->channels[i].state != CHANNEL_DONE) return false;
  return true;
}

/* ---- exchanges ---- */

/* Makes the other buffer of an incoming channel current. It was used in the exchange before the
 * last, so this rarely waits. */
static ambit_status take_spare(const ambit__exchange *x, ambit__channel *m)
{
  ambit__message *const message = m->message;
  ambit__event *const packed = m->packed;

  if (!m->spare) return AMBIT_OK;
  m->message = m->spare;
  m->packed = m->spare_packed;
  m->spare = message;
  m->spare_packed = packed;
  return ambit__do(engine(x, m->part)->transfers, wait, m->packed);
}

static ambit_status receive(const ambit__exchange *x, ambit__channel *m)
{
  AMBIT_TRY(take_spare(x, m));
  m->state = CHANNEL_MOVING;
  if (m->peer) return AMBIT_OK;
  m->since = ambit__trace_clock(ambit__exchange_context(x)->trace);
  return ambit__net_receive(ambit__exchange_context(x)->net, m->process, m->tag, bytes_of(m),
                            m->bytes, &m->request);
}

/* The note comes first, in either direction. */
static ambit_status start_note(ambit__exchange *x, ambit__channel *m)
{
  ambit__net *net = ambit__exchange_context(x)->net;
  bool follows;

  m->state = CHANNEL_NOTES;
  if (m->incoming)
    return ambit__net_receive(net, m->process, m->tag, m->notes, m->note_bytes, &m->note);
  follows = x->program->gate->leave(x, m);
  AMBIT_TRY(ambit__net_send(net, m->process, m->tag, m->notes, m->note_bytes, &m->note));
  m->left_out += !follows;
  return follows ? pack(x, m) : AMBIT_OK;
}

static ambit_status start_channel(ambit__exchange *x, ambit__channel *m)
{
  if (x->program->gated && m->notes) return start_note(x, m);
  return m->incoming ? receive(x, m) : pack(x, m);
}

ambit_status ambit__exchange_begin(ambit__exchange *x, const ambit__exchange *feeder)
{
  if (x->nchannels) AMBIT_TRY(ambit__queues_begin(x, feeder));
  for (int i = x->nchannels - 1; i >= 0; i--) /* posts receives before sends */
    AMBIT_TRY(start_channel(x, &x->channels[i]));
  AMBIT_TRY(ambit__move_set_run(ambit__exchange_context(x), &x->local[LOCAL_COPIES], false));
  return ambit__exchange_progress(x);
}

ambit_status ambit__exchange_edges(ambit__exchange *x, bool on_border)
{
  AMBIT_TRY(ambit__move_set_run(ambit__exchange_context(x), &x->local[LOCAL_EDGES], false));
  return on_border ? ambit__queues_ready(x) : AMBIT_OK;
}

ambit_status ambit__exchange_finish(ambit__exchange *x, bool on_border)
{
  const double start = ambit__trace_clock(ambit__exchange_context(x)->trace);

  for (int tries = 0; !is_done(x); tries++) {
    AMBIT_TRY(ambit__exchange_progress(x));
    if (tries <= PATIENCE) continue;
    AMBIT_TRY(ambit__net_listen(ambit__exchange_context(x)->net));
    sched_yield(); /* the process waited for may need this core */
  }
  AMBIT_TRY(ambit__exchange_context(x)->errors.status); /* from a poll */
  if (x->nchannels) ambit__trace_add(ambit__exchange_context(x)->trace, NOTE_WAIT, start);
  if (x->nchannels) AMBIT_TRY(ambit__queues_finish(x, on_border));
  return ambit__move_set_run(ambit__exchange_context(x), &x->local[LOCAL_GHOSTS], on_border);
}

ambit_status ambit__exchange_fill(ambit__exchange *x)
{
  AMBIT_TRY(ambit__move_set_run(ambit__exchange_context(x), &x->local[LOCAL_EDGES], false));
  return ambit__move_set_run(ambit__exchange_context(x), &x->local[LOCAL_GHOSTS], false);
}
