/* SPDX-License-Identifier: BSD-3-Clause */
/* look.c - when checkpoints are saved and loaded; the public calls.
 *
 * A run is cut into stretches of about half a second. After each, all processes agree on the time
 * that has passed and on signals, and save together.
 */
#include "base/clock.h"
#include "base/file.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/memory.h"
#include "runtime/checkpoint/checkpoint.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A stretch of iterations: it becomes longer if it took less than SHORT seconds, and shorter if it
 * took more than LONG. */
static const double SHORT = 0.25, LONG = 1;

/* ---- opening and closing ---- */

/* The end of the last run, if iterations were run since the last file. On objects that were created
 * or destroyed since then, a program that is started again would not agree. */
static void save_end(ambit *a)
{
  ambit__checkpoint *c = a->checkpoint;
  const size_t n = a->journal.tape.n;
  char shape[AMBIT__HASH_CHARS];

  if (!c->path || !c->last || !c->since || a->errors.status ||
      ambit__fork_number() != a->fork_number)
    return;
  ambit__state_shape(a, shape);
  if (strcmp(c->last_shape, shape)) {
    ambit__log(
        &a->settings, 1,
        "the end of the last run is not saved in %s: objects were created or destroyed since",
        c->path);
    return;
  }
  a->journal.tape.n = c->last_at; /* the calls behind it are made again */
  c->program = c->last;
  c->ends = true;
  ambit__checkpoint_save(a, true);
  c->program = NULL;
  a->journal.tape.n = n;
}

/* After the last run: what could not be written is an error now. */
static void close_checkpoint(ambit *a)
{
  ambit__checkpoint *c = a->checkpoint;

  save_end(a);
  ambit__checkpoint_end(a);
  if (c->is_watched) ambit__signals_unwatch();
  if (c->failures)
    ambit__raise(&a->errors, AMBIT_EIO, "%d checkpoint%s could not be saved; the first: %s",
                 c->failures, c->failures > 1 ? "s" : "", c->failure ? c->failure : "");
  for (size_t i = 0; i < c->nvalues; i++) {
    free(c->values[i].name);
    free(c->values[i].last);
  }
  free(c->values);
  free(c->path);
  free(c->previous);
  ambit__checkpoint_forget(a);
  free(c->failure);
  free(c);
  a->checkpoint = NULL;
}

/* The context's; created if necessary. NULL: out of memory. */
static ambit__checkpoint *checkpoint_of(ambit *a)
{
  if (a->checkpoint) return a->checkpoint;
  a->checkpoint = ambit__new(&a->errors, 1, sizeof *a->checkpoint);
  if (a->checkpoint) a->close_checkpoint = close_checkpoint;
  return a->checkpoint;
}

/* "run.h5" gives "run.previous.h5". */
static ambit_status name_files(ambit *a)
{
  ambit__checkpoint *c = a->checkpoint;
  const char *path = a->settings.checkpoint, *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
  const int stem =
      (int)(dot && dot > (slash ? slash + 1 : path) ? (size_t)(dot - path) : strlen(path));
  const size_t size = strlen(path) + strlen(".previous") + 1;

  if (!*path) return AMBIT_OK;
  c->path = ambit__strdup(&a->errors, path);
  c->previous = ambit__new(&a->errors, size, 1);
  if (!c->path || !c->previous) return AMBIT_ENOMEM;
  snprintf(c->previous, size, "%.*s.previous%s", stem, path, path + stem);
  return a->net->rank ? AMBIT_OK : ambit__file_try(&a->errors, path);
}

/* With the first run, if options ask for checkpoints. */
static ambit_status open_checkpoint(ambit *a)
{
  ambit__checkpoint *c;
  const bool resumes = strcmp(a->settings.resume, "auto") && strcmp(a->settings.resume, "no") &&
                       strcmp(a->settings.resume, "any");

  if (a->checkpoint && a->checkpoint->opened) return AMBIT_OK;
  if (!*a->settings.checkpoint && !resumes) return AMBIT_OK;
  c = checkpoint_of(a);
  if (c) name_files(a);
  AMBIT_TRY(ambit__meet(a, "opens its checkpoint"));
  AMBIT_TRY(ambit__checkpoint_find(a));
  ambit__interval_parse(a->settings.checkpoint_every, &c->every, &c->seconds);
  c->saved_at = ambit__clock();
  c->opened = a->journal.records = true;
  c->is_watched = c->path != NULL;
  if (c->is_watched) ambit__signals_watch();
  return AMBIT_OK;
}

