/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts tile the grid and have the right share of cells. */
#include "grid/partition.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_PARTS = 64 };

static uint64_t state = 1;

static int dice(int n) /* 0..n-1 */
{
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (int)((state >> 33) % (uint64_t)n);
}

/* Each cell of the grid is in exactly one part. */
static void check_tiling(const ambit__box *grid, const ambit__box *parts, int nparts)
{
  int64_t cells = 0;

  for (int p = 0; p < nparts; p++) {
    CHECK(ambit__box_contains(grid, &parts[p]));
    cells += ambit__box_volume(&parts[p]);
    for (int q = 0; q < p; q++) {
      ambit__box both = ambit__box_intersect(&parts[p], &parts[q]);

      CHECK(ambit__box_is_empty(&both));
    }
  }
  CHECK_EQ(ambit__box_volume(grid), cells);
}

static const ambit__comm_cost cores = AMBIT__CORES_COMM_COST;
static ambit__comm_cost comm_cost = AMBIT__CORES_COMM_COST;

static void make(const ambit__box *grid, int nparts, const char *text, const double *weights,
                 ambit__box *parts)
{
  ambit__errors errors = {0};
  ambit__cuts cuts;

  CHECK_MSG(ambit__cuts_parse(text, &cuts), "%s", text);
  cuts.comm_cost = comm_cost;
  CHECK_EQ(AMBIT_OK, ambit__partition_make(&errors, grid, nparts, &cuts, weights, parts));
  CHECK(!errors.text);
  ambit__errors_clear(&errors);
  check_tiling(grid, parts, nparts);
}

static void cuts_are_numbers_with_an_x_between_them(void)
{
  static const char *const bad[] = {"",
                                    "x",
                                    "2x",
                                    "x2",
                                    "0",
                                    "0x2",
                                    "-1",
                                    "+2",
                                    "2 x",
                                    "2x2 ",
                                    "2X2",
                                    "two",
                                    "99999999999999",
                                    "autos",
                                    " 2",
                                    "1x1x1x1x1x1x1"};
  ambit__cuts c = {.n = 7};

  CHECK(ambit__cuts_parse("auto", &c));
  CHECK_EQ(0, c.n);
  CHECK(ambit__cuts_parse("12", &c));
  CHECK(c.n == 1 && c.count[0] == 12);
  CHECK(ambit__cuts_parse("1x2x3", &c));
  CHECK(c.n == 3 && c.count[0] == 1 && c.count[1] == 2 && c.count[2] == 3);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    CHECK_MSG(!ambit__cuts_parse(bad[i], &c), "'%s' was understood", bad[i]);
  CHECK_EQ(3, c.n);
}

static void parts_tile_any_grid(void)
{
  for (int round = 0; round < 2000; round++) {
    ambit__box grid = {.ndims = 1 + dice(4)}, parts[MOST_PARTS];
    double weights[MOST_PARTS];
    ambit__cuts cuts = {.n = dice(2) ? 0 : 1 + dice(grid.ndims)};
    int nparts = cuts.n ? 1 : 1 + dice(MOST_PARTS);

    for (int d = 0; d < grid.ndims; d++)
      grid.hi[d] = 1 + dice(dice(2) ? 3 : 40);
    for (int d = 0; d < cuts.n; d++)
      nparts *= cuts.count[d] = 1 + dice(cuts.n == 1 ? 20 : 2 + (d < 2));
    for (int p = 0; p < nparts; p++)
      weights[p] = dice(3) * 0.7;
    weights[dice(nparts)] = 1;
    CHECK_EQ(AMBIT_OK,
             ambit__partition_make(NULL, &grid, nparts, &cuts, dice(2) ? weights : NULL, parts));
    check_tiling(&grid, parts, nparts);
  }
}

static void bands_differ_by_one_row(void)
{
  const ambit__box grid = {.ndims = 2, .hi = {100, 30}};

  for (int n = 1; n <= MOST_PARTS; n++) {
    ambit__box parts[MOST_PARTS];
    const ambit__cuts cuts = {.n = 1, .count = {n}};

    CHECK_EQ(AMBIT_OK, ambit__partition_make(NULL, &grid, n, &cuts, NULL, parts));
    for (int p = 0; p < n; p++) {
      int64_t rows = parts[p].hi[0] - parts[p].lo[0];

      CHECK(rows == 100 / n || rows == 100 / n + 1);
      CHECK_EQ(30, parts[p].hi[1] - parts[p].lo[1]);
    }
  }
}

