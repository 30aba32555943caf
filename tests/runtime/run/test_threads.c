/* SPDX-License-Identifier: BSD-3-Clause */
/* Contexts are independent: several threads open, use and close theirs concurrently. The test wraps
 * ambit__net_open, so that each context is process 1 of 2 with deferred errors (objects/context.c).
 */
#define _XOPEN_SOURCE 700
#include "net/net.h"
#include "runtime/runtime_test.h"

#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 4, ROUNDS = 50 };

static int rank; /* 1: contexts are process 1 of 2; 0: alone */

ambit_status __wrap_ambit__net_open(ambit__errors *errors, const char *how, int seconds,
                                    const void *communicator, ambit__net **net);
ambit_status __real_ambit__net_open(ambit__errors *errors, const char *how, int seconds,
                                    const void *communicator, ambit__net **net);

ambit_status __wrap_ambit__net_open(ambit__errors *errors, const char *how, int seconds,
                                    const void *communicator, ambit__net **net)
{
  return rank ? ambit__net_pretend(errors, rank, 2, net)
              : __real_ambit__net_open(errors, how, seconds, communicator, net);
}

static atomic_int bad; /* CHECK is for one thread */

static void on_threads(void *(*work)(void *), int as_rank)
{
  pthread_t threads[THREADS];

  rank = as_rank;
  atomic_store(&bad, 0);
  for (int i = 0; i < THREADS; i++)
    CHECK(!pthread_create(&threads[i], NULL, work, NULL));
  for (int i = 0; i < THREADS; i++)
    CHECK(!pthread_join(threads[i], NULL));
  CHECK_EQ(0, atomic_load(&bad));
  rank = 0;
}

static void *open_and_close(void *arg)
{
  (void)arg;
  for (int i = 0; i < ROUNDS; i++) {
    ambit *a = ambit_open(NULL, NULL);

    atomic_fetch_add(&bad, ambit_process(a) != 1 || ambit_error(a) || ambit_close(a));
  }
  return NULL;
}

static void contexts_of_several_threads_wait_with_their_errors(void)
{
  on_threads(open_and_close, 1);
}

static void *compute(void *arg)
{
  (void)arg;
  for (int i = 0; i < 5; i++) {
    ambit *a = open_on(i % 2 ? "ref" : "cpu");
    ambit_grid *g = grid_2d(a, 20, 30);
    ambit_field *u = ambit_field_create(g, "u", AMBIT_F64);
    ambit_scalar *sum = ambit_scalar_create(a, "sum", AMBIT_F64);
    ambit_program *p = ambit_program_create(g);

    ambit_field_set(u, 2);
    ambit_apply(p, ambit_kernel_create(a, "void f(double *u, sum double *s) { *u += 1; *s = *u; }"),
                u, sum);
    ambit_run(p, 3);
    atomic_fetch_add(&bad, ambit_scalar_get(sum) != 20 * 30 * 5);
    atomic_fetch_add(&bad, ambit_kernel_create(a, "void f(real *u) {}") != NULL);
    atomic_fetch_add(&bad, ambit_error(a) != AMBIT_EKERNEL || ambit_close(a) != AMBIT_EKERNEL);
  }
  return NULL;
}

static void programs_of_several_threads_run_at_once(void)
{
  on_threads(compute, 0);
}

/* ---- errors deferred to the end ---- */

/* Leaves three contexts open, two of them with an error that was not printed. */
static int leave(void)
{
  ambit *a, *b, *c;

  rank = 1;
  a = ambit_open(NULL, NULL);
  b = ambit_open(NULL, NULL);
  c = ambit_open(NULL, NULL);
  ambit_option_set(a, "strict", "first");
  ambit_option_set(b, "strict", "second");
  ambit_option_set(c, "strict", "third");
  return ambit_close(b) != AMBIT_EOPTION;
}

static const char *self;

static void every_context_tells_its_error_in_the_end(void)
{
  char command[1000], line[1000];
  int first = 0, second = 0, third = 0;
  FILE *said;

  snprintf(command, sizeof command, "'%s' --leave 2>&1", self);
  said = popen(command, "r");
  CHECK(said != NULL);
  while (said && fgets(line, sizeof line, said)) {
    first += strstr(line, "process 1 of 2: option strict is 'first'") != NULL;
    second += strstr(line, "process 1 of 2: option strict is 'second'") != NULL;
    third += strstr(line, "process 1 of 2: option strict is 'third'") != NULL;
  }
  CHECK(said && pclose(said) == 0);
  CHECK(first == 1 && second == 1 && third == 1);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"contexts_of_several_threads_wait_with_their_errors",
       contexts_of_several_threads_wait_with_their_errors},
      {"programs_of_several_threads_run_at_once", programs_of_several_threads_run_at_once},
      {"every_context_tells_its_error_in_the_end", every_context_tells_its_error_in_the_end},
      {NULL, NULL},
  };

  self = argv[0];
  if (argc > 1 && !strcmp(argv[1], "--leave")) return leave();
  return test_main(argc, argv, tests);
}
