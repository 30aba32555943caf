/* SPDX-License-Identifier: BSD-3-Clause */
/* heat.c - hot petals cool on a plate whose rim is held at zero.
 *
 *   heat [--size N] [--steps T]           cool N x N cells and write heat.png
 *   heat --check [--size N] [--steps T]   compare the decay of a sine wave with theory
 */
#include <ambit.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846
#define K  0.2 /* share of a difference that flows to a neighbour in one step; stable up to 0.25 */

/* The rule for one cell. u is the cell before the step, v the same cell after it; u[-1][0] is the
 * neighbour one row up. */
static const char heat_rule[] = AMBIT_SOURCE(void heat(const float *u, float *v, float k) {
  *v = *u + k * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u);
});

/* A program for one step of cooling, and the field that holds the plate. */
static ambit_program *cooling(ambit *a, const char *rule, ambit_type type, int64_t size,
                              ambit_field **plate)
{
  ambit_grid *g = ambit_grid_create(a, 2, (int64_t[]){size, size});
  ambit_field *u = ambit_field_create(g, "u", type);
  ambit_field *v = ambit_field_create(g, "v", type);
  ambit_kernel *heat = ambit_kernel_create(a, rule);
  ambit_program *p = ambit_program_create(g);

  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
  ambit_apply(p, heat, u, v, K);
  ambit_swap(p, u, v);
  *plate = u;
  return p;
}

/* ---- the picture ---- */

/* Petals where 21 spirals of one sense meet 34 of the other, as in a sunflower. The inner ones are
 * smaller and merge first. */
static double sunflower(const int64_t *index, int component, void *user)
{
  const double half = (double)*(const int64_t *)user / 2;
  double y = ((double)index[0] + 0.5) / half - 1, x = ((double)index[1] + 0.5) / half - 1;
  double radius = hypot(x, y), angle = atan2(y, x), turn = 26 * log(radius + 1e-9);
  double petal = sin(21 * angle + turn) + sin(34 * angle - turn);

  (void)component;
  return petal > 0.5 ? 1 / (0.35 + radius) : 0;
}

static void draw(ambit *a, int64_t size, int64_t steps)
{
  ambit_field *plate;
  ambit_program *p = cooling(a, heat_rule, AMBIT_F32, size, &plate);

  ambit_field_fill(plate, sunflower, &size);
  ambit_run(p, steps);
  if (ambit_field_save(plate, "heat.png") == AMBIT_OK)
    printf("%lld x %lld cells, %lld steps: heat.png\n", (long long)size, (long long)size,
           (long long)steps);
}

/* ---- the check ---- */

/* The same rule in double, so that rounding does not hide errors. */
static const char exact_rule[] = AMBIT_SOURCE(void heat(const double *u, double *v, double k) {
  *v = *u + k * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u);
});

enum { ROWS = 3, COLUMNS = 5 }; /* half waves along each axis */

/* An eigenvector: the rule multiplies it by a factor. It is zero just outside the grid. */
static double wave(const int64_t *index, int component, void *user)
{
  const double h = 1 / (double)(*(const int64_t *)user + 1);

  (void)component;
  return sin(ROWS * PI * h * (double)(index[0] + 1)) *
         sin(COLUMNS * PI * h * (double)(index[1] + 1));
}

static int judge(const char *what, double error, double most)
{
  printf("%-40s %.2e, at most %.0e: %s\n", what, error, most, error <= most ? "ok" : "WRONG");
  return !(error <= most);
}

/* The share of the wave that is left, and the largest deviation of a cell from it. */
static void measure(const double *u, int64_t size, double *share, double *stray)
{
  double dot = 0, norm = 0;

  for (int64_t i = 0; i < size * size; i++) {
    double w = wave((int64_t[]){i / size, i % size}, 0, &size);

    dot += w * u[i];
    norm += w * w;
  }
  *share = dot / norm;
  *stray = 0;
  for (int64_t i = 0; i < size * size; i++) {
    double w = wave((int64_t[]){i / size, i % size}, 0, &size);

    *stray = fmax(*stray, fabs(u[i] - *share * w));
  }
}

static int check(ambit *a, int64_t size, int64_t steps)
{
  const double h = 1 / (double)(size + 1), x = ROWS * PI * h, y = COLUMNS * PI * h;
  const double factor = 1 - 4 * K * (pow(sin(x / 2), 2) + pow(sin(y / 2), 2));
  const double cells = pow(factor, (double)steps);                 /* by the rule */
  const double nature = exp(-K * (x * x + y * y) * (double)steps); /* by the heat equation */
  double *u = malloc(sizeof *u * (size_t)(size * size));
  ambit_field *plate;
  ambit_program *p = cooling(a, exact_rule, AMBIT_F64, size, &plate);
  double share, stray;
  int wrong = 1;

  ambit_field_fill(plate, wave, &size);
  ambit_run(p, steps);
  if (u && ambit_field_read(plate, NULL, NULL, u) == AMBIT_OK) {
    measure(u, size, &share, &stray);
    printf("%.6f of the wave is left after %lld steps; theory %.6f\n", share, (long long)steps,
           cells);
    wrong = judge("error against the rule, by hand", fabs(share - cells) / cells, 1e-12);
    wrong |= judge("worst cell", stray, 1e-12);
    wrong |= judge("error against the heat equation", fabs(share - nature) / nature, 10 * h * h);
  }
  free(u);
  return wrong;
}

/* ---- the command line ---- */

/* The index of a word on the command line; 0: absent. */
static int find(int argc, char **argv, const char *word)
{
  for (int i = 1; i < argc; i++)
    if (!strcmp(argv[i], word)) return i;
  return 0;
}

static int64_t number(int argc, char **argv, const char *word, int64_t otherwise)
{
  int i = find(argc, argv, word);

  return i && i + 1 < argc ? atoll(argv[i + 1]) : otherwise;
}

int main(int argc, char **argv)
{
  ambit *a = ambit_open(&argc, &argv); /* removes --ambit-... options from argv */
  int is_check = find(argc, argv, "--check"), wrong = 0;
  int64_t size = number(argc, argv, "--size", is_check ? 511 : 4096);
  /* Diffusion across twice as many cells takes four times as long: the picture is the same. */
  int64_t steps = number(argc, argv, "--steps", size * size / (is_check ? 130 : 6700) + 1);

  if (ambit_process(a) > 0 && !freopen("/dev/null", "w", stdout))
    return 1; /* only process 0 prints */
  if (is_check)
    wrong = check(a, size, steps);
  else
    draw(a, size, steps);
  return ambit_close(a) != AMBIT_OK || wrong;
}
