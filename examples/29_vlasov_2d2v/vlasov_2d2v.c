/* SPDX-License-Identifier: BSD-3-Clause */
/* vlasov_2d2v.c - electrons f(x, y, vx, vy) in their own electric field, on a grid of four axes:
 *
 *   df/dt + v . grad f - E . df/dv = 0      E = -grad phi      -laplace phi = 1 - n
 *
 * The density n(x, y) is a sum over both velocities, and all velocities read E(x, y): fields on two
 * axes of the grid. A step moves f along one axis after the other (Cheng and Knorr, J. Comput.
 * Phys. 22, 1976), each time by a polynomial through seven cells; conjugate gradients, a program
 * that the step calls, solve for phi. A wave oblique to the axes dies out without collisions
 * (Landau damping), at the rate and the frequency of theory.
 *
 *   vlasov_2d2v [picture.png]      the energy of the field over the steps
 */
#include <ambit.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NX = 16, NV = 32 };
#define PI     3.14159265358979323846
#define V_MAX  6.0
#define DV     (2 * V_MAX / NV)
#define WAVE_X 0.3 /* the wave number is 0.5 */
#define WAVE_Y 0.4
#define DX     (2 * PI / WAVE_X / NX)
#define DY     (2 * PI / WAVE_Y / NX)
#define DT     0.1
#define STEPS  200

static const char text[] = AMBIT_SOURCE(
    /* The value at a distance s, in cells, of the polynomial through f[-3] to f[3]: its weights. */
    static double weight(int j, double s) {
      double w = 1;

      for (int m = -3; m <= 3; m++)
        if (m != j) w *= (s - m) / (j - m);
      return w;
    }

    void move_x(const double *f, double *g, double time) {
      double s = -(-V_MAX + DV * (index(2) + 0.5)) * time / DX;

      *g = 0;
      for (int j = -3; j <= 3; j++)
        *g += weight(j, s) * f[j][0][0][0];
    }

    void move_y(const double *f, double *g, double time) {
      double s = -(-V_MAX + DV * (index(3) + 0.5)) * time / DY;

      *g = 0;
      for (int j = -3; j <= 3; j++)
        *g += weight(j, s) * f[0][j][0][0];
    }

    void push_x(const double *f, const double *e, double *g, double time) {
      double s = *e * time / DV;

      *g = 0;
      for (int j = -3; j <= 3; j++)
        *g += weight(j, s) * f[0][0][j][0];
    }

    void push_y(const double *f, const double *e, double *g, double time) {
      double s = *e * time / DV;

      *g = 0;
      for (int j = -3; j <= 3; j++)
        *g += weight(j, s) * f[0][0][0][j];
    }

    void density(const double *f, sum double *n) { *n = DV * DV * *f; }

    /* ---- -laplace phi = mean - n, by conjugate gradients from the phi of the step before ---- */

    void start(const double *n, double mean, const double *phi, double *r, double *p,
               sum double *rr) {
      *r = mean - *n;
      for (int k = -4; k <= 4; k++)
        *r += coefficient(2, 8, k) * (phi[k][0][0][0] / (DX * DX) + phi[0][k][0][0] / (DY * DY));
      *p = *r;
      *rr = *r * *r;
    }

    void multiply(const double *p, double *q, sum double *pq) {
      *q = 0;
      for (int k = -4; k <= 4; k++)
        *q -= coefficient(2, 8, k) * (p[k][0][0][0] / (DX * DX) + p[0][k][0][0] / (DY * DY));
      *pq = *p * *q;
    }

    void set_alpha(double rr, double pq, double *alpha) { *alpha = rr / pq; }

    void advance(const double *p, const double *q, double *phi, double *r, double alpha,
                 sum double *rr) {
      *phi += alpha * *p;
      *r -= alpha * *q;
      *rr = *r * *r;
    }

    void set_beta(double rr, double *before, double *beta) {
      *beta = rr / *before;
      *before = rr;
    }

    void turn(const double *r, double *p, double beta) { *p = *r + beta * *p; }

    void electric(const double *phi, double *ex, double *ey, sum double *w) {
      *ex = 0;
      *ey = 0;
      for (int k = -4; k <= 4; k++) {
        *ex -= coefficient(1, 8, k) * phi[k][0][0][0] / DX;
        *ey -= coefficient(1, 8, k) * phi[0][k][0][0] / DY;
      }
      *w = 0.5 * (*ex * *ex + *ey * *ey);
    });

static double electrons(const int64_t *i, int component, void *user)
{
  const double phase = 2 * PI * (double)(i[0] + i[1]) / NX; /* WAVE_X x + WAVE_Y y */
  const double vx = -V_MAX + DV * ((double)i[2] + 0.5), vy = -V_MAX + DV * ((double)i[3] + 0.5);

  (void)component;
  (void)user;
  return (1 + 0.01 * cos(phase)) * exp(-0.5 * (vx * vx + vy * vy)) / (2 * PI);
}

static ambit_field *profile(ambit_grid *g, const char *name)
{
  ambit_field *f = ambit_field_create_on(g, name, AMBIT_F64, AMBIT_AXIS(0) | AMBIT_AXIS(1));

  ambit_field_boundary(f, AMBIT_AXIS(0) | AMBIT_AXIS(1), AMBIT_PERIODIC, 0);
  return f;
}

