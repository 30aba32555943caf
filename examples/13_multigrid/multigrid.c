/* SPDX-License-Identifier: BSD-3-Clause */
/* multigrid.c - solves Poisson's equation by conjugate gradients with a multigrid preconditioner.
 *
 *   multigrid [--size N] [--output FILE.png]   N x N cells, a power of 2; the test has 64, 128, 256
 *
 * A program per grid is one V-cycle of this grid and all coarser ones: it calls that of the next
 * grid. Values pass between two grids through views, which show every second cell of a fine field
 * on the coarse grid.
 */
#include <ambit.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOLERANCE 1e-10 /* of the norm of the residual, relative to that of b */

enum { MOST_LEVELS = 12, COARSEST = 4 /* cells along an axis */, SWEEPS = 2, COARSE_SWEEPS = 16 };

/* A is the 5-point Laplacian of cells, with the value 0 on the faces around the grid: the value
 * beyond a face is the negative of the one before it. q = A p, and p . q. */
static const char operator_rule[] =
    AMBIT_SOURCE(void apply_a(const double *p, double *q, sum double *pq) {
      const double up = outside(-1, 0) ? -*p : p[-1][0];
      const double down = outside(1, 0) ? -*p : p[1][0];
      const double left = outside(0, -1) ? -*p : p[0][-1];
      const double right = outside(0, 1) ? -*p : p[0][1];

      *q = 4 * *p - up - down - left - right;
      *pq = *p * *q;
    });

/* A sweep of Jacobi's method with damping, from x to y. */
static const char sweep_rule[] =
    AMBIT_SOURCE(void sweep(const double *x, const double *b, double *y) {
      const double up = outside(-1, 0) ? -*x : x[-1][0];
      const double down = outside(1, 0) ? -*x : x[1][0];
      const double left = outside(0, -1) ? -*x : x[0][-1];
      const double right = outside(0, 1) ? -*x : x[0][1];
      const int faces = (outside(-1, 0) ? 1 : 0) + (outside(1, 0) ? 1 : 0) +
                        (outside(0, -1) ? 1 : 0) + (outside(0, 1) ? 1 : 0);

      *y = *x + 0.8 * (*b - 4 * *x + up + down + left + right) / (4 + faces);
    });

static const char residual_rule[] =
    AMBIT_SOURCE(void residual(const double *x, const double *b, double *r) {
      const double up = outside(-1, 0) ? -*x : x[-1][0];
      const double down = outside(1, 0) ? -*x : x[1][0];
      const double left = outside(0, -1) ? -*x : x[0][-1];
      const double right = outside(0, 1) ? -*x : x[0][1];

      *r = *b - 4 * *x + up + down + left + right;
    });

/* Values that are the same on 2 x 2 cells become bilinear. Its transpose, before such cells are
 * summed up, is the same. */
static const char spread_rule[] =
    AMBIT_SOURCE(void spread(const double *s, double *x, double keep) {
      *x = keep * *x + 0.25 * *s + 0.125 * (s[-1][0] + s[1][0] + s[0][-1] + s[0][1]) +
           0.0625 * (s[-1][-1] + s[-1][1] + s[1][-1] + s[1][1]);
    });

/* Between two grids: a coarse cell and the four fine ones in it. */
static const char gather_rule[] =
    AMBIT_SOURCE(void gather(const double *s00, const double *s01, const double *s10,
                             const double *s11, double *b) { *b = *s00 + *s01 + *s10 + *s11; });
static const char scatter_rule[] =
    AMBIT_SOURCE(void scatter(const double *x, double *s00, double *s01, double *s10, double *s11) {
      *s00 = *x;
      *s01 = *x;
      *s10 = *x;
      *s11 = *x;
    });

static const char zero_rule[] = AMBIT_SOURCE(void zero(double *x) { *x = 0; });

/* x += alpha p, r -= alpha q, and r . r */
static const char advance_rule[] = AMBIT_SOURCE(void advance(
    const double *p, const double *q, double *x, double *r, double alpha, sum double *rr) {
  *x += alpha * *p;
  *r -= alpha * *q;
  *rr = *r * *r;
});

static const char dot_rule[] =
    AMBIT_SOURCE(void dot(const double *a, const double *b, sum double *ab) { *ab = *a * *b; });
static const char direction_rule[] =
    AMBIT_SOURCE(void direction(const double *z, double *p, double beta) { *p = *z + beta * *p; });
