/* SPDX-License-Identifier: BSD-3-Clause */
/* cavity.c - flow in a square box whose lid moves, by the lattice Boltzmann method (D2Q9).
 *
 *   cavity [--re 100|1000] [--size N] [--output FILE.png]   compares N x N cells with Ghia's table
 */
#include <ambit.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LID 0.1 /* speed of the lid in cells per iteration, a sixth of the speed of sound */

/* Row 0 is below the lid, which moves towards higher columns. A population that would come from
 * behind a wall is the opposite one of this cell, turned round half-way to its neighbour; the lid
 * gives it a push. */
static const char flow_rule[] = AMBIT_SOURCE(
    static float equilibrium(float w, float rho, float cu, float uu) {
      return w * rho * (1 + 3 * cu + 4.5f * cu * cu - 1.5f * uu);
    }

    void flow(const float *f[9], float *g[9], float omega, float lid) {
      const int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
      const int cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
      const int back[9] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
      const float w[9] = {4 / 9.0f,  1 / 9.0f,  1 / 9.0f,  1 / 9.0f, 1 / 9.0f,
                          1 / 36.0f, 1 / 36.0f, 1 / 36.0f, 1 / 36.0f};
      float h[9], rho = 0, ux = 0, uy = 0;

      for (int i = 0; i < 9; i++) {
        const int top = cy[i] == 1 && index(0) == 0;
        const int wall = (cy[i] == -1 && index(0) == extent(0) - 1) ||
                         (cx[i] == 1 && index(1) == 0) ||
                         (cx[i] == -1 && index(1) == extent(1) - 1);

        h[i] = wall || top ? *f[back[i]] : f[i][-cy[i]][-cx[i]];
        if (top) h[i] += 6 * w[i] * cx[i] * lid;
        rho += h[i];
        ux += cx[i] * h[i];
        uy += cy[i] * h[i];
      }
      ux /= rho;
      uy /= rho;
      for (int i = 0; i < 9; i++) {
        const float e = equilibrium(w[i], rho, cx[i] * ux + cy[i] * uy, ux * ux + uy * uy);

        *g[i] = h[i] + omega * (e - h[i]);
      }
    });

/* Velocity in units of the lid's, and its magnitude. */
static const char velocity_rule[] =
    AMBIT_SOURCE(void velocity(const float *f[9], float *u[2], float *speed, float lid) {
      const int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
      const int cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
      float rho = 0, ux = 0, uy = 0;

      for (int i = 0; i < 9; i++) {
        rho += *f[i];
        ux += cx[i] * *f[i];
        uy += cy[i] * *f[i];
      }
      *u[0] = ux / (rho * lid);
      *u[1] = -uy / (rho * lid);
      *speed = sqrtf(*u[0] * *u[0] + *u[1] * *u[1]);
    });

/* U. Ghia, K. N. Ghia, C. T. Shin: High-Re solutions for incompressible flow using the
 * Navier-Stokes equations and a multigrid method, J. Comp. Phys. 48 (1982), tables I and II. */
enum { POINTS = 15 };
static const double heights[POINTS] = {0.9766, 0.9688, 0.9609, 0.9531, 0.8516,
                                       0.7344, 0.6172, 0.5000, 0.4531, 0.2813,
                                       0.1719, 0.1016, 0.0703, 0.0625, 0.0547};
static const double columns[POINTS] = {0.9688, 0.9609, 0.9531, 0.9453, 0.9063,
                                       0.8594, 0.8047, 0.5000, 0.2344, 0.2266,
                                       0.1563, 0.0938, 0.0781, 0.0703, 0.0625};
static const struct truth {
  int reynolds;
  double u[POINTS]; /* horizontal, on the vertical line through the centre */
  double v[POINTS]; /* vertical, on the horizontal line */
} truths[] = {{100,
               {0.84123, 0.78871, 0.73722, 0.68717, 0.23151, 0.00332, -0.13641, -0.20581, -0.21090,
                -0.15662, -0.10150, -0.06434, -0.04775, -0.04192, -0.03717},
               {-0.05906, -0.07391, -0.08864, -0.10313, -0.16914, -0.22445, -0.24533, 0.05454,
                0.17527, 0.17507, 0.16077, 0.12317, 0.10890, 0.10091, 0.09233}},
              {1000,
               {0.65928, 0.57492, 0.51117, 0.46604, 0.33304, 0.18719, 0.05702, -0.06080, -0.10648,
                -0.27805, -0.38289, -0.29730, -0.22220, -0.20196, -0.18109},
               {-0.21388, -0.27669, -0.33714, -0.39188, -0.51550, -0.42665, -0.31966, 0.02526,
                0.32235, 0.33075, 0.37095, 0.32627, 0.30353, 0.29012, 0.27485}}};

