/* SPDX-License-Identifier: BSD-3-Clause */
/* measure.h - the description of a device (plan/machine.h): its facts from the system, its speeds
 * from the first of these: the option machine, a measurement of an earlier run, or the record.
 *
 * A measurement takes a few tenths of a second, so it is made where it is worth that: on request,
 * by a search for the fastest plan, and before or after a long run. Its result is a note in the
 * folder of compiled kernels, under the name of the device with its driver or compiler, the number
 * of its threads, and the version of Ambit. A number that cannot be measured, or is no possible
 * speed, is replaced by the recorded one, and a message says so (option verbose).
 */
#ifndef AMBIT_DEVICE_MEASURE_H
#define AMBIT_DEVICE_MEASURE_H

#include "device/device.h"

/* Completes dev->machine, whose facts are set. Called by `open` of every backend. */
void ambit__device_describe(ambit__device *dev);

/* Measures all speeds, unless that was done or tried before or the option machine has them; with
 * `again`, in any case. */
void ambit__device_measure(ambit__device *dev, bool again);

/* Bytes per second of copies in memory, read and written, measured by this process on the first
 * call; 0: they cannot be. */
double ambit__device_copies(ambit__device *dev);

/* The machine of the option machine, a recorded name or a file, on top of *m. */
ambit_status ambit__machine_load(ambit__errors *errors, const char *option, ambit__machine *m);

#endif
