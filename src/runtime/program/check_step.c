/* SPDX-License-Identifier: BSD-3-Clause */
/* check_step.c - checks steps: their arguments when they are appended, their reads and writes when
 * the boundaries are known. */
#include "runtime/program/program.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ambit_status ambit__step_raise_at(const ambit_program *p, const ambit__rule *rule,
                                  ambit__place place, const char *message, ...)
{
  char line[1024], *text;
  ambit_status s;
  va_list args;

  va_start(args, message);
  vsnprintf(line, sizeof line, message, args);
  va_end(args);
  text = ambit__rule_message(rule, place, line);
  s = ambit__raise(ambit__program_errors(p), AMBIT_EPROGRAM, "%s", text ? text : line);
  free(text);
  return s;
}

static ambit_status check_type(const ambit_program *p, const ambit__rule *rule,
                               const ambit__param *q, const char *what, const char *name,
                               ambit_type type)
{
  AMBIT_CHECK(q->type == type, ambit__program_errors(p), AMBIT_EINVAL,
              "kernel %s: parameter '%s' is %s, but %s '%s' is %s", rule->name, q->label,
              ambit_type_name(q->type), what, name, ambit_type_name(type));
  return AMBIT_OK;
}

static ambit_status check_field_argument(const ambit_program *p, const ambit__rule *rule,
                                         const ambit__param *q, const ambit_arg *arg)
{
  const ambit_field *f = arg->field;

  AMBIT_CHECK(f, ambit__program_errors(p), AMBIT_EINVAL,
              "kernel %s: the field for parameter '%s' is NULL", rule->name, q->label);
  AMBIT_CHECK(q->kind == PARAM_FIELD, ambit__program_errors(p), AMBIT_EINVAL,
              "kernel %s: parameter '%s' takes a %s, but field '%s' was given", rule->name,
              q->label, q->kind == PARAM_VALUE ? "number or a scalar" : "scalar", f->name);
  AMBIT_CHECK(!q->is_folded || f->dropped, ambit__program_errors(p), AMBIT_EINVAL,
              "kernel %s: parameter '%s' takes a scalar or a field of fewer axes "
              "(ambit_field_create_on), but field '%s' was given",
              rule->name, q->label, f->name);
  AMBIT_CHECK(f->grid == p->grid, ambit__program_errors(p), AMBIT_EINVAL,
              "kernel %s: field '%s' belongs to another grid than the program", rule->name,
              f->name);
  AMBIT_TRY(check_type(p, rule, q, "field", f->name, f->type));
  AMBIT_CHECK(!f->base || !q->reads_neighbours, ambit__program_errors(p), AMBIT_EPROGRAM,
              "kernel %s reads field '%s' at neighbours, and it is a view of every second cell of "
              "'%s': views are read at the cell itself only",
              rule->name, f->name, f->base ? f->base->name : "");
  AMBIT_CHECK(ambit__param_width(q) == f->components, ambit__program_errors(p), AMBIT_EINVAL,
              "kernel %s: parameter '%s' has %d component%s, but field '%s' has %d", rule->name,
              q->label, ambit__param_width(q), ambit__param_width(q) == 1 ? "" : "s", f->name,
              f->components);
  return AMBIT_OK;
}

static ambit_status check_scalar_argument(const ambit_program *p, const ambit__rule *rule,
                                          const ambit__param *q, const ambit_arg *arg, bool once)
{
  AMBIT_CHECK(arg->scalar, ambit__program_errors(p), AMBIT_EINVAL,
              "kernel %s: the scalar for parameter '%s' is NULL", rule->name, q->label);
  AMBIT_CHECK(arg->scalar->context == p->grid->context, ambit__program_errors(p), AMBIT_EINVAL,
              "kernel %s: scalar '%s' belongs to another context", rule->name, arg->scalar->name);
  AMBIT_CHECK(q->kind != PARAM_REDUCE || (!q->bins && q->components == 1), ambit__program_errors(p),
              AMBIT_EINVAL,
              "kernel %s: parameter '%s' has %s: it takes a field on fewer axes with %d components "
              "(ambit_field_create_vector_on), but scalar '%s' was given",
              rule->name, q->label, q->bins ? "computed subscripts" : "more values than arguments",
              ambit__param_width(q), arg->scalar->name);
  AMBIT_CHECK(!q->reads_neighbours && !q->is_vector, ambit__program_errors(p), AMBIT_EINVAL,
              "kernel %s: parameter '%s' is read like a field, but scalar '%s' was given",
              rule->name, q->label, arg->scalar->name);
  AMBIT_CHECK(once || q->kind != PARAM_FIELD || !q->is_written, ambit__program_errors(p),
              AMBIT_EINVAL,
              "kernel %s runs on every cell and writes '%s', but scalar '%s' was given: say how "
              "the cells are "
              "combined, with sum, min or max before the parameter",
              rule->name, q->label, arg->scalar->name);
  return check_type(p, rule, q, "scalar", arg->scalar->name, arg->scalar->type);
}

