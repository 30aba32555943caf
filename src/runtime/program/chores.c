/* SPDX-License-Identifier: BSD-3-Clause */
/* chores.c - appends steps that are no kernels: values at points, and rows of records.
 *
 * A rule without a body says what such a step reads and writes, so that halos, schedules, waves and
 * messages are those of any step on a box: the cells that the points lie in.
 */
#include "base/memory.h"
#include "runtime/program/program.h"

#include <stdlib.h>
#include <string.h>

/* ---- rules ---- */

/* " + u[1][0][1]", for a component of a vector */
static void print_read(ambit__text *t, const ambit__points *p, bool vector, int component,
                       int64_t tap)
{
  int64_t index[AMBIT_MAX_DIMS];

  for (int d = p->ndims - 1; d >= 0; d--) {
    index[d] = tap % p->width[d];
    tap /= p->width[d];
  }
  ambit__print(t, " + u");
  if (vector) ambit__print(t, "[%d]", component);
  for (int d = 0; d < p->ndims; d++)
    ambit__print(t, "[%lld]", (long long)index[d]);
}

/* The last parameter of a sample stands for the record, and is dropped. */
static void print_sample(ambit__text *t, const ambit_field *f, const ambit__points *p)
{
  const char *type = ambit_type_name(f->type), *sum = ambit__type_is_real(f->type) ? "0.0f" : "0";
  const bool vector = f->components > 1;

  ambit__print(t, "void sample(const %s *u", type);
  if (vector) ambit__print(t, "[%d]", f->components);
  ambit__print(t, ", long chore, double *row) { *row = %s", sum);
  for (int c = 0; c < f->components; c++)
    for (int64_t i = 0; i < p->taps; i++)
      print_read(t, p, vector, c, i);
  ambit__print(t, "; }");
}

static void print_inject(ambit__text *t, const ambit_field *f, ambit_type value)
{
  const char *type = ambit_type_name(f->type);

  if (f->components == 1) {
    ambit__print(t, "void inject(%s *u, long chore, %s x) { *u += 1; }", type,
                 ambit_type_name(value));
    return;
  }
  ambit__print(t, "void inject(%s *u[%d], long chore, %s x) {", type, f->components,
               ambit_type_name(value));
  for (int c = 0; c < f->components; c++)
    ambit__print(t, " *u[%d] += 1;", c);
  ambit__print(t, " }");
}

/* A kernel whose rule has the first n parameters of a text, and no body. */
static ambit_status make_kernel(ambit_program *p, ambit__text *text, int n, bool on_cells,
                                ambit_kernel **kernel)
{
  ambit *a = p->grid->context;
  char *source = ambit__text_finish(text);
  ambit__rule *rule;
  ambit_status s;

  AMBIT_CHECK(source, &a->errors, AMBIT_ENOMEM, "no memory for a step at points");
  s = ambit__rule_parse(&a->errors, "points", source, &rule);
  free(source);
  AMBIT_TRY(s);
  rule->nparams = n;
  rule->body = NULL;
  rule->flops = 0;
  rule->uses_step = true;
  rule->max_axis = on_cells ? p->grid->box.ndims - 1 : -1;
  *kernel = ambit__kernel_adopt(a, rule);
  return *kernel ? AMBIT_OK : a->errors.status;
}

/* ---- steps ---- */

static ambit__box box_of(const ambit__chore_use *t)
{
  return t->kind == CHORE_SAMPLE ? t->points->set.bases.hull : t->points->set.touched.hull;
}

static ambit_status make_chore(ambit_program *p, const ambit__chore_use *like,
                               const ambit__chore *on, ambit__chore_use **chore)
{
  ambit__errors *errors = ambit__program_errors(p);
  const int n = p->grid->context->nengines;

  *chore = ambit__new(errors, 1, sizeof **chore + (size_t)n * sizeof *on);
  if (!*chore) return AMBIT_ENOMEM;
  **chore = *like;
  for (int e = 0; e < n; e++) {
    (*chore)->on[e] = *on;
    (*chore)->on[e].kind = like->kind;
    (*chore)->on[e].points = like->points ? &like->points->set : NULL;
    if (like->record) {
      (*chore)->on[e].type = like->record->type;
      (*chore)->on[e].columns = like->record->columns;
    }
  }
  return AMBIT_OK;
}

