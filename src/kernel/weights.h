/* weights.h - the shape of a dense array of weights: its limits, and a walk over its offsets.
 *
 * The array covers the box of offsets -low[d] .. high[d] in C order. The catalogue, the reader of
 * weights files and the writer of kernel text share these.
 */
#ifndef AMBIT_KERNEL_WEIGHTS_H
#define AMBIT_KERNEL_WEIGHTS_H

#include "base/error.h"

#include <stdbool.h>

enum {
  AMBIT__WEIGHTS_REACH = 1024,    /* farthest offset along an axis */
  AMBIT__WEIGHTS_CELLS = 1 << 21, /* cells of the box: 16 MiB of weights */
  AMBIT__WEIGHTS_POINTS = 4096    /* weights that are not zero: terms of the kernel's sum */
};

/* Checks the number of axes and the reach along each, and counts the cells of the box. `what` names
 * the weights in messages. */
ambit_status ambit__weights_shape(ambit__errors *errors, const char *what, const ambit_weights *w,
                                  size_t *cells);

/* for (bool more = ambit__offset_start(w, o); more; more = ambit__offset_step(w, o)): all offsets
 * in the order of the array. */
bool ambit__offset_start(const ambit_weights *w, int offset[AMBIT_MAX_DIMS]);
bool ambit__offset_step(const ambit_weights *w, int offset[AMBIT_MAX_DIMS]);

/* Where the offset, which must be in the box, stands in the array. */
size_t ambit__offset_place(const ambit_weights *w, const int *offset);

#endif