static ambit_status check_number_argument(const ambit_program *p, const ambit__rule *rule,
                                          const ambit__param *q, double number)
{
  AMBIT_CHECK(
      q->kind != PARAM_REDUCE, ambit__program_errors(p), AMBIT_EINVAL,
      "kernel %s: parameter '%s' is a %s: it takes a scalar to put the result in, not a number",
      rule->name, q->label, ambit__reduce_name(q->reduce));
  AMBIT_CHECK(q->kind == PARAM_VALUE, ambit__program_errors(p), AMBIT_EINVAL,
              "kernel %s: parameter '%s' is a pointer: it takes a field, not a number", rule->name,
              q->label);
  return ambit__value_check(ambit__program_errors(p), number, q->type,
                            ", or declare the parameter double", "kernel %s: parameter '%s'",
                            rule->name, q->label);
}

static ambit_status check_arguments(const ambit_program *p, const ambit__step *s)
{
  const ambit__rule *rule = s->kernel->rule;

  for (int i = 0; i < s->n; i++) {
    const ambit__param *q = &rule->params[i];

    AMBIT_CHECK(s->args[i].kind != AMBIT_ARG_TABLE, ambit__program_errors(p), AMBIT_EINVAL,
                "kernel %s: parameter '%s' is not a table, but a table was given", rule->name,
                q->label);
    if (s->args[i].kind == AMBIT_ARG_FIELD)
      AMBIT_TRY(check_field_argument(p, rule, q, &s->args[i]));
    else if (s->args[i].kind == AMBIT_ARG_SCALAR)
      AMBIT_TRY(check_scalar_argument(p, rule, q, &s->args[i], s->box.ndims == 0));
    else
      AMBIT_TRY(check_number_argument(p, rule, q, s->args[i].number));
  }
  return AMBIT_OK;
}

static ambit_status check_dimensions(const ambit_program *p, const ambit__step *s)
{
  const ambit__rule *rule = s->kernel->rule;

  AMBIT_CHECK(!rule->ndims || rule->ndims == p->grid->box.ndims || !s->box.ndims,
              ambit__program_errors(p), AMBIT_EINVAL,
              "kernel %s is written for %d dimension%s, but the grid has %d", rule->name,
              rule->ndims, rule->ndims == 1 ? "" : "s", p->grid->box.ndims);
  AMBIT_CHECK(rule->max_axis < s->box.ndims, ambit__program_errors(p), AMBIT_EINVAL,
              "kernel %s uses axis %d; %s", rule->name, rule->max_axis,
              s->box.ndims ? "the grid has fewer" : "it runs once, on scalars, and has no cell");
  return AMBIT_OK;
}

/* Two parameters that write the same object would depend on the order of stores. */
static ambit_status check_writers(const ambit_program *p, const ambit__step *s)
{
  const ambit__rule *rule = s->kernel->rule;

  for (int i = 0; i < s->n; i++)
    for (int j = 0; j < i; j++) {
      const ambit__param *a = &rule->params[j], *b = &rule->params[i];
      bool same = (s->args[i].field && s->args[i].field == s->args[j].field) ||
                  (s->args[i].scalar && s->args[i].scalar == s->args[j].scalar);
      bool both =
          (a->is_written || a->kind == PARAM_REDUCE) && (b->is_written || b->kind == PARAM_REDUCE);

      AMBIT_CHECK(!same || !both, ambit__program_errors(p), AMBIT_EPROGRAM,
                  "kernel %s: parameters '%s' and '%s' both write the same %s", rule->name,
                  a->label, b->label, s->args[i].field ? "field" : "scalar");
    }
  return AMBIT_OK;
}

ambit_status ambit__step_check(const ambit_program *p, const ambit__step *s)
{
  AMBIT_TRY(check_arguments(p, s));
  AMBIT_TRY(check_dimensions(p, s));
  AMBIT_TRY(check_writers(p, s));
  return ambit__step_check_reductions(p, s);
}