/* Appends the step with the kernel, which it owns from now on. */
static ambit_status append(ambit_program *p, ambit_kernel *kernel, const ambit__chore_use *like,
                           const ambit__chore *on, const ambit__box *box, int n, ambit_arg *args)
{
  ambit__step s = {.kind = STEP_APPLY, .kernel = kernel, .bound = kernel, .n = n, .args = args};
  ambit_status status = make_chore(p, like, on, &s.own_chore);

  s.chore = s.own_chore;
  if (box) s.box = *box;
  if (like->points) s.box = box_of(like);
  if (!status) status = ambit__step_check(p, &s);
  if (!status) status = ambit__step_profile(p, &s);
  if (!status) status = ambit__program_append(p, s, args);
  if (!status) return AMBIT_OK;
  free(s.own_chore);
  ambit__kernel_free(kernel);
  return status;
}

/* ---- checks ---- */

static ambit_status check_points(const ambit_program *p, const char *call,
                                 const ambit_points *points, const ambit_field *f)
{
  ambit__errors *errors = ambit__program_errors(p);

  AMBIT_CHECK(points && points->grid == p->grid, errors, AMBIT_EINVAL,
              "%s: the points are NULL or belong to another grid than the program", call);
  AMBIT_CHECK(f && f->grid == p->grid, errors, AMBIT_EINVAL,
              "%s: the field is NULL or belongs to another grid than the program", call);
  AMBIT_TRY(ambit__field_check_whole(f, "points need all of them"));
  AMBIT_CHECK(!f->base, errors, AMBIT_EPROGRAM,
              "%s: field '%s' is a view; use the field that it shows, in a program on its grid",
              call, f->name);
  return AMBIT_OK;
}

/* A record has as many columns, and numbers of the type, that its steps want. */
static ambit_status check_record(const ambit_program *p, const char *call, ambit_record *r,
                                 int64_t columns, ambit_type type)
{
  ambit__errors *errors = ambit__program_errors(p);

  AMBIT_CHECK(r && r->context == p->grid->context, errors, AMBIT_EINVAL,
              "%s: the record is NULL or belongs to another context", call);
  AMBIT_CHECK(!r->columns || r->columns == columns, errors, AMBIT_EPROGRAM,
              "%s: record '%s' has %lld columns, and this step needs %lld: use another record",
              call, r->name, (long long)r->columns, (long long)columns);
  AMBIT_CHECK(
      !r->is_typed || r->type == type, errors, AMBIT_EPROGRAM,
      "%s: record '%s' holds numbers of type %s for another step, and this one needs %s: use "
      "another record",
      call, r->name, ambit_type_name(r->type), ambit_type_name(type));
  r->columns = columns;
  r->type = type;
  r->is_typed = true;
  return AMBIT_OK;
}

/* In one program, a record is sampled by one step, or injected by some. */
static ambit_status check_use(const ambit_program *p, const char *call, const ambit_record *r,
                              bool writes)
{
  for (size_t i = 0; i < p->nwritten; i++) {
    const ambit__chore_use *t = p->written[i].chore;

    AMBIT_CHECK(!t || t->record != r || (!writes && t->kind == CHORE_INJECT),
                ambit__program_errors(p), AMBIT_EPROGRAM,
                "%s: step %zu of the program uses record '%s' too, and one of them writes it: use "
                "another record",
                call, i + 1, r->name);
  }
  return AMBIT_OK;
}

static int64_t columns_for(const ambit_record *r, const ambit_points *points, const ambit_field *f)
{
  const int64_t all = points->set.n * f->components;

  if (!r || r->columns == 1 || r->columns == points->set.n) return r ? r->columns : 0;
  return all;
}

/* ---- calls ---- */

