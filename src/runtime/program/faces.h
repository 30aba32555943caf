/* SPDX-License-Identifier: BSD-3-Clause */
/* faces.h - boundaries with a value on the face, or with components that change places. */
#ifndef AMBIT_PROGRAM_FACES_H
#define AMBIT_PROGRAM_FACES_H

#include "runtime/program/program.h"

/* The first phase of sealing: steps that read through such a face get a kernel that corrects what
 * ghost cells have (kernel/faces.c), and the values as arguments. */
ambit_status ambit__program_face(ambit_program *p);
void ambit__program_unface(ambit_program *p); /* the steps as the user wrote them */
ambit__step ambit__program_written(const ambit_program *p, size_t step); /* one of them */

/* Whether the step reads through a face whose value the scalar is. */
bool ambit__step_reads_face(const ambit__step *s, const ambit_scalar *scalar);

#endif
