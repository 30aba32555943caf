/* SPDX-License-Identifier: BSD-3-Clause */
/* thread.c - rings of tasks, one lock, and a thread.
 *
 * The adding thread alone writes to slots behind `added`, and the working thread alone reads before
 * it. Slots have room for the largest task; memory that no task needs is never touched.
 */
#include "device/thread.h"

#include "base/clock.h"
#include "base/memory.h"
#include "device/cpu/pool.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
  SLOT = 1 << 15,      /* bytes: a launch with all parameters takes half of them */
  SLOTS = 64,          /* of a ring */
  MOST_QUEUES = 8,     /* of a thread */
  PAUSES_PER_LOOK = 64 /* between two reads of the clock */
};

static const double SPIN_SECONDS = 100e-6; /* before a thread sleeps */

typedef struct record {
  alignas(64) ambit__task run; /* NULL: nothing to run */
  ambit__ticket after;         /* not to be run before */
} record;                      /* its data follow */

struct ambit__thread_queue {
  ambit__thread *owner;
  void *user;
  bool urgent, open;
  unsigned char *ring;       /* owned */
  uint64_t added;            /* tasks so far */
  atomic_uint_fast64_t done; /* of them */
};

struct ambit__thread {
  pthread_t thread;
  pthread_mutex_t lock; /* of all that follows, and of the positions of queues */
  pthread_cond_t work, progress;
  bool sleeps, awaited, ends;
  atomic_uint_fast64_t news; /* changes when a task is added */
  atomic_int failure;        /* an ambit_status */
  ambit__thread_queue queues[MOST_QUEUES];
};

/* ---- the thread ---- */

static record *at(const ambit__thread_queue *q, uint64_t task)
{
  return (record *)(void *)(q->ring + task % SLOTS * SLOT);
}

/* The next task of a queue that may run now; NULL: none. */
static record *ready(ambit__thread_queue *q)
{
  record *r;

  if (!q->open || q->done == q->added) return NULL;
  r = at(q, q->done);
  return ambit__task_done(r->after) ? r : NULL;
}

static ambit__thread_queue *choose(ambit__thread *e)
{
  for (int urgent = 1; urgent >= 0; urgent--)
    for (int i = 0; i < MOST_QUEUES; i++)
      if (e->queues[i].urgent == (bool)urgent && ready(&e->queues[i])) return &e->queues[i];
  return NULL;
}

/* Runs the next task of a queue. Called and left with the lock held. */
static void run_next(ambit__thread *e, ambit__thread_queue *q)
{
  record *r = at(q, q->done);
  ambit_status s = AMBIT_OK;

  pthread_mutex_unlock(&e->lock);
  if (r->run && !atomic_load(&e->failure)) s = r->run(q->user, r + 1);
  pthread_mutex_lock(&e->lock);
  if (s) atomic_store(&e->failure, (int)s);
  atomic_fetch_add(&q->done, 1);
  if (e->awaited) pthread_cond_broadcast(&e->progress);
}

/* Waits a while for news, without the lock. */
static void spin(ambit__thread *e)
{
  const uint64_t seen = atomic_load(&e->news);
  const double end = ambit__clock() + SPIN_SECONDS;

  do
    for (int i = 0; i < PAUSES_PER_LOOK; i++) {
      if (atomic_load(&e->news) != seen) return;
      ambit__pool_pause(0);
    }
  while (ambit__clock() < end);
}

static void *work(void *arg)
{
  ambit__thread *e = arg;
  bool spun = false;

  pthread_mutex_lock(&e->lock);
  for (;;) {
    ambit__thread_queue *q = choose(e);

    if (q) {
      run_next(e, q);
      spun = false;
    } else if (e->ends) {
      break;
    } else if (!spun) {
      pthread_mutex_unlock(&e->lock);
      spin(e);
      pthread_mutex_lock(&e->lock);
      spun = true;
    } else {
      e->sleeps = true;
      pthread_cond_wait(&e->work, &e->lock);
      e->sleeps = spun = false;
    }
  }
  pthread_mutex_unlock(&e->lock);
  return NULL;
}

static void destroy(ambit__thread *e)
{
  pthread_cond_destroy(&e->progress);
  pthread_cond_destroy(&e->work);
  pthread_mutex_destroy(&e->lock);
  for (int i = 0; i < MOST_QUEUES; i++)
    free(e->queues[i].ring);
  free(e);
}

