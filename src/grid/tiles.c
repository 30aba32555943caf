/* SPDX-License-Identifier: BSD-3-Clause */
#include "grid/tiles.h"

#include "base/memory.h"

#include <stdlib.h>

void ambit__tile_size(int ndims, ambit__tile_worker worker, int64_t *size)
{
  /* by worker and ndims - 1: cells along rows, and along the other axes. A core has a cache line of
   * the smallest type at least. */
  static const int64_t rows[][AMBIT_MAX_DIMS] = {
      {4096, 64, 64, 64, 64, 64}, {8192, 128, 128, 128, 64, 64}, {1024, 32, 16, 16, 8, 8}};
  static const int64_t others[][AMBIT_MAX_DIMS] = {
      {1, 32, 16, 8, 4, 4}, {1, 64, 16, 8, 4, 4}, {1, 32, 8, 4, 4, 4}};

  for (int d = 0; d < ndims - 1; d++)
    size[d] = others[worker][ndims - 1];
  size[ndims - 1] = rows[worker][ndims - 1];
}

/* ---- tiles of a part ---- */

ambit__tiling ambit__tiling_make(const ambit__box *own, const int64_t *size, int64_t first)
{
  ambit__tiling t = {.own = *own, .first = first, .n = !ambit__box_is_empty(own)};

  for (int d = 0; d < own->ndims; d++) {
    t.size[d] = size[d];
    t.count[d] = t.n ? (own->hi[d] - own->lo[d] + size[d] - 1) / size[d] : 0;
  }
  for (int d = 0; d < own->ndims; d++)
    t.n *= t.count[d];
  return t;
}

ambit__box ambit__tiling_box(const ambit__tiling *t, int64_t i)
{
  ambit__box b = t->own;

  for (int d = b.ndims - 1; d >= 0; d--) {
    b.lo[d] += i % t->count[d] * t->size[d];
    if (b.lo[d] + t->size[d] < b.hi[d]) b.hi[d] = b.lo[d] + t->size[d];
    i /= t->count[d];
  }
  return b;
}

ambit__box ambit__tile_box(const ambit__tile_map *map, int64_t tile)
{
  const ambit__tiling *t = &map->parts[map->part[tile]];

  return ambit__tiling_box(t, tile - t->first);
}

void ambit__tiling_each(const ambit__tiling *t, const ambit__box *cells, ambit__tile_fn fn,
                        void *user)
{
  const ambit__box some = ambit__box_intersect(&t->own, cells);
  ambit__box tiles = some;
  int64_t at[AMBIT_MAX_DIMS];
  const int last = some.ndims - 1;

  if (ambit__box_is_empty(&some)) return;
  for (int d = 0; d < some.ndims; d++) {
    tiles.lo[d] = (some.lo[d] - t->own.lo[d]) / t->size[d];
    tiles.hi[d] = (some.hi[d] - 1 - t->own.lo[d]) / t->size[d] + 1;
  }
  ambit__box_first(&tiles, at);
  do {
    int64_t row = 0;

    for (int d = 0; d < last; d++)
      row = (row + at[d]) * t->count[d + 1];
    for (int64_t x = tiles.lo[last]; x < tiles.hi[last]; x++)
      fn(user, t->first + row + x);
  } while (ambit__box_next_row(&tiles, at));
}

/* ---- zones ---- */

/* The cells of a zone along an axis. */
static void strip(const ambit__tile_map *map, const ambit__box *tile, int d, int digit, int64_t *lo,
                  int64_t *hi)
{
  const int64_t wide = map->reach[d];

  *lo = tile->lo[d];
  *hi = tile->hi[d];
  if (digit == 1 && *lo + wide < *hi) *hi = *lo + wide;
  if (digit == 2 && *hi - wide > *lo) *lo = *hi - wide;
}

ambit__box ambit__tile_zone_box(const ambit__tile_map *map, const ambit__box *tile, int zone)
{
  ambit__box b = *tile;

  for (int d = 0; zone && d < map->ndims; d++, zone /= 3)
    strip(map, tile, d, zone % 3, &b.lo[d], &b.hi[d]);
  return b;
}

