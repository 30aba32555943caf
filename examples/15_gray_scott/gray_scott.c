/* SPDX-License-Identifier: BSD-3-Clause */
/* gray_scott.c - two substances react and diffuse, and patterns grow (the model of Gray and Scott).
 *
 *   gray_scott                                              the test, against plain C
 *   gray_scott --size N --steps N --output FILE.png         a picture
 */
#include <ambit.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FEED 0.0545f
#define KILL 0.062f

/* Component 0 is the food, 1 what eats it: U + 2 V -> 3 V. Food is fed, and V is removed. */
static const char react_rule[] =
    AMBIT_SOURCE(void react(const float *a[2], float *b[2], float feed, float kill) {
      const float rate[2] = {0.16f, 0.08f};
      const float u = *a[0], v = *a[1], eaten = u * v * v;
      float spread[2];

      for (int c = 0; c < 2; c++)
        spread[c] = rate[c] * (a[c][-1][0] + a[c][1][0] + a[c][0][-1] + a[c][0][1] - 4 * *a[c]);
      *b[0] = u + spread[0] - eaten + feed * (1 - u);
      *b[1] = v + spread[1] + eaten - (feed + kill) * v;
    });

static const char second_rule[] =
    AMBIT_SOURCE(void second(const float *a[2], float *v) { *v = *a[1]; });

/* Food everywhere, and squares of V at places without order. */
static double start(const int64_t *index, int component, void *user)
{
  const int64_t n = *(const int64_t *)user;
  uint64_t place = 1;
  int64_t nearest = n;

  for (int k = 0; k < 24; k++) {
    int64_t distance = 0;

    for (int d = 0; d < 2; d++) {
      int64_t along;

      place = place * 6364136223846793005u + 1442695040888963407u;
      along = llabs(index[d] - (int64_t)(place >> 33) % n);
      if (along > distance) distance = along;
    }
    if (distance < nearest) nearest = distance;
  }
  if (component) return nearest < 5 ? 0.25 : 0;
  return nearest < 5 ? 0.5 : 1;
}

/* ---- plain C ---- */

static float spread_of(const float *a, int64_t n, int64_t i, int64_t j, int c, float rate)
{
  const int64_t up = (i + n - 1) % n, down = (i + 1) % n, left = (j + n - 1) % n,
                right = (j + 1) % n;

  return rate * (a[(up * n + j) * 2 + c] + a[(down * n + j) * 2 + c] + a[(i * n + left) * 2 + c] +
                 a[(i * n + right) * 2 + c] - 4 * a[(i * n + j) * 2 + c]);
}

static void react_here(const float *a, float *b, int64_t n)
{
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++) {
      const float u = a[(i * n + j) * 2], v = a[(i * n + j) * 2 + 1], eaten = u * v * v;

      b[(i * n + j) * 2] = u + spread_of(a, n, i, j, 0, 0.16f) - eaten + FEED * (1 - u);
      b[(i * n + j) * 2 + 1] = v + spread_of(a, n, i, j, 1, 0.08f) + eaten - (FEED + KILL) * v;
    }
}

/* The largest difference between `values` and the same computed here. */
static double difference(const float *values, int64_t n, int64_t steps)
{
  const size_t size = (size_t)(2 * n * n);
  float *a = malloc(2 * size * sizeof *a), *b = a + size, *first = a;
  float worst = 0;

  if (!a) return INFINITY;
  for (size_t i = 0; i < size; i++) {
    const int64_t cell = (int64_t)i / 2, index[] = {cell / n, cell % n};

    a[i] = (float)start(index, (int)(i % 2), &n);
  }
  for (int64_t t = 0; t < steps; t++) {
    float *old = a;

    react_here(a, b, n);
    a = b;
    b = old;
  }
  for (size_t i = 0; i < size; i++)
    if (!(fabsf(values[i] - a[i]) <= worst)) worst = fabsf(values[i] - a[i]);
  free(first);
  return (double)worst;
}

/* ---- on Ambit ---- */

static int check(ambit_field *a, int64_t n, int64_t steps)
{
  float *values = malloc((size_t)(2 * n * n) * sizeof *values);
  int64_t grown = 0;
  double worst;

  if (!values) return 1;
  ambit_field_read(a, NULL, NULL, values);
  worst = difference(values, n, steps);
  for (int64_t i = 0; i < n * n; i++)
    if (values[2 * i + 1] > 0.1f) grown++;
  free(values);
  printf("%lld x %lld cells, %lld steps: V on %lld cells; differs from plain C by %.1e, should be "
         "below 1e-4: %s\n",
         (long long)n, (long long)n, (long long)steps, (long long)grown, worst,
         worst < 1e-4 && grown > 100 ? "ok" : "WRONG");
  return !(worst < 1e-4 && grown > 100);
}

static int run(ambit *a, int64_t n, int64_t steps, const char *output)
{
  ambit_grid *g = ambit_grid_create(a, 2, (int64_t[]){n, n});
  ambit_field *now = ambit_field_create_vector(g, "now", AMBIT_F32, 2, AMBIT_SOA);
  ambit_field *next = ambit_field_create_vector(g, "next", AMBIT_F32, 2, AMBIT_SOA);
  ambit_field *v = ambit_field_create(g, "v", AMBIT_F32);
  ambit_program *p = ambit_program_create(g), *last = ambit_program_create(g);

  ambit_field_fill(now, start, &n);
  ambit_field_boundary(now, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_apply(p, ambit_kernel_create(a, react_rule), now, next, FEED, KILL);
  ambit_swap(p, now, next);
  ambit_run(p, steps);
  if (!output) return check(now, n, steps);
  ambit_apply(last, ambit_kernel_create(a, second_rule), now, v);
  ambit_run(last, 1);
  return ambit_field_save(v, output) != AMBIT_OK;
}

int main(int argc, char **argv)
{
  ambit *a = ambit_open(&argc, &argv);
  int64_t size = 96, steps = 400;
  const char *output = NULL;
  int wrong;

  for (int i = 1; i + 1 < argc; i += 2) {
    if (!strcmp(argv[i], "--size")) size = atoll(argv[i + 1]);
    if (!strcmp(argv[i], "--steps")) steps = atoll(argv[i + 1]);
    if (!strcmp(argv[i], "--output")) output = argv[i + 1];
  }
  if (ambit_process(a) > 0 && !freopen("/dev/null", "w", stdout))
    return 1; /* only process 0 prints */
  wrong = run(a, size, steps, output);
  return ambit_close(a) != AMBIT_OK || wrong;
}
