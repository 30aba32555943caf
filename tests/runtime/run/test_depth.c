/* SPDX-License-Identifier: BSD-3-Clause */
/* Several iterations with one exchange: results do not change, the flow gives the layers, and
 * refusals have a reason. */
#include "runtime/program/cycle.h"
#include "runtime/run/run.h"
#include "runtime/runtime_test.h"

#include <string.h>

enum { N = 24 };

typedef struct scene {
  ambit *a;
  ambit_grid *g;
  ambit_field *u, *v;
  ambit_program *p;
} scene;

static double start(const int64_t *i, int component, void *user)
{
  (void)component;
  (void)user;
  return (double)((i[0] * 31 + i[1] * 7) % 13) / 8;
}

static scene open_scene(const char *devices, const char *depth, ambit_boundary kind)
{
  scene s = {.a = ambit_open(NULL, NULL)};

  ambit_on_error(s.a, NULL, NULL);
  ambit_option_set(s.a, "devices", devices);
  ambit_option_set(s.a, "strict", "1");
  ambit_option_set(s.a, "depth", depth);
  s.g = ambit_grid_create(s.a, 2, (int64_t[]){N, N});
  s.u = ambit_field_create(s.g, "u", AMBIT_F64);
  s.v = ambit_field_create(s.g, "v", AMBIT_F64);
  s.p = ambit_program_create(s.g);
  ambit_field_fill(s.u, start, NULL);
  ambit_field_boundary(s.u, AMBIT_ALL_FACES, kind, 2);
  return s;
}

static const char *const heat =
    "void heat(const double *u, double *v)"
    "{ *v = *u + 0.2 * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u); }";

static void step(scene *s, const char *text)
{
  CHECK_EQ(AMBIT_OK, ambit_apply(s->p, ambit_kernel_create(s->a, text), s->u, s->v));
  CHECK_EQ(AMBIT_OK, ambit_swap(s->p, s->u, s->v));
}

static void results_do_not_depend_on_the_depth(void)
{
  static const ambit_boundary kinds[] = {AMBIT_CONSTANT,  AMBIT_PERIODIC, AMBIT_REFLECT,
                                         AMBIT_SYMMETRIC, AMBIT_CLAMP,    AMBIT_FIXED};

  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    static double want[N * N], got[N * N];
    scene ref = open_scene("ref", "1", kinds[k]);

    step(&ref, heat);
    CHECK_EQ(AMBIT_OK, ambit_run(ref.p, 11));
    ambit_field_read(ref.u, NULL, NULL, want);
    ambit_close(ref.a);
    for (int depth = 2; depth <= 5; depth++) {
      const char text[] = {(char)('0' + depth), 0};
      scene s = open_scene("cpu*3", text, kinds[k]);

      step(&s, heat);
      CHECK_EQ(AMBIT_OK, ambit_run(s.p, 11));
      CHECK(s.p->cycle && s.p->cycle->schedule.iterations == depth);
      ambit_field_read(s.u, NULL, NULL, got);
      CHECK_MSG(!memcmp(want, got, sizeof want), "boundary %d, depth %d", (int)k, depth);
      CHECK_EQ(11, ambit_program_iterations(s.p));
      ambit_close(s.a);
    }
  }
}

static void layers_shrink_towards_the_last_iteration(void)
{
  scene s = open_scene("cpu*2", "3", AMBIT_CLAMP);

  step(&s, heat);
  CHECK_EQ(AMBIT_OK, ambit_run(s.p, 3));
  CHECK(s.p->cycle);
  for (int i = 0; s.p->cycle && i < 3; i++) {
    const ambit__flow_stage *st = &s.p->cycle->flow.stages[2 * i]; /* a swap follows each kernel */

    CHECK_EQ(2 - i, st->beyond.n[0][0]);
    CHECK_EQ(2 - i, st->beyond.n[0][1]);
    CHECK_EQ(0, st->beyond.n[1][0]); /* the grid is not cut along it */
  }
  if (s.p->cycle) CHECK_EQ(3, s.p->cycle->flow.beside[0].n[0][0]);
  ambit_close(s.a);
}

