/* SPDX-License-Identifier: BSD-3-Clause */
/* weights.h - dense arrays of weights: limits, and iteration over the offsets.
 *
 * The array covers the box of offsets -low[d] .. high[d] in row-major order. Shared by the
 * catalogue, the parser of weights files and the generator of kernel text.
 */
#ifndef AMBIT_KERNEL_WEIGHTS_H
#define AMBIT_KERNEL_WEIGHTS_H

#include "base/error.h"

#include <stdbool.h>

enum {
  AMBIT__WEIGHTS_CELLS = 1 << 21, /* cells of the box: 16 MiB of weights */
  AMBIT__WEIGHTS_POINTS = 4096    /* non-zero weights: terms of the kernel's sum */
};

/* Checks the number of axes and the reach along each, and counts the cells of the box. `what` names
 * the weights in messages. */
ambit_status ambit__weights_shape(ambit__errors *errors, const char *what, const ambit_weights *w,
                                  size_t *cells);

/* for (bool more = ambit__offset_start(w, o); more; more = ambit__offset_step(w, o)): all offsets
 * in row-major order. */
bool ambit__offset_start(const ambit_weights *w, int offset[AMBIT_MAX_DIMS]);
bool ambit__offset_step(const ambit_weights *w, int offset[AMBIT_MAX_DIMS]);

/* The index in the array of an offset, which must be in the box. */
size_t ambit__offset_place(const ambit_weights *w, const int *offset);

#endif
