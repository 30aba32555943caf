/* SPDX-License-Identifier: BSD-3-Clause */
/* save.h - fields to files, in the format of the file name.
 *
 * A file is begun by all processes together. Then each writes its own cells, perhaps on another
 * thread and from copies of the fields; and all together end it.
 */
#ifndef AMBIT_IO_SAVE_H
#define AMBIT_IO_SAVE_H

#include "runtime/run/run.h"

/* A file that is being written; the first member of the struct of its format. */
typedef struct ambit__saving {
  ambit *context; /* of the fields given */
  int n;
  ambit_field *const *fields; /* those given, or copies of them: they are written */
  bool in_order;              /* a pipe: `write` is collective, and the fields are those given */
  ambit_status (*write)(struct ambit__saving *s);  /* the cells of this process */
  ambit_status (*commit)(struct ambit__saving *s); /* completes the file; of process 0, its name */
  void (*tell)(struct ambit__saving *s, ambit__errors *errors); /* as ambit__file_tell */
  void (*free)(struct ambit__saving *s);                        /* discards a file without commit */
} ambit__saving;

/* n fields of one grid, .npy, .vtkhdf or .h5. All processes have agreed on what they save. Copies
 * `path`, not the list. Collective. */
ambit_status ambit__save_begin(const char *path, int n, ambit_field *const *fields,
                               ambit__saving **out);
/* When all have written, or an error was raised in the context: gives the file its name, or
 * discards it. Frees it; NULL is ignored. Collective. */
ambit_status ambit__save_end(ambit__saving *s);
/* Begins, writes and ends a file; pictures too. Collective. */
ambit_status ambit__save_all(const char *path, int n, ambit_field *const *fields);

#endif
