/* SPDX-License-Identifier: BSD-3-Clause */
/* journal.h - the results of calls, for a program that is started again with a checkpoint.
 *
 * Such a program makes the same calls again. Up to the run that the checkpoint interrupted they are
 * *replayed*: runs return at once, and calls that return values return those of the journal. Calls
 * in callbacks are not in it, since callbacks are not called again.
 */
#ifndef AMBIT_RUNTIME_OBJECTS_JOURNAL_H
#define AMBIT_RUNTIME_OBJECTS_JOURNAL_H

#include "base/error.h"
#include "base/tape.h"

/* What a call did; the kinds of entries. */
#define AMBIT__ENTRY_MAP(X)                                                                        \
  X(RUN, "runs a program")                                                                         \
  X(SCALAR, "reads a scalar")                                                                      \
  X(FIELD, "reads a field")                                                                        \
  X(CELLS, "counts the cells of a sparse grid")                                                    \
  X(SAVE, "saves a field")                                                                         \
  X(RECORD, "reads a record")

typedef enum ambit__entry {
#define X(name, text) ENTRY_##name,
  AMBIT__ENTRY_MAP(X)
#undef X
} ambit__entry;

enum { AMBIT__JOURNAL_BYTES = 64 << 20 }; /* at most */

typedef struct ambit__journal {
  ambit__tape tape;
  bool records;     /* the context has checkpoints */
  bool replays;     /* up to the end of the tape */
  const char *from; /* the file with the tape that is replayed */
  bool is_full;     /* entries are missing */
  int inside;       /* runs and other calls in progress, whose own calls are not in the journal */
} ambit__journal;

/* At the start of a call: whether it is replayed. If so, `bytes` is its result; a call that is not
 * the next of the journal is an error. */
bool ambit__journal_replay(ambit__errors *errors, ambit__journal *j, ambit__entry kind, void *bytes,
                           size_t n);
/* At its end. */
void ambit__journal_record(ambit__journal *j, ambit__entry kind, const void *bytes, size_t n);

#endif
