/* npy.h - arrays as NumPy files (format 1.0 to 3.0), in pieces, so that nothing is held twice.
 *
 * Written: C order, the machine's byte order. Read: C order, either byte order, the types below and
 * bool (as unsigned char). Anything else is refused with the NumPy call that makes it readable. A
 * file that lies about its size is found out before memory is allocated for it.
 */
#ifndef AMBIT_IO_NPY_H
#define AMBIT_IO_NPY_H

#include "base/error.h"

#include <stdbool.h>

enum { AMBIT__NPY_DIMS = AMBIT_MAX_DIMS + 1 }; /* the axes of a grid, and components */

/* What the header of a file says. */
typedef struct ambit__npy_info {
  ambit_type type;
  int ndims;                      /* 0 for a single value */
  int64_t shape[AMBIT__NPY_DIMS]; /* unused ones are 0 */
  size_t bytes;                   /* of all the values */
  size_t offset;                  /* of the first value in the file */
  bool swapped;                   /* the other byte order; undone while reading */
  bool seekable;                  /* values can be read in any order: it is no pipe */
} ambit__npy_info;

typedef struct ambit__npy ambit__npy;               /* being written */
typedef struct ambit__npy_reader ambit__npy_reader; /* being read */

/* Begins a file. `errors` must live as long as it. */
ambit_status ambit__npy_begin(ambit__errors *errors, const char *path, ambit_type type, int ndims,
                              const int64_t *shape, ambit__npy **out);
ambit_status ambit__npy_append(ambit__npy *n, const void *data, size_t bytes);
/* Lets others write too (see base/file.h). *beside: what they need to join; NULL: it is a pipe, and only this process can
 * append. */
ambit_status ambit__npy_share(ambit__npy *n, const char **beside);
ambit_status ambit__npy_join(ambit__errors *errors, const char *path, const char *beside,
                             ambit_type type, int ndims, const int64_t *shape, ambit__npy **out);
/* Values that begin `at` bytes after the first one. */
ambit_status ambit__npy_put(ambit__npy *n, size_t at, const void *data, size_t bytes);
/* Puts the file under its name if it is whole, or was shared; `n` is gone in either case. */
ambit_status ambit__npy_end(ambit__npy *n);
void ambit__npy_abort(ambit__npy *n); /* NULL does nothing */

/* Reads piece by piece: whole values, in order. */
ambit_status ambit__npy_open(ambit__errors *errors, const char *path, ambit__npy_info *info,
                             ambit__npy_reader **out);
ambit_status ambit__npy_next(ambit__npy_reader *r, void *data, size_t bytes);
/* Reads from anywhere in a file that is seekable: whole values, `at` bytes after the first one. */
ambit_status ambit__npy_get(ambit__npy_reader *r, size_t at, void *data, size_t bytes);
void ambit__npy_close(ambit__npy_reader *r); /* NULL does nothing */

/* The header alone, and the whole array (free it). */
ambit_status ambit__npy_read_header(ambit__errors *errors, const char *path, ambit__npy_info *info);
ambit_status ambit__npy_read(ambit__errors *errors, const char *path, ambit__npy_info *info,
                             void **data);

#endif
