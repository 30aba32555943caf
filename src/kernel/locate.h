/* SPDX-License-Identifier: BSD-3-Clause */
/* locate.h - where the text of AMBIT_SOURCE(...) stands in the user's file. */
#ifndef AMBIT_KERNEL_LOCATE_H
#define AMBIT_KERNEL_LOCATE_H

#include "kernel/kernel.h"

/* The text of the file that a joined text comes from, to free(), and in `place` the same place
 * there. NULL, and place unchanged: the text is not joined, or the file cannot be read or has
 * changed. */
char *ambit__locate(const char *file, const char *text, ambit__place *place);

#endif
