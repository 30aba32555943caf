/* SPDX-License-Identifier: BSD-3-Clause */
/* field_boundary.c - the boundaries of fields, and of single components. */
#include "base/memory.h"
#include "runtime/objects/objects.h"

#include <stdlib.h>
#include <string.h>

const ambit__boundaries *ambit__field_boundaries(const ambit_field *f, int component)
{
  return f->special ? &f->special[component] : &f->boundaries;
}

ambit_status ambit__field_copy_boundaries(ambit_field *to, const ambit_field *from)
{
  for (int c = 0; from->faces && c < from->components; c++)
    for (int d = 0; d < from->grid->box.ndims; d++)
      for (int side = 0; side < 2; side++)
        AMBIT_CHECK(!from->faces[c].scalar[d][side] && !from->faces[c].field[d][side],
                    ambit__field_errors(to), AMBIT_EUNSUPPORTED,
                    "field '%s' has a boundary whose value is a scalar or a field, which streams "
                    "do not have",
                    from->name);
  if (from->faces) {
    AMBIT_NEW(ambit__field_errors(to), to->faces, (size_t)from->components);
    memcpy(to->faces, from->faces, (size_t)from->components * sizeof *from->faces);
  }
  to->boundaries = from->boundaries;
  if (!from->special) return AMBIT_OK;
  AMBIT_NEW(ambit__field_errors(to), to->special, (size_t)from->components);
  memcpy(to->special, from->special, (size_t)from->components * sizeof *from->special);
  return AMBIT_OK;
}

static ambit_status check_kind(const ambit_field *f, ambit_boundary kind)
{
  AMBIT_CHECK(kind >= AMBIT_NONE && kind <= AMBIT_NEUMANN, ambit__field_errors(f), AMBIT_EINVAL,
              "field '%s': %d is not a kind of boundary", f->name, (int)kind);
  AMBIT_CHECK(kind < AMBIT_ANTISYMMETRIC || ambit__type_is_real(f->type), ambit__field_errors(f),
              AMBIT_EINVAL, "field '%s' is %s; only fields of real numbers can be %s at a face",
              f->name, ambit_type_name(f->type), ambit__boundary_name(kind));
  return AMBIT_OK;
}

static ambit_status check_faces(const ambit_field *f, unsigned faces)
{
  char asked[120];

  AMBIT_CHECK(!(faces & AMBIT_INACTIVE), ambit__field_errors(f), AMBIT_EINVAL,
              "field '%s': AMBIT_INACTIVE was combined with faces; set it with a call of its own",
              f->name);
  ambit__faces_print(faces, asked, sizeof asked);
  AMBIT_CHECK(faces && ambit__faces_fit(faces, f->grid->box.ndims), ambit__field_errors(f),
              AMBIT_EINVAL,
              "field '%s': a boundary was set at %s, and the grid has %d %s: give AMBIT_LOW(0), "
              "AMBIT_AXIS(0), AMBIT_ALL_FACES, ...",
              f->name, asked, f->grid->box.ndims, f->grid->box.ndims == 1 ? "axis" : "axes");
  return AMBIT_OK;
}

static ambit_status check_inactive(const ambit_field *f, ambit_boundary kind)
{
  AMBIT_CHECK(kind == AMBIT_NONE || kind == AMBIT_CONSTANT || kind == AMBIT_CLAMP,
              ambit__field_errors(f), AMBIT_EINVAL,
              "field '%s': inactive cells cannot be %s; they can be AMBIT_NONE, AMBIT_CONSTANT or "
              "AMBIT_CLAMP",
              f->name, ambit__boundary_name(kind));
  return AMBIT_OK;
}

/* The value of a constant face, or of inactive cells. */
static ambit_status check_value(const ambit_field *f, ambit_boundary kind, double value)
{
  if (kind != AMBIT_CONSTANT) return AMBIT_OK;
  return ambit__value_check(ambit__field_errors(f), value, f->type, "",
                            "a cell outside of field '%s'", f->name);
}

