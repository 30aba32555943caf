/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads outside the grid: against NumPy's pad, and against a walk cell by cell. */
#include "grid/boundary.h"
#include "support/test.h"

static const ambit_boundary mapping[] = {AMBIT_PERIODIC, AMBIT_REFLECT, AMBIT_SYMMETRIC,
                                         AMBIT_CLAMP};
enum { MAPPINGS = sizeof mapping / sizeof *mapping, PAD = 7 };

/* numpy.pad(numpy.arange(n), (7, 7), mode) for the modes wrap, reflect, symmetric, edge. */
static const struct padded {
  int n;
  const char *row[MAPPINGS];
} numpy[] = {
    {1, {"000000000000000", "000000000000000", "000000000000000", "000000000000000"}},
    {2, {"1010101010101010", "1010101010101010", "1100110011001100", "0000000011111111"}},
    {3, {"20120120120120120", "12101210121012101", "00122100122100122", "00000000122222222"}},
    {4, {"123012301230123012", "101232101232101232", "123321001233210012", "000000001233333333"}},
};

static void one_axis_is_numpy_pad(void)
{
  for (size_t t = 0; t < sizeof numpy / sizeof *numpy; t++)
    for (int m = 0; m < MAPPINGS; m++)
      for (int64_t i = -PAD; i < numpy[t].n + PAD; i++)
        CHECK_EQ(numpy[t].row[m][i + PAD] - '0', ambit__boundary_map(mapping[m], numpy[t].n, i));
}

/* Walks outwards from a face cell by cell and returns the cell that the last index maps to. */
static int64_t walk(ambit_boundary kind, int64_t extent, int64_t i)
{
  int64_t at = i < 0 ? 0 : extent - 1, dir = i < 0 ? -1 : 1;
  int64_t steps = i < 0 ? -i : i - (extent - 1);

  for (; steps > 0; steps--) {
    bool leaves = at + dir < 0 || at + dir >= extent;

    if (kind == AMBIT_CLAMP || (leaves && extent == 1)) continue;
    if (leaves && kind == AMBIT_PERIODIC)
      at = dir < 0 ? extent : -1; /* the step below enters on the other side */
    else if (leaves)
      dir = -dir;
    if (!leaves || kind != AMBIT_SYMMETRIC) at += dir;
  }
  return at;
}

static void any_reach_is_a_walk_of_single_steps(void)
{
  for (int m = 0; m < MAPPINGS; m++)
    for (int64_t extent = 1; extent <= 9; extent++)
      for (int64_t i = -60; i < extent + 60; i++) {
        int64_t want = i >= 0 && i < extent ? i : walk(mapping[m], extent, i);

        CHECK_MSG(want == ambit__boundary_map(mapping[m], extent, i), "%s, extent %d, index %d",
                  ambit__boundary_name(mapping[m]), (int)extent, (int)i);
      }
}

static void an_index_inside_stays(void)
{
  for (int kind = AMBIT_NONE; kind <= AMBIT_ANTISYMMETRIC; kind++)
    CHECK_EQ(3, ambit__boundary_map((ambit_boundary)kind, 4, 3));
}

static void each_axis_is_mapped_on_its_own(void)
{
  const ambit__boundaries b = {
      .kind = {{AMBIT_REFLECT, AMBIT_CLAMP}, {AMBIT_PERIODIC, AMBIT_PERIODIC}}};
  const int64_t extents[] = {4, 5};
  int64_t low[] = {-2, -1}, high[] = {9, 5};
  double value;

  CHECK(ambit__boundaries_map(&b, 2, extents, low, &value));
  CHECK_EQ(2, low[0]);
  CHECK_EQ(4, low[1]);
  CHECK(ambit__boundaries_map(&b, 2, extents, high, &value));
  CHECK_EQ(3, high[0]);
  CHECK_EQ(0, high[1]);
}

static void a_constant_wins_and_the_last_axis_of_several(void)
{
  const ambit__boundaries b = {
      .kind = {{AMBIT_CONSTANT, AMBIT_CLAMP}, {AMBIT_CONSTANT, AMBIT_CONSTANT}},
      .value = {{1, -1}, {2, 3}}};
  const int64_t extents[] = {4, 5};
  static const struct {
    int64_t cell[2];
    double want; /* 0: not constant */
  } cases[] = {{{-1, 2}, 1}, {{-1, -1}, 2}, {{-1, 5}, 3}, {{4, 2}, 0}, {{4, -3}, 2}, {{2, 2}, 0}};

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    int64_t cell[] = {cases[i].cell[0], cases[i].cell[1]};
    double value = 0;

    CHECK_EQ(cases[i].want == 0, ambit__boundaries_map(&b, 2, extents, cell, &value));
    CHECK_EQ(cases[i].want, value);
  }
}

