/* SPDX-License-Identifier: BSD-3-Clause */
/* workers.c - the workers of a stream: a context with replicas for each, in lanes of devices. */
#include "base/memory.h"
#include "device/cpu/machine.h"
#include "skeleton/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a lane on an asynchronous device: one item is uploaded, one computed, one downloaded. */
enum { WORKERS_THERE = 3 };

static ambit__errors *errors_of(const ambit__blueprint *b)
{
  return &b->stream->grid->context->errors;
}

/* ---- lanes ---- */

static ambit_status add_lane(ambit__errors *errors, ambit__workers *w, const char *devices,
                             size_t length)
{
  char **lane = ambit__add(errors, &w->devices, (size_t)w->nlanes, &w->lanes_cap, sizeof *lane);

  if (lane) *lane = ambit__new(errors, length + 1, 1);
  if (!lane || !*lane) return AMBIT_ENOMEM;
  memcpy(*lane, devices, length);
  w->nlanes++;
  return AMBIT_OK;
}

/* A lane for each GPU of this process, or one on the cores. */
static ambit_status add_all(const ambit *a, ambit__errors *errors, ambit__workers *w)
{
  const ambit__gpus g = ambit__devices_gpus(a);

  if (!g.backend) return add_lane(errors, w, "cpu", strlen("cpu"));
  for (int i = g.first; i < g.end; i += g.stride) {
    char name[32];

    snprintf(name, sizeof name, "%s:%d", g.backend->name, i);
    AMBIT_TRY(add_lane(errors, w, name, strlen(name)));
  }
  return AMBIT_OK;
}

static ambit_status list_lanes(const ambit__blueprint *b, ambit__workers *w)
{
  const ambit *a = b->stream->grid->context;
  const char *text = a->settings.lanes, *devices;
  size_t length;

  if (!*text) return add_lane(errors_of(b), w, a->settings.devices, strlen(a->settings.devices));
  if (!strcmp(text, "all")) return add_all(a, errors_of(b), w);
  for (const char *at = text; at;) {
    at = ambit__lane_next(at, &devices, &length);
    AMBIT_TRY(add_lane(errors_of(b), w, devices, length));
  }
  return AMBIT_OK;
}

/* The threads of each lane; 0: all cores. Lanes on the cores share them. */
static int threads_of_lane(const ambit *a, const ambit__workers *w)
{
  int threads = a->settings.threads, sharers = 0;

  for (int i = 0; i < w->nlanes; i++)
    sharers += strstr(w->devices[i], "cpu") != NULL;
  if (sharers < 2) return threads;
  if (!threads) threads = ambit__machine_cores() / a->net->local_size;
  return threads > sharers ? threads / sharers : 1;
}

/* ---- workers ---- */

static bool is_asynchronous(const ambit *a)
{
  for (int i = 0; i < a->nengines; i++)
    if (!ambit__can(a->engines[i].device->backend, mark)) return false;
  return true;
}

static bool has_extents(const ambit__replica *r, const int64_t *extents)
{
  const ambit__box *box = &r->grid->box;

  return !memcmp(box->hi, extents, (size_t)box->ndims * sizeof *extents);
}

/* The replica for planes of this size, made if there is none; NULL after a failure, which the
 * context has. */
static ambit__replica *replica_for(ambit__worker *w, const ambit__blueprint *b,
                                   const ambit__form *form, const int64_t *extents)
{
  ambit__replica found;
  int i = 0;

  while (i < w->n && !has_extents(&w->replicas[i], extents))
    i++;
  if (i < w->n) {
    found = w->replicas[i];
  } else {
    if (ambit__blueprint_fits(b, &w->context->errors, extents)) return NULL;
    if (w->n == AMBIT__REPLICAS) ambit__replica_free(&w->replicas[--w->n]);
    if (ambit__replica_make(w->context, b, extents, form->samples, &found)) {
      ambit__replica_free(&found);
      return NULL;
    }
    i = w->n++;
  }
  memmove(&w->replicas[1], &w->replicas[0], (size_t)i * sizeof found);
  w->replicas[0] = found;
  return &w->replicas[0];
}

