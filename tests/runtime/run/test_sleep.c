/* SPDX-License-Identifier: BSD-3-Clause */
/* Sleeping tiles: the same bits as with everything computed, on any number of parts and processes,
 * whatever wakes them. Under mpirun all processes run this; values are the same on each. */
#include "runtime/run/run.h"
#include "runtime/sleep/sleep.h"
#include "support/devices.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { H = 40, W = 300 };

void __wrap_ambit__tile_size(int ndims, ambit__tile_worker worker, int64_t *size);

/* The linker replaces ambit__tile_size by this. */
void __wrap_ambit__tile_size(int ndims, ambit__tile_worker worker, int64_t *size)
{
  (void)worker;
  for (int d = 0; d < ndims - 1; d++)
    size[d] = 4;
  size[ndims - 1] = 64;
}

typedef struct world {
  ambit *a;
  ambit_grid *g;
  ambit_field *u, *v;
  ambit_scalar *s;
  ambit_program *p;
  ambit_field *more[4]; /* of meddle */
  bool append;
} world;

static const char spread[] = "void spread(const int *u, int *v)\n" /* of the largest value */
                             "{ int m = *u;\n"
                             "  for (int i = -1; i <= 1; i++)\n"
                             "    for (int j = -1; j <= 1; j++)\n"
                             "      m = u[i][j] - 1 > m ? u[i][j] - 1 : m;\n"
                             "  *v = m; }\n";

/* A few cells have values; they spread as far as they are high. */
static double islands(const int64_t *i, int c, void *user)
{
  (void)c, (void)user;
  return i[0] == 11 && i[1] == 130 ? 20 : i[0] == 39 && i[1] == 2 ? 9 : 0;
}

static world make_world(const char *devices, const char *sleep, ambit_boundary kind)
{
  world w = {.a = ambit_open(NULL, NULL)};

  ambit_option_set(w.a, "devices", devices);
  ambit_option_set(w.a, "sleep", sleep);
  if (strchr(devices, ',')) ambit_option_set(w.a, "weights", "1,1"); /* the cut stays */
  ambit_option_set(w.a, "strict", "1");
  w.g = ambit_grid_create(w.a, 2, (int64_t[]){H, W});
  w.u = ambit_field_create(w.g, "u", AMBIT_I32);
  w.v = ambit_field_create(w.g, "v", AMBIT_I32);
  w.s = ambit_scalar_create(w.a, "s", AMBIT_I32);
  ambit_field_boundary(w.u, AMBIT_ALL_FACES, kind, 0);
  ambit_field_boundary(w.v, AMBIT_ALL_FACES, kind, 0);
  ambit_field_fill(w.u, islands, NULL);
  w.p = ambit_program_create(w.g);
  return w;
}

static world make_spread(const char *devices, const char *sleep, ambit_boundary kind)
{
  world w = make_world(devices, sleep, kind);

  ambit_apply(w.p, ambit_kernel_create(w.a, spread), w.u, w.v);
  ambit_swap(w.p, w.u, w.v);
  return w;
}

static void check_same(ambit_field *want, ambit_field *got, const char *what)
{
  int32_t *a = calloc(H * W, sizeof *a), *b = calloc(H * W, sizeof *b);

  CHECK_EQ(AMBIT_OK, ambit_field_read(want, NULL, NULL, a));
  CHECK_EQ(AMBIT_OK, ambit_field_read(got, NULL, NULL, b));
  for (int i = 0; i < H * W; i++)
    if (a[i] != b[i]) {
      CHECK_MSG(0, "%s: cell [%d][%d] is %d, not %d", what, i / W, i % W, b[i], a[i]);
      break;
    }
  free(a);
  free(b);
}

static void end_worlds(world *w, int n)
{
  for (int i = 0; i < n; i++) {
    CHECK_MSG(!ambit_error(w[i].a), "%s", ambit_error_text(w[i].a));
    ambit_close(w[i].a);
  }
}

static double share_asleep(const world *w)
{
  double tiles = 0, slept = 0;

  CHECK_EQ(AMBIT_OK, ambit__sleep_share(w->p, &tiles, &slept));
  return tiles > 0 ? slept / tiles : 0;
}

