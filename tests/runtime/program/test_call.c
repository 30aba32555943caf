/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that call programs: the same bits as the same runs made one by one, on all devices, on
 * several parts and processes. */
#include "runtime/places.h"
#include "support/capture.h"

enum { ROWS = 20, COLUMNS = 33, CELLS = ROWS * COLUMNS, STEPS = 6 };

/* An implicit time step: solves u - k laplace(u) = w by Jacobi's method, until changes are small.
 * `source` changes w and u before it. */
typedef struct heat {
  ambit *a;
  ambit_grid *g;
  ambit_field *u, *v, *w;
  ambit_scalar *change, *total;
  ambit_program *source, *solver, *sum;
} heat;

static double start(const int64_t *i, int component, void *user)
{
  (void)component;
  (void)user;
  return (double)((i[0] * 131 + i[1] * 17) % 251) / 16;
}

static void add_source(heat *h, ambit_program *p)
{
  ambit_apply(p,
              ambit_kernel_create(h->a, "void source(double *u, double *w) { *w = *u + 0.25 * "
                                        "(index(0) == 3); *u = *w; }"),
              h->u, h->w);
}

static void add_sum(heat *h, ambit_program *p)
{
  ambit_apply(
      p,
      ambit_kernel_create(h->a, "void all(const double *u, sum double *s) { *s = *u + u[1][0]; }"),
      h->u, h->total);
}

