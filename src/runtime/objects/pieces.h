/* SPDX-License-Identifier: BSD-3-Clause */
/* pieces.h - fields in files that all processes write or read together, in pieces: no process holds
 * a whole field twice.
 *
 * A file holds the cells in row-major order. A part is a box, which is a set of contiguous runs in
 * the file: whole planes or rows where the part spans these axes, else pieces of rows.
 *
 *        +--------+---+
 *        | part 0 | 1 |      the file: row 0 of part 0, row 0 of part 1, row 1 of part 0 ...
 *        +--------+---+
 */
#ifndef AMBIT_RUNTIME_OBJECTS_PIECES_H
#define AMBIT_RUNTIME_OBJECTS_PIECES_H

#include "runtime/objects/objects.h"

/* The shape of an array of the whole field, with its components last if there are several; returns
 * its dimensions. */
int ambit__field_shape(const ambit_field *f, int64_t *shape);

/* A function applied to a piece of a field: the cells of `box`, and memory for them as a dense
 * array. */
typedef ambit_status (*ambit__piece_fn)(ambit_field *f, const ambit__box *box, void *dense,
                                        void *user);
/* Applies it to the parts of this process, with `once` not to copies of cells that other parts have
 * too; or to the whole grid, in order, on all processes. */
ambit_status ambit__each_own_piece(ambit_field *f, bool once, ambit__piece_fn fn, void *user);
ambit_status ambit__each_shared_piece(ambit_field *f, ambit__piece_fn fn, void *user);

/* Applies a function to the bytes of a piece, a dense array with so many per cell, that are
 * adjacent in an array of the whole grid; `at` is their place there. */
typedef ambit_status (*ambit__bytes_fn)(void *user, size_t at, void *bytes, size_t n);
ambit_status ambit__each_bytes(const ambit_field *f, const ambit__box *piece, void *dense,
                               size_t cell, ambit__bytes_fn fn, void *user);

/* ---- a file of all processes ---- */

/* Process 0 has created a file, `*beside` (NULL: a pipe). Afterwards all have the name, to be
 * freed. Raises an error of process 0 on all. */
ambit_status ambit__share_name(ambit *a, const char *of_first, char **beside);

#endif
