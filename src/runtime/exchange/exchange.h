/* SPDX-License-Identifier: BSD-3-Clause */
/* exchange.h - the halo exchange of one or several fields.
 *
 * Cells that move between two parts of one engine are copied there. All cells that one part sends
 * to a part on another engine or process, of all fields, form one message. Between begin and finish
 * messages are in flight: their source cells must not be written, and their destination cells must
 * not be read.
 */
#ifndef AMBIT_RUNTIME_EXCHANGE_EXCHANGE_H
#define AMBIT_RUNTIME_EXCHANGE_EXCHANGE_H

#include "runtime/exchange/move_set.h"

struct ambit__exchange;

typedef enum ambit__channel_state {
  CHANNEL_IDLE,
  CHANNEL_NOTES,   /* incoming: waits for the note; outgoing: only that is in flight */
  CHANNEL_PACKING, /* the device is packing it */
  CHANNEL_MOVING,  /* in flight, or the receive is posted */
  CHANNEL_DONE     /* sent; or unpacked, once the queue gets there */
} ambit__channel_state;

/* One message between two parts, seen from one end. */
typedef struct ambit__channel {
  int part;    /* this end: a part of this process */
  int other;   /* the other end, among all parts */
  int process; /* of the other end */
  int tag;
  bool incoming;
  int *items; /* transfers, as pairs of a slice of the exchange and a transfer of its halo; owned */
  int nitems;
  size_t bytes;
  ambit__message *message; /* buffer of the part's device */
  ambit__event *packed;    /* outgoing: packed; incoming: unpacked. NULL on synchronous devices */
  /* A message may arrive before the device has unpacked the previous one: two buffers alternate. */
  ambit__message *spare; /* NULL on synchronous devices */
  ambit__event *spare_packed;
  ambit__request request;
  /* Of a gate, which has memory for them: a note that precedes the message, and `known`, by which
   * the gate knows the messages sent before. */
  uint64_t *notes, *known;
  size_t note_bytes, known_bytes;
  int64_t entries; /* of the note */
  ambit__request note;
  int64_t left_out; /* messages that the gate has left out */
  double since;     /* time of the send or receive, if there is a trace */
  ambit__channel_state state;
  struct ambit__channel *peer; /* the other end, if it belongs to this process */
} ambit__channel;

/* Decides which messages between processes need not be sent (sleep/notes.c). `leave` writes the
 * note of an outgoing channel, `arrive` reads that of an incoming one; both return whether the
 * message follows. */
typedef struct ambit__gate {
  bool (*leave)(struct ambit__exchange *x, ambit__channel *m);
  bool (*arrive)(struct ambit__exchange *x, ambit__channel *m);
} ambit__gate;

/* When cells move within an engine. */
typedef enum ambit__local_phase {
  LOCAL_COPIES, /* copies between parts of one engine */
  LOCAL_EDGES,  /* ghost cells that copy own cells */
  LOCAL_GHOSTS, /* the other ghost cells */
  LOCAL_PHASES
} ambit__local_phase;

/* The cells that an exchange brings up to date. */
typedef enum ambit__exchange_kind {
  EXCHANGE_ALL,
  EXCHANGE_CHANGES, /* all but constant ghost cells that are filled once */
  EXCHANGE_GHOSTS   /* ghost cells only, from halos as they are */
} ambit__exchange_kind;

/* Points where queues of an engine wait for each other (queues.c). */
typedef enum ambit__exchange_point {
  POINT_BEGIN,  /* cells to send are computed: transfers wait */
  POINT_READY,  /* border cells lack only messages: the border queue waits */
  POINT_FINISH, /* messages have arrived: the queue, or the border queue, waits */
  POINT_BORDER, /* border cells are computed: the queue waits, and perhaps transfers */
  POINTS
} ambit__exchange_point;

