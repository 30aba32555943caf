/* SPDX-License-Identifier: BSD-3-Clause */
/* Several iterations at once in programs with kernels on scalars, histories, and steps that run
 * every n iterations: random programs of such steps are bit-equal to ref. */
#include "runtime/program/cycle.h"
#include "runtime/runtime_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 37, COLUMNS = 45, SCALARS = 5, STEPS = 9, RECORDS = STEPS, RUNS = 4 };

static const char text[] =
    "void heat(const double *u, double *v, double k)"
    "{ *v = *u + 0.3 * k / (1 + k * k) * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u); }"
    "void heats(const double *u, double *v, double k, max double *top, sum double *all)"
    "{ *v = *u + 0.3 * k / (1 + k * k) * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u);"
    "  *top = fabs(*v); *all = *u; }"
    "void tops(const double *u, const double *v, max double *top, sum double *all)"
    "{ *top = fabs(*u); *all = *u - *v; }"
    "void push(double *u, double s) { *u = 0.9 * *u + 0.1 * s; }"
    "void pace(double *s) { *s = 1 + 0.01 * (step() % 17); }"
    "void pass(double *s, double x) { *s += 0.01 * x; }"
    "void pick(double *s, double x) { if (step() % 3 == 1) *s = 0.5 * x; }"
    "void take(double *s, double x) { *s = 1 / (1 + x * x); }";

static const char *const names[] = {"heat", "heats", "tops", "push",
                                    "pace", "pass",  "pick", "take"};
enum {
  HEAT,
  HEATS,
  TOPS,
  PUSH,
  PACE,
  PASS,
  PICK,
  TAKE,
  NOTE,
  SAMPLE,
  INJECT,
  COPY,
  CALL,
  HOST,
  KINDS
};

/* ---- random numbers ---- */

static uint64_t state;

static int below(int n)
{
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (int)((state >> 33) % (uint64_t)n);
}

/* ---- programs ---- */

typedef struct scene {
  ambit *a;
  ambit_grid *g;
  ambit_field *u, *v, *w;
  ambit_scalar *s[SCALARS];
  ambit_kernel *k[NOTE];
  ambit_points *points;
  ambit_record *records[RECORDS];
  int nrecords;
  ambit_program *p, *called;
} scene;

typedef struct outcome {
  double cells[3][ROWS * COLUMNS];
  double scalars[RUNS][SCALARS];
  double rows[RECORDS][256];
  int64_t counts[RECORDS];
  bool waves, ahead, late, rare, first;
} outcome;

static double start(const int64_t *i, int component, void *user)
{
  (void)component;
  (void)user;
  return (double)((i[0] * 31 + i[1] * 7) % 13) / 8;
}

static int twist(const ambit_part *part, void *user)
{
  const ambit_cells *c = &part->fields[0];
  double *x = c->values;

  (void)user;
  for (int64_t i = part->lo[0]; i < part->hi[0]; i++)
    for (int64_t k = part->lo[1]; k < part->hi[1]; k++)
      x[(i - part->lo[0]) * c->stride[0] + (k - part->lo[1]) * c->stride[1]] *= 0.875;
  return 0;
}

static void append(scene *s, int kind, int a, int b)
{
  static const int64_t lo[] = {3, 5}, hi[] = {20, 30}, to[] = {9, 11};
  ambit_scalar *x = s->s[a], *y = s->s[b % SCALARS];

  switch (kind) {
  case HEAT: ambit_apply(s->p, s->k[HEAT], s->u, s->v, x); break;
  case HEATS: ambit_apply(s->p, s->k[HEATS], s->u, s->v, s->s[a % 3], s->s[3], s->s[4]); break;
  case TOPS: ambit_apply(s->p, s->k[TOPS], s->u, s->v, s->s[3], s->s[4]); break;
  case PUSH: ambit_apply_box(s->p, lo, hi, s->k[PUSH], s->u, x); break;
  case PACE: ambit_apply(s->p, s->k[PACE], x); break;
  case PASS:
  case PICK:
  case TAKE:
    if (a == b) y = s->s[(b + 1) % SCALARS];
    ambit_apply(s->p, s->k[kind], x, y);
    break;
  case NOTE: s->records[s->nrecords++] = ambit_history(s->p, x, 1 + b); break;
  case SAMPLE:
    s->records[s->nrecords] = ambit_record_create(s->a, "r");
    ambit_sample(s->p, s->points, s->u, s->records[s->nrecords++]);
    break;
  case INJECT: ambit_inject(s->p, s->points, x, s->u); break;
  case COPY: ambit_copy_box(s->p, s->u, lo, hi, s->w, to); break;
  case CALL: ambit_call(s->p, s->called, 2); break;
  case HOST:
    ambit_apply_host(s->p, twist, NULL, 1, &s->u, (unsigned[]){AMBIT_READ | AMBIT_WRITE});
    break;
  }
}

