/* SPDX-License-Identifier: BSD-3-Clause */
/* blueprint.c - everything that the programs of a stream use, from which replicas are made. */
#include "base/memory.h"
#include "skeleton/stream.h"

int ambit__blueprint_find(void *const *list, int n, const void *object)
{
  for (int i = 0; i < n; i++)
    if (list[i] == object) return i;
  return -1;
}

static void enter(void **list, int *n, const void *object)
{
  if (object && ambit__blueprint_find(list, *n, object) < 0) list[(*n)++] = (void *)object;
}

static size_t count_arguments(const ambit_program *p)
{
  size_t n = 0;

  for (size_t i = 0; p && i < p->nwritten; i++)
    n += (size_t)p->written[i].n;
  return n;
}

static void enter_steps(ambit__blueprint *b, const ambit_program *p)
{
  for (size_t i = 0; p && i < p->nwritten; i++) {
    const ambit__step *s = &p->written[i];

    enter((void **)b->kernels, &b->nkernels, s->kernel);
    for (int k = 0; k < s->n; k++) {
      enter((void **)b->fields, &b->nfields, s->args[k].field);
      enter((void **)b->scalars, &b->nscalars, s->args[k].scalar);
    }
  }
}

/* Lists the objects that the steps use, each once. */
static ambit_status list_objects(ambit__blueprint *b)
{
  const ambit_stream *s = b->stream;
  ambit__errors *errors = &s->grid->context->errors;
  const size_t most = count_arguments(s->program) + count_arguments(s->before) + 1;
  const size_t steps = s->program->nwritten + (s->before ? s->before->nwritten : 0);

  AMBIT_TAKE(errors, &b->memory, b->fields, most);
  AMBIT_TAKE(errors, &b->memory, b->values, most);
  AMBIT_TAKE(errors, &b->memory, b->restored, most);
  AMBIT_TAKE(errors, &b->memory, b->scalars, most);
  AMBIT_TAKE(errors, &b->memory, b->bytes, most);
  AMBIT_TAKE(errors, &b->memory, b->kernels, steps);
  enter_steps(b, s->before);
  enter_steps(b, s->program);
  return AMBIT_OK;
}

/* ---- values ---- */

/* Whether a field has values other than those of a new one. */
static bool has_values(const ambit__blueprint *b, int field)
{
  const ambit_field *f = b->fields[field];

  return f != b->stream->in && (f->given || f->started);
}

static ambit_status copy_values(ambit__blueprint *b)
{
  ambit__errors *errors = &b->stream->grid->context->errors;
  const int64_t cells = ambit__box_volume(&b->stream->grid->box);

  for (int i = 0; i < b->nfields; i++) {
    if (!has_values(b, i)) continue;
    b->values[i] =
        ambit__arena_new(errors, &b->memory, (size_t)cells, ambit__field_cell_bytes(b->fields[i]));
    if (b->values[i]) ambit_field_read(b->fields[i], NULL, NULL, b->values[i]);
  }
  for (int i = 0; i < b->nscalars && !errors->status; i++)
    ambit__scalar_take(b->scalars[i], 0, b->bytes[i]);
  return ambit__meet(b->stream->grid->context, "takes the values of a stream");
}

/* ---- fields that an item would find changed ---- */

/* By field: the field whose values of before the item it holds now; -1: it was given new ones. */
typedef struct tracker {
  ambit__blueprint *b;
  int *holds;
} tracker;

static int field_of(const ambit__blueprint *b, const ambit_field *f)
{
  return ambit__blueprint_find((void *const *)b->fields, b->nfields, f);
}

static void rotate(tracker *t, const ambit__step *s)
{
  const int first = t->holds[field_of(t->b, s->args[0].field)];

  for (int i = 0; i < s->n - 1; i++)
    t->holds[field_of(t->b, s->args[i].field)] = t->holds[field_of(t->b, s->args[i + 1].field)];
  t->holds[field_of(t->b, s->args[s->n - 1].field)] = first;
}

static void need(tracker *t, int field)
{
  if (t->holds[field] >= 0) t->b->restored[t->holds[field]] = true;
}

static void apply(tracker *t, const ambit_program *p, const ambit__step *s)
{
  const ambit__box region = ambit__step_region(p, s);

  for (int i = 0; i < s->n; i++) {
    const ambit__param *q = &s->kernel->rule->params[i];

    if (!s->args[i].field) continue;
    if (q->nreads || (q->is_written && !ambit__step_overwrites(p, s, &region, i)))
      need(t, field_of(t->b, s->args[i].field));
  }
  for (int i = 0; i < s->n; i++)
    if (s->args[i].field && s->kernel->rule->params[i].is_written)
      t->holds[field_of(t->b, s->args[i].field)] = -1;
}

