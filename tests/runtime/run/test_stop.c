/* SPDX-License-Identifier: BSD-3-Clause */
/* ambit_stop ends a run from another thread, and leaves the program as after any other run; the
 * memory of fields is where ambit_field_memory says. */
#include "runtime/places.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { ROWS = 40, COLUMNS = 50, CELLS = ROWS * COLUMNS };

static const char wave[] = "void wave(const double *past, const double *now, double *next)\n"
                           "{ *next = 2 * *now - *past + 0.2 * (now[-1][0] + now[1][0] + "
                           "now[0][-1] + now[0][1] - 4 * *now); }";
static const char count[] = "void count(double *u, max double *m) { *u += 1; *m = *u; }";

static double start(const int64_t *i, int component, void *user)
{
  (void)component, (void)user;
  return (double)((i[0] * 131 + i[1] * 17) % 97);
}

/* ---- a thread that stops ---- */

static atomic_bool done;

static void *stop_often(void *a)
{
  while (!atomic_load(&done)) { /* the first ones may come before the run has begun */
    nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
    ambit_stop(a);
  }
  return NULL;
}

static void run_stopped(ambit *a, ambit_program *p, ambit_scalar *s)
{
  const int64_t before = ambit_program_iterations(p);
  pthread_t thread;

  atomic_store(&done, false);
  CHECK(!pthread_create(&thread, NULL, stop_often, a));
  for (int i = 0; i < 10000 && ambit_program_iterations(p) == before; i++) { /* it may come first */
    if (s)
      ambit_run_until(p, s, AMBIT_BELOW, -1, INT64_MAX / 2);
    else
      ambit_run(p, INT64_MAX / 2);
  }
  atomic_store(&done, true);
  pthread_join(thread, NULL);
}

