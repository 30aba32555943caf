/* SPDX-License-Identifier: BSD-3-Clause */
/* Devices are measured before cells are placed: those far slower than the fastest are left out, the
 * others begin with shares in proportion. */
#include "runtime/objects/objects.h"
#include "runtime/runtime_test.h"
#include "support/slow.h"

#include <pthread.h>
#include <string.h>

enum { ROWS = 96, COLUMNS = 80, CELLS = ROWS * COLUMNS };

static const char rule[] = AMBIT_SOURCE(void heat(const float *u, float *v, sum float *total) {
  *v = *u + 0.2f * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u);
  *total = *v;
});

typedef struct sheet {
  ambit *a;
  ambit_grid *g;
  ambit_field *u;
  ambit_scalar *total;
  ambit_program *p;
} sheet;

static double fill(const int64_t *cell, int component, void *user)
{
  (void)component, (void)user;
  return (double)((cell[0] * 7919 + cell[1] * 104729) % 1009) / 1009;
}

/* A context on some devices, without a grid. */
static sheet open_sheet(const char *devices, const char *weights)
{
  sheet s = {.a = open_on(devices)};

  ambit_option_set(s.a, "strict", "1");
  ambit_option_set(s.a, "threads", "1");
  ambit_option_set(s.a, "weights", weights);
  return s;
}

