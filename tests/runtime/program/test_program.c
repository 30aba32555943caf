/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs: the effect of steps on fields and scalars. */
#include "runtime/scene.h"

static const char grow_rule[] = "void grow(int *u) { *u += 1; }";

/* ---- swap and rotate ---- */

static void a_swap_trades_values_and_leaves_boundaries(void)
{
  EACH_DEVICE(device)
  {
    scene s = set_up(*device);

    ambit_field_set(s.u, 1);
    ambit_field_set(s.v, 2);
    ambit_field_boundary(s.u, AMBIT_ALL_FACES, AMBIT_CONSTANT, 100);
    ambit_field_boundary(s.v, AMBIT_ALL_FACES, AMBIT_CONSTANT, 200);
    ambit_swap(s.p, s.u, s.v);
    ambit_apply(s.p, kernel(&s, "void left(const int *u, int *w) { *w = u[-1]; }"), s.u, s.w);
    ambit_run(s.p, 1);
    CHECK_OK(s.a);
    CHECK_EQ(2, at(s.u, 0));
    CHECK_EQ(1, at(s.v, 0));
    CHECK_EQ(100, at(s.w, 0));
    CHECK_EQ(2, at(s.w, 1));
    ambit_run(s.p, 1);
    CHECK_EQ(1, at(s.u, 0));
    CHECK_EQ(100, at(s.w, 0));
    CHECK_EQ(1, at(s.w, 1));
    ambit_close(s.a);
  }
}

static void a_rotation_gives_each_the_values_of_the_next(void)
{
  EACH_DEVICE(device)
  {
    scene s = set_up(*device);
    ambit_field *const all[] = {s.u, s.v, s.w};

    ambit_field_set(s.u, 1);
    ambit_field_set(s.v, 2);
    ambit_field_set(s.w, 3);
    ambit_rotate(s.p, 3, all);
    ambit_run(s.p, 1);
    CHECK_EQ(2, at(s.u, 0));
    CHECK_EQ(3, at(s.v, 0));
    CHECK_EQ(1, at(s.w, 0));
    ambit_run(s.p, 4);
    CHECK_EQ(3, at(s.u, 5));
    CHECK_EQ(1, at(s.v, 5));
    CHECK_EQ(2, at(s.w, 5));
    CHECK_EQ(AMBIT_OK, ambit_close(s.a));
  }
}

/* A field keeps its values when a swap partner needs wider margins, and gets the same margins. */
static void fields_of_different_reach_can_trade_values(void)
{
  EACH_DEVICE(device)
  {
    scene s = set_up(*device);

    ambit_field_boundary(s.u, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
    ambit_field_set(s.u, 4);
    ambit_apply(s.p, kernel(&s, "void far(const int *u, int *v) { *v = u[-9] + u[15]; }"), s.u,
                s.v);
    ambit_swap(s.p, s.u, s.v);
    ambit_run(s.p, 3);
    CHECK_OK(s.a);
    CHECK_EQ(32, at(s.u, 0));
    CHECK_EQ(32, at(s.u, N - 1));
    ambit_close(s.a);
  }
}

static void unlike_fields_do_not_trade(void)
{
  scene s = set_up("ref");
  ambit_field *f = ambit_field_create(s.g, "f", AMBIT_F32);
  ambit_field *vec = ambit_field_create_vector(s.g, "vec", AMBIT_I32, 2, AMBIT_SOA);
  ambit_field *aos = ambit_field_create_vector(s.g, "aos", AMBIT_I32, 2, AMBIT_AOS);
  ambit_field *other = ambit_field_create(grid_1d(s.a, N), "other", AMBIT_I32);

  ambit_swap(s.p, s.u, f);
  CHECK_FAILED(s.a, AMBIT_EPROGRAM, "fields 'u' and 'f' cannot be rotated");
  ambit_swap(s.p, s.u, vec);
  CHECK_FAILED(s.a, AMBIT_EPROGRAM, "fields 'u' and 'vec' cannot be rotated");
  ambit_swap(s.p, vec, aos);
  CHECK_FAILED(s.a, AMBIT_EPROGRAM, "fields 'vec' and 'aos' cannot be rotated");
  ambit_swap(s.p, s.u, s.u);
  CHECK_FAILED(s.a, AMBIT_EPROGRAM, "field 'u' appears twice");
  ambit_swap(s.p, s.u, other);
  CHECK_FAILED(s.a, AMBIT_EINVAL, "field 'other' of a swap or rotation belongs to another grid");
  ambit_rotate(s.p, 1, &s.u);
  CHECK_FAILED(s.a, AMBIT_EINVAL, "at least 2 fields, not 1");
  ambit_rotate(s.p, 3, NULL);
  CHECK_FAILED(s.a, AMBIT_EINVAL, "the fields of a rotation are NULL");
  ambit_close(s.a);
}

/* ---- regions ---- */

static void the_corners_of_a_box_can_be_written_in_place(void)
{
  EACH_DEVICE(device)
  {
    ambit *a = open_on(*device);
    ambit_grid *g = grid_2d(a, 10, 12);
    ambit_field *u = ambit_field_create(g, "u", AMBIT_I32);
    ambit_program *p = ambit_program_create(g);
    ambit_kernel *k = ambit_kernel_create(a, grow_rule);
    const int first = 1;
    int32_t values[4][5], sum = 0, one[1][2] = {{7, 8}};

    ambit_apply_box(p, AMBIT_INDEX(first, 2), AMBIT_INDEX(9, first + 5), k, u);
    ambit_run(p, 3);
    ambit_field_write(u, AMBIT_INDEX(0, 0), AMBIT_INDEX(1, 2), one);
    ambit_field_read(u, AMBIT_INDEX(0, 1), AMBIT_INDEX(4, 6), values);
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 5; j++)
        sum += values[i][j];
    CHECK_EQ(8, values[0][0]);
    CHECK_EQ(8 + 3 * 3 * 4, sum);
    CHECK_OK(a);
    ambit_apply_box(p, AMBIT_INDEX(1, 2), AMBIT_INDEX(9), k, u); /* hi[1] is 0 */
    CHECK_FAILED(a, AMBIT_EINVAL, "applied to the box [1,9)x[2,0); it must be within the grid");
    ambit_close(a);
  }
}

