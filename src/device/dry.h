/* dry.h - a stand-in for a device, for finding out what a program would do without doing it. */
#ifndef AMBIT_DEVICE_DRY_H
#define AMBIT_DEVICE_DRY_H

#include "device/device.h"

/* What stands in for a device of this backend, which need not be there. It is in no list of devices. */
const ambit__backend *ambit__backend_dry(const ambit__backend *real);

#endif
