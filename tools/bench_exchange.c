/* bench_exchange.c - how well exchanges hide: the time with them over the time of the same program without.
 *
 * Without exchanges (option exchange=0) results are wrong, and the time is that of computing alone. The settings take
 * turns, so that a noisy machine is noisy for all; the slowest process counts, and of the turns the median.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "bench.h"

#include "base/clock.h"
#include "runtime/runtime.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { ALONE, NONE, TWO_WAY, SETTINGS };
enum { WARM = 20 }; /* iterations before those that count */

static const struct {
  const char *exchange, *overlap;
} settings[SETTINGS] = {{"0", "two-way"}, {"1", "none"}, {"1", "two-way"}};

/* Seconds of the slowest process; less than 0: it failed. */
static double slowest(ambit *a, double seconds)
{
  double *all = calloc((size_t)a->net->size, sizeof *all);
  double most = -1;

  if (all && !ambit__net_gather(a->net, &seconds, sizeof seconds, all))
    for (int i = 0; i < a->net->size; i++)
      if (all[i] > most) most = all[i];
  free(all);
  return most;
}

static double time_setting(ambit *a, tool_job *job, int which, int64_t iterations)
{
  double start;

  ambit_option_set(a, "exchange", settings[which].exchange);
  ambit_option_set(a, "overlap", settings[which].overlap);
  ambit__program_unseal(job->program); /* it is cut anew */
  if (ambit_run(job->program, WARM)) return -1;
  start = ambit__clock();
  if (ambit_run(job->program, iterations)) return -1;
  return slowest(a, ambit__clock() - start);
}

static int by_value(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

static double median(double *values, int64_t n)
{
  qsort(values, (size_t)n, sizeof *values, by_value);
  return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static void print(ambit *a, const bench_line *line, double turns[SETTINGS][BENCH_REPS])
{
  double s[SETTINGS];
  ambit__text t = {0};

  for (int i = 0; i < SETTINGS; i++)
    s[i] = median(turns[i], line->reps) / (double)line->iterations;
  if (a->net->rank) return;
  bench_print_text(&t, "exchange", line->text);
  printf("{%s, \"processes\": %d, \"parts\": %d, \"ms_alone\": %.4f, \"ms_none\": %.4f, "
         "\"ms_two_way\": "
         "%.4f, \"none_over_alone\": %.4f, \"two_way_over_alone\": %.4f}\n",
         t.chars ? t.chars : "", a->net->size, a->firsts[a->net->size], 1e3 * s[ALONE],
         1e3 * s[NONE], 1e3 * s[TWO_WAY], s[NONE] / s[ALONE], s[TWO_WAY] / s[ALONE]);
  fflush(stdout);
  ambit__text_free(&t);
}

static int time_line(ambit *a, const tool_args *args, bench_line *line)
{
  double turns[SETTINGS][BENCH_REPS];
  tool_job job;
  int code;

  if (line->device) ambit_option_set(a, "devices", line->device);
  if ((code = tool_problem_load(a, args, &line->problem)) ||
      (code = tool_problem_bind(args, &line->problem)) ||
      (code = tool_problem_shape(args, &line->problem)))
    return code;
  if (tool_job_open(a, &line->problem, line->problem.kernel, &job) || tool_job_start(&job))
    return TOOL_FAILED;
  for (int64_t i = 0; i < line->reps; i++)
    for (int k = 0; k < SETTINGS; k++)
      if ((turns[k][i] = time_setting(a, &job, k, line->iterations)) < 0) return TOOL_FAILED;
  print(a, line, turns);
  return TOOL_OK;
}

int bench_exchange(const ambit *like, const tool_args *args, const char *text)
{
  ambit *a = bench_open_like(like, NULL);
  bench_line line;
  int code = bench_line_read(a, args, text, &line);

  if (!code) code = time_line(a, args, &line);
  bench_line_free(&line);
  ambit_close(a);
  return code;
}
