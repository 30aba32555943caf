/* SPDX-License-Identifier: BSD-3-Clause */
/* dry.h - a device that does nothing, to inspect a program without running it. */
#ifndef AMBIT_DEVICE_DRY_H
#define AMBIT_DEVICE_DRY_H

#include "device/device.h"

/* The dry device that replaces devices of this backend, which need not be present. It is in no list
 * of devices. */
const ambit__backend *ambit__backend_dry(const ambit__backend *real);
/* The GPU that it plans for, if a list of devices begins with one; NULL: it does not. */
const ambit__target *ambit__dry_gpu(const char *devices);

#endif
