/* SPDX-License-Identifier: BSD-3-Clause */
/* test_storage.c - the storage that the model chooses on cores, where it was measured: with the
 * D3Q19 model in runs and in a list, with and without tests of activity. */
#include "grid/storage.h"
#include "support/test.h"

#include <stdlib.h>

static ambit__errors errors;

enum { N = 64 };

typedef enum { SHELL, THICK_SHELL, BALL, HALF, WIRE, ALONE, SHAPES } shape;

/* Cells at random: one of so many. */
static bool at_random(const int64_t *cell, uint32_t of)
{
  uint64_t mix = (uint64_t)((cell[0] * N + cell[1]) * N + cell[2]);

  mix = (mix ^ mix >> 7) * 0x9e3779b97f4a7c15u;
  mix = (mix ^ mix >> 33) * 0xc4ceb9fe1a85ec53u;
  return (mix >> 32) % of == 0;
}

static bool is_active(const int64_t *cell, shape s)
{
  double square = 0; /* of the distance from the middle */

  for (int d = 0; d < 3; d++)
    square += ((double)cell[d] - (N - 1) / 2.0) * ((double)cell[d] - (N - 1) / 2.0);
  switch (s) {
  case SHELL: return square < 29 * 29 && square >= 28 * 28;
  case THICK_SHELL: return square < 29 * 29 && square >= 26 * 26;
  case BALL: return square < 29 * 29;
  case HALF: return at_random(cell, 2);
  case WIRE: return llabs(cell[1] - cell[0]) < 2 && llabs(cell[2] - cell[0]) < 2;
  default: return at_random(cell, 20);
  }
}

static ambit__active make(shape s)
{
  const ambit__box box = ambit__box_of_extents(3, (int64_t[]){N, N, N});
  ambit__active a;
  int64_t cell[3];

  ambit__active_begin(&a, &box, STORAGE_RUNS);
  for (int64_t row = 0; row < N * N; row++) {
    ambit__run r = {.row = row};

    ambit__active_place(&a, row, cell);
    for (cell[2] = 0; cell[2] <= N; cell[2]++)
      if (cell[2] < N && is_active(cell, s)) {
        r.hi = cell[2] + 1;
      } else {
        if (r.lo < r.hi) CHECK(!ambit__active_add(&errors, &a, &r));
        r.lo = r.hi = cell[2] + 1;
      }
  }
  CHECK(!ambit__active_end(&errors, &a, 8));
  return a;
}

/* Reads a star or the 18 neighbours of D3Q19, which a program may test. */
static ambit__chunk_form form_of(bool list, int most, bool tests)
{
  const ambit__boundaries b = {.inactive = AMBIT_CONSTANT};
  ambit__chunk_form f = {.list = list};
  const int view = ambit__chunk_form_view(&errors, &f, &b);

  for (int k = 0; k < 27; k++) {
    const int offset[] = {k / 9 - 1, k / 3 % 3 - 1, k % 3 - 1};
    const int steps = abs(offset[0]) + abs(offset[1]) + abs(offset[2]);

    if (!steps || steps > most) continue;
    CHECK(!ambit__chunk_form_add(&errors, &f, 3, view, offset, false));
    if (tests) CHECK(!ambit__chunk_form_add(&errors, &f, 3, view, offset, true));
  }
  CHECK(!ambit__chunk_form_rank(&errors, &f, 3));
  return f;
}

/* The storage of a field of floats with so many components, whose cells read within `most` steps
 * along axes. */
static ambit__storage choose(shape s, int components, int most, bool tests)
{
  const double bytes = 8.0 * components; /* read and written */
  double costs[AMBIT__STORAGES];
  ambit__active runs = make(s);

  for (int k = 0; k < AMBIT__STORAGES; k++) {
    ambit__chunk_form f = form_of(k == STORAGE_LIST, most, tests);
    ambit__active a = {0};
    ambit__toll t;

    CHECK(!ambit__active_store(&errors, &runs, (ambit__storage)k, 8, &a));
    t = ambit__storage_toll(&a, &f, sizeof(float), bytes, 0);
    costs[k] = ambit__storage_costs(&t, SITE_CORES, bytes, bytes / 2);
    ambit__active_free(&a);
    ambit__chunk_form_free(&f);
  }
  ambit__active_free(&runs);
  return ambit__storage_best(costs);
}

/* A chunk reads an activity for each test, however few cells it has, and a list has the most. */
static void tests_of_activity_count(void)
{
  for (int s = 0; s < SHAPES; s++)
    CHECK_MSG(choose((shape)s, 19, 2, true) == (s == ALONE ? STORAGE_LIST : STORAGE_RUNS),
              "shape %d", s);
}

/* On the shell of one cell and the wire runs are 0.7 to 1.6 times as fast, as caches decide. */
static void a_list_saves_lines_of_many_values(void)
{
  for (int s = 0; s < SHAPES; s++)
    if (s != SHELL && s != WIRE)
      CHECK_MSG(choose((shape)s, 19, 2, false) == (s == ALONE ? STORAGE_LIST : STORAGE_RUNS),
                "shape %d", s);
}

static void a_list_pays_off_for_stars_of_single_cells_alone(void)
{
  for (int s = 0; s < SHAPES; s++)
    CHECK_MSG(choose((shape)s, 1, 1, false) == (s == ALONE ? STORAGE_LIST : STORAGE_RUNS),
              "shape %d", s);
}

int main(int argc, char **argv)
{
  static const test_case cases[] = {
      {"tests_of_activity_count", tests_of_activity_count},
      {"a_list_saves_lines_of_many_values", a_list_saves_lines_of_many_values},
      {"a_list_pays_off_for_stars_of_single_cells_alone",
       a_list_pays_off_for_stars_of_single_cells_alone},
      {NULL, NULL}};

  return test_main(argc, argv, cases);
}
