/* SPDX-License-Identifier: BSD-3-Clause */
/* stream.c - streams as objects, and running them. */
#include "skeleton/stream.h"
#include "base/log.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static ambit__errors *errors_of(const ambit_stream *s)
{
  return &s->grid->context->errors;
}

static bool failed(const ambit_stream *s)
{
  return !s || ambit__failed(s->grid->context);
}

static ambit_status status_of(const ambit_stream *s)
{
  return s ? errors_of(s)->status : AMBIT_EINVAL;
}

/* ---- the object ---- */

ambit_stream *ambit_stream_create(ambit_program *p, ambit_field *in, ambit_field *out)
{
  ambit_stream *s;

  if (!p || ambit__failed(p->grid->context)) return NULL;
  if (!in || !out || in->grid != p->grid || out->grid != p->grid) {
    ambit__raise(ambit__program_errors(p), AMBIT_EINVAL,
                 "ambit_stream_create: a field is NULL or on another grid than the program");
    return NULL;
  }
  s = ambit__new(ambit__program_errors(p), 1, sizeof *s);
  if (!s) return NULL;
  s->grid = p->grid;
  s->program = p;
  s->in = in;
  s->out = out;
  s->iterations = 1;
  if (*p->grid->context->settings.checkpoint && !ambit_process(p->grid->context))
    ambit__log(&p->grid->context->settings, 0,
               "a stream has no checkpoints: it begins with its first item when the program is "
               "started again (docs/checkpoints.md)");
  ambit__list_add(&p->grid->streams, &s->link, s);
  return s;
}

void ambit_stream_destroy(ambit_stream *s)
{
  if (!s) return;
  if (atomic_load(&s->running)) { /* by its source or sink, in another thread: the run raises it */
    atomic_store(&s->misused, true);
    ambit_stream_stop(s);
    return;
  }
  ambit__list_remove(&s->link);
  free(s);
}

ambit_status ambit_stream_before(ambit_stream *s, ambit_program *p)
{
  if (failed(s)) return status_of(s);
  AMBIT_CHECK(!p || p->grid == s->grid, errors_of(s), AMBIT_EINVAL,
              "ambit_stream_before: the program is on another grid than that of the stream");
  s->before = p;
  return AMBIT_OK;
}

ambit_status ambit_stream_repeat(ambit_stream *s, int64_t iterations)
{
  if (failed(s)) return status_of(s);
  AMBIT_CHECK(iterations >= 1, errors_of(s), AMBIT_EINVAL,
              "%lld iterations per item were requested; the number must be 1 or more",
              (long long)iterations);
  s->iterations = iterations;
  s->scalar = NULL;
  return AMBIT_OK;
}

ambit_status ambit_stream_repeat_until(ambit_stream *s, ambit_scalar *x, ambit_condition when,
                                       double value, int64_t most)
{
  if (failed(s)) return status_of(s);
  AMBIT_TRY(ambit__until_check(s->grid->context, x, when, value, "ambit_stream_repeat_until"));
  AMBIT_TRY(ambit_stream_repeat(s, most));
  s->scalar = x;
  s->when = when;
  s->bound = value;
  return AMBIT_OK;
}

ambit_status ambit_stream_in_flight(ambit_stream *s, int64_t items)
{
  if (failed(s)) return status_of(s);
  AMBIT_CHECK(items >= 0 && items <= 1000000, errors_of(s), AMBIT_EINVAL,
              "%lld items in flight were requested; the number must be from 1 to 1000000, or 0 for "
              "the default",
              (long long)items);
  s->in_flight = items;
  return AMBIT_OK;
}

ambit_status ambit_stream_planes(ambit_stream *s, ambit_planes planes)
{
  if (failed(s)) return status_of(s);
  AMBIT_CHECK(planes == AMBIT_LUMA || planes == AMBIT_ALL_PLANES, errors_of(s), AMBIT_EINVAL,
              "ambit_stream_planes: %d is not a choice of planes", (int)planes);
  s->planes = planes;
  return AMBIT_OK;
}

void ambit_stream_stop(ambit_stream *s)
{
  if (s) atomic_store(&s->stop, true);
}

int64_t ambit_stream_items(const ambit_stream *s)
{
  return s ? s->items : 0;
}

int64_t ambit_stream_unmet(const ambit_stream *s)
{
  return s ? s->unmet : 0;
}

/* ---- running ---- */

static bool is_in(const ambit__link *list, const void *object)
{
  for (const ambit__link *l = list->next; l->owner; l = l->next)
    if (l->owner == object) return true;
  return false;
}

