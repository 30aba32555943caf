/* SPDX-License-Identifier: BSD-3-Clause */
/* save.c - writes a checkpoint: beside the old ones, and renamed when it is whole.
 *
 * Process 0 creates the file and writes all but the values of fields, which every process writes
 * for its own parts. The head has the checksums, so it is last. A file that could not be written is
 * no error now: the run goes on, and the file before stays.
 */
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "runtime/checkpoint/checkpoint.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A checkpoint that is being written. */
typedef struct saving {
  ambit *a;
  ambit__errors errors; /* silent */
  ambit__container file;
  char *description; /* owned */
  ambit__tape state; /* owned */
  size_t fields;     /* the first block of grids */
  ambit__file *out;
} saving;

/* ---- blocks ---- */

static ambit_status add(saving *s, const char *name, int type, size_t bytes)
{
  if (!bytes) return AMBIT_OK;
  return ambit__container_add(&s->errors, &s->file, name, type, 1, (int64_t[]){(int64_t)bytes})
             ? AMBIT_OK
             : AMBIT_ENOMEM;
}

static ambit_status add_values(saving *s)
{
  const ambit__checkpoint *c = s->a->checkpoint;

  for (size_t i = 0; i < c->nvalues; i++) {
    char name[AMBIT__BLOCK_NAME];

    snprintf(name, sizeof name, "values/%.60s", c->values[i].name);
    AMBIT_TRY(add(s, name, AMBIT_U8, c->values[i].bytes));
  }
  for (const ambit__link *l = s->a->scalars.next; l->owner; l = l->next) {
    const ambit_scalar *x = l->owner;
    char name[AMBIT__BLOCK_NAME];

    snprintf(name, sizeof name, "scalars/%.60s", x->name);
    if (!ambit__container_add(&s->errors, &s->file, name, x->type, 0, NULL)) return AMBIT_ENOMEM;
  }
  return AMBIT_OK;
}

static ambit_status lay_out(saving *s)
{
  s->file.serial = s->a->checkpoint->serial + 1;
  if (ambit__state_describe(s->a, &s->description)) return s->a->errors.status;
  ambit__state_put(s->a, &s->state);
  AMBIT_CHECK(!s->state.failed, &s->errors, AMBIT_ENOMEM, "out of memory");
  AMBIT_TRY(add(s, "program", AMBIT__BLOCK_TEXT, strlen(s->description)));
  AMBIT_TRY(add(s, "state", AMBIT_U8, s->state.n));
  AMBIT_TRY(add(s, "journal", AMBIT_U8, s->a->journal.is_full ? 0 : s->a->journal.tape.n));
  AMBIT_TRY(add_values(s));
  s->fields = s->file.n;
  AMBIT_TRY(ambit__blocks_add(&s->errors, s->a, &s->file));
  return ambit__container_place(&s->errors, &s->file);
}

/* Writes the next block whole. */
static ambit_status write_block(saving *s, size_t *next, const void *bytes, size_t n)
{
  ambit__block *b = &s->file.blocks[*next];

  if (!n) return AMBIT_OK;
  ++*next;
  b->sum = ambit__block_sum(0, bytes, n);
  return ambit__file_write_at(s->out, b->at, bytes, n);
}

/* All but fields. */
static ambit_status write_small(saving *s)
{
  const ambit__checkpoint *c = s->a->checkpoint;
  const ambit__tape *journal = &s->a->journal.tape;
  size_t next = 0;

  AMBIT_TRY(write_block(s, &next, s->description, strlen(s->description)));
  AMBIT_TRY(write_block(s, &next, s->state.bytes, s->state.n));
  AMBIT_TRY(write_block(s, &next, journal->bytes, s->a->journal.is_full ? 0 : journal->n));
  for (size_t i = 0; i < c->nvalues; i++)
    AMBIT_TRY(write_block(s, &next, c->values[i].at, c->values[i].bytes));
  for (const ambit__link *l = s->a->scalars.next; l->owner; l = l->next) {
    unsigned char bytes[sizeof(double)];

    AMBIT_TRY(ambit__scalar_take(l->owner, 0, bytes));
    AMBIT_TRY(write_block(s, &next, bytes, ambit_type_size(((ambit_scalar *)l->owner)->type)));
  }
  return AMBIT_OK;
}

/* ---- the file ---- */

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

static ambit_status commit(saving *s)
{
  ambit__file *out = s->out;

  s->out = NULL;
  return ambit__file_commit(out);
}

/* Process 0 is last. A whole file becomes the one before. */
static ambit_status finish(saving *s, bool *failed)
{
  ambit__checkpoint *c = s->a->checkpoint;
  char *head = NULL;
  size_t n;

  if (s->a->net->rank) commit(s);
  AMBIT_TRY(agree(s, failed));
  if (*failed) return AMBIT_OK;
  if (!s->a->net->rank && !ambit__container_head(&s->errors, &s->file, &head, &n) &&
      !ambit__file_write_at(s->out, 0, head, n) && !ambit__file_sync(s->out)) {
    if (c->is_whole && rename(c->path, c->previous))
      ambit__raise(&s->errors, AMBIT_EIO, "cannot rename %s to %s: %s", c->path, c->previous,
                   strerror(errno));
    else
      commit(s);
  }
  free(head);
  return agree(s, failed);
}

static ambit_status write_all(saving *s, bool *failed)
{
  if (lay_out(s) && !s->errors.status) return ambit__net_agree(s->a->net);
  AMBIT_TRY(agree(s, failed));
  if (!*failed) AMBIT_TRY(create(s, failed));
  if (*failed) return AMBIT_OK;
  if (!s->a->net->rank) write_small(s);
  if (!s->errors.status) ambit__blocks_write(&s->errors, s->a, s->out, &s->file, s->fields);
  AMBIT_TRY(agree(s, failed));
  if (*failed) return AMBIT_OK;
  AMBIT_TRY(add_sums(s));
  return finish(s, failed);
}

/* The first failure is kept for the end; each is told. */
static void note_failure(saving *s)
{
  ambit__checkpoint *c = s->a->checkpoint;

  if (s->errors.status)
    ambit__log(&s->a->settings, 0,
               "the checkpoint at iteration %" PRId64 " could not be saved: %s; the run goes on",
               c->program->iteration, s->errors.text ? s->errors.text : "out of memory");
  if (!c->failures++)
    c->failure = ambit__strdup(NULL, s->errors.text ? s->errors.text : "on another process");
}

ambit_status ambit__checkpoint_save(ambit *a)
{
  ambit__checkpoint *c = a->checkpoint;
  const double start = ambit__clock();
  saving s = {.a = a};
  bool failed = false;
  ambit_status status = ambit__engines_wait(a);

  if (!status) status = write_all(&s, &failed);
  if (failed) note_failure(&s);
  if (!status && !failed) {
    c->is_whole = true;
    c->serial++;
    c->saves++;
    if (!a->net->rank)
      ambit__log(&a->settings, 1, "checkpoint %s at iteration %" PRId64 ": %.3g MB in %.3g s",
                 c->path, c->program->iteration, (double)s.file.length * 1e-6,
                 ambit__clock() - start);
  }
  c->waited += ambit__clock() - start;
  c->since = 0;
  c->saved_at = ambit__clock();
  ambit__file_abort(s.out);
  ambit__container_free(&s.file);
  ambit__tape_free(&s.state);
  ambit__errors_clear(&s.errors);
  free(s.description);
  return status;
}
