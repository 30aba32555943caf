/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c - seconds per iteration of a stencil on the processes of a simulated cluster.
 *
 *     smpirun ... scaling.so STENCIL SIZE [ITERATIONS] [--silent] [--ambit-...]
 *
 * --silent: without halo exchange, so results are wrong.
 *
 * The program is run twice, with different numbers of iterations; the difference is the cost of the
 * additional iterations, without start and end. Prints one line of JSON.
 */
#include "ambit.h"
#include "host.h"
#include "runtime/run/run.h"
#include "silence.h"

#include <mpi.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEW = 4 };

static int parse_size(const char *text, int64_t *size)
{
  char *end;
  int n = 0;

  for (; n < AMBIT_MAX_DIMS; text = end + 1) {
    size[n++] = strtoll(text, &end, 10);
    if (*end != 'x') break;
  }
  return n;
}

static ambit_program *make_program(ambit *a, const char *stencil, const char *text)
{
  int64_t size[AMBIT_MAX_DIMS];
  const int ndims = parse_size(text, size);
  ambit_grid *g = ambit_grid_create(a, ndims, size);
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F32);
  ambit_field *v = ambit_field_create(g, "v", AMBIT_F32);
  ambit_kernel *k = ambit_kernel_create_named(a, stencil, AMBIT_F32);
  ambit_program *p = ambit_program_create(g);

  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_FIXED, 0.0);
  ambit_field_boundary(v, AMBIT_ALL_FACES, AMBIT_FIXED, 0.0);
  ambit_apply(p, k, u, v);
  ambit_swap(p, u, v);
  return p;
}

/* The maximum over all processes, which share the memory of the simulator. */
static double most(double mine)
{
  static double all;
  double most_of_all;

  if (all < mine) all = mine;
  MPI_Barrier(MPI_COMM_WORLD);
  most_of_all = all;
  MPI_Barrier(MPI_COMM_WORLD);
  all = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  return most_of_all;
}

/* Simulated seconds until all processes have run the iterations. */
static double seconds(ambit_program *p, int iterations)
{
  double start;

  MPI_Barrier(MPI_COMM_WORLD);
  start = simgrid_get_clock();
  ambit_run(p, iterations);
  sim_host_settle(sim_host_self());
  return most(simgrid_get_clock() - start);
}

static void measure(ambit *a, char **argv, int iterations, bool silent)
{
  const char *name = sg_host_get_property_value(sg_host_self(), "cluster");
  const sim_host *h = sim_host_self();
  ambit_program *p = make_program(a, argv[1], argv[2]);
  tool_silence silence = {0};
  double few, more, sends, bytes;

  if (silent) tool_silence_begin(p, &silence);
  ambit_run(p, 1); /* the first run also seals */
  few = seconds(p, FEW);
  sends = h->sends;
  bytes = h->sent_bytes;
  more = seconds(p, FEW + iterations);
  sends = most((h->sends - sends) / (FEW + iterations));
  bytes = most((h->sent_bytes - bytes) / (FEW + iterations));
  if (ambit_process(a) == 0 && !ambit_error(a))
    printf(
        "{\"bench\": \"scaling\", \"simulated\": true, \"cluster\": \"%s\", \"stencil\": \"%s\", "
        "\"size\": \"%s\", \"processes\": %d, \"seconds\": %.9g, \"messages\": %g, "
        "\"message_bytes\": %.0f}\n",
        name ? name : "", argv[1], argv[2], ambit_processes(a), (more - few) / iterations, sends,
        bytes);
  ambit_program_destroy(p);
  tool_silence_end(&silence);
}

int main(int argc, char **argv)
{
  MPI_Comm world = MPI_COMM_WORLD;
  ambit *a;
  bool silent = false;
  int failed;

  MPI_Init(&argc, &argv);
  a = ambit_open_mpi(&argc, &argv, &world);
  for (int i = argc - 1; i > 0 && !silent; i--)
    if (!strcmp(argv[i], "--silent")) {
      silent = true;
      memmove(&argv[i], &argv[i + 1], (size_t)(argc-- - i) * sizeof *argv);
    }
  if (argc < 3 && ambit_process(a) == 0) fprintf(stderr, "usage: STENCIL SIZE [ITERATIONS]\n");
  if (argc >= 3) measure(a, argv, argc > 3 ? atoi(argv[3]) : 8, silent);
  failed = ambit_close(a) || argc < 3;
  MPI_Finalize();
  return failed;
}
