/* SPDX-License-Identifier: BSD-3-Clause */
/* gradients.c - conjugate gradients written as a textbook writes them, one step per line, with
 * joined steps and without, and with a kernel that computes the new direction of each neighbour
 * again, interleaved.
 *
 *   bench_gradients [--ambit-...] [cells per axis] [iterations] [rounds]
 *
 * Milliseconds per iteration, the best of all rounds.
 */
#include "ambit.h"

#include <stdbool.h>
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
/* The direction, its product with the matrix, and the step along the direction before. */
static const char advance[] = AMBIT_SOURCE(
    static float at(float r, float p, double beta) { return r + (float)beta * p; }

    void advance(const float *r, const float *p, float *next, float *q, float *x, double alpha,
                 double beta, sum double *pq) {
      *x += (float)alpha * *p;
      *next = at(*r, *p, beta);
      *q = 6.1f * *next - (at(r[-1][0][0], p[-1][0][0], beta) + at(r[1][0][0], p[1][0][0], beta) +
                           at(r[0][-1][0], p[0][-1][0], beta) + at(r[0][1][0], p[0][1][0], beta) +
                           at(r[0][0][-1], p[0][0][-1], beta) + at(r[0][0][1], p[0][0][1], beta));
      *pq = (double)*next * *q;
    });
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

typedef struct solver {
  const char *join; /* the option */
  bool again;       /* computes directions again */
  ambit_program *program;
  double best; /* seconds per iteration */
} solver;

static void make(ambit *a, int64_t n, solver *s)
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
  ambit_program *start = ambit_program_create(g), *steps = ambit_program_create(g);

  ambit_option_set(a, "join", s->join);
  ambit_field_boundary(p, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
  ambit_field_fill(r, right_side, NULL);
  if (!s->again) ambit_field_fill(p, right_side, NULL);
  ambit_apply(start, product, r, r, before);
  ambit_run(start, 1);
  if (s->again) {
    ambit_field *next = ambit_field_create(g, "next", AMBIT_F32);

    ambit_field_boundary(next, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
    ambit_field_boundary(r, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
    ambit_apply(steps, ambit_kernel_create(a, advance), r, p, next, q, x, alpha, beta, pq);
    ambit_swap(steps, p, next);
  } else {
    ambit_apply(steps, ambit_kernel_create(a, multiply), p, q);
    ambit_apply(steps, product, p, q, pq);
  }
  ambit_apply(steps, ambit_kernel_create(a, ratio), before, pq, alpha);
  if (!s->again) ambit_apply(steps, ambit_kernel_create(a, add), x, p, alpha);
  ambit_apply(steps, ambit_kernel_create(a, subtract), r, q, alpha);
  ambit_apply(steps, product, r, r, rr);
  ambit_apply(steps, ambit_kernel_create(a, proceed), rr, before, beta);
  if (!s->again) ambit_apply(steps, ambit_kernel_create(a, direction), p, r, beta);
  ambit_run(steps, 2);
  s->program = steps;
}

/* Of all runs so far; 0 on failure. */
static double seconds_of(ambit_program *p)
{
  const ambit_stats *s = ambit_program_stats(p, 0);

  return s ? s->seconds : 0;
}

/* Seconds per iteration. */
static double time_of(ambit_program *p, int64_t iterations)
{
  const double before = seconds_of(p);

  ambit_run(p, iterations);
  return (seconds_of(p) - before) / (double)iterations;
}

int main(int argc, char **argv)
{
  ambit *a[3] = {ambit_open(&argc, &argv), ambit_open(NULL, NULL), ambit_open(NULL, NULL)};
  const int64_t n = argc > 1 ? atoll(argv[1]) : 160, iterations = argc > 2 ? atoll(argv[2]) : 20;
  const int rounds = argc > 3 ? atoi(argv[3]) : 5;
  solver s[3] = {{"0", false, NULL, 1e9}, {"1", false, NULL, 1e9}, {"1", true, NULL, 1e9}};

  for (int k = 0; k < 3; k++)
    make(a[k], n, &s[k]); /* options hold for a context */
  for (int i = 0; i < rounds; i++)
    for (int k = 0; k < 3; k++) {
      const double seconds = time_of(s[k].program, iterations);

      if (seconds < s[k].best) s[k].best = seconds;
    }
  if (!ambit_error(a[0]) && !ambit_error(a[1]) && !ambit_error(a[2]))
    printf("conjugate gradients, %lld^3 cells, float: %.3f ms per iteration, joined %.3f: %.2f x, "
           "directions computed again %.3f: %.2f x\n",
           (long long)n, 1e3 * s[0].best, 1e3 * s[1].best, s[0].best / s[1].best, 1e3 * s[2].best,
           s[0].best / s[2].best);
  return ambit_close(a[0]) || ambit_close(a[1]) || ambit_close(a[2]);
}
