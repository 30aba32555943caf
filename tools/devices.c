/* SPDX-License-Identifier: BSD-3-Clause */
/* devices.c - `ambit devices`: lists the devices of this machine, and the share of each in a
 * stencil. */
#include "base/clock.h"
#include "device/measure.h"
#include "problem.h"
#include "runtime/run/balance.h"
#include "runtime/run/run.h"

#include <stdio.h>
#include <string.h>

enum { QUICK = 1, MEASURE };
enum { MOST = 64, ITERATIONS = 20 }; /* devices that are measured; iterations at a time */

static const double LEAST_SECONDS = 0.2; /* of a measurement */

/* The speeds of a machine, indented. */
static void print_machine(const ambit__machine *m)
{
  ambit__text t = {0};

  ambit__machine_print(m, &t);
  printf("       speeds: %s\n", m->measured ? "measured" : "as recorded for such a device");
  for (const char *line = t.chars, *end; line && (end = strchr(line, '\n')); line = end + 1)
    printf("         %.*s\n", (int)(end - line), line);
  ambit__text_free(&t);
}

/* Prints the name of a device, and its properties below. */
static ambit_status print_device(ambit *a, const ambit__backend *backend, int ordinal, bool quick,
                                 bool again)
{
  ambit__device_info info;
  ambit__device *dev;

  AMBIT_TRY(backend->open(&a->errors, &a->settings, ordinal, &dev));
  backend->info(dev, &info);
  printf("%s:%d  %s\n", backend->name, ordinal, info.name);
  printf("       %s\n", backend->summary);
  printf("       memory %.1f GiB\n", (double)info.memory / (1 << 30));
  if (again) ambit__device_measure(dev, true);
  if (ambit__can(backend, plans) && !quick) print_machine(&dev->machine);
  backend->close(dev);
  return AMBIT_OK;
}

/* ---- measuring ---- */

/* The stencil to measure, and the results. */
typedef struct survey {
  tool_problem problem; /* not loaded: each device has a context of its own */
  int n;
  char names[MOST][AMBIT__PART_NAME];
  double rates[MOST]; /* cells per second */
} survey;

/* Runs the stencil for a moment. Returns the exit code. */
static int time_job(ambit *a, const tool_args *args, tool_problem *p, double *rate)
{
  tool_job job;
  const ambit_stats *after;
  ambit_stats before;
  int code;

  if ((code = tool_problem_load(a, args, p))) return code;
  if ((code = tool_problem_bind(args, p))) return code;
  if ((code = tool_problem_shape(args, p))) return code;
  if (tool_job_open(a, p, p->kernel, &job) || tool_job_start(&job)) return TOOL_FAILED;
  ambit_run(job.program, ITERATIONS); /* compiles, and decides how many iterations run at once */
  if (!(after = ambit_program_stats(job.program, 0))) return TOOL_FAILED;
  before = *after;
  do
    ambit_run(job.program, ITERATIONS);
  while ((after = ambit_program_stats(job.program, 0)) &&
         after->seconds - before.seconds < LEAST_SECONDS);
  if (!after) return TOOL_FAILED;
  *rate = (after->cells - before.cells) / (after->seconds - before.seconds);
  return TOOL_OK;
}

static int measure(const ambit *like, const tool_args *args, survey *s,
                   const ambit__backend *backend, int ordinal)
{
  tool_problem p = s->problem;
  ambit *a;
  int code;

  if (s->n == MOST) return TOOL_OK;
  snprintf(s->names[s->n], sizeof s->names[0], "%s:%d", backend->name, ordinal);
  a = tool_open_like(like, s->names[s->n]);
  code = time_job(a, args, &p, &s->rates[s->n]);
  if (!code) printf("       %s: %.3f Gcells/s\n", p.what, s->rates[s->n++] / 1e9);
  ambit_close(a);
  return code;
}

/* The cut that follows from the speeds, if messages cost nothing. */
static void print_shares(const survey *s)
{
  double weights[MOST], sum = 0, best = 0;

  ambit__shares_choose(s->rates, s->n, 0, weights);
  for (int i = 0; i < s->n; i++) {
    sum += weights[i];
    if (weights[i] > best) best = weights[i];
  }
  if (s->n < 2 || sum <= 0) return;
  printf("together at most %.3f Gcells/s, %.1f %% more than the fastest, with these shares:\n",
         sum / 1e9, 100 * (sum / best - 1));
  for (int i = 0; i < s->n; i++)
    printf("  %-10s %5.1f %%\n", s->names[i], 100 * weights[i] / sum);
}

/* ---- the command ---- */

static int run(ambit *a, tool_args *args)
{
  survey s = {.n = 0};
  bool again = false, quick = false;
  const char *value, *stencil = NULL;
  int id, code = TOOL_OK;

  while ((id = tool_next(args, &value))) {
    if (id == TOOL_HELP) return tool_help(&tool_devices);
    if (id == TOOL_WRONG) return TOOL_USAGE;
    if (id == TOOL_WORD && !again) return tool_wrong(args, "unexpected word '%s'", value);
    if (id == TOOL_WORD && (code = tool_problem_word(args, stencil = value, &s.problem)))
      return code;
    if (id == MEASURE) again = true;
    if (id == QUICK) quick = true;
    if (id >= OPT_SIZE && (code = tool_problem_option(a, args, id, value, &s.problem))) return code;
  }
  if (ambit_process(a)) return TOOL_OK; /* simultaneous measurements would disturb each other */
  for (int i = 0; ambit__backend_at(i); i++) {
    const ambit__backend *b = ambit__backend_at(i);

    for (int k = 0; !code && k < b->count(); k++) {
      if (print_device(a, b, k, quick || stencil, again && !stencil)) return TOOL_FAILED;
      if (stencil && ambit__can(b, ghosts)) code = measure(a, args, &s, b, k);
    }
  }
  if (!code && stencil) print_shares(&s);
  return code;
}

static const tool_option options[] = {
    {QUICK, 'q', "quick", NULL, "only name and memory"},
    {MEASURE, 'm', "measure", NULL,
     "measure the devices again, or with a NAME or FILE.c\nthat stencil on each of them, and print "
     "their speed together"},
    TOOL_OPTION_SIZE,
    TOOL_OPTION_TYPE,
    TOOL_OPTION_BOUNDARY,
    TOOL_OPTION_SET,
    {0},
};

const tool_command tool_devices = {
    .name = "devices",
    .words = "[--quick] [--measure [NAME]]",
    .summary = "Lists the devices of this machine: name, memory, and how fast they are.",
    .options = options,
    .notes =
        "The default is the first CUDA GPU, else the first OpenCL GPU with memory of its own,\n"
        "else cpu (change it with --device, --ambit-devices or AMBIT_DEVICES).\n"
        "Under mpirun, the devices of the node of process 0 are listed.\n"
        "\n" TOOL_SIZE_NOTE "\nexamples:\n"
        "  ambit devices\n"
        "  ambit devices --measure\n"
        "  ambit devices --measure star2d1 --size 4096x4096\n",
    .run = run,
};
