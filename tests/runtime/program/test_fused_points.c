/* SPDX-License-Identifier: BSD-3-Clause */
/* Points in launches of several iterations on GPUs: sources and receivers anywhere, in random
 * programs of one and two stages, give the bits of ref. */
#include "runtime/program/cycle.h"
#include "runtime/runtime_test.h"

#include <stdio.h>

enum { SHORT = 8, STEPS = 17, POINTS = 24, MOST_CELLS = 30 * 54 * 34 };

/* ---- random programs ---- */

typedef struct shot {
  unsigned seed;
  int ndims;
  int64_t extents[3];
  ambit_type type;
  ambit_boundary boundary;
  bool stages; /* two of them, on fields of their own; else a wave of three fields */
  int depth;
  int64_t every;
  int nsources, nreceivers;
  int value; /* of sources: 0: a number, 1: a series for all, 2: one for each */
  double sources[3 * POINTS], receivers[3 * POINTS];
} shot;

static unsigned draw(unsigned *state, unsigned n)
{
  *state = *state * 1664525u + 1013904223u;
  return (*state >> 8) % n;
}

static void place(unsigned *state, const shot *s, int n, double *x)
{
  for (int i = 0; i < n; i++)
    for (int d = 0; d < s->ndims; d++) {
      const double last = (double)(s->extents[d] - 1);

      x[i * s->ndims + d] = last * draw(state, 1001) / 1000;
      if (draw(state, 6) == 0) x[i * s->ndims + d] = draw(state, 2) ? last : 0;
    }
}

static shot draw_shot(unsigned seed)
{
  static const ambit_boundary boundaries[] = {AMBIT_CONSTANT, AMBIT_PERIODIC, AMBIT_FIXED,
                                              AMBIT_CLAMP,    AMBIT_REFLECT,  AMBIT_ANTISYMMETRIC};
  shot s = {.seed = seed};
  unsigned state = seed * 2654435761u + 1;

  for (int i = 0; i < 4; i++)
    draw(&state, 2);
  s.ndims = 2 + seed % 2;
  for (int d = 0; d < s.ndims; d++)
    s.extents[d] = s.ndims == 2 ? 20 + draw(&state, d ? 180 : 20) : 10 + draw(&state, 8);
  if (s.ndims == 3) s.extents[2] += 16; /* shorter rows are packed, and smaller planes */
  s.type = draw(&state, 4) ? AMBIT_F32 : AMBIT_F64;
  s.boundary = boundaries[draw(&state, 6)];
  if (s.ndims == 3 && s.boundary != AMBIT_PERIODIC && s.boundary >= AMBIT_REFLECT)
    s.extents[1] += 36; /* that are mirrored are not fused either */
  s.stages = draw(&state, 3) == 0;
  s.depth = 2 + (int)draw(&state, s.stages ? 2 : 3);
  s.every = draw(&state, 3) ? 1 : 2 + draw(&state, 2);
  s.nsources = (int)draw(&state, 4) ? 1 + (int)draw(&state, POINTS) : 0;
  s.nreceivers = s.nsources && draw(&state, 3) == 0 ? 0 : 1 + (int)draw(&state, POINTS);
  s.value = (int)draw(&state, 3);
  place(&state, &s, s.nsources, s.sources);
  place(&state, &s, s.nreceivers, s.receivers);
  return s;
}

static double start(const int64_t *i, int component, void *user)
{
  (void)component, (void)user;
  return (double)((i[0] * 131 + i[1] * 17 + i[2] * 5) % 251) / 256; /* in 2-D i[2] is 0 */
}

/* "u[0][1]" */
static void print_read(char *to, const char *field, int ndims, int axis, int offset)
{
  to += sprintf(to, "%s", field);
  for (int d = 0; d < ndims; d++)
    to += sprintf(to, "[%d]", d == axis ? offset : 0);
}

/* A sum over the neighbours of u, on one or both sides of the cell. */
static void print_sum(char *to, const char *field, int ndims, int from, int till)
{
  *to = 0;
  for (int d = 0; d < ndims; d++)
    for (int side = from; side <= till; side += 2) {
      strcat(to, *to ? " + " : "");
      print_read(to + strlen(to), field, ndims, d, side);
    }
}

static void add_rules(ambit_program *p, ambit *a, const shot *s, ambit_field **f)
{
  const char *type = s->type == AMBIT_F32 ? "float" : "double";
  char text[1024], sum[512];

  if (!s->stages) {
    print_sum(sum, "u", s->ndims, -1, 1);
    snprintf(text, sizeof text,
             "void wave(const %s *w, const %s *u, %s *v) { *v = (%s)1.5 * *u - (%s)0.75 * *w + "
             "(%s)0.0625 * (%s); }",
             type, type, type, type, type, type, sum);
    ambit_apply(p, ambit_kernel_create(a, text), f[0], f[1], f[2]);
    return;
  }
  print_sum(sum, "u", s->ndims, 1, 1);
  snprintf(text, sizeof text,
           "void first(const %s *u, %s *v) { *v = (%s)0.5 * *v + (%s)0.125 * (%s - *u); }", type,
           type, type, type, sum);
  ambit_apply(p, ambit_kernel_create(a, text), f[0], f[1]);
  print_sum(sum, "v", s->ndims, -1, -1);
  snprintf(text, sizeof text,
           "void second(const %s *v, %s *u) { *u = (%s)0.5 * *u + (%s)0.125 * (%s); }", type, type,
           type, type, sum);
  ambit_apply(p, ambit_kernel_create(a, text), f[1], f[0]);
}

