/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that relax: in place and in another order, with the bits of ordinary iterations, on any
 * number of parts and processes. Under mpirun all processes run this. */
#include "runtime/run/run.h"
#include "runtime/sleep/sleep.h"
#include "support/devices.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

/* A search for shortest ways, or with the signs changed, in so many dimensions. */
typedef struct problem {
  ambit_type type;
  int ndims;
  int64_t extents[3];
  double far; /* the value of cells that are not reached; negative: values rise */
  const char *rule;
} problem;

static const problem problems[] = {
    {AMBIT_I16,
     1,
     {9001},
     -30000,
     "void ways(const short *w, const short *c, short *n)\n"
     "{ int m = *c;\n"
     "  for (int i = -2; i <= 1; i++) m = c[i] - *w > m ? c[i] - *w : m;\n"
     "  *n = m; }\n"},
    {AMBIT_F32,
     2,
     {70, 300},
     1e9,
     "void ways(const float *w, const float *c, float *n)\n"
     "{ float m = *c;\n"
     "  for (int i = -1; i <= 1; i++)\n"
     "    for (int j = -2; j <= 1; j++) m = c[i][j] + *w < m ? c[i][j] + *w : m;\n"
     "  *n = m; }\n"},
    {AMBIT_F64,
     3,
     {19, 18, 130},
     1e9,
     "void ways(const double *w, const double *c, double *n)\n"
     "{ double m = *c;\n"
     "  for (int i = -1; i <= 1; i++)\n"
     "    for (int j = -1; j <= 1; j++) m = c[i][j][i + j] + *w < m ? c[i][j][i + j] + *w : m;\n"
     "  *n = m; }\n"},
};
enum { PROBLEMS = sizeof problems / sizeof problems[0] };

static uint32_t hash_of(const int64_t *i, int ndims)
{
  uint32_t h = 7;

  for (int d = 0; d < ndims; d++)
    h = (h ^ (uint32_t)i[d]) * 2654435761u;
  return h >> 8;
}

/* Some cells are high. */
static double height(const int64_t *i, int c, void *user)
{
  const uint32_t h = hash_of(i, ((const problem *)user)->ndims);

  (void)c;
  return h % 3 ? 1 + h % 7 + 0.1 * (h % 11) : 300;
}

/* Two cells are targets. */
static double target(const int64_t *i, int c, void *user)
{
  const problem *q = user;
  bool one = true, two = true;

  (void)c;
  for (int d = 0; d < q->ndims; d++) {
    one &= i[d] == q->extents[d] / 3;
    two &= i[d] == q->extents[d] - 1;
  }
  return one ? 0 : two ? q->far / 300 : q->far;
}

typedef struct world {
  const problem *q;
  ambit *a;
  ambit_field *w, *c, *n;
  ambit_program *p;
} world;

static world make_world(const problem *q, const char *devices, const char *sleep,
                        ambit_boundary kind)
{
  world w = {.q = q, .a = ambit_open(NULL, NULL)};
  ambit_grid *g;

  ambit_option_set(w.a, "devices", devices);
  ambit_option_set(w.a, "sleep", sleep);
  ambit_option_set(w.a, "strict", "1");
  if (ambit_processes(w.a) == 1) ambit_option_set(w.a, "threads", "3");
  g = ambit_grid_create(w.a, q->ndims, q->extents);
  w.w = ambit_field_create(g, "w", q->type);
  w.c = ambit_field_create(g, "c", q->type);
  w.n = ambit_field_create(g, "n", q->type);
  ambit_field_boundary(w.c, AMBIT_ALL_FACES, kind, q->far);
  ambit_field_boundary(w.n, AMBIT_ALL_FACES, kind, q->far);
  ambit_field_fill(w.w, height, (void *)(uintptr_t)q);
  ambit_field_fill(w.c, target, (void *)(uintptr_t)q);
  w.p = ambit_program_create(g);
  return w;
}

static world make_ways(const problem *q, const char *devices, const char *sleep,
                       ambit_boundary kind)
{
  world w = make_world(q, devices, sleep, kind);

  ambit_apply(w.p, ambit_kernel_create(w.a, q->rule), w.w, w.c, w.n);
  ambit_swap(w.p, w.c, w.n);
  return w;
}

static void check_field(const world *want, const world *got, ambit_field *a, ambit_field *b,
                        const char *what)
{
  const size_t n = (size_t)ambit_grid_cells(want->p->grid), size = ambit_type_size(want->q->type);
  unsigned char *x = calloc(n, size), *y = calloc(n, size);

  CHECK_EQ(AMBIT_OK, ambit_field_read(a, NULL, NULL, x));
  CHECK_EQ(AMBIT_OK, ambit_field_read(b, NULL, NULL, y));
  for (size_t i = 0; i < n; i++)
    if (memcmp(x + i * size, y + i * size, size)) {
      CHECK_MSG(0, "%s, %d dimensions: cell %zu of %s differs", what, got->q->ndims, i, b->name);
      break;
    }
  free(x);
  free(y);
}

