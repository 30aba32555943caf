/* SPDX-License-Identifier: BSD-3-Clause */
/* Boxes: the arithmetic on which all else is based. */
#include "grid/box.h"
#include "support/test.h"

#include <string.h>

static const ambit__box plane = {.ndims = 2, .lo = {2, 3}, .hi = {10, 6}};

static void a_box_of_extents_starts_at_zero(void)
{
  ambit__box b = ambit__box_of_extents(3, (int64_t[]){4, 5, 6});

  CHECK_EQ(3, b.ndims);
  CHECK_EQ(0, b.lo[0]);
  CHECK_EQ(0, b.lo[2]);
  CHECK_EQ(6, b.hi[2]);
  CHECK_EQ(120, ambit__box_volume(&b));
}

static void a_box_is_empty_as_soon_as_one_axis_is(void)
{
  ambit__box b = {.ndims = 3, .lo = {4, 0, 0}, .hi = {4, 9, 9}};

  CHECK(ambit__box_is_empty(&b));
  CHECK_EQ(0, ambit__box_volume(&b));
  b.lo[0] = 7; /* inverted: empty, not negative */
  b.lo[1] = 12;
  CHECK_EQ(0, ambit__box_volume(&b));
  CHECK(!ambit__box_is_empty(&plane));
}

static void the_volume_of_a_large_box_needs_64_bits(void)
{
  ambit__box b = ambit__box_of_extents(2, (int64_t[]){3000000000, 3});

  CHECK_EQ(9000000000, ambit__box_volume(&b));
}

static void boxes_are_equal_if_all_ends_are(void)
{
  ambit__box b = plane;

  CHECK(ambit__box_equal(&plane, &b));
  b.hi[1]++;
  CHECK(!ambit__box_equal(&plane, &b));
  b = plane;
  b.ndims = 1;
  CHECK(!ambit__box_equal(&plane, &b));
}

static void every_box_contains_the_empty_one(void)
{
  const ambit__box empty = {.ndims = 2, .lo = {50, 50}, .hi = {50, 60}};
  const ambit__box inside = {.ndims = 2, .lo = {2, 4}, .hi = {10, 5}};
  const ambit__box across = {.ndims = 2, .lo = {2, 2}, .hi = {10, 5}};

  CHECK(ambit__box_contains(&plane, &empty));
  CHECK(ambit__box_contains(&plane, &plane));
  CHECK(ambit__box_contains(&plane, &inside));
  CHECK(!ambit__box_contains(&inside, &plane));
  CHECK(!ambit__box_contains(&plane, &across));
}

/* Cell by cell, over all cells near the box. */
static bool has(const ambit__box *b, int64_t i, int64_t j)
{
  return i >= b->lo[0] && i < b->hi[0] && j >= b->lo[1] && j < b->hi[1];
}

static void an_intersection_has_the_cells_that_both_have(void)
{
  for (int64_t lo = -2; lo < 12; lo++)
    for (int64_t hi = lo; hi < 14; hi++) {
      ambit__box other = {.ndims = 2, .lo = {lo, 4}, .hi = {hi, 9}};
      ambit__box both = ambit__box_intersect(&plane, &other);

      for (int64_t i = -3; i < 15; i++)
        for (int64_t j = 0; j < 10; j++)
          CHECK_EQ(has(&plane, i, j) && has(&other, i, j), has(&both, i, j));
    }
}

static void a_shift_moves_both_ends(void)
{
  ambit__box b = ambit__box_shift(&plane, (int[]){-3, 5});
  const ambit__box want = {.ndims = 2, .lo = {-1, 8}, .hi = {7, 11}};

  CHECK(ambit__box_equal(&want, &b));
}

static void a_layer_is_one_cell_thick(void)
{
  for (int axis = 0; axis < 2; axis++)
    for (int side = 0; side < 2; side++) {
      ambit__box b = ambit__box_layer(&plane, axis, side);

      CHECK(ambit__box_contains(&plane, &b));
      CHECK_EQ(1, b.hi[axis] - b.lo[axis]);
      CHECK_EQ(plane.hi[1 - axis] - plane.lo[1 - axis], b.hi[1 - axis] - b.lo[1 - axis]);
      CHECK_EQ(side ? plane.hi[axis] - 1 : plane.lo[axis], b.lo[axis]);
    }
}

static void a_walk_visits_every_row_once_in_order(void)
{
  const ambit__box b = {.ndims = 3, .lo = {1, -2, 0}, .hi = {3, 1, 5}};
  int64_t at[AMBIT_MAX_DIMS], n = 0;

  ambit__box_first(&b, at);
  do {
    CHECK_EQ(1 + n / 3, at[0]);
    CHECK_EQ(-2 + n % 3, at[1]);
    CHECK_EQ(0, at[2]);
    n++;
  } while (ambit__box_next_row(&b, at));
  CHECK_EQ(6, n);
}

static void a_line_is_one_row(void)
{
  const ambit__box b = {.ndims = 1, .lo = {4}, .hi = {9}};
  int64_t at[AMBIT_MAX_DIMS];

  ambit__box_first(&b, at);
  CHECK_EQ(4, at[0]);
  CHECK(!ambit__box_next_row(&b, at));
}

