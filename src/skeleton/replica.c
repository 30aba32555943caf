/* SPDX-License-Identifier: BSD-3-Clause */
/* replica.c - makes the programs of a stream again in another context, and runs them on items. */
#include "base/memory.h"
#include "skeleton/stream.h"

#include <stdlib.h>

/* ---- making ---- */

/* A field like that of the blueprint, with its values. */
static ambit_field *copy_field(ambit_grid *g, const ambit__blueprint *b, int i)
{
  const ambit_field *from = b->fields[i];
  ambit_field *f =
      ambit_field_create_vector(g, from->name, from->type, from->components, from->asked);

  if (!f) return NULL;
  if (ambit__field_copy_boundaries(f, from)) return NULL;
  if (b->values[i]) ambit_field_write(f, NULL, NULL, b->values[i]);
  return f;
}

/* An index of the blueprint as an object of the replica. */
static void *twin(void *const *from, int n, void *const *to, const void *object)
{
  const int i = object ? ambit__blueprint_find(from, n, object) : -1;

  return i < 0 ? NULL : to[i];
}

static ambit_field *twin_field(const ambit__replica *r, const ambit_field *f)
{
  const ambit__blueprint *b = r->blueprint;

  return twin((void *const *)b->fields, b->nfields, (void *const *)r->fields, f);
}

static ambit_scalar *twin_scalar(const ambit__replica *r, const ambit_scalar *s)
{
  const ambit__blueprint *b = r->blueprint;

  return twin((void *const *)b->scalars, b->nscalars, (void *const *)r->scalars, s);
}

static ambit_status copy_rotation(const ambit__replica *r, ambit_program *p, const ambit__step *s)
{
  ambit_field **list = ambit__new(ambit__program_errors(p), (size_t)s->n, sizeof *list);
  ambit_status status = AMBIT_ENOMEM;

  for (int i = 0; list && i < s->n; i++)
    list[i] = twin_field(r, s->args[i].field);
  if (list) status = ambit_rotate(p, s->n, list);
  free(list);
  return status;
}

static ambit_status copy_step(const ambit__replica *r, ambit_program *p, const ambit__step *s,
                              bool whole)
{
  const ambit__blueprint *b = r->blueprint;
  const ambit_kernel *kernel =
      twin((void *const *)b->kernels, b->nkernels, (void *const *)r->kernels, s->kernel);
  const ambit__box there = ambit__copy_destination(s);
  ambit_arg args[AMBIT_MAX_PARAMS];

  if (s->kind == STEP_ROTATE) return copy_rotation(r, p, s);
  for (int i = 0; i < s->n; i++) {
    args[i] = s->args[i];
    args[i].field = twin_field(r, s->args[i].field);
    args[i].scalar = twin_scalar(r, s->args[i].scalar);
  }
  if (s->kind == STEP_COPY)
    AMBIT_TRY(ambit_copy_box(p, args[0].field, s->box.lo, s->box.hi, args[1].field, there.lo));
  else if (whole)
    AMBIT_TRY(ambit_apply_args(p, kernel, s->n, args));
  else
    AMBIT_TRY(ambit_apply_box_args(p, s->box.lo, s->box.hi, kernel, s->n, args));
  return ambit_step_every(p, s->every);
}

static ambit_program *copy_program(const ambit__replica *r, ambit_grid *g,
                                   const ambit_program *from)
{
  ambit_program *p = from ? ambit_program_create(g) : NULL;

  for (size_t i = 0; p && i < from->nwritten; i++) {
    const ambit__box *box = &from->written[i].box;

    if (copy_step(r, p, &from->written[i], !box->ndims || ambit__box_equal(box, &from->grid->box)))
      return NULL;
  }
  if (p) ambit_program_check_every(p, from->check_every);
  return p;
}

static ambit_status copy_objects(ambit *a, ambit_grid *g, ambit__replica *r)
{
  const ambit__blueprint *b = r->blueprint;

  AMBIT_TAKE(&a->errors, &r->memory, r->fields, (size_t)b->nfields);
  AMBIT_TAKE(&a->errors, &r->memory, r->pristine, (size_t)b->nfields);
  AMBIT_TAKE(&a->errors, &r->memory, r->scalars, (size_t)b->nscalars);
  AMBIT_TAKE(&a->errors, &r->memory, r->kernels, (size_t)b->nkernels);
  for (int i = 0; i < b->nfields; i++) {
    r->fields[i] = copy_field(g, b, i);
    if (b->restored[i]) r->pristine[i] = copy_field(g, b, i);
  }
  for (int i = 0; i < b->nscalars; i++)
    r->scalars[i] = ambit_scalar_create(a, b->scalars[i]->name, b->scalars[i]->type);
  for (int i = 0; i < b->nkernels; i++)
    r->kernels[i] = ambit__kernel_borrow(a, b->kernels[i]);
  return a->errors.status;
}

/* Sealing one program may widen fields of the other, which is then sealed again. */
static ambit_status seal(const ambit__replica *r)
{
  for (int i = 0; i < 2; i++) {
    if (r->before) AMBIT_TRY(ambit__program_seal(r->before));
    AMBIT_TRY(ambit__program_seal(r->program));
  }
  return AMBIT_OK;
}

/* A sparse grid is made again with the same active cells: it has the same extents. */
static ambit_grid *copy_grid(ambit *context, const ambit_grid *from, const int64_t *extents)
{
  const ambit__mask mask = {.like = from};

  if (!from->active) return ambit_grid_create(context, from->box.ndims, extents);
  return ambit__grid_sparse(context, from->box.ndims, extents, &mask);
}

