/* SPDX-License-Identifier: BSD-3-Clause */
/* seismic.c - a shot over layered ground: the acoustic wave equation, of order 8 in space.
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
  const float w[5] = {-205 / 72.0f, 8 / 5.0f, -1 / 5.0f, 8 / 315.0f, -1 / 560.0f};
  float laplace = 2 * w[0] * *now;

  for (int k = 1; k <= 4; k++)
    laplace += w[k] * (now[-k][0] + now[k][0] + now[0][-k] + now[0][k]);
  *next = (2 * *now - (1 - *damping) * *past + *courant * laplace) / (1 + *damping);
});

/* Ricker's wavelet, which has its peak at time 1.2 / frequency. */
static const char source_rule[] = AMBIT_SOURCE(void source(float *u, float dt, float frequency) {
  const float t = 3.14159265f * (frequency * dt * step() - 1.2f);

  *u += (1 - 2 * t * t) * expf(-t * t);
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

static double damping(const int64_t *index, int component, void *user)
{
  const int64_t extent[] = {ROWS, COLUMNS};
  double most = 0;

  (void)component;
  (void)user;
  for (int d = 0; d < 2; d++) {
    most = fmax(most, (double)(LAYER - index[d]) / LAYER);
    most = fmax(most, (double)(LAYER - (extent[d] - 1 - index[d])) / LAYER);
  }
  return 0.12 * most * most;
}

/* ---- the record: the row of receivers, step by step ---- */

typedef struct receivers {
  ambit_field *now;
  float *record; /* STEPS x COLUMNS */
} receivers;

static int listen(ambit_program *p, int64_t iteration, void *user)
{
  const receivers *r = user;
  const int64_t lo[] = {DEPTH, 0}, hi[] = {DEPTH + 1, COLUMNS};

  (void)p;
  return ambit_field_read(r->now, lo, hi, r->record + (iteration - 1) * COLUMNS) != AMBIT_OK;
}

/* The time of the largest value at a column between two times, to a fraction of a step. */
static double peak(const float *record, int column, double from, double to)
{
  const int first = (int)(from / TIME_STEP), last = (int)(to / TIME_STEP);
  int best = first;
  double a, b, c;

  for (int t = first; t <= last; t++)
    if (record[t * COLUMNS + column] > record[best * COLUMNS + column]) best = t;
  if (best == first || best == last) return NAN;
  a = (double)record[(best - 1) * COLUMNS + column];
  b = (double)record[best * COLUMNS + column];
  c = (double)record[(best + 1) * COLUMNS + column];
  return (best + 0.5 * (a - c) / (a - 2 * b + c)) * TIME_STEP;
}

/* In two dimensions a wave that has gone a distance peaks a fixed time after distance / speed, be
 * it direct or reflected. */
static int check(const float *record)
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
static ambit_status save(ambit *a, const float *record, const char *path)
{
  ambit_grid *g = ambit_grid_create(a, 2, (int64_t[]){STEPS / 4, COLUMNS - 2 * LAYER});
  ambit_field *f = ambit_field_create(g, "record", AMBIT_F32);
  float row[COLUMNS];

  for (int64_t t = 0; t < STEPS / 4; t++) {
    for (int64_t x = 0; x < COLUMNS - 2 * LAYER; x++) {
      const double gain = 0.3 + 14 * pow(4 * (double)t / STEPS, 2);
      const double value = gain * (double)record[4 * t * COLUMNS + x + LAYER];

      row[x] = (float)fmax(-1, fmin(1, value));
    }
    ambit_field_write(f, AMBIT_INDEX(t, 0), AMBIT_INDEX(t + 1, COLUMNS - 2 * LAYER), row);
  }
  return ambit_field_save(f, path);
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
  receivers r = {now, calloc(STEPS * COLUMNS, sizeof *r.record)};
  int wrong;

  if (!r.record) return 1;
  ambit_field_fill(speed, courant, NULL);
  ambit_field_fill(layer, damping, NULL);
  ambit_field_boundary(now, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
  ambit_apply(p, ambit_kernel_create(a, wave_rule), past, now, next, speed, layer);
  ambit_apply_box(p, AMBIT_INDEX(DEPTH, SHOT), AMBIT_INDEX(DEPTH + 1, SHOT + 1),
                  ambit_kernel_create(a, source_rule), next, TIME_STEP, FREQUENCY);
  ambit_rotate(p, 3, (ambit_field *[]){past, now, next});
  ambit_every(p, 1, listen, &r);
  ambit_checkpoint_value(a, "record", r.record, STEPS * COLUMNS * sizeof *r.record);
  ambit_run(p, STEPS);
  wrong = check(r.record);
  if (output) wrong |= save(a, r.record, output) != AMBIT_OK;
  free(r.record);
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
