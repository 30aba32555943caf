/* SPDX-License-Identifier: BSD-3-Clause */
/* draw.c - pictures of fields: process 0 draws, from bands of rows that all processes read. */
#include "io/draw.h"

#include "base/memory.h"
#include "base/number.h"
#include "io/png.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ERRORS(f) (&(f)->grid->context->errors)

/* ---- descriptions ---- */

/* "z=40": axes have the names of VTK, x for the last one, or their number. */
static ambit_status parse_slice(const ambit_field *f, const char *text, ambit__drawing *d)
{
  static const char names[] = "zyx";
  const ambit__box all = ambit__field_box(f), *b = &all;
  const char *name = text[0] ? strchr(names, text[0]) : NULL;
  const int axis = name ? (int)(name - names) : text[0] - '0';
  char *end = NULL;
  long long plane = 0;

  if (text[0] && text[1] == '=') plane = strtoll(text + 2, &end, 10);
  AMBIT_CHECK(end && end > text + 2 && !*end && axis >= 0 && axis < 3, ERRORS(f), AMBIT_EINVAL,
              "the slice is '%s'; it must be an axis, z, y, x or 0, 1, 2, and an index: z=40",
              text);
  AMBIT_CHECK(b->ndims == 3, ERRORS(f), AMBIT_EINVAL,
              "the slice %s is a plane of 3 dimensions; field '%s' has %d", text, f->name,
              b->ndims);
  AMBIT_CHECK(plane >= 0 && plane < b->hi[axis], ERRORS(f), AMBIT_EINVAL,
              "the slice is %s; along this axis field '%s' has cells 0 to %" PRId64, text, f->name,
              b->hi[axis] - 1);
  d->axis = axis;
  d->plane = plane;
  return AMBIT_OK;
}

ambit_status ambit__drawing_make(const ambit_field *f, const ambit_picture *picture,
                                 ambit__drawing *d)
{
  static const ambit_picture defaults;
  const ambit_picture *p = picture ? picture : &defaults;
  const ambit__box all = ambit__field_box(f), *b = &all;
  ambit__colour_map map;

  *d = (ambit__drawing){.component = p->component, .plane = b->hi[0] / 2};
  AMBIT_CHECK(b->ndims <= 3, ERRORS(f), AMBIT_EINVAL,
              "field '%s' has %d dimensions; a picture shows 1 or 2, or a plane of 3. Save it as "
              ".npy or .h5",
              f->name, b->ndims);
  AMBIT_CHECK(p->component >= 0 && p->component < f->components, ERRORS(f), AMBIT_EINVAL,
              "component %d of field '%s' is to be drawn; it has 0 to %d", p->component, f->name,
              f->components - 1);
  AMBIT_CHECK(isfinite(p->lo) && isfinite(p->hi) && (p->lo < p->hi || (p->lo == 0 && p->hi == 0)),
              ERRORS(f), AMBIT_EINVAL,
              "the range of a picture is %g to %g; the first must be less than the second", p->lo,
              p->hi);
  d->options.lo = p->lo;
  d->options.relief = p->relief != 0;
  d->options.hi = p->hi;
  if (p->colours) {
    AMBIT_CHECK(ambit__colour_find(p->colours, &map), ERRORS(f), AMBIT_EINVAL,
                "there are no colours '%s'; use " AMBIT__COLOUR_NAMES, p->colours);
    d->options.map = (int)map + 1;
  }
  return p->slice ? parse_slice(f, p->slice, d) : AMBIT_OK;
}

/* ---- rows ---- */

/* A band of rows is read at a time. */
typedef struct rows {
  ambit_field *field;
  const ambit__drawing *drawing;
  int row_axis;          /* -1: there is one row */
  int64_t width, height; /* of the picture, in cells */
  int64_t most;          /* maximum rows in a band */
  int64_t first, count;  /* rows of the current band */
  unsigned char *cells;  /* its cells, in the field's type */
} rows;

