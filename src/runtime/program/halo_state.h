/* SPDX-License-Identifier: BSD-3-Clause */
/* halo_state.h - which halos are good at which step. */
#ifndef AMBIT_RUNTIME_FLOW_H
#define AMBIT_RUNTIME_FLOW_H

#include "runtime/program/program.h"

/* `made` holds, by field of the program, the fetch that its surroundings were made by; -1: they are not good. */

/* Takes `made` past a step; returns how many fetches must be made before it, and which. */
int ambit__halo_state_step(const ambit_program *p, int *made, size_t step, int *missing_halos);

/* Finds p->start and p->end, what is good when an iteration starts and when it ends. */
ambit_status ambit__halo_state_start(ambit_program *p);

/* Whether an iteration presumes surroundings that a field, by number, does not have now. */
bool ambit__halo_state_lacks(const ambit_program *p, int field);
/* The fields are as `made` says. */
void ambit__halo_state_note(const ambit_program *p, const int *made);

#endif
