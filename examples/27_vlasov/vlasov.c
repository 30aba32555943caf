/* SPDX-License-Identifier: BSD-3-Clause */
/* vlasov.c - electrons f(x, v) in their own electric field e(x), the Vlasov-Ampere equations:
 *
 *   df/dt + v df/dx - e df/dv = 0        de/dt = j, the sum of v f over all velocities
 *
 * j and e are fields on axis 0 of the grid: a reduction over v writes j, and all v read e. Two
 * runs, each against theory:
 *
 *   landau    a wave in a plasma at rest dies out, without collisions (Landau damping)
 *   streams   two beams through each other are unstable: a wave grows at the rate of the
 *             dispersion relation, and ends in a vortex of trapped electrons: vlasov.png
 */
#include <ambit.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char text[] = AMBIT_SOURCE(
    void current(const double *f, sum double *j, double v0, double dv) {
      *j = (v0 + dv * index(1)) * *f * dv;
    }

    /* A stage of the third-order Runge-Kutta method: old values and a step, mixed; differences are
     * of fifth order, upwind. */
    void move(const double *old, const double *f, const double *e, double *g, double part,
              double v0, double dv, double dx, double dt) {
      double v = v0 + dv * index(1);
      double slope_x = 45 * (f[1][0] - f[-1][0]) - 9 * (f[2][0] - f[-2][0]) + f[3][0] - f[-3][0];
      double slope_v = 45 * (f[0][1] - f[0][-1]) - 9 * (f[0][2] - f[0][-2]) + f[0][3] - f[0][-3];
      double rough_x =
          f[3][0] + f[-3][0] - 6 * (f[2][0] + f[-2][0]) + 15 * (f[1][0] + f[-1][0]) - 20 * *f;
      double rough_v =
          f[0][3] + f[0][-3] - 6 * (f[0][2] + f[0][-2]) + 15 * (f[0][1] + f[0][-1]) - 20 * *f;
      double change = (fabs(v) * rough_x - v * slope_x) / (60 * dx) +
                      (fabs(*e) * rough_v + *e * slope_v) / (60 * dv);

      *g = part * *old + (1 - part) * (*f + dt * change);
    }

    void ampere(const double *old, const double *e, const double *j, double *next, double part,
                double dt) { *next = part * *old + (1 - part) * (*e + dt * *j); }

    void energy(const double *e, sum double *w, double dx) { *w = 0.5 * dx * *e * *e; }

    void mass(const double *f, sum double *m, double cell) { *m = cell * *f; });

/* A plasma: waves of wave number k in a period of them, and two beams at +-drift. */
typedef struct plasma {
  int nx, nv;
  double k, amplitude, drift, v_max, dt;
} plasma;

static const double pi = 3.14159265358979323846;

static double beams(const plasma *p, double v)
{
  return (exp(-0.5 * (v - p->drift) * (v - p->drift)) +
          exp(-0.5 * (v + p->drift) * (v + p->drift))) /
         sqrt(8 * pi);
}

static double wave(const plasma *p, int64_t i)
{
  return 2 * pi * (double)i / p->nx; /* k x */
}

static double electrons(const int64_t *i, int component, void *user)
{
  const plasma *p = user;
  const double dv = 2 * p->v_max / p->nv;

  (void)component;
  return (1 + p->amplitude * cos(wave(p, i[0]))) * beams(p, -p->v_max + ((double)i[1] + 0.5) * dv);
}

/* Ions are at rest: de/dx = 1 - n. */
static double start_field(const int64_t *i, int component, void *user)
{
  const plasma *p = user;

  (void)component;
  return -p->amplitude / p->k * sin(wave(p, i[0]));
}

/* Runs until `time`; returns the energy of the field in each iteration, to be freed. */
static double *run(ambit *a, ambit_kernel *k, plasma *p, double time, const char *picture,
                   double *mass)
{
  const double dx = 2 * pi / p->k / p->nx, dv = 2 * p->v_max / p->nv, v0 = -p->v_max + 0.5 * dv;
  const double parts[] = {0, 0.75, 1 / 3.0};
  const int64_t steps = (int64_t)lround(time / p->dt);
  ambit_grid *g = ambit_grid_create(a, 2, (int64_t[]){p->nx, p->nv});
  ambit_field *f[3], *e[3], *j = ambit_field_create_on(g, "j", AMBIT_F64, AMBIT_AXIS(0));
  ambit_scalar *w = ambit_scalar_create(a, "w", AMBIT_F64),
               *m = ambit_scalar_create(a, "m", AMBIT_F64);
  ambit_program *program = ambit_program_create(g), *count = ambit_program_create(g);
  ambit_record *record;
  double *energy = calloc((size_t)steps, sizeof *energy);

  for (int i = 0; i < 3; i++) {
    f[i] = ambit_field_create(g, i ? i > 1 ? "f2" : "f1" : "f", AMBIT_F64);
    e[i] = ambit_field_create_on(g, i ? i > 1 ? "e2" : "e1" : "e", AMBIT_F64, AMBIT_AXIS(0));
    ambit_field_boundary(f[i], AMBIT_AXIS(0), AMBIT_PERIODIC, 0);
    ambit_field_boundary(f[i], AMBIT_AXIS(1), AMBIT_CONSTANT, 0);
  }
  ambit_field_fill(f[0], electrons, p);
  ambit_field_fill(e[0], start_field, p);
  for (int i = 0; i < 3; i++) { /* f -> f1 -> f2 -> f1, which is f after the swap */
    const int to = i == 1 ? 2 : 1;

    ambit_apply(program, k, f[i], j, v0, dv);
    ambit_apply(program, ambit_kernel_find(k, "move"), f[0], f[i], e[i], f[to], parts[i], v0, dv,
                dx, p->dt);
    ambit_apply(program, ambit_kernel_find(k, "ampere"), e[0], e[i], j, e[to], parts[i], p->dt);
  }
  ambit_swap(program, f[0], f[1]);
  ambit_swap(program, e[0], e[1]);
  ambit_apply(program, ambit_kernel_find(k, "energy"), e[0], w, dx);
  record = ambit_history(program, w, 1);
  ambit_run(program, steps);
  ambit_apply(count, ambit_kernel_find(k, "mass"), f[0], m, dv / p->nx);
  ambit_run(count, 1);
  *mass = ambit_scalar_get(m);
  ambit_record_read(record, 0, steps, energy);
  if (picture) ambit_field_save(f[0], picture);
  ambit_grid_destroy(g);
  return energy;
}

