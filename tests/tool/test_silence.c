/* SPDX-License-Identifier: BSD-3-Clause */
/* A program without its halo exchange: parts get no cells of each other, ghost cells are filled,
 * and sealing it again restores the exchange. */
#include "silence.h"

#include "runtime/run/run.h"
#include "support/test.h"

enum { CELLS = 12, ITERATIONS = 3 };

static double ramp(const int64_t *index, int component, void *user)
{
  (void)component;
  (void)user;
  return (double)index[0];
}

typedef struct scene {
  ambit *a;
  ambit_field *u;
  ambit_program *p;
} scene;

/* Values move one cell to the left in each iteration, and 100 comes in at the end. */
static scene set_up(const char *overlap)
{
  const int64_t extents[] = {CELLS};
  scene s = {.a = ambit_open(NULL, NULL)};
  ambit_grid *g;
  ambit_field *v;

  ambit_option_set(s.a, "devices", "cpu*2");
  ambit_option_set(s.a, "overlap", overlap);
  g = ambit_grid_create(s.a, 1, extents);
  s.u = ambit_field_create(g, "u", AMBIT_F32);
  v = ambit_field_create(g, "v", AMBIT_F32);
  s.p = ambit_program_create(g);
  ambit_field_boundary(s.u, AMBIT_ALL_FACES, AMBIT_CONSTANT, 100);
  ambit_field_boundary(v, AMBIT_ALL_FACES, AMBIT_CONSTANT, 100);
  ambit_apply(s.p, ambit_kernel_create(s.a, "void left(const float *u, float *v) { *v = u[1]; }"),
              s.u, v);
  ambit_swap(s.p, s.u, v);
  return s;
}

/* Runs from the ramp. Only the last cells of the first part depend on the second. */
static void check_run(const scene *s, bool exchanges)
{
  float values[CELLS] = {0};

  ambit_field_fill(s->u, ramp, NULL);
  CHECK_EQ(AMBIT_OK, ambit_run(s->p, ITERATIONS));
  CHECK_EQ(AMBIT_OK, ambit_field_read(s->u, NULL, NULL, values));
  CHECK_EQ(ITERATIONS, values[0]);
  CHECK_EQ(exchanges, values[CELLS / 2 - 1] == CELLS / 2 - 1 + ITERATIONS);
  CHECK_EQ(CELLS / 2 + ITERATIONS, values[CELLS / 2]);
  CHECK_EQ(100, values[CELLS - 1]);
}

static void parts_of_a_silent_program_do_not_hear_of_each_other(void)
{
  static const char *const overlaps[] = {"none", "two-way"};

  for (int i = 0; i < 2; i++) {
    scene s = set_up(overlaps[i]);
    tool_silence silence;

    check_run(&s, true);
    ambit__program_unseal(s.p);
    CHECK_EQ(AMBIT_OK, tool_silence_begin(s.p, &silence));
    check_run(&s, false);
    ambit__program_unseal(s.p);
    tool_silence_end(&silence);
    check_run(&s, true);
    CHECK_EQ(AMBIT_OK, ambit_close(s.a));
  }
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {{"parts_of_a_silent_program_do_not_hear_of_each_other",
                                     parts_of_a_silent_program_do_not_hear_of_each_other},
                                    {NULL, NULL}};

  return test_main(argc, argv, tests);
}
