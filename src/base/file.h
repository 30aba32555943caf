/* SPDX-License-Identifier: BSD-3-Clause */
/* file.h - files that appear under their name only when they are complete.
 *
 * A new file is written to a temporary name beside its target and renamed when it is complete and
 * on disk. Until then, and if anything fails, an existing file of that name stays unchanged.
 * Devices and pipes (/dev/null, /dev/stdout) are written directly. A symbolic link is kept; its
 * target is replaced, or created if it does not exist.
 *
 * The temporary file is locked while it is written. Temporary files of dead processes are removed
 * by the next process that writes a file of that name.
 *
 * Several processes can write one file: one of them creates it and sets its length, the others
 * join, and each writes its own ranges. When all others have committed, the creator commits.
 */
#ifndef AMBIT_BASE_FILE_H
#define AMBIT_BASE_FILE_H

#include "base/error.h"

typedef struct ambit__file ambit__file;

/* Creates a file. `errors` must outlive it. Failures raise AMBIT_EIO (or AMBIT_ENOMEM) with the
 * path and the reason. */
ambit_status ambit__file_create(ambit__errors *errors, const char *path, ambit__file **out);
/* Writes directly to an open descriptor, which stays open; `name` is for messages. */
ambit_status ambit__file_adopt(ambit__errors *errors, int fd, const char *name, ambit__file **out);
/* Checks that a file of this name could be created, and leaves no trace. Does not open devices and
 * pipes. */
ambit_status ambit__file_try(ambit__errors *errors, const char *path);
/* Appends. After a failure, further writes do nothing and return the same status. */
ambit_status ambit__file_write(ambit__file *f, const void *data, size_t bytes);
/* Passes everything appended so far to the system. */
ambit_status ambit__file_flush(ambit__file *f);
/* Ensures that everything written so far is on disk. */
ambit_status ambit__file_sync(ambit__file *f);
/* Renames the file to its final name, unless a write failed. Frees `f` in any case. For a process
 * that joined, only ensures that its data is on disk. */
ambit_status ambit__file_commit(ambit__file *f);
/* The temporary name; NULL: a device or a pipe, which one process writes in order. */
const char *ambit__file_beside(const ambit__file *f);
/* Sets the length of the file; data appended so far is kept. */
ambit_status ambit__file_extend(ambit__file *f, uint64_t bytes);
/* Opens a file that another process creates as `path`; `beside` is its ambit__file_beside. */
ambit_status ambit__file_join(ambit__errors *errors, const char *path, const char *beside,
                              ambit__file **out);
/* Writes within the length of the file. Few bytes wait for those that belong behind them, at most
 * until the file is flushed, synced or committed, which reports a failure. */
ambit_status ambit__file_write_at(ambit__file *f, uint64_t offset, const void *data, size_t bytes);
/* From now on, failures are raised in `errors`: another thread writes, for instance. */
void ambit__file_tell(ambit__file *f, ambit__errors *errors);
/* Discards the file; NULL is ignored. */
void ambit__file_abort(ambit__file *f);

/* Reads n bytes of an open file from a place on; `path` is for messages. */
ambit_status ambit__file_read_at(ambit__errors *errors, int fd, const char *path, uint64_t at,
                                 void *bytes, size_t n);

/* Reads a whole file of at most `max_bytes` into memory, which the caller frees. A NUL follows the
 * data, not counted in `*size`, so that text can be used directly. */
ambit_status ambit__file_read_all(ambit__errors *errors, const char *path, size_t max_bytes,
                                  void **data, size_t *size);
/* The same for text. A NUL byte, which would end the text early, is an error with its line. */
ambit_status ambit__file_read_text(ambit__errors *errors, const char *path, size_t max_bytes,
                                   char **text);

#endif
