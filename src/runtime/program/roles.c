/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/program/roles.h"

#include "base/memory.h"

#include <stdlib.h>

/* Scalars that need a reduction of their iteration. */
typedef struct late {
  const ambit_scalar **list;
  size_t n;
} late;

static bool runs_once(const ambit_program *p, size_t step)
{
  return p->steps[step].kind == STEP_APPLY && !p->applies[step].region.ndims;
}

/* The scalar that a step reads as an argument, or writes; NULL: none. */
static const ambit_scalar *read_by(const ambit__step *s, int arg)
{
  const bool reads =
      ambit__step_param(s, arg)->kind == PARAM_VALUE || ambit__step_param(s, arg)->nreads > 0;

  return reads && ambit__step_param(s, arg)->kind != PARAM_REDUCE ? s->args[arg].scalar : NULL;
}

static const ambit_scalar *written_by(const ambit__step *s, int arg)
{
  const bool writes =
      ambit__step_param(s, arg)->kind == PARAM_REDUCE || ambit__step_param(s, arg)->is_written;

  return writes ? s->args[arg].scalar : NULL;
}

static bool is_late(const late *l, const ambit_scalar *s)
{
  for (size_t i = 0; s && i < l->n; i++)
    if (l->list[i] == s) return true;
  return false;
}

static bool uses_late(const late *l, const ambit__step *s)
{
  for (int k = 0; k < s->n; k++)
    if (is_late(l, s->args[k].scalar)) return true;
  return false;
}

static void add_results(late *l, const ambit__step *s)
{
  for (int k = 0; k < s->n; k++)
    if (written_by(s, k) && !is_late(l, written_by(s, k))) l->list[l->n++] = written_by(s, k);
}

/* ---- roles ---- */

static ambit__role role_of(const ambit_program *p, size_t step, const late *l)
{
  const ambit__step *s = &p->steps[step];

  if (runs_once(p, step)) {
    if (!uses_late(l, s)) return ROLE_AHEAD;
    return s->every > 1 ? ROLE_RARE : ROLE_LATE;
  }
  return s->every > 1 && (!s->chore || ambit__chore_is_host(s->chore)) ? ROLE_RARE : ROLE_STAGE;
}

/* Adds the results of steps until there are no more. */
static void find_late(ambit_program *p, late *l)
{
  size_t before;

  do {
    before = l->n;
    for (size_t i = 0; i < p->nsteps; i++) {
      const ambit__role role = p->applies[i].role = role_of(p, i, l);
      const bool fails =
          p->steps[i].kind == STEP_APPLY && (role == ROLE_STAGE || role == ROLE_LATE);

      if (fails) add_results(l, &p->steps[i]);
    }
  } while (l->n > before);
}

static ambit_status list_late(const ambit_program *p, late *l)
{
  size_t most = 1;

  for (size_t i = 0; i < p->nsteps; i++)
    most += (size_t)p->steps[i].n;
  l->list = ambit__new(ambit__program_errors(p), most, sizeof *l->list);
  return l->list ? AMBIT_OK : AMBIT_ENOMEM;
}

/* ---- conditions ---- */

/* Whether a step of the same iteration computes a scalar before this one, whatever it was. */
static bool is_set_before(const ambit_program *p, size_t step, const ambit_scalar *s)
{
  for (size_t i = 0; i < step; i++)
    for (int k = 0; p->steps[i].kind == STEP_APPLY && k < p->steps[i].n; k++)
      if (p->applies[i].role != ROLE_RARE && written_by(&p->steps[i], k) == s &&
          (ambit__step_param(&p->steps[i], k)->kind == PARAM_REDUCE ||
           !ambit__step_param(&p->steps[i], k)->nreads))
        return true;
  return false;
}

/* A step that runs in single iterations only needs results of that iteration, not of the one before
 * it, which may be one of a cycle. */
static const char *refuse_single(const ambit_program *p, size_t step, const late *l)
{
  const ambit__step *s = &p->steps[step];

  for (int k = 0; k < s->n; k++)
    if (is_late(l, read_by(s, k)) && !is_set_before(p, step, read_by(s, k)))
      return "a step needs the result of a reduction of the iteration before";
  return NULL;
}

