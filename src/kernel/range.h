/* SPDX-License-Identifier: BSD-3-Clause */
/* range.h - the integers that an expression can be. */
#ifndef AMBIT_KERNEL_RANGE_H
#define AMBIT_KERNEL_RANGE_H

#include "kernel/kernel.h"

typedef struct ambit__range {
  int64_t low, high;
} ambit__range;

/* The smallest range with both. */
ambit__range ambit__range_hull(ambit__range a, ambit__range b);
/* All values of an integer type. */
ambit__range ambit__range_of_type(ambit_type type);
/* The values of an expression of an integer type, or more; for other types everything. `locals` are
 * the ranges of the rule's locals at this place. */
ambit__range ambit__range_of(const ambit__range *locals, const ambit__expr *e);
/* The same from the ranges of its operands; those of a local are not known here. */
ambit__range ambit__range_from(const ambit__expr *e, ambit__range a, ambit__range b,
                               ambit__range c);
/* Whether two expressions are one node, or the same local, number or value of a field. */
bool ambit__expr_is_same(const ambit__expr *a, const ambit__expr *b);
/* Whether an expression is the smaller one of two integers, a < b ? a : b, or the larger one,
 * a < b ? b : a. Only numbers, locals and values of fields are compared with each other. */
bool ambit__expr_is_least(const ambit__expr *e);
bool ambit__expr_is_most(const ambit__expr *e);
bool ambit__expr_is_extreme(const ambit__expr *e); /* one of them */

/* ---- locals.c ---- */

/* The value of a local that is set where it is declared, and nowhere else; NULL: there is none. */
const ambit__expr *ambit__only_value(const ambit__rule *rule, int local);
enum { AMBIT__BY_GRID = 1 << AMBIT_MAX_DIMS };
ambit__facts ambit__expr_facts(const ambit__rule *rule, const ambit__expr *e);
/* Floating-point operations of an expression without its operands. */
int ambit__expr_flops(const ambit__expr *e);

/* A number that a real one is not below, unless it is NaN; negative: none is known, or it may be
 * negative. */
double ambit__least_of(const ambit__rule *rule, const ambit__expr *e);

#endif
