/* SPDX-License-Identifier: BSD-3-Clause */
/* program.c - assembling programs: each step is checked when it is appended. */
#include "runtime/program/program.h"
#include "base/log.h"
#include "base/memory.h"
#include "runtime/program/lean.h"

#include <stdlib.h>
#include <string.h>

/* ---- changes of objects that steps use ---- */

/* The schedule of a program that is in a call is in use. */
void ambit__program_unseal(ambit_program *p)
{
  if (p->is_calling)
    p->is_outdated = true;
  else if (p->unseal)
    p->unseal(p);
}

static void unseal_all(ambit_grid *g)
{
  for (ambit__link *i = g->programs.next; i->owner; i = i->next)
    ambit__program_unseal(i->owner);
}

static bool refers(const ambit__step *s, const void *object)
{
  if (s->kernel == object || (s->user && s->user->kernel == object) || s->call.program == object ||
      s->call.scalar == object)
    return true;
  if (s->chore && (s->chore->points == object || s->chore->record == object ||
                   (object && s->chore->source == object)))
    return true;
  for (int i = 0; i < s->n; i++)
    if (s->args[i].field == object || s->args[i].scalar == object ||
        ambit__field_root(s->args[i].field) == object)
      return true;
  return false;
}

/* The step of a broken program points at nothing that is gone. */
static void erase(ambit__step *s, const void *object)
{
  if (s->call.program == object) s->call.program = NULL;
  for (int i = 0; i < s->n; i++)
    if (s->args[i].field == object) s->args[i].field = NULL;
}

static void forget(ambit_grid *g, const void *object)
{
  for (ambit__link *i = g->programs.next; i->owner; i = i->next) {
    ambit_program *p = i->owner;

    ambit__program_unobserve(p, object);
    for (size_t k = 0; k < p->nwritten; k++)
      if (refers(&p->written[k], object)) {
        ambit__program_unseal(p);
        p->broken = true;
        erase(&p->written[k], object);
      }
  }
}

/* Whether the program runs, or will when the one that is running calls it. */
static bool is_active(const ambit_program *p)
{
  const ambit *a = p->grid->context;

  for (const ambit__link *l = a->grids.next; l->owner; l = l->next)
    for (const ambit__link *i = ((ambit_grid *)l->owner)->programs.next; i->owner; i = i->next) {
      const ambit_program *other = i->owner;

      if (other->is_running && ambit__program_reaches(other, p)) return true;
    }
  return p->is_running;
}

static bool is_running(const ambit_grid *g, const void *object)
{
  for (const ambit__link *i = g->programs.next; i->owner; i = i->next) {
    const ambit_program *p = i->owner;
    bool used = !object || p == object || p->awaited == object;

    for (size_t k = 0; k < p->nwritten && !used; k++)
      used = refers(&p->written[k], object);
    for (const ambit__observer *o = p->observers; o && !used; o = o->next)
      used = o->uses(o, object);
    if (used && is_active(p)) return true;
  }
  return false;
}

static void report(ambit_program *p)
{
  if (p->grid->context->settings.report && p->iteration && !p->lean_of) ambit_program_report(p);
}

static void report_all(const ambit_grid *g)
{
  for (const ambit__link *i = g->programs.next; i->owner; i = i->next)
    report(i->owner);
}

static void move_all(ambit_grid *g, const ambit_points *points)
{
  for (ambit__link *i = g->programs.next; i->owner; i = i->next)
    ambit__program_points_moved(i->owner, points);
}

static const ambit__dependents dependents = {.changed = unseal_all,
                                             .gone = forget,
                                             .running = is_running,
                                             .report = report_all,
                                             .moved = move_all};

int ambit__program_field(const ambit_program *p, const ambit_field *f)
{
  for (int i = 0; i < p->nfields; i++)
    if (p->fields[i] == f) return i;
  return -1;
}

bool ambit__step_overwrites(const ambit_program *p, const ambit__step *s, const ambit__box *region,
                            int arg)
{
  const ambit__box cells = ambit__box_project(&p->grid->box, s->dropped);

  return ambit__box_equal(region, &cells) && s->every == 1 &&
         ambit__param_replaces(&s->kernel->rule->params[arg]);
}