static double at_rest(const int64_t *index, int component, void *user)
{
  (void)index;
  (void)user;
  return component == 0 ? 4 / 9.0 : component < 5 ? 1 / 9.0 : 1 / 36.0;
}

/* Component c of the velocity at x, y in [0, 1], y upwards, between the centres of four cells. */
static double velocity_at(const float *u, int64_t n, double x, double y, int c)
{
  const double column = x * (double)n - 0.5, row = (1 - y) * (double)n - 0.5;
  const int64_t j = (int64_t)column, i = (int64_t)row;
  const double a = column - (double)j, b = row - (double)i;
  double sum = 0;

  for (int k = 0; k < 4; k++)
    sum += (k & 1 ? a : 1 - a) * (k & 2 ? b : 1 - b) *
           (double)u[((i + k / 2) * n + j + k % 2) * 2 + c];
  return sum;
}

/* The largest difference from the table. */
static double compare(const struct truth *t, const float *u, int64_t n)
{
  double worst = 0;

  printf("      y        u   Ghia's        x        v   Ghia's\n");
  for (int i = 0; i < POINTS; i++) {
    const double ux = velocity_at(u, n, 0.5, heights[i], 0);
    const double uy = velocity_at(u, n, columns[i], 0.5, 1);

    printf(" %.4f  %7.4f  %7.4f   %.4f  %7.4f  %7.4f\n", heights[i], ux, t->u[i], columns[i], uy,
           t->v[i]);
    worst = fmax(worst, fmax(fabs(ux - t->u[i]), fabs(uy - t->v[i])));
  }
  return worst;
}

static int solve(ambit *a, const struct truth *t, int64_t n, const char *output)
{
  const double viscosity = LID * (double)n / t->reynolds, turn = (double)n / LID;
  const int64_t iterations = (int64_t)(turn * (t->reynolds > 100 ? 50 : 25));
  ambit_grid *g = ambit_grid_create(a, 2, (int64_t[]){n, n});
  ambit_field *f = ambit_field_create_vector(g, "f", AMBIT_F32, 9, AMBIT_SOA);
  ambit_field *h = ambit_field_create_vector(g, "h", AMBIT_F32, 9, AMBIT_SOA);
  ambit_field *u = ambit_field_create_vector(g, "u", AMBIT_F32, 2, AMBIT_SOA);
  ambit_field *speed = ambit_field_create(g, "speed", AMBIT_F32);
  ambit_program *p = ambit_program_create(g), *end = ambit_program_create(g);
  float *values = calloc((size_t)(n * n) * 2, sizeof *values);
  double worst = INFINITY;

  ambit_field_fill(f, at_rest, NULL);
  ambit_field_boundary(f, AMBIT_ALL_FACES, AMBIT_CLAMP, 0); /* read, but never used */
  ambit_apply(p, ambit_kernel_create(a, flow_rule), f, h, 1 / (0.5 + 3 * viscosity), LID);
  ambit_swap(p, f, h);
  ambit_run(p, iterations);
  ambit_apply(end, ambit_kernel_create(a, velocity_rule), f, u, speed, LID);
  ambit_run(end, 1);
  if (output) ambit_field_save(speed, output);
  if (values && !ambit_field_read(u, NULL, NULL, values)) worst = compare(t, values, n);
  free(values);
  printf("Re %d, %lld x %lld cells, %lld iterations: largest difference %.4f of the lid's speed, "
         "should be below 0.02: %s\n",
         t->reynolds, (long long)n, (long long)n, (long long)iterations, worst,
         worst < 0.02 ? "ok" : "WRONG");
  return worst >= 0.02;
}

int main(int argc, char **argv)
{
  ambit *a = ambit_open(&argc, &argv);
  const struct truth *truth = &truths[0];
  const char *output = NULL;
  int64_t size = 64;
  int wrong = 1;

  for (int i = 1; i + 1 < argc; i += 2) {
    if (!strcmp(argv[i], "--re") && atoi(argv[i + 1]) == 1000) truth = &truths[1];
    if (!strcmp(argv[i], "--size")) size = atoll(argv[i + 1]);
    if (!strcmp(argv[i], "--output")) output = argv[i + 1];
  }
  if (ambit_process(a) > 0 && !freopen("/dev/null", "w", stdout))
    return 1; /* only process 0 prints */
  if (size < 16)
    fprintf(stderr, "cavity: --size %lld; at least 16 cells show a flow\n", (long long)size);
  else
    wrong = solve(a, truth, size, output);
  return ambit_close(a) != AMBIT_OK || wrong;
}