static ambit_status check_program(const ambit_program *p)
{
  ambit__errors *errors = ambit__program_errors(p);

  AMBIT_CHECK(p->nwritten, errors, AMBIT_EPROGRAM,
              "a program of the stream has no steps: ambit_apply adds one");
  AMBIT_CHECK(!p->every, errors, AMBIT_EPROGRAM,
              "a program of the stream has a callback (ambit_on_iteration), which would be called "
              "for fields of other contexts; programs of streams cannot have one");
  AMBIT_CHECK(!ambit__program_calls(p), errors, AMBIT_EPROGRAM,
              "a program of the stream calls another program; programs of streams cannot");
  AMBIT_CHECK(!ambit__program_has_profiles(p), errors, AMBIT_EPROGRAM,
              "a program of the stream has a field on some axes of the grid; programs of streams "
              "cannot");
  for (size_t i = 0; i < p->nwritten; i++)
    AMBIT_CHECK(!p->written[i].chore, errors, AMBIT_EPROGRAM,
                "a program of the stream has a step at points, a history or a function of the "
                "user; programs of streams cannot");
  return AMBIT_OK;
}

ambit_status ambit__stream_check(const ambit_stream *s)
{
  const ambit_grid *g = s->grid;
  const bool whole = is_in(&g->programs, s->program) && is_in(&g->fields, s->in) &&
                     is_in(&g->fields, s->out) && (!s->before || is_in(&g->programs, s->before)) &&
                     (!s->scalar || is_in(&g->context->scalars, s->scalar));

  AMBIT_CHECK(whole && !s->program->broken && !(s->before && s->before->broken), errors_of(s),
              AMBIT_EPROGRAM,
              "a program, field, scalar or kernel that the stream uses was destroyed");
  AMBIT_TRY(check_program(s->program));
  return s->before ? check_program(s->before) : AMBIT_OK;
}

static ambit_status check_blueprint(const ambit__blueprint *b, const ambit__form *form)
{
  const ambit_stream *s = b->stream;

  AMBIT_CHECK(!s->scalar || ambit__program_sets(s->program, s->scalar), errors_of(s),
              AMBIT_EPROGRAM,
              "no step of the stream's program sets the scalar '%s' that is to end its iterations",
              s->scalar->name);
  for (int i = 0; i < form->nplanes; i++)
    AMBIT_TRY(ambit__blueprint_fits(b, errors_of(s), form->planes[i].extents));
  return AMBIT_OK;
}

/* Starts the threads of this process, on process 0 reader and writer too. Returns their number; on
 * failure raises an error and breaks the pipeline. */
static int start_threads(ambit_stream *s, ambit__workers *w, pthread_t *threads)
{
  const int ends = s->grid->context->net->rank ? 0 : 2;
  int n = 0;

  for (; n < w->n + ends; n++) {
    void *(*main)(void *) = n >= ends ? ambit__worker_main
                            : n       ? ambit__pipeline_read
                                      : ambit__pipeline_write;
    void *arg = n >= ends ? (void *)&w->list[n - ends] : w->pipeline;

    if (pthread_create(&threads[n], NULL, main, arg)) break;
  }
  if (n == w->n + ends) return n;
  ambit__raise(errors_of(s), AMBIT_ENOMEM, "a thread of a stream could not be started");
  ambit__pipeline_break(w->pipeline, errors_of(s));
  return n;
}

static ambit_status run_threads(ambit_stream *s, ambit__workers *w)
{
  pthread_t *threads = ambit__new(errors_of(s), (size_t)w->n + 2, sizeof *threads);
  int n = threads ? start_threads(s, w, threads) : 0;

  if (s->grid->context->net->size > 1) ambit__stream_share(s, w);
  while (n-- > 0)
    pthread_join(threads[n], NULL);
  free(threads);
  return errors_of(s)->status;
}

/* Two places per worker, and two more; on process 0 also for the items of the other processes. */
static int places_of(const ambit_stream *s, const ambit__workers *w)
{
  const ambit__net *net = s->grid->context->net;

  if (s->in_flight) return (int)s->in_flight;
  return net->rank ? 2 * w->n : 2 * w->n * net->size + 2;
}

