/* SPDX-License-Identifier: BSD-3-Clause */
/* port_command.h - commands that are dealt with before a context is opened.
 */
#ifndef AMBIT_TOOLS_PORT_COMMAND_H
#define AMBIT_TOOLS_PORT_COMMAND_H

#include "args.h"

/* `ambit port ...` and `ambit run PROGRAM.c ...`: the exit code, or -1 for anything else. */
int tool_port_early(int argc, char **argv);

#endif