/* ---- fields and programs that steps use ---- */

unsigned ambit__step_effects(const ambit__step *s, const ambit_field *f)
{
  unsigned all = s->kind == STEP_CALL ? ambit__program_effects(s->call.program, f) : 0;

  if (all & EFFECT_ROTATES) all |= EFFECT_WRITES;
  if (f && s->chore && s->chore->source == f) all |= EFFECT_USES | EFFECT_READS;
  for (int i = 0; f && i < s->n; i++) {
    if (ambit__field_root(s->args[i].field) != ambit__field_root(f)) continue;
    all |= EFFECT_USES;
    if (s->kind == STEP_ROTATE) all |= EFFECT_ROTATES;
    if (s->kind == STEP_COPY) all |= i ? EFFECT_WRITES : EFFECT_READS;
    if (s->kind != STEP_APPLY) continue;
    if (s->kernel->rule->params[i].is_written) all |= EFFECT_WRITES;
    if (s->kernel->rule->params[i].nreads) all |= EFFECT_READS;
  }
  return all;
}

unsigned ambit__program_effects(const ambit_program *p, const ambit_field *f)
{
  unsigned all = 0;

  for (size_t i = 0; p && i < p->nwritten; i++)
    all |= ambit__step_effects(&p->written[i], f);
  return all;
}

void ambit__step_rotate(const ambit_program *p, const ambit__step *s, int *of_field)
{
  const int first = of_field[ambit__program_field(p, s->args[0].field)];

  for (int i = 0; i < s->n - 1; i++)
    of_field[ambit__program_field(p, s->args[i].field)] =
        of_field[ambit__program_field(p, s->args[i + 1].field)];
  of_field[ambit__program_field(p, s->args[s->n - 1].field)] = first;
}

bool ambit__step_sets(const ambit__step *s, const ambit_scalar *scalar)
{
  if (s->kind == STEP_CALL) return ambit__program_sets(s->call.program, scalar);
  for (int i = 0; s->kind == STEP_APPLY && i < s->n; i++) {
    const ambit__param *q = &s->kernel->rule->params[i];

    if (s->args[i].scalar == scalar && (q->kind == PARAM_REDUCE || q->is_written)) return true;
  }
  return false;
}

bool ambit__program_sets(const ambit_program *p, const ambit_scalar *scalar)
{
  bool found = p && p->callback;

  for (size_t i = 0; p && i < p->nwritten && !found; i++)
    found = ambit__step_sets(&p->written[i], scalar);
  return found;
}

bool ambit__program_calls_back(const ambit_program *p)
{
  bool found = p && p->callback;

  for (const ambit__observer *o = p ? p->observers : NULL; o && !found; o = o->next)
    found = !o->left;
  for (size_t i = 0; p && i < p->nwritten && !found; i++)
    found = ambit__step_calls_back(&p->written[i]);
  return found;
}

bool ambit__step_calls_back(const ambit__step *s)
{
  return s->kind == STEP_CALL && ambit__program_calls_back(s->call.program);
}

bool ambit__program_calls(const ambit_program *p)
{
  for (size_t i = 0; i < p->nwritten; i++)
    if (p->written[i].kind == STEP_CALL) return true;
  return false;
}

bool ambit__program_reaches(const ambit_program *p, const ambit_program *called)
{
  bool found = p == called;

  for (size_t i = 0; p && i < p->nwritten && !found; i++)
    found = p->written[i].kind == STEP_CALL &&
            ambit__program_reaches(p->written[i].call.program, called);
  return found;
}

int ambit__step_updates(const ambit__step *s)
{
  int n = 0;

  for (uint64_t bits = s->joined; bits; bits &= bits - 1)
    n++;
  return n ? n : 1;
}

/* ---- programs ---- */

ambit_program *ambit_program_create(ambit_grid *g)
{
  ambit_program *p;

  if (!g || ambit__failed(g->context)) return NULL;
  p = ambit__new(&g->context->errors, 1, sizeof *p);
  if (!p) return NULL;
  p->grid = g;
  p->check_every = 1;
  g->dependents = &dependents;
  ambit__list_add(&g->programs, &p->link, p);
  return p;
}

