/* file.h - files that appear under their name only when they are whole.
 *
 * A new file is written beside its name and renamed when it is complete and on the disk. Until
 * then, and for good if anything fails, whatever had that name stays as it was. Devices and pipes
 * (/dev/null, /dev/stdout) are written directly. A symbolic link stays a link; the file it leads to
 * is replaced, or made.
 *
 * While it is written it is locked. What processes left that died meanwhile is removed by the next that writes a file of that
 * name.
 *
 * Several processes can write one file: one of them creates it and gives it its length; the others join in; each
 * writes what it has, where it belongs; when all have committed, the one that created it commits.
 */
#ifndef AMBIT_BASE_FILE_H
#define AMBIT_BASE_FILE_H

#include "base/error.h"

typedef struct ambit__file ambit__file;

/* Begins a file. `errors` must live as long as it. All failures are AMBIT_EIO (or AMBIT_ENOMEM)
 * with the path and the reason. */
ambit_status ambit__file_create(ambit__errors *errors, const char *path, ambit__file **out);
/* Whether a file of that name could be begun; nothing stays of the try. A device or a pipe is not opened. */
ambit_status ambit__file_try(ambit__errors *errors, const char *path);
/* Appends. After a failure, further writes do nothing and return the same status. */
ambit_status ambit__file_write(ambit__file *f, const void *data, size_t bytes);
/* Puts the file under its name, unless a write failed; `f` is gone in either case. Who joined only sees what it wrote
 * safely on the disk. */
ambit_status ambit__file_commit(ambit__file *f);
/* Where it is until it is committed; NULL: it is a device or a pipe, written in order by one process. */
const char *ambit__file_beside(const ambit__file *f);
/* Gives it so many bytes, now; what was appended stays in front. */
ambit_status ambit__file_extend(ambit__file *f, uint64_t bytes);
/* Takes part in a file that another process creates as `path`; `beside` is what ambit__file_beside gave it. */
ambit_status ambit__file_join(ambit__errors *errors, const char *path, const char *beside,
                              ambit__file **out);
/* Writes within its length. */
ambit_status ambit__file_write_at(ambit__file *f, uint64_t offset, const void *data, size_t bytes);
/* Forgets the file; NULL does nothing. */
void ambit__file_abort(ambit__file *f);

/* Reads a whole file of at most `max_bytes` into memory to free(). A NUL that `*size` does not
 * count follows the data, so that text can be used as it is. */
ambit_status ambit__file_read_all(ambit__errors *errors, const char *path, size_t max_bytes,
                                  void **data, size_t *size);
/* The same for text: a NUL byte in it, which would end it early, is an error with its line. */
ambit_status ambit__file_read_text(ambit__errors *errors, const char *path, size_t max_bytes,
                                   char **text);

#endif
