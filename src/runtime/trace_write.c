/* trace_write.c - a trace as a file in the Trace Event Format.
 *
 * Processes are processes there, and parts are threads; what belongs to no part is on a thread of its own, and so are the
 * times of devices. Every process puts its notes into words; process 0 gathers them. Clocks of different machines have
 * nothing in common, so all take the moment they met for this as the same.
 */
#include "runtime/trace.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
    [NOTE_LAUNCH] = "launch", [NOTE_ENQUEUE] = "enqueue",   [NOTE_DEVICE] = "device",
    [NOTE_BEGIN] = "begin",   [NOTE_EDGES] = "edges",       [NOTE_FINISH] = "finish",
    [NOTE_WAIT] = "wait",     [NOTE_PACK] = "pack",         [NOTE_UNPACK] = "unpack",
    [NOTE_SEND] = "send",     [NOTE_RECEIVE] = "receive",   [NOTE_HAND_OVER] = "hand over",
    [NOTE_SHARE] = "share",   [NOTE_SHARED] = "shared",     [NOTE_ROTATE] = "rotate",
    [NOTE_CHECK] = "check",   [NOTE_CALLBACK] = "callback", [NOTE_DEVICES] = "wait for devices",
};

/* ---- threads ---- */

static int parts_of(const ambit *a)
{
  return a->firsts[a->net->size];
}

/* Where the system's idle task lives, number 0, Perfetto shows others' events badly or not at all: all count from 1. */
static int process_number(const ambit *a)
{
  return a->net->rank + 1;
}

static int thread_number(int thread)
{
  return thread + 1;
}

/* Parts have their numbers, then comes the host, then devices. */
static int thread_of(const ambit *a, const ambit__note *n)
{
  if (n->kind == NOTE_DEVICE) return parts_of(a) + 1 + n->engine;
  return n->part >= 0 ? n->part : parts_of(a);
}

static void print_thread(ambit__text *t, const ambit *a, int thread, const char *fmt, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 4, 5)))
#endif
    ;
static void print_thread(ambit__text *t, const ambit *a, int thread, const char *fmt, ...)
{
  va_list ap;

  ambit__print(
      t, ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":\"",
      process_number(a), thread_number(thread));
  va_start(ap, fmt);
  ambit__vprint(t, fmt, ap);
  va_end(ap);
  ambit__print(t, "\"}}");
}

