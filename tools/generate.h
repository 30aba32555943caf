/* generate.h - the source of a problem, as a device would compile it.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef AMBIT_TOOLS_GENERATE_H
#define AMBIT_TOOLS_GENERATE_H

#include "plan/plan.h"
#include "problem.h"

typedef struct tool_code {
  char *source, *plan; /* owned */
  ambit__plan choice;  /* that `plan` describes */
  char machine[96];    /* it was planned for; "" for GPUs */
  int threads;
} tool_code;

/* The kernel of a problem on its grid, with fields whose cells lie side by side, each parameter its own. */
typedef struct tool_group {
  ambit__group group; /* with the two below: it cannot be copied */
  ambit__group_step step;
  ambit__binding bind[AMBIT_MAX_PARAMS];
} tool_group;
void tool_group_make(const ambit *a, const tool_problem *p, const char *entry, tool_group *g);

/* Plans and writes. Raises what is wrong. */
ambit_status tool_emit(ambit *a, const ambit__group *g, const ambit__target *target,
                       tool_code *code);

/* The same for the cpu device of this machine. `entry` is the name of the function, in a file that is compiled with ambit.h
 * at hand; NULL: a file that stands alone, with the name the cpu device gives it. */
ambit_status tool_generate(ambit *a, const tool_problem *p, const char *entry, tool_code *code);
void tool_code_free(tool_code *code);

#endif
