/* seal.c - from the steps the user wrote to the operations that run.
 *
 * Phases, a function each: the region of every step and what is wrong with it; the margins every
 * field needs; then the operations, each with its function built and its buffers known.
 */
#include "base/log.h"
#include "base/memory.h"
#include "runtime/runtime.h"

#include <stdlib.h>
#include <string.h>

#define ERRORS(p) (&(p)->grid->context->errors)

static ambit__device *device(const ambit_program *p)
{
  return p->grid->context->device;
}

static int64_t max64(int64_t a, int64_t b)
{
  return a > b ? a : b;
}

/* ---- margins ---- */

/* How far the reads of parameter q leave the grid along an axis, when `region` is updated. */
static int64_t beyond(const ambit_program *p, const ambit__param *q, const ambit__box *region,
                      int axis, int side)
{
  if (ambit__box_is_empty(region)) return 0;
  if (side == 0) return max64(0, q->low[axis] - region->lo[axis]);
  return max64(0, region->hi[axis] + q->high[axis] - p->grid->box.hi[axis]);
}

static ambit_status widen_for_step(ambit_program *p, const ambit__step *s)
{
  ambit__box region = ambit__step_region(p, s);

  for (int i = 0; i < s->n; i++) {
    int64_t low[AMBIT_MAX_DIMS] = {0}, high[AMBIT_MAX_DIMS] = {0};

    if (!s->args[i].field) continue;
    for (int d = 0; d < region.ndims; d++) {
      low[d] = beyond(p, &s->kernel->rule->params[i], &region, d, 0);
      high[d] = beyond(p, &s->kernel->rule->params[i], &region, d, 1);
    }
    AMBIT_TRY(ambit__field_widen(s->args[i].field, low, high));
  }
  return AMBIT_OK;
}

/* Fields that trade buffers must have the same margins. Returns whether anything changed. */
static ambit_status widen_alike(const ambit__step *s, bool *changed)
{
  int64_t low[AMBIT_MAX_DIMS] = {0}, high[AMBIT_MAX_DIMS] = {0};

  for (int i = 0; i < s->n; i++)
    for (int d = 0; d < s->args[i].field->grid->box.ndims; d++) {
      const ambit__layout *l = &s->args[i].field->store.layout;

      low[d] = max64(low[d], l->margin_lo[d]);
      high[d] = max64(high[d], l->margin_hi[d]);
    }
  for (int i = 0; i < s->n; i++) {
    size_t before = s->args[i].field->store.layout.bytes;

    AMBIT_TRY(ambit__field_widen(s->args[i].field, low, high));
    *changed |= s->args[i].field->store.layout.bytes != before;
  }
  return AMBIT_OK;
}

static ambit_status widen_fields(ambit_program *p)
{
  bool changed = true;

  for (size_t i = 0; i < p->nsteps; i++)
    if (p->steps[i].kind == STEP_APPLY) AMBIT_TRY(widen_for_step(p, &p->steps[i]));
  while (changed) {
    changed = false;
    for (size_t i = 0; i < p->nsteps; i++)
      if (p->steps[i].kind == STEP_ROTATE) AMBIT_TRY(widen_alike(&p->steps[i], &changed));
  }
  return AMBIT_OK;
}

/* ---- operations ---- */

static ambit__operation *add_operation(ambit_program *p, ambit__op_kind kind, size_t step, int n)
{
  ambit__operation *ops = ambit__grow(ERRORS(p), p->ops, p->nops, &p->ops_cap, sizeof *ops), *op;

  if (!ops) return NULL;
  p->ops = ops;
  op = &ops[p->nops++];
  *op = (ambit__operation){.kind = kind, .step = (int)step, .n = n};
  op->fields = ambit__new(ERRORS(p), (size_t)n, sizeof(ambit_field *));
  return op->fields ? op : NULL;
}

/* Ghost cells of one field that the step reads, through whichever parameters. */
static ambit_status add_ghosts(ambit_program *p, size_t step, ambit_field *f,
                               const ambit__box *region)
{
  const ambit__step *s = &p->steps[step];
  int64_t total = 0;
  ambit__operation *op = add_operation(p, OP_GHOSTS, step, 1);

  if (!op) return AMBIT_ENOMEM;
  op->fields[0] = f;
  for (int i = 0; i < s->n; i++)
    for (int d = 0; s->args[i].field == f && d < region->ndims; d++) {
      const ambit__param *q = &s->kernel->rule->params[i];

      op->low[d] = (int)max64(op->low[d], beyond(p, q, region, d, 0));
      op->high[d] = (int)max64(op->high[d], beyond(p, q, region, d, 1));
      total += op->low[d] + op->high[d];
    }
  if (!total) {
    free(op->fields);
    p->nops--;
  }
  return AMBIT_OK;
}

