/* SPDX-License-Identifier: BSD-3-Clause */
/* stencils.c - weighted sums of neighbours in one call, from 1 to 4 dimensions.
 *
 *   stencils [--size N]   compares every stencil of the catalogue, by weights and by name, with
 *                         plain loops over about N cells along each axis
 *   stencils picture.png  draws what 2df5 makes of a chequered grid
 */
#include <ambit.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  ITERATIONS = 10,
  REACH = 2,            /* of the farthest weight */
  SIDE = 2 * REACH + 1, /* of the box that holds all weights */
  DIMS = 4,             /* at most */
  BOX = SIDE * SIDE * SIDE * SIDE
};

typedef struct stencil {
  const char *name;
  int ndims;
  double along[SIDE]; /* weights at -2, -1, 0, 1, 2 along every axis */
  double diagonal;    /* weight of the other cells at most 1 away along every axis */
  double corner;      /* weight of the cell (-1, -1, ...) if not 0 */
  double divisor;
} stencil;

static const stencil catalogue[] = {
    {"1dc2", 1, {0, 1, 0, 1, 0}, 0, 0, 2},    {"1dnc4", 1, {.5, 1, 0, 1, .5}, 0, 0, 3},
    {"2d4", 2, {0, 1, 0, 1, 0}, 0, 0, 4},     {"2d8", 2, {0, 4, 0, 4, 0}, 1, 0, 20},
    {"2dnc8", 2, {1, 4, 0, 4, 1}, 0, 0, 20},  {"2df5", 2, {1, 2, 0, 0, 0}, 0, .5, 6.5},
    {"3d6", 3, {0, 1, 0, 1, 0}, 0, 0, 6},     {"3d27", 3, {0, 1, 1, 1, 0}, 1, 0, 27},
    {"3dnc12", 3, {1, 6, 0, 6, 1}, 0, 0, 42}, {"3df7", 3, {1, 2, 0, 0, 0}, 0, .5, 9.5},
    {"4d8", 4, {0, 1, 0, 1, 0}, 0, 0, 8},
};

/* The weight of a cell at an offset. */
static double weight_at(const stencil *s, const int *offset)
{
  int away = 0, last = 0, far = 0, corner = 1;

  for (int d = 0; d < s->ndims; d++) {
    away += offset[d] != 0;
    last += offset[d]; /* used only if away <= 1 */
    far |= abs(offset[d]) > 1;
    corner &= offset[d] == -1;
  }
  if (away <= 1) return s->along[REACH + last];
  return far ? 0 : corner && s->corner > 0 ? s->corner : s->diagonal;
}

/* ---- plain loops ---- */

typedef struct problem {
  int ndims;
  int64_t extents[DIMS], cells;
  int ntaps;             /* cells whose weight is not 0: */
  int offset[BOX][DIMS]; /* their offsets */
  double weight[BOX];    /* and weights, divided by the divisor */
  double *now, *next;
  double worst; /* largest difference between Ambit's values and `now` */
} problem;

/* The index of cell (or offset) number i in row-major order. */
static void unfold(int ndims, const int64_t *extents, int64_t i, int64_t *index)
{
  for (int d = ndims - 1; d >= 0; d--) {
    index[d] = i % extents[d];
    i /= extents[d];
  }
}

/* Values that differ everywhere. */
static double start(const int64_t *index, int component, void *user)
{
  const problem *p = user;
  double x = 1 + component;

  for (int d = 0; d < p->ndims; d++)
    x = sin(3 * x + (double)index[d]);
  return x;
}

/* A cell that would read outside the grid keeps its value. */
static double plain_cell(const problem *p, int64_t cell)
{
  int64_t index[DIMS];
  double sum = 0;

  unfold(p->ndims, p->extents, cell, index);
  for (int t = 0; t < p->ntaps; t++) {
    int64_t at = 0;

    for (int d = 0; d < p->ndims; d++) {
      int64_t i = index[d] + p->offset[t][d];

      if (i < 0 || i >= p->extents[d]) return p->now[cell];
      at = at * p->extents[d] + i;
    }
    sum += p->weight[t] * p->now[at];
  }
  return sum;
}

static void plain_run(problem *p)
{
  for (int64_t i = 0; i < p->cells; i++) {
    int64_t index[DIMS];

    unfold(p->ndims, p->extents, i, index);
    p->now[i] = start(index, 0, p);
  }
  for (int k = 0; k < ITERATIONS; k++) {
    double *t = p->now;

    for (int64_t i = 0; i < p->cells; i++)
      p->next[i] = plain_cell(p, i);
    p->now = p->next;
    p->next = t;
  }
}

/* ---- Ambit ---- */