ambit__box ambit__step_region(const ambit_program *p, const ambit__step *s)
{
  const ambit__rule *rule = s->kernel->rule;
  ambit__box region = s->box, free_cells = p->grid->box;

  for (int i = 0; i < s->n; i++) {
    const ambit_field *f = s->args[i].field;
    const ambit__param *q = &rule->params[i];

    for (int d = 0; f && d < region.ndims; d++) {
      int64_t lo = q->low[d], hi = p->grid->box.hi[d] - q->high[d];

      if (f->boundaries.kind[d][0] == AMBIT_FIXED && lo > free_cells.lo[d]) free_cells.lo[d] = lo;
      if (f->boundaries.kind[d][1] == AMBIT_FIXED && hi < free_cells.hi[d]) free_cells.hi[d] = hi;
    }
  }
  return region.ndims ? ambit__box_intersect(&region, &free_cells) : region;
}

/* The argument with which the step writes the field of argument i; -1: it does not. */
static int writer_of(const ambit__step *s, int i)
{
  for (int j = 0; j < s->n; j++)
    if (s->args[j].field == s->args[i].field && s->kernel->rule->params[j].is_written) return j;
  return -1;
}

static bool overlap(int64_t lo, int64_t hi, int64_t from, int64_t to)
{
  return lo < to && from < hi;
}

/* Whether reads at a distance along one axis can hit an index that the region has. */
static bool meets_along(const ambit_field *f, const ambit__box *region, int d, int64_t n,
                        int64_t distance)
{
  const int64_t from = region->lo[d], to = region->hi[d], lo = from + distance, hi = to + distance;

  for (int side = 0; side < 2; side++) {
    const ambit_boundary kind = f->boundaries.kind[d][side];

    if ((side ? hi <= n : lo >= 0) || (kind == AMBIT_CONSTANT && !f->special)) continue;
    if (kind != AMBIT_PERIODIC || f->special || distance > n || distance < -n) return true;
    if (side ? overlap(0, hi - n, from, to) : overlap(lo + n, n, from, to)) return true;
  }
  return overlap(lo, hi, from, to);
}

/* Whether a read at `offset` from a cell of `region` can hit a cell that the step writes. */
static bool meets_writes(const ambit_program *p, const ambit_field *f, const ambit__box *region,
                         const int *offset)
{
  for (int d = 0; d < region->ndims; d++)
    if (!meets_along(f, region, d, p->grid->box.hi[d], offset[d])) return false;
  return true;
}

/* Whether the boundary of an axis shows a cell with an odd index where there would be one. */
static bool keeps_colour(const ambit_program *p, const ambit_field *f, int component, int axis,
                         int side)
{
  const ambit_boundary kind = ambit__field_boundaries(f, component)->kind[axis][side];
  const int64_t extent = p->grid->box.hi[axis];

  if (kind == AMBIT_PERIODIC) return extent % 2 == 0;
  if (kind == AMBIT_REFLECT) return extent > 1;
  return kind == AMBIT_NONE || kind == AMBIT_CONSTANT || kind == AMBIT_FIXED;
}

/* Whether a step writes cells of one colour and a read is of the other. If it writes such cells,
 * and is not, `why` is the reason. */
static bool reads_other_colour(const ambit_program *p, const ambit__step *s, int writer,
                               const ambit__read *r, const char **why)
{
  const ambit_field *f = s->args[writer].field;
  unsigned axes;
  int distance = 0;

  *why = NULL;
  if (!ambit__rule_colour(s->kernel->rule, writer, &axes)) return false;
  for (int d = 0; d < p->grid->box.ndims; d++) {
    if (!(axes >> d & 1)) continue;
    distance += r->offset[d];
    if (r->offset[d] && !keeps_colour(p, f, r->component, d, r->offset[d] > 0))
      *why = "beyond the boundary there may be cells of the same colour. With this boundary, write "
             "to a second field and swap the two";
  }
  if (!(distance & 1))
    *why = "the kernel writes cells of one colour, and this cell has the same colour. Use more "
           "colours, or write to a second field and swap the two";
  return !*why;
}

/* Whether a read is of the variable with which the step writes the value, or of no value that it
 * writes. */
static bool is_apart(const ambit_program *p, const ambit__step *s, int arg, int writer,
                     const ambit__read *r, const ambit__box *region)
{
  const ambit__param *w = &s->kernel->rule->params[writer];
  const int *target = ambit__param_target(w, r->component);

  if (arg == writer && !memcmp(r->offset, target, sizeof r->offset)) return true;
  if (ambit__param_spreads(w, r->component)) return false;
  return ambit__offset_is_zero(r->offset) ||
         !meets_writes(p, s->args[arg].field, region, r->offset);
}

