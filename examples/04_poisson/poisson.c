/* SPDX-License-Identifier: BSD-3-Clause */
/* poisson.c - solves -(u_xx + u_yy) = f by Jacobi iteration.
 *
 *   poisson [--size N]     iterations and error on N/4, N/2 and N cells to a side
 *   ... picture.png        and a picture of the solution on N cells
 */
#include <ambit.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI        3.14159265358979323846
#define TOLERANCE 1e-12

/* Jacobi iteration; b is h^2 f. The run ends when the largest change of a cell is small. */
static const char jacobi_rule[] =
    AMBIT_SOURCE(void jacobi(const double *u, const double *b, double *v, max double *change) {
      *v = 0.25 * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] + *b);
      *change = fabs(*v - *u);
    });

/* The solution from which f is made: u = e^x sin(pi y). */
static double solution(const int64_t *index, int component, void *user)
{
  const double h = *(const double *)user;

  (void)component;
  return exp((double)index[1] * h) * sin(PI * (double)index[0] * h);
}

static double right_side(const int64_t *index, int component, void *user)
{
  const double h = *(const double *)user;

  return h * h * (PI * PI - 1) * solution(index, component, user);
}

typedef struct result {
  int64_t iterations;
  int converged;
  double error; /* the largest of a cell */
} result;

/* A picture of the solution may be NULL. */
static result solve(ambit *a, int64_t cells, const char *picture)
{
  const int64_t points = cells + 1, inner = points - 2;
  double h = 1 / (double)cells;
  ambit_grid *g = ambit_grid_create(a, 2, (int64_t[]){points, points});
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F64);
  ambit_field *v = ambit_field_create(g, "v", AMBIT_F64);
  ambit_field *b = ambit_field_create(g, "b", AMBIT_F64);
  ambit_scalar *change = ambit_scalar_create(a, "change", AMBIT_F64);
  ambit_program *p = ambit_program_create(g);
  double *values = calloc((size_t)(points * points), sizeof *values);
  result r = {0};

  /* The edge keeps its values; the inside starts at 0. */
  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_FIXED, 0);
  ambit_field_fill(u, solution, &h);
  if (values) ambit_field_write(u, (int64_t[]){1, 1}, (int64_t[]){1 + inner, 1 + inner}, values);
  ambit_field_fill(b, right_side, &h);

  ambit_apply(p, ambit_kernel_create(a, jacobi_rule), u, b, v, change);
  ambit_swap(p, u, v);
  ambit_program_check_every(p, 100); /* a test is cheap, but not free */
  ambit_run_until(p, change, AMBIT_BELOW, TOLERANCE, 1000000);

  r.iterations = ambit_program_iterations(p);
  r.converged = ambit_program_converged(p);
  if (picture) ambit_field_save(u, picture);
  if (!values || ambit_field_read(u, NULL, NULL, values)) r.error = INFINITY;
  for (int64_t i = 0; values && i < points * points; i++)
    r.error = fmax(r.error, fabs(values[i] - solution((int64_t[]){i / points, i % points}, 0, &h)));
  free(values);
  return r;
}

/* Every grid must converge, and the order of convergence must be 2. */
static int check(ambit *a, int64_t cells, const char *picture)
{
  double before = 0;
  int wrong = 0;

  for (int64_t n = cells / 4; n <= cells; n *= 2) {
    result r = solve(a, n, n * 2 > cells ? picture : NULL);
    double order = log2(before / r.error);
    int right = r.converged && (before == 0 || (order > 1.9 && order < 2.1));

    printf("%4lld cells to a side: %6lld iterations, error %.3e", (long long)n,
           (long long)r.iterations, r.error);
    if (before > 0) printf(", order %.3f, should be 1.9 to 2.1", order);
    printf(": %s\n", !r.converged ? "did not converge" : right ? "ok" : "WRONG");
    wrong |= !right;
    before = r.error;
  }
  return wrong;
}

int main(int argc, char **argv)
{
  ambit *a = ambit_open(&argc, &argv);
  int sized = argc > 2 && !strcmp(argv[1], "--size"), rest = sized ? 3 : 1;
  int64_t size = sized ? atoll(argv[2]) : 64;
  int wrong = 1;

  if (ambit_process(a) > 0 && !freopen("/dev/null", "w", stdout))
    return 1; /* only process 0 prints */
  if (size < 32)
    fprintf(stderr, "poisson: --size %lld; at least 32 cells show an order\n", (long long)size);
  else
    wrong = check(a, size, rest < argc ? argv[rest] : NULL);
  return ambit_close(a) != AMBIT_OK || wrong;
}
