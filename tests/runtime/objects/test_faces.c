/* SPDX-License-Identifier: BSD-3-Clause */
/* Boundaries with a value on the face, a gradient, values that are scalars or fields, and mirrors
 * in which components change places: the definition of docs/boundaries.md, in plain C, against
 * every device and several partitions. */
#include "runtime/places.h"

enum { ROWS = 7, COLUMNS = 70, CELLS = ROWS * COLUMNS, PARTS = 2, STEPS = 3 };

static const char *const splits[] = {"cpu*2", "cpu*3", "cpu*6"};

/* ---- the definition ---- */

typedef struct side {
  ambit_boundary kind;
  double value;
  bool by_scalar, by_field;
  const int *from; /* NULL: components stay */
} side;

typedef struct scene {
  side at[2][2];
  int components;
  const float *cells;   /* [CELLS][components] */
  const float *profile; /* [CELLS] */
  float scalar;
} scene;

static int64_t clamped(int64_t i, int64_t n)
{
  return i < 0 ? 0 : i < n ? i : n - 1;
}

static int64_t mirrored(int64_t i, int64_t n)
{
  return i < 0 ? -1 - i : i < n ? i : 2 * n - 1 - i;
}

/* The read of a cell, of which axes after `axis` are resolved: it is inside along them. A profile
 * is read where the cell meant was, at the face, and clamps. */
static float resolve(const scene *s, const int64_t *meant, int64_t y, int64_t x, int c, int axis)
{
  const int64_t n[2] = {ROWS, COLUMNS}, at[2] = {y, x};
  const side *f;
  int64_t in[2] = {y, x}, edge[2] = {clamped(meant[0], ROWS), clamped(meant[1], COLUMNS)};
  float v, mirror;

  if (axis < 0) return s->cells[(y * COLUMNS + x) * s->components + c];
  if (at[axis] >= 0 && at[axis] < n[axis]) return resolve(s, meant, y, x, c, axis - 1);
  f = &s->at[axis][at[axis] >= n[axis]];
  v = f->by_scalar  ? s->scalar
      : f->by_field ? s->profile[edge[0] * COLUMNS + edge[1]]
                    : (float)f->value;
  if (f->kind == AMBIT_CONSTANT) return v;
  in[axis] =
      f->kind == AMBIT_PERIODIC ? (at[axis] + n[axis]) % n[axis] : mirrored(at[axis], n[axis]);
  mirror = resolve(s, meant, in[0], in[1], f->from ? f->from[c] : c, axis - 1);
  if (f->kind == AMBIT_DIRICHLET) return 2 * v - mirror;
  if (f->kind == AMBIT_NEUMANN) return mirror + v * (float)llabs(at[axis] - in[axis]);
  return mirror;
}

static float value(const scene *s, int64_t y, int64_t x, int c)
{
  return resolve(s, (int64_t[]){y, x}, y, x, c, 1);
}

/* ---- the program ---- */

static const char rule[] =
    "void k(const float *u, float *v) { *v = 0.5f * *u + 0.25f * u[-1][0] - 0.125f * u[2][0] + "
    "0.25f * u[0][-2] + 0.125f * u[0][1] + 0.0625f * u[-1][1] + 0.03125f * u[1][-2]; }";

static double start(const int64_t *i, int component, void *user)
{
  (void)user;
  return (double)((i[0] * 13 + i[1] * 5 + component * 3) % 23) / 4 - 2;
}

static double profile_start(const int64_t *i, int component, void *user)
{
  (void)component;
  (void)user;
  return (double)((i[0] * 7 + i[1] * 3) % 11) / 8 - 0.5;
}

/* The value of the scalar in an iteration, and what the profile gains. */
static float wave(int t)
{
  return 0.25f * (float)t - 0.5f;
}

static void set_sides(const scene *s, ambit_field *u, ambit_field *profile, ambit_scalar *x)
{
  for (int d = 0; d < 2; d++)
    for (int i = 0; i < 2; i++) {
      const side *f = &s->at[d][i];

      if (f->by_scalar)
        ambit_field_boundary(u, AMBIT_FACE(d, i), f->kind, x);
      else if (f->by_field)
        ambit_field_boundary(u, AMBIT_FACE(d, i), f->kind, profile);
      else if (f->from)
        ambit_field_boundary_permuted(u, AMBIT_FACE(d, i), f->kind, f->from);
      else
        ambit_field_boundary(u, AMBIT_FACE(d, i), f->kind, f->value);
    }
}

