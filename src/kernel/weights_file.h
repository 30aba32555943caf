/* SPDX-License-Identifier: BSD-3-Clause */
/* weights_file.h - weights from a text file, one line per point (format: docs/catalogue.md).
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

/* Parses the text of a weights file. The caller frees w->weights. Mistakes raise AMBIT_EINVAL with
 * "file:line: ...". The reach of the weights is that of the offsets. */
ambit_status ambit__weights_parse(ambit__errors *errors, const char *file, const char *text,
                                  ambit_weights *w);

#endif
