/* SPDX-License-Identifier: BSD-3-Clause */
#include "skeleton/pipeline.h"

#include "base/memory.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

ambit_status ambit__pipeline_open(ambit__errors *errors, int n, size_t in_bytes, size_t out_bytes,
                                  const ambit__pipeline_ends *ends, atomic_bool *stop,
                                  ambit__pipeline **pipeline)
{
  ambit__pipeline *b = *pipeline = ambit__new(errors, 1, sizeof *b);

  if (!b) return AMBIT_ENOMEM;
  pthread_mutex_init(&b->lock, NULL);
  pthread_cond_init(&b->changed, NULL);
  b->ends = *ends;
  b->stop = stop;
  b->failed = INT64_MAX;
  AMBIT_NEW(errors, b->places, (size_t)n);
  for (b->n = 0; b->n < n; b->n++) {
    ambit__pipeline_place *p = &b->places[b->n];

    p->in = ambit__new(errors, AMBIT__PIPELINE_HEAD + in_bytes, 1);
    if (p->in) p->in += AMBIT__PIPELINE_HEAD;
    p->out = ambit__new(errors, AMBIT__PIPELINE_HEAD + out_bytes, 1);
    if (p->out) p->out += AMBIT__PIPELINE_HEAD;
    if (!p->in || !p->out) return b->n++, AMBIT_ENOMEM;
  }
  return AMBIT_OK;
}

void ambit__pipeline_close(ambit__pipeline *b)
{
  if (!b) return;
  for (int i = 0; i < b->n; i++) {
    if (b->places[i].in) free(b->places[i].in - AMBIT__PIPELINE_HEAD);
    if (b->places[i].out) free(b->places[i].out - AMBIT__PIPELINE_HEAD);
  }
  free(b->places);
  ambit__errors_clear(&b->error);
  pthread_cond_destroy(&b->changed);
  pthread_mutex_destroy(&b->lock);
  free(b);
}

/* ---- failures ---- */

static void fail(ambit__pipeline *b, int64_t item, const ambit__errors *why)
{
  if (item < b->failed) {
    ambit__errors_clear(&b->error);
    b->error.status = why->status;
    b->error.text = why->text ? strdup(why->text) : NULL;
    b->failed = item;
  }
  atomic_store(b->stop, true);
  pthread_cond_broadcast(&b->changed);
}

void ambit__pipeline_fail(ambit__pipeline *b, ambit__pipeline_place *p, const ambit__errors *why)
{
  pthread_mutex_lock(&b->lock);
  p->failed = true;
  p->state = PLACE_DONE;
  if (!b->is_remote || !b->error.status) fail(b, p->item, why);
  if (b->is_remote) b->failed = INT64_MAX;
  pthread_mutex_unlock(&b->lock);
}

void ambit__pipeline_break(ambit__pipeline *b, const ambit__errors *why)
{
  pthread_mutex_lock(&b->lock);
  fail(b, b->written, why);
  pthread_mutex_unlock(&b->lock);
}

/* ---- the reader ---- */

/* The place for the next item; NULL: none is to be read. */
static ambit__pipeline_place *next_empty(ambit__pipeline *b)
{
  ambit__pipeline_place *p = &b->places[b->read % b->n];

  while (p->state != PLACE_EMPTY && !atomic_load(b->stop))
    pthread_cond_wait(&b->changed, &b->lock);
  return atomic_load(b->stop) ? NULL : p;
}

void *ambit__pipeline_read(void *pipeline)
{
  ambit__pipeline *b = pipeline;
  ambit__pipeline_place *p;

  pthread_mutex_lock(&b->lock);
  while ((p = next_empty(b))) {
    ambit__errors errors = {0};
    bool got = false;

    pthread_mutex_unlock(&b->lock);
    b->ends.read(b->ends.user, &errors, b->read, p->in, &got);
    pthread_mutex_lock(&b->lock);
    if (errors.status) fail(b, b->read, &errors);
    ambit__errors_clear(&errors);
    if (!got) break;
    p->item = b->read++;
    p->state = PLACE_READ;
    pthread_cond_broadcast(&b->changed);
  }
  b->ended = true;
  pthread_cond_broadcast(&b->changed);
  pthread_mutex_unlock(&b->lock);
  return NULL;
}

/* ---- workers ---- */

static bool over(const ambit__pipeline *b)
{
  return b->taken >= b->failed || (b->ended && b->taken == b->read);
}

