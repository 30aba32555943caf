/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs until a condition holds: on every device, and on one that is as late as allowed, the result
 * is that of the iteration where the condition first held, and the host does not wait
 * unnecessarily. */
#include "runtime/runtime_test.h"
#include "support/late.h"

#include "device/opencl/cl_gpu.h"

enum { ROWS = 9, COLUMNS = 20, CELLS = ROWS * COLUMNS, FIELDS = 3 };

/* The devices that are present, and late. */
static const char *const *devices_and_late(void)
{
  static const char *names[MOST_TEST_DEVICES + 2];
  int n = 0;

  EACH_DEVICE(d) names[n++] = *d;
  names[n++] = "late";
  names[n] = NULL;
  return names;
}

#define EACH_DEVICE_AND_LATE(d) for (const char *const *d = devices_and_late(); *d; d++)

/* ---- programs that need every cell, ghost cell and scalar to be correct ---- */

typedef struct scene {
  ambit *a;
  ambit_grid *g;
  ambit_field *f[FIELDS];
  ambit_scalar *count;  /* iterations, of long */
  ambit_scalar *change; /* largest, of float */
  ambit_scalar *total;  /* of all cells, of int */
  ambit_program *p;
} scene;

static double start_value(const int64_t *at, int component, void *user)
{
  (void)component;
  (void)user;
  return (double)((at[0] * 7 + at[1] * 13) % 31);
}

static ambit_kernel *kernel(const scene *s, const char *text)
{
  return ambit_kernel_create(s->a, text);
}

static scene set_up(const char *device)
{
  static const char *const names[] = {"u", "v", "w"};
  scene s = {.a = open_on(device)};

  ambit_option_set(s.a, "strict", "1");
  s.g = grid_2d(s.a, ROWS, COLUMNS);
  for (int i = 0; i < FIELDS; i++)
    s.f[i] = ambit_field_create(s.g, names[i], AMBIT_I32);
  s.count = ambit_scalar_create(s.a, "count", AMBIT_I64);
  s.change = ambit_scalar_create(s.a, "change", AMBIT_F32);
  s.total = ambit_scalar_create(s.a, "total", AMBIT_I32);
  s.p = ambit_program_create(s.g);
  return s;
}

static void append_scalars(const scene *s)
{
  ambit_apply(s->p,
              kernel(s, "void next(long *count, float *change, const int *total) {"
                        " *count += 1; *change = *change * 0.5f + (float)(*total % 7); }"),
              s->count, s->change, s->total);
}

/* Two fields with different boundaries and a fixed face. Ghost cells are filled on both sides of
 * the swap, so an iteration can start with those of the previous one. */
static void append_swap(const scene *s)
{
  ambit_field_fill(s->f[0], start_value, NULL);
  ambit_field_boundary(s->f[0], AMBIT_LOW(0), AMBIT_CLAMP, 0);
  ambit_field_boundary(s->f[0], AMBIT_HIGH(0), AMBIT_FIXED, 0);
  ambit_field_boundary(s->f[0], AMBIT_AXIS(1), AMBIT_PERIODIC, 0);
  ambit_field_boundary(s->f[1], AMBIT_AXIS(0), AMBIT_CONSTANT, 5);
  ambit_field_boundary(s->f[1], AMBIT_AXIS(1), AMBIT_REFLECT, 0);
  ambit_apply(s->p,
              kernel(s, "void step(const int *u, int *v, max float *change, sum int *total) {"
                        " *v = (u[-1][0] + u[1][0] + 3 * u[0][-1] + u[0][1] + step()) % 97;"
                        " *change = (float)*v; *total = *v; }"),
              s->f[0], s->f[1], s->change, s->total);
  ambit_apply(s->p, kernel(s, "void blur(const int *v, int *w) { *w += v[-1][1] - v[1][-1]; }"),
              s->f[1], s->f[2]);
  ambit_swap(s->p, s->f[0], s->f[1]);
  ambit_apply(s->p,
              kernel(s, "void mix(const int *u, const int *v, int *w) {"
                        " *w = (*w + u[-1][0] - v[0][1]) % 89; }"),
              s->f[0], s->f[1], s->f[2]);
}

