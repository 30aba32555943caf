/* SPDX-License-Identifier: BSD-3-Clause */
/* Every plan of several iterations in one launch can be written, in every language: fused tiles
 * that move, and tiles that stay, of programs with random sizes, boundaries and parts. */
#define _GNU_SOURCE 1 /* MAP_ANONYMOUS in problem.h */
#include "plan/gpu.h"
#include "runtime/program/cycle.h"
#include "samples.h"
#include "texts.h"

#include <stdlib.h>

enum { MOST_PLANS = 64, TURNS = 200 /* more iterations than a flow has stages */ };

/* CUDA; OpenCL with exchanges between lanes, without them, and on cores. */
static const ambit__target targets[] = {
    {.kind = TARGET_GPU,
     .dialect = &ambit__dialect_cuda,
     .threads = 132,
     .max_threads = 1024,
     .shared = 227 << 10},
    {.kind = TARGET_GPU,
     .dialect = &ambit__dialect_opencl,
     .threads = 132,
     .exchanges = true,
     .max_threads = 1024,
     .shared = 48 << 10},
    {.kind = TARGET_GPU,
     .dialect = &ambit__dialect_opencl,
     .threads = 16,
     .max_threads = 1024,
     .shared = 48 << 10,
     .is_cpu = true},
};

static int written[2][3]; /* plans of fused and persistent, by target */
static uint64_t seed;     /* of the present trial */

/* Every bracket has a partner. */
static bool is_balanced(const char *source)
{
  int depth[3] = {0};

  for (const char *c = source; *c; c++) {
    const char *open = strchr("({[", *c), *close = strchr(")}]", *c);

    if (open) depth[open - "({["]++;
    if (close && --depth[close - ")}]"] < 0) return false;
  }
  return !depth[0] && !depth[1] && !depth[2];
}

static void write_plan(const ambit__group *g, const ambit__target *t, const ambit__plan *plan)
{
  char *source;

  source = ambit__plan_source(g, t, plan);
  CHECK_MSG(source && strstr(source, AMBIT_ENTRY), "seed %" PRIu64 ": no code", seed);
  if (source && strstr(source, AMBIT_ENTRY))
    CHECK_MSG(is_balanced(strstr(source, AMBIT_ENTRY)), "seed %" PRIu64 ":\n%s", seed, source);
  print_source(seed, t->dialect, plan->strategy->name, source);
  free(source);
}

/* Some of the plans for a number of iterations, on all targets. */
static void write_iterations(const trial *t, const ambit_program *p, int depth, bool all)
{
  ambit__fused *f = calloc(1, sizeof *f);
  const char *why = ambit__fuse_group(p, depth, f);

  for (int i = 0; !why && i < 3; i++) {
    ambit__plan plans[MOST_PLANS];
    const int n = ambit__plan_candidates(&f->group, &targets[i], plans, MOST_PLANS);

    for (int k = 0; k < n; k++)
      if (all || k % 7 == t->plan % 7) {
        write_plan(&f->group, &targets[i], &plans[k]);
        written[f->plan.flow.loops][i]++;
      }
  }
  ambit__fuse_plan_free(&f->plan);
  free(f);
}

static void write_trial(const trial *t, bool all)
{
  static const char *const devices[] = {"cuda", "cuda", "cuda*2", "cuda*4"};
  ambit_field *fields[8];
  ambit_program *p;

  context = ambit_open(NULL, NULL);
  ambit_option_set(context, "devices", devices[seed % 4]);
  ambit_option_set(context, "depth", "1");
  ambit_option_set(context, "strict", t->strict ? "1" : "0");
  ambit__pretend(context, 0, 1); /* nothing runs */
  p = make_program(t, fields);
  CHECK_MSG(!ambit__program_seal(p), "%s: %s", t->s->name, ambit_error_text(context));
  write_iterations(t, p, t->depth, all);
  write_iterations(t, p, TURNS, all);
  ambit_close(context);
}

static int trials = 80;

static void every_plan_of_several_iterations_can_be_written(void)
{
  const int nsamples = (int)(sizeof samples / sizeof *samples);

  for (seed = 0; seed < (uint64_t)trials; seed++) {
    trial t;

    state = (seed + 1) * 0x9e3779b97f4a7c15u;
    t = draw_trial(&samples[seed % (uint64_t)nsamples]);
    if (t.ndims == 3) t.extents[0] += 20; /* room for two parts */
    write_trial(&t, prints != PRINT_NOTHING);
  }
  for (int i = 0; i < 3; i++)
    CHECK_MSG(written[0][i] > trials / 2, "%d plans of fused on target %d", written[0][i], i);
  CHECK_MSG(written[1][0] > trials / 2, "%d plans of persistent", written[1][0]);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {{"every_plan_of_several_iterations_can_be_written",
                                     every_plan_of_several_iterations_can_be_written},
                                    {0}};

  take_prints(&argc, &argv);
  if (argc > 2 && !strcmp(argv[1], "--count")) {
    trials = atoi(argv[2]);
    argc = 1;
  }
  return test_main(argc, argv, tests);
}
