/* SPDX-License-Identifier: BSD-3-Clause */
/* machine.h - properties of the processor this process runs on.
 *
 * Nothing here fails: values that the system does not provide are replaced by a conservative guess.
 * A "core" is a cpu of the operating system. Two of them may be threads of one physical core; then
 * each gets its share of their common caches.
 */
#ifndef AMBIT_DEVICE_CPU_MACHINE_H
#define AMBIT_DEVICE_CPU_MACHINE_H

#include "plan/machine.h"

/* The facts, without speeds. `root` is put before the paths of /proc and /sys: "" for the machine
 * itself. */
void ambit__machine_probe(const char *root, ambit__machine *m);

/* The most bytes that this process may use, and the bytes now free, within all limits of its
 * control groups. */
void ambit__machine_memory(const char *root, size_t *memory, size_t *available);

/* The cores of the affinity mask, or fewer if there is a quota of CPU time; at least 1. */
int ambit__machine_cores(void);

/* Bytes of the widest vector. */
size_t ambit__machine_vector_bytes(void);

/* Appends all properties that code compiled for "this machine" may depend on: model and features.
 */
void ambit__machine_identity(const char *root, ambit__text *t);

#endif
