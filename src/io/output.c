/* SPDX-License-Identifier: BSD-3-Clause */
/* output.c - files, pictures and films of a program while it runs: an observer of the program.
 *
 * An output is begun when the observer looks, written by the scribe from a copy (a snapshot of the
 * fields, or the values of a picture), and settled before the next one and at the end of the run.
 *
 * An output that cannot be written, because the disk is full for instance, does not end the run:
 * its message is printed, and the error is raised when the output ends. The next one is tried
 * again. Files of the same name stay as they were.
 */
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "io/draw.h"
#include "io/frames.h"
#include "io/png.h"
#include "io/save.h"
#include "runtime/objects/scribe.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RATE 25.0 /* frames per second */

typedef enum kind { KIND_FILE, KIND_PICTURE, KIND_FILM } kind;

typedef struct output {
  ambit__observer observer; /* first */
  ambit *context;
  kind kind;
  char *path;               /* as given, owned */
  ambit__numbered numbered; /* of it */
  int n;                    /* fields */
  ambit_field **fields;     /* owned */
  ambit__drawing drawing;   /* pictures and films */
  double rate;              /* of films */
  ambit__film *film;        /* on process 0, from the first frame on */
  bool has_series;          /* a list of the files is kept for ParaView */
  int64_t *written;         /* the iterations of its files; owned */
  size_t nwritten, cap;
  int64_t done, failures; /* outputs, and those that could not be written */
  /* the one that is being written: */
  bool is_begun;
  ambit__ticket job;
  ambit__errors errors;  /* of the job, and of films; silent */
  int64_t iteration;     /* of the program */
  char *name;            /* of the file; owned */
  ambit__saving *saving; /* KIND_FILE */
  ambit__snapshot *copy; /* for it; the job frees it. NULL: none */
  ambit__picture drawn;  /* others, on process 0 */
  char *reason;          /* of the first failure; owned */
} output;

/* ---- series ---- */

/* "run/out_%06d.vtkhdf" has the list "run/out.vtkhdf.series". */
static char *series_name(const output *o)
{
  const ambit__numbered *x = &o->numbered;
  const size_t size = strlen(o->path) + sizeof ".series";
  char *name = ambit__new(&o->context->errors, size, 1);
  int head = x->head;

  while (head > 0 && strchr("_-.", o->path[head - 1]))
    head--;
  if (head == 0 || o->path[head - 1] == '/') head = x->head;
  if (name) snprintf(name, size, "%.*s%s.series", head, o->path, o->path + x->tail);
  return name;
}

