/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/objects/scribe.h"

#include "base/fork.h"
#include "base/memory.h"

#include <stdlib.h>

typedef struct job {
  void (*run)(void *job);
  void *data;
} job;

/* A job keeps its failure to itself. */
static ambit_status run_job(void *user, void *data)
{
  const job *j = data;

  (void)user;
  j->run(j->data);
  return AMBIT_OK;
}

ambit__scribe *ambit__scribe_of(ambit *a)
{
  ambit__scribe *w = a->scribe;

  if (w) return w;
  w = ambit__new(NULL, 1, sizeof *w);
  if (!w) return NULL;
  if (ambit__thread_open(NULL, &w->thread) ||
      ambit__thread_queue_open(w->thread, NULL, false, NULL, &w->queue)) {
    ambit__thread_close(w->thread);
    free(w);
    return NULL;
  }
  return a->scribe = w;
}

ambit__ticket ambit__scribe_add(ambit *a, void (*run)(void *job), void *data)
{
  ambit__scribe *w = ambit__scribe_of(a);

  if (!w) {
    run(data);
    return (ambit__ticket){0};
  }
  *(job *)ambit__task_new(w->queue, run_job, sizeof(job)) = (job){run, data};
  ambit__task_add(w->queue);
  return ambit__task_last(w->queue);
}

void ambit__scribe_wait(ambit *a)
{
  if (a->scribe && a->fork_number == ambit__fork_number())
    ambit__task_wait(ambit__task_last(a->scribe->queue));
}

void ambit__scribe_close(ambit *a)
{
  ambit__scribe *w = a->scribe;

  if (!w || a->fork_number != ambit__fork_number()) return;
  ambit__scribe_wait(a);
  for (int i = 0; i < w->ntwins; i++) {
    ambit__engine *e = &w->twins[i];

    if (e->queue) ambit__ask(e->device, queue_close, e->queue);
    if (e->device) e->device->backend->close(e->device);
  }
  free(w->twins);
  ambit__thread_queue_close(w->queue);
  ambit__thread_close(w->thread);
  ambit__errors_clear(&w->errors);
  free(w);
  a->scribe = NULL;
}
