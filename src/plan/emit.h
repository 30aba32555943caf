/* SPDX-License-Identifier: BSD-3-Clause */
/* emit.h - helpers that all strategies use to write a file. */
#ifndef AMBIT_PLAN_EMIT_H
#define AMBIT_PLAN_EMIT_H

#include "nest/nest.h"
#include "plan/plan.h"

#define AMBIT_ENTRY "ambit_kernel" /* default name of the exported function */

extern const ambit__strategy ambit__strategy_cells, ambit__strategy_checked, ambit__strategy_fused,
    ambit__strategy_list, ambit__strategy_once, ambit__strategy_persistent, ambit__strategy_rows,
    ambit__strategy_sparse, ambit__strategy_stream, ambit__strategy_tiles;

/* The name of the generated function. */
const char *ambit__entry_name(const ambit__group *g);

/* Whether any parameter of the group's rule is a strict sum. */
bool ambit__has_exact_sums(const ambit__group *g);
/* The comment at the top (kernel, plan) and the prelude, with the prelude of strict sums if needed.
 */
void ambit__emit_head(const ambit__group *g, const ambit__plan *p, ambit__writer *w);
/* The C function of a nest, in a file of its own, with more text in front of it. */
void ambit__emit_function(const ambit__group *g, const ambit__plan *p, ambit__nest *n,
                          const char *prelude, ambit__writer *w);

#endif
