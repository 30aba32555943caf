/* SPDX-License-Identifier: BSD-3-Clause */
/* generate.h - generates the source of a problem, as a device would compile it.
 */
#ifndef AMBIT_TOOLS_GENERATE_H
#define AMBIT_TOOLS_GENERATE_H

#include "plan/plan.h"
#include "problem.h"

typedef struct tool_code {
  char *source, *plan; /* owned */
  ambit__plan choice;  /* described by `plan` */
  char machine[96];    /* planned for this machine; "" for GPUs */
  int threads;
} tool_code;

/* The kernel of a problem on its grid, with dense fields and a different field for each
 * parameter. */
typedef struct tool_group {
  ambit__group group; /* points to `bind`: it cannot be copied */
  ambit__binding bind[AMBIT_MAX_PARAMS];
  ambit__rule *simplified; /* that of the step, or NULL */
} tool_group;
/* Release with tool_group_free. */
void tool_group_make(ambit *a, const tool_problem *p, const char *entry, tool_group *g);
void tool_group_free(tool_group *g);

/* Plans and generates; raises an error on failure. */
ambit_status tool_emit(ambit *a, const ambit__group *g, const ambit__target *target,
                       tool_code *code);

/* The same for the cpu device of this machine. `entry` is the name of the function, in a file that
 * includes ambit.h; NULL: a self-contained file, with the name that the cpu device uses. */
ambit_status tool_generate(ambit *a, const tool_problem *p, const char *entry, tool_code *code);
void tool_code_free(tool_code *code);

#endif