void ambit_program_destroy(ambit_program *p)
{
  if (!p || ambit__object_check_unused(p->grid->context, p, "program", "")) return;
  report(p);
  ambit__program_free(p);
}

void ambit__program_free(ambit_program *p)
{
  ambit__program_unobserve(p, NULL);
  if (p->lean_of) p->lean_of->lean->program = NULL;
  ambit__program_unseal(p);
  if (p->unbalance) p->unbalance(p);
  for (size_t i = 0; i < p->nwritten; i++) {
    free(p->written[i].args);
    ambit__kernel_free(p->written[i].bound);
    free(p->written[i].own_chore);
    ambit__scalar_free(p->written[i].own_scalar);
  }
  ambit__records_leave(p);
  free(p->written);
  ambit__list_remove(&p->link);
  ambit__object_gone(p->grid->context, p);
  free(p);
}

/* ---- arguments ---- */

ambit_arg ambit_arg_field(const ambit_field *f)
{
  ambit_arg a = {.kind = AMBIT_ARG_FIELD, .field = (ambit_field *)f};
  return a;
}

ambit_arg ambit_arg_scalar(const ambit_scalar *s)
{
  ambit_arg a = {.kind = AMBIT_ARG_SCALAR, .scalar = (ambit_scalar *)s};
  return a;
}

ambit_arg ambit_arg_number(double x)
{
  ambit_arg a = {.kind = AMBIT_ARG_NUMBER, .number = x};
  return a;
}

ambit_arg ambit_arg_record(const ambit_record *r)
{
  ambit_arg a = {.kind = AMBIT_ARG_RECORD, .table = r};
  return a;
}

ambit_arg ambit_arg_same(ambit_arg a)
{
  return a;
}

ambit_arg ambit_arg_table(const void *values, ambit_type type, int rows, int columns)
{
  ambit_arg a = {.kind = AMBIT_ARG_TABLE, .table = values};
  a.type = type;
  a.rows = rows;
  a.columns = columns;
  return a;
}

/* ---- appending ---- */

ambit_status ambit__program_append(ambit_program *p, ambit__step step, const ambit_arg *args)
{
  AMBIT_CHECK(!p->is_calling, ambit__program_errors(p), AMBIT_EPROGRAM,
              "a callback of a called program appends a step to the program that called it");
  ambit__program_unseal(p);
  AMBIT_TRY(ambit__make_room(ambit__program_errors(p), &p->written, p->nwritten, &p->written_cap,
                             sizeof *p->written));
  p->steps = p->written;
  AMBIT_NEW(ambit__program_errors(p), step.args, (size_t)step.n);
  if (step.n) memcpy(step.args, args, (size_t)step.n * sizeof *args);
  step.every = 1;
  p->last = p->nwritten;
  p->written[p->nwritten++] = step;
  p->nsteps = p->nwritten;
  return AMBIT_OK;
}

/* Field i of a step that has no kernel. */
static ambit_status check_field(const ambit_program *p, const char *step, int i,
                                const ambit_field *f)
{
  AMBIT_CHECK(f, ambit__program_errors(p), AMBIT_EINVAL, "field %d of a %s is NULL", i + 1, step);
  AMBIT_CHECK(f->grid == p->grid, ambit__program_errors(p), AMBIT_EINVAL,
              "field '%s' of a %s belongs to another grid than the program; kernels on nested "
              "grids pass values through views (ambit_field_create_view)",
              f->name, step);
  return AMBIT_OK;
}