typedef struct ambit__exchange {
  ambit_program *program;
  ambit__exchange_kind kind;
  int tag;                          /* tag of its first message between two processes */
  const ambit__halo_slice **slices; /* of the program */
  int nslices;
  ambit__channel *channels; /* outgoing ones first; owned */
  int nchannels;
  ambit__box *early;     /* by slice and part: own cells, and ghost cells that copy own cells */
  ambit__event **events; /* by engine and point */
  bool bordered;         /* a border launch was submitted since the run started */
  ambit__move_set local[LOCAL_PHASES]; /* owned */
} ambit__exchange;

static inline ambit *ambit__exchange_context(const ambit__exchange *x)
{
  return x->program->grid->context;
}
/* The early box of a slice on a part of this process. */
static inline ambit__box *ambit__exchange_early(const ambit__exchange *x, int slice, int part)
{
  return &x->early[slice * x->program->grid->placement.n + part];
}
/* Where the receiving part stores the cells of a transfer. On a sparse grid that is a matter of
 * their rows, which have one number each, also beyond a periodic face. */
static inline ambit__box ambit__transfer_target(const ambit_grid *g, const ambit__transfer *t)
{
  return g->active ? t->box : ambit__box_move(&t->box, t->shift);
}
/* The store of a slice on a part. Valid for one device call, since buffers change when fields
 * rotate. */
static inline ambit__store ambit__slice_store(const ambit__halo_slice *s, int part)
{
  const ambit__store *all = &s->field->stores[part];

  ambit__store some = {ambit__layout_slice(&all->layout, s->first, s->count), all->buffer};

  if (s->shifted) some.layout.active = &s->shifted[part].to;
  return some;
}

/* The same for the cells that are sent: of another field if a step copies. */
static inline ambit__store ambit__slice_source(const ambit__halo_slice *s, int part)
{
  ambit__halo_slice from = *s;
  ambit__store some;

  if (s->source) from.field = s->source;
  some = ambit__slice_store(&from, part);
  if (s->shifted) some.layout.active = &s->shifted[part].from;
  return some;
}

/* Makes the exchange of n halos of a list, given by index (NULL: the first ones), and adds it to
 * p->exchanges, which are closed when the program is unsealed, also after a failure. */
ambit_status ambit__exchange_make(ambit_program *p, ambit__exchange_kind kind,
                                  const ambit__halos *from, const int *halos, int n, int tag,
                                  ambit__exchange **x);
void ambit__exchange_close(ambit__exchange *x);
/* Whether cells move between engines or processes. */
static inline bool ambit__exchange_is_far(const ambit__exchange *x)
{
  return x->nchannels > 0;
}

/* Bytes of a transfer in a message. Transfers are aligned for values of all types. */
size_t ambit__channel_item_bytes(const ambit__halo_slice *s, const ambit__transfer *t);

/* `feeder` and `on_border` are those of the operation (program.h). */
ambit_status ambit__exchange_begin(ambit__exchange *x, const ambit__exchange *feeder);
/* Fills ghost cells that copy own cells, once those are computed. */
ambit_status ambit__exchange_edges(ambit__exchange *x, bool on_border);
void ambit__exchange_poll(void *exchange); /* sends packed messages and makes the net progress */
ambit_status ambit__exchange_progress(ambit__exchange *x); /* never waits */
ambit_status ambit__exchange_finish(ambit__exchange *x, bool on_border);
/* Fills ghost cells only. Those that depend on messages get old values. */
ambit_status ambit__exchange_fill(ambit__exchange *x);

/* ---- queues.c ---- */

ambit_status ambit__queues_open(ambit__exchange *x);
void ambit__queues_close(ambit__exchange *x); /* closes the events; engines keep the queues */
/* Each records a point and makes another queue wait for it. */
ambit_status ambit__queues_begin(const ambit__exchange *x, const ambit__exchange *feeder);
ambit_status ambit__queues_ready(const ambit__exchange *x);
ambit_status ambit__queues_finish(const ambit__exchange *x, bool on_border);
ambit_status ambit__queues_bordered(ambit__exchange *x);
ambit__queue *ambit__queue_of(const ambit *a, const ambit__operation *op,
                              int engine); /* a launch */

/* ---- local_moves.c ---- */

ambit_status ambit__exchange_make_local(ambit__exchange *x); /* needs x->early */

#endif
