/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs: when they end, what callbacks may do, and programs that lost an object. */
#include "runtime/scene.h"

#include <math.h>

static const char add_rule[] = "void add(const int *u, int *v) { *v = *u + 1; }";
static const char grow_rule[] = "void grow(int *u) { *u += 1; }";

/* ---- run until ---- */

/* s counts the iterations. */
static scene set_up_counter(const char *device)
{
  scene s = set_up(device);

  ambit_apply(s.p, kernel(&s, "void count(long *s) { *s += 1; }"), s.s);
  return s;
}

static void a_run_ends_when_its_condition_holds(void)
{
  EACH_DEVICE(device)
  {
    scene s = set_up_counter(*device);

    CHECK_EQ(AMBIT_OK, ambit_run_until(s.p, s.s, AMBIT_ABOVE, 4, 100));
    CHECK_EQ(5, ambit_program_iterations(s.p));
    CHECK(ambit_program_converged(s.p));
    CHECK_EQ(AMBIT_OK, ambit_run_until(s.p, s.s, AMBIT_EQUAL, 8, 100));
    CHECK_EQ(8, ambit_program_iterations(s.p));
    CHECK_EQ(AMBIT_OK, ambit_run_until(s.p, s.s, AMBIT_BELOW, 100, 100));
    CHECK_EQ(9, ambit_program_iterations(s.p));
    ambit_close(s.a);
  }
}

static void a_run_ends_at_the_most_iterations(void)
{
  EACH_DEVICE(device)
  {
    scene s = set_up_counter(*device);

    CHECK_EQ(AMBIT_OK, ambit_run_until(s.p, s.s, AMBIT_ABOVE, 1000, 7));
    CHECK_EQ(7, ambit_program_iterations(s.p));
    CHECK(!ambit_program_converged(s.p));
    CHECK_EQ(AMBIT_OK, ambit_run_until(s.p, s.s, AMBIT_ABOVE, 1000, 0));
    CHECK_EQ(7, ambit_program_iterations(s.p));
    ambit_run(s.p, 1);
    CHECK(!ambit_program_converged(s.p));
    CHECK_EQ(8, ambit_scalar_get(s.s));
    ambit_close(s.a);
  }
}

static void a_condition_is_checked_at_its_interval_only(void)
{
  EACH_DEVICE(device)
  {
    scene s = set_up_counter(*device);

    ambit_program_check_every(s.p, 4);
    ambit_run_until(s.p, s.s, AMBIT_ABOVE, 4, 100);
    CHECK_EQ(8, ambit_program_iterations(s.p));
    CHECK(ambit_program_converged(s.p));
    ambit_run_until(s.p, s.s, AMBIT_EQUAL, 10, 6); /* 12 is checked, and 14, the last */
    CHECK_EQ(14, ambit_program_iterations(s.p));
    CHECK(!ambit_program_converged(s.p));
    ambit_run_until(s.p, s.s, AMBIT_EQUAL, 16, 2); /* the last iteration is checked too */
    CHECK(ambit_program_converged(s.p));
    ambit_program_check_every(s.p, 0);
    CHECK_FAILED(s.a, AMBIT_EINVAL, "the interval is 0; it must be at least 1");
    ambit_close(s.a);
  }
}

static void a_scalar_that_is_not_finite_ends_the_run_with_an_error(void)
{
  EACH_DEVICE(device)
  {
    scene s = set_up(*device);
    ambit_scalar *x = ambit_scalar_create(s.a, "rest", AMBIT_F64);

    ambit_apply(s.p, kernel(&s, "void k(double *x) { *x = step() < 2 ? 1.0 : NAN; }"), x);
    ambit_run_until(s.p, x, AMBIT_BELOW, 0.5, 100);
    CHECK_EQ(3, ambit_program_iterations(s.p));
    CHECK_FAILED(s.a, AMBIT_EPROGRAM, "after iteration 3 the scalar 'rest' is");
    ambit_close(s.a);
  }
}