ambit_status ambit_sample(ambit_program *p, ambit_points *points, ambit_field *f, ambit_record *to)
{
  ambit__chore_use use = {.kind = CHORE_SAMPLE, .points = points, .record = to};
  ambit_arg args[] = {ambit_arg_field(f), ambit_arg_number(0)};
  ambit__text text = {0};
  ambit__chore on = {0};
  ambit_kernel *kernel;

  if (ambit__program_failed(p)) return ambit__program_status(p);
  AMBIT_TRY(check_points(p, "ambit_sample", points, f));
  AMBIT_TRY(check_record(p, "ambit_sample", to, points->set.n * f->components,
                         ambit__chore_type(f->type)));
  AMBIT_TRY(check_use(p, "ambit_sample", to, true));
  on.field = f->type;
  on.components = f->components;
  print_sample(&text, f, &points->set);
  AMBIT_TRY(make_kernel(p, &text, 2, true, &kernel));
  return append(p, kernel, &use, &on, NULL, 2, args);
}

static ambit_record *record_of(const ambit_arg *value)
{
  return value->kind == AMBIT_ARG_RECORD ? (ambit_record *)value->table : NULL;
}

static ambit_status check_value(const ambit_program *p, const ambit_points *points,
                                const ambit_field *f, const ambit_arg *value)
{
  ambit_record *r;

  AMBIT_CHECK(value->kind == AMBIT_ARG_RECORD || value->kind == AMBIT_ARG_NUMBER ||
                  (value->kind == AMBIT_ARG_SCALAR && value->scalar),
              ambit__program_errors(p), AMBIT_EINVAL,
              "ambit_inject: the value must be a record, a scalar or a number");
  if (value->kind != AMBIT_ARG_RECORD) return AMBIT_OK;
  r = record_of(value);
  AMBIT_TRY(
      check_record(p, "ambit_inject", r, columns_for(r, points, f), ambit__chore_type(f->type)));
  return check_use(p, "ambit_inject", r, false);
}

ambit_status ambit_inject_arg(ambit_program *p, ambit_points *points, ambit_arg value,
                              ambit_field *f)
{
  ambit__chore_use use = {.kind = CHORE_INJECT, .points = points};
  ambit_arg args[] = {ambit_arg_field(f), ambit_arg_number(0), value};
  ambit__text text = {0};
  ambit__chore on = {0};
  ambit_kernel *kernel;
  const int n = value.kind == AMBIT_ARG_RECORD ? 2 : 3;

  if (ambit__program_failed(p)) return ambit__program_status(p);
  AMBIT_TRY(check_points(p, "ambit_inject", points, f));
  AMBIT_TRY(check_value(p, points, f, &value));
  use.record = record_of(&value);
  on.field = f->type;
  on.components = f->components;
  on.value = value.kind == AMBIT_ARG_SCALAR ? value.scalar->type : ambit__chore_type(f->type);
  print_inject(&text, f, on.value);
  AMBIT_TRY(make_kernel(p, &text, n, true, &kernel));
  return append(p, kernel, &use, &on, NULL, n, args);
}

/* Keeps a scalar in a column of a record. */
static ambit_status add_note(ambit_program *p, ambit_scalar *s, ambit_record *to, int column)
{
  ambit__chore_use use = {.kind = CHORE_NOTE, .record = to};
  ambit_arg args[] = {ambit_arg_scalar(s), ambit_arg_number(0)};
  ambit__text text = {0};
  ambit__chore on = {.value = s->type, .column = column};
  ambit_kernel *kernel;

  ambit__print(&text, "void note(%s x, long chore, double *row) { *row = x; }",
               ambit_type_name(s->type));
  AMBIT_TRY(make_kernel(p, &text, 2, false, &kernel));
  return append(p, kernel, &use, &on, NULL, 2, args);
}

static ambit_status add_notes(ambit_program *p, int n, ambit_scalar *const *scalars, int64_t every,
                              ambit_record *to)
{
  const size_t first = p->nwritten;
  ambit_type type = AMBIT_F32;

  for (int i = 0; i < n; i++)
    if (ambit__chore_type(scalars[i]->type) == AMBIT_F64) type = AMBIT_F64;
  AMBIT_TRY(check_record(p, "ambit_history", to, n, type));
  for (int i = 0; i < n; i++)
    AMBIT_TRY(add_note(p, scalars[i], to, i));
  p->last = first;
  return ambit_step_every(p, every);
}

