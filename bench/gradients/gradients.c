/* SPDX-License-Identifier: BSD-3-Clause */
/* gradients.c - conjugate gradients written as a textbook writes them, one step per line, with
 * joined steps and without, interleaved.
 *
 *   bench_gradients [--ambit-...] [cells per axis] [iterations] [rounds]
 *
 * Milliseconds per iteration, the best of all rounds.
 */
#include "ambit.h"

#include <stdio.h>
#include <stdlib.h>

static const char multiply[] = AMBIT_SOURCE(void multiply(const float *p, float *q) {
  *q = 6.1f * *p - (p[-1][0][0] + p[1][0][0] + p[0][-1][0] + p[0][1][0] + p[0][0][-1] + p[0][0][1]);
});
static const char dot[] =
    AMBIT_SOURCE(void dot(const float *x, const float *y, sum double *s) { *s = (double)*x * *y; });
static const char add[] =
    AMBIT_SOURCE(void add(float *x, const float *y, double k) { *x += (float)k * *y; });
static const char subtract[] =
    AMBIT_SOURCE(void subtract(float *x, const float *y, double k) { *x -= (float)k * *y; });
static const char direction[] = AMBIT_SOURCE(
    void direction(float *p, const float *r, double beta) { *p = *r + (float)beta * *p; });
static const char ratio[] =
    AMBIT_SOURCE(void ratio(double a, double b, double *q) { *q = b != 0 ? a / b : 0; });
static const char proceed[] = AMBIT_SOURCE(void proceed(double now, double *before, double *beta) {
  *beta = *before != 0 ? now / *before : 0;
  *before = now;
});

static double right_side(const int64_t *i, int component, void *user)
{
  (void)component;
  (void)user;
  return (double)((i[0] * 31 + i[1] * 17 + i[2] * 7) % 64) / 64 - 0.5;
}

/* With the option join, or without. */
static ambit_program *make(ambit *a, int64_t n, const char *join)
{
  ambit_grid *g = ambit_grid_create(a, 3, (const int64_t[]){n, n, n});
  ambit_field *x = ambit_field_create(g, "x", AMBIT_F32);
  ambit_field *r = ambit_field_create(g, "r", AMBIT_F32);
  ambit_field *p = ambit_field_create(g, "p", AMBIT_F32);
  ambit_field *q = ambit_field_create(g, "q", AMBIT_F32);
  ambit_scalar *pq = ambit_scalar_create(a, "pq", AMBIT_F64);
  ambit_scalar *rr = ambit_scalar_create(a, "rr", AMBIT_F64);
  ambit_scalar *before = ambit_scalar_create(a, "before", AMBIT_F64);
  ambit_scalar *alpha = ambit_scalar_create(a, "alpha", AMBIT_F64);
  ambit_scalar *beta = ambit_scalar_create(a, "beta", AMBIT_F64);
  ambit_kernel *product = ambit_kernel_create(a, dot);
  ambit_program *start = ambit_program_create(g), *solver = ambit_program_create(g);

  ambit_option_set(a, "join", join);
  ambit_field_boundary(p, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
  ambit_field_fill(r, right_side, NULL);
  ambit_field_fill(p, right_side, NULL);
  ambit_apply(start, product, r, r, before);
  ambit_run(start, 1);

  ambit_apply(solver, ambit_kernel_create(a, multiply), p, q);
  ambit_apply(solver, product, p, q, pq);
  ambit_apply(solver, ambit_kernel_create(a, ratio), before, pq, alpha);
  ambit_apply(solver, ambit_kernel_create(a, add), x, p, alpha);
  ambit_apply(solver, ambit_kernel_create(a, subtract), r, q, alpha);
  ambit_apply(solver, product, r, r, rr);
  ambit_apply(solver, ambit_kernel_create(a, proceed), rr, before, beta);
  ambit_apply(solver, ambit_kernel_create(a, direction), p, r, beta);
  ambit_run(solver, 2);
  return solver;
}

/* Seconds per iteration. Any run may prepare the program anew, so the option is set again. */
static double time_of(ambit *a, ambit_program *p, const char *join, int64_t iterations)
{
  ambit_stats before = {0}, after = {0};

  ambit_option_set(a, "join", join);
  ambit_program_stats(p, 0, &before);
  ambit_run(p, iterations);
  ambit_program_stats(p, 0, &after);
  return (after.seconds - before.seconds) / (double)iterations;
}

int main(int argc, char **argv)
{
  ambit *a = ambit_open(&argc, &argv), *b = ambit_open(NULL, NULL); /* options hold for a context */
  const int64_t n = argc > 1 ? atoll(argv[1]) : 160, iterations = argc > 2 ? atoll(argv[2]) : 20;
  const int rounds = argc > 3 ? atoi(argv[3]) : 5;
  ambit_program *const p[2] = {make(a, n, "0"), make(b, n, "1")};
  double best[2] = {1e9, 1e9};

  for (int i = 0; i < rounds; i++)
    for (int k = 0; k < 2; k++) {
      const double seconds = time_of(a, p[k], k ? "1" : "0", iterations);

      if (seconds < best[k]) best[k] = seconds;
    }
  if (!ambit_error(a) && !ambit_error(b))
    printf("conjugate gradients, %lld^3 cells, float: %.3f ms per iteration, joined %.3f: %.2f x\n",
           (long long)n, 1e3 * best[0], 1e3 * best[1], best[0] / best[1]);
  return ambit_close(a) || ambit_close(b);
}
