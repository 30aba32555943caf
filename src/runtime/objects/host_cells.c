/* SPDX-License-Identifier: BSD-3-Clause */
/* host_cells.c - cells of a part for functions of the user: in place where they are in host memory,
 * else a copy in a dense array, with the cells around. */
#include "base/memory.h"
#include "runtime/objects/objects.h"

#include <stdlib.h>
#include <string.h>

static int64_t reach_of(unsigned mode)
{
  return mode >> 8;
}

static ambit__box grown(const ambit__box *box, int64_t by)
{
  ambit__box b = *box;

  for (int d = 0; d < b.ndims; d++) {
    b.lo[d] -= by;
    b.hi[d] += by;
  }
  return b;
}

/* ---- in place ---- */

static void describe(const ambit_field *f, ambit_cells *cells)
{
  *cells = (ambit_cells){.type = f->type, .components = f->components};
}

static void show(const ambit_field *f, int part, const ambit__box *box, unsigned char *base,
                 ambit_cells *cells)
{
  const ambit__layout *l = &f->stores[part].layout;

  describe(f, cells);
  cells->values = base + (size_t)ambit__layout_at(l, box->lo) * ambit_type_size(f->type);
  cells->component = l->component;
  memcpy(cells->stride, l->stride, sizeof cells->stride);
}

/* ---- copies ---- */

/* Device memory with margins, by way of a message. */
static ambit_status fetch_around(ambit_field *f, int part, const ambit__box *box, void *dense,
                                 size_t bytes)
{
  const ambit__engine *e = ambit__engine_of(f->grid, part);
  ambit__message *m;
  ambit_status s;

  AMBIT_TRY(ambit__ask(e->device, message_open, bytes, &m));
  s = ambit__do(e->queue, pack, m, 0, &f->stores[part], box);
  if (!s) s = ambit__do(e->queue, wait, NULL);
  if (!s) memcpy(dense, m->bytes, bytes);
  ambit__ask(e->device, message_close, m);
  return s;
}

/* One value beyond the grid, as the boundaries define it. */
static void put_beyond(const ambit_field *f, const int64_t *cell, int component,
                       const unsigned char *all, unsigned char *to)
{
  const ambit__boundaries *b = ambit__field_boundaries(f, component);
  const ambit__box *grid = &f->grid->box;
  const size_t size = ambit_type_size(f->type);
  int64_t at[AMBIT_MAX_DIMS];
  double value;

  memcpy(at, cell, sizeof at);
  if (ambit__boundaries_map(b, grid->ndims, grid->hi, at, &value)) {
    memcpy(to,
           all + ((size_t)ambit__box_number(grid, at) * (size_t)f->components + (size_t)component) *
                     size,
           size);
    if (!ambit__boundaries_negate(b, grid->ndims, grid->hi, cell)) return;
    value = -ambit__value_number(ambit__value_load(to, f->type), f->type);
  }
  ambit__value_store(to, f->type, ambit__value_of(value, f->type));
}

/* A device without margins has the whole grid. */
static ambit_status fetch_whole(ambit_field *f, const ambit__box *box, unsigned char *dense)
{
  const ambit__engine *e = ambit__engine_of(f->grid, 0);
  const ambit__box *grid = &f->grid->box;
  const size_t size = ambit_type_size(f->type);
  unsigned char *all = ambit__new(ambit__field_errors(f), (size_t)ambit__box_volume(grid),
                                  ambit__field_cell_bytes(f));
  int64_t row[AMBIT_MAX_DIMS], cell[AMBIT_MAX_DIMS];
  const int x = box->ndims - 1;
  ambit_status s;

  if (!all) return AMBIT_ENOMEM;
  s = ambit__do(e->queue, read, all, &f->stores[0], grid);
  ambit__box_first(box, row);
  do {
    memcpy(cell, row, sizeof cell);
    for (cell[x] = box->lo[x]; !s && cell[x] < box->hi[x]; cell[x]++)
      for (int c = 0; c < f->components; c++, dense += size)
        put_beyond(f, cell, c, all, dense);
  } while (ambit__box_next_row(box, row));
  free(all);
  return s;
}

static ambit_status stage(ambit_field *f, int part, const ambit__box *box, unsigned mode,
                          ambit_cells *cells, void **staged)
{
  const ambit__engine *e = ambit__engine_of(f->grid, part);
  const ambit__box all = grown(box, reach_of(mode));
  const size_t bytes = (size_t)ambit__box_volume(&all) * ambit__field_cell_bytes(f);
  unsigned char *dense = ambit__new(ambit__field_errors(f), bytes, 1);
  int64_t stride = f->components;

  if (!dense) return AMBIT_ENOMEM;
  *staged = dense;
  describe(f, cells);
  cells->component = 1;
  for (int d = box->ndims - 1; d >= 0; d--) {
    cells->stride[d] = stride;
    stride *= all.hi[d] - all.lo[d];
  }
  cells->values =
      dense + (size_t)(ambit__box_number(&all, box->lo) * (int64_t)ambit__field_cell_bytes(f));
  if (!reach_of(mode)) return ambit__do(e->queue, read, dense, &f->stores[part], &all);
  return ambit__can(e->device->backend, pack) ? fetch_around(f, part, &all, dense, bytes)
                                              : fetch_whole(f, &all, dense);
}

