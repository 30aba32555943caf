/* SPDX-License-Identifier: BSD-3-Clause */
/* The option tune: the fastest plan is found in the first iterations of a run, remembered and used,
 * and results do not change. Plans that are slower than single iterations are given up.
 *
 * The device `timed` is `cpu` with a clock of its own: a launch takes a second, unless a test wants
 * it shorter, and a wave as long as it wants. */
#include "device/device.h"
#include "runtime/program/cycle.h"
#include "runtime/run/run.h"
#include "runtime/runtime_test.h"
#include "support/folder.h"

#include <stdio.h>
#include <string.h>

enum { CELLS = 256 * 64, FEW = 560, MANY = 920, LONG_RUN = 12000 };

/* ---- a device with its own clock ---- */

static double now; /* seconds; less than 0: the real clock */
static double launch_seconds = 1;
static double plain_share = 1;                       /* of these, for a launch of a plain nest */
static int waves;                                    /* so far */
static int version;                                  /* of the compiler of `timed` */
static int measured;                                 /* how often its speeds were */
static double (*wave_seconds)(const ambit__wave *w); /* per iteration, in launches */

double __real_ambit__clock(void);
double __wrap_ambit__clock(void);
double __wrap_ambit__clock(void)
{
  return now < 0 ? __real_ambit__clock() : now;
}

static ambit__backend timed;

static ambit_status timed_open(ambit__errors *errors, const ambit__settings *settings, int ordinal,
                               ambit__device **dev)
{
  ambit_status s = ambit__backend_cpu.open(errors, settings, ordinal, dev);

  if (s) return s;
  (*dev)->backend = &timed;
  /* One core that outruns its memory: the model prefers waves. */
  (*dev)->machine.l2 = 16 << 10;
  (*dev)->machine.l3 = 0;
  (*dev)->machine.measured = false; /* by a case with the device cpu */
  return s;
}

static void timed_info(ambit__device *dev, ambit__device_info *out)
{
  ambit__backend_cpu.info(dev, out);
  out->cores = 1;
  snprintf(out->identity, sizeof out->identity, "timed, compiler %d", version);
}

static ambit_status timed_execute(ambit__queue *q, const ambit__command *c)
{
  if (c->kind == COMMAND_launch)
    now += launch_seconds * (ambit__plan_begins(c->launch.fn->plan, "(cells") ? plain_share : 1);
  if (c->kind == COMMAND_wave) {
    now += wave_seconds(c->wave.wave) * c->wave.wave->iterations * launch_seconds;
    waves++;
  }
  return ambit__backend_cpu.execute(q, c);
}

static ambit_status timed_serve(ambit__device *dev, ambit__command *c)
{
  if (c->kind != COMMAND_measure) return ambit__backend_cpu.serve(dev, c);
  measured++; /* the recorded speeds will do */
  return AMBIT_OK;
}

static void timed_add(void)
{
  timed = ambit__backend_cpu;
  timed.name = "timed";
  timed.open = timed_open;
  timed.info = timed_info;
  timed.execute = timed_execute;
  timed.serve = timed_serve;
  timed.can &= ~(AMBIT__CAN(tiles) | AMBIT__CAN(measure)); /* the clock stands */
  ambit__backend_add(&timed);
}

static double slower(const ambit__wave *w)
{
  (void)w;
  return 1.01;
}

static double faster(const ambit__wave *w)
{
  (void)w;
  return 0.9;
}

/* As the first iterations of a program often are. */
static double slow_at_first(const ambit__wave *w)
{
  return now < 1.5 * w->iterations ? 2 : 0.9;
}

/* Other work takes a core for longer than two rounds each way. */
static double disturbed(const ambit__wave *w)
{
  return now < 7 * w->iterations * launch_seconds ? 2 : 0.9;
}

static int best_depth;

/* One depth is the fastest one, with as many rows as possible. */
static double deep_and_high(const ambit__wave *w)
{
  return (w->iterations == best_depth ? 0.5 : 0.8) - 1e-3 * (double)w->size.block;
}

/* Only one depth is faster than single iterations. */
static double one_depth(const ambit__wave *w)
{
  return w->iterations == best_depth ? 0.9 : 1.2;
}

static bool has_other; /* some wave was compiled by another compiler than the first one */

static double by_another(const ambit__wave *w)
{
  for (int i = 0; i < w->n; i++)
    if (w->stages[i].fn && ambit__plan_compiler(w->stages[i].fn->plan)) {
      has_other = true;
      return 0.5;
    }
  return 0.9;
}

