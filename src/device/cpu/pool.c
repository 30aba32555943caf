/* SPDX-License-Identifier: BSD-3-Clause */
/* pool.c - one word calls the workers, one counter tells when they are done.
 *
 * The word holds the number of the run and the number of participating threads, so that a worker
 * gets both in one read. Only participants look at the rest of the pool, and the caller changes the
 * rest only after all of them have counted themselves done.
 *
 * Sleeping: a thread that goes to sleep sets the flag of its seat and checks once more whether it
 * is needed; a waker changes the word (or the counter) and then checks the flag. Both do so in
 * sequentially consistent order, so at least one of the two sees the other. The first to clear the
 * flag decides: the waker posts the semaphore, the sleeper does not wait for it.
 */
#define _GNU_SOURCE 1
#include "device/cpu/pool.h"

#include "device/cpu/machine.h"

#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  LINE = 128,           /* bytes that two cores should not share: a pair of cache lines */
  SPIN_NS = 100000,     /* spinning time if every thread has its own core */
  CROWDED_NS = 1000,    /* the same if threads share cores, where spinning delays others */
  PAUSES_PER_LOOK = 32, /* pauses between two reads of the clock */
  PAUSES_BEFORE_YIELD = 1000
};

/* The waiting state of one thread. */
typedef struct seat {
  alignas(LINE) atomic_bool asleep; /* needs the semaphore posted */
  _Atomic int64_t naps;             /* times it went to sleep */
  sem_t bell;
  ambit__pool *pool;
  int thread;   /* its number; 0 is the caller */
  pthread_t id; /* unused by thread 0 */
  /* the last word it read; not beside the flag, which the caller reads in every run */
  alignas(LINE) uint64_t seen;
} seat;

struct ambit__pool {
  int threads; /* that take part, */
  int most;    /* and all */
  int64_t spin_ns;
  seat *seats;           /* per thread */
  ambit__pool_work work; /* of this run; NULL: the workers exit */
  void *arg;
  alignas(LINE) _Atomic uint64_t word; /* run number << 16 | threads that take part */
  alignas(LINE) atomic_int busy;       /* workers not yet done */
};

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb" ::: "memory"); /* yield is a no-op on most cores; isb waits a little */
#endif
}

void ambit__pool_pause(int64_t pauses)
{
  if (pauses < PAUSES_BEFORE_YIELD)
    relax();
  else
    sched_yield();
}

