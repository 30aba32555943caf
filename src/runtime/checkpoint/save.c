/* SPDX-License-Identifier: BSD-3-Clause */
/* save.c - writes a checkpoint: beside the old ones, and renamed when it is whole.
 *
 *   begin     the user's thread: what the file has, its name, a copy of all fields; collective
 *   write     a job of the writer: every process writes its parts, process 0 all else too; a single
 *             process completes the file
 *   complete  the user's thread, when the job is done everywhere: of several processes, process 0
 *             adds up the checksums and completes the file; collective
 *
 * Where there is no memory for a copy, the job runs on the fields themselves while devices wait.
 * The head has the checksums, so it is last. A file that could not be written is no error now: the
 * run goes on, and the file before stays.
 */
#include "base/clock.h"
#include "base/file.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/memory.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/objects/scribe.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A checkpoint that is being written. */
struct ambit__checkpoint_saving {
  ambit *a;
  ambit__errors errors; /* silent; of the job until it is done */
  ambit__container file;
  ambit__tape small; /* the bytes of all blocks but those of grids; owned */
  size_t fields;     /* the first block of grids */
  ambit__file *out;
  ambit__snapshot *copy; /* NULL: there is none, or the job is done */
  ambit__ticket job;
  int64_t iteration; /* of the run */
  double start;      /* time */
  double seconds;    /* that the job took */
};

typedef struct ambit__checkpoint_saving saving;

/* ---- blocks ---- */

/* A block whose bytes are known now. */
static ambit_status add(saving *s, const char *name, int type, const void *bytes, size_t n)
{
  if (!n) return AMBIT_OK;
  ambit__tape_put(&s->small, bytes, n);
  return ambit__container_add(&s->errors, &s->file, name, type, 1, (int64_t[]){(int64_t)n})
             ? AMBIT_OK
             : AMBIT_ENOMEM;
}

static ambit_status add_scalar(saving *s, ambit_scalar *x)
{
  unsigned char bytes[sizeof(double)];
  char name[AMBIT__BLOCK_NAME];

  AMBIT_TRY(ambit__scalar_take(x, 0, bytes));
  ambit__tape_put(&s->small, bytes, ambit_type_size(x->type));
  snprintf(name, sizeof name, "scalars/%.60s", x->name);
  return ambit__container_add(&s->errors, &s->file, name, (int)x->type, 0, NULL) ? AMBIT_OK
                                                                                 : AMBIT_ENOMEM;
}

static ambit_status add_values(saving *s)
{
  const ambit__checkpoint *c = s->a->checkpoint;

  for (size_t i = 0; i < c->nvalues; i++) {
    char name[AMBIT__BLOCK_NAME];

    snprintf(name, sizeof name, "values/%.60s", c->values[i].name);
    AMBIT_TRY(
        add(s, name, AMBIT_U8, c->ends ? c->values[i].last : c->values[i].at, c->values[i].bytes));
  }
  for (const ambit__link *l = s->a->scalars.next; l->owner; l = l->next)
    AMBIT_TRY(add_scalar(s, l->owner));
  return AMBIT_OK;
}

static ambit_status lay_out(saving *s)
{
  const ambit__journal *journal = &s->a->journal;
  ambit__tape state = {0};
  char *description = NULL;
  ambit_status status = AMBIT_OK;

  s->file.serial = s->a->checkpoint->serial + 1;
  if (ambit__state_describe(s->a, &description)) return s->a->errors.status;
  ambit__state_put(s->a, &state);
  s->small.failed |= state.failed;
  status = add(s, "program", AMBIT__BLOCK_TEXT, description, strlen(description));
  if (!status) status = add(s, "state", AMBIT_U8, state.bytes, state.n);
  if (!status)
    status =
        add(s, "journal", AMBIT_U8, journal->tape.bytes, journal->is_full ? 0 : journal->tape.n);
  free(description);
  ambit__tape_free(&state);
  AMBIT_TRY(status);
  AMBIT_TRY(add_values(s));
  AMBIT_CHECK(!s->small.failed, &s->errors, AMBIT_ENOMEM, "out of memory");
  s->fields = s->file.n;
  AMBIT_TRY(ambit__blocks_add(&s->errors, s->a, &s->file));
  return ambit__container_place(&s->errors, &s->file);
}

/* ---- the job ---- */

/* All but fields. */
static ambit_status write_small(saving *s)
{
  const unsigned char *bytes = s->small.bytes;

  for (size_t i = 0; i < s->fields; i++) {
    ambit__block *b = &s->file.blocks[i];

    b->sum = ambit__block_sum(0, bytes, (size_t)b->bytes);
    AMBIT_TRY(ambit__file_write_at(s->out, b->at, bytes, (size_t)b->bytes));
    bytes += b->bytes;
  }
  return AMBIT_OK;
}