/* STEPS iterations: the scalar and the profile change, then u. */
static void run(const char *device, const scene *s, float *to)
{
  ambit *a = open_on(device);
  ambit_field *u, *v, *profile;
  ambit_scalar *x;
  ambit_program *p;
  ambit_grid *g;

  ambit_option_set(a, "strict", "1");
  g = grid_2d(a, ROWS, COLUMNS);
  u = ambit_field_create(g, "u", AMBIT_F32);
  v = ambit_field_create(g, "v", AMBIT_F32);
  profile = ambit_field_create(g, "profile", AMBIT_F32);
  x = ambit_scalar_create(a, "x", AMBIT_F32);
  p = ambit_program_create(g);
  ambit_field_fill(u, start, NULL);
  ambit_field_fill(profile, profile_start, NULL);
  ambit_field_boundary(profile, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
  set_sides(s, u, profile, x);
  ambit_apply(p, ambit_kernel_create(a, "void k(float *x) { *x = 0.25f * step() - 0.5f; }"), x);
  ambit_apply_faces(p, AMBIT_ALL_FACES, ambit_kernel_create(a, "void k(float *p) { *p += 0.5f; }"),
                    profile);
  ambit_apply(p, ambit_kernel_create(a, rule), u, v);
  ambit_swap(p, u, v);
  ambit_run(p, STEPS - 1);
  ambit_run(p, 1);
  CHECK_OK(a);
  ambit_field_read(u, NULL, NULL, to);
  ambit_close(a);
}

static void expect(scene *s, float *to)
{
  static float u[CELLS], v[CELLS], profile[CELLS];

  for (int64_t i = 0; i < CELLS; i++) {
    const int64_t at[2] = {i / COLUMNS, i % COLUMNS};

    u[i] = (float)start(at, 0, NULL);
    profile[i] = (float)profile_start(at, 0, NULL);
  }
  s->cells = u;
  s->profile = profile;
  s->components = 1;
  for (int t = 0; t < STEPS; t++) {
    s->scalar = wave(t);
    for (int64_t i = 0; i < CELLS; i++)
      if (i / COLUMNS == 0 || i / COLUMNS == ROWS - 1 || i % COLUMNS == 0 ||
          i % COLUMNS == COLUMNS - 1)
        profile[i] += 0.5f;
    for (int64_t y = 0; y < ROWS; y++)
      for (int64_t x = 0; x < COLUMNS; x++)
        v[y * COLUMNS + x] = 0.5f * value(s, y, x, 0) + 0.25f * value(s, y - 1, x, 0) -
                             0.125f * value(s, y + 2, x, 0) + 0.25f * value(s, y, x - 2, 0) +
                             0.125f * value(s, y, x + 1, 0) + 0.0625f * value(s, y - 1, x + 1, 0) +
                             0.03125f * value(s, y + 1, x - 2, 0);
    memcpy(u, v, sizeof u);
  }
  memcpy(to, u, sizeof u);
}

static void compare(scene *s, const char *device, const char *name)
{
  static float want[CELLS], got[CELLS];

  expect(s, want);
  run(device, s, got);
  for (int i = 0; i < CELLS; i++)
    CHECK_MSG(want[i] == got[i], "%s on %s, cell [%d][%d]: want %.9g, got %.9g", name, device,
              i / COLUMNS, i % COLUMNS, (double)want[i], (double)got[i]);
}

static scene scenes[] = {
    {.at = {{{AMBIT_DIRICHLET, 1.5, false, false, NULL}, {AMBIT_NEUMANN, 0.25, false, false, NULL}},
            {{AMBIT_NEUMANN, -0.5, false, false, NULL}, {AMBIT_DIRICHLET, 2, false, false, NULL}}}},
    {.at = {{{AMBIT_DIRICHLET, 0, true, false, NULL}, {AMBIT_CONSTANT, 0, false, true, NULL}},
            {{AMBIT_DIRICHLET, 0, false, true, NULL}, {AMBIT_NEUMANN, 0, true, false, NULL}}}},
    {.at = {{{AMBIT_CONSTANT, 3, false, false, NULL}, {AMBIT_DIRICHLET, 1, false, false, NULL}},
            {{AMBIT_DIRICHLET, -1, false, false, NULL}, {AMBIT_CONSTANT, 0, true, false, NULL}}}},
    {.at = {{{AMBIT_NEUMANN, 0, false, true, NULL}, {AMBIT_NEUMANN, 0, false, true, NULL}},
            {{AMBIT_PERIODIC, 0, false, false, NULL}, {AMBIT_PERIODIC, 0, false, false, NULL}}}},
    {.at = {{{AMBIT_DIRICHLET, 1, false, false, NULL}, {AMBIT_SYMMETRIC, 0, false, false, NULL}},
            {{AMBIT_CONSTANT, 7, false, false, NULL}, {AMBIT_CONSTANT, 8, false, false, NULL}}}},
};
static const char *const names[] = {"numbers", "objects", "constants", "profiles", "corners"};
enum { SCENES = sizeof scenes / sizeof *scenes };

static void values_at_faces_follow_the_definition(void)
{
  EACH_DEVICE(d)
  for (int i = 0; i < SCENES; i++)
    compare(&scenes[i], *d, names[i]);
}

static void the_same_on_any_number_of_parts(void)
{
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < SCENES; i++)
      compare(&scenes[i], splits[k], names[i]);
}