static void check_same(const world *want, const world *got, const char *what)
{
  check_field(want, got, want->c, got->c, what);
  check_field(want, got, want->n, got->n, what);
}

static void end_worlds(world *w, int n)
{
  for (int i = 0; i < n; i++) {
    CHECK_MSG(!ambit_error(w[i].a), "%s", ambit_error_text(w[i].a));
    ambit_close(w[i].a);
  }
}

static void run_until_still(const world *w)
{
  CHECK_EQ(AMBIT_OK, ambit_run_until_still(w->p, 20000));
  CHECK_EQ(1, ambit_program_converged(w->p));
}

static const char *const devices[] = {"cpu", "cpu*2", "cpu*3"};

static bool is_relaxed(const world *w)
{
  return w->p->sleep && w->p->sleep->relaxed > 0;
}

static void the_order_of_updates_does_not_matter(void)
{
  static const ambit_boundary kinds[] = {AMBIT_CONSTANT, AMBIT_PERIODIC, AMBIT_SYMMETRIC};

  for (int i = 0; i < PROBLEMS * 3; i++) {
    if (!test_takes(i, 2)) continue;
    const char *d = devices[(i + i / 3) % 3];
    const problem *q = &problems[i / 3];
    world w[] = {make_ways(q, "cpu", "off", kinds[i % 3]), make_ways(q, d, "auto", kinds[i % 3])};

    CHECK_EQ(AMBIT_OK, ambit_program_relax(w[1].p));
    for (int k = 0; k < 2; k++)
      run_until_still(&w[k]);
    CHECK(is_relaxed(&w[1]));
    CHECK(ambit_program_iterations(w[1].p) <= ambit_program_iterations(w[0].p));
    check_same(&w[0], &w[1], d);
    end_worlds(w, 2);
  }
}

/* The same on GPUs; where compiling takes long, in two dimensions only. */
static void gpus_relax_too(void)
{
  EACH_DEVICE(d)
  for (int i = 0; i < 6; i++) {
    const problem *q = &problems[i % 3];
    char parts[32];
    world w[2];

    if (!strcmp(*d, "ref") || !strcmp(*d, "cpu") || (compiles_slowly(*d) && i != 4)) continue;
    snprintf(parts, sizeof parts, "%s%s", *d, i < 3 ? "" : i == 4 ? "*2,cpu" : "*3");
    w[0] = make_ways(q, "cpu", "off", i < 3 ? AMBIT_PERIODIC : AMBIT_SYMMETRIC);
    w[1] = make_ways(q, parts, "auto", i < 3 ? AMBIT_PERIODIC : AMBIT_SYMMETRIC);
    CHECK_EQ(AMBIT_OK, ambit_program_relax(w[1].p));
    for (int k = 0; k < 2; k++)
      run_until_still(&w[k]);
    CHECK(is_relaxed(&w[1]));
    check_same(&w[0], &w[1], parts);
    if (i == 4) {
      for (int k = 0; k < 2; k++) {
        ambit_field_write(w[k].c, AMBIT_INDEX(69, 0), AMBIT_INDEX(70, 1), &(float){0});
        run_until_still(&w[k]);
      }
      check_same(&w[0], &w[1], parts);
    }
    end_worlds(w, 2);
  }
}

/* A new target in a corner, written between runs and by a callback. */
static int write_target(ambit_program *p, int64_t iteration, void *user)
{
  const world *w = user;
  const float nought = 0;

  (void)p;
  if (iteration >= 2) /* the parts are at rest, or nearly */
    ambit_field_write(w->c, AMBIT_INDEX(69, 0), AMBIT_INDEX(70, 1), &nought);
  return 0;
}

static void new_values_wake_parts_at_rest(void)
{
  for (int i = 0; i < 6; i++) {
    world w[] = {make_ways(&problems[1], "cpu", "off", AMBIT_CONSTANT),
                 make_ways(&problems[1], devices[i % 3], "auto", AMBIT_CONSTANT)};

    ambit_program_relax(w[1].p);
    run_until_still(&w[0]);
    if (i >= 3) ambit_on_iteration(w[1].p, 2, write_target, &w[1]);
    run_until_still(&w[1]);
    for (int k = 0; k < 2; k++)
      if (!k || i < 3) write_target(NULL, 2, &w[k]);
    ambit_on_iteration(w[1].p, 1, NULL, NULL);
    run_until_still(&w[0]);
    run_until_still(&w[1]);
    check_same(&w[0], &w[1], devices[i % 3]);
    end_worlds(w, 2);
  }
}