static void what_cannot_be_run_is_refused(void)
{
  scene s = set_up_counter("ref");
  ambit *b = open_on("ref");
  ambit_scalar *foreign = ambit_scalar_create(b, "foreign", AMBIT_F64);
  ambit_program *empty = ambit_program_create(s.g);

  ambit_run(s.p, -1);
  CHECK_FAILED(s.a, AMBIT_EINVAL, "-1 iterations were requested");
  ambit_run(empty, 1);
  CHECK_FAILED(s.a, AMBIT_EPROGRAM, "the program has no steps");
  ambit_run_until(s.p, foreign, AMBIT_BELOW, 0, 1);
  CHECK_FAILED(s.a, AMBIT_EINVAL, "belongs to another context");
  ambit_run_until(s.p, s.s, (ambit_condition)8, 0, 1);
  CHECK_FAILED(s.a, AMBIT_EINVAL, "8 is not a condition");
  ambit_run_until(s.p, s.s, AMBIT_BELOW, NAN, 1);
  CHECK_FAILED(s.a, AMBIT_EINVAL, "ambit_run_until: the value to compare with is NaN");
  ambit_close(b);
  ambit_close(s.a);
}

static int count_up(ambit_program *p, int64_t iteration, void *user)
{
  (void)p;
  ambit_scalar_set(user, (double)iteration);
  return 0;
}

static void a_run_awaits_only_scalars_that_it_can_set(void)
{
  scene s = set_up("ref");
  ambit_program *outer = ambit_program_create(s.g);

  ambit_apply(s.p, kernel(&s, "void shift(int *u, long s) { *u += (int)s; }"), s.u, s.s);
  ambit_call(outer, s.p, 1);
  ambit_run_until(outer, s.s, AMBIT_ABOVE, 2, 100); /* it is only read */
  CHECK_FAILED(s.a, AMBIT_EPROGRAM, "until the scalar 's' meets a condition, but no step sets it");
  CHECK_EQ(0, ambit_program_iterations(outer));
  ambit_on_iteration(s.p, 1, count_up, s.s);
  ambit_run_until(outer, s.s, AMBIT_ABOVE, 2, 100);
  CHECK_EQ(3, ambit_program_iterations(outer));
  ambit_on_iteration(s.p, 0, NULL, NULL);
  ambit_apply(s.p, kernel(&s, "void count(long *s) { *s += 2; }"), s.s);
  ambit_run_until(outer, s.s, AMBIT_ABOVE, 6, 100);
  CHECK_OK(s.a);
  CHECK_EQ(5, ambit_program_iterations(outer));
  ambit_close(s.a);
}

/* ---- callbacks ---- */

typedef struct visits {
  int n;
  int64_t at[10];
  int64_t stop_at;    /* iteration; 0: never */
  ambit_field *grows; /* gets other values */
} visits;

static int visit(ambit_program *p, int64_t iteration, void *user)
{
  visits *v = user;

  (void)p;
  if (v->n < 10) v->at[v->n++] = iteration;
  if (v->grows) ambit_field_set(v->grows, 1000.0 * (double)iteration);
  return iteration == v->stop_at;
}

static void a_callback_comes_after_every_n_iterations(void)
{
  EACH_DEVICE(device)
  {
    scene s = set_up_counter(*device);
    visits v = {0};

    ambit_on_iteration(s.p, 3, visit, &v);
    ambit_run(s.p, 4);
    ambit_run(s.p, 6);
    CHECK_EQ(3, v.n);
    CHECK(v.at[0] == 3 && v.at[1] == 6 && v.at[2] == 9);
    ambit_on_iteration(s.p, 0, NULL, NULL);
    ambit_run(s.p, 10);
    CHECK_EQ(3, v.n);
    ambit_on_iteration(s.p, -2, visit, &v);
    CHECK_FAILED(s.a, AMBIT_EINVAL, "the interval is -2; it must be at least 1");
    ambit_close(s.a);
  }
}

static void a_callback_that_returns_non_zero_stops_the_run(void)
{
  EACH_DEVICE(device)
  {
    scene s = set_up_counter(*device);
    visits v = {.stop_at = 4};

    ambit_on_iteration(s.p, 2, visit, &v);
    CHECK_EQ(AMBIT_OK, ambit_run(s.p, 100));
    CHECK_EQ(4, ambit_program_iterations(s.p));
    CHECK_EQ(4, ambit_scalar_get(s.s));
    CHECK_EQ(AMBIT_OK, ambit_run(s.p, 2));
    CHECK_EQ(6, ambit_program_iterations(s.p));
    ambit_close(s.a);
  }
}

