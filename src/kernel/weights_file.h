/* weights_file.h - weights from a text file: one line per point (docs/catalogue.md has the format).
 *
 *   # average of the eight neighbours
 *   dims 2
 *   divisor 20
 *   weight -1 0 4
 *   weight -1 -1 1
 */
#ifndef AMBIT_KERNEL_WEIGHTS_FILE_H
#define AMBIT_KERNEL_WEIGHTS_FILE_H

#include "base/error.h"

/* Reads the text of such a file; free w->weights, which is owned. Mistakes are AMBIT_EINVAL, as
 * "file:line: what is wrong". The reach of the weights is that of the offsets. */
ambit_status ambit__weights_parse(ambit__errors *errors, const char *file, const char *text,
                                  ambit_weights *w);

#endif
