/* recipe.h - how a kernel in CUDA or OpenCL is launched over a box of any size, as one line of text:
 *
 *     ambit-launch: heat 2d threads 32x8 blocks n1 / 32, n0 / 8 at most 1024
 *
 * The kernel's name; the number of dimensions it is for; threads of a block, x first; the number of blocks along x, y and z, where
 * n0, n1, ... are the cells to update along each axis and every quotient is rounded up. With "at most", fewer blocks are
 * launched where there would be more than that, and the kernel takes up by itself what they leave; "where n1 >= 24" says
 * that smaller boxes are not for this kernel. In full:
 *
 *     line    = "ambit-launch:" NAME N "d" "threads" N [ "x" N [ "x" N ] ]
 *               "blocks" product [ "," product [ "," product ] ] [ "at" "most" N ]
 *               [ "where" bound { "," bound } ]
 *     product = factor { "*" factor }
 *     factor  = N | size [ "/" N ]
 *     size    = "n" AXIS | "(" "n" AXIS "+" N ")"
 *     bound   = "n" AXIS ">=" N
 *
 * Source that is registered (ambit_register_source) has such a line in a comment, and so has what `ambit gen` writes.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef AMBIT_PLAN_RECIPE_H
#define AMBIT_PLAN_RECIPE_H

#include "base/error.h"
#include "base/text.h"
#include "plan/plan.h"

#define AMBIT__RECIPE_MARK "ambit-launch:"

/* The cells along an axis and `more`, over `per`, rounded up; for axis -1 the number `per`. */
typedef struct ambit__factor {
  int axis;
  int64_t more, per;
} ambit__factor;

typedef struct ambit__recipe {
  char entry[128]; /* name of the kernel */
  int ndims;
  int threads[3];  /* of a block, x first */
  int nfactors[3]; /* whose product are the blocks along x, y, z; of 0 factors: 1 */
  ambit__factor factors[3][AMBIT_MAX_DIMS];
  int64_t most;                  /* blocks; 0: as many as computed */
  int64_t least[AMBIT_MAX_DIMS]; /* cells along each axis; 0: any number */
} ambit__recipe;

/* One more factor of the blocks along x (0), y or z. */
void ambit__recipe_add(ambit__recipe *r, int along, int axis, int64_t more, int64_t per);
/* The line. */
void ambit__recipe_print(const ambit__recipe *r, ambit__text *t);
/* Finds and reads the line in a source; `what` names the source in the message. */
ambit_status ambit__recipe_read(ambit__errors *errors, const char *what, const char *source,
                                ambit__recipe *r);
/* Whether it is for boxes of so many cells per axis. */
bool ambit__recipe_fits(const ambit__recipe *r, const int64_t *cells);
/* The launch over a box of so many cells per axis, none of them 0. */
void ambit__recipe_shape(const ambit__recipe *r, const int64_t *cells, ambit__shape *shape);

#endif