ambit__pipeline_place *ambit__pipeline_take(ambit__pipeline *b, bool wait)
{
  ambit__pipeline_place *p = NULL;

  pthread_mutex_lock(&b->lock);
  while (wait && !over(b) && b->taken == b->read)
    pthread_cond_wait(&b->changed, &b->lock);
  if (!over(b) && b->taken < b->read) {
    p = &b->places[b->taken++ % b->n];
    p->state = PLACE_TAKEN;
  }
  pthread_mutex_unlock(&b->lock);
  return p;
}

bool ambit__pipeline_over(ambit__pipeline *b)
{
  bool is;

  pthread_mutex_lock(&b->lock);
  is = over(b);
  pthread_mutex_unlock(&b->lock);
  return is;
}

void ambit__pipeline_done(ambit__pipeline *b, ambit__pipeline_place *p)
{
  pthread_mutex_lock(&b->lock);
  p->state = PLACE_DONE;
  pthread_cond_broadcast(&b->changed);
  pthread_mutex_unlock(&b->lock);
}

/* ---- items of another process ---- */

ambit__pipeline_place *ambit__pipeline_empty(ambit__pipeline *b)
{
  ambit__pipeline_place *p;

  pthread_mutex_lock(&b->lock);
  p = &b->places[b->read % b->n];
  if (p->state != PLACE_EMPTY) p = NULL;
  pthread_mutex_unlock(&b->lock);
  return p;
}

void ambit__pipeline_put(ambit__pipeline *b, int64_t item)
{
  ambit__pipeline_place *p;

  pthread_mutex_lock(&b->lock);
  p = &b->places[b->read++ % b->n];
  p->item = item;
  p->failed = false;
  p->state = PLACE_READ;
  pthread_cond_broadcast(&b->changed);
  pthread_mutex_unlock(&b->lock);
}

void ambit__pipeline_end(ambit__pipeline *b)
{
  pthread_mutex_lock(&b->lock);
  b->ended = true;
  pthread_cond_broadcast(&b->changed);
  pthread_mutex_unlock(&b->lock);
}

ambit__pipeline_place *ambit__pipeline_result(ambit__pipeline *b)
{
  ambit__pipeline_place *p;

  pthread_mutex_lock(&b->lock);
  p = &b->places[b->written % b->n];
  if (p->state != PLACE_DONE) p = NULL;
  pthread_mutex_unlock(&b->lock);
  return p;
}

void ambit__pipeline_clear(ambit__pipeline *b)
{
  pthread_mutex_lock(&b->lock);
  b->places[b->written++ % b->n].state = PLACE_EMPTY;
  pthread_mutex_unlock(&b->lock);
}

bool ambit__pipeline_is_empty(ambit__pipeline *b)
{
  bool is;

  pthread_mutex_lock(&b->lock);
  is = b->ended && b->written == b->read;
  pthread_mutex_unlock(&b->lock);
  return is;
}

/* ---- the writer ---- */

/* The next result; NULL: there are no more. */
static const ambit__pipeline_place *next_done(ambit__pipeline *b)
{
  const ambit__pipeline_place *p = &b->places[b->written % b->n];

  while (p->state != PLACE_DONE && b->written < b->failed && !(b->ended && b->written == b->read))
    pthread_cond_wait(&b->changed, &b->lock);
  return p->state == PLACE_DONE && !p->failed && b->written < b->failed ? p : NULL;
}

/* A pipe whose reader has gone gives an error, not a signal that would end the process. */
static void block_pipe_signal(void)
{
  sigset_t set;

  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
}

void *ambit__pipeline_write(void *pipeline)
{
  ambit__pipeline *b = pipeline;
  const ambit__pipeline_place *p;

  block_pipe_signal();
  pthread_mutex_lock(&b->lock);
  while ((p = next_done(b))) {
    ambit__errors errors = {0};

    pthread_mutex_unlock(&b->lock);
    b->ends.write(b->ends.user, &errors, p->item, p->in, p->out);
    pthread_mutex_lock(&b->lock);
    if (errors.status) fail(b, p->item, &errors);
    ambit__errors_clear(&errors);
    if (b->written >= b->failed) break;
    b->places[b->written++ % b->n].state = PLACE_EMPTY;
    pthread_cond_broadcast(&b->changed);
  }
  pthread_mutex_unlock(&b->lock);
  return NULL;
}