static const char *refuse(const ambit_program *p, size_t step, const late *l)
{
  const ambit__step *s = &p->steps[step];
  const ambit__role role = p->applies[step].role;

  if (s->kind == STEP_CALL && l->n) return "a step calls a program, which may read scalars";
  if (s->kind != STEP_APPLY) return NULL;
  if (role == ROLE_LATE && s->chore && s->chore->kind == CHORE_NOTE)
    return "a step notes a reduction of every iteration";
  if (role == ROLE_LATE || role == ROLE_RARE) return refuse_single(p, step, l);
  for (int k = 0; role == ROLE_STAGE && k < s->n; k++)
    if (is_late(l, read_by(s, k))) return "a step reads a scalar that a step computes";
  return NULL;
}

const char *ambit__roles_refusal(const ambit_program *p)
{
  const char *why = NULL;
  late l = {0};

  if (ambit__roles_first(p)) return NULL;
  if (list_late(p, &l)) return "memory ran out";
  for (size_t i = 0; i < p->nsteps; i++)
    if (p->steps[i].kind == STEP_APPLY &&
        (p->applies[i].role == ROLE_LATE || p->applies[i].role == ROLE_STAGE))
      add_results(&l, &p->steps[i]);
  for (size_t i = 0; i < p->nsteps && !why; i++)
    why = refuse(p, i, &l);
  free(l.list);
  return why;
}

/* ---- steps that run first ---- */

bool ambit__roles_first(const ambit_program *p)
{
  for (size_t i = 0; i < p->nsteps; i++)
    if (p->applies[i].role == ROLE_FIRST) return true;
  return false;
}

static bool is_on_one_device(const ambit_program *p)
{
  return p->grid->nparts == 1 && ambit__grid_on_first(p->grid) &&
         ambit__can(ambit__engine_of(p->grid, 0)->device->backend, wave);
}

/* Whether a step can be a launch before a wave: that needs no ghost cells, and no lag. */
static bool may_be_first(const ambit_program *p, size_t step)
{
  const ambit__step *s = &p->steps[step];

  if (s->kind != STEP_APPLY || s->chore || s->every > 1) return false;
  if (!runs_once(p, step) && ambit__box_is_empty(&p->applies[step].region)) return false;
  for (int k = 0; k < s->n; k++)
    if (s->args[k].field &&
        (ambit__step_param(s, k)->reads_neighbours || ambit__step_param(s, k)->is_written))
      return false;
  return true;
}

/* Whether a step can follow in a wave of one iteration; counts those with cells. */
static bool may_follow(const ambit_program *p, size_t step, int *stages)
{
  const ambit__step *s = &p->steps[step];

  if (p->applies[step].role == ROLE_RARE || s->kind == STEP_ROTATE) return true;
  *stages += p->applies[step].role == ROLE_STAGE && !ambit__box_is_empty(&p->applies[step].region);
  return s->kind == STEP_APPLY && p->applies[step].role == ROLE_STAGE;
}

/* The steps up to the last result of a reduction run first, if at least two are left for a wave. */
static void choose_first(ambit_program *p)
{
  size_t n = 0;
  int stages = 0;

  for (size_t i = 0; i < p->nsteps; i++)
    if (p->applies[i].role == ROLE_LATE ||
        (p->applies[i].role == ROLE_STAGE && p->applies[i].reduces))
      n = i + 1;
  for (size_t i = 0; i < p->nsteps; i++)
    if (!(i < n ? may_be_first(p, i) : may_follow(p, i, &stages))) return;
  for (size_t i = 0; stages > 1 && i < n; i++)
    p->applies[i].role = ROLE_FIRST;
}

ambit_status ambit__program_roles(ambit_program *p)
{
  late l = {0};

  AMBIT_TRY(list_late(p, &l));
  find_late(p, &l);
  free(l.list);
  if (is_on_one_device(p) && ambit__roles_refusal(p)) choose_first(p);
  return AMBIT_OK;
}