ambit_record *ambit_history_all(ambit_program *p, const char *name, int n,
                                ambit_scalar *const *scalars, int64_t every)
{
  bool fits = n >= 1 && scalars && every >= 1;
  ambit_record *r;

  if (ambit__program_failed(p)) return NULL;
  for (int i = 0; fits && i < n; i++)
    fits = scalars[i] && scalars[i]->context == p->grid->context;
  if (!fits) {
    ambit__raise(ambit__program_errors(p), AMBIT_EINVAL,
                 "ambit_history: %d scalar%s every %lld iterations; there must be at least one, "
                 "none of them NULL or of another context, and the interval at least 1",
                 n, n == 1 ? "" : "s", (long long)every);
    return NULL;
  }
  r = ambit_record_create(p->grid->context, name);
  if (!r || add_notes(p, n, scalars, every, r)) {
    ambit_record_destroy(r);
    return NULL;
  }
  return r;
}

ambit_record *ambit_history(ambit_program *p, ambit_scalar *s, int64_t every)
{
  return ambit_history_all(p, s ? s->name : "", 1, &s, every);
}

/* ---- functions of the user ---- */

static ambit_status check_host(const ambit_program *p, int n, ambit_field *const *fields,
                               const unsigned *modes)
{
  ambit__errors *errors = ambit__program_errors(p);

  AMBIT_CHECK(n >= 1 && n <= AMBIT_MAX_PARAMS && fields && modes, errors, AMBIT_EINVAL,
              "ambit_apply_host: a step takes 1 to %d fields and as many modes, not %d",
              AMBIT_MAX_PARAMS, n);
  AMBIT_CHECK(!p->grid->active, errors, AMBIT_EUNSUPPORTED,
              "ambit_apply_host needs a dense grid, and this one is sparse");
  for (int i = 0; i < n; i++) {
    const bool around = modes[i] >> 8;

    AMBIT_CHECK(fields[i] && fields[i]->grid == p->grid && !fields[i]->base, errors, AMBIT_EINVAL,
                "ambit_apply_host: field %d is NULL, a view, or belongs to another grid than the "
                "program",
                i + 1);
    AMBIT_CHECK(
        modes[i] & (AMBIT_READ | AMBIT_WRITE) && !(modes[i] & 0xf8) && modes[i] >> 8 < 64, errors,
        AMBIT_EINVAL,
        "ambit_apply_host: field '%s' has mode %u; it must be AMBIT_READ, AMBIT_WRITE, both, "
        "or AMBIT_AROUND(1) to AMBIT_AROUND(63)",
        fields[i]->name, modes[i]);
    AMBIT_CHECK(
        !around || !(modes[i] & AMBIT_WRITE), errors, AMBIT_EPROGRAM,
        "ambit_apply_host: field '%s' is written and read around: whether a neighbour is old "
        "or new would depend on the parts. Write to a second field and swap the two",
        fields[i]->name);
    for (int k = 0; k < i; k++)
      AMBIT_CHECK(fields[k] != fields[i], errors, AMBIT_EPROGRAM,
                  "ambit_apply_host: field '%s' appears twice; give it once, with all its modes",
                  fields[i]->name);
  }
  return AMBIT_OK;
}

/* " + u0[-1][1]" for all cells around, of one component of a field. */
static void print_around(ambit__text *t, int field, bool vector, int component, int ndims,
                         int64_t reach)
{
  ambit__box box = {.ndims = ndims};
  int64_t at[AMBIT_MAX_DIMS];

  for (int d = 0; d < ndims; d++) {
    box.lo[d] = -reach;
    box.hi[d] = reach + 1;
  }
  ambit__box_first(&box, at);
  do
    for (at[ndims - 1] = -reach; at[ndims - 1] <= reach; at[ndims - 1]++) {
      ambit__print(t, " + u%d", field);
      if (vector) ambit__print(t, "[%d]", component);
      for (int d = 0; d < ndims; d++)
        ambit__print(t, "[%lld]", (long long)at[d]);
    }
  while (ambit__box_next_row(&box, at));
}