static void weights_are_kept_part_by_part(void)
{
  const ambit__box grid = {.ndims = 2, .hi = {1000, 3200}};
  const double weights[] = {1, 3, 0, 4, 2, 2};
  ambit__box parts[6];

  make(&grid, 6, "2x3", weights, parts);
  for (int p = 0; p < 6; p++) {
    double share = (double)ambit__box_volume(&parts[p]) / (1000.0 * 3200.0);

    CHECK_MSG(fabs(share - weights[p] / 12) < 0.003, "part %d has %g", p, share);
  }
  CHECK(ambit__box_is_empty(&parts[2]));
  CHECK_EQ(333, parts[0].hi[0]);
}

static void rows_are_cut_at_whole_lines(void)
{
  const ambit__box wide = {.ndims = 2, .hi = {4, 1000}}, narrow = {.ndims = 2, .hi = {4, 40}};
  ambit__box parts[4];

  make(&wide, 4, "1x4", NULL, parts);
  for (int p = 0; p < 4; p++)
    CHECK_EQ(0, parts[p].lo[1] % 16);
  make(&narrow, 4, "1x4", NULL, parts); /* too narrow: equal parts matter more */
  for (int p = 0; p < 4; p++)
    CHECK_EQ(10, parts[p].hi[1] - parts[p].lo[1]);
}

/* The counts that auto chose, from the starts of the parts along each axis. */
static void check_auto(int ndims, const int64_t *extents, int nparts, const char *want)
{
  const ambit__box grid = ambit__box_of_extents(ndims, extents);
  ambit__box *parts = calloc((size_t)nparts, sizeof *parts);
  char got[64] = "";

  make(&grid, nparts, "auto", NULL, parts);
  for (int d = 0; d < ndims; d++) {
    int count = 0;

    for (int p = 0; p < nparts; p++) {
      bool first = true;

      for (int e = 0; e < ndims; e++)
        first = first && (e == d || parts[p].lo[e] == 0);
      count += first && !ambit__box_is_empty(&parts[p]);
    }
    (void)snprintf(got + strlen(got), sizeof got - strlen(got), "%s%d", d ? "x" : "", count);
  }
  CHECK_STR(want, got);
  free(parts);
}

static void few_parts_are_bands_and_many_are_blocks(void)
{
  check_auto(1, (int64_t[]){1000}, 6, "6");
  check_auto(2, (int64_t[]){4096, 4096}, 16, "16x1");
  check_auto(2, (int64_t[]){4096, 4096}, 1024, "128x8");
  check_auto(3, (int64_t[]){512, 512, 512}, 4, "4x1x1");
  check_auto(3, (int64_t[]){512, 512, 512}, 64, "8x8x1");
  check_auto(3, (int64_t[]){512, 512, 512}, 7, "7x1x1");
  check_auto(3, (int64_t[]){2, 512, 512}, 7, "1x7x1");
  check_auto(2, (int64_t[]){1, 5000}, 4, "1x4");
  check_auto(2, (int64_t[]){3, 5}, 30, "3x1"); /* the other 27 would only wait */
}

static void cuts_spare_what_costs_most(void)
{
  const int64_t cube[] = {2048, 2048, 2048}, plane[] = {44000, 44000};

  check_auto(3, cube, 16, "16x1x1");
  comm_cost = (ambit__comm_cost){.cell = 200, .line = 100, .overlaps = true};
  check_auto(3, cube, 16, "4x2x2"); /* bands would wait for messages, */
  check_auto(3, cube, 4, "4x1x1");  /* but not if cells take longer, */
  check_auto(2, plane, 64, "64x1");
  comm_cost.line = 5000; /* and rows are not cut if that is expensive */
  check_auto(3, cube, 16, "4x4x1");
  comm_cost = (ambit__comm_cost){.cell = 200, .line = 100, .overlaps = true};
  check_auto(2, plane, 1024, "64x16");
  comm_cost.message = 8e6; /* long messages are better than many */
  check_auto(2, plane, 1024, "1024x1");
  comm_cost = (ambit__comm_cost){.cell = 100, .line = 100}; /* nothing overlaps the messages */
  check_auto(3, cube, 4, "2x2x1");
  comm_cost = cores;
}

