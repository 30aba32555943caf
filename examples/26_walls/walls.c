/* SPDX-License-Identifier: BSD-3-Clause */
/* walls.c - boundaries with a value on the face, each against an exact solution:
 *
 *   plate    an oscillating plate above a wall at rest (Stokes): values on the face, one a scalar
 *   film     a film on an incline, in the wind: a value below, a gradient above
 *   inflow   what flows in through a face is a field that changes in time
 *   shear    lattice Boltzmann between walls without friction: components change places
 *
 *   walls [picture.png]      the flow below the plate, from wall to plate, at 8 times of a period
 */
#include <ambit.h>

#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char text[] = AMBIT_SOURCE(
    void diffuse(const double *u, double *v, double r, double force) {
      *v = *u + r * (u[-1] + u[1] - 2 * *u) + force;
    }

    void plate(double *x, double omega) { *x = cos(omega * step()); }

    void wave(float *c) { *c = sinf(0.3f * step() + 0.7f * index(0)); }

    void carry(const float *c, float *d) { *d = c[0][-1]; }

    void collide(const double *f[9], double *g[9], double omega) {
      const int cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
      const int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
      const double w[9] = {4 / 9.0,  1 / 9.0,  1 / 9.0,  1 / 9.0, 1 / 9.0,
                           1 / 36.0, 1 / 36.0, 1 / 36.0, 1 / 36.0};
      double h[9];
      double rho = 0;
      double ux = 0;
      double uy = 0;

      for (int i = 0; i < 9; i++) {
        h[i] = f[i][-cy[i]][-cx[i]];
        rho += h[i];
        ux += cx[i] * h[i];
        uy += cy[i] * h[i];
      }
      for (int i = 0; i < 9; i++) {
        double cu = (cx[i] * ux + cy[i] * uy) / rho;

        *g[i] =
            h[i] +
            omega * (w[i] * rho *
                         (1 + 3 * cu + 4.5 * cu * cu - 1.5 * (ux * ux + uy * uy) / (rho * rho)) -
                     h[i]);
      }
    });

static int say(const char *name, double error, double most)
{
  printf("%-7s differs from the exact solution by %.1e, should be below %.0e: %s\n", name, error,
         most, error < most ? "ok" : "WRONG");
  return !(error < most);
}

static double *values_of(ambit_field *f, size_t n)
{
  double *v = calloc(n, sizeof *v);

  if (v) ambit_field_read(f, NULL, NULL, v);
  return v;
}

/* ---- the oscillating plate ---- */

enum { FINE = 40, PERIODS = 3, PHASES = 8 };

/* Appends a step that keeps the values of all FINE cells every so many steps. */
static ambit_record *watch(ambit *a, ambit_program *p, ambit_grid *g, ambit_field *u, int64_t every)
{
  ambit_record *profiles = ambit_record_create(a, "profiles");
  double at[FINE];

  for (int i = 0; i < FINE; i++)
    at[i] = i;
  ambit_sample(p, ambit_points_create(g, FINE, at, AMBIT_NEAREST), u, profiles);
  ambit_step_every(p, every);
  return profiles;
}

/* Draws the profiles of the last period, each as a curve. */
static void draw(ambit *a, ambit_record *profiles, const char *picture)
{
  ambit_record *curves = ambit_record_create(a, "curves");
  double profile[PHASES][FINE] = {{0}}, curve[FINE][PHASES];

  ambit_record_read(profiles, (PERIODS - 1) * PHASES, PHASES, profile[0]);
  for (int i = 0; i < FINE; i++)
    for (int c = 0; c < PHASES; c++)
      curve[i][c] = profile[c][i];
  ambit_record_write(curves, FINE, PHASES, curve[0]);
  ambit_record_save(curves, picture);
}

/* The height is 1, and so is the amplitude. Returns the largest error after three periods. A
 * picture may be NULL, and is of FINE cells. */
