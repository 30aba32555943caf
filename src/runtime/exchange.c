/* exchange.c - running an exchange. exchange_make.c puts one together; near.c has what stays within engines.
 *
 * Every message walks through its states on its own, whenever progress is called: packed by the device,
 * sent; received, unpacked by the device. Nothing in here waits but finish.
 */
#include "runtime/trace.h"

#include <sched.h>
#include <string.h>

enum { PATIENCE = 100 }; /* looks at messages before others may run */

static ambit *context(const ambit__exchange *x)
{
  return x->program->grid->context;
}

static const ambit__engine *engine(const ambit__exchange *x, int part)
{
  return ambit__engine_of(context(x), part);
}

static const ambit__fetch *fetch(const ambit__exchange *x, int i)
{
  return &x->program->fetches[x->fetches[i]];
}

/* ---- messages ---- */

static const ambit__transfer *item(const ambit__exchange *x, const ambit__mail *m, int i,
                                   const ambit__fetch **f)
{
  *f = fetch(x, m->items[2 * i]);
  return &(*f)->halo.transfers[m->items[2 * i + 1]];
}

/* Where the net takes it from, and puts it. */
static void *bytes_of(const ambit__exchange *x, const ambit__mail *m)
{
  if (m->in_place) return ambit__mail_address(x, m);
  return m->message->direct ? m->message->device_bytes : m->message->bytes;
}

static ambit_status pack(const ambit__exchange *x, ambit__mail *m)
{
  const ambit__engine *e = engine(x, m->part);
  const double start = ambit__trace_clock(context(x));
  size_t at = 0;

  m->state = MAIL_PACKING;
  if (m->in_place) return AMBIT_OK;
  if (m->twin && m->message->direct) /* until the other device has taken what was last in it */
    AMBIT_TRY(e->device->backend->event_await(e->moves, m->twin->spare_packed));
  for (int i = 0; i < m->nitems; i++) {
    const ambit__fetch *f;
    const ambit__transfer *t = item(x, m, i, &f);

    AMBIT_TRY(
        e->device->backend->pack(e->moves, m->message, at, &f->field->stores[m->part], &t->box));
    at += ambit__mail_item_bytes(f, t);
  }
  if (context(x)->trace) ambit__trace_mail(x, m, NOTE_PACK, start);
  return m->packed ? e->device->backend->event_record(m->packed, e->moves) : AMBIT_OK;
}

static ambit_status unpack(const ambit__exchange *x, ambit__mail *m)
{
  const ambit__engine *e = engine(x, m->part);
  const double start = ambit__trace_clock(context(x));
  size_t at = 0;

  m->state = MAIL_DONE;
  if (m->in_place) return AMBIT_OK;
  for (int i = 0; i < m->nitems; i++) {
    const ambit__fetch *f;
    const ambit__transfer *t = item(x, m, i, &f);
    ambit__box box = ambit__box_move(&t->box, t->shift);

    AMBIT_TRY(
        e->device->backend->unpack(e->moves, &f->field->stores[m->part], &box, m->message, at));
    at += ambit__mail_item_bytes(f, t);
  }
  if (context(x)->trace) ambit__trace_mail(x, m, NOTE_UNPACK, start);
  return m->packed ? e->device->backend->event_record(m->packed, e->moves) : AMBIT_OK;
}

/* A message between two engines of this process. */
static ambit_status hand_over(const ambit__exchange *x, ambit__mail *m)
{
  const ambit__engine *e = engine(x, m->twin->part);
  const double start = ambit__trace_clock(context(x));

  if (m->message->direct)
    AMBIT_TRY(e->device->backend->pass(e->moves, m->twin->message, m->message));
  else
    memcpy(m->twin->message->bytes, m->message->bytes, m->bytes);
  if (context(x)->trace) ambit__trace_mail(x, m, NOTE_HAND_OVER, start);
  m->state = MAIL_DONE;
  return unpack(x, m->twin);
}

static ambit_status step_mail(const ambit__exchange *x, ambit__mail *m)
{
  const ambit__backend *backend = engine(x, m->part)->device->backend;
  ambit__net *net = context(x)->net;

  if (m->state == MAIL_PACKING && (!m->packed || backend->event_done(m->packed))) {
    if (m->twin) return hand_over(x, m);
    m->state = MAIL_MOVING;
    m->since = ambit__trace_clock(context(x));
    return ambit__net_send(net, m->process, m->tag, bytes_of(x, m), m->bytes, &m->request);
  }
  if (m->state == MAIL_MOVING && !m->twin) {
    bool done;

    AMBIT_TRY(ambit__net_test(net, &m->request, &done));
    if (!done) return AMBIT_OK;
    if (context(x)->trace)
      ambit__trace_mail(x, m, m->incoming ? NOTE_RECEIVE : NOTE_SEND, m->since);
    if (m->incoming) return unpack(x, m);
    m->state = MAIL_DONE;
  }
  return AMBIT_OK;
}