/* The names of this process and its threads. */
static void print_names(ambit__text *t, const ambit *a)
{
  const int rank = a->net->rank;

  ambit__print(
      t, "%s{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"args\":{\"name\":\"process %d\"}}",
      rank ? ",\n" : "", process_number(a), rank);
  for (int i = 0; i < a->nslots; i++) {
    const ambit__engine *e = ambit__engine_of(a, i);

    print_thread(t, a, a->firsts[rank] + i, "part %d on %s:%d", a->firsts[rank] + i,
                 e->backend->name, e->ordinal);
  }
  print_thread(t, a, parts_of(a), "host");
  for (int i = 0; i < a->nengines; i++)
    if (a->engines[i].device->backend->event_seconds)
      print_thread(t, a, parts_of(a) + 1 + i, "%s:%d, its own times", a->engines[i].backend->name,
                   a->engines[i].ordinal);
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

static bool is_mail(const ambit__note *n)
{
  return is_message(n) || n->kind == NOTE_PACK || n->kind == NOTE_UNPACK ||
         n->kind == NOTE_HAND_OVER;
}

static void print_args(ambit__text *t, const ambit__note *n)
{
  static const char *const cells[] = {"all", "inner", "border"};
  const char *comma = "";

  ambit__print(t, "\"args\":{");
  if (n->iteration >= 0) {
    ambit__print(t, "\"iteration\":%" PRId64, n->iteration);
    comma = ",";
  }
  if (is_launch(n))
    ambit__print(t, "%s\"cells\":%" PRId64 ",\"which\":\"%s\"", comma, n->count, cells[n->cells]);
  if (is_mail(n))
    ambit__print(t, "%s\"bytes\":%" PRId64 ",\"part\":%d,\"peer\":%d,\"process\":%d", comma,
                 n->count, n->part, n->other, n->process);
  ambit__print(t, "}");
}

/* The start of an event: launches have the name of their kernel, all else that of its kind. */
static void print_head(ambit__text *t, const ambit *a, const ambit__note *n, const char *phase,
                       double microseconds)
{
  const char *clock = n->kind == NOTE_DEVICE ? "device" : is_message(n) ? "message" : "host";

  ambit__print(t, ",\n{\"ph\":\"%s\",\"name\":\"%s%s\",\"cat\":\"%s\",", phase,
               n->kind == NOTE_ENQUEUE ? "enqueue " : "", *n->name ? n->name : names[n->kind],
               clock);
  ambit__print(t, "\"pid\":%d,\"tid\":%d,\"ts\":%.3f,", process_number(a),
               thread_number(thread_of(a, n)), microseconds);
}

/* A message may outlast what goes on meanwhile: its two ends are events of their own, joined by a number. */
static void print_message(ambit__text *t, const ambit *a, const ambit__note *n, size_t number,
                          double origin)
{
  for (int end = 0; end < 2; end++) {
    print_head(t, a, n, end ? "e" : "b", 1e6 * ((end ? n->end : n->start) - origin));
    ambit__print(t, "\"id\":\"%d.%zu\",", a->net->rank, number);
    print_args(t, n);
    ambit__print(t, "}");
  }
}

static void print_note(ambit__text *t, const ambit *a, size_t i, double origin)
{
  const ambit__note *n = &a->trace->notes[i];

  if (is_message(n)) {
    print_message(t, a, n, i, origin);
    return;
  }
  print_head(t, a, n, "X", 1e6 * (n->start - origin));
  ambit__print(t, "\"dur\":%.3f,", 1e6 * (n->end - n->start));
  print_args(t, n);
  ambit__print(t, "}");
}

/* By start; of those that start together, the longest first: it is around the others. */
static int compare(const void *a, const void *b)
{
  const ambit__note *x = a, *y = b;

  if (x->start != y->start) return x->start < y->start ? -1 : 1;
  return x->end > y->end ? -1 : x->end < y->end;
}

/* ---- all processes ---- */

/* What a process tells the others. */
typedef struct summary {
  double first;                    /* its earliest note, before the moment they met */
  uint64_t bytes;                  /* of its words */
  uint64_t kept, dropped, untimed; /* notes */
} summary;

/* The notes are sorted by now. */
static summary summarise(const ambit *a, double met)
{
  const ambit__trace *t = a->trace;
  summary s = {.kept = ambit__trace_kept(t), .untimed = t->untimed};

  s.dropped = t->count - s.kept;
  s.first = s.kept ? t->notes[0].start - met : 0;
  return s;
}

/* Memory that must be there, since the others count on this process. */
static void *must_have(ambit *a, void *memory)
{
  if (!memory) {
    ambit__raise(&a->errors, AMBIT_ENOMEM, "no memory to write the trace");
    ambit__net_abort(a->net, "there is no memory left to write the trace");
  }
  return memory;
}

static char *describe(ambit *a, double origin)
{
  ambit__text t = {0};

  print_names(&t, a);
  for (size_t i = 0; i < ambit__trace_kept(a->trace); i++)
    print_note(&t, a, i, origin);
  return must_have(a, ambit__text_finish(&t));
}

/* Takes the words of all processes, and puts them into the file as they come. */
static ambit_status collect(ambit *a, const char *mine, const summary *all)
{
  ambit__file *file = a->trace->file;

  ambit__file_write(file, mine, all[0].bytes);
  for (int r = 1; r < a->net->size; r++) {
    char *words = must_have(a, ambit__new(NULL, all[r].bytes, 1));
    ambit__request request;
    ambit_status s;

    if (!words) return AMBIT_ENOMEM;
    s = ambit__net_receive(a->net, r, 0, words, all[r].bytes, &request);
    if (!s) s = ambit__net_wait(a->net, &request, 1);
    if (!s) ambit__file_write(file, words, all[r].bytes);
    free(words);
    if (s) return s;
  }
  return AMBIT_OK;
}

static ambit_status hand_in(ambit *a, const char *mine, size_t bytes)
{
  ambit__request request;

  AMBIT_TRY(ambit__net_send(a->net, 0, 0, mine, bytes, &request));
  return ambit__net_wait(a->net, &request, 1);
}

static ambit_status write_tail(ambit *a, const summary *all)
{
  ambit__text t = {0};
  uint64_t dropped = 0, untimed = 0;
  ambit_status s;

  for (int r = 0; r < a->net->size; r++) {
    dropped += all[r].dropped;
    untimed += all[r].untimed;
  }
  ambit__print(&t,
               "\n],\"displayTimeUnit\":\"ms\",\"otherData\":{\"processes\":%d,\"dropped\":%" PRIu64
               ",\"untimed\":%" PRIu64 "}}\n",
               a->net->size, dropped, untimed);
  s = t.failed ? AMBIT_ENOMEM : ambit__file_write(a->trace->file, t.chars, t.len);
  ambit__text_free(&t);
  return s;
}

static ambit_status finish(ambit *a, const char *mine, const summary *all)
{
  static const char head[] = "{\"traceEvents\":[\n";
  ambit__file *file = a->trace->file;

  if (a->net->rank) return hand_in(a, mine, all[a->net->rank].bytes);
  ambit__file_write(file, head, strlen(head));
  AMBIT_TRY(collect(a, mine, all));
  AMBIT_TRY(write_tail(a, all));
  a->trace->file = NULL;
  return ambit__file_commit(file);
}

/* Agrees on the moment that is 0 in the file: the earliest start there is. */
static ambit_status find_origin(ambit *a, summary *all, double *origin)
{
  const int size = a->net->size;
  double met;
  summary mine;

  AMBIT_TRY(ambit__net_barrier(a->net));
  met = ambit__clock();
  mine = summarise(a, met);
  AMBIT_TRY(ambit__net_gather(a->net, &mine, sizeof mine, all));
  *origin = met;
  for (int r = 0; r < size; r++)
    if (met + all[r].first < *origin) *origin = met + all[r].first;
  return AMBIT_OK;
}

/* Everyone's words, and how many there are of them, to process 0. */
static ambit_status put_together(ambit *a, summary *all)
{
  summary mine;
  double origin;
  char *words;
  ambit_status s;

  AMBIT_TRY(find_origin(a, all, &origin));
  words = describe(a, origin);
  if (!words) return AMBIT_ENOMEM;
  mine = all[a->net->rank];
  mine.bytes = strlen(words);
  s = ambit__net_gather(a->net, &mine, sizeof mine, all);
  if (!s) s = finish(a, words, all);
  free(words);
  return s;
}

ambit_status ambit__trace_write(ambit *a)
{
  summary *all = must_have(a, ambit__new(NULL, (size_t)a->net->size, sizeof *all));
  ambit_status s;

  if (!all) return AMBIT_ENOMEM;
  qsort(a->trace->notes, ambit__trace_kept(a->trace), sizeof *a->trace->notes, compare);
  s = put_together(a, all);
  free(all);
  return s;
}
