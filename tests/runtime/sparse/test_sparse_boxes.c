/* SPDX-License-Identifier: BSD-3-Clause */
/* What sparse grids have in common with dense ones: boundaries of single components, copies of
 * boxes; and what they have in place of views. */
#include "runtime/objects/components.h"

enum { ROWS = 12, COLUMNS = 41, CELLS = ROWS * COLUMNS, FIELDS = 3 };

static const char *const storages[] = {"runs", "list", "runs"};

static int everywhere(const int64_t *i, void *user)
{
  (void)i, (void)user;
  return 1;
}

/* Cells at all faces, with holes. */
static int with_holes(const int64_t *i, void *user)
{
  (void)user;
  return (i[0] * 7 + i[1] * 3) % 11 > 1 && (i[1] / 6 + i[0] / 4) % 3;
}

/* A grid of ROWS x COLUMNS cells in a storage. */
static ambit_grid *grid_of(ambit *a, const char *storage, ambit_active_fn is_active)
{
  const int64_t extents[] = {ROWS, COLUMNS};

  ambit_option_set(a, "storage", storage);
  return ambit_grid_create_sparse(a, 2, extents, is_active, NULL);
}

/* ---- boundaries of components ---- */

static const own_boundary own[FIELDS][3] = {{{AMBIT_AXIS(0), AMBIT_SYMMETRIC, 0},
                                             {AMBIT_AXIS(1), AMBIT_CONSTANT, 3},
                                             {AMBIT_INACTIVE, AMBIT_CLAMP, 2}},
                                            {{AMBIT_AXIS(0), AMBIT_ANTISYMMETRIC, 0},
                                             {AMBIT_AXIS(1), AMBIT_CONSTANT, -2},
                                             {AMBIT_INACTIVE, AMBIT_CONSTANT, 1}},
                                            {{AMBIT_LOW(0), AMBIT_CONSTANT, 5},
                                             {AMBIT_HIGH(1), AMBIT_REFLECT, 0},
                                             {AMBIT_INACTIVE, AMBIT_CONSTANT, -1}}};

#define MEAN(u) "0.25f * (" u "[-2][0] + " u "[1][-1] + " u "[0][2] + " u "[-1][1])"

/* Three fields of one component, one after the other: on ref, if there is one process. */
static void run_fields(ambit_active_fn is_active, float *values)
{
  ambit *a = open_strict(places()[3] ? "ref" : "cpu");

  run_apart(a, grid_of(a, "auto", is_active),
            "void mean(const float *u, float *v) { *v = " MEAN("u") "; }", FIELDS, own[0], 3,
            values);
}

static void set_all(ambit_field *u)
{
  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
  ambit_field_boundary(u, AMBIT_INACTIVE, AMBIT_CONSTANT, 7);
  for (int c = 0; c < FIELDS; c++)
    for (int b = 0; b < 3; b++)
      ambit_field_boundary_component(u, c, own[c][b].faces, own[c][b].kind, own[c][b].value);
}

