/* SPDX-License-Identifier: BSD-3-Clause */
/* launch_line.h - how a CUDA or OpenCL kernel is launched over a box of any size, as one line of
 * text:
 *
 *     ambit-launch: heat 2d threads 32x8 blocks n1 / 32, n0 / 8 at most 1024
 *
 * The parts of the line are: the name of the kernel; its number of dimensions; the threads per
 * block, x first; the number of blocks along x, y and z. n0, n1, ... are the numbers of cells to
 * update along each axis, and quotients are rounded up. "at most" limits the number of blocks; the
 * kernel must then loop over the cells that remain. "where n1 >= 24" excludes smaller boxes. In
 * full:
 *
 *     line    = "ambit-launch:" NAME N "d" "threads" N [ "x" N [ "x" N ] ]
 *               "blocks" product [ "," product [ "," product ] ] [ "at" "most" N ]
 *               [ "where" bound { "," bound } ]
 *     product = factor { "*" factor }
 *     factor  = N | size [ "/" N ]
 *     size    = "n" AXIS | "(" "n" AXIS "+" N ")"
 *     bound   = "n" AXIS ">=" N
 *
 * Registered source (ambit_register_source) and the output of `ambit gen` have such a line in a
 * comment.
 */
#ifndef AMBIT_PLAN_LAUNCH_LINE_H
#define AMBIT_PLAN_LAUNCH_LINE_H

#include "ambit_compiled.h"
#include "base/error.h"
#include "base/text.h"
#include "plan/plan.h"

#define AMBIT__LAUNCH_LINE_MARK "ambit-launch:"

/* (cells along `axis` + more) / per, rounded up; for axis -1 the number `per`. */
typedef struct ambit__factor {
  int axis;
  int64_t more, per;
} ambit__factor;

typedef struct ambit__launch_line {
  char entry[128]; /* name of the kernel */
  int ndims;
  int threads[3];  /* per block, x first */
  int nfactors[3]; /* number of factors of the blocks along x, y, z; 0: 1 block */
  ambit__factor factors[3][AMBIT_MAX_DIMS];
  int64_t most;                  /* most blocks; 0: no limit */
  int64_t least[AMBIT_MAX_DIMS]; /* fewest cells along each axis; 0: any number */
} ambit__launch_line;

/* Adds a factor to the blocks along x (0), y or z. */
void ambit__launch_line_add(ambit__launch_line *r, int along, int axis, int64_t more, int64_t per);
/* Prints the line. */
void ambit__launch_line_print(const ambit__launch_line *r, ambit__text *t);
/* Finds and parses the line in a source; `what` names the source in error messages. */
ambit_status ambit__launch_line_read(ambit__errors *errors, const char *what, const char *source,
                                     ambit__launch_line *r);
/* Whether the launch_line allows boxes of `cells` cells per axis. */
bool ambit__launch_line_fits(const ambit__launch_line *r, const int64_t *cells);
/* The launch over a box that is not empty. */
void ambit__launch_line_shape(const ambit__launch_line *r, const ambit__box *box,
                              ambit__shape *shape);

#endif