/* Three fields that rotate twice per iteration and are also written in place. */
static void append_rotate(const scene *s)
{
  ambit_field *back[] = {s->f[1], s->f[2]};

  for (int i = 0; i < 2; i++)
    ambit_field_fill(s->f[i], start_value, NULL);
  for (int i = 0; i < FIELDS; i++)
    ambit_field_boundary(s->f[i], AMBIT_ALL_FACES, i == 2 ? AMBIT_REFLECT : AMBIT_PERIODIC, 0);
  ambit_apply(s->p,
              kernel(s, "void wave(const int *past, const int *now, int *next, max float *change) {"
                        " *next = (2 * *now - *past + now[0][2] + now[-1][-1]) % 101;"
                        " *change = (float)*next; }"),
              s->f[0], s->f[1], s->f[2], s->change);
  ambit_rotate(s->p, FIELDS, s->f);
  ambit_apply(s->p, kernel(s, "void sow(int *u, sum int *total) { *u += 1; *total = *u; }"),
              s->f[0], s->total);
  ambit_rotate(s->p, 2, back);
}

/* ---- the state after a run ---- */

typedef struct outcome {
  int32_t cells[FIELDS][CELLS];
  double scalars[3];
  int64_t iterations, counted;
  int converged;
  ambit_status status;
} outcome;

static void look(const scene *s, outcome *o)
{
  const int64_t lo[] = {0, 0}, hi[] = {ROWS, COLUMNS};
  ambit_stats stats;

  memset(o, 0, sizeof *o);
  o->status = ambit_error(s->a);
  ambit_error_clear(s->a);
  for (int i = 0; i < FIELDS; i++)
    ambit_field_read(s->f[i], lo, hi, o->cells[i]);
  o->scalars[0] = ambit_scalar_get(s->count);
  o->scalars[1] = ambit_scalar_get(s->change);
  o->scalars[2] = ambit_scalar_get(s->total);
  o->iterations = ambit_program_iterations(s->p);
  stats = *ambit_program_stats(s->p, 0);
  o->counted = stats.iterations;
  o->converged = ambit_program_converged(s->p);
  CHECK_OK(s->a);
}

/* Changes the values of the next iterations, and records what it saw. */
static int meddle(ambit_program *p, int64_t iteration, void *user)
{
  const scene *s = user;
  const int64_t lo[] = {2, 3}, hi[] = {3, 4};
  int32_t cell;

  (void)p;
  ambit_field_read(s->f[0], lo, hi, &cell);
  cell += (int32_t)(iteration + (int64_t)ambit_scalar_get(s->change));
  ambit_field_write(s->f[0], lo, hi, &cell);
  return 0;
}

typedef struct run {
  bool rotate;   /* false: swap */
  int64_t above; /* the bound of count */
  int64_t check, every, most;
} run;

enum { STAGES = 3 };

/* Runs until the condition holds, continues without it, and once more with it. */
static void play(const char *device, const run *r, outcome o[STAGES])
{
  scene s = set_up(device);

  (r->rotate ? append_rotate : append_swap)(&s);
  append_scalars(&s);
  ambit_program_check_every(s.p, r->check);
  if (r->every) ambit_on_iteration(s.p, r->every, meddle, &s);
  ambit_run_until(s.p, s.count, AMBIT_ABOVE, (double)r->above, r->most);
  look(&s, &o[0]);
  ambit_run(s.p, 3);
  look(&s, &o[1]);
  ambit_run_until(s.p, s.count, AMBIT_ABOVE, (double)r->above + 9, r->most);
  look(&s, &o[2]);
  ambit_close(s.a);
}

static void compare(const run *r)
{
  static outcome want[STAGES], got[STAGES];

  EACH_DEVICE_AND_LATE(device)
  {
    play(*device, r, !strcmp(*device, "ref") ? want : got);
    if (!strcmp(*device, "ref")) continue;
    for (int i = 0; i < STAGES; i++)
      CHECK_MSG(!memcmp(&want[i], &got[i], sizeof got[i]),
                "%s, %s, above %lld, check %lld, every %lld, most %lld: stage %d ends at %lld, not "
                "%lld, or in other cells",
                *device, r->rotate ? "rotate" : "swap", (long long)r->above, (long long)r->check,
                (long long)r->every, (long long)r->most, i, (long long)got[i].iterations,
                (long long)want[i].iterations);
  }
}

static void the_answer_is_that_of_the_first_iteration_that_met_the_condition(void)
{
  static const int64_t above[] = {-1, 1, 30}, checks[] = {1, 7};

  for (int rotate = 0; rotate < 2; rotate++)
    for (int i = 0; i < 3; i++)
      for (int k = 0; k < 2; k++)
        compare(&(run){.rotate = rotate, .above = above[i], .check = checks[k], .most = 100});
}