ambit_status ambit__replica_make(ambit *context, const ambit__blueprint *b, const int64_t *extents,
                                 bool samples, ambit__replica *r)
{
  const ambit_stream *s = b->stream;
  ambit_grid *g = copy_grid(context, s->grid, extents);
  size_t in, out;

  *r = (ambit__replica){.blueprint = b, .grid = g};
  if (!g) return context->errors.status;
  AMBIT_TRY(copy_objects(context, g, r));
  r->before = copy_program(r, g, s->before);
  r->program = copy_program(r, g, s->program);
  AMBIT_TRY(context->errors.status);
  r->in = twin_field(r, s->in);
  r->out = twin_field(r, s->out);
  r->scalar = twin_scalar(r, s->scalar);
  AMBIT_TRY(seal(r));
  if (!samples) return AMBIT_OK;
  in = s->in->type == AMBIT_U8 ? 0 : ambit__field_cell_bytes(r->in);
  out = s->out->type == AMBIT_U8 ? 0 : ambit__field_cell_bytes(r->out);
  r->scratch = ambit__arena_new(&context->errors, &r->memory, (size_t)ambit__box_volume(&g->box),
                                in > out ? in : out);
  return r->scratch ? AMBIT_OK : AMBIT_ENOMEM;
}

/* Scalars and kernels do not belong to the grid. */
void ambit__replica_free(ambit__replica *r)
{
  const ambit__blueprint *b = r->blueprint;

  ambit_grid_destroy(r->grid);
  for (int i = 0; r->scalars && i < b->nscalars; i++)
    ambit_scalar_destroy(r->scalars[i]);
  for (int i = 0; r->kernels && i < b->nkernels; i++)
    ambit_kernel_destroy(r->kernels[i]);
  ambit__arena_free(&r->memory);
}

/* ---- samples ---- */

static void from_samples(ambit_type type, const unsigned char *from, void *to, size_t n)
{
  if (type == AMBIT_F16 || type == AMBIT_BF16) {
    for (size_t i = 0; i < n; i++)
      ((uint16_t *)to)[i] =
          type == AMBIT_F16 ? ambit_half_encode(from[i]) : ambit_bfloat_encode(from[i]);
    return;
  }
  switch (type) {
#define X(name, value, ctype, text)                                                                \
  case AMBIT_##name:                                                                               \
    for (size_t i = 0; i < n; i++)                                                                 \
      ((ctype *)to)[i] = (ctype)from[i];                                                           \
    break;
    AMBIT_TYPE_MAP(X)
#undef X
  }
}

/* Rounded and clamped; NaN becomes 0. */
static unsigned char sample(double x)
{
  return (unsigned char)(x > 0 ? x < 255 ? x + 0.5 : 255 : 0);
}

static void to_samples(ambit_type type, const void *from, unsigned char *to, size_t n)
{
  if (type == AMBIT_F16 || type == AMBIT_BF16) {
    const uint16_t *bits = from;

    for (size_t i = 0; i < n; i++)
      to[i] = sample(type == AMBIT_F16 ? ambit_half_decode(bits[i]) : ambit_bfloat_decode(bits[i]));
    return;
  }
  switch (type) {
#define X(name, value, ctype, text)                                                                \
  case AMBIT_##name:                                                                               \
    for (size_t i = 0; i < n; i++)                                                                 \
      to[i] = sample((double)((const ctype *)from)[i]);                                            \
    break;
    AMBIT_TYPE_MAP(X)
#undef X
  }
}

static size_t values_of(const ambit_field *f)
{
  return (size_t)ambit__box_volume(&f->grid->box) * (size_t)f->components;
}

static ambit_status put(ambit__replica *r, bool samples, const void *in)
{
  if (samples && r->in->type != AMBIT_U8) {
    from_samples(r->in->type, in, r->scratch, values_of(r->in));
    in = r->scratch;
  }
  return ambit_field_write(r->in, NULL, NULL, in);
}

static ambit_status get(ambit__replica *r, bool samples, void *out)
{
  const bool converts = samples && r->out->type != AMBIT_U8;

  AMBIT_TRY(ambit_field_read(r->out, NULL, NULL, converts ? r->scratch : out));
  if (converts) to_samples(r->out->type, r->scratch, out, values_of(r->out));
  return AMBIT_OK;
}

/* ---- running ---- */

/* All as it was before the first item. */
static ambit_status restore(ambit__replica *r)
{
  const ambit__blueprint *b = r->blueprint;

  r->program->iteration = 0;
  if (r->before) r->before->iteration = 0;
  for (int i = 0; i < b->nscalars; i++)
    AMBIT_TRY(ambit__scalar_put(r->scalars[i], b->bytes[i]));
  for (int i = 0; i < b->nfields; i++) {
    ambit_field *f = r->fields[i];

    f->given = f->news = b->values[i] && b->fields[i]->given;
    f->started = b->values[i] && b->fields[i]->started;
    f->likeness.id = 0;
    if (r->pristine[i]) AMBIT_TRY(ambit__field_copy(f, r->pristine[i]));
  }
  return AMBIT_OK;
}

ambit_status ambit__replica_run(ambit__replica *r, bool samples, const void *in, void *out,
                                bool *met)
{
  const ambit_stream *s = r->blueprint->stream;

  AMBIT_TRY(restore(r));
  AMBIT_TRY(put(r, samples, in));
  if (r->before) AMBIT_TRY(ambit_run(r->before, 1));
  if (r->scalar)
    AMBIT_TRY(ambit_run_until(r->program, r->scalar, s->when, s->bound, s->iterations));
  else
    AMBIT_TRY(ambit_run(r->program, s->iterations));
  if (r->scalar && !ambit_program_converged(r->program)) *met = false;
  return get(r, samples, out);
}
