/* SPDX-License-Identifier: BSD-3-Clause */
/* porous.c - flow through a cubic array of spheres, by the lattice Boltzmann method (D3Q19).
 *
 *   porous [--size N] [--iterations N] [--output FILE.png]
 *
 * The grid is one period of the array, N^3 cells, and sparse: only the fluid is stored. A constant
 * force drives the fluid, and the drag of a sphere is compared with that of Zick and Homsy (1982).
 * The same program on a dense grid, where solid cells are stored and marked, must give the same
 * values to the last bit.
 */
#include <ambit.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI       3.14159265358979323846
#define FRACTION 0.216 /* of the volume, of the spheres */
#define DRAG     7.442 /* of a sphere at that fraction, in units of Stokes' drag */
#define FORCE    1e-5  /* on a cell, along the last axis */
#define OMEGA    1.07  /* relaxation; with this, walls are half-way between solid and fluid cells */

/* Populations are positive; a solid cell has -1 in their place. What would come from one is the
 * opposite population of this cell, turned round half-way. */
static const char flow_rule[] = AMBIT_SOURCE(void flow(const float *f[19], float *g[19],
                                                       sum double *flux, float omega, float force) {
  const int e[19][3] = {{0, 0, 0},  {0, 0, 1},   {0, 0, -1},  {0, 1, 0},   {0, -1, 0},
                        {1, 0, 0},  {-1, 0, 0},  {0, 1, 1},   {0, -1, -1}, {0, 1, -1},
                        {0, -1, 1}, {1, 0, 1},   {-1, 0, -1}, {1, 0, -1},  {-1, 0, 1},
                        {1, 1, 0},  {-1, -1, 0}, {1, -1, 0},  {-1, 1, 0}};
  const int back[19] = {0, 2, 1, 4, 3, 6, 5, 8, 7, 10, 9, 12, 11, 14, 13, 16, 15, 18, 17};
  const float w[19] = {1 / 3.0f,  1 / 18.0f, 1 / 18.0f, 1 / 18.0f, 1 / 18.0f, 1 / 18.0f, 1 / 18.0f,
                       1 / 36.0f, 1 / 36.0f, 1 / 36.0f, 1 / 36.0f, 1 / 36.0f, 1 / 36.0f, 1 / 36.0f,
                       1 / 36.0f, 1 / 36.0f, 1 / 36.0f, 1 / 36.0f, 1 / 36.0f};
  float h[19], rho = 0, u[3] = {0, 0, 0};

  for (int i = 0; i < 19; i++) {
    const float from = f[i][-e[i][0]][-e[i][1]][-e[i][2]];

    h[i] = from < 0 ? *f[back[i]] : from;
    rho += h[i];
    for (int d = 0; d < 3; d++)
      u[d] += e[i][d] * h[i];
  }
  for (int d = 0; d < 3; d++)
    u[d] /= rho;
  for (int i = 0; i < 19; i++) {
    const float eu = 3 * (e[i][0] * u[0] + e[i][1] * u[1] + e[i][2] * u[2]);
    const float uu = 1.5f * (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    const float same = w[i] * rho * (1 + eu + 0.5f * eu * eu - uu);

    *g[i] = *f[0] < 0 ? -1 : h[i] + omega * (same - h[i]) + 3 * w[i] * e[i][2] * force;
  }
  *flux = *f[0] < 0 ? 0 : (double)u[2] + 0.5 * force / rho;
});

static const char speed_rule[] = AMBIT_SOURCE(void speed(const float *f[19], float *s) {
  *s = *f[1] - *f[2] + *f[7] - *f[8] - *f[9] + *f[10] + *f[11] - *f[12] - *f[13] + *f[14];
});

/* The sphere is in the middle of the period. */
static int is_fluid(const int64_t *i, void *user)
{
  const double n = (double)*(const int64_t *)user, radius = n * cbrt(3 * FRACTION / (4 * PI));
  double r = 0;

  for (int d = 0; d < 3; d++)
    r += ((double)i[d] + 0.5 - n / 2) * ((double)i[d] + 0.5 - n / 2);
  return r > radius * radius;
}

static double at_rest(const int64_t *i, int component, void *user)
{
  if (!is_fluid(i, user)) return -1;
  return component == 0 ? 1 / 3.0 : component < 7 ? 1 / 18.0 : 1 / 36.0;
}

typedef struct flow {
  ambit_grid *grid;
  ambit_field *f; /* populations */
  double flux;    /* sum of the velocities along the force */
} flow;

/* The flow on the grid of fluid cells, or on the same with solid ones. */
static flow run(ambit *a, int64_t n, int64_t iterations, int is_sparse)
{
  const int64_t box[] = {n, n, n};
  ambit_grid *grid =
      is_sparse ? ambit_grid_create_sparse(a, 3, box, is_fluid, &n) : ambit_grid_create(a, 3, box);
  ambit_field *f = ambit_field_create_vector(grid, "f", AMBIT_F32, 19, AMBIT_SOA);
  ambit_field *g = ambit_field_create_vector(grid, "g", AMBIT_F32, 19, AMBIT_SOA);
  ambit_scalar *sum = ambit_scalar_create(a, "flux", AMBIT_F64);
  ambit_program *p = ambit_program_create(grid);

  ambit_field_boundary(f, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_field_boundary(f, AMBIT_INACTIVE, AMBIT_CONSTANT, -1);
  ambit_field_fill(f, at_rest, &n);
  ambit_apply(p, ambit_kernel_create(a, flow_rule), f, g, sum, OMEGA, FORCE);
  ambit_swap(p, f, g);
  ambit_run(p, iterations);
  if (!ambit_process(a) && !ambit_error(a))
    printf("%s grid: %lld cells\n", is_sparse ? "sparse" : "dense",
           (long long)ambit_grid_cells(grid));
  return (flow){grid, f, ambit_scalar_get(sum)};
}

/* Whether all populations are equal; solid cells have -1 on both grids. */
static int is_same(ambit_field *a, ambit_field *b, int64_t n)
{
  const size_t bytes = (size_t)(n * n * n) * 19 * sizeof(float);
  float *x = malloc(bytes), *y = malloc(bytes);
  int same = x && y && !ambit_field_read(a, NULL, NULL, x) && !ambit_field_read(b, NULL, NULL, y) &&
             !memcmp(x, y, bytes);

  free(x);
  free(y);
  return same;
}

/* A picture of the speed along the force, in the middle plane. */
static void save(ambit *a, const flow *x, const char *path)
{
  ambit_field *s = ambit_field_create(x->grid, "speed", AMBIT_F32);
  ambit_program *p = ambit_program_create(x->grid);

  ambit_apply(p, ambit_kernel_create(a, speed_rule), x->f, s);
  ambit_run(p, 1);
  ambit_field_save(s, path);
}

int main(int argc, char **argv)
{
  ambit *a = ambit_open(&argc, &argv);
  const double viscosity = (1 / OMEGA - 0.5) / 3;
  int64_t n = 40, iterations = 0;
  const char *output = NULL;
  double radius, drag;
  flow sparse, dense;
  int good;

  for (int i = 1; i + 1 < argc; i += 2) {
    if (!strcmp(argv[i], "--size")) n = atoll(argv[i + 1]);
    if (!strcmp(argv[i], "--iterations")) iterations = atoll(argv[i + 1]);
    if (!strcmp(argv[i], "--output")) output = argv[i + 1];
  }
  if (!iterations) iterations = 2 * n * n;
  ambit_option_set(a, "strict", "1"); /* the same operations on both grids */
  sparse = run(a, n, iterations, 1);
  dense = run(a, n, iterations, 0);
  radius = (double)n * cbrt(3 * FRACTION / (4 * PI));
  drag = FORCE * pow((double)n, 6) / (6 * PI * viscosity * radius * sparse.flux);
  good = is_same(sparse.f, dense.f, n) && sparse.flux == dense.flux;
  if (!ambit_process(a) && !ambit_error(a))
    printf("drag of a sphere %.3f, in the literature %.3f (%+.1f %%); the grids agree: %s\n", drag,
           DRAG, 100 * (drag / DRAG - 1), good ? "yes" : "no");
  if (output) save(a, &sparse, output);
  if (ambit_close(a)) return 1;
  return !good || fabs(drag / DRAG - 1) > 1.5 / (double)n; /* of the order of a cell */
}
