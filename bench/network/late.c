/* SPDX-License-Identifier: BSD-3-Clause */
/* late.c - the cost of message latency: the time of an iteration without halo exchange, and with it
 * on slower and slower networks.
 *
 *   late ROWS COLUMNS ITERATIONS ROUNDS NETWORK...
 *
 * Two processes have half of the rows of a plane of floats each, and exchange one row per
 * iteration. In each round, for each NETWORK ("200us", "200us,1GB/s"; "": unchanged), the program
 * runs without exchange, with overlap none, and with two-way. Every process prints a line of JSON
 * per run; the slower one counts.
 */
#include "runtime/run/run.h"
#include "silence.h"
#include "support/slow_net.h"

#include <stdio.h>
#include <stdlib.h>

/* Enough arithmetic that processes do not compete for memory bandwidth, for stable times. */
static const char rule[] = AMBIT_SOURCE(void smooth(const float *u, float *v) {
  float n = u[-1][0] - *u, s = u[1][0] - *u, w = u[0][-1] - *u, e = u[0][1] - *u;
  *v = *u + 0.2f * (n / sqrtf(1 + n * n) + s / sqrtf(1 + s * s) + w / sqrtf(1 + w * w) +
                    e / sqrtf(1 + e * e));
});

/* Iterations that are not timed. */
enum { WARM_UP = 3 };

typedef struct job {
  int64_t extents[2];
  int64_t iterations;
  int round;
} job;

/* Seconds per iteration, without the synchronisation before the first one. 0 on failure. */
static double time_run(ambit_program *p, int64_t iterations)
{
  const ambit_stats *stats;
  double warm;

  if (ambit_run(p, WARM_UP) || !(stats = ambit_program_stats(p, 0))) return 0;
  warm = stats->seconds;
  if (ambit_run(p, iterations) || !(stats = ambit_program_stats(p, 0))) return 0;
  return (stats->seconds - warm) / (double)iterations;
}

/* With this overlap; NULL: without halo exchange. Exits on failure. */
static void run(const job *j, const char *overlap, const char *network)
{
  tool_silence silence = {0};
  double seconds = 0;
  ambit *a = ambit_open(NULL, NULL);
  ambit_grid *g;
  ambit_field *u, *v;
  ambit_program *p;

  if (!a || ambit_error(a) || slow_net_wrap(&a->net, network)) exit(EXIT_FAILURE);
  ambit_option_set(a, "overlap", overlap ? overlap : "none");
  ambit_option_set(a, "depth", "1");
  g = ambit_grid_create(a, 2, j->extents);
  u = ambit_field_create(g, "u", AMBIT_F32);
  v = ambit_field_create(g, "v", AMBIT_F32);
  p = ambit_program_create(g);
  ambit_field_set(u, 0.5); /* from 0, denormal numbers would slow down the cores */
  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CONSTANT, 1.0);
  ambit_apply(p, ambit_kernel_create(a, rule), u, v);
  ambit_swap(p, u, v);
  if (overlap || !tool_silence_begin(p, &silence)) seconds = time_run(p, j->iterations);
  if (seconds > 0)
    printf("{\"round\": %d, \"process\": %d, \"%s\": \"%s\", \"network\": \"%s\", "
           "\"seconds\": %.3e, \"bytes\": %lld}\n",
           j->round, ambit_process(a), overlap ? "overlap" : "exchange", overlap ? overlap : "0",
           network, seconds, (long long)j->extents[1] * (long long)sizeof(float));
  fflush(stdout);
  if (ambit_close(a)) exit(EXIT_FAILURE);
  tool_silence_end(&silence);
}

int main(int argc, char **argv)
{
  job j = {{0, 0}, 0, 0};
  int rounds;

  if (argc < 6) {
    fprintf(stderr, "late ROWS COLUMNS ITERATIONS ROUNDS NETWORK...\n");
    return EXIT_FAILURE;
  }
  j.extents[0] = atoll(argv[1]);
  j.extents[1] = atoll(argv[2]);
  j.iterations = atoll(argv[3]);
  rounds = atoi(argv[4]);
  for (; j.round < rounds; j.round++) {
    for (int i = 5; i < argc; i++) {
      run(&j, NULL, "");
      run(&j, "none", argv[i]);
      run(&j, "two-way", argv[i]);
    }
  }
  return EXIT_SUCCESS;
}
