/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/program/faces.h"
#include "base/number.h"
#include "runtime/program/join.h"

#include <inttypes.h>
#include <string.h>

/* The arguments of a step, with the values of boundaries. */
typedef struct facing {
  ambit__faced how;
  ambit__face_values *faces[AMBIT_MAX_PARAMS]; /* by parameter */
  ambit_arg args[2 * AMBIT_MAX_PARAMS];
  int n; /* of the user's arguments */
} facing;

static bool corrects_along(const ambit_field *f, int axis)
{
  bool any = false;

  for (int c = 0; c < f->components; c++)
    for (int side = 0; side < 2; side++)
      any |= ambit__field_boundaries(f, c)->on[axis][side] != AMBIT_NONE ||
             (f->faces && f->faces[c].from[axis][side]);
  return any;
}

static bool corrects(const ambit_field *f)
{
  bool any = false;

  for (int d = 0; d < f->grid->box.ndims && !any; d++)
    any = corrects_along(f, d);
  return any;
}

/* Whether the step reads neighbours of argument i, whose values beyond faces are corrected. */
static bool is_faced(const ambit__step *s, int i)
{
  return s->kind == STEP_APPLY && s->box.ndims && s->args[i].field &&
         s->kernel->rule->params[i].kind == PARAM_FIELD &&
         s->kernel->rule->params[i].reads_neighbours && corrects(s->args[i].field);
}

bool ambit__step_reads_face(const ambit__step *s, const ambit_scalar *scalar)
{
  for (int i = 0; i < s->n; i++)
    for (int c = 0; is_faced(s, i) && s->args[i].field->faces && c < s->args[i].field->components;
         c++)
      for (int d = 0; d < AMBIT_MAX_DIMS; d++)
        for (int side = 0; side < 2; side++)
          if (s->args[i].field->faces[c].scalar[d][side] == scalar) return true;
  return false;
}

static bool same(const ambit_arg *a, const ambit_arg *b)
{
  return a->kind == b->kind && a->field == b->field && a->scalar == b->scalar &&
         (a->kind != AMBIT_ARG_NUMBER || ambit__number_same(a->number, b->number));
}

/* The number of a value; one that is there already, if possible. */
static int add_value(facing *x, ambit_arg arg, ambit__faced_value value)
{
  for (int i = 0; i < x->how.nvalues; i++)
    if (same(&x->args[x->n + i], &arg) && x->how.values[i].type == value.type) return i;
  if (x->how.nvalues == AMBIT_MAX_PARAMS) return 0; /* ambit__rule_face refuses it */
  x->how.values[x->how.nvalues] = value;
  x->args[x->n + x->how.nvalues] = arg;
  return x->how.nvalues++;
}

static int value_of(facing *x, const ambit_field *f, int c, int d, int side)
{
  ambit_scalar *scalar = f->faces ? f->faces[c].scalar[d][side] : NULL;
  ambit_field *field = f->faces ? f->faces[c].field[d][side] : NULL;
  ambit__faced_value v = {.type = ambit__type_promoted(f->type), .components = 1};

  if (scalar) {
    v.type = scalar->type;
    v.label = scalar->name;
    return add_value(x, ambit_arg_scalar(scalar), v);
  }
  if (field) {
    v = (ambit__faced_value){.is_field = true,
                             .type = field->type,
                             .components = field->components,
                             .lacks = field->dropped};
    v.label = field->name;
    return add_value(x, ambit_arg_field(field), v);
  }
  v.label = "the value of a boundary";
  return add_value(x, ambit_arg_number(ambit__field_boundaries(f, c)->value[d][side]), v);
}

static void set_face(facing *x, const ambit_field *f, int c, int d, int side, ambit__face_value *v)
{
  const ambit__boundaries *b = ambit__field_boundaries(f, c);
  const int from = f->faces ? f->faces[c].from[d][side] : 0;

  *v = (ambit__face_value){.kind = b->on[d][side], .value = -1, .from = from ? from - 1 : c};
  if (v->kind != AMBIT_NONE)
    v->value = value_of(x, f, c, d, side);
  else if (b->kind[d][side] == AMBIT_CONSTANT)
    v->kind = AMBIT_CONSTANT;
}

