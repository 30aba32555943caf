/* SPDX-License-Identifier: BSD-3-Clause */
/* driven.h - makes a device that computes on the caller's thread asynchronous.
 *
 * A thread of its own drives the device: everything the device does is done there, in the order and
 * with the priorities of its queues. The calling thread is free to drive other devices and
 * messages.
 */
#ifndef AMBIT_DEVICE_DRIVEN_H
#define AMBIT_DEVICE_DRIVEN_H

#include "device/device.h"

/* Opens a device of a backend without events. The device is used like any other one: with the table
 * that it has. */
ambit_status ambit__driven_open(const ambit__backend *backend, ambit__errors *errors,
                                const ambit__settings *settings, int ordinal, ambit__device **dev);

#endif
