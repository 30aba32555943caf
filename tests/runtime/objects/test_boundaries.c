/* SPDX-License-Identifier: BSD-3-Clause */
/* Boundaries against their definition: every read outside the grid, one axis at a time, as in
 * NumPy's pad. A kernel with one component per offset tests all reads at once. */
#include "runtime/exchange/exchange.h"
#include "runtime/run/run.h"
#include "runtime/runtime_test.h"

typedef struct shape {
  int ndims;
  int64_t extents[3];
  ambit_boundary kind[3][2];
} shape;

static const ambit_boundary kinds[] = {AMBIT_CONSTANT, AMBIT_PERIODIC, AMBIT_REFLECT,
                                       AMBIT_SYMMETRIC, AMBIT_CLAMP};
enum { NKINDS = 5, MOST_CELLS = 400, MOST_OFFSETS = 27 };
static const double outside = -77; /* value of constant faces */

/* One kernel per number of axes: component c reads at offset c. */
static const char *const rules[] = {
    "void k(const float *u, float *v[11]) { for (int i = -5; i <= 5; i++) *v[i + 5] = u[i]; }",
    "void k(const float *u, float *v[25]) {\n"
    "  for (int i = -2; i <= 2; i++)\n"
    "    for (int j = -2; j <= 2; j++) *v[5 * i + j + 12] = u[i][j];\n"
    "}",
    "void k(const float *u, float *v[27]) {\n"
    "  for (int i = -1; i <= 1; i++)\n"
    "    for (int j = -1; j <= 1; j++)\n"
    "      for (int k = -1; k <= 1; k++) *v[9 * i + 3 * j + k + 13] = u[2 * i][j][3 * k];\n"
    "}"};
static const int offsets[] = {11, 25, 27};

/* The offset of component c along each axis. */
static void offset_of(int ndims, int c, int64_t *o)
{
  if (ndims == 1) o[0] = c - 5;
  if (ndims == 2) o[0] = c / 5 - 2, o[1] = c % 5 - 2;
  if (ndims == 3) o[0] = 2 * (c / 9 - 1), o[1] = c / 3 % 3 - 1, o[2] = 3 * (c % 3 - 1);
}

/* Walks outwards from the edge cell by cell, as in the pictures of ambit.h; -1: the constant. */
static int64_t walk(ambit_boundary kind, int64_t n, int64_t i)
{
  int64_t steps = i < 0 ? -i : i - (n - 1), edge = i < 0 ? 0 : n - 1, inward = i < 0 ? 1 : -1;
  int64_t at = edge;

  if (i >= 0 && i < n) return i;
  if (kind == AMBIT_CONSTANT) return -1;
  if (kind == AMBIT_CLAMP || (kind == AMBIT_REFLECT && n == 1)) return edge;
  if (kind == AMBIT_PERIODIC) at = n - 1 - edge; /* the first step goes to the other end */
  for (int64_t k = 0; k < steps; k++) {
    bool first = k == 0;

    if (kind == AMBIT_PERIODIC) {
      if (!first) at = (at - inward + n) % n;
    } else if (kind == AMBIT_REFLECT) {
      if (at + inward < 0 || at + inward >= n) inward = -inward;
      at += inward;
    } else if (!first) { /* symmetric: the edge cell comes twice in a row */
      if (at + inward < 0 || at + inward >= n)
        inward = -inward;
      else
        at += inward;
    }
  }
  return at;
}

static float start(const shape *s, const int64_t *cell)
{
  float x = 1;

  for (int d = 0; d < s->ndims; d++)
    x = x * 10 + (float)cell[d];
  return x;
}

static double start_value(const int64_t *index, int component, void *user)
{
  (void)component;
  return (double)start(user, index);
}

static float expected(const shape *s, const int64_t *cell, int c)
{
  int64_t o[3] = {0}, from[3];

  offset_of(s->ndims, c, o);
  for (int d = 0; d < s->ndims; d++) {
    int64_t i = cell[d] + o[d];

    from[d] = walk(s->kind[d][i >= 0], s->extents[d], i);
    if (from[d] < 0) return (float)outside;
  }
  return start(s, from);
}

