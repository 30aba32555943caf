/* faults.h - what a checked launch may touch, and where it tells what it did instead.
 *
 * A fault record is a small buffer of the device, laid out as codegen/prelude/faults.h says: a place for the
 * first fault of a launch, and the limits of each field. It is armed before every launch and looked at after it. A
 * function that Ambit did not write cannot fill it in; what can be seen from its kernel and the box it is
 * launched on is foreseen here.
 *
 * Two different things are checked: that a cell is one of those that hold values for this launch (the
 * boxes), and that its place in memory is within the buffer (first and end).
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef AMBIT_DEVICE_FAULTS_H
#define AMBIT_DEVICE_FAULTS_H

#include "codegen/prelude/faults.h"
#include "device/device.h"

/* Within which one field may be touched. */
typedef struct ambit__limits {
  ambit__box reads, writes; /* cells, global */
  int64_t first, end;       /* elements of the memory, counted from the first own cell */
} ambit__limits;

ambit__limits ambit__limits_of(const ambit__argument *arg);
/* Whether component `component` of a cell lies within the box `cells` and in memory. */
bool ambit__limits_allow(const ambit__limits *limits, const ambit__layout *l,
                         const ambit__box *cells, const int64_t *cell, int component);

size_t ambit__faults_bytes(int nargs); /* of the record of a launch */
/* The record as it must be before the launch. */
void ambit__faults_arm(const ambit__launch *launch, int64_t *words);
/* Puts into an armed record what a launch of the rule would do wrong at the corners of its box. */
void ambit__faults_foresee(const ambit__rule *rule, const ambit__launch *launch, int64_t *words);

/* A value of a type that nobody gave: NaN of our own kind, or for integers a pattern. */
void ambit__poison_store(void *value, ambit_type type);
bool ambit__poison_is(const void *value, ambit_type type);

#endif
