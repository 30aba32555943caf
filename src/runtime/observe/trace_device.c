/* SPDX-License-Identifier: BSD-3-Clause */
/* trace_device.c - execution times of asynchronous devices.
 *
 * Each device has a ring of event pairs, recorded before and after launches. A pair is read when
 * both events have completed, and is then reused. Nothing waits for a pair: a launch that finds the
 * ring full is not timed. Times count from an event that the host waited for when the trace was
 * opened.
 */
#include "base/memory.h"
#include "runtime/observe/trace.h"

#include <stdlib.h>

enum { PAIRS = 256 };

typedef struct pair {
  ambit__event *before, *after;
  ambit__note note; /* of the launch */
} pair;

typedef struct ambit__stopwatch {
  ambit__device *device;
  ambit__event *origin; /* NULL: the device has no timers */
  double started;       /* host time at the origin */
  pair pairs[PAIRS];
  size_t first, next; /* pairs first .. next - 1 are pending */
} ambit__stopwatch;

/* ---- opening ---- */

static ambit_status open_pairs(ambit__stopwatch *w)
{
  for (int i = 0; i < PAIRS; i++) {
    AMBIT_TRY(ambit__ask(w->device, event_open, true, &w->pairs[i].before));
    AMBIT_TRY(ambit__ask(w->device, event_open, true, &w->pairs[i].after));
  }
  return AMBIT_OK;
}

static ambit_status open_watch(ambit__stopwatch *w, ambit__queue *q)
{
  const ambit__backend *backend = w->device->backend;
  ambit__event *origin;

  if (!backend->event_seconds) return AMBIT_OK;
  AMBIT_TRY(ambit__ask(w->device, event_open, true, &origin));
  w->origin = origin;
  AMBIT_TRY(ambit__do(q, mark, origin));
  AMBIT_TRY(ambit__do(q, wait, origin));
  w->started = ambit__clock();
  if (backend->event_seconds(origin, origin) >= 0) return open_pairs(w);
  ambit__ask(w->device, event_close, origin);
  w->origin = NULL;
  return AMBIT_OK;
}

ambit_status ambit__stopwatches_open(ambit__trace *trace)
{
  ambit__stopwatch *watches =
      ambit__new(trace->scene.errors, (size_t)trace->scene.ndevices, sizeof *watches);

  trace->watches = watches;
  if (!watches) return AMBIT_ENOMEM;
  for (int i = 0; i < trace->scene.ndevices; i++) {
    watches[i].device = trace->devices[i].device;
    AMBIT_TRY(open_watch(&watches[i], trace->devices[i].queue));
  }
  return AMBIT_OK;
}

void ambit__stopwatches_close(ambit__trace *trace)
{
  for (int i = 0; trace->watches && i < trace->scene.ndevices; i++) {
    ambit__stopwatch *w = &trace->watches[i];
    ambit__device *device = trace->devices[i].device;

    for (int k = 0; k < PAIRS; k++) {
      if (w->pairs[k].before) ambit__ask(device, event_close, w->pairs[k].before);
      if (w->pairs[k].after) ambit__ask(device, event_close, w->pairs[k].after);
    }
    if (w->origin) ambit__ask(device, event_close, w->origin);
  }
  free(trace->watches);
}

/* ---- timing ---- */

/* Adds the note of the oldest pending launch. Returns false if it has not finished. */
static bool read_oldest(ambit__trace *trace, ambit__stopwatch *w)
{
  const ambit__backend *backend = w->device->backend;
  pair *p = &w->pairs[w->first % PAIRS];
  double start, seconds;

  if (!backend->event_done(p->after)) return false;
  w->first++;
  start = backend->event_seconds(w->origin, p->before);
  seconds = backend->event_seconds(p->before, p->after);
  if (start < 0 || seconds < 0) {
    trace->untimed++;
    return true;
  }
  p->note.start = w->started + start;
  p->note.end = p->note.start + seconds;
  ambit__trace_keep(trace, &p->note);
  return true;
}

void ambit__stopwatches_read(ambit__trace *trace)
{
  for (int i = 0; i < trace->scene.ndevices; i++) {
    ambit__stopwatch *w = &trace->watches[i];

    while (w->first < w->next && read_oldest(trace, w))
      ;
  }
}

void ambit__stopwatch_start(ambit__trace *trace, int device, ambit__queue *q)
{
  ambit__stopwatch *w = &trace->watches[device];

  if (!w->origin) return;
  if (w->next - w->first == PAIRS && !read_oldest(trace, w)) return;
  ambit__do(q, mark, w->pairs[w->next % PAIRS].before);
}

void ambit__stopwatch_stop(ambit__trace *trace, int device, ambit__queue *q,
                           const ambit__note *launch)
{
  ambit__stopwatch *w = &trace->watches[device];
  pair *p = &w->pairs[w->next % PAIRS];

  if (!w->origin) return;
  if (w->next - w->first == PAIRS) {
    trace->untimed++;
    return;
  }
  ambit__do(q, mark, p->after);
  p->note = *launch;
  p->note.kind = NOTE_DEVICE;
  p->note.device = device;
  w->next++;
}