static void check_values(const shape *s, const float *values)
{
  int64_t at[3] = {0};
  int d;

  do {
    for (int c = 0; c < offsets[s->ndims - 1]; c++, values++)
      CHECK_MSG(*values == expected(s, at, c),
                "%dd, first axis of %lld cells, boundaries %d and %d, cell %lld, offset number %d: "
                "want %g, got %g",
                s->ndims, (long long)s->extents[0], (int)s->kind[0][0], (int)s->kind[0][1],
                (long long)at[0], c, (double)expected(s, at, c), (double)*values);
    for (d = s->ndims - 1; d >= 0 && ++at[d] == s->extents[d]; d--)
      at[d] = 0;
  } while (d >= 0);
}

static void check_shape(ambit *a, const ambit_kernel *k, shape *s, ambit_order order)
{
  static float values[MOST_CELLS * MOST_OFFSETS];
  ambit_grid *g = ambit_grid_create(a, s->ndims, s->extents);
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F32);
  ambit_field *v = ambit_field_create_vector(g, "v", AMBIT_F32, offsets[s->ndims - 1], order);
  ambit_program *p = ambit_program_create(g);

  for (int d = 0; d < s->ndims; d++)
    for (int side = 0; side < 2; side++)
      ambit_field_boundary(u, AMBIT_FACE(d, side), s->kind[d][side], outside);
  ambit_field_fill(u, start_value, s);
  ambit_apply(p, k, u, v);
  ambit_run(p, 1);
  ambit_field_read(v, NULL, NULL, values);
  CHECK_OK(a);
  check_values(s, values);
  ambit_grid_destroy(g);
}

static void every_pair_of_boundaries_in_one_dimension(void)
{
  EACH_DEVICE(device)
  {
    ambit *a = open_on(*device);
    ambit_kernel *k = ambit_kernel_create(a, rules[0]);

    for (int64_t n = 1; n <= 13; n += compiles_slowly(*device) ? 4 : 1)
      for (int low = 0; low < NKINDS; low++)
        for (int high = 0; high < NKINDS; high++) {
          shape s = {.ndims = 1, .extents = {n}, .kind = {{kinds[low], kinds[high]}}};

          if ((kinds[low] == AMBIT_PERIODIC) != (kinds[high] == AMBIT_PERIODIC)) continue;
          check_shape(a, k, &s, AMBIT_SOA);
        }
    ambit_close(a);
  }
}

/* Shapes and boundaries from a simple sequence, so that every kind is combined with every other. */
static void check_mixtures(int ndims, int rounds, const int64_t *sizes, int nsizes)
{
  EACH_DEVICE(device)
  {
    ambit *a = open_on(*device);
    ambit_kernel *k = ambit_kernel_create(a, rules[ndims - 1]);
    const int enough = compiles_slowly(*device) ? rounds / 5 : rounds;
    unsigned next = 12345;

    for (int round = 0; round < enough; round++) {
      shape s = {.ndims = ndims};

      for (int d = 0; d < ndims; d++) {
        next = next * 1103515245u + 12345u;
        s.extents[d] = sizes[(next >> 16) % (unsigned)nsizes];
        s.kind[d][0] = kinds[(next >> 20) % NKINDS];
        s.kind[d][1] = kinds[(next >> 24) % NKINDS];
        if (s.kind[d][0] == AMBIT_PERIODIC || s.kind[d][1] == AMBIT_PERIODIC)
          s.kind[d][0] = s.kind[d][1] = AMBIT_PERIODIC;
      }
      check_shape(a, k, &s, round % 2 ? AMBIT_AOS : AMBIT_SOA);
    }
    ambit_close(a);
  }
}

static void mixtures_of_boundaries_in_two_dimensions(void)
{
  static const int64_t sizes[] = {1, 2, 3, 5, 16, 17};

  check_mixtures(2, 60, sizes, 6);
}

static void mixtures_of_boundaries_in_three_dimensions(void)
{
  static const int64_t sizes[] = {1, 2, 3, 5, 7};

  check_mixtures(3, 40, sizes, 5);
}

