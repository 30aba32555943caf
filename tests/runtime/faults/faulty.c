/* SPDX-License-Identifier: BSD-3-Clause */
/* A program on several processes of which one fails during a run; test_faults.py checks how the
 * others end.
 *
 *   faulty fine|kill|device|last|two|again|leave [COLUMNS]
 *
 * device: a kernel launch fails on the last process, in iteration 5. last: it fails in the last
 * iteration, when other processes may have finished. two: another process fails too, with a
 * different error. again: like device; then the error is cleared, and the program runs once more.
 * leave: the last process closes its context before the run; the others clear the error, and again.
 * The linker replaces ambit__program_iterate by the function below. SLOW_NETWORK=2ms,50MB/s in the
 * environment delays messages.
 */
#include "runtime/run/run.h"
#include "support/slow_net.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char rule[] = AMBIT_SOURCE(void smooth(const float *u, float *v, sum double *total) {
  *v = 0.5f * (u[-1][0] + u[1][0]);
  *total = *v;
});

enum { ITERATIONS = 100, FIFTH = 5 };

static const char *way;
static int failures; /* remaining failures */

ambit_status __real_ambit__program_iterate(ambit_program *p);
ambit_status __wrap_ambit__program_iterate(ambit_program *p);

static ambit_status fail(ambit *a)
{
  failures--;
  if (!strcmp(way, "kill")) raise(SIGKILL);
  return ambit__raise(&a->errors, AMBIT_EDEVICE, "device %d has lost its memory", ambit_process(a));
}

ambit_status __wrap_ambit__program_iterate(ambit_program *p)
{
  ambit *a = p->grid->context;
  const int from_last = ambit_processes(a) - 1 - ambit_process(a);
  const bool chosen = from_last == 0 || (from_last == 1 && !strcmp(way, "two"));

  if (failures && chosen && p->iteration == (!strcmp(way, "last") ? ITERATIONS - 1 : FIFTH))
    return fail(a);
  return __real_ambit__program_iterate(p);
}

static double hill(const int64_t *index, int component, void *user)
{
  (void)component;
  (void)user;
  return (double)(index[0] % 7);
}

/* Nothing remains of the failed run: another run gives the correct result. */
static void run_again(ambit *a, ambit_program *p, ambit_field *u)
{
  ambit_error_clear(a);
  ambit_field_fill(u, hill, NULL);
  if (!ambit_run(p, ITERATIONS)) printf("process %d ran again\n", ambit_process(a));
}

/* A process that leaves is an error of the others at every call, and they are able to end. */
static int stay(ambit *a, ambit_program *p)
{
  for (int i = 0; i < 2; i++) {
    ambit_run(p, ITERATIONS);
    printf("process %d stays: %s\n", ambit_process(a), ambit_error_text(a));
    ambit_error_clear(a);
  }
  return ambit_close(a) != AMBIT_OK;
}

int main(int argc, char **argv)
{
  ambit *a = ambit_open(&argc, &argv);
  ambit_grid *g;
  ambit_field *u, *v;
  ambit_scalar *total;
  ambit_program *p;

  if (!a || ambit_error(a) || slow_net_wrap(&a->net, getenv("SLOW_NETWORK"))) return EXIT_FAILURE;
  ambit_option_set(a, "depth", "1"); /* failures come between iterations */
  g = ambit_grid_create(a, 2, (int64_t[]){60, argc > 2 ? atoll(argv[2]) : 40});
  u = ambit_field_create(g, "u", AMBIT_F32);
  v = ambit_field_create(g, "v", AMBIT_F32);
  total = ambit_scalar_create(a, "total", AMBIT_F64);
  p = ambit_program_create(g);
  way = argc > 1 ? argv[1] : "fine";
  failures = strcmp(way, "fine") != 0 && strcmp(way, "leave") != 0;
  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_field_fill(u, hill, NULL);
  ambit_apply(p, ambit_kernel_create(a, rule), u, v, total);
  ambit_swap(p, u, v);
  if (!strcmp(way, "leave"))
    return ambit_process(a) == ambit_processes(a) - 1 ? ambit_close(a) != AMBIT_OK : stay(a, p);
  ambit_run(p, ITERATIONS);
  printf("process %d ran: %s\n", ambit_process(a), ambit_error_text(a));
  if (!strcmp(way, "again")) run_again(a, p, u);
  return ambit_close(a) != AMBIT_OK;
}
