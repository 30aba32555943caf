/* SPDX-License-Identifier: BSD-3-Clause */
/* faults.h - the record of the faults that a checked launch finds.
 *
 * A fault record is a small buffer on the device, with the layout of codegen/prelude/faults.h. It
 * holds the first fault of a launch. It is armed before every launch and read after it. In builds
 * with access checks, limits follow it (access.h).
 */
#ifndef AMBIT_DEVICE_FAULTS_H
#define AMBIT_DEVICE_FAULTS_H

#include "codegen/prelude/faults.h"
#include "device/device.h"

/* Number of words behind the record, per parameter. */
#ifdef AMBIT_ACCESS_CHECKS
#  include "codegen/prelude/limits.h"
#  define AMBIT__LIMIT_WORDS AMBIT_LIMIT_WORDS
#else
#  define AMBIT__LIMIT_WORDS 0
#endif

size_t ambit__faults_bytes(int nargs); /* of the record of a launch */
/* Initialises the record for a launch. */
void ambit__faults_arm(const ambit__launch *launch, int64_t *words);
/* Poison, the mark of a value that was never set: a NaN with a special pattern, or a bit pattern
 * for integers. */
void ambit__poison_store(void *value, ambit_type type);
bool ambit__poison_is(const void *value, ambit_type type);

#endif
