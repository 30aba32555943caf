/* SPDX-License-Identifier: BSD-3-Clause */
/* load.c - finds the newest whole checkpoint, and loads the state from it.
 *
 * All processes read the file. A file is whole if the checksums of its directory and of all its
 * blocks are right; each process checks a share of the bytes.
 */
#define _XOPEN_SOURCE 700 /* open, close */
#include "base/log.h"
#include "base/memory.h"
#include "runtime/checkpoint/checkpoint.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_FAULT = 512, MOST_TRIES = 100 /* to find a file that stays in its place */ };

/* A file that may be a checkpoint, as process 0 sees it. */
typedef struct candidate {
  const char *path;
  bool exists, good;
  int64_t serial;
  char fault[MOST_FAULT]; /* if it is not good */
} candidate;

/* ---- candidates ---- */

static void inspect(candidate *f)
{
  ambit__errors silent = {0};
  ambit__container c;

  f->exists = !access(f->path, F_OK);
  if (!f->exists) return;
  f->good = !ambit__container_read(&silent, f->path, &c);
  f->serial = f->good ? c.serial : 0;
  if (!f->good) snprintf(f->fault, sizeof f->fault, "%s", silent.text ? silent.text : "");
  if (f->good) ambit__container_free(&c);
  ambit__errors_clear(&silent);
}

static ambit_status inspect_all(ambit *a, candidate *list, int n)
{
  for (int i = 0; i < n; i++) {
    const char *path = list[i].path;

    if (!a->net->rank) inspect(&list[i]);
    AMBIT_TRY(ambit__net_broadcast(a->net, 0, &list[i], sizeof list[i]));
    list[i].path = path;
  }
  return AMBIT_OK;
}

/* Whether the sums of all blocks of an open file are right. */
static ambit_status check_sums(ambit *a, int fd, const ambit__container *c, bool *right)
{
  const size_t size = (size_t)a->net->size;
  ambit__errors silent = {0};
  uint64_t *sums = ambit__new(&a->errors, c->n * (size + 1), sizeof *sums);

  AMBIT_TRY(ambit__net_agree(a->net));
  for (size_t i = 0; *right && i < c->n; i++)
    *right = !ambit__block_check(&silent, fd, &c->blocks[i], a->net->rank, a->net->size, &sums[i]);
  ambit__errors_clear(&silent);
  AMBIT_TRY(ambit__net_gather(a->net, sums, c->n * sizeof *sums, sums + c->n));
  for (size_t i = 0; i < c->n; i++) {
    uint64_t sum = 0;

    for (size_t r = 1; r <= size; r++)
      sum += sums[r * c->n + i];
    *right &= sum == c->blocks[i].sum;
  }
  free(sums);
  return AMBIT_OK;
}

/* Opens a good candidate: c->in and c->file. `moved`: it is not the file any more that process 0
 * has inspected, as processes of a run that was killed may still write checkpoints. */
static ambit_status is_whole(ambit *a, const candidate *f, bool *whole, bool *moved)
{
  ambit__checkpoint *c = a->checkpoint;
  ambit__errors silent = {0};
  ambit_status s;

  c->in = open(f->path, O_RDONLY | O_CLOEXEC);
  *moved = c->in < 0 || ambit__container_read_open(&silent, c->in, f->path, &c->file) ||
           c->file.serial != f->serial;
  ambit__errors_clear(&silent);
  s = ambit__net_any(a->net, moved, 1);
  *whole = !*moved;
  if (!s && *whole) s = check_sums(a, c->in, &c->file, whole);
  if (!s) s = ambit__net_all(a->net, whole, 1);
  if (!s && *whole) return AMBIT_OK;
  if (c->in >= 0) close(c->in);
  ambit__container_free(&c->file);
  return s;
}

static ambit_status read_tape(ambit *a, const char *block, ambit__tape *t)
{
  const ambit__checkpoint *c = a->checkpoint;
  const ambit__block *b = ambit__container_find(&c->file, block);
  void *bytes;

  if (!b) return AMBIT_OK;
  AMBIT_TRY(ambit__block_read(a, b, &bytes));
  ambit__tape_free(t);
  *t = (ambit__tape){.bytes = bytes, .n = (size_t)b->bytes, .cap = (size_t)b->bytes};
  return AMBIT_OK;
}

