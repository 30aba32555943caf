/* SPDX-License-Identifier: BSD-3-Clause */
/* inlet.h - bytes from a file or a pipe, in order; waiting for them can be ended. */
#ifndef AMBIT_IO_INLET_H
#define AMBIT_IO_INLET_H

#include "base/error.h"

#include <stdatomic.h>

enum { AMBIT__INLET_BUFFER = 1 << 16 };

typedef struct ambit__inlet {
  int fd;            /* -1: not open */
  const char *path;  /* for messages */
  atomic_bool *stop; /* set: reads end as at the end of the file */
  size_t at, end;    /* bytes of the buffer that were read ahead: at .. end - 1 */
  unsigned char buffer[AMBIT__INLET_BUFFER];
} ambit__inlet;

/* Opens a file; "-" is standard input. fd: a pipe in the place of the file; 0: none. */
ambit_status ambit__inlet_open(ambit__errors *errors, const char *path, int fd, atomic_bool *stop,
                               ambit__inlet *in);
void ambit__inlet_close(ambit__inlet *in);
int64_t ambit__inlet_bytes(const ambit__inlet *in); /* length of a regular file; else -1 */
/* Reads up to `n` bytes; fewer only at the end of the file. */
ambit_status ambit__inlet_read(ambit__inlet *in, ambit__errors *errors, void *bytes, size_t n,
                               size_t *got);
/* Reads a line of at most `most` - 1 bytes, without its line break. *length is -1 at the end of the
 * file, and `most` if the line is longer or has a NUL, or the file ends within it. */
ambit_status ambit__inlet_line(ambit__inlet *in, ambit__errors *errors, char *line, int most,
                               int *length);

#endif