static void a_run_that_never_ends_by_itself_has_all_its_iterations(void)
{
  for (int rotate = 0; rotate < 2; rotate++)
    for (int64_t check = 1; check < 50; check += 16)
      compare(&(run){.rotate = rotate, .above = 1000, .check = check, .most = 41});
}

static void callbacks_see_the_truth_and_may_change_it(void)
{
  static const int64_t every[] = {1, 5, 12};

  for (int rotate = 0; rotate < 2; rotate++)
    for (int i = 0; i < 3; i++)
      for (int64_t check = 1; check < 8; check += 6)
        compare(
            &(run){.rotate = rotate, .above = 23, .check = check, .every = every[i], .most = 100});
}

/* ---- conditions ---- */

static void every_type_and_condition_ends_a_run_on_the_device_as_on_the_host(void)
{
  static const struct {
    const char *text;
    ambit_type type;
  } kinds[] = {{"void k(float *s) { *s += 0.5f; }", AMBIT_F32},
               {"void k(double *s) { *s += 0.5; }", AMBIT_F64},
               {"void k(int *s) { *s += 1; }", AMBIT_I32},
               {"void k(unsigned char *s) { *s += 1; }", AMBIT_U8},
               {"void k(short *s) { *s += 1; }", AMBIT_I16},
               {"void k(long *s) { *s += 1; }", AMBIT_I64}};

  EACH_DEVICE_AND_LATE(device)
  {
    scene s = set_up(*device);

    for (int i = 0; i < 6; i++) {
      const int64_t per_one = kinds[i].type == AMBIT_F32 || kinds[i].type == AMBIT_F64 ? 2 : 1;
      ambit_scalar *x = ambit_scalar_create(s.a, "x", kinds[i].type);
      ambit_program *p = ambit_program_create(s.g);

      ambit_apply(p, kernel(&s, kinds[i].text), x);
      ambit_run_until(p, x, AMBIT_AT_MOST, 1.0 / (double)per_one, 100);
      CHECK_EQ(1, ambit_program_iterations(p));
      ambit_run_until(p, x, AMBIT_ABOVE, 4, 100);
      CHECK_EQ(4 * per_one + 1, ambit_program_iterations(p));
      ambit_run_until(p, x, AMBIT_AT_LEAST, 6, 100);
      CHECK_EQ(6 * per_one, ambit_program_iterations(p));
      ambit_run_until(p, x, AMBIT_EQUAL, 9, 100);
      CHECK_EQ(9 * per_one, ambit_program_iterations(p));
      CHECK(ambit_scalar_get(x) == 9);
      ambit_run_until(p, x, AMBIT_BELOW, 9.75, 100);
      CHECK_EQ(per_one == 2, ambit_program_converged(p));
      CHECK_EQ(per_one == 2 ? 19 : 109, ambit_program_iterations(p));
    }
    CHECK_OK(s.a);
    ambit_close(s.a);
  }
}

static void a_bound_is_compared_in_double(void)
{
  EACH_DEVICE_AND_LATE(device)
  {
    scene s = set_up(*device);
    ambit_scalar *x = ambit_scalar_create(s.a, "x", AMBIT_F32);

    ambit_apply(s.p,
                kernel(&s, "void tenth(float *x, long *count) { *count += 1;"
                           " *x = *count > 5 ? 0.1f : 0.0f; }"),
                x, s.count);
    ambit_run_until(s.p, x, AMBIT_EQUAL, 0.1, 20); /* 0.1f is more than 0.1 */
    CHECK(!ambit_program_converged(s.p));
    ambit_run_until(s.p, x, AMBIT_ABOVE, 0.1, 20);
    CHECK_EQ(21, ambit_program_iterations(s.p));
    ambit_close(s.a);
  }
}

