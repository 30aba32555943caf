/* SPDX-License-Identifier: BSD-3-Clause */
/* Tiles: they cover the parts, and their links are exactly the tiles that a tile reads. */
#include "grid/boundary.h"
#include "grid/tiles.h"
#include "support/test.h"

static ambit__errors errors;

typedef struct scene {
  ambit__box grid;
  ambit__box parts[4];
  bool mine[4];
  int64_t size[2], reach[2];
  bool wraps[2];
} scene;

/* 20 x 30 cells in 2 x 2 unequal parts. */
static scene make_scene(void)
{
  static const int64_t ends[2][3] = {{0, 7, 20}, {0, 18, 30}};
  scene s = {.grid = {2, {0, 0}, {20, 30}}, .size = {4, 8}, .reach = {1, 2}};

  for (int i = 0; i < 4; i++) {
    s.parts[i] =
        (ambit__box){2, {ends[0][i / 2], ends[1][i % 2]}, {ends[0][i / 2 + 1], ends[1][i % 2 + 1]}};
    s.mine[i] = true;
  }
  return s;
}

static ambit_status make_map(const scene *s, ambit__tile_map *map)
{
  const ambit__tile_spec spec = {.grid = &s->grid,
                                 .parts = s->parts,
                                 .nparts = 4,
                                 .mine = s->mine,
                                 .size = s->size,
                                 .reach = s->reach,
                                 .wraps = s->wraps};

  return ambit__tile_map_make(&errors, &spec, map);
}

static int tile_of[20][30];

static void mark(const ambit__tile_map *map)
{
  memset(tile_of, -1, sizeof tile_of);
  for (int64_t t = 0; t < map->n; t++) {
    const ambit__box b = ambit__tile_box(map, t);

    for (int64_t y = b.lo[0]; y < b.hi[0]; y++)
      for (int64_t x = b.lo[1]; x < b.hi[1]; x++) {
        CHECK_EQ(-1, tile_of[y][x]);
        tile_of[y][x] = (int)t;
      }
  }
}

static void tiles_cover_the_grid_once(void)
{
  const scene s = make_scene();
  ambit__tile_map map;

  CHECK(!make_map(&s, &map));
  mark(&map);
  for (int y = 0; y < 20; y++)
    for (int x = 0; x < 30; x++)
      CHECK(tile_of[y][x] >= 0);
  CHECK_EQ(2 * 3 + 2 * 2 + 4 * 3 + 4 * 2, map.n);
  ambit__tile_map_free(&map);
}

/* Whether a tile has a link to the zone that contains a cell, of another tile. */
static bool is_linked(const ambit__tile_map *map, int tile, int64_t y, int64_t x)
{
  const int other = tile_of[y][x];
  const ambit__box whole = ambit__tile_box(map, other), cell = {2, {y, x}, {y + 1, x + 1}};
  const uint32_t zones = ambit__tile_zones(map, &whole, &cell);

  for (int64_t i = map->reads.first[tile]; i < map->reads.first[tile + 1]; i++)
    if (map->reads.list[i].tile == other && (zones >> map->reads.list[i].zone & 1)) return true;
  return false;
}

/* Every read of every cell, around both axes if they wrap, is in a linked zone. */
static void check_links(const scene *s, const ambit__tile_map *map)
{
  for (int y = 0; y < 20; y++)
    for (int x = 0; x < 30; x++)
      for (int64_t dy = -s->reach[0]; dy <= s->reach[0]; dy++)
        for (int64_t dx = -s->reach[1]; dx <= s->reach[1]; dx++) {
          const ambit_boundary kind[] = {s->wraps[0] ? AMBIT_PERIODIC : AMBIT_SYMMETRIC,
                                         s->wraps[1] ? AMBIT_PERIODIC : AMBIT_REFLECT};

          CHECK_MSG(is_linked(map, tile_of[y][x], ambit__boundary_map(kind[0], 20, y + dy),
                              ambit__boundary_map(kind[1], 30, x + dx)),
                    "cell %d %d at %d %d", y, x, (int)dy, (int)dx);
        }
}

