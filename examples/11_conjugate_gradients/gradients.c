/* SPDX-License-Identifier: BSD-3-Clause */
/* gradients.c - solves A x = b by conjugate gradients; A is the 5-point Laplacian, 0 around it.
 *
 *   gradients [--size N]                     N x N cells, compared with a textbook version in C
 *   gradients --size N --output FILE.png     the picture: the solution
 */
#include <ambit.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOLERANCE 1e-10 /* of the norm of the residual, relative to b's */

/* q = A p, and p . q */
static const char operator_rule[] =
    AMBIT_SOURCE(void apply_a(const double *p, double *q, sum double *pq) {
      *q = 4 * *p - p[-1][0] - p[1][0] - p[0][-1] - p[0][1];
      *pq = *p * *q;
    });

/* x += alpha p, r -= alpha q, and r . r */
static const char advance_rule[] = AMBIT_SOURCE(void advance(
    const double *p, const double *q, double *x, double *r, double alpha, sum double *rr) {
  *x += alpha * *p;
  *r -= alpha * *q;
  *rr = *r * *r;
});

static const char direction_rule[] =
    AMBIT_SOURCE(void direction(const double *r, double *p, double beta) { *p = *r + beta * *p; });

/* Kernels on scalars: no value travels to the host. */
static const char alpha_rule[] =
    AMBIT_SOURCE(void set_alpha(double rr, double pq, double *alpha) { *alpha = rr / pq; });
static const char beta_rule[] =
    AMBIT_SOURCE(void set_beta(double now, double *before, double *beta) {
      *beta = now / *before;
      *before = now;
    });

/* x = 0, r = p = b, and r . r */
static const char start_rule[] =
    AMBIT_SOURCE(void start(const double *b, double *x, double *r, double *p, sum double *rr) {
      *x = 0;
      *r = *b;
      *p = *b;
      *rr = *b * *b;
    });

/* A right-hand side without structure: numbers in [-1, 1). */
static double right_side(const int64_t *index, int component, void *user)
{
  uint64_t h = (uint64_t)index[0] * 0x9e3779b97f4a7c15u + (uint64_t)index[1] * 0xbf58476d1ce4e5b9u;

  (void)component;
  (void)user;
  h = (h ^ h >> 31) * 0x94d049bb133111ebu;
  return (double)(h >> 11) * 0x1p-52 - 1;
}

/* ---- the textbook ---- */

static double value_at(const double *u, int64_t n, int64_t i, int64_t j)
{
  return i < 0 || j < 0 || i >= n || j >= n ? 0 : u[i * n + j];
}

static double multiply(const double *p, double *q, int64_t n)
{
  double pq = 0;

  for (int64_t k = 0; k < n * n; k++) {
    const int64_t i = k / n, j = k % n;

    q[k] = 4 * p[k] - value_at(p, n, i - 1, j) - value_at(p, n, i + 1, j) -
           value_at(p, n, i, j - 1) - value_at(p, n, i, j + 1);
    pq += p[k] * q[k];
  }
  return pq;
}

/* Solves into x; returns the number of iterations, -1 if out of memory. */
static int64_t textbook(double *x, int64_t n, int64_t most)
{
  const int64_t cells = n * n;
  double *r = calloc((size_t)cells, 3 * sizeof *r), *p = r + cells, *q = p + cells;
  double rr = 0, goal;
  int64_t k = 0;

  if (!r) return -1;
  for (int64_t i = 0; i < cells; i++) {
    r[i] = p[i] = right_side((int64_t[]){i / n, i % n}, 0, NULL);
    rr += r[i] * r[i];
    x[i] = 0;
  }
  for (goal = TOLERANCE * TOLERANCE * rr; rr >= goal && k < most; k++) {
    const double before = rr, alpha = rr / multiply(p, q, n);

    rr = 0;
    for (int64_t i = 0; i < cells; i++) {
      x[i] += alpha * p[i];
      r[i] -= alpha * q[i];
      rr += r[i] * r[i];
    }
    for (int64_t i = 0; i < cells; i++)
      p[i] = r[i] + rr / before * p[i];
  }
  free(r);
  return k;
}

/* ---- on Ambit ---- */

