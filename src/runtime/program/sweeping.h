/* SPDX-License-Identifier: BSD-3-Clause */
/* sweeping.h - a step whose cells run in order along an axis, and carry values from cell to cell.
 *
 * A carried value is a profile without that axis (objects/profile.c): all cells of a line read and
 * write the same cell of it, one after the other. Lines are independent. Where the axis is cut,
 * parts take turns, and lines are divided into blocks, so that all parts work at the same time:
 *
 *                 time 1    2        3        4        5
 *      part 0   block 0  block 1  block 2
 *      part 1            block 0  block 1  block 2            <- has the values of part 0
 *      part 2                     block 0  block 1  block 2   <- of part 1
 *
 * At the end, all copies of a carried cell get the value that the last part left.
 */
#ifndef AMBIT_RUNTIME_PROGRAM_SWEEPING_H
#define AMBIT_RUNTIME_PROGRAM_SWEEPING_H

#include "net/net.h"
#include "runtime/program/program.h"

/* Carried cells that go from one part to another, of which this process has at least one. */
typedef struct ambit__carry {
  ambit_field *field;
  int from, to;     /* parts of the grid */
  int block;        /* after which they go to the part that continues the lines; after all blocks,
                     * those of the parts that end them go to all others */
  ambit__box cells; /* of the profile */
  unsigned char *bytes;
  ambit__request request;
} ambit__carry;

typedef struct ambit__sweeping {
  int axis;
  bool up;       /* from the low face */
  int split;     /* the axis along which lines are divided into blocks */
  int64_t block; /* cells of a block along it */
  int blocks;
  ambit__carry *carries; /* in the same order on both sides; owned */
  size_t n, cap;
  int *order; /* the pieces of a launch, of this process, as lines pass them */
} ambit__sweeping;

/* Raises an error if a step that sweeps is wrong. */
ambit_status ambit__step_check_sweep(const ambit_program *p, const ambit__step *s);
/* Whether a step carries the field of an argument. */
bool ambit__step_carries(const ambit__step *s, int arg);

/* Makes p->applies[step].sweeping, if the step sweeps. */
ambit_status ambit__sweeping_make(ambit_program *p, size_t step);
void ambit__sweeping_cancel(ambit_program *p, size_t step); /* frees its messages */

/* The cells of a box that belong to a block. */
ambit__box ambit__sweeping_block(const ambit_program *p, size_t step, const ambit__box *box, int b);

#endif
