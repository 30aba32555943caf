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
#include "runtime/explain/explain.h"
#include "runtime/run/run.h"

/* explain_sparse.c: the memory and the traffic of the problem on a sparse grid, and on a dense one
 * with a mask. */
ambit_status tool_print_sparse(const tool_problem *p, const ambit_grid *g);

#endif