/* The walk itself, against the pictures in ambit.h. */
static void the_oracle_draws_the_pictures_of_the_header(void)
{
  static const struct {
    ambit_boundary kind;
    const char *picture; /* two cells before, four of the grid, two after */
  } rows[] = {{AMBIT_PERIODIC, "cdabcdab"},
              {AMBIT_REFLECT, "cbabcdcb"},
              {AMBIT_SYMMETRIC, "baabcddc"},
              {AMBIT_CLAMP, "aaabcddd"}};

  for (size_t r = 0; r < 4; r++)
    for (int64_t i = -2; i < 6; i++)
      CHECK_EQ(rows[r].picture[i + 2], "abcd"[walk(rows[r].kind, 4, i)]);
}

static void a_boundary_changed_between_runs_counts_from_then_on(void)
{
  EACH_DEVICE(device)
  {
    ambit *a = open_on(*device);
    ambit_kernel *k = ambit_kernel_create(a, rules[0]);
    ambit_grid *g = grid_1d(a, 4);
    ambit_field *u = ambit_field_create(g, "u", AMBIT_F32);
    ambit_field *v = ambit_field_create_vector(g, "v", AMBIT_F32, 11, AMBIT_SOA);
    ambit_program *p = ambit_program_create(g);
    shape s = {.ndims = 1, .extents = {4}};
    float values[4 * 11];

    ambit_field_fill(u, start_value, &s);
    ambit_apply(p, k, u, v);
    for (int i = 0; i < NKINDS; i++) {
      s.kind[0][0] = s.kind[0][1] = kinds[i];
      ambit_field_boundary(u, AMBIT_ALL_FACES, kinds[i], outside);
      ambit_run(p, 1);
      ambit_field_read(v, NULL, NULL, values);
      CHECK_OK(a);
      check_values(&s, values);
    }
    ambit_close(a);
  }
}

/* An iteration has one launch and one swap, and nothing fills ghost cells. */
static void constant_ghosts_are_filled_once_though_fields_swap(void)
{
  ambit *a = open_on("cpu"), *b = open_on("ref");
  float got[2][9];

  for (int i = 0; i < 2; i++) {
    ambit_grid *g = grid_1d(i ? b : a, 9);
    ambit_field *u = ambit_field_create(g, "u", AMBIT_F32),
                *v = ambit_field_create(g, "v", AMBIT_F32);
    ambit_program *p = ambit_program_create(g);

    ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CONSTANT, 3);
    ambit_apply(p,
                ambit_kernel_create(i ? b : a, "void k(const float *u, float *v)"
                                               "{ *v = 0.5f * (u[-1] + u[1]); }"),
                u, v);
    ambit_swap(p, u, v);
    ambit_run(p, 5);
    if (!i) CHECK_EQ(2, p->schedule.n);
    ambit_run(p, 2);
    ambit_field_boundary(u, AMBIT_LOW(0), AMBIT_CONSTANT, -1);
    ambit_run(p, 3);
    ambit_field_read(u, NULL, NULL, got[i]);
  }
  CHECK_OK(a);
  CHECK_OK(b);
  for (int i = 0; i < 9; i++)
    CHECK_MSG(got[0][i] == got[1][i], "cell %d: %g, ref %g", i, got[0][i], got[1][i]);
  ambit_close(a);
  ambit_close(b);
}

/* ---- normals ---- */

/* Every face writes its normal; a corner belongs to the face of the lowest axis. */
static void faces_have_normals(void)
{
  EACH_DEVICE(d)
  {
    ambit *a = open_on(*d);
    ambit_grid *g = grid_2d(a, 4, 5);
    ambit_field *n = ambit_field_create_vector(g, "n", AMBIT_I32, 2, AMBIT_AOS);
    ambit_program *p = ambit_program_create(g);
    ambit_kernel *k = ambit_kernel_create(
        a, "void k(int *n[2]) { *n[0] = normal(0); if (normal(1)) *n[1] = 7 * normal(1); }");
    int32_t v[4][5][2];

    ambit_apply_faces(p, AMBIT_ALL_FACES, k, n);
    ambit_run(p, 1);
    ambit_field_read(n, NULL, NULL, v);
    CHECK_OK(a);
    CHECK(v[0][0][0] == -1 && v[0][0][1] == 0 && v[3][4][0] == 1 && v[3][4][1] == 0);
    CHECK(v[1][0][0] == 0 && v[1][0][1] == -7 && v[2][4][1] == 7 && v[2][2][1] == 0);
    ambit_apply(p, k, n);
    CHECK_FAILED(a, AMBIT_EINVAL, "uses normal(), which only faces have");
    ambit_close(a);
  }
}

