/* SPDX-License-Identifier: BSD-3-Clause */
/* access.h - access checks: the limits within which a launch may touch its fields.
 *
 * Two things are checked: that a cell holds a value for this launch (the boxes), and that its
 * position in memory is within the buffer (first and end). A registered function cannot check
 * itself; its kernel text and the box of the launch determine the cells it would touch. The checks
 * find bugs in Ambit itself. Only builds with AMBIT_ACCESS_CHECKS have them.
 */
#ifndef AMBIT_DEVICE_ACCESS_H
#define AMBIT_DEVICE_ACCESS_H

#include "device/faults.h"

#ifdef AMBIT_ACCESS_CHECKS

/* The limits of the accesses to one field. */
typedef struct ambit__limits {
  ambit__box reads, writes; /* cells, global */
  int64_t first, end;       /* elements of the memory, counted from the first own cell */
} ambit__limits;

ambit__limits ambit__limits_of(const ambit__argument *arg);
/* Whether a cell lies within the box `cells`, and component `component` of the one that stands for
 * it, which `from` is, in memory. */
bool ambit__limits_allow(const ambit__limits *limits, const ambit__layout *l,
                         const ambit__box *cells, const int64_t *cell, const int64_t *from,
                         int component);

/* Adds the limits to a record before its launch. */
void ambit__access_arm(const ambit__launch *launch, int64_t *words);
/* Stores in an armed record the fault that a launch of the rule would make at the corners of its
 * box. */
void ambit__access_foresee(const ambit__rule *rule, const ambit__launch *launch, int64_t *words);

#else

static inline void ambit__access_arm(const ambit__launch *launch, int64_t *words)
{
  (void)launch, (void)words;
}

#endif

#endif
