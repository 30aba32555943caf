/* faults.h - the record of what a checked launch finds.
 *
 * A fault record is a small buffer of the device, laid out as codegen/prelude/faults.h says: a
 * place for the first fault of a launch. It is armed before every launch and read after it. In
 * builds with access checks, limits follow it (access.h).
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef AMBIT_DEVICE_FAULTS_H
#define AMBIT_DEVICE_FAULTS_H

#include "codegen/prelude/faults.h"
#include "device/device.h"

/* Numbers behind the record, for each parameter. */
#ifdef AMBIT_ACCESS_CHECKS
#  include "codegen/prelude/limits.h"
#  define AMBIT__LIMIT_WORDS AMBIT_LIMIT_WORDS
#else
#  define AMBIT__LIMIT_WORDS 0
#endif

size_t ambit__faults_bytes(int nargs); /* of the record of a launch */
/* The record as it must be before the launch. */
void ambit__faults_arm(const ambit__launch *launch, int64_t *words);
/* A value of a type that nobody gave: NaN of our own kind, or for integers a pattern. */
void ambit__poison_store(void *value, ambit_type type);
bool ambit__poison_is(const void *value, ambit_type type);

#endif