static void copy(tracker *t, const ambit_program *p, const ambit__step *s)
{
  const int from = field_of(t->b, s->args[0].field), to = field_of(t->b, s->args[1].field);

  need(t, from);
  if (s->every > 1 || !ambit__box_equal(&s->box, &p->grid->box)) need(t, to);
  t->holds[to] = -1;
}

static void walk(tracker *t, const ambit_program *p)
{
  for (size_t i = 0; p && i < p->nwritten; i++)
    if (p->written[i].kind == STEP_ROTATE)
      rotate(t, &p->written[i]);
    else if (p->written[i].kind == STEP_COPY)
      copy(t, p, &p->written[i]);
    else
      apply(t, p, &p->written[i]);
}

/* A field that never changes needs no copy. Values of one that is rotated may be copied to the
 * field it is rotated with (ambit_swap). */
static bool must_restore(const ambit__blueprint *b, int i)
{
  const ambit_stream *s = b->stream;
  const unsigned effects = ambit__program_effects(s->before, b->fields[i]) |
                           ambit__program_effects(s->program, b->fields[i]);

  if (effects & EFFECT_ROTATES) return b->restored[i] || has_values(b, i);
  return b->restored[i] && effects & EFFECT_WRITES;
}

/* As many iterations as there are fields bring every field that rotates to every place. */
static ambit_status find_restored(ambit__blueprint *b)
{
  const ambit_stream *s = b->stream;
  tracker t = {.b = b};

  AMBIT_TAKE(&s->grid->context->errors, &b->memory, t.holds, (size_t)b->nfields);
  for (int i = 0; i < b->nfields; i++)
    t.holds[i] = b->fields[i] == s->in ? -1 : i;
  walk(&t, s->before);
  for (int n = 0; n < b->nfields; n++) {
    walk(&t, s->program);
    need(&t, field_of(b, s->out));
  }
  for (int i = 0; i < b->nfields; i++)
    b->restored[i] = must_restore(b, i);
  return AMBIT_OK;
}

/* ---- all of it ---- */

ambit_status ambit__blueprint_make(const ambit_stream *s, ambit__blueprint *b)
{
  ambit__errors *errors = &s->grid->context->errors;

  *b = (ambit__blueprint){.stream = s};
  AMBIT_TRY(list_objects(b));
  AMBIT_CHECK(field_of(b, s->in) >= 0 && field_of(b, s->out) >= 0, errors, AMBIT_EPROGRAM,
              "field '%s' is the %s of a stream, and no step of its programs uses it",
              field_of(b, s->in) < 0 ? s->in->name : s->out->name,
              field_of(b, s->in) < 0 ? "input" : "output");
  AMBIT_TRY(find_restored(b));
  return copy_values(b);
}

void ambit__blueprint_free(ambit__blueprint *b)
{
  ambit__arena_free(&b->memory);
}

static ambit_status check_boxes(const ambit_program *p, ambit__errors *errors)
{
  for (size_t i = 0; p && i < p->nwritten; i++)
    AMBIT_CHECK(p->written[i].kind == STEP_ROTATE || !p->written[i].box.ndims ||
                    ambit__box_equal(&p->written[i].box, &p->grid->box),
                errors, AMBIT_EPROGRAM,
                "step %zu of a program works on a box or on faces, so the program can be streamed "
                "only with items of the size of its own grid",
                i + 1);
  return AMBIT_OK;
}

ambit_status ambit__blueprint_fits(const ambit__blueprint *b, ambit__errors *errors,
                                   const int64_t *extents)
{
  const ambit_grid *g = b->stream->grid;
  bool same = true;

  for (int d = 0; d < g->box.ndims; d++)
    same = same && extents[d] == g->box.hi[d];
  if (same) return AMBIT_OK;
  AMBIT_CHECK(
      !g->active, errors, AMBIT_EPROGRAM,
      "the grid of the program is sparse, so the program can be streamed only with items of "
      "the size of its box");
  AMBIT_TRY(check_boxes(b->stream->before, errors));
  AMBIT_TRY(check_boxes(b->stream->program, errors));
  for (int i = 0; i < b->nfields; i++)
    AMBIT_CHECK(!b->values[i], errors, AMBIT_EPROGRAM,
                "field '%s' has values, so the program can be streamed only with items of the size "
                "of its own grid",
                b->fields[i]->name);
  return AMBIT_OK;
}
