/* SPDX-License-Identifier: BSD-3-Clause */
/* Several devices of different speed share a grid: results, threads, failures. */
#include "device/cpu/machine.h"
#include "runtime/run/balance.h"
#include "runtime/run/run.h"
#include "runtime/runtime_test.h"
#include "runtime/sleep/sleep.h"
#include "support/folder.h"
#include "support/slow.h"

#include <pthread.h>
#include <string.h>

enum { ROWS = 96, COLUMNS = 80 };

static const char rule[] =
    AMBIT_SOURCE(void heat(const float *u, float *v, float k, sum float *total) {
      *v = *u + k * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u);
      *total = *v;
    });

typedef struct sheet {
  ambit *a;
  ambit_field *u, *v;
  ambit_scalar *total;
  ambit_program *p;
} sheet;

static double fill(const int64_t *cell, int component, void *user)
{
  (void)component, (void)user;
  return (double)((cell[0] * 7919 + cell[1] * 104729) % 1009) / 1009;
}

static sheet open_sheet(const char *devices, const char *weights)
{
  sheet s = {.a = open_on(devices)};
  ambit_grid *g;

  ambit_option_set(s.a, "strict", "1");
  ambit_option_set(s.a, "threads", "1");
  ambit_option_set(s.a, "weights", weights);
  ambit_option_set(s.a, "cache", folder); /* without the weights that earlier tests remembered */
  g = grid_2d(s.a, ROWS, COLUMNS);
  s.u = ambit_field_create(g, "u", AMBIT_F32);
  s.v = ambit_field_create(g, "v", AMBIT_F32);
  s.total = ambit_scalar_create(s.a, "total", AMBIT_F32);
  s.p = ambit_program_create(g);
  ambit_field_boundary(s.u, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_field_fill(s.u, fill, NULL);
  ambit_apply(s.p, ambit_kernel_create(s.a, rule), s.u, s.v, 0.2, s.total);
  ambit_swap(s.p, s.u, s.v);
  return s;
}

typedef struct outcome {
  float cells[ROWS * COLUMNS];
  double total;
} outcome;

static void run(const char *devices, int64_t iterations, outcome *o)
{
  sheet s = open_sheet(devices, "");

  memset(o, 0, sizeof *o);
  ambit_run(s.p, iterations);
  ambit_field_read(s.u, NULL, NULL, o->cells);
  o->total = ambit_scalar_get(s.total);
  CHECK_OK(s.a);
  ambit_close(s.a);
}

static void devices_together_compute_what_ref_computes(void)
{
  static const char *const together[] = {"cpu,slow", "slow,cpu*2", "cpu*2,slow*3", NULL};
  static outcome want, got;

  run("ref", 25, &want);
  for (int i = 0; together[i]; i++) {
    run(together[i], 25, &got);
    CHECK_MSG(!memcmp(&want, &got, sizeof want), "on %s", together[i]);
  }
}

/* One part waits for the other and has no border of its own in the step that is split. */
static void a_step_that_sums_runs_once_where_cells_go_one_way(void)
{
  static const char text[] = "void grow(int *u, sum int *total) { *u += 2; *total = *u; }"
                             "void shift(const int *u, int *v) { *v += u[-1]; }";
  static const char *const together[] = {"ref", "cpu,slow", "slow,cpu"};
  int want[41] = {0}, got[41];

  for (int i = 0; i < 3; i++) {
    ambit *a = open_on(together[i]);
    ambit_grid *g = ambit_grid_create(a, 1, (int64_t[]){20});
    ambit_field *u = ambit_field_create(g, "u", AMBIT_I32);
    ambit_field *v = ambit_field_create(g, "v", AMBIT_I32);
    ambit_scalar *total = ambit_scalar_create(a, "total", AMBIT_I32);
    ambit_program *p = ambit_program_create(g);
    ambit_kernel *k = ambit_kernel_create(a, text);

    ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
    ambit_apply(p, k, u, total);
    ambit_apply(p, ambit_kernel_find(k, "shift"), u, v);
    ambit_run(p, 5);
    ambit_field_read(u, NULL, NULL, got);
    ambit_field_read(v, NULL, NULL, got + 20);
    got[40] = (int)ambit_scalar_get(total);
    CHECK_OK(a);
    ambit_close(a);
    if (!i) memcpy(want, got, sizeof want);
    CHECK_MSG(!memcmp(want, got, sizeof want), "on %s: u %d, total %d, not %d", together[i], got[0],
              got[40], want[40]);
  }
}

/* Devices among others have no totals of their own (device/driven.h). */
static void a_profile_is_summed_on_devices_together(void)
{
  static const char *const together[] = {"ref", "cpu,slow", "slow,cpu"};
  int want[30] = {0}, got[30];

  for (int i = 0; i < 3; i++) {
    ambit *a = open_on(together[i]);
    ambit_grid *g = ambit_grid_create(a, 2, (int64_t[]){20, 30});
    ambit_field *u = ambit_field_create(g, "u", AMBIT_I32);
    ambit_field *sums = ambit_field_create_on(g, "sums", AMBIT_I32, AMBIT_AXIS(1));
    ambit_program *p = ambit_program_create(g);
    const char *text = "void add(int *u, sum int *sums) { *u += index(0) * index(1); *sums = *u; }";

    ambit_apply(p, ambit_kernel_create(a, text), u, sums);
    ambit_run(p, 3);
    ambit_field_read(sums, NULL, NULL, got);
    CHECK_OK(a);
    ambit_close(a);
    if (!i) memcpy(want, got, sizeof want);
    CHECK_MSG(!memcmp(want, got, sizeof want), "on %s", together[i]);
  }
}

static const char diffusion[] = AMBIT_SOURCE(void diffuse(const float *u, float *v) {
  *v = *u + 0.2f * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u);
});

