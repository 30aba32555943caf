/* SPDX-License-Identifier: BSD-3-Clause */
#include "view/sight.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LEAST_CELLS = 8 };

/* ---- scenes ---- */

static int find_field(const ambit__scene *s, const ambit_field *f)
{
  for (int i = 0; i < s->nfields; i++)
    if (s->fields[i].field == f) return i;
  return -1;
}

static void add_field(ambit__scene *s, ambit_field *f)
{
  ambit__scene_field *x = &s->fields[s->nfields];

  if (!f || f->is_activity || f->base || f->dropped || s->nfields == AMBIT__SCENE_FIELDS ||
      find_field(s, f) >= 0)
    return;
  s->nfields++;
  x->field = f;
  x->components = f->components;
  x->whole = !ambit__type_is_real(f->type);
  snprintf(x->name, sizeof x->name, "%s", f->name);
}

static void add_scalar(ambit__scene *s, ambit_scalar *scalar)
{
  for (int i = 0; i < s->nscalars; i++)
    if (s->scalars[i] == scalar) return;
  if (!scalar || s->nscalars == AMBIT__SCENE_SCALARS) return;
  snprintf(s->scalar_names[s->nscalars], AMBIT__SCENE_NAME, "%s", scalar->name);
  s->scalars[s->nscalars++] = scalar;
}

/* The field that the first rotation leaves new values in; else the first one that is written. */
static int find_result(const ambit_program *p, const ambit__scene *s)
{
  int written = -1;

  for (size_t i = 0; i < p->nwritten; i++) {
    const ambit__step *step = &p->written[i];

    if (step->kind == STEP_ROTATE && find_field(s, step->args[0].field) >= 0)
      return find_field(s, step->args[0].field);
    for (int k = 0; k < s->nfields && written < 0; k++)
      if (ambit__step_writes(step, s->fields[k].field)) written = k;
  }
  return written < 0 ? 0 : written;
}

void ambit__scene_make(const ambit_program *p, ambit__scene *s)
{
  const ambit_grid *g = p->grid;

  s->ndims = g->box.ndims;
  s->nfields = s->nscalars = 0;
  memcpy(s->extents, g->box.hi, sizeof s->extents);
  for (size_t i = 0; i < p->nwritten; i++)
    for (int k = 0; k < p->written[i].n; k++) {
      ambit_field *f = p->written[i].args[k].field;

      if (f && f->grid == g) add_field(s, f);
      add_scalar(s, p->written[i].args[k].scalar);
    }
  if (!s->nfields) /* its steps call others */
    for (const ambit__link *l = g->fields.next; l->owner; l = l->next)
      add_field(s, l->owner);
  s->result = find_result(p, s);
}

/* ---- axes ---- */

/* The last axis below `from` that is not `skipped`. */
static int axis_below(int from, int skipped)
{
  return from - 1 == skipped ? from - 2 : from - 1;
}

int ambit__sight_columns(const ambit__scene *s, const ambit__sight *x)
{
  return axis_below(s->ndims, x->axis);
}

int ambit__sight_rows(const ambit__scene *s, const ambit__sight *x)
{
  const int row = s->ndims > 1 ? axis_below(ambit__sight_columns(s, x), x->axis) : -1;

  return row < 0 ? -1 : row;
}

int64_t ambit__scene_extent(const ambit__scene *s, int axis)
{
  return axis < 0 ? 1 : s->extents[axis];
}

char ambit__axis_name(int ndims, int axis)
{
  return ndims == 3 ? "zyx"[axis] : (char)('0' + axis);
}

static int64_t clamp(int64_t i, int64_t lo, int64_t hi)
{
  return i < lo ? lo : i > hi ? hi : i;
}

/* ---- sights ---- */

void ambit__sight_whole(const ambit__scene *s, ambit__sight *x)
{
  x->lo[0] = x->lo[1] = 0;
  x->hi[0] = ambit__scene_extent(s, ambit__sight_rows(s, x));
  x->hi[1] = ambit__scene_extent(s, ambit__sight_columns(s, x));
}

ambit__sight ambit__sight_first(const ambit__scene *s)
{
  ambit__sight x = {.field = s->result, .axis = s->ndims > 2 ? 0 : -1};

  for (int d = 0; d < s->ndims; d++)
    x.plane[d] = s->extents[d] / 2;
  ambit__sight_whole(s, &x);
  return x;
}

static bool ask_field(const ambit__scene *s, const ambit__viewing *v, ambit__sight *x, char *why,
                      size_t size)
{
  int n = 0;

  for (int i = 0; i < s->nfields; i++) {
    const ambit__scene_field *f = &s->fields[i];

    if (v->speed ? f->components > 1 : !strcmp(f->name, v->field)) {
      x->field = i;
      if (v->component < f->components) return x->component = v->component, true;
      snprintf(why, size, "component %d of field '%s' is to be shown; it has 0 to %d", v->component,
               f->name, f->components - 1);
      return false;
    }
  }
  n = snprintf(why, size,
               v->speed ? "%s%s no field of the program has several components"
                        : "%s%s is not a field of the program; it has",
               v->speed ? "" : v->field, v->speed ? "the speed is to be shown, but" : "");
  for (int i = 0; !v->speed && i < s->nfields && n < (int)size; i++)
    n += snprintf(why + n, size - (size_t)n, "%s %s", i ? "," : "", s->fields[i].name);
  return false;
}

