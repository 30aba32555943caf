/* SPDX-License-Identifier: BSD-3-Clause */
/* The one-call skeleton over the whole catalogue, against a plain loop over cells and neighbours.
 * The weights are written here again, from the description of the stencils. */
#include "runtime/runtime_test.h"

#include <math.h>

enum { MOST_CELLS = 3000, MOST_TAPS = 27, MOST_DENSE = 625, ITERATIONS = 3 };

typedef struct tap {
  int offset[4];
  double weight;
} tap;

typedef struct stencil {
  const char *name;
  int ndims, ntaps;
  tap taps[MOST_TAPS];
  double divisor;
} stencil;

static void add(stencil *s, double weight, int o0, int o1, int o2)
{
  s->taps[s->ntaps++] = (tap){{o0, o1, o2, 0}, weight};
}

/* `weight` at a distance along each axis, on both sides. */
static void add_axes(stencil *s, double weight, int distance)
{
  for (int d = 0; d < s->ndims; d++)
    for (int side = -1; side <= 1; side += 2) {
      s->taps[s->ntaps].offset[d] = side * distance;
      s->taps[s->ntaps++].weight = weight;
    }
}

static void describe_1d_2d(stencil *s, int *n)
{
  s[*n] = (stencil){.name = "1dc2", .ndims = 1, .divisor = 2};
  add_axes(&s[(*n)++], 1, 1);
  s[*n] = (stencil){.name = "1dnc4", .ndims = 1, .divisor = 3};
  add_axes(&s[*n], 0.5, 2);
  add_axes(&s[(*n)++], 1, 1);
  s[*n] = (stencil){.name = "2d4", .ndims = 2, .divisor = 4};
  add_axes(&s[(*n)++], 1, 1);
  s[*n] = (stencil){.name = "2d8", .ndims = 2, .divisor = 20};
  add_axes(&s[*n], 4, 1);
  for (int i = -1; i <= 1; i += 2)
    for (int j = -1; j <= 1; j += 2)
      add(&s[*n], 1, i, j, 0);
  ++*n;
  s[*n] = (stencil){.name = "2dnc8", .ndims = 2, .divisor = 20};
  add_axes(&s[*n], 1, 2);
  add_axes(&s[(*n)++], 4, 1);
  s[*n] = (stencil){.name = "2df5", .ndims = 2, .divisor = 6.5};
  add(&s[*n], 2, -1, 0, 0);
  add(&s[*n], 2, 0, -1, 0);
  add(&s[*n], 1, -2, 0, 0);
  add(&s[*n], 1, 0, -2, 0);
  add(&s[(*n)++], 0.5, -1, -1, 0);
}

static void describe_3d_4d(stencil *s, int *n)
{
  s[*n] = (stencil){.name = "3d6", .ndims = 3, .divisor = 6};
  add_axes(&s[(*n)++], 1, 1);
  s[*n] = (stencil){.name = "3d27", .ndims = 3, .divisor = 27};
  for (int i = 0; i < 27; i++)
    add(&s[*n], 1, i / 9 - 1, i / 3 % 3 - 1, i % 3 - 1);
  ++*n;
  s[*n] = (stencil){.name = "3dnc12", .ndims = 3, .divisor = 42};
  add_axes(&s[*n], 1, 2);
  add_axes(&s[(*n)++], 6, 1);
  s[*n] = (stencil){.name = "3df7", .ndims = 3, .divisor = 9.5};
  for (int d = 0; d < 3; d++) {
    add(&s[*n], 2, -(d == 0), -(d == 1), -(d == 2));
    add(&s[*n], 1, -2 * (d == 0), -2 * (d == 1), -2 * (d == 2));
  }
  add(&s[(*n)++], 0.5, -1, -1, -1);
  s[*n] = (stencil){.name = "4d8", .ndims = 4, .divisor = 8};
  add_axes(&s[(*n)++], 1, 1);
}

/* ---- the plain loop ---- */

static double start(const int64_t *index, int component, void *user)
{
  double x = 0;

  (void)component;
  for (int d = 0; d < *(const int *)user; d++)
    x = x * 3 + (double)(index[d] * index[d] % 11);
  return sin(x);
}

/* One update of one cell, which stays as it is if one of its neighbours is missing. */
static double update(const stencil *s, const int64_t *extents, const int64_t *at, const double *u,
                     int64_t here)
{
  double sum = 0;

  for (int t = 0; t < s->ntaps; t++) {
    int64_t i = 0;

    for (int d = 0; d < s->ndims; d++) {
      int64_t k = at[d] + s->taps[t].offset[d];

      if (k < 0 || k >= extents[d]) return u[here];
      i = i * extents[d] + k;
    }
    sum += s->taps[t].weight * u[i];
  }
  return sum / s->divisor;
}

