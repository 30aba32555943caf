/* file.h - files that appear under their name only when they are whole.
 *
 * A new file is written beside its name and renamed when it is complete and on the disk. Until
 * then, and for good if anything fails, whatever had that name stays as it was. Devices and pipes
 * (/dev/null, /dev/stdout) are written directly. A symbolic link stays a link; the file it leads to
 * is replaced.
 */
#ifndef AMBIT_BASE_FILE_H
#define AMBIT_BASE_FILE_H

#include "base/error.h"

typedef struct ambit__file ambit__file;

/* Begins a file. `errors` must live as long as it. All failures are AMBIT_EIO (or AMBIT_ENOMEM)
 * with the path and the reason. */
ambit_status ambit__file_create(ambit__errors *errors, const char *path, ambit__file **out);
/* Appends. After a failure, further writes do nothing and return the same status. */
ambit_status ambit__file_write(ambit__file *f, const void *data, size_t bytes);
/* Puts the file under its name, unless a write failed; `f` is gone in either case. */
ambit_status ambit__file_commit(ambit__file *f);
/* Forgets the file; NULL does nothing. */
void ambit__file_abort(ambit__file *f);

/* Reads a whole file of at most `max_bytes` into memory to free(). A NUL that `*size` does not
 * count follows the data, so that text can be used as it is. */
ambit_status ambit__file_read_all(ambit__errors *errors, const char *path, size_t max_bytes,
                                  void **data, size_t *size);

#endif
