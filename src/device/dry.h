/* SPDX-License-Identifier: BSD-3-Clause */
/* dry.h - a device that does nothing, to inspect a program without running it. */
#ifndef AMBIT_DEVICE_DRY_H
#define AMBIT_DEVICE_DRY_H

#include "device/device.h"

/* The dry device that replaces devices of this backend, which need not be present. It is in no list
 * of devices. */
const ambit__backend *ambit__backend_dry(const ambit__backend *real);
/* If a list of devices begins with a GPU: what it plans for, with these multiprocessors and speeds,
 * which must outlive *t. */
bool ambit__dry_gpu(const char *devices, const ambit__machine *m, ambit__target *t);

#endif