/* Parts of cores, then of every GPU. Compilers for OpenCL on a CPU are slow: processes share them
 * in the first test only, and some tests do without. */
typedef enum fewer { ALL, ALONE, FAST } fewer;

static bool are_alone(void)
{
  ambit *a = ambit_open(NULL, NULL);
  const bool alone = ambit_processes(a) == 1;

  ambit_close(a);
  return alone;
}

static const char *place_at(int i, fewer which)
{
  static const char *const cores[] = {"cpu", "cpu*2", "cpu*3", "cpu*4"};
  static const char *const gpus[] = {"cuda", "opencl", "cuda", "opencl"};
  static const char *const parts[] = {"cuda*2", "opencl*2", "cuda,cpu", "opencl,cpu"};

  if (i < 4) return cores[i];
  for (int k = 0; k < 4; k++)
    if (device_is_here(gpus[k]) && ((which == ALL && k < 2) || are_alone()) &&
        !(which == FAST && compiles_slowly(gpus[k])) && i-- == 4)
      return parts[k];
  return NULL;
}

#define EACH_PLACE(i, place, which)                                                                \
  for (int i = 0; i < 8; i++)                                                                      \
    for (const char *place = place_at(i, which); place; place = NULL)

static bool is_gpu(const char *place)
{
  return strncmp(place, "cpu", 3) != 0;
}

static void a_front_is_the_same_and_the_rest_sleeps(void)
{
  static const ambit_boundary kinds[] = {AMBIT_CONSTANT, AMBIT_PERIODIC, AMBIT_CLAMP, AMBIT_FIXED};

  EACH_PLACE(i, place, ALL)
  {
    world w[] = {make_spread("cpu", "off", kinds[i % 4]), make_spread(place, "on", kinds[i % 4])};

    for (int k = 0; k < 30; k += 3) {
      ambit_run(w[0].p, 3);
      ambit_run(w[1].p, 3);
      check_same(w[0].u, w[1].u, place);
      check_same(w[0].v, w[1].v, place);
    }
    CHECK_MSG(share_asleep(&w[1]) > 0.5, "%g slept", share_asleep(&w[1]));
    end_worlds(w, 2);
  }
}

static void a_run_ends_when_nothing_changes(void)
{
  EACH_PLACE(i, place, ALONE)
  {
    world w[] = {make_spread("cpu", "off", AMBIT_PERIODIC),
                 make_spread(place, is_gpu(place) ? "on" : "auto", AMBIT_PERIODIC)};

    for (int k = 0; k < 2; k++) {
      CHECK_EQ(AMBIT_OK, ambit_run_until_still(w[k].p, 1000));
      CHECK_EQ(1, ambit_program_converged(w[k].p));
    }
    CHECK_EQ(20, ambit_program_iterations(w[0].p)); /* 19 spread the value 20, and one finds out */
    CHECK_EQ(20, ambit_program_iterations(w[1].p));
    check_same(w[0].u, w[1].u, place);
    CHECK_EQ(AMBIT_OK, ambit_run_until_still(w[1].p, 1));
    CHECK_EQ(0, ambit_program_converged(w[1].p)); /* the first of a run has none to compare with */
    CHECK_EQ(AMBIT_OK, ambit_run_until_still(w[1].p, 9));
    CHECK_EQ(23, ambit_program_iterations(w[1].p));
    end_worlds(w, 2);
  }
}

/* Ways to disturb a run that ends when nothing changes. */
enum { OVERWRITE, SET_OTHER, APPEND, DISTURBANCES };

/* After iteration 19: sets a field that no result depends on, or appends steps with more fields. */
static int meddle(ambit_program *p, int64_t iteration, void *user)
{
  const world *w = user;
  ambit_kernel *copy =
      ambit_kernel_create(w->a, "void copy(const int *u, int *v) { *v = *u + u[0][1]; }");

  if (iteration != 19) return 0;
  ambit_field_set(w->more[0], 5);
  for (int i = 1; w->append && i < 4; i++)
    ambit_apply(p, copy, i == 1 ? w->u : w->more[i - 1], w->more[i]);
  return 0;
}

