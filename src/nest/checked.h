/* SPDX-License-Identifier: BSD-3-Clause */
/* checked.h - checks as a pass over a nest.
 *
 * A checked kernel computes the same values as any other, one cell at a time, and checks every
 * value it writes for NaN. In builds with access checks (nest/checked_access.c) it can also check
 * every read and write of a field against limits. The fault record (codegen/prelude/faults.h) keeps
 * the first faulty cell of a launch.
 *
 * Reads and writes are identified by numbers that count through the rule, parameter by parameter: a
 * field has one for each of its reads, and one for each component that could be written; a plain
 * parameter is one read, a reduction one write.
 */
#ifndef AMBIT_NEST_CHECKED_H
#define AMBIT_NEST_CHECKED_H

#include "nest/nest.h"

/* The number of read k of parameter `param`, and of a write to one of its components. */
int ambit__checked_read(const ambit__rule *rule, int param, int k);
int ambit__checked_write(const ambit__rule *rule, int param, int component);
/* The inverse: from a number to the parameter and its read or component. */
void ambit__checked_find_read(const ambit__rule *rule, int number, int *param, int *k);
void ambit__checked_find_write(const ambit__rule *rule, int number, int *param, int *component);
/* The index of the read that an EXPR_READ stands for, and which messages name. */
int ambit__checked_named(const ambit__param *p, const ambit__expr *e);
/* The index of the read that gives a written component its old value. */
int ambit__checked_old(const ambit__param *p, int component);

/* Changes a nest of a group with checks, which was built with one cell after the other and loads
 * first: stores have conditions, values are watched, and the lowest cell with a fault is noted. */
void ambit__nest_check(ambit__nest *n);

#endif
