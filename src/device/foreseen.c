/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/foreseen.h"

#include "device/cpu/pool.h"

#include <string.h>

/* ---- threads ---- */

static ambit__foreseen_task *first_waiting(const ambit__foreseen *f)
{
  ambit__foreseen_task *t = f->tasks;

  while (t && t->state != TASK_WAITS)
    t = t->next;
  return t;
}

/* Works until no task waits. */
static void *work(void *arg)
{
  struct ambit__foreseen_thread *self = arg;
  ambit__foreseen *f = self->all;
  ambit__foreseen_task *t;

  pthread_mutex_lock(&f->lock);
  while ((t = first_waiting(f))) {
    t->state = TASK_RUNS;
    pthread_mutex_unlock(&f->lock);
    t->run(t);
    pthread_mutex_lock(&f->lock);
    t->state = TASK_DONE;
    pthread_cond_broadcast(&f->done);
  }
  self->ended = true;
  pthread_mutex_unlock(&f->lock);
  return NULL;
}

static void join(struct ambit__foreseen_thread *t)
{
  if (t->is_live) pthread_join(t->id, NULL);
  t->is_live = false;
}

/* Whether a thread takes no more tasks, or is none. */
static bool is_free(ambit__foreseen *f, struct ambit__foreseen_thread *t)
{
  bool ended;

  pthread_mutex_lock(&f->lock);
  ended = !t->is_live || t->ended;
  pthread_mutex_unlock(&f->lock);
  return ended;
}

/* Starts a thread, unless there are enough. */
static void start(ambit__foreseen *f, int most)
{
  struct ambit__foreseen_thread *t = f->threads;

  while (t < f->threads + AMBIT__FORESEEN_THREADS && !is_free(f, t))
    t++;
  if (t - f->threads >= most || t == f->threads + AMBIT__FORESEEN_THREADS) return;
  join(t);
  *t = (struct ambit__foreseen_thread){.all = f};
  t->is_live = !ambit__thread_begin(&t->id, work, t);
}

/* ---- tasks ---- */

static ambit__foreseen_task **link_of(ambit__foreseen *f, const char *key)
{
  ambit__foreseen_task **link = &f->tasks;

  while (*link && strcmp((*link)->key, key))
    link = &(*link)->next;
  return link;
}

bool ambit__foreseen_has(ambit__foreseen *f, const char *key)
{
  bool has;

  if (!f->is_open) return false;
  pthread_mutex_lock(&f->lock);
  has = *link_of(f, key) != NULL;
  pthread_mutex_unlock(&f->lock);
  return has;
}

bool ambit__foreseen_is_done(ambit__foreseen *f, const char *key)
{
  ambit__foreseen_task *t;
  bool done;

  if (!f->is_open) return true;
  pthread_mutex_lock(&f->lock);
  t = *link_of(f, key);
  done = !t || t->state == TASK_DONE;
  pthread_mutex_unlock(&f->lock);
  return done;
}

void ambit__foreseen_add(ambit__foreseen *f, ambit__foreseen_task *t, int most)
{
  ambit__foreseen_task **link = &f->tasks;

  if (!f->is_open) {
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->done, NULL);
    f->is_open = true;
  }
  t->state = TASK_WAITS;
  t->next = NULL;
  pthread_mutex_lock(&f->lock);
  while (*link)
    link = &(*link)->next;
  *link = t;
  pthread_mutex_unlock(&f->lock);
  start(f, most);
}

ambit__foreseen_task *ambit__foreseen_take(ambit__foreseen *f, const char *key)
{
  ambit__foreseen_task *t;

  if (!f->is_open) return NULL;
  pthread_mutex_lock(&f->lock);
  t = *link_of(f, key);
  while (t && t->state == TASK_RUNS)
    pthread_cond_wait(&f->done, &f->lock);
  if (t) *link_of(f, key) = t->next;
  pthread_mutex_unlock(&f->lock);
  return t;
}

void ambit__foreseen_close(ambit__foreseen *f)
{
  ambit__foreseen_task *t;

  if (!f->is_open) return;
  pthread_mutex_lock(&f->lock);
  for (t = f->tasks; t; t = t->next)
    if (t->state == TASK_WAITS) t->state = TASK_DONE; /* it is not begun any more */
  pthread_mutex_unlock(&f->lock);
  for (int i = 0; i < AMBIT__FORESEEN_THREADS; i++)
    join(&f->threads[i]);
  while ((t = f->tasks)) {
    f->tasks = t->next;
    t->free(t);
  }
  pthread_mutex_destroy(&f->lock);
  pthread_cond_destroy(&f->done);
  f->is_open = false;
}