/* What a face, or inactive cells, get. */
typedef struct setting {
  ambit_boundary kind;
  double value;
  ambit_scalar *scalar; /* in place of the value; NULL: none, like the next one */
  ambit_field *field;
} setting;

/* Sets faces, or inactive cells; either struct may be NULL. */
static void set_faces(ambit__boundaries *b, ambit__face *objects, int ndims, unsigned faces,
                      const setting *s)
{
  const bool corrects = s->kind == AMBIT_DIRICHLET || s->kind == AMBIT_NEUMANN;

  if (b && faces == AMBIT_INACTIVE) {
    b->inactive = s->kind;
    b->fill = s->value;
  }
  for (int d = 0; d < ndims; d++)
    for (int side = 0; side < 2; side++) {
      if (!(faces & AMBIT_FACE(d, side))) continue;
      if (b) {
        b->kind[d][side] = corrects ? AMBIT_SYMMETRIC : s->kind;
        b->on[d][side] = corrects || s->scalar || s->field ? s->kind : AMBIT_NONE;
        b->value[d][side] = corrects || s->kind == AMBIT_CONSTANT ? s->value : 0;
      }
      if (objects) {
        objects->scalar[d][side] = s->scalar;
        objects->field[d][side] = s->field;
        objects->from[d][side] = 0;
      }
    }
}

/* Of components first .. end - 1. */
static void set_components(ambit_field *f, int first, int end, unsigned faces, const setting *s)
{
  for (int c = first; c < end; c++)
    set_faces(f->special ? &f->special[c] : NULL, f->faces ? &f->faces[c] : NULL,
              f->grid->box.ndims, faces, s);
}

/* Of the field and all components. */
static void set_all(ambit_field *f, unsigned faces, const setting *s)
{
  set_faces(&f->boundaries, NULL, f->grid->box.ndims, faces, s);
  set_components(f, 0, f->components, faces, s);
}

static ambit_status set(ambit_field *f, unsigned faces, setting s)
{
  AMBIT_TRY(check_kind(f, s.kind));
  AMBIT_TRY(check_value(f, s.kind, s.value));
  AMBIT_TRY(faces == AMBIT_INACTIVE ? check_inactive(f, s.kind) : check_faces(f, faces));
  set_all(f, faces, &s);
  for (int d = 0; d < f->grid->box.ndims; d++)
    for (int side = 0; side < 2; side++)
      if (faces & AMBIT_FACE(d, side)) f->is_implied[d][side] = false;
  ambit__grid_changed(f->grid);
  return AMBIT_OK;
}

/* ---- components ---- */

/* Kinds that decide which cells a step updates, or which processes exchange messages, are those of
 * the whole field. */
static bool is_of_the_field(ambit_boundary kind)
{
  return kind == AMBIT_NONE || kind == AMBIT_FIXED || kind == AMBIT_PERIODIC;
}

static ambit_status check_component(const ambit_field *f, int component, ambit_boundary kind)
{
  AMBIT_TRY(check_kind(f, kind));
  AMBIT_CHECK(component >= 0 && component < f->components, ambit__field_errors(f), AMBIT_EINVAL,
              "field '%s' has %d component%s, and the boundary of component %d was set", f->name,
              f->components, f->components == 1 ? "" : "s", component);
  AMBIT_CHECK(!is_of_the_field(kind), ambit__field_errors(f), AMBIT_EINVAL,
              "field '%s': a component alone cannot be %s at a face; set it for the field, with "
              "ambit_field_boundary",
              f->name, ambit__boundary_name(kind));
  AMBIT_CHECK(f->asked == AMBIT_SOA, ambit__field_errors(f), AMBIT_EUNSUPPORTED,
              "field '%s': components have boundaries of their own only in fields of order "
              "AMBIT_SOA",
              f->name);
  return AMBIT_OK;
}

