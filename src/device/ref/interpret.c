/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/ref/interpret.h"

#include "device/host.h"

#include <assert.h>
#include <stdlib.h>

ambit_status ambit__interpreter_init(ambit__interpreter *in, ambit__errors *errors,
                                     const ambit__rule *rule, unsigned checks)
{
  int nouts = 0;

  in->rule = rule;
  for (int p = 0; p < rule->nparams; p++) {
    in->first_out[p] = nouts;
    nouts += rule->params[p].components;
  }
  AMBIT_NEW(errors, in->locals, (size_t)rule->nlocals);
  AMBIT_NEW(errors, in->outs, (size_t)nouts);
  return checks ? ambit__guard_open(&in->guard, errors, rule, checks, in->ghosts) : AMBIT_OK;
}

void ambit__interpreter_begin(ambit__interpreter *in, const ambit__launch *launch)
{
  in->launch = launch;
  in->active = launch->chunks ? launch->chunks->active : NULL;
  if (in->guard) ambit__guard_begin(in->guard, launch);
}

void ambit__interpreter_free(ambit__interpreter *in)
{
  free(in->locals);
  free(in->outs);
  ambit__guard_close(in->guard);
}

static ambit__value *out_of(const ambit__interpreter *in, int param, int component)
{
  return &in->outs[in->first_out[param] + component];
}

ambit__value ambit__interpreter_reduced(const ambit__interpreter *in, int param)
{
  return *out_of(in, param, 0);
}

/* ---- memory ---- */

/* A component of a cell of the grid, or the buffer of a parameter bound to a value. */
static unsigned char *place_of(const ambit__interpreter *in, int param, int component,
                               const int64_t *cell)
{
  const ambit__argument *arg = &in->launch->args[param];
  const ambit__layout *l;

  if (!arg->store || !cell) return ambit__host_base(arg->value);
  l = &arg->store->layout;
  for (int d = 0; !in->ghosts && !in->guard && d < l->own.ndims; d++)
    assert(l->dropped >> d & 1 || (cell[d] >= l->own.lo[d] && cell[d] < l->own.hi[d]));
  return ambit__host_base(arg->store->buffer) +
         (size_t)(ambit__layout_at(l, cell) + component * l->component) * ambit_type_size(l->type);
}

/* By the definition: outside the box of the grid, or inactive. */
static bool is_outside(const ambit__interpreter *in, const ambit__expr *e)
{
  int64_t cell[AMBIT_MAX_DIMS];

  for (int d = 0; d < in->launch->box.ndims; d++) {
    cell[d] = in->cell[d] + e->offset[d];
    if (cell[d] < 0 || cell[d] >= in->launch->extents[d]) return true;
  }
  return in->active && !ambit__active_has(in->active, cell);
}

/* Read k of a parameter. */
static ambit__value load(const ambit__interpreter *in, int param, int k, const unsigned char *place)
{
  const ambit_type type = in->rule->params[param].type;

  if (in->guard) ambit__guard_use(in->guard, param, k, place, type);
  return ambit__value_load(place, type);
}

static ambit__value read_field(const ambit__interpreter *in, const ambit__expr *e)
{
  const ambit__launch *launch = in->launch;
  const ambit__argument *arg = &launch->args[e->index];
  const ambit__boundaries *outer = arg->special ? &arg->special[e->component] : arg->boundaries;
  const ambit_type type = in->rule->params[e->index].type;
  int64_t cell[AMBIT_MAX_DIMS], there[AMBIT_MAX_DIMS];
  ambit__value v;
  double constant;
  bool negates = false;
  int k = 0;

  for (int d = 0; d < launch->box.ndims; d++)
    cell[d] = there[d] = in->cell[d] + e->offset[d];
  if (arg->store && !in->ghosts) /* else ghost cells, or adapted rules, have done that */
    negates = ambit__boundaries_negate(outer, launch->box.ndims, launch->extents, cell);
  if (arg->store && (!in->ghosts || in->active) &&
      !ambit__boundaries_map(outer, launch->box.ndims, launch->extents, cell, &constant))
    return ambit__value_of(constant, type);
  if (arg->store && in->active && !ambit__active_has(in->active, cell)) {
    if (outer->inactive != AMBIT_CLAMP) {
      v = ambit__value_of(outer->inactive == AMBIT_CONSTANT ? outer->fill : 0, type);
      if (negates) v.real = -v.real;
      return v;
    }
    for (int d = 0; d < launch->box.ndims; d++)
      cell[d] = in->cell[d];
  }
  if (in->guard) k = ambit__checked_named(&in->rule->params[e->index], e);
  if (in->guard && !ambit__guard_may_read(in->guard, e->index, k, there, cell))
    return (ambit__value){0};
  v = load(in, e->index, k, place_of(in, e->index, e->component, cell));
  if (negates) v.real = -v.real;
  return v;
}

/* The cell where a component is stored. Returns false if it is outside the grid and nothing is
 * stored: the rule tests outside() there. */
static bool find_target(const ambit__interpreter *in, int p, int c, int64_t *cell)
{
  const ambit__launch *l = in->launch;
  const ambit__argument *arg = &l->args[p];
  const ambit__boundaries *outer = arg->special ? &arg->special[c] : arg->boundaries;
  const int *target = ambit__param_target(&in->rule->params[p], c);

  for (int d = 0; d < l->box.ndims; d++) {
    cell[d] = in->cell[d] + target[d];
    if (in->ghosts || !arg->store || !target[d] || (cell[d] >= 0 && cell[d] < l->extents[d]))
      continue;
    if (outer->kind[d][0] != AMBIT_PERIODIC) return false;
    cell[d] = ambit__boundary_map(AMBIT_PERIODIC, l->extents[d], cell[d]);
  }
  return true;
}