/* Fields that are only read are read in the sum; the others are read and written at the cell. */
static void print_host(ambit__text *t, const ambit_program *p, int n, ambit_field *const *fields,
                       const unsigned *modes)
{
  ambit__print(t, "void own(");
  for (int i = 0; i < n; i++) {
    ambit__print(t, "%s%s *u%d", modes[i] & AMBIT_WRITE ? "" : "const ",
                 ambit_type_name(fields[i]->type), i);
    if (fields[i]->components > 1) ambit__print(t, "[%d]", fields[i]->components);
    ambit__print(t, ", ");
  }
  ambit__print(t, "double *row) { *row = 0");
  for (int i = 0; i < n; i++)
    for (int c = 0; !(modes[i] & AMBIT_WRITE) && c < fields[i]->components; c++)
      print_around(t, i, fields[i]->components > 1, c, p->grid->box.ndims, modes[i] >> 8);
  ambit__print(t, ";");
  for (int i = 0; i < n; i++)
    for (int c = 0; modes[i] & AMBIT_WRITE && c < fields[i]->components; c++)
      if (fields[i]->components > 1)
        ambit__print(t, " *u%d[%d] += 1;", i, c);
      else
        ambit__print(t, " *u%d += 1;", i);
  ambit__print(t, " }");
}

ambit_status ambit__program_append_host(ambit_program *p, const ambit__chore_use *use,
                                        const ambit__box *box, int n, ambit_field *const *fields)
{
  ambit_arg args[AMBIT_MAX_PARAMS];
  ambit__text text = {0};
  ambit__chore on = {0};
  ambit_kernel *kernel;

  for (int i = 0; i < n; i++)
    args[i] = ambit_arg_field(fields[i]);
  print_host(&text, p, n, fields, use->modes);
  AMBIT_TRY(make_kernel(p, &text, n, true, &kernel));
  return append(p, kernel, use, &on, box, n, args);
}

ambit_status ambit_apply_host(ambit_program *p, ambit_host_fn fn, void *user, int n,
                              ambit_field *const *fields, const unsigned *modes)
{
  ambit__chore_use use = {.kind = CHORE_HOST, .fn = fn, .user = user};

  if (ambit__program_failed(p)) return ambit__program_status(p);
  AMBIT_CHECK(fn, ambit__program_errors(p), AMBIT_EINVAL, "ambit_apply_host: the function is NULL");
  AMBIT_TRY(check_host(p, n, fields, modes));
  memcpy(use.modes, modes, (size_t)n * sizeof *modes);
  return ambit__program_append_host(p, &use, &p->grid->box, n, fields);
}

/* ---- changes ---- */

void ambit__program_points_moved(ambit_program *p, const ambit_points *points)
{
  for (size_t i = 0; i < p->nwritten; i++) {
    ambit__step *s = &p->written[i];

    if (!s->chore || s->chore->points != points) continue;
    ambit__program_unseal(p);
    s->box = box_of(s->chore);
  }
}

void ambit__chore_hash(const ambit__chore_use *t, ambit__hash *h)
{
  const ambit__points *p = t->points ? &t->points->set : NULL;

  ambit__hash_bytes(h, t->modes, sizeof t->modes);
  if (t->source) ambit__hash_text(h, t->source->name);
  for (int d = 0; t->source && d < t->taken.ndims; d++) {
    ambit__hash_bytes(h, &t->taken.lo[d], sizeof t->taken.lo[d]);
    ambit__hash_bytes(h, &t->taken.hi[d], sizeof t->taken.hi[d]);
  }
  if (!p) return;
  ambit__hash_bytes(h, p->base, (size_t)(p->n * p->ndims) * sizeof *p->base);
  ambit__hash_bytes(h, p->weights, (size_t)(p->n * p->taps) * sizeof *p->weights);
}
