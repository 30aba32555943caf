/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_files.c - ambit_stream_run: streams from file to file. */
#include "base/clock.h"
#include "base/memory.h"
#include "io/frames.h"
#include "skeleton/stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct passage {
  ambit_stream *stream;
  ambit__frames_in in;
  ambit__frames_out out;
  size_t bytes;        /* of a frame in memory */
  bool shows, is_live; /* progress; stderr is a terminal */
  int64_t expected;
  double started, shown; /* times */
} passage;

/* ---- planes ---- */

static ambit_status check_fields(const passage *p)
{
  const ambit_stream *s = p->stream;
  ambit__errors *errors = &s->grid->context->errors;
  const int channels = p->in.form.is_packed ? 3 : 1;

  AMBIT_CHECK(s->grid->box.ndims == 2, errors, AMBIT_EINVAL,
              "frames of %s have 2 dimensions, and the grid of the stream has %d", p->in.path,
              s->grid->box.ndims);
  AMBIT_CHECK(s->in->components == channels && s->out->components == channels, errors, AMBIT_EINVAL,
              "pixels of %s have %d component%s, the fields '%s' and '%s' have %d and %d; fields "
              "for frames have 1, or those for pictures in colour 3",
              p->in.path, channels, channels > 1 ? "s" : "", s->in->name, s->out->name,
              s->in->components, s->out->components);
  return AMBIT_OK;
}

/* The planes to compute: colours all, else luma or all; alpha never. */
static bool is_computed(const passage *p, const ambit__frame_form *f, int plane)
{
  return plane == 0 || (plane < 3 && (f->is_rgb || p->stream->planes == AMBIT_ALL_PLANES));
}

/* Lists the planes of a frame that are to be computed; they have the same place in the result. */
static int list_planes(const passage *p, const ambit__frame_form *f,
                       ambit__plane planes[AMBIT__PLANES])
{
  size_t at = 0;
  int n = 0;

  for (int i = 0; i < f->nplanes; i++) {
    if (is_computed(p, f, i))
      planes[n++] = (ambit__plane){.extents = {f->height[i], f->width[i]}, .in = at, .out = at};
    at += ambit__plane_bytes(f, i);
  }
  return n;
}

static int planes_of(const void *user, const void *in, ambit__plane planes[AMBIT__PLANES])
{
  const passage *p = user;

  return list_planes(p, &ambit__frame_tail_of(in, p->bytes)->form, planes);
}

/* ---- progress ---- */

#define LIVE_SECONDS  0.1 /* between updates on a terminal */
#define PLAIN_SECONDS 2.0 /* between lines of other output */

static void show(passage *p, int64_t done, bool last)
{
  const double now = ambit__clock(), rate = (double)done / (now - p->started);

  if (!p->shows || (!last && now - p->shown < (p->is_live ? LIVE_SECONDS : PLAIN_SECONDS))) return;
  p->shown = now;
  fprintf(stderr, "%sframe %" PRId64, p->is_live ? "\r" : "", done);
  if (p->expected >= done && p->expected) fprintf(stderr, " of %" PRId64, p->expected);
  fprintf(stderr, ", %.1f frames/s", rate);
  if (p->expected > done && rate > 0)
    fprintf(stderr, ", %.0f s left", (double)(p->expected - done) / rate);
  fputs(p->is_live ? "\033[K" : "\n", stderr);
  if (last && p->is_live) fputc('\n', stderr);
  fflush(stderr);
}

/* ---- the ends ---- */

static ambit_status read_frame(void *user, ambit__errors *errors, int64_t item, void *in, bool *got)
{
  passage *p = user;

  return ambit__frames_read(&p->in, errors, item, in, got);
}

static ambit_status write_frame(void *user, ambit__errors *errors, int64_t item, const void *in,
                                const void *out)
{
  passage *p = user;
  const ambit__frame_tail *tail = ambit__frame_tail_of(in, p->bytes);
  const ambit__frame_form *form = &tail->form;
  const unsigned char *planes[AMBIT__PLANES] = {0};
  size_t at = 0;

  for (int i = 0; i < form->nplanes; i++) {
    planes[i] = (const unsigned char *)(is_computed(p, form, i) ? out : in) + at;
    at += ambit__plane_bytes(form, i);
  }
  AMBIT_TRY(ambit__frames_write(&p->out, errors, item, tail, planes));
  show(p, item + 1, false);
  return AMBIT_OK;
}

/* ---- running ---- */

/* Opens the files, on process 0. */
static ambit_status open_files(passage *p, const char *in, const char *out, ambit__form *form)
{
  const ambit_stream *s = p->stream;
  ambit *a = s->grid->context;

  AMBIT_TRY(ambit__frames_open(&a->errors, in, s->in_fd, s->in->components == 3, &p->stream->stop,
                               &p->in));
  AMBIT_TRY(check_fields(p));
  *form = (ambit__form){
      .samples = true, .in_bytes = ambit__frames_bytes(&p->in), .out_bytes = p->in.room};
  form->nplanes = list_planes(p, &p->in.form, form->planes);
  p->expected = p->in.expected;
  p->shows = a->settings.progress;
  p->is_live = isatty(STDERR_FILENO);
  p->started = p->shown = ambit__clock();
  return ambit__frames_create(&a->errors, out, s->out_fd, &p->in, &p->out);
}

/* Process 0 knows the form of the frames. */
static ambit_status run(passage *p, const char *in, const char *out)
{
  ambit *a = p->stream->grid->context;
  ambit__job job = {.noun = "frame", .ends = {read_frame, write_frame, p}, .planes_of = planes_of};
  ambit_status s = AMBIT_OK, finished = AMBIT_OK;

  if (!a->net->rank) s = open_files(p, in, out, &job.form);
  if (a->net->size > 1) s = ambit__meet(a, "streams files");
  if (!s && a->net->size > 1) s = ambit__net_broadcast(a->net, 0, &job.form, sizeof job.form);
  p->bytes = job.form.in_bytes;
  if (!s) s = ambit__stream_run_job(p->stream, &job);
  if (a->net->rank) return s;
  show(p, p->stream->items, true);
  if (p->out.like) finished = ambit__frames_finish(&p->out, &a->errors, !s || p->stream->items > 0);
  return s ? s : finished;
}

ambit_status ambit_stream_run(ambit_stream *s, const char *in, const char *out)
{
  ambit__errors *errors;
  passage *p;
  ambit_status status;

  if (!s || ambit__failed(s->grid->context))
    return s ? s->grid->context->errors.status : AMBIT_EINVAL;
  errors = &s->grid->context->errors;
  AMBIT_CHECK(in && *in && out && *out, errors, AMBIT_EINVAL,
              "ambit_stream_run: the name of the input or of the output is missing");
  AMBIT_TRY(ambit__stream_check(s));
  AMBIT_NEW(errors, p, 1);
  p->stream = s;
  s->items = 0;
  p->in.inlet.fd = -1;
  status = run(p, in, out);
  ambit__frames_close(&p->in);
  s->in_fd = s->out_fd = 0;
  free(p);
  return status;
}