/* The result of `spread` is overwritten before it runs again, so tiles cannot compare it. */
static void run_disturbed(world *w, int what)
{
  static const char *const names[] = {"w", "a", "b", "c"};

  for (int i = 0; i < 4; i++) {
    w->more[i] = ambit_field_create(w->g, names[i], AMBIT_I32);
    ambit_field_boundary(w->more[i], AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
  }
  w->append = what == APPEND;
  ambit_field_set(w->more[0], 5);
  if (what == OVERWRITE)
    ambit_apply(w->p, ambit_kernel_create(w->a, "void cap(int *u) { *u = *u > 15 ? 15 : *u; }"),
                w->u);
  ambit_apply(w->p, ambit_kernel_create(w->a, spread), w->u, w->v);
  ambit_swap(w->p, w->u, w->v);
  ambit_apply(w->p,
              ambit_kernel_create(w->a, "void least(int *w, min int *s) { *w += 0; *s = *w; }"),
              w->more[0], w->s);
  if (what != OVERWRITE) ambit_on_iteration(w->p, 1, meddle, w);
  CHECK_EQ(AMBIT_OK, ambit_run_until_still(w->p, 60));
  CHECK_EQ(1, ambit_program_converged(w->p));
}

static void a_run_ends_at_the_same_iteration_however_that_is_found(void)
{
  static const int64_t ends[] = {16, 21, 21};

  for (int what = 0; what < DISTURBANCES; what++)
    EACH_PLACE(i, place, FAST)
    {
      world w[] = {make_world("cpu", "off", AMBIT_PERIODIC),
                   make_world(place, "auto", AMBIT_PERIODIC)};

      for (int k = 0; k < 2; k++) {
        run_disturbed(&w[k], what);
        CHECK_EQ(ends[what], ambit_program_iterations(w[k].p));
      }
      check_same(w[0].u, w[1].u, place);
      end_worlds(w, 2);
    }
}

static void find_rest(const char *device, const char *depth, int64_t every, ambit_field *want)
{
  const int64_t end = (20 + every - 1) / every * every;
  world w = make_spread(device, "off", AMBIT_PERIODIC);

  ambit_option_set(w.a, "depth", depth);
  CHECK_EQ(AMBIT_OK, ambit_program_check_every(w.p, every));
  CHECK_EQ(AMBIT_OK, ambit_run_until_still(w.p, end - 1)); /* checked at the end in any case */
  CHECK_EQ(end > 20, ambit_program_converged(w.p));
  CHECK_EQ(AMBIT_OK, ambit_run_until_still(w.p, 1));
  CHECK_EQ(0, ambit_program_converged(w.p));
  CHECK_EQ(AMBIT_OK, ambit_run_until_still(w.p, 1000));
  CHECK_EQ(1, ambit_program_converged(w.p));
  CHECK_EQ(end + (every > 1 ? every : 2), ambit_program_iterations(w.p));
  check_same(want, w.u, device);
  end_worlds(&w, 1);
}

static int leave_alone(ambit_program *p, int64_t iteration, void *user)
{
  (void)p, (void)iteration, (void)user;
  return 0;
}

/* Three fields trade places, so two iterations are compared before the last; a callback comes
 * between them. */
static void callbacks_do_not_hide_rest(void)
{
  EACH_PLACE(i, place, FAST)
  for (int sleeps = 0; sleeps < 2; sleeps++) {
    world w = make_world(place, sleeps ? "auto" : "off", AMBIT_PERIODIC);
    ambit_field *more = ambit_field_create(w.g, "more", AMBIT_I32);

    ambit_apply(w.p, ambit_kernel_create(w.a, "void same(int *u) { *u = 5; }"), w.u);
    ambit_rotate(w.p, 3, (ambit_field *[]){w.u, w.v, more});
    ambit_program_check_every(w.p, 6);
    ambit_run(w.p, 8);
    ambit_on_iteration(w.p, 3, leave_alone, NULL);
    CHECK_EQ(AMBIT_OK, ambit_run_until_still(w.p, 3));
    CHECK_EQ(11, ambit_program_iterations(w.p));
    CHECK_EQ(1, ambit_program_converged(w.p));
    end_worlds(&w, 1);
  }
}

/* Values are compared on the device or on the host, and only around checks; in between, several
 * iterations may run at once. */
static void rest_is_found_without_sleeping_tiles(void)
{
  static const int64_t every[] = {1, 7, 16};
  world want = make_spread("cpu", "off", AMBIT_PERIODIC);

  ambit_run(want.p, 30);
  EACH_DEVICE(d)
  {
    const bool alone = !strcmp(*d, "ref"); /* it has one part, and one iteration at a time */

    for (int i = 0; i < (alone ? 3 : 6) && (!alone || ambit_processes(want.a) == 1); i++)
      find_rest(*d, i < 3 ? "1" : "4", every[i % 3], want.u);
  }
  end_worlds(&want, 1);
}

/* A NaN stays one, though its bits are others in every iteration. */
static void from_nan_to_nan_is_no_change(void)
{
  static const ambit_type types[] = {AMBIT_F32, AMBIT_F64, AMBIT_F16, AMBIT_BF16};

  if (!are_alone()) SKIP("there is more than one process");
  EACH_DEVICE(d)
  for (int t = 0; t < 4; t++)
    for (int sleep = 0; sleep < 2; sleep++) {
      ambit *a = ambit_open(NULL, NULL);
      const bool wide = types[t] == AMBIT_F64;
      const char *type = ambit_type_name(types[t]);
      ambit_grid *g;
      ambit_field *u, *v;
      ambit_program *p;
      char text[256];

      ambit_option_set(a, "devices", *d);
      ambit_option_set(a, "sleep", sleep ? "on" : "off");
      ambit_option_set(a, "strict", "1");
      g = ambit_grid_create(a, 2, (int64_t[]){H, W});
      u = ambit_field_create(g, "u", types[t]);
      v = ambit_field_create(g, "v", types[t]);
      p = ambit_program_create(g);
      /* the sign of a NaN changes at each step */
      snprintf(text, sizeof text, "void turn(const %s *u, %s *v) { *v = *u != *u ? -*u : %s; }",
               type, type, wide ? "fmin(*u + 1, 3)" : "fminf(*u + 1, 3)");
      ambit_field_set(u, (double)NAN);
      ambit_field_write(u, (int64_t[]){3, 5}, (int64_t[]){4, 6}, (double[]){0});
      ambit_apply(p, ambit_kernel_create(a, text), u, v);
      ambit_swap(p, u, v);
      CHECK_EQ(AMBIT_OK, ambit_run_until_still(p, 20));
      CHECK_MSG(ambit_program_converged(p) && ambit_program_iterations(p) == 4,
                "%s, %s, sleep %d: %d after %d iterations", *d, type, sleep,
                ambit_program_converged(p), (int)ambit_program_iterations(p));
      ambit_close(a);
    }
}

/* Writes a cell, changes a boundary, runs another program. */
static void disturb(const world *w, int round)
{
  const int32_t nine[] = {9, 9};

  if (round % 4 == 0)
    ambit_field_write(w->u, AMBIT_INDEX(20, 200 + round), AMBIT_INDEX(21, 202 + round), nine);
  if (round % 4 == 1) ambit_field_boundary(w->u, AMBIT_LOW(0), AMBIT_CONSTANT, 7);
  if (round % 4 == 2) {
    ambit_program *p = ambit_program_create(w->g);
    static const char plus[] = "void plus(int *u) { *u = index(1) == 63 ? 11 : *u; }";

    ambit_apply(p, ambit_kernel_create(w->a, plus), w->u);
    ambit_run(p, 1);
    ambit_program_destroy(p);
  }
  if (round % 4 == 3) ambit_field_boundary(w->u, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
}

static int call_back(ambit_program *p, int64_t iteration, void *user)
{
  (void)p;
  disturb(user, (int)iteration / 12);
  return 0;
}

static void tiles_are_woken_from_outside(void)
{
  EACH_PLACE(i, place, ALONE)
  for (int in_callback = 0; in_callback < 2; in_callback++) {
    world w[] = {make_spread("cpu", "off", AMBIT_CONSTANT),
                 make_spread(place, "on", AMBIT_CONSTANT)};

    for (int k = 0; k < 2; k++)
      if (in_callback) {
        ambit_on_iteration(w[k].p, 12, call_back, &w[k]);
        ambit_run(w[k].p, 60);
      } else {
        for (int round = 0; round < 5; round++) {
          ambit_run(w[k].p, 12);
          disturb(&w[k], round);
        }
      }
    check_same(w[0].u, w[1].u, place);
    check_same(w[0].v, w[1].v, place);
    end_worlds(w, 2);
  }
}

/* Reductions over all cells, those of sleeping tiles too; and a scalar that wakes all. */
static void reductions_include_sleeping_tiles(void)
{
  static const char count[] = "void count(const int *u, int *v, sum int *s, max int *m, int by)\n"
                              "{ int x = *u > u[0][-1] ? *u : u[0][-1];\n"
                              "  *v = x > 0 ? x + by : 0; *s = x; *m = x; }\n";

  EACH_PLACE(i, place, ALONE)
  {
    world w[] = {make_world("cpu", "off", AMBIT_CLAMP), make_world(place, "on", AMBIT_CLAMP)};

    for (int k = 0; k < 2; k++) {
      ambit_scalar *m = ambit_scalar_create(w[k].a, "m", AMBIT_I32);
      ambit_scalar *by = ambit_scalar_create(w[k].a, "by", AMBIT_I32);

      ambit_apply(w[k].p, ambit_kernel_create(w[k].a, count), w[k].u, w[k].v, w[k].s, m, by);
      ambit_swap(w[k].p, w[k].u, w[k].v);
      ambit_run(w[k].p, 25);
      ambit_scalar_set(by, 1);
      ambit_run(w[k].p, 3);
      ambit_scalar_set(by, 0);
      ambit_run(w[k].p, 25);
    }
    CHECK_EQ((int)ambit_scalar_get(w[0].s), (int)ambit_scalar_get(w[1].s));
    check_same(w[0].u, w[1].u, place);
    CHECK(share_asleep(&w[1]) > 0.3);
    end_worlds(w, 2);
  }
}

/* Three fields rotate; step() never lets tiles sleep. */
static void rotations_and_step_numbers_are_right(void)
{
  static const char wave[] = "void wave(const int *a, const int *b, int *c)\n"
                             "{ *c = (b[-1][0] + b[1][0] + b[0][-1] + b[0][1]) / 2 - *a; }\n";
  static const char blink[] =
      "void blink(int *c) { *c = index(0) == 5 && index(1) == 70 ? (int)step() % 7 : *c; }";

  for (int steps = 0; steps < 2; steps++)
    EACH_PLACE(i, place, FAST)
    {
      world w[] = {make_world("cpu", "off", AMBIT_PERIODIC),
                   make_world(place, "on", AMBIT_PERIODIC)};
      ambit_field *c[2];

      for (int k = 0; k < 2; k++) {
        c[k] = ambit_field_create(w[k].g, "c", AMBIT_I32);
        ambit_apply(w[k].p, ambit_kernel_create(w[k].a, wave), w[k].u, w[k].v, c[k]);
        if (steps) ambit_apply(w[k].p, ambit_kernel_create(w[k].a, blink), c[k]);
        ambit_rotate(w[k].p, 3, (ambit_field *[]){w[k].u, w[k].v, c[k]});
        ambit_run(w[k].p, 14);
      }
      check_same(w[0].u, w[1].u, place);
      check_same(w[0].v, w[1].v, place);
      check_same(c[0], c[1], place);
      end_worlds(w, 2);
    }
}

/* Two results of one step trade places: each is compared with values that the step overwrites. */
static void results_that_trade_places_are_right(void)
{
  static const char two[] = "void two(int *u, int *a, int *b)\n"
                            "{ *u = *u < 5 ? *u + 1 : 5; *a = *u; *b = 5 + (index(0) == 7); }\n";
  static const char near[] = "void near(const int *a, int *d) { *d = a[0][-1] + a[1][0]; }";

  EACH_PLACE(i, place, FAST)
  {
    world w[] = {make_world("cpu", "off", AMBIT_PERIODIC), make_world(place, "on", AMBIT_PERIODIC)};
    ambit_field *a[2], *d[2];

    for (int k = 0; k < 2; k++) {
      a[k] = ambit_field_create(w[k].g, "a", AMBIT_I32);
      d[k] = ambit_field_create(w[k].g, "d", AMBIT_I32);
      ambit_field_boundary(a[k], AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
      ambit_apply(w[k].p, ambit_kernel_create(w[k].a, two), w[k].u, a[k], w[k].v);
      ambit_apply(w[k].p, ambit_kernel_create(w[k].a, near), a[k], d[k]);
      ambit_swap(w[k].p, a[k], w[k].v);
      ambit_run(w[k].p, 17);
    }
    check_same(a[0], a[1], place);
    check_same(d[0], d[1], place);
    end_worlds(w, 2);
  }
}

/* Without being asked: trials find out whether tiles sleep, and stop if they wake. */
static void trials_find_programs_whose_tiles_sleep(void)
{
  static const char busy[] = "void busy(const int *u, int *v) { *v = *u + 1; }";
  world w[] = {make_spread("cpu", "auto", AMBIT_CONSTANT), make_world("cpu", "auto", AMBIT_CLAMP)};

  ambit_option_set(w[0].a, "depth", "1");
  ambit_apply(w[1].p, ambit_kernel_create(w[1].a, busy), w[1].u, w[1].v);
  ambit_swap(w[1].p, w[1].u, w[1].v);
  for (int k = 0; k < 2; k++)
    CHECK_EQ(AMBIT_OK, ambit_run(w[k].p, 300));
  CHECK(w[0].p->sleep && w[0].p->sleep->mode == SLEEP_ON);
  CHECK_MSG(share_asleep(&w[0]) > 0.9, "%g slept", share_asleep(&w[0]));
  CHECK(w[1].p->sleep && w[1].p->sleep->mode == SLEEP_OFF);
  CHECK(w[1].p->sleep->iterations <= 2 * 4);
  end_worlds(w, 2);
}

/* Messages without news are not sent: what arrives all the same is right. */
static void far_processes_are_told_only_what_changed(void)
{
  world w[] = {make_spread("cpu", "off", AMBIT_PERIODIC), make_spread("cpu", "on", AMBIT_PERIODIC)};
  int64_t n = 0;

  for (int k = 0; k < 2; k++)
    ambit_run(w[k].p, 40);
  check_same(w[0].u, w[1].u, "processes");
  for (int i = 0; i < w[1].p->nexchanges; i++)
    for (int m = 0; m < w[1].p->exchanges[i]->nchannels; m++)
      if (w[1].p->exchanges[i]->channels[m].notes) n += w[1].p->exchanges[i]->channels[m].left_out;
  if (ambit_processes(w[1].a) > 1) CHECK_MSG(n > 10, "%d messages were left out", (int)n);
  end_worlds(w, 2);
}

static void calls_take_null(void)
{
  CHECK_EQ(AMBIT_EINVAL, ambit_run_until_still(NULL, 1));
}

static const test_case tests[] = {
    {"a_front_is_the_same_and_the_rest_sleeps", a_front_is_the_same_and_the_rest_sleeps},
    {"a_run_ends_when_nothing_changes", a_run_ends_when_nothing_changes},
    {"a_run_ends_at_the_same_iteration_however_that_is_found",
     a_run_ends_at_the_same_iteration_however_that_is_found},
    {"callbacks_do_not_hide_rest", callbacks_do_not_hide_rest},
    {"rest_is_found_without_sleeping_tiles", rest_is_found_without_sleeping_tiles},
    {"from_nan_to_nan_is_no_change", from_nan_to_nan_is_no_change},
    {"tiles_are_woken_from_outside", tiles_are_woken_from_outside},
    {"reductions_include_sleeping_tiles", reductions_include_sleeping_tiles},
    {"rotations_and_step_numbers_are_right", rotations_and_step_numbers_are_right},
    {"results_that_trade_places_are_right", results_that_trade_places_are_right},
    {"trials_find_programs_whose_tiles_sleep", trials_find_programs_whose_tiles_sleep},
    {"far_processes_are_told_only_what_changed", far_processes_are_told_only_what_changed},
    {"calls_take_null", calls_take_null},
    {NULL, NULL}};

int main(int argc, char **argv)
{
  return test_main(argc, argv, tests);
}
