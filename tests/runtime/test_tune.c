/* SPDX-License-Identifier: BSD-3-Clause */
/* The option tune: the fastest depth is found in the first iterations of a run, remembered and
 * used, and results do not change. */
#include "runtime/program/cycle.h"
#include "runtime/run/run.h"
#include "runtime_test.h"
#include "support/folder.h"

#include <string.h>

enum { ROWS = 60, COLUMNS = 70, MANY = 400 };

static const char rule[] = AMBIT_SOURCE(void heat(const float *u, float *v, sum float *total) {
  *v = *u + 0.2f * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u);
  *total = *v;
});

static double fill(const int64_t *cell, int component, void *user)
{
  (void)component, (void)user;
  return (double)((cell[0] * 7919 + cell[1] * 104729) % 1009) / 1009;
}

typedef struct outcome {
  float cells[ROWS * COLUMNS];
  double total;
  int tuned;
} outcome;

static void run(const char *devices, bool alone, const char *tune, int64_t iterations, outcome *o)
{
  char *argv[] = {"test", alone ? "--ambit-mpi=off" : NULL, NULL}, **words = argv;
  int argc = alone ? 2 : 1;
  ambit *a = ambit_open(&argc, &words);
  ambit_field *u, *v;
  ambit_scalar *total;
  ambit_grid *g;
  ambit_program *p;

  ambit_option_set(a, "devices", devices);
  ambit_option_set(a, "strict", "1");
  ambit_option_set(a, "cache", folder);
  ambit_option_set(a, "tune", tune);
  g = grid_2d(a, ROWS, COLUMNS);
  u = ambit_field_create(g, "u", AMBIT_F32);
  v = ambit_field_create(g, "v", AMBIT_F32);
  total = ambit_scalar_create(a, "total", AMBIT_F32);
  p = ambit_program_create(g);
  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_field_fill(u, fill, NULL);
  ambit_apply(p, ambit_kernel_create(a, rule), u, v, total);
  ambit_swap(p, u, v);
  memset(o, 0, sizeof *o);
  CHECK_EQ(AMBIT_OK, ambit_run(p, iterations));
  CHECK_EQ(iterations, ambit_program_iterations(p));
  ambit_field_read(u, NULL, NULL, o->cells);
  o->total = ambit_scalar_get(total);
  o->tuned = p->tuned;
  CHECK_OK(a);
  ambit_close(a);
}

static void check_same(const outcome *want, const outcome *got)
{
  CHECK(!memcmp(want->cells, got->cells, sizeof want->cells));
  CHECK_NEAR(want->total, got->total, 0);
}

static void the_fastest_depth_is_found_and_remembered(void)
{
  static outcome want, got;
  int tuned;

  run("ref", true, "0", MANY, &want);
  run("cpu", false, "1", 5, &got); /* too few iterations */
  CHECK_EQ(0, got.tuned);
  run("cpu", false, "1", MANY, &got);
  check_same(&want, &got);
  CHECK(got.tuned >= 1);
  CHECK(folder_files() > 0);
  tuned = got.tuned;
  run("cpu", false, "0", MANY, &got); /* remembered */
  check_same(&want, &got);
  CHECK_EQ(tuned, got.tuned);
  run("cpu*2", false, "0", MANY, &got); /* another cut */
  check_same(&want, &got);
  CHECK_EQ(0, got.tuned);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"the_fastest_depth_is_found_and_remembered", the_fastest_depth_is_found_and_remembered},
      {0}};
  int bad;

  if (!folder_make()) return 1;
  bad = test_main(argc, argv, tests);
  folder_remove();
  return bad;
}
