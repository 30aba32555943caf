/* SPDX-License-Identifier: BSD-3-Clause */
/* trace_write.c - writes a trace in the Trace Event Format.
 *
 * In the file, a process is a process and a part is a thread. Events that belong to no part have a
 * thread of their own, and so have the times of each device. Every process formats its notes as
 * text; process 0 gathers the texts. Clocks of different machines are unrelated, so all processes
 * take the end of a common barrier as the same time.
 */
#include "runtime/observe/trace.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
#define X(name, text) text,
    AMBIT__NOTE_MAP(X)
#undef X
};

/* ---- threads ---- */

/* Numbers start at 1: process 0 is the idle task, and Perfetto shows its events badly or not at
 * all. */
static int process_number(const ambit__trace *trace)
{
  return trace->scene.net->rank + 1;
}

static int thread_number(int thread)
{
  return thread + 1;
}

/* Parts come first, then the host, then the devices. */
static int thread_of(const ambit__trace *trace, const ambit__note *n)
{
  if (n->kind == NOTE_DEVICE) return trace->scene.nparts + 1 + n->device;
  return n->part >= 0 ? n->part : trace->scene.nparts;
}

static void print_thread(ambit__text *t, const ambit__trace *trace, int thread, const char *name)
{
  ambit__print(
      t,
      ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":\"%s\"}}",
      process_number(trace), thread_number(thread), name);
}

/* The names of this process and its threads. */
static void print_names(ambit__text *t, const ambit__trace *trace)
{
  const ambit__trace_scene *scene = &trace->scene;
  const int rank = scene->net->rank;
  char name[64];

  ambit__print(
      t, "%s{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"args\":{\"name\":\"process %d\"}}",
      rank ? ",\n" : "", process_number(trace), rank);
  for (int i = 0; i < scene->nown; i++) {
    const ambit__trace_device *d = &trace->devices[scene->device_of_own[i]];

    snprintf(name, sizeof name, "part %d on %s:%d", scene->first + i, d->name, d->ordinal);
    print_thread(t, trace, scene->first + i, name);
  }
  print_thread(t, trace, scene->nparts, "host");
  for (int i = 0; i < scene->ndevices; i++) {
    const ambit__trace_device *d = &trace->devices[i];

    snprintf(name, sizeof name, "%s:%d, device times", d->name, d->ordinal);
    if (d->device->backend->event_seconds) print_thread(t, trace, scene->nparts + 1 + i, name);
  }
}

/* ---- notes ---- */

static bool is_launch(const ambit__note *n)
{
  return n->kind == NOTE_LAUNCH || n->kind == NOTE_ENQUEUE || n->kind == NOTE_DEVICE;
}

static bool is_message(const ambit__note *n)
{
  return n->kind == NOTE_SEND || n->kind == NOTE_RECEIVE;
}

static bool has_peer(const ambit__note *n)
{
  return is_message(n) || n->kind == NOTE_PACK || n->kind == NOTE_UNPACK ||
         n->kind == NOTE_HAND_OVER;
}

static void print_args(ambit__text *t, const ambit__note *n)
{
  const char *comma = "";

  ambit__print(t, "\"args\":{");
  if (n->iteration >= 0) {
    ambit__print(t, "\"iteration\":%" PRId64, n->iteration);
    comma = ",";
  }
  if (is_launch(n))
    ambit__print(t, "%s\"cells\":%" PRId64 ",\"which\":\"%s\"", comma, n->count,
                 n->cells ? n->cells : "all");
  if (has_peer(n))
    ambit__print(t, "%s\"bytes\":%" PRId64 ",\"part\":%d,\"peer\":%d,\"process\":%d", comma,
                 n->count, n->part, n->other, n->process);
  ambit__print(t, "}");
}

/* Microseconds to the thousandth, with a decimal point in every locale. */
static void print_time(ambit__text *t, const char *name, double seconds)
{
  const long long ns = llround(1e9 * fabs(seconds));

  ambit__print(t, "\"%s\":%s%lld.%03d,", name, seconds < 0 ? "-" : "", ns / 1000, (int)(ns % 1000));
}

/* The start of an event. A launch has the name of its kernel, other events that of their kind. */
static void print_head(ambit__text *t, const ambit__trace *trace, const ambit__note *n,
                       const char *phase, double start)
{
  const char *clock = n->kind == NOTE_DEVICE ? "device" : is_message(n) ? "message" : "host";

  ambit__print(t, ",\n{\"ph\":\"%s\",\"name\":\"%s%s\",\"cat\":\"%s\",", phase,
               n->kind == NOTE_ENQUEUE ? "enqueue " : "", *n->name ? n->name : names[n->kind],
               clock);
  ambit__print(t, "\"pid\":%d,\"tid\":%d,", process_number(trace),
               thread_number(thread_of(trace, n)));
  print_time(t, "ts", start);
}

/* A message may overlap other events, so its start and end are separate events with a common id. */
static void print_message(ambit__text *t, const ambit__trace *trace, const ambit__note *n,
                          size_t number, double origin)
{
  for (int end = 0; end < 2; end++) {
    print_head(t, trace, n, end ? "e" : "b", (end ? n->end : n->start) - origin);
    ambit__print(t, "\"id\":\"%d.%zu\",", trace->scene.net->rank, number);
    print_args(t, n);
    ambit__print(t, "}");
  }
}

static void print_note(ambit__text *t, const ambit__trace *trace, size_t i, double origin)
{
  const ambit__note *n = &trace->notes[i];

  if (is_message(n)) {
    print_message(t, trace, n, i, origin);
    return;
  }
  print_head(t, trace, n, "X", n->start - origin);
  print_time(t, "dur", n->end - n->start);
  print_args(t, n);
  ambit__print(t, "}");
}

