/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes without cells of a field agree with those that exchange it on the tags of messages. */
#include "runtime/runtime_test.h"

enum { EACH = 8, STEPS = 5 }; /* cells per process; iterations */

/* 1 at one cell, 0 elsewhere. */
static double spike(const int64_t *index, int component, void *user)
{
  (void)component;
  return index[0] == *(const int64_t *)user;
}

static void fields_of_a_few_processes_do_not_mix_up_the_messages_of_all(void)
{
  ambit *a = open_on("cpu");
  const int64_t n = (int64_t)EACH * ambit_processes(a), last = n - 1;
  const int64_t lo[] = {EACH - 1},
                hi[] = {EACH}; /* the last cell of process 0 reads a cell of process 1 */
  ambit_grid *g = grid_1d(a, n);
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F32),
              *v = ambit_field_create(g, "v", AMBIT_F32);
  ambit_field *w = ambit_field_create(g, "w", AMBIT_F32),
              *x = ambit_field_create(g, "x", AMBIT_F32);
  ambit_program *p = ambit_program_create(g);
  float *values = calloc((size_t)n, sizeof *values);
  const int64_t from[] = {0}, to[] = {n};

  ambit_field_boundary(u, AMBIT_AXIS(0), AMBIT_CONSTANT, 0);
  ambit_field_boundary(w, AMBIT_AXIS(0), AMBIT_CONSTANT, 0);
  ambit_field_set(u, 7);
  ambit_field_fill(w, spike, (void *)&last);
  ambit_apply_box(p, lo, hi,
                  ambit_kernel_create(a, "void next(const float *u, float *v) { v[0] = u[1]; }"), u,
                  v);
  ambit_apply(p, ambit_kernel_create(a, "void left(const float *w, float *x) { x[0] = w[1]; }"), w,
              x);
  ambit_swap(p, w, x);
  ambit_run(p, STEPS);
  CHECK_OK(a);
  ambit_field_read(w, from, to, values);
  for (int64_t i = 0; i < n; i++)
    CHECK_EQ(i == last - STEPS, values[i]);
  ambit_field_read(v, from, to, values);
  CHECK_EQ(7, values[EACH - 1]);
  free(values);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {{"fields_of_a_few_processes_do_not_mix_up_the_messages_of_all",
                                     fields_of_a_few_processes_do_not_mix_up_the_messages_of_all},
                                    {NULL, NULL}};

  return test_main(argc, argv, tests);
}
