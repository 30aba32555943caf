/* gen.h - what the files of `ambit gen` share: one for the command and C, one for GPUs.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef AMBIT_TOOLS_GEN_H
#define AMBIT_TOOLS_GEN_H

#include "codegen/dialect.h"
#include "problem.h"

/* What is to be written. */
typedef struct tool_order {
  tool_problem problem;
  const ambit__dialect *language; /* of GPUs; NULL: C */
  const char *output;             /* NULL: standard output */
  char id[96];                    /* names the functions; "": not given */
} tool_order;

/* The whole file for a GPU; to free(), or NULL. */
char *tool_gen_gpu(ambit *a, const tool_order *o);

#endif
