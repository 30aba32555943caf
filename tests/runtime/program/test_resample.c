/* SPDX-License-Identifier: BSD-3-Clause */
/* Cells of other grids and types: copies, averages and interpolation, as in plain C, with the same
 * bits on all devices, parts and processes. */
#include "runtime/places.h"

#include <math.h>

enum { ROWS = 12, COLUMNS = 18 };

static double wavy(const int64_t *i, int component, void *user)
{
  (void)user;
  return (double)((i[0] * 31 + i[1] * 17 + component * 7) % 64) / 8 - 3;
}

/* Linear in the place of a cell, of grids whose cells are `user` wide. */
static double slope(const int64_t *i, int component, void *user)
{
  const double h = *(const double *)user;

  (void)component;
  return 3 * h * ((double)i[0] + 0.5) - 2 * h * ((double)i[1] + 0.5);
}

static void boxes_go_to_other_grids_and_types(void)
{
  EACH_PLACE(where)
  {
    ambit *a = open_strict(*where);
    ambit_grid *g = grid_2d(a, ROWS, COLUMNS), *h = grid_2d(a, 7, 5);
    ambit_field *u = ambit_field_create(g, "u", AMBIT_F64);
    ambit_field *v = ambit_field_create(h, "v", AMBIT_I32),
                *w = ambit_field_create(h, "w", AMBIT_F64);
    ambit_program *p = ambit_program_create(h);
    int got[7 * 5];
    double same[7 * 5];

    ambit_field_fill(u, wavy, NULL);
    ambit_field_set(v, 99);
    ambit_copy_box(p, u, AMBIT_INDEX(3, 11), AMBIT_INDEX(9, 14), v, AMBIT_INDEX(1, 2));
    ambit_copy_box(p, u, AMBIT_INDEX(5, 13), AMBIT_INDEX(12, 18), w, AMBIT_INDEX(0, 0));
    ambit_copy_box(p, u, AMBIT_INDEX(5, 13), AMBIT_INDEX(12, 18), w, NULL);
    CHECK_FAILED(a, AMBIT_EINVAL, "leaves the grid");
    ambit_run(p, 1);
    ambit_field_read(v, NULL, NULL, got);
    ambit_field_read(w, NULL, NULL, same);
    CHECK_OK(a);
    for (int64_t y = 0; y < 7; y++)
      for (int64_t x = 0; x < 5; x++) {
        const int64_t from[] = {y - 1 + 3, x - 2 + 11}, there[] = {y + 5, x + 13};

        CHECK_EQ(y >= 1 && x >= 2 ? (int)wavy(from, 0, NULL) : 99, got[y * 5 + x]);
        CHECK_MSG(same[y * 5 + x] == wavy(there, 0, NULL), "%s", *where);
      }
    CHECK_EQ(AMBIT_OK, ambit_close(a));
  }
}

/* A grid of half the spacing gets interpolated values, and a coarse one averages of these. */
static void linear_functions_are_interpolated_exactly(void)
{
  EACH_PLACE(where)
  {
    double coarse = 1, fine = 1 / 3.0;
    ambit *a = open_strict(*where);
    ambit_grid *g = grid_2d(a, ROWS, COLUMNS), *h = grid_2d(a, 18, 27);
    ambit_field *u = ambit_field_create(g, "u", AMBIT_F64),
                *back = ambit_field_create(g, "b", AMBIT_F64);
    ambit_field *v = ambit_field_create(h, "v", AMBIT_F64);
    ambit_program *p = ambit_program_create(h), *q = ambit_program_create(g);
    double got[18 * 27], means[ROWS * COLUMNS];

    ambit_field_fill(u, slope, &coarse);
    ambit_resample(p, u, AMBIT_INDEX(3, 5), AMBIT_INDEX(9, 14), v, NULL, NULL);
    ambit_resample(q, v, NULL, NULL, back, AMBIT_INDEX(3, 5), AMBIT_INDEX(9, 14));
    ambit_call(q, p, 1);
    ambit_run(q, 2); /* the second iteration takes what the call has put there */
    ambit_field_read(v, NULL, NULL, got);
    ambit_field_read(back, NULL, NULL, means);
    CHECK_OK(a);
    for (int64_t y = 0; y < 18; y++)
      for (int64_t x = 0; x < 27; x++)
        CHECK_NEAR(slope((int64_t[]){y + 9, x + 15}, 0, &fine), got[y * 27 + x], 1e-12);
    for (int64_t y = 3; y < 9; y++)
      for (int64_t x = 5; x < 14; x++)
        CHECK_NEAR(slope((int64_t[]){y, x}, 0, &coarse), means[y * COLUMNS + x], 1e-12);
    CHECK_EQ(AMBIT_OK, ambit_close(a));
  }
}