/* Receives the result and keeps its largest difference from the plain one. */
static ambit_status compare(ambit_field *result, void *user)
{
  problem *p = user;
  int is_float = ambit_field_type(result) == AMBIT_F32;
  void *values = calloc((size_t)p->cells, sizeof(double));
  ambit_status s = values ? ambit_field_read(result, NULL, NULL, values) : AMBIT_ENOMEM;

  p->worst = s ? INFINITY : 0;
  for (int64_t i = 0; values && i < p->cells; i++) {
    double x = is_float ? (double)((float *)values)[i] : ((double *)values)[i];

    p->worst = fmax(p->worst, fabs(x - p->now[i]));
  }
  free(values);
  return s;
}

/* The weights of a stencil: a dense array for Ambit, a list for the plain loop. */
static ambit_weights expand(const stencil *s, problem *p, double *dense)
{
  const int64_t sides[DIMS] = {SIDE, SIDE, SIDE, SIDE};
  ambit_weights w = {.ndims = s->ndims, .weights = dense, .divisor = s->divisor};
  int64_t box = 1;

  p->ntaps = 0;
  for (int d = 0; d < s->ndims; d++) {
    w.low[d] = w.high[d] = REACH;
    box *= SIDE;
  }
  for (int64_t i = 0; i < box; i++) {
    int64_t index[DIMS];
    int *offset = p->offset[p->ntaps];

    unfold(s->ndims, sides, i, index);
    for (int d = 0; d < s->ndims; d++)
      offset[d] = (int)index[d] - REACH;
    dense[i] = weight_at(s, offset);
    p->weight[p->ntaps] = dense[i] / s->divisor;
    p->ntaps += dense[i] != 0;
  }
  return w;
}

static int judge(const char *name, const char *how, double error, double most)
{
  printf("%-7s %-22s differs by %.1e, at most %.0e: %s\n", name, how, error, most,
         error <= most ? "ok" : "WRONG");
  return !(error <= most);
}

static int check(ambit *a, const stencil *s, int64_t size, problem *p)
{
  double dense[BOX];
  ambit_weights weights = expand(s, p, dense);
  ambit_problem whole = {
      .ndims = s->ndims, .iterations = ITERATIONS, .init = start, .output = compare, .user = p};
  int wrong;

  p->ndims = s->ndims;
  p->cells = 1;
  for (int d = 0; d < s->ndims; d++)
    p->cells *= whole.extents[d] = p->extents[d] = size + d; /* all axes differ */
  plain_run(p);

  p->worst = INFINITY;
  whole.weights = &weights;
  ambit_stencil(a, &whole);
  wrong = judge(s->name, "by weights, in float", p->worst, 2e-6);

  p->worst = INFINITY;
  whole.weights = NULL;
  whole.kernel = ambit_kernel_create_named(a, s->name, AMBIT_F64);
  ambit_stencil(a, &whole);
  return wrong | judge(s->name, "by name, in double", p->worst, 1e-14);
}

/* ---- a picture ---- */

static double chequers(const int64_t *index, int component, void *user)
{
  (void)component;
  (void)user;
  return (double)((index[0] / 32 + index[1] / 32) % 2);
}

static ambit_status save(ambit_field *result, void *user)
{
  return ambit_field_save(result, user);
}

static int draw(ambit *a, char *picture)
{
  ambit_problem whole = {.ndims = 2,
                         .extents = {320, 320},
                         .iterations = 60,
                         .kernel = ambit_kernel_create_named(a, "2df5", AMBIT_F64),
                         .init = chequers,
                         .output = save,
                         .user = picture};

  return ambit_stencil(a, &whole) != AMBIT_OK;
}

int main(int argc, char **argv)
{
  ambit *a = ambit_open(&argc, &argv);
  int64_t size = argc > 2 && !strcmp(argv[1], "--size") ? atoll(argv[2]) : 19;
  size_t most = (size_t)(size * (size + 1) * (size + 2) * (size + 3));
  static problem p;
  int wrong = 0;

  if (argc == 2) return draw(a, argv[1]) | (ambit_close(a) != AMBIT_OK);
  if (ambit_process(a) > 0 && !freopen("/dev/null", "w", stdout))
    return 1; /* only process 0 prints */
  p.now = size > 0 ? calloc(most, sizeof(double)) : NULL;
  p.next = size > 0 ? calloc(most, sizeof(double)) : NULL;
  if (!p.now || !p.next) {
    fprintf(stderr, "stencils: --size %lld is too small or too large\n", (long long)size);
    wrong = 1;
  }
  for (size_t i = 0; !wrong && i < sizeof catalogue / sizeof *catalogue; i++)
    wrong = check(a, &catalogue[i], size, &p);
  free(p.now);
  free(p.next);
  return ambit_close(a) != AMBIT_OK || wrong;
}