static int say(const char *name, const char *what, double got, double want, double most)
{
  const int wrong = !(fabs(got - want) <= most * fabs(want));

  printf("%-8s %s %8.5f, by theory %8.5f: %s\n", name, what, got, want, wrong ? "WRONG" : "ok");
  return wrong;
}

/* ---- Landau damping ---- */

/* The energy has its maxima at intervals of half a period, and they decay as exp(2 gamma t). */
static int landau(ambit *a, ambit_kernel *k)
{
  plasma p = {.nx = 48, .nv = 192, .k = 0.5, .amplitude = 0.01, .v_max = 6, .dt = 0.04};
  const double end = 22;
  double mass, first = 0, last = 0, first_w = 0, last_w = 0;
  double *w = run(a, k, &p, end, NULL, &mass);
  int maxima = 0, wrong = 0;

  for (int64_t i = (int64_t)(3 / p.dt); w && i + 1 < (int64_t)(end / p.dt) - 1; i++) {
    double bend, shift;

    if (!(w[i] > w[i - 1] && w[i] >= w[i + 1])) continue;
    bend = w[i - 1] - 2 * w[i] + w[i + 1]; /* the vertex of a parabola */
    shift = 0.5 * (w[i - 1] - w[i + 1]) / bend;
    last = ((double)i + shift) * p.dt;
    last_w = w[i] - 0.25 * (w[i - 1] - w[i + 1]) * shift;
    if (!maxima++) {
      first = last;
      first_w = last_w;
    }
  }
  free(w);
  if (maxima < 3) return printf("landau   has no waves: WRONG\n"), 1;
  /* k = 0.5: omega = 1.4156 - 0.1533 i (Fried and Conte's tables of the dispersion function) */
  wrong |= say("landau", "frequency", pi * (maxima - 1) / (last - first), 1.41566, 0.005);
  wrong |= say("landau", "rate     ", log(last_w / first_w) / 2 / (last - first), -0.15336, 0.01);
  wrong |= say("landau", "electrons", mass, 1, 1e-6);
  return wrong;
}

/* ---- two streams ---- */

/* 1 - 1/k^2 times the integral of v f0'(v) / (v^2 + (gamma/k)^2): 0 for a wave that grows with
 * rate gamma and does not move. */
static double dispersion(const plasma *p, double gamma)
{
  const double h = 0.001, g = gamma / p->k;
  double sum = 0;

  for (int i = 0; i < 24000; i++) {
    const double v = -12 + (i + 0.5) * h, slope = (beams(p, v + 1e-4) - beams(p, v - 1e-4)) / 2e-4;

    sum += h * v * slope / (v * v + g * g);
  }
  return 1 - sum / (p->k * p->k);
}

static double growth(const plasma *p)
{
  double lo = 1e-3, hi = 1;

  for (int i = 0; i < 40; i++) {
    const double middle = 0.5 * (lo + hi);

    if (dispersion(p, middle) < 0)
      lo = middle;
    else
      hi = middle;
  }
  return lo;
}

/* Of the logarithm, by least squares: besides the wave that grows there are others, of constant
 * amplitude. */
static double slope(const double *w, int64_t from, int64_t to)
{
  const double middle = 0.5 * (double)(from + to - 1);
  double xy = 0, xx = 0;

  for (int64_t i = from; i < to; i++) {
    xy += ((double)i - middle) * log(w[i]);
    xx += ((double)i - middle) * ((double)i - middle);
  }
  return xy / xx;
}

static int streams(ambit *a, ambit_kernel *k, int nx, int nv, double time, const char *picture)
{
  plasma p = {.nx = nx,
              .nv = nv,
              .k = 0.2,
              .amplitude = 1e-5,
              .drift = 3,
              .v_max = 9,
              .dt = 0.025 * 128 / nx};
  const double want = growth(&p);
  double mass, rate, *w = run(a, k, &p, time, picture, &mass);

  if (!w) return 1;
  rate = slope(w, (int64_t)(18 / p.dt), (int64_t)(34 / p.dt)) / 2 / p.dt;
  free(w);
  return say("streams", "rate     ", rate, want, 0.01) | say("streams", "electrons", mass, 1, 1e-6);
}

int main(int argc, char **argv)
{
  ambit *a = ambit_open(&argc, &argv);
  ambit_kernel *k = ambit_kernel_create(a, text); /* current */
  const int draws = argc > 1 && !strcmp(argv[1], "--picture");
  int wrong;

  if (ambit_process(a) > 0 && !freopen("/dev/null", "w", stdout))
    return 1; /* only process 0 prints */
  wrong = landau(a, k);
  wrong |= draws ? streams(a, k, 256, 256, 57, "vlasov.png") : streams(a, k, 64, 128, 35, NULL);
  return ambit_close(a) != AMBIT_OK || wrong;
}
