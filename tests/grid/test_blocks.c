/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of sparse grids against the function that they were made from, cell by cell. */
#include "grid/blocks.h"
#include "support/test.h"

#include <stdlib.h>

static ambit__errors errors;

static int is_active(const int64_t *cell, int kind)
{
  const uint64_t mix = (uint64_t)(cell[0] * 7919 + cell[1] * 104729 + cell[2] * 1299709);

  if (kind == 0) return 1;
  if (kind == 1) return mix * 0x9e3779b97f4a7c15u >> 62 == 0;
  return cell[0] < 20 && cell[2] % 3 != 1;
}

/* Adds the blocks in descending order. */
static ambit__blocks make(int64_t n0, int64_t n1, int64_t n2, int kind)
{
  const int64_t extents[] = {n0, n1, n2};
  const ambit__box box = ambit__box_of_extents(3, extents);
  ambit__blocks b, more;
  uint64_t mask[64];

  ambit__blocks_begin(&b, &box);
  ambit__blocks_begin(&more, &box);
  for (int64_t k = b.count[0] * b.count[1] * b.count[2] - 1; k >= 0; k--) {
    const int64_t at[] = {k / b.count[2] / b.count[1], k / b.count[2] % b.count[1], k % b.count[2]};

    memset(mask, 0, sizeof mask);
    for (int64_t c = 0; c < b.volume; c++) {
      const int64_t row = c >> b.shift[2];
      const int64_t cell[] = {(at[0] << b.shift[0]) + (row >> b.shift[1]),
                              (at[1] << b.shift[1]) + (row & ((1 << b.shift[1]) - 1)),
                              (at[2] << b.shift[2]) + (c & ((1 << b.shift[2]) - 1))};
      const bool inside = cell[0] < n0 && cell[1] < n1 && cell[2] < n2;

      if (inside && is_active(cell, kind)) mask[c / 64] |= (uint64_t)1 << c % 64;
    }
    CHECK(!ambit__blocks_add(&errors, k % 2 ? &b : &more, at, mask));
  }
  CHECK(!ambit__blocks_join(&errors, &b, &more));
  CHECK(!ambit__blocks_end(&errors, &b));
  return b;
}

static void each_cell_is_as_active_as_its_function_says(void)
{
  static const int64_t sizes[][3] = {{20, 9, 70}, {1, 1, 5}, {8, 8, 32}, {3, 40, 33}};

  for (int i = 0; i < 4; i++)
    for (int kind = 0; kind < 3; kind++) {
      ambit__blocks b = make(sizes[i][0], sizes[i][1], sizes[i][2], kind);
      int64_t cell[3], active = 0;

      for (cell[0] = 0; cell[0] < sizes[i][0]; cell[0]++)
        for (cell[1] = 0; cell[1] < sizes[i][1]; cell[1]++)
          for (cell[2] = 0; cell[2] < sizes[i][2]; cell[2]++) {
            CHECK_EQ(is_active(cell, kind), ambit__blocks_active(&b, cell));
            active += is_active(cell, kind);
          }
      CHECK_EQ(active, b.active);
      CHECK_EQ(active, ambit__blocks_count(&b, &b.box));
      ambit__blocks_free(&b);
    }
}

static void neighbours_are_those_at_the_places_beside(void)
{
  ambit__blocks b = make(40, 30, 200, 1);

  for (int64_t i = 0; i < b.n; i++) {
    CHECK_EQ(i, b.near[i * 27 + 13]);
    for (int k = 0; k < 27; k++) {
      const int64_t at[] = {b.at[i * 3] + k / 9 - 1, b.at[i * 3 + 1] + k / 3 % 3 - 1,
                            b.at[i * 3 + 2] + k % 3 - 1};
      bool inside = true;

      for (int d = 0; d < 3; d++)
        inside = inside && at[d] >= 0 && at[d] < b.count[d];
      CHECK_EQ(inside ? ambit__blocks_find(&b, at) : -1, b.near[i * 27 + k]);
    }
  }
  ambit__blocks_free(&b);
}

