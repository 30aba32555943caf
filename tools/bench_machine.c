/* SPDX-License-Identifier: BSD-3-Clause */
/* bench_machine.c - measures the limits of the machine, the start-up time, and the overhead of an
 * iteration.
 */
#define _GNU_SOURCE 1
#include "base/clock.h"
#include "bench.h"
#include "device/cpu/process.h"
#include "runtime/run/run.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STARTS = 5, ROUNDS = 5, ROUND_STEPS = 20000, PATIENCE = 120 };

/* ---- limits ---- */

static void measure_own(ambit *a, ambit__machine *m)
{
  ambit__pool *pool;

  if (a->nengines && strcmp(a->engines[0].device->backend->name, "cpu")) {
    ambit__device *dev = a->engines[0].device;

    if (ambit__can(dev->backend, measure)) ambit__ask(dev, measure, true, m);
    return;
  }
  if (ambit__pool_open(&a->errors, a->settings.threads, &pool)) return;
  ambit__cpu_measure(pool, true, m);
  ambit__pool_close(pool);
}

/* All processes measure simultaneously, as they run simultaneously: the sum is their joint
 * limit. */
ambit__machine bench_measure_limits(ambit *a)
{
  ambit__machine m;
  double sums[3];

  ambit__machine_probe("", &m);
  if (ambit__meet(a, "measures the limits of the machine")) return m;
  measure_own(a, &m);
  memcpy(sums, (double[]){m.copy, m.fma32, m.fma64}, sizeof sums);
  if (ambit__net_sum(a->net, sums, 3)) return m;
  m.copy = sums[0], m.fma32 = sums[1], m.fma64 = sums[2];
  return m;
}

int bench_limits(ambit *a)
{
  const ambit__machine m = bench_measure_limits(a);
  ambit__text t = {0};

  bench_print_text(&t, "machine", m.name);
  printf("{%s, \"threads\": %d, \"copy_gbytes\": %.4g, \"fma32_gops\": %.4g, \"fma64_gops\": "
         "%.4g}\n",
         t.chars ? t.chars : "", a->settings.threads ? a->settings.threads : m.cores, m.copy,
         m.fma32, m.fma64);
  fprintf(tool_notes,
          "copy bandwidth %.2f GB/s (read and written), %.2f Gops/s multiply-adds in float, %.2f "
          "in double\n",
          m.copy, m.fma32, m.fma64);
  ambit__text_free(&t);
  return ambit_error(a) ? TOOL_FAILED : TOOL_OK;
}

/* ---- starting ---- */

static int remove_one(const char *path, const struct stat *s, int kind, struct FTW *at)
{
  (void)s;
  (void)kind;
  (void)at;
  return remove(path);
}

/* Seconds of a whole process that runs one small iteration with this cache; -1 on failure. */
static double time_start(const char *self, const char *cache_option)
{
  const char *const argv[] = {self, "run", "star2d1",    "--size",          "64x64", "--steps",
                              "1",  "-q",  cache_option, "--ambit-mpi=off", NULL};
  ambit__text said = {0};
  double start = ambit__clock(), took;
  ambit__process_end end =
      ambit__process_run(&(ambit__process){.argv = argv, .seconds = PATIENCE}, &said);

  took = ambit__clock() - start;
  if (end != PROCESS_OK) fprintf(tool_notes, "%s", said.chars ? said.chars : "");
  ambit__text_free(&said);
  return end == PROCESS_OK ? took : -1;
}

static int time_starts(const char *self, const char *folder)
{
  char option[512];
  double cold, warm = -1;

  snprintf(option, sizeof option, "--ambit-cache=%s/cache", folder);
  cold = time_start(self, option);
  for (int i = 0; cold >= 0 && i < STARTS; i++) {
    double again = time_start(self, option);

    if (again < 0) return TOOL_FAILED;
    if (warm < 0 || again < warm) warm = again;
  }
  if (cold < 0) return TOOL_FAILED;
  printf("{\"startup\": \"star2d1 64x64 float t1\", \"cold_ms\": %.4g, \"warm_ms\": %.4g}\n",
         1e3 * cold, 1e3 * warm);
  fprintf(tool_notes,
          "a process that runs one small iteration takes %.0f ms with an empty cache, %.1f ms with "
          "a warm one\n",
          1e3 * cold, 1e3 * warm);
  return TOOL_OK;
}

int bench_startup(ambit *a)
{
  const char *tmp = getenv("TMPDIR");
  char folder[256], self[512];
  ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  int code;

  if (ambit_process(a)) return TOOL_OK;
  snprintf(folder, sizeof folder, "%s/ambit-bench-XXXXXX", tmp && *tmp ? tmp : "/tmp");
  if (n < 0 || !mkdtemp(folder)) {
    ambit__raise(&a->errors, AMBIT_EIO, "cannot create the directory %s for an empty cache",
                 folder);
    return TOOL_FAILED;
  }
  self[n] = '\0';
  code = time_starts(self, folder);
  nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
  return code;
}

/* ---- an iteration ---- */

int bench_overhead(ambit *a, const tool_args *args)
{
  tool_problem p = {.what = "star2d1", .size = {2, {64, 64}}};
  double best = -1;
  tool_job job;

  if (tool_problem_load(a, args, &p) || tool_problem_bind(args, &p) ||
      tool_problem_shape(args, &p) || tool_job_open(a, &p, p.kernel, &job) ||
      tool_job_start(&job) || ambit_run(job.program, ROUND_STEPS / 10))
    return TOOL_FAILED;
  for (int i = 0; i < ROUNDS; i++) {
    double start = ambit__clock(), took;

    if (ambit_run(job.program, ROUND_STEPS)) return TOOL_FAILED;
    took = (ambit__clock() - start) / ROUND_STEPS * 1e6;
    if (best < 0 || took < best) best = took;
  }
  printf("{\"overhead\": \"star2d1 64x64 float\", \"us_per_iteration\": %.4g}\n", best);
  fprintf(tool_notes,
          "one iteration on 64x64 cells takes %.2f microseconds, including computation\n", best);
  return TOOL_OK;
}