static ambit_status check_component_faces(const ambit_field *f, unsigned faces)
{
  AMBIT_TRY(check_faces(f, faces));
  for (int d = 0; d < f->grid->box.ndims; d++)
    for (int side = 0; side < 2; side++) {
      const ambit_boundary now = f->is_implied[d][side] ? AMBIT_NONE : f->boundaries.kind[d][side];

      AMBIT_CHECK(!(faces & AMBIT_FACE(d, side)) || !is_of_the_field(now), ambit__field_errors(f),
                  AMBIT_EINVAL,
                  "the boundary of field '%s' at the %s face of axis %d is %s; set another kind "
                  "with ambit_field_boundary first, then that of the component",
                  f->name, side ? "high" : "low", d, ambit__boundary_name(now));
    }
  return AMBIT_OK;
}

/* On dense grids it has no effect. */
static ambit_status check_component_inactive(const ambit_field *f, ambit_boundary kind)
{
  AMBIT_TRY(check_inactive(f, kind));
  AMBIT_CHECK(f->boundaries.inactive != AMBIT_NONE, ambit__field_errors(f), AMBIT_EINVAL,
              "the boundary of field '%s' at inactive cells is none; set another kind with "
              "ambit_field_boundary first, then that of the component",
              f->name);
  return AMBIT_OK;
}

ambit_status ambit_field_boundary_component(ambit_field *f, int component, unsigned faces,
                                            ambit_boundary kind, double value)
{
  if (ambit__field_failed(f)) return ambit__field_status(f);
  AMBIT_TRY(check_component(f, component, kind));
  AMBIT_TRY(check_value(f, kind, value));
  AMBIT_TRY(faces == AMBIT_INACTIVE ? check_component_inactive(f, kind)
                                    : check_component_faces(f, faces));
  if (!f->special) {
    AMBIT_NEW(ambit__field_errors(f), f->special, (size_t)f->components);
    for (int c = 0; c < f->components; c++)
      f->special[c] = f->boundaries;
  }
  set_components(f, component, component + 1, faces, &(setting){.kind = kind, .value = value});
  ambit__grid_changed(f->grid);
  return AMBIT_OK;
}

/* ---- values that change ---- */

static ambit_status need_faces(ambit_field *f)
{
  if (!f->faces)
    f->faces = ambit__new(ambit__field_errors(f), (size_t)f->components, sizeof *f->faces);
  return f->faces ? AMBIT_OK : AMBIT_ENOMEM;
}

static ambit_status set_value(ambit_field *f, unsigned faces, ambit_boundary kind,
                              ambit_scalar *scalar, ambit_field *field)
{
  AMBIT_CHECK(kind == AMBIT_CONSTANT || kind == AMBIT_DIRICHLET || kind == AMBIT_NEUMANN,
              ambit__field_errors(f), AMBIT_EINVAL,
              "field '%s': a boundary that is %s has no value; give AMBIT_CONSTANT, "
              "AMBIT_DIRICHLET or AMBIT_NEUMANN",
              f->name, ambit__boundary_name(kind));
  AMBIT_CHECK(!(faces & AMBIT_INACTIVE), ambit__field_errors(f), AMBIT_EINVAL,
              "field '%s': the value of inactive cells is a number", f->name);
  AMBIT_TRY(need_faces(f));
  return set(f, faces, (setting){.kind = kind, .scalar = scalar, .field = field});
}

static ambit_status set_scalar(ambit_field *f, unsigned faces, ambit_boundary kind,
                               ambit_scalar *value)
{
  AMBIT_CHECK(value && value->context == f->grid->context, ambit__field_errors(f), AMBIT_EINVAL,
              "field '%s': the value of its boundary is %s", f->name,
              value ? "a scalar of another context" : "NULL");
  return set_value(f, faces, kind, value, NULL);
}