/* ---- runs ---- */

static const char rule[] = AMBIT_SOURCE(void heat(const float *u, float *v, max float *total) {
  *v = *u + 0.2f * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u);
  *total = *v;
});

static double fill(const int64_t *cell, int component, void *user)
{
  (void)component, (void)user;
  return (double)((cell[0] * 7919 + cell[1] * 104729) % 1009) / 1009;
}

typedef struct outcome {
  float cells[CELLS];
  double total;
  int tuned, depth;                                      /* depth: of the cycle, 1: none */
  char plan[AMBIT__PLAN_CHARS], runs[AMBIT__PLAN_CHARS]; /* as remembered, and of the cycle */
  char step[AMBIT__PLAN_CHARS];                          /* of the kernel */
  int late;                                              /* waves of a second run */
  ambit__rival rival;                                    /* before the run */
} outcome;

static int64_t rows = 256; /* of the grid of `timed` */
static double estimate;    /* of an iteration, in seconds, in place of the model's; 0: that one */
static int64_t look;       /* iterations between callbacks; 0: none */
static const char *trials = "1"; /* the option trial */
static int looks;                /* so far, each after as many */

static int count_look(ambit_program *p, int64_t iteration, void *user)
{
  (void)p, (void)user;
  looks += iteration % look == 0;
  return 0;
}

static void run(const char *devices, bool alone, const char *tune, int64_t iterations, outcome *o)
{
  char *argv[] = {"test", alone ? "--ambit-mpi=off" : NULL, NULL}, **words = argv;
  const bool is_timed = !strcmp(devices, "timed");
  int argc = alone ? 2 : 1;
  ambit *a;
  ambit_field *u, *v;
  ambit_scalar *total;
  ambit_grid *g;
  ambit_program *p;

  now = is_timed ? 0 : -1;
  a = ambit_open(&argc, &words);
  ambit_option_set(a, "devices", devices);
  ambit_option_set(a, "strict", "1");
  ambit_option_set(a, "cache", folder);
  ambit_option_set(a, "tune", tune);
  ambit_option_set(a, "trial", trials);
  g = is_timed ? grid_2d(a, rows, 64) : grid_2d(a, 30, 20);
  u = ambit_field_create(g, "u", AMBIT_F32);
  v = ambit_field_create(g, "v", AMBIT_F32);
  total = ambit_scalar_create(a, "total", AMBIT_F32);
  p = ambit_program_create(g);
  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_field_fill(u, fill, NULL);
  ambit_apply(p, ambit_kernel_create(a, rule), u, v, total);
  ambit_swap(p, u, v);
  memset(o, 0, sizeof *o);
  if (look) ambit_on_iteration(p, look, count_look, NULL);
  CHECK_EQ(AMBIT_OK, ambit__program_seal(p));
  if (estimate > 0)
    p->rival.seconds = estimate;
  else
    CHECK_EQ(AMBIT_OK, ambit__cycle_find_rival(p)); /* a long run does so by itself */
  o->rival = p->rival;
  CHECK_EQ(AMBIT_OK, ambit_run(p, iterations));
  CHECK_EQ(iterations, ambit_program_iterations(p));
  ambit_field_read(u, NULL, NULL, o->cells);
  o->total = ambit_scalar_get(total);
  o->tuned = p->tuned;
  o->depth = p->cycle ? p->cycle->schedule.iterations : 1;
  snprintf(o->plan, sizeof o->plan, "%s", p->tuned_plan);
  ambit__cycle_print(p, o->runs);
  snprintf(o->step, sizeof o->step, "%s", p->applies[0].functions[0]->plan);
  waves = 0;
  ambit_run(p, 65);
  o->late = waves;
  CHECK_OK(a);
  ambit_close(a);
}

static void check_same(const outcome *want, const outcome *got)
{
  CHECK(!memcmp(want->cells, got->cells, sizeof want->cells));
  CHECK_NEAR(want->total, got->total, 0);
}

static int processes_here(void)
{
  ambit *a = ambit_open(NULL, NULL);
  const int n = ambit_processes(a);

  ambit_close(a);
  return n;
}

/* ---- tests ---- */

