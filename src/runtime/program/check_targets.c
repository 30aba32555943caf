/* SPDX-License-Identifier: BSD-3-Clause */
/* check_targets.c - checks steps that write fields at neighbours (docs/design/0020-in-place.md). */
#include "runtime/program/program.h"

/* Whether the step writes component c of a parameter through a face of the grid. */
static bool leaves(const ambit_program *p, const ambit__param *q, int c, const ambit__box *region,
                   int axis, int side)
{
  const int o = ambit__param_target(q, c)[axis];

  return side == 0 ? region->lo[axis] + o < 0 : region->hi[axis] - 1 + o >= p->grid->box.hi[axis];
}

static ambit__place place_of(const ambit__param *q, int c)
{
  int k = 0;

  while (q->reads[k].component != c) /* a component that spreads has one read, at its target */
    k++;
  return q->reads[k].place;
}

/* Why a step cannot write beyond a face; NULL: it can. */
static const char *refusal(const ambit_program *p, const ambit__param *q, const ambit_field *f,
                           int c, const ambit__box *region, int axis, int side)
{
  const ambit_boundary kind = ambit__field_boundaries(f, c)->kind[axis][side];

  if (kind == AMBIT_FIXED && ambit__param_target(q, c)[axis])
    return "the boundary is fixed, and neighbours of these cells write them. Test outside() "
           "instead";
  if (kind == AMBIT_PERIODIC || !leaves(p, q, c, region, axis, side) || !q->crosses[axis][side])
    return NULL;
  return "values can leave the grid only where it is periodic. Make it periodic, or test outside() "
         "around this";
}

static ambit_status check_component(const ambit_program *p, const ambit__step *s, int arg, int c,
                                    const ambit__box *region)
{
  const ambit__param *q = &s->kernel->rule->params[arg];
  const ambit_field *f = s->args[arg].field;

  for (int d = 0; d < region->ndims; d++)
    for (int side = 0; side < 2; side++) {
      const char *why = refusal(p, q, f, c, region, d, side);

      if (why)
        return ambit__step_raise_at(
            p, s->kernel->rule, place_of(q, c),
            "field '%s' is written at neighbours, through the %s face of axis %d: %s", f->name,
            side ? "high" : "low", d, why);
    }
  return AMBIT_OK;
}

ambit_status ambit__step_check_targets(const ambit_program *p, const ambit__step *s,
                                       const ambit__box *region)
{
  const ambit__rule *rule = s->kernel->rule;

  for (int i = 0; i < s->n; i++) {
    const ambit_field *f = s->args[i].field;

    if (!rule->params[i].targets) continue;
    AMBIT_CHECK(!p->grid->active, ambit__program_errors(p), AMBIT_EUNSUPPORTED,
                "kernel %s writes field '%s' at neighbours: this is not possible on sparse grids. "
                "Write to a second field and swap the two",
                rule->name, f->name);
    AMBIT_CHECK(f->asked == AMBIT_SOA, ambit__program_errors(p), AMBIT_EUNSUPPORTED,
                "kernel %s writes field '%s' at neighbours, so its order must be AMBIT_SOA",
                rule->name, f->name);
    for (int c = 0; c < f->components; c++)
      if (ambit__param_spreads(&rule->params[i], c)) AMBIT_TRY(check_component(p, s, i, c, region));
  }
  return AMBIT_OK;
}
