/* SPDX-License-Identifier: BSD-3-Clause */
/* seismic.c - a shot over layered ground: the acoustic wave equation, of order 8 in space.
 *
 * A source and a line of receivers are points; their record stays on the device while the program
 * runs.
 *
 *   seismic [--output FILE.png]    compares arrivals with theory; the picture is the shot record
 */
#include <ambit.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  ROWS = 240,    /* depth, in cells */
  COLUMNS = 361, /* along the surface */
  LAYER = 40,    /* cells of the absorbing layer at each side */
  DEPTH = 50,    /* of source and receivers */
  SHOT = 180,    /* column of the source */
  STEPS = 2000
};

#define CELL      10.0  /* metres */
#define TIME_STEP 0.001 /* seconds */
#define FREQUENCY 12.0  /* Hz, of the source */

static const struct layer {
  int64_t top;  /* its first row */
  double speed; /* metres per second */
} layers[] = {{0, 1500}, {130, 2200}, {185, 3000}};

/* Second order in time; `damping` is 0 but in the absorbing layer. */
static const char wave_rule[] = AMBIT_SOURCE(void wave(
    const float *past, const float *now, float *next, const float *courant, const float *damping) {
  float laplace = 0;

  for (int k = -4; k <= 4; k++)
    laplace += coefficientf(2, 8, k) * (now[k][0] + now[0][k]);
  *next = (2 * *now - (1 - *damping) * *past + *courant * laplace) / (1 + *damping);
});

/* The square of speed * TIME_STEP / CELL. */
static double courant(const int64_t *index, int component, void *user)
{
  double speed = 0;

  (void)component;
  (void)user;
  for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
    if (index[0] >= layers[i].top) speed = layers[i].speed;
  return pow(speed * TIME_STEP / CELL, 2);
}

/* The time of the largest value at a column between two times, to a fraction of a step. */
static double peak(const double *record, int column, double from, double to)
{
  const int first = (int)(from / TIME_STEP), last = (int)(to / TIME_STEP);
  int best = first;
  double a, b, c;

  for (int t = first; t <= last; t++)
    if (record[t * COLUMNS + column] > record[best * COLUMNS + column]) best = t;
  if (best == first || best == last) return NAN;
  a = record[(best - 1) * COLUMNS + column];
  b = record[best * COLUMNS + column];
  c = record[(best + 1) * COLUMNS + column];
  return (best + 0.5 * (a - c) / (a - 2 * b + c)) * TIME_STEP;
}

/* In two dimensions a wave that has gone a distance peaks a fixed time after distance / speed, be
 * it direct or reflected. */
static int check(const double *record)
{
  const double v = layers[0].speed, delay = peak(record, SHOT + 60, 0.4, 0.7) - 60 * CELL / v;
  const double h = ((double)layers[1].top - 0.5 - DEPTH) * CELL;
  int wrong = 0;

  for (int offset = 20; offset <= 80; offset += 30) {
    const double direct = offset * CELL / v + delay;
    const double back = hypot(offset * CELL, 2 * h) / v + delay;
    const double seen = peak(record, SHOT + offset, direct - 0.04, direct + 0.04);
    const double echo = peak(record, SHOT - offset, back - 0.04, back + 0.04);
    const int ok = fabs(seen - direct) < 0.002 && fabs(echo - back) < 0.004;

    printf("%4.0f m from the shot: direct wave after %.4f s, %.4f in theory; reflection after %.4f "
           "s, %.4f in theory: %s\n",
           offset * CELL, seen, direct, echo, back, ok ? "ok" : "WRONG");
    wrong |= !ok;
  }
  return wrong;
}

/* Saves the record as a picture: late arrivals are weaker, so they are amplified, and strong values
 * are cut off. */
static ambit_status save(ambit *a, const double *record, const char *path)
{
  const int64_t rows = STEPS / 4, columns = COLUMNS - 2 * LAYER;
  ambit_record *shown = ambit_record_create(a, "shown");
  double *values = malloc((size_t)(rows * columns) * sizeof *values);
  ambit_status s = AMBIT_ENOMEM;

  for (int64_t t = 0; values && t < rows; t++)
    for (int64_t x = 0; x < columns; x++) {
      const double gain = 0.3 + 14 * pow(4 * (double)t / STEPS, 2);

      values[t * columns + x] = fmax(-1, fmin(1, gain * record[4 * t * COLUMNS + x + LAYER]));
    }
  if (values && !ambit_record_write(shown, rows, columns, values))
    s = ambit_record_save(shown, path);
  free(values);
  return s;
}

static int run(ambit *a, const char *output)
{
  ambit_grid *g = ambit_grid_create(a, 2, (int64_t[]){ROWS, COLUMNS});
  ambit_field *past = ambit_field_create(g, "past", AMBIT_F32);
  ambit_field *now = ambit_field_create(g, "now", AMBIT_F32);
  ambit_field *next = ambit_field_create(g, "next", AMBIT_F32);
  ambit_field *speed = ambit_field_create(g, "courant", AMBIT_F32);
  ambit_field *layer = ambit_field_create(g, "damping", AMBIT_F32);
  ambit_program *p = ambit_program_create(g);
  ambit_record *seen = ambit_record_create(a, "seen");
  double receivers[COLUMNS][2], *record = calloc(STEPS * COLUMNS, sizeof *record);
  int wrong;

  if (!record) return 1;
  for (int x = 0; x < COLUMNS; x++)
    receivers[x][0] = DEPTH, receivers[x][1] = x;
  ambit_field_fill(speed, courant, NULL);
  ambit_field_fill_sponge(layer, AMBIT_ALL_FACES, LAYER, 0.12);
  ambit_field_boundary(now, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
  ambit_apply(p, ambit_kernel_create(a, wave_rule), past, now, next, speed, layer);
  ambit_inject(p, ambit_points_create(g, 1, (double[]){DEPTH, SHOT}, AMBIT_LINEAR),
               ambit_record_create_ricker(a, FREQUENCY, TIME_STEP, STEPS, 1), next);
  ambit_rotate(p, 3, (ambit_field *[]){past, now, next});
  ambit_sample(p, ambit_points_create(g, COLUMNS, receivers[0], AMBIT_LINEAR), now, seen);
  ambit_run(p, STEPS);
  ambit_record_read(seen, 0, STEPS, record);
  wrong = check(record);
  if (output) wrong |= save(a, record, output) != AMBIT_OK;
  free(record);
  return wrong;
}

int main(int argc, char **argv)
{
  ambit *a = ambit_open(&argc, &argv);
  const char *output = argc > 2 && !strcmp(argv[1], "--output") ? argv[2] : NULL;
  int wrong;

  if (ambit_process(a) > 0 && !freopen("/dev/null", "w", stdout))
    return 1; /* only process 0 prints */
  wrong = run(a, output);
  return ambit_close(a) != AMBIT_OK || wrong;
}
