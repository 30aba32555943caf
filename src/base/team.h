/* SPDX-License-Identifier: BSD-3-Clause */
/* team.h - threads with which a function may share its work, whoever has them. */
#ifndef AMBIT_BASE_TEAM_H
#define AMBIT_BASE_TEAM_H

typedef void (*ambit__team_work)(void *arg, int thread, int threads);

typedef struct ambit__team {
  int threads;
  void *pool;
  /* Calls work(arg, t, threads) once for every t < threads, each in its own thread. */
  void (*run)(const struct ambit__team *c, ambit__team_work work, void *arg);
} ambit__team;

/* The number of threads; NULL: the caller is alone. */
static inline int ambit__team_threads(const ambit__team *c)
{
  return c ? c->threads : 1;
}

static inline void ambit__team_run(const ambit__team *c, ambit__team_work work, void *arg)
{
  if (c)
    c->run(c, work, arg);
  else
    work(arg, 0, 1);
}

#endif