/* Reads the band that begins with row y, on all processes. */
static ambit_status read_band(rows *r, int64_t y)
{
  ambit__box box = ambit__field_box(r->field);

  r->first = y;
  r->count = r->most < r->height - y ? r->most : r->height - y;
  if (r->row_axis >= 0) {
    box.lo[r->row_axis] = y;
    box.hi[r->row_axis] = y + r->count;
  }
  if (box.ndims == 3) {
    box.lo[r->drawing->axis] = r->drawing->plane;
    box.hi[r->drawing->axis] = r->drawing->plane + 1;
  }
  return ambit_field_read(r->field, box.lo, box.hi, r->cells);
}

static ambit_status get_row(void *user, int64_t y, double *values)
{
  rows *r = user;
  const ambit_type type = r->field->type;
  const size_t cell = ambit__field_cell_bytes(r->field);
  const unsigned char *at;

  if (y >= r->first + r->count) AMBIT_TRY(read_band(r, y));
  at = r->cells + (size_t)((y - r->first) * r->width) * cell +
       (size_t)r->drawing->component * ambit_type_size(type);
  for (int64_t x = 0; x < r->width; x++, at += cell)
    values[x] = ambit__value_number(ambit__value_load(at, type), type);
  return AMBIT_OK;
}

/* The axes of the plane: rows and columns. */
static void find_axes(rows *r)
{
  const ambit__box all = ambit__field_box(r->field), *b = &all;
  const int skipped = b->ndims == 3 ? r->drawing->axis : -1;
  int column = b->ndims - 1;

  if (column == skipped) column--;
  r->row_axis = column - 1;
  if (r->row_axis == skipped) r->row_axis--;
  r->width = b->hi[column];
  r->height = r->row_axis >= 0 ? b->hi[r->row_axis] : 1;
  r->most = ambit__field_piece_cells(r->field) / r->width;
  if (r->most < 1) r->most = 1;
}

/* Process 0 draws and requests all rows in order; the others take part in reading them. */
static ambit_status read_rows(rows *r, ambit__picture *out)
{
  if (!r->field->grid->context->net->rank)
    return ambit__picture_make(ERRORS(r->field), r->width, r->height, get_row, r,
                               &r->drawing->options, out);
  for (int64_t y = 0; y < r->height; y += r->most)
    AMBIT_TRY(read_band(r, y));
  return AMBIT_OK;
}

/* In a series, the range only grows. A picture of one value alone says nothing about it. */
static void widen(ambit__drawing *d, ambit__picture *p)
{
  if (!d->is_series || d->options.lo < d->options.hi || (p->is_flat && !d->has_range)) return;
  if (p->is_flat) {
    p->lo = d->lo;
    p->hi = d->hi;
  }
  d->lo = p->lo = d->has_range ? fmin(d->lo, p->lo) : p->lo;
  d->hi = p->hi = d->has_range ? fmax(d->hi, p->hi) : p->hi;
  d->options.map = (int)p->map + 1;
  d->has_range = true;
}

ambit_status ambit__drawing_read(ambit_field *f, ambit__drawing *d, ambit__picture *out)
{
  rows r = {.field = f, .drawing = d};

  *out = (ambit__picture){0};
  find_axes(&r);
  r.cells = ambit__new(ERRORS(f), (size_t)(r.most * r.width), ambit__field_cell_bytes(f));
  if (r.cells && !read_rows(&r, out) && out->values) widen(d, out);
  free(r.cells);
  return ambit__meet(f->grid->context, "has read a picture"); /* raises a failure on all */
}

ambit_status ambit__draw_png(ambit_field *f, ambit__drawing *d, const char *path)
{
  ambit__picture p;

  if (!ambit__drawing_read(f, d, &p) && p.values) ambit__png_put(ERRORS(f), path, &p);
  ambit__picture_free(&p);
  return ambit__meet(f->grid->context, "has drawn a picture"); /* raises a failure on all */
}