/* All iterations, the start included; cells are walked by their number in C order. */
static void plain_loops(const stencil *s, const int64_t *extents, int64_t cells, double *u)
{
  static double next[MOST_CELLS];

  for (int n = 0; n <= ITERATIONS; n++) {
    for (int64_t c = 0; c < cells; c++) {
      int64_t at[4], rest = c;
      int ndims = s->ndims;

      for (int d = ndims - 1; d >= 0; d--) {
        at[d] = rest % extents[d];
        rest /= extents[d];
      }
      next[c] = n == 0 ? (double)(float)start(at, 0, &ndims) : update(s, extents, at, u, c);
    }
    memcpy(u, next, (size_t)cells * sizeof *u);
  }
}

/* ---- the skeleton ---- */

static float result[MOST_CELLS];
static int outputs;

typedef struct question { /* the user pointer of init and output */
  int ndims;
} question;

static double init(const int64_t *index, int component, void *user)
{
  return start(index, component, &((question *)user)->ndims);
}

static ambit_status output(ambit_field *f, void *user)
{
  (void)user;
  outputs++;
  return ambit_field_read(f, NULL, NULL, result);
}

/* The taps as the dense box of the public struct. */
static ambit_weights dense_of(const stencil *s, double *dense)
{
  ambit_weights w = {.ndims = s->ndims, .weights = dense, .divisor = s->divisor};

  for (int t = 0; t < s->ntaps; t++)
    for (int d = 0; d < s->ndims; d++) {
      if (-s->taps[t].offset[d] > w.low[d]) w.low[d] = -s->taps[t].offset[d];
      if (s->taps[t].offset[d] > w.high[d]) w.high[d] = s->taps[t].offset[d];
    }
  memset(dense, 0, MOST_DENSE * sizeof *dense);
  for (int t = 0; t < s->ntaps; t++) {
    int at = 0;

    for (int d = 0; d < s->ndims; d++)
      at = at * (w.low[d] + w.high[d] + 1) + s->taps[t].offset[d] + w.low[d];
    dense[at] = s->taps[t].weight;
  }
  return w;
}

static void compare(const stencil *s, const char *device, const char *how, int64_t cells,
                    const double *want)
{
  double worst = 0; /* stays a NaN once it is one */

  for (int64_t i = 0; i < cells; i++) {
    double apart = fabs(want[i] - (double)result[i]);

    if (!isnan(worst) && !(apart <= worst)) worst = apart;
  }
  CHECK_MSG(worst < 2e-6, "%s on %s, from %s: %g apart", s->name, device, how, worst);
}

static void check_stencil(ambit *a, const char *device, const stencil *s, const int64_t *extents)
{
  static double want[MOST_CELLS], dense[MOST_DENSE];
  ambit_weights w = dense_of(s, dense);
  ambit_kernel *k = ambit_kernel_create_named(a, s->name, AMBIT_F32);
  question q = {s->ndims};
  ambit_problem p = {
      .ndims = s->ndims, .iterations = ITERATIONS, .init = init, .output = output, .user = &q};
  int64_t cells = 1;

  for (int d = 0; d < s->ndims; d++)
    cells *= p.extents[d] = extents[d];
  plain_loops(s, extents, cells, want);
  outputs = 0;
  p.weights = &w;
  CHECK_EQ(AMBIT_OK, ambit_stencil(a, &p));
  CHECK_EQ(1, outputs);
  compare(s, device, "weights", cells, want);
  memset(result, 0, sizeof result);
  p.weights = NULL;
  p.kernel = k;
  CHECK_EQ(AMBIT_OK, ambit_stencil(a, &p));
  compare(s, device, "the catalogue", cells, want);
  CHECK_OK(a);
}

static void the_whole_catalogue_agrees_with_plain_loops(void)
{
  static const int64_t extents[][4] = {{1000}, {23, 67}, {7, 9, 37}, {5, 4, 6, 19}};
  static stencil all[16];
  int n = 0;

  describe_1d_2d(all, &n);
  describe_3d_4d(all, &n);
  CHECK_EQ(11, n);
  EACH_DEVICE(device)
  {
    ambit *a = open_on(*device);

    for (int i = 0; i < n; i++)
      check_stencil(a, *device, &all[i], extents[all[i].ndims - 1]);
    ambit_close(a);
  }
}

static void small_and_odd_grids_agree_with_plain_loops(void)
{
  static const int64_t extents[][2] = {{1, 1}, {2, 2}, {3, 3}, {4, 5}, {1, 40}, {5, 33}, {64, 3}};
  static stencil all[16];
  int n = 0;

  describe_1d_2d(all, &n);
  EACH_DEVICE(device)
  {
    ambit *a = open_on(*device);

    for (int i = 2; i < n; i += compiles_slowly(*device) ? 3 : 1)
      for (size_t k = 0; k < sizeof extents / sizeof *extents; k++)
        check_stencil(a, *device, &all[i], extents[k]);
    ambit_close(a);
  }
}