static ambit_status set_field(ambit_field *f, unsigned faces, ambit_boundary kind,
                              ambit_field *value)
{
  AMBIT_CHECK(value && value->grid == f->grid && value != f, ambit__field_errors(f), AMBIT_EINVAL,
              "field '%s': the value of its boundary is %s; give another field of its grid",
              f->name,
              !value       ? "NULL"
              : value == f ? "the field itself"
                           : "of another grid");
  AMBIT_CHECK(value->components == 1 || value->components == f->components, ambit__field_errors(f),
              AMBIT_EINVAL,
              "field '%s' has %d component%s, and the value of its boundary, '%s', has %d; it can "
              "have 1 or as many",
              f->name, f->components, f->components == 1 ? "" : "s", value->name,
              value->components);
  return set_value(f, faces, kind, NULL, value);
}

ambit_status ambit_field_boundary_arg(ambit_field *f, unsigned faces, ambit_boundary kind,
                                      ambit_arg value)
{
  if (ambit__field_failed(f)) return ambit__field_status(f);
  if (value.kind == AMBIT_ARG_NUMBER)
    return set(f, faces, (setting){.kind = kind, .value = value.number});
  if (value.kind == AMBIT_ARG_SCALAR) return set_scalar(f, faces, kind, value.scalar);
  AMBIT_CHECK(value.kind == AMBIT_ARG_FIELD, ambit__field_errors(f), AMBIT_EINVAL,
              "field '%s': the value of a boundary is a number, a scalar or a field", f->name);
  return set_field(f, faces, kind, value.field);
}

ambit_status ambit_field_boundary_permuted(ambit_field *f, unsigned faces, ambit_boundary kind,
                                           const int *from)
{
  if (ambit__field_failed(f)) return ambit__field_status(f);
  AMBIT_CHECK(kind == AMBIT_SYMMETRIC || kind == AMBIT_REFLECT, ambit__field_errors(f),
              AMBIT_EINVAL,
              "field '%s': components change places in a mirror, AMBIT_SYMMETRIC or AMBIT_REFLECT, "
              "not where it is %s",
              f->name, ambit__boundary_name(kind));
  AMBIT_CHECK(from, ambit__field_errors(f), AMBIT_EINVAL,
              "field '%s': the list of components is NULL", f->name);
  for (int c = 0; c < f->components; c++) {
    AMBIT_CHECK(from[c] >= 0 && from[c] < f->components, ambit__field_errors(f), AMBIT_EINVAL,
                "field '%s' has components 0 to %d, and number %d of the list is %d", f->name,
                f->components - 1, c, from[c]);
    for (int k = 0; k < c; k++)
      AMBIT_CHECK(from[k] != from[c], ambit__field_errors(f), AMBIT_EINVAL,
                  "field '%s': numbers %d and %d of the list are both %d; components that change "
                  "places appear once each",
                  f->name, k, c, from[c]);
  }
  AMBIT_TRY(need_faces(f));
  AMBIT_TRY(set(f, faces, (setting){.kind = kind}));
  for (int c = 0; c < f->components; c++)
    for (int d = 0; d < f->grid->box.ndims; d++)
      for (int side = 0; side < 2; side++)
        if (faces & AMBIT_FACE(d, side)) f->faces[c].from[d][side] = from[c] + 1;
  return AMBIT_OK;
}

static void forget_in(ambit_field *f, const void *object)
{
  for (int c = 0; f->faces && c < f->components; c++)
    for (int d = 0; d < f->grid->box.ndims; d++)
      for (int side = 0; side < 2; side++)
        if (f->faces[c].scalar[d][side] == object || f->faces[c].field[d][side] == object)
          set_all(f, AMBIT_FACE(d, side), &(setting){.kind = AMBIT_NONE});
}

void ambit__faces_forget(ambit *a, const void *object)
{
  for (const ambit__link *g = a->grids.next; g->owner; g = g->next)
    for (const ambit__link *l = ((ambit_grid *)g->owner)->fields.next; l->owner; l = l->next)
      forget_in(l->owner, object);
}
