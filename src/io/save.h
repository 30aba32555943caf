/* SPDX-License-Identifier: BSD-3-Clause */
/* save.h - fields to files, in the format of the file name. */
#ifndef AMBIT_IO_SAVE_H
#define AMBIT_IO_SAVE_H

#include "runtime/run/run.h"

/* Saves n fields of one grid. All processes have agreed on what they save. Collective. */
ambit_status ambit__save_all(const char *path, int n, ambit_field *const *fields);

#endif