static void an_antisymmetric_face_changes_signs(void)
{
  EACH_DEVICE(d)
  {
    ambit *a = open_on(*d);
    ambit_grid *g = grid_1d(a, 3);
    ambit_field *u = ambit_field_create(g, "u", AMBIT_F16),
                *v = ambit_field_create(g, "v", AMBIT_F16);
    ambit_field *n = ambit_field_create(g, "n", AMBIT_I32);
    ambit_program *p = ambit_program_create(g);
    const uint16_t start[] = {ambit_half_encode(1), ambit_half_encode(2), ambit_half_encode(5)};
    uint16_t got[3];

    ambit_field_write(u, NULL, NULL, start);
    ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_ANTISYMMETRIC, 0);
    ambit_apply(p, ambit_kernel_create(a, "void k(const half *u, half *v) { *v = u[-4] + u[1]; }"),
                u, v);
    ambit_run(p, 1);
    ambit_field_read(v, NULL, NULL, got);
    CHECK_OK(a);
    CHECK_EQ(ambit_half_encode(5.0 + 2.0), got[0]); /* u[-4] is past two mirrors */
    CHECK_EQ(ambit_half_encode(-5.0 + 5.0), got[1]);
    CHECK_EQ(ambit_half_encode(-2.0 - 5.0), got[2]);
    ambit_field_boundary(n, AMBIT_ALL_FACES, AMBIT_ANTISYMMETRIC, 0);
    CHECK_FAILED(a, AMBIT_EINVAL, "only fields of real numbers can be antisymmetric");
    ambit_close(a);
  }
}

static void a_constant_keeps_its_sign_beside_an_antisymmetric_face(void)
{
  static const ambit_boundary c = AMBIT_CONSTANT, flip = AMBIT_ANTISYMMETRIC;

  EACH_DEVICE(d)
  {
    ambit *a = open_on(*d);
    ambit_grid *g = ambit_grid_create(a, 3, (int64_t[]){2, 2, 2});
    ambit_field *u = ambit_field_create(g, "u", AMBIT_F32);
    ambit_field *v = ambit_field_create(g, "v", AMBIT_F32);
    ambit_program *p = ambit_program_create(g);
    float got[8];

    ambit_field_set(u, 3);
    for (int axis = 0; axis < 3; axis++)
      for (int side = 0; side < 2; side++)
        ambit_field_boundary(u, AMBIT_FACE(axis, side), (axis + side) % 2 ? flip : c, 5);
    ambit_apply(p, ambit_kernel_create(a, "void k(const float *u, float *v) { *v = u[1][1][1]; }"),
                u, v);
    ambit_run(p, 1);
    ambit_field_read(v, NULL, NULL, got);
    CHECK_OK(a); /* the faces that are crossed: antisymmetric, constant, antisymmetric */
    CHECK(got[0] == 3 && got[1] == -3 && got[2] == 5 && got[3] == 5);
    CHECK(got[4] == -3 && got[5] == 3 && got[6] == 5 && got[7] == 5);
    ambit_close(a);
  }
}

/* ---- constant ghost cells that iterations leave alone ---- */

typedef struct sample {
  const char *rule;
  int rotated;                        /* fields */
  ambit_boundary rows[2], columns[2]; /* of the field that is read */
  bool refills;                       /* exchanges fill constant ghost cells */
} sample;

enum { ROWS = 13, COLUMNS = 9 };

