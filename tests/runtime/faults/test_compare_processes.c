/* SPDX-License-Identifier: BSD-3-Clause */
/* Diverging processes: the difference is detected before anything hangs, and reported on all of
 * them. An error of one process becomes the error of all. */
#include "runtime/run/run.h"
#include "support/test.h"

#include <time.h>

static ambit *a;
static int me;

static const char *const two_rules[] = {
    AMBIT_SOURCE(void heat(const float *u, float *v, float k) { *v = *u + k * u[1]; }),
    AMBIT_SOURCE(void cool(const float *u, float *v, float k) { *v = *u + k * u[1]; })};

typedef struct job {
  ambit_field *u, *v;
  ambit_program *p;
} job;

static job make(int64_t cells)
{
  ambit_grid *g = ambit_grid_create(a, 1, &cells);
  job j = {ambit_field_create(g, "u", AMBIT_F32), ambit_field_create(g, "v", AMBIT_F32),
           ambit_program_create(g)};

  ambit_field_boundary(j.u, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  return j;
}

static void apply(const job *j, const char *rule, double k)
{
  ambit_apply(j->p, ambit_kernel_create(a, rule), j->u, j->v, k);
}

/* All processes have this error, with these words. Clears it. */
static void expect(ambit_status status, const char *one, const char *other)
{
  const char *text = ambit_error_text(a);

  CHECK_EQ(status, ambit_error(a));
  CHECK_MSG(strstr(text, one) && strstr(text, other), "'%s' and '%s' are not in: %s", one, other,
            text);
  ambit_error_clear(a);
}

static void another_kernel_is_named(void)
{
  job j = make(32);

  apply(&j, two_rules[0], 0.5);
  apply(&j, two_rules[me == 1], 0.5);
  ambit_run(j.p, 1);
  expect(AMBIT_EPROGRAM,
         "process 1 runs a different program than process 0: step 2 is kernel 'cool'",
         "in process 0 step 2 is kernel 'heat'");
}

static void a_kernel_of_the_same_name_that_computes_something_else_is_found(void)
{
  job j = make(32);

  apply(&j,
        me == 1 ? AMBIT_SOURCE(void f(const float *u, float *v, float k) { *v = *u - k; })
                : AMBIT_SOURCE(void f(const float *u, float *v, float k) { *v = *u + k; }),
        0.5);
  ambit_run(j.p, 1);
  expect(AMBIT_EPROGRAM, "step 1 is kernel 'f'", "it is different in its numbers or its kernel");
}

static void the_same_kernel_in_other_words_is_the_same(void)
{
  job j = make(32);

  apply(&j,
        me == 1 ? AMBIT_SOURCE(void f(const float *u, float *v, float k) { *v = *u + k; })
                : "void f(const float *u, float *v, float k)\n{\n  *v = *u + k; /* the same */\n}",
        0.5);
  CHECK_EQ(AMBIT_OK, ambit_run(j.p, 1));
}

static void another_number_boundary_or_count_of_steps_is_named(void)
{
  job j = make(32);

  apply(&j, two_rules[0], me == 1 ? 0.25 : 0.5);
  ambit_run(j.p, 1);
  expect(AMBIT_EPROGRAM, "(u, v, 0.25)", "(u, v, 0.5)");

  j = make(32);
  if (me == 1) ambit_field_boundary(j.u, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
  apply(&j, two_rules[0], 0.5);
  ambit_run(j.p, 1);
  expect(AMBIT_EPROGRAM, "'u', float, boundaries clamp", "boundaries periodic");

  j = make(32);
  apply(&j, two_rules[0], 0.5);
  if (me == 1) ambit_swap(j.p, j.u, j.v);
  ambit_run(j.p, 1);
  expect(AMBIT_EPROGRAM, "step 2 is a rotation of (u, v)", "there is no step 2");
}

static void another_grid_is_named_when_it_is_made(void)
{
  make(me == 1 ? 31 : 32);
  expect(AMBIT_EPROGRAM, "[0,31)", "[0,32)");
}

static int every_second(const int64_t *i, void *user)
{
  return i[0] % 2 == *(const int *)user;
}

/* A function that answers differently, or boundaries of inactive cells that differ. */
static void other_active_cells_are_named(void)
{
  for (int k = 0; k < 2; k++) {
    const int64_t cells = 32;
    int first = k == 0 && me == 1;
    ambit_grid *g = ambit_grid_create_sparse(a, 1, &cells, every_second, &first);
    job j = {ambit_field_create(g, "u", AMBIT_F32), ambit_field_create(g, "v", AMBIT_F32),
             ambit_program_create(g)};

    ambit_field_boundary(j.u, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
    ambit_field_boundary(j.u, AMBIT_INACTIVE, AMBIT_CONSTANT, k == 1 && me == 1 ? 7 : 0);
    apply(&j, two_rules[0], 0.5);
    ambit_run(j.p, 1);
    if (k == 0)
      expect(AMBIT_EPROGRAM, "the grid has 32 cells, 16 of them active", "other cells are active");
    else
      expect(AMBIT_EPROGRAM, "inactive cells constant 7", "inactive cells constant 0");
  }
}

static char parts[8], weights[64]; /* right for the number of processes */

/* Every option that all processes must have in common: its value on process 1, and on the others.
 * tests/docs/check_options.py compares the list with the table of options. */
static const struct {
  const char *name, *here, *there;
} shared[] = {
    /* shared options: */
    {"checkpoint", "x", ""},
    {"checkpoint-every", "3", "10min"},
    {"resume", "no", "auto"},
    {"depth", "3", "auto"},
    {"join", "0", "1"},
    {"lean", "on", "auto"},
    {"nan", "1", "0"},
    {"overlap", "none", "two-way"},
    {"partition", parts, "auto"},
    {"plan", "(rows", ""},
    {"report", "1", "0"},
    {"sleep", "on", "auto"},
    {"storage", "list", "auto"},
    {"strict", "1", "0"},
    {"trace", "x.json", ""},
    {"trial", "0", "1"},
    {"tune", "1", "0"},
    {"view", "http", ""},
    {"weights", weights, ""},
    /* : */
};

static void another_option_is_named(void)
{
  for (size_t i = 0; i < sizeof shared / sizeof *shared; i++) {
    const bool traces = !strcmp(shared[i].name, "trace");
    char one[100], other[100];
    job j = make(32);

    snprintf(one, sizeof one, "option %s is '%s' on process 1", shared[i].name,
             traces ? "on" : shared[i].here);
    snprintf(other, sizeof other, "but '%s' on process 0", traces ? "off" : shared[i].there);
    if (me == 1) ambit_option_set(a, shared[i].name, shared[i].here);
    apply(&j, two_rules[0], 0.5);
    ambit_run(j.p, 200);
    expect(AMBIT_EOPTION, one, other);
    ambit_option_set(a, shared[i].name, shared[i].there);
    CHECK_EQ(AMBIT_OK, ambit_run(j.p, 2));
    if (me == 1) ambit_option_set(a, shared[i].name, shared[i].here);
    make(32); /* a grid is cut by such options, too */
    expect(AMBIT_EOPTION, one, other);
    ambit_option_set(a, shared[i].name, shared[i].there);
  }
}

/* 0 and auto are the same; other options may differ. */
static void an_option_in_other_words_is_the_same(void)
{
  job j = make(32);

  ambit_option_set(a, "depth", me == 1 ? "0" : "auto");
  ambit_option_set(a, "strict", me == 1 ? "no" : "0");
  ambit_option_set(a, "hugepages", me == 1 ? "0" : "1");
  apply(&j, two_rules[0], 0.5);
  CHECK_EQ(AMBIT_OK, ambit_run(j.p, 2));
  ambit_option_set(a, "depth", "auto");
}

static void another_number_of_iterations_is_named(void)
{
  job j = make(32);

  apply(&j, two_rules[0], 0.5);
  CHECK_EQ(AMBIT_OK, ambit_run(j.p, 3));
  ambit_run(j.p, me == 1 ? 20 : 10);
  expect(AMBIT_EPROGRAM, "process 1 runs 20 iterations", "process 0 runs 10 iterations");
  CHECK_EQ(AMBIT_OK, ambit_run(j.p, 3));
}

static void another_call_is_named(void)
{
  job j = make(32);
  float values[32];

  apply(&j, two_rules[0], 0.5);
  if (me == 1)
    ambit_field_read(j.u, NULL, NULL, values);
  else
    ambit_run(j.p, 3);
  expect(AMBIT_EPROGRAM, "process 1 reads [0,32) of field 'u'", "process 0 runs 3 iterations");
}

/* Process 1 fails in a call that is not collective: the others get the error in the next collective
 * call. */
static void an_error_of_one_process_becomes_that_of_all(void)
{
  const int64_t lo = 0, hi = me == 1 ? 99 : 32;
  job j = make(32);
  float values[99] = {0};

  apply(&j, two_rules[0], 0.5);
  ambit_field_write(j.u, &lo, &hi, values);
  CHECK_EQ(me == 1 ? AMBIT_EINVAL : AMBIT_OK, ambit_error(a));
  CHECK_EQ(AMBIT_EINVAL, ambit_run(j.p, 2));
  expect(AMBIT_EINVAL, me == 1 ? "field 'u'" : "process 1 of", "not within the grid");
}

/* Keeps process 1 within the iteration while the others are at its end. */
static int dawdle(const ambit_part *part, void *user)
{
  (void)part, (void)user;
  if (me == 1) nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
  return 0;
}

/* All processes find it, after whole iterations. */
static void a_value_that_is_not_finite_stops_no_process_within_an_iteration(void)
{
  job j = make(32);
  ambit_scalar *most = ambit_scalar_create(a, "most", AMBIT_F32);
  float values[32];

  ambit_field_set(j.u, -1);
  ambit_apply(j.p,
              ambit_kernel_create(a, "void root(const float *u, float *v, max float *most) "
                                     "{ *v = 7; *most = sqrtf(*u); }"),
              j.u, j.v, most);
  ambit_apply_host(j.p, dawdle, NULL, 1, &j.v, (unsigned[]){AMBIT_READ});
  ambit_field_boundary(j.v, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_apply(j.p, ambit_kernel_create(a, "void next(const float *v, float *u) { *u = v[1]; }"),
              j.v, j.u);
  CHECK_EQ(AMBIT_EPROGRAM, ambit_run_until(j.p, most, AMBIT_ABOVE, 1, 9));
  CHECK(!strncmp(ambit_error_text(a), "after iteration 1 the scalar 'most' is nan", 42));
  expect(AMBIT_EPROGRAM, "after iteration 1", "not finite");
  CHECK_EQ(AMBIT_OK, ambit_field_read(j.u, NULL, NULL, values));
  for (int i = 0; i < 32; i++)
    CHECK_EQ(7, (int)values[i]);
}

static const test_case tests[] = {
    {"another_kernel_is_named", another_kernel_is_named},
    {"a_kernel_of_the_same_name_that_computes_something_else_is_found",
     a_kernel_of_the_same_name_that_computes_something_else_is_found},
    {"the_same_kernel_in_other_words_is_the_same", the_same_kernel_in_other_words_is_the_same},
    {"another_number_boundary_or_count_of_steps_is_named",
     another_number_boundary_or_count_of_steps_is_named},
    {"another_grid_is_named_when_it_is_made", another_grid_is_named_when_it_is_made},
    {"other_active_cells_are_named", other_active_cells_are_named},
    {"another_option_is_named", another_option_is_named},
    {"an_option_in_other_words_is_the_same", an_option_in_other_words_is_the_same},
    {"another_number_of_iterations_is_named", another_number_of_iterations_is_named},
    {"another_call_is_named", another_call_is_named},
    {"an_error_of_one_process_becomes_that_of_all", an_error_of_one_process_becomes_that_of_all},
    {"a_value_that_is_not_finite_stops_no_process_within_an_iteration",
     a_value_that_is_not_finite_stops_no_process_within_an_iteration},
    {NULL, NULL}};

int main(int argc, char **argv)
{
  int bad;

  a = ambit_open(&argc, &argv);
  snprintf(parts, sizeof parts, "%d", ambit_processes(a));
  for (int i = 0; i < ambit_processes(a) && i < 30; i++)
    strcat(weights, i ? ",2" : "1");
  ambit_on_error(a, NULL, NULL);
  me = ambit_process(a);
  bad = test_main(argc, argv, tests);
  return (ambit_close(a) != AMBIT_OK) | bad;
}
