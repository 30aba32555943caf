/* SPDX-License-Identifier: BSD-3-Clause */
/* Launches of few cells on many threads: one slab for each, cut along one axis or two, or
 * with pairs of indices along two. */
#include "runtime/runtime_test.h"

typedef struct shape {
  int ndims;
  int64_t extents[6];
} shape;

static const char grow[] = AMBIT_SOURCE(void grow(int *u) { *u += 1; });
static const char range[] =
    AMBIT_SOURCE(void range(const int *u, min int *least, max int *most, sum long *all) {
      *least = *u;
      *most = *u;
      *all = *u;
    });

/* The grid grows by 1 in each of 3 iterations, in every cell. */
static void grow_on(const shape *s, const char *threads)
{
  ambit *a = open_on("cpu");
  ambit_grid *g;
  ambit_field *u;
  ambit_scalar *least, *most, *all;
  ambit_program *p, *q;

  ambit_option_set(a, "threads", threads);
  ambit_option_set(a, "depth", "1");
  least = ambit_scalar_create(a, "least", AMBIT_I32);
  most = ambit_scalar_create(a, "most", AMBIT_I32);
  all = ambit_scalar_create(a, "all", AMBIT_I64);
  g = ambit_grid_create(a, s->ndims, s->extents);
  u = ambit_field_create(g, "u", AMBIT_I32);
  p = ambit_program_create(g);
  q = ambit_program_create(g);
  ambit_apply(p, ambit_kernel_create(a, grow), u);
  ambit_apply(q, ambit_kernel_create(a, range), u, least, most, all);
  ambit_run(p, 3);
  ambit_run(q, 1);
  CHECK_OK(a);
  CHECK_EQ(3, (int)ambit_scalar_get(least));
  CHECK_EQ(3, (int)ambit_scalar_get(most));
  CHECK_EQ(3 * ambit_grid_cells(g), (int64_t)ambit_scalar_get(all));
  ambit_close(a);
}

/* The cells take longer than a microsecond for each thread, so that all of them take part. */
static void every_thread_count_computes_each_cell_once(void)
{
  static const shape shapes[] = {
      {1, {150000}},          {2, {3, 50000}},          {2, {400, 413}},
      {3, {50, 52, 61}},      {3, {23, 27, 260}},       {3, {2, 61, 1333}},
      {3, {61, 2, 1333}},     {4, {9, 16, 17, 65}},     {4, {2, 3, 170, 170}},
      {5, {9, 10, 9, 9, 20}}, {6, {7, 5, 6, 7, 7, 15}}, {6, {1, 1, 20, 9, 9, 90}},
  };
  static const char *const threads[] = {"7", "16"};

  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    for (size_t k = 0; k < sizeof threads / sizeof *threads; k++)
      grow_on(&shapes[i], threads[k]);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"every_thread_count_computes_each_cell_once", every_thread_count_computes_each_cell_once},
      {0}};

  return test_main(argc, argv, tests);
}