/* One field of three components; the boundaries are changed between runs, and set again. */
static void run_components(const char *device, const char *storage, ambit_active_fn is_active,
                           bool checks, float *values)
{
  ambit *a = open_strict(device);
  ambit_grid *g = (ambit_option_set(a, "nan", checks ? "1" : "0"), grid_of(a, storage, is_active));
  ambit_field *u = ambit_field_create_vector(g, "u", AMBIT_F32, FIELDS, AMBIT_SOA);
  ambit_field *v = ambit_field_create_vector(g, "v", AMBIT_F32, FIELDS, AMBIT_SOA);
  ambit_field *w = ambit_field_create_vector(g, "w", AMBIT_F32, FIELDS, AMBIT_SOA);
  ambit_kernel *k =
      ambit_kernel_create(a, "void mean(const float *u[3], float *v[3])"
                             "{ for (int i = 0; i < 3; i++) *v[i] = " MEAN("u[i]") "; }");
  ambit_program *p = ambit_program_create(g), *other = ambit_program_create(g);

  ambit_field_fill(u, start, NULL);
  ambit_apply(p, k, u, v);
  ambit_swap(p, u, v);
  ambit_apply(other, k, u, w);
  set_all(u);
  ambit_run(p, 2);
  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CONSTANT, 9); /* for all components */
  ambit_field_boundary(u, AMBIT_INACTIVE, AMBIT_CONSTANT, 8);
  ambit_run(other, 1);
  set_all(u);
  ambit_run(p, 4);
  ambit_field_read(u, NULL, NULL, values);
  CHECK_OK(a);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static void components_have_boundaries_of_their_own(void)
{
  static float want[2][FIELDS * CELLS], got[FIELDS * CELLS];

  run_fields(everywhere, want[0]);
  run_fields(with_holes, want[1]);
  for (int i = 0; i < 3; i++)
    EACH_PLACE(d)
    {
      const int holes = i > 0 || strchr(*d, '*');

      if (compiles_slowly(*d) && !test_takes(i, 3)) continue;
      run_components(*d, storages[i], holes ? with_holes : everywhere, i == 2, got);
      CHECK_MSG(!memcmp(want[holes], got, sizeof got), "%s, %s", *d, storages[i]);
    }
}

/* Cells that do not read and write have the value of their component. */
static void reading_gives_inactive_cells_the_values_of_components(void)
{
  EACH_PLACE(d)
  {
    ambit *a = open_strict(*d);
    ambit_grid *g = grid_of(a, "auto", with_holes);
    ambit_field *u = ambit_field_create_vector(g, "u", AMBIT_F32, 2, AMBIT_SOA);
    static float values[CELLS][2];

    ambit_field_set(u, 3);
    ambit_field_boundary(u, AMBIT_INACTIVE, AMBIT_CLAMP, 1);
    ambit_field_boundary_component(u, 1, AMBIT_INACTIVE, AMBIT_CONSTANT, 2);
    ambit_field_read(u, NULL, NULL, values);
    for (int i = 0; i < CELLS; i++) {
      const bool on = with_holes(AMBIT_INDEX(i / COLUMNS, i % COLUMNS), NULL);

      CHECK_NEAR(on ? 3.0 : 1.0, (double)values[i][0], 0);
      CHECK_NEAR(on ? 3.0 : 2.0, (double)values[i][1], 0);
    }
    CHECK_OK(a);
    ambit_close(a);
  }
}

static void wrong_boundaries_of_components_are_refused(void)
{
  ambit *a = open_on("cpu");
  ambit_grid *g = grid_of(a, "auto", with_holes);
  ambit_field *u = ambit_field_create_vector(g, "u", AMBIT_F32, 2, AMBIT_SOA);
  ambit_field *w = ambit_field_create_vector(g, "w", AMBIT_F32, 2, AMBIT_AOS);

  ambit_field_boundary_component(u, 1, AMBIT_INACTIVE, AMBIT_CLAMP, 0);
  CHECK_FAILED(a, AMBIT_EINVAL, "at inactive cells is none; set another kind");
  ambit_field_boundary(u, AMBIT_INACTIVE, AMBIT_CLAMP, 0);
  ambit_field_boundary_component(u, 1, AMBIT_INACTIVE, AMBIT_REFLECT, 0);
  CHECK_FAILED(a, AMBIT_EINVAL, "inactive cells cannot be reflect");
  ambit_field_boundary_component(u, 1, AMBIT_INACTIVE, AMBIT_NONE, 0);
  CHECK_FAILED(a, AMBIT_EINVAL, "a component alone cannot be none");
  ambit_field_boundary(w, AMBIT_INACTIVE, AMBIT_CLAMP, 0);
  ambit_field_boundary_component(w, 1, AMBIT_INACTIVE, AMBIT_CONSTANT, 0);
  CHECK_FAILED(a, AMBIT_EUNSUPPORTED, "only in fields of order AMBIT_SOA");
  ambit_close(a);
}

/* ---- copies of boxes ---- */

enum { COMPONENTS = 2 };

