/* SPDX-License-Identifier: BSD-3-Clause */
/* halo_state.h - which halos are valid at each step. */
#ifndef AMBIT_RUNTIME_PROGRAM_HALO_STATE_H
#define AMBIT_RUNTIME_PROGRAM_HALO_STATE_H

#include "runtime/program/program.h"

/* `valid` holds, for each field of the program, the index of the halo that is valid; -1: none. */

/* Updates `valid` for a step. Returns the number of halos to exchange before the step, and their
 * indices. */
int ambit__halo_state_step(const ambit_program *p, int *valid, size_t step, int *missing_halos);

/* Computes p->start and p->end, the valid halos at the start and the end of an iteration. */
ambit_status ambit__halo_state_start(ambit_program *p);

/* Whether iterations require a halo of a field, given by index, that is not valid now. */
bool ambit__halo_state_lacks(const ambit_program *p, int field);
/* Whether constant ghost cells that iterations leave alone are not there. */
bool ambit__halo_state_lacks_constants(const ambit__field_halo *h);
/* Stores `valid` in the fields, and that they have the constant ghost cells of their halos. */
void ambit__halo_state_note(const ambit_program *p, const int *valid);

#endif