static void a_box_limits_what_is_updated(void)
{
  EACH_DEVICE(device)
  {
    scene s = set_up(*device);
    const int64_t lo[] = {3}, hi[] = {7}, beyond[] = {N + 1};

    ambit_apply_box(s.p, lo, hi, kernel(&s, grow_rule), s.u);
    ambit_run(s.p, 2);
    for (int64_t i = 0; i < N; i++)
      CHECK_EQ(i >= 3 && i < 7 ? 2 : 0, at(s.u, i));
    CHECK_OK(s.a);
    ambit_apply_box(s.p, AMBIT_INDEX(5), AMBIT_INDEX(6), kernel(&s, grow_rule), s.u);
    ambit_run(s.p, 1);
    CHECK_EQ(4, at(s.u, 5));
    CHECK_EQ(3, at(s.u, 6));
    ambit_apply_box(s.p, lo, beyond, kernel(&s, grow_rule), s.u);
    CHECK_FAILED(s.a, AMBIT_EINVAL, "it must be within the grid");
    ambit_apply_box(s.p, hi, lo, kernel(&s, grow_rule), s.u);
    CHECK_FAILED(s.a, AMBIT_EINVAL, "it must be within the grid");
    ambit_close(s.a);
  }
}

/* Every cell at one of the faces is updated once, including corners, in 1 to 4 dimensions. */
static void cells_at_several_faces_are_updated_once(void)
{
  static const int64_t shapes[][5] = {{1, 5},       {1, 1},       {2, 4, 5},      {2, 1, 3},
                                      {3, 3, 4, 5}, {3, 2, 1, 2}, {4, 3, 3, 4, 3}};

  EACH_DEVICE(device)
  {
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k += compiles_slowly(*device) ? 2 : 1) {
      ambit *a = open_on(*device);
      const int ndims = (int)shapes[k][0];
      const int64_t *extents = shapes[k] + 1;
      ambit_grid *g = ambit_grid_create(a, ndims, extents);
      ambit_field *u = ambit_field_create(g, "u", AMBIT_I32);
      ambit_program *p = ambit_program_create(g);
      int32_t values[200];
      int64_t i[4] = {0}, n = 0;
      int d;

      ambit_apply_faces(p, AMBIT_ALL_FACES, ambit_kernel_create(a, grow_rule), u);
      ambit_run(p, 1);
      ambit_field_read(u, NULL, NULL, values);
      CHECK_OK(a);
      do {
        int32_t edge = 0;

        for (d = 0; d < ndims; d++)
          edge |= i[d] == 0 || i[d] == extents[d] - 1;
        CHECK_EQ(edge, values[n++]);
        for (d = ndims - 1; d >= 0 && ++i[d] == extents[d]; d--)
          i[d] = 0;
      } while (d >= 0);
      ambit_close(a);
    }
  }
}

static void one_face_is_its_outermost_layer(void)
{
  EACH_DEVICE(device)
  {
    scene s = set_up(*device);

    ambit_apply_faces(s.p, AMBIT_HIGH(0), kernel(&s, grow_rule), s.u);
    ambit_run(s.p, 3);
    CHECK_EQ(0, at(s.u, 0));
    CHECK_EQ(0, at(s.u, N - 2));
    CHECK_EQ(3, at(s.u, N - 1));
    ambit_apply_faces(s.p, AMBIT_LOW(1), kernel(&s, grow_rule), s.u);
    CHECK_FAILED(s.a, AMBIT_EINVAL, "applied to AMBIT_LOW(1); give faces of the grid, which has 1");
    ambit_apply_faces(s.p, 0, kernel(&s, grow_rule), s.u);
    CHECK_FAILED(s.a, AMBIT_EINVAL, "applied to no face");
    ambit_close(s.a);
  }
}

