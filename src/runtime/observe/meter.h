/* SPDX-License-Identifier: BSD-3-Clause */
/* meter.h - how long each device computes, and how long it moves cells.
 *
 * A meter is on for a few iterations at a time: devices with queues get an event before and after
 * each launch, which costs them time. Devices that work at once, and those whose events have no
 * time, which are waited for, are measured by the clock.
 */
#ifndef AMBIT_RUNTIME_OBSERVE_METER_H
#define AMBIT_RUNTIME_OBSERVE_METER_H

#include "device/device.h"

typedef enum ambit__meter_kind { METER_COMPUTE, METER_MOVE, METER_KINDS } ambit__meter_kind;

typedef struct ambit__meter ambit__meter;

ambit_status ambit__meter_open(ambit__errors *errors, ambit__device *const *devices, int n,
                               ambit__meter **m);
void ambit__meter_close(ambit__meter *m); /* NULL does nothing */

void ambit__meter_switch(ambit__meter *m, bool on); /* a new one is off; NULL does nothing */
void ambit__meter_clear(ambit__meter *m);           /* all sums are 0; nothing is queued */

/* Before and after work of one kind is given to a queue of a device. Nothing if it is off. */
ambit_status ambit__meter_start(ambit__meter *m, int device, ambit__queue *q);
ambit_status ambit__meter_stop(ambit__meter *m, int device, ambit__queue *q,
                               ambit__meter_kind kind);

/* Seconds of a kind while it was on, since it was cleared, when all work is done; less than 0:
 * unknown. */
double ambit__meter_seconds(ambit__meter *m, int device, ambit__meter_kind kind);

#endif
