/* checked.h - the strategy `checked`: checked.c chooses, checked_emit.c writes.
 *
 * A checked kernel computes what any other does, one cell at a time, and checks every value it
 * writes for NaN. In builds with access checks (checked_access.c) it can also check every read and
 * write of a field against limits. The first cell of a launch where something is wrong stays in its
 * fault record (codegen/prelude/faults.h).
 *
 * What is read and written is told by numbers that count through the rule, parameter by parameter:
 * a field has one for each of its reads, and one for each component that could be written; a plain
 * parameter is one read, a reduction one write.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef AMBIT_PLAN_CHECKED_H
#define AMBIT_PLAN_CHECKED_H

#include "plan/plan.h"

enum { AMBIT__CHECKED_THREADS = 128 }; /* of a block */

/* The number of read k of parameter `param`, and of a write to one of its components. */
int ambit__checked_read(const ambit__rule *rule, int param, int k);
int ambit__checked_write(const ambit__rule *rule, int param, int component);
/* The way back. */
void ambit__checked_find_read(const ambit__rule *rule, int number, int *param, int *k);
void ambit__checked_find_write(const ambit__rule *rule, int number, int *param, int *component);
/* Which read of a parameter EXPR_READ is. */
int ambit__checked_which(const ambit__param *p, const ambit__expr *e);

void ambit__checked_emit(const ambit__group *g, const ambit__target *t, const ambit__plan *p,
                         ambit__writer *w);

#endif
