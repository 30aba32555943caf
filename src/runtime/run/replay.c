/* SPDX-License-Identifier: BSD-3-Clause */
/* replay.c - records iterations once and then submits each with one call.
 *
 * Submitting a launch takes the driver of a GPU some microseconds, which a small grid, or one with
 * many parts, cannot hide. An iteration submits the same launches as an earlier one if all fields
 * have the same buffers as then, and rotations restore the buffers every few iterations. So a few
 * recordings are kept, each with its buffers. A program whose fields get new buffers is sealed
 * again. Work of the host cannot be recorded: messages, allreduces, and kernels that use the number
 * of the iteration. Iterations with a step that runs every n iterations only are not recorded. On a
 * sparse grid, nor is an iteration in which a launch would first have to set constants beside runs.
 */
#include "device/bounds.h"
#include "runtime/exchange/exchange.h"
#include "runtime/run/run.h"

enum {
  MOST = 6,  /* recordings: enough for two fields that swap and three that rotate */
  WARM = 12, /* iterations before the first recording, which costs as much as dozens of launches */
  LAUNCHES = 3 /* least launches of an iteration: with fewer there is nothing to gain */
};

typedef struct recording {
  ambit__recording *recording; /* of the device */
  ambit__buffer **buffers;     /* by field and part, before the iteration */
  bool watched;                /* p->watched at the time */
} recording;

typedef struct ambit__replay {
  int64_t seen; /* iterations that were not replayed */
  recording all[MOST];
  int n;
  int next; /* index of the recording that probably fits next */
} ambit__replay;

static ambit__queue *queue(const ambit_program *p)
{
  return p->grid->context->engines[0].queue;
}

/* ---- constants beside the runs of sparse grids ---- */

static bool is_read_around(const ambit_program *p, const ambit_field *f)
{
  for (size_t i = 0; i < p->nsteps; i++)
    for (int k = 0; p->steps[i].kind == STEP_APPLY && k < p->steps[i].n; k++)
      if (p->steps[i].args[k].field == f && p->applies[i].form.view[k]) return true;
  return false;
}

/* The first field from number k on that a rotation trades and that is read at neighbours. */
static const ambit_field *read_in(const ambit_program *p, const ambit__step *s, int k)
{
  for (; s->kind == STEP_ROTATE && k < s->n; k++)
    if (is_read_around(p, s->args[k].field)) return s->args[k].field;
  return NULL;
}

static bool have_same_views(const ambit_field *f, const ambit_field *g)
{
  for (int c = 0; c < f->components; c++) {
    const ambit__boundaries a = ambit__field_view(f, c), b = ambit__field_view(g, c);

    if (!ambit__boundaries_equal(&a, &b)) return false;
  }
  return true;
}

/* Whether fields that trade buffers are read with the same boundaries. */
static bool bounds_agree(const ambit_program *p)
{
  for (size_t i = 0; i < p->nsteps; i++) {
    const ambit_field *first = read_in(p, &p->steps[i], 0), *other;

    for (int k = 0; first && k < p->steps[i].n; k++) {
      other = read_in(p, &p->steps[i], k);
      if (other && !have_same_views(first, other)) return false;
    }
  }
  return true;
}

/* The field with whose boundaries the buffers of a field are read; NULL: at no neighbours. */
static const ambit_field *reader_of(const ambit_program *p, const ambit_field *f)
{
  if (is_read_around(p, f)) return f;
  for (size_t i = 0; i < p->nsteps; i++)
    for (int k = 0; p->steps[i].kind == STEP_ROTATE && k < p->steps[i].n; k++)
      if (p->steps[i].args[k].field == f && read_in(p, &p->steps[i], 0))
        return read_in(p, &p->steps[i], 0);
  return NULL;
}

/* Whether no launch of an iteration has to set constants. */
static bool is_bounded(const ambit_program *p)
{
  for (int i = 0; p->grid->active && i < p->nfields; i++) {
    const ambit_field *reader = reader_of(p, p->fields[i]);

    for (int k = 0; reader && k < p->grid->placement.n; k++) {
      const ambit__buffer *buffer = p->fields[i]->stores[k].buffer;

      for (int c = 0; c < reader->components; c++) {
        const ambit__boundaries b = ambit__field_view(reader, c);

        if (!ambit__bounds_are(buffer, c, 1, &b)) return false;
      }
    }
  }
  return true;
}

/* ---- whether it pays ---- */