static void all_reads_are_linked(void)
{
  for (int wraps = 0; wraps < 4; wraps++)
    for (int reach = 0; reach < 40; reach = 2 * reach + 1) {
      scene s = make_scene();
      ambit__tile_map map;

      s.wraps[0] = wraps & 1;
      s.wraps[1] = wraps >> 1;
      s.reach[0] = reach / 2;
      s.reach[1] = reach;
      CHECK(!make_map(&s, &map));
      mark(&map);
      check_links(&s, &map);
      ambit__tile_map_free(&map);
    }
}

/* Links are not to tiles that no read reaches, nor to zones that do not matter. */
static void no_more_than_neighbours_are_linked(void)
{
  const scene s = make_scene();
  ambit__tile_map map;

  CHECK(!make_map(&s, &map));
  mark(&map);
  for (int64_t t = 0; t < map.n; t++)
    CHECK(map.reads.first[t + 1] - map.reads.first[t] <= 1 + 2 * 6);
  CHECK(!is_linked(&map, tile_of[0][0], 1, 8 + 2)); /* beyond the strip of its neighbour */
  CHECK(is_linked(&map, tile_of[0][0], 1, 8 + 1));
  CHECK(!is_linked(&map, tile_of[0][0], 19, 0));
  ambit__tile_map_free(&map);
}

static void feeds_are_the_reverse_of_reads(void)
{
  scene s = make_scene();
  ambit__tile_map map;
  int64_t links = 0;

  s.mine[1] = s.mine[2] = false;
  CHECK(!make_map(&s, &map));
  for (int64_t t = 0; t < map.n; t++) {
    for (int64_t i = map.feeds.first[t]; i < map.feeds.first[t + 1]; i++, links++) {
      const int reader = map.feeds.list[i].tile;
      bool found = false;

      CHECK(s.mine[map.part[reader]]);
      for (int64_t k = map.reads.first[reader]; k < map.reads.first[reader + 1]; k++)
        found |= map.reads.list[k].tile == t;
      CHECK(found);
    }
    if (!s.mine[map.part[t]]) CHECK_EQ(map.reads.first[t], map.reads.first[t + 1]);
  }
  for (int64_t t = 0; t < map.n; t++)
    links -= map.reads.first[t + 1] - map.reads.first[t] - s.mine[map.part[t]];
  CHECK_EQ(0, links);
  ambit__tile_map_free(&map);
}

static void a_change_in_the_middle_is_in_no_strip(void)
{
  const scene s = make_scene();
  ambit__tile_map map;
  const ambit__box tile = {2, {0, 0}, {4, 8}}, middle = {2, {1, 2}, {3, 6}};
  const ambit__box corner = {2, {3, 7}, {4, 8}}, none = {2, {4, 8}, {0, 0}};

  CHECK(!make_map(&s, &map));
  CHECK_EQ(1, ambit__tile_zones(&map, &tile, &middle));
  CHECK_EQ(0, ambit__tile_zones(&map, &tile, &none));
  /* all; low or high along axis 0; the same along axis 1; corners */
  CHECK_EQ(1 | 1 << 2 | 1 << 6 | 1 << 8, ambit__tile_zones(&map, &tile, &corner));
  CHECK_EQ(0x1ff, ambit__tile_zones(&map, &tile, &tile));
  CHECK_EQ(8, ambit__tile_zone_around(&map, &tile, &corner));
  CHECK_EQ(0, ambit__tile_zone_around(&map, &tile, &middle));
  ambit__tile_map_free(&map);
}

static const test_case tests[] = {
    {"tiles_cover_the_grid_once", tiles_cover_the_grid_once},
    {"all_reads_are_linked", all_reads_are_linked},
    {"no_more_than_neighbours_are_linked", no_more_than_neighbours_are_linked},
    {"feeds_are_the_reverse_of_reads", feeds_are_the_reverse_of_reads},
    {"a_change_in_the_middle_is_in_no_strip", a_change_in_the_middle_is_in_no_strip},
    {NULL, NULL}};

int main(int argc, char **argv)
{
  return test_main(argc, argv, tests);
}
