/* SPDX-License-Identifier: BSD-3-Clause */
/* pipeline.h - the items of a stream in flight: a ring with one reader, any number of workers, and
 * one writer.
 *
 * Item k has place k mod n, so at most n items are in memory, and they leave in the order in which
 * they came. Workers take the oldest item that waits. The first failure, by number of its item, is
 * kept: all items before it are still written, and none after it.
 */
#ifndef AMBIT_SKELETON_PIPELINE_H
#define AMBIT_SKELETON_PIPELINE_H

#include "base/error.h"

#include <pthread.h>
#include <stdatomic.h>

/* Where items come from and go to. Each is called by one thread of its own. */
typedef struct ambit__pipeline_ends {
  /* Reads an item; *got is false at the end. */
  ambit_status (*read)(void *user, ambit__errors *errors, int64_t item, void *in, bool *got);
  /* Writes a result; the item is there too. */
  ambit_status (*write)(void *user, ambit__errors *errors, int64_t item, const void *in,
                        const void *out);
  void *user;
} ambit__pipeline_ends;

typedef enum ambit__place_state {
  PLACE_EMPTY,
  PLACE_READ,  /* an item waits for a worker */
  PLACE_TAKEN, /* a worker has it */
  PLACE_DONE   /* a result waits for the writer */
} ambit__place_state;

enum { AMBIT__PIPELINE_HEAD = 64 }; /* free bytes before `in` and before `out`, for messages */

typedef struct ambit__pipeline_place {
  ambit__place_state state;
  int64_t item;
  bool failed;             /* PLACE_DONE: there is no result */
  unsigned char *in, *out; /* owned, with their heads */
} ambit__pipeline_place;

typedef struct ambit__pipeline {
  pthread_mutex_t lock; /* guards all that follows, but for the bytes of items */
  pthread_cond_t changed;
  ambit__pipeline_ends ends;
  atomic_bool *stop; /* set: no more items are to be read */
  int n;             /* places */
  ambit__pipeline_place *places;
  int64_t read, taken, written; /* items that were, so far */
  bool ended;                   /* all items were read */
  bool is_remote;               /* items come from another process, which handles failures */
  int64_t failed;               /* first item that failed; INT64_MAX: none */
  ambit__errors error;          /* of it; remote: of any */
} ambit__pipeline;

ambit_status ambit__pipeline_open(ambit__errors *errors, int n, size_t in_bytes, size_t out_bytes,
                                  const ambit__pipeline_ends *ends, atomic_bool *stop,
                                  ambit__pipeline **pipeline);
void ambit__pipeline_close(ambit__pipeline *b);

/* The threads of the reader and the writer; `pipeline` is an ambit__pipeline. */
void *ambit__pipeline_read(void *pipeline);
void *ambit__pipeline_write(void *pipeline);

/* The oldest item that waits; NULL: there are no more, or, without `wait`, there is none yet. */
ambit__pipeline_place *ambit__pipeline_take(ambit__pipeline *b, bool wait);
bool ambit__pipeline_over(ambit__pipeline *b); /* no more items will be taken */
void ambit__pipeline_done(ambit__pipeline *b, ambit__pipeline_place *p);
/* There is no result for an item that was taken. */
void ambit__pipeline_fail(ambit__pipeline *b, ambit__pipeline_place *p, const ambit__errors *why);
/* Nothing more is read, computed or written, whatever is in flight. */
void ambit__pipeline_break(ambit__pipeline *b, const ambit__errors *why);

/* ---- without threads for reader and writer: items of another process ---- */

ambit__pipeline_place *ambit__pipeline_empty(
    ambit__pipeline *b);                                    /* for the next item; NULL: none */
void ambit__pipeline_put(ambit__pipeline *b, int64_t item); /* it is in that place */
void ambit__pipeline_end(ambit__pipeline *b);               /* there are no more */
ambit__pipeline_place *ambit__pipeline_result(ambit__pipeline *b); /* the next one; NULL: not yet */
void ambit__pipeline_clear(ambit__pipeline *b);                    /* it was passed on */
bool ambit__pipeline_is_empty(ambit__pipeline *b);                 /* and there are no more items */

#endif
