/* SPDX-License-Identifier: BSD-3-Clause */
/* emit.h - helpers that all strategies use to write a file. */
#ifndef AMBIT_PLAN_EMIT_H
#define AMBIT_PLAN_EMIT_H

#include "nest/nest.h"
#include "plan/plan.h"

#define AMBIT_ENTRY "ambit_kernel" /* default name of the exported function */

extern const ambit__strategy ambit__strategy_bins, ambit__strategy_cells, ambit__strategy_folds,
    ambit__strategy_fused, ambit__strategy_lines, ambit__strategy_once, ambit__strategy_persistent,
    ambit__strategy_rows, ambit__strategy_sparse, ambit__strategy_strip, ambit__strategy_tiles;

/* The name of the generated function. */
const char *ambit__entry_name(const ambit__group *g);

/* The file of a nest: the comment at the top (kernel, plan), preludes, and the C function, or the
 * kernel of a GPU with the one that folds totals. */
void ambit__emit(ambit__nest *n, const ambit__plan *p, ambit__writer *w);
/* gpu_emit.c: a kernel; before it, the helpers of those with strips or units of cells. */
void ambit__emit_kernel(ambit__nest *n, const ambit__plan *p, ambit__writer *w);
void ambit__emit_strips(ambit__nest *n);

#endif
