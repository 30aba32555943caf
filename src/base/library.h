/* SPDX-License-Identifier: BSD-3-Clause */
/* library.h - shared libraries that are loaded at run time, in the folders where they may be.
 *
 * A place is a folder as a pattern of glob(3). The part before a bar is an environment variable
 * with an absolute path: "CONDA_PREFIX|/lib".
 */
#ifndef AMBIT_BASE_LIBRARY_H
#define AMBIT_BASE_LIBRARY_H

#include <stdbool.h>

/* Passes the files `name`, a pattern too, in a place to `try`, the last one first, which is the
 * newest version, until it accepts one. */
bool ambit__library_seek(const char *place, const char *name, bool (*try)(const char *path));

#endif
