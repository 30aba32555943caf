/* SPDX-License-Identifier: BSD-3-Clause */
/* deep.c - what deep halos save: the time of an iteration by the number of iterations that share an
 * exchange, on a network that is simulated.
 *
 *   deep ROWS COLUMNS ITERATIONS ROUNDS NETWORK DEPTH...
 *
 * A plane of floats, cut among all processes, and a star of five points. In each round the program
 * runs once with each DEPTH (the option depth). Process 0 prints a line of JSON per run, with the
 * time of the slowest process. NETWORK is such as "20us", "20us,1GB/s"; "": unchanged.
 */
#include "runtime/run/run.h"
#include "support/slow_net.h"

#include <stdio.h>
#include <stdlib.h>

static const char rule[] = AMBIT_SOURCE(void heat(const float *u, float *v) {
  *v = *u + 0.2f * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u);
});

/* Seconds per iteration; a trial of the first iterations is not timed. 0 on failure. */
static double time_run(ambit_program *p, int64_t iterations)
{
  const ambit_stats *stats;
  double warm;

  if (ambit_run(p, iterations / 4) || !(stats = ambit_program_stats(p, 0))) return 0;
  warm = stats->seconds;
  if (ambit_run(p, iterations) || !(stats = ambit_program_stats(p, 0))) return 0;
  return (stats->seconds - warm) / (double)iterations;
}

/* Exits on failure. */
static void run(const int64_t *extents, int64_t iterations, int round, const char *network,
                const char *depth)
{
  ambit *a = ambit_open(NULL, NULL);
  ambit_grid *g;
  ambit_field *u, *v;
  ambit_program *p;
  double seconds;

  if (!a || ambit_error(a) || slow_net_wrap(&a->net, network)) exit(EXIT_FAILURE);
  ambit_option_set(a, "depth", depth);
  g = ambit_grid_create(a, 2, extents);
  u = ambit_field_create(g, "u", AMBIT_F32);
  v = ambit_field_create(g, "v", AMBIT_F32);
  p = ambit_program_create(g);
  ambit_field_set(u, 0.5); /* from 0, denormal numbers would slow down the cores */
  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CONSTANT, 1.0);
  ambit_apply(p, ambit_kernel_create(a, rule), u, v);
  ambit_swap(p, u, v);
  seconds = time_run(p, iterations);
  if (seconds <= 0 || ambit__net_max(a->net, &seconds, 1)) exit(EXIT_FAILURE);
  if (!ambit_process(a))
    printf("{\"round\": %d, \"processes\": %d, \"network\": \"%s\", \"depth\": \"%s\", "
           "\"seconds\": %.3e}\n",
           round, ambit_processes(a), network, depth, seconds);
  fflush(stdout);
  if (ambit_close(a)) exit(EXIT_FAILURE);
}

int main(int argc, char **argv)
{
  if (argc < 7) {
    fprintf(stderr, "deep ROWS COLUMNS ITERATIONS ROUNDS NETWORK DEPTH...\n");
    return EXIT_FAILURE;
  }
  for (int round = 0; round < atoi(argv[4]); round++)
    for (int i = 6; i < argc; i++)
      run((int64_t[]){atoll(argv[1]), atoll(argv[2])}, atoll(argv[3]), round, argv[5], argv[i]);
  return EXIT_SUCCESS;
}
