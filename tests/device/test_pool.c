/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread pool: every thread works once per run, and idle threads use no CPU time. */
#define _GNU_SOURCE 1
#include "device/cpu/machine.h"
#include "device/cpu/pool.h"
#include "support/test.h"

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 16 };

typedef struct tally {
  int64_t runs[MOST]; /* calls per thread */
  int threads;        /* the number passed to the threads */
  int wrong;          /* calls with another number */
} tally;

static void count(void *arg, int thread, int threads)
{
  tally *t = arg;

  t->runs[thread]++;
  if (thread == 0) t->threads = threads;
}

static ambit__pool *open_pool(int threads)
{
  ambit__pool *pool = NULL;

  CHECK_EQ(AMBIT_OK, ambit__pool_open(NULL, threads, &pool));
  return pool;
}

static void rest(double s)
{
  nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * s)}, NULL);
}

/* Waits until a thread sleeps. Gives up after a minute, enough for any busy machine. */
static bool await_sleep(const ambit__pool *pool, int thread)
{
  for (int i = 0; i < 60000 && !ambit__pool_sleeps(pool, thread); i++)
    rest(0.001);
  return ambit__pool_sleeps(pool, thread);
}

static void every_thread_is_called_once_per_run(void)
{
  for (int n = 1; n <= 5; n++) {
    ambit__pool *pool = open_pool(n);
    tally t = {0};

    CHECK_EQ(n, ambit__pool_threads(pool));
    for (int i = 0; i < 1000; i++)
      ambit__pool_run(pool, n, count, &t);
    CHECK_EQ(n, t.threads);
    for (int k = 0; k < MOST; k++)
      CHECK_EQ(k < n ? 1000 : 0, t.runs[k]);
    ambit__pool_close(pool);
  }
}

static void no_more_threads_take_part_than_asked(void)
{
  ambit__pool *pool = open_pool(4);
  tally t = {0};

  for (int i = 0; i < 2000; i++) {
    int n = 1 + (i * 7) % 4;

    ambit__pool_run(pool, n, count, &t);
    if (t.threads != n) t.wrong++;
  }
  CHECK_EQ(0, t.wrong);
  CHECK_EQ(2000, t.runs[0]);
  CHECK_EQ(1500, t.runs[1]);
  CHECK_EQ(1000, t.runs[2]);
  CHECK_EQ(500, t.runs[3]);
  ambit__pool_close(pool);
}

static void a_number_of_threads_out_of_range_is_brought_into_it(void)
{
  ambit__pool *pool = open_pool(2);
  tally t = {0};

  ambit__pool_run(pool, 99, count, &t);
  CHECK_EQ(2, t.threads);
  ambit__pool_run(pool, 0, count, &t);
  CHECK_EQ(1, t.threads);
  CHECK_EQ(2, t.runs[0]);
  CHECK_EQ(1, t.runs[1]);
  ambit__pool_close(pool);
}

typedef struct sum {
  const int32_t *values;
  int64_t n;
  struct {
    int64_t total;
    char apart[120];
  } part[MOST];
} sum;

static void add(void *arg, int thread, int threads)
{
  sum *s = arg;
  int64_t total = 0;

  for (int64_t i = s->n * thread / threads; i < s->n * (thread + 1) / threads; i++)
    total += s->values[i];
  s->part[thread].total = total;
}

/* Plain variables, written by the caller before the run and by the workers in it: missing
 * synchronisation shows here. */
static void what_is_written_in_a_run_is_seen_after_it(void)
{
  enum { N = 1000 };
  int32_t values[N];
  ambit__pool *pool = open_pool(3);
  sum s = {.values = values, .n = N};

  for (int run = 0; run < 3000; run++) {
    int64_t want = 0, got = 0;

    for (int i = 0; i < N; i++)
      want += values[i] = (int32_t)((i * 31 + run * 17) % 1009);
    ambit__pool_run(pool, 3, add, &s);
    for (int t = 0; t < 3; t++)
      got += s.part[t].total;
    if (want != got) {
      CHECK_EQ(want, got);
      break;
    }
  }
  ambit__pool_close(pool);
}

static void more_threads_than_cores_get_through(void)
{
  int n = 4 * ambit__machine_cores() < MOST ? 4 * ambit__machine_cores() : MOST;
  ambit__pool *pool = open_pool(n);
  tally t = {0};

  for (int i = 0; i < 500; i++)
    ambit__pool_run(pool, n, count, &t);
  for (int k = 0; k < n; k++)
    CHECK_EQ(500, t.runs[k]);
  ambit__pool_close(pool);
}