static void print_series(const output *o, ambit__text *t)
{
  ambit__print(t, "{\n  \"file-series-version\": \"1.0\",\n  \"files\": [\n");
  for (size_t i = 0; i < o->nwritten; i++) {
    char *name = ambit__numbered_name(NULL, &o->numbered, o->written[i]);
    const char *slash = name ? strrchr(name, '/') : NULL;

    ambit__print(t, "    { \"name\": \"");
    for (const char *c = slash ? slash + 1 : name; c && *c; c++)
      ambit__print(t, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    ambit__print(t, "\", \"time\": %" PRId64 " }%s\n", o->written[i],
                 i + 1 < o->nwritten ? "," : "");
    free(name);
  }
  ambit__print(t, "  ]\n}\n");
}

/* The list is replaced after each file, so it is complete whenever the run ends. */
static ambit_status write_series(output *o, ambit__errors *errors)
{
  char *name = series_name(o);
  ambit__text t = {0};
  ambit__file *file;
  ambit_status s =
      name ? ambit__make_room(errors, &o->written, o->nwritten, &o->cap, sizeof(int64_t))
           : AMBIT_ENOMEM;

  if (!s) {
    o->written[o->nwritten++] = o->iteration;
    print_series(o, &t);
    s = t.failed ? ambit__raise(errors, AMBIT_ENOMEM, "out of memory") : AMBIT_OK;
  }
  if (!s) {
    s = ambit__file_create(errors, name, &file);
    if (!s) {
      ambit__file_write(file, t.chars, t.len);
      s = ambit__file_commit(file);
    }
  }
  ambit__text_free(&t);
  free(name);
  return s;
}

/* ---- writing: jobs of the scribe ---- */

static void draw(void *job)
{
  output *o = job;

  if (o->kind == KIND_PICTURE)
    ambit__png_put(&o->errors, o->name, &o->drawn);
  else if (o->film || !ambit__film_create(&o->errors, o->path, o->rate, &o->film))
    ambit__film_add(o->film, &o->drawn);
  ambit__picture_free(&o->drawn);
  o->drawn = (ambit__picture){0};
}

/* A single process completes the file. */
static void write_copy(void *job)
{
  output *o = job;
  ambit__errors *errors = &o->copy->context.errors;
  ambit_status s;

  o->saving->fields = o->copy->fields;
  ambit__save_tell(o->saving, errors);
  s = o->saving->write(o->saving);
  if (!s && o->context->net->size > 1) {
    s = ambit__file_flush(o->saving->file);
  } else if (!s) {
    s = ambit__save_commit(o->saving);
    if (!s && o->has_series) s = write_series(o, errors);
  }
  if (s) ambit__raise(&o->errors, s, "%s", errors->text ? errors->text : ambit_status_text(s));
  ambit__save_tell(o->saving, &o->errors);
  ambit__snapshot_free(o->copy);
  o->copy = NULL;
}

/* ---- one output ---- */

static ambit_status begin_drawing(output *o)
{
  AMBIT_TRY(ambit__drawing_read(o->fields[0], &o->drawing, &o->drawn));
  if (o->drawn.values) o->job = ambit__scribe_add(o->context, draw, o);
  return AMBIT_OK;
}

static ambit_status begin_file(output *o)
{
  AMBIT_TRY(ambit__save_begin(o->name, o->n, o->fields, &o->saving));
  if (!o->saving->in_order) ambit__snapshot_take(o->context, o->n, o->fields, &o->copy);
  if (o->copy)
    o->job = ambit__scribe_add(o->context, write_copy, o);
  else
    o->saving->write(o->saving);
  return ambit__net_agree(o->context->net);
}

static ambit_status begin(output *o)
{
  o->is_begun = true;
  o->name = ambit__numbered_name(&o->context->errors, &o->numbered, o->iteration);
  AMBIT_TRY(ambit__net_agree(o->context->net));
  for (int i = 0; i < o->n; i++)
    ambit__view_refresh(o->fields[i]);
  return o->kind == KIND_FILE ? begin_file(o) : begin_drawing(o);
}

/* The file of several processes, or one that was not written by the scribe. */
static ambit_status end_file(output *o)
{
  const bool was_copied = o->job.queue != NULL;
  ambit__saving *saving = o->saving;

  o->saving = NULL;
  if (was_copied && o->context->net->size == 1) {
    ambit__save_free(saving);
    return o->context->errors.status;
  }
  AMBIT_TRY(ambit__save_end(saving));
  if (!o->has_series) return AMBIT_OK;
  if (!o->context->net->rank) write_series(o, &o->context->errors);
  return ambit__meet(o->context, "has written a list of files");
}

/* Waits for the job, and raises its error on all processes. */
static ambit_status complete(output *o)
{
  ambit_status s;

  if (!o->is_begun) return AMBIT_OK;
  o->is_begun = false;
  ambit__task_wait(o->job);
  if (o->errors.status)
    ambit__raise(&o->context->errors, o->errors.status, "%s",
                 o->errors.text ? o->errors.text : ambit_status_text(o->errors.status));
  ambit__errors_clear(&o->errors);
  s = o->saving ? end_file(o) : ambit__meet(o->context, "has written an output");
  o->job = (ambit__ticket){0};
  free(o->name);
  o->name = NULL;
  return s;
}

/* Only files can fail without harm to the run. Messages after the first one are not printed. */
static ambit_status forgive(output *o, ambit_status s)
{
  ambit__errors *errors = &o->context->errors;

  if (s != AMBIT_EIO) return s;
  if (!o->failures++) o->reason = strdup(errors->text ? errors->text : "");
  ambit_error_clear(o->context);
  return AMBIT_OK;
}

/* Runs a step of an output; only the first failure is told. */
static ambit_status forgiving(output *o, ambit_status (*step)(output *o))
{
  ambit__errors *errors = &o->context->errors;
  const ambit_error_fn handler = errors->handler;
  ambit_status s;

  if (o->failures) errors->handler = NULL;
  s = forgive(o, step(o));
  errors->handler = handler;
  return s;
}

static ambit_status settle(ambit__observer *observer)
{
  return forgiving((output *)observer, complete);
}

/* An output that could not be begun on all processes is discarded. */
static ambit_status begin_or_complete(output *o)
{
  ambit_status s = begin(o);

  if (s) complete(o);
  return s;
}

static ambit_status look(ambit__observer *observer, ambit_program *p)
{
  output *o = (output *)observer;

  AMBIT_TRY(forgiving(o, complete));
  o->done++;
  o->iteration = p->iteration;
  return forgiving(o, begin_or_complete);
}

static bool uses(const ambit__observer *observer, const void *object)
{
  const output *o = (const output *)observer;

  for (int i = 0; i < o->n; i++)
    if (o->fields[i] == object) return true;
  return false;
}

/* A film that cannot be written to its end is discarded: one of the same name stays. */
static void raise_failures(const output *o)
{
  ambit__errors *errors = &o->context->errors;
  const char *reason = o->reason ? o->reason : "";

  if (o->kind == KIND_FILM)
    ambit__raise(errors, AMBIT_EIO, "the film %s could not be written: %s", o->path, reason);
  else
    ambit__raise(errors, AMBIT_EIO,
                 "%" PRId64 " of %" PRId64 " outputs to %s could not be written; the first: %s",
                 o->failures, o->done, o->path, reason);
}

static void end(ambit__observer *observer)
{
  output *o = (output *)observer;

  if (o->is_begun) ambit__scribe_wait(o->context); /* of a run that failed */
  ambit__save_free(o->saving);
  if (ambit__film_end(o->film) && !o->failures++)
    o->reason = strdup(o->errors.text ? o->errors.text : "");
  ambit__errors_clear(&o->errors);
  free(o->name);
  if (o->failures && !ambit__failed(o->context)) raise_failures(o);
  free(o->reason);
  free(o->written);
  free(o->fields);
  free(o->path);
  free(o);
}

/* ---- making one ---- */

static ambit_status choose_kind(output *o)
{
  ambit__errors *errors = &o->context->errors;
  const char *path = o->path;
  const bool is_hdf5 = ambit__ends_in(path, ".vtkhdf") || ambit__ends_in(path, ".h5");

  AMBIT_CHECK(ambit__numbered_any(path, &o->numbered), errors, AMBIT_EINVAL,
              "the output is %s; the number of an iteration is written %%d or %%06d, once", path);
  o->kind = ambit__ends_in(path, ".png")   ? KIND_PICTURE
            : ambit__ends_in(path, ".y4m") ? KIND_FILM
                                           : KIND_FILE;
  if (!strncmp(path, "/dev/fd/", 8)) o->kind = KIND_FILM;
  AMBIT_CHECK(o->kind || is_hdf5 || ambit__ends_in(path, ".npy"), errors, AMBIT_EINVAL,
              "the output is %s; the name must end in .vtkhdf, .h5, .npy, .png or .y4m", path);
  AMBIT_CHECK(o->n == 1 || is_hdf5, errors, AMBIT_EINVAL,
              "%d fields cannot be written to %s: the name must end in .vtkhdf or .h5", o->n, path);
  AMBIT_CHECK(o->kind != KIND_FILM || o->numbered.is_one, errors, AMBIT_EINVAL,
              "the output is %s: a film is one file, without a number", path);
  if (is_hdf5)
    AMBIT_TRY(ambit__fields_check_hdf5(o->n, o->fields, path, ambit__ends_in(path, ".vtkhdf")));
  o->has_series = ambit__ends_in(path, ".vtkhdf") && !o->numbered.is_one;
  return o->kind == KIND_PICTURE ? ambit__png_try(errors, path) : AMBIT_OK;
}

static ambit_status set_up(output *o, const ambit_program *p, ambit_field *const *fields,
                           const ambit_picture *picture)
{
  ambit__errors *errors = &o->context->errors;

  for (int i = 0; i < o->n; i++) {
    AMBIT_CHECK(fields[i], errors, AMBIT_EINVAL, "field %d of an output is NULL", i);
    AMBIT_CHECK(fields[i]->grid->context == p->grid->context && fields[i]->grid == fields[0]->grid,
                errors, AMBIT_EINVAL,
                "field '%s' of an output is of another context or grid than the first one",
                fields[i]->name);
    o->fields[i] = fields[i];
  }
  AMBIT_TRY(choose_kind(o));
  if (o->kind != KIND_FILE) AMBIT_TRY(ambit__drawing_make(fields[0], picture, &o->drawing));
  o->drawing.is_series = true;
  o->rate = picture && picture->rate > 0 ? picture->rate : RATE;
  AMBIT_CHECK(o->rate < 1e6, errors, AMBIT_EINVAL, "%g frames per second are too many", o->rate);
  return AMBIT_OK;
}

static ambit_status make(ambit_program *p, int64_t every, const char *path, int n,
                         ambit_field *const *fields, const ambit_picture *picture)
{
  ambit *a = p->grid->context;
  output *o;

  AMBIT_CHECK(path && *path && n >= 1 && fields && every >= 1, &a->errors, AMBIT_EINVAL,
              "ambit_output: there is no file name, no field, or the interval, %" PRId64
              ", is not 1 or more",
              every);
  AMBIT_NEW(&a->errors, o, 1);
  *o = (output){
      .observer = {.every = every, .look = look, .settle = settle, .uses = uses, .end = end},
      .context = a,
      .n = n};
  o->path = ambit__strdup(&a->errors, path);
  o->fields = ambit__new(&a->errors, (size_t)n, sizeof *o->fields);
  if (o->path && o->fields && !set_up(o, p, fields, picture)) {
    ambit__program_observe(p, &o->observer);
    return AMBIT_OK;
  }
  end(&o->observer);
  return a->errors.status;
}

ambit_status ambit_output(ambit_program *p, int64_t every, const char *path, int n,
                          ambit_field *const *fields, const ambit_picture *picture)
{
  char doing[160];

  if (!p || ambit__failed(p->grid->context))
    return p ? p->grid->context->errors.status : AMBIT_EINVAL;
  make(p, every, path, n, fields, picture);
  snprintf(doing, sizeof doing, "outputs %d fields every %" PRId64 " iterations to %.90s", n, every,
           path ? path : "");
  return ambit__meet(p->grid->context, doing);
}

ambit_status ambit_output_end(ambit_program *p)
{
  if (!p) return AMBIT_EINVAL;
  ambit__program_end_outputs(p);
  return ambit__meet(p->grid->context, "ends its outputs");
}