/* A mirror between two copies of the row changes the sign: a b -b -a | a b -b -a. */
static void an_antisymmetric_axis_changes_signs(void)
{
  const ambit__boundaries b = {
      .kind = {{AMBIT_ANTISYMMETRIC, AMBIT_ANTISYMMETRIC}, {AMBIT_ANTISYMMETRIC, AMBIT_CLAMP}}};
  const int64_t extents[] = {2, 3};
  static const char signs[] = "--++--++--"; /* of cells -6 to 3 */

  for (int64_t i = -6; i < 4; i++) {
    CHECK_EQ(signs[i + 6] == '-', ambit__boundary_negates(AMBIT_ANTISYMMETRIC, 2, i));
    CHECK(!ambit__boundary_negates(AMBIT_SYMMETRIC, 2, i));
  }
  CHECK_EQ(ambit__boundary_map(AMBIT_SYMMETRIC, 3, -5),
           ambit__boundary_map(AMBIT_ANTISYMMETRIC, 3, -5));
  CHECK(ambit__boundaries_negate(&b, 2, extents, (int64_t[]){-1, 0}));
  CHECK(!ambit__boundaries_negate(&b, 2, extents, (int64_t[]){-1, -1}));
  CHECK(ambit__boundaries_negate(&b, 2, extents, (int64_t[]){2, 7}));
}

static void names_go_both_ways(void)
{
  for (int kind = AMBIT_NONE; kind <= AMBIT_ANTISYMMETRIC; kind++) {
    const char *name = ambit__boundary_name((ambit_boundary)kind);
    ambit_boundary found = AMBIT_NONE;

    CHECK(ambit__boundary_find(name, strlen(name), &found));
    CHECK_EQ(kind, (int)found);
  }
  CHECK_STR("unknown", ambit__boundary_name((ambit_boundary)99));
}

static void a_part_of_a_name_is_no_name(void)
{
  ambit_boundary kind = AMBIT_FIXED;

  CHECK(!ambit__boundary_find("clam", 4, &kind));
  CHECK(!ambit__boundary_find("clamped", 7, &kind));
  CHECK_EQ(AMBIT_FIXED, kind);
  CHECK(ambit__boundary_find("clamped", 5, &kind));
  CHECK_EQ(AMBIT_CLAMP, kind);
}

static void faces_print_as_programs_write_them(void)
{
  char text[120];

  ambit__faces_print(AMBIT_LOW(0) | AMBIT_AXIS(2) | AMBIT_HIGH(5), text, sizeof text);
  CHECK_STR("AMBIT_LOW(0) | AMBIT_AXIS(2) | AMBIT_HIGH(5)", text);
  ambit__faces_print(AMBIT_ALL_FACES, text, sizeof text);
  CHECK_STR("AMBIT_ALL_FACES", text);
  ambit__faces_print(0, text, sizeof text);
  CHECK_STR("no face", text);
  ambit__faces_print(AMBIT_HIGH(1) | AMBIT_HIGH(2), text, 8);
  CHECK_STR("AMBIT_H", text);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"one_axis_is_numpy_pad", one_axis_is_numpy_pad},
      {"any_reach_is_a_walk_of_single_steps", any_reach_is_a_walk_of_single_steps},
      {"an_index_inside_stays", an_index_inside_stays},
      {"each_axis_is_mapped_on_its_own", each_axis_is_mapped_on_its_own},
      {"a_constant_wins_and_the_last_axis_of_several",
       a_constant_wins_and_the_last_axis_of_several},
      {"an_antisymmetric_axis_changes_signs", an_antisymmetric_axis_changes_signs},
      {"names_go_both_ways", names_go_both_ways},
      {"a_part_of_a_name_is_no_name", a_part_of_a_name_is_no_name},
      {"faces_print_as_programs_write_them", faces_print_as_programs_write_them},
      {0}};

  return test_main(argc, argv, tests);
}