/* By start time. Of notes with the same start the longest comes first: it encloses the others. */
static int compare(const void *a, const void *b)
{
  const ambit__note *x = a, *y = b;

  if (x->start != y->start) return x->start < y->start ? -1 : 1;
  return x->end > y->end ? -1 : x->end < y->end;
}

/* ---- all processes ---- */

/* The data that every process gathers from all others. */
typedef struct summary {
  double first;                    /* start of its earliest note, relative to the barrier */
  uint64_t bytes;                  /* length of its text */
  uint64_t kept, dropped, untimed; /* numbers of notes */
} summary;

/* The notes must be sorted. */
static summary summarise(const ambit__trace *trace, double barrier)
{
  const ambit__trace *t = trace;
  summary s = {.kept = ambit__trace_kept(t), .untimed = t->untimed};

  s.dropped = t->count - s.kept;
  s.first = s.kept ? t->notes[0].start - barrier : 0;
  return s;
}

/* Aborts all processes if memory is NULL, since the others wait for this process. */
static void *require(ambit__trace *trace, void *memory)
{
  if (!memory) {
    ambit__raise(trace->scene.errors, AMBIT_ENOMEM, "no memory to write the trace");
    ambit__net_abort(trace->scene.net, "no memory to write the trace");
  }
  return memory;
}

static char *describe(ambit__trace *trace, double origin)
{
  ambit__text t = {0};

  print_names(&t, trace);
  for (size_t i = 0; i < ambit__trace_kept(trace); i++)
    print_note(&t, trace, i, origin);
  return require(trace, ambit__text_finish(&t));
}

/* Receives the texts of all processes and writes them to the file in order of rank. */
static ambit_status collect(ambit__trace *trace, const char *mine, const summary *all)
{
  ambit__file *file = trace->file;

  ambit__file_write(file, mine, all[0].bytes);
  for (int r = 1; r < trace->scene.net->size; r++) {
    char *text = require(trace, ambit__new(NULL, all[r].bytes, 1));
    ambit__request request;
    ambit_status s;

    if (!text) return AMBIT_ENOMEM;
    s = ambit__net_receive(trace->scene.net, r, 0, text, all[r].bytes, &request);
    if (!s) s = ambit__net_wait(trace->scene.net, &request, 1);
    if (!s) ambit__file_write(file, text, all[r].bytes);
    free(text);
    if (s) return s;
  }
  return AMBIT_OK;
}

static ambit_status hand_in(ambit__trace *trace, const char *mine, size_t bytes)
{
  ambit__request request;

  AMBIT_TRY(ambit__net_send(trace->scene.net, 0, 0, mine, bytes, &request));
  return ambit__net_wait(trace->scene.net, &request, 1);
}

static ambit_status write_tail(ambit__trace *trace, const summary *all)
{
  ambit__text t = {0};
  uint64_t dropped = 0, untimed = 0;
  ambit_status s;

  for (int r = 0; r < trace->scene.net->size; r++) {
    dropped += all[r].dropped;
    untimed += all[r].untimed;
  }
  ambit__print(&t,
               "\n],\"displayTimeUnit\":\"ms\",\"otherData\":{\"processes\":%d,\"dropped\":%" PRIu64
               ",\"untimed\":%" PRIu64 "}}\n",
               trace->scene.net->size, dropped, untimed);
  s = t.failed ? AMBIT_ENOMEM : ambit__file_write(trace->file, t.chars, t.len);
  ambit__text_free(&t);
  return s;
}

static ambit_status finish(ambit__trace *trace, const char *mine, const summary *all)
{
  static const char head[] = "{\"traceEvents\":[\n";
  ambit__file *file = trace->file;

  if (trace->scene.net->rank) return hand_in(trace, mine, all[trace->scene.net->rank].bytes);
  ambit__file_write(file, head, strlen(head));
  AMBIT_TRY(collect(trace, mine, all));
  AMBIT_TRY(write_tail(trace, all));
  trace->file = NULL;
  return ambit__file_commit(file);
}

/* Agrees on time 0 of the file: the earliest start of all notes. */
static ambit_status find_origin(ambit__trace *trace, summary *all, double *origin)
{
  const int size = trace->scene.net->size;
  double barrier;
  summary mine;

  AMBIT_TRY(ambit__net_barrier(trace->scene.net));
  barrier = ambit__clock();
  mine = summarise(trace, barrier);
  AMBIT_TRY(ambit__net_gather(trace->scene.net, &mine, sizeof mine, all));
  *origin = barrier;
  for (int r = 0; r < size; r++)
    if (barrier + all[r].first < *origin) *origin = barrier + all[r].first;
  return AMBIT_OK;
}

/* Gathers the lengths of all texts, then sends the texts to process 0. */
static ambit_status put_together(ambit__trace *trace, summary *all)
{
  summary mine;
  double origin;
  char *text;
  ambit_status s;

  AMBIT_TRY(find_origin(trace, all, &origin));
  text = describe(trace, origin);
  if (!text) return AMBIT_ENOMEM;
  mine = all[trace->scene.net->rank];
  mine.bytes = strlen(text);
  s = ambit__net_gather(trace->scene.net, &mine, sizeof mine, all);
  if (!s) s = finish(trace, text, all);
  free(text);
  return s;
}

ambit_status ambit__trace_write(ambit__trace *trace)
{
  summary *all = require(trace, ambit__new(NULL, (size_t)trace->scene.net->size, sizeof *all));
  ambit_status s;

  if (!all) return AMBIT_ENOMEM;
  qsort(trace->notes, ambit__trace_kept(trace), sizeof *trace->notes, compare);
  put_together(trace, all);
  s = ambit__net_agree(trace->scene.net); /* none leaves while another hands in its text */
  free(all);
  return s;
}
