/* explain.h - a problem cut into parts, sealed and not run: what `ambit explain` shows of it.
 *
 * The program is sealed by the code that seals every program, for one process of as many as are asked for, on devices
 * that do nothing (ambit__pretend): what is shown is what would run, for grids of any size and without MPI.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef AMBIT_TOOLS_EXPLAIN_H
#define AMBIT_TOOLS_EXPLAIN_H

#include "problem.h"
#include "runtime/run/run.h"

/* Lists for people: so many entries are shown, then how many more there are. */
enum { TOOL_MOST_PARTS = 16, TOOL_MOST_MESSAGES = 16, TOOL_MOST_BOXES = 4 };

/* "cpu:0": the device that a part lives on, of whichever process. All processes are alike. */
const char *tool_part_device(const ambit_grid *g, int part, int *ordinal);
/* Whether two parts of one process share a device. */
bool tool_parts_near(const ambit_grid *g, int a, int b);
const char *tool_cells_name(ambit__cells cells);

/* explain_parts.c: the boxes and who owns them; what goes from part to part in an iteration, everywhere. */
ambit_status tool_print_parts(const ambit_program *p);
ambit_status tool_print_messages(ambit_program *p);

/* explain_order.c: the operations of an iteration, of this process. */
void tool_print_order(const ambit_program *p);

/* explain_graph.c: what of an iteration of this process waits for what, as a file for Graphviz; "-": standard
 * output. */
ambit_status tool_write_graph(ambit_program *p, const char *path);

#endif