/* Twelve iterations, `depth` of them with one exchange, of a program without reductions. */
static void run_deep(const char *devices, const char *depth, ambit_boundary kind, float *cells)
{
  ambit *a = open_on(devices);
  ambit_grid *g;
  ambit_field *u, *v;
  ambit_program *p;

  ambit_option_set(a, "strict", "1");
  ambit_option_set(a, "threads", "1");
  ambit_option_set(a, "depth", depth);
  g = grid_2d(a, ROWS, COLUMNS);
  u = ambit_field_create(g, "u", AMBIT_F32);
  v = ambit_field_create(g, "v", AMBIT_F32);
  p = ambit_program_create(g);
  ambit_field_boundary(u, AMBIT_ALL_FACES, kind, 1);
  ambit_field_fill(u, fill, NULL);
  ambit_apply(p, ambit_kernel_create(a, diffusion), u, v);
  ambit_swap(p, u, v);
  ambit_run(p, 5);
  ambit_run(p, 7);
  ambit_field_read(u, NULL, NULL, cells);
  CHECK_OK(a);
  ambit_close(a);
}

/* A deep halo widens the fields, whose old memory the threads of the devices still copy from. */
static void devices_together_share_one_exchange_between_iterations(void)
{
  static const char *const together[] = {"cpu,slow", "slow:0,slow:1*2", NULL};
  static const ambit_boundary kinds[] = {AMBIT_PERIODIC, AMBIT_CLAMP};
  static float want[ROWS * COLUMNS], got[ROWS * COLUMNS];

  for (int k = 0; k < 2; k++) {
    run_deep("ref", "1", kinds[k], want);
    for (int i = 0; together[i]; i++) {
      memset(got, 0, sizeof got);
      run_deep(together[i], k ? "4" : "3", kinds[k], got);
      CHECK_MSG(!memcmp(want, got, sizeof want), "on %s, boundary %d", together[i], k);
    }
  }
}

/* The device of a context whose user names none. */
static void check_default(const char *want)
{
  ambit *a = ambit_open(NULL, NULL);

  CHECK_STR("auto", ambit_option_get(a, "devices"));
  ambit_grid_create(a, 1, (int64_t[]){8});
  CHECK_STR(want, ambit_option_get(a, "devices"));
  CHECK_OK(a);
  ambit_close(a);
}

static int none(void)
{
  return 0;
}

static void the_default_is_the_fastest_device_here(void)
{
  const char *const best = ambit__backend_cuda.count()    ? "cuda"
                           : ambit__backend_opencl.fast() ? "opencl"
                                                          : "cpu";

  unsetenv("AMBIT_DEVICES");
  check_default(best);
  slow_backend.fast = none;
  check_default(best);
  slow_backend.fast = slow_backend.count;
  check_default(strcmp(best, "cpu") ? best : "slow"); /* the last in the list */
  slow_backend.fast = NULL;
  CHECK(ambit__backend_opencl.fast() <= ambit__backend_opencl.count());
  setenv("AMBIT_DEVICES", "cpu", 1);
}

/* With weights, the cores stay beside a GPU that is much faster. */
static ambit *open_on_all(int gpus)
{
  ambit *a = open_on("all");

  if (gpus == 1) ambit_option_set(a, "weights", "1,1");
  return a;
}