/* Continues from this file. */
static ambit_status choose(ambit *a, const candidate *f)
{
  ambit__checkpoint *c = a->checkpoint;
  int64_t full;

  c->serial = f->serial;
  c->is_whole = c->path && !strcmp(f->path, c->path);
  c->from = ambit__strdup(&a->errors, f->path);
  if (!c->from)
    close(c->in);
  else if (!read_tape(a, "state", &c->state))
    read_tape(a, "journal", &a->journal.tape);
  AMBIT_TRY(ambit__net_agree(a->net));
  ambit__tape_get_number(&c->state); /* the version, which is checked later */
  full = ambit__tape_get_number(&c->state);
  c->state.at = 0;
  a->journal.is_full = full != 0;
  a->journal.replays = true;
  a->journal.from = c->from;
  return AMBIT_OK;
}

/* `again`: a file that has moved makes it return, and `again` stay true. */
static ambit_status take_first_whole(ambit *a, candidate *list, int n, bool *again)
{
  ambit__checkpoint *c = a->checkpoint;
  const bool may_return = *again;
  bool some = false;

  *again = false;
  for (int i = 0; i < n; i++) {
    bool whole = false, moved = false;

    some |= list[i].exists;
    if (list[i].good) AMBIT_TRY(is_whole(a, &list[i], &whole, &moved));
    if (whole) return choose(a, &list[i]);
    *again = may_return && moved;
    if (*again) return AMBIT_OK;
    if (list[i].exists && !a->net->rank)
      ambit__log(&a->settings, 0, "the checkpoint %s is damaged%s%s", list[i].path,
                 list[i].good ? ": a checksum is wrong" : ": ", list[i].good ? "" : list[i].fault);
    if (list[i].serial > c->serial) c->serial = list[i].serial;
  }
  AMBIT_CHECK(!some, &a->errors, AMBIT_EIO,
              "there is no whole checkpoint: %s is damaged, and there is no other one; to begin "
              "anew, remove it or use --ambit-resume=no",
              list[0].path);
  return AMBIT_OK;
}

/* Files of this run are newer than those that another one left under their names. */
static ambit_status count_on(ambit *a)
{
  ambit__checkpoint *c = a->checkpoint;
  candidate list[2] = {{.path = c->path}, {.path = c->previous}};

  if (!c->path) return AMBIT_OK;
  AMBIT_TRY(inspect_all(a, list, 2));
  for (int i = 0; i < 2; i++)
    if (list[i].good && list[i].serial > c->serial) c->serial = list[i].serial;
  return AMBIT_OK;
}

static ambit_status find(ambit *a, bool *again)
{
  ambit__checkpoint *c = a->checkpoint;
  const char *how = a->settings.resume;
  const bool by_name = strcmp(how, "auto") && strcmp(how, "any") && strcmp(how, "no");
  candidate list[2] = {{.path = by_name ? how : c->path}, {.path = c->previous}};
  const int n = by_name ? 1 : 2;

  c->takes_any = !strcmp(how, "any");
  if (!strcmp(how, "no") || !list[0].path) {
    *again = false;
    return count_on(a);
  }
  AMBIT_TRY(inspect_all(a, list, n));
  AMBIT_CHECK(!by_name || list[0].good, &a->errors, AMBIT_EIO,
              "cannot resume from %s: %s; option resume is auto, no, any or the name of a "
              "checkpoint",
              how, list[0].exists ? list[0].fault : "there is no such file");
  AMBIT_CHECK(list[0].good || !strstr(list[0].fault, "not a checkpoint"), &a->errors, AMBIT_EIO,
              "%s; it would be replaced: use another name for checkpoints", list[0].fault);
  if (n == 2 && !list[0].exists) { /* the user has removed it */
    if (list[1].exists && !a->net->rank)
      ambit__log(&a->settings, 0,
                 "there is no checkpoint %s: the run begins anew; --ambit-resume=%s continues from "
                 "the one before",
                 list[0].path, list[1].path);
    *again = false;
    return count_on(a);
  }
  if (n == 2 && list[1].good && list[1].serial > list[0].serial) {
    const candidate first = list[0];

    list[0] = list[1];
    list[1] = first;
  }
  AMBIT_TRY(take_first_whole(a, list, n, again));
  return by_name ? count_on(a) : AMBIT_OK;
}

