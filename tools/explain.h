/* SPDX-License-Identifier: BSD-3-Clause */
/* explain.h - shows a problem that is partitioned and sealed, but not run: `ambit explain`.
 *
 * The program is sealed by the code that seals every program, for one of the requested processes,
 * on devices that do nothing (ambit__pretend). The output therefore shows the launches of a run,
 * for grids of any size and without MPI.
 */
#ifndef AMBIT_TOOLS_EXPLAIN_H
#define AMBIT_TOOLS_EXPLAIN_H

#include "problem.h"
#include "runtime/run/run.h"

/* Maximum entries of the lists that are printed. */
enum { TOOL_MOST_PARTS = 16, TOOL_MOST_MESSAGES = 16, TOOL_MOST_BOXES = 4 };

/* "cpu:0": the device of a part, on any process. All processes have the same devices. */
const char *tool_part_device(const ambit_grid *g, int part, int *ordinal);
/* Whether two parts are on the same device of one process. */
bool tool_parts_near(const ambit_grid *g, int a, int b);
const char *tool_cells_name(ambit__cells cells);

/* explain_parts.c: the parts and their owners, and the messages of an iteration, for all
 * processes. */
ambit_status tool_print_parts(const ambit_program *p);
ambit_status tool_print_messages(ambit_program *p);

/* explain_sparse.c: the memory and the traffic of the problem on a sparse grid, and on a dense one
 * with a mask. */
ambit_status tool_print_sparse(const tool_problem *p, const ambit_grid *g);

/* explain_order.c: the schedules of a program, for this process. */
void tool_print_schedule(const ambit_program *p);

/* explain_graph.c: the dependencies within an iteration of this process, as a file for Graphviz;
 * "-": standard output. */
ambit_status tool_write_graph(ambit_program *p, const char *path);

#endif