/* A number of iterations between runs of a step: in most steps 1. */
static int every(int kind)
{
  static const int some[] = {1, 1, 1, 2, 3, 5, 7, 11};

  if (kind == COPY || kind == CALL || kind == HOST) return 4 + below(8);
  return kind == HEAT ? 1 : some[below(8)];
}

static void build(scene *s)
{
  const int n = 1 + below(STEPS - 3), bulk = below(n);

  for (int i = 0; i < n; i++) {
    const int kind = i == bulk ? HEAT + below(2) : PUSH + below(KINDS - PUSH);
    const int a = below(SCALARS), b = below(SCALARS), often = i == bulk ? 1 : every(kind);

    append(s, kind, a, b);
    if (often > 1 && kind != NOTE) ambit_step_every(s->p, often);
    if (i == bulk) ambit_swap(s->p, s->u, s->v);
  }
}

/* A program whose steps need reductions of the same iteration. */
static void build_first(scene *s)
{
  const int n = 1 + below(3);

  append(s, TOPS, 0, 0);
  append(s, TAKE, 0, 3);
  if (below(2)) append(s, PASS, 1, 4);
  for (int i = 0; i < n; i++)
    append(s, PUSH, below(SCALARS), 0);
  append(s, HEAT, 0, 0);
  if (below(2)) append(s, NOTE, below(SCALARS), 4 + below(3));
  ambit_swap(s->p, s->u, s->v);
  if (below(2)) append(s, PUSH, below(2), 0);
}

static void (*builder)(scene *s) = build;