static void make_program(sheet *s)
{
  ambit_field *v;

  s->g = grid_2d(s->a, ROWS, COLUMNS);
  s->u = ambit_field_create(s->g, "u", AMBIT_F32);
  v = ambit_field_create(s->g, "v", AMBIT_F32);
  s->total = ambit_scalar_create(s->a, "total", AMBIT_F32);
  s->p = ambit_program_create(s->g);
  ambit_field_boundary(s->u, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_field_fill(s->u, fill, NULL);
  ambit_apply(s->p, ambit_kernel_create(s->a, rule), s->u, v, s->total);
  ambit_swap(s->p, s->u, v);
}

static sheet open_program(const char *devices, const char *weights)
{
  sheet s = open_sheet(devices, weights);

  make_program(&s);
  CHECK_OK(s.a);
  return s;
}

static void close_sheet(const sheet *s)
{
  CHECK_OK(s->a);
  ambit_close(s->a);
}

/* Part i of all cells. */
static double share(const sheet *s, int i)
{
  return (double)ambit__box_volume(&s->g->parts[i]) / CELLS;
}

/* Runs, and compares with ref. */
static void check_result(const sheet *s)
{
  static float want[CELLS], got[CELLS];
  double total;
  sheet ref;

  setenv("AMBIT_MPI", "off", 1);
  ref = open_program("ref", "");
  unsetenv("AMBIT_MPI");
  ambit_run(ref.p, 12);
  ambit_field_read(ref.u, NULL, NULL, want);
  total = ambit_scalar_get(ref.total);
  close_sheet(&ref);
  ambit_run(s->p, 12);
  memset(got, 0, sizeof got);
  ambit_field_read(s->u, NULL, NULL, got);
  CHECK(!memcmp(want, got, sizeof want));
  CHECK(total == ambit_scalar_get(s->total));
}

/* What the report and `ambit explain` say about devices left out. */
static const char *words(const ambit *a)
{
  static char text[1000];
  FILE *f = fmemopen(text, sizeof text, "w");

  memset(text, 0, sizeof text);
  CHECK(f);
  ambit__offers_print(a, f);
  fclose(f);
  return text;
}

static pthread_t launcher;

static ambit_status look(ambit__queue *q, const ambit__command *c)
{
  if (c->kind == COMMAND_launch) launcher = pthread_self();
  return slow_execute(q, c);
}

/* Nothing is left of it but the words: no engine, no part, no thread. */
static void a_device_30_times_slower_is_left_out_at_once(void)
{
  sheet s;

  slow_copies(30e9, 1e9);
  slow_backend.execute = look;
  s = open_program("slow:1,slow:0", "auto");
  CHECK_EQ(1, s.a->nengines);
  CHECK_EQ(0, s.a->engines[0].ordinal);
  CHECK_EQ(ambit_processes(s.a), s.g->nparts);
  CHECK(!s.a->settings.companions);
  check_result(&s);
  CHECK(pthread_equal(launcher, pthread_self()));
  CHECK_MSG(strstr(words(s.a), ambit_processes(s.a) > 1
                                   ? "left out: slow:1 of process 1 copies 1 GB/s, slow:0 30 GB/s"
                                   : "left out: slow:1 copies 1 GB/s, slow:0 30 GB/s"),
            "%s", words(s.a));
  ambit_option_set(s.a, "weights", "1,1,1");
  CHECK(!grid_2d(s.a, ROWS, COLUMNS));
  CHECK_FAILED(s.a, AMBIT_EOPTION, "slow devices may have been left out");
  close_sheet(&s);
  slow_backend.execute = slow_execute;
}

static void the_one_left_may_have_several_parts(void)
{
  sheet s;

  slow_copies(1e9, 30e9);
  s = open_program("slow:0*2,slow:1*3", "auto");
  CHECK_EQ(1, s.a->nengines);
  CHECK_EQ(1, s.a->engines[0].ordinal);
  CHECK_EQ(3 * ambit_processes(s.a), s.g->nparts);
  check_result(&s);
  close_sheet(&s);
}

static void of_two_devices_on_one_chip_the_faster_is_kept(void)
{
  for (int second = 0; second < 2; second++) {
    sheet s;

    slow_copies(20e9 + second, 21e9 - 2e9 * !second);
    slow_is_one_chip = true;
    s = open_program("slow:0,slow:1", "auto");
    slow_is_one_chip = false;
    CHECK_EQ(1, s.a->nengines);
    CHECK_EQ(second, s.a->engines[0].ordinal);
    CHECK_MSG(strstr(words(s.a), second ? " is the same chip as slow:1, and"
                                        : " is the same chip as slow:0, and"),
              "%s", words(s.a));
    check_result(&s);
    close_sheet(&s);
  }
}

static void one_twice_slower_begins_with_a_third(void)
{
  sheet s;

  slow_copies(10e9, 5e9);
  s = open_program("slow:0,slow:1", "auto");
  CHECK_EQ(2, s.a->nengines);
  for (int i = 0; i < s.g->nparts; i++)
    CHECK_NEAR((i % 2 ? 1 : 2) / 3.0 / ambit_processes(s.a), share(&s, i), 0.02);
  CHECK_STR("", words(s.a));
  check_result(&s);
  close_sheet(&s);
  s = open_program("slow:0,slow:1*2", "auto"); /* two parts divide the share of their device */
  CHECK_NEAR(share(&s, 0), 4 * share(&s, 1), 0.08);
  close_sheet(&s);
}

static void given_weights_and_partitions_keep_all_devices(void)
{
  sheet s;
  char text[16], *end = text;

  slow_copies(30e9, 1e9);
  s = open_sheet("slow:0,slow:1", "1");
  for (int i = 1; i < 2 * ambit_processes(s.a); i++)
    end += snprintf(end, (size_t)(text + sizeof text - end), ",1");
  snprintf(end, (size_t)(text + sizeof text - end), ",1");
  ambit_option_set(s.a, "weights", text + 1);
  make_program(&s);
  CHECK_EQ(2, s.a->nengines);
  CHECK_NEAR(0.5 / ambit_processes(s.a), share(&s, 0), 0.02);
  CHECK_STR("", words(s.a));
  close_sheet(&s);

  s = open_sheet("slow:0,slow:1", "auto");
  ambit_option_set(s.a, "partition", ambit_processes(s.a) > 1 ? "4" : "2");
  make_program(&s);
  CHECK_EQ(2, s.a->nengines);
  CHECK(share(&s, 0) > 10 * share(&s, 1));
  close_sheet(&s);
}

static void an_unknown_bandwidth_leaves_parts_equal(void)
{
  sheet s;

  slow_copies(30e9, 0);
  s = open_program("slow:0,slow:1", "auto");
  CHECK_EQ(2, s.a->nengines);
  CHECK_NEAR(share(&s, 0), share(&s, 1), 0.02);
  CHECK_STR("", words(s.a));
  close_sheet(&s);
}

/* As `ambit explain` has it. */
static void a_context_that_never_runs_leaves_out_the_same(void)
{
  sheet s;

  slow_copies(30e9, 1e9);
  s = open_sheet("slow:0,slow:1", "auto");
  CHECK_EQ(AMBIT_OK, ambit__pretend(s.a, 1, 3));
  make_program(&s);
  CHECK_EQ(3, s.g->nparts);
  CHECK(strstr(words(s.a), "left out: slow:1 of process 2 copies 1 GB/s, slow:0 30 GB/s"));
  close_sheet(&s);
}

/* It keeps its part of the grid, without cells. */
static void a_process_with_nothing_but_a_slow_device_gets_no_cells(void)
{
  ambit *world = open_on("cpu");
  const int rank = ambit_process(world), size = ambit_processes(world);
  ambit_stats stats = {0};
  sheet s;

  ambit_close(world);
  if (size < 2) SKIP("there is only one process");
  slow_copies(30e9, 1e9);
  s = open_program(rank ? "slow:1" : "slow:0", "auto");
  CHECK_EQ(2, s.g->nparts);
  CHECK_NEAR(1, share(&s, 0), 0);
  CHECK(strstr(words(s.a), "left out: slow:1 of process 1 copies 1 GB/s, slow:0 30 GB/s"));
  check_result(&s);
  slow_ns[0] = 1000; /* of a cell: all processes count the time of the one that computes */
  ambit_run(s.p, 20);
  slow_ns[0] = 0;
  stats = *ambit_program_stats(s.p, 0);
  CHECK_MSG(stats.seconds > 20 * 1000e-9 * CELLS * 0.5, "%g s", stats.seconds);
  close_sheet(&s);
}

int main(int argc, char **argv)
{
#define T(name)                                                                                    \
  {                                                                                                \
#    name, name                                                                                    \
  }
  static const test_case tests[] = {T(a_device_30_times_slower_is_left_out_at_once),
                                    T(the_one_left_may_have_several_parts),
                                    T(of_two_devices_on_one_chip_the_faster_is_kept),
                                    T(one_twice_slower_begins_with_a_third),
                                    T(given_weights_and_partitions_keep_all_devices),
                                    T(an_unknown_bandwidth_leaves_parts_equal),
                                    T(a_context_that_never_runs_leaves_out_the_same),
                                    T(a_process_with_nothing_but_a_slow_device_gets_no_cells),
                                    {0}};
#undef T

  slow_add();
  return test_main(argc, argv, tests);
}
