/* SPDX-License-Identifier: BSD-3-Clause */
/* bench_exchange.c - measures how well halo exchange overlaps computation: the time with exchange,
 * divided by the time of the same program without.
 *
 * Without exchange (silence.h) the results are wrong, and the time is that of computing
 * whole steps. The settings alternate on the same fields, each round beginning with another one, so
 * that noise affects all of them. The slowest process counts. Ratios are taken within a round, and
 * the median over all rounds is reported, so that slow rounds do not affect it.
 */
#include "bench.h"
#include "silence.h"

#include "base/clock.h"
#include "base/median.h"
#include "runtime/run/run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALONE, NONE, TWO_WAY, SETTINGS };

static const struct {
  const char *name, *overlap;
} settings[SETTINGS] = {{"alone", "none"}, {"none", "none"}, {"two_way", "two-way"}};

typedef double turns[SETTINGS][BENCH_REPS]; /* milliseconds per iteration */

/* Seconds of the slowest process; negative on failure. */
static double slowest(ambit *a, double seconds)
{
  return ambit__net_max(a->net, &seconds, 1) ? -1 : seconds;
}

static double time_runs(ambit *a, ambit_program *p, int64_t iterations)
{
  double start;

  if (ambit_run(p, 2 + iterations / 10) || slowest(a, 0) < 0) return -1; /* a barrier */
  start = ambit__clock();
  if (ambit_run(p, iterations)) return -1;
  return slowest(a, ambit__clock() - start);
}

static double time_setting(ambit *a, tool_job *job, int which, int64_t iterations)
{
  tool_silence silence = {0};
  double seconds = -1;

  ambit_option_set(a, "overlap", settings[which].overlap);
  ambit__program_unseal(job->program); /* a new schedule is needed */
  if (which != ALONE || !tool_silence_begin(job->program, &silence))
    seconds = time_runs(a, job->program, iterations);
  ambit__program_unseal(job->program);
  tool_silence_end(&silence);
  return seconds;
}

static double median(const double *values, int64_t n)
{
  double sorted[BENCH_REPS];

  memcpy(sorted, values, (size_t)n * sizeof *sorted);
  return ambit__median(sorted, (size_t)n);
}

/* The median ratio of one setting to computing without exchange. */
static double over_alone(turns ms, int which, int64_t n)
{
  double ratios[BENCH_REPS];

  for (int64_t i = 0; i < n; i++)
    ratios[i] = ms[which][i] / ms[ALONE][i];
  return ambit__median(ratios, (size_t)n);
}

static void print_turns(ambit__text *t, turns ms, int64_t n)
{
  ambit__print(t, ", \"ms\": {");
  for (int k = 0; k < SETTINGS; k++) {
    ambit__print(t, "%s\"%s\": [", k ? ", " : "", settings[k].name);
    for (int64_t i = 0; i < n; i++)
      ambit__print(t, "%s%.4f", i ? ", " : "", ms[k][i]);
    ambit__print(t, "]");
  }
  ambit__print(t, "}");
}

static void print(ambit *a, const bench_line *line, turns ms)
{
  const int64_t n = line->reps;
  ambit__text t = {0};

  if (a->net->rank) return;
  bench_print_text(&t, "exchange", line->text);
  ambit__print(&t, ", \"processes\": %d, \"parts\": %d", a->net->size,
               a->placement.first[a->net->size]);
  for (int k = 0; k < SETTINGS; k++)
    ambit__print(&t, ", \"ms_%s\": %.4f", settings[k].name, median(ms[k], n));
  for (int k = NONE; k < SETTINGS; k++)
    ambit__print(&t, ", \"%s_over_alone\": %.4f", settings[k].name, over_alone(ms, k, n));
  print_turns(&t, ms, n);
  printf("{%s}\n", t.chars ? t.chars : "");
  fflush(stdout);
  ambit__text_free(&t);
}

static bool take_turns(ambit *a, tool_job *job, const bench_line *line, turns ms)
{
  for (int64_t i = 0; i < line->reps; i++)
    for (int k = 0; k < SETTINGS; k++) {
      const int which = (int)((i + k) % SETTINGS);
      const double seconds = time_setting(a, job, which, line->iterations);

      if (seconds < 0) return false;
      ms[which][i] = 1e3 * seconds / (double)line->iterations;
    }
  return true;
}

int bench_exchange(ambit *a, const tool_args *args, const bench_line *line)
{
  turns ms;
  tool_job job;

  if (tool_job_open(a, &line->problem, line->problem.kernel, &job)) return TOOL_FAILED;
  if (a->placement.first[a->net->size] < 2)
    return tool_wrong(args,
                      "'%s' has only one part, so there is nothing to exchange; start several "
                      "processes with mpirun, or use --device 'cpu*2'",
                      line->text);
  if (tool_job_start(&job)) return TOOL_FAILED;
  if (!take_turns(a, &job, line, ms)) return TOOL_FAILED;
  print(a, line, ms);
  return TOOL_OK;
}