static double plate(ambit *a, ambit_kernel *k, int n, const char *picture)
{
  const double r = 0.4, nu = 0.1, dt = r / (nu * n * n), period = 4;
  const int steps = (int)(PERIODS * period / dt);
  const double omega = 8 * atan(1.0) / period;
  const double complex kappa = csqrt(I * omega / nu);
  int64_t extent = n;
  ambit_grid *g = ambit_grid_create(a, 1, &extent);
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F64),
              *v = ambit_field_create(g, "v", AMBIT_F64);
  ambit_scalar *x = ambit_scalar_create(a, "x", AMBIT_F64);
  ambit_program *p = ambit_program_create(g);
  ambit_record *profiles = NULL;
  double *got, worst = 0;

  ambit_field_boundary(u, AMBIT_LOW(0), AMBIT_DIRICHLET, 0);
  ambit_field_boundary(u, AMBIT_HIGH(0), AMBIT_DIRICHLET, x);
  ambit_apply(p, ambit_kernel_find(k, "plate"), x, omega * dt);
  ambit_apply(p, k, u, v, r, 0.0);
  ambit_swap(p, u, v);
  if (picture) profiles = watch(a, p, g, u, steps / (PERIODS * PHASES));
  ambit_run(p, steps);
  if (picture) draw(a, profiles, picture);
  got = values_of(u, (size_t)n);
  for (int i = 0; got && i < n; i++) {
    const double y = (i + 0.5) / n;
    const double exact = creal(csinh(kappa * y) / csinh(kappa) * cexp(I * omega * dt * steps));

    worst = fmax(worst, fabs(got[i] - exact));
  }
  free(got);
  return worst;
}

/* ---- the film ---- */

/* nu u'' = -G, u(0) = 0, u'(1) = wind: u = G / nu (y - y^2 / 2) + wind y */
static double film(ambit *a, ambit_kernel *k, int n)
{
  const double r = 0.45, force = 0.8, wind = 0.3, h = 1.0 / n;
  int64_t extent = n;
  ambit_grid *g = ambit_grid_create(a, 1, &extent);
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F64),
              *v = ambit_field_create(g, "v", AMBIT_F64);
  ambit_program *p = ambit_program_create(g);
  double *got, worst = 0;

  ambit_field_boundary(u, AMBIT_LOW(0), AMBIT_DIRICHLET, 0);
  ambit_field_boundary(u, AMBIT_HIGH(0), AMBIT_NEUMANN, wind * h);
  ambit_apply(p, k, u, v, r, r * force * h * h);
  ambit_swap(p, u, v);
  ambit_run(p, 30 * n * n);
  got = values_of(u, (size_t)n);
  for (int i = 0; got && i < n; i++) {
    const double y = (i + 0.5) * h;

    worst = fmax(worst, fabs(got[i] - (force * (y - y * y / 2) + wind * y)));
  }
  free(got);
  return worst;
}

/* ---- inflow ---- */

/* c moves one cell per step: after t steps, column x has what flowed in at t - 1 - x. */
static double inflow(ambit *a, ambit_kernel *k)
{
  enum { ROWS = 12, COLUMNS = 40, STEPS = 60 };
  ambit_grid *g = ambit_grid_create(a, 2, (int64_t[]){ROWS, COLUMNS});
  ambit_field *c = ambit_field_create(g, "c", AMBIT_F32),
              *d = ambit_field_create(g, "d", AMBIT_F32),
              *in = ambit_field_create(g, "in", AMBIT_F32);
  ambit_program *p = ambit_program_create(g);
  static float got[ROWS][COLUMNS];
  double worst = 0;

  ambit_field_boundary(c, AMBIT_LOW(1), AMBIT_CONSTANT, in);
  ambit_apply_faces(p, AMBIT_LOW(1), ambit_kernel_find(k, "wave"), in);
  ambit_apply(p, ambit_kernel_find(k, "carry"), c, d);
  ambit_swap(p, c, d);
  ambit_run(p, STEPS);
  ambit_field_read(c, NULL, NULL, got);
  for (int y = 0; y < ROWS; y++)
    for (int x = 0; x < COLUMNS; x++)
      worst = fmax(worst, fabs((double)got[y][x] - sin(0.3 * (STEPS - 1 - x) + 0.7 * y)));
  return worst;
}

