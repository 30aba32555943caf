/* SPDX-License-Identifier: BSD-3-Clause */
/* field_png.c - fields from PNG pictures: grey ones have a component, colours have three.
 *
 * Samples are numbers from 0 to 255 in fields of any type, as in streams. Every process reads the
 * whole picture and stores the cells of its own parts.
 */
#include "io/save.h"

#include "base/memory.h"
#include "io/frames.h"
#include "io/png.h"

#include <inttypes.h>
#include <stdlib.h>

#define ERRORS(f) (&(f)->grid->context->errors)

static ambit_status check_form(const ambit_field *f, const char *path, const ambit__frame_form *p)
{
  const ambit__box all = ambit__field_box(f), *b = &all;
  const int channels = p->is_rgb ? 3 : 1;

  AMBIT_CHECK(b->ndims == 2 && f->components == channels, ERRORS(f), AMBIT_EIO,
              "%s is a picture %s, for a field of 2 dimensions and %d component%s; field '%s' has "
              "%d dimension%s and %d component%s",
              path, p->is_rgb ? "in red, green and blue" : "in grey", channels,
              channels == 1 ? "" : "s", f->name, b->ndims, b->ndims == 1 ? "" : "s", f->components,
              f->components == 1 ? "" : "s");
  AMBIT_CHECK(p->height[0] == b->hi[0] && p->width[0] == b->hi[1], ERRORS(f), AMBIT_EIO,
              "%s has %" PRId64 " rows of %" PRId64
              " pixels, but the grid of field '%s' has %" PRId64 " x %" PRId64 " cells",
              path, p->height[0], p->width[0], f->name, b->hi[0], b->hi[1]);
  return AMBIT_OK;
}

static ambit_status store(ambit_field *f, const unsigned char *samples, size_t n)
{
  const size_t size = ambit_type_size(f->type);
  unsigned char *values = ambit__new(ERRORS(f), n, size);
  ambit_status s;

  if (!values) return AMBIT_ENOMEM;
  for (size_t i = 0; i < n; i++)
    ambit__value_store(values + i * size, f->type, ambit__value_of(samples[i], f->type));
  s = ambit_field_write(f, NULL, NULL, values);
  free(values);
  return s;
}

static ambit_status load(ambit_field *f, const char *path)
{
  ambit__frame_form form;
  ambit__drawn drawn; /* it has colours in place of values */
  unsigned char *samples;
  ambit_status s;

  AMBIT_TRY(ambit__png_form(ERRORS(f), path, true, &form, &drawn));
  AMBIT_CHECK(!drawn.is_drawn, ERRORS(f), AMBIT_EIO,
              "%s was drawn by ambit_field_save: it shows values as colours, from which they "
              "cannot be read; save the field as .npy",
              path);
  AMBIT_TRY(check_form(f, path, &form));
  samples = ambit__new(ERRORS(f), form.bytes, 1);
  if (!samples) return AMBIT_ENOMEM;
  s = ambit__png_read(ERRORS(f), path, &form, samples);
  if (!s) s = store(f, samples, form.bytes);
  free(samples);
  return s;
}

ambit_status ambit__field_load_png(ambit_field *f, const char *path)
{
  load(f, path);
  return ambit__meet(f->grid->context, "has loaded a file"); /* raises a failure on all */
}

ambit_status ambit__png_inspect(ambit *a, const char *path, ambit_file_info *info)
{
  ambit__frame_form form;

  AMBIT_TRY(ambit__png_form(&a->errors, path, true, &form, NULL));
  info->type = AMBIT_U8;
  info->ndims = form.is_rgb ? 3 : 2;
  info->extents[0] = form.height[0];
  info->extents[1] = form.width[0];
  info->extents[2] = form.is_rgb ? 3 : 0;
  return AMBIT_OK;
}
