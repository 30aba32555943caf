/* SPDX-License-Identifier: BSD-3-Clause */
/* flat.h - conditions as selections: both sides are computed, then one is taken.
 *
 * Compilers vectorise loops without branches only. The language has no traps and no side effects,
 * so both sides may be computed. A side that calls a costly function, such as pow, or divides
 * integers keeps its branch: no compiler vectorises it, and it may be rarely taken.
 */
#ifndef AMBIT_CODEGEN_FLAT_H
#define AMBIT_CODEGEN_FLAT_H

#include "kernel/kernel.h"

/* Whether a rule has any condition; whether compilers vectorise all its operations, those of
 * prelude/math.h included with `relaxed`; `last` is the axis along which they do, -1: any. */
bool ambit__rule_branches(const ambit__rule *rule);
bool ambit__rule_is_flat(const ambit__rule *rule, bool relaxed, int last);
/* Whether code that is not strict calls functions of prelude/math.h in place of those of <math.h>:
 * if that makes the rule flat. And whether an expression is such a call. */
bool ambit__rule_calls_own(const ambit__rule *rule, int last);
bool ambit__calls_own(const ambit__expr *e);
/* Whether it is one of those of prelude/angles.h. */
bool ambit__calls_angle(const ambit__expr *e);
bool ambit__rule_calls_angles(const ambit__rule *rule);
/* 2, 3 or 4: an expression is this power of another one, and code that is not strict multiplies. 0:
 * it is none. */
int ambit__calls_power(const ambit__expr *e);

/* On GPUs: whether a side, an expression or statements, is light enough to be computed where it is
 * not needed. A branch takes three instructions, and no compiler moves anything across it, or finds
 * what adjacent cells have in common. `registers`: so are the values that it reads. */
bool ambit__side_is_light(const ambit__expr *e, const ambit__stmt *list, bool relaxed,
                          bool registers);

/* A variable that outlives the statements that set it. */
typedef struct ambit__flat_variable {
  ambit__stmt_kind kind; /* STMT_SET_LOCAL or STMT_SET_OUT */
  int index, component;  /* as in ambit__stmt */
} ambit__flat_variable;

enum { AMBIT__FLAT_MOST = 64 }; /* variables of a flat condition */

/* The distinct variables that a STMT_IF sets and that outlive it; returns their number. More than
 * AMBIT__FLAT_MOST: the condition must keep its branch. */
int ambit__flat_variables(const ambit__stmt *condition, bool own_calls,
                          ambit__flat_variable *variables);

#endif
