/* SPDX-License-Identifier: BSD-3-Clause */
/* trace.h - a timeline of runs, for chrome:
 * tracing and Perfetto (option trace).
 *
 * The trace is a ring buffer of notes in memory. It keeps the newest notes and writes them when the
 * context is closed. Without a trace each hook costs one branch. Times are host times: on an
 * asynchronous device the note of a launch covers its submission only. If the device has timers, a
 * second note holds the execution time.
 */
#ifndef AMBIT_RUNTIME_OBSERVE_TRACE_H
#define AMBIT_RUNTIME_OBSERVE_TRACE_H

#include "base/clock.h"
#include "device/device.h"
#include "net/net.h"

/* Kinds of notes, and their names in the file. */
#define AMBIT__NOTE_MAP(X)                                                                         \
  X(LAUNCH, "launch")   /* on a synchronous device */                                              \
  X(ENQUEUE, "enqueue") /* the submission of a launch to an asynchronous device */                 \
  X(DEVICE, "device")   /* ... and its execution */                                                \
  X(BEGIN, "begin")     /* operations of an exchange */                                            \
  X(EDGES, "edges")                                                                                \
  X(FINISH, "finish")                                                                              \
  X(GHOSTS, "ghosts") /* filled before a stage of a cycle */                                       \
  X(WAIT, "wait")     /* in finish: until all messages have arrived */                             \
  X(PACK, "pack")                                                                                  \
  X(UNPACK, "unpack")                                                                              \
  X(SEND, "send")       /* a message, from its submission until it was sent */                     \
  X(RECEIVE, "receive") /* ... from posting the receive until it arrived */                        \
  X(HAND_OVER, "hand over")                                                                        \
  X(ALLREDUCE_BEGIN, "allreduce begin")                                                            \
  X(ALLREDUCE_END, "allreduce end")                                                                \
  X(ROTATE, "rotate")                                                                              \
  X(CALL, "call")   /* a run of another program */                                                 \
  X(CHECK, "check") /* of the condition of ambit_run_until */                                      \
  X(CALLBACK, "callback")                                                                          \
  X(RECUT, "move the cut") /* of the grid */                                                       \
  X(DEVICES, "wait for devices")

typedef enum ambit__note_kind {
#define X(name, text) NOTE_##name,
  AMBIT__NOTE_MAP(X)
#undef X
} ambit__note_kind;

typedef struct ambit__note {
  ambit__note_kind kind;
  int part;  /* number among all parts; -1: no particular part */
  int other; /* message: the part at the other end, and its process */
  int process;
  int device;        /* NOTE_DEVICE: index among the devices of the trace */
  int64_t count;     /* cells of a launch, bytes of a message */
  int64_t iteration; /* -1: outside an iteration */
  double start, end;
  const char *cells; /* launch: "inner", "border"; NULL all. Not owned */
  char name[32];     /* of the kernel; "" none */
} ambit__note;

/* A device whose launches are timed. */
typedef struct ambit__trace_device {
  const char *name; /* of its backend */
  int ordinal;
  ambit__device *device;
  ambit__queue *queue;
} ambit__trace_device;

/* The processes, parts and devices a trace shows. All of it outlives the trace. */
typedef struct ambit__trace_scene {
  ambit__errors *errors;
  ambit__net *net;
  const char *path;                   /* of the file */
  const ambit__trace_device *devices; /* of this process; copied */
  int ndevices;
  int nparts, first, nown;  /* parts of all processes, the first of this one, its parts */
  const int *device_of_own; /* by part of this process */
} ambit__trace_scene;

typedef struct ambit__trace {
  ambit__trace_scene scene;
  ambit__trace_device *devices;     /* owned */
  ambit__note *notes;               /* the ring; owned */
  size_t count;                     /* notes so far; note i is at index i % AMBIT__NOTES */
  int64_t iteration;                /* the current one; -1: none */
  struct ambit__file *file;         /* on process 0 */
  struct ambit__stopwatch *watches; /* by device; owned */
  size_t untimed;                   /* launches without device times */
} ambit__trace;

enum { AMBIT__NOTES = 1 << 17 };

/* Collective. */
ambit_status ambit__trace_open(const ambit__trace_scene *scene, ambit__trace **trace);
/* Writes the notes of all processes and frees the trace; several processes that have failed write
 * none. Collective; NULL does nothing. */
ambit_status ambit__trace_close(ambit__trace *trace);

/* The clock if there is a trace, else 0. */
static inline double ambit__trace_clock(const ambit__trace *trace)
{
  return trace ? ambit__clock() : 0;
}

/* A note of the current iteration that began at `start` and ends now. Needs a trace. */
ambit__note ambit__trace_note(const ambit__trace *trace, ambit__note_kind kind, double start);
void ambit__trace_keep(ambit__trace *trace, const ambit__note *n);
void ambit__trace_add(ambit__trace *trace, ambit__note_kind kind, double start); /* NULL: nothing */
size_t ambit__trace_kept(const ambit__trace *trace); /* notes in the ring */

/* ---- trace_device.c: times of asynchronous devices ---- */

ambit_status ambit__stopwatches_open(ambit__trace *trace);
void ambit__stopwatches_close(ambit__trace *trace);
/* Call before and after the submission of a launch. */
void ambit__stopwatch_start(ambit__trace *trace, int device, ambit__queue *q);
void ambit__stopwatch_stop(ambit__trace *trace, int device, ambit__queue *q,
                           const ambit__note *launch);
void ambit__stopwatches_read(ambit__trace *trace); /* adds the notes of all finished launches */

/* ---- trace_write.c ---- */

/* Writes the notes of all processes to the file. Collective. */
ambit_status ambit__trace_write(ambit__trace *trace);

#endif