static void open(scene *s, const char *devices, const char *depth)
{
  char *argv[] = {"test", "--ambit-mpi=off", NULL}, **words = argv;
  int argc = strcmp(devices, "ref") ? 1 : 2; /* each process has the reference itself */

  *s = (scene){.a = ambit_open(&argc, &words)};
  ambit_option_set(s->a, "devices", devices);
  ambit_option_set(s->a, "strict", "1");
  ambit_option_set(s->a, "depth", depth);
  s->g = grid_2d(s->a, ROWS, COLUMNS);
  s->u = ambit_field_create(s->g, "u", AMBIT_F64);
  s->v = ambit_field_create(s->g, "v", AMBIT_F64);
  s->w = ambit_field_create(s->g, "w", AMBIT_F64);
  s->points = ambit_points_create(s->g, 2, (double[]){10.25, 20.5, 30.5, 4.75}, AMBIT_LINEAR);
  s->k[0] = ambit_kernel_create(s->a, text);
  for (int i = 1; i < NOTE; i++)
    s->k[i] = ambit_kernel_find(s->k[0], names[i]);
  for (int i = 0; i < SCALARS; i++) {
    s->s[i] = ambit_scalar_create(s->a, "s", AMBIT_F64);
    ambit_scalar_set(s->s[i], 0.5 + i / 8.0);
  }
  ambit_field_boundary(s->u, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
  ambit_field_fill(s->u, start, NULL);
  ambit_field_fill(s->w, start, NULL);
  s->p = ambit_program_create(s->g);
  s->called = ambit_program_create(s->g);
  ambit_apply(s->called, s->k[PUSH], s->w, s->s[0]);
}

static void note_roles(const ambit_program *p, outcome *o)
{
  o->waves = p->cycle && p->cycle->wavefront;
  for (size_t i = 0; i < p->nsteps; i++) {
    o->ahead |= p->applies[i].role == ROLE_AHEAD && p->steps[i].chore == NULL;
    o->late |= p->applies[i].role == ROLE_LATE;
    o->rare |= p->applies[i].role == ROLE_RARE;
    o->first |= p->applies[i].role == ROLE_FIRST;
  }
}

static outcome *play(uint64_t seed, const char *devices, const char *depth)
{
  static const int lengths[RUNS] = {13, 1, 8, 30};
  outcome *o = calloc(1, sizeof *o);
  scene s;

  state = seed;
  open(&s, devices, depth);
  /* a value at a face that a step may compute */
  if (below(2)) ambit_field_boundary(s.u, AMBIT_LOW(0), AMBIT_DIRICHLET, s.s[below(SCALARS)]);
  builder(&s);
  for (int i = 0; i < RUNS; i++) {
    CHECK_MSG(!ambit_run(s.p, lengths[i]), "seed %llx: %s", (unsigned long long)seed,
              ambit_error_text(s.a));
    for (int k = 0; k < SCALARS; k++)
      o->scalars[i][k] = ambit_scalar_get(s.s[k]);
  }
  note_roles(s.p, o);
  ambit_field_read(s.u, NULL, NULL, o->cells[0]);
  ambit_field_read(s.v, NULL, NULL, o->cells[1]);
  ambit_field_read(s.w, NULL, NULL, o->cells[2]);
  for (int i = 0; i < s.nrecords; i++) {
    o->counts[i] = ambit_record_rows(s.records[i]);
    ambit_record_read(s.records[i], 0, o->counts[i], o->rows[i]);
  }
  CHECK_OK(s.a);
  ambit_close(s.a);
  return o;
}

/* ---- comparison ---- */

static int waves, ahead, late, rare, first; /* programs */

static void compare(uint64_t seed, const char *devices, const char *depth)
{
  outcome *want = play(seed, "ref", depth), *got = play(seed, devices, depth);

  CHECK_MSG(!memcmp(want->cells, got->cells, sizeof want->cells),
            "seed %llx on %s, depth %s: fields differ", (unsigned long long)seed, devices, depth);
  CHECK_MSG(!memcmp(want->scalars, got->scalars, sizeof want->scalars),
            "seed %llx on %s, depth %s: scalars differ", (unsigned long long)seed, devices, depth);
  CHECK_MSG(!memcmp(want->counts, got->counts, sizeof want->counts) &&
                !memcmp(want->rows, got->rows, sizeof want->rows),
            "seed %llx on %s, depth %s: records differ", (unsigned long long)seed, devices, depth);
  waves += got->waves;
  ahead += got->waves && got->ahead;
  late += got->waves && got->late;
  rare += got->waves && got->rare;
  first += got->waves && got->first;
  free(want);
  free(got);
}

enum { PROGRAMS = 12 };

static void results_do_not_depend_on_roles(void)
{
  static const char *const depths[] = {"2", "3", "5", "8", "0"};
  static const char *const devices[] = {"cpu", "cpu", "cpu*2", "cpu*3"};
  ambit *a = ambit_open(NULL, NULL);
  const int one = ambit_processes(a) > 1 ? PROGRAMS / 3 : PROGRAMS;
  const int n = getenv("AMBIT_TEST_LONG") ? 120 * one : one;

  ambit_close(a);
  for (int i = 0; i < n; i++)
    compare(0x5eed + (uint64_t)i * 7919, devices[i % 4], depths[i % 5]);
  CHECK_MSG(waves > n / 8 && ahead && rare && (late || n < 60),
            "of %d programs %d have waves: %d with scalars ahead, %d late, %d with rare steps", n,
            waves, ahead, late, rare);
}

/* ---- refusals ---- */

/* Whether a program of heat with a reduction and another step has waves, and the reason if not. */
static void expect(const char *words, int kind, int a, int b, int often)
{
  const char *why;
  scene s;

  open(&s, "cpu", "4");
  append(&s, HEATS, 0, 0);
  append(&s, kind, a, b);
  if (often > 1 && kind != NOTE) ambit_step_every(s.p, often);
  ambit_swap(s.p, s.u, s.v);
  CHECK_EQ(AMBIT_OK, ambit_run(s.p, 12));
  why = s.p->cycle ? "" : ambit__cycle_refusal(s.p);
  CHECK_MSG(*words ? strstr(why, words) != NULL : !*why, "want: %s, got: %s", words, why);
  ambit_close(s.a);
}

static void steps_that_need_every_iteration_say_so(void)
{
  expect("", PACE, 0, 0, 1); /* the factor of the next iteration */
  expect("", TAKE, 1, 3, 1); /* of a maximum: nobody reads it but the user */
  expect("", NOTE, 3, 5, 1); /* of a maximum every 6 iterations */
  expect("", COPY, 0, 0, 6);
  expect("", HOST, 0, 0, 6);
  expect("reads a scalar that a step computes", TAKE, 0, 3, 1);
  expect("notes a reduction", NOTE, 3, 0, 1);
  expect("of the iteration before", PASS, 1, 3, 1); /* adds maxima up */
  expect("copies a box", COPY, 0, 0, 1);
  expect("n is small", COPY, 0, 0, 2);
}

/* ---- steps that run first ---- */

static void results_do_not_depend_on_steps_that_run_first(void)
{
  ambit *a = ambit_open(NULL, NULL);
  const bool alone = ambit_processes(a) == 1;

  ambit_close(a);
  builder = build_first;
  first = 0;
  for (int i = 0; i < PROGRAMS / 4; i++)
    compare(0xf125 + (uint64_t)i * 7919, i % 4 ? "cpu" : "cpu*2", i % 3 ? "4" : "0");
  builder = build;
  CHECK_MSG(first > PROGRAMS / 20 || !alone, "%d programs have such steps", first);
}

/* The depth of the pass of a program with these steps before HEAT; 0: it has none. */
static int pass_of(const char *depth, const int *kinds, int n)
{
  int found = 0;
  scene s;

  open(&s, "cpu", depth);
  for (int i = 0; i < n; i++)
    append(&s, kinds[i], 0, 3);
  append(&s, HEAT, 0, 0);
  ambit_swap(s.p, s.u, s.v);
  CHECK_EQ(AMBIT_OK, ambit_run(s.p, 5));
  if (s.p->cycle && s.p->cycle->wavefront) found = s.p->cycle->schedule.iterations;
  ambit_close(s.a);
  return found;
}

static void steps_after_a_reduction_are_one_pass(void)
{
  const int good[] = {TOPS, TAKE, PUSH}, lone[] = {TOPS, TAKE}, after[] = {PUSH, TOPS, TAKE, PUSH},
            far[] = {HEATS, TAKE, PUSH};

  CHECK_EQ(1, pass_of("4", good, 3));
  CHECK_EQ(0, pass_of("1", good, 3));
  CHECK_EQ(0, pass_of("4", lone, 2));  /* a pass of one step */
  CHECK_EQ(0, pass_of("4", after, 4)); /* the reduction is of cells that a step writes */
  CHECK_EQ(0, pass_of("4", far, 3));   /* it reads neighbours */
}

/* ---- reductions in waves ---- */

/* 8 iterations of heat with a maximum and a sum, in a wave of 8 or with single ones after it. */
static void tail(const char *strict, int want)
{
  double values[2][2];
  scene s;

  for (int i = 0; i < 2; i++) {
    open(&s, i ? "cpu" : "ref", "8");
    ambit_option_set(s.a, "strict", strict);
    append(&s, HEATS, 0, 0);
    ambit_swap(s.p, s.u, s.v);
    CHECK_EQ(AMBIT_OK, ambit_run(s.p, 8));
    for (int k = 0; k < 2; k++)
      values[i][k] = ambit_scalar_get(s.s[3 + k]);
    CHECK(!i || (s.p->cycle && s.p->cycle->wavefront && s.p->cycle->tail == want));
    ambit_close(s.a);
  }
  for (int k = 0; k < 2; k++)
    CHECK(fabs(values[1][k] / values[0][k] - 1) < 1e-12);
}

static void waves_keep_reductions_whose_order_does_not_matter(void)
{
  tail("1", 0);
  tail("0", 1); /* a sum of doubles */
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"results_do_not_depend_on_roles", results_do_not_depend_on_roles},
      {"steps_that_need_every_iteration_say_so", steps_that_need_every_iteration_say_so},
      {"results_do_not_depend_on_steps_that_run_first",
       results_do_not_depend_on_steps_that_run_first},
      {"waves_keep_reductions_whose_order_does_not_matter",
       waves_keep_reductions_whose_order_does_not_matter},
      {"steps_after_a_reduction_are_one_pass", steps_after_a_reduction_are_one_pass},
      {0}};

  return test_main(argc, argv, tests);
}