/* Appends the solution for phi. */
static void solve(ambit *a, ambit_program *p, ambit_grid *g, ambit_kernel *k, ambit_field *n,
                  ambit_field *phi)
{
  ambit_field *r = profile(g, "r"), *d = profile(g, "d"), *q = profile(g, "q");
  ambit_scalar *mean = ambit_scalar_create(a, "mean", AMBIT_F64);
  ambit_scalar *rr = ambit_scalar_create(a, "rr", AMBIT_F64);
  ambit_scalar *pq = ambit_scalar_create(a, "pq", AMBIT_F64);
  ambit_scalar *before = ambit_scalar_create(a, "before", AMBIT_F64);
  ambit_scalar *alpha = ambit_scalar_create(a, "alpha", AMBIT_F64);
  ambit_scalar *beta = ambit_scalar_create(a, "beta", AMBIT_F64);
  ambit_program *cg = ambit_program_create(g);

  ambit_apply(cg, ambit_kernel_find(k, "multiply"), d, q, pq);
  ambit_apply(cg, ambit_kernel_find(k, "set_alpha"), before, pq, alpha);
  ambit_apply(cg, ambit_kernel_find(k, "advance"), d, q, phi, r, alpha, rr);
  ambit_apply(cg, ambit_kernel_find(k, "set_beta"), rr, before, beta);
  ambit_apply(cg, ambit_kernel_find(k, "turn"), r, d, beta);
  ambit_measure(p, n, AMBIT_MEAN, mean);
  ambit_apply(p, ambit_kernel_find(k, "start"), n, mean, phi, r, d, before);
  ambit_call_until(p, cg, rr, AMBIT_BELOW, 1e-20, 100);
}

/* Stores the energy of the field in each step. A picture of it may be NULL. */
static void plasma(ambit *a, ambit_kernel *k, double *energy, const char *picture)
{
  ambit_grid *g = ambit_grid_create(a, 4, (int64_t[]){NX, NX, NV, NV});
  ambit_field *f = ambit_field_create(g, "f", AMBIT_F64),
              *h = ambit_field_create(g, "h", AMBIT_F64);
  ambit_field *n = profile(g, "n"), *phi = profile(g, "phi");
  ambit_field *ex = profile(g, "ex"), *ey = profile(g, "ey");
  ambit_scalar *w = ambit_scalar_create(a, "w", AMBIT_F64);
  ambit_program *p = ambit_program_create(g);
  ambit_record *record;

  for (int i = 0; i < 2; i++) {
    ambit_field_boundary(i ? f : h, AMBIT_AXIS(0) | AMBIT_AXIS(1), AMBIT_PERIODIC, 0);
    ambit_field_boundary(i ? f : h, AMBIT_AXIS(2) | AMBIT_AXIS(3), AMBIT_CONSTANT, 0);
  }
  ambit_field_fill(f, electrons, NULL);
  ambit_apply(p, ambit_kernel_find(k, "move_x"), f, h, DT / 2);
  ambit_apply(p, ambit_kernel_find(k, "move_y"), h, f, DT / 2);
  ambit_apply(p, ambit_kernel_find(k, "density"), f, n);
  solve(a, p, g, k, n, phi);
  ambit_apply(p, ambit_kernel_find(k, "electric"), phi, ex, ey, w);
  record = ambit_history(p, w, 1);
  ambit_apply(p, ambit_kernel_find(k, "push_x"), f, ex, h, DT);
  ambit_apply(p, ambit_kernel_find(k, "push_y"), h, ey, f, DT);
  ambit_apply(p, ambit_kernel_find(k, "move_y"), f, h, DT / 2);
  ambit_apply(p, ambit_kernel_find(k, "move_x"), h, f, DT / 2);
  ambit_run(p, STEPS);
  ambit_record_read(record, 0, STEPS, energy);
  if (picture) ambit_record_save(record, picture);
}

static int say(const char *what, double got, double want, double most)
{
  const int wrong = !(fabs(got - want) <= most * fabs(want));

  printf("%s %8.5f, by theory %8.5f: %s\n", what, got, want, wrong ? "WRONG" : "ok");
  return wrong;
}

/* The energy has its maxima at intervals of half a period, and they decay as exp(2 gamma t). */
static int check(const double *w)
{
  double first = 0, last = 0, first_w = 0, last_w = 0;
  int maxima = 0;

  for (int i = (int)(3 / DT); i + 1 < STEPS; i++) {
    double bend, shift;

    if (!(w[i] > w[i - 1] && w[i] >= w[i + 1])) continue;
    bend = w[i - 1] - 2 * w[i] + w[i + 1]; /* the vertex of a parabola */
    shift = 0.5 * (w[i - 1] - w[i + 1]) / bend;
    last = (i + shift) * DT;
    last_w = w[i] - 0.25 * (w[i - 1] - w[i + 1]) * shift;
    if (!maxima++) first = last, first_w = last_w;
  }
  if (maxima < 3) return printf("there are no waves: WRONG\n"), 1;
  /* |k| = 0.5: omega = 1.4156 - 0.1533 i (Fried and Conte's tables of the dispersion function) */
  return say("frequency", PI * (maxima - 1) / (last - first), 1.41566, 0.005) |
         say("rate     ", log(last_w / first_w) / 2 / (last - first), -0.15336, 0.02);
}

int main(int argc, char **argv)
{
  ambit *a = ambit_open(&argc, &argv);
  double energy[STEPS] = {0};
  int wrong;

  AMBIT_DEFINE(a, V_MAX);
  AMBIT_DEFINE(a, DV);
  AMBIT_DEFINE(a, DX);
  AMBIT_DEFINE(a, DY);
  plasma(a, ambit_kernel_create(a, text), energy, argc > 1 ? argv[1] : NULL);
  if (ambit_process(a) > 0 && !freopen("/dev/null", "w", stdout))
    return 1; /* only process 0 prints */
  wrong = check(energy);
  return ambit_close(a) != AMBIT_OK || wrong;
}