/* ---- runs ---- */

bool ambit__checkpoint_is_due(const ambit_program *p)
{
  const ambit__checkpoint *c = p->grid->context->checkpoint;

  return c && c->path && c->program == p && p->grid->context->journal.inside == 1;
}

int64_t ambit__checkpoint_left(const ambit_program *p)
{
  const ambit__checkpoint *c = p->grid->context->checkpoint;
  int64_t n = p->look_every;

  if (!ambit__checkpoint_is_due(p)) return INT64_MAX;
  if (c->every && c->every - c->since < n) n = c->every - c->since;
  return n > 1 ? n : 1;
}

/* Stretches become as long as that of the slowest process allows. */
static void adapt(ambit_program *p, int64_t ran, double seconds)
{
  if (ran >= p->look_every && seconds < SHORT && p->look_every < INT64_MAX / 8)
    p->look_every *= 4;
  else if (seconds > LONG)
    p->look_every = (int64_t)((double)ran * 0.5 / seconds);
  if (p->look_every < 1) p->look_every = 1;
}

ambit_status ambit__checkpoint_look(ambit_program *p, int64_t ran, double seconds,
                                    const ambit__standing *at)
{
  ambit *a = p->grid->context;
  ambit__checkpoint *c = a->checkpoint;
  double all[5] = {seconds};
  bool busy, due;
  int asked;

  if (!ambit__checkpoint_is_due(p)) return AMBIT_OK;
  asked = ambit__signals_asked();
  all[1] = ambit__clock() - c->saved_at;
  all[2] = asked & AMBIT__ASKED_SAVE;
  all[3] = asked & AMBIT__ASKED_END;
  all[4] = !ambit__checkpoint_is_written(a);
  AMBIT_TRY(ambit__net_max(a->net, all, 5));
  busy = all[4] > 0;
  if (!busy) AMBIT_TRY(ambit__checkpoint_complete(a));
  adapt(p, ran, all[0]);
  c->since += ran;
  c->standing = *at;
  c->standing.done = p->iteration - c->first;
  due = c->seconds > 0 && all[1] >= c->seconds && !busy; /* one is enough at a time */
  if (!due && !(c->every && c->since >= c->every) && !(all[2] > 0) && !(all[3] > 0))
    return AMBIT_OK;
  AMBIT_TRY(ambit__checkpoint_save(a, all[3] > 0));
  if (all[3] > 0) {
    if (!a->net->rank) ambit__say(&a->settings, "SIGTERM: the state is in %s", c->path);
    ambit__signals_end();
  }
  return AMBIT_OK;
}

static ambit_status check_full(ambit *a)
{
  ambit__checkpoint *c = a->checkpoint;

  AMBIT_CHECK(!a->journal.replays || !a->journal.is_full, &a->errors, AMBIT_EUNSUPPORTED,
              "%s cannot be continued by the same calls: the program had read more than %d MiB of "
              "values between its runs. It must keep its place in values "
              "(ambit_checkpoint_value) and call ambit_resume",
              c->from, AMBIT__JOURNAL_BYTES >> 20);
  if (a->journal.is_full && !c->told_full && c->path && !a->net->rank)
    ambit__log(&a->settings, 0,
               "the program has read more than %d MiB of values between its runs: checkpoints from "
               "now on can be continued with ambit_resume only (docs/checkpoints.md)",
               AMBIT__JOURNAL_BYTES >> 20);
  c->told_full |= a->journal.is_full;
  return AMBIT_OK;
}