static void the_fastest_plan_is_found_and_remembered(void)
{
  static outcome want, tuned, got;
  const int few = processes_here() > 1 ? 7 * FEW : FEW; /* deeper waves save more messages */

  run("ref", true, "0", few, &want);
  run("cpu", false, "1", 5, &got); /* too few iterations */
  CHECK_EQ(0, got.tuned);
  run("cpu", false, "1", few, &tuned);
  check_same(&want, &tuned);
  CHECK(tuned.tuned >= 1);
  CHECK(folder_files() > 0);
  run("cpu", false, "0", few, &got); /* remembered */
  check_same(&want, &got);
  CHECK_EQ(tuned.tuned, got.tuned);
  CHECK_STR(tuned.plan, got.plan);
  if (got.tuned > 1)
    CHECK_STR(got.plan, got.runs);
  else /* single iterations, maybe by plain nests */
    CHECK(ambit__plan_begins(got.step, got.plan));
  run("cpu*2", false, "0", few, &got); /* another cut */
  check_same(&want, &got);
  CHECK_EQ(0, got.tuned);
}

static void rows_are_tuned_as_well_as_the_depth(void)
{
  static outcome first, got;

  wave_seconds = deep_and_high;
  version = 1;
  run("timed", true, "0", 5, &first);
  CHECK(first.depth > 3);
  best_depth = first.depth / 2;
  run("timed", true, "1", MANY, &got);
  CHECK_EQ(best_depth, got.tuned);
  CHECK_EQ(best_depth, got.depth);
  CHECK(ambit__wavefront_read(got.plan).size.block > ambit__wavefront_read(first.runs).size.block);
  CHECK_STR(got.plan, got.runs);
  CHECK(got.late > 0);
}

static void a_plan_is_forgotten_with_the_compiler(void)
{
  static outcome tuned, got;

  wave_seconds = deep_and_high;
  version = 2;
  run("timed", true, "1", MANY, &tuned);
  CHECK_EQ(best_depth, tuned.tuned);
  run("timed", true, "0", 5, &got);
  CHECK_EQ(best_depth, got.tuned);
  CHECK_STR(tuned.plan, got.runs);
  version = 3;
  run("timed", true, "0", 5, &got);
  CHECK_EQ(0, got.tuned);
  CHECK_STR("", got.plan);
}

/* 1 % slower, in the trial of the first run, and where plans are timed. */
static void what_is_slower_than_single_iterations_is_given_up(void)
{
  static outcome got;

  version = 4;
  wave_seconds = slower;
  run("timed", true, "0", 200, &got);
  CHECK(got.depth > 1); /* it was tried */
  CHECK_EQ(0, got.late);
  run("timed", true, "1", MANY, &got);
  CHECK_EQ(1, got.tuned);
  CHECK_EQ(1, got.depth);
  CHECK_EQ(0, got.late);
  version = 5;
  wave_seconds = faster;
  run("timed", true, "0", 200, &got);
  CHECK(got.late > 0);
  run("timed", true, "1", MANY, &got);
  CHECK(got.tuned > 1);
  CHECK(got.late > 0);
}

static void without_trials_the_model_decides(void)
{
  static outcome got;

  version = 12;
  wave_seconds = slower;
  trials = "0";
  run("timed", true, "0", 200, &got);
  trials = "1";
  CHECK_EQ(0, got.tuned);
  CHECK(got.late > 0);
}

static void a_slow_start_does_not_end_a_trial(void)
{
  static outcome got;

  version = 6;
  wave_seconds = slow_at_first;
  run("timed", true, "0", 200, &got);
  CHECK(got.late > 0);
}

static void short_iterations_are_tried_for_longer(void)
{
  static outcome got;

  version = 7;
  wave_seconds = disturbed;
  launch_seconds = 1e-5;
  run("timed", true, "0", 200, &got);
  launch_seconds = 1;
  CHECK(got.late > 0);
}

static void plain_nests_are_tried_too(void)
{
  static outcome got;

  version = 10;
  wave_seconds = slower;
  plain_share = 0.8;
  run("timed", true, "1", MANY, &got);
  CHECK_EQ(1, got.tuned);
  CHECK_STR("(cells", got.plan);
  run("timed", true, "0", 5, &got); /* remembered */
  CHECK_EQ(1, got.tuned);
  CHECK_MSG(ambit__plan_begins(got.step, "(cells"), "%s", got.step);
  plain_share = 1.5;
  version = 11;
  run("timed", true, "1", MANY, &got);
  CHECK_EQ(1, got.tuned);
  CHECK_STR("", got.plan);
  CHECK_MSG(!ambit__plan_begins(got.step, "(cells"), "%s", got.step);
  plain_share = 1;
}