static ambit_status commit(saving *s)
{
  ambit__file *out = s->out;

  s->out = NULL;
  return ambit__file_commit(out);
}

/* The whole file gets the name of the one before too, so that there is a file of its own name at
 * any moment; it is renamed where a file can have one name only. It may have gone, as a process of
 * a run that was killed may write on for a while and do the same. */
static ambit_status keep_previous(saving *s)
{
  const ambit__checkpoint *c = s->a->checkpoint;

  if (!c->is_whole || access(c->path, F_OK)) return AMBIT_OK;
  unlink(c->previous);
  AMBIT_CHECK(!link(c->path, c->previous) || !rename(c->path, c->previous) || errno == ENOENT,
              &s->errors, AMBIT_EIO, "cannot rename %s to %s: %s", c->path, c->previous,
              strerror(errno));
  return AMBIT_OK;
}

/* Writes the head, and gives the file its name. */
static ambit_status finish(saving *s)
{
  char *head = NULL;
  size_t n;
  ambit_status status = ambit__container_head(&s->errors, &s->file, &head, &n);

  if (!status) status = ambit__file_write_at(s->out, 0, head, n);
  free(head);
  AMBIT_TRY(status);
  AMBIT_TRY(ambit__file_sync(s->out));
  AMBIT_TRY(keep_previous(s));
  return commit(s);
}

static ambit_status write_all(saving *s)
{
  const ambit__net *net = s->a->net;
  ambit *from = s->copy ? &s->copy->context : s->a;

  if (!net->rank) AMBIT_TRY(write_small(s));
  AMBIT_TRY(ambit__blocks_write(&s->errors, from, s->out, &s->file, s->fields));
  if (net->size == 1) return finish(s);
  return net->rank ? commit(s) : ambit__file_sync(s->out);
}

static void write_job(void *job)
{
  saving *s = job;
  const double start = ambit__clock();
  const ambit_status status = write_all(s);

  if (status && !s->errors.status)
    ambit__raise(&s->errors, status, "the values of fields cannot be read: %s",
                 s->copy && s->copy->context.errors.text ? s->copy->context.errors.text
                                                         : ambit_status_text(status));
  ambit__snapshot_free(s->copy);
  s->copy = NULL;
  s->seconds = ambit__clock() - start;
}

/* ---- beginning ---- */

/* Whether a step failed on some process. */
static ambit_status agree(saving *s, bool *failed)
{
  *failed = s->errors.status != AMBIT_OK;
  return ambit__net_any(s->a->net, failed, 1);
}

/* Process 0 creates the file, the others open it. */
static ambit_status create(saving *s, bool *failed)
{
  const ambit__checkpoint *c = s->a->checkpoint;
  char beside[PATH_MAX] = "";

  if (!s->a->net->rank && !ambit__file_create(&s->errors, c->path, &s->out)) {
    snprintf(beside, sizeof beside, "%s", ambit__file_beside(s->out));
    ambit__file_extend(s->out, s->file.length);
  }
  AMBIT_TRY(agree(s, failed));
  if (*failed) return AMBIT_OK;
  AMBIT_TRY(ambit__net_broadcast(s->a->net, 0, beside, sizeof beside));
  if (s->a->net->rank) ambit__file_join(&s->errors, c->path, beside, &s->out);
  return agree(s, failed);
}

/* A copy of all fields, if there is memory for it. */
static ambit_status take_copy(saving *s)
{
  ambit_field **fields = NULL;
  size_t n = 0, cap = 0;
  ambit_status status = AMBIT_OK;

  for (const ambit__link *g = s->a->grids.next; g->owner; g = g->next)
    for (const ambit__link *l = ((ambit_grid *)g->owner)->fields.next; l->owner; l = l->next) {
      if (status || !ambit__field_is_kept(l->owner)) continue;
      status = ambit__make_room(&s->a->errors, &fields, n, &cap, sizeof *fields);
      if (!status) fields[n++] = l->owner;
    }
  if (!status) status = ambit__snapshot_take(s->a, (int)n, fields, &s->copy);
  free(fields);
  return status;
}

static ambit_status begin(saving *s, bool *failed)
{
  AMBIT_TRY(ambit__engines_wait(s->a));
  if (lay_out(s) && !s->errors.status) return ambit__net_agree(s->a->net);
  AMBIT_TRY(agree(s, failed));
  if (!*failed) AMBIT_TRY(create(s, failed));
  if (*failed) return AMBIT_OK;
  AMBIT_TRY(take_copy(s));
  if (s->copy) {
    s->job = ambit__scribe_add(s->a, write_job, s);
    return AMBIT_OK;
  }
  s->a->checkpoint->sync++;
  write_job(s);
  return AMBIT_OK;
}