static ambit_status add_all_ghosts(ambit_program *p, size_t step, const ambit__box *region)
{
  const ambit__step *s = &p->steps[step];

  if (!device(p)->backend->ghosts) return AMBIT_OK;
  for (int i = 0; i < s->n; i++) {
    bool seen = !s->args[i].field;

    for (int j = 0; j < i; j++)
      seen |= s->args[j].field == s->args[i].field;
    if (!seen) AMBIT_TRY(add_ghosts(p, step, s->args[i].field, region));
  }
  return AMBIT_OK;
}

static void bind(const ambit__step *s, ambit__binding *bind)
{
  const ambit__rule *rule = s->kernel->rule;

  for (int i = 0; i < s->n; i++) {
    const ambit_field *f = s->args[i].field;

    bind[i] = (ambit__binding){.is_field = f != NULL};
    if (!f) continue;
    bind[i].unit = f->store.layout.stride[f->grid->box.ndims - 1] == 1;
    for (int j = 0; j < s->n; j++)
      bind[i].shared |= j != i && s->args[j].field == f &&
                        (rule->params[i].is_written || rule->params[j].is_written);
  }
}

static ambit_status build(ambit_program *p, const ambit__step *s, const ambit__box *region,
                          ambit__function **fn)
{
  ambit__binding bindings[AMBIT_MAX_PARAMS];
  ambit__group_step step = {.rule = s->kernel->rule, .bind = bindings};
  ambit__group group = {.nsteps = 1, .steps = &step, .depth = 1, .ndims = region->ndims};

  bind(s, bindings);
  for (int d = 0; d < region->ndims; d++)
    group.cells[d] = region->hi[d] - region->lo[d];
  group.strict = p->grid->context->settings.strict;
  AMBIT_TRY(device(p)->backend->build(device(p), &group, fn));
  ambit__log(&p->grid->context->settings, 1, "kernel %s: %s", s->kernel->rule->name, (*fn)->plan);
  return AMBIT_OK;
}

static ambit_status make_number(ambit_program *p, ambit_type type, double number,
                                ambit__buffer **buffer)
{
  unsigned char bytes[sizeof(double)] = {0};

  ambit__value_store(bytes, type, ambit__value_of(number, type));
  AMBIT_TRY(device(p)->backend->alloc(device(p), sizeof bytes, NULL, buffer));
  return device(p)->backend->put(p->grid->context->queue, *buffer, bytes, sizeof bytes);
}

static ambit_status make_arguments(ambit_program *p, const ambit__step *s, ambit__operation *op)
{
  op->args = ambit__new(ERRORS(p), (size_t)s->n, sizeof *op->args);
  op->numbers = ambit__new(ERRORS(p), (size_t)s->n, sizeof *op->numbers);
  if (!op->args || !op->numbers) return AMBIT_ENOMEM;
  for (int i = 0; i < s->n; i++) {
    const ambit__param *q = &s->kernel->rule->params[i];
    ambit_field *f = s->args[i].field;

    if (f) {
      op->args[i] = (ambit__argument){.store = &f->store, .boundaries = &f->boundaries};
      if (q->is_written) op->fields[op->n++] = f;
    } else if (s->args[i].scalar) {
      op->args[i].value = s->args[i].scalar->value;
    } else {
      AMBIT_TRY(make_number(p, q->type, s->args[i].number, &op->numbers[i]));
      op->args[i].value = op->numbers[i];
    }
  }
  return AMBIT_OK;
}

static ambit_status add_launch(ambit_program *p, size_t step, const ambit__box *region)
{
  const ambit__step *s = &p->steps[step];
  ambit__operation *op = add_operation(p, OP_LAUNCH, step, s->n);
  ambit__price price = ambit__price_of(s->kernel->rule);

  if (!op) return AMBIT_ENOMEM;
  op->n = 0;
  AMBIT_TRY(make_arguments(p, s, op));
  AMBIT_TRY(build(p, s, region, &op->function));
  op->launch =
      (ambit__launch){.box = *region, .extents = p->grid->box.hi, .nargs = s->n, .args = op->args};
  if (region->ndims) {
    op->cells = (double)ambit__box_volume(region);
    op->bytes = op->cells * price.bytes;
    op->flops = op->cells * price.flops;
  }
  return AMBIT_OK;
}

