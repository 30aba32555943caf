/* SPDX-License-Identifier: BSD-3-Clause */
/* Several devices of different speed share a grid: results, threads, failures. */
#include "runtime_test.h"
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

static sheet open_sheet(const char *devices)
{
  sheet s = {.a = open_on(devices)};
  ambit_grid *g;

  ambit_option_set(s.a, "strict", "1");
  ambit_option_set(s.a, "threads", "1");
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
  sheet s = open_sheet(devices);

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

static pthread_t launcher;

static ambit_status look(ambit__queue *q, ambit__function *fn, const ambit__launch *l)
{
  launcher = pthread_self();
  return slow_launch(q, fn, l);
}

static void a_device_among_others_computes_on_its_own_thread(void)
{
  static outcome o;

  slow_backend.launch = look;
  run("slow", 3, &o);
  CHECK(pthread_equal(launcher, pthread_self()));
  run("cpu,slow", 3, &o);
  CHECK(!pthread_equal(launcher, pthread_self()));
  slow_backend.launch = slow_launch;
}

static void a_device_that_fails_in_mid_run_is_named(void)
{
  sheet s = open_sheet("cpu,slow");

  slow_fails_in = 40;
  CHECK_EQ(AMBIT_EDEVICE, ambit_run(s.p, 100));
  CHECK(slow_fails_in < 0);
  CHECK_FAILED(s.a, AMBIT_EDEVICE, "device slow:0: a cable was pulled");
  ambit_run(s.p, 10); /* mended */
  CHECK_OK(s.a);
  ambit_close(s.a);
}

int main(int argc, char **argv)
{
#define T(name)                                                                                    \
  {                                                                                                \
#    name, name                                                                                    \
  }
  static const test_case tests[] = {T(the_default_is_the_fastest_device_here),
                                    T(devices_together_compute_what_ref_computes),
                                    T(a_device_among_others_computes_on_its_own_thread),
                                    T(a_device_that_fails_in_mid_run_is_named),
                                    {0}};
#undef T

  slow_add();
  return test_main(argc, argv, tests);
}