/* ---- shear between walls without friction ---- */

enum { HEIGHT = 32 };

static double shear_start(const int64_t *i, int c, void *user)
{
  static const int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
  static const double w[9] = {4 / 9.0,  1 / 9.0,  1 / 9.0,  1 / 9.0, 1 / 9.0,
                              1 / 36.0, 1 / 36.0, 1 / 36.0, 1 / 36.0};
  const double u = *(const double *)user * cos(4 * atan(1.0) * ((double)i[0] + 0.5) / HEIGHT);

  return w[c] * (1 + 3 * cx[c] * u + 4.5 * cx[c] * cx[c] * u * u - 1.5 * u * u);
}

/* A flow along x of cos(pi y / H) decays as exp(-nu (pi / H)^2 t). The relative error of that. */
static double shear(ambit *a, ambit_kernel *k)
{
  static const int mirror[9] = {0, 1, 4, 3, 2, 8, 7, 6, 5}; /* up and down change places */
  const double omega = 1.2, nu = (1 / omega - 0.5) / 3;
  const int steps = 300;
  ambit_grid *g = ambit_grid_create(a, 2, (int64_t[]){HEIGHT, 8});
  ambit_field *f = ambit_field_create_vector(g, "f", AMBIT_F64, 9, AMBIT_SOA),
              *h = ambit_field_create_vector(g, "h", AMBIT_F64, 9, AMBIT_SOA);
  ambit_program *p = ambit_program_create(g);
  double speed = 1e-3, *got, sum = 0, kk = 4 * atan(1.0) / HEIGHT;

  ambit_field_fill(f, shear_start, &speed);
  ambit_field_boundary(f, AMBIT_AXIS(1), AMBIT_PERIODIC, 0);
  ambit_field_boundary_permuted(f, AMBIT_AXIS(0), AMBIT_SYMMETRIC, mirror);
  ambit_apply(p, ambit_kernel_find(k, "collide"), f, h, omega);
  ambit_swap(p, f, h);
  ambit_run(p, steps);
  got = values_of(f, (size_t)HEIGHT * 8 * 9);
  for (int y = 0; got && y < HEIGHT; y++) {
    const double *c = got + (size_t)y * 8 * 9, u = c[1] + c[5] + c[8] - c[3] - c[6] - c[7];

    sum += u * cos(kk * (y + 0.5)) * 2 / HEIGHT;
  }
  free(got);
  return fabs(sum / speed / exp(-nu * kk * kk * steps) - 1);
}

int main(int argc, char **argv)
{
  ambit *a = ambit_open(&argc, &argv);
  ambit_kernel *k = ambit_kernel_create(a, text); /* diffuse */
  double coarse, fine;
  int wrong;

  if (ambit_process(a) > 0 && !freopen("/dev/null", "w", stdout))
    return 1; /* only process 0 prints */
  coarse = plate(a, k, FINE / 2, NULL);
  fine = plate(a, k, FINE, argc > 1 ? argv[1] : NULL);
  wrong = say("plate", fine, 1e-3);
  printf("        with half the cells %.1f times as much, should be 4\n", coarse / fine);
  wrong |= !(coarse / fine > 3.5 && coarse / fine < 4.5);
  coarse = film(a, k, 10);
  fine = film(a, k, 20);
  wrong |= say("film", fine, 1e-3);
  printf("        with half the cells %.1f times as much, should be 4\n", coarse / fine);
  wrong |= !(coarse / fine > 3.5 && coarse / fine < 4.5);
  wrong |= say("inflow", inflow(a, k), 1e-5);
  wrong |= say("shear", shear(a, k), 2e-3);
  return ambit_close(a) != AMBIT_OK || wrong;
}
