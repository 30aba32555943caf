/* SPDX-License-Identifier: BSD-3-Clause */
/* checkpoint.h - the state of a context in a file, from which a program that is started again
 * continues (docs/design/0022-checkpoints.md).
 *
 *   journal (objects/)  results of calls before the interrupted run; they are replayed
 *   state.c             the description of the context, its counts and flags
 *   blocks.c            values of fields to and from a file, by all processes
 *   save.c, load.c      the file; the newest whole one
 *   look.c              when: intervals, signals; runs enter, look and leave
 *   signals.c           SIGUSR1 and SIGTERM
 *
 * A run of the outermost level enters, looks after every stretch of iterations, and leaves. All
 * functions are collective.
 */
#ifndef AMBIT_RUNTIME_CHECKPOINT_CHECKPOINT_H
#define AMBIT_RUNTIME_CHECKPOINT_CHECKPOINT_H

#include "base/container.h"
#include "base/hash.h"
#include "base/text.h"
#include "runtime/program/program.h"

/* Where a run stands: saved with it, and how it goes on. */
typedef struct ambit__standing {
  int64_t done;      /* iterations */
  bool ended;        /* it is complete, by its condition or by its callback */
  int64_t unchecked; /* iterations since the last check of its condition */
  int found;         /* of a run until nothing changes: still iterations in a row; -1: unknown */
} ambit__standing;

/* A value of the user. */
typedef struct ambit__kept_value {
  char *name; /* owned */
  void *at;
  size_t bytes;
  void *last; /* its bytes when the last run ended: later `at` may be gone; owned */
} ambit__kept_value;

typedef struct ambit__checkpoint {
  char *path, *previous; /* the newest file and the one before; owned; NULL: nothing is saved */
  bool opened;           /* the first run has begun */
  bool is_whole;         /* `path` is there and was found whole, or written */
  int64_t serial;        /* of the last file */
  int64_t every;         /* iterations between two files; 0: seconds count */
  double seconds;
  int64_t since;   /* iterations since the last one */
  double saved_at; /* time of the last one */
  /* to be loaded: */
  char *from;            /* file; owned; NULL: none, or done */
  int in;                /* the same, open: it may be renamed meanwhile */
  ambit__container file; /* its directory; owned */
  ambit__tape state;     /* its block "state"; owned */
  bool takes_any;        /* of another program too */
  /* the run of the outermost level: */
  ambit_program *program;   /* NULL: none */
  int64_t first;            /* its iteration when the run began */
  ambit__standing standing; /* at a look */
  /* the last run of the outermost level, after its end: */
  ambit_program *last;                /* NULL: none, or it was skipped */
  size_t last_at;                     /* bytes of the journal before it */
  char last_shape[AMBIT__HASH_CHARS]; /* of the context */
  bool ends;                          /* its end is being saved */
  /* the run that was interrupted, after ambit_resume: its standing waits for the next run of */
  ambit_program *resumed; /* NULL: no such run */
  ambit__standing waiting;
  ambit__kept_value *values; /* owned */
  size_t nvalues, values_cap;
  struct ambit__checkpoint_saving *saving; /* a file that is being written; NULL: none; owned */
  int saves, failures;
  int sync;        /* those for which there was no memory for a copy */
  double waited;   /* seconds in which devices waited for copies and files */
  double wrote;    /* seconds in which files were written */
  char *failure;   /* the first one; owned */
  bool told_full;  /* a warning about the journal was printed */
  bool is_watched; /* signals are watched for this context */
} ambit__checkpoint;

/* ---- look.c ---- */

/* Before a run of `most` iterations. *skip: it was complete before the checkpoint, and
 * its results are set. Else *at says how far it is; all zero: it begins. */
ambit_status ambit__checkpoint_enter(ambit_program *p, int64_t most, ambit__standing *at,
                                     bool *skip);
/* After a run, with its status. */
void ambit__checkpoint_leave(ambit_program *p, bool skipped, ambit_status s);
/* Whether the run that is in progress may be saved: outermost, with checkpoints. */
bool ambit__checkpoint_is_due(const ambit_program *p);
/* Iterations to the next look. */
int64_t ambit__checkpoint_left(const ambit_program *p);
/* After a stretch of `ran` iterations that took `seconds`: saves if it is time. */
ambit_status ambit__checkpoint_look(ambit_program *p, int64_t ran, double seconds,
                                    const ambit__standing *at);

