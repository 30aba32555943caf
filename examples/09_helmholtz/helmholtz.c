/* SPDX-License-Identifier: BSD-3-Clause */
/* helmholtz.c - solves -laplace(u) + c u = f by Jacobi iterations, for one f after the other.
 *
 * The unit square has N x N inner points, and u is 0 on its edge. Item (a, b) of the stream is
 * f = sin(a pi x) sin(b pi y), an eigenfunction of the five-point stencil: the discrete solution is
 * f divided by its eigenvalue plus c, so every result is checked against the exact one.
 *
 *   helmholtz [picture.png]      all solutions, side by side
 */
#include <ambit_stream.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 63, WAVES = 4, ITEMS = WAVES * WAVES, SEEN = N / 2 + 1 };
static const double c = 2000, pi = 3.14159265358979323846, enough = 1e-10;

/* The residual r of the old values, times h^2; u starts at 0 for every item. */
static const char jacobi_text[] = AMBIT_SOURCE(void jacobi(
    const double *u, const double *f, double *v, double h2, double diagonal, max double *residual) {
  double r = h2 * *f + u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - diagonal * *u;

  *v = *u + r / diagonal;
  *residual = fabs(r);
});

static double wave(int64_t item, int64_t i)
{
  const double h = 1.0 / (N + 1);

  return sin((double)(item / WAVES + 1) * pi * h * (double)(i / N + 1)) *
         sin((double)(item % WAVES + 1) * pi * h * (double)(i % N + 1));
}

static double eigenvalue(int64_t item)
{
  const double h = 1.0 / (N + 1);
  const double a = sin((double)(item / WAVES + 1) * pi * h / 2) / h;
  const double b = sin((double)(item % WAVES + 1) * pi * h / 2) / h;

  return 4 * (a * a + b * b);
}

static int next_side(int64_t item, void *values, void *user)
{
  double *f = values;

  (void)user;
  for (int64_t i = 0; i < N * N && item < ITEMS; i++)
    f[i] = wave(item, i);
  return item < ITEMS;
}

typedef struct results {
  double worst;                          /* the largest error, relative to the largest value */
  double seen[WAVES][SEEN][WAVES][SEEN]; /* every second point of the solutions: [a][y][b][x] */
} results;

/* Keeps the largest error of all items, and their solutions for the picture. */
static int check_solution(int64_t item, const void *values, void *user)
{
  const double *u = values, scale = eigenvalue(item) + c;
  results *r = user;

  for (int64_t i = 0; i < N * N; i++)
    r->worst = fmax(r->worst, fabs(u[i] * scale - wave(item, i)));
  for (int64_t y = 0; y < SEEN; y++)
    for (int64_t x = 0; x < SEEN; x++)
      r->seen[item / WAVES][y][item % WAVES][x] =
          y < N / 2 && x < N / 2 ? u[(2 * y + 1) * N + 2 * x + 1] : NAN; /* grey between them */
  return 0;
}

static void draw(ambit *a, const results *r, const char *picture)
{
  ambit_record *all = ambit_record_create(a, "all");

  ambit_record_write(all, WAVES * SEEN, WAVES * SEEN, &r->seen[0][0][0][0]);
  ambit_record_save(all, picture);
}

int main(int argc, char **argv)
{
  const double h2 = 1.0 / ((N + 1) * (N + 1));
  ambit *a = ambit_open(&argc, &argv);
  ambit_grid *g = ambit_grid_create(a, 2, (int64_t[]){N, N});
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F64),
              *v = ambit_field_create(g, "v", AMBIT_F64);
  ambit_field *f = ambit_field_create(g, "f", AMBIT_F64);
  ambit_scalar *residual = ambit_scalar_create(a, "residual", AMBIT_F64);
  ambit_program *p = ambit_program_create(g);
  ambit_stream *s = ambit_stream_create(p, f, u);
  static results r;
  int wrong;

  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
  ambit_apply(p, ambit_kernel_create(a, jacobi_text), u, f, v, h2, 4 + c * h2, residual);
  ambit_swap(p, u, v);
  ambit_stream_repeat_until(s, residual, AMBIT_BELOW, enough * h2, 10000);
  ambit_stream_run_with(s, next_side, check_solution, &r);
  wrong = ambit_stream_items(s) != ITEMS || !(r.worst < 1e-8);
  if (argc > 1) draw(a, &r, argv[1]);
  if (!ambit_process(a))
    printf("%d equations of %d x %d unknowns, largest error %.1e: %s\n", (int)ambit_stream_items(s),
           N, N, r.worst, wrong ? "wrong" : "ok");
  return ambit_close(a) || (wrong && !ambit_process(a));
}
