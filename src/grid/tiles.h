/* SPDX-License-Identifier: BSD-3-Clause */
/* tiles.h - parts cut into tiles, and which tiles a tile reads.
 *
 * The tiles of all parts have numbers: those of part 0 first, then those of part 1, and so on. A
 * tile has zones: the whole tile is zone 0, the others are the strips along its faces, edges and
 * corners that tiles around it read. So a tile that changes in its middle concerns no other tile.
 *
 *        +--+-------+--+
 *        |  |       |  |      the strips of a tile are as wide as the reads reach;
 *        +--+-------+--+      with digit 0 (all), 1 (low) or 2 (high) per axis,
 *        |  |       |  |      zone = digit[0] + 3 digit[1] + 9 digit[2]
 *        +--+-------+--+
 *
 * Tiles of four and more axes have zone 0 alone.
 */
#ifndef AMBIT_GRID_TILES_H
#define AMBIT_GRID_TILES_H

#include "base/error.h"
#include "grid/box.h"

enum { AMBIT__MOST_ZONES = 27 };

/* A part cut into tiles, from its first cell on; tiles at its upper faces may be smaller. */
typedef struct ambit__tiling {
  ambit__box own;                /* the part */
  int64_t size[AMBIT_MAX_DIMS];  /* cells of a tile */
  int64_t count[AMBIT_MAX_DIMS]; /* tiles along each axis; 0: the part is empty */
  int64_t first;                 /* number of its first tile */
  int64_t n;                     /* tiles */
} ambit__tiling;

/* A tile and a zone of it. */
typedef struct ambit__tile_link {
  int32_t tile;
  int32_t zone;
} ambit__tile_link;

ambit__tiling ambit__tiling_make(const ambit__box *own, const int64_t *size, int64_t first);
ambit__box ambit__tiling_box(const ambit__tiling *t, int64_t i); /* its tile i, from 0 on */

/* Lists of tiles, one per tile: entries first[i] .. first[i + 1] - 1. */
typedef struct ambit__tile_links {
  int64_t *first; /* owned */
  ambit__tile_link *list;
  size_t n, cap; /* of the list */
} ambit__tile_links;

typedef struct ambit__tile_map {
  int ndims;
  ambit__box grid;
  int64_t reach[AMBIT_MAX_DIMS]; /* width of the strips */
  bool wraps[AMBIT_MAX_DIMS];    /* reads go around this axis */
  int nzones;
  ambit__tiling *parts; /* of all processes; owned */
  int nparts;
  int64_t n;               /* tiles in all */
  int32_t *part;           /* by tile: its part; owned */
  ambit__tile_links reads; /* by tile of this process: the zones it reads, itself (zone 0) first */
  ambit__tile_links feeds; /* by tile: the tiles of this process that read it, without itself */
} ambit__tile_map;

/* The input of a map. */
typedef struct ambit__tile_spec {
  const ambit__box *grid;  /* starts at 0 */
  const ambit__box *parts; /* nparts boxes */
  int nparts;
  const bool *mine;     /* by part: belongs to this process */
  const int64_t *size;  /* of tiles */
  const int64_t *reach; /* of all reads, in either direction, per axis */
  const bool *wraps;    /* per axis */
} ambit__tile_spec;

/* Who computes tiles: a core; a block of a GPU, chosen by the host; the same, brought to rest by
 * itself. */
typedef enum ambit__tile_worker { TILE_CORE, TILE_BLOCK, TILE_BLOCK_RELAXES } ambit__tile_worker;
/* The size of tiles that suits them: small enough to follow changes, large enough that the work on
 * one outweighs the decision. */
void ambit__tile_size(int ndims, ambit__tile_worker worker, int64_t *size);
/* The caller frees the map, also after a failure. */
ambit_status ambit__tile_map_make(ambit__errors *errors, const ambit__tile_spec *spec,
                                  ambit__tile_map *map);
void ambit__tile_map_free(ambit__tile_map *map);

ambit__box ambit__tile_box(const ambit__tile_map *map, int64_t tile);
ambit__box ambit__tile_zone_box(const ambit__tile_map *map, const ambit__box *tile, int zone);
/* The cells of a tile that read a zone of another one: at the opposite faces. */
ambit__box ambit__tile_readers(const ambit__tile_map *map, const ambit__box *tile, int zone,
                               const ambit__box *other);
/* The zones of a tile that have cells of a box, one bit each. */
uint32_t ambit__tile_zones(const ambit__tile_map *map, const ambit__box *tile,
                           const ambit__box *cells);
/* The smallest zone of a tile that contains some of its cells. */
int ambit__tile_zone_around(const ambit__tile_map *map, const ambit__box *tile,
                            const ambit__box *cells);
/* Calls `fn` for each tile of a part that has cells of a box. */
typedef void (*ambit__tile_fn)(void *user, int64_t tile);
void ambit__tiling_each(const ambit__tiling *t, const ambit__box *cells, ambit__tile_fn fn,
                        void *user);

#endif
