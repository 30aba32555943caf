/* SPDX-License-Identifier: BSD-3-Clause */
/* gen.h - shared by the files of `ambit gen`: gen.c for the command and C, gen_gpu.c for GPUs.
 */
#ifndef AMBIT_TOOLS_GEN_H
#define AMBIT_TOOLS_GEN_H

#include "codegen/dialect.h"
#include "problem.h"

/* The request. */
typedef struct tool_order {
  tool_problem problem;
  const ambit__dialect *language; /* for GPUs; NULL: C */
  const char *output;             /* NULL: standard output */
  char id[96];                    /* part of the function names; "": not given */
} tool_order;

/* The complete file for a GPU, which the caller frees; NULL on failure. */
char *tool_gen_gpu(ambit *a, const tool_order *o);

#endif
