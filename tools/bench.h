/* SPDX-License-Identifier: BSD-3-Clause */
/* bench.h - the components of `ambit bench`: problem lines, verification, timing, and measurements
 * of the machine.
 *
 *   star2d1 8192x8192 float t50 cpu periodic r5 k=0.2
 *   |       |         |     |   |   |        |  |
 *   |       |         |     |   |   |        |  value of a plain parameter
 *   |       |         |     |   |   |        repetitions
 *   |       |         |     |   |   boundary
 *   |       |         |     |   device
 *   |       |         |     iterations
 *   |       |         type
 *   |       size
 *   stencil: a name or a file. It comes first; the others are optional and in any order
 */
#ifndef AMBIT_TOOLS_BENCH_H
#define AMBIT_TOOLS_BENCH_H

#include "base/text.h"
#include "device/cpu/limits.h"
#include "problem.h"

enum { BENCH_REPS = 64 }; /* maximum */

typedef struct bench_line {
  const char *text; /* as given */
  char *words;      /* a copy, split into words; owned */
  tool_problem problem;
  int64_t iterations, reps;
  const char *device; /* NULL: from the options */
} bench_line;

/* bench_line.c */
int bench_line_read(ambit *a, const tool_args *args, const char *text, bench_line *line);
void bench_line_free(bench_line *line);

/* bench_verify.c */

/* Runs the problem on a small grid, on its device and on ref, and compares. If they differ, reports
 * it and returns false. `a` is a context of the device, with the problem loaded. */
bool bench_verify_small(ambit *a, const tool_args *args, const bench_line *line);
/* Runs the first iteration of a job, and compares windows of the grid with ref. This verifies the
 * code that will be timed. */
bool bench_verify_first(ambit *a, const bench_line *line, tool_job *job);

/* bench_time.c */

/* Verifies and times the problem loaded into this context; prints its line. Returns the exit
 * code. */
int bench_problem(ambit *a, const tool_args *args, const bench_line *line);

/* bench_exchange.c */

/* Times the problem with and without halo exchange; does not verify it. */
int bench_exchange(ambit *a, const tool_args *args, const bench_line *line);

/* bench_machine.c: each prints one line. */
int bench_limits(ambit *a);
int bench_startup(ambit *a);
int bench_overhead(ambit *a, const tool_args *args);

/* The limits of the open device, else of the cpu; 0 if unknown: for devices other than the cpu only
 * copy bandwidth is measured. */
ambit__machine bench_measure_limits(ambit *a);
/* `"name": "text"`, escaped for JSON. */
void bench_print_text(ambit__text *t, const char *name, const char *text);

#endif
