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
  to->boundaries = from->boundaries;
  if (!from->special) return AMBIT_OK;
  to->special =
      ambit__new(ambit__field_errors(to), (size_t)from->components, sizeof *from->special);
  if (!to->special) return AMBIT_ENOMEM;
  memcpy(to->special, from->special, (size_t)from->components * sizeof *from->special);
  return AMBIT_OK;
}

static ambit_status check_kind(const ambit_field *f, ambit_boundary kind)
{
  AMBIT_CHECK(kind >= AMBIT_NONE && kind <= AMBIT_ANTISYMMETRIC, ambit__field_errors(f),
              AMBIT_EINVAL, "field '%s': %d is not a kind of boundary", f->name, (int)kind);
  AMBIT_CHECK(kind != AMBIT_ANTISYMMETRIC || ambit__type_is_real(f->type), ambit__field_errors(f),
              AMBIT_EINVAL,
              "field '%s' is %s; only fields of real numbers can be antisymmetric at a face",
              f->name, ambit_type_name(f->type));
  return AMBIT_OK;
}

static ambit_status check_faces(const ambit_field *f, unsigned faces)
{
  AMBIT_CHECK(
      faces == AMBIT_ALL_FACES || !(faces & AMBIT_INACTIVE), ambit__field_errors(f), AMBIT_EINVAL,
      "field '%s': AMBIT_INACTIVE was combined with faces; set it with a call of its own", f->name);
  AMBIT_CHECK(faces == AMBIT_ALL_FACES || !(faces >> 2 * f->grid->box.ndims),
              ambit__field_errors(f), AMBIT_EINVAL,
              "field '%s': faces 0x%x include an axis beyond the grid's %d", f->name, faces,
              f->grid->box.ndims);
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

static ambit_status set_inactive(ambit_field *f, ambit_boundary kind, double value)
{
  AMBIT_TRY(check_inactive(f, kind));
  f->boundaries.inactive = kind;
  f->boundaries.fill = value;
  for (int c = 0; f->special && c < f->components; c++) {
    f->special[c].inactive = kind;
    f->special[c].fill = value;
  }
  ambit__grid_changed(f->grid);
  return AMBIT_OK;
}

static void set_faces(ambit__boundaries *b, int ndims, unsigned faces, ambit_boundary kind,
                      double value)
{
  for (int d = 0; d < ndims; d++)
    for (int side = 0; side < 2; side++)
      if (faces & AMBIT_FACE(d, side)) {
        b->kind[d][side] = kind;
        b->value[d][side] = kind == AMBIT_CONSTANT ? value : 0;
      }
}

ambit_status ambit_field_boundary(ambit_field *f, unsigned faces, ambit_boundary kind, double value)
{
  if (ambit__field_failed(f)) return ambit__field_status(f);
  AMBIT_TRY(check_kind(f, kind));
  if (faces == AMBIT_INACTIVE) return set_inactive(f, kind, value);
  AMBIT_TRY(check_faces(f, faces));
  set_faces(&f->boundaries, f->grid->box.ndims, faces, kind, value);
  for (int c = 0; f->special && c < f->components; c++)
    set_faces(&f->special[c], f->grid->box.ndims, faces, kind, value);
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
              "field '%s' has %d components, and the boundary of component %d was set", f->name,
              f->components, component);
  AMBIT_CHECK(!is_of_the_field(kind), ambit__field_errors(f), AMBIT_EINVAL,
              "field '%s': a component alone cannot be %s at a face; set it for the field, with "
              "ambit_field_boundary",
              f->name, ambit__boundary_name(kind));
  AMBIT_CHECK(f->order == AMBIT_SOA, ambit__field_errors(f), AMBIT_EUNSUPPORTED,
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
  AMBIT_TRY(faces == AMBIT_INACTIVE ? check_component_inactive(f, kind)
                                    : check_component_faces(f, faces));
  if (!f->special) {
    f->special = ambit__new(ambit__field_errors(f), (size_t)f->components, sizeof *f->special);
    if (!f->special) return AMBIT_ENOMEM;
    for (int c = 0; c < f->components; c++)
      f->special[c] = f->boundaries;
  }
  if (faces == AMBIT_INACTIVE) {
    f->special[component].inactive = kind;
    f->special[component].fill = value;
  } else {
    set_faces(&f->special[component], f->grid->box.ndims, faces, kind, value);
  }
  ambit__grid_changed(f->grid);
  return AMBIT_OK;
}
