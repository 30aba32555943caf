/* SPDX-License-Identifier: BSD-3-Clause */
/* Points and records: on all devices, parts and processes as in plain C, to the last bit. */
#define _XOPEN_SOURCE 700

#include "runtime/places.h"
#include "support/folder.h"

#include <limits.h>
#include <math.h>

enum { ROWS = 23, COLUMNS = 37, CELLS = ROWS * COLUMNS, STEPS = 7 };

static double start(const int64_t *i, int component, void *user)
{
  (void)user;
  return (double)((i[0] * 131 + i[1] * 17 + component * 7) % 251) / 16;
}

/* A generator of numbers from 0 to 1. */
static double draw(uint64_t *state)
{
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*state >> 11) / 9007199254740992.0;
}

/* ---- the definition, in plain C ---- */

static void weights_at(const double *x, int64_t *base, float *w)
{
  const double last[] = {ROWS - 1, COLUMNS - 1};
  double f[2];

  for (int d = 0; d < 2; d++) {
    base[d] = (int64_t)floor(x[d]);
    if ((double)base[d] == last[d]) base[d]--;
    f[d] = x[d] - (double)base[d];
  }
  for (int k = 0; k < 4; k++)
    w[k] = (float)((k / 2 ? f[0] : 1 - f[0]) * (k % 2 ? f[1] : 1 - f[1]));
}

static float sample_here(const float *u, const double *x)
{
  int64_t base[2];
  float w[4], sum = 0;

  weights_at(x, base, w);
  for (int k = 0; k < 4; k++) {
    const float product = w[k] * u[(base[0] + k / 2) * COLUMNS + base[1] + k % 2];

    if (w[k] != 0) sum += product;
  }
  return sum;
}

static void inject_here(float *u, const double *x, float value)
{
  int64_t base[2];
  float w[4];

  weights_at(x, base, w);
  for (int k = 0; k < 4; k++) {
    const float product = w[k] * value;

    if (w[k] != 0) u[(base[0] + k / 2) * COLUMNS + base[1] + k % 2] += product;
  }
}

/* One iteration: a mean of neighbours, zero outside. */
static void relax_here(const float *u, float *v)
{
#define AT(i, j) ((i) < 0 || (i) >= ROWS || (j) < 0 || (j) >= COLUMNS ? 0 : u[(i)*COLUMNS + (j)])
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++)
      v[i * COLUMNS + j] = 0.25f * (((AT(i - 1, j) + AT(i + 1, j)) + AT(i, j - 1)) + AT(i, j + 1));
#undef AT
}

enum { SOURCES = 9, RECEIVERS = 40 };

/* Points anywhere: also on cells, in corners, several at one place. */
static void place(double *x, int n, uint64_t seed)
{
  for (int i = 0; i < n; i++) {
    x[2 * i] = draw(&seed) * (ROWS - 1);
    x[2 * i + 1] = draw(&seed) * (COLUMNS - 1);
    if (i % 5 == 1) x[2 * i] = floor(x[2 * i]);
    if (i % 7 == 2) x[2 * i + 1] = COLUMNS - 1;
    if (i % 4 == 3) memcpy(x + 2 * i, x + 2 * (i - 2), 2 * sizeof *x);
  }
  x[0] = ROWS - 1;
  x[1] = 0;
}

typedef struct shot {
  double sources[2 * SOURCES], receivers[2 * RECEIVERS], series[STEPS * SOURCES];
  float field[CELLS];
  double seen[STEPS * RECEIVERS];
} shot;

static void shoot_here(shot *s)
{
  static float u[CELLS], v[CELLS];

  for (int i = 0; i < CELLS; i++)
    u[i] = (float)start((int64_t[]){i / COLUMNS, i % COLUMNS}, 0, NULL);
  for (int t = 0; t < STEPS; t++) {
    relax_here(u, v);
    for (int i = 0; i < SOURCES; i++)
      inject_here(v, s->sources + 2 * i, (float)s->series[t * SOURCES + i]);
    memcpy(u, v, sizeof u);
    for (int i = 0; i < RECEIVERS; i++)
      s->seen[t * RECEIVERS + i] = (double)sample_here(u, s->receivers + 2 * i);
  }
  memcpy(s->field, u, sizeof u);
}

static const char mean[] = "void mean(const float *u, float *v) { *v = 0.25f * (u[-1][0] + u[1][0]"
                           " + u[0][-1] + u[0][1]); }";