static void add_source(ambit_program *p, ambit *a, ambit_grid *g, const shot *s, ambit_field *f)
{
  ambit_points *points;
  double series[STEPS * POINTS];
  const int columns = s->value == 2 ? s->nsources : 1;
  ambit_record *r;

  if (!s->nsources) return;
  points = ambit_points_create(g, s->nsources, s->sources, AMBIT_LINEAR);
  if (!s->value) {
    ambit_inject(p, points, 0.3125, f);
  } else {
    r = ambit_record_create(a, "series");
    for (int i = 0; i < STEPS * columns; i++)
      series[i] = (double)(i * 7 % 23) / 8 - 1;
    ambit_record_write(r, STEPS, columns, series);
    ambit_inject(p, points, r, f);
  }
  ambit_step_every(p, s->every);
}

typedef struct result {
  double cells[MOST_CELLS]; /* floats, if the field has them */
  double seen[STEPS * POINTS];
  int64_t rows;
  const char *refusal; /* why iterations are not fused; NULL: they are */
} result;

static void run(const char *device, const shot *s, result *r)
{
  ambit *a = open_on(device);
  ambit_grid *g;
  ambit_field *f[3];
  ambit_program *p;
  ambit_record *seen;
  char depth[8];

  snprintf(depth, sizeof depth, "%d", s->depth);
  ambit_option_set(a, "strict", "1");
  if (strcmp(device, "ref")) ambit_option_set(a, "depth", depth);
  g = ambit_grid_create(a, s->ndims, s->extents);
  p = ambit_program_create(g);
  for (int i = 0; i < 3 - s->stages; i++) {
    f[i] = ambit_field_create(g, (const char *[]){"a", "b", "c"}[i], s->type);
    ambit_field_boundary(f[i], AMBIT_ALL_FACES, s->boundary, 0.25);
    ambit_field_fill(f[i], start, NULL);
  }
  seen = ambit_record_create(a, "seen");
  add_rules(p, a, s, f);
  add_source(p, a, g, s, f[s->stages ? s->seed % 2 : 2]);
  if (!s->stages) ambit_rotate(p, 3, f);
  if (s->nreceivers)
    ambit_sample(p, ambit_points_create(g, s->nreceivers, s->receivers, AMBIT_LINEAR),
                 f[s->seed % (s->stages ? 2 : 3)], seen);
  ambit_run(p, 11);
  r->refusal = ambit__cycle_refusal(p);
  ambit_run(p, STEPS - 11);
  r->rows = ambit_record_rows(seen);
  ambit_record_read(seen, 0, r->rows, r->seen);
  ambit_field_read(f[s->stages ? 0 : 1], NULL, NULL, r->cells);
  CHECK_OK(a);
  ambit_close(a);
}

static void check_shot(unsigned seed, const char *device)
{
  static result want, got;
  shot s = draw_shot(seed);

  if (strchr(device, '*')) { /* samples of several parts are not fused, and thin parts are not */
    s.nreceivers = 0;
    s.extents[0] += 12;
  }
  memset(&want, 0, sizeof want);
  memset(&got, 0, sizeof got);
  run("ref", &s, &want);
  run(device, &s, &got);
  CHECK_MSG(!got.refusal || (strchr(device, '*') && s.boundary == AMBIT_PERIODIC),
            "seed %u: %d iterations are not fused on %s: %s", seed, s.depth, device, got.refusal);
  CHECK_MSG(got.rows == want.rows && !memcmp(got.seen, want.seen, sizeof got.seen),
            "seed %u: receivers differ on %s", seed, device);
  CHECK_MSG(!memcmp(got.cells, want.cells, sizeof got.cells), "seed %u: cells differ on %s", seed,
            device);
}

/* ---- tests ---- */

/* Random programs. Compilers of OpenCL take 5 to 40 s for one, so make check has one of them. */
static void check_shots(const char *parts)
{
  const char *from = getenv("TEST_POINTS_FROM"), *n = getenv("TEST_POINTS");
  const unsigned first = from ? (unsigned)atoi(from) : SHORT;
  const unsigned end = first + (n ? (unsigned)atoi(n) : 12);
  bool any = false;

  for (const char *const *d = devices_here(); *d; d++)
    for (unsigned i = first; i < end && strcmp(*d, "ref") && strcmp(*d, "cpu"); i++) {
      char device[32];

      any = true;
      snprintf(device, sizeof device, "%s%s", *d, parts);
      if (!compiles_slowly(*d) || n || test_takes((int)(i - first), 12)) check_shot(i, device);
    }
  if (!any) SKIP("there is no GPU");
}

static void fused_launches_go_through_points(void)
{
  check_shots("");
}

static void on_parts_they_go_through_sources(void)
{
  check_shots("*2");
  check_shots("*3");
}

/* One dimension: several iterations per exchange, step by step. A source at a cut is in the box of
 * two parts, each of which has its own place for it. */
static void a_source_at_a_cut_reaches_the_layers_of_both_parts(void)
{
  static result want, got;
  const shot s = {.ndims = 1,
                  .extents = {60},
                  .boundary = AMBIT_CONSTANT,
                  .depth = 3,
                  .every = 1,
                  .nsources = 1,
                  .sources = {20.4}};

  run("ref", &s, &want);
  for (const char *const *d = devices_here(); *d; d++) {
    char device[32];

    if (!strcmp(*d, "ref")) continue;
    snprintf(device, sizeof device, "%s*3", *d);
    run(device, &s, &got);
    CHECK_MSG(!memcmp(got.cells, want.cells, sizeof got.cells), "cells differ on %s", device);
  }
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"fused_launches_go_through_points", fused_launches_go_through_points},
      {"on_parts_they_go_through_sources", on_parts_they_go_through_sources},
      {"a_source_at_a_cut_reaches_the_layers_of_both_parts",
       a_source_at_a_cut_reaches_the_layers_of_both_parts},
      {NULL, NULL}};

  return test_main(argc, argv, tests);
}