/* Solves into `result`, if that is not NULL, and into a picture, if there is a path. Returns the
 * number of iterations. */
static int64_t solve(ambit *a, double *result, const char *path, int64_t n, int64_t most)
{
  ambit_grid *g = ambit_grid_create(a, 2, (int64_t[]){n, n});
  ambit_field *b = ambit_field_create(g, "b", AMBIT_F64),
              *x = ambit_field_create(g, "x", AMBIT_F64);
  ambit_field *r = ambit_field_create(g, "r", AMBIT_F64),
              *p = ambit_field_create(g, "p", AMBIT_F64);
  ambit_field *q = ambit_field_create(g, "q", AMBIT_F64);
  ambit_scalar *rr = ambit_scalar_create(a, "rr", AMBIT_F64);
  ambit_scalar *before = ambit_scalar_create(a, "before", AMBIT_F64);
  ambit_scalar *pq = ambit_scalar_create(a, "pq", AMBIT_F64);
  ambit_scalar *alpha = ambit_scalar_create(a, "alpha", AMBIT_F64);
  ambit_scalar *beta = ambit_scalar_create(a, "beta", AMBIT_F64);
  ambit_program *start = ambit_program_create(g), *loop = ambit_program_create(g);

  ambit_field_fill(b, right_side, NULL);
  ambit_field_boundary(p, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
  ambit_apply(start, ambit_kernel_create(a, start_rule), b, x, r, p, before);
  ambit_run(start, 1);

  ambit_apply(loop, ambit_kernel_create(a, operator_rule), p, q, pq);
  ambit_apply(loop, ambit_kernel_create(a, alpha_rule), before, pq, alpha);
  ambit_apply(loop, ambit_kernel_create(a, advance_rule), p, q, x, r, alpha, rr);
  ambit_apply(loop, ambit_kernel_create(a, beta_rule), rr, before, beta);
  ambit_apply(loop, ambit_kernel_create(a, direction_rule), r, p, beta);
  ambit_run_until(loop, rr, AMBIT_BELOW, TOLERANCE * TOLERANCE * ambit_scalar_get(before), most);
  if (result) ambit_field_read(x, NULL, NULL, result);
  if (path) ambit_field_save(x, path);
  return ambit_program_iterations(loop);
}

static int compare(ambit *a, int64_t n)
{
  const int64_t cells = n * n, most = 20 * n;
  double *mine = calloc((size_t)cells, 2 * sizeof *mine), *theirs = mine + cells;
  double largest = 0, difference = 0;
  int64_t iterations[2];
  int right;

  if (!mine) return 1;
  iterations[0] = solve(a, mine, NULL, n, most);
  iterations[1] = textbook(theirs, n, most);
  for (int64_t i = 0; i < cells; i++) {
    largest = fmax(largest, fabs(theirs[i]));
    difference = fmax(difference, fabs(mine[i] - theirs[i]));
  }
  right = iterations[0] == iterations[1] && iterations[0] < most && difference < 1e-9 * largest;
  printf("%lld x %lld cells: %lld iterations, the textbook takes %lld; relative difference %.1e, "
         "should be below 1e-9: %s\n",
         (long long)n, (long long)n, (long long)iterations[0], (long long)iterations[1],
         difference / largest, right ? "ok" : "WRONG");
  free(mine);
  return !right;
}

int main(int argc, char **argv)
{
  ambit *a = ambit_open(&argc, &argv);
  int64_t size = 200;
  const char *output = NULL;
  int wrong = 1;

  for (int i = 1; i + 1 < argc; i += 2) {
    if (!strcmp(argv[i], "--size")) size = atoll(argv[i + 1]);
    if (!strcmp(argv[i], "--output")) output = argv[i + 1];
  }
  if (ambit_process(a) > 0 && !freopen("/dev/null", "w", stdout))
    return 1; /* only process 0 prints */
  if (size < 2)
    fprintf(stderr, "gradients: --size %lld; at least 2\n", (long long)size);
  else
    wrong = output ? solve(a, NULL, output, size, 20 * size) == 20 * size : compare(a, size);
  return ambit_close(a) != AMBIT_OK || wrong;
}
