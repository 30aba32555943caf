/* SPDX-License-Identifier: BSD-3-Clause */
/* access.h - access checks: the limits within which a launch may touch its fields.
 *
 * Two different things are checked: that a cell is one of those that hold values for this launch
 * (the boxes), and that its place in memory is within the buffer (first and end). A function that
 * Ambit did not write cannot check itself; its kernel and the box it is launched on tell what it
 * would touch. All of this finds mistakes of Ambit itself, and exists in builds with
 * AMBIT_ACCESS_CHECKS.
 */
#ifndef AMBIT_DEVICE_ACCESS_H
#define AMBIT_DEVICE_ACCESS_H

#include "device/faults.h"

#ifdef AMBIT_ACCESS_CHECKS

/* Within which one field may be touched. */
typedef struct ambit__limits {
  ambit__box reads, writes; /* cells, global */
  int64_t first, end;       /* elements of the memory, counted from the first own cell */
} ambit__limits;

ambit__limits ambit__limits_of(const ambit__argument *arg);
/* Whether component `component` of a cell lies within the box `cells` and in memory. */
bool ambit__limits_allow(const ambit__limits *limits, const ambit__layout *l,
                         const ambit__box *cells, const int64_t *cell, int component);

/* Adds the limits to a record before its launch. */
void ambit__access_arm(const ambit__launch *launch, int64_t *words);
/* Puts into an armed record what a launch of the rule would do wrong at the corners of its box. */
void ambit__access_foresee(const ambit__rule *rule, const ambit__launch *launch, int64_t *words);

#else

static inline void ambit__access_arm(const ambit__launch *launch, int64_t *words)
{
  (void)launch, (void)words;
}

#endif

#endif