static ambit_status run_pipeline(ambit_stream *s, ambit__workers *w)
{
  const ambit__form *form = &w->job->form;
  ambit_status status =
      ambit__pipeline_open(errors_of(s), places_of(s, w), form->in_bytes, form->out_bytes,
                           &w->job->ends, &s->stop, &w->pipeline);

  if (s->grid->context->net->size > 1)
    status = ambit__meet(s->grid->context, "makes the lanes of a stream");
  if (!status) {
    w->pipeline->is_remote = s->grid->context->net->rank > 0;
    status = run_threads(s, w);
    s->items = w->pipeline->written;
    s->unmet = atomic_load(&w->unmet);
    if (w->pipeline->error.status && !errors_of(s)->status)
      status = ambit__raise(errors_of(s), w->pipeline->error.status, "%s",
                            w->pipeline->error.text ? w->pipeline->error.text : "out of memory");
  }
  ambit__pipeline_close(w->pipeline);
  return status;
}

/* The outcome of process 0 on all processes; the first error. */
static ambit_status agree(ambit_stream *s)
{
  double sums[] = {s->grid->context->net->rank ? 0 : (double)s->items, (double)s->unmet};

  AMBIT_TRY(ambit__meet(s->grid->context, "ends a stream"));
  AMBIT_TRY(ambit__net_sum(s->grid->context->net, sums, 2));
  s->items = (int64_t)sums[0];
  s->unmet = (int64_t)sums[1];
  return AMBIT_OK;
}

/* While it runs, nothing that it uses can be destroyed or run. */
static void set_running(ambit_stream *s, bool running)
{
  atomic_store(&s->running, running);
  s->program->is_running = running;
  if (s->before) s->before->is_running = running;
}

ambit_status ambit__stream_run_job(ambit_stream *s, const ambit__job *job)
{
  ambit__blueprint b = {0};
  ambit__workers w = {0};
  ambit_status status;

  AMBIT_CHECK(!s->program->is_running && !(s->before && s->before->is_running), errors_of(s),
              AMBIT_EPROGRAM, "a stream is run by a callback of its program, its source or sink");
  s->items = 0;
  s->unmet = 0;
  status = ambit__blueprint_make(s, &b);
  set_running(s, true);
  if (!status) status = check_blueprint(&b, &job->form);
  if (!status) status = ambit__workers_make(&b, job, &w);
  if (!status) status = run_pipeline(s, &w);
  ambit__workers_free(&w);
  ambit__blueprint_free(&b);
  set_running(s, false);
  atomic_store(&s->stop, false);
  if (!status && atomic_exchange(&s->misused, false))
    status =
        ambit__raise(errors_of(s), AMBIT_EPROGRAM,
                     "the source or the sink of a stream destroyed it; destroy it after its run");
  return s->grid->context->net->size > 1 ? agree(s) : status;
}

/* ---- callbacks ---- */

typedef struct callbacks {
  ambit_source_fn source;
  ambit_sink_fn sink;
  void *user;
} callbacks;

static ambit_status call_source(void *user, ambit__errors *errors, int64_t item, void *in,
                                bool *got)
{
  const callbacks *c = user;
  const int answer = c->source(item, in, c->user);

  *got = answer > 0;
  AMBIT_CHECK(answer >= 0, errors, AMBIT_EIO,
              "the source of a stream failed: it returned %d for "
              "item %lld",
              answer, (long long)item);
  return AMBIT_OK;
}

static ambit_status call_sink(void *user, ambit__errors *errors, int64_t item, const void *in,
                              const void *out)
{
  const callbacks *c = user;
  const int answer = c->sink(item, out, c->user);

  (void)in;
  AMBIT_CHECK(!answer, errors, AMBIT_EIO,
              "the sink of a stream failed: it returned %d for item "
              "%lld",
              answer, (long long)item);
  return AMBIT_OK;
}

ambit_status ambit_stream_run_with(ambit_stream *s, ambit_source_fn source, ambit_sink_fn sink,
                                   void *user)
{
  callbacks c = {source, sink, user};
  ambit__job job = {.noun = "item", .ends = {call_source, call_sink, &c}};
  size_t cells;

  if (failed(s)) return status_of(s);
  AMBIT_CHECK(source && sink, errors_of(s), AMBIT_EINVAL,
              "ambit_stream_run_with: the source or the sink is NULL");
  AMBIT_TRY(ambit__stream_check(s));
  cells = (size_t)ambit__box_volume(&s->grid->box);
  job.form = (ambit__form){.nplanes = 1,
                           .in_bytes = cells * ambit__field_cell_bytes(s->in),
                           .out_bytes = cells * ambit__field_cell_bytes(s->out)};
  memcpy(job.form.planes[0].extents, s->grid->box.hi, sizeof s->grid->box.hi);
  return ambit__stream_run_job(s, &job);
}