static double ramp(const int64_t *index, int component, void *user)
{
  (void)component;
  (void)user;
  return (double)(index[0] * 3 + index[1] * index[1]);
}

static void set_boundaries(ambit_field *f, const sample *s, double value)
{
  for (int side = 0; side < 2; side++) {
    ambit_field_boundary(f, AMBIT_FACE(0, side), s->rows[side], value);
    ambit_field_boundary(f, AMBIT_FACE(1, side), s->columns[side], value + 1);
  }
}

/* Moves of all iterations that fill constant ghost cells. */
static int constant_fills(const ambit_program *p)
{
  int n = 0;

  for (size_t i = 0; i < p->schedule.n; i++) {
    const ambit__exchange *x = p->schedule.ops[i].exchange;

    for (int k = LOCAL_EDGES; p->schedule.ops[i].kind == OP_EDGES && k <= LOCAL_GHOSTS; k++)
      for (int m = 0; x->local[k].engines && m < x->local[k].engines[0].n; m++)
        for (int d = 0; d < 4; d++)
          n += x->local[k].engines[0].moves[m].boundaries->kind[d / 2][d % 2] == AMBIT_CONSTANT;
  }
  return n;
}

/* Runs, also with another program on the same fields in between, with other constants, and called
 * by a program that rotates the fields too. */
static void play(ambit *a, const sample *s, float *values)
{
  ambit_grid *g = grid_2d(a, ROWS, COLUMNS);
  ambit_field *f[3] = {ambit_field_create(g, "f0", AMBIT_F32),
                       ambit_field_create(g, "f1", AMBIT_F32),
                       ambit_field_create(g, "f2", AMBIT_F32)};
  ambit_program *p = ambit_program_create(g), *q = ambit_program_create(g);
  ambit_program *caller = ambit_program_create(g);
  ambit_kernel *k = ambit_kernel_create(a, s->rule);
  ambit_kernel *other = ambit_kernel_create(
      a, "void other(const float *w, float *z) { *z = 0.5f * (w[2][0] + w[0][-1]); }");

  for (int i = 0; i < 3; i++) {
    ambit_field_fill(f[i], ramp, NULL);
    set_boundaries(f[i], s, i == 0 || s->refills ? 40 + i : 7);
  }
  ambit_apply(p, k, f[0], f[1], f[2]);
  if (s->rotated == 2)
    ambit_swap(p, f[0], f[2]);
  else
    ambit_rotate(p, 3, f);
  ambit_apply(q, other, f[2], f[1]);
  ambit_run(p, 3);
  if (strcmp(ambit_option_get(a, "devices"), "ref")) CHECK_EQ(s->refills, constant_fills(p) > 0);
  ambit_run(q, 1);
  ambit_run(p, 2);
  set_boundaries(f[0], s, -3);
  ambit_run(p, 4);
  ambit_call(caller, p, 2);
  ambit_apply(caller, other, f[0], f[1]);
  ambit_rotate(caller, 3, f);
  ambit_run(caller, 3);
  ambit_run(p, 1);
  ambit_field_read(f[0], NULL, NULL, values);
  CHECK_OK(a);
}