static int64_t now_ns(void)
{
  struct timespec t;

  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---- wait and wake ---- */

/* A worker reads a call for fewer threads than its number once, and then ignores it. */
static bool is_called(seat *s)
{
  uint64_t word = atomic_load(&s->pool->word);

  if (word == s->seen) return false;
  s->seen = word;
  return s->thread < (int)(word & 0xffff);
}

static bool all_done(seat *s)
{
  return atomic_load(&s->pool->busy) == 0;
}

static bool spin(seat *s, bool (*ready)(seat *))
{
  int64_t end = 0;

  for (;;) {
    for (int i = 0; i < PAUSES_PER_LOOK; i++) {
      if (ready(s)) return true;
      relax();
    }
    if (!end) end = now_ns() + s->pool->spin_ns;
    if (now_ns() >= end) return false;
  }
}

/* Sleeps until woken, unless the condition already holds; returns whether it did. */
static bool nap(seat *s, bool (*ready)(seat *))
{
  bool found;

  atomic_fetch_add_explicit(&s->naps, 1, memory_order_relaxed);
  atomic_store(&s->asleep, true);
  found = ready(s);
  if (found && atomic_exchange(&s->asleep, false)) return true;
  while (sem_wait(&s->bell) && errno == EINTR) {}
  return found;
}

static void wait_until(seat *s, bool (*ready)(seat *))
{
  if (spin(s, ready)) return;
  while (!nap(s, ready) && !ready(s)) {}
}

static void wake(seat *s)
{
  if (atomic_load(&s->asleep) && atomic_exchange(&s->asleep, false)) sem_post(&s->bell);
}

static void call(ambit__pool *pool, int threads)
{
  uint64_t run = (atomic_load(&pool->word) >> 16) + 1;

  atomic_store(&pool->word, run << 16 | (uint64_t)threads);
  for (int t = 1; t < threads; t++)
    wake(&pool->seats[t]);
}

/* ---- the threads ---- */

static void *worker(void *arg)
{
  seat *s = arg;
  ambit__pool *pool = s->pool;

  for (;;) {
    wait_until(s, is_called);
    if (!pool->work) return NULL;
    pool->work(pool->arg, s->thread, (int)(s->seen & 0xffff));
    if (atomic_fetch_sub(&pool->busy, 1) == 1) wake(&pool->seats[0]);
  }
}

int ambit__thread_begin(pthread_t *thread, void *(*run)(void *arg), void *arg)
{
  sigset_t all, before;
  int err;

  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  err = pthread_create(thread, NULL, run, arg);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return err;
}

/* Ends workers 1 .. started - 1 and frees everything. */
static void dismiss(ambit__pool *pool, int started)
{
  pool->work = NULL;
  call(pool, started);
  for (int t = 1; t < started; t++)
    pthread_join(pool->seats[t].id, NULL);
  for (int t = 0; t < pool->most; t++)
    sem_destroy(&pool->seats[t].bell);
  free(pool->seats);
  free(pool);
}

/* Zeroed, on its own cache lines. `bytes` is a multiple of LINE, as sizeof of an aligned struct is.
 */
static void *new_lines(ambit__errors *errors, size_t bytes)
{
  void *p = aligned_alloc(LINE, bytes);

  if (!p)
    ambit__raise(errors, AMBIT_ENOMEM, "no memory for %zu bytes of thread pool", bytes);
  else
    memset(p, 0, bytes);
  return p;
}

static ambit_status create(ambit__errors *errors, int threads, ambit__pool **out)
{
  ambit__pool *pool = new_lines(errors, sizeof *pool);
  seat *seats = pool ? new_lines(errors, (size_t)threads * sizeof *seats) : NULL;

  if (!seats) {
    free(pool);
    return AMBIT_ENOMEM;
  }
  pool->threads = pool->most = threads;
  pool->spin_ns = threads <= ambit__machine_cores() ? SPIN_NS : CROWDED_NS;
  pool->seats = seats;
  for (int t = 0; t < threads; t++) {
    seats[t].pool = pool;
    seats[t].thread = t;
    sem_init(&seats[t].bell, 0, 0);
  }
  *out = pool;
  return AMBIT_OK;
}

ambit_status ambit__pool_open(ambit__errors *errors, int threads, ambit__pool **out)
{
  ambit__pool *pool;

  *out = NULL;
  AMBIT_CHECK(threads >= 0 && threads <= AMBIT__POOL_MOST, errors, AMBIT_EINVAL,
              "%d threads were asked for; it must be 1 to %d, or 0 for one per core", threads,
              AMBIT__POOL_MOST);
  if (!threads) threads = ambit__machine_cores();
  AMBIT_TRY(create(errors, threads, &pool));
  for (int t = 1; t < threads; t++) {
    int err = ambit__thread_begin(&pool->seats[t].id, worker, &pool->seats[t]);

    if (err) {
      dismiss(pool, t);
      return ambit__raise(errors, AMBIT_EDEVICE,
                          "thread %d of %d could not be started: %s; ask for fewer threads", t + 1,
                          threads, strerror(err));
    }
  }
  *out = pool;
  return AMBIT_OK;
}

void ambit__pool_close(ambit__pool *pool)
{
  if (pool) dismiss(pool, pool->most);
}

int ambit__pool_threads(const ambit__pool *pool)
{
  return pool->threads;
}

void ambit__pool_use(ambit__pool *pool, int threads)
{
  pool->threads = threads < 1 ? 1 : threads < pool->most ? threads : pool->most;
}

int ambit__pool_most(const ambit__pool *pool)
{
  return pool->most;
}

void ambit__pool_run(ambit__pool *pool, int threads, ambit__pool_work work, void *arg)
{
  if (threads > pool->threads) threads = pool->threads;
  if (threads <= 1) {
    work(arg, 0, 1);
    return;
  }
  pool->work = work;
  pool->arg = arg;
  atomic_store(&pool->busy, threads - 1);
  call(pool, threads);
  work(arg, 0, threads);
  wait_until(&pool->seats[0], all_done);
}

bool ambit__pool_sleeps(const ambit__pool *pool, int thread)
{
  return atomic_load(&pool->seats[thread].asleep);
}

int64_t ambit__pool_naps(const ambit__pool *pool, int thread)
{
  return atomic_load(&pool->seats[thread].naps);
}

/* ---- teams ---- */

static void run_team(const ambit__team *c, ambit__team_work work, void *arg)
{
  ambit__pool_run(c->pool, c->threads, work, arg);
}

ambit__team ambit__pool_team(ambit__pool *pool)
{
  return (ambit__team){.threads = ambit__pool_threads(pool), .pool = pool, .run = run_team};
}