/* The variable of a written component; until it is set, the old value of the field. */
static ambit__value read_out(const ambit__interpreter *in, const ambit__expr *e)
{
  const ambit__param *p = &in->rule->params[e->index];
  int64_t cell[AMBIT_MAX_DIMS];

  if (in->guard && p->kind == PARAM_FIELD && p->keeps[e->component] &&
      !ambit__guard_is_set(in->guard, e->index, e->component) &&
      find_target(in, e->index, e->component, cell))
    ambit__guard_use(in->guard, e->index, ambit__checked_old(p, e->component),
                     place_of(in, e->index, e->component, cell), p->type);
  return *out_of(in, e->index, e->component);
}

/* ---- expressions ---- */

static const ambit__interpreter *interpreter_of(const ambit__evaluator *v)
{
  return v->user;
}

static int64_t subscript(const ambit__evaluator *v, const ambit__expr *e)
{
  const int64_t i = ambit__evaluate(v, e).integer;

  return i < 0 && e->type == AMBIT_U64 ? INT64_MAX : i;
}

static ambit__value look_up(const ambit__evaluator *v, const ambit__expr *e)
{
  const int64_t i = subscript(v, e->a), j = e->b ? subscript(v, e->b) : 0;

  return ambit__table_at(&interpreter_of(v)->rule->tables[e->index], i, j);
}

/* The value of an expression that depends on the launch or the cell. */
static ambit__value leaf(const ambit__evaluator *v, const ambit__expr *e)
{
  const ambit__interpreter *in = interpreter_of(v);

  if (e->is_outside && e->op == EXPR_EQ) /* of an adapted rule (kernel/sparse.c) */
    return (ambit__value){.integer = !read_field(in, e->a->a).integer};
  if (e->is_outside) return (ambit__value){.integer = is_outside(in, e)};
  switch (e->op) {
  case EXPR_VALUE: return load(in, e->index, 0, place_of(in, e->index, 0, NULL));
  case EXPR_READ: return read_field(in, e);
  case EXPR_OUT: return read_out(in, e);
  case EXPR_INDEX: return (ambit__value){.integer = in->cell[e->index]};
  case EXPR_EXTENT: return (ambit__value){.integer = in->launch->extents[e->index]};
  case EXPR_STEP: return (ambit__value){.integer = in->launch->step};
  case EXPR_NORMAL: return (ambit__value){.integer = in->rule->normal[e->index]};
  default: return look_up(v, e);
  }
}

static void set_out(const ambit__evaluator *v, const ambit__stmt *s, ambit__value value)
{
  const ambit__interpreter *in = interpreter_of(v);

  *out_of(in, s->index, s->component) = value;
  if (in->guard) ambit__guard_set(in->guard, s);
}

/* With a guard, all reads of generated code must be seen. */
static void run(ambit__interpreter *in)
{
  const ambit__evaluator v = {
      .locals = in->locals, .both = in->guard != NULL, .leaf = leaf, .set = set_out, .user = in};

  ambit__evaluate_all(&v, in->rule->body);
}

/* ---- cells ---- */

/* The old value of a written component; 0 if it may not be read. */
static ambit__value old_value(const ambit__interpreter *in, int p, int c)
{
  const ambit__param *param = &in->rule->params[p];
  int64_t cell[AMBIT_MAX_DIMS];

  if (!find_target(in, p, c, cell) ||
      (in->guard && !ambit__guard_may_read(in->guard, p, ambit__checked_old(param, c), cell, cell)))
    return (ambit__value){0};
  return ambit__value_load(place_of(in, p, c, cell), param->type);
}

/* Sets the variables of a parameter to their values at the start of the cell. */
static void enter(ambit__interpreter *in, int p)
{
  const ambit__param *param = &in->rule->params[p];

  if (param->kind == PARAM_REDUCE) *out_of(in, p, 0) = ambit__reduce_identity(param);
  if (param->kind == PARAM_FIELD && param->is_written)
    for (int c = 0; c < param->components; c++)
      if (param->keeps[c]) *out_of(in, p, c) = old_value(in, p, c);
}

static void leave(ambit__interpreter *in, int p)
{
  const ambit__param *param = &in->rule->params[p];
  int64_t cell[AMBIT_MAX_DIMS];

  if (param->kind == PARAM_FIELD && param->is_written)
    for (int c = 0; c < param->components; c++)
      if (param->writes[c] && find_target(in, p, c, cell) &&
          (!in->guard || ambit__guard_may_write(in->guard, p, c, cell)))
        ambit__value_store(place_of(in, p, c, cell), param->type, *out_of(in, p, c));
}

void ambit__interpret_cell(ambit__interpreter *in)
{
  if (in->guard) ambit__guard_cell(in->guard, in->cell);
  for (int p = 0; p < in->rule->nparams; p++)
    enter(in, p);
  run(in);
  for (int p = 0; in->guard && p < in->rule->nparams; p++)
    for (int c = 0; c < in->rule->params[p].components; c++)
      ambit__guard_test(in->guard, p, c, *out_of(in, p, c));
  for (int p = 0; p < in->rule->nparams; p++)
    leave(in, p);
}
