/* SPDX-License-Identifier: BSD-3-Clause */
/* adi.c - sweeps along an axis: cells run in order and carry values.
 *
 *   diffusion  implicit in one axis after the other (Peaceman and Rachford, 1955), with steps 200
 *              times as long as explicit ones can be: tridiagonal systems along rows and columns,
 *              each solved by a sweep forth and one back (Thomas)
 *   canopy     light that passes through layers of leaves, from the top down
 *
 *   adi [CELLS [picture.png]]      the light that leaves take, from the side
 */
#include <ambit.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char text[] = AMBIT_SOURCE(
    void begin(double *c, double *d, double *next) {
      *c = 0;
      *d = 0;
      *next = 0;
    }

    /* (1 + r) x[i] - r/2 (x[i-1] + x[i+1]) = b; c and d come from the cell before */
    static double factor(double c, double r) { return 0.5 * r / (1 + r - 0.5 * r * c); }

    void columns(const double *u, double *c, double *d, double *f, double *y, double r) {
      double b = *u + 0.5 * r * (u[0][-1] + u[0][1] - 2 * *u);

      *c = factor(*c, r);
      *d = (b + 0.5 * r * *d) * *c / (0.5 * r);
      *f = *c;
      *y = *d;
    }

    void rows(const double *u, double *c, double *d, double *f, double *y, double r) {
      double b = *u + 0.5 * r * (u[-1][0] + u[1][0] - 2 * *u);

      *c = factor(*c, r);
      *d = (b + 0.5 * r * *d) * *c / (0.5 * r);
      *f = *c;
      *y = *d;
    }

    void back(const double *f, const double *y, double *next, double *u) {
      *next = *y + *f * *next;
      *u = *next;
    }

    void absorb(const double *leaves, double *light, double *taken, sum double *all) {
      double left = *light * exp(-0.5 * *leaves);

      *taken = *light - left;
      *all = *taken;
      *light = left;
    });

static const double pi = 3.14159265358979323846;

static int say(const char *what, double error, double most)
{
  printf("%s: relative error %.1e, should be below %.0e: %s\n", what, error, most,
         error < most ? "ok" : "WRONG");
  return !(error < most);
}

/* ---- diffusion ---- */

static double mode(const int64_t *i, int component, void *user)
{
  const double h = *(const double *)user;

  (void)component;
  return sin(pi * h * (double)(i[0] + 1)) * sin(pi * h * (double)(i[1] + 1));
}

/* Systems along an axis: the carried values have the other one. */
static void solve_along(ambit_program *p, ambit_grid *g, ambit_kernel *k, int axis, ambit_field *u,
                        double r)
{
  ambit_field *f = ambit_field_create(g, axis ? "f1" : "f0", AMBIT_F64);
  ambit_field *y = ambit_field_create(g, axis ? "y1" : "y0", AMBIT_F64);
  ambit_field *c = ambit_field_create_on(g, "c", AMBIT_F64, AMBIT_AXIS(1 - axis));
  ambit_field *d = ambit_field_create_on(g, "d", AMBIT_F64, AMBIT_AXIS(1 - axis));
  ambit_field *next = ambit_field_create_on(g, "next", AMBIT_F64, AMBIT_AXIS(1 - axis));

  ambit_apply(p, ambit_kernel_find(k, "begin"), c, d, next);
  ambit_sweep(p, AMBIT_LOW(axis), ambit_kernel_find(k, axis ? "rows" : "columns"), u, c, d, f, y,
              r);
  ambit_sweep(p, AMBIT_HIGH(axis), ambit_kernel_find(k, "back"), f, y, next, u);
}