static void a_value_that_is_not_finite_leaves_the_fields_of_that_iteration(void)
{
  static const char *const values[] = {"-NAN", "INFINITY", "-INFINITY"};
  static const char *const words[] = {"nan", "inf", "-inf"}; /* a NaN has no sign */

  for (int i = 0; i < 3; i++) {
    static outcome want, got;
    char text[200], want_text[80];

    snprintf(text, sizeof text, "void bad(double *x) { *x = step() == 11 ? %s : 1.0; }", values[i]);
    snprintf(want_text, sizeof want_text, "after iteration 12 the scalar 'rest' is %s,", words[i]);
    EACH_DEVICE_AND_LATE(device)
    {
      scene s = set_up(*device);
      ambit_scalar *x = ambit_scalar_create(s.a, "rest", AMBIT_F64);

      append_swap(&s);
      ambit_apply(s.p, kernel(&s, text), x);
      ambit_program_check_every(s.p, 3);
      ambit_run_until(s.p, x, AMBIT_BELOW, 0.5, 100);
      CHECK_MSG(strstr(ambit_error_text(s.a), want_text), "%s", ambit_error_text(s.a));
      look(&s, !strcmp(*device, "ref") ? &want : &got);
      CHECK_EQ(AMBIT_EPROGRAM, want.status);
      CHECK_MSG(!strcmp(*device, "ref") || !memcmp(&want, &got, sizeof got), "%s, %s", *device,
                values[i]);
      ambit_close(s.a);
    }
  }
}

/* ---- callbacks with side effects ---- */

static int run_other(ambit_program *p, int64_t iteration, void *user)
{
  (void)p;
  (void)iteration;
  ambit_run(user, 2);
  return 0;
}

static int check_more_often(ambit_program *p, int64_t iteration, void *user)
{
  (void)iteration;
  (void)user;
  ambit_program_check_every(p, 2);
  return 0;
}

/* Also in the iteration that ends the run. */
static void a_callback_may_run_other_programs(void)
{
  EACH_DEVICE_AND_LATE(device)
  {
    scene s = set_up(*device);
    ambit_program *other = ambit_program_create(s.g);
    ambit_scalar *x = ambit_scalar_create(s.a, "x", AMBIT_I64);

    ambit_apply(s.p, kernel(&s, "void k(long *s) { *s += 1; }"), s.count);
    ambit_apply(other, kernel(&s, "void k(long *s) { *s += 1; }"), x);
    ambit_on_iteration(s.p, 4, run_other, other);
    ambit_run_until(s.p, s.count, AMBIT_ABOVE, 11, 100);
    CHECK_EQ(12, ambit_program_iterations(s.p));
    CHECK_EQ(6, ambit_scalar_get(x));
    CHECK_OK(s.a);
    ambit_close(s.a);
  }
}

static void a_callback_may_change_how_often_is_checked(void)
{
  EACH_DEVICE_AND_LATE(device)
  {
    scene s = set_up(*device);

    ambit_apply(s.p, kernel(&s, "void k(long *s) { *s += 1; }"), s.count);
    ambit_program_check_every(s.p, 50);
    ambit_on_iteration(s.p, 10, check_more_often, NULL);
    ambit_run_until(s.p, s.count, AMBIT_ABOVE, 3, 100);
    CHECK_EQ(11, ambit_program_iterations(s.p)); /* it was due long ago */
    ambit_close(s.a);
  }
}

/* ---- waiting ---- */

static void the_host_runs_ahead_and_waits_once_in_a_while(void)
{
  scene s = set_up("late");

  append_swap(&s);
  append_scalars(&s);
  ambit_run(s.p, 1);
  late.waits = 0;
  ambit_run_until(s.p, s.count, AMBIT_ABOVE, 1000, 80);
  CHECK_MSG(late.waits <= 80 / 8 + 1, "%d",
            late.waits); /* one report in eight iterations, and one at the end */
  CHECK_MSG(late.most >= 16 && late.most < 24, "%d", late.most);
  CHECK_EQ(0, late.void_work);
  late.waits = 0;
  ambit_run(s.p, 300);
  CHECK_EQ(1, late.waits);
  ambit_close(s.a);
}

static void what_is_behind_the_end_changes_nothing_and_is_not_counted(void)
{
  scene s = set_up("late");
  ambit_stats stats;

  append_swap(&s);
  append_scalars(&s);
  ambit_run_until(s.p, s.count, AMBIT_ABOVE, 2, 80);
  CHECK(late.void_work > 0);
  CHECK_EQ(3, ambit_program_iterations(s.p));
  stats = *ambit_program_stats(s.p, 0);
  CHECK_EQ(3, stats.iterations);
  CHECK(stats.cells == 3.0 * (2 * CELLS + (ROWS - 1) * COLUMNS));
  ambit_close(s.a);
}

static int count_up(const ambit_part *part, void *user)
{
  (void)user;
  ((int *)part->fields[0].values)[0] += 10;
  return 0;
}