static heat make(const char *devices)
{
  heat h = {.a = open_strict(devices)};
  ambit_grid *g = grid_2d(h.a, ROWS, COLUMNS);

  h.g = g;
  h.u = ambit_field_create(g, "u", AMBIT_F64);
  h.v = ambit_field_create(g, "v", AMBIT_F64);
  h.w = ambit_field_create(g, "w", AMBIT_F64);
  h.change = ambit_scalar_create(h.a, "change", AMBIT_F64);
  h.total = ambit_scalar_create(h.a, "total", AMBIT_F64);
  h.source = ambit_program_create(g);
  h.solver = ambit_program_create(g);
  h.sum = ambit_program_create(g);
  ambit_field_fill(h.u, start, NULL);
  ambit_field_boundary(h.u, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
  ambit_apply(h.solver,
              ambit_kernel_create(h.a, "void jacobi(const double *u, const double *w, double *v, "
                                       "max double *change) { *v = (*w + 0.5 * (u[-1][0] + u[1][0]"
                                       " + u[0][-1] + u[0][1])) / 3; *change = fabs(*v - *u); }"),
              h.u, h.w, h.v, h.change);
  ambit_swap(h.solver, h.u, h.v);
  add_source(&h, h.source);
  add_sum(&h, h.sum);
  return h;
}

typedef struct result {
  double u[CELLS], total;
  int64_t iterations;
} result;

static void finish(heat *h, result *r)
{
  ambit_field_read(h->u, NULL, NULL, r->u);
  r->total = ambit_scalar_get(h->total);
  r->iterations = ambit_program_iterations(h->solver);
  CHECK_OK(h->a);
  ambit_close(h->a);
}

static void run_one_by_one(const char *devices, int64_t most, result *r)
{
  heat h = make(devices);

  for (int i = 0; i < STEPS; i++) {
    ambit_run(h.source, 1);
    ambit_run_until(h.solver, h.change, AMBIT_BELOW, 1e-6, most);
    ambit_run(h.sum, 1);
  }
  finish(&h, r);
}

static void run_calls(const char *devices, int64_t most, result *r)
{
  heat h = make(devices);
  ambit_program *p = ambit_program_create(h.g);

  add_source(&h, p);
  ambit_call_until(p, h.solver, h.change, AMBIT_BELOW, 1e-6, most);
  add_sum(&h, p);
  ambit_run(p, STEPS);
  CHECK_EQ(most > 5, ambit_program_converged(h.solver));
  CHECK_EQ(STEPS, ambit_program_iterations(p));
  finish(&h, r);
}

static void compare(int64_t most)
{
  static result want, got;

  run_one_by_one("cpu", most, &want);
  EACH_PLACE(d)
  {
    run_calls(*d, most, &got);
    CHECK_MSG(!memcmp(&want, &got, sizeof want), "%s: %lld and %lld iterations, total %g and %g",
              *d, (long long)want.iterations, (long long)got.iterations, want.total, got.total);
  }
}

static void a_solver_runs_inside_a_time_loop(void)
{
  compare(1000);
}

static void a_call_ends_at_its_limit_of_iterations(void)
{
  compare(5);
}

static void calls_of_calls_on_two_grids_run_in_order(void)
{
  EACH_PLACE(d)
  {
    ambit *a = open_strict(*d);
    ambit_grid *g = grid_2d(a, ROWS, COLUMNS), *small = grid_2d(a, 5, 3);
    ambit_field *u = ambit_field_create(g, "u", AMBIT_I32);
    ambit_scalar *n = ambit_scalar_create(a, "n", AMBIT_I32);
    ambit_field *f = ambit_field_create(small, "f", AMBIT_I32);
    ambit_program *outer = ambit_program_create(g), *middle = ambit_program_create(small),
                  *inner = ambit_program_create(g);
    ambit_kernel *add = ambit_kernel_create(a, "void add(int *u, int n) { *u = *u * 3 + n; }");
    int got[CELLS], want = 0, count = 0;

    ambit_field_set(u, 0);
    ambit_apply(inner, ambit_kernel_create(a, "void up(int *n) { *n += 1; }"), n);
    ambit_apply(inner, add, u, n);
    ambit_call(middle, inner, 2);
    ambit_apply(middle, add, f, n);
    ambit_call(outer, middle, 3);
    ambit_apply(outer, add, u, 1);
    ambit_run(outer, 2);
    for (int t = 0; t < 2; t++) {
      for (int i = 0; i < 6; i++)
        want = want * 3 + ++count;
      want = want * 3 + 1;
    }
    ambit_field_read(u, NULL, NULL, got);
    CHECK_OK(a);
    CHECK_EQ(want, got[0]);
    CHECK_EQ(want, got[CELLS - 1]);
    CHECK_EQ(12, ambit_program_iterations(inner));
    ambit_close(a);
  }
}

static void a_call_every_n_iterations_may_swap(void)
{
  EACH_PLACE(d)
  {
    ambit *a = open_strict(*d);
    ambit_grid *g = grid_2d(a, 1, 12);
    ambit_field *u = ambit_field_create(g, "u", AMBIT_I32),
                *v = ambit_field_create(g, "v", AMBIT_I32);
    ambit_program *p = ambit_program_create(g), *q = ambit_program_create(g);
    int64_t at[] = {0, 0}, end[] = {1, 1};
    int one = 1, got[12];

    ambit_field_set(u, 0);
    ambit_field_write(u, at, end, &one);
    ambit_field_boundary(u, AMBIT_AXIS(1), AMBIT_CONSTANT, 0);
    ambit_apply(q, ambit_kernel_create(a, "void right(const int *u, int *v) { *v = u[0][-1]; }"), u,
                v);
    ambit_swap(q, u, v);
    ambit_apply(p, ambit_kernel_create(a, "void copy(const int *u, int *v) { *v = u[0][-1]; }"), u,
                v);
    ambit_swap(p, u, v);
    ambit_call(p, q, 1);
    ambit_step_every(p, 3);
    ambit_run(p, 7); /* 7 cells to the right, and 2 more */
    ambit_field_read(u, NULL, NULL, got);
    CHECK_OK(a);
    for (int i = 0; i < 12; i++)
      CHECK_EQ(i == 9, got[i]);
    ambit_close(a);
  }
}

/* A called program comes to rest, and its caller changes one cell before each call. */
static void stir(const char *devices, const char *sleep, int *values)
{
  ambit *a = open_strict(devices);
  ambit_grid *g = grid_2d(a, 96, 96);
  ambit_field *u = ambit_field_create(g, "u", AMBIT_I32),
              *v = ambit_field_create(g, "v", AMBIT_I32);
  ambit_program *p = ambit_program_create(g), *q = ambit_program_create(g);

  ambit_option_set(a, "sleep", sleep);
  ambit_field_set(u, 0);
  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
  ambit_apply(q,
              ambit_kernel_create(a,
                                  "void spread(const int *u, int *v) { const int m = (u[0][-1] > "
                                  "u[0][1] ? u[0][-1] : u[0][1]) - 1; *v = *u > m ? *u : m; }"),
              u, v);
  ambit_swap(q, u, v);
  ambit_apply_box(p, AMBIT_INDEX(50, 7), AMBIT_INDEX(51, 8),
                  ambit_kernel_create(a, "void hit(int *u) { *u += 2; }"), u);
  ambit_call(p, q, 24);
  ambit_run(p, 8);
  ambit_field_read(u, NULL, NULL, values);
  CHECK_OK(a);
  ambit_close(a);
}

static void sleeping_tiles_of_a_called_program_wake_up(void)
{
  static int want[96 * 96], got[96 * 96];

  stir("cpu", "off", want);
  CHECK_EQ(16, want[50 * 96 + 7]);
  EACH_PLACE(d)
  {
    stir(*d, "on", got);
    CHECK_MSG(!memcmp(want, got, sizeof want), "%s: %d", *d, got[50 * 96 + 7]);
  }
}

/* ---- refusals ---- */

static void recursion_and_wrong_calls_are_refused(void)
{
  ambit *a = open_on("cpu"), *other = open_on("cpu");
  ambit_grid *g = grid_2d(a, 8, 8);
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F32);
  ambit_scalar *s = ambit_scalar_create(a, "s", AMBIT_F32);
  ambit_program *p = ambit_program_create(g), *q = ambit_program_create(g),
                *r = ambit_program_create(g);
  ambit_program *far = ambit_program_create(grid_2d(other, 8, 8));

  ambit_call(p, p, 1);
  CHECK_FAILED(a, AMBIT_EPROGRAM, "step 1 calls its own program: recursion");
  ambit_call(p, q, 1);
  ambit_call(q, r, 1);
  ambit_call(r, p, 1);
  CHECK_FAILED(a, AMBIT_EPROGRAM, "calls a program that calls the program of the step");
  ambit_call(p, NULL, 1);
  CHECK_FAILED(a, AMBIT_EINVAL, "step 2 calls is NULL");
  ambit_call(p, far, 1);
  CHECK_FAILED(a, AMBIT_EINVAL, "belongs to another context");
  ambit_call(p, q, -1);
  CHECK_FAILED(a, AMBIT_EINVAL, "for -1 iterations; the number must be 0 or more");
  ambit_call_until(p, q, NULL, AMBIT_BELOW, 1, 9);
  CHECK_FAILED(a, AMBIT_EINVAL, "ambit_call_until: the scalar is NULL");
  ambit_call_until(p, q, s, (ambit_condition)9, 1, 9);
  CHECK_FAILED(a, AMBIT_EINVAL, "ambit_call_until: 9 is not a condition");
  ambit_run(p, 1);
  CHECK_FAILED(a, AMBIT_EPROGRAM, "the program has no steps");
  ambit_apply(r, ambit_kernel_create(a, "void up(float *u) { *u += 1; }"), u);
  ambit_run(p, 1);
  CHECK_OK(a);
  ambit_call_until(p, r, s, AMBIT_BELOW, 1, 9);
  ambit_run(p, 1);
  CHECK_FAILED(a, AMBIT_EPROGRAM, "until the scalar 's' meets a condition, but no step sets it");
  ambit_program_destroy(r);
  ambit_run(p, 1);
  CHECK_FAILED(a, AMBIT_EPROGRAM, "program that was destroyed");
  CHECK_EQ(AMBIT_EINVAL, ambit_call(NULL, p, 1));
  ambit_close(a);
  ambit_close(other);
}