/* A mirror is one reflection. */
static ambit_status check_reach(const ambit_program *p, const ambit__step *s, int i)
{
  const ambit__param *q = &s->kernel->rule->params[i];

  for (int d = 0; d < p->grid->box.ndims; d++)
    AMBIT_CHECK(!corrects_along(s->args[i].field, d) ||
                    (q->low[d] <= p->grid->box.hi[d] && q->high[d] <= p->grid->box.hi[d]),
                ambit__program_errors(p), AMBIT_EUNSUPPORTED,
                "kernel %s reads field '%s' further away along axis %d than the %" PRId64
                " cells of the grid, which boundaries with values or places of components do not "
                "allow",
                s->kernel->rule->name, s->args[i].field->name, d, p->grid->box.hi[d]);
  AMBIT_CHECK(!q->targets, ambit__program_errors(p), AMBIT_EUNSUPPORTED,
              "kernel %s writes neighbours of field '%s', whose boundary has values or places of "
              "components",
              s->kernel->rule->name, s->args[i].field->name);
  return AMBIT_OK;
}

static ambit_status list_faces(ambit_program *p, const ambit__step *s, int i, facing *x)
{
  const ambit_field *f = s->args[i].field;

  AMBIT_TRY(check_reach(p, s, i));
  AMBIT_HOLD(p, x->faces[i], (size_t)f->components);
  for (int c = 0; c < f->components; c++)
    for (int d = 0; d < AMBIT_MAX_DIMS; d++)
      for (int side = 0; side < 2; side++)
        set_face(x, f, c, d, side, &x->faces[i][c].at[d][side]);
  x->how.faces[i] = x->faces[i];
  return AMBIT_OK;
}

/* Replaces the kernel and the arguments of a step. */
static ambit_status face(ambit_program *p, ambit__step *s)
{
  facing *x;
  ambit__step *user;
  ambit__rule *rule;
  ambit_kernel *kernel;

  AMBIT_CHECK(!ambit__step_is_registered(p, s), ambit__program_errors(p), AMBIT_EUNSUPPORTED,
              "kernel %s is code of the user, which cannot correct values at a boundary; use "
              "another kind of boundary, or unregister it",
              s->kernel->rule->name);
  AMBIT_HOLD(p, user, 1);
  AMBIT_HOLD(p, x, 1);
  *user = *s;
  x->how.ndims = p->grid->box.ndims;
  x->n = s->n;
  memcpy(x->args, s->args, (size_t)s->n * sizeof *s->args);
  for (int i = 0; i < s->n; i++)
    if (is_faced(s, i)) AMBIT_TRY(list_faces(p, s, i, x));
  AMBIT_TRY(ambit__rule_face(ambit__program_errors(p), s->kernel->rule, &x->how, &rule));
  kernel = ambit__kernel_adopt(p->grid->context, rule);
  if (!kernel) return ambit__program_errors(p)->status;
  s->user = user;
  s->kernel = s->bound = kernel;
  s->args = x->args;
  s->n += x->how.nvalues;
  return AMBIT_OK;
}

ambit_status ambit__program_face(ambit_program *p)
{
  if (p->lean_of || p->broken) return AMBIT_OK; /* the steps of a lean form are corrected */
  for (size_t i = 0; i < p->nwritten; i++) {
    bool any = false;

    for (int k = 0; k < p->written[i].n; k++)
      any |= is_faced(&p->written[i], k);
    if (any) AMBIT_TRY(face(p, &p->written[i]));
  }
  return AMBIT_OK;
}

void ambit__program_unface(ambit_program *p)
{
  for (size_t i = 0; i < p->nwritten; i++) {
    ambit__step *s = &p->written[i];

    if (s->user) ambit__kernel_free(s->bound);
    *s = ambit__program_written(p, i);
  }
}

ambit__step ambit__program_written(const ambit_program *p, size_t step)
{
  const ambit__step *now = &p->written[step];
  ambit__step s = now->user ? *now->user : *now;

  s.every = now->every;
  return s;
}
