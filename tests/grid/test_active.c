/* SPDX-License-Identifier: BSD-3-Clause */
/* The runs of sparse grids against the function that they were made from, cell by cell; parts. */
#include "masks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void each_cell_is_as_active_as_its_function_says(void)
{
  for (int i = 0; i < SIZES * KINDS; i++) {
    const int64_t *n = sizes[i / KINDS];
    ambit__active a = make(n, i % KINDS, 8);
    int64_t cell[3], active = 0;

    for (cell[0] = 0; cell[0] < n[0]; cell[0]++)
      for (cell[1] = 0; cell[1] < n[1]; cell[1]++)
        for (cell[2] = 0; cell[2] < n[2]; cell[2]++) {
          CHECK_EQ(is_active(cell, i % KINDS), ambit__active_has(&a, cell));
          active += is_active(cell, i % KINDS);
        }
    CHECK_EQ(active, a.cells);
    CHECK_EQ(active, ambit__active_count(&a, &a.box));
    ambit__active_free(&a);
  }
}

/* Marks cells that the runs of a box cover: each active cell of it once, and no other. */
static void boxes_have_the_active_cells_once(void)
{
  const ambit__box clip = {.ndims = 3, .lo = {2, 1, 3}, .hi = {19, 8, 66}};

  for (int kind = 0; kind < KINDS; kind++) {
    ambit__active a = make(sizes[0], kind, 8);
    int *seen = calloc(20 * 9 * 70, sizeof *seen);
    int64_t n = 0, i = 0;
    ambit__box row;

    while (ambit__active_next(&a, &clip, &i, &row))
      for (int64_t x = row.lo[2]; x < row.hi[2]; x++)
        seen[(row.lo[0] * 9 + row.lo[1]) * 70 + x]++;
    for (int64_t c = 0; c < 20 * 9 * 70; c++) {
      const int64_t cell[] = {c / 70 / 9, c / 70 % 9, c % 70};
      const bool in = cell[0] >= 2 && cell[0] < 19 && cell[1] >= 1 && cell[1] < 8 && cell[2] >= 3 &&
                      cell[2] < 66;

      CHECK_EQ(in && is_active(cell, kind), seen[c]);
      n += seen[c];
    }
    CHECK_EQ(n, ambit__active_count(&a, &clip));
    free(seen);
    ambit__active_free(&a);
  }
}

/* Seconds to visit each run of a row that has n of them by a box of its own. */
static double time_of_visits(int64_t n)
{
  const ambit__box all = {.ndims = 2, .hi = {2, 2 * n}};
  ambit__active a;
  int64_t found = 0;
  clock_t start;

  ambit__active_begin(&a, &all, STORAGE_RUNS);
  for (int64_t i = 0; i < n; i++)
    CHECK_EQ(AMBIT_OK, ambit__active_add(NULL, &a, &(ambit__run){.lo = 2 * i, .hi = 2 * i + 1}));
  CHECK_EQ(AMBIT_OK, ambit__active_end(NULL, &a, 0));
  start = clock();
  for (int64_t x = 0; x < 2 * n; x++) {
    const ambit__box cell = {.ndims = 2, .lo = {0, x}, .hi = {2, x + 1}};

    found += ambit__active_count(&a, &cell);
  }
  start = clock() - start;
  CHECK_EQ(n, found);
  ambit__active_free(&a);
  return (double)start / CLOCKS_PER_SEC;
}

static void the_runs_behind_a_box_are_not_visited(void)
{
  enum { FEW = 2048, MANY = 8 * FEW };
  const double few = time_of_visits(FEW), many = time_of_visits(MANY);

  CHECK_MSG(many < 24 * few + 0.05, "%d runs take %.3f s, %d take %.3f s", FEW, few, MANY, many);
}

/* ---- parts ---- */

/* Parts tile the box. */
static void check_tiling(const ambit__box *box, const ambit__box *parts, int nparts)
{
  int64_t volume = 0;

  for (int i = 0; i < nparts; i++) {
    if (ambit__box_is_empty(&parts[i])) continue;
    CHECK(ambit__box_contains(box, &parts[i]));
    volume += ambit__box_volume(&parts[i]);
    for (int k = 0; k < i; k++) {
      const ambit__box both = ambit__box_intersect(&parts[k], &parts[i]);

      CHECK(ambit__box_is_empty(&both));
    }
  }
  CHECK_EQ(ambit__box_volume(box), volume);
}

/* The largest distance of a part's active cells from the number that its weight demands. */
static double imbalance(const ambit__active *a, const ambit__box *parts, int nparts,
                        const double *weights)
{
  double all = 0, most = 0;

  for (int i = 0; i < nparts; i++)
    all += weights ? weights[i] : 1;
  for (int i = 0; i < nparts; i++) {
    const double wanted = (double)a->cells * (weights ? weights[i] : 1) / all;
    const double off = fabs((double)ambit__active_count(a, &parts[i]) - wanted);

    if (off > most) most = off;
  }
  return most;
}