/* ---- its arguments ---- */

static const char average[] =
    "void average(const double *u, double *v) { *v = (u[-1] + u[1]) / 2; }";

static ambit_status keep_last(ambit_field *f, void *user)
{
  CHECK_EQ(AMBIT_F64, ambit_field_type(f));
  return ambit_field_read(f, NULL, NULL, user);
}

static double ramp(const int64_t *index, int component, void *user)
{
  (void)component, (void)user;
  return (double)(index[0] * index[0]);
}

static void a_kernel_of_another_type_may_be_given(void)
{
  EACH_DEVICE(device)
  {
    ambit *a = open_on(*device);
    ambit_kernel *k = ambit_kernel_create(a, average);
    double values[5];

    ambit_stencil(a, &(ambit_problem){.ndims = 1,
                                      .extents = {5},
                                      .kernel = k,
                                      .iterations = 1,
                                      .init = ramp,
                                      .output = keep_last,
                                      .user = values});
    CHECK_OK(a);
    CHECK(values[0] == 0 && values[1] == 2 && values[2] == 5 && values[3] == 10 && values[4] == 16);
    ambit_stencil(a, &(ambit_problem){.ndims = 1,
                                      .extents = {5},
                                      .kernel = k,
                                      .iterations = 0,
                                      .init = ramp,
                                      .output = keep_last,
                                      .user = values});
    CHECK(values[1] == 1 && values[3] == 9);
    ambit_stencil(a, &(ambit_problem){.ndims = 1,
                                      .extents = {5},
                                      .kernel = k,
                                      .iterations = 3,
                                      .output = keep_last,
                                      .user = values});
    CHECK(values[0] == 0 && values[2] == 0);
    CHECK_EQ(AMBIT_OK,
             ambit_stencil(
                 a, &(ambit_problem){
                        .ndims = 1, .extents = {5}, .kernel = k, .iterations = 3, .init = ramp}));
    ambit_close(a);
  }
}

static ambit_status fail(ambit_field *f, void *user)
{
  (void)f, (void)user;
  return AMBIT_EIO;
}

static void what_output_returns_comes_back(void)
{
  ambit *a = open_on("ref");

  CHECK_EQ(AMBIT_EIO, ambit_stencil(a, &(ambit_problem){.ndims = 1,
                                                        .extents = {5},
                                                        .kernel = ambit_kernel_create(a, average),
                                                        .iterations = 1,
                                                        .output = fail}));
  ambit_close(a);
}

static void what_cannot_be_a_stencil_is_refused(void)
{
  ambit *a = open_on("ref");
  const double one = 1;
  const ambit_weights two_axes = {.ndims = 2, .weights = &one};

  ambit_stencil(a, &(ambit_problem){.ndims = 1, .extents = {5}, .iterations = 1});
  CHECK_FAILED(a, AMBIT_EINVAL, "the rule is either weights or a kernel");
  ambit_stencil(a, &(ambit_problem){.ndims = 1,
                                    .extents = {5},
                                    .kernel = ambit_kernel_create(
                                        a, "void k(const float *u, double *v) { *v = *u; }"),
                                    .iterations = 1});
  CHECK_FAILED(a, AMBIT_EINVAL, "kernel k must have two parameters");
  ambit_stencil(a, &(ambit_problem){.ndims = 1,
                                    .extents = {5},
                                    .kernel = ambit_kernel_create(a, average),
                                    .iterations = -1});
  CHECK_FAILED(a, AMBIT_EINVAL, "-1 iterations were requested");
  ambit_stencil(a, &(ambit_problem){.ndims = 0,
                                    .extents = {5},
                                    .kernel = ambit_kernel_create(a, average),
                                    .iterations = 1});
  CHECK_FAILED(a, AMBIT_EINVAL, "0 dimensions");
  ambit_stencil(
      a, &(ambit_problem){.ndims = 1, .extents = {5}, .weights = &two_axes, .iterations = 1});
  CHECK_MSG(ambit_error(a), "weights of two axes ran on a grid of one");
  ambit_close(a);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"the_whole_catalogue_agrees_with_plain_loops", the_whole_catalogue_agrees_with_plain_loops},
      {"small_and_odd_grids_agree_with_plain_loops", small_and_odd_grids_agree_with_plain_loops},
      {"a_kernel_of_another_type_may_be_given", a_kernel_of_another_type_may_be_given},
      {"what_output_returns_comes_back", what_output_returns_comes_back},
      {"what_cannot_be_a_stencil_is_refused", what_cannot_be_a_stencil_is_refused},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