static void a_callback_may_write_fields(void)
{
  EACH_DEVICE(device)
  {
    scene s = set_up(*device);
    visits v = {.grows = s.u};

    ambit_field_boundary(s.u, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
    ambit_apply(s.p, kernel(&s, "void left(const int *u, int *v) { *v = u[-1] + 1; }"), s.u, s.v);
    ambit_swap(s.p, s.u, s.v);
    ambit_on_iteration(s.p, 2, visit, &v);
    ambit_run(s.p, 5);
    CHECK_OK(s.a);
    CHECK_EQ(4001, at(s.u, 0));
    CHECK_EQ(4001, at(s.u, N - 1));
    ambit_close(s.a);
  }
}

/* A step appended during a run takes effect in the next iteration. */
static int append_step(ambit_program *p, int64_t iteration, void *user)
{
  const scene *s = user;

  if (iteration == 2) ambit_apply(p, kernel(s, grow_rule), s->u);
  return 0;
}

static void a_callback_may_append_steps(void)
{
  EACH_DEVICE(device)
  {
    scene s = set_up_counter(*device);

    ambit_on_iteration(s.p, 1, append_step, &s);
    ambit_run(s.p, 5);
    CHECK_OK(s.a);
    CHECK_EQ(5, ambit_scalar_get(s.s));
    CHECK_EQ(3, at(s.u, 0));
    ambit_close(s.a);
  }
}

/* ---- misuse of callbacks ---- */

typedef struct misuse {
  scene s;
  ambit_kernel *k;
  int what; /* which misuse */
  ambit_status status;
} misuse;
enum { MISUSES = 8 };

static void misbehave(misuse *m)
{
  switch (m->what) {
  case 0: ambit_program_destroy(m->s.p); break;
  case 1: ambit_grid_destroy(m->s.g); break;
  case 2: ambit_field_destroy(m->s.u); break;
  case 3: ambit_scalar_destroy(m->s.s); break;
  case 4: ambit_kernel_destroy(m->k); break;
  case 5: m->status = ambit_close(m->s.a); break;
  case 6: m->status = ambit_run(m->s.p, 1); break;
  case 7: m->status = ambit_run_until(m->s.p, m->s.s, AMBIT_ABOVE, 100, 10); break;
  }
}

static int misbehave_in_run(ambit_program *p, int64_t iteration, void *user)
{
  (void)p;
  if (iteration == 2) misbehave(user);
  return 0;
}

static void a_callback_cannot_destroy_what_runs_nor_run_it_again(void)
{
  EACH_DEVICE(device)
  {
    for (int what = 0; what < MISUSES; what++) {
      misuse m = {.s = set_up(*device), .what = what, .status = AMBIT_EPROGRAM};
      scene *s = &m.s;

      m.k = kernel(s, "void count(int *u, max long *s) { *u += 1; *s = *u; }");
      ambit_apply(s->p, m.k, s->u, s->s);
      ambit_on_iteration(s->p, 1, misbehave_in_run, &m);
      CHECK_EQ(AMBIT_EPROGRAM, ambit_run_until(s->p, s->s, AMBIT_ABOVE, 100, 5));
      CHECK_EQ(2, ambit_program_iterations(s->p));
      CHECK_EQ(AMBIT_EPROGRAM, m.status);
      CHECK_FAILED(s->a, AMBIT_EPROGRAM,
                   what < 6 ? "cannot be destroyed" : "a callback runs the program that called it");
      ambit_error_clear(s->a);
      ambit_on_iteration(s->p, 0, NULL, NULL);
      CHECK_EQ(AMBIT_OK, ambit_run(s->p, 3)); /* nothing is lost */
      CHECK_EQ(5, ambit_scalar_get(s->s));
      ambit_close(s->a);
    }
  }
}

/* Objects that the run does not use. */
static int destroy_others(ambit_program *p, int64_t iteration, void *user)
{
  scene *s = user;

  (void)p;
  if (iteration == 2) {
    ambit_field_destroy(s->v);
    ambit_grid_destroy(ambit_grid_create(s->a, 1, (const int64_t[]){3}));
    ambit_program_destroy(ambit_program_create(s->g));
  }
  return 0;
}

static void a_callback_may_destroy_other_objects(void)
{
  EACH_DEVICE(device)
  {
    scene s = set_up_counter(*device);

    ambit_on_iteration(s.p, 1, destroy_others, &s);
    CHECK_EQ(AMBIT_OK, ambit_run(s.p, 5));
    CHECK_EQ(5, ambit_scalar_get(s.s));
    ambit_close(s.a);
  }
}

static double misbehave_in_fill(const int64_t *index, int component, void *user)
{
  (void)component;
  if (index[0] == 1) misbehave(user);
  return 7;
}

static void a_fill_function_cannot_destroy_its_field(void)
{
  static const int whats[] = {1, 2, 5};

  EACH_DEVICE(device)
  {
    for (int i = 0; i < 3; i++) {
      misuse m = {.s = set_up(*device), .what = whats[i]};

      ambit_field_fill(m.s.u, misbehave_in_fill, &m);
      CHECK_FAILED(m.s.a, AMBIT_EPROGRAM, "cannot be destroyed");
      ambit_error_clear(m.s.a);
      CHECK_EQ(7, at(m.s.u, N - 1));
      ambit_close(m.s.a);
    }
  }
}

static void misbehave_in_handler(ambit_status status, const char *message, void *user)
{
  misuse *m = user;

  (void)status;
  for (m->what = 0; m->what < MISUSES; m->what++)
    misbehave(m);
  ambit_error_clear(m->s.a);
  CHECK(strstr(message, "NULL") != NULL);
}

static void an_error_handler_destroys_nothing(void)
{
  EACH_DEVICE(device)
  {
    misuse m = {.s = set_up_counter(*device)};

    ambit_on_error(m.s.a, misbehave_in_handler, &m);
    CHECK_EQ(AMBIT_EINVAL, ambit_field_fill(m.s.u, NULL, NULL));
    CHECK_FAILED(m.s.a, AMBIT_EINVAL, "is NULL");
    ambit_error_clear(m.s.a);
    CHECK_EQ(AMBIT_OK, ambit_run(m.s.p, 3));
    ambit_close(m.s.a);
  }
}

/* ---- destroyed objects ---- */

static void a_program_says_what_it_misses_once_something_is_destroyed(void)
{
  EACH_DEVICE(device)
  {
    for (int what = 0; what < 3; what++) {
      scene s = set_up(*device);
      ambit_kernel *k = kernel(&s, "void k(int *u, sum long *s) { *u += 1; *s = *u; }");

      ambit_apply(s.p, k, s.u, s.s);
      ambit_run(s.p, 1);
      CHECK_OK(s.a);
      if (what == 0) ambit_kernel_destroy(k);
      if (what == 1) ambit_field_destroy(s.u);
      if (what == 2) ambit_scalar_destroy(s.s);
      ambit_run(s.p, 1);
      CHECK_FAILED(s.a, AMBIT_EPROGRAM,
                   "uses a field, scalar, kernel, record, points or program that was destroyed");
      ambit_close(s.a);
    }
  }
}

static void a_grid_takes_its_fields_and_programs_with_it(void)
{
  EACH_DEVICE(device)
  {
    scene s = set_up(*device);

    ambit_apply(s.p, kernel(&s, add_rule), s.u, s.v);
    ambit_run(s.p, 1);
    ambit_grid_destroy(s.g);
    CHECK_EQ(AMBIT_OK, ambit_close(s.a));
  }
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"a_run_ends_when_its_condition_holds", a_run_ends_when_its_condition_holds},
      {"a_run_ends_at_the_most_iterations", a_run_ends_at_the_most_iterations},
      {"a_condition_is_checked_at_its_interval_only", a_condition_is_checked_at_its_interval_only},
      {"a_scalar_that_is_not_finite_ends_the_run_with_an_error",
       a_scalar_that_is_not_finite_ends_the_run_with_an_error},
      {"what_cannot_be_run_is_refused", what_cannot_be_run_is_refused},
      {"a_run_awaits_only_scalars_that_it_can_set", a_run_awaits_only_scalars_that_it_can_set},
      {"a_callback_comes_after_every_n_iterations", a_callback_comes_after_every_n_iterations},
      {"a_callback_that_returns_non_zero_stops_the_run",
       a_callback_that_returns_non_zero_stops_the_run},
      {"a_callback_may_write_fields", a_callback_may_write_fields},
      {"a_callback_may_append_steps", a_callback_may_append_steps},
      {"a_callback_cannot_destroy_what_runs_nor_run_it_again",
       a_callback_cannot_destroy_what_runs_nor_run_it_again},
      {"a_callback_may_destroy_other_objects", a_callback_may_destroy_other_objects},
      {"a_fill_function_cannot_destroy_its_field", a_fill_function_cannot_destroy_its_field},
      {"an_error_handler_destroys_nothing", an_error_handler_destroys_nothing},
      {"a_program_says_what_it_misses_once_something_is_destroyed",
       a_program_says_what_it_misses_once_something_is_destroyed},
      {"a_grid_takes_its_fields_and_programs_with_it",
       a_grid_takes_its_fields_and_programs_with_it},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