static void an_idle_pool_sleeps_and_wakes_up_again(void)
{
  ambit__pool *pool = open_pool(4);
  tally t = {0};

  for (int i = 0; i < 20; i++) {
    int64_t naps[4];

    ambit__pool_run(pool, 4, count, &t);
    for (int k = 1; k < 4; k++) {
      CHECK(await_sleep(pool, k));
      naps[k] = ambit__pool_naps(pool, k);
    }
    rest(0.005);
    for (int k = 1; k < 4; k++)
      CHECK(ambit__pool_sleeps(pool, k) && ambit__pool_naps(pool, k) == naps[k]);
  }
  for (int k = 0; k < 4; k++)
    CHECK_EQ(20, t.runs[k]);
  ambit__pool_close(pool);
}

static void idle_workers_sleep_through_the_runs_of_others(void)
{
  ambit__pool *pool = open_pool(3);
  tally t = {0};
  int64_t naps;

  CHECK(await_sleep(pool, 2));
  naps = ambit__pool_naps(pool, 2);
  for (int i = 0; i < 2000; i++)
    ambit__pool_run(pool, 2, count, &t);
  CHECK(ambit__pool_sleeps(pool, 2));
  CHECK_EQ(naps, ambit__pool_naps(pool, 2));
  ambit__pool_run(pool, 3, count, &t);
  CHECK_EQ(2001, t.runs[1]);
  CHECK_EQ(1, t.runs[2]);
  ambit__pool_close(pool);
}

/* A slow worker: it continues once the caller sleeps. */
static void doze(void *arg, int thread, int threads)
{
  (void)threads;
  if (thread == 1) CHECK(await_sleep(arg, 0));
}

static void the_caller_sleeps_while_it_waits_for_a_slow_worker(void)
{
  ambit__pool *pool = open_pool(2);

  ambit__pool_run(pool, 2, doze, pool);
  CHECK_EQ(1, ambit__pool_naps(pool, 0));
  CHECK(!ambit__pool_sleeps(pool, 0));
  ambit__pool_close(pool);
}

static void pools_do_not_disturb_each_other(void)
{
  ambit__pool *a = open_pool(2), *b = open_pool(3);
  tally ta = {0}, tb = {0};

  for (int i = 0; i < 500; i++) {
    ambit__pool_run(a, 2, count, &ta);
    ambit__pool_run(b, 3, count, &tb);
  }
  CHECK_EQ(500, ta.runs[1]);
  CHECK_EQ(500, tb.runs[2]);
  ambit__pool_close(a);
  ambit__pool_close(b);
}

static void no_threads_asked_for_means_one_per_core(void)
{
  ambit__pool *pool = open_pool(0);

  CHECK_EQ(ambit__machine_cores(), ambit__pool_threads(pool));
  ambit__pool_close(pool);
  ambit__pool_close(NULL);
}

static void an_impossible_number_of_threads_is_refused(void)
{
  const int bad[] = {-1, AMBIT__POOL_MOST + 1};

  for (int i = 0; i < 2; i++) {
    ambit__errors errors = {0};
    ambit__pool *pool = NULL;

    CHECK_EQ(AMBIT_EINVAL, ambit__pool_open(&errors, bad[i], &pool));
    CHECK(!pool);
    CHECK(errors.text && strstr(errors.text, "1 to 4096"));
    ambit__errors_clear(&errors);
  }
}

int main(int argc, char **argv)
{
#define T(name)                                                                                    \
  {                                                                                                \
#    name, name                                                                                    \
  }
  static const test_case tests[] = {T(every_thread_is_called_once_per_run),
                                    T(no_more_threads_take_part_than_asked),
                                    T(a_number_of_threads_out_of_range_is_brought_into_it),
                                    T(what_is_written_in_a_run_is_seen_after_it),
                                    T(more_threads_than_cores_get_through),
                                    T(an_idle_pool_sleeps_and_wakes_up_again),
                                    T(idle_workers_sleep_through_the_runs_of_others),
                                    T(the_caller_sleeps_while_it_waits_for_a_slow_worker),
                                    T(pools_do_not_disturb_each_other),
                                    T(no_threads_asked_for_means_one_per_core),
                                    T(an_impossible_number_of_threads_is_refused),
                                    {0}};
#undef T

  return test_main(argc, argv, tests);
}
