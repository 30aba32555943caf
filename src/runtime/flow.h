/* flow.h - which halos are good at which step. */
#ifndef AMBIT_RUNTIME_FLOW_H
#define AMBIT_RUNTIME_FLOW_H

#include "runtime/runtime.h"

/* `made` holds, by field of the program, the fetch that its surroundings were made by; -1: they are not good. */

/* Takes `made` past a step; returns how many fetches must be made before it, and which. */
int ambit__flow_step(const ambit_program *p, int *made, size_t step, int *fetches);

/* Finds p->start and p->end, what is good when an iteration starts and when it ends. */
ambit_status ambit__flow_start(ambit_program *p);

/* Whether an iteration presumes surroundings that a field, by number, does not have now. */
bool ambit__flow_lacks(const ambit_program *p, int field);
/* The fields are as `made` says. */
void ambit__flow_note(const ambit_program *p, const int *made);

bool ambit__step_writes(const ambit__step *s, const ambit_field *f);
bool ambit__step_uses(const ambit__step *s, const ambit_field *f);

#endif