static void constant_ghosts_of_many_parts_and_mixed_boundaries_are_filled_once(void)
{
  static const char near_rule[] = "void k(const float *u, const float *w, float *v)\n"
                                  "{ *v = 0.25f * (u[-1][0] + u[1][1] + u[0][-1] + *w); }";
  static const char both_rule[] = "void k(const float *u, const float *w, float *v)\n"
                                  "{ *v = 0.25f * (u[-1][0] + u[1][1] + u[0][-1] + w[-2][0]); }";
  static const char apart_rule[] = "void k(const float *u, const float *w, float *v)\n"
                                   "{ *v = 0.25f * (u[-1][0] + w[2][1] + u[-1][-1] + w[1][0]); }";
  static const ambit_boundary c = AMBIT_CONSTANT, wrap = AMBIT_PERIODIC, fold = AMBIT_REFLECT,
                              flip = AMBIT_ANTISYMMETRIC;
  static const char *const devices[] = {"cpu", "cpu*3", "cpu*4"};
  const sample samples[] = {
      {near_rule, 2, {c, c}, {c, c}, false},        {near_rule, 2, {c, c}, {wrap, wrap}, false},
      {near_rule, 2, {wrap, wrap}, {c, c}, false},  {near_rule, 3, {c, fold}, {fold, c}, false},
      {near_rule, 3, {c, c}, {c, c}, false},        {both_rule, 3, {c, fold}, {c, c}, true},
      {near_rule, 2, {flip, c}, {c, flip}, false},  {near_rule, 2, {flip, flip}, {c, c}, false},
      {apart_rule, 3, {c, c}, {c, c}, false},       {apart_rule, 3, {wrap, wrap}, {c, c}, false},
      {apart_rule, 3, {c, fold}, {fold, c}, false},
  };

  for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
    float want[ROWS * COLUMNS], got[ROWS * COLUMNS];
    ambit *ref = open_on("ref");

    play(ref, &samples[i], want);
    ambit_close(ref);
    for (size_t d = 0; d < sizeof devices / sizeof *devices; d++) {
      ambit *a;

      a = open_on(devices[d]);
      ambit_option_set(a, "strict", "1");
      play(a, &samples[i], got);
      for (int n = 0; n < ROWS * COLUMNS; n++)
        CHECK_MSG(got[n] == want[n], "sample %d on %s, cell %d: %g, ref %g", (int)i, devices[d], n,
                  got[n], want[n]);
      ambit_close(a);
    }
  }
}

/* Two fields with the constants 0 and -0 swap. */
static void play_signs(ambit *a, double *values)
{
  const int64_t n = 64;
  ambit_grid *g = ambit_grid_create(a, 1, &n);
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F64),
              *v = ambit_field_create(g, "v", AMBIT_F64);
  ambit_program *p = ambit_program_create(g);
  ambit_kernel *sign = ambit_kernel_create(
      a, "void sign(const double *u, double *v) { *v = copysign(1.0, u[-1]) + u[1]; }");

  ambit_option_set(a, "strict", "1");
  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
  ambit_field_boundary(v, AMBIT_ALL_FACES, AMBIT_CONSTANT, -0.0);
  ambit_field_set(u, 1);
  ambit_field_set(v, 1);
  ambit_apply(p, sign, u, v);
  ambit_swap(p, u, v);
  ambit_apply(p, sign, v, u);
  ambit_run(p, 12);
  ambit_field_read(u, NULL, NULL, values);
  ambit_field_read(v, NULL, NULL, values + n);
  CHECK_OK(a);
}

static void zeros_of_either_sign_are_two_constants(void)
{
  double want[128], got[128];
  ambit *ref = open_on("ref");

  play_signs(ref, want);
  ambit_close(ref);
  EACH_DEVICE(d)
  {
    ambit *a = open_on(*d);

    play_signs(a, got);
    for (int k = 0; k < 128; k++)
      CHECK_MSG(!memcmp(&want[k], &got[k], sizeof *want), "%s: value %d is %g, ref %g", *d, k,
                got[k], want[k]);
    ambit_close(a);
  }
}

/* Margins around all axes would quadruple it. */
static void a_field_of_many_short_axes_has_the_margins_that_programs_need(void)
{
  const int64_t extents[] = {9, 8, 9, 8, 9, 9};
  double sums[2] = {0, 1};

  for (int i = 0; i < 2; i++) {
    ambit *a = open_on(i ? "cpu" : "ref");
    ambit_grid *g = ambit_grid_create(a, 6, extents);
    ambit_field *u = ambit_field_create(g, "u", AMBIT_F64);
    ambit_field *v = ambit_field_create(g, "v", AMBIT_F64);
    ambit_scalar *sum = ambit_scalar_create(a, "sum", AMBIT_F64);
    ambit_program *p = ambit_program_create(g);

    ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CONSTANT, 5);
    ambit_field_set(u, 1);
    for (int d = 0; i && d < 6; d++)
      CHECK_EQ(0, u->stores[0].layout.margin_lo[d] + u->stores[0].layout.margin_hi[d]);
    ambit_apply(p,
                ambit_kernel_create(a, "void k(const double *u, double *v, sum double *s)\n"
                                       "{ *v = u[0][-1][0][0][0][0] + u[0][0][0][0][0][1];"
                                       " *s = *v; }"),
                u, v, sum);
    ambit_run(p, 1);
    if (i) CHECK_EQ(1, u->stores[0].layout.margin_lo[1]);
    if (i) CHECK_EQ(0, u->stores[0].layout.margin_hi[0]);
    sums[i] = ambit_scalar_get(sum);
    CHECK_OK(a);
    ambit_close(a);
  }
  CHECK_EQ((int64_t)sums[0], (int64_t)sums[1]);
}