/* At the ends of the grid the last cell counts; components and halves; bits on all cuts. */
static void bits_do_not_depend_on_the_cut(void)
{
  static float want[2 * 30 * 36], got[2 * 30 * 36];
  bool known = false;

  EACH_PLACE(where)
  {
    ambit *a = open_strict(*where);
    ambit_grid *g = grid_2d(a, ROWS, COLUMNS), *h = grid_2d(a, 30, 36);
    ambit_field *u = ambit_field_create_vector(g, "u", AMBIT_F64, 2, AMBIT_AOS);
    ambit_field *v = ambit_field_create_vector(h, "v", AMBIT_F32, 2, AMBIT_SOA);
    ambit_program *p = ambit_program_create(h);

    ambit_field_fill(u, wavy, NULL);
    ambit_resample(p, u, NULL, NULL, v, NULL, NULL);
    ambit_run(p, 1);
    ambit_field_read(v, NULL, NULL, got);
    CHECK_OK(a);
    if (!known) memcpy(want, got, sizeof want);
    known = true;
    CHECK_MSG(!memcmp(want, got, sizeof want), "%s", *where);
    for (int c = 0; c < 2; c++)
      CHECK_MSG(got[c] == (float)wavy((int64_t[]){0, 0}, c, NULL), "the corner: %g", got[c]);
    CHECK_EQ(AMBIT_OK, ambit_close(a));
  }
}

static void steps_follow_what_was_copied(void)
{
  ambit *a = open_on("cpu");
  ambit_grid *g = grid_2d(a, 6, 8), *h = grid_2d(a, 12, 16);
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F32),
              *v = ambit_field_create(h, "v", AMBIT_F32);
  ambit_field *w = ambit_field_create(h, "w", AMBIT_F32);
  ambit_program *p = ambit_program_create(h);
  float at;

  ambit_field_set(u, 2);
  ambit_field_boundary(v, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_resample(p, u, NULL, NULL, v, NULL, NULL);
  ambit_apply(p,
              ambit_kernel_create(a, "void f(const float *v, float *w) "
                                     "{ *w = v[-1][0] + v[0][1]; }"),
              v, w);
  ambit_run(p, 1);
  ambit_field_set(u, 3);
  ambit_run(p, 1);
  ambit_field_read(w, AMBIT_INDEX(0, 15), AMBIT_INDEX(1, 16), &at);
  CHECK_EQ(6, at);
  ambit_resample(p, v, NULL, NULL, v, NULL, NULL);
  CHECK_FAILED(a, AMBIT_EPROGRAM, "to itself");
  ambit_resample(p, u, NULL, AMBIT_INDEX(5, 8), v, NULL, AMBIT_INDEX(3, 16));
  CHECK_FAILED(a, AMBIT_EINVAL, "a number that divides them");
  ambit_field_destroy(u);
  ambit_run(p, 1);
  CHECK_FAILED(a, AMBIT_EPROGRAM, "destroyed");
  ambit_close(a);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"boxes_go_to_other_grids_and_types", boxes_go_to_other_grids_and_types},
      {"linear_functions_are_interpolated_exactly", linear_functions_are_interpolated_exactly},
      {"bits_do_not_depend_on_the_cut", bits_do_not_depend_on_the_cut},
      {"steps_follow_what_was_copied", steps_follow_what_was_copied},
      {NULL, NULL}};

  return test_main(argc, argv, tests);
}
