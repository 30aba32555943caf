/* SPDX-License-Identifier: BSD-3-Clause */
/* lean.c - makes the lean form of a program: a copy of its steps, changed rotation by rotation. */
#include "runtime/program/lean.h"

#include "base/memory.h"
#include "runtime/program/cycle.h"
#include "runtime/program/join.h"

#include <stdlib.h>
#include <string.h>

/* A field to do without. After a rotation `after` would have the buffer of `before`. */
typedef struct spare {
  size_t rotation, writer; /* steps: `writer` gives `after` its new values */
  int turn;                /* of `after` in the rotation */
  int before, after;       /* parameters of the writer; before is -1 if it has no such */
  ambit_field *old, *new;
} spare;

/* ---- conditions ---- */

/* A component of two parameters, during a walk through the statements of a rule. */
typedef struct component {
  int read, written, number;
  bool is_set, sets; /* it may have been set; the present statement sets it to its value */
} component;

static ambit__visit note_set(void *user, const ambit__stmt *s)
{
  component *c = user;

  c->is_set |= c->sets;
  c->sets = s->kind == STMT_SET_OUT && s->index == c->written && s->component == c->number;
  return VISIT_INSIDE;
}

static ambit__visit find_read(void *user, const ambit__expr *e)
{
  const component *c = user;
  const bool reads = e->op == EXPR_READ && e->index == c->read && e->component == c->number;

  return reads && c->is_set ? VISIT_END : VISIT_INSIDE;
}

/* Whether a rule may read a component of parameter `read`, as it was before the step, after it has
 * assigned the same component of parameter `written`. */
static bool reads_late(const ambit__rule *rule, int read, int written)
{
  for (int i = 0; i < rule->params[written].components; i++) {
    component c = {.read = read, .written = written, .number = i};

    if (ambit__visit_stmts(&(ambit__visitor){note_set, find_read, &c}, rule->body)) return true;
  }
  return false;
}

static bool can_write(const ambit__step *s, spare *x)
{
  const ambit__param *new;

  if (s->kind != STEP_APPLY || !s->box.ndims) return false;
  x->after = ambit__step_argument(s, x->new);
  x->before = ambit__step_argument(s, x->old);
  if (x->after < 0 || x->before == -2) return false;
  new = ambit__step_param(s, x->after);
  if (!ambit__param_replaces(new) || new->nreads || new->targets) return false;
  if (x->before < 0) return true;
  return !ambit__step_param(s, x->before)->is_written &&
         !ambit__step_param(s, x->before)->reads_neighbours &&
         ambit__step_param(s, x->before)->components ==
             ambit__step_param(s, x->after)->components &&
         !reads_late(s->kernel->rule, x->before, x->after);
}

/* Whether a step that follows the writer can take `old` for `new`. */
static bool can_follow(const ambit__step *s, const spare *x)
{
  if (s->kind != STEP_APPLY || ambit__step_uses(s, x->old)) return false;
  return ambit__boundaries_equal(&x->old->boundaries, &x->new->boundaries);
}

static bool in_rotation(const ambit__step *rotation, const ambit__step *s)
{
  for (int i = 0; i < rotation->n; i++)
    if (ambit__step_writes(s, rotation->args[i].field)) return true;
  return false;
}

/* Whether all steps allow it. */
static bool is_spare(const ambit_program *p, spare *x)
{
  const ambit__step *rotation = &p->written[x->rotation];
  ambit__box region;

  for (x->writer = 0; x->writer < x->rotation; x->writer++)
    if (ambit__step_uses(&p->written[x->writer], x->new)) break;
  if (x->writer == x->rotation || !can_write(&p->written[x->writer], x)) return false;
  region = ambit__step_region(p, &p->written[x->writer]);
  for (size_t i = 0; i < p->nwritten; i++) {
    const ambit__step *s = &p->written[i];
    const bool follows = i > x->writer && i < x->rotation;
    ambit__box cells;

    if (i == x->rotation || i == x->writer) continue;
    if (follows ? ambit__step_uses(s, x->old) : ambit__step_uses(s, x->new)) return false;
    if (follows && ambit__step_uses(s, x->new) && !can_follow(s, x)) return false;
    if (s->kind == STEP_ROTATE && ambit__step_uses(s, x->old)) return false;
    if (s->kind != STEP_APPLY || !in_rotation(rotation, s)) continue;
    cells = ambit__step_region(p, s);
    if (!ambit__box_contains(&region, &cells)) return false;
  }
  return !ambit__box_is_empty(&region);
}

/* A field of a rotation. */
static bool find_spare(const ambit_program *p, size_t rotation, spare *x)
{
  const ambit__step *s = &p->written[rotation];

  x->rotation = rotation;
  for (x->turn = 0; s->kind == STEP_ROTATE && x->turn < s->n; x->turn++) {
    x->new = s->args[x->turn].field;
    x->old = s->args[(x->turn + 1) % s->n].field;
    if (is_spare(p, x)) return true;
  }
  return false;
}