/* Steps that are no kernels: a copy, or a function of the user. */
static void copies_and_own_steps_end_with_the_run(void)
{
  static const char *const devices[] = {"ref", "cpu", "late", "opencl", "cuda"};

  for (size_t d = 0; d < sizeof devices / sizeof *devices; d++)
    for (int own = 0; own < 2; own++) {
      int values[6];
      ambit *a;
      ambit_grid *g;
      ambit_field *u;
      ambit_scalar *most;
      ambit_program *p;

      if (!device_is_here(devices[d])) continue;
      a = ambit_open(NULL, NULL);
      ambit_option_set(a, "devices", devices[d]);
      g = ambit_grid_create(a, 1, (int64_t[]){6});
      u = ambit_field_create(g, "u", AMBIT_I32);
      most = ambit_scalar_create(a, "most", AMBIT_I32);
      p = ambit_program_create(g);
      ambit_apply(p, ambit_kernel_create(a, "void up(int *u, max int *m) { *u += 1; *m = *u; }"), u,
                  most);
      if (own)
        ambit_apply_host(p, count_up, NULL, 1, &u, (unsigned[]){AMBIT_READ | AMBIT_WRITE});
      else
        for (int64_t i = 5; i > 0; i--) /* every copy moves the values by a cell */
          ambit_copy_box(p, u, &(int64_t){i - 1}, &i, u, &i);
      ambit_field_write(u, NULL, NULL, (int[]){1, 2, 3, 4, 5, 0});
      ambit_run_until(p, most, AMBIT_ABOVE, own ? 20 : 6, 50);
      ambit_field_read(u, NULL, NULL, values);
      CHECK_OK(a);
      CHECK_EQ(own ? 3 : 2, ambit_program_iterations(p));
      CHECK_EQ(own ? 34 : 3, values[0]);
      CHECK_EQ(own ? 3 : 6, values[5]);
      ambit_close(a);
    }
}

/* Counts the OpenCL calls that wait. */
static int waits;
static ambit__cl_api real;

static cl_int count_finish(cl_command_queue q)
{
  waits++;
  return real.clFinish(q);
}

static cl_int count_events(cl_uint n, const cl_event *events)
{
  waits++;
  return real.clWaitForEvents(n, events);
}

static void opencl_is_not_waited_for_in_every_check(void)
{
  scene s;

  if (!device_is_here("opencl")) SKIP("there is no OpenCL device");
  s = set_up("opencl");
  append_swap(&s);
  append_scalars(&s);
  ambit_run_until(s.p, s.count, AMBIT_ABOVE, 1000, 1); /* all kernels are built */
  real = ambit__cl;
  ambit__cl.clFinish = count_finish;
  ambit__cl.clWaitForEvents = count_events;
  ambit_run_until(s.p, s.count, AMBIT_ABOVE, 1000, 80);
  ambit__cl = real;
  CHECK_MSG(waits > 0 && waits <= 80 / 8 + 1, "%d", waits);
  CHECK_OK(s.a);
  ambit_close(s.a);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"the_answer_is_that_of_the_first_iteration_that_met_the_condition",
       the_answer_is_that_of_the_first_iteration_that_met_the_condition},
      {"a_run_that_never_ends_by_itself_has_all_its_iterations",
       a_run_that_never_ends_by_itself_has_all_its_iterations},
      {"callbacks_see_the_truth_and_may_change_it", callbacks_see_the_truth_and_may_change_it},
      {"every_type_and_condition_ends_a_run_on_the_device_as_on_the_host",
       every_type_and_condition_ends_a_run_on_the_device_as_on_the_host},
      {"a_bound_is_compared_in_double", a_bound_is_compared_in_double},
      {"a_value_that_is_not_finite_leaves_the_fields_of_that_iteration",
       a_value_that_is_not_finite_leaves_the_fields_of_that_iteration},
      {"a_callback_may_run_other_programs", a_callback_may_run_other_programs},
      {"a_callback_may_change_how_often_is_checked", a_callback_may_change_how_often_is_checked},
      {"the_host_runs_ahead_and_waits_once_in_a_while",
       the_host_runs_ahead_and_waits_once_in_a_while},
      {"what_is_behind_the_end_changes_nothing_and_is_not_counted",
       what_is_behind_the_end_changes_nothing_and_is_not_counted},
      {"copies_and_own_steps_end_with_the_run", copies_and_own_steps_end_with_the_run},
      {"opencl_is_not_waited_for_in_every_check", opencl_is_not_waited_for_in_every_check},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
