/* SPDX-License-Identifier: BSD-3-Clause */
/* meter.c - pairs of timed events, or the clock. Pairs are read when they are needed again, or at
 * the end: nothing waits for one, unless all are in use. */
#include "runtime/observe/meter.h"

#include "base/clock.h"
#include "base/memory.h"

#include <stdlib.h>

enum { PAIRS = 128 }; /* of a device */

typedef struct pair {
  ambit__event *before, *after;
  ambit__queue *queue;
  ambit__meter_kind kind;
} pair;

/* The measurements of one device. */
typedef struct gauge {
  ambit__device *device;
  bool timed; /* by events; else by the clock */
  double started;
  double seconds[METER_KINDS];
  bool unknown; /* an event had no time */
  pair pairs[PAIRS];
  size_t first, next; /* pairs first .. next - 1 are in use */
} gauge;

struct ambit__meter {
  bool on;
  int n;
  gauge gauges[];
};

/* Whether events of a device have times. */
static ambit_status has_timer(ambit__device *device, bool *timed)
{
  const ambit__backend *b = device->backend;
  ambit__queue *q;
  ambit__event *e;
  ambit_status s;

  *timed = false;
  if (!ambit__can(b, mark) || !b->event_seconds) return AMBIT_OK;
  AMBIT_TRY(ambit__ask(device, queue_open, false, &q));
  s = ambit__ask(device, event_open, true, &e);
  if (!s) {
    s = ambit__do(q, mark, e);
    if (!s) s = ambit__do(q, wait, e);
    *timed = !s && b->event_seconds(e, e) >= 0;
    ambit__ask(device, event_close, e);
  }
  ambit__ask(device, queue_close, q);
  return s;
}

static ambit_status open_gauge(gauge *g)
{
  AMBIT_TRY(has_timer(g->device, &g->timed));
  for (int i = 0; g->timed && i < PAIRS; i++) {
    AMBIT_TRY(ambit__ask(g->device, event_open, true, &g->pairs[i].before));
    AMBIT_TRY(ambit__ask(g->device, event_open, true, &g->pairs[i].after));
  }
  return AMBIT_OK;
}

ambit_status ambit__meter_open(ambit__errors *errors, ambit__device *const *devices, int n,
                               ambit__meter **out)
{
  ambit__meter *m = ambit__new(errors, 1, sizeof *m + (size_t)n * sizeof *m->gauges);
  ambit_status s = AMBIT_OK;

  *out = m;
  if (!m) return AMBIT_ENOMEM;
  for (m->n = 0; !s && m->n < n; m->n++) {
    m->gauges[m->n].device = devices[m->n];
    s = open_gauge(&m->gauges[m->n]);
  }
  if (!s) return AMBIT_OK;
  ambit__meter_close(m);
  *out = NULL;
  return s;
}

void ambit__meter_close(ambit__meter *m)
{
  for (int i = 0; m && i < m->n; i++) {
    const gauge *g = &m->gauges[i];

    for (int k = 0; k < PAIRS; k++) {
      if (g->pairs[k].before) ambit__ask(g->device, event_close, g->pairs[k].before);
      if (g->pairs[k].after) ambit__ask(g->device, event_close, g->pairs[k].after);
    }
  }
  free(m);
}

void ambit__meter_switch(ambit__meter *m, bool on)
{
  if (m) m->on = on;
}

void ambit__meter_clear(ambit__meter *m)
{
  for (int i = 0; i < m->n; i++) {
    gauge *g = &m->gauges[i];

    g->first = g->next = 0;
    g->unknown = false;
    for (int k = 0; k < METER_KINDS; k++)
      g->seconds[k] = 0;
  }
}

/* Adds the time of the oldest pair in use. */
static ambit_status read_oldest(gauge *g)
{
  const pair *p = &g->pairs[g->first++ % PAIRS];
  double seconds;

  AMBIT_TRY(ambit__do(p->queue, wait, p->after));
  seconds = g->device->backend->event_seconds(p->before, p->after);
  if (seconds < 0)
    g->unknown = true;
  else
    g->seconds[p->kind] += seconds;
  return AMBIT_OK;
}

ambit_status ambit__meter_start(ambit__meter *m, int device, ambit__queue *q)
{
  gauge *g;

  if (!m || !m->on) return AMBIT_OK;
  g = &m->gauges[device];
  if (!g->timed) {
    g->started = ambit__clock();
    return AMBIT_OK;
  }
  if (g->next - g->first == PAIRS) AMBIT_TRY(read_oldest(g));
  return ambit__do(q, mark, g->pairs[g->next % PAIRS].before);
}

ambit_status ambit__meter_stop(ambit__meter *m, int device, ambit__queue *q, ambit__meter_kind kind)
{
  gauge *g;
  pair *p;

  if (!m || !m->on) return AMBIT_OK;
  g = &m->gauges[device];
  if (!g->timed) {
    AMBIT_TRY(ambit__do(q, wait, NULL));
    g->seconds[kind] += ambit__clock() - g->started;
    return AMBIT_OK;
  }
  p = &g->pairs[g->next++ % PAIRS];
  p->kind = kind;
  p->queue = q;
  return ambit__do(q, mark, p->after);
}

double ambit__meter_seconds(ambit__meter *m, int device, ambit__meter_kind kind)
{
  gauge *g = &m->gauges[device];

  while (g->first < g->next)
    if (read_oldest(g)) g->unknown = true;
  return g->unknown ? -1 : g->seconds[kind];
}