/* ---- changes ---- */

/* Parameters `before` and `after` of the writer become one. */
static ambit_status unite(ambit_program *p, ambit__step *s, const spare *x)
{
  ambit *a = p->grid->context;
  const ambit__rule *rules[] = {s->kernel->rule};
  int map[1][AMBIT_MAX_PARAMS] = {{0}};
  ambit__rule *rule;
  ambit_kernel *kernel;

  for (int i = 0; i < s->n; i++)
    map[0][i] = i == x->after ? x->before - (x->before > x->after) : i - (i > x->after);
  AMBIT_TRY(ambit__rule_join(&a->errors, 1, rules, (const int(*)[AMBIT_MAX_PARAMS])map, &rule));
  kernel = ambit__kernel_adopt(a, rule);
  if (!kernel) return a->errors.status;
  ambit__kernel_free(s->bound);
  s->kernel = s->bound = kernel;
  s->n--;
  memmove(s->args + x->after, s->args + x->after + 1, (size_t)(s->n - x->after) * sizeof *s->args);
  return AMBIT_OK;
}

static void drop_turn(ambit_program *p, const spare *x)
{
  ambit__step *s = &p->written[x->rotation];

  s->n--;
  memmove(s->args + x->turn, s->args + x->turn + 1, (size_t)(s->n - x->turn) * sizeof *s->args);
  if (s->n > 1) return;
  free(s->args);
  p->nsteps = --p->nwritten;
  memmove(s, s + 1, (p->nwritten - x->rotation) * sizeof *s);
}

static ambit_status drop(ambit_program *p, const spare *x)
{
  ambit__step *writer = &p->written[x->writer];

  if (x->before < 0)
    writer->args[x->after].field = x->old;
  else
    AMBIT_TRY(unite(p, writer, x));
  for (size_t i = x->writer + 1; i < x->rotation; i++)
    for (int k = 0; k < p->written[i].n; k++)
      if (p->written[i].args[k].field == x->new) p->written[i].args[k].field = x->old;
  drop_turn(p, x);
  return AMBIT_OK;
}

/* ---- the lean form ---- */

/* What no program may have that has a lean form. */
static bool is_refused(const ambit_program *p)
{
  if (p->relaxes || ambit__options_checks(p->grid->context) || ambit__cycle_refuse_steps(p))
    return true;
  for (size_t i = 0; i < p->nwritten; i++)
    if (ambit__step_is_registered(p, &p->written[i]) ||
        (p->written[i].every > 1 && !p->written[i].chore) ||
        ambit__chore_is_host(p->written[i].chore) ||
        ambit__step_changes_profiles(p, &p->written[i]))
      return true;
  return false;
}

static ambit_status copy_steps(const ambit_program *p, ambit_program *lean)
{
  for (size_t i = 0; i < p->nwritten; i++) {
    ambit__step s = p->written[i];

    s.bound = NULL; /* not owned */
    s.user = NULL;
    s.own_chore = NULL;
    AMBIT_TRY(ambit__program_append(lean, s, s.args));
  }
  return AMBIT_OK;
}

/* Does without one field of every rotation, if it can: one iteration of the program gives them all
 * their values. */
static ambit_status slim(ambit__lean *lean, int *dropped)
{
  ambit_program *p = lean->program;
  spare x;

  *dropped = 0;
  lean->region = p->grid->box;
  for (size_t i = p->nwritten; i-- > 0;) {
    ambit__box region;

    if (!find_spare(p, i, &x)) continue;
    region = ambit__step_region(p, &p->written[x.writer]);
    AMBIT_TRY(drop(p, &x));
    ++*dropped;
    lean->region = ambit__box_intersect(&lean->region, &region);
  }
  return AMBIT_OK;
}

static ambit_status make(ambit_program *p, int *dropped)
{
  ambit__lean *lean = p->lean;

  *dropped = 0;
  lean->program = ambit_program_create(p->grid);
  if (!lean->program) return ambit__program_errors(p)->status;
  lean->program->lean_of = p;
  AMBIT_TRY(copy_steps(p, lean->program));
  AMBIT_TRY(slim(lean, dropped));
  lean->everywhere = ambit__box_equal(&lean->region, &p->grid->box);
  return AMBIT_OK;
}

ambit_status ambit__lean_make(ambit_program *p)
{
  ambit_status s;
  int dropped;

  if (is_refused(p)) return AMBIT_OK;
  AMBIT_NEW(ambit__program_errors(p), p->lean, 1);
  ambit__trial_begin(&p->lean->trial, 2);
  s = make(p, &dropped);
  if (s || !dropped) ambit__lean_drop(p);
  return s;
}

void ambit__lean_drop(ambit_program *p)
{
  ambit__lean *lean = p->lean;

  if (!lean) return;
  p->lean = NULL;
  if (lean->program) {
    lean->program->lean_of = NULL;
    ambit__program_free(lean->program);
  }
  free(lean);
}
