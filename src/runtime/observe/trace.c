/* SPDX-License-Identifier: BSD-3-Clause */
/* trace.c - the ring buffer of notes. */
#include "runtime/observe/trace.h"

#include "base/file.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- the ring buffer ---- */

void ambit__trace_keep(ambit__trace *trace, const ambit__note *n)
{
  trace->notes[trace->count++ % AMBIT__NOTES] = *n;
}

size_t ambit__trace_kept(const ambit__trace *trace)
{
  return trace->count < AMBIT__NOTES ? trace->count : AMBIT__NOTES;
}

ambit__note ambit__trace_note(const ambit__trace *trace, ambit__note_kind kind, double start)
{
  return (ambit__note){.kind = kind,
                       .part = -1,
                       .iteration = trace->iteration,
                       .start = start,
                       .end = ambit__clock()};
}

void ambit__trace_add(ambit__trace *trace, ambit__note_kind kind, double start)
{
  if (trace) {
    const ambit__note n = ambit__trace_note(trace, kind, start);

    ambit__trace_keep(trace, &n);
  }
}

/* ---- opening and closing ---- */

static ambit_status start(ambit__trace *trace)
{
  const ambit__trace_scene *s = &trace->scene;

  trace->iteration = -1;
  if (!s->devices) return AMBIT_ENOMEM;
  AMBIT_NEW(s->errors, trace->devices, (size_t)s->ndevices);
  AMBIT_NEW(s->errors, trace->notes, AMBIT__NOTES);
  memcpy(trace->devices, s->devices, (size_t)s->ndevices * sizeof *trace->devices);
  AMBIT_TRY(ambit__stopwatches_open(trace));
  return s->net->rank ? AMBIT_OK : ambit__file_create(s->errors, s->path, &trace->file);
}

/* Frees the trace and removes an unfinished file. */
static void drop(ambit__trace *trace)
{
  if (!trace) return;
  ambit__stopwatches_close(trace);
  ambit__file_abort(trace->file);
  free(trace->notes);
  free(trace->devices);
  free(trace);
}

ambit_status ambit__trace_open(const ambit__trace_scene *scene, ambit__trace **trace)
{
  ambit__trace *t = ambit__new(scene->errors, 1, sizeof *t);
  ambit_status s;

  if (t) {
    t->scene = *scene;
    start(t); /* errors are collected below */
  }
  s = ambit__net_agree(scene->net);
  if (s) {
    drop(t);
    t = NULL;
  }
  *trace = t;
  return s;
}

ambit_status ambit__trace_close(ambit__trace *trace)
{
  ambit_status s = AMBIT_OK;

  if (!trace) return AMBIT_OK;
  ambit__stopwatches_read(trace);
  /* After an error not all processes may have a trace, and those that have would wait for them. */
  if (!trace->scene.errors->agreed) s = ambit__trace_write(trace);
  drop(trace);
  return s;
}