/* Cells of other parts come to the places where another field of the rotation has constants. */
static void parts_of_rotated_fields_with_other_faces(void)
{
  static const char text[] = "void near(int *a, const int *b) { *a += b[1] - b[-1]; }"
                             "void far(int *b, const int *a) { *b += a[-3] + a[2]; }";
  static const char *const on[] = {"ref", "cpu*2", "cpu*3"};
  int want[24] = {0}, got[24];

  for (int i = 0; i < 3; i++) {
    ambit *a = open_on(on[i]);
    ambit_grid *g = ambit_grid_create(a, 1, (int64_t[]){12});
    ambit_field *f[] = {ambit_field_create(g, "around", AMBIT_I32),
                        ambit_field_create(g, "within", AMBIT_I32)};
    ambit_kernel *k = ambit_kernel_create(a, text);
    ambit_program *p = ambit_program_create(g);

    for (int j = 0; j < 12; j++)
      got[j] = j, got[12 + j] = 100 + j;
    ambit_field_write(f[0], NULL, NULL, got);
    ambit_field_write(f[1], NULL, NULL, got + 12);
    ambit_field_boundary(f[0], AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
    ambit_field_boundary(f[1], AMBIT_ALL_FACES, AMBIT_CONSTANT, -7);
    ambit_apply(p, k, f[1], f[0]);
    ambit_apply(p, ambit_kernel_find(k, "far"), f[0], f[1]);
    ambit_rotate(p, 2, f);
    ambit_run(p, 3);
    ambit_field_read(f[0], NULL, NULL, got);
    ambit_field_read(f[1], NULL, NULL, got + 12);
    CHECK_OK(a);
    ambit_close(a);
    if (!i) memcpy(want, got, sizeof want);
    CHECK_MSG(!memcmp(want, got, sizeof want), "on %s", on[i]);
  }
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"the_oracle_draws_the_pictures_of_the_header", the_oracle_draws_the_pictures_of_the_header},
      {"every_pair_of_boundaries_in_one_dimension", every_pair_of_boundaries_in_one_dimension},
      {"mixtures_of_boundaries_in_two_dimensions", mixtures_of_boundaries_in_two_dimensions},
      {"mixtures_of_boundaries_in_three_dimensions", mixtures_of_boundaries_in_three_dimensions},
      {"a_boundary_changed_between_runs_counts_from_then_on",
       a_boundary_changed_between_runs_counts_from_then_on},
      {"constant_ghosts_are_filled_once_though_fields_swap",
       constant_ghosts_are_filled_once_though_fields_swap},
      {"faces_have_normals", faces_have_normals},
      {"an_antisymmetric_face_changes_signs", an_antisymmetric_face_changes_signs},
      {"a_constant_keeps_its_sign_beside_an_antisymmetric_face",
       a_constant_keeps_its_sign_beside_an_antisymmetric_face},
      {"constant_ghosts_of_many_parts_and_mixed_boundaries_are_filled_once",
       constant_ghosts_of_many_parts_and_mixed_boundaries_are_filled_once},
      {"parts_of_rotated_fields_with_other_faces", parts_of_rotated_fields_with_other_faces},
      {"zeros_of_either_sign_are_two_constants", zeros_of_either_sign_are_two_constants},
      {"a_field_of_many_short_axes_has_the_margins_that_programs_need",
       a_field_of_many_short_axes_has_the_margins_that_programs_need},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