/* Loads the checkpoint in the run that it interrupted. */
static ambit_status load_here(ambit_program *p, ambit__standing *at)
{
  ambit *a = p->grid->context;
  ambit_program *program = NULL;

  AMBIT_TRY(ambit__checkpoint_load(a, &program, at));
  AMBIT_CHECK(program == p, &a->errors, AMBIT_EPROGRAM,
              "the checkpoint %s was saved in a run of program %lld, but program %lld runs now; "
              "start with --ambit-resume=no, or call ambit_resume",
              a->journal.from, (long long)ambit__program_number(program) + 1,
              (long long)ambit__program_number(p) + 1);
  ambit__checkpoint_forget(a);
  return AMBIT_OK;
}

/* Values of the user at the end of a run: callbacks may have set them. */
static void put_values(const ambit__checkpoint *c, ambit__tape *t)
{
  ambit__tape_put_number(t, (int64_t)c->nvalues);
  for (size_t i = 0; i < c->nvalues; i++) {
    ambit__tape_put_number(t, (int64_t)c->values[i].bytes);
    ambit__tape_put(t, c->values[i].at, c->values[i].bytes);
  }
}

static ambit_status get_values(ambit *a)
{
  const ambit__checkpoint *c = a->checkpoint;
  ambit__tape *t = &a->journal.tape;
  const int64_t n = ambit__tape_get_number(t);

  for (int64_t i = 0; i < n; i++) {
    const int64_t bytes = ambit__tape_get_number(t);

    AMBIT_CHECK(i < (int64_t)c->nvalues && bytes == (int64_t)c->values[i].bytes && !t->failed,
                &a->errors, AMBIT_EPROGRAM,
                "value %lld of the program (ambit_checkpoint_value) is not the one that it had "
                "after this run in %s: it is not the program that was interrupted; start with "
                "--ambit-resume=no",
                (long long)i + 1, c->from ? c->from : "the checkpoint");
    ambit__tape_get(t, c->values[i].at, (size_t)bytes);
  }
  return AMBIT_OK;
}

/* A run that was complete: sets the results of its programs. */
static ambit_status replay_run(ambit_program *p)
{
  ambit *a = p->grid->context;
  int64_t number;

  ambit__journal_replay(&a->errors, &a->journal, ENTRY_RUN, &number, sizeof number);
  AMBIT_CHECK(
      a->errors.status || number == ambit__program_number(p), &a->errors, AMBIT_EPROGRAM,
      "the program runs program %lld where the run of the checkpoint %s ran program %lld: it "
      "is not the one that was interrupted; start with --ambit-resume=no",
      (long long)ambit__program_number(p) + 1, a->journal.from, (long long)number + 1);
  ambit__progress_get(a, &a->journal.tape);
  if (!a->errors.status) get_values(a);
  return a->errors.status;
}

/* Whether nothing is left to do of a run whose state was loaded. */
static bool is_over(const ambit_program *p, int64_t most, const ambit__standing *at)
{
  const ambit *a = p->grid->context;

  if (at->done > most && most >= 0 && !a->net->rank)
    ambit__log(&a->settings, 0,
               "the checkpoint is of iteration %" PRId64 ", after the %" PRId64
               " that this run is to end with: "
               "results are those of the checkpoint",
               p->iteration, p->iteration - at->done + most);
  return at->ended || (at->done > 0 && at->done >= most && most >= 0);
}

static ambit_status enter(ambit_program *p, int64_t most, ambit__standing *at, bool *skip)
{
  ambit *a = p->grid->context;
  ambit__checkpoint *c;

  AMBIT_TRY(open_checkpoint(a));
  c = a->checkpoint;
  if (!c || !c->opened) return AMBIT_OK;
  AMBIT_TRY(check_full(a));
  *skip = a->journal.replays && a->journal.tape.at < a->journal.tape.n;
  if (*skip) return replay_run(p);
  if (a->journal.replays) AMBIT_TRY(load_here(p, at));
  if (c->resumed == p) {
    *at = c->waiting;
    at->done = 0;
    c->resumed = NULL;
  }
  *skip = is_over(p, most, at);
  c->program = p;
  c->last = NULL;
  c->first = p->iteration - at->done;
  if (!p->look_every) p->look_every = 1;
  return AMBIT_OK;
}

