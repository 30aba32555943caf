/* trace.c - the ring of notes, and the hooks that fill it. */
#include "runtime/trace.h"

#include "base/file.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- the ring ---- */

void ambit__trace_keep(ambit__trace *t, const ambit__note *n)
{
  t->notes[t->count++ % AMBIT__NOTES] = *n;
}

size_t ambit__trace_kept(const ambit__trace *t)
{
  return t->count < AMBIT__NOTES ? t->count : AMBIT__NOTES;
}

/* ---- hooks ---- */

static ambit__note note(const ambit *a, ambit__note_kind kind, double start)
{
  return (ambit__note){.kind = kind,
                       .part = -1,
                       .iteration = a->trace->iteration,
                       .start = start,
                       .end = ambit__clock()};
}

void ambit__trace_add(ambit *a, ambit__note_kind kind, double start)
{
  const ambit__note n = note(a, kind, start);

  ambit__trace_keep(a->trace, &n);
}

void ambit__trace_operation(const ambit_program *p, const ambit__operation *op, double start)
{
  static const ambit__note_kind kinds[] = {
      [OP_BEGIN] = NOTE_BEGIN, [OP_EDGES] = NOTE_EDGES,   [OP_FINISH] = NOTE_FINISH,
      [OP_SHARE] = NOTE_SHARE, [OP_SHARED] = NOTE_SHARED, [OP_ROTATE] = NOTE_ROTATE,
  };

  if (op->kind != OP_LAUNCH) ambit__trace_add(p->grid->context, kinds[op->kind], start);
}

void ambit__trace_launch(const ambit_program *p, const ambit__operation *op,
                         const ambit__piece *piece, double start)
{
  ambit *a = p->grid->context;
  const ambit__engine *e = ambit__engine_of(a, piece->part);
  ambit__note n = note(a, e->device->backend->event_open ? NOTE_ENQUEUE : NOTE_LAUNCH, start);

  n.cells = op->cells;
  n.part = p->grid->first + piece->part;
  n.count = piece->box.ndims ? ambit__box_volume(&piece->box) : 1;
  snprintf(n.name, sizeof n.name, "%s", p->steps[op->step].kernel->rule->name);
  ambit__trace_keep(a->trace, &n);
  ambit__stopwatch_stop(a, a->slots[piece->part], ambit__queue_of(a, op, a->slots[piece->part]),
                        &n);
}

void ambit__trace_mail(const ambit__exchange *x, const ambit__mail *m, ambit__note_kind kind,
                       double start)
{
  const ambit_grid *g = x->program->grid;
  ambit__note n = note(g->context, kind, start);

  n.part = g->first + m->part;
  n.other = m->other;
  n.process = m->process;
  n.count = (int64_t)m->bytes;
  ambit__trace_keep(g->context->trace, &n);
}

/* ---- opening and closing ---- */

static ambit_status start(ambit *a)
{
  ambit__trace *t = ambit__new(&a->errors, 1, sizeof *t);

  a->trace = t;
  if (!t) return AMBIT_ENOMEM;
  t->iteration = -1;
  t->notes = ambit__new(&a->errors, AMBIT__NOTES, sizeof *t->notes);
  if (!t->notes) return AMBIT_ENOMEM;
  AMBIT_TRY(ambit__stopwatches_open(a));
  return a->net->rank ? AMBIT_OK : ambit__file_create(&a->errors, a->settings.trace, &t->file);
}

/* Forgets the trace, and the file if it was not written. */
static void drop(ambit *a)
{
  if (!a->trace) return;
  ambit__stopwatches_close(a);
  ambit__file_abort(a->trace->file);
  free(a->trace->notes);
  free(a->trace);
  a->trace = NULL;
}

ambit_status ambit__trace_open(ambit *a)
{
  ambit_status s;

  if (a->trace || !*a->settings.trace) return AMBIT_OK;
  start(a); /* what goes wrong is agreed upon */
  s = ambit__net_agree(a->net);
  if (s) drop(a);
  return s;
}

ambit_status ambit__trace_close(ambit *a)
{
  ambit_status s;

  if (!a->trace) return AMBIT_OK;
  ambit__stopwatches_read(a);
  s = ambit__trace_write(a);
  drop(a);
  return s;
}
