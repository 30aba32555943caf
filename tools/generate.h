/* generate.h - the C source of a problem, as the cpu device would compile it.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef AMBIT_TOOLS_GENERATE_H
#define AMBIT_TOOLS_GENERATE_H

#include "problem.h"

typedef struct tool_code {
  char *source, *plan; /* owned */
  char machine[96];    /* it was planned for */
  int threads;
} tool_code;

/* Plans and writes. `entry` is the name of the function, in a file that is compiled with ambit.h at
 * hand; NULL: a file that stands alone, with the name the cpu device gives it. Raises what is wrong. */
ambit_status tool_generate(ambit *a, const tool_problem *p, const char *entry, tool_code *code);
void tool_code_free(tool_code *code);

#endif