/* ---- completing ---- */

/* Adds up the checksums of all processes. */
static ambit_status add_sums(saving *s)
{
  const size_t n = s->file.n, size = (size_t)s->a->net->size;
  uint64_t *mine = ambit__new(&s->errors, n * (size + 1), sizeof *mine);
  ambit_status status;
  bool failed;

  AMBIT_TRY(agree(s, &failed));
  for (size_t i = 0; mine && i < n; i++)
    mine[i] = s->file.blocks[i].sum;
  status = failed ? AMBIT_OK : ambit__net_gather(s->a->net, mine, n * sizeof *mine, mine + n);
  for (size_t i = 0; mine && !failed && i < n; i++) {
    s->file.blocks[i].sum = 0;
    for (size_t r = 0; r < size; r++)
      s->file.blocks[i].sum += mine[n + r * n + i];
  }
  free(mine);
  return status;
}

static ambit_status finish_together(saving *s, bool *failed)
{
  AMBIT_TRY(agree(s, failed));
  if (*failed || s->a->net->size == 1) return AMBIT_OK;
  AMBIT_TRY(add_sums(s));
  AMBIT_TRY(agree(s, failed));
  if (*failed) return AMBIT_OK;
  if (!s->a->net->rank) finish(s);
  return agree(s, failed);
}

/* The first failure is kept for the end; each is told. */
static void note_failure(const saving *s)
{
  ambit__checkpoint *c = s->a->checkpoint;

  if (s->errors.status)
    ambit__log(&s->a->settings, 0,
               "the checkpoint at iteration %" PRId64 " could not be saved: %s; the run goes on",
               s->iteration, s->errors.text ? s->errors.text : "out of memory");
  if (!c->failures++)
    c->failure = ambit__strdup(NULL, s->errors.text ? s->errors.text : "on another process");
}

static void note_success(const saving *s)
{
  ambit__checkpoint *c = s->a->checkpoint;

  c->is_whole = true;
  c->serial = s->file.serial;
  c->saves++;
  c->wrote += s->seconds;
  if (!s->a->net->rank)
    ambit__log(&s->a->settings, 1,
               "checkpoint %s at iteration %" PRId64 ": %.3g MB, written in %.3g s", c->path,
               s->iteration, (double)s->file.length * 1e-6, s->seconds);
}

static void free_saving(ambit *a)
{
  saving *s = a->checkpoint->saving;

  a->checkpoint->saving = NULL;
  if (!s) return;
  ambit__file_abort(s->out);
  ambit__container_free(&s->file);
  ambit__tape_free(&s->small);
  ambit__errors_clear(&s->errors);
  free(s);
}

bool ambit__checkpoint_is_written(const ambit *a)
{
  const saving *s = a->checkpoint->saving;

  return !s || ambit__task_done(s->job);
}

ambit_status ambit__checkpoint_complete(ambit *a)
{
  ambit__checkpoint *c = a->checkpoint;
  saving *s = c->saving;
  const double start = ambit__clock();
  ambit_status status;
  bool failed = false;

  if (!s) return AMBIT_OK;
  ambit__task_wait(s->job);
  status = finish_together(s, &failed);
  if (failed) note_failure(s);
  if (!status && !failed) note_success(s);
  free_saving(a);
  c->waited += ambit__clock() - start;
  return status;
}

void ambit__checkpoint_end(ambit *a)
{
  const saving *s = a->checkpoint->saving;

  if (!s || a->fork_number != ambit__fork_number()) return;
  if (!a->errors.status) ambit__checkpoint_complete(a);
  ambit__scribe_wait(a);
  free_saving(a);
}

ambit_status ambit__checkpoint_save(ambit *a, bool waits)
{
  ambit__checkpoint *c = a->checkpoint;
  const double start = ambit__clock();
  bool failed = false;
  ambit_status status;
  saving *s;

  AMBIT_TRY(ambit__checkpoint_complete(a));
  for (ambit__link *l = a->records.next; l->owner; l = l->next)
    AMBIT_TRY(ambit__record_collect(l->owner));
  s = c->saving = ambit__new(&a->errors, 1, sizeof *s);
  AMBIT_TRY(ambit__net_agree(a->net));
  s->a = a;
  s->iteration = c->program->iteration;
  status = begin(s, &failed);
  if (failed) note_failure(s);
  if (failed || status) free_saving(a);
  c->waited += ambit__clock() - start;
  if (!status && (waits || (a->net->size == 1 && ambit__checkpoint_is_written(a))))
    status = ambit__checkpoint_complete(a);
  c->since = 0;
  c->saved_at = ambit__clock();
  return status;
}