/* The schedule has one exchange, for any number of iterations. */
static void a_cycle_has_one_exchange(void)
{
  scene s = open_scene("cpu*2", "4", AMBIT_PERIODIC);
  int begins = 0, waves = 0;

  step(&s, heat);
  CHECK_EQ(AMBIT_OK, ambit_run(s.p, 8));
  CHECK(s.p->cycle);
  for (size_t i = 0; s.p->cycle && i < s.p->cycle->schedule.n; i++) {
    begins += s.p->cycle->schedule.ops[i].kind == OP_BEGIN;
    waves += s.p->cycle->schedule.ops[i].kind == OP_WAVE;
  }
  CHECK_EQ(1, begins);
  CHECK_EQ(1, waves);
  ambit_close(s.a);
}

/* The field that is read at neighbours is computed in each iteration, and the grid is not cut along
 * the axis of the neighbours. */
static ambit_status run_without_exchange(scene *s, double *values)
{
  ambit_scalar *n = ambit_scalar_create(s->a, "n", AMBIT_F64);
  ambit_field *w = ambit_field_create(s->g, "w", AMBIT_F64);

  ambit_field_boundary(s->v, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
  ambit_apply(s->p, ambit_kernel_create(s->a, "void count(double *n) { *n = *n + 1; }"), n);
  ambit_apply(s->p,
              ambit_kernel_create(s->a, "void add(const double *u, double *v, double n) "
                                        "{ *v = *u + n; }"),
              s->u, s->v, n);
  ambit_apply(s->p,
              ambit_kernel_create(s->a, "void next(const double *v, double *w) { *w = v[0][1]; }"),
              s->v, w);
  ambit_swap(s->p, s->u, w);
  ambit_run(s->p, 7);
  CHECK_EQ(7, (int)ambit_scalar_get(n));
  return ambit_field_read(s->u, NULL, NULL, values);
}

static void a_cycle_without_an_exchange_runs(void)
{
  static double want[N * N], got[N * N];
  scene ref = open_scene("ref", "1", AMBIT_CLAMP), s = open_scene("cpu*2", "2", AMBIT_CLAMP);

  CHECK_EQ(AMBIT_OK, run_without_exchange(&ref, want));
  CHECK_EQ(AMBIT_OK, run_without_exchange(&s, got));
  CHECK(s.p->cycle && s.p->cycle->schedule.iterations == 2 && !s.p->cycle->halos.n);
  CHECK(!memcmp(want, got, sizeof want));
  ambit_close(ref.a);
  ambit_close(s.a);
}

static void expect_refusal(const char *kernel, ambit_boundary kind, const char *words)
{
  scene s = open_scene("cpu*2", "2", kind);
  ambit_kernel *k = ambit_kernel_create(s.a, kernel);

  ambit_apply(s.p, k, s.u, s.v);
  ambit_swap(s.p, s.u, s.v);
  CHECK_EQ(AMBIT_OK, ambit_run(s.p, 4));
  CHECK(!s.p->cycle);
  CHECK_MSG(ambit__cycle_refusal(s.p) && strstr(ambit__cycle_refusal(s.p), words), "%s",
            ambit__cycle_refusal(s.p) ? ambit__cycle_refusal(s.p) : "not refused");
  ambit_close(s.a);
}

static void programs_that_cannot_share_an_exchange_are_told_why(void)
{
  expect_refusal("void k(const double *u, double *v) { *v = u[1][0] + index(0); }", AMBIT_PERIODIC,
                 "uses index");
  expect_refusal("void k(const double *u, double *v) { *v = *u; }", AMBIT_CLAMP,
                 "no step reads neighbours");
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"results_do_not_depend_on_the_depth", results_do_not_depend_on_the_depth},
      {"layers_shrink_towards_the_last_iteration", layers_shrink_towards_the_last_iteration},
      {"a_cycle_has_one_exchange", a_cycle_has_one_exchange},
      {"a_cycle_without_an_exchange_runs", a_cycle_without_an_exchange_runs},
      {"programs_that_cannot_share_an_exchange_are_told_why",
       programs_that_cannot_share_an_exchange_are_told_why},
      {0}};

  return test_main(argc, argv, tests);
}
