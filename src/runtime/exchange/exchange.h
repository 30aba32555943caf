/* SPDX-License-Identifier: BSD-3-Clause */
/* exchange.h - bringing the halos of some fields up to date, all in one go.
 *
 * Cells that go from a part to another on the same engine are copied there. All that one part sends to another
 * part elsewhere, of whichever fields, is one message. Between begin and finish, messages are under way: what they are made
 * of must not be written, and what they fill must not be read.
 */
#ifndef AMBIT_RUNTIME_EXCHANGE_EXCHANGE_H
#define AMBIT_RUNTIME_EXCHANGE_EXCHANGE_H

#include "runtime/exchange/move_set.h"

typedef enum ambit__channel_state {
  CHANNEL_IDLE,
  CHANNEL_PACKING, /* the device is writing it */
  CHANNEL_MOVING,  /* it is on its way */
  CHANNEL_DONE     /* sent; or unpacked, as soon as the queue gets there */
} ambit__channel_state;

/* One message between two parts, seen from one of its ends. */
typedef struct ambit__channel {
  int part;    /* of this process: the end seen from */
  int other;   /* the other end, among all parts */
  int process; /* of the other end */
  int tag;
  bool incoming;
  int *items; /* transfers, as pairs: slice (in the exchange), transfer (in its halo); owned */
  int nitems;
  size_t bytes;
  bool unpacked;           /* sent from where the cells are, and received there (unpacked.c) */
  ambit__message *message; /* of the part's device; NULL: in place */
  ambit__event *packed;    /* outgoing, and unpacked incoming; NULL where devices work at once */
  /* What came may come again before the device has unpacked it: there are two of them, used in turn. */
  ambit__message *spare; /* NULL: it cannot */
  ambit__event *spare_packed;
  ambit__request request;
  double since; /* when it was handed to the net, if there is a trace */
  ambit__channel_state state;
  struct ambit__channel *peer; /* the other end, if it is of this process */
} ambit__channel;

/* When cells move within engines. */
typedef enum ambit__local_phase {
  LOCAL_COPIES, /* copies between parts of one engine */
  LOCAL_EDGES,  /* ghosts that are copies of own cells */
  LOCAL_GHOSTS, /* the others */
  LOCAL_PHASES
} ambit__local_phase;

/* Where queues of an engine wait for each other (queues.c). */
typedef enum ambit__point {
  POINT_BEGIN,  /* what is sent is computed: moves wait */
  POINT_READY,  /* all that border cells need, but for what comes: the border waits */
  POINT_FINISH, /* what comes has come: the queue, or the border, waits */
  POINT_BORDER, /* border cells are computed: the queue waits, and perhaps moves */
  POINTS
} ambit__point;

typedef struct ambit__exchange {
  ambit_program *program;
  int tag;                          /* of its first message between two processes */
  const ambit__halo_slice **slices; /* of the program; owned */
  int nslices;
  ambit__channel *channels; /* outgoing ones first; owned */
  int nchannels;
  ambit__box
      *early; /* by slice and part: own cells, and ghosts that are copies of own cells; owned */
  ambit__event **events; /* by engine and point; owned */
  bool bordered;         /* its border cells were handed out since the order was taken up */
  ambit__move_set local[LOCAL_PHASES]; /* owned */
} ambit__exchange;

static inline ambit *ambit__exchange_context(const ambit__exchange *x)
{
  return x->program->grid->context;
}
/* Where the early box of a slice on a part of this process is kept. */
static inline ambit__box *ambit__exchange_early(const ambit__exchange *x, int slice, int part)
{
  return &x->early[slice * x->program->grid->placement.n + part];
}
/* The values of a slice on a part, for one call of a device: buffers change when fields rotate. */
static inline ambit__store ambit__slice_store(const ambit__halo_slice *s, int part)
{
  const ambit__store *all = &s->field->stores[part];

  return (ambit__store){ambit__layout_slice(&all->layout, s->first, s->count), all->buffer};
}

/* Of some of a list of halos. */
ambit_status ambit__exchange_make(ambit_program *p, const ambit__halos *from, const int *halos,
                                  int n, int tag, ambit__exchange **x);
void ambit__exchange_free(ambit__exchange *x); /* NULL does nothing */
/* Whether something leaves an engine of this process, or comes to one. */
bool ambit__exchange_is_far(const ambit__exchange *x);

/* unpacked.c: whether a message that is complete needs no packing; how long it is then; and where it lies now. */
bool ambit__channel_is_unpacked(const ambit__exchange *x, const ambit__channel *m);
size_t ambit__channel_span(const ambit__exchange *x, const ambit__channel *m);
unsigned char *ambit__channel_address(const ambit__exchange *x, const ambit__channel *m);

/* Room for a transfer in a message: values of all types are aligned there. */
size_t ambit__channel_item_bytes(const ambit__halo_slice *s, const ambit__transfer *t);

/* `feeder` and `beside` are those of the operation (runtime.h). */
ambit_status ambit__exchange_begin(ambit__exchange *x, const ambit__exchange *feeder);
/* Ghosts that are copies of own cells; when all of those are computed. */
ambit_status ambit__exchange_edges(ambit__exchange *x, bool beside);
/* The other ghosts; finish does it, when all has come. */
ambit_status ambit__exchange_ghosts(ambit__exchange *x, bool beside);
void ambit__exchange_poll(void *exchange); /* sends what is packed; messages move on */
ambit_status ambit__exchange_progress(ambit__exchange *x); /* as far as can be without waiting */
ambit_status ambit__exchange_finish(ambit__exchange *x, bool beside);

/* ---- queues.c ---- */

ambit_status ambit__queues_open(ambit__exchange *x);
void ambit__queues_close(ambit__exchange *x); /* the events; queues stay with their engines */
/* Each records a point, and makes another queue wait for it. */
ambit_status ambit__queues_begin(const ambit__exchange *x, const ambit__exchange *feeder);
ambit_status ambit__queues_ready(const ambit__exchange *x);
ambit_status ambit__queues_finish(const ambit__exchange *x, bool beside);
ambit_status ambit__queues_bordered(ambit__exchange *x);
ambit__queue *ambit__queue_of(const ambit *a, const ambit__operation *op,
                              int engine); /* a launch */

/* ---- local_moves.c ---- */

ambit_status ambit__exchange_make_local(ambit__exchange *x); /* x->early is known */

#endif