static void wrong_requests_are_refused_in_words(void)
{
  const ambit__box grid = {.ndims = 2, .hi = {8, 8}};
  const double none[3] = {0}, negative[3] = {1, -1, 1}, nan[3] = {1, NAN, 1};
  const struct {
    int nparts;
    const char *cuts;
    const double *weights;
    const char *words;
  } cases[] = {{3, "2x2", NULL, "partition 2x2 makes 4 parts, but there are 3"},
               {1, "1x1x1", NULL, "cuts 3 axes, but the grid has 2"},
               {3, "3", none, "add up to 0"},
               {3, "3", negative, "weight of part 1 is -1"},
               {3, "3", nan, "weight of part 1 is"}};

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ambit__errors errors = {0};
    ambit__cuts cuts;
    ambit__box parts[4];

    CHECK(ambit__cuts_parse(cases[i].cuts, &cuts));
    CHECK_EQ(AMBIT_EINVAL, ambit__partition_make(&errors, &grid, cases[i].nparts, &cuts,
                                                 cases[i].weights, parts));
    CHECK_MSG(errors.text && strstr(errors.text, cases[i].words), "%s", errors.text);
    ambit__errors_clear(&errors);
  }
}

static void a_cell_has_one_owner(void)
{
  const ambit__box grid = {.ndims = 2, .hi = {4, 6}};
  ambit__box parts[4];

  make(&grid, 4, "2x2", NULL, parts);
  CHECK_EQ(0, ambit__partition_owner(parts, 4, (int64_t[]){1, 2}));
  CHECK_EQ(1, ambit__partition_owner(parts, 4, (int64_t[]){1, 3}));
  CHECK_EQ(2, ambit__partition_owner(parts, 4, (int64_t[]){2, 0}));
  CHECK_EQ(-1, ambit__partition_owner(parts, 4, (int64_t[]){4, 0}));
}

static void check_picture(const ambit__box *grid, const char *cuts, int nparts,
                          const double *weights, const char *want)
{
  ambit__box parts[MOST_PARTS];
  ambit__text t = {0};
  char *got;

  make(grid, nparts, cuts, weights, parts);
  ambit__partition_print(&t, grid, parts, nparts);
  got = ambit__text_finish(&t);
  CHECK_STR(want, got);
  free(got);
}

static void a_picture_shows_who_owns_what(void)
{
  const ambit__box line = {.ndims = 1, .hi = {10}}, plane = {.ndims = 2, .hi = {3, 8}};
  const ambit__box cube = {.ndims = 3, .hi = {6, 2, 4}}, large = {.ndims = 2, .hi = {2, 64000}};
  const double weights[] = {1, 3, 1, 1};

  check_picture(&line, "3", 3, NULL, "  0001111222\n");
  check_picture(&plane, "2x2", 4, weights, "  00111111\n  00111111\n  22223333\n");
  check_picture(&cube, "2x2", 4, NULL, "[0,3):\n  0000\n  1111\n[3,6):\n  2222\n  3333\n");
  check_picture(&large, "1x2", 2, NULL,
                "  0000000000000000000000000000000011111111111111111111111111111111\n"
                "  0000000000000000000000000000000011111111111111111111111111111111\n");
}

static void a_long_picture_is_cut_short(void)
{
  const ambit__box cube = {.ndims = 3, .hi = {20, 1, 1}};
  ambit__box parts[20];
  ambit__text t = {0};
  char *got;

  make(&cube, 20, "20", NULL, parts);
  ambit__partition_print(&t, &cube, parts, 20);
  got = ambit__text_finish(&t);
  CHECK(strstr(got, "[15,16):\n  f\nand 4 more\n") != NULL);
  free(got);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"cuts_are_numbers_with_an_x_between_them", cuts_are_numbers_with_an_x_between_them},
      {"parts_tile_any_grid", parts_tile_any_grid},
      {"bands_differ_by_one_row", bands_differ_by_one_row},
      {"weights_are_kept_part_by_part", weights_are_kept_part_by_part},
      {"rows_are_cut_at_whole_lines", rows_are_cut_at_whole_lines},
      {"few_parts_are_bands_and_many_are_blocks", few_parts_are_bands_and_many_are_blocks},
      {"cuts_spare_what_costs_most", cuts_spare_what_costs_most},
      {"wrong_requests_are_refused_in_words", wrong_requests_are_refused_in_words},
      {"a_cell_has_one_owner", a_cell_has_one_owner},
      {"a_picture_shows_who_owns_what", a_picture_shows_who_owns_what},
      {"a_long_picture_is_cut_short", a_long_picture_is_cut_short},
      {0}};

  return test_main(argc, argv, tests);
}