/* Fixed faces; reductions; the number of the iteration; no promise. */
static world make_other(int which, const char *sleep)
{
  static const char sum[] = "void s(const float *c, float *n, max float *m)\n"
                            "{ *n = c[0][-1] < *c ? c[0][-1] : *c; *m = fmaxf(*m, *n); }\n";
  static const char step_rule[] = "void s(const float *c, float *n)\n"
                                  "{ *n = step() < 5 && c[1][0] < *c ? c[1][0] : *c; }\n";
  const ambit_boundary kind = which == 0 ? AMBIT_FIXED : AMBIT_CONSTANT;
  world w = which == 1 || which == 2 ? make_world(&problems[1], "cpu*2", sleep, kind)
                                     : make_ways(&problems[1], "cpu*2", sleep, kind);

  if (which == 1)
    ambit_apply(w.p, ambit_kernel_create(w.a, sum), w.c, w.n,
                ambit_scalar_create(w.a, "m", AMBIT_F32));
  if (which == 2) ambit_apply(w.p, ambit_kernel_create(w.a, step_rule), w.c, w.n);
  if (which == 1 || which == 2) ambit_swap(w.p, w.c, w.n);
  return w;
}

static void other_programs_run_as_ever(void)
{
  for (int i = 0; i < 4; i++) {
    world w[] = {make_other(i, "off"), make_other(i, "auto")};

    if (i < 3) CHECK_EQ(AMBIT_OK, ambit_program_relax(w[1].p));
    for (int k = 0; k < 2; k++)
      run_until_still(&w[k]);
    CHECK(w[1].p->sleep && !w[1].p->sleep->relaxed);
    CHECK_EQ(ambit_program_iterations(w[0].p), ambit_program_iterations(w[1].p));
    check_same(&w[0], &w[1], "another program");
    end_worlds(w, 2);
  }
}

static void ordinary_runs_do_not_relax(void)
{
  world w[] = {make_ways(&problems[1], "cpu", "off", AMBIT_CONSTANT),
               make_ways(&problems[1], "cpu", "auto", AMBIT_CONSTANT)};

  ambit_program_relax(w[1].p);
  for (int k = 0; k < 2; k++)
    CHECK_EQ(AMBIT_OK, ambit_run(w[k].p, 17));
  check_same(&w[0], &w[1], "ambit_run");
  end_worlds(w, 2);
}

static void a_broken_promise_ends_with_the_last_iteration(void)
{
  static const char busy[] = "void busy(const float *c, float *n) { *n = *c + 1; }";
  world w = make_world(&problems[1], "cpu*2", "auto", AMBIT_CONSTANT);

  ambit_apply(w.p, ambit_kernel_create(w.a, busy), w.c, w.n);
  ambit_swap(w.p, w.c, w.n);
  CHECK_EQ(AMBIT_OK, ambit_program_relax(w.p));
  CHECK_EQ(AMBIT_OK, ambit_run_until_still(w.p, 3));
  CHECK_EQ(0, ambit_program_converged(w.p));
  CHECK_EQ(3, ambit_program_iterations(w.p));
  end_worlds(&w, 1);
}

static void calls_take_null_and_failed_contexts(void)
{
  world w = make_ways(&problems[1], "cpu", "auto", AMBIT_CONSTANT);

  CHECK_EQ(AMBIT_EINVAL, ambit_program_relax(NULL));
  ambit_on_error(w.a, NULL, NULL);
  ambit_option_set(w.a, "nonsense", "1");
  CHECK_EQ(AMBIT_EOPTION, ambit_program_relax(w.p));
  ambit_close(w.a);
}

static const test_case tests[] = {
    {"the_order_of_updates_does_not_matter", the_order_of_updates_does_not_matter},
    {"gpus_relax_too", gpus_relax_too},
    {"new_values_wake_parts_at_rest", new_values_wake_parts_at_rest},
    {"other_programs_run_as_ever", other_programs_run_as_ever},
    {"ordinary_runs_do_not_relax", ordinary_runs_do_not_relax},
    {"a_broken_promise_ends_with_the_last_iteration",
     a_broken_promise_ends_with_the_last_iteration},
    {"calls_take_null_and_failed_contexts", calls_take_null_and_failed_contexts},
    {NULL, NULL}};

int main(int argc, char **argv)
{
  return test_main(argc, argv, tests);
}