/* Three fields that rotate, at some depth and in the lean form or not. */
static ambit_program *waves(ambit *a, ambit_field **f)
{
  ambit_grid *g = grid_2d(a, ROWS, COLUMNS);
  ambit_program *p = ambit_program_create(g);

  for (int i = 0; i < 3; i++) {
    f[i] = ambit_field_create(g, i == 0 ? "past" : i == 1 ? "now" : "next", AMBIT_F64);
    ambit_field_boundary(f[i], AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
    ambit_field_fill(f[i], start, NULL);
  }
  ambit_apply(p, ambit_kernel_create(a, wave), f[0], f[1], f[2]);
  ambit_rotate(p, 3, f);
  return p;
}

static void compare_waves(const char *devices, const char *lean, const char *depth)
{
  ambit *a = open_strict(devices), *b = open_strict(devices);
  static double mine[CELLS], theirs[CELLS];
  ambit_field *f[3], *h[3];
  ambit_program *p, *q;

  ambit_option_set(a, "lean", lean);
  ambit_option_set(a, "depth", depth);
  p = waves(a, f);
  q = waves(b, h);
  for (int round = 0; round < 2; round++) {
    run_stopped(a, p, NULL);
    ambit_run(p, 3); /* it goes on */
    CHECK(ambit_program_iterations(p) > 3);
    CHECK(ambit_program_iterations(p) < INT64_MAX / 4);
  }
  ambit_run(q, ambit_program_iterations(p));
  for (int i = 0; i < 2; i++) { /* the third has values of no use */
    ambit_field_read(f[i], NULL, NULL, mine);
    ambit_field_read(h[i], NULL, NULL, theirs);
    CHECK_MSG(!memcmp(mine, theirs, sizeof mine), "%s, lean %s, depth %s: field %d", devices, lean,
              depth, i);
  }
  CHECK_OK(a);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
  CHECK_EQ(AMBIT_OK, ambit_close(b));
}

static void a_stopped_run_has_whole_iterations(void)
{
  compare_waves("cpu", "off", "1");
  compare_waves("cpu", "off", "4");
  compare_waves("cpu", "on", "auto");
  compare_waves("cpu*2", "off", "1");
}

static void a_run_until_a_condition_can_be_stopped(void)
{
  ambit *a = open_strict("cpu");
  ambit_grid *g = grid_2d(a, 5, 6);
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F64);
  ambit_scalar *m = ambit_scalar_create(a, "m", AMBIT_F64);
  ambit_program *p = ambit_program_create(g);
  double values[30];

  ambit_apply(p, ambit_kernel_create(a, count), u, m);
  for (int every = 1; every < 100; every += 98) {
    ambit_program_check_every(p, every);
    run_stopped(a, p, m);
    CHECK(!ambit_program_converged(p));
    ambit_field_read(u, NULL, NULL, values);
    CHECK(values[7] > 0);
    CHECK_EQ(ambit_program_iterations(p), (int64_t)values[7]);
  }
  ambit_stop(a); /* no run is in progress */
  ambit_run(p, 10);
  CHECK_EQ((int64_t)values[7] + 10, ambit_program_iterations(p));
  ambit_stop(NULL);
  CHECK_OK(a);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static int stop_in_callback(ambit_program *p, int64_t iteration, void *user)
{
  (void)p, (void)iteration;
  ambit_stop(user);
  return 0;
}

static void a_callback_can_stop_its_run(void)
{
  ambit *a = open_strict("cpu");
  ambit_grid *g = grid_2d(a, 5, 6);
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F64);
  ambit_scalar *m = ambit_scalar_create(a, "m", AMBIT_F64);
  ambit_program *p = ambit_program_create(g);

  ambit_apply(p, ambit_kernel_create(a, count), u, m);
  ambit_on_iteration(p, 7, stop_in_callback, a);
  ambit_run(p, 100);
  CHECK_EQ(7, ambit_program_iterations(p));
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

/* ---- memory ---- */

static void check_memory(ambit *a, int components, ambit_order order)
{
  ambit_grid *g = grid_2d(a, ROWS, COLUMNS);
  ambit_field *u = ambit_field_create_vector(g, "u", AMBIT_F32, components, order);
  ambit_kernel *sum = ambit_kernel_create(
      a, "void sum_of(const float *u[2], sum double *s) { *s = *u[0] + u[1][0][1]; }");
  ambit_scalar *s = ambit_scalar_create(a, "s", AMBIT_F64);
  ambit_program *p = ambit_program_create(g);
  ambit_memory m;

  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_field_fill(u, start, NULL);
  ambit_apply(p, sum, u, s);
  ambit_run(p, 1);
  CHECK_EQ(AMBIT_OK, ambit_field_memory(u, &m));
  CHECK_EQ(AMBIT_HOST_MEMORY, m.device);
  for (int64_t i = 0; i < ROWS; i++)
    for (int64_t j = 0; j < COLUMNS; j++)
      for (int c = 0; c < components; c++) {
        float *at =
            (float *)(void *)((char *)m.data + i * m.stride[0] + j * m.stride[1] + c * m.component);

        CHECK(*at == (float)start((int64_t[]){i, j}, c, NULL));
        *at = 2;
      }
  ambit_run(p, 1); /* ghost cells follow */
  CHECK(ambit_scalar_get(s) == 4.0 * CELLS);
}

static void the_memory_of_a_field_is_its_cells(void)
{
  ambit *a = open_strict("cpu");

  check_memory(a, 2, AMBIT_SOA);
  check_memory(a, 2, AMBIT_AOS);
  CHECK_OK(a);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static void check_refused(const char *devices, bool sparse, const char *words)
{
  ambit *a = open_strict(devices);
  ambit_grid *g = grid_2d(a, ROWS, COLUMNS);
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F32);
  ambit_memory m;

  ambit_on_error(a, NULL, NULL);
  if (sparse) {
    ambit_field_fill(u, start, NULL);
    u = ambit_field_create(ambit_grid_create_masked(u), "v", AMBIT_F32);
  }
  CHECK_EQ(AMBIT_EUNSUPPORTED, ambit_field_memory(u, &m));
  CHECK_MSG(strstr(ambit_error_text(a), words), "%s", ambit_error_text(a));
  ambit_error_clear(a);
  CHECK_EQ(AMBIT_EINVAL, ambit_field_memory(u, NULL));
  ambit_error_clear(a);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
  CHECK_EQ(AMBIT_EINVAL, ambit_field_memory(NULL, &m));
}

static void memory_that_is_not_one_array_is_refused(void)
{
  check_refused("cpu*2", false, "several parts");
  check_refused("cpu", true, "sparse");
  check_refused("ref", false, "device ref");
}

static const test_case cases[] = {
    {"a_stopped_run_has_whole_iterations", a_stopped_run_has_whole_iterations},
    {"a_run_until_a_condition_can_be_stopped", a_run_until_a_condition_can_be_stopped},
    {"a_callback_can_stop_its_run", a_callback_can_stop_its_run},
    {"the_memory_of_a_field_is_its_cells", the_memory_of_a_field_is_its_cells},
    {"memory_that_is_not_one_array_is_refused", memory_that_is_not_one_array_is_refused},
    {NULL, NULL}};

int main(int argc, char **argv)
{
  return test_main(argc, argv, cases);
}