static bool is_in_place(const ambit_program *p, const ambit__step *s, int arg,
                        const ambit__box *region)
{
  const ambit__param *q = &s->kernel->rule->params[arg];

  if (q->targets) return true;
  for (int k = 0; s->args[arg].field && writer_of(s, arg) >= 0 && k < q->nreads; k++)
    if (!ambit__offset_is_zero(q->reads[k].offset) &&
        meets_writes(p, s->args[arg].field, region, q->reads[k].offset))
      return true;
  return false;
}

bool ambit__step_is_in_place(const ambit_program *p, const ambit__step *s)
{
  ambit__box region;

  if (s->kind != STEP_APPLY || !s->box.ndims) return false;
  region = ambit__step_region(p, s);
  for (int i = 0; i < s->n; i++)
    if (is_in_place(p, s, i, &region)) return true;
  return false;
}

ambit_status ambit__step_check_reads(const ambit_program *p, const ambit__step *s,
                                     const ambit__box *region)
{
  const ambit__rule *rule = s->kernel->rule;

  for (int i = 0; i < s->n; i++) {
    const ambit__param *q = &rule->params[i];
    const ambit_field *f = s->args[i].field;
    const int writer = f ? writer_of(s, i) : -1;
    const char *why;

    if (writer < 0) continue;
    for (int k = 0; k < q->nreads; k++) {
      if (is_apart(p, s, i, writer, &q->reads[k], region) ||
          reads_other_colour(p, s, writer, &q->reads[k], &why))
        continue;
      if (ambit__param_spreads(&rule->params[writer], q->reads[k].component))
        why =
            "it is written at another neighbour, and read by another parameter. Write to a second "
            "field and swap the two";
      return ambit__step_raise_at(
          p, rule, q->reads[k].place,
          "field '%s' is read at a neighbour and written in the same step: %s", f->name,
          why ? why
              : "whether the neighbour is old or new would depend on the order of cells. Write "
                "to a second field and swap the two");
    }
  }
  return AMBIT_OK;
}

/* The first read of parameter q that leaves the grid through a face; NULL: none. */
static const ambit__read *leaving(const ambit__param *q, const ambit__box *region,
                                  const ambit__box *grid, int axis, int side)
{
  for (int k = 0; k < q->nreads; k++) {
    int64_t o = q->reads[k].offset[axis];

    if (side == 0 ? region->lo[axis] + o < 0 : region->hi[axis] - 1 + o >= grid->hi[axis])
      return &q->reads[k];
  }
  return NULL;
}

/* All reads through this face are under outside(), so their values do not matter. Constant ghost
 * cells are filled once and cost nothing afterwards. */
static void imply_boundary(ambit_field *f, int axis, int side)
{
  f->boundaries.kind[axis][side] = AMBIT_CONSTANT;
  f->boundaries.value[axis][side] = 0;
  for (int c = 0; f->special && c < f->components; c++) {
    f->special[c].kind[axis][side] = AMBIT_CONSTANT;
    f->special[c].value[axis][side] = 0;
  }
  f->is_implied[axis][side] = true;
}

ambit_status ambit__step_check_faces(const ambit_program *p, const ambit__step *s,
                                     const ambit__box *region)
{
  const ambit__rule *rule = s->kernel->rule;

  for (int i = 0; i < s->n; i++)
    for (int d = 0; s->args[i].field && d < region->ndims; d++)
      for (int side = 0; side < 2; side++) {
        ambit_field *f = s->args[i].field;
        const ambit__read *r = leaving(&rule->params[i], region, &p->grid->box, d, side);

        if (!r || (f->boundaries.kind[d][side] != AMBIT_NONE && !f->is_implied[d][side])) continue;
        if (!rule->params[i].crosses[d][side]) {
          imply_boundary(f, d, side);
          continue;
        }
        AMBIT_CHECK(!s->chore, ambit__program_errors(p), AMBIT_EPROGRAM,
                    "a function of the user reads around the cells of field '%s' "
                    "(AMBIT_AROUND), also outside the grid, through the %s face of axis %d, and no "
                    "boundary is declared there. Declare one: ambit_field_boundary(%s, "
                    "AMBIT_%s(%d), ...)",
                    f->name, side ? "high" : "low", d, f->name, side ? "HIGH" : "LOW", d);
        return ambit__step_raise_at(
            p, rule, r->place,
            "this reads field '%s' outside the grid, through the %s face of axis %d, and no "
            "boundary is declared there. Declare one: ambit_field_boundary(%s, AMBIT_%s(%d), ...), "
            "or test outside() first",
            f->name, side ? "high" : "low", d, f->name, side ? "HIGH" : "LOW", d);
      }
  return AMBIT_OK;
}