ambit__box ambit__tile_readers(const ambit__tile_map *map, const ambit__box *tile, int zone,
                               const ambit__box *other)
{
  ambit__box b = *tile;

  for (int d = 0; zone && d < map->ndims; d++, zone /= 3) {
    if (other->hi[d] - other->lo[d] <= map->reach[d]) continue; /* both its strips are the same */
    strip(map, tile, d, (3 - zone % 3) % 3, &b.lo[d], &b.hi[d]);
  }
  return b;
}

uint32_t ambit__tile_zones(const ambit__tile_map *map, const ambit__box *tile,
                           const ambit__box *cells)
{
  const int digits = map->nzones > 1 ? map->ndims : 0;
  uint32_t zones = !ambit__box_is_empty(cells); /* of the axes so far */
  int step = 1;

  for (int d = 0; zones && d < digits; d++, step *= 3) {
    const uint32_t before = zones;

    for (int digit = 1; digit < 3; digit++) {
      int64_t lo, hi;

      strip(map, tile, d, digit, &lo, &hi);
      if (cells->lo[d] < hi && cells->hi[d] > lo) zones |= before << digit * step;
    }
  }
  return zones;
}

int ambit__tile_zone_around(const ambit__tile_map *map, const ambit__box *tile,
                            const ambit__box *cells)
{
  int zone = 0, step = 1;

  for (int d = 0; map->nzones > 1 && d < map->ndims; d++, step *= 3)
    for (int digit = 1; digit < 3; digit++) {
      int64_t lo, hi;

      strip(map, tile, d, digit, &lo, &hi);
      if (cells->lo[d] < lo || cells->hi[d] > hi) continue;
      zone += digit * step;
      break;
    }
  return zone;
}

/* ---- links ---- */

typedef struct linking {
  ambit__errors *errors;
  ambit__tile_map *map;
  int64_t tile;    /* the reader */
  ambit__box area; /* cells that it reads */
  ambit_status status;
} linking;

static ambit_status add_link(ambit__errors *errors, ambit__tile_links *l, int64_t tile, int zone)
{
  AMBIT_TRY(ambit__make_room(errors, &l->list, l->n, &l->cap, sizeof *l->list));
  l->list[l->n++] = (ambit__tile_link){(int32_t)tile, zone};
  return AMBIT_OK;
}

static void link_tile(void *user, int64_t tile)
{
  linking *j = user;
  const ambit__box box = ambit__tile_box(j->map, tile);
  const ambit__box cells = ambit__box_intersect(&box, &j->area);

  if (tile != j->tile && !j->status)
    j->status =
        add_link(j->errors, &j->map->reads, tile, ambit__tile_zone_around(j->map, &box, &cells));
}

/* Links the tiles that have cells of j->area. */
static void link_area(linking *j)
{
  for (int i = 0; i < j->map->nparts; i++)
    ambit__tiling_each(&j->map->parts[i], &j->area, link_tile, j);
}

/* Links the tiles around one, at all images of it along axes that wrap, from axis d on. */
static void link_images(linking *j, ambit__box around, int d)
{
  const ambit__tile_map *map = j->map;
  const int64_t n = d < map->ndims ? map->grid.hi[d] : 0;

  if (d == map->ndims) {
    j->area = ambit__box_intersect(&around, &map->grid);
    link_area(j);
    return;
  }
  link_images(j, around, d + 1);
  if (!map->wraps[d]) return;
  if (around.hi[d] - around.lo[d] >= n) { /* it reads all of the axis */
    around.lo[d] = 0;
    around.hi[d] = n;
    link_images(j, around, d + 1);
    return;
  }
  for (int side = -1; side <= 1; side += 2) {
    ambit__box image = around;

    image.lo[d] += side * n;
    image.hi[d] += side * n;
    if (image.lo[d] < n && image.hi[d] > 0) link_images(j, image, d + 1);
  }
}