static ambit_status add_worker(const ambit__blueprint *b, ambit__workers *w, int lane)
{
  const ambit *a = b->stream->grid->context;
  const ambit__form *form = &w->job->form;
  ambit__worker *one = ambit__add(errors_of(b), &w->list, (size_t)w->n, &w->cap, sizeof *one);

  if (!one) return AMBIT_ENOMEM;
  *one = (ambit__worker){.lane = lane};
  one->context = ambit__open_lane(a, w->devices[lane], threads_of_lane(a, w));
  AMBIT_CHECK(one->context, errors_of(b), AMBIT_ENOMEM, "no memory for the workers of a stream");
  if (w->n && w->list[w->n - 1].lane == lane) /* warnings once per lane */
    ambit_option_set(one->context, "verbose", "-1");
  w->n++;
  for (int i = 0; i < form->nplanes; i++)
    if (!replica_for(one, b, form, form->planes[i].extents))
      return ambit__raise(errors_of(b), one->context->errors.status, "lane %d (%s): %s", lane,
                          w->devices[lane], ambit_error_text(one->context));
  return AMBIT_OK;
}

ambit_status ambit__workers_make(const ambit__blueprint *b, const ambit__job *job,
                                 ambit__workers *w)
{
  *w = (ambit__workers){.blueprint = b, .job = job};
  AMBIT_TRY(list_lanes(b, w));
  for (int i = 0; i < w->nlanes; i++) {
    AMBIT_TRY(add_worker(b, w, i));
    for (int k = 1; k < WORKERS_THERE && is_asynchronous(w->list[w->n - 1].context); k++)
      AMBIT_TRY(add_worker(b, w, i));
  }
  for (int i = 0; i < w->n; i++)
    w->list[i].all = w;
  return AMBIT_OK;
}

void ambit__workers_free(ambit__workers *w)
{
  for (int i = 0; i < w->n; i++) {
    for (int k = 0; k < w->list[i].n; k++)
      ambit__replica_free(&w->list[i].replicas[k]);
    ambit_close(w->list[i].context);
  }
  for (int i = 0; i < w->nlanes; i++)
    free(w->devices[i]);
  free(w->list);
  free(w->devices);
}

static ambit_status compute(ambit__worker *w, const ambit__pipeline_place *p)
{
  const ambit__job *job = w->all->job;
  const ambit__form *form = &job->form;
  ambit__plane own[AMBIT__PLANES];
  const ambit__plane *planes = job->planes_of ? own : form->planes;
  const int n = job->planes_of ? job->planes_of(job->ends.user, p->in, own) : form->nplanes;
  bool met = true;

  for (int i = 0; i < n; i++) {
    ambit__replica *r = replica_for(w, w->all->blueprint, form, planes[i].extents);

    if (!r) return w->context->errors.status;
    AMBIT_TRY(
        ambit__replica_run(r, form->samples, p->in + planes[i].in, p->out + planes[i].out, &met));
  }
  if (!met) atomic_fetch_add(&w->all->unmet, 1);
  return AMBIT_OK;
}

static void give_up(const ambit__worker *w, ambit__pipeline_place *p)
{
  ambit__errors errors = {0};

  ambit__raise(&errors, w->context->errors.status, "%s %lld, on lane %d (%s): %s",
               w->all->job->noun, (long long)p->item, w->lane, w->all->devices[w->lane],
               ambit_error_text(w->context));
  ambit__pipeline_fail(w->all->pipeline, p, &errors);
  ambit__errors_clear(&errors);
}

void *ambit__worker_main(void *worker)
{
  ambit__worker *w = worker;
  ambit__pipeline_place *p;

  while ((p = ambit__pipeline_take(w->all->pipeline, true)))
    if (compute(w, p)) /* also after a failure, which stays in the context */
      give_up(w, p);
    else
      ambit__pipeline_done(w->all->pipeline, p);
  return NULL;
}