/* The same with Ambit, in two runs. */
static void shoot_there(const char *devices, const char *depth, shot *s)
{
  ambit *a = open_strict(devices);
  ambit_grid *g;
  ambit_field *u, *v;
  ambit_program *p;
  ambit_record *series, *seen;

  if (depth) ambit_option_set(a, "depth", depth);
  g = grid_2d(a, ROWS, COLUMNS);
  u = ambit_field_create(g, "u", AMBIT_F32);
  v = ambit_field_create(g, "v", AMBIT_F32);
  p = ambit_program_create(g);
  series = ambit_record_create(a, "series");
  seen = ambit_record_create(a, "seen");
  ambit_record_write(series, STEPS, SOURCES, s->series);
  ambit_field_fill(u, start, NULL);
  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
  ambit_apply(p, ambit_kernel_create(a, mean), u, v);
  ambit_inject(p, ambit_points_create(g, SOURCES, s->sources, AMBIT_LINEAR), series, v);
  ambit_swap(p, u, v);
  ambit_sample(p, ambit_points_create(g, RECEIVERS, s->receivers, AMBIT_LINEAR), u, seen);
  ambit_run(p, 4);
  CHECK_EQ(4, ambit_record_rows(seen));
  ambit_run(p, STEPS - 4);
  CHECK_EQ(STEPS, ambit_record_rows(seen));
  CHECK_EQ(RECEIVERS, ambit_record_columns(seen));
  ambit_record_read(seen, 0, STEPS, s->seen);
  ambit_field_read(u, NULL, NULL, s->field);
  CHECK_OK(a);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static void check_shot(const char *devices, const char *depth, uint64_t seed)
{
  static shot want, got;

  memset(&want, 0, sizeof want);
  place(want.sources, SOURCES, seed);
  place(want.receivers, RECEIVERS, seed + 1);
  for (int i = 0; i < STEPS * SOURCES; i++)
    want.series[i] = draw(&seed) - 0.5;
  got = want;
  shoot_here(&want);
  shoot_there(devices, depth, &got);
  CHECK_MSG(!memcmp(want.field, got.field, sizeof want.field), "%s depth %s: the field differs",
            devices, depth ? depth : "-");
  for (int i = 0; i < STEPS * RECEIVERS; i++)
    CHECK_MSG(!memcmp(&want.seen[i], &got.seen[i], sizeof *want.seen),
              "%s depth %s: receiver %d in row %d: want %.9g, got %.9g", devices,
              depth ? depth : "-", i % RECEIVERS, i / RECEIVERS, want.seen[i], got.seen[i]);
}

static void sources_and_receivers_anywhere_give_the_bits_of_the_definition(void)
{
  EACH_PLACE(d) check_shot(*d, NULL, 1);
  EACH_PLACE(d) check_shot(*d, NULL, 20);
}

static void several_iterations_at_once_go_through_points(void)
{
  check_shot("cpu", "3", 2);
  check_shot("cpu", "2", 3);
  check_shot("cpu*3", "2", 4);
  check_shot("cpu*4", "3", 5);
}

/* ---- all types, orders, kinds of points and values, against ref ---- */

typedef struct variety {
  ambit_type type;
  int components;
  ambit_order order;
  int kind;  /* 0: nearest, 1: linear, 2: weights of 3 x 2 cells */
  int value; /* 0: a number, 1: a scalar, 2: one column, 3: one per point, 4: per component */
  int64_t every;
} variety;

enum { POINTS = 11, MOST = 3 };

static ambit_points *make_points(ambit_grid *g, int kind, uint64_t seed)
{
  double x[2 * POINTS], w[POINTS * 6];
  int64_t first[2 * POINTS];

  for (int i = 0; i < POINTS; i++)
    for (int d = 0; d < 2; d++) {
      x[2 * i + d] = draw(&seed) * (d ? COLUMNS - 1 : ROWS - 1);
      first[2 * i + d] = (int64_t)(draw(&seed) * (d ? COLUMNS - 2 : ROWS - 3));
    }
  for (int i = 0; i < POINTS * 6; i++)
    w[i] = i % 5 ? draw(&seed) : 0;
  if (kind == 2) return ambit_points_create_weighted(g, POINTS, first, (int64_t[]){3, 2}, w);
  return ambit_points_create(g, POINTS, x, kind ? AMBIT_LINEAR : AMBIT_NEAREST);
}

static void run_variety(const char *devices, const variety *v, unsigned char *field, double *seen)
{
  ambit *a = open_strict(devices);
  ambit_grid *g = grid_2d(a, ROWS, COLUMNS);
  ambit_field *u = ambit_field_create_vector(g, "u", v->type, v->components, v->order);
  ambit_program *p = ambit_program_create(g);
  ambit_record *series = ambit_record_create(a, "series"), *record = ambit_record_create(a, "seen");
  ambit_scalar *scalar = ambit_scalar_create(a, "s", AMBIT_I32);
  ambit_points *sources = make_points(g, v->kind, 3), *receivers = make_points(g, v->kind, 4);
  const int64_t columns = v->value == 2 ? 1 : v->value == 3 ? POINTS : POINTS * v->components;
  double values[STEPS * POINTS * MOST];
  uint64_t seed = 99;

  for (int i = 0; i < STEPS * POINTS * MOST; i++)
    values[i] = 8 * draw(&seed);
  ambit_field_fill(u, start, NULL);
  ambit_scalar_set(scalar, 3);
  if (v->value > 1) ambit_record_write(series, STEPS, columns, values);
  if (v->value == 0) ambit_inject(p, sources, 1.25, u);
  if (v->value == 1) ambit_inject(p, sources, scalar, u);
  if (v->value > 1) ambit_inject(p, sources, (const ambit_record *)series, u);
  ambit_sample(p, receivers, u, record);
  ambit_step_every(p, v->every);
  ambit_run(p, 3 * v->every - 1);
  CHECK_EQ(2, ambit_record_rows(record));
  ambit_run(p, v->every);
  CHECK_EQ(3, ambit_record_rows(record));
  ambit_record_read(record, 0, 3, seen);
  ambit_field_read(u, NULL, NULL, field);
  CHECK_OK(a);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static void all_types_and_values_agree_with_ref(void)
{
  static unsigned char want[CELLS * MOST * 8], got[sizeof want];
  static double seen[3 * POINTS * MOST], other[3 * POINTS * MOST];
  const char *measure = places()[3] ? "ref" : "cpu"; /* several processes: ref has one part */
  int n = 0;

  for (int type = AMBIT_F32; type <= AMBIT_U64; type++)
    for (int value = 0; value < 5; value++, n++) {
      const variety v = {.type = (ambit_type)type,
                         .components = 1 + (n + value) % MOST,
                         .order = n % 2 ? AMBIT_AOS : AMBIT_SOA,
                         .kind = n % 3,
                         .value = value,
                         .every = 1 + n % 2};

      if (v.components == 1 && value == 4) continue; /* the same as 3 */
      memset(want, 0, sizeof want);
      memset(got, 0, sizeof got);
      run_variety(measure, &v, want, seen);
      EACH_PLACE(d)
      {
        if (compiles_slowly(*d) && n % 7) continue; /* 6 of them */
        run_variety(*d, &v, got, other);
        CHECK_MSG(!memcmp(want, got, sizeof want), "%s: field of %s, value %d", *d,
                  ambit_type_name(v.type), value);
        CHECK_MSG(!memcmp(seen, other, sizeof *seen * (size_t)(3 * POINTS * v.components)),
                  "%s: record of %s, value %d", *d, ambit_type_name(v.type), value);
      }
    }
}

/* ---- records ---- */

/* A record that is sampled, rewound and injected gives the values back. */
static void a_record_is_a_tape(void)
{
  EACH_PLACE(d)
  {
    ambit *a = open_strict(*d);
    ambit_grid *g = grid_2d(a, ROWS, COLUMNS);
    ambit_field *u = ambit_field_create(g, "u", AMBIT_F64),
                *v = ambit_field_create(g, "v", AMBIT_F64);
    ambit_program *p = ambit_program_create(g), *q = ambit_program_create(g);
    ambit_record *tape = ambit_record_create(a, "tape");
    const double x[] = {3, 4, 20, 30};
    ambit_points *points = ambit_points_create(g, 2, x, AMBIT_NEAREST);
    double rows[10], cell;

    ambit_apply(p, ambit_kernel_create(a, "void grow(double *u) { *u += 1 + index(0); }"), u);
    ambit_sample(p, points, u, tape);
    ambit_inject(q, points, tape, v);
    ambit_run(p, 3);
    ambit_record_rewind(tape);
    CHECK_EQ(3, ambit_record_rows(tape));
    ambit_run(q, 2);
    ambit_field_read(v, AMBIT_INDEX(20, 30), AMBIT_INDEX(21, 31), &cell);
    CHECK_NEAR(21 + 42, cell, 0);
    ambit_run(q, 4); /* the tape ends */
    ambit_field_read(v, AMBIT_INDEX(3, 4), AMBIT_INDEX(4, 5), &cell);
    CHECK_NEAR(4 + 8 + 12, cell, 0);
    ambit_record_rewind(tape);
    ambit_run(p, 1); /* writes over it */
    CHECK_EQ(1, ambit_record_rows(tape));
    ambit_record_read(tape, 0, 1, rows);
    CHECK_NEAR(16, rows[0], 0);
    CHECK_NEAR(84, rows[1], 0);
    ambit_program_destroy(p);
    CHECK_EQ(1, ambit_record_rows(tape));
    CHECK_OK(a);
    CHECK_EQ(AMBIT_OK, ambit_close(a));
  }
}

static void a_sample_of_one_cell_keeps_the_sign_of_zero(void)
{
  static const ambit_type types[] = {AMBIT_F32, AMBIT_F64, AMBIT_F16};

  EACH_PLACE(d)
  {
    ambit *a = open_strict(*d);
    ambit_grid *g = grid_2d(a, ROWS, COLUMNS);

    for (int i = 0; i < 3; i++) {
      ambit_field *u = ambit_field_create(g, "u", types[i]);
      ambit_program *p = ambit_program_create(g);
      ambit_record *r = ambit_record_create(a, "r");
      double x = 1;

      ambit_sample(p, ambit_points_create(g, 1, (double[]){20, 30}, AMBIT_NEAREST), u, r);
      ambit_field_set(u, -0.0);
      ambit_run(p, 1);
      ambit_record_read(r, 0, 1, &x);
      CHECK_MSG(x == 0 && signbit(x), "%s: %g", ambit_type_name(types[i]), x);
    }
    CHECK_OK(a);
    CHECK_EQ(AMBIT_OK, ambit_close(a));
  }
}

/* More rows than a window on the device has. */
static void long_records_move_to_host_memory_in_between(void)
{
  enum { N = 20000, LONG = 57 };
  ambit *a = open_strict("cpu");
  ambit_grid *g = grid_1d(a, N);
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F64);
  ambit_program *p = ambit_program_create(g);
  ambit_record *seen = ambit_record_create(a, "seen");
  double *x = malloc(N * sizeof *x), *row = malloc(N * sizeof *row);

  for (int i = 0; i < N; i++)
    x[i] = i;
  ambit_apply(p, ambit_kernel_create(a, "void grow(double *u) { *u += 1 + index(0) % 3; }"), u);
  ambit_sample(p, ambit_points_create(g, N, x, AMBIT_NEAREST), u, seen);
  for (int i = 0; i < LONG; i++)
    ambit_run(p, 1);
  for (int i = 0; i < LONG; i += 7) {
    ambit_record_read(seen, i, 1, row);
    for (int k = 0; k < N; k++)
      if (row[k] != (1 + k % 3) * (i + 1.0)) CHECK_MSG(0, "row %d, column %d: %g", i, k, row[k]);
  }
  CHECK_OK(a);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
  free(x);
  free(row);
}

static void points_can_be_moved_between_runs(void)
{
  EACH_PLACE(d)
  {
    ambit *a = open_strict(*d);
    ambit_grid *g = grid_2d(a, ROWS, COLUMNS);
    ambit_field *u = ambit_field_create(g, "u", AMBIT_F32);
    ambit_program *p = ambit_program_create(g);
    ambit_record *seen = ambit_record_create(a, "seen");
    ambit_points *points = ambit_points_create(g, 1, (double[]){0.5, 2.25}, AMBIT_LINEAR);
    double rows[2];

    ambit_field_fill(u, start, NULL);
    ambit_sample(p, points, u, seen);
    ambit_run(p, 1);
    ambit_points_move(points, (double[]){22, 36});
    ambit_run(p, 1);
    ambit_record_read(seen, 0, 2, rows);
    CHECK_NEAR(start((int64_t[]){22, 36}, 0, NULL), rows[1], 0);
    CHECK_NEAR((131 * 0.5 + 17 * 2.25) / 16, rows[0], 1e-5);
    ambit_points_move(points, (double[]){22, 36.5});
    CHECK_FAILED(a, AMBIT_EINVAL, "point 0 is at 36.5 along axis 1");
    CHECK_EQ(AMBIT_OK, ambit_close(a));
  }
}

/* The sum of a field over the iterations, checked every second one. */
static void a_history_keeps_the_values_of_a_scalar(void)
{
  EACH_PLACE_HERE(d)
  {
    ambit *a = open_strict(*d);
    ambit_grid *g = grid_2d(a, ROWS, COLUMNS);
    ambit_field *u = ambit_field_create(g, "u", AMBIT_F32);
    ambit_program *p = ambit_program_create(g);
    ambit_scalar *total = ambit_scalar_create(a, "total", AMBIT_F64);
    ambit_record *all, *some;
    double rows[6];

    ambit_apply(
        p,
        ambit_kernel_create(a, "void grow(float *u, sum double *total) { *u += 1; *total = *u; }"),
        u, total);
    all = ambit_history(p, total, 1);
    some = ambit_history(p, total, 3);
    CHECK(!strcmp("total", ambit_record_name(all)));
    ambit_run_until(p, total, AMBIT_AT_LEAST, 6 * CELLS, 100);
    CHECK_EQ(6, ambit_program_iterations(p));
    CHECK_EQ(6, ambit_record_rows(all));
    CHECK_EQ(2, ambit_record_rows(some));
    ambit_record_read(all, 0, 6, rows);
    for (int i = 0; i < 6; i++)
      CHECK_NEAR(CELLS * (i + 1), rows[i], 0);
    ambit_record_read(some, 0, 2, rows);
    CHECK_NEAR(CELLS * 6, rows[1], 0);
    CHECK_OK(a);
    CHECK_EQ(AMBIT_OK, ambit_close(a));
  }
}

/* Rows of a histogram and a maximum, in runs with other steps between them, and after a rewind. */
static void a_record_of_scalars_knows_its_iterations(void)
{
  EACH_PLACE_HERE(d)
  {
    ambit *a = open_strict(*d);
    ambit_grid *g = grid_2d(a, ROWS, COLUMNS);
    ambit_field *u = ambit_field_create(g, "u", AMBIT_F32);
    ambit_program *p = ambit_program_create(g), *q = ambit_program_create(g);
    ambit_scalar *all[4];
    ambit_record *r, *s = ambit_record_create(a, "s");
    ambit_points *points = ambit_points_create(g, 1, (double[]){1, 1}, AMBIT_NEAREST);
    double rows[5][4];
    int64_t when[6];
    char text[200] = "";
    FILE *file;

    for (int i = 0; i < 3; i++)
      all[i] = ambit_scalar_create(a, "count", AMBIT_I64);
    all[3] = ambit_scalar_create(a, "most", AMBIT_F32);
    ambit_apply(
        p, ambit_kernel_create(a, "void grow(float *u, max float *m) { *u += 1; *m = 0.1f * *u; }"),
        u, all[3]);
    ambit_histogram(p, u, 0, 6, 3, all); /* in its first interval in iteration 1, ... */
    ambit_step_every(p, 2);
    r = ambit_history_all(p, "counts", 4, all, 2);
    ambit_sample(q, points, u, s);
    ambit_run(p, 3);
    ambit_run(q, 2);
    ambit_run(p, 3);
    ambit_run(q, 1);
    CHECK_EQ(3, ambit_record_rows(r));
    CHECK_EQ(4, ambit_record_columns(r));
    ambit_record_read(r, 0, 3, rows[0]);
    for (int i = 0; i < 3; i++) {
      for (int k = 0; k < 3; k++)
        CHECK_NEAR(k == (i == 2 ? 2 : i + 1) ? CELLS : 0, rows[i][k], 0);
      CHECK_NEAR((double)(0.1f * (2 * (float)i + 2)), rows[i][3], 0);
    }
    ambit_record_iterations(r, 0, 3, when);
    for (int i = 0; i < 3; i++)
      CHECK_EQ(2 * i + 2, when[i]);
    ambit_record_save(r, "counts.csv");
    file = fopen("counts.csv", "r");
    CHECK(file && fread(text, 1, sizeof text - 1, file) > 0);
    if (file) fclose(file);
    CHECK_MSG(strstr(text, "iteration,counts 0,") == text && strstr(text, "\n4,0,0,"), "%s", text);
    ambit_record_rewind(r);
    ambit_run(p, 4);
    ambit_record_iterations(r, 0, 2, when);
    CHECK_EQ(8, when[0]);
    CHECK_EQ(10, when[1]);
    ambit_sample(p, points, u, s); /* by another program, that goes on after rows of the first */
    ambit_run(p, 2);
    ambit_record_iterations(s, 0, 5, when);
    for (int i = 0; i < 5; i++)
      CHECK_EQ(i < 3 ? i + 1 : 8 + i, when[i]);
    CHECK_OK(a);
    ambit_record_iterations(s, 4, 2, when);
    CHECK_FAILED(a, AMBIT_EINVAL, "it has 5");
    CHECK(!ambit_history_all(p, "none", 0, all, 1));
    CHECK_FAILED(a, AMBIT_EINVAL, "at least one");
    ambit_close(a);
  }
}

/* ---- what people need with points ---- */

static void finite_differences_have_the_weights_of_the_textbooks(void)
{
  double w[2 * AMBIT_MAX_REACH + 1];

  CHECK_EQ(4, ambit_coefficients(2, 8, w));
  CHECK_NEAR(-205 / 72.0, w[4], 1e-14);
  CHECK_NEAR(8 / 5.0, w[5], 1e-14);
  CHECK_NEAR(-1 / 560.0, w[0], 1e-16);
  CHECK_EQ(1, ambit_coefficients(1, 2, w));
  CHECK_NEAR(-0.5, w[0], 0);
  CHECK_NEAR(0, w[1], 0);
  CHECK_EQ(2, ambit_coefficients(3, 2, w));
  CHECK_NEAR(-0.5, w[0], 1e-15);
  CHECK_NEAR(1, w[1], 1e-15);
  CHECK_EQ(-1, ambit_coefficients(2, 3, w));
  CHECK_EQ(-1, ambit_coefficients(0, 2, w));
  for (int derivative = 1; derivative < 5; derivative++)
    for (int order = 2; order <= 16; order += 2) { /* exact for polynomials */
      const int r = ambit_coefficients(derivative, order, w);

      for (int power = 0; power < derivative + order; power++) {
        double sum = 0, want = power == derivative;

        for (int k = 1; power == derivative && k <= power; k++)
          want *= k;
        for (int i = -r; i <= r; i++)
          sum += w[i + r] * pow(i / (double)r, power);
        CHECK_NEAR(want, sum * pow(r, derivative == power ? power : 0), 1e-9);
      }
    }
}

static void a_wavelet_and_an_absorbing_layer(void)
{
  ambit *a = open_on("cpu");
  ambit_record *r = ambit_record_create_ricker(a, 10, 0.01, 40, 2);
  ambit_field *f = ambit_field_create(grid_2d(a, 10, 20), "damping", AMBIT_F64);
  double rows[40], sum = 0, cells[200];

  ambit_record_read(r, 0, 40, rows);
  CHECK_NEAR(2, rows[12], 1e-12); /* the peak is at 1.2 / 10 */
  for (int i = 0; i < 40; i++)
    sum += rows[i];
  CHECK_NEAR(0, sum, 1e-5); /* it has no mean */
  ambit_field_fill_sponge(f, AMBIT_AXIS(1) | AMBIT_LOW(0), 4, 0.8);
  ambit_field_read(f, NULL, NULL, cells);
  CHECK_NEAR(0.8, cells[5], 1e-15);               /* the face */
  CHECK_NEAR(0.8 / 16, cells[3 * 20 + 7], 1e-15); /* the last layer */
  CHECK_NEAR(0, cells[9 * 20 + 10], 0);           /* no layer at this face */
  CHECK_NEAR(0.8 * 9 / 16, cells[9 * 20 + 18], 1e-15);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

#ifdef AMBIT_HAVE_PNG
enum { HAS_PNG = 1 };
#else
enum { HAS_PNG = 0 };
#endif

/* Of two lines from 0 up, the plots differ by the number of the greatest value. */
static void a_plot_has_the_range_of_its_values(void)
{
  ambit *a = open_on("cpu");
  ambit_record *r = ambit_record_create(a, "r");
  static unsigned char bytes[2][20000];
  size_t n[2] = {0, 0};

  if (!HAS_PNG || ambit_processes(a) > 1) {
    ambit_close(a);
    SKIP("%s", HAS_PNG ? "several processes have no folder in common" : "built without libpng");
  }
  for (int i = 0; i < 2; i++) {
    FILE *f;

    ambit_record_write(r, 2, 1, (double[]){0, i ? 5 : 7});
    ambit_record_save(r, folder_path("plot.png"));
    f = fopen(folder_path("plot.png"), "rb");
    if (f) n[i] = fread(bytes[i], 1, sizeof bytes[i], f);
    if (f) fclose(f);
  }
  CHECK(n[0] > 500 && n[1] > 500 && n[0] < sizeof bytes[0]);
  CHECK(n[0] != n[1] || memcmp(bytes[0], bytes[1], n[0]) != 0);
  CHECK_EQ(1, folder_files());
  CHECK_OK(a);
  ambit_close(a);
}
IN_FOLDER(a_plot_has_the_range_of_its_values)

/* Saves a plot of three values. Returns the bytes of the file. */
static size_t plot_of(ambit_record *r, double x, double y, double z, unsigned char bytes[20000])
{
  size_t n = 0;
  FILE *f;

  ambit_record_write(r, 3, 1, (double[]){x, y, z});
  ambit_record_save(r, folder_path("plot.png"));
  f = fopen(folder_path("plot.png"), "rb");
  if (f) n = fread(bytes, 1, 20000, f);
  if (f) fclose(f);
  return n;
}

/* Without the value in the middle, the range is the same, and the curve is missing. */
static void plots_of_large_and_equal_values_are_right(void)
{
  const double values[][2] = {{-1, 1}, {3, 3}, {1e20, 1e20}, {-1.7e308, 1.7e308}, {9.3e18, 9.3e18}};
  ambit *a = open_on("cpu");
  ambit_record *r = ambit_record_create(a, "r");
  static unsigned char with[20000], without[20000];

  if (!HAS_PNG || ambit_processes(a) > 1) {
    ambit_close(a);
    SKIP("%s", HAS_PNG ? "several processes have no folder in common" : "built without libpng");
  }
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    const double x = values[i][0], z = values[i][1];
    const size_t n = plot_of(r, x, x / 2 + z / 2, z, with), m = plot_of(r, x, NAN, z, without);

    CHECK_MSG(n > 500 && (n != m || memcmp(with, without, n) != 0), "%g", z);
  }
  CHECK_OK(a);
  ambit_close(a);
}
IN_FOLDER(plots_of_large_and_equal_values_are_right)

static void wrong_points_and_records_are_refused(void)
{
  ambit *a = open_on("cpu");
  ambit_grid *g = grid_2d(a, ROWS, COLUMNS), *other = grid_2d(a, 5, 5);
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F32),
              *w = ambit_field_create(g, "w", AMBIT_F64);
  ambit_program *p = ambit_program_create(g);
  ambit_points *points = ambit_points_create(g, 2, (double[]){1, 2, 3, 4}, AMBIT_LINEAR);
  ambit_record *r = ambit_record_create(a, "r"), *s = ambit_record_create(a, "s");

  CHECK(!ambit_points_create(g, 1, (double[]){-0.5, 3}, AMBIT_LINEAR));
  CHECK_FAILED(a, AMBIT_EINVAL, "point 0 is at -0.5 along axis 0");
  ambit_field_fill_sponge(u, AMBIT_AXIS(2), 3, 1);
  CHECK_FAILED(a, AMBIT_EINVAL, "at AMBIT_AXIS(2), and the grid has 2 axes");
  CHECK(!ambit_points_create(g, 0, (double[]){0}, AMBIT_LINEAR));
  CHECK_FAILED(a, AMBIT_EINVAL, "at least one");
  CHECK(!ambit_points_create(g, INT64_MAX, (double[]){0}, AMBIT_LINEAR));
  CHECK_FAILED(a, AMBIT_ENOMEM, "9223372036854775807 points of 4 cells");
  CHECK_EQ(-1, ambit_coefficients(INT_MAX, INT_MAX - 1, (double[2 * AMBIT_MAX_REACH + 1]){0}));
  CHECK(!ambit_points_create_weighted(g, 1, (int64_t[]){22, 0}, (int64_t[]){2, 2},
                                      (double[]){1, 1, 1, 1}));
  CHECK_FAILED(a, AMBIT_EINVAL, "the cells of point 0 begin at 22 along axis 0");
  CHECK(!ambit_points_create_weighted(g, 1, (int64_t[]){2, 0}, (int64_t[]){1, 2},
                                      (double[]){1, NAN}));
  CHECK_FAILED(a, AMBIT_EINVAL, "weight 1 of point 0 is nan");
  ambit_points_move(points, NULL);
  CHECK_FAILED(a, AMBIT_EINVAL, "the coordinates are NULL");
  ambit_sample(p, points, ambit_field_create(other, "v", AMBIT_F32), r);
  CHECK_FAILED(a, AMBIT_EINVAL, "another grid");
  ambit_sample(p, points, u, r);
  ambit_sample(p, points, u, r);
  CHECK_FAILED(a, AMBIT_EPROGRAM, "step 1 of the program uses record 'r' too");
  ambit_inject(p, points, r, u);
  CHECK_FAILED(a, AMBIT_EPROGRAM, "step 1 of the program uses record 'r' too");
  ambit_sample(p, points, w, r);
  CHECK_FAILED(a, AMBIT_EPROGRAM, "holds numbers of type float");
  ambit_record_write(s, 1, 3, (double[]){1, 2, 3});
  ambit_inject(p, points, s, u);
  CHECK_FAILED(a, AMBIT_EPROGRAM, "has 3 columns, and this step needs 2");
  ambit_record_read(s, 0, 2, (double[6]){0});
  CHECK_FAILED(a, AMBIT_EINVAL, "it has 1");
  ambit_record_read(s, 0, 1, NULL);
  CHECK_FAILED(a, AMBIT_EINVAL, "the array is NULL");
  ambit_record_save(s, "s.txt");
  CHECK_FAILED(a, AMBIT_EINVAL, ".npy, .csv or .png");
  CHECK_EQ(AMBIT_EINVAL, ambit_sample(NULL, points, u, r));
  CHECK_EQ(0, ambit_record_rows(NULL));
  ambit_record_destroy(r);
  ambit_run(p, 1);
  CHECK_FAILED(a, AMBIT_EPROGRAM, "was destroyed");
  CHECK_EQ(2, ambit_points_count(points));
  CHECK_EQ(0, ambit_points_count(NULL));
  p = ambit_program_create(g);
  ambit_inject(p, points, ambit_record_create(a, "shot"), u);
  ambit_run(p, 1);
  CHECK_FAILED(a, AMBIT_EPROGRAM, "record 'shot' is injected and has no rows");
  p = ambit_program_create(g);
  ambit_inject(p, points, 1., u);
  ambit_points_destroy(points);
  ambit_run(p, 1);
  CHECK_FAILED(a, AMBIT_EPROGRAM, "points or program that was destroyed");
  ambit_close(a);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"sources_and_receivers_anywhere_give_the_bits_of_the_definition",
       sources_and_receivers_anywhere_give_the_bits_of_the_definition},
      {"several_iterations_at_once_go_through_points",
       several_iterations_at_once_go_through_points},
      {"a_wavelet_and_an_absorbing_layer", a_wavelet_and_an_absorbing_layer},
      {"all_types_and_values_agree_with_ref", all_types_and_values_agree_with_ref},
      {"finite_differences_have_the_weights_of_the_textbooks",
       finite_differences_have_the_weights_of_the_textbooks},
      {"a_plot_has_the_range_of_its_values", a_plot_has_the_range_of_its_values_},
      {"plots_of_large_and_equal_values_are_right", plots_of_large_and_equal_values_are_right_},
      {"wrong_points_and_records_are_refused", wrong_points_and_records_are_refused},
      {"a_record_is_a_tape", a_record_is_a_tape},
      {"a_sample_of_one_cell_keeps_the_sign_of_zero", a_sample_of_one_cell_keeps_the_sign_of_zero},
      {"long_records_move_to_host_memory_in_between", long_records_move_to_host_memory_in_between},
      {"points_can_be_moved_between_runs", points_can_be_moved_between_runs},
      {"a_history_keeps_the_values_of_a_scalar", a_history_keeps_the_values_of_a_scalar},
      {"a_record_of_scalars_knows_its_iterations", a_record_of_scalars_knows_its_iterations},
      {NULL, NULL}};

  return test_main(argc, argv, tests);
}