static void all_is_every_gpu_and_the_cores(void)
{
  int fast = ambit__backend_cuda.count();
  ambit *a;

  if (!fast) fast = ambit__backend_opencl.fast();
  if (fast > 1) SKIP("there are several GPUs");
  a = open_on_all(fast);
  ambit_grid_create(a, 1, (int64_t[]){8});
  CHECK_EQ(fast + 1, a->nengines);
  CHECK(a->engines[fast].backend == &ambit__backend_cpu);
  CHECK_OK(a);
  ambit_close(a);
  slow_backend.fast = slow_backend.count;
  a = open_on_all(fast);
  ambit_grid_create(a, 1, (int64_t[]){8});
  CHECK_EQ(fast + (fast ? 1 : 3), a->nengines);
  CHECK_OK(a);
  ambit_close(a);
  slow_backend.fast = NULL;
}

static pthread_t launcher;

static ambit_status look(ambit__queue *q, const ambit__command *c)
{
  if (c->kind == COMMAND_launch) launcher = pthread_self();
  return slow_execute(q, c);
}

static void a_device_among_others_computes_on_its_own_thread(void)
{
  static outcome o;

  slow_backend.execute = look;
  run("slow", 3, &o);
  CHECK(pthread_equal(launcher, pthread_self()));
  run("cpu,slow", 3, &o);
  CHECK(!pthread_equal(launcher, pthread_self()));
  slow_backend.execute = slow_execute;
}

/* ---- tiles ---- */

static atomic_int inside;

/* Waits until the other device runs its tiles too. */
static ambit_status meet(ambit__queue *q, const ambit__command *c)
{
  const double end = ambit__clock() + 200;

  if (c->kind != COMMAND_tiles) return slow_execute(q, c);
  inside++;
  while (inside < 2 && ambit__clock() < end)
    nanosleep(&(struct timespec){0, 100000}, NULL);
  CHECK_MSG(inside >= 2, "the other device waits for this one");
  return slow_execute(q, c);
}

static void devices_run_their_tiles_at_the_same_time(void)
{
  static outcome want, got;
  sheet s;

  run("ref", 20, &want);
  slow_backend.execute = slow_second.execute = meet;
  slow_backend.can |= AMBIT__CAN(tiles);
  slow_second.can |= AMBIT__CAN(tiles);
  s = open_sheet("slow:0,slow:1", "1,1");
  ambit_option_set(s.a, "sleep", "on");
  ambit_run(s.p, 20);
  ambit_field_read(s.u, NULL, NULL, got.cells);
  got.total = ambit_scalar_get(s.total);
  CHECK_OK(s.a);
  CHECK(s.p->sleep && s.p->sleep->iterations == 20);
  ambit_close(s.a);
  CHECK(!memcmp(&want, &got, sizeof want));
  slow_add();
}

/* ---- balance ---- */

/* Devices in slow motion, if a cell takes longer than the fastest of them is to need. */
#ifdef __SANITIZE_THREAD__
enum { PACE = 24 };
#else
enum { PACE = 4 };
#endif

static bool dry; /* the plate never runs */