/* Copies of some cells of a field to others of a field: 0, u; 1, v. */
typedef struct copying {
  int from, to;
  int64_t lo[2], hi[2], at[2];
} copying;

static const copying copies[] = {{0, 1, {0, 0}, {ROWS, COLUMNS}, {0, 0}},
                                 {0, 1, {1, 3}, {9, 38}, {2, 5}},
                                 {1, 0, {4, 0}, {8, COLUMNS - 7}, {0, 7}},
                                 {0, 0, {0, 0}, {2, COLUMNS}, {ROWS - 2, 0}},
                                 {1, 1, {0, COLUMNS - 9}, {ROWS, COLUMNS}, {0, 0}}};

static const double fills[2][COMPONENTS] = {{-3, -4}, {6, 6}}; /* of u and v */

static double fill_of(int field, ambit_order order, int component)
{
  return fills[field][order == AMBIT_SOA ? component : 0];
}

static void copy_by_hand(const copying *c, ambit_order order, float (*values)[CELLS][COMPONENTS])
{
  static float old[CELLS][COMPONENTS];

  memcpy(old, values[c->from], sizeof old);
  for (int64_t y = c->lo[0]; y < c->hi[0]; y++)
    for (int64_t x = c->lo[1]; x < c->hi[1]; x++) {
      const int64_t there[] = {y - c->lo[0] + c->at[0], x - c->lo[1] + c->at[1]};
      const bool on = with_holes(AMBIT_INDEX(y, x), NULL);

      for (int k = 0; with_holes(there, NULL) && k < COMPONENTS; k++)
        values[c->to][there[0] * COLUMNS + there[1]][k] =
            on ? old[y * COLUMNS + x][k] : (float)fill_of(c->from, order, k);
    }
}

/* The fields are swapped after them. */
static void run_copies(const char *device, const char *storage, ambit_order order,
                       const float (*start_values)[CELLS][COMPONENTS],
                       float (*values)[CELLS][COMPONENTS])
{
  ambit *a = open_strict(device);
  ambit_grid *g = grid_of(a, storage, with_holes);
  ambit_program *p = ambit_program_create(g);
  ambit_field *f[2];

  for (int i = 0; i < 2; i++) {
    f[i] = ambit_field_create_vector(g, i ? "v" : "u", AMBIT_F32, COMPONENTS, order);
    ambit_field_write(f[i], NULL, NULL, start_values[i]);
    ambit_field_boundary(f[i], AMBIT_INACTIVE, AMBIT_CONSTANT, fills[i][0]);
    for (int k = 1; order == AMBIT_SOA && k < COMPONENTS; k++)
      ambit_field_boundary_component(f[i], k, AMBIT_INACTIVE, AMBIT_CLAMP, fills[i][k]);
  }
  for (size_t i = 0; i < sizeof copies / sizeof *copies; i++)
    ambit_copy_box(p, f[copies[i].from], copies[i].lo, copies[i].hi, f[copies[i].to], copies[i].at);
  ambit_swap(p, f[0], f[1]);
  ambit_run(p, 3);
  for (int i = 0; i < 2; i++)
    ambit_field_read(f[i], NULL, NULL, values[i]);
  CHECK_OK(a);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

/* Field i of two: as it starts, with the value of inactive cells. */
static void begin(int i, ambit_order order, float (*values)[COMPONENTS])
{
  for (int n = 0; n < CELLS; n++) {
    const int64_t index[] = {n / COLUMNS, n % COLUMNS};

    for (int k = 0; k < COMPONENTS; k++)
      values[n][k] =
          (float)(with_holes(index, NULL) ? start(index, k + 5 * i, NULL) : fill_of(i, order, k));
  }
}

static void finish_by_hand(ambit_order order, float (*values)[CELLS][COMPONENTS])
{
  static float u[CELLS][COMPONENTS];

  for (int n = 0; n < 3; n++) {
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++)
      copy_by_hand(&copies[i], order, values);
    memcpy(u, values[0], sizeof u);
    memcpy(values[0], values[1], sizeof u);
    memcpy(values[1], u, sizeof u);
  }
  for (int i = 0; i < 2; i++)
    for (int n = 0; n < CELLS; n++)
      for (int k = 0; !with_holes(AMBIT_INDEX(n / COLUMNS, n % COLUMNS), NULL) && k < COMPONENTS;
           k++)
        values[i][n][k] = (float)fill_of(i, order, k);
}