/* Takes a message as far as it gets without work for a device. */
static ambit_status nudge(const ambit__exchange *x, ambit__mail *m)
{
  bool done;

  if (m->incoming && !m->in_place) return ambit__net_test(context(x)->net, &m->request, &done);
  return step_mail(x, m);
}

/* Asking for one message moves all. When none is left there is nothing to ask for, and it costs nothing: in Open MPI 4.1,
 * looking around took 5 microseconds, asking for a message 2. */
void ambit__exchange_poll(void *user)
{
  const ambit__exchange *x = user;
  bool asked = false;

  for (int i = 0; i < x->nmails; i++) {
    ambit__mail *m = &x->mails[i];

    if (m->twin || (m->state != MAIL_PACKING && !m->request.active)) continue;
    if (nudge(x, m)) return; /* the error stays; finish comes upon it */
    asked = true;
  }
  if (!asked && context(x)->sharing) ambit__net_poll(context(x)->net);
}

ambit_status ambit__exchange_progress(ambit__exchange *x)
{
  for (int i = 0; i < x->nmails; i++)
    AMBIT_TRY(step_mail(x, &x->mails[i]));
  return AMBIT_OK;
}

static bool is_done(const ambit__exchange *x)
{
  for (int i = 0; i < x->nmails; i++)
    if (x->mails[i].state != MAIL_DONE) return false;
  return true;
}

/* ---- the whole ---- */

/* Makes the message free that something is to come into: the one of the time before last, so nobody waits as a rule. */
static ambit_status take_spare(const ambit__exchange *x, ambit__mail *m)
{
  ambit__message *const message = m->message;
  ambit__event *const packed = m->packed;

  if (!m->spare) return AMBIT_OK;
  m->message = m->spare;
  m->packed = m->spare_packed;
  m->spare = message;
  m->spare_packed = packed;
  return engine(x, m->part)->device->backend->event_sync(m->packed);
}

static ambit_status start_mail(ambit__exchange *x, ambit__mail *m)
{
  if (!m->incoming) return pack(x, m);
  AMBIT_TRY(take_spare(x, m));
  m->state = MAIL_MOVING;
  if (m->twin) return AMBIT_OK;
  m->since = ambit__trace_clock(context(x));
  return ambit__net_receive(context(x)->net, m->process, m->tag, bytes_of(x, m), m->bytes,
                            &m->request);
}

ambit_status ambit__exchange_begin(ambit__exchange *x, const ambit__exchange *feeder)
{
  if (x->nmails) AMBIT_TRY(ambit__queues_begin(x, feeder));
  for (int i = x->nmails - 1; i >= 0; i--) /* receives are posted before anything is sent */
    AMBIT_TRY(start_mail(x, &x->mails[i]));
  AMBIT_TRY(ambit__near_run(x, NEAR_BEGIN, false));
  return ambit__exchange_progress(x);
}

ambit_status ambit__exchange_edges(ambit__exchange *x, bool beside)
{
  AMBIT_TRY(ambit__near_run(x, NEAR_EDGES, false));
  return beside ? ambit__queues_ready(x) : AMBIT_OK;
}

ambit_status ambit__exchange_ghosts(ambit__exchange *x, bool beside)
{
  return ambit__near_run(x, NEAR_GHOSTS, beside);
}

ambit_status ambit__exchange_finish(ambit__exchange *x, bool beside)
{
  const double start = ambit__trace_clock(context(x));

  for (int tries = 0; !is_done(x); tries++) {
    AMBIT_TRY(ambit__exchange_progress(x));
    if (tries <= PATIENCE) continue;
    AMBIT_TRY(ambit__net_listen(context(x)->net));
    sched_yield(); /* the one waited for may need this core */
  }
  AMBIT_TRY(context(x)->errors.status); /* of a poll */
  if (x->nmails && context(x)->trace) ambit__trace_add(context(x), NOTE_WAIT, start);
  if (x->nmails) AMBIT_TRY(ambit__queues_finish(x, beside));
  return ambit__exchange_ghosts(x, beside);
}