static void parts_have_active_cells_in_proportion_to_weights(void)
{
  static const int64_t extents[] = {90, 80, 70};
  static const double weights[] = {1, 2, 0, 1, 3};

  for (int kind = 0; kind < KINDS; kind++) {
    ambit__active a = make(extents, kind, 8);
    ambit__box parts[16];

    for (int nparts = 1; nparts <= 16; nparts += nparts < 4 ? 1 : 12) {
      CHECK(!ambit__active_cut(&errors, &a, nparts, NULL, NULL, parts));
      check_tiling(&a.box, parts, nparts);
      CHECK(imbalance(&a, parts, nparts, NULL) < 0.02 * (double)a.cells / nparts);
    }
    CHECK(!ambit__active_cut(&errors, &a, 5, NULL, weights, parts));
    check_tiling(&a.box, parts, 5);
    CHECK(imbalance(&a, parts, 5, weights) < 0.03 * 3 / 7 * (double)a.cells);
    CHECK_EQ(0, ambit__active_count(&a, &parts[2]));
    ambit__active_free(&a);
  }
}

/* As many slices along each axis as were asked for, with equal numbers of cells up to planes. */
static void parts_are_cut_along_the_axes_that_are_given(void)
{
  static const int64_t extents[] = {60, 45, 70};
  static const int counts[] = {4, 3, 1};
  ambit__active a = make(extents, 1, 8);
  ambit__box parts[12];

  CHECK(!ambit__active_cut(&errors, &a, 12, counts, NULL, parts));
  check_tiling(&a.box, parts, 12);
  for (int i = 0; i < 12; i++) {
    CHECK_EQ(parts[i / 3 * 3].lo[0], parts[i].lo[0]);
    CHECK_EQ(0, parts[i].lo[2]);
    CHECK_EQ(70, parts[i].hi[2]);
  }
  CHECK(imbalance(&a, parts, 12, NULL) < 0.15 * (double)a.cells / 12);
  ambit__active_free(&a);
}

/* Whether index i is one of lo .. hi - 1, around the ends of an axis. */
static bool is_near(int64_t i, int64_t lo, int64_t hi, int64_t extent)
{
  for (int64_t k = lo; k < hi; k++)
    if ((k + extent) % extent == i) return true;
  return false;
}

/* A part stores the active cells of its own box and of those beside it, once, also around the ends.
 */
static void parts_store_cells_beside_their_own(void)
{
  const ambit__layers layers = {.lo = {2, 1, 3}, .hi = {3, 0, 5}};
  const int64_t *n = sizes[0];
  ambit__active a = make(n, 1, 16);

  for (int k = 0; k < 40; k++) {
    const ambit__box own = {.ndims = 3,
                            .lo = {k % 5 * 4, k % 3 * 3, k % 2 * 35},
                            .hi = {k % 5 * 4 + k % 7 % 5, k % 3 * 3 + 3, k % 4 < 2 ? 70 : 40}};
    ambit__active part;
    int64_t cell[3], cells = 0;

    CHECK(!ambit__active_part(&errors, &a, &own, &layers, &part));
    CHECK_EQ(16, part.pad);
    for (cell[0] = 0; cell[0] < n[0]; cell[0]++)
      for (cell[1] = 0; cell[1] < n[1]; cell[1]++)
        for (cell[2] = 0; cell[2] < n[2]; cell[2]++) {
          bool has = !ambit__box_is_empty(&own) && ambit__active_has(&a, cell);

          for (int d = 0; d < 3; d++)
            has = has && is_near(cell[d], own.lo[d] - layers.lo[d], own.hi[d] + layers.hi[d], n[d]);
          CHECK_EQ(has, ambit__active_has(&part, cell));
          cells += has;
        }
    CHECK_EQ(cells, part.cells);
    for (int64_t i = 1; i < part.n; i++)
      CHECK(part.runs[i].row > part.runs[i - 1].row ||
            (part.runs[i].row == part.runs[i - 1].row && part.runs[i].lo >= part.runs[i - 1].hi));
    ambit__active_free(&part);
  }
  ambit__active_free(&a);
}

int main(int argc, char **argv)
{
  static const test_case cases[] = {
      {"each_cell_is_as_active_as_its_function_says", each_cell_is_as_active_as_its_function_says},
      {"boxes_have_the_active_cells_once", boxes_have_the_active_cells_once},
      {"the_runs_behind_a_box_are_not_visited", the_runs_behind_a_box_are_not_visited},
      {"parts_have_active_cells_in_proportion_to_weights",
       parts_have_active_cells_in_proportion_to_weights},
      {"parts_are_cut_along_the_axes_that_are_given", parts_are_cut_along_the_axes_that_are_given},
      {"parts_store_cells_beside_their_own", parts_store_cells_beside_their_own},
      {NULL, NULL}};

  return test_main(argc, argv, cases);
}
