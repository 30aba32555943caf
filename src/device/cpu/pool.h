/* SPDX-License-Identifier: BSD-3-Clause */
/* pool.h - threads that wait for work: fork and join in about a microsecond.
 *
 * The thread that calls ambit__pool_run is thread 0 and works too. The others wait in two stages:
 * they spin for a short while, because an iterative program soon has more work, and then sleep, so
 * that an idle program uses no CPU time. Threads keep their numbers: if a range is always split by
 * (thread, threads), each page stays with the core that first touched it.
 *
 * A pool belongs to one thread at a time, and work must not call ambit__pool_run on the pool that
 * runs it. Threads are not pinned and block all signals.
 */
#ifndef AMBIT_DEVICE_CPU_POOL_H
#define AMBIT_DEVICE_CPU_POOL_H

#include "base/error.h"
#include "base/team.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum { AMBIT__POOL_MOST = 4096 }; /* threads of a pool */

typedef struct ambit__pool ambit__pool;
typedef void (*ambit__pool_work)(void *arg, int thread, int threads);

/* 0 threads: one per core this process may use (ambit__machine_cores). */
ambit_status ambit__pool_open(ambit__errors *errors, int threads, ambit__pool **pool);
void ambit__pool_close(ambit__pool *pool); /* NULL does nothing */
/* The threads that take part: all, until fewer are asked for while no work runs; and all. */
int ambit__pool_threads(const ambit__pool *pool);
void ambit__pool_use(ambit__pool *pool, int threads);
int ambit__pool_most(const ambit__pool *pool);

/* Calls work(arg, t, n) once for every t < n, each in its own thread, and returns when all are
 * done; n is `threads`, clamped to 1 .. ambit__pool_threads. All threads see the caller's earlier
 * writes, and the caller afterwards sees theirs. */
void ambit__pool_run(ambit__pool *pool, int threads, ambit__pool_work work, void *arg);

/* All threads of a pool, for functions that know no pools. */
ambit__team ambit__pool_team(ambit__pool *pool);

/* Starts a thread that blocks all signals: handlers should run on the program's own threads.
 * Returns 0 or an errno. */
int ambit__thread_begin(pthread_t *thread, void *(*run)(void *arg), void *arg);

/* For loops that wait for another thread: a short pause, or after many of them a longer one. */
void ambit__pool_pause(int64_t pauses);

/* Whether a thread sleeps now, and how often it has gone to sleep. Any thread may call these. */
bool ambit__pool_sleeps(const ambit__pool *pool, int thread);
int64_t ambit__pool_naps(const ambit__pool *pool, int thread);

#endif
