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
#ifndef AMBIT_IO_PIECES_H
#define AMBIT_IO_PIECES_H

#include "base/file.h"
#include "runtime/run/run.h"

/* A function applied to a piece of a field: the cells of `box`, and memory for them as a dense
 * array. */
typedef ambit_status (*ambit__piece_fn)(ambit_field *f, const ambit__box *box, void *dense,
                                        void *user);
/* Applies it to the parts of this process; or to the whole grid, in order, on all processes. */
ambit_status ambit__each_own_piece(ambit_field *f, ambit__piece_fn fn, void *user);
ambit_status ambit__each_shared_piece(ambit_field *f, ambit__piece_fn fn, void *user);

/* The number of a cell in an array of the whole grid. */
size_t ambit__cell_number(const ambit_field *f, const int64_t *at);

/* ---- a file of all processes ---- */

/* Process 0 has created a file, `*beside` (NULL: a pipe). Afterwards all have the name, to be
 * freed. Raises an error of process 0 on all. */
ambit_status ambit__share_name(ambit *a, const char *of_first, char **beside);

#endif