static void blocks_are_sorted_along_the_curve(void)
{
  ambit__blocks b = make(32, 32, 128, 0);

  CHECK_EQ(4 * 4 * 4, b.n);
  for (int64_t i = 1; i < b.n; i++)
    CHECK(b.key[i - 1] < b.key[i]);
  for (int i = 0; i < 8; i++) /* the first eight are a cube of blocks */
    for (int d = 0; d < 3; d++)
      CHECK(b.at[i * 3 + d] < 2);
  ambit__blocks_free(&b);
}

/* Marks cells that runs cover: each active cell of the clip once, and no other. */
static void runs_cover_the_active_cells_once(void)
{
  for (int kind = 0; kind < 3; kind++) {
    ambit__blocks b = make(20, 9, 70, kind);
    int *seen = calloc(20 * 9 * 70, sizeof *seen);
    const ambit__box clip = {.ndims = 3, .lo = {2, 1, 3}, .hi = {19, 8, 66}};
    int64_t n = 0, counted = 0;

    for (int64_t i = 0; i < b.n; i++) {
      const ambit__box cells = ambit__blocks_box(&b, i), both = ambit__box_intersect(&cells, &clip);
      ambit__runs r = {0};

      counted += ambit__blocks_count_in(&b, i, &clip);
      while (ambit__blocks_next_run(&b, i, &both, &r))
        for (int64_t z = r.box.lo[0]; z < r.box.hi[0]; z++)
          for (int64_t y = r.box.lo[1]; y < r.box.hi[1]; y++)
            for (int64_t x = r.box.lo[2]; x < r.box.hi[2]; x++)
              seen[(z * 9 + y) * 70 + x]++;
    }
    for (int64_t c = 0; c < 20 * 9 * 70; c++) {
      const int64_t cell[] = {c / 70 / 9, c / 70 % 9, c % 70};
      const bool in = cell[0] >= 2 && cell[0] < 19 && cell[1] >= 1 && cell[1] < 8 && cell[2] >= 3 &&
                      cell[2] < 66;

      CHECK_EQ(in && is_active(cell, kind), seen[c]);
      n += seen[c];
    }
    CHECK_EQ(n, counted);
    CHECK_EQ(n, ambit__blocks_count(&b, &clip));
    free(seen);
    ambit__blocks_free(&b);
  }
}

static void bits_at_an_offset_are_those_of_the_neighbours(void)
{
  ambit__blocks b = make(40, 30, 100, 1);
  static const int offsets[][6] = {{0, 0, 1}, {1, -2, -3}, {-8, 8, 32}, {3, 0, -32}, {0, 5, 17}};

  for (int64_t i = 0; i < b.n; i++)
    for (int o = 0; o < 5; o++)
      for (int64_t r = 0; r < 64; r++) {
        const int64_t row[] = {r / 8, r % 8, 0};
        const uint64_t bits = ambit__blocks_bits_at(&b, i, row, offsets[o]);

        for (int x = 0; x < 32; x++) {
          int64_t cell[3];
          bool inside = true;

          for (int d = 0; d < 3; d++) {
            cell[d] = (b.at[i * 3 + d] << b.shift[d]) + (d < 2 ? row[d] : x) + offsets[o][d];
            inside = inside && cell[d] >= 0 && cell[d] < b.box.hi[d];
          }
          CHECK_EQ(inside && is_active(cell, 1), bits >> x & 1);
        }
      }
  ambit__blocks_free(&b);
}

int main(int argc, char **argv)
{
  static const test_case cases[] = {
      {"each_cell_is_as_active_as_its_function_says", each_cell_is_as_active_as_its_function_says},
      {"neighbours_are_those_at_the_places_beside", neighbours_are_those_at_the_places_beside},
      {"blocks_are_sorted_along_the_curve", blocks_are_sorted_along_the_curve},
      {"runs_cover_the_active_cells_once", runs_cover_the_active_cells_once},
      {"bits_at_an_offset_are_those_of_the_neighbours",
       bits_at_an_offset_are_those_of_the_neighbours},
      {NULL, NULL}};

  return test_main(argc, argv, cases);
}
