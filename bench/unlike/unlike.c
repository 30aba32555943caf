/* SPDX-License-Identifier: BSD-3-Clause */
/* unlike.c - devices together against each alone, from the first iteration on.
 *
 *   bench_unlike [--ambit-...] ROUNDS 'STENCIL SIZE TYPE ITERATIONS' SETTING ...
 *
 *   bench_unlike 3 '2d4 16384x16384 float 600' cuda cuda,cpu cuda,cpu@30,1
 *
 * A setting is a list of devices, with weights behind @. Settings alternate; every run has its own
 * context and grid, so the way that Ambit finds the shares is part of it. The first round also
 * measures and compiles, and is printed by itself. Prints CSV:
 * stencil,size,type,iterations,setting,first,best,median; speeds are Gcells/s by the wall clock
 * around ambit_run. With --ambit-report=1 the last runs report, with the shares.
 */
#include "ambit.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 16 };

typedef struct problem {
  char stencil[32], size[40], type[16];
  long long iterations;
  int ndims;
  int64_t extents[AMBIT_MAX_DIMS];
  double cells;
} problem;

static const char start[] =
    AMBIT_SOURCE(void start(real *u) { *u = (real)(index(0) * 31 % 64) / (real)128; });

static double now(void)
{
  struct timespec t;

  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool read_problem(const char *text, problem *q)
{
  const char *x;

  *q = (problem){.cells = 1};
  if (sscanf(text, "%31s %39s %15s %lld", q->stencil, q->size, q->type, &q->iterations) < 4)
    return false;
  for (x = q->size; x && q->ndims < AMBIT_MAX_DIMS; x = strchr(x, 'x')) {
    x += *x == 'x';
    q->cells *= (double)(q->extents[q->ndims++] = atoll(x));
  }
  return true;
}

static ambit *open_like(const ambit *like, const char *setting)
{
  static const char *const names[] = {"cache", "depth", "sleep", "strict", "threads", "verbose"};
  const size_t n = strcspn(setting, "@");
  ambit *a = ambit_open(NULL, NULL);
  char devices[256];

  snprintf(devices, sizeof devices, "%.*s", (int)n, setting);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    ambit_option_set(a, names[i], ambit_option_get(like, names[i]));
  ambit_option_set(a, "devices", devices);
  ambit_option_set(a, "weights", setting[n] ? setting + n + 1 : "");
  return a;
}

static ambit_field *make_field(ambit *a, ambit_grid *g, const problem *q, const char *name)
{
  const ambit_type type = strcmp(q->type, "double") ? AMBIT_F32 : AMBIT_F64;
  ambit_field *f = ambit_field_create(g, name, type);
  ambit_program *p = ambit_program_create(g);

  ambit_field_boundary(f, AMBIT_ALL_FACES, AMBIT_FIXED, 0);
  ambit_define_real(a, type);
  ambit_apply(p, ambit_kernel_create(a, start), f);
  ambit_run(p, 1);
  ambit_program_destroy(p);
  return f;
}

/* Gcells/s of one run; 0 on failure. */
static double run(const ambit *like, const problem *q, const char *setting, bool report)
{
  ambit *a = open_like(like, setting);
  ambit_grid *g = ambit_grid_create(a, q->ndims, q->extents);
  ambit_field *u = make_field(a, g, q, "u"), *v = make_field(a, g, q, "v");
  ambit_program *p = ambit_program_create(g);
  double begin;

  ambit_apply(p, ambit_kernel_create_named(a, q->stencil, ambit_field_type(u)), u, v);
  ambit_swap(p, u, v);
  begin = now();
  ambit_run(p, q->iterations);
  begin = now() - begin;
  if (report && atoi(ambit_option_get(like, "report"))) ambit_program_report(p);
  return ambit_close(a) ? 0 : q->cells * (double)q->iterations / begin / 1e9;
}

static int ascending(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

static bool measure(const ambit *like, const problem *q, char *const *settings, int n, int rounds)
{
  double speed[MOST][MOST], first[MOST];
  bool fine = true;

  for (int k = 0; k < rounds; k++)
    for (int i = 0; i < n; i++) {
      speed[i][k] = run(like, q, settings[i], k == rounds - 1);
      fine &= speed[i][k] > 0;
    }
  for (int i = 0; i < n; i++) {
    first[i] = speed[i][0];
    qsort(speed[i], (size_t)rounds, sizeof speed[i][0], ascending);
    printf("%s,%s,%s,%lld,\"%s\",%.1f,%.1f,%.1f\n", q->stencil, q->size, q->type, q->iterations,
           settings[i], first[i], speed[i][rounds - 1], speed[i][rounds / 2]);
  }
  fflush(stdout);
  return fine;
}

int main(int argc, char **argv)
{
  ambit *like = ambit_open(&argc, &argv);
  const int rounds = argc > 1 ? atoi(argv[1]) : 0, n = argc - 3;
  problem q;
  bool fine = n >= 1 && n <= MOST && rounds >= 1 && rounds <= MOST && read_problem(argv[2], &q) &&
              measure(like, &q, argv + 3, n, rounds);

  if (n < 1) fprintf(stderr, "bench_unlike ROUNDS 'STENCIL SIZE TYPE ITERATIONS' SETTING ...\n");
  ambit_close(like);
  return !fine;
}
