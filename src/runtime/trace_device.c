/* trace_device.c - when devices that work later did what they were given.
 *
 * An engine has a ring of pairs of events, recorded around launches. A pair is read when both have happened, and then
 * used again; nothing ever waits for one, so a launch that finds the ring full goes without. Times count from an event that
 * the host waited for when the trace was opened.
 */
#include "base/memory.h"
#include "runtime/trace.h"

#include <stdlib.h>

enum { PAIRS = 256 };

typedef struct pair {
  ambit__event *before, *after;
  ambit__note note; /* of the launch */
} pair;

typedef struct ambit__stopwatch {
  const ambit__engine *engine;
  ambit__event *origin; /* NULL: the device does not tell times */
  double started;       /* our clock when it happened */
  pair pairs[PAIRS];
  size_t first, next; /* those under way */
} ambit__stopwatch;

/* ---- opening ---- */

static ambit_status open_pairs(ambit__stopwatch *w)
{
  const ambit__backend *backend = w->engine->device->backend;

  for (int i = 0; i < PAIRS; i++) {
    AMBIT_TRY(backend->event_open(w->engine->device, true, &w->pairs[i].before));
    AMBIT_TRY(backend->event_open(w->engine->device, true, &w->pairs[i].after));
  }
  return AMBIT_OK;
}

static ambit_status open_watch(ambit__stopwatch *w)
{
  const ambit__backend *backend = w->engine->device->backend;
  ambit__event *origin;

  if (!backend->event_seconds) return AMBIT_OK;
  AMBIT_TRY(backend->event_open(w->engine->device, true, &origin));
  w->origin = origin;
  AMBIT_TRY(backend->event_record(origin, w->engine->queue));
  AMBIT_TRY(backend->event_sync(origin));
  w->started = ambit__clock();
  if (backend->event_seconds(origin, origin) >= 0) return open_pairs(w);
  backend->event_close(origin);
  w->origin = NULL;
  return AMBIT_OK;
}

ambit_status ambit__stopwatches_open(ambit *a)
{
  ambit__stopwatch *watches = ambit__new(&a->errors, (size_t)a->nengines, sizeof *watches);

  a->trace->watches = watches;
  if (!watches) return AMBIT_ENOMEM;
  for (int i = 0; i < a->nengines; i++) {
    watches[i].engine = &a->engines[i];
    AMBIT_TRY(open_watch(&watches[i]));
  }
  return AMBIT_OK;
}

void ambit__stopwatches_close(ambit *a)
{
  for (int i = 0; a->trace->watches && i < a->nengines; i++) {
    ambit__stopwatch *w = &a->trace->watches[i];
    const ambit__backend *backend = a->engines[i].device->backend;

    for (int k = 0; k < PAIRS; k++) {
      if (w->pairs[k].before) backend->event_close(w->pairs[k].before);
      if (w->pairs[k].after) backend->event_close(w->pairs[k].after);
    }
    if (w->origin) backend->event_close(w->origin);
  }
  free(a->trace->watches);
}

/* ---- timing ---- */

/* Notes the times of the oldest launch under way; false: it is not done. */
static bool read_oldest(ambit *a, ambit__stopwatch *w)
{
  const ambit__backend *backend = w->engine->device->backend;
  pair *p = &w->pairs[w->first % PAIRS];
  double start, seconds;

  if (!backend->event_done(p->after)) return false;
  w->first++;
  start = backend->event_seconds(w->origin, p->before);
  seconds = backend->event_seconds(p->before, p->after);
  if (start < 0 || seconds < 0) {
    a->trace->untimed++;
    return true;
  }
  p->note.start = w->started + start;
  p->note.end = p->note.start + seconds;
  ambit__trace_keep(a->trace, &p->note);
  return true;
}

void ambit__stopwatches_read(ambit *a)
{
  for (int i = 0; i < a->nengines; i++) {
    ambit__stopwatch *w = &a->trace->watches[i];

    while (w->first < w->next && read_oldest(a, w))
      ;
  }
}

void ambit__stopwatch_start(ambit *a, int engine, ambit__queue *q)
{
  ambit__stopwatch *w = &a->trace->watches[engine];

  if (!w->origin) return;
  if (w->next - w->first == PAIRS && !read_oldest(a, w)) return;
  w->engine->device->backend->event_record(w->pairs[w->next % PAIRS].before, q);
}

void ambit__stopwatch_stop(ambit *a, int engine, ambit__queue *q, const ambit__note *launch)
{
  ambit__stopwatch *w = &a->trace->watches[engine];
  pair *p = &w->pairs[w->next % PAIRS];

  if (!w->origin) return;
  if (w->next - w->first == PAIRS) {
    a->trace->untimed++;
    return;
  }
  w->engine->device->backend->event_record(p->after, q);
  p->note = *launch;
  p->note.kind = NOTE_DEVICE;
  p->note.engine = engine;
  w->next++;
}