static bool reduces(const ambit__rule *rule)
{
  for (int i = 0; i < rule->nparams; i++)
    if (rule->params[i].kind == PARAM_REDUCE) return true;
  return false;
}

static ambit_status seal_apply(ambit_program *p, size_t step)
{
  const ambit__step *s = &p->steps[step];
  ambit__box region = ambit__step_region(p, s);

  if (region.ndims && ambit__box_is_empty(&region) && !reduces(s->kernel->rule)) return AMBIT_OK;
  AMBIT_TRY(add_all_ghosts(p, step, &region));
  return add_launch(p, step, &region);
}

/* All operations that fill ghost cells of one field fill as many as any of them needs, so that what one
 * filled is enough for the others. */
static void unify_ghosts(ambit_program *p)
{
  for (size_t i = 0; i < p->nops; i++)
    for (size_t j = 0; j < p->nops; j++) {
      ambit__operation *a = &p->ops[i], *b = &p->ops[j];

      if (a->kind != OP_GHOSTS || b->kind != OP_GHOSTS || a->fields[0] != b->fields[0]) continue;
      for (int d = 0; d < p->grid->box.ndims; d++) {
        a->low[d] = (int)max64(a->low[d], b->low[d]);
        a->high[d] = (int)max64(a->high[d], b->high[d]);
      }
    }
}

static ambit_status seal_rotate(ambit_program *p, size_t step)
{
  const ambit__step *s = &p->steps[step];
  ambit__operation *op = add_operation(p, OP_ROTATE, step, s->n);

  if (!op) return AMBIT_ENOMEM;
  for (int i = 0; i < s->n; i++)
    op->fields[i] = s->args[i].field;
  return AMBIT_OK;
}

static ambit_status check_periodic(ambit_program *p, const ambit__step *s)
{
  for (int i = 0; i < s->n; i++)
    for (int d = 0; s->args[i].field && d < p->grid->box.ndims; d++) {
      const ambit_field *f = s->args[i].field;
      const ambit_boundary *kind = f->boundaries.kind[d];

      AMBIT_CHECK((kind[0] == AMBIT_PERIODIC) == (kind[1] == AMBIT_PERIODIC), ERRORS(p),
                  AMBIT_EPROGRAM,
                  "field '%s' is periodic on one face of axis %d only, and %s on the other: an "
                  "axis is periodic on both "
                  "its faces, AMBIT_AXIS(%d)",
                  f->name, d, ambit__boundary_name(kind[kind[0] == AMBIT_PERIODIC]), d);
    }
  return AMBIT_OK;
}

static ambit_status check_steps(ambit_program *p)
{
  AMBIT_CHECK(!p->broken, ERRORS(p), AMBIT_EPROGRAM,
              "the program uses a field, scalar or kernel that was destroyed");
  AMBIT_CHECK(p->nsteps, ERRORS(p), AMBIT_EPROGRAM,
              "the program has no steps: ambit_apply adds one");
  for (size_t i = 0; i < p->nsteps; i++) {
    const ambit__step *s = &p->steps[i];
    ambit__box region;

    if (s->kind != STEP_APPLY) continue;
    AMBIT_TRY(check_periodic(p, s));
    region = ambit__step_region(p, s);
    if (ambit__box_is_empty(&region)) continue;
    AMBIT_TRY(ambit__step_check_reads(p, s, &region));
    AMBIT_TRY(ambit__step_check_faces(p, s, &region));
  }
  return AMBIT_OK;
}

ambit_status ambit__program_seal(ambit_program *p)
{
  ambit_status s = AMBIT_OK;

  if (p->sealed) return AMBIT_OK;
  AMBIT_TRY(check_steps(p));
  AMBIT_TRY(widen_fields(p));
  for (size_t i = 0; !s && i < p->nsteps; i++)
    s = p->steps[i].kind == STEP_APPLY ? seal_apply(p, i) : seal_rotate(p, i);
  unify_ghosts(p);
  p->sealed = true;
  if (s) ambit__program_unseal(p);
  return s;
}

static void discard_operation(ambit_program *p, ambit__operation *op)
{
  const ambit__backend *backend = device(p)->backend;

  for (int i = 0; op->numbers && i < p->steps[op->step].n; i++)
    if (op->numbers[i]) backend->release(device(p), op->numbers[i]);
  if (op->function) backend->discard(device(p), op->function);
  free(op->numbers);
  free(op->args);
  free(op->fields);
}

void ambit__program_unseal(ambit_program *p)
{
  if (!p->sealed) return;
  for (size_t i = 0; i < p->nops; i++)
    discard_operation(p, &p->ops[i]);
  p->nops = 0;
  p->sealed = false;
}