static void a_box_prints_as_its_ranges(void)
{
  char text[64], tight[8];

  ambit__box_print(&plane, text, sizeof text);
  CHECK_STR("[2,10)x[3,6)", text);
  ambit__box_print(&plane, tight, sizeof tight);
  CHECK_STR("[2,10)x", tight);
  ambit__box_print(&(ambit__box){0}, text, sizeof text);
  CHECK_STR("", text);
}

/* Every cell once, in row-major order, in pieces of at most `most` cells. */
static void check_pieces(const ambit__box *b, int64_t most)
{
  int64_t at[AMBIT_MAX_DIMS], cells = 0;
  bool more = true;
  ambit__box p;

  ambit__box_first(b, at);
  ambit__box_first_piece(b, most, &p);
  while (more) {
    int64_t in[AMBIT_MAX_DIMS];

    CHECK(ambit__box_contains(b, &p) && !ambit__box_is_empty(&p));
    CHECK(ambit__box_volume(&p) <= most);
    ambit__box_first(&p, in);
    do
      for (in[2] = p.lo[2]; in[2] < p.hi[2]; in[2]++, cells++) {
        CHECK(!memcmp(in, at, 3 * sizeof *at));
        if (++at[2] < b->hi[2]) continue;
        at[2] = b->lo[2];
        ambit__box_next_row(b, at);
      }
    while (in[2] = p.lo[2], ambit__box_next_row(&p, in));
    more = ambit__box_next_piece(b, most, &p);
  }
  CHECK_EQ(ambit__box_volume(b), cells);
}

static void pieces_are_in_order_and_leave_nothing_out(void)
{
  const ambit__box b = {.ndims = 3, .lo = {2, 0, 5}, .hi = {5, 4, 12}};

  for (int64_t most = 1; most < 100; most++)
    check_pieces(&b, most);
}

static void a_hull_is_around_both(void)
{
  const ambit__box a = {.ndims = 2, .lo = {1, 8}, .hi = {3, 9}}, none = {.ndims = 2};
  const ambit__box want = {.ndims = 2, .lo = {1, 3}, .hi = {10, 9}};
  ambit__box h = ambit__box_hull(&a, &plane);

  CHECK(ambit__box_equal(&want, &h));
  h = ambit__box_hull(&none, &plane);
  CHECK(ambit__box_equal(&plane, &h));
  h = ambit__box_hull(&plane, &none);
  CHECK(ambit__box_equal(&plane, &h));
}

/* The boxes and the hole together have all cells of the whole, each once. */
static void check_split(const ambit__box *whole, const ambit__box *inner, int want)
{
  const ambit__box hole = ambit__box_intersect(whole, inner);
  ambit__box rest[2 * AMBIT_MAX_DIMS];
  int64_t cells = ambit__box_volume(&hole);
  int n = ambit__box_split(whole, inner, rest);

  CHECK_EQ(want, n);
  for (int i = 0; i < n; i++) {
    CHECK(ambit__box_contains(whole, &rest[i]));
    cells += ambit__box_volume(&rest[i]);
    for (int k = -1; k < i; k++) {
      ambit__box both = ambit__box_intersect(&rest[i], k < 0 ? &hole : &rest[k]);

      CHECK(ambit__box_is_empty(&both));
    }
  }
  CHECK_EQ(ambit__box_volume(whole), cells);
}

static void a_split_leaves_out_the_inner_cells(void)
{
  const ambit__box cube = {.ndims = 3, .hi = {6, 7, 8}}, none = {.ndims = 3};
  const ambit__box inner = {.ndims = 3, .lo = {1, 2, 3}, .hi = {5, 5, 5}};
  const ambit__box side = {.ndims = 3, .lo = {0, 0, 3}, .hi = {6, 7, 20}};
  ambit__box rest[2 * AMBIT_MAX_DIMS];

  check_split(&cube, &inner, 6);
  check_split(&cube, &side, 1);
  check_split(&cube, &none, 1);
  check_split(&cube, &cube, 0);
  check_split(&none, &cube, 0);
  ambit__box_split(&cube, &inner, rest);
  CHECK_EQ(8, rest[0].hi[2]); /* rows stay long */
  CHECK_EQ(1, rest[0].hi[0]);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"pieces_are_in_order_and_leave_nothing_out", pieces_are_in_order_and_leave_nothing_out},
      {"a_box_of_extents_starts_at_zero", a_box_of_extents_starts_at_zero},
      {"a_box_is_empty_as_soon_as_one_axis_is", a_box_is_empty_as_soon_as_one_axis_is},
      {"the_volume_of_a_large_box_needs_64_bits", the_volume_of_a_large_box_needs_64_bits},
      {"boxes_are_equal_if_all_ends_are", boxes_are_equal_if_all_ends_are},
      {"every_box_contains_the_empty_one", every_box_contains_the_empty_one},
      {"an_intersection_has_the_cells_that_both_have",
       an_intersection_has_the_cells_that_both_have},
      {"a_shift_moves_both_ends", a_shift_moves_both_ends},
      {"a_layer_is_one_cell_thick", a_layer_is_one_cell_thick},
      {"a_walk_visits_every_row_once_in_order", a_walk_visits_every_row_once_in_order},
      {"a_line_is_one_row", a_line_is_one_row},
      {"a_box_prints_as_its_ranges", a_box_prints_as_its_ranges},
      {"a_hull_is_around_both", a_hull_is_around_both},
      {"a_split_leaves_out_the_inner_cells", a_split_leaves_out_the_inner_cells},
      {0}};

  return test_main(argc, argv, tests);
}