static void index_extent_and_step_are_those_of_the_whole_grid(void)
{
  EACH_DEVICE(device)
  {
    scene s = set_up(*device);
    const int64_t lo[] = {5}, hi[] = {19};

    ambit_apply_box(
        s.p, lo, hi,
        kernel(&s, "void k(int *u) { *u = (int)(index(0) + 100 * extent(0) + 10000 * step()); }"),
        s.u);
    ambit_run(s.p, 1);
    ambit_run(s.p, 2);
    CHECK_EQ(0, at(s.u, 4));
    CHECK_EQ(5 + 100 * N + 20000, at(s.u, 5));
    CHECK_EQ(18 + 100 * N + 20000, at(s.u, 18));
    CHECK_EQ(3, ambit_program_iterations(s.p));
    CHECK_EQ(AMBIT_OK, ambit_close(s.a));
  }
}

/* ---- scalars ---- */

static void scalars_feed_kernels_and_kernels_feed_scalars(void)
{
  EACH_DEVICE(device)
  {
    scene s = set_up(*device);
    ambit_scalar *k = ambit_scalar_create(s.a, "k", AMBIT_I32);

    ambit_scalar_set(k, 2);
    ambit_apply(s.p, kernel(&s, "void a(int *u, int k) { *u += k; }"), s.u, k);
    ambit_apply(s.p, kernel(&s, "void b(const int *u, sum long *s) { *s = *u; }"), s.u, s.s);
    ambit_apply(s.p, kernel(&s, "void c(const long *s, int *k) { *k = (int)(*s / 10); }"), s.s, k);
    ambit_run(s.p, 1); /* u = 2, s = 40, k = 4 */
    CHECK_EQ(40, ambit_scalar_get(s.s));
    CHECK_EQ(4, ambit_scalar_get(k));
    ambit_run(s.p, 1); /* u = 6, s = 120, k = 12 */
    CHECK_EQ(6, at(s.u, 3));
    CHECK_EQ(12, ambit_scalar_get(k));
    ambit_scalar_set(k, -6);
    ambit_run(s.p, 1);
    CHECK_EQ(0, at(s.u, 3));
    CHECK_EQ(AMBIT_OK, ambit_close(s.a));
  }
}

static void a_number_is_given_its_parameters_type(void)
{
  EACH_DEVICE(device)
  {
    scene s = set_up(*device);

    ambit_apply(s.p, kernel(&s, "void k(int *u, unsigned char b, short c) { *u = b * 1000 + c; }"),
                s.u, 255, -3);
    ambit_run(s.p, 1);
    CHECK_OK(s.a);
    CHECK_EQ(254997, at(s.u, 0));
    ambit_close(s.a);
  }
}

static void scalars_hold_their_type(void)
{
  ambit *a = open_on("ref");
  ambit_scalar *byte = ambit_scalar_create(a, "byte", AMBIT_U8);
  ambit_scalar *single = ambit_scalar_create(a, "single", AMBIT_F32);

  CHECK_EQ(0, ambit_scalar_get(byte));
  ambit_scalar_set(byte, 255);
  ambit_scalar_set(single, 0.1);
  CHECK_EQ(255, ambit_scalar_get(byte));
  CHECK(ambit_scalar_get(single) == (double)0.1f);
  CHECK(!ambit_scalar_create(a, "x", (ambit_type)77));
  CHECK_FAILED(a, AMBIT_EINVAL, "a scalar needs a name and a type, not 'x' and 77");
  ambit_close(a);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"a_swap_trades_values_and_leaves_boundaries", a_swap_trades_values_and_leaves_boundaries},
      {"a_rotation_gives_each_the_values_of_the_next",
       a_rotation_gives_each_the_values_of_the_next},
      {"fields_of_different_reach_can_trade_values", fields_of_different_reach_can_trade_values},
      {"unlike_fields_do_not_trade", unlike_fields_do_not_trade},
      {"the_corners_of_a_box_can_be_written_in_place",
       the_corners_of_a_box_can_be_written_in_place},
      {"a_box_limits_what_is_updated", a_box_limits_what_is_updated},
      {"cells_at_several_faces_are_updated_once", cells_at_several_faces_are_updated_once},
      {"one_face_is_its_outermost_layer", one_face_is_its_outermost_layer},
      {"index_extent_and_step_are_those_of_the_whole_grid",
       index_extent_and_step_are_those_of_the_whole_grid},
      {"scalars_feed_kernels_and_kernels_feed_scalars",
       scalars_feed_kernels_and_kernels_feed_scalars},
      {"a_number_is_given_its_parameters_type", a_number_is_given_its_parameters_type},
      {"scalars_hold_their_type", scalars_hold_their_type},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