/* ---- save.c ---- */

/* Saves the state: begins to, if it does not wait. A failure to write is not an error of the
 * context: the run goes on, and the error is raised when the context is closed. Collective. */
ambit_status ambit__checkpoint_save(ambit *a, bool waits);
/* Whether this process has written its share of the file that was begun, or none was. */
bool ambit__checkpoint_is_written(const ambit *a);
/* Waits for that, on all processes, and gives the file its name. Collective. */
ambit_status ambit__checkpoint_complete(ambit *a);
/* The same before the context is closed, which may have failed. */
void ambit__checkpoint_end(ambit *a);

/* ---- load.c ---- */

/* Finds the file to continue from, if any: c->from, c->file, c->state and the journal. */
ambit_status ambit__checkpoint_find(ambit *a);
void ambit__checkpoint_forget(ambit *a); /* that file */
/* Loads the state from it. The program and the standing of the run that was
 * interrupted. */
ambit_status ambit__checkpoint_load(ambit *a, ambit_program **program, ambit__standing *at);

/* ---- state.c ---- */

/* All grids, fields, scalars, values and programs, a line each. */
ambit_status ambit__state_describe(ambit *a, char **text);
/* Raises an error unless both texts are the same. */
ambit_status ambit__state_compare(ambit *a, const char *path, const char *there, const char *here);
/* Tells whether objects were created or destroyed, or steps appended. */
void ambit__state_shape(const ambit *a, char shape[AMBIT__HASH_CHARS]);
/* Counts, flags and boundaries. */
void ambit__state_put(ambit *a, ambit__tape *t);
ambit_status ambit__state_get(ambit *a, ambit__tape *t, ambit_program **program,
                              ambit__standing *at);
/* The number of a program, from 0. */
int64_t ambit__program_number(const ambit_program *p);
/* Iterations and convergence of a program and of those that it calls. */
void ambit__progress_put(const ambit_program *p, ambit__tape *t);
void ambit__progress_get(const ambit *a, ambit__tape *t);

/* ---- blocks.c ---- */

/* Fields that have values of their own to save. */
static inline bool ambit__field_is_kept(const ambit_field *f)
{
  return !f->base && !f->is_activity;
}
/* Appends a block for the active cells of a grid and one for each field; in this order they are
 * written and read. */
ambit_status ambit__blocks_add(ambit__errors *errors, ambit *a, ambit__container *c);
/* The name of the block of an object: "grid1/u", in the order of blocks. */
ambit_status ambit__blocks_write(ambit__errors *errors, ambit *a, struct ambit__file *file,
                                 ambit__container *c, size_t first);
/* Fields from the file to continue from. */
ambit_status ambit__blocks_read(ambit *a);
/* All bytes of a block of it, which the caller frees. */
ambit_status ambit__block_read(ambit *a, const ambit__block *b, void **bytes);
/* The checksum of the share of a process of the bytes of a block. */
ambit_status ambit__block_check(ambit__errors *errors, int fd, const ambit__block *b, int rank,
                                int size, uint64_t *sum);

/* ---- signals.c ---- */

enum { AMBIT__ASKED_SAVE = 1, AMBIT__ASKED_END = 2 };

/* Handles SIGUSR1 and SIGTERM, unless the program ignores them, from now on; and no more. */
void ambit__signals_watch(void);
void ambit__signals_unwatch(void);
void ambit__signals_enter(void); /* a run with checkpoints begins, */
void ambit__signals_leave(void); /* ... ends */
int ambit__signals_asked(void);  /* AMBIT__ASKED_... since the last call; END stays */
/* After the last save of a process that SIGTERM ends: lets it end. Returns if the program has a
 * handler of its own. */
void ambit__signals_end(void);
/* For a program that waits for signals in a thread (tools/signals.c). False: end as usual. */
bool ambit__signals_take(int number);

#endif
