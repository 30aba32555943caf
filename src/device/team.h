/* SPDX-License-Identifier: BSD-3-Clause */
/* team.h - all cores that this process may use, for a short time. */
#ifndef AMBIT_DEVICE_TEAM_H
#define AMBIT_DEVICE_TEAM_H

#include "base/error.h"
#include "base/team.h"

ambit_status ambit__team_open(ambit__errors *errors, ambit__team *team);
void ambit__team_close(ambit__team *team); /* one that was not opened is all 0: does nothing */

#endif
