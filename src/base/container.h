/* SPDX-License-Identifier: BSD-3-Clause */
/* container.h - a file of named blocks: an HDF5 file, written without the HDF5 library.
 *
 *      0   superblock
 *     64   the directory: text, a line per block, with a checksum. Ambit reads this alone. Files
 *          for others have none, but attributes
 *          object headers: a dataset per block, a group per "group/" of their names, the root
 *          blocks, as dense arrays
 *
 * Everything before the blocks is the head. It has the checksums of the blocks, so it is written
 * last; its length is known before. All processes may write parts of a block: its checksum is the
 * sum of those of the parts.
 */
#ifndef AMBIT_BASE_CONTAINER_H
#define AMBIT_BASE_CONTAINER_H

#include "base/error.h"
#include "base/text.h"

enum {
  AMBIT__BLOCK_NAME = 288, /* bytes */
  AMBIT__BLOCK_DIMS = AMBIT_MAX_DIMS + 1,
  AMBIT__BLOCK_TEXT = 15 /* a type beyond those of fields: characters */
};

typedef struct ambit__block {
  char name[AMBIT__BLOCK_NAME]; /* "grid1/u" or "state"; unique */
  int type;                     /* an ambit_type, or AMBIT__BLOCK_TEXT */
  int ndims;                    /* 0: one value; of text, 1 */
  int64_t extents[AMBIT__BLOCK_DIMS];
  uint64_t at, bytes; /* its place in the file */
  uint64_t sum;       /* ambit__block_sum of all bytes */
} ambit__block;

/* Values beside datasets. */
typedef struct ambit__attribute {
  const char *object; /* the name of a group; "": every dataset */
  const char *name;
  int type, n; /* as of a block: n numbers, or characters */
  const void *values;
} ambit__attribute;

typedef struct ambit__container {
  int64_t serial;       /* a number of the writer: the greater, the newer */
  ambit__block *blocks; /* owned */
  size_t n, cap;
  uint64_t length; /* of the file */
  /* of a file for others, else 0: */
  const ambit__attribute *attributes;
  int nattributes;
} ambit__container;

/* Appends a block. Characters that names of HDF5 cannot have are replaced, and slashes but the
 * first, or in files for others the first two. A number is appended to a name that is there. NULL:
 * out of memory. Valid until the next one is appended. */
ambit__block *ambit__container_add(ambit__errors *errors, ambit__container *c, const char *name,
                                   int type, int ndims, const int64_t *extents);
/* The block of this name; NULL: there is none. */
ambit__block *ambit__container_find(const ambit__container *c, const char *name);
/* Gives every block its place. */
ambit_status ambit__container_place(ambit__errors *errors, ambit__container *c);
/* The head, which the caller frees. */
ambit_status ambit__container_head(ambit__errors *errors, const ambit__container *c, char **bytes,
                                   size_t *n);
/* Reads the directory of a file, which the caller frees. An error if the file is not a container or
 * its directory is damaged. */
ambit_status ambit__container_read(ambit__errors *errors, const char *path, ambit__container *c);
/* The same of an open file; `path` is for messages. */
ambit_status ambit__container_read_open(ambit__errors *errors, int fd, const char *path,
                                        ambit__container *c);
void ambit__container_free(ambit__container *c);

/* The checksum of n bytes that begin `at` bytes after the start of their block. Any other value of
 * an aligned word of 8 bytes gives another sum. */
uint64_t ambit__block_sum(uint64_t at, const void *bytes, size_t n);

/* ---- container_hdf5.c ---- */

enum { AMBIT__HDF5_DIRECTORY = 64 }; /* the place of the directory in the file, in bytes */

/* Appends all bytes before the blocks to an empty text: with the metadata of HDF5, as 1.8 and later
 * read it. */
void ambit__hdf5_head(const ambit__container *c, const char *directory, ambit__text *out);

#endif