/* A plate on two devices, which need so many ns for a cell. */
static sheet open_plate(const char *weights, double first, double second)
{
  enum { PLATE = 400 };
  sheet s = {.a = open_on("slow:0,slow:1")};
  ambit_grid *g;

  slow_ns[0] = PACE * first;
  slow_ns[1] = PACE * second;
  ambit_option_set(s.a, "threads", "1");
  ambit_option_set(s.a, "depth", "1");
  ambit_option_set(s.a, "weights", weights);
  ambit_option_set(s.a, "cache", folder);
  if (dry) CHECK_EQ(AMBIT_OK, ambit__pretend(s.a, 0, 1));
  g = grid_2d(s.a, PLATE, PLATE);
  s.u = ambit_field_create(g, "u", AMBIT_F32);
  s.v = ambit_field_create(g, "v", AMBIT_F32);
  s.total = ambit_scalar_create(s.a, "total", AMBIT_F32);
  s.p = ambit_program_create(g);
  ambit_field_boundary(s.u, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
  ambit_field_fill(s.u, fill, NULL);
  ambit_apply(s.p, ambit_kernel_create(s.a, rule), s.u, s.v, 0.2, s.total);
  ambit_swap(s.p, s.u, s.v);
  return s;
}

/* The speed at the present cut in parts of that at the ideal one. */
static double quality(const sheet *s)
{
  const ambit_grid *g = s->p->grid;
  const double share = (double)ambit__box_volume(&g->parts[0]) / (double)ambit__box_volume(&g->box);
  const double first = share * slow_ns[0], second = (1 - share) * slow_ns[1];
  const double ideal = 1 / (1 / slow_ns[0] + 1 / slow_ns[1]);

  return ideal / (first > second ? first : second);
}

/* Runs until the cut is good; a busy machine may disturb some measurements. */
static double settle(const sheet *s)
{
  double best = 0;

  for (int i = 0; i < 40 && best < 0.9; i++) {
    const double now = (ambit_run(s->p, 50), quality(s));

    if (now > best) best = now;
  }
  return best;
}

static void the_cut_follows_the_speed_of_devices(void)
{
  sheet s = open_plate("auto", 8, 16);
  double got;

  CHECK(quality(&s) < 0.7); /* two halves */
  got = settle(&s);
  CHECK_MSG(got >= 0.9, "%g of the ideal", got);
  slow_ns[0] = PACE * 32; /* now the other one is faster */
  CHECK(quality(&s) < 0.7);
  got = settle(&s);
  CHECK_MSG(got >= 0.9, "%g of the ideal after a change", got);
  CHECK(s.p->balance->recuts >= 2);
  CHECK_OK(s.a);
  ambit_close(s.a);
}

static double corner(const int64_t *cell, int component, void *user)
{
  (void)component, (void)user;
  return cell[0] + cell[1] == 0;
}

/* Until nothing changes, on devices without sleeping tiles: the end is found at the same iteration
 * though the cut moves before it. The value of a corner reaches the others in 399 iterations, and
 * one finds out. A busy machine may disturb measurements. */
static void the_cut_moves_in_runs_until_nothing_changes(void)
{
  static const char far[] = AMBIT_SOURCE(void far(const float *u, float *v) {
    *v = fmaxf(fmaxf(*u, u[-1][-1]), fmaxf(u[-1][0], u[0][-1]));
  });
  sheet s = open_plate("auto", 8, 16);
  ambit_program *p = ambit_program_create(s.p->grid);
  int64_t runs = 0;

  ambit_apply(p, ambit_kernel_create(s.a, far), s.u, s.v);
  ambit_swap(p, s.u, s.v);
  do {
    ambit_field_fill(s.u, corner, NULL);
    CHECK_EQ(AMBIT_OK, ambit_run_until_still(p, 1000));
    CHECK_EQ(1, ambit_program_converged(p));
    CHECK_EQ(400 * ++runs, ambit_program_iterations(p));
  } while (p->balance->recuts == 0 && runs < 10);
  CHECK(p->balance->recuts > 0 && !p->sleep);
  CHECK_OK(s.a);
  ambit_close(s.a);
}

/* Runs in which tiles sleep are not measured: their iterations do not count either. */
static void iterations_of_sleeping_tiles_are_not_measured(void)
{
  sheet s;
  int64_t before;

  slow_backend.can |= AMBIT__CAN(tiles);
  slow_second.can |= AMBIT__CAN(tiles);
  s = open_sheet("slow:0,slow:1", "auto");
  ambit_option_set(s.a, "sleep", "on");
  ambit_run(s.p, 1);
  before = s.p->balance->iterations;
  CHECK_EQ(BALANCE_BEGIN, s.p->balance->stage);
  ambit_run_until_still(s.p, 9);
  CHECK_OK(s.a);
  CHECK(s.p->sleep && ambit_program_iterations(s.p) > 1);
  CHECK_EQ(before, s.p->balance->iterations);
  ambit_run(s.p, 1); /* the second of two to warm up */
  CHECK_EQ(BALANCE_END, s.p->balance->stage);
  ambit_close(s.a);
  slow_add();
}

/* Starts where the last run ended, which the test before this one left in the folder. */
static void weights_are_remembered(void)
{
  sheet s = open_plate("auto", 32, 16);

  ambit_run(s.p, 1);
  CHECK(folder_files() > 0);
  CHECK(s.p->balance->recalled);
  CHECK(quality(&s) >= 0.8);
  CHECK_OK(s.a);
  ambit_close(s.a);
}

/* `ambit explain` finds them in a context whose programs never run. */
static void remembered_weights_are_found_without_running(void)
{
  double weights[AMBIT__SHOWN_WEIGHTS];
  sheet s;

  dry = true;
  s = open_plate("auto", 32, 16);
  dry = false;
  CHECK_EQ(AMBIT_OK, ambit__program_seal(s.p));
  CHECK(ambit__balance_remembers(s.p, weights));
  CHECK_NEAR(2.2, weights[1] / weights[0], 0.7); /* a cut with 0.9 of the ideal speed */
  s.a->settings.strict = true;                   /* another program */
  CHECK(!ambit__balance_remembers(s.p, weights));
  CHECK_OK(s.a);
  ambit_close(s.a);
}

static void given_weights_stay(void)
{
  sheet s = open_plate("1,3", 8, 2);

  ambit_run(s.p, 100);
  CHECK_NEAR(0.25, (double)ambit__box_volume(&s.p->grid->parts[0]) / 160000, 0.002);
  CHECK_OK(s.a);
  ambit_close(s.a);
}

static void a_device_that_adds_next_to_nothing_is_left_out(void)
{
  sheet s;

#ifdef __SANITIZE_THREAD__
  SKIP("kernels take so long under the thread sanitizer that the devices are too much alike");
#endif
  folder_remove(); /* and what is remembered there */
  CHECK(folder_make());
  s = open_plate("auto", 8, 1000);
  for (int i = 0; i < 40 && s.p->grid->nparts > 1; i++)
    ambit_run(s.p, 4);
  CHECK_EQ(1, s.p->grid->nparts);
  CHECK(s.p->balance->gain > 0 && s.p->balance->gain < 0.02);
  ambit_run(s.p, 3);
  CHECK_OK(s.a);
  ambit_close(s.a);
}

static void a_device_that_fails_in_mid_run_is_named(void)
{
  sheet s;

  slow_ns[0] = 0;
  s = open_sheet("cpu,slow", "1,1");
  slow_fails_in = 40;
  CHECK_EQ(AMBIT_EDEVICE, ambit_run(s.p, 100));
  CHECK(slow_fails_in < 0);
  CHECK_FAILED(s.a, AMBIT_EDEVICE, "device slow:0: a cable was pulled");
  ambit_run(s.p, 10); /* mended */
  CHECK_OK(s.a);
  ambit_close(s.a);
}

/* A core is left to the thread that drives other devices, while these have cells. */
static void cores_that_have_all_cells_use_all_threads(void)
{
  static const double shares[][2] = {{1, 1}, {1, 0}, {3, 1}, {1, 0}};
  const int cores = ambit__machine_cores();
  ambit *a = open_on("cpu,slow");
  ambit_grid *g;

  ambit_option_set(a, "weights", "1,1");
  g = grid_2d(a, ROWS, COLUMNS);
  for (int i = 0; i < 5 && cores > 1; i++) {
    const bool alone = i == 1 || i == 3;
    ambit__device_info info;
    bool moved = false;

    if (i && i < 4) CHECK_EQ(AMBIT_OK, ambit__grid_recut(g, shares[i], &moved));
    CHECK_EQ(i && i < 4, moved);
    if (i == 4) grid_2d(a, ROWS, COLUMNS); /* on both */
    a->engines[0].device->backend->info(a->engines[0].device, &info);
    CHECK_EQ(alone ? cores : cores - 1, info.cores);
  }
  CHECK_OK(a);
  ambit_close(a);
}

int main(int argc, char **argv)
{
  int bad;

#define T(name)                                                                                    \
  {                                                                                                \
#    name, name                                                                                    \
  }
  static const test_case tests[] = {T(the_default_is_the_fastest_device_here),
                                    T(all_is_every_gpu_and_the_cores),
                                    T(devices_together_compute_what_ref_computes),
                                    T(a_step_that_sums_runs_once_where_cells_go_one_way),
                                    T(a_profile_is_summed_on_devices_together),
                                    T(devices_together_share_one_exchange_between_iterations),
                                    T(a_device_among_others_computes_on_its_own_thread),
                                    T(devices_run_their_tiles_at_the_same_time),
                                    T(iterations_of_sleeping_tiles_are_not_measured),
                                    T(the_cut_moves_in_runs_until_nothing_changes),
                                    T(the_cut_follows_the_speed_of_devices),
                                    T(weights_are_remembered),
                                    T(remembered_weights_are_found_without_running),
                                    T(given_weights_stay),
                                    T(a_device_that_adds_next_to_nothing_is_left_out),
                                    T(cores_that_have_all_cells_use_all_threads),
                                    T(a_device_that_fails_in_mid_run_is_named),
                                    {0}};
#undef T

  slow_add();
  if (!folder_make()) return 1;
  bad = test_main(argc, argv, tests);
  folder_remove();
  return bad;
}
