/* SPDX-License-Identifier: BSD-3-Clause */
/* bench.c - `ambit bench`: verifies and times problems, and compares with the limits of the
 * machine.
 *
 * Prints one line of JSON per result to stdout, and a readable line to stderr.
 */
#include "bench.h"

#include <stdio.h>
#include <string.h>

enum { LIMITS = 1, STARTUP, OVERHEAD, EXCHANGE, QUICK };
enum { MOST_PROBLEMS = 64 };

static const tool_option options[] = {
    {LIMITS, 0, "limits", NULL, "measure the machine: copy bandwidth and multiply-adds"},
    {STARTUP, 0, "startup", NULL, "measure the start of a process, with and without a cache"},
    {OVERHEAD, 0, "overhead", NULL, "measure one iteration on 64x64 cells"},
    {EXCHANGE, 0, "exchange", NULL, "time the problems with and without halo exchange"},
    {QUICK, 'q', "quick", NULL, "the standard set on smaller grids"},
    TOOL_OPTION_DEVICE,
    TOOL_OPTION_STRICT,
    TOOL_OPTION_THREADS,
    {0},
};

typedef int timing(ambit *a, const tool_args *args, const bench_line *line);

static int load_line(ambit *a, const tool_args *args, bench_line *line)
{
  int code;

  if (line->device) ambit_option_set(a, "devices", line->device);
  if ((code = tool_problem_load(a, args, &line->problem))) return code;
  if ((code = tool_problem_bind(args, &line->problem))) return code;
  return tool_problem_shape(args, &line->problem);
}

/* One problem, in its own context. */
static int time_line(const ambit *like, const tool_args *args, const char *text, timing *how)
{
  ambit *a = tool_open_like(like, NULL);
  bench_line line;
  int code = bench_line_read(a, args, text, &line);

  if (!code) code = load_line(a, args, &line);
  if (!code) code = how(a, args, &line);
  bench_line_free(&line);
  ambit_close(a);
  return code;
}

/* Stars and boxes, of radius 1 and 2, in 2-D and 3-D, in both types. */
static int standard_set(ambit *a, const tool_args *args, bool quick)
{
  static const char *const sizes[2][2] = {{"8192x8192", "512x512x512"},
                                          {"2048x2048", "160x160x160"}};
  static const char *const shapes[] = {"star", "box"}, *const types[] = {"float", "double"};
  char text[96];
  int code = TOOL_OK;

  for (int i = 0; i < 16; i++) {
    int dims = 2 + (i >> 3), radius = 1 + (i >> 1 & 1), one;

    snprintf(text, sizeof text, "%s%dd%d %s %s t%d", shapes[i >> 2 & 1], dims, radius,
             sizes[quick][dims - 2], types[i & 1], quick ? 10 : 20);
    one = time_line(a, args, text, bench_problem);
    if (one) code = one;
  }
  return code;
}

typedef struct order {
  bool limits, startup, overhead, exchange, quick;
  int nproblems;
  const char *problems[MOST_PROBLEMS];
} order;

static int take(ambit *a, const tool_args *args, int id, const char *value, order *o)
{
  tool_problem unused = {0};

  switch (id) {
  case LIMITS: o->limits = true; return TOOL_OK;
  case STARTUP: o->startup = true; return TOOL_OK;
  case OVERHEAD: o->overhead = true; return TOOL_OK;
  case EXCHANGE: o->exchange = true; return TOOL_OK;
  case QUICK: o->quick = true; return TOOL_OK;
  case TOOL_WORD:
    if (o->nproblems == MOST_PROBLEMS)
      return tool_wrong(args, "more than %d problems", MOST_PROBLEMS);
    o->problems[o->nproblems++] = value;
    return TOOL_OK;
  default: return tool_problem_option(a, args, id, value, &unused);
  }
}

static int execute(ambit *a, const tool_args *args, const order *o)
{
  timing *how = o->exchange ? bench_exchange : bench_problem;
  int code = TOOL_OK, one;

  if (o->exchange && !o->nproblems)
    return tool_wrong(args, "--exchange needs a problem, such as '2d4 8192x8192 t50'");
  if (o->limits && (code = bench_limits(a))) return code;
  if (o->startup && (code = bench_startup(a))) return code;
  if (o->overhead && (code = bench_overhead(a, args))) return code;
  for (int i = 0; i < o->nproblems; i++)
    if ((one = time_line(a, args, o->problems[i], how))) code = one;
  if (o->nproblems || o->limits || o->startup || o->overhead) return code;
  return standard_set(a, args, o->quick);
}

/* Averages come to rest, and tiles that sleep are not computed: that is not the speed of a stencil.
 */
static void stay_awake(ambit *a)
{
  const char *sleep = ambit_option_get(a, "sleep");

  if (sleep && !strcmp(sleep, "auto")) ambit_option_set(a, "sleep", "off");
}

static int run(ambit *a, tool_args *args)
{
  order o = {0};
  const char *value;
  int id, code;

  while ((id = tool_next(args, &value))) {
    if (id == TOOL_HELP) return tool_help(&tool_bench);
    if (id == TOOL_WRONG) return TOOL_USAGE;
    if ((code = take(a, args, id, value, &o))) return code;
  }
  stay_awake(a);
  return execute(a, args, &o);
}

const tool_command tool_bench = {
    .name = "bench",
    .words = "['PROBLEM' ...] [options]",
    .summary = "Verifies and times problems, and compares with the limits of the machine.",
    .options = options,
    .notes =
        "A PROBLEM is one shell word: a stencil (a name or a file), and in any order a size, a "
        "type\n"
        "(float), iterations (t50), repetitions (r5), a device (cpu), a boundary (periodic) and\n"
        "parameters (k=0.2). Without problems the standard set runs: star and box of radius 1 and "
        "2 on\n"
        "8192x8192 and 512x512x512 cells, float and double.\n"
        "\nEach problem is first run on a small grid and compared with the reference device; so "
        "are\n"
        "windows of the large grid after its first iteration. Then it is timed. One line of JSON "
        "per\n"
        "result: gcells (10^9 cell updates per second, the best repetition), median, reps, gbytes\n"
        "(10^9 bytes per second of minimal memory traffic), limit_bytes and limit_ops (the limits "
        "by\n"
        "copy bandwidth and by arithmetic, in gcells, measured at the same time), share (fraction "
        "of\n"
        "the smaller limit).\n"
        "\nUnder mpirun the processes share one grid, and the limits are the sum over all of "
        "them,\n"
        "measured simultaneously.\n"
        "\nexamples:\n"
        "  ambit bench 'star2d1 8192x8192 float t50'\n"
        "  ambit bench 'box3d1 512^3 f64 t20 periodic r9' --threads 1\n"
        "  ambit bench --limits\n"
        "  ambit bench > results.json\n",
    .run = run,
};