static int diffusion(ambit *a, ambit_kernel *k, int64_t n)
{
  const double h = 1 / (double)(n + 1), r = 50, time = 0.05;
  const int64_t steps = (int64_t)(time / (r * h * h));
  const double lambda = 4 * pow(sin(pi * h / 2), 2); /* of the mode, along an axis */
  const double once = (1 - r / 2 * lambda) / (1 + r / 2 * lambda);
  const int64_t centre[] = {n / 2, n / 2}, beyond[] = {n / 2 + 1, n / 2 + 1};
  ambit_grid *g = ambit_grid_create(a, 2, (int64_t[]){n, n});
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F64);
  ambit_program *p = ambit_program_create(g);
  double start, end = 0, theory, nature;

  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
  ambit_field_fill(u, mode, (void *)&h);
  solve_along(p, g, k, 0, u, r);
  solve_along(p, g, k, 1, u, r);
  ambit_run(p, steps);
  ambit_field_read(u, centre, beyond, &end);
  start = mode(centre, 0, (void *)&h);
  theory = start * pow(once, 2.0 * (double)steps);
  nature = start * exp(-2 * pi * pi * r * h * h * (double)steps);
  printf("diffusion on %lld x %lld cells, %lld steps of %.0f h^2 (explicit ones: 0.25 h^2)\n",
         (long long)n, (long long)n, (long long)steps, r);
  return say("  against the decay of the scheme", fabs(end / theory - 1), 1e-10) |
         say("  against the heat equation", fabs(end / nature - 1), 3e-3);
}

/* ---- canopy ---- */

static double leaf_area(const int64_t *i, int component, void *user)
{
  (void)component;
  (void)user;
  return 0.02 * (1 + sin(0.3 * (double)i[0]) * cos(0.1 * (double)(i[1] + 2 * i[2])));
}

static int canopy(ambit *a, ambit_kernel *k, const char *picture)
{
  const int64_t size[] = {60, 40, 50};
  ambit_grid *g = ambit_grid_create(a, 3, size);
  ambit_field *leaves = ambit_field_create(g, "leaves", AMBIT_F64);
  ambit_field *taken = ambit_field_create(g, "taken", AMBIT_F64);
  ambit_field *light = ambit_field_create_on(g, "light", AMBIT_F64, AMBIT_AXIS(1) | AMBIT_AXIS(2));
  ambit_scalar *all = ambit_scalar_create(a, "all", AMBIT_F64);
  ambit_program *p = ambit_program_create(g);
  double below[40 * 50] = {0}, error = 0, sum = 0;

  ambit_field_fill(leaves, leaf_area, NULL);
  ambit_field_set(light, 1);
  ambit_sweep(p, AMBIT_LOW(0), ambit_kernel_find(k, "absorb"), leaves, light, taken, all);
  ambit_run(p, 1);
  ambit_field_read(light, NULL, NULL, below);
  if (picture) ambit_field_draw(taken, picture, &(ambit_picture){.slice = "y=20"});
  for (int64_t y = 0; y < size[1]; y++)
    for (int64_t x = 0; x < size[2]; x++) {
      double area = 0;

      for (int64_t z = 0; z < size[0]; z++)
        area += leaf_area((int64_t[]){z, y, x}, 0, NULL);
      error = fmax(error, fabs(below[y * size[2] + x] / exp(-0.5 * area) - 1));
      sum += below[y * size[2] + x];
    }
  printf("canopy of %lld layers: %.1f %% of the light reach the ground\n", (long long)size[0],
         100 * sum / (double)(size[1] * size[2]));
  sum += ambit_scalar_get(all);
  return say("  against the law of Beer and Lambert", error, 1e-13) |
         say("  light that is absorbed and left", fabs(sum / (double)(size[1] * size[2]) - 1),
             1e-13);
}

int main(int argc, char **argv)
{
  ambit *a = ambit_open(&argc, &argv);
  ambit_kernel *k = ambit_kernel_create(a, text);
  const int64_t n = argc > 1 ? atoll(argv[1]) : 255;
  int wrong;

  if (ambit_process(a) > 0 && !freopen("/dev/null", "w", stdout))
    return 1; /* only process 0 prints */
  wrong = diffusion(a, k, n) | canopy(a, k, argc > 2 ? argv[2] : NULL);
  return ambit_close(a) || wrong;
}