bool ambit__sight_ask(const ambit__scene *s, const ambit__viewing *v, ambit__sight *x, char *why,
                      size_t size)
{
  *x = ambit__sight_first(s);
  if ((v->speed || *v->field) && !ask_field(s, v, x, why, size)) return false;
  if (v->axis < 0) return true;
  if (s->ndims < 3 || v->axis >= s->ndims || v->plane >= s->extents[v->axis]) {
    if (s->ndims < 3 || v->axis >= s->ndims)
      snprintf(why, size, "a plane along axis %d is to be shown; the grid has %d", v->axis,
               s->ndims);
    else
      snprintf(why, size,
               "plane %" PRId64 " is to be shown; along this axis there are 0 to %" PRId64,
               v->plane, s->extents[v->axis] - 1);
    return false;
  }
  x->axis = v->axis;
  x->most = v->most;
  if (v->plane >= 0) x->plane[v->axis] = v->plane;
  ambit__sight_whole(s, x);
  return true;
}

void ambit__sight_adapt(const ambit__scene *from, const ambit__scene *to, ambit__sight *x)
{
  const bool alike = from->ndims == to->ndims &&
                     !memcmp(from->extents, to->extents, (size_t)to->ndims * sizeof *to->extents);
  ambit__sight was = *x;

  if (!alike) *x = ambit__sight_first(to);
  x->field = to->result;
  for (int i = 0; i < to->nfields; i++)
    if (!strcmp(to->fields[i].name, from->fields[was.field].name)) x->field = i;
  x->component = was.component < to->fields[x->field].components ? was.component : 0;
}

void ambit__sight_next_field(const ambit__scene *s, ambit__sight *x, int by)
{
  const int n = s->nfields;

  if (!n) return;
  x->field = (x->field + by % n + n) % n;
  if (x->component >= s->fields[x->field].components) x->component = 0;
}

void ambit__sight_next_component(const ambit__scene *s, ambit__sight *x, int by)
{
  const int n = s->fields[x->field].components + 1; /* the norm is the last */
  const int now = x->component == AMBIT__VIEW_NORM ? n - 1 : x->component;
  const int then = (now + by % n + n) % n;

  x->component = n == 2 ? 0 : then == n - 1 ? AMBIT__VIEW_NORM : then;
}

void ambit__sight_next_axis(const ambit__scene *s, ambit__sight *x)
{
  if (x->axis < 0) return;
  x->axis = (x->axis + 1) % s->ndims;
  ambit__sight_whole(s, x);
}

void ambit__sight_move_plane(const ambit__scene *s, ambit__sight *x, int64_t by)
{
  if (x->axis < 0) return;
  x->most = false;
  x->plane[x->axis] = clamp(x->plane[x->axis] + by, 0, s->extents[x->axis] - 1);
}

/* One axis: k = 0 for rows, 1 for columns. */
static void zoom_axis(int64_t extent, ambit__sight *x, int k, double factor, double at)
{
  const int64_t now = x->hi[k] - x->lo[k], least = extent < LEAST_CELLS ? extent : LEAST_CELLS;
  const int64_t n = clamp((int64_t)llround((double)now / factor), least, extent);

  x->lo[k] = clamp(x->lo[k] + (int64_t)llround(at * (double)(now - n)), 0, extent - n);
  x->hi[k] = x->lo[k] + n;
}

void ambit__sight_zoom(const ambit__scene *s, ambit__sight *x, double factor, double row,
                       double column)
{
  zoom_axis(ambit__scene_extent(s, ambit__sight_rows(s, x)), x, 0, factor, row);
  zoom_axis(ambit__scene_extent(s, ambit__sight_columns(s, x)), x, 1, factor, column);
}

static void pan_axis(int64_t extent, ambit__sight *x, int k, double by)
{
  const int64_t n = x->hi[k] - x->lo[k];

  x->lo[k] = clamp(x->lo[k] + (int64_t)llround(by * (double)n), 0, extent - n);
  x->hi[k] = x->lo[k] + n;
}

void ambit__sight_pan(const ambit__scene *s, ambit__sight *x, double rows, double columns)
{
  pan_axis(ambit__scene_extent(s, ambit__sight_rows(s, x)), x, 0, rows);
  pan_axis(ambit__scene_extent(s, ambit__sight_columns(s, x)), x, 1, columns);
}

void ambit__sight_print(const ambit__scene *s, const ambit__sight *x, char *text, size_t size)
{
  const ambit__scene_field *f = &s->fields[x->field];
  int n;

  if (x->component == AMBIT__VIEW_NORM)
    n = snprintf(text, size, "|%s|", f->name);
  else if (f->components > 1)
    n = snprintf(text, size, "%s[%d]", f->name, x->component);
  else
    n = snprintf(text, size, "%s", f->name);
  if (x->axis < 0 || n >= (int)size) return;
  if (x->most)
    snprintf(text + n, size - (size_t)n, " max along %c", ambit__axis_name(s->ndims, x->axis));
  else
    snprintf(text + n, size - (size_t)n, " %c=%" PRId64, ambit__axis_name(s->ndims, x->axis),
             x->plane[x->axis]);
}
