/* SPDX-License-Identifier: BSD-3-Clause */
/* startup.c - a time limit on starting MPI.
 *
 * MPI_Init returns when all processes have called it, and cannot be cancelled. If one never does,
 * because it ended, runs with mpi=off or uses another MPI, the others would wait for ever. A thread
 * that does not call MPI ends such a process, and thereby the run.
 */
#define _POSIX_C_SOURCE 200809L
#include "net/startup.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct ambit__startup {
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool is_done; /* MPI has started; guarded by the lock */
  struct timespec deadline;
  int seconds;
  ambit__launcher launcher;
};

static void give_up(const ambit__startup *s)
{
  char size[32] = "several";

  if (s->launcher.size) snprintf(size, sizeof size, "%d", s->launcher.size);
  fprintf(stderr,
          "ambit: error: process %d of %s: MPI has not started within %d s (option startup), so "
          "this process ends: not all processes have joined. Those that do not print this message "
          "may have ended, may run with mpi=off, may use another MPI, or open their context late\n",
          s->launcher.rank, size, s->seconds);
  _exit(EXIT_FAILURE);
}

static void *watch(void *arg)
{
  ambit__startup *s = arg;
  int code = 0;

  pthread_mutex_lock(&s->lock);
  while (!s->is_done && code != ETIMEDOUT)
    code = pthread_cond_timedwait(&s->changed, &s->lock, &s->deadline);
  if (!s->is_done) give_up(s);
  pthread_mutex_unlock(&s->lock);
  return NULL;
}

ambit__startup *ambit__startup_begin(const ambit__launcher *launcher, int seconds)
{
  ambit__startup *s = seconds > 0 ? calloc(1, sizeof *s) : NULL;

  if (!s) return NULL;
  s->launcher = *launcher;
  s->seconds = seconds;
  clock_gettime(CLOCK_REALTIME, &s->deadline);
  s->deadline.tv_sec += seconds;
  pthread_mutex_init(&s->lock, NULL);
  pthread_cond_init(&s->changed, NULL);
  if (!pthread_create(&s->thread, NULL, watch, s)) return s;
  free(s);
  return NULL;
}

void ambit__startup_end(ambit__startup *s)
{
  if (!s) return;
  pthread_mutex_lock(&s->lock);
  s->is_done = true;
  pthread_cond_signal(&s->changed);
  pthread_mutex_unlock(&s->lock);
  pthread_join(s->thread, NULL);
  pthread_cond_destroy(&s->changed);
  pthread_mutex_destroy(&s->lock);
  free(s);
}