static ambit_status link_reads(ambit__errors *errors, ambit__tile_map *map, const bool *mine)
{
  linking j = {.errors = errors, .map = map};

  AMBIT_NEW(errors, map->reads.first, (size_t)map->n + 1);
  for (j.tile = 0; j.tile < map->n; j.tile++) {
    ambit__box around = ambit__tile_box(map, j.tile);

    map->reads.first[j.tile + 1] = (int64_t)map->reads.n;
    if (!mine[map->part[j.tile]]) continue;
    AMBIT_TRY(add_link(errors, &map->reads, j.tile, 0));
    for (int d = 0; d < map->ndims; d++) {
      around.lo[d] -= map->reach[d];
      around.hi[d] += map->reach[d];
    }
    link_images(&j, around, 0);
    AMBIT_TRY(j.status);
    map->reads.first[j.tile + 1] = (int64_t)map->reads.n;
  }
  return AMBIT_OK;
}

/* The same links from the other side, by counting. */
static ambit_status link_feeds(ambit__errors *errors, ambit__tile_map *map)
{
  ambit__tile_links *f = &map->feeds;
  int64_t *next = ambit__new(errors, (size_t)map->n + 1, sizeof *next);

  f->n = map->reads.n;
  f->list = ambit__new(errors, f->n, sizeof *f->list);
  f->first = ambit__new(errors, (size_t)map->n + 1, sizeof *f->first);
  if (!next || !f->list || !f->first) {
    free(next);
    return AMBIT_ENOMEM;
  }
  for (int64_t t = 0; t < map->n; t++)
    for (int64_t i = map->reads.first[t]; i < map->reads.first[t + 1]; i++)
      if (map->reads.list[i].tile != t) f->first[map->reads.list[i].tile + 1]++;
  for (int64_t t = 0; t < map->n; t++)
    f->first[t + 1] += f->first[t];
  for (int64_t t = 0; t < map->n; t++)
    next[t] = f->first[t];
  for (int64_t t = 0; t < map->n; t++)
    for (int64_t i = map->reads.first[t]; i < map->reads.first[t + 1]; i++)
      if (map->reads.list[i].tile != t)
        f->list[next[map->reads.list[i].tile]++] =
            (ambit__tile_link){(int32_t)t, map->reads.list[i].zone};
  free(next);
  return AMBIT_OK;
}

/* ---- maps ---- */

static void set_form(ambit__tile_map *map, const ambit__tile_spec *spec)
{
  *map = (ambit__tile_map){.ndims = spec->grid->ndims, .grid = *spec->grid, .nzones = 1};
  for (int d = 0; d < map->ndims; d++) {
    map->reach[d] = spec->reach[d];
    map->wraps[d] = spec->wraps[d];
    if (map->ndims <= 3) map->nzones *= 3;
  }
}

ambit_status ambit__tile_map_make(ambit__errors *errors, const ambit__tile_spec *spec,
                                  ambit__tile_map *map)
{
  set_form(map, spec);
  AMBIT_NEW(errors, map->parts, (size_t)spec->nparts);
  map->nparts = spec->nparts;
  for (int i = 0; i < spec->nparts; i++) {
    map->parts[i] = ambit__tiling_make(&spec->parts[i], spec->size, map->n);
    map->n += map->parts[i].n;
  }
  AMBIT_CHECK(map->n < INT32_MAX, errors, AMBIT_EUNSUPPORTED, "a grid has too many tiles");
  AMBIT_NEW(errors, map->part, (size_t)map->n + 1);
  for (int i = 0; i < spec->nparts; i++)
    for (int64_t t = 0; t < map->parts[i].n; t++)
      map->part[map->parts[i].first + t] = i;
  AMBIT_TRY(link_reads(errors, map, spec->mine));
  return link_feeds(errors, map);
}

static void free_links(ambit__tile_links *l)
{
  free(l->first);
  free(l->list);
}

void ambit__tile_map_free(ambit__tile_map *map)
{
  free(map->parts);
  free(map->part);
  free_links(&map->reads);
  free_links(&map->feeds);
  *map = (ambit__tile_map){0};
}
