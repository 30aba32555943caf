/* SPDX-License-Identifier: BSD-3-Clause */
/* join.h - joined steps: steps that run as one launch, since a cell of the later one needs no other
 * cell of the earlier one (docs/design/0019-step-fusion.md). */
#ifndef AMBIT_RUNTIME_PROGRAM_JOIN_H
#define AMBIT_RUNTIME_PROGRAM_JOIN_H

#include "runtime/program/program.h"

enum { AMBIT__JOINABLE_STEPS = 64 }; /* programs with more steps have no joined ones */

/* A phase of sealing: makes p->steps from p->written. Collective. */
ambit_status ambit__program_join(ambit_program *p);
/* Frees joined steps; p->steps are those of the user again. */
void ambit__program_part(ambit_program *p);

/* ---- join_pairs.c: what two of the user's steps have to do with each other ---- */

/* Whether the results depend on the order of two steps. */
bool ambit__steps_ordered(const ambit__step *a, const ambit__step *b);
/* Bytes per cell that need not be moved if two steps, `a` first, are one. */
double ambit__steps_saving(const ambit__step *a, const ambit__step *b);
/* Whether two steps, `a` first, can be one, apart from other steps. If not, writes the reason. */
bool ambit__steps_can_join(const ambit_program *p, const ambit__step *a, const ambit__step *b,
                           char *reason, size_t size);

#endif