/* Rotated fields must have the same type and layout, and appear once. */
static ambit_status check_rotation(ambit_program *p, int n, ambit_field *const *fields)
{
  AMBIT_CHECK(fields, ambit__program_errors(p), AMBIT_EINVAL, "the fields of a rotation are NULL");
  AMBIT_CHECK(n >= 2, ambit__program_errors(p), AMBIT_EINVAL,
              "a rotation needs at least 2 fields, not %d", n);
  for (int i = 0; i < n; i++) {
    const ambit_field *f = fields[i], *first = fields[0];

    AMBIT_TRY(check_field(p, "swap or rotation", i, f));
    AMBIT_CHECK(!f->base, ambit__program_errors(p), AMBIT_EPROGRAM,
                "field '%s' is a view and cannot be swapped; swap the field that it shows, in a "
                "program on its grid",
                f->name);
    AMBIT_CHECK(f->type == first->type && f->components == first->components &&
                    f->asked == first->asked && f->dropped == first->dropped,
                ambit__program_errors(p), AMBIT_EPROGRAM,
                "fields '%s' and '%s' cannot be rotated: they differ in type, components, order or "
                "axes",
                fields[0]->name, fields[i]->name);
    for (int j = 0; j < i; j++)
      AMBIT_CHECK(fields[j] != fields[i], ambit__program_errors(p), AMBIT_EPROGRAM,
                  "field '%s' appears twice in one swap or rotation", fields[i]->name);
  }
  return AMBIT_OK;
}

ambit_status ambit_rotate(ambit_program *p, int n, ambit_field *const *fields)
{
  ambit__step s = {.kind = STEP_ROTATE, .n = n};
  ambit_arg *args;
  ambit_status status;

  if (ambit__program_failed(p)) return ambit__program_status(p);
  AMBIT_TRY(check_rotation(p, n, fields));
  AMBIT_NEW(ambit__program_errors(p), args, (size_t)n);
  for (int i = 0; i < n; i++)
    args[i] = ambit_arg_field(fields[i]);
  status = ambit__program_append(p, s, args);
  free(args);
  return status;
}

ambit_status ambit_swap(ambit_program *p, ambit_field *a, ambit_field *b)
{
  ambit_field *const both[] = {a, b};

  return ambit_rotate(p, 2, both);
}

/* ---- calls ---- */

static ambit_status append_call(ambit_program *p, const ambit__subrun *call)
{
  const ambit_program *called = call->program;

  AMBIT_CHECK(called && called->grid->context == p->grid->context, ambit__program_errors(p),
              AMBIT_EINVAL, "the program that step %zu calls is NULL or belongs to another context",
              p->nwritten + 1);
  AMBIT_CHECK(call->most >= 0, ambit__program_errors(p), AMBIT_EINVAL,
              "step %zu calls a program for %lld iterations; the number must be 0 or more",
              p->nwritten + 1, (long long)call->most);
  AMBIT_CHECK(!ambit__program_reaches(called, p), ambit__program_errors(p), AMBIT_EPROGRAM,
              "step %zu calls %s: recursion would never end", p->nwritten + 1,
              called == p ? "its own program" : "a program that calls the program of the step");
  return ambit__program_append(p, (ambit__step){.kind = STEP_CALL, .call = *call}, NULL);
}

ambit_status ambit_call(ambit_program *p, ambit_program *called, int64_t iterations)
{
  const ambit__subrun call = {.program = called, .most = iterations};

  return ambit__program_failed(p) ? ambit__program_status(p) : append_call(p, &call);
}

ambit_status ambit_call_until(ambit_program *p, ambit_program *called, ambit_scalar *s,
                              ambit_condition when, double value, int64_t most)
{
  const ambit__subrun call = {
      .program = called, .most = most, .scalar = s, .when = when, .bound = value};

  if (ambit__program_failed(p)) return ambit__program_status(p);
  AMBIT_TRY(ambit__until_check(p->grid->context, s, when, value, "ambit_call_until"));
  return append_call(p, &call);
}

/* ---- settings of a step ---- */

ambit_status ambit_step_every(ambit_program *p, int64_t n)
{
  if (ambit__program_failed(p)) return ambit__program_status(p);
  AMBIT_CHECK(n >= 1, ambit__program_errors(p), AMBIT_EINVAL,
              "ambit_step_every: the interval is %lld; it must be at least 1", (long long)n);
  AMBIT_CHECK(p->nwritten, ambit__program_errors(p), AMBIT_EPROGRAM,
              "ambit_step_every: the program has no step yet; append one first");
  AMBIT_CHECK(p->written[p->last].kind != STEP_ROTATE || n == 1, ambit__program_errors(p),
              AMBIT_EPROGRAM,
              "ambit_step_every: step %zu is a swap or a rotation, which runs in every iteration",
              p->last + 1);
  ambit__program_unseal(p);
  for (size_t i = p->last; i < p->nwritten; i++)
    p->written[i].every = n;
  return AMBIT_OK;
}