ambit_status ambit__checkpoint_find(ambit *a)
{
  bool again = true;

  for (int i = 0; again; i++) {
    again = i < MOST_TRIES;
    AMBIT_TRY(find(a, &again));
  }
  return AMBIT_OK;
}

void ambit__checkpoint_forget(ambit *a)
{
  ambit__checkpoint *c = a->checkpoint;

  if (c->from) close(c->in);
  free(c->from);
  c->from = NULL;
  ambit__container_free(&c->file);
  ambit__tape_free(&c->state);
}

/* ---- loading ---- */

static ambit_status load_scalar(ambit *a, ambit_scalar *s, const char *block)
{
  const ambit__checkpoint *c = a->checkpoint;
  const ambit__block *b = ambit__container_find(&c->file, block);
  unsigned char bytes[sizeof(double)] = {0};
  void *found;

  if (!b || b->type != (int)s->type) return AMBIT_OK; /* if any is taken */
  AMBIT_TRY(ambit__block_read(a, b, &found));
  memcpy(bytes, found, ambit_type_size(s->type));
  free(found);
  return ambit__scalar_put(s, bytes);
}

/* Names of blocks are made unique in the order in which they are written. */
static ambit_status load_scalars(ambit *a)
{
  ambit__container names = {0};
  ambit_status status = AMBIT_OK;

  for (const ambit__link *l = a->scalars.next; !status && l->owner; l = l->next) {
    ambit_scalar *s = l->owner;
    char name[AMBIT__BLOCK_NAME];
    const ambit__block *b;

    snprintf(name, sizeof name, "scalars/%.60s", s->name);
    b = ambit__container_add(&a->errors, &names, name, (int)s->type, 0, NULL);
    status = b ? load_scalar(a, s, b->name) : AMBIT_ENOMEM;
  }
  ambit__container_free(&names);
  return status;
}

static ambit_status load_values(ambit *a)
{
  const ambit__checkpoint *c = a->checkpoint;

  for (size_t i = 0; i < c->nvalues; i++) {
    const ambit__block *b;
    char name[AMBIT__BLOCK_NAME];
    void *found;

    snprintf(name, sizeof name, "values/%.60s", c->values[i].name);
    b = ambit__container_find(&c->file, name);
    if (!b || b->bytes != c->values[i].bytes) continue; /* if any is taken */
    AMBIT_TRY(ambit__block_read(a, b, &found));
    memcpy(c->values[i].at, found, c->values[i].bytes);
    free(found);
  }
  return AMBIT_OK;
}

static ambit_status compare(ambit *a)
{
  ambit__checkpoint *c = a->checkpoint;
  const ambit__block *b = ambit__container_find(&c->file, "program");
  char *here = NULL;
  void *there = NULL;

  AMBIT_CHECK(b, &a->errors, AMBIT_EIO, "%s has no description of its program", c->from);
  if (!ambit__block_read(a, b, &there) && !ambit__state_describe(a, &here) && !c->takes_any)
    ambit__state_compare(a, c->from, there, here);
  free(there);
  free(here);
  return a->errors.status;
}

ambit_status ambit__checkpoint_load(ambit *a, ambit_program **program, ambit__standing *at)
{
  ambit__checkpoint *c = a->checkpoint;

  compare(a);
  AMBIT_TRY(ambit__net_agree(a->net));
  AMBIT_TRY(ambit__blocks_read(a));
  if (!load_scalars(a) && !load_values(a)) ambit__state_get(a, &c->state, program, at);
  AMBIT_TRY(ambit__net_agree(a->net));
  if (!a->net->rank)
    ambit__say(&a->settings, "continues from %s, iteration %lld", c->from,
               (long long)(*program)->iteration);
  a->journal.replays = false;
  return AMBIT_OK;
}
