/* SPDX-License-Identifier: BSD-3-Clause */
/* soliton.c - a step of one's own, with FFTW: waves psi(x, t) of the Schroedinger equation with an
 * attraction (Bose-Einstein condensates, light in fibres),
 *
 *   i dpsi/dt = -1/2 d2psi/dx2 - |psi|^2 psi
 *
 * by the split-step method: a kernel turns the phase by |psi|^2 dt, and a function of this program
 * the phase of each plane wave k by -k^2/2 dt, between two Fourier transforms. A soliton keeps its
 * shape and moves at its speed; two of them pass through each other.
 *
 *   soliton [picture.png]      the density of the two, from left to right, as time goes down
 */
#include <ambit.h>

#include <complex.h> /* before fftw3.h: its numbers are those of C */
#include <fftw3.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { CELLS = 512, STEPS = 2000 };

#define LENGTH     60.0
#define TIME       10.0
#define SPEED      2.0
#define DX         (LENGTH / CELLS)
#define DT         (TIME / STEPS)
#define HALF_PHASE (DT / 2)

static const char rule[] = AMBIT_SOURCE(
    void attract(double *psi[2], sum double *mass) {
      double angle = (*psi[0] * *psi[0] + *psi[1] * *psi[1]) * HALF_PHASE;
      double re = *psi[0], im = *psi[1];

      *psi[0] = cos(angle) * re - sin(angle) * im;
      *psi[1] = sin(angle) * re + cos(angle) * im;
      *mass = (re * re + im * im) * DX;
    }

    void look(const double *psi[2], double *density) {
      *density = *psi[0] * *psi[0] + *psi[1] * *psi[1];
    });

/* ---- the transform ---- */

typedef struct transform {
  double complex *wave; /* CELLS numbers */
  fftw_plan forth, back;
} transform;

/* FFTW's plans are for memory of its own: the cells are copied there, row-major on any device. */
static int disperse(const ambit_part *part, void *user)
{
  const transform *t = user;
  const ambit_cells *psi = &part->fields[0];
  double *values = psi->values;

  if (part->count > 1) {
    fprintf(stderr, "soliton: a Fourier transform of all cells needs one part, not %d\n",
            part->count);
    return 1;
  }
  for (int64_t i = 0; i < CELLS; i++)
    t->wave[i] = values[i * psi->stride[0]] + I * values[i * psi->stride[0] + psi->component];
  fftw_execute(t->forth);
  for (int i = 0; i < CELLS; i++) {
    const double k = 2 * acos(-1) / LENGTH * (i < CELLS / 2 ? i : i - CELLS);

    t->wave[i] *= cexp(-0.5 * I * k * k * DT) / CELLS;
  }
  fftw_execute(t->back);
  for (int64_t i = 0; i < CELLS; i++) {
    values[i * psi->stride[0]] = creal(t->wave[i]);
    values[i * psi->stride[0] + psi->component] = cimag(t->wave[i]);
  }
  return 0;
}

/* ---- the waves ---- */

/* A soliton that is at x0 at time 0. */
static double complex soliton(double x, double x0, double speed, double time)
{
  const double phase = speed * (x - x0) + 0.5 * (1 - speed * speed) * time;

  return cexp(I * phase) / cosh(x - x0 - speed * time);
}

static double start(const int64_t *i, int component, void *user)
{
  const int solitons = *(const int *)user;
  const double x = (double)i[0] * DX - LENGTH / 2;
  double complex psi = soliton(x, -10, SPEED, 0);

  if (solitons > 1) psi += soliton(x, 10, -SPEED, 0);
  return component ? cimag(psi) : creal(psi);
}

static int say(const char *what, double error, double most)
{
  printf("%s: error %.1e, should be below %.0e: %s\n", what, error, most,
         error < most ? "ok" : "WRONG");
  return !(error < most);
}

/* Appends a step that keeps the density of all cells, every 10 iterations. */
static ambit_record *watch(ambit *a, ambit_program *p, ambit_grid *g, ambit_kernel *k,
                           ambit_field *psi)
{
  ambit_field *density = ambit_field_create(g, "density", AMBIT_F64);
  ambit_record *record = ambit_record_create(a, "densities");
  double at[CELLS];

  for (int i = 0; i < CELLS; i++)
    at[i] = i;
  ambit_apply(p, ambit_kernel_find(k, "look"), psi, density);
  ambit_sample(p, ambit_points_create(g, CELLS, at, AMBIT_NEAREST), density, record);
  ambit_step_every(p, 10);
  return record;
}

/* Runs one or two solitons for TIME; psi has room for the result. A picture may be NULL. */
static double run(ambit *a, transform *t, int solitons, double (*psi)[2], const char *picture)
{
  ambit_grid *g = ambit_grid_create(a, 1, (int64_t[]){CELLS});
  ambit_field *f = ambit_field_create_vector(g, "psi", AMBIT_F64, 2, AMBIT_AOS);
  ambit_scalar *mass = ambit_scalar_create(a, "mass", AMBIT_F64);
  ambit_program *p = ambit_program_create(g);
  ambit_kernel *attract = ambit_kernel_create(a, rule);
  ambit_record *record = NULL;

  ambit_field_fill(f, start, &solitons);
  ambit_apply(p, attract, f, mass); /* half a step on both sides: the error is of second order */
  ambit_apply_host(p, disperse, t, 1, &f, (unsigned[]){AMBIT_READ | AMBIT_WRITE});
  ambit_apply(p, attract, f, mass);
  if (picture) record = watch(a, p, g, attract, f);
  ambit_run(p, STEPS);
  if (picture) ambit_record_save(record, picture);
  ambit_field_read(f, NULL, NULL, psi);
  return ambit_scalar_get(mass) / 2; /* both steps of an iteration add to it */
}

/* Whether a soliton moved as it should, and whether two that met are as wide as before. */
static int check(ambit *a, transform *t, const char *picture)
{
  static double one[CELLS][2], two[CELLS][2];
  double error = 0, height = 0, mass = run(a, t, 1, one, NULL);
  int wrong;

  for (int i = 0; i < CELLS; i++) {
    const double x = i * DX - LENGTH / 2;

    error = fmax(error, cabs(one[i][0] + I * one[i][1] - soliton(x, -10, SPEED, TIME)));
  }
  wrong = say("one soliton, against the exact solution", error, 1e-4) |
          say("its mass, 2", fabs(mass - 2), 1e-9);
  mass = run(a, t, 2, two, picture);
  for (int i = 0; i < CELLS; i++)
    height = fmax(height, hypot(two[i][0], two[i][1]));
  return wrong | say("two that met: their height, 1", fabs(height - 1), 5e-3) |
         say("their mass, 4", fabs(mass - 4), 1e-3);
}

int main(int argc, char **argv)
{
  ambit *a = ambit_open(&argc, &argv);
  transform t = {.wave = fftw_malloc(CELLS * sizeof *t.wave)};
  int wrong = 1;

  if (t.wave) {
    t.forth = fftw_plan_dft_1d(CELLS, t.wave, t.wave, FFTW_FORWARD, FFTW_ESTIMATE);
    t.back = fftw_plan_dft_1d(CELLS, t.wave, t.wave, FFTW_BACKWARD, FFTW_ESTIMATE);
    AMBIT_DEFINE(a, HALF_PHASE);
    AMBIT_DEFINE(a, DX);
    wrong = check(a, &t, argc > 1 ? argv[1] : NULL);
    fftw_destroy_plan(t.forth);
    fftw_destroy_plan(t.back);
    fftw_free(t.wave);
  }
  return ambit_close(a) != AMBIT_OK || wrong;
}