/* ---- components ---- */

static const int flip_y[] = {0, 2, 1, 3}, flip_x[] = {0, 1, 3, 2};
static const char stream[] = "void k(const float *f[4], float *g[4]) { *g[0] = *f[0] + 0.5f * "
                             "f[0][1][1]; *g[1] = f[1][-1][0]; "
                             "*g[2] = f[2][1][-1]; *g[3] = f[3][2][2]; }";

static void components_change_places_in_a_mirror(void)
{
  static float cells[CELLS][4], got[CELLS][4];
  scene s = {.at = {{{AMBIT_SYMMETRIC, 0, false, false, flip_y},
                     {AMBIT_SYMMETRIC, 0, false, false, flip_y}},
                    {{AMBIT_SYMMETRIC, 0, false, false, flip_x},
                     {AMBIT_SYMMETRIC, 0, false, false, flip_x}}},
             .components = 4};

  for (int64_t i = 0; i < CELLS; i++)
    for (int c = 0; c < 4; c++)
      cells[i][c] = (float)start((int64_t[]){i / COLUMNS, i % COLUMNS}, c, NULL);
  s.cells = cells[0];
  EACH_DEVICE(d)
  for (int k = 0; k < 2; k++) {
    ambit *a = open_on(k ? "cpu*3" : *d);
    ambit_grid *g = grid_2d(a, ROWS, COLUMNS);
    ambit_field *f = ambit_field_create_vector(g, "f", AMBIT_F32, 4, k ? AMBIT_AOS : AMBIT_SOA),
                *h = ambit_field_create_vector(g, "h", AMBIT_F32, 4, AMBIT_SOA);
    ambit_program *p = ambit_program_create(g);

    ambit_field_fill(f, start, NULL);
    ambit_field_boundary_permuted(f, AMBIT_AXIS(0), AMBIT_SYMMETRIC, flip_y);
    ambit_field_boundary_permuted(f, AMBIT_AXIS(1), AMBIT_SYMMETRIC, flip_x);
    ambit_apply(p, ambit_kernel_create(a, stream), f, h);
    ambit_run(p, 1);
    CHECK_OK(a);
    ambit_field_read(h, NULL, NULL, got);
    for (int64_t y = 0; y < ROWS; y++)
      for (int64_t x = 0; x < COLUMNS; x++) {
        const float *v = got[y * COLUMNS + x];

        CHECK(v[0] == value(&s, y, x, 0) + 0.5f * value(&s, y + 1, x + 1, 0));
        CHECK(v[1] == value(&s, y - 1, x, 1));
        CHECK(v[2] == value(&s, y + 1, x - 1, 2));
        CHECK(v[3] == value(&s, y + 2, x + 2, 3));
      }
    ambit_close(a);
  }
}