/* ---- rivals ---- */

/* The model's depth is slower than single iterations, and so is given up; its rival, which is tried
 * two seconds later by estimate, between two callbacks, is not. */
static void a_long_run_tries_the_rival(void)
{
  enum { RUN = LONG_RUN }; /* more than 20 times the iterations of the trial */
  static outcome want, got;

  version = 8;
  rows = 64;
  wave_seconds = one_depth;
  best_depth = 1;
  look = 1000;
  run("timed", true, "0", RUN, &want); /* many short iterations are no long run */
  CHECK(want.rival.depth > 1 && want.rival.depth != want.depth);
  CHECK_EQ(0, want.tuned);
  CHECK_EQ(0, want.late);
  estimate = 21.0 / RUN;
  best_depth = want.rival.depth;
  looks = 0;
  run("timed", true, "0", RUN, &got);
  check_same(&want, &got);
  CHECK_EQ(best_depth, got.tuned);
  CHECK_EQ(best_depth, got.depth);
  CHECK(got.late > 0);
  CHECK_EQ(RUN / look, looks);
  run("timed", true, "0", RUN, &got); /* remembered */
  CHECK_EQ(best_depth, got.tuned);
  CHECK_EQ(0, got.rival.depth);
  version = 9;
  look = 50; /* there is no room for it */
  run("timed", true, "0", RUN, &got);
  CHECK_EQ(0, got.tuned);
  look = 0;
  estimate = 0;
  rows = 256;
}

/* With the option tune, and in long runs; remembered. */
static void waves_are_tried_by_another_compiler(void)
{
  static outcome want, got;

  wave_seconds = by_another;
  version = 19;
  trials = "0";
  run("timed", true, "0", LONG_RUN, &want);
  trials = "1";
  version = 20;
  run("timed", true, "1", MANY, &got);
  if (!has_other) SKIP("there is one C compiler");
  CHECK(got.tuned > 1 && ambit__plan_compiler(got.plan));
  CHECK_STR(got.plan, got.runs);
  CHECK(ambit__plan_compiler(got.step));
  run("timed", true, "0", LONG_RUN, &got); /* remembered */
  check_same(&want, &got);
  CHECK(ambit__plan_compiler(got.plan) && ambit__plan_compiler(got.step));
  version = 21;
  estimate = 21.0 / LONG_RUN;
  run("timed", true, "0", LONG_RUN, &got);
  check_same(&want, &got);
  CHECK(got.tuned > 1 && ambit__plan_compiler(got.plan));
  estimate = 0;
}

/* ---- the machine ---- */

static void a_device_is_measured_once_when_a_program_has_run_long(void)
{
  static outcome o;

  wave_seconds = slower;
  version = 30;
  timed.can |= AMBIT__CAN(measure);
  launch_seconds = 0.03;
  run("timed", true, "0", 60, &o); /* and 65 more, 3.8 s */
  CHECK_EQ(0, measured);
  launch_seconds = 0.05;
  run("timed", true, "0", 120, &o); /* two runs */
  CHECK_EQ(1, measured);
  timed.can &= ~AMBIT__CAN(measure);
  launch_seconds = 1;
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"the_fastest_plan_is_found_and_remembered", the_fastest_plan_is_found_and_remembered},
      {"rows_are_tuned_as_well_as_the_depth", rows_are_tuned_as_well_as_the_depth},
      {"a_plan_is_forgotten_with_the_compiler", a_plan_is_forgotten_with_the_compiler},
      {"what_is_slower_than_single_iterations_is_given_up",
       what_is_slower_than_single_iterations_is_given_up},
      {"without_trials_the_model_decides", without_trials_the_model_decides},
      {"a_slow_start_does_not_end_a_trial", a_slow_start_does_not_end_a_trial},
      {"short_iterations_are_tried_for_longer", short_iterations_are_tried_for_longer},
      {"plain_nests_are_tried_too", plain_nests_are_tried_too},
      {"a_long_run_tries_the_rival", a_long_run_tries_the_rival},
      {"waves_are_tried_by_another_compiler", waves_are_tried_by_another_compiler},
      {"a_device_is_measured_once_when_a_program_has_run_long",
       a_device_is_measured_once_when_a_program_has_run_long},
      {0}};
  int bad;

  timed_add();
  if (!folder_make()) return 1;
  bad = test_main(argc, argv, tests);
  folder_remove();
  return bad;
}
