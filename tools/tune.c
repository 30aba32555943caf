/* SPDX-License-Identifier: BSD-3-Clause */
/* tune.c - `ambit tune`: finds and remembers the fastest plan of a stencil on this machine. */
#include "problem.h"

#include "runtime/program/cycle.h"
#include "runtime/run/run.h"

#include <stdio.h>
#include <stdlib.h>

static const tool_option options[] = {
    TOOL_OPTION_SIZE,   TOOL_OPTION_TYPE,   TOOL_OPTION_BOUNDARY, TOOL_OPTION_SET,
    TOOL_OPTION_DEVICE, TOOL_OPTION_STRICT, TOOL_OPTION_THREADS,  {0},
};

static ambit_status measure(ambit *a, const tool_problem *p, tool_job *job)
{
  AMBIT_TRY(ambit_option_set(a, "tune", "1"));
  AMBIT_TRY(tool_job_open(a, p, p->kernel, job));
  AMBIT_TRY(tool_job_start(job));
  AMBIT_TRY(ambit__program_seal(job->program));
  if (job->program->tuned) return AMBIT_OK;
  return ambit_run(job->program, ambit__trial_iterations(job->program));
}

static int tune(ambit *a, const tool_problem *p)
{
  tool_job job;
  char *text;

  if (measure(a, p, &job)) return TOOL_FAILED;
  if (ambit_process(a)) return TOOL_OK;
  text = ambit__tuned_text(job.program);
  if (text)
    printf("%s", text);
  else if (job.program->tuned)
    printf("depth %d%s%s; there is no cache to remember it in\n", job.program->tuned,
           *job.program->tuned_plan ? " " : "", job.program->tuned_plan);
  else
    printf("iterations run one by one: %s\n", ambit__cycle_refusal(job.program));
  free(text);
  return TOOL_OK;
}

static int run(ambit *a, tool_args *args)
{
  tool_problem problem = {0};
  const char *value;
  int id, code;

  while ((id = tool_next(args, &value))) {
    if (id == TOOL_HELP) return tool_help(&tool_tune);
    if (id == TOOL_WRONG) return TOOL_USAGE;
    code = id == TOOL_WORD ? tool_problem_word(args, value, &problem)
                           : tool_problem_option(a, args, id, value, &problem);
    if (code) return code;
  }
  if ((code = tool_problem_load(a, args, &problem))) return code;
  if ((code = tool_problem_shape(args, &problem))) return code;
  if ((code = tool_problem_bind(args, &problem))) return code;
  if (a->settings.depth || ambit__plan_is_cycle(a->settings.plan))
    return tool_wrong(args, "the option %s fixes the plan that is searched for: leave it out",
                      a->settings.depth ? "depth" : "plan");
  return tune(a, &problem);
}

const tool_command tool_tune = {
    .name = "tune",
    .words = "NAME|FILE.c|FILE.weights [options]",
    .summary = "Finds the fastest plan for several iterations at once, and remembers it.",
    .options = options,
    .notes = "Runs the stencil with several plans for several iterations at once, prints their "
             "times, and keeps the\n"
             "fastest in the cache of compiled kernels. Later runs of the same program, on the "
             "same grid and "
             "devices, use it.\n"
             "If it is known, prints what is kept; ambit cache empty forgets it.\n\n" TOOL_SIZE_NOTE
             "\nexamples:\n"
             "  ambit tune star2d1 --size 8192^2\n"
             "  ambit tune star3d1 --size 512^3 --device cuda\n",
    .run = run,
};
