/* SPDX-License-Identifier: BSD-3-Clause */
/* wave.c - a drum skin: the wave equation, second order in time and space.
 *
 *   wave [--size N]         error of a standing wave on N/4, N/2 and N cells
 *   wave --png [--size N]   rings on a pond, reflected by its shore: wave.png
 */
#include <ambit.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

/* Central differences in time and space; q is (speed * dt / h)^2. */
static const char wave_rule[] =
    AMBIT_SOURCE(void wave(const double *past, const double *now, double *next, double q) {
      double bend = now[-1][0] + now[1][0] + now[0][-1] + now[0][1] - 4 * *now;
      *next = 2 * *now - *past + q * bend;
    });

typedef struct skin {
  ambit_field *past, *now;
  ambit_program *p;
} skin;

/* A skin of these extents. The caller declares its boundary. */
static skin make_skin(ambit *a, int64_t rows, int64_t columns, double q)
{
  ambit_grid *g = ambit_grid_create(a, 2, (int64_t[]){rows, columns});
  ambit_field *next = ambit_field_create(g, "next", AMBIT_F64);
  skin s = {.past = ambit_field_create(g, "past", AMBIT_F64),
            .now = ambit_field_create(g, "now", AMBIT_F64),
            .p = ambit_program_create(g)};

  ambit_apply(s.p, ambit_kernel_create(a, wave_rule), s.past, s.now, next, q);
  ambit_rotate(s.p, 3, (ambit_field *[]){s.past, s.now, next}); /* now becomes past, next now */
  return s;
}

/* ---- the check ---- */

/* A standing wave on the unit square: 0 at both sides of axis 0, slope 0 at those of axis 1. */
typedef struct standing {
  double h, t; /* width of a cell, time */
} standing;

static double standing_wave(const int64_t *index, int component, void *user)
{
  const standing *s = user;
  double y = (double)(index[0] + 1) * s->h, x = (double)index[1] * s->h;

  (void)component;
  return sin(2 * PI * y) * cos(PI * x) * cos(sqrt(5) * PI * s->t);
}

/* The largest error of a cell at time 1, with `cells` cells to a side. */
static double worst_error(ambit *a, int64_t cells)
{
  const double h = 1 / (double)cells, dt = h / 2;
  const int64_t rows = cells - 1,
                columns = cells + 1; /* held edges lie outside, free ones inside */
  skin s = make_skin(a, rows, columns, 0.25);
  double *u = calloc((size_t)(rows * columns), sizeof *u), worst = 0;

  ambit_field_boundary(s.now, AMBIT_AXIS(0), AMBIT_CONSTANT, 0);
  ambit_field_boundary(s.now, AMBIT_AXIS(1), AMBIT_REFLECT, 0);
  ambit_field_fill(s.past, standing_wave, &(standing){h, -dt});
  ambit_field_fill(s.now, standing_wave, &(standing){h, 0});
  ambit_run(s.p, 2 * cells);
  if (!u || ambit_field_read(s.now, NULL, NULL, u)) worst = INFINITY;
  for (int64_t i = 0; u && i < rows * columns; i++) {
    const int64_t at[] = {i / columns, i % columns};

    worst = fmax(worst, fabs(u[i] - standing_wave(at, 0, &(standing){h, 1})));
  }
  free(u);
  return worst;
}

/* The order of convergence must be 2. */
static int check(ambit *a, int64_t cells)
{
  double before = 0;
  int wrong = 0;

  for (int64_t n = cells / 4; n <= cells; n *= 2) {
    double error = worst_error(a, n), order = log2(before / error);

    printf("%5lld cells to a side: error %.3e", (long long)n, error);
    if (before > 0) {
      int right = order > 1.9 && order < 2.1;

      printf(", order %.3f, should be 1.9 to 2.1: %s", order, right ? "ok" : "WRONG");
      wrong |= !right;
    }
    printf("\n");
    before = error;
  }
  return wrong;
}

/* ---- the picture ---- */

/* Three drops on the water. */
static double drops(const int64_t *index, int component, void *user)
{
  static const double drop[][3] = {{0.30, 0.36, 1.0}, {0.62, 0.71, -0.9}, {0.78, 0.22, 0.7}};
  const double size = (double)*(const int64_t *)user;
  double height = 0;

  (void)component;
  for (int i = 0; i < 3; i++) {
    double y = (double)index[0] / size - drop[i][0], x = (double)index[1] / size - drop[i][1];

    height += drop[i][2] * exp(-400 * (x * x + y * y)) * cos(180 * hypot(x, y));
  }
  return height;
}

static void draw(ambit *a, int64_t size)
{
  skin s = make_skin(a, size, size, 0.25);

  ambit_field_boundary(s.now, AMBIT_ALL_FACES, AMBIT_SYMMETRIC, 0);
  ambit_field_fill(s.past, drops, &size);
  ambit_field_fill(s.now, drops, &size);
  ambit_run(s.p, size);
  if (ambit_field_save(s.now, "wave.png") == AMBIT_OK)
    printf("after %lld steps: wave.png\n", (long long)size);
}

/* ---- the command line ---- */

/* The index of a word on the command line; 0: absent. */
static int find(int argc, char **argv, const char *word)
{
  for (int i = 1; i < argc; i++)
    if (!strcmp(argv[i], word)) return i;
  return 0;
}

int main(int argc, char **argv)
{
  ambit *a = ambit_open(&argc, &argv);
  int is_picture = find(argc, argv, "--png"), sized = find(argc, argv, "--size"), wrong = 0;
  int64_t size = sized && sized + 1 < argc ? atoll(argv[sized + 1]) : is_picture ? 768 : 256;

  if (ambit_process(a) > 0 && !freopen("/dev/null", "w", stdout))
    return 1; /* only process 0 prints */
  if (size < 32) {
    fprintf(stderr, "wave: --size %lld; at least 32 cells show an order\n", (long long)size);
    wrong = 1;
  } else if (is_picture) {
    draw(a, size);
  } else {
    wrong = check(a, size);
  }
  return ambit_close(a) != AMBIT_OK || wrong;
}
