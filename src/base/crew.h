/* SPDX-License-Identifier: BSD-3-Clause */
/* crew.h - threads with which a function may share its work, whoever has them. */
#ifndef AMBIT_BASE_CREW_H
#define AMBIT_BASE_CREW_H

typedef void (*ambit__crew_work)(void *arg, int thread, int threads);

typedef struct ambit__crew {
  int threads;
  void *pool;
  /* Calls work(arg, t, threads) once for every t < threads, each in its own thread. */
  void (*run)(const struct ambit__crew *c, ambit__crew_work work, void *arg);
} ambit__crew;

/* The number of threads; NULL: the caller is alone. */
static inline int ambit__crew_threads(const ambit__crew *c)
{
  return c ? c->threads : 1;
}

static inline void ambit__crew_run(const ambit__crew *c, ambit__crew_work work, void *arg)
{
  if (c)
    c->run(c, work, arg);
  else
    work(arg, 0, 1);
}

#endif