static const char alpha_rule[] =
    AMBIT_SOURCE(void set_alpha(double rz, double pq, double *alpha) { *alpha = rz / pq; });
static const char beta_rule[] =
    AMBIT_SOURCE(void set_beta(double now, double *before, double *beta) {
      *beta = *before == 0 ? 0 : now / *before;
      *before = now;
    });

/* ---- V-cycles ---- */

/* One grid: solves A x = b. */
typedef struct level {
  ambit_grid *grid;
  ambit_field *b, *x, *y, *r, *s;
  ambit_program *cycle;
} level;

typedef struct rules {
  ambit_kernel *sweep, *residual, *spread, *gather, *scatter, *zero;
} rules;

static ambit_field *field(ambit_grid *g, const char *name)
{
  return ambit_field_create(g, name, AMBIT_F64);
}

static void make_level(level *l)
{
  l->b = field(l->grid, "b");
  l->x = field(l->grid, "x");
  l->y = field(l->grid, "y");
  l->r = field(l->grid, "r");
  l->s = field(l->grid, "s");
  ambit_field_boundary(l->r, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
  ambit_field_boundary(l->s, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
  l->cycle = ambit_program_create(l->grid);
}

/* An even number of sweeps, after which x has the result. */
static void add_sweeps(const level *l, const rules *k, int n)
{
  for (int i = 0; i < n; i++) {
    ambit_apply(l->cycle, k->sweep, l->x, l->b, l->y);
    ambit_swap(l->cycle, l->x, l->y);
  }
}

/* `fine` is the next finer level, whose s has the residual, and gets the correction; NULL: this is
 * the finest. `coarse` is the next coarser one; NULL: this is the coarsest. */
static void make_cycle(const level *l, const level *fine, const level *coarse, const rules *k)
{
  ambit_field *v[4];

  for (int i = 0; fine && i < 4; i++)
    v[i] = ambit_field_create_view(l->grid, fine->s, AMBIT_INDEX(i / 2, i % 2));
  if (fine) ambit_apply(l->cycle, k->gather, v[0], v[1], v[2], v[3], l->b);
  ambit_apply(l->cycle, k->zero, l->x);
  add_sweeps(l, k, coarse ? SWEEPS : COARSE_SWEEPS);
  if (coarse) {
    ambit_apply(l->cycle, k->residual, l->x, l->b, l->r);
    ambit_apply(l->cycle, k->spread, l->r, l->s, 0);
    ambit_call(l->cycle, coarse->cycle, 1);
    ambit_apply(l->cycle, k->spread, l->s, l->x, 1);
    add_sweeps(l, k, SWEEPS);
  }
  if (fine) ambit_apply(l->cycle, k->scatter, l->x, v[0], v[1], v[2], v[3]);
}

/* The V-cycle of a grid of n x n cells: x is nearly the solution of A x = b. */
static level make_cycles(ambit *a, int64_t n)
{
  const rules k = {ambit_kernel_create(a, sweep_rule),   ambit_kernel_create(a, residual_rule),
                   ambit_kernel_create(a, spread_rule),  ambit_kernel_create(a, gather_rule),
                   ambit_kernel_create(a, scatter_rule), ambit_kernel_create(a, zero_rule)};
  ambit_grid *grids[MOST_LEVELS];
  level all[MOST_LEVELS];
  int levels = 1;

  while (levels < MOST_LEVELS && n >> levels >= COARSEST)
    levels++;
  ambit_grid_create_nested(a, 2, AMBIT_INDEX(n, n), levels, grids);
  for (int i = 0; i < levels; i++) {
    all[i].grid = grids[i];
    make_level(&all[i]);
  }
  for (int i = 0; i < levels; i++)
    make_cycle(&all[i], i ? &all[i - 1] : NULL, i + 1 < levels ? &all[i + 1] : NULL, &k);
  return all[0];
}

/* ---- conjugate gradients ---- */

/* Sources at some places, sinks at others. */
static double right_side(const int64_t *index, int component, void *user)
{
  const double n = (double)*(const int64_t *)user;
  const double y = ((double)index[0] + 0.5) / n, x = ((double)index[1] + 0.5) / n;

  (void)component;
  return (exp(-200 * (pow(x - 0.3, 2) + pow(y - 0.4, 2))) -
          exp(-500 * (pow(x - 0.6, 2) + pow(y - 0.7, 2))) + (fabs(x - 0.7) < 0.1 && y < 0.3)) *
         64 / (n * n);
}

/* Solves A x = b with n x n cells; returns the number of iterations. */
static int64_t solve(ambit *a, int64_t n, bool preconditioned, ambit_field **solution)
{
  level top = make_cycles(a, n); /* r = top.b, z = top.x */
  ambit_field *x = field(top.grid, "solution"), *p = field(top.grid, "p"),
              *q = field(top.grid, "q"), *z = preconditioned ? top.x : top.b;
  ambit_scalar *rr = ambit_scalar_create(a, "rr", AMBIT_F64),
               *pq = ambit_scalar_create(a, "pq", AMBIT_F64),
               *rz = ambit_scalar_create(a, "rz", AMBIT_F64),
               *before = ambit_scalar_create(a, "before", AMBIT_F64),
               *alpha = ambit_scalar_create(a, "alpha", AMBIT_F64),
               *beta = ambit_scalar_create(a, "beta", AMBIT_F64);
  ambit_program *loop = ambit_program_create(top.grid), *norm = ambit_program_create(top.grid);
  ambit_kernel *dot = ambit_kernel_create(a, dot_rule);

  ambit_field_fill(top.b, right_side, &n);
  ambit_apply(norm, dot, top.b, top.b, rr);
  ambit_run(norm, 1);

  if (preconditioned) ambit_call(loop, top.cycle, 1);
  ambit_apply(loop, dot, top.b, z, rz);
  ambit_apply(loop, ambit_kernel_create(a, beta_rule), rz, before, beta);
  ambit_apply(loop, ambit_kernel_create(a, direction_rule), z, p, beta);
  ambit_apply(loop, ambit_kernel_create(a, operator_rule), p, q, pq);
  ambit_apply(loop, ambit_kernel_create(a, alpha_rule), rz, pq, alpha);
  ambit_apply(loop, ambit_kernel_create(a, advance_rule), p, q, x, top.b, alpha, rr);
  ambit_run_until(loop, rr, AMBIT_BELOW, TOLERANCE * TOLERANCE * ambit_scalar_get(rr), 20 * n);
  *solution = x;
  return ambit_program_converged(loop) ? ambit_program_iterations(loop) : -1;
}

/* ---- the check ---- */

static double value_at(const double *u, int64_t n, int64_t i, int64_t j, double here)
{
  return i < 0 || j < 0 || i >= n || j >= n ? -here : u[i * n + j];
}

/* The norm of b - A x, relative to that of b. */
static double residual(ambit_field *x, int64_t n)
{
  double *u = malloc((size_t)(n * n) * sizeof *u), rr = 0, bb = 0;

  if (!u) return INFINITY;
  ambit_field_read(x, NULL, NULL, u);
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++) {
      const double b = right_side((int64_t[]){i, j}, 0, &n), c = u[i * n + j];
      const double r = b - 4 * c + value_at(u, n, i - 1, j, c) + value_at(u, n, i + 1, j, c) +
                       value_at(u, n, i, j - 1, c) + value_at(u, n, i, j + 1, c);

      rr += r * r;
      bb += b * b;
    }
  free(u);
  return sqrt(rr / bb);
}

static int compare(ambit *a, int64_t n, int64_t *fewest, const char *output)
{
  ambit_field *x, *plain;
  const int64_t with = solve(a, n, true, &x), without = solve(a, n, false, &plain);
  const double left = residual(x, n);
  int right;

  if (!*fewest) *fewest = with;
  right = with > 0 && with <= *fewest + 1 && with < without && left < 1e-9;
  printf("%4lld x %lld cells: %lld iterations, %lld without multigrid; residual %.1e: %s\n",
         (long long)n, (long long)n, (long long)with, (long long)without, left,
         right ? "ok" : "WRONG");
  if (output && ambit_field_save(x, output)) return 1;
  return !right;
}

int main(int argc, char **argv)
{
  ambit *a = ambit_open(&argc, &argv);
  int64_t size = 0, fewest = 0;
  const char *output = NULL;
  int wrong = 0;

  for (int i = 1; i + 1 < argc; i += 2) {
    if (!strcmp(argv[i], "--size")) size = atoll(argv[i + 1]);
    if (!strcmp(argv[i], "--output")) output = argv[i + 1];
  }
  if (ambit_process(a) > 0 && !freopen("/dev/null", "w", stdout))
    return 1; /* only process 0 prints */
  for (int64_t n = size ? size : 64; n <= (size ? size : 256); n *= 2)
    wrong |= compare(a, n, &fewest, output);
  return ambit_close(a) != AMBIT_OK || wrong;
}