ambit_status ambit__thread_open(ambit__errors *errors, ambit__thread **out)
{
  ambit__thread *e = ambit__new(errors, 1, sizeof *e);
  int err;

  *out = NULL;
  if (!e) return AMBIT_ENOMEM;
  pthread_mutex_init(&e->lock, NULL);
  pthread_cond_init(&e->work, NULL);
  pthread_cond_init(&e->progress, NULL);
  err = ambit__thread_begin(&e->thread, work, e);
  if (err) {
    destroy(e);
    return ambit__raise(errors, AMBIT_EDEVICE,
                        "the thread that drives a device could not be started: %s", strerror(err));
  }
  *out = e;
  return AMBIT_OK;
}

void ambit__thread_close(ambit__thread *e)
{
  if (!e) return;
  pthread_mutex_lock(&e->lock);
  e->ends = true;
  atomic_fetch_add(&e->news, 1);
  pthread_cond_signal(&e->work);
  pthread_mutex_unlock(&e->lock);
  pthread_join(e->thread, NULL);
  destroy(e);
}

/* ---- queues ---- */

ambit_status ambit__thread_queue_open(ambit__thread *e, ambit__errors *errors, bool urgent,
                                      void *user, ambit__thread_queue **out)
{
  ambit__thread_queue *q = NULL;

  for (int i = 0; i < MOST_QUEUES && !q; i++)
    if (!e->queues[i].open) q = &e->queues[i];
  AMBIT_CHECK(q, errors, AMBIT_EDEVICE, "a device has at most %d queues", (int)MOST_QUEUES);
  if (!q->ring) q->ring = aligned_alloc(alignof(record), SLOTS * SLOT);
  AMBIT_CHECK(q->ring, errors, AMBIT_ENOMEM, "no memory for the queue of a device");
  pthread_mutex_lock(&e->lock);
  q->owner = e;
  q->user = user;
  q->urgent = urgent;
  q->open = true;
  pthread_mutex_unlock(&e->lock);
  *out = q;
  return AMBIT_OK;
}

/* Tickets of a closed queue stay done: its numbers continue when it is opened again. */
void ambit__thread_queue_close(ambit__thread_queue *q)
{
  ambit__task_wait(ambit__task_last(q));
  pthread_mutex_lock(&q->owner->lock);
  q->open = false;
  pthread_mutex_unlock(&q->owner->lock);
}

/* ---- adding ---- */

void *ambit__task_new(ambit__thread_queue *q, ambit__task run, size_t bytes)
{
  ambit__thread *e = q->owner;
  record *r = at(q, q->added);

  if (bytes > SLOT - sizeof *r) return NULL;
  pthread_mutex_lock(&e->lock);
  while (q->added - q->done == SLOTS) {
    e->awaited = true;
    pthread_cond_wait(&e->progress, &e->lock);
  }
  e->awaited = false;
  pthread_mutex_unlock(&e->lock);
  *r = (record){.run = run};
  return r + 1;
}

void ambit__task_add(ambit__thread_queue *q)
{
  ambit__thread *e = q->owner;

  pthread_mutex_lock(&e->lock);
  q->added++;
  atomic_fetch_add(&e->news, 1);
  if (e->sleeps) pthread_cond_signal(&e->work);
  pthread_mutex_unlock(&e->lock);
}

void ambit__task_await(ambit__thread_queue *q, ambit__ticket t)
{
  if (ambit__task_done(t)) return;
  ambit__task_new(q, NULL, 0);
  at(q, q->added)->after = t;
  ambit__task_add(q);
}

/* ---- tickets ---- */

ambit__ticket ambit__task_last(ambit__thread_queue *q)
{
  return (ambit__ticket){q, q->added};
}

bool ambit__task_done(ambit__ticket t)
{
  return !t.queue || atomic_load(&t.queue->done) >= t.number;
}

void ambit__task_wait(ambit__ticket t)
{
  const double end = ambit__clock() + SPIN_SECONDS;
  ambit__thread *e;

  while (!ambit__task_done(t) && ambit__clock() < end)
    ambit__pool_pause(0);
  if (ambit__task_done(t)) return;
  e = t.queue->owner;
  pthread_mutex_lock(&e->lock);
  while (!ambit__task_done(t)) {
    e->awaited = true;
    pthread_cond_wait(&e->progress, &e->lock);
  }
  e->awaited = false;
  pthread_mutex_unlock(&e->lock);
}

void ambit__thread_wait(ambit__thread *e)
{
  for (int i = 0; i < MOST_QUEUES; i++)
    if (e->queues[i].open) ambit__task_wait(ambit__task_last(&e->queues[i]));
}

ambit_status ambit__thread_failure(ambit__thread *e)
{
  const int s = atomic_load(&e->failure);

  if (!s) return AMBIT_OK;
  ambit__thread_wait(e);
  atomic_store(&e->failure, AMBIT_OK);
  return (ambit_status)s;
}