/* ---- both ---- */

ambit_status ambit__cells_open(ambit_field *f, int part, const ambit__box *box, unsigned mode,
                               ambit_cells *cells, void **staged)
{
  ambit__device *dev = ambit__engine_of(f->grid, part)->device;
  const ambit__backend *b = dev->backend;
  ambit__buffer *buffer = f->stores[part].buffer;
  void *there;

  *staged = NULL;
  if (b->address && b->address(buffer)) {
    show(f, part, box, b->address(buffer), cells);
    return AMBIT_OK;
  }
  if (!(mode & AMBIT_ON_DEVICE)) return stage(f, part, box, mode, cells, staged);
  there = b->place ? b->place(dev, buffer) : NULL;
  AMBIT_CHECK(there, ambit__field_errors(f), AMBIT_EUNSUPPORTED,
              "field '%s' is on device %s, which has no addresses for other libraries: leave "
              "AMBIT_ON_DEVICE out, for a copy in host memory",
              f->name, b->name ? b->name : "");
  show(f, part, box, there, cells);
  return AMBIT_OK;
}

ambit_status ambit__cells_close(ambit_field *f, int part, const ambit__box *box, unsigned mode,
                                void *staged)
{
  ambit_status s = AMBIT_OK;

  if (staged && mode & AMBIT_WRITE) /* not read around, so that the copy is this box */
    s = ambit__do(ambit__engine_of(f->grid, part)->queue, write, &f->stores[part], box, staged);
  free(staged);
  return s;
}

void ambit__part_describe(const ambit_grid *g, int part, const ambit__box *box, ambit_part *out)
{
  *out = (ambit_part){.ndims = g->box.ndims, .number = g->first + part, .count = g->nparts};
  memcpy(out->lo, box->lo, sizeof out->lo);
  memcpy(out->hi, box->hi, sizeof out->hi);
  memcpy(out->extent, g->box.hi, sizeof out->extent);
}

/* ---- calls ---- */

int ambit_grid_parts(const ambit_grid *g)
{
  return g ? g->placement.n : 0;
}

static ambit_status map(ambit_field *f, int part, unsigned mode)
{
  const ambit__box *own;
  const int n = f->grid->placement.n;
  ambit__map *m;

  AMBIT_TRY(ambit__field_check_whole(f, "cannot be mapped; use ambit_field_read and _write"));
  AMBIT_CHECK(part >= 0 && part < n && !f->base && !f->grid->active &&
                  mode & (AMBIT_READ | AMBIT_WRITE) && !reach_of(mode),
              ambit__field_errors(f), AMBIT_EINVAL,
              "field '%s' cannot be mapped on part %d with mode %u: it must be on a dense grid and "
              "no view, parts are 0 to %d, and the mode is AMBIT_READ, AMBIT_WRITE or both",
              f->name, part, mode, n - 1);
  if (!f->maps) f->maps = ambit__new(ambit__field_errors(f), (size_t)n, sizeof *f->maps);
  if (!f->maps) return AMBIT_ENOMEM;
  m = &f->maps[part];
  AMBIT_CHECK(!m->mode, ambit__field_errors(f), AMBIT_EPROGRAM,
              "field '%s' is mapped on part %d already; ambit_field_unmap comes first", f->name,
              part);
  AMBIT_TRY(ambit__engines_wait(f->grid->context));
  own = &f->stores[part].layout.own;
  ambit__part_describe(f->grid, part, own, &m->part);
  m->part.nfields = 1;
  AMBIT_TRY(ambit__cells_open(f, part, own, mode, &m->part.fields[0], &m->staged));
  m->mode = mode;
  return AMBIT_OK;
}

const ambit_part *ambit_field_map(ambit_field *f, int part, unsigned mode)
{
  return ambit__field_failed(f) || map(f, part, mode) ? NULL : &f->maps[part].part;
}

ambit_status ambit_field_unmap(ambit_field *f)
{
  ambit_status s = AMBIT_OK;
  bool written = false;

  if (!f) return AMBIT_EINVAL;
  for (int i = 0; f->maps && i < f->grid->placement.n; i++) {
    const ambit__map *m = &f->maps[i];
    const unsigned mode = ambit__field_failed(f) ? 0 : m->mode;
    const ambit_status one = ambit__cells_close(f, i, &f->stores[i].layout.own, mode, m->staged);

    written |= (mode & AMBIT_WRITE) != 0;
    if (!s) s = one;
  }
  free(f->maps);
  f->maps = NULL;
  if (written) ambit__field_changed(f);
  return s ? s : ambit__field_status(f);
}