/* A velocity of which one component is given at a wall, in double and in halves. */
static void components_have_values_of_their_own(void)
{
  EACH_DEVICE(d)
  {
    ambit *a = open_on(*d);
    ambit_grid *g = grid_1d(a, 5);
    ambit_field *f = ambit_field_create_vector(g, "f", AMBIT_F64, 2, AMBIT_SOA),
                *h = ambit_field_create_vector(g, "h", AMBIT_F64, 2, AMBIT_SOA),
                *half = ambit_field_create(g, "half", AMBIT_F16),
                *other = ambit_field_create(g, "other", AMBIT_F16);
    ambit_program *p = ambit_program_create(g);
    double got[5][2];
    uint16_t halves[5];

    ambit_field_set(f, 3);
    ambit_field_set(half, 3);
    ambit_field_boundary(f, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
    ambit_field_boundary_component(f, 1, AMBIT_LOW(0), AMBIT_DIRICHLET, 1);
    ambit_field_boundary(half, AMBIT_ALL_FACES, AMBIT_NEUMANN, 0.5);
    ambit_apply(
        p,
        ambit_kernel_create(
            a, "void k(const double *f[2], double *h[2]) { *h[0] = f[0][-1]; *h[1] = f[1][-1]; }"),
        f, h);
    ambit_apply(
        p, ambit_kernel_create(a, "void k(const half *f, half *h) { *h = f[-2] + 10 * f[1]; }"),
        half, other);
    ambit_run(p, 1);
    CHECK_OK(a);
    ambit_field_read(h, NULL, NULL, got);
    ambit_field_read(other, NULL, NULL, halves);
    CHECK(got[0][0] == 3 && got[0][1] == -1 && got[1][1] == 3);
    CHECK(ambit_half_decode(halves[0]) == 4.5 + 30 && ambit_half_decode(halves[1]) == 3.5 + 30);
    CHECK(ambit_half_decode(halves[2]) == 33 && ambit_half_decode(halves[4]) == 3 + 35);
    ambit_close(a);
  }
}

static void a_value_can_change_between_runs(void)
{
  EACH_DEVICE(d)
  {
    ambit *a = open_on(*d);
    ambit_grid *g = grid_1d(a, 4);
    ambit_field *u = ambit_field_create(g, "u", AMBIT_F32),
                *v = ambit_field_create(g, "v", AMBIT_F32);
    ambit_scalar *x = ambit_scalar_create(a, "x", AMBIT_F64);
    ambit_program *p = ambit_program_create(g);
    float got[4];

    ambit_apply(p, ambit_kernel_create(a, "void k(const float *u, float *v) { *v = u[-1]; }"), u,
                v);
    ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_DIRICHLET, 1);
    ambit_run(p, 1);
    ambit_field_read(v, NULL, NULL, got);
    CHECK(got[0] == 2);
    ambit_field_boundary(u, AMBIT_LOW(0), AMBIT_DIRICHLET, 4);
    ambit_run(p, 1);
    ambit_field_read(v, NULL, NULL, got);
    CHECK(got[0] == 8);
    ambit_field_boundary(u, AMBIT_LOW(0), AMBIT_CONSTANT, x);
    ambit_scalar_set(x, 5);
    ambit_run(p, 1);
    ambit_field_read(v, NULL, NULL, got);
    CHECK(got[0] == 5);
    ambit_field_boundary(u, AMBIT_LOW(0), AMBIT_CONSTANT, 6);
    ambit_run(p, 1);
    ambit_field_read(v, NULL, NULL, got);
    CHECK(got[0] == 6);
    CHECK_OK(a);
    ambit_field_boundary(u, AMBIT_LOW(0), AMBIT_CONSTANT, x);
    ambit_run(p, 1);
    ambit_scalar_destroy(x);
    ambit_run(p, 1);
    CHECK_FAILED(a, AMBIT_EPROGRAM, "");
    ambit_close(a);
  }
}

/* An inflow: a field on the axes of the face, which a step changes. */
static void a_value_can_be_a_profile(void)
{
  EACH_PLACE(where)
  {
    ambit *a = open_strict(*where);
    ambit_grid *g = grid_2d(a, 6, 5);
    ambit_field *u = ambit_field_create(g, "u", AMBIT_F32),
                *v = ambit_field_create(g, "v", AMBIT_F32),
                *n = ambit_field_create_on(g, "n", AMBIT_F32, AMBIT_AXIS(0));
    ambit_program *p = ambit_program_create(g);
    float got[30];

    ambit_field_boundary(u, AMBIT_LOW(1), AMBIT_DIRICHLET, n);
    ambit_apply(p, ambit_kernel_create(a, "void k(float *n) { *n = index(0) + 10 * step(); }"), n);
    ambit_apply(p, ambit_kernel_create(a, "void k(const float *u, float *v) { *v = u[0][-1]; }"), u,
                v);
    ambit_run(p, 3);
    ambit_field_read(v, NULL, NULL, got);
    CHECK_OK(a);
    for (int i = 0; i < 30; i++)
      CHECK_EQ(i % 5 ? 0 : 2 * (i / 5 + 20), (int)got[i]);
    ambit_close(a);
  }
}

static double rising(const int64_t *i, int component, void *user)
{
  (void)component;
  (void)user;
  return (double)i[0] + 1;
}

