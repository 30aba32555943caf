/* SPDX-License-Identifier: BSD-3-Clause */
/* Planes, columns and rows in messages: with them, and with steps split in units of the device,
 * results equal those of one part. */
#include "runtime/runtime_test.h"

enum { STEPS = 3, CELLS = 48 * 40 * 300 };

typedef struct problem {
  const char *stencil;
  ambit_boundary kind[3]; /* by axis */
  const char *overlap;
  bool bands; /* the grid is cut into bands of planes, or across rows */
} problem;

static double some(const int64_t *index, int component, void *user)
{
  (void)component;
  (void)user;
  return (double)((index[0] * 31 + index[1] * 17 + index[2] * 7) % 101) / 64 - 0.5;
}

static void cut(ambit *a, const problem *q)
{
  char partition[32];

  snprintf(partition, sizeof partition, q->bands ? "%dx1x1" : "1x1x%d", ambit_processes(a));
  ambit_option_set(a, "partition", partition);
  ambit_option_set(a, "depth", "1"); /* a halo exchange in every iteration */
  ambit_option_set(a, "overlap", q->overlap);
  ambit_option_set(a, "strict", "1");
}

/* Runs the stencil on the output of a step just before it, so that both overlap the messages
 * between them. */
static void play(ambit *a, const problem *q, void *values)
{
  const int64_t extents[] = {48, 40, 300}, from[] = {0, 0, 0};
  ambit_grid *g = ambit_grid_create(a, 3, extents);
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F32),
              *v = ambit_field_create(g, "v", AMBIT_F32);
  ambit_kernel *k = ambit_kernel_create_named(a, q->stencil, AMBIT_F32);
  ambit_kernel *half =
      ambit_kernel_create(a, "void half(const float *u, float *v) { *v = 0.5f * *u; }");
  ambit_program *p = ambit_program_create(g);

  for (int d = 0; d < 3; d++)
    ambit_field_boundary(v, AMBIT_AXIS(d), q->kind[d], 0.25);
  ambit_field_fill(u, some, NULL);
  ambit_apply(p, half, u, v);
  ambit_apply(p, k, v, u);
  ambit_run(p, STEPS);
  CHECK_OK(a);
  ambit_field_read(u, from, extents, values);
  CHECK_OK(a);
}

static void check(const problem *q)
{
  const size_t bytes = CELLS * sizeof(float);
  void *want = malloc(bytes), *got = malloc(bytes);
  char name[] = "test", off[] = "--ambit-mpi=off", *words[] = {name, off, NULL}, **argv = words;
  int argc = 2;
  ambit *alone = ambit_open(&argc, &argv), *a = open_on("cpu");

  ambit_option_set(alone, "strict", "1");
  cut(a, q);
  play(alone, q, want);
  play(a, q, got);
  CHECK(!memcmp(want, got, bytes));
  ambit_close(alone);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
  free(want);
  free(got);
}

static void planes_are_sent(void)
{
  static const problem problems[] = {
      {"box3d1", {AMBIT_PERIODIC, AMBIT_PERIODIC, AMBIT_PERIODIC}, "two-way", true},
      {"box3d1", {AMBIT_REFLECT, AMBIT_CLAMP, AMBIT_CONSTANT}, "extended", true},
      {"star3d2", {AMBIT_CONSTANT, AMBIT_REFLECT, AMBIT_CONSTANT}, "two-way", true},
      {"box3d1", {AMBIT_FIXED, AMBIT_FIXED, AMBIT_FIXED}, "standard", true},
  };

  for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
    check(&problems[i]);
}

static void columns_are_sent(void)
{
  const problem q = {"box3d1", {AMBIT_CONSTANT, AMBIT_PERIODIC, AMBIT_CLAMP}, "two-way", false};

  check(&q);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"planes_are_sent", planes_are_sent}, {"columns_are_sent", columns_are_sent}, {0}};

  return test_main(argc, argv, tests);
}