/* ---- rare steps ---- */

int64_t ambit__program_calm(const ambit_program *p)
{
  int64_t n = INT64_MAX;

  for (size_t i = 0; i < p->nsteps; i++) {
    const int64_t every = p->steps[i].every;

    if (p->applies[i].role == ROLE_RARE && every - 1 - p->iteration % every < n)
      n = every - 1 - p->iteration % every;
  }
  return n;
}

int64_t ambit__program_calmest(const ambit_program *p)
{
  int64_t n = INT64_MAX;

  for (size_t i = 0; i < p->nsteps; i++)
    if (p->applies[i].role == ROLE_RARE && p->steps[i].every - 1 < n) n = p->steps[i].every - 1;
  return n;
}

/* ---- scalars of a wave ---- */

static ambit_status add_kept(ambit_program *p, ambit__ahead *a, const ambit_scalar *s, int order)
{
  ambit__kept *k = &a->kept[a->n++];

  *k = (ambit__kept){.scalar = s, .order = order};
  AMBIT_HOLD(p, k->values, (size_t)p->grid->context->nengines);
  for (int e = 0; e < p->grid->context->nengines; e++)
    AMBIT_TRY(ambit__hold_buffer(p, e, sizeof(ambit__scalar_bytes), &k->values[e]));
  return AMBIT_OK;
}

/* Adds the scalars that a stage writes: as they are after it, or once each, before the cycle. */
static ambit_status add_written(ambit_program *p, const ambit__flow_stage *st, bool before,
                                ambit__ahead *a)
{
  const ambit__step *s = &p->steps[st->step];

  if (p->applies[st->step].role != ROLE_AHEAD) return AMBIT_OK;
  for (int k = 0; k < s->n; k++) {
    const ambit_scalar *w = written_by(s, k);

    if (!w || (before && ambit__ahead_value(a, w, 0, 0))) continue;
    AMBIT_TRY(add_kept(p, a, w, before ? -1 : ambit__stage_order(p, st)));
  }
  return AMBIT_OK;
}

ambit_status ambit__ahead_make(ambit_program *p, const ambit__flow *flow, ambit__ahead *a)
{
  size_t most = 1;

  *a = (ambit__ahead){0};
  for (int i = 0; i < flow->nstages; i++)
    if (p->applies[flow->stages[i].step].role == ROLE_AHEAD)
      most += 2 * (size_t)p->steps[flow->stages[i].step].n;
  if (most == 1) return AMBIT_OK;
  AMBIT_HOLD(p, a->kept, most);
  for (int i = 0; i < flow->nstages; i++)
    AMBIT_TRY(add_written(p, &flow->stages[i], true, a));
  for (int i = 0; i < flow->nstages; i++)
    AMBIT_TRY(add_written(p, &flow->stages[i], false, a));
  return AMBIT_OK;
}

ambit__buffer *ambit__ahead_value(const ambit__ahead *a, const ambit_scalar *s, int order,
                                  int engine)
{
  ambit__buffer *found = NULL;

  for (int i = 0; i < a->n && a->kept[i].order < order; i++)
    if (a->kept[i].scalar == s) found = a->kept[i].values[engine];
  return found;
}

ambit_status ambit__ahead_move(const ambit_program *p, const ambit__ahead *a, int order, bool keeps)
{
  for (int i = 0; i < a->n; i++) {
    const ambit__kept *k = &a->kept[i];
    ambit__buffer **from = keeps ? k->scalar->values : k->values;
    ambit__buffer **to = keeps ? k->values : k->scalar->values;

    for (int part = 0; k->order == order && part < p->grid->placement.n; part++) {
      const int e = p->grid->placement.engine[part];
      const ambit__engine *engine = &p->grid->context->engines[e];
      unsigned char bytes[sizeof(double)];

      AMBIT_TRY(ambit__do(engine->queue, get, bytes, from[e], sizeof bytes));
      AMBIT_TRY(ambit__do(engine->queue, put, to[e], bytes, sizeof bytes));
    }
  }
  return AMBIT_OK;
}
