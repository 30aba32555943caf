/* machine.h - facts about the processor this process runs on.
 *
 * Nothing here fails: what the system does not tell is replaced by a modest guess. A "core" is what
 * the system calls a cpu; two of them may be threads of one real core, and then each is given its
 * share of the caches they have in common.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef AMBIT_DEVICE_CPU_MACHINE_H
#define AMBIT_DEVICE_CPU_MACHINE_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct ambit__machine {
  char name[96];       /* "Neoverse-V1" */
  int cores;           /* that this process may keep busy */
  size_t l1, l2;       /* bytes of data cache per core */
  size_t l3;           /* bytes that all the cores have together; 0: none */
  size_t memory;       /* bytes this process may use at most */
  size_t available;    /* bytes free now */
  size_t vector_bytes; /* of the widest vector */
  bool can_stream;     /* stores that go past the cache pay */
} ambit__machine;

/* `root` is put before the paths of /proc and /sys: "" for the machine itself. */
void ambit__machine_probe(const char *root, ambit__machine *m);

/* Bytes this process may use at most, and those that are free now: of the machine, within all limits of its control groups. */
void ambit__machine_memory(const char *root, size_t *memory, size_t *available);

/* The cores of the affinity mask, or fewer if a quota of processor time says so; at least 1. */
int ambit__machine_cores(void);

/* Bytes of the widest vector. */
size_t ambit__machine_vector_bytes(void);

/* Appends all that code compiled for "this machine" may depend on: model and features. */
void ambit__machine_identity(const char *root, ambit__text *t);

#endif