/* Of a profile there is one cell across the face, however far the read goes beyond it. */
static void a_profile_is_the_value_of_reads_that_go_far(void)
{
  EACH_PLACE(where)
  {
    ambit *a = open_strict(*where);
    ambit_grid *g = grid_2d(a, 6, 5);
    ambit_field *u = ambit_field_create(g, "u", AMBIT_F32),
                *v = ambit_field_create(g, "v", AMBIT_F32),
                *n = ambit_field_create_on(g, "n", AMBIT_F32, AMBIT_AXIS(0));
    ambit_program *p = ambit_program_create(g);
    float got[30], kept[6];

    ambit_field_fill(n, rising, NULL);
    ambit_field_boundary(u, AMBIT_AXIS(1), AMBIT_DIRICHLET, n);
    ambit_apply(p,
                ambit_kernel_create(
                    a, "void k(const float *u, float *v) { *v = u[0][-2] + 16 * u[0][3]; }"),
                u, v);
    ambit_run(p, 1);
    ambit_field_read(v, NULL, NULL, got);
    ambit_field_read(n, NULL, NULL, kept);
    CHECK_OK(a);
    for (int i = 0; i < 30; i++)
      CHECK_EQ(2 * (i / 5 + 1) * (i % 5 < 2 ? 1 : 16), (int)got[i]);
    for (int i = 0; i < 6; i++)
      CHECK_EQ(i + 1, (int)kept[i]);
    ambit_close(a);
  }
}

static void mistakes_are_told(void)
{
  ambit *a = open_on("cpu");
  ambit_grid *g = grid_1d(a, 2), *other = grid_1d(a, 2);
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F32),
              *v = ambit_field_create(g, "v", AMBIT_F32),
              *n = ambit_field_create(g, "n", AMBIT_I32),
              *far = ambit_field_create(other, "far", AMBIT_F32),
              *two = ambit_field_create_vector(g, "two", AMBIT_F32, 2, AMBIT_SOA);
  ambit_program *p = ambit_program_create(g);

  ambit_field_boundary(n, AMBIT_LOW(0), AMBIT_DIRICHLET, 1);
  CHECK_FAILED(a, AMBIT_EINVAL, "only fields of real numbers can be dirichlet");
  ambit_field_boundary(u, AMBIT_LOW(0), AMBIT_DIRICHLET, (ambit_scalar *)NULL);
  CHECK_FAILED(a, AMBIT_EINVAL, "is NULL");
  ambit_field_boundary(u, AMBIT_LOW(0), AMBIT_DIRICHLET, far);
  CHECK_FAILED(a, AMBIT_EINVAL, "another field of its grid");
  ambit_field_boundary(u, AMBIT_LOW(0), AMBIT_CLAMP, v);
  CHECK_FAILED(a, AMBIT_EINVAL, "a boundary that is clamp has no value");
  ambit_field_boundary_permuted(u, AMBIT_LOW(0), AMBIT_SYMMETRIC, (int[]){1});
  CHECK_FAILED(a, AMBIT_EINVAL, "components 0 to 0");
  ambit_field_boundary_permuted(two, AMBIT_LOW(0), AMBIT_SYMMETRIC, (int[]){1, 1});
  CHECK_FAILED(a, AMBIT_EINVAL, "numbers 0 and 1 of the list are both 1");
  ambit_field_boundary(u, 0, AMBIT_CLAMP, 0);
  CHECK_FAILED(a, AMBIT_EINVAL, "a boundary was set at no face");
  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_NEUMANN, 1);
  ambit_apply(p, ambit_kernel_create(a, "void k(const float *u, float *v) { *v = u[-3]; }"), u, v);
  ambit_run(p, 1);
  CHECK_FAILED(a, AMBIT_EUNSUPPORTED, "further away along axis 0 than the 2 cells");
  ambit_close(a);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"values_at_faces_follow_the_definition", values_at_faces_follow_the_definition},
      {"the_same_on_any_number_of_parts", the_same_on_any_number_of_parts},
      {"components_change_places_in_a_mirror", components_change_places_in_a_mirror},
      {"components_have_values_of_their_own", components_have_values_of_their_own},
      {"a_value_can_change_between_runs", a_value_can_change_between_runs},
      {"a_value_can_be_a_profile", a_value_can_be_a_profile},
      {"a_profile_is_the_value_of_reads_that_go_far", a_profile_is_the_value_of_reads_that_go_far},
      {"mistakes_are_told", mistakes_are_told},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
