/* SPDX-License-Identifier: BSD-3-Clause */
/* crew.h - all cores that this process may use, for a short time. */
#ifndef AMBIT_DEVICE_CREW_H
#define AMBIT_DEVICE_CREW_H

#include "base/crew.h"
#include "base/error.h"

ambit_status ambit__crew_open(ambit__errors *errors, ambit__crew *crew);
void ambit__crew_close(ambit__crew *crew); /* one that was not opened is all 0: does nothing */

#endif