static void the_report_of_a_caller_lists_its_calls(void)
{
  ambit *a = open_on("cpu");
  ambit_grid *g = grid_2d(a, 8, 8);
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F32);
  ambit_program *inner = ambit_program_create(g), *outer = ambit_program_create(g);
  ambit_kernel *up = ambit_kernel_create(a, "void up(float *u) { *u += 1; }");
  const bool reports = !ambit_process(a);
  const char *text;

  ambit_option_set(a, "report", "1");
  ambit_apply(inner, up, u);
  ambit_apply(outer, up, u);
  ambit_call(outer, inner, 3);
  ambit_run(outer, 2);
  capture_begin();
  ambit_close(a);
  text = capture_end();
  CHECK_MSG(!reports || strstr(text, "  step 2  call           6 iterations so far"), "%s", text);
  text = strstr(text, "6 iterations in ");
  CHECK(!reports || (text && !strstr(text + 1, "\n6 iterations in "))); /* once */
}

/* ---- callbacks ---- */

enum { STOP, RUN_OUTER, RUN_INNER, APPEND, BOUNDARY, DESTROY };

typedef struct deeds {
  ambit_program *outer, *inner;
  ambit_field *u;
  int what; /* STOP, ... */
} deeds;

static int act(ambit_program *p, int64_t iteration, void *user)
{
  const deeds *d = user;

  (void)p;
  (void)iteration;
  if (d->what == RUN_OUTER) ambit_run(d->outer, 1);
  if (d->what == RUN_INNER) ambit_run(d->inner, 1);
  if (d->what == APPEND) ambit_call(d->outer, d->inner, 1);
  if (d->what == BOUNDARY) ambit_field_boundary(d->u, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
  if (d->what == DESTROY) ambit_program_destroy(d->inner);
  return d->what == STOP;
}

/* Runs a program with a callback in it, or in the program that it calls. */
static ambit *run_with(int what, bool in_called, int64_t *iterations)
{
  ambit *a = open_on("cpu");
  ambit_grid *g = grid_2d(a, 8, 8);
  deeds d = {.outer = ambit_program_create(g), .inner = ambit_program_create(g)};

  d.what = what;
  d.u = ambit_field_create(g, "u", AMBIT_F32);
  ambit_apply(d.inner, ambit_kernel_create(a, "void up(float *u) { *u += 1; }"), d.u);
  ambit_call(d.outer, d.inner, 4);
  ambit_on_iteration(in_called ? d.inner : d.outer, 2, act, &d);
  ambit_run(d.outer, 4);
  *iterations = ambit_program_iterations(d.inner);
  return a;
}

static void callbacks_end_calls_and_do_not_break_callers(void)
{
  int64_t n;
  ambit *a = run_with(STOP, true, &n);

  CHECK_OK(a);
  CHECK_EQ(8, n); /* 2 of 4 in each call */
  ambit_close(a);
  a = run_with(STOP, false, &n);
  CHECK_EQ(8, n); /* 2 calls of 4 */
  ambit_close(a);
  a = run_with(RUN_INNER, false, &n);
  CHECK_OK(a);
  CHECK_EQ(18, n);
  ambit_close(a);
  a = run_with(RUN_OUTER, true, &n);
  CHECK_FAILED(a, AMBIT_EPROGRAM, "a callback runs the program that called it");
  ambit_close(a);
  a = run_with(APPEND, true, &n);
  CHECK_FAILED(a, AMBIT_EPROGRAM, "appends a step to the program that called it");
  ambit_close(a);
  a = run_with(BOUNDARY, true, &n);
  CHECK_FAILED(a, AMBIT_EPROGRAM, "changed steps, boundaries or fields");
  ambit_close(a);
  a = run_with(DESTROY, false, &n);
  CHECK_FAILED(a, AMBIT_EPROGRAM, "the program cannot be destroyed");
  ambit_close(a);
}

/* Three fields with different constants at their faces trade buffers in the caller, in the called
 * program, or in both; each reads ghost cells that the other has filled. */
static void play_rotations(const char *devices, int who, double *values)
{
  ambit *a = open_strict(devices);
  ambit_grid *g = grid_2d(a, ROWS, COLUMNS);
  ambit_program *outer = ambit_program_create(g), *inner = ambit_program_create(g);
  ambit_kernel *west =
      ambit_kernel_create(a, "void west(double *v, const double *u) { *v = *u * 0.5 + u[0][-1]; }");
  ambit_kernel *both = ambit_kernel_create(
      a, "void both(double *v, const double *u) { *v = 0.25 * (u[0][1] + u[0][-1] + *v); }");
  ambit_field *f[3];

  for (int i = 0; i < 3; i++) {
    f[i] = ambit_field_create(g, (const char *[]){"f0", "f1", "f2"}[i], AMBIT_F64);
    ambit_field_fill(f[i], start, NULL);
    ambit_field_boundary(f[i], AMBIT_ALL_FACES, AMBIT_CONSTANT, 0.5 + i);
  }
  ambit_apply(inner, west, f[2], f[0]);
  if (who & 1) ambit_rotate(inner, 3, f);
  ambit_call(outer, inner, 2);
  ambit_apply(outer, both, f[1], f[2]);
  if (who & 2) ambit_rotate(outer, 3, (ambit_field *[]){f[2], f[0], f[1]});
  for (int i = 0; i < 3; i++)
    ambit_run(outer, 1 + i);
  for (int i = 0; i < 3; i++)
    ambit_field_read(f[i], NULL, NULL, values + i * CELLS);
  CHECK_OK(a);
  ambit_close(a);
}

static void ghost_cells_of_rotated_fields_are_those_of_the_reader(void)
{
  static double want[3 * CELLS], got[3 * CELLS];

  for (int who = 1; who < 4; who++) {
    play_rotations(places()[0], who, want); /* ref is one of the others */
    EACH_PLACE(place)
    {
      play_rotations(*place, who, got);
      CHECK_MSG(!memcmp(want, got, sizeof want), "%s differs, rotations %d", *place, who);
    }
  }
}

/* ---- values that callbacks set ---- */

enum { FIELDS = 5, PIECES = 4 };

/* Ways in which a callback changes u, which no step of its own program uses, or reads it. */
typedef enum way { WRITE, FILL, RUN_WRITER, RUN_SWAPPER, RUN_READER, WAYS } way;

/* outer: v = near(u); inner, which does not use u and v, twice; w = near(u); u += v in a box. */
typedef struct meddled {
  way way;
  ambit *a;
  ambit_grid *g;
  ambit_field *f[FIELDS]; /* u, v, w, t, n */
  ambit_program *outer, *inner, *other;
  ambit_program *pieces[PIECES]; /* one for each step of outer */
} meddled;

static double rising(const int64_t *i, int component, void *user)
{
  const int64_t *iteration = user;

  (void)component;
  return (double)(*iteration * 100 + i[0] * COLUMNS + i[1]);
}

static int meddle(ambit_program *p, int64_t iteration, void *user)
{
  const meddled *m = user;
  int row[COLUMNS];

  (void)p;
  for (int i = 0; i < COLUMNS; i++)
    row[i] = (int)iteration * 7 + i;
  if (m->way == WRITE)
    ambit_field_write(m->f[0], AMBIT_INDEX(ROWS - 1, 0), AMBIT_INDEX(ROWS, COLUMNS), row);
  else if (m->way == FILL)
    ambit_field_fill(m->f[0], rising, &iteration);
  else
    ambit_run(m->other, 1);
  return 0;
}

/* The program that the callback runs. */
static void make_other(meddled *m)
{
  m->other = ambit_program_create(m->g);
  if (m->way == RUN_READER)
    ambit_apply(m->other,
                ambit_kernel_create(
                    m->a, "void read(const int *u, int *t) { *t = u[0][-1] + 3 * u[1][0]; }"),
                m->f[0], m->f[3]);
  else
    ambit_apply(m->other,
                ambit_kernel_create(m->a, "void set(int *t) { *t = (3 * *t + index(1)) % 2003; }"),
                m->f[m->way == RUN_WRITER ? 0 : 3]);
  if (m->way == RUN_SWAPPER) ambit_swap(m->other, m->f[0], m->f[3]);
}

static meddled make_meddled(const char *devices, way how)
{
  meddled m = {.way = how, .a = open_strict(devices)};
  ambit_kernel *near = ambit_kernel_create(
      m.a, "void near(const int *u, int *v) { *v = (u[0][-1] + 5 * u[1][0]) % 1009; }");
  ambit_kernel *add = ambit_kernel_create(m.a, "void add(int *u, const int *v) { *u += *v; }");

  ambit_option_set(m.a, "sleep", "on");
  m.g = grid_2d(m.a, ROWS, COLUMNS);
  for (int i = 0; i < FIELDS; i++) {
    m.f[i] = ambit_field_create(m.g, (const char *[]){"u", "v", "w", "t", "n"}[i], AMBIT_I32);
    ambit_field_set(m.f[i], 30 + i);
    ambit_field_boundary(m.f[i], AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  }
  make_other(&m);
  m.inner = ambit_program_create(m.g);
  ambit_apply(m.inner, ambit_kernel_create(m.a, "void up(int *n) { *n += 1; }"), m.f[4]);
  m.outer = ambit_program_create(m.g);
  for (int i = 0; i < 2 * PIECES; i++) {
    ambit_program *p = i < PIECES ? m.outer : (m.pieces[i % PIECES] = ambit_program_create(m.g));

    if (i % PIECES == 0) ambit_apply(p, near, m.f[0], m.f[1]);
    if (i % PIECES == 1) ambit_call(p, m.inner, 2);
    if (i % PIECES == 2) ambit_apply(p, near, m.f[0], m.f[2]);
    if (i % PIECES == 3)
      ambit_apply_box(p, AMBIT_INDEX(3, 3), AMBIT_INDEX(9, 9), add, m.f[0], m.f[1]);
  }
  return m;
}

/* Two iterations without a callback, then four with it. */
static void run_meddled(const char *devices, way how, bool in_called, bool apart, int *values)
{
  meddled m = make_meddled(devices, how);

  for (int64_t i = 0; i < 6; i++) {
    if (i == 2) ambit_run(m.other, 1); /* now all fields have the margins they need */
    if (i == 2 && (in_called || !apart))
      ambit_on_iteration(in_called ? m.inner : m.outer, 1, meddle, &m);
    for (int k = 0; apart && k < PIECES; k++)
      ambit_run(m.pieces[k], 1);
    if (apart && !in_called && i >= 2) meddle(NULL, i + 1, &m);
    if (!apart && i % 2 == 0) ambit_run(m.outer, 2);
  }
  for (int i = 0; i < FIELDS; i++)
    ambit_field_read(m.f[i], NULL, NULL, values + i * CELLS);
  CHECK_OK(m.a);
  ambit_close(m.a);
}

static void callers_see_values_that_callbacks_set(void)
{
  static int want[FIELDS * CELLS], got[FIELDS * CELLS];

  for (int i = 0; i < 2 * WAYS; i++) {
    if (i % 2 == 0 && i / 2 < RUN_WRITER) continue; /* other tests do that */
    run_meddled(places()[0], (way)(i / 2), i % 2, true, want);
    EACH_PLACE(d)
    {
      if (compiles_slowly(*d) && i / 2 != WRITE) continue;
      run_meddled(*d, (way)(i / 2), i % 2, false, got);
      CHECK_MSG(!memcmp(want, got, sizeof want), "%s, way %d, callback of the %s program", *d,
                i / 2, i % 2 ? "called" : "calling");
    }
  }
}

/* An iteration whose only step calls a program; `n` stops growing at 5. */
static void a_run_ends_when_its_calls_change_nothing(void)
{
  EACH_PLACE(d)
  {
    ambit *a = open_strict(*d);
    ambit_grid *g = grid_2d(a, ROWS, COLUMNS);
    ambit_field *n = ambit_field_create(g, "n", AMBIT_I32);
    ambit_program *outer = ambit_program_create(g), *inner = ambit_program_create(g);

    ambit_field_set(n, 0);
    ambit_apply(inner, ambit_kernel_create(a, "void up(int *n) { *n += *n < 5; }"), n);
    ambit_call(outer, inner, 2);
    ambit_apply(outer, ambit_kernel_create(a, "void same(int *n) { *n += 0; }"), n);
    ambit_run_until_still(outer, 50);
    CHECK_OK(a);
    CHECK_EQ(4, ambit_program_iterations(outer));
    CHECK(ambit_program_converged(outer));
    ambit_close(a);
  }
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"a_solver_runs_inside_a_time_loop", a_solver_runs_inside_a_time_loop},
      {"a_call_ends_at_its_limit_of_iterations", a_call_ends_at_its_limit_of_iterations},
      {"calls_of_calls_on_two_grids_run_in_order", calls_of_calls_on_two_grids_run_in_order},
      {"a_call_every_n_iterations_may_swap", a_call_every_n_iterations_may_swap},
      {"sleeping_tiles_of_a_called_program_wake_up", sleeping_tiles_of_a_called_program_wake_up},
      {"ghost_cells_of_rotated_fields_are_those_of_the_reader",
       ghost_cells_of_rotated_fields_are_those_of_the_reader},
      {"recursion_and_wrong_calls_are_refused", recursion_and_wrong_calls_are_refused},
      {"the_report_of_a_caller_lists_its_calls", the_report_of_a_caller_lists_its_calls},
      {"callbacks_end_calls_and_do_not_break_callers",
       callbacks_end_calls_and_do_not_break_callers},
      {"callers_see_values_that_callbacks_set", callers_see_values_that_callbacks_set},
      {"a_run_ends_when_its_calls_change_nothing", a_run_ends_when_its_calls_change_nothing},
      {NULL, NULL}};

  return test_main(argc, argv, tests);
}