/* ---- settings of a program ---- */

ambit_status ambit__until_check(ambit *a, const ambit_scalar *s, ambit_condition when, double value,
                                const char *call)
{
  AMBIT_CHECK(s && s->context == a, &a->errors, AMBIT_EINVAL,
              "%s: the scalar is NULL or belongs to another context", call);
  AMBIT_CHECK(when >= AMBIT_BELOW && when <= AMBIT_AT_LEAST, &a->errors, AMBIT_EINVAL,
              "%s: %d is not a condition", call, (int)when);
  AMBIT_CHECK(value == value, &a->errors, AMBIT_EINVAL,
              "%s: the value to compare with is NaN, which no scalar can reach", call);
  return AMBIT_OK;
}

ambit_status ambit_program_relax(ambit_program *p)
{
  if (ambit__program_failed(p)) return ambit__program_status(p);
  if (p->grid->active)
    ambit__log(&p->grid->context->settings, 0,
               "ambit_program_relax has no effect on a sparse grid: the program runs as without "
               "it");
  ambit__program_unseal(p);
  p->relaxes = true;
  return AMBIT_OK;
}

ambit_status ambit_program_check_every(ambit_program *p, int64_t iterations)
{
  if (ambit__program_failed(p)) return ambit__program_status(p);
  AMBIT_CHECK(iterations >= 1, ambit__program_errors(p), AMBIT_EINVAL,
              "ambit_program_check_every: the interval is %lld; it must be at least 1",
              (long long)iterations);
  p->check_every = iterations;
  return AMBIT_OK;
}

/* Schedules of callers depend on whether a called program has a callback. */
static void unseal_callers(const ambit_program *p)
{
  const ambit *a = p->grid->context;

  for (const ambit__link *l = a->grids.next; l->owner; l = l->next)
    for (const ambit__link *i = ((ambit_grid *)l->owner)->programs.next; i->owner; i = i->next)
      if (i->owner != p && ambit__program_reaches(i->owner, p)) ambit__program_unseal(i->owner);
}

ambit_status ambit_on_iteration(ambit_program *p, int64_t n, ambit_callback_fn fn, void *user)
{
  if (ambit__program_failed(p)) return ambit__program_status(p);
  AMBIT_CHECK(n >= 1 || !fn, ambit__program_errors(p), AMBIT_EINVAL,
              "ambit_on_iteration: the interval is %lld; it must be at least 1", (long long)n);
  if (fn && !p->callback) unseal_callers(p);
  p->every = fn ? n : 0;
  p->callback = fn;
  p->callback_user = user;
  return AMBIT_OK;
}

void ambit__program_observe(ambit_program *p, ambit__observer *o)
{
  ambit__observer **last = &p->observers;

  if (!o->left && !ambit__program_calls_back(p)) unseal_callers(p);
  while (*last)
    last = &(*last)->next;
  *last = o;
}

/* Ends those that use an object (NULL: all), or all but those with `left`. */
static void end_observers(ambit_program *p, const void *object, bool outputs)
{
  for (ambit__observer **at = &p->observers; *at;) {
    ambit__observer *o = *at;

    if (outputs ? o->left != NULL : object && !o->uses(o, object)) {
      at = &o->next;
    } else {
      *at = o->next;
      o->end(o);
    }
  }
}

void ambit__program_unobserve(ambit_program *p, const void *object)
{
  end_observers(p, object, false);
}

void ambit__program_end_outputs(ambit_program *p)
{
  end_observers(p, NULL, true);
}

int ambit_program_converged(const ambit_program *p)
{
  return p && p->converged;
}

int64_t ambit_program_iterations(const ambit_program *p)
{
  return p ? p->iteration : 0;
}