ambit_status ambit__checkpoint_enter(ambit_program *p, int64_t most, ambit__standing *at,
                                     bool *skip)
{
  ambit *a = p->grid->context;
  ambit_status s = AMBIT_OK;

  *skip = false;
  *at = (ambit__standing){.found = -1};
  if (!a->errors.status && !a->journal.inside && !a->dry) s = enter(p, most, at, skip);
  a->journal.inside++;
  if (a->checkpoint && a->checkpoint->is_watched) ambit__signals_enter();
  return s;
}

/* Notes what a program that is started again needs to know about a complete run. */
static void record_run(ambit_program *p)
{
  ambit__journal *j = &p->grid->context->journal;
  const int64_t number = ambit__program_number(p);

  ambit__journal_record(j, ENTRY_RUN, &number, sizeof number);
  if (!j->records || j->replays || j->is_full || j->inside) return;
  ambit__progress_put(p, &j->tape);
  put_values(p->grid->context->checkpoint, &j->tape);
}

/* Of the last run so far: how to save its end. */
static void keep_end(ambit_program *p)
{
  ambit *a = p->grid->context;
  ambit__checkpoint *c = a->checkpoint;

  c->last_at = a->journal.tape.n;
  ambit__state_shape(a, c->last_shape);
  for (size_t i = 0; i < c->nvalues; i++)
    memcpy(c->values[i].last, c->values[i].at, c->values[i].bytes);
  c->last = p;
}

void ambit__checkpoint_leave(ambit_program *p, bool skipped, ambit_status s)
{
  ambit *a = p->grid->context;
  ambit__checkpoint *c = a->checkpoint;

  a->journal.inside--;
  if (c && c->is_watched) ambit__signals_leave();
  if (!s && !skipped && c && c->path && c->program == p && !a->journal.inside) keep_end(p);
  if (!s && c && c->opened) record_run(p);
  if (c && c->program == p && !a->journal.inside) c->program = NULL;
}

/* ---- public calls ---- */

ambit_status ambit_checkpoint(ambit *a, const char *path, const char *every)
{
  if (ambit__failed(a)) return a ? a->errors.status : AMBIT_EINVAL;
  AMBIT_TRY(ambit_option_set(a, "checkpoint", path ? path : ""));
  return every ? ambit_option_set(a, "checkpoint-every", every) : AMBIT_OK;
}

ambit_status ambit_checkpoint_value(ambit *a, const char *name, void *value, size_t bytes)
{
  ambit__checkpoint *c;
  ambit__kept_value *v;
  size_t i = 0;

  if (ambit__failed(a)) return a ? a->errors.status : AMBIT_EINVAL;
  AMBIT_CHECK(name && *name && value && bytes, &a->errors, AMBIT_EINVAL,
              "ambit_checkpoint_value: a value needs a name, an address and a size");
  c = checkpoint_of(a);
  if (!c) return AMBIT_ENOMEM;
  while (i < c->nvalues && strcmp(c->values[i].name, name))
    i++;
  if (i == c->nvalues) {
    AMBIT_TRY(ambit__make_room(&a->errors, &c->values, i, &c->values_cap, sizeof *c->values));
    c->values[i] = (ambit__kept_value){.name = ambit__strdup(&a->errors, name)};
    if (!c->values[i].name) return AMBIT_ENOMEM;
    c->nvalues++;
  }
  v = &c->values[i];
  free(v->last);
  v->at = value;
  v->bytes = bytes;
  v->last = ambit__new(&a->errors, bytes, 1);
  c->last = NULL;
  return v->last ? AMBIT_OK : AMBIT_ENOMEM;
}

int ambit_resume(ambit *a)
{
  ambit__checkpoint *c;
  bool loads;

  if (!a) return 0;
  if (ambit__meet(a, "resumes") || open_checkpoint(a)) return 0;
  c = a->checkpoint;
  loads = c && c->from && !a->journal.inside;
  if (!loads || ambit__checkpoint_load(a, &c->resumed, &c->waiting)) return 0;
  ambit__checkpoint_forget(a);
  a->journal.is_full = true; /* the calls before are those of another run */
  c->told_full = true;
  if (c->waiting.ended) c->resumed = NULL;
  return 1;
}
