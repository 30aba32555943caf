/* SPDX-License-Identifier: BSD-3-Clause */
/* belt.h - the items of a stream in flight: a ring with one reader, any number of workers, and one
 * writer.
 *
 * Item k has place k mod n, so at most n items are in memory, and they leave in the order in which
 * they came. Workers take the oldest item that waits. The first failure, by number of its item, is
 * kept: all items before it are still written, and none after it.
 */
#ifndef AMBIT_SKELETON_BELT_H
#define AMBIT_SKELETON_BELT_H

#include "base/error.h"

#include <pthread.h>
#include <stdatomic.h>

/* Where items come from and go to. Each is called by one thread of its own. */
typedef struct ambit__belt_ends {
  /* Reads an item; *got is false at the end. */
  ambit_status (*read)(void *user, ambit__errors *errors, int64_t item, void *in, bool *got);
  /* Writes a result; the item is there too. */
  ambit_status (*write)(void *user, ambit__errors *errors, int64_t item, const void *in,
                        const void *out);
  void *user;
} ambit__belt_ends;

typedef enum ambit__place_state {
  PLACE_EMPTY,
  PLACE_READ,  /* an item waits for a worker */
  PLACE_TAKEN, /* a worker has it */
  PLACE_DONE   /* a result waits for the writer */
} ambit__place_state;

enum { AMBIT__BELT_HEAD = 64 }; /* free bytes before `in` and before `out`, for messages */

typedef struct ambit__belt_place {
  ambit__place_state state;
  int64_t item;
  bool failed;             /* PLACE_DONE: there is no result */
  unsigned char *in, *out; /* owned, with their heads */
} ambit__belt_place;

typedef struct ambit__belt {
  pthread_mutex_t lock; /* guards all that follows, but for the bytes of items */
  pthread_cond_t changed;
  ambit__belt_ends ends;
  atomic_bool *stop; /* set: no more items are to be read */
  int n;             /* places */
  ambit__belt_place *places;
  int64_t read, taken, written; /* items that were, so far */
  bool ended;                   /* all items were read */
  bool is_remote;               /* items come from another process, which handles failures */
  int64_t failed;               /* first item that failed; INT64_MAX: none */
  ambit__errors error;          /* of it; remote: of any */
} ambit__belt;

ambit_status ambit__belt_open(ambit__errors *errors, int n, size_t in_bytes, size_t out_bytes,
                              const ambit__belt_ends *ends, atomic_bool *stop, ambit__belt **belt);
void ambit__belt_close(ambit__belt *b);

/* The threads of the reader and the writer; `belt` is an ambit__belt. */
void *ambit__belt_read(void *belt);
void *ambit__belt_write(void *belt);

/* The oldest item that waits; NULL: there are no more, or, without `wait`, there is none yet. */
ambit__belt_place *ambit__belt_take(ambit__belt *b, bool wait);
bool ambit__belt_over(ambit__belt *b); /* no more items will be taken */
void ambit__belt_done(ambit__belt *b, ambit__belt_place *p);
/* There is no result for an item that was taken. */
void ambit__belt_fail(ambit__belt *b, ambit__belt_place *p, const ambit__errors *why);
/* Nothing more is read, computed or written, whatever is in flight. */
void ambit__belt_break(ambit__belt *b, const ambit__errors *why);

/* ---- without threads for reader and writer: items of another process ---- */

ambit__belt_place *ambit__belt_empty(ambit__belt *b);  /* for the next item; NULL: none */
void ambit__belt_put(ambit__belt *b, int64_t item);    /* it is in that place */
void ambit__belt_end(ambit__belt *b);                  /* there are no more */
ambit__belt_place *ambit__belt_result(ambit__belt *b); /* the next one; NULL: not yet */
void ambit__belt_clear(ambit__belt *b);                /* it was passed on */
bool ambit__belt_is_empty(ambit__belt *b);             /* and there are no more items */

#endif
