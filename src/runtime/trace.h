/* trace.h - a timeline of what runs do, for chrome://tracing and Perfetto (option trace).
 *
 * A trace is a ring of notes in memory: the newest ones are kept, and written when the context is closed. Without one, every
 * hook is a branch. Times are the host's: on devices that work later a launch lasts as long as handing it over, and is
 * called so; where the device can tell, a second note has its own times.
 */
#ifndef AMBIT_RUNTIME_TRACE_H
#define AMBIT_RUNTIME_TRACE_H

#include "base/clock.h"
#include "runtime/exchange.h"

typedef enum ambit__note_kind {
  NOTE_LAUNCH,  /* on a device that works at once */
  NOTE_ENQUEUE, /* a launch handed to a device that works later */
  NOTE_DEVICE,  /* ... and when it worked */
  NOTE_BEGIN,   /* operations of an exchange */
  NOTE_EDGES,
  NOTE_FINISH,
  NOTE_WAIT, /* in finish: until all messages are there */
  NOTE_PACK,
  NOTE_UNPACK,
  NOTE_SEND,    /* a message, from when it was handed to the net until it was gone */
  NOTE_RECEIVE, /* ... from when it was expected until it was there */
  NOTE_HAND_OVER,
  NOTE_SHARE,
  NOTE_SHARED,
  NOTE_ROTATE,
  NOTE_CHECK, /* of the condition of ambit_run_until */
  NOTE_CALLBACK,
  NOTE_DEVICES /* until all devices are done */
} ambit__note_kind;

typedef struct ambit__note {
  ambit__note_kind kind;
  ambit__cells cells; /* of a launch: which */
  int part;           /* among all; -1: none in particular */
  int other;          /* of a message: the part at the other end; its process */
  int process;
  int engine;        /* NOTE_DEVICE */
  int64_t count;     /* cells of a launch, bytes of a message */
  int64_t iteration; /* -1: outside of one */
  double start, end;
  char name[32]; /* of the kernel; "" none */
} ambit__note;

typedef struct ambit__trace {
  ambit__note *notes;               /* the ring; owned */
  size_t count;                     /* noted so far: number i is at i % AMBIT__NOTES */
  int64_t iteration;                /* under way; -1 none */
  struct ambit__file *file;         /* on process 0 */
  struct ambit__stopwatch *watches; /* by engine; owned */
  size_t untimed;                   /* launches whose device times were not taken */
} ambit__trace;

enum { AMBIT__NOTES = 1 << 17 };

/* Starts a trace if option trace asks for one and there is none. Collective. */
ambit_status ambit__trace_open(ambit *a);
/* Writes it, of all processes, and frees it. Collective; does nothing if there is none. */
ambit_status ambit__trace_close(ambit *a);

/* The clock if there is a trace, else 0. */
static inline double ambit__trace_clock(const ambit *a)
{
  return a->trace ? ambit__clock() : 0;
}

/* Each notes what began at `start` and ends now. There must be a trace. */
void ambit__trace_add(ambit *a, ambit__note_kind kind, double start);
void ambit__trace_operation(const ambit_program *p, const ambit__operation *op, double start);
void ambit__trace_launch(const ambit_program *p, const ambit__operation *op,
                         const ambit__piece *piece, double start);
void ambit__trace_mail(const ambit__exchange *x, const ambit__mail *m, ambit__note_kind kind,
                       double start);

void ambit__trace_keep(ambit__trace *t, const ambit__note *n);
size_t ambit__trace_kept(const ambit__trace *t); /* how many of them are in the ring */

/* ---- trace_device.c: times of devices that work later ---- */

ambit_status ambit__stopwatches_open(ambit *a);
void ambit__stopwatches_close(ambit *a);
/* Around handing over a launch. */
void ambit__stopwatch_start(ambit *a, int engine, ambit__queue *q);
void ambit__stopwatch_stop(ambit *a, int engine, ambit__queue *q, const ambit__note *launch);
void ambit__stopwatches_read(ambit *a); /* notes the times of all launches that are done */

/* ---- trace_write.c ---- */

/* Puts the notes of all processes into the file. Collective. */
ambit_status ambit__trace_write(ambit *a);

#endif