/* The number of submissions of an operation; -1: it cannot be recorded. */
static int launches_of(const ambit_program *p, const ambit__operation *op)
{
  const ambit__apply *apply = &p->applies[op->step];

  if (op->kind == OP_LAUNCH && apply->sweeping) return -1;
  if (op->kind == OP_LAUNCH && apply->folding && !ambit__fold_stays(p, op)) return -1;
  if (op->every > 1) return 0;
  switch (op->kind) {
  case OP_BEGIN:
  case OP_EDGES:
  case OP_FINISH: return ambit__exchange_is_far(op->exchange) ? -1 : 1;
  case OP_LAUNCH:
    return apply->checks || p->steps[op->step].kernel->rule->uses_step
               ? -1
               : op->npieces << (apply->folding != NULL);
  case OP_ROTATE: return 0;
  default: return -1;
  }
}

static bool pays(const ambit_program *p)
{
  const ambit *a = p->grid->context;
  int launches = 0;

  if (a->dry || !ambit__grid_on_first(p->grid) || !ambit__can(queue(p)->device->backend, record))
    return false;
  if (p->grid->active && !bounds_agree(p)) return false;
  for (size_t i = 0; i < p->schedule.n; i++) {
    const int n = launches_of(p, &p->schedule.ops[i]);

    if (n < 0) return false;
    launches += n;
  }
  return launches >= LAUNCHES;
}

ambit_status ambit__replay_make(ambit_program *p)
{
  if (pays(p)) AMBIT_HOLD(p, p->replay, 1);
  return AMBIT_OK;
}

/* ---- recordings ---- */

void ambit__replay_free(ambit_program *p)
{
  for (int i = 0; p->replay && i < p->replay->n; i++)
    ambit__ask(queue(p)->device, recording_close, p->replay->all[i].recording);
  p->replay = NULL;
}

static bool fits(const ambit_program *p, const recording *r)
{
  const int nparts = p->grid->placement.n;

  for (int i = 0; i < p->nfields; i++)
    for (int k = 0; k < nparts; k++)
      if (r->buffers[i * nparts + k] != p->fields[i]->stores[k].buffer) return false;
  return r->watched == p->watched;
}

/* The recording that fits the next iteration; NULL: none. */
static const recording *find(ambit_program *p)
{
  ambit__replay *r = p->replay;

  for (int i = 0; i < r->n; i++) {
    const int at = (r->next + i) % r->n;

    if (!fits(p, &r->all[at])) continue;
    r->next = (at + 1) % r->n;
    return &r->all[at];
  }
  return NULL;
}

static ambit_status note_buffers(ambit_program *p, recording *new)
{
  const int nparts = p->grid->placement.n;

  new->watched = p->watched;
  AMBIT_HOLD(p, new->buffers, (size_t)p->nfields * (size_t)nparts);
  for (int i = 0; i < p->nfields; i++)
    for (int k = 0; k < nparts; k++)
      new->buffers[i * nparts + k] = p->fields[i]->stores[k].buffer;
  return AMBIT_OK;
}

/* Records the next iteration and runs it. Fields are rotated on the way. */
static ambit_status record(ambit_program *p)
{
  recording new = {.recording = NULL};
  ambit_status s, ended;

  AMBIT_TRY(note_buffers(p, &new));
  AMBIT_TRY(ambit__do(queue(p), record, NULL));
  s = ambit__program_walk(p, &p->schedule);
  ended = ambit__do(queue(p), record, &new.recording); /* also after a failure */
  if (new.recording) p->replay->all[p->replay->n++] = new;
  p->replay->next = 0; /* after the last recording the first one fits again */
  AMBIT_TRY(s);
  AMBIT_TRY(ended);
  return ambit__do(queue(p), replay, new.recording);
}

/* Whether a step that does not run in all iterations runs in this one. */
static bool is_special(const ambit_program *p)
{
  for (size_t i = 0; i < p->nsteps; i++)
    if (p->steps[i].every > 1 && (p->iteration + 1) % p->steps[i].every == 0) return true;
  return false;
}

ambit_status ambit__replay_iterate(ambit_program *p)
{
  ambit__replay *r = p->replay;
  const recording *known;

  if (is_special(p) || !is_bounded(p)) return ambit__program_walk(p, &p->schedule);
  known = find(p);
  if (known) {
    AMBIT_TRY(ambit__do(queue(p), replay, known->recording));
    ambit__program_rotate(p);
    return AMBIT_OK;
  }
  if (r->seen++ < WARM || r->n == MOST) return ambit__program_walk(p, &p->schedule);
  return record(p);
}
