/* SPDX-License-Identifier: BSD-3-Clause */
/* checked_access.h - access checks, in builds that have them: the limits of every field; on a
 * sparse grid, the number of a cell; the position of a load, replaced by another if it is not
 * allowed; and the condition of a store. */
#ifndef AMBIT_NEST_CHECKED_ACCESS_H
#define AMBIT_NEST_CHECKED_ACCESS_H

#include "nest/nest.h"

#ifdef AMBIT_ACCESS_CHECKS
void ambit__access_let_limits(ambit__nest *n);
void ambit__access_let_cell(ambit__nest *n);
void ambit__access_check_load(ambit__nest *n, ambit__node *load);
void ambit__access_check_store(ambit__nest *n, ambit__node **store);
#else
#  define ambit__access_let_limits(n)         ((void)(n))
#  define ambit__access_let_cell(n)           ((void)(n))
#  define ambit__access_check_load(n, load)   ((void)(load))
#  define ambit__access_check_store(n, store) ((void)(store))
#endif

#endif
