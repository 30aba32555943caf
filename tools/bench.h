/* bench.h - the parts of `ambit bench`: a problem line, its check, its timing, and the questions
 * about the machine.
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
 *   stencil: a name or a file. It comes first; the rest may be in any order, or left out
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef AMBIT_TOOLS_BENCH_H
#define AMBIT_TOOLS_BENCH_H

#include "base/text.h"
#include "device/cpu/limits.h"
#include "problem.h"

enum { BENCH_REPS = 64 }; /* at most */

typedef struct bench_line {
  const char *text; /* as it was given */
  char *words;      /* a copy, cut into words; owned */
  tool_problem problem;
  int64_t iterations, reps;
  const char *device; /* NULL: as the options say */
} bench_line;

/* bench_line.c */
int bench_line_read(ambit *a, const tool_args *args, const char *text, bench_line *line);
void bench_line_free(bench_line *line);

/* bench.c */

/* A context with the same options. */
ambit *bench_open_like(const ambit *a, const char *device);

/* bench_verify.c */

/* Runs the problem on a small grid, on its device and on ref, and compares. Returns false, and says
 * so, if they differ. `a` is a context of the device, for which the problem was loaded. */
bool bench_verify_small(ambit *a, const tool_args *args, const bench_line *line);
/* Does the first iteration of a job, and compares parts of the grid with what ref makes of them: the
 * very code that will be timed. */
bool bench_verify_first(ambit *a, const bench_line *line, tool_job *job);

/* bench_time.c */

/* Checks and times the problem that was loaded into this context; prints its line. Gives the exit code. */
int bench_problem(ambit *a, const tool_args *args, const bench_line *line);

/* bench_exchange.c */

/* The same with exchanges between its parts and without, unchecked. */
int bench_exchange(ambit *a, const tool_args *args, const bench_line *line);

/* bench_machine.c: each prints one line. */
int bench_limits(ambit *a);
int bench_startup(ambit *a);
int bench_overhead(ambit *a, const tool_args *args);

/* The limits of the device, if one is open, else of the cpu; 0 where they are not known: of other devices than the cpu only
 * copies are measured. */
ambit__limits bench_measure_limits(ambit *a);
/* `"name": "text"` with what JSON wants escaped. */
void bench_print_text(ambit__text *t, const char *name, const char *text);

#endif