/* Inactive cells of the source have the value that users see there. */
static void boxes_of_active_cells_are_copied(void)
{
  static float given[2][CELLS][COMPONENTS], want[2][CELLS][COMPONENTS], got[2][CELLS][COMPONENTS];

  for (int i = 0; i < 3; i++) {
    const ambit_order order = i == 1 ? AMBIT_AOS : AMBIT_SOA;

    for (int k = 0; k < 2; k++)
      begin(k, order, given[k]);
    memcpy(want, given, sizeof want);
    finish_by_hand(order, want);
    EACH_PLACE(d)
    {
      if (compiles_slowly(*d) && !test_takes(i, 3)) continue;
      run_copies(*d, storages[i], order, (const float(*)[CELLS][COMPONENTS])given, got);
      CHECK_MSG(!memcmp(want, got, sizeof got), "%s, %s", *d, storages[i]);
    }
  }
}

/* ---- views ---- */

/* What replaces them: values through arrays, on any storage, parts and processes. */
static void arrays_take_values_to_coarser_grids(void)
{
  static float values[ROWS][COLUMNS + 1], some[ROWS / 2][(COLUMNS + 1) / 2],
      got[ROWS / 2][(COLUMNS + 1) / 2];
  const int64_t extents[2][2] = {{ROWS, COLUMNS + 1}, {ROWS / 2, (COLUMNS + 1) / 2}};

  for (int s = 0; s < 3; s++) {
    ambit *a = open_strict(s ? "cpu*3" : "cpu");
    ambit_grid *fine, *coarse;
    ambit_field *u, *v;

    ambit_option_set(a, "storage", storages[s]);
    fine = ambit_grid_create_sparse(a, 2, extents[0], with_holes, NULL);
    coarse = ambit_grid_create_sparse(a, 2, extents[1], with_holes, NULL);
    u = ambit_field_create(fine, "u", AMBIT_F32);
    v = ambit_field_create(coarse, "v", AMBIT_F32);
    ambit_field_fill(u, start, NULL);
    ambit_field_read(u, NULL, NULL, values);
    for (int i = 0; i < ROWS / 2; i++)
      for (int k = 0; k < (COLUMNS + 1) / 2; k++)
        some[i][k] = values[2 * i][2 * k];
    ambit_field_write(v, NULL, NULL, some);
    ambit_field_read(v, NULL, NULL, got);
    for (int i = 0; i < ROWS / 2; i++)
      for (int k = 0; k < (COLUMNS + 1) / 2; k++) {
        const bool on = with_holes(AMBIT_INDEX(i, k), NULL);
        const bool was = with_holes(AMBIT_INDEX(2 * i, 2 * k), NULL);

        CHECK_NEAR(on && was ? start(AMBIT_INDEX(2 * i, 2 * k), 0, NULL) : 0, (double)got[i][k], 0);
      }
    CHECK(!ambit_field_create_view(coarse, u, AMBIT_INDEX(0, 1)));
    CHECK_FAILED(a, AMBIT_EUNSUPPORTED, "through arrays, with ambit_field_read");
    ambit_close(a);
  }
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"components_have_boundaries_of_their_own", components_have_boundaries_of_their_own},
      {"reading_gives_inactive_cells_the_values_of_components",
       reading_gives_inactive_cells_the_values_of_components},
      {"wrong_boundaries_of_components_are_refused", wrong_boundaries_of_components_are_refused},
      {"boxes_of_active_cells_are_copied", boxes_of_active_cells_are_copied},
      {"arrays_take_values_to_coarser_grids", arrays_take_values_to_coarser_grids},
      {NULL, NULL}};

  return test_main(argc, argv, tests);
}
