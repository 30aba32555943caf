/* SPDX-License-Identifier: BSD-3-Clause */
/* The C side of bench/python/calls.py: heat.c SIZE ITERATIONS prints the CPU seconds of a run, and
 * the microseconds of short calls. */
#include <ambit.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const char rule[] = "void heat(const float *u, float *v, float k)\n"
                           "{ *v = *u + k * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u); }";

static double start_value(const int64_t *i, int component, void *user)
{
  (void)component, (void)user;
  return (double)((i[0] * 131 + i[1] * 17) % 251);
}

/* CPU time, of all threads: other programs may have the cores meanwhile. */
static double now(void)
{
  struct timespec t;

  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Prints the microseconds of a call: the best of some batches, since others use the cores. */
#define BEST(CALL)                                                                                 \
  do {                                                                                             \
    double best = 1e9;                                                                             \
                                                                                                   \
    for (int batch = 0; batch < 20; batch++) {                                                     \
      const double begin = now();                                                                  \
      double each;                                                                                 \
                                                                                                   \
      for (int i = 0; i < 200; i++)                                                                \
        CALL;                                                                                      \
      each = (now() - begin) / 200 * 1e6;                                                          \
      best = each < best ? each : best;                                                            \
    }                                                                                              \
    printf(" %.3f", best);                                                                         \
  } while (0)

int main(int argc, char **argv)
{
  const int64_t n = argc > 1 ? atoi(argv[1]) : 1024, iterations = argc > 2 ? atoi(argv[2]) : 100;
  ambit *a = ambit_open(NULL, NULL);
  ambit_grid *g = ambit_grid_create(a, 2, (int64_t[]){n, n});
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F32),
              *v = ambit_field_create(g, "v", AMBIT_F32);
  ambit_scalar *s = ambit_scalar_create(a, "s", AMBIT_F32);
  ambit_program *p = ambit_program_create(g);
  const int64_t lo[] = {0, 0}, hi[] = {1, 8};
  float values[8];
  double start;

  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
  ambit_field_fill(u, start_value, NULL);
  ambit_apply(p, ambit_kernel_create(a, rule), u, v, 0.2);
  ambit_swap(p, u, v);
  ambit_run(p, iterations);
  start = now();
  ambit_run(p, iterations);
  printf("%.6f", now() - start);
  BEST(ambit_run(p, 0));
  BEST(ambit_scalar_set(s, i));
  BEST(ambit_field_read(u, lo, hi, values));
  printf("\n");
  return ambit_close(a);
}
